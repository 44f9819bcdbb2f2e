"""The commands that make the next version of a golden set, as `assay golden` prints them after a step."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from assay.formats.golden_files import load_golden
from assay.golden.next_version import name_next_version
from assay.records.errors import InputError


def suggest_set_to_freeze(*, has_variants: bool) -> str:
    """Return the options of `golden freeze` for a first set, or for a version on top of golden.jsonl if there is one.

    A version that is a number is counted on; after any other one the next is left to the person.

    >>> suggest_set_to_freeze(has_variants=False)
    '--out golden.jsonl --version 1 --owner NAME --change "first set"'
    """
    path = Path("golden.jsonl")
    change = "with variants" if has_variants else "more cases"
    newest = _find_newest_version(path)
    if newest is None:
        if has_variants:
            return f'--base GOLDEN.jsonl --out GOLDEN-2.jsonl --version 2 --owner NAME --change "{change}"'
        return '--out golden.jsonl --version 1 --owner NAME --change "first set"'
    base, following = newest[0], name_next_version(newest[1])
    out = path.with_name(f"{path.stem}-{following}{path.suffix}")
    return f'--base {base} --out {out} --version {following} --owner NAME --change "{change}"'


def suggest_relinked_freeze(golden: str, relinked: str) -> str:
    """Return the command that makes the next version of a golden set of its relinked cases; both are files."""
    return f"assay golden freeze {shlex.quote(relinked)} {_suggest_following(golden)} --change relinked"


def suggest_relinked_review(golden: str, relinked: str, corpus: str) -> str:
    """Return the command that writes the page on which people decide on the cases that relinking left open."""
    files = [relinked, "--base", golden, "--corpus", corpus, "--out", "review.html"]
    return shlex.join(["assay", "golden", "review", *files])


def suggest_next_version(golden: str, as_of: str | None = None) -> str:
    """Return the options of `golden freeze` for the next version of a set, which is a file, with decisions on it."""
    day = f" --as-of {shlex.quote(as_of)}" if as_of is not None else ""
    return f'{_suggest_following(golden)} --update{day} --change "documents changed"'


def _suggest_following(golden: str) -> str:
    path = Path(golden)
    first = path.with_name(re.sub(r"-[0-9]+\Z", "", path.stem) + path.suffix)
    loaded = load_golden(golden).golden
    newest = _find_newest_version(first) or (path, loaded.version)
    following = name_next_version(newest[1])
    out = first.with_name(f"{first.stem}-{following}{first.suffix}")
    owner = shlex.quote(loaded.owner) if loaded.owner else "NAME"
    return f"--base {shlex.quote(golden)} --out {shlex.quote(str(out))} --version {following} --owner {owner}"


def _find_newest_version(path: Path) -> tuple[Path, str] | None:
    """Return the newest of a set and its numbered versions (golden.jsonl, golden-2.jsonl, …) with its version."""
    numbered = re.compile(rf"{re.escape(path.stem)}-\d+{re.escape(path.suffix)}")
    siblings = [file for file in path.parent.glob(f"{path.stem}-*{path.suffix}") if numbered.fullmatch(file.name)]
    numbered_sets: list[tuple[int, Path, str]] = []
    for file in (path, *sorted(siblings)):
        if not file.is_file():
            continue
        try:
            version = load_golden(str(file)).golden.version or "1"
        except InputError:
            version = "of a set that cannot be read"
        numbered_sets.append((int(version) if version.isdecimal() else 0, file, version))
    newest = max(numbered_sets, key=lambda item: item[0], default=None)
    return newest[1:] if newest is not None else None
