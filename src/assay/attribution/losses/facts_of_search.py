"""What the searches of a case and of its run show of a lost unit: where it was, and that nothing has it."""

from __future__ import annotations

from assay.attribution.evidence_trace import TraceStep
from assay.attribution.losses.lost_unit import LostEvidence
from assay.records.counts import format_count

LARGE_RUN = 10
"""From how many questions on it tells something that no list of the run has a chunk."""
_LARGE_SHARE = 0.5
"""The share of the corpus that the lists of a run must bring up for that."""


def describe_search(loss: LostEvidence, search: TraceStep) -> str:
    """Return the rank of the unit in a search, and, where it has one, how many chunks the generator was shown."""
    fact = f"{loss.describe_rank(search)} in {search.name}"
    if len(loss.retrievers) == 1:
        fact += ", the only search"
    return fact if loss.find_rank(search) is None else f"{fact}; {describe_shown(loss)}"


def describe_shown(loss: LostEvidence) -> str:
    """Return how many chunks the generator was shown, or that this is taken for granted."""
    if loss.find_last_step("context") is None:
        return f"no context is recorded, so the first {loss.shown_count} are taken for it"
    return f"the generator was shown {loss.shown_count}"


def describe_absence(loss: LostEvidence) -> tuple[str, ...]:
    """Return in how many lists of the run the unit is not, if they are so many that it says something; else nothing.

    With a corpus, the lists must have most of its chunks: a run that brings up a few says nothing of the others.
    """
    view = loss.view
    if view is None or loss.is_shown_in_run or len(view.case_ids) < LARGE_RUN:
        return ()
    questions, corpus_size = format_count(len(view.case_ids), "question"), len(view.corpus.chunks)
    if not corpus_size:
        return (f"no list of this run has it, for any of its {questions}",)
    shown_count = view.count_shown_chunks()
    if shown_count < _LARGE_SHARE * corpus_size:
        return ()
    corpus = format_count(corpus_size, "chunk")
    return (f"the {questions} of this run bring up {shown_count} of the {corpus} of the corpus, and not it",)


def may_be_unindexed(loss: LostEvidence) -> bool:
    """Whether the run leaves open that the unit is in the index at all, or under the ids that the labels know."""
    view = loss.view
    return view is not None and not view.indexed.has_texts and not any(map(view.is_shown, loss.chunk_ids))


def list_other_texts(loss: LostEvidence, lexical: TraceStep) -> list[str]:
    """Return the known texts of the other chunks that a lexical search returned."""
    ranking = zip(lexical.chunk_ids, lexical.unit_masks, strict=True)
    texts = [loss.text_of(chunk_id) for chunk_id, mask in ranking if not mask >> loss.unit & 1]
    return [text for text in texts if text is not None]


def has_texts(loss: LostEvidence, lexical: TraceStep) -> bool:
    """Whether the texts of the unit and, if the search returned anything, of some other chunk are known."""
    return bool(loss.texts) and (not lexical.chunk_ids or bool(list_other_texts(loss, lexical)))
