"""A fact that is a mere yes or no is judged by what the answer does with what the question asks for."""

from __future__ import annotations

import pytest

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case

REENTRY = Case(
    "c", "Is re-entry allowed after the interval?", reference="Re-entry is not allowed after it.", must_have=("no",)
)
BREAKFAST = Case("c", "Is breakfast included in the room rate?", reference="Breakfast is included.", must_have=("yes",))
SUNDAY = Case("c", "Tiệm có làm chủ nhật không?", reference="Tiệm nghỉ chủ nhật.", must_have=("không",))


@pytest.mark.parametrize(
    ("case", "answer", "is_right"),
    [
        (REENTRY, "Yes, there is no problem with coming back in after the interval.", False),
        (REENTRY, "Yes, and there's no charge.", False),
        (REENTRY, "Sure, no problem.", False),
        (REENTRY, "I'm afraid not.", True),
        (REENTRY, "Not at all.", True),
        (REENTRY, "It is not.", True),
        (REENTRY, "Re-entry after the interval is forbidden.", True),
        (REENTRY, "Re-entry is never allowed after the interval.", True),
        (REENTRY, "Re-entry is allowed after the interval.", False),
        (REENTRY, "The interval lasts 20 minutes.", None),
        (BREAKFAST, "Breakfast is included in the room rate.", True),
        (BREAKFAST, "It is.", True),
        (BREAKFAST, "Of course!", True),
        (BREAKFAST, "Breakfast is not included in the room rate.", False),
        (BREAKFAST, "Unfortunately not.", False),
        (BREAKFAST, "Of course, but only on weekends.", None),
        (BREAKFAST, "Breakfast is included only on weekends.", None),
        (SUNDAY, "Tiệm không làm chủ nhật.", True),
        (SUNDAY, "Tiệm làm cả chủ nhật.", False),
        (SUNDAY, "Dạ có, chủ nhật tiệm vẫn làm, không nghỉ ngày nào.", False),
    ],
)
def test_a_mere_yes_or_no_is_judged_by_what_is_asked(case: Case, answer: str, is_right: bool | None) -> None:
    quality = assess_answer_text(case, answer)
    assert quality is not None
    assert quality.good is is_right


def test_a_fact_within_a_longer_word_of_the_reference_is_not_held_by_it() -> None:
    case = Case("c", "Which ring may be sold?", reference="No earring may be sold.", must_have=("ring",))
    quality = assess_answer_text(case, "No ring may be sold.")
    assert quality is not None
    assert quality.good is not True


@pytest.mark.parametrize("lead", ["According to “House rules, part 2”", "For the Heron 12", "In winter", "At the quay"])
def test_a_question_that_begins_with_its_place_or_time_asks_for_yes_or_no_too(lead: str) -> None:
    """Read as another question, a mere "No." had none of the words that the fact has, and was wrong."""
    case = Case("c", f"{lead}, are dogs carried free of charge?", must_have=("not carried free of charge",))
    for answer, is_right in (("No.", True), ("No, they aren't.", True), ("Yes.", False)):
        quality = assess_answer_text(case, answer)
        assert quality is not None and quality.good is is_right, answer
    other = Case("c", f"{lead}, in which season are dogs carried free of charge?", must_have=("autumn",))
    quality = assess_answer_text(other, "Yes.")
    assert quality is None or quality.good is not True


@pytest.mark.parametrize(
    ("reference", "answer", "is_right"),
    [
        ("No.", "It is closed on Sundays.", True),
        ("No, it is closed on Sundays.", "It stays closed on Sundays.", True),
        ("No.", "We're shut on Sundays.", None),
        ("No.", "They have the day off on Sundays.", None),
        ("No.", "It is open on Sundays.", False),
        ("No.", "It's open on Sundays.", False),
        ("Yes, from 9:00.", "It is closed on Sundays.", False),
    ],
)
def test_a_pronoun_with_another_word_than_the_question_has_is_no_yes(
    reference: str, answer: str, is_right: bool | None
) -> None:
    quality = assess_answer_text(Case("sunday", "Is the clinic open on Sundays?", reference=reference), answer)
    assert quality is not None
    assert is_right == quality.good
