"""Turns items of a list of terms into questions: "What does “PTO” mean?"."""

from __future__ import annotations

import re

from assay.golden.drafting.question_forms import DraftedQuestion
from assay.golden.drafting.table_headers import CODE, LINK
from assay.text.languages import KnownLanguage
from assay.text.statements import Statement

_MOST_TERM_WORDS = 4
_DEFINITION = re.compile(r"(?P<term>[^:.!?]{2,60}?)\s*(?::|\s[–—-])\s+(?P<meaning>\S.{9,})", re.DOTALL)
_GLOSSARY = re.compile(
    r"\b(?:glossary|terms|terminology|definitions?|vocabulary|abbreviations|acronyms|codes?|thuật ngữ|định nghĩa|"
    r"từ viết tắt|viết tắt|khái niệm|mã)\b",
    re.IGNORECASE,
)
_NO_TERM = re.compile(
    r"\b(?:what|which|who|nothing|everything|nobody|everybody|not|never|no|decides?|makes?|puts?|is|are|was|were|"
    r"may|can|"
    r"must|should|will)\b|^(?:it|they|this|so|where|only|then|here|few|each|several|every|all|any|both|most|many|other|"
    r"such|more|without|note|example|step|tip|warning)\b|,",
    re.IGNORECASE,
)
_VIETNAMESE_CASE = re.compile(r"(?:từ|quá|dưới|trên|nghỉ|khi|nếu|mất|chậm|muộn|trễ|hơn|sau|trước|đi)\b", re.IGNORECASE)
_VIETNAMESE_INCIDENT = re.compile(r"(?:quá hạn|nghỉ|mất|chậm|muộn|trễ|vi phạm)\b", re.IGNORECASE)


def ask_definition(statement: Statement, subject: str, language: KnownLanguage) -> DraftedQuestion | None:
    """Return a question about an item of the form "term: meaning", None if it is no term that has a meaning.

    >>> item = Statement("item", "PTO: paid time off for private matters", 0, 0)
    >>> ask_definition(item, "Terms", "en").question
    'What does “PTO” mean?'
    """
    match = _DEFINITION.fullmatch(statement.text)
    if match is None or statement.kind != "item" or len(match["meaning"].split()) < 3:
        return None
    term, meaning = match["term"].strip(), match["meaning"]
    if LINK.search(statement.text) or re.search(r"[{}\[\]<>|=\\()]", term) or _POINTS.search(statement.text):
        return None
    is_code = CODE.fullmatch(term) is not None
    is_listed = _GLOSSARY.search(subject) is not None
    if language == "vi":
        question = _ask_vietnamese_term(term, meaning, subject, is_listed or is_code)
    else:
        is_coded = CODE.fullmatch(term.split()[0]) is not None and any(map(str.isdigit, term))
        is_term = not _NO_TERM.search(term) and len(term.split()) <= _MOST_TERM_WORDS
        question = f"What does “{term}” mean?" if is_term and (is_listed or is_coded) else None
    ends_well = statement.text.endswith((".", ")")) or statement.text.rstrip("*_ ")[-1:].isalnum()
    if question is None or not ends_well:
        return None
    return DraftedQuestion(question, statement.text, (), is_code)


_POINTS = re.compile(r"\b(?:below|above|following|dưới đây|sau đây|ở trên)\b", re.IGNORECASE)


def _ask_vietnamese_term(term: str, meaning: str, subject: str, is_listed: bool) -> str | None:
    if is_listed:
        return f"“{term}” nghĩa là gì?"
    is_case = _VIETNAMESE_CASE.match(term) is not None and any(map(str.isdigit, term))
    if not (is_case or _VIETNAMESE_INCIDENT.match(term)) or not subject:
        return None
    asked = "thì phải làm gì" if re.match(r"(?:phải|cần|bắt buộc)\b", meaning) else "thì điều gì xảy ra"
    return f"Theo quy định về “{subject}”, {term[:1].lower()}{term[1:]} {asked}?"
