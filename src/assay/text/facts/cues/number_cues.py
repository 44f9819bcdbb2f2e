"""Words that may state a value although no number is written: "both", "half price", "around the clock", "trưa"."""

from __future__ import annotations

from decimal import Decimal

from assay.text.facts.cues.cue_pattern import Cues
from assay.text.quantities.units import PLAIN, SHARE, TIME

DAY_IN_SECONDS = Decimal(86_400)
CLASSIFIERS = (
    "cuốn|quyển|cái|chiếc|con|vé|tấm|bộ|ly|cốc|chén|phần|suất|món|loại|bàn|phòng|ghế|chỗ|xe|điểm|bài|trang|buổi|tiết|tầng"
    "|gói|hộp|chai|viên|em|bé|lần|đứa|bạn|túi|thùng|triệu|nghìn|trăm|giờ|phút|tuần|tháng|ngày|năm|người|khách"
)
"""Nouns that are counted in Vietnamese, before which "năm" is five and no year."""
VALUES_IN_WORDS: tuple[tuple[str, int | Decimal, Cues], ...] = (
    (PLAIN, 0, Cues("no | none | nothing | nobody | zero | never", "không")),
    (PLAIN, 1, Cues("single | sole", "duy nhất")),
    (PLAIN, 2, Cues("both | couple | pair | double", "cả hai | đôi | cặp")),
    (PLAIN, 3, Cues("triple | trio")),
    ("times", 1, Cues("second time | single | once", "(?:ngày|tuần|tháng|năm) nào cũng")),
    ("times", 2, Cues("third time | both times | couple of times")),
    ("times", 3, Cues("fourth time")),
    (PLAIN, 4, Cues(vietnamese="tháng tư")),
    (PLAIN, 5, Cues(vietnamese=rf"năm (?:{CLASSIFIERS}) | tháng năm")),
    (
        PLAIN,
        18,
        Cues("of age | adults? | grown-?ups? | minors?", "người lớn | thanh niên | vị thành niên | đủ tuổi"),
    ),
    ("calendar", 216, Cues("of age | adults? | grown-?ups? | minors?")),
    (SHARE, 0, Cues("no | none | nothing | free | zero", "không")),
    (SHARE, 50, Cues("half | halve[sd]?", "nửa")),
    (
        SHARE,
        100,
        Cues(
            "full | fully | whole | entire | entirely | all | complete | completely | everything",
            "toàn bộ | tất cả | hoàn toàn",
        ),
    ),
    (SHARE, 150, Cues("time and a half | one and a half times", "gấp rưỡi | một lần rưỡi")),
    (SHARE, 200, Cues("double[ds]? | twice | two times", "gấp đôi | gấp hai")),
    (SHARE, 300, Cues("triple[ds]? | thrice | three times", "gấp ba")),
    (
        "duration",
        DAY_IN_SECONDS,
        Cues(
            "overnight | (?:a)?round the clock | day and night | all day | tomorrow | (?:same|next) day",
            "cả ngày | ngày đêm | một ngày | (?:trong|hôm|ngày hôm) (?:ngày|sau)",
        ),
    ),
    ("duration", 900, Cues("quarter (?:of an )?hour", other="viertelstunde")),
    ("duration", 1800, Cues("half[ -]hour")),
    ("duration", 7 * DAY_IN_SECONDS, Cues("weekly | a week", "một tuần")),
    (
        "duration",
        14 * DAY_IN_SECONDS,
        Cues(
            "every (?:other|second) (?:week|(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day)) | biweekly | fortnightly"
            " | half a month",
            "nửa tháng",
        ),
    ),
    ("duration", 30 * DAY_IN_SECONDS, Cues("a month", "một tháng")),
    ("calendar", 1, Cues("monthly | a month", "một tháng")),
    ("calendar", 12, Cues("yearly | annual(?:ly)? | a year", "một năm")),
    (TIME, 720, Cues("noon | midday | lunch(?:time)?", "trưa")),
    (TIME, 0, Cues("midnight", "nửa đêm")),
)
"""Each with its dimension and its value in the base unit."""
