"""Who may see which chunk, and which version is in force: filters that every search passes before it ranks."""

from __future__ import annotations

import re

from examples.handbook.app.records import Chunk, User

TODAY = "2026-03-15"
"""The day on which the handbook is read, unless the user names another: results must not depend on the clock."""

_TENANT = re.compile(r"\bcompany_\w+", re.IGNORECASE)


def visible(chunk: Chunk, user: User) -> bool:
    """Whether the chunk is the user's tenant's, and open to all or to one of the user's roles."""
    return chunk.tenant == user.tenant and (not chunk.roles or not user.roles.isdisjoint(chunk.roles))


def current(chunk: Chunk, as_of: str) -> bool:
    """Whether the chunk's document is in force on that day (ISO dates compare as text)."""
    return chunk.valid_from <= as_of and (chunk.valid_to is None or as_of < chunk.valid_to)


def may_be_told(chunk: Chunk, user: User, question: str) -> bool:
    """Whether a user may learn that a hidden chunk exists.

    Inside one's own tenant, yes: "you may not see this" helps to ask the right person. Of another tenant only where
    the question names that tenant, or a stranger could find out what other companies have written down.
    """
    return chunk.tenant == user.tenant or chunk.tenant in {name.lower() for name in _TENANT.findall(question)}
