"""The numbers of run folders that nobody named: one for each run, also of runs that begin at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from assay.cli import main
from assay.formats.run_files.run_folder import RunFolder
from assay.formats.settings_file import load_config
from assay.runs.observe_run import open_run_folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _open_number() -> str:
    with open_run_folder(load_config(None)) as folder:
        folder.write_manifest({"complete": True})
        return folder.path.name


def test_runs_that_begin_at_the_same_time_get_a_folder_each(here: Path) -> None:
    barrier = Barrier(6)

    def begin(_: int) -> RunFolder:
        barrier.wait()
        return open_run_folder(load_config(None))

    with ThreadPoolExecutor(6) as pool:
        folders = list(pool.map(begin, range(6)))
    assert [f"{number:04d}" for number in range(1, 7)] == sorted(folder.path.name for folder in folders)
    for folder in folders:
        folder.close()


def test_a_run_that_goes_on_elsewhere_is_not_continued_and_an_interrupted_one_is(here: Path) -> None:
    first = open_run_folder(load_config(None))
    first.write_manifest({"complete": False})
    with open_run_folder(load_config(None)) as second:
        assert "0002" == second.path.name
        second.write_manifest({"complete": True})
    first.close()
    (here / "runs/0002/manifest.json").write_text('{"complete": false}', encoding="utf-8")
    with open_run_folder(load_config(None)) as again:
        assert "0002" == again.path.name


@pytest.mark.parametrize(("name", "expected"), [("429", "0430"), ("00077", "0078"), ("smoke", "0001")])
def test_a_number_follows_the_highest_name_however_it_is_written(here: Path, name: str, expected: str) -> None:
    (here / "runs" / name).mkdir(parents=True)
    assert expected == _open_number()


def test_a_run_that_cannot_begin_leaves_no_folder(here: Path) -> None:
    (here / "golden.jsonl").write_text('{"id": "a", "question": "Open?", "must_have": ["yes"]}\n', encoding="utf-8")
    settings = "golden: golden.jsonl\ntargets:\n  a: {type: mcp, command: [/nowhere/at-all]}\n"
    (here / "assay.yaml").write_text(settings, encoding="utf-8")
    assert 0 != main(["run", "--allow-exec"])
    assert [] == list((here / "runs").glob("*"))
