"""Bounds that production must keep, such as `hallucination_risk<=0.05`: watched from the first day on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from math import isfinite

from msgspec import Struct

from assay.records.errors import InputError, shorten_repr
from assay.trends.monitor_measures import Measure

_BOUND = re.compile(r"(?P<metric>[^<>]+?)\s*(?P<operator><=|>=)\s*(?P<limit>[0-9.eE+-]{1,30})")
_EXPECTED = "METRIC<=NUMBER or METRIC>=NUMBER such as hallucination_risk<=0.05"


class MetricBound(Struct, frozen=True):
    """A metric that should be at most (`direction` 1) or at least (−1) a limit."""

    metric: str
    direction: int
    limit: float

    def __str__(self) -> str:
        return f"{self.metric}{'<=' if self.direction > 0 else '>='}{self.limit:g}"

    def normalise(self, measure: Measure) -> float:
        """Return the share that is watched: of the range of a mean, or of the values above the limit of a quantile."""
        if measure.percentile is not None:
            return 1 - measure.percentile / 100
        assert measure.low is not None
        assert measure.high is not None
        return (self.limit - measure.low) / (measure.high - measure.low)


def parse_bounds(texts: Sequence[str]) -> list[MetricBound]:
    """Return the bounds of some texts. Raises InputError for what is none.

    >>> parse_bounds(["refusal_rate >= .1"])
    [MetricBound(metric='refusal_rate', direction=-1, limit=0.1)]
    """
    bounds: list[MetricBound] = []
    for text in texts:
        match = _BOUND.fullmatch(text.strip())
        if match is None:
            raise InputError(f"--bound: not a bound (got {shorten_repr(text)}; expected {_EXPECTED})")
        try:
            limit = float(match["limit"])
        except ValueError:
            limit = float("nan")
        if not isfinite(limit):
            raise InputError(f"--bound: no number (got {shorten_repr(text)}; expected {_EXPECTED})")
        bounds.append(MetricBound(match["metric"].strip(), 1 if match["operator"] == "<=" else -1, limit))
    return bounds


def assign_bounds(bounds: Sequence[MetricBound], measures: Sequence[Measure]) -> dict[str, list[MetricBound]]:
    """Return the bounds by the measure that they are about, named in full or without its scorer.

    Raises InputError for a metric that is not measured, for a mean without an upper end, which no bet can test, and for
    a limit outside of the range.
    """
    assigned: dict[str, list[MetricBound]] = {}
    for bound in bounds:
        names = [measure.name for measure in measures]
        chosen = [measure for measure in measures if _is_meant(bound.metric, measure)]
        if not chosen:
            raise InputError(
                f"--bound: a metric that is not measured (got {shorten_repr(bound.metric)}; expected one of "
                f"{', '.join(names[:8])}{' …' if len(names) > 8 else ''})"
            )
        for measure in chosen:
            _check_bound(bound, measure)
            assigned.setdefault(measure.name, []).append(bound)
    return assigned


def _is_meant(name: str, measure: Measure) -> bool:
    """Return whether a name is that of a measure, in full, or without the scorer that was chosen for it."""
    base, parameters, _ = measure.name.partition("(")
    return name == measure.name or (name == base and (not parameters or "by=" in measure.name))


def _check_bound(bound: MetricBound, measure: Measure) -> None:
    if measure.percentile is not None:
        if bound.direction < 0:
            raise InputError(f"--bound: {bound}: a percentile can only have an upper limit (expected <=)")
        return
    if measure.low is None or measure.high is None:
        raise InputError(
            f"--bound: {bound}: a mean without an upper end cannot be tested (expected a share or a percentile "
            f"such as {measure.name.partition('(')[0]}(stat=p95)<={bound.limit:g})"
        )
    share = bound.normalise(measure)
    if not 0 <= share <= 1 or (share == 1 if bound.direction > 0 else share == 0):
        raise InputError(f"--bound: {bound}: not a limit (expected one within {measure.low:g} to {measure.high:g})")


def list_quarter_starts(first: date, last: date) -> list[date]:
    """Return the first days of the calendar quarters from that of `first` to that of `last`.

    >>> list_quarter_starts(date(2026, 2, 9), date(2026, 4, 1))
    [datetime.date(2026, 1, 1), datetime.date(2026, 4, 1)]
    """
    starts = [date(first.year, 3 * ((first.month - 1) // 3) + 1, 1)]
    while True:
        year, month = divmod(starts[-1].year * 12 + starts[-1].month + 2, 12)
        following = date(year, month + 1, 1)
        if following > last:
            return starts
        starts.append(following)
