"""What is wrong with a line of outputs that cannot be decoded, and which of its keys nobody reads.

Lines are decoded fast; only one that fails, or a sample, is looked at again here, slowly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import msgspec

from assay.errors import InputError, Problem
from assay.io import strictjson
from assay.io.shape import MisfitError, fit
from assay.io.strictjson import pointer
from assay.model import Chunk, Stage

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)
CHUNK_LISTS = ("chunks", "retrieved_chunks", "reranked_chunks", "context_chunks")
_PLACED = re.compile(r"^(?P<what>.*?)(?: - at `\$?\.?(?P<field>[^`]*)`)?$", re.DOTALL)


def line_problems(path: str, number: int, line: bytes, record: type[msgspec.Struct], error: Exception) -> list[Problem]:
    """Return everything that makes a line undecodable as `record`, with the places and the values found there."""
    if isinstance(error, RecursionError):
        message = (
            f"nested too deep (got a line that cannot be followed; expected {strictjson.MAX_DEPTH} levels at most)"
        )
        return [Problem(path, number, "", message, "E_DEPTH")]
    try:
        row = strictjson.decode(line.decode(), path, number)
    except InputError as faults:
        return list(faults.problems)
    except UnicodeDecodeError as bad:
        got = f"got byte 0x{line[bad.start]:02x} at byte {bad.start + 1} of the line"
        return [Problem(path, number, "", f"not UTF-8 ({got}; expected UTF-8 text)", "E_ENCODING")]
    found = [Problem(path, number, field, message, code) for field, message, code in _misfits(row, record)]
    return found or [_as_said(path, number, error)]


def _as_said(path: str, number: int, error: Exception) -> Problem:
    match = _PLACED.match(str(error))
    assert match is not None  # every part of the pattern may be empty
    what = match["what"]
    return Problem(path, number, match["field"] or "", what[:1].lower() + what[1:], "E_VALUE")


def _misfits(row: Any, record: type[msgspec.Struct]) -> Iterator[tuple[str, str, str]]:
    """Yield what does not fit the record: chunk by chunk where a list of chunks is meant; unknown keys are no fault."""
    explained: list[str] = []
    for at, item in _chunk_items(row):
        if isinstance(item, dict):
            explained.append(at)
            yield from _faults(item, Chunk, at)
    for field, message, code in _faults(row, record, ""):
        if not any(field == at or field.startswith(f"{at}.") for at in explained):
            yield field, message, code


def _faults(row: Any, record: type[msgspec.Struct], at: str) -> Iterator[tuple[str, str, str]]:
    try:
        fit(row, record, at)
    except MisfitError as error:
        for field, message, code in error.misfits:
            if code == "E_MISSING" and isinstance(row, dict):
                message += _near_miss(field.rpartition(".")[2], row)
            if code != "E_UNKNOWN_FIELD":
                yield field, message, code


def _near_miss(missing: str, row: dict[str, Any]) -> str:
    near = get_close_matches(missing, list(row), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; its keys are {', '.join(map(repr, row)) or 'none'}"


def _chunk_items(row: Any) -> Iterator[tuple[str, Any]]:
    """Yield the place and the value of every item of every list of chunks in a row."""
    if not isinstance(row, dict):
        return
    for name in CHUNK_LISTS:
        if isinstance(row.get(name), list):
            yield from ((f"{name}[{place}]", item) for place, item in enumerate(row[name]))
    stages = row.get("stages")
    for number, stage in enumerate(stages if isinstance(stages, list) else ()):
        yield from ((f"stages[{number}].{at}", item) for at, item in _chunk_items(stage))


# ── keys that nobody reads ───────────────────────────────────────────────────────────────────────────────────────


ACCESS_KEYS = frozenset({"tenant", "tenant_id", "roles", "acl_roles", "position", "valid_from", "valid_to"})


def unknown_keys(line: bytes, record: type[msgspec.Struct]) -> dict[str, str]:
    """Return the keys of one decodable line that its record does not have, each with a hint at what may be meant."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # what nobody reads may be deeper, or other text, than this reader takes
        return {}
    found = dict(_unknown(row, record, ""))
    if "stages" in record.__struct_fields__:
        for stage in row.get("stages") or ():
            found.update(_unknown(stage, Stage, "stages[]."))
    for at, item in _chunk_items(row):
        if isinstance(item, dict):
            found.update(_unknown(item, Chunk, re.sub(r"\[\d+\]", "[]", f"{at}.")))
    return found


def _unknown(row: dict[str, Any], record: type[msgspec.Struct], prefix: str) -> Iterator[tuple[str, str]]:
    known = record.__struct_fields__
    for key in row:
        if key not in known and not key.startswith("x_"):
            near = get_close_matches(key, known, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            if record is Chunk and key in ACCESS_KEYS:
                hint = " (who may see a chunk is read from its metadata)"
            yield prefix + pointer("", key), hint
