"""What several reviewers decided on candidates: what is settled, what is left to settle, and how far they agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from assay.calibration.rater_agreement import ItemKey, RaterAgreement, compute_pairwise_agreement
from assay.golden.candidate import LeftOpen, ReviewDecision
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

    `agreement` compares labels (accept, edit, reject) as they were given before anything was settled: `raw` is the
    share of equal ones, `kappa` and `ac1` are corrected for chance, with 95% intervals. Edits in other words are other
    labels ("edit 2"). `left_open` are the candidates that only some of several reviewers decided.
    """

    digest: str
    candidates: int
    reviewers: tuple[ReviewerCount, ...]
    agreement: tuple[RaterAgreement, ...]
    accepted: int
    rejected: int
    undecided: tuple[str, ...]
    disagreed: tuple[SettledCase, ...]
    left_open: tuple[LeftOpen, ...] = ()
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
        case_decisions = by_case.get(case.id, [])
        counting = [decision for decision in case_decisions if decision.settles] or case_decisions
        settled.append(SettledCase(case.id, _find_state(counting), tuple(counting)))
    return settled


def _find_state(decisions: Sequence[ReviewDecision]) -> SettledState:
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


def _label_decisions(decisions: Sequence[ReviewDecision]) -> dict[str, dict[ItemKey, str]]:
    """Return the label of each reviewer on each candidate; edits in other words than the first get a number."""
    edits: dict[str, list[bytes]] = {}
    ratings: dict[str, dict[ItemKey, str]] = {}
    for decision in sorted(decisions, key=_get_reviewer):
        if decision.settles:
            continue
        label: str = label_decision(decision)
        if label == EDIT:
            known_edits, edit = edits.setdefault(decision.case, []), _encode_edit(decision)
            if edit not in known_edits:
                known_edits.append(edit)
            label = f"{EDIT} {known_edits.index(edit) + 1}" if known_edits.index(edit) else EDIT
        ratings.setdefault(decision.reviewer, {})[decision.case, "", ""] = label
    return ratings


EDIT = "edit"


def _get_reviewer(decision: ReviewDecision) -> str:
    return decision.reviewer


def list_left_open(settled: Sequence[SettledCase], reviewers: Sequence[str]) -> tuple[LeftOpen, ...]:
    """Return the candidates that are accepted or rejected although some of these reviewers did not decide on them."""
    left = []
    for outcome in settled:
        deciding = {decision.reviewer for decision in outcome.decisions}
        is_settled = any(decision.settles for decision in outcome.decisions)
        absent = tuple(name for name in reviewers if name not in deciding)
        if outcome.state in ("accepted", "rejected") and absent and not is_settled:
            left.append(LeftOpen(outcome.case, absent))
    return tuple(left)


def describe_decision(decision: ReviewDecision) -> str:
    """Return a decision in a few words: `accept`, `accept with another question`, `reject: unclear`."""
    if decision.decision == "reject":
        return f"reject: {shorten_repr(decision.reason)}"
    fields = ", ".join(sorted(decision.edited))
    return f"accept with another {fields}" if fields else "accept"


def summarise_reviews(cases: Sequence[Case], decisions: Sequence[ReviewDecision], digest: str) -> ReviewReport:
    """Return counts, agreement and what is left to settle for the decisions of all reviewers on some candidates."""
    ratings = _label_decisions(decisions)
    counts = []
    for reviewer, labels in sorted(ratings.items()):
        reviewer_labels = list(labels.values())
        edited = sum(label.startswith(EDIT) for label in reviewer_labels)
        counts.append(ReviewerCount(reviewer, reviewer_labels.count("accept"), edited, reviewer_labels.count("reject")))
    others = sorted({label for labels in ratings.values() for label in labels.values()} - REVIEW_LABELS.keys())
    settled = settle_cases(cases, decisions)
    return ReviewReport(
        digest,
        len(cases),
        tuple(counts),
        compute_pairwise_agreement(ratings, {**REVIEW_LABELS, **dict.fromkeys(others)}),
        accepted=sum(case.state == "accepted" for case in settled),
        rejected=sum(case.state == "rejected" for case in settled),
        undecided=tuple(case.case for case in settled if case.state == "undecided"),
        disagreed=tuple(case for case in settled if case.state == "disagreed"),
        left_open=list_left_open(settled, sorted(ratings)),
        variants=sum(case.variant_of is not None for case in cases),
    )
