"""Facts that hold of those whom they name and of nobody else: "only Owners", "Enterprise only", "nobody but Admins".

All of these are one fact in several words, and say of the named ones what the fact says without its "only". Whether an
answer adds others is asked by itself (`additions.added_holders`). "Only if it rains" and "only 3" name nobody.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from assay.text.facts.cues.condition_cues import NAMES_NOBODY, NOBODY_ELSE, ONLY_THESE
from assay.text.facts.cues.word_classes import (
    AUXILIARIES,
    DETERMINERS,
    GRAMMAR_WRITTEN,
    PREDICATES,
    PREPOSITIONS,
    PREPOSITIONS_WRITTEN,
)
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word, read_text
from assay.text.late_pattern import LatePattern

_ONLY = LatePattern(
    rf"(?<![\w'-])(?P<not>(?:not|nicht|không) )?{ONLY_THESE}(?![\w'-])(?! (?:{NAMES_NOBODY})\b)(?! ?[$€£]?\d)",
    re.IGNORECASE,
)
"""For written text: "chỉ" is only, and "chị" a sister."""
_NOBODY_ELSE = LatePattern(rf"(?P<not>),? (?:and |but |und )?{NOBODY_ELSE}(?=\W*$)", re.IGNORECASE)


class OnlyFact(Struct, frozen=True):
    """A fact without its words for "only", and where these stood in it; None if it has none."""

    bare: str
    place: int | None


@lru_cache(maxsize=4096)
def split_only(fact: str) -> OnlyFact:
    """Return a fact without the words by which it holds of those alone whom it names.

    >>> [split_only(fact).bare for fact in ("Only Owners", "Admins only", "nobody but Admins", "only 3 days")]
    ['Owners', 'Admins', 'Admins', 'only 3 days']
    """
    read = read_text(fact)
    cue = _NOBODY_ELSE.search(read.text) or _ONLY.search(read.text)
    if cue is None or cue["not"]:
        return OnlyFact(fact, None)
    before, after = read.text[: cue.start()].rstrip(), read.text[cue.end() :].lstrip()
    bare = f"{before} {after}".strip() if after and after[0].isalnum() else f"{before}{after}".strip()
    read_bare = read_text(bare)
    if not any(word.kind != "stop" for word in read_bare.words) or find_negations(read_bare):
        return OnlyFact(fact, None)
    return OnlyFact(bare, len(before) + 1 if before and after and after[0].isalnum() else len(before))


@lru_cache(maxsize=4096)
def find_only(fact: str, reference: str) -> OnlyFact:
    """Return a fact without its "only", or with that of a reference which says it of the fact: "only the owner may".

    >>> find_only("owner", "Only the owner may delete it."), find_only("owner", "The owner may only read it.")
    (OnlyFact(bare='owner', place=0), OnlyFact(bare='owner', place=None))
    """
    split = split_only(fact)
    read_fact, read = read_text(fact), read_text(reference)
    names = {word.key for word in read_fact.words if word.kind != "stop"}
    if split.place is not None or not names:
        return split
    for cue in _ONLY.finditer(read.text):
        following = (word for word in read.list_words(cue.end(), cue.end() + _REACH) if not is_grammar(word, read))
        named = next((word for word in following if word.kind != "stop"), None)
        if not cue["not"] and named is not None and named.key in names:
            return OnlyFact(split.bare, 0)
    return split


_REACH = 24
"""Characters after an "only" in which the first one is named of whom it is said."""


def list_holders(bare: ReadText, place: int, question: ReadText) -> list[Word]:
    """Return the words for those of whom alone a fact holds: after its "only", or before one at the end.

    >>> texts = [read_text(text) for text in ("Zone tickets are valid", "SAML is part of Premium", "Who? Which?")]
    >>> [word.folded for word in list_holders(texts[0], 0, texts[2])]
    ['zone', 'tickets']
    >>> [word.folded for word in list_holders(texts[1], 23, texts[2])]
    ['premium']
    """
    after = [word for word in bare.words if word.start >= place]
    words = after or list(reversed(bare.words))
    holders: list[Word] = []
    for word in words:
        is_asked = bool(after) and any(own.key == word.key for own in question.words)
        if is_grammar(word, bare) or is_asked:
            if holders:
                break
        elif word.kind != "stop":
            holders.append(word)
    low, high = min((word.start for word in holders), default=0), max((word.end for word in holders), default=0)
    return [] if any(low <= own.start < high for own in bare.quantities) else sorted(holders, key=_get_start)


def is_grammar(word: Word, text: ReadText) -> bool:
    """Return whether a word belongs to no name, and ends one: "in", "the", "can", "được" and not "dược" (pharmacy)."""
    if word.marks:
        return text.text[word.start : word.end].lower() in _OF_GRAMMAR_WRITTEN
    return word.folded.partition("'")[0] in _OF_GRAMMAR


_OF_GRAMMAR = PREPOSITIONS | DETERMINERS | AUXILIARIES | PREDICATES
_OF_GRAMMAR_WRITTEN = PREPOSITIONS_WRITTEN | frozenset(GRAMMAR_WRITTEN.split())


def _get_start(word: Word) -> int:
    return word.start
