"""Samples to label: seeded, with each stratum's share, the same whatever the order."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.exchange_labels import sample_stratified

STRATA = {f"c{number:03}": (("acl",) if number % 10 == 0 else ("hr",)) for number in range(200)}


def test_every_stratum_has_its_share() -> None:
    """Twenty of two hundred are `acl`: five of fifty."""
    counts = Counter(STRATA[key] for key in sample_stratified(STRATA, 50, seed=3))
    assert {("acl",): 5, ("hr",): 45} == counts


def test_the_same_seed_draws_the_same_rows_in_the_same_order_from_any_order_of_items() -> None:
    turned = dict(reversed(STRATA.items()))
    assert sample_stratified(STRATA, 50, seed=3) == sample_stratified(turned, 50, seed=3)
    assert sample_stratified(STRATA, 50, seed=3) != sample_stratified(STRATA, 50, seed=4)
    assert sample_stratified(STRATA, 50, seed=3) != sorted(sample_stratified(STRATA, 50, seed=3))


@pytest.mark.slow
@given(st.dictionaries(st.integers(), st.tuples(st.sampled_from("abc")), min_size=1, max_size=40), st.integers(1, 50))
def test_a_sample_has_the_size_asked_for_and_nothing_twice(strata: dict[int, tuple[str]], size: int) -> None:
    found = sample_stratified(strata, size, seed=1)
    assert min(size, len(strata)) == len(found) == len(set(found))
    for stratum in set(strata.values()):
        exact = len(found) * sum(each == stratum for each in strata.values()) / len(strata)
        assert abs(sum(strata[key] == stratum for key in found) - exact) < 1
