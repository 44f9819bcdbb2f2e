"""The Anthropic messages protocol: a forced tool call, or plain text with JSON if the endpoint has no tools."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from assay.judging.prompt import RenderedRequest
from assay.judging.provider import (
    TOOL_DESCRIPTION,
    TOOL_NAME,
    Capabilities,
    ProviderReply,
    join_endpoint,
    next_output_mode,
    read_short_text,
    read_token_count,
    replace_surrogates,
)
from assay.records.verdicts import JudgeIdentity

DEFAULT_API_VERSION = "2023-06-01"
"""The version of the protocol that accepts a temperature; settings may name another."""


class AnthropicProvider:
    """The provider of the messages protocol."""

    output_modes: tuple[str, ...] = ("tool", "text")

    def build_url(self, base: str) -> str:
        """Return the address to post to."""
        return join_endpoint(base, "messages")

    def build_headers(self, key: str, identity: JudgeIdentity) -> dict[str, str]:
        """Return the headers with the version of the protocol."""
        version = {"anthropic-version": str(identity.parameters.get("api_version", DEFAULT_API_VERSION))}
        return version | ({"x-api-key": key} if key else {})

    def build_body(
        self, rendered: RenderedRequest, identity: JudgeIdentity, capabilities: Capabilities
    ) -> dict[str, Any]:
        """Return the body of a request."""
        user = f"{rendered.user}\n{rendered.schema_text}" if capabilities.mode == "text" else rendered.user
        body: dict[str, Any] = {
            "model": identity.model,
            "max_tokens": identity.parameters["max_tokens"],
            "system": rendered.system,
            "messages": [{"role": "user", "content": user}],
        }
        if capabilities.temperature and "temperature" in identity.parameters:
            body["temperature"] = identity.parameters["temperature"]
        if capabilities.mode == "tool":
            body["tools"] = [{"name": TOOL_NAME, "description": TOOL_DESCRIPTION, "input_schema": rendered.schema}]
            body["tool_choice"] = {"type": "tool", "name": TOOL_NAME}
        return body

    def reduce_capabilities(self, message: str, capabilities: Capabilities) -> Capabilities | None:
        """Return the capabilities without the one that an error complains about; None if it is about something else."""
        message = message.lower()
        if capabilities.temperature and "temperature" in message:
            return structs.replace(capabilities, temperature=False)
        below = next_output_mode(self.output_modes, capabilities.mode)
        return structs.replace(capabilities, mode=below) if below and "tool" in message else None

    def read_reply(self, body: dict[str, Any]) -> ProviderReply:
        """Return the contents of a reply: the input of its tool call, else its text."""
        usage = body.get("usage")
        prompt = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        reply_facts: dict[str, Any] = {
            "model": read_short_text(body.get("model")),
            "prompt_tokens": sum(read_token_count(usage, key) for key in prompt),
            "completion_tokens": read_token_count(usage, "output_tokens"),
        }
        content, stop = body.get("content"), body.get("stop_reason")
        if stop in ("max_tokens", "model_context_window_exceeded"):
            return ProviderReply(None, "truncated", "the reply was cut at the token limit", **reply_facts)
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
        if stop == "refusal":
            return ProviderReply(
                None, "refused", replace_surrogates("".join(texts)) or "the judge refused", **reply_facts
            )
        if not blocks:
            return ProviderReply(None, "provider", "the reply holds no content", **reply_facts)
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        if len(calls) > 1:
            return ProviderReply(None, "judge_parse", "the judge submitted more than once", **reply_facts)
        return ProviderReply(calls[0].get("input") if calls else "".join(texts), **reply_facts)
