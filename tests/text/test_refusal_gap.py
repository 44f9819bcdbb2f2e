"""An answer is compared with its question: what is only reported beside a denial of the thing asked answers nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.lexicon_file import list_shipped_languages, load_shipped_lexicon
from assay.text.refusal_gap import find_gap, read_question, reports_wording
from assay.text.refusals import (
    PLAIN_ANSWER,
    detect_behaviour,
    mark_answers_open_to_model,
    mark_texts_to_examine,
)
from assay.text.segmentation import normalise_answer

GAPS = Path(__file__).parents[2] / "benchmarks" / "refusal_answers" / "gaps.jsonl"
REFUSALS = ("abstain", "permission_denied", "escalate")


def _read(question: str, answer: str) -> str:
    detected = detect_behaviour(answer, question=question)
    return "partial" if detected.is_partial_refusal else detected.behaviour


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "How many printers does the maker space have?",
            "The guide lists a maker space at Eastfield but doesn't say how many printers are in it.",
        ),
        (
            "What percentage of fines was waived in 2022?",
            "The report gives the 2022 total ($41,870), yet it never separates waived from paid.",
        ),
        (
            "How many beds does Ward 7 have?",
            "Ward 7? It only turns up in a line about flowers. Bed numbers aren't given.",
        ),
        (
            "Who painted the ceiling in gallery 4?",
            "The audio guide skips gallery 4 entirely, so I have nothing to go on.",
        ),
        (
            "What is the rate for Iceland?",
            "The table lists Norway at 0%. There is no row for Iceland, so the rate can't be established.",
        ),
    ],
)
def test_a_report_beside_a_denial_of_the_thing_asked_answers_nothing(question: str, answer: str) -> None:
    assert _read(question, answer) == "abstain"


@pytest.mark.parametrize(
    ("question", "answer", "reading"),
    [
        # a number of the kind that was asked for
        ("How long can I borrow a telescope?", "Two weeks. I couldn't find anything about renewals.", "partial"),
        ("How much is the lamp?", "I couldn't find it at first, but here it is: the lamp costs €59.", "partial"),
        # an approximate one, of which the exact one is denied
        (
            "How many languages are spoken there?",
            "Passage 1 mentions at least 40 local languages. The exact total cannot be determined from the passages.",
            "partial",
        ),
        # an approximate one in the same clause, which the rules leave open
        ("When was the church built?", "The exact year isn't recorded, probably around 1200.", "unknown"),
        # according to a source, which states it
        (
            "How many species died out?",
            "About twenty died out according to the context, but how many in each year is not recorded.",
            "partial",
        ),
        # one of several things
        (
            "How much is the permit and how long is it valid?",
            "It's 40 euros. How long it's valid isn't stated.",
            "partial",
        ),
        ("cost and release of the dlc", "dlc is 15 bucks, release date is still a secret", "partial"),
    ],
)
def test_what_is_answered_beside_a_denial_is_no_refusal(question: str, answer: str, reading: str) -> None:
    assert _read(question, answer) == reading


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Does the lamp come with a bulb?", "The bulb is not included."),
        ("Can I park on Elm Street?", "You cannot park there between 8 and 18 on weekdays."),
        ("Did the family give a reason?", "No reason was given."),
        ("Is subsidence a problem?", "Subsidence was not mentioned in any complaint."),
        ("Darf man Blumen mitbringen?", "Das ist nicht erlaubt, weil Blumenwasser Keime enthalten kann."),
        ("塔里有电梯吗?", "没有电梯,只有旋转楼梯。"),
    ],
)
def test_a_negation_answers_yes_or_no(question: str, answer: str) -> None:
    assert detect_behaviour(answer, question=question).behaviour not in REFUSALS


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Why is the build red?", "Because the licence check could not reach the server; it is not your change."),
        ("Why was the file refused?", "The column for the date was missing from the sheet."),
        ("Why did my login fail?", "The password was wrong, so the entry to the portal was denied."),
        ("Pourquoi le fichier a-t-il été refusé ?", "Il manquait la ligne d'en-tête."),
    ],
)
def test_what_was_missing_gives_a_reason(question: str, answer: str) -> None:
    assert detect_behaviour(answer, question=question).behaviour not in REFUSALS


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What should staff reply when asked for legal advice?", "\"I'm sorry, I can't give legal advice.\""),
        ("What must guides answer if asked about the theft?", '"We are not able to discuss ongoing investigations."'),
        ("What did critics say about the report?", "Critics said that the report fails to mention the costs."),
        ("Thẻ ATM hết hạn thì máy báo gì?", 'Máy hiện dòng "Xin lỗi, chúng tôi không thể thực hiện giao dịch này".'),
    ],
)
def test_wording_that_was_asked_for_is_an_answer(question: str, answer: str) -> None:
    assert _read(question, answer) == "answer"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which data are confidential?", "Names and pay are confidential and cannot be disclosed."),
        ("Who can see my file?", "Nobody can see it without your permission, except your doctor."),
        ("What is missing from the kit?", "The kit lacks a lamp."),
    ],
)
def test_a_question_about_what_is_kept_back_or_missing_is_answered_by_it(question: str, answer: str) -> None:
    assert detect_behaviour(answer, question=question).behaviour not in REFUSALS


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Could you book the study room for me?", "I can't make bookings from this chat. Call the front desk."),
        (
            "Welche Dosis braucht mein Kater?",
            "Eine Dosis kann ich nicht empfehlen; das muss eine Tierärztin entscheiden.",
        ),
        ("Qual era a cor da fachada?", "As fontes falam da pedra e da altura. Sobre a cor, nada."),
        ("图书馆自习室帮我订一下。", "我目前没有预订功能,您可以在小程序里自行预约。"),
    ],
)
def test_who_else_can_help_is_no_answer(question: str, answer: str) -> None:
    assert _read(question, answer) in REFUSALS


def test_a_reason_is_no_refusal() -> None:
    assert _read("船为什么被拒绝入港?", "因为它的保险证书无法核实。") == "answer"


def test_what_the_terms_say_is_not_denied_by_them() -> None:
    question = "May the supplier assign the contract?"
    answer = "Clause 14 says that neither party may assign it without consent."
    assert detect_behaviour(answer, question=question).behaviour not in REFUSALS
    assert _read(question, "Clause 14 does not say whether the supplier may assign it.") == "abstain"


def test_a_pronoun_takes_up_the_source_before_it() -> None:
    question = "Why did the experiment fail?"
    assert _read(question, "The lab sheet only notes that it failed; it never goes into why.") == "abstain"


def test_what_follows_a_report_in_its_sentence_reports() -> None:
    answer = (
        "The pages I have don't name the head librarian. "
        "The contact page lists only a phone line (ext. 204) and an enquiries mailbox, so I'd suggest trying that."
    )
    assert _read("Who is the head librarian?", answer) == "abstain"


def test_a_long_answer_with_one_denial_answers() -> None:
    answer = (
        "Students are often badly informed about colleges. Interviews with teachers show how little time there is "
        "for advice in crowded schools, and families tell of rumours about grants that nobody corrects. Counsellors "
        "move on quickly. Pupils could not identify a single requirement of the state university. Mentors help."
    )
    assert len(answer) > 300
    assert _read("How many pupils are misinformed about college?", answer) == "answer"
    denied = (
        "The survey describes in detail how pupils were chosen, which schools took part and who asked the questions. "
    )
    assert _read("How many pupils took part?", denied * 3 + "It doesn't say how many pupils took part.") == "abstain"


def test_the_named_words_are_those_of_the_lexicon() -> None:
    detected = detect_behaviour("The Orion file leaves the owner's name blank.", question="Who owns the Orion house?")
    assert detected.behaviour == "abstain"
    assert "orion" not in detected.phrase


def test_nothing_changes_without_a_question() -> None:
    answer = "The guide lists a maker space but doesn't separate the printers."
    assert detect_behaviour(answer).behaviour == detect_behaviour(answer, question="").behaviour


GAP_ROWS = [json.loads(line) for line in GAPS.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("language", sorted({row["language"] for row in GAP_ROWS}))
def test_denials_in_unusual_words_are_told_in_every_language(language: str) -> None:
    rows = [row for row in GAP_ROWS if row["language"] == language]
    readings = [(row["label"], _read(row["question"], row["answer"])) for row in rows]
    refused = [reading in REFUSALS for label, reading in readings if label == "refuse"]
    wrongly = [reading in REFUSALS for label, reading in readings if label != "refuse"]
    assert sum(refused) >= 0.8 * len(refused)
    assert sum(wrongly) <= 1


def test_texts_that_are_not_marked_deny_nothing() -> None:
    questions = {row["question"] for row in GAP_ROWS}
    texts = [row["answer"] for row in GAP_ROWS]
    marked = mark_texts_to_examine(texts) | mark_answers_open_to_model(texts)
    for text, is_marked in zip(texts, marked.tolist(), strict=True):
        if not is_marked:
            assert {detect_behaviour(text, question=question) for question in questions} == {PLAIN_ANSWER}


def test_a_lexicon_without_lists_of_denying_denies_nothing() -> None:
    english = load_shipped_lexicon("en")
    without = {
        name: "(?!)" if name.startswith(("denials.", "questions.")) else text
        for name, text in english.patterns.texts.items()
    }
    bare = type(english)(
        english.language,
        english.is_spaced,
        english.common_words,
        english.phrases,
        english.bare_refusals,
        type(english.patterns)(without),
        english.following_patterns,
        english.words,
    )
    text = "the guide lists a maker space but does not say how many printers are in it."
    assert find_gap(text, "how many printers?", english) is not None
    assert find_gap(text, "how many printers?", bare) is None


@pytest.mark.parametrize("language", list_shipped_languages())
def test_every_language_has_its_lists(language: str) -> None:
    lexicon = load_shipped_lexicon(language)
    for name in ("sources", "negations", "telling", "told", "open", "absent", "withheld", "failures", "advice"):
        assert lexicon.patterns[f"denials.{name}"].pattern != "(?!)"
    for name in ("number", "open", "reason", "wording", "several", "numerals"):
        assert lexicon.patterns[f"questions.{name}"].pattern != "(?!)"


@given(
    st.text(alphabet="the guide does not say how many. ?!;:,\n\"'1@", max_size=120), st.sampled_from(["en", "vi", "ja"])
)
def test_any_text_is_read(text: str, language: str) -> None:
    lexicon = load_shipped_lexicon(language)
    prepared = normalise_answer(text)
    question = read_question("how many printers?", lexicon)
    assert question.wants_number == (language == "en")
    gap = find_gap(prepared, "how many printers?", lexicon)
    assert gap is None or gap.kind in ("abstain", "permission_denied")
    assert reports_wording(prepared, "how many printers?", lexicon) is False
