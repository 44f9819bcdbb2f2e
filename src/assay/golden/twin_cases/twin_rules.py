"""Rewrites a question so that a system should treat it as before: spelling, case, typos, filler, order, acronyms.

Codes, numbers, names and quoted words are never touched, except where a rule is about them. The same seed gives the
same rewriting. A rule that does not fit gives nothing; paraphrases and translations are for a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from assay.records.digest import compute_text_digest
from assay.records.golden_set import AlikeKind
from assay.text.languages import KnownLanguage, has_diacritics
from assay.text.question_entities import find_question_entities
from assay.text.tokens import is_stop_word

FEWEST_TYPO_LETTERS: Mapping[KnownLanguage, int] = {"en": 5, "vi": 4}
MOST_TYPOS = 2
T = TypeVar("T")
_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"“[^“”]*”|\"[^\"]*\"|‘[^‘’]*’|`[^`]*`")
_TOKEN = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+(?=\S)")
_LEADING_PHRASE = re.compile(
    r"\A(?P<phrase>(?:Under|In|According to|On|For|At|During|After|Before|Since|Theo|Trong|Tại|Ở|Với|Khi|Sau|Trước|Từ)"
    r"\s[^,?.!]{2,80}),\s{1,8}(?P<rest>[^\s?.!][^?.!]*)\?"
)
_LONG_FORM = re.compile(
    r"(?<![^\W\d_])(?P<words>(?:[^\W\d_]{1,40}[ -]){1,7}[^\W\d_]{1,40})\s{0,4}\((?P<acronym>[A-ZĐ]{2,8})\)"
)
_SHORT_FORM = re.compile(
    r"(?<!\w)(?P<acronym>[A-ZĐ]{2,8})\s*(?:\((?P<inner>[^()]{4,80})\)|:\s*(?P<outer>[^.:;()\n|]{4,80}))"
)
_POINTING_BACK = re.compile(
    r"\b(?:it|its|this|that|these|those|they|them|their|then|so|he|she|nó|này|đó|vậy|thế|họ)\b", re.IGNORECASE
)
_SMALL_WORDS = frozenset(("of", "the", "and", "for", "to", "in", "on", "và", "của"))
_FILLERS: Mapping[KnownLanguage, tuple[tuple[str, str], ...]] = {
    "en": (
        ("Hi, I have a quick question: ", ""),
        ("", " Thanks a lot in advance!"),
        ("Hello! Could you help me with this, please? ", ""),
        ("Sorry to bother you. ", " Thank you!"),
    ),
    "vi": (
        ("Chào bạn, cho mình hỏi một chút: ", ""),
        ("", " Cảm ơn bạn nhiều!"),
        ("Xin chào, nhờ bạn giúp mình với ạ. ", ""),
        ("Xin lỗi đã làm phiền. ", " Xin cảm ơn!"),
    ),
}


class Rewriting(NamedTuple):
    """A question in other words, and the rule that made it."""

    question: str
    rule: str


class QuestionToVary(NamedTuple):
    """A question with what the rules need: its language, a seed, the words that exist and the acronyms' long forms."""

    question: str
    language: KnownLanguage
    seed: str
    vocabulary: Collection[str] = ()
    long_forms: Mapping[str, str] = {}


def strip_diacritics(text: str) -> str:
    """Return a text without diacritics, its letters in the case that they had.

    >>> strip_diacritics("Được nghỉ mấy ngày?")
    'Duoc nghi may ngay?'
    """
    plain = "".join(mark for mark in unicodedata.normalize("NFD", text) if unicodedata.category(mark) != "Mn")
    return unicodedata.normalize("NFC", plain).replace("đ", "d").replace("Đ", "D")


def write_in_lower_case(asked: QuestionToVary) -> Rewriting:
    """Return a question in lower case; codes, and whatever else has a digit, stay as they are.

    >>> write_in_lower_case(QuestionToVary("What does the VPN log under ERR-404?", "en", "1")).question
    'what does the vpn log under ERR-404?'
    """
    lowered = _TOKEN.sub(_lower_word, asked.question)
    return Rewriting(lowered, "lower case")


def _lower_word(match: re.Match[str]) -> str:
    return match[0] if any(letter.isdigit() for letter in match[0]) else match[0].lower()


def _remove_diacritics(asked: QuestionToVary) -> Rewriting:
    return Rewriting(strip_diacritics(asked.question), "no diacritics")


def make_typos(asked: QuestionToVary) -> Rewriting:
    """Return a question with one or two slips of the keyboard in long common words.

    A word with a digit, a name, an acronym, a quoted word and a word beside a number stay as they are, the first letter
    of a word too, and no slip makes a word that exists.

    >>> make_typos(QuestionToVary("How many vacation days are there in 2025?", "en", "1")).question
    'How many vcaation days are there in 2025?'
    """
    seed = f"typos {asked.seed} {asked.question}"
    spans = _shuffle(list(_find_common_words(asked.question, FEWEST_TYPO_LETTERS[asked.language])), seed)
    slips: dict[tuple[int, int], str] = {}
    for start, end in spans:
        if len(slips) == min(MOST_TYPOS, 1 + len(spans) // 6):
            break
        slip = _slip(asked.question[start:end], f"{seed} {start}", asked.vocabulary)
        if slip is not None:
            slips[start, end] = slip
    text = asked.question
    for (start, end), slip in sorted(slips.items(), reverse=True):
        text = text[:start] + slip + text[end:]
    return Rewriting(text, "slips of the keyboard")


def _find_common_words(question: str, fewest_letters: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words that may have a slip."""
    kept = [match.span() for match in _QUOTED.finditer(question)]
    for entity in find_question_entities(question):
        kept += [match.span() for match in re.finditer(re.escape(entity), question)]
    tokens = [match.span() for match in _TOKEN.finditer(question)]
    has_digit = [any(letter.isdigit() for letter in question[start:end]) for start, end in tokens]
    for number, (start, end) in enumerate(tokens):
        is_beside_number = any(has_digit[max(0, number - 1) : number + 2])
        words = list(_WORD.finditer(question, start, end))
        if is_beside_number or len(words) != 1:
            continue
        word = words[0]
        is_kept = any(word.start() < last and first < word.end() for first, last in kept)
        lowered_part = word[0] if number else word[0][1:]  # a capital within the question may begin a name
        is_common = lowered_part == lowered_part.lower() and len(word[0]) >= fewest_letters
        if is_common and not is_kept:
            yield word.span()


def _slip(word: str, seed: str, vocabulary: Collection[str]) -> str | None:
    """Return a word with two letters swapped, one left out or one doubled; None if each of these is another word."""
    for position in _shuffle(range(1, len(word) - 1), seed):
        swapped = word[:position] + word[position + 1] + word[position] + word[position + 2 :]
        dropped = word[:position] + word[position + 1 :]
        doubled = word[:position] + word[position] + word[position:]
        for slip in _shuffle((swapped, dropped, doubled), f"{seed} {position}"):
            if slip != word and slip.casefold() not in vocabulary and not is_stop_word(slip.casefold()):
                return slip
    return None


def _shuffle(items: Sequence[T], seed: str) -> list[T]:
    """Return items in an order that the seed decides, the same on every machine."""
    keys = [compute_text_digest(f"{seed} {number}") for number in range(len(items))]
    return [items[number] for number in sorted(range(len(items)), key=keys.__getitem__)]


def _add_filler(asked: QuestionToVary) -> Rewriting:
    before, after = _shuffle(_FILLERS[asked.language], f"filler {asked.seed} {asked.question}")[0]
    if not has_diacritics(asked.question):  # who leaves them out leaves them out everywhere
        before, after = strip_diacritics(before), strip_diacritics(after)
    return Rewriting(before + asked.question + after, "polite words")


def change_order(asked: QuestionToVary) -> Rewriting | None:
    """Return a question with its sentences, or its leading phrase and the rest, in the other order; None if it has
    neither.

    >>> change_order(QuestionToVary("In 2025, how many days are there?", "en", "1")).question
    'How many days are there in 2025?'
    >>> change_order(QuestionToVary("I joined in May. How many days do I get?", "en", "1")).question
    'How many days do I get? I joined in May.'
    """
    sentences = _SENTENCE_END.split(asked.question.strip())
    if len(sentences) == 2 and sentences[1].endswith("?") and not sentences[0].endswith("?"):
        if _POINTING_BACK.search(sentences[1]):
            return None
        return Rewriting(" ".join(reversed(sentences)), "sentences in the other order")
    match = _LEADING_PHRASE.fullmatch(asked.question.strip())
    if match is None or "," in match["rest"]:
        return None
    phrase, rest = match["phrase"], match["rest"].strip()
    return Rewriting(f"{rest[:1].upper()}{rest[1:]} {phrase[:1].lower()}{phrase[1:]}?", "leading phrase at the end")


def find_long_forms(texts: Iterable[str]) -> dict[str, str]:
    """Return the long forms of acronyms that texts write out: "paid time off (PTO)", "PTO: paid time off".

    The initials must fit. An acronym with two long forms has none.

    >>> find_long_forms(["Staff get paid time off (PTO) and sick leave."])
    {'PTO': 'paid time off'}
    """
    forms: dict[str, set[str]] = {}
    spelled: dict[str, str] = {}
    for text in texts:
        for acronym, words in _iter_long_forms(text):
            forms.setdefault(acronym, set()).add(words.casefold())
            spelled.setdefault(acronym, words)
    return {acronym: words for acronym, words in spelled.items() if len(forms[acronym]) == 1}


def _iter_long_forms(text: str) -> Iterator[tuple[str, str]]:
    for match in _LONG_FORM.finditer(text):
        words = match["words"].split()
        for size in range(2, len(words) + 1):
            if _get_initials(words[-size:]) == match["acronym"] and words[-size].casefold() not in _SMALL_WORDS:
                yield match["acronym"], " ".join(words[-size:])
                break
    for match in _SHORT_FORM.finditer(text):
        words = (match["inner"] or match["outer"]).strip(" *_`").split()
        for size in range(2, len(words) + 1):
            if _get_initials(words[:size]) == match["acronym"] and (size == len(words) or match["outer"]):
                yield match["acronym"], " ".join(words[:size]).rstrip(",")
                break


def _get_initials(words: Iterable[str]) -> str:
    initials = ""
    for word in words:
        for part in word.split("-"):
            if part and part.casefold() not in _SMALL_WORDS:
                initials += part[0].upper()
    return initials


def _expand_acronym(asked: QuestionToVary) -> Rewriting | None:
    """Return a question with one acronym written out, or one long form as its acronym; None if it has neither."""
    for acronym, words in asked.long_forms.items():
        pattern = re.compile(rf"(?<![\w-]){re.escape(acronym)}(?![\w-])")
        if pattern.search(asked.question) and words.casefold() not in asked.question.casefold():
            return Rewriting(pattern.sub(words, asked.question), f"{acronym} written out")
        written = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE)
        if written.search(asked.question) and not pattern.search(asked.question):
            return Rewriting(written.sub(acronym, asked.question), f"{words} as {acronym}")
    return None


ALIKE_RULES: Mapping[AlikeKind, Callable[[QuestionToVary], Rewriting | None]] = {
    "no-diacritic": _remove_diacritics,
    "typos": make_typos,
    "case": write_in_lower_case,
    "acronym": _expand_acronym,
    "polite-filler": _add_filler,
    "question-order": change_order,
}
"""The rule of each kind that rules can do."""
