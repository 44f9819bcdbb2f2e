"""The words of `docs/vocabulary.md` are kept: no phrase of its table "Not, but", and no source that readers lack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.pages import ROOT

VOCABULARY = ROOT / "docs/vocabulary.md"
FOLDERS = ("docs", "src", "ui/src", "tests", "examples", "benchmarks", "scripts")
TEXTS = frozenset({".md", ".py", ".ts", ".tsx", ".yaml", ".yml"})
# The words of data and of this file are not the project's.
LEFT_OUT = (
    VOCABULARY,
    Path(__file__),
    ROOT / "src/assay/report/page/assets",
    ROOT / "examples/handbook/docs",
    ROOT / "tests/report/golden",
)
# Pages of another place: section numbers and numbers in brackets that nothing in this repository explains.
PRIVATE_SOURCE = re.compile(
    r"\b(?:DECISIONS|RELIABILITY|METRICS|DESIGN) \d|\bRELIABILITY('s| section)|\[00\d\]|\bthe brief\b"
)


def forbidden_phrases() -> dict[str, str]:
    """Return what to write in place of each phrase of the table."""
    table = VOCABULARY.read_text(encoding="utf-8").split("| Not | Instead |")[1]
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", table, re.MULTILINE)
    return {phrase: instead for phrases, instead in rows if "---" not in phrases for phrase in phrases.split(", ")}


def written_files(*folders: str) -> Iterator[Path]:
    """Yield the texts of the top pages and of these folders, except those that are left out."""
    yield from sorted(ROOT.glob("*.md"))
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in TEXTS and not any(path.is_relative_to(left_out) for left_out in LEFT_OUT):
                yield path


def occurrences(pattern: re.Pattern[str], path: Path) -> Iterator[tuple[str, str]]:
    """Yield `path:line` and the words found, for each match of a pattern."""
    text = path.read_text(encoding="utf-8")
    for match in pattern.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{path.relative_to(ROOT)}:{line}", " ".join(match[0].split())


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """Return the pattern of a phrase in any case, also where a comment breaks it over two lines.

    >>> bool(phrase_pattern("held against").search("# it is Held\\n    # against a rule"))
    True
    """
    return re.compile(r"\b" + r"\s+(?:[#>*|]+\s*)?".join(map(re.escape, phrase.split())) + r"\b", re.IGNORECASE)


def test_the_table_of_phrases_is_read() -> None:
    assert "user" == forbidden_phrases()["asker"]
    assert len(forbidden_phrases()) > 20


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_no_phrase_that_the_vocabulary_replaces(folder: str) -> None:
    found = []
    patterns = [(phrase.split(), instead, phrase_pattern(phrase)) for phrase, instead in forbidden_phrases().items()]
    for path in written_files(folder):
        text = path.read_text(encoding="utf-8").lower()
        for words_of_phrase, instead, pattern in patterns:
            if all(word in text for word in words_of_phrase):  # a hundred times as fast as the pattern
                found += [f"{place}: {words!r}: write {instead!r}" for place, words in occurrences(pattern, path)]
    assert [] == found, "\n".join(found)


@pytest.mark.slow
def test_no_text_cites_what_its_readers_do_not_have() -> None:
    found = [
        f"{place}: {words!r}: cite a decision record (docs/adr) or a public source"
        for path in written_files(*FOLDERS)
        for place, words in occurrences(PRIVATE_SOURCE, path)
    ]
    assert [] == found, "\n".join(found)
