"""People read a random sample of the answers that rules passed, end to end: drawn, labelled, and reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report.schema_check import load_schema, violations

import assay
from assay.cli import main
from assay.formats import outputs
from assay.metrics.metric import Batch
from assay.scoring import score_shard, score_tables
from assay.scoring.score_tables import MetricPlan

Rows = list[dict[str, Any]]
SIZE = 8
GOLDEN: Rows = [
    {"id": f"seat-{number}", "question": f"What does seat {number} cost?", "must_have": [f"{number + 20} crowns"]}
    for number in range(24)
] + [
    {"id": f"star-{number}", "question": f"Where does star {number} live?", "behaviour": "abstain"}
    for number in range(6)
]
REFUSAL = "I could not find anything about that."


def answer(case: dict[str, Any], config: str) -> dict[str, Any]:
    if case["id"].startswith("star"):
        return {"case_id": case["id"], "config_id": config, "answer": REFUSAL}
    number = int(case["id"].partition("-")[2])
    said = f"It costs {number + 20} crowns." if number % 8 else "It costs 7 crowns."
    return {"case_id": case["id"], "config_id": config, "answer": said}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    write("golden.jsonl", GOLDEN)
    write("outputs.jsonl", [answer(case, "v1") for case in GOLDEN])
    assert main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--run-dir", "run"]) == 0


def write(path: str, rows: Rows) -> str:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def draw(folder: str, *more: str, run: str = "run", size: int = SIZE) -> Rows:
    command = ["labels", "export", "--run", run, "--only", "passed", "--sample", str(size), "--out", folder, *more]
    assert main(command) == 0
    return [json.loads(line) for line in Path(folder, "answers.jsonl").read_text().splitlines()]


def right(row: dict[str, Any]) -> str:
    return "right" if row["metric"] == "correct_answer" else "abstain"


def wrong(row: dict[str, Any]) -> str:
    return "wrong" if row["metric"] == "correct_answer" else "answer"


def fill(rows: Rows, folder: str, choose: Callable[[int, dict[str, Any]], str | None], out: str = "ann.jsonl") -> str:
    write("filled.jsonl", [{**row, "label": choose(number, row)} for number, row in enumerate(rows)])
    key = f"{folder}/key.json"
    assert main(["labels", "import", "filled.jsonl", "--key", key, "--rater", "Ann", "--out", out]) == 0
    return out


def read_report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["score", *arguments, "--format", "json"]) in (0, 1, 3)
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    schema = load_schema("report")
    assert not violations(report, schema, schema)
    return report


def test_the_report_says_how_many_of_the_passes_that_people_read_are_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    labels = fill(draw("sheet"), "sheet", lambda number, row: wrong(row) if number == 2 else right(row))
    report = read_report(capsys, "run", "--labels", labels)
    config = report["configs"]["v1"]
    passes = config["passes"]
    assert {name: passes[name] for name in ("passed", "drawn", "read", "right", "wrong", "unclear", "unread")} == {
        "passed": 27,
        "drawn": SIZE,
        "read": SIZE,
        "right": 7,
        "wrong": 1,
        "unclear": 0,
        "unread": 0,
    }
    assert passes["share_wrong"] == 0.125
    assert passes["low"] == 1 / 27
    assert 1 / 3 < passes["high"] < 0.6
    sentence = "people read 8 of the 27 answers that rules passed, drawn at random: 1 is wrong (12%; of all 27 between"
    assert report["doubts"][0].startswith(sentence)
    assert config["counts"]["failed"] == 4


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_every_report_says_it(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    labels = fill(draw("sheet"), "sheet", lambda _, row: right(row))
    capsys.readouterr()
    assert main(["score", "run", "--labels", labels, "--run-dir", "read", "--html", "page.html", "--format", form]) == 0
    shown = capsys.readouterr().out
    assert main(["report", "read", "--junit", "junit.xml"]) == 0
    sentence = "people read 8 of the 27 answers that rules passed, drawn at random: none is wrong (of all 27 at most"
    assert shown.count(sentence) == 1
    assert sentence in Path("page.html").read_text()
    assert sentence in Path("junit.xml").read_text()


def test_a_sheet_does_not_show_that_its_answers_passed() -> None:
    draw("sheet")
    assert main(["labels", "export", "--run", "run", "--only", "failed", "--out", "other"]) == 0
    for name in ("answers.jsonl", "answers.csv", "answers.html"):
        drawn, other = (Path(folder, name).read_text() for folder in ("sheet", "other"))
        for word in ("passed", "sample", "drawn", "random"):
            assert drawn.count(word) == other.count(word), (name, word)


def test_an_answer_that_stays_the_same_keeps_its_place_and_its_label(capsys: pytest.CaptureFixture[str]) -> None:
    rows = draw("sheet")
    labels = fill(rows, "sheet", lambda _, row: right(row))
    changed = {rows[1]["question"], rows[4]["question"]}
    outputs = [answer(case, "v2") for case in GOLDEN]
    for case, output in zip(GOLDEN, outputs, strict=True):
        if case["question"] in changed:
            output["answer"] += " Thank you for asking."
    inputs = ["--golden", "golden.jsonl", "--outputs", write("later.jsonl", outputs), "--labels", labels]
    passes = read_report(capsys, *inputs)["configs"]["v2"]["passes"]
    assert passes["passed"] == 27
    assert 0 < passes["unread"] <= 2 * len(changed)
    assert passes["share_wrong"] is None
    assert main(["score", *inputs, "--run-dir", "later"]) == 0
    left = draw("rest", run="later")
    assert len(left) == passes["unread"]
    more = fill(left, "rest", lambda _, row: right(row), "rest.jsonl")
    passes = read_report(capsys, "later", "--labels", labels, "--labels", more)["configs"]["v2"]["passes"]
    assert (passes["unread"], passes["share_wrong"]) == (0, 0.0)


def test_labels_from_other_exports_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    labels = fill(draw("sheet"), "sheet", lambda _, row: right(row))
    alone = read_report(capsys, "run", "--labels", labels)["configs"]["v1"]["passes"]
    named = [f"case:seat-{number}" for number in (1, 2, 3, 5, 6, 7, 9)]
    assert main(["labels", "export", "--run", "run", "--only", *named, "--out", "named"]) == 0
    rows = [json.loads(line) for line in Path("named/answers.jsonl").read_text().splitlines()]
    drawn = {json.loads(line)["case_id"] for line in Path(labels).read_text().splitlines()}
    key = json.loads(Path("named/key.json").read_text())["rows"]
    others = [row for row in rows if key[row["row_id"]]["case_id"] not in drawn]
    more = fill(others, "named", lambda _, row: "wrong", "more.jsonl")
    assert read_report(capsys, "run", "--labels", labels, "--labels", more)["configs"]["v1"]["passes"] == alone
    assert "passes" not in read_report(capsys, "run", "--labels", more)["configs"]["v1"]


def test_each_configuration_has_its_figure_and_shares_the_labels_of_the_same_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    second = [answer(case, "v2") for case in GOLDEN]
    for number, output in enumerate(second[:12]):
        output["answer"] = "I cannot help with this." if number % 2 else output["answer"]
    outputs = write("both.jsonl", [*(answer(case, "v1") for case in GOLDEN), *second])
    assert main(["score", "--golden", "golden.jsonl", "--outputs", outputs, "--run-dir", "both"]) == 0
    rows = draw("sheet", run="both")
    assert len({(row["question"], row["answer"], row["item"]) for row in rows if "seat" in row["question"]}) == len(
        [row for row in rows if "seat" in row["question"]]
    )
    assert SIZE <= len(rows) < 2 * SIZE
    configs = read_report(capsys, "both", "--labels", fill(rows, "sheet", lambda _, row: right(row)))["configs"]
    assert {name: config["passes"]["unread"] for name, config in configs.items()} == {"v1": 0, "v2": 0}
    assert configs["v2"]["passes"]["passed"] < configs["v1"]["passes"]["passed"]


def test_unclear_and_disputed_answers_leave_the_share_open(capsys: pytest.CaptureFixture[str]) -> None:
    rows = draw("sheet")
    labels = fill(rows, "sheet", lambda number, row: "unclear" if number == 0 else right(row))
    passes = read_report(capsys, "run", "--labels", labels)["configs"]["v1"]["passes"]
    assert (passes["unclear"], passes["read"], passes["share_wrong"]) == (1, SIZE, None)
    write("filled.jsonl", [{**rows[3], "label": wrong(rows[3])}])
    key = "sheet/key.json"
    assert main(["labels", "import", "filled.jsonl", "--key", key, "--rater", "Bo", "--out", "bo.jsonl"]) == 0
    passes = read_report(capsys, "run", "--labels", labels, "--labels", "bo.jsonl")["configs"]["v1"]["passes"]
    assert (passes["unclear"], passes["wrong"]) == (2, 0)
    assert main(["score", "run", "--labels", labels, "--run-dir", "kept"]) == 0
    assert read_report(capsys, "kept")["configs"]["v1"]["passes"]["unclear"] == 1


def test_a_part_of_a_run_has_the_figure_of_its_own_passes(capsys: pytest.CaptureFixture[str]) -> None:
    labels = fill(draw("sheet"), "sheet", lambda _, row: right(row))
    inputs = ["--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--limit", "9"]
    report = read_report(capsys, *inputs, "--labels", labels)
    passes = report["configs"]["v1"]["passes"]
    assert (passes["passed"], passes["drawn"], passes["wrong"]) == (7, 7, 0)
    assert 0 < passes["unread"] < 7


def test_of_a_case_that_was_asked_repeatedly_the_first_answer_counts(capsys: pytest.CaptureFixture[str]) -> None:
    first = [{**answer(case, "v1"), "repeat": 0} for case in GOLDEN]
    again = [{**row, "repeat": 1, "answer": f"{row['answer']} Again."} for row in first]
    outputs = write("repeats.jsonl", [*again, *first])
    assert main(["score", "--golden", "golden.jsonl", "--outputs", outputs, "--run-dir", "repeats"]) == 0
    rows = draw("sheet", run="repeats")
    assert not [row for row in rows if "Again" in row["answer"]]
    labels = fill(rows, "sheet", lambda _, row: right(row))
    passes = read_report(capsys, "repeats", "--labels", labels)["configs"]["v1"]["passes"]
    assert (passes["passed"], passes["unread"]) == (27, 0)


def test_a_sample_larger_than_the_passes_is_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    rows = draw("sheet", size=500)
    assert len(rows) == 27
    assert "v1: rules passed 27 answers, fewer than 500: all are in the sample" in capsys.readouterr().err
    labels = fill(rows, "sheet", lambda number, row: wrong(row) if number < 3 else right(row))
    report = read_report(capsys, "run", "--labels", labels)
    assert report["doubts"] == ["people read all 27 answers that rules passed: 3 are wrong (11%)"]
    assert report["configs"]["v1"]["passes"]["low"] is None


def test_where_nothing_is_to_be_read_the_command_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    labels = fill(draw("sheet"), "sheet", lambda _, row: right(row))
    again = ["labels", "export", "--run", "run", "--only", "passed", "--sample", str(SIZE), "--out", "again"]
    assert main([*again, "--labels", labels]) == 2
    assert "all of them labelled already (a larger --sample draws more)" in capsys.readouterr().err
    silent = write("silent.jsonl", [{"case_id": "seat-1", "config_id": "v1", "answer": "Ask at the desk."}])
    inputs = ["--golden", "golden.jsonl", "--outputs", silent]
    assert main(["labels", "export", *inputs, "--only", "passed", "--out", "none"]) == 2
    assert "nothing to read: v1: rules passed no answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--only", "passed", "--sample", "0"], "0 is not in the range x>=1"),
        (["--only", "passed", "--sample", "-4"], "-4 is not in the range x>=1"),
        (["--only", "passed", "tag:desk"], "expected passed alone"),
        (["--only", "pased"], "did you mean passed?"),
        (["--labels", "golden.jsonl"], "read only with --only"),
    ],
)
def test_a_draw_that_cannot_be_is_refused(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["labels", "export", "--run", "run", *arguments, "--out", "none"]) == 2
    assert expected in capsys.readouterr().err
    assert not Path("none").exists()


def test_python_draws_labels_and_reads_the_same_sample() -> None:
    outputs = [answer(case, "v1") for case in GOLDEN]
    before = assay.score(GOLDEN, outputs)
    assert before.pass_sample() is None
    drawn = before.draw_passes(SIZE)
    assert [one.case_id for one in drawn] == [one.case_id for one in before.draw_passes(20)[:SIZE]]
    labels = [
        assay.label_answer(
            before,
            one.case_id,
            "abstain" if one.metric == "behaviour" else "right",
            rater="Ann",
            metric=one.metric,
            sample=SIZE,
        )
        for one in drawn
    ]
    sample = assay.score(GOLDEN, outputs, labels=labels).pass_sample()
    assert sample is not None
    assert (sample.passed, sample.drawn, sample.right, sample.share_wrong) == (27, SIZE, SIZE, 0.0)
    with pytest.raises(assay.InputError, match="expected how many answers to draw"):
        before.draw_passes(0)


def test_where_all_passed_the_next_step_is_to_read_a_sample(capsys: pytest.CaptureFixture[str]) -> None:
    passing = [case for case in GOLDEN if case["id"] not in ("seat-0", "seat-8", "seat-16")]
    inputs = ["--golden", write("passing.jsonl", passing), "--outputs"]
    inputs.append(write("passed.jsonl", [answer(case, "v1") for case in passing]))
    capsys.readouterr()
    assert main(["score", *inputs]) == 0
    printed = capsys.readouterr().err
    (command,) = [line for line in printed.splitlines() if line.startswith("next: assay labels export")]
    assert command.endswith(" --only passed --out sheet")
    assert "(a person reads a sample of the answers that passed, which tells how many of them are wrong)" in printed
    assert main(command.removeprefix("next: assay ").split()) == 0
    rows = [json.loads(line) for line in Path("sheet/answers.jsonl").read_text().splitlines()]
    assert len(rows) == 27  # fewer than the 30 that are drawn where nothing else is said
    labels = fill(rows, "sheet", lambda _, row: right(row))
    assert main(["score", *inputs, "--labels", labels, "--run-dir", "read"]) == 0
    assert main(["score", "read"]) == 0
    assert "--only passed" not in capsys.readouterr().err


def decide(capsys: pytest.CaptureFixture[str], rule: dict[str, Any], *arguments: str) -> tuple[str, str]:
    write(
        "gate.yaml", [{"rules": [{"metric": "false_passes", **rule}], "exempt_from_correctness": "a test of one rule"}]
    )
    capsys.readouterr()
    main(["score", *arguments, "--gate", "gate.yaml", "--format", "json"])
    decision = json.loads(capsys.readouterr().out)["configs"]["v1"]["decision"]
    return decision["outcome"], " | ".join(decision["reasons"])


def test_a_gate_judges_the_upper_bound_of_false_passes(capsys: pytest.CaptureFixture[str]) -> None:
    """None wrong of 20: at most 1 − 0.05^(1/20) = 13.9%; with two that are open as wrong, 28.3% (Clopper-Pearson)."""
    rows = draw("sheet", size=20)
    labels = fill(rows, "sheet", lambda _, row: right(row))
    assert decide(capsys, {"at_most": 0.15}, "run", "--labels", labels)[0] == "PASS"
    outcome, reasons = decide(capsys, {"at_most": 0.1}, "run", "--labels", labels)
    assert outcome == "FAIL"
    assert "false_passes upper 95% bound 0.139 > 0.100 (n 20, Clopper-Pearson)" in reasons
    assert decide(capsys, {"at_most": 0.1, "basis": "point"}, "run", "--labels", labels)[0] == "PASS"
    part = fill(
        rows,
        "sheet",
        lambda number, row: None if number == 4 else "unclear" if number == 9 else right(row),
        "part.jsonl",
    )
    outcome, reasons = decide(capsys, {"at_most": 0.2}, "run", "--labels", part)
    assert outcome == "PASS_WITH_RISK"
    assert "is between 0.139 and 0.283, because nobody decided about 2 answers of the sample" in reasons


def test_a_rule_on_false_passes_fails_where_nobody_read_any(capsys: pytest.CaptureFixture[str]) -> None:
    outcome, reasons = decide(capsys, {"at_most": 0.5}, "run")
    assert outcome == "FAIL"
    assert "nobody read a sample of the answers that rules passed: assay labels export --only passed: 30" in reasons


def test_labels_in_a_spreadsheet_keep_the_size_of_their_sample(capsys: pytest.CaptureFixture[str]) -> None:
    rows = draw("sheet")
    kept = read_report(capsys, "run", "--labels", fill(rows, "sheet", lambda _, row: right(row), "labels.csv"))
    other = read_report(capsys, "run", "--labels", fill(rows, "sheet", lambda _, row: right(row), "labels.jsonl"))
    assert kept["configs"]["v1"]["passes"] == other["configs"]["v1"]["passes"]
    header, first, *_ = Path("labels.csv").read_text().splitlines()
    faults = {"many": "NUMBER not a number (got 'many'; expected a whole number)", "0": "LABEL out of range (got 0;"}
    for size, message in faults.items():
        Path("bad.csv").write_text(f"{header}\n{first.removesuffix(str(SIZE))}{size}\n")
        assert main(["score", "run", "--labels", "bad.csv"]) == 2
        assert f"bad.csv:2: sample: E_{message}" in capsys.readouterr().err


def test_worker_processes_find_the_same_sample(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = fill(draw("sheet"), "sheet", lambda number, row: wrong(row) if number == 5 else right(row))
    alone = read_report(capsys, "run", "--labels", labels)
    monkeypatch.setattr(outputs, "BYTES_PER_SHARD", 500)
    assert read_report(capsys, "run", "--labels", labels, "--workers", "2") == alone


def test_a_run_with_repeats_draws_the_worst_of_them_as_a_scoring_shows_it() -> None:
    rows = [answer(case, "v1") for case in GOLDEN]
    worse = {"case_id": "seat-3", "config_id": "v1", "answer": "It costs 7 crowns.", "repeat": 1}
    write("outputs.jsonl", [*rows, worse])
    main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--run-dir", "again"])
    drawn = {row["question"]: row["answer"] for row in draw("sheet", run="again", size=100)}
    assert "What does seat 3 cost?" not in drawn
    assert "What does seat 4 cost?" in drawn


def test_a_draw_measures_no_check_of_the_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[int] = []
    score_batch = score_tables.score_batch

    def count(plan: MetricPlan, batch: Batch) -> Any:
        scored.append(len(plan.columns))
        return score_batch(plan, batch)

    monkeypatch.setattr(score_shard, "score_batch", count)
    assert draw("sheet")
    assert [1] == scored


def test_the_command_that_imports_a_sample_of_passes_writes_a_file_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw("passes")
    assert "assay labels import passes/FILLED… --key passes/key.json --out passes.jsonl" in capsys.readouterr().err
    assert 0 == main(["labels", "export", "--run", "run", "--only", "case:seat-1", "--out", "one"])
    assert "--key one/key.json --out answers.jsonl" in capsys.readouterr().err
