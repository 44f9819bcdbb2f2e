"""Cases that expect an answer from what their user may not see by the corpus: one of the two is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from assay.metrics.cases.access_rules import may_see_chunk, read_corpus_access
from assay.metrics.cases.case_index import CHUNK_ID, EvidenceIndex
from assay.records.counts import join_first
from assay.records.errors import Problem
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, Selector
from assay.records.observations import Chunk

_MOST_NAMED = 3
_MOST_COMPARED = 5_000_000
"""How many pairs of a chunk and a unit are compared at most where units are told by documents, quotes or other fields;
in larger sets only units that are told by ids are looked up."""


def find_hidden_evidence(golden: GoldenSet, corpus: Corpus, path: str) -> tuple[Problem, ...]:
    """Return a problem for each case of the golden set (at `path`) that expects an answer from evidence that its user
    may not see by the corpus: a required unit of which every chunk that could cover it is hidden from them.

    What a case expects its user to see is no leak there (ADR 0026): one of the two is wrong, and the leak is not found.
    """
    asked = [case for case in golden.cases if case.user is not None and case.behaviour == "answer"]
    if not asked or not any(read_corpus_access(chunk).is_restricted for chunk in corpus.chunks.values()):
        return ()
    units = [(case, unit) for case in asked for unit in case.evidence if unit.required and unit.grade > 0]
    hidden_ids: dict[str, dict[str, None]] = {}
    for (case, _), chunks in zip(units, _find_covering_chunks([unit for _, unit in units], corpus), strict=True):
        if not any(_may_see(case, chunk) for chunk in chunks):
            hidden_ids.setdefault(case.id, {}).update(dict.fromkeys(chunk.chunk_id for chunk in chunks))
    return tuple(_describe_hidden(case_id, list(ids), path) for case_id, ids in hidden_ids.items() if ids)


def _may_see(case: Case, chunk: CorpusChunk) -> bool:
    user = case.user
    return user is not None and may_see_chunk(user, chunk)


def _describe_hidden(case_id: str, ids: list[str], path: str) -> Problem:
    it = "it" if len(ids) == 1 else "them"
    message = f"its user may not see {join_first(ids, _MOST_NAMED)} by the corpus, and it expects {it}"
    message += ": no leak is found there (correct one of the two)"
    return Problem(path, None, f"{case_id}: user", message, "E_ACCESS")


def _find_covering_chunks(units: list[Evidence], corpus: Corpus) -> Iterator[list[CorpusChunk]]:
    """Yield, for each unit, the chunks of the corpus that cover it by id, fields or quote.

    Nothing where a selector other than an id matches no chunk of the corpus: the user may see what it means.
    """
    selectors = [selector for unit in units for selector in unit.any_of if not _is_id(selector)]
    covering: list[list[CorpusChunk]] = [[] for _ in selectors]
    if selectors and len(selectors) * len(corpus.chunks) <= _MOST_COMPARED:
        index = EvidenceIndex([((selector,), 1) for selector in selectors], corpus)
        for chunk in corpus.chunks.values():
            (mask,) = index.unit_masks([Chunk(chunk.chunk_id)])
            for number in _list_bits(mask or 0):
                covering[number].append(chunk)
    covering_chunks = iter(covering)
    for unit in units:
        chunks: list[CorpusChunk] = []
        is_open = False
        for selector in unit.any_of:
            matched = _list_named(selector, corpus) if _is_id(selector) else next(covering_chunks)
            is_open = is_open or not (matched or _is_id(selector))
            chunks += matched
        yield [] if is_open else chunks


def _is_id(selector: Selector) -> bool:
    return selector.keys() == {CHUNK_ID}


def _list_named(selector: Selector, corpus: Corpus) -> list[CorpusChunk]:
    chunk = corpus.chunks.get(str(selector[CHUNK_ID]))
    return [] if chunk is None else [chunk]


def _list_bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
