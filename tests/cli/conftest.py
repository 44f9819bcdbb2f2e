"""What the tests of the command line share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.living import CASES, SETTINGS, SYSTEM, write_golden


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a system to import, a golden set and settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "the_system", raising=False)
    (tmp_path / "the_system.py").write_text(SYSTEM, encoding="utf-8")
    write_golden(tmp_path / "golden.jsonl", CASES)
    (tmp_path / "assay.yaml").write_text(SETTINGS, encoding="utf-8")
    return tmp_path
