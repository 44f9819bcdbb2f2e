"""Which metric of right answers stands first: one that may decide a release, before a judge's that may not."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from assay.metrics.case_checks import JUDGED_CORRECTNESS
from assay.metrics.template_columns import ANSWER, SHOWN_HEADLINES, MetricNames
from assay.records.scores import ConfigResult, ScoreTable
from assay.report.wording.metric_titles import format_metric_title
from assay.scoring.judged_answers import describe_standing


def order_answer_metrics(tables: Iterable[ScoreTable]) -> MetricNames:
    """Return the metrics of right answers, first the one to show: a judge's is last where it may not decide."""
    if not any(describe_standing(table) for table in tables):
        return ANSWER
    return (*(name for name in ANSWER if name != JUDGED_CORRECTNESS), JUDGED_CORRECTNESS)


def list_answer_metrics(results: Sequence[ConfigResult]) -> list[tuple[str, str]]:
    """Return title and name of the metrics of right answers to show, the same for all configurations.

    It is the first one that was measured, and beside it that of a judge that may not decide, with its standing.
    """
    measured = {name for result in results for name in ANSWER if _is_measured(name, result)}
    names = [name for name in order_answer_metrics(result.table for result in results) if name in measured]
    shown = names[:1] + [name for name in names[1:] if name == JUDGED_CORRECTNESS]
    return [(title_answer_metric(name, results), name) for name in shown]


def list_headlines(measured: Container[str]) -> list[tuple[str, MetricNames]]:
    """Return titles and names of the metrics that reports show first; what a judge says of correctness is next to what
    the rules say, where it was measured.

    >>> [title for title, _ in list_headlines({"correctness(by=judge)": 1})][:3]
    ['Answer correctness', 'Correctness by judge', 'Faithfulness']
    >>> [title for title, _ in list_headlines({})][:2]
    ['Answer correctness', 'Faithfulness']
    """
    judged = (
        [(format_metric_title(JUDGED_CORRECTNESS), (JUDGED_CORRECTNESS,))] if JUDGED_CORRECTNESS in measured else []
    )
    return [*SHOWN_HEADLINES[:1], *judged, *SHOWN_HEADLINES[1:]]


def list_measured_metrics(results: Iterable[ConfigResult]) -> set[str]:
    """Return the metrics that have a value in any configuration."""
    return {name for result in results for name, summary in result.summary.items() if summary.value is not None}


def title_answer_metric(name: str, results: Iterable[ConfigResult]) -> str:
    """Return the title of a metric of right answers, with the standing of a judge that may not decide."""
    standings = [describe_standing(result.table) for result in results] if name == JUDGED_CORRECTNESS else []
    standing = next(filter(None, standings), "")
    return f"{format_metric_title(name)}, {standing}" if standing else format_metric_title(name)


def _is_measured(name: str, result: ConfigResult) -> bool:
    return name in result.summary and result.summary[name].value is not None
