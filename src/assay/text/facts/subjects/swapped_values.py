"""Values that an answer gives to another of the things that a question asks about.

"What do the parking and the breakfast cost?" has two slots, each with a value that is a fact by itself. An answer that
has both values, but each with the words of the other slot, holds both facts and is wrong.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, dropwhile, takewhile

from msgspec import Struct, structs

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.link_cues import AND
from assay.text.facts.cues.question_cues import ASKS_IN_PART
from assay.text.facts.cues.word_classes import HELPING
from assay.text.facts.expected.fact_texts import may_be_subject
from assay.text.facts.fact_judgments import FactJudgment, FactState
from assay.text.facts.reading.read_text import ReadText, Word, read_text
from assay.text.facts.reading.statement_marks import RESPECTIVELY
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_comparable, is_same_quantity
from assay.text.quantities.quantity_index import QuantityIndex
from assay.text.segmentation import VALUE_PART

_JOINED = build_pattern(rf"\?|;|,? {AND} ")
_ASKS = build_pattern(rf"\b{ASKS_IN_PART}\b")
_SIDE_BY_SIDE = build_pattern(rf",? {AND} |, |/| & ")
"""What stands between the things that one verb is about."""
_FEWEST = 2  # slots with comparable values

Names = dict[str, str]
"""The words that name one slot and no other, by their keys."""


class Slot(Struct, frozen=True):
    """A thing that is asked about: what names it, the fact that has its value, and that value."""

    names: Names
    fact: str
    value: Quantity

    def spell(self) -> str:
        """Return what names it, in words."""
        return " ".join(self.names.values())


def find_swapped_values(question: str, reference: str, answer: str, facts: Sequence[str]) -> dict[str, FactJudgment]:
    """Return the judgments of the facts whose values an answer gives to another slot, by fact.

    The slots are what the question asks about side by side, or else what the reference has the values of. A fact is
    denied if its value is said of another slot, and that slot's of another too. It is unknown if only its value is, or
    if the answer names no slot and has the values in another order.

    >>> question, facts = "What do a helmet and a late return cost?", ["3 euros", "6 euros"]
    >>> swapped = find_swapped_values(question, "3 euros; 6 euros", "A helmet is 6 euros, a return 3 euros.", facts)
    >>> swapped["3 euros"].reason
    'the values are swapped: the answer gives "3 euros" for "late return", and it is for "helmet"'
    >>> find_swapped_values(question, "3 euros; 6 euros", "A helmet is 3 euros, a return 6 euros.", facts)
    {}
    """
    judgments = {}
    for fact in facts:
        if _has_several_values(read_text(fact)):
            judgment = _judge_values_of(fact, question, reference, answer)
            if judgment is not None:
                judgments[fact] = judgment
    values = _list_values(facts)
    slots = _find_slots(read_text(question), read_text(reference), values) if len(values) >= _FEWEST else []
    if not slots and not reference and len(values) >= _FEWEST:
        return {**judgments, **_judge_in_order(question, answer, values)}
    return {**judgments, **_judge_slots(read_text(answer), slots)} if slots else judgments


def _judge_in_order(question: str, answer: str, values: Mapping[str, Quantity]) -> dict[str, FactJudgment]:
    """Return the judgments of values of which nothing but their order tells to which slot of the question they belong.

    Facts are written in the order of the question, as a rule: so none is denied, and each is unknown.
    """
    slots = _find_slots(read_text(question), read_text("; ".join(values)), values)
    judgments = _judge_slots(read_text(answer), slots) if slots else {}
    return {
        fact: structs.replace(
            judgment, state="unknown", reason=f"{judgment.reason} if the facts have the order of the question"
        )
        for fact, judgment in judgments.items()
    }


def _has_several_values(fact: ReadText) -> bool:
    """Whether a fact has values of one measure, each another one: "printing 5 cents, scanning 20 cents"."""
    values = fact.quantities
    if len(values) < _FEWEST or not all(is_comparable(values[0], own) for own in values[1:]):
        return False
    return not any(is_same_quantity(own, other) for own, other in combinations(values, 2))


def _judge_values_of(fact: str, question: str, reference: str, answer: str) -> FactJudgment | None:
    """Return the judgment of a fact whose own values an answer gives to one another's names; None otherwise.

    The names are those of the fact, else of question and reference. One value alone with another's name decides
    nothing: "5 of the 12 days may be carried over".
    """
    read_question, read_fact = read_text(question), read_text(fact)
    values = {read_fact.text[value.start : value.end]: value for value in read_fact.quantities}
    slots = _find_slots(read_question, read_fact, values) or _find_slots(read_question, read_text(reference), values)
    swapped = _judge_slots(read_text(answer), slots) if slots else {}
    if len(swapped) < _FEWEST:
        return None
    denied = [judgment for judgment in swapped.values() if judgment.state == "denied"]
    return structs.replace((denied or list(swapped.values()))[0], fact=fact)


def _judge_slots(read_answer: ReadText, slots: Sequence[Slot]) -> dict[str, FactJudgment]:
    """Return the judgments of the slots whose values an answer gives to another one, by their facts."""
    mentions = _locate_names(read_answer, [slot.names for slot in slots])
    if not mentions:
        return _judge_order(read_answer, slots)
    holders = _find_holders(read_answer, slots, mentions)
    judgments = {}
    for own, slot in enumerate(slots):
        if not holders[own] or own in holders[own]:
            continue
        other = min(holders[own])
        is_sure = holders[own] == {other} and len(holders[other]) == 1 and other not in holders[other]
        given = f'the answer gives "{slot.fact}" for "{slots[other].spell()}"'
        due = f'it is for "{slot.spell()}"' if slot.names else "it is for another"
        reason = f"the values are swapped: {given}, and {due}"
        judgments[slot.fact] = FactJudgment(slot.fact, "denied" if is_sure else "unknown", reason, "swapped")
    return judgments


def _list_values(facts: Sequence[str]) -> dict[str, Quantity]:
    """Return the facts of one value each that are comparable with each other; none if two of them are the same."""
    values = {}
    for fact in facts:
        quantities = read_text(fact).quantities
        if len(quantities) == 1:
            values[fact] = quantities[0]
    for fact, value in list(values.items()):
        others = [other for other_fact, other in values.items() if other_fact != fact]
        if any(is_same_quantity(value, other) for other in others):
            return {}
        if not any(is_comparable(value, other) for other in others):
            del values[fact]
    return values


# ── the slots ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _find_slots(question: ReadText, reference: ReadText, values: Mapping[str, Quantity]) -> list[Slot]:
    """Return the slots of values in the order of the reference, none unless each has a name of its own.

    One may have none: of "one line 10 euros, all lines 20 euros" the second is named, and the first is what is not.
    """
    places: dict[str, Quantity] = {}
    for fact, value in values.items():
        stated = [own for own in reference.quantities if is_same_quantity(value, own)]
        if len(stated) != 1:
            return []
        places[fact] = stated[0]
    facts = sorted(values, key=lambda fact: places[fact].start)
    stated = [places[fact] for fact in facts]
    named: Sequence[Names] | None = _name_by_question(question, reference, stated)
    if named is None:
        named = _keep_distinct([_list_part_words(place, reference) for place in stated])
    if sum(map(bool, named)) < len(named) - 1:
        return []
    return [Slot(names, fact, values[fact]) for names, fact in zip(named, facts, strict=True)]


def _name_by_question(question: ReadText, reference: ReadText, places: Sequence[Quantity]) -> list[Names] | None:
    """Return the names that a question has for the values of a reference; None if it does not ask for so many things.

    The words next to a value tell what it is the value of, else its place among the values.
    """
    for pieces in (_split_question(question), _split_side_by_side(question, len(places))):
        named = _keep_distinct(pieces)
        if len(named) != len(places) or not all(named):
            continue
        owners = [_find_holder(place, reference, _locate_names(reference, named)) for place in places]
        rivals = [own for own in reference.quantities if is_comparable(own, places[0])]
        if len(rivals) == len(places) and all(owner in (None, place) for place, owner in enumerate(owners)):
            owners = list(range(len(places)))
        found_owners = [owner for owner in owners if owner is not None]
        if len(found_owners) == len(set(found_owners)) == len(places):
            return _leave_out_common([named[owner] for owner in found_owners], reference, places)
    return None


def _leave_out_common(named: list[Names], reference: ReadText, places: Sequence[Quantity]) -> list[Names]:
    """Return names without the words next to values of others: the "shift" of "the early and the night shift"."""
    parts = [{word.key for word in _list_part_words(place, reference)} for place in places]
    kept = []
    for own, names in enumerate(named):
        foreign = set().union(*parts[:own], *parts[own + 1 :])
        kept.append({key: spelled for key, spelled in names.items() if key not in foreign})
    return kept if all(kept) else named


def _split_question(question: ReadText) -> list[list[Word]]:
    """Return the words of each part of a question that asks something by itself."""
    plain = question.plain.rstrip("? ")
    pieces, start = [], 0
    for match in _JOINED.finditer(plain):
        if _ASKS.search(plain, start, match.start()) and _ASKS.search(plain, match.end()):
            pieces.append(question.list_words(start, match.start()))
            start = match.end()
    return [*pieces, question.list_words(start, len(plain))]


def _split_side_by_side(question: ReadText, count: int) -> list[list[Word]]:
    """Return the words of so many things that a question joins by its last "and", up to the next words of grammar."""
    cuts = list(_SIDE_BY_SIDE.finditer(question.plain))[1 - count :]
    if len(cuts) < count - 1 or cuts[-1][0] == ", ":
        return []
    asks = _ASKS.search(question.plain, cuts[-1].end())
    edges = [0, *(edge for cut in cuts for edge in cut.span()), asks.start() if asks else len(question.plain)]
    first, *others = [question.list_words(low, high) for low, high in zip(edges[::2], edges[1::2], strict=True)]
    phrases = [_take_phrase(dropwhile(_is_grammar, words)) for words in others]
    last = phrases[-1]
    if len(last) > 1 and last[-1] == question.words[-1] and any(word.folded in HELPING for word in first):
        phrases[-1] = last[:-1]  # the verb of "what do the parking and the breakfast cost"
    before = _take_phrase(reversed(first))[: len(phrases[0])]
    return [before[::-1], *phrases]


def _take_phrase(words: Iterable[Word]) -> list[Word]:
    return list(takewhile(lambda word: not _is_grammar(word), words))


def _is_grammar(word: Word) -> bool:
    """Whether a word names nothing; the A of "room A" does."""
    return word.kind == "stop" and not (word.is_capitalised and word.end - word.start == 1)


def _list_part_words(value: Quantity, text: ReadText) -> list[Word]:
    """Return the words of the part of a text that has a value, without those of what it counts per."""
    words = text.list_words(*_find_part(value, text))
    return [
        word for word in words if may_be_subject(word) and not value.rate_span[0] <= word.start < value.rate_span[1]
    ]


def _keep_distinct(pieces: Sequence[Sequence[Word]]) -> list[Names]:
    """Return the words that only one piece has, for each piece."""
    named = [{word.key: word.folded for word in words if _may_name(word)} for words in pieces]
    counts = Counter(key for names in named for key in names)
    return [{key: spelled for key, spelled in names.items() if counts[key] == 1} for names in named]


def _may_name(word: Word) -> bool:
    return not _is_grammar(word) and _ASKS.fullmatch(word.folded) is None


# ── what an answer says of them ──────────────────────────────────────────────────────────────────────────────────────

Mention = tuple[int, int]
"""Where a text names a slot: the start of the word and the number of the slot."""


def _locate_names(text: ReadText, named: Sequence[Names]) -> list[Mention]:
    owners = {key: number for number, names in enumerate(named) for key in names}
    return [(word.start, owners[word.key]) for word in text.words if word.key in owners and _may_name(word)]


_MARKS_OF_PARTS = (".", ";", ",")


@lru_cache(maxsize=16)
def _list_part_ends(lined: str) -> list[int]:
    return [match.end() for match in VALUE_PART.finditer(lined)]


def _find_part(value: Quantity, text: ReadText) -> tuple[int, int]:
    ends = _list_part_ends(text.lined)
    index = bisect_right(ends, value.start)
    start = ends[index - 1] if index else 0
    if text.lined[value.start - 1 : value.start] in _MARKS_OF_PARTS:
        start = value.start
    following = VALUE_PART.search(text.lined, max(value.end, value.rate_span[1]))
    return start, following.start() if following is not None else len(text.lined)


def _find_holder(value: Quantity, text: ReadText, mentions: Sequence[Mention]) -> int | None:
    """Return the only slot that is named in the same part of a text as a value."""
    low, high = _find_part(value, text)
    holders = {slot for start, slot in mentions if low <= start < high}
    return holders.pop() if len(holders) == 1 else None


def _find_holders(text: ReadText, slots: Sequence[Slot], mentions: Sequence[Mention]) -> list[set[int]]:
    """Return for each slot of which slots a text says its value.

    "The pool and the sauna are 5 and 8 euros" names all before it gives their values, which then have their order.
    """
    holders: list[set[int]] = [set() for _ in slots]
    all_stated = list(_list_stated(text, slots))
    for clause in text.clauses:
        if clause.start != clause.sentence_start:
            continue
        low, high = clause.sentence_start, clause.sentence_end
        first, last = (bisect_left(all_stated, at, key=_get_value_start) for at in (low, high))
        stated = all_stated[first:last]
        first, last = (bisect_left(mentions, at, key=_get_mention_start) for at in (low, high))
        named = mentions[first:last]
        if not stated or not named:
            continue
        is_apart = named[-1][0] < stated[0][0].start or stated[-1][0].start < named[0][0]
        order = list(dict.fromkeys(slot for _, slot in named))
        for place, (value, own) in enumerate(stated):
            holder = order[place] if is_apart and len(order) == len(stated) else _find_holder(value, text, named)
            if holder is not None:
                holders[own].add(holder)
    return holders


def _get_value_start(stated: tuple[Quantity, int]) -> int:
    return stated[0].start


def _get_mention_start(mention: Mention) -> int:
    return mention[0]


def _list_stated(text: ReadText, slots: Sequence[Slot]) -> Iterator[tuple[Quantity, int]]:
    """Yield the values of slots in a text, each with the number of its slot."""
    values = QuantityIndex([slot.value for slot in slots])
    for value in text.quantities:
        for own in values.iterate_places(value):
            slot = slots[own]
            if is_same_quantity(slot.value, value):
                yield value, own


def _judge_order(text: ReadText, slots: Sequence[Slot]) -> dict[str, FactJudgment]:
    """Return the judgments of values that an answer without a name gives in another order than the reference."""
    order = [own for _, own in _list_stated(text, slots)]
    if order == sorted(order) or len(order) != len(slots):
        return {}
    state: FactState = "denied" if RESPECTIVELY.search(text.plain) is not None else "unknown"
    moved = [slots[own] for place, own in enumerate(order) if own != place]
    reason = "the values are swapped: the answer has another order"
    return {slot.fact: FactJudgment(slot.fact, state, reason, "swapped") for slot in moved}
