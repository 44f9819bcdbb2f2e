"""Cases that are not independent and that nobody marked as one cluster: repeated questions, user twins, paraphrases.

Undeclared twins make intervals too narrow and let comparisons claim what is chance.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import fsum, log
from typing import Literal, NamedTuple

from assay.records.golden_set import Case
from assay.text.tokens import tokenise_text

TwinKind = Literal["repeated question", "same question by several users", "paraphrase"]
SIMILAR_WORDS = 0.75
"""Weighted share of common words from which two questions are paraphrases, whatever their evidence."""
SIMILAR_WITH_EVIDENCE = 0.4
"""The share that is enough for questions with the same evidence."""
_COMMON_SHARE = 0.02
_MOST_CANDIDATES = 200
"""A word is no reason to compare two cases if more cases than this have it."""


class ClusterSuggestion(NamedTuple):
    """Cases that should have one cluster, in golden order, and why."""

    kind: TwinKind
    case_ids: tuple[str, ...]


def suggest_clusters(cases: Sequence[Case]) -> list[ClusterSuggestion]:
    """Return groups of cases that look dependent and are not of one cluster yet, in golden order.

    Questions are compared without case, accents and punctuation. Two of them are paraphrases if their words, weighted
    by rarity, agree to three quarters, or to two fifths where the same evidence answers both.

    >>> suggest_clusters([Case("a", "How many days?"), Case("b", "how many DAYS"), Case("c", "Who pays?")])
    [ClusterSuggestion(kind='repeated question', case_ids=('a', 'b'))]
    """
    suggestions = list(_group_equal_questions(cases))
    grouped = {case_id for suggestion in suggestions for case_id in suggestion.case_ids[1:]}
    return suggestions + list(_group_paraphrases([case for case in cases if case.id not in grouped]))


def _group_equal_questions(cases: Sequence[Case]) -> Iterator[ClusterSuggestion]:
    cases_by_question: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        words = tuple(tokenise_text(case.question))
        if words:
            cases_by_question[words].append(case)
    for twins in cases_by_question.values():
        if _is_unmarked(twins):
            users = {case.user for case in twins}
            kind: TwinKind = "repeated question" if len(users) == 1 else "same question by several users"
            yield ClusterSuggestion(kind, tuple(case.id for case in twins))


def _group_paraphrases(cases: Sequence[Case]) -> Iterator[ClusterSuggestion]:
    """Yield groups of similar questions: each case joins the first one before it that it resembles."""
    words_by_case = [frozenset(tokenise_text(case.question)) for case in cases]
    counts = Counter(word for words in words_by_case for word in words)
    weights = {word: log(1 + len(cases) / count) for word, count in counts.items()}
    limit = max(3, min(_MOST_CANDIDATES, int(_COMMON_SHARE * len(cases))))
    leaders_by_word: dict[str, list[int]] = defaultdict(list)
    members: dict[int, list[int]] = {}
    for row, words in enumerate(words_by_case):
        candidates = {leader for word in words if counts[word] <= limit for leader in leaders_by_word.get(word, ())}
        similar = (other for other in sorted(candidates) if _is_paraphrase(cases, words_by_case, weights, other, row))
        leader = next(similar, row)
        members.setdefault(leader, []).append(row)
        if leader == row:
            for word in words:
                leaders_by_word[word].append(row)
    for rows in members.values():
        group = [cases[row] for row in rows]
        if _is_unmarked(group):
            yield ClusterSuggestion("paraphrase", tuple(case.id for case in group))


def _is_paraphrase(
    cases: Sequence[Case], words_by_case: Sequence[frozenset[str]], weights: dict[str, float], first: int, second: int
) -> bool:
    common, either = words_by_case[first] & words_by_case[second], words_by_case[first] | words_by_case[second]
    share = fsum(weights[word] for word in common) / (fsum(weights[word] for word in either) or 1.0)
    evidence = _name_evidence(cases[first])
    is_same_evidence = bool(evidence) and evidence == _name_evidence(cases[second])
    return share >= (SIMILAR_WITH_EVIDENCE if is_same_evidence else SIMILAR_WORDS)


def _name_evidence(case: Case) -> frozenset[object]:
    return frozenset(tuple(sorted(selector.items())) for unit in case.evidence for selector in unit.any_of)


def _is_unmarked(cases: Sequence[Case]) -> bool:
    """Return whether there are several cases and their clusters do not already say that they belong together."""
    return len({case.cluster or case.id for case in cases}) > 1
