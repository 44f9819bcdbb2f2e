"""Turns a plain Vietnamese sentence into a question for what it ends in: how often, when, where, to whom."""

from __future__ import annotations

import re

_NUMBER = r"(?:một|hai|ba|bốn|năm|sáu|bảy|tám|chín|mười|\d+)"
_PERIOD = r"(?:phút|giờ|ca|ngày|đêm|tuần|tháng|quý|năm|chuyến)"
_CLOCK = r"\d{1,2}(?: giờ(?: \d{1,2}(?: phút)?)?|h\d{0,2}|:\d\d)(?: sáng| chiều| tối)?"
_WEEKDAY = r"(?:thứ (?:hai|ba|tư|năm|sáu|bảy)|chủ nhật)(?: hằng tuần)?"
_ROOM_NUMBER = r"(?:số [^\W_]+|(?:[a-zđ]{1,3}[.\-]?)?\d[\w.\-/]*)"
_ROOM_USES = (
    "họp|chờ|học|mổ|ngủ|tắm|ăn|khách|đọc|nghỉ|vệ sinh|thay đồ|hội nghị|hội thảo|trưng bày|triển lãm|máy tính|thể dục"
)
_ROOM = rf"(?:phòng|văn phòng) (?:{_ROOM_NUMBER}|(?:{_ROOM_USES})\b)"
"""A room by its number or by what is done in it; any other "phòng" is a department."""
_NO_BODY = rf"{_ROOM}|ban (?:ngày|đêm|công|mai|trưa|đầu)\b|tổ (?:chức|chim|ong|kiến)\b"
"""What begins as a department and is none: a room, a time of the day, a balcony, an organisation, a nest."""
_BODY = rf"(?!{_NO_BODY})(?:phòng|ban|bộ phận|tổ|văn phòng) [^,.;:()]{{3,40}}"
_FORMS = (
    (r"vào (?P<asked>ngày \d{1,2}) (?P<kept>hằng tháng|mỗi tháng)", "vào ngày nào"),
    (rf"(?P<asked>{_NUMBER} {_PERIOD} một lần)", "bao lâu một lần"),
    (rf"(?P<asked>mỗi {_PERIOD} một lần|hằng (?:giờ|ngày|tuần|tháng|quý|năm))", "bao lâu một lần"),
    (rf"(?P<asked>{_NUMBER} lần) (?P<kept>(?:một|mỗi|trong một) {_PERIOD})", "bao nhiêu lần"),
    (rf"(?P<kept>lúc|từ|trước|sau) (?P<asked>{_CLOCK})", "mấy giờ"),
    (rf"(?:vào|mỗi|vào mỗi) (?P<asked>{_WEEKDAY})", "vào thứ mấy"),
    (r"(?:vào )?(?P<asked>(?:sau|trước) mỗi [^\W\d]+(?: [^\W\d]+)?)", "khi nào"),
    (r"(?P<kept>trước|sau) (?P<asked>ngày \d{1,2}(?: hằng tháng| mỗi tháng)?)", "ngày nào"),
    (
        r"qua (?P<asked>(?:ứng dụng|tài khoản|cổng|trang|email|thư điện tử|điện thoại|tổng đài)[^,.;:()]{0,40})",
        "qua kênh nào",
    ),
    (r"nằm (?:tại|ở) (?P<asked>[^,.;:()]{3,40})", "nằm ở đâu"),
    (r"(?:tại|ở) (?P<asked>(?:(?! (?:trong|vào|khi|nếu|từ|trước|sau)\b)[^,.;:()]){3,40})", "ở đâu"),
    (rf"(?P<kept>cho|đến|tới|vào) (?P<asked>{_ROOM}[^,.;:()]{{0,30}})", "phòng nào"),
    (rf"(?:cho|đến|tới) (?P<asked>{_BODY})", "cho bộ phận nào"),
    (rf"(?P<kept>trong vòng|trong) (?P<asked>{_NUMBER} (?:phút|giờ|ngày|tuần|tháng|quý|năm))", "bao lâu"),
)
_ENDS = [(re.compile(rf"\b{form}\Z", re.IGNORECASE), word) for form, word in _FORMS]
"""How a plain sentence ends, and what a question has there; `kept` words stay where they stand."""
_FEWEST_LEFT = 2
_STARTS_WITH_NO_BODY = re.compile(_NO_BODY, re.IGNORECASE)


def is_room_or_time(words: str) -> bool:
    """Return whether words that begin as a department name a room, a time of the day or another thing.

    >>> [is_room_or_time(words) for words in ("phòng 305", "phòng P.12", "phòng họp lớn", "phòng nhân sự", "ban đêm")]
    [True, True, True, False, True]
    """
    return _STARTS_WITH_NO_BODY.match(words) is not None


def ask_about_end(text: str) -> tuple[str, str] | None:
    """Return the question for what a plain sentence ends in, without its mark, and that end; None if it has none.

    >>> ask_about_end("Sữa được thu gom hai ngày một lần.")
    ('Sữa được thu gom bao lâu một lần', 'hai ngày một lần')
    >>> ask_about_end("Phòng thí nghiệm đóng cửa lúc 16 giờ 30.")
    ('Phòng thí nghiệm đóng cửa lúc mấy giờ', '16 giờ 30')
    >>> ask_about_end("Khách được đưa đến phòng 12."), ask_about_end("Đơn được gửi đến phòng nhân sự.")
    (('Khách được đưa đến phòng nào', 'phòng 12'), ('Đơn được gửi cho bộ phận nào', 'phòng nhân sự'))
    """
    plain = text.rstrip(" .!")
    for pattern, word in _ENDS:
        match = pattern.search(plain)
        left = plain[: match.start()].strip() if match is not None else ""
        if match is None or len(left.split()) < _FEWEST_LEFT or re.search(r"[,;:()]", left):
            continue
        kept = match.groupdict().get("kept") or ""
        is_before = bool(kept) and match.start("kept") < match.start("asked")
        end = f"{kept} {word}" if is_before else f"{word} {kept}"
        return f"{left} {end}".strip(), match["asked"]
    return None
