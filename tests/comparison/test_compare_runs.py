"""Comparing on the command line and from Python: runs, saved baselines, gates, waivers, reports and exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.report.schema_check import load_schema, violations

import assay
from assay.api import ScoreResult
from assay.cli import main
from assay.records.errors import InputError
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage

pytestmark = pytest.mark.slow

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"
GOLDEN, CORPUS = HANDBOOK / "golden" / "handbook.jsonl", HANDBOOK / "corpus" / "chunks.jsonl"
OUTPUTS = [str(HANDBOOK / "outputs" / f"{name}.jsonl") for name in ("vector-only", "hybrid-rerank")]
METRICS = (
    "recall@10,rr@10,context_recall,behaviour,keywords,must_cite,over_refusal,visibility_leaks,failed,"
    "citation_correctness(by=rules),latency_ms,latency_ms(stat=p95)"
)
Printed = pytest.CaptureFixture[str]
LISTS = ("improved", "regressed", "unchanged", "unpaired")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("compared") / "run"
    recorded = ["--golden", str(GOLDEN), "--outputs", *OUTPUTS, "--corpus", str(CORPUS)]
    assert 0 == main(["score", *recorded, "--metrics", METRICS, "--run-dir", str(folder)])
    return str(folder)


@pytest.fixture(scope="module")
def saved(run: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("saved") / "baseline.json"
    assert 0 == main(["baseline", "save", f"{run}:vector-only", "--out", str(path)])
    return str(path)


@pytest.fixture(scope="module")
def better(run: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The candidate saved as a baseline too: read in a moment, where the run itself would be scored again."""
    path = tmp_path_factory.mktemp("saved") / "candidate.json"
    assert 0 == main(["baseline", "save", f"{run}:hybrid-rerank", "--out", str(path)])
    return str(path)


@pytest.fixture(scope="module")
def live(run: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Both configurations of the run compared."""
    code, report = compared(tmp_path_factory.mktemp("live") / "c.json", f"{run}:vector-only", f"{run}:hybrid-rerank")
    assert 0 == code
    return report


def gate_file(folder: Path, text: str) -> str:
    path = folder / "gate.yaml"
    path.write_text(f"zero_tolerance_tags: []\n{text}", encoding="utf-8")
    return str(path)


def compared(path: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["compare", *arguments, "--json-report", str(path)])
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return code, report


# ── compare ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_several_candidates_are_compared_as_one_family(
    run: str, saved: str, better: str, live: dict[str, Any], tmp_path: Path, capsys: Printed
) -> None:
    """The p of a change is adjusted within one family, in which the candidate that is the baseline counts for nothing;
    the decision is the worst."""
    gate = gate_file(tmp_path, "rules:\n  - {metric: recall@10, at_least: 0.9}\n")
    markdown, path = tmp_path / "c.md", tmp_path / "c.json"
    arguments = [
        saved,
        better,
        f"{run}:vector-only",
        "--gate",
        gate,
        "--report",
        str(markdown),
        "--json-report",
        str(path),
    ]
    assert 1 == main(["compare", *arguments])
    report = json.loads(path.read_text(encoding="utf-8"))
    schema = load_schema("comparisons")
    assert [] == violations(report, schema, schema)
    one = load_schema("comparison")
    assert [] == [problem for item in report["comparisons"] for problem in violations(item, one, one)]
    assert ["hybrid-rerank", "vector-only"] == [item["candidate"]["config_id"] for item in report["comparisons"]]
    outcomes = [item["decision"]["outcome"] for item in report["comparisons"]]
    assert "FAIL" == outcomes[1] == report["decision"]["outcome"]
    together, alone = report["comparisons"][0]["comparison"]["rr@10"], live["comparison"]["rr@10"]
    assert (together["gain"], together["p"]) == (alone["gain"], alone["p"])
    assert together["p"] < together["p_adjusted"] <= together["level"]
    unmoved = report["comparisons"][1]["comparison"]["rr@10"]
    assert (False, True) == (unmoved["counted"], together["counted"])
    page = markdown.read_text(encoding="utf-8")
    assert page.startswith("# Comparison of candidates\n\n**Decision: FAIL**\n")
    assert 2 == page.count("\n# Comparison report\n")
    screen = capsys.readouterr().out
    assert screen.startswith("2 candidates compared with baseline.json, tested as one family\n")
    assert len(screen.splitlines()) <= 25
    assert re.search(r"\n - \S*vector-only: FAIL: ", screen)
    assert 1 == main(["compare", saved, better, f"{run}:vector-only", "--gate", gate, "--verbose"])
    assert 2 == capsys.readouterr().out.count(" compared with ")


def test_configurations_of_the_same_outputs_are_compared_as_one_family(tmp_path: Path) -> None:
    recorded = ["--golden", str(GOLDEN), "--outputs", *OUTPUTS, "--metrics", "recall@10,behaviour"]
    configs = ["--baseline-config", "vector-only", "--candidate-config", "hybrid-rerank", "vector-only"]
    code, report = compared(tmp_path / "c.json", *recorded, *configs)
    assert (0, 2) == (code, len(report["comparisons"]))


def test_a_candidate_that_is_named_twice_is_refused(saved: str, better: str, capsys: Printed) -> None:
    assert 2 == main(["compare", saved, better, better])
    assert "given twice" in capsys.readouterr().err


def test_the_candidate_of_the_handbook_improves_where_its_outputs_do(live: dict[str, Any]) -> None:
    """Six questions find all of their evidence that did not before, none loses any: 28.5/35 against 33.5/35.

    Six gains and no loss have p = 2/2^6, which is not enough for one of several headline metrics.
    """
    recall = live["comparison"]["recall@10"]
    assert (35, 6, 0, 29, 0) == (recall["n"], *(len(recall[name]) for name in LISTS))
    assert (28.5 / 35, 33.5 / 35, 5 / 35) == pytest.approx((recall["baseline"], recall["candidate"], recall["gain"]))
    assert recall["low"] < 0.01 < recall["gain"] < recall["high"]
    assert (2 / 2**6, "not significant") == (recall["p"], recall["verdict"])
    assert {"case_id", "evidence", "stage", "before", "after"} == set(live["moves"][0])
    assert [] == violations(live, (schema := load_schema("comparison")), schema)


def test_swapping_the_sides_turns_the_gain_around(
    live: dict[str, Any], saved: str, better: str, tmp_path: Path
) -> None:
    _, back = compared(tmp_path / "b.json", better, saved)
    assert set(live["comparison"]) == set(back["comparison"])
    for metric, change in live["comparison"].items():
        turned = back["comparison"][metric]
        if "unknown" in change:
            low, high = turned["unknown"]["gain"]
            assert change["unknown"]["gain"] == pytest.approx([-high, -low]), metric
        else:
            assert change["gain"] == pytest.approx(-turned["gain"]), metric
        assert change["improved"] == back["comparison"][metric]["regressed"], metric


def test_saved_baselines_compare_like_the_runs_they_were_saved_from(
    live: dict[str, Any], saved: str, better: str, tmp_path: Path
) -> None:
    _, kept = compared(tmp_path / "b.json", saved, better)
    for member in ("comparison", "slices", "moves", "transitions", "what_changed", "why_moved"):
        assert live[member] == kept[member], member


def test_two_configurations_of_recorded_outputs_compare_without_a_run_folder(
    live: dict[str, Any], tmp_path: Path
) -> None:
    recorded = ["--golden", str(GOLDEN), "--outputs", *OUTPUTS, "--corpus", str(CORPUS), "--metrics", METRICS]
    configs = ["--baseline-config", "vector-only", "--candidate-config", "hybrid-rerank"]
    code, report = compared(tmp_path / "a.json", *recorded, *configs)
    assert 0 == code
    assert report["comparison"] == live["comparison"]


@pytest.fixture
def partly_answered(tmp_path: Path) -> Path:
    """A folder with a run `all` that answers four cases, and a run `part` without the last of them."""
    ids = ["q1", "q2", "q3", "q4"]
    cases = [{"id": i, "question": f"What is {i}?", "evidence": [{"chunk_id": f"{i}:1"}]} for i in ids]
    (tmp_path / "golden.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    for name, answered in (("all", ids), ("part", ids[:3])):
        rows = [{"case_id": i, "config_id": name, "answer": "A", "retrieved": [f"{i}:1"]} for i in answered]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        recorded = ["--golden", str(tmp_path / "golden.jsonl"), "--outputs", str(tmp_path / f"{name}.jsonl")]
        main(["score", *recorded, "--metrics", "recall@10,failed", "--run-dir", str(tmp_path / name)])
    return tmp_path


def test_what_one_side_did_not_answer_is_in_no_test_and_said(
    partly_answered: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # the screen cuts sentences at the width of the terminal
    capsys.readouterr()
    code = main(["compare", str(partly_answered / "all"), str(partly_answered / "part"), "--verbose"])
    assert 3 == code
    assert "has no observation of 1 case (q4): in no test (--missing zero" in " ".join(capsys.readouterr().out.split())
    main(["compare", str(partly_answered / "all"), str(partly_answered / "part")])
    printed = " ".join(capsys.readouterr().out.split())
    assert "on 3 cases that both sides answered" in printed
    assert "Cases that both sides answered: none fails on either side; 1 is answered on one side only" in printed


@pytest.mark.parametrize("recorded", [False, True])
def test_missing_zero_counts_what_one_side_did_not_answer_as_failed(
    recorded: bool, partly_answered: Path, capsys: Printed
) -> None:
    sides = [str(partly_answered / "all"), str(partly_answered / "part")]
    if recorded:
        sides = ["--golden", str(partly_answered / "golden.jsonl"), "--metrics", "recall@10,failed"]
        sides += ["--outputs", *(str(partly_answered / f"{name}.jsonl") for name in ("all", "part"))]
        sides += ["--baseline-config", "all", "--candidate-config", "part"]
    path = partly_answered / "c.json"
    assert 0 == main(["compare", *sides, "--missing", "zero", "--json-report", str(path)])
    assert "Cases: 1 fail now, 0 no longer" in capsys.readouterr().out
    metrics = json.loads(path.read_text())["comparison"]
    assert 0.75 == metrics["recall@10"]["candidate"]
    assert ["q4"] == metrics["failed"]["regressed"]


def test_a_comparison_counts_missing_cases_as_its_runs_did(partly_answered: Path, capsys: Printed) -> None:
    scored = ["--golden", str(partly_answered / "golden.jsonl"), "--outputs", str(partly_answered / "part.jsonl")]
    zero = str(partly_answered / "zero")
    assert 0 == main(["score", *scored, "--metrics", "recall@10,failed", "--missing", "zero", "--run-dir", zero])
    path = partly_answered / "c.json"
    compared(path, str(partly_answered / "all"), zero)
    assert 0.75 == json.loads(path.read_text())["comparison"]["recall@10"]["candidate"]
    compared(path, str(partly_answered / "all"), zero, "--missing", "error")
    assert 1.0 == json.loads(path.read_text())["comparison"]["recall@10"]["candidate"]
    capsys.readouterr()
    assert 0 == main(["score", zero, "--metrics", "recall@10", "--format", "json"])
    assert 0.75 == json.loads(capsys.readouterr().out)["configs"]["part"]["summary"]["recall@10"]["value"]


def test_a_saved_baseline_cannot_count_missing_cases_as_zero(partly_answered: Path, capsys: Printed) -> None:
    saved_file = str(partly_answered / "saved.json")
    assert 0 == main(["baseline", "save", str(partly_answered / "part"), "--out", saved_file])
    code, _ = compared(partly_answered / "c.json", saved_file, str(partly_answered / "all"), "--missing", "zero")
    assert 2 == code
    assert "got 1 case without observation; expected the run that it was saved from" in capsys.readouterr().err


def test_the_gate_of_a_run_may_count_missing_cases_as_zero(partly_answered: Path) -> None:
    gate = partly_answered / "gate.yaml"
    gate.write_text("rules:\n  - {metric: recall@10, at_least: 0.9}\n")
    check = ["gate", "check", str(partly_answered / "part"), "--gate", str(gate)]
    assert 3 == main(check)
    assert 1 == main([*check, "--missing", "zero"])


def test_a_run_compared_with_itself_changes_nothing(saved: str, tmp_path: Path) -> None:
    _, report = compared(tmp_path / "c.json", saved, saved)
    assert ([], [], []) == (report["cases"], report["moves"], report["why_moved"])
    assert all(not change["gain"] and not change["improved"] for change in report["comparison"].values())


def test_the_screen_and_the_report_say_who_got_worse_and_why(
    saved: str, better: str, tmp_path: Path, capsys: Printed
) -> None:
    report = tmp_path / "report.md"
    arguments = ["compare", saved, better, "--report", str(report), "--now", "2026-03-01T00:00:00Z"]
    assert 0 == main([*arguments, "--verbose"])
    text = report.read_text(encoding="utf-8")
    assert "| hr_leave_002 | hr_leave_policy:v2026-01:004 |" in text
    assert "| Query | Metric | Baseline | Candidate | Root cause | Decision |" in text
    for title in ("Regression Summary", "What changed?", "Why did metrics move?", "Rank movement"):
        assert f"\n## {title}\n" in text
    assert "- reranker: was none, is now cross-encoder-1" in text
    assert "Date: 2026-03-01. Reviewer: nobody yet" in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["compare"], "nothing to compare"),
        (["compare", "{run}", "{run}:hybrid-rerank"], "no configuration named"),
        (["compare", "{run}:nobody", "{run}:hybrid-rerank"], "nobody"),
        (["compare", "nowhere", "{run}:hybrid-rerank"], "no such file or folder (expected RUN"),
        (["compare", "{run}/derived/report.json", "{run}:hybrid-rerank"], "a report, which holds no scores of cases"),
        (["gate", "check", "{run}"], "no gate"),
        (["baseline", "save", "{run}", "--out", "x.json"], "no configuration named"),
        (["baseline", "show", "{run}/manifest.json"], "not a baseline"),
        (["compare", "{run}:vector-only", "{run}:hybrid-rerank", "--approver", "Lan"], "nothing to approve"),
    ],
)
def test_what_cannot_be_compared_is_bad_input(arguments: list[str], expected: str, run: str, capsys: Printed) -> None:
    assert 2 == main([argument.replace("{run}", run) for argument in arguments])
    assert expected in capsys.readouterr().err


def test_another_golden_set_is_refused(saved: str, run: str, tmp_path: Path, capsys: Printed) -> None:
    lines = GOLDEN.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "fewer.jsonl").write_text("".join(lines[:-1]), encoding="utf-8")
    recorded = ["--golden", str(tmp_path / "fewer.jsonl"), "--outputs", *OUTPUTS, "--ignore-unknown"]
    assert 2 == main(["score", *recorded, "--metrics", "recall@10", "--baseline", saved])
    assert "another golden set" in capsys.readouterr().err


# ── gates ────────────────────────────────────────────────────────────────────────────────────────────────────────

GAINS = "rules: [{metric: recall@10, max_regression: 0.05}, {metric: rr@10, max_regression: 0.05}]\n"
SLOWER = "rules: [{metric: latency_ms, max_regression: 500}]\n"
OPEN = "rules: [{metric: must_cite, max_regression: 0.02}]\n"
WAIVED = SLOWER + "waivers: [{metric: latency_ms, owner: Lan, expires: 2026-03-31, reason: new reranker}]\n"


@pytest.mark.parametrize(
    ("gate", "options", "code"),
    [
        (GAINS, [], 0),
        (SLOWER, [], 1),
        (OPEN, [], 0),
        (OPEN, ["--strict"], 1),
        (WAIVED, ["--now", "2026-03-31T23:00:00Z"], 0),
        (WAIVED, ["--now", "2026-04-01"], 1),
        (WAIVED, [], 1),
    ],
    ids=["gained", "lost more", "open", "open and strict", "waived", "waiver expired", "waiver without a day"],
)
def test_the_gate_decides_the_exit_code(
    gate: str, options: list[str], code: int, saved: str, better: str, tmp_path: Path
) -> None:
    rules = ["--gate", gate_file(tmp_path, gate), *options]
    assert code == main(["compare", saved, better, *rules])
    assert code == main(["gate", "check", better, "--baseline", saved, *rules])


def test_every_command_holds_regression_rules_against_a_baseline(run: str, saved: str, tmp_path: Path) -> None:
    rules = ["--gate", gate_file(tmp_path, SLOWER)]
    recorded = ["--golden", str(GOLDEN), "--outputs", OUTPUTS[1], "--metrics", "recall@10"]
    assert 1 == main(["score", *recorded, "--baseline", saved, *rules])
    assert 1 == main(["compare", saved, f"{run}:hybrid-rerank", "--metrics", "recall@10", *rules])
    assert 1 == main(["gate", "check", f"{run}:hybrid-rerank", "--baseline", saved, *rules])


def test_scoring_with_a_baseline_reports_what_moved_and_who_approves(
    saved: str, tmp_path: Path, capsys: Printed
) -> None:
    report, json_file = tmp_path / "report.md", tmp_path / "report.json"
    recorded = ["--golden", str(GOLDEN), "--outputs", OUTPUTS[1], "--corpus", str(CORPUS), "--metrics", METRICS]
    written = ["--report", str(report), "--json-report", str(json_file)]
    gate = ["--gate", gate_file(tmp_path, GAINS), "--baseline", saved, "--approver", "Minh"]
    assert 0 == main(["score", *recorded, *written, *gate])
    text, report_data = report.read_text(encoding="utf-8"), json.loads(json_file.read_text(encoding="utf-8"))
    assert f"| Baseline | {saved}" in text.replace("\\", "")
    assert "evidence is retrieved that the baseline did not retrieve" in text
    assert "Approved by: Minh" in text
    assert "Minh" == report_data["approver"]
    rule = report_data["configs"]["hybrid-rerank"]["decision"]["rules"][0]
    assert ("pass", 0.05, 35) == (rule["state"], rule["max_regression"], rule["scored"])
    assert rule["value"] == pytest.approx(5 / 35)
    assert rule["detectable"] > 0.1


def test_without_a_baseline_a_regression_rule_fails_as_unmeasured(tmp_path: Path, capsys: Printed) -> None:
    recorded = ["--golden", str(GOLDEN), "--outputs", OUTPUTS[1], "--metrics", "recall@10"]
    assert 1 == main(["score", *recorded, "--gate", gate_file(tmp_path, GAINS)])
    assert "recall@10 needs a baseline; none was given (--baseline)" in capsys.readouterr().out


def test_a_run_of_several_configurations_is_gated_as_the_gate_says(run: str, tmp_path: Path, capsys: Printed) -> None:
    rules = "rules: [{metric: rr@10, at_least: 0.65}]\n"
    assert 1 == main(["gate", "check", run, "--gate", gate_file(tmp_path, rules)])
    only = rules + "configs: [hybrid-rerank]\napprover: Lan\n"
    capsys.readouterr()
    assert 0 == main(["gate", "check", run, "--gate", gate_file(tmp_path, only)])
    printed = capsys.readouterr().out
    assert "hybrid-rerank: PASS" in printed
    assert "vector-only" not in printed
    assert "reviewer: Lan" in printed


def test_trec_files_are_held_against_a_baseline_too(tmp_path: Path, capsys: Printed) -> None:
    """Thirty topics with one relevant document, found by the baseline and not by the candidate."""
    topics = [f"t{number}" for number in range(30)]
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 d1 1\n" for topic in topics))
    for name, document in (("good", "d1"), ("bad", "d2")):
        (tmp_path / name).write_text("".join(f"{topic} Q0 {document} 1 1.0 {name}\n" for topic in topics))
    recorded = ["score", "--golden", str(tmp_path / "qrels"), "--metrics", "recall@10"]
    assert 0 == main([*recorded, "--outputs", str(tmp_path / "good"), "--run-dir", str(tmp_path / "run")])
    gate = ["--gate", gate_file(tmp_path, GAINS.replace("rr@10", "ndcg@10")), "--baseline", str(tmp_path / "run")]
    assert 1 == main([*recorded, "--outputs", str(tmp_path / "bad"), *gate, "--verbose"])
    assert "it lost more than 0.05" in capsys.readouterr().out


# ── baselines ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_baseline_is_the_same_bytes_and_holds_no_text_of_questions_chunks_or_answers(
    run: str, saved: str, tmp_path: Path
) -> None:
    assert 0 == main(["baseline", "save", f"{run}:vector-only", "--out", str(tmp_path / "again.json")])
    content = Path(saved).read_bytes()
    assert content == (tmp_path / "again.json").read_bytes()
    text = content.decode()
    chunks = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    cases = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    answers = [json.loads(line) for line in Path(OUTPUTS[0]).read_text(encoding="utf-8").splitlines()]
    secrets = [each.get("text") for each in chunks] + [each.get("question") for each in cases]
    secrets += [each.get("reference") for each in cases] + [each.get("answer") for each in answers]
    assert [] == [each for each in secrets if each and len(each) > 8 and (each in text or each[:40] in text)]
    assert len(content) < 60_000


def test_a_baseline_says_what_it_is(saved: str, capsys: Printed) -> None:
    assert 0 == main(["baseline", "show", saved])
    printed = capsys.readouterr().out
    assert "vector-only: 41 cases" in printed
    assert "embedding: hashed-ngrams-1" in printed
    assert "recall@10" in printed


# ── from Python ──────────────────────────────────────────────────────────────────────────────────────────────────


def small(*found: bool) -> ScoreResult:
    cases = tuple(Case(f"q{n}", "?", evidence=(Evidence(({"chunk_id": "a"},)),)) for n in range(len(found)))
    observations = [
        Observation(f"q{n}", "c", stages=(Stage("retrieved", (Chunk("a" if hit else "b"),)),))
        for n, hit in enumerate(found)
    ]
    return assay.score(GoldenSet(cases), observations, metrics=["recall@10"])


def test_results_compare_from_python() -> None:
    comparison = assay.compare(small(True, True, False), small(True, False, True))
    change = comparison.metrics["recall@10"]
    assert (0.0, ("q2",), ("q1",), ("q0",)) == (change.gain, change.improved, change.regressed, change.unchanged)
    assert [("q1", 1, None), ("q2", None, 1)] == [(move.case_id, move.before, move.after) for move in comparison.moves]


def test_python_refuses_other_golden_sets_and_unknown_configurations() -> None:
    with pytest.raises(InputError, match="another golden set"):
        assay.compare(small(True), small(True, True))
    with pytest.raises(InputError, match=r"baseline_config: got 'x' \(expected one of c\)"):
        assay.compare(small(True), small(True), baseline_config="x")


def test_another_corpus_is_the_first_thing_that_is_said_to_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "g.jsonl").write_text('{"id": "a", "question": "What does it cost?", "reference": "5 EUR"}\n')
    (tmp_path / "o.jsonl").write_text(
        '{"case_id": "a", "config_id": "one", "answer": "5 EUR", "versions": {"p": "1"}}\n'
    )
    chunk = '{"chunk_id": "c%d", "text": "It costs %d EUR."}\n'
    (tmp_path / "c1.jsonl").write_text(chunk % (1, 5) + chunk % (2, 6))
    (tmp_path / "c2.jsonl").write_text(chunk % (1, 5))
    runs = []
    for name in ("c1", "c2"):
        corpus, folder = str(tmp_path / f"{name}.jsonl"), str(tmp_path / name)
        recorded = ["--golden", str(tmp_path / "g.jsonl"), "--outputs", str(tmp_path / "o.jsonl"), "--corpus", corpus]
        assert 0 == main(["score", *recorded, "--run-dir", folder])
        runs.append(folder)
    capsys.readouterr()
    assert 0 == main(["compare", *runs])
    printed = " ".join(capsys.readouterr().out.split())
    assert "What differs: corpus scored with: was 2 chunks (sha256 " in printed and "is now 1 chunk (sha256 " in printed
    assert 0 == main(["compare", runs[0], runs[0]])
    assert "corpus scored with" not in capsys.readouterr().out
