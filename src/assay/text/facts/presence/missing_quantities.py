"""What an answer does with a quantity of a fact that it does not state: another unit, bound, range or form, or none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from msgspec import structs

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import FORBIDS, PERMITS
from assay.text.facts.cues.value_cues import NO_UNIT, PEOPLE
from assay.text.facts.expected.expected_limits import ExpectedLimit, is_limit_of_refusal, is_reversed_limit
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.asked_thresholds import judge_threshold
from assay.text.facts.presence.unread_quantities import find_unread_form
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, narrow_clause, read_text
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import Quantity, is_plain, is_time, remove_bound, split_range
from assay.text.quantities.quantity_agreement import (
    have_different_rate_sizes,
    have_different_rates,
    is_comparable,
    is_same_quantity,
    is_same_value,
)
from assay.text.quantities.units import PLAIN, TIME, UNITS

_PROHIBITION = build_pattern(rf"\b{FORBIDS}\b")
_PERMISSION = build_pattern(rf"\b{PERMITS}\b")


_BEFORE_NUMBER = LatePattern(r"[a-z ]*[a-z](?= )")


def judge_missing_quantity(
    fact: str,
    text: str,
    quantity: Quantity,
    answer: ReadText,
    question: ReadText,
    reference: ReadText,
    limit: ExpectedLimit,
) -> FactJudgment:
    """Return the judgment of a quantity that the answer does not state; a bound ("more than 12 days") denies it.

    A bound that is forbidden states its end: what must not take more than 12 days may take 12 days. So does a bound
    that the question asks for: "below 18%" answers "Below what share?" with 18%.
    """
    bounded = [
        _judge_bounded_quantity(fact, text, quantity, own, answer, (question, reference), limit)
        for own in answer.quantities
        if own.bound and is_same_quantity(quantity, remove_bound(own))
    ]
    stated = next((judgment for judgment in bounded if judgment.state == "stated"), None)
    if stated is not None:
        return stated
    unread = find_unread_form(fact, quantity, answer, question)
    if unread:
        return FactJudgment(fact, "unknown", unread)
    other = _judge_other_bound(fact, text, quantity, answer, bounded)
    if other is not None:
        return other
    ends = split_range(quantity)
    if ends and all(any(is_same_quantity(end, own) for own in answer.quantities) for end in ends):
        return FactJudgment(fact, "unknown", f"the answer gives the two ends of {text} apart")
    for own in answer.quantities:
        doubt = _name_incomplete(quantity, own, answer, question)
        if doubt:
            return FactJudgment(fact, "unknown", f'the answer says "{answer.text[own.start : own.end]}"{doubt}')
    return _judge_other_value(fact, text, quantity, answer)


def _name_incomplete(wanted: Quantity, own: Quantity, answer: ReadText, question: ReadText) -> str:
    """Return what a quantity of an answer leaves open, as the end of a reason, if it may be the one that is wanted; ""
    if it is another one. "At four" may be 4 pm."""
    if may_leave_out_unit(wanted, own, answer) and not is_in_name(own, answer, question):
        return f" without saying {'which half of the day' if is_time(wanted) else 'of what'}"
    if _may_be_millions(wanted, own, answer):
        return ", which may be millions"
    if _counts_times(wanted, own):
        return ", which may not be how often"
    if _counts_times(own, wanted):
        return ", which may count the same"
    return " of people by another name" if _counts_people(wanted, own, answer) else ""


# ── other quantities ─────────────────────────────────────────────────────────────────────────────────────────────


def _judge_other_bound(
    fact: str, text: str, quantity: Quantity, answer: ReadText, bounded: Sequence[FactJudgment]
) -> FactJudgment | None:
    """Return the judgment by the first quantity with another threshold, rate, bound or range; None if there is none."""
    for own in answer.quantities:
        if _is_other_threshold(quantity, own):
            reason = f'the answer says "{answer.text[own.start : own.end]}", not {text}'
            return FactJudgment(fact, "denied", reason, "other value")
        has_other_rate = have_different_rates(quantity, own) or have_different_rate_sizes(quantity, own)
        if has_other_rate and is_same_quantity(quantity, structs.replace(own, rate="", rate_size=None, bound="")):
            return FactJudgment(fact, "denied", f"the answer counts this per {own.rate}, not per {quantity.rate}")
        if own.bound and is_same_quantity(quantity, remove_bound(own)):
            return bounded[0]
        if any(is_same_quantity(quantity, end) for end in split_range(own)):
            range_text = answer.text[own.start : own.end]
            return FactJudgment(fact, "missing", f'the answer gives the range "{range_text}", not {text}')
    return None


def _is_other_threshold(wanted: Quantity, own: Quantity) -> bool:
    """Whether two bounds are on one side of different values: "more than 1,000,000" is not "more than 100,000"."""
    if not wanted.bound or not own.bound or wanted.bound[0] != own.bound[0] or have_different_rates(wanted, own):
        return False
    unbounded = remove_bound(wanted), remove_bound(own)
    return is_comparable(*unbounded) and not is_same_quantity(*unbounded)


_MILLION = Decimal(10**6)
_WITH_M = compile_pattern(r"\d ?m\b")


def _may_be_millions(wanted: Quantity, own: Quantity, answer: ReadText) -> bool:
    """Whether what is read as metres may be the millions of a fact: "12m" for 12,000,000."""
    if not own.readings or own.is_range or wanted.is_range or _WITH_M.search(answer.plain, own.start, own.end) is None:
        return False
    value = own.readings[0].low / own.unit_size * _MILLION
    return any(reading.low == value for reading in wanted.readings)


def _counts_times(wanted: Quantity, own: Quantity) -> bool:
    """Whether a number without a unit may say how often: "two more attempts" for "twice"."""
    is_frequency = any(reading.dimension == "times" for reading in wanted.readings)
    is_number = bool(own.readings) and is_plain(own) and not own.bound and not own.is_range
    return is_frequency and is_number and is_same_quantity(structs.replace(wanted, rate=""), own)


_PEOPLE_AFTER = build_pattern(rf" {PEOPLE}\b")


def _counts_people(wanted: Quantity, own: Quantity, answer: ReadText) -> bool:
    """Whether a number counts people by another name than a fact does: "sáu bạn" for "6 người"."""
    is_of_people = any(reading.dimension == "persons" for reading in wanted.readings)
    if not is_of_people or not is_plain(own) or own.bound or own.is_range:
        return False
    return is_same_quantity(wanted, own) and _PEOPLE_AFTER.match(answer.plain, own.end) is not None


def _judge_other_value(fact: str, text: str, quantity: Quantity, answer: ReadText) -> FactJudgment:
    """Return that a quantity is missing, or denied by the same number of another unit: "7 months" for "7 weeks"."""
    for own in answer.quantities:
        if _is_same_number_of_other_unit(quantity, own):
            reason = f'the answer says "{answer.text[own.start : own.end]}", not {text}'
            return FactJudgment(fact, "denied", reason, "other value")
    named = _find_other_number_of_name(fact, quantity, answer)
    if named:
        return FactJudgment(fact, "missing", f'the answer says "{named}", not {text}', "other value")
    comparable = [own for own in answer.quantities if is_comparable(quantity, own) and not is_plain(own)]
    if len(comparable) == 1:
        spelled = answer.text[comparable[0].start : comparable[0].end]
        return FactJudgment(fact, "missing", f'the answer does not say {text}; it says "{spelled}"', "other value")
    return FactJudgment(fact, "missing", f"the answer does not say {text}")


_NAME_BEFORE = LatePattern(r"(?<![a-z])(?P<name>[a-z]{3,40}+) $")
_LONGEST_NAME = 41
"""Characters before a number in which its name stands, with the space after it."""


def names_other_number(fact: str, answer: ReadText) -> bool:
    """Return whether an answer has another number after the name of a fact's only number: "gate 17" for "gate 14".

    >>> names_other_number("Room 014", read_text("It's in room 022.")), names_other_number("Room 014", read_text("022"))
    (True, False)
    """
    read_fact = read_text(fact)
    if len(read_fact.quantities) == 1:
        return bool(_find_other_number_of_name(fact, read_fact.quantities[0], answer))
    return bool(find_other_identifier(read_fact, answer))


def find_other_identifier(read_fact: ReadText, answer: ReadText) -> str:
    """Return the only identifier that an answer has after the name of a fact's only one: "room 022" for "Room 014"."""
    identifiers = [word for word in read_fact.words if word.kind == "id"]
    if len(identifiers) != 1 or read_fact.quantities or answer.find_word(identifiers[0], True):
        return ""
    name = _find_name_before(read_fact, identifiers[0].start)
    if not name:
        return ""
    starts = [word.start for word in answer.words if word.kind == "id"]
    starts += [own.start for own in answer.quantities if is_plain(own) and not own.is_spelled_one]
    named = [start for start in starts if _find_name_before(answer, start) == name]
    if len(named) != 1:
        return ""
    end = next((word.end for word in answer.words if word.start == named[0]), named[0])
    end = next((own.end for own in answer.quantities if own.start == named[0]), end)
    return answer.text[named[0] - len(name) - 1 : end]


def _find_name_before(text: ReadText, start: int) -> str:
    """Return the word right before a position, folded; "" for a word of grammar or none."""
    name = _NAME_BEFORE.search(text.plain, max(0, start - _LONGEST_NAME), start)
    word = next((word for word in text.words if name is not None and word.start == name.start()), None)
    return "" if word is None or word.kind == "stop" else word.folded


def _find_other_number_of_name(fact: str, quantity: Quantity, answer: ReadText) -> str:
    """Return the only number that an answer has after the name of a fact's number: "channel 16" for "channel 11"."""
    read_fact = read_text(fact)
    name = _find_name_before(read_fact, quantity.start) if is_plain(quantity) else ""
    if not name or quantity.bound or quantity.is_range:
        return ""
    spans = [
        (own.start - len(name) - 1, own.end)
        for own in answer.quantities
        if is_plain(own) and not own.is_spelled_one and _find_name_before(answer, own.start) == name
    ]
    return answer.text[slice(*spans[0])] if len(spans) == 1 else ""


def _is_same_number_of_other_unit(wanted: Quantity, own: Quantity) -> bool:
    if wanted.is_range or own.is_range or wanted.date or own.date or wanted.unit_size == own.unit_size:
        return False
    if is_time(wanted) or is_time(own) or not is_comparable(wanted, own):
        return False
    numbers = [
        {reading.low / quantity.unit_size for reading in quantity.readings if reading.dimension != PLAIN}
        for quantity in (wanted, own)
    ]
    return not numbers[0].isdisjoint(numbers[1])


def _judge_bounded_quantity(
    fact: str,
    text: str,
    wanted: Quantity,
    own: Quantity,
    answer: ReadText,
    texts: tuple[ReadText, ReadText],
    limit: ExpectedLimit,
) -> FactJudgment:
    question, reference = texts
    if _asks_for_bound(answer.plain[own.start : own.end], question):
        return FactJudgment(fact, "stated")
    if _is_bare_opposite(wanted, own, answer):
        spelled = answer.text[own.start : own.end]
        return FactJudgment(fact, "denied", f'the answer gives the limit on the other side ("{spelled}")', "other side")
    if len(own.bound) == 2:  # such a bound states its value, so it lacks the unit
        if _AGE_BOUND.search(answer.plain, own.start, own.end) and not is_reversed_limit(own, limit):
            return FactJudgment(fact, "stated")
        return FactJudgment(
            fact, "unknown", f'the answer says "{answer.text[own.start : own.end]}" without saying of what'
        )
    clause = narrow_clause(answer.clause_at(own.start), own.start)
    before = answer.plain[clause.start : own.start]
    if _PROHIBITION.search(before) and len(find_negations(answer, clause.start, own.start)) <= 1:
        return FactJudgment(fact, "stated")
    if is_limit_of_refusal(own, answer.plain, clause.end, limit):
        return FactJudgment(fact, "stated")
    if len(find_negations(answer, clause.start, own.start)) % 2 and not _PERMISSION.search(before):
        return FactJudgment(fact, "unknown", f"the answer says what is not so beyond {text}")
    threshold = judge_threshold(wanted, own, answer, question, reference, limit)
    if threshold == "stated":
        return FactJudgment(fact, "stated")
    spelled = answer.text[own.start : own.end]
    if threshold == "contrary":
        return FactJudgment(fact, "denied", f'the answer gives the limit on the other side ("{spelled}")', "other side")
    if threshold == "open":
        return FactJudgment(fact, "unknown", f'the answer says what holds beyond this ("{spelled}")')
    return FactJudgment(fact, "denied", f"the answer gives {text} as a limit only")


def _is_bare_opposite(wanted: Quantity, own: Quantity, answer: ReadText) -> bool:
    """Whether a sentence of nothing but a bound gives the other one than is expected: "23 or younger"."""
    if not is_opposite_bound(wanted, own) or len(wanted.bound) != len(own.bound):
        return False
    clause = answer.clause_at(own.start)
    beside = (*answer.list_words(clause.sentence_start, own.start), *answer.list_words(own.end, clause.sentence_end))
    return all(word.kind == "stop" or word.folded in UNITS for word in beside)


_AGE_BOUND = LatePattern(r"older|younger")
"""Words of a bound that is in years."""


def is_opposite_bound(wanted: Quantity, stated: Quantity) -> bool:
    """Return whether two bounds of one value are on different sides: "under 6" and "6 or older"."""
    if not wanted.bound or not stated.bound or wanted.bound[0] == stated.bound[0]:
        return False
    return is_same_value(wanted, stated)


_HALF_DAY = 12 * 60
_UNIT_MAY_FOLLOW = build_pattern(rf"[ -](?!{NO_UNIT}\b)[^\W\d]")


def may_leave_out_unit(wanted: Quantity, own: Quantity, answer: ReadText) -> bool:
    """Return whether a number may be a quantity without its unit, or a time without its half: "at four", "6:30"."""
    if wanted.is_range or own.is_range or own.date or wanted.date:
        return False
    if is_time(wanted):
        times = [reading.low for reading in own.readings if reading.dimension == TIME]
        if not times and not _UNIT_MAY_FOLLOW.match(answer.plain, own.end):
            times = [reading.low * 60 for reading in own.readings if reading.dimension == PLAIN]
        is_half_open = re.search(r"[ap]\.?m|h|gio|noon|morning|evening", answer.plain[own.start : own.end]) is None
        wanted_times = [reading.low for reading in wanted.readings if reading.dimension == TIME]
        return is_half_open and any(
            time < 13 * 60 and time % _HALF_DAY == wanted_time % _HALF_DAY
            for time in times
            for wanted_time in wanted_times
        )
    if any(reading.dimension == PLAIN for reading in wanted.readings) or not own.readings:
        return False
    is_number = all(reading.dimension == PLAIN for reading in own.readings)
    return is_number and is_same_quantity(wanted, own) and not _UNIT_MAY_FOLLOW.match(answer.plain, own.end)


def _asks_for_bound(bounded: str, question: ReadText) -> bool:
    """Whether the words before the number of a bounded quantity stand in the question."""
    words = _BEFORE_NUMBER.match(bounded)
    return words is not None and f" {words[0].strip()} " in f" {question.plain} "


def is_in_name(own: Quantity, answer: ReadText, question: ReadText) -> bool:
    """Return whether a plain number is a part of a name that the question has: the 40 of "Kestrel 40" is none."""
    if any(reading.dimension != PLAIN for reading in own.readings):
        return False
    name = answer.plain[: own.start].rstrip()
    word = name[name.rfind(" ") + 1 :]
    if not word.isalpha():
        return False
    return f"{word} {answer.plain[own.start : own.end]}" in question.plain
