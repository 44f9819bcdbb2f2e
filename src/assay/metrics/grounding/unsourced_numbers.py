"""Numbers of an answer that come from nowhere: neither the question, the context nor the golden case has them.

Only what is written in digits is looked at: amounts, dates, shares, times. Whether a number means something else in the
answer than in its source is not asked here (`contradiction_suspects`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import count

from msgspec import structs

from assay.metrics.answer_metric import UNDEFINED_GROUNDING, Scorers, define_answer_metric
from assay.metrics.cases.case_index import CHUNK_ID
from assay.metrics.grounding.faithfulness import find_grounding_exclusion
from assay.metrics.judged.judge_requests import Outcome, scored_outcome
from assay.metrics.metric import Metric
from assay.metrics.parsed_answer import ParsedAnswer, format_list
from assay.records.observations import CONTEXT_STAGE
from assay.text.markup import remove_markup
from assay.text.normalisation import fold_text, normalise_nfc
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.derived_values import DerivedValues
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity, is_plain, split_range
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.quantity_index import QuantityIndex
from assay.text.quantities.spoken_numbers import is_ordinal_among
from assay.text.quantities.unit_names import split_glued_units
from assay.text.tokens import stem_word

_DIGITS = compile_pattern(r"[0-9]+(?:[.,][0-9]+)*")
_NEAR = 60
"""Characters on either side of a number's digits that are read first."""
_MOST_READ_NEAR = 2_000_000
"""Characters that are searched and read in this way; from then on all sources have been read, and are compared."""
_COST_OF_READING = 50  # reading a character takes about as long as searching so many


def list_unsourced_numbers(reading: ParsedAnswer) -> list[str]:
    """Return the numbers in the claims of an answer that no source has, as written, in order."""
    claims = [claim.text for claim in reading.claims if _DIGITS.search(claim.text)]
    if not claims:
        return []
    sources = _Sources(_iter_sources(reading))
    unsourced: list[str] = []
    derived = _DerivedInClaims(reading, claims, sources)
    for place, claim in enumerate(claims):
        text = split_glued_units(normalise_nfc(claim))
        for quantity in find_measures(claim):
            number = text[quantity.start : quantity.end].strip()
            if not _DIGITS.search(number) or sources.have(quantity, number) or sources.have_ordinal(number, claim):
                continue
            if quantity.bound and sources.have_within(quantity, text):
                continue
            if not derived.have(place, quantity):
                unsourced.append(number)
    return list(dict.fromkeys(unsourced))


class _DerivedInClaims:
    """Which quantities of claims follow from others; calculated only where one is in no source."""

    def __init__(self, reading: ParsedAnswer, claims: Sequence[str], sources: _Sources) -> None:
        self._reading, self._claims, self._sources = reading, claims, sources

    @cached_property
    def _starts(self) -> list[set[int]]:
        case = self._reading.case.case
        asked = "\n".join([*(turn.text for turn in case.history if turn.role == "user"), case.question])
        derived = DerivedValues(asked, self._sources.stated)
        return [{quantity.start for quantity in derived.find(claim)} for claim in self._claims]

    def have(self, place: int, quantity: Quantity) -> bool:
        """Return whether a quantity of the claim at a place follows from others."""
        return quantity.start in self._starts[place]


class _Sources:
    """The texts in which a number may stand. What stands near its digits is read first, everything only if need be."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._unread = iter(texts)
        self._plain: list[str] = []
        self._read_near = 0
        self._known: dict[tuple[Quantity, str], bool] = {}

    @property
    def _texts(self) -> Iterator[str]:
        """The texts without markup, each made plain when it is asked for the first time."""
        for place in count():
            if place == len(self._plain):
                text = next(self._unread, None)
                if text is None:
                    return
                self._plain.append(normalise_nfc(remove_markup(text)))
            yield self._plain[place]

    @cached_property
    def _measured(self) -> list[tuple[str, list[Quantity]]]:
        """Each text as its quantities are spelled, with these."""
        return [(split_glued_units(text), find_measures(text)) for text in self._texts]

    @cached_property
    def stated(self) -> QuantityIndex:
        """All quantities, and the ends of ranges, without their bounds."""
        return QuantityIndex([end for _, stated in self._measured for end in _list_ends(stated)])

    def have(self, quantity: Quantity, number: str) -> bool:
        """Return whether some text states a quantity, written as `number` in the answer."""
        key = structs.replace(quantity, start=0, end=0, bound="", rate_span=(0, 0)), number
        if key not in self._known:
            self._known[key] = self._find(key[0], number)
        return self._known[key]

    def have_ordinal(self, number: str, claim: str) -> bool:
        """Return whether a number is an ordinal that the claim or a text has in words."""
        return is_ordinal_among(number, claim, self._texts)

    def _find(self, quantity: Quantity, number: str) -> bool:
        if self._read_near <= _MOST_READ_NEAR and _is_stated(quantity, self._iter_near(number)):
            return True
        if any(_is_supported(quantity, end) for end in self.stated.iterate_candidates(quantity)):
            return True
        parts = split_range(quantity)
        return bool(parts) and all(self._have_end(part) for part in parts)

    def _have_end(self, end: Quantity) -> bool:
        return any(is_same_quantity(other, end) for other in self.stated.iterate_candidates(end))

    def have_within(self, quantity: Quantity, claim: str) -> bool:
        """Return whether some text states a value that makes a bound of a claim true: 116 for "more than 100".

        A plain number has to count what the claim counts, and none may be ten times as large or small.
        """
        counted = _name_counted(quantity, claim)
        for text, stated in self._measured:
            for other in stated:
                if not _is_within(quantity, other):
                    continue
                if not is_plain(quantity) or (counted and counted == _name_counted(other, text)):
                    return True
        return False

    def _iter_near(self, number: str) -> Iterator[Quantity]:
        for digits in _DIGITS.findall(number):
            for text in self._texts:
                position = text.find(digits)
                self._read_near += len(text) if position < 0 else position
                if position >= 0:
                    self._read_near += _NEAR * _COST_OF_READING
                    yield from find_measures(text[_find_gap(text, position - _NEAR) : position + _NEAR])


def _find_gap(text: str, position: int) -> int:
    """Return where the first word after a position begins."""
    return 0 if position <= 0 else text.find(" ", position) + 1


def _iter_sources(reading: ParsedAnswer) -> Iterator[str]:
    """Yield the question, the texts that were shown, and what the case itself says of the right answer."""
    case = reading.case.case
    yield case.question
    yield from (turn.text for turn in case.history)
    if not isinstance(reading.context_texts, str):
        yield from reading.context_texts.values()
    keywords = case.rubric.correct_keywords if case.rubric is not None else ()
    quotes = [unit.quote for unit in case.evidence]
    yield from filter(None, (case.reference, *case.must_have, *keywords, *quotes))
    chunks = reading.case.corpus.chunks if reading.case.corpus is not None else {}
    for unit in case.evidence:
        named = (chunks.get(str(selector.get(CHUNK_ID))) for selector in unit.any_of)
        yield from (chunk.text for chunk in named if chunk is not None and chunk.text is not None)


def _is_stated(quantity: Quantity, stated: Iterable[Quantity]) -> bool:
    """Return whether some source states a quantity, or both ends of a range; a bound states its own value alone."""
    held: list[Quantity] = []
    wanted = structs.replace(quantity, bound="")
    for end in _list_ends(stated):
        if _is_supported(wanted, end):
            return True
        held.append(end)
    parts = split_range(wanted)
    return bool(parts) and all(any(is_same_quantity(end, part) for end in held) for part in parts)


def _is_supported(wanted: Quantity, stated: Quantity) -> bool:
    """Return whether a quantity of a source supports one of an answer: it is the same, or a date of which the answer
    says only a part, such as its year."""
    if is_same_quantity(stated, wanted):
        return True
    if not stated.date:
        return False
    if wanted.date:
        return is_same_quantity(wanted, stated)
    values = {reading.low for reading in wanted.readings} if is_plain(wanted) and not wanted.is_range else set()
    return any(year in values for year, _, _ in stated.date if year)


def _list_ends(stated: Iterable[Quantity]) -> Iterator[Quantity]:
    """Yield quantities and the ends of those that are ranges, without their bounds."""
    for other in stated:
        for end in (other, *split_range(other)):
            yield structs.replace(end, bound="")


_MOST_TIMES = 10
"""How many times the limit of a bound may be the value that it is said of, or the other way round."""
_COUNTED = compile_pattern(r"[ -]([^\W\d_]+)")


def _is_within(bounded: Quantity, value: Quantity) -> bool:
    if value.bound or value.is_range or value.date or not is_same_quantity(bounded, value):
        return False
    if is_plain(bounded) != is_plain(value):
        return False
    limit, stated = abs(bounded.readings[0].low), abs(value.readings[0].low)
    return max(limit, stated) <= _MOST_TIMES * min(limit, stated)


def _name_counted(quantity: Quantity, text: str) -> str:
    """Return the stem of the word after a number, "" if none follows."""
    following = _COUNTED.match(text, quantity.end)
    return stem_word(fold_text(following[1])) if following is not None else ""


def count_unsourced_numbers(reading: ParsedAnswer) -> Outcome:
    """How many numbers of the answer neither the question, the context nor the golden case has."""
    unscored_outcome = find_grounding_exclusion(reading, CONTEXT_STAGE)
    if unscored_outcome is not None:
        return unscored_outcome
    unsourced = list_unsourced_numbers(reading)
    return scored_outcome(len(unsourced), format_list("no source has", unsourced))


UNSOURCED_NUMBERS = "unsourced_numbers"
UNSOURCED_METRICS: tuple[Metric, ...] = (
    structs.replace(
        define_answer_metric(
            UNSOURCED_NUMBERS,
            "Numbers of the answer that neither the question, the context nor the golden case has.",
            "amounts, dates, shares and times in digits, compared as quantities",
            UNDEFINED_GROUNDING,
            Scorers(count_unsourced_numbers),
            lower=True,
        ),
        unit="count",
        high=float("inf"),
        uncalibrated=(),
    ),
)
