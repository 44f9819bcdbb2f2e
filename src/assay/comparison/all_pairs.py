"""Every pair of several systems compared by a few metrics, with all the tests of all pairs as one family (Holm)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from msgspec import Struct

from assay.comparison.paired_comparison import MatchedSides
from assay.metrics.catalog import parse_metric
from assay.metrics.template_columns import HEADLINES, find_first_present
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem
from assay.records.findings import MetricChange
from assay.scoring.change_tests import ChangeTest, ClaimLevel
from assay.scoring.paired_scores import ScoreSnapshot
from assay.stats.multiple_testing import adjust_holm

LEVEL = 0.05
PAIRS_FAMILY = "pairs"
_MOST_NAMED = 6


class ComparedPair(NamedTuple):
    """What the second system gained over the first by one metric."""

    first: str
    second: str
    change: MetricChange


class PairwiseComparison(Struct, frozen=True):
    """The pairs of several systems: for equal ones any difference is significant in at most `level` of comparisons.

    `p_adjusted` of a change is Holm's over all `tests`, and its interval holds with those of all other pairs at once.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    pairs: tuple[ComparedPair, ...]
    tests: int
    level: float = LEVEL

    def __repr__(self) -> str:
        return "\n".join(describe_pairs(self))


def compare_all_pairs(sides: Sequence[ScoreSnapshot], metrics: Sequence[str] = ()) -> PairwiseComparison:
    """Return the comparison of each of several systems with each other by some metrics, over all cases.

    Without `metrics` it is the first headline that all of them measured. Raises InputError for fewer than two systems,
    for two of one name, for metrics that one of them did not measure, and where two are not comparable.
    """
    names = [side.side.name for side in sides]
    if len(sides) < 2 or len(set(names)) < len(names):
        raise _refuse("systems", f"not two systems of different names (got {', '.join(names) or 'none'})")
    chosen = _choose_metrics(sides, metrics)
    tests: dict[tuple[str, str, str], ChangeTest] = {}
    for first, second in combinations(sides, 2):
        matched = MatchedSides(first, second, metrics=chosen, slice_keys=())
        if matched.match is not None:
            got = f"got {matched.match.describe()}"
            raise _refuse("systems", f"another golden set ({got}; expected one for all, or compare two systems)")
        for slot, test in matched.test_metrics(0):
            if slot.slice is None and slot.metric in chosen:
                tests[first.side.name, second.side.name, slot.metric] = test
    concluded = _conclude(tests)
    pairs = tuple(ComparedPair(first, second, change) for (first, second, _), change in concluded.items())
    return PairwiseComparison(tuple(names), tuple(chosen), pairs, sum(pair.change.p is not None for pair in pairs))


def _choose_metrics(sides: Sequence[ScoreSnapshot], metrics: Sequence[str]) -> list[str]:
    names = [str(parse_metric(metric)) for metric in metrics]
    measured = set.intersection(*(set(side.metrics) for side in sides))
    if not names:
        headlines = (find_first_present(titled, measured) for _, titled in HEADLINES[1:])
        names = [name for name in headlines if name is not None][:1]
    missing = [name for name in names if name not in measured]
    if missing or not names:
        got = ", ".join(missing) or "no headline"
        raise _refuse(
            "metrics", f"not measured by every system (got {got}; expected one of {', '.join(sorted(measured))})"
        )
    return names


def _conclude(tests: dict[tuple[str, str, str], ChangeTest]) -> dict[tuple[str, str, str], MetricChange]:
    """Return every change with its adjusted p, its simultaneous interval and its verdict, in the order of the tests."""
    tested = [key for key, test in tests.items() if test.change.p is not None]
    adjusted = adjust_holm([tests[key].change.p or 0.0 for key in tested])
    level = ClaimLevel(PAIRS_FAMILY, LEVEL, 1 - LEVEL / max(1, len(tested)))
    changes = {key: test.change for key, test in tests.items()}
    for key, p_adjusted in zip(tested, adjusted, strict=True):
        changes[key] = tests[key].conclude(level, p_adjusted)
    return changes


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def describe_pairs(comparison: PairwiseComparison) -> list[str]:
    """Return the comparison as lines: the pairs that differ significantly, the surest first, then the others."""
    count = format_count(len(comparison.systems), "system")
    family = f"{format_count(comparison.tests, 'test')} of one family (Holm, {100 * comparison.level:g}%)"
    lines = [f"{count} by {', '.join(comparison.metrics)}: {family}"]
    differing = [pair for pair in comparison.pairs if pair.change.verdict in ("improved", "regressed")]
    lines += [f" - {_describe_difference(pair)}" for pair in sorted(differing, key=_order)]
    others = [pair for pair in comparison.pairs if pair not in differing]
    lines += [f" - {_describe_other(pair)}" for pair in others[:_MOST_NAMED]]
    if len(others) > _MOST_NAMED:
        lines.append(
            f" - and {format_count(len(others) - _MOST_NAMED, 'more pair')} without a significant difference: .pairs"
        )
    return lines


def _order(pair: ComparedPair) -> float:
    return pair.change.p_adjusted if pair.change.p_adjusted is not None else 1.0


def _describe_difference(pair: ComparedPair) -> str:
    better, worse = (pair.second, pair.first) if pair.change.verdict == "improved" else (pair.first, pair.second)
    return f"{better} is better than {worse} by {pair.change.metric}: {_describe_gain(pair)}"


def _describe_other(pair: ComparedPair) -> str:
    if pair.change.p_adjusted is None:
        note = f" ({pair.change.note})" if pair.change.note else ""
        return f"{pair.first} and {pair.second} by {pair.change.metric}: not tested{note}"
    return f"{pair.first} and {pair.second} by {pair.change.metric}: no significant difference, {_describe_gain(pair)}"


def _describe_gain(pair: ComparedPair) -> str:
    """Return the gain of the better system, or of the second one where none is significantly; a range where answers are
    unknown."""
    change = pair.change
    sign = -1 if change.verdict == "regressed" else 1
    ends = sorted(sign * end for end in (change.low, change.high) if end is not None)
    interval = f" ({ends[0]:+.3f} to {ends[1]:+.3f})" if len(ends) > 1 else ""
    if change.gain is not None:
        gain = f"{sign * change.gain:+.3f}"
    elif change.unknown is not None:
        first, second = sorted(sign * end for end in change.unknown.gain)
        gain = f"{first:+.3f} to {second:+.3f} as {format_count(change.unknown.answers, 'answer')} may be, interval"
    else:
        gain = "no gain known"
    return f"{gain}{interval}, p {change.p_adjusted:.2g} after Holm, {format_count(change.n, 'case')}"


def _refuse(name: str, message: str) -> InputError:
    return InputError([Problem("", None, name, message, "E_PAIRS")])
