"""The scores of a case are the same bytes whatever the workers, the order, the files, the shards and the blocks."""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.cli import main
from assay.formats import outputs as files_of_outputs
from assay.scoring import score_tables

pytestmark = pytest.mark.slow

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
CORPUS = HANDBOOK / "corpus" / "chunks.jsonl"
EVERY_THIRD = slice(0, None, 3)


class Inputs(NamedTuple):
    """A golden set and what two configurations answered to its cases, in a file each."""

    golden: Path
    outputs: list[Path]

    @property
    def pattern(self) -> Path:
        return self.outputs[0].parent / "*.jsonl"

    @property
    def lines(self) -> list[bytes]:
        return [line for path in self.outputs for line in path.read_bytes().splitlines()]


WHOLE = Inputs(
    HANDBOOK / "golden" / "handbook.jsonl",
    [HANDBOOK / "outputs" / f"{config}.jsonl" for config in ("hybrid-rerank", "vector-only")],
)


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """Every third case of the handbook: still many rows for each shard, block and worker, and a third of the time."""
    folder = tmp_path_factory.mktemp("part")
    outputs = folder / "outputs"
    outputs.mkdir()
    cases = WHOLE.golden.read_bytes().splitlines(keepends=True)[EVERY_THIRD]
    (folder / "golden.jsonl").write_bytes(b"".join(cases))
    ids = {json.loads(case)["id"] for case in cases}
    for path in WHOLE.outputs:
        rows = path.read_bytes().splitlines(keepends=True)
        (outputs / path.name).write_bytes(b"".join(row for row in rows if json.loads(row)["query_id"] in ids))
    return Inputs(folder / "golden.jsonl", [outputs / path.name for path in WHOLE.outputs])


def per_case(folder: Path, golden: Path, *outputs: Path | str, options: tuple[str, ...] = ()) -> bytes:
    target = folder / "cases.jsonl"
    command = ["score", "--golden", str(golden), "--corpus", str(CORPUS), "--outputs", *map(str, outputs)]
    assert main([*command, "--by", "difficulty", "--per-case", str(target), *options]) in (0, 3)
    return target.read_bytes()


@pytest.fixture(scope="module")
def expected(part: Inputs, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return per_case(tmp_path_factory.mktemp("expected"), part.golden, *part.outputs)


def one_file(folder: Path, lines: list[bytes]) -> Path:
    path = folder / "all.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_both_configurations_have_a_line_for_every_case(part: Inputs, expected: bytes) -> None:
    assert len(part.lines) == 28 == expected.count(b"\n")


def test_the_whole_handbook_on_two_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = per_case(tmp_path, WHOLE.golden, *WHOLE.outputs)
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", 30_000)  # several shards for each worker
    assert alone == per_case(tmp_path, WHOLE.golden, *WHOLE.outputs, options=("--workers", "2"))
    assert len(WHOLE.lines) == 82 == alone.count(b"\n")


def test_an_odd_number_of_workers(
    tmp_path: Path, part: Inputs, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", 10_000)
    assert expected == per_case(tmp_path, part.golden, *part.outputs, options=("--workers", "3"))


@pytest.mark.parametrize("seed", [1])
def test_any_order_of_the_rows_and_both_configurations_in_one_file(
    tmp_path: Path, part: Inputs, expected: bytes, seed: int
) -> None:
    lines = random.Random(seed).sample(part.lines, 28)
    assert expected == per_case(tmp_path, part.golden, one_file(tmp_path, lines))


@pytest.mark.parametrize("size", [1, 5_000, 10**9])
def test_any_size_of_shards(
    tmp_path: Path, part: Inputs, expected: bytes, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", size)
    assert expected == per_case(tmp_path, part.golden, *part.outputs)


@pytest.mark.parametrize("rows", [1, 10])
def test_any_size_of_blocks(
    tmp_path: Path, part: Inputs, expected: bytes, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(score_tables, "BLOCK_ROWS", rows)
    assert expected == per_case(tmp_path, part.golden, *part.outputs)


def test_a_case_alone(tmp_path: Path, part: Inputs, expected: bytes) -> None:
    alone = []
    for number, line in enumerate(part.lines[:5]):
        folder = tmp_path / str(number)
        folder.mkdir()
        scored = per_case(folder, part.golden, one_file(folder, [line])).splitlines()
        alone += [found for found in scored if b'"missing_output"' not in found]
    assert 5 == len(alone)
    assert set(alone) <= set(expected.splitlines())


def test_a_pattern_finds_the_same_files(tmp_path: Path, part: Inputs, expected: bytes) -> None:
    assert expected == per_case(tmp_path, part.golden, part.pattern)


def test_a_packed_file_holds_the_same_rows(tmp_path: Path, part: Inputs, expected: bytes) -> None:
    packed = tmp_path / "all.jsonl.gz"
    packed.write_bytes(gzip.compress(b"\n".join(part.lines)))
    assert expected == per_case(tmp_path, part.golden, packed, options=("--workers", "2"))


def test_standard_input_holds_the_same_rows(
    tmp_path: Path, part: Inputs, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(part.lines))))
    assert expected == per_case(tmp_path, part.golden, "-")


def test_windows_line_ends_a_mark_and_blank_lines_change_nothing(tmp_path: Path, part: Inputs, expected: bytes) -> None:
    path = tmp_path / "all.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n\r\n".join(part.lines))
    assert expected == per_case(tmp_path, part.golden, path)


def test_a_file_named_twice_is_read_once(tmp_path: Path, part: Inputs, expected: bytes) -> None:
    assert expected == per_case(tmp_path, part.golden, *part.outputs, part.pattern)


def test_reports_are_the_same_bytes_for_any_number_of_workers(
    tmp_path: Path, part: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", 10_000)
    reports = []
    for workers in ("1", "2"):
        report, json_file = tmp_path / f"{workers}.md", tmp_path / f"{workers}.json"
        options = (
            "--report",
            str(report),
            "--json-report",
            str(json_file),
            "--profile",
            "support",
            "--by",
            "tag",
            "--workers",
            workers,
        )
        command = ["score", "--golden", str(part.golden), "--outputs", *map(str, part.outputs), *options]
        assert 1 == main(command)
        reports.append((report.read_bytes(), json_file.read_bytes()))
    assert reports[0] == reports[1]
