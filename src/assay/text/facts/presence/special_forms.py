"""Facts of a form of their own: how often, how many of what, and that there is nothing to pay."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from assay.text.facts.cues.word_classes import ONES
from assay.text.facts.expected.fact_texts import ONE, FactTexts
from assay.text.facts.expected.yes_or_no import asks_whether, read_decision
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.absent_things import judge_absence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import Word
from assay.text.facts.reading.statement_marks import DOUBT
from assay.text.quantities.frequencies import find_frequencies, is_same_frequency, read_interval
from assay.text.quantities.payment_cues import (
    ASKS_FOR_COST,
    MAY_BE_FREE,
    NOTHING_ALONE,
    NOTHING_TO_PAY,
    is_positive_amount,
)
from assay.text.quantities.quantity import Quantity, is_plain, is_span, remove_bound
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.units import PLAIN


def judge_frequency(texts: FactTexts, frequency: tuple[Fraction, str]) -> FactJudgment | None:
    """Return the judgment of a fact that only says how often; None if the answer does not say it in words."""
    named = set(find_frequencies(texts.answer.plain))
    if not named:
        return None
    if len(named) > 1 or find_negations(texts.answer) or DOUBT.search(texts.answer.plain):
        return FactJudgment(texts.fact, "unknown", "the answer says in several ways how often, or is not sure")
    if any(is_same_frequency(frequency, other) for other in named):
        return FactJudgment(texts.fact, "stated")
    return FactJudgment(texts.fact, "denied", "the answer says that it is more or less often")


def judge_interval(texts: FactTexts) -> FactJudgment | None:
    """Return that a fact such as "every 3 months" is stated where an answer says it by how often: "four times a year".

    None if the answer does not, or says a span too, which others compare.
    """
    interval = read_interval(texts.read_fact.plain)
    if interval is None or any(is_span(own) for own in texts.answer.quantities):
        return None
    named = find_frequencies(texts.answer.plain)
    is_same = len(set(named)) == 1 and is_same_frequency(interval, named[0])
    is_sure = is_same and not find_negations(texts.answer) and DOUBT.search(texts.answer.plain) is None
    return FactJudgment(texts.fact, "stated") if is_sure else None


def judge_counted_noun(texts: FactTexts) -> FactJudgment | None:
    """Return the judgment if the answer counts what the fact counts, and only with other numbers.

    "Two children and four guests" has the number and the noun of "two guests", and denies it.
    """
    for quantity in texts.read_fact.quantities:
        if quantity.date or any(reading.dimension != PLAIN for reading in quantity.readings):
            continue
        noun = next((word for word in texts.content if 0 < word.start - quantity.end <= 1), None)
        unbounded = remove_bound(quantity)
        counts = [] if noun is None else _list_counts(texts, noun)
        if noun is not None and counts and not any(is_same_quantity(unbounded, remove_bound(own)) for own in counts):
            return FactJudgment(texts.fact, "denied", _say_count(texts, counts[0], noun))
    for one, noun in pairwise(texts.read_fact.words):
        is_counted = one.folded in ONES and noun.start - one.end == 1 and noun in texts.content
        counts = [own for own in _list_counts(texts, noun) if is_plain(own)] if is_counted else []
        if counts and not any(ONE in own.readings for own in counts):
            return FactJudgment(texts.fact, "unknown", _say_count(texts, counts[0], noun))
    return None


def _list_counts(texts: FactTexts, noun: Word) -> list[Quantity]:
    """Return the numbers by which an answer counts a noun of the fact."""
    starts = [texts.answer.words[index].start for index in texts.answer.find_word(noun, texts.ignore_marks)]
    return [own for start in starts for own in texts.answer.quantities if 0 <= start - own.end <= 1 and own.readings]


def _say_count(texts: FactTexts, count: Quantity, noun: Word) -> str:
    stated = texts.answer.text[count.start : count.end]
    return f'the answer says "{stated} {texts.read_fact.text[noun.start : noun.end]}"'


def list_free_places(texts: FactTexts) -> list[int]:
    """Return where an answer says that there is nothing to pay, in whatever words."""
    plain = texts.answer.plain
    starts = [match.start() for match in NOTHING_TO_PAY.finditer(plain)]
    if ASKS_FOR_COST.search(texts.question.plain) or not texts.question.words:
        starts += [match.start("nothing") for match in NOTHING_ALONE.finditer(plain)]
    return sorted(starts)


def judge_payment(texts: FactTexts) -> FactJudgment:
    """Return the judgment of a fact that says that there is nothing to pay, of which an answer has no word."""
    may_be_free = MAY_BE_FREE.search(texts.answer.plain)
    if may_be_free is not None:
        return FactJudgment(texts.fact, "unknown", f'"{may_be_free[0]}" may say that there is nothing to pay')
    first = texts.answer.clauses[0] if texts.answer.clauses else None
    absence = judge_absence(texts, first) if first is not None else None
    if absence is not None:
        return absence
    amount = next((own for own in texts.answer.quantities if is_positive_amount(own)), None)
    decision = read_decision(texts.answer) if asks_whether(texts.question) else None
    if amount is None and decision is not None and decision.is_yes:
        return FactJudgment(texts.fact, "unknown", f'the answer begins with "{decision.spelled}"')
    if amount is None:
        return FactJudgment(texts.fact, "missing", "the answer does not say that there is nothing to pay")
    return FactJudgment(texts.fact, "denied", f'the answer says "{texts.answer.text[amount.start : amount.end]}"')
