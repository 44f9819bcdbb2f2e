"""Showing an answer: it is found, rebuilt and checked again, and nothing restricted is on any page."""

from __future__ import annotations

import re
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from msgspec import structs
from tests.audit.conftest import make_database
from tests.audit.test_verify import _edit_answer
from tests.audit.traffic import NOON, at_noon, make_line, write_lines

import assay
from assay.audit.answer_now import describe_target, summarise_changes
from assay.audit.audit_store import AuditStore, open_audit_store
from assay.audit.audit_tables import build_matches_table, describe_show
from assay.audit.incident import Incident
from assay.audit.incident_file import build_incident_tables, render_incident_html, render_incident_markdown
from assay.audit.search_store import NEWEST_QUESTIONS, AnswerQuery, search_answers
from assay.calls.interfaces import CallError, TargetCall
from assay.cli import main
from assay.formats.corpus import load_corpus
from assay.formats.foreign.chunk_shapes import make_text_id
from assay.formats.golden_files import load_golden
from assay.judging.rubric_files import use_rubrics
from assay.judging.verdict_files import StoreContents, encode_lines
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.grounding.citation_support import label_citations
from assay.metrics.grounding.faithfulness import judge_claims
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.errors import InputError
from assay.records.observations import Observation
from assay.records.verdicts import ItemVerdict, JudgeIdentity, Verdict
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
    shown_answer = assay.audit.show(store, line["id"], **{"now": NOON, **options})
    assert shown_answer.incident is not None
    return shown_answer.incident


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
    line = make_line(1, answer="Board meetings take two hours.", citations=[], user=EMPLOYEE)
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


def test_what_was_retrieved_is_recorded_where_its_stages_are(tmp_path: Path) -> None:
    line = make_line(1, retrieved_uids=..., stages=[{"name": "search", "chunks": [{"chunk_id": "leave-1"}]}])
    rows = build_incident_tables(show_answer(tmp_path, line))[0].rows
    assert "not recorded" not in [row[0] for row in rows]


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
    shown_answer = assay.audit.show(address, **conditions, now=NOON)
    assert ids == [record.id for _, record in shown_answer.answers]
    assert (len(ids) == 1) == (shown_answer.incident is not None)


def test_a_list_that_is_cut_says_so_and_names_who_asked(tmp_path: Path) -> None:
    user = {"tenant": "acme", "roles": ["employee", "board"]}
    store = str(tmp_path / "s.sqlite")
    lines = [make_line(number, user=user, feedback="down") for number in range(1, 6)]
    assay.audit.ingest(store, write_lines(tmp_path / "d.jsonl", lines), now=at_noon)
    cut = assay.audit.show(store, verdict="feedback=down", limit=3, now=NOON)
    table = build_matches_table(cut)
    assert ("more answers match than these 3: --limit 30 lists more",) == table.notes
    assert ["req-5", "req-4", "req-3"] == [row[0] for row in table.rows]
    pseudonym, rights = table.rows[0][2:4]
    assert pseudonym.startswith("user:") and "acme; employee, board" == rights
    assert True is describe_show(cut)["has_more"]
    whole = assay.audit.show(store, verdict="feedback=down", limit=5, now=NOON)
    assert not whole.has_more and not build_matches_table(whole).notes


def test_a_name_that_no_answer_cites_is_followed_by_those_that_begin_like_it(address: str, tmp_path: Path) -> None:
    lines = [make_line(number, citations=[f"leave_1:{number % 2}"]) for number in range(1, 5)]
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", lines), now=at_noon)
    with pytest.raises(InputError, match=r"no answer matches \(names that are cited: leave_1:0, leave_1:1\)"):
        assay.audit.show(address, citation="leave_1", now=NOON)
    with pytest.raises(InputError, match=r"no answer matches$"):
        assay.audit.show(address, citation="leave%1", now=NOON)


def test_words_are_found_however_old_the_answers_are(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.audit.search_store.NEWEST_QUESTIONS", 30)
    monkeypatch.setattr("assay.audit.search_store._PAGE", 10)
    lines = [make_line(number, question=f"Leave of {number}?" if number < 60 else "Tax?") for number in range(1, 201)]
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", lines), now=at_noon)

    def find(question: str, limit: int) -> list[str]:
        with open_audit_store(address) as store:
            return [record.id for _, record in search_answers(store, AnswerQuery(question, limit=limit)).answers]

    assert ["req-7"] == find("leave of 7", 5)
    assert [f"req-{number}" for number in range(59, 39, -1)] == find("leave", 20)
    assert [f"req-{number}" for number in range(59, 0, -1)] == find("leave", 500)
    assert [f"req-{number}" for number in range(200, 165, -1)] == find("tax", 35)
    assert [] == find("zebra", 5)


@pytest.mark.slow
def test_a_rare_word_is_looked_up_in_the_index_of_postgresql(postgres_server: str, tmp_path: Path) -> None:
    address = make_database(postgres_server)
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", [make_line(77, question="Leave 77?")]), now=at_noon)
    others = (
        "INSERT INTO questions SELECT number, to_tsvector('simple', 'days of leave number x' || number) "
        "FROM generate_series(2, 200000) AS number"
    )
    with open_audit_store(address) as store:
        with store.writing() as connection:
            connection.execute(sa.text(others))
            connection.execute(sa.text("ANALYZE questions"))

        def count_reads() -> int:
            with store.reading() as connection:
                connection.execute(sa.text("SELECT pg_stat_force_next_flush()"))
            query = "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'questions_pkey'"
            with store.reading() as connection:
                return int(connection.execute(sa.text(query)).scalar_one())

        before = count_reads()
        matches = search_answers(store, AnswerQuery("leave 77"))
        assert ["req-77"] == [record.id for _, record in matches.answers]
        assert count_reads() - before <= NEWEST_QUESTIONS + 10


def test_the_newest_answers_that_cite_a_source_come_first_however_they_were_stored(
    address: str, tmp_path: Path
) -> None:
    lines = [
        make_line(number, at=(NOON - timedelta(minutes=37 * number % 500)).isoformat(), citations=["leave-1"])
        for number in range(500)
    ]
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", lines), now=at_noon)
    newest_first = sorted(lines, key=lambda line: line["at"], reverse=True)
    since, until = newest_first[40]["at"], newest_first[10]["at"]
    with open_audit_store(address) as store:
        found = search_answers(store, AnswerQuery(citation="leave-1", limit=15)).answers
        within = search_answers(store, AnswerQuery(citation="leave-1", since=since, until=until, limit=50)).answers
        named = search_answers(store, AnswerQuery(citation="leave-1", question="annual", limit=120)).answers
    assert [record.id for _, record in found] == [line["id"] for line in newest_first[:15]]
    assert [record.id for _, record in within] == [line["id"] for line in newest_first[11:41]]
    assert [record.id for _, record in named] == [line["id"] for line in newest_first[:120]]


@pytest.mark.slow
def test_of_the_answers_that_cite_a_source_only_the_newest_are_read(postgres_server: str, tmp_path: Path) -> None:
    address = make_database(postgres_server)
    lines = [make_line(number, citations=["leave-1"]) for number in range(3000)]
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", lines), now=at_noon)
    with open_audit_store(address) as store:
        with store.writing() as connection:
            connection.execute(sa.text("ANALYZE citations, records"))
        before = count_records_read(store)
        assert len(search_answers(store, AnswerQuery(citation="leave-1")).answers) == 20
        assert len(search_answers(store, AnswerQuery(citation="leave-1", question="annual")).answers) == 20
        assert count_records_read(store) - before < 300


def count_records_read(store: AuditStore) -> int:
    """Return how many rows of the chain PostgreSQL has read so far, by an index or without one."""
    with store.reading() as connection:
        connection.execute(sa.text("SELECT pg_stat_force_next_flush()"))
    query = sa.text("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'records'")
    with store.reading() as connection:
        return int(connection.execute(query).scalar_one())


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


@pytest.mark.parametrize(
    ("conditions", "ids"),
    [
        ({"citation": "https://example.com/" + "a" * 2000}, ["req-1"]),
        ({"citation": "leave\0one"}, ["req-2"]),
        ({"verdict": "feedback=" + "f" * 5000}, ["req-3"]),
        ({"verdict": "feedback=no\0pe"}, ["req-4"]),
        ({"user": "u\0ser"}, ["req-5"]),
        ({"at": "9999-12-31"}, ["req-6"]),
        ({"at": "9999-12-31T23:59:30Z"}, ["req-6"]),
        ({"citation": "\udcff"}, []),
        ({"verdict": "feedback=\udcff"}, []),
        ({"verdict": "\0=\udcff"}, []),
        ({"user": "\udcff"}, []),
        ({"user": "user:\udcff\0"}, []),
        ({"record_id": "\udcff"}, []),
        ({"at": "0001-01-01"}, []),
        ({"at": "0001-01-01T00:00:00+14:00"}, []),
    ],
)
def test_a_look_up_takes_any_text_and_time(
    address: str, conditions: dict[str, Any], ids: list[str], tmp_path: Path
) -> None:
    lines = [
        make_line(1, citations=["https://example.com/" + "a" * 2000]),
        make_line(2, citations=["leave\0one"]),
        make_line(3, feedback="f" * 5000),
        make_line(4, feedback="no\0pe"),
        make_line(5, user_uid="u\0ser"),
        make_line(6, at="9999-12-31T23:59:00Z"),
    ]
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", lines), now=at_noon)
    try:
        shown_answer = assay.audit.show(address, **conditions, now=NOON)
    except InputError as error:
        assert not ids, error
    else:
        assert ids == [record.id for _, record in shown_answer.answers]


def test_a_finding_of_any_text_is_kept(address: str, tmp_path: Path) -> None:
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", [make_line(1)]), now=at_noon)
    assay.audit.show(address, record_id="req-1", finding=("stale", "L\udcff\0", "\udcff\0"), now=NOON)
    shown_answer = assay.audit.show(address, record_id="req-1", now=NOON)
    assert shown_answer.incident is not None and shown_answer.incident.findings[0].owner == "L\\udcff\0"


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
        shown_answer = assay.audit.show(address, "req-3", finding=("stale index", "Lan Pham", decision), now=NOON)
    assert shown_answer.incident is not None
    assert ["Re-index.", "Add a case."] == [finding.decision for finding in shown_answer.incident.findings]
    shown_answer = assay.audit.show(address, verdict="finding=stale index", now=NOON)
    assert ["req-3"] == [record.id for _, record in shown_answer.answers]
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


# ── what the system says now ─────────────────────────────────────────────────────────────────────────────────────────


class PresentTarget:
    """A target that answers with a text, or fails."""

    name = "now"
    operations = ("search", "ask")

    def __init__(self, answer: str | None = None) -> None:
        self.answer, self.is_closed = answer, False
        self.calls: list[Any] = []

    async def identity(self) -> dict[str, Any]:
        return {}

    async def observe(self, call: TargetCall) -> Observation:
        self.calls.append(call.case)
        if self.answer is None:
            raise CallError("timeout", "no reply in 120 seconds")
        return Observation(call.case.id, "now", answer=self.answer)

    async def aclose(self) -> None:
        self.is_closed = True


def test_the_question_is_asked_again_and_what_changed_is_marked(tmp_path: Path) -> None:
    target: Any = PresentTarget("Ten days of leave.")
    line = make_line(1, question="How many days?", answer="Twelve days of leave.", user=EMPLOYEE)
    incident = show_answer(tmp_path, line, target=target, file=tmp_path / "i.md")
    assert incident.answer_now is not None
    assert ("now", "Ten days of leave.") == (incident.answer_now.target, incident.answer_now.answer)
    assert (("removed", "Twelve"), ("added", "Ten"), ("same", " days of leave.")) == incident.answer_now.changes
    (case,) = target.calls
    assert ("How many days?", "acme", "2026-03-02") == (case.question, case.user.tenant, case.user.as_of)
    assert target.is_closed
    assert "Ten days of leave" in (tmp_path / "i.md").read_text(encoding="utf-8")


def test_what_differs_now_is_said_in_words_and_so_is_what_has_no_name(tmp_path: Path) -> None:
    target: Any = PresentTarget("Ten days of leave.")
    line = make_line(1, answer="Twelve days of leave.", config_id="hybrid")
    incident = show_answer(tmp_path, line, target=target)
    now = incident.answer_now
    assert now is not None
    assert "Compared: gone: 'Twelve'; new: 'Ten'" == summarise_changes(now)
    assert "now; that of then was hybrid" == describe_target(incident, now)
    assert "hybrid, as then" == describe_target(incident, structs.replace(now, target="hybrid"))
    unnamed = structs.replace(now, target="unknown", changes=(("same", "Twelve"),))
    assert "the target, whose configuration has no name; that of then was hybrid" == describe_target(incident, unnamed)
    assert "Compared: the same words as then" == summarise_changes(unnamed)
    assert "Compared: there is no answer now" == summarise_changes(structs.replace(now, answer=None))


def test_a_target_that_fails_is_said_and_gives_no_answer(tmp_path: Path) -> None:
    target: Any = PresentTarget()
    incident = show_answer(tmp_path, make_line(1), target=target)
    assert incident.answer_now is not None
    assert (None, "no answer", "timeout: no reply in 120 seconds", ()) == structs.astuple(incident.answer_now)[2:]
    assert target.is_closed


def test_what_the_user_may_not_see_is_withheld_from_the_answer_of_now(tmp_path: Path) -> None:
    target: Any = PresentTarget(f"{TWELVE} {SALARY}")
    corpus = write_corpus(tmp_path / "corpus.jsonl", leave_1=TWELVE, board_1=SALARY)
    incident = show_answer(tmp_path, make_line(1, user=EMPLOYEE), target=target, corpus=corpus)
    assert "zephyrine" not in render_incident_html(incident)
    assert "zephyrine" not in render_incident_markdown(incident)
    shown = show_answer(tmp_path, make_line(1, user=EMPLOYEE), target=target, corpus=corpus, show_restricted=True)
    assert "zephyrine" in render_incident_html(shown)


def test_a_record_without_a_question_cannot_be_asked_again(tmp_path: Path) -> None:
    target: Any = PresentTarget("Ten days.")
    with pytest.raises(InputError, match="no question that could be asked again"):
        show_answer(tmp_path, make_line(1, question=...), target=target)


def test_evidence_that_was_not_in_force_any_more_is_named(tmp_path: Path) -> None:
    rows = [
        {"chunk_id": "leave-1", "text": TWELVE, "document": "leave", "version": "v1", "valid_from": "2025-01-01"},
        {"chunk_id": "leave-2", "text": FIFTEEN, "document": "leave", "version": "v2", "valid_from": "2026-01-01"},
    ]
    corpus = write_lines(tmp_path / "corpus.jsonl", rows)
    line = make_line(1, stages=context(("leave-1", TWELVE), ("leave-2", FIFTEEN)), user=EMPLOYEE)
    incident = show_answer(tmp_path, line, corpus=corpus)
    assert ("leave-1",) == incident.stale
    assert "not in force any more" in render_incident_markdown(incident)


def test_a_citation_of_what_is_not_in_force_any_more_says_since_when_and_what_is(tmp_path: Path) -> None:
    old = "The day pass costs 18 euros."
    place = {"document": "prices", "section": "passes"}
    rows: list[dict[str, Any]] = [
        {"chunk_id": "p-1", "text": old, "version": "1", "valid_from": "2025-01-01", "valid_to": "2026-01-01", **place},
        {
            "chunk_id": "p-2",
            "text": "The day pass costs 21 euros.",
            "version": "2",
            "valid_from": "2026-01-01",
            **place,
        },
        {"chunk_id": "p-3", "text": SALARY, "version": "2", "valid_from": "2026-01-01", "roles": ["board"], **place},
        {"chunk_id": "p-4", "text": CARRY, "document": "prices", "section": "leave", "version": "2"},
    ]
    corpus = write_lines(tmp_path / "corpus.jsonl", rows)
    line = make_line(1, answer=f"{old[:-1]} [p-1].", citations=["p-1"], stages=context(("p-1", old)), user=EMPLOYEE)
    incident = show_answer(tmp_path, line, corpus=corpus)
    (check,) = incident.citations
    assert check.now is not None
    for state in (check.then, check.now):
        assert ("2026-01-01", ("p-2",)) == (state.expired_since, state.current), "p-3 is not for this user"
    for page in (render_incident_markdown(incident), render_incident_html(incident)):
        assert "2026-01-01" in page and "p-2" in page
    shown = render_incident_markdown(incident)
    assert "EXPIRED since 2026-01-01 (the expired text: " in shown
    assert "); in force: p-2" in shown
    write_lines(corpus, [{**row, "valid_to": None} for row in rows])
    again = assay.audit.show(str(tmp_path / "s.sqlite"), line["id"], corpus=corpus, now=NOON).incident
    assert again is not None and again.citations[0].then.expired_since == "2026-01-01", "a newer version is in force"


def test_a_source_without_an_id_is_told_by_its_text(tmp_path: Path) -> None:
    old, new = "The day pass costs 18 euros.", "The day pass costs 21 euros."
    place = {"document": "prices", "section": "passes"}
    rows: list[dict[str, Any]] = [
        {"chunk_id": "p-1", "text": old, "version": "1", "valid_from": "2025-01-01", "valid_to": "2026-01-01", **place},
        {"chunk_id": "p-2", "text": new, "version": "2", "valid_from": "2026-01-01", **place},
    ]
    corpus = write_lines(tmp_path / "corpus.jsonl", rows)
    stages = context((make_text_id(old), old))
    line = make_line(1, answer=f"{old[:-1]} [1].", citations=[], stages=stages, user=EMPLOYEE)
    (check,) = show_answer(tmp_path, line, corpus=corpus).citations
    assert check.now is not None
    for state in (check.then, check.now):
        assert (True, True) == (state.exists, state.reachable)
        assert ("2026-01-01", ("p-2",)) == (state.expired_since, state.current)
    assert check.text_changed is False
    write_lines(corpus, rows[1:])
    incident = assay.audit.show(str(tmp_path / "s.sqlite"), line["id"], corpus=corpus, now=NOON).incident
    assert incident is not None
    (check,) = incident.citations
    assert check.now is not None
    assert (None, None) == (check.now.exists, check.text_changed), "its text may have another wording now"


@pytest.mark.parametrize(
    ("section", "current"),
    [
        ("Prices from March > Day tickets", ("p-2",)),  # the heading above names the version
        ("Tickets", ("p-2", "p-3")),  # no section is alike: the document
    ],
)
def test_what_is_in_force_is_found_where_headings_changed(
    section: str, current: tuple[str, ...], tmp_path: Path
) -> None:
    old = "The day pass costs 18 euros."
    rows = [
        {"chunk_id": "p-1", "text": old, "section": "Prices until February > Day tickets", "valid_to": "2026-01-01"},
        {"chunk_id": "p-2", "text": "The day pass costs 21 euros.", "section": section},
        {"chunk_id": "p-3", "text": "A year costs 300 euros.", "section": "Memberships"},
    ]
    corpus = write_lines(tmp_path / "corpus.jsonl", [row | {"document": "prices"} for row in rows])
    line = make_line(1, answer=f"{old[:-1]} [p-1].", citations=["p-1"], stages=context(("p-1", old)), user=EMPLOYEE)
    (check,) = show_answer(tmp_path, line, corpus=corpus).citations
    assert ("2026-01-01", current) == (check.then.expired_since, check.then.current)


def test_a_citation_of_what_is_in_force_has_no_end(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "now.jsonl", leave_1=TWELVE)
    line = make_line(1, answer=f"{TWELVE[:-1]} [leave-1].", stages=context(("leave-1", TWELVE)), user=EMPLOYEE)
    (check,) = show_answer(tmp_path, line, corpus=corpus).citations[:1]
    assert (None, ()) == (check.then.expired_since, check.then.current)


def test_a_claim_about_what_was_redacted_says_so(tmp_path: Path) -> None:
    text = "Lost property is kept at the desk; write to desk@gym.example about it."
    answer = "You can ask for things you lost by writing to desk@gym.example [desk-1]."
    line = make_line(1, answer=answer, citations=["desk-1"], stages=context(("desk-1", text)))
    (claim,) = show_answer(tmp_path, line).claims
    assert "unknown" == claim.verdict
    assert any("redacted before storing (email)" in reason for reason in claim.reasons)


def test_no_claim_is_unknown_without_a_reason(tmp_path: Path) -> None:
    text = "Lost property is kept at the desk for four weeks."
    line = make_line(1, answer="Things you lost are kept by the desk [desk-1].", stages=context(("desk-1", text)))
    (claim,) = show_answer(tmp_path, line).claims
    assert "unknown" == claim.verdict
    assert claim.reasons


def test_each_leak_names_its_place_where_the_names_are_withheld(tmp_path: Path) -> None:
    secret = "board-bonus-of-480000-dollars-for-the-zephyrine-plan-of-2026"
    rows = [
        {"chunk_id": secret, "text": f"{secret} {SALARY}", "tenant": "acme", "roles": ["board"]},
        {"chunk_id": "leave-1", "text": TWELVE},
    ]
    corpus = write_lines(tmp_path / "corpus.jsonl", rows)
    chunks = [{"chunk_id": secret, "text": f"{secret} {SALARY}"}]
    stages = [{"name": name, "chunks": chunks} for name in ("retrieved", "reranked", "context")]
    line = make_line(1, answer=f"{SALARY[:-1]} [{secret}].", citations=[secret], stages=stages, user=EMPLOYEE)
    incident = show_answer(tmp_path, line, corpus=corpus)
    places = [leak.partition(":")[0] for leak in incident.leaks]
    assert {"retrieved", "reranked", "context", "citations"} <= set(places)
    assert len(set(incident.leaks)) == len(incident.leaks)
    assert not any(secret in leak for leak in incident.leaks)
    assert any("shown to the model, with what this user may not see, supports" in line for line in incident.summary)
    report = render_incident_markdown(incident)
    assert 0 < report.index("What this user may not see was found in") < report.index("supports")
    assert secret not in render_incident_html(incident)


# ── citations in the text ────────────────────────────────────────────────────────────────────────────────────────────

TWO_SOURCES = context(("leave-1", TWELVE), ("leave-2", CARRY))
INLINE: dict[str, tuple[str, list[tuple[str, tuple[str, ...]]]]] = {
    "declared by a name": (f"{TWELVE[:-1]} [leave-1].", [("name", ("leave-1",))]),
    "a number is the place in what was shown": (
        f"{TWELVE[:-1]} [1]. {CARRY[:-1]} [2].",
        [("position", ("leave-1",)), ("position", ("leave-2",))],
    ),
    "a raised number": (f"{CARRY}²", [("position", ("leave-2",))]),
    "the answer's own list comes first": (
        f"{TWELVE[:-1]} [2].\n\nSources:\n[1] leave-2\n[2] leave-1",
        [("list", ("leave-1",))],
    ),
    "a footnote": (f"{TWELVE[:-1]} [^1].\n\n[^1]: https://kb.example/leave#days", [("list", ("leave-1",))]),
    "a link": (f"{TWELVE[:-1]} ([source](http://www.kb.example/leave/)).", [("link", ("leave-1",))]),
    "a bare address": (f"{TWELVE} https://kb.example/leave.", [("link", ("leave-1",))]),
    "a numbered link means its address": (f"{TWELVE[:-1]} [2](https://kb.example/leave).", [("list", ("leave-1",))]),
    "a number of nothing": (f"{TWELVE[:-1]} [7].", [("position", ())]),
    "an address of nothing": (f"{TWELVE[:-1]} [page](https://kb.example/none).", [("link", ())]),
    "an entry that names an unknown file": (f"{TWELVE[:-1]} [1].\n\n[1] rumours.pdf", [("list", ())]),
}


def write_addressed_corpus(path: Path) -> Path:
    rows: list[dict[str, Any]] = [
        {"chunk_id": "leave-1", "text": TWELVE, "metadata": {"url": "https://kb.example/leave"}},
        {"chunk_id": "leave-2", "text": CARRY, "path": "carry.md"},
    ]
    return write_lines(path, rows)


@pytest.mark.parametrize("name", INLINE)
def test_a_citation_in_the_text_is_checked_like_a_declared_one(name: str, tmp_path: Path) -> None:
    answer, expected = INLINE[name]
    line = make_line(1, answer=answer, citations=..., stages=TWO_SOURCES, user=EMPLOYEE)
    incident = show_answer(tmp_path, line, corpus=write_addressed_corpus(tmp_path / "c.jsonl"))
    assert expected == [(check.by, check.chunks) for check in incident.citations]
    for check in incident.citations:
        assert check.now is not None
        states = {(state.exists, state.reachable, state.support) for state in (check.then, check.now)}
        assert states == {(True, True, "supported") if check.chunks else (False, None, None)}
    assert any("were assumed" in note for note in incident.notes) == ("position" in {by for by, _ in expected})


def test_a_number_or_link_that_nothing_could_explain_is_unknown_and_not_invented(tmp_path: Path) -> None:
    answer = f"{TWELVE[:-1]} [1]. {CARRY[:-1]} [page](https://kb.example/carry)."
    line = make_line(1, answer=answer, citations=..., retrieved_uids=...)
    incident = show_answer(tmp_path, line)
    assert [(check.by, check.then.exists) for check in incident.citations] == [("position", None), ("link", None)]


def test_what_a_number_means_may_be_out_of_reach_of_the_user(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "c.jsonl", leave_1=TWELVE, board_1=SALARY)
    stages = context(("leave-1", TWELVE), ("board-1", SALARY))
    line = make_line(1, answer=f"{TWELVE[:-1]} [2].", citations=..., stages=stages, user=EMPLOYEE)
    (check,) = show_answer(tmp_path, line, corpus=corpus).citations
    assert (check.by, check.then.exists, check.then.reachable) == ("position", True, False)


def test_a_link_finds_its_answer_and_a_marker_is_found_by_its_name(tmp_path: Path) -> None:
    store = str(tmp_path / "s.sqlite")
    lines = [make_line(1, answer="Twelve days [hr:v1:c3].", citations=...), make_line(2)]
    assay.audit.ingest(store, write_lines(tmp_path / "two.jsonl", lines), now=at_noon)
    (match,) = assay.audit.show(store, citation="hr:v1:c3", now=NOON).answers
    assert match[1].id == "req-1"
    assert assay.audit.verify(store).is_intact


# ── what a judge said ────────────────────────────────────────────────────────────────────────────────────────────────


def write_verdicts(folder: Path, line: dict[str, Any], corpus: Path | None, label: str) -> Path:
    """Judge the sample that `assay monitor` writes of one answer, with a judge that gives everything one label."""
    store = str(folder / "judged.sqlite")
    assay.audit.ingest(store, write_lines(folder / "judged.jsonl", [line]), now=at_noon)
    sample = folder / "sample"
    assay.monitor(store, corpus=corpus, metrics=["faithfulness(by=rules)"], sample_folder=sample, now=NOON)
    (observation,) = msgspec.json.Decoder(Observation).decode_lines((sample / "outputs.jsonl").read_bytes())
    index = GoldenIndex(load_golden(sample / "golden.jsonl").golden, None if corpus is None else load_corpus(corpus)[0])
    reading, rubrics = ParsedAnswer(index.case_index(0), observation), use_rubrics(())[0]
    judge = JudgeIdentity("openai", "test", "judge-a")
    contents = StoreContents([judge], {judge.digest: {}})
    asked = [
        *next(judge_claims(reading, rubrics)),
        *next(label_citations(reading, rubrics)),
    ]
    quote = TWELVE[:-1]
    for request in asked:
        items = tuple(ItemVerdict(item, label, quote=quote) for item in request.items)
        contents.verdicts[judge.digest][request.digest] = [
            Verdict(request.digest, judge.digest, 0, f"{request.rubric}@1", items)
        ]
    return write_lines(folder / "verdicts.jsonl", [text.decode() for text in encode_lines(contents)])


def list_judged(incident: Incident) -> list[str | None]:
    return [claim.judged for claim in incident.claims] + [check.judged for check in incident.citations]


def test_what_a_judge_said_of_claims_and_citations_is_shown(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "c.jsonl", leave_1=TWELVE)
    line = make_line(1, answer=f"{TWELVE[:-1]} [leave-1].", stages=context(("leave-1", TWELVE)), user=EMPLOYEE)
    verdicts = write_verdicts(tmp_path, line, corpus, "supported")
    incident = show_answer(tmp_path, line, corpus=corpus, verdicts=verdicts)
    assert list_judged(incident) == ["supported", "supported"]
    assert "by the judge" in render_incident_markdown(incident)
    unjudged = show_answer(tmp_path, line, corpus=corpus)
    assert list_judged(unjudged) == [None, None]
    assert "by the judge" not in render_incident_markdown(unjudged)


def test_a_verdict_about_other_texts_is_none_about_this_answer(tmp_path: Path) -> None:
    line = make_line(1, answer=f"{TWELVE[:-1]} [leave-1].", stages=context(("leave-1", TWELVE)), user=EMPLOYEE)
    verdicts = write_verdicts(tmp_path, line, None, "supported")
    other = line | {"id": "req-2", "stages": context(("leave-1", FIFTEEN))}
    incident = show_answer(tmp_path, other, verdicts=verdicts)
    assert list_judged(incident) == [None, None]
    assert any("no verdict recorded" in note for note in incident.notes)


# ── the corpus of its version ────────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_is_checked_with_the_corpus_of_its_version_and_that_of_now(tmp_path: Path) -> None:
    old = write_corpus(tmp_path / "old.jsonl", leave_1=TWELVE)
    now = write_corpus(tmp_path / "now.jsonl", leave_1=FIFTEEN)
    line = make_line(1, answer=f"{TWELVE[:-1]} [leave-1].", versions={"index": "v11"}, user=EMPLOYEE)
    corpora = [f"v11={old}", f"v12={now}", str(now)]
    (check,) = show_answer(tmp_path, line, corpus=corpora).citations
    assert check.now is not None
    assert (check.then.support, check.now.support) == ("supported", "contradicted")
    (other,) = show_answer(tmp_path, line | {"id": "b", "versions": {"index": "v12"}}, corpus=corpora).citations
    assert other.then.support == "contradicted"
    with pytest.raises(InputError, match="two of one version"):
        show_answer(tmp_path, line | {"id": "c"}, corpus=[f"v1={old}", f"v1={now}"])
    with pytest.raises(InputError, match="two without a version"):
        show_answer(tmp_path, line | {"id": "d"}, corpus=[old, now])


def test_what_users_and_models_wrote_cannot_control_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "evil \x1b[31m\x1b]0;title\x07 \u202eright to left ##vso[task.complete]"
    line = make_line(1, question=hostile, answer=hostile, model="m", stages=context(("leave-1", hostile)))
    store = tmp_path / "s.sqlite"
    assay.audit.ingest(store, write_lines(tmp_path / "day.jsonl", [line]))
    capsys.readouterr()
    main(["audit", "show", "req-1", "--store", str(store)])
    printed = capsys.readouterr().out
    assert "evil" in printed
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)
    assert "##vso[" not in printed
