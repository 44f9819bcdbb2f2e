"""Formats of pooled judgments: `beir` folders and `trec-qrels` files. Chunks that are not listed are unjudged.

A grade of 0 means judged and not relevant; a negative grade means not judged, and a warning gives their number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from assay.formats.file_io import Source
from assay.formats.golden_builder import CaseLocation, GoldenBuilder, GoldenHeader
from assay.formats.golden_sets.json_cases import read_golden_records
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case

QUERIES_FILE = "queries.jsonl"


class BeirQuery(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One line of BEIR's `queries.jsonl`."""

    id: str = field(name="_id")
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


LocatedCase = tuple[CaseLocation, Case]


def read_trec_golden(source: Source, builder: GoldenBuilder) -> None:
    """Read `query iteration chunk grade` lines; the format has no questions, so they are empty."""
    for spot, case in _read_judged_cases(source, builder, is_table=False):
        builder.add_case(case, spot)


def _read_judged_cases(source: Source, builder: GoldenBuilder, *, is_table: bool) -> list[LocatedCase]:
    """Return a case for each judged query with the line of its first judgment, and check the names of its chunks.

    `is_table`: the judgments are a table as BEIR has it, not lines as TREC has them.
    """
    from assay.formats.trec.qrels import BEIR_LAYOUT, TREC_LAYOUT, read_judgments  # most runs read no judgments

    qrels = read_judgments(source, BEIR_LAYOUT if is_table else TREC_LAYOUT, builder.findings)
    cases = qrels.to_golden_set().cases
    lines = iter(qrels.line_numbers(qrels.judged_rows()[0]).tolist())
    for case in cases:
        for unit in case.evidence:
            builder.clean_name(str(unit.any_of[0]["chunk_id"]), CaseLocation(next(lines)), "evidence")
    qrels.note_doubts(builder.findings)
    first_lines = qrels.line_numbers(qrels.first_rows()).tolist()
    return [(CaseLocation(line), case) for line, case in zip(first_lines, cases, strict=True)]


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
    judged_cases: dict[str, Case] = {}
    query_ids = {builder.clean_name(query.id, spot, "id") for spot, query in located_queries}
    for spot, case in _read_judged_cases(qrels, builder, is_table=True):
        judged_cases[builder.clean_name(case.id, spot, "id")] = case
        if case.id not in query_ids:
            message = f"unknown query (got {shorten_repr(case.id)}; expected an _id of {queries})"
            builder.findings.add_error(spot.line, "query-id", message, "E_UNKNOWN_QUERY")
    builder.header = GoldenHeader(split=Path(qrels.name).name.partition(".")[0])
    builder.findings.path = str(queries)
    _add_judged_queries(located_queries, judged_cases, builder)


def _add_judged_queries(
    located_queries: list[tuple[CaseLocation, BeirQuery]], judged_cases: dict[str, Case], builder: GoldenBuilder
) -> None:
    unjudged_count = 0
    for spot, query in located_queries:
        judged_case = judged_cases.get(builder.clean_name(query.id, spot, "id"))
        if judged_case is None:
            unjudged_count += 1
        else:
            case = replace(judged_case, id=query.id, question=query.text, metadata=query.metadata)
            builder.add_case(case, spot)
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
