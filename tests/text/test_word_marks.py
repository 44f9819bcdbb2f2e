"""Words say which lists a text can match, and exclude none that it does match."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import try_examples

from assay.text.normalisation import fold_text
from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.behaviour_candidates import find_behaviour_candidates
from assay.text.refusals.lexicons_in_use import load_rules
from assay.text.refusals.word_marks import WordMarks, find_first_words

LEXICONS = [*load_rules("common").lexicons.values(), *load_rules("latin").lexicons.values()]
WORDS = sorted(
    {
        word
        for lexicon in LEXICONS
        for pattern in lexicon.patterns.values()
        for word in re.findall(r"[a-z]+", pattern.pattern)
    }
)
PHRASES = sorted(phrase for lexicon in LEXICONS for phrase in list(lexicon.phrases)[::40])
TEXTS = st.lists(
    st.sampled_from(WORDS) | st.sampled_from(["'", ", ", "; ", "_", "-", "12", "é", "¶", "xac ", "s"]), max_size=12
).flatmap(lambda parts: st.sampled_from([" ", ""]).map(lambda gap: gap.join(parts)))


@try_examples(400)
@given(TEXTS)
def test_words_exclude_no_list_that_matches(text: str) -> None:
    for lexicon in LEXICONS:
        for word_marks in (lexicon.marks,):
            marks = word_marks.mark(text)
            for name, bit in word_marks.bits.items():
                if lexicon.patterns[name].search(text):
                    assert marks & bit, (lexicon.language, name)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a? ?b", "b"),
        ("(?:very )*good", "very very good"),
        ("(?:re)+do", "redo"),
        ("x{2,3}y", "xxy"),
        ("who(?: is)?", "whois who is"),
        (r"\d+ days", "12 days"),
        (r"[^a]b", "cb"),
        ("(?<=the )end", "the end"),
        ("if(?= not)", "if not"),
        ("it's|we'll", "we'll"),
        (r"foo|(?i:bar)", "BAR"),
        ("(?:a|b(?:c|d) e)f", "bd ef"),
        ("e-?mail", "email"),
        ("[bc]a(?:t|ll)?s?", "calls"),
        ("[bc]a(?:t|ll)?s?", "ba"),
        ("ca[lt]+s?", "catts"),
        ("(?:wi|)th", "th"),
    ],
)
def test_patterns_of_a_user_are_never_excluded_wrongly(pattern: str, text: str) -> None:
    assert re.search(rf"\b(?:{pattern})\b", text)
    assert WordMarks({"list": find_first_words(pattern)}).mark(text)


def test_most_shipped_lists_are_told_by_their_words() -> None:
    languages = []
    for lexicon in LEXICONS:
        for pattern in lexicon.patterns.values():
            if pattern.pattern != "(?!)":
                languages.append(find_first_words(pattern.pattern[len(r"\b(?:") : -len(r")\b")]) is not None)
    assert sum(languages) >= 0.9 * len(languages)


@try_examples(15)
@given(
    st.lists(
        st.sampled_from([*PHRASES, "N/A", "Unknown.", "Which one?", "这里没有。", "12 days", "Der Hund und ich", ""]),
        min_size=260,
        max_size=300,
    )
)
def test_many_answers_are_marked_like_few(answers: list[str]) -> None:
    marked = find_behaviour_candidates(answers).tolist()
    assert marked == [bool(find_behaviour_candidates([answer])[0]) for answer in answers]
    for answer, is_marked in zip(answers, marked, strict=True):
        assert is_marked or detect_behaviour(answer).behaviour in ("answer", "")


@given(st.text(alphabet=[chr(code) for code in range(128)]))
def test_plain_text_folds_as_by_the_table(text: str) -> None:
    assert fold_text(text) == fold_text(text + "\u200d")  # a joiner is dropped, and sends the text by the table


def test_marks_alone_before_a_question_are_no_error() -> None:
    assert detect_behaviour("—" * 250 + " ở?").behaviour == "answer"
