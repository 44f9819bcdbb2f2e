"""Find phrases in an answer by their words and by the values of their numbers and dates.

Deterministic scoring of an answer's text: keywords, exact and numeric answers, and required facts.

Words are compared case-insensitively, and with their diacritics only if both sides are written with them. Numbers and
dates are compared by value at token boundaries: "1.4" is not in "21.4", "1.400.000" equals "1.4M", and "mười hai ngày"
equals "12 ngày". Only the first 200,000 characters of an answer are read.

Similarity of an answer to a reference, by the rare words that they share beyond the question.

A reference for lexical search: the rank of a text by the words that it shares with a question.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Sequence, Set
from decimal import Decimal
from functools import lru_cache
from math import log
from typing import Literal, NamedTuple

from assay.text.normalisation import fold_in_place, fold_text, normalise_nfc
from assay.text.numbers import CURRENCY_UNITS, Date, Number, find_quantities
from assay.text.tokens import (
    DocumentFrequencies,
    ParsedTerms,
    Term,
    find_token_spans,
    iterate_index_keys,
    make_lookup_keys,
    parse_terms,
    spell_terms,
    tokenise_text,
)


class WordElement(NamedTuple):
    """A word or identifier: its folded form, the diacritics that folding removed, and its span in the NFC text."""

    folded: str
    diacritics: str
    start: int
    end: int


TextElement = WordElement | Number | Date


class TextElements(NamedTuple):
    """A text as words, numbers and dates. `folded`: the text folded in place. `lacks_diacritics`: no word has
    diacritics.
    """

    items: list[TextElement]
    folded: str
    lacks_diacritics: bool


_ONE_WORDS = ("one", "mot")


def parse_elements(text: str) -> TextElements:
    """Return the words, numbers and dates of a text in order.

    >>> [item[0] for item in parse_elements("Nghỉ mười hai ngày").items]
    ['nghi', (Decimal('12'),)]
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
    if not set(expected.readings) & set(candidate.readings):
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
    ranges = []
    for start in range(len(answer_items) - len(phrase_items) + 1):
        candidates = answer_items[start : start + len(phrase_items)]
        pairs = zip(phrase_items, candidates, strict=True)
        if all(_is_same_element(expected, candidate, ignore_marks) for expected, candidate in pairs):
            ranges.append((start, start + len(phrase_items)))
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


_LONGEST = 200_000  # characters of an answer that are read


class KeywordScore(NamedTuple):
    """A keyword score and the matches behind it.

    `hedged`: a correct keyword is uncertain. It follows "maybe", is joined to another number by "or", is part of a bare
    list of numbers, follows "previously" or precedes "before" with a later "now", or its clause lacks a "now" that the
    clause of an incorrect pattern has. `negated`: a correct keyword occurs only negated and so counts as missing.
    Answers with either flag should be reviewed by a person or a judge.
    """

    score: float | None
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    incorrect_matched: tuple[str, ...]
    hedged: bool
    negated: bool


def score_keywords(
    answer: str, correct: Sequence[str], incorrect: Sequence[str] = (), match: Literal["any", "all"] = "any"
) -> KeywordScore:
    """Return the share of the correct keywords that the answer contains, and the matches behind it.

    A keyword counts only where it is not negated. With `match="all"`, an incorrect pattern makes the score 0 if any
    correct keyword is missing; otherwise incorrect patterns are reported but do not lower the score. Range [0, 1]; None
    without correct keywords (empty ones are ignored). Hedging is flagged and does not change the score. The keyword
    rubric of ADR 0038, with token boundaries, comparison by value and negation added.

    >>> score_keywords("It rose from $1.2M to $1.4M.", ["$1.4M"], ["$1.2M"]).score
    1.0
    >>> score_keywords("Not $1.4M but $1.2M.", ["$1.4M"], ["$1.2M"])[:4]
    (0.0, (), ('$1.4M',), ('$1.2M',))
    """
    answer_elements = parse_elements(answer[:_LONGEST])
    hits = {keyword: _find_phrase(keyword, answer_elements) for keyword in dict.fromkeys((*correct, *incorrect))}
    wanted_keywords = [keyword for keyword in dict.fromkeys(correct) if fold_text(keyword)]
    matched = tuple(keyword for keyword in wanted_keywords if hits[keyword].asserted)
    missing = tuple(keyword for keyword in wanted_keywords if not hits[keyword].asserted)
    incorrect_matched = tuple(
        pattern for pattern in dict.fromkeys(incorrect) if fold_text(pattern) and hits[pattern].asserted
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
    return KeywordScore(score, matched, missing, incorrect_matched, hedged, negated)


def is_exact_match(answer: str, reference: str) -> bool:
    """Return whether the answer equals the reference, ignoring Unicode form, case, spacing and outer punctuation.

    Diacritics are significant. An empty reference matches nothing.

    >>> is_exact_match(" **Có, 12 ngày.** ", "có, 12 ngày")
    True
    """
    normal_reference = _normalise(reference)
    return bool(normal_reference) and _normalise(answer) == normal_reference


def has_all_quantities(answer: str, reference: str, tolerance: float = 0.0) -> bool | None:
    """Return whether the answer states every number and date of the reference, compared by value and not negated.

    `tolerance` is absolute and in plain numbers: for "$1.4M", 0.5M is 500000. Units must agree if both sides state one.
    A spelled-out "one" in the reference is not required. None if the reference has no number or date.

    >>> has_all_quantities("Khoảng 1.400.000 đồng", "1,4 triệu đồng"), has_all_quantities("12 tháng", "12 ngày")
    (True, False)
    """
    answer_elements = parse_elements(answer[:_LONGEST])
    margin = Decimal(repr(float(tolerance)))
    required: list[Number | Date] = []
    for quantity in find_quantities(reference):
        is_spelled_one = isinstance(quantity, Number) and quantity.is_spelled_out and 1 in quantity.readings
        if not is_spelled_one:
            required.append(quantity)
    if not required:
        return None
    return all(_has_quantity(answer_elements, quantity, margin) for quantity in required)


def partition_facts(answer: str, must_have: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the facts that the answer states without negation, and those that are missing; matched like keywords.

    >>> partition_facts("Tối đa năm ngày, quản lý duyệt.", ["5 ngày", "Quản lý", "HR"])
    (['5 ngày', 'Quản lý'], ['HR'])
    """
    answer_elements = parse_elements(answer[:_LONGEST])
    facts = [fact for fact in must_have if fold_text(fact)]
    present = {fact for fact in facts if _find_phrase(fact, answer_elements).asserted}
    return [fact for fact in facts if fact in present], [fact for fact in facts if fact not in present]


def find_facts_with_missing_quantities(answer: str, must_have: Sequence[str]) -> list[str]:
    """Return the facts with a number or date that the answer does not state or negates.

    The answer cannot contain these facts in any wording. Facts without a number or date are never returned.

    >>> find_facts_with_missing_quantities("Staff get fourteen days, paid.", ["12 days", "14 days", "paid"])
    ['12 days']
    """
    return [fact for fact in must_have if has_all_quantities(answer, fact) is False]


# ── finding a phrase and checking its context ────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=4096)
def _phrase_elements(phrase: str) -> TextElements:
    """Return the elements of a phrase; cached, because phrases of the golden set are compared with many answers."""
    return parse_elements(phrase)


class _PhraseHits(NamedTuple):
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
    past_match = _PAST_BEFORE.search(before) or _PAST_AFTER.match(after)
    return bool(past_match and _PRESENT_WORD.search(after))


def _is_present(answer: TextElements, span: tuple[int, int]) -> bool:
    """Whether the clause of the statement at `span` contains a word for the present."""
    first, last = span
    if first == last:
        return False
    start, end = answer.items[first].start, answer.items[last - 1].end
    before = _CLAUSE_END.split(answer.folded[max(0, start - _LONG_CONTEXT) : start])[-1]
    after = _CLAUSE_END.split(answer.folded[end : end + _LONG_CONTEXT])[0]
    return bool(_PRESENT_WORD.search(before) or _PRESENT_WORD.search(after))


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


def _has_quantity(answer: TextElements, required: Number | Date, margin: Decimal) -> bool:
    """Whether the answer states a number or date, within `margin` and without negation."""
    for index, item in enumerate(answer.items):
        if _is_same_quantity(required, item, margin) and not _is_negated(answer, index, index + 1):
            return True
    return False


def _is_same_quantity(required: Number | Date, item: TextElement, margin: Decimal) -> bool:
    if isinstance(required, Date) or isinstance(item, Date):
        return isinstance(required, Date) and isinstance(item, Date) and is_same_date(required, item)
    if isinstance(item, WordElement) or (required.unit and item.unit and required.unit != item.unit):
        return False
    return any(abs(value - other) <= margin for value in required.readings for other in item.readings)


_OUTER_PUNCTUATION = " \t\n.,;:!?…\"'“”‘’()[]{}«»`*_"


def _normalise(text: str) -> str:
    return " ".join(normalise_nfc(normalise_nfc(text).casefold()).split()).strip(_OUTER_PUNCTUATION)


_terms_cached = lru_cache(maxsize=8192)(
    parse_terms
)  # references and questions are compared with the answers of many configurations


def compute_answer_similarity(answer: str, reference: str, question: str, idf: DocumentFrequencies) -> float | None:
    """Return the F1 of the words and numbers that answer and reference share, weighted by their rarity.

    Words are compared as stems without stop words, numbers by value and unit; words of the question are ignored on both
    sides. Range [0, 1]; None if the reference adds nothing to the question, 0 if only the answer adds nothing. `idf`:
    over the references of the golden set. Measures overlap, not correctness: a wrong number costs no more than a wrong
    word.

    >>> frequencies = DocumentFrequencies.of([])
    >>> compute_answer_similarity("You get 15 days.", "Staff get twelve days", "How much leave?", frequencies)
    0.4
    """
    answer_terms, reference_terms, question_terms = (
        parse_terms(answer),
        _terms_cached(reference),
        _terms_cached(question),
    )
    marked = answer_terms.has_diacritics and reference_terms.has_diacritics
    question_keys = _index_keys(question_terms.items, question_terms.has_diacritics)
    answer_content = _content_terms(answer_terms, question_keys, marked and question_terms.has_diacritics)
    reference_content = _content_terms(reference_terms, question_keys, marked and question_terms.has_diacritics)
    if not reference_content:
        return None
    shared_in_answer = _total_weight(answer_content, idf, _index_keys(reference_content, marked), marked)
    shared_in_reference = _total_weight(reference_content, idf, _index_keys(answer_content, marked), marked)
    if not shared_in_answer or not shared_in_reference:
        return 0.0
    precision, recall = (
        shared_in_answer / _total_weight(answer_content, idf),
        shared_in_reference / _total_weight(reference_content, idf),
    )
    return min(1.0, 2 * precision * recall / (precision + recall))


def _index_keys(items: Iterable[Term], marked: bool) -> set[str]:
    return {key for term in items for key in iterate_index_keys(term, marked)}


def _content_terms(text_terms: ParsedTerms, question_keys: Set[str], marked: bool) -> list[Term]:
    """Return the terms that are not in the question, without stop words and duplicates."""
    items = [
        term
        for term in text_terms.items
        if term.kind != "stop" and question_keys.isdisjoint(make_lookup_keys(term, marked))
    ]
    return list(dict(zip(spell_terms(items, text_terms.has_diacritics), items, strict=True)).values())


def _total_weight(
    items: Iterable[Term], idf: DocumentFrequencies, index: Set[str] | None = None, marked: bool = False
) -> float:
    """Return the total weight of the terms, or of those in `index` if it is given."""
    return sum(
        [idf.idf_weight(t.key) for t in items if index is None or not index.isdisjoint(make_lookup_keys(t, marked))]
    )


_K1, _B = 1.2, 0.75


def compute_lexical_rank(query: str, relevant_texts: Sequence[str], other_texts: Sequence[str]) -> int | None:
    """Return the BM25 rank (from 1) of the best `relevant_texts` text among the others, or None if none shares a
    query word.

    Tokens are folded words and whole identifiers. Document frequencies come from these texts alone, so a word that all
    of them contain has little weight. Ties do not worsen the rank. Source: Robertson and Zaragoza (2009) with k1 = 1.2,
    b = 0.75 and a non-negative idf.

    >>> compute_lexical_rank("meaning of ERR-429", ["ERR-429: too many requests"], ["an error", "429 days"])
    1
    """
    texts = [Counter(tokenise_text(text)) for text in (*relevant_texts, *other_texts)]
    scores = _bm25_scores(dict.fromkeys(tokenise_text(query)), texts)
    best = max(scores[: len(relevant_texts)], default=0.0)
    return 1 + sum(score > best for score in scores[len(relevant_texts) :]) if best > 0 else None


def _bm25_scores(query_words: dict[str, None], texts: Sequence[Counter[str]]) -> list[float]:
    lengths = [text.total() for text in texts]
    mean = sum(lengths) / len(lengths) if sum(lengths) else 1.0
    weights: dict[str, float] = {}
    for word in query_words:
        document_count = sum(word in text for text in texts)
        weights[word] = log(1 + (len(texts) - document_count + 0.5) / (document_count + 0.5))
    scores = []
    for text, length in zip(texts, lengths, strict=True):
        norm = _K1 * (1 - _B + _B * length / mean)
        shared = [word for word in query_words if word in text]
        scores.append(sum(weights[word] * text[word] * (_K1 + 1) / (text[word] + norm) for word in shared))
    return scores
