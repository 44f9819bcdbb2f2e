"""Support of an answer of a few words, judged with its question.

"Charles Perrault" occurs in the sources, but not as an answer to "Who killed the wolf?". So a fragment is compared
together with the question, and supported only by a sentence that holds both. Full sentences are judged alone: the words
of the question would only blur what they say. But where a question asks for a quantity, a statement with a value is
lowered if the sources give another value for what is asked: 30 days of leave are no answer to "How many sick days?".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import structs

from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.claims.source_quantities import measure_other_subject
from assay.text.claims.source_support import SourceSupport, scale_support
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.tokens import Term, parse_terms

MOST_FRAGMENT_WORDS = 4
"""Words up to which a claim is a fragment that says nothing without its question."""

_WORD = compile_pattern(r"[^\W_]+(?:[.,:/'-][^\W_]+)*")
_LEAST_COVERED = 0.75  # share of the question's words in the sentence of the fragment from which it is supported
_ELSEWHERE = 1.5  # what z loses if another sentence holds all of the question and that of the fragment nothing


def is_fragment(claim: str) -> bool:
    """Return whether a claim has so few words that it says nothing without its question.

    >>> is_fragment("12 days"), is_fragment("Employees get 12 days of leave")
    (True, False)
    """
    return len(_WORD.findall(claim)) <= MOST_FRAGMENT_WORDS


def score_short_answer(claim: str, question: str, sources: IndexedSources) -> SourceSupport:
    """Return how well the sources support a claim; one of up to four words is judged with its question.

    The score of a fragment is that of question and fragment together, lowered by the share of the question's words that
    another sentence has and none with the fragment. The verdict is "supported" only if a sentence holds the fragment
    and three quarters of the question's words, and none holds more of them. Evidence, spans and facts are those of the
    fragment.

    >>> from assay.text.tokens import DocumentFrequencies
    >>> text = "The hunter shot the wolf. Charles Perrault printed the tale."
    >>> sources = IndexedSources([("a", text)], DocumentFrequencies.from_texts([]))
    >>> [score_short_answer("Charles Perrault", asked, sources).verdict
    ...  for asked in ("Who shot the wolf?", "Who printed the tale?")]
    ['unknown', 'supported']
    """
    alone = score_support(claim, sources)
    asked = _content_terms(question)
    if not asked or not sources.sentences:
        return alone
    if not is_fragment(claim):
        return _lower_by_subject(alone, claim, question, sources)
    together = score_support(f"{question.rstrip(' ?')} {claim}", sources)
    fragment = [term for term in parse_terms(claim).items if term.kind != "stop"] or parse_terms(claim).items
    covered, most_covered = _cover_question(asked, fragment, sources)
    z = together.z - _ELSEWHERE * (most_covered - covered)
    verdict = alone.verdict
    if verdict == "supported" and not (covered >= _LEAST_COVERED and covered == most_covered):
        verdict = "unknown"
    return structs.replace(alone, z=z, score=scale_support(z), verdict=verdict)


def _lower_by_subject(alone: SourceSupport, claim: str, question: str, sources: IndexedSources) -> SourceSupport:
    """Return the support of a statement, lowered if the sources give another value for what the question asks."""
    if _ASKS_QUANTITY.search(fold_text(question)) is None:
        return alone
    share = measure_other_subject(claim, _content_terms(question), sources)
    if not share:
        return alone
    z = alone.z - _ELSEWHERE * share
    verdict = "unknown" if alone.verdict == "supported" else alone.verdict
    return structs.replace(alone, z=z, score=scale_support(z), verdict=verdict)


_ASKS_QUANTITY = LatePattern(
    r"\bhow (?:many|much|long|often|far|old|big|large|heavy|tall)\b|\bbao (?:nhieu|lau|xa)\b|\bmay\b"
)


@lru_cache(maxsize=1024)
def _content_terms(question: str) -> tuple[Term, ...]:
    return tuple(term for term in parse_terms(question).items if term.kind != "stop" and term.key not in _ASKING)


_ASKING = frozenset(("mani", "much", "long", "bao", "nhieu", "may", "ai", "gi", "nao"))
"""Stems of words that ask and that no answer repeats."""


def _cover_question(asked: Sequence[Term], fragment: Sequence[Term], sources: IndexedSources) -> tuple[float, float]:
    """Return the largest share of the question's words in a sentence that holds the fragment, and in any sentence."""
    count_by_sentence: dict[int, int] = {}
    for term in asked:
        for sentence in sources.sentences_at(sources.match_term(term, False).positions):
            count_by_sentence[sentence] = count_by_sentence.get(sentence, 0) + 1
    sentences = [sources.sentences_at(sources.match_term(term, False).positions) for term in fragment]
    with_fragment = set.intersection(*sentences) if sentences else set()
    covered = max((count_by_sentence.get(sentence, 0) for sentence in with_fragment), default=0)
    return covered / len(asked), max(count_by_sentence.values(), default=0) / len(asked)
