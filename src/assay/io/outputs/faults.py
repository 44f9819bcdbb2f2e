"""Explains why a line of outputs cannot be decoded, and finds keys that are not part of its record.

Lines are decoded by a fast decoder; only lines that fail, and a sample of the others, are examined here.
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
_DECODER_MESSAGE = re.compile(r"^(?P<text>.*?)(?: - at `\$?\.?(?P<field>[^`]*)`)?$", re.DOTALL)


def line_problems(path: str, number: int, line: bytes, record: type[msgspec.Struct], error: Exception) -> list[Problem]:
    """Return all reasons why a line cannot be decoded as `record`, each with its field and the value there.

    `error` is the exception of the fast decoder; it is reported if no reason of our own is found.
    """
    if isinstance(error, RecursionError):
        message = f"nested too deeply (got too many levels; expected {strictjson.MAX_DEPTH} levels at most)"
        return [Problem(path, number, "", message, "E_DEPTH")]
    try:
        row = strictjson.decode(line.decode(), path, number)
    except InputError as faults:
        return list(faults.problems)
    except UnicodeDecodeError as bad:
        got = f"got byte 0x{line[bad.start]:02x} at byte {bad.start + 1} of the line"
        return [Problem(path, number, "", f"not UTF-8 ({got}; expected UTF-8 text)", "E_ENCODING")]
    problems = [Problem(path, number, field, message, code) for field, message, code in _find_misfits(row, record)]
    return problems or [_decoder_problem(path, number, error)]


def _decoder_problem(path: str, number: int, error: Exception) -> Problem:
    """Return the message of the decoder as a problem, with the field that it names."""
    match = _DECODER_MESSAGE.match(str(error))
    assert match is not None  # every part of the pattern may be empty
    text = match["text"]
    return Problem(path, number, match["field"] or "", text[:1].lower() + text[1:], "E_VALUE")


def _find_misfits(row: Any, record: type[msgspec.Struct]) -> Iterator[tuple[str, str, str]]:
    """Yield the fields that do not fit the record, chunks one by one; unknown keys are allowed."""
    explained: list[str] = []  # paths of chunks: they may also be strings, so the record explains them badly
    for at, item in _chunk_items(row):
        if isinstance(item, dict):
            explained.append(at)
            yield from _fit_errors(item, Chunk, at)
    for field, message, code in _fit_errors(row, record, ""):
        if not any(field == at or field.startswith(f"{at}.") for at in explained):
            yield field, message, code


def _fit_errors(row: Any, record: type[msgspec.Struct], at: str) -> Iterator[tuple[str, str, str]]:
    try:
        fit(row, record, at)
    except MisfitError as error:
        for field, message, code in error.misfits:
            if code == "E_MISSING" and isinstance(row, dict):
                message += _suggest_key(field.rpartition(".")[2], row)
            if code != "E_UNKNOWN_FIELD":
                yield field, message, code


def _suggest_key(missing: str, row: dict[str, Any]) -> str:
    near = get_close_matches(missing, list(row), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; its keys are {', '.join(map(repr, row)) or 'none'}"


def _chunk_items(row: Any) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of every item of every list of chunks in a row."""
    if not isinstance(row, dict):
        return
    for name in CHUNK_LISTS:
        if isinstance(row.get(name), list):
            yield from ((f"{name}[{index}]", item) for index, item in enumerate(row[name]))
    stages = row.get("stages")
    for number, stage in enumerate(stages if isinstance(stages, list) else ()):
        yield from ((f"stages[{number}].{at}", item) for at, item in _chunk_items(stage))


# ── unknown keys ───────────────────────────────────────────────────────────────────────────────────────


ACCESS_KEYS = frozenset({"tenant", "tenant_id", "roles", "acl_roles", "position", "valid_from", "valid_to"})


def unknown_keys(line: bytes, record: type[msgspec.Struct]) -> dict[str, str]:
    """Return the keys of a decodable line that its record does not have, each with a hint (empty if there is none)."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # unknown members may contain what this stricter parser refuses
        return {}
    hints = dict(_unknown_members(row, record, ""))
    if "stages" in record.__struct_fields__:
        for stage in row.get("stages") or ():
            hints.update(_unknown_members(stage, Stage, "stages[]."))
    for at, item in _chunk_items(row):
        if isinstance(item, dict):
            hints.update(_unknown_members(item, Chunk, re.sub(r"\[\d+\]", "[]", f"{at}.")))
    return hints


def _unknown_members(row: dict[str, Any], record: type[msgspec.Struct], prefix: str) -> Iterator[tuple[str, str]]:
    fields = record.__struct_fields__
    for key in row:
        if key not in fields and not key.startswith("x_"):
            near = get_close_matches(key, fields, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            if record is Chunk and key in ACCESS_KEYS:
                hint = " (access rights of a chunk are read from its metadata)"
            yield prefix + pointer("", key), hint
