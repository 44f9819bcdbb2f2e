"""Values that an answer says per something, or for several, of which nothing else speaks.

"The deposit is €60 per day" is another deposit than one of €60, and "€28 for five haircuts" is the price of none. Such
a value is open, unless question, reference or a fact has the word for what it is counted per, or one like it. Spans of
time are usually meant per a longer one: who asks how many days of leave there are may be told that it is 12 a year.
"""

from __future__ import annotations

from msgspec import structs

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.value_cues import ASKED_PER, FOR_MANY_USES, FOR_SEVERAL, OF_A_GROUP, ONE, PER
from assay.text.facts.cues.word_classes import COUNTED_ALIKE, ONE_USE, PERSONS
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence, find_stated_quantity
from assay.text.facts.presence.value_sources import iterate_value_sources
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import WEEKDAY_NUMBER, Quantity, is_plain, is_time
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.quantity_rates import is_time_rate, name_rate_noun
from assay.text.quantities.units import MONEY

_FOR_MANY_USES = build_pattern(rf"\b{FOR_MANY_USES}\b")
_OF_A_GROUP = build_pattern(rf"\b{OF_A_GROUP}\b")
"""Says that a value is one for several people, so that it is none per person."""
_SEVERAL_AFTER = build_pattern(rf" (?:is |are )?{FOR_SEVERAL} (?:the |all |cả )?$")
_NOUN_AFTER = compile_pattern(r" [a-z]{2,}")
_REACH = 30  # characters from a value to the number of things that it is for


def judge_unasked_rate(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a value that is said per something, or for several, of which nothing else speaks."""
    stated = find_stated_quantity(texts.answer, occurrence)
    if stated is None or is_time(stated) or stated.date or not texts.question.words:
        return None
    is_per_time = is_time_rate(stated.rate) and stated.rate not in _list_rates(texts)
    if stated.rate and ((is_per_time and _asks_per_thing(texts)) or not _is_known_rate(texts, stated)):
        return FactJudgment(
            texts.fact,
            "unknown",
            f"the answer counts this per {_spell_rate(texts, stated)}, and neither question nor evidence do",
        )
    several = _find_several(texts, stated)
    return (
        FactJudgment(texts.fact, "unknown", f'the answer says this for "{several}", of which nothing else speaks')
        if several
        else None
    )


def _spell_rate(texts: FactTexts, stated: Quantity) -> str:
    """Return per what a value is as the answer writes it: "loss" is the rate "los"."""
    words = texts.answer.text[slice(*stated.rate_span)].split()
    return words[-1] if words and name_rate_noun(words[-1].lower()) == stated.rate else stated.rate


def _is_known_rate(texts: FactTexts, stated: Quantity) -> bool:
    """Whether another text has a rate too, the word for what a value is per, or one that may stand for it."""
    is_counted = is_plain(stated) or any(reading.dimension.startswith(MONEY) for reading in stated.readings)
    is_dose = stated.rate_size is not None and not is_counted
    if is_dose or any(reading.dimension in _NOT_COUNTED for reading in stated.readings):
        return True
    if "mọi" in texts.answer.text[slice(*stated.rate_span)].lower():
        return True  # "all", which is folded like "mỗi" (each)
    if _FOR_ONE.match(texts.answer.plain, stated.rate_span[0]) and not is_time_rate(stated.rate):
        return True
    second = _SECOND_RATE.match(texts.answer.plain, stated.rate_span[1])
    nouns = {name_rate_noun(part) for part in (*stated.rate.split(), *([second["noun"]] if second is not None else []))}
    nouns.add(_spell_rate(texts, stated).lower())
    if not is_time_rate(stated.rate) and _asks_per_other(texts, nouns):
        return False
    if not nouns.isdisjoint(ONE_USE) and not texts.has_cue(_FOR_MANY_USES):
        return True
    is_of_group = texts.has_cue(_OF_A_GROUP)
    if not nouns.isdisjoint(PERSONS) and not is_of_group:
        return True
    for group in COUNTED_ALIKE:
        if not nouns.isdisjoint(group):
            nouns |= group
    if _is_said_per_other(texts, stated, nouns):
        return False
    if stated.rate_size is not None and _has_measure(texts, stated.rate_size[0]):
        return True
    if _is_said_per_same(texts, stated, nouns) or stated.rate in _list_rates(texts):
        return True
    words = {word for text in texts.explaining for word in _WORDS.findall(text.plain)}
    return any(name_rate_noun(word) in nouns or name_rate_noun(word.removesuffix("s")) in nouns for word in words)


def _list_rates(texts: FactTexts) -> set[str]:
    return {own.rate for text in texts.explaining for own in text.quantities if own.rate}


def _is_said_per_same(texts: FactTexts, stated: Quantity, nouns: set[str]) -> bool:
    """Whether the evidence counts a value per the same: "at least €25 for each month begun"."""
    value = structs.replace(stated, rate="", rate_size=None)
    for part in iterate_value_sources(texts, value):
        for match in _RATE.finditer(part.plain):
            if not nouns.isdisjoint((name_rate_noun(match["noun"]), name_rate_noun(match["second"] or ""))):
                return True
    return False


def _is_said_per_other(texts: FactTexts, stated: Quantity, nouns: set[str]) -> bool:
    """Whether reference and facts count a value per something else alone: "£7 a photo" for "£7 per visit"."""
    value = structs.replace(stated, rate="", rate_size=None)
    of_sources = [
        own.rate
        for text in texts.reference_and_facts
        for own in text.quantities
        if own.rate and is_same_quantity(value, structs.replace(own, rate="", rate_size=None))
    ]
    return bool(of_sources) and nouns.isdisjoint(of_sources) and not _is_said_per_same(texts, stated, nouns)


_NOT_COUNTED = frozenset(("data", "duration", "calendar", WEEKDAY_NUMBER))
"""Dimensions of values that are per second, per week or per year anyway: "12 days a year"."""
_SECOND_RATE = build_pattern(rf"(?: and)? (?:{PER}|{ONE}) (?P<noun>[a-z]+)\b")
_RATE = build_pattern(rf"\b(?:{PER}|{ONE}) (?P<noun>[a-z]+)(?: and (?P<second>[a-z]+))?\b")
_FOR_ONE = compile_pattern(r" for (?:an?|one) ")
_WORDS = compile_pattern(r"[a-z]+")


_ASKED_PER = build_pattern(rf"\b{ASKED_PER} (?P<noun>[a-z]+)\b")


def _asks_per_other(texts: FactTexts, nouns: set[str]) -> bool:
    """Whether the question asks what it is per something else: "€5 per class", asked per pupil."""
    asked = {_name_noun(match["noun"]) for match in _ASKED_PER.finditer(texts.question.plain)}
    if not asked or not asked.isdisjoint(nouns):
        return False
    in_question = {_name_noun(word.folded) for word in texts.question.words}
    return not nouns.isdisjoint(in_question)


def _asks_per_thing(texts: FactTexts) -> bool:
    """Whether the question asks what it is per something, and per no span of time: "€25 per day", asked per item."""
    asked = {_name_noun(match["noun"]) for match in _ASKED_PER.finditer(texts.question.plain)}
    return bool(asked) and not any(is_time_rate(noun) for noun in asked)


def _name_noun(word: str) -> str:
    """Return a noun as the rate of a quantity is named here, which `name_rate_noun` made already: "class"."""
    return name_rate_noun(name_rate_noun(word))


def _has_measure(texts: FactTexts, dimension: str) -> bool:
    """Whether question, reference or a fact have a measure of a dimension, or a value per one."""
    for text in texts.explaining:
        for own in text.quantities:
            if own.rate_size is not None and own.rate_size[0] == dimension:
                return True
            if any(reading.dimension == dimension for reading in own.readings):
                return True
    return False


def _is_count(quantity: Quantity) -> bool:
    return is_plain(quantity) or all(reading.dimension == "persons" for reading in quantity.readings)


def _find_several(texts: FactTexts, stated: Quantity) -> str:
    """Return of how many things an answer says a value, where nothing else has their number; "" if of none."""
    answer = texts.answer
    for own in answer.quantities:
        if not 0 < own.start - stated.end <= _REACH or not _is_count(own) or own.is_spelled_one or own.is_range:
            continue
        noun = _NOUN_AFTER.match(answer.plain, own.end)
        if noun is None or _SEVERAL_AFTER.fullmatch(answer.plain, stated.end, own.start) is None:
            continue
        expected = (quantity for text in texts.explaining for quantity in text.quantities)
        if not any(is_same_quantity(wanted, own) for wanted in expected):
            return answer.text[own.start : noun.end()]
    return ""
