"""A first look at a short answer: whether it holds a word without which no model of free wording reads a refusal.

Most answers hold none. The look takes two microseconds where a model takes fifty: the words of a text are split from
its bytes, and one set is asked whether it holds any of them. It never leaves out a text that a model would read as a
refusal or as undecided, unless it is Vietnamese without diacritics and holds only words that are also English; a test
compares both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from assay.text.normalisation import fold_text
from assay.text.refusal_model import DENYING_CLASSES, REFUSING_CLASSES
from assay.text.refusal_model_file import MODEL_LANGUAGES, load_reader

_DIGITS = b"0123456789"
_NEGATIONS = ("t", "cannot", "n")
"""What is left of "don't", how "can not" is written, and what is left of "n/a"."""
_SPACE = 32
_LETTERS = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalpha() else _SPACE for code in range(256))


class _TriggerWords(NamedTuple):
    """The words one of which a refusing text holds, and those one of which it holds if it states a number."""

    refusing: frozenset[bytes]
    denying: frozenset[bytes]


def may_refuse_freely(answer: str) -> bool:
    """Return whether a model of free wording could read an answer as a refusal; it must be short enough for them.

    >>> may_refuse_freely("The tower has seven floors."), may_refuse_freely("That one's locked away.")
    (False, True)
    """
    is_ascii = answer.isascii()
    written = (answer if is_ascii else fold_text(answer)).encode("ascii", "replace")
    states_number = len(written.translate(None, _DIGITS)) < len(written)
    triggers = _load_triggers(is_ascii)
    words = triggers.denying if states_number else triggers.refusing
    return not words.isdisjoint(written.translate(_LETTERS).split())


def may_deny_at_length(answer: str) -> bool:
    """Return whether a long answer holds a word that denies, and one of a source or of the speaker.

    >>> may_deny_at_length("The tower has no lift."), may_deny_at_length("The leaflet does not name a guide.")
    (False, True)
    """
    is_ascii = answer.isascii()
    written = (answer if is_ascii else fold_text(answer)).encode("ascii", "replace")
    denying, telling = _load_long_triggers(is_ascii)
    words = written.translate(_LETTERS).split()
    return not denying.isdisjoint(words) and not telling.isdisjoint(words)


@cache
def _load_long_triggers(is_ascii: bool) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """Return the words of denying of all languages, and those of sources and the speaker."""
    denying, telling = set(_NEGATIONS), set[str]()
    english = load_reader("en").list_words() if is_ascii else frozenset()
    for language in MODEL_LANGUAGES:
        class_by_word = load_reader(language).class_by_word
        ambiguous = english if language != "en" else frozenset()
        denying |= _list_words(class_by_word, _DENYING_AT_LENGTH) - ambiguous
        telling |= _list_words(class_by_word, _TELLING) - ambiguous
    return frozenset(map(str.encode, denying)), frozenset(map(str.encode, telling))


_DENYING_AT_LENGTH = ("not", "private")
_TELLING = ("source", "speaker")


@cache
def _load_triggers(is_ascii: bool) -> _TriggerWords:
    """Return the words of all languages. A Vietnamese word that is also an English one counts only in text that is not
    ASCII: written without diacritics, "an" is "hidden"."""
    refusing, denying = set(_NEGATIONS), set(_NEGATIONS)
    english = load_reader("en").list_words() if is_ascii else frozenset()
    for language in MODEL_LANGUAGES:
        class_by_word = load_reader(language).class_by_word
        ambiguous = english if language != "en" else frozenset()
        refusing |= _list_words(class_by_word, REFUSING_CLASSES) - ambiguous
        denying |= _list_words(class_by_word, DENYING_CLASSES) - ambiguous
    return _TriggerWords(frozenset(map(str.encode, refusing)), frozenset(map(str.encode, denying)))


def _list_words(class_by_word: Mapping[str, str], classes: Iterable[str]) -> frozenset[str]:
    """Return the longest word of every word or phrase of some classes: a text that holds the phrase holds this word."""
    chosen = frozenset(classes)
    phrases = [phrase for phrase, name in class_by_word.items() if name in chosen]
    return frozenset(max(phrase.replace("/", " ").split(), key=len) for phrase in phrases)
