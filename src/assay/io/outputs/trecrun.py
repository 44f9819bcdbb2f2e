"""Format `trec-run` (`query Q0 document rank score tag`): converts a run to native lines, one ranking per query.

Documents are ordered as in trec_eval: by falling score, and by falling document id among equal scores. The rank field
is ignored; the tag is the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import msgspec

from assay.errors import shown
from assay.io.findings import Findings
from assay.io.lines import Source, open_file
from assay.io.trec.encoding import BOM
from assay.io.trec.fields import Fields, query_blocks
from assay.io.trec.run import DOCUMENT, LAYOUT, SCORE, TAG, ScatteredError
from assay.io.trec.tokens import read_number
from assay.model import Chunk, Observation, Stage

BLOCK = 1 << 20


@dataclass(slots=True)
class _Ranking:
    """The lines of one query: the first line, and the score and line of each document."""

    line: int
    tag: str
    documents: dict[str, tuple[float, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Written:
    """The line of the run at which the query of each written line begins; how many lines were not in NFC."""

    lines: list[int]
    normalised: int


def write_native(source: Source, target: Path) -> Written:
    """Write a run as native lines, queries in the order of the run. Raises InputError with all bad lines."""
    try:
        return _write(source, target, scattered=False)
    except ScatteredError:
        return _write(source, target, scattered=True)


def _write(source: Source, target: Path, *, scattered: bool) -> Written:
    findings, written = Findings(source.name), Written([], 0)
    with open_file(source.path, source.name) as file, open(target, "wb") as out:
        parts = _read_rankings(file, findings, written)
        rankings = _merge_scattered(parts, findings) if scattered else _refuse_scattered(parts)
        for query, ranking in rankings:
            written.lines.append(ranking.line)
            out.write(msgspec.json.encode(_make_observation(query, ranking)) + b"\n")
    findings.raise_errors()
    return written


def _read_rankings(file: BinaryIO, findings: Findings, written: Written) -> Iterator[tuple[str, _Ranking]]:
    """Yield the adjacent lines of each query as a ranking; bad lines are noted and left out."""
    file.seek(len(BOM) if file.read(len(BOM)) == BOM else 0)
    tag = ""
    for block in query_blocks(file, LAYOUT, BLOCK):
        written.normalised += block.normalised
        for fault in block.faults:
            findings.error(*fault)
        starts, queries = block.fields.queries()
        columns = [_column_texts(block.fields, column) for column in (DOCUMENT, SCORE, TAG)]
        rows = list(zip(block.fields.line.tolist(), *columns, strict=True))
        for query, (begin, end) in zip(queries, pairwise([*starts.tolist(), len(rows)]), strict=True):
            tag = tag or rows[begin][-1]
            ranking = _Ranking(rows[begin][0], tag)
            for line, document, token, row_tag in rows[begin:end]:
                score = read_number(token.encode())
                if score is None:
                    message = f"not a score (got {shown(token)}; expected a finite decimal number)"
                    findings.error(line, "score", message, "E_SCORE")
                else:
                    _add_document(ranking, line, document, score, findings)
                if row_tag != tag:
                    got = f"got {shown(row_tag)}; expected {shown(tag)} as on the lines before"
                    findings.error(line, "tag", f"another run begins ({got})", "E_TAG")
                    tag = row_tag
            yield query.decode(), ranking


def _column_texts(fields: Fields, column: int) -> list[str]:
    start, end, data = fields.start[:, column].tolist(), fields.end[:, column].tolist(), fields.text.data
    return [data[begin:stop].decode() for begin, stop in zip(start, end, strict=True)]


def _add_document(ranking: _Ranking, line: int, document: str, score: float, findings: Findings) -> None:
    earlier = ranking.documents.setdefault(document, (score, line))[1]
    if earlier != line:
        got = f"got {shown(document)} again; first on line {earlier}"
        findings.error(line, "document", f"listed twice for one query ({got})", "E_DUPLICATE_ID")


def _refuse_scattered(rankings: Iterable[tuple[str, _Ranking]]) -> Iterator[tuple[str, _Ranking]]:
    """Yield the rankings; raise ScatteredError if a query comes a second time."""
    queries: set[str] = set()
    for query, ranking in rankings:
        if query in queries:
            raise ScatteredError
        queries.add(query)
        yield query, ranking


def _merge_scattered(rankings: Iterable[tuple[str, _Ranking]], findings: Findings) -> Iterator[tuple[str, _Ranking]]:
    """Merge the parts of queries whose lines are scattered over the run; all rankings are held in memory."""
    merged: dict[str, _Ranking] = {}
    for query, part in rankings:
        ranking = merged.setdefault(query, part)
        if ranking is not part:
            for document, (score, line) in part.documents.items():
                _add_document(ranking, line, document, score, findings)
    yield from merged.items()


def _make_observation(query: str, ranking: _Ranking) -> Observation:
    ordered = sorted([(score, name) for name, (score, _) in ranking.documents.items()], reverse=True)
    chunks = tuple([Chunk(name, score) for score, name in ordered])
    return Observation(query, ranking.tag, stages=(Stage("retrieved", chunks),))
