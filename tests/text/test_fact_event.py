"""A value that an answer gives to an event, a thing or a condition of its own, and not to what is asked."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.facts.cues.event_cues import CONTRARY_STATES, OPPOSITE_EVENTS, OPPOSITE_EVENTS_IN_VIETNAMESE
from assay.text.facts.reading.opposite_words import WordPairs, find_opposite_event
from assay.text.facts.reading.read_text import read_text
from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("When does the kitchen close?", "9:30 pm", "The ovens are switched off at 9:30 pm."),
        ("When does the kitchen close?", "9:30 pm", "Ovens are switched off at 9:30 pm."),
        ("When does the kitchen close?", "9:30 pm", "We call a taxi, and the driver arrives at 9:30 pm."),
        ("When do classes start?", "on 1 September", "The list of names is printed on 1 September."),
        ("How long is the warranty?", "2 years", "Within 2 years we expect a successor."),
        ("How long is the warranty?", "2 years", "You get a badge after 2 years."),
        ("How much is an hour of tennis?", "€20", "A racket for an hour costs €20."),
        ("Which floor is the library on?", "third floor", "The toilets are on the third floor."),
        ("How many parking spaces are there?", "40", "There are 40 lockers."),
        ("How many parking spaces are there?", "40 spaces", "Of the spaces, 40 spaces are taken."),
        ("May I enter the yard?", "only with a helmet", "Only with a helmet do you get a lamp."),
        ("Who may swim?", "members over 12", "Anyone, though members over 12 have to show a card."),
        ("What does it cost?", "€9", "€9 is what a cabin takes."),
        ("How long is the way up?", "90 minutes", "On the way down it takes 90 minutes."),
        ("Bếp đóng lúc mấy giờ?", "21 giờ 30", "Nhân viên ăn tối lúc 21 giờ 30."),
        ("Bếp đóng lúc mấy giờ?", "21 giờ 30", "21 giờ 30 nhạc công dọn đàn."),
        ("Có bao nhiêu chỗ đậu?", "40", "Có 40 tủ khóa."),
        ("Gửi tối thiểu bao nhiêu?", "1 triệu đồng", "1 triệu đồng mới có quà."),
        ("Leo lên mất bao lâu?", "90 phút", "Xuống mất 90 phút."),
        ("Thẻ miễn lãi bao lâu?", "45 ngày", "Nếu trễ 45 ngày thì thẻ bị khóa."),
        ("Món nào ăn chay được?", "đậu hũ sốt nấm", "Đậu hũ sốt nấm có mỡ nên không ăn chay được."),
    ],
)
def test_a_value_with_an_event_of_its_own_is_open(question: str, fact: str, answer: str) -> None:
    assert "unknown" == judge_facts(answer, [fact], question)[0].state


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("When does the kitchen close?", "9:30 pm", "It shuts at 9:30 pm."),
        ("When does the kitchen close?", "9:30 pm", "The kitchen shuts at 9:30 pm, and the ovens are off by then."),
        ("When does the kitchen close?", "9:30 pm", "The notice says 9:30 pm."),
        ("How much leave do clerks get?", "25 days", "The handbook grants 25 days of leave."),
        ("How much is the entrance fee?", "€8", "The ticket is €8."),
        ("What is the rent?", "€850", "The landlord asks for €850."),
        ("How warm is the water?", "28 °C", "A pleasant 28 degrees."),
        ("How large is the tank?", "500 litres", "It has a volume of 500 litres."),
        ("How soon is the refund there?", "5 days", "The money is there within 5 days."),
        ("Which code is it?", "401", "The server sends 401."),
        ("How long is the way up?", "90 minutes", "The way up takes 90 minutes, the way down an hour."),
        ("Wie lange dauert es?", "5 Minuten", "Es dauert 5 Minuten."),
        ("Bể bơi mở lúc mấy giờ?", "9 giờ", "9h mới mở nha."),
        ("Học phí bao nhiêu?", "3 triệu đồng", "Trung tâm thu 3 triệu đồng."),
        ("Mấy giờ lấy thuốc?", "8 giờ", "Mời cô chú xuống quầy lúc 8 giờ."),
    ],
)
def test_what_is_asked_in_other_words_is_no_event_of_its_own(question: str, fact: str, answer: str) -> None:
    assert "stated" == judge_facts(answer, [fact], question)[0].state


def test_what_the_reference_says_too_is_no_event_of_its_own() -> None:
    question, answer = "When does the kitchen close?", "The ovens are switched off at 9:30 pm."
    states = [judge_facts(answer, ["9:30 pm"], question, reference)[0].state for reference in ("", answer)]
    assert ["unknown", "stated"] == states


@pytest.mark.parametrize(
    ("question", "answer", "pair"),
    [
        ("When can I pick it up?", "You drop off the dog at 8.", ("pick it up", None)),
        ("What does an adult pay?", "Kids pay £5.", ("adult", "Kids")),
        ("Vé người lớn bao nhiêu?", "Trẻ em 30k.", ("người lớn", "Trẻ em")),
        ("Leo len mat bao lau?", "Xuong mat 90 phut.", ("len", "Xuong")),
    ],
)
def test_an_opposite_is_found_as_it_is_written(question: str, answer: str, pair: tuple[str, str | None]) -> None:
    opposite = find_opposite_event(read_text(question), read_text(answer), 0, len(read_text(answer).plain))
    assert opposite == (pair if pair[1] is not None else None)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Mua vé ở đâu?", "Bạn hỏi quầy số 4."),
        ("Is it open to children and adults?", "Children pay £5."),
        ("Từ bao nhiêu tuổi được lên xe?", "Từ 6 tuổi trở lên, xuống xe ở bến sau."),
    ],
)
def test_words_that_only_look_like_an_opposite_are_none(question: str, answer: str) -> None:
    read = read_text(answer)
    end = read.plain.find(",") if "," in read.plain else len(read.plain)
    assert find_opposite_event(read_text(question), read, 0, end) is None


@given(st.text(alphabet="theaof 59pm.,;:'€àờưễTM-\n", max_size=120))
def test_any_answer_is_judged(answer: str) -> None:
    state = judge_facts(answer, ["5 pm"], "When does the tea room open?")[0].state
    assert state in ("stated", "denied", "missing", "unknown")


_PAIRS = (*OPPOSITE_EVENTS, *OPPOSITE_EVENTS_IN_VIETNAMESE, *CONTRARY_STATES)
_PAIR_WORDS = sorted(set(re.findall(r"[^\W\d_]+", " ".join(map(" ".join, _PAIRS)))))
_TABLE = WordPairs(_PAIRS)


@given(st.lists(st.sampled_from(_PAIR_WORDS), max_size=6), st.sampled_from([" ", "-", ""]))
def test_no_pair_that_a_text_holds_is_left_out(words: list[str], between: str) -> None:
    text = between.join(words)
    possible = [(first.pattern, second.pattern) for first, second in _TABLE.list_possible(text)]
    in_text = [
        (rf"\b(?:{first})\b", rf"\b(?:{second})\b")
        for first, second in _PAIRS
        if re.search(rf"\b(?:{first})\b", text) or re.search(rf"\b(?:{second})\b", text)
    ]
    assert [pair for pair in possible if pair in in_text] == in_text
