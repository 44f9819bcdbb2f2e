"""The values that an answer states in the place of those that its case expects: quantities, dates, codes and names."""

from __future__ import annotations

from collections.abc import Iterable

from assay.text.citation_markers import remove_citation_markers
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text, normalise_nfc
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity, is_telephone_number
from assay.text.quantities.quantity_agreement import differ_in_unit, is_same_quantity, is_same_value
from assay.text.quantities.unit_names import split_glued_units
from assay.text.quantities.units import PLAIN
from assay.text.question_entities import find_missing_entities, find_question_entities
from assay.text.tokens import parse_terms, tokenise_text

_SENTENCE_END = compile_pattern(r"(?<=[.!?])\s+|\n+")
_DIGIT_GROUPS = LatePattern(r"(?<![\w+])\+?\(?\d+\)?(?:[ .\-/]?\(?\d+\)?){2,}(?!\w)")
_FEWEST_DIGITS = 5
"""From how many digits on groups of them may be meant as a telephone number."""


def find_values_of_same_kind(answer: str, fact: str, question: str) -> list[str]:
    """Return the values of an answer that are of the kind of those of a fact, as written; not the question's.

    A quantity measures the same, or has the number of the fact with another unit; a date is a date, and a code has the
    letters and digits of a code.

    >>> find_values_of_same_kind("It costs 90p for 20 days in 2025.", "12 days", "And in 2025?")
    ['20 days']
    >>> find_values_of_same_kind("Ask for form MR-240 at 0471 552 381.", "0471 552 318", "")
    ['0471 552 381']
    """
    text = split_glued_units(normalise_nfc(remove_citation_markers(answer)))
    wanted = find_measures(normalise_nfc(fact))
    asked = find_measures(normalise_nfc(question))
    values: dict[str, None] = {}
    for own in find_measures(text):
        is_kin = any(_is_of_same_kind(own, measure) for measure in wanted)
        if is_kin and not any(is_same_quantity(own, measure) for measure in asked):
            values[text[own.start : own.end].strip(" .,;")] = None
    if any(map(is_telephone_number, wanted)):
        values |= dict.fromkeys(_find_digit_groups(text, values))
    elif not wanted:
        values |= dict.fromkeys(_find_codes(text, fact, question))
    return list(values)


def _is_of_same_kind(own: Quantity, wanted: Quantity) -> bool:
    if own.date or wanted.date:
        return bool(own.date and wanted.date)
    if is_telephone_number(own) or is_telephone_number(wanted):
        return is_telephone_number(own) and is_telephone_number(wanted)
    if {reading.dimension for reading in own.readings} & {reading.dimension for reading in wanted.readings}:
        return True
    return differ_in_unit(own, wanted)


def _find_digit_groups(text: str, known: Iterable[str]) -> list[str]:
    """Return the groups of digits that are as long as a telephone number and no known value has."""
    groups = [match[0] for match in _DIGIT_GROUPS.finditer(text)]
    long_groups = [group for group in groups if sum(map(str.isdigit, group)) >= _FEWEST_DIGITS]
    return [group for group in long_groups if not any(group in value for value in known)]


def _find_codes(text: str, fact: str, question: str) -> list[str]:
    """Return the codes of a text that its question does not have, if the fact has a code."""
    if not _list_codes(fact):
        return []
    asked = set(map(fold_text, _list_codes(question)))
    return [code for code in _list_codes(text) if fold_text(code) not in asked]


def _list_codes(text: str) -> list[str]:
    terms = parse_terms(text)
    return [terms.text[term.start : term.end] for term in terms.items if term.kind == "id"]


def find_other_units(answer: str, texts: Iterable[str]) -> list[str]:
    """Return the quantities of the answer that texts have with another unit only, as they are written.

    >>> find_other_units("It weighs 12 grams and is 3 m long.", ["12 kg, 3 m long"])
    ['12 grams']
    """
    normalised = normalise_nfc(remove_citation_markers(answer))
    with_unit = [own for own in find_measures(normalised) if any(item.dimension != PLAIN for item in own.readings)]
    if not with_unit:
        return []
    measures = [measure for text in texts for measure in find_measures(text)]
    others = []
    for own in with_unit:
        is_same = any(is_same_value(own, measure) for measure in measures)
        if not is_same and any(differ_in_unit(own, measure) for measure in measures):
            others.append(normalised[own.start : own.end])
    return others


def find_other_names(answer: str, fact: str, question: str, texts: Iterable[str], language: str | None) -> list[str]:
    """Return the names of an answer that its question does not have, if the fact is a name in one of the texts.

    >>> find_other_names("The guard is Anna Weiss.", "Petra Holm", "Who is it?", ["The guard is Petra Holm."], None)
    ['Anna Weiss']
    """
    if not find_question_entities(fact, language) and not _is_name_in(fact, texts, language):
        return []
    names = find_question_entities(remove_citation_markers(answer), language)
    return find_missing_entities(names, [question])


def _is_name_in(fact: str, texts: Iterable[str], language: str | None) -> bool:
    """Whether a text has a fact, which begins with a capital letter, as a name or as a part of one."""
    if not fact[:1].isupper():
        return False
    lines = [line for text in texts for line in split_lines(text) if fact in line]
    names = [name for line in lines for name in find_question_entities(line, language)]
    return any(not find_missing_entities([fact], [name]) for name in names)


def is_in_place_of(value: str, answer: str, fact_lines: Iterable[str], value_lines: Iterable[str]) -> bool:
    """Return whether the sentence of an answer with a value shares as many words with a line that has the fact as with
    any line that has the value itself: else it says what that line says, and stands in no fact's place.

    >>> fact_lines, value_lines = ["A can holds 25 litres."], ["The tank holds 46 litres of water."]
    >>> is_in_place_of("46 litres", "A can holds 46 litres.", fact_lines, value_lines)
    True
    >>> is_in_place_of("46 litres", "The tank holds 46 litres of water.", fact_lines, value_lines)
    False
    """
    folded = fold_text(value)
    sentences = [line for line in split_lines(answer) if folded in fold_text(line)]
    words = set(tokenise_text(" ".join(sentences))) - set(tokenise_text(value))
    return _count_shared(words, fact_lines) >= _count_shared(words, value_lines)


def _count_shared(words: set[str], lines: Iterable[str]) -> int:
    return max((len(words & set(tokenise_text(line))) for line in lines), default=0)


def split_lines(text: str) -> list[str]:
    """Return the sentences and lines of a text."""
    return _SENTENCE_END.split(text)
