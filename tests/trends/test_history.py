"""`assay history`: what registered runs tell, what a lost folder costs, and the baseline."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.trends.run_series import make_case, score_run

import assay
from assay.cli import main
from assay.formats.run_files.registry_file import (
    REGISTRY_FILE,
    RegisteredConfig,
    RegisteredValue,
    RegistryEntry,
    append_registry_entry,
    read_registry,
)
from assay.records.errors import ExitCode, InputError
from assay.records.series import list_series_faults
from assay.stats.arrays import FloatArray
from assay.stats.change_points import scan_for_change
from assay.trends.case_outcome_series import HistoryRun
from assay.trends.history_results import RunHistory
from assay.trends.run_trends import FALSE_DISCOVERY_RATE, SeriesKey, _find_changes, _Stretch, describe_change

AT = "2026-04-01"
HALF = RegisteredValue(0.5, 0.2, 0.8, 10)
CASES = 12


def load(folder: Path, **options: Any) -> RunHistory:
    return assay.history(folder / "runs", made_at=AT, **options)


def make_change(folder: Path) -> None:
    """Six runs: all cases fail in three, then the index changes, and all pass in three."""
    for day in range(1, 7):
        is_new = day > 3
        score_run(folder, f"{day:04d}", [is_new] * CASES, day=day, index="v2" if is_new else "v1")


def test_a_change_is_found_and_what_changed_at_the_same_time_is_no_cause(tmp_path: Path) -> None:
    make_change(tmp_path)
    history = load(tmp_path, metrics=("keywords",))
    (change,) = history.changes
    assert (0.0, 1.0, CASES, 6, "0004", "0003") == (
        change.before,
        change.after,
        change.cases,
        change.runs,
        change.run,
        change.run_before,
    )
    assert [("index", "v1", "v2")] == [(item.name, item.before, item.after) for item in change.versions]
    (series,) = history.series
    marks = {mark.kind: mark for mark in series.marks}
    assert {"change_point", "version"} == set(marks)
    assert "which need not be the cause: index: v1 → v2" in marks["change_point"].text
    assert marks["change_point"].at == "2026-03-04T08:00:00Z"
    assert [] == list_series_faults(history.series)
    assert [0.0, 0.0, 0.0, 1.0, 1.0, 1.0] == [point.value for point in series.points]
    assert all(point.low is not None and point.high is not None and point.n == CASES for point in series.points)


def test_a_steady_decline_is_told_as_one_and_no_version_is_named(tmp_path: Path) -> None:
    for day in range(1, 9):
        right = [number >= 4 * (day - 1) for number in range(40)]
        score_run(tmp_path, f"{day:04d}", right, day=day, index=f"v{day}")
    history = load(tmp_path, metrics=("keywords",))
    (change,) = history.changes
    assert change.steady is not None and change.steady.slope == pytest.approx(-0.1)
    assert change.steady.low < -0.1 < change.steady.high < 0
    assert ("0001", "0008", ()) == (change.run_before, change.run, change.versions)
    text = describe_change(change)
    assert "falls steadily, by about 0.100 a run" in text and "from 0001 to 0008" in text
    assert "same time" not in text
    assert "change_point" not in {mark.kind for mark in history.series[0].marks}


def test_one_run_and_runs_that_do_not_differ_are_not_tested(tmp_path: Path) -> None:
    score_run(tmp_path, "1", [True] * CASES, day=1)
    assert "the longest series has 1 run" in load(tmp_path).notes[-1]
    score_run(tmp_path, "2", [True] * CASES, day=2)
    history = load(tmp_path)
    assert (0, ()) == (history.tested, history.changes)
    assert "no two runs differ" in history.notes[-1]


def test_cases_that_flap_and_cases_that_have_long_failed_are_told_apart(tmp_path: Path) -> None:
    outcomes = [[True, True, False, True], [False, True, False, True], [True, False, False, True]]
    for day, right in enumerate(outcomes, 1):
        score_run(tmp_path, str(day), right, day=day, index="v2" if day == 3 else "v1")
    history = load(tmp_path)
    (flapping,) = history.flapping
    assert ("c00", "PFP", 2, 1) == (
        flapping.case_id,
        flapping.outcomes,
        flapping.changes,
        flapping.changes_without_version,
    )
    assert [("c02", "FFF", None, 3), ("c01", "PPF", "2026-03-02T08:00:00Z", 1)] == [
        (case.case_id, case.outcomes, case.last_passed, case.runs_since_pass) for case in history.failing
    ]


def test_points_over_another_golden_set_are_another_series_and_only_shared_cases_are_compared(tmp_path: Path) -> None:
    score_run(tmp_path, "1", [False] * CASES, day=1)
    score_run(tmp_path, "2", [False] * CASES, day=2)
    changed = [make_case(number) for number in range(CASES)]
    changed[0]["question"] = "What else is item 0?"
    score_run(tmp_path, "3", [True] * CASES, day=3, cases=changed)
    history = load(tmp_path, metrics=("keywords",))
    old, new = history.series
    assert ([0.0, 0.0], [1.0]) == ([point.value for point in old.points], [point.value for point in new.points])
    assert old.name != new.name
    (change,) = history.changes
    assert CASES - 1 == change.cases
    assert any("11 of 12 cases are the same in both" in mark.text for mark in new.marks)


def test_a_case_that_asks_otherwise_has_no_outcome_in_earlier_runs(tmp_path: Path) -> None:
    score_run(tmp_path, "1", [True, False], day=1)
    score_run(tmp_path, "2", [True, False], day=2, cases=[make_case(0), make_case(1, question="Another?")])
    (failing,) = load(tmp_path).failing
    assert ("-F", None, 1) == (failing.outcomes, failing.last_passed, failing.runs_since_pass)


def test_a_folder_that_is_gone_or_was_scored_again_is_said_and_keeps_its_mean(tmp_path: Path) -> None:
    make_change(tmp_path)
    shutil.rmtree(tmp_path / "runs" / "0001")
    (tmp_path / "runs" / "0002" / "derived" / "cases.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "runs" / "0003" / "derived" / "report.json").write_text("{", encoding="utf-8")
    (tmp_path / "runs" / "0004" / "golden.jsonl").write_bytes(b"\xff")
    history = load(tmp_path, metrics=("keywords",))
    (series,) = history.series
    assert [0.0, 0.0, 0.0, 1.0, 1.0, 1.0] == [point.value for point in series.points]
    notes = "\n".join(history.notes)
    assert "0001: the run folder is gone or was moved" in notes
    assert "0002: scored again since it was registered" in notes
    assert notes.count("its means are shown as they were registered") == 4
    assert () == history.changes


def test_a_run_that_is_scored_into_its_folder_again_is_one_run(tmp_path: Path) -> None:
    for day in (1, 2):
        score_run(tmp_path, "latest", [False, True], day=day)
    points = [point.at for point in load(tmp_path, metrics=("keywords",)).series[0].points]
    assert ["2026-03-01T08:00:00Z"] == points
    score_run(tmp_path, "latest", [True, True], day=3)
    history = load(tmp_path, metrics=("keywords",))
    assert [0.5, 1.0] == [point.value for point in history.series[0].points]
    assert "latest: scored again since it was registered" in history.notes[0]


def test_hostile_names_reach_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "a\x1b[31m\u202e|<b>"
    entry = RegistryEntry("run", hostile, AT, configs={hostile: RegisteredConfig({hostile: hostile}, {"failed": HALF})})
    append_registry_entry(tmp_path, entry)
    append_registry_entry(tmp_path, msgspec.structs.replace(entry, at="2026-04-02", scores="x"))
    for form in ("table", "markdown", "json"):
        assert ExitCode.PASS == main(["history", "--runs", str(tmp_path), "--now", AT, "--format", form])
        printed = capsys.readouterr()
        assert "\x1b" not in printed.out + printed.err
        assert "\u202e" not in printed.out + printed.err
    assert ExitCode.PASS == main(["history", "--runs", str(tmp_path), "--export-csv", str(tmp_path / "h.csv")])


def test_slices_are_series_of_their_own_and_of_the_same_family(tmp_path: Path) -> None:
    cases = [make_case(number, tags=["odd" if number % 2 else "even"]) for number in range(CASES)]
    for day in (1, 2):
        score_run(tmp_path, str(day), [day == 2] * CASES, day=day, cases=cases)
    history = load(tmp_path, metrics=("keywords",), by=("tag",))
    assert [None, "tag=even", "tag=odd"] == [series.slice for series in history.series]
    assert 3 == history.tested
    with pytest.raises(InputError, match="no case has such a slice"):
        load(tmp_path, by=("kind",))


def test_opted_out_and_partial_runs_are_not_in_the_history(tmp_path: Path) -> None:
    score_run(tmp_path, "out", [True], "--no-history")
    assert not (tmp_path / "runs" / REGISTRY_FILE).exists()
    score_run(tmp_path, "whole", [True, True])
    score_run(tmp_path, "part", [True, True], "--limit", "1", day=2)
    history = load(tmp_path)
    assert {"whole"} == {point.run for series in history.series for point in series.points}
    assert any("part: only some cases were asked" in note for note in history.notes)
    assert ExitCode.PASS == main(["history", "add", str(tmp_path / "runs" / "out"), "--now", AT])
    assert {"whole", "out"} == {point.run for series in load(tmp_path).series for point in series.points}


def test_settings_opt_out_of_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("golden.jsonl").write_text(json.dumps(make_case(0)) + "\n", encoding="utf-8")
    Path("outputs.jsonl").write_text('{"case_id": "c00", "config_id": "a", "answer": "item 0"}\n', encoding="utf-8")
    settings = {"golden": "golden.jsonl", "targets": {"a": {"type": "recorded", "path": "outputs.jsonl"}}}
    for wanted in (False, True):
        Path("assay.yaml").write_text(json.dumps({**settings, "history": wanted}), encoding="utf-8")
        assert ExitCode.PASS == main(["run", "--run-dir", f"runs/{wanted}"])
        assert wanted == Path("runs", REGISTRY_FILE).exists()


def test_incidents_are_counted_by_cause_from_files_that_people_filled_in(tmp_path: Path) -> None:
    score_run(tmp_path, "1", [True])
    head = (
        "# Incident {}\n\n## Asked\n\n> why?\n\n## Findings\n\n"
        + "| cause | owner | decision | date |\n| --- | --- | --- | --- |\n"
    )
    (tmp_path / "a.md").write_text(
        head.format("a1") + "| stale index | ann | re-ingest | 2026-03-02 |\n|  |  |  |  |\n"
    )
    (tmp_path / "b.md").write_text(head.format("b&#45;1") + "|  |  |  |  |\n")
    (tmp_path / "half.md").write_text(head.format("c") + "| stale index |  |  |  |\n")
    counts = load(tmp_path, incidents=[str(tmp_path / name) for name in ("a.md", "b.md", "half.md")]).incidents
    assert (2, 1, [("stale index", 1)]) == (counts.open, counts.closed, [(c.cause, c.count) for c in counts.by_cause])
    unread = load(tmp_path).incidents
    assert (None, None) == (unread.open, unread.closed)
    assert "no audit store" in unread.reason
    with pytest.raises(InputError, match="not an incident"):
        load(tmp_path, incidents=[str(tmp_path / "golden.jsonl")])


def test_findings_of_an_audit_store_are_counted_once_by_answer(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="needs the extra audit")
    score_run(tmp_path, "1", [True])
    record = {"id": "a1", "at": "2026-03-01T08:00:00Z", "question": "Why?", "answer": "So."}
    (tmp_path / "traffic.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    store = tmp_path / "audit.sqlite"
    assay.audit.ingest(store, tmp_path / "traffic.jsonl", format="audit")
    for cause in ("prompt", "stale index"):
        assay.audit.show(store, "a1", finding=(cause, "ann", "re-ingest"))
    counts = load(tmp_path, store=str(store)).incidents
    assert (0, 1, [("stale index", 1)]) == (counts.open, counts.closed, [(c.cause, c.count) for c in counts.by_cause])


def test_a_promoted_run_is_the_baseline_of_comparisons_and_gates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = score_run(tmp_path, "1", [True] * 3), score_run(tmp_path, "2", [True] * 3, day=2)
    assert ExitCode.PASS == main(["history", "promote", str(first), "--now", AT])
    baseline = tmp_path / "runs" / "baseline.json"
    assert ExitCode.PASS == main(["compare", str(baseline), str(second)])
    (promotion,) = load(tmp_path).promotions
    assert ("1", "bm25", "baseline.json") == (promotion.run, promotion.configuration, promotion.file)
    assert ExitCode.PASS == main(["history", "promote", str(second), "--now", "2026-04-02"])
    assert "2" == load(tmp_path).promotions[-1].run
    precious = tmp_path / "notes.json"
    precious.write_text("{}", encoding="utf-8")
    capsys.readouterr()
    assert ExitCode.BAD_INPUT == main(["history", "promote", str(second), "--out", str(precious)])
    assert "{}" == precious.read_text(encoding="utf-8")


def test_the_export_has_every_point_and_the_screen_and_json_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_change(tmp_path)
    capsys.readouterr()
    files = ["--export-csv", str(tmp_path / "h.csv"), "--export-json", str(tmp_path / "h.json")]
    assert ExitCode.PASS == main(["history", "--runs", str(tmp_path), "--now", AT, "--format", "json", *files])
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "h.json").read_bytes())
    assert ("trend", AT) == (printed["page"], printed["made_at"])
    with open(tmp_path / "h.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(series["points"]) for series in printed["series"])
    assert ExitCode.PASS == main(["history", "--runs", str(tmp_path)])
    assert "which need not be the cause" in " ".join(capsys.readouterr().out.split())


def test_a_folder_without_a_history_and_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no history here"):
        assay.history(tmp_path, made_at=AT)
    score_run(tmp_path, "1", [True])
    with pytest.raises(InputError, match="measured by no run"):
        load(tmp_path, metrics=("recall@10",))
    with pytest.raises(InputError, match="never run"):
        load(tmp_path, configs=("other",))


# ── the registry ─────────────────────────────────────────────────────────────────────────────────────────────────────


def append_many(folder: Path, writer: int) -> None:
    for number in range(40):
        append_registry_entry(folder, RegistryEntry("run", f"{writer}-{number}", AT))


def test_two_writers_at_once_lose_no_line(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=append_many, args=(tmp_path, writer)) for writer in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    registry = read_registry(tmp_path / REGISTRY_FILE)
    assert ([], 120) == (registry.notes, len({entry.run for entry in registry.entries}))


def test_what_a_killed_writer_left_costs_its_own_line_only(tmp_path: Path) -> None:
    append_registry_entry(tmp_path, RegistryEntry("run", "first", AT))
    with open(tmp_path / REGISTRY_FILE, "ab") as file:
        file.write(b'{"kind":"run","run":"to')
    append_registry_entry(tmp_path, RegistryEntry("run", "second", AT))
    registry = read_registry(tmp_path / REGISTRY_FILE)
    assert ["first", "second"] == [entry.run for entry in registry.entries]
    (note,) = registry.notes
    assert f"{REGISTRY_FILE}:2: not an entry of the history" in note


def test_a_process_that_is_killed_keeps_what_was_appended(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from assay.formats.run_files.registry_file import RegistryEntry, append_registry_entry\n"
        f"append_registry_entry(Path({str(tmp_path)!r}), RegistryEntry('run', 'a', {AT!r}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "src"}, check=False)
    assert done.returncode == -signal.SIGKILL
    append_registry_entry(tmp_path, RegistryEntry("run", "b", AT))
    assert ["a", "b"] == [entry.run for entry in read_registry(tmp_path / REGISTRY_FILE).entries]


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"kind": "run", "run": "../elsewhere", "at": "2026-04-01"}',
        b'{"kind": "run", "run": "a", "at": "yesterday"}',
        b'{"kind": "run", "run": 3, "at": "2026-04-01"}',
    ],
)
def test_a_line_that_is_no_entry_is_said_and_left_out(tmp_path: Path, line: bytes) -> None:
    append_registry_entry(tmp_path, RegistryEntry("run", "good", AT))
    with open(tmp_path / REGISTRY_FILE, "ab") as file:
        file.write(line + b"\n")
    registry = read_registry(tmp_path / REGISTRY_FILE)
    assert (["good"], 1) == ([entry.run for entry in registry.entries], len(registry.notes))


def test_a_registry_that_cannot_be_written_costs_a_note_and_not_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs" / REGISTRY_FILE).mkdir(parents=True)
    score_run(tmp_path, "1", [True])
    assert "note: not in the history" in capsys.readouterr().err


def make_stretch(scores: FloatArray, metric: str) -> _Stretch | None:
    runs = [HistoryRun(f"run-{number}", f"day-{number}", "bm25", "g", {}, {}) for number in range(len(scores))]
    units = np.arange(scores.shape[1])
    change = scan_for_change(scores, units)
    return _Stretch(SeriesKey("bm25", metric, None), runs, scores, units, change) if change is not None else None


def test_no_change_is_listed_with_an_adjusted_p_above_the_promised_rate() -> None:
    random = np.random.default_rng(11)
    further = 0
    for _ in range(25):
        stretches = []
        for number in range(4):
            shares = np.repeat(random.uniform(0.1, 0.9, 3), 3)
            scores = (random.random((9, 14)) < shares[:, None]).astype(np.float64)
            stretch = make_stretch(scores, f"metric-{number}")
            stretches += [stretch] if stretch is not None else []
        changes = _find_changes(stretches)
        further += len(changes) - len({change.metric for change in changes})
        assert all(change.p <= FALSE_DISCOVERY_RATE for change in changes)
    assert further > 5  # changes after the first one of a series, whose p is adjusted like that of the first
