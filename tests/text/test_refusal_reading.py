"""An answer is read against its question: what is only reported beside a denial of the thing asked answers nothing."""

from __future__ import annotations

import pytest

from assay.text.refusals import detect_behaviour

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
