"""The records: facts (what was expected and what was observed) and the findings computed from them.

Facts are frozen msgspec Structs and correspond exactly to the native files. Findings can be recomputed from facts.
`None` means "not reported"; it never stands for zero or an empty list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct

SCHEMA_VERSION = 1

Behaviour = Literal["answer", "abstain", "permission_denied", "escalate", "clarify"]
GOLDEN_KEYS_UNREAD = "golden-set keys that were not read: "
"""How the note begins, after the name of the file, that lists what a golden set holds and nobody looks at."""
GOLDEN_KEYS_TAKEN = "golden-set columns read as attributes, for slices and gates: "
"""How the note begins that lists the columns of rows that became attributes, each with an example of a slice."""
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)
Difficulty = Literal["easy", "medium", "hard", "unknown"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
Judgments = Literal["complete", "partial"]
AnswerKind = Literal["text", "exact", "number"]
Importance = Literal["vital", "okay"]
PEOPLE = "people"
AlikeKind = Literal[
    "paraphrase", "no-diacritic", "typos", "case", "acronym", "other-language", "polite-filler", "question-order"
]
DifferingKind = Literal["other-user", "other-tenant", "other-date", "negated", "entity-swapped"]
ALIKE_KINDS: tuple[AlikeKind, ...] = get_args(AlikeKind)
"""Kinds of variants that a system should treat as it treats the case that they vary."""
DIFFERING_KINDS: tuple[DifferingKind, ...] = get_args(DifferingKind)
"""Kinds of variants of which the right answer is another one."""

NonNegative = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]
Grade = Annotated[int, Meta(ge=0, le=10)]
Position = Annotated[int, Meta(ge=1)]

Selector = dict[str, str | int]


# ── what was expected ────────────────────────────────────────────────────────────────────────────────────────────

BUILT_IN_SLICE_KEYS = ("tag", "difficulty", "behaviour", "language", "kind")
"""The keys of slices that read a field of a case; an attribute of such a name could never be asked for."""


class User(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The user who asks the question: decides what may be shown (tenant, roles, position) and in which language."""

    tenant: str | None = None
    roles: tuple[str, ...] = ()
    position: float | None = None
    position_scope: str | None = None
    locale: str | None = None
    as_of: str | None = None
    id: str | None = None


class Evidence(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One unit of evidence. A chunk covers it if the chunk matches any of its selectors."""

    any_of: tuple[Selector, ...]
    grade: Grade = 3
    required: bool = True
    reason: str = ""
    quote: str | None = None
    text_hash: str | None = None
    kind: str | None = None


class Rubric(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What deterministic metrics look for in the text of the answer."""

    correct_keywords: tuple[str, ...] = ()
    incorrect_patterns: tuple[str, ...] = ()
    match: Literal["any", "all"] = "any"
    kind: AnswerKind = "text"
    tolerance: NonNegative = 0.0


class AnswerFormat(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The form that an answer must have: a pattern that occurs in it, a JSON schema, a length without outer spaces."""

    pattern: str | None = None
    json_schema: dict[str, Any] | None = None
    min_chars: Count | None = None
    max_chars: Count | None = None
    min_words: Count | None = None
    max_words: Count | None = None


class Nugget(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A fact that a good answer states: a short text, whether it is vital or just okay, its quote and the chunk of it.

    `graded_by` says who wrote and graded it: "people", or what drafted it.
    """

    text: Annotated[str, Meta(min_length=1)]
    importance: Importance = "vital"
    quote: str | None = None
    source: str | None = None
    graded_by: str = PEOPLE


class Turn(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One earlier turn of the conversation."""

    role: Literal["user", "assistant"]
    text: str


class AnswerLabel(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a person decided about one answer, which `answer_hash` identifies.

    `metric` is `correct_answer`, of which the label is `right` or `wrong`, or `behaviour`, of which it is the behaviour
    that the answer shows; `unclear` decides nothing. `sample` is the size of the random sample of passed answers for
    which it was read, None for any other label.
    """

    metric: Literal["correct_answer", "behaviour"]
    label: str
    rater: str
    answer_hash: str
    note: str = ""
    sample: int | None = None


class Case(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One question and the expected behaviour of the system.

    If the expected behaviour is `permission_denied`, the listed evidence is the forbidden set: it counts for leaks and
    not for recall. `attributes` are free slice keys (`category`, `domain`, …); `metadata` is passed through unread.
    `variant_of` is the id of the case that this one varies in the way that `variant` names; both are stated or neither.
    `answer_labels` are what people decided about answers to it; they expect nothing, and the digest of the golden set
    does not depend on them.
    """

    id: str
    question: str
    behaviour: Behaviour = "answer"
    also_accept: tuple[Behaviour, ...] = ()
    reference: str | None = None
    must_have: tuple[str, ...] = ()
    rubric: Rubric | None = None
    answer_format: AnswerFormat | None = None
    evidence: tuple[Evidence, ...] = ()
    must_cite: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    forbidden: tuple[Selector, ...] = ()
    forbidden_text: tuple[str, ...] = ()
    user: User | None = None
    tags: tuple[str, ...] = ()
    difficulty: Difficulty = "unknown"
    language: str | None = None
    cluster: str | None = None
    history: tuple[Turn, ...] = ()
    attributes: dict[str, str] = {}
    notes: str = ""
    metadata: dict[str, Any] = {}
    variant_of: str | None = None
    variant: AlikeKind | DifferingKind | None = None
    nuggets: tuple[Nugget, ...] = ()
    answer_labels: tuple[AnswerLabel, ...] = ()


class SilencedRule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A rule of `golden lint` that is not applied to some cases (to none in particular: to the whole set), and why."""

    rule: str
    reason: Annotated[str, Meta(min_length=1)]
    cases: tuple[str, ...] = ()


class Verification(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What `golden verify` last saw: when, at which target and version of its index, and what was not as labelled."""

    verified_at: str
    target: str
    index_version: str = ""
    cases_digest: str = ""
    found: int = 0
    missing: int = 0
    faults: tuple[str, ...] = ()


class UpdatedCase(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A case that asks or expects something else than in the version before, and the fields that are other ones."""

    case: str
    fields: tuple[str, ...]


class RetiredCase(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A case of the version before that was taken out, and why."""

    case: str
    reason: Annotated[str, Meta(min_length=1)]


class LineageEntry(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a version of a golden set changed of the version before, of which `base` is the digest.

    `as_of` is the day of the set if it is another one.
    """

    version: str
    base: str
    added: tuple[str, ...] = ()
    updated: tuple[UpdatedCase, ...] = ()
    retired: tuple[RetiredCase, ...] = ()
    as_of: str | None = None

    def describe(self) -> str:
        """Return how many cases were added, updated and retired, and the day if it is another one.

        >>> LineageEntry("2", "sha256:0", ("a",), retired=(RetiredCase("b", "sold"),)).describe()
        '1 added, 0 updated, 1 retired'
        """
        text = f"{len(self.added)} added, {len(self.updated)} updated, {len(self.retired)} retired"
        return f"{text}; as of {self.as_of}" if self.as_of is not None else text

    def list_changes(self) -> str:
        """Return which cases were added, updated (which fields) and retired (why), in one line.

        >>> LineageEntry("2", "sha256:0", ("a",), (UpdatedCase("b", ("reference",)),)).list_changes()
        'added: a; updated: b (reference)'
        """
        updated = [f"{row.case} ({', '.join(row.fields)})" for row in self.updated]
        retired = [f"{row.case} ({row.reason})" for row in self.retired]
        named = (("added", self.added), ("updated", updated), ("retired", retired))
        return "; ".join(f"{word}: {', '.join(cases)}" for word, cases in named if cases)


def _is_signed(case: Case) -> bool:
    """Return whether a case says who accepted it, which `assay golden freeze` writes and nothing else."""
    provenance = case.metadata.get("provenance")
    return isinstance(provenance, Mapping) and bool(provenance.get("accepted_by"))


class GoldenSet(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A named set of cases, identified by its digest. `judgments` says whether unlisted chunks were judged.

    `lineage` are the versions since the first one, each with what it changed of the one before.
    `silenced`, `verification` and `frozen_digest` are notes about the set; its digest does not depend on them.
    """

    cases: tuple[Case, ...]
    name: str = ""
    version: str = ""
    split: str = ""
    owner: str = ""
    changelog: tuple[str, ...] = ()
    corpus_version: str = ""
    judgments: Judgments = "complete"
    as_of: str | None = None
    schema_version: int = SCHEMA_VERSION
    lineage: tuple[LineageEntry, ...] = ()
    silenced: tuple[SilencedRule, ...] = ()
    verification: Verification | None = None
    frozen_digest: str = ""

    @property
    def was_frozen(self) -> bool:
        """Whether this set was frozen once, whatever its header says now: it has a lineage, or a case has a signature.

        A changelog is no sign, because sets that were never frozen have one.
        """
        return bool(self.frozen_digest or self.lineage or any(map(_is_signed, self.cases)))

    @property
    def ancestors(self) -> frozenset[str]:
        """The digests of the versions that this one was made from, one after another."""
        return frozenset(change.base for change in self.lineage)


PLACEHOLDER_PREFIX = "Replace this:"
"""How the questions of the golden sets that `assay init` writes begin."""


def find_placeholders(golden: GoldenSet) -> list[str]:
    """Return the ids of cases whose question is still the one that `assay init` wrote, in golden order.

    >>> find_placeholders(GoldenSet((Case("a", "Replace this: a question"), Case("b", "How many days?"))))
    ['a']
    """
    return [case.id for case in golden.cases if case.question.lstrip().startswith(PLACEHOLDER_PREFIX)]


class CorpusChunk(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the index should hold for one chunk: the reference for access rules and text."""

    chunk_id: str
    text: str | None = None
    text_hash: str | None = None
    document: str | None = None
    version: str | None = None
    section: str | None = None
    pages: tuple[int, ...] = ()
    path: str | None = None
    tenant: str | None = None
    roles: tuple[str, ...] = ()
    position: float | None = None
    position_scope: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    kind: str | None = None
    chunking_strategy: str | None = None
    index_version: str | None = None
    metadata: dict[str, Any] = {}


class Corpus(Struct, frozen=True):
    """The chunks of the corpus by id."""

    chunks: dict[str, CorpusChunk]
    digest: str = ""

    def count_restricted(self) -> int:
        """Return how many chunks only some users may see."""
        return sum(bool(chunk.tenant or chunk.roles) for chunk in self.chunks.values())
