"""Sentences of a section are asked about under its heading, one predicate at a time, with the answer they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.formats.golden_files import load_golden, write_golden
from assay.golden.drafting.drafted_parts import ANONYMOUS
from assay.golden.drafting.template_drafts import draft_candidates
from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet, User


def draft(text: str, section: str, *others: CorpusChunk) -> list[Case]:
    """Return the plain cases that are drafted of a chunk, in a corpus with some others."""
    chunks = (CorpusChunk("own", text=text, document="own", section=section), *others)
    candidates = draft_candidates(Corpus({chunk.chunk_id: chunk for chunk in chunks}))
    plain = ("exact", "table-or-numeric", "acronym-or-code")
    own = [candidate for candidate in candidates if candidate.drafted_from == ("own",)]
    return [candidate.case for candidate in own if candidate.kind in plain]


FILLER = "Whoever comes late waits outside until somebody has time."
"""Another sentence of the section, of which nothing is asked."""


@pytest.mark.parametrize(
    ("section", "sentence", "question", "must_have"),
    [
        (
            "Opening hours",
            "The hall opens at 9:00 on weekdays and at 8:00 on Saturdays.",
            "According to “Opening hours”, when does the hall open?",
            ("9:00", "8:00"),
        ),
        ("Cash desk", "The float is 300 EUR.", "According to “Cash desk”, how much is the float?", ("300 EUR",)),
        (
            "Emergencies",
            "Accidents are recorded in form AC-7 within 24 hours.",
            "According to “Emergencies”, in which form are accidents recorded within 24 hours?",
            ("form AC-7",),
        ),
        (
            "Yoga",
            "Yoga for climbers is on Thursdays at 19:00 in room 2.",
            "In which room is yoga for climbers on Thursdays at 19:00?",
            ("room 2",),
        ),
        (
            "Training",
            "The course lasts half a day and takes place every second Wednesday.",
            "According to “Training”, when does the course take place?",
            ("every second Wednesday",),
        ),
        (
            "Tickets",
            "A single ticket costs 64 NOK for adults and 32 NOK for seniors.",
            "According to “Tickets”, how much does a single ticket cost for adults?",
            ("64 NOK",),
        ),
        (
            "Quay rules",
            "The barrier closes five minutes before departure and is not opened again.",
            "According to “Quay rules”, how many minutes before departure does the barrier close?",
            ("five minutes",),
        ),
        (
            "Crew",
            "Life jackets are stored under the seats in the saloon and in the red boxes on the upper deck.",
            "According to “Crew”, where are life jackets stored?",
            (),
        ),
        ("Crew", "The master is Jon Aasen.", "According to “Crew”, who is the master?", ("Jon Aasen",)),
        (
            "Quay rules",
            "The duty officer, Kari Berge, can be reached on extension 214.",
            "According to “Quay rules”, who is the duty officer?",
            ("Kari Berge",),
        ),
        (
            "Security",
            "Visitors wear a yellow badge and are accompanied at all times.",
            "According to “Security”, what do visitors wear?",
            ("yellow badge",),
        ),
    ],
)
def test_a_sentence_among_others_is_asked_about(
    section: str, sentence: str, question: str, must_have: tuple[str, ...]
) -> None:
    cases = draft(f"{FILLER} {sentence}", section)
    assert [(question, sentence, must_have)] == [(case.question, case.reference, case.must_have) for case in cases]
    assert sentence == cases[0].evidence[0].quote


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ("Safety", "Drills are held on a lead."),  # no place
        ("Overview", "The float is 300 EUR."),  # of what?
        ("Courses", "The training lasts half a day."),  # half a day is no number of days
        ("Water", "The water tank leaks at the tap."),  # "water" is no verb here
        ("Trees", "The orchard, Old Mill Farm, is behind the barn."),  # no person
    ],
)
def test_a_sentence_that_no_rule_reads_is_left(section: str, sentence: str) -> None:
    assert [] == draft(f"{FILLER} {sentence}", section)


def test_a_heading_that_two_sections_share_leads_no_question() -> None:
    text = f"{FILLER} The float is 300 EUR."
    other = CorpusChunk("other", text="Nobody is there.", document="other", section="B > Cash desk")
    assert [] == draft(text, "A > Cash desk", other)


def test_it_stands_for_the_subject_right_before_it() -> None:
    text = "The beginner course takes three evenings. It costs 79 EUR and includes shoes."
    case = next(case for case in draft(text, "Beginner course") if "cost" in case.question)
    assert "How much does the beginner course cost?" == case.question
    assert "The beginner course costs 79 EUR and includes shoes." == case.reference
    assert text == case.evidence[0].quote


@pytest.mark.parametrize("before", ["The trainer helps the club.", "Two courses are given.", "We meet here."])
def test_it_is_not_asked_about_if_it_may_stand_for_something_else(before: str) -> None:
    assert not [case for case in draft(f"{before} It costs 79 EUR.", "Club") if "79 EUR" in case.must_have]


def test_the_second_price_needs_no_second_table() -> None:
    rows = "| Ticket | Adults | Students |\n|---|---|---|\n| Day ticket | 14 EUR | 11 EUR |\n| Free day | free | free |"
    asked = [(case.question, case.must_have) for case in draft(f"## Prices\n\n{rows}", "Hall > Prices")]
    assert asked == [
        ("According to “Prices”, how much is “Day ticket” under “Adults”?", ("14 EUR",)),
        ("According to “Prices”, how much is “Day ticket” under “Students”?", ("11 EUR",)),
    ]


@pytest.mark.parametrize(
    ("section", "sentence", "question", "must_have"),
    [
        (
            "Giờ mở cửa",
            "Cổng chính mở lúc 5 giờ sáng và đóng lúc 23 giờ.",
            "Theo “Giờ mở cửa”, cổng chính mở lúc mấy giờ?",
            ("5 giờ sáng",),
        ),
        (
            "Khách đến thăm",
            "Trưởng ban quản lý là ông Nguyễn Văn Hùng.",
            "Theo “Khách đến thăm”, ai là trưởng ban quản lý?",
            ("Nguyễn Văn Hùng",),
        ),
        ("Giặt sấy", "Máy giặt đặt ở tầng 1 nhà B.", "Theo “Giặt sấy”, máy giặt đặt ở đâu?", ("tầng 1 nhà B",)),
        (
            "Sửa chữa",
            "Đơn sửa chữa được gửi qua ứng dụng KTX-Online.",
            "Đơn sửa chữa được gửi qua kênh nào?",
            ("ứng dụng KTX-Online",),
        ),
    ],
)
def test_a_vietnamese_sentence_among_others_is_asked_about(
    section: str, sentence: str, question: str, must_have: tuple[str, ...]
) -> None:
    filler = "Sinh viên về muộn và không báo thì bảo vệ nhắc."
    (case,) = [case for case in draft(f"{filler} {sentence}", section) if case.question == question]
    assert must_have == case.must_have
    assert sentence.partition(" và ")[0].rstrip(".") + "." == case.reference
    assert sentence == case.evidence[0].quote


def test_a_log_gives_two_questions_of_one_form_and_answer() -> None:
    texts = {town: f"The Heron 12 from {town} was collected on Friday." for town in ("Kiel", "Oulu", "Alta", "Bergen")}
    texts["Vardø"] = "The Heron 12 from Vardø was collected on Monday."
    chunks = [
        CorpusChunk(town, text=f"{FILLER} {text}", document="diary", section=f"Diary of {town}")
        for town, text in texts.items()
    ]
    candidates = draft_candidates(Corpus({chunk.chunk_id: chunk for chunk in chunks}))
    answers = [candidate.case.must_have for candidate in candidates if candidate.kind == "exact"]
    assert (2, 1) == (answers.count(("Friday",)), answers.count(("Monday",)))


def test_what_is_drafted_of_one_restricted_document_can_be_reviewed(tmp_path: Path) -> None:
    """Nobody but the only role of the corpus is denied by somebody without any: the case says who that is."""
    text = f"{FILLER} The float is 300 EUR."
    restricted = CorpusChunk("own", text=text, document="staff", section="Cash desk", roles=("staff",))
    other = CorpusChunk("other", text="The hall opens at 9:00.", document="hall", section="Hours")
    candidates = draft_candidates(Corpus({chunk.chunk_id: chunk for chunk in (restricted, other)}))
    path = tmp_path / "candidates.jsonl"
    write_golden(GoldenSet(tuple(candidate.case for candidate in candidates)), path)
    denied = [case for case in load_golden(path).golden.cases if case.behaviour == "permission_denied"]
    assert ["According to “Cash desk”, how much is the float?"] == [case.question for case in denied]
    assert [User(id=ANONYMOUS)] == [case.user for case in denied]
