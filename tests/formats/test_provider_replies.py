"""Replies of model providers, tools and frameworks: refusals, messages, envelopes and objects."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import pytest
from msgspec import UNSET

from assay.calls.interfaces import CallError, ReplyNotices, TargetCall
from assay.formats.foreign.plain_values import make_plain
from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.records.settings import ResponseMapping
from assay.targets.reply import read_reply

CASE = Case("c", "Which discount do partners get?")
REFUSAL = "I'm sorry, but I cannot share prices of other customers."


def read(value: Any, response: ResponseMapping | None = None) -> Observation:
    call = TargetCall(CASE, "ask", 1.0, 3, ReplyNotices())
    return read_reply(make_plain(value), call, response or ResponseMapping())


def complete(message: dict[str, Any], reason: str = "stop") -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "model": "m-1",
        "choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}],
    }


def respond(*parts: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"object": "response", "output": [{"type": "message", "content": list(parts)}], **members}


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "reply",
    [
        complete({"content": None, "refusal": REFUSAL}),
        complete({"content": "", "refusal": REFUSAL}),
        complete({"content": [{"type": "refusal", "refusal": REFUSAL}]}),
        respond({"type": "refusal", "refusal": REFUSAL}),
        {"message": {"role": "assistant", "content": None, "refusal": REFUSAL}},
        {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "", "refusal": REFUSAL}]},
        {"content": "", "additional_kwargs": {"refusal": REFUSAL}, "type": "ai"},
    ],
)
def test_the_refusal_of_a_model_is_an_answer_that_declares_to_abstain(reply: dict[str, Any]) -> None:
    observation = read(reply)
    assert (REFUSAL, "abstain") == (observation.answer, observation.behaviour)


def test_an_answer_next_to_an_empty_refusal_declares_nothing() -> None:
    for reply in (
        complete({"content": "Ten percent.", "refusal": None}),
        respond({"type": "output_text", "text": "Ten percent."}),
    ):
        assert ("Ten percent.", None) == (read(reply).answer, read(reply).behaviour)
    both = read(respond({"type": "output_text", "text": "Ten percent. "}, {"type": "refusal", "refusal": "No more."}))
    assert ("Ten percent. No more.", None) == (both.answer, both.behaviour)


def test_a_refusal_where_the_settings_map_the_content_is_read_too() -> None:
    mapping = ResponseMapping(answer="choices[0].message.content")
    observation = read(complete({"content": None, "refusal": REFUSAL}), mapping)
    assert (REFUSAL, "abstain") == (observation.answer, observation.behaviour)
    assert read(complete({"content": None}), mapping).answer is None
    beside_stages = ResponseMapping(answer="said", stages={"retrieved": "found"})
    assert read({"said": None, "found": ["a"]}, beside_stages).answer is None


@pytest.mark.parametrize(
    "reply",
    [
        complete({"content": None}, "content_filter"),
        complete({"content": ""}, "content_filter"),
        {"object": "response", "output": [], "incomplete_details": {"reason": "content_filter"}},
    ],
)
def test_an_answer_that_a_filter_withheld_whole_is_an_error_that_says_so(reply: dict[str, Any]) -> None:
    with pytest.raises(CallError, match="content_filter: a content filter withheld the answer"):
        read(reply)


def test_an_answer_that_a_filter_cut_is_read_as_far_as_it_goes() -> None:
    assert "Ten per" == read(complete({"content": "Ten per"}, "content_filter")).answer


# ── tool results of MCP ──────────────────────────────────────────────────────────────────────────────────────────────

INNER = {"answer": "Ten percent.", "sources": [{"id": "price-list", "text": "Partners get ten percent."}]}


@pytest.mark.parametrize(
    "reply",
    [
        {"content": [{"type": "text", "text": "Ten."}], "structuredContent": INNER, "isError": False},
        {"content": [], "structured_content": {"result": INNER}},
        {
            "content": [{"type": "text", "text": '{"answer": "Ten percent.", "sources": ["price-list"]}'}],
            "isError": False,
        },
    ],
)
def test_the_envelope_of_a_tool_is_opened(reply: dict[str, Any]) -> None:
    observation = read(reply)
    assert "Ten percent." == observation.answer
    assert ["price-list"] == [chunk.chunk_id for stage in observation.stages or () for chunk in stage.chunks]


def test_the_text_of_a_tool_is_its_answer_and_its_error_is_one() -> None:
    assert "Ten." == read({"content": [{"type": "text", "text": "Ten."}], "isError": False}).answer
    with pytest.raises(CallError, match="tool_error: the index is closed"):
        read({"content": [{"type": "text", "text": "the index is closed"}], "isError": True})


# ── objects ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Node:
    def __init__(self, node_id: str, text: str) -> None:
        self.node_id, self.text, self.metadata = node_id, text, {"page": 3}

    def get_content(self) -> str:
        return self.text


@dataclasses.dataclass
class Response:
    """As a query engine returns it."""

    response: str
    source_nodes: list[Any]


class ChatResponse:
    """As a chat engine returns it, with the outputs of its tools as sources."""

    def __init__(self, response: str, source_nodes: list[Any]) -> None:
        self.response, self.source_nodes, self.sources = response, source_nodes, [{"content": "raw", "tool_name": "t"}]


class Message:
    def __init__(self, content: Any) -> None:
        self.content, self.type = content, "ai"
        self.additional_kwargs: dict[str, Any] = {}
        self.usage_metadata = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
        self.response_metadata = {"model_name": "m-1", "finish_reason": "stop"}


class Reply(NamedTuple):
    answer: str
    sources: list[str]


@pytest.mark.parametrize("response", [Response, ChatResponse])
def test_a_response_object_has_its_answer_and_what_the_model_was_shown(response: Any) -> None:
    node = SimpleNamespace(node=Node("n-1", "Partners get ten percent."), score=0.7)
    observation = read(response("Ten percent.", [node]))
    assert "Ten percent." == observation.answer
    stages = {
        stage.name: [(chunk.chunk_id, chunk.text, chunk.score) for chunk in stage.chunks]
        for stage in observation.stages or ()
    }
    chunks = [("n-1", "Partners get ten percent.", 0.7)]
    assert {"retrieved": chunks, "context": chunks} == stages


@pytest.mark.parametrize(
    "content", ["Ten percent.", [{"type": "text", "text": "Ten "}, "percent."], ["Ten ", "percent."]]
)
def test_a_message_object_has_its_answer_tokens_and_model(content: Any) -> None:
    observation = read(Message(content))
    assert "Ten percent." == observation.answer
    assert observation.usage is not None
    assert (5, 2) == (observation.usage.prompt_tokens, observation.usage.completion_tokens)
    assert {"model": "m-1"} == observation.versions
    assert "Ten percent." == read({"answer": Message(content), "retrieved": ["a"]}).answer
    assert "Ten percent." == read({"messages": [Message("x"), Message(content)]}).answer


def test_a_named_tuple_and_a_namespace_are_read_by_their_names() -> None:
    for reply in (Reply("Ten.", ["a"]), SimpleNamespace(answer="Ten.", sources=["a"])):
        observation = read(reply)
        assert ("Ten.", ["a"]) == (
            observation.answer,
            [chunk.chunk_id for chunk in (observation.stages or ())[0].chunks],
        )


@pytest.mark.parametrize(
    "value", [object(), MagicMock(), SimpleNamespace(ok=True), SimpleNamespace(content=b"raw", text="raw")]
)
def test_an_object_without_a_known_name_is_refused(value: Any) -> None:
    assert value is make_plain(value)
    with pytest.raises(CallError, match="not an object, a list or a text"):
        read(value)


def test_an_attribute_that_raises_is_left_out() -> None:
    class Lazy:
        answer = "Ten."

        @property
        def sources(self) -> list[str]:
            raise RuntimeError("not loaded")

    observation = read(Lazy())
    assert ("Ten.", None) == (observation.answer, observation.stages)
    assert observation.behaviour is None
    assert observation.answer is not UNSET
