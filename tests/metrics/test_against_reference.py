"""Correctness, completeness, relevance and similarity by hand; the veto of deterministic rules over a judge."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.metrics.rubrics import RUBRICS, label_by_text, make_ruling_judge

from assay.metrics.answers.correctness import (
    judge_completeness,
    judge_correctness,
    judge_relevance,
    score_correctness_by_rules,
    score_similarity,
)
from assay.metrics.answers.expected_text import FOUND_WRONG, OTHER_VALUE
from assay.metrics.answers.hallucination_risk import measure_judge_disagreement, measure_judge_unscored
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.judged.judge_requests import JudgeDialogue, Outcome, collect_first_requests, replay_outcome
from assay.metrics.judged.second_judgement import CaseTexts, find_second_requests
from assay.metrics.judged.vote_folding import Ruling, fold_votes
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.golden_set import Case, GoldenSet, Rubric, Turn
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED
from assay.records.verdicts import ItemVerdict, JudgeRequest, Verdict
from assay.text.safety.planted_orders import has_order_to_judge

REFERENCE = "Staff get 12 days of leave."


def reading(answer: str, reference: str | None = REFERENCE, **case_fields: Any) -> ParsedAnswer:
    golden = GoldenSet((Case("q", "How much leave?", reference=reference, **case_fields),))
    context = Stage("context", (Chunk("a", text=REFERENCE),))
    return ParsedAnswer(
        GoldenIndex(golden).case_index(0), Observation("q", "c", stages=(context,), answer=answer, citations=("a",))
    )


def outcome(asking: JudgeDialogue, label: str) -> Outcome:
    """What a metric comes to with a judge that always gives this label."""
    return replay_outcome(asking, make_ruling_judge(lambda *_: label))


@pytest.mark.parametrize(("label", "value"), [("correct", 1.0), ("partly", 0.5), ("incorrect", 0.0)])
def test_correctness_is_the_number_of_the_label(label: str, value: float) -> None:
    assert (SCORED, value, "", label) == outcome(judge_correctness(reading("12 days."), RUBRICS), label)


@pytest.mark.parametrize(
    ("rubric", "answer", "why"),
    [
        (Rubric(kind="exact"), "Staff get 12 days.", "exact_match"),
        (Rubric(kind="number"), "Staff get 14 days.", "number_match"),
        (Rubric(("12 days",), ("14 days",)), "Staff get 14 days.", "incorrect pattern 14 days"),
        (Rubric((), ("14 days",)), "Staff get 14 days.", "incorrect pattern 14 days"),
    ],
)
def test_a_deterministic_rule_vetoes_a_judge_down(rubric: Rubric, answer: str, why: str) -> None:
    scored_answer = outcome(judge_correctness(reading(answer, rubric=rubric), RUBRICS), "correct")
    assert (SCORED, 0.0, f"correct, vetoed by {why}") == (
        scored_answer.status,
        scored_answer.value,
        scored_answer.detail,
    )


@pytest.mark.parametrize(
    ("reference", "answer", "why"),
    [
        ("3 weeks", "It takes a month.", "reference value 3 weeks"),
        ("€40", "The pass is forty-five euros.", "reference value €40"),
        ("17:30", "At 18:30.", "reference value 17:30"),
    ],
)
def test_a_reference_of_one_value_vetoes_a_judge_down(reference: str, answer: str, why: str) -> None:
    scored_answer = outcome(judge_correctness(reading(answer, reference), RUBRICS), "correct")
    assert (SCORED, 0.0, f"correct, vetoed by {why}") == (
        scored_answer.status,
        scored_answer.value,
        scored_answer.detail,
    )


@pytest.mark.parametrize(
    ("case", "answer", "reason", "detail"),
    [
        (
            {"reference": "The lift carries 300 kg."},
            "It carries up to 450 kg.",
            OTHER_VALUE,
            'the answer does not say 300 kg; it says "up to 450 kg"',
        ),
        ({"must_have": ("paid",)}, "All staff get unpaid leave.", FOUND_WRONG, "paid is missing"),
        (
            {"rubric": Rubric(("in writing",), ("by telephone",))},
            "They report it in writing, not by telephone, but by telephone in an emergency.",
            None,
            "correct",
        ),
    ],
)
def test_what_a_judge_calls_right_against_the_rules_waits_for_a_person(
    case: dict[str, Any], answer: str, reason: str | None, detail: str
) -> None:
    reference = case.pop("reference", REFERENCE)
    scored_answer = outcome(judge_correctness(reading(answer, reference, **case), RUBRICS), "correct")
    if reason is None:
        assert (SCORED, 1.0, detail) == (scored_answer.status, scored_answer.value, scored_answer.detail)
    else:
        assert (ERROR, reason, f"correct, but {detail}") == (
            scored_answer.status,
            scored_answer.reason,
            scored_answer.detail,
        )


@pytest.mark.parametrize(
    "answer",
    [
        "It carries 0.3 t.",  # the same value
        "It carries a piano.",  # no value
        "It carries 300 kg, or four people.",  # another one next to it
        "Four people may ride in it.",  # a value of something else
    ],
)
def test_a_judge_may_call_right_what_states_no_other_value_than_the_reference(answer: str) -> None:
    scored_answer = outcome(judge_correctness(reading(answer, "The lift carries 300 kg."), RUBRICS), "correct")
    assert (SCORED, 1.0, "correct") == (scored_answer.status, scored_answer.value, scored_answer.detail)


def test_what_a_person_settles_is_not_vetoed() -> None:
    parsed = reading("It takes a month.", "3 weeks")
    judge = make_ruling_judge(lambda *_: "correct")

    def settle(request: JudgeRequest) -> Ruling | None:
        ruling = judge(request)
        assert ruling is not None
        return replace(ruling, items=tuple(replace(item, reviewers=("ann",)) for item in ruling.items))

    settled = replay_outcome(judge_correctness(parsed, RUBRICS), settle)
    assert (SCORED, 1.0, "correct") == (settled.status, settled.value, settled.detail)


@pytest.mark.parametrize(
    ("answer", "label", "value", "why"),
    [
        ("Staff get 14 days, paid.", "correct", 0.5, ", vetoed by must_have 12 days"),
        ("Staff get 14 days, paid.", "partly", 0.5, ""),
        ("Staff get 14 days, paid.", "incorrect", 0.0, ""),
        ("Staff get twelve days, and the firm pays.", "correct", 1.0, ""),
        ("Not 12 days, but 14, paid.", "correct", 0.5, ", vetoed by must_have 12 days"),
    ],
)
def test_a_must_have_figure_that_is_not_there_vetoes_a_judge_down(
    answer: str, label: str, value: float, why: str
) -> None:
    """ "Paid" may be said in other words; twelve days may not be said as fourteen."""
    scored_answer = outcome(judge_correctness(reading(answer, must_have=("12 days", "paid")), RUBRICS), label)
    assert (value, f"{label}{why}") == (scored_answer.value, scored_answer.detail)


def test_an_answer_without_any_must_have_figure_is_worth_nothing() -> None:
    parsed = reading("Some days, until spring.", must_have=("12 days", "31 March"))
    scored_answer = outcome(judge_correctness(parsed, RUBRICS), "correct")
    assert (0.0, "correct, vetoed by must_have 12 days, 31 March") == (scored_answer.value, scored_answer.detail)


def test_a_fact_without_its_figure_is_not_stated_even_if_a_judge_says_so() -> None:
    """Of two facts that a judge calls stated one has another figure in the answer: half of them are there."""
    parsed = reading("Staff get 14 days, paid.", must_have=("12 days", "paid"))
    scored_answer = outcome(judge_completeness(parsed, RUBRICS), "stated")
    assert (0.5, "lacking: 12 days (stated, vetoed: without its figures)") == (
        scored_answer.value,
        scored_answer.detail,
    )


def test_a_deterministic_rule_never_lifts_a_judge_up() -> None:
    parsed = reading("Staff get 12 days.", rubric=Rubric(("12 days",), ("14 days",)))
    assert (1.0, 0.0) == (
        score_correctness_by_rules(parsed).value,
        outcome(judge_correctness(parsed, RUBRICS), "incorrect").value,
    )


def test_a_correct_keyword_comes_before_an_incorrect_pattern() -> None:
    parsed = reading("It rose from 10 to 12 days.", rubric=Rubric(("12 days",), ("10",)))
    assert "correct" == outcome(judge_correctness(parsed, RUBRICS), "correct").detail


def test_a_veto_needs_a_verdict_to_veto() -> None:
    parsed = reading("14 days.", rubric=Rubric(kind="number"))
    assert (ERROR, "no verdict recorded") == replay_outcome(judge_correctness(parsed, RUBRICS), lambda _: None)[::2][:2]


def test_must_have_facts_stand_in_for_a_reference() -> None:
    (request,) = collect_first_requests(judge_correctness(reading("12.", None, must_have=("12 days", "paid")), RUBRICS))
    assert "12 days; paid" == request.inputs["reference"]
    assert "no reference" == outcome(judge_correctness(reading("12.", None), RUBRICS), "correct").reason


@pytest.mark.parametrize(
    ("case", "value", "detail"),
    [
        ({"rubric": Rubric(("12", "paid"))}, 0.5, "by keywords"),
        ({"rubric": Rubric(kind="exact")}, 0.0, "by exact_match"),
        ({"rubric": Rubric(kind="number")}, 1.0, "by number_match"),
        ({"must_have": ("12 days", "paid", "leave")}, 2 / 3, "by completeness"),
        ({"rubric": Rubric(("12",)), "must_have": ("paid",)}, 0.0, "by completeness"),
        ({"rubric": Rubric(("12", "paid")), "must_have": ("12 days",)}, 0.5, "by keywords"),
    ],
)
def test_correctness_by_rules_is_the_first_rule_that_applies(case: Any, value: float, detail: str) -> None:
    assert (SCORED, value, "", detail) == score_correctness_by_rules(reading("All staff get 12 days of leave.", **case))


def test_without_a_rule_correctness_falls_back_on_the_similarity() -> None:
    alike, other = reading("Staff get 12 days of leave."), reading("Laptops are replaced every three years.")
    assert "by answer_similarity" == score_correctness_by_rules(alike).detail
    assert 1.0 == pytest.approx(score_similarity(alike).value)
    assert 0.0 == score_similarity(other).value == score_correctness_by_rules(other).value
    assert "no reference" == score_similarity(reading("12 days.", None)).reason


def test_completeness_is_the_mean_over_facts_and_lists_those_that_are_missing() -> None:
    """Of three facts one is stated (1), one partly (.5) and one missing (0)."""
    parsed = reading("12 days.", must_have=("12 days", "paid", "for staff"))
    labels = {"12 days": "stated", "paid": "partly_stated", "for staff": "missing"}
    scored_answer = replay_outcome(judge_completeness(parsed, RUBRICS), make_ruling_judge(label_by_text(labels)))
    assert (SCORED, 0.5) == scored_answer[:2]
    assert "lacking: paid (partly_stated); for staff (missing)" == scored_answer.detail


def test_what_the_judge_sees_of_completeness_is_facts_question_and_answer() -> None:
    (request,) = collect_first_requests(judge_completeness(reading("12 days.", must_have=("12 days",)), RUBRICS))
    assert ["answer", "facts", "question"] == sorted(request.inputs)


def test_relevance_does_not_show_the_reference() -> None:
    (request,) = collect_first_requests(judge_relevance(reading("12 days."), RUBRICS))
    assert ["answer", "question"] == sorted(request.inputs)


def test_a_refusal_has_no_relevance_and_one_that_the_case_accepts_no_correctness() -> None:
    refusal = "I could not find any information about this."
    assert "refused" == outcome(judge_relevance(reading(refusal), RUBRICS), "relevant").reason
    accepted = reading(refusal, also_accept=("abstain",))
    assert (
        "refused"
        == outcome(judge_correctness(accepted, RUBRICS), "correct").reason
        == score_correctness_by_rules(accepted).reason
    )
    assert SCORED == outcome(judge_correctness(reading(refusal), RUBRICS), "incorrect").status


def test_an_empty_answer_is_wrong_without_asking() -> None:
    parsed = reading("  ", must_have=("12 days",))
    for asking in (judge_correctness, judge_completeness, judge_relevance):
        assert [] == collect_first_requests(asking(parsed, RUBRICS))
        assert 0.0 == outcome(asking(parsed, RUBRICS), "correct").value


def test_earlier_turns_belong_to_the_question() -> None:
    parsed = reading("12 days.", history=(Turn("user", "I am new."), Turn("assistant", "Welcome!")))
    (request,) = collect_first_requests(judge_relevance(parsed, RUBRICS))
    assert "[user] I am new.\n[assistant] Welcome!\n[user] How much leave?" == request.inputs["question"]
    assert not has_order_to_judge(request.inputs), "a conversation is no injection, and costs no further votes"
    ruling = fold_votes(
        [Verdict(request.digest, "j", 0, "relevance@1", (ItemVerdict("answer", "relevant"),))],
        RUBRICS["relevance", "en"],
    )
    assert [] == find_second_requests(request, ruling, 0.0, CaseTexts())


# ── the judge itself ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_share_of_requests_without_a_usable_verdict_is_reported() -> None:
    """Asked are support, citation support, correctness and relevance; one of the four is refused."""
    parsed = reading("Staff get 12 days of leave.")
    labels = {
        "support": "supported",
        "citation_support": "supported",
        "correctness": "!refused",
        "relevance": "relevant",
    }
    scored_answer = replay_outcome(
        measure_judge_unscored(parsed, RUBRICS), make_ruling_judge(lambda request, _: labels[request.rubric])
    )
    assert (SCORED, 0.25, "", "unscored: refused") == scored_answer


def test_what_was_never_asked_is_not_unscored() -> None:
    assert NOT_APPLICABLE == replay_outcome(measure_judge_unscored(reading("12 days."), RUBRICS), lambda _: None).status


def test_judge_and_rules_that_differ_widely_flag_the_case() -> None:
    """By rules the number is there and the claim stands verbatim in the context; the judge denies both."""
    parsed = reading(REFERENCE, rubric=Rubric(kind="number"))
    labels = {
        "support": "supported",
        "citation_support": "supported",
        "correctness": "incorrect",
        "relevance": "relevant",
    }
    apart = replay_outcome(
        measure_judge_disagreement(parsed, RUBRICS), make_ruling_judge(lambda request, _: labels[request.rubric])
    )
    assert (1.0, "apart: correctness 0.00 by judge, 1.00 by rules") == (apart.value, apart.detail)
    labels["correctness"] = "correct"
    near = replay_outcome(
        measure_judge_disagreement(parsed, RUBRICS), make_ruling_judge(lambda request, _: labels[request.rubric])
    )
    assert (0.0, "") == (near.value, near.detail)
