"""A short run of the fuzz command, and its findings of the past, which stay fixed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.fuzz import Fuzzer, StepRecorder, find_fault, fuzz_readers, minimise
from tests.faults.readers import CORPUS, make_readers

from assay.formats.strict_json import decode_json


@pytest.mark.slow
def test_readers_return_or_refuse_changed_samples(tmp_path: Path) -> None:
    assert 0 == fuzz_readers(200, seed=1, keep=tmp_path)


def test_a_finding_is_noticed_and_minimised(tmp_path: Path) -> None:
    def read_badly(path: Path) -> None:
        if b"x1" in path.read_bytes():
            raise KeyError("x1")

    path = tmp_path / "input"
    assert "KeyError" == find_fault(read_badly, path, b"aaax1bbb")
    assert b"x1" == minimise(read_badly, path, b"aaax1bbb" * 3, "KeyError")


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_past_findings_are_read_or_refused_by_every_reader(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / f"input{path.suffix}"
    faults = {name: find_fault(read, copy, path.read_bytes()) for name, read in make_readers().items()}
    assert {} == {name: fault for name, fault in faults.items() if fault}


def test_new_steps_through_the_package_are_noticed() -> None:
    recorder = StepRecorder()
    assert recorder.count_new_steps(lambda: str(decode_json("[1]", "x")))[1] > 0
    assert ("[1]", 0) == recorder.count_new_steps(lambda: str(decode_json("[1]", "x")))
    assert recorder.count_new_steps(lambda: str(decode_json('{"a": 1}', "x")))[1] > 0


def test_what_reaches_new_steps_joins_the_samples_and_a_seed_repeats_a_run(tmp_path: Path) -> None:
    samples = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        fuzzer = Fuzzer(3, tmp_path / "findings", folder)
        shared = len(fuzzer.samples["json"])
        for number in range(120):
            fuzzer.run_once(number)
        samples.append(fuzzer.samples)
    assert any(len(pool) > shared for pool in samples[0].values())
    assert samples[0] == samples[1]
