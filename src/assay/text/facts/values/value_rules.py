"""What the sentence says its value of: per what it counts, which limit it is, which event it dates, on what condition.

The first that differs from what question and fact say decides. The rules are in `value_rates`, `value_bounds`,
`value_relations`, `dated_events` and `days_payers_counts`.
"""

from __future__ import annotations

from collections.abc import Callable

from assay.text.facts.cues.condition_cues import NOT_ONLY, OR_NOT
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence, find_stated_quantity
from assay.text.facts.reading.exceptions import UNCONDITIONAL, UNIVERSAL
from assay.text.facts.reading.statement_marks import ONLY
from assay.text.facts.values.counted_units import judge_counted_unit
from assay.text.facts.values.dated_events import judge_event
from assay.text.facts.values.days_payers_counts import judge_terms
from assay.text.facts.values.opposite_sides import judge_open_side, judge_opposite_side
from assay.text.facts.values.span_anchors import judge_contrary_anchor, judge_span_anchor
from assay.text.facts.values.value_bounds import judge_direction, judge_limit, judge_named_value
from assay.text.facts.values.value_rates import (
    judge_day_part,
    judge_grouped_digits,
    judge_interval,
    judge_period,
    judge_rate,
    judge_total,
)
from assay.text.facts.values.value_relations import judge_relation
from assay.text.facts.values.value_spans import judge_span
from assay.text.quantities.quantity import Quantity

ValueRule = Callable[[FactTexts, Occurrence, Quantity | None], FactJudgment | None]
"""Judges a fact by what is said of its value, the quantity at a place of an answer; None if it has nothing to say."""


def judge_value_scope(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a value by what its sentence says it of; None if that is what is asked."""
    stated = find_stated_quantity(texts.answer, occurrence)
    for rule in VALUE_RULES:
        judgment = rule(texts, occurrence, stated)
        if judgment is not None:
            return judgment
    return None


_NOT_ONLY = build_pattern(rf"\b{NOT_ONLY}\b")
_OR_NOT = build_pattern(rf" {OR_NOT}\b(?! ?\?)")


def _judge_condition(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a condition of which the answer says that it is none: "with or without a lid"."""
    clause, plain = occurrence.clause, texts.answer.plain
    is_restricted = texts.only.place is not None or ONLY.search(texts.read_fact.plain) is not None
    if is_restricted and _NOT_ONLY.search(plain, clause.sentence_start, occurrence.end):
        return FactJudgment(texts.fact, "denied", "the answer says that this holds of more")
    if is_restricted and UNIVERSAL.search(plain, clause.sentence_start, occurrence.start):
        return FactJudgment(texts.fact, "unknown", "the answer says this of all, and not only of some")
    if _OR_NOT.match(plain, occurrence.end, clause.sentence_end):
        return FactJudgment(texts.fact, "unknown", "the answer leaves open whether this holds")
    cue = UNCONDITIONAL.search(plain, clause.sentence_start, clause.sentence_end)
    if cue is None or UNCONDITIONAL.search(texts.read_fact.plain) or UNCONDITIONAL.search(texts.reference.plain):
        return None
    for word in texts.content:
        places = texts.answer.find_word(word, texts.ignore_marks)
        is_after = any(cue.end() <= texts.answer.words[place].start < clause.sentence_end for place in places)
        if is_after and not texts.question.find_word(word, True):
            return FactJudgment(texts.fact, "unknown", f'the answer says "{cue[0]}" of a condition that is expected')
    return None


VALUE_RULES: tuple[ValueRule, ...] = (
    judge_counted_unit,
    judge_rate,
    judge_total,
    judge_day_part,
    judge_grouped_digits,
    judge_period,
    judge_interval,
    judge_opposite_side,
    judge_contrary_anchor,
    judge_span,
    judge_limit,
    judge_named_value,
    judge_direction,
    judge_relation,
    judge_event,
    judge_span_anchor,
    _judge_condition,
    judge_terms,
    judge_open_side,
)
"""In the order in which they are asked."""
