"""Of what an answer states a fact: of what the question is about, of something else, or it is open.

The subject is told by names and years, by whose value it is (`whose_value`), by the words that begin the clause, and by
what else in the answer may be the answer instead (`statement_gaps`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from assay.text.facts.cues.word_classes import (
    AUXILIARIES,
    GENERIC,
    IMPERATIVES,
    NO_SUBJECT,
    OBJECT_STARTS,
    RELATIVES_WRITTEN,
    SPANNING_SYLLABLES,
)
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import (
    Occurrence,
    count_words_between,
    find_stated_quantity,
    find_value_start,
    has_candidate,
)
from assay.text.facts.presence.value_sources import is_said_with, iterate_value_sources
from assay.text.facts.reading.read_text import CLAUSE_REACH, ClauseSpan, Word
from assay.text.facts.reading.text_parts import split_parts
from assay.text.facts.subjects.asked_elsewhere import find_asked_elsewhere, find_other_condition
from assay.text.facts.subjects.statement_gaps import Gap, GapFinder, StatedFact
from assay.text.facts.subjects.whose_value import ValueOwner
from assay.text.languages import is_vietnamese
from assay.text.late_items import LateItems
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import Quantity, is_plain
from assay.text.quantities.quantity_agreement import covers_value, is_comparable, is_same_quantity

_LONGEST_LEAD = 4
_SYLLABLES_OF_A_WORD = 2
"""Of most Vietnamese nouns; one alone is rarely another subject."""


class SubjectJudge:
    """Tells of what an answer states one fact; what it needs of the answer is made once for all places of the fact."""

    def __init__(self, texts: FactTexts) -> None:
        self.texts = texts
        self._owner: ValueOwner | None = None
        self._gap_finder: GapFinder | None = None

    def judge_subject(self, occurrence: Occurrence) -> FactJudgment | None:
        """Return the judgment of a fact that the answer states of something else than the question; None otherwise."""
        topic = self.texts.list_topics()
        if not any(word.kind != "stop" for word in self.texts.question.words):
            return None
        clause, answer = occurrence.clause, self.texts.answer
        in_clause = answer.list_words(clause.start, clause.end)
        foreign = [word for word in in_clause if word.kind != "stop" and not self.texts.is_familiar(word)]
        stated = find_stated_quantity(answer, occurrence)
        missing_topic = [word for word in topic if not _is_in_sentence(self.texts, word, clause)]
        first = answer.find_index(clause.sentence_start)
        named = [word for word in topic if word.kind in ("name", "id") and word is not self.texts.question.words[0]]
        if any(word in missing_topic and not _is_abbreviated(word, named) for word in named):
            plans = _list_plans(self.texts, in_clause)
            others = [word for word in (*foreign, *plans) if word.kind in ("name", "id") and may_be_subject(word)]
            names = [word for word in others if word is not answer.words[first]]
            names = [word for word in names if not _PER.search(answer.plain, max(0, word.start - 5), word.start)]
            name = next((word for word in names if word in plans or not self._is_said_with(word, stated)), None)
            if name is not None:
                return _say_of_other(self.texts, answer.text[name.start : name.end])
        owner = self.find_owner(occurrence)
        if owner is not None:
            return owner
        reason = _find_other_statement(self.texts, occurrence)
        if reason:
            return FactJudgment(self.texts.fact, "unknown", reason)
        if any(word not in missing_topic for word in named):
            return None  # it names what the question names
        year = _find_other_year(self.texts, clause, stated)
        if year:
            return _say_of_other(self.texts, year)
        has_rival_value = has_candidate(self.texts, occurrence)
        if _repeats_quantity(self.texts, clause) or has_rival_value:
            return None
        if missing_topic and _is_compact(self.texts, occurrence):
            lead = _find_lead(in_clause, occurrence)
            foreign = [word for word in foreign if not self._is_said_with(word, stated)]
            subject = _find_replaced_subject(self.texts, in_clause, lead, foreign, occurrence)
            return _say_of_other(self.texts, subject) if subject else None
        return None

    def _is_said_with(self, word: Word, stated: Quantity | None) -> bool:
        return stated is not None and is_said_with(self.texts, word, stated)

    def judge_owner(self, occurrence: Occurrence) -> FactJudgment:
        """Return the judgment of a value that the answer states, by what it says it of."""
        return self.find_owner(occurrence) or self.judge_gaps(occurrence)

    def judge_gaps(self, occurrence: Occurrence) -> FactJudgment:
        """Return that the fact is stated, or open because something else in the answer may be the answer instead."""
        gap = next(self.list_gaps(occurrence), None)
        if gap is None:
            return FactJudgment(self.texts.fact, "stated")
        return FactJudgment(self.texts.fact, "unknown", gap.reason)

    def find_owner(self, occurrence: Occurrence) -> FactJudgment | None:
        """Return the judgment of a fact that one part of the answer states, while another part has the question's."""
        low, high, start, value = _find_value(self.texts, occurrence)
        owner = self._get_owner().find_other_owner(low, high, start, value)
        if owner is None and value is not None:
            owner = find_asked_elsewhere(self._get_owner(), low, high, start, value)
        elif owner is None:
            owner = find_other_condition(self._get_owner(), low, high, start)
        if owner is None:
            return None
        return FactJudgment(self.texts.fact, "denied" if owner.is_sure else "unknown", owner.reason)

    def list_gaps(self, occurrence: Occurrence) -> Iterator[Gap]:
        """Yield what neither question, facts nor reference explain of the answer around a statement of the fact."""
        if not self.texts.question.words:
            return
        low, high, position, stated = _find_value(self.texts, occurrence)
        if self._gap_finder is None:
            self._gap_finder = GapFinder(
                self.texts.answer,
                self.texts.reference,
                self.texts.facts,
                LateItems(chain(self.texts.reference_and_facts, self.texts.passages)),
                self._get_owner(),
                self.texts.expected,
                self.texts.is_known,
                may_be_subject,
            )
        yield from self._gap_finder.list_gaps(
            StatedFact(occurrence.clause, position, stated, occurrence.spans), low, high
        )

    def _get_owner(self) -> ValueOwner:
        if self._owner is None:
            texts = self.texts
            self._owner = ValueOwner(
                texts.answer,
                texts.question,
                texts.list_topics(),
                texts.read_fact,
                texts.reference_and_facts,
                {word.key for word in texts.content},
                texts.expected,
                texts.is_explained,
                may_be_subject,
            )
        return self._owner


_PER = LatePattern(r"\b(?:pro|je|par|por) $")
"""Stands before what a value is per, of which other rules tell."""
_BEFORE_PLAN = LatePattern(r"\b(?:on|for|with|under|to) (?:the )?$")
_AFTER_PLAN = LatePattern(r" (?:plan|tier|edition|package|subscription|licen[cs]e|account|level)s?\b")


def _list_plans(texts: FactTexts, in_clause: Sequence[Word]) -> list[Word]:
    """Return the words of a clause that name a plan although they are general elsewhere: "on Team", "the Team plan"."""
    plain, plans = texts.answer.plain, []
    for word in in_clause:
        if word.kind != "name" or word.folded not in GENERIC or texts.is_explained(word):
            continue
        before = plain[max(0, word.start - _MOST_BEFORE_PLAN) : word.start]
        if _BEFORE_PLAN.search(before) or _AFTER_PLAN.match(plain, word.end):
            plans.append(word)
    return plans


_MOST_BEFORE_PLAN = 10  # characters of "under the "


def _is_abbreviated(word: Word, named: Sequence[Word]) -> bool:
    """Whether a word of a question is a short one before a name, which need not be repeated: "MS" of "MS Seestern"."""
    is_short = len(word.folded) <= _LONGEST_PREFIX and word.is_capitalised
    return is_short and any(other.start - word.end == 1 for other in named)


_LONGEST_PREFIX = 3
"""Letters of "MS", "St" or "Dr"."""


def _find_value(texts: FactTexts, occurrence: Occurrence) -> tuple[int, int, int, Quantity | None]:
    """Return the stretch of the answer around the value of a fact, where the value starts, and its quantity."""
    stated = find_stated_quantity(texts.answer, occurrence)
    position = find_value_start(texts, occurrence, stated)
    low, high = max(0, position - CLAUSE_REACH), min(len(texts.answer.plain), position + CLAUSE_REACH)
    return low, high, position, stated


def _find_replaced_subject(
    texts: FactTexts, in_clause: Sequence[Word], lead: Sequence[Word], foreign: Sequence[Word], occurrence: Occurrence
) -> str:
    """Return the subject of a clause that says of it what the question asks of something else, "" otherwise.

    "The library grants 12 days" repeats what is asked of the museum; "a replacement card is $3" does not.
    """
    before = [word for word in in_clause if lead and lead[0].start <= word.start < occurrence.start]
    has_auxiliary = any(word.folded in AUXILIARIES for word in before)
    subject = lead if has_auxiliary else lead[:-1]
    stated = find_stated_quantity(texts.answer, occurrence)
    if stated is not None and lead and stated.start - lead[-1].end <= 1 and is_plain(stated):
        return ""  # "ports 443 and 1194": the number is the name of what stands before it
    least = _SYLLABLES_OF_A_WORD if is_vietnamese(texts.question.text) else 1
    if len(subject) < least or any(word not in foreign for word in subject):
        return ""
    if all(word.folded in SPANNING_SYLLABLES for word in subject):
        return ""  # "trong thời gian thử việc": what follows names it
    if _is_bounded_as_asked(texts, subject[-1]):
        return ""
    asked = {word.key for word in texts.list_topics()} - {word.key for word in texts.content}
    is_repeated = any(word.key in asked and word.start > subject[-1].start for word in before)
    if is_repeated or (has_auxiliary and _has_other_holder(texts, in_clause, asked)):
        return texts.answer.text[subject[0].start : subject[-1].end]
    return ""


_ASKED_HOLDER = LatePattern(
    r"\b(?:can|may|could|must|should|does|will|would) (?:a|an|the|each|every|one) (?P<noun>[a-z-]{3,}) [a-z]{3,}"
)
"""The thing of which a question asks how many things it has: "how many keys can a user have"."""


def _has_other_holder(texts: FactTexts, in_clause: Sequence[Word], asked: AbstractSet[str]) -> bool:
    """Whether a clause has what is counted in a question, and not the thing that the question says has it."""
    holder = _ASKED_HOLDER.search(texts.question.plain)
    if holder is None:
        return False
    holders = {word.key for word in texts.question.list_words(*holder.span("noun"))}
    stated = {word.key for word in in_clause}
    return bool(holders) and holders.isdisjoint(stated) and not asked.isdisjoint(stated)


def _is_bounded_as_asked(texts: FactTexts, last: Word) -> bool:
    """Whether a bound or range right after a subject holds what is asked: "visitors under 12" for who is nine."""
    bound = next((own for own in texts.answer.quantities if 0 < own.start - last.end <= 1), None)
    return bound is not None and any(covers_value(bound, asked) for asked in texts.question.quantities)


def _repeats_quantity(texts: FactTexts, clause: ClauseSpan) -> bool:
    """Whether the sentence has a quantity of the question."""
    return any(
        clause.sentence_start <= own.start < clause.sentence_end and is_same_quantity(asked, own)
        for asked in texts.question.quantities
        for own in texts.answer.quantities
    )


def _is_compact(texts: FactTexts, occurrence: Occurrence) -> bool:
    """Whether the parts of the fact stand together in one clause as they do in the fact."""
    parts = len(texts.content) + len(texts.read_fact.quantities)
    return len(occurrence.spans) >= parts and count_words_between(texts, occurrence.spans) <= parts


_ARTICLES = ("a", "an", "each", "every")


def _find_lead(in_clause: Sequence[Word], occurrence: Occurrence) -> list[Word]:
    """Return the words before the first verb-like word of grammar or the first part of the fact: its subject."""
    lead: list[Word] = []
    first_part = occurrence.start
    for word in in_clause:
        if word is in_clause[0] and word.folded in _ARTICLES:
            continue
        if word is in_clause[0] and word.folded in IMPERATIVES and word.is_capitalised:
            return []  # "Come at two …"
        if len(lead) == 1 and lead[0] is in_clause[0] and word.folded in OBJECT_STARTS:
            return []  # "Keep it …", "Hand the form …": what begins the sentence is an order and no subject
        if word.start >= first_part or not (word.kind == "stop" or may_be_subject(word)):
            break
        if word.folded in AUXILIARIES or word.folded.partition("'")[0] in NO_SUBJECT:
            break
        if word.kind != "stop" and word.folded not in GENERIC:
            lead.append(word)
    return lead[:_LONGEST_LEAD]


def _find_other_statement(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return how a clause with the subject of the question says something else of a fact without a value, in words."""
    relative = _find_relative_clause(texts, occurrence)
    if relative:
        return f'the answer names this only to say which "{relative}" it means'
    rival = _find_other_asked(texts, occurrence)
    return f'the answer says this of "{rival}", and the question is about another one' if rival else ""


def _find_relative_clause(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return the unexplained word of which a fact without a value says which one is meant.

    "The intern whom Ann trains" is not Ann. Only where the fact comes first in such a clause.
    """
    words = texts.answer.words
    index = texts.answer.find_index(occurrence.start)
    before = words[max(0, index - 2) : index]
    if (
        find_stated_quantity(texts.answer, occurrence) is not None
        or len(before) < 2
        or before[0].start < occurrence.clause.start
    ):
        return ""
    noun, pronoun = before
    written = texts.answer.text[pronoun.start : pronoun.end].lower()
    is_adjacent = pronoun.start - noun.end == 1 and occurrence.start - pronoun.end == 1
    if not is_adjacent or written not in RELATIVES_WRITTEN or not may_be_subject(noun) or texts.is_familiar(noun):
        return ""
    return texts.answer.text[noun.start : noun.end]


def _find_other_year(texts: FactTexts, clause: ClauseSpan, stated: Quantity | None) -> str:
    """Return a number of the sentence that stands for one of the question, which has another ("1896", "2004")."""
    sourced = LateItems(_iterate_sourced(texts, stated))
    for asked in texts.question.quantities:
        if any(own is not stated and is_same_quantity(asked, own) for own in texts.answer.quantities):
            continue
        for own in texts.answer.quantities:
            if not clause.sentence_start <= own.start < clause.sentence_end or not is_comparable(asked, own):
                continue
            is_in_source = any(wanted.bound and is_comparable(wanted, own) for wanted in sourced)
            if covers_value(own, asked) and not is_in_source:
                continue
            if not any(is_same_quantity(wanted, own) for wanted in chain(texts.expected, sourced)):
                return texts.answer.text[own.start : own.end]
    return ""


def _iterate_sourced(texts: FactTexts, stated: Quantity | None) -> Iterator[Quantity]:
    """Yield the values of the sources, those beside a value of the answer if it states the fact with one."""
    sources = (
        chain(texts.reference_and_facts, texts.passages) if stated is None else iterate_value_sources(texts, stated)
    )
    for source in sources:
        yield from source.quantities


def _find_other_asked(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return the value with which a part of the answer has a fact, if another part has that of the question.

    "Max has 20 GB, Plus has 10 GB" does not say that Plus is the one with 20 GB. Only for facts without a value.
    """
    if texts.read_fact.quantities or not texts.question.quantities:
        return ""
    clause = occurrence.clause
    parts = split_parts(texts.answer, clause.sentence_start, clause.sentence_end)
    own = next((part for part in parts if part.start <= occurrence.start < part.end), None)
    if own is None:
        return ""
    for asked in texts.question.quantities:
        comparable = [quantity for quantity in texts.answer.quantities if is_comparable(asked, quantity)]
        inside = [quantity for quantity in comparable if own.start <= quantity.start < own.end]
        outside = [quantity for quantity in comparable if quantity not in inside]
        is_inside, is_outside = (
            any(is_same_quantity(asked, quantity) for quantity in quantities) for quantities in (inside, outside)
        )
        if inside and is_outside and not is_inside:
            return texts.answer.text[inside[0].start : inside[0].end]
    return ""


def _is_in_sentence(texts: FactTexts, word: Word, clause: ClauseSpan) -> bool:
    indices = texts.answer.find_word(word, True)
    return any(clause.sentence_start <= texts.answer.words[index].start < clause.sentence_end for index in indices)


def _say_of_other(texts: FactTexts, subject: str) -> FactJudgment:
    reason = f'the answer says this of "{" ".join(subject.split())}", and the question does not speak of that'
    return FactJudgment(texts.fact, "unknown", reason)
