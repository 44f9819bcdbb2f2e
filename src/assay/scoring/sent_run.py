"""What a run needs in another process: the columns that can be scored there, and the metrics that only it knows.

Most results are read where they were made. One that is pickled, as process pools do, takes the description of the
user's metrics along, because their functions may not be there.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from assay.metrics.catalog import CATALOG, add_rubric_metrics, find_metric, list_own_rubrics
from assay.metrics.metric import Batch, FactKey, Metric, MetricName, describe_metric
from assay.records.plugin_table import Plugin
from assay.records.verdicts import JudgeRubric


class SentMetric(Struct, frozen=True):
    """A metric of the user without its function, and where the function is from."""

    described: Metric
    reference: str
    distribution: str


class SentMetrics(Struct, frozen=True):
    """The metrics of a run that are not built in."""

    metrics: tuple[SentMetric, ...] = ()
    rubrics: tuple[JudgeRubric, ...] = ()


def needs_function(name: MetricName) -> bool:
    """Return whether a column is computed by a function of the user."""
    return any(map(has_function, find_metric(name).needs(name)))


def has_function(key: FactKey) -> bool:
    """Return whether facts are made by a function of the user."""
    return any(callable(parameter) for parameter in key[1])


def describe_own_metrics(names: Iterable[MetricName]) -> SentMetrics:
    """Return what another process has to know of those metrics that are not built in."""
    metrics = []
    bases = dict.fromkeys(name.base for name in names)
    for base in bases:
        plugin = CATALOG.get_plugin(base)
        if plugin is not None:
            metrics.append(SentMetric(describe_metric(CATALOG[base]), plugin.reference, plugin.distribution))
    rubrics = tuple(rubric for rubric in list_own_rubrics() if rubric.name in bases)
    return SentMetrics(tuple(metrics), rubrics)


def recognise_metrics(sent: SentMetrics) -> None:
    """Add the metrics of a run of another process to the catalogue, unless they are there."""
    for metric in sent.metrics:
        if metric.described.name not in CATALOG:
            row = replace(metric.described, compute=_refuse_to_compute)
            CATALOG.add_plugin(Plugin(row.name, metric.reference, metric.distribution, partial(_return_row, row)))
    unknown = [rubric for rubric in sent.rubrics if rubric.name not in CATALOG]
    if unknown:
        add_rubric_metrics(unknown)


def _return_row(row: Metric) -> Metric:
    return row


def _refuse_to_compute(_: Batch, name: MetricName) -> NoReturn:
    raise ValueError(f"{name} is known from a result of another process (expected its function: metrics=[…])")
