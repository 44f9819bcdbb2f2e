"""The pages that are to be followed from top to bottom: their files are written, their commands run, in this order.

A block marked `<!-- run CODE -->` must end with that exit code, and each line of the next block marked
`<!-- shows -->` must be in what it printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, WALKTHROUGHS, iter_blocks
from tests.faults.forking import CommandForker

pytestmark = pytest.mark.slow

TIMEOUT = 120  # seconds for one command


def run_command(
    forker: CommandForker, line: str, folder: Path, variables: dict[str, str] | None = None
) -> tuple[int, str]:
    """Run one line of a shell block, with this Python and this package; return the exit code and what was printed."""
    words = line.split()
    paths = os.pathsep.join(str(path) for path in (ROOT / "src", folder))
    added = {"PYTHONPATH": paths, "COLUMNS": "120", "NO_COLOR": "1"} | (variables or {})
    if words[0] == "assay":
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as printed:
            status, message = forker.start(words[1:], added, printed.name, folder).wait(TIMEOUT)
            return status, printed.read() + message
    if words[:2] == ["python", "-m"] and words[2].startswith("examples."):
        command = [sys.executable, *words[1:]]
    elif words[:3] == ["python", "-m", "pytest"]:
        command = [sys.executable, *words[1:], "-p", "no:cacheprovider", "-p", "assay.pytest_plugin"]
    else:
        raise ValueError(f"{line!r} is a command that this test cannot run")
    done = subprocess.run(
        command, cwd=folder, env=os.environ | added, capture_output=True, text=True, encoding="utf-8", timeout=TIMEOUT
    )
    return done.returncode, done.stdout + done.stderr


def walk(forker: CommandForker, page: Path, folder: Path) -> list[str]:
    """Follow a page in a folder; return a sentence for each thing that is not as it says."""
    problems, printed = [], ""
    variables: dict[str, str] = {}
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")  # pages that use the handbook are read in the root
    for block in iter_blocks(page):
        if block.mark[:1] == ("file",):
            path = folder / block.mark[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.mark[:1] == ("run",):
            printed, here = "", folder
            for line in block.text.splitlines():
                if line.startswith("cd "):
                    here = here / line.removeprefix("cd ")
                    continue
                if line.startswith("mkdir -p "):
                    (here / line.removeprefix("mkdir -p ")).mkdir(parents=True, exist_ok=True)
                    continue
                if line.startswith("export "):
                    name, _, value = line.removeprefix("export ").partition("=")
                    variables[name] = value.strip('"')
                    continue
                code, output = run_command(forker, line, here, variables)
                printed += output
                if code != int(block.mark[1]):
                    problems.append(f"{line}: exit code {code}, not {block.mark[1]}: {output[-2000:]}")
        elif block.mark == ("shows",):
            shown = " ".join(printed.split())
            problems += [f"{line!r} is not in: {printed}" for line in block.text.splitlines() if line not in shown]
    return problems


@pytest.mark.parametrize("page", WALKTHROUGHS)
def test_a_page_can_be_followed_from_top_to_bottom(page: str, forker: CommandForker, tmp_path: Path) -> None:
    assert [] == walk(forker, ROOT / page, tmp_path)


@pytest.mark.parametrize("page", WALKTHROUGHS)
def test_every_command_of_such_a_page_is_run(page: str) -> None:
    blocks = list(iter_blocks(ROOT / page))
    assert [] == [block.text for block in blocks if block.kind == "sh" and block.mark[:1] != ("run",)]
    assert len([block for block in blocks if block.mark[:1] == ("run",)]) > 1


def test_a_page_that_says_something_else_is_noticed(forker: CommandForker, tmp_path: Path) -> None:
    """Without this, the tests above could pass because nothing is run."""
    page = tmp_path / "page.md"
    text = "<!-- run 0 -->\n```sh\nassay golden check none.jsonl\n```\n\n<!-- shows -->\n```text\nfour cases\n```\n"
    page.write_text(text, encoding="utf-8")
    wrong_code, missing_text = walk(forker, page, tmp_path)
    assert wrong_code.startswith("assay golden check none.jsonl: exit code 2, not 0")
    assert missing_text.startswith("'four cases' is not in")
