"""Citation metrics: do citations exist, may the user see them, were they in the context, are required ones given?

Whether a source supports its claim is measured by the metrics of citation support. A citation may name a chunk or, less
precisely, a document (`case_index` resolves it), unless the name is itself the id of a chunk at hand.

Golden sets that are judged in part have metrics of their own: how many of the cited passages somebody judged, and how
good those are. They compare citing, not retrieving: what was retrieved and not cited does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from assay.metrics.answer_metric import add_judge_scorer
from assay.metrics.cases.case_index import (
    NO_DOCUMENTS,
    CaseIndex,
    find_cited_positions,
    is_cited_among,
    list_reported_documents,
    resolve_citation,
)
from assay.metrics.grounding.citation_placement import UNTOLD_REASON, PlacementFacts, judge_placements
from assay.metrics.grounding.citation_support import CITATION_SUPPORT_RUBRIC, judge_citation_support
from assay.metrics.grounding.inline_markers import NO_MARKERS, InlineMarkers, read_inline_markers
from assay.metrics.leaks.find_leaks import ACCESS_UNKNOWN
from assay.metrics.leaks.leakage import LeakFacts
from assay.metrics.metric import (
    Batch,
    FactKey,
    JoinedRows,
    Metric,
    MetricKey,
    MetricName,
    Unscored,
    make_score_column,
    rows_not_applicable,
)
from assay.metrics.parsed_answer import NO_CLAIMS, REFUSED, format_list, parse_answers
from assay.records.answer_numbers import NO_NUMBER
from assay.records.golden_set import BEHAVIOURS, Case, Corpus
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation, StageRanking, describe_unreported_stage
from assay.records.scores import NOT_APPLICABLE, SCORED, ScoreColumn
from assay.stats.arrays import BoolArray, FloatArray, IndexArray

_UNREPORTED = -1


CITATION_COUNT_FIELDS = (
    "cited",
    "context",
    "in_context",
    "exist",
    "covered",
    "must",
    "must_found",
    "known",
    "reported",
    "unreported",
)


def count_citations(
    case: CaseIndex,
    observation: Observation,
    ranked_context: StageRanking | None,
    markers: InlineMarkers = NO_MARKERS,
) -> tuple[int, ...]:
    """Return the citation counts of one row, in the order of `CITATION_COUNT_FIELDS`.

    Distinct citations and context chunks (−1: not reported), citations in the context and in existence, context chunks
    cited, citations required and found, whether there is anything to check them with, whether the target reports
    citations, and markers in the text that these leave out.

    The citations are those that the target reports, else those that the markers name. Markers that name nothing are
    citations that do not exist.
    """
    corpus, must_cite = case.corpus, case.case.must_cite
    context = set[str]() if ranked_context is None else ranked_context.distinct
    cited_names = set(markers.named if observation.citations is None else observation.citations)
    is_cited = observation.citations is not None or bool(markers.named or markers.dangling)
    documents = NO_DOCUMENTS
    if cited_names and (must_cite or not cited_names <= context):
        documents = list_reported_documents(observation, case.golden_index)
    if cited_names <= context:
        in_context = existing = covered = len(cited_names)
    else:
        in_context = sum([is_cited_among(name, context, corpus, documents) for name in cited_names])
        covered = sum([_is_cited(chunk_id, cited_names, context, corpus, documents) for chunk_id in context])
        existing = in_context
        if in_context < len(cited_names):
            existing = _count_existing(observation, cited_names, corpus, documents)
    return (
        len(cited_names) + len(markers.dangling) if is_cited else _UNREPORTED,
        _UNREPORTED if ranked_context is None else len(context),
        in_context,
        existing,
        covered,
        len(must_cite),
        _count_required(case, observation, cited_names, documents) if cited_names else 0,
        int(corpus is not None or bool(observation.stages)),
        int(observation.citations is not None),
        len(markers.unreported),
    )


def _count_required(case: CaseIndex, observation: Observation, names: set[str], documents: Mapping[str, str]) -> int:
    """Return how many of the required sources of a case the cited names mean."""
    cited_names = _add_ids_of_corpus(case, observation, names) if case.case.must_cite else names
    return len(case.case.must_cite) - len(list_missing_sources(case, cited_names, documents))


def list_missing_sources(case: CaseIndex, cited_names: Set[str], documents: Mapping[str, str]) -> list[str]:
    """Return the required sources of a case that none of the cited names means.

    `documents` are those that the shown chunks report of themselves, by chunk id.
    """
    return [name for name in case.case.must_cite if not is_cited_among(name, cited_names, case.corpus, documents)]


def find_unknown_sources(cases: Iterable[Case], corpus: Corpus) -> dict[str, list[str]]:
    """Return the required sources that mean no chunk of a corpus, each with the cases that require it."""
    cases_by_name: dict[str, list[str]] = {}
    for case in cases:
        for name in case.must_cite:
            cases_by_name.setdefault(name, []).append(case.id)
    existing_names = find_cited_positions(set(cases_by_name), corpus.chunks, corpus)
    return {name: case_ids for name, case_ids in cases_by_name.items() if name not in existing_names}


def _is_cited(
    chunk_id: str, names: set[str], context: set[str], corpus: Corpus | None, documents: Mapping[str, str]
) -> bool:
    return chunk_id in names or any(
        resolve_citation(name, chunk_id, corpus, documents) for name in names if name not in context
    )


def _count_existing(
    observation: Observation, names: set[str], corpus: Corpus | None, documents: Mapping[str, str]
) -> int:
    shown_ids = {chunk.chunk_id for stage in observation.stages or () for chunk in stage.chunks}
    existing_ids = shown_ids if corpus is None else shown_ids | corpus.chunks.keys()
    return sum(is_cited_among(name, existing_ids, corpus, documents) for name in names)


class CitationFacts:
    """The citation counts of each row."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        for case, observation, context, reading in zip(
            rows.cases, rows.observations, rows.ranked_stages(CONTEXT_STAGE), parse_answers(rows), strict=True
        ):
            self.rows += count_citations(case, observation, context, read_inline_markers(reading))

    @cached_property
    def counts(self) -> dict[str, IndexArray]:
        """The counts as one array per field."""
        table = np.array(self.rows, dtype=np.int64).reshape(-1, len(CITATION_COUNT_FIELDS))
        return dict(zip(CITATION_COUNT_FIELDS, table.T, strict=True))


CitationCounts = dict[str, IndexArray]


def _divide_counts(part: IndexArray, total: IndexArray) -> FloatArray:
    shares = np.zeros(len(part))
    np.divide(part, total, out=shares, where=total > 0)
    return shares


def _compute_correctness(counts: CitationCounts, refusing: BoolArray) -> FloatArray:
    """The required citations found, at most 1 only if every citation was in the context; a refusal's citations must all
    be from the context. It is lowered to the share of attached citations that are in their place. The formula of the
    `rag-trace` contract, but for that, and except that an answer without any given or required citation is not
    applicable (ADR 0006)."""
    grounded: FloatArray = (counts["in_context"] == counts["cited"]).astype(np.float64)
    required_share = np.minimum(_divide_counts(counts["must_found"], counts["must"]), grounded)
    return np.asarray(np.where(refusing | (counts["must"] == 0), grounded, required_share), dtype=np.float64)


_FORMULAS: dict[str, Callable[[CitationCounts, BoolArray], FloatArray]] = {
    "citation_correctness": _compute_correctness,
    "citation_exists": lambda counts, _: _divide_counts(counts["exist"], counts["cited"]),
    "citation_in_context": lambda counts, _: _divide_counts(counts["in_context"], counts["cited"]),
    "citation_coverage": lambda counts, _: _divide_counts(counts["covered"], counts["context"]),
    "must_cite": lambda counts, _: _divide_counts(counts["must_found"], counts["must"]),
}


def _expects_refusal(batch: Batch) -> BoolArray:
    expected = batch.behaviour_codes[0]
    return np.isin(expected, [BEHAVIOURS.index("abstain"), BEHAVIOURS.index("permission_denied")])


def _citation_column(batch: Batch, name: MetricName) -> ScoreColumn:
    counts, refusing = batch.get_facts(CitationFacts).counts, _expects_refusal(batch)
    required = (counts["must"] > 0) & ~refusing
    unless: list[Unscored] = []
    if name.base == "must_cite":
        unless.append(rows_not_applicable(~required, "no citation required"))
    elif name.base == "citation_coverage":
        unless.append(rows_not_applicable(refusing, "a refusal is expected"))
    unless += batch.target_errors
    unreported = counts["cited"] == _UNREPORTED
    unless.append(rows_not_applicable(unreported & refusing, "a refusal is expected"))  # which has nothing to cite
    unless.append(rows_not_applicable(unreported, "citations not reported"))
    if name.base == "citation_coverage":
        unless.append(rows_not_applicable(counts["context"] == _UNREPORTED, describe_unreported_stage(CONTEXT_STAGE)))
        unless.append(rows_not_applicable(counts["context"] == 0, "empty context"))
    elif name.base != "must_cite":
        is_undefined = counts["cited"] == 0
        if name.base == "citation_correctness":  # a required citation that is not given scores 0
            is_undefined &= ~required
        unless.append(rows_not_applicable(is_undefined, "no citations"))
    if name.base in ("citation_correctness", "citation_in_context"):
        unless.append(rows_not_applicable(counts["context"] == _UNREPORTED, describe_unreported_stage(CONTEXT_STAGE)))
    if name.base == "citation_exists":
        unless.append(rows_not_applicable(counts["known"] == 0, "nothing to check citations against"))
    values = _FORMULAS[name.base](counts, refusing)
    if name.base != "citation_correctness":
        return make_score_column(name, values, *unless)
    placements = batch.get_facts(PlacementFacts)
    values = np.minimum(values, np.array(placements.shares, dtype=np.float64))
    is_open = np.array(placements.is_untold, dtype=np.bool_) & (values == 1)  # what is wrong anyway stays so
    column = make_score_column(name, values, *unless, rows_not_applicable(is_open, UNTOLD_REASON))
    if UNTOLD_REASON not in column.reasons:
        return column
    is_unknown = column.reason == column.reasons.index(UNTOLD_REASON)
    numbers = np.array(placements.numbers, dtype=np.uint64)
    return replace(column, answers=np.where(is_unknown, numbers, NO_NUMBER))


def _explain_citations(rows: JoinedRows, name: MetricName) -> str:
    if not isinstance(rows.observations[0].answer, str):
        return ""
    reading = parse_answers(rows)[0]
    markers = read_inline_markers(reading)
    parts = [
        format_list("markers that name nothing", [f"[{marker}]" for marker in markers.dangling]),
        format_list(
            "markers that the reported citations leave out",
            [f"[{marker}]" if marker == source else f"[{marker}] ({source})" for marker, source in markers.unreported],
        ),
    ]
    if name.base == "citation_correctness":
        placements = judge_placements(reading)
        misplaced = [f"{source}, but {better}" for source, better in placements.misplaced]
        parts.append(format_list("cited beside its source", misplaced))
        parts.append(format_list("citations of which the texts do not tell", list(placements.untold)))
    return "; ".join(filter(None, parts))


def _unreported_markers_column(batch: Batch, name: MetricName) -> ScoreColumn:
    counts = batch.get_facts(CitationFacts).counts
    return make_score_column(
        name,
        counts["unreported"].astype(np.float64),
        *batch.target_errors,
        rows_not_applicable(counts["reported"] == 0, "citations not reported"),
    )


def _reachable_column(batch: Batch, name: MetricName) -> ScoreColumn:
    counts, leak_facts = batch.get_facts(CitationFacts).counts, batch.get_facts(LeakFacts)
    unknown = leak_facts.count_cited(unknown=True)
    not_forbidden = np.maximum(counts["exist"] - leak_facts.count_cited(unknown=False), 0)
    return make_score_column(
        name,
        _divide_counts(np.maximum(not_forbidden - unknown, 0), counts["cited"]),
        *batch.target_errors,
        rows_not_applicable(counts["reported"] == 0, "citations not reported"),
        rows_not_applicable(counts["cited"] == 0, "no citations"),
        rows_not_applicable(leak_facts.has_no_access_rules, "no source of truth about access"),
        # With a citation that is certainly out of reach the row has a score; the unknown ones count as out of reach.
        rows_not_applicable((unknown > 0) & (not_forbidden == counts["cited"]), ACCESS_UNKNOWN),
    )


def _need_citation_counts(_: MetricName) -> tuple[FactKey, ...]:
    return ((CitationFacts, ()),)


def _need_citation_counts_and_places(_: MetricName) -> tuple[FactKey, ...]:
    return ((CitationFacts, ()), (PlacementFacts, ()))


def _need_citation_counts_and_leaks(_: MetricName) -> tuple[FactKey, ...]:
    return ((CitationFacts, ()), (LeakFacts, ()))


_CITATION_NEEDS = {
    "citation_correctness": _need_citation_counts_and_places,
    "citation_reachable": _need_citation_counts_and_leaks,
}


_EXPLAINED = ("citation_correctness", "citation_exists", "citation_in_context")


def _citation_row(name: str, summary: str, source: str, keys: dict[str, MetricKey] | None = None) -> Metric:
    return Metric(
        name=name,
        family="citation",
        summary=summary,
        source=source,
        keys=keys or {},
        undefined="citations not reported, none given, or nothing to compare them with",
        needs=_CITATION_NEEDS.get(name, _need_citation_counts),
        compute=_reachable_column if name == "citation_reachable" else _citation_column,
        yields_to_leaks=name == "citation_correctness",
        explain=_explain_citations if name in _EXPLAINED else None,
    )


def _combine_structure_and_support(structure: ScoreColumn, support: ScoreColumn) -> ScoreColumn:
    """Return the smaller of the structural score and the support that the sources give.

    The structural score alone counts if it is 0 or missing, and if nothing is claimed. Where the texts leave the places
    of citations open, the judge tells.
    """
    no_claim_codes = [code for code, reason in enumerate(support.reasons) if reason in (REFUSED, NO_CLAIMS)]
    claims_nothing = (support.status == NOT_APPLICABLE) & np.isin(support.reason, no_claim_codes)
    untold_codes = [code for code, reason in enumerate(structure.reasons) if reason == UNTOLD_REASON]
    is_untold = (structure.status == NOT_APPLICABLE) & np.isin(structure.reason, untold_codes)
    structure_values = np.where(is_untold, 1.0, structure.values)
    is_structure_only = ((structure.status != SCORED) & ~is_untold) | (structure_values == 0) | claims_nothing
    reasons = (*structure.reasons, *support.reasons)
    return ScoreColumn(
        support.metric,
        np.where(
            is_structure_only,
            structure.values,
            np.where(support.status == SCORED, np.minimum(structure_values, support.values), 0),
        ),
        np.where(is_structure_only, structure.status, support.status).astype(np.uint8),
        np.where(is_structure_only, structure.reason, support.reason + len(structure.reasons)).astype(np.uint16),
        reasons,
    )


CITATION_METRICS: tuple[Metric, ...] = (
    add_judge_scorer(
        _citation_row(
            "citation_correctness",
            "Required citations found, every one taken from the context, and none attached beside its source.",
            "`rag-trace` contract; nothing cited and nothing required is not applicable instead of 1",
            {"by": MetricKey("", ("rules", "judge"), "rules: structure and place; judge: support as well")},
        ),
        judge_citation_support,
        (CITATION_SUPPORT_RUBRIC,),
        rests_on=("citation_support",),
        combine=_combine_structure_and_support,
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
    Metric(
        name="unreported_markers",
        family="citation",
        summary="Citation markers in the text whose source is none of the reported citations.",
        source="ADR 113: what the reader sees is checked",
        unit="count",
        direction="lower",
        high=float("inf"),
        undefined="citations not reported",
        needs=_need_citation_counts,
        compute=_unreported_markers_column,
        explain=_explain_citations,
    ),
)

CITED_COUNT_FIELDS = ("cited", "judged", "grades", "known", "sentences", "citing")
_REL = MetricKey("required", doc="count units of at least this grade; default: the required units")


class CitedFacts:
    """Six numbers of each row, in the order of `CITATION_COUNT_FIELDS`; −1: not reported.

    Distinct citations, the judged ones among them and the sum of their grades, whether anything was judged for the
    case, sentences and those of them that cite.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        self.rows += map(_count_cited, rows.cases, rows.observations)

    @cached_property
    def counts(self) -> dict[str, IndexArray]:
        """The numbers as one array per field."""
        table = np.array(self.rows, dtype=np.int64).reshape(-1, len(CITED_COUNT_FIELDS))
        return dict(zip(CITED_COUNT_FIELDS, table.T, strict=True))


def _count_cited(case: CaseIndex, observation: Observation) -> tuple[int, ...]:
    citations, sentences = observation.citations, observation.sentences
    if sentences is None:
        sentence_counts = (_UNREPORTED, 0)
    else:
        sentence_counts = (len(sentences), sum(bool(sentence.citations) for sentence in sentences))
    if citations is None or not case.partial:
        return (_UNREPORTED, 0, 0, 0, *sentence_counts)
    cited_chunks = _list_cited_chunks(observation, citations)
    masks = [mask for mask in case.evidence.unit_masks(cited_chunks) if mask is not None]
    grades = sum(case.evidence.best_grade(mask) for mask in masks)
    has_judgments = bool(case.case.evidence) and not case.denied
    return (len(cited_chunks), len(masks), grades, int(has_judgments), *sentence_counts)


def _list_cited_chunks(observation: Observation, names: Iterable[str]) -> list[Chunk]:
    """Return the chunks that an answer cites by these names, each once: as they were shown, which tells what one is
    whose id the corpus does not have, else by the name alone."""
    shown = {chunk.chunk_id: chunk for stage in observation.stages or () for chunk in stage.chunks}
    return [shown.get(name, Chunk(name)) for name in dict.fromkeys(names)]


def _add_ids_of_corpus(case: CaseIndex, observation: Observation, names: set[str]) -> set[str]:
    """Return some cited names with the ids of the chunks of the corpus of which a chunk of such a name has the text."""
    texts = case.golden_index.corpus_texts
    if texts is None:
        return names
    cited_chunks = _list_cited_chunks(observation, names)
    return names | {twin.chunk_id for chunk in cited_chunks for twin in texts.find_contained(chunk)}


class RelevantCitationFacts:
    """How many of a row's citations are relevant at one level of grades."""

    def __init__(self, rel: int | None) -> None:
        self.rel = rel
        self.relevant_counts: list[int] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        self.relevant_counts += map(self._count, rows.cases, rows.observations)

    def _count(self, case: CaseIndex, observation: Observation) -> int:
        if not observation.citations or not case.partial:
            return 0
        level = case.required if self.rel is None else case.mask_of_grade(self.rel)
        masks = case.evidence.unit_masks(_list_cited_chunks(observation, observation.citations))
        return sum(bool(mask and mask & level) for mask in masks)


def _relevance_level(name: MetricName) -> int | None:
    rel = name.key_value("rel", _REL.default)
    return None if rel == _REL.default else int(rel)


def _cited_column(batch: Batch, name: MetricName) -> ScoreColumn:
    counts = batch.get_facts(CitedFacts).counts
    if name.base == "cited_judged":
        values = _divide_counts(counts["judged"], counts["cited"])
    elif name.base == "cited_grade":
        values = _divide_counts(counts["grades"], counts["judged"])
    else:
        values = _divide_counts(
            np.array(batch.get_facts(RelevantCitationFacts, _relevance_level(name)).relevant_counts, dtype=np.int64),
            counts["judged"],
        )
    unless: list[Unscored] = [
        *batch.target_errors,
        rows_not_applicable(~batch.is_partial, "the golden set is judged completely"),
        rows_not_applicable(counts["cited"] == _UNREPORTED, "citations not reported"),
        rows_not_applicable(counts["known"] == 0, "nothing was judged for this case"),
        rows_not_applicable(counts["cited"] == 0, "no citations"),
    ]
    if name.base != "cited_judged":
        unless.append(rows_not_applicable(counts["judged"] == 0, "no judged citation"))
    return make_score_column(name, values, *unless)


def _sentence_coverage_column(batch: Batch, name: MetricName) -> ScoreColumn:
    counts, expected = batch.get_facts(CitedFacts).counts, batch.behaviour_codes[0]
    return make_score_column(
        name,
        _divide_counts(counts["citing"], counts["sentences"]),
        *batch.target_errors,
        rows_not_applicable(counts["sentences"] == _UNREPORTED, "sentences not reported"),
        rows_not_applicable(counts["sentences"] == 0, "no sentences"),
        rows_not_applicable(expected != BEHAVIOURS.index("answer"), "no answer is expected"),
    )


def _need_cited_counts(name: MetricName) -> tuple[FactKey, ...]:
    relevant: tuple[FactKey, ...] = (
        ((RelevantCitationFacts, (_relevance_level(name),)),) if name.base == "cited_relevant" else ()
    )
    return ((CitedFacts, ()), *relevant)


def _cited_row(
    name: str, summary: str, *, keys: dict[str, MetricKey] | None = None, unit: str = "share", high: float = 1
) -> Metric:
    return Metric(
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


CITED_JUDGMENT_METRICS: tuple[Metric, ...] = (
    _cited_row("cited_judged", "Share of the cited passages that somebody judged."),
    _cited_row("cited_relevant", "Share of the judged cited passages that are relevant.", keys={"rel": _REL}),
    _cited_row("cited_grade", "Mean grade of the judged cited passages.", unit="grade", high=10),
    Metric(
        name="sentence_coverage",
        family="citation",
        summary="Share of the answer's sentences that cite something.",
        source="sentence-level citations of the TREC RAG track",
        undefined="sentences not reported, or none; no answer expected",
        needs=_need_cited_counts,
        compute=_sentence_coverage_column,
    ),
)
