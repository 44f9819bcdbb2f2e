"""Support by rules compared with human labels: the floors for every release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.groundedness import (
    SETS,
    Scored,
    auroc,
    auroc_interval,
    balanced_accuracy,
    evidence_hits,
    predicted,
    score,
)

EVERY = {"WiCE": 2, "QAGS-CNN": 1}
"""Of the sources, which are whole articles in WiCE: `python -m benchmarks.groundedness` measures all of them."""


@pytest.fixture(scope="module")
def scored(test_data: Path) -> dict[str, Scored]:
    return {name: score(list(load(test_data))[:: EVERY[name]]) for name, load in SETS.items()}


@pytest.mark.slow
def test_claims_are_ranked_as_people_rank_them(scored: dict[str, Scored]) -> None:
    auroc_by_set = {name: auroc(item.column("z"), item.truths) for name, item in scored.items()}
    assert auroc_by_set["QAGS-CNN"] >= 0.80
    assert auroc_by_set["WiCE"] >= 0.78


@pytest.mark.slow
def test_the_annotated_evidence_is_among_three_sentences(scored: dict[str, Scored]) -> None:
    hits = evidence_hits(scored["WiCE"])
    assert hits is not None
    first, among_three, claims = hits
    assert among_three >= 0.92
    assert first >= 0.75
    assert 159 == claims


def test_verdicts_say_little_and_are_mostly_right(scored: dict[str, Scored]) -> None:
    """What the verdicts decide is right nine times of ten on the set where they decide the most."""
    for name, verdict in (("QAGS-CNN", "supported"), ("WiCE", "not_found")):
        chosen = np.array([item.verdict == verdict for item in scored[name].supports])
        share = float(scored[name].truths[chosen].mean())
        assert 0.85 <= (share if verdict == "supported" else 1 - share)


def test_no_claim_that_people_call_supported_is_contradicted(scored: dict[str, Scored]) -> None:
    for item in scored.values():
        wrong = [
            label.contradictions
            for label, truth in zip(item.supports, item.truths, strict=True)
            if truth and label.verdict == "contradicted"
        ]
        assert [] == wrong


def test_a_threshold_from_other_sources_separates_both_kinds(scored: dict[str, Scored]) -> None:
    for item in scored.values():
        assert balanced_accuracy(predicted(item), item.truths) >= 0.70


@pytest.mark.slow
def test_the_same_claims_have_the_same_bytes(test_data: Path) -> None:
    for load in SETS.values():
        some = list(load(test_data))[::16]
        assert score(some).digest == score(some).digest


def test_auroc_counts_ties_half_and_resamples_sources() -> None:
    scores, truths = np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True])
    assert 0.875 == auroc(scores, truths)  # of four pairs three are in order and one is a tie
    low, high = auroc_interval(np.arange(40.0), np.arange(40) % 4 > 1, np.arange(40) // 4, 200)
    assert 0 < low < high < 1
