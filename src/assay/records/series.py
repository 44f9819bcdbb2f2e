"""A metric over time: the points, their intervals, and what happened in between.

The history of runs and the monitors of production answers make series; pages, OTLP and Prometheus show them.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Literal

from msgspec import Struct

MarkKind = Literal["version", "change_point", "alert", "incident", "acknowledged"]


class SeriesPoint(Struct, frozen=True):
    """One value of a metric: of a run or of a period that begins at `at`, an ISO date or time.

    `value` is None where it could not be measured, and `reason` says why. `low` and `high` are the ends of its 95%
    interval, None where there is none. `n` counts what was scored. `open_range` is there where unknown answers leave
    the value open: it is between these two, so that there is no value.
    """

    at: str
    label: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""
    run: str | None = None
    open_range: tuple[float, float] | None = None


class SeriesMark(Struct, frozen=True):
    """Something that happened at a time, such as a new version of the index or an alert."""

    at: str
    kind: MarkKind
    text: str


class Series(Struct, frozen=True):
    """One metric over time, of all answers or of one slice (`key=value`) or configuration.

    `name` is the metric as it is shown, `key` its name in the catalogue. `higher_is_better` is None for a metric
    without a good direction. `caveat` says what the values are not, "" for values with a scale.
    """

    name: str
    key: str
    unit: str
    higher_is_better: bool | None
    slice: str | None
    configuration: str | None
    points: tuple[SeriesPoint, ...]
    marks: tuple[SeriesMark, ...] = ()
    caveat: str = ""


def list_series_faults(series: Iterable[Series]) -> list[str]:
    """Return what is wrong with the numbers of some series: a value that is no number, or none without a reason."""
    faults: list[str] = []
    for one_series in series:
        for number, point in enumerate(one_series.points):
            field = f"{one_series.key}.points[{number}]"
            numbers = [bound for bound in (point.value, point.low, point.high) if bound is not None]
            if not all(map(isfinite, numbers)):
                faults.append(f"{field}: not a finite number (got {numbers}; expected null with a reason)")
            if point.value is None and not point.reason:
                faults.append(f"{field}: neither a value nor a reason (expected a reason for every value that is null)")
    return faults
