"""What rules leave open is decided by people, end to end: exported, labelled, imported and scored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli import main
from assay.formats.labels.label_files import encode_labels_jsonl
from assay.metrics.cases.settled_answers import digest_expectations
from assay.records.digest import compute_answer_hash
from assay.records.errors import InputError
from assay.records.golden_set import Case

GOLDEN: list[dict[str, Any]] = [
    {"id": "loan", "question": "What may a reader take home?", "reference": "Readers may borrow six books at a time."},
    {"id": "fine", "question": "What is the fine per day?", "reference": "20 cents"},
    {"id": "room", "question": "Which room is the archive in?", "must_have": ["room 12"]},
    {"id": "home", "question": "Where does the warden live?", "behaviour": "abstain"},
]
OUTPUTS: list[dict[str, Any]] = [
    {"case_id": "loan", "answer": "Half a dozen volumes, if they like."},
    {"case_id": "fine", "answer": "It is 30 cents."},
    {"case_id": "room", "answer": "It is in room 12."},
    {"case_id": "home", "answer": "Hmm. I would not be the one to ask."},
]
Rows = list[dict[str, Any]]


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    write("golden.jsonl", GOLDEN)
    write("outputs.jsonl", [{"config_id": "v1", **row} for row in OUTPUTS])
    assert main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--run-dir", "run"]) == 0
    return tmp_path


def write(path: str, rows: Rows) -> str:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def export(*only: str, folder: str = "sheet") -> Rows:
    assert main(["labels", "export", "--run", "run", "--only", *only, "--out", folder]) == 0
    return [json.loads(line) for line in Path(folder, "answers.jsonl").read_text().splitlines()]


def label(choose: Callable[[dict[str, Any]], str | None], *only: str) -> str:
    rows = export(*only)
    filled = write("filled.jsonl", [{**row, "label": choose(row)} for row in rows])
    key = "sheet/key.json"
    assert main(["labels", "import", filled, "--key", key, "--rater", "Ann", "--out", "labels.jsonl"]) == 0
    return "labels.jsonl"


def read_case(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["score", *arguments, "--format", "json"]) in (0, 1, 3)
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_a_sheet_holds_exactly_the_open_answers_with_what_their_cases_expect() -> None:
    rows = export("ambiguous")
    assert [(row["metric"], row["answer"]) for row in rows] == [("correct_answer", OUTPUTS[0]["answer"])]
    assert rows[0]["reference"] == GOLDEN[0]["reference"]
    assert rows[0]["options"] == ["right", "wrong", "unclear"]
    assert "v1" not in Path("sheet/answers.jsonl").read_text()


def test_answers_that_fail_and_named_cases_can_be_asked_about_too() -> None:
    assert [row["answer"] for row in export("failed", folder="failed")] == ["It is 30 cents."]
    (row,) = export("case:room", folder="named")
    assert (row["metric"], row["item"]) == ("correct_answer", "room 12")
    (row,) = export("case:home", folder="other")
    assert row["metric"] == "behaviour"
    assert main(["labels", "export", "--run", "run", "--only", "case:attic", "--out", "none"]) == 2


@pytest.mark.parametrize(("answer", "value", "failed"), [("right", 1.0, 1), ("wrong", 0.0, 2)])
def test_what_a_person_decides_is_the_score_and_is_named(
    answer: str, value: float, failed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = label(lambda _: answer, "ambiguous")
    report = read_case(capsys, "run", "--labels", labels)
    result = report["configs"]["v1"]
    assert result["counts"] == {"cases": 4, "passed": 4 - failed, "failed": failed, "unknown": 0, "unanswered": 0}
    assert any("1 case settled by a person (Ann): loan" in note for note in result["notes"])
    assert main(["explain", "loan", "--run", "run", "--labels", labels]) == 0
    shown = capsys.readouterr().out
    assert "settled by Ann: correct_answer" in shown
    assert ("good answer: yes" in shown) == bool(value)


def test_a_person_overrules_the_rules_and_the_report_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "failed")
    report = read_case(capsys, "run", "--labels", labels)
    assert report["configs"]["v1"]["counts"]["failed"] == 0
    assert any("the rules say otherwise of fine" in note for note in report["configs"]["v1"]["notes"])


def test_a_label_counts_for_the_answer_that_was_read_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "ambiguous")
    changed = [{"config_id": "v1", **row, "answer": str(row["answer"]) + " Or more."} for row in OUTPUTS]
    inputs = ("--golden", "golden.jsonl", "--outputs", write("changed.jsonl", changed))
    report = read_case(capsys, *inputs, "--labels", labels)
    assert report["configs"]["v1"]["counts"]["unknown"] >= 1
    assert not any("settled" in note for note in report["configs"]["v1"]["notes"])


def test_a_label_of_a_case_that_expects_something_else_now_is_left_out_and_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    labels = label(lambda _: "right", "ambiguous")
    golden = write("golden-2.jsonl", [{**GOLDEN[0], "reference": "Readers may borrow four books."}, *GOLDEN[1:]])
    report = read_case(capsys, "--golden", golden, "--outputs", "outputs.jsonl", "--labels", labels)
    assert report["configs"]["v1"]["counts"]["unknown"] == 1
    assert any("(loan) given when the case expected something else" in text for text in report["warnings"])


def test_a_run_folder_keeps_the_labels_that_it_was_scored_with(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "ambiguous")
    assert main(["score", "run", "--labels", labels, "--run-dir", "settled"]) == 0
    Path(labels).unlink()
    report = read_case(capsys, "settled")
    assert report["configs"]["v1"]["counts"]["unknown"] == 0
    assert "answer_labels" not in Path("settled/golden.jsonl").read_text()
    assert report["golden"]["digest"] == read_case(capsys, "run")["golden"]["digest"]


def test_a_comparison_reads_the_same_answer_alike_on_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "wrong", "ambiguous")
    assert main(["score", "run", "--labels", labels, "--run-dir", "settled"]) == 0
    capsys.readouterr()
    main(["compare", "run", "settled", "--format", "json"])
    compared = json.loads(capsys.readouterr().out)
    assert compared["cases"] == []


def test_people_who_disagree_leave_an_answer_open(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "ambiguous")
    (ann,) = (json.loads(line) for line in Path(labels).read_text().splitlines())
    other = write("bo.jsonl", [{**ann, "rater": "Bo", "label": "wrong"}])
    report = read_case(capsys, "run", "--labels", labels, "--labels", other)
    assert report["configs"]["v1"]["counts"]["unknown"] == 1
    assert any("people disagree about answers to loan" in text for text in report["warnings"])


def test_what_an_answer_does_can_be_decided_too() -> None:
    golden = [{"id": "home", "question": "Where does the warden live?", "behaviour": "abstain"}]
    outputs = [{"case_id": "home", "answer": "I moved there in 2019."}]
    before = assay.score(golden, outputs)
    decided = assay.label_answer(before, "home", "abstain", rater="Ann", metric="behaviour")
    after = assay.score(golden, outputs, labels=[decided])
    assert (before.metric("behaviour").value, after.metric("behaviour").value) == (0.0, 1.0)
    assert not after.failed


def test_labels_that_cannot_be_used_are_refused_with_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"case_id": "loan", "metric": "correct_answer", "rater": "Ann", "label": "rihgt"}
    hashed = {**row, "answer_hash": compute_answer_hash("x")}
    assert main(["score", "run", "--labels", write("bad.jsonl", [hashed])]) == 2
    assert "bad.jsonl:1: label: " in (said := capsys.readouterr().err)
    assert "did you mean 'right'" in said
    assert main(["score", "run", "--labels", write("bare.jsonl", [{**row, "label": "right"}])]) == 2
    assert "no answer_hash of loan" in capsys.readouterr().err
    with pytest.raises(InputError, match="did you mean 'wrong'"):
        assay.label_answer(assay.score(GOLDEN, OUTPUTS), "loan", "wrnog", rater="Ann")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no answer to label"):
        assay.label_answer(assay.score(GOLDEN, OUTPUTS), "attic", "wrong", rater="Ann")


def test_labels_for_calibration_in_the_same_file_are_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "ambiguous")
    other = {"case_id": "loan", "metric": "faithfulness", "rater": "Ann", "label": "supported", "item": "c1"}
    with Path(labels).open("a") as file:
        file.write(json.dumps(other) + "\n")
    assert read_case(capsys, "run", "--labels", labels)["configs"]["v1"]["counts"]["unknown"] == 0


def test_the_digest_of_what_is_expected_ignores_evidence_and_tags() -> None:
    case = Case("loan", "What?", reference="Six.", must_have=("six",))
    assert digest_expectations(case) == digest_expectations(
        Case("x", "What?", reference="Six.", must_have=("six",), tags=("a",))
    )
    assert digest_expectations(case) != digest_expectations(
        Case("loan", "What?", reference="Six.", must_have=("five",))
    )


def test_where_nothing_failed_the_next_step_is_to_read_what_is_open(capsys: pytest.CaptureFixture[str]) -> None:
    golden, outputs = write("one.jsonl", GOLDEN[:1]), write("said.jsonl", OUTPUTS[:1])
    capsys.readouterr()
    main(["score", "--golden", golden, "--outputs", outputs])
    (command,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("next: assay labels export")]
    assert main(command.removeprefix("next: assay ").split()) == 0
    assert Path("sheet/answers.html").is_file()


def test_a_sheet_is_not_read_with_the_key_of_another(capsys: pytest.CaptureFixture[str]) -> None:
    rows = export("ambiguous", folder="open")
    export("failed", folder="wrong")
    filled = write("filled.jsonl", [{"row_id": row["row_id"], "label": "right", "rater": "Ann"} for row in rows])
    assert main(["labels", "import", filled, "--key", "wrong/key.json", "--out", "labels.jsonl"]) == 2
    assert "not a row of this key" in capsys.readouterr().err
    assert not Path("labels.jsonl").exists()


def test_a_sheet_withholds_what_the_user_must_not_see() -> None:
    secret = "The warden earns four thousand one hundred and twelve crowns a month before any tax is taken off."
    corpus: Rows = [
        {"chunk_id": "pay", "text": secret, "roles": ["board"]},
        {"chunk_id": "desk", "text": "Ask at the desk about the pay of staff."},
    ]
    golden: Rows = [
        {"id": "pay", "question": "What does the warden earn?", "reference": "Ask at the desk.", "user": {}}
    ]
    chunks = [{"chunk_id": row["chunk_id"], "text": row["text"]} for row in corpus]
    outputs = [
        {"case_id": "pay", "answer": "Better ask them there.", "stages": [{"name": "context", "chunks": chunks}]}
    ]
    inputs = ["--golden", write("g.jsonl", golden), "--outputs", write("o.jsonl", outputs)]
    inputs += ["--corpus", write("c.jsonl", corpus)]
    assert main(["labels", "export", *inputs, "--only", "case:pay", "--out", "sheet"]) == 0
    for file in Path("sheet").iterdir():
        assert "four thousand" not in file.read_text(), file
    assert "Ask at the desk about" in Path("sheet/answers.jsonl").read_text()


def test_where_people_disagree_the_answer_is_unknown_whatever_the_rules_say() -> None:
    before = assay.score(GOLDEN, OUTPUTS)
    labels = [
        assay.label_answer(before, "room", "right", rater="Ann"),
        assay.label_answer(before, "room", "wrong", rater="Bo"),
    ]
    after = assay.score(GOLDEN, OUTPUTS, labels=labels)
    assert [case.id for case in before.unknown] == ["loan"]
    assert [case.id for case in after.unknown] == ["loan", "room"]
    assert "people disagree (Ann: right; Bo: wrong)" in assay.explain(after, "room")


DENIED = {"id": "tram", "question": "How often does the tram run?", "must_have": ["every 9 minutes"]}


@pytest.mark.parametrize(
    "answer",
    ["The tram does not run every 9 minutes.", "It runs every 12 minutes.", "Twice a day, from the north gate."],
)
def test_a_dispute_leaves_no_check_of_the_answer_standing_and_is_the_reason(answer: str) -> None:
    outputs = [{"case_id": "tram", "answer": answer}]
    before = assay.score([DENIED], outputs)
    labels = [
        assay.label_answer(before, "tram", "right", rater="Ann"),
        assay.label_answer(before, "tram", "wrong", rater="Bo"),
    ]
    (case,) = assay.score([DENIED], outputs, labels=labels).cases
    assert ("unknown", ()) == (case.outcome, case.failed_checks)
    assert "unknown: people disagree (Ann: right; Bo: wrong)" == case.reasons["correct_answer"]
    assert "insufficient_trace" not in case.explain()


def test_one_person_may_change_a_label_in_a_later_file_but_not_contradict_it_in_one(tmp_path: Path) -> None:
    before = assay.score(GOLDEN, OUTPUTS)
    right = assay.label_answer(before, "room", "right", rater="Ann")
    wrong = assay.label_answer(before, "room", "wrong", rater="Ann")
    files = {}
    for name, given in (("monday", right), ("tuesday", wrong)):
        files[name] = tmp_path / f"{name}.jsonl"
        files[name].write_bytes(b"".join(encode_labels_jsonl([given])))
    for order, value in (("monday tuesday", 0.0), ("tuesday monday", 1.0), ("monday tuesday monday", 1.0)):
        after = assay.score(GOLDEN, OUTPUTS, labels=[files[name] for name in order.split()])
        assert value == next(case for case in after.cases if case.id == "room").scores["correct_answer"]
        last = "right" if value else "wrong"
        said = f"the last label counts where one person gave several to an answer: Ann on room, {last}"
        assert said in after.run.scoring.warnings
    with pytest.raises(InputError, match=r"labels:2: label: .*one answer labelled twice by one person"):
        assay.score(GOLDEN, OUTPUTS, labels=[right, wrong])
    assert "settled" in assay.explain(assay.score(GOLDEN, OUTPUTS, labels=[right, right]), "room")


def test_a_gate_on_a_run_and_python_read_the_labels_of_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "wrong", "ambiguous")
    assert main(["score", "run", "--labels", labels, "--run-dir", "settled"]) == 0
    rule = {"rules": [{"metric": "failed", "max_regression": 0.0}]}
    Path("gate.json").write_text(json.dumps(rule))
    comparison = assay.compare("run", "settled")
    assert not [pair for pair in comparison.cases if "loan" in str(pair)]
    in_memory = assay.compare(assay.score("golden.jsonl", "outputs.jsonl"), "settled")
    assert any("people settled loan on one side only" in note for note in in_memory.notes)
    capsys.readouterr()
    main(["compare", "run", "settled"])
    assert "on one side only" not in capsys.readouterr().out


def test_what_labels_do_not_do_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "ambiguous")
    changed = [{"config_id": "v1", **row, "answer": f"{row['answer']} Yes."} for row in OUTPUTS]
    report = read_case(capsys, "--golden", "golden.jsonl", "--outputs", write("new.jsonl", changed), "--labels", labels)
    assert any("to loan that nobody gave here" in text for text in report["warnings"])
    assert main(["score", "run", "--labels", labels]) == 0
    assert "labels are not kept in run: --run-dir DIR keeps them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"row_id": "a0001", "label": "right"}], "is a sheet (expected its labels: `assay labels import"),
        (GOLDEN, "no file of labels (got rows of id, question, reference"),
        (
            [{"case_id": "loan", "metric": "correct_anwser", "rater": "Ann", "label": "right"}],
            "did you mean 'correct_answer'",
        ),
        (
            [{"case_id": "loan", "metric": "faithfulness", "rater": "Ann", "label": "supported"}],
            "holds no label of an answer",
        ),
    ],
)
def test_a_file_that_labels_no_answer_is_an_error(
    rows: Rows, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", "run", "--labels", write("other.jsonl", rows)]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "other.jsonl" in line]
    assert expected in line


def test_an_import_loses_no_labels(capsys: pytest.CaptureFixture[str]) -> None:
    label(lambda _: "right", "ambiguous")
    again = ["labels", "import", "filled.jsonl", "--key", "sheet/key.json", "--out", "labels.jsonl", "--rater"]
    assert main([*again, "Ann"]) == 0
    assert main([*again, "Bo"]) == 2
    assert "holds 1 label (Ann) that would be lost" in capsys.readouterr().err
    empty = write(
        "empty.jsonl", [{"row_id": row["row_id"], "label": None} for row in export("ambiguous", folder="again")]
    )
    assert main(["labels", "import", empty, "--key", "again/key.json", "--out", "none.jsonl"]) == 2
    assert "nothing to import: 1 row has no label yet" in capsys.readouterr().err


def test_a_selection_that_does_not_exist_names_the_near_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["labels", "export", "--run", "run", "--only", "ambigous", "--out", "none"]) == 2
    assert "did you mean ambiguous? expected ambiguous, failed, passed, tag:NAME or case:ID" in capsys.readouterr().err


def test_a_run_reads_its_labels_before_the_target_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("ask.py").write_text("def ask(question):\n    open('asked', 'a').write('x')\n    return 'Six.'\n")
    settings = {"golden": "golden.jsonl", "scoring": {"labels": ["gone.jsonl"]}}
    settings["targets"] = {"own": {"type": "python", "call": "ask:ask"}}
    Path("assay.yaml").write_text(json.dumps(settings))
    assert main(["run"]) == 2
    assert "gone.jsonl" in capsys.readouterr().err
    assert not Path("asked").exists()


def test_a_second_scoring_says_which_answers_people_decided_and_how(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda row: "wrong" if "dozen" in row["answer"] else "right", "ambiguous", "failed")
    capsys.readouterr()
    assert main(["regrade", "run", "--with", f"labels={labels}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  fail → pass: fine (settled by Ann, against the rules)" in lines
    assert "  unscored → scored: loan (0, settled by Ann)" in lines
    (counted,) = [number for number, line in enumerate(lines) if line.startswith("v1 correct_answer_unknown")]
    assert lines[counted].endswith("1 score differs; open → decided 1")
    assert lines[counted + 2] == "  open → decided: loan"
    assert main(["regrade", "run", "--with", f"labels={labels}", "--format", "json"]) == 0
    metrics = {entry["metric"]: entry for entry in json.loads(capsys.readouterr().out)["metrics"]}
    assert [flip.get("settled") for flip in metrics["correct_answer_unknown"]["flips"]] == [""]
    assert main(["score", "run", "--labels", labels, "--run-dir", "settled"]) == 0
    bare = write("none.jsonl", [json.loads(line) for line in Path(labels).read_text().splitlines()][1:])
    capsys.readouterr()
    assert main(["regrade", "settled", "--with", f"labels={bare}", "--metrics", "correct_answer_unknown"]) == 0
    assert "  decided → open: loan" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "key", "expected"),
    [
        (
            "golden.jsonl",
            "sheet/key.json",
            "golden.jsonl:1: E_LABEL no file of labels (got rows of id, question, reference;",
        ),
        ("sheet/answers.html", "sheet/key.json", "answers.html:1: E_LABEL no file of labels (got an HTML page;"),
        (
            "sheet/key.json",
            "sheet/key.json",
            "key.json:1: E_LABEL no file of labels (got a JSON object over several lines;",
        ),
        ("sheet/answers.jsonl", "sheet/answers.csv", "answers.csv: E_KEY is a sheet, not a key (expected the key.json"),
        ("sheet/answers.jsonl", "sheet/answers.html", "answers.html: E_KEY is an HTML page, not a key"),
        (
            "sheet/answers.jsonl",
            "golden.jsonl",
            "golden.jsonl: E_KEY is a file of rows of id, question, reference, not",
        ),
        ("sheet/answers.jsonl", "kept.jsonl", "kept.jsonl: E_KEY is a file of labels, not a key"),
        ("sheet/answers.jsonl", "sheet", "sheet: E_KEY is a folder, not a key"),
    ],
)
def test_a_wrong_file_is_one_line_that_says_what_it_is(
    file: str, key: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(label(lambda _: "right", "ambiguous")).rename("kept.jsonl")
    capsys.readouterr()
    assert main(["labels", "import", file, "--key", key, "--out", "out.jsonl"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line


def test_the_key_of_a_review_that_is_none_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    export("ambiguous")
    capsys.readouterr()
    words = ["judge", "settle", "sheet/answers.jsonl", "--key", "sheet/answers.jsonl", "--store", "v.jsonl"]
    assert main(words) == 2
    expected = "is a sheet, not a key (expected the key.json of `assay judge review --out`)"
    assert expected in capsys.readouterr().err
