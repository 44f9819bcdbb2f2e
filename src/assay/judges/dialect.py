"""What both protocols have in common: what a judge is asked with, what it said, and what its endpoint cannot do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Protocol

from msgspec import Struct

from assay.judges.render import Rendered
from assay.verdict import JudgeIdentity

TOOL = "submit_labels"
TOOL_SAYS = "Submit the labels."
UNSUPPORTED = re.compile(
    r"unsupported|not supported|does not support|unrecogni[sz]ed|unknown|not permitted|deprecated|not allowed"
)


class Able(Struct, frozen=True):
    """What an endpoint is taken to understand: the rung of the ladder, temperature, the name of the token limit."""

    mode: str
    temperature: bool = True
    limit: str = "max_tokens"


@dataclass(frozen=True, slots=True)
class Said:
    """What a reply says: `content` is a text or decoded arguments; `unscored` names why there is none."""

    content: Any = None
    unscored: str | None = None
    message: str = ""
    model: str | None = None
    fingerprint: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Dialect(Protocol):
    """One wire protocol, as pure functions."""

    ladder: tuple[str, ...]

    def url(self, base: str) -> str:
        """Return the address to post to."""
        ...

    def headers(self, key: str, identity: JudgeIdentity) -> dict[str, str]:
        """Return the headers, with the key where there is one."""
        ...

    def body(self, rendered: Rendered, identity: JudgeIdentity, able: Able) -> dict[str, Any]:
        """Return the body of a request."""
        ...

    def lacks(self, message: str, able: Able) -> Able | None:
        """Return what is left of `able` where an error complains of a part of it, None where of something else."""
        ...

    def read(self, body: dict[str, Any]) -> Said:
        """Return what a reply with status 200 says."""
        ...


def endpoint(base: str, path: str) -> str:
    """Return the address of an operation: a base without a path gets `/v1`.

    >>> endpoint("http://127.0.0.1:8080", "chat/completions"), endpoint("https://x.test/api/v1/", "messages")
    ('http://127.0.0.1:8080/v1/chat/completions', 'https://x.test/api/v1/messages')
    """
    base = base.rstrip("/")
    if base.endswith("/" + path):
        return base
    bare = "/" not in base.partition("://")[2]
    return f"{base}/v1/{path}" if bare else f"{base}/{path}"


def next_rung(ladder: tuple[str, ...], mode: str) -> str | None:
    """Return the rung below a mode, None below the last."""
    place = ladder.index(mode) + 1
    return ladder[place] if place < len(ladder) else None


def count(usage: Any, key: str) -> int:
    """Return a number of tokens as reported, 0 where it is not one."""
    value = usage.get(key) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def text_or_none(value: Any) -> str | None:
    """Return a short text, None for anything else."""
    return printable(value)[:200] if isinstance(value, str) and value else None


def printable(text: str) -> str:
    """Return a text that can be written down: JSON may hold half a character, UTF-8 may not.

    >>> printable("a\\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode()
