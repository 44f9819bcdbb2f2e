"""An answer that is the reference, or whole statements of it with the fact, is right by its own case."""

from __future__ import annotations

import pytest

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case, Rubric

REFERENCE = "€88.00: €64.00 for the first four plus two times €12.00. Perhaps a deposit is due: €20.00 or €30.00."


@pytest.mark.parametrize(
    ("fact", "answer", "good"),
    [
        ("€88", REFERENCE, True),
        ("€88", f"**{REFERENCE.upper()}**", True),
        ("€64", "€64.00 for the first four plus two times €12.00.", True),
        ("€20.00", "Perhaps a deposit is due: €20.00 or €30.00", True),
        ("€20.00", "a deposit is due: perhaps €20.00 or €30.00", None),
        ("€89", REFERENCE, False),
    ],
)
def test_the_reference_word_for_word_is_right(fact: str, answer: str, good: bool | None) -> None:
    case = Case("case", "What do six boats cost?", reference=REFERENCE, must_have=(fact,))
    quality = assess_answer_text(case, answer)
    assert quality is not None
    assert quality.good is good


def test_a_part_of_a_statement_of_the_reference_is_judged_like_any_answer() -> None:
    case = Case("case", "How long may I stay?", reference="Not more than 5 days.", must_have=("5 days",))
    quality = assess_answer_text(case, "more than 5 days")
    assert quality is not None
    assert quality.good is not True


def test_a_numeric_reference_word_for_word_is_right() -> None:
    reference = "It may be 12 km or 14 km."
    case = Case("case", "How far is it?", reference=reference, rubric=Rubric(kind="number"))
    quality = assess_answer_text(case, reference)
    assert quality is not None
    assert quality.good
