"""Confusion tables and agreement between raters: reference values and undefined cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from assay.stats.agreement import (
    MeasurementLevel,
    compute_alpha_of_coincidences,
    compute_cohen_kappa,
    compute_gwet_ac1,
    compute_raw_agreement,
    count_coincidences,
)
from assay.stats.classification import compute_balanced_accuracy, tabulate_confusion
from assay.stats.distributions import compute_normal_quantile

WORKED = np.array([[20, 5], [10, 15]])
PARADOX = np.array([[90, 5], [5, 0]])

# Krippendorff (2011), example C: four observers, twelve units.
OBSERVERS: Sequence[Sequence[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]

# Fourteen raters, ten subjects, five labels: how many raters gave each subject each label.
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def test_a_confusion_table_has_the_expected_label_in_its_rows() -> None:
    table = tabulate_confusion(["yes", "yes", "no"], ["no", "yes", "no"], ["yes", "no"])
    assert [[1, 1], [0, 1]] == table.tolist()


def test_labels_that_are_not_listed_are_refused() -> None:
    with pytest.raises(ValueError, match="label not listed"):
        tabulate_confusion(["maybe"], ["yes"], ["yes", "no"])


def test_balanced_accuracy_skips_classes_that_do_not_occur() -> None:
    """Recalls 9/10 and 15/20; the third class was never expected."""
    assert compute_balanced_accuracy(np.array([[9, 1, 0], [5, 15, 0], [0, 0, 0]])) == pytest.approx((0.9 + 0.75) / 2)
    assert compute_balanced_accuracy(np.zeros((2, 2), dtype=np.int64)) is None


def test_cohens_kappa_has_its_reference_value_and_interval() -> None:
    kappa = compute_cohen_kappa(WORKED)
    assert kappa is not None
    assert kappa.low is not None
    assert kappa.high is not None
    assert ("0.4000", "0.151", "0.649") == (f"{kappa.value:.4f}", f"{kappa.low:.3f}", f"{kappa.high:.3f}")


def test_kappa_of_high_agreement_on_one_label_is_the_known_paradox_and_ac1_is_not() -> None:
    """90 + 0 of 100 agree: kappa −.053; 95 agree and one rater has one label only: kappa 0, with no interval."""
    kappa, flat = compute_cohen_kappa(PARADOX), compute_cohen_kappa(np.array([[95, 5], [0, 0]]))
    assert kappa is not None
    assert f"{kappa.value:.3f}" == "-0.053"
    assert (0.9, 0.95) == (compute_raw_agreement(PARADOX), compute_raw_agreement(np.array([[95, 5], [0, 0]])))
    assert (0.0, None, None) == flat
    # Prevalence .95 and .05: chance 2·.95·.05 = .095, AC1 = (.9 − .095)/(1 − .095).
    assert compute_gwet_ac1(PARADOX) == pytest.approx(0.805 / 0.905)


def test_weights_give_credit_for_near_misses() -> None:
    """Labels 0, 1, 2; one of six items is off by one. The margins are (2, 2, 2) and (2, 3, 1).

    Mean gap by chance: 2·((3 + 2·1) + (2 + 1) + (2·2 + 3))/36 = 30/36; mean squared gap: 2·((3 + 4·1) + (2 + 1) +
    (4·2 + 3))/36 = 42/36. Observed: 1/6 for both, and kappa is one minus the ratio.
    """
    table = np.array([[2, 0, 0], [0, 2, 0], [0, 1, 1]])
    linear, quadratic = compute_cohen_kappa(table, "linear"), compute_cohen_kappa(table, "quadratic")
    assert linear is not None
    assert quadratic is not None
    assert linear.value == pytest.approx(1 - (1 / 6) / (30 / 36))
    assert quadratic.value == pytest.approx(1 - (1 / 6) / (42 / 36))


def test_the_interval_of_a_weighted_kappa_agrees_with_a_simulation() -> None:
    """Four thousand tables of 200 drawn from fixed shares: their kappas spread as the formula says, within 6%."""
    shares = np.array([[0.3, 0.05, 0.02], [0.06, 0.2, 0.07], [0.01, 0.04, 0.25]])
    generator = np.random.Generator(np.random.PCG64(0))
    drawn = [
        compute_cohen_kappa(t.reshape(3, 3), "quadratic") for t in generator.multinomial(200, shares.ravel(), size=4000)
    ]
    values = [kappa.value for kappa in drawn if kappa]
    expected = compute_cohen_kappa(np.rint(shares * 100_000).astype(np.int64), "quadratic")
    assert expected is not None and expected.low is not None and expected.high is not None
    standard_error = (expected.high - expected.low) / (2 * compute_normal_quantile(0.975))
    assert float(np.std(values)) == pytest.approx(standard_error * (100_000 / 200) ** 0.5, rel=0.06)


def test_complete_agreement_has_no_interval_and_one_label_has_no_kappa() -> None:
    assert (1.0, None, None) == compute_cohen_kappa(np.array([[5, 0], [0, 5]]))
    assert compute_cohen_kappa(np.array([[5, 0], [0, 0]])) is None
    assert compute_cohen_kappa(np.zeros((2, 2), dtype=np.int64)) is None


def test_ac1_needs_items_and_two_labels() -> None:
    assert compute_gwet_ac1(np.zeros((2, 2), dtype=np.int64)) is None
    with pytest.raises(ValueError, match="two labels"):
        compute_gwet_ac1(np.array([[5]]))


def compute_alpha(ratings: Sequence[Sequence[float | None]], level: MeasurementLevel = "nominal") -> float | None:
    """Return Krippendorff's alpha of the ratings of each rater."""
    coincidences = count_coincidences(ratings)
    return compute_alpha_of_coincidences(coincidences.values, coincidences.by_unit.sum(axis=0), level)


@pytest.mark.parametrize(
    ("level", "expected"), [("nominal", ".743"), ("ordinal", ".815"), ("interval", ".849"), ("ratio", ".797")]
)
def test_krippendorffs_alpha_has_its_reference_values(level: MeasurementLevel, expected: str) -> None:
    alpha = compute_alpha(OBSERVERS, level)
    assert alpha is not None
    assert expected == f"{alpha:.3f}"[1:]


def test_nominal_alpha_without_gaps_is_fleiss_kappa_of_its_reference_table() -> None:
    """Fleiss' kappa .2099; alpha corrects it for the 140 ratings: 1 − alpha = (1 − kappa)·139/140."""
    units = [[label for label, raters in enumerate(counts) for _ in range(raters)] for counts in FLEISS]
    alpha = compute_alpha(list(zip(*units, strict=True)))
    assert alpha is not None
    assert f"{1 - (1 - alpha) * 140 / 139:.4f}" == "0.2099"


def test_alpha_is_undefined_without_pairs_or_variety() -> None:
    assert compute_alpha([[1, None], [None, 2]]) is None
    assert compute_alpha([[1, 1], [1, 1]]) is None
    assert compute_alpha([]) is None
