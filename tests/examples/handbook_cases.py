"""Shared helpers of the handbook tests: golden rows, users, and numbers from a trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HANDBOOK = ROOT / "examples" / "handbook"
CANARY = "CANARY-7F3A-HANDBOOK"
Row = dict[str, Any]


def rows_of(name: str) -> list[Row]:
    """Return the rows of a JSONL file of the handbook."""
    return [json.loads(line) for line in (HANDBOOK / name).read_text(encoding="utf-8").split("\n") if line]


def user_of(case: Row) -> Row:
    """Return the user of a case in the form that the application expects."""
    return {"tenant": case["user_context"]["tenant_id"], "roles": case["user_context"]["roles"]}


def chunks_of_stage(observation: Row, name: str) -> list[str]:
    """Return the chunk ids of a stage."""
    return next(
        [chunk["chunk_id"] for chunk in each["chunks"]] for each in observation["stages"] if each["name"] == name
    )


def seen(observation: Row) -> dict[str, Row]:
    """Return everything that some stage showed."""
    return {chunk["chunk_id"]: chunk for each in observation["stages"] for chunk in each["chunks"]}


def behaves(case: Row, observation: Row) -> bool:
    """Whether the behaviour is the expected one or another accepted one."""
    return observation["behaviour"] in (case["expected_behavior"], *case.get("also_accept", []))


def contains_keywords(case: Row, observation: Row) -> bool:
    """Whether the answer holds the key facts of the case and none of its wrong patterns."""
    answer = observation["answer"].casefold()
    rubric = case.get("rubric", {"correct_keywords": [], "incorrect_patterns": []})
    is_present = [keyword.casefold() in answer for keyword in rubric["correct_keywords"]]
    right = not is_present or (all(is_present) if rubric.get("match") == "all" else any(is_present))
    wrong = any(pattern.casefold() in answer for pattern in rubric["incorrect_patterns"])
    return right and not wrong and all(fact.casefold() in answer for fact in case.get("must_have", []))


def fake_clock() -> Callable[[], float]:
    """Return a clock that moves one millisecond each time it is read."""
    ticks = count()
    return lambda: next(ticks) / 1000


HANDBOOK_CASES = rows_of("golden/handbook.jsonl")
OPERATIONS_CASES = rows_of("golden/operations.jsonl")
CORPUS = {chunk["chunk_id"]: chunk for name in ("chunks", "operations") for chunk in rows_of(f"corpus/{name}.jsonl")}
