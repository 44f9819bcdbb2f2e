"""Turns table rows into questions by fixed rules.

A rule that does not fit gives no question. A cell is asked about only if its header is a noun that a question can take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.golden.drafting.corpus_words import CorpusWords, is_numbered_name
from assay.golden.drafting.question_forms import DraftedQuestion, capitalise
from assay.golden.drafting.row_names import name_entity, name_kind, name_subject, write_row_name
from assay.golden.drafting.table_headers import (
    CODE,
    COUNTED,
    MOST_HEADER_WORDS,
    PREPOSITION,
    fits_header,
    has_headers,
    is_money,
    is_noun_header,
    is_plural_header,
    is_value,
    lower_header,
    names_something,
)
from assay.golden.drafting.vietnamese_cells import ask_in_vietnamese, ask_value
from assay.text.languages import KnownLanguage
from assay.text.statements import Statement

_UNIT_IN_HEADER = re.compile(r"\A(?P<name>[^()]+?) \((?P<unit>[^()]{1,12})\)\Z")
_CHARGED = re.compile(
    r"(?:price|fee|cost|charge|limit|order|quota|deadline|discount|budget|rate|allowance|threshold|deposit|toll|"
    r"fine|tax|"
    r"response|contact|premium|maximum|minimum)s?\Z",
    re.IGNORECASE,
)
_DESCRIBED_KIND = re.compile(
    r"the (?:command|option|directory|file|function|setting|parameter|variable|key|field|column|flag|button|attribute|"
    r"argument|service|tool|module|tag|program|package) (?=\S)"
)


def ask_about_row(
    row: Statement, subject: str, language: KnownLanguage, words: CorpusWords
) -> Iterator[DraftedQuestion]:
    """Yield a question for each cell of a table row that can be asked about; `subject` is the heading over the table.

    >>> row = Statement("row", "| Basic | 9 USD |", 0, 0, header=("Plan", "Price"), cells=("Basic", "9 USD"))
    >>> next(ask_about_row(row, "Plans", "en", CorpusWords([]))).question
    'What is the price for the Basic plan?'
    """
    if len(row.header) < 2 or len(row.cells) != len(row.header) or not names_something(row.header[0], row.cells[0]):
        return
    if not has_headers(row.header):
        return
    is_code = CODE.fullmatch(row.cells[0]) is not None
    for header, cell in list(zip(row.header, row.cells, strict=True))[1:]:
        if not is_value(cell) or not fits_header(header, cell):
            continue
        if name_subject(row.header, subject) is not None:
            question = _ask_property(row.cells[0], cell, subject, language)
            reference = f"{row.cells[0]}: {cell}"
        else:
            question = ask_cell(row, header, cell, subject, language, words)
            reference = f"{row.cells[0]} – {header}: {cell}"
        if question is not None:
            yield DraftedQuestion(question, reference, (cell,), is_code, True)


def _ask_property(attribute: str, value: str, subject: str, language: KnownLanguage) -> str | None:
    name = name_entity(subject)
    if language == "vi":
        if len(attribute.split()) > MOST_HEADER_WORDS:
            return None
        return f"{capitalise(attribute)} của {name} là {ask_value(attribute, value)}?"
    if not is_noun_header(attribute) or not is_numbered_name(name):
        return None
    return f"What is the {lower_header(attribute)} of the {name}?"


def ask_cell(
    row: Statement, header: str, value: str, subject: str, language: KnownLanguage, words: CorpusWords
) -> str | None:
    """Return a question for a cell, None if its header or the name of its row does not fit into one.

    The heading over the table is named only where the same row stands under several.
    """
    entity = write_row_name(name_kind(row, header, value), row.cells[0], language, words)
    places = words.count_sections(row.cells[0], header)
    unit = _UNIT_IN_HEADER.match(header)
    name = unit["name"] if unit is not None else header
    is_bare = re.fullmatch(r"[\d.,\s+-]+", value) is not None and unit is None and not COUNTED.search(header)
    if entity is None or (places > 1 and (not subject or words.is_repeated_heading(subject))):
        return None
    question = _ask_in_words(name, entity, value, is_bare, language)
    if question is None and subject and not words.is_repeated_heading(subject):
        question = _ask_price(row, header, value, language)
        return question and ask_under_heading(question, subject, language)
    if question is None:
        return None
    if unit is not None:
        question = f"{question.rstrip('?')} ({unit['unit']})?"
    codes = [part for part in re.split(r"[,/\s]+", row.cells[0]) if CODE.fullmatch(part)]
    is_bare_code = row.cells[0].isdigit() or (language == "vi" and bool(codes))
    if places > 1 or (is_bare_code and subject):
        return ask_under_heading(question, subject, language)
    return question


def ask_under_heading(question: str, heading: str, language: KnownLanguage) -> str:
    """Return a question with the heading that it is asked under.

    >>> ask_under_heading("What is the price of the Heron 12?", "Prices in Norway", "en")
    'According to “Prices in Norway”, what is the price of the Heron 12?'
    """
    lead = f"Theo “{heading}”, " if language == "vi" else f"According to “{heading}”, "
    return lead + question[:1].lower() + question[1:]


def _ask_price(row: Statement, header: str, value: str, language: KnownLanguage) -> str | None:
    """Return what to ask of a table of prices whose columns say for whom or for what: "Adults", "Return"."""
    is_price = is_money(value) and all(is_money(cell) or not re.search(r"\d", cell) for cell in row.cells[1:])
    is_plain = re.fullmatch(r"[\w\s'&,.+-]{2,40}", f"{row.cells[0]} {header}") is not None
    if not (is_price and is_plain and header):
        return None
    if language == "vi":
        return f"số tiền của “{row.cells[0]}” ở cột “{header}” là bao nhiêu?"
    return f"how much is “{row.cells[0]}” under “{header}”?"


def _ask_in_words(header: str, entity: str, value: str, is_bare: bool, language: KnownLanguage) -> str | None:
    if language == "vi":
        return ask_in_vietnamese(header, entity, value)
    kind = _DESCRIBED_KIND.match(entity)
    if header.casefold() in ("description", "purpose", "function", "use") and kind is not None:
        return f"What is {entity} for?"
    if header.casefold() == "meaning":
        return f"What does {entity} mean?"
    if header.casefold() == "example":
        return f"What is an example of {entity}?"
    if is_bare or not is_noun_header(header):
        return None
    is_plural = is_plural_header(header)
    is_charged = _CHARGED.search(PREPOSITION.split(header, maxsplit=1)[0]) is not None
    preposition = "for" if is_charged and not is_numbered_name(entity.removeprefix("the ")) else "of"
    return f"What {'are' if is_plural else 'is'} the {lower_header(header)} {preposition} {entity}?"
