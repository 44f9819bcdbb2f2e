"""What all judge providers share: the protocol, requests, the contents of a reply, capabilities, and errors."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct

from assay.calls.interfaces import CallError
from assay.calls.retry import read_retry_after
from assay.judging.prompt import RenderedRequest
from assay.records.verdicts import JudgeIdentity

TOOL_NAME = "submit_labels"
TOOL_DESCRIPTION = "Submit the labels."
UNSUPPORTED_PATTERN = re.compile(
    r"unsupported|not supported|does not support|unrecogni[sz]ed|unknown|not permitted|deprecated|not allowed"
)


class Capabilities(Struct, frozen=True):
    """What an endpoint supports as far as is known: output mode, temperature, the field of the token limit."""

    mode: str
    temperature: bool = True
    token_limit_field: str = "max_tokens"  # noqa: S105 - the name of a field


@dataclass(frozen=True, slots=True)
class ProviderReply:
    """The contents of a reply: `content` is a text or decoded arguments; `unscored` is the reason if there is none."""

    content: Any = None
    unscored: str | None = None
    message: str = ""
    model: str | None = None
    fingerprint: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


@runtime_checkable
class Provider(Protocol):
    """One wire protocol, as pure functions; `output_modes` lists its output modes from the strictest."""

    output_modes: tuple[str, ...]

    def build_url(self, base: str) -> str:
        """Return the address to post to."""
        ...

    def build_headers(self, key: str, identity: JudgeIdentity) -> dict[str, str]:
        """Return the headers, with the key if there is one."""
        ...

    def build_body(
        self, rendered: RenderedRequest, identity: JudgeIdentity, capabilities: Capabilities
    ) -> dict[str, Any]:
        """Return the body of a request."""
        ...

    def reduce_capabilities(self, message: str, capabilities: Capabilities) -> Capabilities | None:
        """Return the capabilities without the one that an error complains about; None if it is about something else."""
        ...

    def read_reply(self, body: dict[str, Any]) -> ProviderReply:
        """Return the contents of a reply with status 200."""
        ...


@runtime_checkable
class QueryBuilder(Protocol):
    """A provider whose address has parameters."""

    def build_query(self, identity: JudgeIdentity) -> dict[str, str]:
        """Return the parameters of the address."""
        ...


def build_address(provider: Provider, base: str, identity: JudgeIdentity) -> str:
    """Return the whole address to post to; parameters of the base address are kept.

    >>> from assay.judging.azure import AzureProvider
    >>> identity = JudgeIdentity("azure", "cloud", "gpt", parameters={"api_version": "2024-10-21"})
    >>> build_address(AzureProvider(), "https://x.test/openai/deployments/gpt", identity)
    'https://x.test/openai/deployments/gpt/chat/completions?api-version=2024-10-21'
    """
    base, _, given_query = base.partition("?")
    query = dict(parse_qsl(given_query))
    if isinstance(provider, QueryBuilder):
        query |= provider.build_query(identity)
    url = provider.build_url(base)
    return f"{url}?{urlencode(query)}" if query else url


def join_endpoint(base: str, path: str) -> str:
    """Return the address of an operation: a base without a path gets `/v1`.

    >>> join_endpoint("http://127.0.0.1:8080", "chat/completions"), join_endpoint("https://x.test/api/v1/", "messages")
    ('http://127.0.0.1:8080/v1/chat/completions', 'https://x.test/api/v1/messages')
    """
    base = base.rstrip("/")
    if base.endswith("/" + path):
        return base
    bare = "/" not in base.partition("://")[2]
    return f"{base}/v1/{path}" if bare else f"{base}/{path}"


def next_output_mode(ladder: tuple[str, ...], mode: str) -> str | None:
    """Return the output mode after this one, None after the last."""
    next_index = ladder.index(mode) + 1
    return ladder[next_index] if next_index < len(ladder) else None


def read_token_count(usage: Any, key: str) -> int:
    """Return a reported number of tokens, 0 if it is not a valid number."""
    value = usage.get(key) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def read_short_text(value: Any) -> str | None:
    """Return the first 200 characters of a text, None for anything else."""
    return replace_surrogates(value)[:200] if isinstance(value, str) and value else None


def replace_surrogates(text: str) -> str:
    """Return a text that UTF-8 can encode: JSON may contain lone surrogates, which become `?`.

    >>> replace_surrogates("a\\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode()


class HttpRequest(Struct, frozen=True):
    """One POST. `headers` may hold the key and are never kept; `body` never holds it."""

    url: str
    headers: dict[str, str]
    body: bytes


class HttpReply(Struct, frozen=True):
    """One reply of any status; `headers`, in lower case, are kept only for failures."""

    status: int
    headers: dict[str, str]
    body: bytes
    latency_ms: float


HTTP_BAD_REQUEST = 400
SendRequest = Callable[[HttpRequest], Awaitable[HttpReply]]
"""Makes one call. Raises CallError if there is no reply (timeout, connection, tls, too_large)."""

_QUOTA = re.compile(r"insufficient_quota|quota_exceeded|credit balance is too low|billing", re.IGNORECASE)
_FILTERED = re.compile(r"content_filter|content management policy|ResponsibleAIPolicyViolation", re.IGNORECASE)
_BUSY = re.compile(r"rate.?limit|overloaded|too many requests", re.IGNORECASE)


def call_error_of_reply(reply: HttpReply, message: str) -> CallError:
    """Return the error of an unsuccessful reply: rate_limited, quota or http_<status>.

    >>> call_error_of_reply(HttpReply(429, {"retry-after": "2"}, b"slow down", 1.0), "slow down").retry_after
    2.0
    """
    wait = read_retry_after(reply.headers)
    if reply.status in (402, 403, 429) and _QUOTA.search(message):
        return CallError("quota", message)
    if reply.status == 429:
        return CallError("rate_limited", message, wait)
    return CallError(f"http_{reply.status}", message, wait)


def is_content_filtered(status: int, message: str) -> bool:
    """Return whether an error says that a filter refused the texts, which asking again does not change.

    >>> is_content_filtered(400, "content_filter: prompt: the response was filtered"), is_content_filtered(400, "no")
    (True, False)
    """
    return status == HTTP_BAD_REQUEST and _FILTERED.search(message) is not None


def call_error_of_message(message: str) -> CallError | None:
    """Return the error of a message that an overloaded endpoint sends with status 200; None for other messages."""
    if _QUOTA.search(message):
        return CallError("quota", message)
    return CallError("rate_limited", message) if _BUSY.search(message) else None
