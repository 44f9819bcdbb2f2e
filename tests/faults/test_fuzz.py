"""A short run of the fuzz command, and its findings of the past, which stay fixed."""

from __future__ import annotations

from pathlib import Path

from tests.faults.fuzz import find_fault, fuzz_readers, minimise


def test_readers_return_or_refuse_changed_samples(tmp_path: Path) -> None:
    assert 0 == fuzz_readers(200, seed=1, keep=tmp_path)


def test_a_finding_is_noticed_and_minimised(tmp_path: Path) -> None:
    def read_badly(path: Path) -> None:
        if b"x1" in path.read_bytes():
            raise KeyError("x1")

    path = tmp_path / "input"
    assert "KeyError" == find_fault(read_badly, path, b"aaax1bbb")
    assert b"x1" == minimise(read_badly, path, b"aaax1bbb" * 3, "KeyError")
