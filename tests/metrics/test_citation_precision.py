"""Citations compared with the other chunks of the context."""

from __future__ import annotations

import pytest
from tests.metrics.answers import TEXTS, make_parsed_answer

import assay
from assay.metrics.grounding.citation_placement import judge_placements
from assay.metrics.grounding.citation_precision import score_citation_precision
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.golden_set import Behaviour, Case, GoldenSet
from assay.records.observations import Chunk, Observation, Sentence, Stage
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


def test_how_well_the_chunk_of_a_right_citation_supports_alone_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(ParsedAnswer, "support_by_chunks", lambda *arguments: compared.append(arguments))
    reading = make_parsed_answer(f"{LEAVE} [leave]. {CARRY} [carry].", citations=("leave", "carry"))
    assert (score_citation_precision(reading).value, compared) == (1, [])
    with pytest.raises(AttributeError):  # a wrong one is compared with the better chunk
        score_citation_precision(make_parsed_answer(f"{LEAVE} [carry].", citations=("carry",)))
    assert len(compared) == 1


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


NAMES = list(TEXTS)


def _number_of(name: str) -> int:
    return NAMES.index(name) + 1


@pytest.mark.parametrize("citations", [None, ("carry", "leave"), ("leave", "carry"), tuple(NAMES)])
def test_numbers_in_the_text_are_places_of_what_was_shown(citations: tuple[str, ...] | None) -> None:
    """Half of honest answers with bare numbers were accused, because a number was a place among the reported ones."""
    carry, leave = _number_of("carry"), _number_of("leave")
    reading = make_parsed_answer(f"{CARRY} [{carry}]. {LEAVE} [{leave}].", citations=citations)
    attached = {citation.name for citation in reading.citations if citation.claim is not None}
    assert {"leave", "carry"} <= attached
    if citations != tuple(NAMES):
        assert score_citation_precision(reading).value == 1


def test_numbers_of_the_answers_own_list_or_of_reported_citations_are_no_places() -> None:
    own = make_parsed_answer(f"{LEAVE} [1].\n\n[1] handbook.pdf", citations=None)
    assert all(citation.place == 0 for citation in own.citations)
    listed = make_parsed_answer(f"{LEAVE} [1]. {CARRY} [2].", citations=("carry", "leave"))
    assert ["carry", "leave"] == [citation.name for citation in listed.citations]


@pytest.mark.parametrize(("cited", "value"), [("leave", 1.0), ("carry", 0.0)])
def test_a_number_of_the_neighbour_costs_citation_correctness(cited: str, value: float) -> None:
    shown = tuple(Chunk(name, text=text) for name, text in TEXTS.items())
    answer = f"{LEAVE} [{_number_of(cited)}]."
    observation = Observation("q", "c", stages=(Stage("context", shown),), answer=answer, citations=(cited,))
    golden = GoldenSet((Case("q", "How many days of leave do staff get?"),))
    table = assay.score(golden, [observation], metrics=("citation_correctness(by=rules)",)).table("c")
    assert [value] == list(table.columns["citation_correctness(by=rules)"].values)
    assert ("bad_citation" in {name for row in table.checks for name in row.failed}) is (value < 1)


def test_a_surplus_citation_next_to_the_right_one_is_not_misplaced() -> None:
    assert () == judge_placements(make_parsed_answer(f"{LEAVE}.", citations=("leave", "it"))).misplaced
    assert (("it", "leave"),) == judge_placements(make_parsed_answer(f"{LEAVE}.", citations=("it",))).misplaced


def test_citations_are_compared_where_the_text_of_another_cited_chunk_is_unknown() -> None:
    """The other chunk was retrieved without its text, so that the texts of all that is cited are not known."""
    context = Stage("context", tuple(Chunk(name, text=text) for name, text in TEXTS.items()))
    stages = (Stage("retrieved", (Chunk("mail"),)), context)
    reading = make_parsed_answer(f"{LEAVE} [it]. {CARRY} [mail].", citations=("it", "mail"), stages=stages)
    assert isinstance(reading.cited_texts, str)
    assert (("it", "leave"),) == judge_placements(reading).misplaced
    assert "it, but leave" in score_citation_precision(reading).detail


@pytest.mark.parametrize(("behaviour", "outcome"), [("abstain", "PASS"), ("answer", "PASS_WITH_RISK")])
def test_an_expected_refusal_needs_no_report_of_its_citations(behaviour: Behaviour, outcome: str) -> None:
    """Many systems leave citations out of a refusal; no rule on citations is open because of it."""
    stages = (Stage("context", (Chunk("leave", text=f"{LEAVE}."),)),)
    cases = [Case("told", "How much leave?", reference=LEAVE), Case("other", "Who is the mayor?", behaviour=behaviour)]
    answers = [
        Observation("told", "app", answer=f"{LEAVE}.", stages=stages, citations=("leave",)),
        Observation("other", "app", answer="The documents do not say.", stages=stages),
    ]
    rule = {"metric": "citation_correctness(by=rules)", "at_least": 0.95}
    gate = {"rules": [rule], "exempt_from_correctness": "a test of citations"}
    scored = assay.score(GoldenSet(tuple(cases)), answers, gate=gate)
    assert scored.decision is not None
    assert outcome == scored.decision.outcome, scored.decision.reasons
