"""Which of many texts hold a run of words of another text: an index made once, asked for every answer."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from assay.metrics.text import tokens

Places = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]
_Hashes = npt.NDArray[np.uint64]
_Counts = npt.NDArray[np.intp]

RUN = 8
"""Length of a run, in words, from which shared text is a copy and not chance."""

_STEP = np.uint64(0x9E3779B97F4A7C15)  # odd, with bits everywhere; 64-bit products wrap around on purpose
_AT_ONCE = 1_000_000  # texts that are looked at together, where many hold the same runs
_UNKNOWN = 0  # the number of a word that no text holds


class RunIndex:
    """The runs of `run` folded tokens of many texts; 12 bytes a word, and every distinct word once.

    A run is known by a hash of 64 bits that neither the process nor its seed changes; ValueError where `run` < 1.

    >>> index = RunIndex(["one two three four", "two three four five"], run=3)
    >>> index.owned(["zero", "one", "two", "three"], lambda texts: texts == 1)
    [(1, [0])]
    >>> index.owned(["two", "three", "four"], lambda texts: texts == 1)
    []
    """

    def __init__(self, texts: Iterable[str], run: int = RUN) -> None:
        if run < 1:
            raise ValueError(f"run must be at least 1 (got {run})")
        self._run = run
        self._words: dict[str, int] = {}
        known = self._words
        words, sizes = array("q"), array("q")
        for text in texts:
            found = [known.setdefault(word, len(known) + 1) for word in tokens(text)]
            words.extend(found)
            sizes.append(len(found))
        every = self._hashes(words)
        owner = np.repeat(np.arange(len(sizes), dtype=np.uint32), np.array(sizes, np.int64))
        within = np.flatnonzero(owner[: len(every)] == owner[run - 1 :])  # runs that do not go on into the next text
        order = within[np.argsort(every[within], kind="stable")]
        self._sorted = every[order]
        self._texts: Places = owner[order]

    def owned(self, said: Sequence[str], shown: Callable[[Places], Mask]) -> list[tuple[int, list[int]]]:
        """Return the runs of `said` (folded tokens) that texts hold of which none is shown, in order: the place of the
        run's first word, and the numbers of the texts. `shown` tells which of some numbers of texts are."""
        hashes = self._hashes([self._words.get(word, _UNKNOWN) for word in said])
        first = np.searchsorted(self._sorted, hashes, "left")
        counts = np.searchsorted(self._sorted, hashes, "right") - first
        places = np.flatnonzero(counts)
        first, counts = first[places], counts[places]
        ends = np.cumsum(counts)
        found: list[tuple[int, list[int]]] = []
        i = 0
        while i < len(places):
            j = max(i + 1, int(np.searchsorted(ends, ends[i] + _AT_ONCE)))
            block = slice(i, j)
            found += self._secret(places[block], first[block], counts[block], shown)
            i = j
        return found

    def _secret(
        self, places: _Counts, first: _Counts, counts: _Counts, shown: Callable[[Places], Mask]
    ) -> Iterator[tuple[int, list[int]]]:
        begin = np.cumsum(counts) - counts
        held = self._texts[np.repeat(first - begin, counts) + np.arange(counts.sum())]
        for i in np.flatnonzero(~np.logical_or.reduceat(shown(held), begin)):
            yield int(places[i]), held[begin[i] : begin[i] + counts[i]].tolist()

    def _hashes(self, ids: Sequence[int] | array[int]) -> _Hashes:
        """Return a hash of the `run` numbers that begin at every place; none where there are fewer."""
        numbers = np.array(ids, np.uint64)
        found = np.zeros(max(0, len(ids) - self._run + 1), np.uint64)
        for place in range(self._run if len(found) else 0):
            found = found * _STEP + numbers[place : place + len(found)]
        return found
