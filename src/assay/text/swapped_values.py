"""Values that an answer gives to the other part of a question of two parts.

"What does a helmet cost, and what does a late return cost?" has two values, each of which is a fact by itself. An
answer that has both, but each with the words of the other part, holds both facts and is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.text.quantities import Quantity, is_same_quantity
from assay.text.read_text import ReadText, Word, read_text

_JOINED = re.compile(r"\?|;|,? (?:and|va) ")
_ASKS = re.compile(
    r"\b(?:how|what|when|where|who|which|is|are|do|does|can|bao nhieu|bao lau|may|gi|nao|ai|dau|khong|chua)\b"
)
_PART = re.compile(r"\n|[.;,](?=\s|$)| (?:and|while|but|whereas|va|con|nhung) ")
"""What separates the parts of an answer that have a value each."""


def find_swapped_values(question: str, reference: str, answer: str, facts: Sequence[str]) -> str:
    """Return how an answer gives the values of facts to other parts of the question, in words; "" if it does not.

    The question has as many parts as there are facts, each of one value, and the reference has the values in the order
    of the parts, or with their words. Parts of the answer that have words of none, or of several, show nothing.

    >>> question, facts = "What does a helmet cost, and what does a late return cost?", ["3 euros", "6 euros"]
    >>> find_swapped_values(question, "3 euros; 6 euros", "A helmet is 6 euros, a late return 3 euros.", facts)
    '"3 euros" stands with "late return", and is the value of "helmet"'
    >>> find_swapped_values(question, "3 euros; 6 euros", "A helmet is 3 euros, a late return 6 euros.", facts)
    ''
    """
    if len(facts) < 2 or len(set(facts)) < len(facts):
        return ""
    parts = _split_question(question)
    values = [read_text(fact).quantities for fact in facts]
    if len(parts) != len(facts) or any(len(quantities) != 1 for quantities in values):
        return ""
    names = _list_names(parts)
    owners = _find_owners([quantities[0] for quantities in values], names, read_text(reference))
    if owners is None or not all(names):
        return ""
    read_answer = read_text(answer)
    for fact, (quantity,), owner in zip(facts, values, owners, strict=True):
        holders = [_find_holder(stated, names, read_answer) for stated in read_answer.quantities]
        said_of = {
            holder
            for stated, holder in zip(read_answer.quantities, holders, strict=True)
            if holder is not None and is_same_quantity(quantity, stated)
        }
        if said_of and owner not in said_of:
            other = names[min(said_of)]
            return f'"{fact}" stands with "{_spell(other)}", and is the value of "{_spell(names[owner])}"'
    return ""


Names = dict[str, str]
"""The words that only one part of a question has, by their keys."""


def _split_question(question: str) -> list[ReadText]:
    read_question = read_text(question.strip().rstrip("?").strip())
    text, plain = read_question.text, read_question.plain
    pieces, start = [], 0
    for match in _JOINED.finditer(plain):
        if _ASKS.search(plain, start, match.start()) and _ASKS.search(plain, match.end()):
            pieces.append(text[start : match.start()])
            start = match.end()
    return [read_text(piece) for piece in (*pieces, text[start:])]


def _list_names(parts: Sequence[ReadText]) -> list[Names]:
    named = []
    for part in parts:
        words = {word.key: part.text[word.start : word.end] for word in part.words if _names_something(word)}
        named.append(words)
    return [
        {key: text for key, text in words.items() if not any(key in other for other in named if other is not words)}
        for words in named
    ]


def _names_something(word: Word) -> bool:
    return word.kind in ("word", "name") and _ASKS.fullmatch(word.folded) is None


def _find_owners(values: Sequence[Quantity], names: Sequence[Names], reference: ReadText) -> list[int] | None:
    """Return for each value the part of the question that it answers: by the words next to it in the reference, else by
    its place among the values there; None if neither tells."""
    places = []
    for value in values:
        positions = [place for place, stated in enumerate(reference.quantities) if is_same_quantity(value, stated)]
        if len(positions) != 1:
            return None
        places.append(positions[0])
    named = [_find_holder(reference.quantities[place], names, reference) for place in places]
    is_in_order = all(owner in (None, place) for owner, place in zip(named, places, strict=True))
    if is_in_order and len(reference.quantities) == len(values):
        return places
    owners = [owner for owner in named if owner is not None]
    return owners if len(owners) == len(values) == len(set(owners)) else None


def _find_holder(value: Quantity, names: Sequence[Names], text: ReadText) -> int | None:
    """Return the only part of the question of which words stand in the same part of a text as a value."""
    start = max((match.end() for match in _PART.finditer(text.lined, 0, value.start)), default=0)
    following = _PART.search(text.lined, max(value.end, value.rate_span[1]))
    end = following.start() if following is not None else len(text.lined)
    keys = {word.key for word in text.words if start <= word.start < end}
    holders = [part for part, words in enumerate(names) if not keys.isdisjoint(words)]
    return holders[0] if len(holders) == 1 else None


def _spell(names: Names) -> str:
    return " ".join(names.values())
