"""What a reference keeps apart, and an answer mixes.

"Accounting records it, the manager approves it" gives recording to accounting. An answer that says of the manager what
the reference says of accounting, or of accounting what it says of the manager, has the words of the fact, and has them
with what belongs to another.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from assay.text.fact_judgments import FactJudgment
from assay.text.fact_polarity import PREDICATES
from assay.text.fact_texts import FactTexts, may_be_subject
from assay.text.quantities import Quantity, is_same_quantity
from assay.text.read_text import ReadText, Word, get_start
from assay.text.value_owner import Part, is_vietnamese, split_parts

_LEADING = re.compile(
    r"(?:at|in|on|of|for|with|from|if|when|before|after|during|since|because|unless|except|excluding|provided"
    r"|which|who|trong|tai|o|voi|khi|neu|truoc|sau|vi|tru|ngoai tru|mien la)\b"
)
"""Begins a phrase before a statement or a condition after it, which belongs to that statement."""
_BRACKET = re.compile(r"[()]")
_LIST_CUT = 1
_LONGEST_SYLLABLE = 7  # letters of a Vietnamese one: "nghiêng"


class Item(NamedTuple):
    """What two texts may have in common: a word, or two Vietnamese syllables; where it starts and ends."""

    key: str
    marks: str
    start: int
    end: int


class Statement(NamedTuple):
    """A part of a text with the phrases that belong to it: its items and quantities."""

    items: Sequence[Item]
    quantities: Sequence[Quantity]


class ReferenceRoles:
    """What a reference says with the fact (`own`) and what it only says of something else (`others`)."""

    def __init__(self, texts: FactTexts) -> None:
        self.texts = texts
        self.is_vietnamese = is_vietnamese(texts.question.text)
        self.own: list[Statement] = []
        self.others: list[Statement] = []
        reference = texts.reference
        statements = list(self._list_statements(reference)) if reference.words else []
        held = _find_holders(texts, reference, [part for part, _ in statements])
        for number, (_, statement) in enumerate(statements):
            (self.own if number in held else self.others).append(statement)

    def find_mixed(self) -> str:
        """Return what the answer says together although the reference keeps it apart, "" if nothing."""
        if not self.own or not self.others:
            return ""
        ignores_marks = self.texts.ignore_marks or not self.texts.reference.has_marks
        own_items, other_items = ({_key(i, ignores_marks) for s in some for i in s.items} for some in (self.own, self.others))
        asked = {_key(item, ignores_marks) for item in self._read_items(self.texts.question, 0, len(self.texts.question.plain))}
        only_other = other_items - own_items - asked
        only_own = own_items - other_items
        own_q, other_q = ([q for s in some for q in s.quantities] for some in (self.own, self.others))
        known_q = (*self.texts.expected, *self.texts.question.quantities)
        own_q, other_q = [q._replace(bound="") for q in own_q], [q._replace(bound="") for q in other_q]
        known_q = [q._replace(bound="") for q in known_q]
        only_other_q = [q for q in other_q if not any(is_same_quantity(x, q) for x in (*own_q, *known_q))]
        only_own_q = [q for q in own_q if not any(is_same_quantity(q, x) for x in other_q)]
        for _, statement in self._list_statements(self.texts.answer):
            others = [item for item in statement.items if _key(item, ignores_marks) in only_other]
            unb = [q._replace(bound='') for q in statement.quantities]
            oq = [q for q in unb if any(is_same_quantity(x, q) for x in only_other_q)]
            if not others and not oq:
                continue
            mine = [item for item in statement.items if _key(item, ignores_marks) in only_own]
            mq = [q for q in unb if any(is_same_quantity(x, q) for x in only_own_q)]
            if mine or mq:
                a, b = (others or oq)[0], (mine or mq)[0]
                t = self.texts.answer.text
                return f'it says "{t[a.start:a.end]}" with "{t[b.start:b.end]}", which the reference keeps apart'
        return ""

    def _list_statements(self, text: ReadText) -> Iterator[tuple[Part, Statement]]:
        for part in _join_phrases(text, _split(text, 0, len(text.plain))):
            items = list(self._read_items(text, part.start, part.end))
            inside = [own for own in text.quantities if part.start <= own.start < part.end]
            yield part, Statement(items, inside)

    def _read_items(self, text: ReadText, low: int, high: int) -> Iterator[Item]:
        first, last = (bisect_left(text.words, at, key=get_start) for at in (low, high))
        words = text.words[first:last]
        if not self.is_vietnamese:
            for word in words:
                if may_be_subject(word) and word.folded not in PREDICATES:
                    yield Item(word.key, word.marks, word.start, word.end)
            return
        for word in words:
            is_whole = word.kind == "id" or len(word.folded) > _LONGEST_SYLLABLE
            if is_whole:
                yield Item(word.key, word.marks, word.start, word.end)
        for before, word in pairwise(words):
            if word.start - before.end == 1 and may_be_subject(before) and may_be_subject(word):
                yield Item(f"{before.key} {word.key}", f"{before.marks} {word.marks}", before.start, word.end)


def _key(item: Item, ignores_marks: bool) -> tuple[str, str]:
    return item.key, "" if ignores_marks else item.marks


def judge_roles(texts: FactTexts) -> FactJudgment | None:
    """Return the judgment of a fact where an answer mixes what the reference keeps apart; None if it does not."""
    if not texts.question.words or not texts.reference.words:
        return None
    mixed = ReferenceRoles(texts).find_mixed()
    return FactJudgment(texts.fact, "unknown", mixed) if mixed else None


def _split(text: ReadText, low: int, high: int) -> list[Part]:
    """Return the parts of a text; what stands in brackets is one of its own."""
    parts = []
    for part in split_parts(text, low, high):
        start = part.start
        for bracket in _BRACKET.finditer(text.plain, part.start, part.end):
            parts.append(part._replace(start=start, end=bracket.start()))
            start = bracket.end()
        parts.append(part._replace(start=start))
    return [part for part in parts if part.start < part.end]


def _join_phrases(text: ReadText, parts: Sequence[Part]) -> list[Part]:
    """Return parts in which a phrase before a statement or a condition after it is one with the statement."""
    joined: list[Part] = []
    pending: Part | None = None
    for number, part in enumerate(parts):
        if pending is not None:
            part = part._replace(start=pending.start, separation=pending.separation)
            pending = None
        elif _LEADING.match(text.plain, part.start):
            has_next = number + 1 < len(parts) and text.plain[part.end : parts[number + 1].start].strip() == ","
            if part.separation > _LIST_CUT or not joined:
                if has_next:
                    pending = part
                    continue
            elif not any(part.start <= own.start < part.end for own in text.quantities):
                joined[-1] = joined[-1]._replace(end=part.end)
                continue
        joined.append(part)
    return joined


def _words_in(text: ReadText, part: Part) -> Sequence[Word]:
    first, last = (bisect_left(text.words, at, key=get_start) for at in (part.start, part.end))
    return text.words[first:last]


def _find_holders(texts: FactTexts, reference: ReadText, parts: Sequence[Part]) -> set[int]:
    """Return which parts of a reference hold a fact: with something of it that no part with more of it has."""
    holders: set[int] = set()
    for fact in texts.explaining[2:]:
        counts = [_list_held(texts, fact, reference, part) for part in parts]
        for number, inside in enumerate(counts):
            better = {key for other in counts if len(other) > len(inside) for key in other}
            if inside - better:
                holders.add(number)
    return holders


def _list_held(texts: FactTexts, fact: ReadText, reference: ReadText, part: Part) -> set[str]:
    """Return what of a fact a part of the reference holds: the keys of its words, and its quantities."""
    ignores_marks = not (fact.has_marks and reference.has_marks)
    words = _words_in(reference, part)
    inside = [own for own in reference.quantities if part.start <= own.start < part.end]
    held = {
        wanted.key
        for wanted in fact.words
        if may_be_subject(wanted)
        and not texts.question.find_word(wanted, True)
        and any(word.key == wanted.key and (ignores_marks or word.marks == wanted.marks) for word in words)
    }
    for number, quantity in enumerate(fact.quantities):
        if any(is_same_quantity(quantity, own) for own in inside):
            held.add(f"quantity {number}")
    return held
