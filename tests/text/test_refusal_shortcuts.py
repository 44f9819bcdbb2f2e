"""What is left out to save time changes no decision: by the filters, the words split from bytes."""

from __future__ import annotations

import re

import pytest
from benchmarks.refusals import LANGUAGES, read_sentences
from benchmarks.train_refusal_model import FACT_LANGUAGES, read_answers
from hypothesis import given
from hypothesis import strategies as st

from assay.text import segmentation
from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.behaviour_candidates import find_behaviour_candidates, mark_answers_open_to_model
from assay.text.refusals.refusal_model_file import load_parameters
from assay.text.segmentation import split_clauses
from assay.text.word_runs import split_tokens, split_words, split_words_and_underscores

DENIALS = sorted({run for name in FACT_LANGUAGES for run in load_parameters(name).denials})
OTHER_WORDS = [
    "tower",
    "blue",
    "12",
    "¶",
    "n/a",
    "don't",
    "CANNOT",
    "và/or",
    '"x"',
    "3.5%",
    "Được",
    "không,",
    "lake;",
    "Ünter",
    "`can`t`",
    "—",
    "…",
    "built:",
    "and/not",
    "1/no",
]
CLAUSE_PIECES = (", ", ": ", ". ", " and", " but", " i", " va toi", " so", " tuy nhien", "the", "x", "; ", "however")
SENTENCES = [answer.text for name in FACT_LANGUAGES for answer in read_answers(name)[::5]]
texts = st.lists(st.sampled_from(DENIALS) | st.sampled_from(OTHER_WORDS), max_size=12).map(" ".join)
LATIN_TEXT = st.text(st.sampled_from("aZ9_é·¶'- \n\t\x1c\xa0²ªßđ資,.:"), max_size=40)


@given(st.lists(st.sampled_from(SENTENCES) | texts, min_size=1, max_size=3).map(" ".join), st.booleans())
def test_answers_that_no_filter_marks_are_plain_answers(answer: str, is_long: bool) -> None:
    if is_long:
        answer += " The tower has seven floors." * 120  # more than a model reads
    marked = find_behaviour_candidates([answer])[0]
    if not marked and not mark_answers_open_to_model([answer])[0]:
        assert detect_behaviour(answer) == detect_behaviour("12 days")
    assert detect_behaviour(answer) == detect_behaviour(answer, may_hold_phrase=bool(marked))


def test_one_filter_for_all_languages_marks_what_the_filters_of_each_mark() -> None:
    foreign = [answer.text for language in LANGUAGES for answer in read_sentences(language)["development"]]
    sentences = foreign + SENTENCES
    together = find_behaviour_candidates(sentences)
    for start in range(0, len(sentences), 100):
        alone = find_behaviour_candidates(sentences[start : start + 100])
        for text, is_marked, was_marked in zip(sentences[start:], together[start:], alone, strict=False):
            if is_marked != was_marked:
                assert detect_behaviour(text) == detect_behaviour(text, may_hold_phrase=bool(is_marked))


@given(LATIN_TEXT)
def test_words_split_from_bytes_are_those_that_the_patterns_find(text: str) -> None:
    assert split_words(text) == re.findall(r"[^\W_]+", text)
    assert split_words_and_underscores(text) == re.findall(r"\w+", text)
    assert split_tokens(text) == re.findall(r"[^\W_]+(?:['-][^\W_]+)*", text)


@given(st.lists(st.sampled_from(CLAUSE_PIECES)).map("".join))
def test_the_shorter_pattern_finds_the_same_clauses(text: str) -> None:
    clauses = list(split_clauses(text))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(segmentation, "_CLAUSE_OPENERS", ("",))  # in every text: the whole pattern is used
        assert clauses == list(split_clauses(text))


@pytest.mark.parametrize("answer", ["¯\\_(ツ)_/¯", "(ಠ_ಠ)", ":P", "...", "👍 👍"])
def test_what_holds_no_word_is_left_to_the_declaration_in_runs_of_any_size(answer: str) -> None:
    assert not detect_behaviour(answer, question="Where is the well?").is_decided_by_text
    assert find_behaviour_candidates([answer, *["The well is behind the barn."] * 300])[0]


@pytest.mark.parametrize("answer", ["C++", "B.", "(ア)", "是", "5", "¯\\_(ツ)_/¯ 12 days"])
def test_a_letter_alone_can_be_an_answer(answer: str) -> None:
    assert "answer" == detect_behaviour(answer, question="Which one is it?").behaviour
