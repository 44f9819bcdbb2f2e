"""Turns statements into questions by fixed rules, in English and Vietnamese: table cells, definitions, quantities.

A rule that does not fit gives no question. The questions are clear and literal, not the way people ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.text.languages import KnownLanguage
from assay.text.quantities import Quantity, find_measures, split_glued_units
from assay.text.statements import Statement, strip_markup

MAX_WORDS = 28
FEWEST_WORDS = 5
_GENERIC_HEADERS = frozenset(
    {"property", "value", "field", "item", "name", "detail", "thuộc tính", "giá trị", "mục", "nội dung", "thông số"}
)
_EMPTY_CELLS = frozenset({"", "-", "–", "—", "n/a", "none", "không", "có", "yes", "no"})
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[A-Z][.)])\s+")
_DEFINITION = re.compile(r"(?P<term>[^:.!?]{2,60}?)\s*(?::|\s[–—-])\s+(?P<meaning>\S.{9,})", re.DOTALL)
_CODE = re.compile(r"(?:[A-Z][A-Z0-9]+-\d+|[A-Z]{2,}\d*|P\d)")
_AUXILIARY = re.compile(r"\b(is|are|was|were|may|can|must|should|will|has to|have to)\b")
_MAIN_VERB = re.compile(
    r"\b(?P<verb>have|has|get|gets|need|needs|take|takes|cost|costs|earn|earns|receive|receives|weigh|weighs|"
    r"contain|contains|use|uses|require|requires|hold|holds|last|lasts|allow|allows)\b"
)
_LEADING_PREPOSITION = re.compile(r"(?:^|\s)(for|after|in|at|before|every|from|by|to)\s*$")
_BOUND = re.compile(r"^(?P<bound>within|up to|at most|at least|about|approximately|more than|less than|over|under)\s+")
_ASKED_BOUNDS = frozenset({"within", "at most", "at least", "up to"})
_NEGATION = re.compile(r"\b(?:not|never|no|nobody|none|cannot|without)\b|n't\b", re.IGNORECASE)
_REFERENCE = re.compile(
    r"\b(?:mục|điều|khoản|bước|chương|phần|trang|section|step|chapter|clause|article|page)\s*$", re.IGNORECASE
)
_NUMBER_START = re.compile(r"(?:\d[\d.,\s]*\d|\d)\s*")
_CONNECTIVE = re.compile(
    r"^(?:ví dụ|tuy nhiên|ngoài ra|do đó|vì vậy|for example|however|also|then|so)\b[,:]?\s*", re.IGNORECASE
)
_SUBJECT_START = re.compile(r"(?:after|before|if|when|under|in|on|for|from|within|by|at|with|there)\b", re.IGNORECASE)
_BASE_VERBS = {"has": "have"}


class DraftedQuestion(NamedTuple):
    """A question with its answer in the words of the document, and what the answer must say."""

    question: str
    reference: str
    must_have: tuple[str, ...]
    is_code: bool = False
    is_table: bool = False


def clean_heading(heading: str) -> str:
    """Return a heading without its number and markup.

    >>> clean_heading("2. Phép năm và **PTO**")
    'Phép năm và PTO'
    """
    return _NUMBERING.sub("", strip_markup(heading)).strip(" :")


def ask_about_row(row: Statement, subject: str, language: KnownLanguage) -> Iterator[DraftedQuestion]:
    """Yield a question for each cell of a table row after its first; `subject` is the heading over the table.

    >>> row = Statement("row", "| Basic | 9 USD |", 0, 0, header=("Plan", "Price"), cells=("Basic", "9 USD"))
    >>> next(ask_about_row(row, "Plans", "en")).question
    'Under “Plans”, what is the price for “Basic”?'
    """
    if len(row.header) < 2 or len(row.cells) != len(row.header) or not row.cells[0]:
        return
    is_property_list = all(header.casefold() in _GENERIC_HEADERS for header in row.header) and len(row.header) == 2
    for header, cell in list(zip(row.header, row.cells, strict=True))[1:]:
        if cell.casefold().strip(" .") in _EMPTY_CELLS or not header:
            continue
        if is_property_list:
            question = _ask_property(row.cells[0], subject, language)
            reference = f"{row.cells[0]}: {cell}"
        else:
            question = _ask_cell(header, row.cells[0], subject, language)
            reference = f"{row.cells[0]} – {header}: {cell}"
        yield DraftedQuestion(question, reference, (cell,), _CODE.fullmatch(row.cells[0]) is not None, True)


def _ask_property(attribute: str, subject: str, language: KnownLanguage) -> str:
    subject = subject.partition(":")[0]
    if language == "vi":
        return f"{_capitalise(attribute)} của {subject} là bao nhiêu?"
    return f"What is the {_lower_first(attribute)} of the {subject}?"


def _ask_cell(header: str, entity: str, subject: str, language: KnownLanguage) -> str:
    if language == "vi":
        return f"Theo mục “{subject}”, {_lower_first(header)} đối với “{entity}” là gì?"
    return f"Under “{subject}”, what is the {_lower_first(header)} for “{entity}”?"


def ask_definition(statement: Statement, subject: str, language: KnownLanguage) -> DraftedQuestion | None:
    """Return a question about an item of the form "term: meaning", None if it is not one.

    >>> item = Statement("item", "PTO: paid time off for private matters", 0, 0)
    >>> ask_definition(item, "Terms", "en").question
    'Under “Terms”, what is said about “PTO”?'
    """
    match = _DEFINITION.fullmatch(statement.text)
    if match is None or statement.kind != "item" or len(match["meaning"].split()) < 3:
        return None
    term = match["term"].strip()
    if language == "vi":
        question = f"Theo mục “{subject}”, “{term}” được quy định thế nào?"
    else:
        question = f"Under “{subject}”, what is said about “{term}”?"
    return DraftedQuestion(question, statement.text, (), _CODE.fullmatch(term) is not None)


def ask_quantity(statement: Statement, language: KnownLanguage) -> DraftedQuestion | None:
    """Return a question that asks for the one quantity of a sentence, None if the sentence fits no rule.

    >>> ask_quantity(Statement("text", "Quotes are valid for thirty days.", 0, 0), "en").question
    'For how many days are quotes valid?'
    >>> ask_quantity(Statement("text", "Nhân viên được chuyển tối đa 5 ngày phép.", 0, 0), "vi").question
    'Nhân viên được chuyển tối đa bao nhiêu ngày phép?'
    """
    text = split_glued_units(_CONNECTIVE.sub("", statement.text)).strip()
    measures = [measure for measure in find_measures(text) if not measure.date]
    if len(measures) != 1 or measures[0].is_range or measures[0].is_spelled_one:
        return None
    if not FEWEST_WORDS <= len(text.split()) <= MAX_WORDS or re.search(r"[;:?()“”\"]", text):
        return None
    measure = measures[0]
    words = text[measure.start : measure.end]
    sentence = text.rstrip(" .!")
    if measure.end > len(sentence) or len(re.findall(r"\d[\d.,]*", text)) > 1:
        return None
    if _REFERENCE.search(text[: measure.start]) or re.match(r"(?:one|a|an|một)\b", words):
        return None
    question = _ask_in_vietnamese(sentence, measure) if language == "vi" else _ask_in_english(sentence, measure)
    return DraftedQuestion(question, statement.text, (_BOUND.sub("", words),)) if question else None


def _ask_in_vietnamese(sentence: str, measure: Quantity) -> str | None:
    words = sentence[measure.start : measure.end]
    asked = "bao nhiêu phần trăm" if words.endswith("%") else _NUMBER_START.sub("bao nhiêu ", words, count=1)
    if asked == words:
        return None
    return _capitalise(sentence[: measure.start] + asked.strip() + sentence[measure.end :]) + "?"


def _ask_in_english(sentence: str, measure: Quantity) -> str | None:
    words = sentence[measure.start : measure.end]
    bound, unit = _BOUND.match(words), _name_unit(_BOUND.sub("", words))
    if unit is None or "," in sentence or _NEGATION.search(sentence):
        return None
    if bound is not None and bound["bound"] in _ASKED_BOUNDS:
        unit = f"{bound['bound']} {unit}"
    elif bound is not None and bound["bound"] not in ("about", "approximately"):
        return None
    before, after = sentence[: measure.start], sentence[measure.end :].strip()
    preposition = _LEADING_PREPOSITION.search(before)
    front = f"{preposition[1]} {unit}" if preposition else unit
    rest = before[: preposition.start()] if preposition else before
    auxiliary = _AUXILIARY.search(rest)
    if auxiliary is not None:
        subject, predicate = rest[: auxiliary.start()].strip(), rest[auxiliary.end() :].strip()
        if not _is_subject(subject) or (not preposition and predicate and not _ends_in_verb(predicate)):
            return None
        parts = [front, auxiliary[0], _lower_first(subject), predicate, after]
        return _capitalise(" ".join(filter(None, parts))) + "?"
    verb = _MAIN_VERB.search(rest)
    if (
        verb is None
        or not _is_subject(rest[: verb.start()].strip())
        or (rest[verb.end() :].strip() and not preposition)
    ):
        return None
    subject = rest[: verb.start()].strip()
    does = "does" if verb["verb"].endswith("s") else "do"
    base = _BASE_VERBS.get(verb["verb"], verb["verb"].removesuffix("s") if does == "does" else verb["verb"])
    noun, _, tail = after.partition(" ") if after.startswith("of ") else ("", "", after)
    if noun:
        thing, _, tail = tail.partition(" ")
        front = f"{front} of {thing}"
    parts = [front, does, _lower_first(subject), base, rest[verb.end() :].strip(), tail]
    return _capitalise(" ".join(filter(None, parts))) + "?"


def _name_unit(words: str) -> str | None:
    """Return the words that ask for a quantity: "how many days", "what percentage"; None without a unit."""
    if words.endswith("%"):
        return "what percentage"
    match = re.search(r"([^\W\d_][^\d]*)$", words.split(maxsplit=1)[-1] if " " in words else "")
    return f"how many {match[1].strip()}" if match else None


def _is_subject(words: str) -> bool:
    count = len(words.split())
    if _SUBJECT_START.match(words) is not None:
        return False
    return 1 <= count <= 8 and not re.search(r"\b(if|when|that|which|who|and|or|but|because|than)\b", words)


def _ends_in_verb(words: str) -> bool:
    """Return whether words end in a participle or an infinitive, so that a quantity after them is their object."""
    return re.search(r"\b(?:\w+ed|have|get|take|use|need|be|cost|last|keep|hold|earn)$", words) is not None


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower_first(text: str) -> str:
    """Return a text with its first letter in lower case, unless its first word is a name, an acronym or "I"."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    return text if first[1:] != first[1:].lower() or first == "I" else text[:1].lower() + text[1:]
