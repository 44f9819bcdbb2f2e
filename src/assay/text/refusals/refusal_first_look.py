"""A first look at an answer in English or Vietnamese: whether a word of it may do something else than answer.

Most answers hold none. The look takes a few microseconds where a model takes a hundred: the words of a text are split
from its bytes, and one set is asked whether it holds any of them. The words are chosen when a model is trained, so that
nearly every answer that it learned from and that does something else holds one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text
from assay.text.refusals.refusal_model_file import load_parameters
from assay.text.refusals.refusal_rules import is_spelt_like

_WORD = re.compile(r"[^\W_]{2}|\d|[\u3400-\u9fff]")
_FACE = LatePattern(r"[:;=][-'^o]?[DPOSXdposx]")
_DRAWING = ("Sk", "So")
_SPACE = 32
_LETTERS = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalpha() else _SPACE for code in range(256))


def may_refuse_freely(answer: str) -> bool:
    """Return whether an answer could be read as something else than an answer; also true of every question.

    >>> may_refuse_freely("The tower has seven floors."), may_refuse_freely("I cannot say.")
    (False, True)
    """
    if "?" in answer:
        return True
    is_vietnamese = not answer.isascii() and is_spelt_like("vi", answer)
    return not _load_triggers(is_vietnamese).isdisjoint(_split_letters(answer))


def holds_word(answer: str) -> bool:
    r"""Return whether an answer holds a word or a digit: letters of a drawn face are none.

    >>> [holds_word(answer) for answer in ("C++", "是", "...", "¯\\_(ツ)_/¯", ":P")]
    [True, True, False, False, False]
    """
    if _WORD.search(answer):
        return True
    letters = [character for character in answer if character.isalnum()]
    if not letters or _FACE.fullmatch(answer.strip()):
        return False
    drawn = sum(character in "_\\" or unicodedata.category(character) in _DRAWING for character in answer)
    return "".join(letters).isascii() or 2 * drawn < len(letters)


def list_first_words(answer: str) -> set[str]:
    """Return the words of an answer as the first look sees them.

    >>> sorted(list_first_words("Don't ask 12!"))
    ['ask', 'don', 't']
    """
    return {word.decode() for word in _split_letters(answer)}


def _split_letters(answer: str) -> list[bytes]:
    written = (answer if answer.isascii() else fold_text(answer)).encode("ascii", "replace")
    return written.translate(_LETTERS).split()


@cache
def _load_triggers(is_vietnamese: bool) -> frozenset[bytes]:
    """Return the words of Vietnamese, or those of English and of Vietnamese without diacritics."""
    vietnamese = load_parameters("vi")
    if is_vietnamese:
        return frozenset(map(str.encode, vietnamese.triggers))
    return frozenset(map(str.encode, load_parameters("en").triggers | vietnamese.bare_triggers))
