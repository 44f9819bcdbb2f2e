"""What a judge that may not decide says of answers of which nothing else tells, and what would make it count."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from assay.metrics.case_checks import JUDGED_CORRECTNESS
from assay.records.scores import SCORED, ConfigResult, ScoreTable
from assay.scoring.case_outcomes import list_unknown_cases

_TRUST = f"or trust it with --good '{JUDGED_CORRECTNESS}>=0.5'"
COUNTING_REMEDY = f"label a sample and run `assay calibrate`, {_TRUST}"
"""What makes the labels of a judge count that is not calibrated."""
_REFUSED_REMEDY = f"label more of its items and run `assay calibrate` again, {_TRUST}"
"""What makes the labels of a judge count that was calibrated and may not gate."""
UNCALIBRATED, REFUSED = "uncalibrated", "may not gate"
_WHY_NOT = {
    UNCALIBRATED: "uncalibrated, it does not count",
    REFUSED: "its calibration does not let it count",
}


class JudgedAnswers(Struct, frozen=True):
    """Cases by what a judge says of their answers; `unlabelled` are those on which it has no usable label."""

    right: tuple[str, ...]
    partly_right: tuple[str, ...]
    wrong: tuple[str, ...]
    unlabelled: tuple[str, ...]

    @property
    def labelled(self) -> int:
        """How many of the answers have a label."""
        return len(self.right) + len(self.partly_right) + len(self.wrong)


def sort_judged_unknowns(result: ConfigResult) -> JudgedAnswers | None:
    """Return what a judge says of the unknown cases of a configuration; None where it says nothing of any of them."""
    judged = sort_judged_answers(result.table, list_unknown_cases(result))
    return judged if judged.labelled else None


def is_asked_of_correctness(table: ScoreTable) -> bool:
    """Return whether a judge gave a label on whether any answer is right."""
    column = table.columns.get(JUDGED_CORRECTNESS)
    return column is not None and any(status == SCORED for status in column.status)


def sort_judged_answers(table: ScoreTable, case_ids: Sequence[str]) -> JudgedAnswers:
    """Return the cases by what the judge says of their answers, each in the order given."""
    column = table.columns.get(JUDGED_CORRECTNESS)
    row_by_case = {case_id: row for row, case_id in enumerate(table.case_ids)}
    groups: dict[str, list[str]] = {"right": [], "partly right": [], "wrong": []}
    unlabelled: list[str] = []
    for case_id in case_ids:
        row = row_by_case[case_id]
        if column is None or column.status[row] != SCORED:
            unlabelled.append(case_id)
            continue
        groups[name_judged_value(float(column.values[row]))].append(case_id)
    right, partly_right, wrong = (tuple(cases) for cases in groups.values())
    return JudgedAnswers(right, partly_right, wrong, tuple(unlabelled))


def describe_standing(table: ScoreTable) -> str:
    """Return in which respect the judge of correctness may not decide, "" if it may."""
    if JUDGED_CORRECTNESS not in table.uncalibrated:
        return ""
    return REFUSED if JUDGED_CORRECTNESS in table.refused_calibrations else UNCALIBRATED


def describe_judged_unknowns(result: ConfigResult, remedy: str = "") -> str:
    """Return what the judge says of the unknown cases, why that does not count, and what to do; "" if it says nothing.

    The remedy, for the command line unless another is given, is the parentheses at the end.
    """
    judged = sort_judged_unknowns(result)
    standing = describe_standing(result.table)
    if judged is None or not standing:
        return ""
    advice = remedy or (COUNTING_REMEDY if standing == UNCALIBRATED else _REFUSED_REMEDY)
    return f"{describe_judged_counts(judged)}; {_WHY_NOT[standing]} ({advice})"


def describe_judged_counts(judged: JudgedAnswers) -> str:
    """Return how many answers the judge calls right, partly right and wrong.

    >>> describe_judged_counts(JudgedAnswers(("a", "b"), (), ("c",), ("d",)))
    'the judge calls 2 right and 1 wrong (1 without a label)'
    """
    kinds = ((judged.right, "right"), (judged.partly_right, "partly right"), (judged.wrong, "wrong"))
    parts = [f"{len(cases)} {kind}" for cases, kind in kinds if cases]
    named = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    unlabelled = f" ({len(judged.unlabelled)} without a label)" if judged.unlabelled else ""
    return f"the judge calls {named}{unlabelled}"


def describe_judged_answer(table: ScoreTable, case_id: str) -> str:
    """Return what a judge that may not decide says of one answer; "" if it says nothing or may decide."""
    standing = describe_standing(table)
    judged = sort_judged_answers(table, [case_id])
    if not standing or not judged.labelled:
        return ""
    (row,) = [row for row, name in enumerate(table.case_ids) if name == case_id]
    label = name_judged_value(float(table.columns[JUDGED_CORRECTNESS].values[row]))
    return f"the judge calls it {label}; {_WHY_NOT[standing]}"


def name_judged_value(value: float) -> str:
    """Return what a judge says of an answer with this value of correctness.

    >>> [name_judged_value(value) for value in (1.0, 0.5, 0.0)]
    ['right', 'partly right', 'wrong']
    """
    return "right" if value >= 1 else "wrong" if value <= 0 else "partly right"
