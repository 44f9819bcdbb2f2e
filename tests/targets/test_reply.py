"""Replies to observations: what is read directly, what the settings map, and what is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calls.interfaces import CallError, TargetCall, TargetOperation
from assay.calls.templates import (
    MissingPath,
    build_identity_headers,
    fill_call_template,
    find_unknown_placeholders,
    find_value,
    parse_path,
)
from assay.records.golden_set import Case, User
from assay.records.observations import Chunk, Observation, Stage, TargetError, ToolCall
from assay.records.settings import ChunkMapping, ResponseMapping
from assay.targets.reply import decode_reply, read_reply

CASE = Case("c", "Was ist das?", user=User(tenant="t", roles=("a", "b")))


def read(value: Any, operation: TargetOperation = "ask", **mapping: Any) -> Observation:
    return read_reply(value, TargetCall(CASE, operation, 1.0, 3), msgspec.convert(mapping, ResponseMapping))


def stages(observation: Observation) -> list[tuple[str, list[str]]]:
    return [(stage.name, [chunk.chunk_id for chunk in stage.chunks]) for stage in observation.stages or ()]


def test_text_is_an_answer_and_a_list_is_a_ranking() -> None:
    assert "yes" == read("yes").answer
    assert [("search", ["a", "b"])] == stages(read(["a", {"chunk_id": "b"}], "search"))


def test_own_words_and_those_of_the_contract_are_understood() -> None:
    row = {"answer": "yes", "retrieved_chunks": ["a"], "context_chunks": [{"chunk_id": "a", "page": 3}], "extra": 1}
    observation = read(row)
    assert [("retrieved", ["a"]), ("context", ["a"])] == stages(observation)
    assert {"page": 3} == (observation.stages or ())[1].chunks[0].metadata


def test_observation_passes_and_is_of_the_case() -> None:
    observation = read(Observation("c", config_id="mine", answer="yes", stages=(Stage("retrieved", (Chunk("a"),)),)))
    assert ("c", "Was ist das?", "yes") == (observation.case_id, observation.question, observation.answer)


def test_null_answer_stays_null_and_an_empty_one_stays_empty() -> None:
    assert read({"answer": None}).answer is None
    assert "" == read({"answer": ""}).answer


def test_question_in_another_unicode_form_is_the_same() -> None:
    case = Case("c", "Phép năm?")
    reply = {"question": "Phe\u0301p  năm?", "answer": "x"}
    assert "Phép năm?" == read_reply(reply, TargetCall(case, "ask", 1.0), ResponseMapping()).question


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "schema"),
        (5, "schema"),
        (b"x", "schema"),
        ({}, "schema"),
        ({"answer": 5}, "schema"),
        ({"answer": "x", "stages": "none"}, "schema"),
        ({"answer": "x", "stages": [{"chunks": []}]}, "schema"),
        ({"answer": "x", "stages": [{"name": "s"}]}, "schema"),
        ({"answer": "x", "retrieved_chunks": [{"title": "no id"}]}, "schema"),
        ({"answer": "x", "retrieved_chunks": [7]}, "schema"),
        ({"answer": "x", "citations": "a"}, "schema"),
        ({"answer": "x", "usage": {"end_to_end_ms": -1}}, "schema"),
        ({"case_id": "d", "answer": "x"}, "id_mismatch"),
        ({"question": "other", "answer": "x"}, "id_mismatch"),
        ({"error": "limit"}, "target_error"),
        (Observation("c", error=TargetError("timeout")), "target_error"),
    ],
)
def test_what_is_no_observation_is_refused_with_its_code(value: Any, code: str) -> None:
    with pytest.raises(CallError) as failure:
        read(value)
    assert code == failure.value.code


def test_search_without_a_ranking_is_refused_but_an_empty_one_is_a_measurement() -> None:
    with pytest.raises(CallError, match="no ranking"):
        read({"answer": "x"}, "search")
    assert [("search", [])] == stages(read({"results": []}, "search"))


def test_mapping_that_finds_no_answer_says_what_was_there() -> None:
    expected = r"schema: response.answer: nothing at data.text \(the reply has the keys answer, time\)"
    with pytest.raises(CallError, match=expected):
        read({"answer": "x", "time": 1}, answer="data.text")


def test_a_mapped_path_that_leads_nowhere_is_named_with_what_is_there() -> None:
    mapping = msgspec.convert(
        {
            "answer": "result.reply",
            "citations": "reslt.cited",
            "stages": {"retrieved": "result.hit", "reranked": "result.best"},
            "chunk": {"id": "ref", "text": "bdy", "metadata": {"page": "pages[0].number"}},
            "usage": {"total_ms": "hits"},
            "tool_calls": "calls",
        },
        ResponseMapping,
    )
    hits = [{"ref": "a", "body": "1", "pages": []}]
    call = TargetCall(CASE, "ask", 1.0, 3)
    reply = {"result": {"reply": "yes", "hits": hits, "best": hits, "cited": []}}
    read_reply(reply, call, mapping)
    keys = "result has the keys best, cited, hits, reply"
    assert [
        "response.citations: nothing at reslt.cited (the reply has the key result alone; did you mean result.cited?)",
        f"response.stages.retrieved: nothing at result.hit ({keys}; did you mean result.hits?)",
        "response.usage.total_ms: nothing at hits (the reply has the key result alone; did you mean result.hits?)",
        "response.chunk.text: nothing at bdy (a chunk has the keys body, pages, ref; did you mean body?)",
        "response.chunk.metadata.page: nothing at pages[0].number (pages is a list of 0)",
        "response.tool_calls: nothing at calls (the reply has the key result alone)",
    ] == call.notices.list_missing_paths()

    with pytest.raises(CallError, match=r"chunk 0: no id: response.chunk.id: nothing at reff .*did you mean ref\?"):
        read({"answer": "yes", "hits": hits}, stages={"r": "hits"}, chunk={"id": "reff"})
    with pytest.raises(CallError, match=r"response.stages.r: nothing at hit .*did you mean hits\?"):
        read({"hits": hits}, "search", stages={"r": "hit"})


def test_a_mapped_part_that_some_replies_have_is_not_named() -> None:
    mapping = ResponseMapping(answer="text", citations="cited", behaviour="declined")
    call = TargetCall(CASE, "ask", 1.0, 3)
    for reply in ({"text": "no", "declined": None}, {"text": "yes", "cited": ["a"]}):
        read_reply(reply, call, mapping)
    assert [] == call.notices.list_missing_paths()


def test_what_the_settings_do_not_map_is_recognised_by_its_shape() -> None:
    reply = {
        "answer": "yes",
        "hits": [{"id": "a", "text": "1"}, {"id": "b", "text": "2"}],
        "sources": [{"id": "b", "text": "2"}],
        "citations": ["b"],
        "question": "a form of the question that the service made",
    }
    observation = read(reply, stages={"retrieved": "hits", "context": "sources"})
    assert ("yes", ("b",)) == (observation.answer, observation.citations)
    assert [("retrieved", ["a", "b"]), ("context", ["b"])] == stages(observation)

    by_answer = read({"text": "an extract", "data": {"said": "yes"}, "contexts": ["1"]}, answer="data.said")
    assert "yes" == by_answer.answer
    assert ["retrieved"] == [stage.name for stage in by_answer.stages or ()]


def test_what_is_not_read_next_to_a_mapping_is_named() -> None:
    call = TargetCall(CASE, "ask", 1.0, 3)
    read_reply({"answer": "yes", "hits": [], "citatoins": []}, call, ResponseMapping(stages={"retrieved": "hits"}))
    assert any("citatoins (did you mean citations?)" in notice for notice in call.notices)


def test_keys_are_built_from_fields_that_stay() -> None:
    chunk = msgspec.to_builtins(ChunkMapping(id="id", metadata={"document": "doc", "page": "page"}))
    row = {"text": "yes", "hits": [{"id": 9, "doc": "hr", "page": 3}]}
    observation = read(row, answer="text", stages={"retrieved": "hits"}, chunk=chunk, key="document+page")
    assert [("retrieved", ["hr:3"])] == stages(observation)
    with pytest.raises(CallError, match=r"without document\+page"):
        read(
            {"text": "yes", "hits": [{"id": 9}]}, answer="text", stages={"r": "hits"}, chunk=chunk, key="document+page"
        )


def test_keys_are_built_for_a_finished_observation_and_its_citations_too() -> None:
    stage = Stage("retrieved", (Chunk("n1", metadata={"document": "hr", "page": 3}),))
    observation = read(Observation("c", answer="yes", stages=(stage,), citations=("n1", "z")), key="document+page")
    assert ([("retrieved", ["hr:3"])], ("hr:3", "z")) == (stages(observation), observation.citations)


@pytest.mark.parametrize("path", ["", ".", "a..b", "a b", "a[", "a[-1]", "a[x]", "$$", "a[*"])
def test_text_that_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        parse_path(path)


def test_places_are_found_or_missed_with_words() -> None:
    value = {"a": [{"b": 1}, {"b": [2, 3]}]}
    assert (1, [1, [2, 3]], [2, 3], value) == (
        find_value(value, "a[0].b"), find_value(value, "$.a[*].b"),
        find_value(value, "a[1].b[*]"), find_value(value, "$")
    )  # fmt: skip
    for path in ("a[2]", "a.b", "c", "a[0][*]", "a[0].b.c"):
        with pytest.raises(MissingPath):
            find_value(value, path)


@given(st.text(max_size=30))
def test_any_text_is_a_path_or_an_error(path: str) -> None:
    try:
        steps = parse_path(path)
    except ValueError:
        return
    assert all(step is None or isinstance(step, (str, int)) for step in steps)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_call_error(body: bytes) -> None:
    try:
        decode_reply(body)
    except CallError as failure:
        assert failure.code in ("protocol", "schema")


def test_templates_are_filled_once_with_values_of_their_own_type() -> None:
    call = TargetCall(Case("c", "{{k}} {{user}}", user=CASE.user), "ask", 1.0, 3)
    template = {
        "q": "Q: {{question}}",
        "k": "{{k}}",
        "who": "{{user}}",
        "t": ["{{ user.tenant }}", "{{user.position}}"],
        "n": 1,
    }
    assert {
        "q": "Q: {{k}} {{user}}",
        "k": 3,
        "who": {"tenant": "t", "roles": ["a", "b"]},
        "t": ["t", None],
        "n": 1,
    } == fill_call_template(template, call)
    assert ["quest"] == find_unknown_placeholders({"a": ["{{quest}}", "{{k}}"]})


def test_headers_say_who_asks_and_leave_out_what_is_not_known() -> None:
    call = TargetCall(CASE, "ask", 1.0)
    wanted = {"x-tenant": "user.tenant", "x-roles": "user.roles", "x-position": "user.position"}
    assert {"x-tenant": "t", "x-roles": "a,b"} == build_identity_headers(wanted, call)


def test_citations_of_native_ids_follow_their_chunks_to_the_keys() -> None:
    hits = [{"chunk_id": "x9", "document": "hr", "page": 3}]
    observation = read({"answer": "yes", "retrieved_chunks": hits, "citations": ["x9"]}, key="document+page")
    assert ([("retrieved", ["hr:3"])], ("hr:3",)) == (stages(observation), observation.citations)


def test_tool_calls_are_found_by_path_as_a_list_or_a_number_and_the_rest_is_read_as_before() -> None:
    steps = [{"name": "leave", "result": "12", "error": {"code": 5}}]
    observation = read({"answer": "x", "meta": {"steps": steps}}, tool_calls="meta.steps")
    assert (ToolCall("leave", result="12", error='{"code":5}'),) == observation.tool_calls
    assert 3 == read({"answer": "x", "n": 3}, tool_calls="n").tool_calls
    assert read({"answer": "x"}, tool_calls="steps").tool_calls is None


@pytest.mark.parametrize(
    ("steps", "place"),
    [("none", "neither a list"), ([5], "tool call 0: not an object"), ([{"tool": "x"}], "response.tool.name")],
)
def test_tool_calls_of_another_shape_are_refused_with_place_and_remedy(steps: Any, place: str) -> None:
    with pytest.raises(CallError, match=place) as caught:
        read({"answer": "x", "steps": steps}, tool_calls="steps")
    assert "schema" == caught.value.code


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (
            {"metadata": {"page": "seite"}},
            Chunk("t1", text="High tide at six.", score=0.5, metadata={"seite": 4, "page": 4}),
        ),
        ({"score": "seite"}, Chunk("t1", text="High tide at six.", score=4.0)),
        ({"text": "meta.kurz"}, Chunk("t1", text="Tide.", score=0.5, metadata={"seite": 4})),
        ({"id": "seite"}, Chunk("4", text="High tide at six.", score=0.5, metadata={"id": "t1"})),
    ],
)
def test_naming_one_part_of_a_chunk_leaves_the_others_recognised(chunk: dict[str, Any], expected: Chunk) -> None:
    item: dict[str, Any] = {"id": "t1", "page_content": "High tide at six.", "similarity": 0.5, "seite": 4}
    if "text" in chunk:
        item["meta"] = {"kurz": "Tide."}
        expected = msgspec.structs.replace(expected, metadata={"seite": 4, "meta": {}})
    observation = read({"answer": "At six.", "contexts": [item]}, chunk=chunk)
    assert expected == (observation.stages or ())[0].chunks[0]
