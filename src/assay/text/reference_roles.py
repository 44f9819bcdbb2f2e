"""What a reference says of something else than the fact, and an answer says of the fact.

"Accounting records it, the manager approves it" gives recording to accounting. An answer in which the manager records
it has the words of the fact, and has them with what belongs to another.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from assay.text.fact_judgments import FactJudgment
from assay.text.fact_places import Occurrence, find_stated_quantity
from assay.text.fact_polarity import PREDICATES
from assay.text.fact_texts import FactTexts, may_be_subject
from assay.text.quantities import is_same_quantity
from assay.text.read_text import CLAUSE_REACH, ReadText, Word, get_start
from assay.text.value_owner import Part, is_vietnamese, split_parts

_LEADING = re.compile(
    r"(?:at|in|on|for|with|from|if|when|before|after|during|while|since|because|unless|except|excluding|provided|although"
    r"|which|who|trong|tai|o|voi|khi|neu|truoc|sau|vi|tru|ngoai tru|mien la)\b"
)
"""Begins a phrase before a statement or a condition after it, which holds for all of it."""
_BRACKET = re.compile(r"[()]")


def judge_roles(texts: FactTexts, spot: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact of which an answer says what the reference says of something else; None if not."""
    if not texts.question.words or not texts.reference.words:
        return None
    informative = [word for word in texts.content if not texts.question.find_word(word, True)]
    others = _list_words_of_others(texts, informative)
    if not others:
        return None
    holder = _find_holder(texts, informative, spot)
    said = [
        word
        for word in _words_in(texts.answer, holder)
        if may_be_subject(word) and any(_is_same(word, other, texts) for other in others)
    ]
    is_syllable = len(said) == 1 and is_vietnamese(texts.question.text)
    if not said or (is_syllable and not _is_whole_word(texts, said[0], others)):
        return None
    text = texts.answer.text[said[0].start : said[-1].end]
    return FactJudgment(texts.fact, "unknown", f'it says "{text}" of it, which the reference says of something else')


def _is_whole_word(texts: FactTexts, syllable: Word, others: Sequence[Word]) -> bool:
    """Whether a syllable has a neighbour that it has in the reference too: one alone is often half of another word."""
    around = _list_neighbours(texts.answer, syllable)
    return any(
        _is_same(syllable, other, texts)
        and any(
            key is not None and key == own
            for key, own in zip(_list_neighbours(texts.reference, other), around, strict=True)
        )
        for other in others
    )


def _list_neighbours(text: ReadText, word: Word) -> list[str | None]:
    """Return the keys of the words directly before and after a word, None where there is none."""
    index = bisect_left(text.words, word.start, key=get_start)
    before = text.words[index - 1] if index and word.start - text.words[index - 1].end == 1 else None
    after = text.words[index + 1] if index + 1 < len(text.words) else None
    if after is not None and after.start - word.end != 1:
        after = None
    return [None if neighbour is None else neighbour.key for neighbour in (before, after)]


def _is_same(word: Word, other: Word, texts: FactTexts) -> bool:
    return word.key == other.key and (texts.ignore_marks or word.marks == other.marks)


def _split(text: ReadText, low: int, high: int) -> list[Part]:
    """Return the parts of a text; what stands in brackets is one of its own."""
    parts = []
    for part in split_parts(text, low, high):
        start = part.start
        for bracket in _BRACKET.finditer(text.plain, part.start, part.end):
            parts.append(part._replace(start=start, end=bracket.start()))
            start = bracket.end()
        parts.append(part._replace(start=start))
    return parts


def _words_in(text: ReadText, part: Part) -> Sequence[Word]:
    first, last = (bisect_left(text.words, at, key=get_start) for at in (part.start, part.end))
    return text.words[first:last]


def _list_words_of_others(texts: FactTexts, informative: Sequence[Word]) -> list[Word]:
    """Return the words that a reference has only in parts without the fact; none if it does not hold the fact."""
    reference = texts.reference
    parts = _split(reference, 0, len(reference.plain))
    if len(parts) == 1:
        return []
    own: list[Part] = []
    others: list[Part] = []
    for part in parts:
        (own if _holds_fact(texts, informative, reference, part) else others).append(part)
    if not own:
        return []
    others = [part for part in others if not _LEADING.match(reference.plain, part.start)]
    rates = [quantity.rate_span for quantity in reference.quantities if quantity.rate]
    known = [word for part in own for word in _words_in(reference, part)]
    return [
        word
        for part in others
        for word in _words_in(reference, part)
        if may_be_subject(word)
        and word.folded not in PREDICATES
        and not any(start <= word.start < end for start, end in rates)
        and not any(word.key == other.key for other in known)
        and not texts.question.find_word(word, True)
        and not any(fact.find_word(word, True) for fact in texts.explaining[2:])
    ]


def _holds_fact(texts: FactTexts, informative: Sequence[Word], text: ReadText, part: Part) -> bool:
    ignores_marks = not (texts.read_fact.has_marks and text.has_marks)
    for word in _words_in(text, part):
        if any(word.key == own.key and (ignores_marks or word.marks == own.marks) for own in informative):
            return True
    wanted = [quantity for fact in texts.explaining[2:] for quantity in fact.quantities]
    inside = [own for own in text.quantities if part.start <= own.start < part.end]
    return any(is_same_quantity(one, own) for one in wanted for own in inside)


def _find_holder(texts: FactTexts, informative: Sequence[Word], spot: Occurrence) -> Part:
    """Return the part of the answer that holds the value of a fact, or most of its words."""
    answer = texts.answer
    low, high = max(0, spot.start - CLAUSE_REACH), min(len(answer.plain), spot.start + CLAUSE_REACH)
    parts = _split(answer, low, high)
    stated = find_stated_quantity(answer, spot)
    if stated is not None:
        return next((part for part in parts if part.start <= stated.start < part.end), parts[-1])
    return max(
        parts,
        key=lambda part: sum(
            any(_is_same(word, own, texts) for own in informative) for word in _words_in(answer, part)
        ),
    )
