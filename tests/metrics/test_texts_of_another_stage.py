"""Chunks whose text another stage reports: quoted evidence is found by it, and without any text nothing is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import assay
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import SCORED

QUOTE = "twelve days of paid leave"
LEAVE = f"Permanent staff have {QUOTE} a year."
BARE, OTHER = Chunk("v7"), Chunk("v9", text="The cafeteria opens at seven.")
KNOWN: dict[str, Any] = {"chunk_id": "hr:1"}
CORPUS = Corpus({"hr:1": CorpusChunk("hr:1", text=LEAVE), "hr:2": CorpusChunk("hr:2", text=OTHER.text)})


def measure(stages: Mapping[str, tuple[Chunk, ...]], *selectors: dict[str, Any], corpus: Corpus | None = None) -> Any:
    """Return recall and MRR of a case whose evidence has these selectors, or the reason why there is none."""
    case = Case("c", "Leave?", evidence=(Evidence(selectors),), must_have=("twelve days",))
    reported = tuple(Stage(name, chunks) for name, chunks in stages.items())
    answer = Observation("c", "one", stages=reported, answer="Twelve days.")
    scored = assay.score(GoldenSet((case,)), [answer], metrics=["recall@5", "rr@5"], corpus=corpus)
    columns = [scored.table("one").columns[name] for name in ("recall@5", "rr@5")]
    if columns[0].status[0] != SCORED:
        return columns[0].reasons[columns[0].reason[0]]
    return tuple(float(column.values[0]) for column in columns)


@pytest.mark.parametrize("stage", ["context", "search", "rerank"])
def test_a_text_that_is_reported_once_counts_in_every_ranking(stage: str) -> None:
    stages = {"retrieved": (OTHER, BARE), stage: (Chunk("v7", text=LEAVE),)}
    assert (1.0, 0.5) == measure(stages, {"quote": QUOTE})
    assert (1.0, 0.5) == measure(stages, KNOWN, {"quote": QUOTE}, corpus=CORPUS)
    assert (0.0, 0.0) == measure(stages, {"quote": "thirty days of leave"})


def test_the_longest_text_of_a_chunk_counts() -> None:
    stages = {"retrieved": (BARE,), "search": (Chunk("v7", text=LEAVE),), "context": (Chunk("v7", text="Permanent"),)}
    assert (1.0, 1.0) == measure(stages, {"quote": QUOTE})


@pytest.mark.parametrize(
    ("selectors", "corpus"), [(({"quote": QUOTE},), None), ((KNOWN, {"quote": QUOTE}), CORPUS)], ids=["quote", "both"]
)
def test_chunks_of_which_no_text_is_known_are_not_counted_as_missed(
    selectors: tuple[dict[str, Any], ...], corpus: Corpus | None
) -> None:
    reason = measure({"retrieved": (OTHER, BARE)}, *selectors, corpus=corpus)
    assert reason.startswith("text of chunks not reported, and evidence that is named by quotes")
    assert (1.0, 1.0) == measure({"retrieved": (Chunk("v8", text=LEAVE), BARE)}, *selectors, corpus=corpus)


def test_an_id_that_can_be_compared_tells_without_a_text() -> None:
    both = KNOWN, {"quote": QUOTE}
    assert (0.0, 0.0) == measure({"retrieved": (Chunk("hr:2"),)}, *both, corpus=CORPUS)
    assert (1.0, 1.0) == measure({"retrieved": (Chunk("hr:1"),)}, *both, corpus=CORPUS)
    assert (0.0, 0.0) == measure({"retrieved": (BARE,)}, *both)  # without a corpus nothing says that ids differ in kind


def test_a_text_that_was_cut_for_the_context_does_not_replace_that_of_the_corpus() -> None:
    stages = {"retrieved": (Chunk("hr:1"),), "context": (Chunk("hr:1", text="Permanent staff have"),)}
    assert (1.0, 1.0) == measure(stages, {"quote": QUOTE}, corpus=CORPUS)


OTHER_PAGE = "The canteen of the second floor is closed on Mondays, on Fridays, and on every public holiday."


@pytest.mark.parametrize(
    ("ranked", "shown"),
    [
        pytest.param(BARE, (Chunk("v7", text=OTHER_PAGE), Chunk("v7", text=LEAVE)), id="a document as id"),
        pytest.param(
            Chunk("v7", metadata={"version": "2"}),
            (Chunk("v7", text=LEAVE, metadata={"version": "1"}),),
            id="another version",
        ),
        pytest.param(
            Chunk("v7", metadata={"tenant": "a"}), (Chunk("v7", text=LEAVE, metadata={"tenant": "b"}),), id="tenant"
        ),
        pytest.param(Chunk("v7", text_hash="1"), (Chunk("v7", text=LEAVE, text_hash="2"),), id="another hash"),
    ],
)
def test_a_chunk_has_no_text_that_may_be_of_another_one(ranked: Chunk, shown: tuple[Chunk, ...]) -> None:
    reason = measure({"retrieved": (ranked,), "context": shown}, {"quote": QUOTE})
    assert reason.startswith("text of chunks not reported")


@pytest.mark.parametrize("cut", ["Permanent  staff\nhave …", f"Permanent staff have {QUOTE}...", LEAVE])
def test_a_cut_text_is_of_the_chunk_that_has_it_whole(cut: str) -> None:
    stages = {"retrieved": (BARE,), "search": (Chunk("v7", text=cut),), "context": (Chunk("v7", text=LEAVE),)}
    assert (1.0, 1.0) == measure(stages, {"quote": QUOTE})


def test_a_mean_of_rankings_without_texts_is_a_range() -> None:
    evidence = (Evidence(({"quote": QUOTE},)),)
    cases = tuple(Case(f"c{number}", "Leave?", evidence=evidence, must_have=("twelve days",)) for number in range(10))
    shown = (Chunk("v7", text=LEAVE), OTHER)
    outputs = [
        Observation(
            case.id,
            "one",
            stages=(Stage("retrieved", (BARE,)), Stage("context", (shown[number >= 6],))),
            answer="12 days.",
        )
        for number, case in enumerate(cases)
    ]
    rule = {"metric": "recall@10", "at_least": 0.7}
    scored = assay.score(GoldenSet(cases), outputs, gate={"rules": [rule]})
    recall = scored.metric("recall@10")
    assert recall.unknown is not None
    assert (0.6, 1.0, 4) == (recall.unknown.low, recall.unknown.high, recall.unknown.count)
    assert "recall@10 is between 0.600 and 1.000, because chunks without a text" in " ".join(scored.decision.reasons)
    assert "perfect" not in " ".join(recall.notes)
    kept = assay.score(GoldenSet(cases), outputs, gate={"rules": [{**rule, "at_least": 0.5}]})
    assert "recall@10" not in " ".join(kept.decision.reasons)
