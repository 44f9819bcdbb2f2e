"""What an answer adds to a fact that takes it back or limits it: a correction, a contrary state, a restriction.

"Two months. Correction: three months", "We are open on 3 May" asked for the closed days, "from 09:00 to 17:00, except
in August", "a badge or a letter of a teacher". Where question, reference and facts speak of no such thing, the fact is
open. Each has its file: `corrections`, `contrary_states`, `changed_values`, `later_events`, `added_scopes`,
`stated_terms`, `added_choices` and `listed_values`. The first that has something to say names the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.text.facts.additions.added_choices import list_alternatives, name_other_option
from assay.text.facts.additions.added_scopes import list_restrictions, name_further_day
from assay.text.facts.additions.changed_values import name_other_value, name_unfit
from assay.text.facts.additions.contrary_states import name_breakdown, name_opposite, name_payment
from assay.text.facts.additions.corrections import name_correction
from assay.text.facts.additions.later_events import name_later
from assay.text.facts.additions.listed_values import name_listed_values
from assay.text.facts.additions.stated_terms import list_terms
from assay.text.facts.additions.unexplained_additions import find_part
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.expected.yes_or_no import is_mere_decision
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence, find_stated_quantity


def judge_added_terms(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact that the answer takes back or limits in words of its own; None otherwise."""
    if not texts.question.words:
        return None
    reason = next(filter(None, _list_reasons(texts, occurrence)), "")
    return FactJudgment(texts.fact, "unknown", reason) if reason else None


def judge_terms_of_decision(texts: FactTexts) -> FactJudgment | None:
    """Return the judgment of a yes or no that an answer gives on terms of its own: "no, free in the first year"."""
    if not is_mere_decision(texts.fact) or not texts.answer.clauses:
        return None
    first = texts.answer.clauses[0]
    begin = Occurrence(first, [(first.start, first.start)], False)
    reason = next(filter(None, list_terms(texts, begin, find_part(texts, begin))), "")
    return FactJudgment(texts.fact, "unknown", reason) if reason else None


def _list_reasons(texts: FactTexts, occurrence: Occurrence) -> Iterator[str]:
    stated = find_stated_quantity(texts.answer, occurrence)
    yield name_correction(texts, occurrence, stated)
    own = find_part(texts, occurrence)
    yield name_opposite(texts, own, stated)
    yield name_payment(texts, own, stated)
    yield name_breakdown(texts, occurrence)
    yield name_unfit(texts, occurrence) if stated is not None else ""
    yield name_further_day(texts, own)
    yield name_other_value(texts, occurrence, stated)
    yield name_later(texts, occurrence, own)
    yield from list_restrictions(texts, occurrence, own)
    yield from list_terms(texts, occurrence, own) if not is_mere_decision(texts.fact) else ()
    yield name_other_option(texts, occurrence)
    yield from list_alternatives(texts, occurrence, own) if stated is None else ()
    yield name_listed_values(texts, stated)
