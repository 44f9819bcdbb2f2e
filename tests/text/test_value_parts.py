"""A claim with the value of one part of a sentence, and the words of another, is not supported by it."""

from __future__ import annotations

import pytest

from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.tokens import DocumentFrequencies

HIRE = "A kayak costs 18 euros and a paddle 4 euros."
COVER = "Damage cover costs 7 euros a day. The deductible is 300 euros."
ONE_LINE = "Damage cover costs 7 euros a day; the deductible is 300 euros."
LEAVE = "Nurses have 30 days of leave, porters 26 days."
GOES_ON = "Nurses get 30 days of leave. They carry over 5 days."
HOURS = "In June the lido opens at 7 am, in October at 11 am."
FARES = "Vé tháng 200.000 đồng, vé tuần 70.000 đồng."


def measure(source: str, claim: str) -> float:
    return score_support(claim, IndexedSources([("a", source)], DocumentFrequencies.from_texts([]))).score


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (HIRE, "A kayak costs 4 euros."),
        (HIRE, "A paddle costs 18 euros."),
        (HIRE, "A kayak costs 4 euros and a paddle 18 euros."),
        (COVER, "Damage cover costs 300 euros a day."),
        (ONE_LINE, "Damage cover costs 300 euros a day."),
        (ONE_LINE, "The deductible is 7 euros."),
        (LEAVE, "Nurses have 26 days of leave."),
        (LEAVE, "Porters have 30 days of leave."),
        (HOURS, "In October the lido opens at 7 am."),
        (FARES, "Vé tháng 70.000 đồng."),
    ],
)
def test_the_value_of_another_part_supports_no_claim(source: str, claim: str) -> None:
    assert measure(source, claim) < 0.1


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (HIRE, "A kayak costs 18 euros."),
        (HIRE, "A paddle costs 4 euros."),
        (HIRE, "A kayak costs 18 euros and a paddle 4 euros."),
        (COVER, "The deductible is 300 euros."),
        (ONE_LINE, "The deductible is 300 euros."),
        (LEAVE, "Nurses have 30 days of leave."),
        (LEAVE, "Porters have 26 days."),
        (GOES_ON, "Nurses carry over 5 days."),
        (HOURS, "In October the lido opens at 11 am."),
        (FARES, "Vé tuần 70.000 đồng."),
    ],
)
def test_the_value_of_its_own_part_supports_a_claim(source: str, claim: str) -> None:
    assert measure(source, claim) > 0.6
