"""Whether a text has the values of a fact, whatever it says of them."""

from __future__ import annotations

from collections.abc import Iterable

from assay.text.facts.reading.read_text import read_text
from assay.text.quantities.quantity import Quantity, is_time, remove_bound, split_range
from assay.text.quantities.quantity_agreement import is_same_quantity


def mentions_fact(text: str, fact: str) -> bool:
    """Return whether a sentence of a text has the quantities of a fact, in any form, and its other words; not what it
    says of them. Facts without a quantity are never mentioned.

    >>> mentions_fact("| Friday | 11:00 am | 4:00 pm |", "4 pm")
    True
    """
    read_fact = read_text(fact)
    if not read_fact.quantities:
        return False
    read = read_text(text)
    rates = [quantity.rate_span for quantity in read_fact.quantities]
    words = [word for word in read_fact.words if word.kind != "stop"]
    words = [word for word in words if not any(start <= word.start < end for start, end in rates)]
    ignore_marks = not (read_fact.has_marks and read.has_marks)
    for anchor in read.quantities:
        if not is_value_among(read_fact.quantities[0], [anchor]):
            continue
        clause = read.clause_at(anchor.start)
        low, high = clause.sentence_start, clause.sentence_end
        quantities = [own for own in read.quantities if low <= own.start < high]
        indices = [read.find_word(word, ignore_marks) for word in words]
        has_words = all(any(low <= read.words[place].start < high for place in places) for places in indices)
        if has_words and all(is_value_among(wanted, quantities) for wanted in read_fact.quantities):
            return True
    return False


def is_value_among(wanted: Quantity, quantities: Iterable[Quantity]) -> bool:
    """Return whether a quantity is one of others, or an end of a range of times; bounds do not count."""
    wanted = remove_bound(wanted)
    for own in quantities:
        if is_same_quantity(wanted, remove_bound(own), unit_required=True):
            return True
        if is_time(own) and is_time(wanted) and any(is_same_quantity(wanted, end) for end in split_range(own)):
            return True
    return False
