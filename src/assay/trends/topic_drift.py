"""Tells whether other questions are asked than before: a permutation test on the words of questions of two periods.

One question for each user, and each user in one of the periods only, so that the questions are independent and the
p-value is exact.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np

from assay.stats.arrays import FloatArray
from assay.text.tokens import tokenise_text

MAX_QUESTIONS = 300
LEAST_QUESTIONS = 20
PERMUTATIONS = 499
MAX_NAMED_WORDS = 5
Words = frozenset[str]


class TopicChange(NamedTuple):
    """The squared distance of two sets of questions, its p-value, and the words that became more and less frequent."""

    statistic: float
    p: float
    more: tuple[str, ...]
    less: tuple[str, ...]


class QuestionSample:
    """The questions of a period, one for each of at most some hundred users, chosen by a digest."""

    def __init__(self, number: int) -> None:
        """`number` is that of the period; users alternate between neighbouring periods."""
        self._parity = number % 2
        self._questions: dict[tuple[int, str], Words] = {}
        self._last: tuple[int, str] = (2**32, "")

    def add_question(self, user: str, question: str) -> None:
        """Consider one question; a user's first one counts."""
        key = zlib.crc32(user.encode("utf-8", "surrogatepass")), user
        if key in self._questions or key > self._last:
            return
        words = frozenset(tokenise_text(question))
        if not words:
            return
        self._questions[key] = words
        if len(self._questions) > 4 * MAX_QUESTIONS:
            kept = sorted(self._questions)[: 2 * MAX_QUESTIONS]
            self._questions = {name: self._questions[name] for name in kept}
            self._last = kept[-1]

    def list_questions(self) -> list[Words]:
        """Return the questions of those users who belong to this period, and to no neighbouring one."""
        keys = [key for key in sorted(self._questions) if (key[0] >> 7) % 2 == self._parity][:MAX_QUESTIONS]
        return [self._questions[key] for key in keys]


class QuestionDrift:
    """Compares the questions of neighbouring periods as they go by, and keeps those of two periods at most."""

    def __init__(self, periods: Sequence[str], seed: int) -> None:
        """`periods` are those to compare, in time order."""
        self._neighbours = set(pairwise(periods))
        self._seed = seed
        self._period: str | None = None
        self._sample = QuestionSample(0)
        self._before: tuple[str, Sequence[Words]] | None = None
        self._number = -1
        self.changes: list[tuple[str, str, TopicChange]] = []

    def add_question(self, period: str, user: str, question: str) -> None:
        """Consider one question; periods come in time order."""
        if period != self._period:
            self.close_period()
            self._number += 1
            self._period, self._sample = period, QuestionSample(self._number)
        self._sample.add_question(user, question)

    def close_period(self) -> None:
        """Compare the period that goes on with the one before."""
        if self._period is None:
            return
        questions = self._sample.list_questions()
        if self._before is not None and (self._before[0], self._period) in self._neighbours:
            change = compare_questions(self._before[1], questions, seed=self._seed)
            if change is not None:
                self.changes.append((self._before[0], self._period, change))
        self._before, self._period = (self._period, questions), None


def compare_questions(before: Sequence[Words], after: Sequence[Words], seed: int = 0) -> TopicChange | None:
    """Return how far two sets of questions are apart; None for fewer than 20 questions in either.

    The statistic is the squared maximum mean discrepancy under the cosine of words weighted by their rarity.
    """
    if min(len(before), len(after)) < LEAST_QUESTIONS:
        return None
    questions = [*before, *after]
    kernel = _compute_kernel(questions)
    is_after = np.zeros(len(questions))
    is_after[len(before) :] = 1.0
    generator = np.random.default_rng([seed, len(questions)])
    groups = np.vstack([is_after, *(generator.permutation(is_after) for _ in range(PERMUTATIONS))])
    statistics = _compute_discrepancies(kernel, groups, len(before), len(after))
    statistic = float(statistics[0])
    p = float(np.count_nonzero(statistics >= statistic - 1e-12)) / len(statistics)
    more, less = _find_moved_words(before, after)
    return TopicChange(statistic, p, more, less)


def _compute_kernel(questions: Sequence[Words]) -> FloatArray:
    frequencies = Counter(word for words in questions for word in words)
    columns = {word: column for column, word in enumerate(sorted(frequencies))}
    matrix = np.zeros((len(questions), len(columns)))
    for row, words in enumerate(questions):
        for word in words:
            matrix[row, columns[word]] = log(1 + len(questions) / frequencies[word])
    matrix /= np.maximum(np.sqrt((matrix**2).sum(axis=1, keepdims=True)), 1e-12)
    kernel: FloatArray = matrix @ matrix.T
    return kernel


def _compute_discrepancies(kernel: FloatArray, groups: FloatArray, before: int, after: int) -> FloatArray:
    weights = groups / after - (1 - groups) / before
    discrepancies: FloatArray = ((weights @ kernel) * weights).sum(axis=1)
    return discrepancies


def _find_moved_words(before: Sequence[Words], after: Sequence[Words]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    shares_before = Counter(word for words in before for word in words)
    shares_after = Counter(word for words in after for word in words)
    moved = {
        word: shares_after[word] / len(after) - shares_before[word] / len(before)
        for word in sorted(shares_before | shares_after)
    }
    rising = sorted(moved, key=lambda word: (-moved[word], word))[:MAX_NAMED_WORDS]
    falling = sorted(moved, key=lambda word: (moved[word], word))[:MAX_NAMED_WORDS]
    return tuple(word for word in rising if moved[word] > 0), tuple(word for word in falling if moved[word] < 0)
