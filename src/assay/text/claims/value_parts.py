"""Parts of a sentence with a value each: a claim may have the value of one and the words of another.

"Parking costs 9 euros and breakfast 12 euros" holds all words of "Parking costs 12 euros", and does not say it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from assay.text.claims.passages import IndexedSources, TermMatch
from assay.text.claims.source_quantities import MOST_SENTENCES, ClaimedQuantity, is_rival, is_stated_value
from assay.text.normalisation import fold_in_place
from assay.text.quantities.placed_quantities import PlacedQuantity
from assay.text.quantities.quantity import Quantity
from assay.text.segmentation import VALUE_PART
from assay.text.tokens import Term


class _Part(Struct, frozen=True):
    """A part of a sentence: its quantities, and the positions of its terms in the sources."""

    quantities: Sequence[Quantity]
    positions: range


def find_moved(
    claimed: Sequence[ClaimedQuantity],
    claim: str,
    content: Sequence[Term],
    matches: Sequence[TermMatch],
    sources: IndexedSources,
) -> set[int]:
    """Return the indices of a claim's numbers that each sentence with the value says of something else.

    There the part with the value has no word of the claim that another part lacks, which has another value of the same
    measure and more words of the claim; and it has a word of its own.
    """
    moved: set[int] = set()
    for own in claimed:
        number = own.words[0]
        holding = sources.sentences_at(matches[number].positions[:MOST_SENTENCES])
        if not holding or own.quantity.bound or own.quantity.is_range:
            continue
        words = _list_own_words(own, claim, content)
        subject = _find_subject(own, claim, content, words)
        if all(
            _is_of_other(own.quantity, words, matches, sources, sentence)
            or (subject and _has_other_subject(own.quantity, subject, matches, sources, sentence))
            for sentence in holding
        ):
            moved.add(number)
    return moved


def _list_own_words(own: ClaimedQuantity, claim: str, content: Sequence[Term]) -> list[int]:
    """Return the words of the part of a claim that has a value."""
    cuts = [match.end() for match in VALUE_PART.finditer(fold_in_place(claim))]
    start = max((cut for cut in cuts if cut <= own.quantity.start), default=0)
    end = min((cut for cut in cuts if cut > own.quantity.start), default=len(claim))
    indices = [index for index, term in enumerate(content) if start <= term.start < end and index not in own.words]
    return [index for index in indices if content[index].kind in ("word", "name")]


_MOST_BEFORE_VALUE, _MOST_SYLLABLES = 2, 3
"""Words before a value of a statement with a subject and a verb alone, and syllables of a Vietnamese one."""


def _find_subject(own: ClaimedQuantity, claim: str, content: Sequence[Term], words: Sequence[int]) -> list[int]:
    """Return the words before a value, the first of which is its subject: "members pay"; none if there are more."""
    before = [word for word in words if content[word].start < own.quantity.start]
    most = _MOST_BEFORE_VALUE if claim.isascii() else _MOST_SYLLABLES
    return before if _FEWEST_BEFORE_VALUE <= len(before) <= most else []


_FEWEST_BEFORE_VALUE = 2


def _has_other_subject(
    value: Quantity, before: Sequence[int], matches: Sequence[TermMatch], sources: IndexedSources, sentence: int
) -> bool:
    """Whether each part of a sentence with a value says of something else what a claim says of its subject.

    The sources have that subject elsewhere, so that the other one is no other word for it: "Guests pay 15 euros;
    members bring a mat." says nothing of what members pay.
    """
    subject, verb = matches[before[0]].positions, before[-1]
    parts = [
        part
        for part in _split_sentence(sources, sentence)
        if any(is_stated_value(value, own) for own in part.quantities)
    ]
    if not subject or not parts:
        return False
    claimed = {position: word for word in before for position in sources.positions_in(sentence, matches[word])}
    for part in parts:
        named = [position for position in part.positions if sources.term_at(position).kind in ("word", "name")]
        named = [position for position in named if sources.term_at(position).start < _find_value_start(part, value)]
        shared = {claimed[position] for position in named if position in claimed}
        if before[0] in shared or verb not in shared or not named or named[0] in claimed:
            return False
        if len(named) > len(before):
            return False
    return True


def _find_value_start(part: _Part, value: Quantity) -> int:
    return next(own.start for own in part.quantities if is_stated_value(value, own))


def _is_of_other(
    value: Quantity, words: Sequence[int], matches: Sequence[TermMatch], sources: IndexedSources, sentence: int
) -> bool:
    """Whether each part of a sentence with a value is about something else than a claim, and another is about it."""
    passage, within = sources.sentences[sentence]
    if len(sources.passages[passage].sentence_quantities(within)) < _FEWEST_VALUES:
        return False
    parts = _split_sentence(sources, sentence)
    holders = [part for part in parts if any(is_stated_value(value, own) for own in part.quantities)]
    others = [part for part in parts if part not in holders and any(is_rival(value, own) for own in part.quantities)]
    if not holders or not others:
        return False
    claimed = {position: word for word in words for position in sources.positions_in(sentence, matches[word])}
    return all(any(_is_about_other(part, other, parts, claimed, sources) for other in others) for part in holders)


_FEWEST_VALUES = 2
"""Quantities of a sentence of which one part has the value of a claim and another one a rival of it."""


def _is_about_other(
    part: _Part, other: _Part, parts: Sequence[_Part], claimed: Mapping[int, int], sources: IndexedSources
) -> bool:
    """Whether a part of a sentence has fewer words of a claim than another, and is about something of its own.

    `claimed`: the words of the claim by their positions. A part takes the verb of those before it ("and breakfast 12
    euros"), so that of a claim without what the part begins with it shares that verb alone.
    """
    own, rival = (_find_words(piece.positions, claimed) for piece in (part, other))
    named = [position for position in part.positions if sources.term_at(position).kind in ("word", "name")]
    if own < rival:
        return any(position not in claimed for position in named)
    before = [_find_words(piece.positions, claimed) for piece in parts if piece.positions.stop <= other.positions.start]
    return bool(named) and named[0] not in claimed and own < rival.union(*before) and not rival <= own


def _find_words(positions: range, claimed: Mapping[int, int]) -> set[int]:
    return {claimed[position] for position in positions if position in claimed}


def _split_sentence(sources: IndexedSources, sentence: int) -> list[_Part]:
    """Return the parts of a sentence in order; no cut lies within a quantity."""
    number, within = sources.sentences[sentence]
    passage, offset = sources.passages[number], sources.offsets[number]
    first, last = passage.sentence_ranges[within]
    placed: Sequence[PlacedQuantity] = passage.sentence_quantities(within)
    start, end = passage.terms[first].start, passage.terms[last - 1].end
    plain = fold_in_place(passage.text[start:end])
    cuts = [start + match.start() for match in VALUE_PART.finditer(plain)]
    cuts = [cut for cut in cuts if not any(own.quantity.start < cut < own.quantity.end for own in placed)]
    parts, begun = [], first
    for cut in (*cuts, end):
        stop = next((place for place in range(begun, last) if passage.terms[place].start >= cut), last)
        inside = range(begun, stop)
        quantities = [own.quantity for own in placed if own.terms[0] in inside]
        parts.append(_Part(quantities, range(offset + begun, offset + stop)))
        begun = stop
    return parts
