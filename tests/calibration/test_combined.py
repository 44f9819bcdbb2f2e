"""The combined scorer: judge and rules joined with weights from human labels, calibrated and scored as any other."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from statistics import NormalDist, fmean

import numpy as np
import pytest
from tests.calibration.calibrating import JUDGE, flags, truly, write_labels, write_verdict_export, write_world

from assay.calibration.collect_scorer_labels import LabelItem
from assay.calibration.combined_scorer import CombinedLabels, combine_scorers, explain_uncombined, fit_combined_curve
from assay.calibration.human_labels import ScorerLabel
from assay.calibration.rater_agreement import ItemKey
from assay.cli import main
from assay.gates.calibration_file import load_calibrations
from assay.metrics.catalog import parse_metrics
from assay.metrics.grounding.combined_support import UNCALIBRATED_CURVE, compute_combined_probability


def simulate_scorers(seed: int) -> tuple[CombinedLabels, dict[ItemKey, float], dict[ItemKey, bool]]:
    """Combine rules with an AUROC of 0.8 and a judge that is right on 0.85 of the supported and 0.7 of the others."""
    generator = np.random.Generator(np.random.PCG64(seed))
    truths = (generator.random(400) < 0.6).tolist()
    distance = 2**0.5 * NormalDist().inv_cdf(0.8)
    keys: list[ItemKey] = [(f"case{number:03}", "c", "c1") for number in range(400)]
    signals, judged, passed = {}, {}, {}
    for key, truth in zip(keys, truths, strict=True):
        signals[key] = ScorerLabel(value=0.5, signal=float(generator.normal()) + distance * truth)
        is_right = generator.random() < (0.85 if truth else 0.7)
        judged[key] = float(truth is bool(is_right))
        passed[key] = truth
    combined = combine_scorers(signals, judged, passed, seed)
    assert combined is not None
    return combined, judged, passed


def compute_auroc(values: dict[ItemKey, float], passed: dict[ItemKey, bool]) -> float:
    above = [values[key] for key in values if passed[key]]
    below = [values[key] for key in values if not passed[key]]
    return fmean(float(high > low) + 0.5 * float(high == low) for high, low in product(above, below))


def test_judge_and_rules_together_rank_better_than_the_judge_on_labels_that_they_were_not_fitted_to() -> None:
    for seed in range(3):
        combined, judged, passed = simulate_scorers(seed)
        assert combined.held_out
        values = {key: label.value for key, label in combined.labels.items() if label.value is not None}
        assert compute_auroc(values, passed) >= compute_auroc(judged, passed) + 0.03


def test_the_weights_do_not_depend_on_the_order_of_items() -> None:
    generator = np.random.Generator(np.random.PCG64(4))
    rows = [(float(generator.normal()), float(number % 2), number % 3 > 0 or number % 2 == 1) for number in range(90)]
    curves = []
    for ordered in (rows, rows[::-1]):
        curves.append(fit_combined_curve(*map(list, zip(*ordered, strict=True))))
    first, second = curves
    assert first is not None and second is not None
    assert first == pytest.approx(second, abs=1e-9)


def test_a_judge_that_is_wrong_more_often_than_right_gets_no_weight() -> None:
    truths = [number % 2 == 0 for number in range(100)]
    curve = fit_combined_curve(
        [number / 50 + truth for number, truth in enumerate(truths)], [1.0 - t for t in truths], truths
    )
    assert curve is not None
    assert 0.0 == curve["judge"]
    assert curve["slope"] > 0


def test_what_the_judge_left_open_the_rules_decide() -> None:
    probabilities = [compute_combined_probability(signal, None, UNCALIBRATED_CURVE) for signal in (-1.0, 0.7, 2.0)]
    assert probabilities[0] < 0.01 < probabilities[1] == 0.5 < 0.99 < probabilities[2]


def test_a_bare_name_stands_for_rules_and_judge_and_not_for_both_together() -> None:
    assert ["faithfulness(by=rules)", "faithfulness(by=judge)"] == list(map(str, parse_metrics(["faithfulness"])))


@pytest.mark.slow
def test_the_combined_scorer_is_calibrated_scored_and_may_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The judge passes the canteen in half of the odd cases; the rules know that no source mentions one."""

    def lenient(item: LabelItem) -> str:
        return "supported" if int(item.key[0][-3:]) % 4 == 1 else truly(item)

    where = write_world(tmp_path)
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [lenient])], ("faithfulness",))
    labels, out = write_labels(tmp_path / "l.jsonl", where, "faithfulness"), str(tmp_path / "calibration.json")
    calibrate = ["calibrate", "--labels", labels, "--verdicts", verdicts, *flags(where), "--out", out]
    assert 0 == main([*calibrate, "--format", "json"])
    content = Path(out).read_bytes()
    capsys.readouterr()
    assert 0 == main(calibrate)
    assert content == Path(out).read_bytes()
    assert "From probability to verdict" in capsys.readouterr().out
    records = load_calibrations(out)
    combined, judge = records["faithfulness(by=combined)"], records["faithfulness(by=judge)"]
    assert combined.platt is not None and {"slope", "judge", "intercept"} == combined.platt.keys()
    assert combined.may_gate, combined.reasons
    assert not judge.may_gate
    scores = {}
    for metric in ("faithfulness(by=combined)", "faithfulness(by=judge)"):
        report = tmp_path / "report.json"
        arguments = ["--verdicts", verdicts, "--calibration", out, "--metrics", metric, "--json-report", str(report)]
        assert 0 == main(["score", *flags(where), *arguments]), capsys.readouterr()
        summary = json.loads(report.read_text("utf-8"))
        scores[metric] = summary["configs"]["conf-alpha-77"]["summary"][metric]["value"]
    assert 0.75 == pytest.approx(scores["faithfulness(by=combined)"], abs=0.05)
    assert 0.875 == pytest.approx(scores["faithfulness(by=judge)"], abs=0.01)


def make_labels(
    passed: int, failed: int, *, scored: bool = True
) -> tuple[dict[ItemKey, ScorerLabel], dict[ItemKey, bool]]:
    """Return scores of the rules that say nothing, and what people said."""
    truths: dict[ItemKey, bool] = {(f"case{n:03}", "c", "c1"): n < passed for n in range(passed + failed)}
    signal = 0.5 if scored else None
    return {key: ScorerLabel(value=0.5, signal=signal) for key in truths}, truths


@pytest.mark.parametrize(
    ("passed", "failed", "scored", "judged", "told"),
    [
        (30, 12, True, 1.0, "the rules score 42 of 42 labelled items, 30 passed and 12 failed (expected 50, "),
        (60, 9, True, 1.0, "label more, answers of a worse configuration among them"),
        (3, 60, True, 1.0, "label more, answers of a better configuration among them"),
        (40, 40, False, 1.0, "the rules score 0 of 80 labelled items (expected 50"),
        (40, 40, True, None, "the judge has no label on any item that the rules score"),
        (40, 40, True, 0.5, "neither the rules nor the judge are right on these labels more often than wrong"),
    ],
)
def test_what_cannot_be_combined_has_a_reason_and_a_remedy(
    passed: int, failed: int, scored: bool, judged: float | None, told: str
) -> None:
    by_rules, truths = make_labels(passed, failed, scored=scored)
    judge_values = {} if judged is None else dict.fromkeys(truths, judged)
    assert combine_scorers(by_rules, judge_values, truths) is None
    assert told in explain_uncombined(by_rules, judge_values, truths)


def test_calibrate_says_why_judge_and_rules_are_not_calibrated_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eleven labels of claims are too few for a curve of both."""
    where = write_world(tmp_path)
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [truly])], ("faithfulness",))
    labels = Path(write_labels(tmp_path / "l.jsonl", where, "faithfulness"))
    labels.write_text("".join(labels.read_text("utf-8").splitlines(keepends=True)[:11]), "utf-8")
    report = tmp_path / "calibration.md"
    calibrate = ["calibrate", "--labels", str(labels), "--verdicts", verdicts, *flags(where), "--report", str(report)]
    assert 0 == main(calibrate)
    printed = capsys.readouterr().out
    assert "faithfulness(by=combined): not calibrated, so a rule on it is a risk" in printed
    assert printed.index("by=combined") < printed.index("Scorer accuracy")
    assert "(expected 50, of which people passed 10 and failed 10): label more" in printed
    assert "not calibrated, so a rule on it is a risk" in report.read_text("utf-8")
