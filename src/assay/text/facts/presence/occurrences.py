"""Where an answer may state a fact: its words and quantities, and the clauses that hold them together."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct, structs

from assay.text.facts.cues.word_classes import ONES
from assay.text.facts.expected.fact_texts import ONE, FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.missing_quantities import is_in_name, may_leave_out_unit
from assay.text.facts.reading.read_text import ClauseSpan, ReadText, Word, narrow_clause
from assay.text.facts.reading.text_parts import split_parts
from assay.text.facts.reading.word_senses import find_same_sense
from assay.text.quantities.payment_cues import ASKS_FOR_COST, NOTHING_TO_PAY
from assay.text.quantities.quantity import Quantity, is_plain, is_time, remove_bound, split_range
from assay.text.quantities.quantity_agreement import is_comparable, is_same_quantity
from assay.text.quantities.spoken_numbers import spell_price
from assay.text.quantities.units import MONEY, PLAIN

MOST_OCCURRENCES = 30
"""Occurrences of a fact that are examined."""
_MOST_WORDS_EACH, _MORE_WORDS = 1, 4  # words from the first to the last part of a fact: one for each part, and four


class Occurrence(Struct, frozen=True):
    """Where a fact may be stated: the spans of its parts that are in one clause, and parts that are elsewhere."""

    clause: ClauseSpan
    spans: list[tuple[int, int]]
    is_scattered: bool

    @property
    def start(self) -> int:
        """Where the first part starts."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Where the last part ends."""
        return max(end for _, end in self.spans)


def find_nearest(spans: Sequence[tuple[int, int]], position: int) -> tuple[int, int]:
    """Return the span, of some in order, that starts nearest to a position."""
    index = bisect_left(spans, (position,))
    return min(spans[max(0, index - 1) : index + 1], key=lambda span: abs(span[0] - position))


def find_stated_quantity(answer: ReadText, occurrence: Occurrence) -> Quantity | None:
    """Return the first quantity of an answer that stands for one of the fact at a place."""
    return next((answer.quantities[index] for index in iterate_stated_indices(answer, occurrence)), None)


def iterate_stated_indices(answer: ReadText, occurrence: Occurrence) -> Iterator[int]:
    """Yield the indices of the quantities of an answer that stand for those of the fact at a place."""
    quantities = answer.quantities
    for start, end in occurrence.spans:
        index = bisect_left(quantities, start, key=_get_quantity_start)
        if index < len(quantities) and (quantities[index].start, quantities[index].end) == (start, end):
            yield index


def _get_quantity_start(quantity: Quantity) -> int:
    return quantity.start


# ── what is there, and where ───────────────────────────────────────────────────────────────────────────────────────


def find_quantities(texts: FactTexts, expected: Quantity) -> list[Quantity]:
    """Return the quantities of the answer that state one of the fact, in whatever form."""
    if expected.is_spelled_one:
        return [Quantity((), word.start, word.end) for word in texts.answer.words if word.folded in ONES] + [
            quantity for quantity in texts.answer.quantities if is_same_quantity(expected, quantity)
        ]
    agreeing = [
        quantity for quantity in texts.answer.quantities if is_same_quantity(expected, quantity, unit_required=True)
    ]
    if not agreeing:
        agreeing = [quantity for quantity in texts.answer.quantities if _is_stated_end(texts, expected, quantity)]
    if not agreeing:
        agreeing = _find_without_unit(texts, expected)
    if not agreeing and ASKS_FOR_COST.search(texts.question.plain):
        agreeing = _find_spoken_price(texts, expected)
    if _counts_a_noun(texts, expected):
        agreeing = [own for own in agreeing if any(reading.dimension in _COUNTED for reading in own.readings)]
    if expected.bound:  # "3 days" are at most 5 days, and do not say what the most is
        agreeing = [own for own in agreeing if own.bound or is_same_quantity(remove_bound(expected), own)]
    if not texts.content:
        agreeing = [quantity for quantity in agreeing if not is_in_name(quantity, texts.answer, texts.question)]
    if not agreeing and any(reading == ONE for reading in expected.readings):
        agreeing = [Quantity((), word.start, word.end) for word in texts.answer.words if word.folded in ONES]
    return agreeing


def _find_without_unit(texts: FactTexts, expected: Quantity) -> list[Quantity]:
    """Return where an answer gives a quantity the unit of the one before it: "50 minutes by day, 65 by night"."""
    if is_time(expected) or expected.date or is_plain(expected):
        return []
    answer, found = texts.answer, []
    for before, own in pairwise(answer.quantities):
        is_near = answer.clause_at(before.start).sentence_start == answer.clause_at(own.start).sentence_start
        if (
            not is_near
            or is_plain(before)
            or not is_comparable(expected, before)
            or before.unit_size != expected.unit_size
        ):
            continue
        if is_plain(own) and may_leave_out_unit(expected, own, answer):
            found.append(own)
    return found


_COUNTED = frozenset((PLAIN, "persons"))


def _counts_a_noun(texts: FactTexts, expected: Quantity) -> bool:
    """Whether a number of the fact counts what its next word names, so that one with a unit is no such number."""
    if expected.date or any(reading.dimension != PLAIN for reading in expected.readings):
        return False
    return any(0 < word.start - expected.end <= 1 for word in texts.content)


def _find_spoken_price(texts: FactTexts, expected: Quantity) -> list[Quantity]:
    """Return where an answer to what something costs says an amount without its unit: "twelve fifty"."""
    amounts = [reading.low for reading in expected.readings if reading.dimension.startswith(MONEY)]
    spoken = spell_price(amounts[0]) if len(amounts) == 1 and not expected.is_range else ""
    if not spoken:
        return []
    matches = re.finditer(rf"\b{spoken}\b(?! (?:people|guests|percent|per cent))", texts.answer.plain)
    return [structs.replace(expected, start=match.start(), end=match.end()) for match in matches]


def _is_stated_end(texts: FactTexts, expected: Quantity, stated: Quantity) -> bool:
    """Whether a range states a quantity as one of its ends.

    "10am to 4pm" states when something begins and when it ends; "3 to 5 days" states neither 3 nor 5 days, unless
    the facts have both. "3 to 5 days" states 5 days where the most is asked for, and 3 where the least is.
    """
    ends = split_range(stated)
    if ends and texts.limit.is_explicit and not expected.is_range:
        low, high = ends
        if is_same_quantity(expected, high if texts.limit.side == "<" else low, unit_required=True):
            return True
    if not any(is_same_quantity(expected, end, unit_required=True) for end in ends):
        return False
    if is_time(stated) and is_time(expected):
        return True
    return all(any(is_same_quantity(wanted, end) for wanted in texts.expected) for end in ends)


def find_word_places(texts: FactTexts, word: Word) -> list[int]:
    """Return the indices of a word of the fact in the answer: the same, its short form, or one that may stand for it.

    The last kind is told by `is_said_otherwise`.
    """
    indices = texts.answer.find_word(word, texts.ignore_marks) or _find_short_form(texts, word)
    return indices or find_same_sense(texts.answer, word.folded)


def is_said_otherwise(texts: FactTexts, word: Word) -> bool:
    """Return whether an answer has a word of the fact only by another one of the same sense, which denies nothing."""
    if not find_same_sense(texts.answer, word.folded):
        return False
    return not (texts.answer.find_word(word, texts.ignore_marks) or _find_short_form(texts, word))


_DISPENSABLE = ("micro", "mini", "tele", "auto", "photo", "smart", "motor", "e-")
"""First parts of words that may be left out: a microchip is a chip, a smartphone a phone, a photocopy a copy."""
_FEWEST_LETTERS = 4


def _find_short_form(texts: FactTexts, word: Word) -> list[int]:
    """Return the indices of a word of the answer that is the fact's without its first part, or the other way round."""
    stem = word.folded.removesuffix("s")
    forms = {f"{first}{stem}" for first in _DISPENSABLE} if len(stem) >= _FEWEST_LETTERS else set()
    forms |= {stem.removeprefix(first) for first in _DISPENSABLE if len(stem) - len(first) >= _FEWEST_LETTERS}
    forms.discard(stem)
    words = texts.answer.words
    return [index for index, own in enumerate(words) if own.folded.removesuffix("s") in forms] if forms else []


def list_occurrences(
    texts: FactTexts, quantity_places: list[list[tuple[int, int]]], word_places: list[list[tuple[int, int]]]
) -> Iterator[Occurrence]:
    """Yield the places around each occurrence of the part that occurs least often; quantities come first."""
    parts = [*quantity_places, *word_places]
    anchor = min(quantity_places or word_places, key=len)
    for start, end in anchor[:MOST_OCCURRENCES]:
        clause = narrow_clause(texts.answer.clause_at(start), start)
        nearest = sorted(find_nearest(part, start) if part is not anchor else (start, end) for part in parts)
        spans = [span for span in nearest if clause.start <= span[0] < clause.end]
        most_words = _MOST_WORDS_EACH * len(parts) + _MORE_WORDS
        is_far = count_words_between(texts, nearest) > most_words
        yield Occurrence(clause, spans, is_far and not _is_in_one_clause(texts, clause, nearest, most_words))


def _is_in_one_clause(texts: FactTexts, clause: ClauseSpan, spans: Sequence[tuple[int, int]], most_words: int) -> bool:
    """Whether all parts of a fact are in one clause, not too many words of meaning apart, and those that the question
    has too in no part of their own: "it opens on 15 March and says goodbye on the last day of June".

    Not in Vietnamese, where a syllable that stands alone may be half of another word.
    """
    answer = texts.answer
    if texts.is_vietnamese:
        return False
    first, last = spans[0][0], spans[-1][0]
    if not clause.start <= first <= last < clause.end or ";" in answer.plain[first:last]:
        return False
    if sum(word.kind != "stop" for word in answer.list_words(first, last)) > most_words:
        return False
    parts = split_parts(answer, clause.sentence_start, clause.sentence_end)
    held = [[start for start, _ in spans if part.start <= start < part.end] for part in parts]
    return not any(starts and all(_is_asked(texts, start) for start in starts) for starts in held)


def _is_asked(texts: FactTexts, start: int) -> bool:
    word = texts.answer.word_at(start)
    return word is not None and bool(texts.question.find_word(word, True))


def count_words_between(texts: FactTexts, spans: Sequence[tuple[int, int]]) -> int:
    """Return how many words lie from the first to the last span."""
    return texts.answer.find_index(spans[-1][0]) - texts.answer.find_index(spans[0][0])


def has_candidate(texts: FactTexts, occurrence: Occurrence) -> bool:
    """Whether the sentence has another quantity, which nobody expects, of the kind that the fact has."""
    stated, clause = find_stated_quantity(texts.answer, occurrence), occurrence.clause
    if stated is None:
        return False
    for own in texts.answer.quantities:
        if not clause.sentence_start <= own.start < clause.sentence_end or not is_comparable(stated, own):
            continue
        if not any(is_same_quantity(wanted, own) for wanted in (*texts.expected, *texts.question.quantities)):
            return True
    return False


def judge_torn_part(texts: FactTexts, needed: Sequence[Word]) -> FactJudgment | None:
    """Return the judgment of a fact of which an answer has the words of one part in no one sentence; None otherwise.

    "Within 14 days, in its box" has two parts, which two sentences may state; "floor 3 of wing B" is not in "On floor 3
    of wing D. Wing B is closed." `needed`: the words of the fact that an answer must have.
    """
    for part in split_parts(texts.read_fact, 0, len(texts.read_fact.plain)):
        words = [word for word in needed if part.start <= word.start < part.end]
        sentences = [
            {texts.answer.clause_at(texts.answer.words[index].start).sentence_start for index in places}
            for places in (find_word_places(texts, word) for word in words)
        ]
        if sentences and not set.intersection(*sentences):
            spelled = texts.read_fact.text[part.start : part.end]
            return FactJudgment(texts.fact, "unknown", f'the answer has the words of "{spelled}" in several sentences')
    return None


def find_value_start(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> int:
    """Return where the value of a fact starts: its stated quantity, "free", or else its first part."""
    if stated is not None:
        return stated.start
    for start, _ in occurrence.spans:
        if NOTHING_TO_PAY.match(texts.answer.plain, start):
            return start
    return occurrence.start
