"""`assay convert`: what goes there comes back, what is cast or lost is counted, and nothing is guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.formats.outputs import OUTPUT_FORMATS
from assay.records.observations import Observation, find_stage

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
GOLDEN, OUTPUTS = HANDBOOK / "golden" / "handbook.jsonl", HANDBOOK / "outputs" / "hybrid-rerank.jsonl"
Printed = pytest.CaptureFixture[str]


def convert(old: str, new: str, source: Path, target: Path, *options: str) -> int:
    return main(["convert", "--from", old, "--to", new, *options, str(source), str(target)])


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def observations(path: Path, format: str) -> list[Observation]:
    return [OUTPUT_FORMATS[format].decode(line) for line in path.read_bytes().splitlines()]


def test_a_golden_set_comes_back_from_every_format_that_holds_it(tmp_path: Path) -> None:
    native, contract, again = tmp_path / "native.jsonl", tmp_path / "contract.jsonl", tmp_path / "again.jsonl"
    assert 0 == convert("rag-golden", "assay", GOLDEN, native)
    assert 0 == convert("assay", "rag-golden", native, contract)
    assert 0 == convert("rag-golden", "assay", contract, again)
    assert load_golden(GOLDEN).golden.cases == load_golden(native).golden.cases == load_golden(contract).golden.cases
    assert native.read_bytes() == again.read_bytes()


def test_judgments_come_back_from_qrels(tmp_path: Path, capsys: Printed) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 a 2\nq1 0 b 0\nq2 0 a 1\n", encoding="utf-8")
    native, back = tmp_path / "native.jsonl", tmp_path / "back.txt"
    assert 0 == convert("trec-qrels", "assay", qrels, native)
    assert load_golden(qrels).digest == load_golden(native).digest
    assert 0 == convert("assay", "trec-qrels", native, back)
    assert qrels.read_text(encoding="utf-8") == back.read_text(encoding="utf-8")
    assert "2 rows converted" in capsys.readouterr().err


def test_outputs_come_back_from_every_format_that_holds_them(tmp_path: Path) -> None:
    native, contract = tmp_path / "native.jsonl", tmp_path / "contract.jsonl"
    assert 0 == convert("rag-trace", "assay", OUTPUTS, native)
    assert 0 == convert("assay", "rag-trace", native, contract)
    assert observations(OUTPUTS, "rag-trace") == observations(native, "assay") == observations(contract, "rag-trace")


def test_stages_named_inside_a_list_come_back(tmp_path: Path) -> None:
    chunks = [{"chunk_id": "a", "stage": "dense", "rank": 1}, {"chunk_id": "b", "stage": "bm25", "rank": 1}]
    row = {"query_id": "q", "config_id": "c", "retrieved_chunks": chunks, "answer": None, "error": "timeout"}
    source, native = write(tmp_path / "in.jsonl", row), tmp_path / "native.jsonl"
    convert("rag-trace", "assay", source, native)
    convert("assay", "rag-trace", native, tmp_path / "back.jsonl")
    assert observations(source, "rag-trace") == observations(tmp_path / "back.jsonl", "rag-trace")


def test_stages_in_one_list_are_separate_rankings_and_what_merged_them_is_what_was_retrieved(tmp_path: Path) -> None:
    """The keyword search has the evidence `b`, and the hybrid list loses it: what was retrieved is the hybrid list."""
    ranked = (("hybrid", "a"), ("hybrid", "c"), ("dense", "a"), ("bm25", "b"))
    chunks = [{"chunk_id": chunk_id, "stage": stage} for stage, chunk_id in ranked]
    source = write(tmp_path / "in.jsonl", {"query_id": "q", "config_id": "c", "retrieved_chunks": chunks})
    (observation,) = observations(source, "rag-trace")
    retrieved = find_stage(observation, "retrieved")
    assert retrieved is not None
    assert ("hybrid", ["a", "c"]) == (retrieved.name, [chunk.chunk_id for chunk in retrieved.chunks])


def test_a_merged_list_whose_ranks_count_through_is_one_ranking(tmp_path: Path) -> None:
    chunks = [{"chunk_id": "a", "stage": "dense", "rank": 1}, {"chunk_id": "b", "stage": "bm25", "rank": 2}]
    row = {"query_id": "q", "config_id": "c", "retrieved_chunks": chunks}
    source, native = write(tmp_path / "in.jsonl", row), tmp_path / "native.jsonl"
    (observation,) = observations(source, "rag-trace")
    retrieved = find_stage(observation, "retrieved")
    assert retrieved is not None
    assert ["a", "b"] == [chunk.chunk_id for chunk in retrieved.chunks]
    convert("rag-trace", "assay", source, native)
    convert("assay", "rag-trace", native, tmp_path / "back.jsonl")
    assert observations(source, "rag-trace") == observations(tmp_path / "back.jsonl", "rag-trace")


def test_a_ranking_comes_back_from_a_run_in_its_order(tmp_path: Path) -> None:
    """A list whose scores tie keeps its order, because the run's scores are made from the ranks."""
    chunks = [{"chunk_id": name, "score": 1.0} for name in ("a", "c", "b", "a")]
    row = {"case_id": "q", "config_id": "c", "stages": [{"name": "retrieved", "chunks": chunks}]}
    run, back = tmp_path / "run.txt", tmp_path / "back.jsonl"
    assert 0 == convert("assay", "trec-run", write(tmp_path / "in.jsonl", row), run)
    assert "q Q0 a 1 3 c\nq Q0 c 2 2 c\nq Q0 b 3 1 c\n" == run.read_text(encoding="utf-8")
    assert 0 == convert("trec-run", "assay", run, back)
    ((stage,),) = [observation.stages for observation in observations(back, "assay") if observation.stages]
    assert ["a", "c", "b"] == [chunk.chunk_id for chunk in stage.chunks]


# ── casts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ids_and_grades_of_a_golden_set_are_cast_and_counted(tmp_path: Path, capsys: Printed) -> None:
    row = {"id": 7, "question": "Why?", "expected_chunk_ids": [1], "relevance": {"1": "2"}, "tags": None}
    source, target = write(tmp_path / "in.jsonl", row), tmp_path / "out.jsonl"
    assert 2 == main(["golden", "check", str(source)])
    assert 0 == convert("rag-golden", "assay", source, target)
    (case,) = load_golden(target).golden.cases
    assert ("7", "1", 2) == (case.id, case.evidence[0].any_of[0]["chunk_id"], case.evidence[0].grade)
    messages = capsys.readouterr().err
    assert "cast: 2 integers made text" in messages
    assert "cast: 1 text made a number" in messages
    assert "cast: 1 null made an empty list" in messages


def test_ids_and_numbers_of_outputs_are_cast_and_counted(tmp_path: Path, capsys: Printed) -> None:
    row = {
        "query_id": 7,
        "retrieved_chunks": [3, {"chunk_id": 4, "score": "0.5"}],
        "citations": [3],
        "cost_usd": "1e-3",
    }
    target = tmp_path / "out.jsonl"
    assert 0 == convert("rag-trace", "assay", write(tmp_path / "in.jsonl", row), target)
    (observation,) = observations(target, "assay")
    assert observation.stages is not None and observation.usage is not None
    assert ("7", ("3",), 0.001) == (observation.case_id, observation.citations, observation.usage.cost_usd)
    assert [("3", None), ("4", 0.5)] == [(chunk.chunk_id, chunk.score) for chunk in observation.stages[0].chunks]
    messages = capsys.readouterr().err
    assert "cast: 4 integers made text" in messages
    assert "cast: 2 texts made numbers" in messages


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query_id": True}, ":1: query_id: E_TYPE wrong type (got True"),
        ({"query_id": 1.5}, ":1: query_id: E_TYPE wrong type (got 1.5"),
        ({"query_id": "q", "cost_usd": "free"}, ":1: cost_usd: E_TYPE wrong type (got 'free'"),
        ({"query_id": 3, "cost_usd": "-1"}, ":1: cost_usd: E_RANGE out of range (got -1.0"),
        ({"query_id": "q", "cost_usd": "1e999"}, ":1: cost_usd: E_TYPE wrong type (got '1e999'"),
        ({"query_id": "q", "retrieved_chunks": [{"text": "a"}]}, ":1: retrieved_chunks[0].chunk_id: E_MISSING"),
    ],
)
def test_what_has_no_one_meaning_is_refused_as_ever(
    tmp_path: Path, capsys: Printed, row: dict[str, Any], message: str
) -> None:
    source, target = write(tmp_path / "in.jsonl", row), tmp_path / "out.jsonl"
    assert 2 == convert("rag-trace", "assay", source, target)
    assert f"{source}{message}" in capsys.readouterr().err
    assert not target.exists()


# ── losses ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_a_format_cannot_hold_is_counted(tmp_path: Path, capsys: Printed) -> None:
    case = {
        "id": "q",
        "question": "Why?",
        "symbols": ["f"],
        "evidence": [{"any_of": [{"document": "d", "page": 2}]}, {"any_of": [{"chunk_id": "a"}], "reason": "told"}],
    }
    assert 0 == convert("assay", "rag-golden", write(tmp_path / "in.jsonl", case), tmp_path / "out.jsonl")
    lost = [line for line in capsys.readouterr().err.splitlines() if line.startswith("not carried")]
    assert [
        "not carried: 1 symbol",
        "not carried: 1 unit of evidence that is not named by a single chunk id",
        "not carried: 1 unit's reason, quote, hash and kind of evidence",
    ] == lost


def test_one_loss_is_told_in_the_singular_and_two_in_the_plural(tmp_path: Path, capsys: Printed) -> None:
    row = {"question": "Why?", "evidence": [{"any_of": [{"chunk_id": "a"}]}]}
    cases = [{"id": name} | row for name in ("q1", "q2", "q3")]
    del cases[0]["evidence"]
    cases[0]["reference"] = "Because."
    assert 0 == convert("assay", "trec-qrels", write(tmp_path / "in.jsonl", *cases), tmp_path / "qrels.txt")
    lost = [line for line in capsys.readouterr().err.splitlines() if line.startswith("not carried")]
    assert [
        "not carried: 1 case without a judgment",
        "not carried: 3 cases' questions, answers and everything else",
    ] == lost


def test_forbidden_chunks_never_become_relevant_judgments(tmp_path: Path, capsys: Printed) -> None:
    target = tmp_path / "qrels.txt"
    assert 0 == convert("rag-golden", "trec-qrels", GOLDEN, target)
    denied = {case.id for case in load_golden(GOLDEN).golden.cases if case.behaviour == "permission_denied"}
    assert denied
    assert not denied & {line.split()[0] for line in target.read_text(encoding="utf-8").splitlines()}
    assert "cases without a judgment" in capsys.readouterr().err


def test_a_run_holds_one_configuration(tmp_path: Path, capsys: Printed) -> None:
    rows = [{"query_id": "q", "config_id": config, "retrieved_chunks": ["a"]} for config in ("c", "d")]
    source, run = write(tmp_path / "in.jsonl", *rows), tmp_path / "run.txt"
    assert 2 == convert("rag-trace", "trec-run", source, run)
    assert "config_id: E_CONFIG a run holds one configuration (got c, d" in capsys.readouterr().err
    assert 0 == convert("rag-trace", "trec-run", source, run, "--config", "d")
    assert "q Q0 a 1 1 d\n" == run.read_text(encoding="utf-8")


def test_an_id_with_a_blank_cannot_stand_in_columns(tmp_path: Path, capsys: Printed) -> None:
    source = write(tmp_path / "in.jsonl", {"query_id": "q", "config_id": "c", "retrieved_chunks": ["a b"]})
    assert 2 == convert("rag-trace", "trec-run", source, tmp_path / "run.txt")
    assert "id: E_ID blank inside an id (got 'a b'" in capsys.readouterr().err


@pytest.mark.parametrize(("old", "new"), [("rag-golden", "trec-run"), ("rag-trace", "rag-golden"), ("tsv", "assay")])
def test_formats_that_cannot_be_converted_are_listed(tmp_path: Path, capsys: Printed, old: str, new: str) -> None:
    assert 2 == convert(old, new, GOLDEN, tmp_path / "out")
    message = capsys.readouterr().err
    assert f"got --from '{old}' --to '{new}'; expected a golden set: --from assay, " in message


def test_standard_output_holds_the_lines_alone(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert 0 == main(["convert", "--from", "rag-trace", "--to", "assay", str(OUTPUTS), "-"])
    printed = capsysbinary.readouterr()
    assert observations(OUTPUTS, "rag-trace") == [
        OUTPUT_FORMATS["assay"].decode(line) for line in printed.out.splitlines()
    ]
    assert b"41 rows converted" in printed.err
