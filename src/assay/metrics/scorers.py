"""The scorers of answer metrics by name: what one observation scores, and what a judge is asked about it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.metrics.answer_metric import AnswerMetric, compute_answer_outcome
from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.catalog import find_metric
from assay.metrics.judged.judge_requests import Outcome, Rubrics, collect_first_requests
from assay.metrics.metric import MetricName
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.observations import Observation
from assay.records.verdicts import JudgeRequest


def is_answer_metric(name: MetricName) -> bool:
    """Return whether a metric is computed by reading answers; other variants of it may be computed from structure."""
    metric = find_metric(name)
    return isinstance(metric, AnswerMetric) and metric.reads_answer(name)


def compute_outcome(name: MetricName, reading: ParsedAnswer) -> Outcome:
    """Return the outcome of an answer metric for an observation with an answer, by rules or from recorded verdicts."""
    metric = find_metric(name)
    assert isinstance(metric, AnswerMetric), name
    return compute_answer_outcome(metric.find_scorers(name), name, reading)


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
        metric = find_metric(name)
        if not isinstance(metric, AnswerMetric) or not metric.reads_answer(name):
            continue
        scorers = metric.find_scorers(name)
        judge = scorers.select_judge(name)
        if judge is None or scorers.exemption_reason(case):
            continue
        for request in collect_first_requests(judge(reading, rubrics)):
            requests.setdefault(request.digest, request)
    return list(requests.values())
