"""A target that is a LangChain runnable: its callbacks report stages, tokens and tool calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import json, structs

from assay.calls.interfaces import CallError, TargetCall, TargetOperation
from assay.calls.raised_errors import format_exception, make_exception_error
from assay.calls.target_kinds import TargetRequest
from assay.calls.templates import fill_call_template
from assay.formats.foreign.chunk_shapes import ShapeError, read_chunks
from assay.formats.foreign.plain_values import make_plain
from assay.formats.foreign.provider_replies import extract_text, is_refusal
from assay.records.errors import MissingExtraError, SettingsError
from assay.records.observations import CONTEXT_STAGE, RETRIEVED_STAGE, Chunk, Observation, Stage, ToolCall, Usage
from assay.records.settings import LangchainTargetSettings as Settings
from assay.records.settings import ResponseMapping
from assay.targets.python import import_target_object
from assay.targets.reply import read_reply

ANSWER_KEYS = ("answer", "output", "result", "output_text", "content")
DOCUMENT_KEYS = ("context", "source_documents", "documents")


class LangchainTarget:
    """Invokes a runnable and records its callbacks; the output is text, a message, or an object that holds one."""

    def __init__(
        self, name: str, runnable: Any, settings: Settings, make_handler: Callable[[CallbackTrace], Any]
    ) -> None:
        self.name, self.settings = name, settings
        self.operations: tuple[TargetOperation, ...] = ("ask",)
        self._runnable, self._make_handler = runnable, make_handler

    async def identity(self) -> dict[str, Any]:
        """Return the import path and the kind of runnable."""
        kind = type(self._runnable).__name__
        return {"type": "langchain", "call": self.settings.call, "runnable": kind, "input": self.settings.input}

    async def observe(self, call: TargetCall) -> Observation:
        """Invoke the runnable. Raises CallError with code `exception` for any exception of the runnable."""
        trace = CallbackTrace(time.monotonic)
        try:
            chain_input = fill_call_template(self.settings.input, call)
            output = await self._runnable.ainvoke(chain_input, config={"callbacks": [self._make_handler(trace)]})
        except Exception as error:  # the runnable is not ours: anything that it raises is a failure of the target
            raise make_exception_error(error) from error
        response = self.settings.response
        if response.answer is not None or response.stages:
            return read_reply(_to_plain(output), call, response)
        return read_reply(_build_observation(output, trace, call), call, ResponseMapping(key=response.key))

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def make_target(request: TargetRequest) -> LangchainTarget:
    """Make the target of a settings file."""
    return make_langchain_target(request.name, request.settings)


def make_langchain_target(name: str, settings: Settings) -> LangchainTarget:
    """Return the target of an import path.

    Raises SettingsError if it names no runnable, MissingExtraError without LangChain.
    """
    return make_runnable_target(name, import_target_object(settings.call, name), settings)


def make_runnable_target(name: str, runnable: Any, settings: Settings) -> LangchainTarget:
    """Return the target of a runnable. Raises SettingsError if it is none, MissingExtraError without LangChain."""
    if not hasattr(runnable, "ainvoke"):
        raise SettingsError(f"targets.{name}.call: not a runnable (got {type(runnable).__name__}; expected ainvoke)")
    return LangchainTarget(name, runnable, settings, _import_handler())


class CallbackTrace:
    """What the callbacks of one run reported: rankings in order, tokens, tool calls."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.stages: list[Stage] = []
        self.tools: list[ToolCall] = []
        self.prompt_tokens: int | None = None
        self.completion_tokens: int | None = None
        self._clock = clock
        self._started: dict[Any, float] = {}
        self._tool_positions: dict[Any, int] = {}

    def start_retrieval(self, run: Any) -> None:
        """Note when a retriever started."""
        self._started[run] = self._clock()

    def add_ranking(self, documents: Sequence[Any], run: Any) -> None:
        """Add the ranking of a retriever; the stages of further retrievers are numbered."""
        started = self._started.pop(run, None)
        latency = None if started is None else round((self._clock() - started) * 1000, 3)  # milliseconds
        name = "retrieved" if not self.stages else f"retrieved-{len(self.stages) + 1}"
        self.stages.append(Stage(name, _build_chunks(documents), latency))

    def start_tool(self, name: str, text: str, run: Any) -> None:
        """Add a tool call with its input."""
        self._tool_positions[run] = len(self.tools)
        self.tools.append(ToolCall(name, {"input": text}))

    def end_tool(self, run: Any, result: Any = None, error: str | None = None) -> None:
        """Add to a tool call what it returned, or why it failed."""
        position = self._tool_positions.pop(run, None)
        if position is not None:
            self.tools[position] = structs.replace(self.tools[position], result=result, error=error)

    def add_usage(self, usage: Mapping[str, Any]) -> None:
        """Add the tokens of one model call, under the names of LangChain or of OpenAI."""
        prompt_tokens = usage.get("input_tokens", usage.get("prompt_tokens"))
        completion_tokens = usage.get("output_tokens", usage.get("completion_tokens"))
        if isinstance(prompt_tokens, int):
            self.prompt_tokens = (self.prompt_tokens or 0) + prompt_tokens
        if isinstance(completion_tokens, int):
            self.completion_tokens = (self.completion_tokens or 0) + completion_tokens


def _build_chunks(documents: Sequence[Any]) -> tuple[Chunk, ...]:
    """Return documents as chunks: their id, or one of their metadata, or one that is made from the text."""
    try:
        return read_chunks([_to_plain(document) for document in documents], lambda _: None)
    except ShapeError as error:
        raise CallError("schema", str(error)) from None


def _build_observation(output: Any, trace: CallbackTrace, call: TargetCall) -> Observation:
    documents: Any = None
    answer = output
    if isinstance(output, Mapping):
        answer = next((output[key] for key in ANSWER_KEYS if key in output), None)
        documents = next((output[key] for key in DOCUMENT_KEYS if isinstance(output.get(key), (list, tuple))), None)
    message = make_plain(answer)
    text = extract_text(message)
    if text is None:
        raise CallError("schema", f"no text in the output (got {type(output).__name__}; expected one of {ANSWER_KEYS})")
    stages = list(trace.stages)
    if documents is not None and all(hasattr(document, "page_content") for document in documents):
        chunks = _build_chunks(documents)
        if not stages:
            stages.append(Stage(RETRIEVED_STAGE, chunks))
        stages.append(Stage(CONTEXT_STAGE, chunks))
    return Observation(
        call.case.id,
        stages=tuple(stages) or None,
        answer=text,
        behaviour="abstain" if is_refusal(message) else None,
        tool_calls=tuple(trace.tools) or None,
        usage=Usage(prompt_tokens=trace.prompt_tokens, completion_tokens=trace.completion_tokens),
    )


def _to_plain(output: Any) -> Any:
    """Return the output, with its documents and messages, as plain values for the response mapping."""
    if isinstance(output, Mapping):
        return {str(key): _to_plain(value) for key, value in output.items()}
    if isinstance(output, (list, tuple)):
        return [_to_plain(value) for value in output]
    if hasattr(output, "page_content"):
        metadata = getattr(output, "metadata", None) or {}
        document_id = metadata.get("chunk_id") or metadata.get("id") or getattr(output, "id", None)
        return {"id": document_id, "text": output.page_content, "score": metadata.get("score"), "metadata": metadata}
    return getattr(output, "content", output)


def _read_result(output: Any) -> Any:
    """Return what a tool returned as plain JSON, and anything else as text."""
    plain = _to_plain(output)
    try:
        return json.decode(json.encode(plain))
    except (TypeError, ValueError, RecursionError):
        return str(plain)


def _import_handler() -> Callable[[CallbackTrace], Any]:
    try:
        from langchain_core.callbacks import BaseCallbackHandler
    except ImportError:
        raise MissingExtraError("a LangChain target", "langchain") from None

    class Recorder(BaseCallbackHandler):  # type: ignore[misc, unused-ignore]  # untyped where it is not installed
        """Passes the callbacks of LangChain on to a trace."""

        def __init__(self, trace: CallbackTrace) -> None:
            self.trace = trace

        def on_retriever_start(self, *_: Any, run_id: Any = None, **__: Any) -> None:
            self.trace.start_retrieval(run_id)

        def on_retriever_end(self, documents: Sequence[Any], *, run_id: Any = None, **_: Any) -> None:
            self.trace.add_ranking(documents, run_id)

        def on_tool_start(
            self, serialized: Mapping[str, Any] | None, input_str: str, *, run_id: Any = None, **_: Any
        ) -> None:
            self.trace.start_tool(str((serialized or {}).get("name", "tool")), input_str, run_id)

        def on_tool_end(self, output: Any, *, run_id: Any = None, **_: Any) -> None:
            self.trace.end_tool(run_id, _read_result(output))

        def on_tool_error(self, error: BaseException, *, run_id: Any = None, **_: Any) -> None:
            self.trace.end_tool(run_id, error=format_exception(error))

        def on_llm_end(self, response: Any, **_: Any) -> None:
            for generation in chain.from_iterable(response.generations):
                usage = getattr(getattr(generation, "message", None), "usage_metadata", None)
                if usage:
                    self.trace.add_usage(usage)

    return Recorder
