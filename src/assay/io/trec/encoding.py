"""What is wrong with a line, and lines as UTF-8 in NFC."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

BOM = b"\xef\xbb\xbf"


class Fault(NamedTuple):
    """One thing wrong with one line: `line` counts from 1, `field` is empty where the line as a whole is meant."""

    line: int
    field: str
    message: str
    code: str


class Lines(NamedTuple):
    """Lines as they are compared: how many were not in NFC, and those that are not UTF-8, which are left empty."""

    data: bytes
    normalised: int
    faults: list[Fault]


def normalise(raw: bytes, first_line: int) -> Lines:
    """Return whole lines in NFC, because ids compare as people read them; other lines keep their numbers.

    >>> normalise("u1 Q0 cà\\n".encode(), 1).normalised
    1
    """
    if raw.isascii():
        return Lines(raw, 0, [])
    lines, normalised, faults = raw.split(b"\n"), 0, []
    for place, line in enumerate(lines):
        if line.isascii():
            continue
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            got = f"got byte 0x{line[error.start]:02x} at byte {error.start + 1} of the line"
            faults.append(Fault(first_line + place, "", f"not UTF-8 ({got}; expected UTF-8 text)", "E_ENCODING"))
            lines[place] = b""
            continue
        if not unicodedata.is_normalized("NFC", text):
            lines[place] = unicodedata.normalize("NFC", text).encode()
            normalised += 1
    return Lines(b"\n".join(lines) if faults or normalised else raw, normalised, faults)
