"""Detects that an answer rests on an outdated version of a document."""

from __future__ import annotations

from collections.abc import Sequence

from assay.attribution.cause_finding import CauseFinding
from assay.attribution.cause_terms import INDEX_STAGE
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.contained_facts import compute_word_overlap, contains_fact, quote_facts
from assay.attribution.one_case.unsupported_numbers import find_unsupported_numbers
from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR
from assay.records.golden_set import CorpusChunk


def find_outdated_version(case: CaseFacts) -> CauseFinding | None:
    """A superseded version was shown instead of the evidence, or the document of the evidence is not in the index."""
    if case.good is not False and case.reached is not False:
        return None
    corpus = case.case.corpus
    superseded = case.case.golden_index.superseded_versions(case.case.as_of)
    if corpus is None or superseded is None:
        return None
    for unit in case.lost_units:
        chunks = [corpus.chunks[chunk_id] for chunk_id in case.get_covering_chunk_ids(unit)]
        if (
            chunks
            and case.index_view is not None
            and all(case.index_view.indexed.is_version_missing(chunk) for chunk in chunks)
            and any(map(case.index_view.indexed.has_other_version, chunks))
            | any(map(case.index_view.indexed.is_newer_than_index, chunks))
        ):
            return _report_missing_document(case, unit, chunks[0])
    documents = {
        corpus.chunks[chunk_id].document
        for unit in case.required_units
        for chunk_id in case.get_covering_chunk_ids(unit)
    }
    superseded_chunks = [
        corpus_chunk
        for chunk in case.arrived_chunks
        if superseded.count_superseded([chunk])
        for corpus_chunk in case.list_corpus_chunks(chunk)
    ]
    old_chunks = [corpus_chunk for corpus_chunk in superseded_chunks if corpus_chunk.document in documents]
    if old_chunks and (case.reached is False or _is_answer_from(case, old_chunks)):
        names = ", ".join(corpus_chunk.chunk_id for corpus_chunk in old_chunks)
        return CauseFinding("stale_index", INDEX_STAGE, (f"superseded, and shown to the generator: {names}",), "high")
    others = [corpus_chunk for corpus_chunk in superseded_chunks if corpus_chunk not in old_chunks]
    return _report_value_of_superseded(case, others) or _report_cited_superseded(case, others)


def _report_value_of_superseded(case: CaseFacts, superseded: Sequence[CorpusChunk]) -> CauseFinding | None:
    """The answer states another value than the case expects, which of all that the generator was shown only a chunk
    that is no longer in force has, whatever its document is called."""
    ids = {corpus_chunk.chunk_id for corpus_chunk in superseded}
    valid_ids = [chunk.chunk_id for chunk in case.arrived_chunks if chunk.chunk_id not in ids]
    valid_texts = [text for text in map(case.get_chunk_text, valid_ids) if text]
    for corpus_chunk in superseded:
        text = case.get_chunk_text(corpus_chunk.chunk_id) or corpus_chunk.text or ""
        values = [value for value in case.other_values if contains_fact([text], value)]
        values = [value for value in values if not contains_fact(valid_texts, value)]
        if values:
            has_value = f"{corpus_chunk.chunk_id}, which is superseded, has {quote_facts(values)}"
            fact = f"{has_value}, and no other chunk of the context"
            return CauseFinding("stale_index", INDEX_STAGE, (fact,), "medium", ("generator",))
    return None


def _report_cited_superseded(case: CaseFacts, superseded: Sequence[CorpusChunk]) -> CauseFinding | None:
    """The evidence is lost, and all that a wrong answer cites of what the generator was shown is no longer in force."""
    if case.good is not False or case.reached is not False or case.behaviour != ANSWER_BEHAVIOUR:
        return None
    ids = {corpus_chunk.chunk_id for corpus_chunk in superseded}
    cited = list(filter(case.is_citing, case.arrived_ids))
    if not cited or not ids.issuperset(cited):
        return None
    fact = f"the answer cites {', '.join(cited)}, superseded, and nothing else of what the generator was shown"
    return CauseFinding("stale_index", INDEX_STAGE, (fact,), "medium", ("embedding", "bm25_analyzer"))


def _report_missing_document(case: CaseFacts, unit: int, corpus_chunk: CorpusChunk) -> CauseFinding:
    assert case.index_view is not None
    version = " ".join(part for part in (corpus_chunk.document, corpus_chunk.version) if part)
    evidence = [
        f"no list of this run has anything of {version}, which holds {case.get_unit_name(unit)}; they have most of the "
        "other documents"
    ]
    is_newer = case.index_view.indexed.is_newer_than_index(corpus_chunk)
    if is_newer:
        evidence.append(f"it is in force since {corpus_chunk.valid_from}, later than everything that was shown")
    is_sure = is_newer and case.index_view.indexed.count_newer_documents() > 1
    return CauseFinding(
        "stale_index",
        INDEX_STAGE,
        tuple(evidence),
        "high" if is_sure else "medium",
        () if is_sure else ("embedding", "bm25_analyzer"),
        "not_indexed",
    )


def _is_answer_from(case: CaseFacts, old_chunks: list[CorpusChunk]) -> bool:
    """Whether the answer is based on a superseded text rather than on the one in force."""
    old_texts = [corpus_chunk.text for corpus_chunk in old_chunks if corpus_chunk.text]
    valid_texts = [text for unit in case.required_units for text in case.get_expected_texts(unit)]
    for number in find_unsupported_numbers(case.answer, valid_texts):
        if not find_unsupported_numbers(number, old_texts):
            return True
    if any(contains_fact(old_texts, fact) for fact in case.content_quality.wrong):
        return True
    return compute_word_overlap(case.answer, old_texts) > compute_word_overlap(case.answer, valid_texts)
