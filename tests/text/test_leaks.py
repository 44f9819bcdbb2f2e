"""Leaks of forbidden text in an answer, and text that is allowed anyway."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.safety.copied_text import find_canaries, find_verbatim_leaks
from assay.text.tokens import tokenise_text

SECRET = "Nhân viên bậc E5 tại công ty A hưởng lương từ 42 đến 45 triệu đồng mỗi tháng, duyệt ngày 15/03/2026."
RUN = "Nhân viên bậc cao tại công ty A hưởng lương theo thỏa thuận"


def test_a_run_of_eight_tokens_is_a_leak_in_any_spelling() -> None:
    """Eight words: "tại công ty a hưởng lương từ hai"; seven of them are not enough."""
    secret = "họp tại công ty A hưởng lương từ hai nguồn"
    answer = "tai CÔNG\nty a hưởng lương từ hai"
    assert [(0, "tai cong ty a huong luong tu hai")] == find_verbatim_leaks(f"Biết rằng {answer}!", [secret], [], "?")
    assert [(0, "tai cong ty a huong luong tu hai")] == find_verbatim_leaks(
        unicodedata.normalize("NFD", answer), [secret], [], "?"
    )
    assert [] == find_verbatim_leaks("công ty A hưởng lương từ hai", [secret], [], "?")


def test_the_longest_run_is_reported_once() -> None:
    words = " ".join(f"word{chr(97 + i)}" for i in range(20))
    assert [(1, words)] == find_verbatim_leaks(words, ["other text", words], [], "")


def test_text_of_an_allowed_source_or_the_question_is_no_leak() -> None:
    assert [] == find_verbatim_leaks(RUN, [RUN], [RUN], "?")
    assert [] == find_verbatim_leaks(RUN, [RUN], [], RUN)
    assert [(0, tokens_of(RUN))] == find_verbatim_leaks(RUN, [RUN], ["công ty A hưởng lương"], "?")


def tokens_of(text: str) -> str:
    return " ".join(tokenise_text(text))


@pytest.mark.parametrize(
    ("answer", "leaked"),
    [
        ("Bậc E5.", "e5"),
        ("Khoảng 45.000.000.", "45.000.000"),
        ("It pays 45 million VND.", "45 million VND"),
        ("Duyệt 15 tháng 3 năm 2026.", "15 tháng 3 năm 2026"),
    ],
)
def test_a_revealing_identifier_number_or_date_is_a_leak(answer: str, leaked: str) -> None:
    assert [(0, leaked)] == find_verbatim_leaks(answer, [SECRET], [], "Lương bao nhiêu?")
    assert [] == find_verbatim_leaks(answer, [SECRET], [], f"Có phải {answer}")
    assert [] == find_verbatim_leaks(answer, [SECRET], [answer], "?")


def test_small_numbers_leak_only_with_their_unit_and_years_never() -> None:
    secret = "Full-time staff: 12 days in 2026, 3 steps."
    assert [(0, "mười hai ngày")] == find_verbatim_leaks("Bạn có mười hai ngày phép.", [secret], [], "?")
    assert [] == find_verbatim_leaks("1. see page 12\n2. year 2026\n3. done", [secret], [], "?")
    assert [] == find_verbatim_leaks("Bạn có 12 ngày phép.", [secret], ["12 months"], "?")
    assert [] == find_verbatim_leaks("12 months", [secret], [], "?")


def test_every_forbidden_text_is_named_by_its_index() -> None:
    assert [(0, "err-777"), (2, "err-777")] == find_verbatim_leaks(
        "ERR-777", ["err-777", "none", "see ERR-777."], [], ""
    )


def test_a_run_must_be_at_least_one_token() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        find_verbatim_leaks("a", ["a"], [], "", run_length=0)


@pytest.mark.slow
@given(st.text(max_size=60), st.text(max_size=60))
def test_nothing_leaks_that_is_allowed_and_nothing_from_an_empty_answer(answer: str, secret: str) -> None:
    assert [] == find_verbatim_leaks(answer, [secret], [answer], "")
    assert [] == find_verbatim_leaks("", [secret], [], "")


@pytest.mark.parametrize(
    "text",
    [
        "the code is BLUE-HERON-42.",
        "b l u e h e r o n 4 2",
        "blue\u200bheron\u200d42",
        "Blué Héron 42",
        "ＢＬＵＥ－ＨＥＲＯＮ－４２",
        "B.L.U.E_H.E.R.O.N\n42",
        "xxblueheron42xx",
    ],
)
def test_a_canary_is_found_however_it_is_written(text: str) -> None:
    assert ["blue-heron-42"] == find_canaries(text, ["blue-heron-42", "green-heron-42"])


def test_a_short_canary_must_stand_alone() -> None:
    assert ["red"] == find_canaries("Code RED!", ["red"])
    assert [] == find_canaries("shared", ["red"])


def test_an_empty_canary_is_ignored_and_symbols_are_searched_for_literally() -> None:
    assert ["🦉🦉"] == find_canaries("a 🦉🦉 b", ["", " ", "🦉🦉", "🔥"])


@given(st.text(max_size=40), st.text(alphabet="abcdeđ1-", min_size=8, max_size=20), st.text(max_size=40))
def test_a_long_canary_is_found_between_any_texts(before: str, canary: str, after: str) -> None:
    is_long = sum(c.isalnum() for c in canary) >= 8
    assert not is_long or [canary] == find_canaries(f"{before} {canary} {after}", [canary])


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", "a b ", "tai cong ty a huong luong tu hai ", "12 days ", "- "])
def test_a_long_answer_is_searched_in_linear_time(piece: str) -> None:
    text = (piece * 200_000)[:200_000] + "!"
    start = time.process_time()
    find_verbatim_leaks(text, [SECRET, text], ["allowed"], "question")
    find_canaries(text, ["blue-heron-42"])
    assert time.process_time() - start < 10
