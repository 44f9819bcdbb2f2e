"""Whether two independent groups differ in how often something happens: Fisher's exact test."""

from __future__ import annotations

from math import exp, lgamma

_SAME = 1e-7
"""Tables whose probabilities differ by less than this share are as likely as each other: rounding, not evidence."""


def compute_fisher_p(first: int, first_total: int, second: int, second_total: int) -> float:
    """Return the two-sided p-value of equal rates in two groups: `first` of `first_total`, `second` of `second_total`.

    It is the sum of the probabilities, given both totals and the number of events, of all tables that are at most as
    likely as the one that was seen. In [0, 1]; 1 where a group is empty. Source: Fisher (1935).

    >>> round(compute_fisher_p(1, 10, 7, 10), 4), compute_fisher_p(0, 0, 3, 9)
    (0.0198, 1.0)
    """
    events = first + second
    fewest, most = max(0, events - second_total), min(events, first_total)
    logs = [_log_choose(first_total, k) + _log_choose(second_total, events - k) for k in range(fewest, most + 1)]
    whole = _log_choose(first_total + second_total, events)
    observed = logs[first - fewest]
    return min(1.0, sum(exp(log - whole) for log in logs if log <= observed + _SAME))


def _log_choose(total: int, chosen: int) -> float:
    return lgamma(total + 1) - lgamma(chosen + 1) - lgamma(total - chosen + 1)
