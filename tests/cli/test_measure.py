"""`assay run` and `assay observe` from end to end, on a system in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.living import CANARY, CASES, SETTINGS, calls, rows, write_golden

from assay.cli import main
from assay.records.golden_set import Case, Evidence, User


def test_run_observes_scores_reports_and_decides(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["run", "--run-dir", "run", "--verbose"])
    report = json.loads((here / "out/report.json").read_bytes())
    assert ["first", "second"] == sorted(report["configs"])
    assert 1.0 == report["configs"]["first"]["summary"]["recall@10"]["value"]
    assert "PASS_WITH_RISK" == report["decision"]["outcome"]  # no rule looks at the correctness of answers
    assert 6 == len(rows(here / "run"))
    manifest = json.loads((here / "run/manifest.json").read_bytes())
    assert (True, ["first", "second"]) == (manifest["complete"], manifest["configs"])
    printed = capsys.readouterr()
    assert "first: 3 observed, 3 calls" in printed.err
    assert "second: search and ask differ in the first 5 chunks of 3 of 3 observations (c0, c1, c2)" in printed.out


@pytest.mark.slow
def test_gate_that_fails_is_exit_1_and_missing_observations_are_exit_3(here: Path) -> None:
    assert 1 == main(["run", "--run-dir", "a", "--target", "second", "--gate-config", "second"])
    assert 3 == main(["run", "--run-dir", "b", "--target", "first", "--max-calls", "2"])


def test_same_command_goes_on_and_asks_nothing_twice(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 3 == main(["observe", "--run-dir", "run", "--target", "first", "--max-calls", "2"])
    assert "continue with: assay" in capsys.readouterr().err
    assert 0 == main(["observe", "--run-dir", "run", "--target", "first"])
    assert ["q0", "q1", "q2"] == sorted(calls())
    assert 0 == main(["run", "--run-dir", "run", "--target", "first"])
    assert 3 == len(calls())


def test_the_command_that_continues_after_errors_repeats_them(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BREAK", "q0,q1,q2")
    assert 3 == main(["observe", "--run-dir", "run", "--target", "first", "--max-calls", "2"])
    printed = capsys.readouterr().err
    assert "1 observation is missing and 2 have an error; once the target works, continue with: assay" in printed
    assert "--retry-errors" in printed
    monkeypatch.delenv("BREAK")
    assert 0 == main(["observe", "--run-dir", "run", "--target", "first", "--retry-errors"])


def test_unnamed_run_goes_on_with_the_unfinished_one_and_is_new_after_that(here: Path) -> None:
    assert 3 == main(["observe", "--target", "first", "--max-calls", "1"])
    assert 0 == main(["observe", "--target", "first"])
    assert 0 == main(["observe", "--target", "first"])
    assert [3, 3] == [len(rows(here / "runs" / name)) for name in ("0001", "0002")]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda here: write_golden(here / "golden.jsonl", CASES[:2]), "golden_digest: was 'sha256:"),
        (
            lambda here: (here / "assay.yaml").write_text(SETTINGS.replace("the_system:ask", "the_system:other")),
            "targets.first.call: was 'the_system:ask', is now 'the_system:other'",
        ),
        (
            lambda here: (here / "assay.yaml").write_text(SETTINGS + "scoring: {k: [20]}\n"),
            "operations.k: was 10, is now 20",
        ),
    ],
    ids=["golden set", "target", "k"],
)
def test_changed_run_is_refused_and_says_what_changed(
    here: Path, change: Callable[[Path], object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["observe", "--run-dir", "run"])
    before = (here / "run/observations.jsonl").read_bytes()
    change(here)
    assert 2 == main(["observe", "--run-dir", "run"])
    assert said in capsys.readouterr().err
    assert before == (here / "run/observations.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        (["first"], ["second"], "targets: was first, is now second"),
        (["first"], ["first", "second"], "targets: was first, is now first, second"),
        (["first", "second"], ["first"], "targets: was first, second, is now first"),
    ],
    ids=["another", "one more", "one fewer"],
)
def test_a_run_is_not_continued_with_other_targets(
    here: Path, before: list[str], now: list[str], change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["observe", "--run-dir", "run", "--target", *before])
    files = [(here / "run" / name) for name in ("manifest.json", "observations.jsonl")]
    contents = [file.read_bytes() for file in files]
    assert 2 == main(["observe", "--run-dir", "run", "--target", *now])
    printed = capsys.readouterr().err
    assert change in printed
    assert "another --run-dir begins a new run" in printed
    assert contents == [file.read_bytes() for file in files]


def test_order_of_the_golden_file_changes_nothing(here: Path) -> None:
    assert 0 == main(["observe", "--run-dir", "run", "--target", "first"])
    write_golden(here / "golden.jsonl", CASES[::-1])
    assert 0 == main(["observe", "--run-dir", "run", "--target", "first"])
    assert 3 == len(calls())


@pytest.mark.slow
def test_errors_are_observations_and_are_made_again_on_demand(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BREAK", "q1")
    assert 3 == main(["observe", "--run-dir", "run", "--target", "first"])
    assert "1 observation has an error; once the target works, repeat them with: assay" in capsys.readouterr().err
    monkeypatch.delenv("BREAK")
    assert 3 == main(["observe", "--run-dir", "run", "--target", "first"])
    assert 0 == main(["observe", "--run-dir", "run", "--target", "first", "--retry-errors"])
    assert [None, None, None] == [row.get("error") for row in rows(here / "run")]
    assert 1 == len((here / "run/replaced.jsonl").read_bytes().splitlines())


def test_secrets_are_nowhere(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A password of the environment is in the answer, in a chunk and, in several forms, in an error."""
    monkeypatch.setenv("DB_PASSWORD", CANARY)
    monkeypatch.setenv("BREAK", "q1")
    assert 3 == main(["run", "--run-dir", "run", "--target", "first"])
    printed = capsys.readouterr()
    assert CANARY not in printed.out + printed.err
    files = [path for path in here.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]
    assert len(files) >= 5
    assert [] == [path.name for path in files if CANARY.encode() in path.read_bytes()]
    assert "[redacted]" in rows(here / "run")[0]["answer"]


@pytest.mark.slow
def test_only_and_limit_choose_cases_and_are_never_gated(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 3 == main(["run", "--run-dir", "run", "--target", "second", "--gate-config", "second", "--only", "tag:hr"])
    assert ["c0", "c2"] == sorted(row["case_id"] for row in rows(here / "run"))
    assert "only tag:hr: not gated" in capsys.readouterr().out
    assert 3 == main(["run", "--run-dir", "run", "--target", "second", "--limit", "1"])
    assert 2 == main(["run", "--target", "first", "--only", "tag:none", "--only", "hr"])
    message = capsys.readouterr().err
    assert "no case has it (got 'tag:none')" in message
    assert "expected tag:NAME or case:ID" in message


def test_retrieval_only_searches_and_asks_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["observe", "--run-dir", "run", "--target", "second", "--retrieval-only"])
    assert ["search"] == [stage["name"] for stage in rows(here / "run")[0]["stages"]]
    assert "answer" not in rows(here / "run")[0]
    assert 2 == main(["observe", "--target", "first", "--retrieval-only"])
    printed = capsys.readouterr().err
    assert "assay.yaml:3: targets.first.search: E_TARGET cannot search" in printed
    assert 'search: "module:function"' in printed


def test_repeats_are_observed_and_kept_apart(here: Path) -> None:
    assert 0 == main(["observe", "--run-dir", "run", "--target", "first", "--repeat", "3"])
    assert sorted((f"c{n}", r) for n in range(3) for r in range(3)) == sorted(
        (row["case_id"], row.get("repeat", 0)) for row in rows(here / "run")
    )


def test_money_ends_the_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["observe", "--run-dir", "run", "--target", "first", "--concurrency", "1", "--max-cost", "0.15"]
    assert 3 == main(arguments)
    assert 2 == len(rows(here / "run"))
    assert "stopped at --max-cost" in capsys.readouterr().err


def test_targets_on_the_command_line_need_no_settings(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "assay.yaml").unlink()
    assert 0 == main(["observe", "--golden", "golden.jsonl", "--target", "the_system:ask", "mine=the_system:other"])
    assert {"ask", "mine"} == {row["config_id"] for row in rows(here / "runs/0001")}
    recorded = "runs/0001/observations.jsonl"
    assert 2 == main(["observe", "--golden", "golden.jsonl", "--target", recorded])
    assert "several configurations (expected config: one of ask, mine)" in capsys.readouterr().err
    assert 0 == main(["observe", "--golden", "golden.jsonl", "--target", f"mine={recorded}"])
    assert ["x", "x", "x"] == [row["stages"][0]["chunks"][0]["chunk_id"] for row in rows(here / "runs/0002")]
    assert 2 == main(["observe", "--golden", "golden.jsonl", "--target", "nothing"])
    assert "no such target (got 'nothing'" in capsys.readouterr().err


def test_paths_of_a_settings_file_are_meant_from_its_folder(here: Path) -> None:
    assert 0 == main(["observe", "--run-dir", "run", "--target", "first"])
    (here / "sub").mkdir()
    settings = (
        "golden: ../golden.jsonl\ntargets: {a-b: {type: recorded, path: ../run/observations.jsonl}}\nrun_dir: again\n"
    )
    (here / "sub/assay.yaml").write_text(settings, encoding="utf-8")
    assert 0 == main(["observe", "--settings", "sub/assay.yaml"])
    assert 3 == len(rows(here / "sub/again"))


def test_scores_of_recorded_outputs_never_replace_a_living_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["observe", "--run-dir", "run", "--target", "first"])
    before = (here / "run/manifest.json").read_bytes()
    assert 2 == main(["score", "--golden", "golden.jsonl", "--outputs", "run/observations.jsonl", "--run-dir", "run"])
    assert "holds the observations of live targets" in capsys.readouterr().err
    assert before == (here / "run/manifest.json").read_bytes()


def test_a_run_and_doctor_say_which_settings_were_retired(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "assay.yaml").write_text(f"{SETTINGS}\nscoring: {{stage: context}}\n", encoding="utf-8")
    assert 0 == main(["observe", "--target", "first"])
    assert "scoring.stage: is no longer a setting" in capsys.readouterr().err
    main(["doctor"])
    assert "scoring.stage: is no longer a setting" in capsys.readouterr().out


@pytest.mark.slow
def test_program_of_a_settings_file_runs_only_with_consent(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = (
        "golden: golden.jsonl\ntargets: {p: {type: command, command: ['false']}}\nrun: {breaker: 1, attempts: 1}\n"
    )
    (here / "assay.yaml").write_text(settings, encoding="utf-8")
    monkeypatch.delenv("ASSAY_ALLOW_EXEC", raising=False)
    assert 2 == main(["observe", "--run-dir", "run"])
    assert "expected --allow-exec" in capsys.readouterr().err
    assert 3 == main(["observe", "--run-dir", "run", "--allow-exec"])
    assert "crashed" == rows(here / "run")[0]["error"]["code"]


def test_boundary_is_probed_under_every_other_identity(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two questions of two tenants: each is asked again as the other tenant; chunk b belongs to tenant t alone."""
    ask_as = [User(tenant="t"), User(tenant="u")]
    evidence = (Evidence(({"chunk_id": "a"},)),)
    write_golden(
        here / "golden.jsonl", [Case(f"c{n}", f"q{n}", evidence=evidence, user=user) for n, user in enumerate(ask_as)]
    )
    chunks = [{"chunk_id": "a", "text": "open"}, {"chunk_id": "b", "text": "closed", "tenant": "t"}]
    (here / "corpus.jsonl").write_text("".join(json.dumps(chunk) + "\n" for chunk in chunks), encoding="utf-8")
    arguments = ["run", "--run-dir", "run", "--target", "first", "--corpus", "corpus.jsonl", "--probe-identities"]
    assert 1 == main(arguments)
    printed = capsys.readouterr().out
    monkeypatch.setattr("assay.cli.run.MAX_LEAKS_SHOWN", 0)
    assert 1 == main(["run", "--run-dir", "again", *arguments[3:]])
    assert (
        f"and 1 more with a leak; all answers are in {Path('again') / 'probes' / 'observations.jsonl'}"
        in capsys.readouterr().out
    )
    assert "probes: 2 asked (" in printed and ", 2 judged, 1 with a leak" in printed
    line = next(line for line in printed.splitlines() if "c0~identity-2" in line)
    assert "was shown 1 chunk it may not see: b is forbidden: it is of tenant t, the user of tenant u" in line
    assert "(shown at rank " in line
    assert {"c0~identity-2", "c1~identity-1"} == {row["case_id"] for row in rows(here / "run/probes")}


LETTERS = """
def ask(question):
    ids = {"q0": [], "q1": ["b"], "q2": ["b", "c", "d"]}[question]
    stages = [{"name": "retrieved", "chunks": [{"chunk_id": name} for name in ids]}]
    return {"answer": "I found it.", "stages": stages, "citations": ["d"] if question == "q0" else []}
"""


def test_the_worst_probe_comes_first_and_says_where_a_chunk_leaked(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(here)
    (here / "letters.py").write_text(LETTERS, encoding="utf-8")
    users = [User(tenant="t"), User(tenant="u")]
    evidence = (Evidence(({"chunk_id": "a"},)),)
    cases = [Case(f"c{n}", f"q{n}", evidence=evidence, user=users[0]) for n in range(3)]
    write_golden(here / "golden.jsonl", [*cases, Case("c3", "q1", evidence=evidence, user=users[1])])
    chunks = [{"chunk_id": name, "text": f"text of {name}", "tenant": "t"} for name in "bcd"]
    chunks.append({"chunk_id": "a", "text": "open"})
    (here / "corpus.jsonl").write_text("".join(json.dumps(chunk) + "\n" for chunk in chunks), encoding="utf-8")
    arguments = ["run", "--target", "first=letters:ask", "--corpus", "corpus.jsonl", "--probe-identities"]
    assert 1 == main([*arguments, "--run-dir", "run"])
    lines = [line for line in capsys.readouterr().out.splitlines() if "it may not see" in line]
    assert ["c2~identity-2 was shown 3 chunks", "c0~identity-2 was shown 1 chunk "] == [
        line.partition(": ")[2][:32] for line in lines
    ]
    assert "b is forbidden: it is of tenant t, the user of tenant u (shown at rank 1 of retrieved)" in lines[0]
    assert "d is forbidden: it is of tenant t, the user of tenant u (cited by the answer)" in lines[1]


def test_run_is_complete_where_the_golden_set_asks_everything_as_everybody(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    users = [User(tenant="t"), User(tenant="u")]
    evidence = (Evidence(({"chunk_id": "a"},)),)
    cases = [Case(f"c{n}", "q0", evidence=evidence, user=user) for n, user in enumerate(users)]
    write_golden(here / "golden.jsonl", cases)
    chunks = [{"chunk_id": name, "text": "open"} for name in "ab"]
    (here / "corpus.jsonl").write_text("".join(json.dumps(chunk) + "\n" for chunk in chunks), encoding="utf-8")
    arguments = ["run", "--run-dir", "run", "--target", "first", "--corpus", "corpus.jsonl"]
    assert 0 == main(arguments)
    assert 0 == main([*arguments, "--probe-identities"])
    assert "probes: none to ask: every question was asked as every user" in capsys.readouterr().out
    assert 2 == len(calls())


@pytest.mark.parametrize(
    ("gate", "problem"),
    [
        ("{rules: [{metric: recal@10, at_least: 0.9}]}", "recal"),
        ("{rules: [{metric: recall@10, at_most: 0.9}]}", "is better high"),
        ("{rules: [{metric: faithfulness(by=rules), at_least: 0.9}]}", "no absolute scale"),
        ("{rules: [{metric: recall@10, at_least: 0.9}], configs: [frist]}", "did you mean 'first'?"),
    ],
)
def test_gate_that_cannot_be_used_is_refused_before_a_target_is_called(
    gate: str, problem: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = SETTINGS.partition("gate:")[0]
    (here / "assay.yaml").write_text(f"{settings}gate: {gate}\n", encoding="utf-8")
    assert 2 == main(["run", "--run-dir", "run"])
    assert problem in capsys.readouterr().err
    assert not (here / "run").exists()


def test_baseline_that_cannot_be_read_is_refused_before_a_target_is_called(here: Path) -> None:
    assert 2 == main(["run", "--run-dir", "run", "--baseline", "no-such-run"])
    assert not (here / "run").exists()


def test_ranking_metrics_are_scored_at_every_cut_off_of_the_settings(here: Path) -> None:
    (here / "assay.yaml").write_text(SETTINGS + "scoring: {k: [2, 20]}\n")
    assert 0 == main(["run", "--run-dir", "run"])
    summary = json.loads((here / "out/report.json").read_bytes())["configs"]["first"]["summary"]
    assert {"recall@2", "ndcg@20", "recall@10", "behaviour"} <= summary.keys()


def test_metric_names_with_two_keys_are_taken_by_a_run(here: Path) -> None:
    metrics = "recall(rel=1,stage=retrieved)@5,rr@10"
    assert 0 == main(["run", "--run-dir", "run", "--target", "first", "--metrics", metrics])


def test_nobody_can_be_swapped_where_all_are_one(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["run", "--run-dir", "run", "--target", "first", "--probe-identities"])
    assert "names fewer than two identities" in capsys.readouterr().err
    assert not (here / "run").exists()  # nothing was asked


def test_observing_refuses_what_only_scoring_would_heed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["observe", "--target", "first", "--profile", "general", "--report", "report.md", "--strict"])
    assert "--profile, --strict, --report: observing scores nothing" in capsys.readouterr().err
    assert not (here / "runs").exists()
