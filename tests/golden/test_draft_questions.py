"""What drafted questions say: of what is in force, under which heading, of which kind, giving nothing away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.golden.drafting.draft_cases import filter_candidates
from assay.golden.drafting.template_drafts import draft_candidates
from assay.records.golden_set import Corpus, CorpusChunk, GoldenSet

AS_OF = "2026-03-15"


def build(*chunks: CorpusChunk) -> Corpus:
    return Corpus({chunk.chunk_id: chunk for chunk in chunks})


def ask(*chunks: CorpusChunk, kind: str = "", as_of: str | None = AS_OF) -> list[str]:
    candidates = draft_candidates(build(*chunks), as_of)
    return [candidate.case.question for candidate in candidates if kind in ("", candidate.kind)]


def write(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_what_is_not_yet_in_force_or_no_longer_is_not_asked_about() -> None:
    text = "Production of the Stoat 2 ends on 30 September. Cartridges stay available until 2031."
    assert ["When does production of the Stoat 2 end?"] == ask(CorpusChunk("a", text=text, section="News"))[:1]
    assert [] == ask(CorpusChunk("a", text=text, section="News", valid_from="2026-05-12"))
    assert [] == ask(CorpusChunk("a", text=text, section="News", valid_to="2026-03-01"))


def two_versions(old: str, new: str, section: str) -> list[str]:
    first = CorpusChunk("v1", text=old, document="d", version="1", section=section, valid_to="2026-02-01")
    second = CorpusChunk("v2", text=new, document="d", version="2", section=section, valid_from="2026-02-01")
    return ask(first, second, kind="stale")


def test_a_stale_question_has_nothing_that_only_the_newer_version_says() -> None:
    shared = "They are lubricated with care every year. {}"
    bearings = "The bearings of the Kestrel 65 take {} g of grease of type {}."
    asked = two_versions(shared.format(bearings.format(12, "L2")), shared.format(bearings.format(9, "L4")), "Grease")
    assert ["How many grams of grease do the bearings of the Kestrel 65 take?"] == asked
    old = "Khi mất máy tính, nhân viên báo cho bộ phận IT trong ngày làm việc kế tiếp và phải điền biểu mẫu báo mất."
    new = (
        "Khi mất máy tính hoặc điện thoại công việc, nhân viên phải báo cho Security trong vòng 1 giờ kể từ khi phát "
        "hiện, kể cả ngoài giờ. Báo bằng số trực in trên thẻ, không chờ đến khi tìm lại."
    )
    assert "Khi mất máy tính, nhân viên phải làm gì?" in two_versions(old, new, "Mất thiết bị")


def test_a_question_that_says_little_by_itself_has_the_heading_of_its_section() -> None:
    terms = "Claims are reported within {} days. Wearing parts are excluded from it."
    asked = two_versions(terms.format(30), terms.format(14), "Terms of warranty")
    assert ["According to “Terms of warranty”, within how many days are claims reported?"] == asked
    text = "Opened fuel cans stay with the buyer. The sender pays the freight above 30 kg."
    asked = ask(CorpusChunk("a", text=text, document="returns", section="Terms of returns"), kind="exact")
    assert "According to “Terms of returns”, what happens to opened fuel cans?" in asked
    assert "According to “Terms of returns”, who pays the freight above 30 kg?" in asked


EXACT = (
    (
        "Indoor operation is forbidden without an exhaust hose.",
        "For the Otter 3600, what does indoor operation require?",
    ),
    ("Parallel operation needs the cable PX-2.", "For the Otter 3600, what does parallel operation require?"),
    ("Fuel or solvents destroy the membrane and are forbidden.", "What destroys the membrane of the Otter 3600?"),
    ("Only unleaded petrol of 95 octane may be filled in.", "For the Otter 3600, what may be filled in?"),
)


@pytest.mark.parametrize(("sentence", "question"), EXACT)
def test_needs_and_effects_are_asked_about(sentence: str, question: str) -> None:
    chunk = CorpusChunk("a", text=f"{sentence} Nobody knows why.", section="Otter 3600 (OG-3600): limits of use")
    assert [question] == ask(chunk, kind="exact")


PRICES = """| Loại vé | Người lớn | Trẻ em |
| --- | --- | --- |
| Vé ngày | 220.000 đồng | 120.000 đồng |
| Thẻ 10 lần | 1.900.000 đồng | không bán |"""


def test_a_vietnamese_price_table_is_asked_for_prices_and_not_for_people() -> None:
    asked = ask(CorpusChunk("a", text=PRICES, document="gia", section="Bảng giá"))
    assert "Vé ngày cho người lớn giá bao nhiêu?" in asked
    assert "Loại vé nào cho người lớn giá 220.000 đồng?" in asked
    assert not [question for question in asked if " là ai" in question or "không bán" in question]


def test_a_quantity_is_asked_for_by_how_many_and_only_if_it_is_one() -> None:
    table = (
        "| Thiết bị | Số lượng tại nhà |\n| --- | --- |\n| Màn hình rời | 2 chiếc |\n| Ghế, bàn làm việc | Không cấp |"
    )
    asked = ask(CorpusChunk("a", text=table, document="d", section="Thiết bị"), kind="table-or-numeric")
    assert ["Số lượng tại nhà đối với thiết bị “Màn hình rời” là bao nhiêu?"] == asked


def test_the_length_is_that_of_the_course_and_money_is_no_volume() -> None:
    courses = (
        "| Code | Course | Length |\n| --- | --- | --- |\n| BB-1 | Belay Basics | 3 hours |\n| LD-2 | Lead | 9 hours |"
    )
    asked = ask(CorpusChunk("a", text=courses, document="d", section="Course list"))
    assert "What is the length of course BB-1?" in asked and not [each for each in asked if "of code" in each]
    budget = "| Hall | Volumes |\n| --- | --- |\n| Riverside | 9,500 EUR |\n| Old Foundry | 6,000 EUR |"
    assert not [each for each in ask(CorpusChunk("b", text=budget, section="Budget")) if "volumes" in each]
    sizes = budget.replace("9,500 EUR", "95 m3").replace("6,000 EUR", "60 m3")
    assert "Which hall has volumes of 95 m3?" in ask(CorpusChunk("b", text=sizes, document="d", section="Sizes"))


def test_a_denial_is_not_drafted_where_the_own_tenant_has_rules_on_the_topic() -> None:
    table = "| Leave | Time |\n| --- | --- |\n| Marriage | 3 days |\n| Moving | 1 day |"
    ours = CorpusChunk("a", text=table, document="hr_leave_policy", section="Kinds of leave", tenant="acme")
    other: dict[str, Any] = {"tenant": "umbra", "text": "Staff have 12 days a year."}
    assert [] == ask(ours, CorpusChunk("b", document="umbra_leave_policy", section="Leave", **other), kind="access")
    assert ask(ours, CorpusChunk("b", document="umbra_parking", section="Parking", **other), kind="access")


def test_an_invented_name_says_of_what_kind_it_is_and_an_invented_code_is_written_nowhere() -> None:
    limits = "| Surface | Limit |\n| --- | --- |\n| Sandbox | 60 calls a minute |\n| Upload | 5 calls a minute |"
    codes = "| Code | Meaning |\n| --- | --- |\n| ERR-409 | It changed meanwhile |\n| ERR-410 | It is gone |"
    asked = ask(
        CorpusChunk("a", text=limits, document="a", section="Limits"),
        CorpusChunk("b", text=codes, document="b", section="Errors"),
        CorpusChunk("c", text="Status 411 is an error too.", document="b", section="Status"),
        kind="no-answer",
    )
    assert (
        "What is the limit of the surface “Zentravia”?" in asked
        or "What is the limit for the surface “Zentravia”?" in asked
    )
    assert "What does code ERR-412 mean?" in asked


def test_at_most_a_third_of_questions_without_an_answer_are_off_the_domain() -> None:
    corpus = build(CorpusChunk("a", text=PRICES, document="gia", section="Bảng giá"))
    report = filter_candidates(draft_candidates(corpus), corpus, GoldenSet(()))
    absent = [candidate.case for candidate in report.kept if candidate.kind == "no-answer"]
    off = [case for case in absent if "off-domain" in case.tags]
    assert 3 * len(off) <= len(absent) or not off
    assert {"off-domain"} <= set(report.reasons)


def test_documents_without_a_candidate_are_named_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(
        tmp_path / "corpus.jsonl",
        {"chunk_id": "a", "document": "milk", "text": "Milk is collected every second day."},
        {"chunk_id": "b", "document": "later", "text": "Milk is sold at noon.", "valid_from": "2027-01-01"},
        {"chunk_id": "c", "document": "vague", "text": "Nobody knows why. It is so."},
    )
    arguments = ["golden", "draft", "--corpus", path, "--out", str(tmp_path / "out.jsonl"), "--as-of", AS_OF]
    assert 0 == main([*arguments, "--format", "json"])
    printed = {row["document"]: row["reason"] for row in json.loads(capsys.readouterr().out)["documents"]}
    assert {"later", "vague"} == set(printed)
    assert "it is not in force on 2026-03-15 (valid from 2027-01-01)" == printed["later"]
    assert "the templates make no question of its 2 sentences and rows" == printed["vague"]
    assert 0 == main(arguments)
    assert "Documents without a candidate" in capsys.readouterr().out


def test_a_day_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "corpus.jsonl", {"chunk_id": "a", "text": "Milk is collected every second day."})
    assert 2 == main(["golden", "draft", "--corpus", path, "--as-of", "2026-13-45", "--out", str(tmp_path / "o.jsonl")])
    assert "--as-of: not a date (got '2026-13-45'" in capsys.readouterr().err
    assert not (tmp_path / "o.jsonl").exists()


def test_a_chunk_in_which_something_stands_does_not_nearly_answer_what_letters_stand_for() -> None:
    from assay.golden.candidate_rows import ChunkSearch

    corpus = build(CorpusChunk("a", text="The ladder stands at the wall."), CorpusChunk("b", text="The AED is red."))
    names = [name for name, _ in ChunkSearch(corpus).find_nearby("What does AED stand for?", set())]
    assert ["b"] == names
