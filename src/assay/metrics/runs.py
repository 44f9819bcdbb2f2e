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

_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, with bits everywhere; 64-bit products wrap around on purpose
_MATCHES_PER_BLOCK = 1_000_000  # texts that are looked at together, where many hold the same runs
_UNKNOWN_WORD = 0  # the number of a word that no text holds


class RunIndex:
    """The runs of `run` folded tokens of many texts; 12 bytes a word, and every distinct word once.

    A run is known by a hash of 64 bits that neither the process nor its seed changes; ValueError where `run` < 1.

    >>> index = RunIndex(["one two three four", "two three four five"], run=3)
    >>> index.owned(["zero", "one", "two", "three"], lambda texts: texts == 1)
    [(1, [0])]
    >>> index.owned(["two", "three", "four"], lambda texts: texts == 1)
    []
    """

    def __init__(self, texts: Iterable[str], run_length: int = RUN) -> None:
        if run_length < 1:
            raise ValueError(f"run must be at least 1 (got {run_length})")
        self._run_length = run_length
        self._word_numbers: dict[str, int] = {}
        word_numbers = self._word_numbers
        words, sizes = array("q"), array("q")
        for text in texts:
            text_words = [word_numbers.setdefault(word, len(word_numbers) + 1) for word in tokens(text)]
            words.extend(text_words)
            sizes.append(len(text_words))
        run_hashes = self._run_hashes(words)
        owner = np.repeat(np.arange(len(sizes), dtype=np.uint32), np.array(sizes, np.int64))
        run_starts = np.flatnonzero(
            owner[: len(run_hashes)] == owner[run_length - 1 :]
        )  # runs that do not go on into the next text
        order = run_starts[np.argsort(run_hashes[run_starts], kind="stable")]
        self._sorted_hashes = run_hashes[order]
        self._text_of_hash: Places = owner[order]

    def owned(self, words: Sequence[str], is_visible: Callable[[Places], Mask]) -> list[tuple[int, list[int]]]:
        """Return the runs of `said` (folded tokens) that texts hold of which none is shown, in order: the place of the
        run's first word, and the numbers of the texts. `shown` tells which of some numbers of texts are."""
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
        """Return a hash of the `run` numbers that begin at every place; none where there are fewer."""
        numbers = np.array(ids, np.uint64)
        hashes = np.zeros(max(0, len(ids) - self._run_length + 1), np.uint64)
        for offset in range(self._run_length if len(hashes) else 0):
            hashes = hashes * _HASH_MULTIPLIER + numbers[offset : offset + len(hashes)]
        return hashes
