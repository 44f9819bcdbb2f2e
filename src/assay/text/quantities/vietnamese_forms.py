"""Vietnamese amounts, measures, days and times as people write them, rewritten in the form that is read.

"1tr2" is 1 200 000, "hai ký rưỡi" 2.5 kg, "mùng 5 tháng Giêng" 5 January, "T2" Monday, and in "chiều 2h – 5h" it is 14
to 17 h. The patterns are for folded text (`fold_in_place`); where folding makes two words alike, the word as it is
written decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from assay.text.languages import guess_language
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_in_place
from assay.text.number_words import VIETNAMESE_DIGITS

_WORDS = {**VIETNAMESE_DIGITS, "muoi": 10}
_WRITTEN = frozenset("một hai ba bốn tư năm sáu bảy bẩy tám chín mười".split())
"""The same as they are spelled; "nam" (male) and "sau" (after) are folded like numbers."""
_WORD = "|".join(_WORDS)
_NUMBER = rf"(?:\d{{1,4}}(?:[.,]\d{{1,3}})?|{_WORD})"
_MILLION, _THOUSAND = 10**6, 1000
_SCALES = {"ty": 10**9, "ti": 10**9, "trieu": _MILLION, "tr": _MILLION}
_SCALE = r"(?:ty|ti|trieu|tr)"
_MONTHS = {"gieng": 1, "muoi mot": 11, "muoi hai": 12, "chap": 12} | {
    name: number for name, number in _WORDS.items() if name not in ("mot", "bon")
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_OLD_MONTHS = ("gieng", "chap")
_DAYS = {"2": "thứ Hai", "3": "thứ Ba", "4": "thứ Tư", "5": "thứ Năm", "6": "thứ Sáu", "7": "thứ Bảy"}
_HALVED = r"(?:ky|can|met|lit|tan|cay so|km|kg|tieng|thang|tuan)"
_COUNTED = r"(?:can|ky|met|lit|tan|gam|phut|cay so)"
_COUNTED_BY_FIVE = r"(?:cuon|quyen|cai|chiec|buoi|suat|trang|chuyen|bo|to|tam|mon|tiet|goi|hop|chai|vien|ly|coc)"
"""Nouns before which "năm" is five and no year, unless a year is spoken of before."""
_YEAR_BEFORE = LatePattern(
    r"(?:\d|\b(?:moi|hang|trong|ca|cac|nhieu|sau|dau|cuoi|giua|tung|thang|theo|qua|suot|nhung|may|vai|mot|hai|ba|bon"
    r"|bay|tam|chin|muoi|tram|nghin|nua|quy|ngay)) $"
)
"""What stands before "năm" where it is a year or the end of a larger number."""
_PER_CENT = {"hai": "50", "ba": "33,3", "tu": "25", "nam": "20", "muoi": "10"}
_PART_OF_DAY = r"(?:sang|trua|chieu|toi|dem)"
_LATER = {"chieu": "chiều", "toi": "tối"}
"""Parts of the day in which an hour below twelve is one after noon."""
_CLOCK = r"(?:\ ?gio|h|:(?=[0-5]\d))"
_END = r"(?=\s*(?:[.,;:!?()\n]|$|/))"
_NOON = 12
_EXPONENTS = ("2", "3")
_TALLEST_PERSON = 2  # metres

_FORMS = LatePattern(
    rf"""(?<![\w.,])(?:
    (?P<amount>(?P<am_count>{_NUMBER})\ ?(?P<am_scale>{_SCALE})\ ?
      (?:(?P<am_more>\d{{1,3}})\ ?(?P<am_less>nghin|ngan|k|trieu|tr)\b
        |(?P<am_half>ruoi)\b
        |(?P<am_tail>(?<=[a-z])\d{{1,3}}\b|\d{{1,3}}{_END})))
  | (?P<one_and_half>(?P<oh_unit>trieu|ty|ti)\ ruoi\b)
  | (?P<half>nua\ (?P<hf_scale>trieu|ty|ti)\b)
  | (?P<billion>(?P<bi_count>{_NUMBER})\ ti\b)
  | (?P<halved>(?:(?P<ha_count>{_NUMBER})\ )?(?P<ha_unit>{_HALVED}|(?(ha_count)nam|(?!)))\ ruoi\b(?!\ {_PART_OF_DAY}\b))
  | (?P<hundreds>(?P<hu_count>{_NUMBER})\ lang\b)
  | (?P<counted>(?P<co_word>{_WORD})\ (?P<co_unit>{_COUNTED})\b)
  | (?P<decimal>(?P<de_count>\d{{1,3}})(?P<de_unit>m(?=\d{{1,2}}\b)|\ ?(?:tan|ky|kg)\ ?(?=\d{{1,2}}{_END}))
      (?P<de_tail>\d{{1,2}}))
  | (?P<hour>(?P<ho_word>{_WORD})\ gio(?=\ (?:ruoi|kem)\b))
  | (?P<mong>(?:ngay\ )?(?:mung|mong)\ (?P<mo_day>\d{{1,2}}|{_WORD})\b(?:\ thang\ (?P<mo_month>{_MONTH})\b)?)
  | (?P<month>(?:(?P<mn_day>\d{{1,2}})\ )?thang\ (?P<mn_name>{_MONTH})\b)
  | (?P<share>(?P<sh_top>mot|hai|ba)\ phan\ (?P<sh_bottom>hai|ba|tu|nam|muoi)\b
      (?:\ (?P<sh_unit>tieng|gio|nam|lit|ky|can)\b)?)
  | (?P<weekday>(?:thu\ (?P<we_digit>[2-7])|t(?P<we_short>[2-7])|(?P<we_sunday>cn))(?![\w/:.]\w|\w))
  | (?P<later>(?P<la_part>chieu|toi)(?::\ ?|\ tu\ |\ luc\ |\ )(?P<la_hour>1[01]|[1-9])(?P<la_clock>{_CLOCK})
      (?:(?P<la_gap>[^\n]{{0,6}}?\ ?(?:-|–|den|toi)\ ?)(?P<la_end>1[01]|[1-9])(?={_CLOCK}))?)
  | (?P<until>(?P<un_hour>1[01]|[1-9])(?P<un_clock>{_CLOCK}(?:[0-5]\d)?)(?P<un_gap>\ ?(?:-|–|den|toi)\ ?)
      (?P<un_end>1[01]|[1-9])(?P<un_end_clock>{_CLOCK}(?:[0-5]\d)?)(?=\ (?:chieu|toi)\b))
  | (?P<evening>(?P<ev_hour>1[01]|[1-9])(?P<ev_clock>[hg][0-5]\d)(?=\ (?P<ev_part>chieu|toi)\b))
  | (?P<short_clock>(?P<sc_hour>\d{{1,2}})g(?P<sc_minutes>[0-5]\d)\b)
  | (?P<span>(?<=tu\ )(?P<sp_hour>1[01]|[1-9])(?P<sp_gap>\ (?:den|toi)\ )(?P<sp_end>1[01]|[1-9])(?P<sp_clock>{_CLOCK})
      (?=\ (?P<sp_part>chieu|toi)\b))
  | (?P<five>(?P<fi_tens>{_WORD})\ (?:lam|nham)\b)
  | (?P<five_of>nam(?=\ {_COUNTED_BY_FIVE}\b))
  | (?P<room>p\.?\ ?(?P<ro_number>\d{{3,4}})\b)
    )""",
    re.VERBOSE,
)
_MAY_HAVE_FORM = LatePattern(
    r"\d(?: ?(?:(?:ty|ti|trieu|tr)(?: ?\d| ruoi|\b)|(?:tan|ky|kg) ?\d)|[mhg]\d)"
    r"|\b(?:(?:ti|lang|t[2-7]|cn)\b|m[uo]ng |thu [2-7]|p\.? ?\d{3})"
    r"|(?:chieu|toi)(?:: ?| (?:tu |luc )?)\d|(?:\d|h|gio) (?:chieu|toi)\b"
    r"|ruoi|nua t|gio kem|thang [gmchbtns]|phan (?:hai|ba|tu|nam|muoi)"
    rf"|(?:{_WORD}) (?:{_COUNTED}|n?h?lam)\b|nam {_COUNTED_BY_FIVE}\b"
)
_VIETNAMESE = LatePattern("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]|tháng|sáng", re.IGNORECASE)
_ONLY_VIETNAMESE = LatePattern(r"\d ?tr\d|\dm(?![23]\b)\d")
_SHORT_DAYS = LatePattern(r"\bT[2-7]\b[\s,;&–-]{1,3}(?:và |den |đến |tới )?(?:T[2-7]|CN)\b")
"""Days in a row, which need no other word to be Vietnamese, as do amounts like "1tr2" and heights like "1m65"."""
_BEFORE_DAY = LatePattern(
    r"(?:^|[.,;:!?()&\n–-] ?|\b(?:tu|den|toi|vao|sang|trua|chieu|dem|va|hoac|hay|tru|het|moi|hang|cac|la|chi|cua"
    r"|nghi) )$"
)
_NO_DAY_BEFORE = LatePattern(
    r"\b(?:ga|nha|toa|lo|khu|block|terminals?|gates?|stops?|lines?|trams?|tang|ham|cong):?"
    r"(?: t[2-7](?: ?[,;&–-]| and| or| va| hoac)?)* $"
)
"""What stands before the name of a place like "T2", or before several of them."""
_LONGEST_LIST = 40
_BEFORE_ROOM = LatePattern(r"(?:^|[.,;:!?()\n–-] ?|\b(?:o|tai|den|toi|ve|vao) )$")


def write_vietnamese_forms(text: str) -> str:
    """Return a text with Vietnamese amounts, measures, days and hours in the form that is read; others as they are.

    >>> write_vietnamese_forms("Vé 1tr2, hành lý hai ký rưỡi, mở cửa T2, chiều 2h – 5h")
    'Vé 1200000, hành lý 2,5 ký, mở cửa thứ Hai, chiều 14h – 17h'
    """
    is_vietnamese = not text.isascii() and _VIETNAMESE.search(text) is not None
    if not is_vietnamese and not _ONLY_VIETNAMESE.search(text) and not _has_short_days(text):
        return text
    plain = fold_in_place(text)
    if len(plain) != len(text) or _MAY_HAVE_FORM.search(plain) is None:
        return text
    pieces, position = [], 0
    for match in _FORMS.finditer(plain):
        kind = next(name for name in _WRITERS if match[name] is not None)
        written = _WRITERS[kind](match, text)
        if written is not None:
            pieces += [text[position : match.start()], written]
            position = match.end()
    return "".join((*pieces, text[position:]))


def _has_short_days(text: str) -> bool:
    return "T" in text and _SHORT_DAYS.search(text) is not None and guess_language(text) != "en"


def _spell(match: re.Match[str], group: str, text: str) -> str:
    return text[slice(*match.span(group))].lower()


def _read(match: re.Match[str], group: str, text: str) -> Decimal | None:
    """Return the number of a group, 1 where it is absent, None for a word that is no number."""
    word = match[group]
    if word is None:
        return Decimal(1)
    if word[0].isdecimal():
        return Decimal(word.replace(",", "."))
    return Decimal(_WORDS[word]) if _spell(match, group, text) in _WRITTEN else None


def _write_decimal(value: Decimal) -> str:
    return f"{value.normalize():f}".replace(".", ",")


def _write_amount(match: re.Match[str], text: str) -> str | None:
    count, size = _read(match, "am_count", text), _SCALES[match["am_scale"]]
    if count is None:
        return None
    total = count * size
    if match["am_more"] is not None:
        smaller = _THOUSAND if match["am_less"] in ("nghin", "ngan", "k") else _MILLION
        if smaller >= size:
            return None
        total += int(match["am_more"]) * smaller
    elif match["am_half"] is not None:
        total += Decimal(size) / 2
    else:
        total += Decimal(f"0.{match['am_tail']}") * size
    return f"{total.normalize():f}" if total == int(total) else None


def _write_one_and_half(match: re.Match[str], _: str) -> str:
    return str(_SCALES[match["oh_unit"]] * 3 // 2)


def _write_half(match: re.Match[str], text: str) -> str | None:
    return str(_SCALES[match["hf_scale"]] // 2) if text[match.start() :].lower().startswith("nửa") else None


def _write_billion(match: re.Match[str], text: str) -> str | None:
    is_scale = text[match.end() - 2 : match.end()].lower() == "tỉ"
    return f"{text[slice(*match.span('bi_count'))]} tỷ" if is_scale else None


def _write_halved(match: re.Match[str], text: str) -> str | None:
    count, unit = _read(match, "ha_count", text), text[slice(*match.span("ha_unit"))]
    return None if count is None else f"{_write_decimal(count + Decimal('0.5'))} {unit}"


def _write_hundreds(match: re.Match[str], text: str) -> str | None:
    count = _read(match, "hu_count", text)
    is_unit = text[match.end() - 4 : match.end()].lower() == "lạng"
    return f"{_write_decimal(count * 100)} g" if is_unit and count is not None else None


def _write_counted(match: re.Match[str], text: str) -> str | None:
    count, unit = _read(match, "co_word", text), text[slice(*match.span("co_unit"))]
    is_other_word = unit.lower() in ("cần", "căn", "kỳ", "kỹ", "kỷ", "tận", "tàn")
    return None if count is None or is_other_word else f"{count} {unit}"


def _write_tail(match: re.Match[str], text: str) -> str | None:
    unit = text[slice(*match.span("de_unit"))].strip()
    if unit.lower() == "m" and match["de_tail"] in _EXPONENTS and int(match["de_count"]) > _TALLEST_PERSON:
        return None  # "45m2" is an area, and "1m2" the height of a child
    return f"{match['de_count']},{match['de_tail']} {unit}"


def _write_hour(match: re.Match[str], text: str) -> str | None:
    count = _read(match, "ho_word", text)
    return None if count is None else f"{count} {text[match.end() - 3 : match.end()]}"


def _write_first_days(match: re.Match[str], text: str) -> str | None:
    day = _read(match, "mo_day", text)
    is_day = any(word in text[match.start() : match.end()].lower() for word in ("mùng", "mồng"))
    if not is_day or day is None:
        return None
    return f"ngày {day}" + (f" tháng {_MONTHS[match['mo_month']]}" if match["mo_month"] else "")


def _write_month(match: re.Match[str], text: str) -> str | None:
    name, day = match["mn_name"], match["mn_day"]
    is_named = text[match.start("mn_name")].isupper() or name in _OLD_MONTHS or day is not None
    return f"{f'{day} ' if day else ''}tháng {_MONTHS[name]}" if is_named else None


def _write_share(match: re.Match[str], text: str) -> str:
    top = _WORDS[match["sh_top"]]
    share = Decimal(_PER_CENT[match["sh_bottom"]].replace(",", ".")) * top
    if match["sh_unit"] is None:
        return f"{_write_decimal(share)}%"
    return f"{_write_decimal(share / 100)} {text[slice(*match.span('sh_unit'))]}"


def _write_weekday(match: re.Match[str], text: str) -> str | None:
    written = text[match.start() : match.end()]
    before = fold_in_place(text[max(0, match.start() - _LONGEST_LIST) : match.start()])
    if match["we_digit"] is not None:
        is_day = _BEFORE_DAY.search(before) is not None and written.lower().startswith("thứ")
        return _DAYS[match["we_digit"]] if is_day else None
    if _NO_DAY_BEFORE.search(before) is not None or (match["we_sunday"] and not written.isupper()):
        return None
    return _DAYS[match["we_short"]] if match["we_short"] else "Chủ nhật"


def _add_noon(hour: str) -> int:
    return int(hour) + _NOON


def _write_later(match: re.Match[str], text: str) -> str | None:
    part = match["la_part"]
    if _spell(match, "la_part", text) != _LATER[part]:
        return None
    begun = f"{text[match.start() : match.start('la_hour')]}{_add_noon(match['la_hour'])}"
    clock = text[slice(*match.span("la_clock"))]
    if match["la_end"] is None:
        return begun + clock
    return f"{begun}{clock}{text[slice(*match.span('la_gap'))]}{_add_noon(match['la_end'])}"


def _write_until(match: re.Match[str], text: str) -> str | None:
    if text[match.end()] == "\n" or text[match.end() + 1 :].lower().startswith("tới"):
        return None  # "8h – 11h30" in one line and "Chiều: 2h – 5h" in the next are two statements
    first, last = int(match["un_hour"]), _add_noon(match["un_end"])
    if first < int(match["un_end"]):
        first += _NOON
    clocks = [text[slice(*match.span(group))] for group in ("un_clock", "un_gap", "un_end_clock")]
    return f"{first}{clocks[0]}{clocks[1]}{last}{clocks[2]}"


def _is_after_noon(match: re.Match[str], group: str, text: str) -> bool:
    return _spell(match, group, text) == _LATER[match[group]]


def _write_evening(match: re.Match[str], text: str) -> str | None:
    if text[match.end()] == "\n" or not _is_after_noon(match, "ev_part", text):
        return None
    return f"{_add_noon(match['ev_hour'])}h{match['ev_clock'][1:]}"


def _write_short_clock(match: re.Match[str], _: str) -> str:
    return f"{match['sc_hour']}h{match['sc_minutes']}"


def _write_span(match: re.Match[str], text: str) -> str | None:
    if not _is_after_noon(match, "sp_part", text) or int(match["sp_hour"]) > int(match["sp_end"]):
        return None
    clock, gap = (text[slice(*match.span(group))] for group in ("sp_clock", "sp_gap"))
    return f"{_add_noon(match['sp_hour'])}{clock}{gap}{_add_noon(match['sp_end'])}{clock}"


def _write_five(match: re.Match[str], text: str) -> str | None:
    tens = _read(match, "fi_tens", text)
    is_number = text[match.end() - 3 : match.end()].lower() in ("lăm", "hăm")
    return str(int(tens) * 10 + 5) if is_number and tens is not None and 1 < tens < 10 else None


def _write_five_of(match: re.Match[str], text: str) -> str | None:
    before = fold_in_place(text[max(0, match.start() - 8) : match.start()])
    is_five = text[match.start() : match.end()].lower() == "năm" and _YEAR_BEFORE.search(before) is None
    return "5" if is_five else None


def _write_room(match: re.Match[str], text: str) -> str | None:
    before = fold_in_place(text[max(0, match.start() - 8) : match.start()])
    is_room = text[match.start()] == "P" and _BEFORE_ROOM.search(before) is not None
    return f"phòng {match['ro_number']}" if is_room else None


_WRITERS: dict[str, Callable[[re.Match[str], str], str | None]] = {
    "amount": _write_amount,
    "one_and_half": _write_one_and_half,
    "half": _write_half,
    "billion": _write_billion,
    "halved": _write_halved,
    "hundreds": _write_hundreds,
    "counted": _write_counted,
    "decimal": _write_tail,
    "hour": _write_hour,
    "mong": _write_first_days,
    "month": _write_month,
    "share": _write_share,
    "weekday": _write_weekday,
    "later": _write_later,
    "until": _write_until,
    "evening": _write_evening,
    "short_clock": _write_short_clock,
    "span": _write_span,
    "five": _write_five,
    "five_of": _write_five_of,
    "room": _write_room,
}
