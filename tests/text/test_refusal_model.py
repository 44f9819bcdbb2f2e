"""Refusals in free wording: the committed answers give the shipped weights, and what the model decides is explained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.refusals import count_unseen_cells, count_verdicts, read_kept, read_unseen
from benchmarks.train_refusal_model import read_training_answers, read_voices, train_model

from assay.text.refusal_model import LONGEST_SCORED
from assay.text.refusal_model_file import MODEL_FOLDER, MODEL_LANGUAGES, load_model
from assay.text.refusals import (
    detect_behaviour,
    detect_phrases,
    explain_refusal,
    explain_wording,
    select_lexicons,
)

FREE_WORDING = {
    "That one's locked in the vault, I can't share it.": "refusal",
    "My notes say nothing about the warranty.": "refusal",
    "Ghi chú của tôi không nhắc đến chuyện bảo hành.": "refusal",
    "Ghi chu cua toi khong nhac den chuyen bao hanh.": "refusal",
    "There is no evidence to suggest that goat milk produces mucus.": "answer",
    "No, there is no fee for early repayment.": "answer",
    "Không, trả nợ trước hạn không mất phí.": "answer",
}
REFUSALS = ("abstain", "permission_denied", "escalate")


@pytest.fixture
def _shipped_lexicons() -> Iterator[None]:
    yield
    select_lexicons(())


@pytest.mark.parametrize("language", MODEL_LANGUAGES)
def test_the_committed_answers_give_the_shipped_weights(language: str) -> None:
    weights = train_model(language)
    assert MODEL_FOLDER.joinpath(f"{language}.tsv").read_text("utf-8") == weights


@pytest.mark.parametrize("language", MODEL_LANGUAGES)
def test_the_voices_are_many_and_nearly_half_of_them_look_like_refusals_and_answer(language: str) -> None:
    answers = read_voices(language)
    assert len(answers) >= 400
    assert len({answer.cell for answer in answers}) >= 20
    assert sum(answer.label == "answer" for answer in answers) / len(answers) >= 0.45


@pytest.mark.parametrize(("answer", "expected"), FREE_WORDING.items(), ids=str)
def test_free_wording_is_read_by_what_it_means(answer: str, expected: str) -> None:
    behaviour = detect_behaviour(answer).behaviour
    assert behaviour in (REFUSALS if expected == "refusal" else ("answer",))


@pytest.mark.parametrize(
    ("language", "least_recall", "least_precision"), [("en", 0.84, 0.94), ("vi", 0.85, 0.94)], ids=str
)
def test_refusals_worded_by_other_people_are_told(language: str, least_recall: float, least_precision: float) -> None:
    answers = read_unseen(language)
    counts = count_verdicts(answers)
    assert counts.recall >= least_recall
    assert counts.precision >= least_precision
    read_as_answers = [
        answer
        for answer in answers
        if answer.label == "abstain"
        and (detected := detect_behaviour(answer.text, question=answer.question)).behaviour == "answer"
        and not detected.is_partial_refusal
    ]
    assert len(read_as_answers) / len(answers) <= 0.05


@pytest.mark.parametrize("language", MODEL_LANGUAGES)
def test_voices_that_no_model_learned_from_are_told(language: str) -> None:
    counts = count_verdicts(read_kept(language))
    assert counts.recall >= 0.60
    assert counts.precision >= 0.84
    assert counts.partial_told >= 0.5 * counts.partials


@pytest.mark.parametrize("language", MODEL_LANGUAGES)
def test_partial_refusals_in_free_wording_are_told(language: str) -> None:
    counts = count_verdicts(read_unseen(language))
    assert counts.partial_told >= 0.75 * counts.partials
    partial = {
        "en": ("The bridge is 300 m long. How high it is, no record tells.", "Who built it, I have nothing on."),
        "vi": ("Cầu dài 300 m. Cao bao nhiêu thì sử không chép.", "Ai xây cầu thì sử không chép."),
    }
    both, declined = partial[language]
    assert detect_behaviour(both).is_partial_refusal
    assert not detect_behaviour(declined).is_partial_refusal


def test_no_model_learned_from_a_kept_voice() -> None:
    for language in MODEL_LANGUAGES:
        kept = read_voices(language, "kept")
        assert not {answer.cell for answer in read_voices(language, "later")} & {answer.cell for answer in kept}
        assert not {answer.text for answer in read_training_answers(language)} & {answer.text for answer in kept}


@pytest.mark.parametrize(("language", "least_recall"), [("en", 0.66), ("vi", 0.62)])
def test_cells_that_a_model_has_not_seen_are_told(language: str, least_recall: float) -> None:
    counts = count_unseen_cells(language)[f"voices-{language}"]
    assert counts.recall >= least_recall
    assert counts.precision >= 0.93


def test_the_question_helps_to_tell_an_answer_from_a_refusal() -> None:
    model = load_model("en")
    answer = "the file is closed to visitors."
    open_question = model.score_text(answer, "what is in the file?").score
    assert open_question > model.score_text(answer, "is the file open to visitors?").score


def test_the_contributions_of_all_features_are_the_score() -> None:
    model = load_model("en")
    for answer in map(str.lower, FREE_WORDING):
        contributions = model.list_contributions(answer, "what is the fee?")
        assert model.score_text(answer, "what is the fee?").score == pytest.approx(
            sum(item.weight for item in contributions)
        )


def test_the_strongest_features_explain_a_refusal() -> None:
    explained = explain_refusal("My notes say nothing about the warranty.")
    assert "<source>" in [item.feature for item in explained]
    assert [abs(item.weight) for item in explained] == sorted((abs(item.weight) for item in explained), reverse=True)
    assert () == explain_refusal("Das Dokument enthält dazu nichts.")
    assert () == explain_refusal("word " * LONGEST_SCORED)


def test_what_phrases_leave_undecided_stays_so() -> None:
    for answer in ("I could not.", "Please contact the Legal department."):
        assert not detect_behaviour(answer).is_decided_by_text
        assert detect_phrases(answer) == detect_behaviour(answer)


def test_a_longer_answer_is_left_to_the_phrases() -> None:
    answer = "My notes say nothing about the warranty. " + "The shop is near the old market. " * 9
    assert len(answer) > LONGEST_SCORED
    assert detect_phrases(answer) == detect_behaviour(answer)


@pytest.mark.usefixtures("_shipped_lexicons")
def test_a_language_whose_lexicon_the_user_replaced_has_no_model(tmp_path: Path) -> None:
    answer = "That one's locked in the vault, I can't share it."
    assert detect_behaviour(answer).behaviour in REFUSALS
    lexicon = tmp_path / "en.yaml"
    lexicon.write_text(
        "language: en\ncommon: [the, it, that]\nsubjects: {speaker: [i]}\nphrases: {abstain: ['{i do not know}']}\n",
        "utf-8",
    )
    select_lexicons([str(lexicon)])
    assert "answer" == detect_behaviour(answer).behaviour


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who handles complaints?", "Complaints go to Mia."),
        ("How tall is it?", "As far as I remember, the mast has a value of about 77 in that respect."),
        ("How long does it take?", "I seem to recall that it is about 12."),
    ],
)
def test_a_text_without_a_word_that_refuses_is_an_answer(question: str, answer: str) -> None:
    assert "answer" == detect_behaviour(answer, "en", question).behaviour


@pytest.mark.parametrize(
    "answer",
    [
        "Please bring your passport.",
        "Please be there three quarters of an hour before.",
        "Please hold the power button until the light blinks.",
        "Kindly wear sturdy shoes on the deck.",
        "Please write to lost@norrsund.example.",
    ],
)
def test_an_instruction_is_an_answer_however_polite(answer: str) -> None:
    assert detect_behaviour(answer, question="What must I do?").behaviour == "answer"
    assert detect_behaviour("Please give me your booking number.", question="When?").behaviour == "clarify"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does the seal show?", "It tells you somebody has opened the battery, which ends its insurance cover."),
        ("Are trailers covered?", "Trailers are left out of the cover."),
        ("Which data are secret?", "Names and pay are kept secret."),
        ("", "I've changed the font to Arial."),
        ("Đèn đỏ trên bộ sạc nghĩa là gì?", "Nó báo cho bạn biết có người đã rút quạt làm mát."),
    ],
)
def test_a_statement_is_no_refusal_by_the_weights_of_its_words(question: str, answer: str) -> None:
    assert detect_behaviour(answer, question=question).behaviour in ("answer", "unknown")


def test_a_refusal_with_the_words_of_a_statement_stays_one() -> None:
    question = "Is the seal covered?"
    for answer in ("My notes end before they get to the seal, sorry.", "That one's locked in the vault!"):
        assert detect_behaviour(answer, question=question).behaviour in ("abstain", "permission_denied")


def test_reasons_name_words_of_the_rules_only() -> None:
    reasons = explain_wording("Sorry, my Orion 7 notes are blank on this.")
    assert ("notes are blank on this",) == reasons.counting_for[:1]
    named = " ".join(reasons.counting_for + reasons.counting_against)
    assert "orion" not in named
    assert not any(map(str.isdigit, named))
    assert ((), ()) == explain_wording("Das Dokument enthält dazu nichts.")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("my lips would be sealed if I knew, but I don't \U0001f937", "abstain"),
        ("oh no! what's your order number? \U0001f4e6", "clarify"),
        ("Em không có dự báo nào trong tay nên chẳng dám nói đâu ạ!", "abstain"),
    ],
)
def test_words_that_other_languages_also_have_do_not_keep_the_model_away(answer: str, expected: str) -> None:
    assert detect_behaviour(answer).behaviour == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Are you on Windows, macOS or Linux? The steps differ a lot.", "clarify"),
        ("Bạn dùng Windows hay macOS? Mỗi hệ điều hành có cách cài khác nhau.", "clarify"),
        ("The lamp costs 59 euros. Which colour do you want?", "answer"),
        ("The lamp is on sale. Do you want one?", "answer"),
    ],
)
def test_a_question_for_a_choice_asks_back_even_before_its_reason(answer: str, expected: str) -> None:
    assert detect_behaviour(answer).behaviour == expected


def test_sentences_that_all_refuse_answer_no_part() -> None:
    answer = "Cabinet codes are handed out by the ward sister only. I won't give them in chat."
    detected = detect_behaviour(answer, question="What is the code of the drug cabinet on ward 5?")
    assert detected.behaviour in REFUSALS
    assert not detected.is_partial_refusal
