"""Starting is cheap: what a fresh interpreter has loaded after the import, and after the command's help."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("msgspec", "numpy", "rich", "scipy", "typer", "yaml")


def _heavy_after(statement: str) -> list[str]:
    """Run `statement` in a fresh interpreter and return which of HEAVY it loaded."""
    code = f"import sys\n{statement}\nprint('LOADED', *(m for m in {HEAVY!r} if m in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return run.stdout.splitlines()[-1].split()[1:]


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert [] == _heavy_after("import assay")


def test_help_does_not_load_scipy() -> None:
    help_then_go_on = "from assay.cli import main\nsys.argv = ['assay', '--help']\ntry: main()\nexcept SystemExit: pass"
    assert "scipy" not in _heavy_after(help_then_go_on)


def test_probe_sees_what_is_loaded() -> None:
    assert ["msgspec"] == _heavy_after("import msgspec")
