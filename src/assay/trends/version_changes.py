"""Finds when the version of something (index, prompt, model …) changed that made most of the answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from assay.stats.arrays import FloatArray
from assay.trends.monitor_results import ChangedVersion
from assay.trends.traffic_sums import Calendar

MAX_VALUES = 100
SPAN_DAYS = 3
"""A version counts as changed if it made most answers of these days, and few of as many days before."""


def describe_deployments(changes: Iterable[ChangedVersion]) -> list[tuple[str, str]]:
    """Return for each day what changed on it, in one sentence: the parts of a deployment change together, and one part
    may be reported under several names.

    >>> rows = [ChangedVersion(name, "p1", "p2", "2026-11-10") for name in ("prompt", "version.prompt")]
    >>> describe_deployments([*rows, ChangedVersion("version.index", "i1", "i2", "2026-11-10")])
    [('2026-11-10', 'prompt and version.prompt changed from p1 to p2, version.index from i1 to i2')]
    """
    names_by_day: dict[str, dict[tuple[str, str], list[str]]] = {}
    for change in changes:
        names_by_day.setdefault(change.at, {}).setdefault((change.before, change.after), []).append(change.name)
    deployments = []
    for day, names_by_change in names_by_day.items():
        (first, *_) = names_by_change
        parts = []
        for (before, after), names in names_by_change.items():
            verb = " changed" if (before, after) == first else ""
            parts.append(f"{' and '.join(names)}{verb} from {before} to {after}")
        deployments.append((day, ", ".join(parts)))
    return deployments


class VersionCounts:
    """How many answers of each day were made with each version."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._counts: dict[str, dict[str, FloatArray]] = defaultdict(dict)
        self.crowded: set[str] = set()

    def add_versions(self, versions: Iterable[tuple[str, str]], day: int) -> None:
        """Count the versions of one answer."""
        for name, value in versions:
            if name not in self._counts and len(self._counts) >= MAX_VALUES:
                continue
            counts = self._counts[name]
            if value not in counts:
                if len(counts) >= MAX_VALUES:
                    self.crowded.add(name)
                    continue
                counts[value] = np.zeros(self._calendar.days)
            counts[value][day] += 1

    def find_changes(self) -> list[tuple[int, ChangedVersion]]:
        """Return every change with its day, in order."""
        changes: list[tuple[int, ChangedVersion]] = []
        for name, counts in sorted(self._counts.items()):
            if len(counts) > 1 and name not in self.crowded:
                changes += self._find_changes_of(name, counts)
        return sorted(changes, key=lambda change: (change[0], change[1].name))

    def _find_changes_of(self, name: str, counts: dict[str, FloatArray]) -> Iterable[tuple[int, ChangedVersion]]:
        values = sorted(counts)
        table = np.array([counts[value] for value in values])
        active = np.flatnonzero(table.sum(axis=0))
        current = None
        for position, day in enumerate(active.tolist()):
            leading = int(table[:, day].argmax())
            if current is None:
                current = leading
            if leading == current:
                continue
            after = table[:, active[position : position + SPAN_DAYS]].sum(axis=1)
            before = table[:, active[max(0, position - SPAN_DAYS) : position]].sum(axis=1)
            if after[leading] * 3 >= after.sum() * 2 and before[leading] * 3 <= before.sum():
                changed = ChangedVersion(name, values[current], values[leading], self._calendar.name_day(day))
                yield day, changed
                current = leading
