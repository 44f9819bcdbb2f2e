"""Where the sources of a case have a value: reference, facts and the passages of the evidence.

Of each source only the part counts that has the value: "low season £26, high season £32" says the first of the low
season alone. What an answer says with a value as its source does is no other statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.reading.read_text import ReadText, Word, cache_of_texts, read_text
from assay.text.facts.reading.text_parts import find_part, list_quantities
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_comparable, is_same_quantity


def iterate_value_sources(texts: FactTexts, stated: Quantity) -> Iterator[ReadText]:
    """Yield the parts of reference, facts and passages that have a value."""
    for text in chain(texts.reference_and_facts, texts.passages):
        yield from _list_parts(text, stated)


def is_said_with(texts: FactTexts, word: Word, stated: Quantity) -> bool:
    """Return whether a source has a word in the part with a value, or in a sentence with no other such value."""
    return any(part.find_word(word, True) for part in iterate_value_sources(texts, stated))


@cache_of_texts(maxsize=512)
def _list_parts(text: ReadText, stated: Quantity) -> Sequence[ReadText]:
    parts = []
    for own in text.quantities:
        if not is_same_quantity(own, stated):
            continue
        low, high = find_stretch(text, own)
        parts.append(read_text(text.text[low:high]))
    return parts


def find_stretch(text: ReadText, own: Quantity) -> tuple[int, int]:
    """Return the sentence of a value, or its part of one that has another value of the kind."""
    clause = text.clause_at(own.start)
    beside = list_quantities(text, clause.sentence_start, clause.sentence_end)
    if not any(is_comparable(own, other) and not is_same_quantity(own, other) for other in beside):
        return clause.sentence_start, clause.sentence_end
    part = find_part(text, clause, own.start)
    return part.start, part.end
