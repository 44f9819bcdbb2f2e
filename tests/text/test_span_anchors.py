"""A span of time that is counted from another event than in its source is left open, or denied on its contrary side."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts

SPANS = (
    (
        "How long can I return shoes?",
        "30 days",
        "Shoes can be returned within 30 days of delivery.",
        ("30 days after delivery.", "Within 30 days of receiving them."),
        ("30 days after payment.", "30 days after the sale ends."),
        "Within 30 days before delivery.",
    ),
    (
        "How long may I appeal?",
        "two weeks",
        "Students may appeal within two weeks after the end of the term.",
        ("Two weeks after the end of term.", "Two weeks after the term is over."),
        (
            "Two weeks after the start of the term.",
            "Two weeks after the term begins.",
            "Two weeks, counted from the exam.",
        ),
        "Two weeks before the end of the term.",
    ),
    (
        "Wie lange kann ich die Bestellung widerrufen?",
        "14 Tage",
        "Der Widerruf ist 14 Tage ab Erhalt der Ware möglich.",
        ("14 Tage ab Erhalt.", "14 Tage nach Lieferung der Ware."),
        ("14 Tage ab Bestellung.", "14 Tage nach Zahlung."),
        "14 Tage vor Erhalt der Ware.",
    ),
    (
        "Quel est le délai de retour ?",
        "30 jours",
        "Retour possible 30 jours après la livraison.",
        ("30 jours après la livraison.", "30 jours à compter de la réception."),
        ("30 jours après la commande.",),
        "30 jours avant la livraison.",
    ),
    (
        "Được đổi trả trong bao lâu?",
        "7 ngày",
        "Khách được đổi trả trong 7 ngày kể từ ngày nhận hàng.",
        ("7 ngày kể từ ngày nhận hàng.", "7 ngày sau khi nhận hàng."),
        ("7 ngày kể từ ngày đặt hàng.",),
        "7 ngày trước khi nhận hàng.",
    ),
)


@pytest.mark.parametrize(("question", "fact", "source", "same", "other", "contrary"), SPANS)
@pytest.mark.parametrize("is_reference", [True, False], ids=["reference", "evidence"])
def test_a_span_is_counted_from_the_event_of_its_source(
    question: str,
    fact: str,
    source: str,
    same: tuple[str, ...],
    other: tuple[str, ...],
    contrary: str,
    is_reference: bool,
) -> None:
    reference, passages = (source, ()) if is_reference else ("", (source,))
    for answer in same:
        (judgment,) = judge_facts(answer, [fact], question, reference, passages)
        assert "counts this" not in judgment.reason, answer
    for answer in other:
        assert judge_facts(answer, [fact], question, reference, passages)[0].state == "unknown", answer
    assert judge_facts(contrary, [fact], question, reference, passages)[0].state == "denied"


def test_an_event_that_is_asked_for_or_in_no_source_is_no_other() -> None:
    answer, fact = "14 days after booking.", ["14 days"]
    asked = judge_facts(
        answer, fact, "How long after booking can I cancel?", "", ["You have 14 days from confirmation."]
    )
    assert asked[0].state == "stated"
    assert judge_facts(answer, fact, "How long can I cancel?", "", ["You have 14 days."])[0].state == "stated"
    several = ["You have 14 days from arrival.", "You have 14 days from booking."]
    assert judge_facts(answer, fact, "How long can I cancel?", "", several)[0].state == "stated"


def test_more_information_never_judges_more_loosely() -> None:
    question, answer = "How long do I have?", "One month, counted from the day on which the increase takes effect."
    reference = "One month from receipt of the notice."
    assert judge_facts(answer, ["one month"], question, reference)[0].state == "unknown"
    assert judge_facts(answer, ["one month"], question, reference, [reference])[0].state == "unknown"
