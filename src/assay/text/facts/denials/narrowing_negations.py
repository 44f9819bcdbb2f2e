"""Negations that only say of which things an answer speaks, or that the question has too: they deny no fact.

"Bikes not collected in 30 days are stored" denies nothing of what is done with them, and "Lệnh in chưa lấy bị xóa" says
what happens to jobs that nobody has taken. The patterns are for folded text (`fold_in_place`), so Vietnamese is written
without diacritics; there a clause that narrows a noun has no word of its own, and ends where the verb of the sentence
begins ("sẽ", "bị").
"""

from __future__ import annotations

import re
from typing import Literal

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import VERB_BEGINS_IN_VIETNAMESE
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.expected.yes_or_no import asks_whether
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

_FINITE = (
    r"(?:is|are|was|were|will|can|may|must|shall|has|have|goes|go|stays?|costs?|lasts?|gets?|becomes?|expires?|pays?|"
    r"receives?|needs?|counts?|belongs?)\b"
)
_PARTICIPLE = r"(?:[a-z]+ly )?[a-z]{2,}(?:ed|en|wn|ld|id|ne|pt|ft|nt|ught|ut)\b"
_NARROWING = compile_pattern(
    rf"(?:(?:not|never) {_PARTICIPLE}(?: (?:by|in|on|at|within|for|from|to|before|after|up) [^,;.]{{1,40}}?)?|"
    rf"(?:nobody|no one) [a-z]+)(?: {_FINITE})"
)
"""A participle or a short clause after a noun, with the verb of the sentence behind it: "leave not taken is", "items
nobody claims are"."""
_RELATIVE_BEFORE = compile_pattern(r"\b(?:that|which|who) (?:[a-z]+ ){0,2}\Z")
_OF_A_RELATIVE = LatePattern(rf"(?:not|never|n t) [^,;.]{{2,60}}? {_FINITE}")
_NOT_A_NOUN = LatePattern(
    r"(?:\b(?:is|are|was|were|be|been|do|does|did|has|have|had|can|could|may|might|will|would|shall|should|must|but|and|"
    r"or|if|it|they|he|she|we|you|i|there|that|which|who)|\A|[,;:.]) ?\Z"
)
_VIETNAMESE_NARROWING = build_pattern(
    r"(?:không|chưa) (?!(?:phải|cần|thể|nên|có|được|bị|sẽ|còn|mất|tốn|quá|đến|tới|là)\b)[a-z]+(?: [^,;.]{1,40}?)?"
    rf" (?:{VERB_BEGINS_IN_VIETNAMESE}|cần|đều)\b"
)
"""A denied verb after a noun, with the verb of the sentence behind it: "xe chưa nhận sẽ bị …"."""
_NO_SUBJECT_BEFORE = build_pattern(r"(?:\A|[,;:.]|\b(?:tôi|bạn|quý khách|họ|nó|mình|chúng tôi|anh|chị|em)) ?\Z")
_LAST_WORD = LatePattern(r"(?<![a-z])[a-z]+$")
_BEGINS_PARTICIPLE = LatePattern(rf"(?:not|never) {_PARTICIPLE}")
_VERB_AFTER = build_pattern(rf"[^,;.]{{0,30}}? {_FINITE}|[^,;.]{{0,12}} (?:{VERB_BEGINS_IN_VIETNAMESE})\b")


def narrows_subject(texts: FactTexts, negation: re.Match[str], occurrence: Occurrence) -> bool:
    """Return whether a negation only says of which things the clause speaks: "Bikes not collected in 30 days are …".

    Not where the question speaks of the contrary things: of collected bikes.
    """
    plain = texts.answer.plain
    before, after = plain[occurrence.clause.start : negation.start()], plain[negation.start() : occurrence.start]
    is_relative = _RELATIVE_BEFORE.search(before) is not None
    match = (_OF_A_RELATIVE if is_relative else _NARROWING).match(after)
    if match is not None and not is_relative and _NOT_A_NOUN.search(before):
        match = None
    if match is None and not _NO_SUBJECT_BEFORE.search(before):
        match = _VIETNAMESE_NARROWING.match(after)
    if match is None:
        return False
    last = _LAST_WORD.search(plain, negation.end(), negation.start() + match.end())
    return last is None or not _asks_for_contrary(texts, negation.end(), last.start())


def _asks_for_contrary(texts: FactTexts, start: int, end: int) -> bool:
    """Whether the question has a word that is denied between two positions, and denies nothing itself."""
    denied = texts.answer.list_words(start, end)
    asked = {(word.key, word.marks) for word in texts.question.words}
    is_asked = any((word.key, word.marks) in asked for word in denied if may_be_subject(word))
    return is_asked and not find_negations(texts.question)


def is_negation_of_question(texts: FactTexts, negation: re.Match[str]) -> bool:
    """Return whether a question that does not ask for yes or no denies the same word: "prints nobody collects"."""
    if asks_whether(texts.question):
        return False
    denied = texts.answer.take_next_word(negation.end())
    if denied is None or not may_be_subject(denied):
        return False
    for asked in find_negations(texts.question):
        word = texts.question.take_next_word(asked.end())
        if word is not None and word.key == denied.key and word.marks == denied.marks:
            return True
    return False


def judge_within_narrowing(
    texts: FactTexts, negation: re.Match[str], occurrence: Occurrence
) -> Literal["", "stated", "open"]:
    """Return what follows for a fact within a denied clause that narrows a noun: "not claimed for 30 days are sold".

    Stated if the question asks about the verb of the sentence, open if not, "" if there is no such clause.
    """
    plain, clause = texts.answer.plain, occurrence.clause
    before, inside = plain[clause.start : negation.start()], plain[negation.start() : occurrence.start]
    is_english = _RELATIVE_BEFORE.search(before) is not None or not _NOT_A_NOUN.search(before)
    is_english = is_english and _BEGINS_PARTICIPLE.match(inside) is not None
    is_vietnamese = negation[0] in ("khong", "chua") and not _NO_SUBJECT_BEFORE.search(before)
    verb = _VERB_AFTER.match(plain, occurrence.end, clause.sentence_end) if is_english or is_vietnamese else None
    if verb is None or _asks_for_contrary(texts, negation.end(), occurrence.start):
        return ""
    done = texts.answer.take_next_word(verb.end())
    is_asked = done is not None and done.kind != "stop" and bool(texts.question.find_word(done, True))
    return "stated" if is_asked and is_english else "open"
