"""Whether an answer states a fact: stated, denied, missing, or unknown where the rules cannot tell.

The words of a fact may come in another order and inflection, its quantities in another form; numbers and names must be
there. A match is undone by a negation, by a quantifier ("none of", "few"), by words for a myth and by a bound ("less
than 12 days"). Doubt ("maybe"), another subject than the question's, and words that are only partly there leave it
unknown.
English and Vietnamese, with or without diacritics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct, structs

from assay.text.escaping import shorten_to_line
from assay.text.facts.additions.added_members import judge_added_member
from assay.text.facts.additions.addition_rules import judge_terms_of_decision
from assay.text.facts.additions.joined_by_or import open_joined_by_or
from assay.text.facts.denials.retractions import find_retraction, takes_something_back
from assay.text.facts.denials.self_denials import find_contrary_sentence
from assay.text.facts.doubts.superseded_values import drop_superseded
from assay.text.facts.expected.expected_limits import find_expected_limit
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.expected.reversed_statements import find_swapped_denial
from assay.text.facts.expected.turned_conditions import find_turned_condition
from assay.text.facts.expected.yes_or_no import (
    decide_by_statement,
    describe_opposite_decision,
    forbids_what_is_asked,
    is_mere_decision,
    leaves_outside_what_is_asked,
    restate_question,
)
from assay.text.facts.fact_judge import FactJudge, get_state_order
from assay.text.facts.fact_judgments import FactJudgment, FactState
from assay.text.facts.presence.absent_words import OTHER_LANGUAGE, is_in_other_language
from assay.text.facts.presence.explained_decisions import is_explained_decision
from assay.text.facts.presence.restated_answers import restate_answer
from assay.text.facts.reading.letter_codes import find_letter_codes, restore_codes, spell_codes
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, list_written, read_text
from assay.text.facts.reading.spelled_words import quote_as_written
from assay.text.facts.subjects.mixed_roles import find_crossed
from assay.text.facts.subjects.statement_gaps import Gap
from assay.text.facts.subjects.swapped_values import find_swapped_values
from assay.text.languages import is_read_language
from assay.text.late_items import LateItems
from assay.text.normalisation import MOST_READ
from assay.text.number_conventions import DecimalMark, guess_style, read_declared_mark
from assay.text.quantities.open_marks import may_be_read_otherwise, name_open_mark

UNREAD_REST = f"this is not in the first {MOST_READ:,} characters of the answer, and the rest is not read"


class _FactRequest(Struct, frozen=True):
    """What is asked of an answer: whether it states facts, beside texts that tell how to read it."""

    answer: str
    facts: tuple[str, ...]
    question: str
    context: str
    passages: tuple[str, ...]
    mark: DecimalMark
    """What a mark between digits means in the declared language; empty if unknown."""
    is_read: bool
    """Whether rules know the declared language."""


def judge_facts(
    answer: str,
    facts: Sequence[str],
    question: str = "",
    context: str = "",
    passages: Sequence[str] = (),
    *,
    language: str = "",
) -> list[FactJudgment]:
    """Return what an answer does with each fact, in order; empty facts are left out.

    `question`: its words need not be repeated, and an answer about something else leaves the fact unknown. `context`:
    further words that do not show another subject, such as the reference. `passages`: what the evidence says, which an
    answer may add. `language`: that of the case, which tells what a mark between digits means where neither a unit nor
    the words of a text do, and whether its words are compared at all. Only the first 200,000 characters are read.

    >>> [found.state for found in judge_facts("Approval by the manager is needed.", ["manager approves", "HR"])]
    ['stated', 'missing']
    >>> [judge_facts(text, ["12 days"])[0].state for text in ("None of us gets 12 days.", "Maybe 12 days.")]
    ['denied', 'unknown']
    """
    mark, is_read = read_declared_mark(language), is_read_language(language)
    codes = find_letter_codes(question, (answer, context, *facts))
    if not codes:
        request = _FactRequest(answer, tuple(facts), question, context, tuple(passages), mark, is_read)
        return list(_judge_cached(request))
    answer, question, context = (spell_codes(text, codes) for text in (answer, question, context))
    spelled_facts = tuple(spell_codes(fact, codes) for fact in facts)
    spelled_passages = tuple(spell_codes(passage, codes) for passage in passages)
    judgments = _judge_cached(_FactRequest(answer, spelled_facts, question, context, spelled_passages, mark, is_read))
    written = zip(judgments, filter(str.strip, facts), strict=True)
    return [structs.replace(own, fact=fact, reason=restore_codes(own.reason)) for own, fact in written]


@lru_cache(maxsize=8192)
def _judge_cached(request: _FactRequest) -> tuple[FactJudgment, ...]:
    """Several metrics and the attribution ask the same of an answer."""
    judgments = _judge_as_written(request)
    current = drop_superseded(
        read_text(request.answer), map(read_text, (request.question, request.context, *request.facts))
    )
    if current:
        judged_now = _judge_as_written(structs.replace(request, answer=current))
        judgments = [_take_current(*pair) for pair in zip(judgments, judged_now, strict=True)]
    return tuple(judgments)


def _judge_as_written(request: _FactRequest) -> list[FactJudgment]:
    """Return what an answer does with facts, whatever it says of the past."""
    answer, question, context = request.answer, request.question, request.context
    judgments = []
    for fact, judge in _make_judges(answer, request.facts, question, context, request.passages):
        if judge is not None:
            judgment = judge.judge_fact()
            if judgment.state == "missing" and is_in_other_language(judge.texts, is_read=request.is_read):
                judgment = structs.replace(judgment, state="unknown", reason=OTHER_LANGUAGE)
            if judgment.state == "missing" and len(answer) > MOST_READ:
                judgment = structs.replace(judgment, state="unknown", reason=UNREAD_REST)
            if judgment.state == "unknown":
                judgment = _judge_by_question(judgment, judge.texts)
            if judgment.state in ("unknown", "missing"):
                judgment = _judge_restated(judgment, judge.texts)
            if judgment.state == "unknown" and is_explained_decision(judge.texts):
                judgment = FactJudgment(fact, "stated")
            if judgment.state == "stated":
                judgment = judge_terms_of_decision(judge.texts) or _check_marks(judgment, judge.texts, request.mark)
            judgments.append(judgment)
        elif fact.strip():
            is_there = read_text(fact).plain.strip() in read_text(answer).plain
            state: FactState = "stated" if is_there else "unknown" if len(answer) > MOST_READ else "missing"
            judgments.append(FactJudgment(fact, state, "" if is_there else "the answer does not have it"))
    swapped = find_swapped_values(question, context, answer, request.facts)
    judgments = [
        swapped.get(judgment.fact, judgment) if _may_be_swapped(judgment, swapped) else judgment
        for judgment in judgments
    ]
    read = [read_text(text) for text in (answer, question, context)]
    return [
        structs.replace(
            judgment, reason=quote_as_written(judgment.reason, [read[0], read_text(judgment.fact), *read[1:]])
        )
        for judgment in open_joined_by_or(list(_open_what_is_undone(judgments, *read)), read[0], read[1:])
    ]


def _take_current(judgment: FactJudgment, judged_now: FactJudgment) -> FactJudgment:
    """Return the judgment of a fact by the whole answer, or by what it says to hold now (`judged_now`) if that states
    it or nothing but its past does."""
    if judged_now.state == "stated":
        return judged_now
    if judgment.state != "stated":
        return judgment
    return structs.replace(judgment, state="unknown", reason="the answer says this of the past")


def _open_what_is_undone(
    judgments: Sequence[FactJudgment], answer: ReadText, question: ReadText, reference: ReadText
) -> Iterator[FactJudgment]:
    """Yield stated facts as unknown where the answer takes them back, or begins by deciding against the reference."""
    against = describe_opposite_decision(answer, reference, question)
    otherwise = ""
    if any(judgment.state == "stated" for judgment in judgments):
        otherwise = find_turned_condition(question, reference, answer) or find_crossed(question, reference, answer)
        otherwise = otherwise or find_swapped_denial(reference, answer)
    retraction = find_retraction(answer)
    if retraction is not None and (takes_something_back(question) or takes_something_back(reference)):
        retraction = None
    kept: dict[str, FactState] = {}
    if retraction is not None:
        rest = f"{answer.text[: retraction.start]} {answer.text[retraction.after :]}"
        stated = [judgment.fact for judgment in judgments if judgment.state == "stated"]
        kept = {judgment.fact: judgment.state for judgment in judge_facts(rest, stated, question.text, reference.text)}
    for judgment in judgments:
        if judgment.state == "stated" and retraction is not None and kept.get(judgment.fact) != "stated":
            taking = shorten_to_line(answer.text[retraction.end :].strip(), 60)
            yield structs.replace(judgment, state="unknown", reason=f'the answer takes it back: "{taking}"')
        elif judgment.state == "stated" and against and not is_mere_decision(judgment.fact):
            yield structs.replace(judgment, state="unknown", reason=against)
        elif judgment.state == "stated" and otherwise:
            yield structs.replace(judgment, state="unknown", reason=otherwise)
        elif judgment.state == "stated" and (
            contrary := find_contrary_sentence(answer, read_text(judgment.fact), question)
        ):
            reason = f'the answer says the contrary too: "{shorten_to_line(contrary, 60)}"'
            yield structs.replace(judgment, state="unknown", reason=reason)
        else:
            yield judgment


def _check_marks(judgment: FactJudgment, texts: FactTexts, mark: DecimalMark) -> FactJudgment:
    """Return a stated fact as unknown if its values are there in one reading of their marks alone: "2.000" for "2"."""
    wanted, stated = list_written(texts.read_fact), list_written(texts.answer)
    if not any(may_be_read_otherwise(quantity) for quantity, _ in (*wanted, *stated)):
        return judgment
    mark = mark or guess_style(f"{texts.question.text} {texts.reference.text}").mark
    reason = name_open_mark(wanted, stated, mark)
    return structs.replace(judgment, state="unknown", reason=reason) if reason else judgment


def _may_be_swapped(judgment: FactJudgment, swapped: dict[str, FactJudgment]) -> bool:
    """Whether a swap of values decides on a fact: a stated one, or one that is left open while the swap is sure."""
    is_sure = judgment.fact in swapped and swapped[judgment.fact].state == "denied"
    return judgment.state == "stated" or (judgment.state == "unknown" and is_sure)


def _judge_restated(judgment: FactJudgment, texts: FactTexts) -> FactJudgment:
    """Return a fact that an answer leaves open as stated if it states it said again in plainer words."""
    restated = restate_answer(texts)
    if not restated:
        return judgment
    asked = (texts.question, texts.reference, texts.facts, texts.expected, texts.limit, texts.passages)
    again = FactJudge(FactTexts(texts.fact, read_text(restated), *asked)).judge_fact()
    return again if again.state == "stated" else judgment


def _judge_by_question(judgment: FactJudgment, texts: FactTexts) -> FactJudgment:
    """Return the judgment of a mere yes or no that an answer does not write by what it does with what is asked."""
    statement = restate_question(judgment.fact, texts.question)
    if not statement:
        return judgment
    (restated,) = judge_facts(texts.answer.text, [statement])
    if restated.state == "stated" and leaves_outside_what_is_asked(texts):
        is_sure = len(texts.answer.clauses) == 1 and not find_negations(texts.answer)
        restated = structs.replace(restated, state="denied" if is_sure else "unknown")
    if restated.state == "stated" and forbids_what_is_asked(texts):
        restated = structs.replace(restated, state="unknown" if find_negations(texts.answer) else "denied")
    return decide_by_statement(judgment.fact, restated)


def _make_judges(
    answer: str, facts: Sequence[str], question: str, context: str, passages: Sequence[str] = ()
) -> Iterator[tuple[str, FactJudge | None]]:
    """Yield each fact with its judge; None for one without a word or quantity."""
    read_answer, read_question, read_reference = read_text(answer), read_text(question), read_text(context)
    read_facts = [read_text(fact) for fact in facts]
    expected = [quantity for read_fact in read_facts for quantity in read_fact.quantities]
    read_passages = LateItems(map(read_text, passages))  # most facts are judged without them
    limit = find_expected_limit(read_question.plain, read_reference.plain)
    for fact, read_fact in zip(facts, read_facts, strict=True):
        judge = None
        if read_fact.words or read_fact.quantities:
            asked = (read_question, read_reference, read_facts, expected, limit, read_passages)
            judge = FactJudge(FactTexts(fact, read_answer, *asked))
        yield fact, judge


def has_added_member(answer: str, fact: str, question: str, context: str, passages: Sequence[str] = ()) -> bool:
    """Return whether an answer goes on with a list of a fact; the parameters are those of `judge_facts`.

    >>> reference = "A towel, a lock and a cap."
    >>> has_added_member("A towel, a lock, a cap and 2 euros.", reference, "What do I need?", reference)
    False
    >>> has_added_member("A towel, a lock, a cap and soap.", reference, "What do I need?", reference)
    True
    """
    judges = [judge for _, judge in _make_judges(answer, [fact], question, context, passages) if judge is not None]
    return any(judge_added_member(judge.texts) is not None for judge in judges)


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
            occurrence, _ = min(judge.examined, key=lambda examined: get_state_order(examined[1]))
            found[fact] = list(judge.subject.list_gaps(occurrence))
    return found
