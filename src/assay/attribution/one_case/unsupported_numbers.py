"""Numbers and dates of an answer that no text has, in whatever form they are written there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from assay.text.citation_markers import remove_citation_markers
from assay.text.facts.presence.mentioned_values import is_value_among
from assay.text.normalisation import normalise_nfc
from assay.text.numbers import Date, Number, find_quantities, is_split_number
from assay.text.quantities.derived_values import DerivedValues
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity, is_telephone_number, split_range
from assay.text.quantities.quantity_index import QuantityIndex
from assay.text.quantities.spoken_numbers import is_ordinal_among
from assay.text.quantities.unit_names import split_glued_units


def find_unsupported_numbers(answer: str, texts: Iterable[str]) -> list[str]:
    """Return the numbers and dates of the answer that no text contains, as they are written; not those of markers.

    >>> find_unsupported_numbers("14 days, 5 of them in May [3]", ["5 days"])
    ['14 days']
    """
    written = normalise_nfc(remove_citation_markers(answer))
    answer = split_glued_units(written)
    texts = list(texts)
    shown_numbers = _ShownNumbers(texts)
    measures = find_measures(answer)
    phones = [measure for measure in measures if is_telephone_number(measure)]
    unsupported = [
        item for item in find_quantities(answer) if item not in shown_numbers and not _is_inside(item, phones)
    ]
    if not unsupported and not phones:
        return []
    # A value may be there in another form: "4 pm" as "4:00 pm", the 11 of "11-4 pm" as "11:00", two weeks as 14 days.
    shown = [measure for text in texts for measure in find_measures(text)]
    supported = [measure for measure in measures if _is_shown(measure, shown)]
    unknown = [item for item in unsupported if not _is_inside(item, supported)]
    # "The first month" is respelled to be read, and a source may have the 1st in words.
    unknown = [item for item in unknown if not is_ordinal_among(answer[item.start : item.end], written, texts)]
    quoted = [(item.start, answer[item.start : item.end]) for item in unknown if not _is_spelled_out(item)]
    quoted += [(phone.start, answer[phone.start : phone.end]) for phone in phones if phone not in supported]
    return [text for _, text in sorted(quoted)]


def leave_out_derived(numbers: Sequence[str], answer: str, question: str, texts: Iterable[str]) -> list[str]:
    """Return the numbers of an answer that do not follow from the question, the texts and each other.

    >>> leave_out_derived(["€36", "€35"], "3 × €12 = €36, or €35", "What do 3 cost?", ["€12 each"])
    ['€35']
    """
    stated = [end for text in texts for measure in find_measures(text) for end in (measure, *split_range(measure))]
    written = split_glued_units(normalise_nfc(remove_citation_markers(answer)))
    derived = DerivedValues(question, QuantityIndex(stated)).find(written)
    spelled = " ; ".join(written[measure.start : measure.end] for measure in derived)
    return [number for number in numbers if number not in spelled or find_unsupported_numbers(number, [spelled])]


class _ShownNumbers:
    """The numbers and dates of texts, by their readings."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.values: set[Decimal | tuple[int, int, int]] = set()
        self.whole_values: set[Decimal | tuple[int, int, int]] = set()
        for item in [item for text in texts for item in find_quantities(text)]:
            self.values.update(item.readings)
            self.whole_values.update(item.readings[:1] if _may_be_two(item) else item.readings)

    def __contains__(self, item: Number | Date) -> bool:
        """Whether a text has the number; where both may be two numbers, both must be the same one."""
        return not (self.whole_values if _may_be_two(item) else self.values).isdisjoint(item.readings)


def _may_be_two(item: Number | Date) -> bool:
    return isinstance(item, Number) and is_split_number(item.readings)


def _is_shown(measure: Quantity, shown: Sequence[Quantity]) -> bool:
    ends = split_range(measure)
    return is_value_among(measure, shown) or (bool(ends) and all(is_value_among(end, shown) for end in ends))


def _is_inside(item: Number | Date, measures: Sequence[Quantity]) -> bool:
    return any(measure.start <= item.start and item.end <= measure.end for measure in measures)


def quote_numbers(text: str, numbers: Iterable[Number | Date]) -> list[str]:
    """Return numbers and dates as the text writes them; spelled-out words ("one of them") are left out."""
    normalised = normalise_nfc(text)
    return [normalised[item.start : item.end] for item in numbers if not _is_spelled_out(item)]


def _is_spelled_out(item: Number | Date) -> bool:
    return isinstance(item, Number) and item.is_spelled_out
