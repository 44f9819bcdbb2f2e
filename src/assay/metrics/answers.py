"""Deterministic grading of an answer's text: keywords, exact and numeric answers, facts that must be present.

Words are compared folded but respecting diacritics where both sides have them; numbers and dates by value, at token
boundaries: "1.4" is not in "21.4", "1.400.000" is "1.4M", "mười hai ngày" is "12 ngày". Of an endless answer the first
200,000 characters count.
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
    """A keyword score with what led to it. `hedged`: a correct keyword stands beside "maybe", an "or" with a rival
    number, a bare list of rivals, "previously" or "before" with a "now" after it, or no "now" in its clause where an
    incorrect pattern has one; `negated`: one stands only negated, and so counts as missing. Both are for a reader or
    judge to settle."""

    score: float | None
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    incorrect_found: tuple[str, ...]
    hedged: bool
    negated: bool


def grade_keywords(
    answer: str, correct: Sequence[str], incorrect: Sequence[str] = (), match: Literal["any", "all"] = "any"
) -> KeywordGrade:
    """Return the share of correct keywords in the answer, correct first: an incorrect pattern counts only where the
    correct ones are not found (`any`: not one of them, `all`: not all).

    A keyword counts where it stands un-negated. Range [0, 1]; 0 where none is found; None without correct keywords
    (empty ones are left out). Hedging is flagged and does not change the score. The keyword rubric
    of ADR 0038, with token boundaries, comparison by value and negation added.

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
    score = (
        None
        if not wanted_keywords
        else 0.0
        if match == "all" and missing and incorrect_matched
        else len(matched) / len(wanted_keywords)
    )
    correct_numbers = [
        number
        for keyword in wanted_keywords
        for number in _phrase_elements(keyword).items
        if isinstance(number, Number)
    ]
    correct_spans = [span for keyword in matched for span in hits[keyword].asserted]
    incorrect_spans = [span for pattern in incorrect_matched for span in hits[pattern].asserted]
    is_outdated = any(_is_present(answer_elements, span) for span in incorrect_spans) and not any(
        _is_present(answer_elements, span) for span in correct_spans
    )
    hedged = is_outdated or any(_is_hedged(answer_elements, span, correct_numbers) for span in correct_spans)
    return KeywordGrade(
        score, matched, missing, incorrect_matched, hedged, any(hits[keyword].negated for keyword in missing)
    )


def exact_match(answer: str, reference: str) -> bool:
    """Return whether the answer is the reference but for Unicode form, case, spacing and outer punctuation.

    Diacritics count. An empty reference matches nothing.

    >>> exact_match(" **Có, 12 ngày.** ", "có, 12 ngày")
    True
    """
    normal_reference = _normalise(reference)
    return bool(normal_reference) and _normalise(answer) == normal_reference


def number_match(answer: str, reference: str, tolerance: float = 0.0) -> bool | None:
    """Return whether the answer holds every number and date of the reference, un-negated, by value.

    `tolerance` is absolute, in the number's own unit (0.5M of "$1.4M" is 500000). Units must agree where both are
    stated. A spelled-out "one" of the reference is not required. None where the reference has no number or date.

    >>> number_match("Khoảng 1.400.000 đồng", "1,4 triệu đồng"), number_match("12 tháng", "12 ngày")
    (True, False)
    """
    text = elements(answer[:_LONGEST])
    margin = Decimal(repr(float(tolerance)))
    wanted = [
        item for item in quantities(reference) if not (isinstance(item, Number) and item.spelled and 1 in item.values)
    ]
    if not wanted:
        return None
    return all(
        any(
            _is_same_quantity(want, item, margin) and not _is_negated(text, i, i + 1)
            for i, item in enumerate(text.items)
        )
        for want in wanted
    )


def facts_present(answer: str, must_have: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which of the facts stand in the answer, un-negated, and which are missing; matched as keywords are.

    >>> facts_present("Tối đa năm ngày, quản lý duyệt.", ["5 ngày", "Quản lý", "HR"])
    (['5 ngày', 'Quản lý'], ['HR'])
    """
    answer_elements = elements(answer[:_LONGEST])
    facts = [fact for fact in must_have if fold(fact)]
    present = {fact for fact in facts if _find_phrase(fact, answer_elements).asserted}
    return [fact for fact in facts if fact in present], [fact for fact in facts if fact not in present]


def facts_without_figures(answer: str, must_have: Sequence[str]) -> list[str]:
    """Return the facts of which a number or date does not stand in the answer, un-negated: whatever its words, it does
    not state them. A fact without a figure is never among them.

    >>> facts_without_figures("Staff get fourteen days, paid.", ["12 days", "14 days", "paid"])
    ['12 days']
    """
    return [fact for fact in must_have if number_match(answer, fact) is False]


# ── finding a phrase and weighing it ─────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=4096)
def _phrase_elements(phrase: str) -> Elements:
    """Return the elements of a phrase of the golden set, which meets many answers."""
    return elements(phrase)


class _PhraseHits(NamedTuple):
    asserted: list[tuple[int, int]]  # ranges of the answer's items
    negated: bool


def _find_phrase(phrase: str, answer: Elements) -> _PhraseHits:
    phrase_elements = _phrase_elements(phrase)
    if not phrase_elements.items:  # nothing but symbols: look for them as they are
        symbols = fold(phrase)
        return _PhraseHits([(0, 0)] if symbols and symbols in fold(answer.plain) else [], False)
    spans = occurrences(phrase_elements, answer)[:_MOST_OCCURRENCES]
    asserted = [(i, j) for i, j in spans if not _is_negated(answer, i, j)]
    return _PhraseHits(asserted, len(asserted) < len(spans))


_MOST_OCCURRENCES = 100  # places of a phrase that are weighed
_CONTEXT = 60  # characters that are looked at on either side
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
    """Return what stands before a place in its sentence, as far as it is looked at."""
    head = answer.plain[max(0, start - reach) : start]
    return _SENTENCE_END.split(head)[-1]


def _is_negated(answer: Elements, first: int, last: int) -> bool:
    """Whether the answer denies what it says here. A bare adjective denies a number ("12 ngày sai") but not a thing
    ("token sai" is a wrong token)."""
    if _NOT_BEFORE.search(_text_before(answer, answer.items[first].start)):
        return True
    end = answer.items[last - 1].end
    after = answer.plain[end : end + _CONTEXT]
    numeric = any(isinstance(item, Number) for item in answer.items[first:last])
    return bool(_STATED_WRONG.match(after) or (numeric and _NUMBER_WRONG.match(after)))


_OR = ("or", "hoac", "hay")
_LONG_CONTEXT = 160  # characters within which a value of the past and the present one are compared
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


def _is_hedged(answer: Elements, span: tuple[int, int], right: Sequence[Number]) -> bool:
    """Whether what is said at `span` is not said for good: with "maybe", as what was before now, or beside a rival."""
    first, last = span
    if first == last:
        return False
    if _MAYBE_BEFORE.search(_text_before(answer, answer.items[first].start)) or _is_past(answer, span):
        return True
    numbers = [item for item in answer.items[first:last] if isinstance(item, Number)]
    return bool(numbers) and _has_rival(answer, span, (*numbers, *right))


def _is_past(answer: Elements, span: tuple[int, int]) -> bool:
    """Whether what is said at `span` was so before, and something else is now."""
    before = _text_before(answer, answer.items[span[0]].start, _LONG_CONTEXT)
    after = answer.plain[answer.items[span[1] - 1].end :][:_LONG_CONTEXT]
    past_match = _PAST_BEFORE.search(before) or _PAST_AFTER.match(after)
    return bool(past_match and _PRESENT_WORD.search(after))


def _is_present(answer: Elements, span: tuple[int, int]) -> bool:
    """Whether a word for "now" stands in the clause of what is said at `span`."""
    first, last = span
    if first == last:
        return False
    start, end = answer.items[first].start, answer.items[last - 1].end
    before = _CLAUSE_END.split(answer.plain[max(0, start - _LONG_CONTEXT) : start])[-1]
    after = _CLAUSE_END.split(answer.plain[end : end + _LONG_CONTEXT])[0]
    return bool(_PRESENT_WORD.search(before) or _PRESENT_WORD.search(after))


def _has_rival(answer: Elements, span: tuple[int, int], right: Sequence[Number]) -> bool:
    """Whether a number that is not right stands beside `span` with "or", or with nothing between them."""
    first, last = span
    neighbours = answer.items[max(0, first - 4) : first], answer.items[last : last + 4]
    if any(isinstance(item, Word) and item.folded in _OR for side in neighbours for item in side):
        rivals = [item for side in neighbours for item in side if isinstance(item, Number)]
    else:
        here = answer.items[first].start, answer.items[last - 1].end
        gaps = [(item, answer.plain[item.end : here[0]]) for item in neighbours[0][-1:]]
        gaps += [(item, answer.plain[here[1] : item.start]) for item in neighbours[1][:1]]
        units = {each.unit for each in right}
        listed = [item for item, gap in gaps if _LIST_SEPARATOR.fullmatch(gap)]
        rivals = [item for item in listed if isinstance(item, Number) and item.unit in units]
    return any(not any(same_number(one, rival, unit_required=False) for one in right) for rival in rivals)


def _is_same_quantity(wanted: Number | Date, found: Element, margin: Decimal) -> bool:
    if isinstance(wanted, Date) or isinstance(found, Date):
        return isinstance(wanted, Date) and isinstance(found, Date) and same_date(wanted, found)
    if isinstance(found, Word) or (wanted.unit and found.unit and wanted.unit != found.unit):
        return False
    return any(abs(w - f) <= margin for w in wanted.values for f in found.values)


_OUTER_PUNCTUATION = " \t\n.,;:!?…\"'“”‘’()[]{}«»`*_"


def _normalise(text: str) -> str:
    return " ".join(nfc(nfc(text).casefold()).split()).strip(_OUTER_PUNCTUATION)
