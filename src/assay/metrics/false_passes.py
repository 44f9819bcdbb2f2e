"""How often an answer that rules passed is wrong, by people who read a random sample of these answers (ADR 188)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.metrics.metric import Metric, MetricName, make_score_column, rows_not_applicable
from assay.records.scores import ScoreColumn

FALSE_PASSES = "false_passes"
NO_SAMPLE = "nobody read a sample of the answers that rules passed: assay labels export --only passed"
NOT_DRAWN = "not in the sample of passed answers that people read"
UNKNOWN_REASON = "unknown: in the sample of passed answers, and nobody decided about it"
"""Why an answer of the sample is neither right nor wrong; it is counted as an unknown answer is (ADR 53)."""

FALSE_PASS_METRICS: tuple[Metric, ...] = (
    Metric(
        name=FALSE_PASSES,
        family="answer",
        summary="Whether an answer that rules passed is wrong, by people who read a random sample of such answers.",
        source="ADR 188",
        direction="lower",
        statistic="rate",
        undefined="the answer did not pass, or is not in the sample; or nobody read one",
        is_sampled=True,
    ),
)


def make_false_pass_column(case_count: int, outcomes: Mapping[int, bool | None] | None) -> ScoreColumn:
    """Return whether each drawn answer is wrong. `outcomes` say so by the position of its case, None if that is open;
    no outcomes at all mean that nobody read a sample.

    >>> column = make_false_pass_column(3, {0: False, 2: None})
    >>> column.status.tolist(), column.reasons[column.reason[2]]
    ([0, 1, 1], 'unknown: in the sample of passed answers, and nobody decided about it')
    """
    values = np.zeros(case_count)
    is_drawn, is_open = np.zeros(case_count, dtype=np.bool_), np.zeros(case_count, dtype=np.bool_)
    for position, is_wrong in (outcomes or {}).items():
        is_drawn[position], is_open[position], values[position] = True, is_wrong is None, float(bool(is_wrong))
    reason = NO_SAMPLE if outcomes is None else NOT_DRAWN
    return make_score_column(
        MetricName(FALSE_PASSES),
        values,
        rows_not_applicable(~is_drawn, reason),
        rows_not_applicable(is_open, UNKNOWN_REASON),
    )
