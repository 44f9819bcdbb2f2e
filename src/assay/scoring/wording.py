"""Formats numbers and lists of cases in messages: enough digits to tell numbers apart, and short lists."""

from __future__ import annotations

from collections.abc import Sequence

from assay.model import Interval

_DECIMALS = {"ms": 0, "tokens": 0, "USD": 4}
_MOST_DECIMALS = 17
CASES_NAMED = 5


def compared(value: float, threshold: float, unit: str = "share") -> tuple[str, str]:
    """Format two numbers so that different numbers never look the same.

    >>> compared(0.8497, 0.85)
    ('0.8497', '0.8500')
    """
    decimals = _DECIMALS.get(unit, 3)
    while f"{value:.{decimals}f}" == f"{threshold:.{decimals}f}" and value != threshold and decimals < _MOST_DECIMALS:
        decimals += 1
    suffix = f" {unit}" if unit in ("ms", "USD") else ""
    return f"{value:.{decimals}f}{suffix}", f"{threshold:.{decimals}f}{suffix}"


def interval_text(interval: Interval | None, unit: str = "share") -> str:
    """Return `, 95% low–high`, or nothing without an interval.

    >>> interval_text(Interval(0.7123, 0.9, "Wilson"))
    ', 95% 0.71–0.90'
    """
    if interval is None:
        return ""
    decimals = _DECIMALS.get(unit, 2)
    return f", {interval.confidence:.0%} {interval.low:.{decimals}f}–{interval.high:.{decimals}f}"


def named(case_ids: Sequence[str]) -> str:
    """Return the first few ids and how many more there are.

    >>> named(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e … and 2 more'
    """
    more = len(case_ids) - CASES_NAMED
    return ", ".join(case_ids[:CASES_NAMED]) + (f" … and {more} more" if more > 0 else "")


def counted(count: int, word: str) -> str:
    """Return a count with its noun, in the singular or the plural.

    >>> counted(1, "case"), counted(2, "case")
    ('1 case', '2 cases')
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
