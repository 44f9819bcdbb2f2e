"""A drafted case before a person has accepted it, and why others were thrown away."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from msgspec import Struct

from assay.golden.model_effort import ModelEffort
from assay.records.golden_set import Case, LineageEntry

DraftKind = Literal[
    "exact",
    "paraphrase",
    "relational",
    "table-or-numeric",
    "acronym-or-code",
    "multi-hop",
    "no-diacritic",
    "stale",
    "access",
    "no-answer",
    "injection",
]
RejectReason = Literal[
    "instruction",
    "not-self-contained",
    "gives-answer-away",
    "unsupported",
    "duplicate",
    "parametric",
    "answerable-elsewhere",
    "not-absent",
    "unreachable",
    "boundary",
    "trivial",
    "target-error",
    "bad-reply",
    "declined",
    "wrong-language",
    "off-domain",
]
REJECT_REASONS: dict[RejectReason, str] = {
    "instruction": "question, reference or evidence orders a model about",
    "not-self-contained": "the question points to something that only its document shows",
    "gives-answer-away": "the question states what the answer must say",
    "unsupported": "the evidence does not state the reference",
    "duplicate": "the question was asked already",
    "parametric": "a model answers it without any evidence",
    "answerable-elsewhere": "another chunk answers the question otherwise",
    "not-absent": "the corpus or the index seems to answer a question that must have no answer",
    "unreachable": "the target does not find the evidence",
    "boundary": "one who may see the evidence does not get it, or nothing says who may",
    "trivial": "every configuration has the evidence at rank 1",
    "target-error": "the target failed on it",
    "bad-reply": "the reply of the model is no candidate",
    "declined": "the model found no such question in the passages",
    "wrong-language": "the question is in another language than it was asked for",
    "off-domain": "at most a third of the questions without an answer are about something else altogether",
}


TEMPLATES = "templates-8"
"""The version of the templates: it changes where a template words its questions otherwise."""


class Candidate(Struct, frozen=True):
    """A drafted case, its kind, the chunks that it was drafted from, and by what."""

    case: Case
    kind: DraftKind
    drafted_from: tuple[str, ...]
    drafted_by: str = TEMPLATES


class RejectedCandidate(Struct, frozen=True):
    """A candidate that was thrown away, and why: a reason of `REJECT_REASONS` and what was seen."""

    candidate: Candidate
    reason: RejectReason
    detail: str = ""


class KindGap(Struct, frozen=True):
    """A kind of the coverage matrix with fewer candidates than its target: why, and what would give more."""

    kind: str
    candidates: int
    target: int
    reason: str
    remedy: str


class DocumentGap(Struct, frozen=True):
    """A document that no candidate is about, and why."""

    document: str
    reason: str


class DraftReading(Struct, frozen=True):
    """What was read: chunks, their statements (sentences and rows), and how many of these gave a plain question.

    `other_languages` counts the documents in a language that the templates do not know, by its code.
    """

    chunks: int
    statements: int
    asked: int
    other_languages: dict[str, int] = {}


class TargetLeak(Struct, frozen=True):
    """The chunks that a target showed on a candidate to a user who may not see them. The candidate is kept."""

    target: str
    case: str
    chunks: tuple[str, ...]


class DraftReport(Struct, frozen=True):
    """The candidates that are left, those that were thrown away, and what a model was asked for them.

    `leaks` are those of the targets on which the candidates were tried.

    `reading` and `gaps` say what was read, and of which kinds there are too few candidates and why; `documents` are
    those that no candidate is about.
    """

    kept: tuple[Candidate, ...]
    rejected: tuple[RejectedCandidate, ...]
    effort: ModelEffort | None = None
    reading: DraftReading | None = None
    gaps: tuple[KindGap, ...] = ()
    documents: tuple[DocumentGap, ...] = ()
    leaks: tuple[TargetLeak, ...] = ()

    @property
    def kinds(self) -> dict[str, int]:
        """How many candidates of each kind are left."""
        return dict(sorted(Counter(candidate.kind for candidate in self.kept).items()))

    @property
    def reasons(self) -> dict[RejectReason, int]:
        """How many candidates were thrown away for each reason."""
        return dict(sorted(Counter(rejected.reason for rejected in self.rejected).items()))


class ReviewDecision(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one person decided on one candidate; `edited` replaces fields of the case, `reason` says why.

    A decision that `settles` was made after people disagreed, and counts instead of theirs.
    """

    case: str
    decision: str
    reviewer: str
    reason: str = ""
    edited: dict[str, Any] = {}
    settles: bool = False


class LeftOpen(Struct, frozen=True):
    """A candidate that is accepted or rejected although some reviewers did not decide on it."""

    case: str
    reviewers: tuple[str, ...]


class FrozenSet(Struct, frozen=True):
    """What `golden freeze` wrote: the digest, and how many cases were accepted, rejected and not decided.

    `left_open` are the accepted ones on which some of several reviewers did not decide, with their names.
    `change` is what changed of the version before, if there is one; `to_look_at` are variants of updated cases that
    expect something of their own.
    """

    version: str
    digest: str
    cases: int
    rejected: int
    undecided: tuple[str, ...]
    left_open: tuple[LeftOpen, ...] = ()
    change: LineageEntry | None = None
    to_look_at: tuple[str, ...] = ()


class StarterSet(Struct, frozen=True):
    """What `golden init` wrote: the files, the ids of the example cases, and the digest of the set."""

    golden: str
    targets: str
    examples: tuple[str, ...]
    digest: str
