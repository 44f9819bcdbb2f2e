"""One byte range of one file of outputs, decoded line by line and collected: the unit of work of every runner."""

from __future__ import annotations

from dataclasses import dataclass

from assay.graders.base import Joins
from assay.io.observations import BOM, FORMATS, MAX_LINE_BYTES, UNREADABLE, failure, unknown_keys
from assay.scoring.engine import Plan
from assay.workflow.collect import Collected, Collector

SAMPLED_LINES = 20


@dataclass(frozen=True, slots=True)
class ShardRef:
    """Which bytes to score: `path` is read, `source` is what messages call it (a spooled file has another name)."""

    path: str
    source: str
    format: str
    start: int
    end: int
    file: int
    torn_tail: bool = False


def score_shard(ref: ShardRef, joins: Joins, the_plan: Plan) -> Collected:
    """Return the scored rows of one shard. Problems are collected, up to a limit; nothing is skipped unseen."""
    with open(ref.path, "rb") as file:
        file.seek(ref.start)
        lines = file.read(ref.end - ref.start).split(b"\n")
    collector = Collector(joins, the_plan, ref.source, ref.file)
    decode = FORMATS[ref.format].decode
    offset = ref.start
    for number, line in enumerate(lines, 1):
        start, offset = offset, offset + len(line) + 1
        if start == 0:
            line = line.removeprefix(BOM)
        if not line or line.isspace():
            continue
        if number <= SAMPLED_LINES:
            collector.result.notices.update(
                f"rows (sampled) with unknown key {k}" for k in unknown_keys(ref.format, line)
            )
        try:
            if len(line) > MAX_LINE_BYTES:
                raise ValueError(f"line too long (got {len(line)} bytes; at most {MAX_LINE_BYTES})")
            observation = decode(line)
        except UNREADABLE as error:
            if ref.torn_tail and number == len(lines):
                collector.result.notices["torn last lines left out"] += 1
                continue
            collector.problem(failure(ref.source, number, line, error))
            continue
        plain = line.isascii() and b"\\u" not in line
        collector.take(observation, number, start, plain=plain, bare=b'"metadata"' not in line)
    collector.result.lines = len(lines) - (not lines[-1])
    return collector.finish()
