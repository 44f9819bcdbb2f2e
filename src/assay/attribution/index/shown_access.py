"""Who asked in a run, and to whom its traces show which chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from assay.metrics.cases.access_rules import Access, read_corpus_access
from assay.records.golden_set import Corpus, User
from assay.records.observations import Stage

_MIN_TRACES = 10
"""From how many traces of a user on it tells something that none of them shows a chunk."""
_AccessKey = tuple[str | None, tuple[str, ...]]
"""A tenant, and roles in order."""


class ShownAccess(Struct):
    """The users of a run, by tenant and roles, and the chunks that they were shown.

    `served_users` are the users for whom any stage returned a chunk, `shown_to` the users for whom each chunk was shown
    and `asked_by` the traces of each user. `kept_shown_to` are the users for whom chunks of each kind of restricted
    access were shown, `kept_expected` the chunks of that kind that the cases of each user need.
    """

    corpus: Corpus
    served_users: set[_AccessKey] = field(default_factory=set)
    shown_to: dict[str, set[_AccessKey]] = field(default_factory=dict)
    asked_by: Counter[_AccessKey] = field(default_factory=Counter)
    kept_shown_to: dict[_AccessKey, set[_AccessKey]] = field(default_factory=dict)
    kept_expected: dict[tuple[_AccessKey, _AccessKey], set[str]] = field(default_factory=dict)
    _access_keys: dict[str, _AccessKey | None] = field(default_factory=dict)

    def add_trace(self, stages: Sequence[Stage], user: User | None, needed_ids: Iterable[str]) -> None:
        """Add the stages of one observation, who asked, and the chunks that the case needs by their ids."""
        user_key = _make_user_key(user)
        self.asked_by[user_key] += 1
        if any(stage.chunks for stage in stages):
            self.served_users.add(user_key)
        for chunk_id in needed_ids:
            access_key = self._get_access_key(chunk_id)
            if access_key is not None:
                self.kept_expected.setdefault((access_key, user_key), set()).add(chunk_id)
        for chunk in [chunk for stage in stages for chunk in stage.chunks]:
            self.shown_to.setdefault(chunk.chunk_id, set()).add(user_key)
            access_key = self._get_access_key(chunk.chunk_id)
            if access_key is not None:
                self.kept_shown_to.setdefault(access_key, set()).add(user_key)

    def is_served(self, user: User | None) -> bool:
        """Whether any trace of a user with the same tenant and roles has a chunk."""
        return _make_user_key(user) in self.served_users

    def is_hidden_from(self, user: User | None, chunk_ids: Sequence[str]) -> bool:
        """Whether the run shows chunks to users with another tenant or other roles, and in none of many traces of users
        with these."""
        viewers = {viewer for chunk_id in chunk_ids for viewer in self.shown_to.get(chunk_id, ())}
        own = _make_user_key(user)
        return bool(viewers) and own not in viewers and self.asked_by[own] >= _MIN_TRACES

    def _get_access_key(self, chunk_id: str) -> _AccessKey | None:
        """Return the kind of access to a chunk, None if the corpus keeps it for nobody."""
        if chunk_id not in self._access_keys:
            corpus_chunk = self.corpus.chunks.get(chunk_id)
            access = read_corpus_access(corpus_chunk) if corpus_chunk is not None else None
            is_kept = access is not None and is_kept_for_some(access)
            self._access_keys[chunk_id] = _make_access_key(access) if access is not None and is_kept else None
        return self._access_keys[chunk_id]

    def shows_kept(self, access: Access, user: User | None) -> bool:
        """Whether any trace of a user with the same tenant and roles shows a chunk with this access; without a user,
        any trace."""
        viewers = self.kept_shown_to.get(_make_access_key(access), set())
        return bool(viewers) if user is None else _make_user_key(user) in viewers

    def count_expected(self, access: Access, user: User | None) -> int:
        """Return how many chunks with this access the cases of users with the same tenant and roles need."""
        return len(self.kept_expected.get((_make_access_key(access), _make_user_key(user)), ()))


def is_kept_for_some(access: Access) -> bool:
    """Return whether a chunk is for users of a tenant or with a role only."""
    return access.tenant is not None or bool(access.roles)


def _make_access_key(access: Access) -> _AccessKey:
    return access.tenant, tuple(sorted(access.roles))


def _make_user_key(user: User | None) -> tuple[str | None, tuple[str, ...]]:
    return (None, ()) if user is None else (user.tenant, tuple(sorted(user.roles)))
