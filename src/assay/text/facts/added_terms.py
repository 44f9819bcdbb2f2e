"""What an answer adds to a fact that takes it back or limits it: a correction, a contrary state, a restriction.

"Two months. Correction: three months", "We are open on 3 May" asked for the closed days, "from 09:00 to 17:00, except
in August", "a badge or a letter of a teacher". Where question, reference and facts speak of no such thing, the fact is
open. The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from assay.text.facts.fact_decision import is_mere_decision
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.fact_places import Occurrence, find_stated_quantity
from assay.text.facts.fact_role import opens_upwards
from assay.text.facts.fact_texts import FactTexts, may_be_subject
from assay.text.facts.negations import find_negations
from assay.text.facts.opposite_words import find_opposite_state
from assay.text.facts.read_text import ReadText, Word, get_start
from assay.text.facts.value_owner import Part, is_comparable, list_quantities, split_parts
from assay.text.late_pattern import LatePattern
from assay.text.quantities.payment_cues import NOTHING_TO_PAY
from assay.text.quantities.quantity import Quantity, is_time
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.quantity_index import QuantityIndex
from assay.text.quantities.units import MONEY
from assay.text.quantities.weekdays import list_days

_REACH = 240  # characters after a fact in which it may be corrected


def judge_added_terms(texts: FactTexts, spot: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact that the answer takes back or limits in words of its own; None otherwise."""
    if not texts.question.words:
        return None
    reason = next(filter(None, _list_reasons(texts, spot)), "")
    return FactJudgment(texts.fact, "unknown", reason) if reason else None


def _list_reasons(texts: FactTexts, spot: Occurrence) -> Iterator[str]:
    stated = find_stated_quantity(texts.answer, spot)
    yield _name_correction(texts, spot, stated)
    own = _find_part(texts, spot)
    yield _name_opposite(texts, own, stated)
    yield _name_breakdown(texts, spot)
    yield _name_unfit(texts, spot) if stated is not None else ""
    yield _name_further_day(texts, own)
    yield _name_other_value(texts, spot, stated)
    yield _name_later(texts, spot, own)
    yield from _list_restrictions(texts, spot, own)


def _find_part(texts: FactTexts, spot: Occurrence) -> Part:
    parts = split_parts(texts.answer, spot.clause.sentence_start, spot.clause.sentence_end)
    whole = Part(spot.clause.start, spot.clause.end, False)
    return next((part for part in parts if part.start <= spot.start < part.end), whole)


def _find_end(texts: FactTexts, spot: Occurrence) -> int:
    """Return where a fact ends; of one that says that there is nothing to pay only the start is marked."""
    free = NOTHING_TO_PAY.match(texts.answer.plain, spot.start)
    return spot.end if free is None else max(spot.end, free.end())


# ── corrections ──────────────────────────────────────────────────────────────────────────────────────────────────

_CORRECTION = LatePattern(
    r"\b(?:(?:scratch|strike) that|(?:no,? )?wait,? no\b|no,? wait\b|correction[:,]"
    r"|let me correct (?:that|this|myself|it)"
    r"|i (?:meant|misspoke|misread|mistyped)|my (?:mistake|bad)\b|on second thoughts?|i stand corrected"
    r"|a khong|xin dinh chinh|dinh chinh[:,]|noi nham|nham roi|korrektur[:,]|moment, nein|nein, doch|pardon[,:]"
    r"|rectification ?:|correccion ?:|correcao ?:)"
)
_BETTER = LatePattern(
    r"\b(?:actually|in fact|in reality|or rather|rather|more precisely|sorry"
    r"|so (?:that is|that's|come|be|arrive)|thuc ra|dung hon)\b"
)


def _name_correction(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> str:
    """Return the words with which an answer corrects itself after a fact; "" if it does not.

    The weaker ones ("actually") must have another value of the same kind in their sentence.
    """
    answer = texts.answer
    end = min(len(answer.plain), spot.end + _REACH)
    for pattern in (_CORRECTION, _BETTER):
        cue = pattern.search(answer.plain, spot.end, end)
        if cue is None:
            continue
        is_sure = pattern is _CORRECTION and stated is None
        if is_sure or (stated is not None and _has_other_value(texts, stated, cue.end(), end)):
            return f'it is corrected after it ("{answer.text[cue.start() : cue.end()]}")'
    return ""


def _has_other_value(texts: FactTexts, stated: Quantity, low: int, high: int) -> bool:
    """Whether the first value of the kind of a fact between two positions is one that nobody expects."""
    expected = (*texts.expected, *texts.question.quantities, *texts.reference.quantities)
    for own in list_quantities(texts.answer, low, high):
        if is_comparable(stated, own):
            return not any(is_same_quantity(wanted, own) for wanted in expected)
    return False


# ── contrary states ──────────────────────────────────────────────────────────────────────────────────────────────


def _name_opposite(texts: FactTexts, own: Part, stated: Quantity | None) -> str:
    """Return how a part of an answer says a state that is the contrary of the one that is asked for, "" if not.

    When something opens may be said by until when it is closed.
    """
    if (stated is not None and is_time(stated)) or find_negations(texts.answer, own.start, own.end):
        return ""
    if any(find_negations(text) for text in (texts.question, texts.read_fact)):
        return ""
    opposite = find_opposite_state(texts.explaining, texts.answer, own.start, own.end)
    return f'it says "{opposite[1]}", and what is asked says "{opposite[0]}"' if opposite is not None else ""


_BROKEN = LatePattern(
    r"\b(?:out of (?:order|service|use|action)|until further notice|broken|defective|suspended"
    r"|under (?:repair|maintenance)"
    r"|(?:not|n't) (?:running|working|in (?:use|service|operation)|operating)|temporarily|fully booked"
    r"|sold out|closed (?:for|due|because|until|off)"
    r"|being (?:repaired|renovated|replaced)"
    r"|withdrawn|discontinued|hong|tam (?:ngung|dung|dong)|dang (?:sua|bao tri)|ngung hoat dong)\b"
)


def _name_breakdown(texts: FactTexts, spot: Occurrence) -> str:
    """Return how the sentence of a fact says that what it names is of no use now; "" if it does not."""
    cue = _BROKEN.search(texts.answer.plain, spot.clause.sentence_start, spot.clause.sentence_end)
    if cue is None or any(_BROKEN.search(text.plain) for text in texts.explaining):
        return ""
    return f'it says "{texts.answer.text[slice(*cue.span())]}"'


_UNFIT_AFTER = LatePattern(
    r" (?:is|are|would be|was|were) (?:far |much )?(?:too [a-z]+|not enough|insufficient)\b"
    r"| (?:less|more|fewer|longer|shorter|cheaper|dearer|faster|slower|higher|lower|later|earlier|older|younger) than\b"
    r"| (?:it|ngan|re|nhanh|thap|som|nhieu|dai|dat|cham|cao|muon) hon\b"
)


def _name_unfit(texts: FactTexts, spot: Occurrence) -> str:
    """Return how an answer says right after a value that it is too little or much, or what differs by it."""
    cue = _UNFIT_AFTER.match(texts.answer.plain, spot.end, spot.clause.sentence_end)
    if cue is None or any(cue[0].split()[-1] in text.plain.split() for text in texts.explaining):
        return ""
    return f'it says "{cue[0].strip()}" of it'


def _name_further_day(texts: FactTexts, own: Part) -> str:
    """Return a weekday right after that of what is asked, which nothing else names: "on Mondays and Tuesdays"."""
    plain = texts.answer.plain
    named_days = {day for text in texts.explaining for day in list_days(text.plain, 0, len(text.plain))}
    joined = _JOINED_DAY.match(plain, own.end)
    if not named_days or joined is None:
        return ""
    first = set(list_days(plain, own.start, own.end))
    new = set(list_days(plain, joined.start(), joined.end())) - named_days
    if joined["holidays"] is not None and not any("holiday" in text.plain for text in texts.explaining):
        new.add(joined["holidays"])
    return f'it adds "{texts.answer.text[slice(*joined.span("day"))]}"' if first & named_days and new else ""


_JOINED_DAY = re.compile(
    r" ?(?:,|and|&|va)(?: and)?(?: on)? (?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)days?|thu (?:hai|ba|tu|nam|sau"
    r"|bay)|chu nhat"
    r"|(?P<holidays>(?:public |bank |school )?holidays))(?= ?[.,;!?)]| and\b| va\b|$)"
)


_LATER_BEFORE = LatePattern(
    r"\b(?:after (?:that|this|which)|afterwards|thereafter|from then on|sau do)\b"
    r"|^ ?(?:after|before|without|instead of|unlike|besides) [a-z]+ing\b"
)
_LATER = LatePattern(r"\b(?:then|after that|afterwards|in that case|sau do)\b")


def _name_later(texts: FactTexts, spot: Occurrence, own: Part) -> str:
    """Return how an answer says a fact in words only of what is later: "… until six, after that it's closed".

    So it does with what is done beside something else ("Bo, after asking Kim"), or a "no" after which it goes on.
    """
    plain = texts.answer.plain
    if find_stated_quantity(texts.answer, spot) is not None:
        return ""
    if is_mere_decision(texts.fact):
        cue = _LATER.search(plain, spot.end, min(len(plain), spot.end + _REACH))
    else:
        before = plain[own.start : spot.start]
        cue = _LATER_BEFORE.search(before) if own.start > spot.clause.sentence_start else None
    if cue is None or any(cue[0].strip() in text.plain for text in texts.explaining):
        return ""
    return f'it goes on with "{cue[0].strip()}"'


# ── other values ─────────────────────────────────────────────────────────────────────────────────────────────────

_ON_TOP = LatePattern(
    r"\b(?:plus|on top|in addition|additionally|(?:or|otherwise|else) (?:you|they|we) pay|cong them|phu thu)\b"
)
_JOINED_VALUE = LatePattern(
    r" (?:[a-z]+ ){0,3}?(?:before|after|under|over|above|below|aged?|at least|at most|for|duoi|tren)\b[^.;,]{0,12}$"
)


def _name_other_value(texts: FactTexts, spot: Occurrence, stated: Quantity | None) -> str:
    """Return a value in the sentence of a fact that changes it, and that nothing else has; "" without one."""
    answer, clause = texts.answer, spot.clause
    if stated is not None and "+" in answer.plain[stated.start + 1 : stated.end + 1] and "+" not in texts.fact:
        return f'it says "{answer.text[stated.start : stated.end].rstrip("+")}+"'
    for own in _list_new_values(texts, clause.sentence_start, clause.sentence_end):
        replaced = next((wanted for wanted in texts.reference.quantities if _is_replaced(texts, wanted, own)), None)
        if replaced is not None and (stated is None or not is_comparable(replaced, stated)):
            in_reference = texts.reference.text[replaced.start : replaced.end]
            return f'it says "{answer.text[own.start : own.end]}", and the reference "{in_reference}"'
        is_limit = stated is None and own.start >= spot.end and not own.date and not is_mere_decision(texts.fact)
        if is_limit and _JOINED_VALUE.match(answer.plain, _find_end(texts, spot), own.start):
            return f'it limits it by "{answer.text[own.start : own.end]}"'
    return _name_other_side(texts, stated) or _name_addition(texts, spot)


_SIDE_BEFORE = LatePattern(
    r"\b(?:(?P<until>before|until|till|by|up to|under|below|bis|vor|truoc|duoi)"
    r"|(?P<since>after|from|over|above|since|nach|ab|seit|sau|tren))(?: the| dem| der)? [$€£]?$"
)


def _name_other_side(texts: FactTexts, stated: Quantity | None) -> str:
    """Return how an answer says a value from the other side than the fact does: "after 07:00" for "before 07:00"."""
    if stated is None or "not" in texts.answer.plain[max(0, stated.start - 20) : stated.start].split():
        return ""
    side = _SIDE_BEFORE.search(texts.answer.plain, max(0, stated.start - 16), stated.start)
    for own in texts.read_fact.quantities if side is not None else ():
        wanted = _SIDE_BEFORE.search(texts.read_fact.plain, max(0, own.start - 16), own.start)
        is_same = is_same_quantity(own._replace(bound=""), stated._replace(bound=""))
        if side is not None and wanted is not None and is_same and wanted.lastgroup != side.lastgroup:
            return f'it says "{side[0].strip()}", and the fact "{wanted[0].strip()}"'
    return ""


def _name_addition(texts: FactTexts, spot: Occurrence) -> str:
    """Return an amount that an answer says after a fact to come on top of it, and that nothing else has."""
    answer, end = texts.answer, min(len(texts.answer.plain), spot.end + _REACH)
    for own in _list_new_values(texts, spot.end, end):
        part = next((part for part in split_parts(answer, spot.end, end) if part.start <= own.start < part.end), None)
        is_money = any(reading.dimension.startswith(MONEY) for reading in own.readings)
        if is_money and part is not None and _ON_TOP.search(answer.plain, max(spot.end, part.start - 6), part.end):
            return f'it adds "{answer.text[own.start : own.end]}"'
    return ""


def _list_new_values(texts: FactTexts, low: int, high: int) -> list[Quantity]:
    """Return the quantities between two positions of an answer that question, reference and facts do not have."""
    expected = _index_values(tuple(texts.explaining))
    return [
        own
        for own in list_quantities(texts.answer, low, high)
        if not own.is_spelled_one
        and not any(is_same_quantity(wanted, own) for wanted in expected.iterate_candidates(own))
    ]


@lru_cache(maxsize=16)
def _index_values(texts: tuple[ReadText, ...]) -> QuantityIndex:
    """Return the quantities of the texts of a case, which all of its facts share."""
    return QuantityIndex([own for text in texts for own in text.quantities])


def _is_replaced(texts: FactTexts, wanted: Quantity, own: Quantity) -> bool:
    """Whether an answer has a value in the place of one of the reference, which it does not have."""
    has_wanted = any(is_same_quantity(wanted, other) for other in texts.answer.quantities)
    return is_comparable(wanted, own) and not has_wanted


# ── restrictions ─────────────────────────────────────────────────────────────────────────────────────────────────

_ONLY = LatePattern(r"(?:[,;(–—-] ?|\b(?:but|and|though|then|nhung) )(?:only|solely|exclusively|chi)\b")
_EXCEPT = LatePattern(
    r"\b(?:except(?:ing)?|apart from|other than|with the exception of|excluding|but not|(?<!tri )tru(?! khi\b))\b"
)
_ALSO = LatePattern(
    r"\b(?:(?:also|even|including|as well as) (?:in|on|at|for|during)|and (?:everybody|everyone|anyone|all others?))\b"
)
_GIVEN_BACK = LatePattern(r"\bbut (?:you|they|we|it)\b[^.;,]{0,30} (?:back|refund(?:ed)?|return(?:ed)?|reimbursed?)\b")
_SPEAKS_OF_RETURN = LatePattern(r"\b(?:back|refund\w*|return\w*|reimburs\w*|deposit\w*|keep|kept)\b")
_OR = LatePattern(r" or (?!(?:more|less|fewer|so|later|earlier|not|over|older|under|younger)\b)")
_OTHERWISE = LatePattern(rf"[,;]{_OR.pattern}")
_CONDITION = LatePattern(
    r"[,;]? (?:[–—-] )?(?:(?:but|though|although|if|unless|provided|as long as|so long as|on condition|between|until"
    r"|before|after|during|except|outside|nhung|neu|mien la|truoc|sau)\b"
    r"|(?=(?:only |just |chi )?(?:on|in|at|vao|trong) (?:the )?"
    r"(?:weekdays?|weekends?|(?:work|sun|mon|tues|wednes|thurs|fri|satur)(?:ing )?days?|summer|winter|spring|autumn"
    r"|mornings?|afternoons?|evenings?|nights?|holidays?|ngay|mua|buoi|cuoi tuan|dip|thang|january|february|march|april"
    r"|may|june|july|august|september|october|november|december)\b))"
)


def _list_restrictions(texts: FactTexts, spot: Occurrence, own: Part) -> Iterator[str]:
    answer, end = texts.answer, spot.clause.sentence_end
    group = _GROUP.match(answer.plain, _find_end(texts, spot), own.end)
    if group is not None and _is_new_group(texts, group):
        yield f'it says it "{group[0].strip()}"'
    for pattern in (_ONLY, _EXCEPT, _ALSO):
        cue = pattern.search(answer.plain, spot.end, end)
        if (
            cue is None
            or _is_other_word(answer.text[slice(*cue.span())])
            or any(pattern.search(text.plain) for text in texts.explaining)
        ):
            continue
        new = _find_new_word(texts, cue.end(), _find_part_end(texts, cue.end(), end))
        if new is not None:
            yield f'it adds "{answer.text[cue.start() : new.end]}"'
    other = _OTHERWISE.match(answer.plain, spot.end, end)
    if other is not None and not any(" or " in text.plain for text in texts.explaining):
        new = _find_new_word(texts, other.end(), _find_part_end(texts, other.end(), end))
        if new is not None:
            yield f'it adds "{answer.text[other.start() : new.end].strip(" ,;")}"'
    given_back = _GIVEN_BACK.search(answer.plain, spot.end, end)
    if given_back is not None and not any(_SPEAKS_OF_RETURN.search(text.plain) for text in texts.explaining):
        yield f'it adds "{answer.text[given_back.start() : given_back.end()]}"'
    if find_stated_quantity(answer, spot) is None:
        yield from _list_alternatives(texts, spot, own)


_GROUP = LatePattern(r" (?:only )?for (?:all |any )?(?P<noun>children|people|women|men|[a-z]{3,}s)\b(?! (?:and|or) )")


def _is_new_group(texts: FactTexts, group: re.Match[str]) -> bool:
    """Whether nothing explains for whom an answer says a fact."""
    words = texts.answer.words
    index = bisect_left(words, group.start("noun"), key=get_start)
    for word in words[index : index + 1]:
        is_known = texts.is_explained(word) if word.folded in ("member", "members") else texts.is_familiar(word)
        if may_be_subject(word) and not is_known:
            return True
    return False


def _list_alternatives(texts: FactTexts, spot: Occurrence, own: Part) -> Iterator[str]:
    """Yield what an answer offers instead of a fact in words, and the condition of a mere yes or no."""
    answer = texts.answer
    alternative = _OR.match(answer.plain, spot.end, own.end)
    is_one_of_many = bool(find_negations(answer, own.start, own.end))  # "it covers no glass or wood"
    if alternative is not None and not is_one_of_many and not any(" or " in text.plain for text in texts.explaining):
        new = _find_new_word(texts, alternative.end(), own.end)
        if new is not None and not opens_upwards(texts, new.folded):
            yield f'it adds "{answer.text[alternative.start() : new.end].strip()}"'
    if is_mere_decision(texts.fact):
        condition = _CONDITION.match(answer.plain, spot.end)
        end = spot.clause.sentence_end
        if condition is not None and (
            _find_new_word(texts, condition.end(), end) or _list_new_values(texts, condition.end(), end)
        ):
            yield f'it holds "{answer.text[condition.start() : end].strip(" .,;!–—-")}"'


def _is_other_word(written: str) -> bool:
    """Whether a cue is a Vietnamese word that is only folded like it: "chị" (you), "trữ" (to store)."""
    last = written.lower().split()[-1]
    return not last.isascii() and last not in ("chỉ", "trừ", "khi")


def _find_part_end(texts: FactTexts, low: int, high: int) -> int:
    return next((part.end for part in split_parts(texts.answer, low, high)), high)


def _find_new_word(texts: FactTexts, low: int, high: int) -> Word | None:
    """Return the last of the words between two positions of an answer that nothing explains; None if all are."""
    words = texts.answer.words
    first, last = (bisect_left(words, at, key=get_start) for at in (low, high))
    new = [word for word in words[first:last] if may_be_subject(word) and not texts.is_familiar(word)]
    return new[-1] if new else None
