"""Plugins: found by name when asked for, named with their distribution when they fail, and left alone otherwise."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.runs.scoring import make_case, make_trace, score, score_to_report, write
from tests.support.distributions import installed_folder, write_distribution

import assay
from assay.cli import main
from assay.formats import outputs
from assay.metrics.catalog import CATALOG
from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.records.plugin_table import PluginTable
from assay.runs import score_run

CASES = [make_case("q1"), make_case("q2"), make_case("q3")]
ROWS = [
    make_trace("q1", answer="One two."),
    make_trace("q2", answer="One two three four."),
    make_trace("q3", answer=None, error="timeout"),
]
ANSWERED = [*ROWS[:2], make_trace("q3", answer="Three.")]
HEAD = """
import numpy as np
from assay.metrics.metric import Metric, ScoreColumn, define_row_metric, make_score_column
"""
WORDS = """
def count_words(case, observation):
    return len(observation.answer.split()) if case.id != "q2" else "a reason"

answer_words = define_row_metric(
    "answer_words", count_words, "Words.", unit="count", direction="neutral", high=float("inf")
)
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    with installed_folder(tmp_path / "site") as folder:
        yield folder


def install_metric(site: Path, module: str, entry: str = "answer_words = my_metrics:answer_words") -> None:
    write_distribution(site, "my-metrics", f"[assay.metrics]\n{entry}\n", {"my_metrics.py": module})


def test_metric_of_an_installed_distribution_is_scored_by_its_name(site: Path, tmp_path: Path) -> None:
    install_metric(site, HEAD + WORDS)
    report = score_to_report(tmp_path, CASES, ROWS, "--metrics", "answer_words")
    summary = report["configs"]["c"]["summary"]["answer_words"]
    assert (2.0, 1, 1, 1) == tuple(summary[key] for key in ("value", "scored", "not_applicable", "errors"))


def returning(expression: str) -> str:
    """Return a module whose metric scores the first case by an expression."""
    return (HEAD + WORDS).replace("return len", f"return {expression} if case else len")


def computing(expression: str) -> str:
    """Return a module whose metric computes a whole column by an expression."""
    row = "answer_words = Metric('answer_words', 'plugin', 'Words.', '', compute=compute)\n"
    return f"{HEAD}\ndef compute(batch, name):\n    return {expression}\n\n{row}"


def column(values: str, name: str = "str(name)") -> str:
    return f"ScoreColumn({name}, {values}, np.zeros(len(batch), np.uint8), np.zeros(len(batch), np.uint16))"


BROKEN = {
    "raises on import": ("1 / 0\n", "cannot be imported (ZeroDivisionError: division by zero)"),
    "has another type": ("answer_words = len\n", "wrong type (got <built-in function len>"),
    "is a class": (f"{HEAD}\nanswer_words = Metric\n", "wrong type (got <class"),
    "has another name": ((HEAD + WORDS).replace('"answer_words"', '"other"'), "two names (got an entry point"),
    "computes nothing": (f"{HEAD}\nanswer_words = Metric('answer_words', 'f', 'w', '')\n", "nothing to compute"),
    "returns NaN for a row": (returning("float('nan')"), "wrong score on case q1 (got nan; expected a finite number"),
    "returns a list for a row": (returning("[]"), "wrong score on case q1 (got []"),
    "raises for a row": (returning("case.nothing"), "raised AttributeError on case q1"),
    "returns NaN": (computing(column("np.full(len(batch), np.nan)")), "a score that is not a number (got nan"),
    "leaves the range": (computing(column("np.full(len(batch), 7.0)")), "out of range (got 7; expected 0 to 1)"),
    "returns too many": (computing("make_score_column(name, np.ones(len(batch) + 1))"), "got 4 values; expected 3"),
    "returns an array": (computing("np.ones(len(batch))"), "wrong type of column (got ndarray; expected ScoreColumn)"),
    "returns another metric": (computing(column("np.ones(len(batch))", "'x'")), "a column of another metric (got 'x'"),
    "raises": (computing("{}['k']"), "KeyError: 'k'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_asked_for_plugin_that_cannot_be_used_is_named_with_its_distribution(
    name: str, site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, message = BROKEN[name]
    install_metric(site, module)
    assert 2 == score(tmp_path, CASES, ANSWERED, "--metrics", "answer_words")
    error = capsys.readouterr().err
    assert "metric answer_words: E_PLUGIN plugin my_metrics:answer_words of my-metrics 1.2: " in error
    assert message in error


def test_broken_plugin_that_nothing_asks_for_is_not_even_imported(site: Path, tmp_path: Path) -> None:
    install_metric(site, "1 / 0\n")
    assert 0 == score(tmp_path, CASES, ROWS[:2], "--metrics", "recall@5", "--missing", "zero")
    assert "my_metrics" not in sys.modules


def test_gate_rule_asks_for_its_plugin(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install_metric(site, "1 / 0\n")
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules:\n  - {metric: answer_words, at_most: 9}\n", encoding="utf-8")
    assert 2 == score(tmp_path, CASES, ROWS, "--metrics", "recall@5", "--gate", str(gate))
    assert "my-metrics 1.2: cannot be imported" in capsys.readouterr().err


def test_settings_ask_for_their_plugin_before_a_target_is_called(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install_metric(site, "1 / 0\n")
    (site / "my_target.py").write_text("def ask(question):\n    open('called', 'w').close()\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "golden.jsonl", CASES)
    (tmp_path / "assay.yaml").write_text(
        "golden: golden.jsonl\ntargets: {c: {type: python, call: 'my_target:ask'}}\n"
        "scoring: {metrics: [recall@5, answer_words]}\n",
        encoding="utf-8",
    )
    assert 2 == main(["run"])
    assert "my-metrics 1.2: cannot be imported" in capsys.readouterr().err
    assert not (tmp_path / "called").exists()


def test_built_in_metric_cannot_be_replaced_and_the_clash_is_named(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install_metric(site, f"{HEAD}{WORDS}".replace('"answer_words"', '"recall"'), "recall = my_metrics:answer_words")
    report = score_to_report(tmp_path, CASES, ROWS[:2], "--metrics", "recall@5")
    assert 1.0 == report["configs"]["c"]["summary"]["recall@5"]["value"]
    assert 2 == score(tmp_path, CASES, ROWS, "--metrics", "my_metrics:answer_words@5")
    message = "plugin my_metrics:answer_words: the name is taken (got 'recall', which is built in"
    assert message in capsys.readouterr().err
    assert 0 == main(["metrics"])
    assert "of my-metrics 1.2: the name is taken (got 'recall'" in capsys.readouterr().err
    main(["doctor"])
    assert "of my-metrics 1.2: the name is taken (got 'recall'" in " ".join(capsys.readouterr().out.split())


def test_name_that_two_distributions_declare_is_an_error_that_names_both(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install_metric(site, HEAD + WORDS)
    write_distribution(site, "other-metrics", "[assay.metrics]\nanswer_words = other:answer_words\n", {})
    assert 2 == score(tmp_path, CASES, ROWS, "--metrics", "answer_words")
    error = capsys.readouterr().err
    assert "of my-metrics 1.2: the name is not unique (got it from other:answer_words of other-metrics 1.2 too" in error


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["answer_words", "my_metrics:answer_words"])
def test_worker_processes_see_the_same_plugins(
    metric: str, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_metric(site, HEAD + WORDS)
    alone = score_to_report(tmp_path, CASES, ROWS, "--metrics", metric)
    monkeypatch.setattr(outputs, "BYTES_PER_SHARD", 50)
    monkeypatch.setattr(score_run, "_start_method", lambda: "spawn")
    assert alone == score_to_report(tmp_path, CASES, ROWS, "--metrics", metric, "--workers", "2")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_metric_that_a_function_defined_before_stops_no_workers(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def words_of_an_answer(case: Case, observation: Observation) -> float:
        return float(len(str(observation.answer).split()))

    with installed_folder(tmp_path / "none"):
        alone = score_to_report(tmp_path, CASES, ROWS)
        golden = [{"id": "a", "question": "How long?", "reference": "A week."}]
        assay.score(golden, [{"id": "a", "answer": "7 days"}], metrics=[words_of_an_answer])
        monkeypatch.setattr(outputs, "BYTES_PER_SHARD", 50)
        monkeypatch.setattr(score_run, "_start_method", lambda: method)
        assert alone == score_to_report(tmp_path, CASES, ROWS, "--workers", "2")


def test_a_metric_that_is_used_twice_is_one_plugin_in_use_and_forgotten_as_one() -> None:
    """Each use left an entry of its own, which named the metric in errors of code that it had no part in."""

    @assay.metric
    def length(case: Case, observation: Observation) -> float:
        return float(bool(observation.answer))

    in_use = list(PluginTable.in_use)
    golden = [{"id": "q1", "question": "Why?", "reference": "So."}]
    for _ in range(3):
        assay.score(golden, [{"case_id": "q1", "answer": "So."}], metrics=[length])
    assert 1 == len(PluginTable.in_use) - len(in_use)
    CATALOG.forget_plugins()
    assert in_use == PluginTable.in_use


def test_metric_at_an_import_path_is_kept_in_the_run_folder_and_imported_again_only_with_consent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with installed_folder(tmp_path / "none"):
        (tmp_path / "own_metrics.py").write_text(HEAD + WORDS, encoding="utf-8")
        assert 0 == score(tmp_path, CASES, ANSWERED, "--metrics", "own_metrics:answer_words", "--run-dir", "run")
        manifest = json.loads((tmp_path / "run/manifest.json").read_text(encoding="utf-8"))
    assert ({"answer_words": "own_metrics:answer_words"}, ["answer_words"]) == (
        manifest["metric_paths"],
        manifest["metrics"],
    )
    with installed_folder(tmp_path / "none"):
        capsys.readouterr()
        assert 2 == main(["score", "run"])
        assert "a run folder may not import modules by itself (got own_metrics:answer_words" in capsys.readouterr().err
        monkeypatch.setenv("ASSAY_ALLOW_EXEC", "1")
        assert 0 == main(["score", "run"])


@pytest.mark.slow
def test_run_without_plugins_reads_no_entry_points(tmp_path: Path) -> None:
    golden, rows = write(tmp_path / "golden.jsonl", CASES), write(tmp_path / "outputs.jsonl", ROWS[:2])
    code = (
        "import sys\nfrom assay.cli import main\n"
        f"code = main(['score', '--golden', {golden!r}, '--outputs', {rows!r}, '--missing', 'zero'])\n"
        "assert 'importlib.metadata' not in sys.modules\nsys.exit(code)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert 0 == run.returncode, run.stderr


@pytest.mark.parametrize(
    ("group", "options", "subject"),
    [
        ("formats", ["--golden-format", "mine"], "golden-set format mine"),
        ("formats", ["--outputs-format", "mine"], "output format mine"),
    ],
)
def test_format_of_the_wrong_type_is_named_with_its_distribution(
    group: str, options: list[str], subject: str, site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_distribution(site, "my-things", f"[assay.{group}]\nmine = mine:ROW\n", {"mine.py": "ROW = 1\n"})
    assert 2 == score(tmp_path, CASES, ROWS, *options)
    assert f"{subject}: E_PLUGIN plugin mine:ROW of my-things 1.2: wrong type (got 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("ROW = 1\n", "wrong type (got 1; expected an instance of assay.calls.target_kinds.TargetKind)"),
        (
            "from assay.calls.target_kinds import TargetKind\nfrom assay.records.settings import BaseTargetSettings\n"
            "class S(BaseTargetSettings, frozen=True, tag='other'): ...\nROW = TargetKind('mine', S, lambda r: None)\n",
            "settings of another kind (got the tag 'other'; expected tag='mine')",
        ),
        (
            "from assay.calls.target_kinds import TargetKind\nfrom assay.records.settings import BaseTargetSettings\n"
            "class S(BaseTargetSettings, frozen=True, tag='mine'): ...\nROW = TargetKind('mine', S, lambda r: None)\n",
            "not a target (got None; expected name, operations, identity, observe and aclose)",
        ),
    ],
)
def test_target_kind_that_cannot_be_used_is_named_with_its_distribution(
    module: str,
    message: str,
    site: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_distribution(site, "my-things", "[assay.targets]\nmine = mine:ROW\n", {"mine.py": module})
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "golden.jsonl", CASES)
    (tmp_path / "assay.yaml").write_text("golden: golden.jsonl\ntargets: {c: {type: mine}}\n", encoding="utf-8")
    assert 2 == main(["run"])
    error = capsys.readouterr().err
    assert f"plugin mine:ROW of my-things 1.2: {message}" in error


def test_judge_provider_that_cannot_be_used_is_named_with_its_distribution(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_distribution(site, "my-things", "[assay.judges]\nmine = mine:ROW\n", {"mine.py": "ROW = object()\n"})
    golden, rows = write(tmp_path / "golden.jsonl", CASES), write(tmp_path / "outputs.jsonl", ROWS[:2])
    options = ["--protocol", "mine", "--model", "m", "--base-url-env", "URL", "--judge", "j"]
    assert 2 == main(["judge", "--golden", golden, "--outputs", rows, *options])
    assert "judge provider mine: E_PLUGIN plugin mine:ROW of my-things 1.2: wrong type" in capsys.readouterr().err


def test_former_name_of_the_list_of_metrics_still_works(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["graders"])
    assert "note: assay graders is now assay metrics\n" == capsys.readouterr().err
