"""The order in which reports list changes of metrics: what matters first, what only says what could be checked last."""

from __future__ import annotations

from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.metric import parse_metric_name
from assay.metrics.template_columns import FIRST_METRICS, HEADLINES, SHOWN_HEADLINES
from assay.records.findings import CITED_SHARES, MetricChange

HEADLINE_NAMES = frozenset(
    name for titles in (HEADLINES, SHOWN_HEADLINES, FIRST_METRICS) for _, names in titles for name in names
)
CHECKABLE_METRICS = frozenset(("access_self_reported", "unknown_access"))
"""Metrics of what could be checked, by what the target reports of itself: no answer gets better or worse with them."""
CHECKABLE_NOTE = "says what could be checked, not how good the answers are"
ROSE_NOTE = "also rises where answers say less"


def rank_importance(change: MetricChange) -> int:
    """Return the place of a change by what it is of: 0 for a headline metric of answers and rankings, 1 for the rest, 2
    for time, money and where citations stand, 3 for what could be checked."""
    if parse_metric_name(change.metric).base in CHECKABLE_METRICS:
        return 3
    is_operation = find_metric(parse_metric(change.metric)).family == "operations"
    if change.metric in HEADLINE_NAMES and not is_operation:
        return 0
    return 2 if is_operation or change.metric in CITED_SHARES else 1


def describe_checkable(metric: str) -> str:
    """Return what to say beside a change of a metric that only tells what could be checked; "" for any other.

    >>> describe_checkable("unknown_access"), describe_checkable("recall@10")
    ('says what could be checked, not how good the answers are', '')
    """
    return CHECKABLE_NOTE if parse_metric_name(metric).base in CHECKABLE_METRICS else ""


def describe_claim_limit(change: MetricChange) -> str:
    """Return what to say beside a change that tells less than its direction suggests; "" for any other."""
    return ROSE_NOTE if change.claim == "rose" else describe_checkable(change.metric)


def measure_strength(change: MetricChange) -> float:
    """Return how many half widths of its interval a gain is away from 0, larger for a change that is clearer."""
    gain = change.gain
    if change.unknown is not None:  # the end that is nearer to 0: what is certain of the gain
        gain = min(change.unknown.gain, key=abs) if change.unknown.direction != "not known" else None
    if gain is None or change.low is None or change.high is None or change.high == change.low:
        return 0.0
    return 2 * abs(gain) / (change.high - change.low)
