"""How each metric of the answer layer is found: by rules of text, by recorded verdicts of a judge, or by both."""

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
    """How one metric is found for one observation; `spares` says of which cases it has no meaning, whatever is seen."""

    rules: Rules | None = None
    judge: Judged | None = None
    spares: Callable[[CaseIndex], str] = lambda _: ""


def _against(against: str) -> Instruments:
    return Instruments(
        partial(grounding.faithful_by_rules, against=against), partial(grounding.faithful_by_judge, against=against)
    )


_FAITHFUL = {against: _against(against) for against in (CONTEXT, CITED)}
_INSTRUMENTS: dict[str, Instruments] = {
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


def _instruments(name: MetricName) -> Instruments:
    if name.base == "faithfulness":
        return _FAITHFUL[name.key("against", CONTEXT)]
    return _INSTRUMENTS[name.base]


def _asking(name: MetricName) -> Judged | None:
    """Return how a judge is asked for a metric; None where rules find it."""
    found = _instruments(name)
    return found.judge if found.rules is None or name.key("by", RULES) == JUDGE else None


def requests_of(
    case: CaseIndex, observation: Observation, names: Sequence[MetricName], rubrics: Rubrics
) -> list[JudgeRequest]:
    """Return everything that the judged ones of these metrics ask about an observation, each request once.

    Nothing where there is no answer to judge. Raises InputError for a rubric that is not there.
    """
    if observation.error is not None or not isinstance(observation.answer, str):
        return []
    reading, found = Reading(case, observation), dict[str, JudgeRequest]()
    for name in names:
        ask = _asking(name) if is_of_this_layer(name) else None
        if ask is not None and not _instruments(name).spares(case):
            for each in first_requests(ask(reading, rubrics)):
                found.setdefault(each.digest, each)
    return list(found.values())


def is_of_this_layer(name: MetricName) -> bool:
    """Return whether a metric is found by reading answers: other metrics of the same row may be found by structure."""
    found = _FAITHFUL[CONTEXT] if name.base == "faithfulness" else _INSTRUMENTS.get(name.base)
    return found is not None and (found.rules is not None or name.key("by", JUDGE) == JUDGE)


def outcome_of(name: MetricName, reading: Reading) -> Outcome:
    """Return what a metric comes to for an observation that holds an answer, by rules or from recorded verdicts."""
    found, ask = _instruments(name), _asking(name)
    spared = found.spares(reading.case)
    if spared:
        return without_meaning(spared)
    if ask is None:
        assert found.rules is not None, name
        return found.rules(reading)
    judging = reading.case.joins.judging or Judging()
    rulings: list[Ruling | None] = []

    def answer(request: JudgeRequest) -> Ruling | None:
        rulings.append(reading.ruling(request))
        return rulings[-1]

    found_out = replay(ask(reading, judging.rubrics), answer)
    return reviewed(found_out, rulings) if name.key("by", RULES) == JUDGE else found_out


class OutcomeFacts:
    """What one metric of the answer layer comes to, row by row."""

    def __init__(self, name: MetricName) -> None:
        self.name = name
        self.outcomes: list[Outcome] = []

    def add(self, rows: Rows) -> None:
        """Take some rows, in order."""
        self.outcomes += [self._outcome(reading)._replace(detail="") for reading in readings(rows)]

    def _outcome(self, reading: Reading) -> Outcome:
        answer, failed = reading.observation.answer, reading.observation.error
        if failed is None and isinstance(answer, str):
            return outcome_of(self.name, reading)
        spared = _instruments(self.name).spares(reading.case)
        if spared:
            return without_meaning(spared)
        if failed is not None:
            return without_number(f"target error: {failed.code}")
        return without_meaning("no answer was asked for") if answer is UNSET else without_number("the answer is null")

    def column(self, name: MetricName) -> ScoreColumn:
        """Return the outcomes as a column."""
        marks = np.array([each.status for each in self.outcomes], dtype=np.uint8)
        reasons = np.array([each.reason for each in self.outcomes], dtype=object)
        told = {(each.status, each.reason) for each in self.outcomes if each.reason}
        unless = [((marks == status) & (reasons == reason), status, reason) for status, reason in sorted(told)]
        return column(name, np.array([each.value for each in self.outcomes], dtype=np.float64), *unless)


def outcome_column(batch: Batch, name: MetricName) -> ScoreColumn:
    """Return what a metric comes to on the rows of a batch."""
    return batch.of(OutcomeFacts, name).column(name)


def outcomes_needed(name: MetricName) -> tuple[FactKey, ...]:
    """Return the facts behind a metric of this layer."""
    return ((OutcomeFacts, (name,)),)


def how(case: CaseIndex, observation: Observation, name: MetricName) -> str:
    """Return how a score came about, for the reader of one case; empty where there is nothing to say."""
    usable = observation.error is None and isinstance(observation.answer, str)
    if _asking(name) is not None and case.joins.judging is None:
        return ""
    return outcome_of(name, Reading(case, observation)).detail if usable else ""


# ── metrics that others find by rules ────────────────────────────────────────────────────────────────────────────

_RUBRICS = {"completeness": (reference.COMPLETENESS,), "citation_correctness": (attached.RUBRIC,)}


def also_judged(grader: Grader) -> Grader:
    """Return a row of another family that a judge can find as well, with `by=judge` found here."""
    rules, needs, explain = grader.compute, grader.needs, grader.explain
    if grader.name not in _RUBRICS or rules is None:
        return grader

    def compute(batch: Batch, name: MetricName) -> ScoreColumn:
        if name.key("by", RULES) != JUDGE:
            return rules(batch, name)
        held = outcome_column(batch, name)
        return _borne_out(rules(batch, MetricName(name.base)), held) if name.base == "citation_correctness" else held

    def needed(name: MetricName) -> tuple[FactKey, ...]:
        return needs(name) if name.key("by", RULES) != JUDGE else (*needs(name), *outcomes_needed(name))

    def explained(case: CaseIndex, observation: Observation, name: MetricName) -> str:
        if name.key("by", RULES) == JUDGE:
            return how(case, observation, name)
        return explain(case, observation, name) if explain is not None else ""

    return replace(
        grader,
        compute=compute,
        needs=needed,
        explain=explained,
        rubrics=_RUBRICS[grader.name],
        uncalibrated=(JUDGE,),
        rests_on=("citation_support",) if grader.name == "citation_correctness" else (),
    )


def _borne_out(structure: ScoreColumn, held: ScoreColumn) -> ScoreColumn:
    """Return the smaller of what structure gives and of how far the sources bear the claims out.

    Structure alone decides where there is none, and where nothing is claimed.
    """
    silent = [code for code, reason in enumerate(held.reasons) if reason in (REFUSED, NO_CLAIMS)]
    nothing = (held.status == NOT_APPLICABLE) & np.isin(held.reason, silent)
    alone = (structure.status != SCORED) | (structure.values == 0) | nothing
    reasons = (*structure.reasons, *held.reasons)
    return ScoreColumn(
        held.metric,
        np.where(
            alone, structure.values, np.where(held.status == SCORED, np.minimum(structure.values, held.values), 0)
        ),
        np.where(alone, structure.status, held.status).astype(np.uint8),
        np.where(alone, structure.reason, held.reason + len(structure.reasons)).astype(np.uint16),
        reasons,
    )
