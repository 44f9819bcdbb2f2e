"""A leak is counted once wherever it appears, by the chunk that leaked, and no chunk that the user may see is one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import assay
from assay.attribution.attribute_run import attribute_run
from assay.metrics.cases.case_index import CaseIndex, GoldenIndex
from assay.metrics.leaks.find_leaks import Leaks, find_leaks
from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage

SECRET = "The merger with the Lindqvist yard is planned for the second Tuesday of November."
OTHER = "Two hundred welders of the northern dock are to be dismissed before the end of winter."
OPEN = "The ferry to the yard leaves every forty minutes from the stone pier."
CANARY = "quartz-falcon-7781"
CORPUS = Corpus(
    {
        "board:4": CorpusChunk("board:4", text=SECRET, document="board", roles=("director",)),
        "board:5": CorpusChunk("board:5", text=OTHER, document="board", roles=("director",)),
        "ferry:1": CorpusChunk("ferry:1", text=OPEN, document="ferry"),
        "note:1": CorpusChunk("note:1", text=f"The code word of the picnic is {CANARY}.", document="note"),
    }
)
BOARD, FERRY = Chunk("board:4", text=SECRET), Chunk("ferry:1", text=OPEN)


def make_case(forbidden_text: Sequence[str] = ()) -> Case:
    return Case(
        "q1",
        "What is planned with the yard?",
        behaviour="permission_denied",
        user=User(roles=("welder",)),
        forbidden_text=tuple(forbidden_text),
    )


def show(
    *chunks: Chunk, answer: str = "I may not tell.", citations: tuple[str, ...] | None = None, case: Case | None = None
) -> Leaks:
    stages = (Stage("retrieved", chunks), Stage("context", chunks))
    observation = Observation("q1", "x", answer=answer, stages=stages, citations=citations)
    made = case or make_case()
    return find_leaks(CaseIndex(made, GoldenIndex(GoldenSet((made,)), CORPUS)), observation)


@pytest.mark.parametrize(
    ("leaks", "names"),
    [
        (show(BOARD, FERRY), ["board:4"]),
        (show(BOARD, FERRY, answer=SECRET), ["board:4"]),
        (show(BOARD, FERRY, answer=SECRET, citations=("board",)), ["board:4"]),
        (show(FERRY, answer=SECRET), ["board:4"]),
        (show(BOARD, answer=OTHER), ["board:4", "board:5"]),
        (show(Chunk("ferry:1", text=SECRET)), ["board:4"]),
        (show(Chunk("ferry:1", text=OPEN, metadata={"next": SECRET})), ["board:4"]),
        (show(BOARD, Chunk("ferry:1", text=OPEN, metadata={"next": SECRET}), answer=SECRET), ["board:4"]),
        (show(FERRY, Chunk("ferry:1", text=f"{OPEN} ")), []),
    ],
)
def test_what_leaked_is_counted_and_named_once(leaks: Leaks, names: list[str]) -> None:
    assert (names, len(names)) == (leaks.list_leaked(), leaks.count_leaks("anywhere"))
    assert "ferry:1" not in leaks.list_leaked()


def test_words_that_only_the_case_lists_are_counted_once() -> None:
    case = make_case([CANARY])
    leaks = show(FERRY, answer=f"It is {CANARY}.", case=case)
    assert [CANARY] == leaks.list_leaked()
    held = Chunk("loose:1", text=f"Write down {CANARY}.")
    assert ["loose:1"] == show(held, answer=f"It is {CANARY}.", case=case).list_leaked()


def test_a_public_chunk_that_holds_a_canary_is_no_leak_of_a_stage() -> None:
    reported = Chunk("note:1", text=f"  The code word of the picnic is {CANARY}. ")
    assert [] == show(reported, case=make_case([CANARY])).list_leaked()


def test_the_cause_names_what_leaked() -> None:
    stages = (Stage("retrieved", (BOARD, FERRY)), Stage("context", (BOARD, FERRY)))
    observation = Observation("q1", "x", answer=SECRET, stages=stages)
    run = assay.score(GoldenSet((make_case(),)), [observation], corpus=CORPUS).run
    assert 1.0 == run.scoring.configs["x"].table.columns["visibility_leaks"].values[0]
    (attribution,) = attribute_run(run, "x").values()
    expected = "1 chunk or passage that this user must not see, in retrieved, context, the answer: board:4"
    assert expected == attribution.evidence[0]
