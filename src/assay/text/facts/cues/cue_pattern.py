"""Tables of cues by language, and the one function that makes a pattern of them.

A cue is a word or phrase that marks something: "unless" an exception, "tối đa" an upper limit. Vietnamese cues are
written with their diacritics, and folded as texts are (`fold_in_place`), so that they are found in both spellings.
"""

from __future__ import annotations

from msgspec import Struct

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_in_place

_BETWEEN_CUES = " | "


class Cues(Struct, frozen=True):
    """Cues of one role, those of a language separated by " | "; optional letters as an expression writes them.

    `other`: those of further languages. As text it is the expression that finds any of them, the earlier ones first.

    >>> print(Cues("unless | save for", "trừ(?: khi)?"))
    (?:unless|save for|trừ(?: khi)?)
    """

    english: str = ""
    vietnamese: str = ""
    other: str = ""

    def __str__(self) -> str:
        languages = (self.english, self.vietnamese, self.other)
        return f"(?:{'|'.join(cues.replace(_BETWEEN_CUES, '|') for cues in languages if cues)})"


class _FoldedLetters(dict[int, str]):
    """Letters as they are folded, by their numbers; those of ASCII and signs stay, so that expressions keep theirs."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = fold_in_place(letter) if letter.isalpha() and not letter.isascii() else letter
        return self[code]


_FOLDED = _FoldedLetters()


def build_pattern(expression: str) -> LatePattern:
    r"""Return a pattern for folded text of an expression in which tables of cues stand.

    >>> exception = Cues("unless", "trừ khi")
    >>> pattern = build_pattern(rf"\b{exception}\b")
    >>> [pattern.search(text)[0] for text in ("free unless it rains", "mien phi tru khi mua")]
    ['unless', 'tru khi']
    """
    return LatePattern(expression if expression.isascii() else expression.translate(_FOLDED))


def list_words(spelled: str) -> frozenset[str]:
    """Return words of grammar or of a class, folded.

    >>> sorted(list_words("is are là"))
    ['are', 'is', 'la']
    """
    return frozenset(fold_in_place(spelled).split())
