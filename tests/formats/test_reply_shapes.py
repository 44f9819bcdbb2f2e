"""Replies and rows in the shapes of common frameworks: what is read, what is noted, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from assay.calls.interfaces import CallError, ReplyNotices, TargetCall, TargetOperation
from assay.formats.foreign.chunk_shapes import ShapeError, make_text_id, read_chunks
from assay.formats.foreign.plain_values import make_plain
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation
from assay.records.settings import ResponseMapping
from assay.runs.python_values import read_outputs_value
from assay.targets.reply import read_reply

LEAVE = "Permanent staff have twelve days of paid leave a year."
NOTICE = "The notice period is thirty days after the probation."
CASE = Case("c", "How much leave do I get?")


def read(
    value: Any, operation: TargetOperation = "ask", response: ResponseMapping | None = None
) -> tuple[Observation, list[str]]:
    notices = ReplyNotices()
    call = TargetCall(CASE, operation, 1.0, 3, notices)
    observation = read_reply(make_plain(value), call, response or ResponseMapping())
    return observation, list(notices)


def stages(observation: Observation) -> dict[str, list[tuple[str, str | None, float | None]]]:
    return {
        stage.name: [(chunk.chunk_id, chunk.text, chunk.score) for chunk in stage.chunks]
        for stage in observation.stages or ()
    }


@pytest.mark.parametrize("key", ["contexts", "retrieved_contexts", "retrieval_context"])
def test_texts_under_names_of_ragas_and_deepeval_are_chunks_with_ids_of_their_own(key: str) -> None:
    observation, notices = read({"answer": "12", key: [LEAVE, NOTICE]})
    expected = [(make_text_id(text), text, None) for text in (LEAVE, NOTICE)]
    assert {"retrieved": expected} == stages(observation)
    assert f"{key} is read as the stage retrieved" in notices
    assert not any("not read" in notice for notice in notices)


@pytest.mark.parametrize("key", ["source_documents", "documents", "sources", "results", "chunks", "hits"])
@pytest.mark.parametrize(
    "chunk",
    [
        {"id": "a1", "text": LEAVE, "score": 0.5},
        {"_id": "a1", "content": LEAVE, "similarity": 0.5},
        {"doc_id": "a1", "page_content": LEAVE, "score": 0.5},
        {"id": None, "page_content": LEAVE, "metadata": {"id": "a1"}, "type": "Document", "score": 0.5},
        {"node": {"id_": "a1", "text": LEAVE, "metadata": {}, "class_name": "TextNode"}, "score": 0.5},
        {"_id": "a1", "_score": 0.5, "_source": {"content": LEAVE, "title": "Leave"}},
        {"id": "a1", "score": 0.5, "payload": {"text": LEAVE}},
        [{"id": "a1", "page_content": LEAVE}, 0.5],
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain"],
            "kwargs": {"id": "a1", "page_content": LEAVE},
            "score": 0,
        },
    ],
)
def test_chunks_of_common_shapes_have_their_id_and_text(key: str, chunk: Any) -> None:
    observation, _ = read({"answer": "12", key: [chunk]})
    ((chunk_id, text, score),) = stages(observation)["retrieved"]
    assert ("a1", LEAVE) == (chunk_id, text)
    assert score in (0.5, None)


def test_ids_of_a_row_of_ragas_are_joined_with_its_texts() -> None:
    row = {"user_input": CASE.question, "response": "12", "retrieved_contexts": [LEAVE], "reference": "12 days"}
    observation, notices = read(row | {"retrieved_context_ids": ["hr:1"]})
    assert {"retrieved": [("hr:1", LEAVE, None)]} == stages(observation)
    assert "12" == observation.answer
    assert "not read, because they belong to the golden set: reference" in notices
    with pytest.raises(CallError, match=r"not one for each of retrieved_contexts \(got 2; expected 1\)"):
        read(row | {"retrieved_context_ids": ["hr:1", "hr:2"]})


def test_context_of_a_deepeval_test_case_is_what_is_expected_and_not_what_the_model_saw() -> None:
    row = {"input": "Q", "actual_output": "12", "retrieval_context": [LEAVE], "context": [NOTICE]}
    observation, notices = read(row)
    assert ["retrieved"] == list(stages(observation))
    assert any("belongs to the golden set" in notice for notice in notices)


def test_context_of_a_retrieval_chain_and_source_nodes_are_what_the_model_saw() -> None:
    chain, _ = read({"input": CASE.question, "answer": "12", "context": [{"page_content": LEAVE, "metadata": {}}]})
    engine, notices = read({"response": "12", "source_nodes": [{"node": {"id_": "n", "text": LEAVE}, "score": 1}]})
    assert stages(chain)["retrieved"] == stages(chain)["context"] == [(make_text_id(LEAVE), LEAVE, None)]
    assert stages(engine)["retrieved"] == stages(engine)["context"] == [("n", LEAVE, 1.0)]
    assert "source_nodes is read as the stages retrieved and context" in notices


@pytest.mark.parametrize("items", [["a1"], [LEAVE], [{"id": "a1", "text": LEAVE}]])
def test_a_recorded_row_with_context_alone_has_that_stage_alone_in_python_as_in_a_file(
    items: Any, tmp_path: Path
) -> None:
    row = {"case_id": "c", "answer": "12", "context": items}
    path = tmp_path / "rows.jsonl"
    path.write_bytes(msgspec.json.encode(row))
    notes: dict[str, None] = {}
    (from_python,) = read_outputs_value([row], GoldenSet((CASE,)), notes=notes)
    (from_file,) = read_outputs_value(path, GoldenSet((CASE,)))
    assert stages(from_file) == stages(from_python)
    assert ["context"] == list(stages(from_python))
    assert "outputs: context is read as the stage context" in notes


def test_sources_of_a_plain_service_are_not_taken_for_what_the_model_saw() -> None:
    observation, _ = read({"answer": "12", "sources": [LEAVE]})
    assert ["retrieved"] == list(stages(observation))


def test_a_chat_completion_has_an_answer_tokens_and_a_model() -> None:
    reply = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1", "system_fingerprint": "f",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "12"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
    }  # fmt: skip
    observation, notices = read(reply)
    assert ("12", {"model": "m-1"}) == (observation.answer, observation.versions)
    assert observation.usage is not None
    assert (7, 2) == (observation.usage.prompt_tokens, observation.usage.completion_tokens)
    assert ["the answer is read from choices[0].message"] == notices


def test_a_response_with_a_file_search_has_an_answer_and_a_ranking() -> None:
    search = {
        "type": "file_search_call",
        "results": [{"file_id": "f", "filename": "hr.md", "score": 0.7, "text": LEAVE}],
    }
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "12"}]}
    reply = {
        "object": "response",
        "model": "m-1",
        "error": None,
        "output": [search, message],
        "usage": {"input_tokens": 3},
    }
    observation, _ = read(reply)
    assert "12" == observation.answer
    assert {"retrieved": [(make_text_id(LEAVE), LEAVE, 0.7)]} == stages(observation)
    assert observation.usage is not None
    assert 3 == observation.usage.prompt_tokens


def test_the_last_message_of_an_agent_is_its_answer() -> None:
    messages = [{"type": "human", "content": "Q"}, {"type": "ai", "content": [{"type": "text", "text": "12"}]}]
    assert "12" == read({"messages": messages})[0].answer


@pytest.mark.parametrize("key", ["chunks", "results", "documents"])
def test_search_tools_of_servers_return_rankings_under_common_names(key: str) -> None:
    observation, _ = read({key: [{"id": "a", "text": LEAVE}], "total": 1}, "search")
    assert {"search": [("a", LEAVE, None)]} == stages(observation)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"answer": "12", "response": "13"}, "two answers, answer and response"),
        ({"output": "12", "text": "13"}, "two answers, output and text"),
        ({"answer": "12", "documents": [LEAVE], "sources": [NOTICE]}, "two rankings, documents and sources"),
        ({"answer": "12", "documents": [{"text": LEAVE, "content": NOTICE}]}, "chunk 0: two texts, text and content"),
        ({"answer": "12", "documents": [{"id": "a", "_id": "b"}]}, "chunk 0: two ids, id and _id"),
        ({"answer": "12", "documents": ["annual leave"]}, "could be ids or texts"),
        ({"answer": "12", "documents": [{"title": "x"}]}, r"chunk 0: no id and no text \(got the keys title"),
        ({"answer": "12", "documents": {"a": 1}}, "documents: a ranking that is not a list"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused_with_both(reply: dict[str, Any], message: str) -> None:
    with pytest.raises(CallError, match=message):
        read(reply)


@pytest.mark.parametrize(
    ("members", "answer"),
    [
        ({"reply": "12"}, "12"),
        ({"final_answer": "12"}, "12"),
        ({"message": {"role": "assistant", "content": "12"}}, "12"),
    ],
)
def test_other_names_of_an_answer_are_read_and_noted(members: dict[str, Any], answer: str) -> None:
    observation, notices = read({"documents": [LEAVE], **members})
    assert answer == observation.answer
    assert f"the answer is read from {next(iter(members))}" in notices


@pytest.mark.parametrize("key", ["bot_reply", "answerText", "llm_response", "message"])
def test_a_reply_whose_answer_has_an_unknown_name_is_refused_by_that_name(key: str) -> None:
    with pytest.raises(CallError, match=f"no answer, but a text in {key} .expected answer, or response.answer"):
        read({"documents": [LEAVE], key: "You get 12 days."})


@pytest.mark.parametrize(
    "members",
    [{"response_id": "r-1"}, {"output_format": "html"}, {"bot_reply": ""}, {"answer": None, "bot_reply": "x"}],
)
def test_a_reply_without_an_answer_is_one_where_no_member_is_named_like_it_or_it_says_so(
    members: dict[str, Any],
) -> None:
    observation, _ = read({"documents": [LEAVE], **members})
    assert observation.answer in (None, UNSET)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("asnwer", "answer"),
        ("botRepsonse", "botResponse"),
        ("final_ouput", "final_output"),
        ("anwser_text", "answer_text"),
    ],
)
@pytest.mark.parametrize("value", ["You get 12 days.", "", ["You get 12 days."], {"text": "12"}])
def test_a_reply_whose_answer_has_a_misspelt_name_is_refused_with_the_right_one(
    key: str, meant: str, value: Any
) -> None:
    for others in ({"documents": [LEAVE]}, {}, {"retrieved": ["a"], "context": ["a"]}):
        with pytest.raises(CallError) as refused:
            read({**others, key: value})
        assert "schema" == refused.value.code
        assert f"no answer, but {key} (did you mean {meant}?) (expected answer" in refused.value.message


@pytest.mark.parametrize(
    "members",
    [{"answered": True}, {"answers": 3}, {"generator": "m-1"}, {"operation": "ask"}, {"outcome": "ok"}, {"rely": "x"}],
)
def test_a_name_of_something_else_is_not_taken_for_a_misspelt_answer(members: dict[str, Any]) -> None:
    assert read({"documents": [LEAVE], **members})[0].answer is UNSET


def test_a_misspelt_name_beside_an_answer_is_only_noted() -> None:
    observation, notices = read({"answer": "12", "respnse": "13"})
    assert "12" == observation.answer
    assert ["keys that were not read: respnse (did you mean response?)"] == notices


def test_a_member_named_like_an_answer_may_stand_beside_the_one_that_the_settings_map() -> None:
    mapping = ResponseMapping(answer="data.said")
    reply = {"documents": [LEAVE], "bot_reply": "draft", "data": {"said": "12"}}
    assert "12" == read(reply, response=mapping)[0].answer
    with pytest.raises(CallError, match="no answer, but a text in bot_reply"):
        read(reply, response=ResponseMapping(citations="data.cited"))


def test_the_same_ranking_under_two_names_is_one() -> None:
    observation, _ = read({"answer": "12", "documents": [LEAVE], "sources": [LEAVE]})
    assert ["retrieved"] == list(stages(observation))


def test_keys_that_were_not_read_are_named_with_the_nearest_known_one() -> None:
    _, notices = read({"answer": "12", "citation": ["a"], "trace": "t-1", "x_debug": 1})
    assert ["keys that were not read: citation (did you mean citations?), trace"] == notices


def test_a_reply_in_the_words_of_assay_needs_no_notice() -> None:
    _, notices = read({"answer": "12", "retrieved_chunks": [{"chunk_id": "a", "text": LEAVE}], "citations": ["a"]})
    assert [] == notices


def test_ids_from_texts_ignore_spacing_and_unicode_form() -> None:
    assert make_text_id("phép  năm\n") == make_text_id("phe\u0301p na\u0306m")
    assert make_text_id("a b") != make_text_id("a c")


def test_words_in_a_list_of_ids_stay_ids_where_the_contract_says_so() -> None:
    chunks = read_chunks(["Doc 1 §2", "doc2"], lambda _: None)
    assert ["Doc 1 §2", "doc2"] == [chunk.chunk_id for chunk in chunks]
    with pytest.raises(ShapeError):
        read_chunks(["Doc 1 §2", "doc2"], lambda _: None, strings="either")


@pytest.mark.parametrize(
    ("member", "value", "note"),
    [
        ("status", "ok", "status"),
        ("stage", "prod", "stage"),
        ("stagess", [{"name": "bm25", "hits": []}], "stagess (did you mean stages?)"),
        ("usages", {"input_tokens": 3}, "usages (did you mean usage?)"),
        ("usages", 17, "usages"),
    ],
)
def test_a_plain_value_is_no_misspelt_list_or_object(member: str, value: Any, note: str) -> None:
    _, notices = read({"answer": "Twelve days.", member: value})
    assert [f"keys that were not read: {note}"] == notices
