"""Questions without an answer in rows of other tools: imported as cases that abstain, from files and from Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.formats.foreign.foreign_files import load_foreign_file
from assay.formats.outputs import open_output_files, prepare_decodable, read_observations
from assay.records.golden_set import Case, GoldenSet
from assay.runs.import_rows import import_rows
from assay.runs.python_values import read_golden_value

PASSAGE = "The lighthouse was built in 1874 by a family of masons."
ANSWERABLE = {"question": "When was the lighthouse built?", "context": PASSAGE, "answers": {"text": ["1874"]}}
ASKED = {"question": "Who repainted it?", "context": PASSAGE}

Read = Callable[[Any, Path], GoldenSet]


def read_value(rows: Any, tmp_path: Path) -> GoldenSet:
    return read_golden_value(rows)


def read_file(rows: Any, tmp_path: Path) -> GoldenSet:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    imported = import_rows(str(path), str(tmp_path))  # what is written must be readable
    assert imported.files
    return load_foreign_file(path).golden


BOTH_WAYS = pytest.mark.parametrize("read", [read_value, read_file])


@BOTH_WAYS
@pytest.mark.parametrize(
    "mark",
    [
        {"is_impossible": True, "answers": {"text": [], "answer_start": []}},
        {"is_impossible": True, "answers": []},
        {"is_impossible": True, "answers": None},
        {"is_impossible": True},
        {"isImpossible": "true", "reference": ""},
        {"is_impossible": 1, "answers": [{"text": "the masons", "answer_start": 40}]},
        {"answerable": False, "reference": ""},
        {"is_answerable": "no"},
        {"unanswerable": True, "reference": "the masons"},
        {"answers": []},
    ],
)
def test_a_question_that_is_marked_as_unanswerable_is_to_be_declined(
    tmp_path: Path, read: Read, mark: dict[str, Any]
) -> None:
    golden = read([{**ANSWERABLE, "is_impossible": False}, {**ASKED, **mark}], tmp_path)
    first, second = golden.cases
    assert ("answer", "1874", 1) == (first.behaviour, first.reference, len(first.evidence))
    assert ("abstain", None, 0) == (second.behaviour, second.reference, len(second.evidence))
    assert "complete" == golden.judgments


@BOTH_WAYS
@pytest.mark.parametrize("mark", [{"is_impossible": False}, {"answerable": True}, {"unanswerable": "false"}])
def test_a_question_that_is_marked_as_answerable_keeps_its_answer(
    tmp_path: Path, read: Read, mark: dict[str, Any]
) -> None:
    (case,) = read([{**ASKED, "reference": "The masons.", **mark}], tmp_path).cases
    assert ("answer", "The masons.", 1) == (case.behaviour, case.reference, len(case.evidence))


@BOTH_WAYS
@pytest.mark.parametrize(
    "row",
    [
        {"user_input": "Who repainted it?", "reference": "The text does not say.", "reference_contexts": [PASSAGE]},
        {"input": "Who repainted it?", "expected_output": "I cannot find this in the context.", "context": [PASSAGE]},
        {"question": "Who repainted it?", "expected_behavior": "abstain", "reference_contexts": [PASSAGE]},
    ],
)
def test_contexts_of_a_question_that_is_declined_block_no_import(
    tmp_path: Path, read: Read, row: dict[str, Any]
) -> None:
    other = {"user_input": "When was it built?", "reference": "In 1874.", "reference_contexts": [PASSAGE]}
    first, second = read([other, row], tmp_path).cases
    assert ("answer", 1) == (first.behaviour, len(first.evidence))
    assert ("abstain", 0) == (second.behaviour, len(second.evidence))


@BOTH_WAYS
@pytest.mark.parametrize(
    "wrap", [lambda article: {"version": "v2.0", "data": [article]}, lambda article: [article], dict]
)
def test_articles_with_paragraphs_are_questions_with_their_passage(tmp_path: Path, read: Read, wrap: Any) -> None:
    questions = [
        {"id": "lit", "question": "When was it built?", "answers": [{"text": "1874"}], "is_impossible": False},
        {"id": "dark", "question": "Who repainted it?", "answers": [], "is_impossible": True},
    ]
    article = {"title": "Lighthouses", "paragraphs": [{"context": PASSAGE, "qas": questions}]}
    cases = read(wrap(article), tmp_path).cases
    assert [("lit", "answer", "1874"), ("dark", "abstain", None)] == [
        (case.id, case.behaviour, case.reference) for case in cases
    ]


def test_what_a_recorded_row_says_of_its_question_is_no_behaviour_of_the_answer(tmp_path: Path) -> None:
    row = {**ASKED, "is_impossible": True, "answers": [], "response": "The masons repainted it."}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    cases = (Case("dark", ASKED["question"], behaviour="abstain"),)
    with open_output_files([str(path)], None) as files, prepare_decodable(files, cases) as (file,):
        (observation,) = read_observations(file.path, file.name, file.decoded_as)
    assert (None, "The masons repainted it.", None) == (
        observation.behaviour, observation.answer, observation.stages,
    )  # fmt: skip


DENIALS = [
    "You may not see this.",
    "You are not allowed to see it.",
    "The user is not authorised to view this information.",
    "Access denied.",
    "Confidential",
    "I cannot share that.",
    "This information is confidential.",
    "You do not have permission to see the payroll.",
    "Dazu darf ich keine Auskunft geben.",
    "Must not be told to visitors",
    "Not to be disclosed.",
    "Do not reveal this to other passengers.",
    "Ne doit pas être communiqué aux visiteurs.",
    "Không được tiết lộ cho khách.",
    "Bạn không có quyền xem thông tin này.",
]


@BOTH_WAYS
@pytest.mark.parametrize("reference", DENIALS)
def test_a_reference_that_denies_access_expects_a_refusal_and_is_named(
    tmp_path: Path, read: Read, reference: str
) -> None:
    rows = [
        {"id": "pay", "question": "What do captains earn?", "reference": reference, "reference_contexts": [PASSAGE]},
        {"id": "built", "question": "When was the lighthouse built?", "reference": "1874"},
    ]
    denied, built = read(rows, tmp_path).cases
    assert ("abstain", ("permission_denied",), reference) == (denied.behaviour, denied.also_accept, denied.reference)
    assert () == denied.evidence
    assert ("answer", ()) == (built.behaviour, built.also_accept)


def test_the_import_says_which_references_deny_access(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    rows = [
        {"id": "pay", "question": "What do captains earn?", "reference": "I cannot share that."},
        {"id": "who", "question": "Who repainted it?", "reference": "The documents do not say."},
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    notes = import_rows(str(path), str(tmp_path)).notes
    assert any(note.startswith("expected to abstain or to deny access") and ": pay (" in note for note in notes)
    assert any(note.startswith("expected to abstain, because the reference does: who") for note in notes)


@BOTH_WAYS
@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("May guests enter the archive?", "Access is denied to guests."),
        ("May I see the ledger?", "You may not see it."),
        ("What happens with the report?", "It is confidential until March."),
        ("Is the wage list public?", "No, the wage list is confidential."),
        ("How long is the ledger kept secret?", "It is confidential for 30 years."),
        ("Where may I park?", "You may not park on the quay."),
        ("Which forms are there?", "You may not see this form, but form B4 is public."),
        ("What happens at the gate without a badge?", "Access is denied at the gate and the guard is called."),
        ("What is the class of the report?", "It is confidential until it is printed."),
        ("How is the lamp oil handled?", "It must not be given to children."),
        ("When do we learn the code?", "It must not be told to visitors before noon."),
        ("What about the keys?", "Keys must not be passed on to strangers."),
    ],
)
def test_an_answer_about_who_may_do_what_is_no_denial(
    tmp_path: Path, read: Read, question: str, reference: str
) -> None:
    (case,) = read([{"question": question, "reference": reference}], tmp_path).cases
    assert ("answer", ()) == (case.behaviour, case.also_accept)


@BOTH_WAYS
def test_a_stated_behaviour_comes_before_a_reference_that_denies(tmp_path: Path, read: Read) -> None:
    row = {"question": "What do captains earn?", "reference": "I cannot share that.", "behaviour": "escalate"}
    (case,) = read([row], tmp_path).cases
    assert ("escalate", ()) == (case.behaviour, case.also_accept)


def test_a_reference_that_asks_back_expects_a_question_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    rows = [
        {"id": "door", "question": "How do I open the door?", "reference": "Which door do you mean?"},
        {"id": "said", "question": "What does the guard ask?", "reference": "He asks: who goes there?"},
        {"id": "built", "question": "When was the mill built?", "reference": "1874"},
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    imported = import_rows(str(path), str(tmp_path))
    golden = [json.loads(line) for line in (tmp_path / "golden.jsonl").read_text(encoding="utf-8").splitlines()]
    behaviours = {case["id"]: case.get("behaviour", "answer") for case in golden if "question" in case}
    assert {"door": "clarify", "said": "answer", "built": "answer"} == behaviours
    assert "expected to ask back, because the reference does: door" in imported.notes
