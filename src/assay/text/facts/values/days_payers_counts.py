"""On what terms an answer states a value: which days it counts, who pays whom, for how many, and whether still.

Each of the rules looks at one place of an answer that holds a fact, and leaves the fact open where nothing else (the
question, the reference, another fact) speaks of such terms. The patterns are for folded text (`fold_in_place`).
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.doubt_cues import FORMER_BEFORE_NOUN
from assay.text.facts.cues.question_cues import ASKS_WHAT_IS_GIVEN
from assay.text.facts.cues.value_cues import (
    BEFORE_AMOUNT,
    GIVEN,
    GIVEN_AFTER,
    IT_COSTS,
    MUST_PAY_IN_VIETNAMESE,
    SPEAKS_OF_GIVING,
    SPEAKS_OF_WORK,
    TIMES_OF_THE_PAST,
    WORKING_DAYS,
    YOU_PAY,
)
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.read_text import ReadText
from assay.text.facts.reading.statement_marks import ASKS_PAST
from assay.text.facts.reading.text_parts import Part, list_quantities, split_parts
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import Quantity, is_plain
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.quantity_rates import is_time_rate, name_rate_noun
from assay.text.quantities.units import MONEY

_REACH = 40  # characters on either side of a value in which its terms are searched


def judge_terms(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a value that an answer states on other terms than the expected ones; None otherwise."""
    if not texts.question.words:
        return None
    reason = _name_past(texts, occurrence)
    if not reason and stated is not None:
        reason = _name_days(texts, stated) or _name_payer(texts, stated) or _name_count(texts, occurrence, stated)
    return FactJudgment(texts.fact, "unknown", reason) if reason else None


_PERIOD = f"(?:{TIMES_OF_THE_PAST})"
_WAS_BEFORE = build_pattern(
    r"[\"')]* (?:is|was|were|has been|had been) (?:only )?(?:(?:the|our|my|his|her|its|their|your) )?"
    rf"(?:{FORMER_BEFORE_NOUN}|yesterday's|last (?:{TIMES_OF_THE_PAST})(?:'s)?)\b"
)
_WAS_UNTIL = compile_pattern(r"[\"')]* (?:was|were|had been)\b[^.;,]{0,30} (?:until|till|up to|before)\b")
_WAS = LatePattern(r"\b(?:old|former|previous|last|until|till|up to|before)\b")


def _name_past(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return how an answer says after a value that it is the one of before: "2210 was last month's code"."""
    plain = texts.answer.plain
    past = _WAS_BEFORE.match(plain, occurrence.end) or _WAS_UNTIL.match(plain, occurrence.end)
    if past is None or ASKS_PAST.search(texts.question.plain) or texts.has_cue(_WAS):
        return ""
    return f'the answer says this of what was before ("{texts.answer.text[past.start() : past.end()].strip()}")'


_WORKING_DAYS = build_pattern(rf"\b{WORKING_DAYS}\b")
_WORK = build_pattern(rf"\b{SPEAKS_OF_WORK}\b")


def _name_days(texts: FactTexts, stated: Quantity) -> str:
    """Return that an answer counts working days, where days are expected, or days where working days are."""
    is_span = any(reading.dimension == "duration" for reading in stated.readings)
    if is_span and _WORKING_DAYS.search(texts.read_fact.plain) and _WORK.search(texts.answer.plain) is None:
        return "" if _WORK.search(texts.question.plain) else "the answer does not say that it counts working days"
    days = _WORKING_DAYS.search(texts.answer.plain, stated.start, stated.end + _REACH) if is_span else None
    if days is None or days.start() > stated.end + 1 or texts.has_cue(_WORK):
        return ""
    return f'the answer counts "{texts.answer.text[days.start() : days.end()]}"'


_AMOUNT = rf"(?: {BEFORE_AMOUNT})*[ $€£]*$"
_GIVEN_BEFORE = build_pattern(rf"\b{GIVEN}{_AMOUNT}")
_GIVEN_AFTER = build_pattern(rf" {GIVEN_AFTER}\b")
_PAID_BEFORE = build_pattern(rf"\b{YOU_PAY}{_AMOUNT}|\b{IT_COSTS}{_AMOUNT}|\b{MUST_PAY_IN_VIETNAMESE}{_AMOUNT}")
_SPEAKS_OF_GIVING = build_pattern(rf"\b{SPEAKS_OF_GIVING}\b")


_ASKS_WHAT_IS_GIVEN = build_pattern(rf"\b{ASKS_WHAT_IS_GIVEN}\b")


def _name_payer(texts: FactTexts, stated: Quantity) -> str:
    """Return that an answer gives an amount that is to be paid, or has paid what is given; "" if it does neither."""
    if not any(reading.dimension.startswith(MONEY) for reading in stated.readings):
        return ""
    plain, end = texts.answer.plain, max(stated.end, stated.rate_span[1])
    low = max(texts.answer.clause_at(stated.start).sentence_start, stated.start - _REACH)
    is_given = _GIVEN_BEFORE.search(plain, low, stated.start) or _GIVEN_AFTER.match(plain, end)
    if is_given:
        return (
            "" if texts.has_cue(_SPEAKS_OF_GIVING) else "the answer says that the user gets this, and does not pay it"
        )
    if _PAID_BEFORE.search(plain, low, stated.start) is None or _speaks_of_paying(texts.reference):
        return ""
    if _ASKS_WHAT_IS_GIVEN.search(texts.question.plain) is not None:
        return "the answer says that the user pays this, and does not get it"
    for wanted in texts.reference.quantities:
        is_to_be_given = _GIVEN_BEFORE.search(texts.reference.plain, max(0, wanted.start - _REACH), wanted.start)
        if is_to_be_given and is_same_quantity(wanted, stated):
            return "the answer says that the user pays this, and does not get it"
    return ""


def _speaks_of_paying(text: ReadText) -> bool:
    return any(_PAID_BEFORE.search(text.plain, max(0, own.start - _REACH), own.start) for own in text.quantities)


def _name_count(texts: FactTexts, occurrence: Occurrence, stated: Quantity) -> str:
    """Return of how many an answer says what is expected of one: "80 km on ten charges", asked per charge.

    So it does of another thing each: "2 keys per player", where each team has 2.
    """
    owners = {name_rate_noun(match["noun"]) for match in _EACH.compiled.finditer(texts.reference.plain)}
    if stated.rate and owners and stated.rate not in owners and not is_time_rate(stated.rate):
        is_named = any(name_rate_noun(word.folded) == stated.rate for text in texts.explaining for word in text.words)
        return "" if is_named else f"the answer counts this per {stated.rate}, not per {min(owners)}"
    nouns = {noun for text in (texts.read_fact, texts.question, texts.reference) for noun in _list_counted_once(text)}
    for part in split_parts(texts.answer, occurrence.clause.sentence_start, occurrence.clause.sentence_end):
        if part.start <= stated.start < part.end:
            counted = _find_counted(texts.answer, part, stated, nouns)
            if counted is not None:
                return f'the answer says this for "{texts.answer.text[slice(*counted)]}", and not for one'
    return ""


def _find_counted(answer: ReadText, part: Part, stated: Quantity, nouns: set[str]) -> tuple[int, int] | None:
    """Return where a part of an answer counts one of some things besides a value, None if it does not."""
    for own in list_quantities(answer, part.start, part.end):
        noun = _NOUN_AFTER.match(answer.plain, own.end)
        is_count = own != stated and is_plain(own) and not own.is_spelled_one
        if is_count and noun is not None and name_rate_noun(noun[1]) in nouns:
            return own.start, noun.end()
    return None


_NOUN_AFTER = compile_pattern(r" ([a-z]{3,})\b")
_EACH = LatePattern(r"(?:^|[.;] )(?:each|every) (?P<noun>[a-z]{3,})\b")
_FOR_ONE = LatePattern(
    r"\b(?:(?:on|per|for|with|from|in|by) (?:an?|one|each|every)(?: single)?|per|each|every) (?P<noun>[a-z]{3,})\b"
    r"(?: (?P<head>[a-z]{3,}))?"
)


def _list_counted_once(text: ReadText) -> Iterator[str]:
    """Yield the nouns of which a text speaks of one: "per charge", "on a single charge"."""
    for quantity in text.quantities:
        if quantity.rate:
            yield quantity.rate
    for match in _FOR_ONE.compiled.finditer(text.plain):
        for noun in (match["noun"], match["head"]):
            if noun is not None:
                yield name_rate_noun(noun)
