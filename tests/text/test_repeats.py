"""Patterns read the same on every supported Python: 3.11.2 goes astray in possessive repeats of groups."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.architecture.rooms import PACKAGE, files

from assay.text.numbers import find_quantities

POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{\{?[0-9]+(?:,[0-9]*)?\}\}?)\+(?=[^+=\s])")


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_pattern_repeats_a_group_possessively(path: Path) -> None:
    """`(?>(?:…)*)` means the same as `(?:…)*+`: a failed last repeat of the latter stays in the match there."""
    lines = path.read_text(encoding="utf-8").splitlines()
    regexes = [line for line in lines if 'r"' in line or "r'" in line or "(?" in line]
    assert [] == [line for line in regexes if POSSESSIVE_GROUP.search(line) and "frozenset" not in line]


def test_such_a_repeat_is_found() -> None:
    assert POSSESSIVE_GROUP.search("(?:a|b)*+x") and POSSESSIVE_GROUP.search("(a){{0,5}}+)")
    assert not POSSESSIVE_GROUP.search("(?>(?:a|b)*)x") and not POSSESSIVE_GROUP.search("[a]*+x")


def test_a_number_word_ends_where_it_ends() -> None:
    (quantity,) = find_quantities("Quotes are valid for thirty days.")
    assert ("day", 21, 32) == (quantity.unit, quantity.start, quantity.end)  # type: ignore[union-attr]  # there is one
