"""Where an answer to a question for one value lists many: every price is not the price that was asked for.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.question_cues import ASKS_FOR_MANY
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.reading.read_text import ReadText, read_text
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_comparable, is_same_value

MOST_OTHER_VALUES = 3
"""So many other values of its kind may be next to the one that was asked for, such as the fares of other ages. Of 559
right answers of `benchmarks.facts` that state their value, none has more than 2."""
_ASKS_FOR_MANY = build_pattern(rf"\b{ASKS_FOR_MANY}\b")


def name_listed_values(texts: FactTexts, stated: Quantity | None) -> str:
    """Return how many other values of its kind an answer states beside the one that a question asks for; "" for few,
    and where question, reference or facts ask for several."""
    if stated is None or _asks_for_many(texts, stated):
        return ""
    explained = [own for text in texts.explaining for own in text.quantities]
    others = _list_others(texts.answer, stated, explained)
    if len(others) <= MOST_OTHER_VALUES:
        return ""
    first = ", ".join(texts.answer.text[own.start : own.end] for own in others[:2])
    return f"it lists {len(others)} other values of this kind ({first}, …), and one is asked for"


def name_competing_value(answer: str, question: str, expected: Sequence[str]) -> str:
    """Return another value of the kind that a question asks for, of an answer that is a passage as it stands; "" if it
    has none.

    Who copies a passage has not chosen among its values (ADR 228). `expected`: reference and facts.

    >>> passage = "A day ticket is 12 euros for adults and 8 euros for children. Dogs stay outside."
    >>> name_competing_value(passage, "What does a day ticket cost for adults?", ["12 euros"])
    '8 euros'
    """
    asked, wanted = read_text(question), [read_text(text) for text in expected]
    read_answer, explained = read_text(answer), [own for text in (asked, *wanted) for own in text.quantities]
    for stated in (own for text in wanted for own in text.quantities):
        if _asks_for_several(asked, wanted, stated) or not _has_value(read_answer.quantities, stated):
            continue
        for own in _list_others(read_answer, stated, explained):
            return read_answer.text[own.start : own.end]
    return ""


def _list_others(answer: ReadText, stated: Quantity, explained: Sequence[Quantity]) -> list[Quantity]:
    """Return the values of an answer that are of the kind of another one, each once, without the explained ones."""
    others: list[Quantity] = []
    for own in answer.quantities:
        if own.is_spelled_one or not is_comparable(stated, own) or is_same_value(stated, own):
            continue
        if not _has_value(explained, own) and not _has_value(others, own):
            others.append(own)
    return others


def _asks_for_many(texts: FactTexts, stated: Quantity) -> bool:
    """Return whether a question asks for several values, in its words or because reference or facts have several."""
    return _asks_for_several(texts.question, texts.reference_and_facts, stated)


def _asks_for_several(question: ReadText, expected: Sequence[ReadText], stated: Quantity) -> bool:
    if _ASKS_FOR_MANY.search(question.plain) is not None:
        return True
    wanted = [own for text in expected for own in text.quantities if is_comparable(stated, own)]
    return any(not is_same_value(wanted[0], own) for own in wanted[1:])


def _has_value(values: Sequence[Quantity], value: Quantity) -> bool:
    return any(is_same_value(other, value) for other in values)
