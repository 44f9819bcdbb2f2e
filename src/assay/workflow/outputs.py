"""Which files of outputs to read, in which format, and how they are cut into shards at line boundaries."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from assay.errors import InputError, Problem, shown
from assay.io.lines import MAX_LINE_BYTES, opened
from assay.io.observations import FORMATS, detect_format
from assay.workflow.shard import ShardRef

SHARD_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file to read: where its bytes are, what to call it, its format and size."""

    path: str
    name: str
    format: str
    size: int


def expand(patterns: Sequence[str]) -> list[str]:
    """Return the files that the given names and globs mean, each once, in the order given (globs sorted)."""
    problems: list[Problem] = []
    found: dict[str, None] = {}
    for pattern in patterns:
        if pattern == "-" or os.path.lexists(pattern):
            found[pattern] = None
            continue
        matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  # the pattern may be absolute
        if not matches:
            problems.append(Problem(pattern, None, "", "no such file, and as a pattern it matches none", "E_NO_FILE"))
        found.update(dict.fromkeys(matches))
    if not patterns:
        problems.append(Problem("", None, "outputs", "no file given (expected at least one)", "E_NO_FILE"))
    if problems:
        raise InputError(problems)
    unique: dict[str, str] = {}
    for name in found:
        unique.setdefault(os.path.realpath(name), name)
    return list(unique.values())


@contextmanager
def output_files(patterns: Sequence[str], named_format: str | None) -> Iterator[list[OutputFile]]:
    """Yield the files of outputs, spooled where they are packed or standard input, with their formats."""
    known = [*FORMATS, "trec-run"]
    if named_format is not None and named_format not in known:
        message = f"no such format (got {shown(named_format)}; expected one of {', '.join(known)})"
        raise InputError([Problem("", None, "outputs-format", message, "E_FORMAT")])
    with ExitStack() as stack:
        files = []
        for name in expand(patterns):
            source = stack.enter_context(opened(name))
            path = str(source.path)
            if source.path.is_dir():
                raise InputError([Problem(name, None, "", "is a folder (expected a file or a pattern)", "E_NO_FILE")])
            first = _first_line(path, name)
            files.append(
                OutputFile(
                    path, source.name, named_format or detect_format(source.name, first), source.path.stat().st_size
                )
            )
        yield files


def _first_line(path: str, name: str) -> bytes:
    """Return the first line that is not blank; raise InputError for a file without one, or one that is not UTF-8."""
    try:
        with open(path, "rb") as file:
            while line := file.readline(MAX_LINE_BYTES):
                if line.strip(b"\xef\xbb\xbf \t\r\n"):
                    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
                        raise InputError([Problem(name, 1, "", "UTF-16 (expected UTF-8)", "E_ENCODING")])
                    return line
    except OSError as error:
        raise InputError([Problem(name, None, "", f"cannot be read: {error.strerror}", "E_NO_FILE")]) from error
    raise InputError([Problem(name, None, "", "empty: no line to score", "E_EMPTY")])


def cut(files: Sequence[OutputFile], *, torn_tail: bool = False, size: int = SHARD_BYTES) -> list[ShardRef]:
    """Return the shards of the files: byte ranges of about `size` that end at a line's end."""
    return [shard for number, file in enumerate(files) for shard in _shards(file, number, torn_tail, size)]


def _shards(file: OutputFile, number: int, torn_tail: bool, size: int) -> Iterator[ShardRef]:
    start = 0
    with open(file.path, "rb") as lines:
        while start < file.size:
            end = min(start + size, file.size)
            if end < file.size:
                lines.seek(end)
                end += len(lines.readline(2 * MAX_LINE_BYTES))
            last = torn_tail and end >= file.size
            yield ShardRef(file.path, file.name, file.format, start, end, number, last)
            start = end
