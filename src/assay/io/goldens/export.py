"""Golden cases written in formats that hold less than the native one; what they cannot hold is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from assay.errors import InputError, Problem, shown
from assay.io.goldens.rows import HEADER
from assay.model import Case, Evidence, GoldenSet, User

RELATED = ("tags", "difficulty", "language", "cluster", "attributes", "history", "notes", "metadata")
PLAIN_GRADE = 3
"""What an expected id without a grade of its own is worth."""
CHUNKS = ("expected_chunk_ids", "relevance", "forbidden_chunk_ids")
ANSWER_GOLD = ("expected_answer", "must_have", "rubric", "must_cite", "forbidden_text")
SHARED = ("must_cite", "must_have", "rubric", "also_accept", "forbidden_text")


def native_lines(golden: GoldenSet) -> Iterator[bytes]:
    """Yield a golden set as native lines, its header first."""
    yield _header(golden)
    for case in golden.cases:
        yield msgspec.json.encode(case) + b"\n"


def _header(golden: GoldenSet) -> bytes:
    header = {name: value for name, value in msgspec.structs.asdict(golden).items() if name != "cases"}
    return msgspec.json.encode({HEADER: header}) + b"\n"


def rag_golden_lines(golden: GoldenSet, lost: Counter[str]) -> Iterator[bytes]:
    """Yield a golden set as `rag-golden` lines, its header first; count in `lost` what the format cannot hold.

    A case that could not be read again is left out. Raises InputError where none is left.
    """
    left = 0
    for case in golden.cases:
        row = _rag_golden(case, lost)
        if why := _not_read_again(case, row):
            lost[why] += 1
            continue
        if not left:
            yield _header(golden)
        left += 1
        yield msgspec.json.encode(row) + b"\n"
    if not left:
        raise _nothing_left(lost)


def _not_read_again(case: Case, row: dict[str, Any]) -> str:
    """Return what to say of a case whose row would be refused; empty where it would not."""
    if not case.question.strip():
        return "cases without a question, which this format needs"
    if case.behaviour == "permission_denied" and not any(row.get(name) for name in CHUNKS):
        return "cases whose forbidden chunks no id names"
    if case.behaviour == "answer" and not any(row.get(name) for name in (*CHUNKS, *ANSWER_GOLD)):
        return "cases of which nothing that can be scored is left"
    return ""


def _nothing_left(lost: Counter[str]) -> InputError:
    said = ", ".join(f"{count} {what}" for what, count in sorted((+lost).items()))
    return InputError([Problem("", None, "", f"no case can be carried (not carried: {said})", "E_EMPTY")])


def _rag_golden(case: Case, lost: Counter[str]) -> dict[str, Any]:
    named = list(_named_units(case, lost))
    units = dict(named)
    lost["units of evidence that share a chunk id"] += len(named) - len(units)
    expected = [chunk_id for chunk_id, unit in units.items() if unit.required]
    graded = any(unit.grade != PLAIN_GRADE or not unit.required for unit in units.values())
    if not expected and any(unit.grade for unit in units.values()):
        lost["units that are graded but not required, which become required"] += 1
    row: dict[str, Any] = {"id": case.id, "question": case.question, "expected_behavior": case.behaviour}
    known = msgspec.to_builtins(case)
    row |= {name: known[name] for name in (*SHARED, *RELATED) if name in known}
    row |= {
        name: value
        for name, value in (
            ("expected_answer", case.reference),
            ("expected_chunk_ids", expected),
            ("relevance", {chunk_id: unit.grade for chunk_id, unit in units.items()} if graded else {}),
            ("forbidden_chunk_ids", _forbidden_ids(case, lost)),
            ("user_context", _user_context(case.user)),
        )
        if value
    }
    lost["symbols"] += len(case.symbols)
    return row


def _user_context(user: User | None) -> dict[str, Any]:
    renamed = {"tenant": "tenant_id", "id": "user_id"}
    return {renamed.get(name, name): value for name, value in msgspec.to_builtins(user).items()} if user else {}


def _forbidden_ids(case: Case, lost: Counter[str]) -> list[str]:
    ids = [str(selector["chunk_id"]) for selector in case.forbidden if selector.keys() == {"chunk_id"}]
    lost["forbidden chunks that are not named by an id"] += len(case.forbidden) - len(ids)
    return ids


def _named_units(case: Case, lost: Counter[str]) -> Iterator[tuple[str, Evidence]]:
    """Yield the units that one chunk id names; others, and what a unit says beside id and grade, are counted."""
    for unit in case.evidence:
        selector = unit.any_of[0] if len(unit.any_of) == 1 else {}
        if selector.keys() != {"chunk_id"}:
            lost["units of evidence that no single chunk id names"] += 1
            continue
        lost["reasons, quotes, hashes and kinds of evidence"] += bool(
            unit.reason or unit.quote or unit.text_hash or unit.kind
        )
        yield str(selector["chunk_id"]), unit


def qrels_lines(golden: GoldenSet, lost: Counter[str]) -> Iterator[bytes]:
    """Yield a golden set as qrels; only judgments of named chunks are carried.

    Under permission_denied the listed chunks are forbidden, not relevant: such a case is left out. Raises InputError
    for ids with blanks, and where no judgment is left.
    """
    problems, carried = [], 0
    for case in golden.cases:
        units = list(_named_units(case, lost)) if case.behaviour != "permission_denied" else []
        lost["cases without a judgment"] += not units
        carried += len(units)
        lost["questions, answers and everything else of a case"] += 1
        for chunk_id, unit in units:
            for name in (case.id, chunk_id):
                if name.split() != [name]:
                    message = f"blank inside an id (got {shown(name)}; expected none, because columns end at blanks)"
                    problems.append(Problem("", None, "id", message, "E_ID"))
            yield f"{case.id} 0 {chunk_id} {unit.grade}\n".encode()
    if problems:
        raise InputError(problems)
    if not carried:
        raise _nothing_left(lost)
