"""A filter that marks texts which may hold one of many phrases, without looking at each phrase.

Texts are joined and folded to ASCII byte by byte: letters and digits, spaces, apostrophes and hyphens; every other
character becomes one mark. ASCII texts take a table of 256 bytes, others one of 65,536 entries. A phrase begins where a
word begins, so only the seven bytes from there on are looked up by hash, and those that pass are compared letter by
letter. Negations are contracted in the phrases, not spelled out in the texts: phrases are folded once. A few short
texts are looked up one by one, because every call on an array takes longer than that.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from assay.text.normalisation import fold_character, may_hold_other_script
from assay.text.pattern_cache import compile_pattern
from assay.text.refusals.refusal_lexicon import SHORTEST_PHRASE

_FEW_CHARACTERS = 1_000  # of all texts: from there on arrays are faster
_BLOCK_CHARACTERS = 120_000  # at a time: every block takes some calls, and larger arrays need new memory pages
_TEXT_END = "\uffff"  # between two texts; a noncharacter, so that hardly any text contains it
_ASCII_TEXT_END = "\x02"  # between two ASCII texts: a control character that hardly any text contains
_TEXT_END_CODE, _OTHER_SCRIPT, _MARK, _DROPPED, _SEVERAL = 2, 3, ord(","), 127, 255
_SPACE, _FIRST_LETTER = ord(" "), ord("0")
"""All marks are below, all digits and letters from `_FIRST_LETTER` on."""
_FIRST_KEY, _LONGER_KEYS = 7, (10, 13)
"""Bytes of a phrase that the first look-up compares, and the second one if the phrase has as many."""
_PADDING = 8  # bytes that are read beyond a position, whatever the length of a phrase
_FIRST_BITS, _LONGER_BITS = 16, 20  # a small table fits the cache; few places get to the others
_STEP = np.uint64(0x9E3779B97F4A7C15)  # arithmetic on 64 bits wraps around on purpose
_FIRST_MASK = np.uint64((1 << 8 * _FIRST_KEY) - 1)
_UNIT_SIGNS = (range(0x3A9, 0x3AA), range(0x3BC, 0x3BD), range(0x3C9, 0x3CA))  # ohm and micro are no Greek text
OTHER_SCRIPT_RANGES = (
    *(range(0x370, 0x3A9), range(0x3AA, 0x3BC), range(0x3BD, 0x3C9), range(0x3CA, 0x1E00)),
    *(range(0x1F00, 0x2000), range(0x2C80, 0xD800), range(0xF900, 0xFB00)),
)
_LATIN_AND_SIGN_RANGES = (
    *(range(0x370), *_UNIT_SIGNS, range(0x1E00, 0x1F00)),
    *(range(0x2000, 0x2C80), range(0xFB00, 0x10000)),
)
"""Characters between the other scripts, which fold to letters, marks or nothing, without surrogates."""
_SURROGATES = range(0xD800, 0xDC00)
_SIGN_SURROGATES = (0xD835, 0xD83C, 0xD83D, 0xD83E)
"""Of letters for mathematics and of pictures, none of which folding drops; other planes have such as it does."""
_WORD_STARTS = re.compile(rb"(?=(.{7}))[0-\xff]+", re.DOTALL)
_NEGATION_STARTS = re.compile(rb"(?:(?=n't)|(?<=can)(?=not))(?=(.{7}))", re.DOTALL)
"""Where a phrase may begin in a folded text, with the first bytes from there on."""
_SPACES = re.compile(rb"  +")
_CONTRACTIONS = (
    (compile_pattern(r"\bcan not\b"), ("cannot", "can't")),
    (compile_pattern(r"\bwill not\b"), ("won't",)),
    (compile_pattern(r"(?<=[a-z0-9]) not\b"), ("n't",)),
    (compile_pattern(r"^not\b"), ("n't",)),
)


def _fold_code(character: str) -> int:
    """Return the byte that the filter has for a character."""
    folded = fold_character(character)
    if len(folded) == 1 and folded.isascii() and (folded.isalnum() or folded in " '-"):
        return ord(folded)
    if not folded:
        return _DROPPED
    if not folded.isascii() and any(ord(letter) in codes for letter in folded for codes in OTHER_SCRIPT_RANGES):
        return _OTHER_SCRIPT
    return _SEVERAL if any(letter.isascii() and letter.isalnum() for letter in folded) else _MARK


def _fold_ascii_code(code: int) -> int:
    """Return the byte for an ASCII character; a text of them is folded without dropping any."""
    folded = _fold_code(chr(code))
    return _MARK if folded == _DROPPED else folded


@cache
def _ascii_table() -> bytes:
    """Return the byte of every ASCII character; other bytes and the end of a text stay."""
    return bytes(code if code >= 128 or code == _TEXT_END_CODE else _fold_ascii_code(code) for code in range(256))


@cache
def _other_script_letter() -> re.Pattern[str]:
    ranges = "".join(f"{chr(codes.start)}-{chr(codes.stop - 1)}" for codes in OTHER_SCRIPT_RANGES)
    return compile_pattern(f"[{ranges}]")


def has_other_script(text: str) -> bool:
    """Return whether a text has a letter of a script that is not Latin."""
    return may_hold_other_script(text) and _other_script_letter().search(text) is not None


def count_other_script_letters(text: str) -> int:
    """Return how many letters of a text are of a script that is not Latin."""
    return len(_other_script_letter().findall(text)) if may_hold_other_script(text) else 0


@cache
def _folding_table() -> npt.NDArray[np.uint8]:
    """Return the byte of every UTF-16 unit: its ASCII letter, digit or mark, `_SEVERAL` where it folds to more, or
    `_OTHER_SCRIPT` for letters of scripts that the filter cannot look into."""
    table = np.full(0x10000, _MARK, np.uint8)
    for codes in _LATIN_AND_SIGN_RANGES:
        table[codes.start : codes.stop] = [_fold_code(chr(code)) for code in codes]
    for codes in OTHER_SCRIPT_RANGES:
        table[codes.start : codes.stop] = _OTHER_SCRIPT
    table[[code for code in _SURROGATES if code not in _SIGN_SURROGATES]] = _SEVERAL
    table[ord(_TEXT_END)] = _TEXT_END_CODE
    return table


def _fold_units(text: str) -> bytes:
    """Return the folded text by its UTF-16 units."""
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    return _folding_table().take(units, mode="clip").tobytes().translate(None, bytes([_DROPPED]))


_Keys = npt.NDArray[np.uint64]
_Positions = npt.NDArray[np.intp]


def _read_bytes(folded: bytes, positions: _Positions) -> _Keys:
    """Return the eight bytes from each position on as a number."""
    return np.ndarray((len(folded) - 7,), "<u8", folded, strides=(1,))[positions]


def _hash_longer(folded: bytes, positions: _Positions, first: _Keys, length: int) -> _Positions:
    """Return the hashes of `length` bytes from each position on, more than eight, of which the first ones are known."""
    return _hash((first * _STEP) ^ _read_bytes(folded, positions + (length - 8)), _LONGER_BITS)


def _hash(keys: _Keys, bits: int = _FIRST_BITS) -> _Positions:
    hashes: _Positions = (keys * _STEP >> np.uint64(64 - bits)).astype(np.intp)
    return hashes


def _spell_negations(phrase: str) -> list[str]:
    """Return a folded phrase in every spelling of its "not"s that `normalise_answer` spells out.

    >>> _spell_negations("i can not find"), _spell_negations("not sure")
    (['i can not find', 'i cannot find', "i can't find", "i cann't find"], ['not sure', "n't sure"])
    """
    spellings = [phrase]
    if "not" not in phrase:
        return spellings
    for spelling in spellings:  # grows: a phrase may hold several
        for pattern, contractions in _CONTRACTIONS:
            for match in pattern.finditer(spelling):
                contracted = [spelling[: match.start()] + short + spelling[match.end() :] for short in contractions]
                spellings += [candidate for candidate in contracted if candidate not in spellings]
    return spellings


class PhraseFilter:
    """Marks texts that may contain one of the phrases: without false negatives and with few false positives.

    >>> can_hold = PhraseFilter(["khong co quyen", "access denied"])
    >>> can_hold(["Bạn KHÔNG\\ncó quyền xem.", "12 ngày", "", "ACCE\\u0301SS denied"]).tolist()
    [True, False, True, True]
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        """`phrases` are folded text of two words or more, with negations spelled out, each with at least
        `SHORTEST_PHRASE` letters and digits (ValueError otherwise)."""
        spellings: set[bytes] = set()
        for phrase in phrases:
            if sum(map(str.isalnum, phrase)) < SHORTEST_PHRASE or len(phrase) < _FIRST_KEY:
                raise ValueError(f"phrase too short to filter by: {phrase!r}")
            spellings.update(
                spelling.encode("ascii").translate(_ascii_table()) for spelling in _spell_negations(phrase)
            )
        prefixes: list[bytes] = []
        for spelling in sorted(spellings):
            if not prefixes or not spelling.startswith(prefixes[-1]):  # otherwise the shorter one finds it too
                prefixes.append(spelling)
        self._short_spellings = [prefix for prefix in prefixes if len(prefix) < _FIRST_KEY]  # "i can't"
        self._by_start: dict[bytes, tuple[bytes, ...]] = {}
        for start, same_start in itertools.groupby(prefixes, key=_take_start):
            self._by_start[start] = tuple(same_start)
        self._holds_first, self._holds_short = np.zeros((2, 1 << _FIRST_BITS), np.bool_)
        self._holds_longer = {length: np.zeros(1 << _LONGER_BITS, np.bool_) for length in _LONGER_KEYS}
        width = max(_LONGER_KEYS)
        start_text = b"".join(prefix[:width].ljust(width, b"\0") for prefix in prefixes) + bytes(_PADDING)
        positions = np.arange(len(prefixes)) * width
        first = _read_bytes(start_text, positions) & _FIRST_MASK
        self._holds_first[_hash(first)] = True
        key_lengths = np.array([_choose_key_length(prefix) for prefix in prefixes])
        self._holds_short[_hash(first[key_lengths == _FIRST_KEY])] = True
        for length, holds in self._holds_longer.items():
            chosen = key_lengths == length
            holds[_hash_longer(start_text, positions[chosen], first[chosen], length)] = True

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return, shape (n,), whether each text may contain a phrase; also true for texts without a Latin letter or a
        digit, and for those with a letter of another script."""
        if sum(map(len, texts)) <= _FEW_CHARACTERS:
            return np.array([self._may_hold(text) for text in texts], np.bool_)
        may_hold = np.zeros(len(texts), np.bool_)
        is_ascii = np.fromiter(map(str.isascii, texts), np.bool_, len(texts))
        sizes = np.fromiter(map(len, texts), np.intp, len(texts))
        for rows, filter_block in (
            (np.flatnonzero(is_ascii), self._filter_ascii_block),
            (np.flatnonzero(~is_ascii), self._filter_block),
        ):
            block_numbers = np.cumsum(sizes[rows]) // _BLOCK_CHARACTERS
            for block in np.split(rows, np.flatnonzero(np.diff(block_numbers)) + 1):
                if len(block):
                    may_hold[block] = filter_block([texts[row] for row in block.tolist()])
        return may_hold

    def _may_hold(self, text: str) -> bool:
        """Return for one text what the blocks below say of it."""
        is_plain = text.isascii() and _ASCII_TEXT_END not in text
        folded = text.encode().translate(_ascii_table()) if is_plain else _fold_units(text.replace(_TEXT_END, ""))
        if _OTHER_SCRIPT in folded or _SEVERAL in folded or not max(folded, default=0) >= _FIRST_LETTER:
            return True
        folded = _SPACES.sub(b" ", folded)
        if any(spelling in folded for spelling in self._short_spellings):
            return True
        padded = folded + bytes(_FIRST_KEY)
        for starts in (_WORD_STARTS, _NEGATION_STARTS):
            if self._by_start.keys().isdisjoint(starts.findall(padded)):
                continue
            for match in starts.finditer(padded):
                if padded.startswith(self._by_start.get(match[1], ()), match.start()):
                    return True
        return False

    def _filter_ascii_block(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        joined = _ASCII_TEXT_END.join(texts).encode()
        if joined.count(_TEXT_END_CODE) != len(texts) - 1:
            return self._filter_block(texts)
        return self._filter_folded(joined.translate(_ascii_table()), len(texts))

    def _filter_block(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        folded = _fold_units(_TEXT_END.join(texts))
        if folded.count(_TEXT_END_CODE) != len(texts) - 1:
            return self._filter_block([text.replace(_TEXT_END, "") for text in texts])
        return self._filter_folded(folded, len(texts))

    def _filter_folded(self, folded: bytes, text_count: int) -> npt.NDArray[np.bool_]:
        """Return, shape (text_count,), whether each of the folded texts, with marks between them, may hold a phrase."""
        data = _squeeze_spaces(np.frombuffer(b"\2" + folded + b"\2" * (max(_LONGER_KEYS) + _PADDING), np.uint8))
        folded = data.tobytes()
        ends = np.flatnonzero(data == _TEXT_END_CODE)[1 : text_count + 1]
        is_letter = data >= _FIRST_LETTER
        starts = np.flatnonzero(is_letter[1:] > is_letter[:-1]) + 1
        may_hold: npt.NDArray[np.bool_] = np.diff(np.searchsorted(starts, ends), prepend=0) == 0
        may_hold[np.searchsorted(ends, self._find_hits(folded, data, starts))] = True
        return may_hold

    def _find_hits(self, folded: bytes, data: npt.NDArray[np.uint8], starts: _Positions) -> list[int]:
        """Return the positions of phrases, of characters that fold to several letters, and of other scripts."""
        hits: list[int] = []
        for code in (_SEVERAL, _OTHER_SCRIPT):
            if code in folded:
                hits += np.flatnonzero(data == code).tolist()
        for spelling in self._short_spellings:
            hits += [match.start() for match in re.finditer(re.escape(spelling), folded)]
        for positions in (starts, _find_negations(folded, data)):
            for position in self._find_candidates(folded, positions):
                phrases = self._by_start.get(folded[position : position + _FIRST_KEY])
                if phrases is not None and folded.startswith(phrases, position):
                    hits.append(position)
        return hits

    def _find_candidates(self, folded: bytes, positions: _Positions) -> list[int]:
        """Return those of the positions at which the hashes of a phrase are found."""
        first = _read_bytes(folded, positions) & _FIRST_MASK
        hashes = _hash(first)
        may_start = np.flatnonzero(self._holds_first[hashes])
        positions, first = positions[may_start], first[may_start]
        is_candidate = self._holds_short[hashes[may_start]]
        for length, holds in self._holds_longer.items():
            is_candidate |= holds[_hash_longer(folded, positions, first, length)]
        candidates: list[int] = positions[is_candidate].tolist()
        return candidates


def _choose_key_length(phrase: bytes) -> int:
    """Return the number of bytes by which a phrase is looked up."""
    return max((length for length in _LONGER_KEYS if length <= len(phrase)), default=_FIRST_KEY)


def _take_start(phrase: bytes) -> bytes:
    return phrase[:_FIRST_KEY]


def _squeeze_spaces(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a folded text with every run of spaces as one."""
    is_space = data == _SPACE
    is_repeated = is_space[1:] & is_space[:-1]
    if not is_repeated.any():
        return data
    squeezed: npt.NDArray[np.uint8] = data[np.append(True, ~is_repeated)]
    return squeezed


def _find_negations(folded: bytes, data: npt.NDArray[np.uint8]) -> _Positions:
    """Return where "n't" and the "not" of "cannot" begin, which are spelled out as words of their own."""
    quotes = np.flatnonzero(data == ord("'"))
    contracted: _Positions = quotes[(data[quotes - 1] == ord("n")) & (data[quotes + 1] == ord("t"))] - 1
    if b"cannot" not in folded:
        return contracted
    return np.append(contracted, [match.start() + len("can") for match in re.finditer(b"cannot", folded)])
