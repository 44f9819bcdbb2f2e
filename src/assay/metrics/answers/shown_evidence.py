"""What the texts that were shown to the model say where they state what a case expects.

A trace may be the only place where the source of an answer stands: there is no corpus, and the golden set quotes
nothing. A shown text is believed only where it states the reference or a fact of the case, in its values and most of
its words, and would itself pass as an answer, whole or in one of its sentences: what says of the value that it is for
others, or that it is another one, vouches for nothing. What else it says then may be added by an answer, explains its
words, and shows whose value it is and on which side of a bound; it never takes the place of the reference (ADR 253).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from assay.metrics.answers.expected_text import assess_answer_text, list_quotes
from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.cases.evidence_sentences import list_sentences_around, split_sentences
from assay.records.golden_set import Case
from assay.records.observations import CONTEXT_STAGE, Observation, find_stage
from assay.text.normalisation import fold_text
from assay.text.tokens import TermKeys, parse_term_keys

_LEAST_SHARED = 0.6
"""The share of the words of an expected text that a sentence has if it states it."""
_LONGEST_WHOLE = 1000
"""Characters of a shown text that is taken whole."""
_LONGEST_SEARCHED = 20_000
_MOST_SHOWN = 3
"""Texts and sentences that are taken, the first in their order."""


def list_source_sentences(case: CaseIndex, observation: Observation | None) -> tuple[str, ...]:
    """Return what the sources of a case say: the corpus around its evidence, else what was shown and states it.

    Empty where the golden set quotes its evidence, and where the user of the case may not know it.
    """
    if case.source_sentences or case.denied or observation is None or list_quotes(case.case):
        return case.source_sentences
    context = find_stage(observation, CONTEXT_STAGE)
    texts = tuple(chunk.text for chunk in context.chunks if chunk.text) if context is not None else ()
    shown = _find_shown(_list_expected(case.case), case.case.question, texts) if texts else ()
    return tuple(part for text in shown for part in _list_right_parts(case.case, text))


def _list_right_parts(case: Case, text: str) -> list[str]:
    """Return a text that is right as an answer to the question of a case, else those of its sentences that are."""
    return [text] if _is_right(case, text) else [part for part in split_sentences(text) if _is_right(case, part)]


def _is_right(case: Case, text: str) -> bool:
    quality = assess_answer_text(case, text)
    return quality is not None and quality.good is True


def _list_expected(case: Case) -> tuple[str, ...]:
    keywords = case.rubric.correct_keywords if case.rubric is not None else ()
    return (*case.must_have, *keywords) or ((case.reference,) if case.reference else ())


@lru_cache(maxsize=1024)
def _find_shown(expected: tuple[str, ...], question: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts, or the sentences of long ones, in which an expected text is stated.

    >>> shown = ("Pets cost $9 a night.", "The fine is $150, and twice that on a repeat offence.")
    >>> _find_shown(("$150",), "What is the fine?", shown)
    ('The fine is $150, and twice that on a repeat offence.',)
    """
    asked = {term.key for term in parse_term_keys(question)[0] if term.kind != "stop"}
    wanted = [[term for term in parse_term_keys(text)[0] if term.kind != "stop"] for text in expected]
    shown: list[str] = []
    for text in texts:
        is_short = len(text) <= _LONGEST_WHOLE
        parts = [text] if is_short else split_sentences(text[:_LONGEST_SEARCHED])
        stating = [part for part in parts if _states_any(part, asked, wanted)]
        shown += stating if is_short else [own for part in stating for own in list_sentences_around(text, part)]
    return tuple(dict.fromkeys(shown))[:_MOST_SHOWN]


def _states_any(text: str, asked: set[str], wanted: Sequence[Sequence[TermKeys]]) -> bool:
    folded = fold_text(text)
    if not any(_may_state(folded, terms) for terms in wanted):
        return False  # most texts: parsing them takes ten times as long
    keys = {key for term in parse_term_keys(text)[0] for key in (term.key, *term.other_readings)}
    return any(_is_stated(terms, keys, asked) for terms in wanted)


def _may_state(folded: str, terms: Sequence[TermKeys]) -> bool:
    words = [term.key for term in terms if term.kind not in ("number", "id") and term.key[0] not in "#@"]
    return sum(key in folded for key in words) >= _LEAST_SHARED * len(words)


def _is_stated(terms: Sequence[TermKeys], keys: set[str], asked: set[str]) -> bool:
    """Whether a text with some keys has the values and most words of an expected text, and a word of the question."""
    values = [term for term in terms if term.kind in ("number", "id")]
    words = [term.key for term in terms if term.kind not in ("number", "id")]
    if not terms or any(keys.isdisjoint((term.key, *term.other_readings)) for term in values):
        return False
    has_most = sum(key in keys for key in words) >= _LEAST_SHARED * len(words)
    return has_most and (not asked or not asked.isdisjoint(keys))
