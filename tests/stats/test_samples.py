"""Sums of scores are exact for any numbers in any order."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.samples import compute_exact_sum

# Sums of larger numbers may lie beyond the largest float, where fsum gives up on the way.
ANY = st.floats(-1e290, 1e290)
SHARES = st.builds(lambda part, whole: part / whole, st.integers(0, 50), st.integers(1, 50))
GAINS = st.builds(lambda grade, rank: (2**grade - 1) / math.log2(rank + 1), st.integers(0, 10), st.integers(1, 1000))


@given(st.one_of(st.lists(ANY, max_size=40), st.lists(SHARES, max_size=200), st.lists(GAINS, max_size=200)))
def test_the_sum_is_that_of_fsum_to_the_last_bit(numbers: list[float]) -> None:
    for values in (numbers, numbers * 201):  # few are summed in another way than many
        assert math.fsum(values) == compute_exact_sum(np.array(values, dtype=np.float64))


def test_numbers_that_fit_no_common_unit_are_summed_as_well() -> None:
    numbers = [1e16, 1.0, 1e-16, -1e16, 5e-324, -0.0] * 100
    assert math.fsum(numbers) == compute_exact_sum(np.array(numbers)) == 100.00000000000001


def test_a_large_block_of_small_units_does_not_overflow() -> None:
    """Each number takes all 62 bits: 2**62 of them would fit, a million do."""
    numbers = np.full(1_000_000, 1.0 - 2.0**-53)
    assert 999_999.9999999999 == compute_exact_sum(numbers) == math.fsum(numbers.tolist())
