"""What the headers and cells of a table are: a noun that can be asked for, a value, the name of a row."""

from __future__ import annotations

import re

from assay.text.quantities.measures import find_measures
from assay.text.quantities.units import MONEY

_MOST_VALUE_WORDS = 16
MOST_HEADER_WORDS = 6
GENERIC_HEADERS = frozenset(
    {"property", "value", "field", "item", "name", "detail", "thuộc tính", "giá trị", "mục", "nội dung", "thông số"}
)
_EMPTY_CELLS = frozenset({"", "-", "–", "—", "n/a", "none", "không", "có", "yes", "no", "true", "false", "x", "✓", "?"})
CODE = re.compile(r"(?:(?<![A-Z0-9])[A-Z][A-Z0-9]*-\d+|[A-Z]{2,}\d*|[A-Z]\d{1,3}|\d{3,5})")
LINK = re.compile(r"\]\(|https?:")
_NUMBER_HEADER = re.compile(r"|#|nr\.?|no\.?|number|row|stt|số|số thứ tự", re.IGNORECASE)
ASKING_HEADER = re.compile(r"(?:who|what|which|when|how|why|where|ai|khi|bao|gì|nào)\b", re.IGNORECASE)
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
PREPOSITION = re.compile(r"\s(?:of|per|for|in|before|after|at|to|on|by|with|from)\s")
COUNTED = re.compile(
    r"\b(?:number|code|version|port|level|year|score|rank|grade|phone|population|size|age|seats|số|mã|điện thoại|"
    r"năm)\b",
    re.IGNORECASE,
)
NO_KIND = re.compile(r"ed\Z|\b(?:of|on|in|for|to|by|or|and|với|của|theo|và|hoặc)\b|[/(),?:]", re.IGNORECASE)
VIETNAMESE_NOUN = re.compile(
    r"(?P<noun>giá|phí|mức|số|tỷ lệ|tỉ lệ|lương|điểm|dung lượng|công suất|kích thước|trọng lượng|khối lượng|diện tích|"
    r"chiều|hạn mức|giới hạn|tổng|định mức|doanh|thời gian|thời hạn|phản hồi|hạn|giờ|ngày|thời điểm|người|nơi|địa điểm|"
    r"địa chỉ|"
    r"dấu hiệu|điều kiện|ví dụ|loại|tên|đơn vị|kênh|cấp|bộ phận|phòng|cập nhật|mục tiêu|thiết bị|"
    r"hình thức|phương thức|tần suất|chu kỳ|nguồn|ý nghĩa|thấp nhất|cao nhất|tối đa|tối thiểu)\b",
    re.IGNORECASE,
)


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


QUANTITY_HEADER = re.compile(
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
    if QUANTITY_HEADER.match(header) and _NOT_GIVEN.match(value):
        return False
    head = PREPOSITION.split(header, maxsplit=1)[0].split()
    return not (head and _PHYSICAL.fullmatch(head[-1]) and is_money(value))


def is_money(value: str) -> bool:
    """Return whether a value is an amount of money."""
    measures = find_measures(value)
    readings = [reading for measure in measures for reading in measure.readings]
    return any(reading.dimension.startswith(MONEY) for reading in readings)


def is_value(cell: str) -> bool:
    """Return whether a cell has a value: it is not empty, no link, and short."""
    is_empty = cell.casefold().strip(" .") in _EMPTY_CELLS or LINK.search(cell) is not None
    return not is_empty and len(cell.split()) <= _MOST_VALUE_WORDS and not re.search(r"[{}<>|=\\]", cell)


def names_something(header: str, cell: str) -> bool:
    """Return whether the first cell of a row names what it is about: it is no running number, link or question.

    >>> [names_something(*pair) for pair in (("Plan", "Basic"), ("No.", "17"), ("Code", "403"), ("Page", "[a](b.md)"))]
    [True, False, True, False]
    """
    is_running_number = cell.strip(" .").isdigit() and (
        _NUMBER_HEADER.fullmatch(header) is not None or len(cell.strip(" .")) < 3
    )
    return bool(cell) and not is_running_number and not LINK.search(cell) and not cell.endswith("?")


CODE_HEADER = re.compile(r"(?:code|id|no\.?|nr\.?|number|mã|mã số|ký hiệu|số)\Z", re.IGNORECASE)


def is_plural_header(header: str) -> bool:
    """Return whether a header looks like a plural."""
    return header.endswith("s") and not header.endswith(("ss", "us", "is"))


def is_noun_header(header: str) -> bool:
    """Return whether a header is a noun that can be asked for: "what is the … of …".

    >>> [is_noun_header(header) for header in ("List price per seat", "Approved by", "Water removed", "Largest order")]
    [True, False, False, True]
    """
    head = PREPOSITION.split(header, maxsplit=1)[0].split()
    if not head or len(header.split()) > MOST_HEADER_WORDS or re.search(r"[^\w\s'-]|_", header):
        return False
    is_noun = _HEAD_NOUN.fullmatch(head[-1].lower()) is not None and head[-1].lower() not in _VAGUE_NOUNS
    return is_noun and not ASKING_HEADER.match(header)


def lower_header(header: str) -> str:
    """Return a header as it stands within a sentence: abbreviations keep their capitals."""
    parts = [word if word[1:] != word[1:].lower() else word.lower() for word in header.split()]
    return " ".join(parts)


BUYER = re.compile(
    r"(?:người (?:lớn|già|cao tuổi|khuyết tật|nước ngoài|nhà)|trẻ em|trẻ nhỏ|em bé|học sinh|sinh viên|khách|hội viên|"
    r"thành viên|cư dân|đoàn|nhóm|gia đình|nhân viên|giáo viên|công ty|doanh nghiệp)\b",
    re.IGNORECASE,
)
"""Headers over prices that say who pays them."""
