"""Pairs of words for contrary events and kinds, of which a question has one and an answer the other.

"It takes 90 minutes down" does not say how long the way up takes. English is compared as it is folded; Vietnamese as it
is written, because "bán" (sell) and "bạn" (you) are folded alike, and without diacritics where a text has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from assay.text.facts.cues.event_cues import CONTRARY_STATES, OPPOSITE_EVENTS, OPPOSITE_EVENTS_IN_VIETNAMESE
from assay.text.facts.reading.read_text import ReadText, cache_of_texts
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_in_place
from assay.text.pattern_cache import get_required_words

_FIRST_LETTERS = 3


class WordPairs:
    """Pairs of expressions, and by which words of a text it is told which of them it may hold."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._pairs = [(LatePattern(rf"\b(?:{first})\b"), LatePattern(rf"\b(?:{second})\b")) for first, second in pairs]
        self.list_possible = lru_cache(maxsize=128)(self._list_possible)  # all facts ask about one answer

    @cached_property
    def _numbers_by_word(self) -> dict[str, dict[str, list[int]]]:
        """The numbers of the pairs that a word tells, by the first letters of the word, "" for short ones."""
        numbers: dict[str, dict[str, list[int]]] = {}
        for number, (first, second) in enumerate(self._pairs):
            groups = get_required_words(f"{first.pattern}|{second.pattern}")
            for word in groups[0] if groups else ("",):  # every text holds an empty word
                start = word[:_FIRST_LETTERS] if len(word) >= _FIRST_LETTERS else ""
                numbers.setdefault(start, {}).setdefault(word, []).append(number)
        return numbers

    def _list_possible(self, text: str) -> Sequence[tuple[LatePattern, LatePattern]]:
        """Return the pairs of which a text may hold a side, in their order."""
        numbers = set[int]()
        # Most of the hundreds of words begin as nothing in the text does, and need not be looked for one by one.
        starts = {"", *(text[place : place + _FIRST_LETTERS] for place in range(len(text)))}
        for start in self._numbers_by_word.keys() & starts:
            for word, pairs in self._numbers_by_word[start].items():
                if word in text:
                    numbers.update(pairs)
        return [self._pairs[number] for number in sorted(numbers)]


def _fold_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(fold_in_place(first), fold_in_place(second)) for first, second in pairs]


_WRITTEN_PAIRS = WordPairs((*OPPOSITE_EVENTS, *OPPOSITE_EVENTS_IN_VIETNAMESE))
_FOLDED_PAIRS = WordPairs((*OPPOSITE_EVENTS, *_fold_pairs(OPPOSITE_EVENTS_IN_VIETNAMESE)))
_WRITTEN_STATES = WordPairs(CONTRARY_STATES)
_FOLDED_STATES = WordPairs(_fold_pairs(CONTRARY_STATES))


def find_opposite_state(texts: Iterable[ReadText], answer: ReadText, low: int, high: int) -> tuple[str, str] | None:
    """Return the state that some texts speak of and its contrary in an answer between two positions; None without one.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> answer = read_text("The hall is closed on 3 May.")
    >>> find_opposite_state([read_text("When is the hall open?")], answer, 0, len(answer.plain))
    ('open', 'closed')
    """
    read = list(texts)
    ignores_marks = not answer.has_marks or not any(text.has_marks for text in read)
    own = answer.plain if ignores_marks else answer.text.lower()
    written = [text.plain if ignores_marks else text.text.lower() for text in read]
    states = _FOLDED_STATES if ignores_marks else _WRITTEN_STATES
    for first, second in states.list_possible(own):
        for asked, other in ((first, second), (second, first)):
            contrary = other.search(own, low, high)
            if contrary is None or asked.search(own, low, high) or any(other.search(text) for text in written):
                continue
            wanted = next(filter(None, map(asked.search, written)), None)
            if wanted is not None:
                return wanted[0], answer.text[slice(*contrary.span())]
    return None


def holds_event(text: ReadText, low: int, high: int) -> bool:
    """Return whether a text speaks of one of two contrary events between two positions, and not of the other.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> answer = read_text("Up or down, it takes 90 minutes on the way down.")
    >>> holds_event(answer, 12, len(answer.plain)), holds_event(answer, 12, 30)
    (True, False)
    """
    for pairs, own in ((_FOLDED_PAIRS, text.plain), (_WRITTEN_PAIRS, text.text.lower())):
        for first, second in pairs.list_possible(own[low:high]):
            if (first.search(own, low, high) is None) != (second.search(own, low, high) is None):
                return True
    return False


def find_opposite_event(question: ReadText, answer: ReadText, low: int, high: int) -> tuple[str, str] | None:
    """Return what a question says and an answer says instead between two positions; None if there is no such pair.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> answer = read_text("It takes 90 minutes on the way down.")
    >>> find_opposite_event(read_text("How long is the way up?"), answer, 0, len(answer.plain))
    ('way up', 'way down')
    """
    ignores_marks = not (question.has_marks and answer.has_marks)
    own_text = answer.plain if ignores_marks else answer.text.lower()
    for asked, other, (start, end) in _list_asked(question, ignores_marks):
        own = other.search(own_text, low, high)
        if own is not None and not asked.search(own_text, low, high):
            return question.text[start:end], answer.text[slice(*own.span())]
    return None


@cache_of_texts(maxsize=1024)
def _list_asked(question: ReadText, ignores_marks: bool) -> list[tuple[LatePattern, LatePattern, tuple[int, int]]]:
    """Return the pairs of which a question has one side and not the other: that side, the other, and where it is."""
    text = question.plain if ignores_marks else question.text.lower()
    asked_pairs = []
    pairs = _FOLDED_PAIRS if ignores_marks else _WRITTEN_PAIRS
    for first, second in pairs.list_possible(text):
        matches = first.search(text), second.search(text)
        for asked, other, wanted, rival in ((first, second, *matches), (second, first, *matches[::-1])):
            if wanted is not None and rival is None:
                asked_pairs.append((asked, other, wanted.span()))
    return asked_pairs
