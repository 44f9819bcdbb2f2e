"""A yes, a no or a "nowhere" that the evidence explains passes; another value in its place is wrong, not open."""

from __future__ import annotations

import pytest

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case


def _judge(question: str, reference: str, answer: str, evidence: str = "") -> bool | None:
    quality = assess_answer_text(Case("case", question, reference=reference), answer, (evidence,) if evidence else ())
    assert quality is not None
    return quality.good


@pytest.mark.parametrize(
    ("question", "reference", "evidence", "answer", "expected"),
    [
        (
            "May I film the lecture?",
            "Yes, without a tripod.",
            "Filming without a tripod is allowed.",
            "Yes, as long as you don't use a tripod.",
            True,
        ),
        (
            "May I film the lecture?",
            "Yes, without a tripod.",
            "Filming without a tripod is allowed.",
            "Yes, as long as you tell the porter.",
            None,
        ),
        (
            "Can I rent the boat in July?",
            "Yes, for two hours.",
            "From May to September the boat is rented for two hours.",
            "Yes, from May to September, for two hours.",
            True,
        ),
        (
            "Can I rent the boat in July?",
            "Yes.",
            "The boat is rented in summer. In winter it is under cover.",
            "Yes, but only in winter.",
            None,
        ),
        (
            "Can I pay 900 zł in parts?",
            "Yes, in six parts.",
            "Sums above 500 zł are paid in six parts.",
            "Yes, since it is more than 500 zł: in six parts.",
            True,
        ),
        (
            "May goats graze by the weir?",
            "No.",
            "Goats may not be brought to the weir.",
            "Unfortunately, goats may not be brought to the weir.",
            True,
        ),
        ("May my guide dog come in?", "Yes.", "Dogs are not allowed inside.", "Dogs are not allowed inside.", None),
        (
            "May goats graze by the weir?",
            "No.",
            "Goats may not be brought to the weir.",
            "Goats may be brought to the weir.",
            None,
        ),
    ],
)
def test_a_decision_in_the_words_of_the_evidence_passes(
    question: str, reference: str, evidence: str, answer: str, expected: bool | None
) -> None:
    assert _judge(question, reference, answer, evidence) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Nowhere.", True),
        ("Unfortunately nowhere.", True),
        ("Fires are banned on the whole site.", True),
        ("Nobody.", None),
        ("Nowhere but in the yard.", None),
        ("Behind the barn.", None),
    ],
)
def test_a_word_that_denies_all_is_an_answer(answer: str, expected: bool | None) -> None:
    question, reference = "Where may we light a fire?", "Nowhere, fires are banned on the whole site."
    assert _judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        ("How soon is the deposit returned?", "Within 21 days.", "Within 60 days.", False),
        ("How soon is the deposit returned?", "Within 21 days.", "Within three weeks.", True),
        ("Where is the archive?", "Room 0317", "In room 0371.", False),
        ("Where is the archive?", "Room 0317", "Next to the stairs.", None),
        ("What does the pass cost?", "The pass costs CHF 31.", "CHF 13.", False),
        ("What does the pass cost?", "The pass costs CHF 31.", "It is CHF 31.", True),
        ("Do you take stamps?", "No, not since 2019.", "Stamps haven't been taken since 2019.", True),
        ("Do you take stamps?", "No, not since 2019.", "Stamps have been taken since 2019.", False),
        ("How long is the tasting?", "The tasting lasts 30 minutes.", "The first half hour.", True),
        ("How long is the tasting?", "The tasting lasts 45 minutes.", "The first half hour.", False),
    ],
)
def test_another_value_in_the_place_of_a_bare_one_is_wrong(
    question: str, reference: str, answer: str, expected: bool | None
) -> None:
    assert _judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        # the first sentence denies what is asked
        (
            "May I fry fish in the hostel kitchen?",
            "No, only steamed fish is allowed in the kitchen.",
            "Frying fish is banned in the hostel kitchen. You may use the steamer instead.",
            True,
        ),
        (
            "Can gift vouchers be exchanged?",
            "No, but they may be extended once for £5.",
            "Gift vouchers are non-exchangeable. You can, however, have them extended once for £5.",
            True,
        ),
        (
            "Can gift vouchers be exchanged?",
            "No, but they may be extended once for £5.",
            "Gift vouchers are non-exchangeable. You can, however, have them extended once for £9.",
            None,
        ),
        # a question that tells something first
        ("My mother owns a shed here. Can she get a permit?", "No, sheds do not count.", "Sadly no.", None),
        ("My mother owns a shed here. Can she get a permit?", "No, sheds do not count.", "Unfortunately not.", True),
        ("My mother owns a shed here. Can she get a permit?", "No, sheds do not count.", "Yes, she can.", False),
        # the other items of a list, and sums that are written out
        (
            "How many bikes fit on FS Corvo?",
            "FS Corvo takes 38 bikes.",
            "The Garça takes 95 bikes, the Corvo 38.",
            True,
        ),
        (
            "How many bikes fit on FS Corvo?",
            "FS Corvo takes 38 bikes.",
            "The Garça takes 38 bikes, the Corvo 95.",
            False,
        ),
        ("How many guests may the barn hold?", "It may hold 120 guests.", "The barn has room for 120 guests.", True),
        ("Is the kiosk open at 4 pm?", "Yes, until 17:30.", "Yes, it is open from 09:00 until 17:30.", True),
        ("Is the kiosk open at 4 pm?", "Yes, until 17:30.", "Yes, from 17:30 on.", False),
    ],
)
def test_an_answer_in_other_words_is_judged_by_what_it_says(
    question: str, reference: str, answer: str, expected: bool | None
) -> None:
    assert _judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("7 × £20 = £140 — but at least £165 is due, so you pay £165.", True),
        ("7 × £20 = £140. A catamaran is £165.", None),
    ],
)
def test_a_factor_of_a_sum_is_no_other_answer(answer: str, expected: bool | None) -> None:
    case = Case("lift", "What does it cost to lift my 7 m boat?", must_have=("£165",))
    quality = assess_answer_text(case, answer, ("Lifting costs £20 per metre, at least £165.",))
    assert quality is not None
    assert quality.good is expected
