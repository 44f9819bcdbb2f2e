"""Keyword, exact and numeric scores: token boundaries, comparison by value, negation and hedging."""

from __future__ import annotations

import time
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.read_texts import score_keywords

from assay.text.facts.answer_matching import KeywordScore, is_exact_match, partition_facts
from assay.text.facts.stated_quantities import judge_quantities


def test_an_answer_with_the_old_and_the_current_value_scores_on_the_current_one() -> None:
    """A rubric that looks for the incorrect value first would score this answer 0."""
    grade = score_keywords("Revenue increased from $1.2M to $1.4M.", ["$1.4M"], ["$1.2M"])
    assert KeywordScore(1.0, ("$1.4M",), (), ("$1.2M",), hedged=False, negated=False) == grade


@pytest.mark.parametrize(
    ("answer", "keyword"),
    [
        ("mười hai ngày phép", "12 ngày"),
        ("muoi hai ngay phep", "12 ngày"),
        ("12 days of leave", "12 ngày"),
        ("a 12-day allowance", "12 days"),
        ("10 working days", "10 days"),
        ("1.400.000 USD", "$1.4M"),
        ("1,4 triệu đồng", "1.400.000 đồng"),
        ("26.000 đồng", "26000 đồng"),
        ("26.000", "26.000"),
        ("ngày 31 tháng 12 năm 2026", "31/12/2026"),
        ("one external monitor", "1 external monitor"),
        ("gửi lại theo Retry-After khi gặp ERR-429", "err-429"),
        ("Hoà bình", "hòa bình"),
        ("quan ly duyet", "Quản lý"),
        (unicodedata.normalize("NFD", "Quản lý duyệt"), "quản lý"),
        ("uses C++ today", "C++"),
        ("≥ 14", "≥"),
        ("không quá 12 ngày", "12 ngày"),
        ("not only 12 days but more", "12 days"),
        ("not 14 days. It is 12 days.", "12 days"),
    ],
)
def test_a_keyword_is_found_in_another_spelling(answer: str, keyword: str) -> None:
    assert 1.0 == score_keywords(answer, [keyword]).score


@pytest.mark.parametrize(
    ("answer", "keyword"),
    [
        ("21.4", "1.4"),
        ("$11.4M", "$1.4M"),
        ("1.4M", "1.4"),
        ("12 nhân viên", "12 ngày"),
        ("12 tháng", "12 ngày"),
        ("12%", "12 ngày"),
        ("muối", "muỗi"),
        ("ERR-4290", "ERR-429"),
        ("theatre", "heat"),
        ("", "x"),
    ],
)
def test_what_only_looks_like_the_keyword_is_not_found(answer: str, keyword: str) -> None:
    assert 0.0 == score_keywords(answer, [keyword]).score


@pytest.mark.parametrize(
    "answer",
    [
        "không phải 12 ngày mà là 14 ngày",
        "It is not 12 days.",
        "You don't get 12 days.",
        "14 days rather than 12 days",
        "14 thay vì 12 ngày",
        "12 ngày là sai",
        "12 days is no longer correct",
    ],
)
def test_a_negated_keyword_is_flagged_and_does_not_count(answer: str) -> None:
    grade = score_keywords(answer, ["12 ngày"])
    assert (0.0, True) == (grade.score, grade.negated)


@pytest.mark.parametrize(
    "answer", ["12 or 14 days", "14 hoặc 12 ngày", "maybe 12 days", "Có thể là 12 ngày", "10, 12 or 14 days"]
)
def test_a_hedged_keyword_is_flagged_and_counts(answer: str) -> None:
    grade = score_keywords(answer, ["12 ngày"])
    assert (1.0, True) == (grade.score, grade.hedged)


@pytest.mark.parametrize(
    "answer",
    [
        "It was 14 before; it is 10 now.",
        "Last year it was 14, it is now 10.",
        "Previously, 14 days. Now 10.",
        "Năm ngoái là 14 ngày phép cho mỗi nhân viên toàn thời gian, hiện tại là 10",
        "Trước đây là 14, nay là 10",
        "Là 14 ngày trước đây, nay còn 10 ngày",
        "Nam ngoai la 14, hien tai la 10",
    ],
)
def test_a_value_of_the_past_is_flagged_with_or_without_a_pattern_for_the_present_one(answer: str) -> None:
    for incorrect in ((), ("10",)):
        grade = score_keywords(answer, ["14"], incorrect)
        assert (1.0, True) == (grade.score, grade.hedged)


@pytest.mark.parametrize(
    "answer",
    ["For 2024 it is 14 days; the limit is now 10.", "It is 14 and now 10", "Mức 2024 là 14 ngày, hiện nay 10 ngày"],
)
def test_a_current_incorrect_value_is_flagged_if_the_correct_one_may_be_outdated(answer: str) -> None:
    grade = score_keywords(answer, ["14"], ["10"])
    assert (1.0, ("10",), True) == (grade.score, grade.incorrect_matched, grade.hedged)


@pytest.mark.parametrize(
    "answer",
    [
        "It was 10 before; it is 14 now.",
        "It used to be 10; it is now 14.",
        "Trước đây là 10, nay là 14.",
        "It is 14 now, not 10 as before.",
        "It was 10, it is 14.",
        "Take 14 days before the deadline, and file it now.",
        "14 ngày, nghỉ trước khi hết năm, 10 ngày báo trước.",
    ],
)
def test_a_value_that_holds_now_is_not_flagged_for_one_of_the_past(answer: str) -> None:
    grade = score_keywords(answer, ["14"], ["10"])
    assert (1.0, False) == (grade.score, grade.hedged)


@pytest.mark.parametrize("answer", ["12 or more days", "12 days, or a pro rata share", "12 ngày hoặc 96 giờ"])
def test_an_or_without_a_rival_is_no_hedge(answer: str) -> None:
    """96 hours is also correct, so it is not a rival."""
    assert not score_keywords(answer, ["12", "96 giờ"]).hedged


def test_listing_every_value_is_seen_as_hedging_with_the_wrong_ones_named() -> None:
    grade = score_keywords("$1.2M, $1.4M or $1.6M", ["$1.4M"], ["$1.2M", "$1.6M"])
    assert (1.0, ("$1.2M", "$1.6M"), True) == (grade.score, grade.incorrect_matched, grade.hedged)


def test_incorrect_patterns_count_only_where_correct_keywords_are_not_found() -> None:
    """Any: one of two keywords gives 1/2. All: the missing one lets the incorrect pattern count."""
    answer = "MFA is needed for email, passwords have 10 characters"
    assert 0.5 == score_keywords(answer, ["MFA", "VPN"], ["10 characters"]).score
    assert 0.0 == score_keywords(answer, ["MFA", "VPN"], ["10 characters"], "all").score
    assert 0.5 == score_keywords(answer, ["MFA", "VPN"], ["12 characters"], "all").score
    assert 0.0 == score_keywords(answer, ["VPN"], ["10 characters"]).score
    assert 0.0 == score_keywords(answer, ["VPN"], []).score


def test_a_negated_incorrect_pattern_is_not_said() -> None:
    assert () == score_keywords("14, not 10 characters", ["14"], ["10 characters"]).incorrect_matched


def test_without_correct_keywords_there_is_no_score_and_empty_ones_are_left_out() -> None:
    assert score_keywords("x", [], ["x"]).score is None
    assert score_keywords("x", ["", " "]).score is None
    assert 1.0 == score_keywords("x", ["", "x", "x"]).score


@given(st.text(), st.lists(st.text(max_size=8), max_size=4), st.lists(st.text(max_size=8), max_size=4))
def test_keyword_scores_stay_in_range_and_every_keyword_is_accounted_for(
    answer: str, correct: list[str], incorrect: list[str]
) -> None:
    grade = score_keywords(answer, correct, incorrect)
    assert grade.score is None or 0 <= grade.score <= 1
    assert set(grade.matched) | set(grade.missing) <= set(correct)
    assert not set(grade.matched) & set(grade.missing)


@pytest.mark.parametrize(
    ("answer", "reference", "same"),
    [
        (" **12 Ngày.** ", "12 ngày", True),
        (unicodedata.normalize("NFD", "Có"), "có", True),
        ("(a  b)", "A B", True),
        ("co", "có", False),
        ("$5", "5", False),
        ("12 ngày phép", "12 ngày", False),
        ("", "", False),
        ("...", "", False),
    ],
)
def test_exact_answers_are_compared_but_for_case_spacing_and_outer_marks(
    answer: str, reference: str, same: bool
) -> None:
    assert same is is_exact_match(answer, reference)


@pytest.mark.parametrize(
    ("answer", "reference", "tolerance", "expected"),
    [
        ("Tối đa 5 ngày", "five days", 0, True),
        ("12%", "12", 0, True),
        ("12", "12%", 0, True),
        ("12 ngày", "12%", 0, False),
        ("1.400.000", "1.4M", 0, True),
        ("26.000 đồng", "26,000 VND", 0, True),
        ("$1.45M", "$1.4M", 50_000, True),
        ("$1.46M", "$1.4M", 50_000, False),
        ("0.3", "0.1", 0.2, True),
        ("12 and 5", "12 of 14", 0, False),
        ("not 12 but 14", "12", 0, False),
        ("31 tháng 12 năm 2026", "31/12/2026", 0, True),
        ("30/12/2026", "31/12/2026", 5, False),
        ("12/2026", "31/12/2026", 0, False),
        ("31/12/2026", "12/2026", 0, True),
        ("12 ngày", "12 ngày một năm", 0, True),
        ("anything", "no number here", 0, None),
        ("", "5", 0, False),
    ],
)
def test_numbers_are_matched_by_value_and_unit(
    answer: str, reference: str, tolerance: float, expected: bool | None
) -> None:
    judgments = judge_quantities(answer, reference, Decimal(str(tolerance)))
    states = {judgment.state for judgment in judgments}
    assert expected is (states <= {"stated", "unknown"} if states else None)


def test_facts_are_found_as_keywords_are() -> None:
    answer = "Nhân viên được chuyển tối đa năm ngày phép, quản lý duyệt, không phải HR."
    assert (["5 ngày", "quản lý duyệt"], ["HR", "10 ngày"]) == partition_facts(
        answer, ["5 ngày", "quản lý duyệt", "HR", "10 ngày", ""]
    )


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", "not 12 days ", "12 or 14 ", "maybe ", "a b ", "khong phai 12 ngay, "])
def test_grading_a_million_characters_takes_a_moment(piece: str) -> None:
    """The first 200,000 characters are read, in linear time; quadratic work would take minutes."""
    text = (piece * 1_000_000)[:1_000_000] + "!"
    start = time.process_time()
    score_keywords(text, ["12 days", "a b"], ["14"])
    assert time.process_time() - start < 5


def test_bare_adjective_denies_a_number_and_only_describes_a_thing() -> None:
    wrong_token = "401: yêu cầu không có token, hoặc token sai hay đã hết hạn."
    assert 1.0 == score_keywords(wrong_token, ["token"], []).score
    assert 0.0 == score_keywords("Con số 12 ngày sai.", ["12 ngày"], []).score
    assert 0.0 == score_keywords("The passphrase is wrong.", ["passphrase"], []).score
