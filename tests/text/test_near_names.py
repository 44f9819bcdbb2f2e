"""Ids that are probably the same, one of them misspelt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.near_names import find_near_id


@pytest.mark.parametrize(
    ("name", "candidate"),
    [
        ("hours-wek", "hours-week"),
        ("hours_week", "hours-week"),
        ("Hours/Week", "hours:week"),
        ("huors-week", "hours-week"),
        ("leave:v2:12:annaul", "leave:v2:12:annual"),
        ("nghi-phep-nam", "nghi-phép-nam"),
    ],
)
def test_one_letter_separators_and_case_make_no_other_id(name: str, candidate: str) -> None:
    assert candidate == find_near_id(name, ["something-else", candidate])


@pytest.mark.parametrize(
    ("name", "candidate"),
    [
        ("chunk-12", "chunk-13"),
        ("a1-23", "a12-3"),
        ("price-a", "price-b"),
        ("cat", "car"),
        ("faq-manual", "faq-annual"),
        ("hours-wek", "hours-weekend"),
        ("hours-week", "hours-week"),
    ],
)
def test_numbers_short_words_and_other_words_do(name: str, candidate: str) -> None:
    assert "" == find_near_id(name, [candidate])


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=5))
def test_what_is_near_is_one_of_the_candidates_and_another(name: str, candidates: list[str]) -> None:
    near = find_near_id(name, candidates)
    assert near == "" or (near in candidates and near != name)
