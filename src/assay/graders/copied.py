"""Words in a row that an answer has from chunks of the corpus that its asker may not see, whatever its trace lists."""

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

_PROFILES = 256  # askers that are remembered


class CorpusText:
    """The runs of words of a corpus, with who may see them; nothing is read while everybody may see everything."""

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

    def secret(self, said: list[str], user: User, as_of: str | None) -> list[tuple[int, list[int]]]:
        """Return the runs of `said` (folded tokens) that only chunks hold which the user may not see, in order: the
        place of the run's first word, and the numbers of the chunks."""
        mask = self._mask(user, as_of)
        if len(said) < RUN or mask.all():
            return []
        return self._index.owned(said, lambda numbers: mask[self._access[numbers]])

    def _mask(self, user: User, as_of: str | None) -> Mask:
        """Return which of the different accesses are open to a user."""
        asker = (user.tenant, frozenset(user.roles), user.position, user.position_scope, as_of)
        mask = self._visible.get(asker)
        if mask is None:
            if len(self._visible) >= _PROFILES:
                self._visible.clear()
            mask = np.array([visible(access, user, as_of) for access in self._accesses], np.bool_)
            self._visible[asker] = mask
        return mask


def copied(case: CaseIndex, answer: str) -> list[tuple[str, str]]:
    """Return every passage of an answer, of eight words or more, that stands in chunks of the corpus of which the asker
    may see none, and not in the question: (text of such a chunk, the words). Evidence of the case is open to its asker.
    """
    user, corpus = case.case.user, case.joins.corpus_text
    if user is None or corpus is None:
        return []
    said = tokens(answer)
    found = corpus.secret(said, user, case.as_of)
    if not found:
        return []
    asked = tokens(case.case.question)
    open_runs = {tuple(asked[i : i + RUN]) for i in range(len(asked) - RUN + 1)}
    leaked = [
        (place, chunks)
        for place, chunks in found
        if tuple(said[place : place + RUN]) not in open_runs
        and not any(case.evidence.by_id.get(corpus.ids[chunk]) for chunk in chunks)
    ]
    return [(corpus.texts[chunk], " ".join(said[first:end])) for chunk, first, end in _passages(leaked)]


def _passages(runs: Iterable[tuple[int, list[int]]]) -> list[tuple[int, int, int]]:
    """Return the longest passages of runs that follow each other in one chunk: its number, first word, and end."""
    found: list[tuple[int, int, int]] = []
    for place, chunks in runs:
        chunk, first, end = found[-1] if found else (-1, 0, 0)
        if place + RUN == end + 1 and chunk in chunks:
            found[-1] = chunk, first, end + 1
        else:
            found.append((chunks[0], place, place + RUN))
    return found
