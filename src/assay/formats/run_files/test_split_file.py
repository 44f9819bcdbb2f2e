"""The ledger of a frozen test split: one line for each set of outputs that was scored against it (ADR 0085).

The file lies next to the golden set and is only appended to. The same outputs count once, however often they are
scored, so that a report says the same number each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from assay.formats.run_files.registry_file import append_synced_line, iterate_synced_lines
from assay.records.errors import AssayError
from assay.records.scores import SplitLooks

LEDGER_SUFFIX = ".looks"
MAX_LEDGER_BYTES = 64 * 2**20
MAX_LOOK_BYTES = 2**16


class LookEntry(Struct, frozen=True, omit_defaults=True):
    """One look: when, at which set, and the digest of what was scored; none if the look was not to be counted.

    `parts` are the digests of the files of outputs, if there were several: each of them was looked at.
    """

    at: str
    golden: str
    outputs: str = ""
    configs: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


def find_ledger(golden: str | Path) -> Path:
    """Return the path of the ledger of a golden set, which is a file."""
    path = Path(golden)
    return path.with_name(path.name + LEDGER_SUFFIX)


def digest_outputs(digests: Sequence[str]) -> str:
    """Return one digest for files of outputs, whatever their order."""
    return "sha256:" + hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


def copy_looks(before: str | Path, after: str | Path) -> None:
    """Take the looks at a golden set over into the ledger of its next version: its cases were looked at.

    Lines that the other ledger has already are not written again. Raises AssayError if one cannot be read or written.
    """
    source, path = find_ledger(before), find_ledger(after)
    if not source.exists() or source.absolute() == path.absolute():
        return
    lines = iterate_synced_lines(path, MAX_LEDGER_BYTES, MAX_LOOK_BYTES) if path.exists() else ()
    counted = {line.strip() for _, line in lines}
    for _, line in list(iterate_synced_lines(source, MAX_LEDGER_BYTES, MAX_LOOK_BYTES)):
        if line.strip() not in counted:
            append_synced_line(path, line.strip())


def record_look(golden: str | Path, entry: LookEntry, ancestors: Container[str] = ()) -> SplitLooks:
    """Append a look to the ledger unless its outputs, or all their parts, are in it; return its number since the first
    version of the set was frozen.

    `ancestors` are the digests of the versions before: looks at them count. An entry without outputs is a look that was
    not to be counted. A ledger that cannot be read or written gives no number and the reason.
    """
    path = find_ledger(golden)
    try:
        looks = _count_looks(path, entry, ancestors)
        if looks is None:
            append_synced_line(path, msgspec.json.encode(entry, order="deterministic"))
            looks = _count_looks(path, entry, ancestors)
        return looks or SplitLooks(None, 0, f"{path}: the look was not found after it was written")
    except (AssayError, OSError) as error:
        return SplitLooks(None, 0, str(error).split("\n", 1)[0])


def _count_looks(path: Path, wanted: LookEntry, ancestors: Container[str]) -> SplitLooks | None:
    """Return the number of a look among those at this version and its ancestors; None if it is not in the ledger."""
    if not path.exists():
        return None
    counted: list[str] = []
    look_of_part: dict[str, int] = {}
    uncounted = unreadable = 0
    latest: SplitLooks | None = None
    for _, line in iterate_synced_lines(path, MAX_LEDGER_BYTES, MAX_LOOK_BYTES):
        try:
            entry = msgspec.json.decode(line, type=LookEntry)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            unreadable += 1
            continue
        if entry.golden != wanted.golden and entry.golden not in ancestors:
            continue
        if entry.outputs:
            if entry.outputs not in counted:
                counted.append(entry.outputs)
            for part in (entry.outputs, *entry.parts):
                look_of_part.setdefault(part, len(counted))
        else:
            uncounted += 1
        sought = (wanted.outputs,) if wanted.outputs in look_of_part else wanted.parts or (wanted.outputs,)
        if wanted.outputs and all(part in look_of_part for part in sought):
            look = max(look_of_part[part] for part in sought)
            return SplitLooks(look, uncounted, _describe_unreadable(path, unreadable))
        if not wanted.outputs and entry == wanted:
            latest = SplitLooks(None, uncounted, "left out of the ledger on request")
    return latest


def _describe_unreadable(path: Path, unreadable: int) -> str:
    return f"{path}: {unreadable} unreadable lines are not counted" if unreadable else ""
