"""What frames a statement, so that an answer that holds a fact does not assert it, or not of what is asked.

"It would have cost €5", "Some say that it costs €5", "In the Graz office it costs €5" and "It costs €5. That was before
the reform." hold a fact. It passes only where neither a frame nor a place or time that nobody speaks of stands before
it, and no sentence after it points back to it and says what nothing explains. What question, facts or reference have
too is no frame. The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.text.facts.cues.condition_cues import PLACED, SUMMED_UP
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.doubt_cues import HEARSAY, NOT_REAL, OTHER_TIME_OR_PLACE, POINTS_BACK_BY_WORD
from assay.text.facts.cues.link_cues import POINTS_BACK, TURNS_BACK
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.read_text import CLAUSE_REACH, ReadText
from assay.text.facts.reading.text_parts import list_quantities
from assay.text.languages import is_vietnamese
from assay.text.quantities.weekdays import list_days

_REACH = 120  # characters before a fact in which a frame is searched

_FRAME = build_pattern(rf"\b(?P<cue>{NOT_REAL}|{HEARSAY}|{OTHER_TIME_OR_PLACE})\b")
_PLACED = build_pattern(
    rf"(?:(?:yes|no|sure|dạ|vâng),? )?{PLACED}(?! {SUMMED_UP}[,:])"
    r" (?:(?:the|an?|our|your|their|this|that|some|other|another) )*(?=[^\s\d])"
)
"""Begins a sentence with where, under what or for whom a statement holds."""
_POINTS_BACK = build_pattern(rf"\s*[(]?(?:{TURNS_BACK}\b,? )?(?:{POINTS_BACK}\b(?!'ll)|{POINTS_BACK_BY_WORD}\b)")
"""Begins a sentence that speaks of the statement before it."""
_VIETNAMESE_POINTER = build_pattern(r"\s*[(]?(?:\w+ ){1,2}(?P<pointer>này|đó)\b")
"""The same with a noun before it: "dieu nay". Without diacritics "What to do" looks like one."""


def judge_frame(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact that an answer may hold without asserting it; None otherwise."""
    if not texts.question.words:
        return None
    reason = next(_list_reasons(texts, occurrence), "")
    return FactJudgment(texts.fact, "unknown", reason) if reason else None


def _list_reasons(texts: FactTexts, occurrence: Occurrence) -> Iterator[str]:
    answer, clause = texts.answer, occurrence.clause
    first = clause.start
    if answer.plain.endswith(": ", clause.sentence_start, first):
        first = clause.sentence_start
    frame = _FRAME.search(answer.plain, max(first, occurrence.start - _REACH), occurrence.start)
    if frame is not None and not any(frame["cue"] in text.plain for text in texts.explaining):
        cue = answer.text[frame.start("cue") : frame.end("cue")]
        yield f'the answer says this with "{cue}", so it may not hold, or not here and now'
    placed = _PLACED.match(answer.plain, clause.sentence_start, occurrence.start)
    if placed is not None:
        word = answer.take_next_word(placed.end())
        if word is not None and word.end <= occurrence.start and may_be_subject(word) and not texts.is_known(word):
            placed_at = answer.text[clause.sentence_start : word.end].strip()
            yield f'the answer says this for "{placed_at} …", and neither question nor evidence speak of that'
    if _is_taken_up(texts, clause.sentence_end):
        yield "the next sentence of the answer says more about this, and neither question nor evidence speak of that"


def _names_other_days(texts: FactTexts, start: int, end: int) -> bool:
    """Whether a stretch of the answer names days of the week, and none of those of the fact: "closed on Mondays"."""
    expected_days = set(list_days(texts.read_fact.plain, 0, len(texts.read_fact.plain)))
    stated_days = set(list_days(texts.answer.plain, start, end))
    return bool(expected_days and stated_days) and expected_days.isdisjoint(stated_days)


def _is_taken_up(texts: FactTexts, position: int) -> bool:
    """Whether the sentence at a position points back to what stands before, and nothing explains what it says."""
    answer = texts.answer
    if not _points_back(answer, position):
        return False
    end = answer.clause_at(min(position + 1, len(answer.plain) - 1)).sentence_end
    end = min(end, position + CLAUSE_REACH)
    if list_quantities(answer, position, end) or _names_other_days(texts, position, end):
        return False
    return not any(
        word.kind != "stop" and (texts.is_explained(word) or texts.is_known(word))
        for word in answer.list_words(position, end)
    )


def _points_back(answer: ReadText, position: int) -> bool:
    """Whether the sentence at a position speaks of the statement before it."""
    if _POINTS_BACK.match(answer.plain, position) is not None:
        return True
    match = _VIETNAMESE_POINTER.match(answer.plain, position)
    if match is None:
        return False
    is_marked = not answer.text[match.start("pointer") : match.end("pointer")].isascii()
    return is_marked or (not answer.has_marks and is_vietnamese(answer.text))
