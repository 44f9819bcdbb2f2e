"""How each answer metric is computed: by text rules, from the recorded verdicts of a judge, or by either."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from msgspec import UNSET

from assay.graders import against_reference as reference
from assay.graders import attached, combined, grounding
from assay.graders.base import Batch, CaseIndex, FactKey, Grader, column
from assay.graders.judging import Asking, Judging, Outcome, Rubrics, first_requests, replay, reviewed
from assay.graders.judging import not_applicable as without_meaning
from assay.graders.judging import unscored as without_number
from assay.graders.names import MetricName
from assay.graders.reading import CITED, NO_CLAIMS, REFUSED, Reading, readings
from assay.graders.rows import Rows
from assay.graders.stages import CONTEXT
from assay.graders.votes import Ruling
from assay.model import NOT_APPLICABLE, SCORED, Observation, ScoreColumn
from assay.verdict import JudgeRequest

RULES, JUDGE = "rules", "judge"
Rules = Callable[[Reading], Outcome]
Judged = Callable[[Reading, Rubrics], Asking]


class Instruments(NamedTuple):
    """How one metric is computed for one observation; `spares` returns why a case is exempt, or ""."""

    rules: Rules | None = None
    judge: Judged | None = None
    spares: Callable[[CaseIndex], str] = lambda _: ""


def _faithfulness_scorers(against: str) -> Instruments:
    return Instruments(
        partial(grounding.faithful_by_rules, against=against), partial(grounding.faithful_by_judge, against=against)
    )


_FAITHFULNESS_SCORERS = {against: _faithfulness_scorers(against) for against in (CONTEXT, CITED)}
_SCORERS: dict[str, Instruments] = {
    "unsupported_claims": Instruments(grounding.unsupported_by_rules, grounding.unsupported_by_judge),
    "critical_hallucinations": Instruments(grounding.critical_by_rules, grounding.critical_by_judge),
    "contradiction_suspects": Instruments(grounding.suspects_by_rules),
    "no_claims": Instruments(grounding.without_claims),
    "citation_support": Instruments(attached.support_by_rules, attached.support_by_judge),
    "misattributed": Instruments(attached.misattributed_by_rules, attached.misattributed_by_judge),
    "hallucination_risk": Instruments(combined.risk_by_rules, combined.risk_by_judge),
    "answer_similarity": Instruments(reference.similar, spares=reference.unexpected),
    "correctness": Instruments(reference.correct_by_rules, reference.correct_by_judge, reference.unexpected),
    "answer_relevance": Instruments(reference.relevant_by_rules, reference.relevant_by_judge, reference.unexpected),
    "completeness": Instruments(judge=reference.complete_by_judge, spares=reference.unexpected),
    "citation_correctness": Instruments(judge=attached.support_by_judge),
    "judge_unscored": Instruments(judge=combined.unscored_by_judge),
    "judge_disagreement": Instruments(judge=combined.disagreement),
}


def _find_scorers(name: MetricName) -> Instruments:
    if name.base == "faithfulness":
        return _FAITHFULNESS_SCORERS[name.key("against", CONTEXT)]
    return _SCORERS[name.base]


def _find_judge(name: MetricName) -> Judged | None:
    """Return how a judge is asked for a metric, or None if rules compute it."""
    scorers = _find_scorers(name)
    return scorers.judge if scorers.rules is None or name.key("by", RULES) == JUDGE else None


def requests_of(
    case: CaseIndex, observation: Observation, names: Sequence[MetricName], rubrics: Rubrics
) -> list[JudgeRequest]:
    """Return the distinct requests of the judged metrics among `names` for an observation.

    Nothing if there is no answer to judge. Raises InputError for a missing rubric.
    """
    if observation.error is not None or not isinstance(observation.answer, str):
        return []
    reading, requests = Reading(case, observation), dict[str, JudgeRequest]()
    for name in names:
        judged = _find_judge(name) if is_of_this_layer(name) else None
        if judged is not None and not _find_scorers(name).spares(case):
            for request in first_requests(judged(reading, rubrics)):
                requests.setdefault(request.digest, request)
    return list(requests.values())


def is_of_this_layer(name: MetricName) -> bool:
    """Return whether a metric is computed by reading answers; other variants of it may be computed from structure."""
    scorers = _FAITHFULNESS_SCORERS[CONTEXT] if name.base == "faithfulness" else _SCORERS.get(name.base)
    return scorers is not None and (scorers.rules is not None or name.key("by", JUDGE) == JUDGE)


def outcome_of(name: MetricName, reading: Reading) -> Outcome:
    """Return the outcome of a metric for an observation with an answer, by rules or from recorded verdicts."""
    scorers, judged = _find_scorers(name), _find_judge(name)
    spared_reason = scorers.spares(reading.case)
    if spared_reason:
        return without_meaning(spared_reason)
    if judged is None:
        assert scorers.rules is not None, name
        return scorers.rules(reading)
    judging = reading.case.joins.judging or Judging()
    rulings: list[Ruling | None] = []

    def answer(request: JudgeRequest) -> Ruling | None:
        rulings.append(reading.ruling(request))
        return rulings[-1]

    outcome = replay(judged(reading, judging.rubrics), answer)
    return reviewed(outcome, rulings) if name.key("by", RULES) == JUDGE else outcome


class OutcomeFacts:
    """The outcomes of one answer metric, row by row."""

    def __init__(self, name: MetricName) -> None:
        self.name = name
        self.outcomes: list[Outcome] = []

    def add(self, rows: Rows) -> None:
        """Take some rows, in order."""
        self.outcomes += [self._outcome(reading)._replace(detail="") for reading in readings(rows)]

    def _outcome(self, reading: Reading) -> Outcome:
        answer, target_error = reading.observation.answer, reading.observation.error
        if target_error is None and isinstance(answer, str):
            return outcome_of(self.name, reading)
        spared_reason = _find_scorers(self.name).spares(reading.case)
        if spared_reason:
            return without_meaning(spared_reason)
        if target_error is not None:
            return without_number(f"target error: {target_error.code}")
        if answer is UNSET:
            return without_meaning("no answer was asked for")
        return without_number("the answer is null")

    def column(self, name: MetricName) -> ScoreColumn:
        """Return the outcomes as a column."""
        statuses = np.array([outcome.status for outcome in self.outcomes], dtype=np.uint8)
        reasons = np.array([outcome.reason for outcome in self.outcomes], dtype=object)
        status_reasons = {(outcome.status, outcome.reason) for outcome in self.outcomes if outcome.reason}
        values = np.array([outcome.value for outcome in self.outcomes], dtype=np.float64)
        unless = []
        for status, reason in sorted(status_reasons):
            unless.append(((statuses == status) & (reasons == reason), status, reason))
        return column(name, values, *unless)


def outcome_column(batch: Batch, name: MetricName) -> ScoreColumn:
    """Return the outcomes of a metric on the rows of a batch as a column."""
    return batch.of(OutcomeFacts, name).column(name)


def outcomes_needed(name: MetricName) -> tuple[FactKey, ...]:
    """Return the facts that an answer metric needs."""
    return ((OutcomeFacts, (name,)),)


def how(case: CaseIndex, observation: Observation, name: MetricName) -> str:
    """Return an explanation of one score for readers of the case, or "" if there is none."""
    has_answer = observation.error is None and isinstance(observation.answer, str)
    if _find_judge(name) is not None and case.joins.judging is None:
        return ""
    return outcome_of(name, Reading(case, observation)).detail if has_answer else ""


# ── metrics that other families compute by rules ──────────────────────────────────────────────────────────────────────

_RUBRICS = {"completeness": (reference.COMPLETENESS,), "citation_correctness": (attached.RUBRIC,)}


def also_judged(metric: Grader) -> Grader:
    """Return a metric of another family, extended by `by=judge` if a judge can score it."""
    rules_compute, rules_needs, rules_explain = metric.compute, metric.needs, metric.explain
    if metric.name not in _RUBRICS or rules_compute is None:
        return metric

    def compute(batch: Batch, name: MetricName) -> ScoreColumn:
        if name.key("by", RULES) != JUDGE:
            return rules_compute(batch, name)
        judged_column = outcome_column(batch, name)
        if name.base != "citation_correctness":
            return judged_column
        return _combine_structure_and_support(rules_compute(batch, MetricName(name.base)), judged_column)

    def needed(name: MetricName) -> tuple[FactKey, ...]:
        return rules_needs(name) if name.key("by", RULES) != JUDGE else (*rules_needs(name), *outcomes_needed(name))

    def explained(case: CaseIndex, observation: Observation, name: MetricName) -> str:
        if name.key("by", RULES) == JUDGE:
            return how(case, observation, name)
        return rules_explain(case, observation, name) if rules_explain is not None else ""

    return replace(
        metric,
        compute=compute,
        needs=needed,
        explain=explained,
        rubrics=_RUBRICS[metric.name],
        uncalibrated=(JUDGE,),
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
