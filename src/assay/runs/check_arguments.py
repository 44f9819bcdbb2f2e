"""Arguments of the Python interface that are checked before anything is asked: metrics, keys of slices, and limits.

An argument that cannot be used is an InputError with its name, its value and what was expected.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from assay.calls.retry import RETRY_AFTER_CAP_SECONDS
from assay.formats.problems import make_value_error
from assay.metrics.catalog import CATALOG, DEFAULT_METRICS, parse_metrics
from assay.metrics.metric import Metric
from assay.metrics.own_metric import metric
from assay.records.errors import InputError, shorten_repr
from assay.records.golden_set import GoldenSet
from assay.records.plugin_table import Plugin
from assay.runs.load_plugins import load_metric_paths
from assay.runs.observation_runner import ObservationLimits
from assay.scoring.slices import find_slices

MetricLike = str | Metric | Callable[..., Any]
MetricsLike = MetricLike | Sequence[MetricLike] | None
"""Names of metrics, import paths, metrics and functions: one, or a list of them; None stands for the usual ones."""
_METRIC_FORMS = (
    "a list of names, as `assay metrics` prints them, of metrics, or of functions of a case and its observation"
)


def read_metrics(metrics: MetricsLike) -> tuple[str, ...]:
    """Return the names of metrics; metrics that are given as themselves are added to the catalogue under their names.

    Raises InputError for what is no metric, and PluginError for an import path that cannot be used.
    """
    if metrics is None:
        return DEFAULT_METRICS
    if isinstance(metrics, (str, Metric)) or callable(metrics):
        metrics = (metrics,)
    if not isinstance(metrics, Iterable):
        raise make_value_error("metrics", f"no metrics (got {shorten_repr(metrics)}; expected {_METRIC_FORMS})")
    return load_metric_paths([_name_metric(item) for item in metrics])


def _name_metric(item: MetricLike) -> str:
    if isinstance(item, str):
        return item
    if not isinstance(item, Metric) and inspect.isroutine(item):
        item = metric(item)
    if not isinstance(item, Metric):
        raise make_value_error("metrics", f"no metric (got {shorten_repr(item)}; expected {_METRIC_FORMS})")
    row = item
    function = getattr(row, "function", None)
    reference = f"{getattr(function, '__module__', 'python')}:{getattr(function, '__qualname__', row.name)}"
    return CATALOG.add_plugin(Plugin(row.name, reference, "", lambda: row))


def read_baseline(baseline: object) -> str | None:
    """Return the path of a baseline, None without one.

    Raises InputError for anything else, such as a result, which another result is compared with by `assay.compare`.
    """
    if baseline is None or isinstance(baseline, str | PathLike):
        return None if baseline is None else str(baseline)
    remedy = "assay.compare(before, after, gate=...) decides about a result in memory"
    message = f"no path (got {type(baseline).__name__}; expected a run folder or a saved baseline; {remedy})"
    raise make_value_error("baseline", message)


def read_path(path: str | Path | None) -> str | None:
    """Return a path as a text, None without one."""
    return None if path is None else str(path)


def read_keys(by: Sequence[str] | str | None) -> Sequence[str] | None:
    """Return the keys of slices, which may be a list or a text with commas. Raises InputError for anything else."""
    if by is None:
        return None
    keys = by.split(",") if isinstance(by, str) else by
    if not isinstance(keys, Iterable) or not all(isinstance(key, str) for key in keys):
        expected = "keys such as 'tag' and 'language', as a list or a text with commas"
        raise make_value_error("by", f"no keys (got {shorten_repr(by)}; expected {expected})")
    return [key.strip() for key in keys]


def check_scoring(
    golden: GoldenSet,
    *,
    metrics: MetricsLike = None,
    by: Sequence[str] | str | None = None,
    config: str | None = None,
    name: str | None = None,
    repeat: int = 1,
    **limits: Any,
) -> None:
    """Raise InputError for arguments of `assay.run` that cannot be used with a golden set; `limits` are those of
    `read_limits`."""
    parse_metrics(read_metrics(metrics))
    find_slices(golden.cases, read_keys(by))
    choose_name(config, name)
    read_count(repeat, "repeat")
    read_limits(**limits)


def choose_name(config: str | None, name: str | None) -> str | None:
    """Return the name of the configuration, which either argument gives."""
    for argument, value in (("config", config), ("name", name)):
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise make_value_error(
                argument, f"no name (got {shorten_repr(value)}; expected a text, such as 'hybrid-rerank')"
            )
    if config is not None and name is not None and config != name:
        raise InputError(f"name: {name!r} and config: {config!r} name one configuration (expected one of them)")
    return name if config is None else config


def read_limits(
    concurrency: int = 8,
    deadline: float = 120.0,
    context: str | None = None,
    attempts: int = 4,
    breaker: int = 10,
    retry_after_cap: float = RETRY_AFTER_CAP_SECONDS,
    max_calls: int | None = None,
    max_cost: float | None = None,
) -> ObservationLimits:
    """Return the limits of observing, those of `run` in a settings file. Raises InputError for one that no call can
    keep."""
    if context is not None and (not isinstance(context, str) or not context):
        raise make_value_error(
            "context", f"no stage (got {shorten_repr(context)}; expected its name, such as 'retrieved')"
        )
    if read_count(attempts, "attempts") > MAX_ATTEMPTS:
        raise make_value_error(
            "attempts", f"too many (got {attempts}; expected calls for a case, {MAX_ATTEMPTS} at most)"
        )
    return ObservationLimits(
        (),
        concurrency=read_count(concurrency, "concurrency"),
        deadline=_read_amount(deadline, "deadline", "time", "seconds above 0, such as 120"),
        attempts=attempts,
        breaker=read_count(breaker, "breaker"),
        retry_after_cap=_read_amount(retry_after_cap, "retry_after_cap", "time", "seconds above 0, such as 60"),
        max_calls=None if max_calls is None else read_count(max_calls, "max_calls"),
        max_cost=None if max_cost is None else _read_amount(max_cost, "max_cost", "amount", "dollars above 0, or None"),
        context=context,
    )


MAX_ATTEMPTS = 20
"""As in a settings file."""


def _read_amount(value: float, name: str, kind: str, expected: str) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value <= 0:
        raise make_value_error(name, f"no {kind} (got {shorten_repr(value)}; expected {expected})")
    return value


def list_values(values: Any) -> list[Any]:
    """Return the values of a list; a text, a path or another value that is none stands for itself.

    >>> list_values("hybrid"), list_values(["a", "b"])
    (['hybrid'], ['a', 'b'])
    """
    if isinstance(values, (str, Path)) or not isinstance(values, Iterable):
        return [values]
    return list(values)


def read_notices(notices: Sequence[str] | str) -> list[str]:
    """Return sentences for the reports. Raises InputError for what is no text."""
    listed = list_values(notices)
    for notice in listed:
        if not isinstance(notice, str):
            raise make_value_error(
                "notices", f"no text (got {shorten_repr(notice)}; expected sentences for the reports)"
            )
    return listed


def read_count(value: int, name: str) -> int:
    """Return a whole number of 1 or more. Raises InputError for anything else; True is no number."""
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = 0
    if count < 1:
        raise make_value_error(name, f"no count (got {shorten_repr(value)}; expected a whole number of 1 or more)")
    return count
