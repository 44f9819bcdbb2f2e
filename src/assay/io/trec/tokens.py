"""Tokens of a text as arrays: a token is a place and a length, and many are compared, keyed or read at once.

Ids are compared eight bytes at a time; a key only narrows the search, equality is always verified byte by byte.
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

WORD = 8
ROOM = 24
_KEEP = np.array([(1 << 8 * size) - 1 for size in range(WORD + 1)], dtype=np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)

LONGEST_PLAIN = 19  # so many digits always fit into 64 bits
_EXACT = np.uint64(2**53)
_POWERS = np.array([float(10**power) for power in range(LONGEST_PLAIN + 1)])
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Text:
    """Whole lines, `size` bytes; zero bytes follow in `data`, so that words and numbers can be read at any place."""

    data: bytes
    size: int
    octets: npt.NDArray[np.uint8]
    words: Keys

    @classmethod
    def of(cls, *parts: bytes) -> Text:
        """Make the arrays over the parts, one after the other."""
        data = b"".join((*parts, bytes(ROOM)))
        octets = np.frombuffer(data, dtype=np.uint8)
        words: Keys = np.ndarray((len(data) - WORD + 1,), dtype="<u8", buffer=octets, strides=(1,))
        return cls(data, len(data) - ROOM, octets, words)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to another process as bytes: the overlapping words would be eight times as many."""
        return Text.of, (self.data[: self.size],)

    @property
    def lines(self) -> int:
        """How many lines the text has."""
        return int(np.count_nonzero(self.octets[: self.size] == ord("\n")))

    def tokens(self, start: Places, end: Places) -> list[bytes]:
        """Return the bytes from each start to its end."""
        data = self.data
        return [data[begin:stop] for begin, stop in zip(start.tolist(), end.tolist(), strict=True)]

    def take_words(self, start: Places, length: Places) -> Iterator[tuple[Places | slice, Keys]]:
        """Yield, for every eight bytes of the longest token, which tokens reach so far and their next word.

        The last word of a token is filled up with zero bytes.
        """
        longest = int(length.max(initial=0))
        shortest = int(length.min(initial=longest))
        for place in range(0, longest, WORD):
            rows: Places | slice = slice(None) if shortest > place else np.flatnonzero(length > place)
            word = self.words[start[rows] + place]
            if shortest == longest < place + WORD:
                word &= _KEEP[longest - place]
            elif shortest < place + WORD:
                word &= _KEEP[np.minimum(length[rows] - place, WORD)]
            yield rows, word


def keys(text: Text, start: Places, length: Places, group: Places) -> Keys:
    """Return for each token its group, in the upper half, and 32 bits of hash: equal keys do not prove equal tokens."""
    mixed = length.astype(np.uint64)
    for rows, word in text.take_words(start, length):
        product = (mixed[rows] ^ word) * _MIX
        mixed[rows] = product ^ (product >> HALF)
    return np.asarray((group.astype(np.uint64) << HALF) | ((mixed * _MIX) >> HALF), dtype=np.uint64)


def changes(text: Text, start: Places, length: Places) -> Bools:
    """Return for each token but the first whether it differs from the one before."""
    differs = np.asarray(length[1:] != length[:-1], dtype=np.bool_)
    for rows, word in text.take_words(start, length):
        whole = word
        if not isinstance(rows, slice):
            whole = np.zeros(len(length), dtype=np.uint64)
            whole[rows] = word
        differs |= whole[1:] != whole[:-1]
    return differs


def same(one: Text, start: Places, length: Places, two: Text, other_start: Places, other_length: Places) -> Bools:
    """Return which tokens of one text equal those of the other, byte by byte."""
    equal = np.asarray(length == other_length, dtype=np.bool_)
    rows = np.flatnonzero(equal)
    left, right = one.take_words(start[rows], length[rows]), two.take_words(other_start[rows], length[rows])
    for (reached, word), (_, other) in zip(left, right, strict=True):
        equal[rows[reached]] &= word == other
    return equal


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers read from tokens. `plain`: could be read here at all; `exact`: `value` is the nearest float64 (else it is
    within two units in the last place); `whole`: an integer."""

    value: Floats
    plain: Bools
    exact: Bools
    whole: Bools


def read_numbers(text: Text, start: Places, length: Places) -> Numbers:
    """Read plain decimal numbers (`-12.5`) of up to 19 characters; anything else is left to `read_number`."""
    mantissa = np.zeros(len(start), dtype=np.uint64)
    decimals = np.zeros(len(start), dtype=np.int64)
    digits = np.zeros(len(start), dtype=np.uint8)
    points = np.zeros(len(start), dtype=np.uint8)
    at = start.copy()
    for place in range(min(int(length.max(initial=0)), LONGEST_PLAIN)):
        inside = length > place
        character = text.octets[at]
        at += 1
        digit = character - np.uint8(ord("0"))
        is_digit = (digit < 10) & inside
        mantissa = np.where(is_digit, mantissa * 10 + digit, mantissa)
        digits += is_digit
        is_point = (character == ord(".")) & inside
        if is_point.any():
            decimals = np.where(is_point, length - place - 1, decimals)
            points += is_point
    negative = text.octets[start] == ord("-")
    plain = (digits > 0) & (points < 2) & (digits.astype(np.int64) + points + negative == length)
    value = mantissa / _POWERS[np.where(plain, decimals, 0)]
    np.negative(value, where=negative, out=value)
    return Numbers(value, plain, plain & (mantissa < _EXACT), plain & (points == 0))


def read_number(token: bytes) -> float | None:
    """Return the float64 nearest to a decimal number of any length; None where the token is not one, or not finite.

    >>> read_number(b"1e-3"), read_number(b"nan"), read_number(b"1e999")
    (0.001, None, None)
    """
    if _NUMBER.fullmatch(token) is None:
        return None
    value = float(token)
    return value if abs(value) != float("inf") else None
