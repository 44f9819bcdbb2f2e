"""The OpenAI chat completions protocol, which most servers speak; what each of them supports shows in its replies.

Output modes are tried from the strictest: a strict JSON schema, a forced tool call, JSON mode, plain text with JSON.
"""

from __future__ import annotations

from typing import Any

from msgspec import structs

from assay.judging.prompt import RenderedRequest
from assay.judging.provider import (
    TOOL_DESCRIPTION,
    TOOL_NAME,
    UNSUPPORTED_PATTERN,
    Capabilities,
    ProviderReply,
    join_endpoint,
    next_output_mode,
    read_short_text,
    read_token_count,
    replace_surrogates,
)
from assay.records.verdicts import JudgeIdentity

# The words of an error by which an output mode is recognised as its cause.
_COMPLAINTS = {
    "json_schema": ("response_format", "json_schema", "json schema", "structured output", "schema", "grammar"),
    "tool": ("tool", "function"),
    "json_object": ("response_format", "json_object", "json mode"),
    "text": (),
}


class OpenAIProvider:
    """The provider of the chat completions protocol."""

    output_modes: tuple[str, ...] = ("json_schema", "tool", "json_object", "text")

    def build_url(self, base: str) -> str:
        """Return the address to post to."""
        return join_endpoint(base, "chat/completions")

    def build_headers(self, key: str, identity: JudgeIdentity) -> dict[str, str]:
        """Return the headers; without a key there is no authorization header."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def build_body(
        self, rendered: RenderedRequest, identity: JudgeIdentity, capabilities: Capabilities
    ) -> dict[str, Any]:
        """Return the body of a request; modes without a schema parameter describe the schema in the prompt."""
        in_text = capabilities.mode in ("json_object", "text")
        user = f"{rendered.user}\n{rendered.schema_text}" if in_text else rendered.user
        body: dict[str, Any] = {
            "model": identity.model,
            "messages": [{"role": "system", "content": rendered.system}, {"role": "user", "content": user}],
            capabilities.token_limit_field: identity.parameters["max_tokens"],
        }
        if capabilities.temperature and "temperature" in identity.parameters:
            body["temperature"] = identity.parameters["temperature"]
        if capabilities.mode == "json_schema":
            schema = {"name": TOOL_NAME, "strict": True, "schema": rendered.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif capabilities.mode == "tool":
            function = {"name": TOOL_NAME, "description": TOOL_DESCRIPTION, "parameters": rendered.schema}
            body["tools"] = [{"type": "function", "function": function}]
            body["tool_choice"] = {"type": "function", "function": {"name": TOOL_NAME}}
        elif capabilities.mode == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def reduce_capabilities(self, message: str, capabilities: Capabilities) -> Capabilities | None:
        """Return the capabilities without the one that an error complains about; None if it is about something else."""
        message = message.lower()
        if "context length" in message or "context_length" in message:
            return None  # such errors list parts of the request, which must not be taken for complaints about them
        if capabilities.token_limit_field == "max_tokens" and "max_completion_tokens" in message:  # noqa: S105
            return structs.replace(capabilities, token_limit_field="max_completion_tokens")  # noqa: S106
        if capabilities.token_limit_field in message and UNSUPPORTED_PATTERN.search(message):
            other_fields = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
            return structs.replace(capabilities, token_limit_field=other_fields[capabilities.token_limit_field])
        if capabilities.temperature and "temperature" in message:
            return structs.replace(capabilities, temperature=False)
        below = next_output_mode(self.output_modes, capabilities.mode)
        if below and any(word in message for word in _COMPLAINTS[capabilities.mode]):
            return structs.replace(capabilities, mode=below)
        return None

    def read_reply(self, body: dict[str, Any]) -> ProviderReply:
        """Return the contents of a reply: its tool call, else its text; a server may ignore the requested mode."""
        usage = body.get("usage")
        reply_facts: dict[str, Any] = {
            "model": read_short_text(body.get("model")),
            "fingerprint": read_short_text(body.get("system_fingerprint")),
            "prompt_tokens": read_token_count(usage, "prompt_tokens"),
            "completion_tokens": read_token_count(usage, "completion_tokens"),
        }
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            return ProviderReply(None, "provider", "the reply holds no message", **reply_facts)
        finish, refusal = choice.get("finish_reason"), message.get("refusal")
        if finish == "length":
            return ProviderReply(None, "truncated", "the reply was cut at the token limit", **reply_facts)
        if refusal or (isinstance(finish, str) and finish.startswith("content_filter")):
            return ProviderReply(
                None, "refused", replace_surrogates(str(refusal or "stopped by a content filter")), **reply_facts
            )
        calls = message.get("tool_calls") or []
        if not isinstance(calls, list) or len(calls) > 1:
            return ProviderReply(None, "judge_parse", "the judge submitted more than once", **reply_facts)
        function = calls[0].get("function") if calls and isinstance(calls[0], dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        return ProviderReply(_text(message.get("content")) if arguments is None else arguments, **reply_facts)


def _text(content: Any) -> Any:
    """Return the text of a message, also if it comes in parts."""
    if not isinstance(content, list):
        return content
    return "".join(
        str(part["text"]) for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
    )
