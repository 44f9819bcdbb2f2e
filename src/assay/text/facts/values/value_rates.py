"""Per what an answer counts a value: another unit, another part of the day, a total, another interval or period.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from msgspec import structs

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.value_cues import (
    ADVERBS_OF_RATE,
    EVERY_BEFORE,
    IN_A_ROW,
    IN_ALL,
    PER,
    PERIOD,
    PERIOD_BEFORE,
    SPEAKS_OF_EVERY,
    WITHIN_PERIOD,
)
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.presence.value_sources import iterate_value_sources
from assay.text.facts.reading.read_text import CLAUSE_REACH, ReadText
from assay.text.facts.reading.sentence_around import REACH_BEFORE, get_sentence
from assay.text.facts.reading.text_parts import find_part, list_quantities
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import Quantity, is_plain, is_span, is_time
from assay.text.quantities.quantity_agreement import (
    have_different_rate_sizes,
    have_different_rates,
    is_comparable,
    is_same_quantity,
    is_same_value,
)
from assay.text.quantities.quantity_rates import is_time_rate, name_rate_noun

_PER_BEFORE = build_pattern(rf"[\d$€£%][^.;]{{0,12}} {PER} $")
_EVERY_BEFORE = build_pattern(rf"\b{EVERY_BEFORE} $")
_EVERY = build_pattern(rf"\b{SPEAKS_OF_EVERY}\b|ly\b")
_PER = build_pattern(rf"\b(?:{PER}|often)\b")


def judge_rate(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a quantity that the answer states per something else: "$15 per page", not per copy."""
    if stated is None:
        return None
    reason = _name_measure(texts, stated)
    if reason:
        return FactJudgment(texts.fact, "unknown", reason)
    other = next((wanted for wanted in texts.reference.quantities if _has_other_rate(wanted, stated)), None)
    if other is not None:
        return FactJudgment(texts.fact, "denied", f"the answer counts this per {stated.rate}, not per {other.rate}")
    rated = [quantity for quantity in texts.read_fact.quantities if quantity.rate]
    second = _find_other_second_rate(texts, stated)
    if second:
        return FactJudgment(texts.fact, "unknown", f"the answer counts this per {second} too, and not as its source")
    if not rated:
        return None
    reason = _name_lacking_rate(texts, stated, rated)
    return FactJudgment(texts.fact, "unknown", reason) if reason else None


_SECOND_RATE = build_pattern(rf"(?: and| &|,)?(?: {PER}| an?| every)? (?P<noun>[a-z]+)\b")


def _find_other_second_rate(texts: FactTexts, stated: Quantity) -> str:
    """Return the span of time per which an answer counts a value that is per something else first, if all sources
    count it per another span: "$12 per seat and year" for "$12 per seat and month"; else ""."""
    rates = _list_time_rates(texts.answer, stated) if stated.rate else set()
    if not rates:
        return ""
    value = structs.replace(stated, rate="", rate_size=None)
    has_rate = False
    for text in chain(texts.reference_and_facts, texts.passages):
        for own in text.quantities:
            if own.rate and is_same_value(value, structs.replace(own, rate="", rate_size=None)):
                of_source = _list_time_rates(text, own)
                if of_source & rates:
                    return ""
                has_rate = has_rate or bool(of_source)
    return min(rates) if has_rate else ""


def _list_time_rates(text: ReadText, value: Quantity) -> set[str]:
    second = _SECOND_RATE.match(text.plain, value.rate_span[1])
    nouns = {value.rate, name_rate_noun(second["noun"]) if second is not None else ""}
    return {noun for noun in nouns if is_time_rate(noun)}


def _name_measure(texts: FactTexts, stated: Quantity) -> str:
    """Return that a value is only what another one is counted per, or how often something is; "" if it is neither.

    "2 euros per 30 minutes" and "every 30 minutes" do not say how long something takes.
    """
    if not texts.question.words:
        return ""
    plain, low = texts.answer.plain, max(0, stated.start - REACH_BEFORE)
    expected = (texts.read_fact.plain, texts.question.plain, texts.reference.plain)
    if _PER_BEFORE.search(plain, low, stated.start) and not any(_PER.search(text) for text in expected):
        return "the answer counts something else per this"
    is_span = any(reading.dimension in ("duration", "calendar") for reading in stated.readings)
    is_interval = is_span and _EVERY_BEFORE.search(plain, low, stated.start) is not None
    return (
        "the answer says how often, and not how long" if is_interval and not any(map(_EVERY.search, expected)) else ""
    )


def _name_lacking_rate(texts: FactTexts, stated: Quantity, rated: Sequence[Quantity]) -> str:
    """Return that an answer does not say a value per what the fact does, or says another one per that; "" if it does.

    A heading may say it: "Monthly rents:". `rated`: the quantities of the fact that are per something.
    """
    rates = [quantity.rate for quantity in rated]
    if stated.rate in rates or any(own.rate_size and is_same_quantity(own, stated) for own in rated):
        return ""
    if stated.rate:
        return f"the answer counts this per {stated.rate}, not per {rates[0]}"
    answer = texts.answer
    if _goes_on_in_list(answer, stated, rates):
        return ""
    if any(is_comparable(stated, own) for own in answer.quantities if own != stated and own.rate in rates):
        return f'the answer gives another value per "{rates[0]}"'
    low, high = max(0, stated.start - CLAUSE_REACH), stated.start + CLAUSE_REACH
    nouns = {name_rate_noun(word.folded) for word in (*answer.list_words(low, high), *texts.question.words)}
    spans = [own for own in answer.quantities if low <= own.start < high and _is_one(own)]
    nouns.update(name_rate_noun(word) for own in spans for word in answer.plain[own.start : own.end].split())
    return f'the answer does not say that this is per "{rates[0]}"' if nouns.isdisjoint(rates) else ""


def _goes_on_in_list(answer: ReadText, stated: Quantity, rates: Sequence[str]) -> bool:
    """Whether a value follows one per what is expected in its sentence: "adults pay £32 a month and pupils £19"."""
    low = answer.clause_at(stated.start).sentence_start
    before = [own for own in answer.quantities if low <= own.start < stated.start and is_comparable(stated, own)]
    return bool(before) and before[-1].rate in rates and before[-1].unit_size == stated.unit_size


_DAY_PART_AFTER = LatePattern(r",? (?:in the |at )(?P<part>morning|afternoon|evening|night)\b")
_PADDED = LatePattern(r"0\d|.*\ba\.?m\b")
_NOON, _DAWN = 12 * 60, 5 * 60  # in minutes


def judge_day_part(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a time that is said of the other half of the day: "08:15 in the evening"."""
    match = _DAY_PART_AFTER.match(texts.answer.plain, stated.end) if stated is not None and is_time(stated) else None
    if match is None or any(match["part"] in text.plain for text in texts.explaining):
        return None
    is_morning = match["part"] == "morning"
    for own in texts.read_fact.quantities:
        is_written_early = _PADDED.match(texts.read_fact.plain[own.start : own.end]) is not None
        for reading in own.readings if is_time(own) else ():
            is_early = reading.low < _NOON and is_written_early and not is_morning
            is_night = match["part"] == "night" and reading.low < _DAWN
            if (is_early and not is_night) or (is_morning and reading.low > _NOON):
                return FactJudgment(texts.fact, "unknown", f"the answer says that this is in the {match['part']}")
    return None


_TOTAL_AFTER = build_pattern(rf"\b{IN_ALL}\b|\b(?:total|sum) (?:of|is|comes to)\b")


def judge_total(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a value per something of which the sentence says another total: "5 days each, 20 in all".

    Where fact, reference or question say per what it is, the value and not the total is asked.
    """
    if stated is None or not stated.rate or not texts.question.words:
        return None
    if any(_PER.search(text.plain) or any(own.rate for own in text.quantities) for text in texts.explaining):
        return None
    start, end = get_sentence(texts.answer, stated.start)
    if _TOTAL_AFTER.search(texts.answer.plain, start, end) is None:
        return None
    others = [own for own in texts.answer.quantities if start <= own.start < end and own != stated]
    if not any(is_comparable(stated, own) and not is_same_quantity(stated, own) for own in others):
        return None
    return FactJudgment(
        texts.fact, "unknown", f"the answer counts this per {stated.rate}, and gives another value in all"
    )


_GROUPED = LatePattern(r"[$€£]?\d{1,3}(?: \d{3})+(?!\d)")


def judge_grouped_digits(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of the last digits of what may be one number: the "400" of "2 400 francs"."""
    if stated is None or len(stated.readings) < 2 or not _GROUPED.match(texts.answer.plain, stated.start):
        return None
    whole = structs.replace(stated, readings=stated.readings[:1])
    own = [wanted for wanted in texts.read_fact.quantities if is_same_quantity(wanted, stated)]
    if not own or any(is_same_quantity(wanted, whole) for wanted in own):
        return None
    number = texts.answer.text[stated.start : stated.end]
    return FactJudgment(texts.fact, "unknown", f'"{number}" in the answer may be one number')


def _has_other_rate(wanted: Quantity, stated: Quantity) -> bool:
    """Whether two quantities have one value, per different spans of time or different measures."""
    if not (have_different_rates(wanted, stated) or have_different_rate_sizes(wanted, stated)):
        return False
    is_same_value = is_same_quantity(wanted, structs.replace(stated, rate="", rate_size=None, bound=""))
    return is_same_value and not is_same_quantity(wanted, stated)


def judge_interval(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a fact beside another interval than the expected one: "every three days", not weeks."""
    expected = [own for text in (texts.read_fact, texts.reference) for own in _list_intervals(text)]
    if not expected:
        return None
    intervals = _list_intervals(texts.answer)
    if not intervals or any(is_same_quantity(wanted, own) for wanted in expected for own in intervals):
        return None
    for own in intervals:
        if any(is_comparable(wanted, own) for wanted in expected):
            interval = texts.answer.text[own.start : own.end]
            return FactJudgment(texts.fact, "unknown", f'the answer says "every {interval}"')
    return None


def _list_intervals(text: ReadText) -> list[Quantity]:
    """Return the spans of time after which something is repeated: "every three weeks", "mỗi hai tháng"."""
    return [
        own
        for own in text.quantities
        if any(reading.dimension in ("duration", "calendar") for reading in own.readings)
        and _EVERY_BEFORE.search(text.plain, max(0, own.start - REACH_BEFORE), own.start)
    ]


def judge_period(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a quantity that is said of another period: "each term you pay €850", asked per month."""
    if stated is None or is_time(stated) or stated.date:
        return None
    if stated.rate:
        return _judge_asked_rate(texts, stated) if len(texts.facts) == 1 else None
    part = find_part(texts.answer, occurrence.clause, stated.start)
    if _IN_A_ROW.search(texts.answer.plain, stated.end, part.end) and not _speaks_of_row(texts):
        return FactJudgment(texts.fact, "unknown", "the answer counts only what follows one another without a gap")
    stated_periods = _list_periods(texts.answer, part.start, part.end)
    stated_periods.discard(texts.answer.plain[stated.start : stated.end])  # "you put in ten hours"
    if not stated_periods:
        return None
    expected_periods = _list_periods(texts.question, 0, len(texts.question.plain))
    for text in (texts.read_fact, texts.reference):
        expected_periods.update(own.rate for own in text.quantities if own.rate and is_same_quantity(own, stated))
    if is_plain(stated):
        for source in iterate_value_sources(texts, stated):
            expected_periods |= _list_periods(source, 0, len(source.plain))
    if expected_periods and stated_periods.isdisjoint(expected_periods):
        reason = f"the answer counts this per {min(stated_periods)}, and not per {min(expected_periods)}"
        return FactJudgment(texts.fact, "unknown", reason)
    return None


def _judge_asked_rate(texts: FactTexts, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of the only value that is asked for, if it is per another span of time: "ten days a month",
    asked per year."""
    asked = _list_periods(texts.question, 0, len(texts.question.plain))
    expected_rates = {own.rate for text in texts.reference_and_facts for own in text.quantities}
    if not is_time_rate(stated.rate) or not any(map(is_time_rate, asked)) or stated.rate in asked | expected_rates:
        return None
    reason = f"the answer counts this per {stated.rate}, and the question asks per {min(asked)}"
    return FactJudgment(texts.fact, "unknown", reason)


_IN_A_ROW = build_pattern(rf"\b{IN_A_ROW}\b")


def _speaks_of_row(texts: FactTexts) -> bool:
    return any(_IN_A_ROW.search(text.plain) is not None for text in texts.known)


_PERIOD = build_pattern(
    rf"\b(?:{PERIOD_BEFORE} (?P<half>half |nửa )?(?:chu kỳ |calendar |given |single )?"
    rf"(?:(?P<number>\d+) )?(?P<noun>{PERIOD})"
    rf"|(?P<adverb>{ADVERBS_OF_RATE}))s?\b"
)
"""A span of time that something is counted for."""


_WITHIN = build_pattern(rf"{WITHIN_PERIOD} (?:the |any )?")
_WITHIN_BEFORE = build_pattern(rf"\b{WITHIN_PERIOD} (?:the |any )?$")


def _list_periods(text: ReadText, start: int, end: int) -> set[str]:
    """Return the spans of time or the groups that a text counts something for between two positions."""
    periods = set()
    for match in _PERIOD.finditer(text.plain, start, end):
        name = "year" if match["adverb"] == "annual" else name_rate_noun(match["noun"] or match["adverb"])
        periods.add(f"{'half' if match['half'] else match['number'] or ''} {name}".strip())
    for own in list_quantities(text, start, end):
        if not is_span(own):
            continue
        within = _WITHIN.match(text.plain, own.start) if own.bound else None  # "over five years" looks like a bound
        if within is not None or _WITHIN_BEFORE.search(text.plain, max(start, own.start - REACH_BEFORE), own.start):
            periods.add(text.plain[own.start if within is None else within.end() : own.end])
    return periods


def _is_one(quantity: Quantity) -> bool:
    """Whether a quantity is one of its unit: "a month", and not "30 days"."""
    return any(reading.low == quantity.unit_size for reading in quantity.readings)
