"""Turns Vietnamese sentences into questions by fixed rules: how many, what a thing is, what must be done, what if.

Vietnamese asks where the answer stands ("tối đa bao nhiêu ngày"), so that most of the sentence stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from assay.golden.drafting.corpus_words import CorpusWords
from assay.golden.drafting.question_forms import (
    DraftedQuestion,
    capitalise,
    is_clear_question,
    is_plain_sentence,
    is_specific,
)
from assay.golden.drafting.question_templates import ask_under_heading
from assay.golden.drafting.vietnamese_denials import ask_whether_denied, part_adverbial
from assay.golden.drafting.vietnamese_facts import ask_about_end, is_room_or_time
from assay.text.normalisation import fold_text
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.unit_names import split_glued_units
from assay.text.quantities.units import PLAIN, SHARE
from assay.text.statements import Statement

_BAD_START = re.compile(
    r"(?:mặc dù|tuy|nhưng|và|hoặc|vì|do|bởi|nên|cho nên|vì thế|vì vậy|vậy|ngoài ra|hơn nữa|thông thường|thường|"
    r"nói chung|"
    r"đôi khi|có thể|có|không|chưa|đã|đang|sẽ|được|bị|phải|cần|hãy|đừng|xin|nhớ|lưu ý|chú ý|theo|tại|ở|trong|ngoài|"
    r"trên|"
    r"dưới|trước|sau|từ|đến|với|để|khi|nếu|trường hợp|mỗi|mọi|các|những|một|một số|một vài|nhiều|vài|hầu hết|tất cả|"
    r"cả hai|ai|gì|nào|đây|đó|này|nó|họ|chúng|bạn|mình|tôi|ta|người ta|điều|việc|cách|phần|bước|mục|chương|bảng|hình|"
    r"tài liệu|quy định|công thức|chính sách|hướng dẫn|phiên bản|văn bản|trang|thông tin|kết quả|nội dung|"
    r"chọn|bấm|nhấn|nhắp|dùng|sử dụng|mở|nhập|gõ|kéo|đặt|tạo|thêm|xoá|xóa|xem|gửi|chèn|hiển thị|hiện|cho|định nghĩa|"
    r"xác định|liệt kê|áp dụng|thay đổi|lưu|chuyển|tìm|kiểm tra|cài đặt|cài|thực hiện|bật|tắt|đánh dấu|di chuyển|"
    r"trả về|tính|muốn|ghi|gồm|bao gồm|chứa|cung cấp|hỗ trợ|quyết định|chỉ định|sửa|dán|cắt|bỏ|giữ|điền|sắp xếp|"
    r"so sánh|tải|thoát|đóng|tách|lấy|đưa|giới hạn|tự động|"
    r"mặc định|giá trị|chạy|khởi động|"
    r"riêng|bên cạnh|đối với|về|như|thật|chắc|dĩ nhiên|tương tự|cuối cùng|đầu tiên|tiếp theo|bằng|nhờ|qua|thay|ngay|"
    r"chỉ|cũng|vẫn|còn|hiện|nay|lúc|kể|tuỳ|tùy|vâng|rồi|thì|là|mà|ví dụ|chẳng hạn|tiêu đề|dòng|tính năng)\b",
    re.IGNORECASE,
)
_FEWEST_SUBJECT_WORDS, _MOST_SUBJECT_WORDS, _FEWEST_MEANING_WORDS = 2, 8, 8
_FEWEST_TOPIC_WORDS = 3
_DEONTIC = re.compile(
    r"\A(?P<subject>[^\W\d][^,.;:()?]{3,60}?) (?P<modal>không được|chỉ được|phải|bắt buộc phải|cần phải|cần) "
    r"(?P<rest>[^:;]{8,})\Z"
)
_CONDITION = re.compile(
    r"\A(?P<condition>(?:Khi|Nếu) [^,.;:()]{8,90}?)(?:,| thì) (?:thì )?(?P<subject>[^,.;:()]{2,50}?) ?"
    r"(?P<modal>phải|cần|không được|có thể|được|sẽ)\b"
)
_FEWEST_CONDITION_WORDS = 4
_HAPPENING = re.compile(
    r"\A(?:Nếu|Khi)\b|\b(?:quá|chậm|trễ|muộn|vi phạm|mất|vượt|thiếu|hết|chưa|không nộp|không trả|hư|hỏng)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"(?:hãy|bấm|nhấn|chọn|dùng|mở|bật|tắt|gõ|nhập|gọi|báo|lặp|kéo|đánh dấu|gửi|liên hệ|thực hiện|sử dụng|chạy|"
    r"kiểm tra|cài|thêm|xoá|xóa|tạo|quay|khởi động|phải|cần)\b"
)
_THEN = re.compile(r"\A(?P<condition>[^,.;:()]{12,90}?) thì (?P<rest>[^;:]{6,})\Z")
_MEANING = re.compile(r"\A(?P<term>[^\W\d][^,.;:()]{1,50}?) là (?P<meaning>[^:;]{20,})\Z")
_KIND_WORD = re.compile(
    r"(?:khoản|phần|số|tài liệu|chương trình|công cụ|tổ chức|người|đơn vị|tập hợp|tập|hệ thống|phương pháp|quá trình|"
    r"quy trình|hình thức|loại|dịch vụ|thiết bị|một|văn bản|giấy|mức|tháng|ngày|khoảng|cơ quan|công ty|nơi|bộ|gói|"
    r"phiên bản|ngôn ngữ|dự án|nhiệm vụ|hợp đồng|tên|cách|trạng thái|dạng|việc|quyền|chỉ số|tỷ lệ|chi phí|kỹ thuật)\b"
)
_NUMBER_START = re.compile(r"(?:\d[\d.,\s]*\d|\d)\s*")
_REFERENCE = re.compile(r"\b(?:mục|điều|khoản|bước|chương|phần|trang|dòng|phiên bản|bảng|hình|số|mức|bậc|cột)\s*$")
_SECOND_PART = re.compile(r",\s|\svà\s")
_CLASSIFIED = re.compile(
    r"mỗi (?:lần|người|xe|phòng|hộ|ca|buổi|suất) |(?:tối đa|tối thiểu|ít nhất|nhiều nhất|không quá|hơn|dưới|trên|"
    r"khoảng|gần|trong|sau|trước)?\s*\d",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:nó|họ|chúng)\b")
_CONNECTIVE = re.compile(
    r"^(?:tuy nhiên|ngoài ra|do đó|vì vậy|hiện nay|hiện tại|thông thường)\b[,:]?\s*", re.IGNORECASE
)


class VietnameseSentence(NamedTuple):
    """What the rules of one sentence share: its text, the words of the corpus, and if it is all that its chunk says."""

    text: str
    words: CorpusWords
    heading: str = ""
    is_alone: bool = False

    def finish(self, question: str, *must_have: str) -> DraftedQuestion | None:
        """Return a question about the sentence, None if it is not clear by itself."""
        asked = capitalise(" ".join(question.split())) + "?"
        if not is_clear_question(asked, "vi"):
            return None
        return DraftedQuestion(asked, self.text, tuple(filter(None, must_have)))


def ask_in_vietnamese(
    statement: Statement, words: CorpusWords, heading: str = "", *, is_alone: bool = False
) -> DraftedQuestion | None:
    """Return the first question that a rule makes of a sentence, None if none fits.

    >>> said = Statement("text", "Nhân viên được chuyển tối đa 5 ngày phép.", 0, 0)
    >>> ask_in_vietnamese(said, CorpusWords([])).question
    'Nhân viên được chuyển tối đa bao nhiêu ngày phép?'
    >>> said = Statement("text", "Khi có người kẹt, tổ kỹ thuật phải có mặt trong thang.", 0, 0)
    >>> ask_in_vietnamese(said, CorpusWords([])) is None  # no corpus says it
    True
    """
    text = _CONNECTIVE.sub("", split_glued_units(statement.text)).strip()
    text = capitalise(text)
    if not is_plain_sentence(text, "vi"):
        return None
    sentence = VietnameseSentence(text, words, heading, is_alone)
    for rule in _RULES:
        if rule is not _ask_reason and _PRONOUN.search(text):
            continue  # it may stand for something of another sentence
        asked = rule(sentence)
        if asked is not None:
            return asked if asked.reference != text else asked._replace(reference=statement.text)
    return None


def ask_quantity_in_vietnamese(sentence: VietnameseSentence) -> DraftedQuestion | None:
    """Return a question that asks for the one quantity of a sentence, None if the sentence fits no rule."""
    text = sentence.text
    measures = [measure for measure in find_measures(text) if not measure.date]
    if len(measures) != 1 or measures[0].is_range or measures[0].is_spelled_one:
        return None
    measure, plain = measures[0], text.rstrip(" .!")
    words = text[measure.start : measure.end]
    if measure.end > len(plain) or len(re.findall(r"\d[\d.,]*", text)) != 1 or _is_reference(text, measure):
        return None
    if _BAD_START.match(text) and not _CLASSIFIED.match(text):
        return None
    asked = "bao nhiêu phần trăm" if words.endswith("%") else _NUMBER_START.sub("bao nhiêu ", words, count=1)
    if asked == words or not _has_unit(measure, words, plain[measure.end :]):
        return None
    after = _SECOND_PART.split(plain[measure.end :], maxsplit=1)[0]
    if re.search(r"[;:()]", plain[: measure.end] + after):
        return None
    if _LASTING.search(plain[: measure.start]) and _AFTER_LASTING.match(after) and _is_lasting(measure):
        asked = "bao lâu"
    stated = words.lstrip("".join(letter for letter in words if not letter.isdigit()))
    drafted = sentence.finish(plain[: measure.start] + asked.strip() + after, stated)
    return _ask_in_section(drafted, sentence.heading) if _REFERS_BACK.match(text) else drafted


_LASTING = re.compile(
    r"\b(?:thời gian|thời hạn|thời lượng|hạn)\b[^,;]*?(?: là| mất| kéo dài)? ?\Z|\b(?:kéo dài|mất|có giá trị trong|"
    r"có hiệu lực trong|trong vòng) \Z",
    re.IGNORECASE,
)
_AFTER_LASTING = re.compile(r" *(?:\Z|(?:kể từ|tính từ|sau khi|trước khi|nếu|đối với)\b)")
"""Before and after an amount of time that one asks for by "how long" and not by how many units."""


def _is_lasting(measure: Quantity) -> bool:
    dimensions = {reading.dimension for reading in measure.readings}
    return bool(dimensions & {"duration", "calendar"})


def _is_reference(text: str, measure: Quantity) -> bool:
    return _REFERENCE.search(text[: measure.start].lower()) is not None


def _has_unit(measure: Quantity, words: str, after: str) -> bool:
    """Return whether a number counts something: it has a unit, or a noun right after it."""
    dimensions = {reading.dimension for reading in measure.readings}
    if dimensions & {SHARE} or dimensions != {PLAIN}:
        return True
    noun = _NUMBER_START.sub("", words, count=1).strip() or after.strip()
    return re.match(r"(?:người|lần|con|chiếc|máy|trang|bản|câu|cây|phòng|tầng|xe|thẻ|khách|chỗ|giấy|mẫu|ca|ký tự|"
                    r"thành viên|cán bộ|nhân viên|hộ|căn|suất|buổi|yêu cầu|tệp|gói|"
                    r"lít)\b", noun) is not None  # fmt: skip


def _is_subject(words: str) -> bool:
    count = len(words.split())
    if _BAD_START.match(words) or re.search(r"\b(?:và|hoặc|mà|là|không|được|phải|cần|bạn|khi|nếu|để|đã|sẽ)\b", words):
        return False
    return _FEWEST_SUBJECT_WORDS <= count <= _MOST_SUBJECT_WORDS


def _ask_condition(sentence: VietnameseSentence) -> DraftedQuestion | None:
    match = _CONDITION.match(sentence.text)
    if match is None or not is_specific(match["condition"], sentence.words):
        return None
    subject = match["subject"].strip()
    if not _is_subject(subject) or match["modal"] in ("có thể", "được", "sẽ"):
        return None
    asked = "không được làm gì" if match["modal"] == "không được" else "phải làm gì"
    return sentence.finish(f"{match['condition']}, {sentence.words.lower_first(subject)} {asked}")


def _ask_consequence(sentence: VietnameseSentence) -> DraftedQuestion | None:
    match = _THEN.match(sentence.text)
    if match is None or not is_specific(match["condition"], sentence.words) or " là " in match["condition"]:
        return None
    if len(match["condition"].split()) < _FEWEST_CONDITION_WORDS:
        return None
    if match["condition"].startswith("Muốn "):
        return sentence.finish(f"Làm thế nào để {match['condition'].removeprefix('Muốn ')}")
    begin = re.sub(r"\A(?:Nếu|Khi) ", "", match["condition"])
    if not _HAPPENING.search(match["condition"]) or _BAD_START.match(begin):
        return None
    asked = "phải làm gì" if _IMPERATIVE.match(match["rest"]) else "sao"
    return sentence.finish(f"{match['condition']} thì {asked}")


def _ask_meaning(sentence: VietnameseSentence) -> DraftedQuestion | None:
    match = _MEANING.match(sentence.text)
    if match is None or not _KIND_WORD.match(match["meaning"]) or _BAD_START.match(match["term"]):
        return None
    term = match["term"].strip()
    is_short = len(term.split()) <= 5 and not re.search(r"\b(?:không|được|phải|cần|mà|của|có|chỉ|cũng)\b", term)
    is_titled = fold_text(term) in fold_text(sentence.heading)
    if not is_short or (not is_titled and sentence.words.count_statements(term) > 4):
        return None
    if not is_titled and len(term.split()) < _FEWEST_TOPIC_WORDS and not sentence.words.is_name(term.split()[-1]):
        return None
    is_circular = match["meaning"].lower().startswith(" ".join(term.lower().split()[:2]))
    if is_circular or len(match["meaning"].split()) < _FEWEST_MEANING_WORDS:
        return None
    return sentence.finish(f"{sentence.words.lower_first(term)} là gì")


def _ask_rule(sentence: VietnameseSentence) -> DraftedQuestion | None:
    match = _DEONTIC.match(sentence.text)
    if match is None or not _is_subject(match["subject"]) or len(match["rest"].split()) < 3:
        return None
    if not is_specific(match["subject"], sentence.words):
        return None
    subject = sentence.words.lower_first(match["subject"])
    if (
        _is_actor(subject)
        and match["modal"] not in ("không được", "chỉ được")
        and not match["rest"].startswith("được ")
    ):
        return sentence.finish(f"{subject} phải làm gì")
    is_person = re.match(r"(?:trẻ|học sinh|sinh viên|bệnh nhân)\b", subject) is not None or _is_actor(subject)
    if match["modal"] not in ("không được", "chỉ được") or is_person or len(subject.split()) < _FEWEST_TOPIC_WORDS:
        return None
    return _ask_in_section(sentence.finish(f"Quy định về {subject} là gì"), sentence.heading)


def _ask_in_section(asked: DraftedQuestion | None, heading: str) -> DraftedQuestion | None:
    """Return a question with the heading that it is asked under, for words that say little by themselves."""
    if asked is None or not heading:
        return asked
    return asked._replace(question=ask_under_heading(asked.question, heading, "vi"))


_REASON = re.compile(
    r"\A(?P<main>[^;:()]{12,120}?),? (?:bởi vì|vì(?! vậy| thế)|để (?=tránh|tiết kiệm|bảo đảm|đảm bảo|phòng|giảm|ngăn))"
    r" ?[^;:()]{8,}\Z"
)
_PURPOSE = re.compile(
    r"\A(?P<subject>[^,.;:()]{3,60}?) (?P<used>được dùng để|dùng để|được sử dụng để|có nhiệm vụ|có tác dụng|cho phép) "
    r"(?P<rest>[^;:]{8,})\Z"
)
_DAY = r"ngày (?:\d{1,2}[/.-]\d{1,2}(?:[/.-]\d{4})?|\d{1,2} tháng \d{1,2}(?: năm \d{4})?)"
_FROM_DAY = re.compile(rf"\A(?:Kể từ|Từ) {_DAY}, (?P<rest>[^;:()]{{12,}})\Z")
_ON_DAY = re.compile(rf"(?P<preposition>vào|trước|từ|đến|sau|hết) (?P<day>{_DAY})")
_HOUR = r"\d{1,2}(?: giờ(?: \d{1,2})?|h\d{0,2}|:\d{2})"
_HOURS = re.compile(rf"từ {_HOUR} đến {_HOUR}")
_BY_WHOM = re.compile(
    r"\A(?P<subject>[^,.;:()]{4,60}?),? do (?P<agent>[^,.;:()]{4,50}?) (?P<verb>phụ trách|quản lý|bảo dưỡng|thực hiện|"
    r"ban hành|duyệt|ký|chủ trì|tổ chức|đảm nhiệm|vận hành|giữ|chi trả|cung cấp|lập|sở hữu|bảo trì|tài trợ)\b"
)


_FEWEST_REASONED_WORDS = 12
"""A clause of so many syllables says by itself what it is about; a shorter one needs a name or a number."""
_TOOL = re.compile(
    r"\A(?P<subject>(?:Lệnh|Chương trình|Gói|Gói phần mềm|Công cụ|Tệp|Tệp tin|Tập tin|Tuỳ chọn|Tùy chọn|Dịch vụ|Hàm|"
    r"Thư viện|Nút|Trình đơn|Thư mục|Biến|Trường|Mô-đun|Tiện ích|Ứng dụng|Phím) "
    r"(?P<name>[A-Za-z][A-Za-z0-9.+-]*(?: [A-Z][A-Za-z0-9.+-]*){0,2})) "
    r"(?P<verb>cung cấp|chứa|hiển thị|hiện|liệt kê|tạo|kiểm tra|quản lý|cấu hình|chuyển|ghi|xoá|xóa|in|trả về|"
    r"tính|giúp|cài đặt|cập nhật|lưu|mở|thêm|so sánh|đọc|gửi|thực hiện|xác định|mô tả|bật|tắt|tìm|biên dịch) "
    r"(?P<rest>[^;:]{15,})\Z"
)
_WISH = re.compile(
    r"\A(?:Nếu (?:bạn )?muốn|Để|Muốn) (?P<deed>[^,.;:()]{8,90}?)(?:, (?:thì )?|,? thì )(?:bạn )?"
    r"(?:hãy|có thể|cần|phải|nên|chỉ cần|bấm|nhấn|nhắp|nháy|chọn|dùng|sử dụng|chạy|mở|gõ|nhập|kéo|vào|đánh dấu)\b"
    r"[^;:]{8,}\Z"
)
_MEANS = re.compile(r"\A(?:Bạn có thể|Có thể) (?P<deed>[^,.;:()]{8,90}?) bằng cách [^;:]{8,}\Z")
_FEWEST_DEED_WORDS = 4
_LOCAL_DEED = re.compile(r"\b(?:nào|gì|hiện tại|hiện thời|hiện có|được chọn|đã chọn|vừa)\b")
_BARE_DEED = re.compile(r"(?:làm|được|có|là|biết|hiểu|xem|tránh|đảm bảo|bảo đảm|giúp|như|thế|vậy|trở)\b")


def _names_something(text: str, words: CorpusWords) -> bool:
    """Return whether a text has a number, or a name: a word in upper case after the first."""
    is_named = any(part[:1].isupper() and words.is_name(part) for part in text.split()[1:])
    return is_named or re.search(r"\d|\bsố (?:một|hai|ba|bốn|năm|sáu|bảy|tám|chín|mười)\b", text) is not None


def _ask_function(sentence: VietnameseSentence) -> DraftedQuestion | None:
    """Ask what a tool does: "Lệnh debuild chạy …"."""
    match = _TOOL.match(sentence.text)
    if match is None:
        return None
    is_titled = fold_text(match["name"]) in fold_text(sentence.heading)
    if not is_titled and sentence.words.count_statements(match["name"]) > MOST_ABOUT_A_TOOL:
        return None
    return sentence.finish(f"{match['subject']} dùng để làm gì")


MOST_ABOUT_A_TOOL = 6
"""The largest number of statements with the name of a tool for which one of them says what it does."""


def _ask_how(sentence: VietnameseSentence) -> DraftedQuestion | None:
    """Ask how something is done: "Để chèn một hàng, hãy …"."""
    match = _WISH.match(sentence.text)
    match = match or _MEANS.match(sentence.text)
    if match is None or len(match["deed"].split()) < _FEWEST_DEED_WORDS or _BARE_DEED.match(match["deed"]):
        return None
    if not is_specific(match["deed"], sentence.words) or _LOCAL_DEED.search(match["deed"]):
        return None
    return sentence.finish(f"Làm thế nào để {match['deed']}")


def _ask_reason(sentence: VietnameseSentence) -> DraftedQuestion | None:
    match = _REASON.match(sentence.text)
    if match is None or not _begins_well(match["main"]) or len(match["main"].split()) < 5:
        return None
    if match["main"].endswith((" là", " có")) or "," in match["main"] or re.search(r"\bđã\b", match["main"]):
        return None
    if len(match["main"].split()) < _FEWEST_REASONED_WORDS and not _names_something(match["main"], sentence.words):
        return None
    return sentence.finish(f"Vì sao {sentence.words.lower_first(match['main'])}")


def _ask_purpose(sentence: VietnameseSentence) -> DraftedQuestion | None:
    match = _PURPOSE.match(sentence.text)
    topic = match["subject"].removesuffix(" chỉ") if match is not None else ""
    if topic.endswith((" cần", " phải", " nên")):
        return None
    if match is None or not _begins_well(topic) or sentence.words.count_statements(topic) > 3:
        return None
    if len(match["subject"].split()) > _MOST_SUBJECT_WORDS or re.search(
        r"\b(?:không|mà|có thể|sẽ)\b", match["subject"]
    ):
        return None
    asked = "cho phép làm gì" if match["used"] == "cho phép" else f"{match['used']} làm gì"
    return sentence.finish(f"{match['subject']} {'có nhiệm vụ gì' if 'nhiệm vụ' in match['used'] else asked}")


_REFERS_BACK = re.compile(r"(?:Số|Phần|Mức|Khoản|Những|Các) [^,.;:()]{2,30}? (?:được|đã|bị|còn|chưa) ")
"""How a sentence begins that speaks of something which its section has told: "Số ngày được chuyển …"."""


def _ask_day(sentence: VietnameseSentence) -> DraftedQuestion | None:
    text = sentence.text.rstrip(" .!")
    since = _FROM_DAY.match(text)
    if since is not None:
        return sentence.finish(f"Từ khi nào {sentence.words.lower_first(since['rest'])}")
    days = list(_ON_DAY.finditer(text))
    if len(days) != 1 or not _begins_well(text) or "," in text or text[days[0].end() : days[0].end() + 1].isdigit():
        return None
    asked = f"{text[: days[0].start()]}{days[0]['preposition']} ngày nào{text[days[0].end() :]}"
    drafted = sentence.finish(asked, days[0]["day"].removeprefix("ngày "))
    return _ask_in_section(drafted, sentence.heading) if _REFERS_BACK.match(text) else drafted


def _ask_hours(sentence: VietnameseSentence) -> DraftedQuestion | None:
    text = sentence.text.rstrip(" .!")
    match = _HOURS.search(text)
    if match is None or len(_HOURS.findall(text)) != 1 or not _begins_well(text) or "," in text[: match.start()]:
        return None
    after = text[match.end() :].partition(",")[0]
    return sentence.finish(f"{text[: match.start()]}từ mấy giờ đến mấy giờ{after}", *re.findall(_HOUR, match[0]))


def _ask_by_whom(sentence: VietnameseSentence) -> DraftedQuestion | None:
    match = _BY_WHOM.match(sentence.text)
    if match is None or not _begins_well(match["subject"]) or re.search(r"\b(?:và|hoặc|mà|là|có)\b", match["subject"]):
        return None
    if is_room_or_time(match["agent"]):
        return None
    body = r"(?:công ty|phòng|ban|bộ phận|(?-i:Bộ)|đơn vị|tổ|nhóm|trung tâm|cơ quan)\b"
    is_body = re.match(body, match["agent"], re.IGNORECASE)
    asked = "đơn vị nào" if is_body else "ai"
    subject = sentence.words.lower_first(match["subject"])
    return sentence.finish(f"{subject} do {asked} {match['verb']}", match["agent"])


def _begins_well(words: str) -> bool:
    return _BAD_START.match(words) is None and len(words.split()) >= _FEWEST_SUBJECT_WORDS


def _is_actor(subject: str) -> bool:
    return re.match(
        r"(?:nhân viên|người|khách|cư dân|chủ|quản lý|trưởng|thành viên|ban|tổ|đội|phòng)\b", subject
    ) is not None and not is_room_or_time(subject)


_SECOND_PREDICATE = re.compile(
    r",? và (?=(?:được|phải|không|có|sẽ|đóng|mở|bắt đầu|kết thúc|kéo dài|diễn ra|nộp|gửi|trả|nhận|nghỉ|đặt|nằm|do)\b)"
)


_DENIED = re.compile(r"\b(?:không(?! được\b| quá\b)|chưa|chẳng)\b")


def _ask_end(sentence: VietnameseSentence) -> DraftedQuestion | None:
    """Ask for the time, place or person that ends a sentence, under its heading if its chunk says more than that."""
    if _BAD_START.match(sentence.text) or not (sentence.is_alone or _is_distinctive(sentence)):
        return None
    text = _SECOND_PREDICATE.split(sentence.text, maxsplit=1)[0]
    asked = ask_about_end(text) if not _DENIED.search(text) else None
    if asked is None or not is_specific(text.replace(asked[1], ""), sentence.words):
        return None
    whole = sentence if text == sentence.text else sentence._replace(text=f"{text}.")
    return _lead_with_section(whole.finish(*asked), sentence)


_HOLDER = re.compile(
    r"(?P<role>(?:Trưởng|Phó|Tổng|Giám đốc|Quản lý|Chủ nhiệm|Chủ tịch|Hiệu trưởng|Người|Cán bộ|Nhân viên|Thủ thư|Y tá|"
    r"Bác sĩ|Điều phối viên|Huấn luyện viên)[^,.;:()]{0,40}?) là (?:(?:ông|bà|anh|chị|cô|thầy|ThS|TS|PGS|GS)\.? )?"
    r"(?P<name>[^\W\d_a-z]\w+(?: [^\W\d_a-z]\w*){1,4})\.?\Z"
)


def _ask_role_holder(sentence: VietnameseSentence) -> DraftedQuestion | None:
    """Ask who holds a role: "Trưởng ban quản lý là ông Nguyễn Văn Hùng"."""
    match = _HOLDER.match(sentence.text)
    if match is None or not match["name"].istitle() or not (sentence.is_alone or _is_distinctive(sentence)):
        return None
    drafted = sentence.finish(f"ai là {sentence.words.lower_first(match['role'])}", match["name"])
    return _lead_with_section(drafted, sentence)


def _ask_denial(sentence: VietnameseSentence) -> DraftedQuestion | None:
    """Ask whether something is so that a sentence denies: "Mật khẩu không được viết ra giấy"."""
    asked = ask_whether_denied(sentence.text)
    if asked is None or not _is_subject(asked.subject) or not (sentence.is_alone or _is_distinctive(sentence)):
        return None
    if not is_specific(sentence.text, sentence.words):
        return None
    drafted = sentence.finish(sentence.words.lower_first(asked.question), asked.denied)
    return _lead_with_section(drafted, sentence)


def _ask_with_adverbial(sentence: VietnameseSentence) -> DraftedQuestion | None:
    """Ask about a sentence that says first for when it holds: "Khi có còi báo động, hành khách tập trung tại …"."""
    parted = part_adverbial(sentence.text)
    if parted is None or not (sentence.is_alone or _is_distinctive(sentence)):
        return None
    adverbial, main = parted
    rest = sentence._replace(text=capitalise(main), is_alone=True)
    for rule in (ask_quantity_in_vietnamese, _ask_hours, _ask_end, _ask_denial):
        asked = rule(rest)
        if asked is not None and "“" not in asked.question:
            begun = rest.words.lower_first(asked.question.removesuffix("?"))
            return _lead_with_section(sentence.finish(f"{adverbial}, {begun}", *asked.must_have), sentence)
    return None


def _is_distinctive(sentence: VietnameseSentence) -> bool:
    heading = sentence.heading
    return bool(heading) and not heading.endswith("?") and not sentence.words.is_repeated_heading(heading)


def _lead_with_section(asked: DraftedQuestion | None, sentence: VietnameseSentence) -> DraftedQuestion | None:
    if asked is None or sentence.is_alone or fold_text(sentence.heading) in fold_text(asked.question):
        return asked
    return _ask_in_section(asked, sentence.heading)


_RULES: tuple[Callable[[VietnameseSentence], DraftedQuestion | None], ...] = (
    ask_quantity_in_vietnamese,
    _ask_how,
    _ask_function,
    _ask_condition,
    _ask_day,
    _ask_hours,
    _ask_reason,
    _ask_purpose,
    _ask_by_whom,
    _ask_meaning,
    _ask_consequence,
    _ask_rule,
    _ask_role_holder,
    _ask_end,
    _ask_denial,
    _ask_with_adverbial,
)
