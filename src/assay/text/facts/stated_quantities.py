"""Whether an answer states the quantities of a reference; the words around them only tell whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from assay.text.facts.doubts.unasserted_statements import judge_frame
from assay.text.facts.expected.expected_limits import ExpectedLimit
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judge import FactJudge, get_state_order
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.missing_quantities import is_in_name, judge_missing_quantity
from assay.text.facts.presence.occurrences import MOST_OCCURRENCES, Occurrence
from assay.text.facts.reading.read_text import ReadText, Word, narrow_clause, read_text
from assay.text.late_pattern import LatePattern
from assay.text.number_conventions import guess_style, read_declared_mark
from assay.text.quantities.open_marks import name_open_mark
from assay.text.quantities.quantity import CODE, INTERNATIONAL_CODE, Quantity, is_plain
from assay.text.quantities.quantity_agreement import is_same_quantity

_MOST_VALUE_CHARACTERS = 60
_AROUND_A_VALUE = frozenset(" \t\n.,;:!?*_`\"'“”‘’()")
_NO_VALUES = frozenset((CODE, INTERNATIONAL_CODE, "ordinal"))
"""Dimensions of telephone numbers and of places in an order."""
_MORE_THAN = LatePattern(r"\s*>")
"""A bound, which at the beginning of a text looks like the mark of a quotation."""
_ROUND_THE_CLOCK_OR_AMBIGUOUS = LatePattern(r"(?<![\d/])(?:24/7|(?:0?[1-9]|1[0-2])/(?:0?[1-9]|1[0-2]))(?![\d/])")


def is_lone_value(text: str) -> bool:
    """Return whether a text is nothing but one number, amount, date or time: no bound, no range and no other word.

    "1/2" may be a day, another day or a half, and "24/7" is said in other words.

    >>> [is_lone_value(text) for text in ("£24.00", "18:10", "12 days.", "up to 12 days", "12 days of leave", "No.")]
    [True, True, True, False, False, False]
    """
    if len(text) > _MOST_VALUE_CHARACTERS or is_misread_value(text):
        return False
    read = read_text(text)
    if read.words or len(read.quantities) != 1:
        return False
    (value,) = read.quantities
    is_exact = not (value.bound or value.is_approximate or value.is_range or value.is_spelled_one)
    is_value = not any(reading.dimension in _NO_VALUES for reading in value.readings)
    around = read.text[: value.start] + read.text[value.end :]
    return is_exact and is_value and _AROUND_A_VALUE.issuperset(around)


def is_misread_value(text: str) -> bool:
    """Return whether a text begins with the sign of a bound, or has a date that may be another one or none.

    >>> [is_misread_value(text) for text in ("> 5", "open 24/7", "1/2 cup", "31/12")]
    [True, True, True, False]
    """
    return _MORE_THAN.match(text) is not None or _ROUND_THE_CLOCK_OR_AMBIGUOUS.search(text) is not None


def judge_quantities(
    answer: str, reference: str, tolerance: Decimal = Decimal(0), question: str = "", *, language: str = ""
) -> list[FactJudgment]:
    """Return what an answer does with each quantity of the reference, in order; the words around it do not count.

    `tolerance` is absolute, in plain numbers. A spelled-out "one" is not asked for, and a number that is a part of a
    name in the question states nothing. `language`: that of the case (see `judge_facts`).

    >>> [judged.state for judged in judge_quantities("It is 3 km away.", "3,000 m in 2024")]
    ['stated', 'missing']
    """
    read_answer, read_reference, read_question = read_text(answer), read_text(reference), read_text(question)
    own_quantities = [own for own in read_answer.quantities if not is_in_name(own, read_answer, read_question)]
    judgments = []
    for wanted in read_reference.quantities:
        if wanted.is_spelled_one:
            continue
        text = read_reference.text[wanted.start : wanted.end]
        agreeing = [own for own in own_quantities if is_same_quantity(wanted, own, tolerance)]
        noun = _find_counted_noun(wanted, read_reference)
        if noun is not None:
            agreeing = [own for own in agreeing if _may_count(own, noun, read_answer, own_quantities)]
        if not agreeing:
            judgments.append(
                judge_missing_quantity(text, text, wanted, read_answer, read_question, read_reference, _NO_LIMIT)
            )
            continue
        mark = read_declared_mark(language) or guess_style(f"{question} {reference}").mark
        written = [(own, read_answer.text[own.start : own.end]) for own in agreeing]
        doubt = name_open_mark([(wanted, text)], written, mark, tolerance)
        if doubt:
            judgments.append(FactJudgment(text, "unknown", doubt))
            continue
        judgments.append(_judge_places(text, agreeing, read_answer, read_question, read_reference))
    return judgments


_NO_LIMIT = ExpectedLimit("", False)


def _judge_places(
    text: str, agreeing: Sequence[Quantity], answer: ReadText, question: ReadText, reference: ReadText
) -> FactJudgment:
    """Return the best judgment of a quantity, spelled as `text`, over the places of an answer that have its value.

    Of the words of the question, only those that tell whose number it is count.
    """
    judge, owner_judge = (
        FactJudge(
            FactTexts(text, answer, asked, read_text(""), (reference,), reference.quantities, _NO_LIMIT, (question,))
        )
        for asked in (read_text(""), question)
    )
    judged = []
    for own in agreeing[:MOST_OCCURRENCES]:
        clause = narrow_clause(answer.clause_at(own.start), own.start)
        occurrence = Occurrence(clause, [(own.start, own.end)], False)
        judgment = judge.judge_occurrence(occurrence)
        if judgment.state == "stated":
            judgment = judge_frame(owner_judge.texts, occurrence) or owner_judge.subject.judge_owner(occurrence)
        judged.append(judgment)
    return min(judged, key=get_state_order)


def _find_counted_noun(wanted: Quantity, text: ReadText) -> Word | None:
    """Return the noun that a plain number counts: "steps" in "214 steps"."""
    if not is_plain(wanted):
        return None
    word = text.take_next_word(wanted.end)
    is_next = word is not None and word.start - wanted.end <= 1 and word.kind == "word"
    return word if is_next else None


def _may_count(own: Quantity, noun: Word, answer: ReadText, quantities: Sequence[Quantity]) -> bool:
    """Whether a number of an answer may count what a noun says: "214 feet" do not if "168 steps" are there too."""
    places = [answer.words[index].start for index in answer.find_word(noun, True)]
    counted = [other for other in quantities if any(0 <= start - other.end <= 1 for start in places)]
    return not counted or own in counted
