"""Whether an answer makes a claim in addition to its refusal.

A claim is a number, or enough words that are not an apology, an offer or advice. Texts are folded (`clauses.prepare`).
After a refusal, a clause with a contrast ("but …") needs only half as many words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.metrics.behaviour_lexicon import STOP_WORDS
from assay.metrics.clauses import clauses

_ENGLISH_CLAIM, _VIETNAMESE_CLAIM = 4, 7  # words of a claim; Vietnamese separates syllables by spaces
WORD = re.compile(r"[^\W_]++")
_NUMBER = re.compile(r"(?<![\w\[-])(?<!\[)[$€£]?\d")
_ECHO = re.compile(r"\b(?:you (?:have )?asked|your question|cau hoi cua ban|ban (?:da |vua )?hoi)\b")
_CITATION = re.compile(r"\[[\d, ]{1,40}\]")
_CONTACTS = re.compile(
    r"\b(?:contact|reach out|get in touch|check with|speak (?:to|with)|talk to|consult|ask (?:your|the|hr|a)|get back"
    r"|repl(?:y|ies)|respond|follow up|request access|lien he|hoi (?:phong|bo phan|quan ly|nhan su)|phan hoi"
    r"|xin quyen|trao doi (?:truc tiep )?voi)\b"
)
_SET_ASIDE = re.compile(
    r"\b(?:sorry|apologi[sz]e|thank|please|let me know|if you|would you|you (?:can|may|might|could|should) (?:want|try"
    r"|check|find|look)|i (?:can|will|would)|perhaps|maybe|only (?:cover|mention|discuss"
    r"|describe|talk)s?|based on|feel free|(?:happy|glad|willing) to|(?:may|might) help"
    r"|(?:may|can) (?:see|view|access|read)|(?:limited|restricted|available) to"
    r"|xin loi|rat tiec|cam on|vui long|neu (?:ban|muon|can)|ban co the|chi (?:de cap|noi ve|neu|co)"
    r"|san long|da (?:kiem tra|tim kiem|tra cuu|xem qua)|co the (?:giup|ho tro)|chi danh|dua tren)\b"
)
_FIRST_PERSON = re.compile(r"(?:and |so |but |va |nen )?(?:i|we|i'm|i've|i'll|we've|toi|minh|em|chung toi) ")
_VIETNAMESE = re.compile(
    r"\b(?:khong|chua|toi|cua|va|nay|duoc|trong|cac|thi|ve|phai|nhung|voi|ngay|theo|cho|la|ly|quyen|xem|cung|luong|nhan"
    r"|vien|thong|lieu|bao|nguoi|viec|hien|truong|yeu|cau|khach)\b"
)
_CONTRAST = re.compile(r"(?:but|however|still|nonetheless|nhung|tuy nhien|song) ?,?\b")


def substantive(text: str, refused: Sequence[int]) -> bool:
    """Return whether a clause of the folded text makes a claim, except those with a refusal.

    `refused`: the positions in the text at which refusing phrases begin.
    """
    claim_length = 0
    refusal_starts = iter(sorted(refused))
    refusal_start = next(refusal_starts, len(text))
    end = 0
    contrast_seen = refusal_seen = False  # contrast_seen: a contrast ("but …") followed a refusal
    for clause in clauses(text):
        end += len(clause)
        contrast_seen = refusal_seen and (contrast_seen or _CONTRAST.match(clause) is not None)
        if refusal_start >= end:
            claim_length = claim_length or _claim_length(text)
            if _makes_claim(clause, (claim_length + 1) // 2 if contrast_seen else claim_length):
                return True
        refusal_seen = refusal_seen or refusal_start < end
        while refusal_start < end:
            refusal_start = next(refusal_starts, len(text))
    return False


def _claim_length(text: str) -> int:
    return _VIETNAMESE_CLAIM if len(_VIETNAMESE.findall(text, 0, 1000)) > 1 else _ENGLISH_CLAIM


def _makes_claim(clause: str, claim_length: int) -> bool:
    """Whether a clause without a refusal contains a number, or at least `claim_length` words that can make a claim."""
    text = _CITATION.sub("", clause)
    if text.rstrip(" \"')").endswith("?") or _CONTACTS.search(text) or _ECHO.search(text):
        return False
    if _NUMBER.search(text):
        return True
    if _SET_ASIDE.search(text) or _FIRST_PERSON.match(text):
        return False
    return sum(word not in STOP_WORDS for word in WORD.findall(text)) >= claim_length
