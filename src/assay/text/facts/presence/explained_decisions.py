"""A yes or no that an answer gives with a reason or condition of the evidence, or by saying the evidence itself.

"Yes, as long as you don't use a flash" is a plain yes where the reference says "without flash", and "Patients in
isolation may not use the canteen", word for word from the source, says no to whether they may eat there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.text.facts.cues.condition_cues import ONLY, TIMES_OF_DECISION
from assay.text.facts.cues.cue_pattern import build_pattern, list_words
from assay.text.facts.cues.denial_cues import BANS, FORBIDS
from assay.text.facts.cues.link_cues import GREETING
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.expected.yes_or_no import asks_whether, is_mere_decision, read_decision
from assay.text.facts.reading.exceptions import has_exception
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word, read_text
from assay.text.facts.reading.statement_marks import DOUBT, MYTH
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_same_quantity

_TIMES = build_pattern(rf"\b{TIMES_OF_DECISION}\b")
_ONLY = build_pattern(rf"\b{ONLY}\b")
_PROHIBITION = build_pattern(rf"\b(?:{FORBIDS}|{BANS})\b")
_GREETING = build_pattern(rf"(?:\W*(?:{GREETING}|unfortunately|i'm afraid)\b,?)*\W*")
_SAYS_LITTLE = list_words("use using bring take come go long")
"""Words of a condition that say little beside its nouns: "as long as you don't use a flash"."""
_LEAST_REPEATED = 0.8
"""The share of the words of a source that an answer has, if it says the same."""


def is_explained_decision(texts: FactTexts) -> bool:
    """Return whether an answer decides as a mere yes or no expects it, in words of the evidence or in addition to it.

    >>> from assay.text.facts.stated_facts import judge_facts
    >>> asked = ("yes",), "May I take pictures?", "Yes, without flash."
    >>> [judge_facts(f"Yes, as long as you {rest}.", *asked)[0].state for rest in ("use no flash", "pay €5")]
    ['stated', 'unknown']
    """
    if not is_mere_decision(texts.fact) or not asks_whether(texts.question) or not texts.has_source:
        return False
    plain = texts.answer.plain
    if not texts.answer.words:
        return False
    if DOUBT.search(plain) is not None or MYTH.search(plain) is not None or find_negations(texts.question, 0, _ASKED):
        return False
    expected, stated = read_decision(texts.read_fact), read_decision(texts.answer)
    if expected is None:
        return False
    if stated is None:
        return _says_evidence(texts, is_yes=expected.is_yes)
    return stated.is_yes == expected.is_yes and _is_rest_explained(texts, stated.end)


_ASKED = 40
"""Characters at the beginning of a question in which it may deny what it asks: "Can't I …?"."""


def _is_rest_explained(texts: FactTexts, start: int) -> bool:
    """Whether question, reference and evidence have all words and values that follow a yes or no."""
    answer = texts.answer
    rest = read_text(answer.text[start:])
    words = [word for word in answer.words if word.start >= start and may_be_subject(word)]
    if any(word.folded not in _SAYS_LITTLE and not texts.is_known(word) for word in words) or not _have_values(
        texts.known, rest.quantities
    ):
        return False
    if has_exception(rest) and not any(has_exception(source) for source in texts.sources):
        return False
    if _ONLY.search(rest.plain) is not None and not any(_ONLY.search(source.plain) for source in texts.sources):
        return False
    most_negations = max(len(find_negations(source)) for source in texts.sources)
    return len(find_negations(rest)) <= most_negations and not names_other_time(texts, start, len(answer.plain))


def names_other_time(texts: FactTexts, start: int, end: int) -> bool:
    """Return whether an answer names a time between two positions that neither question nor reference has, and that
    does not hold the one asked for: "Yes, but only in winter", asked about July."""
    for match in _TIMES.finditer(texts.answer.plain, start, end):
        word = texts.answer.word_at(match.start())
        if word is not None and not texts.is_familiar(word):
            return True
    return False


def _says_evidence(texts: FactTexts, *, is_yes: bool) -> bool:
    """Whether the first sentence of an answer is one of the evidence, which denies something if a no is expected."""
    answer = texts.answer
    greeting = _GREETING.match(answer.plain)
    start = 0 if greeting is None else greeting.end()
    end = answer.clause_at(start).sentence_end
    denies = _denies(read_text(answer.text[start:end]))
    if denies == is_yes:
        return False
    words = [word for word in answer.list_words(start, end) if may_be_subject(word)]
    values = [own for own in answer.quantities if start <= own.start < end]
    if not words or any(not texts.is_known(word) for word in words):
        return False
    return any(_is_said_by(source, words, values) for source in _list_sentences(texts) if _denies(source) == denies)


def _denies(text: ReadText) -> bool:
    return len(find_negations(text)) % 2 == 1 or _PROHIBITION.search(text.plain) is not None


def _list_sentences(texts: FactTexts) -> Iterator[ReadText]:
    """Yield the sentences of reference and evidence."""
    for source in texts.sources:
        spans = {(clause.sentence_start, clause.sentence_end) for clause in source.clauses}
        for start, end in sorted(spans):
            yield read_text(source.text[start:end])


def _is_said_by(source: ReadText, words: Sequence[Word], values: Sequence[Quantity]) -> bool:
    """Whether words have nearly all of a sentence of a source, and both have the same values."""
    keys = {word.key for word in words}
    own = [word for word in source.words if may_be_subject(word)]
    shared = sum(word.key in keys for word in own)
    if not own or shared < _LEAST_REPEATED * len(own):
        return False
    return _have_values([source], values) and all(_is_among(wanted, values) for wanted in source.quantities)


def _have_values(sources: Sequence[ReadText], values: Sequence[Quantity]) -> bool:
    wanted = [quantity for source in sources for quantity in source.quantities]
    return all(value.is_spelled_one or _is_among(value, wanted) for value in values)


def _is_among(value: Quantity, others: Sequence[Quantity]) -> bool:
    return any(is_same_quantity(other, value) for other in others)
