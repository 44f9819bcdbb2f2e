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
    text = elements(answer[:_LONGEST])
    found = {keyword: _find(keyword, text) for keyword in dict.fromkeys((*correct, *incorrect))}
    wanted = [keyword for keyword in dict.fromkeys(correct) if fold(keyword)]
    matched = tuple(keyword for keyword in wanted if found[keyword].said)
    missing = tuple(keyword for keyword in wanted if not found[keyword].said)
    wrong = tuple(pattern for pattern in dict.fromkeys(incorrect) if fold(pattern) and found[pattern].said)
    score = None if not wanted else 0.0 if match == "all" and missing and wrong else len(matched) / len(wanted)
    right = [number for keyword in wanted for number in _phrase(keyword).items if isinstance(number, Number)]
    spans = [span for keyword in matched for span in found[keyword].said]
    rivals = [span for pattern in wrong for span in found[pattern].said]
    overtaken = any(_present(text, span) for span in rivals) and not any(_present(text, span) for span in spans)
    hedged = overtaken or any(_hedged(text, span, right) for span in spans)
    return KeywordGrade(score, matched, missing, wrong, hedged, any(found[keyword].negated for keyword in missing))


def exact_match(answer: str, reference: str) -> bool:
    """Return whether the answer is the reference but for Unicode form, case, spacing and outer punctuation.

    Diacritics count. An empty reference matches nothing.

    >>> exact_match(" **Có, 12 ngày.** ", "có, 12 ngày")
    True
    """
    wanted = _normal(reference)
    return bool(wanted) and _normal(answer) == wanted


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
        any(_same(want, item, margin) and not _negated(text, i, i + 1) for i, item in enumerate(text.items))
        for want in wanted
    )


def facts_present(answer: str, must_have: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which of the facts stand in the answer, un-negated, and which are missing; matched as keywords are.

    >>> facts_present("Tối đa năm ngày, quản lý duyệt.", ["5 ngày", "Quản lý", "HR"])
    (['5 ngày', 'Quản lý'], ['HR'])
    """
    text = elements(answer[:_LONGEST])
    facts = [fact for fact in must_have if fold(fact)]
    found = {fact for fact in facts if _find(fact, text).said}
    return [fact for fact in facts if fact in found], [fact for fact in facts if fact not in found]


def facts_without_figures(answer: str, must_have: Sequence[str]) -> list[str]:
    """Return the facts of which a number or date does not stand in the answer, un-negated: whatever its words, it does
    not state them. A fact without a figure is never among them.

    >>> facts_without_figures("Staff get fourteen days, paid.", ["12 days", "14 days", "paid"])
    ['12 days']
    """
    return [fact for fact in must_have if number_match(answer, fact) is False]


# ── finding a phrase and weighing it ─────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=4096)
def _phrase(phrase: str) -> Elements:
    """Return the elements of a phrase of the golden set, which meets many answers."""
    return elements(phrase)


class _Found(NamedTuple):
    said: list[tuple[int, int]]  # ranges of the answer's items
    negated: bool


def _find(phrase: str, answer: Elements) -> _Found:
    wanted = _phrase(phrase)
    if not wanted.items:  # nothing but symbols: look for them as they are
        symbols = fold(phrase)
        return _Found([(0, 0)] if symbols and symbols in fold(answer.plain) else [], False)
    spans = occurrences(wanted, answer)[:_MOST]
    said = [(i, j) for i, j in spans if not _negated(answer, i, j)]
    return _Found(said, len(said) < len(spans))


_MOST = 100  # places of a phrase that are weighed
_BEFORE = 60  # characters that are looked at on either side
_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|never|no longer|rather than|instead of|khong phai|chua phai|chu khong|khong con|thay vi|khong duoc"
    r"|khong co)|n't)(?: (?:a|an|the|be|get|have|receive|equal to|exactly|la|phai|duoc|nghi|co|at|by|of|in|for)){0,2}"
    r"[ \"'(*$]*$"
)
_DENIED = (
    r"(?:not (?:correct|right|true|the)|wrong|incorrect|false|outdated|no longer|sai|khong dung|khong con|khong phai)\b"
)
_SAID_WRONG = re.compile(r"[\"')*]{0,3} (?:is|are|was|were|la) " + _DENIED)
_NUMBER_WRONG = re.compile(r"[\"')*]{0,3} " + _DENIED)
_MAYBE_BEFORE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|(?:might|may|could) be|i think|i guess|not sure|co the la|co le|hinh nhu"
    r"|chac la)(?: \w{1,20}){0,2}[ \"'(*$]*$"
)
_SENTENCE_END = re.compile(r"[.!?;] ")


def _before(answer: Elements, start: int, reach: int = _BEFORE) -> str:
    """Return what stands before a place in its sentence, as far as it is looked at."""
    head = answer.plain[max(0, start - reach) : start]
    return _SENTENCE_END.split(head)[-1]


def _negated(answer: Elements, first: int, last: int) -> bool:
    """Whether the answer denies what it says here. A bare adjective denies a number ("12 ngày sai") but not a thing
    ("token sai" is a wrong token)."""
    if _NOT_BEFORE.search(_before(answer, answer.items[first].start)):
        return True
    end = answer.items[last - 1].end
    after = answer.plain[end : end + _BEFORE]
    numeric = any(isinstance(item, Number) for item in answer.items[first:last])
    return bool(_SAID_WRONG.match(after) or (numeric and _NUMBER_WRONG.match(after)))


_OR = ("or", "hoac", "hay")
_FAR = 160  # characters within which a value of the past and the present one are compared
_PAST_BEFORE = re.compile(
    r"\b(?:previously|formerly|used to be|originally|in the past|last year|before,? it was|truoc day|truoc kia"
    r"|nam ngoai|nam truoc|tung la)\b,?[^,;]*$"
)
_PAST_AFTER = re.compile(r"[^,;.!?]*\b(?:before(?= ?[,;.!?)]| (?:and|but)\b|$)|truoc day\b|truoc kia\b)")
_NOW = re.compile(
    r"\b(?:now|currently|today|nowadays|as of|since then|hien nay|hien tai|hien gio|bay gio|gio day|hom nay|ngay nay"
    r"|nay (?:la|con|chi|duoc|da))\b"
)
_CLAUSE_END = re.compile(r"[.!?;,…](?=\s|$)|\b(?:and|but|whereas|va|nhung)\b")
_LISTED = re.compile(r"[\s,;/|$€£]*")


def _hedged(answer: Elements, span: tuple[int, int], right: Sequence[Number]) -> bool:
    """Whether what is said at `span` is not said for good: with "maybe", as what was before now, or beside a rival."""
    first, last = span
    if first == last:
        return False
    if _MAYBE_BEFORE.search(_before(answer, answer.items[first].start)) or _past(answer, span):
        return True
    numbers = [item for item in answer.items[first:last] if isinstance(item, Number)]
    return bool(numbers) and _rivalled(answer, span, (*numbers, *right))


def _past(answer: Elements, span: tuple[int, int]) -> bool:
    """Whether what is said at `span` was so before, and something else is now."""
    before = _before(answer, answer.items[span[0]].start, _FAR)
    after = answer.plain[answer.items[span[1] - 1].end :][:_FAR]
    past = _PAST_BEFORE.search(before) or _PAST_AFTER.match(after)
    return bool(past and _NOW.search(after))


def _present(answer: Elements, span: tuple[int, int]) -> bool:
    """Whether a word for "now" stands in the clause of what is said at `span`."""
    first, last = span
    if first == last:
        return False
    start, end = answer.items[first].start, answer.items[last - 1].end
    before = _CLAUSE_END.split(answer.plain[max(0, start - _FAR) : start])[-1]
    after = _CLAUSE_END.split(answer.plain[end : end + _FAR])[0]
    return bool(_NOW.search(before) or _NOW.search(after))


def _rivalled(answer: Elements, span: tuple[int, int], right: Sequence[Number]) -> bool:
    """Whether a number that is not right stands beside `span` with "or", or with nothing between them."""
    first, last = span
    near = answer.items[max(0, first - 4) : first], answer.items[last : last + 4]
    if any(isinstance(item, Word) and item.folded in _OR for side in near for item in side):
        rivals = [item for side in near for item in side if isinstance(item, Number)]
    else:
        here = answer.items[first].start, answer.items[last - 1].end
        gaps = [(item, answer.plain[item.end : here[0]]) for item in near[0][-1:]]
        gaps += [(item, answer.plain[here[1] : item.start]) for item in near[1][:1]]
        units = {each.unit for each in right}
        listed = [item for item, gap in gaps if _LISTED.fullmatch(gap)]
        rivals = [item for item in listed if isinstance(item, Number) and item.unit in units]
    return any(not any(same_number(one, rival, unit_required=False) for one in right) for rival in rivals)


def _same(wanted: Number | Date, found: Element, margin: Decimal) -> bool:
    if isinstance(wanted, Date) or isinstance(found, Date):
        return isinstance(wanted, Date) and isinstance(found, Date) and same_date(wanted, found)
    if isinstance(found, Word) or (wanted.unit and found.unit and wanted.unit != found.unit):
        return False
    return any(abs(w - f) <= margin for w in wanted.values for f in found.values)


_OUTER = " \t\n.,;:!?…\"'“”‘’()[]{}«»`*_"


def _normal(text: str) -> str:
    return " ".join(nfc(nfc(text).casefold()).split()).strip(_OUTER)
