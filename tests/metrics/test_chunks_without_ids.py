"""Chunks whose ids are made from their texts: matched by quotes and by the corpus, and never counted as missed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import assay
from assay.formats.chunk_shapes import make_text_id
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import NOT_APPLICABLE, SCORED

LEAVE = "Permanent staff have  Twelve days of paid leave a year."
OTHER = "The cafeteria opens at seven."


def score(case: Case, texts: list[str], metric: str = "recall@5", corpus: Corpus | None = None) -> tuple[int, Any]:
    """Return the status, and the score or reason, of one case whose target returned chunks without ids."""
    chunks = tuple(Chunk(make_text_id(text), text=text) for text in texts)
    observation = Observation(case.id, "one", stages=(Stage("retrieved", chunks),), answer="Twelve.")
    column = (
        assay.score(GoldenSet((case,)), [observation], metrics=[metric], corpus=corpus).table("one").columns[metric]
    )
    status = int(column.status[0])
    return status, float(column.values[0]) if status == SCORED else column.reasons[column.reason[0]]


def named(*, quote: str | None = None, selector: dict[str, str | int] | None = None) -> Case:
    return Case("c", "Leave?", evidence=(Evidence((selector or {"chunk_id": "hr:1"},), quote=quote),))


def test_evidence_named_by_ids_only_cannot_be_found_and_is_not_missed() -> None:
    status, reason = score(named(), [LEAVE])
    assert NOT_APPLICABLE == status
    assert reason.startswith("chunks without ids, and evidence that is named by ids only")


@pytest.mark.parametrize("case", [named(quote="twelve days of paid leave"), named(selector={"quote": "twelve days"})])
def test_evidence_with_a_quote_is_found_in_the_text(case: Case) -> None:
    assert (SCORED, 1.0) == score(case, [OTHER, LEAVE])
    assert (SCORED, 0.0) == score(case, [OTHER])


def test_the_corpus_tells_which_text_an_id_has() -> None:
    corpus = Corpus({"hr:1": CorpusChunk("hr:1", "Permanent staff have twelve days of paid leave a year.")})
    assert (SCORED, 0.5) == score(named(), [OTHER, LEAVE], "rr", corpus)
    assert (SCORED, 0.0) == score(named(), [OTHER], "rr", corpus)


def test_chunks_with_ids_of_their_own_are_matched_by_ids_alone() -> None:
    chunk = Chunk("hr:2", text=LEAVE)
    observation = Observation("c", "one", stages=(Stage("retrieved", (chunk,)),))
    result = assay.score(GoldenSet((named(quote="twelve days"),)), [observation], metrics=["recall@5"])
    assert 0.0 == result.summary("one")["recall@5"].value


def test_a_forbidden_chunk_named_by_its_id_is_not_declared_absent() -> None:
    case = Case("c", "Pay?", forbidden=({"chunk_id": "pay:1"},), user=User(tenant="a"))
    status, reason = score(case, [OTHER], "visibility_leaks")
    assert NOT_APPLICABLE == status
    assert "access unknown" in reason


def test_rows_of_one_block_do_not_disturb_each_other() -> None:
    cases = tuple(Case(f"c{n}", "Q", evidence=(Evidence(({"chunk_id": "hr:1"},)),)) for n in range(3))
    stages = [
        Stage("retrieved", (Chunk("hr:1"),)),
        Stage("retrieved", (Chunk(make_text_id(LEAVE), text=LEAVE),)),
        Stage("retrieved", (Chunk("hr:2"),)),
    ]
    observations = [Observation(case.id, "one", stages=(stage,)) for case, stage in zip(cases, stages, strict=True)]
    column = assay.score(GoldenSet(cases), observations, metrics=["recall@5"]).table("one").columns["recall@5"]
    assert [SCORED, NOT_APPLICABLE, SCORED] == column.status.tolist()
    assert [1.0, 0.0] == column.values[np.asarray(column.status) == SCORED].tolist()
