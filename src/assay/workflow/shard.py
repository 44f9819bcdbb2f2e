"""One byte range of one file of outputs, decoded line by line and collected: the unit of work of every runner."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from assay.errors import InputError, Problem
from assay.graders.base import Joins
from assay.io import strictjson
from assay.io.lines import MAX_LINE_BYTES
from assay.io.observations import BOM, FORMATS
from assay.io.outputs.faults import UNREADABLE, line_problems, unknown_keys
from assay.model import Observation
from assay.scoring.engine import Plan
from assay.workflow.collect import Collected, Collector

SAMPLED_LINES = 20


@dataclass(frozen=True, slots=True)
class ShardRef:
    """Which bytes to score: `path` is read, `source` is what messages call it (a spooled file has another name).

    `torn_tail` accepts a last line that a crash cut off; `strict` refuses what two readers could understand differently
    and what nobody reads.
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
    """Return the scored rows of one shard. Problems are collected, up to a limit; nothing is skipped unseen."""
    with open(ref.path, "rb") as file:
        file.seek(ref.start)
        lines = file.read(ref.end - ref.start).split(b"\n")
    form = FORMATS[ref.format]
    collector = Collector(joins, the_plan, ref.source, ref.file, form, strict=ref.strict)
    offset = ref.start
    for number, line in enumerate(lines, 1):
        start, offset = offset, offset + len(line) + 1
        if start == 0:
            line = line.removeprefix(BOM)
        if not line or line.isspace():
            continue
        try:
            observation = _decoded(ref, line) if ref.strict or len(line) > MAX_LINE_BYTES else form.decode(line)
        except InputError as error:
            for problem in error.problems:
                collector.problem(replace(problem, path=ref.source, line=number))
        except UNREADABLE as error:
            if ref.torn_tail and number == len(lines) and type(error) is msgspec.DecodeError:
                collector.result.notices["torn last lines left out"] += 1
            else:
                for problem in line_problems(ref.source, number, line, form.record, error):
                    collector.problem(problem)
        else:
            if ref.start == 0 and number <= SAMPLED_LINES:
                for key, hint in unknown_keys(line, form.record).items():
                    notice = f"of the first {SAMPLED_LINES} rows have the unknown key {key}{hint}"
                    collector.result.notices[notice] += 1
            escaped = b"\\u" in line
            plain, bare = not escaped and line.isascii(), not escaped and b'"metadata"' not in line
            collector.take(observation, number, start, plain=plain, bare=bare)
    collector.result.lines = len(lines) - (not lines[-1])
    return collector.finish()


def _decoded(ref: ShardRef, line: bytes) -> Observation:
    """Return a line that is not too long; where `strict` asks for it, none of its keys stands twice or is unknown."""
    form = FORMATS[ref.format]
    if len(line) > MAX_LINE_BYTES:
        message = f"line too long (got {len(line)} bytes; expected {MAX_LINE_BYTES} at most)"
        raise InputError([Problem("", None, "", message, "E_LINE_TOO_LONG")])
    observation = form.decode(line)
    strictjson.decode(line.decode(), "")
    unknown = unknown_keys(line, form.record).items()
    if unknown:
        raise InputError([Problem("", None, key, f"unknown field{hint}", "E_UNKNOWN_FIELD") for key, hint in unknown])
    return observation
