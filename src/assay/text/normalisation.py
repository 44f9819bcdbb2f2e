"""Normalise text for comparison: fold case, diacritics, quotes, dashes and whitespace.

Folding is defined for single characters, so that the phrase filter can use the same definition as a lookup table.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from assay.text.pattern_cache import compile_pattern
from assay.text.text_cache import cache_by_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_READ = 200_000
"""Characters of an answer in which claims, facts, keywords and refusals are sought. A scoring says if it has more."""

_SPELLINGS = {
    **dict.fromkeys("‘’‚‛ʼʹ′`´", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "\u200b": " ",  # the zero-width space separates words; joiners, BOM and soft hyphen do not
    "đ": "d",
}

_BEYOND_LATIN = compile_pattern("[^\0-\u036f\u1e00-\u1eff\u2000-\u2c7f]")


def may_hold_other_script(text: str) -> bool:
    """Return whether a text has characters beyond Latin letters, punctuation and symbols.

    A first look before sets of the letters of other scripts, which take five milliseconds each to compile.

    >>> may_hold_other_script("Đọc “12 €”…"), may_hold_other_script("値段")
    (False, True)
    """
    return not text.isascii() and _BEYOND_LATIN.search(text) is not None


def fold_character(character: str) -> str:
    """Return the folded form of one character: lower case without diacritics, "" for marks and invisible characters.

    >>> fold_character("Ệ"), fold_character("Đ"), fold_character("\\u0301"), fold_character("ß")
    ('e', 'd', '', 'ss')
    """
    if character in _SPELLINGS:
        return _SPELLINGS[character]
    if character.isspace():
        return " "
    base = unicodedata.normalize("NFD", character.casefold())
    return "".join(_SPELLINGS.get(c, c) for c in base if unicodedata.category(c) not in ("Mn", "Me", "Cf"))


class _FoldingTable(dict[int, str]):
    """A table for `str.translate` that is filled on demand, because texts use few of Unicode's characters."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = fold_character(chr(code))
        return folded


class _CaseTable(dict[int, str]):
    """Like `_FoldingTable`, but letters keep their diacritics."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = fold_character(character)
        is_letter = folded.isalpha() and character.isalpha()
        self[code] = kept = character.casefold() if is_letter else folded
        return kept


class _FlatTable(dict[int, str]):
    """Like `_FoldingTable`, but every character stays one character, so that positions are preserved."""

    def __missing__(self, code: int) -> str:
        folded = fold_character(chr(code))
        self[code] = flat = folded if len(folded) == 1 else chr(code)
        return flat


_COMMON = (
    "àáảãạăằắẳẵặâầấẩẫậèéẻẽẹêềếểễệìíỉĩịòóỏõọôồốổỗộơờớởỡợùúủũụưừứửữựỳýỷỹỵđ"
    "ĐÁÀẢÂẤẦĂÊẾỀÍÔỐỒỔỘƠỚỞÚỦƯỨỪÝÉÓÖÄÜäöüñçëïîûåæ“”‘’–—…•·→×≥≤€£°§\xa0"
)
"""The characters beyond ASCII that texts in English and Vietnamese, and in some other languages, mostly have."""
_BYTES, _NO_CHARACTER = 256, "\ufffe"


class _CodePage:
    """A table for `str.translate`, for texts of common characters: a byte for each takes a fifth of the time."""

    def __init__(self, by_code: Mapping[int, str]) -> None:
        common = [character for character in _COMMON if len(by_code[ord(character)]) == 1]
        characters = "".join(map(chr, range(128))) + "".join(common)
        self._encoding = codecs.charmap_build(characters.ljust(_BYTES, _NO_CHARACTER))
        self._decoding = "".join(by_code[ord(character)] for character in characters).ljust(_BYTES)

    def translate(self, text: str) -> str | None:
        """Return what `str.translate` returns; None for a text with another character."""
        try:
            encoded, _ = codecs.charmap_encode(text, "strict", self._encoding)
        except UnicodeEncodeError:
            return None
        return codecs.charmap_decode(encoded, "strict", self._decoding)[0]


class _ArrayTable:
    """A table for `str.translate`, as a list for ASCII, a code page for common characters, and an array for longer
    texts of others: these take a tenth of the time.

    Characters beyond the first 65,536, and those for which the table has several, are looked up one by one.
    """

    _NOT_ASKED, _SEVERAL, _DROPPED = 0xFFFF, 0xFFFE, 0xDFFF
    _SURROGATES = range(0xD800, 0xE000)
    _SHORTEST = 160  # characters: for shorter texts the array takes longer than the table
    _MOST_APART = 20  # characters that are looked up one by one

    def __init__(self, by_code: Mapping[int, str]) -> None:
        self._by_code = by_code

    @cached_property
    def _ascii(self) -> list[str]:
        return [self._by_code[code] for code in range(128)]

    @cached_property
    def _code_page(self) -> _CodePage:
        return _CodePage(self._by_code)

    @cached_property
    def _codes(self) -> npt.NDArray[np.uint16]:
        """What each character becomes, asked about when a text first has it."""
        import numpy as np

        codes = np.full(0x10001, self._NOT_ASKED, np.uint16)
        codes[-1] = self._SEVERAL  # all beyond
        return codes

    def translate(self, text: str) -> str:
        """Return what `str.translate` returns."""
        if text.isascii():
            return text.translate(self._ascii)
        translated_text = self._code_page.translate(text)
        if translated_text is not None:
            return translated_text
        if len(text) < self._SHORTEST:
            return text.translate(self._by_code)
        import numpy as np

        written = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        translated = self._codes.take(written, mode="clip")
        if translated.max() == self._NOT_ASKED:
            # a set, because `np.unique` imports masked arrays, which takes longer than all texts of a small run
            for code in set(written[translated == self._NOT_ASKED].tolist()):
                self._codes[code] = self._describe(code)
            translated = self._codes.take(written, mode="clip")
        if translated.max() < self._SEVERAL:
            return self._join(translated)
        apart = np.flatnonzero(translated == self._SEVERAL).tolist()
        if len(apart) > self._MOST_APART:
            return text.translate(self._by_code)
        pieces, start = [], 0
        for place in apart:
            pieces += [self._join(translated[start:place]), self._by_code[ord(text[place])]]
            start = place + 1
        return "".join([*pieces, self._join(translated[start:])])

    def _join(self, translated: npt.NDArray[np.uint16]) -> str:
        is_dropped = translated == self._DROPPED
        if is_dropped.any():
            translated = translated[~is_dropped]
        return translated.astype("<u2", copy=False).tobytes().decode("utf-16-le")

    def _describe(self, code: int) -> int:
        translated = self._by_code[code]
        if len(translated) != 1:
            return self._SEVERAL if translated else self._DROPPED
        described = ord(translated)
        return self._SEVERAL if described >= self._SEVERAL or described in self._SURROGATES else described


_FOLDED = _ArrayTable(_FoldingTable())
_CASE_FOLDED = _ArrayTable(_CaseTable())
_FLAT = _ArrayTable(_FlatTable())


def normalise_nfc(text: str) -> str:
    """Return the text in Unicode's composed form (NFC).

    >>> len(normalise_nfc("e\\u0301"))
    1
    """
    return unicodedata.normalize("NFC", text)


def collapse_spaces(text: str) -> str:
    """Return the text in NFC with each run of white space as one space, and none at the ends.

    >>> collapse_spaces(" How  much\\nleave? ")
    'How much leave?'
    """
    return " ".join(normalise_nfc(text).split())


_END_OF_QUESTION = "?!.…？！。"


def fold_question(text: str) -> str:
    """Return a question without spaces, case and the marks at its end; "" for one without a letter or digit.

    >>> fold_question(" Who  pays? ") == fold_question("WHO PAYS") == "whopays"
    True
    """
    folded = "".join(normalise_nfc(text).casefold().split()).rstrip(_END_OF_QUESTION)
    return folded if any(map(str.isalnum, folded)) else ""


_OTHER_DIGIT = compile_pattern(r"(?![0-9])\d")


def fold_digits(text: str) -> str:
    """Return the text with the decimal digits of all scripts as 0 to 9, so that positions are preserved.

    >>> fold_digits("٣٠ days, १५ rooms")
    '30 days, 15 rooms'
    """
    return text if text.isascii() else _OTHER_DIGIT.sub(lambda match: str(int(match[0])), text)


_LONGEST_KEPT = 2000


@cache_by_text(maxsize=4096, longest=_LONGEST_KEPT)  # many rules fold the same answers, claims and chunks
def fold_text(text: str) -> str:
    """Return the text in lower case, without diacritics (đ → d), with plain quotes and dashes, and every run of
    whitespace as one space; ends are stripped, combining marks and invisible characters dropped.

    >>> fold_text(" Không\\u00a0ĐỦ\\n“quyền” ")
    'khong du "quyen"'
    """
    # plain text needs no table, and takes a tenth of the time without
    folded = text.lower().replace("`", "'") if text.isascii() else _FOLDED.translate(text)
    return " ".join(folded.split())


def fold_case(text: str) -> str:
    """Return the text folded as by `fold_text`, but with the diacritics of its letters, composed.

    >>> fold_case(" Chưa CÓ  giá ")
    'chưa có giá'
    """
    return " ".join(_CASE_FOLDED.translate(normalise_nfc(text)).split())


def fold_in_place(text: str) -> str:
    """Return the text folded one character for one, so that positions are preserved; whitespace is not collapsed.

    The text should be NFC. A character that folds to none or to several characters is left unchanged.

    >>> fold_in_place("Phần  Trăm")
    'phan  tram'
    """
    is_kept = _SHORTEST_FLAT_KEPT <= len(text) <= _LONGEST_KEPT
    return _flatten_and_keep(text) if is_kept else _FLAT.translate(text)


_SHORTEST_FLAT_KEPT = 40  # shorter texts, which are words, are kept by those who ask


@lru_cache(maxsize=1024)
def _flatten_and_keep(text: str) -> str:
    return _FLAT.translate(text)
