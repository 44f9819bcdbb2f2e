"""Commands show what was asked for, and name what is wrong: a file, an id, a program."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.runs.scoring import write

from assay.calls.raised_errors import make_exception_error
from assay.cli import main
from assay.metrics.catalog import CATALOG

Printed = pytest.CaptureFixture[str]
ROWS: list[dict[str, Any]] = [
    {"golden_set": {"name": "shop", "version": "1"}},
    {
        "id": "price",
        "question": "What does it cost?",
        "must_have": ["90 euros"],
        "evidence": [{"any_of": [{"chunk_id": "old:01"}]}],
    },
]
TARGET = 'def ask(question):\n    return {"answer": "It costs 90 euros."}\n'
METRIC = '''import assay


@assay.metric
def answer_length(case, observation):
    """Whether the answer is short."""
    return float(len(observation.answer) < 100)
'''


@pytest.fixture(autouse=True)
def forget_metrics() -> Iterator[None]:
    """Leave no metric of a test in the catalogue: worker processes of later tests would look for its module."""
    yield
    CATALOG.forget_plugins()


@pytest.fixture(autouse=True)
def _wide_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "250")  # what is looked for is not cut


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    (tmp_path / "chunks.jsonl").write_text('{"chunk_id": "new:01", "text": "It costs 90 euros."}\n', encoding="utf-8")
    (tmp_path / "asked_target.py").write_text(TARGET, encoding="utf-8")
    (tmp_path / "asked_metric.py").write_text(METRIC, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "asked_target", raising=False)
    write_settings(tmp_path, '{type: python, call: "asked_target:ask"}')
    return tmp_path


def write_settings(folder: Path, target: str, more: str = "") -> None:
    text = f"golden: golden.jsonl\ncorpus: chunks.jsonl\n{more}targets:\n  shop: {target}\n"
    (folder / "assay.yaml").write_text(text, encoding="utf-8")


def test_own_metrics_are_on_the_screen_next_to_built_in_ones(folder: Path, capsys: Printed) -> None:
    asked = "asked_metric:answer_length,recall@10,correct_answer"
    assert 0 == main(["run", "--run-dir", "named", "--metrics", asked])
    lines = capsys.readouterr().out.splitlines()
    shown = [line.split()[0] for line in lines if line.startswith(("answer_length", "recall@10", "correct_answer"))]
    assert ["answer_length", "correct_answer"] == [name for name in shown if name != "recall@10"]
    write_settings(
        folder,
        '{type: python, call: "asked_target:ask"}',
        'scoring: {metrics: ["correct_answer", "asked_metric:answer_length"]}\n',
    )
    assert 0 == main(["run", "--run-dir", "of-settings"])
    out = capsys.readouterr().out
    assert "\nanswer_length" in out
    assert "\nAnswer correctness" in out


def test_doctor_names_evidence_that_the_corpus_has_not(folder: Path, capsys: Printed) -> None:
    main(["doctor"])
    out = capsys.readouterr().out
    assert "warn  golden set: evidence old:01 is not in the corpus: price" in out
    assert "golden relink" in out
    assert '{"golden_set": {"owner": "you@example.org", "changelog": ' in out


def test_doctor_says_of_a_program_that_is_missing_or_ends_what_to_do(folder: Path, capsys: Printed) -> None:
    pytest.importorskip("mcp")
    write_settings(folder, "{type: mcp, command: [no-such-program-here]}")
    main(["doctor", "--allow-exec"])
    out = capsys.readouterr().out
    assert "install no-such-program-here, or correct `command`" in out
    write_settings(folder, f'{{type: mcp, command: ["{sys.executable}", "-c", "raise SystemExit(3)"]}}')
    main(["doctor", "--allow-exec"])
    out = capsys.readouterr().out
    assert "run it by itself and read what it prints" in out
    assert "compare the address" not in out


def test_a_baseline_that_is_not_there_is_said_so(folder: Path, capsys: Printed) -> None:
    (folder / "gate.yaml").write_text("rules:\n  - {metric: failed, at_most: 0.5}\n", encoding="utf-8")
    assert 2 == main(["run", "--run-dir", "r", "--gate", "gate.yaml", "--baseline", "nothing.json"])
    assert "nothing.json: E_SIDE no such file or folder" in capsys.readouterr().err
    (folder / "empty").mkdir()
    assert 2 == main(["run", "--run-dir", "r", "--gate", "gate.yaml", "--baseline", "empty"])
    assert "neither a run folder nor a baseline" in capsys.readouterr().err


def test_golden_check_says_that_a_set_is_valid(folder: Path, capsys: Printed) -> None:
    assert 0 == main(["golden", "check", "golden.jsonl"])
    assert "valid: 1 case, " in capsys.readouterr().out


# ── answers that nothing can judge ───────────────────────────────────────────────────────────────────────────────

NOTHING = (
    "2 of 3 cases have a long reference and no must_have: rules can seldom tell whether their answers are right (a, b)"
)
REMEDY = "add must_have to such a case, or run `assay judge`"
OPEN_CASES = [
    {
        "id": "a",
        "question": "What if I lose my ticket?",
        "reference": "Show proof of payment at the desk, or buy a new one.",
    },
    {
        "id": "b",
        "question": "How do I hand in the form?",
        "reference": "Post it to the town hall, or leave it in the red box there.",
    },
    {"id": "c", "question": "How long is lost property kept?", "reference": "90 days"},
]


def test_cases_that_no_answer_can_fail_are_named(folder: Path, capsys: Printed) -> None:
    write(folder / "open.jsonl", OPEN_CASES)
    assert 0 == main(["golden", "check", "open.jsonl"])
    printed = capsys.readouterr()
    assert f"warning: open.jsonl: E_UNJUDGEABLE {NOTHING}: {REMEDY}" in printed.err
    assert "valid: 3 cases, 1 warning" in printed.out
    main(["doctor", "--golden", "open.jsonl"])
    assert f"warn  golden set: {NOTHING}\n      {REMEDY}\n" in capsys.readouterr().out


def test_an_import_names_the_cases_that_no_answer_can_fail(folder: Path, capsys: Printed) -> None:
    rows = [f'"{case["question"]}","{case["reference"]}"' for case in OPEN_CASES]
    Path("rows.csv").write_text("\n".join(["question,reference", *rows]), encoding="utf-8")
    Path("assay.yaml").unlink(missing_ok=True)
    Path("golden.jsonl").unlink(missing_ok=True)
    assert 0 == main(["init", "--from", "rows.csv"])
    said = " ".join(capsys.readouterr().err.split())
    assert "2 of 3 cases have a long reference and no must_have" in said
    assert REMEDY in said


def test_a_set_about_retrieval_alone_is_not_warned_about(folder: Path, capsys: Printed) -> None:
    cases = [{"id": case["id"], "question": case["question"], "evidence": [{"chunk_id": "c1"}]} for case in OPEN_CASES]
    write(folder / "retrieval.jsonl", cases)
    assert 0 == main(["golden", "check", "retrieval.jsonl"])
    assert "valid: 3 cases, 0 warnings" in capsys.readouterr().out


WAIVED = """rules: [{metric: failed, at_most: 0.1, zero_event: false}]
waivers: [{metric: failed, owner: Lan, expires: 2026-06-30, reason: trial}]
correctness: 0.1
"""


@pytest.mark.parametrize(
    ("start", "clock", "state"),
    [
        ("2026-06-01T08:00:00Z", [], "waived by Lan until 2026-06-30"),
        ("2026-07-01T08:00:00Z", [], "until 2026-06-30 has expired"),
        ("2026-06-01T08:00:00Z", ["--now", "2026-07-01T08:00:00Z"], "until 2026-06-30 has expired"),
    ],
)
def test_waivers_of_a_run_are_read_on_its_day_unless_another_is_named(
    folder: Path, start: str, clock: list[str], state: str, capsys: Printed
) -> None:
    (folder / "asked_target.py").write_text(TARGET.replace("90", "80"), encoding="utf-8")
    (folder / "gate.yaml").write_text(WAIVED, encoding="utf-8")
    main(["run", "--run-dir", "runs/1", "--now", start])
    for command in (["score", "runs/1"], ["gate", "check", "runs/1"], ["report", "runs/1", "--json", "r.json"]):
        capsys.readouterr()
        main([*command, "--gate", "gate.yaml", *clock])
        shown = (folder / "r.json").read_text() if command[0] == "report" else capsys.readouterr().out
        assert state in " ".join(shown.split()), command


def test_report_files_have_the_options_of_score(folder: Path, capsys: Printed) -> None:
    main(["run", "--run-dir", "runs/1"])
    assert 0 == main(["report", "runs/1", "--report", "r.md", "--json-report", "r.json"])
    assert (folder / "r.md").read_text(encoding="utf-8").startswith("# ")
    assert "configs" in json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert "written: r.md, r.json" in capsys.readouterr().err


def test_every_bad_row_of_a_table_is_named_at_once(folder: Path, capsys: Printed) -> None:
    (folder / "rows.csv").write_text("id,question,reference\n1,A?,b\n2,short\n3,,d\n4,E?,f, g\n", encoding="utf-8")
    assert 2 == main(["init", "--from", "rows.csv", "--file", "new.yaml"])
    errors = capsys.readouterr().err
    assert "rows.csv:3: row 2: E_CELLS another number of cells (got 2; expected 3, as in the header)" in errors
    assert "rows.csv:4: row 3: question: E_IMPORT missing" in errors
    assert "rows.csv:5: row 4: E_CELLS another number of cells (got 4; expected 3, as in the header; a cell" in errors
    (folder / "answers.csv").write_text("question,response\nWhat does it cost?\nWho?,x\n", encoding="utf-8")
    assert 2 == main(["score", "--golden", "golden.jsonl", "--outputs", "answers.csv", "--outputs-format", "rows"])
    errors = capsys.readouterr().err
    assert ("answers.csv:2: row 1: E_CELLS" in errors, "answers.csv:3: row 2: " in errors) == (True, True), errors


def test_a_slice_that_no_case_has_is_answered_with_the_one_that_was_meant(folder: Path, capsys: Printed) -> None:
    row = ROWS[1] | {"tags": ["timetable"]}
    (folder / "golden.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    bounds = ("at_least: 0.5", "max_regression: 0.1")
    rules = [f"{{metric: behaviour, {bound}, slice: tag=timetabel}}" for bound in bounds]
    (folder / "gate.yaml").write_text(f"rules: [{', '.join(rules)}]\n", encoding="utf-8")
    main(["run", "--run-dir", "runs/1"])
    capsys.readouterr()
    assert 1 == main(["gate", "check", "runs/1", "--gate", "gate.yaml", "--baseline", "runs/1"])
    shown = " ".join(capsys.readouterr().out.split())
    assert 2 <= shown.count("tag=timetabel has no case in this slice; did you mean 'tag=timetable'?")


def write_target(folder: Path, text: str) -> None:
    (folder / "asked_target.py").write_text(text, encoding="utf-8")


def test_doctor_names_the_text_that_looks_like_the_answer_with_the_setting(folder: Path, capsys: Printed) -> None:
    reply = (
        '{"payload": {"bot_reply": "90 euros.", "state": "it is all well"}, "hits": [{"body": "90 euros and more"}]}'
    )
    write_target(folder, f"def ask(question):\n    return {{'data': {reply}}}\n")
    assert 2 == main(["doctor"])
    shown = capsys.readouterr()
    text = " ".join((shown.out + shown.err).split())
    assert "data.payload.bot_reply looks like the answer: write response: {answer: data.payload.bot_reply} into" in text
    assert "docs/" not in text
    write_settings(folder, '{type: python, call: "asked_target:ask", response: {answer: data.payload.bot_reply}}')
    assert 0 == main(["doctor"])
    assert "answer: '90 euros.'" in capsys.readouterr().out


def test_observations_with_an_error_and_those_that_were_not_made_add_up(folder: Path, capsys: Printed) -> None:
    write_target(folder, 'def ask(question):\n    raise OSError("the index is closed")\n')
    golden = [{"id": f"q{number}", "question": f"What is {number}?", "expected_answer": "x"} for number in range(40)]
    (folder / "many.jsonl").write_text("".join(json.dumps(case) + "\n" for case in golden))
    main(["run", "--golden", "many.jsonl", "--run-dir", "runs/many"])
    counts = re.search(
        r"(\d+) of 40 observed \((\d+) with an error\), (\d+) not asked, \d+ calls", capsys.readouterr().err
    )
    assert counts is not None
    observed, failed, left = map(int, counts.groups())
    assert observed == failed and observed + left == 40


def test_null_answers_are_counted_and_explained(folder: Path, capsys: Printed) -> None:
    write_target(folder, 'def ask(question):\n    return {"answer": None}\n')
    main(["run", "--run-dir", "runs/null"])
    shown = capsys.readouterr()
    assert "1 observed (1 with a null answer), 1 call" in shown.err
    assert "target error ×1: the answer is null (expected its text, or an error that says why" in shown.out
    main(["doctor"])
    assert "ask: the answer is null: such a case counts as an error" in capsys.readouterr().out


def test_an_exception_of_the_target_is_shown_with_the_line_of_ones_own_code(folder: Path, capsys: Printed) -> None:
    (folder / "parts").mkdir()
    (folder / "parts" / "asked_reader.py").write_text(
        'import json\n\nBAD = lambda: json.loads("{x")\n', encoding="utf-8"
    )
    write_target(folder, "from parts.asked_reader import BAD\n\n\ndef ask(question):\n    return BAD()\n")
    main(["run", "--run-dir", "runs/raised"])
    text = " ".join(capsys.readouterr().out.split())
    assert "column 2 (char 1), at parts/asked_reader.py:3" in text
    observations = (folder / "runs/raised/observations.jsonl").read_text(encoding="utf-8")
    assert str(folder) not in observations
    for module in ("parts", "parts.asked_reader"):
        sys.modules.pop(module, None)


def test_the_line_is_named_below_the_folder_of_the_search_path(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "asked_far.py").write_text('def fail():\n    raise ValueError("x" * 900)\n', encoding="utf-8")
    monkeypatch.syspath_prepend(str(elsewhere))
    with pytest.raises(ValueError) as raised:
        importlib.import_module("asked_far").fail()
    message = make_exception_error(raised.value).message
    assert message.startswith("ValueError: xxx")
    assert message.endswith("x…, at asked_far.py:2")
    sys.modules.pop("asked_far", None)


def test_the_line_is_named_by_its_file_where_no_folder_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A target may remove the working directory, and a search path may hold the root of the machine."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setattr(sys, "path", [*sys.path, "/"])
    names: dict[str, Any] = {}
    exec(compile("def fail():\n    raise ValueError('x')\n", str(tmp_path / "asked_exec.py"), "exec"), names)
    with pytest.raises(ValueError) as raised:
        names["fail"]()
    assert make_exception_error(raised.value).message == "ValueError: x, at asked_exec.py:2"


def test_the_person_of_a_gate_is_called_its_reviewer(folder: Path, capsys: Printed) -> None:
    (folder / "gate.yaml").write_text("rules: [{metric: behaviour, at_least: 0.5}]\napprover: Minh\n", encoding="utf-8")
    main(["run", "--run-dir", "runs/1"])
    capsys.readouterr()
    main(["gate", "check", "runs/1", "--gate", "gate.yaml"])
    shown = capsys.readouterr().out
    assert ("reviewer: Minh" in shown, "approver" in shown) == (True, False)


@pytest.mark.parametrize(
    ("ranking", "is_context"),
    [({"contexts": ["It costs 90."]}, True), ({"documents": [{"text": "It costs 90."}]}, False)],
)
def test_rows_say_how_a_list_is_named_that_the_model_was_not_shown(
    folder: Path, ranking: dict[str, object], is_context: bool, capsys: Printed
) -> None:
    row = {"question": "What does it cost?", "reference": "90 euros", "response": "90 euros.", **ranking}
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (folder / "new").mkdir()
    main(["score", "--golden", "golden.jsonl", "--outputs", "rows.jsonl", "--json-report", "r.json", "--verbose"])
    shown = capsys.readouterr().out
    note = "contexts is taken for what the model was shown too, as Ragas and DeepEval do"
    assert is_context == (f'{note} (if it was not, name it documents: [{{"text": …}}])' in " ".join(shown.split()))
    status = json.loads((folder / "r.json").read_text(encoding="utf-8"))["configs"]["rows"]["summary"]
    assert is_context == (status["faithfulness(by=rules)"]["scored"] == 1)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["score", "runs/1", "--report", "r.html"], "--report: writes Markdown, and r.html is the name of HTML"),
        (["score", "runs/1", "--html", "r.md"], "--html: writes HTML, and r.md is the name of Markdown"),
        (
            ["compare", "runs/1", "runs/1", "--json-report", "r.md"],
            "--json-report: writes JSON, and r.md",
        ),
        (["report", "runs/1", "--markdown", "r.json"], "--markdown: writes Markdown, and r.json is the name of JSON"),
        (["report", "runs/1", "--junit", "r.html"], "--junit: writes JUnit XML, and r.html is the name of HTML"),
        (
            ["gate", "check", "runs/1", "--gate", "general"],
            "no such file, but a profile (expected --profile general",
        ),
        (["score", "runs/1", "--metrics", "Faithfulness"], "is not the name of a metric; did you mean faithfulness?"),
        (["explain", "unlike", "--run", "runs/1"], "expected the id of a case, such as price"),
        (["compare", "runs/1", "--baseline", "runs/1"], "The baseline is the first argument: assay compare BASELINE"),
        (["gate", "check", "runs/1", "--gate", "percent.yaml"], "(got '80%'; expected a number; did you mean 0.8?)"),
        (["gate", "check", "runs/1", "--gate", "slice.yaml"], "expected key=value, such as 'tag=fares')"),
        (
            ["score", "--golden", "golden.jsonl", "--outputs", "runs/1"],
            "is a folder (expected a file or a pattern, such as runs/1/observations.jsonl)",
        ),
        (["explain", "price", "runs/1"], "A run folder is named by an option here: --run runs/1"),
    ],
)
def test_what_is_plainly_another_thing_is_answered_with_what_was_meant(
    folder: Path, command: list[str], message: str, capsys: Printed
) -> None:
    for name, rule in (("percent", "at_least: 80%"), ("slice", "at_least: 0.8, slice: fares")):
        (folder / f"{name}.yaml").write_text(f"rules: [{{metric: behaviour, {rule}}}]\n", encoding="utf-8")
    main(["run", "--run-dir", "runs/1"])
    capsys.readouterr()
    assert 2 == main(command)
    assert message in " ".join(capsys.readouterr().err.split())
    assert not [path.name for path in folder.iterdir() if path.stem == "r"]


def test_no_option_is_named_that_the_command_does_not_have(folder: Path, capsys: Printed) -> None:
    main(["run", "--run-dir", "runs/1"])
    capsys.readouterr()
    assert 2 == main(["observe", "runs/1"])
    assert "--run runs/1" not in capsys.readouterr().err


def test_the_history_of_runs_over_two_golden_sets_is_shown(folder: Path, capsys: Printed) -> None:
    main(["run", "--run-dir", "runs/1", "--now", "2026-03-01T08:00:00Z"])
    (folder / "golden.jsonl").write_text(json.dumps(ROWS[1] | {"question": "What is the price?"}) + "\n", "utf-8")
    main(["run", "--run-dir", "runs/2", "--now", "2026-03-02T08:00:00Z"])
    capsys.readouterr()
    assert 0 == main(["history", "--runs", "runs", "--metrics", "behaviour"])
    assert 2 == capsys.readouterr().out.count("(golden set")
