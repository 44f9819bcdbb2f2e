"""Runs the steps of action.yml here, as a workflow would: `python scripts/run_action.py name=value …`.

Expressions of the form `${{ inputs.name }}` and the one condition that the action uses are understood, nothing else.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
_INPUT = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")
_CONDITION = re.compile(r"inputs\.([a-z-]+) == '([^']*)'")


def given(action: dict[str, Any], arguments: list[str]) -> dict[str, str]:
    """Return every input's value. Raises SystemExit for one that the action does not know or that is missing."""
    said = dict(argument.split("=", 1) for argument in arguments)
    unknown = said.keys() - action["inputs"].keys()
    missing = {name for name, each in action["inputs"].items() if each.get("required")} - said.keys()
    if unknown or missing:
        raise SystemExit(f"inputs: unknown {sorted(unknown)}, missing {sorted(missing)}")
    return {name: said.get(name, each.get("default", "")) for name, each in action["inputs"].items()}


def run(arguments: list[str]) -> int:
    """Run the action's steps one after the other and return the first exit code that is not 0."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    inputs = given(action, arguments)
    with tempfile.TemporaryDirectory() as scratch:
        shared = dict(os.environ) | {"GITHUB_ACTION_PATH": str(ROOT)}
        shared.setdefault("GITHUB_OUTPUT", str(Path(scratch) / "output"))
        for step in action["runs"]["steps"]:
            condition = _CONDITION.fullmatch(step.get("if", "")) if "if" in step else None
            if condition is not None and inputs[condition[1]] != condition[2]:
                continue
            own = {
                name: _INPUT.sub(lambda match: inputs[match[1]], str(value))
                for name, value in step.get("env", {}).items()
            }
            done = subprocess.run(["bash", "-e", "-c", step["run"]], env=shared | own, check=False)
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
