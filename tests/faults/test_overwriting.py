"""No command replaces a file that it reads, or a file of a run; what it writes only its owner can read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from tests.faults.judging import write_inputs

from assay.cli import main

TARGET = "def answer(question):\n    return {'answer': 'yes'}\n"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory with inputs, a run folder RUN, a link to one of its files, and a target."""
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path, 2)
    Path("gate.yaml").write_text("version: 1\nrules:\n  - {metric: recall@10, min: 0.5}\n")
    Path("target.py").write_text(TARGET)
    Path("assay.yaml").write_text("golden: golden.jsonl\n")
    words = ["--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--metrics", "recall@10", "--run-dir", "RUN"]
    assert main(["score", *words]) == 0
    Path("RUN/verdicts.sqlite").write_bytes(b"paid for")
    Path("link").symlink_to("RUN/golden.jsonl")
    return tmp_path


def digest_files(folder: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


FILES = "--golden golden.jsonl --outputs outputs.jsonl"
COMMANDS = [
    *(f"score {FILES} --gate gate.yaml --{flag} gate.yaml" for flag in ("report", "json-report", "per-case", "html")),
    f"score {FILES} --report golden.jsonl",
    f"score {FILES} --report RUN/observations.jsonl",
    "score RUN --json-report RUN/verdicts.sqlite",
    "score RUN --html link",
    f"score {FILES} --run-dir RUN2 --report RUN2/golden.jsonl",
    *(f"report RUN --{flag} RUN/manifest.json" for flag in ("markdown", "json", "junit", "csv", "html")),
    f"compare {FILES} --baseline-config a --candidate-config a --report RUN/verdicts.sqlite",
    "compare RUN:a RUN:a --json-report RUN/derived/../golden.jsonl",
    "baseline save RUN:a --out RUN/manifest.json",
    "convert --from rag-trace --to assay outputs.jsonl RUN/verdicts.sqlite",
    "convert --from assay --to assay RUN/golden.jsonl link",
    "calibrate --run RUN --labels outputs.jsonl --out RUN/verdicts.sqlite",
    "calibrate --labels outputs.jsonl --out RUN/verdicts.sqlite",
    "labels import outputs.jsonl --out RUN/observations.jsonl",
    "labels export --run RUN --out RUN",
    "labels graded outputs.jsonl --labels outputs.jsonl --out RUN/observations.jsonl",
    *(
        f"run --golden golden.jsonl --target target:answer --allow-exec --{flag} {name}"
        for flag in ("report", "json-report", "per-case", "html")
        for name in ("golden.jsonl", "assay.yaml", "RUN/verdicts.sqlite")
    ),
    "run --golden golden.jsonl --target target:answer --run-dir NEW --report NEW/observations.jsonl",
    "judge export --store RUN/verdicts.sqlite --to RUN/verdicts.sqlite",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_replaces_a_file_that_is_read(command: str, world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = digest_files(world)
    status = main(command.split())
    assert (2, before) == (status, digest_files(world))
    message = capsys.readouterr().err
    assert "overwrite" in message or "is not empty" in message


def test_nothing_is_written_into_a_folder_that_is_read(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = world / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text('{"_id": "c0", "text": "q"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nc0\td0\t1\n")
    before = digest_files(world)
    words = ["score", "--golden", "beir", "--outputs", "outputs.jsonl", "--report", "beir/qrels/test.tsv"]
    assert (2, before) == (main(words), digest_files(world))
    assert "would overwrite" in capsys.readouterr().err


def test_reports_may_be_written_into_a_run_folder_again_and_again(world: Path) -> None:
    for _ in range(2):
        assert main(["report", "RUN", "--markdown", "RUN/report.md", "--json", "RUN/report.json"]) == 0
    assert json.loads(Path("RUN/report.json").read_bytes())


def test_what_is_written_only_its_owner_can_read(world: Path) -> None:
    before = set(world.rglob("*"))
    words = [*FILES.split(), "--metrics", "recall@10", "--run-dir", "PRIVATE", "--report", "r.md", "--html", "r.html"]
    assert main(["score", *words, "--json-report", "r.json", "--per-case", "r.jsonl"]) == 0
    assert main(["report", "RUN", "--csv", "r.csv", "--junit", "r.xml"]) == 0
    assert main(["baseline", "save", "RUN:a", "--out", "baseline.json"]) == 0
    assert main(["convert", "--from", "rag-trace", "--to", "assay", "outputs.jsonl", "converted.jsonl"]) == 0
    assert main(["labels", "export", "--run", "RUN", "--out", "sheets", "--metric", "faithfulness"]) == 0
    assert main(["run", "--target", "target:answer", "--allow-exec", "--run-dir", "LIVE"]) in (0, 3)
    written = {path for path in set(world.rglob("*")) - before if path.is_file() and "__pycache__" not in path.parts}
    assert {"PRIVATE", "LIVE", "sheets"} <= {path.parent.name for path in written}
    assert {str(path): 0o600 for path in written} == {str(path): path.stat().st_mode & 0o777 for path in written}
