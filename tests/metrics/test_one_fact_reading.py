"""Everything that is said of an answer's facts follows from one reading of them, and so never disagrees (ADR 0099)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.support.examples import try_examples

import assay
from assay.attribution.one_case.answer_quality import assess_text
from assay.metrics.answers.expected_text import REFERENCE_VALUE, find_text_signal, find_veto, read_facts
from assay.metrics.cases.case_index import GoldenIndex
from assay.records.golden_set import Case, GoldenSet, Rubric
from assay.records.observations import Observation
from assay.records.scores import SCORED

FACTS = ("12 days", "5 days", "the manager approves", "HR", "not before Monday", "$1.4M", "40", "!!", "14:30", "30p")
PHRASES = (
    *FACTS,
    "3 to 5 days",
    "more than 12 days",
    "twelve days",
    "the manager signs",
    "maybe 5 days",
    "no 12 days",
    "the Kestrel 40 weighs 2 kg",
    "approval by the manager",
    "£0.30",
    "[1]",
    "before Monday",
    "formerly 14 days, now 12 days",
    "14 days or 12 days",
)
texts = st.lists(st.sampled_from(PHRASES), min_size=1, max_size=4).map(". ".join)
fact_lists = st.lists(st.sampled_from(FACTS), max_size=3).map(tuple)
rubrics = st.builds(
    Rubric,
    correct_keywords=fact_lists,
    incorrect_patterns=st.lists(st.sampled_from(("14 days", "HR", "5 days")), max_size=1).map(tuple),
    match=st.sampled_from(("any", "all")),
    kind=st.sampled_from(("text", "exact", "number")),
)
cases = st.builds(
    Case,
    id=st.just("q"),
    question=st.sampled_from(("How long?", "What does the Kestrel 40 weigh?", "More than how many days?")),
    must_have=fact_lists,
    rubric=st.none() | rubrics,
    reference=st.none() | texts,
)
METRICS = (
    "completeness(by=rules)",
    "correct_answer",
    "correct_answer_unknown",
    "correctness(by=rules)",
    "keywords",
    "exact_match",
    "number_match",
    "behaviour",
    "context_recall",
)


@try_examples(300)
@given(case=cases, answer=texts)
def test_states_of_facts_shares_verdicts_and_vetoes_never_disagree(case: Case, answer: str) -> None:
    reading = read_facts(case, answer)
    states = {judgment.state for judgment in reading.must_have}
    quality = reading.quality
    if states:
        assert quality is not None
        assert (reading.completeness == 1) is (states == {"stated"})
        assert (reading.completeness == "unknown") is ("unknown" in states)
        if states & {"denied", "missing"}:
            assert quality.good is False
        elif "unknown" in states:
            assert quality.good is not True
    if quality is not None and quality.good is True:
        assert not quality.missing
        assert reading.completeness in (None, 1)
        assert find_veto(case, answer) is None
    if quality is not None and quality.good is None:
        assert quality.unknown
        assert find_veto(case, answer) is None
    if reading.numbers and quality is not None and quality.signal == "number_match":
        assert reading.number_match == reading.correct_answer
    by_text: dict[str, str] = {}
    for judgment in (*reading.must_have, *reading.keywords):
        assert by_text.setdefault(judgment.fact, judgment.state) == judgment.state


@try_examples(60)
@given(case=cases, answer=texts)
def test_metrics_checks_and_attribution_say_the_same_of_an_answer(case: Case, answer: str) -> None:
    observation = Observation("q", "c", answer=answer, behaviour="answer")
    scored = assay.score(GoldenSet((case,)), [observation], metrics=METRICS)
    columns = scored.table("c").columns
    scores: dict[str, Any] = {
        name: float(column.values[0]) for name, column in columns.items() if column.status[0] == SCORED
    }
    reading = read_facts(case, answer)
    quality = assess_text(GoldenIndex(GoldenSet((case,))).case_index(0), observation)
    correct, complete = scores.get("correct_answer"), scores.get("completeness(by=rules)")
    assert correct == (None if quality.good is None else float(quality.good))
    assert complete == (reading.completeness if isinstance(reading.completeness, float) else None)
    if complete is not None and complete < 1:
        assert correct == 0
    assert scores["correct_answer_unknown"] == float(correct is None)
    checks = {name for row in scored.table("c").checks for name in row.failed}
    is_denied = bool(quality is not None and quality.denied)
    assert ("denied_fact" in checks) is is_denied
    assert ("incomplete_answer" in checks) is (complete is not None and 0 < complete < 1 and not is_denied)
    assert bool({"denied_fact", "incomplete_answer", "wrong_answer"} & checks) is (correct == 0)
    graded = scores.get("correctness(by=rules)")
    if graded is not None and quality.signal != "the reference, verbatim":
        assert graded > 0 if correct == 1 else graded < 1 or correct is None


def _score(case: Case, answer: str, *metrics: str) -> dict[str, float | None]:
    scored = assay.score(GoldenSet((case,)), [Observation("q", "c", answer=answer)], metrics=metrics)
    columns = scored.table("c").columns
    return {name: float(columns[name].values[0]) if columns[name].status[0] == SCORED else None for name in metrics}


def test_a_fact_that_the_reference_denies_too_counts_for_every_metric() -> None:
    reference = "Overtime is not paid on Sundays."
    case = Case("q", "Is overtime paid?", must_have=("paid on Sundays",), reference=reference)
    metrics = ("completeness(by=rules)", "correct_answer")
    assert set(_score(case, "No, overtime is not paid on Sundays.", *metrics).values()) == {1.0}


def test_an_end_of_a_range_is_missing_as_a_keyword_and_as_a_fact() -> None:
    metrics = ("completeness(by=rules)", "keywords", "correct_answer")
    rubric = Rubric(correct_keywords=("5 days",))
    case = Case("q", "How long does it take?", must_have=("5 days",), rubric=rubric)
    assert set(_score(case, "It takes 3 to 5 days.", *metrics).values()) == {0.0}


def test_must_have_facts_count_beside_keywords_in_correctness() -> None:
    rubric = Rubric(correct_keywords=("HR",))
    case = Case("q", "Who signs, and when?", must_have=("HR", "5 days"), rubric=rubric)
    metrics = ("correctness(by=rules)", "correct_answer")
    assert list(_score(case, "HR signs.", *metrics).values()) == [0.5, 0.0]


def test_a_bound_that_answers_the_question_is_no_veto() -> None:
    case = Case("q", "Below what share of losses is it paid?", must_have=("18%",))
    answer = "It is paid below 18%."
    assert read_facts(case, answer).completeness == 1
    assert find_veto(case, answer) is None


def test_a_doubtful_number_is_unknown_in_number_match_too() -> None:
    case = Case("q", "How many days?", reference="12 days", rubric=Rubric(kind="number"))
    assert set(_score(case, "Maybe 12 days.", "number_match", "correct_answer").values()) == {None}


def test_an_incorrect_pattern_next_to_the_keyword_leaves_the_answer_open() -> None:
    rubric = Rubric(("401",), ("403",))
    case = Case("q", "Which code means that the token is missing?", reference="401 Unauthorized", rubric=rubric)
    both = read_facts(case, "The server sends 401. It also sends 403.").quality
    assert both is not None and both.good is None
    assert any("403: listed as incorrect" in text for text in both.unknown)
    history = Case("q", "What is the limit?", reference="It rose from 10 to 12.", rubric=Rubric(("12",), ("10",)))
    quality = read_facts(history, "It rose from 10 to 12.").quality
    assert quality is not None and quality.good is True


def test_a_bound_on_the_other_side_is_no_denial_that_the_reference_shares() -> None:
    case = Case("q", "Trẻ em dưới mấy tuổi được miễn phí?", reference="Trẻ em dưới 6 tuổi.", must_have=("6 tuổi",))
    assert read_facts(case, "Các bé từ 6 tuổi trở lên được miễn phí ạ.").must_have[0].state == "denied"


# ── a reference that is one value ────────────────────────────────────────────────────────────────────────────────

FARE, FERRY, KEPT = "What is an adult return?", "When does the last ferry leave?", "How long is lost property kept?"


@pytest.mark.parametrize(
    ("question", "reference", "answer", "score"),
    [
        (FARE, "£24.00", "An adult return costs £24.", 1.0),
        (FARE, "£24.00", "An adult return costs £14.50.", 0.0),
        (FARE, "£24.00", "GBP14.50", 0.0),
        (FARE, "£24.00", "Bananas are yellow.", 0.0),
        (FERRY, "18:10", "The last ferry leaves at 6:10 pm.", 1.0),
        (FERRY, "18:10", "The last ferry leaves at 17:10.", 0.0),
        (KEPT, "90 days.", "We keep it for ninety days.", 1.0),
        (KEPT, "90 days.", "We keep it for 30 days.", 0.0),
        (KEPT, "90 days.", "For three months.", "unknown"),
        ("When does the policy start?", "2026-03-01", "It starts on 1 March 2026.", 1.0),
        ("When does the policy start?", "2026-03-01", "It starts on 2 March 2026.", 0.0),
        ("How many lockers are there?", "42", "There are 40 lockers.", 0.0),
        ("Được nghỉ bao nhiêu ngày?", "12 ngày", "Được nghỉ 10 ngày.", 0.0),
        ("In which year did it open?", "2024", "It opened in March 2024.", "unknown"),
        ("In which year did it open?", "2024", "It opened in March 2023.", 0.0),
        (FARE, "£0", "It is free of charge.", "unknown"),
        (FARE, "£0", "An adult return costs £14.50.", 0.0),
        ("When is the last day?", "30/6", "On 1 July.", 0.0),
        # Of words and of more than one value, what is missing may be said otherwise.
        (FARE, "An adult return costs £24.00.", "An adult return costs £14.50.", "unknown"),
        (KEPT, "up to 90 days", "We keep it for 30 days.", "unknown"),
        (KEPT, "from 30 to 90 days", "We keep it for 30 days.", "unknown"),
        ("Whom do I call?", "0800 123 456", "Call +44 800 123 456.", 1.0),
        ("Which form?", "BR-12", "Form BR-13.", 0.0),
        ("When is it open?", "24/7", "Around the clock.", "unknown"),
        ("How much flour?", "1/2", "Half a cup.", "unknown"),
        ("How many tries?", "> 5", "More than five.", "unknown"),
    ],
)
def test_a_reference_of_one_value_is_the_fact_that_an_answer_must_state(
    question: str, reference: str, answer: str, score: float | str
) -> None:
    case = Case("case", question, reference=reference)
    assert read_facts(case, answer).correct_answer == score
    if find_text_signal(case) == REFERENCE_VALUE:  # as if the case stated it as a fact
        stated = read_facts(structs.replace(case, must_have=(reference,)), answer)
        assert stated.correct_answer == score


def test_a_wrong_value_fails_its_case_and_says_which_is_missing() -> None:
    case = {"id": "fare", "question": FARE, "reference": "£24.00"}
    scores = assay.score([case], [{"case_id": "fare", "answer": "An adult return costs £14.50.", "config_id": "a"}])
    (scored,) = scores.cases
    assert scored.outcome == "failed"
    assert 'missing (the answer does not say £24.00; it says "£14.50")' in " ".join(scored.explain().split())
    # What a rubric asks for comes first.
    exact = Case("fare", FARE, reference="£24.00", rubric=Rubric(kind="exact"))
    assert find_text_signal(exact) == "exact_match"


def test_an_answer_is_read_once_for_all_metrics_and_anew_for_another_case() -> None:
    case = Case("leave", "How many days of leave?", must_have=("12 days",))
    reading = read_facts(case, "It is 12 days.")
    assert read_facts(case, "It is 12 days.") is reading
    assert [judgment.state for judgment in read_facts(case, "It is 5 days.").must_have] != ["stated"]
    other = structs.replace(case, must_have=("5 days",))
    assert [judgment.fact for judgment in read_facts(other, "It is 12 days.").must_have] == ["5 days"]
    assert read_facts(structs.replace(case), "It is 12 days.") == reading
