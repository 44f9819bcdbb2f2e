"""How a question says what a row, a list of properties or a heading is about: "the Basic plan", "code 403"."""

from __future__ import annotations

import re

from assay.golden.drafting.corpus_words import CorpusWords, is_numbered_name
from assay.golden.drafting.table_headers import ASKING_HEADER, CODE, CODE_HEADER, GENERIC_HEADERS, NO_KIND, lower_header
from assay.text.languages import KnownLanguage
from assay.text.quantities.measures import find_measures
from assay.text.quantities.units import PLAIN
from assay.text.statements import Statement, strip_markup

_NAMED_KINDS = frozenset("plan package tier role team department region grade class category edition".split())
_MOST_ENTITY_WORDS = 6
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[A-Z][.)]|(?:Chapter|Section|Chương|Mục|Phần) \d+[.:)]?)\s+")
_CONDITION = re.compile(
    r"(?:over|up to|under|from|between|at least|at most|more than|less than|if|when|quá|trên|dưới|từ|đến|khi|nếu)\b",
    re.IGNORECASE,
)
_CODED_KINDS = frozenset(
    "command option directory file function setting parameter variable key field column flag button attribute "
    "argument service tool module tag program package property table metric class method macro".split()
)
_OWNED_KINDS = frozenset(
    ("parameter", "argument", "attribute", "field", "column", "key", "method", "property", "variable")
)


def clean_heading(heading: str) -> str:
    """Return a heading without its number and markup.

    >>> clean_heading("2. Phép năm và **PTO**")
    'Phép năm và PTO'
    """
    return _NUMBERING.sub("", strip_markup(heading)).strip(" :¶")


def name_kind(row: Statement, header: str, value: str) -> str:
    """Return what kind of thing a row is: in place of "code" what the next column calls it if a measure is asked for.

    A code has a meaning; the length and the price are those of the course that it stands for.
    """
    dimensions = {reading.dimension for measure in find_measures(value) for reading in measure.readings}
    if not CODE_HEADER.fullmatch(row.header[0]) or dimensions <= {PLAIN} or CODE.fullmatch(value):
        return row.header[0]
    kind = row.header[1]
    is_kind = kind != header and re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+)?", kind) is not None
    return kind if is_kind and not re.search(r"\d", row.cells[1]) else _NAMELESS


_NAMELESS = "nameless"


def is_clean_name(name: str) -> bool:
    """Return whether the name of a row is made of words, and no formula, list of letters or quotation.

    >>> [is_clean_name(name) for name in ("Bulk export", "i, ii, iii, ...", '"release"')]
    [True, False, False]
    """
    return (
        re.fullmatch(r"[\w\s'&+.,()/-]+", name) is not None
        and "..." not in name
        and re.search(r"\w\w", name) is not None
    )


def write_row_name(kind: str, name: str, language: KnownLanguage, words: CorpusWords) -> str | None:
    """Return the name of a row as a question says it: a code after what kind of thing it is, others as they are."""
    if kind == _NAMELESS or (language == "en" and ASKING_HEADER.match(kind)):
        return None
    if _CONDITION.match(name) or len(name.split()) > _MOST_ENTITY_WORDS or not re.search(r"[^\W\d_]|\d{3}", name):
        return None
    if CODE.fullmatch(name) and kind and kind.casefold() not in GENERIC_HEADERS:
        if NO_KIND.search(kind) or ASKING_HEADER.match(kind) or len(kind.split()) > 3:
            return name
        return f"{lower_header(kind)} {name}"
    if not is_clean_name(name):
        return None
    if language == "en" and name[:1].islower() and len(name.split()) == 1:
        # an option or field is asked for with its kind, and never one that belongs to some class or table
        return f"the {kind.lower()} {name}" if kind.lower() in _CODED_KINDS - _OWNED_KINDS else None
    if language == "vi" and kind and kind.casefold() not in GENERIC_HEADERS and not NO_KIND.search(kind):
        return f"{kind[:1].lower()}{kind[1:]} “{name}”" if len(kind.split()) <= 3 else f"“{name}”"
    if language == "en" and kind.lower() in _CODED_KINDS and len(name.split()) == 1:
        return f"the {kind.lower()} {name}"
    if is_numbered_name(name):
        return f"the {name}" if language == "en" else name
    plain = words.lower_first(name)
    if re.fullmatch(r"[\w\s'&+.-]+", plain) is None:
        return f"“{name}”"
    if language != "en":
        return plain
    return f"the {name} {kind.lower()}" if kind.lower() in _NAMED_KINDS else _name_in_english(kind, name, plain, words)


def _name_in_english(kind: str, name: str, plain: str, words: CorpusWords) -> str | None:
    """Return the name of a row as a sentence says it: common nouns with their article, else after their kind.

    None if neither fits: "the length of car" nobody says. A capital alone does not tell a name from a common noun.
    """
    if words.is_name(name.split()[0]):
        return plain
    if len(name.split()) > 1:
        return (words.add_article(plain) or plain) if plain.islower() else plain
    if not name[1:].islower():
        return plain  # an abbreviation, or a name such as eBay
    phrase = words.add_article(name.lower())
    if phrase is not None:
        return phrase
    is_kind = re.fullmatch(r"[A-Za-z]{3,}", kind) is not None and kind.casefold() not in GENERIC_HEADERS
    if is_kind and not NO_KIND.search(kind) and not kind.lower().endswith("s"):
        return f"the {kind.lower()} “{name}”"
    return None


def name_subject(header: tuple[str, ...], section: str) -> str | None:
    """Return the thing that a list of properties is about, from its heading; None if a table is no such list.

    >>> name_subject(("Property", "Value"), "Kestrel 40 (KP-40): technical data")
    'Kestrel 40'
    """
    if len(header) != 2 or not all(name.casefold() in GENERIC_HEADERS for name in header):
        return None
    return name_entity(section)


def name_entity(section: str) -> str:
    """Return what a heading names before its colon and without a code in brackets.

    >>> name_entity("Heron 12 (HB-12): limits of use")
    'Heron 12'
    """
    name = section.partition(":")[0].strip()
    if not name.endswith(")"):
        return name
    opening = name.find("(", name.rfind(")", 0, -1) + 1)
    return name[:opening].rstrip() if opening >= 0 else name
