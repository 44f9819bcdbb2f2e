"""Copied runs of words: the index agrees with a plain comparison."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.safety import copied_text
from assay.text.safety.copied_text import Bools, CopiedRunIndex, TextNumbers

words = st.lists(st.sampled_from("abc"), max_size=12)


def _plainly(texts: list[list[str]], words: list[str], run: int, shown: set[int]) -> list[tuple[int, list[int]]]:
    runs_found = []
    for i in range(len(words) - run + 1):
        holders = [
            t
            for t, text in enumerate(texts)
            for j in range(len(text) - run + 1)
            if text[j : j + run] == words[i : i + run]
        ]
        if holders and not shown.intersection(holders):
            runs_found.append((i, holders))
    return runs_found


@given(st.lists(words, max_size=5), words, st.integers(1, 4), st.sets(st.integers(0, 4)), st.integers(1, 5))
def test_runs_are_those_of_a_plain_comparison(
    texts: list[list[str]], said: list[str], run: int, shown: set[int], at_once: int
) -> None:
    """For any run length, with repeats, texts without words, and any block size."""

    def mask(numbers: TextNumbers) -> Bools:
        return np.isin(numbers, sorted(shown))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copied_text, "_MATCHES_PER_BLOCK", at_once)
        runs_found = CopiedRunIndex([" ".join(text) for text in texts], run).find_hidden_runs(said, mask)
    assert _plainly(texts, said, run, shown) == runs_found


def test_a_run_of_no_words_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        CopiedRunIndex([], 0)


def test_the_hash_of_a_run_does_not_depend_on_the_process() -> None:
    script = (
        "from assay.text.safety.copied_text import CopiedRunIndex; print(CopiedRunIndex(['a b c d e', 'c d e f'], "
        "3)._runs._sorted_hashes.tolist())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert 1 == len(printed)
