"""Similarity of an answer to a reference: values worked by hand, and properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.answer_similarity import compute_answer_similarity
from assay.text.tokens import DocumentFrequencies

NO_IDF = DocumentFrequencies.from_texts([])
QUESTION = "How much annual leave do staff get?"


def similarity(
    answer: str, reference: str, question: str = QUESTION, idf: DocumentFrequencies = NO_IDF
) -> float | None:
    return compute_answer_similarity(answer, reference, question, idf)


def test_shared_words_count_and_those_of_the_question_do_not() -> None:
    # {12 days, approv} against {12 days, year}: precision 1/2, recall 1/2.
    assert 0.5 == similarity("Staff get 12 days if approved", "12 days a year")


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("Twelve days.", "12 days"),
        ("Mười hai ngày.", "12 ngày"),
        ("1.4 triệu đồng", "1.400.000 đồng"),
        ("26.000", "26,000"),
        ("On 31/12/2026", "31 December 2026"),
        ("approved policies", "policy approves"),
    ],
)
def test_other_spellings_of_the_same_are_the_same(answer: str, reference: str) -> None:
    assert 1.0 == similarity(answer, reference)


@pytest.mark.parametrize(("answer", "reference"), [("15 days", "12 days"), ("12 months", "12 days"), ("", "12 days")])
def test_texts_without_shared_words_score_zero(answer: str, reference: str) -> None:
    assert 0.0 == similarity(answer, reference)


@pytest.mark.parametrize("reference", ["", "The of and.", "Annual leave", "…"])
def test_a_reference_that_adds_nothing_to_the_question_is_undefined(reference: str) -> None:
    assert similarity("12 days", reference) is None


def test_rare_words_weigh_more() -> None:
    idf = DocumentFrequencies.from_texts(["staff take holidays"] * 9 + ["quorum"])
    rare, common = similarity("quorum", "quorum holidays", idf=idf), similarity("holidays", "quorum holidays", idf=idf)
    assert rare is not None
    assert common is not None
    assert rare > common > 0


def test_diacritics_tell_words_apart_where_both_texts_have_them() -> None:
    assert 1.0 == similarity("ban quan ly", "bán quần lý", question="")
    apart = similarity("bạn quản lý", "bán quần lý", question="")
    assert apart is not None
    assert apart < 0.5


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30))
def test_similarity_is_a_share_or_undefined_and_symmetric(answer: str, reference: str, question: str) -> None:
    text = similarity(answer, reference, question)
    other_text = similarity(reference, answer, question)
    assert text is None or 0 <= text <= 1
    if text is not None and other_text is not None:
        assert text == pytest.approx(other_text)


@given(st.text(max_size=60))
def test_a_text_is_completely_similar_to_itself(text: str) -> None:
    assert similarity(text, text, "") in (None, 1.0)
