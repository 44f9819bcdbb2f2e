"""The curve of the rules instrument: probabilities from held-out labels, nothing below fifty."""

from __future__ import annotations

from math import exp

import numpy as np

from assay.scoring.agreement import Key
from assay.scoring.curve import held_out
from assay.scoring.truth import Opinion

RANDOM = np.random.Generator(np.random.PCG64(5))
SIGNALS = {(f"c{case:03}", "a", f"c{claim}"): float(RANDOM.normal()) for case in range(40) for claim in range(3)}
OPINIONS = {key: Opinion(value=0.5, signal=signal) for key, signal in SIGNALS.items()}
TRUTH: dict[Key, bool] = {
    key: bool(RANDOM.random() < 1 / (1 + exp(-2 * signal))) for key, signal in list(SIGNALS.items())[:90]
}


def test_fifty_labels_make_numbers_probabilities() -> None:
    found, curve = held_out(OPINIONS, TRUTH)
    assert curve is not None and curve["slope"] > 0.5
    values = [each.value for each in found.values()]
    assert all(value is not None and 0 < value < 1 for value in values)
    unlabelled = next(key for key in OPINIONS if key not in TRUTH)
    power = curve["slope"] * SIGNALS[unlabelled] + curve["intercept"]
    assert found[unlabelled].value == 1 / (1 + exp(-power))


def test_a_labelled_claim_is_valued_by_a_curve_without_its_case() -> None:
    """Turning one case's labels round changes what others are worth, and its own claims not at all."""
    case = next(iter(TRUTH))[0]
    turned = {key: (not said if key[0] == case else said) for key, said in TRUTH.items()}
    before, after = held_out(OPINIONS, TRUTH)[0], held_out(OPINIONS, turned)[0]
    own = [key for key in TRUTH if key[0] == case]
    assert [before[key].value for key in own] == [after[key].value for key in own]
    assert before != after


def test_below_fifty_labels_or_without_a_signal_nothing_is_changed() -> None:
    few = dict(list(TRUTH.items())[:49])
    assert (OPINIONS, None) == held_out(OPINIONS, few)
    assert (OPINIONS, None) == held_out(OPINIONS, dict.fromkeys(TRUTH, True))
    plain = {key: Opinion(value=0.5) for key in OPINIONS}
    assert (plain, None) == held_out(plain, TRUTH)
