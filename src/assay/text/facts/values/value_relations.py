"""On which side of a thing an answer says a value: before or after it, with it or without it, to it or from it.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word
from assay.text.facts.reading.text_parts import Part, find_part, list_quantities
from assay.text.facts.reading.word_senses import find_same_sense
from assay.text.normalisation import fold_in_place
from assay.text.quantities.quantity import Quantity, is_span
from assay.text.quantities.quantity_agreement import is_same_value


def judge_relation(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of words that are said after what they are expected before: "after the goods leave".

    So is a value that is said of what is "trong giờ" (within hours), asked of what is "ngoài giờ" (outside hours).
    """
    answer, clause = texts.answer, occurrence.clause
    stated_relations = _list_opposed_relations(
        texts, texts.read_fact, texts.content, (clause.start, clause.end), _FURTHEST
    )
    if stated_relations:
        is_open = stated_relations == {"opposite", "same"} or bool(
            find_negations(answer, clause.sentence_start, clause.sentence_end)
        )
        return FactJudgment(
            texts.fact, "unknown" if is_open else "denied", "the answer says the opposite, such as before for after"
        )
    inserted = _find_inserted(texts, occurrence) if stated is None else ""
    if inserted:
        return FactJudgment(texts.fact, "unknown", f'the answer says "{inserted}" where this does not')
    if not any(word.folded in _RELATION_WORDS for word in texts.question.words):
        return None
    part = find_part(answer, clause, occurrence.start if stated is None else stated.start)
    if stated is not None and is_span(stated) and _is_length(texts, part):
        return FactJudgment(
            texts.fact, "unknown", "the answer says how long it takes, and not how long before or after"
        )
    contrary = _find_contrary_side(texts, part)
    if contrary is not None:
        spelled = answer.text[contrary.start : contrary.end]
        return FactJudgment(texts.fact, "unknown", f'the answer says this of the other side of "{spelled}"')
    if _list_opposed_relations(texts, texts.question, texts.list_topics(), (part.start, part.end), _NEAREST):
        return FactJudgment(texts.fact, "unknown", "the answer says this of the opposite of what is asked")
    return None


_ASKS_HOW_FAR = build_pattern(r"how (?:long|many \w+|soon) (?:before|after|ahead|in advance|prior)\b")
_TAKES = build_pattern(r"\b(?:takes?|lasts?|goes on for|dauert)\b")


def _is_length(texts: FactTexts, part: Part) -> bool:
    """Whether a part of an answer says how long something takes, where it is asked how long before or after another."""
    asks = _ASKS_HOW_FAR.search(texts.question.plain)
    if asks is None or _TAKES.search(texts.answer.plain, part.start, part.end) is None:
        return False
    return not any(word.folded in _RELATION_WORDS for word in texts.answer.list_words(part.start, part.end))


def _find_inserted(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return a "before" or "after" between the words of a fact that has none: "the day after you book", for "the day
    you book"; "" if there is none."""
    for word in texts.answer.list_words(occurrence.start, occurrence.spans[-1][0]):
        relation = _RELATION_WORDS.get(word.folded)
        if relation is not None and relation[1][0] == _TIME and not texts.read_fact.find_word(word, True):
            if find_same_sense(texts.read_fact, word.folded):
                continue
            return word.folded
    return ""


def _list_opposed_relations(
    texts: FactTexts, text: ReadText, words: Sequence[Word], span: tuple[int, int], furthest: int
) -> set[str]:
    """Return which relations a stretch of the answer says with a word of a text, if the first is the opposite one.

    "Same" and "opposite": "before delivery you get a note, and after delivery you pay" has both.
    """
    answer = texts.answer
    for word in words:
        if sum(other.key == word.key for other in words) > 1:
            continue  # "from Monday to Friday", in Vietnamese "từ thứ Hai đến thứ Sáu": "thứ" has both relations
        wanted = _find_relation(text, 0, word.start, furthest)
        if wanted is None or (wanted[0] == _ROUTE and text is texts.question):
            continue
        places = (answer.words[index].start for index in answer.find_word(word, texts.ignore_marks))
        relations = [_find_relation(answer, span[0], at, furthest) for at in places if span[0] <= at < span[1]]
        comparable = [_compare(relation, wanted) for relation in relations if relation is not None]
        comparable = [relation for relation in comparable if relation[0] == wanted[0]]
        if comparable and comparable[0] != wanted:
            return {"same" if relation == wanted else "opposite" for relation in comparable}
    return set()


def _compare(relation: tuple[int, int], wanted: tuple[int, int]) -> tuple[int, int]:
    """Return a relation as one of the pair of another, if both are of time: "until" is "before", "from" is "after"."""
    is_time = {relation[0], wanted[0]} == {_TIME, _ROUTE}
    return (wanted[0], 1 - relation[1]) if is_time else relation


def _find_contrary_side(texts: FactTexts, part: Part) -> Quantity | None:
    """Return a value of the question that a part of an answer has with the opposite relation: "after 4 pm"."""
    for asked in texts.question.quantities:
        wanted = _find_relation(texts.question, 0, asked.start, _NEAREST)
        if wanted is None:
            continue
        for own in list_quantities(texts.answer, part.start, part.end):
            relation = _find_relation(texts.answer, part.start, own.start, _NEAREST)
            is_opposite = relation is not None and relation[0] == wanted[0] and relation[1] != wanted[1]
            is_beyond = {asked.bound[:1], own.bound[:1]} == {"<", ">"}
            if (is_opposite or is_beyond) and is_same_value(asked, own):
                return own
    return None


_RELATIONS = (
    (frozenset(("before", "trước")), frozenset(("after", "following", "sau"))),
    (frozenset(("above", "over", "trên")), frozenset(("below", "under", "beneath", "dưới"))),
    (frozenset(("inside", "within", "trong")), frozenset(("outside", "ngoài"))),
    (frozenset(("from", "từ")), frozenset(("to", "until", "đến", "tới"))),
    (frozenset(("with", "mit", "avec")), frozenset(("without", "ohne", "sans"))),
)
_TIME = 0  # the place of "before" and "after"
_ROUTE = 3  # the place of the pair of which both may hold of one thing: a question about "from" is answered by "to"
_FURTHEST, _NEAREST = 3, 2  # words between a relation and what it is said of, in a fact and in a question


_RELATION_WORDS = {
    fold_in_place(spelled): (spelled, (pair, side))
    for pair, sides in enumerate(_RELATIONS)
    for side, words in enumerate(sides)
    for spelled in words
}


def _find_relation(text: ReadText, low: int, position: int, furthest: int) -> tuple[int, int] | None:
    """Return the pair and the side of the last relation before a position, None if none of the words there is one."""
    last = text.find_index(position)
    for index in range(last - 1, max(-1, last - furthest - 1), -1):
        word = text.words[index]
        if word.start < low:
            break
        spelled, relation = _RELATION_WORDS.get(word.folded, ("", None))
        if relation is None:
            continue
        written = text.text[word.start : word.end].lower()
        if written == spelled or not text.has_marks:
            return relation
    return None
