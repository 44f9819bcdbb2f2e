"""What a sentence says its values of: exceptions, limits, events, beliefs, and parts about another subject.

"Every day except Tuesdays" names Tuesdays and denies them, "at least 22 cm" is no maximum, "opens at 4 pm" does not
say when it closes, and "the Heron room seats 120 and the Auditorium 6" gives the Auditorium 6. The functions work on
folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from assay.text.late_pattern import LatePattern
from assay.text.quantities import Quantity, is_same_quantity
from assay.text.read_text import ReadText, Word, get_start
from assay.text.statement_cues import count_negations
from assay.text.units import MONEY, PLAIN

# ── exceptions ───────────────────────────────────────────────────────────────────────────────────────────────────

EXCEPTION = re.compile(
    r"\b(?:except(?:ing)?(?: for| on| that)?|with the exception of|apart from|excluding|save for|unless"
    r"|(?:all|any|every|everything|everyone|anything|anyone|nothing|nobody|none|no one|each)(?: \w+){0,2} but"
    r"|ngoai tru|tru(?: khi)?)\b"
)
_BETWEEN = LatePattern(
    r"(?: (?:it's|it is|they are|they're|you are|you have|it has|la|vao|ngay))?(?: [\w'$€£-]+){0,4} ?[\"'$€£]?"
)
_MOST_BETWEEN = 40


def _list_exceptions(text: ReadText, low: int, high: int) -> list[re.Match[str]]:
    """Return the words for an exception between two positions; "trụ" and "trú" are folded like "trừ" and are none."""
    matches = []
    for match in EXCEPTION.finditer(text.plain, low, high):
        written = text.text[match.start() : match.end()].lower()
        if not match[0].startswith("tru") or written.isascii() or written.startswith("trừ"):
            matches.append(match)
    return matches


def has_exception(text: ReadText) -> bool:
    """Return whether a text makes an exception."""
    return bool(_list_exceptions(text, 0, len(text.plain)))


def is_excepted(text: ReadText, sentence_start: int, start: int) -> bool | None:
    """Return whether what starts at a position is excepted from an affirmative statement; None if it is no exception.

    >>> from assay.text.read_text import read_text
    >>> text = read_text("Dogs are not allowed, except assistance dogs.")
    >>> is_excepted(text, 0, text.plain.index("assistance")), is_excepted(text, 0, 4)
    (False, None)
    """
    cues = _list_exceptions(text, max(sentence_start, start - 2 * _MOST_BETWEEN), start)
    if not cues or not _BETWEEN.fullmatch(text.plain, cues[-1].end(), start):
        return None
    cue = cues[-1]
    return count_negations(text.plain[sentence_start : cue.start() + _words_before_but(cue[0])]) % 2 == 0


def _words_before_but(cue: str) -> int:
    """Return how many characters of "nothing but" belong to the statement that has the exception."""
    return len(cue) - len("but") if cue.endswith(" but") else 0


def find_exception_after(text: ReadText, end: int, sentence_end: int) -> tuple[int, int] | None:
    """Return the span of what is excepted after a position in its sentence, None if nothing is."""
    for match in _list_exceptions(text, end, sentence_end):
        if "unless" not in match[0] and not match[0].endswith((" but", "khi")):
            stop = _EXCEPTION_END.search(text.plain, match.end(), sentence_end)
            return match.end(), stop.start() if stop is not None else sentence_end
    return None


_EXCEPTION_END = re.compile(r"[,;.]")

# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────

Limit = Literal["", "<", ">"]
"""Which limit a value is: "<" an upper one, ">" a lower one, "" neither."""
_UPPER = re.compile(
    r"\b(?:max(?:imum)?|at most|up to|within|no (?:more|later|longer|larger) than|limit(?:ed)?|largest|longest|highest"
    r"|latest|deadline|how late|until|till|by(?= (?:when|what date|\d|[a-z]+ \d))|toi da"
    r"|nhieu nhat|khong qua|trong vong|cham nhat|trong bao nhieu|han (?:nop|chot|cuoi))\b"
)
_LOWER = re.compile(
    r"\b(?:min(?:imum)?|at least|no (?:less|fewer|earlier) than|smallest|shortest|lowest|earliest|toi thieu|it nhat"
    r"|som nhat)\b"
)
_ASKS_HOW_MUCH = tuple(
    (re.compile(first), re.compile(second))
    for first, second in (
        (
            r"\bhow (?:long|many|much|far|tall|large|big|heavy|high|wide|late|often)(?= )",
            r"\b(?:can|may|could|allowed)\b",
        ),
        (r"\b(?:can|may|could)(?= )", r"\bhow (?:long|many|much)\b"),
        (r"\bduoc\b", r"\b(?:may|bao nhieu|bao lau)\b"),
    )
)
"""Pairs of which the second comes after the first; one expression for both would take quadratic time."""
_AFTER = re.compile(r"\b(?:after|later than|from|starting|sau(?: ngay| khi)?)(?: the)? [$€£]?$")
_REFUSED = LatePattern(
    r"\b(?:rejected|refused|blocked|declined|turned away|not (?:be )?(?:accepted|allowed|possible|permitted)|won't"
    r"|can't|cannot|isn't|aren't|too (?:long|large|big|heavy|late|much)|fails?|(?:costs?|charged) extra|tu choi"
    r"|khong (?:duoc|nhan|chap nhan))\b"
)


def find_limit(plain: str) -> Limit:
    """Return which limit a folded text is about: "<" for "at most 5 days", ">" for "the minimum is 5 days"."""
    is_upper, is_lower = _UPPER.search(plain) is not None, _LOWER.search(plain) is not None
    if is_upper == is_lower:
        return ""
    return "<" if is_upper else ">"


class ExpectedLimit(NamedTuple):
    """Which limit an answer has to state, and whether question or reference say so in words for it."""

    side: Limit
    is_explicit: bool


def find_expected_limit(question: str, reference: str) -> ExpectedLimit:
    """Return the limit that a folded question and reference are about; "How long can I stay?" asks for the longest."""
    side = find_limit(reference) or find_limit(question)
    if side:
        return ExpectedLimit(side, True)
    return ExpectedLimit("<" if _asks_how_much(question) else "", False)


def _asks_how_much(question: str) -> bool:
    for first, second in _ASKS_HOW_MUCH:
        begun = first.search(question)
        if begun is not None and second.search(question, begun.end()):
            return True
    return False


def is_reversed_limit(stated: Quantity, expected: ExpectedLimit) -> bool:
    """Return whether a quantity is stated as the other limit: "at least" where the most is expected."""
    return bool(expected.side and stated.bound) and stated.bound[0] != expected.side


def begins_after(stated: Quantity, plain: str, expected: ExpectedLimit) -> bool:
    """Return whether something begins after a quantity by which it is expected: "any time after 15 June"."""
    is_upper = expected.side == "<" and expected.is_explicit and not stated.bound
    return is_upper and _AFTER.search(plain, max(0, stated.start - _MOST_BETWEEN), stated.start) is not None


def is_limit_of_refusal(stated: Quantity, plain: str, clause_end: int, expected: ExpectedLimit) -> bool:
    """Return whether what is beyond a bound is refused: "anything larger than 25 MB is rejected" states 25 MB."""
    fits = not expected.side or (stated.bound[:1] == ">") == (expected.side == "<")
    return fits and _REFUSED.search(plain, stated.end, clause_end) is not None


# ── events, beliefs, withdrawals ─────────────────────────────────────────────────────────────────────────────────

_EVENTS = [
    (r"open(?:s|ed|ing)?", r"clos(?:e|es|ed|ing)|shuts?"),
    (r"start(?:s|ed|ing)?|begin(?:s|ning)?|began|commences?", r"end(?:s|ed|ing)?|finish(?:es|ed)?|stops?"),
    (r"arriv(?:e|es|ed|al)|gets? in", r"depart(?:s|ed|ure)?|leav(?:e|es|ing)|set(?:s|ting)? off"),
    (r"check(?:ing)?[ -]?in", r"check(?:ing)?[ -]?out"),
    (r"mo cua", r"dong cua"),
    (r"bat dau", r"ket thuc"),
    (r"den noi|cap ben", r"khoi hanh|roi ben|xuat phat"),
    (r"nhan phong", r"tra phong"),
]
_EVENT_PAIRS = [
    (re.compile(rf"\b(?:{first})\b"), re.compile(rf"\b(?:{second})\b"))
    for pair in _EVENTS
    for first, second in (pair, pair[::-1])
]
_UNTIL = re.compile(r"\b(?:until|till|til|to|through|den|toi|cho den)(?: the)? $")


def find_reversed_event(question: str, part: str, before_value: str) -> tuple[str, str] | None:
    """Return the event that a part of a sentence dates instead of the question's, and that of the question.

    >>> find_reversed_event("when does it close?", "it opens at 4 pm", "it opens at ")
    ('opens', 'close')
    """
    if _UNTIL.search(before_value):
        return None  # "open until 4 pm" says when it closes
    for asked, other in _EVENT_PAIRS:
        wanted = asked.search(question)
        if wanted is None or other.search(question) or asked.search(part):
            continue
        stated = other.search(part)
        if stated is not None:
            return stated[0], wanted[0]
    return None


_BELIEF = re.compile(
    r"\b(?:(?:some|many|most|other|a lot of)(?: of)? ?(?:\w+ )?(?:say|think|believe|claim|assume|expect|tell you)"
    r"|people (?:often |sometimes |still |may |might )?(?:say|think|believe|assume)"
    r"|you(?: may| might)? (?:may|might|have|often)? ?(?:have )?(?:heard|read somewhere|seen it said|think|expect)"
    r"|it is (?:often|widely|sometimes) (?:said|thought|believed)|nhieu nguoi (?:nghi|tuong|cho rang|noi|bao))\b"
)
_BUT = re.compile(r"\b(?:but|however|yet|in fact|actually|in truth|nhung|tuy nhien|thuc ra|thuc te)\b")
_WITHDRAWN = re.compile(
    r"[^.;]{0,40}?(?:\b(?:but|although|though|nhung|tuy nhien)|, (?:which|until))"
    r" (?:(?:it|this|that|they|these|those)(?: \w+)?(?:'s| has| have| was| were| is| are)?(?: since| now| been)* "
    r"|(?:was|has been|were|have been|has since been) |(?:no|quy dinh|dieu) (?:nay|do|da) ?|da )"
    r"(?:been )?(?:dropped|abolished|scrapped|discontinued|withdrawn|removed|taken (?:out|down|away)|replaced|lifted"
    r"|cancelled|canceled|closed down|changed|ended|gone|no longer|not (?:right|true|correct)|wrong|bo|huy|bai bo|thay"
    r"|go bo|khong con)\b"
)


def is_reported_belief(plain: str, sentence: tuple[int, int], start: int, end: int) -> bool:
    """Return whether what stands from `start` to `end` is what some believe, and the sentence goes on with "but"."""
    return _BELIEF.search(plain, sentence[0], start) is not None and _BUT.search(plain, end, sentence[1]) is not None


def is_withdrawn(plain: str, end: int, sentence_end: int) -> bool:
    """Return whether the sentence takes back what it stated: "…, but that rule was dropped last year"."""
    return _WITHDRAWN.match(plain, end, sentence_end) is not None


# ── parts of an answer with a value each ─────────────────────────────────────────────────────────────────────────

_PART_CUT = re.compile(
    r"[;.!?\n] |, (?:(?:and|but|while|whereas|con|va|nhung|trong khi) )?"
    r"| (?:and|but|while|whereas|va|nhung|trong khi) |(?<!khong)(?<!chua)(?<!van)(?<!chi) con "
)
_CONTRAST = re.compile(r"; |,? (?:but|while|whereas|con|nhung|trong khi) ")
_WEEKDAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:thu (?:hai|ba|tu|nam|sau|bay)|chu nhat)\b"
)
_WEEK = re.compile(r"\b(?:weekdays?|weekends?|every ?day|daily|all week|days? a week|hang ngay|moi ngay|cuoi tuan)\b")
_NOTHING_TO_PAY = re.compile(r"\b(?:free|no charge|nothing|mien phi)\b")
_CONSEQUENCE = re.compile(
    r"[\s,]*(?:so|thus|therefore|then|which|that|hence|because|since|if|when|vay|nen|vi|neu|sau do|roi)\b"
)
_MOST_PARTS = 40
_FEWEST_FOREIGN = 2  # words of a part that make it a statement of its own and no further item of a list


class Part(NamedTuple):
    """A part of an answer: its span, and whether it is set against the part before it ("while", "but")."""

    start: int
    end: int
    is_contrast: bool


def split_parts(text: ReadText, low: int, high: int) -> list[Part]:
    """Return the parts of a stretch of text that commas, "and" and "but" separate; quantities are not cut."""
    parts: list[Part] = []
    start, is_contrast = low, False
    for cut in _PART_CUT.finditer(text.plain, low, high):
        index = bisect_right(text.quantities, cut.start(), key=_get_quantity_start) - 1
        if index >= 0 and cut.start() < text.quantities[index].end:
            continue
        if text.plain[start : cut.start()].strip():
            parts.append(Part(start, cut.start(), is_contrast))
        is_contrast = _CONTRAST.search(cut[0]) is not None
        start = cut.end()
    if text.plain[start:high].strip():
        parts.append(Part(start, high, is_contrast))
    return parts[:_MOST_PARTS]


def _get_quantity_start(quantity: Quantity) -> int:
    return quantity.start


class OtherOwner(NamedTuple):
    """A part of the answer that says of another subject what the question asks, in words; whether that is sure."""

    reason: str
    is_sure: bool


class ValueOwner:
    """Tells whether a value of an answer belongs to another subject than the one that the question asks about.

    A value is a quantity, a weekday, or that there is nothing to pay; other facts have none.
    """

    def __init__(
        self,
        answer: ReadText,
        question: ReadText,
        topic: Sequence[Word],
        fact: ReadText,
        expected_texts: Sequence[ReadText],
        fact_keys: set[str],
        expected: Sequence[Quantity],
        is_familiar: Callable[[Word], bool],
        is_subject: Callable[[Word], bool],
    ) -> None:
        self.answer, self.question = answer, question
        self.topic = [word for word in topic if word.key not in fact_keys]
        self.fact_keys, self.expected, self.is_familiar, self.is_subject = fact_keys, expected, is_familiar, is_subject
        self.asked_days = {_name_day(match[0]) for match in _WEEKDAY.finditer(question.plain)}
        self.has_day = _WEEKDAY.search(fact.plain) is not None
        self.expected_days = {_name_day(match[0]) for text in expected_texts for match in _WEEKDAY.finditer(text.plain)}
        self.is_free = _NOTHING_TO_PAY.fullmatch(fact.plain.strip()) is not None

    def find_other_owner(self, low: int, high: int, start: int, value: Quantity | None) -> OtherOwner | None:
        """Return how the answer from `low` to `high` shows that what starts at `start` is another's; None if it does
        not. `value`: the quantity that starts there."""
        parts = split_parts(self.answer, low, high)
        has_value = value is not None or self.has_day or self.is_free
        groups = list(self._group_by_value(parts, value)) if has_value else parts
        index = bisect_right(groups, start, key=_get_part_start) - 1
        if index < 0:
            return None
        own = groups[index]
        others = [group for place, group in enumerate(groups) if place != index]
        day = self._find_other_day(own, others) if value is not None or self.is_free else None
        if day is not None:
            return day
        if has_value:
            for other in others:
                if any(is_rival for _, is_rival in self._list_values(other, value)):
                    owner = self._compare_parts(own, other, start, self._list_values(other, value)[0][0])
                    if owner is not None:
                        return owner
        return self._find_contrast(parts, start)

    def _find_contrast(self, parts: Sequence[Part], start: int) -> OtherOwner | None:
        """Return how a neighbouring part, which is set against that of the fact, speaks of what is asked instead."""
        index = bisect_right(parts, start, key=_get_part_start) - 1
        for first in (index - 1, index):
            if first < 0 or first + 1 >= len(parts):
                continue
            other = parts[first] if first != index else parts[first + 1]
            if self._is_set_against(parts[first + 1], other) or self._has_all_topics(parts[index], other):
                owner = self._compare_parts(parts[index], other, start, None)
                if owner is not None:
                    return owner
        return None

    def _is_set_against(self, second: Part, other: Part) -> bool:
        """Whether a part is set against the one before; a semicolon alone does so if the other part has the topic."""
        if not second.is_contrast or not self.answer.plain.endswith("; ", 0, second.start):
            return second.is_contrast
        asked = {word.key for word in self._words_in(other) if self._is_topic(word)}
        return len(asked) >= 2 or 2 * len(asked) >= len(self.topic)

    def _has_all_topics(self, own: Part, other: Part) -> bool:
        """Whether a part has the words of the question, two of them at least, and that of the fact has none."""
        foreign = [word for word in self._subject_words(own, None) if not self.is_familiar(word)]
        if len(foreign) < _FEWEST_FOREIGN or any(self._is_topic(word) for word in self._words_in(own)):
            return False
        asked = {word.key for word in self._words_in(other) if self._is_topic(word)}
        return len(asked) >= max(2, len(self.topic) // 2)

    def _group_by_value(self, parts: Sequence[Part], value: Quantity | None) -> Iterator[Part]:
        """Yield parts that hold a value of the kind of the fact, each with the parts before it that hold none."""
        pending: Part | None = None
        last: Part | None = None
        for part in parts:
            merged = part if pending is None else pending._replace(end=part.end)
            if not self._list_values(part, value):
                pending = merged
                continue
            if last is not None:
                yield last
            last, pending = merged, None
        if last is not None:
            yield last if pending is None else last._replace(end=pending.end)

    def _list_values(self, part: Part, value: Quantity | None) -> list[tuple[int, bool]]:
        """Return where a part has values of the kind of the fact, in order, and whether each is an unexpected one."""
        values = [
            (own.start, self._is_rival(own)) for own in self._quantities_in(part) if self._may_replace(own, value, part)
        ]
        if value is None and self.has_day:
            days = _WEEKDAY.finditer(self.answer.plain, part.start, part.end)
            values += [(match.start(), _name_day(match[0]) not in self.expected_days) for match in days]
        is_money = value is not None and any(reading.dimension.startswith(MONEY) for reading in value.readings)
        if is_money or self.is_free:
            nothing = _NOTHING_TO_PAY.finditer(self.answer.plain, part.start, part.end)
            values += [(match.start(), is_money) for match in nothing]
        return sorted(values)

    def _quantities_in(self, part: Part) -> list[Quantity]:
        first = bisect_left(self.answer.quantities, part.start, key=_get_quantity_start)
        last = bisect_left(self.answer.quantities, part.end, key=_get_quantity_start)
        return self.answer.quantities[first:last]

    def _may_replace(self, own: Quantity, value: Quantity | None, part: Part) -> bool:
        """Whether a quantity is comparable with a value, or leaves its unit out at the end of its part."""
        if value is None:
            return self.is_free and any(reading.dimension.startswith(MONEY) for reading in own.readings)
        if is_comparable(value, own):
            return True
        is_plain = all(reading.dimension == PLAIN for reading in own.readings) and not own.date
        return is_plain and not self.answer.plain[own.end : part.end].strip(" .,;!?)")

    def _is_rival(self, own: Quantity) -> bool:
        for asked in self.question.quantities:
            if is_comparable(asked, own) and is_same_quantity(asked._replace(bound=""), own._replace(bound="")):
                return False
        return not any(is_same_quantity(wanted, own) or is_same_quantity(own, wanted) for wanted in self.expected)

    def _find_other_day(self, own: Part, others: Sequence[Part]) -> OtherOwner | None:
        """Return the weekday of a part if the question asks about another one."""
        plain = self.answer.plain
        if not self.asked_days or _WEEK.search(plain, own.start, own.end):
            return None
        days = [match[0] for match in _WEEKDAY.finditer(plain, own.start, own.end)]
        if not days or len(days) > 1 or self.asked_days & {_name_day(day) for day in days}:
            return None
        is_elsewhere = any(
            self.asked_days & {_name_day(match[0]) for match in _WEEKDAY.finditer(plain, other.start, other.end)}
            for other in others
        )
        return OtherOwner(f'it is said of "{days[0]}", and the question is about another day', is_elsewhere)

    def _compare_parts(self, own: Part, other: Part, start: int, other_value: int | None) -> OtherOwner | None:
        """Return how two parts show that the first is about another subject; `other_value`: where the second has its
        value, None without values."""
        has_value = other_value is not None
        plain = self.answer.plain
        if _CONSEQUENCE.match(plain, own.start) or (not has_value and _CONSEQUENCE.match(plain, other.start)):
            return None
        own_words = self._subject_words(own, start if has_value else None)
        other_words = self._subject_words(other, other_value)
        all_own, all_other = self._words_in(own), self._words_in(other)
        foreign = [word for word in own_words if not self.is_familiar(word)]
        asked = [word for word in other_words if self._is_topic(word) and not _holds(all_own, word)]
        if not foreign or not asked:
            return None
        strange = [word for word in other_words if not self.is_familiar(word)]
        kept = [word for word in own_words if self._is_topic(word) and not _holds(all_other, word)]
        is_elliptic = other.start > own.start and not strange
        if not has_value and other.start > own.start and other_words[0] in asked:
            is_elliptic = True  # the part that is set against it begins with what is asked
        if kept and kept[0].start < foreign[0].start and not is_elliptic:
            return None  # the part begins with what the question asks about
        subject = self.answer.text[foreign[0].start : foreign[-1].end]
        reason = f'it is said of "{subject}", and another part of the answer speaks of "{self._spell(asked)}"'
        return OtherOwner(reason, has_value and not strange and not kept)

    def _spell(self, words: Sequence[Word]) -> str:
        return " ".join(self.answer.text[word.start : word.end] for word in words)

    def _words_in(self, part: Part) -> Sequence[Word]:
        first, last = (bisect_left(self.answer.words, at, key=get_start) for at in (part.start, part.end))
        return self.answer.words[first:last]

    def _subject_words(self, part: Part, before: int | None) -> list[Word]:
        """Return the words before the value of a part, all of its words if there are none."""
        words = [word for word in self._words_in(part) if self.is_subject(word) and word.key not in self.fact_keys]
        leading = [word for word in words if before is not None and word.start < before]
        return leading if leading or (self.has_day and before is not None) else words

    def _is_topic(self, word: Word) -> bool:
        return any(word.key == asked.key and word.marks == asked.marks for asked in self.topic)


def _get_part_start(part: Part) -> int:
    return part.start


def _holds(words: Sequence[Word], wanted: Word) -> bool:
    return any(word.key == wanted.key and word.marks == wanted.marks for word in words)


def _name_day(day: str) -> str:
    return day.removesuffix("s")


def is_comparable(value: Quantity, other: Quantity) -> bool:
    """Return whether two quantities measure the same, so that one may stand in place of the other."""
    if value.date or other.date:
        return bool(value.date and other.date)
    dimensions = {reading.dimension for reading in value.readings}
    return not dimensions.isdisjoint(reading.dimension for reading in other.readings)
