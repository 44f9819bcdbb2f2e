"""What else an answer says that cannot hold together with a fact that it states, or says what the fact is instead.

"No dogs are allowed; one dog per passenger is the rule on ferries" denies all of what the fact counts, "£4.50 is the
deposit" says what £4.50 is, and in "Polish and Czech; Slovak was dropped" Slovak is no longer one of them. Such a fact
is open. The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile, pairwise

from assay.text.facts.cues.condition_cues import EVERYONE, OF_A_KIND, ONLY
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import ABOLISHED, ABOLISHED_IN_VIETNAMESE, ALL_DENIED, CANNOT, DENIED_LAST
from assay.text.facts.cues.link_cues import SO
from assay.text.facts.cues.question_cues import ASKS_WHAT
from assay.text.facts.cues.word_classes import GENERIC_NOUNS, PREDICATES, RELATIVES
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.expected.yes_or_no import list_offered_words, read_decision
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence, has_candidate
from assay.text.facts.reading.exceptions import UNIVERSAL, list_exceptions
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import CLAUSE_REACH, Word
from assay.text.facts.reading.text_parts import LIST_CUT, Part, find_part, list_quantities, split_parts
from assay.text.facts.subjects.other_events import list_nouns
from assay.text.quantities.payment_cues import is_nothing_to_pay

_REACH = 60  # characters after a fact in which words for what it is are searched
_DENIED_FIRST = build_pattern(
    r"(?:(?:no|sorry|unfortunately|dạ|tiếc là|rất tiếc),? )?"
    rf"(?:(?:you|we|they|it|that|there|one) {CANNOT}"
    r"|not at all|không(?: được| có| thể| cần)?(?: đâu)?(?: ạ)?)(?=[.;,!:])"
)
"""An answer that begins by denying whatever is asked."""
_ASKS_WHAT = build_pattern(rf"\b{ASKS_WHAT}\b")
_SAID_TO_BE = build_pattern(
    r"[\"')*]{0,3} (?:(?:is|are|was|were) (?:only |just |merely )?(?:the|an?|your|our|their|his|her|what|for)\b"
    r"|(?:chỉ |mới )?(?P<vietnamese>là)\b(?: (?:của|cho|giá|mức|số|tiền|khoản)\b)*)"
)
"""Says right after a fact what it is."""
_FOR_OR_OF = build_pattern(r" (?:cho|của)$")
_WITHDRAWN_AFTER = build_pattern(
    r"[\"')*]{0,3} (?:(?:was|were|has been|have been|had been|got) (?:\w+ly )?"
    rf"(?:{ABOLISHED}|stopped|taken off)"
    r"|(?:stopped|ended|ceased|ran out|fell away)"
    rf"|(?:thì |này |giờ ){{0,2}}(?:đã |vừa |mới )(?:bị )?(?:{ABOLISHED_IN_VIETNAMESE}|ngừng|dừng|cắt|hết))\b"
)
"""Says right after a fact that it is over."""


def judge_conflict(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact with which something else in the answer cannot hold together; None otherwise."""
    if not texts.question.words or texts.denied_in_question:
        return None
    reason = _find_only_denied(texts, occurrence) if texts.is_negative else next(_list_reasons(texts, occurrence), "")
    return FactJudgment(texts.fact, "unknown", reason) if reason else None


def _list_reasons(texts: FactTexts, occurrence: Occurrence) -> Iterator[str]:
    answer = texts.answer
    denied = _DENIED_FIRST.match(answer.plain)
    is_expected = _DENIED_FIRST.match(texts.reference.plain) is not None or not _ASKS_WHAT.search(texts.question.plain)
    if denied is not None and denied.end() <= occurrence.start and not is_expected:
        yield f'the answer begins with "{answer.text[: denied.end()]}"'
    everyone = _find_everyone_first(texts, occurrence)
    if everyone:
        yield f'the answer begins with "{everyone}"'
    word = _find_denied_kind(texts, occurrence)
    if word is not None:
        yield f'elsewhere the answer says that there is no "{answer.text[word.start : word.end]}"'
    after = (occurrence.end, min(occurrence.clause.sentence_end, occurrence.end + _REACH))
    named = _find_named_as(texts, *after)
    if named is not None:
        yield f'the answer says that this is "{answer.text[named.start : named.end]}", of which nothing else speaks'
    if _WITHDRAWN_AFTER.match(answer.plain, *after) and not texts.has_cue(_WITHDRAWN_AFTER):
        yield "the answer says that this is over"
    yield from _list_reasons_beside(texts, occurrence, after)


def _list_reasons_beside(texts: FactTexts, occurrence: Occurrence, after: tuple[int, int]) -> Iterator[str]:
    """Yield what other parts of an answer say against a fact."""
    answer = texts.answer
    part = _find_denied_part(texts, occurrence)
    if part is not None:
        yield f'elsewhere the answer says no to the same ("{answer.text[part.start : part.end].strip()}")'
    kind = _find_kind_of_all(texts, *after)
    if kind is not None:
        yield f'the answer says this only of all "{answer.text[occurrence.end : kind.end].strip()}"'
    other = _find_first_choice(texts)
    if other is not None:
        yield f'the answer names "{answer.text[other.start : other.end]}" first, which the question offers too'
    if _has_own_statement(texts, occurrence):
        yield "the answer lists the other facts, and says something else of this one"
    if _is_denied_after(texts, occurrence):
        yield "after this the answer says no to what is asked"
    purpose = _find_other_purpose(texts, occurrence, *after)
    if purpose is not None:
        yield f'the answer says this of "{answer.text[purpose.start : purpose.end]}", and gives another value too'
    holder = _find_other_holder(texts, occurrence)
    if holder is not None:
        yield f'the answer says the words of the question of something else, "{answer.text[holder.start : holder.end]}"'


_EVERYONE = build_pattern(rf"{EVERYONE}(?=,|;|\.| -| –)")
"""Begins an answer that says all or none, and goes on."""


def _find_everyone_first(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return with what an answer begins that says all or none before it comes to a fact, "" if it does not."""
    answer = texts.answer
    everyone = _EVERYONE.match(answer.plain)
    if (
        everyone is None
        or everyone.end() > occurrence.start
        or any(_EVERYONE.match(text.plain) for text in texts.explaining)
    ):
        return ""
    is_explained = all(texts.is_explained(word) for word in answer.words if word.end <= everyone.end())
    has_exception = bool(list_exceptions(answer, 0, occurrence.start))
    return "" if is_explained or has_exception else answer.text[: everyone.end()]


_ONLY_BEFORE = build_pattern(rf"\b(?P<cue>{ONLY}) $")


def _find_only_denied(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return how a denial is limited to what follows "only", which neither question nor facts have; "" if it is not."""
    before = _ONLY_BEFORE.search(texts.answer.plain, occurrence.clause.sentence_start, occurrence.start)
    if before is None or any(re.search(rf"\b{before['cue']}\b", text.plain) for text in texts.explaining):
        return ""
    return f'"{texts.answer.text[slice(*before.span("cue"))]}" limits what the answer denies'


def _find_denied_kind(texts: FactTexts, occurrence: Occurrence) -> Word | None:
    """Return a word of the fact of which another part of the answer denies every one: "no dogs", "không thùng nào"."""
    answer = texts.answer
    keys = {word.key for word in texts.content if may_be_subject(word)}
    own = find_part(texts.answer, occurrence.clause, occurrence.start)
    for negation in find_negations(answer, max(0, occurrence.start - CLAUSE_REACH), occurrence.start + CLAUSE_REACH):
        if own.start <= negation.start() < own.end or _is_expected_no(texts, negation.start(), negation.end()):
            continue
        following = answer.list_following(negation.end(), 4)
        if texts.read_fact.quantities and texts.question.quantities and answer.plain.startswith(",", negation.end()):
            continue  # "No, the tent sleeps three", asked whether it sleeps four
        if negation[0] in ALL_DENIED:
            denied = next((word for word in following[:2] if word.kind != "stop"), None)
            if denied is not None and denied.key in keys:
                return denied
        elif negation[0] in ("khong", "chang"):
            for noun, determiner in pairwise(following):
                if determiner.folded == "nao" and noun.key in keys:
                    return noun
    return None


def _is_expected_no(texts: FactTexts, start: int, end: int) -> bool:
    """Whether a negation is the mere "no" with which a right answer begins: "No, hot meals end at eight"."""
    stated = read_decision(texts.answer)
    if stated is None or stated.is_yes or not start < stated.end or texts.answer.plain[end : end + 1].isspace():
        return False
    expected = read_decision(texts.reference)
    return expected is not None and not expected.is_yes


def _find_named_as(texts: FactTexts, start: int, end: int) -> Word | None:
    """Return the noun that a fact is said to be, if nothing explains it: "£4.50 is the deposit"."""
    answer = texts.answer
    cue = _SAID_TO_BE.match(answer.plain, start, end)
    if cue is None:
        return None
    if cue["vietnamese"] is not None and answer.text[slice(*cue.span("vietnamese"))].lower() != "là":
        return None
    stop = next((part.end for part in split_parts(answer, start, end)), end)
    following = answer.list_words(cue.end(), stop)
    if cue[0].endswith(" what"):
        noun = next((noun[0] for _, noun in list_nouns(following) if all(texts.is_new(word) for word in noun)), None)
        return noun or next((word for word in following[:1] if texts.is_new(word)), None)
    nouns = [word for word in following if may_be_subject(word)]
    if not nouns or (cue["vietnamese"] is not None and nouns[0] is not following[0]):
        return None  # "2h là mình nhận phòng": no noun follows
    fewest = 1 if _FOR_OR_OF.search(cue[0]) else 2  # "là cho rùa" names the turtle, and "ăn" may be what is asked
    if any(texts.is_familiar(word) or _is_generic(word) for word in nouns[:fewest]):
        return _find_relative_noun(texts, following)
    return nouns[0]


def _find_relative_noun(texts: FactTexts, words: Sequence[Word]) -> Word | None:
    """Return the unexplained noun of a clause that says which one is meant: "18 is the age at which …"."""
    clause = dropwhile(lambda word: word.folded not in RELATIVES, words)
    return next((word for word in clause if texts.is_new(word) and word.folded not in PREDICATES), None)


def _is_generic(word: Word) -> bool:
    return word.folded in GENERIC_NOUNS or word.folded.endswith("est")


_DENIED_LAST = build_pattern(rf"\b{DENIED_LAST}[ .!]*$")
"""Ends a part that denies what it begins with."""
_SO = build_pattern(rf",? {SO}\b")
_DENIED_WORDS = 3  # of the question after a negation, which they follow at once


def _is_denied_after(texts: FactTexts, occurrence: Occurrence) -> bool:
    """Whether the part of a fact goes on to deny what is asked: "the west gate has steps, so it is not accessible".

    Where there is nothing to pay, "there's no charge" says again what is expected.
    """
    if is_nothing_to_pay(texts.read_fact.plain):
        return False
    answer = texts.answer
    end = find_part(texts.answer, occurrence.clause, occurrence.start).end
    consequence = _SO.match(answer.plain, end, occurrence.clause.sentence_end)
    if consequence is not None:
        end = min(occurrence.clause.sentence_end, consequence.end() + _REACH)
    negations = find_negations(answer, occurrence.end, end)
    if not negations or any(find_negations(text) for text in texts.explaining):
        return False
    topics = {(word.key, word.marks) for word in texts.list_topics() if may_be_subject(word)}
    ignores_marks = not (answer.has_marks and texts.question.has_marks)
    for negation in negations:
        closing = answer.plain.find(")", negation.end(), end)
        is_aside = closing >= 0 and "(" in answer.plain[occurrence.end : negation.start()]  # "Owners (not Admins) may"
        for word in answer.list_following(negation.end(), _DENIED_WORDS):
            if is_aside and word.start > closing:
                break
            if any(word.key == key and (ignores_marks or word.marks == marks) for key, marks in topics):
                return True
    return False


_DENIED_AGAIN = build_pattern(rf"\b(?:they|it|you|we|this|that) {CANNOT}[ .!]*$")
"""Ends a part that denies of something else what the part before it says."""


def _find_denied_part(texts: FactTexts, occurrence: Occurrence) -> Part | None:
    """Return another part that denies what it says of a word of the fact: "… at weekends, on weekdays not"."""
    answer, own = texts.answer, find_part(texts.answer, occurrence.clause, occurrence.start)
    keys = {word.key for word in texts.content if may_be_subject(word)}
    in_own = {word.key for word in texts.answer.list_words(own.start, own.end)}
    for part in split_parts(answer, occurrence.clause.sentence_start, occurrence.clause.sentence_end):
        if part is own or _DENIED_LAST.search(answer.plain, part.start, part.end) is None:
            continue
        if any(word.key in keys and word.key not in in_own for word in texts.answer.list_words(part.start, part.end)):
            return part
    return next(_list_denied_again(texts, occurrence, own), None)


def _list_denied_again(texts: FactTexts, occurrence: Occurrence, own: Part) -> Iterator[Part]:
    """Yield later parts that deny of something unexplained what is said: "… in the garden; indoors they aren't"."""
    answer = texts.answer
    for part in split_parts(answer, occurrence.start, min(len(answer.plain), occurrence.start + CLAUSE_REACH)):
        is_later = part.start >= own.end and _DENIED_AGAIN.search(answer.plain, part.start, part.end) is not None
        if is_later and any(texts.is_new(word) for word in texts.answer.list_words(part.start, part.end)):
            yield part


_OF_A_KIND = build_pattern(rf" {OF_A_KIND}\b")


def _find_kind_of_all(texts: FactTexts, start: int, end: int) -> Word | None:
    """Return the unexplained word to which "all" is limited right after a fact: "all rooms on the top floor"."""
    answer = texts.answer
    if UNIVERSAL.search(texts.read_fact.plain) is None or texts.read_fact.quantities:
        return None
    cue = _OF_A_KIND.match(answer.plain, start, end)
    if cue is None:
        return None
    following = [word for word in answer.list_following(cue.end(), 3) if word.start < end and may_be_subject(word)]
    return following[-1] if following and not any(texts.is_familiar(word) for word in following) else None


def _find_first_choice(texts: FactTexts) -> Word | None:
    """Return the other of two things that a question offers, if the answer names it first and does not deny it."""
    offered = list_offered_words(texts.question)
    keys = {word.key for word in texts.content}
    others = [word for word in offered if word.key not in keys]
    if len(offered) - len(others) != 1 or len(others) != 1:
        return None
    chosen = next(word for word in offered if word is not others[0])
    answer = texts.answer
    named_other, named_chosen = (answer.find_word(word, True)[:1] for word in (others[0], chosen))
    if not named_other or not named_chosen or named_other > named_chosen:
        return None
    first, last = answer.words[named_other[0]], answer.words[named_chosen[0]]
    is_denied = bool(find_negations(answer, max(0, last.start - CLAUSE_REACH), last.start))
    return None if is_denied else first


def _has_own_statement(texts: FactTexts, occurrence: Occurrence) -> bool:
    """Whether a fact begins a later sentence or part that says something unexplained of it, and the others are listed.

    "Bún, phở. Cháo tạm hết" lists two of three facts and says of the third that it has run out.
    """
    others = [fact for fact in texts.facts if fact.plain != texts.read_fact.plain]
    if not others or texts.read_fact.quantities:
        return False
    answer, own = texts.answer, find_part(texts.answer, occurrence.clause, occurrence.start)
    begins = occurrence.start - own.start <= _LONGEST_ARTICLE and own.separation > LIST_CUT and own.start > 0
    if not begins:
        return False
    words = texts.answer.list_words(own.start, own.end)
    if not any(texts.is_new(word) and word.start > occurrence.start for word in words):
        return False
    fact_words = [word for fact in others for word in fact.words if may_be_subject(word)]
    return not any(
        own.start <= answer.words[index].start < own.end
        for word in fact_words
        for index in answer.find_word(word, True)
    )


_LONGEST_ARTICLE = 5


def _find_other_purpose(texts: FactTexts, occurrence: Occurrence, start: int, end: int) -> Word | None:
    """Return the unexplained word for what a value is needed, beside another one: "1 minute to dress, then 2 more"."""
    answer = texts.answer
    cue = _PURPOSE.match(answer.plain, start, end)
    if cue is None or not has_candidate(texts, occurrence):
        return None
    following = answer.list_following(cue.end(), 2)
    is_new = bool(following) and all(not texts.is_familiar(word) for word in following)
    return following[0] if is_new and may_be_subject(following[0]) else None


_PURPOSE = build_pattern(r" (?:để|to|for)\b")


def _find_other_holder(texts: FactTexts, occurrence: Occurrence) -> Word | None:
    """Return another name with which a part of the answer has words of the question, if that of the fact has none.

    "Dr Osei wrote the method, and Dr Lind signs off the results" names Dr Lind, asked who signs them off. Only for
    facts that are names.
    """
    if texts.read_fact.quantities or not any(word.kind == "name" for word in texts.content):
        return None
    answer, own = texts.answer, find_part(texts.answer, occurrence.clause, occurrence.start)
    topics = {word.key for word in texts.list_topics() if may_be_subject(word)}
    in_own = texts.answer.list_words(own.start, own.end)
    if any(word.key in topics for word in in_own) or not any(texts.is_new(word) for word in in_own):
        return None
    for part in split_parts(answer, occurrence.clause.sentence_start, occurrence.clause.sentence_end):
        if part is own or list_quantities(answer, part.start, part.end):
            continue
        words = texts.answer.list_words(part.start, part.end)
        names = [word for word in words if word.kind == "name" and texts.is_new(word)]
        asked = [word for word in words if word.key in topics]
        if names and asked and names[0].start < asked[-1].start and names[0].start > occurrence.clause.sentence_start:
            return names[-1]
    return None
