"""Asks which row has a value, and puts another name in the place of its own: "Which plan has a price of 9 USD?"."""

from __future__ import annotations

import re

from assay.golden.drafting.corpus_words import is_numbered_name
from assay.golden.drafting.question_forms import capitalise
from assay.golden.drafting.row_names import name_subject
from assay.golden.drafting.table_headers import (
    ASKING_HEADER,
    BUYER,
    CODE_HEADER,
    COUNTED,
    GENERIC_HEADERS,
    NO_KIND,
    VIETNAMESE_NOUN,
    fits_header,
    is_money,
    is_noun_header,
    is_plural_header,
    is_value,
    lower_header,
)
from assay.text.languages import KnownLanguage
from assay.text.statements import Statement


def ask_for_name(kind: str, header: str, value: str, name: str, language: KnownLanguage) -> str | None:
    """Return a question that describes a row by one of its cells and asks for its name; None if it would be unclear.

    `kind` is the header over the names, "" for a list of properties.

    >>> ask_for_name("Plan", "Largest order", "20 seats", "Basic", "en")
    'Which plan has a largest order of 20 seats?'
    >>> ask_for_name("", "Rated flow", "40 l/min", "Kestrel 40", "en")
    'Which model has a rated flow of 40 l/min?'
    """
    described = describe_thing(kind, header, value, name, language)
    if described is None:
        return None
    noun, has = described
    if language == "vi":
        return f"{capitalise(noun)} nào {has}?"
    return f"Which {noun} {has}?"


def describe_thing(kind: str, header: str, value: str, name: str, language: KnownLanguage) -> tuple[str, str] | None:
    """Return what kind of thing a row is about, and what it has: ("plan", "has a price of 9 USD"); None if unclear."""
    if not is_value(value) or len(value.split()) > 9 or (not kind and not is_numbered_name(name)):
        return None
    if kind and (NO_KIND.search(kind) or ASKING_HEADER.match(kind) or len(kind.split()) > 3):
        return None
    if kind.casefold() in GENERIC_HEADERS:
        kind = ""
        if not is_numbered_name(name):
            return None
    if (re.fullmatch(r"[\d.,\s+-]+", value) and not COUNTED.search(header)) or not fits_header(header, value):
        return None
    if CODE_HEADER.fullmatch(kind):
        return None  # a code is no thing that has a price
    if language == "vi" and BUYER.match(header):
        return (kind.lower() or "sản phẩm", f"cho {header.lower()} giá {value}") if is_money(value) else None
    if language == "vi":
        is_counted = header.casefold().startswith("số")
        if not VIETNAMESE_NOUN.match(header) or ASKING_HEADER.match(header):
            return None
        if is_counted and not re.search(r"\d", value):
            return None
        lowered = f"mức {header.lower()}" if re.match(r"(?:thấp|cao|tối)", header.lower()) else header.lower()
        quoted = value if re.search(r"\d", value) and len(value.split()) <= 5 else f"“{value}”"
        return kind.lower() or "sản phẩm", f"có {lowered} là {quoted}"
    if not is_noun_header(header) or not re.search(r"\d", value):
        return None
    lowered = lower_header(header)
    article = "" if is_plural_header(header) else "an " if lowered[:1] in "aeiou" else "a "
    return lower_header(kind) or "model", f"has {article}{lowered} of {value}"


def plant_name(question: str, row: Statement, subject: str, name: str) -> str | None:
    """Return a question about a row with another name in the place of its own; None if it does not name it.

    >>> row = Statement("row", "| Basic | 9 USD |", 0, 0, header=("Plan", "Price"), cells=("Basic", "9 USD"))
    >>> plant_name("What is the price for Basic?", row, "Plans", "Zentravia")
    'What is the price for the plan “Zentravia”?'
    """
    kind = row.header[0].lower()
    is_sheet = name_subject(row.header, subject) is not None
    own = name_subject(row.header, subject) or row.cells[0]
    lead, comma, rest = question.rpartition("”, ")
    if own and own not in rest:
        own = own[:1].lower() + own[1:]
    planted = re.sub(rf"(?<!\w){re.escape(own)}(?!\w)", name, rest, count=1) if own else rest
    if not is_sheet and not re.search(rf"\b{re.escape(kind)}\b", planted.lower()):
        # an invented name says nothing by itself: "the Zentravia" of what kind
        if NO_KIND.search(kind) or kind in GENERIC_HEADERS or not re.fullmatch(r"[^\W\d_]+", kind):
            return None
        if ASKING_HEADER.match(kind):
            return None
        planted = re.sub(rf"“?(?:\b(?:the|an?) )?{name}”?", f"the {kind} “{name}”", planted, count=1)
    return lead + comma + planted if planted != rest else None
