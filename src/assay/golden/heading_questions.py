"""Questions that a document asks by itself (headings, bold lines of an FAQ), and abbreviations that it spells out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.golden.question_forms import DraftedQuestion, is_clear_question
from assay.text.languages import KnownLanguage
from assay.text.normalisation import fold_text
from assay.text.statements import Statement

MOST_ANSWER_SENTENCES, MOST_ANSWER_WORDS = 4, 90
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
    "API CC CD CPU CSS CSV DVD FAQ GPU HTML HTTP HTTPS ID IP IT JSON PC PDF RAM SQL TV UK UN URL US USA USB XML".split()  # noqa: SIM905
)
_SMALL_WORDS = frozenset("a an the of and for in on to by with và của cho các".split())  # noqa: SIM905


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
            answer = list(_take_paragraph(statements[number + 1 :], text, statement.end))
            yield from _read_answer(statement.text.removeprefix("Q:").strip(), answer, text, language)


_TASK = re.compile(
    r"(?:How to )?(?P<deed>(?:add|adjust|allow|apply|assign|back up|block|book|buy|calibrate|cancel|change|check|"
    r"choose|"
    r"clean|close|configure|connect|convert|copy|create|customi[sz]e|delete|disable|display|download|edit|enable|enter|"
    r"export|find|fix|format|get|hide|import|insert|install|invite|join|link|load|lock|log in|make|manage|measure|"
    r"merge|"
    r"mount|move|open|order|pay|play|prepare|print|protect|record|register|remove|rename|replace|report|request|reset|"
    r"resize|restart|restore|return|revoke|rotate|save|schedule|search|select|send|set|set up|share|show|sign|sort|"
    r"split|"
    r"start|stop|submit|switch|sync|take|test|transfer|turn|uninstall|unlock|update|upgrade|upload|use|view|write)\b"
    r"[^.:;?!()]{3,70})\Z",
    re.IGNORECASE,
)


def find_tasks(
    statements: Sequence[Statement], text: str, section: str, language: KnownLanguage
) -> Iterator[StatedAnswer]:
    """Yield how a task is done that a heading names ("Set an alarm") over numbered steps and nothing else."""
    match = _TASK.fullmatch(section) if language == "en" else None
    steps = [statement for statement in statements if statement.kind == "item"]
    if match is None or len(statements) > len(steps) + 1 or not FEWEST_STEPS <= len(steps) <= MOST_STEPS:
        return
    numbered = re.match(r"\d+[.)]\s", text[text.rfind("\n", 0, steps[0].start) + 1 :].lstrip())
    reference = " ".join(step.text for step in steps)
    question = f"How do I {match['deed'][:1].lower()}{match['deed'][1:]}?"
    is_whole = len(reference.split()) <= MOST_STEP_WORDS and not _POINTS_BACK.search(reference)
    if numbered is None or not is_whole or not is_clear_question(question, language, personal=True):
        return
    quote = text[steps[0].start : steps[-1].end]
    yield StatedAnswer(DraftedQuestion(question, reference, quote=quote), steps[0])


def _take_paragraph(statements: Sequence[Statement], text: str, end: int) -> Iterator[Statement]:
    for statement in statements:
        if "\n\n" in text[end : statement.start] or "\n**" in text[end : statement.start]:
            return
        yield statement
        end = statement.end


def _read_answer(
    question: str, answer: Sequence[Statement], text: str, language: KnownLanguage
) -> Iterator[StatedAnswer]:
    if not 1 <= len(answer) <= MOST_ANSWER_SENTENCES or any(part.kind == "row" for part in answer):
        return
    quote = text[answer[0].start : answer[-1].end]
    reference = " ".join(part.text for part in answer)
    is_whole = reference.endswith((".", "!")) and len(reference.split()) <= MOST_ANSWER_WORDS and len(reference) > 3
    asks = _ASKING[language].search(question) is not None and question.count("?") == 1 and "." not in question
    if not is_whole or not asks or _POINTS_BACK.search(reference) or "?" in reference:
        return
    if "\n\n" in quote or not is_clear_question(question, language, personal=True):
        return
    yield StatedAnswer(DraftedQuestion(question, reference, quote=quote), answer[0])


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
