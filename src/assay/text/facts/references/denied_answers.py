"""References that begin with "nowhere", "nobody" or "nothing": the whole answer, before its reason.

"Nowhere, swimming is forbidden in the whole basin" asks for either: "Nowhere." answers where one may swim, and so does
who says that it is forbidden. A first sentence that denies what is asked, word for word, is a no as well. The patterns
are for folded text (`fold_in_place`).
"""

from __future__ import annotations

from assay.text.facts.cues.condition_cues import CONDITION
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import BANS, FORBIDS, NONE_AT_ALL
from assay.text.facts.cues.doubt_cues import NO_LONGER
from assay.text.facts.cues.link_cues import GREETING
from assay.text.facts.cues.word_classes import ASKING, STAND_FOR_NOUN
from assay.text.facts.expected.fact_texts import may_be_subject
from assay.text.facts.reading.exceptions import has_exception
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, read_text
from assay.text.facts.reading.statement_marks import DOUBT, MYTH, USED_TO
from assay.text.pattern_cache import compile_pattern

_BEGINS = build_pattern(rf"\W*(?P<word>{NONE_AT_ALL})\s*(?:[,;.:]|[–—-] )\s*(?=\w)")
_ALONE = build_pattern(rf"(?:\W*(?:{GREETING}|unfortunately|i'm afraid)\b)*\W*(?P<word>{NONE_AT_ALL})\W*")


def split_denied_answer(reference: str, answer: str) -> tuple[str, bool]:
    """Return a reference without the word that denies all at its beginning, and whether an answer is that word alone.

    >>> split_denied_answer("Nobody, the post is vacant.", "The post is vacant.")
    ('the post is vacant.', False)
    >>> split_denied_answer("Nobody, the post is vacant.", "Unfortunately nobody.")
    ('the post is vacant.', True)
    """
    begun = _BEGINS.match(read_text(reference).plain)
    if begun is None:
        return reference, False
    alone = _ALONE.fullmatch(read_text(answer).plain)
    return reference[begun.end() :], alone is not None and alone["word"] == begun["word"]


_PROHIBITION = build_pattern(rf"\b(?:{FORBIDS}|{BANS})\b")
_CONDITION = build_pattern(rf"\b{CONDITION}\b")
_NO_LONGER = build_pattern(rf"\b{NO_LONGER}\b")
_NON = compile_pattern(r"\bnon-(?=[a-z])")
_LEAST_ASKED = 0.6
"""The share of the words of a question that a sentence has, if it denies what is asked."""


def put_denial_first(answer: str, question: str) -> str:
    """Return an answer with "No." in the place of a first sentence that denies what is asked; "" if none does.

    >>> put_denial_first("Charcoal grills are banned. You may bring a pan.", "May I bring a charcoal grill?")
    'No. You may bring a pan.'
    >>> put_denial_first("Gas grills are banned. You may bring a pan.", "May I bring a charcoal pizza oven?")
    ''
    """
    read = read_text(answer)
    end = read.clauses[0].sentence_end if read.clauses else len(answer)
    rest = answer[end:].strip()
    first = read_text(_NON.sub("not ", answer[:end]))
    denies = len(find_negations(first)) == 1 or _PROHIBITION.search(first.plain) is not None
    if not rest or not denies or not answer[:end].rstrip().endswith((".", "!", "?")) or _is_limited(first):
        return ""
    asked = [word for word in read_text(question).words if may_be_subject(word) and word.folded not in ASKING]
    shared = sum(bool(first.find_word(word, True)) for word in asked)
    stands_for_noun = any(word.folded in STAND_FOR_NOUN for word in first.words)
    is_same = shared > 0 and shared + stands_for_noun >= max(2, _LEAST_ASKED * len(asked))
    return f"No. {rest}" if is_same else ""


def _is_limited(sentence: ReadText) -> bool:
    """Whether a sentence does not deny outright, or not now: "used to be banned", "not if it rains"."""
    marks = (DOUBT, MYTH, USED_TO, _NO_LONGER, _CONDITION)
    return has_exception(sentence) or any(mark.search(sentence.plain) is not None for mark in marks)
