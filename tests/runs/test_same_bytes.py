"""The scores of a case are the same bytes whatever the workers, the order, the files, the shards and the blocks."""

from __future__ import annotations

import gzip
import io
import random
import sys
from pathlib import Path

import pytest

from assay.cli import main
from assay.formats import outputs as files_of_outputs
from assay.scoring import score_tables

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
GOLDEN, CORPUS = HANDBOOK / "golden" / "handbook.jsonl", HANDBOOK / "corpus" / "chunks.jsonl"
OUTPUTS = [HANDBOOK / "outputs" / f"{config}.jsonl" for config in ("hybrid-rerank", "vector-only")]
LINES = [line for path in OUTPUTS for line in path.read_bytes().splitlines()]


def per_case(folder: Path, *outputs: Path | str, options: tuple[str, ...] = ()) -> bytes:
    target = folder / "cases.jsonl"
    command = ["score", "--golden", str(GOLDEN), "--corpus", str(CORPUS), "--outputs", *map(str, outputs)]
    assert main([*command, "--by", "difficulty", "--per-case", str(target), *options]) in (0, 3)
    return target.read_bytes()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return per_case(tmp_path_factory.mktemp("expected"), *OUTPUTS)


def one_file(folder: Path, lines: list[bytes]) -> Path:
    path = folder / "all.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_both_configurations_have_a_line_for_every_case(expected: bytes) -> None:
    assert len(LINES) == 82 == expected.count(b"\n")


@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_workers(tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", 30_000)  # several shards for each worker
    assert expected == per_case(tmp_path, *OUTPUTS, options=("--workers", str(workers)))


@pytest.mark.parametrize("seed", [1])
def test_any_order_of_the_rows_and_both_configurations_in_one_file(tmp_path: Path, expected: bytes, seed: int) -> None:
    lines = random.Random(seed).sample(LINES, len(LINES))
    assert expected == per_case(tmp_path, one_file(tmp_path, lines))


@pytest.mark.parametrize("size", [1, 5_000, 10**9])
def test_any_size_of_shards(tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", size)
    assert expected == per_case(tmp_path, *OUTPUTS)


@pytest.mark.parametrize("rows", [1, 40])
def test_any_size_of_blocks(tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(score_tables, "BLOCK_ROWS", rows)
    assert expected == per_case(tmp_path, *OUTPUTS)


def test_a_case_alone(tmp_path: Path, expected: bytes) -> None:
    alone = []
    for number, line in enumerate(LINES[:5]):
        folder = tmp_path / str(number)
        folder.mkdir()
        scored = per_case(folder, one_file(folder, [line])).splitlines()
        alone += [found for found in scored if b'"missing_output"' not in found]
    assert 5 == len(alone)
    assert set(alone) <= set(expected.splitlines())


def test_a_pattern_finds_the_same_files(tmp_path: Path, expected: bytes) -> None:
    assert expected == per_case(tmp_path, HANDBOOK / "outputs" / "*.jsonl")


def test_a_packed_file_holds_the_same_rows(tmp_path: Path, expected: bytes) -> None:
    packed = tmp_path / "all.jsonl.gz"
    packed.write_bytes(gzip.compress(b"\n".join(LINES)))
    assert expected == per_case(tmp_path, packed, options=("--workers", "2"))


def test_standard_input_holds_the_same_rows(tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(LINES))))
    assert expected == per_case(tmp_path, "-")


def test_windows_line_ends_a_mark_and_blank_lines_change_nothing(tmp_path: Path, expected: bytes) -> None:
    path = tmp_path / "all.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n\r\n".join(LINES))
    assert expected == per_case(tmp_path, path)


def test_a_file_named_twice_is_read_once(tmp_path: Path, expected: bytes) -> None:
    assert expected == per_case(tmp_path, *OUTPUTS, HANDBOOK / "outputs" / "*.jsonl")


def test_reports_are_the_same_bytes_for_any_number_of_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", 20_000)
    reports = []
    for workers in ("1", "2"):
        report, data = tmp_path / f"{workers}.md", tmp_path / f"{workers}.json"
        options = (
            "--report",
            str(report),
            "--json-report",
            str(data),
            "--profile",
            "support",
            "--by",
            "tag",
            "--workers",
            workers,
        )
        command = ["score", "--golden", str(GOLDEN), "--outputs", *map(str, OUTPUTS), *options]
        assert 1 == main(command)
        reports.append((report.read_bytes(), data.read_bytes()))
    assert reports[0] == reports[1]
