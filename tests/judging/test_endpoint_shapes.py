"""Endpoints as they reply: for each service the address, the header of the key, a reply and an error in its shape."""

from __future__ import annotations

import asyncio
import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
from tests.judging.asking import RUBRICS, relevance_request
from tests.support.judge_server import Step, judge_server

from assay.calls.interfaces import CallError
from assay.judging.http_client import HttpTransport
from assay.judging.litellm_client import DEFAULT_ADDRESS, LiteLLMTransport
from assay.judging.llm_judge import LLMJudge, build_judge_identity
from assay.records.errors import MissingExtraError
from assay.records.verdicts import Verdict

LABELS = json.dumps({"items": [{"id": "i1", "reasoning": "It says so.", "label": "relevant"}], "echo": ""})


class Endpoint(NamedTuple):
    """How one service is reached, and the JSON of its replies: `error` is what it says of a part it does not have."""

    protocol: str
    base: str
    path: str
    key_header: str
    reply: dict[str, Any]
    error_status: int
    error: Any
    mode: str
    api_version: str | None = None


def completion(content: str | None, **members: Any) -> dict[str, Any]:
    """Return a chat completion with this content and further members."""
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 412, "completion_tokens": 31, "total_tokens": 443}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "c-1", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage} | members


AZURE_REPLY = completion(
    LABELS,
    model="gpt-4.1-2025-04-14",
    system_fingerprint="fp_az",
    prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False}}}],
)
AZURE_ERROR = {
    "error": {
        "message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }
}
GEMINI_ERROR = [
    {
        "error": {
            "code": 400,
            "message": 'Invalid JSON payload received. Unknown name "additionalProperties" at '
            "'generation_config.response_schema': Cannot find field.",
            "status": "INVALID_ARGUMENT",
        }
    }
]
VLLM_ERROR = {
    "object": "error",
    "message": "response_format json_schema needs structured output support in the engine",
    "type": "BadRequestError",
    "param": None,
    "code": 400,
}
OLLAMA_ERROR = {"error": {"message": "invalid json schema in format", "type": "api_error", "param": None, "code": None}}
LLAMA_ERROR = {"error": {"code": 400, "message": "failed to parse grammar", "type": "invalid_request_error"}}
STUDIO_ERROR = {"error": "'response_format.json_schema' is not supported by this engine"}
BEDROCK_ERROR = {"message": "response_format is not supported for this model", "code": "validation_error"}

ENDPOINTS = {
    "Azure OpenAI, a deployment": Endpoint(
        "azure",
        "/openai/deployments/judge",
        "/openai/deployments/judge/chat/completions?api-version=2024-10-21",
        "api-key",
        AZURE_REPLY,
        400,
        AZURE_ERROR,
        "tool",
        "2024-10-21",
    ),
    "Azure OpenAI, v1": Endpoint(
        "azure", "/openai/v1/", "/openai/v1/chat/completions", "api-key", AZURE_REPLY, 400, AZURE_ERROR, "tool"
    ),
    "Gemini": Endpoint(
        "openai",
        "/v1beta/openai/",
        "/v1beta/openai/chat/completions",
        "authorization",
        completion(LABELS, model="gemini-2.5-flash"),
        400,
        GEMINI_ERROR,
        "tool",
    ),
    "Bedrock": Endpoint(
        "openai",
        "/openai/v1",
        "/openai/v1/chat/completions",
        "authorization",
        completion(f"<reasoning>The question asks for it.</reasoning>{LABELS}", model="openai.gpt-oss-20b-1:0"),
        400,
        BEDROCK_ERROR,
        "tool",
    ),
    "vLLM": Endpoint(
        "openai",
        "",
        "/v1/chat/completions",
        "authorization",
        completion(LABELS, model="served", kv_transfer_params=None, prompt_logprobs=None),
        400,
        VLLM_ERROR,
        "tool",
    ),
    "Ollama": Endpoint(
        "openai",
        "",
        "/v1/chat/completions",
        "authorization",
        completion(f"<think>\nLet me see.\n</think>\n\n{LABELS}", model="qwen3:8b", system_fingerprint="fp_ollama"),
        400,
        OLLAMA_ERROR,
        "tool",
    ),
    "llama.cpp": Endpoint(
        "openai",
        "",
        "/v1/chat/completions",
        "authorization",
        completion(LABELS, model="local", system_fingerprint="b5000-abc", timings={"prompt_n": 412, "predicted_n": 31}),
        400,
        LLAMA_ERROR,
        "tool",
    ),
    "LM Studio": Endpoint(
        "openai",
        "/v1",
        "/v1/chat/completions",
        "authorization",
        completion(f"```json\n{LABELS}\n```", model="local-model", stats={}, system_fingerprint="local-model"),
        400,
        STUDIO_ERROR,
        "tool",
    ),
}


def ask(endpoint: Endpoint, *steps: Step) -> tuple[Verdict, list[dict[str, Any]]]:
    """Ask one request; return the verdict and what the endpoint received."""

    async def ask_once(url: str) -> Verdict:
        transport = HttpTransport(2, 20)
        identity = build_judge_identity(endpoint.protocol, "judge", "there", api_version=endpoint.api_version)
        judge = LLMJudge(
            identity, RUBRICS, transport.send, base_url=url + endpoint.base, api_key="sk-test", close=transport.aclose
        )
        try:
            return await judge.ask(relevance_request(), 0)
        finally:
            await judge.aclose()

    with judge_server() as server:
        server.plan.extend(steps)
        return asyncio.run(ask_once(server.url)), server.requests


@pytest.mark.parametrize("name", ENDPOINTS)
def test_an_endpoint_is_asked_and_read_in_its_own_shape(name: str) -> None:
    endpoint = ENDPOINTS[name]
    verdict, (received,) = ask(endpoint, {"body": endpoint.reply})
    assert endpoint.path == received["path"]
    expected = "sk-test" if endpoint.key_header == "api-key" else "Bearer sk-test"
    assert expected == received["headers"][endpoint.key_header]
    assert {"api-key", "authorization"} - {endpoint.key_header} == {"api-key", "authorization"} - set(
        received["headers"]
    )
    assert (None, "relevant", "It says so.") == (
        verdict.unscored, verdict.items[0].label, verdict.items[0].reasoning
    )  # fmt: skip
    assert endpoint.reply["model"] == verdict.model
    assert (412, 31) == (verdict.usage.prompt_tokens, verdict.usage.completion_tokens)


@pytest.mark.parametrize("name", ENDPOINTS)
def test_what_an_endpoint_lacks_is_found_out_from_its_error(name: str) -> None:
    endpoint = ENDPOINTS[name]
    refused = {"status": endpoint.error_status, "body": endpoint.error}
    verdict, received = ask(endpoint, refused, {"body": endpoint.reply})
    assert verdict.unscored is None
    assert f"mode:{endpoint.mode}" in verdict.flags
    assert "response_format" in received[0]["body"] and "tools" in received[1]["body"]


def test_a_content_filter_is_a_refusal_and_not_asked_again() -> None:
    message = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    body = {"error": {"message": message, "type": None, "param": "prompt", "code": "content_filter", "status": 400}}
    verdict, received = ask(ENDPOINTS["Azure OpenAI, v1"], {"status": 400, "body": body})
    assert ("refused", 1) == (verdict.unscored, len(received))
    filtered = completion(None, model="gpt")
    filtered["choices"][0]["finish_reason"] = "content_filter: PROHIBITED_CONTENT"
    verdict, _ = ask(ENDPOINTS["Gemini"], {"body": filtered})
    assert "refused" == verdict.unscored


class ProviderError(Exception):
    """An error as the package raises it."""

    def __init__(self, message: str, status_code: int) -> None:
        super().__init__(message)
        self.status_code = status_code


class APIConnectionError(ProviderError):
    """The package could not reach the provider."""


def make_package(*replies: Any) -> tuple[ModuleType, list[dict[str, Any]]]:
    """Return a stand-in for the package that gives these replies in turn, and the calls that it receives."""
    package, calls, waiting = ModuleType("litellm"), list[dict[str, Any]](), list(replies)

    async def acompletion(**arguments: Any) -> Any:
        calls.append(arguments)
        reply = waiting.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return SimpleNamespace(model_dump=lambda: reply)

    package.acompletion = acompletion  # type: ignore[attr-defined]
    package.telemetry = True  # type: ignore[attr-defined]
    return package, calls


def ask_litellm(url: str, *replies: Any) -> tuple[Verdict, list[dict[str, Any]]]:
    package, calls = make_package(*replies)
    sys.modules["litellm"] = package
    try:
        transport = LiteLLMTransport(5)
        assert package.telemetry is False
        identity = build_judge_identity("litellm", "cohere/command-r", "cohere")
        judge = LLMJudge(identity, RUBRICS, transport.send, base_url=url, api_key="sk-test", close=transport.aclose)
        return asyncio.run(judge.ask(relevance_request(), 0)), calls
    finally:
        del sys.modules["litellm"]


def test_litellm_is_called_with_the_body_of_a_request() -> None:
    verdict, (call,) = ask_litellm(DEFAULT_ADDRESS, completion(LABELS, model="command-r"))
    assert ("relevant", "command-r", 412) == (verdict.items[0].label, verdict.model, verdict.usage.prompt_tokens)
    assert ("cohere/command-r", "sk-test", 0, 5) == tuple(
        call[key] for key in ("model", "api_key", "num_retries", "timeout")
    )
    assert "api_base" not in call and "system" == call["messages"][0]["role"]
    _, (call,) = ask_litellm("http://127.0.0.1:4000", completion(LABELS, model="command-r"))
    assert "http://127.0.0.1:4000" == call["api_base"]


def test_errors_of_litellm_are_those_of_an_endpoint() -> None:
    lacking = ProviderError("response_format json_schema is not supported", 400)
    verdict, calls = ask_litellm(DEFAULT_ADDRESS, lacking, completion(LABELS, model="command-r"))
    assert ("relevant", 2) == (verdict.items[0].label, len(calls))
    for error, code in (
        (ProviderError("slow down", 429), "rate_limited"),
        (ProviderError("no such key", 401), "http_401"),
        (APIConnectionError("refused", 500), "connection"),
        (ValueError("a bug of the package"), "http_500"),
    ):
        with pytest.raises(CallError) as caught:
            ask_litellm(DEFAULT_ADDRESS, error)
        assert code == caught.value.code


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rag-assay\[litellm\]'"):
        LiteLLMTransport()
