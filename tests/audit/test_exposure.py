"""Who was shown a document: every answer that it reached is named, and of how many nothing tells it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.audit.traffic import NOON, at_noon, make_line, write_lines

import assay
from assay.audit.audit_tables import build_exposure_table
from assay.audit.document_exposure import Exposure
from assay.cli import main
from assay.records.errors import InputError

ALARM = "The alarm of the vault is switched off with the code 7741 by the head of the department."
LEAVE = "Full-time employees receive twelve days of annual leave per calendar year."
READER, STAFF = ({"tenant": "acme", "roles": [role]} for role in ("reader", "staff"))


def list_stages(*, retrieved: list[str], context: list[str]) -> list[dict[str, Any]]:
    texts = {"alarm:0": ALARM, "leave:0": LEAVE}
    return [
        {"name": name, "chunks": [{"chunk_id": chunk_id, "text": texts[chunk_id]} for chunk_id in ids]}
        for name, ids in (("retrieved", retrieved), ("context", context))
    ]


BOTH, SHOWN = ["leave:0", "alarm:0"], ["alarm:0"]
NOTHING = {"retrieved_uids": None, "stages": None}
LINES = [
    make_line(1, user=STAFF, stages=list_stages(retrieved=BOTH, context=SHOWN), answer=ALARM, citations=SHOWN),
    make_line(2, user=READER, stages=list_stages(retrieved=BOTH, context=["leave:0"]), answer="No.", citations=[]),
    make_line(3, user=READER, stages=list_stages(retrieved=BOTH, context=SHOWN), answer=f"Sure: {ALARM}", citations=[]),
    make_line(4, user=READER, stages=list_stages(retrieved=["leave:0"], context=["leave:0"]), answer=LEAVE),
    make_line(5, user=STAFF, **NOTHING, answer="See [alarm:0].", citations=None),
    make_line(6, **NOTHING, answer="No idea.", citations=None),
    make_line(7, user=READER, stages=None, retrieved_uids=["alarm:0"], answer="No.", citations=[]),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = [
        {"chunk_id": "alarm:0", "document": "alarm", "text": ALARM, "roles": ["staff"]},
        {"chunk_id": "leave:0", "document": "leave", "text": LEAVE},
    ]
    return write_lines(tmp_path / "corpus.jsonl", rows)


def list_places(exposure: Exposure) -> dict[str, tuple[tuple[str, ...], bool | None]]:
    return {answer.id: (answer.places, answer.may_see) for answer in exposure.answers}


@pytest.mark.slow
def test_every_answer_that_a_document_reached_is_named_with_its_user(
    address: str, corpus: Path, tmp_path: Path
) -> None:
    assay.audit.ingest(address, write_lines(tmp_path / "d.jsonl", LINES), now=at_noon)
    exposure = assay.audit.exposure(address, "alarm", corpus=corpus)
    assert {
        "req-1": (("retrieved", "context", "cited", "quoted"), True),
        "req-2": (("retrieved",), False),
        "req-3": (("retrieved", "context", "quoted"), False),
        "req-5": (("cited",), True),
        "req-7": (("retrieved",), False),
    } == list_places(exposure)
    assert (7, 1, 0, True) == (exposure.searched, exposure.untold, exposure.erased, exposure.is_known)
    assert ["req-2", "req-3", "req-7"] == [answer.id for answer in exposure.forbidden]
    table = build_exposure_table(exposure)
    assert ["req-2", "req-3", "req-7", "req-1", "req-5"] == [row[0] for row in table.rows]
    assert "5 answers of 7, to 5 users: retrieved 4, context 2, cited 2, quoted 2" in table.notes
    assert "3 answers to 3 users who may not see it: req-2, req-3, req-7" in table.notes


def test_without_a_corpus_nobody_knows_who_may_see_it_and_a_document_is_named_by_its_chunks(tmp_path: Path) -> None:
    store = str(tmp_path / "s.sqlite")
    stages = [{"name": "context", "chunks": [{"chunk_id": "7f3a", "metadata": {"path": "alarm.md"}}]}]
    assay.audit.ingest(store, write_lines(tmp_path / "d.jsonl", [*LINES, make_line(8, stages=stages)]), now=at_noon)
    assert {"req-8": (("context",), None)} == list_places(assay.audit.exposure(store, "alarm.md"))
    exposure = assay.audit.exposure(store, "alarm:0")
    assert {None} == {answer.may_see for answer in exposure.answers} and exposure.is_known is None
    assert (
        "of 5 answers nothing tells whether their users may see it (--corpus)" in build_exposure_table(exposure).notes
    )


def test_a_document_is_looked_for_as_the_corpus_of_each_version_has_it(corpus: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "s.sqlite")
    cut = write_lines(tmp_path / "v2.jsonl", [{"chunk_id": "x", "document": "alarm", "text": ALARM}])
    shown = [{"name": "context", "chunks": [{"chunk_id": "x"}]}]
    lines = [make_line(number, stages=shown, versions={"index": f"v{number}"}, user=READER) for number in (1, 2)]
    assay.audit.ingest(store, write_lines(tmp_path / "d.jsonl", lines), now=at_noon)
    exposure = assay.audit.exposure(store, "alarm", corpus=[f"v1={corpus}", f"v2={cut}"])
    assert {"req-2": (("context",), True)} == list_places(exposure)


def test_what_nothing_can_tell_is_counted(corpus: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "s.sqlite")
    assay.audit.ingest(store, write_lines(tmp_path / "d.jsonl", LINES), now=at_noon)
    assay.audit.erase(store, user="user-1", now=NOON)
    exposure = assay.audit.exposure(store, "gone", corpus=corpus, first="2026-03-02", last="2026-03-02")
    notes = build_exposure_table(exposure).notes
    assert "it is in none of 6 answers" in notes
    assert "no corpus has a chunk or a document of this name: is it written as there?" in notes
    assert "2 answers state nothing of what was retrieved, shown or cited: nobody can tell" in notes
    assert "1 answer of the store was erased: nothing is known of it" in notes
    with pytest.raises(InputError, match="no name"):
        assay.audit.exposure(store, " ")


def test_the_command_fails_where_somebody_may_not_see_it(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "s.sqlite")
    assay.audit.ingest(store, write_lines(tmp_path / "d.jsonl", LINES), now=at_noon)
    options = ["--store", store, "--corpus", str(corpus), "--format", "json"]
    assert 1 == main(["audit", "exposure", "alarm", *options])
    assert 5 == len(json.loads(capsys.readouterr().out)["answers"])
    assert 0 == main(["audit", "exposure", "leave", *options])


def test_with_a_corpus_its_text_is_found_under_other_ids_and_in_answers_that_do_not_name_it(
    corpus: Path, tmp_path: Path
) -> None:
    def show(*chunks: dict[str, str]) -> list[dict[str, Any]]:
        return [{"name": "context", "chunks": list(chunks)}]

    leave = {"chunk_id": "leave:0", "text": LEAVE}
    lines = [
        make_line(1, user=READER, stages=show({"chunk_id": "n-9", "text": f"Rules\n{ALARM}"}), answer="No."),
        make_line(2, user=READER, stages=show(leave), answer=f"Sure: {ALARM}"),
        make_line(3, user=READER, stages=show(leave), answer=LEAVE, citations=["alarm"]),
        make_line(4, user=READER, stages=show(leave, {"chunk_id": "n-8", "text": LEAVE}), answer=LEAVE),
    ]
    store = str(tmp_path / "s.sqlite")
    assay.audit.ingest(store, write_lines(tmp_path / "d.jsonl", lines), now=at_noon)
    assert {
        "req-1": (("context",), False),
        "req-2": (("quoted",), False),
        "req-3": (("cited",), False),
    } == list_places(assay.audit.exposure(store, "alarm", corpus=corpus))
    alone = assay.audit.exposure(store, "alarm")
    assert ["req-3"] == [answer.id for answer in alone.answers]
    assert any("by its name alone" in note for note in build_exposure_table(alone).notes)
