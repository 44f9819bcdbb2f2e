"""Behaviour that nothing tells is a state of its own, and a question back counts where the case accepts it."""

from __future__ import annotations

import pytest

import assay
from assay.api import ScoreResult
from assay.records.golden_set import Behaviour, Case, GoldenSet
from assay.records.observations import Observation

RATES = ["behaviour", "refused", "answered", "over_refusal", "under_refusal", "refusal_calibration"]
OTHERS = ["behaviour_unknown", "partial_refusal", "clarified", "behaviour_mismatch"]
KOREAN = "회의는 세 시에 시작합니다."
MUST_REFUSE = Case("1", "?", behaviour="abstain")
ANSWERABLE = Case("1", "?", reference="at three")


def score(case: Case, answer: str, declared: Behaviour | None = None) -> ScoreResult:
    observation = Observation(case.id, "c", answer=answer, behaviour=declared)
    return assay.score(GoldenSet((case,)), [observation], metrics=[*RATES, *OTHERS])


def value(result: ScoreResult, metric: str) -> float | None:
    return result.summary("c")[metric].value


@pytest.mark.parametrize("case", [MUST_REFUSE, ANSWERABLE])
def test_unknown_behaviour_is_counted_and_neither_right_nor_wrong_nor_an_error(case: Case) -> None:
    scored = score(case, KOREAN)
    assert 1.0 == value(scored, "behaviour_unknown")
    for metric in RATES:
        summary = scored.summary("c")[metric]
        assert (None, 1, 0) == (summary.value, summary.not_applicable, summary.errors)


def test_a_declaration_decides_what_the_text_leaves_open() -> None:
    scored = score(MUST_REFUSE, KOREAN, declared="abstain")
    assert [1.0, 1.0, 0.0] == [value(scored, metric) for metric in ("behaviour", "refused", "behaviour_unknown")]


def test_a_case_in_a_language_without_a_lexicon_is_unknown_and_the_language_is_named_once() -> None:
    cases = tuple(Case(str(number), "?", reference="x", language="it") for number in range(3))
    observations = [Observation(case.id, "c", answer="Il prezzo è di 12 euro.") for case in cases]
    scored = assay.score(GoldenSet(cases), observations, metrics=["behaviour", "behaviour_unknown"])
    assert 1.0 == value(scored, "behaviour_unknown")
    assert 1 == sum("no lexicon of refusals" in str(warning) for warning in scored.run.scoring.warnings)


def test_a_question_back_is_right_where_the_case_accepts_it_and_else_neither_refusal_nor_answer() -> None:
    question = "Which office do you work in?"
    accepted = score(Case("1", "?", reference="x", also_accept=("clarify",)), question)
    assert [1.0, 1.0] == [value(accepted, "behaviour"), value(accepted, "clarified")]
    unexpected = score(ANSWERABLE, question)
    assert [0.0, 0.0, 0.0] == [value(unexpected, metric) for metric in ("behaviour", "answered", "over_refusal")]
    expected = score(Case("1", "?", behaviour="clarify"), question)
    assert [1.0, None] == [value(expected, "behaviour"), value(expected, "refused")]


def test_a_partial_refusal_is_an_answer_and_told_apart() -> None:
    scored = score(ANSWERABLE, "The meeting starts at 3 pm. I could not find any information about the room.")
    assert [1.0, 1.0] == [value(scored, "answered"), value(scored, "partial_refusal")]
    assert 0.0 == value(score(ANSWERABLE, "The meeting starts at 3 pm."), "partial_refusal")
