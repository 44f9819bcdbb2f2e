"""Citation metrics: do citations exist, may the user see them, were they in the context, are required ones given?

Whether a source supports its claim is measured by the metrics of citation support. A citation may name a chunk or, less
precisely, a document: `doc` stands for the chunk `doc:v1:003` (prefix up to one of `: # /`, or the corpus' document),
unless `doc` is itself the id of a chunk at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from assay.graders.base import (
    Batch,
    Bools,
    CaseIndex,
    FactKey,
    Floats,
    Grader,
    Ints,
    Key,
    Verdict,
    column,
    not_applicable,
)
from assay.graders.citing import among, stands_for
from assay.graders.names import MetricName
from assay.graders.rows import Ranked, Rows
from assay.graders.stages import CONTEXT
from assay.graders.visibility import CITATIONS, LeakFacts
from assay.model import BEHAVIOURS, Corpus, Observation, ScoreColumn

_UNREPORTED = -1


FIELDS = ("cited", "context", "in_context", "exist", "covered", "must", "must_found", "known")


def count_citations(case: CaseIndex, observation: Observation, ranked_context: Ranked | None) -> tuple[int, ...]:
    """Return the citation counts of one row, whose context is `found`, in the order of `FIELDS`.

    Distinct citations and context chunks (−1: not reported), citations in the context and in existence, context chunks
    cited, citations required and found, and whether there is anything to check them with.
    """
    corpus, must_cite = case.corpus, case.case.must_cite
    context = set[str]() if ranked_context is None else ranked_context.distinct
    cited_names = set(observation.citations or ())
    if cited_names <= context:
        in_context = existing = covered = len(cited_names)
    else:
        in_context = sum([among(name, context, corpus) for name in cited_names])
        covered = sum([_is_cited(chunk_id, cited_names, context, corpus) for chunk_id in context])
        existing = in_context if in_context == len(cited_names) else _count_existing(observation, cited_names, corpus)
    return (
        _UNREPORTED if observation.citations is None else len(cited_names),
        _UNREPORTED if ranked_context is None else len(context),
        in_context,
        existing,
        covered,
        len(must_cite),
        sum([among(name, cited_names, corpus) for name in must_cite]) if must_cite and cited_names else 0,
        int(corpus is not None or bool(observation.stages)),
    )


def _is_cited(chunk_id: str, names: set[str], context: set[str], corpus: Corpus | None) -> bool:
    return chunk_id in names or any(stands_for(name, chunk_id, corpus) for name in names if name not in context)


def _count_existing(observation: Observation, names: set[str], corpus: Corpus | None) -> int:
    shown_ids = {chunk.chunk_id for stage in observation.stages or () for chunk in stage.chunks}
    existing_ids = shown_ids if corpus is None else shown_ids | corpus.chunks.keys()
    return sum(among(name, existing_ids, corpus) for name in names)


class CitationFacts:
    """The citation counts of each row."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def add(self, rows: Rows) -> None:
        """Take some rows, in order."""
        for case, observation, context in zip(rows.cases, rows.observations, rows.ranked(CONTEXT), strict=True):
            self.rows += count_citations(case, observation, context)

    @cached_property
    def counts(self) -> dict[str, Ints]:
        """The counts as one array per field."""
        table = np.array(self.rows, dtype=np.int64).reshape(-1, len(FIELDS))
        return dict(zip(FIELDS, table.T, strict=True))


Counts = dict[str, Ints]


def _divide_counts(part: Ints, total: Ints) -> Floats:
    shares = np.zeros(len(part))
    np.divide(part, total, out=shares, where=total > 0)
    return shares


def _compute_correctness(counts: Counts, refusing: Bools) -> Floats:
    """The required citations found, at most 1 only if every citation was in the context; a refusal's citations must all
    be from the context. The formula of the `rag-trace` contract, except that an answer without any given or required
    citation is not applicable (ADR 0006)."""
    grounded: Floats = (counts["in_context"] == counts["cited"]).astype(np.float64)
    required_share = np.minimum(_divide_counts(counts["must_found"], counts["must"]), grounded)
    return np.asarray(np.where(refusing | (counts["must"] == 0), grounded, required_share), dtype=np.float64)


_FORMULAS: dict[str, Callable[[Counts, Bools], Floats]] = {
    "citation_correctness": _compute_correctness,
    "citation_exists": lambda counts, _: _divide_counts(counts["exist"], counts["cited"]),
    "citation_in_context": lambda counts, _: _divide_counts(counts["in_context"], counts["cited"]),
    "citation_coverage": lambda counts, _: _divide_counts(counts["covered"], counts["context"]),
    "must_cite": lambda counts, _: _divide_counts(counts["must_found"], counts["must"]),
}


def _expects_refusal(batch: Batch) -> Bools:
    expected = batch.behaviours[0]
    return np.isin(expected, [BEHAVIOURS.index("abstain"), BEHAVIOURS.index("permission_denied")])


def _citation_column(batch: Batch, name: MetricName) -> ScoreColumn:
    counts, refusing = batch.of(CitationFacts).counts, _expects_refusal(batch)
    required = (counts["must"] > 0) & ~refusing
    unless: list[Verdict] = []
    if name.base == "must_cite":
        unless.append(not_applicable(~required, "no citation required"))
    elif name.base == "citation_coverage":
        unless.append(not_applicable(refusing, "a refusal is expected"))
    unless += batch.target_errors
    unless.append(not_applicable(counts["cited"] == _UNREPORTED, "citations not reported"))
    if name.base == "citation_coverage":
        unless.append(not_applicable(counts["context"] == _UNREPORTED, "stage context not reported"))
        unless.append(not_applicable(counts["context"] == 0, "empty context"))
    elif name.base != "must_cite":
        is_undefined = counts["cited"] == 0
        if name.base == "citation_correctness":  # a required citation that is not given scores 0
            is_undefined &= ~required
        unless.append(not_applicable(is_undefined, "no citations"))
    if name.base in ("citation_correctness", "citation_in_context"):
        unless.append(not_applicable(counts["context"] == _UNREPORTED, "stage context not reported"))
    if name.base == "citation_exists":
        unless.append(not_applicable(counts["known"] == 0, "nothing to check citations against"))
    return column(name, _FORMULAS[name.base](counts, refusing), *unless)


def _reachable_column(batch: Batch, name: MetricName) -> ScoreColumn:
    counts, leak_facts = batch.of(CitationFacts).counts, batch.of(LeakFacts)
    return column(
        name,
        _divide_counts(np.maximum(counts["exist"] - leak_facts.count(CITATIONS), 0), counts["cited"]),
        *batch.target_errors,
        not_applicable(counts["cited"] == _UNREPORTED, "citations not reported"),
        not_applicable(counts["cited"] == 0, "no citations"),
        not_applicable(leak_facts.blind, "no source of truth about access"),
    )


def _need_citation_counts(_: MetricName) -> tuple[FactKey, ...]:
    return ((CitationFacts, ()),)


def _need_citation_counts_and_leaks(_: MetricName) -> tuple[FactKey, ...]:
    return ((CitationFacts, ()), (LeakFacts, ()))


def _citation_row(name: str, summary: str, source: str, keys: dict[str, Key] | None = None) -> Grader:
    return Grader(
        name=name,
        family="citation",
        summary=summary,
        source=source,
        keys=keys or {},
        undefined="citations not reported, none given, or nothing to compare them with",
        needs=_need_citation_counts_and_leaks if name == "citation_reachable" else _need_citation_counts,
        compute=_reachable_column if name == "citation_reachable" else _citation_column,
        yields_to_leaks=name == "citation_correctness",
    )


GRADERS: tuple[Grader, ...] = (
    _citation_row(
        "citation_correctness",
        "Required citations found, and every citation taken from the context.",
        "`rag-trace` contract; nothing cited and nothing required is not applicable instead of 1",
        {"by": Key("", ("rules", "judge"), "rules: structure only; judge: support as well")},
    ),
    _citation_row(
        "citation_exists", "Share of citations that name a chunk the system or the corpus knows.", "answer audit record"
    ),
    _citation_row("citation_in_context", "Share of citations that were in the context.", "`rag-trace` contract"),
    _citation_row(
        "citation_reachable", "Share of citations that exist and that the user may see.", "answer audit record"
    ),
    _citation_row(
        "citation_coverage",
        "Share of the context's chunks that the answer cites.",
        "answer audit record: cited ∩ context / context",
    ),
    _citation_row(
        "must_cite",
        "Share of the required citations that were given.",
        "`rag-trace` contract; a document stands for its chunks",
    ),
)
