"""Normalises lines to UTF-8 in NFC, and describes problems of lines."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from typing import NamedTuple

BOM = b"\xef\xbb\xbf"


class Fault(NamedTuple):
    """One problem of one line: `line` counts from 1, `field` is empty if the whole line is meant."""

    line: int
    field: str
    message: str
    code: str


class Lines(NamedTuple):
    """Lines in NFC, how many were not in NFC, and the problems of those that are not UTF-8; these are left empty."""

    data: bytes
    normalised: int
    faults: list[Fault]


def normalise(raw: bytes, first_line: int) -> Lines:
    r"""Return lines in NFC, so that ids that look the same are equal. No line is removed, so line numbers are kept.

    >>> normalise(b"1 Q0 a\xcc\x80\n", first_line=1).data == b"1 Q0 \xc3\xa0\n"
    True
    """
    if raw.isascii():
        return Lines(raw, 0, [])
    with suppress(UnicodeDecodeError):
        if unicodedata.is_normalized("NFC", raw.decode()):
            return Lines(raw, 0, [])
    lines, normalised, faults = raw.split(b"\n"), 0, []
    for index, line in enumerate(lines):
        if line.isascii():
            continue
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            got = f"got byte 0x{line[error.start]:02x} at byte {error.start + 1} of the line"
            faults.append(Fault(first_line + index, "", f"not UTF-8 ({got}; expected UTF-8 text)", "E_ENCODING"))
            lines[index] = b""
            continue
        if not unicodedata.is_normalized("NFC", text):
            lines[index] = unicodedata.normalize("NFC", text).encode()
            normalised += 1
    return Lines(b"\n".join(lines), normalised, faults)
