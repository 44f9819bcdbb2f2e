"""Which role an answer gives to what a fact names: the one that is asked for, or another one beside it.

"It is sent to the manager" names the manager as the one who gets it, "opposite room 4" is not in room 4, and "the
manager is exempt" does not say that the manager pays. The patterns are for folded text (`fold_in_place`), so
Vietnamese is written without diacritics. A value ("9 o'clock", "20 kg") has no role.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.text.facts.cues.condition_cues import OR, OR_OF_NAMES, UPWARDS
from assay.text.facts.cues.cue_pattern import build_pattern, list_words
from assay.text.facts.cues.denial_cues import EXEMPT
from assay.text.facts.cues.limit_cues import NEEDED_AT_LEAST
from assay.text.facts.cues.question_cues import ASKS_FOR_PERSON, ASKS_FOR_PREDECESSOR, ASKS_WHO
from assay.text.facts.cues.role_cues import (
    ASKED_ABOUT,
    AT,
    BESIDE,
    COMPARED_WITH,
    DEPUTY,
    FOR_PERSON,
    KIN,
    MOVED_TO,
    OPEN_TO,
    OPPOSITE,
    SUCCEEDS,
)
from assay.text.facts.cues.word_classes import AUXILIARIES, BEING, RELATIVES
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence, find_stated_quantity
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word
from assay.text.facts.reading.spelled_words import is_cue_spelled
from assay.text.facts.reading.text_parts import find_part
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import is_plain
from assay.text.quantities.weekdays import WEEKDAY

_REACH = 40  # characters before and after a fact in which words for its role are searched
_ARTICLE = "(?:(?:the|an?|your|our|their|his|her|its|ông|bà|anh|chị|cô|các|những) )?"
_EXEMPT_AFTER = build_pattern(
    rf"[\"')*]{{0,3}},? (?:(?:cũng|thì|vẫn|lại|hiện|sẽ) )*(?P<cue>{EXEMPT})\b(?! (?:ai|còn ai|người)\b)"
)
"""Says right after a name that what is said of others does not hold of it."""
_OR_AFTER = build_pattern(rf"[\"')*]{{0,3}},? {OR_OF_NAMES} (?P<other>[^\W\d_]+)")
_OR_BEFORE = build_pattern(rf"(?<![^\W\d_])(?P<other>[^\W\d_]+),? {OR_OF_NAMES} {_ARTICLE}$")
_OR = build_pattern(rf"\b(?:{OR}|either|any|bất kỳ|một trong)\b")
_AND_ABOVE = build_pattern(f"{UPWARDS}")
_LEAST = build_pattern(rf"\b{NEEDED_AT_LEAST}\b")
"""Speaks of what is needed at least, so that "or later" names no other thing."""
_ASKS_WHO = build_pattern(rf"{ASKS_WHO}\b(?! (?:is|are|was|were|được|bị)\b)")
_RECIPIENT = build_pattern(rf"\b(?P<cue>{FOR_PERSON}) {_ARTICLE}$")
"""Says before a name that somebody else does it: for, to or instead of the one who is named."""
_MOVED_FROM = build_pattern(rf"\b(?P<cue>từ|from) {_ARTICLE}$")
_MOVED_TO = build_pattern(rf"[^.;]{{0,30}}\b{MOVED_TO}\b")
_BESIDE = build_pattern(rf"\b(?P<cue>{OPPOSITE})(?: (?:với|to))? {_ARTICLE}$")
_NEXT_TO = build_pattern(rf"\b(?P<cue>{BESIDE}) {_ARTICLE}$")
_AT = build_pattern(rf"\b{AT}\b")
_DEPUTY = build_pattern(rf"\b(?P<cue>{DEPUTY})[ -]$")
_ASKED = build_pattern(rf"\b(?P<cue>ask|hỏi) {_ARTICLE}$")
_ASKED_ABOUT = build_pattern(rf"\b(?P<cue>{ASKED_ABOUT}) {_ARTICLE}$")
_PREDECESSOR = build_pattern(rf"\b(?P<cue>{SUCCEEDS}) {_ARTICLE}$")
"""Says before a name that somebody else is it now."""
_ASKS_FOR_PREDECESSOR = build_pattern(rf"\b{ASKS_FOR_PREDECESSOR}\b")
_ASKED_AFTER = LatePattern(r"[^,.;!?]{0,30}?\b(?P<cue>who|whom)\b")
_COMPARED = build_pattern(rf"\b(?P<cue>{COMPARED_WITH}) {_ARTICLE}$")
_OWNED_AFTER = LatePattern(r"(?:(?<='s)|(?<=s')|(?<=s)') (?P<owned>[a-z]+)")
_OWNED_BEFORE = build_pattern(
    rf"(?:^|[,;:.] |\b(?:is|was|by|là|do) ){_ARTICLE}(?!{OPEN_TO}\b)(?P<owned>[^\W\d_]+(?: [^\W\d_]+)?)"
    rf" (?P<cue>of|to|của) {_ARTICLE}$"
)
"""Says that somebody else is meant, whom the name only tells apart: "the assistant of", "phó của"."""
_RELATIVE_BEFORE = build_pattern(rf"(?:^|[,;:.] |\b(?:là|do) )(?P<owned>{KIN}) {_ARTICLE}$")
"""Says the same of a relative: "vợ thầy Minh"."""
_ASKS_FOR_PERSON = build_pattern(rf"\b{ASKS_FOR_PERSON}\b")


def judge_role(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact to which an answer may give another role than the one that is asked for."""
    if not texts.question.words or texts.is_negative or texts.denied_in_question:
        return None
    stated = find_stated_quantity(texts.answer, occurrence)
    if stated is not None and not is_plain(stated):
        return None
    reason = next(_list_reasons(texts, occurrence, has_number=stated is not None), "") or _name_other_person(
        texts, occurrence
    )
    return FactJudgment(texts.fact, "unknown", reason) if reason else None


def _list_reasons(texts: FactTexts, occurrence: Occurrence, *, has_number: bool) -> Iterator[str]:
    answer, clause = texts.answer, occurrence.clause
    before = (max(clause.sentence_start, occurrence.start - _REACH), occurrence.start)
    after = (occurrence.end, min(clause.sentence_end, occurrence.end + _REACH))
    cue = _EXEMPT_AFTER.match(answer.plain, *after)
    if _is_new(texts, cue):
        yield "the answer says that what is asked does not hold of this"
    for alternative in (_OR_AFTER.match(answer.plain, *after), _OR_BEFORE.search(answer.plain, *before)):
        if alternative is not None and not has_number and _is_alternative(texts, alternative):
            yield f'"{alternative["other"]}" is what the answer offers instead'
    if _ASKS_WHO.match(texts.question.plain) and _is_new(texts, _RECIPIENT.search(answer.plain, *before)):
        yield "the answer names this as the one for whom something is done"
    moved_from = _MOVED_FROM.search(answer.plain, *before)
    is_day = WEEKDAY.search(texts.read_fact.plain) is not None  # "from Tuesday to Saturday"
    if not is_day and _MOVED_TO.match(answer.plain, *after) and _is_new(texts, moved_from):
        yield "the answer names this as what something is moved from"
    if _is_new(texts, _ASKED.search(answer.plain, *before)) and _ASKS_WHO.match(texts.question.plain):
        yield "the answer only names this as whom to ask"
    if _is_new(texts, _COMPARED.search(answer.plain, *before)):
        yield "the answer compares something else with this"
    if _ASKS_FOR_PERSON.search(texts.question.plain) and not has_number:
        owned = _OWNED_AFTER.match(answer.plain, *after) or _OWNED_BEFORE.search(answer.plain, *before)
        owned = owned or _RELATIVE_BEFORE.search(answer.plain, *before)
        if owned is not None and _is_unexplained(texts, owned.start("owned")):
            yield f'the answer names this only to say whose "{owned["owned"]}" it means'
    if _is_new(texts, _BESIDE.search(answer.plain, *before)):
        yield "the answer only names this to say what is opposite to it"
    yield from _list_neighbours(texts, before) if not has_number else ()


def _list_neighbours(texts: FactTexts, before: tuple[int, int]) -> Iterator[str]:
    """Yield how an answer names a place or role beside what a fact names: "next to the hall", "the deputy manager"."""
    plain = texts.answer.plain
    if not texts.has_cue(_AT) and _is_new(texts, _NEXT_TO.search(plain, *before)):
        yield "the answer only names this to say what is next to it"
    if _is_new(texts, _DEPUTY.search(plain, *before)):
        yield "the answer names another role than this one"


def _name_other_person(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return why a name is not that of the person that the question asks for, "" if nothing says so."""
    if not _ASKS_FOR_PERSON.search(texts.question.plain):
        return ""
    plain, clause = texts.answer.plain, occurrence.clause
    before = (max(clause.sentence_start, occurrence.start - _REACH), occurrence.start)
    is_past_asked = _ASKS_FOR_PREDECESSOR.search(texts.question.plain) is not None
    if not is_past_asked and _is_new(texts, _PREDECESSOR.search(plain, *before)):
        return "the answer names somebody else as the one now"
    other_actor = _name_other_actor(texts, occurrence)
    if other_actor:
        return other_actor
    is_to_ask = _is_new(texts, _ASKED_ABOUT.search(plain, *before))
    if is_to_ask and _ASKED_AFTER.match(plain, occurrence.end, min(clause.sentence_end, occurrence.end + _REACH)):
        return "the answer only names this as whom to ask"
    return ""


def _name_other_actor(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return why somebody else does to what a fact names what the question asks who does; "" if nothing says so.

    "The league pays the referee" does not say that the referee pays. What is done by somebody, or is somebody ("the one
    who pays is the referee"), is no such statement.
    """
    answer, verb = texts.answer, _find_asked_verb(texts.question)
    if verb is None or texts.list_repeated_words():
        return ""
    part = find_part(answer, occurrence.clause, occurrence.start)
    if _is_passive_subject(texts, occurrence, verb, part.end):
        return _DONE_TO
    done = [answer.words[index] for index in answer.find_word(verb, texts.ignore_marks)]
    done = [own for own in done if part.start <= own.start < occurrence.start]
    if not done or find_negations(answer, part.start, occurrence.start):
        return ""
    before = answer.list_words(part.start, done[-1].start)
    between = answer.list_words(done[-1].end, occurrence.start)
    names = [word for word in before if may_be_subject(word)]
    if not names or any(word.folded in _NO_ACTOR for word in before[-_BEFORE_VERB:]):
        return ""
    if any(word.folded in _IS_DONE_BY for word in between) or any(word.folded in RELATIVES for word in before):
        return ""
    return _DONE_TO


_DONE_TO = "in the answer this is not who does what is asked, but to whom it is done"
_BY_AFTER = build_pattern(r" by\b")


def _is_passive_subject(texts: FactTexts, occurrence: Occurrence, verb: Word, end: int) -> bool:
    """Whether a fact is what something is done to by another: "the teacher is informed by the parents"."""
    answer = texts.answer
    for index in answer.find_word(verb, texts.ignore_marks):
        own = answer.words[index]
        is_after = occurrence.end <= own.start < end and own.start - occurrence.end <= _REACH
        before = answer.words[max(0, index - _BEFORE_VERB) : index]
        if is_after and any(word.folded in BEING or word.folded == "be" for word in before):
            return _BY_AFTER.match(answer.plain, own.end) is not None
    return False


def _find_asked_verb(question: ReadText) -> Word | None:
    """Return the verb of a question for who does something, None of any other and of one that asks who somebody is."""
    asks = _ASKS_WHO.match(question.plain)
    following = question.list_following(asks.end(), _MOST_TO_VERB) if asks is not None else ()
    verb = next((word for word in following if word.kind != "stop" and word.folded not in AUXILIARIES), None)
    is_first = verb is not None and all(word.folded in _HELPING for word in following[: following.index(verb)])
    return verb if is_first else None


_MOST_TO_VERB = 3
_BEFORE_VERB = 2
"""Words before a verb that tell who does it: "is paid", "được trả"."""
_HELPING = AUXILIARIES - list_words("is are was were be been là")
_NO_ACTOR = BEING | list_words("be been being by to who bị được do ai người nguoi")
_IS_DONE_BY = BEING | list_words("be by do bởi là whoever")


def _is_new(texts: FactTexts, cue: re.Match[str] | None) -> bool:
    """Whether there is a cue, spelled as it is meant, that neither question, reference nor facts have."""
    if cue is None or not is_cue_spelled(texts.answer, cue, "cue"):
        return False
    return not any(f" {cue['cue']} " in f" {text.plain} " for text in texts.explaining)


def opens_upwards(texts: FactTexts, word: str) -> bool:
    """Return whether a word after "or" names nothing else, as "later" where something is needed at least."""
    is_above = _AND_ABOVE.fullmatch(word) is not None
    return is_above and texts.has_cue(_LEAST)


def _is_alternative(texts: FactTexts, cue: re.Match[str]) -> bool:
    if texts.has_cue(_OR):
        return False
    if opens_upwards(texts, cue["other"]):
        return False
    return _is_unexplained(texts, cue.start("other")) or _is_other_fact(texts, cue.start("other"))


def _is_other_fact(texts: FactTexts, start: int) -> bool:
    """Whether the word that starts at a position is one of another fact, so that an answer has to state both."""
    word = texts.answer.word_at(start)
    if word is None or texts.read_fact.find_word(word, True) or texts.question.find_word(word, True):
        return False
    return any(fact.find_word(word, True) for fact in texts.facts)


def _is_unexplained(texts: FactTexts, start: int) -> bool:
    """Whether the word that starts at a position is none of grammar, and nothing explains it."""
    word = texts.answer.word_at(start)
    return word is not None and word.kind != "stop" and not texts.is_familiar(word)
