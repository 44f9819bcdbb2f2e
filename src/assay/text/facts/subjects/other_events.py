"""Whether the statement that holds a fact is about something else than the question: a value with its own event.

"The stove is lit at 10" has the hour at which the sauna opens, and dates another event. What a statement is about is
told by its nouns: the one that begins it, and the one to which something is done. Where neither question, facts nor
reference have that noun, the fact is open. A noun after a preposition ("at the desk") only says where or with what, so
that it speaks for no other event, and a word of the question there ("the kiosk on the island") for none that is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from assay.text.facts.cues.cue_pattern import build_pattern, list_words
from assay.text.facts.cues.word_classes import (
    AUXILIARIES,
    BEING,
    CONDITIONS_WRITTEN,
    DETERMINERS,
    GENERAL_SYLLABLES,
    GENERAL_VERBS,
    GENERIC_NOUNS,
    INVITING_WRITTEN,
    NEXT_CLAUSE,
    PREDICATES,
    PREPOSITIONS,
    PREPOSITIONS_WRITTEN,
    REPORTING_WRITTEN,
)
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence, find_stated_quantity
from assay.text.facts.presence.value_sources import is_said_with, iterate_value_sources
from assay.text.facts.reading.opposite_words import find_opposite_event
from assay.text.facts.reading.read_text import ReadText, Word
from assay.text.facts.reading.spelled_words import is_cue_spelled
from assay.text.facts.reading.text_parts import Part, find_part
from assay.text.facts.subjects.other_terms import list_other_terms
from assay.text.languages import guess_language, is_other_language, is_vietnamese
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import Quantity, is_plain, is_time
from assay.text.quantities.quantity_agreement import is_same_value
from assay.text.quantities.weekdays import WEEKDAY

_MOST_WORDS = 4  # of a noun with what stands before and after it
_FEWEST_NEW = 2  # words that nothing explains, which a statement of another event has: its noun and its verb
_FEWEST_SYLLABLES = 3  # the same in Vietnamese, where a noun has two
_PART_OF = build_pattern(r"(?:trong (?:đó|số)|of (?:the|these|those|which|them))\b")
"""Begins a sentence that speaks of a part of something."""


def judge_event(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact that the answer states of another event; None if nothing shows that it does."""
    if not texts.list_topics():
        return None  # "How many?" is about nothing
    reason = next(_list_reasons(texts, occurrence), "")
    return FactJudgment(texts.fact, "unknown", reason) if reason else None


def _list_reasons(texts: FactTexts, occurrence: Occurrence) -> Iterator[str]:
    answer, stated = texts.answer, find_stated_quantity(texts.answer, occurrence)
    part = find_part(answer, occurrence.clause, occurrence.start if stated is None else stated.start)
    noun = _find_other_event(texts, occurrence, stated, part)
    if noun:
        yield f'the answer says this of "{answer.text[noun[0].start : noun[-1].end]}", of which nothing else speaks'
    predicate = _find_other_predicate(texts, part)
    if predicate is not None:
        spelled = answer.text[predicate.start : predicate.end]
        yield f'the answer says when it is "{spelled}", of which nothing else speaks'
    counted = _find_other_count(texts, stated)
    if counted is not None:
        yield f'the answer counts "{answer.text[counted.start : counted.end]}", and another thing is asked about'
    content = _find_other_content(texts, stated)
    if content is not None:
        yield f'the answer says how much "{answer.text[content.start : content.end]}" it is, and its source does not'
    is_of_part = _PART_OF.match(answer.plain, occurrence.clause.sentence_start) is not None
    if is_of_part and not texts.has_cue(_PART_OF):
        yield "the answer says this of a part of what is asked"
    consequence = _find_consequence(texts, occurrence, part)
    if consequence is not None:
        spelled = answer.text[consequence.start : consequence.end]
        yield f'the answer makes "{spelled}" depend on this, and neither question nor evidence speak of that'
    if stated is not None:
        opposite = find_opposite_event(texts.question, answer, part.start, part.end)
        of_source = find_opposite_event(texts.question, texts.reference, 0, len(texts.reference.plain))
        if opposite is not None and opposite != of_source:
            yield f'the answer says this with "{opposite[1]}", and the question is about "{opposite[0]}"'
        yield from list_other_terms(texts, stated, part)


def _find_other_event(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None, part: Part) -> Sequence[Word]:
    """Return the unexplained noun that a part of an answer with a fact is about; none if there is no such noun."""
    if stated is not None and is_plain(stated) and not texts.content:
        return ()  # a code or a number of things, of which other rules tell what it counts
    words = texts.answer.list_words(part.start, part.end)
    topics = {word.key for word in texts.list_topics()} - {word.key for word in texts.content}
    start, end = (occurrence.start, occurrence.end) if stated is None else (stated.start, stated.end)
    before, after = ([word for word in words if word.start < start], [word for word in words if word.start >= end])
    if all(word.folded in GENERIC_NOUNS for word in texts.list_topics()):
        return ()  # "what is the fee?" may be answered of a ticket
    counted = takewhile(lambda word: word.folded not in NEXT_CLAUSE, after[:_GOVERNED])
    if any(word.key in topics and word.folded not in GENERAL_SYLLABLES for word in counted):
        return ()  # "25 days of leave" says what the value is of
    if is_vietnamese(texts.question.text):
        noun = _find_vietnamese_subject(texts, part, before)
        is_dated = stated is not None and (bool(stated.date) or is_time(stated))
        return noun or (_find_vietnamese_event(texts, before, after) if is_dated else ())
    if not _is_english(texts.question.text):
        return ()
    noun = _find_other_noun(texts, before, start, has_value=stated is not None) or _find_bare_subject(texts, before)
    return noun or (_find_noun_after(texts, before, after) if stated is not None else ())


@lru_cache(maxsize=1024)
def _is_english(question: str) -> bool:
    return guess_language(question) == "en" or not is_other_language(question)


def _count_new(texts: FactTexts, words: Sequence[Word]) -> int:
    """Return how many words nothing explains; verbs that come with any value do not count."""
    return sum(texts.is_new(word) and word.folded not in GENERAL_VERBS for word in words)


def _list_topics(texts: FactTexts, words: Sequence[Word]) -> list[bool]:
    """Return of each word of the question among some whether it follows a preposition.

    Then it only tells which other thing is meant: "the kiosk on the island".
    """
    topics = {word.key for word in texts.list_topics()}
    return [
        any(own.folded in PREPOSITIONS for own in words[max(0, index - _GOVERNED) : index])
        for index, word in enumerate(words)
        if word.key in topics
    ]


def list_nouns(words: Sequence[Word]) -> Iterator[tuple[int, Sequence[Word]]]:
    """Yield the English nouns with a determiner that follow no preposition, and where each determiner stands."""
    for index, word in enumerate(words):
        if word.folded not in DETERMINERS or (index > 0 and words[index - 1].folded in PREPOSITIONS):
            continue
        noun: list[Word] = []
        for following in words[index + 1 : index + 1 + _MOST_WORDS]:
            if following.kind == "stop" or not may_be_subject(following) or following.folded in AUXILIARIES:
                break
            noun.append(following)
        if noun:
            yield index, noun


def _find_other_noun(texts: FactTexts, before: Sequence[Word], start: int, *, has_value: bool) -> Sequence[Word]:
    """Return the unexplained noun before a fact: its subject, or what is done ("you get the certificate after …").

    A subject has a verb that nothing explains too: "the money is there in 5 days" may say in other words what is asked.
    """
    for index, noun in list_nouns(before):
        if any(not texts.is_new(word) or word.folded in GENERIC_NOUNS for word in noun):
            continue
        if any(word.folded in REPORTING_WRITTEN for word in before[index + 1 : index + 2 + len(noun)]):
            continue  # "the manual says that …"
        if len(noun) == 1 and start - noun[0].end <= _ADJACENT:
            continue  # "a pleasant 28 degrees"
        is_subject = all(word.kind == "stop" for word in before[:index])
        if is_subject or WEEKDAY.search(before[0].folded):
            topics = _list_topics(texts, before[index:])
            evidence = _count_new(texts, before[index:]) + any(topics)
            if (evidence >= _FEWEST_NEW and all(topics)) or _is_named_instead(texts, before, index, noun):
                return noun
        elif has_value and _is_object(before, index, noun):
            return noun
    return ()


_ASKS_WHEN = build_pattern(
    r"(?:(?:from|until|till|by|since|on|at) )?(?:when|what time|wh(?:at|ich) da(?:y|te)) "
    r"(?:is|are|was|were|will|do|does|did|has|have|can|must|should)\b"
)
_ASKS_WHICH_DID = build_pattern(r"wh(?:at|ich) (?:version|release|year|month|day|edition) (?P<verb>[a-z]+ed)\b")
_IS = list_words("is are was were be been becomes become gets get being")


def _find_other_predicate(texts: FactTexts, part: Part) -> Word | None:
    """Return the word for what the answer says to happen to what is asked about, if nothing explains it and the word
    of the question for what happens is not there: "the hall is emptied on Monday", asked when it is demolished."""
    topics = texts.list_topics()
    did = _ASKS_WHICH_DID.match(texts.question.plain)
    asked = texts.question.word_at(did.start("verb")) if did is not None else None
    if asked is None and topics and _ASKS_WHEN.match(texts.question.plain) is not None:
        asked = topics[-1]
    if asked is None or texts.answer.find_word(asked, True):
        return None
    words = texts.answer.list_words(part.start, part.end)
    subject = {word.key for word in topics if word.key != asked.key}
    for index, word in enumerate(words):
        if word.folded not in _IS or not any(own.key in subject for own in words[:index]):
            continue
        following = [own for own in words[index + 1 :] if own.kind != "stop" and may_be_subject(own)]
        if following and _is_other_predicate(texts, following[0]):
            return following[0]
    return None


def _is_other_predicate(texts: FactTexts, word: Word) -> bool:
    return texts.is_new(word) and not texts.is_known(word) and word.folded not in GENERIC_NOUNS | GENERAL_VERBS


def _has_explained(texts: FactTexts, words: Sequence[Word]) -> bool:
    return any(word.kind != "stop" and texts.is_explained(word) for word in words)


def _find_bare_subject(texts: FactTexts, before: Sequence[Word]) -> Sequence[Word]:
    """Return the unexplained noun without an article that begins a part before a fact: "spare parts are kept …".

    It is a noun if a verb of grammar follows.
    """
    noun = list(takewhile(lambda word: word.kind != "stop" and may_be_subject(word), before[: _MOST_WORDS + 1]))
    following = before[len(noun)] if len(noun) < len(before) else None
    is_before_verb = following is not None and (following.folded in AUXILIARIES or following.folded == "have")
    if not noun or not is_before_verb:
        return ()
    is_new = all(texts.is_new(word) and word.folded not in GENERIC_NOUNS for word in noun)
    return noun if is_new and not _list_topics(texts, before) and _count_new(texts, before) >= _FEWEST_NEW else ()


_SYLLABLES = 2  # before a word, of which one may be its preposition


def _is_named_instead(texts: FactTexts, before: Sequence[Word], index: int, noun: Sequence[Word]) -> bool:
    """Whether a noun is said to be what is asked of something else: "the toilets are on", asked "where is the bar?"."""
    following = before[index + 1 + len(noun) : index + 2 + len(noun)]
    is_said_to_be = bool(following) and following[0].folded in BEING
    asks_what_is = any(word.folded in BEING for word in texts.question.words)
    topics = texts.list_topics()
    asks_of_value = any(word.folded in GENERIC_NOUNS for word in topics)
    is_repeated = any(word.key == asked.key for word in before for asked in topics)
    return is_said_to_be and asks_what_is and not asks_of_value and not is_repeated


_GOVERNED = 3  # words from a preposition to the noun that it governs: "on the opening hours"
_SECOND = 2  # words before a noun with an article: "inside the halls the …"
_ADJACENT = 2  # characters between a word and a value, with a sign of a currency


def _is_object(before: Sequence[Word], index: int, noun: Sequence[Word]) -> bool:
    """Whether a noun is what a verb is done to, and no measure of a value: "has a volume of 5 litres"."""
    following = before[index + 1 + len(noun) : index + 2 + len(noun)]
    verb = before[index - 1]
    return (
        verb.kind != "stop"
        and not any(word.folded == "of" for word in following)
        and not (index >= _SECOND and before[index - _SECOND].folded in DETERMINERS)
    )


def _find_noun_after(texts: FactTexts, before: Sequence[Word], after: Sequence[Word]) -> Sequence[Word]:
    """Return the unexplained noun that follows a value at the beginning of a part: "after 5 hours the pump stops"."""
    if any(word.kind != "stop" for word in before):
        return ()
    for index, noun in list_nouns(after):
        is_new = all(texts.is_new(word) and word.folded not in GENERIC_NOUNS for word in noun)
        is_object = index > 0 and after[index - 1].kind != "stop" and not _has_explained(texts, after[: index - 1])
        is_subject = index == 0 and _count_new(texts, after) >= _FEWEST_NEW
        return noun if is_new and (is_subject or is_object) else ()
    return ()


def _find_vietnamese_subject(texts: FactTexts, part: Part, before: Sequence[Word]) -> Sequence[Word]:
    """Return the unexplained words that begin a part before a fact, if no word of the question there is of weight.

    Vietnamese has no articles; a subject stands first, and a preposition before what only tells which one is meant.
    """
    day = WEEKDAY.match(texts.answer.plain, part.start)
    rest = [word for word in before if day is None or word.start >= day.end()]
    begins_condition = bool(rest) and _spell(texts.answer, rest[0]) in CONDITIONS_WRITTEN
    is_condition = begins_condition and " thi " in texts.answer.plain[rest[0].end : part.end]
    subject = [word for word in rest if word.kind == "stop" or may_be_subject(word)]
    if is_condition:
        return _take_new(texts, subject[1:], fewest=1)
    return _take_new(texts, subject, fewest=_FEWEST_SYLLABLES)


def _find_vietnamese_event(texts: FactTexts, before: Sequence[Word], after: Sequence[Word]) -> Sequence[Word]:
    """Return the unexplained words that follow a value at the beginning of a part: "10 giờ sáng nhóm lò"."""
    if any(word.kind != "stop" and word.folded not in GENERAL_SYLLABLES for word in before):
        return ()
    rest = [word for word in after if word.kind == "stop" or may_be_subject(word)]
    return _take_new(texts, rest, fewest=_FEWEST_NEW)


def _take_new(texts: FactTexts, words: Sequence[Word], fewest: int) -> Sequence[Word]:
    """Return the first unexplained words, if the words begin with them and have no word of the question of weight.

    `fewest`: how many there must be at least. Two that are no one word, or next to a governed word of the question, do.
    """
    new = [word for word in words if _is_new_syllable(texts, word)]
    if not new:
        return ()
    if words and words[0].folded in PREDICATES and len(new) > _FEWEST_NEW:  # "mất chìa khóa đền": "mất" is "lose" too
        words = words[1:]
    if (
        len(new) < min(fewest, _FEWEST_NEW)
        or new[0] is not words[0]
        or _spell(texts.answer, new[0]) in INVITING_WRITTEN
    ):
        return ()
    if any(_spell(texts.answer, word) in REPORTING_WRITTEN for word in words):
        return ()
    answer, topics = texts.answer, {(word.key, word.marks) for word in texts.list_topics()}
    ignores_marks = not (answer.has_marks and texts.question.has_marks)
    is_told_apart = False
    for index, word in enumerate(words):
        if word.folded in GENERAL_SYLLABLES:
            continue
        is_topic = any(word.key == key and (ignores_marks or word.marks == marks) for key, marks in topics)
        governing = words[max(0, index - _SYLLABLES) : index]
        is_governed = any(_spell(answer, own) in PREPOSITIONS_WRITTEN for own in governing)
        if is_topic and not is_governed:
            return ()
        is_told_apart = is_told_apart or is_topic
    is_one_word = len(new) < fewest and new[1].start - new[0].end == 1
    return () if is_one_word and not is_told_apart else new[:_FEWEST_NEW]


def _is_new_syllable(texts: FactTexts, word: Word) -> bool:
    """Whether nothing explains a syllable; with diacritics, where both texts have them."""
    if not may_be_subject(word) or word.folded in GENERAL_SYLLABLES:
        return False
    return not any(text.find_word(word, not (text.has_marks and texts.answer.has_marks)) for text in texts.explaining)


def _spell(text: ReadText, word: Word) -> str:
    return text.text[word.start : word.end].lower()


_ONLY_THEN = build_pattern(r"[^,.;]{0,20}? (?P<then>mới)\b")
_ONLY_DO = LatePattern(
    r" (?P<then>do|does|did|will|would|can|could|may|must|should|need) (?:you|they|we|he|she|it|i|people|anyone)\b"
)
_ONLY_BEFORE = LatePattern(r"\bonly (?:[^,.;]{0,20} )?$")
_MOST_OF_CONSEQUENCE = 3  # words of a consequence that are looked at


def _find_consequence(texts: FactTexts, occurrence: Occurrence, part: Part) -> Word | None:
    """Return the first word of an unexplained consequence for which a fact is the condition.

    "Only within the city do you need a badge", "từ 1 triệu đồng mới có quà". Other words may say what is asked, so
    none of the consequence may be explained.
    """
    answer = texts.answer
    cue = _ONLY_THEN.match(answer.plain, occurrence.end, part.end)
    if cue is None or not is_cue_spelled(answer, cue, "then"):
        only = _ONLY_BEFORE.search(answer.plain, part.start, occurrence.start)
        is_only = only is not None or texts.read_fact.plain.startswith("only ")
        cue = _ONLY_DO.match(answer.plain, occurrence.end, part.end) if is_only else None
    if cue is None:
        return None
    words = answer.list_words(cue.end(), part.end)
    content = [word for word in words if word.kind != "stop" and may_be_subject(word)]
    content = [word for word in content if word.folded not in GENERAL_VERBS][:_MOST_OF_CONSEQUENCE]
    return content[0] if content and not any(texts.is_familiar(word) for word in content) else None


def _find_other_count(texts: FactTexts, stated: Quantity | None) -> Word | None:
    """Return the noun that a plain number counts, if nothing explains it ("two teachers" for "two", asked who travels
    free), or the sources count another one ("three reviewers read each proposal")."""
    is_bare = not texts.content and texts.read_fact.plain.strip(" .").isalnum()  # and no score: "3-1"
    if stated is None or not is_bare or not is_plain(stated):
        return None
    word = texts.answer.take_next_word(stated.end)
    if word is None or word.start - stated.end != 1:
        return None
    if texts.is_new(word):
        return None if is_said_with(texts, word, stated) else word
    return word if may_be_subject(word) and _is_counted_otherwise(texts, word, stated) else None


def _find_other_content(texts: FactTexts, stated: Quantity | None) -> Word | None:
    """Return the noun of which an answer says a measure, if each source says it of another: "5 g of salt"."""
    own = _find_content(texts.answer, stated) if stated is not None else None
    if stated is None or own is None or texts.question.find_word(own, True):
        return None
    contents = []
    for source in iterate_value_sources(texts, stated):
        contents += [_find_content(source, value) for value in source.quantities if is_same_value(value, stated)]
    known = [word for word in contents if word is not None]
    return own if known and all(word.key != own.key for word in known) else None


def _find_content(text: ReadText, value: Quantity) -> Word | None:
    following = text.list_following(value.end, _OF_NOUN)
    is_of = len(following) == _OF_NOUN and following[0].folded == "of" and following[0].start - value.end == 1
    return following[1] if is_of and following[1].kind != "stop" else None


_OF_NOUN = 2
"""Words of "of salt"."""


def _is_counted_otherwise(texts: FactTexts, word: Word, stated: Quantity) -> bool:
    """Whether the sources count another plural with a number, and never this word."""
    counted = []
    for source in iterate_value_sources(texts, stated):
        for own in source.quantities:
            noun = source.take_next_word(own.end)
            if is_same_value(own, stated) and noun is not None and noun.start - own.end == 1:
                counted.append(noun)
    nouns = [noun for noun in counted if noun.kind != "stop" and noun.folded.endswith("s")]
    return word.folded.endswith("s") and bool(nouns) and all(noun.key != word.key for noun in counted)
