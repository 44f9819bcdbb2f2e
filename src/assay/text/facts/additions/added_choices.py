"""What an answer offers instead of a fact, or makes a yes or no depend on: "a badge or a letter", "yes, if it rains".

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.text.facts.additions.unexplained_additions import find_new_word, find_part_end, list_new_values
from assay.text.facts.cues.condition_cues import CONDITION_OF_DECISION, OR_MORE, TIMES_OF_DECISION
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.expected.yes_or_no import is_mere_decision
from assay.text.facts.presence.explained_decisions import names_other_time
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.text_parts import Part
from assay.text.facts.subjects.other_roles import opens_upwards
from assay.text.late_pattern import LatePattern

_OR = build_pattern(rf" or (?!{OR_MORE}\b)")
_OTHERWISE = LatePattern(rf"[,;]{_OR.pattern}")
_CONDITION = build_pattern(
    rf"[,;]? (?:[–—-] )?(?:{CONDITION_OF_DECISION}\b"
    rf"|(?=(?:only |just |chỉ )?(?:on|in|at|vào|trong) (?:the )?{TIMES_OF_DECISION}\b))"
)


def name_other_option(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return what an answer offers after a fact and a comma, whether it is a value or in words; "" for nothing."""
    answer, end = texts.answer, occurrence.clause.sentence_end
    other = _OTHERWISE.match(answer.plain, occurrence.end, end)
    if other is None or any(" or " in text.plain for text in texts.explaining):
        return ""
    new = find_new_word(texts, other.end(), find_part_end(texts, other.end(), end))
    return (
        f'the answer offers something else as well: "{answer.text[other.start() : new.end].strip(" ,;")}"'
        if new is not None
        else ""
    )


def list_alternatives(texts: FactTexts, occurrence: Occurrence, own: Part) -> Iterator[str]:
    """Yield what an answer offers instead of a fact in words, and the condition of a mere yes or no."""
    answer = texts.answer
    alternative = _OR.match(answer.plain, occurrence.end, own.end)
    is_one_of_many = bool(find_negations(answer, own.start, own.end))  # "it covers no glass or wood"
    if alternative is not None and not is_one_of_many and not any(" or " in text.plain for text in texts.explaining):
        new = find_new_word(texts, alternative.end(), own.end)
        if new is not None and not opens_upwards(texts, new.folded):
            yield f'the answer offers something else as well: "{answer.text[alternative.start() : new.end].strip()}"'
    if is_mere_decision(texts.fact):
        condition = _CONDITION.match(answer.plain, occurrence.end)
        end = occurrence.clause.sentence_end
        if condition is not None and (
            find_new_word(texts, condition.end(), end)
            or list_new_values(texts, condition.end(), end)
            or names_other_time(texts, condition.end(), end)
        ):
            yield f'the answer says so under a condition, "{answer.text[condition.start() : end].strip(" .,;!–—-")}"'
