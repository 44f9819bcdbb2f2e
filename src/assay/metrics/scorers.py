"""How each answer metric is computed: by text rules, from the recorded verdicts of a judge, or by either.

The catalogue rows of answer metrics: grounding, citations, correctness, and the judge itself.

Scores by rules or by a judge always inform; they gate only after the scorer is calibrated against human labels
(ADR 0031).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from msgspec import UNSET

from assay.metrics import citation_support, faithfulness, hallucination_risk
from assay.metrics import correctness as reference
from assay.metrics.case_index import CaseIndex
from assay.metrics.judge_requests import (
    JudgeDialogue,
    Outcome,
    RecordedVerdicts,
    Rubrics,
    collect_first_requests,
    mark_for_review,
    replay_outcome,
)
from assay.metrics.judge_requests import not_applicable_outcome as without_meaning
from assay.metrics.judge_requests import unscored_outcome as without_number
from assay.metrics.metric import Batch, FactKey, JoinedRows, Metric, MetricKey, MetricName, make_score_column
from assay.metrics.parsed_answer import AGAINST_CITED, NO_CLAIMS, REFUSED, ParsedAnswer, parse_answers
from assay.metrics.vote_folding import Ruling
from assay.records.observations import CONTEXT_STAGE, Observation
from assay.records.scores import NOT_APPLICABLE, SCORED, ScoreColumn
from assay.records.verdicts import JudgeRequest

BY_RULES, BY_JUDGE = "rules", "judge"
RulesScorer = Callable[[ParsedAnswer], Outcome]
JudgeScorer = Callable[[ParsedAnswer, Rubrics], JudgeDialogue]


class Scorers(NamedTuple):
    """How one metric is computed for one observation; `exemption_reason` returns why a case is exempt, or ""."""

    rules: RulesScorer | None = None
    judge: JudgeScorer | None = None
    exemption_reason: Callable[[CaseIndex], str] = lambda _: ""


def _faithfulness_scorers(against: str) -> Scorers:
    return Scorers(
        partial(faithfulness.score_faithfulness, against=against),
        partial(faithfulness.judge_faithfulness, against=against),
    )


_FAITHFULNESS_SCORERS = {against: _faithfulness_scorers(against) for against in (CONTEXT_STAGE, AGAINST_CITED)}
_SCORERS: dict[str, Scorers] = {
    "unsupported_claims": Scorers(faithfulness.count_unsupported_claims, faithfulness.judge_unsupported_claims),
    "critical_hallucinations": Scorers(faithfulness.count_critical_claims, faithfulness.judge_critical_claims),
    "contradiction_suspects": Scorers(faithfulness.count_contradiction_suspects),
    "no_claims": Scorers(faithfulness.score_no_claims),
    "citation_support": Scorers(citation_support.score_citation_support, citation_support.judge_citation_support),
    "misattributed": Scorers(citation_support.score_misattribution, citation_support.judge_misattribution),
    "hallucination_risk": Scorers(
        hallucination_risk.score_hallucination_risk, hallucination_risk.judge_hallucination_risk
    ),
    "answer_similarity": Scorers(reference.score_similarity, exemption_reason=reference.no_answer_reason),
    "correctness": Scorers(
        reference.score_correctness_by_rules, reference.judge_correctness, reference.no_answer_reason
    ),
    "answer_relevance": Scorers(
        reference.score_relevance_by_rules, reference.judge_relevance, reference.no_answer_reason
    ),
    "completeness": Scorers(judge=reference.judge_completeness, exemption_reason=reference.no_answer_reason),
    "citation_correctness": Scorers(judge=citation_support.judge_citation_support),
    "judge_unscored": Scorers(judge=hallucination_risk.measure_judge_unscored),
    "judge_disagreement": Scorers(judge=hallucination_risk.measure_judge_disagreement),
}


def _find_scorers(name: MetricName) -> Scorers:
    if name.base == "faithfulness":
        return _FAITHFULNESS_SCORERS[name.key_value("against", CONTEXT_STAGE)]
    return _SCORERS[name.base]


def _find_judge(name: MetricName) -> JudgeScorer | None:
    """Return how a judge is asked for a metric, or None if rules compute it."""
    scorers = _find_scorers(name)
    return scorers.judge if scorers.rules is None or name.key_value("by", BY_RULES) == BY_JUDGE else None


def collect_requests(
    case: CaseIndex, observation: Observation, names: Sequence[MetricName], rubrics: Rubrics
) -> list[JudgeRequest]:
    """Return the distinct requests of the judged metrics among `names` for an observation.

    Nothing if there is no answer to judge. Raises InputError for a missing rubric.
    """
    if observation.error is not None or not isinstance(observation.answer, str):
        return []
    reading, requests = ParsedAnswer(case, observation), dict[str, JudgeRequest]()
    for name in names:
        judged = _find_judge(name) if is_answer_metric(name) else None
        if judged is not None and not _find_scorers(name).exemption_reason(case):
            for request in collect_first_requests(judged(reading, rubrics)):
                requests.setdefault(request.digest, request)
    return list(requests.values())


def is_answer_metric(name: MetricName) -> bool:
    """Return whether a metric is computed by reading answers; other variants of it may be computed from structure."""
    scorers = _FAITHFULNESS_SCORERS[CONTEXT_STAGE] if name.base == "faithfulness" else _SCORERS.get(name.base)
    return scorers is not None and (scorers.rules is not None or name.key_value("by", BY_JUDGE) == BY_JUDGE)


def compute_outcome(name: MetricName, reading: ParsedAnswer) -> Outcome:
    """Return the outcome of a metric for an observation with an answer, by rules or from recorded verdicts."""
    scorers, judged = _find_scorers(name), _find_judge(name)
    spared_reason = scorers.exemption_reason(reading.case)
    if spared_reason:
        return without_meaning(spared_reason)
    if judged is None:
        assert scorers.rules is not None, name
        return scorers.rules(reading)
    judging = reading.case.golden_index.judging or RecordedVerdicts()
    rulings: list[Ruling | None] = []

    def answer(request: JudgeRequest) -> Ruling | None:
        rulings.append(reading.find_ruling(request))
        return rulings[-1]

    outcome = replay_outcome(judged(reading, judging.rubrics), answer)
    return mark_for_review(outcome, rulings) if name.key_value("by", BY_RULES) == BY_JUDGE else outcome


class OutcomeFacts:
    """The outcomes of one answer metric, row by row."""

    def __init__(self, name: MetricName) -> None:
        self.name = name
        self.outcomes: list[Outcome] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        self.outcomes += [self._outcome(reading)._replace(detail="") for reading in parse_answers(rows)]

    def _outcome(self, reading: ParsedAnswer) -> Outcome:
        answer, target_error = reading.observation.answer, reading.observation.error
        if target_error is None and isinstance(answer, str):
            return compute_outcome(self.name, reading)
        spared_reason = _find_scorers(self.name).exemption_reason(reading.case)
        if spared_reason:
            return without_meaning(spared_reason)
        if target_error is not None:
            return without_number(f"target error: {target_error.code}")
        if answer is UNSET:
            return without_meaning("no answer was asked for")
        return without_number("the answer is null")

    def make_column(self, name: MetricName) -> ScoreColumn:
        """Return the outcomes as a column."""
        statuses = np.array([outcome.status for outcome in self.outcomes], dtype=np.uint8)
        reasons = np.array([outcome.reason for outcome in self.outcomes], dtype=object)
        status_reasons = {(outcome.status, outcome.reason) for outcome in self.outcomes if outcome.reason}
        values = np.array([outcome.value for outcome in self.outcomes], dtype=np.float64)
        unless = []
        for status, reason in sorted(status_reasons):
            unless.append(((statuses == status) & (reasons == reason), status, reason))
        return make_score_column(name, values, *unless)


def compute_outcome_column(batch: Batch, name: MetricName) -> ScoreColumn:
    """Return the outcomes of a metric on the rows of a batch as a column."""
    return batch.get_facts(OutcomeFacts, name).make_column(name)


def needed_outcome_facts(name: MetricName) -> tuple[FactKey, ...]:
    """Return the facts that an answer metric needs."""
    return ((OutcomeFacts, (name,)),)


def explain_outcome(case: CaseIndex, observation: Observation, name: MetricName) -> str:
    """Return an explanation of one score for readers of the case, or "" if there is none."""
    has_answer = observation.error is None and isinstance(observation.answer, str)
    if _find_judge(name) is not None and case.golden_index.judging is None:
        return ""
    return compute_outcome(name, ParsedAnswer(case, observation)).detail if has_answer else ""


# ── metrics that other families compute by rules ──────────────────────────────────────────────────────────────────────

_RUBRICS = {
    "completeness": (reference.COMPLETENESS,),
    "citation_correctness": (citation_support.CITATION_SUPPORT_RUBRIC,),
}


def add_judge_scorer(metric: Metric) -> Metric:
    """Return a metric of another family, extended by `by=judge` if a judge can score it."""
    rules_compute, rules_needs, rules_explain = metric.compute, metric.needs, metric.explain
    if metric.name not in _RUBRICS or rules_compute is None:
        return metric

    def compute(batch: Batch, name: MetricName) -> ScoreColumn:
        if name.key_value("by", BY_RULES) != BY_JUDGE:
            return rules_compute(batch, name)
        judged_column = compute_outcome_column(batch, name)
        if name.base != "citation_correctness":
            return judged_column
        return _combine_structure_and_support(rules_compute(batch, MetricName(name.base)), judged_column)

    def needed(name: MetricName) -> tuple[FactKey, ...]:
        return (
            rules_needs(name)
            if name.key_value("by", BY_RULES) != BY_JUDGE
            else (*rules_needs(name), *needed_outcome_facts(name))
        )

    def explained(case: CaseIndex, observation: Observation, name: MetricName) -> str:
        if name.key_value("by", BY_RULES) == BY_JUDGE:
            return explain_outcome(case, observation, name)
        return rules_explain(case, observation, name) if rules_explain is not None else ""

    return replace(
        metric,
        compute=compute,
        needs=needed,
        explain=explained,
        rubrics=_RUBRICS[metric.name],
        uncalibrated=(BY_JUDGE,),
        rests_on=("citation_support",) if metric.name == "citation_correctness" else (),
    )


def _combine_structure_and_support(structure: ScoreColumn, support: ScoreColumn) -> ScoreColumn:
    """Return the smaller of the structural score and the support that the sources give.

    The structural score alone counts if it is 0 or missing, and if nothing is claimed.
    """
    no_claim_codes = [code for code, reason in enumerate(support.reasons) if reason in (REFUSED, NO_CLAIMS)]
    claims_nothing = (support.status == NOT_APPLICABLE) & np.isin(support.reason, no_claim_codes)
    is_structure_only = (structure.status != SCORED) | (structure.values == 0) | claims_nothing
    reasons = (*structure.reasons, *support.reasons)
    return ScoreColumn(
        support.metric,
        np.where(
            is_structure_only,
            structure.values,
            np.where(support.status == SCORED, np.minimum(structure.values, support.values), 0),
        ),
        np.where(is_structure_only, structure.status, support.status).astype(np.uint8),
        np.where(is_structure_only, structure.reason, support.reason + len(structure.reasons)).astype(np.uint16),
        reasons,
    )


_BY = {"by": MetricKey("", (BY_RULES, BY_JUDGE), "rules: the deterministic scorer; judge: recorded verdicts")}
_AGAINST = {
    "against": MetricKey(CONTEXT_STAGE, (CONTEXT_STAGE, AGAINST_CITED), "the sources that claims are compared with")
}
_UNDEFINED = "refused, nothing claimed, no context reported, or a chunk of it without text"
_UNCITED = "refused, nothing claimed, no citations, or a cited chunk without text"


def _answer_row(
    name: str,
    summary: str,
    source: str,
    undefined: str,
    *rubrics: str,
    lower: bool = False,
    yields: bool = False,
    keys: dict[str, MetricKey] | None = None,
    rests_on: tuple[str, ...] = (),
) -> Metric:
    by = _BY if rubrics else {}
    return Metric(
        name=name,
        family="judged",
        summary=summary,
        source=source,
        direction="lower" if lower else "higher",
        keys=by | (keys or {}),
        undefined=undefined,
        needs=needed_outcome_facts,
        compute=compute_outcome_column,
        yields_to_leaks=yields,
        rubrics=rubrics,
        uncalibrated=(BY_RULES, BY_JUDGE),
        rests_on=rests_on,
        explain=explain_outcome,
    )


def _count_row(row: Metric) -> Metric:
    return replace(row, unit="count", high=math.inf)


ANSWER_QUALITY_METRICS: tuple[Metric, ...] = (
    _answer_row(
        "faithfulness",
        "Share of the answer's claims that its sources support.",
        "`rag-trace` contract (context), answer audit record (cited chunks)",
        _UNDEFINED,
        faithfulness.CLAIM_SUPPORT_RUBRIC,
        keys=_AGAINST,
    ),
    _count_row(
        _answer_row(
            "unsupported_claims",
            "Claims that the context does not support.",
            "`rag-trace` contract: unsupported_claim",
            _UNDEFINED,
            faithfulness.CLAIM_SUPPORT_RUBRIC,
            lower=True,
            rests_on=("faithfulness",),
        )
    ),
    _count_row(
        _answer_row(
            "critical_hallucinations",
            "Claims that contradict the context; on critical cases all that it does not support.",
            "`rag-trace` contract; critical: tagged so, or to be refused",
            _UNDEFINED,
            faithfulness.CLAIM_SUPPORT_RUBRIC,
            lower=True,
            rests_on=("faithfulness",),
        )
    ),
    _count_row(
        _answer_row(
            "contradiction_suspects",
            "Claims that nearly match a sentence of the context but change a fact or negate it.",
            "another number, date, unit or identifier, a negation or an opposite in a sentence that otherwise matches",
            _UNDEFINED,
            lower=True,
        )
    ),
    replace(
        _answer_row(
            "no_claims",
            "Whether an answer makes no claims although it does not refuse.",
            "such answers have no other score of this family",
            "refused, no context reported, or a chunk of it without text",
        ),
        direction="neutral",
        statistic="rate",
        uncalibrated=(),
    ),
    _answer_row(
        "citation_support",
        "Share of citations that support the claim next to them.",
        "answer audit record: exists ∧ reachable ∧ supports",
        _UNCITED,
        citation_support.CITATION_SUPPORT_RUBRIC,
        yields=True,
    ),
    _answer_row(
        "misattributed",
        "Share of citations next to a claim that another source of the context supports instead.",
        "`rag-trace` contract: bad_citation",
        f"{_UNCITED}; no citation next to a claim",
        citation_support.CITATION_SUPPORT_RUBRIC,
        faithfulness.CLAIM_SUPPORT_RUBRIC,
        lower=True,
        rests_on=("citation_support", "faithfulness"),
    ),
    _answer_row(
        "hallucination_risk",
        "1 − faithfulness × citation support.",
        "answer audit record",
        f"{_UNDEFINED}; no citations",
        faithfulness.CLAIM_SUPPORT_RUBRIC,
        citation_support.CITATION_SUPPORT_RUBRIC,
        lower=True,
        rests_on=("faithfulness", "citation_support"),
    ),
    _answer_row(
        "correctness",
        "How far the answer agrees with the reference.",
        "code benchmark, tool-side evaluator; a failed exact value, number, figure or pattern overrules a judge",
        "no answer expected, refused as the case accepts, or no reference",
        reference.CORRECTNESS,
        yields=True,
    ),
    _answer_row(
        "answer_similarity",
        "How similar the content words of answer and reference are.",
        "F1 of content stems by rarity, without the question's own words",
        "no answer expected, no reference, or one that holds only the question's words",
    ),
    _answer_row(
        "answer_relevance",
        "How far the answer addresses the question.",
        "`rag-trace` contract",
        "no answer expected, or refused",
        reference.RELEVANCE,
    ),
    replace(
        _answer_row(
            "judge_unscored",
            "Share of the requests about an answer for which the judge gave no usable verdict.",
            "an unscored verdict is never imputed",
            "nothing recorded",
            lower=True,
        ),
        scoring_class="judged",
        uncalibrated=(),
    ),
    replace(
        _answer_row(
            "judge_disagreement",
            "Whether judge and rules differ by more than 0.4 on faithfulness, citation support or correctness.",
            "tool-side evaluator: flags a case for review",
            "nothing measured by both",
            lower=True,
        ),
        scoring_class="judged",
        statistic="rate",
        uncalibrated=(),
    ),
)
