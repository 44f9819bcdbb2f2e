"""Numbers of an answer that no text has: what is compared, and how often for long answers."""

from __future__ import annotations

import pytest

from assay.attribution.one_case import unsupported_numbers
from assay.attribution.one_case.unsupported_numbers import find_unsupported_numbers
from assay.text.facts.presence.mentioned_values import is_value_among
from assay.text.normalisation import MOST_READ


@pytest.mark.parametrize(
    ("answer", "text", "expected"),
    [
        ("Open from 10 am to 4 pm.", "10:00-16:00", []),
        ("Call 040 555 667 788 or 030 111 222 333.", "Call 040 555 667 788.", ["030 111 222 333"]),
        ("Rent is due on the 1st, again on the 1st and on the 3rd.", "Due on the first day.", ["3rd"]),
        ("Two weeks, 15 days or 14 days.", "14 days", ["15"]),
        ("There are two:\n1. Oslo\n2. Bergen", "Oslo and Bergen, both of them", []),
        ("There are:\n1) Oslo, 7 beds\n2) Bergen, 8 beds", "Oslo: 7 beds; Bergen: 9 beds", ["8"]),
        ("Beds:\n14. Oslo", "Oslo", ["14"]),
        ("Until the end of 2031 (30 June).", "Valid to 30 June 2031.", []),
        ("Until the end of 2032 (30 July).", "Valid to 30 June 2031.", ["2032", "30"]),
    ],
)
def test_what_no_text_has_is_listed_in_order(answer: str, text: str, expected: list[str]) -> None:
    """A value counts as shown in another form, wherever it stands and however often."""
    found = find_unsupported_numbers(answer, [text])
    assert [number.split(" days")[0] for number in found] == expected


def test_a_value_is_looked_for_once_however_often_an_answer_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparisons of a long answer grow with its values and not with its length."""
    looked_for: list[object] = []
    compare = is_value_among

    def count(*arguments: object) -> bool:
        looked_for.append(arguments)
        return compare(*arguments)  # type: ignore[arg-type]  # whatever it is called with

    monkeypatch.setattr(unsupported_numbers, "is_value_among", count)
    sentence = "The ship has 480 seats, 12 cabins and leaves at 4 pm. "
    for repeats in (10, 500):
        looked_for.clear()
        found = find_unsupported_numbers(sentence * repeats, ["16:00", "some berths"])
        assert found == ["480", "12"] * repeats
        assert len(looked_for) <= 3


def test_numbers_beyond_what_is_read_are_not_listed() -> None:
    """The rules read the first characters of an answer only, and these numbers are no exception."""
    filler = "calm sea and fair wind. "
    answer = f"It takes 17 minutes. {filler * (MOST_READ // len(filler) + 1)} It takes 19 hours."
    assert [number.split()[0] for number in find_unsupported_numbers(answer, ["5 days"])] == ["17"]
