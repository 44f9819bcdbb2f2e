"""Judges behind LiteLLM: every provider that the package knows, for those that speak no protocol of ours.

The package is optional and imported when a judge needs it. It makes no retries and sends no telemetry of its own: an
error comes back as the reply of an endpoint, so that retries, budgets and the loss of capabilities work as for others.
"""

from __future__ import annotations

import asyncio
import time
from importlib import import_module
from typing import Any, cast

import msgspec

from assay.calls.interfaces import CallError
from assay.judging.openai import OpenAIProvider
from assay.judging.provider import HttpReply, HttpRequest
from assay.records.errors import MissingExtraError
from assay.records.verdicts import JudgeIdentity

SUCCESS, UNKNOWN_FAILURE = 200, 500
DEFAULT_ADDRESS = "litellm:"
"""The base address that means the provider's own."""
_KEY_HEADER = "x-litellm-key"
_PACKAGE = "litellm"


class LiteLLMProvider(OpenAIProvider):
    """The provider of LiteLLM: requests and replies are those of chat completions, in the package's own calls."""

    def build_url(self, base: str) -> str:
        """Return the base address, which is handed to the package as it is."""
        return base

    def build_headers(self, key: str, identity: JudgeIdentity) -> dict[str, str]:
        """Return the key for the package; these headers are not sent by it."""
        return {_KEY_HEADER: key} if key else {}


class LiteLLMTransport:
    """Calls `litellm.acompletion` with the body of a request."""

    def __init__(self, seconds: float = 120.0) -> None:
        """`seconds` is the longest that one call may take. Raises MissingExtraError without the extra `litellm`."""
        try:
            self._package = cast(Any, import_module(_PACKAGE))
        except ImportError:
            raise MissingExtraError("protocol litellm", "litellm") from None
        self._package.telemetry = False
        self._seconds = seconds

    async def send(self, request: HttpRequest) -> HttpReply:
        """Make one call and return the reply, or the package's error as a reply with its status.

        Raises CallError: timeout, connection.
        """
        arguments = msgspec.json.decode(request.body)
        if request.url != DEFAULT_ADDRESS:
            arguments["api_base"] = request.url
        if _KEY_HEADER in request.headers:
            arguments["api_key"] = request.headers[_KEY_HEADER]
        start = time.monotonic()
        try:
            async with asyncio.timeout(self._seconds):
                completion = await self._package.acompletion(**arguments, num_retries=0, timeout=self._seconds)
        except TimeoutError:
            raise CallError("timeout", f"no reply in time ({self._seconds:g} s)") from None
        except Exception as error:  # noqa: BLE001  # the package has its own exceptions for each provider
            return _describe_failure(error, start)
        body = msgspec.json.encode(completion.model_dump())
        return HttpReply(SUCCESS, {}, body, round((time.monotonic() - start) * 1000, 3))

    async def aclose(self) -> None:
        """Nothing is kept open."""


def _describe_failure(error: Exception, start: float) -> HttpReply:
    """Return an error of the package as the reply that led to it. Raises CallError where there was no reply."""
    status = getattr(error, "status_code", None)
    name = type(error).__name__
    if name in ("APIConnectionError", "Timeout") and status not in (400, 404, 415, 422):
        code = "timeout" if name == "Timeout" else "connection"
        raise CallError(code, f"{name}: {error}") from None
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    body = msgspec.json.encode({"error": {"type": name, "message": str(error)}})
    return HttpReply(
        status if isinstance(status, int) and status != SUCCESS else UNKNOWN_FAILURE,
        {str(key).lower(): str(value) for key, value in dict(headers).items()},
        body,
        round((time.monotonic() - start) * 1000, 3),
    )
