"""Which way an instrument leans, how steady it is, and the cases on which it and people are furthest apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from assay.metrics.intervals import mean_interval
from assay.metrics.paired import paired_difference
from assay.metrics.resampling import case_bootstrap
from assay.scoring.agreement import Estimated, Key, passes
from assay.scoring.truth import Opinion, Truth

WORST = 20
DISAGREES = 0.25
"""A smaller distance from people is no disagreement: half a step of a scale of three labels."""
FAR_APART = 0.4
"""Two instruments further apart than this ask for a person ([004])."""
LENIENT, STRICT, EVEN = "too lenient", "too strict", "no direction shown"


class Leaning(Struct, frozen=True):
    """The direction of the errors: `leniency` is the mean of instrument minus people, above 0 where it is too lenient.

    `too_lenient` counts items that people failed and it passed, `too_strict` the opposite; `people` and `instrument`
    are the means on the same items (their difference is the grade inflation). `length` is the rank correlation of the
    difference with the length of the answer, None where either does not vary.
    """

    direction: str
    leniency: Estimated
    too_lenient: int
    too_strict: int
    people: float
    instrument: float
    length: Estimated | None


class Consistency(Struct, frozen=True):
    """How often an instrument contradicts itself: of items judged several times, the share of pairs of votes that
    differ (`flips`) and the share of items whose votes are not all the same."""

    items: int
    votes: int
    flips: float
    unsteady: float


class Disagreement(Struct, frozen=True):
    """One item on which instrument and people are apart, with both reasons."""

    case_id: str
    config_id: str
    item: str
    text: str
    people: float
    instrument: float
    people_said: tuple[str, ...]
    instrument_said: str


class Difference(Struct, frozen=True):
    """Two judges or rubrics on the same labels: the share of items on which each is right, `gain` of the second over
    the first, and how often both said the same."""

    first: str
    second: str
    n: int
    first_right: float
    second_right: float
    gain: Estimated
    p: float | None
    p_method: str
    same: float


def leaning(
    pairs: Sequence[tuple[Key, float, float]], lengths: Mapping[tuple[str, str], int], seed: int = 0
) -> Leaning:
    """Return the direction of the errors over (item, people's value, instrument's value), at least one."""
    gaps = [said - truth for _, truth, said in pairs]
    cases = [key[0] for key, _, _ in pairs]
    mean = sum(gaps) / len(gaps)
    bounds = mean_interval(gaps, clusters=cases, low=-1.0, high=1.0)
    direction = EVEN
    if bounds is not None and (bounds.low > 0 or bounds.high < 0):
        direction = LENIENT if mean > 0 else STRICT
    known = [(key, gap) for (key, _, _), gap in zip(pairs, gaps, strict=True) if key[:2] in lengths]
    return Leaning(
        direction,
        Estimated.of(mean, bounds) or Estimated(mean),
        sum(passes(said) and not passes(truth) for _, truth, said in pairs),
        sum(passes(truth) and not passes(said) for _, truth, said in pairs),
        sum(truth for _, truth, _ in pairs) / len(pairs),
        sum(said for _, _, said in pairs) / len(pairs),
        _rank_correlation(
            [gap for _, gap in known], [lengths[key[:2]] for key, _ in known], [k[0] for k, _ in known], seed
        ),
    )


def consistency(votes: Mapping[Key, Sequence[str]]) -> Consistency | None:
    """Return how steady repeated votes are; None where nothing was judged more than once."""
    several = [cast for cast in votes.values() if len(cast) > 1]
    if not several:
        return None
    shares = []
    for cast in several:
        pairs = list(combinations(cast, 2))
        shares.append(sum(one != other for one, other in pairs) / len(pairs))
    unsteady = sum(len(set(cast)) > 1 for cast in several) / len(several)
    return Consistency(len(several), sum(map(len, several)), float(np.mean(sorted(shares))), unsteady)


def worst(
    keys: Sequence[Key],
    truth: Mapping[Key, Truth],
    values: Mapping[Key, float],
    opinions: Mapping[Key, Opinion],
) -> tuple[Disagreement, ...]:
    """Return the items with the largest distance between instrument and people, at most 20, furthest first; nothing
    below a distance of a quarter."""
    apart = sorted((-abs(values[key] - truth[key].value), key) for key in keys)
    return tuple(
        Disagreement(*key, truth[key].text, truth[key].value, values[key], truth[key].notes, opinions[key].reasoning)
        for distance, key in apart[:WORST]
        if -distance >= DISAGREES
    )


def apart(
    first: Mapping[Key, Opinion], second: Mapping[Key, Opinion], one: Mapping[Key, float], other: Mapping[Key, float]
) -> tuple[Disagreement, ...]:
    """Return the items on which two instruments are more than 0.4 apart, at most 20, furthest first.

    `one` and `other` are their values; the first takes the place of people in the record.
    """
    far = sorted((-abs(one[key] - other[key]), key) for key in one.keys() & other.keys())
    return tuple(
        Disagreement(*key, "", one[key], other[key], (first[key].reasoning,), second[key].reasoning)
        for distance, key in far[:WORST]
        if -distance > FAR_APART
    )


def difference(
    names: tuple[str, str],
    truth: Mapping[Key, bool],
    first: Mapping[Key, float],
    second: Mapping[Key, float],
    seed: int = 0,
) -> Difference | None:
    """Compare two instruments on the items that people and both of them judged; None where there is none."""
    keys = sorted(truth.keys() & first.keys() & second.keys())
    right = [[float(passes(said[key]) == truth[key]) for key in keys] for said in (first, second)]
    found = paired_difference(right[0], right[1], clusters=[key[0] for key in keys], low=0.0, high=1.0, seed=seed)
    if found is None:
        return None
    n = len(keys)
    same = sum(passes(first[key]) == passes(second[key]) for key in keys) / n
    gain = Estimated.of(found.mean, found.bounds) or Estimated(found.mean)
    return Difference(*names, n, sum(right[0]) / n, sum(right[1]) / n, gain, found.p_value, found.p_method, same)


def _rank_correlation(
    gaps: Sequence[float], lengths: Sequence[int], cases: Sequence[str], seed: int
) -> Estimated | None:
    first, second = np.array(gaps, dtype=np.float64), np.array(lengths, dtype=np.float64)

    def drawn(rows: npt.NDArray[np.intp]) -> float | None:
        return _correlation(_ranks(first[rows]), _ranks(second[rows]))

    value = drawn(np.arange(len(gaps)))
    return Estimated.of(value, case_bootstrap(drawn, cases, seed=seed) if value is not None else None)


def _ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return ranks; equal values share the middle one."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)


def _correlation(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float | None:
    if len(first) < 3:
        return None
    a, b = first - first.mean(), second - second.mean()
    spread = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return max(-1.0, min(1.0, float((a * b).sum()) / spread)) if spread > 1e-12 else None
