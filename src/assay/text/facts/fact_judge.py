"""The judgment of one fact against one answer: what is there, where it stands, and what the answer does with it there.

First it asks what is there (`presence`): `special_forms` (how often, how many, nothing to pay), `yes_or_no`,
`missing_quantities`, `absent_words`, and `occurrences` for where it stands. Then each place is judged: is the fact
denied there (`denials`), is it another limit, event or rate (`values`), in doubt (`doubts`), of somebody or something
else (`subjects`), or taken back (`additions`)? The first rule that has something to say decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import structs

from assay.text.facts.additions.added_holders import judge_added_holder
from assay.text.facts.additions.added_members import judge_added_member
from assay.text.facts.additions.addition_rules import judge_added_terms
from assay.text.facts.denials.fact_denials import judge_denial, judge_withdrawal
from assay.text.facts.denials.foreign_denials import judge_foreign_denial
from assay.text.facts.doubts.contradictions import judge_conflict
from assay.text.facts.doubts.doubtful_statements import judge_doubt
from assay.text.facts.doubts.listed_under import judge_heading
from assay.text.facts.doubts.unasserted_statements import judge_frame
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.expected.yes_or_no import judge_decision, list_chosen_words
from assay.text.facts.fact_judgments import FactJudgment, FactState
from assay.text.facts.presence.absent_things import is_absence_alone, open_zero
from assay.text.facts.presence.absent_words import (
    drop_labels,
    judge_absent_names,
    judge_absent_weekday,
    judge_absent_words,
    spell_words,
)
from assay.text.facts.presence.identifiers import judge_identifiers
from assay.text.facts.presence.missing_quantities import judge_missing_quantity
from assay.text.facts.presence.occurrences import (
    MOST_OCCURRENCES,
    Occurrence,
    find_quantities,
    find_word_places,
    is_said_otherwise,
    judge_torn_part,
    list_occurrences,
)
from assay.text.facts.presence.special_forms import (
    judge_counted_noun,
    judge_frequency,
    judge_interval,
    judge_payment,
    list_free_places,
)
from assay.text.facts.presence.whole_names import judge_whole_names
from assay.text.facts.reading.read_text import narrow_clause
from assay.text.facts.subjects.labelled_values import judge_label
from assay.text.facts.subjects.mixed_roles import judge_roles
from assay.text.facts.subjects.other_events import judge_event
from assay.text.facts.subjects.other_roles import judge_role
from assay.text.facts.subjects.stated_subject import SubjectJudge
from assay.text.facts.values.unasked_rates import judge_unasked_rate
from assay.text.facts.values.value_bounds import judge_new_bound
from assay.text.facts.values.value_rules import judge_value_scope
from assay.text.quantities.frequencies import read_frequency
from assay.text.quantities.payment_cues import is_nothing_to_pay
from assay.text.quantities.quantity import Quantity, remove_bound
from assay.text.quantities.quantity_agreement import is_same_quantity

STATE_ORDER: dict[FactState, int] = {"stated": 0, "unknown": 1, "denied": 2, "missing": 3}
"""Of the judgments of several places, the first in this order counts."""


def get_state_order(judgment: FactJudgment) -> int:
    """Return the place of a judgment in the order of states, the best first."""
    return STATE_ORDER[judgment.state]


def _is_open(judgment: FactJudgment) -> bool:
    return judgment.state not in ("denied", "missing")


PlaceRule = Callable[[FactTexts, Occurrence], FactJudgment | None]
"""Judges a fact at one place of an answer that has its words and values; None if it has nothing to say."""
RULES_OF_ANY_PLACE: tuple[PlaceRule, ...] = (judge_denial, judge_value_scope, judge_doubt, judge_role)
"""In the order in which they are asked, before it is looked at whether the parts of the fact stand together."""
RULES_OF_WHOLE_STATEMENTS: tuple[PlaceRule, ...] = (
    judge_roles,
    judge_frame,
    judge_heading,
    judge_conflict,
    judge_event,
    judge_label,
    judge_new_bound,
    judge_foreign_denial,
    judge_unasked_rate,
    judge_added_terms,
)
"""In their order too, after the rules on the subject (`SubjectJudge`)."""


RULES_OF_BOUNDS: tuple[PlaceRule, ...] = (judge_withdrawal, judge_doubt, judge_frame, judge_event)
"""The rules on whether a bound that states a value is asserted; others compare the bound itself, which is settled."""


def _ask_in_order(rules: Iterable[PlaceRule], texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of the first rule that has something to say, None if none has."""
    for rule in rules:
        judgment = rule(texts, occurrence)
        if judgment is not None:
            return judgment
    return None


class FactJudge:
    """Judges one fact against one answer. `examined`: the places that were looked at, each with its judgment."""

    def __init__(self, texts: FactTexts) -> None:
        self.texts = texts
        self.subject = SubjectJudge(texts)
        self.examined: list[tuple[Occurrence, FactJudgment]] = []

    def judge_fact(self) -> FactJudgment:
        """Return the best state over all places of the answer where the fact may be stated."""
        if is_absence_alone(self.texts):
            return FactJudgment(self.texts.fact, "stated")
        return open_zero(self.texts, self._judge_parts())

    def _judge_parts(self) -> FactJudgment:
        texts = self.texts
        if is_nothing_to_pay(texts.read_fact.plain):
            return self._judge_free()
        frequency = read_frequency(texts.read_fact.plain)
        judgment = judge_frequency(texts, frequency) if frequency is not None else judge_decision(texts)
        judgment = judgment or judge_interval(texts)
        if judgment is not None:
            return judgment
        agreeing = [find_quantities(texts, quantity) for quantity in texts.read_fact.quantities]
        pairs = zip(texts.read_fact.quantities, agreeing, strict=True)
        lacking = [self._judge_absent_quantity(wanted) for wanted, stated in pairs if not stated]
        if lacking:
            return min(lacking, key=_is_open)
        return judge_counted_noun(texts) or self._judge_words(agreeing)

    def _judge_absent_quantity(self, quantity: Quantity) -> FactJudgment:
        texts = self.texts
        if quantity.is_spelled_one and texts.content:
            return judge_counted_noun(texts) or FactJudgment(texts.fact, "unknown", 'the answer does not say "one"')
        day = judge_absent_weekday(texts, quantity.start)
        if day is not None:
            return day
        text = texts.read_fact.text[quantity.start : quantity.end]
        judgment = judge_missing_quantity(
            texts.fact, text, quantity, texts.answer, texts.question, texts.reference, texts.limit
        )
        if judgment.state == "stated" and (texts.content or len(texts.read_fact.quantities) > 1):
            return structs.replace(judgment, state="unknown", reason=f"the answer gives {text} as a limit only")
        return self._judge_stated_bound(quantity) if judgment.state == "stated" else judgment

    def _judge_stated_bound(self, quantity: Quantity) -> FactJudgment:
        """Return the judgment of a value that a bound of the answer states, by whether the bound is asserted: "perhaps
        over 400 EUR" and "in 2020 over 400 EUR" are not."""
        answer = self.texts.answer
        judgments = []
        for own in answer.quantities:
            if own.bound and is_same_quantity(quantity, remove_bound(own)):
                clause = narrow_clause(answer.clause_at(own.start), own.start)
                occurrence = Occurrence(clause, [(own.start, own.end)], False)
                judgment = _ask_in_order(RULES_OF_BOUNDS, self.texts, occurrence)
                judgments.append(judgment or FactJudgment(self.texts.fact, "stated"))
        return min(judgments, key=get_state_order)

    def _judge_words(self, agreeing: Sequence[Sequence[Quantity]]) -> FactJudgment:
        """Return the judgment of a fact whose quantities are all there, by its words and where both stand."""
        texts = self.texts
        other = judge_identifiers(texts)
        if other is not None:
            return other
        places = [find_word_places(texts, word) for word in texts.content]
        absent = [word for word, indices in zip(texts.content, places, strict=True) if not indices]
        judgment = judge_absent_names(texts, absent)
        if judgment is not None:
            return judgment
        repeated = texts.list_repeated_words()
        informative = [word for word in texts.content if word not in repeated]
        telling = drop_labels(texts, informative, has_value=bool(agreeing))
        informative = telling if telling or agreeing else informative
        needed = informative or ([] if agreeing else list_chosen_words(texts) or texts.content)
        lacking = [word for word in needed if word in absent]
        if lacking:
            return judge_absent_words(texts, needed, lacking, is_part_stated=bool(agreeing))
        words = texts.answer.words
        word_places = [[(words[index].start, words[index].end) for index in indices] for indices in places if indices]
        quantity_places = [[(quantity.start, quantity.end) for quantity in stated] for stated in agreeing]
        occurrences = list_occurrences(texts, quantity_places, word_places)
        best = min((self.judge_occurrence(occurrence) for occurrence in occurrences), key=get_state_order)
        if best.state == "stated":
            return judge_torn_part(texts, needed) or self._judge_whole() or best
        otherwise = [word for word in texts.content if is_said_otherwise(texts, word)]
        if best.state == "denied" and otherwise:
            return FactJudgment(
                texts.fact, "unknown", f"the answer may say {spell_words(texts, otherwise)} in another word"
            )
        return best

    def _judge_whole(self) -> FactJudgment | None:
        """Return the judgment of a fact that an answer states somewhere, by its names and by what is added to them."""
        return judge_whole_names(self.texts) or judge_added_holder(self.texts) or judge_added_member(self.texts)

    def _judge_free(self) -> FactJudgment:
        """Return the judgment of a fact that says that there is nothing to pay, in whatever words."""
        starts = list_free_places(self.texts)
        if not starts:
            return judge_payment(self.texts)
        judgments = []
        for start in starts[:MOST_OCCURRENCES]:
            clause = narrow_clause(self.texts.answer.clause_at(start), start)
            # An empty span at the start: the "no" of "no charge" denies nothing.
            judgments.append(self.judge_occurrence(Occurrence(clause, [(start, start)], False)))
        return min(judgments, key=get_state_order)

    def judge_occurrence(self, occurrence: Occurrence) -> FactJudgment:
        """Return what the answer does with the fact at one place where its parts are."""
        judgment = self._judge_place(occurrence)
        self.examined.append((occurrence, judgment))
        return judgment

    def _judge_place(self, occurrence: Occurrence) -> FactJudgment:
        """Return the judgment of the first rule that has something to say, or that the fact is stated."""
        judgment = _ask_in_order(RULES_OF_ANY_PLACE, self.texts, occurrence)
        if judgment is not None:
            return judgment
        if occurrence.is_scattered:
            return FactJudgment(
                self.texts.fact,
                "unknown",
                "the answer has the words of this, but far apart, so it may say something else",
            )
        judgment = self.subject.judge_subject(occurrence)
        judgment = judgment or _ask_in_order(RULES_OF_WHOLE_STATEMENTS, self.texts, occurrence)
        return judgment or self.subject.judge_gaps(occurrence)
