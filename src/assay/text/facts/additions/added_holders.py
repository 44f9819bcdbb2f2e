"""Others whom an answer joins to those of whom alone a fact holds: "Owners and Admins" for "only Owners".

Who is joined by "and", "or" or a comma, and is of one kind with the named ones (names both, or plurals both), makes the
fact wrong; anybody else leaves it open. Nobody is added where the answer says itself that it holds of these alone, or
denies it of the others.

A question for who does something asks for all who do, as far as the sources of a case tell: "the dean and the rector
sign" for "the dean signs" leaves the fact open. The patterns are for folded text (`fold_in_place`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from assay.text.facts.cues.condition_cues import NOBODY_ELSE, ONLY_THESE
from assay.text.facts.cues.cue_pattern import build_pattern, list_words
from assay.text.facts.cues.link_cues import JOINS_NAMES
from assay.text.facts.cues.question_cues import ASKS_WHO_ALONE, IS_ASKED
from assay.text.facts.cues.word_classes import (
    AUXILIARIES,
    DETERMINERS,
    IMPERATIVES,
    INVITING_WRITTEN,
    PREDICATES,
    PREPOSITIONS,
    PREPOSITIONS_WRITTEN,
)
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.expected.only_facts import is_grammar, list_holders
from assay.text.facts.fact_judgments import FactJudgment, FactState
from assay.text.facts.reading.negations import is_negation
from assay.text.facts.reading.read_text import ReadText, Word
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

_MOST_WORDS = 3
"""Words of a name or noun that is added."""
_MOST_BEFORE = 2
"""Words such as "in the" before it."""
_SHORTEST_STEM = 5
"""Letters of a word with which one for the other gender begins."""
_REACH = 60
"""Characters before the named ones in which others are looked for."""
_JOINED = build_pattern(rf"[\"')]{{0,2}}(?:(?P<join>,? (?:{JOINS_NAMES}) | ?[&/] ?)|, )")
_JOINED_BEFORE = build_pattern(rf"(?:,? (?:{JOINS_NAMES}) | ?[&/] ?)\Z")
_ENDS_NAME = build_pattern(rf"[\"')]{{0,2}}(?:,|,? (?:{JOINS_NAMES}) | ?[&/]|\s*[.;!?]|\s*\Z)")
"""Follows one of several things that commas separate."""
_ONLY_BEFORE = LatePattern(rf"(?<![\w'-]){ONLY_THESE}(?: [^\W\d_]+){{0,4}} \Z", re.IGNORECASE)
"""For written text, as in the fact."""
_ONLY_AFTER = build_pattern(rf",? (?:(?:and|but) )?(?:only|exclusively|alone|{NOBODY_ELSE})\b")
NOT_ADDED = list_words(
    """
    only nobody noone none nowhere nothing never neither nor else rather instead unlike namely always also then thus so
    but he she his if when which who whom whose where while whereas because although such including etc i.e e.g
    """
)
"""Begin what adds nobody: a clause, an example, an exclusion."""
_ANYBODY = list_words("others anyone anybody everyone everybody those people whoever")
"""Add somebody without a name."""
_SO_DO = build_pattern(r"\bso (?:can|could|may|do|does|is|are|has|have) ")
_ASKS_WHO = build_pattern(rf"{ASKS_WHO_ALONE}\b(?! {IS_ASKED}\b)")
_ADDED_LAST = build_pattern(r", (?:or|and|as well as|hoặc|oder|und) (?:also )?")
_ENDS_SENTENCE = LatePattern(r"[\"')]{0,2}\s*(?:[.!;]|\Z)")
_TOO = build_pattern(
    r" (?:(?:can|could|may|do|does|is|are|has|have)(?: do (?:it|that|so|this))?,? (?:too|as well)"
    r"|cũng (?:được|có thể|vậy))\b"
)
VERB_FOLLOWS = LatePattern(r" (?:it\b|them\b|(?:the|an?|your|my|our|at|to|until|up) \w|[$€£]?\d)")
"""Follows a verb rather than a noun: "and closes at 5"."""


class _Added(Struct, frozen=True):
    """Words that an answer joins to the named ones, and whether they are surely of one kind with them."""

    words: Sequence[Word]
    is_alike: bool


def judge_added_holder(texts: FactTexts) -> FactJudgment | None:
    """Return the judgment of a fact to whose holders an answer joins others; None if it joins none."""
    is_only = texts.only.place is not None
    if not is_only and not _asks_who(texts):
        return None
    all_added: list[_Added] = []
    are_all_joined = True
    for first, last in _list_named(texts):
        added = [*_list_added_after(texts, first, last), *_list_added_before(texts, first, last)]
        if not added and _is_said_of_these_alone(texts.answer, first, last):
            return None
        are_all_joined = are_all_joined and bool(added)
        all_added += added
    if not are_all_joined:  # "Owners and Admins see it, Owners delete it"
        all_added = [structs.replace(added, is_alike=False) for added in all_added]
    all_added += _list_added_by_so(texts) if not all_added else []
    if not is_only:
        all_added = [added for added in all_added if _is_noun(texts, added.words)]
    if not all_added:
        return None
    all_added.sort(key=_is_unlike)
    first_added = all_added[0]
    spelled = texts.answer.text[first_added.words[0].start : first_added.words[-1].end]
    state: FactState = "denied" if first_added.is_alike and is_only else "unknown"
    return FactJudgment(texts.fact, state, f'the answer names "{spelled}" as well')


def _asks_who(texts: FactTexts) -> bool:
    """Whether a question is for who does something, and a source tells who does."""
    return _ASKS_WHO.match(texts.question.plain) is not None and texts.has_source


def _is_noun(texts: FactTexts, words: Sequence[Word]) -> bool:
    """Whether words name somebody by their form, unlike the verbs of "signed by the dean and stamped"."""
    first, last = words[0], words[-1]
    if texts.is_vietnamese or first.is_capitalised or _is_plural(last):
        return True
    index = texts.answer.find_index(first.start)
    return index > 0 and texts.answer.words[index - 1].folded in _LEADING


def _is_unlike(added: _Added) -> bool:
    return not added.is_alike


def _list_named(texts: FactTexts) -> Iterator[tuple[Word, Word]]:
    """Yield the first and the last word of each run of words of the fact in which an answer names its holders."""
    answer, end = texts.answer, -1
    holders = list_holders(texts.read_fact, texts.only.place or 0, texts.question)
    is_only = texts.only.place is not None
    own = _list_indices(texts, [word for word in texts.read_fact.words if is_only or not _is_asked(texts, word)])
    begin = _list_indices(texts, [word for word in holders if not _follows_another(word, holders)])
    for index in sorted(_list_indices(texts, holders)):
        if index <= end:
            continue
        start = end = index
        while start - 1 in own and _is_next(answer, start - 1) and not is_grammar(answer.words[start - 1], answer):
            start -= 1
        end = _find_last(answer, end, own)
        if start in begin or not _has_noun_before(answer, start):
            yield answer.words[start], answer.words[end]


def _follows_another(word: Word, holders: Sequence[Word]) -> bool:
    """Whether a word stands right behind another one of a name: "tickets" in "Zone tickets"."""
    return any(word.start - other.end == 1 for other in holders)


def _has_noun_before(answer: ReadText, index: int) -> bool:
    """Whether a word is the end of another name: "tickets" in "Day tickets"."""
    if not index or not _is_next(answer, index - 1):
        return False
    before = answer.words[index - 1]
    return before.kind != "stop" and not is_grammar(before, answer)


def _find_last(answer: ReadText, last: int, own: set[int]) -> int:
    """Return the index of the last word of a name, with what belongs to it in the fact too: "staff with a licence"."""
    index = last
    while index + 1 in own and _is_next(answer, index):
        index += 1
        word = answer.words[index]
        if not is_grammar(word, answer):
            last = index
        elif word.folded not in _LINKING and answer.text[word.start : word.end].lower() not in _LINKING_WRITTEN:
            break
    return last


_LINKING = PREPOSITIONS | DETERMINERS
_LINKING_WRITTEN = PREPOSITIONS_WRITTEN | {"có"}


def _list_indices(texts: FactTexts, words: Sequence[Word]) -> set[int]:
    return {index for word in words for index in texts.answer.find_word(word, texts.ignore_marks)}


def _is_next(text: ReadText, index: int) -> bool:
    """Whether nothing but a space, a hyphen or the point of a title stands between a word and the next one."""
    return text.plain[text.words[index].end : text.words[index + 1].start] in (" ", "-", ". ")


def _is_said_of_these_alone(answer: ReadText, first: Word, last: Word) -> bool:
    before = answer.text[max(0, first.start - _REACH) : first.start]
    return _ONLY_BEFORE.search(before) is not None or _ONLY_AFTER.match(answer.plain, last.end) is not None


def _list_added_after(texts: FactTexts, first: Word, last: Word) -> Iterator[_Added]:
    """Yield what an answer joins after the named ones, through a list to its end."""
    answer = texts.answer
    own_led = _get_word_before(answer, first)
    is_list, has_comma = False, False
    listed: list[_Added] = []
    join = _JOINED.match(answer.plain, last.end)
    while join is not None:
        led, words = _take_name(texts, join.end())
        is_comma = join["join"] is None
        if not words or _goes_on_otherwise(texts, words[-1].end, is_comma=is_comma):
            break
        is_list, has_comma = is_list or not is_comma, has_comma or is_comma
        is_alike = _is_alike(texts, last, words, is_comma=has_comma) and led in ("", own_led)
        if _is_new(texts, words) and (is_alike or not (own_led and has_comma) or led == own_led):
            listed.append(_Added(words, is_alike))
        join = _JOINED.match(answer.plain, words[-1].end)
    for added in listed:
        if is_list:
            yield added
        elif added.is_alike:  # "Owners, Admins." may also be a name and its title
            yield structs.replace(added, is_alike=False)


def _goes_on_otherwise(texts: FactTexts, end: int, *, is_comma: bool) -> bool:
    """Whether what follows a name shows that it is none of a list: a verb that is not asked about, or after a comma
    the rest of a sentence."""
    answer = texts.answer
    if is_comma and not _ENDS_NAME.match(answer.plain, end):
        return True
    following = answer.take_next_word(end)
    if following is not None and following.start == end + 1 and _is_asked(texts, following):
        return False
    is_verb = following is not None and following.start == end + 1 and following.folded in _FULL_VERBS
    return is_verb or VERB_FOLLOWS.match(answer.plain, end) is not None


def _list_added_before(texts: FactTexts, first: Word, last: Word) -> Iterator[_Added]:
    """Yield what an answer joins right before the named ones."""
    answer = texts.answer
    index = answer.find_index(first.start)
    start = first.start
    for word in reversed(answer.words[max(0, index - _MOST_BEFORE) : index]):
        if start - word.end != 1 or word.folded not in _LEADING:
            break
        start = word.start
    low = max(answer.clause_at(first.start).sentence_start, start - _REACH)
    join = _JOINED_BEFORE.search(answer.plain, low, start)
    words: list[Word] = []
    for word in reversed(answer.list_words(low, join.start()) if join is not None else []):
        end = words[0].start - 1 if words else join.start() if join is not None else 0
        if word.end != end or len(words) == _MOST_WORDS or not _may_be_added(word, answer):
            break
        words.insert(0, word)
    if not words or not _is_new(texts, words if texts.only.place is not None else words[-1:]):
        return
    is_alike = _is_alike(texts, last, words, is_comma=False)
    before = answer.plain[low : words[0].start].rstrip()
    begins = not before or before.endswith((":", ",")) or before.split()[-1] in _LEADING
    if is_alike or begins:
        yield _Added(words, is_alike)


def _list_added_by_so(texts: FactTexts) -> Iterator[_Added]:
    """Yield of whom an answer says the same in a further clause: "and so can Admins", "Admins can too", ", or a
    neighbour" at the end."""
    answer = texts.answer
    for match in _SO_DO.finditer(answer.plain):
        words = _take_name(texts, match.end())[1]
        if words and _is_new(texts, words):
            yield _Added(words, False)
    for match in _ADDED_LAST.finditer(answer.plain):
        words = _take_name(texts, match.end())[1]
        ends = bool(words) and _ENDS_SENTENCE.match(answer.plain, words[-1].end) is not None
        if ends and _is_new(texts, words):
            yield _Added(words, False)
    for match in _TOO.finditer(answer.plain):
        before = answer.list_words(max(0, match.start() - _REACH), match.start())[-1:]
        if before and before[0].end == match.start() and _may_be_added(before[0], answer) and _is_new(texts, before):
            yield _Added(before, False)


_LEADING = PREPOSITIONS | list_words(
    "the a an both either each every all our their your any der die das den dem ein eine le la les l un une"
)


def _take_name(texts: FactTexts, start: int) -> tuple[str, list[Word]]:
    """Return the words of a name or noun that starts at a position, and the preposition before it, "" without one.

    A word of the question ends it: what is asked of whom.
    """
    answer, led = texts.answer, ""
    words: list[Word] = []
    for word in answer.list_following(start, _MOST_BEFORE + _MOST_WORDS):
        if word.start != start or len(words) == _MOST_WORDS:
            break
        start = word.end + 1
        if not words and word.folded in _ANYBODY:
            return led, [word]
        is_end = bool(words) and _is_asked(texts, word)
        if not words and word.folded in _LEADING:
            led = word.folded if word.folded in PREPOSITIONS else led
        elif not is_end and _may_be_added(word, answer):
            words.append(word)
        else:
            break
    return led, words


def _is_asked(texts: FactTexts, word: Word) -> bool:
    return bool(texts.question.find_word(word, texts.ignore_marks))


def _may_be_added(word: Word, answer: ReadText) -> bool:
    """Whether a word may be a part of a name or noun."""
    if word.kind == "stop" or word.folded in NOT_ADDED or is_negation(word, answer) or is_grammar(word, answer):
        return False
    if word.marks:
        return answer.text[word.start : word.end].lower() not in INVITING_WRITTEN
    return may_be_subject(word) and (word.is_capitalised or word.folded not in _VERBS)


_VERBS = PREDICATES | IMPERATIVES
_FULL_VERBS = PREDICATES - AUXILIARIES


def _get_word_before(answer: ReadText, word: Word) -> str:
    """Return the preposition before a word, perhaps with an article between them; "" without one."""
    index = answer.find_index(word.start)
    before = [own.folded for own in answer.words[max(0, index - _MOST_BEFORE) : index] if own.folded in PREPOSITIONS]
    return before[-1] if before else ""


def _is_new(texts: FactTexts, words: Sequence[Word]) -> bool:
    """Whether an answer names somebody with a word that no fact of the case has, in its other gender neither.

    Whoever the reference names beside those of a fact without "only" does what is asked too.
    """
    own = texts.facts if texts.only.place is not None else (*texts.facts, texts.reference)
    return any(not any(_names(text, word) for text in own) for word in words)


def _names(fact: ReadText, word: Word) -> bool:
    """Whether a fact has a word, or one that begins another one: "Schülerinnen und Schüler"."""
    if fact.find_word(word, True):
        return True
    return any(len(own.folded) >= _SHORTEST_STEM and word.folded.startswith(own.folded) for own in fact.words)


def _is_alike(texts: FactTexts, named: Word, words: Sequence[Word], *, is_comma: bool) -> bool:
    """Whether words are of one kind with the named ones: plurals both, with one noun, or names both if not in a list
    of commas, where a title may follow a name."""
    last = words[-1]
    if last.key == named.key or (_is_plural(last) and _is_plural(named)):
        return True
    own = texts.read_fact.find_word(named, True)
    is_name = bool(own) and texts.read_fact.words[own[0]].is_capitalised
    return is_name and named.is_capitalised and last.is_capitalised and not is_comma


_PLURAL = compile_pattern(r"[a-z]{3,}(?<!s)s|(?:wo)?men|children|people|staff")


def _is_plural(word: Word) -> bool:
    return _PLURAL.fullmatch(word.folded) is not None
