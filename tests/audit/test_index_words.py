"""The words under which a question is found are those of the question folded as a whole, however it is spaced."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from assay.audit.batch_rows import MAX_INDEXED_WORDS, index_words
from assay.text.normalisation import fold_text

QUESTIONS = st.text(
    st.one_of(st.characters(), st.sampled_from("aeiouđĐßſİ \t\n\x1c\x1f\u00a0\u200b\u0301\u00ad_-'`12")), max_size=80
)


@given(QUESTIONS)
def test_words_folded_one_by_one_are_those_of_the_folded_question(question: str) -> None:
    words = list(dict.fromkeys(re.findall(r"[^\W_]+", fold_text(question))))
    assert index_words(question).split() == words[:MAX_INDEXED_WORDS]


def test_a_question_of_many_words_is_found_under_the_first_ones() -> None:
    assert index_words(" ".join(map(str, range(1000)))).split() == [str(number) for number in range(MAX_INDEXED_WORDS)]
