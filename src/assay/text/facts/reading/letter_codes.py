"""Codes of a number and a letter that look like an amount: "Room 3B" is no three billion, "Form 2K" no two thousand.

A text shows a code where the noun of a numbered thing stands before it, or another letter in a list with it ("3A, 3B").
What one of the texts that are compared shows to be a code is one in all of them: asked for a room, "3B" answers. Texts
are read as they are written: folded, "bán 100K" (sells) is "bàn 100K" (table).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.text.facts.cues.question_cues import ASKS_AMOUNT, ASKS_HOW_MANY, ASKS_MEASURE, ASKS_WHICH
from assay.text.facts.cues.term_cues import NUMBERED_THING
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import normalise_nfc
from assay.text.pattern_cache import compile_pattern

_CODE = r"(?!\d{0,3}0 ?k\b)\d{1,4} ?[a-z]\b"
"""A code; "Phòng 500K" is the price of a room."""
_JOINED = r"(?:, ?| ?[-–/] ?|,? (?:and|or|to|und|oder|bis|et|ou|và|hoặc) )"
_NUMBER_SIGN = r"(?:(?:no|nr|n°|nº|số)\.? ?)?"
_NAMED = LatePattern(rf"\b{NUMBERED_THING} {_NUMBER_SIGN}(?P<codes>{_CODE}(?:{_JOINED}{_CODE}){{0,20}})", re.IGNORECASE)
_LISTED = LatePattern(rf"\b(?P<codes>\d{{1,4}}[a-z]\b(?:{_JOINED}\d{{1,4}}[a-z]\b){{1,20}})", re.IGNORECASE)
_ASKED = LatePattern(rf"\b(?:{ASKS_WHICH} {NUMBERED_THING}\b|{NUMBERED_THING} (?:nào|gì)\b)", re.IGNORECASE)
_ASKS_VALUE = LatePattern(rf"\b(?:{ASKS_AMOUNT}\b|{ASKS_MEASURE}\b|{ASKS_HOW_MANY})", re.IGNORECASE)
_AMOUNT = compile_pattern(r"(?<![\w.,$€£])(?P<digits>\d{1,4}) ?(?P<letter>[KMBb])\b(?! ?[$€£%])")
"""What may be a code or an amount; a small "m" is a unit, and a small "k" stands for thousands."""
_COUNTS = LatePattern(r"/| [^\W\d_]")
_ONE_CODE = compile_pattern(_CODE)
_SPELLED = LatePattern(r"\bnr(\d{1,4}[kmb])\b", re.IGNORECASE)


def find_letter_codes(question: str, texts: Sequence[str]) -> frozenset[str]:
    """Return the codes that look like amounts, in small letters, which a question or another text shows to be codes.

    >>> sorted(find_letter_codes("Where is it?", ["In Room 3B.", "3B", "2K people"]))
    ['3b']
    >>> sorted(find_letter_codes("Which class is on the trip?", ["4K", "4K, of 5M people"]))
    ['4k', '5m']
    """
    all_texts = [text for text in (question, *texts) if _AMOUNT.search(text) is not None]
    if not all_texts:
        return frozenset()
    amounts = {_name_code(match) for text in all_texts for match in _AMOUNT.finditer(text)}
    if _ASKED.search(normalise_nfc(question)) is not None:
        return frozenset(amounts)
    asks_value = _ASKS_VALUE.search(normalise_nfc(question)) is not None
    shown = {code for text in texts for code in _list_shown(text, may_count=asks_value)}
    return frozenset(amounts.intersection(shown.union(_list_shown(question))))


def _list_shown(text: str, *, may_count: bool = False) -> Iterator[str]:
    """Yield the codes of a text with the noun of a numbered thing before them, or in a list with other letters.

    `may_count`: an amount is asked for, so that what a word follows may count: "the hall can seat 5K people".
    """
    written = normalise_nfc(text)
    for pattern in (_NAMED, _LISTED):
        for match in pattern.finditer(written):
            if may_count and _COUNTS.match(written, match.end()) is not None:
                continue
            codes = [code.replace(" ", "") for code in _ONE_CODE.findall(match["codes"].lower())]
            if pattern is _NAMED or any(code[-1] not in "kmb" for code in codes):
                yield from codes


def spell_codes(text: str, codes: frozenset[str]) -> str:
    """Return a text in which codes are words and no amounts; `restore_codes` undoes it.

    >>> spell_codes("In Room 3B, for 2K people.", frozenset(["3b"]))
    'In Room nr3B, for 2K people.'
    """
    return _AMOUNT.sub(
        lambda match: f"nr{match['digits']}{match['letter']}" if _name_code(match) in codes else match[0], text
    )


def restore_codes(text: str) -> str:
    """Return a text with codes as they were written."""
    return _SPELLED.sub(r"\1", text)


def _name_code(match: re.Match[str]) -> str:
    return f"{match['digits']}{match['letter']}".lower()
