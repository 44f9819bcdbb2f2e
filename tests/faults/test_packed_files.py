"""Packed files are unpacked while they are read, and temporary files never stay."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.faults.hostile_files import GOLDEN, write_inputs, write_rows
from tests.faults.killing import ASSAY

from assay.cli import main
from assay.formats.corpus import load_corpus
from assay.formats.file_io import open_source, read_lines
from assay.formats.golden_files import load_golden
from assay.formats.outputs import TREC_RUN_FORMAT, open_output_files
from assay.formats.trec.qrels import read_qrels
from assay.records.errors import InputError
from assay.runs.score_trec_run import score_trec_file


@pytest.fixture(name="no_temporary_files")
def forbid_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> str:
        raise AssertionError("a temporary folder was made")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)


def pack(path: Path) -> Path:
    """Write a packed copy of a file and return its path."""
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed


@pytest.mark.usefixtures("no_temporary_files")
def test_packed_records_are_read_without_temporary_files(tmp_path: Path) -> None:
    golden = tmp_path / "golden.jsonl"
    write_rows(golden, GOLDEN)
    corpus = tmp_path / "corpus.jsonl"
    write_rows(corpus, [{"chunk_id": "a", "text": "text"}])
    assert load_golden(golden).digest == load_golden(pack(golden)).digest
    assert load_corpus(str(corpus)) == load_corpus(str(pack(corpus)))


@pytest.mark.usefixtures("no_temporary_files")
@pytest.mark.parametrize("first_line", [b"no record", b"{", b"x" * 20_000_000])
def test_packed_outputs_are_refused_at_their_first_line(first_line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as packed:
        packed.write(first_line + b"\n" + b"\n" * 100_000_000)
    with pytest.raises(InputError), open_output_files([str(path)], None):
        pass


@pytest.mark.usefixtures("no_temporary_files")
@pytest.mark.parametrize(
    ("first_line", "old", "new"),
    [
        (b"no record", "assay", "rag-trace"),
        (b"[", "rag-trace", "assay"),
        (b"q Q0 d 1 2.5", TREC_RUN_FORMAT, "assay"),
        (b"x" * 20_000_000, "rag-trace", "assay"),
        (b"\xff\xfe{", "rag-trace", "assay"),
    ],
)
def test_packed_files_to_convert_are_refused_at_their_first_line(
    first_line: bytes, old: str, new: str, tmp_path: Path
) -> None:
    path = tmp_path / "input.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as packed:
        packed.write(first_line + b"\n" + b"\n" * 1_000_000)
    assert main(["convert", "--from", old, "--to", new, str(path), str(tmp_path / "out")]) == 2


@pytest.mark.usefixtures("no_temporary_files")
def test_packed_runs_are_refused_at_their_first_line(tmp_path: Path) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"no run\n" * 1000))
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q 0 d 1\n")
    with pytest.raises(InputError, match="not trec-run"):
        score_trec_file(read_qrels(qrels), path, [])


@pytest.mark.parametrize("name", ["golden.jsonl.gz", "corpus.jsonl.gz", "outputs.jsonl.gz"])
@pytest.mark.parametrize("change", [slice(0, 40), slice(1, None)], ids=["cut off", "no gzip data"])
def test_broken_packed_files_are_bad_input(name: str, change: slice, tmp_path: Path) -> None:
    plain = tmp_path / "plain.jsonl"
    write_rows(plain, GOLDEN * 50)
    path = tmp_path / name
    path.write_bytes(gzip.compress(plain.read_bytes())[change])
    with pytest.raises(InputError, match="broken gzip file"), open_source(path) as source:
        list(read_lines(source))
    with pytest.raises(InputError, match="broken gzip file"):
        load_golden(path)


def test_what_unpacks_to_too_much_is_refused_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" * 1_000_000))
    with pytest.raises(InputError, match="unpacks to too much"), open_source(path, max_bytes=1_000_000) as source:
        list(read_lines(source))


def test_packed_outputs_are_scored_like_plain_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = write_inputs(tmp_path)
    assert 0 == main(["score", *options, "--format", "json"])
    plain = json.loads(capsys.readouterr().out)["configs"]
    packed = [str(pack(Path(option))) if option.endswith(".jsonl") else option for option in options]
    assert 0 == main(["score", *packed, "--format", "json"])
    assert plain == json.loads(capsys.readouterr().out)["configs"]


@pytest.mark.slow
def test_temporary_files_go_when_a_command_is_terminated(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    golden = write_inputs(tmp_path)[1]
    process = subprocess.Popen(
        [sys.executable, "-c", ASSAY, "score", "--golden", golden, "--outputs", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    assert process.stdin is not None
    while not list(temporary.iterdir()) and process.poll() is None:
        process.stdin.write(b"\n" * 70_000)
        process.stdin.flush()
    process.send_signal(signal.SIGTERM)
    message = process.communicate(timeout=60)[1].decode()
    assert (130, []) == (process.returncode, list(temporary.iterdir())), message
    assert "Traceback" not in message
