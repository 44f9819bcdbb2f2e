"""What several reviewers decided on candidates: what is settled, what is left to settle, and how far they agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from assay.calibration.rater_agreement import ItemKey, RaterAgreement, compute_pairwise_agreement
from assay.golden.candidate import ReviewDecision
from assay.records.errors import shorten_repr
from assay.records.golden_set import Case

SettledState = Literal["accepted", "rejected", "undecided", "disagreed"]
ReviewLabel = Literal["accept", "edit", "reject"]
REVIEW_LABELS: dict[str, float | None] = {"accept": None, "edit": None, "reject": None}


class SettledCase(Struct, frozen=True):
    """A candidate, what became of it, and the decisions that count: the settling ones if there are any."""

    case: str
    state: SettledState
    decisions: tuple[ReviewDecision, ...] = ()


class ReviewerCount(Struct, frozen=True):
    """How many candidates one reviewer accepted as they are, edited and rejected."""

    reviewer: str
    accepted: int
    edited: int
    rejected: int


class ReviewReport(Struct, frozen=True):
    """The reviews of some candidates: counts of each reviewer, agreement of every two, and what is left to do.

    `agreement` compares three labels (accept, edit, reject) as they were given before anything was settled: `raw` is
    the share of equal ones, `kappa` and `ac1` are corrected for chance, with 95% intervals.
    """

    digest: str
    candidates: int
    reviewers: tuple[ReviewerCount, ...]
    agreement: tuple[RaterAgreement, ...]
    accepted: int
    rejected: int
    undecided: tuple[str, ...]
    disagreed: tuple[SettledCase, ...]
    variants: int = 0
    """How many of the candidates are variants of cases, which are frozen on top of the set with these."""


def settle_cases(cases: Sequence[Case], decisions: Sequence[ReviewDecision]) -> list[SettledCase]:
    """Return what became of each candidate, in order.

    A candidate is settled if everybody who decided on it said the same, down to the words of an edit; else a settling
    decision is needed.
    """
    by_case: dict[str, list[ReviewDecision]] = {}
    for decision in decisions:
        by_case.setdefault(decision.case, []).append(decision)
    settled = []
    for case in cases:
        given = by_case.get(case.id, [])
        counting = [decision for decision in given if decision.settles] or given
        settled.append(SettledCase(case.id, _tell_state(counting), tuple(counting)))
    return settled


def _tell_state(decisions: Sequence[ReviewDecision]) -> SettledState:
    if not decisions:
        return "undecided"
    if len({(decision.decision, _encode_edit(decision)) for decision in decisions}) > 1:
        return "disagreed"
    return "rejected" if decisions[0].decision == "reject" else "accepted"


def _encode_edit(decision: ReviewDecision) -> bytes:
    return msgspec.json.encode(decision.edited, order="sorted")


def label_decision(decision: ReviewDecision) -> ReviewLabel:
    """Return a decision as one of three labels: accepted as it is, edited, rejected."""
    if decision.decision == "reject":
        return "reject"
    return "edit" if decision.edited else "accept"


def describe_decision(decision: ReviewDecision) -> str:
    """Return a decision in a few words: `accept`, `accept with another question`, `reject: unclear`."""
    if decision.decision == "reject":
        return f"reject: {shorten_repr(decision.reason)}"
    fields = ", ".join(sorted(decision.edited))
    return f"accept with another {fields}" if fields else "accept"


def summarise_reviews(cases: Sequence[Case], decisions: Sequence[ReviewDecision], digest: str) -> ReviewReport:
    """Return counts, agreement and what is left to settle for the decisions of all reviewers on some candidates."""
    ratings: dict[str, dict[ItemKey, str]] = {}
    for decision in decisions:
        if not decision.settles:
            ratings.setdefault(decision.reviewer, {})[decision.case, "", ""] = label_decision(decision)
    counts = []
    for reviewer, labels in sorted(ratings.items()):
        given = list(labels.values())
        counts.append(ReviewerCount(reviewer, given.count("accept"), given.count("edit"), given.count("reject")))
    settled = settle_cases(cases, decisions)
    return ReviewReport(
        digest,
        len(cases),
        tuple(counts),
        compute_pairwise_agreement(ratings, REVIEW_LABELS),
        accepted=sum(case.state == "accepted" for case in settled),
        rejected=sum(case.state == "rejected" for case in settled),
        undecided=tuple(case.case for case in settled if case.state == "undecided"),
        disagreed=tuple(case for case in settled if case.state == "disagreed"),
        variants=sum(case.variant_of is not None for case in cases),
    )
