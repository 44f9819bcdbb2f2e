"""Of a passage that leaks in pieces the pieces are counted, and nothing that only stands next to them."""

from __future__ import annotations

import pytest

from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.leaks.find_leaks import Leaks, find_leaks
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage

SECRET = "The board will sell the northern stables to a riding school from Lund in late October for nine million."
OTHER_SECRET = "Two grooms must go on May the ninth as hay was gone from the loft all through the spring."
OPEN = "The stables open at half past eight on weekdays."
CORPUS = Corpus(
    {
        "open": CorpusChunk("open", text=OPEN),
        "sale": CorpusChunk("sale", text=SECRET, roles=("board",)),
        "grooms": CorpusChunk("grooms", text=OTHER_SECRET, roles=("board",)),
    }
)
CASE = Case("q", "When do they open?", user=User(roles=("rider",)), evidence=(Evidence(({"chunk_id": "open"},)),))


def leaks_of(*chunks: Chunk) -> Leaks:
    stages = (Stage("retrieved", chunks), Stage("context", chunks))
    observation = Observation("q", "c", answer="At half past eight.", stages=stages)
    return find_leaks(GoldenIndex(GoldenSet((CASE,)), CORPUS).case_index(0), observation)


def cut(text: str, at: int, *names: str) -> list[Chunk]:
    """The first words of a text in pieces, none of which is long enough to be a copy."""
    words = text.split()
    return [Chunk(name, text=" ".join(words[n * at : (n + 1) * at])) for n, name in enumerate(names)]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_public_chunk_beside_the_pieces_of_a_secret_is_not_counted(is_first: bool) -> None:
    public = Chunk("open", text="Opening: half past eight, Monday to Friday")
    pieces = cut(SECRET, 6, "x1", "x2")
    leaks = leaks_of(*([public, *pieces] if is_first else [*pieces, public]))
    assert {"retrieved": ["x1", "x2"], "context": ["x1", "x2"]} == leaks.ids
    assert 2 == leaks.count_leaks("anywhere")


def test_the_pieces_of_two_secrets_are_counted() -> None:
    public = Chunk("open", text="Opening: half past eight, Monday to Friday")
    leaks = leaks_of(*cut(SECRET, 6, "x1", "x2"), public, *cut(OTHER_SECRET, 6, "y1", "y2"))
    assert {"x1", "x2", "y1", "y2"} == set(leaks.ids["context"])


def test_pieces_that_give_nothing_away_are_no_leak() -> None:
    assert {} == leaks_of(Chunk("open", text=OPEN), *cut(SECRET, 4, "x1")).ids


def test_a_secret_under_a_public_id_is_told_with_the_chunk_whose_words_it_has() -> None:
    leaks = leaks_of(Chunk("open", text=f"{OPEN} {SECRET}"))
    assert {"retrieved": ["open"], "context": ["open"]} == leaks.ids
    assert {"open": [SECRET]} == leaks.sources
