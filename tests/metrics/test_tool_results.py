"""What tools returned is part of what the model saw: claims are compared with it, and a judge reads it."""

from __future__ import annotations

import json
from collections import Counter

from assay.audit.otlp import Span
from assay.audit.privacy import RecordRedactor
from assay.audit.trace_records import read_trace
from assay.formats.recorded_outputs.rag_trace import decode_rag_trace
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import parse_metric
from assay.metrics.parsed_answer import ParsedAnswer
from assay.metrics.scorers import compute_outcome
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Chunk, Observation, Stage, ToolCall
from assay.records.scores import SCORED
from assay.targets.langchain import CallbackTrace

ANSWER = "You get 12 days of leave in year 2."
RESULT = "Leave of year 2: 12 days. You get 12 days of leave in year 2."


def read(observation: Observation) -> ParsedAnswer:
    return ParsedAnswer(GoldenIndex(GoldenSet((Case("q", "How much leave?"),))).case_index(0), observation)


def test_results_follow_the_context_and_stand_alone_without_stages() -> None:
    calls = (ToolCall("leave", result={"days": 12, "year": 2}), ToolCall("log"), ToolCall("time", result="noon"))
    stages = (Stage("context", (Chunk("a", text="The office opens at nine."),)),)
    results = {"tool call 1": '{"days":12,"year":2}', "tool call 3": "noon"}
    assert results == read(Observation("q", answer=ANSWER, tool_calls=calls)).context_texts
    both = read(Observation("q", stages=stages, answer=ANSWER, tool_calls=calls)).context_texts
    assert {"a": "The office opens at nine."} | results == both
    retrieved = (Stage("retrieved", stages[0].chunks),)
    assert isinstance(read(Observation("q", stages=retrieved, answer=ANSWER, tool_calls=calls)).context_texts, str)
    assert isinstance(read(Observation("q", answer=ANSWER, tool_calls=2)).context_texts, str)


def test_a_claim_is_supported_by_what_a_tool_returned() -> None:
    name = parse_metric("faithfulness(by=rules)")
    stages = (Stage("context", (Chunk("a", text="The canteen is on the second floor."),)),)
    without = compute_outcome(name, read(Observation("q", stages=stages, answer=ANSWER)))
    calls = (ToolCall("leave", result=RESULT),)
    supported = compute_outcome(name, read(Observation("q", stages=stages, answer=ANSWER, tool_calls=calls)))
    assert SCORED == without.status == supported.status and without.value < 0.5 < supported.value


def test_results_are_read_from_the_trace_format() -> None:
    calls = [{"name": "leave", "result": {"days": [1, None, "x"]}}, {"name": "time", "result": "noon"}]
    line = json.dumps({"query_id": "q", "tool_calls": calls}).encode()
    observation = decode_rag_trace(line)
    assert (ToolCall("leave", result={"days": [1, None, "x"]}), ToolCall("time", result="noon")) == (
        observation.tool_calls
    )


def test_results_are_read_from_spans_of_both_conventions_and_redacted() -> None:
    def tool(number: int, **attributes: object) -> Span:
        kind = {"openinference.span.kind": "TOOL", "tool.name": "mail"}
        return Span("t", f"{number}", "", "mail", number, number + 1, kind | attributes, (), False, "", {})

    spans = [
        tool(1, **{"output.value": "write to an@example.com"}),
        tool(2, **{"gen_ai.tool.call.result": '{"to":"an@example.com"}'}),
    ]
    calls = read_trace(spans)["tool_calls"]
    assert ["write to an@example.com", '{"to":"an@example.com"}'] == [call.result for call in calls]
    redactor = RecordRedactor()
    nested = ToolCall("find", result={"rows": ["an@example.com", 3]})
    assert {"rows": ["[email]", 3]} == redactor._redact_call(nested, Counter()).result
    assert "example" not in str([redactor._redact_call(call, Counter()).result for call in calls])


def test_callbacks_join_a_result_or_an_error_with_its_call() -> None:
    trace = CallbackTrace(lambda: 0.0)
    trace.start_tool("a", "x", 1)
    trace.start_tool("b", "y", 2)
    trace.end_tool(2, error="KeyError: y")
    trace.end_tool(1, "12 days")
    trace.end_tool(3, "of a call that never began")
    assert [("12 days", None), (None, "KeyError: y")] == [(call.result, call.error) for call in trace.tools]
