"""`golden check` with a corpus names labels that it lacks or keeps from their user; ids of rows say their question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli import main
from assay.formats.foreign.rows import make_question_id

Printed = pytest.CaptureFixture[str]


def write(path: Path, *rows: dict[str, object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_check_with_a_corpus_warns_of_labels_that_it_lacks(tmp_path: Path, capsys: Printed) -> None:
    case: dict[str, object] = {
        "question": "What does a tent cost?",
        "reference": "45 euros.",
        "user": {"roles": ["guest"]},
    }
    golden = write(
        tmp_path / "golden.jsonl",
        {"id": "here", **case, "evidence": [{"chunk_id": "tents"}]},
        {"id": "gone", **case, "question": "What does a stove cost?", "evidence": [{"chunk_id": "stoves"}]},
        {"id": "kept", **case, "question": "What does a boat cost?", "evidence": [{"chunk_id": "boats"}]},
    )
    corpus = write(
        tmp_path / "corpus.jsonl",
        {"chunk_id": "tents", "text": "A tent costs 45 euros."},
        {"chunk_id": "boats", "text": "A boat costs 45 euros.", "roles": ["staff"]},
    )
    assert 0 == main(["golden", "check", golden])
    assert "E_STALE_GOLD" not in capsys.readouterr().err
    assert 0 == main(["golden", "check", golden, "--corpus", corpus])
    printed = capsys.readouterr().err
    assert "gone: evidence: E_STALE_GOLD" in printed
    assert "kept" in printed and "E_ACCESS" in printed
    assert " here: " not in printed


def test_a_day_of_a_case_is_told_to_belong_to_its_user(tmp_path: Path, capsys: Printed) -> None:
    header: dict[str, object] = {"golden_set": {"name": "shop", "version": "1"}}
    case: dict[str, object] = {"id": "a", "question": "What does a tent cost?", "reference": "45 euros."}
    golden = write(tmp_path / "golden.jsonl", header, {**case, "as_of": "2026-05-01"})
    assert 2 == main(["golden", "check", golden])
    assert "golden.jsonl:2: as_of: E_UNKNOWN_FIELD" in (printed := capsys.readouterr().err)
    assert "user.as_of" in printed
    golden = write(tmp_path / "golden.jsonl", header, {**case, "user": {"as_of": "2026-05-01"}})
    assert 0 == main(["golden", "check", golden])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What does a tent cost per night?", "what-does-a-tent-cost-per"),
        ("Übernachtung: wie viel?", "ubernachtung-wie-viel"),
        ("Donaudampfschifffahrtsgesellschaft?", "donaudampfschifffahrtsgesell"),
        ("何日ですか", "q"),
        ("???", "q"),
    ],
)
def test_the_id_of_a_row_begins_with_its_question(question: str, words: str) -> None:
    made = make_question_id(question)
    assert words == made.rpartition("-")[0]
    assert made == make_question_id(f"  {question} ")
    assert made != make_question_id(f"{question} And then?"), "questions that begin alike have other ids"
