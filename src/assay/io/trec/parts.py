"""Reads a TREC run and scores it: in one go, in parts on several processes, or grouped where queries are scattered."""

from __future__ import annotations

import io
import multiprocessing
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from assay.errors import IncompleteError
from assay.graders.names import MetricName
from assay.io.findings import Findings
from assay.io.lines import MAX_LINE_BYTES, open_file
from assay.io.trec.batch import Scorer
from assay.io.trec.encoding import BOM
from assay.io.trec.fields import Block, query_blocks
from assay.io.trec.qrels import Qrels
from assay.io.trec.run import LAYOUT, UNKNOWN, RunReader, ScatteredError
from assay.io.trec.tokens import Floats, Places

GROUP = 128 << 20
"""How many bytes of scattered lines are brought together at a time."""

Span = tuple[int, int]
"""First byte of a part of a file, and the first one after it."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to score: `file` is the run as it can be read in parts, `name` what to call it, `block` the bytes to read
    at a time."""

    qrels: Qrels
    names: tuple[MetricName, ...]
    file: Path
    name: str
    block: int


@dataclass(frozen=True, slots=True)
class Part:
    """What a part of a run gave: the queries scored with their values by metric, and what was met on the way."""

    query: Places
    values: list[Floats]
    tag: bytes | None
    unknown: tuple[bytes, ...]
    lines: int
    normalised: int


def score_whole(job: Job) -> Part:
    """Score a run on this process; raise InputError with the lines that are wrong."""
    with open_file(job.file, job.name) as file:
        span = _content(file)
        findings = Findings(job.name)
        reader = RunReader(job.qrels, findings)
        try:
            part = _score_blocks(job, reader, _blocks(job, file, span))
        except ScatteredError:
            return _score_grouped(job, file, span)
    if reader.sound and not reader.lines:
        findings.error(None, "", "no rankings (got an empty file; expected a document a line)", "E_EMPTY")
    findings.raise_errors()
    return part


def score_shared(job: Job, workers: int) -> list[Part] | None:
    """Score a run on several processes, this one among them; raise IncompleteError where one of the others dies.

    None where only `score_whole` will do: something is wrong with the run, it is small, or its queries are scattered.
    """
    with open_file(job.file, job.name) as file:
        spans = _cut(file, _content(file), workers)
    if len(spans) < 2:
        return None
    context = multiprocessing.get_context("fork" if _may_fork() else "spawn")
    try:
        with ProcessPoolExecutor(len(spans) - 1, context, initializer=_adopt, initargs=(job,)) as pool:
            futures = [pool.submit(_score_adopted, span) for span in spans[1:]]
            parts = [_score_span(job, spans[0]), *(future.result() for future in futures)]
    except BrokenProcessPool as died:
        raise IncompleteError("a worker process died before it finished (out of memory, or killed)") from died
    sound = [part for part in parts if part is not None]
    if len(sound) < len(parts) or len({part.tag for part in sound}) > 1:
        return None
    queries = np.concatenate([part.query for part in sound])
    return sound if len(np.unique(queries)) == len(queries) else None


_adopted: list[Job] = []


def _adopt(job: Job) -> None:
    _adopted[:] = [job]


def _score_adopted(span: Span) -> Part | None:
    return _score_span(_adopted[0], span)


def _score_span(job: Job, span: Span) -> Part | None:
    reader = RunReader(job.qrels, Findings(job.name))
    with open_file(job.file, job.name) as file:
        try:
            part = _score_blocks(job, reader, _blocks(job, file, span))
        except ScatteredError:
            return None
    return part if reader.sound else None


def _may_fork() -> bool:
    """Return whether this process has one thread only, so that no copy of it can be born with a lock held for ever."""
    tasks = Path("/proc/self/task")
    return sys.platform == "linux" and tasks.is_dir() and len(list(tasks.iterdir())) == 1


def _content(file: BinaryIO) -> Span:
    """Return where the lines of a file are: all of it but a byte order mark."""
    begin = len(BOM) if file.read(len(BOM)) == BOM else 0
    return begin, file.seek(0, io.SEEK_END)


def _cut(file: BinaryIO, whole: Span, parts: int) -> list[Span]:
    """Cut a file into about equal parts at lines where the query changes."""
    begin, end = whole
    cuts = [begin]
    for part in range(1, parts):
        file.seek(max(cuts[-1], begin + (end - begin) * part // parts))
        cuts.append(_next_query(file, end))
    cuts.append(end)
    return [(first, last) for first, last in pairwise(cuts) if first < last]


def _next_query(file: BinaryIO, end: int) -> int:
    """Return where the first line begins that has another query than the first whole line from here."""
    line = file.readline(MAX_LINE_BYTES)
    query: list[bytes] = []
    while line.endswith(b"\n"):
        here = file.tell()
        line = file.readline(MAX_LINE_BYTES)
        found = line.split(None, 1)[:1]
        if query and found and found != query:
            return here
        query = query or found
    return end


def _blocks(job: Job, file: BinaryIO, span: Span) -> Iterator[Block]:
    file.seek(span[0])
    return query_blocks(file, LAYOUT, job.block, span[1])


def _score_blocks(job: Job, reader: RunReader, blocks: Iterable[Block]) -> Part:
    scorer = Scorer(job.qrels, job.names)
    for block in blocks:
        scorer.add(reader.read(block))
    query, values = scorer.result()
    return Part(query, values, reader.tag, tuple(reader.unknown), reader.lines, reader.normalised)


def _score_grouped(job: Job, file: BinaryIO, span: Span) -> Part:
    """Score a run whose queries are scattered over the file: check every line, then bring each query's lines together.

    The queries are taken in as many shares as keep one share's lines near `GROUP` bytes; each share reads the file.
    """
    findings = Findings(job.name)
    checker = RunReader(job.qrels, findings)
    for block in _blocks(job, file, span):
        checker.check(block)
        checker.queries(block.fields)
    findings.raise_errors()
    reader = RunReader(job.qrels, findings)
    shares = 1 + (span[1] - span[0]) // GROUP
    gathered = (_gather(reader, _blocks(job, file, span), share, shares) for share in range(shares))
    part = _score_blocks(job, reader, (block for lines in gathered for block in lines.blocks(job.block)))
    findings.raise_errors()
    unknown = tuple(checker.unknown)
    return replace(part, tag=checker.tag, unknown=unknown, lines=checker.lines, normalised=checker.normalised)


@dataclass(frozen=True, slots=True)
class _Gathered:
    """Lines brought together by query, and the number of each in its file."""

    text: bytes
    number: Places

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield the lines in blocks of whole queries, numbered as in the file."""
        for block in query_blocks(io.BytesIO(self.text), LAYOUT, size):
            fields = replace(block.fields, line=self.number[block.fields.line - 1])
            yield block._replace(fields=fields)


def _gather(reader: RunReader, blocks: Iterator[Block], share: int, shares: int) -> _Gathered:
    """Return the lines of one share of the known queries, each query's together and in the order of the file."""
    queries: list[Places] = []
    numbers: list[Places] = []
    lines: list[bytes] = []
    for block in blocks:
        fields = block.fields
        first, ordinal = reader.queries(fields)
        query = np.repeat(ordinal, np.diff(first, append=len(fields)))
        chosen = np.flatnonzero((query != UNKNOWN) & (query % shares == share))
        queries.append(query[chosen])
        numbers.append(fields.line[chosen])
        spans = zip(fields.start[chosen, 0].tolist(), fields.end[chosen, -1].tolist(), strict=True)
        lines.extend(fields.text.data[begin:end] for begin, end in spans)
    order = np.argsort(np.concatenate(queries), kind="stable")
    text = b"\n".join([lines[place] for place in order.tolist()])
    return _Gathered(text, np.concatenate(numbers)[order])
