"""Determines which step lost one unit of evidence, from its ranks and from what the traces of the run show.

A loss is attributed to a step only if the step could have done better, not if it received the evidence at too low a
rank. That a search does not return the evidence does not prove that its analyzer is wrong: the chunk may not be
indexed, the query may have been rewritten, and the search may have failed. What the other traces of the run show ranks
these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct

from assay.attribution.evidence_trace import StepKind, TraceStep
from assay.attribution.index_state import IndexView
from assay.records.counts import format_count
from assay.records.findings import CauseConfidence, RootCause
from assay.records.observations import CONTEXT_STAGE
from assay.text.lexical_rank import compute_lexical_rank
from assay.text.normalisation import normalise_nfc
from assay.text.question_entities import find_question_entities
from assay.text.tokens import tokenise_text

DEFAULT_PRODUCTION_K = 5
"""The assumed number of chunks shown to the model if neither settings nor trace state it (ADR 0030)."""
FILTERED_OUT = "filtered_out"
"""The subcause of evidence that a filter dropped."""
NEAR = 5
"""The last rank at which a retriever counts as having found the evidence near the top."""
_RRF_CONSTANT = 60
_MIN_ADDED_WORDS = 5
"""From how many words on that a query adds to the question it may be about something else."""
_TELLING_RUN = 10
"""From how many questions on it tells something that no list of the run has a chunk."""
_TELLING_SHARE = 0.5
"""The share of the corpus that the lists of a run must bring up for that."""


class CauseFinding(NamedTuple):
    """A cause with the stage where it shows, the facts behind it, and what it leaves open.

    `subcause` refines the cause, `also` are other causes that would explain the facts, most likely first, and `record`
    says what to record to tell them apart. `lost_at` are the stages that lost units of the evidence.
    """

    cause: RootCause
    stage: str | None
    evidence: tuple[str, ...]
    confidence: CauseConfidence
    also: tuple[RootCause, ...] = ()
    subcause: str = ""
    record: tuple[str, ...] = ()
    lost_at: Mapping[int, str] = MappingProxyType({})


RECORD_QUERY = "the query as it was sent to the search"
RECORD_UNFILTERED = "the list of the search before it is filtered and reranked"
RECORD_ID_SEARCH = "a search for the evidence by its id, which shows whether it is indexed"
RECORD_TEXTS = "the text of each chunk in the context"
RECORD_ERRORS = "errors and timeouts of the search"
RECORD_BEFORE_ACCESS = "the list before it is filtered by access"
RECORDS_OF_FAILED_SEARCH = (RECORD_ERRORS, RECORD_BEFORE_ACCESS)
RECORD_MERGED = "the list after the searches were merged"
RECORD_CORPUS = "the corpus with the texts of its chunks"


class LostEvidence(Struct, frozen=True):
    """A unit of evidence that did not reach the generator, with what is known about it.

    `text_of` returns the text of a chunk by its id, or None if it is unknown; `texts` are the texts of the unit and
    `chunk_ids` the chunks of the corpus that cover it. `question` is what the user asked and `query` what was searched.
    `production_k` is the number of chunks that the generator is usually shown, 0 if unknown. `view` is what the run
    shows of the index. `is_query_known` is whether the trace states the query that was searched, and `is_answered`
    whether there is an answer that is not known to be wrong, although the unit did not reach the generator.
    `is_answered_otherwise` is whether it states other values than the case wants, and cites what it was shown, and
    `is_hidden` whether the run shows the unit to users with other rights only. `rank_apart` is the rank of the unit in
    a separate search call that is no step of the answer.
    """

    unit: int
    name: str
    steps: tuple[TraceStep, ...]
    query: str
    texts: tuple[str, ...]
    text_of: Callable[[str], str | None]
    production_k: int = 0
    question: str = ""
    chunk_ids: tuple[str, ...] = ()
    view: IndexView | None = None
    is_query_known: bool = True
    is_answered: bool = False
    is_answered_otherwise: bool = False
    is_hidden: bool = False
    rank_apart: int | None = None

    @property
    def retrievers(self) -> list[TraceStep]:
        """The steps that search the index."""
        return [step for step in self.steps if step.kind in ("lexical", "dense", "retriever")]

    @property
    def unindexed_cause(self) -> RootCause:
        """What comes first where a chunk may not be in the index: the vectors, unless no search goes by vectors."""
        return "embedding" if may_search_by_vectors(self.steps) else "stale_index"

    @property
    def is_ranked(self) -> bool:
        """Whether any stage has the unit, so that the index has it as well."""
        return any(step.find_rank(self.unit) is not None for step in self.steps)

    def has_from(self, step: TraceStep) -> bool:
        """Whether a step or one after it has the unit, so that the step has not lost it."""
        return any(later.find_rank(self.unit) is not None for later in self.steps[self.steps.index(step) :])

    @property
    def is_shown_in_run(self) -> bool:
        """Whether any stage of any trace has a chunk of the unit."""
        return self.is_ranked or (self.view is not None and any(map(self.view.is_shown, self.chunk_ids)))

    def find_last_step(self, *kinds: StepKind) -> TraceStep | None:
        """Return the last step of these kinds."""
        return next((step for step in reversed(self.steps) if step.kind in kinds), None)

    @property
    def shown_count(self) -> int:
        """The number of chunks that the generator was shown; without a context stage, an assumed number."""
        context = self.find_last_step("context")
        return len(context.stage.chunks) if context is not None else self.last_shown_rank

    @property
    def last_shown_rank(self) -> int:
        """The last rank that should have been shown to the generator."""
        context = self.find_last_step("context")
        return max(self.production_k, len(context.stage.chunks) if context is not None else 0) or DEFAULT_PRODUCTION_K

    def find_rank(self, step: TraceStep | None) -> int | None:
        """Return the rank of the unit in a step, None if there is no such step or rank."""
        return step.find_rank(self.unit) if step is not None else None

    def describe_rank(self, step: TraceStep | None) -> str:
        """Return the rank of the unit in a step, in words."""
        rank = self.find_rank(step)
        return f"{self.name} has rank {rank}" if rank is not None else f"{self.name} is absent"


def may_search_by_vectors(steps: Sequence[TraceStep]) -> bool:
    """Return whether stages show a search by vectors, or leave open how some search works.

    A list that was merged from others leaves it open too, since not all of them need be reported.
    """
    kinds = {step.kind for step in steps}
    return not kinds.isdisjoint(("dense", "retriever", "merge")) or "lexical" not in kinds


def find_lost_step(loss: LostEvidence) -> CauseFinding:
    """Return what lost a unit: the last step that had it within reach, else the search that missed it."""
    rules = (
        _check_context_builder,
        _check_filter,
        _check_reranker,
        _check_merge,
        _check_unseen_merge,
        _check_cut_off,
        _check_search,
        _check_low,
    )
    for rule in rules:
        finding = rule(loss)
        if finding is not None:
            return finding
    unindexed = _check_unclear_search(loss)
    if unindexed is not None:
        return unindexed
    first = loss.steps[0].name if loss.steps else None
    fact = f"the trace does not show which part lost {loss.name}"
    record: tuple[str, ...] = (RECORD_UNFILTERED, RECORD_QUERY)
    if first is not None and not loss.is_ranked:
        fact = f"{loss.name} is in no list of this case, and the trace does not tell how {first} searches"
        if loss.rank_apart is not None:
            fact = f"{loss.name} is in no list of the answer; a search of its own has it at rank {loss.rank_apart}"
        elif loss.retrievers and loss.retrievers[0].kind == "retriever":
            record = (name_kind_of_search(loss.retrievers[0].name), *record)
    return CauseFinding(
        "insufficient_trace",
        first,
        (fact,),
        "low",
        ("embedding", "bm25_analyzer", "reranker"),
        record=record,
    )


def name_kind_of_search(stage: str) -> str:
    """Return what to record where the only list does not tell how it was found.

    >>> name_kind_of_search("hits")
    'the stage “hits” as bm25 or vector (what searches by words, or by meaning; two lists if by both)'
    """
    return f"the stage “{stage}” as bm25 or vector (what searches by words, or by meaning; two lists if by both)"


def _check_context_builder(loss: LostEvidence) -> CauseFinding | None:
    """The unit is ranked high enough to be shown, or above a chunk that was shown, and is not in the context."""
    context, final = (
        loss.find_last_step("context"),
        loss.find_last_step("rerank", "filter", "merge", "lexical", "dense", "retriever"),
    )
    rank = loss.find_rank(final)
    if context is None or final is None or rank is None:
        return None
    # A chunk id may occur twice: reversed, so that its first rank wins.
    rank_by_id = {chunk_id: chunk_rank for chunk_rank, chunk_id in reversed(list(enumerate(final.chunk_ids, 1)))}
    context_ranks = [rank_by_id.get(chunk_id, 0) for chunk_id in context.chunk_ids]
    lower_ranks = [context_rank for context_rank in context_ranks if context_rank > rank]
    if not lower_ranks and rank > loss.last_shown_rank:
        return None
    cut = _find_cut_text(final, context, rank)
    if cut is not None:
        fact = f"{loss.describe_rank(final)} in {final.name}; in the context {cut} words are left"
        return CauseFinding("context_builder", context.name, (fact,), "high", subcause="text_truncated")
    contrast = (
        f"while rank {lower_ranks[0]} is in it" if lower_ranks else f"of {format_count(loss.shown_count, 'chunk')}"
    )
    evidence = (f"{loss.describe_rank(final)} in {final.name} and is not in the context {contrast}",)
    if lower_ranks or rank <= loss.shown_count:
        subcause = "left_out" if lower_ranks else "token_budget"
        return CauseFinding("context_builder", context.name, evidence, "high", subcause=subcause)
    also: tuple[RootCause, ...] = ("reranker",) if final.kind == "rerank" and rank > 1 else ()
    return CauseFinding("context_builder", context.name, evidence, "medium", also, "token_budget")


def _find_cut_text(ranking: TraceStep, context: TraceStep, rank: int) -> str | None:
    """Return how many words of a ranked chunk its text in the context has, if that is a part of it; else None."""
    ranked = ranking.stage.chunks[rank - 1]
    shown = next((chunk for chunk in context.stage.chunks if chunk.chunk_id == ranked.chunk_id), None)
    if shown is None or not shown.text or not ranked.text:
        return None
    whole, left = ranked.text.split(), shown.text.split()
    # The last word may be cut in two, and a mark may say that something is missing.
    is_part = len(left) < len(whole) and left[:-1] == whole[: len(left) - 1]
    return f"{len(left)} of its {len(whole)}" if is_part else None


def _check_filter(loss: LostEvidence) -> CauseFinding | None:
    """The step before a filter had the unit, and the filter dropped it."""
    for before, step in pairwise(loss.steps):
        if step.kind != "filter" or before.find_rank(loss.unit) is None or loss.has_from(step):
            continue
        dropped = len(before.chunk_ids) - len(step.chunk_ids)
        evidence = (f"{loss.describe_rank(before)} in {before.name}; {step.name} drops it with {dropped - 1} others",)
        misled = _find_misleading_query(loss, step)
        if misled is not None:
            return CauseFinding(
                "bm25_analyzer",
                step.name,
                (*evidence, misled),
                "medium",
                ("hybrid_merge",),
                "query_rewriting",
                () if loss.is_query_known else (RECORD_QUERY,),
            )
        if not loss.is_query_known:  # a filter that goes by the query drops the same
            return CauseFinding(
                "hybrid_merge", step.name, evidence, "medium", ("bm25_analyzer",), FILTERED_OUT, (RECORD_QUERY,)
            )
        return CauseFinding("hybrid_merge", step.name, evidence, "high", subcause=FILTERED_OUT)
    return None


def _find_misleading_query(loss: LostEvidence, filtered: TraceStep) -> str | None:
    """Return what shows that a filter went by another query than the question: words that the query lost, or that all
    that the filter keeps is about something else."""
    lost_words = _list_lost_words(loss)
    if lost_words:
        return f"the query as it was sent lacks {_quote_words(lost_words)}, which question and evidence share"
    if loss.is_query_known:
        return None
    names = _list_naming_words(loss.question) & _list_words(loss.texts)
    kept_texts = [text for text in map(loss.text_of, filtered.chunk_ids) if text]
    if not names or not kept_texts or any(names <= _list_words([text]) for text in kept_texts):
        return None
    return f"nothing that {filtered.name} keeps has “{', '.join(sorted(names))}”, which question and evidence share"


def _list_naming_words(question: str) -> set[str]:
    """Return the words of a question that name something: those of its names and codes, and those with a digit."""
    names = {word for entity in find_question_entities(question) for word in tokenise_text(entity)}
    return names | {word for word in tokenise_text(question) if any(letter.isdigit() for letter in word)}


def _list_lost_words(loss: LostEvidence) -> list[str]:
    """Return the words that question and unit share, and that the query as it was sent lacks."""
    if not loss.texts or not loss.question or loss.query == loss.question:
        return []
    return sorted((set(tokenise_text(loss.question)) & _list_words(loss.texts)) - set(tokenise_text(loss.query)))


def _check_reranker(loss: LostEvidence) -> CauseFinding | None:
    """The reranker received the unit near the top and ranked it too low or dropped it."""
    reranked = loss.find_last_step("rerank")
    rerank_input = loss.find_last_step("filter", "merge") or (loss.retrievers[-1] if loss.retrievers else None)
    before, after = loss.find_rank(rerank_input), loss.find_rank(reranked)
    if reranked is None or rerank_input is None or before is None:
        return None
    passed_on = len(reranked.chunk_ids)
    usual = loss.view.largest_stages.get(reranked.name, 0) if loss.view is not None else 0
    is_short = passed_on < min(len(rerank_input.chunk_ids), max(usual, loss.last_shown_rank))
    is_dropped = after is None and (before <= passed_on or is_short)
    is_demoted = after is not None and before <= loss.last_shown_rank < after
    if not is_dropped and not is_demoted:
        return None
    misled = _find_added_subjects(loss, rerank_input)
    evidence: tuple[str, ...] = (
        f"{loss.describe_rank(rerank_input)} in {rerank_input.name}; in {reranked.name} it {_describe_fall(after)}",
    )
    if misled is not None:
        return _report_added_subjects((*evidence, misled), reranked)
    if after is None and is_short:
        evidence += (f"{reranked.name} passes on {passed_on} of the {len(rerank_input.chunk_ids)} that it received",)
    subcause = "dropped" if after is None else "ranked_below_cut_off"
    return CauseFinding("reranker", reranked.name, evidence, "high", subcause=subcause)


def _find_added_subjects(loss: LostEvidence, ranked: TraceStep) -> str | None:
    """Return what shows that a ranking went by other subjects than the question's: the query as it was sent adds at
    least as many words as the question has, and by them other chunks of the list come before the evidence."""
    if not loss.is_query_known or not loss.texts:
        return None
    asked, searched = _list_long_words(loss.question), _list_long_words(loss.query)
    added = searched - asked - _list_words(loss.texts)
    if not asked or len(added) < max(len(asked), _MIN_ADDED_WORDS):
        return None
    others = _list_other_texts(loss, ranked)
    asked_rank = compute_lexical_rank(loss.question, loss.texts, others)
    searched_rank = compute_lexical_rank(loss.query, loss.texts, others)
    if asked_rank is None or searched_rank is None or searched_rank <= asked_rank:
        return None
    named = ", ".join(sorted(added)[:5])
    return f"the query as it was sent adds {len(added)} words, such as “{named}”, which question and evidence lack"


def _report_added_subjects(evidence: tuple[str, ...], ranked: TraceStep) -> CauseFinding:
    return CauseFinding("bm25_analyzer", ranked.name, evidence, "medium", ("reranker",), "query_rewriting")


def _list_long_words(text: str) -> set[str]:
    return {word for word in tokenise_text(text) if len(word) > 2}


def _describe_fall(rank: int | None) -> str:
    return "is gone" if rank is None else f"falls to rank {rank}"


def _check_merge(loss: LostEvidence) -> CauseFinding | None:
    """A retriever had the unit near the top, or reciprocal rank fusion would have kept it, and the merge lost it."""
    merged, inputs = loss.find_last_step("merge"), loss.retrievers
    ranks: dict[str, int] = {}
    for step in inputs:
        input_rank = step.find_rank(loss.unit)
        if input_rank is not None:
            ranks[step.name] = input_rank
    if merged is None or not ranks or (merged.find_rank(loss.unit) is None and loss.has_from(merged)):
        return None
    rank, best = merged.find_rank(loss.unit), min(ranks.values())
    expected = _compute_fused_rank(inputs, loss.unit)
    reranked = loss.find_last_step("rerank")
    passed_on = len(reranked.stage.chunks) if reranked is not None else loss.last_shown_rank
    ignored = [step.name for step in inputs if step.name in ranks and _is_ignored(step, inputs, merged)]
    is_lost = rank is None and (best <= max(loss.last_shown_rank, 3) or expected <= NEAR or bool(ignored))
    is_demoted = rank is not None and expected <= passed_on < rank
    if not is_lost and not is_demoted:
        return None
    input_ranks = ", ".join(f"rank {input_rank} in {name}" for name, input_rank in ranks.items())
    evidence = [f"{loss.name} has {input_ranks}; in {merged.name} it {_describe_fall(rank)}"]
    evidence += [f"nothing that {name} alone has among its first {NEAR} is in {merged.name}" for name in ignored]
    if len(merged.chunk_ids) < max(len(step.chunk_ids) for step in inputs) // 2:
        evidence.append(f"{merged.name} keeps only {format_count(len(merged.chunk_ids), 'chunk')}")
    missed = [step for step in inputs if step.name not in ranks]
    if missed:  # a search that finds nothing of it leaves the merge less to go by
        also: tuple[RootCause, ...] = tuple(
            dict.fromkeys(SEARCH_CAUSES[step.kind] for step in missed if step.kind in SEARCH_CAUSES)
        )
        evidence.append(f"{loss.name} is absent in {', '.join(step.name for step in missed)}")
        return CauseFinding("hybrid_merge", merged.name, tuple(evidence), "medium", also)
    return CauseFinding("hybrid_merge", merged.name, tuple(evidence), "high" if is_lost else "medium")


SEARCH_CAUSES: Mapping[StepKind, RootCause] = MappingProxyType({"lexical": "bm25_analyzer", "dense": "embedding"})
"""What a search of each kind is at fault for where it misses the evidence."""


def _is_ignored(step: TraceStep, inputs: Sequence[TraceStep], merged: TraceStep) -> bool:
    """Whether the merge has none of the top chunks that only this retriever found."""
    only_here = set(step.chunk_ids[:NEAR]).difference(*(other.chunk_ids for other in inputs if other is not step))
    return bool(only_here) and only_here.isdisjoint(merged.chunk_ids)


def _compute_fused_rank(inputs: Sequence[TraceStep], unit: int) -> int:
    """Return the rank of the unit's best chunk by reciprocal rank fusion (Cormack et al. 2009) of the retrievers."""
    scores: dict[str, float] = {}
    covering: set[str] = set()
    for step in inputs:
        for rank, (chunk_id, mask) in enumerate(zip(step.chunk_ids, step.unit_masks, strict=True), 1):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + 1 / (_RRF_CONSTANT + rank)
            if mask >> unit & 1:
                covering.add(chunk_id)
    best = max(scores[chunk_id] for chunk_id in covering)
    return 1 + sum(score > best for score in scores.values())


def _check_unseen_merge(loss: LostEvidence) -> CauseFinding | None:
    """One of several searches had the unit near the top, and the step that merged them is not reported."""
    inputs = loss.retrievers
    near_top = [step for step in inputs if (loss.find_rank(step) or NEAR + 1) <= NEAR]
    if len(inputs) < 2 or not near_top or loss.find_last_step("merge") is not None:
        return None
    first = near_top[0]
    fact = f"{loss.describe_rank(first)} in {first.name}, and no stage shows how it was merged with the other searches"
    also: tuple[RootCause, ...] = (
        ("hybrid_merge", "reranker") if loss.find_last_step("rerank") is not None else ("hybrid_merge",)
    )
    return CauseFinding("insufficient_trace", None, (fact,), "low", also, record=(RECORD_MERGED,))


def _check_search(loss: LostEvidence) -> CauseFinding | None:
    """A search missed the unit: the keyword search if it shares words with the question, else the vector search."""
    lexical = next((step for step in loss.retrievers if step.kind == "lexical"), None)
    dense = next((step for step in loss.retrievers if step.kind == "dense"), None)
    reach = NEAR if lexical is not None and dense is not None else loss.last_shown_rank
    missed = [step for step in (lexical, dense) if step is not None and (loss.find_rank(step) or reach + 1) > reach]
    if lexical is not None and lexical in missed:
        finding = _check_rewriting(loss, lexical)
        if finding is None and dense is None:
            return _check_only_search(loss, lexical, min(reach, 3))
        finding = finding or _check_shared_words(loss, lexical, min(reach, 3))
        if finding is not None:
            return finding
        is_everywhere = dense is not None and loss.find_rank(dense) is None and loss.find_rank(lexical) is None
        is_telling = loss.view is not None and loss.view.observations >= _TELLING_RUN
        if dense is not None and is_everywhere and is_telling and not loss.texts and _may_be_unindexed(loss):
            return _report_unindexed(loss, dense, lexical)
        if dense is not None and dense in missed and not _has_texts(loss, lexical):
            evidence = (
                f"{loss.describe_rank(dense)} in {dense.name}; {loss.describe_rank(lexical)} in {lexical.name}",
            )
            others: tuple[RootCause, ...] = ("bm25_analyzer", "acl") if loss.is_hidden else ("bm25_analyzer",)
            hidden = (_HIDDEN,) if loss.is_hidden else ()
            record = (RECORD_QUERY, RECORD_CORPUS)
            return CauseFinding("embedding", dense.name, (*evidence, *hidden), "low", others, record=record)
    if dense is not None and dense in missed:
        return _check_vector_search(loss, dense, lexical)
    return None


def _check_vector_search(loss: LostEvidence, dense: TraceStep, lexical: TraceStep | None) -> CauseFinding:
    """The vector search misses the unit, or ranks it too low: rank what else would explain that."""
    if _may_be_unindexed(loss):
        return _report_unseen(loss, dense)
    if loss.find_rank(lexical) is not None:
        return _report_found_by_words(loss, dense, lexical)
    also: tuple[RootCause, ...] = ("golden_label_issue",) if loss.is_answered else ()
    absence = _describe_absence(loss)
    if absence:
        also = ("stale_index", *also)
    if loss.find_rank(dense) is not None:
        cut = _check_cut_below_search(loss, dense, "embedding")
        if cut is not None:
            return cut
        also = (_name_next_step(loss), *also)
    return CauseFinding("embedding", dense.name, (_describe_search(loss, dense), *absence), "low", also)


def _check_cut_below_search(loss: LostEvidence, search: TraceStep, cause: RootCause) -> CauseFinding | None:
    """The search has the unit near the top, and the context takes fewer of its chunks: nothing shows that it fails."""
    context, rank = loss.find_last_step("context"), loss.find_rank(search)
    ranking = loss.find_last_step("rerank", "filter", "merge", "lexical", "dense", "retriever")
    if context is None or rank is None or rank > NEAR or ranking is not search:
        return None
    fact = _describe_search(loss, search)
    return CauseFinding("context_builder", context.name, (fact,), "low", (cause,), "ranked_below_cut_off")


def _name_next_step(loss: LostEvidence) -> RootCause:
    """Return the step that could have kept what the search ranks too low: the reranker, else the context."""
    return "reranker" if loss.find_last_step("rerank") is not None else "context_builder"


def _describe_search(loss: LostEvidence, search: TraceStep) -> str:
    """Return the rank of the unit in a search, and, where it has one, how many chunks the generator was shown."""
    fact = f"{loss.describe_rank(search)} in {search.name}"
    if len(loss.retrievers) == 1:
        fact += ", the only search"
    return fact if loss.find_rank(search) is None else f"{fact}; {_describe_shown(loss)}"


def _describe_shown(loss: LostEvidence) -> str:
    if loss.find_last_step("context") is None:
        return f"no context is recorded, so the first {loss.shown_count} are taken for it"
    return f"the generator was shown {loss.shown_count}"


def _report_found_by_words(loss: LostEvidence, dense: TraceStep, lexical: TraceStep | None) -> CauseFinding:
    """The keyword search had the unit, so that what ranks the results of both searches could have kept it."""
    assert lexical is not None
    also: RootCause = "reranker" if loss.find_last_step("rerank") is not None else "hybrid_merge"
    facts = tuple(f"{loss.describe_rank(step)} in {step.name}" for step in (dense, lexical))
    return CauseFinding("embedding", dense.name, facts, "low", (also,))


def _report_unseen(loss: LostEvidence, dense: TraceStep) -> CauseFinding:
    """Nothing in the run shows the unit, and no text tells what the index holds."""
    facts = (f"{loss.describe_rank(dense)} in {dense.name}", *_describe_absence(loss), _NO_INDEXED_TEXTS)
    return CauseFinding("embedding", dense.name, facts, "low", ("chunking", "stale_index"), record=(RECORD_TEXTS,))


_NO_INDEXED_TEXTS = "no stage reports texts, so nothing shows how chunks are indexed"


def _describe_absence(loss: LostEvidence) -> tuple[str, ...]:
    """Return in how many lists of the run the unit is not, if they are so many that it says something; else nothing.

    With a corpus, the lists must have most of its chunks: a run that brings up a few says nothing of the others.
    """
    view = loss.view
    if view is None or loss.is_shown_in_run or len(view.case_ids) < _TELLING_RUN:
        return ()
    questions, corpus_size = format_count(len(view.case_ids), "question"), len(view.corpus.chunks)
    if not corpus_size:
        return (f"no list of this run has it, for any of its {questions}",)
    shown_count = view.count_shown_chunks()
    if shown_count < _TELLING_SHARE * corpus_size:
        return ()
    corpus = format_count(corpus_size, "chunk")
    return (f"the {questions} of this run bring up {shown_count} of the {corpus} of the corpus, and not it",)


def _report_unindexed(loss: LostEvidence, dense: TraceStep, lexical: TraceStep) -> CauseFinding:
    """Two searches that work differently miss the same unit at every rank, and no other query of the run finds it: that
    the index does not have it under its id is likelier than that both fail (ADR 0147)."""
    facts = (
        f"{loss.describe_rank(dense)} in {dense.name} and in {lexical.name}",
        *_describe_absence(loss),
        _NO_INDEXED_TEXTS,
    )
    record = (RECORD_TEXTS, RECORD_ID_SEARCH)
    if loss.is_answered:  # so that its text may be in the index under another id, or the label names the wrong one
        others: tuple[RootCause, ...] = ("chunking", "golden_label_issue")
        return CauseFinding("insufficient_trace", dense.name, facts, "low", others, record=record)
    if loss.is_answered_otherwise:  # so that the label may be of another state of the documents than the index
        other = "the answer states other values and cites what it was shown for them"
        outdated: tuple[RootCause, ...] = ("stale_index", "golden_label_issue")
        return CauseFinding("insufficient_trace", dense.name, (*facts, other), "low", outdated, record=(RECORD_CORPUS,))
    return CauseFinding(
        "stale_index", dense.name, facts, "low", ("chunking", "embedding"), "not_indexed", record=record
    )


def _may_be_unindexed(loss: LostEvidence) -> bool:
    """Whether the run leaves open that the unit is in the index at all, or under the ids that the labels know."""
    view = loss.view
    return view is not None and not view.has_texts and not any(map(view.is_shown, loss.chunk_ids))


def _check_rewriting(loss: LostEvidence, lexical: TraceStep) -> CauseFinding | None:
    """The question shares words with the unit that the rewritten query has lost, and that would have found it."""
    lost_words = _list_lost_words(loss)
    if not lost_words:
        return None
    other_texts = _list_other_texts(loss, lexical)
    asked_rank = compute_lexical_rank(loss.question, loss.texts, other_texts)
    searched_rank = compute_lexical_rank(loss.query, loss.texts, other_texts)
    if asked_rank is None or (searched_rank is not None and searched_rank <= asked_rank):
        return None
    evidence = (
        f"{loss.describe_rank(lexical)} in {lexical.name}",
        f"the query as it was sent lacks {_quote_words(lost_words)}, which question and evidence share",
    )
    return CauseFinding("bm25_analyzer", lexical.name, evidence, "high", subcause="query_rewriting")


def _check_only_search(loss: LostEvidence, lexical: TraceStep, max_rank: int) -> CauseFinding:
    """Rank what explains that the only search, by keywords, misses the unit: by what the traces of the run show."""
    rank = loss.find_rank(lexical)
    if loss.view is not None and loss.texts and rank is None:
        finding = _compare_with_run(loss, loss.view, lexical)
        if finding is not None:
            return finding
    finding = _check_shared_words(loss, lexical, max_rank) or _check_cut_below_search(loss, lexical, "bm25_analyzer")
    if finding is not None:
        return finding
    also: tuple[RootCause, ...] = (_name_next_step(loss) if rank is not None else loss.unindexed_cause,)
    if loss.view is not None and not loss.view.has_texts and not loss.texts:
        also = (*also, "chunking")
    fact = _describe_search(loss, lexical)
    return CauseFinding("bm25_analyzer", lexical.name, (fact,), "low", also, record=(RECORD_QUERY, RECORD_ID_SEARCH))


def _compare_with_run(loss: LostEvidence, view: IndexView, lexical: TraceStep) -> CauseFinding | None:
    """Tell an analyzer from a failed search and from a missing chunk by what other searches of the run return."""
    absent = _describe_search(loss, lexical)
    words = view.find_telling_words(loss.query, loss.texts)
    quoted = _quote_words(view.find_matched_words(words))
    unindexed: tuple[RootCause, ...] = () if loss.is_shown_in_run else (loss.unindexed_cause,)
    if words and not view.is_matched(words):
        return _report_unmatched(loss, view, lexical, words)
    if words and not lexical.chunk_ids:
        fact = f"it returns nothing, and elsewhere in the run it finds chunks by {quoted}"
        record = (RECORD_ERRORS, RECORD_QUERY)
        return CauseFinding(
            "insufficient_trace", lexical.name, (absent, fact), "low", ("bm25_analyzer", "acl"), record=record
        )
    if not words and not may_search_by_vectors(loss.steps):
        fact = "question and evidence share no word that tells it from other chunks"
        return CauseFinding(
            "bm25_analyzer",
            lexical.name,
            (absent, fact, *_describe_absence(loss)),
            "low" if unindexed else "medium",
            unindexed,
            "vocabulary_mismatch",
            (RECORD_ID_SEARCH,),
        )
    if loss.is_shown_in_run:
        return None
    others: tuple[RootCause, ...] = ("bm25_analyzer", "stale_index")
    fact = f"elsewhere in the run it finds chunks by {quoted}, which question and evidence share"
    facts = (absent, *((fact,) if words else ()), *_describe_absence(loss))
    return CauseFinding(
        loss.unindexed_cause,
        lexical.name,
        facts,
        "medium",
        tuple(cause for cause in others if cause != loss.unindexed_cause),
        "not_indexed",
        (RECORD_ID_SEARCH,),
    )


def _report_unmatched(loss: LostEvidence, view: IndexView, lexical: TraceStep, words: frozenset[str]) -> CauseFinding:
    """No search of the run finds a chunk by the words that question and evidence share.

    It is the analyzer if the index is seen to have a chunk with one of them, which is not found by it either. If no
    chunk but the lost one has them, one that is not indexed leaves the same trace; and no analyzer keeps apart what is
    written alike, unless it treats queries in another way than texts.
    """
    absent = _describe_search(loss, lexical)
    unindexed: tuple[RootCause, ...] = () if loss.is_shown_in_run else (loss.unindexed_cause,)
    indexed = view.find_indexed_with(words, loss.chunk_ids)
    fact = _describe_findable(loss, view)
    if fact is not None and not loss.is_shown_in_run:
        return _report_not_indexed(loss, view, lexical, fact, "medium" if _describe_absence(loss) else "low")
    facts = [
        absent,
        f"no search of the run finds a chunk by {_quote_words(words)} alone, which question and evidence share",
    ]
    confidence: CauseConfidence = "high" if loss.is_shown_in_run else "low"
    if indexed is not None:
        facts.append(f"{indexed}, which other lists of the run have, has one of these words too")
        confidence = "high" if loss.is_shown_in_run or view.is_tried_again(words) else "medium"
    facts += _describe_absence(loss)
    return CauseFinding(
        "bm25_analyzer", lexical.name, tuple(facts), confidence, unindexed, "analyzer", (RECORD_ID_SEARCH,)
    )


def _describe_findable(loss: LostEvidence, view: IndexView) -> str | None:
    """Return what shows that a search by words would find the unit if it were indexed; None if nothing does.

    The words that it shares with the query find other chunks; or no chunk that the index is seen to have has them, and
    they are written alike in both, while most queries find chunks by their rarest word.
    """
    words = view.find_telling_words(loss.query, loss.texts)
    matched = view.find_matched_words(words)
    if matched:
        return f"elsewhere in the run it finds chunks by {_quote_words(matched)}, which question and evidence share"
    alike = _list_words_written_alike(loss, words)
    if not alike or not view.finds_by_words or view.find_indexed_with(words, loss.chunk_ids) is not None:
        return None
    return f"no list of the run has a chunk with {_quote_words(alike)}, which question and evidence share as written"


def _report_not_indexed(
    loss: LostEvidence, view: IndexView, search: TraceStep, fact: str, confidence: CauseConfidence
) -> CauseFinding:
    """The search would find the unit by its words, and no list of the run has it."""
    names = [step.name for step in loss.retrievers]
    absent = _describe_search(loss, search) if len(names) == 1 else f"{loss.name} is absent in {', '.join(names)}"
    facts = (absent, fact, *_describe_lost_document(loss, view), *_describe_absence(loss))
    also: tuple[RootCause, ...] = ("bm25_analyzer",)
    if may_search_by_vectors(loss.steps):
        also = ("embedding", "bm25_analyzer")
    return CauseFinding("stale_index", search.name, facts, confidence, also, "not_indexed", (RECORD_ID_SEARCH,))


def _check_unclear_search(loss: LostEvidence) -> CauseFinding | None:
    """The only search, of which nothing tells how it works, misses what most of the corpus and the words of other
    questions show to be findable."""
    if len(loss.retrievers) != 1 or loss.retrievers[0].kind != "retriever" or loss.view is None or loss.is_shown_in_run:
        return None
    fact = _describe_findable(loss, loss.view) if loss.texts and _describe_absence(loss) else None
    return _report_not_indexed(loss, loss.view, loss.retrievers[0], fact, "low") if fact is not None else None


def _describe_lost_document(loss: LostEvidence, view: IndexView) -> tuple[str, ...]:
    """Return that no list of the run has anything of the document of the unit, if it has other chunks; else nothing."""
    documents = view.list_documents(loss.chunk_ids)
    if not documents or view.shows_document_of(loss.chunk_ids):
        return ()
    return (f"no list of the run has anything of {', '.join(documents)}",)


def _quote_words(words: Iterable[str]) -> str:
    return f"“{', '.join(sorted(words)[:5])}”"


def _list_words_written_alike(loss: LostEvidence, words: frozenset[str]) -> set[str]:
    """Return those of some words that the query and the texts of the unit have with the same letters, in the same case
    and with the same diacritics: words of letters alone, so that no code is split."""
    texts = {word for text in loss.texts for word in _LETTERS.findall(normalise_nfc(text))}
    alike = texts.intersection(_LETTERS.findall(normalise_nfc(loss.query)))
    return {word for word in alike if not words.isdisjoint(tokenise_text(word))}


_LETTERS = re.compile(r"[^\W\d_]+")


def _list_words(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in tokenise_text(text)}


def _check_shared_words(loss: LostEvidence, lexical: TraceStep, max_rank: int) -> CauseFinding | None:
    """The lexical search ranks the unit lower than the words that it shares with the question justify."""
    expected_rank = compute_lexical_rank(loss.query, loss.texts, _list_other_texts(loss, lexical))
    rank = loss.find_rank(lexical)
    if not _has_texts(loss, lexical) or expected_rank is None or expected_rank > max_rank:
        return None
    if rank is not None and rank <= expected_rank:
        return None
    evidence = (
        f"{loss.describe_rank(lexical)} in {lexical.name}",
        f"by the words it shares with the question it should have rank {expected_rank} of what was returned",
    )
    if loss.is_hidden:
        return _report_hidden(loss, lexical, evidence)
    if loss.view is not None and not loss.view.has_texts:
        also: tuple[RootCause, ...] = ("parser",) if rank is not None else (loss.unindexed_cause,)
        if _may_be_unindexed(loss):
            if _is_missing_in_document(loss, loss.view):
                fact = "no list has it; others of its document are shown, and its words find other chunks"
                return CauseFinding(
                    "chunking",
                    lexical.name,
                    (*evidence, fact),
                    "medium",
                    (loss.unindexed_cause, "bm25_analyzer"),
                    record=(RECORD_TEXTS, RECORD_ID_SEARCH),
                )
            is_telling = bool(_describe_absence(loss)) and any(step.chunk_ids for step in loss.retrievers)
            findable = _describe_findable(loss, loss.view) if is_telling else None
            if findable is not None:
                return _report_not_indexed(loss, loss.view, lexical, findable, "low")
            also = ("chunking", loss.unindexed_cause)
        # The index may have other words than the corpus, under the same id.
        return CauseFinding(
            "bm25_analyzer", lexical.name, evidence, "low", also, "analyzer", (RECORD_TEXTS, RECORD_QUERY)
        )
    if rank is None and loss.view is not None and not any(map(loss.view.is_shown, loss.chunk_ids)):
        return _report_shown_nowhere(loss, loss.view, lexical, evidence)
    if not any(step.chunk_ids for step in loss.retrievers):
        fact = "no search returns anything"
        return CauseFinding(
            "bm25_analyzer",
            lexical.name,
            (*evidence, fact),
            "low",
            ("acl", loss.unindexed_cause),
            "analyzer",
            RECORDS_OF_FAILED_SEARCH,
        )
    confidence: CauseConfidence = "high" if expected_rank == 1 else "medium"
    return CauseFinding("bm25_analyzer", lexical.name, evidence, confidence, subcause="analyzer")


def _report_hidden(loss: LostEvidence, lexical: TraceStep, evidence: tuple[str, ...]) -> CauseFinding:
    """The run shows the unit to others only, so that access may be what takes it from this user."""
    assert loss.view is not None
    confidence: CauseConfidence = "medium" if loss.view.has_texts else "low"
    record = (RECORD_BEFORE_ACCESS,)
    return CauseFinding(
        "bm25_analyzer",
        lexical.name,
        (*evidence, _HIDDEN),
        confidence,
        ("acl", loss.unindexed_cause),
        "analyzer",
        record,
    )


_HIDDEN = "the run shows it to users with other rights, and never to users with these"


def _report_shown_nowhere(
    loss: LostEvidence, view: IndexView, lexical: TraceStep, evidence: tuple[str, ...]
) -> CauseFinding:
    """What no trace of the run shows may not be indexed, or be hidden from everybody who asked. Where a vector search
    misses it too, and any search returned something, the index lacks it more often than two searches fail."""
    others = [step for step in loss.retrievers if step.kind == "dense" and loss.find_rank(step) is None]
    is_telling = view.observations >= _TELLING_RUN and any(step.chunk_ids for step in loss.retrievers)
    facts = (*evidence, *_describe_absence(loss))
    if not others or not is_telling:
        unsure: tuple[RootCause, ...] = (loss.unindexed_cause, "acl")
        return CauseFinding("bm25_analyzer", lexical.name, facts, "low", unsure, "analyzer", (RECORD_ID_SEARCH,))
    facts = (*facts, f"{others[0].name} does not have it either")
    findable = _describe_findable(loss, view)
    if findable is not None:
        return _report_not_indexed(loss, view, lexical, findable, "low")
    also: tuple[RootCause, ...] = ("stale_index", "bm25_analyzer")
    return CauseFinding("embedding", lexical.name, facts, "low", also, "not_indexed", (RECORD_ID_SEARCH,))


def _is_missing_in_document(loss: LostEvidence, view: IndexView) -> bool:
    """Whether a chunk that no trace shows is of a document that the run shows, and the search finds by its words."""
    words = view.find_telling_words(loss.query, loss.texts)
    return bool(words) and view.is_matched(words) and view.shows_document_of(loss.chunk_ids)


def _list_other_texts(loss: LostEvidence, lexical: TraceStep) -> list[str]:
    """Return the known texts of the other chunks that a lexical search returned."""
    ranking = zip(lexical.chunk_ids, lexical.unit_masks, strict=True)
    texts = [loss.text_of(chunk_id) for chunk_id, mask in ranking if not mask >> loss.unit & 1]
    return [text for text in texts if text is not None]


def _has_texts(loss: LostEvidence, lexical: TraceStep) -> bool:
    """Whether the texts of the unit and, if the search returned anything, of some other chunk are known."""
    return bool(loss.texts) and (not lexical.chunk_ids or bool(_list_other_texts(loss, lexical)))


def _check_cut_off(loss: LostEvidence) -> CauseFinding | None:
    """The reranker has the unit near the top, and still below the cut-off: the searches found it."""
    reranked, context = loss.find_last_step("rerank"), loss.find_last_step("context")
    rank = loss.find_rank(reranked)
    if reranked is None or context is None or rank is None or rank > NEAR:
        return None
    evidence = (f"{loss.describe_rank(reranked)} in {reranked.name}; the generator was shown {loss.shown_count}",)
    misled = _find_added_subjects(loss, reranked)
    if misled is not None:
        return _report_added_subjects((*evidence, misled), reranked)
    record = ("more of the ranking in the context, once",)
    return CauseFinding(
        "reranker", reranked.name, evidence, "low", ("context_builder",), "ranked_below_cut_off", record
    )


def _check_low(loss: LostEvidence) -> CauseFinding | None:
    """The unit passed every step, but too far down: the last step that ranks could have ranked it higher."""
    final = loss.find_last_step("rerank", "filter", "merge", "lexical", "dense", "retriever")
    rank = loss.find_rank(final)
    if final is None or rank is None:
        return None
    context = loss.find_last_step("context")
    cut = next((step for step in loss.steps if step.kind == "context" and step.name != CONTEXT_STAGE), None)
    if cut is not None:
        fact = f"{loss.describe_rank(final)} in {final.name}; {cut.name} has its first {len(cut.chunk_ids)}"
        return CauseFinding("context_builder", cut.name, (fact,), "medium", ("reranker",), "ranked_below_cut_off")
    evidence = (f"{loss.describe_rank(final)} in {final.name}; {_describe_shown(loss)}",)
    if final.kind in ("rerank", "retriever") and (final.kind == "rerank" or len(loss.steps) <= 2):
        also: tuple[RootCause, ...] = ("context_builder", "bm25_analyzer")
        # What a stage `retrieved` does is not known: it may rank what another search found, or be the only search.
        subcause = "ranked_below_cut_off" if final.kind == "rerank" else "ranked_too_low"
        record = (RECORD_UNFILTERED, RECORD_QUERY)
        return CauseFinding("reranker", final.name, evidence, "low", also, subcause, record)
    if context is not None and rank <= DEFAULT_PRODUCTION_K:
        return CauseFinding("context_builder", context.name, evidence, "low", subcause="token_budget")
    return CauseFinding("hybrid_merge", final.name, evidence, "low", subcause="ranked_below_cut_off")
