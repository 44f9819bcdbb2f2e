"""A reply with a value of another type, or with a number that JSON does not have, is refused with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import assay

CASES = [{"id": "tea", "question": "When is tea?", "reference": "At four"}]
NAN, INFINITY = float("nan"), float("inf")
REPLIES: dict[str, tuple[Any, str]] = {
    "answer nan": ({"answer": NAN}, "answer: wrong type (got nan; expected a"),
    "answer number": ({"answer": 4}, "answer: wrong type (got 4; expected a"),
    "only score": (
        {"answer": "x", "stages": [{"name": "retrieved", "chunks": [{"chunk_id": "a", "score": NAN}]}]},
        "stages[0].chunks[0].score: not finite (got nan; expected a number",
    ),
    "second score": (
        {"answer": "x", "documents": [{"id": "a", "score": 2.0}, {"id": "b", "score": NAN}]},
        "stages[0].chunks[1].score: not finite (got nan",
    ),
    "infinite": (
        {"answer": "x", "documents": [{"id": "a", "score": INFINITY}, {"id": "b", "score": 1.0}]},
        "stages[0].chunks[0].score: not finite (got inf",
    ),
}


@pytest.mark.parametrize("name", REPLIES)
def test_what_is_wrong_with_a_reply_is_said_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    reply, message = REPLIES[name]
    (observation,) = assay.observe(lambda question: reply, CASES, progress=False)
    assert observation.error is not None
    assert observation.error.message.startswith(message), observation.error.message


def test_a_reply_without_scores_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reply = {"answer": "At four", "documents": [{"id": "a"}, {"id": "b"}]}
    (observation,) = assay.observe(lambda question: reply, CASES, progress=False)
    assert observation.error is None
