"""Records of the audit store: one production answer, and what happened to it later (findings, erasures)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay.records.golden_set import Behaviour, Count, NonNegative, User
from assay.records.observations import Stage, TargetError, ToolCall

AUDIT_FIELDS = (
    "question",
    "user_uid",
    "retrieved_uids",
    "context_tokens",
    "model",
    "prompt_hash",
    "answer",
    "citations",
    "tool_calls",
    "latency_ms",
    "feedback",
)
"""The fields that a complete audit record has; completeness is the share of them that is there."""

Feedback = str | float | bool | dict[str, str | float | bool | None]
TimeSource = Literal["reported", "received"]
RecordKind = Literal["answer", "erasure", "finding"]


class AuditRecord(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One production answer as it is stored: without secrets, and with a pseudonym in place of the user.

    `at` is when the question was asked, in UTC; `time_source` is `received` where the producer gave no time.
    `redacted` counts what the redaction rules replaced, by rule.
    """

    id: str
    at: str
    time_source: TimeSource = "reported"
    config_id: str | None = None
    user_uid: str | None = None
    user: User | None = None
    question: str | None = None
    query_rewrite: str | None = None
    retrieved_uids: tuple[str, ...] | None = None
    stages: tuple[Stage, ...] | None = None
    context_tokens: Count | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    model: str | None = None
    prompt_hash: str | None = None
    versions: dict[str, str] = {}
    answer: str | None = None
    behaviour: Behaviour | None = None
    citations: tuple[str, ...] | None = None
    tool_calls: tuple[ToolCall, ...] | Count | None = None
    latency_ms: NonNegative | None = None
    cost_usd: NonNegative | None = None
    feedback: Feedback | None = None
    error: TargetError | None = None
    redacted: dict[str, Count] = {}


class StoredAnswer(Struct, frozen=True, omit_defaults=True, gc=False):
    """The bytes of an answer in the chain: the record without the texts of its chunks, and the keys of those texts.

    `texts` has one key for each chunk of each stage in their order, None for a chunk without text.
    """

    record: AuditRecord
    texts: tuple[str | None, ...] = ()


class Erasure(Struct, frozen=True, omit_defaults=True):
    """Which records were erased, as first and last sequence numbers of each range, and why.

    `changed` are those of them whose content was no longer what the chain had committed to.
    """

    ranges: tuple[tuple[int, int], ...]
    reason: Literal["user", "retention"]
    at: str
    changed: tuple[tuple[int, int], ...] = ()


class Finding(Struct, frozen=True, omit_defaults=True):
    """What people found out about an answer: the cause, who acts on it, and what was decided."""

    answer_id: str
    cause: str
    owner: str
    decision: str
    at: str


class DayRoot(Struct, frozen=True):
    """The end of one day's chain: how many records the store had by then, and the last link.

    `links` are those of every `CHECKPOINT_RECORDS`th record of the day, so that a rewritten store can be told from
    which record on it was rewritten.
    """

    day: str
    first: int
    last: int
    root: str
    links: tuple[tuple[int, str], ...] = ()


class SignedRoot(Struct, frozen=True, omit_defaults=True):
    """The root of a day with the person who signed it off. `signature` is there where a key was given."""

    root: DayRoot
    signed_by: str
    at: str
    signature: str | None = None
