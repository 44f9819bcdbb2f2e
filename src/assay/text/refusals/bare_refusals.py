"""Answers that only say that they do not know or must not tell: "Unknown.", "403 Forbidden"."""

from __future__ import annotations

from collections.abc import Sequence

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text
from assay.text.refusals.lexicons_in_use import select_rules
from assay.text.refusals.refusal_rules import RefusalRules

BARE_LENGTH = 60  # characters up to which an answer may be a bare refusal; in a sentence its words mean something else


_COURTESY = LatePattern(r"^(?:(?:sorry|hm+|uh|oh|well|hi|hello)\b[ ,.!:…-]*+)+|(?:[ ,.!…-]{1,9}sorry){1,3}$")
_ADVICE = LatePattern(
    r"[,.;!-]{1,9} (?:(?:better|best|please|pls|just|maybe|perhaps|you could|you can) ){0,4}"
    r"(?:ask|check with|try|contact|talk to|speak to)\b[^\d?]{0,90}$"
)
"""Where to ask instead, after a bare refusal; a figure may be an answer."""


def strip_bare(answer: str) -> str:
    """Return a folded answer without the courtesies around it and the advice to ask somebody else."""
    text = _COURTESY.sub("", _strip_marks(_ADVICE.sub("", fold_text(answer))))
    return _strip_marks(text)


def _strip_marks(text: str) -> str:
    return text.strip(" .!?…:;-*_\"'()[]。！")


def match_bare_refusal(answer: str) -> str:
    """Return the folded answer if it consists only of a phrase that abstains or denies permission, else "".

    >>> match_bare_refusal("**N/A**"), match_bare_refusal("Không rõ."), match_bare_refusal("An unknown error")
    ('n/a', 'khong ro', '')
    """
    return match_bare(select_rules(answer), answer)


def match_bare(rules: Sequence[RefusalRules], answer: str) -> str:
    """Return the folded answer if one of the rules has it as a bare refusal, else ""."""
    if len(answer) > BARE_LENGTH:
        return ""
    text = strip_bare(answer)
    return text if any(text in group.bare_texts for group in rules) else ""
