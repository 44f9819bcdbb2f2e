"""Reads which cases of a golden set are retired, and why: a file of people, or `ID=REASON`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from assay.formats.labels.decision_rows import load_decision_rows
from assay.formats.problems import ProblemList, join_field
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import RetiredCase

REQUIRED_COLUMNS = ("case", "reason")


def load_retired_cases(given: Sequence[str] | Mapping[str, str], ids: Collection[str], base: str) -> dict[str, str]:
    """Return the reason for each case that is retired, of the cases `ids` of the set whose file is called `base`.

    Each of `given` is `ID=REASON`, or a file: CSV with the columns case and reason, or JSON with such members.
    Raises InputError with everything that is wrong: cases that the set does not have, no reason, a case named twice.
    """
    if isinstance(given, Mapping):
        problems = ProblemList("retire")
        for case, reason in given.items():
            _check_row(case, reason, ids, base, None, "", problems)
        problems.raise_errors()
        return dict(given)
    reasons: dict[str, str] = {}
    for entry in given:
        case = max((name for name in ids if entry.startswith(f"{name}=")), key=len, default="")
        if case:
            problems = ProblemList("--retire")
            _add_row(case, entry[len(case) + 1 :], ids, base, None, "", problems, reasons)
            problems.raise_errors()
        elif "=" in entry and not Path(entry).exists():
            message = f"no such case (got {shorten_repr(entry)}; expected an id of {base} before the =)"
            raise InputError([Problem("--retire", None, "case", message, "E_ID")])
        elif entry in ids:
            message = f"no reason (got {entry!r}; expected {entry}=REASON)"
            raise InputError([Problem("--retire", None, "reason", message, "E_REASON")])
        elif not Path(entry).exists():
            message = f"neither a file nor a case (got {shorten_repr(entry)}; expected FILE, or ID=REASON of {base})"
            raise InputError([Problem("--retire", None, "case", message, "E_ID")])
        else:
            _load_file(entry, ids, base, reasons)
    return reasons


def _load_file(path: str, ids: Collection[str], base: str, reasons: dict[str, str]) -> None:
    problems = ProblemList(path)
    for line, place, row in load_decision_rows(path, RetiredCase, REQUIRED_COLUMNS):
        _add_row(row.case, row.reason, ids, base, line, place, problems, reasons)
    problems.raise_errors()


def _add_row(
    case: str,
    reason: str,
    ids: Collection[str],
    base: str,
    line: int | None,
    place: str,
    problems: ProblemList,
    reasons: dict[str, str],
) -> None:
    _check_row(case, reason, ids, base, line, place, problems)
    if case in reasons:
        message = f"retired twice (got {shorten_repr(case)} again; expected it once)"
        problems.add_error(line, join_field(place, "case"), message, "E_DUPLICATE_ID")
    reasons[case] = reason.strip()


def _check_row(
    case: str, reason: str, ids: Collection[str], base: str, line: int | None, place: str, problems: ProblemList
) -> None:
    if case not in ids:
        message = f"no such case (got {shorten_repr(case)}; expected an id of {base})"
        problems.add_error(line, join_field(place, "case"), message, "E_ID")
    if not reason.strip():
        message = f"{case}: no reason (got {reason!r}; expected why it is taken out)"
        problems.add_error(line, join_field(place, "reason"), message, "E_REASON")
