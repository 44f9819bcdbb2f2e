"""The questions of the help desk, what a true answer must say, and the golden set made of them."""

from __future__ import annotations

from typing import NamedTuple

from assay.records.golden_set import Behaviour, Case, Evidence, GoldenSet, Rubric, User
from benchmarks.lending.passages import TODAY


class Question(NamedTuple):
    """A question, the passages that answer it, and the values that a true answer says.

    `kind` says what the case states: must-have facts, keywords, a number, or a reference alone.
    """

    case_id: str
    text: str
    chunks: tuple[str, ...]
    values: tuple[str, ...]
    reference: str = ""
    kind: str = "facts"
    roles: tuple[str, ...] = ()
    branch: str | None = None
    behaviour: Behaviour = "answer"


_STAFF = ("staff",)
QUESTIONS: tuple[Question, ...] = (
    Question("l01", "How long are films and games lent?", ("q101",), ("7 days",), "For 7 days."),
    Question("l02", "How many items does a card hold?", ("q102",), ("30 items",), "30 items.", "number"),
    Question("l03", "With how many items do new members start?", ("q102",), ("5 items",), "With 5.", "number"),
    Question("l04", "What does reserving a title cost?", ("q103",), ("80 cents",), "80 cents."),
    Question("l05", "For how many days do we keep a reserved title?", ("q103",), ("8 days",), "8 days."),
    Question("l06", "What does a request to another library cost?", ("q104",), ("3.50 euros",), "3.50 euros.", "facts"),
    Question("l07", "Where are rare prints read?", ("q104",), ("reading room",), "In the reading room.", "keywords"),
    Question("f01", "What do overdue books cost per day?", ("q202",), ("30 cents",), "30 cents a day."),
    Question("f02", "What do overdue films cost per day?", ("q202",), ("1.60 euros",), "1.60 euros.", "facts"),
    Question(
        "f03", "At what sum does the charge for one item stop?", ("q202",), ("18 euros",), "At 18 euros.", "number"
    ),
    Question("f04", "What does the yearly card cost?", ("q204",), ("24 euros",), "24 euros.", "number"),
    Question("f05", "How much do apprentices pay for the card?", ("q204",), ("12 euros",), "12 euros."),
    Question(
        "f06",
        "For how much is a lost card replaced, and what does the yearly card cost?",
        ("q204",),
        ("6 euros", "24 euros"),
        "6 euros and 24 euros.",
    ),
    Question(
        "b01", "When does the central library close on Saturdays?", ("q301",), ("16:00",), "At 16:00.", "keywords"
    ),
    Question("b02", "When does the Northgate branch open?", ("q302",), ("14:00",), "At 14:00."),
    Question("b03", "By whom is the Riverside branch led?", ("q303",), ("Piet Olander",), "Piet Olander.", "keywords"),
    Question("b04", "How many titles does the library bus carry?", ("q304",), ("4,000",), "4,000 titles.", "number"),
    Question("b05", "When does the library bus stop at Elm Square?", ("q304",), ("15:15",), "At 15:15."),
    Question("r01", "How many days ahead can a study room be booked?", ("q401",), ("14 days",), "14 days."),
    Question("r02", "How long an induction does the laser cutter need?", ("q402",), ("45 minutes",), "45 minutes."),
    Question("r03", "For how long may the piano be played?", ("q403",), ("60 minutes",), "60 minutes.", "number"),
    Question("d01", "After how many days do e-books return themselves?", ("q501",), ("21 days",), "After 21 days."),
    Question("d02", "What is the wireless network called?", ("q502",), ("READERS",), "READERS.", "keywords"),
    Question(
        "d03",
        "What does a black page cost to print, and what does a colour page cost to print?",
        ("q503",),
        ("10 cents", "35 cents"),
        "10 cents and 35 cents.",
    ),
    Question("d04", "Which app do audiobooks need?", ("q501",), ("Murmur",), "Murmur.", "reference"),
    Question("e01", "When does story time start?", ("q601",), ("10:30",), "At 10:30."),
    Question("e02", "What do tickets for the reading by the author cost?", ("q602",), ("7 euros",), "7 euros."),
    Question("e03", "How much did the sale of books raise last year?", ("q603",), ("2,300 euros",), "2,300 euros."),
    Question("s01", "Within how many seconds is the alarm switched off?", ("q701",), ("40 seconds",), roles=_STAFF),
    Question("s02", "Up to what sum may colleagues waive charges?", ("q702",), ("10 euros",), roles=_STAFF),
    Question("a01", "From which year do readers see parish maps?", ("q801",), ("1840",), branch="northgate"),
    Question("u01", "Which sandwiches does the cafeteria bake?", (), (), behaviour="abstain"),
    Question("u02", "Who painted the ceiling in the entrance hall?", (), (), behaviour="abstain"),
    Question("x01", "Within how many seconds is the alarm switched off?", (), (), behaviour="permission_denied"),
    Question("x02", "Up to what sum may colleagues waive charges?", (), (), behaviour="permission_denied"),
)
"""Loans (l), charges (f), branches (b), rooms (r), digital (d), events (e), staff (s), archive (a), no answer (u) and
denied (x)."""


def make_user(question: Question) -> User:
    """Return the user of a question."""
    return User(tenant=question.branch, roles=question.roles, as_of=TODAY)


def make_case(question: Question) -> Case:
    """Return the case of a question."""
    is_answer = question.behaviour == "answer"
    rubric = None
    if question.kind == "keywords":
        rubric = Rubric(correct_keywords=question.values)
    elif question.kind == "number":
        rubric = Rubric(kind="number")
    return Case(
        question.case_id,
        question.text,
        behaviour=question.behaviour,
        reference=question.reference or None,
        must_have=question.values if is_answer and question.kind == "facts" else (),
        rubric=rubric,
        evidence=tuple(Evidence(any_of=({"chunk_id": name},)) for name in question.chunks),
        user=make_user(question),
        language="en",
    )


def build_golden() -> GoldenSet:
    """Return the golden set of the help desk."""
    return GoldenSet(tuple(map(make_case, QUESTIONS)), name="lending", as_of=TODAY)
