"""Run the steps of action.yml locally, as a workflow would: `python scripts/run_action.py name=value …`.

Only expressions of the form `${{ inputs.name }}` and conditions of the form `inputs.name == 'value'` are supported.
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


def resolve_inputs(action: dict[str, Any], arguments: list[str]) -> dict[str, str]:
    """Return the value of every input. Raises SystemExit for unknown inputs and for missing required ones."""
    values = dict(argument.split("=", 1) for argument in arguments)
    unknown = values.keys() - action["inputs"].keys()
    missing = {name for name, declaration in action["inputs"].items() if declaration.get("required")} - values.keys()
    if unknown or missing:
        raise SystemExit(f"inputs: unknown {sorted(unknown)}, missing {sorted(missing)}")
    return {name: values.get(name, declaration.get("default", "")) for name, declaration in action["inputs"].items()}


def run_action(arguments: list[str]) -> int:
    """Run the steps of the action in order; return the exit code of the first one that fails, else 0."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    inputs = resolve_inputs(action, arguments)
    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ) | {"GITHUB_ACTION_PATH": str(ROOT)}
        environment.setdefault("GITHUB_OUTPUT", str(Path(scratch) / "output"))
        for step in action["runs"]["steps"]:
            condition = _CONDITION.fullmatch(step.get("if", "")) if "if" in step else None
            if condition is not None and inputs[condition[1]] != condition[2]:
                continue
            step_variables = {
                name: _INPUT.sub(lambda match: inputs[match[1]], str(value))
                for name, value in step.get("env", {}).items()
            }
            process = subprocess.run(["bash", "-e", "-c", step["run"]], env=environment | step_variables, check=False)
            if process.returncode:
                return process.returncode
    return 0


if __name__ == "__main__":
    sys.exit(run_action(sys.argv[1:]))
