"""What the handbook application passes from step to step: documents, chunks, users, hits, answers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Behaviour = Literal["answer", "abstain", "permission_denied"]


@dataclass(frozen=True, slots=True)
class Document:
    """One Markdown document after parsing: the fields of its front matter, and its sections as Markdown."""

    name: str
    version: str
    tenant: str
    roles: tuple[str, ...]
    valid_from: str
    valid_to: str | None
    body: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """One indexed piece of a document with what the access rules need to know about it."""

    chunk_id: str
    text: str
    document: str
    version: str
    section: str
    pages: tuple[int, ...]
    tenant: str
    roles: tuple[str, ...]
    valid_from: str
    valid_to: str | None
    kind: str

    @property
    def text_hash(self) -> str:
        """Return the SHA-256 of the text as it is indexed."""
        return "sha256:" + hashlib.sha256(self.text.encode()).hexdigest()

    def metadata(self) -> dict[str, Any]:
        """Return where the chunk comes from and who may see it, for the trace."""
        fields: dict[str, Any] = {
            "document": self.document,
            "version": self.version,
            "section": self.section,
            "pages": list(self.pages),
            "tenant": self.tenant,
            "roles": list(self.roles),
            "valid_from": self.valid_from,
            "kind": self.kind,
        }
        return fields if self.valid_to is None else fields | {"valid_to": self.valid_to}


@dataclass(frozen=True, slots=True)
class User:
    """Who is asking. Without a tenant there is nothing to see: an unknown caller is nobody's colleague."""

    tenant: str | None = None
    roles: frozenset[str] = frozenset()
    as_of: str | None = None

    @classmethod
    def of(cls, fields: Mapping[str, Any] | None) -> User:
        """Read `tenant`, `roles` and `as_of`; other fields (locale, position …) have no meaning in a handbook.

        Raises ValueError where a field has the wrong type: a wrong identity must never pass for a narrower one.
        """
        fields = fields or {}
        tenant, roles, as_of = fields.get("tenant"), fields.get("roles") or (), fields.get("as_of")
        if not (tenant is None or isinstance(tenant, str)):
            raise ValueError(f"tenant must be a string (got {tenant!r})")
        if isinstance(roles, str) or not all(isinstance(role, str) for role in roles):
            raise ValueError(f"roles must be a list of strings (got {roles!r})")
        if not (as_of is None or isinstance(as_of, str)):
            raise ValueError(f"as_of must be a date such as 2026-03-15 (got {as_of!r})")
        return cls(tenant, frozenset(roles), as_of)


class Hit(NamedTuple):
    """A chunk with the score that put it where it is in a ranking."""

    chunk: Chunk
    score: float


Ranking = list[Hit]


class Statement(NamedTuple):
    """A piece of an answer with the chunks that it rests on, best first."""

    text: str
    sources: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the application says and how it behaved; only an answer has sources."""

    behaviour: Behaviour
    statements: tuple[Statement, ...]
    prompt_tokens: int = 0
    completion_tokens: int | None = None

    @property
    def text(self) -> str:
        """Return the statements as one text."""
        return " ".join(statement.text for statement in self.statements)


def order(hits: Ranking) -> Ranking:
    """Return the hits best first; equal scores by chunk id, so that the order never depends on the input's."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id))
