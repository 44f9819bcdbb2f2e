"""TREC judgments and runs: the way through arrays finds what the general way finds, and says the same of bad input."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.formats.trec.qrels import compute_qrels_digest, read_qrels
from assay.metrics.catalog import CATALOG, parse_metric
from assay.metrics.metric import MetricName
from assay.records.requests import InputOptions, ScoreRequest, ScoringOptions
from assay.records.scores import ERROR, NOT_APPLICABLE
from assay.report.exports.json_report import render_json_report
from assay.runs import score_run, score_trec_run
from assay.runs.score_run import open_scored_run

METRICS = "ndcg(gain=linear)@10,ndcg@5,recall@100,recall(rel=2)@10,ap,rr@10,judged@10,precision@5,r_precision,hit@3"
Printed = pytest.CaptureFixture[str]


def write_pair(folder: Path, *, tags: tuple[str, ...] = ("bm25",), skip: int = 0) -> tuple[str, list[str]]:
    """Write qrels and runs of 40 queries with ties, unjudged documents, a query without relevant ones, NFD ids."""
    rng = random.Random(3)
    qrels, runs = folder / "qrels.txt", []
    ids = [f"d{n}" for n in range(60)] + ["cà", "ca\u0300 2".replace(" ", "_")]
    with qrels.open("w", encoding="utf-8") as file:
        for query in range(40):
            for document in rng.sample(ids, 12):
                grade = 0 if query == 7 else rng.choice((-1, 0, 0, 1, 2, 3))
                file.write(f"q{query} 0 {document} {grade}\n")
    for tag in tags:
        runs.append(folder / f"{tag}.txt")
        with runs[-1].open("w", encoding="utf-8") as file:
            for query in range(skip, 40):
                for document in rng.sample(ids, rng.randrange(1, 30)):
                    file.write(f"q{query} Q0 {document} 1 {rng.randrange(8) / 4} {tag}\n")
    return str(qrels), [str(run) for run in runs]


def found(golden: str, outputs: list[str], **options: Any) -> dict[str, Any]:
    request = ScoreRequest(InputOptions(golden=golden, outputs=outputs), scoring=ScoringOptions((METRICS,), **options))
    with open_scored_run(request) as run:
        report: dict[str, Any] = json.loads(render_json_report(run.scoring))
        cells = {
            (config, name): (
                column.values[column.status == 0].tolist(),
                column.status.tolist(),
                [column.reasons[reason] for reason in column.reason[column.status != 0]],
            )
            for config, result in run.scoring.configs.items()
            for name, column in result.table.columns.items()
            if name in result.summary or name == "failed"
        }
        return report | {"cells": {str(key): value for key, value in cells.items()}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "skip"),
    [
        ({}, 0),
        ({}, 9),
        ({"workers": 2}, 9),
        ({"missing_as_zero": True}, 0),
        ({"missing_as_zero": True}, 9),
        ({"by": ("behaviour",)}, 0),
        ({"by": ("behaviour",)}, 9),
    ],
    ids=str,
)
def test_arrays_find_what_the_general_way_finds(tmp_path: Path, options: dict[str, Any], skip: int) -> None:
    golden, outputs = write_pair(tmp_path, tags=("bm25", "dense"), skip=skip)
    fast = found(golden, outputs, **options)
    general = found(golden, outputs, look_again=True, **options)
    for report in (fast, general):  # both say that names were brought to NFC, one of files and one of names
        assert 3 == sum("NFC" in note for note in report["warnings"])
        general_only = ("NFC", "equal scores", " not reported on ")  # a run has no citations
        report["warnings"] = [note for note in report["warnings"] if not any(part in note for part in general_only)]
    assert fast == general


def test_a_missing_query_without_a_relevant_document_is_not_applicable(tmp_path: Path) -> None:
    golden, outputs = write_pair(tmp_path, skip=8)  # q7 has judgments, all of grade 0
    request = ScoreRequest(InputOptions(golden=golden, outputs=outputs), scoring=ScoringOptions((METRICS,)))
    with open_scored_run(request) as run:
        table = run.scoring.configs["bm25"].table
    row, errors = table.case_ids.index("q7"), table.case_ids.index("q6")
    for name, reason in (("ap", "no evidence to find"), ("ndcg@5", "no evidence with a grade above 0")):
        column = table.columns[name]
        assert (NOT_APPLICABLE, reason) == (column.status[row], column.reasons[column.reason[row]])
        assert (ERROR, "no observation") == (column.status[errors], column.reasons[column.reason[errors]])


def test_runs_are_scored_by_every_metric_that_needs_one_ranking_alone() -> None:
    expected = {"ap", "hit", "judged", "ndcg", "precision", "r_precision", "recall", "rr"}
    assert expected == {base for base in CATALOG if score_trec_run.is_run_metric(MetricName(base))}
    assert score_trec_run.is_run_metric(parse_metric("recall(rel=2)@5"))
    assert not score_trec_run.is_run_metric(parse_metric("recall(stage=final)@5"))


def test_a_metric_with_a_formula_of_its_own_is_scored_from_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arrays know the formulas of the ranking metrics; another one needs the batch that it was written for."""
    own = structs.replace(
        CATALOG["recall"], name="own_recall", compute=lambda batch, name: pytest.fail("not from arrays")
    )
    monkeypatch.setattr(score_trec_run, "CATALOG", {**CATALOG, "own_recall": own})
    assert score_trec_run.is_run_metric(MetricName("recall"))
    assert not score_trec_run.is_run_metric(MetricName("own_recall"))


def test_a_pair_goes_through_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden, outputs = write_pair(tmp_path)
    monkeypatch.setattr(score_run, "load_golden", None)  # the general way would call it
    assert {"bm25"} == set(found(golden, outputs)["configs"])


def test_the_default_metrics_of_a_run_are_those_of_one_ranking(tmp_path: Path, capsys: Printed) -> None:
    golden, outputs = write_pair(tmp_path)
    assert 0 == main(["score", "--golden", golden, "--outputs", *outputs, "--format", "json"])
    summary = json.loads(capsys.readouterr().out)["configs"]["bm25"]["summary"]
    beside = {f"judged@{k}" for k in (1, 3, 5)}  # the judged share, computed with every ranking metric
    assert {*score_trec_run.TREC_METRICS, *beside} == set(summary)
    assert {"recall@10", "ndcg@10", "ap", "failed"} <= set(summary)
    assert not {"behaviour", "context_recall", "citation_exists", "recall(stage=final)@10"} & set(summary)


def test_the_digest_of_judgments_is_that_of_the_golden_set_that_they_are(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text('q2 0 a"b 1\nq10 0 c\\d 3\nq2 0 e\u0301 0\nq3 0 f -1\nq2 0 g 10\n', encoding="utf-8")
    assert load_golden(qrels).digest == compute_qrels_digest(read_qrels(qrels))


@pytest.mark.slow
@pytest.mark.parametrize("look_again", [False, True], ids=["arrays", "general"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 Q0 d1 1 nan bm25", "run.txt:3: score: E_SCORE not a score (got 'nan'"),
        ("q1 Q0 d1 1 bm25", "run.txt:3: E_CELLS wrong number of columns"),
        ("q1 Q0 d1 1 2 other", "run.txt:3: tag: E_TAG another run begins (got 'other'"),
        ("q1 Q0 d1 1 2 bm25\nq1 Q0 d1 2 1 bm25", "run.txt:4: document: E_DUPLICATE_ID listed twice"),
        ("q9 Q0 d1 1 2 bm25", "run.txt:3: query: E_UNKNOWN_ID no such case (got 'q9'"),
    ],
    ids=["score", "columns", "tag", "document twice", "unknown query"],
)
def test_both_ways_refuse_the_same_lines(
    tmp_path: Path, capsys: Printed, line: str, message: str, *, look_again: bool
) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d1 1\n", encoding="utf-8")
    (tmp_path / "run.txt").write_text(f"q2 Q0 d1 1 2 bm25\nq2 Q0 d2 2 1 bm25\n{line}\n", encoding="utf-8")
    extra = ["--format", "markdown"] if look_again else []
    command = ["score", "--golden", str(tmp_path / "qrels.txt"), "--outputs", str(tmp_path / "run.txt"), *extra]
    assert 2 == main(command)
    assert message in capsys.readouterr().err


def test_messages_about_a_packed_run_name_the_file_that_people_know(tmp_path: Path, capsys: Printed) -> None:
    golden, _ = write_pair(tmp_path)
    packed = tmp_path / "run.txt.gz"
    packed.write_bytes(gzip.compress(b"q1 Q0 d1 1 x bm25\n"))
    assert 2 == main(["score", "--golden", golden, "--outputs", str(packed), "--outputs-format", "trec-run"])
    assert f"{packed}:1: score: E_SCORE" in capsys.readouterr().err


def test_two_runs_with_one_tag_are_refused(tmp_path: Path, capsys: Printed) -> None:
    golden, (run,) = write_pair(tmp_path)
    twin = tmp_path / "twin.txt"
    twin.write_bytes(Path(run).read_bytes())
    assert 2 == main(["score", "--golden", golden, "--outputs", run, str(twin)])
    assert f"{twin}: tag: E_DUPLICATE two runs with the same tag (got 'bm25' again; it is that of {run})" in (
        capsys.readouterr().err
    )


def test_a_run_is_scored_against_any_golden_set(tmp_path: Path, capsys: Printed) -> None:
    """Ties go to the greater document id: d2 before d1, so the evidence is at rank 2; queries may be scattered."""
    golden = tmp_path / "golden.jsonl"
    cases = [{"id": f"q{n}", "question": "Why?", "expected_chunk_ids": ["d1"]} for n in (1, 2)]
    golden.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    run = tmp_path / "run.txt"
    run.write_text("q1 Q0 d1 1 0.5 bm25\nq2 Q0 d1 1 9 bm25\nq1 Q0 d2 2 0.5 bm25\n", encoding="utf-8")
    assert 0 == main(["score", "--golden", str(golden), "--outputs", str(run), "--format", "json"])
    summary = json.loads(capsys.readouterr().out)["configs"]["bm25"]["summary"]
    assert 0.75 == summary["rr@10"]["mean"]
    assert set(score_trec_run.TREC_METRICS) == set(summary)


def test_a_case_of_a_run_is_explained_in_its_order(tmp_path: Path, capsys: Printed) -> None:
    golden, outputs = write_pair(tmp_path)
    assert 0 == main(["explain", "q3", "--verbose", "--golden", golden, "--outputs", *outputs])
    text = capsys.readouterr().out
    assert "Stage retrieved" in text
    assert text.startswith("q3 under bm25")
