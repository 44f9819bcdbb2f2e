"""Whether an answer denies a fact that it holds: by a negation of the fact itself, not of something else near it.

A negation denies a fact only where it is said of the fact or of what question, facts or reference speak of. "No mowing
between one and three" does not say when it is not quiet, and "you can't get in before nine" says when it opens.
"""

from __future__ import annotations

import re

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import (
    ABSENCE,
    AFTER_A_VALUE,
    BEYOND,
    FALLS_OUT,
    REFRAINING,
    SAME_DEED,
    UNABLE,
    VERBS_NEGATED_AFTER,
    WITHDRAWS_ALL,
)
from assay.text.facts.cues.question_cues import ASKS_FOR_REASON
from assay.text.facts.cues.word_classes import PREDICATES
from assay.text.facts.denials.narrowing_negations import (
    is_negation_of_question,
    judge_within_narrowing,
    narrows_subject,
)
from assay.text.facts.denials.withdrawn_statements import is_reported_belief, is_withdrawn
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.expected.yes_or_no import read_decision
from assay.text.facts.fact_judgments import FactJudgment, FactState
from assay.text.facts.presence.absent_things import judge_absence
from assay.text.facts.presence.occurrences import Occurrence, find_stated_quantity
from assay.text.facts.reading.exceptions import (
    UNIVERSAL,
    find_exception_after,
    has_exception,
    is_excepted,
    list_exceptions,
    may_be_addition,
)
from assay.text.facts.reading.negations import find_negations, may_deny_in_other_words
from assay.text.facts.reading.read_text import ClauseSpan, ReadText
from assay.text.facts.reading.statement_marks import (
    CALLED_WRONG,
    DENIED_AFTER,
    DISJUNCTION,
    MYTH,
    NEGATED_AFTER,
    NEGATION,
    RESTRICTION,
    WITHOUT_PAYING,
    WRONG,
)
from assay.text.facts.reading.text_parts import split_parts
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

_PART = compile_pattern(r", ")
_STEM = 6  # letters by which a word is told after a prefix, and in which related words agree
_DETERMINERS = LatePattern(r"\s*(?:(?:an?|the|any|your|their|his|her|its|our|this|that|these|those|such|prior)\s+)*")
"""What may stand between "without" and the thing that is lacking."""
_ASKS_FOR_REASON = build_pattern(rf"\b{ASKS_FOR_REASON}\b")
_BEYOND = build_pattern(rf"\b{BEYOND}(?: (?:the|a|an|about|ngày))? $")
"""What stands before a value beyond which something is denied: "you can't get in before"."""
_NOBODY = frozenset(("nobody", "no one"))
_DURING = LatePattern(r"\b(?:(?:during|within|in|for) the (?:last|final|first|next)) $")
_SPANNING = LatePattern(r"\b(?:for|in|within|during|throughout) $")
"""Stands before a span in which something is denied: "you can't get in during the last hour"."""
_SPAN_BEFORE = LatePattern(r"\b(?:for|trong) $")
_FORBIDDING = LatePattern(r"\W*(?:(?:please )?do ?n[o']t|(?:vui long )?(?:khong|dung))")
"""Begins a sentence that forbids something: "please do not …"."""
_ABSENCE = build_pattern(rf"\b{ABSENCE}\b")
_REFRAINING = build_pattern(rf"\b(?:{REFRAINING}|{ABSENCE})\b")
_DEED_DENIED = build_pattern(
    rf" (?:(?:{VERBS_NEGATED_AFTER})(?:n't| not| never)|{UNABLE}(?: to)?|(?:không|chưa)(?: thể)?)"
    rf"(?: {SAME_DEED})?(?: to)?[\s.!]*"
)
"""The rest of a sentence after somebody who cannot do what is asked."""
_DEED_AFFIRMED = build_pattern(rf" (?:{VERBS_NEGATED_AFTER})(?: {SAME_DEED})?[\s.!]*")
"""The same after somebody who can."""


def judge_denial(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact that an answer denies or may deny at a place that holds it; None otherwise."""
    withdrawn = judge_withdrawal(texts, occurrence)
    if withdrawn is not None:
        return withdrawn
    excepted = _judge_exception(texts, occurrence)
    judgment = _judge_polarity(texts, occurrence) if excepted is None else excepted
    return None if judgment is None or judgment.state == "stated" else judgment


def judge_withdrawal(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return that a fact is denied which the answer calls wrong, or takes back; None where it does not."""
    if _is_called_wrong(texts, occurrence) or _is_taken_back(texts, occurrence):
        return FactJudgment(texts.fact, "denied", "the answer calls this wrong or outdated")
    return None


def _is_called_wrong(texts: FactTexts, occurrence: Occurrence) -> bool:
    """Whether the clause calls the fact a myth or wrong; "a wrong token" only describes a thing."""
    plain, own = texts.answer.plain, texts.read_fact.plain
    clause_text, after = (
        plain[occurrence.clause.start : occurrence.clause.end],
        plain[occurrence.end : occurrence.clause.end],
    )
    if MYTH.search(clause_text) and not MYTH.search(own):
        return True
    denial = DENIED_AFTER.match(after)
    if denial is not None and (denial["predicate"] or texts.read_fact.quantities):
        return True
    has_wrong = CALLED_WRONG.search(clause_text) is not None and WRONG.search(own) is None
    return has_wrong and bool(texts.read_fact.quantities)


def _is_taken_back(texts: FactTexts, occurrence: Occurrence) -> bool:
    """Whether the sentence reports the fact as a belief or says that it holds no longer."""
    clause, plain = occurrence.clause, texts.answer.plain
    sentence = (clause.sentence_start, clause.sentence_end)
    if is_reported_belief(plain, sentence, occurrence.start, occurrence.end):
        return True
    return is_withdrawn(plain, occurrence.end, clause.sentence_end)


def _judge_exception(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact that is an exception, or that has one; None if exceptions play no part."""
    if has_exception(texts.read_fact):
        return None
    clause = occurrence.clause
    is_denied = is_excepted(texts.answer, clause.sentence_start, occurrence.start)
    if is_denied is not None:
        if texts.is_negative or texts.denied_in_question:
            if is_denied:  # "all but the night trains" says "not the night trains"
                return FactJudgment(texts.fact, "stated")
            return FactJudgment(texts.fact, "unknown", "the answer names this as an exception")
        if is_denied and may_be_addition(texts.answer, occurrence.start):
            return FactJudgment(
                texts.fact, "unknown", "the answer names this as an exception, or as something in addition"
            )
        if is_denied and _asks_for_absence(texts, clause):
            return FactJudgment(texts.fact, "unknown", "the answer says the contrary of what is asked, except of this")
        if is_denied:
            return FactJudgment(texts.fact, "denied", "the answer says that it does not hold of this")
        return FactJudgment(texts.fact, "stated")
    if list_exceptions(texts.answer, occurrence.start, occurrence.end):
        return FactJudgment(texts.fact, "unknown", "the answer makes an exception within this")
    return _judge_exception_after(texts, occurrence)


def _judge_exception_after(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact of which the answer excepts something after it; None if it does not matter."""
    span = find_exception_after(texts.answer, occurrence.end, occurrence.clause.sentence_end)
    if span is None or has_exception(texts.reference):
        return None
    topic = {word.key for word in texts.list_topics()}
    named = [word for word in texts.answer.list_words(*span) if may_be_subject(word)]
    excepted = [word for word in named if word.key in topic]
    others = [word for word in named if word.key not in topic]
    if excepted and not others:
        return FactJudgment(
            texts.fact,
            "denied",
            f'the answer says that this holds for all but "{texts.answer.text[slice(*span)].strip()}"',
        )
    if others and all(texts.is_expected(word) for word in others):
        return None
    if excepted:  # "no dogs, except guide dogs": some of what is asked
        return FactJudgment(texts.fact, "unknown", "the answer makes an exception from this")
    stems = {key[:_STEM] for key in topic if len(key) >= _STEM}
    is_related = any(word.key[:_STEM] in stems for word in texts.answer.list_words(*span))
    if is_related or texts.is_negative or UNIVERSAL.search(texts.read_fact.plain) is not None:
        return FactJudgment(texts.fact, "unknown", "the answer makes an exception from this")
    return None


def _judge_polarity(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment if the clause is negated where the fact is not, or the other way round; None otherwise."""
    answer, clause = texts.answer, occurrence.clause
    plain, last = answer.plain, occurrence.end
    negations = _list_negations(texts, occurrence)
    is_negated = len(negations) % 2 == 1
    is_negated_after = NEGATED_AFTER.match(plain, last, clause.end) is not None
    if texts.denied_in_question:
        return _judge_denied_predicate(texts, occurrence, is_negated or is_negated_after)
    affirmed = "" if texts.is_negative else _find_affirmed_noun(texts, occurrence)
    if affirmed:
        return FactJudgment(
            texts.fact, "unknown", f'the question asks what is not so, and the answer says "{affirmed}"'
        )
    if is_negated != texts.is_negative:
        if texts.is_negative:
            return _judge_lacking_negation(texts, occurrence, bool(negations), is_negated_after)
        narrowed = judge_within_narrowing(texts, negations[-1], occurrence)
        if narrowed == "open":
            return FactJudgment(texts.fact, "unknown", "the answer says this of things of which it denies something")
        return None if narrowed else _judge_negation(texts, occurrence, negations)
    if not texts.is_negative and is_negated_after:
        if _denies_deed(texts, occurrence):
            return FactJudgment(texts.fact, "denied", "the answer says that this is not so")
        return FactJudgment(texts.fact, "unknown", "the answer denies what follows this, and perhaps this too")
    negated = "" if texts.is_negative else _find_negated_topic(texts, occurrence)
    return FactJudgment(texts.fact, "unknown", f'the answer denies "{negated}" together with this') if negated else None


def _denies_deed(texts: FactTexts, occurrence: Occurrence) -> bool:
    """Whether an answer says of those whom it names, and nothing else, that they do not do what is asked: "Owners
    cannot do it"."""
    after = texts.answer.plain[occurrence.end : occurrence.clause.sentence_end]
    if _DEED_DENIED.fullmatch(after) is None or find_negations(texts.question):
        return False
    return bool(texts.question.words) and _ABSENCE.search(texts.question.plain) is None


def _find_negated_topic(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return a word of the question that is negated right after a value in its part: "6 months if not opened"."""
    stated = find_stated_quantity(texts.answer, occurrence)
    if stated is None or texts.denied_in_question:
        return ""
    clause = occurrence.clause
    has_prefix = " un" in f" {texts.answer.plain}"
    if not has_prefix and not find_negations(texts.answer, stated.end, clause.sentence_end):
        return ""
    if find_negations(texts.question):
        return ""
    topics = texts.list_topics()
    for part in split_parts(texts.answer, clause.sentence_start, clause.sentence_end):
        if not part.start <= stated.start < part.end:
            continue
        for negation in find_negations(texts.answer, stated.end, part.end):
            word = texts.answer.take_next_word(negation.end())
            if word is not None and any(word.key == topic.key and word.marks == topic.marks for topic in topics):
                return texts.answer.text[negation.start() : word.end]
        prefixed = {f"un{topic.folded}" for topic in topics}
        inside = texts.answer.list_words(part.start, part.end)
        return next((texts.answer.text[word.start : word.end] for word in inside if word.folded in prefixed), "")
    return ""


def _list_negations(texts: FactTexts, occurrence: Occurrence) -> list[re.Match[str]]:
    """Return the negations of the part of the clause up to the end of the fact that may be said of it."""
    plain = texts.answer.plain
    stated = find_stated_quantity(texts.answer, occurrence)
    # "no more than" belongs to the quantity.
    bound = range(stated.start, stated.end) if stated is not None and stated.bound else range(0)
    return [
        match
        for match in find_negations(texts.answer, _find_part_start(plain, occurrence), occurrence.end)
        if match.start() not in bound
        and not _lacks_something_else(match, occurrence, plain)
        and not _is_prefix(texts, match)
        and not narrows_subject(texts, match, occurrence)
        and not _is_asked_negation(texts, match, occurrence)
        and not _is_asked(texts, match)
        and not _is_nothing_to_pay(texts, match)
    ]


def _is_asked_negation(texts: FactTexts, negation: re.Match[str], occurrence: Occurrence) -> bool:
    """Whether a negation before an affirmative fact is one of the question: "jobs not collected are …"."""
    is_before = not texts.is_negative and negation.end() <= occurrence.start
    return is_before and not texts.denied_in_question and is_negation_of_question(texts, negation)


_NO_NOUN = build_pattern(r"\b(?:no|không có) (?=\w)").compiled


def _is_asked(texts: FactTexts, match: re.Match[str]) -> bool:
    """Whether a negation is that of the question with its noun: "no class" answers "When is there no class?"."""
    denied = _NO_NOUN.match(texts.answer.plain, match.start())
    if denied is None or _NO_NOUN.search(texts.question.plain) is None:
        return False
    nouns = {_find_key(texts.question, asked.end()) for asked in _NO_NOUN.finditer(texts.question.plain)}
    return _find_key(texts.answer, denied.end()) in nouns


def _is_nothing_to_pay(texts: FactTexts, match: re.Match[str]) -> bool:
    """Whether a negation says that something costs nothing, as the question asks: "it costs nothing for 30 days"."""
    if WITHOUT_PAYING.search(texts.question.plain) is None:
        return False
    free = WITHOUT_PAYING.search(texts.answer.plain, max(0, match.start() - _LONGEST_FREE))
    return free is not None and free.start() <= match.start() < free.end()


_LONGEST_FREE = 3
"""Characters before a negation with which it may say so: "at no cost"."""
_FALLS_OUT = build_pattern(rf"\b{FALLS_OUT}\b")


def _find_affirmed_noun(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return a noun that the question denies and the sentence of a fact has without denying anything, "" if none."""
    asked = _NO_NOUN.search(texts.question.plain)
    low, high = occurrence.clause.sentence_start, occurrence.clause.sentence_end
    if asked is None or find_negations(texts.answer, low, high):
        return ""
    if _ABSENCE.search(texts.answer.plain, low, high) or _FALLS_OUT.search(texts.answer.plain, low, high):
        return ""
    key = _find_key(texts.question, asked.end())
    inside = texts.answer.list_words(low, high)
    return next((texts.answer.text[word.start : word.end] for word in inside if word.key == key), "")


def _find_key(text: ReadText, start: int) -> str:
    """Return the key of the word that starts at a position, "" if none does."""
    word = text.word_at(start)
    return word.key if word is not None else ""


def _find_part_start(plain: str, occurrence: Occurrence) -> int:
    """Return where the part of the clause begins that holds the first part of the fact."""
    parts = [match.end() for match in _PART.finditer(plain, occurrence.clause.start, occurrence.start)]
    return parts[-1] if parts else occurrence.clause.start


def _lacks_something_else(negation: re.Match[str], occurrence: Occurrence, plain: str) -> bool:
    """Whether "without" is said of another thing than the fact: "Without a claim you get 12 percent"."""
    if negation[0] != "without":
        return False
    after = [start for start, _ in occurrence.spans if start >= negation.end()]
    return not after or _DETERMINERS.fullmatch(plain, negation.end(), min(after)) is None


def _is_prefix(texts: FactTexts, negation: re.Match[str]) -> bool:
    """Whether a negation is in a word of the fact: "days that are not used" are "unused days"."""
    following = {word.folded for word in texts.answer.list_following(negation.end(), 2)}
    prefixed = [own.folded for own in texts.read_fact.words if own.folded.startswith(("un", "non"))]
    return any(own[2:].lstrip("n-") in following for own in prefixed)


def _judge_negation(texts: FactTexts, occurrence: Occurrence, negations: list[re.Match[str]]) -> FactJudgment:
    """Return the judgment of a fact in a clause with negations: denied only if they are said of it."""
    plain, fact, last = texts.answer.plain, texts.fact, negations[-1]
    if RESTRICTION.search(plain, _find_part_start(plain, occurrence), negations[0].start()):
        return FactJudgment(
            fact, "unknown", "the answer denies something in the sentence that has this, and perhaps this too"
        )
    if DISJUNCTION.search(plain, last.end(), max(last.end(), occurrence.start)):
        return FactJudgment(fact, "unknown", "the answer denies one of two things of which this is the other")
    beyond = _BEYOND.search(plain, last.end(), max(last.end(), occurrence.start))
    if _DURING.search(plain, last.end(), max(last.end(), occurrence.start)) is not None:
        return FactJudgment(fact, "unknown", "the answer says what is not so during this time")
    if _forbids_for_span(texts, occurrence, last):
        return FactJudgment(fact, "unknown", "the answer says for how long something is not so or not allowed")
    is_span = _SPANNING.search(plain, last.end(), max(last.end(), occurrence.start)) is not None
    is_of_noun = is_span and last[0] == "no"  # "no food for ten hours" says how long
    other = ""
    if is_of_noun or not _is_about_question(texts, occurrence, last.start()):
        other = _find_other_predicate(texts, last.end(), occurrence)
    is_of_persons = last[0] in _NOBODY and bool(other) and is_span
    if (last[0] in WITHDRAWS_ALL and not is_of_persons) or plain.startswith(" even ", last.end()):
        return FactJudgment(fact, "denied", "the answer says that this is not so")
    if beyond is not None and _may_limit(texts, last.end(), occurrence, beyond[0].split()[0]):
        return FactJudgment(
            fact, "unknown", f'the answer says what is not so "{beyond[0].strip()}" this, and not what is so'
        )
    if _asks_for_absence(texts, occurrence.clause):
        return FactJudgment(
            fact, "unknown", "the answer denies the contrary of what is asked, which may come to the same"
        )
    if other:
        return FactJudgment(
            fact,
            "unknown",
            f'the answer denies "{other}" in the same sentence, of which neither question nor facts speak',
        )
    return FactJudgment(fact, "denied", "the answer says that this is not so")


def _forbids_for_span(texts: FactTexts, occurrence: Occurrence, negation: re.Match[str]) -> bool:
    """Whether a negation is of what may not be done for a span, which it states: "don't paint it for two days".

    So is what does not hold "for at least" a span.
    """
    plain, stated = texts.answer.plain, find_stated_quantity(texts.answer, occurrence)
    if stated is None or _SPAN_BEFORE.search(plain, negation.end(), max(negation.end(), stated.start)) is None:
        return False
    return (
        stated.bound == ">="
        or _FORBIDDING.fullmatch(plain, occurrence.clause.sentence_start, negation.end()) is not None
    )


def _is_about_question(texts: FactTexts, occurrence: Occurrence, negation_start: int) -> bool:
    """Whether a word of the question stands before a negation in its clause: "the pump is not sold at 598 euros".

    Without a question nothing tells that a negation is of something else.
    """
    if not texts.question.words:
        return True
    topics = {word.key for word in texts.list_topics()}
    return any(word.key in topics for word in texts.answer.list_words(occurrence.clause.start, negation_start))


def _may_limit(texts: FactTexts, start: int, occurrence: Occurrence, preposition: str) -> bool:
    """Whether a denial of what is beyond a value may state it: "you can't get in before nine".

    What the question asks for, denied after a time ("it is not renewed after 400 hours"), denies the time, unless the
    question asks until when.
    """
    predicate = next((word for word in texts.answer.list_words(start, occurrence.start) if may_be_subject(word)), None)
    if preposition not in AFTER_A_VALUE or texts.limit.side == "<":
        return True
    if predicate is None or not texts.question.words:
        return predicate is None
    return not texts.question.find_word(predicate, True)


def _asks_for_absence(texts: FactTexts, clause: ClauseSpan) -> bool:
    """Return whether a question asks for what a word without negation denies ("closed"), and a clause has no such word.

    Then "we don't open on Fridays" and "every day but Friday" answer when it is closed, and "don't drink for two hours"
    for how long one has to stop drinking.
    """
    asked = _REFRAINING.search(texts.question.plain)
    return asked is not None and _REFRAINING.search(texts.answer.plain, clause.start, clause.end) is None


def _find_other_predicate(texts: FactTexts, start: int, occurrence: Occurrence) -> str:
    """Return the first word after a negation and before the fact if nothing explains it, "" otherwise."""
    if start >= occurrence.start:
        return ""
    for word in texts.answer.list_words(start, occurrence.start):
        if not may_be_subject(word):
            continue
        if word.folded in PREDICATES or texts.is_familiar(word):
            return ""
        return texts.answer.text[word.start : word.end]
    return ""


def _judge_lacking_negation(
    texts: FactTexts, occurrence: Occurrence, has_negations: bool, is_negated_after: bool
) -> FactJudgment | None:
    """Return the judgment of a fact that denies something where the clause affirms it."""
    if not has_negations and is_negated_after:
        return None  # "Alcohol isn't" says "no alcohol"
    if _states_first_moment(texts, occurrence.clause):
        return FactJudgment(
            texts.fact, "unknown", "the answer says when this begins, and the fact until when it is not so"
        )
    absence = judge_absence(texts, occurrence.clause)
    if absence is not None:
        return absence
    sentence = texts.answer.text[occurrence.clause.sentence_start : occurrence.clause.sentence_end]
    prefixed = [rf"(?:non|un|in|dis)-?{re.escape(word.folded[:_STEM])}" for word in texts.read_fact.words]
    if prefixed and re.search(rf"\b(?:{'|'.join(prefixed)})", sentence.lower()):
        return FactJudgment(
            texts.fact, "unknown", 'the "not" that is expected may be a part of another word of the answer'
        )
    if may_deny_in_other_words(sentence) and not may_deny_in_other_words(texts.read_fact.text):
        return FactJudgment(
            texts.fact,
            "unknown",
            'the answer lacks the "not" that is expected, but other words of it may mean that',
        )
    decision = read_decision(texts.answer)
    if decision is not None and not decision.is_yes:
        reason = f'the answer begins with "{decision.spelled}", and says this without the "not" that is expected'
        return FactJudgment(texts.fact, "unknown", reason)
    if _denies_elsewhere(texts, occurrence.clause):
        reason = 'the answer says this without the "not" that is expected, and another sentence denies something of it'
        return FactJudgment(texts.fact, "unknown", reason)
    return FactJudgment(texts.fact, "denied", 'the answer says this without the "not" that is expected')


_NOT_BEFORE = build_pattern(r"\b(?:before|until|till|earlier|within|trước)\b")
_FROM_THEN = build_pattern(r"\b(?:after|from|once|earliest|sau|từ)\b")


def _states_first_moment(texts: FactTexts, clause: ClauseSpan) -> bool:
    """Return whether a clause says after what something holds that a fact denies before it: "after two days" for "not
    before two days"."""
    if _NOT_BEFORE.search(texts.read_fact.plain) is None:
        return False
    plain, start, end = texts.answer.plain, clause.sentence_start, clause.sentence_end
    return _FROM_THEN.search(plain, start, end) is not None and _NOT_BEFORE.search(plain, start, end) is None


def _denies_elsewhere(texts: FactTexts, clause: ClauseSpan) -> bool:
    """Return whether another sentence has a negation and a word of the fact: "Hoi An has none. The pool is in Hue."."""
    starts = {other.sentence_start: other.sentence_end for other in texts.answer.clauses}
    wanted = {word.folded for word in texts.content}
    for start, end in starts.items():
        if start == clause.sentence_start or NEGATION.search(texts.answer.plain, start, end) is None:
            continue
        if any(word.folded in wanted for word in texts.answer.list_words(start, end)):
            return True
    return False


def _judge_denied_predicate(texts: FactTexts, occurrence: Occurrence, is_negated: bool) -> FactJudgment | None:
    """Return the judgment of a clause that affirms what the question denies; None if it denies it too, or is short.

    "It is allowed in Peru" says the contrary of what "Where is it not allowed?" asks for.
    """
    denied, low, high = texts.denied_in_question, occurrence.clause.start, occurrence.clause.end
    clause = texts.answer.plain[low:high]
    affirmed = _DEED_AFFIRMED.fullmatch(texts.answer.plain, occurrence.end, occurrence.clause.sentence_end)
    if not is_negated and affirmed is not None:
        return FactJudgment(
            texts.fact, "denied", f'the question asks what is not so, and the answer says "{affirmed[0].strip(" .!")}"'
        )
    if is_negated or not re.search(rf"\b{re.escape(denied)}\b", clause):
        return None
    if find_negations(texts.answer, low, high):
        return FactJudgment(
            texts.fact, "unknown", "the answer denies something in the sentence that has this, and perhaps this too"
        )
    state: FactState = "unknown" if _ASKS_FOR_REASON.search(texts.question.plain) else "denied"
    return FactJudgment(texts.fact, state, f'the question asks what is not so, and the answer says "{denied}"')
