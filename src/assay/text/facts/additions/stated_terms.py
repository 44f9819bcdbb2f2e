"""On which terms an answer states a fact, compared with those of its sources.

"Free during the first year" for what is free, "20 books a year in total" for 20 at a time, "provided that a teacher
signs" where nobody else speaks of a teacher, "the same as for all visitors", "recommended" for what has to be done.
Such a term leaves the fact open, unless question, reference, facts or evidence have it. The patterns are for folded
text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.text.facts.additions.unexplained_additions import find_new_word, find_part_end
from assay.text.facts.cues.condition_cues import EXCEPTION
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import FORBIDS_VERB, FORBIDS_VERB_IN_OTHER_LANGUAGES
from assay.text.facts.cues.term_cues import (
    ADVISED,
    AS_ALL,
    AT_ONCE,
    BESIDE,
    DURING,
    EACH_TIME,
    FINE,
    IF,
    IF_YOU_LIKE,
    IN_ALL_TERMS,
    PART_OF_TIME,
    PART_OF_TIME_AFTER,
    PROVIDED,
    SMALL_NUMBER,
    TOO,
)
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.expected.yes_or_no import is_mere_decision
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import CLAUSE_REACH, Word
from assay.text.facts.reading.statement_marks import ONLY
from assay.text.facts.reading.text_parts import Part, list_quantities
from assay.text.late_pattern import LatePattern


def list_terms(texts: FactTexts, occurrence: Occurrence, own: Part) -> Iterator[str]:
    """Yield the terms on which an answer states a fact and of which nothing else speaks."""
    if is_mere_decision(texts.fact):  # what follows the yes or no says on which terms it holds
        own = Part(occurrence.clause.sentence_start, occurrence.clause.sentence_end, False)
    yield _name_part_of_time(texts, own)
    yield _name_other_scope(texts, own)
    yield _name_condition(texts, occurrence)
    yield _name_all_others(texts, occurrence)
    yield _name_further_way(texts, occurrence)
    yield _name_advice(texts, occurrence, own)
    yield _name_whole_beside(texts, occurrence)
    yield _name_denied(texts, occurrence)


_PART_OF_TIME = build_pattern(
    rf"\b{DURING} (?:\d+ )?(?:{PART_OF_TIME} (?:{SMALL_NUMBER} )?(?P<noun>[a-z]+)"
    rf"|(?P<before>[a-z]+) {PART_OF_TIME_AFTER})\b"
)


def _name_part_of_time(texts: FactTexts, own: Part) -> str:
    """Return for which part of a time alone an answer says a fact, unless a source has a part of that time."""
    for match in _PART_OF_TIME.finditer(texts.answer.plain, own.start, own.end):
        word = texts.answer.word_at(max(match.start("noun"), match.start("before")))
        is_new_noun = word is not None and may_be_subject(word) and not texts.is_known(word)
        if is_new_noun or not any(_PART_OF_TIME.search(text.plain) for text in texts.known):
            return f'the answer says this "{texts.answer.text[slice(*match.span())]}", of which nothing else speaks'
    return ""


_SCOPES = tuple(build_pattern(rf"\b{cues}\b") for cues in (AT_ONCE, IN_ALL_TERMS, EACH_TIME))
"""Ways to count, which exclude each other."""


def _name_other_scope(texts: FactTexts, own: Part) -> str:
    """Return how an answer counts a value in another way than question, reference and facts do."""
    expected = {number for number, scope in enumerate(_SCOPES) if texts.has_cue(scope)}
    stated = {
        number: match
        for number, scope in enumerate(_SCOPES)
        if (match := scope.search(texts.answer.plain, own.start, own.end)) is not None
    }
    if not stated or not expected or not expected.isdisjoint(stated):
        return ""
    match = next(iter(stated.values()))
    return f'the answer says this "{texts.answer.text[slice(*match.span())]}", and its sources count it in another way'


_PROVIDED = build_pattern(rf"\b{PROVIDED}\b")
_IF = build_pattern(rf"(?: [^\W\d_]+){{0,4}}? {IF} (?!{IF_YOU_LIKE}\b)")
"""Begins a condition right after a fact, or after the noun that its number counts."""
_ENDS_CONDITION = LatePattern(r"[.;!?](?: |$)")
_FEWEST_NEW = 2
"""Unexplained words that make a condition another one than the expected one in other words."""


def _name_condition(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return the condition on which an answer says a fact, if most of its words are nobody else's.

    Without reference and evidence nothing tells that the fact is all.
    """
    if not texts.has_source:
        return ""
    answer, clause = texts.answer, occurrence.clause
    direct = _IF.match(answer.plain, occurrence.end, clause.sentence_end)
    cues = [
        *([direct] if direct is not None else []),
        *_PROVIDED.finditer(answer.plain, clause.sentence_start, clause.sentence_end),
    ]
    for cue in cues:
        end = _ENDS_CONDITION.search(answer.plain, cue.end(), clause.sentence_end)
        stop = clause.sentence_end if end is None else end.start()
        if cue.start() < occurrence.start < stop:
            continue  # the fact is the condition, or what follows it
        words = [word for word in answer.list_words(cue.end(), stop) if may_be_subject(word)]
        new = [word for word in words if not _is_said(texts, word)]
        if len(new) >= _FEWEST_NEW and 2 * len(new) > len(words):
            return (
                f'the answer says this on a condition, "{answer.text[cue.start() : stop].strip()}", of which nothing'
                " else speaks"
            )
    return ""


def _is_said(texts: FactTexts, word: Word) -> bool:
    """Whether a source has a word, or what may stand for it; that it is general does not count here."""
    return texts.is_explained(word) or any(text.find_word(word, True) for text in texts.passages)


_AS_ALL = build_pattern(rf"\b{AS_ALL}\b")


def _name_all_others(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return of which others an answer says that all of them have the same, unless something else speaks of that."""
    answer, end = texts.answer, occurrence.clause.sentence_end
    cue = _AS_ALL.search(answer.plain, occurrence.end, end)
    if cue is None or any(_AS_ALL.search(text.plain) for text in texts.known):
        return ""
    stop = find_part_end(texts, cue.end(), end)
    return f'the answer says "{answer.text[cue.start() : stop].strip(" .")}", of which nothing else speaks'


_FURTHER_WAY = build_pattern(rf"\b(?:{TOO} (?:[a-z]+ )?{FINE}|{FINE} {TOO})\b")


def _name_further_way(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return what else an answer allows later, where the fact is the only thing that is allowed."""
    answer = texts.answer
    cue = _FURTHER_WAY.search(answer.plain, occurrence.end)
    if cue is None or not any(ONLY.search(text.plain) for text in texts.reference_and_facts):
        return ""
    clause = answer.clause_at(cue.start())
    low = max(clause.sentence_start, occurrence.end)
    if find_new_word(texts, low, clause.sentence_end) is None:
        return ""
    return f'the answer allows something else as well: "{answer.text[low : clause.sentence_end].strip(" .,;")}"'


_ADVISED = build_pattern(rf"\b{ADVISED}\b")


def _name_advice(texts: FactTexts, occurrence: Occurrence, own: Part) -> str:
    """Return how an answer only advises what has to be done, unless something else speaks of advice."""
    cue = _ADVISED.search(texts.answer.plain, occurrence.start, own.end)
    if cue is None or any(_ADVISED.search(text.plain) for text in texts.known):
        return ""
    return f'the answer says that this is "{texts.answer.text[slice(*cue.span())]}", and nothing else does'


_BESIDE = build_pattern(rf"\b{BESIDE}(?: (?:the|your|dem|der|ihrem|votre|la|le))? ")


def _name_whole_beside(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return beside what an answer puts a value, if the question asks for the part of that: "€78 on top of the fee"."""
    answer = texts.answer
    cue = _BESIDE.search(answer.plain, occurrence.end, occurrence.clause.sentence_end)
    word = answer.word_at(cue.end()) if cue is not None else None
    if cue is None or word is None or not any(topic.key == word.key for topic in texts.list_topics()):
        return ""
    if any(_BESIDE.search(text.plain) for text in texts.known):
        return ""
    return f'the answer says this of what is "{answer.text[cue.start() : word.end]}"'


def _get_surroundings(occurrence: Occurrence) -> tuple[int, int]:
    return max(0, occurrence.start - CLAUSE_REACH), occurrence.end + CLAUSE_REACH


_LIMITS = build_pattern(rf"\b{EXCEPTION}\b")
_DENIED_VERB = build_pattern(rf"\b(?:{FORBIDS_VERB}|{FORBIDS_VERB_IN_OTHER_LANGUAGES})(?: be)? ")


def _name_denied(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return what an answer says cannot be done, and the reference says without denying or limiting anything: "it can't
    be renewed" where there are up to five renewals."""
    reference = texts.reference
    if find_negations(reference) or _LIMITS.search(reference.plain) or ONLY.search(reference.plain):
        return ""
    answer = texts.answer
    for cue in _DENIED_VERB.finditer(answer.plain, *_get_surroundings(occurrence)):
        clause = answer.clause_at(cue.start())
        word = answer.word_at(cue.end())
        if list_quantities(answer, cue.end(), clause.end) or _LIMITS.search(
            answer.plain, cue.end(), clause.sentence_end
        ):
            continue
        if word is None or not may_be_subject(word) or texts.question.find_word(word, True):
            continue
        if reference.find_word(word, not (answer.has_marks and reference.has_marks)):
            return f'the answer says "{answer.text[cue.start() : word.end]}", and the reference does not deny that'
    return ""
