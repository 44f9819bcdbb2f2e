"""What people decided about answers: each decision counts for exactly the answer that they read (ADR 187)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from assay.records.digest import compute_answer_hash, compute_digest
from assay.records.golden_set import BEHAVIOURS, AnswerLabel, Case
from assay.records.scores import SCORED, SETTLED, ScoreColumn
from assay.stats.arrays import BoolArray

RIGHT, WRONG, UNCLEAR, DISPUTED = "right", "wrong", "unclear", "disputed"
CORRECTNESS_LABELS: dict[str, float | None] = {RIGHT: 1.0, WRONG: 0.0, UNCLEAR: None}
BEHAVIOUR_LABELS: dict[str, float | None] = dict.fromkeys((*BEHAVIOURS, UNCLEAR))
ANSWER_SCALES = {"correct_answer": CORRECTNESS_LABELS, "behaviour": BEHAVIOUR_LABELS}
"""The labels with which people decide about answers, each with the score that it stands for, by metric."""
AGAINST_RULES = ", against the rules"
SettledMetric = Literal["correct_answer", "behaviour"]
SETTLED_METRICS: tuple[SettledMetric, ...] = ("correct_answer", "behaviour")


class AnswerDecision(Struct, frozen=True):
    """What people decided about one answer, and who they are, in alphabetical order.

    `label` is `DISPUTED` where they disagree, which leaves the answer open; `opinions` are their labels, with what they
    noted. `is_against_rules`: the rules are sure of the opposite.
    """

    label: str
    raters: tuple[str, ...]
    opinions: tuple[str, ...] = ()
    is_against_rules: bool = False

    @property
    def is_disputed(self) -> bool:
        """Whether people disagree about the answer."""
        return self.label == DISPUTED

    @property
    def reason(self) -> str:
        """Why the answer has the score that it has, as tables of scores hold it."""
        if self.is_disputed:
            return f"people disagree ({'; '.join(self.opinions)})"
        return f"{SETTLED} by {', '.join(self.raters)}{AGAINST_RULES if self.is_against_rules else ''}"


def find_decision(case: Case, metric: SettledMetric, answer: str) -> AnswerDecision | None:
    """Return what people decided about an answer, or that they disagree; None if nobody read exactly it.

    >>> from assay.records.golden_set import AnswerLabel
    >>> label = AnswerLabel("correct_answer", "right", "Ann", compute_answer_hash("Two weeks."))
    >>> case = Case("leave", "How long?", answer_labels=(label,))
    >>> find_decision(case, "correct_answer", "Two weeks.").label, find_decision(case, "correct_answer", "Two weeks!")
    ('right', None)
    """
    labels = [label for label in find_labels(case, metric, answer) if label.label != UNCLEAR]
    if not labels:
        return None
    raters = tuple(sorted({label.rater for label in labels}))
    opinions = sorted({f"{label.rater}: {label.label}{f' ({label.note})' if label.note else ''}" for label in labels})
    is_agreed = len({label.label for label in labels}) == 1
    return AnswerDecision(labels[0].label if is_agreed else DISPUTED, raters, tuple(opinions))


def find_labels(case: Case, metric: SettledMetric, answer: str) -> list[AnswerLabel]:
    """Return what people who read exactly this answer said about it, with those who found it unclear."""
    if not case.answer_labels:
        return []
    answer_hash = compute_answer_hash(answer)
    return [label for label in case.answer_labels if label.metric == metric and label.answer_hash == answer_hash]


def digest_expectations(case: Case) -> str:
    """Return the digest of what a case asks and expects of an answer: of what a person reads beside the answer."""
    return compute_digest(
        [
            case.question,
            [[turn.role, turn.text] for turn in case.history],
            [case.behaviour, *case.also_accept],
            case.reference,
            case.must_have,
            None if case.rubric is None else structs.astuple(case.rubric),
        ]
    )


def mark_settled(column: ScoreColumn, decisions: Mapping[int, AnswerDecision]) -> ScoreColumn:
    """Return a column whose scored rows say who settled them; `decisions` are those of people, by row."""
    reasons, codes = list(column.reasons), column.reason.copy()
    for row, decision in sorted(decisions.items()):
        if column.status[row] != SCORED or decision.is_disputed:
            continue
        if decision.reason not in reasons:
            reasons.append(decision.reason)
        codes[row] = reasons.index(decision.reason)
    return structs.replace(column, reason=codes, reasons=tuple(reasons))


def find_settled_cases(column: ScoreColumn | None, case_count: int) -> BoolArray:
    """Return the rows of a column whose score people settled; none where there is no column."""
    if column is None:
        return np.zeros(case_count, dtype=np.bool_)
    codes = [code for code, reason in enumerate(column.reasons) if reason.startswith(SETTLED)]
    return np.asarray((column.status == SCORED) & np.isin(column.reason, codes), dtype=np.bool_)
