"""A LangChain runnable: its own callbacks become stages, tokens and tool calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.config_model import LangchainTarget as Settings
from assay.config_model import Response
from assay.errors import SettingsError
from assay.model import Chunk, Observation, Stage, ToolCall, Usage
from assay.ports import Call, CallError, Operation
from assay.targets.python import resolve
from assay.targets.reply import read_reply
from assay.targets.template import fill

ANSWER_KEYS = ("answer", "output", "result", "output_text", "content")
DOCUMENT_KEYS = ("context", "source_documents", "documents")
ID_KEYS = ("chunk_id", "id", "doc_id", "_id")


class LangchainTarget:
    """Invokes a runnable with its callbacks recorded; an answer is text, a message, or an object that holds one."""

    def __init__(self, name: str, runnable: Any, settings: Settings, handler: Callable[[Trace], Any]) -> None:
        self.name, self.settings = name, settings
        self.operations: tuple[Operation, ...] = ("ask",)
        self._runnable, self._handler = runnable, handler

    async def identity(self) -> dict[str, Any]:
        """Return the import path and the kind of runnable."""
        kind = type(self._runnable).__name__
        return {"type": "langchain", "call": self.settings.call, "runnable": kind, "input": self.settings.input}

    async def observe(self, call: Call) -> Observation:
        """Invoke the runnable. Raises CallError, code `exception` where it raises anything."""
        trace = Trace(time.monotonic)
        try:
            given = fill(self.settings.input, call)
            output = await self._runnable.ainvoke(given, config={"callbacks": [self._handler(trace)]})
        except Exception as error:  # whatever a stranger's chain raises is the target's failure
            raise CallError("exception", f"{type(error).__name__}: {error}") from error
        response = self.settings.response
        if response.answer is not None or response.stages:
            return read_reply(_plain(output), call, response)
        return read_reply(_observation(output, trace, call), call, Response(key=response.key))

    async def aclose(self) -> None:
        """Nothing to give back."""


def from_settings(name: str, settings: Settings) -> LangchainTarget:
    """Return the target of an import path. Raises SettingsError where it is no runnable or the package is missing."""
    runnable = resolve(settings.call, name)
    if not hasattr(runnable, "ainvoke"):
        raise SettingsError(f"targets.{name}.call: not a runnable (got {type(runnable).__name__}; expected ainvoke)")
    return LangchainTarget(name, runnable, settings, _handler_factory())


class Trace:
    """What the callbacks told: rankings in order, tokens, tool calls."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.stages: list[Stage] = []
        self.tools: list[ToolCall] = []
        self.prompt_tokens: int | None = None
        self.completion_tokens: int | None = None
        self._clock = clock
        self._began: dict[Any, float] = {}

    def begin(self, run: Any) -> None:
        """Note when a retriever began."""
        self._began[run] = self._clock()

    def retrieved(self, documents: Sequence[Any], run: Any) -> None:
        """Take a ranking; a second retriever's stage gets a number."""
        began = self._began.pop(run, None)
        latency = None if began is None else round((self._clock() - began) * 1000, 3)
        name = "retrieved" if not self.stages else f"retrieved-{len(self.stages) + 1}"
        self.stages.append(Stage(name, chunks_of(documents), latency))

    def used(self, usage: Mapping[str, Any]) -> None:
        """Add the tokens of one call of a model, in the words of either protocol."""
        asked = usage.get("input_tokens", usage.get("prompt_tokens"))
        said = usage.get("output_tokens", usage.get("completion_tokens"))
        if isinstance(asked, int):
            self.prompt_tokens = (self.prompt_tokens or 0) + asked
        if isinstance(said, int):
            self.completion_tokens = (self.completion_tokens or 0) + said


def chunks_of(documents: Sequence[Any]) -> tuple[Chunk, ...]:
    """Return documents as chunks. Raises CallError where one has no id of its own: text is no stable key."""
    return tuple(_chunk(document, place) for place, document in enumerate(documents))


def _chunk(document: Any, place: int) -> Chunk:
    metadata = dict(getattr(document, "metadata", None) or {})
    own = getattr(document, "id", None)
    named = next((str(metadata[key]) for key in ID_KEYS if metadata.get(key) not in (None, "")), None)
    chunk_id = named or own
    if not chunk_id:
        keys = ", ".join(sorted(metadata)) or "none"
        raise CallError("schema", f"document {place} has no id (expected id, or chunk_id in its metadata; got {keys})")
    score = metadata.pop("score", None)
    number = float(score) if isinstance(score, (int, float)) and not isinstance(score, bool) else None
    return Chunk(str(chunk_id), score=number, text=getattr(document, "page_content", None), metadata=metadata or None)


def _observation(output: Any, trace: Trace, call: Call) -> Observation:
    documents: Any = None
    answer = output
    if isinstance(output, Mapping):
        answer = next((output[key] for key in ANSWER_KEYS if key in output), None)
        documents = next((output[key] for key in DOCUMENT_KEYS if isinstance(output.get(key), (list, tuple))), None)
    text = answer if isinstance(answer, str) else getattr(answer, "content", None)
    if not isinstance(text, str):
        raise CallError("schema", f"no text in the output (got {type(output).__name__}; expected one of {ANSWER_KEYS})")
    stages = list(trace.stages)
    if documents is not None and all(hasattr(each, "page_content") for each in documents):
        stages.append(Stage("context", chunks_of(documents)))
    return Observation(
        call.case.id,
        stages=tuple(stages) or None,
        answer=text,
        tool_calls=tuple(trace.tools) or None,
        usage=Usage(prompt_tokens=trace.prompt_tokens, completion_tokens=trace.completion_tokens),
    )


def _plain(output: Any) -> Any:
    """Return the output as plain values, documents and messages included, for the response mapping."""
    if isinstance(output, Mapping):
        return {str(key): _plain(value) for key, value in output.items()}
    if isinstance(output, (list, tuple)):
        return [_plain(value) for value in output]
    if hasattr(output, "page_content"):
        return {"id": output.id, "text": output.page_content, "metadata": _plain(output.metadata)}
    return getattr(output, "content", output)


def _handler_factory() -> Callable[[Trace], Any]:
    try:
        from langchain_core.callbacks import BaseCallbackHandler
    except ImportError:
        raise SettingsError("a LangChain target needs a package more: pip install 'rag-assay[langchain]'") from None

    class Recorder(BaseCallbackHandler):  # type: ignore[misc, unused-ignore]  # untyped where it is not installed
        """Hands what LangChain tells to a trace."""

        def __init__(self, trace: Trace) -> None:
            self.trace = trace

        def on_retriever_start(self, *_: Any, run_id: Any = None, **__: Any) -> None:
            self.trace.begin(run_id)

        def on_retriever_end(self, documents: Sequence[Any], *, run_id: Any = None, **_: Any) -> None:
            self.trace.retrieved(documents, run_id)

        def on_tool_start(self, serialized: Mapping[str, Any] | None, input_str: str, **_: Any) -> None:
            self.trace.tools.append(ToolCall(str((serialized or {}).get("name", "tool")), {"input": input_str}))

        def on_llm_end(self, response: Any, **_: Any) -> None:
            for generation in (each for group in response.generations for each in group):
                usage = getattr(getattr(generation, "message", None), "usage_metadata", None)
                if usage:
                    self.trace.used(usage)

    return Recorder
