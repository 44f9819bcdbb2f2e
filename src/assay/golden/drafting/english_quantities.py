"""Turns English sentences with one quantity into questions: how many, how much, within how many days."""

from __future__ import annotations

import re

from assay.golden.drafting.english_clauses import (
    LISTED,
    NEGATION,
    RELATIVE,
    Clause,
    SentenceRules,
    invert_clause,
    is_noun_phrase,
    read_clause,
)
from assay.golden.drafting.english_facts import BASE_FORMS
from assay.golden.drafting.question_forms import DraftedQuestion
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.units import MONEY, PLAIN, SHARE, TIME

_MAIN_VERB = re.compile(
    r"\s(?P<verb>have|has|get|gets|need|needs|take|takes|cost|costs|earn|earns|receive|receives|weigh|weighs|"
    r"contain|contains|require|requires|hold|holds|last|lasts|allow|allows|expire|expires|pay|pays|serve|serves|"
    r"use|uses|cover|covers|include|includes|employ|employs)(?=\s|\Z)(?! (?:been|to|not|\w+ed)\b)"
)
_ANY_VERB = re.compile(rf"\s(?P<verb>{'|'.join(sorted(BASE_FORMS, key=len, reverse=True))})(?=\s|\Z)")
_LEADING_PREPOSITION = re.compile(r"(?:^|\s)(for|after|in|at|before|every|from|by|to|with)\s*$")
_NUMBER_WORD = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundreds?|"
    r"thousands?|millions?|dozens?|several|half)\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"^(?P<bound>within|up to|at most|at least|about|nearly|almost|around|roughly|some|approximately|more than|"
    r"less than|over|under)\s+"
)
_ROUGH_BOUNDS = ("about", "approximately", "nearly", "almost", "around", "roughly", "some")
_ASKED_BOUNDS = frozenset({"within", "at most", "at least", "up to"})
_NUMBER_OF_A_NAME = re.compile(r"\b[A-Z][\w-]* \d+\b|\b[A-Z]+-?\d+\b")
_COUNTED_THING = re.compile(
    r"of (?:(?!(?:a|an|per|each|every|in|for|on|with|after|before|from|at|to|during)\b)\S+\s*)+"
)
_LONG_UNITS = {
    "g": "grams",
    "kg": "kilograms",
    "mg": "milligrams",
    "mm": "millimetres",
    "cm": "centimetres",
    "m": "metres",
    "km": "kilometres",
    "l": "litres",
    "ml": "millilitres",
    "h": "hours",
    "min": "minutes",
    "s": "seconds",
    "Nm": "newton metres",
    "W": "watts",
    "kW": "kilowatts",
}
_DISTANCE = re.compile(r"in advance|(?:before|after) (?:the |each |every |an? )?[a-z-]+(?: of [a-z ]+)?")
"""From where an amount of time is counted, which the question asks with it: "how many minutes before departure"."""
_VAGUE_UNIT = re.compile(
    r"(?:thing|way|reason|kind|type|sort|part|point|case|step|option|example|people|person|other|item|side|factor)s?\b"
)


def ask_quantity(rules: SentenceRules) -> DraftedQuestion | None:
    """Return a question that asks for the one quantity of a sentence, None if the sentence fits no rule.

    >>> from assay.golden.drafting.corpus_words import CorpusWords
    >>> ask_quantity(SentenceRules("Quotes are valid for thirty days.", "", CorpusWords([]))).question
    'For how many days are quotes valid?'
    """
    rules = rules._replace(text=_cut_second_statement(rules.text))
    measures = _list_measures(rules.text)
    if len(measures) != 1 or measures[0].date or measures[0].is_range or measures[0].is_spelled_one:
        return None
    measure, sentence = measures[0], rules.text.rstrip(" .!")
    words = rules.text[measure.start : measure.end]
    has_other = len(re.findall(r"\d[\d.,]*", _NUMBER_OF_A_NAME.sub("", rules.text))) > 1
    if has_other or measure.end > len(sentence) or re.match(r"(?:one|a|an)\b", words) or not _has_unit(measure, words):
        return None
    if "," in sentence or LISTED.search(sentence) or NEGATION.search(sentence) or RELATIVE.search(sentence):
        return None
    question = _ask_how_many(rules, sentence, measure)
    return rules.finish(question, _BOUND.sub("", words)) if question else None


def _list_measures(text: str) -> list[Quantity]:
    """Return the quantities of a text without the numbers of names: "the Lynx 15", "type L2"."""
    names = [match.span() for match in _NUMBER_OF_A_NAME.finditer(text)]
    measures = find_measures(text)
    return [part for part in measures if not any(start <= part.start and part.end <= end for start, end in names)]


def _cut_second_statement(text: str) -> str:
    """Return a text without what a second verb adds after its first quantity: "… after 180 days and need …"."""
    measures = _list_measures(text)
    if len(measures) < 2 or measures[0].date:
        return text
    joined = re.compile(r",? and (?:\w+s|need|cost|must|may|can|have|are|will)\b|, (?:but|where|so)\b").match(
        text, measures[0].end
    )
    return f"{text[: joined.start()]}." if joined is not None else text


def _has_unit(measure: Quantity, words: str) -> bool:
    dimensions = {reading.dimension for reading in measure.readings}
    if dimensions != {PLAIN}:
        return True
    unit = _BOUND.sub("", words).partition(" ")[2]
    return bool(unit) and not _VAGUE_UNIT.match(unit)


def _ask_how_many(rules: SentenceRules, sentence: str, measure: Quantity) -> str | None:
    words = sentence[measure.start : measure.end]
    bound, asked = _BOUND.match(words), _name_unit(_BOUND.sub("", words), measure)
    if (
        asked is None
        or words.startswith("half")
        or (bound is not None and bound["bound"] not in (*_ASKED_BOUNDS, *_ROUGH_BOUNDS))
    ):
        return None
    if bound is not None and bound["bound"] in _ASKED_BOUNDS:
        asked = f"{bound['bound']} {asked}"
    before, after = sentence[: measure.start], sentence[measure.end :].strip().removesuffix("only").rstrip()
    distance = _DISTANCE.match(after)
    if distance is not None:
        asked, after = f"{asked} {distance[0]}", after[distance.end() :].strip()
    preposition = _LEADING_PREPOSITION.search(before)
    front = f"{preposition[1]} {asked}" if preposition else asked
    rest = before[: preposition.start()] if preposition else before
    clause = read_clause(f"{rest.rstrip()} ")
    if clause is not None:
        return _ask_with_auxiliary(rules, clause, front, after, is_object=not preposition)
    return _ask_with_verb(rules, rest.rstrip(), front, after, is_object=not preposition)


def _ask_with_auxiliary(rules: SentenceRules, clause: Clause, front: str, after: str, *, is_object: bool) -> str | None:
    subject, predicate = rules.name_subject(clause.subject), clause.rest.strip().removesuffix("only").rstrip()
    if subject is None or re.search(r"\b(?:a|an|the)$", predicate):
        return None
    if is_object and not predicate and clause.auxiliary in ("is", "are"):
        return f"{'How much' if front.startswith('how much') else 'What'} {clause.auxiliary} {subject} {after}"
    if is_object and not re.search(
        r"\b(?:\w+ed|have|get|take|use|need|be|cost|last|keep|hold|earn|charged)$", predicate
    ):
        return None
    inverted = invert_clause(clause._replace(rest=predicate), subject)
    return f"{front} {inverted} {after}"


def _ask_with_verb(rules: SentenceRules, rest: str, front: str, after: str, *, is_object: bool) -> str | None:
    verb = _MAIN_VERB.search(rest) or (_ANY_VERB.search(rest) if rules.is_alone else None)
    if verb is not None and rest[verb.end() :].startswith(" of "):
        return None  # a noun: "single use of a room"
    if verb is None or not is_noun_phrase(rest[: verb.start()]) or (rest[verb.end() :].strip() and is_object):
        return None
    subject = rules.name_subject(rest[: verb.start()])
    if subject is None:
        return None
    does = "does" if verb["verb"].endswith("s") else "do"
    base = BASE_FORMS.get(verb["verb"], verb["verb"].removesuffix("s") if does == "does" else verb["verb"])
    counted = _COUNTED_THING.match(after) if is_object else None
    if counted is not None:
        front, after = f"{front} {counted[0].strip()}", after[counted.end() :]
    return f"{front} {does} {subject} {base} {rest[verb.end() :].strip()} {after}"


def _name_unit(words: str, measure: Quantity) -> str | None:
    """Return the words that ask for a quantity: "how many days", "what percentage"; None without a unit."""
    dimensions = {reading.dimension for reading in measure.readings}
    if SHARE in dimensions:
        return "what percentage"
    if any(dimension.startswith(MONEY) for dimension in dimensions):
        return "how much"
    match = re.search(r"([^\W\d_][^\d]*)$", words.split(maxsplit=1)[-1] if " " in words else "")
    if match is None or (dimensions == {TIME} and re.search(r"\b[ap]\.?m\b", words)):
        return None
    unit = match[1].strip()
    if _NUMBER_WORD.search(unit):
        return None
    return f"how many {_LONG_UNITS.get(unit, unit)}"
