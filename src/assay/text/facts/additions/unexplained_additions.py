"""What an answer adds beside a fact that question, reference and facts do not have: words, values, and where."""

from __future__ import annotations

from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.read_text import ReadText, Word, cache_of_texts
from assay.text.facts.reading.text_parts import Part, list_quantities, split_parts
from assay.text.quantities.payment_cues import NOTHING_TO_PAY
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.quantity_index import QuantityIndex

REACH = 240
"""Characters after a fact in which it may be corrected."""


def find_part(texts: FactTexts, occurrence: Occurrence) -> Part:
    """Return the part of its sentence in which an answer says a fact, or the clause if none holds it."""
    parts = split_parts(texts.answer, occurrence.clause.sentence_start, occurrence.clause.sentence_end)
    whole = Part(occurrence.clause.start, occurrence.clause.end, False)
    return next((part for part in parts if part.start <= occurrence.start < part.end), whole)


def find_end(texts: FactTexts, occurrence: Occurrence) -> int:
    """Return where a fact ends; of one that says that there is nothing to pay only the start is marked."""
    free = NOTHING_TO_PAY.match(texts.answer.plain, occurrence.start)
    return occurrence.end if free is None else max(occurrence.end, free.end())


def list_new_values(texts: FactTexts, low: int, high: int) -> list[Quantity]:
    """Return the quantities between two positions of an answer that no text of the case has."""
    values = [own for own in list_quantities(texts.answer, low, high) if not own.is_spelled_one]
    for texts_of_case in (tuple(texts.explaining), texts.passages):
        if values:
            expected = _index_values(tuple(texts_of_case))
            values = [own for own in values if not _is_among(own, expected)]
    return values


def _is_among(own: Quantity, expected: QuantityIndex) -> bool:
    return any(is_same_quantity(wanted, own) for wanted in expected.iterate_candidates(own))


@cache_of_texts(maxsize=16)
def _index_values(texts: tuple[ReadText, ...]) -> QuantityIndex:
    """Return the quantities of the texts of a case, which all of its facts share."""
    return QuantityIndex([own for text in texts for own in text.quantities])


def find_part_end(texts: FactTexts, low: int, high: int) -> int:
    """Return where the part of an answer ends that begins at a position, at the latest at another."""
    return next((part.end for part in split_parts(texts.answer, low, high)), high)


def find_new_word(texts: FactTexts, low: int, high: int) -> Word | None:
    """Return the last of the words between two positions of an answer that nothing explains; None if all are."""
    new = [word for word in texts.answer.list_words(low, high) if may_be_subject(word) and not texts.is_known(word)]
    return new[-1] if new else None
