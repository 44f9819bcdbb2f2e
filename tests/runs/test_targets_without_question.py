"""A function without a parameter would be called without the question: it is refused before anything is asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli import main
from assay.records.errors import InputError
from assay.records.golden_set import Case

CASES = [Case("c", "Is the ferry running?", reference="yes")]


class Engine:
    def ask(self) -> str:
        return "yes"


@pytest.mark.parametrize("target", [lambda: "yes", Engine()], ids=["function", "method"])
def test_a_function_without_a_parameter_is_refused(target: Any) -> None:
    with pytest.raises(InputError, match="has no parameter, so that it would not be told the question"):
        assay.run(target, CASES, progress=False)


@pytest.mark.parametrize(
    "target",
    [lambda asked: "yes", lambda *values: "yes", lambda **values: "yes", "".join],
    ids=["one", "any", "named", "c"],
)
def test_any_parameter_is_enough(target: Any) -> None:
    assert 1 == len(assay.run(target, CASES, progress=False).cases)


def test_an_import_path_is_refused_at_its_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "deaf_system.py").write_text("def reply():\n    return 'yes'\n", encoding="utf-8")
    (tmp_path / "golden.jsonl").write_text('{"id": "c", "question": "Is it?", "reference": "yes"}\n', encoding="utf-8")
    assert 2 == main(["run", "--golden", "golden.jsonl", "--target", "deaf=deaf_system:reply"])
    assert "targets.deaf.call: E_TARGET reply has no parameter" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["Desk", "Index"])
def test_a_class_whose_methods_need_an_instance_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "classes_system", raising=False)
    (tmp_path / "classes_system.py").write_text(CLASSES, encoding="utf-8")
    (tmp_path / "golden.jsonl").write_text('{"id": "c", "question": "Is it?", "reference": "yes"}\n', encoding="utf-8")
    assert 2 == main(["run", "--golden", "golden.jsonl", "--target", f"kiosk=classes_system:{name}"])
    assert f"classes_system:{name} is a class (expected an instance of it, or a function)" in capsys.readouterr().err
    for usable in ("Static", "desk"):
        target = f"kiosk=classes_system:{usable}"
        assert 0 == main(["run", "--golden", "golden.jsonl", "--target", target, "--run-dir", usable])


CLASSES = """
class Desk:
    def ask(self, question="Is it?"):
        return "yes"

class Index(Desk):
    ask = None
    def search(self, question):
        return []

class Static:
    @staticmethod
    def ask(question):
        return "yes"

desk = Desk()
"""
