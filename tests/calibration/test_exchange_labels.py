"""Labels end to end: blind sheets out of recorded answers, filled ones back, graded run logs."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.calibration.calibrating import CONFIGS, JUDGE, flags, truly, write_verdict_export, write_world

from assay.cli import main
from assay.records.digest import compute_answer_hash

SHEETS = [f"sheet-{person}{suffix}" for person in (1, 2) for suffix in (".csv", ".html", ".jsonl")]


def exported(folder: Path, *arguments: str) -> Path:
    out = folder / "sheets"
    assert 0 == main(["labels", "export", *arguments, "--out", str(out)])
    return out


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def filled(sheet: Path, target: Path, label: dict[str, str]) -> str:
    """Fill a CSV sheet as a person would: the label that the metric of the row maps to."""
    with open(sheet, encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, read[0])
        writer.writeheader()
        writer.writerows(row | {"label": label[row["metric"]]} for row in read)
    return str(target)


@pytest.mark.slow
def test_a_sheet_holds_no_configuration_no_verdict_and_no_id_of_a_case_or_chunk(tmp_path: Path) -> None:
    """The judge said something of every item and spread the sample; not a byte of it is in what people get."""
    where = write_world(tmp_path, 20)
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [truly])], ("faithfulness", "correctness"))
    out = exported(tmp_path, *flags(where), "--verdicts", verdicts, "--sample", "12", "--overlap", "4")
    assert sorted([*SHEETS, "key.json"]) == sorted(path.name for path in out.iterdir())
    for name in SHEETS:
        text = (out / name).read_text(encoding="utf-8")
        for secret in (*CONFIGS, JUDGE.model, JUDGE.digest, "reason ", "case0", "-chunk-", '"even"', '"odd"', "score"):
            assert secret not in text, (name, secret)


def test_a_sheet_asks_what_the_judge_is_asked_and_offers_its_labels(tmp_path: Path) -> None:
    out = exported(tmp_path, *flags(write_world(tmp_path, 20)), "--sample", "10", "--overlap", "3")
    first, second = rows(out / "sheet-1.jsonl"), rows(out / "sheet-2.jsonl")
    assert ["faithfulness"] * 10 + ["correctness"] * 10 == [row["metric"] for row in first]
    claim, whole_answer = first[0], first[-1]
    assert {"supported", "contradicted", "not_found"} <= set(claim["options"])
    assert claim["item"] in claim["answer"] and "" == claim["reference"] and 1 == len(claim["sources"])
    assert ("", "correct") == (whole_answer["item"], whole_answer["options"][0])
    assert whole_answer["reference"].startswith("It is ")
    assert [row["row_id"] for row in first[:3] + first[10:13]] == [row["row_id"] for row in second]


def test_every_stratum_and_both_configurations_are_in_the_key(tmp_path: Path) -> None:
    out = exported(tmp_path, *flags(write_world(tmp_path, 40)), "--metric", "correctness", "--sample", "20")
    targets = json.loads((out / "key.json").read_text(encoding="utf-8"))["rows"].values()
    assert set(CONFIGS) == {target["config_id"] for target in targets}
    assert 10 == sum(int(target["case_id"][-3:]) % 2 for target in targets)


@pytest.mark.slow
def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    where = flags(write_world(tmp_path, 20))
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert 0 == main(["labels", "export", *where, "--sample", "9", "--seed", seed, "--out", str(tmp_path / name)])
    same, other = ([(tmp_path / folder / name).read_bytes() for name in SHEETS] for folder in ("b", "c"))
    assert same == [(tmp_path / "a" / name).read_bytes() for name in SHEETS]
    assert same != other


@pytest.mark.slow
def test_filled_sheets_of_two_people_become_labels_to_calibrate_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = write_world(tmp_path, 20)
    out = exported(tmp_path, *flags(where), "--sample", "10", "--overlap", "3")
    label_by_metric = {"faithfulness": "supported", "correctness": "correct"}
    sheets = [
        filled(out / f"sheet-{person}.csv", tmp_path / f"{name}.csv", label_by_metric)
        for person, name in ((1, "lan"), (2, "minh"))
    ]
    target = tmp_path / "labels.jsonl"
    assert 0 == main(["labels", "import", *sheets, "--key", str(out / "key.json"), "--out", str(target)])
    assert "lan (person): 10 labels of correctness" in capsys.readouterr().out
    labels = rows(target)
    assert {"lan": 20, "minh": 6} == {name: sum(row["rater"] == name for row in labels) for name in ("lan", "minh")}
    (hashed,) = {
        row["answer_hash"]
        for row in labels
        if (row["case_id"], row["metric"]) == (labels[0]["case_id"], "faithfulness")
    }
    assert hashed.startswith("sha256:")
    again = tmp_path / "labels.csv"
    assert 0 == main(["labels", "import", str(target), "--out", str(again)])
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [truly])], ("faithfulness", "correctness"))
    capsys.readouterr()
    assert 0 == main(["calibrate", "--labels", str(again), "--verdicts", verdicts, *flags(where), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert ["lan", "minh"] == report["raters"]
    assert 3 == report["measured"][0]["raters"][0]["n"]


def test_sheets_that_people_fill_in_are_never_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = flags(write_world(tmp_path, 4))
    out = exported(tmp_path, *where)
    assert 2 == main(["labels", "export", *where, "--out", str(out)])
    assert "is not empty" in capsys.readouterr().err


def test_a_label_given_twice_by_one_person_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = exported(tmp_path, *flags(write_world(tmp_path, 4)), "--metric", "correctness")
    sheet = filled(out / "sheet-1.csv", tmp_path / "a.csv", {"correctness": "correct"})
    arguments = ["--key", str(out / "key.json"), "--rater", "Lan", "--out", str(tmp_path / "l.jsonl")]
    assert 2 == main(["labels", "import", sheet, str(out.parent / "a.csv"), *arguments])
    assert "Lan labelled correctness of" in capsys.readouterr().err


def test_nothing_to_label_and_a_missing_key_exit_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = flags(write_world(tmp_path, 3))
    assert 2 == main(["labels", "export", *where, "--metric", "completeness", "--out", str(tmp_path / "x")])
    assert "nothing to label" in capsys.readouterr().err
    out = exported(tmp_path, *where)
    assert 2 == main(["labels", "import", str(out / "sheet-1.csv"), "--out", str(tmp_path / "l.jsonl")])
    assert "--key: missing" in capsys.readouterr().err


def test_results_of_a_tool_become_external_scores(tmp_path: Path) -> None:
    where = write_world(tmp_path, 3)
    results = tmp_path / "ragas.json"
    results.write_text(
        json.dumps([{"user_input": "How many days of leave in year 1?", "faithfulness": 0.5}]), encoding="utf-8"
    )
    target = tmp_path / "l.jsonl"
    options = ["--format", "ragas", "--golden", str(where.golden), "--config", "a", "--out", str(target)]
    assert 0 == main(["labels", "import", str(results), *options])
    expected = {
        "case_id": "case001",
        "metric": "faithfulness",
        "rater": "ragas",
        "value": 0.5,
        "config_id": "a",
        "source": "ragas",
    }
    assert [expected] == rows(target)


def test_a_run_log_gets_its_grades_and_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "harness.jsonl"
    log.write_text(
        '{"question_id": "q1", "answer": "a", "model": "m"}\n{"question_id": "q2", "model": "m"}\n', encoding="utf-8"
    )
    before = log.read_bytes()
    label_file = tmp_path / "labels.csv"
    label_file.write_text(
        "case_id,metric,rater,label,config_id\nq1,grade,Lan,wrong,m\nq1,failure_label,Lan,hallucination,m\n",
        encoding="utf-8",
    )
    assert 0 == main(["labels", "graded", str(log), "--labels", str(label_file)])
    assert "1 of 2 rows have a grade" in capsys.readouterr().out
    graded = rows(tmp_path / "harness-graded.jsonl")
    assert ("wrong", "hallucination", None) == tuple(
        graded[0][name] for name in ("grade", "failure_label", "judge_model")
    )
    assert "not graded" == graded[1]["grading_error"]
    assert before == log.read_bytes()
    assert 2 == main(["labels", "graded", str(log), "--labels", str(label_file), "--out", str(log)])
    imported = tmp_path / "back.jsonl"
    assert 0 == main(
        [
            "labels",
            "import",
            str(tmp_path / "harness-graded.jsonl"),
            "--format",
            "graded",
            "--rater",
            "Lan",
            "--out",
            str(imported),
        ]
    )
    assert [("grade", "wrong"), ("failure_label", "hallucination")] == [
        (row["metric"], row["label"]) for row in rows(imported)
    ]
    assert compute_answer_hash("a") == rows(imported)[0]["answer_hash"]


def test_a_sheet_is_read_with_its_own_key_and_not_with_that_of_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = flags(write_world(tmp_path, 20))
    for name, seed in (("one", "1"), ("two", "2")):
        command = ["labels", "export", *where, "--metric", "correctness", "--sample", "6", "--seed", seed]
        assert 0 == main([*command, "--out", str(tmp_path / name)])
    sheet = filled(tmp_path / "one/sheet-1.csv", tmp_path / "lan.csv", {"correctness": "correct"})
    assert 2 == main(["labels", "import", sheet, "--key", str(tmp_path / "two/key.json"), "--out", "x.jsonl"])
    assert "not a row of this key" in capsys.readouterr().err
    key = json.loads((tmp_path / "one/key.json").read_text())
    key["rows"] = {row_id.partition("-")[0]: target for row_id, target in key["rows"].items()}
    (tmp_path / "old.json").write_text(json.dumps(key))  # as older versions wrote it, with a sheet of theirs
    old = tmp_path / "old.csv"
    with open(sheet, encoding="utf-8", newline="") as file:
        read = [row | {"row_id": row["row_id"].partition("-")[0]} for row in csv.DictReader(file)]
    with open(old, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, read[0])
        writer.writeheader()
        writer.writerows(read)
    labels = str(tmp_path / "labels.jsonl")
    assert 0 == main(["labels", "import", str(old), "--key", str(tmp_path / "old.json"), "--out", labels])
    assert 6 == len(rows(Path(labels)))
