"""An index of many texts that finds the texts from which an answer copies runs of words."""

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

_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, with bits everywhere; 64-bit products wrap around on purpose
_MATCHES_PER_BLOCK = 1_000_000  # matches that are examined at once, where many texts share the same runs
_UNKNOWN_WORD = 0  # the number of a word that occurs in no text


class RunIndex:
    """The runs of `run` folded tokens of many texts, in 12 bytes per word plus each distinct word once.

    Runs are identified by a 64-bit hash that does not depend on the process or its hash seed. Raises ValueError if
    `run` < 1.

    >>> index = RunIndex(["one two three four", "two three four five"], run=3)
    >>> index.owned(["zero", "one", "two", "three"], lambda texts: texts == 1)
    [(1, [0])]
    >>> index.owned(["two", "three", "four"], lambda texts: texts == 1)
    []
    """

    def __init__(self, texts: Iterable[str], run: int = RUN) -> None:
        if run < 1:
            raise ValueError(f"run must be at least 1 (got {run})")
        self._run_length = run
        self._word_numbers: dict[str, int] = {}
        word_numbers = self._word_numbers
        words, sizes = array("q"), array("q")
        for text in texts:
            text_words = [word_numbers.setdefault(word, len(word_numbers) + 1) for word in tokens(text)]
            words.extend(text_words)
            sizes.append(len(text_words))
        run_hashes = self._run_hashes(words)
        owner = np.repeat(np.arange(len(sizes), dtype=np.uint32), np.array(sizes, np.int64))
        # Runs that do not cross into the next text.
        run_starts = np.flatnonzero(owner[: len(run_hashes)] == owner[run - 1 :])
        order = run_starts[np.argsort(run_hashes[run_starts], kind="stable")]
        self._sorted_hashes = run_hashes[order]
        self._text_of_hash: Places = owner[order]

    def owned(self, words: Sequence[str], is_visible: Callable[[Places], Mask]) -> list[tuple[int, list[int]]]:
        """Return the runs of `words` (folded tokens) that occur in texts, none of which the user may see.

        Each is a pair of the index of the run's first word and the numbers of the texts, in order. `is_visible` takes
        an array of text numbers and returns a boolean array of the same shape.
        """
        hashes = self._run_hashes([self._word_numbers.get(word, _UNKNOWN_WORD) for word in words])
        first_match = np.searchsorted(self._sorted_hashes, hashes, "left")
        counts = np.searchsorted(self._sorted_hashes, hashes, "right") - first_match
        run_starts = np.flatnonzero(counts)
        first_match, counts = first_match[run_starts], counts[run_starts]
        ends = np.cumsum(counts)
        secret_runs: list[tuple[int, list[int]]] = []
        begin = 0
        while begin < len(run_starts):
            stop = max(begin + 1, int(np.searchsorted(ends, ends[begin] + _MATCHES_PER_BLOCK)))
            block = slice(begin, stop)
            secret_runs += self._secret_runs(run_starts[block], first_match[block], counts[block], is_visible)
            begin = stop
        return secret_runs

    def _secret_runs(
        self, run_starts: _Counts, first_match: _Counts, counts: _Counts, is_visible: Callable[[Places], Mask]
    ) -> Iterator[tuple[int, list[int]]]:
        offsets = np.cumsum(counts) - counts
        matching_texts = self._text_of_hash[np.repeat(first_match - offsets, counts) + np.arange(counts.sum())]
        for run in np.flatnonzero(~np.logical_or.reduceat(is_visible(matching_texts), offsets)):
            yield int(run_starts[run]), matching_texts[offsets[run] : offsets[run] + counts[run]].tolist()

    def _run_hashes(self, ids: Sequence[int] | array[int]) -> _Hashes:
        """Return the hash of the run that begins at each position; empty if there are fewer words than a run has."""
        numbers = np.array(ids, np.uint64)
        hashes = np.zeros(max(0, len(ids) - self._run_length + 1), np.uint64)
        for offset in range(self._run_length if len(hashes) else 0):
            hashes = hashes * _HASH_MULTIPLIER + numbers[offset : offset + len(hashes)]
        return hashes
