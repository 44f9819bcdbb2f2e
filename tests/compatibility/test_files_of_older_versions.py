"""Files that an older version wrote are read, or refused with place and remedy; never misread, never a traceback."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from assay.cli import main
from assay.comparison.baseline_file import read_baseline
from assay.formats.golden_files import load_golden
from assay.formats.run_files.manifest import decode_manifest
from assay.formats.settings_file import load_config
from assay.judging.verdict_files import count_verdicts
from assay.judging.verdict_store import SqliteVerdictStore, read_store
from assay.records.errors import InputError

SAMPLES = Path(__file__).parent / "samples"
VERSIONS = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir())
VERDICTS = 46
REMEDIES = ("expected", "again", "`assay metrics` lists all")


@pytest.fixture(name="folder", params=VERSIONS)
def copy_samples(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the samples of one version, which is the working directory."""
    folder = tmp_path / "samples"
    shutil.copytree(SAMPLES / request.param, folder)
    monkeypatch.chdir(folder)
    return folder


def check_read_or_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> bool:
    """Run a command; return whether it read its files. Fails unless a refusal says what to do."""
    code = main(arguments)
    message = capsys.readouterr().err
    assert "Traceback" not in message
    if code != 2:
        return code in (0, 1, 3)
    assert any(remedy in message for remedy in REMEDIES), message
    return False


@pytest.mark.usefixtures("folder")
def test_golden_set_and_outputs_give_the_same_scores(capsys: pytest.CaptureFixture[str]) -> None:
    inputs = ["--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--json-report", "report.json"]
    assert check_read_or_refused(["score", *inputs, "--metrics", "recall@5,precision@5"], capsys)
    summary = json.loads(Path("report.json").read_text())["configs"]["a"]["summary"]
    assert (1.0, 6) == (summary["recall@5"]["mean"], summary["recall@5"]["scored"])
    assert 0.2 == pytest.approx(summary["precision@5"]["mean"])


def test_golden_set_keeps_its_digest(folder: Path) -> None:
    manifest = json.loads((folder / "run/manifest.json").read_text())
    assert manifest["golden_digest"] == load_golden(str(folder / "run/golden.jsonl"), None).digest


@pytest.mark.parametrize("name", ["verdicts.sqlite", "verdicts.jsonl"])
def test_verdicts_are_read_whole(folder: Path, name: str) -> None:
    try:
        recorded = read_store(folder / name).verdicts
    except InputError as error:
        assert any(remedy in str(error) for remedy in REMEDIES)
    else:
        assert VERDICTS == count_verdicts(recorded)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "run"],
        ["report", "run"],
        ["score", "run", "--calibration", "calibration.json"],
        ["score", "run", "--verdicts", "verdicts.sqlite", "--calibration", "calibration.json"],
        ["compare", "baseline.json", "run:a"],
        ["baseline", "show", "baseline.json"],
        ["calibrate", "--run", "run", "--labels", "labels.jsonl", "--out", "new.json"],
        ["explain", "c1", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl"],
    ],
    ids=lambda arguments: " ".join(arguments[:3]),
)
def test_every_command_reads_or_refuses_them(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    check_read_or_refused(arguments, capsys)


@pytest.mark.usefixtures("folder")
def test_settings_are_read_or_refused_with_the_field() -> None:
    try:
        config = load_config("assay.yaml")
    except InputError as error:
        assert all(problem.path == "assay.yaml" and "expected" in problem.message for problem in error.problems)
    else:
        assert {"recorded", "live"} == set(config.settings.targets)


def test_a_verdict_store_is_upgraded_when_written_and_loses_nothing(folder: Path) -> None:
    path = folder / "verdicts.sqlite"
    before = read_store(path)
    with SqliteVerdictStore(path) as store:
        assert before.statuses == store.load_contents().statuses
    after = read_store(path)
    assert (before.judges, before.verdicts, before.statuses) == (after.judges, after.verdicts, after.statuses)
    assert [] == after.warnings
    assert before.statuses == read_store(folder / "verdicts.jsonl").statuses != {}


def test_the_evidence_traces_of_a_baseline_are_read(folder: Path) -> None:
    attributions = read_baseline(str(folder / "baseline.json")).attributions
    assert [{"d0"}, {"d1"}, {"d2"}] == [{trace.name for trace in line.traces} for line in attributions[:3]]


def test_the_manifest_of_a_run_names_the_verdict_store(folder: Path) -> None:
    manifest = folder / "run/manifest.json"
    assert "verdicts.jsonl" == decode_manifest(manifest.read_bytes(), manifest)["judge"]["store"]
