"""A number that counts something is not the same number of a unit: 30 minutes are no 30 sessions."""

from __future__ import annotations

import pytest

from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts

COUNTED = (
    ("How many books may I borrow at once?", "12 books", "Twelve books.", ("12 weeks.", "12%.", "EUR 12.", "12 kg.")),
    ("After how many wrong codes is the card locked?", "4 wrong codes", "After four.", ("After 4 days.", "After 4%.")),
    ("Wie viele Pakete passen hinein?", "6 Pakete", "Sechs Pakete.", ("6 Stunden.", "6 Prozent.")),
    ("Combien de colis puis-je envoyer ?", "3 colis", "3 colis.", ("3 euros.", "3 jours.")),
    ("Mượn được bao nhiêu cuốn sách?", "5 cuốn", "5 cuốn sách.", ("5 ngày.", "5%.")),
)


@pytest.mark.parametrize(("question", "value", "right", "wrong"), COUNTED)
def test_a_unit_of_its_own_is_no_count(question: str, value: str, right: str, wrong: tuple[str, ...]) -> None:
    assert judge_reference_facts(right, f"{value}.", question)[0].state == "stated"
    for answer in wrong:
        assert judge_reference_facts(answer, f"{value}.", question)[0].state == "denied", answer
        assert judge_facts(answer, [value], question)[0].state != "stated", answer


def test_a_bare_number_counts_what_the_question_asks_the_number_of() -> None:
    question = "How many lockers are on this floor?"
    states = [judge_facts(text, ["40"], question)[0].state for text in ("There are 40.", "40 minutes.", "$40.")]
    assert states == ["stated", "denied", "denied"]
    assert judge_facts("40 minutes.", ["40"], "How many minutes does it take?")[0].state == "stated"


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("How many pages may I print?", "50 pages", "50 photographs.", "unknown"),
        ("How many pages may I print?", "50 pages", "50 at once.", "stated"),
        ("How many kilos may it weigh and what does it cost?", "20 kg", "20 kg, for 5 euros.", "stated"),
        ("How many packs are there, and for how much?", "£20", "For £20.", "stated"),
    ],
)
def test_what_may_be_the_same_is_not_denied(question: str, fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == state


def test_a_span_may_stand_for_what_takes_time() -> None:
    judged = [judge_reference_facts(text, "3 nights.", "How many nights is it?")[0] for text in ("3 days.", "3%.")]
    assert [judgment.state for judgment in judged] == ["unknown", "denied"]
