"""Format `code-benchmark`: questions about a code base with the files and symbols that answer them (ADR 0038)."""

from __future__ import annotations

from typing import Any

from assay.formats.file_io import Source
from assay.formats.golden_builder import CaseLocation, GoldenBuilder
from assay.formats.golden_sets.json_cases import BaseGoldenRow, read_golden_rows
from assay.records.golden_set import Case, Evidence

CODE_BENCHMARK_MEMBERS = ("expected_files", "expected_symbols", "gold_answer")
CODE_BENCHMARK_NAMES = {"evidence": "expected_files", "symbols": "expected_symbols", "reference": "gold_answer"}


class CodeRow(BaseGoldenRow, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One line of the benchmark."""

    id: str
    question: str
    gold_answer: str | None = None
    expected_files: tuple[str, ...] = ()
    expected_symbols: tuple[str, ...] = ()


def read_code_benchmark(source: Source, builder: GoldenBuilder) -> None:
    """Read benchmark rows. Each expected file is a unit of evidence; without files, file metrics are not applicable."""
    read_golden_rows(source, builder, CodeRow, _case)


def _case(row: CodeRow, common: dict[str, Any], builder: GoldenBuilder, spot: CaseLocation) -> Case:
    paths = builder.clean_names(row.expected_files, spot, "evidence")
    return Case(
        id=row.id,
        question=row.question,
        reference=row.gold_answer or None,
        evidence=tuple([Evidence(({"path": path},)) for path in paths]),
        symbols=row.expected_symbols,
        **common,
    )
