"""The curve of the rules scorer: probabilities from held-out labels, and none below fifty labels."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from assay.calibration.human_labels import ScorerLabel
from assay.calibration.probability_curve import apply_probability_curve
from assay.calibration.rater_agreement import ItemKey

RANDOM = np.random.Generator(np.random.PCG64(5))
SIGNALS = {(f"c{case:03}", "a", f"c{claim}"): float(RANDOM.normal()) for case in range(40) for claim in range(3)}
OPINIONS = {key: ScorerLabel(value=0.5, signal=signal) for key, signal in SIGNALS.items()}
TRUTH: dict[ItemKey, bool] = {
    key: bool(RANDOM.random() < 1 / (1 + exp(-2 * signal))) for key, signal in list(SIGNALS.items())[:90]
}


def test_fifty_labels_make_numbers_probabilities() -> None:
    found, curve = apply_probability_curve(OPINIONS, TRUTH)
    assert curve is not None and curve.held_out and curve.slope > 0.5
    values = [each.value for each in found.values()]
    assert all(value is not None and 0 < value < 1 for value in values)
    unlabelled = next(key for key in OPINIONS if key not in TRUTH)
    power = curve.slope * SIGNALS[unlabelled] + curve.intercept
    assert found[unlabelled].value == pytest.approx(1 / (1 + exp(-power)))


def test_a_labelled_claim_is_valued_by_a_curve_without_its_case() -> None:
    """Turning one case's labels round changes what others are worth, and its own claims not at all."""
    case = next(iter(TRUTH))[0]
    turned = {key: (not said if key[0] == case else said) for key, said in TRUTH.items()}
    before, after = apply_probability_curve(OPINIONS, TRUTH)[0], apply_probability_curve(OPINIONS, turned)[0]
    own = [key for key in TRUTH if key[0] == case]
    assert [before[key].value for key in own] == [after[key].value for key in own]
    assert before != after


def test_where_a_fold_would_leave_too_few_labels_the_curve_of_all_is_used_and_said() -> None:
    found, curve = apply_probability_curve(OPINIONS, dict(list(TRUTH.items())[:51]))
    assert curve is not None and not curve.held_out
    assert all(each.value is not None for each in found.values())


def test_below_fifty_labels_or_without_a_signal_nothing_is_changed() -> None:
    few = dict(list(TRUTH.items())[:49])
    assert (OPINIONS, None) == apply_probability_curve(OPINIONS, few)
    assert (OPINIONS, None) == apply_probability_curve(OPINIONS, dict.fromkeys(TRUTH, True))
    plain = {key: ScorerLabel(value=0.5) for key in OPINIONS}
    assert (plain, None) == apply_probability_curve(plain, TRUTH)
