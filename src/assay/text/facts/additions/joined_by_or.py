"""Where an answer joins by "or" what is expected together: "the policy number or the code" for both.

Who needs both has not enough with either, so the facts are left open. What may be done with either is done with both:
"you can pay by card or in cash". The patterns are for text as it is written: "ou" is or, and "où" is where.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import structs

from assay.text.facts.cues.limit_cues import LEAVES_CHOICE, MUST_BE, MUST_BE_IN_OTHER_LANGUAGES
from assay.text.facts.cues.link_cues import JOINS_MEMBERS
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.reading.choices import OR, offers_choice
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word, read_text
from assay.text.facts.reading.sentence_around import get_sentence
from assay.text.late_pattern import LatePattern

_JOINED = LatePattern(rf"(?<=\w),? {JOINS_MEMBERS} (?=\w)", re.IGNORECASE)
_PERMITS = LatePattern(rf"\b{LEAVES_CHOICE}\b", re.IGNORECASE)
_MUST = LatePattern(rf"\b(?:{MUST_BE}|{MUST_BE_IN_OTHER_LANGUAGES})\b", re.IGNORECASE)
_FEWEST_MEMBERS = 2
_NEAR = 3
"""Words of meaning on either side of "and" or "or" that name the members that it joins."""


def find_joined_by_or(answer: ReadText, members: Sequence[ReadText], known: Sequence[ReadText]) -> str:
    """Return two members that an answer joins by "or", as it writes them; "" if it joins none so.

    `members`: what is expected together, two next to each other or more. `known`: question and reference, which may
    offer a choice themselves. What may be done with either is done with both: "you can pay by card or in cash".

    >>> texts = [read_text(text) for text in ("A licence or a minimum age.", "licence", "age")]
    >>> find_joined_by_or(texts[0], texts[1:], ())
    'licence or a minimum age'
    """
    if len(members) < _FEWEST_MEMBERS or any(offers_choice(text.text) for text in (*known, *members)):
        return ""
    for cue in OR.finditer(answer.text):
        low, high = get_sentence(answer, cue.start())
        if find_negations(answer, low, high) or _is_choice_of_user(answer.text[low:high], known):
            continue
        before = [word for word in answer.list_words(low, cue.start()) if word.kind != "stop"][-_NEAR:]
        after = [word for word in answer.list_words(cue.end(), high) if word.kind != "stop"][:_NEAR]
        first, second = _find_member(before[::-1], members), _find_member(after, members)
        if first is not None and second is not None and first[0] != second[0]:
            return answer.text[first[1].start : second[1].end]
    return ""


def list_joined(reference: ReadText) -> list[tuple[ReadText, ReadText]]:
    """Return the words on either side of each "and" of a text, as two members.

    >>> [(first.text, second.text) for first, second in list_joined(read_text("If it is safe and a doctor orders it."))]
    [('safe', 'doctor orders')]
    """
    pairs = []
    for cut in _JOINED.finditer(reference.text):
        low, high = get_sentence(reference, cut.start())
        before = [word for word in reference.list_words(low, cut.start()) if word.kind != "stop"][-_NEAR:]
        after = [word for word in reference.list_words(cut.end(), high) if word.kind != "stop"][:_NEAR]
        if before and after:
            sides = (before[0].start, before[-1].end), (after[0].start, after[-1].end)
            first, second = (read_text(reference.text[start:end]) for start, end in sides)
            pairs.append((first, second))
    return pairs


def _is_choice_of_user(sentence: str, known: Sequence[ReadText]) -> bool:
    """Whether a sentence says what may be done, and nobody asks what has to be."""
    if _PERMITS.search(sentence) is None:
        return False
    return not any(_MUST.search(text.text) is not None for text in known)


def _find_member(words: Sequence[Word], members: Sequence[ReadText]) -> tuple[int, Word] | None:
    """Return the place of the first of some members that has one of the words, and the word; None without one."""
    for word in words:
        for place, member in enumerate(members):
            if member.find_word(word, True):
                return place, word
    return None


def open_joined_by_or(
    judgments: Sequence[FactJudgment], answer: ReadText, known: Sequence[ReadText]
) -> list[FactJudgment]:
    """Return stated facts as unknown of which an answer joins two by "or"."""
    stated = [read_text(judgment.fact) for judgment in judgments if judgment.state == "stated"]
    joined = find_joined_by_or(answer, stated, known)
    if not joined:
        return list(judgments)
    reason = f'the answer says "{joined}", and both are expected'
    return [structs.replace(own, state="unknown", reason=reason) if own.state == "stated" else own for own in judgments]
