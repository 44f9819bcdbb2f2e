"""Reads and scores a TREC run: at once, in parts on several processes, or grouped if its queries are scattered."""

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
"""Bytes of scattered lines that are grouped by query at a time."""

Span = tuple[int, int]
"""Offsets of the first byte of a part of a file, and of the first byte after it."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to score: `file` is the uncompressed run, `name` its name in messages, `block` the bytes read at a time."""

    qrels: Qrels
    names: tuple[MetricName, ...]
    file: Path
    name: str
    block: int


@dataclass(frozen=True, slots=True)
class Part:
    """The result of a part of a run: scored queries, their values by metric, tag, unknown queries, line counts."""

    query: Places
    values: list[Floats]
    tag: bytes | None
    unknown: tuple[bytes, ...]
    lines: int
    normalised: int


def score_whole(job: Job) -> Part:
    """Score a run in this process. Raises InputError with all malformed lines."""
    with open_file(job.file, job.name) as file:
        span = _content_span(file)
        findings = Findings(job.name)
        reader = RunReader(job.qrels, findings)
        try:
            part = _score_blocks(job, reader, _read_blocks(job, file, span))
        except ScatteredError:
            return _score_grouped(job, file, span)
    if reader.sound and not reader.lines:
        findings.error(None, "", "no rankings (got an empty file; expected a document a line)", "E_EMPTY")
    findings.raise_errors()
    return part


def score_shared(job: Job, workers: int) -> list[Part] | None:
    """Score a run in several processes, including this one. Raises IncompleteError if another one dies.

    Returns None if `score_whole` is needed: the run has a problem, is small, or its queries are scattered.
    """
    with open_file(job.file, job.name) as file:
        spans = _cut_at_queries(file, _content_span(file), workers)
    if len(spans) < 2:
        return None
    context = multiprocessing.get_context("fork" if _may_fork() else "spawn")
    try:
        with ProcessPoolExecutor(len(spans) - 1, context, initializer=_set_worker_job, initargs=(job,)) as pool:
            futures = [pool.submit(_score_span_in_worker, span) for span in spans[1:]]
            parts = [_score_span(job, spans[0]), *(future.result() for future in futures)]
    except BrokenProcessPool as died:
        raise IncompleteError("a worker process died before it finished (out of memory, or killed)") from died
    valid_parts = [part for part in parts if part is not None]
    if len(valid_parts) < len(parts) or len({part.tag for part in valid_parts}) > 1:
        return None
    queries = np.concatenate([part.query for part in valid_parts])
    is_scattered = len(np.unique(queries)) < len(queries)
    return None if is_scattered else valid_parts


_worker_job: list[Job] = []
"""The job of a worker process, set once: sending it with every part would copy the qrels each time."""


def _set_worker_job(job: Job) -> None:
    _worker_job[:] = [job]


def _score_span_in_worker(span: Span) -> Part | None:
    return _score_span(_worker_job[0], span)


def _score_span(job: Job, span: Span) -> Part | None:
    reader = RunReader(job.qrels, Findings(job.name))
    with open_file(job.file, job.name) as file:
        try:
            part = _score_blocks(job, reader, _read_blocks(job, file, span))
        except ScatteredError:
            return None
    return part if reader.sound else None


def _may_fork() -> bool:
    """Return whether this process has a single thread: a fork would copy a lock that another thread holds."""
    tasks = Path("/proc/self/task")
    return sys.platform == "linux" and tasks.is_dir() and len(list(tasks.iterdir())) == 1


def _content_span(file: BinaryIO) -> Span:
    """Return the span of the lines of a file: all of it except a byte order mark."""
    begin = len(BOM) if file.read(len(BOM)) == BOM else 0
    return begin, file.seek(0, io.SEEK_END)


def _cut_at_queries(file: BinaryIO, span: Span, parts: int) -> list[Span]:
    """Cut a file into parts of similar size at lines where the query changes."""
    begin, end = span
    cuts = [begin]
    for part in range(1, parts):
        file.seek(max(cuts[-1], begin + (end - begin) * part // parts))
        cuts.append(_next_query(file, end))
    cuts.append(end)
    return [(first, last) for first, last in pairwise(cuts) if first < last]


def _next_query(file: BinaryIO, end: int) -> int:
    """Return the offset of the next line with another query than the first complete line from the current position."""
    line = file.readline(MAX_LINE_BYTES)
    query: list[bytes] = []
    while line.endswith(b"\n"):
        line_start = file.tell()
        line = file.readline(MAX_LINE_BYTES)
        first_field = line.split(None, 1)[:1]
        if query and first_field and first_field != query:
            return line_start
        query = query or first_field
    return end


def _read_blocks(job: Job, file: BinaryIO, span: Span) -> Iterator[Block]:
    file.seek(span[0])
    return query_blocks(file, LAYOUT, job.block, span[1])


def _score_blocks(job: Job, reader: RunReader, blocks: Iterable[Block]) -> Part:
    scorer = Scorer(job.qrels, job.names)
    for block in blocks:
        scorer.add(reader.read(block))
    query, values = scorer.result()
    return Part(query, values, reader.tag, tuple(reader.unknown), reader.lines, reader.normalised)


def _score_grouped(job: Job, file: BinaryIO, span: Span) -> Part:
    """Score a run whose queries are scattered over the file: check every line, then group the lines by query.

    The queries are divided into shares of about `GROUP` bytes of lines; the file is read once for each share.
    """
    findings = Findings(job.name)
    checker = RunReader(job.qrels, findings)
    for block in _read_blocks(job, file, span):
        checker.check(block)
        checker.queries(block.fields)
    findings.raise_errors()
    reader = RunReader(job.qrels, findings)
    shares = 1 + (span[1] - span[0]) // GROUP

    def grouped_blocks() -> Iterator[Block]:
        for share in range(shares):
            lines = _group_lines(reader, _read_blocks(job, file, span), share, shares)
            yield from lines.blocks(job.block)

    part = _score_blocks(job, reader, grouped_blocks())
    findings.raise_errors()
    unknown = tuple(checker.unknown)
    return replace(part, tag=checker.tag, unknown=unknown, lines=checker.lines, normalised=checker.normalised)


@dataclass(frozen=True, slots=True)
class _GroupedLines:
    """Lines grouped by query, and the number of each line in its file."""

    text: bytes
    number: Places

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield the lines in blocks of whole queries, numbered as in the file."""
        for block in query_blocks(io.BytesIO(self.text), LAYOUT, size):
            fields = replace(block.fields, line=self.number[block.fields.line - 1])
            yield block._replace(fields=fields)


def _group_lines(reader: RunReader, blocks: Iterator[Block], share: int, shares: int) -> _GroupedLines:
    """Return the lines of one share of the known queries, grouped by query and within it in the order of the file."""
    queries: list[Places] = []
    numbers: list[Places] = []
    lines: list[bytes] = []
    for block in blocks:
        fields = block.fields
        first, ordinal = reader.queries(fields)
        query = np.repeat(ordinal, np.diff(first, append=len(fields)))
        selected = np.flatnonzero((query != UNKNOWN) & (query % shares == share))
        queries.append(query[selected])
        numbers.append(fields.line[selected])
        spans = zip(fields.start[selected, 0].tolist(), fields.end[selected, -1].tolist(), strict=True)
        lines.extend(fields.text.data[begin:end] for begin, end in spans)
    order = np.argsort(np.concatenate(queries), kind="stable")
    text = b"\n".join([lines[index] for index in order.tolist()])
    return _GroupedLines(text, np.concatenate(numbers)[order])
