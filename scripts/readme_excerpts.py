"""Update the excerpts of README.md with what `./demo` prints and reports; `--check` only compares.

The commands are read from `demo`. They score recorded outputs, so that the numbers are the same every time.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from assay.cli import main as assay

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
DEMO = ROOT / "demo"
COMMAND = re.compile(r'^"\$assay" (score (?:[^\n]|\\\n)*?)(?: 2>/dev/null| \|\| status=\$\?)$', re.MULTILINE)
EXCERPT = re.compile(r"(<!-- excerpt (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def list_commands(folder: Path) -> list[list[str]]:
    """Return the arguments of both calls of `assay score` in `./demo`; what they write to out/ goes to `folder`."""
    commands = []
    for match in COMMAND.finditer(DEMO.read_text(encoding="utf-8")):
        words = shlex.split(match[1].replace("\\\n", " ").replace("$example", "examples/handbook"))
        commands.append(
            [str(folder / word.removeprefix("out/")) if word.startswith("out/") else word for word in words]
        )
    if len(commands) != 2:
        raise SystemExit(f"demo: {len(commands)} calls of assay score found (expected the baseline and the candidate)")
    return commands


def run_commands() -> tuple[str, str, str]:
    """Return what `./demo` prints of the baseline and of the candidate, and the candidate's Markdown report."""
    screens = []
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"} | {
        "COLUMNS": "115"
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(ROOT),
        patch.dict(os.environ, environment, clear=True),
    ):
        for arguments in list_commands(Path(folder)):
            printed = StringIO()
            with redirect_stdout(printed), redirect_stderr(StringIO()) as complaints:
                status = assay(arguments)
            if status not in (0, 1):
                raise SystemExit(f"assay {' '.join(arguments)} ended with {status}: {complaints.getvalue()}")
            screens.append(printed.getvalue())
        return screens[0], screens[1], (Path(folder) / "report.md").read_text(encoding="utf-8")


def screen_excerpt(printed: str) -> Iterator[str]:
    """Yield what a command prints, whole."""
    yield "```text"
    for line in printed.splitlines():
        yield line.rstrip()
    yield "```"


def report_excerpt(report: str) -> Iterator[str]:
    """Yield the changes since the baseline."""
    lines = report.splitlines()
    begin = lines.index("## Changes since the baseline: hybrid-rerank") + 1
    yield from lines[begin : lines.index("## Headline metrics")]


def page(text: str) -> str:
    """Return the page with updated excerpts."""
    baseline, candidate, report = run_commands()
    parts = {
        "baseline": screen_excerpt(baseline),
        "candidate": screen_excerpt(candidate),
        "report": report_excerpt(report),
    }
    written = {name: "".join(f"{line}\n" for line in lines) for name, lines in parts.items()}
    return EXCERPT.sub(lambda match: match[1] + written[match[2]] + match[3], text)


def main(arguments: list[str]) -> int:
    """Write the excerpts, or with `--check` check that they are up to date; return the exit code."""
    text = README.read_text(encoding="utf-8")
    current = page(text)
    if "--check" not in arguments:
        README.write_text(current, encoding="utf-8")
        print("the excerpts of README.md are what ./demo prints")
    elif current != text:
        print("README.md: the excerpts are out of date: run python scripts/readme_excerpts.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
