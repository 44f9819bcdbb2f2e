"""Whether an answer says of another value what the question asks: "£6 in winter; in July it is £8", asked about July.

Two values of a kind, each in a part of its own: what the question names is in the other part, and that of the fact
names something else instead. The functions work on folded text (`fold_in_place`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import structs

from assay.text.facts.cues.condition_cues import LEADING_OR_CONDITION
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.link_cues import AND, AND_IN_OTHER_LANGUAGES, SET_AGAINST
from assay.text.facts.cues.word_classes import OTHERS
from assay.text.facts.expected.asked_times import names_may
from assay.text.facts.reading.read_text import Word
from assay.text.facts.reading.text_parts import Part
from assay.text.facts.subjects.whose_value import OtherOwner, ValueOwner
from assay.text.facts.subjects.worked_out_values import is_worked_out
from assay.text.quantities.quantity import Quantity, is_plain
from assay.text.quantities.quantity_agreement import is_comparable, is_same_quantity

_AND_IN_OTHER_LANGUAGES = build_pattern(rf",? {AND_IN_OTHER_LANGUAGES} ")
_NON = "non"


def find_asked_elsewhere(owner: ValueOwner, low: int, high: int, start: int, value: Quantity) -> OtherOwner | None:
    """Return how another part of an answer has what is asked, with another value; None if none has.

    The parts are those of the answer from `low` to `high`; `value`: the quantity of the fact, which starts at `start`.
    A value that is worked out of others, or from which others are, belongs to what they do.
    """
    if value.rate_size is not None or is_worked_out(value, owner.answer.quantities):
        return None
    groups = owner.cut_answer(low, high, value)[1]
    units = [unit for group in groups for unit in _split_values(owner, group, value)]
    own = next((unit for unit in units if unit.start <= start < unit.end), None)
    if own is None:
        return None
    for other in units:
        if other is own or not _has_other_value(owner, other, value):
            continue
        asked = list_asked(owner, other, value, has_shared_rate=other.start < own.start)
        own_asked = list_asked(owner, own, value)
        elsewhere = [spelled for key, spelled in asked.items() if key not in own_asked]
        is_head_shared = own.start < other.start
        if not elsewhere or (not is_head_shared and own_asked.keys() - asked.keys()):
            continue
        label = "" if _find_labels(owner, other) else next(iter(_find_labels(owner, own)), "")
        if label:
            reason = f'the answer says this of "{label}", and another value of "{elsewhere[0]}", which is asked about'
            return OtherOwner(reason, False)
    return None


_LEAD = build_pattern(rf"(?:(?:{AND}|{SET_AGAINST}) )?{LEADING_OR_CONDITION} ")


def find_other_condition(owner: ValueOwner, low: int, high: int, start: int) -> OtherOwner | None:
    """Return how an answer says a fact without a value on another condition than the one that is asked about.

    "If you cancel, the points are kept; if you pause, they are lost" says of cancelling that they are kept.
    """
    parts = owner.cut_answer(low, high, None)[0]
    leads = [index for index, part in enumerate(parts) if _LEAD.match(owner.answer.plain, part.start) is not None]
    own = max((index for index in leads if parts[index].start <= start), default=None)
    if own is None or not _states_beside(parts, own, start):
        return None
    asked = list_asked(owner, parts[own], None)
    labels = _find_labels(owner, parts[own])
    for other in leads if labels and not asked else ():
        elsewhere = list_asked(owner, parts[other], None) if abs(other - own) <= _FURTHEST else {}
        if elsewhere and not _find_labels(owner, parts[other]):
            spelled = next(iter(elsewhere.values()))
            return OtherOwner(f'the answer says this of "{labels[0]}", and something else of "{spelled}"', False)
    return None


_FURTHEST = 3
"""Parts from one condition to another that is set against it, with a statement between them or two."""


def _states_beside(parts: Sequence[Part], lead: int, start: int) -> bool:
    """Whether what starts at a position is in a part that begins with a condition, or in the next one."""
    return any(part.start <= start < part.end for part in parts[lead : lead + 2])


def are_told_apart(owner: ValueOwner, own: Part, other: Part, value: Quantity | None) -> bool:
    """Return whether a part names what is asked with the value of the fact, and another one something else with its
    value: "$400 for most drivers, but $900 for those under 25", asked about these."""
    asked = list_asked(owner, own, value)
    asked_elsewhere = list_asked(owner, other, value, has_shared_rate=other.start < own.start)
    is_named = bool(asked.keys() - asked_elsewhere.keys())
    return is_named and bool(_find_labels(owner, other)) and not _find_labels(owner, own)


def _has_other_value(owner: ValueOwner, part: Part, value: Quantity) -> bool:
    """Whether a part has another value than the expected ones, and works none out of others."""
    is_sum = any(
        is_comparable(value, own) and is_worked_out(own, owner.answer.quantities) for own in owner.quantities_in(part)
    )
    return not is_sum and any(is_rival for _, is_rival in owner.list_values(part, value))


def _split_values(owner: ValueOwner, group: Part, value: Quantity) -> Iterator[Part]:
    """Yield the parts of a group that hold one value each: at "et" or "und", where two values are joined by it."""
    start = group.start
    for before, after in pairwise(at for at, _ in owner.list_values(group, value)):
        cut = _AND_IN_OTHER_LANGUAGES.search(owner.answer.plain, before, after)
        if cut is not None:
            yield structs.replace(group, start=start, end=cut.start())
            start = cut.end()
    yield structs.replace(group, start=start)


def list_asked(
    owner: ValueOwner, part: Part, value: Quantity | None, *, has_shared_rate: bool = False
) -> dict[str, str]:
    """Return the words and the quantities of the question in a part, each with how it is written there.

    `has_shared_rate`: words for per what a value of it is are left out, because all later ones may be per that too.
    """
    text = owner.answer.text
    asked = {}
    rates = [own.rate_span for own in owner.quantities_in(part) if own.rate and has_shared_rate]
    words = [word for word in owner.words_in(part) if not any(low <= word.start < high for low, high in rates)]
    for before, word in zip([None, *words], words, strict=False):
        if owner.is_topic(word) and not _is_negated(before, word):
            asked[word.key] = text[word.start : word.end]
    if names_may(owner.question.plain) and names_may(owner.answer.plain, part.start, part.end):
        asked["may"] = "May"
    for number, wanted in enumerate(owner.question.quantities):
        for own in owner.quantities_in(part):
            is_other_kind = value is None or not is_comparable(value, own)
            if is_other_kind and is_same_quantity(wanted, own):
                asked[str(number)] = text[own.start : own.end]
    return asked


def _is_negated(before: Word | None, word: Word) -> bool:
    """Whether a word follows "non-": "non-residents" are no residents."""
    return before is not None and before.folded == _NON and word.start - before.end == 1


def _find_labels(owner: ValueOwner, part: Part) -> list[str]:
    """Return what a part names instead of what the question names: "winter", "most" (drivers), "second" (class)."""
    text, asked = owner.answer.text, owner.question
    labels = []
    for own in owner.quantities_in(part):
        rivals = [wanted for wanted in asked.quantities if is_comparable(wanted, own)]
        if rivals and not any(is_same_quantity(wanted, own) for wanted in rivals) and not is_plain(own):
            labels.append(text[own.start : own.end])
    named = (
        word
        for word in owner.words_in(part)
        if word.folded in OTHERS or (owner.is_subject(word) and not asked.find_word(word, True))
    )
    return labels + [text[word.start : word.end] for word in named]
