"""Turns table rows and lists of terms into questions by fixed rules, and questions into other words of the same sense.

A rule that does not fit gives no question. A cell is asked about only if its header is a noun that a question can take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.golden.drafting.corpus_words import CorpusWords, is_numbered_name
from assay.golden.drafting.question_forms import DraftedQuestion, capitalise
from assay.golden.lint_evidence import list_content_words
from assay.text.languages import KnownLanguage
from assay.text.quantities.measures import find_measures
from assay.text.quantities.units import MONEY, PLAIN
from assay.text.statements import Statement, strip_markup

_NAMED_KINDS = frozenset("plan package tier role team department region grade class category edition".split())
_MOST_VALUE_WORDS, _MOST_ENTITY_WORDS, _MOST_HEADER_WORDS, _MOST_TERM_WORDS = 16, 6, 6, 4
_GENERIC_HEADERS = frozenset(
    {"property", "value", "field", "item", "name", "detail", "thuộc tính", "giá trị", "mục", "nội dung", "thông số"}
)
_EMPTY_CELLS = frozenset({"", "-", "–", "—", "n/a", "none", "không", "có", "yes", "no", "true", "false", "x", "✓", "?"})
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[A-Z][.)]|(?:Chapter|Section|Chương|Mục|Phần) \d+[.:)]?)\s+")
_DEFINITION = re.compile(r"(?P<term>[^:.!?]{2,60}?)\s*(?::|\s[–—-])\s+(?P<meaning>\S.{9,})", re.DOTALL)
_CODE = re.compile(r"(?:[A-Z][A-Z0-9]*-\d+|[A-Z]{2,}\d*|[A-Z]\d{1,3}|\d{3,5})")
_LINK = re.compile(r"\]\(|https?:")
_NUMBER_HEADER = re.compile(r"|#|nr\.?|no\.?|number|row|stt|số|số thứ tự", re.IGNORECASE)
_UNIT_IN_HEADER = re.compile(r"\A(?P<name>[^()]+?) \((?P<unit>[^()]{1,12})\)\Z")
_CONDITION = re.compile(
    r"(?:over|up to|under|from|between|at least|at most|more than|less than|if|when|quá|trên|dưới|từ|đến|khi|nếu)\b",
    re.IGNORECASE,
)
_ASKING_HEADER = re.compile(r"(?:who|what|which|when|how|why|where|ai|khi|bao|gì|nào)\b", re.IGNORECASE)
_HEAD_NOUN = re.compile(
    r"(?:price|fee|cost|charge|limit|memory|storage|weight|height|length|width|depth|size|status|owner|level|type|code|"
    r"unit|time|date|deadline|duration|period|rate|budget|address|version|place|region|country|city|volume|colou?r|"
    r"phone|"
    r"number|role|team|quota|maximum|minimum|salary|order|amount|share|score|speed|age|response|contact|"
    r"manager|supplier|author|director|population|area|currency|language|format|port|protocol|licen[cs]e|discount|"
    r"threshold|premium|deposit|material|diameter|title|location|output|power|flow|head|angle|bonus|"
    r"symbol|rank|grade|weighting|deductible|fine|toll|wage|tax|stock|yield|torque|gap|mass|year|"
    r"\w{3,}(?:tion|ment|ity|ness|ance|ence|age|ure|cy|sion))s?"
)
_VAGUE_NOUNS = frozenset(
    "description explanation information documentation action function option notation mention definition section "
    "question position message usage page image comment implementation statement reference difference sentence".split()
)
_CHARGED = re.compile(
    r"(?:price|fee|cost|charge|limit|order|quota|deadline|discount|budget|rate|allowance|threshold|deposit|toll|"
    r"fine|tax|"
    r"response|contact|premium|maximum|minimum)s?\Z",
    re.IGNORECASE,
)
_CODED_KINDS = frozenset(
    "command option directory file function setting parameter variable key field column flag button attribute "
    "argument service tool module tag program package property table metric class method macro".split()
)
_OWNED_KINDS = frozenset(
    ("parameter", "argument", "attribute", "field", "column", "key", "method", "property", "variable")
)
_DESCRIBED_KIND = re.compile(
    r"the (?:command|option|directory|file|function|setting|parameter|variable|key|field|column|flag|button|attribute|"
    r"argument|service|tool|module|tag|program|package) (?=\S)"
)
_PREPOSITION = re.compile(r"\s(?:of|per|for|in|before|after|at|to|on|by|with|from)\s")
_COUNTED = re.compile(
    r"\b(?:number|code|version|port|level|year|score|rank|grade|phone|population|size|age|seats|số|mã|điện thoại|"
    r"năm)\b",
    re.IGNORECASE,
)
_NO_KIND = re.compile(r".*ed\Z|.*\b(?:of|on|in|for|to|by|or|and|với|của|theo|và|hoặc)\b.*|.*[/(),?:].*", re.IGNORECASE)
_VIETNAMESE_NOUN = re.compile(
    r"(?P<noun>giá|phí|mức|số|tỷ lệ|tỉ lệ|lương|điểm|dung lượng|công suất|kích thước|trọng lượng|khối lượng|diện tích|"
    r"chiều|hạn mức|giới hạn|tổng|định mức|doanh|thời gian|thời hạn|phản hồi|hạn|giờ|ngày|thời điểm|người|nơi|địa điểm|"
    r"địa chỉ|"
    r"dấu hiệu|điều kiện|ví dụ|loại|tên|đơn vị|kênh|cấp|bộ phận|phòng|cập nhật|mục tiêu|thiết bị|"
    r"hình thức|phương thức|tần suất|chu kỳ|nguồn|ý nghĩa|thấp nhất|cao nhất|tối đa|tối thiểu)\b",
    re.IGNORECASE,
)
_GLOSSARY = re.compile(
    r"\b(?:glossary|terms|terminology|definitions?|vocabulary|abbreviations|acronyms|codes?|thuật ngữ|định nghĩa|"
    r"từ viết tắt|viết tắt|khái niệm|mã)\b",
    re.IGNORECASE,
)
_NO_TERM = re.compile(
    r"\b(?:what|which|who|nothing|everything|nobody|everybody|not|never|no|decides?|makes?|puts?|is|are|was|were|"
    r"may|can|"
    r"must|should|will)\b|^(?:it|they|this|so|where|only|then|here|few|each|several|every|all|any|both|most|many|other|"
    r"such|more|without|note|example|step|tip|warning)\b|,",
    re.IGNORECASE,
)
_VIETNAMESE_CASE = re.compile(r"(?:từ|quá|dưới|trên|nghỉ|khi|nếu|mất|chậm|muộn|trễ|hơn|sau|trước|đi)\b", re.IGNORECASE)
_VIETNAMESE_INCIDENT = re.compile(r"(?:quá hạn|nghỉ|mất|chậm|muộn|trễ|vi phạm)\b", re.IGNORECASE)
_SYNONYMS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (r"^what does (\S+) stand for", r"what is the full form of \1"),
        (r"what is the (?:list )?price (?:of|for)", "how much does one pay for"),
        (r"what is the weight of", "how heavy is"),
        (r"what is the noise level of", "how loud is"),
        (r"what is the tank volume of", "how much fuel fits into the tank of"),
        (r"^what should I do (if|when)", r"what would you advise \1"),
        (r"^what happens if", "what are the consequences if"),
        (r"^what happens to", "what becomes of"),
        (r"^what must be done with", "how must one deal with"),
        (r"^why ", "for what reason "),
        (r"^how often", "at what intervals"),
        (r"^under what condition", "in which case"),
        (r"^who is ([^?]+)", r"who exactly is \1"),
        (
            r"^what (?:is|are) (?!the\b)(?![^?]{1,80} (?:for|in|on|of|by|to|as|with|from|called)\?)"
            r"((?-i:[a-z])[^?]{1,60})\?",
            r"what is meant by \1?",
        ),
        (r"within how many (days|hours|minutes)", r"at the latest after how many \1"),
    ),
    "vi": (
        (r"là viết tắt của cụm từ nào", "viết đầy đủ là gì"),
        (r"nghĩa là gì", "được hiểu thế nào"),
        (r"^thời gian (.+) là bao lâu", r"thời gian \1 kéo dài bao lâu"),
        (r"^ai là", "người nào là"),
        (r"thì sao\b", "thì sẽ thế nào"),
        (r"phải làm gì\b", "cần làm gì"),
        (r"^quy định về (.+) là gì", r"có quy định gì về \1"),
        (r"cập nhật tiếp theo", "lần báo tin sau đó"),
        (r"dấu hiệu", "biểu hiện"),
        (r"nhân viên toàn thời gian", "người đi làm đủ giờ"),
        (r"^((?:(?!đối với|ví dụ| của |dấu hiệu)[^?]){3,40}) là gì\b", r"\1 được hiểu là gì"),
    ),
}
"""Other words for what the templates ask, in the order in which they are tried; words in quotation marks stay."""


def clean_heading(heading: str) -> str:
    """Return a heading without its number and markup.

    >>> clean_heading("2. Phép năm và **PTO**")
    'Phép năm và PTO'
    """
    return _NUMBERING.sub("", strip_markup(heading)).strip(" :¶")


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    is_code = _CODE.fullmatch(row.cells[0]) is not None
    for header, cell in list(zip(row.header, row.cells, strict=True))[1:]:
        if not _is_value(cell) or not fits_header(header, cell):
            continue
        if name_subject(row.header, subject) is not None:
            question = _ask_property(row.cells[0], cell, subject, language)
            reference = f"{row.cells[0]}: {cell}"
        else:
            question = ask_cell(row, header, cell, subject, language, words)
            reference = f"{row.cells[0]} – {header}: {cell}"
        if question is not None:
            yield DraftedQuestion(question, reference, (cell,), is_code, True)


_CODE_LIKE = re.compile(r"[A-Za-z]\w*(?:[-.:/]\w+)+|[$@%/.-]\S+")


def has_headers(header: tuple[str, ...]) -> bool:
    """Return whether the first row of a table says what its columns are: not one option and what it does.

    >>> has_headers(("Plan", "Price")), has_headers(("retry_data_expire", "sets time for retrying"))
    (True, False)
    """
    names = [name for name in header if name]
    is_code = any("_" in name or _CODE_LIKE.fullmatch(name) for name in names)
    is_lower = len(names) > 1 and all(name[:1].islower() for name in names[1:])
    return not is_code and not (is_lower and max(len(name.split()) for name in names) > 3)


_QUANTITY_HEADER = re.compile(
    r"(?:số lượng|số tiền|số|giá|phí|tỷ lệ|tỉ lệ|lương|dung lượng|công suất|trọng lượng|khối lượng|diện tích)\b|"
    r"(?:number|quantity|amount|volume|price|fee|cost|weight|size|capacity)s?\b",
    re.IGNORECASE,
)
_NOT_GIVEN = re.compile(r"(?:không|chưa|miễn|not|no|never|none|free|on request)\b", re.IGNORECASE)
_PHYSICAL = re.compile(
    r"(?:volume|capacity|memory|storage|weight|mass|height|length|width|depth|size|speed|area|age|power|output|flow|"
    r"duration|time|period|angle|diameter|population|torque)s?\Z",
    re.IGNORECASE,
)


def fits_header(header: str, value: str) -> bool:
    """Return whether a value is of the kind that a header asks for: "not supplied" is no number, money no volume.

    >>> [fits_header(*pair) for pair in (("Volumes", "9,500 EUR"), ("Số lượng", "Không cấp"), ("Price", "9 USD"))]
    [False, False, True]
    """
    if _QUANTITY_HEADER.match(header) and _NOT_GIVEN.match(value):
        return False
    head = _PREPOSITION.split(header, maxsplit=1)[0].split()
    return not (head and _PHYSICAL.fullmatch(head[-1]) and _is_money(value))


def _is_money(value: str) -> bool:
    measures = find_measures(value)
    readings = [reading for measure in measures for reading in measure.readings]
    return any(reading.dimension.startswith(MONEY) for reading in readings)


def _is_value(cell: str) -> bool:
    is_empty = cell.casefold().strip(" .") in _EMPTY_CELLS or _LINK.search(cell) is not None
    return not is_empty and len(cell.split()) <= _MOST_VALUE_WORDS and not re.search(r"[{}<>|=\\]", cell)


def names_something(header: str, cell: str) -> bool:
    """Return whether the first cell of a row names what it is about: it is no running number, link or question.

    >>> [names_something(*pair) for pair in (("Plan", "Basic"), ("No.", "17"), ("Code", "403"), ("Page", "[a](b.md)"))]
    [True, False, True, False]
    """
    is_running_number = cell.strip(" .").isdigit() and (
        _NUMBER_HEADER.fullmatch(header) is not None or len(cell.strip(" .")) < 3
    )
    return bool(cell) and not is_running_number and not _LINK.search(cell) and not cell.endswith("?")


def _ask_property(attribute: str, value: str, subject: str, language: KnownLanguage) -> str | None:
    name = name_entity(subject)
    if language == "vi":
        if len(attribute.split()) > _MOST_HEADER_WORDS:
            return None
        return f"{capitalise(attribute)} của {name} là {_ask_value(attribute, value)}?"
    if not is_noun_header(attribute) or not is_numbered_name(name):
        return None
    return f"What is the {_lower_header(attribute)} of the {name}?"


def ask_cell(
    row: Statement, header: str, value: str, subject: str, language: KnownLanguage, words: CorpusWords
) -> str | None:
    """Return a question for a cell, None if its header or the name of its row does not fit into one.

    The heading over the table is named only where the same row stands under several.
    """
    entity = _name_entity(_name_kind(row, header, value), row.cells[0], language, words)
    places = words.count_sections(row.cells[0], header)
    unit = _UNIT_IN_HEADER.match(header)
    name = unit["name"] if unit is not None else header
    is_bare = re.fullmatch(r"[\d.,\s+-]+", value) is not None and unit is None and not _COUNTED.search(header)
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
    codes = [part for part in re.split(r"[,/\s]+", row.cells[0]) if _CODE.fullmatch(part)]
    is_bare_code = row.cells[0].isdigit() or (language == "vi" and bool(codes))
    if places > 1 or (is_bare_code and subject):
        return ask_under_heading(question, subject, language)
    return question


_CODE_HEADER = re.compile(r"(?:code|id|no\.?|nr\.?|number|mã|mã số|ký hiệu|số)\Z", re.IGNORECASE)


def _name_kind(row: Statement, header: str, value: str) -> str:
    """Return what kind of thing a row is: in place of "code" what the next column calls it if a measure is asked for.

    A code has a meaning; the length and the price are those of the course that it stands for.
    """
    dimensions = {reading.dimension for measure in find_measures(value) for reading in measure.readings}
    if not _CODE_HEADER.fullmatch(row.header[0]) or dimensions <= {PLAIN} or _CODE.fullmatch(value):
        return row.header[0]
    kind = row.header[1]
    is_kind = kind != header and re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+)?", kind) is not None
    return kind if is_kind and not re.search(r"\d", row.cells[1]) else _NAMELESS


_NAMELESS = "nameless"


def ask_under_heading(question: str, heading: str, language: KnownLanguage) -> str:
    """Return a question with the heading that it is asked under.

    >>> ask_under_heading("What is the price of the Heron 12?", "Prices in Norway", "en")
    'According to “Prices in Norway”, what is the price of the Heron 12?'
    """
    lead = f"Theo “{heading}”, " if language == "vi" else f"According to “{heading}”, "
    return lead + question[:1].lower() + question[1:]


def _ask_price(row: Statement, header: str, value: str, language: KnownLanguage) -> str | None:
    """Return what to ask of a table of prices whose columns say for whom or for what: "Adults", "Return"."""
    is_price = _is_money(value) and all(_is_money(cell) or not re.search(r"\d", cell) for cell in row.cells[1:])
    is_plain = re.fullmatch(r"[\w\s'&,.+-]{2,40}", f"{row.cells[0]} {header}") is not None
    if not (is_price and is_plain and header):
        return None
    if language == "vi":
        return f"số tiền của “{row.cells[0]}” ở cột “{header}” là bao nhiêu?"
    return f"how much is “{row.cells[0]}” under “{header}”?"


def _ask_in_words(header: str, entity: str, value: str, is_bare: bool, language: KnownLanguage) -> str | None:
    if language == "vi":
        return _ask_in_vietnamese(header, entity, value)
    kind = _DESCRIBED_KIND.match(entity)
    if header.casefold() in ("description", "purpose", "function", "use") and kind is not None:
        return f"What is {entity} for?"
    if header.casefold() == "meaning":
        return f"What does {entity} mean?"
    if header.casefold() == "example":
        return f"What is an example of {entity}?"
    if is_bare or not is_noun_header(header):
        return None
    is_plural = _is_plural(header)
    is_charged = _CHARGED.search(_PREPOSITION.split(header, maxsplit=1)[0]) is not None
    preposition = "for" if is_charged and not is_numbered_name(entity.removeprefix("the ")) else "of"
    return f"What {'are' if is_plural else 'is'} the {_lower_header(header)} {preposition} {entity}?"


def _is_plural(header: str) -> bool:
    return header.endswith("s") and not header.endswith(("ss", "us", "is"))


def is_noun_header(header: str) -> bool:
    """Return whether a header is a noun that can be asked for: "what is the … of …".

    >>> [is_noun_header(header) for header in ("List price per seat", "Approved by", "Water removed", "Largest order")]
    [True, False, False, True]
    """
    head = _PREPOSITION.split(header, maxsplit=1)[0].split()
    if not head or len(header.split()) > _MOST_HEADER_WORDS or re.search(r"[^\w\s'-]|_", header):
        return False
    is_noun = _HEAD_NOUN.fullmatch(head[-1].lower()) is not None and head[-1].lower() not in _VAGUE_NOUNS
    return is_noun and not _ASKING_HEADER.match(header)


def _lower_header(header: str) -> str:
    parts = [word if word[1:] != word[1:].lower() else word.lower() for word in header.split()]
    return " ".join(parts)


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


def _name_entity(kind: str, name: str, language: KnownLanguage, words: CorpusWords) -> str | None:
    """Return the name of a row as a question says it: a code after what kind of thing it is, others as they are."""
    if kind == _NAMELESS or (language == "en" and _ASKING_HEADER.match(kind)):
        return None
    if _CONDITION.match(name) or len(name.split()) > _MOST_ENTITY_WORDS or not re.search(r"[^\W\d_]|\d{3}", name):
        return None
    if _CODE.fullmatch(name) and kind and kind.casefold() not in _GENERIC_HEADERS:
        if _NO_KIND.fullmatch(kind) or _ASKING_HEADER.match(kind) or len(kind.split()) > 3:
            return name
        return f"{_lower_header(kind)} {name}"
    if not is_clean_name(name):
        return None
    if language == "en" and name[:1].islower() and len(name.split()) == 1:
        # an option or field is asked for with its kind, and never one that belongs to some class or table
        return f"the {kind.lower()} {name}" if kind.lower() in _CODED_KINDS - _OWNED_KINDS else None
    if language == "vi" and kind and kind.casefold() not in _GENERIC_HEADERS and not _NO_KIND.fullmatch(kind):
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
    is_kind = re.fullmatch(r"[A-Za-z]{3,}", kind) is not None and kind.casefold() not in _GENERIC_HEADERS
    if is_kind and not _NO_KIND.fullmatch(kind) and not kind.lower().endswith("s"):
        return f"the {kind.lower()} “{name}”"
    return None


def _ask_in_vietnamese(header: str, entity: str, value: str) -> str | None:
    asking = _ASKING_HEADER.match(header)
    lowered = header[:1].lower() + header[1:]
    if _BUYER.match(header):
        return f"{capitalise(_unquote(entity))} cho {lowered} giá bao nhiêu?" if _is_money(value) else None
    if lowered.startswith("người") and (not _ROLE.match(lowered) or find_measures(value)):
        return None  # a group of people, and not who does something
    if asking is not None and asking[0].lower() == "khi":
        return f"{capitalise(header)} thì {entity} được xử lý thế nào?"
    if asking is not None and asking[0].lower() == "ai":
        if len(header.split()) <= 2:
            return None  # "Ai duyệt" does not say what is approved
        return f"Với {entity} thì {lowered}?"
    if asking is not None or len(header.split()) > _MOST_HEADER_WORDS or not _VIETNAMESE_NOUN.match(header):
        return None
    is_referred = re.match(r"(?:theo|thỏa thuận|thoả thuận|tùy|tuỳ)\b", value, re.IGNORECASE) is not None
    if is_referred or re.fullmatch(r"\d", value):
        return None  # where to look it up is no value, and a digit alone is found in any answer
    if re.match(r"(?:thấp|cao|tối)", lowered):
        lowered = f"mức {lowered}"
    if lowered == "ví dụ":
        return f"Ví dụ về {entity} là gì?"
    of_it = "của" if _OWNED.match(lowered) else "đối với"
    return f"{capitalise(lowered)} {of_it} {entity} là {_ask_value(header, value)}?"


_BUYER = re.compile(
    r"(?:người (?:lớn|già|cao tuổi|khuyết tật|nước ngoài|nhà)|trẻ em|trẻ nhỏ|em bé|học sinh|sinh viên|khách|hội viên|"
    r"thành viên|cư dân|đoàn|nhóm|gia đình|nhân viên|giáo viên|công ty|doanh nghiệp)\b",
    re.IGNORECASE,
)
"""Headers over prices that say who pays them."""
_ROLE = re.compile(
    r"người (?:duyệt|phê duyệt|phụ trách|liên hệ|quản lý|ký|chịu trách nhiệm|nhận|lập|thực hiện|kiểm tra|đại diện|"
    r"xử lý|tiếp nhận|hướng dẫn|giám sát|đề xuất|soạn|gửi|bảo lãnh|đứng đầu|sáng lập|trực)\b",
    re.IGNORECASE,
)


def _unquote(entity: str) -> str:
    """Return the name in an entity such as "loại vé “Vé ngày”"."""
    quoted = re.search(r"“([^“”]+)”", entity)
    return quoted[1] if quoted is not None else entity


_OWNED = re.compile(r"(?:mức|điểm|dấu hiệu|lương|giá|công suất|dung lượng|kích thước|trọng lượng|tên|người|địa chỉ)\b")


def _ask_value(header: str, value: str) -> str:
    """Return the Vietnamese word that asks for a value: how much, how long, who, when, where, else what."""
    lowered = header.lower()
    if lowered.startswith("người"):
        return "ai"
    if lowered.startswith(("nơi", "địa điểm")):
        return "đâu"
    if lowered.startswith(("hạn nộp", "hạn chót", "ngày", "thời điểm")):
        return "khi nào"
    measures = find_measures(value)
    dimensions = {reading.dimension for measure in measures for reading in measure.readings}
    starts = bool(measures) and measures[0].start <= 12
    if starts and not lowered.startswith("số") and dimensions <= {"duration", "calendar", "time"}:
        if dimensions == {"time"} or lowered.startswith("giờ"):
            return "mấy giờ"
        return "bao lâu một lần" if value.lower().startswith("mỗi ") else "bao lâu"
    if lowered.startswith("thời hạn"):
        return "bao lâu"
    is_amount = (starts and (dimensions != {PLAIN} or _is_number(value))) or _QUANTITY_HEADER.match(lowered)
    return "bao nhiêu" if is_amount else "gì"


def _is_number(value: str) -> bool:
    return re.match(r"\d[\d.,]*\b", value) is not None


def name_subject(header: tuple[str, ...], section: str) -> str | None:
    """Return the thing that a list of properties is about, from its heading; None if a table is no such list.

    >>> name_subject(("Property", "Value"), "Kestrel 40 (KP-40): technical data")
    'Kestrel 40'
    """
    if len(header) != 2 or not all(name.casefold() in _GENERIC_HEADERS for name in header):
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
    thing, has = described
    if language == "vi":
        return f"{capitalise(thing)} nào {has}?"
    return f"Which {thing} {has}?"


def describe_thing(kind: str, header: str, value: str, name: str, language: KnownLanguage) -> tuple[str, str] | None:
    """Return what kind of thing a row is about, and what it has: ("plan", "has a price of 9 USD"); None if unclear."""
    if not _is_value(value) or len(value.split()) > 9 or (not kind and not is_numbered_name(name)):
        return None
    if kind and (_NO_KIND.fullmatch(kind) or _ASKING_HEADER.match(kind) or len(kind.split()) > 3):
        return None
    if kind.casefold() in _GENERIC_HEADERS:
        kind = ""
        if not is_numbered_name(name):
            return None
    if (re.fullmatch(r"[\d.,\s+-]+", value) and not _COUNTED.search(header)) or not fits_header(header, value):
        return None
    if _CODE_HEADER.fullmatch(kind):
        return None  # a code is no thing that has a price
    if language == "vi" and _BUYER.match(header):
        return (kind.lower() or "sản phẩm", f"cho {header.lower()} giá {value}") if _is_money(value) else None
    if language == "vi":
        is_counted = header.casefold().startswith("số")
        if not _VIETNAMESE_NOUN.match(header) or _ASKING_HEADER.match(header):
            return None
        if is_counted and not re.search(r"\d", value):
            return None
        lowered = f"mức {header.lower()}" if re.match(r"(?:thấp|cao|tối)", header.lower()) else header.lower()
        quoted = value if re.search(r"\d", value) and len(value.split()) <= 5 else f"“{value}”"
        return kind.lower() or "sản phẩm", f"có {lowered} là {quoted}"
    if not is_noun_header(header) or not re.search(r"\d", value):
        return None
    lowered = _lower_header(header)
    article = "" if _is_plural(header) else "an " if lowered[:1] in "aeiou" else "a "
    return _lower_header(kind) or "model", f"has {article}{lowered} of {value}"


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
        if _NO_KIND.fullmatch(kind) or kind in _GENERIC_HEADERS or not re.fullmatch(r"[^\W\d_]+", kind):
            return None
        if _ASKING_HEADER.match(kind):
            return None
        planted = re.sub(rf"“?(?:\b(?:the|an?) )?{name}”?", f"the {kind} “{name}”", planted, count=1)
    return lead + comma + planted if planted != rest else None


# ── terms ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ask_definition(statement: Statement, subject: str, language: KnownLanguage) -> DraftedQuestion | None:
    """Return a question about an item of the form "term: meaning", None if it is no term that has a meaning.

    >>> item = Statement("item", "PTO: paid time off for private matters", 0, 0)
    >>> ask_definition(item, "Terms", "en").question
    'What does “PTO” mean?'
    """
    match = _DEFINITION.fullmatch(statement.text)
    if match is None or statement.kind != "item" or len(match["meaning"].split()) < 3:
        return None
    term, meaning = match["term"].strip(), match["meaning"]
    if _LINK.search(statement.text) or re.search(r"[{}\[\]<>|=\\()]", term) or _POINTS.search(statement.text):
        return None
    is_code = _CODE.fullmatch(term) is not None
    is_listed = _GLOSSARY.search(subject) is not None
    if language == "vi":
        question = _ask_vietnamese_term(term, meaning, subject, is_listed or is_code)
    else:
        is_coded = _CODE.fullmatch(term.split()[0]) is not None and any(map(str.isdigit, term))
        is_term = not _NO_TERM.search(term) and len(term.split()) <= _MOST_TERM_WORDS
        question = f"What does “{term}” mean?" if is_term and (is_listed or is_coded) else None
    ends_well = statement.text.endswith((".", ")")) or statement.text.rstrip("*_ ")[-1:].isalnum()
    if question is None or not ends_well:
        return None
    return DraftedQuestion(question, statement.text, (), is_code)


_POINTS = re.compile(r"\b(?:below|above|following|dưới đây|sau đây|ở trên)\b", re.IGNORECASE)


def _ask_vietnamese_term(term: str, meaning: str, subject: str, is_listed: bool) -> str | None:
    if is_listed:
        return f"“{term}” nghĩa là gì?"
    is_case = _VIETNAMESE_CASE.match(term) is not None and any(map(str.isdigit, term))
    if not (is_case or _VIETNAMESE_INCIDENT.match(term)) or not subject:
        return None
    asked = "thì phải làm gì" if re.match(r"(?:phải|cần|bắt buộc)\b", meaning) else "thì điều gì xảy ra"
    return f"Theo quy định về “{subject}”, {term[:1].lower()}{term[1:]} {asked}?"


# ── other words ──────────────────────────────────────────────────────────────────────────────────────────────────────


def reword_question(question: str, language: KnownLanguage) -> str | None:
    """Return a question in other words, None if none are known for it; words in quotation marks stay.

    >>> reword_question("What does PTO stand for?", "en")
    'What is the full form of PTO?'
    """
    parts = re.split(r"(“[^“”]*”)", question)
    for index in range(0, len(parts), 2):
        for pattern, other in _SYNONYMS[language]:
            changed = re.sub(pattern, other, parts[index], count=1, flags=re.IGNORECASE)
            if changed != parts[index]:
                parts[index] = changed
                reworded = capitalise("".join(parts))
                return reworded if is_other_wording(question, reworded) else None
    return None


FEWEST_CHANGED = 0.4
"""The share of a question's words, but names, codes and quotations, that a paraphrase must replace."""


def is_other_wording(question: str, reworded: str) -> bool:
    """Return whether a question is in other words: not "For what reason …" before the document's own sentence.

    >>> is_other_wording("What does PTO stand for?", "What is the full form of PTO?")
    True
    >>> is_other_wording("Why must rabbits never be fasted?", "For what reason must rabbits never be fasted?")
    False
    """
    own, other = _list_common_words(question), _list_common_words(reworded)
    return bool(own) and len(own - other) >= FEWEST_CHANGED * len(own)


def _list_common_words(question: str) -> frozenset[str]:
    """Return the content words of a question, without names, codes, numbers and quotations."""
    plain = re.sub(r"“[^“”]*”", " ", question)
    plain = plain[:1].lower() + plain[1:]
    return list_content_words(
        " ".join(word for word in plain.split() if word == word.lower() and not re.search(r"\d", word))
    )
