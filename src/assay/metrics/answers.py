"""Deterministic scoring of an answer's text: keywords, exact and numeric answers, and required facts.

Words are compared case-insensitively, and with their diacritics only if both sides are written with them. Numbers and
dates are compared by value at token boundaries: "1.4" is not in "21.4", "1.400.000" equals "1.4M", and "mười hai ngày"
equals "12 ngày". Only the first 200,000 characters of an answer are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from assay.metrics.folding import fold, nfc
from assay.metrics.matching import Element, Elements, Word, elements, occurrences, same_date, same_number
from assay.metrics.quantities import Date, Number, quantities

_LONGEST = 200_000  # characters of an answer that are read


class KeywordGrade(NamedTuple):
    """A keyword score and the matches behind it.

    `hedged`: a correct keyword is uncertain. It follows "maybe", is joined to another number by "or", is part of a bare
    list of numbers, follows "previously" or precedes "before" with a later "now", or its clause lacks a "now" that the
    clause of an incorrect pattern has. `negated`: a correct keyword occurs only negated and so counts as missing.
    Answers with either flag should be reviewed by a person or a judge.
    """

    score: float | None
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    incorrect_found: tuple[str, ...]
    hedged: bool
    negated: bool


def grade_keywords(
    answer: str, correct: Sequence[str], incorrect: Sequence[str] = (), match: Literal["any", "all"] = "any"
) -> KeywordGrade:
    """Return the share of the correct keywords that the answer contains, and the matches behind it.

    A keyword counts only where it is not negated. With `match="all"`, an incorrect pattern makes the score 0 if any
    correct keyword is missing; otherwise incorrect patterns are reported but do not lower the score. Range [0, 1]; None
    without correct keywords (empty ones are ignored). Hedging is flagged and does not change the score. The keyword
    rubric of ADR 0038, with token boundaries, comparison by value and negation added.

    >>> grade_keywords("It rose from $1.2M to $1.4M.", ["$1.4M"], ["$1.2M"]).score
    1.0
    >>> grade_keywords("Not $1.4M but $1.2M.", ["$1.4M"], ["$1.2M"])[:4]
    (0.0, (), ('$1.4M',), ('$1.2M',))
    """
    answer_elements = elements(answer[:_LONGEST])
    hits = {keyword: _find_phrase(keyword, answer_elements) for keyword in dict.fromkeys((*correct, *incorrect))}
    wanted_keywords = [keyword for keyword in dict.fromkeys(correct) if fold(keyword)]
    matched = tuple(keyword for keyword in wanted_keywords if hits[keyword].asserted)
    missing = tuple(keyword for keyword in wanted_keywords if not hits[keyword].asserted)
    incorrect_matched = tuple(
        pattern for pattern in dict.fromkeys(incorrect) if fold(pattern) and hits[pattern].asserted
    )
    if not wanted_keywords:
        score = None
    elif match == "all" and missing and incorrect_matched:
        score = 0.0
    else:
        score = len(matched) / len(wanted_keywords)

    correct_numbers: list[Number] = []
    for keyword in wanted_keywords:
        correct_numbers += [item for item in _phrase_elements(keyword).items if isinstance(item, Number)]
    correct_spans = [span for keyword in matched for span in hits[keyword].asserted]
    incorrect_spans = [span for pattern in incorrect_matched for span in hits[pattern].asserted]
    # "It was 12, now it is 14" states 14, although 12 is not negated.
    incorrect_is_current = any(_is_present(answer_elements, span) for span in incorrect_spans)
    correct_is_current = any(_is_present(answer_elements, span) for span in correct_spans)
    hedged = (incorrect_is_current and not correct_is_current) or any(
        _is_hedged(answer_elements, span, correct_numbers) for span in correct_spans
    )
    negated = any(hits[keyword].negated for keyword in missing)
    return KeywordGrade(score, matched, missing, incorrect_matched, hedged, negated)


def exact_match(answer: str, reference: str) -> bool:
    """Return whether the answer equals the reference, ignoring Unicode form, case, spacing and outer punctuation.

    Diacritics are significant. An empty reference matches nothing.

    >>> exact_match(" **Có, 12 ngày.** ", "có, 12 ngày")
    True
    """
    normal_reference = _normalise(reference)
    return bool(normal_reference) and _normalise(answer) == normal_reference


def number_match(answer: str, reference: str, tolerance: float = 0.0) -> bool | None:
    """Return whether the answer states every number and date of the reference, compared by value and not negated.

    `tolerance` is absolute and in plain numbers: for "$1.4M", 0.5M is 500000. Units must agree if both sides state one.
    A spelled-out "one" in the reference is not required. None if the reference has no number or date.

    >>> number_match("Khoảng 1.400.000 đồng", "1,4 triệu đồng"), number_match("12 tháng", "12 ngày")
    (True, False)
    """
    answer_elements = elements(answer[:_LONGEST])
    margin = Decimal(repr(float(tolerance)))
    required: list[Number | Date] = []
    for quantity in quantities(reference):
        is_spelled_one = isinstance(quantity, Number) and quantity.spelled and 1 in quantity.values
        if not is_spelled_one:
            required.append(quantity)
    if not required:
        return None
    return all(_has_quantity(answer_elements, quantity, margin) for quantity in required)


def facts_present(answer: str, must_have: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the facts that the answer states without negation, and those that are missing; matched like keywords.

    >>> facts_present("Tối đa năm ngày, quản lý duyệt.", ["5 ngày", "Quản lý", "HR"])
    (['5 ngày', 'Quản lý'], ['HR'])
    """
    answer_elements = elements(answer[:_LONGEST])
    facts = [fact for fact in must_have if fold(fact)]
    present = {fact for fact in facts if _find_phrase(fact, answer_elements).asserted}
    return [fact for fact in facts if fact in present], [fact for fact in facts if fact not in present]


def facts_without_figures(answer: str, must_have: Sequence[str]) -> list[str]:
    """Return the facts with a number or date that the answer does not state or negates.

    The answer cannot contain these facts in any wording. Facts without a number or date are never returned.

    >>> facts_without_figures("Staff get fourteen days, paid.", ["12 days", "14 days", "paid"])
    ['12 days']
    """
    return [fact for fact in must_have if number_match(answer, fact) is False]


# ── finding a phrase and checking its context ────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=4096)
def _phrase_elements(phrase: str) -> Elements:
    """Return the elements of a phrase; cached, because phrases of the golden set are compared with many answers."""
    return elements(phrase)


class _PhraseHits(NamedTuple):
    asserted: list[tuple[int, int]]  # ranges of the answer's items
    negated: bool


def _find_phrase(phrase: str, answer: Elements) -> _PhraseHits:
    phrase_elements = _phrase_elements(phrase)
    if not phrase_elements.items:  # only symbols: search for them literally
        symbols = fold(phrase)
        return _PhraseHits([(0, 0)] if symbols and symbols in fold(answer.plain) else [], False)
    spans = occurrences(phrase_elements, answer)[:_MOST_OCCURRENCES]
    asserted = [(i, j) for i, j in spans if not _is_negated(answer, i, j)]
    return _PhraseHits(asserted, len(asserted) < len(spans))


_MOST_OCCURRENCES = 100  # occurrences of a phrase that are examined
_CONTEXT = 60  # characters that are examined on either side
_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|never|no longer|rather than|instead of|khong phai|chua phai|chu khong|khong con|thay vi|khong duoc"
    r"|khong co)|n't)(?: (?:a|an|the|be|get|have|receive|equal to|exactly|la|phai|duoc|nghi|co|at|by|of|in|for)){0,2}"
    r"[ \"'(*$]*$"
)
_DENIED = (
    r"(?:not (?:correct|right|true|the)|wrong|incorrect|false|outdated|no longer|sai|khong dung|khong con|khong phai)\b"
)
_STATED_WRONG = re.compile(r"[\"')*]{0,3} (?:is|are|was|were|la) " + _DENIED)
_NUMBER_WRONG = re.compile(r"[\"')*]{0,3} " + _DENIED)
_MAYBE_BEFORE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|(?:might|may|could) be|i think|i guess|not sure|co the la|co le|hinh nhu"
    r"|chac la)(?: \w{1,20}){0,2}[ \"'(*$]*$"
)
_SENTENCE_END = re.compile(r"[.!?;] ")


def _text_before(answer: Elements, start: int, reach: int = _CONTEXT) -> str:
    """Return at most `reach` characters before a position, from the start of its sentence."""
    head = answer.plain[max(0, start - reach) : start]
    return _SENTENCE_END.split(head)[-1]


def _is_negated(answer: Elements, first: int, last: int) -> bool:
    """Whether the answer denies the items from `first` to `last`.

    An adjective alone denies a number ("12 ngày sai") but not a thing ("token sai" is a wrong token).
    """
    if _NOT_BEFORE.search(_text_before(answer, answer.items[first].start)):
        return True
    end = answer.items[last - 1].end
    after = answer.plain[end : end + _CONTEXT]
    numeric = any(isinstance(item, Number) for item in answer.items[first:last])
    return bool(_STATED_WRONG.match(after) or (numeric and _NUMBER_WRONG.match(after)))


_OR = ("or", "hoac", "hay")
_LONG_CONTEXT = 160  # characters on either side in which words for past and present are searched
_PAST_BEFORE = re.compile(
    r"\b(?:previously|formerly|used to be|originally|in the past|last year|before,? it was|truoc day|truoc kia"
    r"|nam ngoai|nam truoc|tung la)\b,?[^,;]*$"
)
_PAST_AFTER = re.compile(r"[^,;.!?]*\b(?:before(?= ?[,;.!?)]| (?:and|but)\b|$)|truoc day\b|truoc kia\b)")
_PRESENT_WORD = re.compile(
    r"\b(?:now|currently|today|nowadays|as of|since then|hien nay|hien tai|hien gio|bay gio|gio day|hom nay|ngay nay"
    r"|nay (?:la|con|chi|duoc|da))\b"
)
_CLAUSE_END = re.compile(r"[.!?;,…](?=\s|$)|\b(?:and|but|whereas|va|nhung)\b")
_LIST_SEPARATOR = re.compile(r"[\s,;/|$€£]*")


def _is_hedged(answer: Elements, span: tuple[int, int], correct_numbers: Sequence[Number]) -> bool:
    """Whether the statement at `span` is uncertain: with "maybe", about the past, or next to another number."""
    first, last = span
    if first == last:
        return False
    if _MAYBE_BEFORE.search(_text_before(answer, answer.items[first].start)) or _is_past(answer, span):
        return True
    numbers = [item for item in answer.items[first:last] if isinstance(item, Number)]
    return bool(numbers) and _has_rival(answer, span, (*numbers, *correct_numbers))


def _is_past(answer: Elements, span: tuple[int, int]) -> bool:
    """Whether the statement at `span` is about the past and followed by a word for the present."""
    before = _text_before(answer, answer.items[span[0]].start, _LONG_CONTEXT)
    after = answer.plain[answer.items[span[1] - 1].end :][:_LONG_CONTEXT]
    past_match = _PAST_BEFORE.search(before) or _PAST_AFTER.match(after)
    return bool(past_match and _PRESENT_WORD.search(after))


def _is_present(answer: Elements, span: tuple[int, int]) -> bool:
    """Whether the clause of the statement at `span` contains a word for the present."""
    first, last = span
    if first == last:
        return False
    start, end = answer.items[first].start, answer.items[last - 1].end
    before = _CLAUSE_END.split(answer.plain[max(0, start - _LONG_CONTEXT) : start])[-1]
    after = _CLAUSE_END.split(answer.plain[end : end + _LONG_CONTEXT])[0]
    return bool(_PRESENT_WORD.search(before) or _PRESENT_WORD.search(after))


def _has_rival(answer: Elements, span: tuple[int, int], correct_numbers: Sequence[Number]) -> bool:
    """Whether a number that is not correct is joined to `span` by "or", or follows or precedes it in a bare list."""
    first, last = span
    items_before, items_after = answer.items[max(0, first - 4) : first], answer.items[last : last + 4]
    neighbours = (*items_before, *items_after)
    if any(isinstance(item, Word) and item.folded in _OR for item in neighbours):
        rivals = [item for item in neighbours if isinstance(item, Number)]
    else:
        start, end = answer.items[first].start, answer.items[last - 1].end
        gaps = [(item, answer.plain[item.end : start]) for item in items_before[-1:]]
        gaps += [(item, answer.plain[end : item.start]) for item in items_after[:1]]
        units = {number.unit for number in correct_numbers}
        rivals = []
        for item, gap in gaps:
            if _LIST_SEPARATOR.fullmatch(gap) and isinstance(item, Number) and item.unit in units:
                rivals.append(item)
    for rival in rivals:
        if not any(same_number(number, rival, unit_required=False) for number in correct_numbers):
            return True
    return False


def _has_quantity(answer: Elements, required: Number | Date, margin: Decimal) -> bool:
    """Whether the answer states a number or date, within `margin` and without negation."""
    for index, item in enumerate(answer.items):
        if _is_same_quantity(required, item, margin) and not _is_negated(answer, index, index + 1):
            return True
    return False


def _is_same_quantity(required: Number | Date, item: Element, margin: Decimal) -> bool:
    if isinstance(required, Date) or isinstance(item, Date):
        return isinstance(required, Date) and isinstance(item, Date) and same_date(required, item)
    if isinstance(item, Word) or (required.unit and item.unit and required.unit != item.unit):
        return False
    return any(abs(value - other) <= margin for value in required.values for other in item.values)


_OUTER_PUNCTUATION = " \t\n.,;:!?…\"'“”‘’()[]{}«»`*_"


def _normalise(text: str) -> str:
    return " ".join(nfc(nfc(text).casefold()).split()).strip(_OUTER_PUNCTUATION)
