"""The outcomes of every case over the runs of a configuration: which go back and forth, and which have long failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from assay.records.golden_set import Case
from assay.scoring.saved_results import SavedCase, SavedSummary
from assay.trends.history_results import FailingCase, FlappingCase, VersionDifference, VersionStep

_LETTERS = {"passed": "P", "failed": "F", "unknown": "U"}
ABSENT = "-"
MIN_FLAPS = 2
"""Changes of outcome from which on a case is said to go back and forth: one change may be a lasting one."""


@dataclass(frozen=True)
class HistoryRun:
    """One configuration of one registered run.

    `cases` and `golden_cases` are None where the run folder is gone or was scored again since; `summary` is then what
    the registry kept, and there are no slices. `content` is a digest of what each case asks and expects.
    """

    run: str
    at: str
    config: str
    golden: str
    versions: Mapping[str, str]
    summary: Mapping[str, SavedSummary]
    slices: Mapping[str, Mapping[str, SavedSummary]] = field(default_factory=dict)
    cases: Mapping[str, SavedCase] | None = None
    golden_cases: Sequence[Case] | None = None
    content: Mapping[str, str] = field(default_factory=dict)


def list_differences(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[VersionDifference, ...]:
    """Return the names of which two runs have different values, sorted.

    >>> list_differences({"index": "v1", "model": "a"}, {"index": "v2", "model": "a"})
    (VersionDifference(name='index', before='v1', after='v2'),)
    """
    names = sorted({*before, *after})
    return tuple(
        VersionDifference(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    )


def list_version_steps(runs: Sequence[HistoryRun]) -> list[VersionStep]:
    """Return what is different from the run before, for the runs of one configuration in the order of time."""
    steps = []
    for before, after in pairwise(runs):
        changed = list_differences(before.versions, after.versions)
        if changed:
            steps.append(VersionStep(after.at, after.run, after.config, changed))
    return steps


def trace_outcomes(runs: Sequence[HistoryRun]) -> dict[str, str]:
    """Return for each case of the last run a letter for each run; a case that asked otherwise then has a dash."""
    if not runs or runs[-1].cases is None:
        return {}
    last = runs[-1]
    outcomes: dict[str, str] = {}
    for case_id in last.cases or ():
        letters = []
        for run in runs:
            row = (run.cases or {}).get(case_id)
            is_same = run.content.get(case_id) == last.content.get(case_id)
            letters.append(_LETTERS[row.outcome] if row is not None and is_same else ABSENT)
        outcomes[case_id] = "".join(letters)
    return outcomes


def find_flapping_cases(runs: Sequence[HistoryRun]) -> list[FlappingCase]:
    """Return the cases that changed between passed and failed twice or more, those with most changes first."""
    flapping = []
    for case_id, letters in trace_outcomes(runs).items():
        changes, unexplained = _count_changes(letters, runs)
        if changes >= MIN_FLAPS:
            passed = _find_last_pass(letters)
            at = runs[passed].at if passed is not None else None
            flapping.append(FlappingCase(case_id, runs[-1].config, letters, at, changes, unexplained))
    return sorted(flapping, key=lambda case: (-case.changes, case.case_id))


def find_failing_cases(runs: Sequence[HistoryRun]) -> list[FailingCase]:
    """Return the cases that failed in the last run, those that have not passed for longest first."""
    failing = []
    for case_id, letters in trace_outcomes(runs).items():
        if letters[-1] != "F":
            continue
        passed = _find_last_pass(letters)
        at = runs[passed].at if passed is not None else None
        since = len(letters) - 1 - passed if passed is not None else len(letters.replace(ABSENT, ""))
        failing.append(FailingCase(case_id, runs[-1].config, letters, at, since))
    return sorted(failing, key=lambda case: (case.last_passed or "", case.case_id))


def _find_last_pass(letters: str) -> int | None:
    position = letters.rfind("P")
    return position if position >= 0 else None


def _count_changes(letters: str, runs: Sequence[HistoryRun]) -> tuple[int, int]:
    """Return how often P follows F or F follows P, and how often without any recorded version that differs."""
    changes = unexplained = 0
    last: int | None = None
    for position, letter in enumerate(letters):
        if letter not in "PF":
            continue
        if last is not None and letter != letters[last]:
            changes += 1
            unexplained += runs[last].versions == runs[position].versions
        last = position
    return changes, unexplained
