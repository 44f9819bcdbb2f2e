"""Citations compared with the other chunks of the context."""

from __future__ import annotations

import pytest
from tests.metrics.answers import TEXTS, make_parsed_answer

from assay.metrics.citation_precision import score_citation_precision
from assay.records.observations import Chunk, Sentence, Stage
from assay.records.scores import NOT_APPLICABLE

LEAVE, CARRY = "Staff get 12 days of leave", "Five days carry over"


@pytest.mark.parametrize(
    ("answer", "citations", "precision"),
    [
        (f"{LEAVE} [carry].", ("carry",), 0.0),
        (f"{LEAVE} [leave]. {CARRY} [leave].", ("leave",), 0.5),
        (f"{LEAVE} [leave][carry][it].", ("leave", "carry", "it"), 1 / 3),
        (f"{LEAVE}. {CARRY}.", ("leave", "carry", "it"), 2 / 3),
        (f"{LEAVE} [leave] [ghost].", ("leave", "ghost"), 0.5),
    ],
)
def test_wrong_citations_cost_precision(answer: str, citations: tuple[str, ...], precision: float) -> None:
    outcome = score_citation_precision(make_parsed_answer(answer, citations=citations))
    assert pytest.approx(precision) == outcome.value
    assert outcome.detail.startswith("wrong: ")


@pytest.mark.parametrize(
    ("answer", "citations"),
    [
        (f"{LEAVE} [leave]. {CARRY} [carry].", ("leave", "carry")),
        (f"{LEAVE}. {CARRY} [leave][carry].", ("leave", "carry")),
        (f"{LEAVE}; {CARRY.lower()} [leave][carry].", ("leave", "carry")),
        (f"{LEAVE}. {CARRY}.", ("leave", "carry")),
        ("Nobody knows when the canteen opens [it].", ("it",)),
    ],
)
def test_right_citations_in_other_styles_cost_none(answer: str, citations: tuple[str, ...]) -> None:
    assert score_citation_precision(make_parsed_answer(answer, citations=citations)).value == 1


def test_chunk_that_was_only_retrieved_is_no_source() -> None:
    shown = tuple(Chunk(name, text=text) for name, text in TEXTS.items())
    stages = (Stage("retrieved", (*shown, Chunk("travel", text=f"{LEAVE}."))), Stage("context", shown))
    reading = make_parsed_answer(f"{LEAVE} [travel].", citations=("travel",), stages=stages)
    assert score_citation_precision(reading)[1:] == (0.0, "", "wrong: travel was not in the context")


def test_two_chunks_of_the_same_text_are_both_sources() -> None:
    shown = tuple(Chunk(name, text=text) for name, text in (TEXTS | {"twin": TEXTS["leave"]}).items())
    reading = make_parsed_answer(
        f"{LEAVE} [twin] [leave].", citations=("twin", "leave"), stages=(Stage("context", shown),)
    )
    assert score_citation_precision(reading).value == 1


def test_citations_by_sentence_are_compared_with_their_sentence() -> None:
    sentences = (Sentence(f"{LEAVE}.", ("carry",)), Sentence(f"{CARRY}.", ("leave",)))
    reading = make_parsed_answer(f"{LEAVE}. {CARRY}.", citations=("leave", "carry"), sentences=sentences)
    assert score_citation_precision(reading).value == 0


@pytest.mark.parametrize(
    "changes", [{"citations": ()}, {"citations": None}, {"stages": ()}, {"answer": "I do not know."}]
)
def test_precision_needs_claims_citations_and_a_context(changes: dict[str, object]) -> None:
    values = {"answer": f"{LEAVE}.", "citations": ("leave",)} | changes
    assert score_citation_precision(make_parsed_answer(**values)).status == NOT_APPLICABLE  # type: ignore[arg-type]
