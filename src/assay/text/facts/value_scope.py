"""What the sentence says its value of: per what it counts, which limit it is, which event it dates, on what condition.

Each of the rules looks at one place of an answer that holds a fact, and returns the judgment that follows, or None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.fact_places import Occurrence, find_stated_quantity
from assay.text.facts.fact_scope import (
    UNCONDITIONAL,
    UNIVERSAL,
    ExpectedLimit,
    begins_after,
    find_asked_end,
    find_change,
    find_direction,
    find_reversed_event,
    is_limit_of_refusal,
    is_other_end,
    is_reversed_limit,
)
from assay.text.facts.fact_texts import FactTexts
from assay.text.facts.missing_quantities import is_opposite_bound
from assay.text.facts.negations import find_negations
from assay.text.facts.read_text import CLAUSE_REACH, ReadText, Word, narrow_clause
from assay.text.facts.spelled_words import is_other_word
from assay.text.facts.unread_quantities import is_complement, may_be_contrary
from assay.text.facts.value_owner import find_part, is_comparable, split_parts
from assay.text.facts.value_terms import judge_terms
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_in_place
from assay.text.quantities.quantity import Quantity, is_time, split_range
from assay.text.quantities.quantity_agreement import (
    have_different_rate_sizes,
    have_different_rates,
    is_same_quantity,
    is_same_value,
)
from assay.text.quantities.quantity_rates import is_time_rate, name_rate_noun
from assay.text.quantities.weekdays import WEEKDAY
from assay.text.statement_cues import ONLY

_PER_BEFORE = re.compile(r"[\d$€£%][^.;]{0,12} (?:per|for every|for each|every|each|moi) $")
_ASKS_WHICH = LatePattern(r"(?:on |at |from )?(?:when|which|what)\b|.{0,80}\b(?:khi nao|ngay nao|luc nao|thu may)\b")
_EVERY_BEFORE = re.compile(r"\b(?:every|each|cu|moi) $")
_EVERY = LatePattern(r"\b(?:every|each|per|often|frequently|cu|moi|hang|dinh ky)\b|ly\b")
_PER = LatePattern(r"\b(?:per|every|each|often|moi)\b")
_REACH_BEFORE = 24  # characters before a value in which words for what it counts per, and when it begins, are searched
_REACH = 160  # characters before a value in which words for the contrary event are searched


def judge_value_scope(texts: FactTexts, spot: Occurrence) -> FactJudgment | None:
    """Return the judgment of a value by what its sentence says it of; None if that is what is asked."""
    stated = find_stated_quantity(texts.answer, spot)
    for judge in (
        _judge_rate,
        _judge_asked_rate,
        _judge_total,
        _judge_day_part,
        _judge_grouped_digits,
        _judge_period,
        _judge_interval,
        _judge_limit,
        _judge_direction,
        _judge_relation,
        _judge_event,
        _judge_condition,
        judge_terms,
    ):
        judgment = judge(texts, spot, stated)
        if judgment is not None:
            return judgment
    return None


def _judge_rate(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a quantity that the answer states per something else: "$15 per page", not per copy."""
    if stated is None:
        return None
    if _PER_BEFORE.search(texts.answer.plain, max(0, stated.start - _REACH_BEFORE), stated.start):
        plains = (texts.read_fact.plain, texts.question.plain, texts.reference.plain)
        if texts.question.words and not any(_PER.search(plain) for plain in plains):
            return FactJudgment(texts.fact, "unknown", "something else is said per this")
    if _EVERY_BEFORE.search(texts.answer.plain, max(0, stated.start - _REACH_BEFORE), stated.start):
        plains = (texts.read_fact.plain, texts.question.plain, texts.reference.plain)
        is_span = any(reading.dimension in ("duration", "calendar") for reading in stated.readings)
        if is_span and texts.question.words and not any(_EVERY.search(plain) for plain in plains):
            return FactJudgment(texts.fact, "unknown", "it says how often, and not how long")
    other = next((wanted for wanted in texts.reference.quantities if _has_other_rate(wanted, stated)), None)
    if other is not None:
        return FactJudgment(texts.fact, "denied", f"it says it per {stated.rate}, not per {other.rate}")
    rated = [quantity for quantity in texts.read_fact.quantities if quantity.rate]
    rates = [quantity.rate for quantity in rated]
    if not rates:
        return _judge_rate_of_other(texts, stated)
    if stated.rate in rates or any(own.rate_size and is_same_quantity(own, stated) for own in rated):
        return None
    if stated.rate:
        return FactJudgment(texts.fact, "unknown", f"it says it per {stated.rate}, not per {rates[0]}")
    others = [own for own in texts.answer.quantities if own != stated and own.rate in rates]
    if any(is_comparable(stated, own) for own in others):
        return FactJudgment(texts.fact, "unknown", f'another value is the one per "{rates[0]}"')
    # A heading may say it: "Monthly rents:".
    low, high = max(0, stated.start - CLAUSE_REACH), stated.start + CLAUSE_REACH
    nouns = {name_rate_noun(word.folded) for word in (*texts.answer.list_words(low, high), *texts.question.words)}
    spans = [own for own in texts.answer.quantities if low <= own.start < high and _is_one(own)]
    nouns.update(name_rate_noun(word) for own in spans for word in texts.answer.plain[own.start : own.end].split())
    if nouns.isdisjoint(rates):
        return FactJudgment(texts.fact, "unknown", f'it does not say that this is per "{rates[0]}"')
    return None


_ASKED_RATE = re.compile(
    r"(?:\b(?:per|each|every|moi|hang|an?|mot)|/) ?(?P<noun>[a-z]+)\b"
    r"|\b(?P<adverb>hourly|daily|nightly|weekly|monthly|quarterly|yearly|annual(?:ly)?)\b"
)
_SAME_RATES = frozenset(("day", "night"))
"""Spans of time that stand for one another in prices."""


def _judge_asked_rate(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a value that is said per another span of time than the one of the question.

    A span that fact or reference have too is no other one, nor is one beside the span that is asked.
    """
    if stated is None or not is_time_rate(stated.rate) or stated.rate.startswith("half"):
        return None
    asked = _list_time_rates(texts.question.plain, 0, len(texts.question.plain))
    known = {own.rate for text in (texts.read_fact, texts.reference) for own in text.quantities}
    if not asked or stated.rate in known:
        return None
    said = {stated.rate, *_list_time_rates(texts.answer.plain, *_get_sentence(texts.answer, stated.start))}
    if asked & said or (stated.rate in _SAME_RATES and asked & _SAME_RATES):
        return None
    return FactJudgment(texts.fact, "unknown", f"it says it per {stated.rate}, and not per {min(asked)}")


_DAY_PART_AFTER = LatePattern(r",? (?:in the |at )(?P<part>morning|afternoon|evening|night)\b")
_PADDED = LatePattern(r"0\d|.*\ba\.?m\b")
_NOON, _DAWN = 12 * 60, 5 * 60  # in minutes


def _judge_day_part(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
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
                return FactJudgment(texts.fact, "unknown", f"it says it is in the {match['part']}")
    return None


_TOTAL_AFTER = LatePattern(
    r"\b(?:in (?:all|total)|altogether|all told|overall|tong cong|tat ca la)\b|\b(?:total|sum) (?:of|is|comes to)\b"
)


def _judge_total(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a value per something of which the sentence says another total: "5 days each, 20 in all".

    Where fact, reference or question say per what it is, the value and not the total is asked.
    """
    if stated is None or not stated.rate or not texts.question.words:
        return None
    if any(_PER.search(text.plain) or any(own.rate for own in text.quantities) for text in texts.explaining):
        return None
    start, end = _get_sentence(texts.answer, stated.start)
    if _TOTAL_AFTER.search(texts.answer.plain, start, end) is None:
        return None
    others = [own for own in texts.answer.quantities if start <= own.start < end and own != stated]
    if not any(is_comparable(stated, own) and not is_same_quantity(stated, own) for own in others):
        return None
    return FactJudgment(texts.fact, "unknown", f"it says it per {stated.rate}, and another value in all")


_GROUPED = LatePattern(r"[$€£]?\d{1,3}(?: \d{3})+(?!\d)")


def _judge_grouped_digits(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of the last digits of what may be one number: the "400" of "2 400 francs"."""
    if stated is None or len(stated.readings) < 2 or not _GROUPED.match(texts.answer.plain, stated.start):
        return None
    whole = stated._replace(readings=stated.readings[:1])
    own = [wanted for wanted in texts.read_fact.quantities if is_same_quantity(wanted, stated)]
    if not own or any(is_same_quantity(wanted, whole) for wanted in own):
        return None
    number = texts.answer.text[stated.start : stated.end]
    return FactJudgment(texts.fact, "unknown", f'"{number}" may be one number')


def _list_time_rates(plain: str, start: int, end: int) -> set[str]:
    rates = set()
    for match in _ASKED_RATE.finditer(plain, start, end):
        adverb = "yearly" if match["adverb"] == "annual" else match["adverb"]
        rate = name_rate_noun(match["noun"] or adverb)
        if is_time_rate(rate):
            rates.add(rate)
    return rates


def _judge_rate_of_other(texts: FactTexts, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a value that the reference has per something, and the answer another value instead."""
    plain = stated._replace(rate="", rate_size=None, bound="")
    rates = {own.rate for own in texts.reference.quantities if own.rate and is_same_quantity(own, plain)}
    if stated.rate or not rates:
        return None
    unexpected = [own for own in texts.answer.quantities if own.rate in rates and is_comparable(stated, own)]
    if any(not _is_known_value(own, texts) for own in unexpected):
        return FactJudgment(texts.fact, "unknown", f'another value is the one per "{min(rates)}"')
    return None


def _is_known_value(quantity: Quantity, texts: FactTexts) -> bool:
    """Whether question or reference have a value too, per the same."""
    quantities = (*texts.reference.quantities, *texts.question.quantities)
    return any(own.rate == quantity.rate and is_same_quantity(own, quantity) for own in quantities)


def _has_other_rate(wanted: Quantity, stated: Quantity) -> bool:
    """Whether two quantities have one value, per different spans of time or different measures."""
    if not (have_different_rates(wanted, stated) or have_different_rate_sizes(wanted, stated)):
        return False
    is_same_value = is_same_quantity(wanted, stated._replace(rate="", rate_size=None, bound=""))
    return is_same_value and not is_same_quantity(wanted, stated)


def _judge_interval(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
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
            return FactJudgment(texts.fact, "unknown", f'it says "every {interval}"')
    return None


def _list_intervals(text: ReadText) -> list[Quantity]:
    """Return the spans of time after which something is repeated: "every three weeks", "mỗi hai tháng"."""
    return [
        own
        for own in text.quantities
        if any(reading.dimension in ("duration", "calendar") for reading in own.readings)
        and _EVERY_BEFORE.search(text.plain, max(0, own.start - _REACH_BEFORE), own.start)
    ]


def judge_new_bound(texts: FactTexts, spot: Occurrence) -> FactJudgment | None:
    """Return the judgment of a value of which the answer states a bound only, and nobody speaks of a limit.

    "You get up to 12 days" is not "12 days". Where the question asks what may or must be, a limit is what is asked.
    """
    stated = find_stated_quantity(texts.answer, spot)
    if stated is None or not stated.bound or is_time(stated) or stated.date:
        return None
    if not texts.question.words or texts.limit.side:
        return None
    cue = _BOUND_WORDS.search(texts.answer.plain, max(0, stated.start - 1), stated.end + 1)
    if cue is None or any(own.bound or own.is_range for own in texts.read_fact.quantities):
        return None
    own_texts = [text for text in texts.explaining if text.words or text.quantities]
    side = _SPEAKS_OF_SIDE[stated.bound[0]]
    if any(_SPEAKS_OF_LIMIT.search(text.plain) or side.search(text.plain) for text in own_texts):
        return None
    if any(wanted.bound or wanted.is_range for text in own_texts for wanted in text.quantities):
        return None
    bound = texts.answer.text[cue.start() : cue.end()]
    return FactJudgment(texts.fact, "unknown", f'it bounds the value ("{bound}") instead of stating it')


def judge_reversed_condition(texts: FactTexts, spot: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact that an answer says of the other side of a limit: "below $500", not above it.

    Both sides may be said, and what holds beyond a limit is often denied.
    """
    is_denied = find_negations(texts.answer, spot.clause.sentence_start, spot.clause.sentence_end)
    if is_denied or find_negations(texts.reference):
        return None
    for wanted in texts.reference.quantities:
        if not wanted.bound or any(is_same_quantity(wanted, own) for own in texts.answer.quantities):
            continue
        for own in texts.answer.quantities:
            is_near = spot.clause.sentence_start <= own.start < spot.clause.sentence_end
            if is_near and is_opposite_bound(wanted, own) and not texts.question.quantities:
                bound = texts.answer.text[own.start : own.end]
                return FactJudgment(texts.fact, "unknown", f'it says it of "{bound}"')
    return None


_BOUND_WORDS = LatePattern(
    r"\b(?:(?<!'re )(?<!are )(?<!is )up to|at (?:the )?(?:most|least)|(?:a )?(?:maximum|minimum)(?: of)?"
    r"|(?:no|not) (?:more|less) than|khong qua|toi da|nhieu nhat|it nhat|toi thieu)\b"
)
_SPEAKS_OF_LIMIT = LatePattern(
    r"\b(?:limit(?:s|ed)?|deadline|max(?:imum|imal|\.)?|min(?:imum|imal|\.)?|most|least|until|within|by"
    r"|earliest|latest|how (?:far|old|big|large|late|early|heavy|tall)|largest|biggest|longest|toi da|toi thieu"
    r"|nhieu nhat|it nhat|gioi han|trong vong|lau nhat|muon nhat|som nhat|nang)\b"
)
"""Says that a value is a limit."""
_SPEAKS_OF_SIDE = {
    "<": LatePattern(
        r"\b(?:can|may|might|could|allow(?:s|ed)?|permit(?:s|ted)?|capacity|holds?|fits?|how long|duoc|co the|chua)\b"
    ),
    ">": LatePattern(
        r"\b(?:must|shall|should|need(?:s|ed)?|(?:have|has) to|require[sd]?|before|advance|phai|can|nen|truoc"
        r"|(?:at|from) (?:what|which) age (?:may|can|is|are|do|does)|(?:tu )?(?:may|bao nhieu) tuoi)\b"
    ),
}
"""Says that what may be is at most a value, and what has to be at least."""


def _judge_period(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a quantity that is said of another period: "each term you pay €850", asked per month."""
    if stated is None or stated.rate or is_time(stated) or stated.date:
        return None
    expected = _list_periods(texts.question.plain, 0, len(texts.question.plain))
    for text in (texts.read_fact, texts.reference):
        expected.update(own.rate for own in text.quantities if own.rate and is_same_quantity(own, stated))
    if not expected:
        return None
    for part in split_parts(texts.answer, spot.clause.sentence_start, spot.clause.sentence_end):
        if part.start <= stated.start < part.end:
            said = _list_periods(texts.answer.plain, part.start, part.end)
            if said and said.isdisjoint(expected):
                return FactJudgment(texts.fact, "unknown", f"it says it per {min(said)}, and not per {min(expected)}")
    return None


_PERIOD = re.compile(
    r"\b(?:(?:per|an?|each|every|one|whole|entire|moi|mot|hang|ca) (?P<half>half |nua )?(?:chu ky )?"
    r"(?:(?P<number>\d+) )?"
    r"(?P<noun>hour|day|night|week|month|quarter|year|semester|term|season|session|visit|group|party"
    r"|family|household|room|table|gio|tieng|ngay|dem|tuan|thang|quy|nam|hoc ky"
    r"|ky|mua|lan|luot|buoi|ca|khoa|doan|nhom|gia dinh|phong)"
    r"|(?P<adverb>hourly|daily|nightly|weekly|monthly|quarterly|yearly|annual(?:ly)?))s?\b"
)
"""A span of time that something is counted for."""


def _list_periods(plain: str, start: int, end: int) -> set[str]:
    periods = set()
    for match in _PERIOD.finditer(plain, start, end):
        name = "year" if match["adverb"] == "annual" else name_rate_noun(match["noun"] or match["adverb"])
        periods.add(f"{'half' if match['half'] else match['number'] or ''} {name}".strip())
    return periods


def _is_one(quantity: Quantity) -> bool:
    """Whether a quantity is one of its unit: "a month", and not "30 days"."""
    return any(reading.low == quantity.unit_size for reading in quantity.readings)


def _judge_limit(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a quantity that is stated as the other limit: "at least" where the most is asked."""
    if stated is None or any(quantity.bound for quantity in texts.read_fact.quantities):
        return None
    if find_direction(stated, texts.answer.plain) == "before":
        return _judge_lead_time(texts, stated)
    for text, wanted in _list_limits(texts) if stated.bound else ():
        if is_opposite_bound(wanted, stated) and not _is_asked_or_refused(texts, stated, spot):
            if is_complement(wanted, stated) and may_be_contrary(
                stated, texts.answer, (texts.reference, texts.question)
            ):
                return FactJudgment(texts.fact, "unknown", "it says what holds beyond it")
            said = text.text[wanted.start : wanted.end]
            return FactJudgment(texts.fact, "denied", f'it bounds the other side than "{said}"', "other side")
    clause_end = spot.clause.sentence_end
    if begins_after(stated, texts.answer.plain, texts.limit):
        reason = "it says what happens after this, and the question is about what happens until then"
        is_refused = is_limit_of_refusal(stated, texts.answer.plain, clause_end, ExpectedLimit("", False))
        is_open = is_refused or bool(find_negations(texts.answer, spot.clause.sentence_start, clause_end))
        return FactJudgment(texts.fact, "denied" if stated.date and not is_open else "unknown", reason)
    if texts.limit.side and not stated.bound and _is_present_count(texts, stated):
        return FactJudgment(texts.fact, "unknown", "it says how many there are, and not how many there may be")
    if not is_reversed_limit(stated, texts.limit):
        return None
    sides = ("a lower", "an upper") if texts.limit.side == "<" else ("an upper", "a lower")
    reason = f"it states {sides[0]} limit, not {sides[1]} one"
    return FactJudgment(texts.fact, "denied" if texts.limit.is_explicit else "unknown", reason)


def _list_limits(texts: FactTexts) -> Iterator[tuple[ReadText, Quantity]]:
    """Yield the quantities of the reference, and those from which something holds, each with its text."""
    for wanted in texts.reference.quantities:
        yield texts.reference, wanted
    for text in (texts.reference, texts.read_fact):
        for wanted in _list_lower_limits(text):
            yield text, wanted


def _list_lower_limits(text: ReadText) -> list[Quantity]:
    """Return the quantities from which something holds, as lower bounds: "children from 7 years", "từ 18 tháng"."""
    return [
        quantity._replace(bound=">=")
        for quantity in text.quantities
        if not (quantity.bound or quantity.date or quantity.is_range or is_time(quantity))
        and _FROM_BEFORE.search(text.plain, max(0, quantity.start - _REACH_BEFORE), quantity.start)
        and not _TO_AFTER.match(text.plain, quantity.end)
    ]


_FROM_BEFORE = re.compile(r"\b(?:from|tu) $")
_TO_AFTER = LatePattern(r" ?(?:-|–|to\b|until\b|up to\b|den\b|toi\b)")


_PRESENT_COUNT = LatePattern(
    r"\b(?:hien (?:co|dang|tai)|dang co|moi co|da co|currently|so far|right now|at the moment|have signed up"
    r"|(?:is|are) registered)\b"
)


def _is_present_count(texts: FactTexts, stated: Quantity) -> bool:
    """Whether a sentence says how many of something there are now: "we have 8 students so far"."""
    is_present = _PRESENT_COUNT.search(texts.answer.plain, *_get_sentence(texts.answer, stated.start))
    return is_present is not None and not texts.has_cue(_PRESENT_COUNT)


def _is_asked_or_refused(texts: FactTexts, stated: Quantity, spot: Occurrence) -> bool:
    """Whether the question has a bound too, or the answer forbids what is beyond its own."""
    if any(asked.bound for asked in texts.question.quantities):
        return True
    return is_limit_of_refusal(stated, texts.answer.plain, spot.clause.sentence_end, ExpectedLimit("", False))


def _judge_lead_time(texts: FactTexts, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a time ahead of something: the latest moment is the shortest time."""
    for wanted in texts.reference.quantities:
        is_reversed = bool(wanted.bound and stated.bound) and wanted.bound[0] != stated.bound[0]
        if is_reversed and is_same_value(wanted, stated):
            return FactJudgment(texts.fact, "denied", "it bounds the time on the other side")
    return None


def _judge_direction(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a time after what it is expected before, or of a change to what it changes by."""
    if stated is None:
        return None
    for find in (find_direction, find_change):
        said = find(stated, texts.answer.plain)
        if not said:
            continue
        for text in (texts.read_fact, texts.reference):
            for wanted in text.quantities:
                if not is_same_value(wanted, stated):
                    continue
                expected = find(wanted, text.plain)
                if expected and expected != said:
                    return FactJudgment(texts.fact, "denied", f"it says {said} and not {expected}")
    return _judge_notice(texts, stated) or _judge_difference(texts, stated)


_AHEAD = LatePattern(r"\b(?:before|prior|ahead|advance|beforehand|early|earlier|notice|until|deadline|truoc|som)\b")
_NOTICE_AFTER = LatePattern(r"(?:'s?|s)? (?:in advance|ahead|beforehand|notice|(?:before|prior to) (?:the|your|an?)\b)")
_NOTICE_BEFORE = re.compile(r"\btruoc $")


def _judge_notice(texts: FactTexts, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a span of time that is said to be notice, where nothing else speaks of any."""
    plain = texts.answer.plain
    is_span = any(reading.dimension in ("duration", "calendar") for reading in stated.readings)
    if not is_span or is_time(stated) or not texts.question.words:
        return None
    is_notice = _NOTICE_AFTER.match(plain, stated.end) or _NOTICE_BEFORE.search(
        plain, max(0, stated.start - _REACH_BEFORE), stated.start
    )
    if not is_notice or texts.has_cue(_AHEAD):
        return None
    return FactJudgment(texts.fact, "unknown", "it says how long before something, and not how long")


_DIFFERENCE_BEFORE = re.compile(
    r"\b(?P<cue>giam|tang|bot|thuong|phat|hoan(?: lai)?|save|saves|discount of|refund of|fine of|surcharge of|bonus of"
    r"|(?:up|down|off|reduced|raised|cut|drops?|rises?) by|dropped|fell|rose|climbed|shrank|grew"
    r"|(?:went|gone) (?:up|down)|twice|thrice|double|triple|gap (?:doi|ba|bon))"
    r" (?:toi |den |khoang |them |about |around |the |some )?[$€£]?$"
)
"""Says that a value is a difference, or a part of another, or is paid back or as a fine, not what something costs."""
_DIFFERENCE = LatePattern(
    r"\b(?:giam|tang|bot|thuong|phat|hoan|sav(?:e|es|ed|ings?)|discounts?|refund\w*|fine[sd]?|surcharge\w*|bonus\w*"
    r"|off|reduc\w*|raise\w*|increase\w*|change\w*|cheaper|drop\w*|ris(?:e|es|en|ing)|rose|f[ae]ll(?:s|en|ing)?|cut"
    r"|climb\w*|shr[aiu]nk\w*|gr[eo]w\w*|go(?:es|ing)? (?:up|down)|went (?:up|down)|twice|thrice|doubl\w*|tripl\w*"
    r"|gap)\b|[-+]\d"
)
_COMPARED = re.compile(
    r"\b(?:(?:re|cao|thap|dat|nhieu|it|lon|nho|dai|ngan|cham|nhanh) hon"
    r" (?:(?!(?:thi|la|phai|duoc|nen|con|ma|va|neu|khi|o|chi|se)\b)[a-z]+ ){1,4}"
    r"|(?:more|less|[a-z]{2,}er) than\b[^.;]{0,30} by )$"
)
"""Says by how much something differs from another thing."""


def _judge_difference(texts: FactTexts, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a value that is said to be a difference, where nothing else speaks of one."""
    plain = texts.answer.plain
    if not texts.question.words:
        return None
    low = max(_get_sentence(texts.answer, stated.start)[0], stated.start - _REACH_BEFORE)
    is_point = bool(stated.bound) or is_time(stated) or bool(stated.date)
    compared = None if is_point else _COMPARED.search(plain, low, stated.start)
    if compared is not None and not any(" hon " in text.plain for text in texts.explaining):
        return FactJudgment(texts.fact, "unknown", "something is said to differ by it")
    cue = _DIFFERENCE_BEFORE.search(plain, max(0, stated.start - _REACH_BEFORE), stated.start)
    if cue is None:
        return None
    folded = cue["cue"].split()[0]
    written = texts.answer.text[cue.start("cue") : cue.end("cue")].lower().split()[0]
    if is_other_word(folded, written):
        return None
    if texts.has_cue(_DIFFERENCE):
        return None
    return FactJudgment(texts.fact, "unknown", f'it is said to be a difference ("{written}")')


def _judge_relation(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of words that are said after what they are expected before: "after the goods leave".

    So is a value that is said of what is "trong giờ" (within hours), asked of what is "ngoài giờ" (outside hours).
    """
    answer, clause = texts.answer, spot.clause
    said = _list_opposed_relations(texts, texts.read_fact, texts.content, (clause.start, clause.end), _FURTHEST)
    if said:
        is_open = said == {"opposite", "same"} or bool(
            find_negations(answer, clause.sentence_start, clause.sentence_end)
        )
        return FactJudgment(texts.fact, "unknown" if is_open else "denied", "it says the opposite relation")
    if not any(word.folded in _RELATION_WORDS for word in texts.question.words):
        return None
    part = find_part(answer, clause, spot.start if stated is None else stated.start)
    if _list_opposed_relations(texts, texts.question, texts.list_topics(), (part.start, part.end), _NEAREST):
        return FactJudgment(texts.fact, "unknown", "it is said of the opposite of what is asked")
    return None


def _list_opposed_relations(
    texts: FactTexts, text: ReadText, words: Sequence[Word], span: tuple[int, int], furthest: int
) -> set[str]:
    """Return which relations a stretch of the answer says with a word of a text, if the first is the opposite one.

    "Same" and "opposite": "before delivery you get a note, and after delivery you pay" has both.
    """
    answer = texts.answer
    for word in words:
        if sum(other.key == word.key for other in words) > 1:
            continue  # "from Monday to Friday", in Vietnamese "từ thứ Hai đến thứ Sáu": "thứ" has both relations
        wanted = _find_relation(text, 0, word.start, furthest)
        if wanted is None or (wanted[0] == _ROUTE and text is texts.question):
            continue
        places = (answer.words[index].start for index in answer.find_word(word, texts.ignore_marks))
        relations = [_find_relation(answer, span[0], at, furthest) for at in places if span[0] <= at < span[1]]
        comparable = [relation for relation in relations if relation is not None and relation[0] == wanted[0]]
        if comparable and comparable[0] != wanted:
            return {"same" if relation == wanted else "opposite" for relation in comparable}
    return set()


_RELATIONS = (
    (frozenset(("before", "trước")), frozenset(("after", "following", "sau"))),
    (frozenset(("above", "over", "trên")), frozenset(("below", "under", "beneath", "dưới"))),
    (frozenset(("inside", "within", "trong")), frozenset(("outside", "ngoài"))),
    (frozenset(("from", "từ")), frozenset(("to", "until", "đến", "tới"))),
)
_ROUTE = 3  # the place of the pair of which both may hold of one thing: a question about "from" is answered by "to"
_FURTHEST, _NEAREST = 3, 2  # words between a relation and what it is said of, in a fact and in a question


_RELATION_WORDS = {
    fold_in_place(spelled): (spelled, (pair, side))
    for pair, sides in enumerate(_RELATIONS)
    for side, words in enumerate(sides)
    for spelled in words
}


def _find_relation(text: ReadText, low: int, position: int, furthest: int) -> tuple[int, int] | None:
    """Return the pair and the side of the last relation before a position, None if none of the words there is one."""
    last = text.find_index(position)
    for index in range(last - 1, max(-1, last - furthest - 1), -1):
        word = text.words[index]
        if word.start < low:
            break
        spelled, relation = _RELATION_WORDS.get(word.folded, ("", None))
        if relation is None:
            continue
        written = text.text[word.start : word.end].lower()
        if written == spelled or not text.has_marks:
            return relation
    return None


def _judge_event(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a time at which something else happens: when it opens, not when it closes."""
    plain, clause = texts.answer.plain, spot.clause
    if stated is None and WEEKDAY.search(texts.read_fact.plain) and _ASKS_WHICH.match(texts.question.plain):
        sentence = plain[clause.sentence_start : clause.sentence_end]
        return _deny_event(texts, find_reversed_event(texts.question.plain, sentence, ""))
    if stated is None or not (stated.date or is_time(stated)):
        return None
    if stated.is_range:
        return _judge_range(texts, spot, stated)
    low = max(clause.start, stated.start - _REACH)
    if is_other_end(texts.question.plain, plain[max(clause.start, stated.start - _REACH_BEFORE) : stated.start]):
        is_same_moment = find_reversed_event(texts.question.plain, plain[low : stated.start], "") is not None
        if is_same_moment or find_negations(texts.answer, low, stated.start):  # "closed until nine" opens at nine
            return FactJudgment(texts.fact, "unknown", "it says until when the contrary holds")
        return FactJudgment(texts.fact, "denied", "it is the other end of the time that the question asks about")
    judgment = _judge_side(texts, stated)
    if judgment is not None:
        return judgment
    for part in split_parts(texts.answer, clause.sentence_start, clause.sentence_end):
        if part.start <= stated.start < part.end:
            before = plain[part.start : stated.start]
            own = plain[part.start : part.end]
            asked, said = texts.question.plain, texts.reference.plain
            events = find_reversed_event(asked, own, before) or find_reversed_event(said, own, before)
            return _deny_event(texts, events)
    return None


_UNTIL_BEFORE = LatePattern(
    r"\b(?:before|by|until|till|prior to|no later than|truoc|den|toi|cham nhat)(?: the| ngay| luc)? $"
)
_SINCE_BEFORE = re.compile(r"\b(?:after|from|since|starting|as of|sau|tu)(?: the| ngay| luc)? $")

_BEGINS_BEFORE = LatePattern(r"\b(?:starts?|begins?|opens?|bat dau|mo cua)(?: (?:at|on|from|luc|tu|vao|ngay))* $")


def _judge_side(texts: FactTexts, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a date or time after which something is said to be, where it is expected before it.

    What is denied after a time ("not accepted after 15 March") is possible before it.
    """
    said = _find_side(texts.answer.plain, stated.start)
    if not said or find_negations(texts.answer, *_get_sentence(texts.answer, stated.start)):
        return None
    for text in (texts.read_fact, texts.reference):
        for wanted in text.quantities:
            if not is_same_quantity(wanted, stated):
                continue
            begins = _BEGINS_BEFORE.search(text.plain, max(0, wanted.start - _REACH_BEFORE), wanted.start)
            expected = "after" if begins is not None else _find_side(text.plain, wanted.start)
            if expected and expected != said:
                return FactJudgment(texts.fact, "unknown", f"it says {said} and not {expected}")
    return None


def _find_side(plain: str, start: int) -> str:
    low = max(0, start - _REACH_BEFORE)
    if _UNTIL_BEFORE.search(plain, low, start):
        return "before"
    return "after" if _SINCE_BEFORE.search(plain, low, start) else ""


def _get_sentence(text: ReadText, position: int) -> tuple[int, int]:
    clause = narrow_clause(text.clause_at(position), position)
    return clause.sentence_start, clause.sentence_end


def _judge_range(texts: FactTexts, spot: Occurrence, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a time that is the other end of a range than the one that the question asks for."""
    asked, ends = find_asked_end(texts.question.plain), split_range(stated)
    if not asked or not ends or len(texts.read_fact.quantities) != 1 or texts.read_fact.quantities[0].is_range:
        return None
    own, other = ends if asked == "start" else ends[::-1]
    wanted = texts.read_fact.quantities[0]
    if is_same_quantity(wanted, own) or not is_same_quantity(wanted, other):
        return None
    if any(is_same_quantity(expected, own) for expected in texts.expected):
        return None  # the case expects both ends
    sentence = texts.answer.plain[spot.clause.sentence_start : spot.clause.sentence_end]
    is_open = find_reversed_event(texts.question.plain, sentence, "") or find_negations(
        texts.answer, spot.clause.sentence_start, stated.start
    )
    return FactJudgment(texts.fact, "unknown" if is_open else "denied", f"it is the other end than the {asked}")


def _deny_event(texts: FactTexts, events: tuple[str, str] | None) -> FactJudgment | None:
    if events is None:
        return None
    reason = f'it says when it "{events[0]}", and what is asked is when it "{events[1]}"'
    return FactJudgment(texts.fact, "denied", reason)


_NOT_ONLY = re.compile(r"\b(?:not (?:only|just)|khong (?:chi|rieng|phai chi))\b")
_OR_NOT = re.compile(r" (?:hay (?:khong|chua)|or not)\b(?! ?\?)")


def _judge_condition(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a condition of which the answer says that it is none: "with or without a lid"."""
    clause, plain = spot.clause, texts.answer.plain
    is_restricted = ONLY.search(texts.read_fact.plain) is not None
    if is_restricted and _NOT_ONLY.search(plain, clause.sentence_start, spot.end):
        return FactJudgment(texts.fact, "denied", "it is said to hold not only of this")
    if is_restricted and UNIVERSAL.search(plain, clause.sentence_start, spot.start):
        return FactJudgment(texts.fact, "unknown", "it is said of all, and not only of some")
    if _OR_NOT.match(plain, spot.end, clause.sentence_end):
        return FactJudgment(texts.fact, "unknown", "it is said to hold or not")
    cue = UNCONDITIONAL.search(plain, clause.sentence_start, clause.sentence_end)
    if cue is None or UNCONDITIONAL.search(texts.read_fact.plain) or UNCONDITIONAL.search(texts.reference.plain):
        return None
    for word in texts.content:
        places = texts.answer.find_word(word, texts.ignore_marks)
        is_after = any(cue.end() <= texts.answer.words[place].start < clause.sentence_end for place in places)
        if is_after and not texts.question.find_word(word, True):
            return FactJudgment(texts.fact, "unknown", f'it is said to hold "{cue[0]}" its condition')
    return None
