"""Who may see which chunk: the visibility rule, and the sources of access fields.

The case's own evidence decides first, then the corpus, then what the target reports of its chunks. The last is marked
as self-reported, because a leaking system must not vouch for itself (ADR 0026).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from msgspec import Struct

from assay.records.errors import shorten_repr
from assay.records.golden_set import Corpus, CorpusChunk, User
from assay.records.observations import Chunk


class Access(Struct, frozen=True):
    """The fields of a chunk that decide who may see it."""

    tenant: str | None = None
    roles: frozenset[str] = frozenset()
    position: float | None = None
    position_scope: str | None = None

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


def is_visible(access: Access, user: User) -> bool:
    """Return whether a user may see a chunk (ADR 0026).

    Visible when the tenant is absent or the user's, the roles are empty or shared, and the position is absent or lies
    before the user's in the same scope. The day decides nothing: a chunk that has expired is outdated (ADR 0039), one
    that is not in force yet is early (ADR 0225), and neither is a secret.

    >>> is_visible(Access(roles=frozenset({"hr"})), User(roles=("sales",)))
    False
    """
    return explain_refusal(access, user) is None


def may_see_chunk(user: User | None, chunk: CorpusChunk) -> bool:
    """Return whether a user may see a chunk by what the corpus says; True where no user is stated.

    >>> chunk = CorpusChunk("c1", roles=("hr",))
    >>> may_see_chunk(User(roles=("sales",)), chunk), may_see_chunk(None, chunk)
    (False, True)
    """
    return user is None or is_visible(read_corpus_access(chunk), user)


def explain_refusal(access: Access, user: User) -> str | None:
    """Return why a user may not see a chunk, in words; None if they may.

    >>> explain_refusal(Access(tenant="north"), User(tenant="south"))
    'it is of tenant north, the user of tenant south'
    """
    if access.tenant is not None and access.tenant != user.tenant:
        theirs = f"of tenant {user.tenant}" if user.tenant is not None else "of none"
        return f"it is of tenant {access.tenant}, the user {theirs}"
    if access.roles and access.roles.isdisjoint(user.roles):
        roles, theirs = ", ".join(sorted(access.roles)), ", ".join(sorted(user.roles))
        return f"it is for {_count_roles(access.roles)} {roles}, the user has {theirs or 'none'}"
    same_scope = access.position_scope is None or access.position_scope == user.position_scope
    if access.position is not None and user.position is not None and same_scope and access.position >= user.position:
        return f"it stands at position {access.position:g}, the user is at {user.position:g}"
    return None


def _count_roles(roles: frozenset[str]) -> str:
    return "the role" if len(roles) == 1 else "the roles"


def has_expired(valid_to: str | None, as_of: str | None) -> bool:
    """Return whether valid_to ≤ as_of; never without both dates.

    >>> has_expired("2026-03-01", "2026-03-01"), has_expired("2026-03-01", None)
    (True, False)
    """
    end = parse_day(valid_to) if valid_to else None
    now = parse_day(as_of) if as_of else None
    return end is not None and now is not None and end <= now


def is_early(valid_from: str | None, as_of: str | None) -> bool:
    """Return whether as_of < valid_from: a chunk that is not in force yet; never without both dates.

    >>> is_early("2026-03-02", "2026-03-01"), is_early("2026-03-01", "2026-03-01"), is_early("2026-03-01", None)
    (True, False, False)
    """
    start = parse_day(valid_from) if valid_from else None
    now = parse_day(as_of) if as_of else None
    return start is not None and now is not None and now < start


def is_in_force(chunk: CorpusChunk, as_of: str | None) -> bool:
    """Return whether valid_from ≤ as_of < valid_to; a missing bound is open, and without a day all are in force.

    >>> chunk = CorpusChunk("a", valid_from="2026-02-01", valid_to="2026-03-01")
    >>> [is_in_force(chunk, day) for day in ("2026-01-31", "2026-02-01", "2026-03-01", None)]
    [False, True, False, True]
    """
    return not is_early(chunk.valid_from, as_of) and not has_expired(chunk.valid_to, as_of)


class SupersededVersions:
    """Which chunks of the corpus have expired, or belong to a version of a document that a newer one has replaced; and
    which are not in force yet."""

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
        if is_early(chunk.valid_from, self._as_of):
            return None
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

    def count_early(self, chunks: Iterable[Chunk]) -> int | None:
        """Return how many of these chunks are not in force yet; None where nothing dates one of them, or no day is
        known.

        A text that several chunks of the corpus have is early if it is so in all of them.
        """
        dated = early = 0
        for chunk in chunks:
            starts = [corpus_chunk.valid_from for corpus_chunk in self._find_chunks(chunk)]
            if any(starts) and self._as_of is not None:
                dated += 1
                early += all(is_early(start, self._as_of) for start in starts)
        return early if dated else None

    def _is_superseded(self, corpus_chunk: CorpusChunk) -> bool | None:
        """Return whether a chunk of the corpus is superseded or expired; None where nothing dates it."""
        if has_expired(corpus_chunk.valid_to, self._as_of):
            return True
        if is_early(corpus_chunk.valid_from, self._as_of):
            return False
        if corpus_chunk.version is None or corpus_chunk.document not in self._newest:
            return None
        return corpus_chunk.version != self._newest[corpus_chunk.document][1]


class ValidityGap(Struct, frozen=True):
    """A document of which no version is in force on `day`: one ends on it, which is excluded, the next begins later."""

    document: str
    day: str


def find_validity_gaps(chunks: Iterable[CorpusChunk]) -> list[ValidityGap]:
    """Return the documents and days that a last valid day in `valid_to` leaves out, each once, in order.

    The day of `valid_to` is the first on which a chunk does not hold. Where it is the day before another version of the
    document begins, whoever wrote it most likely meant the last day on which it holds.

    >>> old = CorpusChunk("a", document="fees", version="1", valid_to="2026-08-23")
    >>> new = CorpusChunk("b", document="fees", version="2", valid_from="2026-08-24")
    >>> find_validity_gaps([old, new])
    [ValidityGap(document='fees', day='2026-08-23')]
    """
    begins: dict[str, dict[date, set[str | None]]] = {}
    ends: dict[str, dict[date, set[str | None]]] = {}
    for chunk in chunks:
        if chunk.document is None:
            continue
        for text, days in ((chunk.valid_from, begins), (chunk.valid_to, ends)):
            day = parse_day(text) if text else None
            if day is not None:
                days.setdefault(chunk.document, {}).setdefault(day, set()).add(chunk.version)
    gaps = []
    for document, last_days in sorted(ends.items()):
        starts = begins.get(document, {})
        for last_day, versions in sorted(last_days.items()):
            following = starts.get(last_day + timedelta(days=1), set()) - versions
            if following and last_day not in starts:
                gaps.append(ValidityGap(document, last_day.isoformat()))
    return gaps


def describe_validity_gap(gaps: Sequence[ValidityGap]) -> str:
    """Return what is most likely meant by the days that leave documents without a version in force."""
    first = gaps[0]
    after = (date.fromisoformat(first.day) + timedelta(days=1)).isoformat()
    more = f", and so in {len(gaps) - 1} more" if len(gaps) > 1 else ""
    return (
        f"{shorten_repr(first.document)} has no version in force on {first.day}: one has valid_to {first.day}, "
        f"which is its first day without force, and the next begins on {after}{more}; "
        f"if it holds to the end of {first.day}, write valid_to {after}"
    )
