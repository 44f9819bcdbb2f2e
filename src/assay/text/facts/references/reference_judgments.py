"""Whether an answer states what a reference in sentences asks of it.

That is judged as must-have facts are (`stated_facts`), and then with more caution, because nobody wrote it down as one:
words that are missing may be said in other words, so they leave the answer open and never make it wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct, structs

from assay.text.facts.additions.joined_by_or import find_joined_by_or, list_joined
from assay.text.facts.cues.condition_cues import ONLY_WORDS
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import AGREES_BY_NEGATION
from assay.text.facts.cues.limit_cues import UNFIT
from assay.text.facts.cues.question_cues import ASKS_HOW_TO
from assay.text.facts.cues.word_classes import GERMAN_AROUND_VALUE, ONES
from assay.text.facts.expected.yes_or_no import asks_whether, is_contrary_decision, read_decision
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.identifiers import list_identifiers, names_other_code
from assay.text.facts.presence.missing_quantities import names_other_number
from assay.text.facts.reading.exceptions import has_exception
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word, read_text
from assay.text.facts.reading.text_parts import LIST_CUT, split_parts
from assay.text.facts.references.denied_answers import put_denial_first, split_denied_answer
from assay.text.facts.references.list_members import check_members, list_members
from assay.text.facts.references.reference_facts import (
    ReferenceFacts,
    ReferenceKind,
    count_new_words,
    derive_reference_facts,
    limits_decision,
)
from assay.text.facts.references.unasked_clauses import leave_out_unasked
from assay.text.facts.stated_facts import has_added_member, judge_facts
from assay.text.quantities.quantity import Quantity, remove_bound, split_range
from assay.text.quantities.quantity_agreement import is_same_quantity, is_same_value
from assay.text.quantities.units import SHARE

_TOO_MUCH = build_pattern(rf"\b{UNFIT}\b")
_ASKS_HOW_TO = build_pattern(rf"\W*{ASKS_HOW_TO}\b")
_GLADLY = build_pattern(rf"\b{AGREES_BY_NEGATION}\b")
_MAY_FAIL = ("value", "decision")
_MOST_COMPARED_WORDS = 12
TOO_LONG = "the reference has too many words to compare without a judge"
OTHER_ORDER = "the answer gives the values in another order than the reference"


class _Asked(Struct, frozen=True):
    """What a reference is compared with, and what is known besides."""

    answer: str
    reference: str
    question: str
    passages: Sequence[str]
    language: str

    def judge(self, facts: Sequence[str]) -> list[FactJudgment]:
        """Return what the answer does with facts."""
        return judge_facts(self.answer, facts, self.question, self.reference, self.passages, language=self.language)

    def has_added_member(self, fact: str) -> bool:
        """Return whether the answer goes on with a list of the fact."""
        return has_added_member(self.answer, fact, self.question, self.reference, self.passages)

    def derive(self) -> ReferenceFacts:
        """Return what the reference asks of the answer; of words, those about what is asked."""
        derived = derive_reference_facts(self.reference, self.question)
        if derived.kind != "words":
            return derived
        return derive_reference_facts(leave_out_unasked(self.reference, self.question, self.answer), self.question)


def judge_reference_facts(
    answer: str, reference: str, question: str, passages: Sequence[str] = (), *, language: str = ""
) -> list[FactJudgment]:
    """Return what an answer does with what a reference in sentences asks of it; empty for a reference without words.

    An answer is right if all of it is stated. It is denied or missing only where the answer gives another value than
    the only one of the reference, or decides otherwise; the rest is unknown. `passages`: what the evidence says.
    `language`: that of the case (see `judge_facts`).

    >>> reference = "A late return costs £2 a day, and the card is blocked."
    >>> question = "What does a late return cost?"
    >>> answers = ("Two pounds per day.", "It's £3 a day.", "That depends.")
    >>> [judge_reference_facts(answer, reference, question)[0].state for answer in answers]
    ['stated', 'missing', 'unknown']
    """
    rest, is_settled = split_denied_answer(reference, answer)
    if is_settled:
        return [FactJudgment(reference.strip(), "stated")]
    asked = _Asked(answer, rest, question, passages, language)
    derived = asked.derive()
    if derived.kind == "words" and count_new_words(derived, question) > _MOST_COMPARED_WORDS:
        return [FactJudgment(fact, "unknown", TOO_LONG) for fact in derived.facts]
    texts = read_text(answer), read_text(question)
    judgments = [_check_ends(_soften(own, derived.kind, *texts), answer) for own in asked.judge(derived.facts)]
    if derived.kind == "decision":
        judgments = _judge_decision(judgments, derived, asked)
    if judgments and is_contrary_decision(read_text(answer), read_text(rest), read_text(question)):
        judgments[0] = structs.replace(
            judgments[0],
            state="denied",
            reason="the answer says yes where the reference says no, or the other way round",
            mistake="",
        )
    is_implied = derived.kind == "decision" and _is_undecided(read_text(answer))
    if is_implied and derived.facts[0] == "no":
        implied = _judge_implied_no(asked, judgments)
        if implied:
            return implied
    needed = derived.besides or (derived.reason if is_implied else ())
    if derived.kind == "values":
        judgments = _check_order(judgments, read_text(answer))
    if derived.kind == "words":
        judgments = [_judge_by_clauses(judgment, asked) for judgment in judgments]
        judgments = _check_words(judgments, read_text(answer), read_text(rest), read_text(question))
        judgments = [_check_list(judgment, asked) for judgment in judgments]
    if not needed or not all(judgment.state == "stated" or is_implied for judgment in judgments):
        return judgments
    besides = [_judge_by_clauses(_soften(judgment, "values", *texts), asked) for judgment in asked.judge(needed)]
    if is_implied and not any(judgment.state == "denied" for judgment in judgments):
        return besides
    return [*judgments, *besides]


def _judge_decision(judgments: list[FactJudgment], derived: ReferenceFacts, asked: _Asked) -> list[FactJudgment]:
    """Return the judgments of a yes or no and of its values, by the reason that the reference gives as well."""
    if derived.reason and find_negations(read_text(derived.reason[0])):
        (of_reason,) = asked.judge(derived.reason)
        judgments = _deny_values_with_reason(judgments, of_reason)
    first = _judge_first_word(judgments[0], derived, read_text(asked.answer), read_text(asked.reference))
    return [first, *judgments[1:]]


def _judge_by_clauses(judgment: FactJudgment, asked: _Asked) -> FactJudgment:
    """Return words that are left open as a whole as stated if the answer states each of their clauses."""
    if judgment.state != "unknown":
        return judgment
    clauses = _split_clauses(
        read_text(judgment.fact), are_steps=_ASKS_HOW_TO.match(read_text(asked.question).plain) is not None
    )
    if len(clauses) < _FEWEST_CLAUSES:
        return judgment
    together = asked.judge(clauses)
    if not _are_stated(together, clauses):
        alone = [own for clause in clauses for own in asked.judge([clause])]
        if not _are_stated(alone, clauses) or asked.has_added_member(judgment.fact):
            return judgment
    return structs.replace(judgment, state="stated", reason="")


def _are_stated(judgments: Sequence[FactJudgment], facts: Sequence[str]) -> bool:
    return len(judgments) == len(facts) and all(judgment.state == "stated" for judgment in judgments)


def _split_clauses(text: ReadText, *, are_steps: bool) -> list[str]:
    """Return the clauses of a text; what an "and" adds in a word or two is none: "runs on diesel and HVO".

    `are_steps`: the question asks how to do something, so that what is joined are steps.
    """
    clauses: list[tuple[int, int]] = []
    for part in split_parts(text, 0, len(text.plain)):
        telling = sum(word.kind != "stop" for word in text.list_words(part.start, part.end))
        is_joined = part.separation == LIST_CUT and not text.plain[: part.start].rstrip().endswith(",")
        if not clauses or are_steps or telling >= _FEWEST_JOINED or not is_joined:
            clauses.append((part.start, part.end))
        else:
            clauses[-1] = clauses[-1][0], part.end
    return [text.text[start:end].strip(" ,;.") for start, end in clauses]


_FEWEST_JOINED = 3
"""Words of meaning of a clause behind "and"."""
_FEWEST_CLAUSES = 2


def _check_list(judgment: FactJudgment, asked: _Asked) -> FactJudgment:
    """Return a stated reference by what an answer does with each member of its list, and what it joins by "or"."""
    members = list_members(asked.reference) if judgment.state == "stated" else ()
    if members:
        judgment = check_members(judgment, asked.judge(members))
    case_texts = read_text(asked.question), read_text(asked.reference)
    for pair in list_joined(case_texts[1]) if judgment.state == "stated" else ():
        joined = find_joined_by_or(read_text(asked.answer), pair, case_texts)
        if joined:
            return structs.replace(
                judgment, state="unknown", reason=f'the answer says "{joined}", and both are expected'
            )
    return judgment


def _deny_values_with_reason(judgments: list[FactJudgment], whole: FactJudgment) -> list[FactJudgment]:
    """Return a value that an answer denies by what it does with the whole reason, which denies it too.

    "Not since 2022" asks of an answer that it denies something of 2022.
    """
    decided, *values = judgments
    if not any(judgment.state == "denied" and not judgment.mistake for judgment in values):
        return judgments
    return [decided, *(structs.replace(judgment, state=whole.state, reason=whole.reason) for judgment in values)]


def _judge_first_word(
    judgment: FactJudgment, derived: ReferenceFacts, answer: ReadText, reference: ReadText
) -> FactJudgment:
    """Return a yes or no with which an answer begins as stated if the rest is judged by itself, and as unknown if it
    goes on with another name than the reference for which alone something holds."""
    stated, expected = read_decision(answer), read_decision(reference)
    is_same = stated is not None and expected is not None and stated.is_yes == expected.is_yes
    is_judged_besides = bool(derived.besides) or limits_decision(derived)
    if judgment.state == "unknown" and is_same and is_judged_besides:
        judgment = structs.replace(judgment, state="stated", reason="")
    other = _find_other_only(answer, reference) if judgment.state == "stated" else ""
    return structs.replace(judgment, state="unknown", reason=f'the answer says "{other}"') if other else judgment


def _judge_implied_no(asked: _Asked, judgments: list[FactJudgment]) -> list[FactJudgment]:
    """Return that an answer says no without the word; empty if it does not.

    `judgments`: those of the no, and of the values with which the reference explains it.
    """
    decided = put_denial_first(asked.answer, asked.question)
    again = judge_reference_facts(decided, asked.reference, asked.question, asked.passages) if decided else []
    if again and all(judgment.state == "stated" for judgment in again):
        return again
    return judgments[1:] if _denies_with_value(judgments, read_text(asked.answer)) else []


def _denies_with_value(judgments: Sequence[FactJudgment], answer: ReadText) -> bool:
    """Whether an answer denies in its first sentence what a reference says no to, and states the value that tells why.

    "I am afraid it will not fit: the limit is 1.90 m" says no without the word.
    """
    values = judgments[1:]
    end = answer.clauses[0].sentence_end if answer.clauses else 0
    if not values or any(judgment.state != "stated" for judgment in values) or _GLADLY.search(answer.plain, 0, end):
        return False
    return len(find_negations(answer, 0, end)) == 1 or _TOO_MUCH.search(answer.plain, 0, end) is not None


def _is_undecided(answer: ReadText) -> bool:
    """Whether an answer begins with neither yes nor no, and makes no exception, so that the rest of it can tell."""
    return read_decision(answer) is None and not has_exception(answer)


def _find_other_only(answer: ReadText, reference: ReadText) -> str:
    """Return how an answer says that something holds only of another name than in the reference; "" if it does not.

    "No, only the east lift has one" is another reason of a no than "No, only the west lift has one".
    """
    expected, stated = (
        {words[1].key: text.text[words[0].start : words[1].end] for words in _list_only_names(text)}
        for text in (reference, answer)
    )
    return next(iter(stated.values())) if expected and stated and expected.keys().isdisjoint(stated) else ""


def _list_only_names(text: ReadText) -> Iterator[tuple[Word, Word]]:
    """Yield each "only" with the first name after it that a reader may know."""
    for index, word in enumerate(text.words):
        if word.folded not in ONLY_WORDS:
            continue
        following = text.words[index + 1 : index + 1 + _MOST_BEFORE_NAME]
        name = next((own for own in following if own.kind == "name" or own.is_capitalised), None)
        if name is not None:
            yield word, name


_MOST_BEFORE_NAME = 3
"""Words from "only" to the name of which something holds: "only the hotel Astra"."""


def _soften(judgment: FactJudgment, kind: ReferenceKind, answer: ReadText, question: ReadText) -> FactJudgment:
    """Return a judgment as unknown where nothing shows that the answer is wrong."""
    is_shown_wrong = judgment.state == "denied" or (judgment.state == "missing" and judgment.mistake == "other value")
    is_other_value = judgment.mistake == "other value" and (
        (kind == "words" and _is_bare_value(judgment.fact, question)) or names_other_number(judgment.fact, answer)
    )
    if kind == "words" and judgment.state == "missing":
        is_other_value = is_other_value or names_other_code(judgment.fact, answer, question)
    if judgment.state in ("stated", "unknown") or (kind in _MAY_FAIL and is_shown_wrong) or is_other_value:
        return judgment
    return structs.replace(judgment, state="unknown")


def _is_bare_value(fact: str, question: ReadText) -> bool:
    """Whether a fact is one value, flag or path with words of grammar: "Within 14 days.", "With --force.".

    A share may be one of what the question names too: "99.9% of the month".
    """
    read = read_text(fact)
    identifiers = list_identifiers(read.text)
    if len(read.quantities) + len({own.form for own in identifiers}) == 0 or len(read.quantities) > 1:
        return False
    spans = [(own.start, own.end) for own in identifiers]
    spans += [quantity.rate_span for quantity in read.quantities]
    is_share = any(reading.dimension == SHARE for quantity in read.quantities for reading in quantity.readings)
    for word in read.words:
        is_part = any(start <= word.start < end for start, end in spans)
        is_asked = (is_share or bool(identifiers)) and bool(question.find_word(word, True))
        if word.kind != "stop" and word.folded not in GERMAN_AROUND_VALUE and not is_part and not is_asked:
            return False
    return True


def _check_order(judgments: list[FactJudgment], answer: ReadText) -> list[FactJudgment]:
    """Return several values that an answer states in another order than the reference as unknown.

    "90 days, and backups within 30" may give each to what the other belongs to.
    """
    places = []
    for judgment in judgments:
        wanted = read_text(judgment.fact).quantities
        same = [own.start for own in answer.quantities if any(is_same_value(own, one) for one in wanted)]
        places.append(min(same, default=-1))
    if any(judgment.state != "stated" for judgment in judgments) or places == sorted(places):
        return judgments
    return [structs.replace(judgment, state="unknown", reason=OTHER_ORDER) for judgment in judgments]


def _check_words(
    judgments: list[FactJudgment], answer: ReadText, reference: ReadText, question: ReadText
) -> list[FactJudgment]:
    """Return words that an answer states after a contrary yes or no, or in other pairs, as unknown."""
    reason = ""
    decision = read_decision(answer) if asks_whether(question) else None
    if decision is not None and reference.clauses:
        first = reference.clauses[0]
        denies = len(find_negations(reference, first.start, first.end)) % 2 == 1
        reason = f'the answer begins with "{decision.spelled}"' if denies == decision.is_yes else ""
    reason = reason or _find_other_pair(answer, reference)
    if not reason:
        return judgments
    return [structs.replace(own, state="unknown", reason=reason) if own.state == "stated" else own for own in judgments]


def _find_other_pair(answer: ReadText, reference: ReadText) -> str:
    """Return two words that an answer puts together and the reference does not: "green figure" for "white figure".

    Both stand in the reference, the second after another word; "" if there are none.
    """
    reference_keys = {word.key for word in reference.words}
    expected = {(before.key, word.key) for before, word in _iterate_pairs(reference)}
    seconds = {pair[1] for pair in expected}
    # A syllable of Vietnamese stands before those of many words.
    firsts = set() if reference.has_marks else {pair[0] for pair in expected}
    stated = {(before.key, word.key): (before, word) for before, word in _iterate_pairs(answer)}
    for (first, second), (before, word) in stated.items():
        if not {first, second} <= reference_keys or (first, second) in expected:
            continue
        is_second_as_expected = any(pair in stated for pair in expected if pair[1] == second)
        is_first_as_expected = any(pair in stated for pair in expected if pair[0] == first)
        if (second in seconds and not is_second_as_expected) or (first in firsts and not is_first_as_expected):
            spelled = answer.text[before.start : word.end]
            return f'the answer says "{spelled}", words that the reference does not put together'
    return ""


def _iterate_pairs(text: ReadText) -> Iterator[tuple[Word, Word]]:
    """Yield the words of meaning that follow one another with nothing between them but a space."""
    for before, word in pairwise(text.words):
        if (
            before.kind == word.kind == "word"
            and ONES.isdisjoint((before.folded, word.folded))
            and text.text[before.end : word.start] == " "
        ):
            yield before, word


def _check_ends(judgment: FactJudgment, answer: str) -> FactJudgment:
    """Return a bound that an answer keeps without naming it, and a range of which it names one end, as unknown.

    "For 30 days" keeps "up to 90 days", and may leave out a part of "from 30 to 90 days".
    """
    given = [remove_bound(quantity) for quantity in read_text(answer).quantities]
    for wanted in read_text(judgment.fact).quantities:
        if judgment.state == "stated" and wanted.bound and not _is_among(remove_bound(wanted), given):
            return structs.replace(judgment, state="unknown", reason=f"the answer does not name {judgment.fact}")
        if judgment.state != "stated" and any(_is_among(end, given) for end in split_range(wanted)):
            return structs.replace(judgment, state="unknown")
    return judgment


def _is_among(wanted: Quantity, given: Sequence[Quantity]) -> bool:
    return any(is_same_quantity(wanted, own) for own in given)
