"""Whether an answer states a fact: stated, denied, missing, or unknown where the rules cannot tell.

The words of a fact may come in another order and inflection, its quantities in another form; numbers and names must be
there. A match is undone by a negation, by a quantifier ("none of", "few"), by words for a myth and by a bound ("less
than 12 days"). Doubt ("maybe"), another subject than the question's, and words that are only partly there leave it
unknown.
English and Vietnamese, with or without diacritics.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from assay.text.absent_words import OTHER_LANGUAGE, is_in_other_language, judge_absent_names, judge_absent_words
from assay.text.fact_judgments import OTHER_SIDE, FactJudgment, FactState
from assay.text.fact_places import Occurrence, find_nearest, find_stated_quantity
from assay.text.fact_polarity import asks_for_absence, is_negative_fact, judge_polarity
from assay.text.fact_scope import (
    UNCONDITIONAL,
    UNIVERSAL,
    ExpectedLimit,
    begins_after,
    find_change,
    find_direction,
    find_exception_after,
    find_expected_limit,
    find_reversed_event,
    has_exception,
    is_excepted,
    is_limit_of_refusal,
    is_other_end,
    is_reported_belief,
    is_reversed_limit,
    is_withdrawn,
    list_exceptions,
)
from assay.text.fact_texts import AUXILIARIES, GENERIC, NO_SUBJECT, FactTexts, may_be_subject
from assay.text.frequencies import find_frequencies, is_same_frequency, read_frequency
from assay.text.missing_quantities import is_in_name, is_opposite_bound, judge_missing_quantity
from assay.text.negations import find_negations
from assay.text.quantities import (
    Quantity,
    Reading,
    have_different_rates,
    is_plain,
    is_same_quantity,
    is_time,
    is_time_rate,
    name_rate_noun,
    split_range,
)
from assay.text.read_text import CLAUSE_REACH, ClauseSpan, ReadText, Word, get_start, narrow_clause, read_text
from assay.text.spoken_numbers import spell_price
from assay.text.statement_cues import (
    ASKS_PAST,
    CALLED_WRONG,
    CHANGED_FROM,
    DENIED_AFTER,
    DOUBT,
    MYTH,
    NEGATION,
    NO_LONGER,
    PARTIAL_QUANTIFIER,
    PAST_AFTER,
    PAST_BEFORE,
    PAST_VERB,
    PRESENT,
    RESPECTIVELY,
    USED_TO,
    WRONG,
    find_denied_predicate,
)
from assay.text.statement_gaps import Gap, GapFinder, StatedFact
from assay.text.units import MONEY, PLAIN
from assay.text.unread_quantities import is_complement, may_be_contrary
from assay.text.value_owner import (
    ASKS_FOR_COST,
    IMPERATIVES,
    MAY_BE_FREE,
    NOTHING_ALONE,
    NOTHING_TO_PAY,
    WEEKDAY,
    ValueOwner,
    is_comparable,
    is_nothing_to_pay,
    is_positive_amount,
    split_parts,
)

# ── the judgment of one fact ─────────────────────────────────────────────────────────────────────────────────────


def judge_facts(answer: str, facts: Sequence[str], question: str = "", context: str = "") -> list[FactJudgment]:
    """Return what an answer does with each fact, in order; empty facts are left out.

    `question`: its words need not be repeated, and an answer about something else leaves the fact unknown. `context`:
    further words that do not show another subject, such as the reference. Only the first 200,000 characters are read.

    >>> [found.state for found in judge_facts("Approval by the manager is needed.", ["manager approves", "HR"])]
    ['stated', 'missing']
    >>> [judge_facts(text, ["12 days"])[0].state for text in ("None of us gets 12 days.", "Maybe 12 days.")]
    ['denied', 'unknown']
    """
    return list(_judge_cached(answer, tuple(facts), question, context))


@lru_cache(maxsize=8192)
def _judge_cached(answer: str, facts: tuple[str, ...], question: str, context: str) -> tuple[FactJudgment, ...]:
    """Several metrics and the attribution ask the same of an answer."""
    judgments = []
    for fact, judge in _make_judges(answer, facts, question, context):
        if judge is not None:
            judgment = judge.judge_fact()
            if judgment.state == "missing" and is_in_other_language(judge.texts):
                judgment = judgment._replace(state="unknown", reason=OTHER_LANGUAGE)
            judgments.append(judgment)
        elif fact.strip():
            is_there = read_text(fact).plain.strip() in read_text(answer).plain
            judgments.append(FactJudgment(fact, "stated") if is_there else FactJudgment(fact, "missing", "not there"))
    return tuple(judgments)


def _make_judges(
    answer: str, facts: Sequence[str], question: str, context: str
) -> Iterator[tuple[str, _FactJudge | None]]:
    """Yield each fact with its judge; None for one without a word or quantity."""
    read_answer, read_question, read_reference = read_text(answer), read_text(question), read_text(context)
    read_facts = [read_text(fact) for fact in facts]
    expected = [quantity for read_fact in read_facts for quantity in read_fact.quantities]
    familiar = [read_question, read_reference, *read_facts]
    limit = find_expected_limit(read_question.plain, read_reference.plain)
    for fact, read_fact in zip(facts, read_facts, strict=True):
        judge = None
        if read_fact.words or read_fact.quantities:
            texts = FactTexts(fact, read_fact, read_answer, read_question, read_reference, familiar, expected, limit)
            judge = _FactJudge(texts)
        yield fact, judge


def find_statement_gaps(answer: str, facts: Sequence[str], question: str, context: str = "") -> dict[str, list[Gap]]:
    """Return the gaps in the evidence for each fact that an answer holds, whatever other rules make of the fact.

    The parameters are those of `judge_facts`. Facts that the answer does not hold have no entry. `benchmarks` choose
    by this which gaps leave a fact open.

    >>> gaps = find_statement_gaps("A bus takes 5 hours. A train takes 2.", ["5 hours"], "How long does a train take?")
    >>> [gap.kind for gap in gaps["5 hours"]]
    ['second value']
    """
    found = {}
    for fact, judge in _make_judges(answer, facts, question, context):
        if judge is None:
            continue
        judge.judge_fact()
        if judge.examined:
            spot, _ = min(judge.examined, key=lambda examined: _ORDER[examined[1].state])
            found[fact] = list(judge.list_gaps(spot))
    return found


_PER_BEFORE = re.compile(r"[\d$€£%][^.;]{0,12} (?:per|for every|for each|every|each|moi) $")
_ASKS_WHICH = re.compile(r"(?:on |at |from )?(?:when|which|what)\b|.{0,80}\b(?:khi nao|ngay nao|luc nao|thu may)\b")
_EVERY_BEFORE = re.compile(r"\b(?:every|each|cu|moi) $")
_EVERY = re.compile(r"\b(?:every|each|per|often|frequently|cu|moi|hang|dinh ky)\b|ly\b")
_PER = re.compile(r"\b(?:per|every|each|often|moi)\b")
_REACH_OF_NO = 24  # characters in which an answer that denies what is asked says so
_REACH = 160  # characters on either side in which words for past and present are searched
_MOST_OCCURRENCES = 30  # that are examined
_MOST_WORDS_EACH, _MORE_WORDS = 1, 4  # words from the first to the last part of a fact: one for each part, and four
_ORDER: dict[FactState, int] = {"stated": 0, "unknown": 1, "denied": 2, "missing": 3}


class _FactJudge:
    """Judges one fact against one answer."""

    def __init__(self, texts: FactTexts) -> None:
        self.texts = texts
        self.fact, self.read_fact, self.answer, self.question = texts[:4]
        self.reference, self.expected, self.limit = texts.reference, texts.expected, texts.limit
        self.ignore_marks = texts.ignore_marks
        read_fact, answer, question = texts.read_fact, texts.answer, texts.question
        self.is_negative = is_negative_fact(texts)
        self.denied_in_question = "" if self.is_negative else find_denied_predicate(question.plain)
        rates = [quantity.rate_span for quantity in read_fact.quantities if quantity.rate]
        content = [
            word
            for word in read_fact.words
            if word.kind != "stop"
            and not NEGATION.fullmatch(word.folded)
            and not any(start <= word.start < end for start, end in rates)
        ]
        exceptions = list_exceptions(read_fact, 0, len(read_fact.plain)) if has_exception(answer) else []
        content = [word for word in content if not any(cue.start() <= word.start < cue.end() for cue in exceptions)]
        if any(_ONE in quantity.readings for quantity in answer.quantities):
            content = [word for word in content if word.folded not in _ONES] or content
        self.content = content if content or read_fact.quantities else list(read_fact.words)
        self._owner: ValueOwner | None = None
        self._gap_finder: GapFinder | None = None
        self.examined: list[tuple[Occurrence, FactJudgment]] = []

    def judge_fact(self) -> FactJudgment:
        """Return the best state over all places of the answer where the fact may be stated."""
        if is_nothing_to_pay(self.read_fact.plain):
            return self._judge_free()
        frequency = read_frequency(self.read_fact.plain)
        judgment = self._judge_frequency(frequency) if frequency is not None else None
        if judgment is not None:
            return judgment
        agreeing = [self._find_quantity(quantity) for quantity in self.read_fact.quantities]
        pairs = zip(self.read_fact.quantities, agreeing, strict=True)
        lacking_quantities = [self._judge_absent_quantity(wanted) for wanted, stated in pairs if not stated]
        if lacking_quantities:
            return min(lacking_quantities, key=lambda judgment: judgment.state not in ("denied", "missing"))
        counted = self._judge_noun()
        if counted is not None:
            return counted
        places = [self._find_places(word) for word in self.content]
        absent = [word for word, indices in zip(self.content, places, strict=True) if not indices]
        judgment = self._judge_absent_names(absent)
        if judgment is not None:
            return judgment
        # Syllables of Vietnamese that the question has too may be halves of other words.
        repeats = [] if self.read_fact.has_marks else self.content
        informative = [word for word in self.content if word not in repeats or not self.question.find_word(word, True)]
        needed = informative or ([] if agreeing else self.content)
        lacking = [word for word in needed if word in absent]
        if lacking:
            return judge_absent_words(
                self.texts, needed, lacking, is_part_stated=bool(agreeing), is_negative=self.is_negative
            )
        found_words = [indices for indices in places if indices]
        needed_places = [
            [(self.answer.words[index].start, self.answer.words[index].end) for index in indices]
            for indices in found_words
        ]
        quantity_places = [[(quantity.start, quantity.end) for quantity in found] for found in agreeing]
        judgments = [self.judge_occurrence(spot) for spot in self._occurrences(quantity_places, needed_places)]
        best = min(judgments, key=lambda judgment: _ORDER[judgment.state])
        if best.state == "stated" and not agreeing and needed:
            return self._judge_repeated_words(needed) or best
        return best

    def _judge_absent_quantity(self, quantity: Quantity) -> FactJudgment:
        if quantity.is_spelled_one and self.content:
            return self._judge_noun() or FactJudgment(self.fact, "unknown", '"one" is not there')
        text = self.read_fact.text[quantity.start : quantity.end]
        judgment = judge_missing_quantity(self.fact, text, quantity, self.answer, self.question, self.limit)
        if judgment.state == "stated" and (self.content or len(self.read_fact.quantities) > 1):
            return judgment._replace(state="unknown", reason=f"it states {text} as a bound")
        return judgment

    def _judge_absent_names(self, absent: Sequence[Word]) -> FactJudgment | None:
        # A name of the question need not be repeated, unless the fact says nothing else.
        is_all = all(self.question.find_word(word, True) for word in self.content)
        names = [word for word in absent if self._is_name(word)]
        names = [word for word in names if is_all or not self.question.find_word(word, True)]
        present = [word for word in self.content if word not in absent and self._is_name(word)]
        return judge_absent_names(self.texts, names, present) if names else None

    def _find_places(self, word: Word) -> list[int]:
        """Return the indices of a word of the fact in the answer: the same word, or one for the same event."""
        indices = self.answer.find_word(word, self.ignore_marks)
        if indices or word.folded not in _DEPARTING:
            return indices
        return [index for index, own in enumerate(self.answer.words) if own.folded in _DEPARTING]

    def _judge_repeated_words(self, informative: Sequence[Word]) -> FactJudgment | None:
        """Return the judgment of a fact whose words from the question are said of another subject than its own words.

        "HR approves it. The manager gets a copy." holds "the manager approves", asked who approves.
        """
        own = [index for word in informative for index in self.answer.find_word(word, self.ignore_marks)]
        sentences = {self.answer.clause_at(self.answer.words[index].start).sentence_start for index in own}
        for word in self.content:
            places = self.answer.find_word(word, self.ignore_marks) if word not in informative else []
            clauses = [self.answer.clause_at(self.answer.words[index].start) for index in places]
            if not clauses or any(clause.sentence_start in sentences for clause in clauses):
                continue
            first = self.answer.words[places[0]]
            lead = self.answer.words[bisect_left(self.answer.words, clauses[0].start, key=get_start) : places[0]]
            subject = [other for other in lead if may_be_subject(other) and not self.texts.is_familiar(other)]
            if subject:
                said = self.answer.text[subject[0].start : first.end]
                return FactJudgment(self.fact, "unknown", f'the answer says "{said}"')
        return None

    def _judge_frequency(self, frequency: tuple[Fraction, str]) -> FactJudgment | None:
        """Return the judgment of a fact that only says how often; None if the answer does not say it in words."""
        named = set(find_frequencies(self.answer.plain))
        if not named:
            return None
        if len(named) > 1 or find_negations(self.answer) or DOUBT.search(self.answer.plain):
            return FactJudgment(self.fact, "unknown", "it says how often in several ways, or denies or doubts one")
        if any(is_same_frequency(frequency, other) for other in named):
            return FactJudgment(self.fact, "stated")
        return FactJudgment(self.fact, "denied", "it says another frequency")

    def _judge_free(self) -> FactJudgment:
        """Return the judgment of a fact that says that there is nothing to pay, in whatever words."""
        plain = self.answer.plain
        starts = [match.start() for match in NOTHING_TO_PAY.finditer(plain)]
        if ASKS_FOR_COST.search(self.question.plain) or not self.question.words:
            starts += [match.start("nothing") for match in NOTHING_ALONE.finditer(plain)]
        if not starts:
            amount = next((own for own in self.answer.quantities if is_positive_amount(own)), None)
            may_be_free = MAY_BE_FREE.search(plain)
            if may_be_free is not None:
                reason = f'"{may_be_free[0]}" may say that there is nothing to pay'
                return FactJudgment(self.fact, "unknown", reason)
            if amount is None:
                return FactJudgment(self.fact, "missing", "it does not say that there is nothing to pay")
            return FactJudgment(self.fact, "denied", f'it says "{self.answer.text[amount.start : amount.end]}"')
        judgments = []
        for start in sorted(starts)[:_MOST_OCCURRENCES]:
            clause = narrow_clause(self.answer.clause_at(start), start)
            # An empty span at the start: the "no" of "no charge" denies nothing.
            judgments.append(self.judge_occurrence(Occurrence(clause, [(start, start)], False)))
        return min(judgments, key=lambda judgment: _ORDER[judgment.state])

    def _judge_noun(self) -> FactJudgment | None:
        """Return the judgment if the answer counts what the fact counts, and only with other numbers.

        "Two children and four guests" has the number and the noun of "two guests", and denies it.
        """
        for quantity in self.read_fact.quantities:
            if quantity.date or any(reading.dimension != PLAIN for reading in quantity.readings):
                continue
            noun = next((word for word in self.content if 0 < word.start - quantity.end <= 1), None)
            if noun is None:
                continue
            counts = []
            for index in self.answer.find_word(noun, self.ignore_marks):
                start = self.answer.words[index].start
                counts += [own for own in self.answer.quantities if 0 <= start - own.end <= 1 and own.readings]
            unbounded = quantity._replace(bound="")
            if counts and not any(is_same_quantity(unbounded, own._replace(bound="")) for own in counts):
                stated = self.answer.text[counts[0].start : counts[0].end]
                text = self.read_fact.text[noun.start : noun.end]
                return FactJudgment(self.fact, "denied", f'it says "{stated} {text}"')
        return None

    # ── what is there ────────────────────────────────────────────────────────────────────────────────────────────

    def _find_quantity(self, expected: Quantity) -> list[Quantity]:
        if expected.is_spelled_one:
            return [Quantity((), word.start, word.end) for word in self.answer.words if word.folded in _ONES] + [
                quantity for quantity in self.answer.quantities if is_same_quantity(expected, quantity)
            ]
        agreeing = [
            quantity for quantity in self.answer.quantities if is_same_quantity(expected, quantity, unit_required=True)
        ]
        if not agreeing:
            agreeing = [quantity for quantity in self.answer.quantities if self._is_stated_end(expected, quantity)]
        if not agreeing and ASKS_FOR_COST.search(self.question.plain):
            agreeing = self._find_spoken_price(expected)
        if not self.content:
            agreeing = [quantity for quantity in agreeing if not is_in_name(quantity, self.answer, self.question)]
        if not agreeing and any(reading == _ONE for reading in expected.readings):
            agreeing = [Quantity((), word.start, word.end) for word in self.answer.words if word.folded in _ONES]
        return agreeing

    def _find_spoken_price(self, expected: Quantity) -> list[Quantity]:
        """Return where an answer to what something costs says an amount without its unit: "twelve fifty"."""
        amounts = [reading.low for reading in expected.readings if reading.dimension.startswith(MONEY)]
        spoken = spell_price(amounts[0]) if len(amounts) == 1 and not expected.is_range else ""
        if not spoken:
            return []
        matches = re.finditer(rf"\b{spoken}\b(?! (?:people|guests|percent|per cent))", self.answer.plain)
        return [expected._replace(start=match.start(), end=match.end()) for match in matches]

    def _is_stated_end(self, expected: Quantity, stated: Quantity) -> bool:
        """Whether a range states a quantity as one of its ends.

        "10am to 4pm" states when something begins and when it ends; "3 to 5 days" states neither 3 nor 5 days, unless
        the facts have both.
        """
        ends = split_range(stated)
        if not any(is_same_quantity(expected, end, unit_required=True) for end in ends):
            return False
        if is_time(stated) and is_time(expected):
            return True
        return all(any(is_same_quantity(wanted, end) for wanted in self.expected) for end in ends)

    def _is_name(self, word: Word) -> bool:
        """Whether a word of the fact is a name or an identifier, which no other word can stand for."""
        if word.kind != "name":
            return word.kind == "id"
        # The first word may be capitalised because a sentence begins with it.
        if word is not self.read_fact.words[0]:
            return True
        is_common = any(
            not text.words[index].is_capitalised
            for text in (self.question, self.reference)
            for index in text.find_word(word, self.ignore_marks)
        )
        return not is_common and all(other.is_capitalised for other in self.content)

    # ── where it is ──────────────────────────────────────────────────────────────────────────────────────────────

    def _occurrences(
        self, quantity_places: list[list[tuple[int, int]]], word_places: list[list[tuple[int, int]]]
    ) -> Iterator[Occurrence]:
        """Yield the places around each occurrence of the part that occurs least often; quantities come first."""
        parts = [*quantity_places, *word_places]
        anchor = min(quantity_places or word_places, key=len)
        for start, end in anchor[:_MOST_OCCURRENCES]:
            clause = narrow_clause(self.answer.clause_at(start), start)
            nearest = sorted(find_nearest(part, start) if part is not anchor else (start, end) for part in parts)
            spans = [span for span in nearest if clause.start <= span[0] < clause.end]
            yield Occurrence(clause, spans, self._count_words(nearest) > _MOST_WORDS_EACH * len(parts) + _MORE_WORDS)

    def _count_words(self, spans: Sequence[tuple[int, int]]) -> int:
        """Return how many words lie from the first to the last span."""
        first, last = (bisect_left(self.answer.words, at, key=get_start) for at in (spans[0][0], spans[-1][0]))
        return last - first

    def judge_occurrence(self, spot: Occurrence) -> FactJudgment:
        """Return what the answer does with the fact at one place where its parts are."""
        judgment = self._judge_place(spot)
        self.examined.append((spot, judgment))
        return judgment

    def _judge_place(self, spot: Occurrence) -> FactJudgment:
        plain, clause = self.answer.plain, spot.clause
        sentence = plain[clause.sentence_start : clause.sentence_end]
        clause_text = plain[clause.start : clause.end]
        end = max(last for _, last in spot.spans)
        after = plain[end : clause.end]
        if self._is_called_wrong(clause_text, after) or self._is_taken_back(spot, end):
            return FactJudgment(self.fact, "denied", "it is called wrong or outdated")
        excepted = self._judge_exception(spot, end)
        polarity = judge_polarity(self.texts, spot) if excepted is None else excepted
        if polarity is not None and polarity.state != "stated":
            return polarity
        for judge_scope in (
            self._judge_rate,
            self._judge_limit,
            self._judge_direction,
            self._judge_event,
            self._judge_condition,
        ):
            judgment = judge_scope(spot)
            if judgment is not None:
                return judgment
        doubt = self._find_doubt(spot, sentence, after)
        if doubt:
            return doubt
        if spot.is_scattered:
            return FactJudgment(self.fact, "unknown", "its words are far apart")
        subject = self._judge_subject(spot)
        if subject is not None:
            return subject
        gap = next(self.list_gaps(spot), None)
        return FactJudgment(self.fact, "stated") if gap is None else FactJudgment(self.fact, "unknown", gap.reason)

    def judge_owner(self, spot: Occurrence) -> FactJudgment:
        """Return the judgment of a value that the answer states, by what it says it of."""
        owner = self.find_owner(spot)
        if owner is not None:
            return owner
        gap = next(self.list_gaps(spot), None)
        return FactJudgment(self.fact, "stated") if gap is None else FactJudgment(self.fact, "unknown", gap.reason)

    def list_gaps(self, spot: Occurrence) -> Iterator[Gap]:
        """Yield what neither question, facts nor reference explain of the answer around a statement of the fact."""
        if not self.question.words:
            return
        stated = find_stated_quantity(self.answer, spot)
        position = self._find_value_start(spot, stated)
        low, high = max(0, position - CLAUSE_REACH), min(len(self.answer.plain), position + CLAUSE_REACH)
        if self._gap_finder is None:
            self._gap_finder = GapFinder(
                self.answer,
                self.texts.explaining,
                self._make_owner(self.texts.list_topics()),
                self.expected,
                self.texts.explaining[2:],
                self.texts.is_familiar,
                may_be_subject,
            )
        yield from self._gap_finder.list_gaps(StatedFact(spot.clause, position, stated, spot.spans), low, high)

    def _is_taken_back(self, spot: Occurrence, end: int) -> bool:
        """Whether the sentence reports the fact as a belief or says that it holds no longer."""
        clause, plain = spot.clause, self.answer.plain
        sentence = (clause.sentence_start, clause.sentence_end)
        if is_reported_belief(plain, sentence, spot.spans[0][0], end):
            return True
        return is_withdrawn(plain, end, clause.sentence_end)

    def _judge_exception(self, spot: Occurrence, end: int) -> FactJudgment | None:
        """Return the judgment of a fact that is an exception, or that has one; None if exceptions play no part."""
        if has_exception(self.read_fact):
            return None
        clause = spot.clause
        is_denied = is_excepted(self.answer, clause.sentence_start, spot.spans[0][0])
        if is_denied is not None:
            if self.is_negative or self.denied_in_question:
                if is_denied:  # "all but the night trains" says "not the night trains"
                    return FactJudgment(self.fact, "stated")
                return FactJudgment(self.fact, "unknown", "it is an exception from what the sentence says")
            if is_denied and asks_for_absence(self.texts, clause):
                return FactJudgment(self.fact, "unknown", "it is excepted from the contrary of what is asked")
            if is_denied:
                return FactJudgment(self.fact, "denied", "it is excepted from what the sentence says")
            return FactJudgment(self.fact, "stated")
        span = find_exception_after(self.answer, end, clause.sentence_end)
        if span is None or has_exception(self.reference):
            return None
        topic = {word.key for word in self.texts.list_topics()}
        first, last = (bisect_left(self.answer.words, at, key=get_start) for at in span)
        excepted = [word for word in self.answer.words[first:last] if word.key in topic]
        if excepted:
            return FactJudgment(self.fact, "denied", f'it holds for all but "{self.answer.text[slice(*span)].strip()}"')
        if self.is_negative:
            return FactJudgment(self.fact, "unknown", "the answer makes an exception from it")
        return None

    def _judge_rate(self, spot: Occurrence) -> FactJudgment | None:
        """Return the judgment of a quantity that the answer states per something else: "$15 per page", not per copy."""
        stated = find_stated_quantity(self.answer, spot)
        if stated is None:
            return None
        if _PER_BEFORE.search(self.answer.plain, max(0, stated.start - _REACH_OF_NO), stated.start):
            texts = (self.read_fact.plain, self.question.plain, self.reference.plain)
            if self.question.words and not any(_PER.search(text) for text in texts):
                return FactJudgment(self.fact, "unknown", "something else is said per this")
        if _EVERY_BEFORE.search(self.answer.plain, max(0, stated.start - _REACH_OF_NO), stated.start):
            texts = (self.read_fact.plain, self.question.plain, self.reference.plain)
            is_span = any(reading.dimension in ("duration", "calendar") for reading in stated.readings)
            if is_span and self.question.words and not any(_EVERY.search(text) for text in texts):
                return FactJudgment(self.fact, "unknown", "it says how often, and not how long")
        for wanted in self.reference.quantities:
            if have_different_rates(wanted, stated) and is_same_quantity(wanted, stated._replace(rate="", bound="")):
                return FactJudgment(self.fact, "denied", f"it says it per {stated.rate}, not per {wanted.rate}")
        rates = [quantity.rate for quantity in self.read_fact.quantities if quantity.rate]
        if not rates or stated.rate in rates:
            return None
        if stated.rate and (is_time_rate(stated.rate) or not is_time_rate(rates[0])):
            return FactJudgment(self.fact, "unknown", f"it says it per {stated.rate}, not per {rates[0]}")
        others = [own for own in self.answer.quantities if own != stated and own.rate in rates]
        if any(is_comparable(stated, own) for own in others):
            return FactJudgment(self.fact, "unknown", f'another value is the one per "{rates[0]}"')
        # A heading may say it: "Monthly rents:".
        low, high = max(0, stated.start - CLAUSE_REACH), stated.start + CLAUSE_REACH
        first, last = (bisect_left(self.answer.words, at, key=get_start) for at in (low, high))
        nouns = {name_rate_noun(word.folded) for word in (*self.answer.words[first:last], *self.question.words)}
        spans = [own for own in self.answer.quantities if low <= own.start < high]
        nouns.update(name_rate_noun(word) for own in spans for word in self.answer.plain[own.start : own.end].split())
        if nouns.isdisjoint(rates):
            return FactJudgment(self.fact, "unknown", f'it does not say that this is per "{rates[0]}"')
        return None

    def _judge_limit(self, spot: Occurrence) -> FactJudgment | None:
        """Return the judgment of a quantity that is stated as the other limit: "at least" where the most is asked."""
        stated = find_stated_quantity(self.answer, spot)
        if stated is None or any(quantity.bound for quantity in self.read_fact.quantities):
            return None
        if find_direction(stated, self.answer.plain) == "before":
            return self._judge_lead_time(stated)
        for wanted in self.reference.quantities:
            if is_opposite_bound(wanted, stated) and not self._is_asked_or_refused(stated, spot):
                if is_complement(wanted, stated) and may_be_contrary(
                    stated, self.answer, (self.reference, self.question)
                ):
                    return FactJudgment(self.fact, "unknown", "it says what holds beyond it")
                said = self.reference.text[wanted.start : wanted.end]
                return FactJudgment(self.fact, "denied", f'{OTHER_SIDE} than "{said}"')
        clause_end = spot.clause.sentence_end
        if begins_after(stated, self.answer.plain, self.limit):
            reason = "it says what happens after this, and the question is about what happens until then"
            is_refused = is_limit_of_refusal(stated, self.answer.plain, clause_end, ExpectedLimit("", False))
            is_open = is_refused or bool(find_negations(self.answer, spot.clause.sentence_start, clause_end))
            return FactJudgment(self.fact, "denied" if stated.date and not is_open else "unknown", reason)
        if not is_reversed_limit(stated, self.limit):
            return None
        sides = ("a lower", "an upper") if self.limit.side == "<" else ("an upper", "a lower")
        reason = f"it states {sides[0]} limit, not {sides[1]} one"
        return FactJudgment(self.fact, "denied" if self.limit.is_explicit else "unknown", reason)

    def _is_asked_or_refused(self, stated: Quantity, spot: Occurrence) -> bool:
        """Whether the question has a bound too, or the answer forbids what is beyond its own."""
        if any(asked.bound for asked in self.question.quantities):
            return True
        return is_limit_of_refusal(stated, self.answer.plain, spot.clause.sentence_end, ExpectedLimit("", False))

    def _judge_lead_time(self, stated: Quantity) -> FactJudgment | None:
        """Return the judgment of a time ahead of something: the latest moment is the shortest time."""
        for wanted in self.reference.quantities:
            is_reversed = bool(wanted.bound and stated.bound) and wanted.bound[0] != stated.bound[0]
            if is_reversed and is_same_quantity(wanted._replace(bound=""), stated._replace(bound="")):
                return FactJudgment(self.fact, "denied", "it bounds the time on the other side")
        return None

    def _judge_direction(self, spot: Occurrence) -> FactJudgment | None:
        """Return the judgment of a time after what it is expected before, or of a change to what it changes by."""
        stated = find_stated_quantity(self.answer, spot)
        if stated is None:
            return None
        for find in (find_direction, find_change):
            said = find(stated, self.answer.plain)
            if not said:
                continue
            for text in (self.read_fact, self.reference):
                for wanted in text.quantities:
                    if not is_same_quantity(wanted._replace(bound=""), stated._replace(bound="")):
                        continue
                    expected = find(wanted, text.plain)
                    if expected and expected != said:
                        return FactJudgment(self.fact, "denied", f"it says {said} and not {expected}")
        return None

    def _judge_condition(self, spot: Occurrence) -> FactJudgment | None:
        """Return the judgment of a condition of which the answer says that it is none: "with or without a lid"."""
        clause, plain = spot.clause, self.answer.plain
        is_restricted = _ONLY.search(self.read_fact.plain) is not None
        if is_restricted and UNIVERSAL.search(plain, clause.sentence_start, spot.spans[0][0]):
            return FactJudgment(self.fact, "unknown", "it is said of all, and not only of some")
        cue = UNCONDITIONAL.search(plain, clause.sentence_start, clause.sentence_end)
        if cue is None or UNCONDITIONAL.search(self.read_fact.plain) or UNCONDITIONAL.search(self.reference.plain):
            return None
        for word in self.content:
            places = self.answer.find_word(word, self.ignore_marks)
            is_after = any(cue.end() <= self.answer.words[place].start < clause.sentence_end for place in places)
            if is_after and not self.question.find_word(word, True):
                return FactJudgment(self.fact, "unknown", f'it is said to hold "{cue[0]}" its condition')
        return None

    def _judge_event(self, spot: Occurrence) -> FactJudgment | None:
        """Return the judgment of a time at which something else happens: when it opens, not when it closes."""
        stated = find_stated_quantity(self.answer, spot)
        plain, clause = self.answer.plain, spot.clause
        if stated is None and WEEKDAY.search(self.read_fact.plain) and _ASKS_WHICH.match(self.question.plain):
            sentence = plain[clause.sentence_start : clause.sentence_end]
            return self._deny_event(find_reversed_event(self.question.plain, sentence, ""))
        if stated is None or stated.is_range or not (stated.date or is_time(stated)):
            return None
        low = max(clause.start, stated.start - _REACH)
        if is_other_end(self.question.plain, plain[max(clause.start, stated.start - _REACH_OF_NO) : stated.start]):
            is_same_moment = find_reversed_event(self.question.plain, plain[low : stated.start], "") is not None
            if is_same_moment or find_negations(self.answer, low, stated.start):  # "closed until nine" opens at nine
                return FactJudgment(self.fact, "unknown", "it says until when the contrary holds")
            return FactJudgment(self.fact, "denied", "it is the other end of the time that the question asks about")
        for part in split_parts(self.answer, clause.sentence_start, clause.sentence_end):
            if part.start <= stated.start < part.end:
                before = plain[part.start : stated.start]
                own = plain[part.start : part.end]
                asked, said = self.question.plain, self.reference.plain
                events = find_reversed_event(asked, own, before) or find_reversed_event(said, own, before)
                return self._deny_event(events)
        return None

    def _deny_event(self, events: tuple[str, str] | None) -> FactJudgment | None:
        if events is None:
            return None
        reason = f'it says when it "{events[0]}", and what is asked is when it "{events[1]}"'
        return FactJudgment(self.fact, "denied", reason)

    def _is_called_wrong(self, clause_text: str, after: str) -> bool:
        """Whether the clause calls the fact a myth or wrong; "a wrong token" only describes a thing."""
        own = self.read_fact.plain
        if MYTH.search(clause_text) and not MYTH.search(own):
            return True
        denial = DENIED_AFTER.match(after)
        if denial is not None and (denial["predicate"] or self.read_fact.quantities):
            return True
        has_wrong = CALLED_WRONG.search(clause_text) is not None and WRONG.search(own) is None
        return has_wrong and bool(self.read_fact.quantities)

    # ── doubt and other subjects ─────────────────────────────────────────────────────────────────────────────────

    def _find_doubt(self, spot: Occurrence, sentence: str, after: str) -> FactJudgment | None:
        """Return the judgment of a fact that is in doubt, about the past, or next to another value; None otherwise."""
        reason = self._name_doubt(spot, sentence)
        if reason:
            return FactJudgment(self.fact, "unknown", reason)
        plain, clause = self.answer.plain, spot.clause
        before = plain[max(clause.sentence_start, spot.spans[0][0] - _REACH) : spot.spans[0][0]]
        end = max(end for _, end in spot.spans)
        following = plain[end:][:_REACH]
        asks_past = ASKS_PAST.search(self.question.plain) is not None
        if not asks_past and PRESENT.search(following) and (PAST_BEFORE.search(before) or PAST_AFTER.match(following)):
            return FactJudgment(self.fact, "unknown", "it is about the past")
        if self.question.words and not asks_past and self._is_superseded(spot):
            return FactJudgment(self.fact, "unknown", "it is about the past, and the answer has a present value")
        if self._has_candidate(spot) and RESPECTIVELY.search(sentence):
            return FactJudgment(self.fact, "unknown", "it is one of several values, given by their order")
        if self._has_rival(spot):
            return FactJudgment(self.fact, "unknown", "another value stands next to it")
        return self._judge_restriction(spot)

    def _is_superseded(self, spot: Occurrence) -> bool:
        """Whether the fact's clause is in the past tense and another clause has a value that holds now."""
        stated, plain, clause = find_stated_quantity(self.answer, spot), self.answer.plain, spot.clause
        if stated is None:
            return False
        if CHANGED_FROM.search(plain, max(clause.sentence_start, stated.start - _REACH), stated.start):
            return self._has_candidate(spot)
        part = next(
            (
                part
                for part in split_parts(self.answer, clause.start, clause.end)
                if part.start <= stated.start < part.end
            ),
            None,
        )
        if part is None or not PAST_VERB.search(plain, part.start, part.end):
            return False
        if PRESENT.search(plain, part.start, part.end):
            return False
        if USED_TO.search(plain, part.start, part.end) and NO_LONGER.search(plain, stated.end, stated.end + _REACH):
            return True
        for own in self.answer.quantities:
            if own == stated or not is_comparable(stated, own) or is_value_among(own, self.expected):
                continue
            other = narrow_clause(self.answer.clause_at(own.start), own.start)
            low = other.start if other.start > stated.end or other.end <= stated.start else stated.end
            if PRESENT.search(plain, low, other.end):
                return True
        return False

    def _judge_restriction(self, spot: Occurrence) -> FactJudgment | None:
        """Return the judgment of a fact that holds "only" for something that the question does not mention."""
        plain, position = self.answer.plain, spot.spans[0][0]
        for part in split_parts(self.answer, spot.clause.start, spot.clause.end):
            only = _ONLY.match(plain, part.start) if part.start <= position < part.end else None
            if only is not None and self.question.words:
                index = bisect_left(self.answer.words, only.end(), key=get_start)
                word = self.answer.words[index] if index < len(self.answer.words) else None
                if word is not None and word.folded in IMPERATIVES:
                    return None  # "just hold the code …"
                if (
                    word is not None
                    and word.start < position
                    and word.kind != "stop"
                    and not self.texts.is_familiar(word)
                ):
                    restricted = self.answer.text[word.start : word.end]
                    return FactJudgment(self.fact, "unknown", f'it holds only for "{restricted}"')
        return None

    def _name_doubt(self, spot: Occurrence, sentence: str) -> str:
        if sentence.rstrip().endswith("?"):
            return "it is in a question"
        own = self.read_fact.plain
        match = DOUBT.search(sentence)
        asked = (own, self.question.plain, self.reference.plain)  # "how many may be in a cave?" doubts nothing
        if match is not None and not any(match[0] in text for text in asked):
            return f'it is in doubt ("{match[0]}")'
        partly = PARTIAL_QUANTIFIER.search(self.answer.plain, spot.clause.start, spot.spans[0][0])
        if partly is not None and partly[0] not in own and partly[0] not in self.question.plain:
            return f'it holds for a part ("{partly[0]}")'
        return ""

    def _has_rival(self, spot: Occurrence) -> bool:
        """Whether a quantity that nobody expects is joined to one of the fact by "or" or in a bare list."""
        quantities = self.answer.quantities
        for start, end in spot.spans:
            index = bisect_left(quantities, start, key=lambda quantity: quantity.start)
            if index == len(quantities) or (quantities[index].start, quantities[index].end) != (start, end):
                continue
            quantity = quantities[index]
            for neighbour in (
                self.answer.quantities[max(0, index - 1) : index] + self.answer.quantities[index + 1 : index + 2]
            ):
                first, second = sorted((quantity, neighbour), key=lambda item: item.start)
                gap = self.answer.plain[first.end : second.start]
                if _RIVAL_GAP.fullmatch(gap) and not any(
                    is_same_quantity(wanted, neighbour) or is_same_quantity(neighbour, wanted)
                    for wanted in self.expected
                ):
                    return is_comparable(quantity, neighbour)
        return False

    def _judge_subject(self, spot: Occurrence) -> FactJudgment | None:
        """Return the judgment of a fact that the answer states of something else than the question; None otherwise."""
        topic = self.texts.list_topics()
        if not any(word.kind != "stop" for word in self.question.words):
            return None
        clause, answer = spot.clause, self.answer
        begin, end = (bisect_left(answer.words, at, key=get_start) for at in (clause.start, clause.end))
        in_clause = answer.words[begin:end]
        foreign = [word for word in in_clause if word.kind != "stop" and not self.texts.is_familiar(word)]
        missing_topic = [word for word in topic if not self._is_in_sentence(word, clause)]
        first = bisect_left(answer.words, clause.sentence_start, key=get_start)
        names = [word for word in foreign if word.kind in ("name", "id") and word is not answer.words[first]]
        if names and any(word.kind in ("name", "id") for word in missing_topic):
            return self._say_of_other(answer.text[names[0].start : names[0].end])
        owner = self.find_owner(spot)
        if owner is not None:
            return owner
        if any(word.kind in ("name", "id") and word not in missing_topic for word in topic):
            return None  # it names what the question names
        year = self._find_other_year(clause)
        if year:
            return self._say_of_other(year)
        has_candidate = self._has_candidate(spot)
        lead = self._find_lead(self._take_part(in_clause, spot) if has_candidate else in_clause, spot)
        if self._repeats_quantity(clause) or (has_candidate and self._is_said_of_question(spot, topic)):
            return None
        if self._is_compact(spot) and not has_candidate:
            subject = self._find_replaced_subject(in_clause, lead, foreign, spot) if missing_topic else ""
            return self._say_of_other(subject) if subject else None
        if lead and missing_topic and lead[0] in foreign and 2 * sum(word in foreign for word in lead) >= len(lead):
            return self._say_of_other(answer.text[lead[0].start : lead[-1].end])
        is_strange = len(foreign) > _MOST_FOREIGN and 2 * len(foreign) > sum(word.kind != "stop" for word in in_clause)
        if is_strange and 2 * len(missing_topic) > len(topic):
            reason = "its sentence shares few words with the question, so it may be about something else"
            return FactJudgment(self.fact, "unknown", reason)
        return None

    def _take_part(self, in_clause: Sequence[Word], spot: Occurrence) -> Sequence[Word]:
        """Return the words of a clause from where the part with the fact begins."""
        position = spot.spans[0][0]
        starts = [part.start for part in split_parts(self.answer, spot.clause.start, spot.clause.end)]
        start = max((start for start in starts if start <= position), default=spot.clause.start)
        return [word for word in in_clause if word.start >= start]

    def _say_of_other(self, subject: str) -> FactJudgment:
        reason = f'its sentence is about "{" ".join(subject.split())}", which the question does not mention'
        return FactJudgment(self.fact, "unknown", reason)

    def find_owner(self, spot: Occurrence) -> FactJudgment | None:
        """Return the judgment of a fact that one part of the answer states, while another part has the question's."""
        stated = find_stated_quantity(self.answer, spot)
        position = self._find_value_start(spot, stated)
        low, high = max(0, position - CLAUSE_REACH), min(len(self.answer.plain), position + CLAUSE_REACH)
        owner = self._make_owner(self.texts.list_topics()).find_other_owner(low, high, position, stated)
        if owner is None:
            return None
        return FactJudgment(self.fact, "denied" if owner.is_sure else "unknown", owner.reason)

    def _find_value_start(self, spot: Occurrence, stated: Quantity | None) -> int:
        if stated is not None:
            return stated.start
        for start, _ in spot.spans:
            if NOTHING_TO_PAY.match(self.answer.plain, start):
                return start
        return spot.spans[0][0]

    def _make_owner(self, topic: Sequence[Word]) -> ValueOwner:
        if self._owner is None:
            self._owner = self._build_owner(topic)
        return self._owner

    def _build_owner(self, topic: Sequence[Word]) -> ValueOwner:
        return ValueOwner(
            self.answer,
            self.question,
            topic,
            self.read_fact,
            self.texts.explaining[1:],
            {word.key for word in self.content},
            self.expected,
            self.texts.is_explained,
            may_be_subject,
        )

    def _is_said_of_question(self, spot: Occurrence, topic: Sequence[Word]) -> bool:
        """Whether its own part of the answer, and no other part with a value, has words of the question."""
        stated = find_stated_quantity(self.answer, spot)
        position = self._find_value_start(spot, stated)
        low, high = max(0, position - CLAUSE_REACH), min(len(self.answer.plain), position + CLAUSE_REACH)
        return self._make_owner(topic).is_said_of_question(low, high, position, stated)

    def _find_replaced_subject(
        self, in_clause: Sequence[Word], lead: Sequence[Word], foreign: Sequence[Word], spot: Occurrence
    ) -> str:
        """Return the subject of a clause that says of it what the question asks of something else, "" otherwise.

        "The library grants 12 days" repeats what is asked of the museum; "a replacement card is $3" does not.
        """
        before = [word for word in in_clause if lead and lead[0].start <= word.start < spot.spans[0][0]]
        has_auxiliary = any(word.folded in AUXILIARIES for word in before)
        subject = lead if has_auxiliary else lead[:-1]
        stated = find_stated_quantity(self.answer, spot)
        if stated is not None and lead and stated.start - lead[-1].end <= 1 and is_plain(stated):
            return ""  # "ports 443 and 1194": the number is the name of what stands before it
        if not subject or any(word not in foreign for word in subject):
            return ""
        asked = {word.key for word in self.texts.list_topics()} - {word.key for word in self.content}
        if any(word.key in asked and word.start > subject[-1].start for word in before):
            return self.answer.text[subject[0].start : subject[-1].end]
        return ""

    def _repeats_quantity(self, clause: ClauseSpan) -> bool:
        """Whether the sentence has a quantity of the question."""
        return any(
            clause.sentence_start <= own.start < clause.sentence_end and is_same_quantity(asked, own)
            for asked in self.question.quantities
            for own in self.answer.quantities
        )

    def _is_compact(self, spot: Occurrence) -> bool:
        """Whether the parts of the fact stand together in one clause as they do in the fact."""
        parts = len(self.content) + len(self.read_fact.quantities)
        return len(spot.spans) >= parts and self._count_words(spot.spans) <= parts

    def _has_candidate(self, spot: Occurrence) -> bool:
        """Whether the sentence has another quantity, which nobody expects, of the kind that the fact has."""
        stated, clause = find_stated_quantity(self.answer, spot), spot.clause
        if stated is None:
            return False
        for own in self.answer.quantities:
            if not clause.sentence_start <= own.start < clause.sentence_end or not is_comparable(stated, own):
                continue
            if not any(is_same_quantity(wanted, own) for wanted in (*self.expected, *self.question.quantities)):
                return True
        return False

    def _find_lead(self, in_clause: Sequence[Word], spot: Occurrence) -> list[Word]:
        """Return the words before the first verb-like word of grammar or the first part of the fact: its subject."""
        lead: list[Word] = []
        first_part = spot.spans[0][0]
        for word in in_clause:
            if len(lead) == 1 and lead[0] is in_clause[0] and word.folded in _OBJECT_STARTS:
                return []  # "Keep it …", "Hand the form …": what begins the sentence is an order and no subject
            if word.start >= first_part or not (word.kind == "stop" or may_be_subject(word)):
                break
            if word.folded in AUXILIARIES or word.folded.partition("'")[0] in NO_SUBJECT:
                break
            if word.kind != "stop" and word.folded not in GENERIC:
                lead.append(word)
        return lead[:_LONGEST_LEAD]

    def _find_other_year(self, clause: ClauseSpan) -> str:
        """Return a number of the sentence that stands for one of the question, which has another ("1896", "2004")."""
        for asked in self.question.quantities:
            if any(is_same_quantity(asked, own) for own in self.answer.quantities):
                continue
            for own in self.answer.quantities:
                if not clause.sentence_start <= own.start < clause.sentence_end or not is_comparable(asked, own):
                    continue
                if not any(is_same_quantity(wanted, own) for wanted in self.expected):
                    return self.answer.text[own.start : own.end]
        return ""

    def _is_in_sentence(self, word: Word, clause: ClauseSpan) -> bool:
        indices = self.answer.find_word(word, True)
        return any(clause.sentence_start <= self.answer.words[index].start < clause.sentence_end for index in indices)


_ONLY = re.compile(r"(?:only|just|chi(?: co)?) ")
_ONES = frozenset(("one", "mot"))
_ONE = Reading(PLAIN, Decimal(1), Decimal(1))
_RIVAL_GAP = re.compile(r"[\s,;/|$€£]*+(?:(?:or|hoac|hay)(?: \w++)? )?[\s$€£]*+")
_MOST_FOREIGN = 3
_LONGEST_LEAD = 4
_OBJECT_STARTS = frozenset(("it", "them", "the", "a", "an", "your", "this", "these", "those", "no", "any", "all"))
_DEPARTING = frozenset(("departure", "depart", "departs", "leave", "leaves", "leaving", "sails", "goes"))


def mentions_fact(text: str, fact: str) -> bool:
    """Return whether a sentence of a text has the quantities of a fact, in any form, and its other words; not what it
    says of them. Facts without a quantity are never mentioned.

    >>> mentions_fact("| Friday | 11:00 am | 4:00 pm |", "4 pm")
    True
    """
    read_fact, read = read_text(fact), read_text(text)
    if not read_fact.quantities:
        return False
    rates = [quantity.rate_span for quantity in read_fact.quantities]
    words = [word for word in read_fact.words if word.kind != "stop"]
    words = [word for word in words if not any(start <= word.start < end for start, end in rates)]
    ignore_marks = not (read_fact.has_marks and read.has_marks)
    for anchor in read.quantities:
        if not is_value_among(read_fact.quantities[0], [anchor]):
            continue
        clause = read.clause_at(anchor.start)
        low, high = clause.sentence_start, clause.sentence_end
        quantities = [own for own in read.quantities if low <= own.start < high]
        indices = [read.find_word(word, ignore_marks) for word in words]
        has_words = all(any(low <= read.words[place].start < high for place in places) for places in indices)
        if has_words and all(is_value_among(wanted, quantities) for wanted in read_fact.quantities):
            return True
    return False


def is_value_among(wanted: Quantity, quantities: Iterable[Quantity]) -> bool:
    """Return whether a quantity is one of others, or an end of a range of times; bounds do not count."""
    wanted = wanted._replace(bound="")
    for own in quantities:
        if is_same_quantity(wanted, own._replace(bound=""), unit_required=True):
            return True
        if is_time(own) and is_time(wanted) and any(is_same_quantity(wanted, end) for end in split_range(own)):
            return True
    return False


def judge_quantities(
    answer: str, reference: str, tolerance: Decimal = Decimal(0), question: str = ""
) -> list[FactJudgment]:
    """Return what an answer does with each quantity of the reference, in order; the words around it do not count.

    `tolerance` is absolute, in plain numbers. A spelled-out "one" is not asked for, and a number that is a part of a
    name in the question states nothing.

    >>> [judged.state for judged in judge_quantities("It is 3 km away.", "3,000 m in 2024")]
    ['stated', 'missing']
    """
    read_answer, read_reference, read_question = read_text(answer), read_text(reference), read_text(question)
    own_quantities = [own for own in read_answer.quantities if not is_in_name(own, read_answer, read_question)]
    limit = ExpectedLimit("", False)
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
            judgments.append(judge_missing_quantity(text, text, wanted, read_answer, read_question, limit))
            continue
        # Of the words of the question, only those that tell whose number it is count.
        judge, owner_judge = (
            _FactJudge(
                FactTexts(
                    text,
                    read_text(text),
                    read_answer,
                    asked,
                    read_text(""),
                    (read_question, read_question, read_reference),
                    read_reference.quantities,
                    limit,
                )
            )
            for asked in (read_text(""), read_question)
        )
        judged = []
        for own in agreeing[:_MOST_OCCURRENCES]:
            clause = narrow_clause(read_answer.clause_at(own.start), own.start)
            spot = Occurrence(clause, [(own.start, own.end)], False)
            judgment = judge.judge_occurrence(spot)
            judged.append(owner_judge.judge_owner(spot) if judgment.state == "stated" else judgment)
        judgments.append(min(judged, key=lambda judgment: _ORDER[judgment.state]))
    return judgments


def _find_counted_noun(wanted: Quantity, text: ReadText) -> Word | None:
    """Return the noun that a plain number counts: "steps" in "214 steps"."""
    if not is_plain(wanted):
        return None
    index = bisect_left(text.words, wanted.end, key=get_start)
    word = text.words[index] if index < len(text.words) else None
    is_next = word is not None and word.start - wanted.end <= 1 and word.kind == "word"
    return word if is_next else None


def _may_count(own: Quantity, noun: Word, answer: ReadText, quantities: Sequence[Quantity]) -> bool:
    """Whether a number of an answer may count what a noun says: "214 feet" do not if "168 steps" are there too."""
    places = [answer.words[index].start for index in answer.find_word(noun, True)]
    counted = [other for other in quantities if any(0 <= start - other.end <= 1 for start in places)]
    return not counted or own in counted


_FORBIDDEN = re.compile(
    r"\b(?:cannot|can't|can not|may not|must not|mustn't|won't|(?:is|are|will) not|isn't|aren't|never"
    r"|khong (?:duoc|the)(?: phep)?)"
    r" (?:be )?(?P<verb>[a-z]{4,})"
)


def find_reversed_statement(answer: str, reference: str) -> str:
    """Return what the reference forbids or denies and the answer affirms, in words; "" if there is nothing such.

    >>> find_reversed_statement("Keep it for 14 days and renew it twice.", "14 days; it cannot be renewed.")
    'cannot be renewed (the answer says "renew" without denying it)'
    """
    read_answer, read_reference = read_text(answer), read_text(reference)
    for match in _FORBIDDEN.finditer(read_reference.plain):
        index = bisect_left(read_reference.words, match.start("verb"), key=get_start)
        if index == len(read_reference.words) or read_reference.words[index].start != match.start("verb"):
            continue
        verb = read_reference.words[index]
        places = [read_answer.words[place] for place in read_answer.find_word(verb, not read_answer.has_marks)]
        if not places or any(_is_in_negated_clause(word, read_answer) for word in places):
            continue
        denied = read_reference.text[match.start() : match.end()]
        affirmed = read_answer.text[places[0].start : places[0].end]
        return f'{denied} (the answer says "{affirmed}" without denying it)'
    return ""


def _is_in_negated_clause(word: Word, text: ReadText) -> bool:
    clause = narrow_clause(text.clause_at(word.start), word.start)
    sentence = text.plain[clause.sentence_start : clause.sentence_end]
    return NEGATION.search(sentence) is not None or sentence.rstrip().endswith("?") or has_exception(text)
