"""Templates ask whether a thing is so that a sentence denies, what it costs, and what holds at a time or place."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.formats.corpus import load_corpus
from assay.golden.drafting.template_drafts import draft_candidates
from assay.records.golden_set import Corpus, CorpusChunk

HANDBOOK = Path(__file__).parents[2] / "examples/handbook/corpus/chunks.jsonl"
PLAIN = {"exact", "table-or-numeric", "acronym-or-code"}


def draft(*texts: str, section: str | None = None) -> dict[str, tuple[str, ...]]:
    """Return the plain questions about some chunks, with what their answers must say."""
    chunks = {f"c:{number}": CorpusChunk(f"c:{number}", text, section=section) for number, text in enumerate(texts)}
    candidates = draft_candidates(Corpus(chunks))
    return {each.case.question: each.case.must_have for each in candidates if each.kind in PLAIN}


@pytest.mark.parametrize(
    ("text", "question", "must_have"),
    [
        ("Dogs are not allowed in the reading room.", "Are dogs allowed in the reading room?", "not allowed"),
        ("Parcels are not insured against frost.", "Are parcels insured against frost?", "not insured"),
        ("Skating is prohibited on the quay.", "Is skating allowed on the quay?", "prohibited"),
        ("Vans must not stop in front of the depot.", "May vans stop in front of the depot?", "must not stop"),
        ("Day tickets cannot be exchanged at the kiosk.", "Can day tickets be exchanged at the kiosk?", "cannot be"),
        ("The voucher does not cover the sauna.", "Does the voucher cover the sauna?", "does not cover"),
        ("Trainees do not work on public holidays.", "Do trainees work on public holidays?", "do not work"),
        ("Mật khẩu không được viết ra giấy.", "Mật khẩu có được viết ra giấy không?", "không được"),
        ("Trẻ em dưới 6 tuổi không cần vé.", "Trẻ em dưới 6 tuổi có cần vé không?", "không cần"),
        ("Phí gửi xe không bao gồm tiền vệ sinh.", "Phí gửi xe có bao gồm tiền vệ sinh không?", "không bao gồm"),
        ("A cabin costs $18 for up to three people.", "How much does a cabin cost for up to three people?", "$18"),
        (
            "Early boarding from 10:00 costs €20 and needs a form.",
            "How much does early boarding from 10:00 cost?",
            "€20",
        ),
        ("Sending a trunk by rail costs 7.50 EUR.", "How much does sending a trunk by rail cost?", "7.50 EUR"),
        (
            "In winter the crossing takes 80 minutes.",
            "How many minutes does the crossing take in winter?",
            "80 minutes",
        ),
        (
            "On 3 May an extra tram leaves Oberdorf at 21:00.",
            "When does an extra tram leave Oberdorf on 3 May?",
            "21:00",
        ),
        ("Khi có báo động, khách tập trung tại boong số 2.", "Khi có báo động, khách tập trung ở đâu?", "boong số 2"),
    ],
)
def test_a_denial_a_price_and_an_adverbial_give_a_question_with_its_fact(
    text: str, question: str, must_have: str
) -> None:
    """The fact is in the sentence word for word; the price keeps what it is paid for, the question the time."""
    drafted = draft(text, "Something else is told in another place.")
    assert question in drafted, drafted
    (stated,) = drafted[question]
    assert stated.startswith(must_have) and stated in text


@pytest.mark.parametrize(
    "text",
    [
        "Dogs are not allowed in the reading room unless they guide the blind.",  # "no" would not be the whole answer
        "Guests are not only welcome in the garden.",
        "Letters may not arrive on the next day.",  # it is possible, and not forbidden
        "Batteries may not be removed or charged on deck.",  # "no" to an alternative tells neither
        "It does not apply to boats.",
        "These vouchers cannot be exchanged.",
        "Nghỉ không lương quá nửa tháng không được tính là tháng đủ điều kiện.",  # unpaid leave denies nothing
        "A cabin costs $18 in spring and $25 in summer.",  # one of two prices
        "Nothing costs €20 in this hall.",
        "In fact the crossing takes 80 minutes.",
        "With it the crossing takes 80 minutes.",
    ],
)
def test_what_no_question_asks_clearly_is_left_out(text: str) -> None:
    asked = draft(text, "Something else is told in another place.")
    assert not [question for question in asked if question.startswith(("Are ", "May ", "Does ", "Can ", "How much"))]
    assert not [question for question in asked if " có " in question or question.endswith(("in fact?", "with it?"))]


def test_the_time_of_one_day_is_asked_for_where_another_day_has_another_time() -> None:
    texts = ("The Marsh clinic closes at 18:00 on weekdays.", "The Marsh clinic closes at 11:30 on Saturdays.")
    assert ("11:30",) == draft(*texts)["When does the Marsh clinic close on Saturdays?"]
    assert "When does the Marsh clinic close?" in draft(texts[0], "The Marsh clinic has a lift.")


def test_hours_are_what_the_answer_must_say() -> None:
    """Without them a question had all words of its answer but the times, and was thrown away as giving it away."""
    drafted = draft("Bác sĩ trực tại nhà khách Hòa Bình từ 8 giờ 30 đến 17 giờ.", "Nhà khách có vườn.")
    assert ("8 giờ 30", "17 giờ") == drafted["Bác sĩ trực tại nhà khách Hòa Bình từ mấy giờ đến mấy giờ?"]


def test_several_sentences_are_asked_about_under_their_heading() -> None:
    text = "Pets are welcome in two rooms. Cats are not accepted on balconies. A basket for cats costs €4."
    drafted = draft(text, section="House rules > Animals")
    assert ("not accepted",) == drafted["According to “Animals”, are cats accepted on balconies?"]
    assert ("€4",) == drafted["According to “Animals”, how much does a basket for cats cost?"]


def test_the_first_line_of_a_chunk_without_a_section_is_its_heading() -> None:
    """Chunks of other tools begin with the title of their document; a sentence is no title."""
    lines = "The pool in Alba is open from 6:00 to 21:00.\nSwimming caps are not required in the pool."
    drafted = draft(f"Alba Inn: pool and gym\n{lines}")
    assert "According to “Alba Inn: pool and gym”, when is the pool in Alba open?" in drafted
    assert not [question for question in draft(f"{lines}\n{lines}") if "“" in question]


def test_a_heading_that_says_nothing_gives_way_to_the_one_above_it() -> None:
    text = "Blood is taken until noon. A blister test costs 7 EUR."
    drafted = draft(text, section="Prices of skin tests > Details")
    assert "According to “Prices of skin tests”, how much does a blister test cost?" in drafted


def test_a_heading_with_a_year_names_no_product() -> None:
    """ "Parking 2026" is no model 2026 that a part could belong to."""
    drafted = draft("Bicycles are free. A week in P2 costs €33.", section="Parking 2026")
    assert ("€33",) == drafted["According to “Parking 2026”, how much does a week in P2 cost?"]


def test_each_fact_of_the_handbook_is_in_its_chunk_word_for_word() -> None:
    corpus = load_corpus(str(HANDBOOK))[0]
    checked = 0
    for candidate in draft_candidates(corpus, "2026-03-01"):
        if candidate.kind in PLAIN:
            texts = [
                corpus.chunks[str(each["chunk_id"])].text or ""
                for unit in candidate.case.evidence
                for each in unit.any_of
                if "chunk_id" in each
            ]
            for fact in candidate.case.must_have:
                checked += 1
                assert any(fact in text for text in texts), candidate.case
    assert checked > 40
