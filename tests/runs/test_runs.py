"""Run folders scored again: the same scores as when they were made, and nothing from a folder that was changed."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli import main
from assay.formats.run_files.run_folder import RunName, is_run_name, parse_run_name
from assay.records.errors import InputError
from assay.records.requests import InputOptions, ScoreRequest, ScoringOptions
from assay.report.exports.export_scores import render_json
from assay.runs.rescore_run import choose_config, open_run
from assay.runs.save_run import save_run
from assay.runs.score_run import open_scored_run

pytestmark = pytest.mark.slow

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "first"
    outputs = [str(HANDBOOK / "outputs" / f"{name}.jsonl") for name in ("vector-only", "hybrid-rerank")]
    corpus = str(HANDBOOK / "corpus" / "chunks.jsonl")
    request = ScoreRequest(
        InputOptions(golden=str(HANDBOOK / "golden" / "handbook.jsonl"), outputs=outputs, corpus=corpus),
        scoring=ScoringOptions(look_again=True),
    )
    with open_scored_run(request) as run:
        save_run(run, folder)
    return folder


def test_a_run_folder_scores_to_the_same_values_again(run_folder: Path) -> None:
    with open_run(run_folder) as run:
        again = json.loads(render_json(run))
    stored = json.loads((run_folder / "derived" / "report.json").read_text())
    for key in ("inputs", "golden"):  # where it was read from, and in which format
        del stored[key], again[key]
    assert stored == again


def test_a_run_folder_keeps_its_corpus(run_folder: Path) -> None:
    with open_run(run_folder) as run:
        assert run.corpus is not None
        assert run.read_observation("hybrid-rerank", "hr_leave_001") is not None


def test_what_was_changed_since_is_refused(run_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run_folder, copy)
    with open(copy / "observations-1.jsonl", "ab") as file:
        file.write(b"{}\n")
    (copy / "corpus.jsonl").unlink()
    with pytest.raises(InputError) as failure, open_run(copy):
        pass
    assert ["E_RUN_CHANGED", "E_NO_FILE"] == [problem.code for problem in failure.value.problems]


def test_a_folder_without_manifest_is_no_run(tmp_path: Path) -> None:
    assert not is_run_name(str(tmp_path))
    with pytest.raises(InputError, match="no run folder"), open_run(tmp_path):
        pass


def test_a_run_is_named_with_or_without_its_configuration(run_folder: Path) -> None:
    assert parse_run_name(str(run_folder)) == RunName(run_folder)
    assert parse_run_name(f"{run_folder}:vector-only") == RunName(run_folder, "vector-only")
    assert is_run_name(f"{run_folder}:vector-only")


def test_the_configuration_must_be_one_of_the_run(run_folder: Path) -> None:
    with open_run(run_folder) as run:
        assert "vector-only" == choose_config(run, RunName(run_folder, "vector-only"))
        with pytest.raises(InputError, match="no configuration named"):
            choose_config(run, RunName(run_folder))
        with pytest.raises(InputError, match="got 'dense'"):
            choose_config(run, RunName(run_folder, "dense"))


@pytest.fixture
def short_folder(run_folder: Path) -> Iterator[Path]:
    """The run in a folder of a short name: a long one takes the place of other things on a page."""
    with tempfile.TemporaryDirectory() as parent:
        yield Path(shutil.copytree(run_folder, Path(parent, "run")))


def test_a_case_is_explained_against_a_baseline(short_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "explain",
        "hr_leave_002",
        "--run",
        f"{short_folder}:hybrid-rerank",
        "--baseline",
        f"{short_folder}:vector-only",
    ]
    assert 0 == main(words)
    lines = capsys.readouterr().out.partition("Compared with ")[2].splitlines()
    assert len(lines) <= 9 and max(map(len, lines)) <= 100
    short = " ".join(" ".join(lines).split())
    assert "attribution: pass, now retrieval fault" in short
    assert " - moved: hr_leave_policy:v2026-01:004 in context 2 → absent; " in short
    assert 0 == main([*words, "--verbose"])
    text = capsys.readouterr().out.partition("Compared with ")[2]
    assert "attribution: pass, now retrieval fault" in text
    moved = [line.split() for line in text.splitlines() if "hr_leave_policy:v2026-01:004" in line]
    assert [["hr_leave_policy:v2026-01:004", "context", "2", "absent"]] == moved
    assert 0 == main([*words[:2], "--run", f"{short_folder}:vector-only", "--baseline", f"{short_folder}:vector-only"])
    assert "nothing changed on this case" in " ".join(capsys.readouterr().out.split())
