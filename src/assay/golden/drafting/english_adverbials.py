"""Asks about sentences that say for when, where or whom they hold: "In winter the crossing takes 80 minutes".

What the rest says is asked by the rules for plain sentences, and the question ends with the time or place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.golden.drafting.english_clauses import SentenceRules
from assay.golden.drafting.english_denials import ask_denial
from assay.golden.drafting.english_facts import ask_fact
from assay.golden.drafting.english_prices import ask_price
from assay.golden.drafting.english_quantities import ask_quantity
from assay.golden.drafting.question_forms import DraftedQuestion, capitalise

_PREPOSITION = r"(?:in|on|at|from|after|before|until|since|during|within|with|between|under)"
_BEGINS_SO = re.compile(rf"{_PREPOSITION} ", re.IGNORECASE)
_BORDER = re.compile(r", (?=[a-z])| (?=(?:the|an?|half) )")
_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_TRAILING = re.compile(
    r"(?P<main>[^,;()]{8,90}?\b(?:at|from|until|before|after) \d[^,;()]{0,40}?) (?P<adverbial>"
    rf"on (?:(?:public )?holidays|weekdays|{_WEEKDAY}(?: and {_WEEKDAY})?)|at weekends)\Z"
)
_OPEN_END = re.compile(rf"\b(?:{_PREPOSITION}|of|to|for|by|and|or)\Z", re.IGNORECASE)
_UNCLEAR = re.compile(
    r"[;()“”]|,|\b(?:all|any|only|that|which|who|if|when|it|them|then|this|these|case|fact|general|order|addition|advance|"
    r"principle|practice|particular|respect|regard|exception|effect|contrast|most)\b",
    re.IGNORECASE,
)


class _HeldFor(NamedTuple):
    """What a sentence says, and the time, place or case for which it says it."""

    main: str
    adverbial: str


def ask_with_adverbial(rules: SentenceRules) -> DraftedQuestion | None:
    """Return a question about a sentence without its adverbial, which ends the question; None if no rule fits.

    >>> from assay.golden.drafting.corpus_words import CorpusWords
    >>> from assay.records.golden_set import CorpusChunk
    >>> texts = ("In winter the crossing takes 80 minutes.", "The hall closes at 13:00 on Saturdays.")
    >>> words = CorpusWords([CorpusChunk(text, text=text) for text in texts])
    >>> for text in texts:
    ...     print(ask_with_adverbial(SentenceRules(text, "", words, is_alone=True)).question)
    How many minutes does the crossing take in winter?
    When does the hall close on Saturdays?
    """
    for held in _part_sentence(rules.text.rstrip(" .!")):
        for rule in (ask_fact, ask_quantity, ask_price, ask_denial):
            asked = rule(rules._replace(text=f"{held.main}.", adverbial=held.adverbial))
            if asked is not None:
                return rules.finish(f"{asked.question.removesuffix('?')} {held.adverbial}", *asked.must_have)
    return None


def _part_sentence(text: str) -> Iterator[_HeldFor]:
    """Yield the ways to part a sentence from the adverbial that it begins or ends with."""
    trailing = _TRAILING.match(text)
    if trailing is not None:
        yield _HeldFor(trailing["main"], trailing["adverbial"])
    for border in _BORDER.finditer(text) if _BEGINS_SO.match(text) else ():
        adverbial = text[: border.start()]
        if len(adverbial.split()) > 1 and not _OPEN_END.search(adverbial) and not _UNCLEAR.search(adverbial):
            main = text[border.end() :].split(";")[0].strip()
            yield _HeldFor(capitalise(main), adverbial[:1].lower() + adverbial[1:])
