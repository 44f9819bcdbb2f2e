"""Answers that are a passage of the context as it stands."""

# ruff: noqa: E501  # the material reads best with one passage a line

from __future__ import annotations

from typing import NamedTuple

import pytest

import assay
from assay.metrics.case_checks import PASTED_PASSAGE
from assay.records.golden_set import Case, Evidence, GoldenSet, Selector
from assay.records.observations import Chunk, Observation, Stage
from assay.report.findings.doubts import list_doubts
from assay.runs.score_result import ScoreResult

OTHERS = ("The canteen is on the second floor and opens at noon.", "Keys are returned to the porter after each shift.")


class Passage(NamedTuple):
    """A question with its reference and must-have fact, and a chunk that holds the answer."""

    question: str
    reference: str
    fact: str
    text: str


COMPETING = (
    Passage(
        "How much is a day ticket for adults?",
        "A day ticket costs 12 euros for adults.",
        "12 euros",
        "The harbour baths open on 1 May and close on 30 September.\n\nA day ticket costs 12 euros for adults and 8 euros for children. Families pay 29 euros.\n\nDogs are not allowed on the lawn. Lost property is kept at the kiosk.",
    ),
    Passage(
        "How many days before travel must a trip be approved?",
        "Trips must be approved 10 days before travel.",
        "10 days",
        "Business trips are booked through the portal. First class is not reimbursed.\n\nEvery trip must be approved 10 days before travel. Trips abroad are approved 21 days before travel.\n\nReceipts are handed in within 14 days after the return.",
    ),
    Passage(
        "When does the library close on Saturdays?",
        "On Saturdays the library closes at 16:00.",
        "16:00",
        "The library is in the old mill.\n\nOn weekdays it closes at 19:00, on Saturdays at 16:00 and on Sundays at 13:00.\n\nBags must be left in the lockers at the entrance.",
    ),
    Passage(
        "Was kostet die Monatskarte?",
        "Die Monatskarte kostet 49 Euro.",
        "49 Euro",
        "Der Bus fährt alle zehn Minuten vom Bahnhof zum Hafen.\n\nDie Monatskarte kostet 49 Euro, die Wochenkarte 17 Euro, die Tageskarte 5 Euro.\n\nFahrräder dürfen nach 9 Uhr mitgenommen werden.",
    ),
    # The second half was not looked at before the rules were finished.
    Passage(
        "How heavy may a parcel to Norway be?",
        "A parcel to Norway may weigh 20 kg.",
        "20 kg",
        "Parcels are handed in at the counter by noon.\n\nTo Norway a parcel may weigh 20 kg, to Japan 15 kg. Tubes are charged as parcels.\n\nCustoms forms are printed at the counter.",
    ),
    Passage(
        "Khách được hủy phòng trước bao nhiêu ngày?",
        "Khách được hủy phòng trước 3 ngày.",
        "3 ngày",
        "Phòng được giữ đến 18 giờ của ngày nhận phòng.\n\nKhách được hủy phòng trước 3 ngày, đoàn từ mười người hủy trước 15 ngày.\n\nTiền cọc được trả qua chuyển khoản. Bữa sáng phục vụ tại tầng hai.",
    ),
    Passage(
        "What is the deposit for a van?",
        "The deposit for a van is 400 pounds.",
        "400 pounds",
        "Vehicles are fetched from the yard behind the station.\n\nThe deposit is 150 pounds for a car and 400 pounds for a van. It is paid by card.\n\nFuel is filled up before the vehicle is returned.",
    ),
    Passage(
        "Quelle est la durée du prêt d'un DVD ?",
        "Un DVD se prête pour 7 jours.",
        "7 jours",
        "La carte est gratuite pour les habitants de la commune.\n\nUn livre se prête pour 28 jours, un DVD pour 7 jours. Le prêt se renouvelle en ligne.\n\nLes retards suspendent la carte.",
    ),
)
OPEN_ANYWAY = COMPETING[6:8]
"""Passages of which the rules leave even the sentence open that answers."""
PLAIN = (
    Passage(
        "Who approves overtime?",
        "The shift lead approves overtime.",
        "shift lead",
        "Overtime is recorded in the blue book on the day it is worked.\n\nThe shift lead approves overtime. Without approval it is not paid.\n\nThe book is kept in the office and is open to the works council.",
    ),
    Passage(
        "How much is a locker?",
        "A locker costs 2 euros.",
        "2 euros",
        "The lockers are in the basement next to the lifts.\n\nA locker costs 2 euros. It opens with the receipt.\n\nWhat is left overnight is taken to the porter.",
    ),
    # The second half was not looked at before the rules were finished.
    Passage(
        "Where are the keys of the archive kept?",
        "The keys of the archive are kept at the porter's desk.",
        "porter's desk",
        "The archive holds the minutes of all committees.\n\nThe keys of the archive are kept at the porter's desk. They are handed out against a signature.\n\nFiles are read in the room and are not taken away.",
    ),
    Passage(
        "How long does the guarantee last?",
        "The guarantee lasts 24 months.",
        "24 months",
        "Machines are delivered to the kerb and unpacked by the buyer.\n\nThe guarantee lasts 24 months. It begins with the delivery.\n\nWear of belts and brushes is not covered by it.",
    ),
)


def _score(passage: Passage, answer: str, *, by_reference: bool = False) -> ScoreResult:
    case = Case("q", passage.question, evidence=(Evidence((Selector(chunk_id="c"),)),))
    expected = {"reference": passage.reference} if by_reference else {"must_have": (passage.fact,)}
    shown = (Chunk("c", text=passage.text), *(Chunk(f"o{n}", text=text) for n, text in enumerate(OTHERS)))
    observation = Observation("q", "c", stages=(Stage("context", shown),), answer=answer)
    golden = GoldenSet((Case(**{name: getattr(case, name) for name in case.__struct_fields__} | expected),))
    return assay.score(golden, [observation], metrics=("correct_answer", "correctness(by=rules)", PASTED_PASSAGE))


@pytest.mark.parametrize("by_reference", [False, True])
@pytest.mark.parametrize("passage", COMPETING)
def test_a_passage_with_a_competing_value_is_unknown(passage: Passage, *, by_reference: bool) -> None:
    scored = _score(passage, passage.text, by_reference=by_reference)
    [case] = scored.cases
    assert "correct_answer" not in case.scores
    assert (passage in OPEN_ANYWAY) or (
        "the answer is a passage as it stands, which also has" in case.reasons["correct_answer"]
    )
    assert "unknown" == case.outcome
    assert 1 == case.scores[PASTED_PASSAGE]
    assert "100% of the answer is c, word for word" == case.reasons[PASTED_PASSAGE]
    if not by_reference:
        assert "correctness(by=rules)" not in case.scores


@pytest.mark.parametrize("passage", PLAIN)
def test_a_passage_without_one_is_read_as_its_sentence_with_a_warning(passage: Passage) -> None:
    scored = _score(passage, f"Here is what I found:\n\n{passage.text}", by_reference=True)
    [case] = scored.cases
    [alone] = _score(passage, passage.text.split("\n\n")[1], by_reference=True).cases
    assert alone.outcome == case.outcome, "it is read as the sentence that answers"
    assert case.scores[PASTED_PASSAGE] >= 0.8
    assert [
        f"doubt: 1 of 1 case has an answer that is a passage of the context, copied whole: q{_ADVICE}"
    ] == list_doubts(scored.scoring)


_ADVICE = " (what is asked for may be in it, and was not picked out)"


@pytest.mark.parametrize("passage", COMPETING)
def test_what_was_picked_out_of_a_passage_is_no_passage(passage: Passage) -> None:
    sentence = passage.text.split("\n\n")[1]
    for answer in (passage.reference, sentence):
        [case] = _score(passage, answer).cases
        assert 0 == case.scores[PASTED_PASSAGE]
        assert passage in OPEN_ANYWAY or case.scores["correct_answer"] == 1
