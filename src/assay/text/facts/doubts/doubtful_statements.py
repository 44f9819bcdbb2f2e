"""What leaves open whether an answer still states a fact that it holds: doubt, the past, another value."""

from __future__ import annotations

from assay.text.facts.cues.condition_cues import OR
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.doubt_cues import UNREAL
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence, has_candidate, iterate_stated_indices
from assay.text.facts.reading.choices import offers_choice
from assay.text.facts.reading.statement_marks import (
    ASKS_PAST,
    DOUBT,
    OUTDATED,
    PARTIAL_QUANTIFIER,
    PAST_AFTER,
    PAST_BEFORE,
    PRESENT,
    RESPECTIVELY,
)
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity_agreement import is_about_same_span, is_comparable, is_same_quantity

_REACH = 160  # characters on either side in which words for past and present are searched
_REACH_OUTDATED = 40  # characters after a value in which it is said until when it was so
_UNREAL = LatePattern(rf"\b{UNREAL}")
_CONDITIONS = (" if ", " wenn ")
_RIVAL_GAP = build_pattern(rf"[\s,;/|$€£]*+(?:{OR}(?: \w++)? )?[\s$€£]*+").compiled


def judge_doubt(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact that is in doubt, about the past, or next to another value; None otherwise."""
    sentence = texts.answer.plain[occurrence.clause.sentence_start : occurrence.clause.sentence_end]
    reason = _name_doubt(texts, occurrence, sentence)
    if reason:
        return FactJudgment(texts.fact, "unknown", reason)
    plain, clause = texts.answer.plain, occurrence.clause
    before = plain[max(clause.sentence_start, occurrence.start - _REACH) : occurrence.start]
    following = plain[occurrence.end :][:_REACH]
    asks_past = ASKS_PAST.search(texts.question.plain) is not None
    if not asks_past and PRESENT.search(following) and (PAST_BEFORE.search(before) or PAST_AFTER.match(following)):
        return FactJudgment(texts.fact, "unknown", "the answer says this of the past")
    outdated = OUTDATED.search(texts.answer.plain, clause.sentence_start, occurrence.end + _REACH_OUTDATED)
    if (
        outdated is not None
        and outdated.start() < occurrence.start
        and not asks_past
        and not _is_expected(outdated[0], texts)
    ):
        return FactJudgment(texts.fact, "unknown", f'the answer says this of what was before ("{outdated[0].strip()}")')
    if has_candidate(texts, occurrence) and RESPECTIVELY.search(sentence):
        return FactJudgment(
            texts.fact, "unknown", "the answer lists several values, and only their order tells whose this is"
        )
    if _has_rival(texts, occurrence):
        return FactJudgment(
            texts.fact, "unknown", "the answer gives another value next to this, and which one it means is not clear"
        )
    return None


def _is_expected(words: str, texts: FactTexts) -> bool:
    """Whether fact, question or reference speak of it with the last of some words too: "the old town hall"."""
    last = words.split()[-1]
    return any(last in text.plain.split() for text in (texts.read_fact, texts.question, texts.reference))


def _name_doubt(texts: FactTexts, occurrence: Occurrence, sentence: str) -> str:
    if sentence.rstrip().endswith("?"):
        return "the answer only asks this"
    own = texts.read_fact.plain
    match = DOUBT.search(sentence)
    asked = (own, texts.question.plain, texts.reference.plain)  # "how many may be in a cave?" doubts nothing
    is_choice = match is not None and match[0] == "either" and offers_choice(texts.reference.text)
    if match is not None and not is_choice and not any(match[0] in text for text in asked):
        return f'the answer is not sure of this ("{match[0]}")'
    if _is_unreal(texts, occurrence):
        return "the answer says that this would hold, if something were so"
    partly = PARTIAL_QUANTIFIER.search(texts.answer.plain, occurrence.clause.start, occurrence.start)
    is_one_of_all = partly is not None and partly[0].startswith("one ") and _is_expected_count(texts, partly.end())
    if partly is not None and not is_one_of_all and partly[0] not in own and partly[0] not in texts.question.plain:
        return f'the answer says this of a part only ("{partly[0]}")'
    return ""


def _is_expected_count(texts: FactTexts, end: int) -> bool:
    """Whether a number of the reference stands at a place: "one of the six points", for "there are six points"."""
    counts = [own for own in texts.answer.quantities if 0 <= own.start - end <= 1]
    return any(is_same_quantity(wanted, own) for own in counts for wanted in texts.reference.quantities)


def _is_unreal(texts: FactTexts, occurrence: Occurrence) -> bool:
    """Whether a fact stands in a statement that does not hold: "it would be 12 days if you worked full time"."""
    low, high = occurrence.clause.sentence_start, occurrence.clause.sentence_end
    sentence = f" {texts.answer.text[low:high].lower()}"
    if not any(word in sentence for word in _CONDITIONS):
        return False
    if any(word in f" {texts.question.plain}" for word in _CONDITIONS):
        return False  # "what would it cost if I had a card?"
    start, end = occurrence.start - low + 1, occurrence.end - low + 1
    return any(start < cue.end() and cue.start() < end for cue in _UNREAL.finditer(sentence))


def _has_rival(texts: FactTexts, occurrence: Occurrence) -> bool:
    """Whether a quantity that nobody expects is joined to one of the fact by "or" or in a bare list."""
    quantities = texts.answer.quantities
    for index in iterate_stated_indices(texts.answer, occurrence):
        quantity = quantities[index]
        for neighbour in quantities[max(0, index - 1) : index] + quantities[index + 1 : index + 2]:
            first, second = sorted((quantity, neighbour), key=lambda item: item.start)
            gap = texts.answer.plain[first.end : second.start]
            is_expected = any(
                is_same_quantity(wanted, neighbour) or is_same_quantity(neighbour, wanted) for wanted in texts.expected
            )
            is_other = is_comparable(quantity, neighbour) and not is_about_same_span(quantity, neighbour)
            if _RIVAL_GAP.fullmatch(gap) and not is_expected and is_other:
                return True
    return False
