"""Files and symbols of a code base: what the system returned compared with what the case lists.

Sets, not rankings: order and repeats do not count. A file is a chunk's `path`; without one, its id.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from msgspec import Struct

from assay.metrics.cases.case_index import CaseIndex, chunk_fields
from assay.metrics.metric import Batch, JoinedRows, Metric, MetricName, make_score_column, rows_not_applicable
from assay.records.observations import Chunk, Observation, find_stage
from assay.records.scores import ScoreColumn

PATH = "path"


class NameComparison(Struct, frozen=True):
    """Expected and returned names; None where the observation does not report them."""

    expected: frozenset[str]
    returned: frozenset[str] | None

    @property
    def missing(self) -> list[str]:
        """Expected and not returned."""
        return sorted(self.expected - (self.returned or frozenset()))

    @property
    def extra(self) -> list[str]:
        """Returned and not expected."""
        return sorted((self.returned or frozenset()) - self.expected)


def _chunk_field(case: CaseIndex, chunk: Chunk, name: str) -> Any:
    corpus_chunk = case.corpus.chunks.get(chunk.chunk_id) if case.corpus is not None else None
    return chunk_fields(chunk, corpus_chunk).get(name)


def compare_files(case: CaseIndex, observation: Observation) -> NameComparison:
    """Return the files that the case lists and those that the `retrieved` stage returned."""
    expected = frozenset(
        str(selector[PATH]) for unit in case.case.evidence for selector in unit.any_of if PATH in selector
    )
    stage = find_stage(observation, "retrieved")
    if stage is None or not expected:
        return NameComparison(expected, None)
    returned = frozenset(str(_chunk_field(case, chunk, PATH) or chunk.chunk_id) for chunk in stage.chunks)
    return NameComparison(expected, returned)


def compare_symbols(case: CaseIndex, observation: Observation) -> NameComparison:
    """Return the symbols that the case lists and those found, case-insensitively and as whole identifiers, in the
    evidence's text where the target reports it, else in the answer."""
    expected = frozenset(case.case.symbols)
    if not expected:
        return NameComparison(expected, None)
    texts = [chunk.text for stage in observation.stages or () for chunk in stage.chunks if chunk.text]
    if not texts and isinstance(observation.answer, str):
        texts = [observation.answer]
    if not texts:
        return NameComparison(expected, None)
    joined = "\n".join(texts).lower()
    words = set(re.findall(r"\w+", joined))
    found_symbols = {name for name in expected if _has_symbol(name.lower(), words, joined)}
    return NameComparison(expected, frozenset(found_symbols))


def _has_symbol(symbol: str, words: set[str], text: str) -> bool:
    """Whether a text contains a symbol as a whole word; a dotted or qualified one is searched with its punctuation."""
    if re.fullmatch(r"\w+", symbol):
        return symbol in words
    return re.search(rf"(?<!\w){re.escape(symbol)}(?!\w)", text) is not None


class FileFacts:
    """Files and symbols, compared for each row."""

    def __init__(self) -> None:
        self.files: list[NameComparison] = []
        self.symbols: list[NameComparison] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        self.files += map(compare_files, rows.cases, rows.observations)
        self.symbols += map(compare_symbols, rows.cases, rows.observations)


def _file_column(batch: Batch, name: MetricName) -> ScoreColumn:
    facts = batch.get_facts(FileFacts)
    rows = facts.symbols if name.base == "symbol_recall" else facts.files
    matches = [len(row.expected & (row.returned or frozenset())) for row in rows]
    totals = [len(row.returned or ()) if name.base == "file_precision" else len(row.expected) for row in rows]
    values = np.array([matched / total if total else 0.0 for matched, total in zip(matches, totals, strict=True)])
    return make_score_column(
        name,
        values,
        rows_not_applicable([not row.expected for row in rows], "the case lists none"),
        *batch.target_errors,
        rows_not_applicable([row.returned is None for row in rows], "not reported"),
    )


def _file_row(name: str, summary: str, source: str) -> Metric:
    return Metric(
        name=name,
        family="retrieval",
        summary=summary,
        source=source,
        undefined="the case lists none, or the target reported none",
        needs=lambda _: ((FileFacts, ()),),
        compute=_file_column,
    )


FILE_METRICS: tuple[Metric, ...] = (
    _file_row("file_recall", "Share of the expected files that were retrieved.", "code benchmark"),
    _file_row(
        "file_precision",
        "Share of the retrieved files that were expected; 0 when none was retrieved.",
        "code benchmark",
    ),
    _file_row(
        "symbol_recall", "Share of the expected symbols found in the evidence, else in the answer.", "code benchmark"
    ),
)
