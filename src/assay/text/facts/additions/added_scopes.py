"""For whom, when or where an answer says a fact that nobody asked about: "except in August", "for children".

It may narrow the fact ("only on request"), widen it ("on Mondays and Tuesdays") or take part of it back ("but you get
half of it back"). The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.text.facts.additions.unexplained_additions import find_end, find_new_word, find_part_end
from assay.text.facts.cues.condition_cues import ALSO, EXCEPTION_ADDED, ONLY, SAID_OF
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.text_parts import Part
from assay.text.late_pattern import LatePattern
from assay.text.quantities.weekdays import WEEKDAY, list_days

_JOINED_DAY = build_pattern(
    rf" ?(?:,|and|&|và)(?: and)?(?: on)? (?P<day>{WEEKDAY.pattern}|(?P<holidays>(?:public |bank |school )?holidays))"
    r"(?= ?[.,;!?)]| and\b| và\b|$)"
)


def name_further_day(texts: FactTexts, own: Part) -> str:
    """Return a weekday right after that of what is asked, which nothing else names: "on Mondays and Tuesdays".

    Asked about Mondays, an answer may name other days too.
    """
    plain = texts.answer.plain
    named_days = {day for text in texts.explaining for day in list_days(text.plain, 0, len(text.plain))}
    joined = _JOINED_DAY.match(plain, own.end)
    asked_days = set(list_days(texts.question.plain, 0, len(texts.question.plain)))
    if not named_days or joined is None:
        return ""
    first = set(list_days(plain, own.start, own.end))
    new = set(list_days(plain, joined.start(), joined.end())) - named_days
    if joined["holidays"] is not None and not any("holiday" in text.plain for text in texts.explaining):
        new.add(joined["holidays"])
    return (
        f'the answer adds "{texts.answer.text[slice(*joined.span("day"))]}", of which nothing else speaks'
        if first & named_days and not first & asked_days and new
        else ""
    )


_ONLY = build_pattern(rf"(?:[,;(–—-] ?|\b(?:but|and|though|then|nhưng) ){ONLY}\b")
_EXCEPT = build_pattern(rf"\b{EXCEPTION_ADDED}\b")
_ALSO = build_pattern(rf"\b{ALSO}\b")
_HOLDER = build_pattern(rf" {SAID_OF} (?:(?:the|all|any|our|your) )?")


def list_restrictions(texts: FactTexts, occurrence: Occurrence, own: Part) -> Iterator[str]:
    """Yield for whom only, when only, and where else an answer says a fact, if nothing explains it."""
    answer, end = texts.answer, occurrence.clause.sentence_end
    group = _GROUP.match(answer.plain, find_end(texts, occurrence), own.end)
    if group is not None and _is_new_group(texts, group):
        yield f'the answer says this "{group[0].strip()}", of whom nothing else speaks'
    holder = _HOLDER.match(answer.plain, find_end(texts, occurrence), end)
    word = answer.take_next_word(holder.end()) if holder is not None else None
    if holder is not None and word is not None and word.start == holder.end() and texts.is_new(word):
        yield f'the answer says this of "{answer.text[word.start : word.end]}", and another thing is asked about'
    for pattern in (_ONLY, _EXCEPT, _ALSO):
        cue = pattern.search(answer.plain, occurrence.end, end)
        if cue is None or _is_other_word(answer.text[slice(*cue.span())]) or texts.has_cue(pattern):
            continue
        new = find_new_word(texts, cue.end(), find_part_end(texts, cue.end(), end))
        if new is not None:
            yield f'the answer changes this by "{answer.text[cue.start() : new.end]}", of which nothing else speaks'


_GROUP = LatePattern(r" (?:only )?for (?:all |any )?(?P<noun>children|people|women|men|[a-z]{3,}s)\b(?! (?:and|or) )")


def _is_new_group(texts: FactTexts, group: re.Match[str]) -> bool:
    """Whether nothing explains for whom an answer says a fact."""
    word = texts.answer.take_next_word(group.start("noun"))
    if word is None or not may_be_subject(word):
        return False
    return not (texts.is_explained(word) if word.folded in ("member", "members") else texts.is_known(word))


def _is_other_word(written: str) -> bool:
    """Whether a cue is a Vietnamese word that is only folded like it: "chị" (you), "trữ" (to store)."""
    last = written.lower().split()[-1]
    return not last.isascii() and last not in ("chỉ", "trừ", "khi")
