"""Whether an answer states a fact: stated, denied, missing, or unknown where the rules cannot tell.

The words of a fact may come in another order and inflection, its quantities in another form; numbers and names must be
there. A match is undone by a negation, by a quantifier ("none of", "few"), by words for a myth and by a bound ("less
than 12 days"). Doubt ("maybe"), another subject than the question's, and words that are only partly there leave it
unknown.
English and Vietnamese, with or without diacritics.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from assay.text.citation_markers import remove_citation_markers
from assay.text.claim_support import find_opposite
from assay.text.markup import remove_markup
from assay.text.normalisation import fold_in_place, normalise_nfc
from assay.text.quantities import Quantity, find_measures, is_same_quantity, split_glued_units, split_range
from assay.text.statement_cues import (
    DENIED_AFTER,
    DISJUNCTION,
    DOUBT,
    MYTH,
    NEGATED_AFTER,
    NEGATION,
    PARTIAL_QUANTIFIER,
    PAST_AFTER,
    PAST_BEFORE,
    PRESENT,
    RESTRICTION,
    WRONG,
    count_negations,
)
from assay.text.tokens import classify_word, find_token_spans
from assay.text.units import PLAIN, TIME

FactState = Literal["stated", "denied", "missing", "unknown"]
"""What an answer does with a fact. Only `stated` counts for it, `denied` and `missing` count against it."""


class FactJudgment(NamedTuple):
    """What an answer does with one fact, and why in words ("" if it is stated)."""

    fact: str
    state: FactState
    reason: str = ""


# ── words and clauses ────────────────────────────────────────────────────────────────────────────────────────────


class _Word(NamedTuple):
    kind: str
    key: str
    marks: str  # diacritics that folding removed
    folded: str
    is_capitalised: bool
    start: int
    end: int


def _get_start(span: _Word | _Clause) -> int:
    return span.start


class _Clause(NamedTuple):
    """A clause of an answer: its span, and that of its sentence."""

    start: int
    end: int
    sentence_start: int
    sentence_end: int


class _ReadText:
    """A text without markup: its words outside of quantities, its quantities and its clauses."""

    def __init__(self, text: str) -> None:
        self.text = split_glued_units(normalise_nfc(remove_markup(remove_citation_markers(text, only_sure=True))))
        self.plain = fold_in_place(self.text)
        self.quantities = find_measures(self.text)
        self.words = list(self._read_words())
        self.has_marks = any(word.marks for word in self.words)
        self._clauses: list[_Clause] | None = None
        self._positions: dict[str, list[int]] | None = None

    def _read_words(self) -> Iterator[_Word]:
        pending = iter(self.quantities)
        quantity = next(pending, None)
        for start, end in find_token_spans(self.plain):
            while quantity is not None and quantity.end <= start:
                quantity = next(pending, None)
            if quantity is not None and quantity.start < end and not quantity.is_spelled_one:
                continue
            raw = self.text[start:end]
            kind, key, marked = classify_word(raw)
            yield _Word(
                kind, key, marked.rpartition("~")[2], self.plain[start:end], raw[:1].isupper(), start, end
            )  # fmt: skip

    @property
    def clauses(self) -> list[_Clause]:
        """The clauses in order."""
        if self._clauses is None:
            self._clauses = list(_split_clauses(self.plain, self.quantities))
        return self._clauses

    def clause_at(self, position: int) -> _Clause:
        """Return the clause that holds a position."""
        index = bisect_right(self.clauses, position, key=_get_start) - 1
        return self.clauses[max(index, 0)]

    def find_word(self, word: _Word, ignore_marks: bool) -> list[int]:
        """Return the indices of the words that are the same word, perhaps inflected."""
        if self._positions is None:
            self._positions = {}
            for index, own in enumerate(self.words):
                self._positions.setdefault(own.key, []).append(index)
        indices = self._positions.get(word.key, [])
        if indices and (not ignore_marks and (word.marks or self.has_marks)):
            indices = [index for index in indices if self.words[index].marks == word.marks]
        if indices or len(word.key) < _SHORTEST_SIMILAR or word.kind == "id":
            return indices
        prefix = word.key[:_SHARED_PREFIX]
        similar = [key for key in self._positions if key.startswith(prefix) and _is_similar(key, word.key)]
        indices = sorted(index for key in similar for index in self._positions[key])
        return [index for index in indices if not _is_other_agent(word.folded, self.words[index].folded)]


_SHORTEST_SIMILAR, _SHARED_PREFIX, _LEAST_SHARED = 5, 4, 0.67


def _is_similar(key: str, other: str) -> bool:
    """Whether two stems share most of their letters from the first: "approv" and "approval"."""
    shared = 0
    for letter, other_letter in zip(key, other, strict=False):
        if letter != other_letter:
            break
        shared += 1
    return shared >= _LEAST_SHARED * max(len(key), len(other))


def _is_other_agent(word: str, other: str) -> bool:
    """Whether two words name who does and to whom it is done: "employer" and "employee"."""
    endings = {name.removesuffix("s")[-2:] for name in (word, other)}
    return "ee" in endings and not endings.isdisjoint(("er", "or"))


_SENTENCE_END = re.compile(r"[.!?…](?=[\s\"')]|$)|\n|[;；。！？]")
_CLAUSE_CUT = re.compile(
    r"[:,]? (?=(?:but|however|though|although|whereas|while|nhung|tuy nhien|con|chu khong phai|ma la)\b)"
    r"|,? (?=(?:in fact|actually|instead|in reality|thuc ra|thuc te)\b)"
    r"|: | - |, (?=(?:not|khong phai|chu)\b)|,? (?=rather than\b|instead of\b|thay vi\b)"
    r"| (?=and (?:is|are|was|were|must|should|may|can|will|has|have|had|be|get|the)\b)|, (?=(?:or|hoac) )"
)


def _split_clauses(plain: str, quantities: Sequence[Quantity]) -> Iterator[_Clause]:
    start = 0
    inside = [(quantity.start, quantity.end) for quantity in quantities]
    for match in (*_SENTENCE_END.finditer(plain), None):
        end = match.end() if match is not None else len(plain)
        index = bisect_right(inside, (end,)) - 1
        if match is not None and index >= 0 and inside[index][0] < end < inside[index][1]:
            continue  # the point of "2.15 p.m."
        if plain[start:end].strip():
            cuts = [cut.end() for cut in _CLAUSE_CUT.finditer(plain, start, end)]
            for first, last in pairwise([start, *cuts, end]):
                if first < last:
                    yield _Clause(first, last, start, end)
        start = end


_LONGEST = 200_000  # characters of an answer that are read
_LONGEST_CACHED = 4000
_read_cached = lru_cache(maxsize=4096)(_ReadText)  # facts of the golden set meet many answers, and an answer many facts


def _read_text(text: str) -> _ReadText:
    return _read_cached(text) if len(text) <= _LONGEST_CACHED else _ReadText(text[:_LONGEST])


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
    read_answer = _read_text(answer)
    read_question = _read_text(question)
    expected = [quantity for fact in facts for quantity in _read_text(fact).quantities]
    familiar = [read_question, _read_text(context), *map(_read_text, facts)]
    judgments = []
    for fact in facts:
        read_fact = _read_text(fact)
        if read_fact.words or read_fact.quantities:
            judge = _FactJudge(fact, read_fact, read_answer, read_question, familiar, expected)
            judgments.append(judge.judge_fact())
        elif fact.strip():
            is_there = read_fact.plain.strip() in read_answer.plain
            judgments.append(FactJudgment(fact, "stated") if is_there else FactJudgment(fact, "missing", "not there"))
    return tuple(judgments)


_PROHIBITION = re.compile(
    r"\b(?:not (?:be )?(?:allowed|permitted)|must not|mustn't|must never|may not|may never|cannot|can't|can not"
    r"|should not|should never|shall not|(?<!not )forbidden|(?<!not )prohibited|khong duoc)\b"
)


_BEFORE_NUMBER = re.compile(r"[a-z ]*[a-z](?= )")


def _judge_missing_quantity(
    fact: str, text: str, quantity: Quantity, answer: _ReadText, question: _ReadText
) -> FactJudgment:
    """Return the judgment of a quantity that the answer does not state; a bound ("more than 12 days") denies it.

    A bound that is forbidden states its end: what must not take more than 12 days may take 12 days. So does a bound
    that the question asks for: "below 18%" answers "Below what share?" with 18%.
    """
    for own in answer.quantities:
        if own.bound and is_same_quantity(quantity, own._replace(bound="")):
            if _asks_for_bound(answer.plain[own.start : own.end], question):
                return FactJudgment(fact, "stated")
            clause = _narrow_clause(answer.clause_at(own.start), own.start)
            before = answer.plain[clause.start : own.start]
            if own.bound in (">", "<") and _PROHIBITION.search(before) and count_negations(before) <= 1:
                return FactJudgment(fact, "stated")
            return FactJudgment(fact, "denied", f"it bounds {text} instead of stating it")
        if any(is_same_quantity(quantity, end) for end in split_range(own)):
            range_text = answer.text[own.start : own.end]
            return FactJudgment(fact, "missing", f'it states the range "{range_text}", not {text}')
    ends = split_range(quantity)
    if ends and all(any(is_same_quantity(end, own) for own in answer.quantities) for end in ends):
        return FactJudgment(fact, "unknown", f"it states both ends of {text} apart")
    return FactJudgment(fact, "missing", f"{text} is not there")


def _asks_for_bound(bounded: str, question: _ReadText) -> bool:
    """Whether the words before the number of a bounded quantity stand in the question."""
    words = _BEFORE_NUMBER.match(bounded)
    return words is not None and f" {words[0].strip()} " in f" {question.plain} "


def _is_in_name(own: Quantity, answer: _ReadText, question: _ReadText) -> bool:
    """Whether a plain number is a part of a name that the question has: the 40 of "Kestrel 40" is no quantity."""
    if any(reading.dimension != PLAIN for reading in own.readings):
        return False
    name = answer.plain[: own.start].rstrip()
    word = name[name.rfind(" ") + 1 :]
    if not word.isalpha():
        return False
    return f"{word} {answer.plain[own.start : own.end]}" in question.plain


class _Occurrence(NamedTuple):
    """Where a fact may be stated: the spans of its parts that are in one clause, and parts that are elsewhere."""

    clause: _Clause
    spans: list[tuple[int, int]]
    is_scattered: bool


def _narrow_clause(clause: _Clause, position: int) -> _Clause:
    """Return the part of a clause and its sentence near a position, so that the work on endless ones is bounded."""
    low, high = position - _CONTEXT, position + _CONTEXT
    return _Clause(
        max(clause.start, low), min(clause.end, high), max(clause.sentence_start, low), min(clause.sentence_end, high)
    )


def _find_nearest(spans: Sequence[tuple[int, int]], position: int) -> tuple[int, int]:
    """Return the span, of some in order, that starts nearest to a position."""
    index = bisect_left(spans, (position,))
    return min(spans[max(0, index - 1) : index + 1], key=lambda span: abs(span[0] - position))


_PART = re.compile(r", ")
_REACH = 160  # characters on either side in which words for past and present are searched
_MOST_OCCURRENCES = 30  # that are examined
_CONTEXT = 400  # characters on either side that are examined
_MOST_WORDS_EACH, _MORE_WORDS = 1, 4  # words from the first to the last part of a fact: one for each part, and four
_ORDER: dict[FactState, int] = {"stated": 0, "unknown": 1, "denied": 2, "missing": 3}


class _FactJudge:
    """Judges one fact against one answer."""

    def __init__(
        self,
        fact: str,
        read_fact: _ReadText,
        answer: _ReadText,
        question: _ReadText,
        familiar: Sequence[_ReadText],
        expected: Sequence[Quantity],
    ) -> None:
        self.fact, self.read_fact, self.answer, self.question = fact, read_fact, answer, question
        self.familiar, self.expected = familiar, expected
        self.ignore_marks = not (read_fact.has_marks and answer.has_marks)
        self.is_negative = count_negations(read_fact.plain) % 2 == 1
        content = [word for word in read_fact.words if word.kind != "stop" and not NEGATION.fullmatch(word.folded)]
        self.content = content if content or read_fact.quantities else list(read_fact.words)

    def judge_fact(self) -> FactJudgment:
        """Return the best state over all places of the answer where the fact may be stated."""
        agreeing = []
        for quantity in self.read_fact.quantities:
            agreeing.append(self._find_quantity(quantity))
            if not agreeing[-1]:
                text = self.read_fact.text[quantity.start : quantity.end]
                judgment = _judge_missing_quantity(self.fact, text, quantity, self.answer, self.question)
                if judgment.state == "stated" and (self.content or len(self.read_fact.quantities) > 1):
                    return judgment._replace(state="unknown", reason=f"it states {text} as a bound")
                return judgment
        places = [self.answer.find_word(word, self.ignore_marks) for word in self.content]
        absent = [word for word, indices in zip(self.content, places, strict=True) if not indices]
        names = [word for word in absent if self._is_name(word)]
        if names:
            return FactJudgment(self.fact, "missing", f"{self._spell(names)} is not there")
        # Syllables of Vietnamese that the question has too may be halves of other words.
        repeats = [] if self.read_fact.has_marks else self.content
        informative = [word for word in self.content if word not in repeats or not self.question.find_word(word, True)]
        needed = informative or ([] if agreeing else self.content)
        lacking = [word for word in needed if word in absent]
        if lacking:
            return self._judge_lacking_words(needed, lacking, bool(agreeing))
        found_words = [indices for indices in places if indices]
        needed_places = [
            [(self.answer.words[index].start, self.answer.words[index].end) for index in indices]
            for indices in found_words
        ]
        quantity_places = [[(quantity.start, quantity.end) for quantity in found] for found in agreeing]
        judgments = [self.judge_occurrence(spot) for spot in self._occurrences(quantity_places, needed_places)]
        return min(judgments, key=lambda judgment: _ORDER[judgment.state])

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
        if not self.content:
            agreeing = [quantity for quantity in agreeing if not _is_in_name(quantity, self.answer, self.question)]
        if not agreeing and any(reading == _ONE for reading in expected.readings):
            agreeing = [Quantity((), word.start, word.end) for word in self.answer.words if word.folded in _ONES]
        return agreeing

    def _is_stated_end(self, expected: Quantity, stated: Quantity) -> bool:
        """Whether a range states a quantity as one of its ends.

        "10am to 4pm" states when something begins and when it ends; "3 to 5 days" states neither 3 nor 5 days, unless
        the facts have both.
        """
        ends = split_range(stated)
        if not any(is_same_quantity(expected, end, unit_required=True) for end in ends):
            return False
        if all(reading.dimension == TIME for reading in stated.readings):
            return True
        return all(any(is_same_quantity(wanted, end) for wanted in self.expected) for end in ends)

    def _judge_lacking_words(
        self, needed: Sequence[_Word], lacking: Sequence[_Word], has_quantity: bool
    ) -> FactJudgment:
        reason = f"{self._spell(lacking)} is not there"
        opposites = self._find_opposites(lacking)
        if opposites:
            return FactJudgment(self.fact, "denied", opposites)
        if has_quantity or 2 * len(lacking) <= len(needed):
            return FactJudgment(self.fact, "unknown", reason)
        return FactJudgment(self.fact, "missing", reason)

    def _find_opposites(self, lacking: Sequence[_Word]) -> str:
        words = [word.folded for word in self.answer.words]
        for word in lacking:
            opposite = find_opposite(word.folded, words)
            if opposite is not None:
                return f'it says "{opposite}" and not "{word.folded}"'
        return ""

    def _is_name(self, word: _Word) -> bool:
        """Whether a word of the fact is a name or an identifier, which no other word can stand for."""
        if word.kind != "name":
            return word.kind == "id"
        # The first word may be capitalised because a sentence begins with it.
        return word is not self.read_fact.words[0] or all(other.is_capitalised for other in self.content)

    def _spell(self, words: Sequence[_Word]) -> str:
        return ", ".join(f'"{self.read_fact.text[word.start : word.end]}"' for word in words)

    # ── where it is ──────────────────────────────────────────────────────────────────────────────────────────────

    def _occurrences(
        self, quantity_places: list[list[tuple[int, int]]], word_places: list[list[tuple[int, int]]]
    ) -> Iterator[_Occurrence]:
        """Yield the places around each occurrence of the part that occurs least often; quantities come first."""
        parts = [*quantity_places, *word_places]
        anchor = min(quantity_places or word_places, key=len)
        for start, end in anchor[:_MOST_OCCURRENCES]:
            clause = _narrow_clause(self.answer.clause_at(start), start)
            nearest = sorted(_find_nearest(part, start) if part is not anchor else (start, end) for part in parts)
            spans = [span for span in nearest if clause.start <= span[0] < clause.end]
            yield _Occurrence(clause, spans, self._count_words(nearest) > _MOST_WORDS_EACH * len(parts) + _MORE_WORDS)

    def _count_words(self, spans: Sequence[tuple[int, int]]) -> int:
        """Return how many words lie from the first to the last span."""
        first, last = (bisect_left(self.answer.words, at, key=_get_start) for at in (spans[0][0], spans[-1][0]))
        return last - first

    def judge_occurrence(self, spot: _Occurrence) -> FactJudgment:
        """Return what the answer does with the fact at one place where its parts are."""
        plain, clause = self.answer.plain, spot.clause
        sentence = plain[clause.sentence_start : clause.sentence_end]
        clause_text = plain[clause.start : clause.end]
        end = max(last for _, last in spot.spans)
        after = plain[end : clause.end]
        if self._is_called_wrong(clause_text, after):
            return FactJudgment(self.fact, "denied", "it is called wrong")
        polarity = self._judge_polarity(spot)
        if polarity is not None:
            return polarity
        doubt = self._find_doubt(spot, sentence, after)
        if doubt:
            return FactJudgment(self.fact, "unknown", doubt)
        if spot.is_scattered:
            return FactJudgment(self.fact, "unknown", "its words are far apart")
        other = self._find_other_subject(spot)
        return FactJudgment(self.fact, "unknown", other) if other else FactJudgment(self.fact, "stated")

    def _is_called_wrong(self, clause_text: str, after: str) -> bool:
        """Whether the clause calls the fact a myth or wrong; "a wrong token" only describes a thing."""
        own = self.read_fact.plain
        if MYTH.search(clause_text) and not MYTH.search(own):
            return True
        denial = DENIED_AFTER.match(after)
        if denial is not None and (denial["predicate"] or self.read_fact.quantities):
            return True
        has_wrong = WRONG.search(clause_text) is not None and WRONG.search(own) is None
        return has_wrong and bool(self.read_fact.quantities)

    def _judge_polarity(self, spot: _Occurrence) -> FactJudgment | None:
        """Return the judgment if the clause is negated where the fact is not, or the other way round."""
        plain, clause = self.answer.plain, spot.clause
        first, last = spot.spans[0][0], max(end for _, end in spot.spans)
        parts = [match.end() for match in _PART.finditer(plain, clause.start, first)]
        part_start = parts[-1] if parts else clause.start
        region = plain[part_start:last]
        negations = [match for match in NEGATION.finditer(region) if match["none"] is None]
        is_negated = len(negations) % 2 == 1
        if is_negated != self.is_negative:
            if negations and RESTRICTION.search(region[: negations[0].start()]):
                return FactJudgment(self.fact, "unknown", "a part of its sentence is negated")
            if is_negated and DISJUNCTION.search(region[negations[-1].end() : first - part_start]):
                return FactJudgment(self.fact, "unknown", "what it is an alternative to is negated")
            return FactJudgment(self.fact, "denied", "it is negated" if is_negated else "its negation is missing")
        if not self.is_negative and NEGATED_AFTER.match(plain, last, clause.end):
            return FactJudgment(self.fact, "unknown", "what follows is negated")
        return None

    # ── doubt and other subjects ─────────────────────────────────────────────────────────────────────────────────

    def _find_doubt(self, spot: _Occurrence, sentence: str, after: str) -> str:
        clause, plain = spot.clause, self.answer.plain
        if sentence.rstrip().endswith("?"):
            return "it is in a question"
        own = self.read_fact.plain
        match = DOUBT.search(sentence)
        if match is not None and match[0] not in own:
            return f'it is in doubt ("{match[0]}")'
        partly = PARTIAL_QUANTIFIER.search(plain, clause.start, spot.spans[0][0])
        if partly is not None and partly[0] not in own and partly[0] not in self.question.plain:
            return f'it holds for a part ("{partly[0]}")'
        before = plain[max(clause.sentence_start, spot.spans[0][0] - _REACH) : spot.spans[0][0]]
        following = plain[max(end for _, end in spot.spans) :][:_REACH]
        if (PAST_BEFORE.search(before) or PAST_AFTER.match(following)) and PRESENT.search(following):
            return "it is about the past"
        return "another value stands next to it" if self._has_rival(spot) else ""

    def _has_rival(self, spot: _Occurrence) -> bool:
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
                    return self._is_comparable(quantity, neighbour)
        return False

    @staticmethod
    def _is_comparable(quantity: Quantity, neighbour: Quantity) -> bool:
        dimensions = {reading.dimension for reading in quantity.readings}
        return bool(dimensions & {reading.dimension for reading in neighbour.readings}) or bool(
            quantity.date and neighbour.date
        )

    def _find_other_subject(self, spot: _Occurrence) -> str:
        """Return how the sentence shows that it is about something else than the question, "" if it does not."""
        if not any(word.kind != "stop" for word in self.question.words):
            return ""
        clause, answer = spot.clause, self.answer
        begin, end = (bisect_left(answer.words, at, key=_get_start) for at in (clause.start, clause.end))
        in_clause = answer.words[begin:end]
        foreign = [word for word in in_clause if word.kind != "stop" and not self._is_familiar(word)]
        topic = [word for word in self.question.words if word.kind != "stop" and word.folded not in _ASKING]
        missing_topic = [word for word in topic if not self._is_in_sentence(word, clause)]
        first = bisect_left(answer.words, clause.sentence_start, key=_get_start)
        names = [word for word in foreign if word.kind in ("name", "id") and word is not answer.words[first]]
        if names and any(word.kind in ("name", "id") for word in missing_topic):
            return f'it is about "{answer.text[names[0].start : names[0].end]}"'
        if any(word.kind in ("name", "id") and word not in missing_topic for word in topic):
            return ""  # it names what the question names
        year = self._find_other_year(clause)
        if year:
            return f"it is about {year}"
        lead = self._find_lead(in_clause, spot)
        if lead and missing_topic and lead[0] in foreign and 2 * sum(word in foreign for word in lead) >= len(lead):
            return f'it may be about "{answer.text[lead[0].start : lead[-1].end]}"'
        is_strange = len(foreign) > _MOST_FOREIGN and 2 * len(foreign) > sum(word.kind != "stop" for word in in_clause)
        if is_strange and 2 * len(missing_topic) > len(topic):
            return "it may be about something else"
        return ""

    def _find_lead(self, in_clause: Sequence[_Word], spot: _Occurrence) -> list[_Word]:
        """Return the words before the first verb-like word of grammar or the first part of the fact: its subject."""
        lead: list[_Word] = []
        first_part = spot.spans[0][0]
        for word in in_clause:
            if len(lead) == 1 and lead[0] is in_clause[0] and word.folded in _OBJECT_STARTS:
                return []  # "Keep it …", "Hand the form …": what begins the sentence is an order and no subject
            if word.start >= first_part or word.folded in _AUXILIARIES or word.folded in _NO_SUBJECT:
                break
            if word.kind != "stop" and word.folded not in _GENERIC:
                lead.append(word)
        return lead[:_LONGEST_LEAD]

    def _find_other_year(self, clause: _Clause) -> str:
        """Return a number of the sentence that stands for one of the question, which has another ("1896", "2004")."""
        for asked in self.question.quantities:
            if any(is_same_quantity(asked, own) for own in self.answer.quantities):
                continue
            for own in self.answer.quantities:
                if not clause.sentence_start <= own.start < clause.sentence_end or not self._is_comparable(asked, own):
                    continue
                if not any(is_same_quantity(wanted, own) for wanted in self.expected):
                    return self.answer.text[own.start : own.end]
        return ""

    def _is_familiar(self, word: _Word) -> bool:
        return word.folded in _GENERIC or any(text.find_word(word, True) for text in self.familiar)

    def _is_in_sentence(self, word: _Word, clause: _Clause) -> bool:
        indices = self.answer.find_word(word, True)
        return any(clause.sentence_start <= self.answer.words[index].start < clause.sentence_end for index in indices)


_ONES = frozenset(("one", "mot"))
_ONE = ("", Decimal(1), Decimal(1))
_RIVAL_GAP = re.compile(r"[\s,;/|$€£]*+(?:(?:or|hoac|hay)(?: \w++)? )?[\s$€£]*+")
_MOST_FOREIGN = 3
_LONGEST_LEAD = 4
_ASKING = frozenset(
    """
    how long much many what which who whom whose when where why does do did is are was were can need needed happens
    happen kind often bao nhieu ai khi nao gi nao o dau the may la cua co duoc mot thi cac
    """.split()  # noqa: SIM905  # words are read easier than a list
)
_AUXILIARIES = frozenset(
    """
    is are was were be been has have had do does did can could may might must shall should will would get gets got need
    needs la duoc co phai can se da do bi
    """.split()  # noqa: SIM905  # words are read easier than a list
)
_NO_SUBJECT = frozenset(
    """
    it they you we he she i this that these those there please then yes no not nothing only ban no ho toi chung hay
    khong duoc vui xin theo voi vang
    """.split()  # noqa: SIM905  # words are read easier than a list
)
"""Words before which there is no subject that could be another one: pronouns, imperatives, negations."""
_OBJECT_STARTS = frozenset(("it", "them", "the", "a", "an", "your", "this", "these", "those", "no", "any", "all"))
_GENERIC = frozenset(
    """
    answer yes company policy rule rules document documents total number amount limit value figure employee employees
    staff worker workers team member members person people everyone everybody anyone customer customers user users
    each every all please note according exactly currently moi nhan vien so luong cong ty quy dinh tai lieu
    """.split()  # noqa: SIM905  # words are read easier than a list
)


def judge_quantities(
    answer: str, reference: str, tolerance: Decimal = Decimal(0), question: str = ""
) -> list[FactJudgment]:
    """Return what an answer does with each quantity of the reference, in order; the words around it do not count.

    `tolerance` is absolute, in plain numbers. A spelled-out "one" is not asked for, and a number that is a part of a
    name in the question states nothing.

    >>> [judged.state for judged in judge_quantities("It is 3 km away.", "3,000 m in 2024")]
    ['stated', 'missing']
    """
    read_answer, read_reference, read_question = _read_text(answer), _read_text(reference), _read_text(question)
    own_quantities = [own for own in read_answer.quantities if not _is_in_name(own, read_answer, read_question)]
    judgments = []
    for wanted in read_reference.quantities:
        if wanted.is_spelled_one:
            continue
        text = read_reference.text[wanted.start : wanted.end]
        agreeing = [own for own in own_quantities if is_same_quantity(wanted, own, tolerance)]
        if not agreeing:
            judgments.append(_judge_missing_quantity(text, text, wanted, read_answer, read_question))
            continue
        judge = _FactJudge(text, _read_text(text), read_answer, _read_text(""), (), read_reference.quantities)
        judged = []
        for own in agreeing[:_MOST_OCCURRENCES]:
            clause = _narrow_clause(read_answer.clause_at(own.start), own.start)
            judged.append(judge.judge_occurrence(_Occurrence(clause, [(own.start, own.end)], False)))
        judgments.append(min(judged, key=lambda judgment: _ORDER[judgment.state]))
    return judgments


def combine_states(states: Iterable[FactState]) -> bool | None:
    """Return whether all facts are stated: False if any is denied or missing, else None if any is unknown.

    >>> [combine_states(states) for states in (["stated"], ["stated", "unknown"], ["unknown", "missing"])]
    [True, None, False]
    """
    distinct = set(states)
    if distinct & {"denied", "missing"}:
        return False
    return None if "unknown" in distinct else True
