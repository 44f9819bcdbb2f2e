"""Update the excerpts of README.md with the output of its own command; `--check` only compares.

The command is read from the page, so that the excerpts always belong to it. It scores recorded outputs, because a live
run such as `./demo` has other latencies every time.
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
COMMAND = re.compile(r"<!-- excerpted -->\n```sh\nassay (score .*?)\n```", re.DOTALL)
EXCERPT = re.compile(r"(<!-- excerpt (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def arguments_of(page: str, folder: Path) -> list[str]:
    """Return the arguments of the page's command; what it writes to out/ goes to `folder`."""
    match = COMMAND.search(page)
    if match is None:
        raise SystemExit("README.md: no excerpted call of assay score found")
    words = shlex.split(match[1].replace("\\\n", " "))
    return [str(folder / word.removeprefix("out/")) if word.startswith("out/") else word for word in words]


def run_command(page: str) -> tuple[str, str]:
    """Return what the page's command prints, and its Markdown report."""
    printed = StringIO()
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"} | {
        "COLUMNS": "115"
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(ROOT),
        redirect_stdout(printed),
        redirect_stderr(StringIO()) as complaints,
        patch.dict(os.environ, environment, clear=True),
    ):
        status = assay(arguments_of(page, Path(folder)))
        report = Path(folder) / "report.md"
        if status not in (0, 1) or not report.is_file():
            raise SystemExit(f"the excerpted command ended with {status}: {complaints.getvalue()}")
        return printed.getvalue(), report.read_text(encoding="utf-8")


def screen_excerpt(printed: str) -> Iterator[str]:
    """Yield what the command prints, whole."""
    yield "```text"
    for line in printed.splitlines():
        yield line.rstrip()
    yield "```"


def report_excerpt(report: str) -> Iterator[str]:
    """Yield the decision with its reasons, and the table of headline metrics."""
    lines = report.splitlines()
    yield ""
    yield from lines[2 : lines.index("## Summary")]
    headlines = lines.index("## Headline metrics") + 2
    yield from lines[headlines : lines.index("", headlines)]
    yield ""


def page(text: str) -> str:
    """Return the page with updated excerpts."""
    printed, report = run_command(text)
    parts = {"screen": screen_excerpt(printed), "report": report_excerpt(report)}
    written = {name: "".join(f"{line}\n" for line in lines) for name, lines in parts.items()}
    return EXCERPT.sub(lambda match: match[1] + written[match[2]] + match[3], text)


def main(arguments: list[str]) -> int:
    """Write the excerpts, or with `--check` check that they are up to date; return the exit code."""
    text = README.read_text(encoding="utf-8")
    current = page(text)
    if "--check" not in arguments:
        README.write_text(current, encoding="utf-8")
        print("the excerpts of README.md are what its command prints")
    elif current != text:
        print("README.md: the excerpts are out of date: run python scripts/readme_excerpts.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
