"""A wrong value has one cause, whatever else the context has: quantities, dates, codes, numbers to ring, names."""

from __future__ import annotations

import pytest

from assay import api
from assay.attribution.attribute_run import attribute_run
from assay.attribution.rules.generation_causes import WRONG_VALUE
from assay.records.findings import Attribution
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage
from assay.runs.score_result import ScoreResult

TEXTS = {
    "hall": "The hall is let for 340 euros an evening. The stage door opens with 6294. The caretaker is reached at "
    "0384 661 270. The piano is tuned by Ines Rybak.",
    "rules": "The lease has the number KV-815 and ends on 3 October 2028. A choir of 26 litres of voices never came.",
    "store": "The store opens at 08:15. A barrel holds 62 litres; its deposit is 14 euros. Up to 430 guests come.",
}


def attribute(question: str, facts: tuple[str, ...], chunk_id: str, answer: str) -> Attribution:
    case = Case("a", question, must_have=facts, evidence=(Evidence(({"chunk_id": chunk_id},)),))
    chunks = tuple(Chunk(name, text=text) for name, text in TEXTS.items())
    stages = (Stage("dense", chunks), Stage("context", chunks))
    observation = Observation("a", "c", stages=stages, answer=answer, citations=(chunk_id,))
    corpus = Corpus({name: CorpusChunk(name, text=text) for name, text in TEXTS.items()})
    scored: ScoreResult = api.score(GoldenSet((case,)), [observation], corpus=corpus)
    return attribute_run(scored.run, "c")["a"]


@pytest.mark.parametrize(
    ("question", "fact", "chunk_id", "sentence", "values"),
    [
        (
            "What does the hall cost an evening?",
            "340 euros",
            "hall",
            "The hall is let for {} an evening.",
            # in no text, with the number of another text, with its unit, of another thing, in another unit
            ("380 euros", "430 euros", "14 euros", "340 dollars"),
        ),
        ("What opens the stage door?", "6294", "hall", "The stage door opens with {}.", ("6249", "6293", "430")),
        (
            "How do I reach the caretaker?",
            "0384 661 270",
            "hall",
            "You reach the caretaker at {}.",
            ("0384 661 207", "0384 616 270", "0384 661 27"),
        ),
        ("Who tunes the piano?", "Ines Rybak", "hall", "The piano is tuned by {}.", ("Ines Ryback", "Olga Stein")),
        (
            "Which number has the lease?",
            "KV-815",
            "rules",
            "The lease has the number {}.",
            ("KV-851", "KW-815"),
        ),
        (
            "When does the lease end?",
            "3 October 2028",
            "rules",
            "The lease ends on {}.",
            ("13 October 2028", "3 May 2028", "3 October 2026"),
        ),
        ("When does the store open?", "08:15", "store", "The store opens at {}.", ("08:51", "09:15", "8:15 pm")),
    ],
)
def test_another_value_in_the_place_of_a_fact_is_a_wrong_one(
    question: str, fact: str, chunk_id: str, sentence: str, values: tuple[str, ...]
) -> None:
    assert "pass" == attribute(question, (fact,), chunk_id, sentence.format(fact)).verdict
    for value in values:
        attribution = attribute(question, (fact,), chunk_id, sentence.format(value))
        assert ("generator", WRONG_VALUE, "wrong_value") == (
            attribution.cause,
            attribution.subcause,
            attribution.subtype,
        ), value
        assert f"missing: {fact} (stated instead: {value})" in attribution.evidence


BARREL = ("How much does a barrel hold, and what is its deposit?", ("62 litres", "14 euros"), "store")


@pytest.mark.parametrize("value", ["26 litres", "64 litres"])
def test_a_wrong_value_next_to_a_right_one_is_no_part_of_an_answer(value: str) -> None:
    attribution = attribute(*BARREL, f"A barrel holds {value}. The deposit of a barrel is 14 euros.")
    assert (WRONG_VALUE, "wrong_value") == (attribution.subcause, attribution.subtype)
    assert f"missing: 62 litres (stated instead: {value})" in attribution.evidence


@pytest.mark.parametrize(
    "answer",
    [
        "The deposit of a barrel is 14 euros.",
        # a value of the kind that is missing, which the context has for what the sentence says
        "The deposit of a barrel is 14 euros. A choir of 26 litres of voices never came.",
    ],
)
def test_a_value_of_something_else_stands_in_no_place_of_a_fact(answer: str) -> None:
    attribution = attribute(*BARREL, answer)
    assert ("partial", "incompleteness") == (attribution.subcause, attribution.subtype)
    assert "missing: 62 litres" in attribution.evidence


def test_a_number_in_no_facts_place_is_invented() -> None:
    attribution = attribute(
        "Who tunes the piano?", ("Ines Rybak",), "hall", "The piano is tuned on 7 days of each year by a firm."
    )
    assert ("invented", "hallucination") == (attribution.subcause, attribution.subtype)
    assert "not in the context: 7 days" in attribution.evidence


def test_a_fact_that_is_negated_is_not_evidence_that_was_ignored() -> None:
    attribution = attribute(
        "Who tunes the piano?", ("tuned by Ines Rybak",), "hall", "The piano is not tuned by Ines Rybak."
    )
    assert ("generator", "denied_fact") == (attribution.cause, attribution.subcause)
    assert attribution.evidence[1].startswith("contradicted: tuned by Ines Rybak")
    assert "fewer chunks" not in attribution.fix


def test_a_cut_text_is_no_error_of_reasoning() -> None:
    case = Case("a", "What is the deposit?", must_have=("14 euros",), evidence=(Evidence(({"chunk_id": "store"},)),))
    whole, cut = Chunk("store", text=TEXTS["store"]), Chunk("store", text=TEXTS["store"][:40])
    stages = (Stage("dense", (whole,)), Stage("context", (cut,)))
    observation = Observation(
        "a", "c", stages=stages, answer="No deposit is named for the barrel.", citations=("store",)
    )
    attribution = attribute_run(api.score(GoldenSet((case,)), [observation]).run, "c")["a"]
    assert ("retrieval_fault", "context_builder", "text_truncated") == (
        attribution.verdict,
        attribution.cause,
        attribution.subcause,
    )
    assert "" == attribution.subtype


@pytest.mark.parametrize(
    ("facts", "text", "answer", "other"),
    [
        (
            ("09:15", "12:45"),
            "Tours run from 09:15 to 12:45. The shop opens at 14:30.",
            "Tours run from 09:15 to 14:30.",
            "09:15 to 14:30",
        ),
        (
            ("18 kg", "25 kg"),
            "A canoe weighs 18 kg to 25 kg. A kayak weighs 31 kg.",
            "A canoe weighs 18 kg to 31 kg.",
            "18 kg to 31 kg",
        ),
    ],
)
def test_a_range_with_one_wrong_end_is_a_wrong_value_and_no_part_of_the_answer(
    facts: tuple[str, ...], text: str, answer: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TEXTS, "hall", text)
    attribution = attribute("When, or how much?", facts, "hall", answer)
    assert ("generator", WRONG_VALUE) == (attribution.cause, attribution.subcause)
    assert any(f"(stated instead: {other})" in fact for fact in attribution.evidence)


def test_a_range_of_which_both_ends_are_expected_is_in_no_facts_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TEXTS, "hall", "Tours run from 09:15 to 12:45 and cost 7 euros.")
    attribution = attribute(
        "When are tours, and at what price?", ("09:15", "12:45", "7 euros"), "hall", "From 09:15 to 12:45."
    )
    assert "partial" == attribution.subcause


@pytest.mark.parametrize(("valid_to", "cause"), [("2025-12-31", "stale_index"), (None, "generator")])
@pytest.mark.parametrize("answer", ["A berth costs 31 euros a night.", "31 euros."])
def test_a_value_that_only_a_superseded_text_has_comes_from_the_index(
    valid_to: str | None, cause: str, answer: str
) -> None:
    texts = {"berths": "A berth costs 38 euros a night.", "old-list": "In last season a berth costs 31 euros a night."}
    ends = {"berths": None, "old-list": valid_to}
    corpus = Corpus({name: CorpusChunk(name, text, document=name, valid_to=ends[name]) for name, text in texts.items()})
    case = Case("a", "What is a berth?", must_have=("38 euros",), evidence=(Evidence(({"chunk_id": "berths"},)),))
    chunks = tuple(Chunk(name, text=text) for name, text in texts.items())
    observation = Observation("a", "c", stages=(Stage("bm25", chunks), Stage("context", chunks)), answer=answer)
    scored: ScoreResult = api.score(GoldenSet((case,), as_of="2026-05-01"), [observation], corpus=corpus)
    attribution = attribute_run(scored.run, "c")["a"]
    assert cause == attribution.cause


@pytest.mark.parametrize(("cited", "is_told"), [(("rules-2024",), True), (("rules-2024", "hours"), False), ((), False)])
def test_what_a_wrong_answer_cites_alone_and_is_no_longer_in_force_comes_from_the_index(
    cited: tuple[str, ...], is_told: bool
) -> None:
    texts = {
        "rules": "Boats may be hired by 4 members at a time.",
        "rules-2024": "Boats may be hired by anybody with a pass.",
        "hours": "Boats are hired out from April to October.",
    }
    ends = {"rules-2024": "2025-01-01"}
    corpus = Corpus(
        {name: CorpusChunk(name, text, document=name, valid_to=ends.get(name)) for name, text in texts.items()}
    )
    fact = "4 members"
    case = Case("a", "Who may hire boats?", must_have=(fact,), evidence=(Evidence(({"chunk_id": "rules"},)),))
    chunks = tuple(Chunk(name, text=texts[name]) for name in ("rules-2024", "hours"))
    stages = (Stage("bm25", chunks), Stage("context", chunks))
    answer = "Anybody with a pass may hire boats."
    observation = Observation("a", "c", stages=stages, answer=answer, citations=cited)
    run = api.score(GoldenSet((case,), as_of="2026-05-01"), [observation], corpus=corpus).run
    attribution = attribute_run(run, "c")["a"]
    assert is_told == ("the answer cites rules-2024, superseded, and nothing else" in attribution.evidence[0])
    assert not is_told or ("stale_index", "medium") == (attribution.cause, attribution.confidence)


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        ("15 euros", "A lesson costs 18 euros."),
        ("thứ Năm, 9 giờ", "Lớp học lúc 10 giờ thứ Năm ạ."),
        ("0384 661 270", "Call 0384 661 207."),
    ],
)
def test_a_wrong_value_is_the_cause_where_no_evidence_is_required_and_no_stage_reported(fact: str, answer: str) -> None:
    scored = api.score(GoldenSet((Case("a", "?", must_have=(fact,)),)), [Observation("a", "c", answer=answer)])
    attribution = attribute_run(scored.run, "c")["a"]
    assert ("generator", WRONG_VALUE, "low") == (attribution.cause, attribution.subcause, attribution.confidence)
    assert fact in attribution.evidence[0]


def test_what_states_no_value_in_place_of_a_fact_has_no_such_cause() -> None:
    scored = api.score(GoldenSet((Case("a", "?", must_have=("15 euros",)),)), [Observation("a", "c", answer="Ask us.")])
    assert "insufficient_trace" == attribute_run(scored.run, "c")["a"].cause


@pytest.mark.parametrize("unit", ["EUR", "euros"])
def test_a_value_of_a_passage_that_no_label_names_is_told_with_it(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    monkeypatch.setitem(TEXTS, "fees", f"Castration of a tomcat costs 95 {unit}.")
    monkeypatch.setitem(TEXTS, "old", f"Until last year the castration of a tomcat cost 75 {unit}.")
    cause = attribute(
        "How much is castration of a tomcat?", (f"95 {unit}",), "fees", f"Castration of a tomcat costs 75 {unit}."
    )
    assert f"missing: 95 {unit} (stated instead: 75 {unit})" in cause.evidence
    assert any(fact.startswith("old, which no label names, says") for fact in cause.evidence), cause.evidence
