"""Evidence that a quote names, in lists of chunks without texts: no search is blamed for what nothing tells."""

from __future__ import annotations

import assay
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage

QUOTE = "twelve days of paid leave"
CASE = Case("c", "How much leave?", evidence=(Evidence(({"quote": QUOTE},)),), must_have=("twelve days",))


def explain(*, text: str | None) -> str:
    """Return the explanation of a case whose context lacks the evidence; the search gave a chunk with this text."""
    found = Stage("bm25", (Chunk("v1", text=text), Chunk("v2", text="The canteen.")))
    shown = Stage("context", (Chunk("v2", text="The canteen."),))
    observation = Observation("c", "one", stages=(found, shown), answer="It is nine days.")
    return assay.explain(assay.score(GoldenSet((CASE,)), [observation]), "c")


def test_a_search_that_reports_ids_alone_is_not_said_to_have_missed_the_evidence() -> None:
    told = " ".join(explain(text=None).split())
    assert f"“{QUOTE}” is in no text of this case, and the trace lists chunks without their texts" in told
    assert "the text of each chunk" in told
    assert "insufficient_trace" in told and "is in no list" not in told
    assert f"quote={QUOTE} 3 - - verbose" in told  # nothing says at which step it was lost


def test_a_search_whose_texts_are_reported_has_missed_it() -> None:
    assert "chunks without their texts" not in " ".join(explain(text="The car park.").split())


def explain_context(*chunks: Chunk, found: Chunk, quotes: tuple[str, ...] = (QUOTE,)) -> str:
    """Return the explanation of a case whose context has these chunks, after a search that gave another and these."""
    evidence = tuple(Evidence(({"quote": quote},)) for quote in quotes)
    case = Case("c", "How much leave?", evidence=evidence, must_have=("x",))
    stages = Stage("bm25", (found, *chunks)), Stage("context", chunks)
    observation = Observation("c", "one", stages=stages, answer="It is nine days.")
    return " ".join(assay.explain(assay.score(GoldenSet((case,)), [observation]), "c").split())


def test_whether_evidence_reached_the_generator_is_unknown_where_a_chunk_of_the_context_has_no_text() -> None:
    unknown = "evidence reached the generator: unknown, chunks of the context have no text, and their ids do not tell"
    canteen, leave = Chunk("v2", text="The canteen."), Chunk("v3", text=f"Staff have {QUOTE}.")
    assert unknown in explain_context(Chunk("v1"), found=canteen)
    assert "evidence reached the generator: no" in explain_context(Chunk("v1", text="The car park."), found=canteen)
    assert "evidence reached the generator: yes" in explain_context(Chunk("v1"), leave, found=canteen)
    # The search shows the chunk that has it, and the context another.
    assert "evidence reached the generator: no" in explain_context(Chunk("v1"), found=leave)
    both = QUOTE, "thirty days of unpaid leave"
    assert unknown in explain_context(Chunk("v1"), leave, found=canteen, quotes=both)
    assert "evidence reached the generator: no" in explain_context(Chunk("v1"), found=leave, quotes=both)
