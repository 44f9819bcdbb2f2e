"""Which metric stands for a headline: the first that was measured, and both rankings where one follows another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.metrics.template_columns import LAST_RANKINGS, MetricNames, find_first_present
from assay.records.scores import ConfigResult, Summary
from assay.report.wording.metric_titles import LAST_RANKING


def find_measured_summary(names: MetricNames, summaries: Mapping[str, Summary]) -> Summary | None:
    """Return the summary of the first of `names` that was measured."""
    name = find_first_present(names, summaries)
    return summaries[name] if name is not None else None


def name_rankings(
    headlines: Sequence[tuple[str, MetricNames]], results: Iterable[ConfigResult]
) -> list[tuple[str, MetricNames]]:
    """Return the headlines with both rankings of those that a configuration reranked, the last ranking first.

    A headline stands for the ranking that was retrieved; where another one follows and scores otherwise in any of the
    configurations, that one is named too. What was retrieved has one name everywhere.
    """
    summaries = [result.summary for result in results]
    named: list[tuple[str, MetricNames]] = []
    for title, names in headlines:
        last_names = LAST_RANKINGS.get(names, ())
        if any(_differ(names, last_names, summary) for summary in summaries):
            named += [(f"{title}, {LAST_RANKING}", last_names), (title, names)]
        else:
            named.append((title, names))
    return named


def _differ(names: MetricNames, other_names: MetricNames, summaries: Mapping[str, Summary]) -> bool:
    first, second = find_measured_summary(names, summaries), find_measured_summary(other_names, summaries)
    if first is None or second is None or second.value is None:
        return False
    return (first.value, first.scored) != (second.value, second.scored)
