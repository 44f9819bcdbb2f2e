"""Turns Vietnamese sentences that deny something into the question whether it is so, and parts what they hold for."""

from __future__ import annotations

import re
from typing import NamedTuple

_DENIED = re.compile(
    r"(?P<subject>[^\W\d][^,.;:()]{3,60}?) (?P<denied>không (?P<verb>được|phải|cần|bắt buộc|bị|áp dụng|bao gồm|"
    r"có hiệu lực|hoàn|trừ|tính|thu|nhận|hỗ trợ|chấp nhận|cộng dồn|thay|phục vụ|mở cửa|hoạt động|cung cấp|yêu cầu|"
    r"chịu trách nhiệm|cho phép|giới hạn|vượt|mất|thay đổi|lặp lại|thực hiện))(?P<rest>(?: [^,;:()]{2,90})?)\Z"
)
_NOT_ALL = re.compile(
    r"\b(?:không|chưa|chỉ|nhưng|mà|nếu|khi|trừ|ngoài|và|hoặc|hay|cũng|đều|gì|nào|ai|để|nên|vì|do|này|đó|"
    r"(?:trên|dưới)(?! \d)|vốn|thì)\b"
)
"""Words with which "không" would not be the whole answer, or the question would ask for something else."""
_HELD_FOR = re.compile(
    r"(?P<adverbial>(?:Khi|Trong|Từ|Sau|Trước|Tại|Vào|Đối với|Với|Ngoài|Nếu) [^,;:()]{4,70}), (?P<main>[^;:]{8,})\Z"
)


class WhetherDenied(NamedTuple):
    """The question whether something is so, the subject that it is about, and the words that deny it."""

    question: str
    subject: str
    denied: str


def ask_whether_denied(text: str) -> WhetherDenied | None:
    """Return the question whether something is so that a plain sentence denies, None for any other sentence.

    >>> asked = ask_whether_denied("Mật khẩu không được viết ra giấy.")
    >>> asked.question, asked.denied
    ('Mật khẩu có được viết ra giấy không', 'không được')
    """
    match = _DENIED.match(text.rstrip(" .!"))
    if match is None or _NOT_ALL.search(match["rest"]) or _NOT_ALL.search(match["subject"]):
        return None
    return WhetherDenied(
        f"{match['subject']} có {match['verb']}{match['rest']} không", match["subject"], match["denied"]
    )


def part_adverbial(text: str) -> tuple[str, str] | None:
    """Return for when or what a sentence holds, and what it says; None for a sentence that begins with its subject.

    >>> part_adverbial("Khi có còi báo động, hành khách tập trung tại boong số 2.")
    ('Khi có còi báo động', 'hành khách tập trung tại boong số 2.')
    """
    match = _HELD_FOR.match(text)
    return (match["adverbial"], match["main"]) if match is not None else None
