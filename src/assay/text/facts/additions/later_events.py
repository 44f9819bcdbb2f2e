"""Where an answer says a fact only of what comes later: "open until six, after that it's closed".

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from assay.text.facts.additions.unexplained_additions import REACH
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.doubt_cues import LATER, LATER_FIRST
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.expected.yes_or_no import is_mere_decision
from assay.text.facts.presence.occurrences import Occurrence, find_stated_quantity
from assay.text.facts.reading.text_parts import Part

_LATER_BEFORE = build_pattern(rf"\b{LATER_FIRST}\b|^ ?(?:after|before|without|instead of|unlike|besides) [a-z]+ing\b")
_LATER = build_pattern(rf"\b{LATER}\b")


def name_later(texts: FactTexts, occurrence: Occurrence, own: Part) -> str:
    """Return how an answer says a fact in words only of what is later: "… until six, after that it's closed".

    So it does with what is done beside something else ("Bo, after asking Kim"), or a "no" after which it goes on.
    """
    plain = texts.answer.plain
    if find_stated_quantity(texts.answer, occurrence) is not None:
        return ""
    if is_mere_decision(texts.fact):
        cue = _LATER.search(plain, occurrence.end, min(len(plain), occurrence.end + REACH))
    else:
        before = plain[own.start : occurrence.start]
        cue = _LATER_BEFORE.search(before) if own.start > occurrence.clause.sentence_start else None
    if cue is None or any(cue[0].strip() in text.plain for text in texts.explaining):
        return ""
    return f'the answer goes on with "{cue[0].strip()}", so this may hold only then'
