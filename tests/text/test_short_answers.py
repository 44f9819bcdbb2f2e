"""Answers of a few words are judged with their question, and bounds agree with the values on their side."""

from __future__ import annotations

import pytest
from benchmarks.facts import read_short_answers

from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.claims.short_answers import score_short_answer
from assay.text.tokens import DocumentFrequencies

FREQUENCIES = DocumentFrequencies.from_texts([])
LEAVE = "Staff get 12 days of annual leave. Staff get 5 sick days."


def index(text: str) -> IndexedSources:
    return IndexedSources([("source", text)], FREQUENCIES)


def test_a_number_that_answers_another_question_is_not_supported() -> None:
    sick, annual = "How many sick days do staff get?", "How many days of annual leave do staff get?"
    assert "supported" != score_short_answer("12 days", sick, index(LEAVE)).verdict
    assert "supported" == score_short_answer("12 days", annual, index(LEAVE)).verdict
    assert score_short_answer("5 days", sick, index(LEAVE)).z > score_short_answer("12 days", sick, index(LEAVE)).z


def test_a_sentence_is_judged_without_the_question() -> None:
    claim = "Staff get 12 days of annual leave."
    assert score_support(claim, index(LEAVE)) == score_short_answer(claim, "How many sick days?", index(LEAVE))


@pytest.mark.parametrize("half", ["development", "untouched"])
def test_short_answers_are_told_apart(half: str) -> None:
    wrong = [answer for answer in read_short_answers()[half] if not answer.is_supported]
    called_supported = 0
    for answer in wrong:
        support = score_short_answer(answer.answer, answer.question, index(answer.source))
        called_supported += support.verdict == "supported"
    assert called_supported <= 0.15 * len(wrong)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("More than 100 people attended the fair.", "116 people attended the fair."),
        ("The fair cost less than $1 million in total.", "The fair cost $181,674 in total."),
        ("The hall is 1.5 km from the fair.", "The hall is 1500 m from the fair."),
    ],
)
def test_a_value_within_a_bound_or_in_another_unit_is_no_contradiction(claim: str, source: str) -> None:
    assert "contradicted" != score_support(claim, index(source)).verdict


def test_a_value_beyond_a_bound_is_a_contradiction() -> None:
    verdict = score_support("More than 100 people attended the fair.", index("87 people attended the fair.")).verdict
    assert "contradicted" == verdict


def test_quantities_of_all_sources_are_read_only_where_the_nearest_sentences_leave_it_open() -> None:
    claim, sources = "Staff get 12 days a year.", index(LEAVE)
    score_short_answer(claim, "How many days of annual leave?", sources)
    assert "stated_quantities" not in vars(sources)
    score_short_answer(claim, "How many sick days?", sources)
    assert "stated_quantities" in vars(sources)
