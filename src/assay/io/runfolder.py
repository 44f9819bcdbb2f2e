"""The run folder (ADR 0032): manifest, golden set, journal of observations, lock, and files derived from them.

An observation counts only once its line has been written completely. A last line that a crash cut off is dropped when
the folder is opened again, and reported.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import msgspec

from assay.errors import IncompleteError, InputError, Problem, shown
from assay.io.golden import write_golden
from assay.io.outputs import native
from assay.io.outputs.faults import UNREADABLE, line_problems
from assay.io.writing import write_whole
from assay.model import Corpus, GoldenSet, Observation

MANIFEST, GOLDEN, CORPUS, OBSERVATIONS, REPLACED, LOCK, DERIVED = (
    "manifest.json",
    "golden.jsonl",
    "corpus.jsonl",
    "observations.jsonl",
    "replaced.jsonl",
    "LOCK",
    "derived",
)
VERDICTS, VERDICTS_TEXT, CALIBRATION = "verdicts.sqlite", "verdicts.jsonl", "calibration.json"
RUBRICS = "rubrics"
RUN_FOLDER_FORMAT = 1
FSYNC_LINES = 64

Key = tuple[str, str, int]
"""Identifies an observation: configuration, case, repeat."""


def key_of(observation: Observation) -> Key:
    """Return the configuration, case and repeat of an observation."""
    return observation.config_id, observation.case_id, observation.repeat


class RunFolder:
    """An open, locked run folder. Close it, or use it in a `with` block."""

    def __init__(self, path: Path) -> None:
        """Open or make the folder. Raises InputError if it is in use, or holds other files and is not a run folder."""
        self.path = path
        if path.exists() and not path.is_dir():
            raise _input_error(path, "is a file (expected a folder)")
        if path.exists() and any(entry.name != LOCK for entry in path.iterdir()) and not (path / MANIFEST).exists():
            raise _input_error(path, "is not empty and not a run folder (expected a new or empty folder)")
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = _acquire_lock(path / LOCK)
        except OSError as error:
            raise IncompleteError(f"{path}: cannot be written: {error.strerror or error}") from error
        try:
            self.manifest: dict[str, Any] = self._read_manifest()
        except InputError:
            self.close()
            raise

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock; the operating system does so when the process dies."""
        if not self._lock.closed:  # after a first close the file may already be the lock of another process
            (self.path / LOCK).unlink(missing_ok=True)
            self._lock.close()

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace the manifest, completely or not at all."""
        self.manifest = {"format": RUN_FOLDER_FORMAT, **manifest}
        text = msgspec.json.format(msgspec.json.encode(self.manifest, order="sorted"), indent=2) + b"\n"
        write_whole(self.path / MANIFEST, [text])

    def write_golden(self, golden: GoldenSet) -> None:
        """Write the golden set in its native format."""
        write_golden(golden, self.path / GOLDEN)

    def write_corpus(self, corpus: Corpus) -> str:
        """Write the corpus in its native format and return the SHA-256 of its bytes."""
        path = write_whole(self.path / CORPUS, (msgspec.json.encode(chunk) + b"\n" for chunk in corpus.chunks.values()))
        return sha256_of(path)

    def write_derived(self, name: str, parts: Iterable[bytes]) -> Path:
        """Write a file that can be computed again from the others."""
        return write_whole(self.path / DERIVED / name, parts)

    def copy_observations(self, source: str, name: str) -> str:
        """Copy a file of outputs into the folder and return its SHA-256."""
        draft = self.path / f"{name}.part"
        shutil.copyfile(source, draft)
        draft.replace(self.path / name)
        return sha256_of(self.path / name)

    def copy_rubrics(self, folders: Iterable[str]) -> list[dict[str, str]]:
        """Replace the rubrics of the run by copies of those in `folders`; return each with its SHA-256."""
        # All are read before the first one is removed, because `folders` may be those of this run.
        contents: dict[str, bytes] = {}
        for number, folder in enumerate(folders, 1):
            for path in sorted(Path(folder).glob("*.yaml")):
                contents[f"{number}-{path.name}"] = path.read_bytes()
        for path in (self.path / RUBRICS).glob("*.yaml"):
            path.unlink()
        written = [write_whole(self.path / RUBRICS / name, [content]) for name, content in contents.items()]
        return [{"path": f"{RUBRICS}/{path.name}", "sha256": sha256_of(path)} for path in written]

    def _read_manifest(self) -> dict[str, Any]:
        return read_manifest(self.path) if (self.path / MANIFEST).exists() else {}


class Journal:
    """The append-only file of observations of an open run folder."""

    def __init__(self, folder: RunFolder) -> None:
        """Open the journal and drop a last line that a crash cut off. Raises InputError for any other invalid line."""
        self.path = folder.path / OBSERVATIONS
        self.torn_bytes = 0
        self.failed: set[Key] = set()
        self.kept: set[Key] = set()
        self._unsynced = 0
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._size = self._read_keys()
        except BaseException:
            os.close(self._file)
            raise

    def append(self, line: bytes, key: Key, *, failed: bool) -> None:
        """Write one line completely. Raises IncompleteError if that fails, after removing a partly written line."""
        data = line + b"\n"
        try:
            written = 0
            while written < len(data):
                written += os.write(self._file, data[written:])
            self._unsynced += 1
            if self._unsynced >= FSYNC_LINES:
                self.sync()
        except OSError as error:
            os.ftruncate(self._file, self._size)
            message = f"{self.path}: cannot be written: {error.strerror} ({len(data)} bytes more; nothing was lost)"
            raise IncompleteError(message) from error
        self._size += len(data)
        self.kept.add(key)
        if failed:
            self.failed.add(key)

    def sync(self) -> None:
        """Make sure that what was written survives a power failure."""
        os.fsync(self._file)
        self._unsynced = 0

    def close(self) -> None:
        """Sync and close."""
        try:
            self.sync()
        except OSError as error:
            raise IncompleteError(f"{self.path}: cannot be written: {error.strerror}") from error
        finally:
            os.close(self._file)

    def drop_failed(self, configs: Collection[str]) -> int:
        """Move the failed observations of some configurations to `replaced.jsonl`, so that they are made again.

        Returns how many were moved. A crash during the move loses no successful observation.
        """
        lines = self.path.read_bytes().splitlines(keepends=True)
        failed_lines = []
        for line in lines:
            observation = native.decode(line)
            if observation.error and observation.config_id in configs:
                failed_lines.append(line)
        if not failed_lines:
            return 0
        with open(self.path.with_name(REPLACED), "ab") as replaced:
            replaced.writelines(failed_lines)
        dropped = set(failed_lines)
        os.close(self._file)
        write_whole(self.path, [line for line in lines if line not in dropped])
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)
        self.kept.clear()
        self.failed.clear()
        self._size = self._read_keys()
        return len(failed_lines)

    def _read_keys(self) -> int:
        """Note the key of each line, cut off a last line without a line end, and return the remaining size in bytes."""
        problems, size = [], 0
        with open(self.path, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    self.torn_bytes = len(line)
                    os.ftruncate(self._file, size)
                    break
                size += len(line)
                try:
                    observation = native.decode(line)
                except UNREADABLE as error:
                    problems += line_problems(str(self.path), number, line, Observation, error)
                    continue
                key = key_of(observation)
                if key in self.kept:
                    problems.append(Problem(str(self.path), number, "case_id", f"observed twice (got {shown(key)})"))
                self.kept.add(key)
                if observation.error is not None:
                    self.failed.add(key)
        if problems:
            raise InputError(problems)
        return size


def read_manifest(run: Path) -> dict[str, Any]:
    """Return the manifest of a run folder. Raises InputError if it is missing, broken or of another format."""
    path = run / MANIFEST
    if not path.is_file():
        raise _input_error(run, f"no run folder (expected a folder with {MANIFEST}, as --run-dir or `assay run` makes)")
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (*UNREADABLE, OSError) as error:
        raise _input_error(path, f"cannot be read: {error} (expected the manifest of a run)") from error
    if manifest.get("format", RUN_FOLDER_FORMAT) != RUN_FOLDER_FORMAT:
        raise _input_error(path, f"of another format (got {manifest['format']!r}; expected {RUN_FOLDER_FORMAT})")
    return manifest


def sha256_of(path: Path) -> str:
    """Return `sha256:` and the SHA-256 digest of a file in hexadecimal."""
    with open(path, "rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def changes(before: Mapping[str, Any], now: Mapping[str, Any], at: str = "") -> list[str]:
    """Describe each difference between two parts of manifests, including members that only one of them has.

    >>> changes({"k": 5, "t": {"a": 1}}, {"k": 5, "t": {"a": 2}})
    ['t.a: was 1, is now 2']
    """
    differences = []
    for name in sorted({*before, *now}):
        field = f"{at}.{name}" if at else name
        old, new = before.get(name), now.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            differences += changes(old, new, field)
        elif old != new:
            differences.append(f"{field}: was {shown(old)}, is now {shown(new)}")
    return differences


def _acquire_lock(path: Path) -> IO[str]:
    """Lock a file for as long as it is open. Raises InputError naming the process that holds the lock."""
    import fcntl

    while True:
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115  # the lock lives as long as the file is open
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read(200).strip() or "another process"
            file.close()
            raise _input_error(path.parent, f"is being written by {holder} (expected one process at a time)") from None
        # The previous holder may have removed the file that was locked here in the meantime: try the new one.
        if path.exists() and os.fstat(file.fileno()).st_ino == path.stat().st_ino:
            break
        file.close()
    file.truncate(0)
    file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
    file.flush()
    return file


def _input_error(path: Path, message: str) -> InputError:
    return InputError([Problem(str(path), None, "", message, "E_RUN_FOLDER")])
