"""Showing an answer: it is found, rebuilt and checked again, and nothing restricted is on any page."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.audit.test_verify import _edit_answer
from tests.audit.traffic import NOON, at_noon, make_line, write_lines

import assay
from assay.audit.incident import Incident
from assay.audit.incident_file import render_incident_html, render_incident_markdown
from assay.records.errors import InputError
from assay.report.write_pages import read_page_asset

TWELVE = "Full-time employees receive twelve days of annual leave per calendar year."
FIFTEEN = "Full-time employees receive fifteen days of annual leave per calendar year."
CARRY = "Unused annual leave expires on the last day of March."
SALARY = "The zephyrine bonus of the board amounts to 480,000 dollars."
EMPLOYEE = {"tenant": "acme", "roles": ["employee"]}


def write_corpus(path: Path, **texts: str) -> Path:
    rows: list[dict[str, Any]] = [{"chunk_id": name.replace("_", "-"), "text": text} for name, text in texts.items()]
    for row in rows:
        if row["chunk_id"] == "board-1":
            row |= {"tenant": "acme", "roles": ["board"]}
    return write_lines(path, rows)


def context(*chunks: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"name": "context", "chunks": [{"chunk_id": name, "text": text} for name, text in chunks]}]


def show_answer(folder: Path, line: dict[str, Any], **options: Any) -> Incident:
    store = str(folder / "s.sqlite")
    assay.audit.ingest(store, write_lines(folder / "one.jsonl", [line]), now=at_noon)
    result = assay.audit.show(store, line["id"], **{"now": NOON, **options})
    assert result.incident is not None
    return result.incident


def test_claims_have_their_evidence_and_citations_are_checked_then_and_now(tmp_path: Path) -> None:
    then = write_corpus(tmp_path / "then.jsonl", leave_1=TWELVE, leave_2=CARRY)
    now = write_corpus(tmp_path / "now.jsonl", leave_1=FIFTEEN)
    line = make_line(
        1,
        question="How many days of annual leave do full-time employees receive?",
        answer=f"{TWELVE[:-1]} [leave-1]. {CARRY[:-1]} [leave-2].",
        citations=["leave-1", "leave-2", "leave-9"],
        stages=context(("leave-1", TWELVE), ("leave-2", CARRY)),
        user=EMPLOYEE,
    )
    incident = show_answer(tmp_path, line, corpus=now, corpus_then=then)
    assert ["supported", "supported"] == [claim.verdict for claim in incident.claims]
    assert TWELVE == incident.claims[0].quote or TWELVE[:-1] == incident.claims[0].quote
    first, second, unknown = incident.citations
    assert ("leave-1", True, True, "supported") == (
        *(first.name, first.then.exists, first.then.reachable, first.then.support),
    )
    assert first.now is not None
    assert (True, True, "contradicted") == (first.now.exists, first.text_changed, first.now.support)
    assert second.now is not None
    assert (True, False) == (second.then.exists, second.now.exists)
    assert ("leave-9", False) == (unknown.name, unknown.then.exists)
    assert () == incident.chain_faults


LOSSES = {
    "context": (
        [
            {"name": "retrieved", "chunks": [{"chunk_id": "leave-1", "text": TWELVE}]},
            *context(("leave-2", CARRY)),
        ],
        "leave_2",
        "context: leave-1 says so; it was retrieved and not shown to the model",
    ),
    "retrieval": (context(("leave-2", CARRY)), "leave_1", "retrieval: leave-1 says so; it was in the index"),
    "generation": (context(("leave-2", CARRY)), "leave_2", "generation: no source that was examined says so"),
    "contradiction": (context(("leave-2", FIFTEEN)), "leave_2", "generation: it contradicts leave-2"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_claim_without_evidence_says_where_it_was_lost(name: str, tmp_path: Path) -> None:
    stages, in_corpus, sentence = LOSSES[name]
    texts = {"leave_1": TWELVE, "leave_2": FIFTEEN if name == "contradiction" else CARRY}
    corpus = write_corpus(tmp_path / "c.jsonl", **{in_corpus: texts[in_corpus]})
    line = make_line(1, answer=TWELVE, citations=[], stages=stages, user=EMPLOYEE)
    incident = show_answer(tmp_path, line, corpus=corpus)
    (claim,) = incident.claims
    assert claim.lost_at is not None
    assert claim.lost_at.startswith(sentence), claim


def test_evidence_that_came_later_is_an_index_of_then_that_was_behind(tmp_path: Path) -> None:
    then, now = (
        write_corpus(tmp_path / "then.jsonl", leave_2=CARRY),
        write_corpus(tmp_path / "now.jsonl", leave_1=TWELVE),
    )
    line = make_line(1, answer=TWELVE, citations=[], stages=context(("leave-2", CARRY)), user=EMPLOYEE)
    incident = show_answer(tmp_path, line, corpus=now, corpus_then=then)
    assert incident.claims[0].lost_at == "index: leave-1 says so today; it was not in the corpus of then"


def test_what_a_user_may_not_see_is_reported_and_shown_on_no_page(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "c.jsonl", leave_1=TWELVE, board_1=SALARY)
    line = make_line(
        1,
        question="What does the board earn?",
        answer=f"{SALARY[:-1]} [board-1].",
        citations=["board-1"],
        stages=context(("leave-1", TWELVE), ("board-1", SALARY)),
        user=EMPLOYEE,
    )
    incident = show_answer(tmp_path, line, corpus=corpus)
    assert {"answer", "citations", "context"} <= {leak.partition(":")[0] for leak in incident.leaks}
    pages = [render_incident_html(incident), render_incident_markdown(incident), msgspec.json.encode(incident).decode()]
    for page in pages:
        assert "zephyrine" not in page
        assert "480,000" not in page
    assert "twelve days" in pages[0]  # what is open is shown
    shown = show_answer(tmp_path, line, corpus=corpus, show_restricted=True)
    assert "zephyrine" in render_incident_html(shown)
    assert [False] == [check.then.reachable for check in shown.citations]


def test_evidence_that_the_user_may_not_see_is_not_named_as_lost(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "c.jsonl", leave_1=TWELVE, board_1=SALARY)
    line = make_line(1, answer="The board meets in the pavilion on Fridays.", citations=[], user=EMPLOYEE)
    incident = show_answer(tmp_path, line | {"stages": context(("leave-1", TWELVE))}, corpus=corpus)
    assert incident.claims[0].lost_at == "generation: no source that was examined says so"


def test_a_plain_record_is_checked_by_the_corpus_and_says_what_it_assumed(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "c.jsonl", leave_1=TWELVE)
    line = make_line(1, answer=f"{TWELVE} [leave-1]", retrieved_uids=["leave-1"], citations=["leave-1"])
    incident = show_answer(tmp_path, line, corpus=corpus)
    assert ["supported"] == [claim.verdict for claim in incident.claims]
    assert any("stands for what the model was shown" in note for note in incident.notes)
    assert any("reachable is unknown" in note for note in incident.notes)
    assert incident.citations[0].then.reachable is None


def test_near_golden_cases_are_found_by_their_rare_words(tmp_path: Path) -> None:
    golden = write_lines(
        tmp_path / "golden.jsonl",
        [
            {"id": "g-1", "question": "How many days of annual leave do employees receive?", "reference": TWELVE,
             "evidence": [{"any_of": [{"chunk_id": "leave-1"}]}]},
            {"id": "g-2", "question": "Which laptop may I order?", "reference": "Any.",
             "evidence": [{"any_of": [{"chunk_id": "it-1"}]}]},
        ],
    )  # fmt: skip
    line = make_line(1, question="How many days of annual leave does an employee receive?", answer=TWELVE)
    near = show_answer(tmp_path, line, golden=golden).near_cases
    assert ["g-1"] == [case.case_id for case in near]
    assert near[0].answer_similarity is not None
    assert near[0].answer_similarity > 0.9


def test_a_changed_record_says_so(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    assay.audit.ingest(store, write_lines(tmp_path / "d.jsonl", map(make_line, range(5))), now=at_noon)
    with sqlite3.connect(store) as db:
        _edit_answer(db, 3)
    db.close()
    incident = assay.audit.show(store, "req-2", now=NOON).incident
    assert incident is not None
    assert ("its content is not what the chain committed to",) == incident.chain_faults
    neighbour = assay.audit.show(store, "req-3", now=NOON).incident
    assert neighbour is not None
    assert () == neighbour.chain_faults


# ── finding ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("conditions", "ids"),
    [
        ({"question": "Contract 4 annual LEAVE"}, ["req-4"]),
        ({"question": "phép nghi"}, ["req-50"]),
        ({"question": "annual leave", "limit": 3}, ["req-20", "req-19", "req-18"]),
        ({"user": "user-3"}, ["req-17", "req-10", "req-3"]),
        ({"user": "user-3", "question": "contract 10"}, ["req-10"]),
        ({"citation": "leave-2", "limit": 2}, ["req-17", "req-12"]),
        ({"citation": "leave-2", "question": "contract 7 grant"}, ["req-7"]),
        ({"at": "2026-03-05"}, ["req-50"]),
        ({"at": "2026-03-05T10:00:30Z"}, ["req-50"]),
        ({"verdict": "feedback=down"}, ["req-50"]),
        ({"verdict": "feedback=down", "at": "2026-03-05"}, ["req-50"]),
        ({"user": "user-6", "at": "2026-03-02", "citation": "leave-3"}, ["req-13"]),
    ],
)
def test_answers_are_found(address: str, conditions: dict[str, Any], ids: list[str], tmp_path: Path) -> None:
    lines = [*map(make_line, range(1, 21))]
    lines.append(
        make_line(50, question="Nghỉ phép năm được bao nhiêu ngày?", at="2026-03-05T10:00:00Z", feedback="down",
                  user_uid="lan", citations=[])
    )  # fmt: skip
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", lines), now=at_noon)
    result = assay.audit.show(address, **conditions, now=NOON)
    assert ids == [record.id for _, record in result.answers]
    assert (len(ids) == 1) == (result.incident is not None)


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({}, "nothing to look for"),
        ({"question": "?!"}, "without a word"),
        ({"question": "zebra"}, "no answer matches"),
        ({"at": "yesterday"}, "not a day or a time"),
        ({"verdict": "down"}, "not a verdict"),
        ({"record_id": "absent"}, "no answer with this id"),
        ({"question": "leave", "finding": ("a", "b", "c")}, "name one by its id"),
        ({"record_id": "req-1", "finding": ("", "b", "c")}, "a finding without cause"),
    ],
)
def test_what_cannot_be_found_is_said(conditions: dict[str, Any], message: str, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    assay.audit.ingest(store, write_lines(tmp_path / "d.jsonl", map(make_line, range(5))), now=at_noon)
    with pytest.raises(InputError, match=re.escape(message)):
        assay.audit.show(store, **conditions, now=NOON)


def test_an_erased_answer_is_found_nowhere(address: str, tmp_path: Path) -> None:
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", map(make_line, range(1, 8))), now=at_noon)
    assay.audit.erase(address, user="user-3", now=NOON)
    with pytest.raises(InputError, match="was erased"):
        assay.audit.show(address, "req-3", now=NOON)
    searches: list[dict[str, Any]] = [{"question": "contract 3"}, {"user": "user-3"}, {"citation": "leave-3"}]
    for conditions in searches:
        with pytest.raises(InputError, match="no answer matches"):
            assay.audit.show(address, **conditions, now=NOON)


# ── findings and files ───────────────────────────────────────────────────────────────────────────────────────────────


def test_findings_are_part_of_the_chain_and_go_with_the_user(address: str, tmp_path: Path) -> None:
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", map(make_line, range(5))), now=at_noon)
    for decision in ("Re-index.", "Add a case."):
        result = assay.audit.show(address, "req-3", finding=("stale index", "Lan Pham", decision), now=NOON)
    assert result.incident is not None
    assert ["Re-index.", "Add a case."] == [finding.decision for finding in result.incident.findings]
    found = assay.audit.show(address, verdict="finding=stale index", now=NOON)
    assert ["req-3"] == [record.id for _, record in found.answers]
    assert assay.audit.verify(address).is_intact
    assert assay.audit.erase(address, user="user-3", now=NOON).records == 3
    assert assay.audit.verify(address).is_intact


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202eevil\u0000| `code` [x](javascript:alert(3))"


def test_hostile_text_in_every_field_stays_text(tmp_path: Path) -> None:
    line = make_line(
        1, question=HOSTILE, answer=f"{HOSTILE}. {TWELVE}", citations=[HOSTILE], model=HOSTILE, prompt_hash=HOSTILE,
        feedback=HOSTILE, versions={HOSTILE.replace("\0", ""): HOSTILE}, config_id=HOSTILE,
        stages=[{"name": HOSTILE, "chunks": [{"chunk_id": HOSTILE, "text": HOSTILE + TWELVE}]}],
        error={"code": HOSTILE, "message": HOSTILE}, user={"tenant": HOSTILE, "roles": [HOSTILE]},
    )  # fmt: skip
    incident = show_answer(tmp_path, line, finding=("cause", HOSTILE, HOSTILE))
    page = render_incident_html(incident)
    own = read_page_asset()
    assert page.count("<script") == own.count("<script") + 1  # that of the data
    assert page.count("<img") == own.count("<img")
    assert "\0" not in page
    assert "default-src 'none'" in page
    markdown = render_incident_markdown(incident)
    assert "<script" not in markdown
    assert "](javascript" not in markdown


def test_incident_files_are_written_by_their_suffix(tmp_path: Path) -> None:
    line = make_line(1, question="Nghỉ phép?", answer="Mười hai ngày.")
    for name in ("incident.html", "incident.md"):
        show_answer(tmp_path, line, file=tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "Mười hai ngày" in text
        assert "Findings" in text
        assert 0o600 == (tmp_path / name).stat().st_mode & 0o777
