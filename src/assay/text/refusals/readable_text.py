"""Whether an answer holds anything that can be read."""

from __future__ import annotations

import unicodedata

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import may_hold_other_script
from assay.text.pattern_cache import compile_pattern

_WORD = compile_pattern(r"[^\W_]{2}|\d")
_CHINESE_WORD = LatePattern(r"[\u3400-\u9fff]")
_FACE = LatePattern(r"[:;=][-'^o]?[DPOSXdposx]")
_DRAWING = ("Sk", "So")


def holds_word(answer: str) -> bool:
    r"""Return whether an answer holds a word or a digit: letters of a drawn face are none.

    >>> [holds_word(answer) for answer in ("C++", "是", "...", "¯\\_(ツ)_/¯", ":P")]
    [True, True, False, False, False]
    """
    if _WORD.search(answer) or (may_hold_other_script(answer) and _CHINESE_WORD.search(answer)):
        return True
    letters = [character for character in answer if character.isalnum()]
    if not letters or _FACE.fullmatch(answer.strip()):
        return False
    drawn = sum(character in "_\\" or unicodedata.category(character) in _DRAWING for character in answer)
    return "".join(letters).isascii() or 2 * drawn < len(letters)
