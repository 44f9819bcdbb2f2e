"""Lines of whitespace-separated fields as arrays of positions, for TREC files of millions of lines.

Files are cut into blocks of whole queries. Lines are normalised to UTF-8 in NFC. Fields are compared, hashed and parsed
many at once, eight bytes at a time; equal hashes only narrow a search, equality is always verified byte by byte.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from assay.formats.file_io import MAX_LINE_BYTES
from assay.records.errors import shorten_repr
from assay.stats.arrays import BoolArray, FloatArray, IndexArray

KeyArray = npt.NDArray[np.uint64]

WORD = 8  # bytes that are compared at once
ROOM = 24  # zero bytes after a text, so that a word can be read at its last byte
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(WORD + 1)], dtype=np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)
HALF_WORD_BITS = np.uint64(32)

LONGEST_PLAIN = 19  # the number of digits that always fit into 64 bits
_EXACT = np.uint64(2**53)
_POWERS = np.array([float(10**power) for power in range(LONGEST_PLAIN + 1)])
_NUMBER = re.compile(rb"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")


class IndexedText(Struct, frozen=True):
    """Complete lines of `size` bytes, followed in `data` by zero bytes so that words can be read at any position.

    `octets` has the bytes, `words` the eight bytes from each position as one number.
    """

    data: bytes
    size: int
    octets: npt.NDArray[np.uint8]
    words: KeyArray

    @classmethod
    def of(cls, *parts: bytes) -> IndexedText:
        """Make the arrays for the concatenated parts."""
        data = b"".join((*parts, bytes(ROOM)))
        octets = np.frombuffer(data, dtype=np.uint8)
        words: KeyArray = np.ndarray((len(data) - WORD + 1,), dtype="<u8", buffer=octets, strides=(1,))
        return cls(data, len(data) - ROOM, octets, words)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the bytes only: the overlapping words would take eight times as many."""
        return IndexedText.of, (self.data[: self.size],)

    @property
    def lines(self) -> int:
        """Number of lines."""
        return int(np.count_nonzero(self.octets[: self.size] == ord("\n")))

    def tokens(self, start: IndexArray, end: IndexArray) -> list[bytes]:
        """Return the bytes from each start to its end."""
        data = self.data
        return [data[begin:stop] for begin, stop in zip(start.tolist(), end.tolist(), strict=True)]

    def take_words(self, start: IndexArray, length: IndexArray) -> Iterator[tuple[IndexArray | slice, KeyArray]]:
        """Yield the tokens word by word: which tokens are long enough to have the word, and the word of each.

        The last word of a token is padded with zero bytes.
        """
        longest = int(length.max(initial=0))
        shortest = int(length.min(initial=longest))
        for offset in range(0, longest, WORD):
            rows: IndexArray | slice = slice(None) if shortest > offset else np.flatnonzero(length > offset)
            word = self.words[start[rows] + offset]
            if shortest == longest < offset + WORD:
                word &= _MASKS[longest - offset]
            elif shortest < offset + WORD:
                word &= _MASKS[np.minimum(length[rows] - offset, WORD)]
            yield rows, word


def hash_tokens(text: IndexedText, start: IndexArray, length: IndexArray, group: IndexArray) -> KeyArray:
    """Return a key for each token: its group in the upper 32 bits and a hash, which may collide, in the lower ones."""
    mixed = length.astype(np.uint64)
    for rows, word in text.take_words(start, length):
        product = (mixed[rows] ^ word) * _MIX
        mixed[rows] = product ^ (product >> HALF_WORD_BITS)
    return np.asarray((group.astype(np.uint64) << HALF_WORD_BITS) | ((mixed * _MIX) >> HALF_WORD_BITS), dtype=np.uint64)


def differs_from_previous(text: IndexedText, start: IndexArray, length: IndexArray) -> BoolArray:
    """Return for each token but the first whether it differs from the one before."""
    differs = np.asarray(length[1:] != length[:-1], dtype=np.bool_)
    for rows, word in text.take_words(start, length):
        words = word
        if not isinstance(rows, slice):
            words = np.zeros(len(length), dtype=np.uint64)
            words[rows] = word
        differs |= words[1:] != words[:-1]
    return differs


def compare_tokens(
    first: IndexedText,
    start: IndexArray,
    length: IndexArray,
    second: IndexedText,
    other_start: IndexArray,
    other_length: IndexArray,
) -> BoolArray:
    """Return which tokens of text `first` equal the corresponding tokens of text `second`, byte by byte."""
    equal = np.asarray(length == other_length, dtype=np.bool_)
    rows = np.flatnonzero(equal)
    left, right = first.take_words(start[rows], length[rows]), second.take_words(other_start[rows], length[rows])
    for (longer, left_word), (_, right_word) in zip(left, right, strict=True):
        equal[rows[longer]] &= left_word == right_word
    return equal


class ParsedNumbers(Struct, frozen=True):
    """Numbers parsed from tokens. `plain`: parsed at all; `exact`: `value` is the nearest float64 (otherwise within two
    units in the last place); `whole`: an integer."""

    value: FloatArray
    plain: BoolArray
    exact: BoolArray
    whole: BoolArray


def parse_numbers(text: IndexedText, start: IndexArray, length: IndexArray) -> ParsedNumbers:
    """Parse plain decimal numbers (`-12.5`) of up to 19 characters; others are not `plain`, see `parse_number`."""
    mantissa = np.zeros(len(start), dtype=np.uint64)
    decimals = np.zeros(len(start), dtype=np.int64)
    digits = np.zeros(len(start), dtype=np.uint8)
    points = np.zeros(len(start), dtype=np.uint8)
    at = start.copy()
    for index in range(min(int(length.max(initial=0)), LONGEST_PLAIN)):
        inside = length > index
        character = text.octets[at]
        at += 1
        digit = character - np.uint8(ord("0"))
        is_digit = (digit < 10) & inside
        mantissa = np.where(is_digit, mantissa * 10 + digit, mantissa)
        digits += is_digit
        is_point = (character == ord(".")) & inside
        if is_point.any():
            decimals = np.where(is_point, length - index - 1, decimals)
            points += is_point
    negative = text.octets[start] == ord("-")
    plain = (digits > 0) & (points < 2) & (digits.astype(np.int64) + points + negative == length)
    value = mantissa / _POWERS[np.where(plain, decimals, 0)]
    np.negative(value, where=negative, out=value)
    return ParsedNumbers(value, plain, plain & (mantissa < _EXACT), plain & (points == 0))


def parse_number(token: bytes) -> float | None:
    """Return the float64 nearest to a decimal number of any length; None if it is not a number or not finite.

    >>> parse_number(b"1e-3"), parse_number(b"nan"), parse_number(b"1e999")
    (0.001, None, None)
    """
    if _NUMBER.fullmatch(token) is None:
        return None
    value = float(token)
    return value if abs(value) != float("inf") else None


BOM = b"\xef\xbb\xbf"


class LineProblem(NamedTuple):
    """One problem of one line: `line` counts from 1, `field` is empty if the whole line is meant."""

    line: int
    field: str
    message: str
    code: str


class NormalisedLines(NamedTuple):
    """Lines in NFC, how many were not in NFC, and the problems of those that are not UTF-8; these are left empty."""

    data: bytes
    normalised: int
    problems: list[LineProblem]


def normalise_lines(raw: bytes, first_line: int) -> NormalisedLines:
    r"""Return lines in NFC, so that ids that look the same are equal. No line is removed, so line numbers are kept.

    >>> normalise_lines(b"1 Q0 a\xcc\x80\n", first_line=1).data == b"1 Q0 \xc3\xa0\n"
    True
    """
    if raw.isascii():
        return NormalisedLines(raw, 0, [])
    with suppress(UnicodeDecodeError):
        if unicodedata.is_normalized("NFC", raw.decode()):
            return NormalisedLines(raw, 0, [])
    lines, normalised, faults = raw.split(b"\n"), 0, []
    for index, line in enumerate(lines):
        if line.isascii():
            continue
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            got = f"got byte 0x{line[error.start]:02x} at byte {error.start + 1} of the line"
            faults.append(LineProblem(first_line + index, "", f"not UTF-8 ({got}; expected UTF-8 text)", "E_ENCODING"))
            lines[index] = b""
            continue
        if not unicodedata.is_normalized("NFC", text):
            lines[index] = unicodedata.normalize("NFC", text).encode()
            normalised += 1
    return NormalisedLines(b"\n".join(lines), normalised, faults)


_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


class FieldSpans(Struct, frozen=True):
    """The fields of n well-formed lines: byte positions `start` and `end` in `text`, of shape (n, columns), and `line`,
    the number of each line, of shape (n,)."""

    text: IndexedText
    start: IndexArray
    end: IndexArray
    line: IndexArray

    def __len__(self) -> int:
        return len(self.line)

    def column(self, column: int) -> tuple[IndexArray, IndexArray]:
        """Return start and length of each token of a column."""
        start = np.ascontiguousarray(self.start[:, column])
        return start, self.end[:, column] - start

    def tokens(self, rows: IndexArray, column: int) -> list[bytes]:
        """Return the tokens of a column in some lines."""
        return self.text.tokens(self.start[rows, column], self.end[rows, column])

    def find_changes(self, column: int) -> IndexArray:
        """Return the lines whose token in a column differs from that of the line before; the first line is included."""
        begins = np.ones(len(self), dtype=np.bool_)
        begins[1:] = differs_from_previous(self.text, *self.column(column))
        return np.flatnonzero(begins)

    def query_starts(self) -> tuple[IndexArray, list[bytes]]:
        """Return the first line of each sequence of lines with the same first field (the query), and that field."""
        first = self.find_changes(0)
        return first, self.tokens(first, 0)

    def take(self, lines: slice | IndexArray) -> FieldSpans:
        """Return some of the lines."""
        return FieldSpans(self.text, self.start[lines], self.end[lines], self.line[lines])


class LineBlock(NamedTuple):
    """Some lines of a file: the fields of the valid ones, the problems of the others, how many were not in NFC."""

    fields: FieldSpans
    problems: list[LineProblem]
    normalised: int


class ColumnLayout(Struct, frozen=True):
    """The columns of a line. Any number of blanks separates them, or exactly one tab where they are `tab_separated`.

    `open_ended` allows (and ignores) text after the last column, which tabs do not have.
    """

    names: Sequence[str]
    open_ended: bool = False
    tab_separated: bool = False

    @property
    def columns(self) -> int:
        """Number of fields in a line."""
        return len(self.names)


def split_fields(text: IndexedText, layout: ColumnLayout, first_line: int) -> tuple[FieldSpans, list[LineProblem]]:
    """Return the fields of every well-formed line and the problems of the others; blank lines are skipped.

    `text` must end in a newline. `first_line` is the number of its first line.
    """
    if layout.tab_separated:
        return _split_at_tabs(text, layout, first_line)
    regular = _split_regular(text, layout.columns, first_line)
    return (regular, []) if regular is not None else _split_any(text, layout, first_line)


def _split_regular(text: IndexedText, columns: int, first_line: int) -> FieldSpans | None:
    """Split lines in which exactly one blank follows each field; return None if a line is different."""
    octets, lines = text.octets[: text.size], text.lines
    end = np.flatnonzero(octets <= ord(" "))
    if len(end) != columns * lines or _controls(octets).any():
        return None
    start = np.zeros_like(end)
    start[1:] = end[:-1] + 1
    if not (end > start).all() or not (octets[end[columns - 1 :: columns]] == ord("\n")).all():
        return None
    shape = lines, columns
    return FieldSpans(text, start.reshape(shape), end.reshape(shape), np.arange(first_line, first_line + lines))


def _split_any(text: IndexedText, layout: ColumnLayout, first_line: int) -> tuple[FieldSpans, list[LineProblem]]:
    """Split lines with any number of blanks between fields."""
    octets = text.octets[: text.size]
    newline = np.flatnonzero(octets == ord("\n"))
    # Tokens begin and end where blanks become letters and letters become blanks.
    edges = np.flatnonzero(np.diff(octets <= ord(" "), prepend=True))
    start, end = edges[0::2], edges[1::2]
    field_count = np.bincount(np.searchsorted(newline, start), minlength=len(newline))
    malformed = (field_count > 0) & (field_count < layout.columns)
    if not layout.open_ended:
        malformed |= field_count > layout.columns
    malformed[np.searchsorted(newline, np.flatnonzero(_controls(octets)))] = True
    valid = np.flatnonzero((field_count > 0) & ~malformed)
    first_field = np.cumsum(field_count) - field_count
    tokens = first_field[valid, np.newaxis] + np.arange(layout.columns)
    faults = _describe_malformed_lines(text, np.flatnonzero(malformed), first_line, layout)
    return FieldSpans(text, start[tokens], end[tokens], first_line + valid), faults


def _split_at_tabs(text: IndexedText, layout: ColumnLayout, first_line: int) -> tuple[FieldSpans, list[LineProblem]]:
    """Split lines at each tab: fields may be empty or hold blanks, and a carriage return belongs to the line end."""
    octets = text.octets[: text.size]
    newline = np.flatnonzero(octets == ord("\n"))
    stop = np.flatnonzero((octets == ord("\t")) | (octets == ord("\n")))
    start = np.concatenate([[0], stop[:-1] + 1])
    field_count = np.bincount(np.searchsorted(newline, stop), minlength=len(newline))
    visible = np.bincount(np.searchsorted(newline, np.flatnonzero(octets > ord(" "))), minlength=len(newline))
    malformed = (visible > 0) & (field_count != layout.columns)
    malformed[np.searchsorted(newline, np.flatnonzero(_controls(octets)))] = True
    valid = np.flatnonzero((visible > 0) & ~malformed)
    first_field = np.cumsum(field_count) - field_count
    tokens = first_field[valid, np.newaxis] + np.arange(layout.columns)
    end = stop[tokens]
    end[:, -1] -= octets[np.maximum(end[:, -1] - 1, 0)] == ord("\r")
    faults = _describe_malformed_lines(text, np.flatnonzero(malformed), first_line, layout)
    return FieldSpans(text, start[tokens], end, first_line + valid), faults


def _describe_malformed_lines(
    text: IndexedText, malformed: IndexArray, first_line: int, layout: ColumnLayout
) -> list[LineProblem]:
    """Return the problem of each of some lines, which are given by their position in the text."""
    if not len(malformed):
        return []
    newline = np.flatnonzero(text.octets[: text.size] == ord("\n"))
    line_start = np.concatenate([[0], newline[:-1] + 1])
    lines = text.tokens(line_start[malformed], newline[malformed])
    return [
        _describe_malformed(line, first_line + index, layout)
        for line, index in zip(lines, malformed.tolist(), strict=True)
    ]


def _controls(octets: npt.NDArray[np.uint8]) -> BoolArray:
    """Return which bytes are control characters other than blanks."""
    return np.asarray((octets < ord("\t")) | (octets - np.uint8(0x0E) < ord(" ") - 0x0E), dtype=np.bool_)


def _describe_malformed(line: bytes, number: int, layout: ColumnLayout) -> LineProblem:
    control = _CONTROL.search(line)
    if control:
        got = f"got {shorten_repr(control[0].decode())} at byte {control.start() + 1} of the line"
        return LineProblem(number, "", f"control character ({got}; expected text)", "E_CONTROL")
    shown = line.decode().removesuffix("\r") if layout.tab_separated else line.decode().strip()
    separated = " separated by tabs" if layout.tab_separated else ""
    got = f"got {shorten_repr(shown, 60)}; expected {', '.join(layout.names)}{separated}"
    return LineProblem(number, "", f"wrong number of columns ({got})", "E_CELLS")


def iterate_query_blocks(
    file: BinaryIO, layout: ColumnLayout, size: int, stop: int | None = None
) -> Iterator[LineBlock]:
    """Yield the lines of a file from its current position up to `stop` in blocks of about `size` bytes.

    A block ends where the first field (the query) changes, so that adjacent lines of a query stay together; lines after
    the last change are kept for the next block. A query that is longer than a block makes the block longer.
    """
    held, tail, first_line, pending = b"", b"", 1, list[LineProblem]()
    is_last = False
    while not is_last:
        byte_count = max(size, len(held))
        chunk = file.read(byte_count if stop is None else min(byte_count, stop - file.tell()))
        complete, tail = _complete_lines(tail, chunk)
        is_last = not chunk or len(tail) > MAX_LINE_BYTES
        lines = normalise_lines(complete, first_line + held.count(b"\n"))
        text = IndexedText.of(held, lines.data)
        fields, malformed = split_fields(text, layout, first_line)
        pending += lines.problems
        if tail and is_last:
            got = f"got more than {MAX_LINE_BYTES} bytes; expected {MAX_LINE_BYTES} at most"
            pending.append(LineProblem(first_line + text.lines, "", f"line too long ({got})", "E_LINE_TOO_LONG"))
        keep = len(fields) if is_last else int(fields.find_changes(0).max(initial=0))
        next_line = first_line + text.lines if keep == len(fields) else int(fields.line[keep])
        faults = [fault for fault in (*pending, *malformed) if is_last or fault.line < next_line]
        yield LineBlock(fields.take(slice(0, keep)), faults, lines.normalised)
        # Problems of malformed lines are found again with the lines that are held back.
        pending = [fault for fault in pending if fault.line >= next_line]
        held = b"" if keep == len(fields) else text.data[int(fields.start[keep, 0]) : text.size]
        first_line = next_line


def _complete_lines(tail: bytes, chunk: bytes) -> tuple[bytes, bytes]:
    """Return the lines that a chunk completes, and the rest of it; an empty chunk completes the last line."""
    if not chunk:
        return (tail + b"\n" if tail else b""), b""
    cut = chunk.rfind(b"\n") + 1
    return (b"".join((tail, memoryview(chunk)[:cut])), chunk[cut:]) if cut else (b"", tail + chunk)
