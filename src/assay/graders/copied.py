"""Find runs of words that an answer copied from corpus chunks that the user may not see, listed in its trace or not."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from assay.graders.access import Access, of_corpus, visible
from assay.metrics.runs import RUN, Mask, RunIndex
from assay.metrics.text import tokens
from assay.model import Corpus, User

if TYPE_CHECKING:
    from assay.graders.joins import CaseIndex

_MOST_USER_PROFILES = 256  # cached masks of what a user may see


class CorpusText:
    """The runs of words of a corpus, with who may see them; not indexed as long as everybody may see everything."""

    def __init__(self, corpus: Corpus) -> None:
        chunks = [chunk for chunk in corpus.chunks.values() if chunk.text]
        self.ids = [chunk.chunk_id for chunk in chunks]
        self.texts = [chunk.text or "" for chunk in chunks]
        numbers: dict[Access, int] = {}
        self._access = np.array([numbers.setdefault(of_corpus(chunk), len(numbers)) for chunk in chunks], np.intp)
        self._accesses = list(numbers)
        self._visible: dict[tuple[object, ...], Mask] = {}

    @cached_property
    def _index(self) -> RunIndex:
        return RunIndex(self.texts)

    def secret(self, words: list[str], user: User, as_of: str | None) -> list[tuple[int, list[int]]]:
        """Return the runs of `said` (folded tokens) that only chunks hold which the user may not see, in order: the
        place of the run's first word, and the numbers of the chunks."""
        mask = self._mask(user, as_of)
        if len(words) < RUN or mask.all():
            return []
        return self._index.owned(words, lambda numbers: mask[self._access[numbers]])

    def _mask(self, user: User, as_of: str | None) -> Mask:
        """Return which of the different accesses are open to a user."""
        user_key = (user.tenant, frozenset(user.roles), user.position, user.position_scope, as_of)
        mask = self._visible.get(user_key)
        if mask is None:
            if len(self._visible) >= _MOST_USER_PROFILES:
                self._visible.clear()
            mask = np.array([visible(access, user, as_of) for access in self._accesses], np.bool_)
            self._visible[user_key] = mask
        return mask


def copied(case: CaseIndex, answer: str) -> list[tuple[str, str]]:
    """Return the passages of an answer that are copied from forbidden chunks, as (text of such a chunk, the words).

    A passage has eight words or more, occurs only in corpus chunks that the user may not see, and is not in the
    question. The evidence of the case is open to its user.
    """
    user, corpus = case.case.user, case.joins.corpus_text
    if user is None or corpus is None:
        return []
    answer_words = tokens(answer)
    secret_runs = corpus.secret(answer_words, user, case.as_of)
    if not secret_runs:
        return []
    question_words = tokens(case.case.question)
    question_runs = {tuple(question_words[i : i + RUN]) for i in range(len(question_words) - RUN + 1)}
    leaked = []
    for position, chunk_numbers in secret_runs:
        is_in_question = tuple(answer_words[position : position + RUN]) in question_runs
        is_evidence = any(case.evidence.by_id.get(corpus.ids[chunk]) for chunk in chunk_numbers)
        if not is_in_question and not is_evidence:
            leaked.append((position, chunk_numbers))
    return [(corpus.texts[chunk], " ".join(answer_words[start:end])) for chunk, start, end in _merge_runs(leaked)]


def _merge_runs(runs: Iterable[tuple[int, list[int]]]) -> list[tuple[int, int, int]]:
    """Return the longest passages of runs that follow each other in one chunk: its number, first word, and end."""
    passages: list[tuple[int, int, int]] = []
    for position, chunk_numbers in runs:
        chunk, start, end = passages[-1] if passages else (-1, 0, 0)
        if position + RUN == end + 1 and chunk in chunk_numbers:
            passages[-1] = chunk, start, end + 1
        else:
            passages.append((chunk_numbers[0], position, position + RUN))
    return passages
