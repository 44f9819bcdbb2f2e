"""Numbers and dates of an answer that no text has, in whatever form they are written there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import accumulate

from msgspec import Struct, structs

from assay.text.citation_markers import remove_citation_markers
from assay.text.facts.presence.mentioned_values import is_value_among
from assay.text.markup import blank_list_numbers
from assay.text.normalisation import MOST_READ, normalise_nfc
from assay.text.numbers import Date, Number, find_quantities, is_split_number
from assay.text.quantities.derived_values import DerivedValues
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity, is_telephone_number, split_range
from assay.text.quantities.quantity_index import QuantityIndex
from assay.text.quantities.spoken_numbers import is_ordinal_among
from assay.text.quantities.unit_names import split_glued_units


def find_unsupported_numbers(answer: str, texts: Iterable[str]) -> list[str]:
    """Return the numbers and dates of the answer that no text contains, as they are written; not those of markers of
    citations and lists, nor the year of a date that a text has.

    Of a long answer the first 200,000 characters are read.

    >>> find_unsupported_numbers("14 days, 5 of them in May [3]", ["5 days"])
    ['14 days']
    """
    read = _read_numbers(answer[:MOST_READ])
    shown = _read_shown(tuple(texts))
    unsupported = [item for item in read.items if item not in shown.numbers and not read.phones.list_around(item)]
    # A value may be there in another form: "4 pm" as "4:00 pm", the 11 of "11-4 pm" as "11:00", two weeks as 14 days.
    unknown = [item for item in unsupported if not any(map(shown.has_value, read.measures.list_around(item)))]
    # "The first month" is respelled to be read, and a source may have the 1st in words.
    quoted = [(item.start, read.text[item.start : item.end]) for item in unknown if not _is_spelled_out(item)]
    in_words = {text for text in {text for _, text in quoted} if is_ordinal_among(text, read.written, shown.texts)}
    quoted = [(start, text) for start, text in quoted if text not in in_words]
    absent_phones = [phone for phone in read.phones.in_order if not shown.has_value(phone)]
    quoted += [(phone.start, read.text[phone.start : phone.end]) for phone in absent_phones]
    return [text for _, text in sorted(quoted)]


class _ReadNumbers(Struct, frozen=True):
    """The numbers and dates of an answer, its measures, and those of them that are telephone numbers.

    `written`: the answer without markers; `text`: the same as numbers are read in it.
    """

    written: str
    text: str
    items: list[Number | Date]
    measures: _PlacedMeasures
    phones: _PlacedMeasures


@lru_cache(maxsize=8)
def _read_numbers(answer: str) -> _ReadNumbers:
    """Read an answer once for the rules that compare it with several texts."""
    written = normalise_nfc(blank_list_numbers(remove_citation_markers(answer)))
    text = split_glued_units(written)
    measures = find_measures(text)
    phones = [measure for measure in measures if is_telephone_number(measure)]
    return _ReadNumbers(written, text, find_quantities(text), _PlacedMeasures(measures), _PlacedMeasures(phones))


class _PlacedMeasures:
    """Measures in the order of their text, found by what lies inside them."""

    def __init__(self, measures: Sequence[Quantity]) -> None:
        self.in_order = sorted(measures, key=_get_start)
        self._furthest_ends = list(accumulate([measure.end for measure in self.in_order], max))

    def list_around(self, item: Number | Date) -> list[Quantity]:
        """Return the measures that a number or date lies inside, the last one first."""
        index = bisect_right(self.in_order, item.start, key=_get_start) - 1
        around = []
        while index >= 0 and self._furthest_ends[index] >= item.end:
            if self.in_order[index].end >= item.end:
                around.append(self.in_order[index])
            index -= 1
        return around


def _get_start(measure: Quantity) -> int:
    return measure.start


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
            if isinstance(item, Date):
                years = {Decimal(year) for year, _, _ in item.readings if year}
                self.values |= years
                self.whole_values |= years
            self.whole_values.update(item.readings[:1] if _may_be_two(item) else item.readings)

    def __contains__(self, item: Number | Date) -> bool:
        """Whether a text has the number; where both may be two numbers, both must be the same one."""
        return not (self.whole_values if _may_be_two(item) else self.values).isdisjoint(item.readings)


def _may_be_two(item: Number | Date) -> bool:
    return isinstance(item, Number) and is_split_number(item.readings)


class _ShownValues:
    """The numbers of texts, and their measures once one is looked for, with what was found of each."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        self.numbers = _ShownNumbers(texts)
        self._found: dict[Quantity, bool] = {}

    @cached_property
    def _measures(self) -> list[Quantity]:
        measures = [_forget_place(measure) for text in self.texts for measure in find_measures(text)]
        return list(dict.fromkeys(measures))

    def has_value(self, measure: Quantity) -> bool:
        """Whether a text has the value of a measure, in any form; of a range that it has not, both of its ends."""
        value = _forget_place(measure)
        if value not in self._found:
            ends = split_range(value)
            self._found[value] = is_value_among(value, self._measures) or (
                bool(ends) and all(is_value_among(end, self._measures) for end in ends)
            )
        return self._found[value]


_read_shown = lru_cache(maxsize=16)(_ShownValues)
"""The rules of a case compare several texts with the same few."""


def _forget_place(measure: Quantity) -> Quantity:
    """Return a measure as its value alone, wherever it stands and whatever bound it is."""
    return structs.replace(measure, start=0, end=0, rate_span=(0, 0), bound="")


def quote_numbers(text: str, numbers: Iterable[Number | Date]) -> list[str]:
    """Return numbers and dates as the text writes them; spelled-out words ("one of them") are left out."""
    normalised = normalise_nfc(text)
    return [normalised[item.start : item.end] for item in numbers if not _is_spelled_out(item)]


def _is_spelled_out(item: Number | Date) -> bool:
    return isinstance(item, Number) and item.is_spelled_out
