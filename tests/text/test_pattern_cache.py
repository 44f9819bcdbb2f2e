"""Expressions that were compiled by an earlier process match what `re.compile` matches, and no file can change that."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from assay.text import pattern_cache
from assay.text.pattern_cache import PatternCache
from assay.text.pattern_file import PatternFile, find_pattern_file

DAYS = r"(?P<count>[0-9]+) (?:days|ngày)"
EXPRESSIONS = (
    DAYS,
    r"(?i:Straße)|(?<![a-zà-ỹ])(?:năm|ngày)\b",
    r"^(?:(?P<a>x)|(?P<b>[^\W\d_]{2,}+))(?(a)y|z)$",
    r"[\U0001f600-\U0001f64f一-鿿ａ-ｚ]+(?=\s)|(?>a+)b|(?:c|d){2,3}?",
)
FLAGS = (0, re.IGNORECASE, re.MULTILINE | re.DOTALL, re.ASCII, re.IGNORECASE | re.VERBOSE)


def keep(path: Path, pattern: str = DAYS, flags: int = 0) -> None:
    patterns = PatternCache(PatternFile(path))
    patterns.compile(pattern, flags)
    patterns.save()


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_kept_expression_is_the_compiled_one(tmp_path: Path, expression: str, flags: int) -> None:
    path = tmp_path / "patterns"
    patterns = PatternCache(PatternFile(path))
    compiled = patterns.compile(expression, flags)
    patterns.save()

    kept = PatternCache(PatternFile(path))

    assert kept.holds(expression, flags)
    assert kept.compile(expression, flags) == compiled  # `re` compares what it compiled
    assert kept.compile(expression, flags).groupindex == re.compile(expression, flags).groupindex


@given(text=st.text(alphabet="123 daysDAYSngàyxyzaabbcdstraßeSTRASSEnăm😀文ａ\n", max_size=40))
def test_a_kept_expression_matches_what_the_compiled_one_matches(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "patterns-of-a-law"
    for expression in EXPRESSIONS:
        keep(path, expression, re.IGNORECASE)
    kept = PatternCache(PatternFile(path))

    for expression in EXPRESSIONS:
        restored, compiled = kept.compile(expression, re.IGNORECASE), re.compile(expression, re.IGNORECASE)
        spans = [(match.span(), match.groupdict()) for match in restored.finditer(text)]
        assert spans == [(match.span(), match.groupdict()) for match in compiled.finditer(text)]


def test_what_others_kept_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "patterns"
    first, second = PatternCache(PatternFile(path)), PatternCache(PatternFile(path))
    first.compile("a+", 0)
    second.compile("b+", 0)
    first.save()
    second.save()

    kept = PatternCache(PatternFile(path))

    assert kept.holds("a+") and kept.holds("b+")
    assert [file.name for file in tmp_path.iterdir()] == ["patterns"]


def test_required_words_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expression = r"\b(?:unless|except) (?:an|the)\b"
    first, second = PatternCache(PatternFile(tmp_path / "patterns")), PatternCache(PatternFile(tmp_path / "patterns"))
    words = first.get_required_words(expression)
    first.save()
    second.get_required_words("days")
    second.save()
    monkeypatch.setattr(pattern_cache, "list_required_words", lambda _: pytest.fail("was read before"))

    kept = PatternCache(PatternFile(tmp_path / "patterns"))

    assert words == [("unless", "except"), ("an", "the")]
    assert kept.get_required_words(expression) == words
    assert kept.get_required_words("days") == [("days",)]
    assert not kept.holds(expression)


def test_flags_are_part_of_what_is_kept(tmp_path: Path) -> None:
    keep(tmp_path / "patterns", "day", re.IGNORECASE)

    kept = PatternCache(PatternFile(tmp_path / "patterns"))

    assert not kept.holds("day")
    assert kept.compile("day").match("DAY") is None
    assert kept.compile("day", re.IGNORECASE).match("DAY")


@pytest.mark.parametrize("at", [0, 30, -1])
def test_a_damaged_file_is_not_read(tmp_path: Path, at: int) -> None:
    path = tmp_path / "patterns"
    keep(path)
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)

    assert not PatternCache(PatternFile(path)).holds(DAYS)
    keep(path)
    assert PatternCache(PatternFile(path)).holds(DAYS)


@pytest.mark.parametrize("content", [b"", b"x", b"x" * 100_000])
def test_a_file_of_another_kind_or_cut_off_is_not_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "patterns"
    path.write_bytes(content)
    assert not PatternCache(PatternFile(path)).holds(DAYS)

    keep(path)
    path.write_bytes(path.read_bytes()[:-1])
    assert not PatternCache(PatternFile(path)).holds(DAYS)


def test_a_file_of_another_python_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "patterns"
    with monkeypatch.context() as other:
        other.setattr(pattern_cache, "_MARK", pattern_cache._MARK.replace(b"for Python", b"for Cython"))
        keep(path)

    assert not PatternCache(PatternFile(path)).holds(DAYS)


def test_too_many_expressions_begin_the_file_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "patterns"
    keep(path, "a+")
    keep(path, "b+")
    monkeypatch.setattr(pattern_cache, "_MOST_KEPT", 2)

    keep(path, "c+")

    kept = PatternCache(PatternFile(path))
    assert kept.holds("c+") and not kept.holds("a+")


def test_a_place_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    patterns = PatternCache(PatternFile(blocked / "patterns"))

    assert patterns.compile(DAYS, 0).match("12 days")
    patterns.save()

    assert blocked.read_text() == "no folder"


def test_a_python_that_compiles_otherwise_compiles_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(pattern_cache, "import_module", refuse)

    assert not pattern_cache._can_restore()
    assert PatternCache(None).compile(DAYS, 0).match("12 days")


@pytest.mark.parametrize("is_there", [True, False])
def test_where_nothing_may_be_written_only_a_file_that_is_there_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    path = tmp_path / "patterns"
    if is_there:
        keep(path, "day", 0)
    monkeypatch.setattr(pattern_cache, "find_pattern_file", lambda: PatternFile(path))
    monkeypatch.setattr(pattern_cache, "may_write", lambda: False)
    monkeypatch.setattr(pattern_cache, "_make", lambda *_: pytest.fail("nobody keeps what is made here"))
    patterns = pattern_cache._open_cache.__wrapped__()
    assert patterns.holds("day") == is_there
    assert patterns.compile("day").findall("day by day") == ["day", "day"]


def test_an_expression_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(re.error, match="unterminated"):
        PatternCache(PatternFile(tmp_path / "patterns")).compile("(", 0)


def test_what_is_kept_names_no_text_but_expressions(tmp_path: Path) -> None:
    keep(tmp_path / "patterns")
    content = (tmp_path / "patterns").read_bytes()
    made, words = msgpack.decode(content[content.index(b"\n") + 1 + 4 :])

    assert [item[0] for item in made] == [DAYS] and words == {}


@pytest.mark.parametrize("forbidden", [False, True])
def test_a_process_leaves_the_file_where_python_leaves_its_own(tmp_path: Path, forbidden: bool) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPYCACHEPREFIX": str(tmp_path)} | ({"PYTHONDONTWRITEBYTECODE": "1"} if forbidden else {})
    code = (
        "from assay.text.pattern_cache import compile_pattern; print(compile_pattern('[0-9]+ days').match('12 days'))"
    )

    for _ in range(2):
        printed = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        assert "span=(0, 7)" in printed.stdout

    assert len(list(tmp_path.rglob("pattern_file.*.patterns"))) == (0 if forbidden else 1)


def test_a_python_that_keeps_no_modules_keeps_no_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.implementation, "cache_tag", None)
    assert find_pattern_file() is None
    assert PatternCache(find_pattern_file()).compile("[0-9]+").findall("3 of 12") == ["3", "12"]
