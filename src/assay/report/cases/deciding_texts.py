"""The texts that decide about an answer, by which a long one is cut: a wrong value, the expected facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.attribution.one_case.other_values import find_values_of_same_kind

_BETWEEN_NAMES = re.compile(r"[()“”\"]|: |, |; |the answer says ")
_PUNCTUATION = '.,:;()“”"'
_LABELS = frozenset({"missing", "wrong", "contradicted", "stated instead"})
"""Words of a reason that stand before what it names."""
_ELLIPSIS = " … "


def list_deciding_texts(reasons: Iterable[str], facts: Sequence[str], answer: str, question: str) -> list[str]:
    """Return what decides about an answer, as it may stand in it, the most decisive first.

    That is what the `reasons` of its cause name (after a colon, in brackets or quotation marks, and numbers anywhere),
    values of the kind of one of the expected `facts` that the answer does not have, then these facts.

    >>> list_deciding_texts(["missing: 16:20 (stated instead: 17:45)"], ["16:20"], "At 17:45.", "When?")
    ['16:20', '17:45']
    """
    texts: list[str] = []
    for reason in reasons:
        texts += _BETWEEN_NAMES.split(reason)
        texts += [word.strip(_PUNCTUATION) for word in reason.split() if any(map(str.isdigit, word))]
    for fact in facts:
        if fact.casefold() not in answer.casefold():
            texts += find_values_of_same_kind(answer, fact, question)
    named = dict.fromkeys(text.strip() for text in (*texts, *facts))
    return [text for text in named if len(text) > 1 and text not in _LABELS]


def shorten_around(line: str, deciding: Sequence[str], limit: int) -> str:
    """Return a line of at most `limit` characters: its beginning, and the first place of what decides about it.

    >>> shorten_around("The boat is blue and old. It leaves at nine from the pier of the island.", ["nine"], 40)
    'The boat is … leaves at nine from the…'
    """
    if len(line) <= limit:
        return line
    folded = line.casefold()
    places = [folded.find(text.casefold()) for text in deciding]
    first = next(((place, text) for place, text in zip(places, deciding, strict=True) if place >= 0), None)
    if first is None or first[0] + len(first[1]) < limit:
        return _cut_end(line, limit)
    place, text = first
    beginning = _cut_at_word(line[: limit // 3])
    room = limit - len(beginning) - len(_ELLIPSIS)
    start = max(place - max(room - len(text), 0) // 2, len(beginning))
    start = min(start, max(len(line) - room, 0))
    if start > 0 and line[start - 1] != " ":
        start = line.find(" ", start, place) + 1 or start
    return f"{beginning}{_ELLIPSIS}{_cut_end(line[start:], room)}"


def _cut_at_word(text: str) -> str:
    return text.rpartition(" ")[0] or text


def _cut_end(text: str, limit: int) -> str:
    return text if len(text) <= limit else _cut_at_word(text[: limit - 1]).rstrip() + "…"
