"""Encodes golden cases in the native format and in formats that hold less; what is lost is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from assay.errors import InputError, Problem, shown
from assay.io.goldens.rows import HEADER
from assay.model import Case, Evidence, GoldenSet, User

ROW_MEMBERS = ("tags", "difficulty", "language", "cluster", "attributes", "history", "notes", "metadata")
DEFAULT_GRADE = 3
"""Grade of an expected id without a grade of its own."""
CHUNK_MEMBERS = ("expected_chunk_ids", "relevance", "forbidden_chunk_ids")
ANSWER_MEMBERS = ("expected_answer", "must_have", "rubric", "must_cite", "forbidden_text")
GOLD_MEMBERS = ("must_cite", "must_have", "rubric", "also_accept", "forbidden_text")


def native_lines(golden: GoldenSet) -> Iterator[bytes]:
    """Yield a golden set as native lines, its header first."""
    yield _encode_header(golden)
    for case in golden.cases:
        yield msgspec.json.encode(case) + b"\n"


def _encode_header(golden: GoldenSet) -> bytes:
    header = {name: value for name, value in msgspec.structs.asdict(golden).items() if name != "cases"}
    return msgspec.json.encode({HEADER: header}) + b"\n"


def rag_golden_lines(golden: GoldenSet, lost: Counter[str]) -> Iterator[bytes]:
    """Yield a golden set as `rag-golden` lines, its header first; count in `lost` what the format cannot represent.

    A case whose row could not be read back is left out. Raises InputError if no case remains.
    """
    has_header = False
    for case in golden.cases:
        row = _rag_golden_row(case, lost)
        refusal = _why_not_readable(case, row)
        if refusal:
            lost[refusal] += 1
            continue
        if not has_header:
            yield _encode_header(golden)
            has_header = True
        yield msgspec.json.encode(row) + b"\n"
    if not has_header:
        raise _no_case_left(lost)


def _why_not_readable(case: Case, row: dict[str, Any]) -> str:
    """Return why reading the row of a case would refuse it; empty if it would not."""
    if not case.question.strip():
        return "cases without a question, which this format needs"
    if case.behaviour == "permission_denied" and not any(row.get(name) for name in CHUNK_MEMBERS):
        return "cases whose forbidden chunks are not named by an id"
    if case.behaviour == "answer" and not any(row.get(name) for name in (*CHUNK_MEMBERS, *ANSWER_MEMBERS)):
        return "cases with nothing left to score"
    return ""


def _no_case_left(lost: Counter[str]) -> InputError:
    losses = ", ".join(f"{count} {description}" for description, count in sorted((+lost).items()))
    return InputError([Problem("", None, "", f"no case can be converted (lost: {losses})", "E_EMPTY")])


def _rag_golden_row(case: Case, lost: Counter[str]) -> dict[str, Any]:
    named_units = list(_named_units(case, lost))
    units = dict(named_units)
    lost["units of evidence that share a chunk id"] += len(named_units) - len(units)
    expected = [chunk_id for chunk_id, unit in units.items() if unit.required]
    graded = any(unit.grade != DEFAULT_GRADE or not unit.required for unit in units.values())
    if not expected and any(unit.grade for unit in units.values()):
        lost["units that are graded but not required, which become required"] += 1
    row: dict[str, Any] = {"id": case.id, "question": case.question, "expected_behavior": case.behaviour}
    fields = msgspec.to_builtins(case)  # without fields that have their default value
    row |= {name: fields[name] for name in (*GOLD_MEMBERS, *ROW_MEMBERS) if name in fields}
    renamed = {
        "expected_answer": case.reference,
        "expected_chunk_ids": expected,
        "relevance": {chunk_id: unit.grade for chunk_id, unit in units.items()} if graded else {},
        "forbidden_chunk_ids": _forbidden_ids(case, lost),
        "user_context": _user_context(case.user),
    }
    row |= {name: value for name, value in renamed.items() if value}
    lost["symbols"] += len(case.symbols)
    return row


def _user_context(user: User | None) -> dict[str, Any]:
    if not user:
        return {}
    renamed = {"tenant": "tenant_id", "id": "user_id"}
    return {renamed.get(name, name): value for name, value in msgspec.to_builtins(user).items()}


def _forbidden_ids(case: Case, lost: Counter[str]) -> list[str]:
    ids = [str(selector["chunk_id"]) for selector in case.forbidden if selector.keys() == {"chunk_id"}]
    lost["forbidden chunks that are not named by an id"] += len(case.forbidden) - len(ids)
    return ids


def _named_units(case: Case, lost: Counter[str]) -> Iterator[tuple[str, Evidence]]:
    """Yield the units that a single chunk id names; count in `lost` other units and members except id and grade."""
    for unit in case.evidence:
        selector = unit.any_of[0] if len(unit.any_of) == 1 else {}
        if selector.keys() != {"chunk_id"}:
            lost["units of evidence that are not named by a single chunk id"] += 1
            continue
        lost["reasons, quotes, hashes and kinds of evidence"] += bool(
            unit.reason or unit.quote or unit.text_hash or unit.kind
        )
        yield str(selector["chunk_id"]), unit


def qrels_lines(golden: GoldenSet, lost: Counter[str]) -> Iterator[bytes]:
    """Yield a golden set as qrels; only judgments of chunks with an id are converted.

    Under permission_denied the listed chunks are forbidden, not relevant: such a case is left out. Raises InputError
    for ids with blanks, and if no judgment remains.
    """
    problems: list[Problem] = []
    judgment_count = 0
    for case in golden.cases:
        units = list(_named_units(case, lost)) if case.behaviour != "permission_denied" else []
        lost["cases without a judgment"] += not units
        judgment_count += len(units)
        lost["questions, answers and everything else of a case"] += 1
        for chunk_id, unit in units:
            for name in (case.id, chunk_id):
                if name.split() != [name]:
                    message = f"blank inside an id (got {shown(name)}; expected none, because columns end at blanks)"
                    problems.append(Problem("", None, "id", message, "E_ID"))
            yield f"{case.id} 0 {chunk_id} {unit.grade}\n".encode()
    if problems:
        raise InputError(problems)
    if not judgment_count:
        raise _no_case_left(lost)
