"""What all judge providers share: the provider protocol, the contents of a reply, the endpoint's capabilities."""

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
    """What an endpoint supports as far as is known: output mode, temperature, the field of the token limit."""

    mode: str
    temperature: bool = True
    limit: str = "max_tokens"


@dataclass(frozen=True, slots=True)
class Said:
    """The contents of a reply: `content` is a text or decoded arguments; `unscored` is the reason if there is none."""

    content: Any = None
    unscored: str | None = None
    message: str = ""
    model: str | None = None
    fingerprint: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Dialect(Protocol):
    """One wire protocol, as pure functions; `ladder` lists its output modes from the strictest."""

    ladder: tuple[str, ...]

    def url(self, base: str) -> str:
        """Return the address to post to."""
        ...

    def headers(self, key: str, identity: JudgeIdentity) -> dict[str, str]:
        """Return the headers, with the key if there is one."""
        ...

    def body(self, rendered: Rendered, identity: JudgeIdentity, able: Able) -> dict[str, Any]:
        """Return the body of a request."""
        ...

    def lacks(self, message: str, able: Able) -> Able | None:
        """Return the capabilities without the one that an error complains about; None if it is about something else."""
        ...

    def read(self, body: dict[str, Any]) -> Said:
        """Return the contents of a reply with status 200."""
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
    """Return the output mode after this one, None after the last."""
    next_index = ladder.index(mode) + 1
    return ladder[next_index] if next_index < len(ladder) else None


def count(usage: Any, key: str) -> int:
    """Return a reported number of tokens, 0 if it is not a valid number."""
    value = usage.get(key) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def text_or_none(value: Any) -> str | None:
    """Return the first 200 characters of a text, None for anything else."""
    return printable(value)[:200] if isinstance(value, str) and value else None


def printable(text: str) -> str:
    """Return a text that UTF-8 can encode: JSON may contain lone surrogates, which become `?`.

    >>> printable("a\\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode()
