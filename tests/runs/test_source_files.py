"""Which files a target's answers come from: by them a later run sees that the code has changed."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

from assay.records.settings import (
    CommandTargetSettings,
    HttpTargetSettings,
    LangchainTargetSettings,
    McpTargetSettings,
    PythonTargetSettings,
)
from assay.runs.source_files import digest_source_files

FILES = {
    "front.py": "import json, numpy\nfrom desk import rank\ndef ask(q):\n    from desk.late import see\n",
    "desk/__init__.py": "from .words import *\n",
    "desk/rank.py": "from . import words\nfrom .deep.scores import score\n",
    "desk/words.py": "WORDS = []\n",
    "desk/late.py": "see = 1\n",
    "desk/deep/scores.py": "from ..words import WORDS\nfrom ...nowhere import nothing\nscore = 1\n",
    "desk/unused.py": "import front\n",
    "other.py": "def ask(q): return q\n",
    "broken.py": "def ask(:\n",
    "conf.yaml": "k: 1\n",
    "tools/serve.py": "import helper\nimport other\n",
    "tools/helper.py": "",
    "notes.log": "",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def test_a_function_comes_from_its_module_and_from_all_that_this_imports(project: Path) -> None:
    names = ["desk", "desk.deep.scores", "desk.late", "desk.rank", "desk.words", "front"]
    assert names == list(digest_source_files(PythonTargetSettings(call="front:ask")))
    assert ["other"] == list(digest_source_files(LangchainTargetSettings(call="other:chain")))
    both = digest_source_files(PythonTargetSettings(call="other:ask", search="desk.words:search"))
    assert ["desk", "desk.words", "other"] == list(both)
    assert "front" not in sys.modules  # nothing was imported


def test_only_a_file_that_changed_has_another_digest(project: Path) -> None:
    before = digest_source_files(PythonTargetSettings(call="front:ask"))
    (project / "desk/deep/scores.py").write_text("score = 2\n", encoding="utf-8")
    (project / "desk/unused.py").write_text("", encoding="utf-8")
    after = digest_source_files(PythonTargetSettings(call="front:ask"))
    assert ["desk.deep.scores"] == [name for name in before if before[name] != after[name]]


def test_a_program_comes_from_the_scripts_and_settings_that_its_command_names(project: Path) -> None:
    command = ("python3", "-u", "tools/serve.py", "--settings", "conf.yaml", "--log", "notes.log", "gone.py")
    names = ["conf.yaml", "helper", "other", "tools/serve.py"]
    assert names == list(digest_source_files(CommandTargetSettings(command=command)))
    assert names == list(digest_source_files(McpTargetSettings(command=command)))
    assert ["desk", "desk.words"] == list(
        digest_source_files(CommandTargetSettings(command=("python", "-m", "desk.words")))
    )


def test_of_a_service_installed_code_and_what_is_no_python_little_or_nothing_is_known(project: Path) -> None:
    assert {} == digest_source_files(HttpTargetSettings(url="http://127.0.0.1:1/ask"))
    assert {} == digest_source_files(McpTargetSettings(url="http://127.0.0.1:1/mcp"))
    assert {} == digest_source_files(PythonTargetSettings(call="yaml:safe_load"))
    assert {} == digest_source_files(PythonTargetSettings(call="json:loads"))
    assert {} == digest_source_files(PythonTargetSettings(call="nowhere.at_all:ask"))
    assert ["broken"] == list(digest_source_files(PythonTargetSettings(call="broken:ask")))


def test_files_that_cannot_be_read_are_left_out(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> str:
        if path.name == "words.py":
            raise PermissionError(13, "Permission denied", str(path))
        return "sha256:0"

    monkeypatch.setattr("assay.runs.source_files.compute_file_sha256", refuse)
    names = ["desk", "desk.deep.scores", "desk.late", "desk.rank", "front"]
    assert names == list(digest_source_files(PythonTargetSettings(call="front:ask")))


@pytest.mark.parametrize("text", ["x" * 300 + ".json", "loop.py", "nul\0.py", "tools/serve.py/none.sh"])
def test_an_argument_that_can_be_no_file_is_none(project: Path, text: str) -> None:
    (project / "loop.py").symlink_to("loop.py")
    assert ["conf.yaml"] == list(digest_source_files(CommandTargetSettings(command=("sh", "-c", text, "conf.yaml"))))


@pytest.mark.parametrize("first", ["pattern = '\\d'", f"deep = {'(' * 5000}{')' * 5000}", "\ufeffx = 1\r"])
def test_odd_code_of_a_target_is_read_without_a_word(project: Path, first: str) -> None:
    (project / "odd.py").write_text(f"{first}\nimport other\n", encoding="utf-8", newline="")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        names = list(digest_source_files(PythonTargetSettings(call="odd:ask")))
    assert ["odd"] == [name for name in names if name != "other"]
    assert [] == [str(warning.message) for warning in seen]
