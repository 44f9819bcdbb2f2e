"""A small RAG system over a company handbook: `handbook(config, faults)`, and one callable for each configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from examples.handbook.app.pipeline import ENTITY_LINKED, HYBRID_RERANK, VECTOR_ONLY, Handbook

__all__ = ["entity_linked", "handbook", "hybrid_rerank", "vector_only"]


def handbook(config: str, faults: Sequence[str] = ()) -> Handbook:
    """Return the handbook in one configuration, with `.search(query, k, user)` and `.ask(question, user)`.

    `faults` are names of `examples.handbook.app.faults.FAULTS`. Raises ValueError for an unknown name.
    """
    return Handbook(config, faults)


_shared = cache(handbook)


def vector_only(question: str, user: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Ask the configuration that has only the vector index."""
    return _shared(VECTOR_ONLY).ask(question, user)


def hybrid_rerank(question: str, user: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Ask the configuration with keywords and vectors, merged and reranked."""
    return _shared(HYBRID_RERANK).ask(question, user)


def entity_linked(question: str, user: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Ask the configuration that also looks up structured ids in every document and follows them."""
    return _shared(ENTITY_LINKED).ask(question, user)
