"""Formats of pooled judgments: `beir` folders and `trec-qrels` files. Chunks that are not listed are unjudged.

A grade of 0 means judged and not relevant; a negative grade means not judged, and a warning gives their number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from assay.formats.file_io import Source, decode_line, quote_line_start, read_lines
from assay.formats.golden_builder import CaseLocation, GoldenBuilder, GoldenHeader
from assay.formats.golden_jsonl import read_golden_records
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case, Evidence

MAX_GRADE = 10
QUERIES_FILE = "queries.jsonl"
BEIR_COLUMNS = ("query-id", "corpus-id", "score")

_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")


class BeirQuery(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One line of BEIR's `queries.jsonl`."""

    id: str = field(name="_id")
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


class PooledJudgments:
    """The judged chunks of each query, with the line of its first judgment."""

    def __init__(self, builder: GoldenBuilder) -> None:
        self._builder = builder
        self._negative_count = 0
        self.queries: dict[str, tuple[int, dict[str, Evidence]]] = {}

    def add(self, line: int, query: str, chunk: str, grade: str) -> None:
        """Add one judgment; notes errors for grades that are not integers up to 10 and for chunks judged twice."""
        builder, spot = self._builder, CaseLocation(line)
        query = builder.clean_name(query, spot, "id")
        chunk = builder.clean_name(chunk, spot, "evidence")
        _, units = self.queries.setdefault(query, (line, {}))
        if not is_integer(grade) or int(grade) > MAX_GRADE:
            message = f"not a grade (got {shorten_repr(grade)}; expected an integer up to {MAX_GRADE})"
            builder.findings.add_error(line, "grade", message, "E_GRADE")
        elif chunk in units:
            message = (
                f"chunk judged twice (got {shorten_repr(chunk)} again for {shorten_repr(query)}; expected it once)"
            )
            builder.note_error(spot, "evidence", message, "E_DUPLICATE_ID")
        elif int(grade) < 0:
            self._negative_count += 1
        else:
            units[chunk] = Evidence(({"chunk_id": chunk},), int(grade), int(grade) > 0)

    def report(self) -> None:
        """Note a warning with the number of negative grades."""
        if self._negative_count:
            message = f"negative grades taken as not judged (got {self._negative_count}; expected grades from 0)"
            self._builder.findings.add_warning(None, "grade", message, "E_UNJUDGED")


def is_integer(text: str) -> bool:
    """Return whether `text` is an integer of at most nine digits, with an optional sign."""
    return _INTEGER.fullmatch(text) is not None


def read_trec_golden(source: Source, builder: GoldenBuilder) -> None:
    """Read `query iteration chunk grade` lines; the format has no questions, so they are empty."""
    judgments = PooledJudgments(builder)
    for line, cells in _cells(source, builder, None, ("query", "iteration", "chunk", "grade")):
        judgments.add(line, cells[0], cells[2], cells[3])
    for query, (line, units) in judgments.queries.items():
        builder.add_case(Case(id=query, question="", evidence=tuple(units.values())), CaseLocation(line))
    judgments.report()


def read_beir_golden(source: Source, builder: GoldenBuilder) -> None:
    """Read a folder with `queries.jsonl` and `qrels/<split>.tsv`, or one such `.tsv`; each judged query is a case."""
    qrels = _choose_split(source, builder)
    queries = Path(qrels.name).parent.parent / QUERIES_FILE
    located_queries: list[tuple[CaseLocation, BeirQuery]] = []

    def add_query(query: BeirQuery, _free: dict[str, Any], spot: CaseLocation) -> None:
        located_queries.append((spot, query))

    builder.findings.path = str(queries)
    read_golden_records(Source(queries, str(queries), ".jsonl"), builder, BeirQuery, add_query)
    builder.findings.path = qrels.name
    judgments = PooledJudgments(builder)
    for line, cells in _cells(qrels, builder, b"\t", BEIR_COLUMNS):
        if tuple(cells) != BEIR_COLUMNS:
            judgments.add(line, *cells)
    judgments.report()
    query_ids = {builder.clean_name(query.id, spot, "id") for spot, query in located_queries}
    for name, (line, _) in judgments.queries.items():
        if name not in query_ids:
            message = f"unknown query (got {shorten_repr(name)}; expected an _id of {queries})"
            builder.findings.add_error(line, "query-id", message, "E_UNKNOWN_QUERY")
    builder.header = GoldenHeader(split=Path(qrels.name).name.partition(".")[0])
    builder.findings.path = str(queries)
    _add_judged_queries(located_queries, judgments, builder)


def _add_judged_queries(
    located_queries: list[tuple[CaseLocation, BeirQuery]], judgments: PooledJudgments, builder: GoldenBuilder
) -> None:
    unjudged_count = 0
    for spot, query in located_queries:
        judgment = judgments.queries.get(builder.clean_name(query.id, spot, "id"))
        if judgment is None:
            unjudged_count += 1
        else:
            evidence = tuple(judgment[1].values())
            builder.add_case(Case(id=query.id, question=query.text, evidence=evidence, metadata=query.metadata), spot)
    if unjudged_count:
        got = f"got {unjudged_count} of {len(located_queries)}"
        message = f"queries without a judgment are left out ({got}; expected all judged)"
        builder.findings.add_warning(None, "", message, "E_UNJUDGED")


def list_split_files(folder: Path) -> list[Path]:
    """Return the judgment files of a BEIR folder, by name."""
    return sorted((folder / "qrels").glob("*.tsv"))


def _choose_split(source: Source, builder: GoldenBuilder) -> Source:
    if not source.path.is_dir():
        return source
    files = list_split_files(source.path)
    chosen = files[0] if len(files) == 1 else source.path / "qrels" / "test.tsv"
    names = ", ".join(path.name for path in files) or "none"
    if chosen not in files:
        message = f"no split to read (got {names} in qrels; expected test.tsv, or the path of one of them)"
        raise InputError([Problem(source.name, None, "", message, "E_SPLIT")])
    if len(files) > 1:
        message = f"test.tsv read (got {names} in qrels; to read another one, give its path)"
        builder.findings.add_warning(None, "", message, "E_SPLIT")
    return Source(chosen, str(Path(source.name) / "qrels" / chosen.name), ".tsv")


def _cells(
    source: Source, builder: GoldenBuilder, separator: bytes | None, columns: tuple[str, ...]
) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each line that is not blank; note lines with a wrong number of cells."""
    for line in read_lines(source):
        cells = line.data.split(separator)
        if not line.data.strip():
            continue
        decode_line(line, source.name)
        if len(cells) == len(columns):
            yield line.number, [cell.decode() for cell in cells]
        else:
            message = f"wrong number of columns (got {quote_line_start(line)}; expected {', '.join(columns)})"
            builder.findings.add_error(line.number, "", message, "E_CELLS")
