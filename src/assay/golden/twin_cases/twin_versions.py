"""Finds what an earlier version of a document said in the place of a fact: the right answer on an earlier day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from assay.golden.lint_evidence import list_content_words
from assay.golden.lint_rules import contains_words
from assay.records.golden_set import CorpusChunk
from assay.text.facts.stated_quantities import judge_quantities
from assay.text.normalisation import fold_text
from assay.text.quantities.measures import find_measures
from assay.text.statements import Statement, list_statements, strip_markup

SAME_PLACE_SHARE = 0.6
"""The share of the words around a fact that the statement of an earlier version must have in common."""


class EarlierAnswer(NamedTuple):
    """What an earlier version says: the fact, the statement and its chunk. `is_same` if it states the same fact."""

    fact: str
    statement: Statement
    chunk: CorpusChunk
    is_same: bool = False


def find_earlier_answer(
    fact: str, chunk: CorpusChunk, quote: str | None, earlier: Sequence[CorpusChunk]
) -> EarlierAnswer | None:
    """Return what the chunks of an earlier version say in the place of a fact of a chunk, None if that is not clear.

    The place is the statement with the same words around a quantity, or the same row and column of a table. Two places
    with two facts are not clear.

    >>> now = CorpusChunk("new", "Passwords have at least 14 characters.")
    >>> then = CorpusChunk("old", "Passwords have at least 10 characters. They change every 90 days.")
    >>> find_earlier_answer("14 characters", now, None, [then]).fact
    '10 characters'
    """
    own = _find_statement(fact, chunk, quote)
    if own is None:
        return None
    answers = []
    for other_chunk in earlier:
        for statement in list_statements(other_chunk.text or ""):
            other = _read_row(fact, own, statement) if own.cells else _read_sentence(fact, own, statement)
            if other is not None:
                answers.append(EarlierAnswer(other, statement, other_chunk, states_fact(other, fact)))
    facts = {fold_text(answer.fact) for answer in answers}
    return answers[0] if len(facts) == 1 else None


def states_fact(text: str, fact: str) -> bool:
    """Return whether a text states a fact, in these words or as the same quantity."""
    states = [judgment.state for judgment in judge_quantities(text, fact)]
    return contains_words(fold_text(text), fold_text(fact)) or (bool(states) and set(states) == {"stated"})


def _find_statement(fact: str, chunk: CorpusChunk, quote: str | None) -> Statement | None:
    """Return the one statement of a chunk that has a fact, within the quote if there is one."""
    within = fold_text(strip_markup(quote)) if quote else ""
    stating = [
        statement
        for statement in list_statements(chunk.text or "")
        if contains_words(fold_text(statement.text), fold_text(fact))
        and (not within or fold_text(statement.text) in within or within in fold_text(statement.text))
    ]
    return stating[0] if len(stating) == 1 else None


def _read_sentence(fact: str, own: Statement, other: Statement) -> str | None:
    """Return the quantity that stands in another statement where a fact stands in the own one."""
    own_measures = [measure for measure in find_measures(fact) if not measure.date]
    if len(own_measures) != 1 or other.cells:
        return None
    dimensions = {reading.dimension for reading in own_measures[0].readings}
    around = list_content_words(own.text) - list_content_words(fact)
    words = list_content_words(other.text)
    if not around or len(around & words) < SAME_PLACE_SHARE * len(around):
        return None
    alike = [
        measure
        for measure in find_measures(other.text)
        if not measure.date and dimensions & {reading.dimension for reading in measure.readings}
    ]
    if len(alike) != 1:
        return None
    words_of_it = other.text[alike[0].start : alike[0].end]
    first = re.search(r"\d", words_of_it) if fact[:1].isdigit() else None
    return words_of_it[first.start() :] if first is not None else words_of_it  # "at least" belongs to the sentence


def _read_row(fact: str, own: Statement, other: Statement) -> str | None:
    """Return the cell that stands in another row where a fact stands in the own one: same name, same header."""
    columns = [number for number, cell in enumerate(own.cells) if number and fold_text(fact) in fold_text(cell)]
    if len(columns) != 1 or len(own.header) != len(own.cells) or len(other.header) != len(other.cells):
        return None
    header = fold_text(own.header[columns[0]])
    others = [cell for name, cell in zip(other.header, other.cells, strict=True) if fold_text(name) == header]
    is_same_row = bool(other.cells) and fold_text(other.cells[0]) == fold_text(own.cells[0])
    return others[0] if is_same_row and len(others) == 1 and others[0].strip() else None
