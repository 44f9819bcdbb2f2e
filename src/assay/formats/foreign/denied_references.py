"""References that deny access: what a row expects that says "You may not see this." in the place of an answer."""

from __future__ import annotations

import re

from assay.text.facts.expected.yes_or_no import asks_whether
from assay.text.facts.reading.read_text import ReadText
from assay.text.numbers import find_dates
from assay.text.quantities.measures import find_measures
from assay.text.refusals.behaviour import detect_behaviour

_THING = r"(?:this|that|it|these|those|them)(?: (?:information|data|documents?|files?|contents?|records?))?"
_SEE = r"(?:see|view|read|access|open|know|have|get|be (?:shown|told|given))"
_USER = "(?:you|(?:the|this) user)"
_MAY_NOT = "(?:may not|must not|mustn't|cannot|can't|can not|should not)"
_ALLOWED = "(?:allowed|permitted|authori[sz]ed|entitled|cleared)"
_TELL = r"(?:told|said|shown|shared|disclosed|revealed|passed on|mentioned|communicated)"
_TO_WHOM = r"(?: to (?:the |any |our |other |this |these )?[\w-]+(?: [\w-]+)?)?"
_DENIALS = (
    rf"(?:{_THING} )?{_MAY_NOT} be {_TELL}{_TO_WHOM}|(?:{_THING} is )?not to be {_TELL}{_TO_WHOM}",
    rf"(?:do not|don't|never) (?:tell|show|share|disclose|reveal|pass on)(?: {_THING})?{_TO_WHOM}",
    "(?:ceci |cela )?ne (?:doit|peut) pas être (?:dit|communiqué|divulgué|montré|révélé|partagé)e?"
    r"(?: (?:aux?|à (?:la|un|une)) [\w-]+)?",
    "(?:darf|soll) (?:gästen |kunden |niemandem )?nicht (?:gesagt|gezeigt|mitgeteilt|weitergegeben) werden",
    r"không được (?:nói|tiết lộ|cung cấp|cho biết|chia sẻ)(?: (?:cho|với) [\w ]{1,30})?",
    rf"{_USER} {_MAY_NOT} {_SEE} {_THING}",
    rf"{_USER} (?:are|is) not {_ALLOWED} (?:to {_SEE}|for) {_THING}",
    rf"(?:{_THING} is )?not (?:{_ALLOWED}|visible|accessible)(?: (?:for|to) {_USER})?",
    "no (?:access|permission)|(?:access|permission) (?:is )?(?:denied|refused)|denied|forbidden|confidential",
    "das (?:darfst du|dürfen sie|darf der nutzer) nicht (?:sehen|lesen|wissen|einsehen)",
    "kein zugriff|keine berechtigung|zugriff verweigert",
    "(?:bạn|anh|chị|người dùng(?: này)?) không (?:được(?: phép)?|có quyền) (?:xem|đọc|biết)"
    "(?: (?:điều|nội dung|thông tin|tài liệu))? (?:này|đó)",
    "không (?:được phép|có quyền(?: truy cập)?)|từ chối truy cập",
)
_DENIAL = re.compile(rf"(?:(?:sorry|unfortunately),? )?(?:{'|'.join(_DENIALS)})[.!]?", re.IGNORECASE)
"""A denial and nothing else, of what was asked and of nothing that it names itself."""
_LIMIT = re.compile(r"\b(?:until|till|unless|except|bis|außer|cho đến|trừ)\b", re.IGNORECASE)
"""Words of a limit: what is denied until a day, or to all but some, is an answer."""
_ASKS_FOR_TEXT = re.compile(
    r"\b(?:which|what(?: is the| does the)?|welche[rmns]?|was für eine?n?|quel(?:le)?s?)(?: [\w-]+){0,2}? "
    r"(?:errors?|warnings?|messages?|exceptions?|notices?|[\w-]*fehler|[\w-]*meldung(?:en)?|erreurs?|messages?)\b"
    r"|\b(?:lỗi|thông báo)(?: [\w]+){0,2} (?:nào|gì)\b",
    re.IGNORECASE,
)
"""A question for the words that a system shows: "Access denied" is their answer."""
_SPOKEN = re.compile(
    r"\b(?:I|we|you|your|ich|wir|du|dir|sie|ihnen|tôi|chúng tôi|bạn|anh|chị)\b|\bthis (?:information|data|document)\b",
    re.IGNORECASE,
)
"""Words of who denies to whom: without them a text says how access is regulated, which may be what was asked."""


def is_denied_by(reference: str, question: str) -> bool:
    """Return whether a reference denies access to what is asked, and says nothing else.

    The answer to whether somebody may see something is no denial, and neither are one with a value of its own and the
    words of an error message that the question asks for. Such a
    row names no user and nothing forbidden, which a case of `permission_denied` needs: it is to abstain or to deny.

    >>> is_denied_by("I cannot share that.", "Who owes rent?"), is_denied_by("You may not see this.", "May I see it?")
    (True, False)
    """
    if asks_whether(ReadText(question)) or _ASKS_FOR_TEXT.search(question) or _LIMIT.search(reference):
        return False
    if _DENIAL.fullmatch(" ".join(reference.split()).replace("’", "'")):
        return True
    detected = detect_behaviour(reference, question=question)
    if detected.behaviour != "permission_denied" or detected.has_substantive_claim:
        return False
    return bool(_SPOKEN.search(reference)) and not find_measures(reference) and not find_dates(reference)
