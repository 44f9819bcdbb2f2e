"""Whether an answer leaves open what was asked: each clause is compared with the question.

"The guide lists a maker space at Eastfield but doesn't say how many printers are in it" reports what a source says, and
answers nothing. A clause denies by its structure: a source, the speaker or a word of the question beside a negated verb
of telling, or a word of absence, restriction or failure. The other clauses are reports, advice and courtesies, or give
something of the kind that was asked. Whoever asked one thing and was denied it has no answer, whatever else is
reported; of several things, one may be denied and another be given. All words are data (`denials` and `questions` of a
lexicon).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from assay.text.refusal_claims import find_claim, split_at_contrasts
from assay.text.refusal_lexicon import NOTHING, RefusalLexicon
from assay.text.segmentation import find_quotations, is_quoted
from assay.text.tokens import is_stop_word
from assay.text.word_runs import split_words

GapKind = Literal["abstain", "permission_denied"]

_STEM = 5
_SHORTEST_WORD = 3
_FEW_WORDS = 2  # words beside a denial that name no other thing
_LONG = 300  # characters
_NEAR = 40  # characters between a negation and the verb that it denies
_NEGATION_FIRST = ("en", "vi")  # languages in which a negation stands before its verb, and its subject before it
_SHORT_START = 25  # characters of a clause within which a verb has no subject before it
_LONGEST_CLAUSE = 1000  # characters of a clause that are read, and characters of a question
_MOST_BEFORE = 4  # clauses before one that it may go on about
_NUMBER = re.compile(r"\d[\d.,:]*")
_COMMA = re.compile(r"(?<=,) (?!\d)|[\U0001f000-\U0001faff\u2600-\u27bf] ")
_PIECE = re.compile(r"(?<=[^ ] [-–]) |(?<=,) (?=(?:so|and|yet|though|although|because|since|which)\b)|(?<=:) ")
_MAIL_ADDRESS = re.compile(r"(?<!\S)[^\s@]{1,64}@[^\s@]{1,255}")
_ABBREVIATION = re.compile(
    r"\b(?:(?:no|nr|nos|p|pp|art|sec|num|pag)\.(?= \d)|(?:ext|tel|vol|figs?|approx|ca|vs?|st|dr|mrs?|ms|prof)\.(?= ))"
)
_QUOTES = ('"', "'")
_QUESTION_END = " \"')]¶"
_SENTENCE_BREAK = re.compile(r"(?<=[.!?;¶]) ")
_SENTENCE_ENDS = (". ", "! ", "? ", "; ", "¶ ")


class OpenQuestion(NamedTuple):
    """What a question asks for.

    `stems`: beginnings of its words, pairs of characters in a script without spaces. `numbers`: those that it holds.
    `wants_number`: a number, an amount or a time. `has_parts`: several things. `is_polar`: yes or no. `asks_reason`:
    why. `is_about_refusing`: what somebody said or must say, what is missing, or who may see something.
    """

    text: str
    words: frozenset[str]
    stems: frozenset[str]
    numbers: frozenset[str]
    wants_number: bool
    has_parts: bool
    is_polar: bool
    asks_reason: bool
    asks_wording: bool
    is_about_refusing: bool


class RefusalGap(NamedTuple):
    """What an answer leaves open: all that was asked, or one part of several; and the words of the lexicon that deny.

    Other words of the answer are not named: they may be restricted. `opens_with_answer`: the first clause gives the
    number that was asked for, and something else is denied.
    """

    is_whole: bool
    kind: GapKind
    words: str
    opens_with_answer: bool = False


class _Denial(NamedTuple):
    kind: GapKind
    is_of_asked: bool = False  # it names nothing beside what was asked
    position: int = -1
    words: str = ""


@lru_cache(maxsize=256)
def read_question(question: str, lexicon: RefusalLexicon) -> OpenQuestion:
    """Return what a prepared question asks for."""
    text = question[:_LONGEST_CLAUSE].lstrip(" ¿¡\"'")
    patterns = lexicon.patterns

    def holds(name: str) -> bool:
        return patterns[f"questions.{name}"].search(text) is not None

    if patterns["questions.polar"].pattern == NOTHING:
        is_polar = text.rstrip(" \"'.").endswith(("?", "か")) and not holds("open")
    else:
        is_polar = patterns["questions.polar"].match(text) is not None
    return OpenQuestion(
        text=text,
        words=frozenset(split_words(text)),
        stems=frozenset(_list_stems(text, lexicon)),
        numbers=frozenset(_NUMBER.findall(text)),
        wants_number=holds("number"),
        has_parts=holds("several") or text.count("?") > 1,
        is_polar=is_polar,
        asks_reason=holds("reason"),
        asks_wording=holds("wording"),
        is_about_refusing=holds("wording") or holds("access"),
    )


def find_gap(text: str, question: str, lexicon: RefusalLexicon, refused: Sequence[int] = ()) -> RefusalGap | None:
    """Return what a prepared answer leaves open of a prepared question; None if it denies nothing, or answers.

    `refused`: where phrases of the lexicon refuse.
    """
    asked = read_question(question, lexicon)
    if asked.is_about_refusing and not refused:
        return None
    if len(text) > _LONG:  # so many words answer, whether or not they hold the number
        asked = asked._replace(wants_number=False)
    if "@" in text:
        text = _MAIL_ADDRESS.sub(lambda address: " " * len(address[0]), text)
    if ". " in text:
        text = _ABBREVIATION.sub(lambda word: word[0][:-1] + " ", text)
    if not refused and not _holds_denial(text, asked, lexicon):
        return None
    denials, others = _sort_clauses(text, asked, lexicon, refused)
    if not denials:
        return None
    denial = next((item for item in denials if item.is_of_asked), denials[0])
    kind: GapKind = "permission_denied" if any(item.kind != "abstain" for item in denials) else "abstain"
    counts_reports = asked.has_parts or not denial.is_of_asked
    reader = _ClauseReader(asked, lexicon)
    answers = reader.find_answer(others, counts_reports=counts_reports)
    if answers and not asked.has_parts:
        opens = text.startswith(others[0][0]) and reader.find_answer(others[:1], counts_reports=False)
        return RefusalGap(False, kind, denial.words, opens_with_answer=True) if opens and asked.wants_number else None
    return RefusalGap(not answers, kind, denial.words)


def _holds_denial(text: str, asked: OpenQuestion, lexicon: RefusalLexicon) -> bool:
    """Whether a clause of a text denies; looks only into sentences with words of denying, since most have none."""
    reader = _ClauseReader(asked, lexicon)
    sentence_before = ""
    for sentence in _SENTENCE_BREAK.split(text):
        if lexicon.may_deny(sentence):
            pieces = _split_pieces(sentence, lexicon, at_commas=asked.has_parts or not lexicon.is_spaced)
            reader.clauses_before = [f"{sentence_before} "] if sentence_before else []
            if any(reader.find_denial(piece) is not None for piece in pieces):
                return True
        sentence_before = sentence
    return False


def _sort_clauses(
    text: str, asked: OpenQuestion, lexicon: RefusalLexicon, refused: Sequence[int]
) -> tuple[list[_Denial], list[tuple[str, bool]]]:
    """Return the denials of a text, and its other clauses with whether each begins a sentence."""
    reader = _ClauseReader(asked, lexicon)
    quotations = find_quotations(text)
    denials: list[_Denial] = []
    others: list[tuple[str, bool]] = []
    end = 0
    begins_sentence = True
    for clause in _split_pieces(text, lexicon, at_commas=asked.has_parts or not lexicon.is_spaced):
        start, end = end, end + len(clause)
        denial = None if asked.is_about_refusing else reader.find_denial(clause)
        if denial is not None and is_quoted(quotations, start + denial.position):
            denial = None
        if denial is not None and reader.gives_rough_number(clause, denial.position):
            denial = None
        if denial is None and any(start <= position < end for position in refused):
            denial = _Denial("abstain")
        if denial is None:
            others.append((clause, begins_sentence))
        else:
            denials.append(denial._replace(is_of_asked=reader.is_of_asked(clause)))
        begins_sentence = clause.endswith(_SENTENCE_ENDS)
    return denials, others


def states_reason(text: str, question: str, lexicon: RefusalLexicon) -> bool:
    """Whether a prepared question asks why, and the answer begins with a reason: "because it could not be verified"."""
    patterns = lexicon.patterns
    if not patterns["questions.because"].match(text) or not read_question(question, lexicon).asks_reason:
        return False
    return not any(patterns[name].search(text) for name in ("subjects.me", "denials.speaker", "denials.told"))


def reports_wording(text: str, question: str, lexicon: RefusalLexicon) -> bool:
    """Whether a prepared question asks what somebody said, or must say, and the answer reports it: what is denied there
    is quoted, or stands behind a verb of telling."""
    if not read_question(question, lexicon).asks_wording:
        return False
    patterns = lexicon.patterns
    is_quotation = text[:1] in _QUOTES and text.rstrip(". ")[-1:] in _QUOTES
    quotations = [(0, len(text))] if is_quotation else find_quotations(text)
    for negation in patterns["denials.negations"].finditer(text):
        start = max(text.rfind(mark, 0, negation.start()) + 1 for mark in _SENTENCE_ENDS)
        telling = patterns["denials.telling"].search(text, start, negation.start())
        return is_quoted(quotations, negation.start()) or (
            telling is not None and text[telling.end() : negation.start()].strip() != ""
        )
    return False


def _split_pieces(text: str, lexicon: RefusalLexicon, *, at_commas: bool) -> list[str]:
    pieces: list[str] = []
    for clause in split_at_contrasts(text, lexicon):
        cut = _COMMA if at_commas else _PIECE
        start = 0
        for match in cut.finditer(clause):
            pieces.append(clause[start : match.end()])
            start = match.end()
        pieces.append(clause[start:])
    return [piece for piece in pieces if piece]


def _list_stems(text: str, lexicon: RefusalLexicon) -> list[str]:
    """Return the beginnings of the words that say something; of a script without spaces, the pairs of its letters."""
    if not lexicon.is_spaced:
        letters = "".join(lexicon.patterns["letters"].findall(text))
        return [letters[i : i + 2] for i in range(len(letters) - 1)]
    shortest = 2 if lexicon.language == "vi" else _SHORTEST_WORD
    ignored = lexicon.words["no_claim.words"] | lexicon.common_words
    return [
        _find_stem(word)
        for word in split_words(text)
        if len(word) >= shortest and word not in ignored and not is_stop_word(word)
    ]


def _find_stem(word: str) -> str:
    return word.rstrip("s")[:_STEM]


class _ClauseReader:
    """Reads the clauses of an answer, in order, against what was asked."""

    def __init__(self, asked: OpenQuestion, lexicon: RefusalLexicon) -> None:
        self._asked, self._lexicon = asked, lexicon
        self._patterns = lexicon.patterns
        self._marks = 0  # which lists the words of the clause can match
        self.clauses_before: list[str] = []  # if one names a source, "it" and "they" may be one

    def find_denial(self, clause: str) -> _Denial | None:
        """Return how a clause denies; None if it does not."""
        patterns, asked = self._patterns, self._asked
        clauses_before = self.clauses_before
        clause = clause[:_LONGEST_CLAUSE]
        self.clauses_before = [*clauses_before[-_MOST_BEFORE:], clause]
        self._marks = self._lexicon.denial_marks.mark(clause)
        if not self._lexicon.may_marks_deny(self._marks):
            return None
        source = self._find_source(clause)
        if source < 0 and self._continues_source(clause, clauses_before):
            source = 0
        if clause.rstrip(_QUESTION_END).endswith("?"):
            return None
        if asked.is_polar and self._says_no_or_yes(clause):
            return None
        is_speaker = any(patterns[name].search(clause) for name in ("subjects.me", "denials.speaker"))
        words = self._find_withheld(clause, is_speaker=is_speaker)
        kind: GapKind = "permission_denied" if words is not None else "abstain"
        if words is None:
            words = self._find_lack(clause, source, is_speaker=is_speaker)
        if words is None:
            return None
        is_told = is_speaker or 0 <= source <= words.position
        if self._is_taken_back(clause, words.position, is_source=is_told):
            return None
        return words._replace(kind=kind)

    def _says_no_or_yes(self, clause: str) -> bool:
        return any(self._patterns[name].match(clause) for name in ("answers", "questions.no"))

    def _continues_source(self, clause: str, clauses_before: Sequence[str]) -> bool:
        """Whether a clause without a source goes on about that of a clause before: by a pronoun, or in one sentence by
        a verb that has no subject of its own."""
        for before in reversed(clauses_before):
            turning = self._patterns["denials.turning"].match(clause)
            start = 0 if turning is None else turning.end() + 1
            is_pronoun = self._patterns["subjects.pronouns"].match(clause, start) is not None
            negation = self._patterns["denials.negations"].search(clause, 0, _SHORT_START)
            absent = self._patterns["denials.absent"].search(clause, 0, _SHORT_START)
            goes_on = not before.endswith(_SENTENCE_ENDS) and (negation or (absent and turning is None))
            if not (is_pronoun or goes_on):
                return False
            if self._find_source(before) >= 0:
                return True
            clause = before
        return False

    def _find_lack(self, clause: str, source: int, *, is_speaker: bool) -> _Denial | None:
        """Return where a clause says that something is not told, known or there; None if it does not."""
        asked = self._asked
        names_asked = self.names_asked(clause)
        # what is said of the thing asked for answers "may I", "is there" and "why": only a source or the speaker denies
        answers_so = names_asked and (asked.is_polar or asked.asks_reason)
        is_told = source >= 0 or is_speaker

        def is_topical(*, if_named: bool = True) -> bool:
            if answers_so:
                return False
            return (names_asked and if_named) or self.count_other_words(clause) <= self._few_words

        words = self._find_word(("open",), clause)
        if words is not None and (is_told or is_topical()):
            return words
        gives_reason = asked.asks_reason and not is_speaker  # "the date was missing" is a reason
        words = self._find_word(("absent",), clause) if source >= 0 and not gives_reason else None
        if words is None and not gives_reason and not self._patterns["not_asserted.explanations"].search(clause):
            words = self._find_word(("failures",), clause)
            if words is not None and not is_told and not is_topical(if_named=False):
                words = None
        if words is None and (is_speaker or not names_asked):
            words = self._find_word(("declines",), clause)
        if words is None and source >= 0:
            names = ("telling", "told") if gives_reason else ("telling", "told", "entries")
            words = self._find_negated(names, clause, source)
        if words is None:
            words = self._find_negated(("told",), clause)
            if words is not None and not is_topical():
                words = None
        if words is None and is_speaker:
            words = self._find_negated(("knowing", "entries"), clause)
        return words

    def names_asked(self, clause: str) -> bool:
        """Whether a clause holds a word of the question."""
        return not self._asked.stems.isdisjoint(_list_stems(clause, self._lexicon))

    def is_of_asked(self, clause: str) -> bool:
        """Whether a clause names nothing, or next to nothing, beside its denial and what was asked."""
        if self._patterns["denials.exact"].search(clause):
            return False
        most = self._few_words - _FEW_WORDS if self.names_asked(clause) else self._few_words
        return self.count_other_words(clause) <= most

    @property
    def _few_words(self) -> int:
        """How many words beside a denial name no other thing: syllables and pairs of letters count for less."""
        if self._lexicon.language == "vi" or not self._lexicon.is_spaced:
            return 2 * _FEW_WORDS
        return _FEW_WORDS if self._lexicon.language == "en" else _FEW_WORDS + 1

    def count_other_words(self, clause: str) -> int:
        """Return how many words are next to those of denying and of the question."""
        if self._count_new_words(clause) == 0:
            return 0
        return self._count_new_words(self._lexicon.denial_vocabulary.sub(" ", clause))

    def _count_new_words(self, text: str) -> int:
        fillers = self._lexicon.words["no_claim.fillers"]
        stems = set(_list_stems(text, self._lexicon)) - self._asked.stems
        return len(stems - fillers)

    def gives_rough_number(self, clause: str, position: int) -> bool:
        """Whether a clause denies only the exact number, and goes on with another: "…, probably around 1200"."""
        after = clause[position:].partition(", ")[2]
        is_exact = self._asked.wants_number and self._patterns["denials.exact"].search(clause) is not None
        return is_exact and _NUMBER.search(after) is not None

    def find_answer(self, clauses: Sequence[tuple[str, bool]], *, counts_reports: bool) -> bool:
        """Whether one of some clauses gives something of the kind that was asked; they come with whether each begins a
        sentence, for what follows a report in its sentence reports too."""
        is_report = False
        for clause, begins in clauses:
            is_report = (is_report and not begins) or self._is_report(clause)
            if self._answers(clause, begins=begins, is_report=is_report, counts_reports=counts_reports):
                return True
        return False

    def _is_report(self, clause: str) -> bool:
        """Whether a clause says what a source holds, where "according to" one it states something."""
        if self._find_source(clause) >= 0 and self._patterns["denials.according"].search(clause) is None:
            return True
        return self._patterns["denials.reports"].search(clause) is not None

    def _answers(self, clause: str, *, begins: bool, is_report: bool, counts_reports: bool) -> bool:
        """Whether a clause, which may begin a sentence, gives something of the kind that was asked."""
        patterns, lexicon, asked = self._patterns, self._lexicon, self._asked
        gives_reason = patterns["questions.because"].match(clause) is not None and not asked.asks_reason
        if gives_reason or clause.rstrip().endswith(":"):
            return False
        if asked.is_polar and self._says_no_or_yes(clause):
            return True
        text = _NUMBER.sub(lambda number: " " if number[0] in asked.numbers else number[0], clause)
        least = 2 if asked.has_parts else (lexicon.least_claim_words + 1) // 2
        claim = find_claim(text, least, lexicon, lexicon.marks.mark(text))
        if asked.wants_number and begins and not claim and patterns["questions.numerals"].match(clause):
            claim = "certain"
        if not claim:
            return False
        holds_number = claim == "certain" or patterns["questions.numerals"].search(clause) is not None
        if is_report and not counts_reports:
            return asked.wants_number and holds_number and self._covers_question(clause)
        if asked.wants_number and not asked.has_parts:
            return holds_number and self._is_related(text, begins=begins and not is_report)
        if patterns["answers"].match(clause):
            return True
        is_part = asked.has_parts and self.names_asked(clause)
        return is_part or patterns["denials.advice"].search(clause) is None

    def _covers_question(self, clause: str) -> bool:
        """Whether a report takes up half of the words of the question."""
        covered = self._asked.stems.intersection(_list_stems(clause, self._lexicon))
        return len(covered) > 0 and 2 * len(covered) >= len(self._asked.stems)

    def _is_related(self, clause: str, *, begins: bool) -> bool:
        """Whether a clause with a number is about what was asked: it takes up a word, or is short."""
        if self.names_asked(clause) or (begins and _NUMBER.search(clause, 0, _SHORT_START)):
            return True
        return begins and len(_list_stems(clause, self._lexicon)) <= 2 * self._few_words

    def _find_source(self, clause: str) -> int:
        """Return where a clause names a source that the question does not ask about; -1 if it names none."""
        for match in self._patterns["denials.sources"].finditer(clause):
            if not self._is_asked(match[0]):
                return match.start()
        return -1

    def _is_asked(self, words: str) -> bool:
        """Whether the question holds all of some words."""
        if not self._lexicon.is_spaced:
            return words in self._asked.text
        asked = self._asked
        if not asked.stems.issuperset(_list_stems(words, self._lexicon)):
            return False
        ignored = self._lexicon.words["no_claim.fillers"]
        negations = self._patterns["denials.negations"]
        return all(
            word in asked.words or _find_stem(word) in asked.stems or word in ignored or negations.fullmatch(word)
            for word in split_words(words)
        )

    def _find_withheld(self, clause: str, *, is_speaker: bool) -> _Denial | None:
        """Return where a clause says that what was asked is not for the reader; None if it does not."""
        patterns = self._patterns
        if self._asked.asks_reason and not is_speaker:
            return None  # "so access was denied"
        words = self._find_word(("withheld",), clause)
        if words is None and not self._asked.is_polar:
            is_pointed = any(patterns[name].search(clause) for name in ("subjects.you", "subjects.this"))
            words = self._find_word(("permission",), clause) if is_speaker or is_pointed else None
        return words

    def _find_word(self, names: Sequence[str], clause: str) -> _Denial | None:
        """Return where a clause holds a word of some lists that the question does not hold; None if it holds none."""
        for name in names:
            for match in self._iterate_matches(name, clause):
                if not self._is_asked(match[0]):
                    return _Denial("abstain", position=match.start(), words=match[0])
        return None

    def _iterate_matches(self, name: str, clause: str, *span: int) -> Iterable[re.Match[str]]:
        """Return the matches of a list in a clause, which is searched only if its words can match."""
        name = f"denials.{name}"
        may_match = self._marks & self._lexicon.denial_marks.bits[name]
        return self._patterns[name].finditer(clause, *span) if may_match else ()

    def _find_negated(self, names: Sequence[str], clause: str, source: int = -1) -> _Denial | None:
        """Return where a negation stands near a word of some lists that the question does not hold; None if there is
        none. `source`: where the source is named that must not tell."""
        is_ordered = self._lexicon.language in _NEGATION_FIRST
        for negation in self._iterate_matches("negations", clause):
            if is_ordered and source >= 0 and not self._is_subject(clause, source, negation):
                continue
            first = negation.end() if is_ordered else max(0, negation.start() - _NEAR)
            for name in names:
                for match in self._iterate_matches(name, clause, first, negation.end() + _NEAR):
                    overlaps = match.start() < negation.end() and negation.start() < match.end()
                    if not overlaps and not self._is_asked(match[0]):
                        begin, finish = sorted((negation, match), key=re.Match[str].start)
                        return _Denial("abstain", position=begin.start(), words=f"{begin[0]} … {finish[0]}")
        return None

    def _is_subject(self, clause: str, source: int, negation: re.Match[str]) -> bool:
        """Whether a source is what does not tell: it stands before the negation without a verb of telling between them
        ("the terms say that no …"), or is what nothing is found in."""
        if source < negation.start():
            return self._patterns["denials.telling"].search(clause, source, negation.start()) is None
        between = clause[negation.end() : source]
        return not between.strip() or (
            len(between) <= _NEAR and self._patterns["denials.within"].search(between) is not None
        )

    def _is_taken_back(self, clause: str, position: int, *, is_source: bool) -> bool:
        """Whether what a clause denies is a condition, an explanation or said of others."""
        patterns = self._patterns
        before = clause[:position]
        if self._asked.asks_reason and patterns["questions.because"].search(before):
            return True
        for name in ("conditions", "denials", "explanations"):
            if patterns[f"not_asserted.{name}"].search(before):
                return True
        return not is_source and patterns["subjects.others"].search(before) is not None
