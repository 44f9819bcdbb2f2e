"""A target that is a LlamaIndex query engine or retriever: its source nodes, in their order, become the ranking.

The source nodes of an answer are those that the engine showed its model, so they are the stage `context` too.

Only methods of the user's own objects are called, so this module does not import the framework.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from assay.calls.interfaces import SEARCH_STAGE, CallError, TargetCall, TargetOperation
from assay.calls.raised_errors import make_exception_error
from assay.calls.target_kinds import TargetRequest
from assay.formats.foreign.chunk_shapes import ShapeError, read_chunk
from assay.records.errors import Problem, SettingsError
from assay.records.observations import CONTEXT_STAGE, RETRIEVED_STAGE, Chunk, Observation, Stage
from assay.records.settings import LlamaindexTargetSettings as Settings
from assay.records.settings import ResponseMapping
from assay.targets.python import import_target_object
from assay.targets.reply import read_reply


class LlamaindexTarget:
    """Asks with `aquery` and searches with `aretrieve`, or with `query` and `retrieve` if those are missing."""

    def __init__(self, name: str, engine: Any, retriever: Any, settings: Settings) -> None:
        self.name, self.settings = name, settings
        self._parts: dict[TargetOperation, Any] = {}
        if retriever is not None:
            self._parts["search"] = retriever
        if engine is not None:
            self._parts["ask"] = engine
        self.operations: tuple[TargetOperation, ...] = tuple(self._parts)

    async def identity(self) -> dict[str, Any]:
        """Return the import paths and the kinds of the parts."""
        kinds = {operation: type(part).__name__ for operation, part in self._parts.items()}
        return {"type": "llamaindex", "call": self.settings.call, "search": self.settings.search, "parts": kinds}

    async def observe(self, call: TargetCall) -> Observation:
        """Ask or retrieve. Raises CallError with code `exception` for any exception of the engine."""
        part = self._parts[call.operation]
        try:
            if call.operation == "search":
                nodes, answer = await _call_method(part, "retrieve", call.case.question), None
            else:
                answer = await _call_method(part, "query", call.case.question)
                nodes = getattr(answer, "source_nodes", None)
        except Exception as error:  # the engine is not ours: anything that it raises is a failure of the target
            raise make_exception_error(error) from error
        names = (SEARCH_STAGE,) if call.operation == "search" else (RETRIEVED_STAGE, CONTEXT_STAGE)
        chunks = None if nodes is None else _build_chunks(nodes)
        stages = None if chunks is None else tuple(Stage(name, chunks) for name in names)
        text = UNSET if answer is None else answer if isinstance(answer, str) else getattr(answer, "response", None)
        observation = Observation(call.case.id, stages=stages, answer=text)
        return read_reply(observation, call, ResponseMapping(key=self.settings.response.key))

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def make_target(request: TargetRequest) -> LlamaindexTarget:
    """Make the target of a settings file."""
    return make_llamaindex_target(request.name, request.settings)


def make_llamaindex_target(name: str, settings: Settings) -> LlamaindexTarget:
    """Return the target of import paths. Raises SettingsError if they name neither an engine nor a retriever."""
    engine: Any = import_target_object(settings.call, name)
    retriever: Any = import_target_object(settings.search, name) if settings.search is not None else None
    return make_engine_target(name, engine, retriever, settings)


def make_engine_target(name: str, engine: Any, retriever: Any, settings: Settings) -> LlamaindexTarget:
    """Return the target of a query engine, a retriever, or both. Raises SettingsError for objects that are neither."""
    if retriever is None and hasattr(engine, "retrieve") and not hasattr(engine, "query"):
        engine, retriever = None, engine
    for part, method in ((engine, "query"), (retriever, "retrieve")):
        if part is not None and not (hasattr(part, method) or hasattr(part, f"a{method}")):
            message = f"has neither {method} nor a{method} (got {type(part).__name__})"
            raise SettingsError([Problem("", None, f"targets.{name}", message, "E_TARGET")])
    return LlamaindexTarget(name, engine, retriever, settings)


def _build_chunks(nodes: Sequence[Any]) -> tuple[Chunk, ...]:
    """Return nodes with scores as chunks: the node's id (or chunk_id of its metadata), text, score and metadata."""
    return tuple(_build_chunk(scored_node, index) for index, scored_node in enumerate(nodes))


def _build_chunk(scored_node: Any, index: int) -> Chunk:
    node = getattr(scored_node, "node", scored_node)
    metadata = dict(getattr(node, "metadata", None) or {})
    members = {
        "id": metadata.get("chunk_id") or getattr(node, "node_id", None),
        "text": node.get_content() if hasattr(node, "get_content") else getattr(node, "text", None),
        "score": getattr(scored_node, "score", None),
        "metadata": metadata,
    }
    try:
        return read_chunk(members, index, lambda _: None)
    except ShapeError as error:
        raise CallError("schema", str(error)) from None


async def _call_method(part: Any, method: str, question: str) -> Any:
    """Await the asynchronous variant of a method, whose name begins with `a`, or run the method in a thread."""
    if hasattr(part, f"a{method}"):
        return await getattr(part, f"a{method}")(question)
    return await asyncio.to_thread(getattr(part, method), question)
