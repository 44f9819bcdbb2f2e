"""Format `code-benchmark`: questions about a code base with the files and symbols that answer them (ADR 0038)."""

from __future__ import annotations

from typing import Any

from assay.io.goldens.base import Spot
from assay.io.goldens.builder import Builder
from assay.io.goldens.rows import Row, read_rows
from assay.io.lines import Source
from assay.model import Case, Evidence

DECISIVE = ("expected_files", "expected_symbols", "gold_answer")
FIELDS = {"evidence": "expected_files", "symbols": "expected_symbols", "reference": "gold_answer"}


class CodeRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One line of the benchmark."""

    id: str
    question: str
    gold_answer: str | None = None
    expected_files: tuple[str, ...] = ()
    expected_symbols: tuple[str, ...] = ()


def read(source: Source, builder: Builder) -> None:
    """Read benchmark rows. Each expected file is a unit of evidence; without files, file metrics are not applicable."""
    read_rows(source, builder, CodeRow, _case)


def _case(row: CodeRow, common: dict[str, Any], builder: Builder, spot: Spot) -> Case:
    paths = builder.clean(row.expected_files, spot, "evidence")
    return Case(
        id=row.id,
        question=row.question,
        reference=row.gold_answer or None,
        evidence=tuple([Evidence(({"path": path},)) for path in paths]),
        symbols=row.expected_symbols,
        **common,
    )
