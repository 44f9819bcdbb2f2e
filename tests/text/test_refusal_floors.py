"""Refusals told from answers: the floors for every release, lower than `python -m benchmarks.refusals` measured.

The models have learned from all sets here but the published answers: these floors only show that nothing is lost.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.refusals import LANGUAGES, count_verdicts, read_published, read_sentences, read_stock

from assay.text.refusals.behaviour import detect_behaviour

FLOORS = {
    "en": (0.85, 0.85),
    "vi": (0.80, 0.90),
    "de": (0.90, 0.95),
    "fr": (0.85, 0.95),
    "es": (0.90, 0.95),
    "pt": (0.90, 0.95),
    "ja": (0.90, 0.90),
    "zh": (0.90, 0.95),
    "rag": (0.85, 0.95),
    "rag-vi": (0.90, 0.90),
    "product-en": (0.60, 0.95),
    "product-vi": (0.60, 0.95),
}
"""Least recall and precision of each half."""


@pytest.mark.parametrize("language", FLOORS)
@pytest.mark.parametrize("half", ["development", "untouched"])
def test_sentences_of_every_language_are_told_apart(language: str, half: str) -> None:
    counts = count_verdicts(read_sentences(language)[half])
    least_recall, least_precision = FLOORS[language]
    assert counts.recall >= least_recall
    assert counts.precision >= least_precision


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["stock", "free"])
def test_stock_refusals_of_six_languages_are_told_from_answers_that_look_like_them(name: str, language: str) -> None:
    for answers in read_stock(name, language).values():
        counts = count_verdicts(answers)
        assert counts.recall >= 0.80
        assert counts.precision >= 0.90


@pytest.mark.parametrize("language", ["en", "vi"])
def test_short_answers_that_look_like_refusals_are_none(language: str) -> None:
    halves = read_stock("stock", language)
    wrong = sum(count_verdicts(answers).wrong for answers in halves.values())
    assert wrong <= 1


def test_published_answers_are_told_apart(test_data: Path) -> None:
    halves = read_published(test_data)
    assert 800 == sum(map(len, halves.values()))
    development, untouched = count_verdicts(halves["development"]), count_verdicts(halves["untouched"])
    assert development.recall >= 0.92
    assert development.precision >= 0.95
    assert untouched.recall >= 0.85
    assert untouched.precision >= 0.95


@pytest.mark.parametrize(
    "answer",
    [
        "The passages do not provide current weather information for Louisville.",
        "The answer to the question is not provided in the passages.",
        "It is not clear whether the rule applies to interns.",
        "The text doesn't say.",
        "Xin lỗi, đây là thông tin mật.",
        "Salary data of band 7 is restricted; you do not have permission.",
        "The context fails to mention who the mayor is.",
        "The handbook is silent about sabbaticals.",
        "That detail is absent from the documents.",
        "The exact date of the merger is unknown.",
        "The number of employees is not specified.",
        "The transcript stops before they name the price.",
        "The minutes leave out who was absent.",
        "Nothing there mentions the deposit.",
        "The letter is about rent, but never states the deposit.",
        "Access to that page has been revoked.",
        "Em không thấy được bảng giá.",
        "Tài liệu này chỉ được cung cấp cho chủ hợp đồng.",
        "More information would be needed to answer this.",
        "Whether she accepted the prize is not recorded in the article.",
        "403 Forbidden",
        "Error 401: you are not authorized to view this resource.",
        "Không một đoạn nào trong ngữ cảnh nhắc tới tên thị trưởng.",
        "Thông tin về người sáng lập không được nêu trong đoạn văn.",
    ],
)
def test_refusals_that_phrases_missed_are_found(answer: str) -> None:
    assert detect_behaviour(answer).behaviour in ("abstain", "permission_denied")


@pytest.mark.parametrize(
    "answer",
    [
        "403 means that you are not authorized to view this resource.",
        "The cause of the disease is unknown to science, and treatment aims at the symptoms.",
        "Damage by water is not covered.",
        "The treaty does not specify a deadline, so members may join at any time.",
        "Ask the clerk whether the documents mention your name.",
        "Hồ sơ không có chữ ký sẽ bị trả lại.",
    ],
)
def test_answers_about_what_is_unknown_or_denied_elsewhere_are_answers(answer: str) -> None:
    assert "answer" == detect_behaviour(answer).behaviour


@pytest.mark.parametrize(
    "answer",
    ["The concert starts at eight. The passages do not say when it ends.",
     "Trụ sở chính ở Hà Nội. Tôi không có quyền xem địa chỉ các kho hàng."],
)  # fmt: skip
def test_a_short_sentence_before_a_refusal_is_a_claim(answer: str) -> None:
    assert detect_behaviour(answer).is_partial_refusal


def test_no_evidence_that_something_is_so_is_an_answer() -> None:
    assert "answer" == detect_behaviour("There is no evidence to suggest that goat milk produces mucus.").behaviour


def test_what_the_sources_are_about_is_no_answer_but_a_number_in_them_is() -> None:
    refusal = "It is not possible to determine the price. "
    assert "abstain" == detect_behaviour(refusal + "Passage 2 mentions several other models.").behaviour
    behaviour = detect_behaviour(refusal + "However, passage 2 states that it was 30 euros last year.")
    assert ("answer", True) == (behaviour.behaviour, behaviour.is_partial_refusal)


def test_a_conclusion_takes_back_what_came_before_it_but_not_a_yes() -> None:
    conclusion = " Therefore, the answer cannot be determined based on the passages."
    assert "abstain" == detect_behaviour("Interns often write to the committee directly." + conclusion).behaviour
    assert "answer" == detect_behaviour("Yes, interns often write to the committee directly." + conclusion).behaviour


@pytest.mark.parametrize(
    ("answer", "behaviour"),
    [
        ("Which office do you work in?", "clarify"),
        ("Bạn đang hỏi về gói nào?", "clarify"),
        ("您说的是哪一年？", "clarify"),
        ("You have 12 days. Do you want to know more?", "answer"),
        ("What is a passphrase? It is a sequence of words used instead of a password.", "answer"),
        ("I don't know. Which office do you work in?", "abstain"),
    ],
)
def test_a_question_back_without_a_claim_is_a_behaviour_of_its_own(answer: str, behaviour: str) -> None:
    assert behaviour == detect_behaviour(answer).behaviour


@pytest.mark.parametrize("answer", ["회의는 세 시에 시작합니다.", "Отпуск длится двенадцать дней.", "I could not."])
def test_what_no_rule_of_its_language_recognises_is_undecided(answer: str) -> None:
    detected = detect_behaviour(answer)
    assert ("unknown", False) == (detected.behaviour, detected.is_decided_by_text)


@pytest.mark.parametrize("answer", ["E4表示门没有关好。", "没有关系，可以改期。", "没有关灯的话会自动熄灭。"])
def test_what_is_not_shut_and_does_not_matter_is_no_lack_of_information(answer: str) -> None:
    assert "answer" == detect_behaviour(answer).behaviour
    assert "abstain" == detect_behaviour("资料中没有关于价格的信息。").behaviour
