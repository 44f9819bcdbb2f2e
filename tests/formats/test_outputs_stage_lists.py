"""Lines with a list for each stage, as people write them by hand: read as stages, refused where two readings fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli import main
from assay.formats.outputs import detect_output_format
from assay.formats.recorded_outputs.stage_lists import decode_stage_lists
from assay.records.errors import ExitCode, InputError
from assay.records.observations import Chunk

TEXT = "On Sundays it opens from 10am to 4pm."
GOLDEN = [
    {"id": "h1", "question": "When does it open?", "must_have": ["10am", "4pm"], "expected_chunk_ids": ["hours:2"]}
]


def row(**members: Any) -> dict[str, Any]:
    return {"case_id": "h1", "answer": "From 10am to 4pm [hours:2].", "citations": ["hours:2"], **members}


def write(folder: Path, *rows: dict[str, Any]) -> tuple[str, str]:
    golden, outputs = folder / "golden.jsonl", folder / "out.jsonl"
    golden.write_text("".join(json.dumps(each) + "\n" for each in GOLDEN))
    outputs.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return str(golden), str(outputs)


@pytest.mark.parametrize("key", ["chunk_id", "id", "doc_id"])
def test_lists_next_to_the_answer_are_its_stages(key: str, tmp_path: Path) -> None:
    chunk = {key: "hours:2", "text": TEXT}
    golden, outputs = write(tmp_path, row(retrieved=[chunk, {key: "a", "text": "Else."}], context=[chunk]))
    result = assay.score(golden, outputs)
    assert 1.0 == result.metric("recall@10").value == result.metric("context_recall").value
    assert 1.0 == result.metric("citation_correctness(by=rules)").value == result.metric("correct_answer").value
    assert not [warning for warning in result.scoring.warnings if "unknown key" in warning]


def test_the_last_stages_may_be_missing_and_texts_stand_for_chunks() -> None:
    observation = decode_stage_lists(json.dumps(row(context=[TEXT])).encode())
    assert observation.stages is not None
    assert ["context"] == [stage.name for stage in observation.stages]
    assert TEXT == observation.stages[0].chunks[0].text
    assert Chunk("hours:2") == decode_stage_lists(json.dumps(row(retrieved=["hours:2"])).encode()).stages[0].chunks[0]  # type: ignore[index]


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"retrieved": ["hours:2"], "stages": [{"name": "x", "chunks": []}]}, "two lists of stages"),
        ({"context": ["two words here"]}, "context: strings that could be ids or texts"),
        ({"retrieved": [3]}, "retrieved: chunk 0: neither an object nor an id"),
    ],
)
def test_what_two_readings_fit_is_refused_with_its_line(members: dict[str, Any], told: str, tmp_path: Path) -> None:
    golden, outputs = write(tmp_path, row(retrieved=[], context=[]), row(**members))
    with pytest.raises(InputError) as caught:
        assay.score(golden, outputs)
    assert f"{outputs}:2" in str(caught.value)
    assert told in str(caught.value)


def test_lines_with_stages_stay_native() -> None:
    assert "assay" == detect_output_format("x", json.dumps(row(stages=[])).encode())
    assert "stage-lists" == detect_output_format("x", json.dumps(row(context=[])).encode())
    assert "assay" == detect_output_format("x", json.dumps(row()).encode())


def test_explain_names_the_keys_that_it_did_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden, outputs = write(tmp_path, row(retrieved=["hours:2"], contexx=["hours:2"]))
    assert ExitCode.PASS == main(["explain", "h1", "--golden", golden, "--outputs", outputs])
    assert "unknown key contexx (did you mean 'context'?)" in " ".join(capsys.readouterr().err.split())
