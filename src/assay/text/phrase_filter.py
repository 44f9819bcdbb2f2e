"""A filter that marks texts which may hold one of many phrases, without looking at each phrase.

Texts are joined and mapped to ASCII letters and digits, which drops all other characters: ASCII texts with a table of
256 bytes, others with a folding table of 65,536 entries. Every six bytes are looked up by hash, and only the few hits
are compared letter by letter.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from assay.text.normalisation import fold_character, may_hold_other_script
from assay.text.refusal_lexicon import SHORTEST_PHRASE

LONG_HASH_LENGTH = 10
"""Number of letters and digits that a second hash compares, if the phrase has as many."""

_BLOCK = 64  # texts at a time: larger arrays need new memory pages and take 50% longer
_TEXT_END = "\uffff"  # between two texts; a noncharacter, so that hardly any text contains it
_ASCII_TEXT_END = "\x02"  # between two ASCII texts: a control character that hardly any text contains
_DROPPED_ASCII = bytes(code for code in range(128) if not chr(code).isalnum() and chr(code) != "\n")
_DROP, _TEXT_END_CODE, _OTHER_SCRIPT, _SEVERAL = 0, ord(_ASCII_TEXT_END), 3, 255
_LOWER_ASCII = bytes(range(256)).lower()
_DROPPED_BETWEEN_TEXTS = bytes(
    code for code in range(256) if not (chr(code).isalnum() and code < 128) and code != _TEXT_END_CODE
)
_WIDE_BITS = 20
_LATIN_RANGES = (
    range(0x250),
    range(0x1E00, 0x1F00),
    range(0x2120, 0x2130),
    range(0xFB00, 0xFB07),
)  # no others fold to ASCII
OTHER_SCRIPT_RANGES = (range(0x370, 0x1E00), range(0x1F00, 0x2000), range(0x2C80, 0xD800), range(0xF900, 0xFB00))


@cache
def _other_script_letter() -> re.Pattern[str]:
    ranges = "".join(f"{chr(codes.start)}-{chr(codes.stop - 1)}" for codes in OTHER_SCRIPT_RANGES)
    return re.compile(f"[{ranges}]")


def has_other_script(text: str) -> bool:
    """Return whether a text has a letter of a script that is not Latin."""
    return may_hold_other_script(text) and _other_script_letter().search(text) is not None


def count_other_script_letters(text: str) -> int:
    """Return how many letters of a text are of a script that is not Latin."""
    return len(_other_script_letter().findall(text)) if may_hold_other_script(text) else 0


@cache
def _folding_table() -> npt.NDArray[np.uint8]:
    """Return the code of every UTF-16 unit: its ASCII letter or digit, `_SEVERAL` where it folds to more, or
    `_OTHER_SCRIPT` for letters of scripts that the filter cannot look into.

    Surrogates (all characters beyond 65,535) are dropped: none of those folds to ASCII.
    """
    table = np.full(0x10000, _DROP, np.uint8)
    for codes in OTHER_SCRIPT_RANGES:
        table[codes.start : codes.stop] = _OTHER_SCRIPT
    for code in itertools.chain(*_LATIN_RANGES):
        folded = "".join(c for c in fold_character(chr(code)) if c.isascii() and c.isalnum())
        if folded:
            table[code] = ord(folded) if len(folded) == 1 else _SEVERAL
    table[ord(_TEXT_END)] = _TEXT_END_CODE
    return table


_Hashes = npt.NDArray[np.uint16]
_WideHashes = npt.NDArray[np.uint32]
_STEP = np.uint16(40503)  # arithmetic on 16 bits wraps around on purpose


def _hashes(folded: bytes) -> tuple[_Hashes, _Hashes]:
    """Return the hash of the `SHORTEST_PHRASE` bytes from each byte on, and that of four bytes, which `_long_hashes`
    needs.
    """
    wide = np.frombuffer(folded + bytes(LONG_HASH_LENGTH - 1), np.uint8).astype(np.uint16)
    two = wide[:-1] * np.uint16(251)
    two += wide[1:]
    four: _Hashes = two[:-2] * _STEP
    four += two[2:]
    six: _Hashes = four[:-2] * _STEP
    six += two[4:]
    return six[: len(folded)], four


def _mix(first: _Hashes, second: _Hashes) -> _WideHashes:
    """Return hashes of 20 bits, which few strings share, from two of 16 bits."""
    mixed = first.astype(np.uint32) * np.uint32(2654435761)
    mixed ^= second.astype(np.uint32) * np.uint32(2246822519)
    hashes: _WideHashes = mixed >> np.uint32(32 - _WIDE_BITS)
    return hashes


def _short_hashes(six: _Hashes, four: _Hashes, positions: npt.NDArray[np.intp]) -> _WideHashes:
    """Return the wide hash of the `SHORTEST_PHRASE` bytes from each position on."""
    return _mix(six[positions], four[positions])


def _long_hashes(six: _Hashes, four: _Hashes, positions: npt.NDArray[np.intp]) -> _WideHashes:
    """Return the wide hash of the `LONG_HASH_LENGTH` bytes from each position on."""
    return _mix(six[positions], four[positions + SHORTEST_PHRASE])


class PhraseFilter:
    """Marks texts that may contain one of the phrases: without false negatives and with few false positives.

    >>> can_hold = PhraseFilter(["khong co quyen", "access denied"])
    >>> can_hold(["Bạn KHÔNG\\ncó quyền xem.", "12 ngày", "", "ACCE\\u0301SS denied"]).tolist()
    [True, False, True, True]
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        """`phrases` are folded text, each with at least `SHORTEST_PHRASE` letters and digits (ValueError otherwise)."""
        prefixes: list[bytes] = []
        self._by_start: dict[bytes, list[bytes]] = {}
        all_phrases = "\n".join(phrases).encode("ascii")
        for phrase in sorted(set(all_phrases.translate(None, _DROPPED_ASCII).split(b"\n"))):
            if len(phrase) < SHORTEST_PHRASE:
                raise ValueError(f"phrase too short to filter by: {phrase!r}")
            if not prefixes or not phrase.startswith(
                prefixes[-1]
            ):  # otherwise the shorter phrase, sorted before it, finds it too
                prefixes.append(phrase)
                start = phrase[: LONG_HASH_LENGTH if len(phrase) >= LONG_HASH_LENGTH else SHORTEST_PHRASE]
                self._by_start.setdefault(start, []).append(phrase)
        self._known_hashes = np.zeros(0x10000, np.bool_)
        self._known_long_hashes, self._known_short_hashes = np.zeros((2, 1 << _WIDE_BITS), np.bool_)
        six, four = _hashes(b"".join(phrase[:LONG_HASH_LENGTH].ljust(LONG_HASH_LENGTH, b"\0") for phrase in prefixes))
        places = np.arange(len(prefixes)) * LONG_HASH_LENGTH
        is_long = np.array([len(phrase) >= LONG_HASH_LENGTH for phrase in prefixes])
        self._known_hashes[six[places]] = True
        self._known_short_hashes[_short_hashes(six, four, places[~is_long])] = True
        self._known_long_hashes[_long_hashes(six, four, places[is_long])] = True
        self._table = _folding_table()

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return, shape (n,), whether each text may contain a phrase; also true for texts without a Latin character,
        and for those with a letter of another script."""
        may_hold = np.zeros(len(texts), np.bool_)
        is_ascii = list(map(str.isascii, texts))
        for choice, filter_block in ((True, self._filter_ascii_block), (False, self._filter_block)):
            rows = [row for row, is_chosen in enumerate(is_ascii) if is_chosen is choice]
            for first in range(0, len(rows), _BLOCK):
                block = rows[first : first + _BLOCK]
                may_hold[block] = filter_block([texts[row] for row in block])
        return may_hold

    def _filter_ascii_block(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        joined = _ASCII_TEXT_END.join(texts).encode()
        if joined.count(_ASCII_TEXT_END.encode()) != len(texts) - 1:
            return self._filter_block(texts)
        return self._filter_folded(joined.translate(_LOWER_ASCII, _DROPPED_BETWEEN_TEXTS), len(texts))

    def _filter_block(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        units = np.frombuffer(_TEXT_END.join(texts).encode("utf-16-le", "surrogatepass"), "<u2")
        folded = self._table.take(units, mode="clip").tobytes().translate(None, bytes([_DROP]))
        if folded.count(_TEXT_END_CODE) != len(texts) - 1:
            return self._filter_block([text.replace(_TEXT_END, "") for text in texts])
        return self._filter_folded(folded, len(texts))

    def _filter_folded(self, folded: bytes, text_count: int) -> npt.NDArray[np.bool_]:
        """Return, shape (text_count,), whether each of the folded texts, with marks between them, may hold a phrase."""
        data = np.frombuffer(folded, np.uint8)
        ends = np.append(np.flatnonzero(data == _TEXT_END_CODE), len(data))
        may_hold: npt.NDArray[np.bool_] = np.diff(ends, prepend=-1) == 1
        may_hold[np.searchsorted(ends, self._hit_positions(folded))] = True
        return may_hold

    def _hit_positions(self, folded: bytes) -> list[int]:
        """Return the positions of phrases, of characters that fold to several letters, and of other scripts."""
        hits: list[int] = []
        for code in (_SEVERAL, _OTHER_SCRIPT):
            if bytes([code]) in folded:
                hits += np.flatnonzero(np.frombuffer(folded, np.uint8) == code).tolist()
        six, four = _hashes(folded)
        positions = np.flatnonzero(self._known_hashes.take(six.astype(np.intp)))
        positions = positions[
            self._known_long_hashes[_long_hashes(six, four, positions)]
            | self._known_short_hashes[_short_hashes(six, four, positions)]
        ]
        for position in positions.tolist():
            start = folded[position : position + LONG_HASH_LENGTH]
            phrases = self._by_start.get(start) or self._by_start.get(start[:SHORTEST_PHRASE])
            if phrases is not None and folded.startswith(tuple(phrases), position):
                hits.append(position)
        return hits
