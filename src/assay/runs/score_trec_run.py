"""Scores TREC runs against qrels from arrays: millions of lines, ranking metrics only.

A run is read in blocks of lines, at once or in parts on several processes; if its queries are scattered over the file,
its lines are grouped first. Rankings of similar length become a block of arrays, which `score_ranking` scores as it
scores joined cases (ADR 37); the score table is built like that of any run. Neither blocks nor processes change a bit.
Single cases cannot be read again, because no records are made of them.
"""

from __future__ import annotations

import io
import sys
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
from msgspec import structs

from assay.formats import golden_files as goldens
from assay.formats.file_io import MAX_LINE_BYTES, open_file, open_source, read_lines, unpack_source
from assay.formats.outputs import TREC_RUN_FORMAT, OutputFile, refuse_packed_misfit
from assay.formats.problems import ProblemList
from assay.formats.trec.field_lines import BOM, LineBlock, iterate_query_blocks
from assay.formats.trec.qrels import Qrels, compute_qrels_digest, read_qrels
from assay.formats.trec.runs import RUN_LAYOUT, UNKNOWN_QUERY, RunReader, ScatteredError, TrecRankings
from assay.gates.summarise_run import summarise_run
from assay.metrics.catalog import CATALOG, DEFAULT_METRICS, is_metric_measurable, parse_metric
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.metrics.metric import MetricName, Unscored, rows_with_error
from assay.metrics.retrieval.ranking import RankingTable, needs_only_ranking_of, score_ranking
from assay.records.counts import format_count
from assay.records.errors import IncompleteError, InputError, MetricNameError, Problem, shorten_repr
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import RETRIEVED_STAGE
from assay.records.requests import ScoreRequest, ScoringOptions
from assay.records.scores import GoldenInfo, InputFile, ScoreColumn, ScoreTable
from assay.runs.score_inputs import LoadedGate, plan_metrics
from assay.scoring.score_tables import NO_OBSERVATION, ScoredBlock, build_score_table, join_blocks
from assay.scoring.scored_run import ScoredRun
from assay.stats.arrays import BoolArray, CountArray, GradeArray, IndexArray

RELEVANT_GRADE = 1
"""The lowest grade that counts as relevant where the name of a metric states no `rel`."""
BATCH_RANKINGS = 4096
"""Rankings that are collected before they are scored."""
MAX_TABLE_CELLS = 1 << 21
"""Cells of a table at most, padding included; it bounds the memory of a batch."""


def is_run_metric(name: MetricName) -> bool:
    """Return whether a metric needs nothing but one ranking for each query, which is all that a TREC run holds."""
    metric = CATALOG.get(name.base)
    return metric is not None and needs_only_ranking_of(metric, name, RETRIEVED_STAGE)


def check_run_metrics(names: Sequence[MetricName]) -> None:
    """Raise MetricNameError for metrics that cannot be computed from one ranking per query."""
    expected = ", ".join(sorted(base for base in CATALOG if is_run_metric(MetricName(base))))
    reason = f"a TREC run holds one ranking per query (expected one of {expected}, without a stage)"
    problems = [
        Problem("", None, "metric", f"cannot score {name}: {reason}") for name in names if not is_run_metric(name)
    ]
    if problems:
        raise MetricNameError(problems)


class RelevantCounts:
    """How many documents of each query have at least some grade, counted once for each grade."""

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self._counts: dict[int, CountArray] = {}

    def count(self, rel: int, queries: IndexArray) -> CountArray:
        """Return the number of documents with a grade of at least `rel` for some queries, of shape (queries,)."""
        if rel not in self._counts:
            self._counts[rel] = self.qrels.count_relevant(rel)
        return self._counts[rel][queries]


class JudgedRankings:
    """Rankings of a run next to the judgments of their queries: the `RankingInput` of a TREC run.

    Qrels judge a part of the documents and forbid none. Rankings that are not `observed` are those of queries without
    output, which have no document.
    """

    stage = RETRIEVED_STAGE

    def __init__(self, rankings: TrecRankings, counts: RelevantCounts, *, observed: bool = True) -> None:
        n = len(rankings.query)
        self.is_stage_reported = np.full(n, observed, dtype=np.bool_)
        self.is_denied = np.zeros(n, dtype=np.bool_)
        self.is_partial = np.ones(n, dtype=np.bool_)
        self.target_errors = () if observed else (rows_with_error(~self.is_stage_reported, NO_OBSERVATION),)
        self._rankings = rankings
        self._counts = counts
        self._tables: dict[int, RankingTable] = {}

    @property
    def unmatchable(self) -> Sequence[Unscored]:
        """No row: every document of a run has an id."""
        return ()

    @cached_property
    def has_grades(self) -> BoolArray:
        """Queries with a document of a grade above 0."""
        return np.asarray(self._counts.count(RELEVANT_GRADE, self._rankings.query) > 0, dtype=np.bool_)

    def ranking_table(self, rel: int | None) -> RankingTable:
        """Return the rankings as arrays, counting documents of at least grade `rel`, or the relevant ones."""
        level = RELEVANT_GRADE if rel is None else rel
        if level not in self._tables:
            self._tables[level] = self._build_table(level)
        return self._tables[level]

    def _build_table(self, level: int) -> RankingTable:
        """Return the table of a level of relevance, its arrays in column order because sums run rank by rank."""
        grade, judged, ideal = self._grades
        covered = (grade >= level).astype(np.int32)
        units = self._counts.count(level, self._rankings.query)
        return RankingTable(self._rankings.length.astype(np.int32), units, grade.T, covered.T, judged.T, ideal)

    @cached_property
    def _grades(self) -> tuple[GradeArray, BoolArray, GradeArray]:
        """Grade and judged of each slot, of shape (depth, n), and the ideal grades, of shape (n, width)."""
        rankings = self._rankings
        shape = (int(rankings.length.max(initial=0)), len(rankings.query))
        cells = rankings.slot, rankings.row
        grade = np.zeros(shape, dtype=np.int8)
        grade[cells] = np.maximum(rankings.grade, 0)
        judged = np.zeros(shape, dtype=np.bool_)
        judged[cells] = rankings.grade >= 0
        positive = self._counts.count(RELEVANT_GRADE, rankings.query)
        return grade, judged, self._counts.qrels.ideal_grades(rankings.query, positive)


class BatchScorer:
    """Scores rankings in batches; the values of a query do not depend on its batch."""

    def __init__(self, qrels: Qrels, names: Sequence[MetricName]) -> None:
        self._names = names
        self._counts = RelevantCounts(qrels)
        self._pending: list[TrecRankings] = []
        self._blocks: list[ScoredBlock] = []

    def add_rankings(self, rankings: TrecRankings) -> None:
        """Add rankings; they are scored once there are enough of them, or by `finish`."""
        self._pending.append(rankings)
        if sum(len(pending.query) for pending in self._pending) >= BATCH_RANKINGS:
            self._score_pending()

    def finish(self) -> ScoredBlock:
        """Return the columns of all rankings, one row for each, in no particular order."""
        if self._pending:
            self._score_pending()
        if not self._blocks:
            self._score_rankings(TrecRankings.of_empty(np.zeros(0, dtype=np.int64)))
        return join_blocks(self._blocks)

    def _score_pending(self) -> None:
        """Score the pending rankings, those of similar length together to keep the padding small."""
        rankings = TrecRankings.concatenate(self._pending)
        self._pending = []
        size = np.maximum(rankings.length, self._counts.count(RELEVANT_GRADE, rankings.query))
        order = np.argsort(-size, kind="stable")
        first = 0
        while first < len(order):
            count = max(1, MAX_TABLE_CELLS // int(size[order[first]]))
            self._score_rankings(rankings.take(order[first : first + count]))
            first += count

    def _score_rankings(self, rankings: TrecRankings) -> None:
        columns = score_judged_rankings(JudgedRankings(rankings, self._counts), self._names)
        self._blocks.append(ScoredBlock.of_single_config(rankings.query, columns))


def score_judged_rankings(rankings: JudgedRankings, names: Sequence[MetricName]) -> dict[str, ScoreColumn]:
    """Return the column of each metric, by its canonical name."""
    return {str(name): score_ranking(rankings, name) for name in names}


GROUP_BYTES = 128 << 20
"""Bytes of scattered lines that are grouped by query at a time."""

Span = tuple[int, int]
"""Offsets of the first byte of a part of a file, and of the first byte after it."""


@dataclass(frozen=True, slots=True)
class RunJob:
    """What to score: `file` is the uncompressed run, `name` its name in messages, `block` the bytes read at a time."""

    qrels: Qrels
    names: tuple[MetricName, ...]
    file: Path
    name: str
    block: int


@dataclass(frozen=True, slots=True)
class ScoredPart:
    """The result of a part of a run: the columns of its queries, its tag, unknown queries, line counts."""

    block: ScoredBlock
    tag: bytes | None
    unknown: tuple[bytes, ...]
    lines: int
    normalised: int


def score_run_file(job: RunJob) -> ScoredPart:
    """Score a run in this process. Raises InputError with all malformed lines."""
    with open_file(job.file, job.name) as file:
        span = _content_span(file)
        findings = ProblemList(job.name)
        reader = RunReader(job.qrels, findings)
        try:
            part = _score_blocks(job, reader, _read_blocks(job, file, span))
        except ScatteredError:
            return _score_grouped(job, file, span)
    if reader.is_valid and not reader.lines:
        findings.add_error(None, "", "no rankings (got an empty file; expected a document a line)", "E_EMPTY")
    findings.raise_errors()
    return part


def score_run_in_processes(job: RunJob, workers: int) -> list[ScoredPart] | None:
    """Score a run in several processes, including this one. Raises IncompleteError if another one dies.

    Returns None if `score_run_file` is needed: the run has a problem, is small, or its queries are scattered.
    """
    with open_file(job.file, job.name) as file:
        spans = _cut_at_queries(file, _content_span(file), workers)
    if len(spans) < 2:
        return None
    import multiprocessing  # not needed, and slow to import, with one process
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

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
    queries = np.concatenate([part.block.case for part in valid_parts])
    is_scattered = len(np.unique(queries)) < len(queries)
    return None if is_scattered else valid_parts


_worker_job: list[RunJob] = []
"""The job of a worker process, set once: sending it with every part would copy the qrels each time."""


def _set_worker_job(job: RunJob) -> None:
    _worker_job[:] = [job]


def _score_span_in_worker(span: Span) -> ScoredPart | None:
    return _score_span(_worker_job[0], span)


def _score_span(job: RunJob, span: Span) -> ScoredPart | None:
    reader = RunReader(job.qrels, ProblemList(job.name))
    with open_file(job.file, job.name) as file:
        try:
            part = _score_blocks(job, reader, _read_blocks(job, file, span))
        except ScatteredError:
            return None
    return part if reader.is_valid else None


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


def _read_blocks(job: RunJob, file: BinaryIO, span: Span) -> Iterator[LineBlock]:
    file.seek(span[0])
    return iterate_query_blocks(file, RUN_LAYOUT, job.block, span[1])


def _score_blocks(job: RunJob, reader: RunReader, blocks: Iterable[LineBlock]) -> ScoredPart:
    scorer = BatchScorer(job.qrels, job.names)
    for block in blocks:
        scorer.add_rankings(reader.read_block(block))
    return ScoredPart(scorer.finish(), reader.tag, tuple(reader.unknown), reader.lines, reader.normalised)


def _score_grouped(job: RunJob, file: BinaryIO, span: Span) -> ScoredPart:
    """Score a run whose queries are scattered over the file: check every line, then group the lines by query.

    The queries are divided into shares of about `GROUP_BYTES` bytes of lines; the file is read once for each share.
    """
    findings = ProblemList(job.name)
    checker = RunReader(job.qrels, findings)
    for block in _read_blocks(job, file, span):
        checker.check_block(block)
        checker.find_queries(block.fields)
    findings.raise_errors()
    reader = RunReader(job.qrels, findings)
    shares = 1 + (span[1] - span[0]) // GROUP_BYTES

    def grouped_blocks() -> Iterator[LineBlock]:
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
    number: IndexArray

    def blocks(self, size: int) -> Iterator[LineBlock]:
        """Yield the lines in blocks of whole queries, numbered as in the file."""
        for block in iterate_query_blocks(io.BytesIO(self.text), RUN_LAYOUT, size):
            fields = structs.replace(block.fields, line=self.number[block.fields.line - 1])
            yield block._replace(fields=fields)


def _group_lines(reader: RunReader, blocks: Iterator[LineBlock], share: int, shares: int) -> _GroupedLines:
    """Return the lines of one share of the known queries, grouped by query and within it in the order of the file."""
    queries: list[IndexArray] = []
    numbers: list[IndexArray] = []
    lines: list[bytes] = []
    for block in blocks:
        fields = block.fields
        first, ordinal = reader.find_queries(fields)
        query = np.repeat(ordinal, np.diff(first, append=len(fields)))
        selected = np.flatnonzero((query != UNKNOWN_QUERY) & (query % shares == share))
        queries.append(query[selected])
        numbers.append(fields.line[selected])
        spans = zip(fields.start[selected, 0].tolist(), fields.end[selected, -1].tolist(), strict=True)
        lines.extend(fields.text.data[begin:end] for begin, end in spans)
    order = np.argsort(np.concatenate(queries), kind="stable")
    text = b"\n".join([lines[index] for index in order.tolist()])
    return _GroupedLines(text, np.concatenate(numbers)[order])


RUN_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class TrecRunScores:
    """A run's scores, and what was noticed while it was read.

    table: one row for each query of the qrels, in their order, under the tag of the run. unknown: queries of the run
    that are not in the qrels; their lines are checked but not scored. lines: number of lines. normalised: number of
    lines that were not in NFC.
    """

    table: ScoreTable
    unknown: tuple[str, ...]
    lines: int
    normalised: int


def score_trec_file(
    qrels: Qrels,
    path: Path,
    names: Sequence[MetricName],
    *,
    workers: int = 1,
    missing: Literal["error", "zero"] = "error",
    block: int = RUN_BLOCK_BYTES,
) -> TrecRunScores:
    """Score a run file (`.gz` too) by ranking metrics; a query without a relevant document is not applicable.

    A query that is not in the run is an error, or with `missing="zero"` an empty ranking, as with trec_eval's `-c`.
    `workers` (number of processes) and `block` (bytes read at a time) change speed and memory, but no result.
    Raises InputError with all malformed lines, and MetricNameError for metrics that a run cannot have.
    """
    check_run_metrics(names)
    with ExitStack() as stack:
        source = stack.enter_context(open_source(path))
        refuse_packed_misfit(source, TREC_RUN_FORMAT)
        plain = stack.enter_context(unpack_source(source))
        job = RunJob(qrels, tuple(names), plain, source.name, block)
        parts = (score_run_in_processes(job, workers) if workers > 1 else None) or [score_run_file(job)]
    return _assemble_scores(qrels, names, parts, missing)


def find_first_lines(path: Path, query_ids: Collection[str]) -> dict[str, int]:
    """Return the first line of each of these queries in a run file; scoring itself does not keep them."""
    remaining = set(query_ids)
    line_numbers: dict[str, int] = {}
    with open_source(path) as source:
        for line in read_lines(source):
            query = line.data.split(None, 1)[:1]
            query_id = unicodedata.normalize("NFC", query[0].decode()) if query else ""
            if query_id in remaining:
                remaining.discard(query_id)
                line_numbers[query_id] = line.number
                if not remaining:
                    break
    return line_numbers


def _assemble_scores(
    qrels: Qrels, names: Sequence[MetricName], parts: Sequence[ScoredPart], missing: str
) -> TrecRunScores:
    block = join_blocks([part.block for part in parts])
    table = build_score_table(
        (parts[0].tag or b"").decode(),
        block,
        np.arange(len(block.case)),
        list(qrels.query_ids),
        partial(_score_absent, qrels, names),
        missing_as_zero=missing == "zero",
    )
    unknown = dict.fromkeys(query_id for part in parts for query_id in part.unknown)
    return TrecRunScores(
        table=table,
        unknown=tuple(query_id.decode() for query_id in unknown),
        lines=sum(part.lines for part in parts),
        normalised=sum(part.normalised for part in parts),
    )


def _score_absent(qrels: Qrels, names: Sequence[MetricName], queries: Sequence[int]) -> dict[str, ScoreColumn]:
    """Return the columns of queries that are not in the run."""
    rankings = TrecRankings.of_empty(np.array(queries, dtype=np.int64))
    return score_judged_rankings(JudgedRankings(rankings, RelevantCounts(qrels), observed=False), names)


QRELS_FORMAT = "trec-qrels"
_FAILED = MetricName("failed")


def _is_scored_or_skipped(name: MetricName) -> bool:
    """Return whether scoring a TREC run from arrays gives what scoring it from records would give for a metric."""
    return name == _FAILED or is_run_metric(name) or not is_metric_measurable(name)


TREC_METRICS = tuple(text for text in DEFAULT_METRICS if _is_scored_or_skipped(parse_metric(text)))
"""The default metrics of TREC runs: those that need only one ranking."""


def is_trec_pair(
    request: ScoreRequest, files: Sequence[OutputFile], loaded_gate: LoadedGate, judging: RecordedVerdicts | None
) -> bool:
    """Return whether golden set and outputs can be scored from arrays: qrels, TREC runs, and ranking metrics only."""
    inputs, gate = request.inputs, loaded_gate.gate
    if inputs.corpus is not None or not Path(inputs.golden).is_file():
        return False
    if any(file.format != TREC_RUN_FORMAT for file in files) or inputs.limit is not None or inputs.only:
        return False
    if loaded_gate.baseline is not None or (gate is not None and gate.waivers):
        return False  # both need the cases
    if not all(map(_is_scored_or_skipped, plan_metrics(request, gate, judging, TREC_METRICS).requested)):
        return False
    return (inputs.golden_format or goldens.detect_golden_format(inputs.golden)) == QRELS_FORMAT


def score_trec_pair(
    request: ScoreRequest,
    files: Sequence[OutputFile],
    loaded_gate: LoadedGate,
    judging: RecordedVerdicts | None,
    doubts: Sequence[str] = (),
) -> ScoredRun:
    """Score runs against qrels. `doubts` are the notices of what was loaded.

    Raises InputError listing their problems, IncompleteError if a worker dies.
    """
    golden, scoring_options = request.inputs.golden, request.scoring
    qrels = read_qrels(Path(golden))
    plan = plan_metrics(request, loaded_gate.gate, judging, TREC_METRICS, partial=True)
    names = [name for name in plan.columns if is_run_metric(name)]
    runs = [_score_file(qrels, file, names, scoring_options) for file in files]
    findings = ProblemList(golden)
    qrels.note_doubts(findings)
    notices = (
        *map(str, findings.warnings()),
        *_check_runs(files, runs, ignore_unknown=request.inputs.ignore_unknown),
    )
    cases = GoldenSet(tuple([Case(query_id, "") for query_id in qrels.query_ids]), judgments="partial")
    tables = {table.config_id: table for table in sorted((run.table for run in runs), key=attrgetter("config_id"))}
    info = GoldenInfo(Path(golden).stem, "", compute_qrels_digest(qrels), len(qrels), QRELS_FORMAT, "partial")
    scoring = summarise_run(cases, info, tables, plan.requested, request, loaded_gate.gate)
    scoring = structs.replace(
        scoring,
        inputs=tuple(
            InputFile(file.name, TREC_RUN_FORMAT, len(qrels) - len(run.table.missing), (run.table.config_id,))
            for file, run in zip(files, runs, strict=True)
        ),
        stages=dict.fromkeys(tables, RETRIEVED_STAGE),
        warnings=(*scoring_options.notices, *doubts, *notices, *scoring.warnings),
    )
    return ScoredRun(scoring, cases, None, plan, files)


def _score_file(qrels: Qrels, file: OutputFile, names: Sequence[MetricName], options: ScoringOptions) -> TrecRunScores:
    missing: Literal["error", "zero"] = "zero" if options.missing_as_zero else "error"
    try:
        return score_trec_file(qrels, Path(file.path), names, workers=options.workers, missing=missing)
    except InputError as error:  # name the user's file, not its spooled copy
        raise InputError(
            [structs.replace(problem, path=file.name) for problem in error.problems], more=error.more
        ) from None


def _check_runs(files: Sequence[OutputFile], runs: Sequence[TrecRunScores], *, ignore_unknown: bool) -> list[str]:
    """Return notices about the runs; raise InputError for unknown queries and for a tag used twice."""
    problems: list[Problem] = []
    file_by_tag: dict[str, str] = {}
    for file, run in zip(files, runs, strict=True):
        config = run.table.config_id
        if config in file_by_tag:
            tag, earlier_file = shorten_repr(config), file_by_tag[config]
            message = f"two runs with the same tag (got {tag} again; it is that of {earlier_file})"
            problems.append(Problem(file.name, None, "tag", message, "E_DUPLICATE"))
        file_by_tag.setdefault(config, file.name)
        refused_queries = () if ignore_unknown else run.unknown
        lines = find_first_lines(Path(file.path), refused_queries) if refused_queries else {}
        for query in refused_queries:
            message = f"no such case (got {shorten_repr(query)}; expected an id of the golden set, or --ignore-unknown)"
            problems.append(Problem(file.name, lines[query], "query", message, "E_UNKNOWN_ID"))
    if problems:
        raise InputError(problems)
    notices = [f"{file.name}: {format_count(run.normalised, 'line')} brought to Unicode NFC"
               for file, run in zip(files, runs, strict=True) if run.normalised]  # fmt: skip
    unknown = sum(len(run.unknown) for run in runs)
    if unknown:
        notices.append(f"left out: {format_count(unknown, 'row')} of cases that are not in the golden set")
    return notices
