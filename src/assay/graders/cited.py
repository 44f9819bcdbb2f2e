"""Citations against judgments: how many of the cited passages somebody judged, and how good those are.

For golden sets that are judged in part, where a citation that nobody judged says nothing. They compare citing, not
retrieving: what was retrieved and not cited does not count.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from assay.graders.base import Batch, CaseIndex, FactKey, Floats, Grader, Ints, Key, Verdict, column, not_applicable
from assay.graders.names import MetricName
from assay.graders.rows import Rows
from assay.model import BEHAVIOURS, Chunk, Observation, ScoreColumn

FIELDS = ("cited", "judged", "grades", "known", "sentences", "citing")
_UNREPORTED = -1
_REL = Key("required", doc="count units of at least this grade; default: the required units")


class CitedFacts:
    """Six numbers of each row, in the order of `FIELDS`; −1: not reported.

    Distinct citations, the judged ones among them and the sum of their grades, whether anything was judged for the
    case, sentences and those of them that cite.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []

    def add(self, rows: Rows) -> None:
        """Take some rows, in order."""
        self.rows += map(_count_cited, rows.cases, rows.observations)

    @cached_property
    def counts(self) -> dict[str, Ints]:
        """The numbers as one array per field."""
        table = np.array(self.rows, dtype=np.int64).reshape(-1, len(FIELDS))
        return dict(zip(FIELDS, table.T, strict=True))


def _count_cited(case: CaseIndex, observation: Observation) -> tuple[int, ...]:
    citations, sentences = observation.citations, observation.sentences
    if sentences is None:
        sentence_counts = (_UNREPORTED, 0)
    else:
        sentence_counts = (len(sentences), sum(bool(sentence.citations) for sentence in sentences))
    if citations is None or not case.partial:
        return (_UNREPORTED, 0, 0, 0, *sentence_counts)
    names = dict.fromkeys(citations)
    masks = [mask for mask in case.evidence.masks([Chunk(name) for name in names]) if mask is not None]
    grades = sum(case.evidence.best_grade(mask) for mask in masks)
    has_judgments = bool(case.case.evidence) and not case.denied
    return (len(names), len(masks), grades, int(has_judgments), *sentence_counts)


class RelevantFacts:
    """How many of a row's citations are relevant at one level of grades."""

    def __init__(self, rel: int | None) -> None:
        self.rel = rel
        self.found: list[int] = []

    def add(self, rows: Rows) -> None:
        """Take some rows, in order."""
        self.found += map(self._count, rows.cases, rows.observations)

    def _count(self, case: CaseIndex, observation: Observation) -> int:
        if not observation.citations or not case.partial:
            return 0
        level = case.required if self.rel is None else case.level(self.rel)
        masks = case.evidence.masks([Chunk(name) for name in dict.fromkeys(observation.citations)])
        return sum(bool(mask and mask & level) for mask in masks)


def _relevance_level(name: MetricName) -> int | None:
    rel = name.key("rel", _REL.default)
    return None if rel == _REL.default else int(rel)


def _divide_counts(part: Ints, total: Ints) -> Floats:
    shares = np.zeros(len(part))
    np.divide(part, total, out=shares, where=total > 0)
    return shares


def _cited_column(batch: Batch, name: MetricName) -> ScoreColumn:
    counts = batch.of(CitedFacts).counts
    if name.base == "cited_judged":
        values = _divide_counts(counts["judged"], counts["cited"])
    elif name.base == "cited_grade":
        values = _divide_counts(counts["grades"], counts["judged"])
    else:
        values = _divide_counts(
            np.array(batch.of(RelevantFacts, _relevance_level(name)).found, dtype=np.int64), counts["judged"]
        )
    unless: list[Verdict] = [
        *batch.target_errors,
        not_applicable(~batch.partial, "the golden set is judged completely"),
        not_applicable(counts["cited"] == _UNREPORTED, "citations not reported"),
        not_applicable(counts["known"] == 0, "nothing was judged for this case"),
        not_applicable(counts["cited"] == 0, "no citations"),
    ]
    if name.base != "cited_judged":
        unless.append(not_applicable(counts["judged"] == 0, "no judged citation"))
    return column(name, values, *unless)


def _sentence_coverage_column(batch: Batch, name: MetricName) -> ScoreColumn:
    counts, expected = batch.of(CitedFacts).counts, batch.behaviours[0]
    return column(
        name,
        _divide_counts(counts["citing"], counts["sentences"]),
        *batch.target_errors,
        not_applicable(counts["sentences"] == _UNREPORTED, "sentences not reported"),
        not_applicable(counts["sentences"] == 0, "no sentences"),
        not_applicable(expected != BEHAVIOURS.index("answer"), "no answer is expected"),
    )


def _need_cited_counts(name: MetricName) -> tuple[FactKey, ...]:
    relevant: tuple[FactKey, ...] = (
        ((RelevantFacts, (_relevance_level(name),)),) if name.base == "cited_relevant" else ()
    )
    return ((CitedFacts, ()), *relevant)


def _cited_row(
    name: str, summary: str, *, keys: dict[str, Key] | None = None, unit: str = "share", high: float = 1
) -> Grader:
    return Grader(
        name=name,
        family="citation",
        summary=summary,
        source="citations of the TREC RAG track against its passage judgments",
        unit=unit,
        high=high,
        keys=keys or {},
        undefined="citations not reported, or none; a golden set judged completely; nothing judged for the case",
        needs=_need_cited_counts,
        compute=_cited_column,
    )


GRADERS: tuple[Grader, ...] = (
    _cited_row("cited_judged", "Share of the cited passages that somebody judged."),
    _cited_row("cited_relevant", "Share of the judged cited passages that are relevant.", keys={"rel": _REL}),
    _cited_row("cited_grade", "Mean grade of the judged cited passages.", unit="grade", high=10),
    Grader(
        name="sentence_coverage",
        family="citation",
        summary="Share of the answer's sentences that cite something.",
        source="sentence-level citations of the TREC RAG track",
        undefined="sentences not reported, or none; no answer expected",
        needs=_need_cited_counts,
        compute=_sentence_coverage_column,
    ),
)
