"""The numbers of a change as text: both sides and the gain, as ranges where answers are unknown."""

from __future__ import annotations

from assay.records.counts import format_count
from assay.records.findings import MetricChange
from assay.report.wording.number_format import NOT_AVAILABLE, find_metric_row, format_number


def format_sides(change: MetricChange) -> tuple[str, str]:
    """Return what baseline and candidate have, `n/a` for a side without a number: `0.500`, `0.250–0.750`."""
    unknown = change.unknown
    if unknown is None:
        more = _count_more_decimals(change)
        before, after = (format_number(value, change.metric, more) for value in (change.baseline, change.candidate))
        return before, after
    before, after = (_format_range(bounds, change.metric) for bounds in (unknown.baseline, unknown.candidate))
    return before, after


def _count_more_decimals(change: MetricChange) -> int:
    """Return 1 where whole numbers would contradict each other: 16.6 and 9.4 differ by 7.2, not by 17 and 9's 8."""
    row = find_metric_row(change.metric)
    sides = change.baseline, change.candidate
    if row is None or change.gain is None or sides[0] is None or sides[1] is None or change.statistic == "median":
        return 0
    texts = [format_number(value, change.metric) for value in (*sides, change.gain)]
    if any("." in text for text in texts):
        return 0
    before, after, gain = map(int, texts)
    return int(abs(after - before) != abs(gain))


def _format_range(bounds: tuple[float, float], metric: str) -> str:
    return "–".join(dict.fromkeys(format_number(bound, metric) for bound in bounds))


def format_gain(change: MetricChange) -> str:
    """Return the gain with its sign, or between which two it is and whether that tells the direction."""
    unknown = describe_unknown(change)
    return format_gain_alone(change) + (f" ({unknown})" if unknown else "")


def format_gain_alone(change: MetricChange) -> str:
    """Return the gain with its sign, or between which two it is, for where its note says what is unknown."""
    if change.unknown is None:
        return format_signed(change.gain, change.metric, _count_more_decimals(change))
    low, high = (format_signed(gain, change.metric) for gain in change.unknown.gain)
    return low if change.unknown.is_gain_known else f"{low} to {high}"


def describe_unknown(change: MetricChange) -> str:
    """Return how many answers of a change are unknown, and whether they decide its direction; "" without any."""
    unknown = change.unknown
    if unknown is None:
        return ""
    count = f"{format_count(unknown.answers, 'answer')} unknown"
    if unknown.is_gain_known:
        return f"{count}, the same on both sides"
    return f"direction not known: {count}" if unknown.direction == "not known" else count


def format_signed(value: float | None, metric: str, more_decimals: int = 0) -> str:
    """Return a number with its sign.

    >>> format_signed(0.25, "recall@5"), format_signed(None, "recall@5")
    ('+0.250', 'n/a')
    """
    if value is None:
        return NOT_AVAILABLE
    text = format_number(value, metric, more_decimals)
    return text if text.startswith("-") else f"+{text}"
