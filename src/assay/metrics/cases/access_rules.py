"""Who may see which chunk: the visibility rule, and the sources of access fields.

The case's own evidence decides first, then the corpus, then what the target reports of its chunks. The last is marked
as self-reported, because a leaking system must not vouch for itself (ADR 0026).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from msgspec import Struct

from assay.records.golden_set import Corpus, CorpusChunk, User
from assay.records.observations import Chunk

_FIELDS = ("tenant", "roles", "position", "valid_from", "valid_to")


class Access(Struct, frozen=True):
    """The fields of a chunk that decide who may see it."""

    tenant: str | None = None
    roles: frozenset[str] = frozenset()
    position: float | None = None
    position_scope: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    @property
    def is_restricted(self) -> bool:
        """Whether anything restricts the chunk at all."""
        return self != _OPEN


_OPEN = Access()


def read_corpus_access(chunk: CorpusChunk) -> Access:
    """Return the access fields that the corpus states."""
    return Access(
        chunk.tenant,
        frozenset(chunk.roles),
        chunk.position,
        chunk.position_scope,
        chunk.valid_from,
        chunk.valid_to,
    )


def read_metadata_access(metadata: dict[str, Any]) -> Access:
    """Return the access fields that the target reports in the metadata of a chunk."""
    roles = metadata.get("roles") or metadata.get("acl_roles") or ()
    position = metadata.get("position")
    number = isinstance(position, (int, float)) and not isinstance(position, bool)
    return Access(
        _text(metadata, "tenant") or _text(metadata, "tenant_id"),
        frozenset(map(str, roles) if isinstance(roles, (list, tuple)) else [str(roles)]),
        position if number else None,
        _text(metadata, "position_scope"),
        _text(metadata, "valid_from"),
        _text(metadata, "valid_to"),
    )


def _text(metadata: dict[str, Any], key: str) -> str | None:
    value = metadata.get(key)
    return value if isinstance(value, str) else None


@lru_cache(maxsize=4096)
def parse_day(text: str) -> date | None:
    """Return the day that an ISO 8601 date or time names, None where it names none."""
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        return None


def is_visible(access: Access, user: User, as_of: str | None) -> bool:
    """Return whether a user may see a chunk (ADR 0026).

    Visible when the tenant is absent or the user's, the roles are empty or shared, the position is absent or lies
    before the user's in the same scope, and valid_from ≤ as_of, a missing bound being open. A chunk that has expired is
    outdated and no secret: it counts as stale (ADR 0039).

    >>> is_visible(Access(roles=frozenset({"hr"})), User(roles=("sales",)), None)
    False
    """
    if access.tenant is not None and access.tenant != user.tenant:
        return False
    if access.roles and access.roles.isdisjoint(user.roles):
        return False
    same_scope = access.position_scope is None or access.position_scope == user.position_scope
    if access.position is not None and user.position is not None and same_scope and access.position >= user.position:
        return False
    start = parse_day(access.valid_from) if access.valid_from else None
    now = parse_day(as_of) if as_of else None
    return start is None or now is None or start <= now


def has_expired(valid_to: str | None, as_of: str | None) -> bool:
    """Return whether valid_to ≤ as_of; never without both dates.

    >>> has_expired("2026-03-01", "2026-03-01"), has_expired("2026-03-01", None)
    (True, False)
    """
    end = parse_day(valid_to) if valid_to else None
    now = parse_day(as_of) if as_of else None
    return end is not None and now is not None and end <= now


def is_in_force(chunk: CorpusChunk, as_of: str | None) -> bool:
    """Return whether valid_from ≤ as_of < valid_to; a missing bound is open, and without a day all are in force.

    >>> chunk = CorpusChunk("a", valid_from="2026-02-01", valid_to="2026-03-01")
    >>> [is_in_force(chunk, day) for day in ("2026-01-31", "2026-02-01", "2026-03-01", None)]
    [False, True, False, True]
    """
    start = parse_day(chunk.valid_from) if chunk.valid_from else None
    now = parse_day(as_of) if as_of else None
    return (start is None or now is None or start <= now) and not has_expired(chunk.valid_to, as_of)


class SupersededVersions:
    """Which chunks of the corpus have expired, or belong to a version of a document that a newer one has replaced."""

    def __init__(
        self, corpus: Corpus, as_of: str | None, find_chunks: Callable[[Chunk], Sequence[CorpusChunk]]
    ) -> None:
        """`find_chunks` returns the chunks of the corpus that a reported chunk is, by its id or its text."""
        self._find_chunks = find_chunks
        self._newest: dict[str, tuple[date, str]] = {}
        self._chunks = corpus.chunks
        self._as_of = as_of
        limit = parse_day(as_of) if as_of else None
        for chunk in corpus.chunks.values():
            start = parse_day(chunk.valid_from) if chunk.valid_from else None
            if chunk.document is None or chunk.version is None or start is None or (limit and start > limit):
                continue
            newest = self._newest.get(chunk.document)
            if newest is None or (start, chunk.version) > newest:
                self._newest[chunk.document] = (start, chunk.version)

    def find_end(self, chunk_id: str) -> str | None:
        """Return the day from which a chunk was not in force any more, None for one that is, or that nothing dates."""
        chunk = self._chunks.get(chunk_id)
        if chunk is None:
            return None
        if has_expired(chunk.valid_to, self._as_of):
            return chunk.valid_to
        newest = None if chunk.document is None else self._newest.get(chunk.document)
        if chunk.version is None or newest is None or chunk.version == newest[1]:
            return None
        return newest[0].isoformat()

    def count_superseded(self, chunks: Iterable[Chunk]) -> int | None:
        """Return how many of these chunks are superseded or expired; None where the corpus dates none of them.

        A text that several chunks of the corpus have is superseded if it is so in all of them.
        """
        dated = superseded = 0
        for chunk in chunks:
            states = list(map(self._is_superseded, self._find_chunks(chunk)))
            if states and None not in states:
                dated += 1
                superseded += all(states)
        return superseded if dated else None

    def _is_superseded(self, corpus_chunk: CorpusChunk) -> bool | None:
        """Return whether a chunk of the corpus is superseded or expired; None where nothing dates it."""
        if has_expired(corpus_chunk.valid_to, self._as_of):
            return True
        if corpus_chunk.version is None or corpus_chunk.document not in self._newest:
            return None
        return corpus_chunk.version != self._newest[corpus_chunk.document][1]
