"""Turns statements into questions by fixed rules, in English and Vietnamese: table cells, definitions, quantities.

A rule that does not fit gives no question. The questions are clear and literal, not the way people ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.text.languages import KnownLanguage
from assay.text.normalisation import fold_text
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
_LEADING_PREPOSITION = re.compile(r"(?:^|\s)(for|after|in|at|before|every|from|by|to|with)\s*$")
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
_CONDITION = re.compile(
    r"(?:over|up to|under|from|between|at least|at most|more than|less than|if|when)\b", re.IGNORECASE
)
_ASKING_HEADER = re.compile(r"(?:who|what|which|when|how|why|where|ai|khi|bao|gì|nào)\b", re.IGNORECASE)
_NOUN_HEADER = re.compile(
    r"(?:.*\s)?(?:price|fee|cost|limit|memory|storage|project|support|order|weight|height|length|width|size|status|owner|"
    r"level|example|meaning|default|type|name|code|unit|time|date|deadline|duration|period|rate|budget|address|version|"
    r"place|region|country|city|capacity|output|power|volume|colou?r|phone|number|value|http|plan|product|role|team)"
    r"(?: per .*)?",
    re.IGNORECASE,
)
_NO_NOUN = re.compile(
    r"\b(?:what|which|who|nothing|everything|nobody|everybody|not|never|no|decides?|makes?|puts?)\b|"
    r"^(?:it|they|this|so|where|only|then|here|few|the few)\b|"
    r"^(?:each|several|every|all|any|both|most|many|few|other|such|more|without)\b|,",
    re.IGNORECASE,
)
_MOST_TERM_WORDS = 4
_LINK = re.compile(r"\]\(")
_NUMBER_HEADER = re.compile(r"|#|nr\.?|no\.?|number|row|stt|số|số thứ tự", re.IGNORECASE)
_NUMBER_OF_A_NAME = re.compile(r"\b[A-Z]\w+ \d+\b")
_POINTS_BACK = re.compile(
    r"(?:its?|they|their|this|these|that|those|she|he|her|his|nobody|one|two|some|another)\b", re.IGNORECASE
)
_STATED_SUBJECT = {
    "en": re.compile(r"\A(?P<subject>[A-Z][^,.;:]*?) (?:is|are|must|may|can|cannot|need|needs|stay|stays|ends?) "),
    "vi": re.compile(r"\A(?P<subject>[^\W\d][^,.;:]*?) (?:được|phải|không|chỉ|cần|có thể|bắt buộc) "),
}
_MOST_SUBJECT_WORDS, _FEWEST_VIETNAMESE_WORDS = 5, 3
_POINTS_ELSEWHERE = re.compile(r"\b(?:above|below|following|ở trên|nói trên|dưới đây|sau đây)\b", re.IGNORECASE)
_SYNONYMS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (r"what is the price", "how much do I pay"),
        (r"what is the weight of", "how heavy is"),
        (r"what is the (noise level) of", "how loud is"),
        (r"what is the tank volume of", "how much fuel fits into the tank of"),
        (r"what is the support", "what help can I get"),
        (r"what is the limit", "how much am I allowed at most"),
        (r"within how many (days|hours|minutes)", r"at the latest after how many \1"),
        (r"for how many (days|hours|weeks|months|years)", r"how long, in \1,"),
        (r"unused goods", "things nobody has used"),
        (r"quotes valid", "offers good"),
        (r"the warranty last", "the guarantee hold"),
        (r"list price", "catalogue price"),
        (r"smallest order", "least that one can order"),
        (r"claims reported", "defects to be told to you"),
    ),
    "vi": (
        (r"hạn thanh toán", "thời gian để trả tiền"),
        (r"yêu cầu hoàn tiền hợp lệ", "đề nghị trả lại tiền đúng quy định"),
        (r"được xử lý", "được giải quyết"),
        (r"khách hàng", "người mua"),
        (r"báo sai lệch", "thông báo chỗ không khớp"),
        (r"nơi tiếp nhận", "bộ phận nhận"),
        (r"trả lời lần đầu", "câu trả lời đầu tiên"),
        (r"phản hồi lần đầu", "lần trả lời đầu tiên"),
        (r"cập nhật tiếp theo", "lần báo tin sau đó"),
        (r"nhân viên toàn thời gian", "người đi làm đủ giờ"),
        (r"nhân viên chính thức", "người làm chính thức"),
        (r"ngày phép", "ngày nghỉ"),
        (r"thời gian", "bao lâu"),
        (r"khi thôi việc", "lúc nghỉ làm"),
        (r"ai duyệt", "ai đồng ý cho"),
        (r"dấu hiệu", "biểu hiện"),
        (r"được quy định thế nào", "thì áp dụng quy định gì"),
    ),
}
"""Other words for what templates ask: patterns without accents removed, in the order in which they are tried."""


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
    if len(row.header) < 2 or len(row.cells) != len(row.header) or not names_something(row.header[0], row.cells[0]):
        return
    is_property_list = all(header.casefold() in _GENERIC_HEADERS for header in row.header) and len(row.header) == 2
    for header, cell in list(zip(row.header, row.cells, strict=True))[1:]:
        if cell.casefold().strip(" .") in _EMPTY_CELLS or not header or _LINK.search(cell):
            continue
        if is_property_list:
            question = _ask_property(row.cells[0], subject, language)
            reference = f"{row.cells[0]}: {cell}"
        else:
            question = _ask_cell(header, row.cells[0], subject, language)
            reference = f"{row.cells[0]} – {header}: {cell}"
        yield DraftedQuestion(question, reference, (cell,), _CODE.fullmatch(row.cells[0]) is not None, True)


def names_something(header: str, cell: str) -> bool:
    """Return whether the first cell of a row names what it is about: it is no running number, link or question.

    >>> [names_something(*pair) for pair in (("Plan", "Basic"), ("No.", "17"), ("Code", "403"), ("Page", "[a](b.md)"))]
    [True, False, True, False]
    """
    is_running_number = cell.strip(" .").isdigit() and _NUMBER_HEADER.fullmatch(header) is not None
    return bool(cell) and not is_running_number and not _LINK.search(cell) and not cell.endswith("?")


def _ask_property(attribute: str, subject: str, language: KnownLanguage) -> str:
    subject = subject.partition(":")[0]
    if language == "vi":
        return f"{_capitalise(attribute)} của {subject} là bao nhiêu?"
    return f"What is the {_lower_first(attribute)} of the {subject}?"


def _ask_cell(header: str, entity: str, subject: str, language: KnownLanguage) -> str:
    asking = _ASKING_HEADER.match(header)
    if language == "vi" and asking is not None:
        if asking[0].lower() == "khi":
            return f"Theo mục “{subject}”, {_lower_first(header)} thì “{entity}” thế nào?"
        return f"Theo mục “{subject}”, với “{entity}” thì {_lower_first(header)}?"
    if language == "en" and (_CONDITION.match(entity) or not _NOUN_HEADER.fullmatch(header)):
        return f"Under “{subject}”, what is there for “{entity}” under “{_lower_first(header)}”?"
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
    if language == "en" and (_NO_NOUN.search(term) or _AUXILIARY.search(term) or len(term.split()) > _MOST_TERM_WORDS):
        return None  # a sentence before a colon, and no term
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
    if measure.end > len(sentence) or len(re.findall(r"\d[\d.,]*", _NUMBER_OF_A_NAME.sub("", text))) > 1:
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


# ── other kinds ──────────────────────────────────────────────────────────────────────────────────────────────────────


def lead_with_heading(question: str, subject: str, language: KnownLanguage) -> str:
    """Return a question that names the heading over its sentence first, unless it has a word of it.

    >>> lead_with_heading("How many mm is the spark plug gap?", "Otter: limits of use", "en")
    'Under “Otter: limits of use”, how many mm is the spark plug gap?'
    >>> lead_with_heading("For how many days are quotes valid?", "Quotes", "en")
    'For how many days are quotes valid?'
    """
    own = {word for word in _list_words(question) if len(word) > 3}
    if own & {word for word in _list_words(subject) if len(word) > 3}:
        return question
    lead = f"Theo mục “{subject}”, " if language == "vi" else f"Under “{subject}”, "
    return lead + _lower_first(question)


def _list_words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+", fold_text(text)))


def ask_about_subject(statement: Statement, heading: str, language: KnownLanguage) -> DraftedQuestion | None:
    """Return a question about what a sentence says of its subject, None if it has no clear one or has figures.

    >>> said = Statement("text", "The strainer is cleaned monthly.", 0, 0)
    >>> ask_about_subject(said, "Heron 12: limits of use", "en").question
    'Under “Heron 12: limits of use”, what is said about the strainer?'
    """
    text = statement.text.strip()
    match = _STATED_SUBJECT[language].match(text)
    if match is None or statement.kind == "row" or not FEWEST_WORDS <= len(text.split()) <= MAX_WORDS:
        return None
    subject = match["subject"].strip()
    is_short = len(subject.split()) <= _MOST_SUBJECT_WORDS and len(subject) > 3
    if language == "vi" and (len(subject.split()) < _FEWEST_VIETNAMESE_WORDS or subject.endswith(" là")):
        return None  # a word of one syllable is hardly a subject
    if text.endswith(":") or _POINTS_ELSEWHERE.search(text):
        return None
    if not is_short or _POINTS_BACK.match(subject) or _SUBJECT_START.match(subject) or re.search(r"[\d“”\"()]", text):
        return None
    if language == "en" and _NO_NOUN.search(subject):
        return None
    if re.match(r"(?:a|an)\b|không|khi|nếu|trong|với|mỗi|để|trường hợp", subject, re.IGNORECASE):
        return None
    if language == "vi":
        return DraftedQuestion(f"Theo mục “{heading}”, {_lower_first(subject)} được quy định thế nào?", text, ())
    return DraftedQuestion(f"Under “{heading}”, what is said about {_lower_first(subject)}?", text, ())


def reword_question(question: str, language: KnownLanguage) -> str | None:
    """Return a question in other words, None if none are known for it; words in quotation marks stay.

    >>> reword_question("Under “Plans”, what is the price for “Basic”?", "en")
    'Under “Plans”, how much do I pay for “Basic”?'
    """
    parts = re.split(r"(“[^”]*”)", question)
    reworded = False
    for index in range(0, len(parts), 2):
        for pattern, other in _SYNONYMS[language]:
            changed = re.sub(pattern, other, parts[index], count=1, flags=re.IGNORECASE)
            reworded |= changed != parts[index]
            parts[index] = changed
    return _capitalise("".join(parts)) if reworded else None


def name_subject(header: tuple[str, ...], section: str) -> str | None:
    """Return the thing that a list of properties is about, from its heading; None if a table is no such list.

    >>> name_subject(("Property", "Value"), "Kestrel 40 (KP-40): technical data")
    'Kestrel 40'
    """
    if len(header) != 2 or not all(name.casefold() in _GENERIC_HEADERS for name in header):
        return None
    name = section.partition(":")[0].strip()
    if not name.endswith(")"):
        return name
    opening = name.find("(", name.rfind(")", 0, -1) + 1)
    return name[:opening].rstrip() if opening >= 0 else name


def ask_for_name(kind: str, header: str, value: str, section: str, language: KnownLanguage) -> str | None:
    """Return a question that describes a row by one of its cells and asks for its name; None if it would be unclear.

    `kind` is the header over the names, "" for a list of properties.

    >>> ask_for_name("Plan", "Seats", "20 seats", "Plans", "en")
    'Under “Plans”, which plan has “20 seats” under “seats”?'
    >>> ask_for_name("", "Rated flow", "40 l/min", "Kestrel 40: technical data", "en")
    'Which one has a rated flow of 40 l/min?'
    """
    if value.casefold().strip(" .") in _EMPTY_CELLS or len(header.split()) > 7 or len(value.split()) > 9:
        return None
    if _ASKING_HEADER.match(header) or _ASKING_HEADER.match(kind) or _LINK.search(value) or kind.lower().endswith("ed"):
        return None
    if not kind:
        if not re.search(r"\d", value):
            return None
        if language == "vi":
            return f"Sản phẩm nào có {_lower_first(header)} là {value}?"
        article = "an" if header[:1].lower() in "aeiou" else "a"
        return f"Which one has {article} {_lower_first(header)} of {value}?"
    if language == "vi":
        return f"Theo mục “{section}”, {_lower_first(kind)} nào có {_lower_first(header)} là “{value}”?"
    return f"Under “{section}”, which {_lower_first(kind)} has “{value}” under “{_lower_first(header)}”?"


def plant_name(question: str, row: Statement, subject: str, name: str) -> str | None:
    """Return a question about a row with another name in the place of its own; None if it does not name it.

    >>> row = Statement("row", "| Basic | 9 USD |", 0, 0, header=("Plan", "Price"), cells=("Basic", "9 USD"))
    >>> plant_name("Under “Plans”, what is the price for “Basic”?", row, "Plans", "Zentravia")
    'Under “Plans”, what is the price for “Zentravia”?'
    """
    own = subject.partition(":")[0] if name_subject(row.header, subject) else f"“{row.cells[0]}”"
    other = name if name_subject(row.header, subject) else f"“{name}”"
    return question.replace(own, other) if own and own in question else None
