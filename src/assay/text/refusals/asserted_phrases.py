"""Whether a phrase of refusing is said in earnest: neither quoted nor explained, taken back or of another subject."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.refusals.refusal_lexicon import PhraseKind, PhraseSubject, RefusalLexicon, RefusalPhrase
from assay.text.segmentation import PhraseContext

_WORD = compile_pattern(r"[\w']+")
_TOPIC_MARKER = LatePattern(
    r"[^,]{0,60}(?<!\bhien )(?<!\bbieu )(?<!\bsieu )\bthi\b(?! (?:truong|xa|tran|dan|hanh|cong|dua)\b)"
)
# "không có quyền thì phải …": if they have none, they must …
_ERROR_CODE = compile_pattern(r"\b(?:40[0-9]|429|50[0-4]|err-?\d+)\b")
_STATUS_LINE = compile_pattern(r"\W*(?:(?:http|error|status|code|loi)\W+){0,3}40[13]\b(?! error| code| means?| status)")


def is_asserted(context: PhraseContext, cue: RefusalPhrase) -> bool:
    """Whether the answer asserts a phrase in this context: not as a condition, question or explanation."""
    window = context.before.rpartition(", ")[2]
    if context.is_question and cue.kind != "clarify":
        return False
    marks = cue.lexicon.marks.mark(context.sentence)  # the window is a part of the sentence
    if marks and _is_taken_back(context, window, cue.lexicon, marks):
        return False
    if (
        cue.kind == "permission_denied"
        and _ERROR_CODE.search(context.sentence)
        and not _STATUS_LINE.match(context.sentence)
    ):
        return False
    if cue.kind != "escalate" and cue.lexicon.language == "vi" and _TOPIC_MARKER.match(context.after):
        return False
    if cue.following_pattern.match(context.after) is None:
        return False
    if _has_allowed_subject(cue, window, context.before, marks):
        return True
    outer = _find_subject_before_insertion(context.before)
    return bool(outer) and _has_allowed_subject(cue, outer, context.before, marks)


def _find_subject_before_insertion(before: str) -> str:
    """Return the subject of a clause that an insertion cuts off: "the lease" of "the lease, as produced to us, does";
    "" if more than an auxiliary follows the last comma."""
    parts = before.split(", ")
    is_cut_off = len(parts) >= _WITH_INSERTION and _AUXILIARIES.issuperset(parts[-1].split())
    return f"{parts[-3]} {parts[-1]}" if is_cut_off else ""


_WITH_INSERTION = 3
_AUXILIARIES = frozenset("is are was were do does did has have had can could will would may".split())


def _is_taken_back(context: PhraseContext, window: str, lexicon: RefusalLexicon, marks: int) -> bool:
    """Whether a phrase stands in a condition, an explanation or a denial."""
    patterns, bits = lexicon.patterns, lexicon.marks.bits
    return bool(
        (marks & bits["not_asserted.conditions"] and patterns["not_asserted.conditions"].search(window))
        or (
            marks & bits["not_asserted.explanations"] and patterns["not_asserted.explanations"].search(context.sentence)
        )
        or (marks & bits["not_asserted.denials"] and patterns["not_asserted.denials"].search(window))
    )


_SUBJECT_LISTS: dict[PhraseSubject, str] = {
    "me": "subjects.me",
    "contact": "subjects.contact",
    "exclusive": "subjects.exclusive",
    "this": "subjects.this",
}


def _has_allowed_subject(cue: RefusalPhrase, window: str, before: str, marks: int) -> bool:
    """Whether the subject of the phrase, somewhere in `window`, is one that the phrase allows."""
    if cue.subject == "free":
        return True
    patterns, bits = cue.lexicon.patterns, cue.lexicon.marks.bits

    def names_one(of_list: str, text: str) -> bool:
        return bool(marks & bits[of_list]) and patterns[of_list].search(text) is not None

    if cue.subject in _SUBJECT_LISTS:
        return names_one(_SUBJECT_LISTS[cue.subject], before)
    speaker, you = names_one("subjects.speaker", window), names_one("subjects.you", window)
    if not (speaker or you) and marks & bits["subjects.others"] and _begins_with_others(patterns, window):
        return False
    if cue.subject in ("anyone", "you"):
        return you or cue.subject == "anyone"
    fillers = cue.lexicon.words["no_claim.fillers"]
    absent = all(word in fillers for word in _WORD.findall(window))
    if cue.subject == "reader":
        return speaker or you or absent
    if cue.subject == "topic":
        return absent or names_one("subjects.topics", window)
    document = speaker or names_one("subjects.documents", window)
    return document or (cue.subject != "document" and (absent or names_one("subjects.pronouns", window)))


def _begins_with_others(patterns: Mapping[str, re.Pattern[str]], window: str) -> bool:
    """Whether a third person stands in `window`, and before it neither a document nor what was asked: in "the number of
    employees" they are no subject."""
    others = patterns["subjects.others"].search(window)
    if others is None:
        return False
    heads = (patterns[name].search(window, 0, others.start()) for name in ("subjects.documents", "subjects.topics"))
    return not any(heads)


def effective_kind(context: PhraseContext, phrase: str, cue: RefusalPhrase) -> PhraseKind:
    """Return the cue's kind; an abstention becomes a denial if the sentence mentions permission."""
    patterns = cue.lexicon.patterns
    if (
        cue.kind == "abstain"
        and patterns["permission.giving"].search(phrase)
        and patterns["permission.subjects"].search(context.sentence + context.after)
    ):
        return "permission_denied"
    return cue.kind
