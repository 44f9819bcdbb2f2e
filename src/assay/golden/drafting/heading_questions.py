"""Questions that a document asks by itself (headings, bold lines of an FAQ), and abbreviations that it spells out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.golden.drafting.question_forms import DraftedQuestion, is_clear_question, is_whole_text
from assay.text.languages import KnownLanguage, has_diacritics
from assay.text.normalisation import fold_text
from assay.text.statements import Statement

MOST_ANSWER_SENTENCES, MOST_ANSWER_WORDS = 5, 100
FEWEST_STEPS, MOST_STEPS, MOST_STEP_WORDS = 2, 9, 140
_ASKING = {
    "en": re.compile(
        r"\A(?:how|what|when|where|who|whom|whose|which|why|can|could|do|does|did|is|are|may|must|should|will|am|has|"
        r"have)\b",
        re.IGNORECASE,
    ),
    "vi": re.compile(r"\b(?:gì|nào|sao|đâu|ai|bao|mấy|không|chưa|thế nào|khi nào|lúc nào)\b", re.IGNORECASE),
}
_POINTS_BACK = re.compile(
    r"^(?:here|this|these|that|those|because of this)\b|\b(?:above|below|following|see|previous|next section|"
    r"section|chapter|table|figure|as follows|e\.g|this question|"
    r"dưới đây|sau đây|như sau|ở trên|xem|bảng|hình)\b|[{}<>|\\=]|https?:",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(r"(?P<words>[^\W\d_][^().,;:!?|]{4,90}?) \((?P<short>[A-ZĐ][A-ZĐ0-9&]{1,7})\)")
_BEFORE_NAME = re.compile(r"(?<![\w.-])(?P<short>[A-ZĐ][A-ZĐ0-9&]{1,7}) \((?P<words>[^\W\d_][^().;:!?|]{4,90}?)\)")
_COMMON_KNOWLEDGE = frozenset(
    "API CC CD CPU CSS CSV DVD FAQ GPU HTML HTTP HTTPS ID IP IT JSON PC PDF RAM SQL TV UK UN URL US USA USB XML".split()
)
_SMALL_WORDS = frozenset("a an the of and for in on to by with và của cho các".split())


class StatedAnswer(NamedTuple):
    """A question that a document asks, the statement that begins its answer, and the whole answer."""

    asked: DraftedQuestion
    statement: Statement


def find_asked_questions(
    statements: Sequence[Statement], text: str, section: str, language: KnownLanguage
) -> Iterator[StatedAnswer]:
    """Yield the questions of headings and of bold lines whose whole answer is short."""
    heading = section.strip()
    if heading.endswith("?") and statements and statements[0].heading in ("", statements[-1].heading):
        yield from _read_answer(heading, statements, text, language)
    for number, statement in enumerate(statements):
        raw = text[statement.start : statement.end].lstrip()
        if statement.text.endswith("?") and raw.startswith(("**", "Q:", "__")):
            answer = list(_take_answer(statements[number + 1 :], text))
            yield from _read_answer(statement.text.removeprefix("Q:").strip(), answer, text, language)


_DEEDS = re.findall(
    r"\w+",
    """
    add adjust allow apply assign block book buy calibrate cancel change check choose clean close compare configure
    connect convert copy create customise customize delete disable display download edit enable enter export find fix
    format get hide import insert install invite join link list load lock make manage mark measure merge mount move
    open order organise organize pay play prepare print protect record register remove rename replace report request
    reset resize restart restore return revoke rotate save schedule search select send set share show sign sort split
    start stop submit switch sync take test transfer turn uninstall unlock update upgrade upload use view write
    """,
)
_DOUBLED = frozenset(("get", "set", "split", "stop", "submit", "transfer"))
_VIETNAMESE_DEED = re.compile(
    r"(?:Cách (?:để )?|Làm thế nào để )?(?P<deed>(?:tạo|thêm|xoá|xóa|chèn|sửa|thay đổi|đổi|chọn|mở|đóng|lưu|in|"
    r"sao chép|di chuyển|bật|tắt|cài đặt|cài|gỡ|thiết lập|đặt|kết nối|tìm|tìm kiếm|sử dụng|dùng|nhập|xuất|kiểm tra|"
    r"gửi|khoá|khóa|mở khoá|mở khóa|kích hoạt|tuỳ chỉnh|tùy chỉnh|điều chỉnh|định dạng|áp dụng|tính|lập|đăng ký|"
    r"đăng nhập|gia hạn|huỷ|hủy|chuyển|chuyển đổi|hiện|hiển thị|ẩn|gộp|tách|nối|sắp xếp|lọc|gán|bảo vệ|ghi|quay|chụp|"
    r"chia sẻ|tải|tải về|khôi phục|sao lưu|cập nhật|nâng cấp|thay thế|định nghĩa|xác định|giới hạn|đánh số|liên kết|"
    r"nhân bản|xoay|thay|"
    r"vẽ|bỏ|cho phép|ngăn) [^.:;?!()]{3,70})\Z",
    re.IGNORECASE,
)


def _make_gerund(verb: str) -> str:
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ing"
    return f"{verb.removesuffix('e')}ing"


_BASE_OF_GERUND = {_make_gerund(verb): verb for verb in _DEEDS}
_TASK = re.compile(
    rf"(?:How to )?(?P<verb>{'|'.join(sorted((*_DEEDS, *_BASE_OF_GERUND), key=len, reverse=True))})\b"
    r"(?P<rest> (?!and\b|or\b)[^.:;?!()]{3,70})\Z",
    re.IGNORECASE,
)


def find_tasks(
    statements: Sequence[Statement], text: str, section: str, language: KnownLanguage
) -> Iterator[StatedAnswer]:
    """Yield how a task is done that a heading names ("Setting an alarm") over numbered steps and nothing else."""
    question = ask_for_steps(section, language)
    steps = [statement for statement in statements if statement.kind == "item"]
    if question is None or len(statements) > len(steps) + 1 or not FEWEST_STEPS <= len(steps) <= MOST_STEPS:
        return
    quote = text[steps[0].start : steps[-1].end]
    begin = text.rfind("\n", 0, steps[0].start) + 1
    lines = [line for line in text[begin : steps[-1].end].split("\n") if line.strip()]
    reference = " ".join(step.text for step in steps)
    is_whole = len(reference.split()) <= MOST_STEP_WORDS and not _POINTS_BACK.search(reference)
    is_whole &= all(is_whole_text(step.text, language) for step in steps)
    if not is_whole or not all(re.match(r"\s*\d+[.)]\s|\s+\S", line) for line in lines) or "```" in text:
        return
    if statements[-1] is not steps[-1]:
        return
    if statements[0] is not steps[0] and not (statements[0].text.endswith(":") or language == "vi"):
        return  # what is said before the steps may be a part of the answer
    if not is_clear_question(question, language, personal=True):
        return
    yield StatedAnswer(DraftedQuestion(question, reference, quote=quote), steps[0])


def ask_for_steps(heading: str, language: KnownLanguage) -> str | None:
    """Return the question that a heading over steps answers, None if it names no task.

    >>> [ask_for_steps(heading, "en") for heading in ("Adding a column", "Set an alarm", "Columns")]
    ['How do I add a column?', 'How do I set an alarm?', None]
    >>> ask_for_steps("Tạo mục lục", "vi")
    'Làm thế nào để tạo mục lục?'
    """
    if language == "vi":
        named = _VIETNAMESE_DEED.fullmatch(heading)
        return f"Làm thế nào để {named['deed'][:1].lower()}{named['deed'][1:]}?" if named is not None else None
    match = _TASK.fullmatch(heading)
    if match is None:
        return None
    verb = match["verb"].lower()
    return f"How do I {_BASE_OF_GERUND.get(verb, verb)}{match['rest']}?"


_GLOSSARY = re.compile(
    r"\b(?:glossary|terminology|definitions?|abbreviations|acronyms|thuật ngữ|định nghĩa|từ viết tắt)\b", re.IGNORECASE
)
_DEFINES = re.compile(
    r"\b(?:is|are|means?|refers? to|stands? for|describes?|denotes?|là|tham chiếu đến|đại diện|chỉ|được hiểu là)\b"
)
_ADDRESSES = re.compile(r"(?:you|to|if|when|use|some|for|in|bạn|để|nếu|khi|muốn|dùng|trong|một số)\b", re.IGNORECASE)
MOST_TERM_WORDS = 4


def find_glossary_entry(
    statements: Sequence[Statement], text: str, section: str, language: KnownLanguage
) -> Iterator[StatedAnswer]:
    """Yield what a term means that is a heading of its own in a glossary."""
    upper, _, term = section.rpartition(" > ")
    term = re.sub(r"^[\d.]+\s+", "", term).strip(" ¶")
    is_term = len(term.split()) <= MOST_TERM_WORDS and re.fullmatch(r"[^\W_][\w\s./+-]+", term) is not None
    if not _GLOSSARY.search(upper) or not is_term or not 1 <= len(statements) <= MOST_ANSWER_SENTENCES:
        return
    if statements[0].text.endswith(":") or any(part.kind != "text" for part in statements):
        return
    first = statements[0].text
    defines = fold_text(term) in fold_text(first) and _DEFINES.search(first) is not None and not _ADDRESSES.match(first)
    if not defines or (language == "en" and has_diacritics(term)):
        return
    reference = " ".join(part.text for part in statements)
    is_whole = is_whole_text(reference, language) and len(reference.split()) <= MOST_ANSWER_WORDS
    if not is_whole or _POINTS_BACK.search(reference) or _follows_code(text, statements):
        return
    question = f"“{term}” nghĩa là gì?" if language == "vi" else f"What does “{term}” mean?"
    quote = text[statements[0].start : statements[-1].end]
    yield StatedAnswer(DraftedQuestion(question, reference, quote=quote), statements[0])


_ASKS_FOR_STEPS = re.compile(r"(?:How (?:can|do) I|What should I do|Làm thế nào để)\b")
_GOES_ON = {
    "en": re.compile(
        rf"(?:then|next|after that|afterwards|now|finally|you (?:can|may|must|should|need|will)|click|press|drag|type|"
        rf"hold|repeat|wait|tap|right-click|double-click|release|{'|'.join(_DEEDS)})\b",
        re.IGNORECASE,
    ),
    "vi": re.compile(
        r"(?:sau đó|tiếp theo|rồi|kế tiếp|cuối cùng|bây giờ|bạn (?:có thể|cần|phải|nên)|nhấn|bấm|nháy|nhắp|kéo|gõ|"
        r"chọn|giữ|nhả|thả|lặp|đợi|chờ|mở|nhập|hãy|dùng|đánh dấu|vào)\b",
        re.IGNORECASE,
    ),
}


def goes_on(question: str, following: str, language: KnownLanguage) -> bool:
    """Return whether the sentence after an answer is its next step, so that the answer alone is not whole.

    >>> goes_on("How can I draw a pie?", "Then click.", "en"), goes_on("How can I draw a pie?", "Pies are round.", "en")
    (True, False)
    """
    return _ASKS_FOR_STEPS.match(question) is not None and _GOES_ON[language].match(following) is not None


def _take_answer(statements: Sequence[Statement], text: str) -> Iterator[Statement]:
    """Yield the statements up to the next heading or bold line."""
    for statement in statements:
        raw = text[statement.start : statement.end].lstrip()
        if statement.heading != statements[0].heading or raw.startswith(("**", "Q:", "__")):
            return
        yield statement


def _read_answer(
    question: str, answer: Sequence[Statement], text: str, language: KnownLanguage
) -> Iterator[StatedAnswer]:
    if not 1 <= len(answer) <= MOST_ANSWER_SENTENCES or any(part.kind != "text" for part in answer):
        return
    quote = text[answer[0].start : answer[-1].end]
    reference = " ".join(part.text for part in answer)
    is_whole = is_whole_text(reference, language) and len(reference.split()) <= MOST_ANSWER_WORDS
    asks = _ASKING[language].search(question) is not None and question.count("?") == 1 and "." not in question
    if not is_whole or not asks or _POINTS_BACK.search(reference) or "?" in reference or _follows_code(text, answer):
        return
    if not is_clear_question(question, language, personal=True):
        return
    yield StatedAnswer(DraftedQuestion(question, reference, quote=quote), answer[0])


def _follows_code(text: str, answer: Sequence[Statement]) -> bool:
    """Return whether code or an image belongs to an answer, which its sentences leave out."""
    behind = text[answer[-1].end :].lstrip(" \n*_")
    return re.search(
        r"```|!\[|\n {4}\S", text[answer[0].start : answer[-1].end] + "\n"
    ) is not None or behind.startswith(("```", "    ", "![", "- ", "|"))


# ── abbreviations ────────────────────────────────────────────────────────────────────────────────────────────────────


def ask_abbreviations(statement: Statement, language: KnownLanguage) -> Iterator[DraftedQuestion]:
    """Yield what abbreviations stand for that a statement spells out; their letters must be those of the words.

    >>> said = Statement("text", "X-rays are kept in PACS (Picture Archiving and Communication System).", 0, 0)
    >>> [(asked.question, asked.must_have) for asked in ask_abbreviations(said, "en")]
    [('What does PACS stand for?', ('Picture Archiving and Communication System',))]
    """
    for pattern in (_BEFORE_NAME, _AFTER_NAME):
        for match in pattern.finditer(statement.text):
            full = find_full_name(match["short"], match["words"])
            if full is None or match["short"] in _COMMON_KNOWLEDGE:
                continue
            if language == "vi":
                question = f"{match['short']} là viết tắt của cụm từ nào?"
            else:
                question = f"What does {match['short']} stand for?"
            yield DraftedQuestion(question, f"{match['short']}: {full}", (full,), is_code=True)


def find_full_name(short: str, words: str) -> str | None:
    """Return the last words whose first letters are those of an abbreviation, None if there are none.

    >>> find_full_name("VDI", "has to be reported to the Veterinary Drugs Inspectorate")
    'Veterinary Drugs Inspectorate'
    """
    letters = re.sub(r"[^a-z]", "", fold_text(short))
    parts = words.split()
    for begin in range(len(parts) - 1, -1, -1):
        tail = parts[begin:]
        if fold_text(tail[0]) in _SMALL_WORDS:
            continue
        initials = "".join(fold_text(part)[:1] for part in tail if fold_text(part) not in _SMALL_WORDS)
        if initials == letters and len(letters) >= 2:
            return re.sub(r"['’]s\Z", "", " ".join(tail))
    return None
