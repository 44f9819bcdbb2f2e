"""An answer is read against its question: what is only reported beside a denial of the thing asked answers nothing.

A model that learned from many answers is wrong about some; most of these readings must be right.
"""

from __future__ import annotations

import pytest

from assay.text.refusals.behaviour import detect_behaviour, detect_phrases

READINGS = (
    (
        "refuse",
        "How many printers does the maker space have?",
        "The guide lists a maker space at Eastfield but doesn't say how many printers are in it.",
    ),
    (
        "refuse",
        "What percentage of fines was waived in 2022?",
        "The report gives the 2022 total ($41,870), yet it never separates waived from paid.",
    ),
    (
        "refuse",
        "How many beds does Ward 7 have?",
        "Ward 7? It only turns up in a line about flowers. Bed numbers aren't given.",
    ),
    (
        "refuse",
        "Who painted the ceiling in gallery 4?",
        "The audio guide skips gallery 4 entirely, so I have nothing to go on.",
    ),
    (
        "refuse",
        "What is the rate for Iceland?",
        "The table lists Norway at 0%. There is no row for Iceland, so the rate can't be established.",
    ),
    (
        "partial",
        "How long can I borrow a telescope?",
        "Two weeks. I couldn't find anything about renewals.",
    ),
    (
        "partial",
        "How much is the lamp?",
        "I couldn't find it at first, but here it is: the lamp costs €59.",
    ),
    (
        "partial",
        "How many languages are spoken there?",
        "Passage 1 mentions at least 40 local languages. The exact total cannot be determined from the passages.",
    ),
    (
        "partial",
        "When was the church built?",
        "The exact year isn't recorded, probably around 1200.",
    ),
    (
        "partial",
        "How many species died out?",
        "About twenty died out according to the context, but how many in each year is not recorded.",
    ),
    (
        "partial",
        "How much is the permit and how long is it valid?",
        "It's 40 euros. How long it's valid isn't stated.",
    ),
    (
        "partial",
        "cost and release of the dlc",
        "dlc is 15 bucks, release date is still a secret",
    ),
    (
        "answer",
        "Does the lamp come with a bulb?",
        "The bulb is not included.",
    ),
    (
        "answer",
        "Can I park on Elm Street?",
        "You cannot park there between 8 and 18 on weekdays.",
    ),
    (
        "answer",
        "Did the family give a reason?",
        "No reason was given.",
    ),
    (
        "answer",
        "Is subsidence a problem?",
        "Subsidence was not mentioned in any complaint.",
    ),
    (
        "answer",
        "Darf man Blumen mitbringen?",
        "Das ist nicht erlaubt, weil Blumenwasser Keime enthalten kann.",
    ),
    (
        "answer",
        "塔里有电梯吗?",
        "没有电梯,只有旋转楼梯。",
    ),
    (
        "answer",
        "Why is the build red?",
        "Because the licence check could not reach the server; it is not your change.",
    ),
    (
        "answer",
        "Why was the file refused?",
        "The column for the date was missing from the sheet.",
    ),
    (
        "answer",
        "Why did my login fail?",
        "The password was wrong, so the entry to the portal was denied.",
    ),
    (
        "answer",
        "Pourquoi le fichier a-t-il été refusé ?",
        "Il manquait la ligne d'en-tête.",
    ),
    (
        "answer",
        "What should staff reply when asked for legal advice?",
        "\"I'm sorry, I can't give legal advice.\"",
    ),
    (
        "answer",
        "What must guides answer if asked about the theft?",
        '"We are not able to discuss ongoing investigations."',
    ),
    (
        "answer",
        "What did critics say about the report?",
        "Critics said that the report fails to mention the costs.",
    ),
    (
        "answer",
        "Thẻ ATM hết hạn thì máy báo gì?",
        'Máy hiện dòng "Xin lỗi, chúng tôi không thể thực hiện giao dịch này".',
    ),
    (
        "answer",
        "Which data are confidential?",
        "Names and pay are confidential and cannot be disclosed.",
    ),
    (
        "answer",
        "Who can see my file?",
        "Nobody can see it without your permission, except your doctor.",
    ),
    (
        "answer",
        "What is missing from the kit?",
        "The kit lacks a lamp.",
    ),
    (
        "refuse",
        "Could you book the study room for me?",
        "I can't make bookings from this chat. Call the front desk.",
    ),
    (
        "refuse",
        "Welche Dosis braucht mein Kater?",
        "Eine Dosis kann ich nicht empfehlen; das muss eine Tierärztin entscheiden.",
    ),
    (
        "refuse",
        "Qual era a cor da fachada?",
        "As fontes falam da pedra e da altura. Sobre a cor, nada.",
    ),
    (
        "refuse",
        "图书馆自习室帮我订一下。",
        "我目前没有预订功能,您可以在小程序里自行预约。",
    ),
    (
        "answer",
        "船为什么被拒绝入港?",
        "因为它的保险证书无法核实。",
    ),
    (
        "answer",
        "May the supplier assign the contract?",
        "Clause 14 says that neither party may assign it without consent.",
    ),
    (
        "refuse",
        "May the supplier assign the contract?",
        "Clause 14 does not say whether the supplier may assign it.",
    ),
    (
        "refuse",
        "Why did the experiment fail?",
        "The lab sheet only notes that it failed; it never goes into why.",
    ),
    (
        "refuse",
        "Who is the head librarian?",
        "The pages I have don't name the head librarian. The contact page lists only a phone line (ext. "
        "204) and an enquiries mailbox, so I'd suggest trying that.",
    ),
    (
        "answer",
        "How many pupils are misinformed about college?",
        "Students are often badly informed about colleges. Interviews with teachers show how little time "
        "there is for advice in crowded schools, and families tell of rumours about grants that nobody "
        "corrects. Counsellors move on quickly. Pupils could not identify a single requirement of the "
        "state university. Mentors help.",
    ),
)
"""What an answer does with a question: it refuses, answers a part, or answers."""
LEAST_RIGHT = 0.85


def _read(question: str, answer: str) -> str:
    detected = detect_behaviour(answer, question=question)
    if detected.is_partial_refusal:
        return "partial"
    return "refuse" if detected.behaviour in ("abstain", "permission_denied", "escalate") else detected.behaviour


def test_most_answers_are_read_against_their_question() -> None:
    right = [expected == _read(question, answer) for expected, question, answer in READINGS]
    assert sum(right) >= LEAST_RIGHT * len(READINGS)


@pytest.mark.parametrize("expected", ["refuse", "partial", "answer"])
def test_no_reading_is_right_by_being_given_always(expected: str) -> None:
    others = [reading for reading in READINGS if reading[0] != expected]
    taken = [reading for reading in others if expected == _read(*reading[1:])]
    assert len(taken) <= 0.2 * len(others)


def test_a_long_report_before_a_denial_refuses() -> None:
    report = (
        "The survey describes in detail how pupils were chosen, which schools took part and who asked the questions. "
    )
    answer = report * 3 + "It doesn't say how many pupils took part."
    assert _read("How many pupils took part?", answer) == "refuse"


@pytest.mark.parametrize(
    ("answer", "behaviour", "is_partial"),
    [
        (
            "It isn't clear whether the mill had a wheel, but its owner bought 40 stones and two carts in 1871.",
            "abstain",
            False,
        ),
        ("The log does not say if the valve was closed. Pressure fell from 9 to 2 bar that night.", "abstain", False),
        ("It isn't clear whether the mill had a wheel, but the 40 stones suggest that it did.", "answer", True),
        ("The log does not say if the valve was closed or opened. Pressure fell from 9 to 2 bar.", "answer", True),
        ("The log does not say how far the valve was closed. Pressure fell from 9 to 2 bar.", "answer", True),
        ("Pressure fell from 9 to 2 bar. The log does not say if the valve was closed.", "answer", True),
        ("The mill ground 40 tons of rye, and it isn't clear whether it had a wheel.", "answer", True),
    ],
)
def test_what_stands_behind_an_open_whether_answers_no_part(answer: str, behaviour: str, is_partial: bool) -> None:
    detected = detect_phrases(answer)
    assert (behaviour, is_partial) == (detected.behaviour, detected.is_partial_refusal)
