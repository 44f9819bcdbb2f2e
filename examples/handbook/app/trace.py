"""The trace of one question: every stage with its ranking and time, in the shape of Assay's observation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from examples.handbook.app.records import Answer, Chunk, Hit, Ranking, Statement
from examples.handbook.app.text import count_tokens


class Trace:
    """Collects stages and times; `clock` returns seconds that never go back."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._steps: dict[str, float] = {}
        self.stages: list[dict[str, Any]] = []

    def _since(self, moment: float) -> float:
        return round((self._clock() - moment) * 1000, 3)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure something that returns no ranking."""
        began = self._clock()
        yield
        self._steps[name] = self._since(began)

    @contextmanager
    def stage(self, name: str) -> Iterator[Ranking]:
        """Measure a stage, and report the hits that are put into the list that it gives."""
        began = self._clock()
        hits: Ranking = []
        yield hits
        latency = self._since(began)
        chunks = [_reported(hit, rank, name == "context") for rank, hit in enumerate(hits, start=1)]
        self.stages.append({"name": name, "chunks": chunks, "latency_ms": latency})

    def usage(self, context: Sequence[Chunk], answer: Answer | None) -> dict[str, Any]:
        """Return times, tokens (see `count_tokens`) and cost; a model of somebody else's has a cost not known here."""
        found: dict[str, Any] = {
            "end_to_end_ms": self._since(self._began),
            "stage_ms": self._steps,
            "context_tokens": sum(count_tokens(chunk.text) for chunk in context),
        }
        if answer is not None:
            completion = answer.completion_tokens
            found["prompt_tokens"] = answer.prompt_tokens
            found["completion_tokens"] = count_tokens(answer.text) if completion is None else completion
            found |= {"cost_usd": 0.0} if completion is None else {}
        return found


def _reported(hit: Hit, rank: int, with_text: bool) -> dict[str, Any]:
    chunk = hit.chunk
    found = {"chunk_id": chunk.chunk_id, "score": hit.score, "rank": rank}
    if with_text:
        found["text"] = chunk.text
    return found | {"text_hash": chunk.text_hash, "metadata": chunk.metadata()}


def results(ranking: Ranking) -> list[dict[str, Any]]:
    """Return a ranking as a search shows it, texts included."""
    return [_reported(hit, rank, with_text=True) for rank, hit in enumerate(ranking, start=1)]


def shown(answer: Answer, statements: Sequence[Statement]) -> dict[str, Any]:
    """Return the answer's part of the observation; only an answer has sentences with citations."""
    cited = [[chunk.chunk_id for chunk in statement.sources] for statement in statements]
    found: dict[str, Any] = {
        "answer": answer.text,
        "behaviour": answer.behaviour,
        "citations": list(dict.fromkeys(chunk_id for ids in cited for chunk_id in ids)),
    }
    if answer.behaviour == "answer":
        found["sentences"] = [
            {"text": statement.text, "citations": ids} for statement, ids in zip(statements, cited, strict=True)
        ]
    return found
