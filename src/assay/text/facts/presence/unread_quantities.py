"""Whether an answer may state a quantity in a form that is not compared: then it is open whether it does.

"You pay 90%" may say that 10% are taken off, "a tenth visitor" that ten are needed, and "both" that there are two. Such
a form is no proof, so the quantity is unknown, neither stated nor missing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations

from msgspec import structs

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.limit_cues import FROM, TOO_MANY, UNTIL
from assay.text.facts.cues.number_cues import VALUES_IN_WORDS
from assay.text.facts.cues.value_cues import REDUCTION
from assay.text.facts.cues.word_classes import COUNTED, NUMBER_WORDS_WRITTEN, OTHER_NUMBER_WORDS
from assay.text.facts.expected.expected_limits import ExpectedLimit, is_limit_of_refusal
from assay.text.facts.presence.absent_things import is_no_money, may_be_no_amount
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, narrow_clause, read_text
from assay.text.late_pattern import LatePattern
from assay.text.number_words import ORDINALS, SHORT_MONTHS
from assay.text.quantities.frequencies import find_frequencies, is_same_frequency
from assay.text.quantities.payment_cues import NOTHING_TO_PAY, is_nothing_to_pay
from assay.text.quantities.quantity import Quantity, Reading, is_plain, is_time, remove_bound, split_range
from assay.text.quantities.quantity_agreement import have_different_rates, is_same_quantity, is_same_value
from assay.text.quantities.units import PLAIN, SHARE, TIME, UNITS
from assay.text.quantities.weekdays import WEEK, WEEKDAY

_REDUCTION = build_pattern(rf"\b{REDUCTION}\b")
_FROM = build_pattern(rf"\b(?:{FROM}|đủ)(?: the)? [$€£]?$")
_UNTIL = build_pattern(rf"\b{UNTIL}(?: the)? [$€£]?$")
_EXCESS = build_pattern(rf"\b{TOO_MANY}\b")
_WHOLE = 100  # per cent
_MOST_ROUNDING = Decimal("0.02")  # share of a value by which a rate, or a number of months in days, may differ from it
_YEAR = 31_557_600
_MONTH_IN_SECONDS = Decimal(_YEAR) / 12
_SECONDS_OF_RATES = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_SECONDS_OF_RATES |= {"month": _YEAR // 12, "quarter": _YEAR // 4, "year": _YEAR}
_COUNTING = frozenset((PLAIN, "persons", "times"))
"""Dimensions of what is counted, for which the same words stand."""
_MOST_PARTS = 5  # quantities of an answer of which sums and products are looked at
_HALF_DAY = 720  # minutes
_MONTH_NAME = LatePattern(rf"\b(?:({'|'.join(SHORT_MONTHS)})(?:[a-z]{{0,6}})\b|thang (\d{{1,2}})\b)")
_PARTS_OF_HOURS = {15: r"\bquarter (?:past|after)\b", 30: r"\bhalf past\b", 45: r"\bquarter to\b"}
_NUMBER_WORDS = {
    (dimension, Decimal(value)): build_pattern(rf"\b{cues}\b") for dimension, value, cues in VALUES_IN_WORDS
}
"""Words that may state a quantity, by its dimension and its value in the base unit."""


def find_unread_form(fact: str, wanted: Quantity, answer: ReadText, question: ReadText) -> str:
    """Return how an answer may state a quantity of a fact in a form that is not compared, "" if nothing in it may.

    >>> def find(fact, answer):
    ...     read = read_text(fact)
    ...     return find_unread_form(fact, read.quantities[0], read_text(answer), read_text("What discount is there?"))
    >>> find("10% off", "You pay 90%."), find("10% off", "You pay 80%.")
    ('the answer says "90%", which may be what is left', '')
    """
    is_saving = _REDUCTION.search(f"{question.plain} {answer.plain}") is not None
    for own in answer.quantities:
        form = _find_form(fact, wanted, own, answer, question, is_saving=is_saving)
        if form:
            return form
    named = _find_named_form(fact, wanted, answer)
    if named:
        return named
    counted = _find_unit_further_on(wanted, answer) or _find_same_letters(fact, wanted, answer)
    if counted:
        return f'the answer says "{counted}"'
    grouped = _find_grouped_digits(wanted, answer)
    if grouped:
        return f'the answer says "{grouped}", which has the same digits'
    if wanted.is_range and _has_both_ends(wanted, answer):
        return "the answer has the same numbers in another form"
    unread = _find_unread_words(answer)
    if unread:
        return f'the answer says "{unread}", a number that is not read'
    return "other numbers of the answer may make this up" if _is_made_up(wanted, answer, is_saving=is_saving) else ""


def _find_form(
    fact: str, wanted: Quantity, own: Quantity, answer: ReadText, question: ReadText, *, is_saving: bool
) -> str:
    """Return how one quantity of an answer may state another one, "" if it does not."""
    spelled = answer.text[own.start : own.end]
    if wanted.bound and not own.bound and not own.is_range and is_same_quantity(remove_bound(wanted), own):
        return f'the answer says "{spelled}" without saying that it is a limit'
    if _is_within_bound(wanted, own):
        return f'the answer says "{spelled}", which lies within the limit'
    if is_complement(_take_limit(wanted, fact), own) and may_be_contrary(own, answer, (read_text(fact), question)):
        return f'the answer says what holds beyond this ("{spelled}")'
    if is_saving and _is_rest_of_share(wanted, own):
        return f'the answer says "{spelled}", which may be what is left'
    if _is_same_per_other_time(wanted, own):
        return f'the answer says "{spelled}" per {own.rate}, which may be the same per {wanted.rate}'
    if _is_day_of_year(wanted, own):
        return f'the answer says "{spelled}", which is in that year'
    if _is_time_with_point(wanted, own):
        return f'the answer says "{spelled}", which may be a time'
    forms = (_is_ordinal_of, _is_about_same_time, _is_same_bound_of_count, _is_rounded_in_other_unit)
    if any(is_same(wanted, own) for is_same in forms):
        return f'the answer says "{spelled}", which may come to the same'
    return f'the answer says "{spelled}", the next value' if _is_next_value(wanted, own, answer) else ""


def _find_named_form(fact: str, wanted: Quantity, answer: ReadText) -> str:
    """Return how words of an answer that are no quantity may state one, "" if none may."""
    plain = read_text(fact).plain
    if WEEKDAY.search(plain) and WEEK.search(answer.plain):
        return "the answer names several days together"
    if _is_same_in_words(plain, wanted, answer):
        return "the answer may say so in other words"
    if _names_month(wanted, answer):
        return "the answer names the month without a day"
    if is_no_money(wanted) and (is_nothing_to_pay(answer.plain) or NOTHING_TO_PAY.search(answer.plain)):
        return "the answer says that there is nothing to pay"
    if is_no_money(wanted) and may_be_no_amount(answer):
        return "the answer may say that there is none of it"
    word = _find_number_word(wanted, answer)
    return f'the answer says "{word}", which may mean this' if word else ""


_MOST_BEFORE_UNIT = 2  # words between a number and its unit


def _find_unit_further_on(wanted: Quantity, answer: ReadText) -> str:
    """Return a number with other words before its unit: "60 unused days", "10 full, paid days"; "" if there is none."""
    if is_plain(wanted) or wanted.is_range or wanted.date:
        return ""
    for own in answer.quantities:
        if not own.readings or not is_plain(own):
            continue
        for word in answer.list_following(own.end, 1 + _MOST_BEFORE_UNIT)[1:]:
            unit = UNITS.get(word.folded)
            if unit is None or "." in answer.plain[own.end : word.start]:
                continue
            values = {(unit.dimension, reading.low * size) for reading in own.readings for size in unit.sizes}
            if any((reading.dimension, reading.low) in values for reading in wanted.readings):
                return answer.text[own.start : word.end]
    return ""


_LETTERS_OR_DIGITS = LatePattern(r"[a-z]+|\d+")
_FEWEST_PARTS = 2


def _find_same_letters(fact: str, wanted: Quantity, answer: ReadText) -> str:
    """Return where an answer has the letters and digits of a fact, read as something else: "7zip" for "7-Zip".

    Not within a bound or a range of the same kind, which are other values.
    """
    parts = [match[0] for match in _LETTERS_OR_DIGITS.finditer(read_text(fact).plain)]
    if len(parts) < _FEWEST_PARTS or all(part.isdecimal() for part in parts):
        return ""
    between = r"[ _-]?"
    pattern = rf"(?<![\w.,:/–-]){between.join(parts)}(?![\w/]|[.,:]\d)"
    dimensions = {reading.dimension for reading in wanted.readings}
    for match in re.finditer(pattern, answer.plain):
        over = [own for own in answer.quantities if own.start < match.end() and match.start() < own.end]
        is_other_value = any(
            own.bound or own.is_range or own.date or any(reading.dimension in dimensions for reading in own.readings)
            for own in over
        )
        if not is_other_value:
            return answer.text[match.start() : match.end()]
    return ""


_GROUPS = LatePattern(r"(?<![\w.,])\+?\d+(?:[ ./-]\d+)+(?![\w])")
_FEWEST_DIGITS = 3


def _find_grouped_digits(wanted: Quantity, answer: ReadText) -> str:
    """Return where an answer writes the digits of a number in groups, or at the end of a telephone number: "4-400"."""
    if not is_plain(wanted) or wanted.is_range or wanted.bound:
        return ""
    numbers = {f"{reading.low.normalize():f}" for reading in wanted.readings}
    numbers = {number for number in numbers if number.isdecimal() and len(number) >= _FEWEST_DIGITS}
    for match in _GROUPS.finditer(answer.plain) if numbers else ():
        groups = re.findall(r"\d+", match[0])
        if any("".join(groups[first:]) in numbers for first in range(len(groups))):
            return answer.text[match.start() : match.end()]
    return ""


_UNREAD_WORDS = LatePattern(
    rf"(?<![^\W\d_])(?<!phần )(?:{NUMBER_WORDS_WRITTEN}|{OTHER_NUMBER_WORDS})(?![^\W\d_])", re.IGNORECASE
)
"""Words of numbers in Vietnamese and in languages whose numbers are not read that are hardly ever anything else."""


def _find_unread_words(answer: ReadText) -> str:
    """Return a word of a number in an answer that belongs to none of its quantities: "trăm rưỡi", "chục phút"."""
    for match in _UNREAD_WORDS.finditer(answer.text):
        index = bisect_right(answer.quantities, match.start(), key=lambda own: own.start) - 1
        if index < 0 or match.start() >= answer.quantities[index].end:
            return match[0]
    return ""


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _is_within_bound(wanted: Quantity, own: Quantity) -> bool:
    """Whether a bound allows a value, which then may stand for it: "3 days" for "at most 5 days"."""
    dimensions = {reading.dimension for reading in wanted.readings}
    is_value = not own.bound and not own.is_range and any(reading.dimension in dimensions for reading in own.readings)
    return bool(wanted.bound) and is_value and is_same_quantity(wanted, own)


def is_complement(wanted: Quantity, own: Quantity) -> bool:
    """Return whether two bounds share all values between them: "under 14" and "14 or older"."""
    if not wanted.bound or not own.bound or wanted.bound[0] == own.bound[0] or len(wanted.bound) == len(own.bound):
        return False
    return is_same_value(wanted, own)


def may_be_contrary(own: Quantity, answer: ReadText, expected: Sequence[ReadText]) -> bool:
    """Return whether what is said of values beyond a bound may be the contrary of what is expected of the others.

    It is denied or refused, or the clause goes on in words that no expected text has: "anything above 40 degrees ruins
    it". "All who are 6 or older" says of them what is asked.
    """
    clause = narrow_clause(answer.clause_at(own.start), own.start)
    if find_negations(answer, clause.start, clause.end):
        return True
    if is_limit_of_refusal(own, answer.plain, clause.sentence_end, ExpectedLimit("", False)):
        return True
    words = answer.list_words(own.end, clause.end)
    words = [word for word in words if word.kind != "stop" and word.folded not in COUNTED]
    return bool(words) and not any(text.find_word(word, True) for word in words for text in expected)


def _take_limit(wanted: Quantity, fact: str) -> Quantity:
    """Return a quantity with the bound that "from" or "until" before it states: "from 12 years"."""
    if wanted.bound or wanted.is_range:
        return wanted
    before = read_text(fact).plain[: wanted.start]
    if _FROM.search(before):
        return structs.replace(wanted, bound=">=")
    return structs.replace(wanted, bound="<=") if _UNTIL.search(before) else wanted


def _is_same_bound_of_count(wanted: Quantity, own: Quantity) -> bool:
    """Whether two bounds hold for the same whole numbers: "under 6" and "up to 5"."""
    step = {(">=", ">"): -1, (">", ">="): 1, ("<=", "<"): 1, ("<", "<="): -1}.get((wanted.bound, own.bound), 0)
    if not step:
        return False
    for first in wanted.readings:
        for second in own.readings:
            sizes = [
                quantity.unit_size if reading.dimension else Decimal(1)
                for quantity, reading in ((wanted, first), (own, second))
            ]
            if first.low / sizes[0] + step == second.low / sizes[1]:
                return True
    return False


def _is_next_value(wanted: Quantity, own: Quantity, answer: ReadText) -> bool:
    """Whether a count is the first one beyond a bound, and too much or too little: "nine would still pay"."""
    step = {">=": -1, "<=": 1}.get(wanted.bound, 0)
    if not step or own.bound or own.is_range:
        return False
    clause = answer.clause_at(own.start)
    if not _EXCESS.search(answer.plain, clause.sentence_start, clause.sentence_end):
        return False
    numbers = {reading.low for reading in own.readings if reading.dimension in _COUNTING | {"ordinal"}}
    return any(reading.dimension in _COUNTING and reading.low + step in numbers for reading in wanted.readings)


# ── the same in other forms ──────────────────────────────────────────────────────────────────────────────────────


def _is_rest_of_share(wanted: Quantity, own: Quantity) -> bool:
    """Whether two shares are a whole: who pays 90% gets 10% off."""
    if wanted.is_range or own.is_range or wanted.bound or own.bound:
        return False
    first, second = (_list_values(quantity, SHARE) for quantity in (wanted, own))
    return any(value + rest == _WHOLE and value != rest for value in first for rest in second)


def _list_values(quantity: Quantity, dimension: str) -> list[Decimal]:
    return [reading.low for reading in quantity.readings if reading.dimension == dimension]


def _is_same_per_other_time(wanted: Quantity, own: Quantity) -> bool:
    """Whether two rates are equal once both are per the same time: "€10 a month" and "€120 a year"."""
    if not have_different_rates(wanted, own) or not {wanted.rate, own.rate} <= _SECONDS_OF_RATES.keys():
        return False
    factor = Decimal(_SECONDS_OF_RATES[wanted.rate]) / _SECONDS_OF_RATES[own.rate]
    return any(
        first.dimension == second.dimension and abs(second.low * factor - first.low) <= _MOST_ROUNDING * first.low
        for first in wanted.readings
        for second in own.readings
    )


def _is_about_same_time(wanted: Quantity, own: Quantity) -> bool:
    """Whether one span of time is in months and the other one as many days: "30 days" and "a month"."""
    if wanted.is_range or own.is_range:
        return False
    for first, second in ((wanted, own), (own, wanted)):
        for months in _list_values(first, "calendar"):
            for seconds in _list_values(second, "duration"):
                if abs(months * _MONTH_IN_SECONDS - seconds) <= 2 * _MOST_ROUNDING * seconds:
                    return True
    return False


def _is_rounded_in_other_unit(wanted: Quantity, own: Quantity) -> bool:
    """Whether two values are nearly the same in units of which none holds the other a whole number of times.

    Between such units people round: "8 km" for "5 miles".
    """
    if wanted.is_range or own.is_range or wanted.date or own.date:
        return False
    smaller, larger = sorted((wanted.unit_size, own.unit_size))
    if larger / smaller == int(larger / smaller):
        return False
    return any(
        first.dimension == second.dimension
        and first.dimension in _MEASURES_OF_SEVERAL_SYSTEMS
        and abs(first.low - second.low) <= _MOST_ROUNDING * first.low
        for first in wanted.readings
        for second in own.readings
    )


_MEASURES_OF_SEVERAL_SYSTEMS = frozenset(("length", "mass", "volume", "area", "speed"))


def _is_time_with_point(wanted: Quantity, own: Quantity) -> bool:
    """Whether a decimal may be a time of day: "7.15"."""
    clock = {reading.low * 60 for reading in own.readings if reading.dimension == PLAIN}
    hours = {value // 60 for value in clock}
    stated = {int(hour) * 60 + (value / 60 - hour) * 100 for hour in hours for value in clock if value // 60 == hour}
    return not stated.isdisjoint(value for time in _list_values(wanted, TIME) for value in (time, time % _HALF_DAY))


def _is_day_of_year(wanted: Quantity, own: Quantity) -> bool:
    """Whether a date is in the year that a plain number may be: "in March 2024" for "2024"."""
    years = {year for year, _, _ in own.date if year}
    return is_plain(wanted) and not years.isdisjoint(_list_values(wanted, PLAIN))


def _is_ordinal_of(wanted: Quantity, own: Quantity) -> bool:
    """Whether an ordinal has the number of a quantity: "from the 12th birthday" for "12 years"."""
    ordinals = _list_values(own, "ordinal")
    return any(reading.low / wanted.unit_size in ordinals for reading in wanted.readings)


def _is_same_in_words(fact_plain: str, wanted: Quantity, answer: ReadText) -> bool:
    """Whether fact and answer say how often something happens, in different words: "every 6 months", "twice a year"."""
    if not any(reading.dimension in ("duration", "calendar") for reading in wanted.readings):
        return False
    stated = find_frequencies(answer.plain)
    return any(is_same_frequency(one, other) for one in find_frequencies(fact_plain) for other in stated)


def _names_month(wanted: Quantity, answer: ReadText) -> bool:
    """Whether the month of a date is there outside of dates: "at the end of June"."""
    months = {month for _, month, _ in wanted.date}
    dated = [own for own in answer.quantities if own.date]
    for match in _MONTH_NAME.finditer(answer.plain):
        number = SHORT_MONTHS.index(match[1]) + 1 if match[1] else int(match[2] or 0)
        is_dated = any(own.start <= match.start() < own.end for own in dated)
        has_number = re.search(r"\d(?:st|nd|rd|th)? (?:of )?$", answer.plain[max(0, match.start() - 8) : match.start()])
        if number in months and not is_dated and has_number is None:
            return True
    return False


def _find_number_word(wanted: Quantity, answer: ReadText) -> str:
    """Return a word of an answer that may state a quantity: "both", "half price", "around the clock", "a tenth one"."""
    if wanted.is_range or wanted.date:
        return ""
    for reading in wanted.readings:
        dimension = PLAIN if reading.dimension in _COUNTING else reading.dimension
        pattern = _NUMBER_WORDS.get((reading.dimension, reading.low)) or _NUMBER_WORDS.get((dimension, reading.low))
        match = pattern.search(answer.plain) if pattern is not None else None
        if match is None:
            number = reading.low / wanted.unit_size
            ordinals = [_spell_ordinal(number, dimension)]
            if wanted.bound == "<=" and _EXCESS.search(answer.plain):
                ordinals.append(_spell_ordinal(number + 1, dimension))
            match = re.search(rf"\b(?:{'|'.join(ordinals)})\b", answer.plain) if all(ordinals) else None
        if match is None and reading.dimension == TIME:
            part_of_hour = _PARTS_OF_HOURS.get(int(reading.low) % 60)
            match = re.search(part_of_hour, answer.plain) if part_of_hour else None
        if match is not None:
            return answer.text[match.start() : match.end()]
    return ""


def _spell_ordinal(number: Decimal, dimension: str) -> str:
    """Return the ordinal of a number of things or of a span of time, "" otherwise; "second" says too much."""
    is_counted = dimension in (PLAIN, "duration", "calendar")
    if not is_counted or number != int(number) or not 3 <= number <= len(ORDINALS):
        return ""
    return ORDINALS[int(number) - 1]


def _has_both_ends(wanted: Quantity, answer: ReadText) -> bool:
    """Whether both ends of a range are there, each by itself, times perhaps in another form."""
    if not is_plain(wanted) and not is_time(wanted):
        singles = [remove_bound(own) for own in answer.quantities if not own.is_range]
        return all(any(is_same_quantity(end, own) for own in singles) for end in split_range(wanted))
    stated = [_read_clock(own) for own in answer.quantities]
    return all(any(not _read_clock(end).isdisjoint(times) for times in stated) for end in split_range(wanted))


def _read_clock(quantity: Quantity) -> set[Decimal]:
    """Return where the hands of a clock stand at a time of day, or at as many hours."""
    minutes = {PLAIN: 60, TIME: 1}
    return {
        reading.low * minutes[reading.dimension] % _HALF_DAY
        for reading in quantity.readings
        if reading.dimension in minutes and reading.low == reading.high
    }


def _is_made_up(wanted: Quantity, answer: ReadText, *, is_saving: bool) -> bool:
    """Whether a quantity is the sum or the product of two of an answer, or their difference.

    "Twelve rows of four" for 48, "from noon to 4 pm" for 4 hours; with `is_saving`, "20 instead of 25" for 5.
    """
    if wanted.is_range or wanted.date or is_time(wanted) or len(answer.quantities) > _MOST_PARTS:
        return False
    for reading in wanted.readings:
        if reading.dimension == "duration" and any(_lasts(own, reading.low) for own in answer.quantities):
            return True
    values = [[reading for reading in own.readings if reading.low == reading.high] for own in answer.quantities]
    for first, second in combinations(values, 2):
        for one in first:
            for other in second:
                totals = _list_totals(one, other, is_saving=is_saving)
                if any((reading.dimension, reading.low) in totals for reading in wanted.readings):
                    return True
    return False


def _lasts(own: Quantity, seconds: Decimal) -> bool:
    """Whether a range of times of day lasts as long as some seconds."""
    return any(
        reading.dimension == TIME and 0 < 60 * (reading.high - reading.low) == seconds for reading in own.readings
    )


def _list_totals(one: Reading, other: Reading, *, is_saving: bool) -> list[tuple[str, Decimal]]:
    """Return what two readings make together, each with its dimension."""
    dimensions = {one.dimension, other.dimension}
    totals = []
    if len(dimensions) == 1:
        totals.append((one.dimension, one.low + other.low))
        if one.dimension == TIME:
            totals.append(("duration", 60 * abs(one.low - other.low)))
    named = max(dimensions)
    if PLAIN in dimensions and 1 not in (one.low, other.low):
        totals.append((named, one.low * other.low))
    if PLAIN in dimensions or len(dimensions) == 1:
        totals += [(named, abs(one.low - other.low))] if is_saving else []
    return totals
