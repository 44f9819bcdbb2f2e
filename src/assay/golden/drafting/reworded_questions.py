"""Turns questions into other words of the same sense by fixed rules."""

from __future__ import annotations

import re

from assay.golden.drafting.question_forms import capitalise
from assay.golden.lint_evidence import list_content_words
from assay.text.languages import KnownLanguage

_SYNONYMS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (r"^what does (\S+) stand for", r"what is the full form of \1"),
        (r"what is the (?:list )?price (?:of|for)", "how much does one pay for"),
        (r"what is the weight of", "how heavy is"),
        (r"what is the noise level of", "how loud is"),
        (r"what is the tank volume of", "how much fuel fits into the tank of"),
        (r"^what should I do (if|when)", r"what would you advise \1"),
        (r"^what happens if", "what are the consequences if"),
        (r"^what happens to", "what becomes of"),
        (r"^what must be done with", "how must one deal with"),
        (r"^why ", "for what reason "),
        (r"^how often", "at what intervals"),
        (r"^under what condition", "in which case"),
        (r"^who is ([^?]+)", r"who exactly is \1"),
        (
            r"^what (?:is|are) (?!the\b)(?![^?]{1,80} (?:for|in|on|of|by|to|as|with|from|called)\?)"
            r"((?-i:[a-z])[^?]{1,60})\?",
            r"what is meant by \1?",
        ),
        (r"within how many (days|hours|minutes)", r"at the latest after how many \1"),
    ),
    "vi": (
        (r"là viết tắt của cụm từ nào", "viết đầy đủ là gì"),
        (r"nghĩa là gì", "được hiểu thế nào"),
        (r"^thời gian (.+) là bao lâu", r"thời gian \1 kéo dài bao lâu"),
        (r"^ai là", "người nào là"),
        (r"thì sao\b", "thì sẽ thế nào"),
        (r"phải làm gì\b", "cần làm gì"),
        (r"^quy định về (.+) là gì", r"có quy định gì về \1"),
        (r"cập nhật tiếp theo", "lần báo tin sau đó"),
        (r"dấu hiệu", "biểu hiện"),
        (r"nhân viên toàn thời gian", "người đi làm đủ giờ"),
        (r"^((?:(?!đối với|ví dụ| của |dấu hiệu)[^?]){3,40}) là gì\b", r"\1 được hiểu là gì"),
    ),
}
"""Other words for what the templates ask, in the order in which they are tried; words in quotation marks stay."""


def reword_question(question: str, language: KnownLanguage) -> str | None:
    """Return a question in other words, None if none are known for it; words in quotation marks stay.

    >>> reword_question("What does PTO stand for?", "en")
    'What is the full form of PTO?'
    """
    parts = re.split(r"(“[^“”]*”)", question)
    for index in range(0, len(parts), 2):
        for pattern, other in _SYNONYMS[language]:
            changed = re.sub(pattern, other, parts[index], count=1, flags=re.IGNORECASE)
            if changed != parts[index]:
                parts[index] = changed
                reworded = capitalise("".join(parts))
                return reworded if is_other_wording(question, reworded) else None
    return None


FEWEST_CHANGED = 0.4
"""The share of a question's words, but names, codes and quotations, that a paraphrase must replace."""


def is_other_wording(question: str, reworded: str) -> bool:
    """Return whether a question is in other words: not "For what reason …" before the document's own sentence.

    >>> is_other_wording("What does PTO stand for?", "What is the full form of PTO?")
    True
    >>> is_other_wording("Why must rabbits never be fasted?", "For what reason must rabbits never be fasted?")
    False
    """
    own, other = _list_common_words(question), _list_common_words(reworded)
    return bool(own) and len(own - other) >= FEWEST_CHANGED * len(own)


def _list_common_words(question: str) -> frozenset[str]:
    """Return the content words of a question, without names, codes, numbers and quotations."""
    plain = re.sub(r"“[^“”]*”", " ", question)
    plain = plain[:1].lower() + plain[1:]
    return list_content_words(
        " ".join(word for word in plain.split() if word == word.lower() and not re.search(r"\d", word))
    )
