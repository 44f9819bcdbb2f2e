"""Which of many answers must be examined: those that may hold a phrase, ask back, or refuse by their wording."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from assay.text.refusals.bare_refusals import MOST_CHARACTERS, is_bare
from assay.text.refusals.error_texts import is_error_text
from assay.text.refusals.lexicons_in_use import load_rules, needs_latin_rules
from assay.text.refusals.phrase_filter import PhraseFilter
from assay.text.refusals.readable_text import holds_word
from assay.text.refusals.refusal_lexicon import SHORTEST_PHRASE
from assay.text.refusals.refusal_model import LONGEST_READ
from assay.text.refusals.refusal_rules import RefusalRules

SHORT_ANSWER = 300  # characters of an answer in which advice to contact someone may be the whole answer
_QUESTION_ENDS = ("?", "？")
_MANY = 256  # answers from which one filter for all languages is worth reading all their lexicons
CLOSING = " \t\r\n\"'”’)*_"
_QUESTION_CLOSINGS = frozenset((*_QUESTION_ENDS, *CLOSING))


def find_behaviour_candidates(answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (n,): whether `detect_phrases` must examine each answer; it finds nothing in the
    others.

    Never excludes a text in which `detect_phrases` would find a phrase: the filter compares folded letters and
    digits only.

    >>> find_behaviour_candidates(["12 ngày phép", "Toi khong\\ntim thay thong tin", ""]).tolist()
    [False, True, True]
    """
    if len(answers) < _MANY:
        marked = _mark_each(answers)
    else:
        marked = load_wide_filter()(answers)
        refusing = np.flatnonzero(marked).tolist()
        marked[refusing] = _mark_each([answers[i] for i in refusing])
        marked[[i for i, answer in enumerate(answers) if _asks_or_is_bare(answer)]] = True
    marked[[i for i, answer in enumerate(answers) if not holds_word(answer)]] = True
    return marked


@cache
def load_wide_filter() -> PhraseFilter:
    """Return one filter for the phrases of all languages with spaces: what it excludes needs no second look.

    Of other languages than English and Vietnamese it looks for the beginnings: there are a quarter as many, and what it
    lets through is looked at again.
    """
    beginnings = set(map(_cut_phrase, load_rules("latin").by_phrase))
    return PhraseFilter(itertools.chain(load_rules("common").by_phrase, beginnings))


def _cut_phrase(phrase: str) -> str:
    """Return the first two words of a phrase, or all of it if they are too short to look up."""
    beginning = " ".join(phrase.split(" ", 2)[:2])
    return beginning if sum(map(str.isalnum, beginning)) >= SHORTEST_PHRASE else phrase


def _mark_each(answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    marked = _mark_candidates(load_rules("common"), answers)
    others = [i for i, answer in enumerate(answers) if not marked[i] and needs_latin_rules(answer)]
    if others:
        marked[others] = _mark_candidates(load_rules("latin"), [answers[i] for i in others])
    return marked


def mark_texts_to_examine(texts: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (n,): like `find_behaviour_candidates`, but all texts of a small run, in which
    examining each costs less than building the filters.

    What `detect_phrases` finds in the texts does not depend on it: a text that is no candidate is a plain answer.
    """
    if load_rules("common").is_filter_worthwhile(texts):
        return find_behaviour_candidates(texts)
    return np.ones(len(texts), dtype=np.bool_)


def mark_answers_open_to_model(answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (n,): which answers a model must read, even if they hold no phrase, and which may
    be error messages.

    Answers that neither this nor `mark_texts_to_examine` marks are plain answers, unless their case states a language
    without a lexicon.

    >>> mark_answers_open_to_model(["12 days a year", "The tower has seven floors. " * 200, ""]).tolist()
    [True, False, False]
    """
    is_open = (may_be_weighed(answer) or is_error_text(answer) for answer in answers)
    return np.fromiter(is_open, np.bool_, len(answers))


def _mark_candidates(rules: RefusalRules, answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    marked = rules.strong_filter(answers)
    for index, answer in enumerate(answers):
        if _asks(answer) or is_bare(answer):
            marked[index] = True
    short = [i for i, answer in enumerate(answers) if len(answer) <= SHORT_ANSWER and not marked[i]]
    marked[short] = rules.weak_filter([answers[i] for i in short])
    return marked


def _asks_or_is_bare(answer: str) -> bool:
    """Whether an answer without any phrase may still ask back, or be a bare refusal in some language."""
    if len(answer) > MOST_CHARACTERS:
        return answer[-1] in _QUESTION_CLOSINGS and _asks(answer)
    return _asks(answer) or is_bare(answer)


def _asks(answer: str) -> bool:
    return answer[-4:].rstrip(CLOSING).endswith(_QUESTION_ENDS)


def may_be_weighed(answer: str) -> bool:
    """Whether an answer is short enough for a model to read it."""
    return 0 < len(answer) <= LONGEST_READ
