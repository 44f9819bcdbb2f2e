"""What an answer adds to a list that is expected: "S3, SFTP and FTP" where S3 and SFTP are all.

A further member of an enumeration leaves the fact open unless question, reference or evidence say it in one sentence
with an expected one. Without reference and evidence nothing tells that the facts are all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from assay.text.facts.additions.added_holders import NOT_ADDED, VERB_FOLLOWS
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.link_cues import JOINS_NAMES
from assay.text.facts.cues.word_classes import AUXILIARIES, IMPERATIVES, PREDICATES, PREPOSITIONS
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.expected.only_facts import is_grammar
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word, cache_of_texts
from assay.text.facts.reading.text_parts import LIST_CUT, Part, split_parts
from assay.text.facts.reading.word_senses import find_same_sense
from assay.text.pattern_cache import compile_pattern

_FEWEST_MEMBERS = 2
_MOST_WORDS = 3
"""Words of meaning of a member of a list."""
_SYLLABLES_OF_A_WORD = 2
"""Of most Vietnamese words, written apart."""
_LINE = compile_pattern(r"^(?=.*\w).+$", re.MULTILINE)
_JOINED = build_pattern(rf"\b{JOINS_NAMES}\b")
_NO_MEMBER = NOT_ADDED | AUXILIARIES | PREDICATES | IMPERATIVES


def judge_added_member(texts: FactTexts) -> FactJudgment | None:
    """Return the judgment of a fact whose list an answer continues with what no source has in it; None otherwise."""
    expected = _list_members(tuple(texts.facts))
    if len(expected) < _FEWEST_MEMBERS or not texts.has_source:
        return None
    for enumeration in _list_enumerations(texts.answer):
        if len(enumeration) <= _FEWEST_MEMBERS:
            continue
        members = [texts.answer.list_words(part.start, part.end) for part in enumeration]
        held = [keys for keys in expected if any(keys <= {word.key for word in member} for member in members)]
        if len(held) < _FEWEST_MEMBERS:
            continue
        for place, part in enumerate(enumeration):
            added = _find_added(texts, part, members[place])
            if place + 1 < len(enumeration):
                is_member = not members[place + 1] or not _is_no_member(members[place + 1][0], texts.answer)
            else:
                is_member = _is_last_joined(texts.answer, enumeration)
            if added is not None and is_member and not _is_said_with_member(texts, added, expected):
                spelled = texts.answer.text[part.start : part.end].strip(" .")
                return FactJudgment(texts.fact, "unknown", f'the answer lists "{spelled}" as well')
    return None


@cache_of_texts(maxsize=512)
def _list_members(facts: tuple[ReadText, ...]) -> Sequence[frozenset[str]]:
    """Return the words of each member of the lists in facts, or of a fact if it is none."""
    members = []
    for fact in facts:
        for part in split_parts(fact, 0, len(fact.plain)):
            words = fact.list_words(part.start, part.end)
            keys = frozenset(word.key for word in words if word.kind != "stop")
            if keys:
                members.append(keys)
    return members


def _list_enumerations(answer: ReadText) -> Iterator[Sequence[Part]]:
    """Yield the parts of an answer that commas or "and" join, and its lines of few words that follow one another."""
    joined: list[Part] = []
    for part in split_parts(answer, 0, len(answer.plain)):
        if joined and (part.separation > LIST_CUT or "(" in answer.lined[joined[-1].end : part.start]):
            yield joined
            joined = []
        joined.append(part)
    yield joined
    lines: list[Part] = []
    for line in _LINE.finditer(answer.lined) if "\n" in answer.lined else ():
        is_next = bool(lines) and answer.lined.count("\n", lines[-1].end, line.start()) == 1
        if not is_next:
            yield lines
            lines = []
        if len(answer.list_words(*line.span())) <= _MOST_WORDS + 1:
            lines.append(Part(*line.span(), False))
    yield lines


def _is_last_joined(answer: ReadText, enumeration: Sequence[Part]) -> bool:
    """Whether the last part of an enumeration is a member of it, and no remark after a comma."""
    gap = answer.lined[enumeration[-2].end : enumeration[-1].start]
    return "\n" in gap or _JOINED.search(gap) is not None


def _find_added(texts: FactTexts, part: Part, words: Sequence[Word]) -> Word | None:
    """Return the word that makes a part of an answer another member than the expected ones; None if it is none."""
    answer, expected = texts.answer, (texts.question, *texts.facts)
    content = [word for word in words if word.kind != "stop" and may_be_subject(word)]
    new = list(takewhile(lambda word: not any(_has_word(text, word) for text in expected), content))
    if new and _goes_on_as_expected(texts, content[len(new) :]):
        content, words = new, [word for word in words if word.start <= new[-1].start]
    new = [word for word in content if not any(_has_word(text, word) for text in expected)]
    most = _MOST_WORDS * (_SYLLABLES_OF_A_WORD if texts.is_vietnamese else 1)
    if not new or not 0 < len(content) <= most or words[0].folded in PREPOSITIONS:
        return None
    is_other = len(new) == len(content) or any(word.kind == "id" for word in new)
    if (
        not is_other
        or any(_is_no_member(word, answer) for word in words)
        or VERB_FOLLOWS.match(answer.plain, new[0].end)
    ):
        return None
    sentence = answer.clause_at(part.start)
    return None if find_negations(answer, sentence.sentence_start, part.end) else new[0]


def _is_no_member(word: Word, answer: ReadText) -> bool:
    """Whether a word shows that no member of a list is named; "sổ" (book) is folded like "so"."""
    return is_grammar(word, answer) if word.marks else word.folded in _NO_MEMBER


def _goes_on_as_expected(texts: FactTexts, words: Sequence[Word]) -> bool:
    """Whether words behind the last member of a list end a fact too: "… and the clerk sit on the panel"."""
    if not words:
        return False
    keys = [word.key for word in words]
    for fact in texts.facts:
        last = split_parts(fact, 0, len(fact.plain))[-1]
        content = [word for word in fact.list_words(last.start, last.end) if word.kind != "stop"]
        after = [word.key for word in content if may_be_subject(word)][1:]  # the first one is of the member itself
        if after[-len(keys) :] == keys:
            return True
    return False


def _has_word(text: ReadText, word: Word) -> bool:
    return bool(text.find_word(word, True) or find_same_sense(text, word.folded))


def _is_said_with_member(texts: FactTexts, added: Word, expected: Sequence[frozenset[str]]) -> bool:
    """Whether a sentence of a source has a word together with all words of an expected member."""
    for text in (texts.question, *texts.sources):
        for index in text.find_word(added, True):
            clause = text.clause_at(text.words[index].start)
            beside = {word.key for word in text.list_words(clause.sentence_start, clause.sentence_end)}
            if any(keys <= beside for keys in expected):
                return True
    return False
