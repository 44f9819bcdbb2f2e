"""An answer that only repeats the question as unclear, or only says whom to ask, refuses; the same words in an answer
do not."""

from __future__ import annotations

import pytest

from assay.text.refusals.behaviour import detect_behaviour

REFUSALS = ("abstain", "permission_denied", "escalate")
ECHOES = {
    "Does the policy apply to contractors?": """
        It is not clear whether the policy applies to contractors.
        It's not clear if it applies to contractors.
        Whether the policy applies to contractors is not clear.
        There is no telling whether it applies to contractors.""",
    "Is breakfast included in the price?": """
        It is not clear whether breakfast is included.
        It is not evident whether the price includes breakfast.
        I can't tell whether breakfast is included.""",
    "Can minors sign the form?": """
        It is uncertain whether minors can sign.
        It remains unclear whether minors can sign the form.""",
}
REDIRECTS = {
    "How do I get a refund?": """
        You will have to contact support about that.
        That is a question for the accounts team.
        You'll have to ring the office for that.
        Best to check with the landlord.""",
    "What does it cost?": """
        You'd need to ask the seller.
        That's one for the treasurer.
        Try asking the vendor.""",
    "When does the pool open?": """
        You will need to check with reception.
        You should ask the lifeguard about this.""",
}
ANSWERS = [
    ("Who do I contact about a lost badge?", "You will have to contact support about that."),
    ("Who do I contact about a lost badge?", "Please contact the front desk."),
    ("How do I return a jacket?", "You have to contact the shop within 14 days and show the receipt."),
    ("How do I return a jacket?", "You will need to ask for form B at the desk and pay 6 euros."),
    ("Who audits the accounts?", "The fraud team and an outside auditor do."),
    ("Does the policy apply to contractors?", "The policy does not apply to contractors."),
    ("Is the drone allowed?", "Drones are banned."),
]


@pytest.mark.parametrize("question", [*ECHOES, *REDIRECTS])
def test_what_only_echoes_the_question_or_says_whom_to_ask_refuses(question: str) -> None:
    for answer in map(str.strip, (ECHOES | REDIRECTS)[question].strip().splitlines()):
        detected = detect_behaviour(answer, question=question)
        assert detected.behaviour in REFUSALS, answer
        assert detected.is_decided_by_text, answer


@pytest.mark.parametrize(("question", "answer"), ANSWERS)
def test_whom_to_ask_is_an_answer_to_who_asks_for_it(question: str, answer: str) -> None:
    detected = detect_behaviour(answer, question=question)
    assert "answer" == detected.behaviour
    assert not detected.has_refusal
