"""What a reference keeps apart, and an answer says together.

"Accounting records it, the manager approves it" gives recording to accounting. An answer that says of the manager what
the reference says of accounting, or of accounting what it says of the manager, has the words of the fact, and has them
with what belongs to another. So a fact passes only if no statement of the answer around it mixes the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise

from msgspec import Struct, structs

from assay.text.facts.cues.condition_cues import LEADING_OR_CONDITION, OR
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.word_classes import PREDICATES
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.identifiers import list_identifiers
from assay.text.facts.presence.occurrences import Occurrence, find_stated_quantity
from assay.text.facts.reading.read_text import CLAUSE_REACH, ReadText, cache_of_texts
from assay.text.facts.reading.text_parts import LIST_CUT, Part, list_quantities, split_parts
from assay.text.facts.subjects.worked_out_values import is_worked_out
from assay.text.languages import is_vietnamese
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import Quantity, remove_bound
from assay.text.quantities.quantity_agreement import is_comparable, is_same_quantity, is_same_value
from assay.text.quantities.quantity_index import QuantityIndex

_LEADING = build_pattern(rf"{LEADING_OR_CONDITION}\b")
"""Begins a phrase before a statement or a condition after it, which belongs to that statement."""
_ALTERNATIVE = build_pattern(rf"{OR}\b")
_BRACKETS = compile_pattern(r"\([^()]*\)?")
_FEWEST_WORDS, _SYLLABLES = 1, 2  # a word of Vietnamese has two syllables
_LONGEST_SYLLABLE = 7  # letters of a Vietnamese one: "nghiêng"


class RoleTerm(Struct, frozen=True):
    """What two texts may have in common: a word, or two syllables of Vietnamese, of which one is often half a word."""

    key: str
    marks: str
    start: int
    end: int


class RoleStatement(Struct, frozen=True):
    """A part of a text with the phrases that belong to it: its terms and its quantities, without their bounds."""

    part: Part
    terms: Sequence[RoleTerm]
    quantities: Sequence[Quantity]


class RoleTexts(Struct, frozen=True):
    """What a case says: its question, its reference and its facts. `ignores_marks`: words are compared without their
    diacritics, because fact, answer or reference are written without."""

    question: ReadText
    reference: ReadText
    facts: tuple[ReadText, ...]
    ignores_marks: bool


class RoleContrast:
    """What a reference says only with the fact, and only of something else: terms by their keys, and values."""

    def __init__(
        self, case: RoleTexts, own: Sequence[RoleStatement], others: Sequence[RoleStatement], asked: Sequence[RoleTerm]
    ) -> None:
        self.ignores_marks = case.ignores_marks
        self.before = [statement for statement in others if statement.part.start < own[0].part.start]
        own_keys, other_keys = self.list_keys(own), self.list_keys(others)
        asked_keys = {self.get_key(term) for term in asked}
        self.only_own, self.only_others = own_keys - other_keys, other_keys - own_keys - asked_keys
        of_facts = {word.key for fact in case.facts for word in fact.words}
        self.around_fact = asked_keys | {key for key in own_keys if of_facts.isdisjoint(key[0].split())}
        own_values, other_values = _list_values(own), _list_values(others)
        expected = [quantity for fact in case.facts for quantity in fact.quantities]
        explained = QuantityIndex(
            [*own_values, *map(remove_bound, expected), *map(remove_bound, case.question.quantities)]
        )
        others_stated = QuantityIndex(other_values)
        self.values_of_others = QuantityIndex([value for value in other_values if not _is_among(value, explained)])
        self.values_of_own = QuantityIndex([value for value in own_values if not _is_among(value, others_stated)])

    def get_key(self, term: RoleTerm) -> tuple[str, str]:
        """Return by what a term is compared."""
        return term.key, "" if self.ignores_marks else term.marks

    def list_keys(self, statements: Iterable[RoleStatement]) -> set[tuple[str, str]]:
        """Return by what the terms of statements are compared."""
        return {self.get_key(term) for statement in statements for term in statement.terms}

    def find_foreign(self, statement: RoleStatement) -> RoleTerm | Quantity | None:
        """Return what a statement of an answer has that the reference only says of something else, None if nothing."""
        terms = (term for term in statement.terms if self.get_key(term) in self.only_others)
        values = (value for value in statement.quantities if _is_among(value, self.values_of_others))
        return next(terms, None) or next(values, None)

    def find_own(self, statement: RoleStatement) -> RoleTerm | Quantity | None:
        """Return what a statement of an answer has that the reference only says with the fact, None if nothing."""
        terms = (term for term in statement.terms if self.get_key(term) in self.only_own)
        values = (value for value in statement.quantities if _is_among(value, self.values_of_own))
        return next(terms, None) or next(values, None)

    def is_said_before(self, foreign: RoleTerm | Quantity) -> bool:
        """Return whether the reference has something too before it comes to the fact."""
        if isinstance(foreign, Quantity):
            return _is_among(foreign, QuantityIndex(_list_values(self.before)))
        return self.get_key(foreign) in self.list_keys(self.before)

    def has_own_word(self, statement: RoleStatement) -> bool:
        """Return whether a statement has a word that the reference only says with the fact, and that is none of it."""
        return any(self.get_key(term) in self.only_own & self.around_fact for term in statement.terms)

    def is_linked(self, statement: RoleStatement) -> bool:
        """Return whether a statement has a word of the question, or one that the reference has around the fact."""
        return any(self.get_key(term) in self.around_fact for term in statement.terms)


def judge_roles(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact around which an answer mixes what the reference keeps apart; None otherwise."""
    if not texts.question.words or not texts.reference.words:
        return None
    ignores_marks = texts.ignore_marks or not texts.reference.has_marks
    stated = find_stated_quantity(texts.answer, occurrence)
    if stated is not None and is_worked_out(stated, texts.answer.quantities):
        return None  # it is the sum or the difference of what the reference keeps apart
    contrast = _contrast_roles(RoleTexts(texts.question, texts.reference, tuple(texts.facts), ignores_marks))
    if contrast is None:
        return None
    in_syllables = is_vietnamese(texts.question.text)
    low, high = max(0, occurrence.start - CLAUSE_REACH), min(len(texts.answer.plain), occurrence.start + CLAUSE_REACH)
    reason = _find_mixed(texts, contrast, _list_statements(texts.answer, low, high, in_syllables), occurrence)
    return FactJudgment(texts.fact, "unknown", reason) if reason else None


def find_crossed(question: ReadText, reference: ReadText, answer: ReadText) -> str:
    """Return how an answer gives to each of two things what the reference says of the other, in words; "" if it does
    not.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> texts = [read_text(text) for text in ("Who?", "Ann sings, and Bob plays.", "Bob sings, and Ann plays.")]
    >>> find_crossed(*texts)
    'the answer says "sings" and "Bob" together, the reference apart'
    """
    in_syllables = is_vietnamese(question.text)
    expected = _list_statements(reference, 0, len(reference.plain), in_syllables)
    if len(expected) < _FEWEST_CROSSED:
        return ""
    stated = _list_statements(answer, 0, min(len(answer.plain), 2 * CLAUSE_REACH), in_syllables)
    if len(stated) < _FEWEST_CROSSED:
        return ""
    ignores_marks = not (reference.has_marks and answer.has_marks)
    owners = _StatementOwners(expected, ignores_marks=ignores_marks)
    seen: dict[tuple[int, int], tuple[str, str]] = {}
    for statement in stated:
        named = owners.list_owned(statement, answer.text)
        for one, other in combinations(sorted(named), 2):
            before = seen.setdefault((one, other), (named[one], named[other]))
            if before[0] != named[one] and before[1] != named[other]:
                return f'the answer says "{before[0]}" and "{before[1]}" together, the reference apart'
    return ""


_FEWEST_CROSSED = 2
"""Statements of a reference of which an answer may mix two."""


class _StatementOwners:
    """Which statement of a reference alone has a term or a value."""

    def __init__(self, statements: Sequence[RoleStatement], *, ignores_marks: bool) -> None:
        self.ignores_marks = ignores_marks
        self.by_term: dict[tuple[str, str], set[int]] = {}
        values: list[Quantity] = []
        self.owners_of_values: list[int] = []
        for number, statement in enumerate(statements):
            for term in statement.terms:
                self.by_term.setdefault(self._get_key(term), set()).add(number)
            values += statement.quantities
            self.owners_of_values += [number] * len(statement.quantities)
        self.values = QuantityIndex(values)

    def _get_key(self, term: RoleTerm) -> tuple[str, str]:
        return term.key, "" if self.ignores_marks else term.marks

    def list_owned(self, statement: RoleStatement, text: str) -> dict[int, str]:
        """Return the statements of the reference of which a statement has something that no other has, with the first
        such thing as it is written in a text."""
        owned: dict[int, str] = {}
        for term in statement.terms:
            owners = self.by_term.get(self._get_key(term), set())
            if len(owners) == 1:
                owned.setdefault(min(owners), text[term.start : term.end])
        for value in statement.quantities:
            places = [
                at for at in self.values.iterate_places(value) if is_same_value(self.values.quantities[at], value)
            ]
            owners = {self.owners_of_values[place] for place in places}
            if len(owners) == 1:
                owned.setdefault(min(owners), text[value.start : value.end])
        return owned


@lru_cache(maxsize=32)
def _contrast_roles(case: RoleTexts) -> RoleContrast | None:
    """Return what a reference keeps apart, None if that is nothing. All facts of a case ask for the same."""
    in_syllables = is_vietnamese(case.question.text)
    reference = _list_statements(case.reference, 0, len(case.reference.plain), in_syllables)
    if len(reference) == 1:
        return None
    holders = _find_holders(case, [statement.part for statement in reference])
    own = [statement for number, statement in enumerate(reference) if number in holders]
    others = [statement for number, statement in enumerate(reference) if number not in holders]
    if not own or not others:
        return None
    asked = _list_terms(case.question, 0, len(case.question.plain), in_syllables)
    return RoleContrast(case, own, others, asked)


def _find_mixed(
    texts: FactTexts, contrast: RoleContrast, answer: Sequence[RoleStatement], occurrence: Occurrence
) -> str:
    """Return how the answer mixes what the reference keeps apart, in words; "" if it does not.

    A statement of it has both, or it names something else first, and then the fact without a word of what is asked. A
    fact whose own statement has only its own words is not mixed up by others: a verb may stand once for all of them.
    """
    text = texts.answer.text
    holder = next((one for one in answer if one.part.start <= occurrence.start < one.part.end), None)
    if holder is not None and contrast.find_foreign(holder) is None and contrast.has_own_word(holder):
        return ""
    first = ""
    for statement in answer:
        foreign = contrast.find_foreign(statement)
        if foreign is not None:
            named = text[foreign.start : foreign.end]
            own = contrast.find_own(statement)
            if own is not None:
                return f'the answer says "{named}" and "{text[own.start : own.end]}" together, the reference apart'
            if not first and not contrast.is_said_before(foreign):
                first = named
        elif first and statement is holder and not contrast.is_linked(statement):
            return f'the answer names "{first}" first, and this only after it'
    return ""


def _list_values(statements: Iterable[RoleStatement]) -> list[Quantity]:
    return [value for statement in statements for value in statement.quantities]


def _is_among(value: Quantity, values: QuantityIndex) -> bool:
    return any(is_same_quantity(other, value) for other in values.iterate_candidates(value))


@cache_of_texts(maxsize=512)
def _list_statements(text: ReadText, low: int, high: int, in_syllables: bool) -> Sequence[RoleStatement]:
    statements, identifiers = [], list_identifiers(text.text)
    for part in _join_phrases(text, _split_brackets(text, split_parts(text, low, high)), in_syllables):
        inside = [remove_bound(own) for own in list_quantities(text, part.start, part.end)]
        terms = [
            RoleTerm(own.name, "", own.start, own.end) for own in identifiers if part.start <= own.start < part.end
        ]
        terms += _list_terms(text, part.start, part.end, in_syllables)
        statements.append(RoleStatement(part, terms, inside))
    return statements


@cache_of_texts(maxsize=1024)
def _list_terms(text: ReadText, low: int, high: int, in_syllables: bool) -> Sequence[RoleTerm]:
    """Return the terms between two positions: words, or in Vietnamese pairs of syllables and what is no syllable."""
    words = text.list_words(low, high)
    subjects = [word for word in words if may_be_subject(word)]
    if not in_syllables:
        return [
            RoleTerm(word.key, word.marks, word.start, word.end) for word in subjects if word.folded not in PREDICATES
        ]
    terms = [
        RoleTerm(word.key, word.marks, word.start, word.end)
        for word in words
        if word.kind == "id" or len(word.folded) > _LONGEST_SYLLABLE
    ]
    for first, second in pairwise(subjects):
        if second.start - first.end == 1:
            marks = f"{first.marks} {second.marks}"
            terms.append(RoleTerm(f"{first.key} {second.key}", marks, first.start, second.end))
    return terms


def _split_brackets(text: ReadText, parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts; what stands in brackets is one of its own unless it is a mere name: "the present rules (v3)"."""
    for part in parts:
        start = part.start
        for bracket in _BRACKETS.finditer(text.plain, part.start, part.end):
            if len(text.list_words(*bracket.span())) <= _FEWEST_WORDS:
                continue
            if start < bracket.start():
                yield structs.replace(part, start=start, end=bracket.start())
            yield structs.replace(part, start=bracket.start() + 1, end=bracket.end())
            start = bracket.end()
        if start < part.end:
            yield structs.replace(part, start=start)


def _join_phrases(text: ReadText, parts: Iterable[Part], in_syllables: bool) -> list[Part]:
    """Return parts in which a phrase before a statement, and what goes on with it after a comma, is one with it."""
    joined: list[Part] = []
    lead: Part | None = None
    for part in parts:
        begins = part.separation > LIST_CUT or not joined
        if lead is not None and text.plain[lead.end : part.start] == ", ":
            joined[-1] = structs.replace(lead, end=part.end)
            lead = None
            continue
        lead = part if begins and _LEADING.match(text.plain, part.start) else None
        if not begins and _goes_on(text, joined[-1], part, in_syllables):
            joined[-1] = structs.replace(joined[-1], end=part.end)
        else:
            joined.append(part)
    return joined


def _goes_on(text: ReadText, before: Part, part: Part, in_syllables: bool) -> bool:
    """Whether a part is a condition, an alternative ("or a phrase"), a single word or a name in brackets of the one
    before, and no value that may stand in place of another one there."""
    gap = text.plain[before.end : part.start]
    if gap == " (":
        closing = text.plain.find(")", part.start, part.end)
        return closing >= 0 and len(text.list_words(part.start, closing)) <= _FEWEST_WORDS
    values, values_before = (list_quantities(text, one.start, one.end) for one in (part, before))
    if any(is_comparable(value, other) for value in values for other in values_before):
        return False
    if _LEADING.match(text.plain, part.start) or (_ALTERNATIVE.match(text.plain, part.start) and not values):
        return True
    fewest = _FEWEST_WORDS * _SYLLABLES if in_syllables else _FEWEST_WORDS
    return gap == ", " and not values and len(text.list_words(part.start, part.end)) <= fewest


def _find_holders(case: RoleTexts, parts: Sequence[Part]) -> set[int]:
    """Return which parts of the reference hold a fact: with something of it that no part with more of it has."""
    reference = case.reference
    words_by_part = [{(word.key, word.marks) for word in reference.list_words(part.start, part.end)} for part in parts]
    parts_by_word: dict[tuple[str, str], list[int]] = {}
    for number, words in enumerate(words_by_part):
        for key, marks in words:
            parts_by_word.setdefault((key, marks), []).append(number)
            parts_by_word.setdefault((key, _ANY_MARKS), []).append(number)
    numbers: list[int] = []
    values: list[Quantity] = []
    for number, part in enumerate(parts):
        own_values = list_quantities(reference, part.start, part.end)
        numbers += [number] * len(own_values)
        values += own_values
    stated = QuantityIndex(values)
    holders: set[int] = set()
    for fact in case.facts:
        held = _list_held(case, fact, parts_by_word, numbers, stated)
        for number, own in held.items():
            in_better = {key for other in held.values() if len(other) > len(own) for key in other}
            if own - in_better:
                holders.add(number)
    return holders


_ANY_MARKS = "*"


def _list_held(
    case: RoleTexts,
    fact: ReadText,
    parts_by_word: Mapping[tuple[str, str], Sequence[int]],
    numbers: Sequence[int],
    stated: QuantityIndex,
) -> dict[int, set[str]]:
    """Return what of a fact each part of the reference holds that holds anything of it, by the number of the part: the
    keys of its words, and the numbers of its quantities. `numbers`: the part of each quantity of the reference."""
    ignores_marks = not (fact.has_marks and case.reference.has_marks)
    held: dict[int, set[str]] = {}
    for word in fact.words:
        if may_be_subject(word) and not case.question.find_word(word, True):
            for part in parts_by_word.get((word.key, _ANY_MARKS if ignores_marks else word.marks), ()):
                held.setdefault(part, set()).add(word.key)
    for number, wanted in enumerate(fact.quantities):
        for place in stated.iterate_places(wanted):
            if is_same_quantity(wanted, stated.quantities[place]):
                held.setdefault(numbers[place], set()).add(f"{number}.")
    return held
