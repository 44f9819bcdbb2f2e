"""What is published: every extra is tested, the Pythons named are those that are checked, a release is its tag."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml
from scripts.wheel_smoke import MODULES

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def load_workflow(name: str) -> dict[str, Any]:
    workflow: dict[str, Any] = yaml.safe_load(read(f".github/workflows/{name}.yml"))
    return workflow


def test_every_extra_is_tested_by_ci() -> None:
    match = re.search(r'^EXTRAS="(.*)"$', read("scripts/check_wheel.sh"), re.MULTILINE)
    assert match is not None
    assert set(PROJECT["optional-dependencies"]) == set(match[1].split()) == set(MODULES)
    assert "scripts/check_wheel.sh" in read(".ci/run")


def test_every_extra_is_explained() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", read("docs/install.md"), re.MULTILINE)
    assert set(PROJECT["optional-dependencies"]) == set(rows)


def test_the_locked_versions_of_the_extras_hold_every_package_that_an_extra_names() -> None:
    locked = set(re.findall(r"^([a-z0-9-]+)==", read("requirements/extras.txt"), re.MULTILINE))
    requirements = [item for items in PROJECT["optional-dependencies"].values() for item in items]
    named = {re.split(r"[<>=\[]", item)[0] for item in requirements} - {PROJECT["name"]}
    assert set() == named - locked


def test_the_versions_of_python_are_the_same_everywhere() -> None:
    stated = [item.rsplit(" ", 1)[1] for item in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", item)]
    assert ["3.11", "3.12", "3.13", "3.14"] == stated
    assert stated == load_workflow("ci")["jobs"]["checks"]["strategy"]["matrix"]["python"]


def test_a_release_builds_what_was_checked_and_publishes_only_the_tag_of_its_version() -> None:
    jobs = load_workflow("release")["jobs"]
    steps = [step.get("run", "") for step in jobs["build"]["steps"]]
    assert any("bash .ci/run" in step for step in steps)
    assert any("version.py" in step and "exit 1" in step for step in steps)
    assert {"build"} == {jobs[name]["needs"] for name in ("publish", "attach")}
    assert {"id-token": "write"} == jobs["publish"]["permissions"], "no password is stored anywhere"
