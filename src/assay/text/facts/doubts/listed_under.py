"""Facts that an answer lists under a heading that says the opposite, or something else, of what it lists.

"Not covered:" and "You can leave at home:" hold for every line below them. Without such words, a heading says of its
lines what a sentence would. The patterns are for folded text (`fold_in_place`).
"""

from __future__ import annotations

from assay.text.facts.cues.condition_cues import HEADED_BY_PLACE, HEADED_BY_TIME, SUMMED_UP
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import LEFT_OUT, NOT_IN_HEADING
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.list_headings import find_list_heading
from assay.text.facts.reading.negations import find_negations
from assay.text.languages import guess_language

_NOT_AT_END = build_pattern(rf"(?:\b{NOT_IN_HEADING}\b|n't\b)(?! (?:forget|only|just|miss)\b)(?: [\w/']+){{0,3}} ?:?$")
_DETERMINERS = r"(?: (?:the|an?|our|your|this|that|der|die|das|den|dem|eine[mnr]?|le|la|les|un|une|votre))*"
_AT_PLACE = build_pattern(rf"{HEADED_BY_PLACE}\b(?! {SUMMED_UP}[,:]){_DETERMINERS} (?=\w)")
_AT_TIME = build_pattern(rf"{HEADED_BY_TIME}\b")
_SPEAKS_OF_TIME = build_pattern(rf"\b{HEADED_BY_TIME}\b")
_NOT = build_pattern(rf"\b{NOT_IN_HEADING}\b")
_LEFT_OUT = build_pattern(rf"\b{LEFT_OUT}\b")


def judge_heading(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact under a heading that leaves out, denies or names another; None otherwise."""
    heading = find_list_heading(texts.answer, occurrence.start) if texts.question.words else None
    if heading is None:
        return None
    is_inline = "\n" not in texts.answer.lined[heading[1] : occurrence.start]
    if is_inline and texts.read_fact.quantities:
        return None  # "It isn't much: €50"
    if not (_leaves_out(texts, *heading) or _holds_elsewhere(texts, *heading) or _names_other(texts, *heading)):
        return None
    quoted = texts.answer.text[slice(*heading)].strip()
    return FactJudgment(texts.fact, "unknown", f'the answer lists this under "{quoted}"')


def _leaves_out(texts: FactTexts, start: int, end: int) -> bool:
    plain = texts.answer.plain
    if _LEFT_OUT.search(plain, start, end) is not None:
        return not texts.has_cue(_LEFT_OUT) and not _denies(texts)
    return _NOT_AT_END.search(plain[start:end]) is not None and not _denies(texts)


def _denies(texts: FactTexts) -> bool:
    """Whether question, reference or a fact deny something, so that a right answer does too."""
    return texts.has_cue(_NOT) or any(find_negations(text) for text in texts.explaining)


def _holds_elsewhere(texts: FactTexts, start: int, end: int) -> bool:
    """Whether a heading begins with a place or purpose that nothing speaks of, or a time: "For the exam, bring:"."""
    answer = texts.answer
    if _AT_TIME.match(answer.plain, start, end) is not None:
        return not texts.has_cue(_SPEAKS_OF_TIME)
    place = _AT_PLACE.match(answer.plain, start, end)
    word = answer.take_next_word(place.end()) if place is not None else None
    return word is not None and word.end <= end and may_be_subject(word) and not texts.is_known(word)


def _names_other(texts: FactTexts, start: int, end: int) -> bool:
    """Whether a heading names something that nothing explains, and not what the question names: "Premium covers:".

    Not where nouns are written with capitals.
    """
    if guess_language(texts.question.text) is None:
        return False
    words = texts.answer.list_words(start, end)
    named = [word for word in texts.list_topics() if word.kind in ("name", "id")]
    if not named or any(texts.answer.find_word(word, True) for word in named):
        return False
    return any(word.is_capitalised and texts.is_new(word) for word in words)
