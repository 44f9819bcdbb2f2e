"""What a metric that is computed by reading answers is: a catalogue row with its scorers, by text rules and by a judge.

Scores by rules or by a judge always inform; they gate only after the scorer is calibrated against human labels
(ADR 0031).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import UNSET, Struct, structs

from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.judged.judge_requests import (
    JudgeDialogue,
    Outcome,
    RecordedVerdicts,
    Rubrics,
    mark_for_review,
    not_applicable_outcome,
    replay_outcome,
    unscored_outcome,
)
from assay.metrics.judged.vote_folding import Ruling
from assay.metrics.metric import Batch, FactKey, JoinedRows, Metric, MetricKey, MetricName, make_score_column
from assay.metrics.parsed_answer import ParsedAnswer, parse_answers
from assay.records.observations import NO_ANSWER_REASON
from assay.records.scores import ScoreColumn
from assay.records.verdicts import JudgeRequest

BY_RULES, BY_JUDGE, BY_COMBINED, BY_ENTAILMENT = "rules", "judge", "combined", "entailment"
RulesScorer = Callable[[ParsedAnswer], Outcome]
JudgeScorer = Callable[[ParsedAnswer, Rubrics], JudgeDialogue]
SCORER_KEY = {"by": MetricKey("", (BY_RULES, BY_JUDGE), "rules: the deterministic scorer; judge: recorded verdicts")}
"""The key of a metric that rules and a judge can score."""
COMBINED_SCORER_KEY = {
    "by": MetricKey(
        "",
        (BY_RULES, BY_JUDGE, BY_COMBINED),
        "rules: the deterministic scorer; judge: recorded verdicts; combined: both, with weights from human labels",
    )
}
"""The key of a metric that both can score together as well."""
UNDEFINED_GROUNDING = "refused, nothing claimed, no context reported, or a chunk of it without text"


def exempt_no_case(_: CaseIndex) -> str:
    """Return "": the metric is meant for every case."""
    return ""


class Scorers(Struct, frozen=True):
    """How one metric is computed for one observation; `exemption_reason` returns why a case is exempt, or "".

    `combined` joins both, `entailment` asks a local model. All are functions of a module, because scorers travel to
    worker processes with the outcomes.
    """

    rules: RulesScorer | None = None
    judge: JudgeScorer | None = None
    exemption_reason: Callable[[CaseIndex], str] = exempt_no_case
    combined: JudgeScorer | None = None
    entailment: RulesScorer | None = None

    def select_judge(self, name: MetricName) -> JudgeScorer | None:
        """Return how a judge is asked for a metric, or None if rules compute it."""
        if name.key_value("by", BY_RULES) == BY_COMBINED:
            return self.combined
        if name.key_value("by", BY_RULES) == BY_ENTAILMENT:
            return None
        return self.judge if self.rules is None or name.key_value("by", BY_RULES) == BY_JUDGE else None


class AnswerMetric(Metric, frozen=True):
    """A catalogue row whose scores are read from answers; `find_scorers` returns how, for a name with its keys.

    Scorers without rules on a row with the key `by` mean that rules compute the metric from structure, not by reading.
    """

    find_scorers: Callable[[MetricName], Scorers] = lambda _: Scorers()

    def reads_answer(self, name: MetricName) -> bool:
        """Return whether a name is computed by reading answers; other variants may be computed from structure."""
        scorers = self.find_scorers(name)
        return scorers.rules is not None or scorers.entailment is not None or name.key_value("by", BY_JUDGE) == BY_JUDGE


def compute_answer_outcome(scorers: Scorers, name: MetricName, reading: ParsedAnswer) -> Outcome:
    """Return the outcome of a metric for an observation with an answer, by rules or from recorded verdicts."""
    judge = scorers.select_judge(name)
    exemption_reason = scorers.exemption_reason(reading.case)
    if exemption_reason:
        return not_applicable_outcome(exemption_reason)
    if judge is None:
        scorer = scorers.entailment if name.key_value("by", BY_RULES) == BY_ENTAILMENT else scorers.rules
        assert scorer is not None, name
        return scorer(reading)
    judging = reading.case.golden_index.judging or RecordedVerdicts()
    rulings: list[Ruling | None] = []

    def answer(request: JudgeRequest) -> Ruling | None:
        rulings.append(reading.find_ruling(request))
        return rulings[-1]

    outcome = replay_outcome(judge(reading, judging.rubrics), answer)
    return outcome if name.key_value("by", BY_RULES) == BY_RULES else mark_for_review(outcome, rulings)


class OutcomeFacts:
    """The outcomes of one answer metric, row by row."""

    def __init__(self, name: MetricName, scorers: Scorers) -> None:
        self.name = name
        self.scorers = scorers
        self.outcomes: list[Outcome] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        for reading, error_code in zip(parse_answers(rows), rows.error_codes, strict=True):
            self.outcomes.append(self._outcome(reading, error_code)._replace(detail=""))

    def _outcome(self, reading: ParsedAnswer, error_code: str) -> Outcome:
        answer, target_error = reading.observation.answer, reading.observation.error
        if target_error is None and isinstance(answer, str):
            return compute_answer_outcome(self.scorers, self.name, reading)
        exemption_reason = self.scorers.exemption_reason(reading.case)
        if exemption_reason:
            return not_applicable_outcome(exemption_reason)
        if target_error is not None:
            return unscored_outcome(f"target error: {error_code}")
        if answer is UNSET:
            return not_applicable_outcome(NO_ANSWER_REASON)
        return unscored_outcome("the answer is null")

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


def need_outcomes(scorers: Scorers, name: MetricName) -> tuple[FactKey, ...]:
    """Return the facts that an answer metric needs."""
    return ((OutcomeFacts, (name, scorers)),)


def compute_outcomes(scorers: Scorers, batch: Batch, name: MetricName) -> ScoreColumn:
    """Return the outcomes of a metric on the rows of a batch as a column."""
    return batch.get_facts(OutcomeFacts, name, scorers).make_column(name)


def explain_outcome(scorers: Scorers, rows: JoinedRows, name: MetricName) -> str:
    """Return an explanation of the score of the only row for readers of the case, or "" if there is none."""
    reading = parse_answers(rows)[0]
    has_answer = reading.observation.error is None and isinstance(reading.observation.answer, str)
    if scorers.select_judge(name) is not None and reading.case.golden_index.judging is None:
        return ""
    return compute_answer_outcome(scorers, name, reading).detail if has_answer else ""


def define_answer_metric(
    name: str,
    summary: str,
    source: str,
    undefined: str,
    scorers: Scorers | Callable[[MetricName], Scorers],
    *,
    rubrics: tuple[str, ...] = (),
    lower: bool = False,
    yields_to_leaks: bool = False,
    keys: dict[str, MetricKey] | None = None,
    rests_on: tuple[str, ...] = (),
) -> AnswerMetric:
    """Return the catalogue row of a metric that scorers compute: a share, higher is better unless `lower`.

    With `rubrics`, the metric takes the key `by`. `scorers` may be a function where they depend on a key of the name;
    it must return the same scorers for the same name.
    """

    def find_scorers(metric_name: MetricName) -> Scorers:
        return scorers if isinstance(scorers, Scorers) else scorers(metric_name)

    return AnswerMetric(
        name=name,
        family="judged",
        summary=summary,
        source=source,
        direction="lower" if lower else "higher",
        keys=(SCORER_KEY if rubrics else {}) | (keys or {}),
        undefined=undefined,
        needs=lambda metric_name: need_outcomes(find_scorers(metric_name), metric_name),
        compute=lambda batch, metric_name: compute_outcomes(find_scorers(metric_name), batch, metric_name),
        yields_to_leaks=yields_to_leaks,
        rubrics=rubrics,
        uncalibrated=(BY_RULES, BY_JUDGE, BY_COMBINED, BY_ENTAILMENT),
        rests_on=rests_on,
        explain=lambda rows, metric_name: explain_outcome(find_scorers(metric_name), rows, metric_name),
        find_scorers=find_scorers,
    )


CombineColumns = Callable[[ScoreColumn, ScoreColumn], ScoreColumn]


def add_judge_scorer(
    metric: Metric,
    judge: JudgeScorer,
    rubrics: tuple[str, ...],
    *,
    exemption_reason: Callable[[CaseIndex], str] = exempt_no_case,
    rests_on: tuple[str, ...] = (),
    combine: CombineColumns | None = None,
) -> AnswerMetric:
    """Return a metric that rules compute by its own function, extended by `by=judge`.

    `combine` makes the judged column from the one of the rules, without the key `by`, and the one of the judge.
    """
    scorers = Scorers(judge=judge, exemption_reason=exemption_reason)
    rules_needs, rules_compute, rules_explain = metric.needs, metric.compute, metric.explain
    assert rules_compute is not None, metric.name

    def is_judged(name: MetricName) -> bool:
        return name.key_value("by", BY_RULES) == BY_JUDGE

    def need_facts(name: MetricName) -> tuple[FactKey, ...]:
        return (*rules_needs(name), *need_outcomes(scorers, name)) if is_judged(name) else rules_needs(name)

    def compute(batch: Batch, name: MetricName) -> ScoreColumn:
        if not is_judged(name):
            return rules_compute(batch, name)
        judged_column = compute_outcomes(scorers, batch, name)
        return judged_column if combine is None else combine(rules_compute(batch, MetricName(name.base)), judged_column)

    def explain(rows: JoinedRows, name: MetricName) -> str:
        if is_judged(name):
            return explain_outcome(scorers, rows, name)
        return rules_explain(rows, name) if rules_explain is not None else ""

    changed = {
        "needs": need_facts,
        "compute": compute,
        "explain": explain,
        "rubrics": rubrics,
        "uncalibrated": (BY_JUDGE,),
        "rests_on": rests_on,
        "find_scorers": lambda _: scorers,
    }
    return AnswerMetric(**structs.asdict(metric) | changed)
