"""The texts by which a fact is judged, and what they say of a word: whether it names a subject, asks, or is explained.

Question, reference and facts explain a word of the answer that they have too: it is no other answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, pairwise

from assay.text.facts.cues.condition_cues import UNIVERSAL_TOO_WRITTEN, UNIVERSAL_WRITTEN
from assay.text.facts.cues.word_classes import (
    ADDRESS_WRITTEN,
    ASKING,
    ASKING_WRITTEN,
    AUXILIARIES,
    GENERIC,
    GRAMMAR_WRITTEN,
    NO_SUBJECT,
    ONES,
    TITLES,
)
from assay.text.facts.expected.asked_times import list_words_of_asked_time
from assay.text.facts.expected.expected_limits import ExpectedLimit, names_asked_most
from assay.text.facts.expected.only_facts import find_only
from assay.text.facts.reading.exceptions import has_exception, list_exceptions
from assay.text.facts.reading.negations import find_denied_predicate, find_negations, is_negation
from assay.text.facts.reading.read_text import ReadText, Word, read_text
from assay.text.facts.reading.word_senses import find_same_sense
from assay.text.languages import GRAMMAR_BY_LANGUAGE, PRONOUNS_BY_LANGUAGE, guess_european, is_vietnamese
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_in_place
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.payment_cues import is_nothing_to_pay
from assay.text.quantities.quantity import Quantity, Reading
from assay.text.quantities.units import PLAIN
from assay.text.tokens import classify_word

ONE = Reading(PLAIN, Decimal(1), Decimal(1))
_GRAMMAR_MARKS: dict[str, set[str]] = {}
"""The diacritics with which the Vietnamese words of grammar are written, by their folded form."""
for _written in (*GRAMMAR_WRITTEN.split(), *ADDRESS_WRITTEN.split()):
    _GRAMMAR_MARKS.setdefault(fold_in_place(_written), set()).add(classify_word(_written)[2].rpartition("~")[2])


def may_be_subject(word: Word) -> bool:
    """Return whether a word may name what a statement is about, and is no word of grammar."""
    stem = word.folded.partition("'")[0]
    is_grammar = stem in NO_SUBJECT or stem in AUXILIARIES
    if is_grammar and word.marks and word.marks not in _GRAMMAR_MARKS.get(stem, ()):
        is_grammar = False  # "máy" and "cơ" are folded like "may" and "có"
    return word.kind != "stop" and not is_grammar


_UNIVERSAL = LatePattern(rf"(?<![^\W\d_])(?:{UNIVERSAL_WRITTEN})(?![^\W\d_])", re.IGNORECASE)
_UNIVERSAL_TOO = LatePattern(rf"{_UNIVERSAL.pattern}|{UNIVERSAL_TOO_WRITTEN}", re.IGNORECASE)


def _list_universals(fact: ReadText, answer: ReadText) -> list[tuple[int, int]]:
    """Return where a Vietnamese fact says "all", if the answer says so too: "thành viên nào cũng" is every member."""
    spans = [match.span() for match in _UNIVERSAL.finditer(fact.text)] if fact.has_marks else []
    return spans if spans and _UNIVERSAL_TOO.search(answer.text) is not None else []


_SHORTEST_PART, _SHORTEST_FIRST_PART = 4, 3
_SHORTEST_STEM = 6
_FEMININE = compile_pattern(r"(?<=er)in(?:nen)?$")
_NOUN_ENDING = compile_pattern(r"(?:um|en|e|n)$")
"""Endings of German nouns, which change where another noun is joined to them: "Studium" in "Studienplatz"."""
"""Letters of the last and of the first part of a word that is made of two."""
_NAMES_AFTER_TITLE = 2


def _list_titles(fact: ReadText, answer: ReadText) -> list[tuple[int, int]]:
    """Return where a fact has a title before a given and a family name, if the answer gives the person none."""
    spans = []
    for index, word in enumerate(fact.words):
        names = fact.words[index + 1 : index + 1 + _NAMES_AFTER_TITLE]
        is_title = (
            word.folded in TITLES and len(names) == _NAMES_AFTER_TITLE and all(name.is_capitalised for name in names)
        )
        if is_title and not any(own.folded in TITLES for own in answer.words):
            spans.append((word.start, word.end))
    return spans


def find_grammar(*texts: ReadText) -> frozenset[str]:
    """Return the words of grammar of the language of some texts together; those of English and Vietnamese are `stop`.

    >>> "eine" in find_grammar(read_text("Wie lange ist die Frist?"), read_text("Eine Woche"))
    True
    """
    language = guess_european(" ".join(text.text for text in texts))
    return frozenset() if language is None else GRAMMAR_BY_LANGUAGE[language] | PRONOUNS_BY_LANGUAGE[language]


class FactTexts:
    """A fact and the texts by which it is judged.

    `explaining`: question, reference and all facts. `passages`: those of the evidence. `expected`: the quantities of
    all facts. `limit`: the limit that an answer must state. `only`: the fact without its "only", as `read_fact` has it,
    and where that stood. `content`: the words of the fact that it must have. `ignore_marks`: fact or answer are written
    without diacritics, so that those of the other do not count. `is_negative`: the fact denies something.
    `denied_in_question`: the word that the question denies, so that a right answer denies it too.
    """

    def __init__(
        self,
        fact: str,
        answer: ReadText,
        question: ReadText,
        reference: ReadText,
        facts: Sequence[ReadText],
        expected: Sequence[Quantity],
        limit: ExpectedLimit,
        passages: Iterable[ReadText] = (),
    ) -> None:
        self.fact, self.only = fact, find_only(fact, reference.text)
        self.read_fact = read_text(self.only.bare)
        self.answer, self.question, self.reference = answer, question, reference
        self.expected, self.limit, self.passages = expected, limit, passages
        self.explaining = [question, reference, *facts]
        self.ignore_marks = not (self.read_fact.has_marks and answer.has_marks)
        # "No charge" is what is stated, and denies nothing.
        is_denial = len(find_negations(self.read_fact)) % 2 == 1
        self.is_negative = is_denial and not is_nothing_to_pay(self.read_fact.plain)
        self.denied_in_question = "" if self.is_negative else find_denied_predicate(question)
        self.grammar = find_grammar(question, reference, self.read_fact)
        self.content = self._select_content()
        self.is_vietnamese = is_vietnamese(question.text)
        self._topics: list[Word] | None = None
        self._words_of_asked_time: frozenset[Word] | None = None

    def _select_content(self) -> list[Word]:
        read_fact, answer = self.read_fact, self.answer
        rates = [quantity.rate_span for quantity in read_fact.quantities if quantity.rate]
        cues = list_exceptions(read_fact, 0, len(read_fact.plain)) if has_exception(answer) else []
        left_out = [*rates, *(cue.span() for cue in cues), *_list_universals(read_fact, answer)]
        left_out += _list_titles(read_fact, answer)
        content = [
            word
            for word in read_fact.words
            if word.kind != "stop"
            and word.folded not in self.grammar
            and not is_negation(word, read_fact)
            and not any(start <= word.start < end for start, end in left_out)
        ]
        if any(ONE in quantity.readings for quantity in answer.quantities):
            content = [word for word in content if word.folded not in ONES] or content
        return content if content or read_fact.quantities else list(read_fact.words)

    def list_repeated_words(self) -> list[Word]:
        """Return the words of the fact that the question has too, so that an answer need not repeat them.

        A syllable of Vietnamese may be half of another word, so that it counts only with a neighbour.
        """
        if not self.read_fact.has_marks:
            return [word for word in self.content if self.question.find_word(word, True)]
        pairs = [
            (before, word)
            for before, word in pairwise(self.content)
            if word.start - before.end == 1 and self._asks_pair(before, word)
        ]
        return [word for pair in pairs for word in pair]

    def _asks_pair(self, before: Word, word: Word) -> bool:
        ignores_marks = not self.question.has_marks
        seconds = set(self.question.find_word(word, ignores_marks))
        return any(index + 1 in seconds for index in self.question.find_word(before, ignores_marks))

    def list_topics(self) -> list[Word]:
        """Return the words of the question that say what it is about."""
        if self._topics is None:
            self._topics = [word for word in self.question.words if word.kind != "stop" and not self._asks(word)]
        return self._topics

    def _asks(self, word: Word) -> bool:
        """Whether a word of the question only asks; "mấy" and "có" do, "máy" and "cơ" are folded alike and do not."""
        if word.folded not in ASKING:
            return False
        written = self.question.text[word.start : word.end].lower()
        return not self.question.has_marks or written.isascii() or written in ASKING_WRITTEN

    @property
    def reference_and_facts(self) -> Sequence[ReadText]:
        """Reference and facts, without the question."""
        return self.explaining[1:]

    @property
    def facts(self) -> Sequence[ReadText]:
        """All facts of the case."""
        return self.explaining[2:]

    @property
    def sources(self) -> Iterator[ReadText]:
        """Reference and evidence, as far as there are any."""
        return (text for text in chain((self.reference,), self.passages) if text.words or text.quantities)

    @property
    def has_source(self) -> bool:
        """Whether there is a reference or evidence."""
        return next(self.sources, None) is not None

    @property
    def known(self) -> Sequence[ReadText]:
        """All texts of the case: question, reference, facts and evidence."""
        return [*self.explaining, *self.passages]

    def is_explained(self, word: Word) -> bool:
        """Return whether question, reference or facts have a word, one that may stand for it, or a time in it."""
        if any(text.find_word(word, True) or find_same_sense(text, word.folded) for text in self.explaining):
            return True
        return self._is_part_of_compound(word) or self._is_of_asked_time(word)

    def _is_part_of_compound(self, word: Word) -> bool:
        """Whether the question has a word that is made of another and this one, or of this one and another.

        "Board" is of "surfboard", and "Bewerberinnen" and "Zweitstudium" are of "Zweitstudienbewerber".
        """
        singular = word.folded.removesuffix("s")
        if word.is_capitalised:
            singular = _FEMININE.sub("", singular)
            stem = _NOUN_ENDING.sub("", singular)
            if len(stem) >= _SHORTEST_STEM and any(
                len(own.folded) >= len(stem) + _SHORTEST_PART and own.folded.startswith(stem)
                for own in self.question.words
            ):
                return True
        if len(singular) < _SHORTEST_PART or (word.marks and self.is_vietnamese):
            return False
        return any(
            len(own.folded) >= len(singular) + _SHORTEST_FIRST_PART and own.folded.removesuffix("s").endswith(singular)
            for own in self.question.words
        )

    def is_known(self, word: Word) -> bool:
        """Return whether a word is familiar, or one of the evidence, so that it adds nothing wrong to an answer.

        What is only in the evidence may still be another subject than the one that is asked for.
        """
        return self.is_familiar(word) or any(text.find_word(word, True) for text in self.passages)

    def is_expected(self, word: Word) -> bool:
        """Return whether reference or facts have a word."""
        return any(text.find_word(word, True) for text in self.reference_and_facts)

    def is_new(self, word: Word) -> bool:
        """Return whether a word may name something that neither question, reference nor facts speak of."""
        return may_be_subject(word) and not self.is_familiar(word)

    def has_cue(self, pattern: LatePattern | re.Pattern[str]) -> bool:
        """Return whether question, reference or facts have words that a pattern finds."""
        return any(pattern.search(text.plain) is not None for text in self.explaining)

    def is_familiar(self, word: Word) -> bool:
        """Return whether a word is explained, or so general that it names nothing else."""
        is_asked = names_asked_most((word.folded,), self.question.plain)
        return is_asked or word.folded in GENERIC or self.is_explained(word)

    def _is_of_asked_time(self, word: Word) -> bool:
        """Whether a word of the answer names a time that holds the one asked for."""
        if self._words_of_asked_time is None:
            self._words_of_asked_time = list_words_of_asked_time(self.answer, self.question)
        return word in self._words_of_asked_time
