"""Answers that are nothing but a refusal ("No idea, ask HR"), or nothing but a no, which answers only some questions.

They are compared with those of the lexicons that the other words of an answer call for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from functools import cache, lru_cache

from msgspec import structs

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text
from assay.text.refusals.detected_behaviour import NO_BEHAVIOUR, UNKNOWN, DetectedBehaviour
from assay.text.refusals.lexicons_in_use import load_rules, needs_latin_rules
from assay.text.refusals.phrase_filter import has_other_script
from assay.text.refusals.refusal_lexicon import NOTHING, RefusalLexicon
from assay.text.refusals.refusal_rules import LexiconGroup
from assay.text.segmentation import normalise_answer

MOST_CHARACTERS = 60
"""The longest answer that may be a bare refusal; in a sentence its words mean something else."""
_BETWEEN_WORDS = '.,!?…:;()[]*"-'
_AS_SPACES = str.maketrans(_BETWEEN_WORDS, " " * len(_BETWEEN_WORDS))
_MARKS = " .!?…:;-*_\"'()[]。！"


def _list_words(text: str) -> list[str]:
    return text.translate(_AS_SPACES).split()


def _list_longest_words(texts: Sequence[str]) -> Set[str]:
    lines = "\n".join(texts).translate(_AS_SPACES).split("\n")  # together in a third of the time
    return frozenset(max(line.split(), key=len, default=text) for text, line in zip(texts, lines, strict=True))


class BareRefusals:
    """The bare refusals of some lexicons."""

    def __init__(self, lexicons: Iterable[RefusalLexicon]) -> None:
        self._lexicons = list(lexicons)
        self.denials = frozenset[str]().union(*(lexicon.bare_denials for lexicon in self._lexicons))
        self.refusals = self.denials.union(*(lexicon.bare_refusals for lexicon in self._lexicons))
        self._noes = frozenset[str]().union(*(lexicon.bare_noes for lexicon in self._lexicons))
        courtesies, advice = self._join_patterns("courtesies"), self._join_patterns("advice")
        self._around = LatePattern(rf"^(?:(?:{courtesies})[ ,.!:…-]*+)+|(?:[ ,.!…-]{{1,9}}(?:{courtesies})){{1,3}}$")
        # a figure after the advice may be an answer
        self._after = LatePattern(rf"[,.;!:–—-]{{1,9}} ?(?:{advice})[^\d?]{{0,90}}$")
        self._longest_words = _list_longest_words([*self.refusals, *self._noes])
        self._is_spaced = all(lexicon.is_spaced for lexicon in self._lexicons)
        self.strip_edges = lru_cache(maxsize=64)(self._strip_edges)  # one answer is asked about several times in a row

    def _join_patterns(self, name: str) -> str:
        texts = (lexicon.pattern_texts[name] for lexicon in self._lexicons)
        return "|".join(text for text in texts if text != NOTHING) or NOTHING

    def _strip_edges(self, answer: str) -> str:
        """Return an answer folded, without the courtesies around it and the advice to ask somebody else."""
        folded = fold_text(answer)
        if self._is_spaced and self._longest_words.isdisjoint(_list_words(folded)):
            return folded  # most answers: no bare refusal is without its longest word
        return self.strip_courtesies(self._after.sub("", folded))

    def strip_courtesies(self, folded: str) -> str:
        """Return a folded text without the courtesies around it: "sorry, nowhere" says "nowhere"."""
        return self._around.sub("", folded.strip(_MARKS)).strip(_MARKS)

    def is_bare(self, answer: str) -> bool:
        """Return whether an answer is nothing but a refusal or a no."""
        if len(answer) > MOST_CHARACTERS:
            return False
        text = self.strip_edges(answer)
        return text in self.refusals or text in self._noes

    def find_refusal(self, answer: str) -> str:
        """Return the refusal that an answer consists of; "" if it is something else."""
        text = self.strip_edges(answer) if len(answer) <= MOST_CHARACTERS else ""
        return text if text in self.refusals else ""

    def find_no(self, answer: str, question: str) -> str:
        """Return the no that an answer consists of, if its question asks for more than yes or no; else "".

        `question`: prepared by `normalise_answer`.
        """
        text = self.strip_edges(answer) if len(answer) <= MOST_CHARACTERS else ""
        if text not in self._noes:
            return ""
        lexicons = (lexicon for lexicon in self._lexicons if text in lexicon.bare_noes)
        return text if any(lexicon.patterns["questions.open"].search(question) for lexicon in lexicons) else ""

    def has_regret(self, answer: str) -> bool:
        """Return whether something is said around a bare refusal or no, such as that one is sorry."""
        return fold_text(answer).strip(_MARKS) != self.strip_edges(answer)


def get_bare_refusals(answer: str) -> BareRefusals:
    """Return the bare refusals that an answer is compared with."""
    return load_bare_refusals(with_latin=needs_latin_rules(answer), with_unspaced=has_other_script(answer))


@cache
def load_bare_refusals(*, with_latin: bool, with_unspaced: bool) -> BareRefusals:
    """Return the bare refusals of English, Vietnamese and the user's lexicons, and of others where they are needed."""
    groups: list[LexiconGroup] = ["common"]
    groups += ["latin"] if with_latin else []
    groups += ["unspaced"] if with_unspaced else []
    return BareRefusals(lexicon for group in groups for lexicon in load_rules(group).lexicons.values())


def match_bare_refusal(answer: str) -> str:
    """Return the folded answer if it consists only of a phrase that abstains or denies permission, else "".

    >>> match_bare_refusal("**N/A**"), match_bare_refusal("Không rõ."), match_bare_refusal("An unknown error")
    ('n/a', 'khong ro', '')
    """
    return get_bare_refusals(answer).find_refusal(answer) if len(answer) <= MOST_CHARACTERS else ""


def is_bare(answer: str) -> bool:
    """Return whether an answer is nothing but a refusal or a no."""
    return len(answer) <= MOST_CHARACTERS and get_bare_refusals(answer).is_bare(answer)


_NONE_OF_KIND = (
    (r"\b(?:where|wo|wohin|woher|dau)\b", "nowhere|nirgends|nirgendwo|nirgendwohin|khong o dau(?: ca)?"),
    (r"\b(?:when|how often|wann|wie oft|khi nao|bao gio)\b", "never|nie|niemals|khong bao gio"),
    (r"\b(?:who|whom|wer|wen|wem|ai)\b", "nobody|no one|no-one|niemand|niemanden|niemandem|khong ai(?: ca)?"),
    (r"\b(?:how many|how much|which|wie viele?|wieviele?|welche\w*|bao nhieu)\b", "none|zero|keine[rs]?|null|khong"),
)
"""What a question asks for, and the answers of a word that say that there is none of it."""


def says_none_of_kind(answer: str, question: str) -> bool:
    """Return whether an answer is nothing but the word for none of what its question asks for: no refusal.

    >>> says_none_of_kind("Nowhere.", "Where may I swim?"), says_none_of_kind("Nowhere.", "When may I swim?")
    (True, False)
    """
    if not question or len(answer) > MOST_CHARACTERS:
        return False
    word, asked = get_bare_refusals(answer).strip_courtesies(fold_text(answer)), fold_text(question)
    return any(re.fullmatch(words, word) and re.search(kind, asked) for kind, words in _NONE_OF_KIND)


def read_bare_no(answer: str, question: str) -> DetectedBehaviour | None:
    """Return what a no does that stands alone after a question for more than yes or no; None for any other answer.

    With regret it declines; without, it may also say that there is none.
    """
    if not question or not is_bare(answer):
        return None
    bare = get_bare_refusals(answer)
    no = bare.find_no(answer, normalise_answer(question))
    if not no:
        return None
    if bare.has_regret(answer):
        return DetectedBehaviour("abstain", True, True, False, no, False)
    return structs.replace(NO_BEHAVIOUR, behaviour=UNKNOWN)
