"""An answer said again in plainer words, for facts that it leaves open: without asides, and with denied states named.

A courtesy, a source that is named, and a sentence that reference or evidence say too are no other answer, whatever they
look like from the fact. "It doesn't open on Mondays" says that it is closed then. A fact that the answer states when it
is said again is stated; what it denies or lacks then stays open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

from msgspec import Struct

from assay.text.facts.cues.condition_cues import CONDITION
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.link_cues import COURTESY, POINTS_AT_ASKED, SOURCE
from assay.text.facts.cues.phrase_cues import BOUNDS_BY_BIRTHDAY, SAME_PHRASES
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word
from assay.text.facts.reading.statement_marks import DOUBT, MYTH
from assay.text.facts.reading.text_parts import Part, list_quantities, split_parts
from assay.text.facts.reading.word_senses import find_same_sense
from assay.text.late_items import LateItems
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_in_place
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_comparable, is_same_quantity

_COURTESY = build_pattern(rf"\W*{COURTESY}[^.!?\n]*[.!?]*\s*")
"""A sentence that tells nothing."""
_SOURCE = build_pattern(rf"{SOURCE} (?:the |your |our |this |these |its )[\w' -]{{1,40}}[,:] ")
"""Names where something stands, before it is said."""
_SAID_OTHERWISE = [
    (phrase, fold_in_place(phrase), build_pattern(rf"\b(?:{others})(?!\w)")) for phrase, others in SAME_PHRASES
]


_POINTS_BACK = build_pattern(rf"\W*(?:(?:yes|no|and|but|so|có|không)\W+)?{POINTS_AT_ASKED}\b")
"""Begins a sentence about what is asked."""
_AGES = tuple((bound, build_pattern(said)) for bound, said in BOUNDS_BY_BIRTHDAY)


def restate_answer(texts: FactTexts) -> str:
    """Return the answer without asides and in the phrases of fact and question; "" if that changes nothing."""
    restated = "".join(_list_kept(texts))
    asked = (texts.read_fact.plain, texts.question.plain)
    for phrase, folded, others in _SAID_OTHERWISE:
        if any(_has_phrase(plain, folded) for plain in asked) and not _has_phrase(fold_in_place(restated), folded):
            restated = _replace(others, phrase, restated)
    for bound, pattern in _AGES:
        restated = _replace(pattern, bound, restated)
    is_same = restated.split() == texts.answer.text.split()
    return "" if is_same or not restated.strip() else restated


def _has_phrase(plain: str, folded: str) -> bool:
    return folded in plain and re.search(rf"\b{re.escape(folded)}\b", plain) is not None


def _replace(pattern: LatePattern, phrase: str, text: str) -> str:
    """Return a text with a phrase for each match of a pattern in the folded text."""
    kept, end = [], 0
    for match in pattern.finditer(fold_in_place(text)):
        if _is_other_word(phrase, text[match.start() : match.end()], text):
            continue
        kept += [text[end : match.start()], phrase]
        end = match.end()
    return "".join([*kept, text[end:]])


def _is_other_word(phrase: str, written: str, text: str) -> bool:
    """Whether a Vietnamese match is a word that is only folded like it: "cam" (orange) is no "cấm" (forbid)."""
    if phrase.isascii() or text.isascii():
        return False
    return written.isascii() or ("cam" in fold_in_place(written) and "cấm" not in written.lower())


def _list_kept(texts: FactTexts) -> Iterator[str]:
    """Yield the sentences of an answer that are no asides."""
    answer = texts.answer
    spans = sorted({(clause.sentence_start, clause.sentence_end) for clause in answer.clauses})
    sources = LateItems(_Searched(text) for text in chain((texts.reference,), texts.passages) if text.words)
    others = _Others(_Searched(texts.question), [_Searched(fact) for fact in texts.facts], sources)
    for start, end in spans:
        if _COURTESY.fullmatch(answer.plain, start, end) is not None:
            continue
        if len(spans) > 1 and _is_aside(texts, start, end, others):
            continue
        source = _SOURCE.match(answer.plain, start, end)
        yield answer.text[start if source is None else source.end() : end]


class _Searched:
    """A text in which the words of every sentence of an answer are looked for, each once."""

    def __init__(self, text: ReadText) -> None:
        self.text = text
        self._found: dict[tuple[str, str, str], bool] = {}

    def has_word(self, word: Word) -> bool:
        """Whether the text has a word, perhaps inflected or as another word of its sense."""
        key = word.kind, word.key, word.folded
        if key not in self._found:
            self._found[key] = bool(self.text.find_word(word, True) or find_same_sense(self.text, word.folded))
        return self._found[key]

    @cached_property
    def negation_count(self) -> int:
        """How many negations the text has."""
        return len(find_negations(self.text))

    @cached_property
    def parts(self) -> Sequence[Part]:
        """The parts of the text."""
        return split_parts(self.text, 0, len(self.text.plain))


class _Others(Struct, frozen=True):
    """What the sentences of an answer are compared with."""

    question: _Searched
    facts: Sequence[_Searched]
    sources: LateItems[_Searched]


_CONDITION = build_pattern(rf"\W*(?:but |and )?{CONDITION}\b")


def _is_aside(texts: FactTexts, start: int, end: int, others: _Others) -> bool:
    """Whether a sentence says nothing of the fact or of what is asked, and something that the sources say too."""
    answer = texts.answer
    words = [word for word in answer.list_words(start, end) if may_be_subject(word)]
    values = [own for own in list_quantities(answer, start, end) if not own.is_spelled_one]
    if not words or any(is_same_quantity(wanted, own) for wanted in texts.expected for own in values):
        return False
    if (
        _POINTS_BACK.match(answer.plain, start, end)
        or DOUBT.search(answer.plain, start, end)
        or MYTH.search(answer.plain, start, end)
    ):
        return False
    own = [word for word in words if not others.question.has_word(word)]
    if len(own) < len(words) and _CONDITION.match(answer.plain, start, end) is not None:
        return False  # on the condition of the question something else may hold
    if not own or any(fact.has_word(word) for fact in others.facts for word in own):
        return False
    negation_count = len(find_negations(answer, start, end))
    return any(
        negation_count <= source.negation_count and _is_said(texts, own, values, source) for source in others.sources
    )


def _is_said(texts: FactTexts, own: Sequence[Word], values: Sequence[Quantity], source: _Searched) -> bool:
    """Whether a part of a source has the values of a sentence with a word of it, and the source most of its words."""
    shared_words = [word for word in own if source.has_word(word)]
    if _LEAST_KNOWN * len(own) > len(shared_words):
        return False
    read = source.text
    for value in values:
        holders = [
            part
            for part in source.parts
            if any(is_same_quantity(wanted, value) for wanted in list_quantities(read, part.start, part.end))
        ]
        keys = {word.key for part in holders for word in read.list_words(part.start, part.end)}
        is_rival = any(is_comparable(wanted, value) for wanted in texts.read_fact.quantities)
        if not holders or (is_rival and all(word.key not in keys for word in shared_words)):
            return False
    return True


_LEAST_KNOWN = 0.6
"""The share of the words of a sentence that a source has, if it says the same."""
