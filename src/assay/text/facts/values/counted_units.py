"""Whether an answer gives a number that counts something a unit of its own: "30 minutes" are no "30 sessions".

What is counted is what follows the number in the fact, or in the reference that the fact is a value of, or what the
question asks the number of; the question has its word, so that an answer need not repeat it. Another noun after the
number leaves open whether it is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from assay.text.facts.cues.cue_pattern import build_pattern, list_words
from assay.text.facts.cues.question_cues import ASKS_HOW_MANY
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.read_text import ReadText, Word
from assay.text.quantities.quantity import Quantity, is_plain, is_span
from assay.text.quantities.quantity_agreement import is_same_value
from assay.text.quantities.units import MONEY, UNITS

_ASKS_HOW_MANY = build_pattern(rf"\b{ASKS_HOW_MANY}")
_UNITS_OF_THEIR_OWN = frozenset(
    ("duration", "calendar", "length", "area", "volume", "mass", "energy", "power", "data", "share")
)
"""Dimensions of which no value is a count of something; money is another."""
_MOST_TO_NOUN = 3
"""Words after a number among which its noun is: "5 wrong passwords"."""
_SHARED_LETTERS = 3
"""First letters by which a unit of another language is told: "minutos"."""
_LIKE_UNITS = list_words(
    """
    night nights nächte nuit nuits noche noches notte notti đêm buổi weekend weekends term terms semester semesters
    season seasons shift shifts lesson lessons
    """
)
"""Nouns of what takes time, so that a span may stand for them."""
_PLURALS = list_words("children men women people teeth feet")


def judge_counted_unit(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a number that is expected to count something, where the answer gives it a unit of its own
    or another noun."""
    del occurrence
    if stated is None or stated.date or not stated.readings:
        return None
    if is_plain(stated):
        nouns = _list_counted(texts, stated)
        return _judge_other_noun(texts, stated, nouns) if nouns else None
    nouns = () if _may_count(stated) else _list_counted(texts, stated)
    if not nouns:
        return None
    spelled = texts.answer.text[stated.start : stated.end]
    following = texts.answer.list_following(stated.end, _MOST_TO_NOUN)
    if any(own.key == noun.key for own in following for noun in nouns):
        return None  # "30 one-hour sessions", "three months' premiums"
    reason = f'the answer says "{spelled}", and not how many {nouns[-1].folded}'
    is_open = any(_shares_letters(noun, texts.answer, stated) for noun in nouns)
    is_open = is_open or (is_span(stated) and any(noun.folded in _LIKE_UNITS for noun in nouns))
    return FactJudgment(texts.fact, "unknown" if is_open else "denied", reason, "" if is_open else "other value")


def _may_count(stated: Quantity) -> bool:
    """Whether a quantity may be a count: it has no unit, or one of what is counted."""
    return not all(
        reading.dimension in _UNITS_OF_THEIR_OWN or reading.dimension.startswith(MONEY) for reading in stated.readings
    )


def _list_counted(texts: FactTexts, stated: Quantity) -> Sequence[Word]:
    """Return the words after a number that the question has too, or after "how many"; empty if it may have a unit."""
    if not all(is_plain(wanted) for wanted in texts.read_fact.quantities):
        return ()
    number = _take_number(stated)
    for text in (texts.read_fact, texts.reference):
        for wanted in text.quantities:
            if not is_plain(wanted) or not is_same_value(wanted, number):
                continue
            named = _list_named(text, wanted.end)
            if named:
                return named if any(texts.question.find_word(word, True) for word in named) else ()
    if texts.content:
        return ()
    asked = _ASKS_HOW_MANY.search(texts.question.plain)
    return () if asked is None else _list_named(texts.question, asked.end())


def _take_number(stated: Quantity) -> Quantity:
    """Return a quantity as the number before its unit."""
    readings = tuple(
        structs.replace(reading, dimension="", low=reading.low / stated.unit_size, high=reading.high / stated.unit_size)
        for reading in stated.readings
    )
    return structs.replace(
        stated, readings=readings, unit_size=stated.unit_size / stated.unit_size, rate="", rate_size=None
    )


def _list_named(text: ReadText, start: int) -> Sequence[Word]:
    """Return the words from a position that name what is counted; empty if there is none, or one is a unit."""
    named: list[Word] = []
    end = start
    for word in text.list_following(start, _MOST_TO_NOUN):
        if word.kind not in ("word", "name") or text.plain[end : word.start].strip(" -"):
            break
        named.append(word)
        end = word.end
    units = [UNITS[word.folded].dimension for word in named if word.folded in UNITS]
    return () if any(unit in _UNITS_OF_THEIR_OWN or unit.startswith(MONEY) for unit in units) else named


def _shares_letters(noun: Word, answer: ReadText, stated: Quantity) -> bool:
    """Whether a noun begins as the unit of a quantity does: "minutos" for "minutes", "monthly" for "months"."""
    units = [word for word in answer.plain[stated.start : stated.end].split() if word.isalpha()]
    return any(unit[:_SHARED_LETTERS] == noun.folded[:_SHARED_LETTERS] for unit in units)


def _judge_other_noun(texts: FactTexts, stated: Quantity, nouns: Sequence[Word]) -> FactJudgment | None:
    """Return the judgment of a number before a plural of something else: "12 magazines" for "12 books"."""
    if any(texts.answer.find_word(noun, True) for noun in nouns):
        return None
    end = stated.end
    for word in texts.answer.list_following(stated.end, _MOST_TO_PLURAL):
        if word.start - end != 1 or word.kind == "stop" or texts.is_known(word) or not texts.is_new(word):
            return None
        if _is_plural(word, texts.answer):
            spelled = texts.answer.text[stated.start : word.end]
            return FactJudgment(
                texts.fact, "unknown", f'the answer says "{spelled}", and not how many {nouns[-1].folded}'
            )
        end = word.end
    return None


_MOST_TO_PLURAL = 2


def _is_plural(word: Word, answer: ReadText) -> bool:
    """Whether a word is surely a plural noun; in German one with a capital letter within a sentence."""
    if word.folded in _PLURALS or (word.folded.endswith("s") and not word.folded.endswith("ss")):
        return True
    return (
        word.is_capitalised and not answer.text[word.start : word.end].isupper() and word.folded.endswith(("en", "er"))
    )
