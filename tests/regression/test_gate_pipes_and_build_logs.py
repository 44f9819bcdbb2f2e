"""Gate files read from a pipe, and JSON in build logs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli import main
from assay.text.escaping import escape_json_for_log

GATE = "rules: [{metric: answered, at_least: 0.5}, {metric: answered, max_regression: 0.1}]\napprover: Minh\n"
COMMAND = "##[add-path]/tmp/evil"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of two configurations, one case of which has the name of a workflow command."""
    monkeypatch.chdir(tmp_path)
    names = [f"c{number}" for number in range(8)] + [COMMAND]
    golden = [{"id": name, "question": f"{name}?", "expected_chunk_ids": ["a"]} for name in names]
    rows = [
        {"case_id": name, "config_id": config, "answer": "12 days", "stages": [{"name": "retrieved", "chunks": [
            {"chunk_id": "a" if config == "new" else "b"}]}]}
        for config in ("old", "new") for name in names
    ]  # fmt: skip
    for path, lines in (("golden.jsonl", golden), ("outputs.jsonl", rows)):
        Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--run-dir", "run"])
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["gate", "check", "run:new", "--baseline", "run:old"],
        ["compare", "run:old", "run:new"],
        ["score", "run:new", "--baseline", "run:old"],
        ["report", "run:new", "--baseline", "run:old", "--json", "report.json"],
    ],
    ids=lambda words: words[0],
)
def test_gate_is_read_once_from_a_pipe(here: Path, words: list[str]) -> None:
    """As in `--gate <(…)`: what is read a second time is empty."""
    read, write = os.pipe()
    os.write(write, GATE.encode())
    os.close(write)
    code = "import sys; from assay.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *words, "--gate", f"/dev/fd/{read}"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, pass_fds=(read,), cwd=here, env=environment, capture_output=True, text=True)
    os.close(read)
    assert 0 == done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [["compare", "run:old", "run:new"], ["score", "run:new", "--baseline", "run:old"]],
    ids=lambda words: words[0],
)
def test_json_on_standard_output_contains_no_build_commands(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    capsys.readouterr()
    assert 0 == main([*words, "--format", "json", "--json-report", "report.json"])
    printed = capsys.readouterr().out
    written = Path("report.json").read_text(encoding="utf-8")
    assert COMMAND in written
    assert COMMAND not in printed
    assert json.loads(written) == json.loads(printed)


@pytest.mark.parametrize(
    "text", ["::error::x", "a\\::error::x", "\n::set-output name=a::b", "##vso[x]", "a :: b", COMMAND]
)
def test_escaped_json_text_has_the_same_value(text: str) -> None:
    disarmed = escape_json_for_log(json.dumps({text: text}, ensure_ascii=False))
    assert {text: text} == json.loads(disarmed)
    assert not any(each in disarmed for each in ("::error", "::set-output", "##vso[", "##["))


@pytest.mark.slow
def test_comparison_names_its_approver(here: Path) -> None:
    Path("gate.yaml").write_text(GATE, encoding="utf-8")
    assert 0 == main(["compare", "run:old", "run:new", "--gate", "gate.yaml", "--json-report", "named.json"])
    again = ["--approver", "Lan", "--json-report", "replaced.json"]
    assert 0 == main(["compare", "run:old", "run:new", "--gate", "gate.yaml", *again])
    said = [json.loads(Path(name).read_bytes())["approver"] for name in ("named.json", "replaced.json")]
    assert ["Minh", "Lan"] == said
