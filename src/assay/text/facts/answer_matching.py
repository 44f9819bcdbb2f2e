"""Deterministic scoring of an answer's text: phrases, keywords, exact and numeric answers, required facts, similarity.

Words are compared case-insensitively, and with their diacritics only if both sides are written with them. Numbers and
dates are compared by value at token boundaries: "1.4" is not in "21.4", "1.400.000" equals "1.4M", and "mười hai ngày"
equals "12 ngày". Markdown, HTML and typographic characters are taken off first. Only the first 200,000 characters of an
answer are read. `assay.text.facts.stated_facts` says what an answer does with a fact whose words it does not repeat.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from assay.text.citation_markers import remove_citation_markers
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import BEFORE_DENIED_PHRASE, CALLED_UNTRUE, NOT_BEFORE_PHRASE
from assay.text.facts.cues.doubt_cues import MAYBE
from assay.text.facts.cues.link_cues import AND, SET_AGAINST
from assay.text.facts.fact_judgments import FactJudgment, FactState
from assay.text.facts.reading.statement_marks import PAST_AFTER, PAST_BEFORE, PRESENT
from assay.text.facts.stated_facts import judge_facts
from assay.text.facts.stated_quantities import judge_quantities
from assay.text.markup import remove_markup
from assay.text.normalisation import MOST_READ, fold_in_place, fold_text, normalise_nfc
from assay.text.numbers import CURRENCY_UNITS, Date, Number, find_quantities, share_value
from assay.text.pattern_cache import compile_pattern
from assay.text.tokens import find_token_spans


class WordElement(Struct, frozen=True):
    """A word or identifier: its folded form, the diacritics that folding removed, and its span in the NFC text."""

    folded: str
    diacritics: str
    start: int
    end: int


TextElement = WordElement | Number | Date


class TextElements(Struct, frozen=True):
    """A text as words, numbers and dates. `folded`: the text folded in place. `lacks_diacritics`: no word has
    diacritics.
    """

    items: list[TextElement]
    folded: str
    lacks_diacritics: bool


_ONE_WORDS = ("one", "mot")


def parse_elements(text: str) -> TextElements:
    """Return the words, numbers and dates of a text in order.

    >>> word, number = parse_elements("Nghỉ mười hai ngày").items
    >>> word.folded, number.readings
    ('nghi', (Decimal('12'),))
    """
    nfc_text = normalise_nfc(text)
    plain = fold_in_place(nfc_text)
    pending = deque(find_quantities(nfc_text))
    items: list[TextElement] = []
    for start, end in find_token_spans(plain):
        while pending and pending[0].end <= start:
            items.append(pending.popleft())
        if not (pending and pending[0].start < end):
            items.append(WordElement(plain[start:end], _diacritics(nfc_text[start:end]), start, end))
    items.extend(pending)
    return TextElements(items, plain, not any(isinstance(item, WordElement) and item.diacritics for item in items))


@lru_cache(maxsize=8192)
def _diacritics(word: str) -> str:
    """Return the diacritics of a word, sorted, so that "hoà" and "hòa" have the same."""
    if word.isascii():
        return ""
    decomposed = unicodedata.normalize("NFD", word.lower())
    return "".join(sorted(c for c in decomposed if c == "đ" or unicodedata.category(c) == "Mn"))


def is_same_number(expected: Number, candidate: Number, *, unit_required: bool) -> bool:
    """Return whether two numbers share a reading and their units agree.

    Units must agree if both are stated. With `unit_required`, a unit of `expected` other than a currency must also be
    stated by `candidate`.
    """
    if not share_value(expected.readings, candidate.readings):
        return False
    optional = not unit_required or expected.unit in CURRENCY_UNITS
    return not expected.unit or expected.unit == candidate.unit or (optional and not candidate.unit)


def is_same_date(expected: Date, candidate: Date) -> bool:
    """Return whether two dates can be the same; if `expected` has no day, any day matches."""
    return any(w == f or (w[2] == 0 and w[:2] == f[:2]) for w in expected.readings for f in candidate.readings)


def find_occurrences(phrase: TextElements, answer: TextElements) -> list[tuple[int, int]]:
    """Return where the elements of the phrase occur in sequence in the answer, as (start, end) indices of its items.

    Words are compared folded, and by their diacritics unless the phrase or the answer has none.
    """
    phrase_items, answer_items = phrase.items, answer.items
    ignore_marks = phrase.lacks_diacritics or answer.lacks_diacritics
    if not phrase_items:
        return []
    first, rest = phrase_items[0], phrase_items[1:]
    ranges = []
    for start in range(len(answer_items) - len(rest)):
        if not _is_same_element(first, answer_items[start], ignore_marks):
            continue
        end = start + len(phrase_items)
        pairs = zip(rest, answer_items[start + 1 : end], strict=True)
        if all(_is_same_element(expected, candidate, ignore_marks) for expected, candidate in pairs):
            ranges.append((start, end))
    return ranges


def _is_same_element(expected: TextElement, candidate: TextElement, ignore_marks: bool) -> bool:
    if isinstance(expected, WordElement):
        if isinstance(candidate, WordElement):
            return expected.folded == candidate.folded and (ignore_marks or expected.diacritics == candidate.diacritics)
        return expected.folded in _ONE_WORDS and isinstance(candidate, Number) and 1 in candidate.readings
    if isinstance(expected, Number):
        if isinstance(candidate, Number):
            return is_same_number(expected, candidate, unit_required=True)
        return (
            isinstance(candidate, WordElement)
            and not expected.unit
            and candidate.folded in _ONE_WORDS
            and 1 in expected.readings
        )
    return isinstance(candidate, Date) and is_same_date(expected, candidate)


_LONGEST_CACHED = 4000  # characters of an answer that is kept with its score


class KeywordScore(Struct, frozen=True):
    """A keyword score and the matches behind it.

    `hedged`: a correct keyword is uncertain. It follows "maybe", is joined to another number by "or", is part of a bare
    list of numbers, follows "previously" or precedes "before" with a later "now", or its clause lacks a "now" that the
    clause of an incorrect pattern has; or the answer seems to be about something else than the question. `negated`: a
    correct keyword occurs only negated and so counts as missing. Answers with either flag should be reviewed by a
    person or a judge. `unknown`: correct keywords of which the rules cannot tell whether the answer states them.
    """

    score: float | None
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    incorrect_matched: tuple[str, ...]
    hedged: bool
    negated: bool
    unknown: tuple[str, ...] = ()


def score_judged_keywords(
    answer: str, judgments: Sequence[FactJudgment], incorrect: Sequence[str], match: Literal["any", "all"]
) -> KeywordScore:
    """Return the share of the correct keywords that the answer contains, and the matches behind it.

    `judgments` say what the answer does with each correct keyword (`judge_facts`). With `match="all"`, an incorrect
    pattern makes the score 0 if any correct keyword is missing; otherwise incorrect patterns are reported but do not
    lower the score; they count only as they are written. Range [0, 1]; None without correct keywords, and if some are
    unknown. Hedging is flagged and does not change the score. The keyword rubric of ADR 0038, with token boundaries,
    comparison by value, negation and paraphrase added.

    >>> judgments = judge_facts("It rose from $1.2M.", ["$1.4M"])
    >>> keywords = score_judged_keywords("It rose from $1.2M.", judgments, ["$1.2M"], "any")
    >>> keywords.score, keywords.matched, keywords.missing, keywords.incorrect_matched
    (0.0, (), ('$1.4M',), ('$1.2M',))
    """
    score = _score_keywords_of_long if len(answer) > _LONGEST_CACHED else _score_keywords_once
    return score(answer, tuple(judgments), tuple(incorrect), match)


def _score_keywords(
    answer: str, judgments: tuple[FactJudgment, ...], incorrect: tuple[str, ...], match: Literal["any", "all"]
) -> KeywordScore:
    answer_elements = parse_elements(remove_markup(remove_citation_markers(answer[:MOST_READ], only_sure=True)))
    wanted_keywords = [judgment.fact for judgment in judgments]
    hits = {
        keyword: _find_phrase(keyword, answer_elements) for keyword in dict.fromkeys((*wanted_keywords, *incorrect))
    }
    incorrect_matched = tuple(
        pattern for pattern in dict.fromkeys(incorrect) if fold_text(pattern) and hits[pattern].asserted
    )
    states = _apply_repetition(judgments, hits)
    matched = tuple(keyword for keyword in wanted_keywords if states[keyword] in ("stated", "hedged"))
    unknown = tuple(keyword for keyword in wanted_keywords if states[keyword] == "unknown")
    missing = tuple(keyword for keyword in wanted_keywords if states[keyword] in ("denied", "missing"))
    if not wanted_keywords or (unknown and not (match == "all" and missing and incorrect_matched)):
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
    hedged = hedged or "hedged" in states.values()
    negated = any(hits[keyword].negated or states[keyword] == "denied" for keyword in missing)
    return KeywordScore(score, matched, missing, incorrect_matched, hedged, negated, unknown)


_score_keywords_once = lru_cache(maxsize=4096)(_score_keywords)
_score_keywords_of_long = lru_cache(maxsize=2)(_score_keywords)
"""Several metrics, the checks and the attribution ask the same of an answer."""


def _apply_repetition(
    judgments: Sequence[FactJudgment], hits: Mapping[str, _PhraseHits]
) -> dict[str, FactState | Literal["hedged"]]:
    """Return what the answer does with each keyword; one that it repeats word for word is at worst hedged."""
    states: dict[str, FactState | Literal["hedged"]] = {}
    for judgment in judgments:
        is_repeated = bool(hits[judgment.fact].asserted)
        states[judgment.fact] = "hedged" if is_repeated and judgment.state == "unknown" else judgment.state
    return states


def is_exact_match(answer: str, reference: str) -> bool:
    """Return whether the answer equals the reference, ignoring Unicode form, markup, case, spacing and outer marks.

    Citation markers of the answer do not count. Diacritics are significant. An empty reference matches nothing.

    >>> is_exact_match(" **Có, 12 ngày.** ", "có, 12 ngày")
    True
    """
    normal_reference = _normalise(reference)
    return bool(normal_reference) and normal_reference in (
        _normalise(answer),
        _normalise(remove_citation_markers(answer)),
    )


_ENDS_STATEMENT = (".", ";", "!", "?", ":")


def is_part_of_reference(answer: str, reference: str) -> bool:
    """Return whether the answer is the reference or whole statements of it, ignoring what `is_exact_match` does.

    >>> reference = "Cats cost €4: they need a box. Dogs are free."
    >>> [is_part_of_reference(text, reference) for text in ("Dogs are free", "cats cost **€4**", "are free.")]
    [True, True, False]
    """
    part, whole = _normalise(remove_citation_markers(answer)), _normalise(reference)
    start = whole.find(part) if part else -1
    while start >= 0:
        before, after = whole[:start].rstrip(), whole[start + len(part) :].lstrip()
        begins = not before or before.endswith(_ENDS_STATEMENT)
        if begins and (not after or after.startswith(_ENDS_STATEMENT) or part.endswith(_ENDS_STATEMENT)):
            return True
        start = whole.find(part, start + 1)
    return False


def partition_facts(answer: str, facts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the facts that the answer states, and those that it denies or lacks (see `judge_facts`).

    Facts that are unknown are in neither list.

    >>> partition_facts("Tối đa năm ngày, quản lý duyệt.", ["5 ngày", "Quản lý", "HR"])
    (['5 ngày', 'Quản lý'], ['HR'])
    """
    judgments = judge_facts(answer, facts)
    return (
        [judgment.fact for judgment in judgments if judgment.state == "stated"],
        [judgment.fact for judgment in judgments if judgment.state in ("denied", "missing")],
    )


def lacks_quantities(answer: str, fact: str) -> bool:
    """Return whether a fact has a number or date that the answer does not state or negates.

    >>> [lacks_quantities("Staff get fourteen days, paid.", fact) for fact in ("12 days", "14 days", "paid")]
    [True, False, False]
    """
    return any(judgment.state in ("denied", "missing") for judgment in judge_quantities(answer, fact))


# ── finding a phrase and checking its context ────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=4096)
def _phrase_elements(phrase: str) -> TextElements:
    """Return the elements of a phrase; cached, because phrases of the golden set are compared with many answers."""
    return parse_elements(remove_markup(phrase))


class _PhraseHits(Struct, frozen=True):
    asserted: list[tuple[int, int]]  # ranges of the answer's items
    negated: bool


def _find_phrase(phrase: str, answer: TextElements) -> _PhraseHits:
    phrase_elements = _phrase_elements(phrase)
    if not phrase_elements.items:  # only symbols: search for them literally
        symbols = fold_text(phrase)
        return _PhraseHits([(0, 0)] if symbols and symbols in fold_text(answer.folded) else [], False)
    spans = find_occurrences(phrase_elements, answer)[:_MOST_OCCURRENCES]
    asserted = [(i, j) for i, j in spans if not _is_negated(answer, i, j)]
    return _PhraseHits(asserted, len(asserted) < len(spans))


_MOST_OCCURRENCES = 100  # occurrences of a phrase that are examined
_CONTEXT = 60  # characters that are examined on either side
_NOT_BEFORE = build_pattern(rf"(?:\b{NOT_BEFORE_PHRASE}|n't)(?: {BEFORE_DENIED_PHRASE}){{0,2}}[ \"'(*$]*$")
_DENIED = (
    r"(?:not (?:correct|right|true|the)|wrong|incorrect|false|outdated|no longer|sai|khong dung|khong con|khong phai)\b"
)
_STATED_WRONG = build_pattern(rf"[\"')*]{{0,3}} (?:is|are|was|were|là) {CALLED_UNTRUE}\b")
_NUMBER_WRONG = build_pattern(rf"[\"')*]{{0,3}} {CALLED_UNTRUE}\b")
_MAYBE_BEFORE = build_pattern(rf"\b{MAYBE}(?: \w{{1,20}}){{0,2}}[ \"'(*$]*$")
_SENTENCE_END = compile_pattern(r"[.!?;] ")


def _text_before(answer: TextElements, start: int, reach: int = _CONTEXT) -> str:
    """Return at most `reach` characters before a position, from the start of its sentence."""
    head = answer.folded[max(0, start - reach) : start]
    return _SENTENCE_END.split(head)[-1]


def _is_negated(answer: TextElements, first: int, last: int) -> bool:
    """Whether the answer denies the items from `first` to `last`.

    An adjective alone denies a number ("12 ngày sai") but not a thing ("token sai" is a wrong token).
    """
    if _NOT_BEFORE.search(_text_before(answer, answer.items[first].start)):
        return True
    end = answer.items[last - 1].end
    after = answer.folded[end : end + _CONTEXT]
    numeric = any(isinstance(item, Number) for item in answer.items[first:last])
    return bool(_STATED_WRONG.match(after) or (numeric and _NUMBER_WRONG.match(after)))


_OR = ("or", "hoac", "hay")
_LONG_CONTEXT = 160  # characters on either side in which words for past and present are searched
_CLAUSE_END = build_pattern(rf"[.!?;,…](?=\s|$)|\b(?:{AND}|{SET_AGAINST})\b").compiled
_LIST_SEPARATOR = compile_pattern(r"[\s,;/|$€£]*")


def _is_hedged(answer: TextElements, span: tuple[int, int], correct_numbers: Sequence[Number]) -> bool:
    """Whether the statement at `span` is uncertain: with "maybe", about the past, or next to another number."""
    first, last = span
    if first == last:
        return False
    if _MAYBE_BEFORE.search(_text_before(answer, answer.items[first].start)) or _is_past(answer, span):
        return True
    numbers = [item for item in answer.items[first:last] if isinstance(item, Number)]
    return bool(numbers) and _has_rival(answer, span, (*numbers, *correct_numbers))


def _is_past(answer: TextElements, span: tuple[int, int]) -> bool:
    """Whether the statement at `span` is about the past and followed by a word for the present."""
    before = _text_before(answer, answer.items[span[0]].start, _LONG_CONTEXT)
    after = answer.folded[answer.items[span[1] - 1].end :][:_LONG_CONTEXT]
    past_match = PAST_BEFORE.search(before) or PAST_AFTER.match(after)
    return bool(past_match and PRESENT.search(after))


def _is_present(answer: TextElements, span: tuple[int, int]) -> bool:
    """Whether the clause of the statement at `span` contains a word for the present."""
    first, last = span
    if first == last:
        return False
    start, end = answer.items[first].start, answer.items[last - 1].end
    before = _CLAUSE_END.split(answer.folded[max(0, start - _LONG_CONTEXT) : start])[-1]
    after = _CLAUSE_END.split(answer.folded[end : end + _LONG_CONTEXT])[0]
    return bool(PRESENT.search(before) or PRESENT.search(after))


def _has_rival(answer: TextElements, span: tuple[int, int], correct_numbers: Sequence[Number]) -> bool:
    """Whether a number that is not correct is joined to `span` by "or", or follows or precedes it in a bare list."""
    first, last = span
    items_before, items_after = answer.items[max(0, first - 4) : first], answer.items[last : last + 4]
    neighbours = (*items_before, *items_after)
    if any(isinstance(item, WordElement) and item.folded in _OR for item in neighbours):
        rivals = [item for item in neighbours if isinstance(item, Number)]
    else:
        start, end = answer.items[first].start, answer.items[last - 1].end
        gaps = [(item, answer.folded[item.end : start]) for item in items_before[-1:]]
        gaps += [(item, answer.folded[end : item.start]) for item in items_after[:1]]
        units = {number.unit for number in correct_numbers}
        rivals = []
        for item, gap in gaps:
            if _LIST_SEPARATOR.fullmatch(gap) and isinstance(item, Number) and item.unit in units:
                rivals.append(item)
    for rival in rivals:
        if not any(is_same_number(number, rival, unit_required=False) for number in correct_numbers):
            return True
    return False


_OUTER_PUNCTUATION = " \t\n.,;:!?…\"'“”‘’()[]{}«»`*_"


def _normalise(text: str) -> str:
    return " ".join(normalise_nfc(remove_markup(text).casefold()).split()).strip(_OUTER_PUNCTUATION)
