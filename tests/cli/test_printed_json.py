"""What `--format json` prints holds no character that acts on a terminal, whichever command prints it."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from tests.runs.scoring import make_case, make_trace, score

import assay.cli
from assay.cli import main
from assay.report import catalog_tables

HOSTILE = "x\u202e\u2066\x85\x9b31m\u200f\x7f"
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CLI = Path(str(assay.cli.__file__)).parent
COMMANDS = {
    "score": ("score", "{run}"),
    "compare": ("compare", "{run}", "{run}"),
    "calibrate": ("calibrate", "--run", "{run}", "--labels", "{labels}", "--out", "{out}"),
    "metrics": ("metrics",),
    "run": ("run", "--settings", "{settings}", "--run-dir", "{new}"),
}


def _list_printers(path: Path) -> list[str]:
    """Return the functions by which a module prints where JSON was asked for."""
    printers = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.If) and "PrintFormat.json" in ast.unparse(node.test):
            calls = [call for statement in node.body for call in ast.walk(statement) if isinstance(call, ast.Call)]
            names = [ast.unparse(call.func) for call in calls]
            printers += [name for name in names if name in ("typer.echo", "print", "print_json")]
    return printers


def test_whatever_prints_json_escapes_it() -> None:
    printers = {path.name: _list_printers(path) for path in sorted(CLI.glob("*.py"))}
    assert len([name for name, used in printers.items() if used]) >= 5
    assert {name for used in printers.values() for name in used} == {"print_json"}


@pytest.fixture(name="paths")
def _paths(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the files of a run in which every free text is hostile."""
    rows = [
        make_trace(
            name,
            config_id="c",
            answer=f"Leave is twelve days. Parking is {HOSTILE}.",
            context_chunks=[{"chunk_id": "a", "text": f"Leave is twelve days {HOSTILE}."}],
            versions={"model": HOSTILE},
            metadata={HOSTILE: HOSTILE},
        )
        for name in ("q1", "q2")
    ]
    rows.append(make_trace("q3", config_id="c", error=HOSTILE))
    cases = [make_case(name, question=f"{name} {HOSTILE}?", expected_answer=HOSTILE) for name in ("q1", "q2", "q3")]
    assert score(tmp_path, cases, rows, "--run-dir", str(tmp_path / "run")) in (0, 3)
    (tmp_path / "labels.csv").write_text(
        "case_id,config_id,metric,rater,label,item,text,note\n"
        f"q1,c,faithfulness,{HOSTILE[:3]},supported,c1,Leave is twelve days.,{HOSTILE}\n"
        f"q2,c,faithfulness,ann,not_found,c1,Leave is twelve days.,{HOSTILE}\n",
        encoding="utf-8",
    )
    target = {"type": "recorded", "path": "outputs.jsonl"}
    settings = {"golden": "golden.jsonl", "targets": {"t": target}, "report": {}}
    (tmp_path / "assay.yaml").write_text(json.dumps(settings), encoding="utf-8")
    catalog = json.dumps({"metrics": [{"name": "own", "summary": HOSTILE}]}, ensure_ascii=False) + "\n"
    monkeypatch.setattr(catalog_tables, "render_catalog_json", lambda: catalog)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    names = {"run": "run", "labels": "labels.csv", "out": "new.json", "settings": "assay.yaml", "new": "new"}
    return {name: str(tmp_path / file) for name, file in names.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_printed_json_holds_no_bidirectional_or_control_character(
    name: str, paths: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([word.format(**paths) for word in COMMANDS[name]] + ["--format", "json"])
    printed = capsys.readouterr()
    assert status in (0, 1, 3), printed.err
    assert json.loads(printed.out)
    assert not ACTING.search(printed.out)
    assert not ACTING.search(printed.err)
