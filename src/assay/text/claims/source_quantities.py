"""Quantities of a claim compared with those of the sentences that it resembles, as values and not as digits.

"2:15 pm" is in a source that says 14:15, "24 months" in one that says 2 years, "more than 100" in one that says 116;
"10 days" is not in one that says 10 to 20 days, nor 9.6 MWh in one that says 9.6 kWh.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from assay.text.claims.passages import IndexedSources, TermMatch
from assay.text.quantities.placed_quantities import PlacedQuantity, place_quantities
from assay.text.quantities.quantity import Quantity, is_plain, is_time, split_range
from assay.text.quantities.quantity_agreement import is_same_quantity, is_same_value
from assay.text.quantities.units import PLAIN
from assay.text.tokens import ParsedTerms, Term, parse_terms

MOST_SENTENCES = 24
"""Sentences whose quantities are read for one claim."""
_NEAR = 4
"""Terms between a value within a bound and a neighbour that the bound has in the claim."""
_NEIGHBOURS = 2
_YEARS = frozenset(range(1500, 2200))  # a range compares a decimal number with every year


class ClaimedQuantity(NamedTuple):
    """A quantity of a claim. `words`: the indices of its content terms, its numbers and then its unit."""

    quantity: Quantity
    words: tuple[int, ...]


class ComparedQuantities(Struct, frozen=True):
    """What comparing the quantities of a claim has changed.

    `matches`: of all content terms. `units`: indices of units of absent quantities, which say nothing apart from their
    number. `exceeded`: indices of numbers that the sources have with another bound only. `respelled`: quantities of the
    claim that a source writes in another way, each with the positions of its terms there.
    """

    matches: Sequence[TermMatch]
    units: Collection[int] = ()
    exceeded: Collection[int] = ()
    respelled: Sequence[tuple[Quantity, tuple[int, ...]]] = ()


def list_claimed_quantities(terms: ParsedTerms, content: Sequence[Term]) -> list[ClaimedQuantity]:
    """Return the quantities of a claim that have a number among its content terms.

    Dates are left out: their days, months and years are compared one by one.
    """
    if not any(term.kind in ("number", "id") for term in content):
        return []
    indices = {term: index for index, term in enumerate(content)}
    claimed = []
    for placed in place_quantities(terms.text, terms.items):
        words = tuple(indices[terms.items[place]] for place in placed.terms if terms.items[place] in indices)
        if words and not placed.quantity.date:
            claimed.append(ClaimedQuantity(placed.quantity, words))
    return claimed


def compare_quantities(
    claimed: Sequence[ClaimedQuantity],
    matches: Sequence[TermMatch],
    sources: IndexedSources,
    evidence: Sequence[int],
) -> ComparedQuantities:
    """Return the matches of a claim's terms with its numbers compared as quantities.

    `evidence`: indices of the sentences that resemble the claim. In them a number matches what agrees with its
    quantity, however it is written. Where the same digits are part of another quantity they are no match.
    """
    changed = list(matches)
    units: set[int] = set()
    exceeded: set[int] = set()
    respelled: list[tuple[Quantity, tuple[int, ...]]] = []
    for own in claimed:
        places = _find_places(own, claimed, matches, sources, evidence)
        if places.first and not matches[own.words[0]].positions:
            respelled.append((own.quantity, places.first))
        for word in own.words:
            positions = [position for position in matches[word].positions if position not in places.disagreeing]
            if places.agreeing and not positions:
                changed[word] = TermMatch(sorted(places.agreeing), 1.0)
            elif len(positions) < len(matches[word].positions):
                changed[word] = TermMatch(positions, matches[word].quality)
        if not places.agreeing and not changed[own.words[0]].positions:
            units.update(own.words[1:])
            for word in own.words[1:]:
                changed[word] = TermMatch((), 0.0)
        if places.has_bound and not places.agreeing:
            exceeded.add(own.words[0])
    return ComparedQuantities(changed, units, exceeded, respelled)


class _Places(Struct, frozen=True):
    """Positions of terms that agree with a quantity, of those that do not, and of the first that agrees.

    `has_bound`: some sentence has its value with another bound.
    """

    agreeing: set[int]
    disagreeing: set[int]
    first: tuple[int, ...]
    has_bound: bool


def _find_places(
    own: ClaimedQuantity,
    claimed: Sequence[ClaimedQuantity],
    matches: Sequence[TermMatch],
    sources: IndexedSources,
    evidence: Sequence[int],
) -> _Places:
    quantity, words = own
    agreeing: set[int] = set()
    disagreeing: set[int] = set()
    first: tuple[int, ...] = ()
    has_bound = False
    for stated, positions in _iterate_quantities(words, matches, sources, evidence):
        if _is_year(stated) != _is_year(quantity):
            continue
        if is_stated_value(quantity, stated) or _is_end_of_claimed(quantity, stated, claimed):
            if not _needs_company(quantity, stated) or _has_company(words, positions, matches):
                first = first or tuple(positions)
                agreeing.update(positions)
        elif is_same_value(quantity, stated):
            has_bound = True
        elif not quantity.is_range and not stated.date:
            disagreeing.update(positions)
    return _Places(agreeing, disagreeing - agreeing, first, has_bound)


def _is_end_of_claimed(quantity: Quantity, stated: Quantity, claimed: Sequence[ClaimedQuantity]) -> bool:
    """Whether a quantity is an end of a range of a source whose other end the claim has too: "8 am, 1 pm"."""
    ends = split_range(stated)
    if not any(is_same_quantity(end, quantity) for end in ends):
        return False
    return all(any(is_same_quantity(end, own) for own, _ in claimed) for end in ends)


def _iterate_quantities(
    words: Sequence[int], matches: Sequence[TermMatch], sources: IndexedSources, evidence: Sequence[int]
) -> Iterator[tuple[Quantity, list[int]]]:
    """Yield the quantities of the evidence and of the sentences with the digits of a claim."""
    at_digits = sources.sentences_at(matches[words[0]].positions[:MOST_SENTENCES])
    for sentence in (*evidence, *sorted(at_digits.difference(evidence))):
        yield from _quantities_at(sentence, sources)


def has_other_quantity(claimed: Sequence[ClaimedQuantity], sources: IndexedSources, positions: range) -> bool:
    """Return whether digits of a claim are part of another quantity in the passage that has its words in order.

    `positions`: those of the passage. "10 days" is no copy of the beginning of "10 to 20 days".
    """
    stated: list[Quantity] = []
    for sentence in sources.sentences_at(positions):
        for quantity, places in _quantities_at(sentence, sources):
            if any(place in positions for place in places):
                stated.append(quantity)
    return any(not any(is_stated_value(own, quantity) for quantity in stated) for own, _ in claimed)


def _quantities_at(sentence: int, sources: IndexedSources) -> list[tuple[Quantity, list[int]]]:
    """Return the quantities of a sentence, each with the positions of its terms in the sources."""
    passage, within = sources.sentences[sentence]
    offset = sources.offsets[passage]
    placed: Sequence[PlacedQuantity] = sources.passages[passage].sentence_quantities(within)
    return [(quantity, [offset + place for place in terms]) for quantity, terms in placed]


def is_stated_value(claimed: Quantity, stated: Quantity) -> bool:
    """Return whether a quantity of a source makes that of a claim true.

    What lies within the claimed bound does; an end of a range does only for a bound. A bound makes no value true.
    """
    if stated.bound and not claimed.bound and not claimed.is_range and not claimed.date:
        return False
    if is_same_quantity(claimed, stated):
        return True
    if not claimed.bound or claimed.is_range:
        return False
    return any(is_same_quantity(claimed, end) for end in split_range(stated))


def _is_year(quantity: Quantity) -> bool:
    readings = quantity.readings
    return bool(readings) and all(
        reading.dimension == PLAIN and reading.low == reading.high and reading.low in _YEARS for reading in readings
    )


def _needs_company(claimed: Quantity, stated: Quantity) -> bool:
    """Whether two quantities agree so loosely that a neighbour has to show that they count the same."""
    return bool(claimed.bound) or (not claimed.date and not stated.date and claimed.readings != stated.readings)


def _has_company(words: Sequence[int], positions: Sequence[int], matches: Sequence[TermMatch]) -> bool:
    """Whether a neighbour of a claim's number is near the terms of a source's quantity."""
    neighbours = [
        word
        for word in range(max(0, words[0] - _NEIGHBOURS), min(len(matches), words[-1] + _NEIGHBOURS + 1))
        if word not in words
    ]
    if not neighbours:
        return True
    for word in neighbours:
        others = matches[word].positions  # in ascending order
        for position in positions:
            index = bisect_left(others, position - _NEAR)
            if index < len(others) and others[index] <= position + _NEAR:
                return True
    return False


def find_rival_quantity(
    claimed: Sequence[ClaimedQuantity], word: int, stated: Sequence[PlacedQuantity], near: Sequence[int]
) -> Quantity | None:
    """Return the quantity of a sentence that stands in place of the claim's at `word`; None if there is none.

    It measures the same, is near one of the positions `near`, and no quantity of the claim agrees with it.
    """
    own = next((quantity for quantity, words in claimed if word in words), None)
    if own is None or not (own.date or own.readings):
        return None
    rivals = []
    for quantity, places in stated:
        if not is_rival(own, quantity) or any(is_stated_value(other, quantity) for other, _ in claimed):
            continue
        if any(abs(place - position) <= _NEAR for place in places for position in near):
            rivals.append(quantity)
    return rivals[0] if len(rivals) == 1 else None


def find_displaced(
    claimed: Sequence[ClaimedQuantity],
    content: Sequence[Term],
    matches: Sequence[TermMatch],
    sources: IndexedSources,
    evidence: Sequence[int],
) -> set[int]:
    """Return the indices of a claim's numbers that the sources have of something else only.

    A sentence of the evidence has another value in their place, and no sentence with the claim's value, nor the one
    before it, has all the words that the claim shares with it: "A helmet costs 6 euros." where helmets cost 3 and locks
    6. Of a table only the row that the claim names counts.
    """
    displaced: set[int] = set()
    for own in claimed:
        number = own.words[0]
        holding = sources.sentences_at(matches[number].positions[:MOST_SENTENCES])
        if not holding or own.quantity.bound or own.quantity.is_range:
            continue
        for sentence in evidence:
            if sentence in holding or _is_in_other_row(number, matches, sources, sentence):
                continue
            subjects = _find_rival_subjects(own, claimed, content, matches, sources, sentence)
            if subjects and not any(
                _has_all(subjects, matches, other, sources, sentence, _list_words(own, content)) for other in holding
            ):
                displaced.add(number)
    return displaced


def _is_in_other_row(number: int, matches: Sequence[TermMatch], sources: IndexedSources, sentence: int) -> bool:
    """Whether a sentence is a row of a table in which a claim names none, or the row that has its number."""
    if not sources.list_table(sentence):
        return False
    named = sources.find_named_row(sentence, matches)
    if named is None:
        return True
    offset = sources.offsets[sources.sentences[sentence][0]]
    return any(named.first <= position - offset < named.last for position in matches[number].positions)


def _list_words(own: ClaimedQuantity, content: Sequence[Term]) -> list[int]:
    """Return the words of a claim beside a value."""
    return [index for index, term in enumerate(content) if term.kind in ("word", "name") and index not in own.words]


def _find_rival_subjects(
    own: ClaimedQuantity,
    claimed: Sequence[ClaimedQuantity],
    content: Sequence[Term],
    matches: Sequence[TermMatch],
    sources: IndexedSources,
    sentence: int,
) -> list[int]:
    """Return the words of a claim that a sentence has with another value in place of the claim's; none if it has no
    other value there."""
    number = own.words[0]
    stated = [PlacedQuantity(quantity, tuple(places)) for quantity, places in _quantities_at(sentence, sources)]
    others = [index for index in range(len(content)) if index not in own.words] if stated else []
    here = {index: sources.positions_in(sentence, matches[index]) for index in others}
    near = [place for index in others if abs(index - number) <= _REACH_OF_RIVAL for place in here[index]]
    if not near or find_rival_quantity(claimed, number, stated, near) is None:
        return []
    return [index for index in others if here[index] and content[index].kind in ("word", "name")]


_REACH_OF_RIVAL = 3


def _has_all(
    words: Sequence[int],
    matches: Sequence[TermMatch],
    sentence: int,
    sources: IndexedSources,
    rival: int,
    claim_words: Sequence[int],
) -> bool:
    """Whether a sentence or the one before it in its passage has each of some words of a claim.

    Where the one before has the other value, the sentence goes on about its subject only with a further word of the
    claim: "Staff get 30 days. They carry over 5.", and not "Insurance is 4 euros. The excess is 150 euros."
    """
    near = {sentence}
    has_further = any(
        sources.positions_in(sentence, matches[word]) and not sources.positions_in(rival, matches[word])
        for word in claim_words
    )
    is_before = sentence > 0 and sources.sentences[sentence - 1][0] == sources.sentences[sentence][0]
    if is_before and (sentence - 1 != rival or has_further):
        near.add(sentence - 1)
    return all(any(sources.positions_in(place, matches[word]) for place in near) for word in words)


def is_rival(own: Quantity, other: Quantity) -> bool:
    """Return whether two quantities of one measure exclude each other; plain numbers may count anything."""
    if own.date or other.date:
        return False
    dimensions = {reading.dimension for reading in (*own.readings, *other.readings)}
    if PLAIN in dimensions or is_time(own) != is_time(other) or not _have_one_measure(own, other):
        return False
    return not is_same_value(own, other)


# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────────


def measure_other_subject(claim: str, asked: Sequence[Term], sources: IndexedSources) -> float:
    """Return the share of a question's words that the sources have with another value than that of a claim.

    0 where it is less than half, where a sentence with the claim's value, or the sentence before it, has one of these
    words, and where the claim says what its value is of. Words of the claim are left out: what it says is compared with
    the sources anyway.

    >>> from assay.text.tokens import DocumentFrequencies, parse_terms
    >>> text = "Staff get 30 days of annual leave. They get 12 sick days."
    >>> sources = IndexedSources([("a", text)], DocumentFrequencies.from_texts([]))
    >>> asked = [term for term in parse_terms("sick days").items]
    >>> [measure_other_subject(claim, asked, sources) for claim in ("It is 30 days a year.", "It is 12 days a year.")]
    [1.0, 0.0]
    """
    values, own_keys = _read_values(claim)
    missing = [term for term in asked if term.key not in own_keys]
    if len(values) != 1 or not missing:
        return 0.0
    words_at: dict[int, set[str]] = {}
    for term in missing:
        for sentence in sources.sentences_at(sources.match_term(term, False).positions[:MOST_SENTENCES]):
            words_at.setdefault(sentence, set()).add(term.key)
    share = _share_other_value(values[0], words_at, len({term.key for term in missing}), sources)
    # Quantities are read of as few sentences as possible: those of all sources only where these leave it open.
    if not share or _is_stated_near(values[0], words_at, sources):
        return 0.0
    with_value = _find_stating(values[0], sources)
    if not with_value or any(_names_subject(own_keys, values[0], sentence, sources) for sentence in with_value):
        return 0.0
    return share


@lru_cache(maxsize=256)  # a claim is compared with several sets of sources
def _read_values(claim: str) -> tuple[Sequence[Quantity], Collection[str]]:
    """Return the quantities of a claim and the keys of its terms."""
    terms = parse_terms(claim)
    claimed = list_claimed_quantities(terms, terms.items)
    return tuple([quantity for quantity, _ in claimed]), frozenset([term.key for term in terms.items])


_LEAST_OTHER = 0.5
"""The share of the question's words that another value has, from which it is taken to be the one that is asked for."""


def _share_other_value(
    value: Quantity, words_at: Mapping[int, Collection[str]], words: int, sources: IndexedSources
) -> float:
    """Return the largest share of some words that a sentence has with another value; 0 where it is less than half."""
    for sentence, here in sorted(words_at.items(), key=lambda pair: -len(pair[1])):
        share = len(here) / words
        if share < _LEAST_OTHER:
            break
        if any(_is_other_value(value, quantity) for quantity, _ in _quantities_at(sentence, sources)):
            return share
    return 0.0


def _is_stated_near(value: Quantity, sentences: Collection[int], sources: IndexedSources) -> bool:
    """Whether one of some sentences, or the one after it, states a value."""
    following = [sentence + 1 for sentence in sentences if sentence + 1 < len(sources.sentences)]
    return any(
        is_stated_value(value, quantity)
        for sentence in dict.fromkeys((*sentences, *following))
        for quantity, _ in _quantities_at(sentence, sources)
    )


def _find_stating(value: Quantity, sources: IndexedSources) -> list[int]:
    holders, stated = sources.stated_quantities
    stating = [
        holders[place] for place in stated.iterate_places(value) if is_stated_value(value, stated.quantities[place])
    ]
    return list(dict.fromkeys(stating))


def _names_subject(own_keys: Collection[str], value: Quantity, sentence: int, sources: IndexedSources) -> bool:
    """Whether a claim has the words around its value in a sentence: "annual leave" for "30 days of annual leave"."""
    passage, within = sources.sentences[sentence]
    indexed = sources.passages[passage]
    first, last = indexed.sentence_ranges[within]
    for quantity, places in indexed.sentence_quantities(within):
        if not is_stated_value(value, quantity):
            continue
        around = indexed.terms[max(first, places[0] - _AROUND) : min(last, places[-1] + 1 + _AROUND)]
        if all(term.key in own_keys for term in around if term.kind in ("word", "name")):
            return True
    return False


_AROUND = 3


def _is_other_value(value: Quantity, other: Quantity) -> bool:
    if other.date or _is_year(value) != _is_year(other):
        return False
    if not (is_plain(value) or is_plain(other) or _have_one_measure(value, other)):  # "12 sick days" has no unit
        return False
    return not is_same_value(value, other)


_SAME_MEASURE = {"calendar": "duration"}
"""Months are no fixed number of days, and both measure how long something takes."""


def _have_one_measure(first: Quantity, second: Quantity) -> bool:
    dimensions = [
        {_SAME_MEASURE.get(reading.dimension, reading.dimension) for reading in quantity.readings}
        for quantity in (first, second)
    ]
    return not dimensions[0].isdisjoint(dimensions[1])
