"""What a language's lexicon of refusals holds, checked and compiled: phrases, who may say them, and what is no claim.

A lexicon is data (`lexicons/<language>.yaml`; `lexicon_file` reads it). Everything is compared with folded text (lower
case, no diacritics, "can't" spelled "can not"), so a lexicon may be written with or without diacritics. Templates of
phrases hold lists by name (`<info>`) or in braces (`{data,facts}`); an empty alternative makes a word optional. Lists
of words are regular expressions, of which a plain word is the simplest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, get_args

from msgspec import Struct, structs

from assay.text.normalisation import fold_character, fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.refusals.word_marks import WordMarks, find_first_words
from assay.text.word_runs import split_tokens

PhraseKind = Literal["abstain", "permission_denied", "escalate", "clarify", "contact", "doubt"]
"""What a phrase does. `contact` is advice whom to ask, which alone may hand over; `doubt` leaves a text undecided."""

PhraseSubject = Literal[
    "speaker", "me", "you", "reader", "source", "document", "topic", "this", "anyone", "exclusive", "contact", "free"
]
"""Who must say the phrase: see `RefusalLexicon.subjects`. `reader`: the speaker or "you"; `source`: the speaker, a
document or a pronoun; `topic`: nobody, or what was asked; `this`: what was asked, pointed at ("these figures are for
managers", which of "the files" states a rule); `anyone`: all but a third person; `free`: not looked at."""

SHORTEST_PHRASE = 6
"""Least number of letters and digits of a phrase in a script with spaces; the filter looks up that many."""

_KINDS: tuple[str, ...] = get_args(PhraseKind)
_SUBJECTS: tuple[str, ...] = get_args(PhraseSubject)
_MOST_PHRASES = 20_000
_ESCAPE = compile_pattern(r"(\\.)")
_FOLDED_PATTERN = compile_pattern(r"[ -@\[-_a-~]*")  # ASCII without capitals, grave accents and line breaks
_TEMPLATE_PART = compile_pattern(r"\{([^{}]*)\}|<(\w+)>")
_BRACKET = compile_pattern(r"[{}<>\[\]]")
_LANGUAGE = compile_pattern(r"[a-z]{2,3}")
NOTHING = r"(?!)"
"""The pattern of an empty list: it matches nothing."""
_OPENING, _CLOSING = r"\b(?:", r")\b"


class LexiconProblem(Struct, frozen=True):
    """What is wrong with a lexicon: its file, the line (None if there is none to point to), the field, the message."""

    path: str
    line: int | None
    field: str
    message: str

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        return (
            f"{self.path}{line}: {self.field}: {self.message}" if self.field else f"{self.path}{line}: {self.message}"
        )


class LexiconError(ValueError):
    """A lexicon that cannot be used, with everything that is wrong with it."""

    def __init__(self, problems: Sequence[LexiconProblem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


class PatternTable(Mapping[str, re.Pattern[str]]):
    """Regular expressions by name, each compiled on its first look-up: a run looks up few of them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._compiled: dict[str, re.Pattern[str]] = {}

    def __getitem__(self, name: str) -> re.Pattern[str]:
        pattern = self._compiled.get(name)
        if pattern is None:
            pattern = self._compiled[name] = compile_pattern(self.texts[name])
        return pattern

    def __contains__(self, name: object) -> bool:
        return name in self.texts  # that of Mapping would compile the pattern

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)


class PhraseRow(Struct, frozen=True, array_like=True):
    """The template of some phrases, folded, with what they do (see `RefusalPhrase`) and the words they begin with.

    `starts`: the first two words of each phrase, so that a text tells which templates are worth expanding; none where
    phrases are not looked up by words.
    """

    kind: PhraseKind
    subject: PhraseSubject
    following: str
    template: str
    starts: tuple[str, ...]


class RefusalLexicon(Struct, frozen=True, eq=False, dict=True):
    """One language: its phrases, and the words by which a phrase in context is understood.

    `is_spaced`: whether the script puts spaces between words. `has_starts`: whether its phrases are looked up by their
    first two words; those with other than ASCII letters are not. `lists`: the words that templates name.
    `common_words`: frequent words that show the language. `first_words`: what `WordMarks` needs of each list.
    `bare_refusals`, `bare_denials`: texts that abstain or deny permission if they are the whole answer. `bare_noes`: a
    no that stands alone, which answers a question for yes or no, and no other (`questions.open`).
    `least_claim_words`: words (in a script without spaces: pairs of characters) from which a clause makes a claim.
    """

    language: str
    is_spaced: bool
    has_starts: bool
    common_words: frozenset[str]
    rows: tuple[PhraseRow, ...]
    lists: Mapping[str, Sequence[str]]
    bare_refusals: frozenset[str]
    bare_denials: frozenset[str]
    bare_noes: frozenset[str]
    pattern_texts: Mapping[str, str]
    following_texts: Mapping[str, str]
    first_words: Mapping[str, Sequence[str] | None]
    words: Mapping[str, frozenset[str]]
    least_claim_words: int

    @cached_property
    def patterns(self) -> PatternTable:
        """The expressions of `PATTERN_LISTS` and `QUESTION_LISTS`, by field."""
        return PatternTable(self.pattern_texts)

    @cached_property
    def following_patterns(self) -> PatternTable:
        """The expressions that must follow a phrase, by name."""
        return PatternTable(self.following_texts)

    @cached_property
    def phrases(self) -> Mapping[str, tuple[RefusalPhrase, ...]]:
        """What each phrase means: thousands of phrases, which few runs need all of."""
        phrases: dict[str, tuple[RefusalPhrase, ...]] = {}
        for row in self.rows:
            add_phrases(phrases, dict.fromkeys(self.expand_row(row), (self.read_cue(row),)))
        return phrases

    def expand_row(self, row: PhraseRow) -> list[str]:
        """Return the phrases of a row."""
        return [phrase for phrase in expand_template(row.template, self.lists) if phrase]

    def list_phrases(self, row: PhraseRow, start: str) -> list[str]:
        """Return the phrases of a row that begin with these words."""
        end = len(start)
        phrases = expand_template(row.template, self.lists, start)
        beginning = [phrase for phrase in phrases if phrase.startswith(start)]
        return [phrase for phrase in beginning if not phrase[end : end + 1].isalnum()]

    def read_cue(self, row: PhraseRow) -> RefusalPhrase:
        """Return what the phrases of a row mean."""
        return RefusalPhrase(row.kind, row.subject, row.following, self)

    @cached_property
    def marks(self) -> WordMarks:
        """Tells from the words of a text which of the lists it can match."""
        return WordMarks(self.first_words)


class RefusalPhrase(Struct, frozen=True):
    """The meaning of a phrase, its required subject, the name of the pattern that must follow it in the same clause
    ("" matches anything), and the lexicon that it is from."""

    kind: PhraseKind
    subject: PhraseSubject
    following: str
    lexicon: RefusalLexicon

    @property
    def following_pattern(self) -> re.Pattern[str]:
        """The pattern that must follow the phrase in the same clause."""
        return self.lexicon.following_patterns[self.following]


PATTERN_LISTS = (
    "subjects.speaker",
    "subjects.me",
    "subjects.you",
    "subjects.others",
    "subjects.documents",
    "subjects.pronouns",
    "subjects.topics",
    "subjects.exclusive",
    "subjects.this",
    "subjects.contact",
    "not_asserted.conditions",
    "not_asserted.explanations",
    "not_asserted.denials",
    "permission.giving",
    "permission.subjects",
    "no_claim.set_aside",
    "no_claim.contacts",
    "no_claim.echoes",
    "no_claim.first_person",
    "no_claim.reports",
    "no_claim.references",
    "no_claim.numerals",
    "no_claim.continuations",
    "contrasts",
    "conclusions",
    "answers",
    "letters",
)
"""The lists of a lexicon that are matched as patterns, by field."""
QUESTION_LISTS = (
    *("questions.contact", "questions.open", "courtesies", "advice"),
    *("lacks.states", "lacks.facts", "lacks.whether", "lacks.leans"),
    *("offers.closing", "offers.choice", "offers.open", "offers.values", "offers.lacking"),
)
"""Further lists that are matched as patterns: a question that asks whom to turn to, one that a yes or no does not
answer, what may be said before and after a bare refusal, how a thing is said not to be had, which is said of facts
too, how it is left open whether something is so, words that lean to an answer nevertheless, how more help is offered
behind an answer, what makes such a question one that has to be answered first, what leaves an answer open, which
questions ask for a value, and what a question asks of the user."""
WORD_LISTS = ("no_claim.fillers", "no_claim.words")
_FIELDS = (
    "language",
    "spaced",
    "common",
    "letters",
    "lists",
    "followed_by",
    "phrases",
    "bare",
    "bare_denied",
    "bare_no",
    "courtesies",
    "advice",
    "claim_words",
    "contrasts",
    "conclusions",
    "answers",
)
_SECTIONS = ("subjects", "not_asserted", "permission", "no_claim", "questions", "lacks", "offers")


def fold_pattern(pattern: str) -> str:
    """Return a regular expression with its text folded and its escapes as they are.

    >>> fold_pattern(r"không\\b|\\S+ Größe")
    'khong\\\\b|\\\\S+ grosse'
    """
    if _FOLDED_PATTERN.fullmatch(pattern):
        return pattern  # nearly all are written folded, and folding takes most of the time of reading a lexicon
    pieces = _ESCAPE.split(pattern)
    return "".join(piece if index % 2 else "".join(map(fold_character, piece)) for index, piece in enumerate(pieces))


def expand_template(template: str, lists: Mapping[str, Sequence[str]] | None = None, start: str = "") -> list[str]:
    """Return the phrases that a folded template stands for: all that begin with some words, and perhaps others.

    Raises KeyError for a list that is not there.

    >>> expand_template("no {relevant,} <fact>", {"fact": ["data", "mention"]})
    ['no relevant data', 'no relevant mention', 'no data', 'no mention']
    """
    if "{" not in template and "<" not in template:
        return [" ".join(template.split())]
    phrases = [""]
    position = 0
    for part in _TEMPLATE_PART.finditer(template):
        literal = template[position : part.start()]
        alternatives = part[1].split(",") if part[2] is None else (lists or {})[part[2]]
        endings: list[str] = []
        for alternative in alternatives:
            if "{" in alternative or "<" in alternative:
                endings += [literal + inner for inner in expand_template(alternative, lists)]
            else:
                endings.append(literal + alternative)
        phrases = [beginning + ending for beginning in phrases for ending in endings]
        if start:
            phrases = [phrase for phrase in phrases if _may_begin_with(phrase, start)]
        position = part.end()
    return _squeeze_spaces([phrase + template[position:] for phrase in phrases])


def _may_begin_with(phrase: str, start: str) -> bool:
    """Whether a phrase of which the end is not known yet may begin with some words."""
    words = " ".join(phrase.split())
    return words.startswith(start) or start.startswith(words)


def _squeeze_spaces(phrases: Sequence[str]) -> list[str]:
    """Return folded phrases with single spaces between words: in one text, which takes a third of the time."""
    text = "\n".join(phrases)
    while "  " in text:
        text = text.replace("  ", " ")
    return text.replace(" \n", "\n").replace("\n ", "\n").strip(" ").split("\n")


def contract_negations(phrase: str) -> str:
    """Return an English phrase with "not" as it is contracted; other phrases unchanged.

    >>> contract_negations("i can not find"), contract_negations("not sure")
    ('i cant find', 'nt sure')
    """
    if "not" not in phrase:
        return phrase
    return _NOT.sub("nt", _CAN_NOT.sub("cant", _WILL_NOT.sub("wont", phrase)))


_NOT, _CAN_NOT, _WILL_NOT = (
    compile_pattern(r"\bnot\b"),
    compile_pattern(r"\bcan not\b"),
    compile_pattern(r"\bwill not\b"),
)


def find_start(phrase: str) -> str:
    """Return the first two words of a folded phrase.

    >>> find_start("can not say"), find_start("can not"), find_start("i can, but")
    ('can not', 'can not', 'i can')
    """
    return " ".join(split_tokens(phrase)[:2])


def add_phrases(
    phrases: dict[str, tuple[RefusalPhrase, ...]], further: Mapping[str, tuple[RefusalPhrase, ...]]
) -> None:
    """Add `further` to `phrases`; a phrase that is in both has the meanings of both."""
    shared = {phrase: phrases[phrase] + further[phrase] for phrase in phrases.keys() & further.keys()}
    phrases |= further
    phrases |= shared


class LexiconParser:
    """Turns the content of a lexicon file into a `RefusalLexicon`; collects everything that is wrong with it."""

    def __init__(self, path: str, lines: Mapping[str, int]) -> None:
        """`lines`: the line of each field (`phrases.abstain[3].say`), as far as it is known."""
        self.path, self._lines = path, lines
        self.problems: list[LexiconProblem] = []

    def parse_lexicon(self, data: object) -> RefusalLexicon:
        """Return the lexicon. Raises LexiconError with every problem of the file."""
        content = self._read_mapping(data, "")
        self._check_names(content)
        language, is_spaced, least_claim_words = self._read_settings(content)
        lists = {
            name: list(map(fold_pattern, self._read_texts(value, f"lists.{name}")))
            for name, value in self._section(content, "lists")
        }
        following = self._read_following(content)
        common_words = frozenset(map(fold_text, self._read_texts(content.get("common", []), "common")))
        bare = {
            name: frozenset(self._expand_all(content.get(name, []), name, lists))
            for name in ("bare", "bare_denied", "bare_no")
        }
        patterns = self._read_patterns(content, is_spaced)
        words = {name: frozenset(map(fold_text, self._read_list(content, name))) for name in WORD_LISTS}
        phrases_by_row = self._read_phrases(content, lists, following, is_spaced=is_spaced)
        phrases = {phrase for row_phrases in phrases_by_row.values() for phrase in row_phrases}
        self._check_count(phrases)
        has_starts = is_spaced and "".join(phrases).isascii()
        lexicon = RefusalLexicon(
            language=language,
            is_spaced=is_spaced,
            has_starts=has_starts,
            common_words=common_words,
            rows=tuple(
                structs.replace(row, starts=tuple(dict.fromkeys(map(find_start, row_phrases)))) if has_starts else row
                for row, row_phrases in phrases_by_row.items()
            ),
            lists=lists,
            bare_refusals=bare["bare"],
            bare_denials=bare["bare_denied"],
            bare_noes=bare["bare_no"],
            pattern_texts=patterns,
            following_texts=following,
            first_words={
                name: find_first_words(patterns[name][len(_OPENING) : -len(_CLOSING)]) if is_spaced else None
                for name in PATTERN_LISTS
                if patterns[name] != NOTHING
            },
            words=words,
            least_claim_words=least_claim_words,
        )
        if self.problems:
            raise LexiconError(self.problems)
        return lexicon

    def _check_names(self, content: Mapping[str, Any]) -> None:
        for name in content:
            if name not in (*_FIELDS, *_SECTIONS):
                self._add(name, f"unknown field (got {name!r}; expected one of {', '.join((*_FIELDS, *_SECTIONS))})")

    def _read_settings(self, content: Mapping[str, Any]) -> tuple[str, bool, int]:
        """Return the language, whether its script has spaces between words, and the fewest words of a claim."""
        language = content.get("language")
        if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
            self._add(
                "language", f"no language (got {language!r}; expected a code of two or three letters, such as it)"
            )
        is_spaced = content.get("spaced", True)
        if not isinstance(is_spaced, bool):
            self._add(
                "spaced", f"neither true nor false (got {is_spaced!r}; expected false for a script without spaces)"
            )
        least_words = content.get("claim_words", 4)
        if not isinstance(least_words, int) or isinstance(least_words, bool) or least_words < 1:
            self._add("claim_words", f"no count of words (got {least_words!r}; expected a whole number from 1)")
            least_words = 4
        return str(language), bool(is_spaced), least_words

    def _check_count(self, phrases: Collection[str]) -> None:
        if len(phrases) > _MOST_PHRASES:
            self._add("phrases", f"too many (got {len(phrases)} after expansion; expected {_MOST_PHRASES} at most)")
        if not phrases and not self.problems:
            self._add("phrases", "no phrases (got none; expected some under abstain)")

    # ── phrases ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _read_following(self, content: Mapping[str, Any]) -> dict[str, str]:
        texts = {"": ""}
        for name, pattern in self._section(content, "followed_by"):
            texts[name] = self._read_pattern(pattern, f"followed_by.{name}")
        return texts

    def _read_phrases(
        self,
        content: Mapping[str, Any],
        lists: Mapping[str, Sequence[str]],
        following: Mapping[str, str],
        *,
        is_spaced: bool,
    ) -> dict[PhraseRow, list[str]]:
        """Return the phrases of each row; if several rows stand for a phrase, each applies with its own subject."""
        phrases_by_row: dict[PhraseRow, list[str]] = {}
        for kind, templates in self._section(content, "phrases"):
            if kind not in _KINDS:
                self._add(f"phrases.{kind}", f"unknown kind (got {kind!r}; expected one of {', '.join(_KINDS)})")
                continue
            for index, entry in enumerate(templates if isinstance(templates, list) else [templates]):
                at = f"phrases.{kind}[{index}]"
                row = {"say": entry} if isinstance(entry, str) else self._read_mapping(entry, at)
                phrases = self._read_phrase_row(row, at, lists, following, is_spaced=is_spaced)
                if phrases:
                    # `_KINDS` holds the kinds of the type, which the check above compares with
                    subject, template = row.get("by", "anyone"), fold_pattern(row["say"])
                    phrase_row = PhraseRow(kind, subject, row.get("then", ""), template, ())  # type: ignore[arg-type]
                    phrases_by_row[phrase_row] = phrases
        return phrases_by_row

    def _read_phrase_row(
        self,
        row: Mapping[str, Any],
        at: str,
        lists: Mapping[str, Sequence[str]],
        following: Mapping[str, str],
        *,
        is_spaced: bool,
    ) -> list[str]:
        for name in row.keys() - {"say", "by", "then"}:
            self._add(f"{at}.{name}", "unknown field (expected say, by or then)")
        if row.get("by", "anyone") not in _SUBJECTS:
            self._add(f"{at}.by", f"unknown subject (got {row['by']!r}; expected one of {', '.join(_SUBJECTS)})")
            return []
        if row.get("then", "") not in following:
            pattern_names = ", ".join(filter(None, following)) or "a pattern under followed_by"
            self._add(f"{at}.then", f"unknown pattern (got {row['then']!r}; expected {pattern_names})")
            return []
        phrases = self._expand_all([row.get("say")], f"{at}.say", lists)
        for phrase in phrases if is_spaced else ():
            if len(phrase) > 2 * SHORTEST_PHRASE and " " in phrase:
                continue  # long enough, whatever is contracted
            if " " not in phrase or sum(map(str.isalnum, contract_negations(phrase))) < SHORTEST_PHRASE:
                expected = f"two words or more, and {SHORTEST_PHRASE} letters"
                self._add(f"{at}.say", f"phrase too short to look up (got {phrase!r}; expected {expected})")
                return []
        return phrases

    def _expand_all(self, templates: object, at: str, lists: Mapping[str, Sequence[str]]) -> list[str]:
        phrases: list[str] = []
        for template in self._read_texts(templates, at):
            try:
                expanded = expand_template(fold_pattern(template), lists)
                if any(_BRACKET.search(phrase) for phrase in expanded):
                    message = "a bracket without its other half, or none of a phrase"
                    self._add(at, f"{message} (got {template!r}; expected {{a,b}} for words, <name> for a list)")
                phrases += expanded
            except KeyError as error:
                list_names = ", ".join(sorted(lists)) or "none"
                self._add(at, f"unknown list (got <{error.args[0]}>; expected a name under lists: {list_names})")
            except RecursionError:
                self._add(at, f"a list that holds itself (got {template!r}; expected lists without circles)")
        return [phrase for phrase in phrases if phrase]

    # ── words and patterns ───────────────────────────────────────────────────────────────────────────────────────

    def _read_patterns(self, content: Mapping[str, Any], is_spaced: bool) -> dict[str, str]:
        opening, closing = (_OPENING, _CLOSING) if is_spaced else ("(?:", ")")
        texts: dict[str, str] = {}
        for name in (*PATTERN_LISTS, *QUESTION_LISTS):
            alternatives = [self._read_pattern(text, name) for text in self._read_list(content, name)]
            alternatives = [text for text in alternatives if text != NOTHING]
            texts[name] = f"{opening}{'|'.join(alternatives)}{closing}" if alternatives else NOTHING
        return texts

    def _read_list(self, content: Mapping[str, Any], name: str) -> list[str]:
        section, _, key = name.rpartition(".")
        holder = dict(self._section(content, section)) if section else content
        return self._read_texts(holder.get(key, []), name)

    def _read_pattern(self, pattern: object, at: str) -> str:
        """Return a regular expression folded; one that matches nothing, and a problem, if it is none."""
        if not isinstance(pattern, str):
            self._add(at, f"no text (got {pattern!r}; expected a word or a regular expression)")
            return NOTHING
        folded = fold_pattern(pattern)
        try:
            re.compile(folded)
        except re.error as error:
            self._add(at, f"no regular expression ({error}; got {pattern!r}; expected a word, or a valid pattern)")
            return NOTHING
        return folded

    # ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _section(self, content: Mapping[str, Any], name: str) -> Iterator[tuple[str, Any]]:
        yield from self._read_mapping(content.get(name, {}), name).items()

    def _read_mapping(self, value: object, at: str) -> Mapping[str, Any]:
        if isinstance(value, Mapping):
            return value
        self._add(at, f"no mapping (got {type(value).__name__}; expected name: value)")
        return {}

    def _read_texts(self, value: object, at: str) -> list[str]:
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            return value
        self._add(at, "no list of texts (expected [one, two]; words like no, yes and numbers need quotes)")
        return []

    def _add(self, at: str, message: str) -> None:
        problem = LexiconProblem(self.path, self._find_line(at), at, message)
        if problem not in self.problems:
            self.problems.append(problem)

    def _find_line(self, at: str) -> int | None:
        """Return the line of a field, or of the innermost one around it that is in the file."""
        while at and at not in self._lines:
            at = at.rpartition("[" if at.endswith("]") else ".")[0]
        return self._lines.get(at)
