"""What an answer adds is explained by what the evidence says: its quote, wherever that is written, and the corpus."""

from __future__ import annotations

import pytest

from assay.metrics.answers.expected_text import assess_answer_text, list_quotes
from assay.metrics.cases.evidence_sentences import EvidenceSentences, list_sentences_around
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence
from assay.text.facts.stated_facts import judge_facts

_QUOTE = "In the off-season a mooring costs £30"
_TEXT = (
    "# Moorings\nAll are let by the week. In the off-season a mooring costs £30; dinghies pay half of that.\n"
    "| Boat | Calm season | Storm season |\n| --- | --- | --- |\n| Yawl | £41 | £37 |\n| Ketch | £52 | £48 |\n"
)


def test_the_quote_of_a_selector_counts_as_that_of_its_unit() -> None:
    of_unit = Evidence(any_of=({"document": "moorings"},), quote=_QUOTE)
    of_selector = Evidence(any_of=({"document": "moorings", "quote": _QUOTE},))
    ungraded = Evidence(any_of=({"document": "moorings", "quote": _QUOTE},), grade=0)
    texts = [list_quotes(Case("fee", "?", evidence=(unit,))) for unit in (of_unit, of_selector, ungraded)]
    assert texts == [[_QUOTE], [_QUOTE], []]
    assert list_quotes(Case("fee", "?", evidence=(of_unit, of_selector))) == [_QUOTE]


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("a mooring costs £30", ["In the off-season a mooring costs £30;", "Moorings"]),
        ("let by the week", ["All are let by the week.", "Moorings"]),
        ("LET by   the week", []),
        (
            "Yawl | £41",
            ["| Boat | Calm season | Storm season |\n| --- | --- | --- |\n| Yawl | £41 | £37 |", "Moorings"],
        ),
        ("a berth costs £30", []),
        ("", [_TEXT]),
    ],
)
def test_a_quote_stands_for_its_whole_sentence_or_row(quote: str, expected: list[str]) -> None:
    assert list_sentences_around(_TEXT, quote) == expected


@pytest.mark.parametrize(
    ("selector", "is_found"),
    [
        ({"document": "moorings", "quote": _QUOTE}, True),
        ({"chunk_id": "moorings:1", "quote": _QUOTE}, True),
        ({"document": "berths", "quote": _QUOTE}, False),
        ({"quote": _QUOTE}, False),
    ],
)
def test_the_corpus_says_the_rest_of_the_sentence(selector: dict[str, str | int], is_found: bool) -> None:
    corpus = Corpus({"moorings:1": CorpusChunk("moorings:1", text=_TEXT, document="moorings")})
    case = Case("fee", "What does it cost?", evidence=(Evidence(any_of=(selector,)),))
    assert bool(EvidenceSentences(corpus).list_sentences(case)) == is_found


def test_an_addition_of_the_evidence_leaves_nothing_open() -> None:
    case = Case("sauna", "When does the sauna open on Saturdays?", must_have=("16:00",))
    answer = "At 16:00; on Sundays it is 11:00."
    goods = [
        assess_answer_text(case, answer, sentences)
        for sentences in ((), ("The sauna opens at 16:00 on Saturdays and at 11:00 on Sundays.",))
    ]
    assert [quality.good for quality in goods if quality is not None] == [None, True]


@pytest.mark.parametrize(
    ("question", "fact", "source", "right", "wrong"),
    [
        (
            "What does a 3 m raft cost?",
            "£25",
            "Rafts up to 4 m: £25",
            "A raft of up to 4 m is £25.",
            "A raft of up to 9 m is £25.",
        ),
        ("What is a 6 kg parcel?", "€8", "Up to 10 kg: €8", "Up to 10 kg it is €8.", "Up to 2 kg it is €8."),
        (
            "What does a 7 m pole cost?",
            "€31",
            "Poles of 5 to 8 m: €31",
            "Poles of 5 to 8 m are €31.",
            "Poles of 1 to 4 m are €31.",
        ),
        (
            "What is the safe's code?",
            "77-K",
            "The code is 77-K and changes in May.",
            "It is 77-K. It changes in May.",
            "It is 77-K. It was replaced by engineers.",
        ),
    ],
)
def test_what_the_source_says_with_a_value_is_no_other_subject(
    question: str, fact: str, source: str, right: str, wrong: str
) -> None:
    case = Case("case", question, must_have=(fact,))
    qualities = [assess_answer_text(case, answer, (source,)) for answer in (right, wrong)]
    assert [quality.good is True for quality in qualities if quality is not None] == [True, False]


@pytest.mark.parametrize(
    ("question", "fact", "right", "wrong"),
    [
        (
            "Until when is the arboretum open in January?",
            "15:30",
            "In winter the arboretum is open until 15:30.",
            "In summer the arboretum is open until 15:30.",
        ),
        (
            "When does the arboretum close in August?",
            "20:00",
            "From May to September it closes at 20:00.",
            "From October to April it closes at 20:00.",
        ),
        (
            "What does my nine-year-old pay?",
            "£3",
            "Visitors under 12 pay £3.",
            "Visitors under 6 pay £3.",
        ),
        (
            "The train was 80 minutes late. How much do I get?",
            "25%",
            "25% of the fare, as the delay was over 60 minutes.",
            "25% of the fare, as the delay was over 120 minutes.",
        ),
    ],
)
def test_a_time_or_bound_that_holds_what_is_asked_is_no_other_one(
    question: str, fact: str, right: str, wrong: str
) -> None:
    assert [judge_facts(answer, [fact], question)[0].state for answer in (right, wrong)] == ["stated", "unknown"]


def test_a_value_per_what_the_evidence_counts_it_per_is_expected() -> None:
    case = Case("fee", "What is the smallest reminder fee?", must_have=("€7",))
    answer = "At least €7 for each week begun."
    evidence = ("A reminder costs at least €7 for each week begun.", "A reminder costs at least €7 for each letter.")
    goods = [assess_answer_text(case, answer, (sentence,)) for sentence in evidence]
    assert [quality.good for quality in goods if quality is not None] == [True, None]


@pytest.mark.parametrize(
    ("reference", "state"),
    [("No, the pool is shut from 1 to 9 August.", True), ("It is shut from 1 to 9 August.", None)],
)
def test_an_expected_no_denies_nothing_that_follows(reference: str, state: bool | None) -> None:
    case = Case("pool", "Is the pool open on 3 August?", reference=reference)
    quality = assess_answer_text(case, "No, the pool is shut from 1 to 9 August, Sundays too.")
    assert quality is not None
    assert quality.good is state
