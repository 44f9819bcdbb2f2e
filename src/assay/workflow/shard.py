"""Scoring one shard, a byte range of an output file: the unit of work of a worker process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn

import msgspec

from assay.errors import InputError, Problem
from assay.graders.base import Joins
from assay.io import strictjson
from assay.io.lines import MAX_LINE_BYTES, lines_between
from assay.io.observations import BOM, FORMATS, OutputFormat
from assay.io.outputs.faults import UNREADABLE, line_problems, unknown_keys
from assay.model import Observation
from assay.scoring.engine import Plan
from assay.workflow.collect import Collected, Collector
from assay.workflow.garbage import no_collections

SAMPLED_LINES = 20


@dataclass(frozen=True, slots=True)
class ShardRef:
    """The bytes of one shard: `path` is read, `source` is the name in messages (a spooled file has another path).

    `torn_tail` accepts a last line that a crash cut off; `strict` refuses duplicate and unknown keys, and rankings that
    repeat a chunk.
    """

    path: str
    source: str
    format: str
    start: int
    end: int
    file: int
    torn_tail: bool = False
    strict: bool = False


def score_shard(ref: ShardRef, joins: Joins, the_plan: Plan) -> Collected:
    """Return the scored rows of one shard, with its problems up to a limit; beyond it they are counted."""
    form = FORMATS[ref.format]
    collector = Collector(joins, the_plan, ref.source, ref.file, form, strict=ref.strict)
    decode = partial(_decode_strictly, form) if ref.strict else form.decode
    number, offset = 0, ref.start
    with no_collections():
        for number, line in enumerate(lines_between(ref.path, ref.start, ref.end), 1):
            start, offset = offset, offset + len(line) + 1
            if start == 0:
                line = line.removeprefix(BOM)
            if not line or line.isspace():
                continue
            try:
                observation = decode(line) if len(line) <= MAX_LINE_BYTES else _refuse_long_line(line)
            except (InputError, *UNREADABLE) as error:
                if ref.torn_tail and offset > ref.end and type(error) is msgspec.DecodeError:
                    collector.result.notices["torn last lines left out"] += 1
                else:
                    _add_line_problems(collector, ref, number, line, error)
            else:
                if ref.start == 0 and number <= SAMPLED_LINES:
                    _note_unknown_keys(collector, form, line)
                collector.take(observation, number, start)
        collector.result.lines = number
        return collector.finish()


def _add_line_problems(collector: Collector, ref: ShardRef, number: int, line: bytes, error: Exception) -> None:
    if isinstance(error, InputError):
        problems = [replace(problem, path=ref.source, line=number) for problem in error.problems]
    else:
        problems = line_problems(ref.source, number, line, FORMATS[ref.format].record, error)
    for problem in problems:
        collector.problem(problem)


def _note_unknown_keys(collector: Collector, form: OutputFormat, line: bytes) -> None:
    for key, hint in unknown_keys(line, form.record).items():
        collector.result.notices[f"of the first {SAMPLED_LINES} rows have the unknown key {key}{hint}"] += 1


def _refuse_long_line(line: bytes) -> NoReturn:
    message = f"line too long (got {len(line)} bytes; expected {MAX_LINE_BYTES} at most)"
    raise InputError([Problem("", None, "", message, "E_LINE_TOO_LONG")])


def _decode_strictly(form: OutputFormat, line: bytes) -> Observation:
    """Decode a line; raise InputError if one of its keys is duplicated or unknown."""
    observation = form.decode(line)
    strictjson.decode(line.decode(), "")
    unknown = unknown_keys(line, form.record).items()
    if unknown:
        raise InputError([Problem("", None, key, f"unknown field{hint}", "E_UNKNOWN_FIELD") for key, hint in unknown])
    return observation
