"""Days, ordinals and counts as German and Vietnamese write them: found as values, and no end of a sentence."""

from __future__ import annotations

import pytest

from assay.attribution.one_case.unsupported_numbers import find_unsupported_numbers
from assay.text.claims.claim_segments import segment_claims
from assay.text.facts.stated_facts import judge_facts
from assay.text.quantities.measures import find_measures


@pytest.mark.parametrize(
    ("fact", "question", "answer"),
    [
        ("1 tháng 12", "Hạn nộp đơn là khi nào?", "Hạn nộp đơn là ngày 01/12."),
        ("1 tháng 12", "Hạn nộp đơn là khi nào?", "Hạn là ngày 1-12."),
        ("15 May", "Until when can I apply?", "15.05."),
        ("15 May", "Until when can I apply?", "By 15.05."),
        ("15 May", "Until when can I apply?", "By 15-05."),
        ("31 May", "When is the deadline?", "Deadline: 31.05."),
        ("31 May", "When is the deadline?", "The deadline is 31.05."),
        ("8", "Nach wie vielen Eingaben wird das Konto gesperrt?", "Nach acht Eingaben wird es gesperrt."),
        ("11", "Wie viele Spieler hat eine Mannschaft?", "Eine Mannschaft spielt mit elf Spielern."),
        ("15 minutes", "When does a booking expire?", "After a quarter-hour."),
        ("1 Monat", "Bis wann kann ich widerrufen?", "Innerhalb eines Monats."),
    ],
)
def test_a_value_is_found_as_it_is_written(fact: str, question: str, answer: str) -> None:
    assert ["stated"] == [judgment.state for judgment in judge_facts(answer, [fact], question)]


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        ("16 May", "15.05."),
        ("15 June", "By 15-05."),
        ("2 tháng 12", "Hạn nộp đơn là ngày 01/12."),
        ("9", "Nach acht falschen Eingaben."),
        ("20 minutes", "After a quarter-hour."),
    ],
)
def test_another_value_is_not(fact: str, answer: str) -> None:
    assert "stated" not in [judgment.state for judgment in judge_facts(answer, [fact], "When?")]


@pytest.mark.parametrize(
    "text",
    ["Version 3.05. is out", "The factor is 15.05.", "Total: 31.05.", "Prices rose by 15.05. Then they fell.", "3.5."],
)
def test_other_numbers_with_points_are_no_days(text: str) -> None:
    assert [()] == [measure.date for measure in find_measures(text)]


@pytest.mark.parametrize("text", ["01-02", "10-12", "30-05 units"])
def test_a_dash_is_a_day_only_where_no_range_is_possible(text: str) -> None:
    is_day = text.startswith("30")
    assert is_day is any(measure.date for measure in find_measures(text))


def test_a_dash_within_a_whole_date_is_no_day() -> None:
    assert [((2026, 3, 1),)] == [measure.date for measure in find_measures("2026-03-01")]
    assert [((2026, 5, 15),)] == [measure.date for measure in find_measures("15-05-2026")]


def test_a_time_after_one_of_24_hours_is_no_time_in_the_afternoon() -> None:
    assert [] == find_unsupported_numbers("Not between 6 pm and 7 am.", ["between 18:00 and 7:00 and on Sundays"])
    assert [] == find_unsupported_numbers("It is open until 5 pm.", ["open from 9:00 to 5:00"])


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("Im 1. Studienjahr ist es erlaubt.", "Nur für Studierende im ersten Studienjahr."),
        ("Bis zum Ende des 2. Semesters.", "Spätestens im zweiten Semester."),
        ("Höchstens einen Monat nach Beginn.", "Innerhalb eines Monats nach Beginn."),
    ],
)
def test_an_ordinal_or_a_genitive_of_a_source_is_no_new_number(answer: str, source: str) -> None:
    assert [] == find_unsupported_numbers(answer, [source])
    assert find_unsupported_numbers("Im 3. Studienjahr.", ["Nur im ersten Studienjahr."])


@pytest.mark.parametrize(
    "text",
    [
        "Die Frist läuft zum 31. März oder 30. September ab.",
        "Im 1. Fachsemester ist eine Beurlaubung nur bei Krankheit möglich.",
        "Ab dem 3. Rücktritt ist ein Attest nötig.",
    ],
)
def test_a_german_ordinal_ends_no_sentence(text: str) -> None:
    assert [text] == [claim.text for claim in segment_claims(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Es sind 31. Danach kommt nichts mehr.", 2),
        ("Es gilt bis zum 3. Die Frist endet dann.", 2),
        ("I am 31. Nothing has changed since.", 2),
        ("There are 12. Each costs 5 euros.", 2),
    ],
)
def test_other_numbers_end_sentences(text: str, count: int) -> None:
    assert count == len(segment_claims(text))
