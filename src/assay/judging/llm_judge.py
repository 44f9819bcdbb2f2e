"""A judge that is a language model behind an endpoint: renders, sends, parses strictly, repeats at most twice.

Retries of transient failures, waiting and the budget across calls are the work of the runner.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from assay.calls.interfaces import CallError
from assay.judging.anthropic import AnthropicProvider
from assay.judging.azure import AzureProvider
from assay.judging.independence import find_model_family
from assay.judging.litellm_client import LiteLLMProvider
from assay.judging.openai import OpenAIProvider
from assay.judging.prompt import (
    MAX_TEXT_CHARACTERS,
    MAX_TOTAL_CHARACTERS,
    PARSER_VERSION,
    RenderedRequest,
    render_request,
)
from assay.judging.provider import (
    Capabilities,
    HttpReply,
    HttpRequest,
    Provider,
    ProviderReply,
    SendRequest,
    build_address,
    call_error_of_message,
    call_error_of_reply,
    is_content_filtered,
    replace_surrogates,
)
from assay.judging.reply_parsing import (
    MAX_REPLY_CHARACTERS,
    ParsedReply,
    ReplyForm,
    ReplyProblem,
    decode_strict_json,
    parse_reply,
)
from assay.records.errors import InputError
from assay.records.plugin_table import PluginTable
from assay.records.verdicts import ItemVerdict, JudgeIdentity, JudgeRequest, JudgeRubric, JudgeUsage, Verdict
from assay.text.safety.planted_orders import has_order_to_judge

PROVIDERS: PluginTable[Provider] = PluginTable(
    "assay.judges",
    "judge provider",
    Provider,  # type: ignore[type-abstract]  # only compared with isinstance
    {
        "openai": OpenAIProvider(),
        "anthropic": AnthropicProvider(),
        "azure": AzureProvider(),
        "litellm": LiteLLMProvider(),
    },
    find_fault=lambda provider: "" if provider.output_modes else "no output modes (expected at least one)",
)
"""All providers by the name of their protocol. A new provider needs a row here."""
MAX_REPEATED_REQUESTS = 2
DEFAULT_MAX_TOKENS = 4096
EXTRA_PROMPT_TOKENS = 1000
"""Tokens beyond a request's bytes: the provider's framing of messages and tools, and the line of a repeated request."""
MAX_RAW_CHARACTERS = 20_000
MAX_MESSAGE_CHARACTERS = 500
CAPABILITY_STATUSES = frozenset({400, 404, 415, 422, 500, 501})
"""With these an endpoint may report that it does not support a part of the request."""

KeepRendered = Callable[[str, bytes], None]
"""Stores the redacted bytes of a request under their digest."""


def build_judge_identity(
    protocol: str,
    model: str,
    endpoint: str,
    *,
    family: str | None = None,
    temperature: float | None = 0.0,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    api_version: str | None = None,
    redaction: str | None = None,
) -> JudgeIdentity:
    """Return the identity of a judge: all that can change its verdicts. `endpoint` is an alias, not an address;
    `redaction` is the digest of the rules that act on what it is shown."""
    options = {
        "temperature": temperature,
        "max_tokens": max_tokens,
        "api_version": api_version,
        "redaction": redaction,
    }
    parameters = {key: value for key, value in options.items() if value is not None}
    return JudgeIdentity(protocol, endpoint, model, family or find_model_family(model), parameters, PARSER_VERSION)


class LLMJudge:
    """One judge. It remembers which capabilities its endpoint lacks."""

    def __init__(
        self,
        identity: JudgeIdentity,
        rubrics: Mapping[tuple[str, str], JudgeRubric],
        send: SendRequest,
        *,
        base_url: str,
        api_key: str = "",
        redact: Callable[[str], str] = str,
        usd_per_1k: tuple[float, float] | None = None,
        keep: KeepRendered | None = None,
        close: Callable[[], Awaitable[None]] | None = None,
        redact_input: Callable[[str], str] | None = None,
        forms: Mapping[str, ReplyForm] | None = None,
    ) -> None:
        """`send` makes one call; `redact` removes secrets from stored texts; `usd_per_1k` are the prices of 1,000
        prompt and completion tokens; `redact_input` acts on every text of a request before it is sent. `forms` are
        requests that are no rubric, by name: how each is rendered and its reply is read.

        Raises InputError for an unknown protocol and for an identity of another parser version.
        """
        if identity.protocol not in PROVIDERS:
            expected = ", ".join(PROVIDERS.list_names())
            raise InputError(f"judge protocol (got {identity.protocol!r}; expected one of {expected})")
        if identity.parser != PARSER_VERSION:
            raise InputError(f"judge identity of another parser (got {identity.parser!r}; expected {PARSER_VERSION!r})")
        self.identity = identity
        self._digest = identity.digest
        self._provider = PROVIDERS[identity.protocol]
        self._capabilities = Capabilities(self._provider.output_modes[0])
        self._rubrics = {rubric.hash: rubric for rubric in rubrics.values()}
        self._send, self._redact, self._keep, self._close = send, redact, keep, close
        self._url = build_address(self._provider, base_url, identity)
        self._headers = self._provider.build_headers(api_key, identity)
        self._prices, self._redact_input = usd_per_1k, redact_input
        self._forms = dict(forms or {})

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        """Return one sample, scored or unscored. Raises CallError if the endpoint gave no reply that can be parsed, and
        InputError for a rubric that the judge does not have."""
        rendered = self._render(request, sample)
        flags = list(rendered.flags) + (["injection"] if has_order_to_judge(request.inputs) else [])
        if "length" in flags:
            return self._too_long(request, sample, rendered, flags)
        exchange = _Exchange(rendered)
        result: ParsedReply | ReplyProblem = ReplyProblem("judge_parse", "never asked")
        for _ in range(1 + MAX_REPEATED_REQUESTS):
            try:
                result = await self._ask_once(exchange, request.rubric)
            except CallError as error:
                if not exchange.replies:
                    raise
                result = ReplyProblem(
                    "provider", str(error), final=True
                )  # earlier replies were paid for and stay counted
            if isinstance(result, ParsedReply) or result.final:
                break
            exchange.prompt = rendered.repeat_with_problem(result.message)
        return self._verdict(request, sample, exchange, result, flags)

    def estimate(self, request: JudgeRequest) -> tuple[int, int]:
        """Return the most tokens that a call can take: one per byte and the provider's framing, and the token limit."""
        return self._bytes(request) + EXTRA_PROMPT_TOKENS, int(self.identity.parameters["max_tokens"])

    def estimate_likely(self, request: JudgeRequest) -> tuple[int, int]:
        """Return roughly how many tokens a call takes: one per three bytes of the prompt, and 100 for each label."""
        return math.ceil(self._bytes(request) / 3), 40 + 100 * len(request.items)

    def _bytes(self, request: JudgeRequest) -> int:
        return len(msgspec.json.encode(self.build_body(request)))

    def build_body(self, request: JudgeRequest) -> dict[str, Any]:
        """Return the body of the first call for a request, as it would be sent."""
        return self._provider.build_body(self._render(request, 0), self.identity, self._capabilities)

    def _render(self, request: JudgeRequest, sample: int) -> RenderedRequest:
        """Return the texts for one sample, after redaction; the verdict is that on the request itself."""
        if self._redact_input is None:
            return self._render_as_is(request, sample)
        inputs = {name: redact_input(value, self._redact_input) for name, value in request.inputs.items()}
        redacted = msgspec.structs.replace(request, inputs=inputs)
        return msgspec.structs.replace(self._render_as_is(redacted, sample), request_digest=request.digest)

    def _render_as_is(self, request: JudgeRequest, sample: int) -> RenderedRequest:
        form = self._forms.get(request.rubric)
        if form is None:
            return render_request(request, self._rubric(request), self._digest, sample)
        if request.rubric_hash != form.digest:
            raise InputError(f"the judge has no form {request.rubric} with this text; it may have changed")
        return form.render(request, self._digest, sample)

    async def aclose(self) -> None:
        """Give back connections."""
        if self._close is not None:
            await self._close()

    def _rubric(self, request: JudgeRequest) -> JudgeRubric:
        rubric = self._rubrics.get(request.rubric_hash)
        if rubric is None:
            name = f"{request.rubric} {request.version} ({request.language})"
            raise InputError(f"the judge has no rubric {name} with this text; it may have changed since it was asked")
        return rubric

    async def _ask_once(self, exchange: _Exchange, rubric: str) -> ParsedReply | ReplyProblem:
        """Send a request, giving up capabilities that the endpoint lacks, each of them at most once."""
        while True:
            capabilities = self._capabilities
            exchange.sent = msgspec.json.encode(self._provider.build_body(exchange.prompt, self.identity, capabilities))
            exchange.capabilities = capabilities
            exchange.attempts += 1
            reply = await self._send(HttpRequest(self._url, self._headers, exchange.sent))
            exchange.latency_ms += reply.latency_ms
            if reply.status == 200:
                return self._read(reply, exchange, rubric)
            message = self._redact(read_error_message(reply.body))
            if is_content_filtered(reply.status, message):
                return ReplyProblem("refused", message, final=True)
            reduced = None
            if reply.status in CAPABILITY_STATUSES:
                reduced = self._provider.reduce_capabilities(message, capabilities)
            if reduced is None or exchange.attempts > 4 * (MAX_REPEATED_REQUESTS + 1):
                raise call_error_of_reply(reply, message)
            if self._capabilities == capabilities:  # another call may have reduced them meanwhile
                self._capabilities = reduced

    def _read(self, reply: HttpReply, exchange: _Exchange, rubric: str) -> ParsedReply | ReplyProblem:
        text = reply.body.decode("utf-8", "replace")
        exchange.replies.append(self._redact(text)[:MAX_RAW_CHARACTERS])
        body = decode_envelope(reply.body, text)
        if isinstance(body, ReplyProblem) or not isinstance(body, dict):
            return ReplyProblem("provider", "the endpoint's reply is not a JSON object", final=True)
        if body.get("error"):
            message = self._redact(read_error_message(reply.body))
            overload = call_error_of_message(message)
            if overload is not None:
                exchange.replies.pop()
                raise overload
            return ReplyProblem("provider", message, final=True)
        contents = self._provider.read_reply(body)
        exchange.add(contents)
        if contents.unscored is not None:
            return ReplyProblem(contents.unscored, contents.message, final=True)
        form = self._forms.get(rubric)
        return (parse_reply if form is None else form.parse)(contents.content, exchange.prompt)

    def _redacted(self, item: ItemVerdict) -> ItemVerdict:
        quote = None if item.quote is None else self._redact(item.quote)
        return msgspec.structs.replace(item, reasoning=self._redact(item.reasoning), quote=quote)

    def _too_long(self, request: JudgeRequest, sample: int, rendered: RenderedRequest, flags: list[str]) -> Verdict:
        """Return a sample that was not asked: a verdict on half a text does not measure the whole."""
        limits = f"{MAX_TEXT_CHARACTERS:,} characters of a text, {MAX_TOTAL_CHARACTERS:,} of all"
        return Verdict(
            request=rendered.request_digest,
            judge=self._digest,
            sample=sample,
            rubric=f"{request.rubric}@{request.version}",
            unscored="too_long",
            message=f"longer than a judge reads ({limits}): not asked",
            flags=tuple(flags),
            usage=JudgeUsage(attempts=0),
        )

    def _verdict(
        self,
        request: JudgeRequest,
        sample: int,
        exchange: _Exchange,
        result: ParsedReply | ReplyProblem,
        flags: list[str],
    ) -> Verdict:
        if len(exchange.replies) > 1:
            flags.append("repaired")
        flags.append(f"mode:{exchange.capabilities.mode}")
        if "temperature" in self.identity.parameters and not exchange.capabilities.temperature:
            flags.append("no_temperature")
        if exchange.fingerprint:
            flags.append(f"fingerprint:{self._redact(exchange.fingerprint)}")
        if isinstance(result, ParsedReply):
            flags += result.flags
        sent = digest_bytes(exchange.sent)
        if self._keep is not None:
            self._keep(sent, self._redact(exchange.sent.decode()).encode())
        return Verdict(
            request=exchange.prompt.request_digest,
            judge=self._digest,
            sample=sample,
            rubric=f"{request.rubric}@{request.version}",
            items=tuple(map(self._redacted, result.items)) if isinstance(result, ParsedReply) else (),
            unscored=None if isinstance(result, ParsedReply) else result.code,
            message="" if isinstance(result, ParsedReply) else self._redact(result.message)[:MAX_MESSAGE_CHARACTERS],
            model=None if exchange.model is None else self._redact(exchange.model),
            flags=tuple(flags),
            usage=exchange.usage(self._prices),
            rendered=sent,
            raw=msgspec.json.encode(exchange.replies).decode(),
        )


def redact_input(value: Any, redact: Callable[[str], str]) -> Any:
    """Return an input of a request with its texts redacted; ids, roles and sources stay."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, (list, tuple)):
        return [{**entry, "text": redact(entry["text"])} for entry in value]
    return value


class _Exchange:
    """All calls for one verdict: the last prompt, the replies, and their total usage."""

    def __init__(self, prompt: RenderedRequest) -> None:
        self.prompt = prompt
        self.capabilities = Capabilities("")
        self.sent = b""
        self.replies: list[str] = []
        self.attempts = 0
        self.latency_ms = 0.0
        self.prompt_tokens = self.completion_tokens = 0
        self.model: str | None = None
        self.fingerprint: str | None = None

    def add(self, reply: ProviderReply) -> None:
        self.model, self.fingerprint = reply.model, reply.fingerprint
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens

    def usage(self, prices: tuple[float, float] | None) -> JudgeUsage:
        cost = None
        if prices is not None:
            cost = (self.prompt_tokens * prices[0] + self.completion_tokens * prices[1]) / 1000
        return JudgeUsage(self.prompt_tokens, self.completion_tokens, cost, round(self.latency_ms, 3), self.attempts)


def decode_envelope(data: bytes, text: str) -> Any | ReplyProblem:
    """Return the JSON value of a reply as the endpoint sent it; the judge's own text inside it is parsed strictly."""
    try:
        return decode_strict_json(text) if len(text) > MAX_REPLY_CHARACTERS else msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode_strict_json(text)


def read_error_message(body: bytes) -> str:
    """Return the message of an error with the parameter that it names; the start of the body if it is not JSON."""
    text = body[:MAX_RAW_CHARACTERS].decode("utf-8", "replace")
    value: Any = decode_strict_json(text)
    if isinstance(value, list) and len(value) == 1:  # Google lists its errors
        value = value[0]
    if not isinstance(value, dict):
        return text[:MAX_MESSAGE_CHARACTERS]
    error = value.get("error") or value.get("detail") or value.get("message") or value
    if isinstance(error, dict):
        parts = [error.get(key) for key in ("type", "status", "code", "param", "message")]
        error = ": ".join(str(part) for part in parts if part) or text
    return replace_surrogates(str(error))[:MAX_MESSAGE_CHARACTERS]


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes as `sha256:<hex>`, the form of every digest."""
    return "sha256:" + hashlib.sha256(data).hexdigest()
