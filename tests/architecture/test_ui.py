"""The page of the HTML report: the committed file is built from its sources, and its lock file names no registry."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / "ui/node_modules/vite"


@pytest.mark.slow
def test_the_committed_page_is_what_its_sources_build() -> None:
    if shutil.which("node") is None or not MODULES.exists():
        reason = "the page's build tools are not installed (with Node 20.19 or newer: cd ui && npm ci)"
        if "node" in os.environ.get("ASSAY_REQUIRE", "").split(","):
            pytest.fail(reason)
        pytest.skip(reason)
    result = subprocess.run([ROOT / "scripts/build_ui.sh", "--check"], capture_output=True, text=True, check=False)
    assert 0 == result.returncode, result.stdout + result.stderr


def test_the_lock_names_packages_by_hash_and_no_registry() -> None:
    packages = json.loads((ROOT / "ui/package-lock.json").read_text(encoding="utf-8"))["packages"]
    locked = {name: package for name, package in packages.items() if name}
    assert 10 < len(locked)
    assert [] == [name for name, package in locked.items() if "resolved" in package or "integrity" not in package]


def test_the_page_has_no_dependency_but_preact() -> None:
    assert ["preact"] == list(json.loads((ROOT / "ui/package.json").read_text(encoding="utf-8"))["dependencies"])
