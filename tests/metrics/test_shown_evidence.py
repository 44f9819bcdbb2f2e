"""What was shown to the model is a source for what an answer adds, and no reference (ADR 253)."""

from __future__ import annotations

import pytest
from msgspec import structs

import assay
from assay.metrics.answers.shown_evidence import list_source_sentences
from assay.metrics.cases.case_index import GoldenIndex
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import SCORED

KEY = Case("key", "What does a lost locker key cost?", reference="A lost locker key costs £6.")
SOURCE = "A locker key costs £6, a pass £4. Payments are made by ParentPay only."
OTHER = "A lost pass costs £9 and is paid by card."
ANSWER = "If your child loses the locker key, a new one is £6 (by ParentPay only). For comparison: a new pass is £4."


def observe(answer: str, *texts: str) -> Observation:
    chunks = tuple(Chunk(chunk_id=f"c{number}", text=text) for number, text in enumerate(texts))
    return Observation(KEY.id, "c", answer=answer, stages=(Stage("context", chunks),))


def judge(answer: str, *texts: str, case: Case = KEY) -> float | None:
    result = assay.score(GoldenSet((case,)), [observe(answer, *texts)], metrics=("correct_answer",))
    column = result.table("c").columns["correct_answer"]
    return float(column.values[0]) if column.status[0] == SCORED else None


@pytest.mark.parametrize(
    ("answer", "texts", "expected"),
    [
        (ANSWER, (), None),
        (ANSWER, (OTHER,), None),
        (ANSWER, (OTHER, SOURCE), 1.0),
        ("A new locker key is £4 (by ParentPay only).", (SOURCE,), 0.0),
        ("A lost pass costs £9, a locker key as well.", (OTHER, SOURCE), 0.0),
    ],
)
def test_what_was_shown_explains_an_answer_where_it_states_what_is_expected(
    answer: str, texts: tuple[str, ...], expected: float | None
) -> None:
    assert judge(answer, *texts) == expected


def test_what_was_shown_never_takes_the_place_of_the_reference() -> None:
    outdated = "A replacement locker key costs £8, a replacement pass £4."
    assert judge("A new locker key is £8.", outdated) == 0.0
    assert judge("A new locker key is £8.", f"{SOURCE} Last year a locker key was £8.") == 0.0


@pytest.mark.parametrize(
    ("case", "texts", "expected"),
    [
        (KEY, (OTHER, SOURCE), (SOURCE,)),
        (KEY, (OTHER,), ()),
        (
            KEY,
            (f"{'Lockers are blue. ' * 80}{SOURCE}",),
            ("A locker key costs £6, a pass £4.",),
        ),
        (structs.replace(KEY, reference=None, must_have=("£6",)), (OTHER, SOURCE), (SOURCE,)),
        (structs.replace(KEY, evidence=(Evidence(any_of=({"chunk_id": "c1"},), quote="Keys: £6."),)), (SOURCE,), ()),
    ],
)
def test_only_texts_that_state_what_is_expected_are_sources(
    case: Case, texts: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    index = GoldenIndex(GoldenSet((case,))).case_index(0)
    assert list_source_sentences(index, observe(ANSWER, *texts)) == expected
    assert list_source_sentences(index, None) == ()


RETURN = Case("key", "How long can I return an item?", reference="30 days")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("You can return it within 30 days of delivery.", 1.0),
        ("You can return it within 30 days of placing your order.", None),
    ],
)
def test_what_a_value_is_counted_from_is_compared_with_what_was_shown(answer: str, expected: float | None) -> None:
    assert judge(answer, "Items can be returned within 30 days of delivery.", case=RETURN) == expected


LEAVE = Case("key", "How many days of leave are there?", reference="There are 25 days of leave.")
PERMIT = Case("key", "What does a parking permit cost for staff?", must_have=("$40",))
DOGS = Case("key", "May dogs enter the library?", reference="Dogs may enter the library.")
DEPOSIT = Case("key", "Wie hoch ist die Kaution?", reference="Die Kaution beträgt 200 Euro.")


@pytest.mark.parametrize(
    ("case", "wrong"),
    [
        (LEAVE, "There are 25 days of leave, but only for managers."),
        (LEAVE, "There are at most 25 days of leave."),
        (LEAVE, "There are at least 25 days of leave."),
        (PERMIT, "A parking permit costs $40 for residents."),
        (PERMIT, "A parking permit costs $40 per day."),
        (DOGS, "Dogs may enter the library except on weekdays."),
        (DEPOSIT, "Die Kaution beträgt nicht 200 Euro, sondern 300 Euro."),
    ],
)
def test_a_wrong_answer_does_not_pass_because_a_wrong_text_was_shown(case: Case, wrong: str) -> None:
    """A text that has the value for others, up to a bound or as a contrary would not pass as an answer itself."""
    assert judge(wrong, case=case) is None
    assert judge(wrong, wrong, case=case) is None
    assert judge(wrong, f"Notice for all. {wrong}", case=case) is None


def test_of_a_text_that_would_not_pass_only_the_sentences_that_would_are_sources() -> None:
    index = GoldenIndex(GoldenSet((KEY,))).case_index(0)
    text = "A lost locker key costs £6. A lost locker key costs £9."
    assert list_source_sentences(index, observe("", text)) == ("A lost locker key costs £6.",)
