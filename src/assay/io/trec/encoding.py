"""What is wrong with a line, and lines as UTF-8 in NFC."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
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
    r"""Return whole lines in NFC, because ids compare as people read them; other lines keep their numbers.

    >>> normalise(b"1 Q0 a\xcc\x80\n", first_line=1).data == b"1 Q0 \xc3\xa0\n"
    True
    """
    if raw.isascii():
        return Lines(raw, 0, [])
    with suppress(UnicodeDecodeError):
        if unicodedata.is_normalized("NFC", raw.decode()):
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
    return Lines(b"\n".join(lines), normalised, faults)
