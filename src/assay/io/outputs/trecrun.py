"""`trec-run` (`query Q0 document rank score tag`): a run written anew as native lines, one ranking for each query.

The order is that of `io.trec`, trec_eval's: scores fall, and of equal ones the greater document id comes first. The
rank field decides nothing; the tag is the configuration.
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
    """The lines of one query: where they begin, and the score and line of each document."""

    line: int
    tag: str
    documents: dict[str, tuple[float, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Written:
    """What was written: for each line the line of the run at which its query begins; how many were not in NFC."""

    lines: list[int]
    normalised: int


def write_native(source: Source, target: Path) -> Written:
    """Write a run as native lines, in the order in which its queries begin; raise InputError with every bad line."""
    try:
        return _write(source, target, scattered=False)
    except ScatteredError:
        return _write(source, target, scattered=True)


def _write(source: Source, target: Path, *, scattered: bool) -> Written:
    findings, written = Findings(source.name), Written([], 0)
    with open_file(source.path, source.name) as file, open(target, "wb") as out:
        found = _rankings(file, findings, written)
        for query, ranking in _gathered(found, findings) if scattered else _each_once(found):
            written.lines.append(ranking.line)
            out.write(msgspec.json.encode(_observation(query, ranking)) + b"\n")
    findings.raise_errors()
    return written


def _rankings(file: BinaryIO, findings: Findings, written: Written) -> Iterator[tuple[str, _Ranking]]:
    """Yield the lines of the run as rankings of adjacent lines; bad lines are noted and left out."""
    file.seek(len(BOM) if file.read(len(BOM)) == BOM else 0)
    tag = ""
    for block in query_blocks(file, LAYOUT, BLOCK):
        written.normalised += block.normalised
        for fault in block.faults:
            findings.error(*fault)
        starts, queries = block.fields.queries()
        lines = block.fields.line.tolist()
        rows = list(zip(lines, *(_column(block.fields, place) for place in (DOCUMENT, SCORE, TAG)), strict=True))
        for query, (begin, end) in zip(queries, pairwise([*starts.tolist(), len(rows)]), strict=True):
            tag = tag or rows[begin][-1]
            ranking = _Ranking(lines[begin], tag)
            for line, document, token, its_tag in rows[begin:end]:
                score = read_number(token.encode())
                if score is None:
                    message = f"not a score (got {shown(token)}; expected a finite decimal number)"
                    findings.error(line, "score", message, "E_SCORE")
                else:
                    _enter(ranking, line, document, score, findings)
                if its_tag != tag:
                    got = f"got {shown(its_tag)}; expected {shown(tag)} as on the lines before"
                    findings.error(line, "tag", f"another run begins ({got})", "E_TAG")
                    tag = its_tag
            yield query.decode(), ranking


def _column(fields: Fields, place: int) -> list[str]:
    start, end, data = fields.start[:, place].tolist(), fields.end[:, place].tolist(), fields.text.data
    return [data[begin:stop].decode() for begin, stop in zip(start, end, strict=True)]


def _enter(ranking: _Ranking, line: int, document: str, score: float, findings: Findings) -> None:
    earlier = ranking.documents.setdefault(document, (score, line))[1]
    if earlier != line:
        got = f"got {shown(document)} again; first on line {earlier}"
        findings.error(line, "document", f"listed twice for one query ({got})", "E_DUPLICATE_ID")


def _each_once(rankings: Iterable[tuple[str, _Ranking]]) -> Iterator[tuple[str, _Ranking]]:
    seen: set[str] = set()
    for query, ranking in rankings:
        if query in seen:
            raise ScatteredError
        seen.add(query)
        yield query, ranking


def _gathered(rankings: Iterable[tuple[str, _Ranking]], findings: Findings) -> Iterator[tuple[str, _Ranking]]:
    """Bring together queries whose lines are scattered over the run: all of it is held in memory."""
    whole: dict[str, _Ranking] = {}
    for query, part in rankings:
        ranking = whole.setdefault(query, part)
        if ranking is not part:
            for document, (score, line) in part.documents.items():
                _enter(ranking, line, document, score, findings)
    yield from whole.items()


def _observation(query: str, ranking: _Ranking) -> Observation:
    ordered = sorted([(score, name) for name, (score, _) in ranking.documents.items()], reverse=True)
    chunks = tuple([Chunk(name, score) for score, name in ordered])
    return Observation(query, ranking.tag, stages=(Stage("retrieved", chunks),))
