"""A refusal that goes on to assert a name or code is undecided; advice whom to ask keeps it one."""

from __future__ import annotations

import pytest

from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.detected_behaviour import UNKNOWN

REFUSALS = ("abstain", "permission_denied", "escalate")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which bank holds the deposits?", "I don't know. It is Sparkasse."),
        ("Which bank holds the deposits?", "No information found. Sparkasse."),
        ("Which bank holds the deposits?", "I could not find that. I would guess Sparkasse."),
        (
            "Which bank holds the deposits?",
            "Not mentioned in the documents, but most firms use Volksbank, so it is Volksbank.",
        ),
        ("What is the code of the side door?", "I couldn't find it. Try Door7788!"),
        ("What is the code of the side door?", "The handbook does not say. Usually the code is Open4you."),
        ("Who runs the canteen?", "I am not sure. It's Lena Okafor."),
        ("Wie lautet der Code der Tür?", "Dazu finde ich nichts, aber er lautet vermutlich Tuer55x."),
        ("Wie lautet der Code der Tür?", "Das steht nicht in den Unterlagen. Vermutlich Tuer55x."),
        ("Mã cửa là gì?", "Tôi không tìm thấy thông tin. Có lẽ là Cua2031."),
    ],
)
def test_a_refusal_that_invents_afterwards_is_undecided(question: str, answer: str) -> None:
    detected = detect_behaviour(answer, question=question)
    assert detected.behaviour not in REFUSALS and detected.is_decided_by_text
    assert (detected.behaviour, detected.has_refusal) == (UNKNOWN, False) or detected.behaviour == "answer"


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know. Please contact HR at 0355 555 120.",
        "I couldn't find it. Ask Ms Okafor in Facilities.",
        "No information found. Try the Service Portal.",
        "The WLAN Guide does not mention it. The Handbook is silent, too.",
        "I don't know. It is not in the Travel Policy.",
        "I don't know. It may be in the Travel Guide.",
        "I don't know. Try Lena.",
        "I could not find it. Sorry.",
        "I have no information on that. Thank you.",
    ],
)
def test_what_asserts_nothing_stays_a_refusal(answer: str) -> None:
    assert detect_behaviour(answer, question="What is the code of the side door?").behaviour in REFUSALS
