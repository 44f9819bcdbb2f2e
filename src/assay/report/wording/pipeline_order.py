"""The order in which steps of a pipeline are shown: as a question passes them, whatever order a file has them in."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ROLES = (
    (3, r"re-?rank"),
    (2, r"merg|fus|hybrid|rrf|filter|dedup|acl"),
    (6, r"citation|cite|guard|moderat|check|verif|post-?process"),
    (1, r"retriev|search|bm25|vector|dense|sparse|keyword|lookup|fetch|knn"),
    (5, r"generat|llm|answer|complet|synthes|respon|chat"),
    (4, r"context|prompt|pack|compress|assembl"),
    (0, r"rewrit|rout|plan|expan|classif|intent|query|embed|translat"),
)
"""The place of a step in a pipeline, and words of names that tell it; the first row of which a name has a word counts:
"context retrieval" retrieves, and "answer check" checks."""
_PATTERNS = [(place, re.compile(words, re.IGNORECASE)) for place, words in _ROLES]


def order_steps(steps: Iterable[str]) -> list[str]:
    """Return steps in the order of a pipeline by what their names say; one that says nothing stays after the last.

    >>> order_steps(["generate", "log", "rerank", "retrieve"]), order_steps(["bm25", "dense", "merged", "context"])
    (['retrieve', 'rerank', 'generate', 'log'], ['bm25', 'dense', 'merged', 'context'])
    """
    placed, before = [], -1
    for number, step in enumerate(steps):
        before = next((place for place, words in _PATTERNS if words.search(step) is not None), before)
        placed.append((before, number, step))
    return [step for _, _, step in sorted(placed)]
