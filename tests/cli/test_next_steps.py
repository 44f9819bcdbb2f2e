"""What a command says next: where a report comes from, how to repeat a failed run, and what probes ask."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli import main
from assay.cli.app import find_report_option
from assay.cli.golden import split_run_folders
from assay.golden.check_golden import load_coverage_targets
from assay.golden.coverage_matrix import count_kinds
from assay.golden.freeze_set import freeze
from assay.records.errors import InputError
from assay.records.golden_set import Case, User
from assay.runs.access_probes import describe_probes
from assay.runs.list_runs import list_runs

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three questions and a target whose search, or answer, fails for one of them each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_system.py").write_text(
        "def ask(question):\n"
        "    if 'leave' in question:\n"
        "        raise KeyError('MODEL_KEY')\n"
        "    return {'answer': 'It is 900 EUR.', 'contexts': ['The rate is 900 EUR.']}\n"
        "def search(question):\n"
        "    if 'rate' in question:\n"
        "        raise KeyError('INDEX')\n"
        "    return {'contexts': ['The rate is 900 EUR.']}\n"
    )
    rows = [
        {"id": name, "question": f"What is the {name}?", "must_have": ["900 EUR"]} for name in ("rate", "leave", "fee")
    ]
    (tmp_path / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "assay.yaml").write_text(
        "targets:\n  me: {type: python, call: 'own_system:ask', search: 'own_system:search'}\n"
    )
    return tmp_path


def test_a_failed_operation_says_which_one_it_was_and_what_was_not_called(
    failing: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    command = ["run", "--golden", "golden.jsonl", "--run-dir", "run"]
    monkeypatch.setattr(sys, "argv", ["assay", *command])
    main(command)
    printed = capsys.readouterr()
    rows = [json.loads(line) for line in (failing / "run/observations.jsonl").read_text().splitlines()]
    messages = {row["case_id"]: row["error"]["message"] for row in rows if row.get("error")}
    assert messages["rate"] == "KeyError: 'INDEX', at own_system.py:7 (in search; ask was not called after it)"
    assert messages["leave"] == "KeyError: 'MODEL_KEY', at own_system.py:3 (in ask)"
    assert "2 observations have an error; once the target works, repeat them with: assay run" in printed.err
    assert "--retry-errors (if its code or settings change, --fresh asks all cases again)" in printed.err


def test_the_option_to_repeat_is_named_once(failing: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    command = ["run", "--golden", "golden.jsonl", "--run-dir", "run", "--retry-errors"]
    monkeypatch.setattr(sys, "argv", ["assay", *command])
    main(command)
    assert capsys.readouterr().err.count("--retry-errors") == 1


def test_a_run_of_a_set_without_a_name_is_listed_by_its_file(failing: Path) -> None:
    main(["run", "--golden", "golden.jsonl", "--run-dir", "run"])
    assert [row.golden for row in list_runs(failing)] == ["golden"]
    manifest = json.loads((failing / "run/manifest.json").read_text())
    manifest["golden"]["name"] = ""  # as earlier versions wrote it
    (failing / "run/manifest.json").write_text(json.dumps(manifest))
    assert [row.golden for row in list_runs(failing)] == [manifest["golden_digest"][:15]]


@pytest.mark.parametrize(("command", "folder"), [("score", " (--run-dir keeps one)"), ("run", "")])
def test_an_option_of_another_command_is_pointed_to(command: str, folder: str, capsys: Printed) -> None:
    assert main([command, "--junit", "out.xml"]) == 2
    assert f"It is written from the run folder{folder}: assay report RUN --junit FILE" in capsys.readouterr().err
    assert find_report_option(command, "--nonsense") == ""


def test_probes_say_how_many_questions_are_asked_as_how_many_users() -> None:
    users = [User("acme", ("staff",)), User("acme", ("guest",))]
    probes = [Case(f"q{number}", f"Question {number}?", user=user) for number in range(3) for user in users]
    assert describe_probes(probes).startswith("3 questions, each again as those of 2 users")


def test_run_folders_may_be_given_with_and_without_the_option(failing: Path, capsys: Printed) -> None:
    main(["run", "--golden", "golden.jsonl", "--run-dir", "run"])
    assert split_run_folders(["golden.jsonl", "run", "run:me"], ["other"]) == (
        "golden.jsonl",
        ["run", "run:me", "other"],
    )
    with pytest.raises(InputError, match="neither a run folder nor the only golden set"):
        split_run_folders(["golden.jsonl", "typo"], [])
    for arguments in (["pool", "run"], ["pool", "--run", "run"], ["health", "golden.jsonl", "run"]):
        capsys.readouterr()
        assert main(["golden", *arguments, "--format", "json"]) in (0, 1)
        assert '"me"' in capsys.readouterr().out or arguments[0] == "health"
    assert main(["golden", "pool"]) == 2


def test_coverage_says_what_makes_a_case_of_each_kind(failing: Path, capsys: Printed) -> None:
    cells = count_kinds([], load_coverage_targets())
    assert all("(tag " in cell.means and not cell.means.startswith("(") for cell in cells)
    main(["golden", "coverage", "golden.jsonl"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "exact: one passage states the answer, and the question uses its words (tag exact)" in printed


def test_variants_are_not_frozen_without_the_cases_that_they_vary(failing: Path, capsys: Printed) -> None:
    assert main(["golden", "twins", "golden.jsonl", "--out", "twins.jsonl"]) == 0
    assert main(["golden", "review", "twins.jsonl", "--out", "review.html"]) == 0
    assert "--base golden.jsonl --out golden-2.jsonl --version 2" in capsys.readouterr().err
    Path("golden.jsonl").rename("of-mine.jsonl")
    assert main(["golden", "review", "twins.jsonl", "--out", "review.html"]) == 0
    assert "--base GOLDEN.jsonl --out GOLDEN-2.jsonl --version 2" in capsys.readouterr().err
    Path("of-mine.jsonl").rename("golden.jsonl")
    frozen = {"version": "2", "owner": "ann", "change": "with variants", "at": "2026-03-01", "accept_all": True}
    with pytest.raises(InputError, match="a variant of a case that is neither accepted nor in --base"):
        freeze("twins.jsonl", "new.jsonl", **frozen)  # type: ignore[arg-type]  # one dict of several types
    assert freeze("twins.jsonl", "new.jsonl", base="golden.jsonl", **frozen).cases > 3  # type: ignore[arg-type]  # one dict of several types


def test_a_set_that_there_is_is_the_base_of_the_next_version(failing: Path, capsys: Printed) -> None:
    row = {"id": "fee-2", "question": "What is the fee for dogs?", "reference": "5 EUR"}
    Path("candidates.jsonl").write_text(json.dumps(row) + "\n")
    frozen = {"owner": "ann", "change": "first", "at": "2026-03-01", "accept_all": True}
    freeze("candidates.jsonl", "first.jsonl", version="6", **frozen)  # type: ignore[arg-type]  # one dict of several types
    suggestions = {
        "first.jsonl": "--base golden.jsonl --out golden-7.jsonl --version 7",
        "": "--out golden.jsonl --version 1",
    }
    for name, suggestion in suggestions.items():
        Path("golden.jsonl").unlink()
        if name:
            Path(name).rename("golden.jsonl")
        assert main(["golden", "review", "candidates.jsonl", "--out", "review.html"]) == 0
        assert suggestion in capsys.readouterr().err
    Path("golden.jsonl").write_text("{")
    assert main(["golden", "review", "candidates.jsonl", "--out", "review.html"]) == 0
    assert "--base golden.jsonl --out golden-VERSION.jsonl --version VERSION" in capsys.readouterr().err


def test_a_leak_is_the_case_to_explain_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = {"id": "wrong", "question": "What is the fee?", "must_have": ["900 EUR"]}
    secret: dict[str, Any] = {"id": "secret", "question": "What is the code?", "behaviour": "permission_denied"}
    secret |= {"user": {"roles": ["guest"]}, "forbidden": [{"chunk_id": "staff:1"}], "forbidden_text": ["HUB-22"]}
    (tmp_path / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (wrong, secret)))
    answers = [{"case_id": "wrong", "answer": "It is 20 EUR."}, {"case_id": "secret", "answer": "HUB-22"}]
    (tmp_path / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl"])
    assert "next: assay explain secret " in capsys.readouterr().err


@pytest.mark.parametrize(("config", "command"), [("hybrid-rerank", "judge"), ("vector-only", "explain hr_leave_001")])
def test_where_only_verdicts_are_missing_for_a_decision_the_judge_is_asked_next(
    config: str, command: str, tmp_path: Path, capsys: Printed
) -> None:
    """Beside a leak, which decides whatever else is missing, the case that leaked comes next."""
    example = Path(__file__).parents[2] / "examples/handbook"
    verdicts = (example / "judge/verdicts.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "verdicts.jsonl").write_text("".join(verdicts[: len(verdicts) // 3]), encoding="utf-8")
    arguments = ["score", "--golden", str(example / "golden/handbook.jsonl"), "--profile", "capstone"]
    arguments += [
        "--corpus",
        str(example / "corpus/chunks.jsonl"),
        "--outputs",
        str(example / f"outputs/{config}.jsonl"),
    ]
    arguments += ["--verdicts", str(tmp_path / "verdicts.jsonl"), "--run-dir", str(tmp_path / "run"), "--no-history"]
    assert {"judge": 3}.get(command, 1) == main(arguments)
    assert f"next: assay {command} " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (["run", "--golden", "golden.jsonl", "--target", "own_system.ask"], "did you mean 'own_system:ask'?"),
        (["run", "--golden", "golden.jsonl", "--target", "own_system:aks"], "(did you mean 'ask'?)"),
        (["explain", "raet", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl"], "did you mean 'rate'?"),
        (["explain", "zz", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl"], "expected the id of a case"),
    ],
)
def test_a_name_that_is_nearly_right_is_answered_with_the_one_that_was_meant(
    command: list[str], hint: str, failing: Path, capsys: Printed
) -> None:
    (failing / "assay.yaml").unlink()
    (failing / "outputs.jsonl").write_text('{"case_id": "rate", "answer": "900 EUR"}\n')
    assert 2 == main(command)
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize("facts", [[], ["900 EUR"], ["the fee may be waived by the board"]])
def test_where_nothing_tells_whether_answers_are_right_the_screen_says_what_would(
    facts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    monkeypatch.chdir(tmp_path)
    case: dict[str, object] = {"id": "fee", "question": "What is the fee?"}
    case |= {"reference": "It is 900 EUR.", "must_have": facts} if facts else {"evidence": [{"chunk_id": "c1"}]}
    (tmp_path / "golden.jsonl").write_text(json.dumps(case) + "\n")
    (tmp_path / "outputs.jsonl").write_text('{"case_id": "fee", "answer": "The fee is 900 EUR."}\n')
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl"])
    printed = " ".join(capsys.readouterr().out.split())
    assert (not facts) is ("(ask `assay judge`, or read it: `assay labels export" in printed)


@pytest.mark.parametrize("answer_key", ["said", "answer"])
def test_replies_without_an_answer_are_said_before_the_numbers(
    answer_key: str, failing: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # the screen cuts notes at the width of the terminal
    module = f"own_{answer_key}"
    (failing / f"{module}.py").write_text(
        f"def ask(question):\n    return {{{answer_key!r}: 'It is 900 EUR.', 'contexts': ['The rate is 900 EUR.']}}\n"
    )
    assert 0 == main(["run", "--golden", "golden.jsonl", "--target", f"{module}:ask", "--run-dir", "run"])
    first_lines = capsys.readouterr().out.partition("\n\n")[0]
    is_said = "no answer was read from 3 of 3 replies (response: {answer: PATH} in its settings)" in first_lines
    assert is_said is (answer_key == "said")
    golden = [{"id": "fee", "question": "What is the fee?", "must_have": ["900 EUR"]}]
    warnings = assay.run(lambda _: {answer_key: "It is 900 EUR.", "contexts": ["900 EUR"]}, golden).run.scoring.warnings
    assert (answer_key == "said") is any("no answer was read from 1 of 1 reply (" in text for text in warnings)
