"""Which limit an answer says a value to be: an upper or a lower one, notice to be given, or a mere difference.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import structs

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.doubt_cues import STILL_PRESENT
from assay.text.facts.cues.limit_cues import AHEAD, ANY_LIMIT, BOUND, FROM, MAY_BE, MUST_BE, NAMED_VALUES, NOTICE, UNTIL
from assay.text.facts.cues.value_cues import (
    COMPARED_IN_VIETNAMESE,
    DIFFERENCE_BEFORE,
    NOT_COMPARED_IN_VIETNAMESE,
    SPEAKS_OF_DIFFERENCE,
)
from assay.text.facts.expected.expected_limits import (
    ExpectedLimit,
    begins_after,
    ends_there,
    is_limit_of_refusal,
    is_reversed_limit,
)
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.missing_quantities import is_opposite_bound
from assay.text.facts.presence.occurrences import Occurrence, find_stated_quantity
from assay.text.facts.presence.unread_quantities import is_complement, may_be_contrary
from assay.text.facts.presence.value_sources import iterate_value_sources
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText
from assay.text.facts.reading.sentence_around import REACH_BEFORE, get_sentence
from assay.text.facts.reading.spelled_words import is_other_word
from assay.text.facts.reading.text_parts import find_part
from assay.text.facts.values.value_directions import find_change, find_direction
from assay.text.quantities.quantity import Quantity, is_span, is_time
from assay.text.quantities.quantity_agreement import is_same_value


def judge_new_bound(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a value of which the answer states a bound only, and nobody speaks of a limit.

    "You get up to 12 days" is not "12 days". Where the question asks what may or must be, a limit is what is asked.
    """
    stated = find_stated_quantity(texts.answer, occurrence)
    if stated is None or not stated.bound or is_time(stated) or stated.date:
        return None
    if not texts.question.words or texts.limit.side:
        return None
    cue = _BOUND_WORDS.search(texts.answer.plain, max(0, stated.start - 1), stated.end + 1)
    if cue is None or any(own.bound or own.is_range for own in texts.read_fact.quantities):
        return None
    own_texts = [text for text in texts.explaining if text.words or text.quantities]
    own_texts += iterate_value_sources(texts, stated)
    side = _SPEAKS_OF_SIDE[stated.bound[0]]
    if any(_SPEAKS_OF_LIMIT.search(text.plain) or side.search(text.plain) for text in own_texts):
        return None
    if any(wanted.bound or wanted.is_range for text in own_texts for wanted in text.quantities):
        return None
    if stated.bound[0] == ">" and any(_FROM_ANYWHERE.search(text.plain) for text in own_texts):
        return None  # "from force 9" is 9 or more
    if side is _SPEAKS_OF_SIDE[">"] and is_span(stated) and any(_AHEAD.search(text.plain) for text in own_texts):
        return None  # who has to say something 24 hours ahead may say it earlier
    bound = texts.answer.text[cue.start() : cue.end()]
    return FactJudgment(texts.fact, "unknown", f'the answer gives this as a limit only ("{bound}")')


_BOUND_WORDS = build_pattern(rf"\b{BOUND}\b")
_SPEAKS_OF_LIMIT = build_pattern(rf"\b{ANY_LIMIT}\b")
"""Says that a value is a limit."""
_SPEAKS_OF_SIDE = {"<": build_pattern(rf"\b{MAY_BE}\b"), ">": build_pattern(rf"\b{MUST_BE}\b")}
"""Says that what may be is at most a value, and what has to be at least."""


def judge_limit(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a quantity that is stated as the other limit: "at least" where the most is asked."""
    if stated is None or any(quantity.bound for quantity in texts.read_fact.quantities):
        return None
    is_end = ends_there(stated, texts.answer.plain, texts.limit)
    if find_direction(stated, texts.answer.plain) == "before" and not is_end:
        return None  # the latest moment is the shortest time
    for text, wanted in _list_limits(texts) if stated.bound else ():
        if is_opposite_bound(wanted, stated) and not _is_asked_or_refused(texts, stated, occurrence):
            if is_complement(wanted, stated) and may_be_contrary(
                stated, texts.answer, (texts.reference, texts.question)
            ):
                return FactJudgment(texts.fact, "unknown", "the answer says what holds beyond this")
            expected_limit = text.text[wanted.start : wanted.end]
            return FactJudgment(
                texts.fact,
                "denied",
                f'the answer gives the limit on the other side than "{expected_limit}"',
                "other side",
            )
    if is_end:
        reason = "the answer says what holds until this, and the question is about what holds from then on"
        return FactJudgment(texts.fact, "unknown", reason)
    clause_end = occurrence.clause.sentence_end
    if not stated.is_range and begins_after(stated, texts.answer.plain, texts.limit):
        reason = "the answer says what happens after this, and the question is about what happens until then"
        is_refused = is_limit_of_refusal(stated, texts.answer.plain, clause_end, ExpectedLimit("", False))
        is_open = is_refused or bool(find_negations(texts.answer, occurrence.clause.sentence_start, clause_end))
        return FactJudgment(texts.fact, "denied" if stated.date and not is_open else "unknown", reason)
    if texts.limit.side and not stated.bound and _is_present_count(texts, stated):
        return FactJudgment(texts.fact, "unknown", "the answer says how many there are, and not how many there may be")
    if not is_reversed_limit(stated, texts.limit):
        return None
    sides = ("a lower", "an upper") if texts.limit.side == "<" else ("an upper", "a lower")
    reason = f"the answer gives {sides[0]} limit, not {sides[1]} one"
    return FactJudgment(texts.fact, "denied" if texts.limit.is_explicit else "unknown", reason)


_NAMED_VALUES = [build_pattern(rf"\b{cues}\b") for cues in NAMED_VALUES]


@lru_cache(maxsize=1024)
def _list_named_values(plain: str) -> frozenset[int]:
    """Return which of the values of one thing a text names, such as the most and the default."""
    return frozenset(number for number, pattern in enumerate(_NAMED_VALUES) if pattern.search(plain) is not None)


def judge_named_value(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a value that the answer calls another one than what is asked: the most for the default."""
    asked = _list_named_values(texts.question.plain) if stated is not None else frozenset()
    if stated is None or len(asked) != 1:
        return None
    part = find_part(texts.answer, occurrence.clause, stated.start)
    named = _list_named_values(texts.answer.plain[part.start : part.end])
    if not named or named & asked:
        return None
    sources = iterate_value_sources(texts, stated)
    if any(_list_named_values(source.plain) & named for source in sources):
        return None
    return FactJudgment(texts.fact, "unknown", "the answer calls this another one of several values than the question")


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
        structs.replace(quantity, bound=">=")
        for quantity in text.quantities
        if not (quantity.bound or quantity.date or quantity.is_range or is_time(quantity))
        and _FROM_BEFORE.search(text.plain, max(0, quantity.start - REACH_BEFORE), quantity.start)
        and not _TO_AFTER.match(text.plain, quantity.end)
    ]


_FROM_BEFORE = build_pattern(rf"\b{FROM} $")
_FROM_ANYWHERE = build_pattern(rf"\b{FROM}\b")
_TO_AFTER = build_pattern(rf" ?(?:-|–|{UNTIL}\b)")


_PRESENT_COUNT = build_pattern(rf"\b{STILL_PRESENT}\b")


def _is_present_count(texts: FactTexts, stated: Quantity) -> bool:
    """Whether a sentence says how many of something there are now: "we have 8 students so far"."""
    is_present = _PRESENT_COUNT.search(texts.answer.plain, *get_sentence(texts.answer, stated.start))
    return is_present is not None and not texts.has_cue(_PRESENT_COUNT)


def _is_asked_or_refused(texts: FactTexts, stated: Quantity, occurrence: Occurrence) -> bool:
    """Whether the question has a bound too, or the answer forbids what is beyond its own."""
    if any(asked.bound for asked in texts.question.quantities):
        return True
    return is_limit_of_refusal(stated, texts.answer.plain, occurrence.clause.sentence_end, ExpectedLimit("", False))


def judge_direction(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a time after what it is expected before, or of a change to what it changes by."""
    if stated is None:
        return None
    for find in (find_direction, find_change):
        stated_direction = find(stated, texts.answer.plain)
        if not stated_direction:
            continue
        for text in (texts.read_fact, texts.reference):
            for wanted in text.quantities:
                if not is_same_value(wanted, stated):
                    continue
                expected_direction = find(wanted, text.plain)
                if expected_direction and expected_direction != stated_direction:
                    return FactJudgment(
                        texts.fact, "denied", f"the answer says {stated_direction} and not {expected_direction}"
                    )
    return _judge_notice(texts, stated) or _judge_difference(texts, stated)


_AHEAD = build_pattern(rf"\b{AHEAD}\b")
_NOTICE_AFTER = build_pattern(rf"(?:'s?|s)? {NOTICE}")
_NOTICE_BEFORE = build_pattern(r"\btrước $")


def _judge_notice(texts: FactTexts, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a span of time that is said to be notice, where nothing else speaks of any."""
    plain = texts.answer.plain
    is_span = any(reading.dimension in ("duration", "calendar") for reading in stated.readings)
    if not is_span or is_time(stated) or not texts.question.words:
        return None
    is_notice = _NOTICE_AFTER.match(plain, stated.end) or _NOTICE_BEFORE.search(
        plain, max(0, stated.start - REACH_BEFORE), stated.start
    )
    if not is_notice or texts.has_cue(_AHEAD):
        return None
    return FactJudgment(texts.fact, "unknown", "the answer says how long before something, and not how long it takes")


_DIFFERENCE_BEFORE = build_pattern(
    rf"\b(?P<cue>{DIFFERENCE_BEFORE}) (?:tới |đến |khoảng |thêm |about |around |the |some )?[$€£]?$"
)
"""Says that a value is a difference, or a part of another, or is paid back or as a fine, not what something costs."""
_DIFFERENCE = build_pattern(rf"\b{SPEAKS_OF_DIFFERENCE}\b|[-+]\d")
_COMPARED = build_pattern(
    rf"\b(?:(?:{COMPARED_IN_VIETNAMESE}) hơn (?:(?!(?:{NOT_COMPARED_IN_VIETNAMESE})\b)[a-z]+ ){{1,4}}"
    r"|(?:more|less|[a-z]{2,}er) than\b[^.;]{0,30} by )$"
)
"""Says by how much something differs from another thing."""


def _judge_difference(texts: FactTexts, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a value that is said to be a difference, where nothing else speaks of one."""
    plain = texts.answer.plain
    if not texts.question.words:
        return None
    low = max(get_sentence(texts.answer, stated.start)[0], stated.start - REACH_BEFORE)
    is_point = bool(stated.bound) or is_time(stated) or bool(stated.date)
    compared = None if is_point else _COMPARED.search(plain, low, stated.start)
    if compared is not None and not any(" hon " in text.plain for text in texts.explaining):
        return FactJudgment(texts.fact, "unknown", "the answer says this of a difference")
    cue = _DIFFERENCE_BEFORE.search(plain, max(0, stated.start - REACH_BEFORE), stated.start)
    if cue is None:
        return None
    folded = cue["cue"].split()[0]
    written = texts.answer.text[cue.start("cue") : cue.end("cue")].lower().split()[0]
    if is_other_word(folded, written):
        return None
    if texts.has_cue(_DIFFERENCE):
        return None
    return FactJudgment(texts.fact, "unknown", f'the answer says this of a difference ("{written}")')
