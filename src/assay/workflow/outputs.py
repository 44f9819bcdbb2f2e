"""The output files to read, their formats, and how they are cut into shards at line boundaries."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from assay.errors import InputError, Problem, shown
from assay.io.lines import MAX_LINE_BYTES, Source, opened, read_lines
from assay.io.observations import FORMAT_NAMES, TREC_RUN, detect_format
from assay.workflow.shard import ShardRef

SHARD_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file to read: the path of its bytes, its name in messages, its format, and its size in bytes.

    A TREC run is rewritten as native lines before it is decoded: `lines` holds, for each of them, the line number in
    the original file; `notices` are about the rewriting.
    """

    path: str
    name: str
    format: str
    size: int
    lines: Sequence[int] | None = None
    notices: tuple[str, ...] = ()

    @property
    def decoded_as(self) -> str:
        """The format of the lines at `path`."""
        return "assay" if self.lines is not None else self.format

    def line(self, number: int) -> int:
        """Return the line number in the user's file."""
        return number if self.lines is None else self.lines[number - 1]


def expand(patterns: Sequence[str]) -> list[str]:
    """Return the files that names and glob patterns match, each once, in the order given (matches sorted)."""
    problems: list[Problem] = []
    names: dict[str, None] = {}
    for pattern in patterns:
        if pattern == "-" or os.path.lexists(pattern):
            names[pattern] = None
            continue
        matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  # the pattern may be absolute
        if not matches:
            problems.append(
                Problem(pattern, None, "", "no such file, and no file matches it as a pattern", "E_NO_FILE")
            )
        names.update(dict.fromkeys(matches))
    if not patterns:
        problems.append(Problem("", None, "outputs", "no file given (expected at least one)", "E_NO_FILE"))
    if problems:
        raise InputError(problems)
    name_by_path: dict[str, str] = {}
    for name in names:
        name_by_path.setdefault(os.path.realpath(name), name)
    return list(name_by_path.values())


def refuse_overwriting(written: Sequence[str | None], read: Sequence[str | None]) -> None:
    """Raise InputError if a name to write is not that of a file, or the file is also read or written elsewhere."""
    used_paths = {os.path.realpath(name) for name in read if name is not None and name != "-"}
    problems = []
    for name in written:
        if name is None:
            continue
        if not name.strip() or name == "-":
            message = f"not the name of a file to write (got {shown(name)}; expected one such as report.md)"
            problems.append(Problem("", None, "", message, "E_FILE_NAME"))
        elif name.endswith(os.sep) or Path(name).is_dir():
            problems.append(Problem(name, None, "", "is a folder (expected the name of a file)", "E_FILE_NAME"))
        elif os.path.realpath(name) in used_paths:
            message = "would overwrite a file that is also read or written (expected a different name)"
            problems.append(Problem(name, None, "", message, "E_OVERWRITE"))
        used_paths.add(os.path.realpath(name))
    if problems:
        raise InputError(problems)


@contextmanager
def output_files(patterns: Sequence[str], named_format: str | None) -> Iterator[list[OutputFile]]:
    """Yield the output files with their formats; compressed files and standard input are spooled to disk."""
    if named_format is not None and named_format not in FORMAT_NAMES:
        message = f"no such format (got {shown(named_format)}; expected one of {', '.join(FORMAT_NAMES)})"
        raise InputError([Problem("", None, "outputs-format", message, "E_FORMAT")])
    with ExitStack() as stack:
        files = []
        for name in expand(patterns):
            source = stack.enter_context(opened(name))
            if source.path.is_dir():
                raise InputError([Problem(name, None, "", "is a folder (expected a file or a pattern)", "E_NO_FILE")])
            first = _first_line(source)
            format = named_format or detect_format(source.name, first)
            files.append(OutputFile(str(source.path), source.name, format, source.path.stat().st_size))
        yield files


@contextmanager
def decodable(files: Sequence[OutputFile]) -> Iterator[list[OutputFile]]:
    """Yield the files with every TREC run rewritten as native lines in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        yield [
            _rewrite_trec_run(file, Path(folder, str(number))) if file.format == TREC_RUN else file
            for number, file in enumerate(files)
        ]


def _rewrite_trec_run(file: OutputFile, target: Path) -> OutputFile:
    from assay.io.outputs.trecrun import write_native  # needed only for TREC runs

    written = write_native(Source(Path(file.path), file.name), target)
    notices = (f"{file.name}: {written.normalised} lines brought to Unicode NFC",) if written.normalised else ()
    return replace(file, path=str(target), size=target.stat().st_size, lines=written.lines, notices=notices)


def _first_line(source: Source) -> bytes:
    """Return the first line that is not blank; raise InputError for a file without one, or one that is not UTF-8."""
    for line in read_lines(source):
        if not line.data.isspace() and line.data:
            return line.data
    raise InputError([Problem(source.name, None, "", "empty (got no line; expected one for each case)", "E_EMPTY")])


def cut(
    files: Sequence[OutputFile], *, torn_tail: bool = False, strict: bool = False, size: int | None = None
) -> list[ShardRef]:
    """Return the shards of the files: ranges of about `size` bytes that end at the end of a line.

    Raises InputError for a line that is too long for any reader.
    """
    return [
        ShardRef(file.path, file.name, file.decoded_as, start, end, number, torn_tail and end == file.size, strict)
        for number, file in enumerate(files)
        for start, end in _byte_ranges(file, SHARD_BYTES if size is None else size)
    ]


def _byte_ranges(file: OutputFile, size: int) -> Iterator[tuple[int, int]]:
    start = 0
    with open(file.path, "rb") as lines:
        while start < file.size:
            end = min(start + size, file.size)
            if end < file.size:
                lines.seek(end)
                partial_line = lines.readline(MAX_LINE_BYTES + 1)
                if len(partial_line) > MAX_LINE_BYTES and not partial_line.endswith(b"\n"):
                    raise _too_long(file, end)
                end += len(partial_line)
            yield start, end
            start = end


def _too_long(file: OutputFile, offset: int) -> InputError:
    with open(file.path, "rb") as lines:
        number = 1 + sum(
            lines.read(min(SHARD_BYTES, offset - chunk_start)).count(b"\n")
            for chunk_start in range(0, offset, SHARD_BYTES)
        )
    message = f"line too long (got more than {MAX_LINE_BYTES} bytes; expected {MAX_LINE_BYTES} at most)"
    return InputError([Problem(file.name, number, "", message, "E_LINE_TOO_LONG")])
