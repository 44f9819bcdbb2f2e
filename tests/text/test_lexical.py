"""Lexical ranks that can be checked by counting words."""

from __future__ import annotations

from assay.text.lexical_rank import compute_lexical_rank


def test_the_text_with_the_rare_word_of_the_question_ranks_first() -> None:
    assert 1 == compute_lexical_rank(
        "error ERR-429", ["ERR-429 means too many requests"], ["an error", "another error"]
    )


def test_a_code_is_one_word_and_not_its_parts() -> None:
    assert compute_lexical_rank("ERR-429", ["ERR 500 and 429 days"], ["nothing"]) is None


def test_diacritics_and_case_do_not_count() -> None:
    assert 1 == compute_lexical_rank("nghi phep nam", ["Nghỉ Phép Năm: 12 ngày"], ["Nghỉ ốm", "Làm việc từ xa"])


def test_a_text_with_fewer_words_of_the_question_ranks_below_those_with_more() -> None:
    assert 2 == compute_lexical_rank("annual leave days", ["days of rest"], ["annual leave days", "office"])


def test_no_shared_word_gives_no_rank() -> None:
    assert compute_lexical_rank("congés", ["annual leave"], ["sick leave"]) is None
    assert compute_lexical_rank("", ["annual leave"], []) is None
    assert compute_lexical_rank("leave", [], ["leave"]) is None


def test_the_best_of_several_texts_counts_and_ties_do_not_worsen_the_rank() -> None:
    assert 1 == compute_lexical_rank("leave", ["nothing here", "leave"], ["leave"])
