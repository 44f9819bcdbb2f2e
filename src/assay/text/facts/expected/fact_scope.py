"""What a sentence says its values of: exceptions, limits, directions, events and beliefs.

"Every day except Tuesdays" names Tuesdays and denies them, "at least 22 cm" is no maximum, and "opens at 4 pm" does not
say when it closes. The functions work on folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText
from assay.text.facts.reading.spelled_words import is_other_word
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import Quantity

# ── exceptions ───────────────────────────────────────────────────────────────────────────────────────────────────

EXCEPTION = re.compile(
    r"\b(?:except(?:ing)?(?: for| on| that)?|with the exception of|apart from|aside from|besides|other than"
    r"|excluding|save for|unless"
    r"|(?:all|any|every|everything|everyone|anything|anyone|nothing|nobody|none|no one|each)(?: \w+){0,2} but"
    r"|ngoai tru|ngoai(?= (?:thu|ngay|chu nhat)\b)|ngoai(?= (?:[^\W\d_]+ ){1,5}ra\b)|tru(?: khi)?)\b"
)
_REACH_AFTER_CUE = 50
_MAY_ADD = frozenset(("aside from", "besides", "ngoai"))
"""May also say that something is there in addition: "besides Monday, it opens on Friday"."""
_BETWEEN = LatePattern(
    r"(?: (?:it's|it is|they are|they're|you are|you have|it has|la|vao|ngay))?(?: [\w'$€£-]+){0,4} ?[\"'$€£]?"
)
_MOST_BETWEEN = 40
_DECIDED = LatePattern(
    r"\W*(?:(?:da|dear \w+|hi|hello|oh|well|sorry|unfortunately|xin loi|rat tiec),? )*(?:no|nope|khong)(?: (?:a|nhe|nha"
    r"|ban|anh|chi|em))*, (?=[^,]*\w)"
)
"""The "no" with which a sentence begins that says the same once more."""


def list_exceptions(text: ReadText, low: int, high: int) -> list[re.Match[str]]:
    """Return the words for an exception between two positions; "trụ" and "trú" are folded like "trừ" and are none."""
    matches = []
    # What follows a word tells whether it is one: "ngoài thứ Năm" is an exception, "ngoài trời" is outside.
    for match in EXCEPTION.finditer(text.plain, low, high + _REACH_AFTER_CUE):
        if match.end() > high:
            break
        folded, written = match[0].partition(" ")[0], text.text[match.start() : match.end()].partition(" ")[0]
        if not is_other_word(folded, written):
            matches.append(match)
    return matches


def has_exception(text: ReadText) -> bool:
    """Return whether a text makes an exception."""
    return bool(list_exceptions(text, 0, len(text.plain)))


def is_excepted(text: ReadText, sentence_start: int, start: int) -> bool | None:
    """Return whether what starts at a position is excepted from an affirmative statement; None if it is no exception.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> text = read_text("Dogs are not allowed, except assistance dogs.")
    >>> is_excepted(text, 0, text.plain.index("assistance")), is_excepted(text, 0, 4)
    (False, None)
    >>> is_excepted(read_text("No, dogs may not enter, except assistance dogs."), 0, 31)
    False
    """
    cues = list_exceptions(text, max(sentence_start, start - 2 * _MOST_BETWEEN), start)
    if not cues or not _BETWEEN.fullmatch(text.plain, cues[-1].end(), start):
        return None
    cue = cues[-1]
    begins_sentence = not text.plain[sentence_start : cue.start()].strip()
    if begins_sentence and not cue[0].endswith(" but"):  # "Except the guard, nobody may enter."
        return len(find_negations(text, start, text.clause_at(start).sentence_end)) % 2 == 0
    end = cue.start() + _words_before_but(cue[0])
    decided = _DECIDED.match(text.plain, sentence_start, end)  # the "no" of "No, dogs are not allowed, except …"
    return len(find_negations(text, sentence_start if decided is None else decided.end(), end)) % 2 == 0


def may_be_addition(text: ReadText, start: int) -> bool:
    """Return whether the last words for an exception before a position may name an addition instead.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> text = read_text("The van comes on Mondays besides Fridays, and except in June.")
    >>> may_be_addition(text, text.plain.index("fridays")), may_be_addition(text, text.plain.index("june"))
    (True, False)
    """
    cues = list_exceptions(text, max(0, start - 2 * _MOST_BETWEEN), start)
    return bool(cues) and cues[-1][0] in _MAY_ADD


def _words_before_but(cue: str) -> int:
    """Return how many characters of "nothing but" belong to the statement that has the exception."""
    return len(cue) - len("but") if cue.endswith(" but") else 0


def find_exception_after(text: ReadText, end: int, sentence_end: int) -> tuple[int, int] | None:
    """Return the span of what is excepted after a position in its sentence, None if nothing is."""
    for match in list_exceptions(text, end, sentence_end):
        if "unless" not in match[0] and not match[0].endswith((" but", "khi")):
            stop = _EXCEPTION_END.search(text.plain, match.end(), sentence_end)
            return match.end(), stop.start() if stop is not None else sentence_end
    return None


_EXCEPTION_END = LatePattern(r"[,;.]")

UNCONDITIONAL = re.compile(
    r"\b(?:whether or not|with or without|regardless(?: of)?|no matter (?:if|whether)|irrespective of"
    r"|whether(?= [^.;]{0,80} or not\b)|even (?:without|if|when)|bat ke|ke ca|du co hay khong)\b"
)
"""Says that what follows is no condition."""
UNIVERSAL = re.compile(r"\b(?:all|both|any|every|each|tat ca|moi)\b")
"""Says that a statement holds of all."""

# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────

Limit = Literal["", "<", ">"]
"""Which limit a value is: "<" an upper one, ">" a lower one, "" neither."""
_UPPER = re.compile(
    r"\b(?:max(?:imum)?|at most|up to|within|no (?:more|later|longer|larger) than|limit(?:ed)?|largest|longest|highest"
    r"|allowance|latest|deadline|how late|until|till|toi da"
    r"|by(?= (?:when|what date|(?:[a-z]+ )?\d(?![\d.,]* ?(?:%|per|points?|times|minutes?|hours?|days?|weeks?|months?"
    r"|years?|euros?|dollars?|pounds?|c?m|k?g|km)\b)))"
    r"|nhieu nhat|khong qua|trong vong|trong (?=\d|may\b)|cham nhat|trong bao nhieu|han (?:nop|chot|cuoi))\b"
)
_UPPER_NAMES = frozenset("maximum max most highest largest cap capped limit limited ceiling top tops tran".split())
_ASKS_FOR_MOST = LatePattern(r"\b(?:the most|at most|maximum|max|highest|largest|upper limit|cap|ceiling|toi da)\b")


def names_asked_most(words: Iterable[str], question: str) -> bool:
    """Return whether a folded question asks for the most and some folded words call it by one of its names.

    >>> names_asked_most(("the", "cap"), "what is the most one pays?"), names_asked_most(("cap",), "what does it cost?")
    (True, False)
    """
    return not _UPPER_NAMES.isdisjoint(words) and _ASKS_FOR_MOST.search(question) is not None


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
_AFTER = re.compile(r"\b(?:after|later than|from|starting|sau(?: ngay| khi)?|(?<!thu )tu(?: ngay)?)(?: the)? [$€£]?$")
_GOES_ON_UNTIL = LatePattern(r" ?(?:-|–|to\b|until\b|till\b|through\b|den\b|toi\b)")
_REFUSED = LatePattern(
    r"\b(?:rejected|refused|blocked|declined|turned away|not (?:be )?(?:accepted|allowed|possible|permitted)|won't"
    r"|can't|cannot|isn't|aren't|must not|mustn't|may not|stops?|stopped|suspended|shut down"
    r"|too (?:long|large|big|heavy|late|much)|fails?|(?:costs?|charged) extra|tu choi"
    r"|khong (?:duoc|nhan|chap nhan)|khong(?: [a-z]+){1,2} (?:duoc|nua))\b"
)


def find_limit(plain: str) -> Limit:
    """Return which limit a folded text is about: "<" for "at most 5 days", ">" for "the minimum is 5 days"."""
    is_upper, is_lower = _UPPER.search(plain) is not None, _LOWER.search(plain) is not None
    if is_upper == is_lower:
        return ""
    return "<" if is_upper else ">"


_ASKS_FROM = re.compile(
    r"(?:from|starting (?:at|from|with)|tu) (?:what|which|how|when|bao nhieu|bao gio|muc nao|ngay nao|may)\b"
)
"""A question for where something begins, which "up to" answers the other way round."""


class ExpectedLimit(NamedTuple):
    """Which limit an answer has to state, and whether question or reference say so in words for it."""

    side: Limit
    is_explicit: bool


def find_expected_limit(question: str, reference: str) -> ExpectedLimit:
    """Return the limit that a folded question and reference are about; "How long can I stay?" asks for the longest."""
    side = find_limit(reference) or find_limit(question)
    if side:
        return ExpectedLimit(side, True)
    if _ASKS_FROM.match(question):
        return ExpectedLimit(">", True)
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
    if _GOES_ON_UNTIL.match(plain, stated.end):
        return False  # "from 2 May to 4 June"
    return is_upper and _AFTER.search(plain, max(0, stated.start - _MOST_BETWEEN), stated.start) is not None


def is_limit_of_refusal(stated: Quantity, plain: str, clause_end: int, expected: ExpectedLimit) -> bool:
    """Return whether what is beyond a bound is refused: "anything larger than 25 MB is rejected" states 25 MB."""
    fits = not expected.side or (stated.bound[:1] == ">") == (expected.side == "<")
    return fits and _REFUSED.search(plain, stated.end, clause_end) is not None


# ── before and after ─────────────────────────────────────────────────────────────────────────────────────────────

_DIRECTION = re.compile(
    r" ?(?:or (?:more|less) |left |to go )?(?:(?P<before>before|prior to|ahead of|in advance|beforehand|truoc)"
    r"|(?P<after>after|afterwards|later|following|past|sau))\b"
)
_DIRECTION_BEFORE = re.compile(r"\b(?:(?P<before>truoc)|(?P<after>sau))(?: (?!cach|luc)[a-z]+){0,5} $")
"""In Vietnamese the event may come first: "trước giờ tàu chạy 24 tiếng"."""


def find_direction(quantity: Quantity, plain: str) -> Literal["", "before", "after"]:
    """Return whether a span of time is one before or after something; "" if it is neither.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> text = read_text("2 days before you arrive, 3 hours after landing, for 5 days")
    >>> [find_direction(quantity, text.plain) for quantity in text.quantities]
    ['before', 'after', '']
    """
    if not any(reading.dimension in ("duration", "calendar") for reading in quantity.readings):
        return ""
    match = _DIRECTION.match(plain, quantity.end)
    if match is None:
        match = _DIRECTION_BEFORE.search(plain, max(0, quantity.start - _MOST_BETWEEN), quantity.start)
    if match is None:
        return ""
    return "before" if match["before"] else "after"


_CHANGE = re.compile(
    r"\b(?:reduc|cut|lower|decreas|drop|f[ae]ll|shr[iau]nk|rais|r[io]se|increas|gr[eo]w"
    r"|(?:go(?:es)?|went) (?:up|down)|giam|tang)"
    r"\w*(?: \w+){0,4} (?:(?P<by>by|di|them)|(?P<to>to|xuong|len|con)) (?:about |around |exactly |khoang )?$"
)
"""A verb of change before a quantity, and whether the quantity is the difference or what is left."""


def find_change(quantity: Quantity, plain: str) -> Literal["", "by", "to"]:
    """Return whether something changes by a quantity or to it; "" if it is said of no change.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> text = read_text("It is reduced by 20 percent, then cut to 15 percent, of 90 percent")
    >>> [find_change(quantity, text.plain) for quantity in text.quantities]
    ['by', 'to', '']
    """
    match = _CHANGE.search(plain, max(0, quantity.start - _MOST_BETWEEN), quantity.start)
    if match is None:
        return ""
    return "by" if match["by"] else "to"


# ── events, beliefs, withdrawals ─────────────────────────────────────────────────────────────────────────────────

_EVENTS = [
    (r"open(?:s|ed|ing)?", r"clos(?:e|es|ed|ing)|shuts?|deadline"),
    (
        r"start(?:s|ed|ing)?|begin(?:s|ning)?|began|commences?",
        r"end(?:s|ed|ing)?|finish(?:es|ed)?|stops?|(?:is|are) over",
    ),
    (r"lands?|landing", r"takes? off|take-?off"),
    (r"arriv(?:e|es|ed|al)|gets? in", r"depart(?:s|ed|ure)?|leav(?:e|es|ing)|set(?:s|ting)? off"),
    (r"check(?:ing)?[ -]?in", r"check(?:ing)?[ -]?out"),
    (r"mo cua", r"dong cua"),
    (r"bat dau", r"ket thuc"),
    (
        r"(?:den|toi|ve) (?:noi|ga|ben|cang|san bay)|cap ben|ha canh",
        r"khoi hanh|roi (?:ben|ga|cang|san bay)|xuat phat|cat canh",
    ),
    (r"giao hang", r"nhan hang"),
    (r"nhan phong", r"tra phong"),
]
_EVENT_PAIRS = [
    (LatePattern(rf"\b(?:{first})\b"), LatePattern(rf"\b(?:{second})\b"))
    for pair in _EVENTS
    for first, second in (pair, pair[::-1])
]
_UNTIL = LatePattern(r"\b(?:until|till|til|to|through|den|toi|cho den)(?: the)? $")


_STARTS_AT = LatePattern(r"\b(?:from|starting|beginning|as of|as from|tu)(?: the| ngay)? $")
_ENDS_AT = LatePattern(r"(?<!\bnot )\b(?:until|till|til|to|through|by|den|toi)(?: the| ngay)? $")
_ASKS_START = LatePattern(r"\b(?:start|begin|open|from when|since when|earliest|bat dau|mo cua)s?\b")
_ASKS_END = re.compile(
    r"\b(?:end|finish|close|stop|until when|until what|till when|how long|how late|latest|deadline|due|expire|ket thuc"
    r"|dong cua|(?:den|toi) (?:may gio|khi nao|luc nao))s?\b"
)
_ASKS_WHEN = LatePattern(
    r"\b(?:when|what (?:time|date|day)|how (?:early|late|long|soon)|from|since|earliest|latest|deadline|due|until"
    r"|khi nao|bao gio|may gio|luc nao|ngay nao|bao lau)\b"
)
"""A question for a time: "Is it open to guests?" asks for none."""


def is_other_end(question: str, before_value: str) -> bool:
    """Return whether a value is the start of a time of which the question asks the end, or the other way round.

    >>> is_other_end("when does it end?", "you can apply from ")
    True
    """
    asked = find_asked_end(question)
    if not asked:
        return False
    return (_STARTS_AT if asked == "end" else _ENDS_AT).search(before_value) is not None


def find_asked_end(question: str) -> Literal["", "start", "end"]:
    """Return which end of a time a folded question asks for, "" if it asks for neither or both.

    >>> find_asked_end("when does it end?"), find_asked_end("is it open to guests?")
    ('end', '')
    """
    is_start, is_end = (pattern.search(question) is not None for pattern in (_ASKS_START, _ASKS_END))
    if is_start == is_end or not _ASKS_WHEN.search(question):
        return ""
    return "end" if is_end else "start"


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
_BUT = LatePattern(r"\b(?:but|however|yet|in fact|actually|in truth|nhung|tuy nhien|thuc ra|thuc te)\b")
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
