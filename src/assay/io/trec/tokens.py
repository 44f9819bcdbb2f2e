"""Tokens of a text as arrays of start and length, so that many are compared, hashed or parsed at once.

Ids are compared eight bytes at a time. Equal hashes only narrow a search; equality is always verified byte by byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

WORD = 8  # bytes that are compared at once
ROOM = 24  # zero bytes after a text, so that a word can be read at its last byte
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(WORD + 1)], dtype=np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)

LONGEST_PLAIN = 19  # the number of digits that always fit into 64 bits
_EXACT = np.uint64(2**53)
_POWERS = np.array([float(10**power) for power in range(LONGEST_PLAIN + 1)])
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Text:
    """Complete lines of `size` bytes, followed in `data` by zero bytes so that words can be read at any position.

    `octets` has the bytes, `words` the eight bytes from each position as one number.
    """

    data: bytes
    size: int
    octets: npt.NDArray[np.uint8]
    words: Keys

    @classmethod
    def of(cls, *parts: bytes) -> Text:
        """Make the arrays for the concatenated parts."""
        data = b"".join((*parts, bytes(ROOM)))
        octets = np.frombuffer(data, dtype=np.uint8)
        words: Keys = np.ndarray((len(data) - WORD + 1,), dtype="<u8", buffer=octets, strides=(1,))
        return cls(data, len(data) - ROOM, octets, words)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the bytes only: the overlapping words would take eight times as many."""
        return Text.of, (self.data[: self.size],)

    @property
    def lines(self) -> int:
        """Number of lines."""
        return int(np.count_nonzero(self.octets[: self.size] == ord("\n")))

    def tokens(self, start: Places, end: Places) -> list[bytes]:
        """Return the bytes from each start to its end."""
        data = self.data
        return [data[begin:stop] for begin, stop in zip(start.tolist(), end.tolist(), strict=True)]

    def take_words(self, start: Places, length: Places) -> Iterator[tuple[Places | slice, Keys]]:
        """Yield the tokens word by word: which tokens are long enough to have the word, and the word of each.

        The last word of a token is padded with zero bytes.
        """
        longest = int(length.max(initial=0))
        shortest = int(length.min(initial=longest))
        for offset in range(0, longest, WORD):
            rows: Places | slice = slice(None) if shortest > offset else np.flatnonzero(length > offset)
            word = self.words[start[rows] + offset]
            if shortest == longest < offset + WORD:
                word &= _MASKS[longest - offset]
            elif shortest < offset + WORD:
                word &= _MASKS[np.minimum(length[rows] - offset, WORD)]
            yield rows, word


def keys(text: Text, start: Places, length: Places, group: Places) -> Keys:
    """Return a key for each token: its group in the upper 32 bits and a hash, which may collide, in the lower ones."""
    mixed = length.astype(np.uint64)
    for rows, word in text.take_words(start, length):
        product = (mixed[rows] ^ word) * _MIX
        mixed[rows] = product ^ (product >> HALF)
    return np.asarray((group.astype(np.uint64) << HALF) | ((mixed * _MIX) >> HALF), dtype=np.uint64)


def changes(text: Text, start: Places, length: Places) -> Bools:
    """Return for each token but the first whether it differs from the one before."""
    differs = np.asarray(length[1:] != length[:-1], dtype=np.bool_)
    for rows, word in text.take_words(start, length):
        words = word
        if not isinstance(rows, slice):
            words = np.zeros(len(length), dtype=np.uint64)
            words[rows] = word
        differs |= words[1:] != words[:-1]
    return differs


def same(one: Text, start: Places, length: Places, two: Text, other_start: Places, other_length: Places) -> Bools:
    """Return which tokens of text `one` equal the corresponding tokens of text `two`, byte by byte."""
    equal = np.asarray(length == other_length, dtype=np.bool_)
    rows = np.flatnonzero(equal)
    left, right = one.take_words(start[rows], length[rows]), two.take_words(other_start[rows], length[rows])
    for (longer, left_word), (_, right_word) in zip(left, right, strict=True):
        equal[rows[longer]] &= left_word == right_word
    return equal


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers parsed from tokens. `plain`: parsed at all; `exact`: `value` is the nearest float64 (otherwise within two
    units in the last place); `whole`: an integer."""

    value: Floats
    plain: Bools
    exact: Bools
    whole: Bools


def read_numbers(text: Text, start: Places, length: Places) -> Numbers:
    """Parse plain decimal numbers (`-12.5`) of up to 19 characters; others are not `plain`, see `read_number`."""
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
    return Numbers(value, plain, plain & (mantissa < _EXACT), plain & (points == 0))


def read_number(token: bytes) -> float | None:
    """Return the float64 nearest to a decimal number of any length; None if it is not a number or not finite.

    >>> read_number(b"1e-3"), read_number(b"nan"), read_number(b"1e999")
    (0.001, None, None)
    """
    if _NUMBER.fullmatch(token) is None:
        return None
    value = float(token)
    return value if abs(value) != float("inf") else None
