"""Writes members of the header of a golden set and leaves its other lines as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from assay.formats.file_io import open_source, read_lines, write_atomically
from assay.formats.golden_files import LoadedGolden
from assay.formats.golden_sets.json_cases import HEADER_MEMBER
from assay.records.errors import InputError, Problem

LINE_FORMATS = ("assay", "rag-golden", "stable-key", "code-benchmark", "rag-qrels", "rubric")


def write_header(path: str, loaded: LoadedGolden, members: Mapping[str, Any]) -> None:
    """Set members of the header of a golden set; a file without a header gets one as its first line.

    Raises InputError for a file that is not JSON Lines.
    """
    if loaded.format not in LINE_FORMATS or any(line is None for line in loaded.lines.values()):
        message = f"a header can be written into JSON Lines (got {loaded.format}; assay convert writes them)"
        raise InputError([Problem(path, None, HEADER_MEMBER, message, "E_FORMAT")])
    with open_source(path) as source:
        lines = [line.data.rstrip(b"\r\n") for line in read_lines(source)]
    header: dict[str, Any] = {}
    if lines and HEADER_MEMBER.encode() in lines[0]:
        row = msgspec.json.decode(lines[0])
        if row.keys() == {HEADER_MEMBER}:
            header = row[HEADER_MEMBER]
            del lines[0]
    header |= {name: msgspec.to_builtins(value) for name, value in members.items()}
    written = [msgspec.json.encode({HEADER_MEMBER: header}), *lines]
    write_atomically(path, (line + b"\n" for line in written))
