"""Recorded outputs: which format a file has, how a line becomes an `Observation`, and what is wrong with a bad one.

Lines are decoded one at a time into typed records. Only a line that fails is looked at again, slowly, to say where.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, Protocol

import msgspec
from msgspec import structs

from assay.errors import InputError, Problem, shown
from assay.io.outputs import native, ragtrace, runlog
from assay.model import Chunk, Observation, Stage

MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_CHUNKS = 10_000
MAX_CITATIONS = 5_000
BOM = b"\xef\xbb\xbf"
UNREADABLE = (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError, ValueError)


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """One row of the table of formats: `record` is the wire struct, `id_key` the field that names the case."""

    name: str
    summary: str
    decode: Callable[[bytes], Observation]
    record: type[msgspec.Struct]
    id_key: str
    marks: frozenset[str]


FORMATS: dict[str, OutputFormat] = {
    row.name: row
    for row in (
        OutputFormat(
            "assay",
            "one Observation record a line",
            native.decode,
            Observation,
            "case_id",
            frozenset({"case_id"}),
        ),
        OutputFormat(
            "rag-trace",
            "the [001] trace contract: query_id, retrieved_chunks, context_chunks, answer …",
            ragtrace.decode,
            ragtrace.RagTrace,
            "query_id",
            frozenset({"query_id"}),
        ),
        OutputFormat(
            "run-log",
            "the [000] run log: question_id, answer, evidence_files",
            runlog.decode,
            runlog.RunLog,
            "question_id",
            frozenset({"question_id"}),
        ),
    )
}


def detect_format(path: str, first_line: bytes) -> str:
    """Return the name of the format that a file's first line shows; raise InputError saying what was looked for."""
    text = first_line.decode("utf-8", "replace").strip().removeprefix("\ufeff")
    if re.fullmatch(r"\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+", text) and not text.startswith("{"):
        return "trec-run"
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        row = None
    if isinstance(row, dict):
        if {"topic_id", "references"} <= row.keys():
            return "trec-rag"
        for name, known in FORMATS.items():
            if known.marks <= row.keys():
                return name
        found = "a JSON object with " + ", ".join(sorted(map(str, row))[:8])
    else:
        found = "a JSON array" if text.startswith("[") else f"a line that is not JSON: {shown(text, 60)}"
    wanted = "; ".join(f"{known.name}: {known.id_key} …" for known in FORMATS.values())
    message = (
        f"cannot tell the format of the outputs (got {found}; expected one of {wanted}; trec-run: six columns; "
        "trec-rag: topic_id, references); name it with --outputs-format"
    )
    raise InputError([Problem(path, 1, "", message, "E_FORMAT")])


class StageIds(Protocol):
    """A stage with its chunk ids, as a list and as a set."""

    @property
    def stage(self) -> Stage: ...
    @property
    def distinct(self) -> set[str]: ...


_COUNTING = list(range(1, MAX_CHUNKS + 1))


def suspect(observation: Observation, stages: Iterable[StageIds]) -> bool:
    """Return whether an observation needs a closer look by `flaws`: fast, and true for every one that has a flaw."""
    if not observation.case_id or observation.case_id.isspace():
        return True
    citations = observation.citations
    if citations and ("" in citations or len(citations) > MAX_CITATIONS):
        return True
    for ranked in stages:
        chunks = ranked.stage.chunks
        if "" in ranked.distinct or len(chunks) > MAX_CHUNKS:
            return True
        ranks = [chunk.rank for chunk in chunks]
        if ranks and ranks[0] is None:
            if ranks.count(None) != len(ranks):
                return True
        elif ranks != _COUNTING[: len(ranks)] or not _falling([chunk.score for chunk in chunks]):
            return True
    return False


def _falling(scores: list[float | None]) -> bool:
    return None not in scores and scores == sorted(scores, reverse=True)  # type: ignore[type-var]


def flaws(observation: Observation) -> list[tuple[str, str]]:
    """Return what is wrong with a decoded observation as (field, message) pairs; empty for a good one."""
    found: list[tuple[str, str]] = []
    if not observation.case_id or observation.case_id.isspace():
        found.append(("case_id", f"must not be empty (got {observation.case_id!r})"))
    for stage in observation.stages or ():
        _check_ranking(stage.name, stage.chunks, found)
    citations = observation.citations
    if citations is not None:
        if len(citations) > MAX_CITATIONS:
            found.append(("citations", f"too many (got {len(citations)}; at most {MAX_CITATIONS})"))
        if "" in citations:
            found.append((f"citations[{citations.index('')}]", "must not be empty (got ''; expected a chunk id)"))
    return found


def _check_ranking(stage: str, chunks: tuple[Chunk, ...], found: list[tuple[str, str]]) -> None:
    if not chunks:
        return
    if len(chunks) > MAX_CHUNKS:
        found.append((stage, f"too many chunks (got {len(chunks)}; at most {MAX_CHUNKS})"))
    if not all(chunk.chunk_id for chunk in chunks):
        place = next(i for i, chunk in enumerate(chunks) if not chunk.chunk_id)
        found.append((f"{stage}[{place}].chunk_id", "must not be empty (got '')"))
    ranks = [chunk.rank for chunk in chunks]
    if ranks[0] is None and ranks.count(None) == len(ranks):
        return
    if ranks != list(range(1, len(ranks) + 1)):
        _check_mixed_ranks(stage, chunks, ranks, found)
    scores = [chunk.score for chunk in chunks if chunk.score is not None]
    if scores != sorted(scores, reverse=True) and scores != sorted(scores):
        place = next(i for i in range(1, len(scores)) if scores[i] > scores[i - 1])
        message = (
            f"E_RANK_ORDER the scores contradict the ranks (got {scores[place - 1]} at rank {place} before "
            f"{scores[place]}; expected scores that fall, or rise for distances, with the rank; leave out scores "
            "that belong to another stage)"
        )
        found.append((f"{stage}[{place}].score", message))


def _check_mixed_ranks(
    stage: str, chunks: tuple[Chunk, ...], ranks: list[int | None], found: list[tuple[str, str]]
) -> None:
    """Ranks must count 1, 2, 3 … down the list, or within each `stage` value where a list holds several."""
    seen: dict[str | None, int] = {}
    several = len({chunk.stage for chunk in chunks}) > 1
    for place, (chunk, rank) in enumerate(zip(chunks, ranks, strict=True)):
        lane = chunk.stage if several else None
        seen[lane] = seen.get(lane, 0) + 1
        if rank not in (seen[lane], place + 1):
            message = (
                f"E_RANK_ORDER rank contradicts the list's order (got {rank}; expected {seen[lane]}: "
                "ranks start at 1, without gaps, in the order of the list)"
            )
            found.append((f"{stage}[{place}].rank", message))
            return


# ── saying what is wrong with a line that cannot be decoded ──────────────────────────────────────────────────────

_AT = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>[^`]+)`)?$", re.DOTALL)


def failure(path: str, number: int, line: bytes, error: Exception) -> Problem:
    """Return the problem that made a line undecodable, with the place and the value."""
    if isinstance(error, RecursionError):
        return Problem(path, number, "", "nested too deeply (expected at most 100 levels)", "E_DEPTH")
    if isinstance(error, UnicodeDecodeError):
        return Problem(path, number, "", f"not valid UTF-8 at byte {error.start} of the line", "E_ENCODING")
    if isinstance(error, msgspec.ValidationError):
        match = _AT.match(str(error))
        where = (match["path"] or "") if match else ""
        what = match["what"] if match else str(error)
        return Problem(path, number, where.removeprefix("$").lstrip("."), _with_value(what, line, where), "E_TYPE")
    if isinstance(error, msgspec.DecodeError):
        return Problem(path, number, "", _syntax(line, error), "E_JSON")
    return Problem(path, number, "", str(error), "E_VALUE")


def _with_value(what: str, line: bytes, where: str) -> str:
    steps = re.findall(r"\.([A-Za-z_]\w*)|\[(\d+)\]|(\[\.\.\.\])", where)
    try:
        value: Any = json.loads(line)
        for name, index, _any in steps:
            if _any:
                return f"{what[0].lower()}{what[1:]}"
            value = value[name] if name else value[int(index)]
    except (ValueError, LookupError, TypeError, RecursionError):
        return f"{what[0].lower()}{what[1:]}"
    if isinstance(value, dict) and what.startswith("Object missing"):
        missing = what.split("`")[1] if "`" in what else ""
        near = get_close_matches(missing, list(value), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"{what[0].lower()}{what[1:]} (got the keys {', '.join(sorted(value))}{hint})"
    return f"{what[0].lower()}{what[1:]} (got {shown(value)})"


def _syntax(line: bytes, error: msgspec.DecodeError) -> str:
    try:
        json.loads(line)
    except (ValueError, RecursionError) as again:
        return f"invalid JSON: {again}"
    if b"\\ud" in line.lower():
        return "invalid JSON: a lone surrogate escape (\\ud800–\\udfff) is not text"
    return f"invalid JSON: {error}"


def read_observations(path: str, name: str, format: str) -> list[Observation]:
    """Return all observations of one plain file; raise InputError with everything that is wrong with its lines."""
    decode, found, problems = FORMATS[format].decode, [], []
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            line = line.removeprefix(BOM) if number == 1 else line
            if line.isspace():
                continue
            try:
                found.append(decode(line))
            except UNREADABLE as error:
                problems.append(failure(name, number, line, error))
    if problems:
        raise InputError(problems)
    return found


# ── keys that nobody reads ───────────────────────────────────────────────────────────────────────────────────────


def unknown_keys(format_name: str, line: bytes) -> list[str]:
    """Return the keys of one line that its format does not know, each with a near miss where there is one."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(row, dict):
        return []
    found = _unknown(row, FORMATS[format_name].record, "")
    known = FORMATS[format_name].record
    for name, value in row.items():
        if isinstance(value, list) and name.endswith("_chunks") and name in known.__struct_fields__:
            for item in value[:3]:
                if isinstance(item, dict):
                    found += _unknown(item, Chunk, f"{name}[].")
    return list(dict.fromkeys(found))


def _unknown(row: dict[str, Any], record: type[msgspec.Struct], prefix: str) -> list[str]:
    known = record.__struct_fields__
    return [
        f"{prefix}{key}" + (f" (did you mean {near[0]!r}?)" if (near := get_close_matches(key, known, n=1)) else "")
        for key in row
        if key not in known and not key.startswith("x_")
    ]


def in_nfc(observation: Observation) -> tuple[Observation, bool]:
    """Return the observation with every id in Unicode NFC, and whether that changed anything."""
    ids = [chunk.chunk_id for stage in observation.stages or () for chunk in stage.chunks]
    ids += observation.citations or ()
    ids.append(observation.case_id)
    text = "\n".join(ids)
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return observation, False
    nfc = partial(unicodedata.normalize, "NFC")
    stages = observation.stages and tuple(
        structs.replace(stage, chunks=tuple(structs.replace(c, chunk_id=nfc(c.chunk_id)) for c in stage.chunks))
        for stage in observation.stages
    )
    citations = observation.citations and tuple(map(nfc, observation.citations))
    return structs.replace(observation, case_id=nfc(observation.case_id), stages=stages, citations=citations), True
