"""What speaks against taking a fact for stated although the answer holds it: gaps in the evidence that it answers.

An answer passes only on positive evidence: nothing in it is left that may be the answer instead. A gap is something
that neither question, facts nor reference explain: another value of the same kind, a statement before, words of the
question elsewhere, a restriction, a time that is over. Each is a plain condition; `benchmarks/fact_evidence.py` chose
them by answers on topics that they were not chosen on (ADR 0129). A fact with a gap is unknown, never denied.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal

from msgspec import Struct, structs

from assay.text.facts.cues.condition_cues import LEADING, ONLY, RESTATES_QUESTION, SUBORDINATE
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import DECIDED_LAST
from assay.text.facts.cues.doubt_cues import NO_LONGER
from assay.text.facts.cues.limit_cues import AROUND_TIME
from assay.text.facts.cues.link_cues import LATER_THAN
from assay.text.facts.cues.role_cues import FOR_RECIPIENT
from assay.text.facts.cues.value_cues import ADDITION, ADDITION_AFTER, ADDITION_BEFORE, ADDITION_LAST
from assay.text.facts.cues.word_classes import IMPERATIVES
from assay.text.facts.expected.yes_or_no import read_decision
from assay.text.facts.reading.list_headings import find_list_heading, list_items
from assay.text.facts.reading.negations import is_negation
from assay.text.facts.reading.read_text import ClauseSpan, ReadText, Word
from assay.text.facts.reading.statement_marks import ASKS_PAST, CHANGED_FROM, PAST_VERB, PRESENT, RESPECTIVELY, USED_TO
from assay.text.facts.reading.text_parts import Part
from assay.text.facts.subjects.asked_elsewhere import are_told_apart, list_asked
from assay.text.facts.subjects.whose_value import ValueOwner
from assay.text.facts.subjects.worked_out_values import is_worked_out
from assay.text.late_pattern import LatePattern
from assay.text.quantities.payment_cues import NOTHING_TO_PAY
from assay.text.quantities.quantity import Quantity, is_plain
from assay.text.quantities.quantity_agreement import apply_rate, is_about_same_span, is_same_quantity

GapKind = Literal[
    "second value",
    "earlier statement",
    "question before",
    "question after",
    "question beside",
    "only",
    "former",
    "addition",
]


class Gap(Struct, frozen=True):
    """Why it is open whether an answer states a fact that it holds: the kind of gap, and the reason in words."""

    kind: GapKind
    reason: str


class StatedFact(Struct, frozen=True):
    """Where an answer holds a fact: the clause, where its value starts, the value if it is a quantity, its parts."""

    clause: ClauseSpan
    start: int
    value: Quantity | None
    spans: Sequence[tuple[int, int]]


class Surroundings(Struct, frozen=True):
    """The unit of an answer that holds a fact, its words, what stands before and after it, the part that holds the
    value, and the other parts of its sentence."""

    unit: Part
    own: Sequence[Word]
    before: Sequence[Part]
    after: Sequence[Part]
    part: Part
    beside: Sequence[Part]


_AFTER = build_pattern(rf"\b{LATER_THAN}\b")
"""Says after what something goes on, so that "another 30 minutes" are these."""
_CONDITION_FIRST = build_pattern(rf"\W*{RESTATES_QUESTION}\b")


class GapFinder:
    """Finds what in an answer neither question, facts nor reference explain.

    `reference` and `facts`: these; `sources`: reference, facts and evidence; `expected`: the quantities of the facts.
    `is_known`: whether question or sources have a word. `is_subject`: whether a word may name a subject.
    """

    def __init__(
        self,
        answer: ReadText,
        reference: ReadText,
        facts: Sequence[ReadText],
        sources: Iterable[ReadText],
        owner: ValueOwner,
        expected: Sequence[Quantity],
        is_known: Callable[[Word], bool],
        is_subject: Callable[[Word], bool],
    ) -> None:
        self.answer, self.reference, self.facts, self.sources = answer, reference, facts, sources
        self.owner, self.expected, self.is_known, self.is_subject = owner, expected, is_known, is_subject
        self.fact_keys = {
            word.key
            for fact in facts
            if not fact.quantities
            for word in fact.words
            if word.kind != "stop" and not owner.question.find_word(word, True)
        }
        # Syllables of Vietnamese count half: most words have two.
        self.words_of_a_statement = 3 if owner.has_modifiers_first else 6

    def list_gaps(self, statement: StatedFact, low: int, high: int) -> Iterator[Gap]:
        """Yield the gaps of a statement of a fact in the answer from `low` to `high`, the plainest first."""
        clause = statement.clause
        if RESPECTIVELY.search(self.answer.plain, clause.sentence_start, clause.sentence_end):
            return  # the order says whose each value is
        parts, groups = self.owner.cut_answer(low, high, statement.value)
        if len(groups) > 1:
            yield from self._find_second_value(groups, statement)
        around = self._look_around(parts, groups, statement)
        if len(self.facts) > 1 and statement.value is None and self._is_step(around.part):
            around = structs.replace(
                around,
                before=[part for part in around.before if not self._is_step(part)],
                beside=[part for part in around.beside if not self._is_step(part)],
            )
        if len(parts) > 1:
            yield from self._find_other_statements(around)
            yield from self._find_question_beside(around)
        yield from self._find_only(around, statement)
        yield from self._find_former(around)
        yield from self._find_addition(statement)

    def _look_around(self, parts: Sequence[Part], groups: Sequence[Part], statement: StatedFact) -> Surroundings:
        """Return the group with the value, within its sentence, or else the sentence, and the parts around it."""
        first, last = statement.clause.sentence_start, statement.clause.sentence_end
        unit = Part(first, last, False)
        apart: list[Part] = []
        if len(groups) > 1 and groups is not parts:
            index = bisect_right(groups, statement.start, key=_get_part_start) - 1
            if index >= 0 and statement.start < groups[index].end:
                unit = Part(max(first, groups[index].start), min(last, groups[index].end), False)
                apart = [group for group in groups if self._is_told_apart(groups[index], group, statement)]
        holder = next((part for part in parts if part.start <= statement.start < part.end), unit)
        return Surroundings(
            unit,
            self.owner.words_in(unit),
            [part for part in parts if part.end <= unit.start and not _is_within(part, apart)],
            [part for part in parts if part.start >= unit.end],
            holder,
            [part for part in parts if part is not holder and unit.start <= part.start < unit.end],
        )

    def _is_told_apart(self, own: Part, other: Part, statement: StatedFact) -> bool:
        return other is not own and are_told_apart(self.owner, own, other, statement.value)

    def _list_topics(self, words: Sequence[Word]) -> set[str]:
        return {word.key for word in words if self.owner.is_topic(word) and not is_negation(word, self.answer)}

    def _list_topics_of_parts(self, parts: Iterable[Part]) -> set[str]:
        return {key for part in parts for key in self._list_topics(self.owner.words_in(part))}

    def _list_subjects(self, words: Sequence[Word]) -> list[Word]:
        return [word for word in words if self.is_subject(word)]

    def _find_second_value(self, groups: Sequence[Part], statement: StatedFact) -> Iterator[Gap]:
        index = bisect_right(groups, statement.start, key=_get_part_start) - 1
        if index < 0 or (statement.value is not None and is_worked_out(statement.value, self.answer.quantities)):
            return
        own = set(list_asked(self.owner, groups[index], statement.value))
        for number, group in enumerate(groups):
            rivals = [] if number == index else self.owner.list_values(group, statement.value)
            rival = next(
                (
                    at
                    for at, is_rival in rivals
                    if is_rival
                    and not self._is_factor(at)
                    and (
                        self._answers_first(group, at, groups[index], statement)
                        or self._is_for_others(group, at, groups[index], statement.value)
                        or not self._is_explained_value(group, at)
                    )
                ),
                None,
            )
            if rival is None:
                continue
            if self._is_for_others(group, rival, groups[index], statement.value):
                yield Gap("second value", f"{_OTHER_VALUE_FIRST} ({self._spell_value(group, rival)})")
                return
            shared = self._list_shared(groups, index, number, rival)
            other = set(list_asked(self.owner, group, statement.value, has_shared_rate=number < index)) - shared
            is_aside = len(own - other) == len(other - own) and self._is_aside(group, groups[index])
            is_aside = is_aside or self.owner.is_of_other_day(group, groups[index])
            is_aside = is_aside or self._is_of_other_name(group, groups[index])
            is_aside = is_aside or self._is_told_apart(groups[index], group, statement)
            is_aside = is_aside or self._is_for_others(
                groups[index], statement.start, group, self._find_value(group, rival)
            )
            if is_aside or self._is_over(group, groups[index]):
                continue
            if len(own - other) <= len(other - own):
                yield Gap(
                    "second value",
                    f'the answer gives another value too ("{self._spell_value(group, rival)}"), which may be the one',
                )
                return

    def _find_value(self, group: Part, start: int) -> Quantity | None:
        return next((own for own in self.owner.quantities_in(group) if own.start == start), None)

    def _is_factor(self, start: int) -> bool:
        """Whether a value is no second one: a part of a sum that is written out, the "€18" of "8 × €18 = €144", or an
        article before what is expected."""
        value = next((own for own in self.answer.quantities if own.start == start), None)
        if value is None:
            return False
        following = self.answer.take_next_word(value.end)
        if (
            following is not None
            and self.answer.plain[start : value.end] == "1"
            and any(fact.find_word(following, True) for fact in self.facts)
        ):
            return True  # "1 sensor" for "a sensor"
        before = _OPERATOR_BEFORE.search(self.answer.plain, max(0, start - 4), start)
        return before is not None or _OPERATOR_AFTER.match(self.answer.plain, value.end) is not None

    def _answers_first(self, group: Part, rival: int, own: Part, statement: StatedFact) -> bool:
        """Return whether a value alone answers before that of the fact, which is said of others than those asked: of
        "2 hours; motor boats 4 hours" the first is that of the dinghy in question."""
        words_before_rival = [word for word in self.owner.words_in(group) if word.start < rival and word.kind != "stop"]
        if group.end > own.start or words_before_rival:
            return False
        lead = [word for word in self.owner.words_in(own) if word.end <= statement.start and word.kind == "word"]
        return bool(lead) and not any(self.owner.question.find_word(word, True) for word in lead)

    def _is_for_others(self, first: Part, start: int, second: Part, value: Quantity | None) -> bool:
        """Whether a value follows another one in its sentence, which starts at `start`, and is for those who are not
        asked about: "a berth is £140, and £165 for longer boats"."""
        if value is None or first.end > second.start or self.owner.is_new_sentence(second):
            return False
        end = max(value.end, value.rate_span[1])
        recipient = _FOR_OTHERS.match(self.answer.plain, end, second.end)
        between = [*self.owner.words_in(first), *self.owner.words_in(second)]
        if recipient is None or any(start < word.start < value.start for word in self._list_subjects(between)):
            return False
        word = self.answer.take_next_word(recipient.end())
        return word is not None and self.is_subject(word) and not self.owner.question.find_word(word, True)

    def _list_shared(self, groups: Sequence[Part], index: int, number: int, rival: int) -> set[str]:
        """Return the words of the question before the first value of a sentence, which hold for all of its values."""
        if number > index or any(self.owner.is_new_sentence(group) for group in groups[number + 1 : index + 1]):
            return set()
        return self._list_topics(
            self.owner.words_in(
                structs.replace(groups[number], end=self._find_contrast(groups[index], groups[number], rival))
            )
        )

    def _find_contrast(self, own: Part, first: Part, rival: int) -> int:
        """Return where the words of a first part end that hold for a later one too: "to the cook after 2 hours
        and to the waiter after 3" names a recipient each."""
        preposition = _RECIPIENT.match(self.answer.plain, own.start, own.end)
        if preposition is None:
            return rival
        start_of_last = self.answer.plain.rfind(f"{preposition[0]} ", first.start, rival)
        return rival if start_of_last < 0 else start_of_last

    def _is_over(self, group: Part, own: Part) -> bool:
        """Whether another value held earlier, and that of the fact holds now."""
        plain = self.answer.plain
        is_past = PAST_VERB.search(plain, group.start, group.end) or CHANGED_FROM.search(plain, group.start, group.end)
        return is_past is not None and PRESENT.search(plain, own.start, own.end) is not None

    def _is_aside(self, group: Part, own: Part) -> bool:
        """Whether a later sentence names a subject of its own for its value: "It's €25. A lost key costs €60"."""
        if group.start < own.end or not self.owner.is_new_sentence(group):
            return False
        return any(not self.is_known(word) for word in self._list_subjects(self.owner.words_in(group)))

    def _is_of_other_name(self, group: Part, own: Part) -> bool:
        """Whether the value of the fact is said with a name of the question, and another value with another name."""
        names, other_names = (
            [word for word in self.owner.words_in(part) if word.kind == "name"] for part in (own, group)
        )
        asked = self.owner.question
        if not any(asked.find_word(word, True) for word in names):
            return False
        return bool(other_names) and not any(asked.find_word(word, True) for word in other_names)

    def _is_explained_value(self, group: Part, start: int) -> bool:
        """Whether a value may be a time, follows from what is asked, or is one that reference or evidence have.

        Whether it has the place of another value is told by other rules, which come before.
        """
        if self._may_be_time(group, start) or self._is_worked_out(group, start):
            return True
        if NOTHING_TO_PAY.match(self.answer.plain, start):
            return any(NOTHING_TO_PAY.search(text.plain) for text in self.sources)
        own = self._find_value(group, start)
        return own is not None and any(
            is_same_quantity(wanted, own) or is_same_quantity(structs.replace(own, bound=""), wanted)
            for text in self.sources
            for wanted in text.quantities
        )

    def _is_worked_out(self, group: Part, start: int) -> bool:
        """Whether a value follows from a rate and the question: 7.5 ml from 5 ml per 10 kg, asked of 15 kg."""
        value = self._find_value(group, start)
        if value is None:
            return False
        for rated in self.answer.quantities:
            for asked in self.owner.question.quantities if rated.rate_size else ():
                worked_out = apply_rate(rated, asked)
                if worked_out is not None and is_same_quantity(worked_out, value):
                    return True
        return False

    def _may_be_time(self, group: Part, start: int) -> bool:
        """Whether a number without a unit may be a time of day: "at six"."""
        own = self._find_value(group, start)
        if own is None or any(reading.dimension for reading in own.readings) or own.date:
            return False
        return _AT_TIME.search(self.answer.plain, max(0, start - 8), start) is not None

    def _spell_value(self, group: Part, start: int) -> str:
        for own in self.owner.quantities_in(group):
            if own.start == start:
                return self.answer.text[own.start : own.end]
        return self.answer.text[start : group.end].split()[0].strip(".,;:!?")

    def _find_other_statements(self, around: Surroundings) -> Iterator[Gap]:
        if not around.before and not around.after:
            return
        own = self._list_topics(around.own)
        other_days = [part for part in (*around.before, *around.after) if self.owner.is_of_other_day(part, around.unit)]
        before = [part for part in around.before if part not in other_days and not self._is_over(part, around.unit)]
        before = [part for part in before if not self._is_sum_before(part, around.unit)]
        before = [part for part in before if not self._repeats_question(part) and not self._has_fact(part)]
        before = self._drop_heading(before, around.unit)
        topics_before = self._list_topics_of_parts(before)
        statements = [part for part in before if self._is_statement(part)]
        if statements and not own - topics_before:
            quoted = self._quote(statements[-1])
            yield Gap("earlier statement", f'the answer says something else first ("{quoted}")')
        elsewhere = topics_before - own
        if elsewhere and (len(elsewhere) > len(own - topics_before) or self._has_foreign(around.unit)):
            yield Gap(
                "question before",
                f"the answer says {self._spell(elsewhere)} of the question elsewhere{_PERHAPS}",
            )
        after = [part for part in around.after if part not in other_days]
        topics_after = self._list_topics_of_parts(after)
        if topics_after <= own:
            return
        topics_after = self._list_topics_of_parts(part for part in after if not self._has_fact(part))
        elsewhere = topics_after - own
        if elsewhere and len(elsewhere) >= len(own - topics_after) and self._has_foreign(around.unit):
            yield Gap(
                "question after",
                f"the answer says {self._spell(elsewhere)} of the question elsewhere{_PERHAPS}",
            )

    def _is_step(self, part: Part) -> bool:
        """Whether a part tells what to do; of several steps none is another answer: "Open the app and tap Home"."""
        word = self.answer.take_next_word(part.start)
        return word is not None and word.end <= part.end and word.folded in IMPERATIVES

    def _repeats_question(self, part: Part) -> bool:
        """Whether a part begins as a condition and has a word of what is asked: "if the heating fails at night"."""
        plain = self.answer.plain
        is_clause = _CONDITION_FIRST.match(plain, part.start) is not None and plain.startswith(",", part.end)
        if not is_clause or self.owner.quantities_in(part):
            return False
        words = self.owner.words_in(part)
        return bool(self._list_topics(words)) and not any(is_negation(word, self.answer) for word in words)

    def _drop_heading(self, before: Sequence[Part], own: Part) -> list[Part]:
        """Return the parts before a line of a list without its heading, which is the beginning of what it says.

        Not where another line has nothing of reference or facts: it may be a wrong one.
        """
        heading = find_list_heading(self.answer, own.start) if before else None
        if heading is None or not all(self._is_expected_item(*item) for item in list_items(self.answer, heading[1])):
            return list(before)
        return [part for part in before if not heading[0] <= part.start < heading[1]]

    def _is_expected_item(self, start: int, end: int) -> bool:
        part = Part(start, end, False)
        words = [word for word in self.owner.words_in(part) if not self.owner.question.find_word(word, True)]
        texts = [self.reference, *self.facts]
        return self._has_fact(part) or any(text.find_word(word, True) for word in words for text in texts)

    def _is_sum_before(self, part: Part, own: Part) -> bool:
        """Whether a part is a sum of the sentence of another: "8 × €18 = €144, but you pay at least €150"."""
        plain = self.answer.plain
        is_sum = _SUM.search(plain, part.start, part.end) is not None
        return is_sum and _SENTENCE_END.search(plain, part.start, own.start) is None

    def _has_foreign(self, part: Part) -> bool:
        """Whether a part has a word, or a number after a name ("Hall 2"), that nothing explains."""
        if any(not self.is_known(word) for word in self._list_subjects(self.owner.words_in(part))):
            return True
        return any(self._is_number_of_name(own, part) for own in self.owner.quantities_in(part))

    def _is_number_of_name(self, own: Quantity, part: Part) -> bool:
        if own.date or any(reading.dimension for reading in own.readings) or own.start == part.start:
            return False
        words = [word for word in self.owner.words_in(part) if word.end == own.start - 1]
        explained = (*self.expected, *self.owner.question.quantities)
        return bool(words) and words[0].kind != "stop" and not any(is_same_quantity(one, own) for one in explained)

    def _find_question_beside(self, around: Surroundings) -> Iterator[Gap]:
        if not around.beside:
            return
        words = self.owner.words_in(around.part)
        if not _SUBORDINATE.match(self.answer.plain, around.part.start):
            yield from self._find_decided_beside(around)
        own = self._list_topics(words)
        if self._list_topics_of_parts(around.beside) <= own or _SUBORDINATE.match(self.answer.plain, around.part.start):
            return
        beside = [part for part in around.beside if not self._has_fact(part)]
        topics_beside = self._list_topics_of_parts(self._cut_subordinate(part, around.part) for part in beside)
        elsewhere = topics_beside - own
        if elsewhere and self._has_foreign(around.part):
            yield Gap(
                "question beside",
                f"the answer says {self._spell(elsewhere)} of the question in another clause{_PERHAPS}",
            )

    def _find_decided_beside(self, around: Surroundings) -> Iterator[Gap]:
        """Yield that another part says yes or no of what is asked: "no smoking inside, the balcony is fine"."""
        for part in around.beside:
            if _DECIDED.search(self.answer.plain, part.start, part.end) is None:
                continue
            own = self._list_topics(self.owner.words_in(around.part))
            elsewhere = self._list_topics(self.owner.words_in(part)) - own
            if elsewhere:
                yield Gap("question beside", f"another part of the answer says yes or no of {self._spell(elsewhere)}")
                return

    def _cut_subordinate(self, part: Part, own: Part) -> Part:
        """Return a part without what says when or for what its statement holds."""
        if part.start < own.start and _LEADING.match(self.answer.plain, part.start):
            return structs.replace(part, end=part.start)
        subordinate = _SUBORDINATE.search(self.answer.plain, part.start, part.end)
        return part if subordinate is None else structs.replace(part, end=subordinate.start())

    def _has_fact(self, part: Part) -> bool:
        """Whether a part says what facts or reference say too: then it is no other answer."""
        for own in self.owner.quantities_in(part):
            candidates = self.owner.expected_values.iterate_candidates(own)
            if any(is_same_quantity(wanted, own) for wanted in candidates):
                return True
            if any(is_about_same_span(wanted, own) for wanted in self.expected):
                return True
        words = self._list_subjects(self.owner.words_in(part))
        if any(word.key in self.fact_keys for word in words):
            return True
        new = [word for word in words if not self.owner.question.find_word(word, True)]
        unsaid = new
        for text in self.sources:
            if 2 * len(unsaid) <= len(new):
                break
            unsaid = [word for word in unsaid if not text.find_word(word, True)]
        return bool(words) and 2 * len(unsaid) <= len(new)

    def _is_statement(self, part: Part) -> bool:
        """Whether a part says something, and is no mere "Don't panic" or "No"."""
        if self.owner.quantities_in(part):
            return True
        words = self._list_subjects(self.owner.words_in(part))
        if all(self.is_known(word) for word in words):
            return False
        return len(words) >= self.words_of_a_statement or any(self.owner.is_topic(word) for word in words)

    def _find_only(self, around: Surroundings, statement: StatedFact) -> Iterator[Gap]:
        only = self._search_only(around.part)
        if statement.value is not None and statement.value.is_range:
            return  # who is served between 11 and 20 is served only then
        decisions = [read_decision(text) for text in (self.answer, self.reference)]
        if all(decision is not None and not decision.is_yes for decision in decisions):
            return  # "no, it is only for adults" says to whom the no applies
        if only is None or 0 <= statement.start - only.end() <= _BEFORE_VALUE or self._is_explained(_ONLY):
            return
        is_first = only.start() == around.part.start
        # "Just walk in" is an order, and "riêng" means "only" before a subject and "separate" after a noun.
        if not (only[0] == "just" and is_first) and not (only[0] == "rieng" and not is_first):
            yield Gap("only", f'the answer says "{only[0]}", which is nowhere expected, so this may hold of less')

    def _search_only(self, part: Part) -> re.Match[str] | None:
        """Return the first "only" of a part; "chị" (you) is folded like "chỉ" (only)."""
        for only in _ONLY.finditer(self.answer.plain, part.start, part.end):
            if "chị" not in self.answer.text[only.start() : only.end()].lower():
                return only
        return None

    def _find_former(self, around: Surroundings) -> Iterator[Gap]:
        plain = self.answer.plain
        if ASKS_PAST.search(self.owner.question.plain) is not None:
            return
        former = _FORMER.search(plain, around.unit.start, around.unit.end)
        if former is not None and not self._is_explained(_FORMER):
            yield Gap("former", f'the answer says "{former[0]}", so this may be of the past')
            return
        if PRESENT.search(plain, around.unit.start, around.unit.end):
            return
        for part in (*around.before, *around.after):
            present = PRESENT.search(plain, part.start, part.end)
            if present is not None and not self._is_pointing(present):
                if not self._is_explained(PRESENT):
                    yield Gap("former", f'another part of the answer says what holds "{present[0]}"')
                return

    def _is_pointing(self, present: re.Match[str]) -> bool:
        """Whether a word for the present says something else: "today's tours", "ngày này" (this day)."""
        written = self.answer.text[present.start() : present.end()].lower()
        return self.answer.plain.startswith("'s", present.end()) or "này" in written

    def _find_addition(self, statement: StatedFact) -> Iterator[Gap]:
        if statement.value is None:
            return
        end = statement.value.end
        addition = _ADDITION_AFTER.match(self.answer.plain, end)
        if addition is None and is_plain(statement.value):  # "10 semesters longer"
            counted = self.answer.take_next_word(end)
            is_next = counted is not None and counted.start == end + 1
            addition = _LONGER.match(self.answer.plain, counted.end) if counted is not None and is_next else None
        if addition is not None and "nửa" in self.answer.text[addition.start() : addition.end()].lower():
            addition = None  # "half", which is folded like "nữa" (more)
        before = _ADDITION_BEFORE.search(self.answer.plain, max(0, statement.start - 20), statement.start)
        is_after = all(_AFTER.search(text) for text in (self.reference.plain, self.answer.plain[end:]))
        is_added = addition is not None or (before is not None and not is_after)
        if is_added and not self._is_explained(_ADDITION):
            yield Gap("addition", "the answer says this of what comes on top of something")

    def _is_explained(self, pattern: LatePattern | re.Pattern[str]) -> bool:
        return any(pattern.search(text.plain) for text in chain((self.owner.question,), self.sources))

    def _spell(self, keys: set[str]) -> str:
        spelled: list[str] = []
        for word in self.owner.question.words:
            text = self.owner.question.text[word.start : word.end]
            if word.key in keys and text not in spelled:
                spelled.append(text)
        return ", ".join(f'"{text}"' for text in spelled[:_MOST_SPELLED])

    def _quote(self, part: Part) -> str:
        words = self.answer.text[part.start : part.end].split()
        return " ".join(words[:_MOST_QUOTED]) + (" …" if len(words) > _MOST_QUOTED else "")


def _get_part_start(part: Part) -> int:
    return part.start


def _is_within(part: Part, groups: Sequence[Part]) -> bool:
    return any(group.start <= part.start and part.end <= group.end for group in groups)


_SUBORDINATE = build_pattern(rf"\b{SUBORDINATE}\b")
"""Begins a part that goes on in the next one."""
_RECIPIENT = build_pattern(rf"{FOR_RECIPIENT}\b")
"""Begins a part with whom or what its value is for."""
_FOR_OTHERS = build_pattern(rf" {FOR_RECIPIENT} (?:(?:the|all|any|every|each|those) )?")
_OTHER_VALUE_FIRST = "the answer says this for others, and gives another value first"
_LEADING = build_pattern(rf"{LEADING}\b")
"""Begins a phrase before a statement."""
_DECIDED = build_pattern(rf"\b{DECIDED_LAST}[ .!]*$")
"""Ends a part that says yes or no and nothing else."""
_FORMER = build_pattern(rf"{USED_TO.pattern}|\b{NO_LONGER}\b")
_OPERATOR_BEFORE = LatePattern(r"[×*=] ?$| x $")
_OPERATOR_AFTER = LatePattern(r" ?[×*=]| x \d")
_PERHAPS = ", so this may be about something else"
_SENTENCE_END = LatePattern(r"[.!?] ")
_SUM = LatePattern(r"[×*+] ?[^\s=]{1,12}(?: [a-z]+)? ?=")
"""Signs of a sum that is written out."""
_AT_TIME = build_pattern(rf"\b{AROUND_TIME} $")
_ONLY = build_pattern(rf"\b{ONLY}\b")
_ADDITION = build_pattern(rf"\b{ADDITION}\b")
_ADDITION_AFTER = build_pattern(
    rf" {ADDITION_AFTER}\b(?! than\b)| more than (?:the|an?|for|with|without|in)\b| on top\b"
)
_LONGER = build_pattern(rf" {ADDITION_LAST}(?= ?[.,;!)]| ?$)")
_ADDITION_BEFORE = build_pattern(rf"\b{ADDITION_BEFORE} $")
_MOST_SPELLED, _MOST_QUOTED = 3, 8
_BEFORE_VALUE = 5  # characters between "only" and a value of which it says that it is little
