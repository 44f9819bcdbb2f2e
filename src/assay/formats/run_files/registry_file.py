"""The registry of runs: one line for each scored run folder, appended to a file next to the folders (ADR 0078).

A line is written in one call under a lock and synced, so that runs that end at once and a killed process leave whole
lines; a line that was cut off is closed by the next writer and reported by the reader.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assay.formats.file_io import open_file
from assay.formats.problems import find_time_fault
from assay.records.errors import IncompleteError, InputError, Problem

REGISTRY_FILE = "assay-history.jsonl"
MAX_ENTRY_BYTES = 4 * 2**20
MAX_REGISTRY_BYTES = 512 * 2**20
MAX_SHOWN_LINES = 3


class RegisteredValue(Struct, frozen=True, array_like=True):
    """A metric over all cases as it was when the run was registered: value, ends of its interval, scored cases, and how
    many more cases nobody can tell the score of, with the ends between which they leave the value."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    unknown: tuple[int, float, float] | None = None


class RegisteredConfig(Struct, frozen=True, omit_defaults=True):
    """One configuration of a registered run: the versions of its parts, and its metrics over all cases."""

    versions: dict[str, str] = {}
    values: dict[str, RegisteredValue] = {}


class RegistryEntry(Struct, frozen=True, omit_defaults=True):
    """One line: a run that was scored, or one that was promoted to the baseline.

    `run` is the name of the run folder next to the registry. `scores` is the SHA-256 of the scores by case, which tells
    a folder that was scored again from the one that was registered. `partial` says that only some cases were asked.
    """

    kind: Literal["run", "promotion"]
    run: str
    at: str
    assay_version: str = ""
    golden: str = ""
    golden_name: str = ""
    golden_version: str = ""
    scores: str = ""
    partial: bool = False
    configs: dict[str, RegisteredConfig] = {}
    config: str = ""
    file: str = ""


class RunRegistry(Struct, frozen=True):
    """The entries of a registry in the order in which they were written, and a sentence for each unreadable line."""

    path: Path
    entries: list[RegistryEntry]
    notes: list[str]


def append_registry_entry(folder: Path, entry: RegistryEntry) -> Path:
    """Add a line to the registry of a folder and return its path. Raises IncompleteError if it cannot be written."""
    path = folder / REGISTRY_FILE
    append_synced_line(path, msgspec.json.encode(entry, order="deterministic"))
    return path


def append_synced_line(path: Path, line: bytes) -> None:
    """Append one line under a lock, and sync it. Raises IncompleteError if that fails, with the file as it was.

    What a killed process left of a line is closed first, so that it costs no further line.
    """
    import fcntl

    try:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "rb+", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file.fileno()).st_size
            is_torn = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
            content = (b"\n" if is_torn else b"") + line + b"\n"
            if os.write(file.fileno(), content) != len(content):
                os.ftruncate(file.fileno(), size)
                raise IncompleteError(f"{path}: cannot be written: no space left for {len(content)} bytes")
            os.fsync(file.fileno())
    except OSError as error:
        raise IncompleteError(f"{path}: cannot be written: {error.strerror or error}") from error


def read_registry(path: Path) -> RunRegistry:
    """Return the entries of a registry; a line that is none is reported, not fatal.

    Raises InputError if the file cannot be read or is larger than 512 MB.
    """
    entries: list[RegistryEntry] = []
    bad_lines: list[str] = []
    for number, line in iterate_synced_lines(path, MAX_REGISTRY_BYTES, MAX_ENTRY_BYTES):
        try:
            entry = msgspec.json.decode(line, type=RegistryEntry)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            bad_lines.append(f"{path}:{number}: not an entry of the history ({error}); the line is left out")
            continue
        fault = _find_entry_fault(entry)
        if fault:
            bad_lines.append(f"{path}:{number}: {fault}; the line is left out")
        else:
            entries.append(entry)
    notes = bad_lines[:MAX_SHOWN_LINES]
    if len(bad_lines) > MAX_SHOWN_LINES:
        notes.append(f"{path}: {len(bad_lines) - MAX_SHOWN_LINES} more lines are left out")
    return RunRegistry(path, entries, notes)


def iterate_synced_lines(path: Path, max_bytes: int, max_line_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each line that is not blank. Raises InputError for a file that is too large."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            message = f"too large (got {size} bytes; expected {max_bytes} at most)"
            raise InputError([Problem(str(path), None, "", message, "E_SIZE")])
        number = 0
        while line := file.readline(max_line_bytes):
            number += 1
            if line.strip():
                yield number, line


def _find_entry_fault(entry: RegistryEntry) -> str:
    """Return why an entry cannot be used: its run must be a folder next to the registry."""
    name = entry.run
    if not name or "\0" in name or "/" in name or name in (".", ".."):
        return f"not the name of a run folder (got {name[:60]!r})"
    return find_time_fault(entry.at)
