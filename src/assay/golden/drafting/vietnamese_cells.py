"""Asks about a cell of a table in Vietnamese: "Giá của … là bao nhiêu?"."""

from __future__ import annotations

import re

from assay.golden.drafting.question_forms import capitalise
from assay.golden.drafting.table_headers import (
    ASKING_HEADER,
    BUYER,
    MOST_HEADER_WORDS,
    QUANTITY_HEADER,
    VIETNAMESE_NOUN,
    is_money,
)
from assay.text.quantities.measures import find_measures
from assay.text.quantities.units import PLAIN


def ask_in_vietnamese(header: str, entity: str, value: str) -> str | None:
    """Return a question for a cell, None if its header does not fit into one."""
    asking = ASKING_HEADER.match(header)
    lowered = header[:1].lower() + header[1:]
    if BUYER.match(header):
        return f"{capitalise(_unquote(entity))} cho {lowered} giá bao nhiêu?" if is_money(value) else None
    if lowered.startswith("người") and (not _ROLE.match(lowered) or find_measures(value)):
        return None  # a group of people, and not who does something
    if asking is not None and asking[0].lower() == "khi":
        return f"{capitalise(header)} thì {entity} được xử lý thế nào?"
    if asking is not None and asking[0].lower() == "ai":
        if len(header.split()) <= 2:
            return None  # "Ai duyệt" does not say what is approved
        return f"Với {entity} thì {lowered}?"
    if asking is not None or len(header.split()) > MOST_HEADER_WORDS or not VIETNAMESE_NOUN.match(header):
        return None
    is_referred = re.match(r"(?:theo|thỏa thuận|thoả thuận|tùy|tuỳ)\b", value, re.IGNORECASE) is not None
    if is_referred or re.fullmatch(r"\d", value):
        return None  # where to look it up is no value, and a digit alone is found in any answer
    if re.match(r"(?:thấp|cao|tối)", lowered):
        lowered = f"mức {lowered}"
    if lowered == "ví dụ":
        return f"Ví dụ về {entity} là gì?"
    of_it = "của" if _OWNED.match(lowered) else "đối với"
    return f"{capitalise(lowered)} {of_it} {entity} là {ask_value(header, value)}?"


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


def ask_value(header: str, value: str) -> str:
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
    is_amount = (starts and (dimensions != {PLAIN} or _is_number(value))) or QUANTITY_HEADER.match(lowered)
    return "bao nhiêu" if is_amount else "gì"


def _is_number(value: str) -> bool:
    return re.match(r"\d[\d.,]*\b", value) is not None
