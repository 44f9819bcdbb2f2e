"""What a scorer must show by human labels before it may gate, and consistency checks of calibration records.

ADR 0031 gives the reasons.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay.metrics.metric import parse_metric_name
from assay.records.counts import format_count
from assay.records.errors import MetricNameError
from assay.records.verdicts import Calibration, LabelledRate
from assay.stats.intervals import wilson_interval

LEAST_BOUND = 0.7
WIDEST_CORRECTED = 0.3
"""The widest interval of a corrected estimate whose bounds say something."""
LEAST_DECIDED = 0.5
"""The least share of all items with a verdict other than unknown."""
LEAST_LABELS = {"judge": 100, "rules": 50, "combined": 100, "entailment": 50}
_CURVED = ("faithfulness", "contradicted_claims")
"""The metrics whose score by rules or a model only a curve makes a probability."""
_CURVES = {
    "rules": {"slope", "intercept"},
    "combined": {"slope", "judge", "intercept"},
    "entailment": {"slope", "intercept"},
}
_ROUNDING = 1e-9


def list_gating_obstacles(
    by: str,
    n: int,
    sensitivity: LabelledRate | None,
    specificity: LabelledRate | None,
    corrected: LabelledRate | None = None,
    decided: float | None = None,
) -> list[str]:
    """Return why a scorer may not gate by its figures; an empty list if it may.

    `by` is `judge`, `rules` or the name of another tool, `n` the number of items that both people and it judged. A
    scorer of probabilities with cuts has a `decided` share: then its corrected estimate over all items counts, whose
    interval holds the uncertainty of both rates (ADR 0058); else the lower bound of each rate.
    """
    if by not in LEAST_LABELS:
        return [f"{by} is an external score: it informs and never gates"]
    reasons = []
    if n < LEAST_LABELS[by]:
        reasons.append(f"too few labelled items (got {n}; expected {LEAST_LABELS[by]})")
    for name, rate in (("sensitivity", sensitivity), ("specificity", specificity)):
        if rate is None:
            word = "passed" if name == "sensitivity" else "failed"
            reasons.append(f"{name} is unknown: people {word} none of the items")
        elif decided is None and rate.low < LEAST_BOUND:
            got = f"got {rate.low:.3f}, with a rate of {rate.value:.3f}; expected {LEAST_BOUND} at least"
            reasons.append(f"the lower bound of {name} is too low ({got})")
    if decided is None or sensitivity is None or specificity is None:
        return reasons
    if corrected is None:
        reasons.append("no corrected estimate: too few labels of a class, or the scorer hardly tells pass from fail")
    elif corrected.high - corrected.low > WIDEST_CORRECTED:
        got = f"got {corrected.low:.3f} to {corrected.high:.3f}; expected a width of {WIDEST_CORRECTED} at most"
        reasons.append(f"the corrected estimate is too uncertain ({got}): label more items")
    if decided < LEAST_DECIDED:
        reasons.append(f"too few items are decided (got {decided:.2f}; expected {LEAST_DECIDED})")
    return reasons


def find_contradictions(record: Calibration) -> Iterator[tuple[str, str]]:
    """Yield (field, problem) for values that the types allow and `assay calibrate` never writes."""
    try:
        name = parse_metric_name(record.metric)
    except MetricNameError as error:
        yield "metric", error.problems[0].message
        return
    by = name.key_value("by", "")
    if by not in LEAST_LABELS or str(name) != record.metric:
        yield (
            "metric",
            f"not a metric with a scorer (got {record.metric!r}; expected a name such as faithfulness(by=judge))",
        )
        return
    for field, rate in (("sensitivity", record.sensitivity), ("specificity", record.specificity)):
        if rate is not None:
            yield from ((f"{field}{at}", message) for at, message in _of_rate(rate))
    counted = sum(rate.n for rate in (record.sensitivity, record.specificity) if rate is not None)
    if record.n != counted:
        yield "n", f"not the items that people passed and failed (got {record.n}; expected {counted})"
    needs_rubric = by not in ("rules", "entailment")
    if (needs_rubric and not record.rubric_hash) or (by != "rules" and not record.judge):
        yield "judge", "bound to nothing (expected the digest of a judge, and rubric_hash)"
    if record.platt is not None and (
        record.platt.keys() != _CURVES.get(by, set()) or not all(map(math.isfinite, record.platt.values()))
    ):
        names = " and ".join(sorted(_CURVES.get(by, ())))
        yield "platt", f"not a curve (got {record.platt}; expected a number for {names} each)"
    leniency = record.leniency
    if leniency is not None and not -1 <= leniency.low <= leniency.value <= leniency.high <= 1:
        expected = "expected -1 ≤ low ≤ value ≤ high ≤ 1"
        yield "leniency", f"no difference of means with its interval (got {leniency}; {expected})"
    yield from _of_cuts(record)
    yield from _of_gating(record, by, curved=by == "entailment" or (by in _CURVES and name.base in _CURVED))


def _of_cuts(record: Calibration) -> Iterator[tuple[str, str]]:
    if record.decided is not None and not 0 <= record.decided <= 1:
        yield "decided", f"no share (got {record.decided}; expected 0 to 1)"
    if record.cuts is None:
        return
    bounds = (record.cuts.reject, record.cuts.middle, record.cuts.accept)
    cuts = [cut for cut in bounds if cut is not None]
    if cuts != sorted(cuts) or not all(0 <= cut <= 1 for cut in cuts):
        yield "cuts", f"not in order (got {bounds}; expected 0 ≤ reject ≤ middle ≤ accept ≤ 1)"


def _of_gating(record: Calibration, by: str, *, curved: bool) -> Iterator[tuple[str, str]]:
    rates = record.sensitivity, record.specificity, record.corrected, record.decided
    against = [*record.reasons, *list_gating_obstacles(by, record.n, *rates)]
    if curved and record.platt is None:
        against.append("no curve could be fitted to the labels")
    if record.may_gate and against:
        yield "may_gate", f"against its own figures or reasons (got true; expected false: {'; '.join(against)})"
    elif not record.may_gate and not against:
        yield "may_gate", "without a reason (got false; expected true, or reasons)"


def _of_rate(rate: LabelledRate) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a share: it counts whole items, and no interval of it is narrower than Wilson's."""
    if not rate.n:
        yield ".n", "a share of nothing (got 0; expected null in its place)"
        return
    hits = round(rate.value * rate.n) if 0 <= rate.value <= 1 else -1
    if hits < 0 or abs(hits - rate.value * rate.n) > rate.n * _ROUNDING:
        yield ".value", f"no share of {format_count(rate.n, 'item')} (got {rate.value})"
        return
    most = wilson_interval(hits, rate.n)
    for name, bound, holds in (
        ("low", most.low, 0 <= rate.low <= most.low + _ROUNDING),
        ("high", most.high, most.high - _ROUNDING <= rate.high <= 1),
    ):
        if not holds:
            ends = f"0 to {bound:.6f}" if name == "low" else f"{bound:.6f} to 1"
            got = getattr(rate, name)
            yield (
                f".{name}",
                f"narrower than {hits} of {format_count(rate.n, 'item')} allow (got {got}; expected {ends})",
            )
