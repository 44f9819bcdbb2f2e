"""Results of other tools: metric names are mapped, and scores without a counterpart are counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.formats.labels.external_scores import load_external_scores
from assay.records.digest import compute_answer_hash
from assay.records.errors import InputError
from assay.records.golden_set import Case, GoldenSet
from assay.records.verdicts import Label

GOLDEN = GoldenSet((Case("c1", "Nghỉ phép  mấy ngày?"), Case("c2", "Twice?"), Case("c3", "Twice?")))
HASH = compute_answer_hash("12 ngày")


def written(folder: Path, content: Any, name: str = "results.json") -> str:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


RAGAS_ROW = {"user_input": "Nghỉ phép mấy ngày?", "response": "12 ngày", "faithfulness": 0.5, "answer_relevancy": 0.75}


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ([RAGAS_ROW], "r.json"),
        (json.dumps(RAGAS_ROW) + "\n", "r.jsonl"),
        ({key: {"0": value} for key, value in RAGAS_ROW.items()}, "r.json"),
        ({key: [value] for key, value in RAGAS_ROW.items()}, "r.json"),
        ("user_input,response,faithfulness,answer_relevancy\nNghỉ phép mấy ngày?,12 ngày,0.5,0.75\n", "r.csv"),
        ("question,answer,ground_truth,faithfulness,answer_relevancy\nNghỉ phép mấy ngày?,12 ngày,x,.5,.75\n", "r.csv"),
    ],
)  # fmt: skip
def test_ragas_tables_in_every_shape_are_read(tmp_path: Path, content: Any, name: str) -> None:
    external = load_external_scores(written(tmp_path, content, name), "ragas", GOLDEN, "a")
    common: dict[str, Any] = {"config_id": "a", "answer_hash": HASH, "source": "ragas"}
    assert {
        Label("c1", "faithfulness", "ragas", value=0.5, **common),
        Label("c1", "answer_relevance", "ragas", value=0.75, **common),
    } == set(external.labels)


@pytest.mark.parametrize(
    ("names", "list_name"),
    [
        (("actualOutput", "metricsData", "evaluationModel"), "testCases"),
        (("actual_output", "metrics_data", "evaluation_model"), "test_results"),
    ],
)
def test_deepeval_runs_are_read_with_model_and_reason(tmp_path: Path, names: tuple[str, ...], list_name: str) -> None:
    answer, data, model = names
    metrics = [
        {"name": "Faithfulness", "score": 1.0, "reason": "all there", model: "big"},
        {"name": "Toxicity", "score": 0},
    ]
    content = {list_name: [{"input": "Nghỉ phép mấy ngày?", answer: "12 ngày", data: metrics}]}
    external = load_external_scores(written(tmp_path, content), "deepeval", GOLDEN)
    label = Label("c1", "faithfulness", "big", value=1.0, answer_hash=HASH, source="deepeval", note="all there")
    assert ((label,), ("1 × Toxicity: no metric of the same meaning",)) == (external.labels, external.notes)


def test_trulens_records_are_read_by_their_feedback_names(tmp_path: Path) -> None:
    text = "record_id,input,output,Groundedness,Answer Relevance\n1,Nghỉ phép mấy ngày?,12 ngày,0.25,1.0\n"
    external = load_external_scores(written(tmp_path, text, "t.csv"), "trulens", GOLDEN)
    assert {"faithfulness": 0.25, "answer_relevance": 1.0} == {label.metric: label.value for label in external.labels}


def test_an_id_column_names_the_case_without_a_golden_set(tmp_path: Path) -> None:
    external = load_external_scores(written(tmp_path, [{"case_id": "c9", "faithfulness": 1}]), "ragas", None)
    assert ["c9"] == [label.case_id for label in external.labels]


def test_scores_that_are_missing_or_out_of_range_are_left_out_and_counted(tmp_path: Path) -> None:
    scores = {"c1": "NaN", "c2": "null", "c3": "7"}
    text = "[" + ", ".join(f'{{"case_id": "{case}", "faithfulness": {score}}}' for case, score in scores.items()) + "]"
    external = load_external_scores(written(tmp_path, text), "ragas", GOLDEN)
    assert ((), ("1 × faithfulness: a score outside 0 to 1", "2 × faithfulness: no score")) == (
        external.labels,
        external.notes,
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"question": "Twice?", "faithfulness": 1}], "cannot tell the case (got 'Twice?'"),
        ([{"case_id": "c7", "faithfulness": 1}], "cannot tell the case (got 'c7'"),
        ([{"case_id": "c1", "faithfulness": 1}, {"case_id": "c1", "faithfulness": 0}], "c1 is there twice"),
        ([], "holds no results of ragas"),
        ("[" * 100_000, "cannot be read"),
        ("[1, {", "cannot be read"),
        ('a,b\n"x', "cannot be read"),
    ],
)
def test_results_that_cannot_be_used_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_external_scores(written(tmp_path, content), "ragas", GOLDEN)
    assert message in str(caught.value)


def test_an_unknown_tool_is_named() -> None:
    with pytest.raises(InputError, match="unknown"):
        load_external_scores("x", "other", None)
