"""Numbers of an answer that no source has are counted and warned of, and fail nothing."""

from __future__ import annotations

from typing import Any

import pytest

import assay
from assay.records.golden_set import Case, Evidence, GoldenSet, Rubric, Turn
from assay.records.observations import Chunk, Observation, Stage
from assay.records.release_gates import Gate, Rule
from assay.records.scores import NOT_APPLICABLE, SCORED

TEXT = "Theft costs an excess of 90 euros. Claims are paid within 48 hours, at most 600 euros, on 1 March 2026."
ANSWER = "The excess is 90 euros."


def score(answer: str, text: str = TEXT, stages: tuple[Stage, ...] | None = None, **fields: Any) -> Any:
    """Score one answer whose context is one text."""
    stages = (Stage("context", (Chunk("c1", text=text),)),) if stages is None else stages
    observation = Observation("q", "one", answer=answer, citations=("c1",), stages=stages)
    case = Case("q", fields.pop("question", "How much is the excess?"), **fields)
    return assay.score(GoldenSet((case,)), [observation], metrics=["unsourced_numbers"]).table("one")


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        (ANSWER, 0),
        (f"{ANSWER} Every customer gets a free helmet worth 75 euros.", 1),
        (f"{ANSWER} It is paid within 48 days.", 1),
        (f"{ANSWER} It is paid within 2 days.", 0),  # 48 hours
        (f"{ANSWER} It is paid on 2026-03-01.", 0),
        (f"{ANSWER} It is paid in the spring of 2026 (1 March).", 0),  # parts of the date
        (f"{ANSWER} It is paid in the spring of 2027 (2 March).", 2),
        (f"{ANSWER} It is paid in 1 to 2026 days.", 1),  # no year
        (f"{ANSWER} You need:\n\n1. the receipt\n2. the key\n3. a photo", 0),  # a list counts its lines
        (f"{ANSWER} It is paid on 2 March 2026, or on 3 March 2026.", 2),
        (f"{ANSWER} A helmet worth 300 euros is free.", 1),  # "at most 600 euros" states 600 alone
        (f"{ANSWER} It is at most 600 euros.", 0),
        (f"{ANSWER} It is less than 100 euros.", 0),
        (f"{ANSWER} It is over 200 euros.", 1),
        (f"{ANSWER} It is less than 9000 euros.", 1),  # too far from 90 and from 600
        (f"{ANSWER} It is paid in under 3 days.", 1),  # another limit than "within 48 hours"
        (f"{ANSWER} It is paid in more than 1 day.", 1),  # "within 48 hours" is no value
        ("1. The excess is 90 euros [1].\n2. Claims are paid fast [1].", 0),
        ("The excess is ninety euros, for three bicycles.", 0),  # not in digits
    ],
)
def test_numbers_that_no_source_has_are_counted_and_are_a_warning(answer: str, count: int) -> None:
    table = score(answer)
    column = table.columns["unsourced_numbers"]
    assert (column.status[0], column.values[0]) == (SCORED, count)
    assert bool(count) == any("unsourced_number" in checks.warnings for checks in table.checks)
    assert not any("unsourced_number" in checks.failed for checks in table.checks)


@pytest.mark.parametrize(
    "fields",
    [
        {"question": "Is a helmet worth 75 euros covered?"},
        {"history": (Turn("user", "My helmet cost 75 euros."),)},
        {"reference": "A helmet worth 75 euros."},
        {"must_have": ("75 euros",)},
        {"rubric": Rubric(("75 euros",))},
        {"evidence": (Evidence(({"chunk_id": "c9"},), quote="A helmet costs 75 euros."),)},
    ],
)
def test_question_history_and_golden_case_are_sources_too(fields: dict[str, Any]) -> None:
    assert score("A helmet worth 75 euros is free.", **fields).columns["unsourced_numbers"].values[0] == 0


def test_without_a_context_there_is_no_score() -> None:
    table = score(ANSWER, stages=(Stage("search", (Chunk("c1", text=TEXT),)),))
    column = table.columns["unsourced_numbers"]
    assert column.status[0] == NOT_APPLICABLE
    assert column.reasons[column.reason[0]].startswith("stage context not reported")


def test_a_rule_of_a_gate_may_decide_on_it() -> None:
    observation = Observation(
        "q", "one", answer="It is 75 euros.", citations=("c1",), stages=(Stage("context", (Chunk("c1", text=TEXT),)),)
    )
    golden = GoldenSet((Case("q", "How much?"),))
    gate = Gate(rules=(Rule("unsourced_numbers", at_most=0.0),))
    assert assay.score(golden, [observation], gate=gate).decision.outcome == "FAIL"


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        ("The hall seats more than 350 guests.", 0),
        ("The hall seats fewer than 350 guests.", 1),
        ("The hall has more than 350 lamps.", 1),  # the 412 are of guests
        ("The ferry leaves at 4:20 pm.", 0),
        ("The pass is valid for 36 months.", 0),
        ("The pass is valid for 30 months.", 1),
    ],
)
def test_numbers_are_compared_as_values(answer: str, count: int) -> None:
    text = "The hall seats 412 guests. The ferry leaves at 16:20. The pass is valid for 3 years."
    assert score(answer, text).columns["unsourced_numbers"].values[0] == count


HALL = (
    "The hall costs 35 euros an hour, cleaning 60 euros, and a row of chairs 4.50 euros. It is open 08:00-11:00 and "
    "14:00-18:00; members pay 20% less. A row has 15 chairs."
)


@pytest.mark.parametrize(
    ("question", "answer", "count"),
    [
        ("What do 6 rows of chairs cost?", "6 × 4.50 euros = 27 euros.", 0),
        ("What do six rows of chairs cost?", "That is 27 euros.", 0),
        ("What do 6 rows of chairs cost?", "6 × 4.50 euros = 28 euros.", 1),  # wrongly multiplied
        ("What do rows of chairs cost?", "For 6 rows, 27 euros.", 2),  # nobody said 6
        ("What does the hall cost for 3 hours?", "105 euros, with the cleaning of 60 euros 165 euros.", 0),
        ("What does the hall cost for 3 hours?", "105 euros, with the cleaning of 60 euros 175 euros.", 1),
        ("What does a member pay for the cleaning?", "60 euros less 20%: 48 euros.", 0),
        ("What does a member pay for the cleaning?", "60 euros less 20%: 50 euros.", 1),
        ("I pay 100 euros for the cleaning. What is left?", "100 euros minus 60 euros leaves 40 euros.", 0),
        ("How many chairs are 4 rows?", "4 × 15 = 60 chairs.", 0),
        ("How many chairs are 4 rows?", "There are 61 chairs.", 1),
        ("When is the hall open?", "In the mornings (8 to 11).", 0),
        ("When is the hall open?", "In the mornings (8 to 12).", 1),
        ("When is the hall open?", "Two times a day (8 to 11, 2 to 6).", 0),
        ("When is the hall open?", "Until 6 on every day.", 0),
        ("When is the hall open?", "Until 7 on every day.", 1),
        ("How many lamps are there?", "There are 8 to 11 lamps.", 1),  # counted, and no hours
        ("How many lamps are there?", "There are 8 lamps.", 1),
        ("Wann ist die Halle offen?", "Vormittags (8 bis 11).", 0),
        ("Hội trường mở cửa khi nào?", "Mở cửa đến 11.", 0),
    ],
)
def test_what_follows_from_numbers_of_the_sources_is_no_doubt(question: str, answer: str, count: int) -> None:
    """Products and sums of what is asked and shown, if they are right, and hours without minutes."""
    assert count == score(answer, HALL, question=question).columns["unsourced_numbers"].values[0]


def test_among_many_values_none_is_a_sum() -> None:
    """Of ten prices any price is the sum of some, so that an invented one stays a doubt."""
    text = " ".join(f"Tour {number} costs {number * 7} euros." for number in range(1, 11))
    listed = ", ".join(f"{number * 7} euros" for number in range(1, 11))
    assert (
        1
        == score(f"The tours cost {listed}; together with the bus 77 euros.", text)
        .columns["unsourced_numbers"]
        .values[0]
    )
