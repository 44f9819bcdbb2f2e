"""A LlamaIndex query engine or retriever: source nodes become the ranking, in the order in which they came back.

Only its methods are used, so that nothing of the framework is imported here; the package itself is the user's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from assay.config_model import LlamaindexTarget as Settings
from assay.config_model import Response
from assay.errors import Problem, SettingsError
from assay.model import Chunk, Observation, Stage
from assay.ports import SEARCHED, Call, CallError, Operation
from assay.targets.python import resolve
from assay.targets.reply import read_reply


class LlamaindexTarget:
    """Asks with `aquery`, searches with `aretrieve`; the plain methods stand in where those are missing."""

    def __init__(self, name: str, engine: Any, retriever: Any, settings: Settings) -> None:
        self.name, self.settings = name, settings
        self._parts: dict[Operation, Any] = {}
        if retriever is not None:
            self._parts["search"] = retriever
        if engine is not None:
            self._parts["ask"] = engine
        self.operations: tuple[Operation, ...] = tuple(self._parts)

    async def identity(self) -> dict[str, Any]:
        """Return the import paths and the kinds of the parts."""
        kinds = {operation: type(part).__name__ for operation, part in self._parts.items()}
        return {"type": "llamaindex", "call": self.settings.call, "search": self.settings.search, "parts": kinds}

    async def observe(self, call: Call) -> Observation:
        """Ask or retrieve. Raises CallError, code `exception` where that raises anything."""
        part = self._parts[call.operation]
        try:
            if call.operation == "search":
                found, answer = await _either(part, "aretrieve", "retrieve", call.case.question), None
            else:
                answer = await _either(part, "aquery", "query", call.case.question)
                found = getattr(answer, "source_nodes", None)
        except Exception as error:  # whatever a stranger's engine raises is the target's failure
            raise CallError("exception", f"{type(error).__name__}: {error}") from error
        name = SEARCHED if call.operation == "search" else "retrieved"
        stages = None if found is None else (Stage(name, chunks_of(found)),)
        text = UNSET if answer is None else getattr(answer, "response", None)
        seen = Observation(call.case.id, stages=stages, answer=text)
        return read_reply(seen, call, Response(key=self.settings.response.key))

    async def aclose(self) -> None:
        """Nothing to give back."""


def from_settings(name: str, settings: Settings) -> LlamaindexTarget:
    """Return the target of import paths. Raises SettingsError where they name no engine and no retriever."""
    engine: Any = resolve(settings.call, name)
    retriever: Any = resolve(settings.search, name) if settings.search is not None else None
    if retriever is None and hasattr(engine, "retrieve") and not hasattr(engine, "query"):
        engine, retriever = None, engine
    for part, method in ((engine, "query"), (retriever, "retrieve")):
        if part is not None and not (hasattr(part, method) or hasattr(part, f"a{method}")):
            message = f"has neither {method} nor a{method} (got {type(part).__name__})"
            raise SettingsError([Problem("", None, f"targets.{name}", message, "E_TARGET")])
    return LlamaindexTarget(name, engine, retriever, settings)


def chunks_of(nodes: Sequence[Any]) -> tuple[Chunk, ...]:
    """Return nodes with scores as chunks: the node's id (or chunk_id of its metadata), text, score and metadata."""
    return tuple(_chunk(each, place) for place, each in enumerate(nodes))


def _chunk(scored: Any, place: int) -> Chunk:
    node = getattr(scored, "node", scored)
    metadata = dict(getattr(node, "metadata", None) or {})
    chunk_id = metadata.get("chunk_id") or getattr(node, "node_id", None)
    if not chunk_id:
        raise CallError("schema", f"node {place} has no id (expected node_id, or chunk_id in its metadata)")
    text = node.get_content() if hasattr(node, "get_content") else getattr(node, "text", None)
    score = getattr(scored, "score", None)
    return Chunk(str(chunk_id), score=None if score is None else float(score), text=text, metadata=metadata or None)


async def _either(part: Any, method: str, plain: str, question: str) -> Any:
    if hasattr(part, method):
        return await getattr(part, method)(question)
    return await asyncio.to_thread(getattr(part, plain), question)
