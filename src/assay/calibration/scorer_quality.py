"""Measures a scorer against human labels, by metric: accuracy, bias, corrected pass rates, and whether it may gate.

The labels of several raters are combined first: the majority decides, and items on which raters split evenly are left
out and counted. ADR 0031 says when a scorer may gate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import fsum
from typing import NamedTuple

from msgspec import Struct, structs

from assay.calibration.human_labels import (
    MajorityLabel,
    ScorerLabel,
    get_scorer_values,
    group_by_rater,
    majority_labels,
)
from assay.calibration.judge_bias import (
    Disagreement,
    JudgeBias,
    ScorerDifference,
    VoteConsistency,
    find_worst_disagreements,
    measure_bias,
    measure_consistency,
)
from assay.calibration.label_costs import LabelCostRow
from assay.calibration.rater_agreement import (
    FAIL,
    PASS,
    ItemKey,
    LabelScale,
    RaterAgreement,
    ReportedEstimate,
    compute_agreement,
    compute_alpha,
    compute_pairwise_agreement,
    is_pass,
)
from assay.calibration.verdict_cuts import (
    DEFAULT_PRECISION,
    CutQuality,
    ErrorCosts,
    choose_cuts,
    choose_held_out_cuts,
    measure_cuts,
)
from assay.gates.scorer_requirements import list_gating_obstacles
from assay.records.counts import format_count
from assay.records.release_gates import list_first_lines
from assay.records.verdicts import Calibration, Label, LabelledRate, Leniency, VerdictCuts
from assay.stats.intervals import Estimate, estimate_mean_interval
from assay.stats.rate_correction import (
    SensitivitySpecificity,
    correct_rate,
    estimate_prediction_powered_mean,
    estimate_sensitivity_specificity,
    explain_uncorrectable_rate,
    explain_unreliable_ppi,
)


class CorrectedPassRate(Struct, frozen=True):
    """The pass rate of one configuration by the scorer (`n` items of `cases` cases), and corrected estimates of it.

    `rogan_gladen` and `ppi` (prediction-powered inference) estimate the pass rate by human labels; `problems` say why a
    correction was refused.
    """

    n: int
    cases: int
    judged: ReportedEstimate
    rogan_gladen: ReportedEstimate | None
    ppi: ReportedEstimate | None
    recommended: str
    problems: tuple[str, ...]


class ScorerCuts(NamedTuple):
    """The cuts of a scorer's probabilities: `chosen` from all labels, `held_out` for each labelled item from those of
    other cases, and what was measured with the latter. `decided`: the share of all items with a verdict."""

    chosen: VerdictCuts
    held_out: Mapping[ItemKey, VerdictCuts]
    quality: CutQuality
    decided: float

    def passes(self, key: ItemKey, value: float) -> bool:
        """Return whether an item passes; a labelled one by cuts that it had no part in."""
        return value > self.held_out.get(key, self.chosen).middle


def choose_scorer_cuts(
    scorer_labels: Mapping[ItemKey, ScorerLabel],
    passed: Mapping[ItemKey, bool],
    precision: float = DEFAULT_PRECISION,
    costs: ErrorCosts | None = None,
    seed: int = 0,
) -> ScorerCuts:
    """Return where the probabilities of a scorer become verdicts, by what people `passed`.

    At least one item must have both.
    """
    probabilities = {key: label.value for key, label in scorer_labels.items() if label.value is not None}
    keys = sorted(passed.keys() & probabilities.keys())
    values, truths = [probabilities[key] for key in keys], [passed[key] for key in keys]
    chosen = choose_cuts(values, truths, precision, costs)
    held_out = choose_held_out_cuts(values, truths, [key[0] for key in keys], precision, costs, seed)
    decided = sum(chosen.decide(value) is not None for value in probabilities.values()) / len(probabilities)
    return ScorerCuts(chosen, dict(zip(keys, held_out, strict=True)), measure_cuts(values, truths, held_out), decided)


def find_passes(values: Mapping[ItemKey, float], cuts: ScorerCuts | None = None) -> dict[ItemKey, bool]:
    """Return which items a scorer passes: above the middle cut, which is one half for a scorer without cuts."""
    return {key: is_pass(value) if cuts is None else cuts.passes(key, value) for key, value in values.items()}


def correct_pass_rates(
    majority: Mapping[ItemKey, MajorityLabel], passes: Mapping[ItemKey, bool], sorting: SensitivitySpecificity
) -> dict[str, CorrectedPassRate]:
    """Return the corrected pass rate of each configuration, from the items that the scorer passes or fails.

    `sorting` are the error rates of the scorer, measured over all configurations. If a case has several items, cases
    count and not items, because errors within one answer are not independent.
    """
    configs = sorted({key[1] for key in passes})
    sizes = _count_labelled_cases(majority, passes)
    return {
        config: _of({key: passes[key] for key in sorted(passes) if key[1] == config}, majority, sorting, sizes)
        for config in configs
    }


def _count_labelled_cases(majority: Mapping[ItemKey, MajorityLabel], passes: Mapping[ItemKey, bool]) -> tuple[int, ...]:
    """Return how many cases have labelled items that people passed, and that they failed."""
    labelled = majority.keys() & passes.keys()
    return tuple(len({key[0] for key in labelled if majority[key].passed is word}) for word in (True, False))


def correct_whole_rate(
    majority: Mapping[ItemKey, MajorityLabel], passes: Mapping[ItemKey, bool], sorting: SensitivitySpecificity
) -> LabelledRate | None:
    """Return the corrected pass rate over all items of all configurations; None if it cannot be corrected."""
    cases = len({key[0] for key in passes})
    rate = sum(passes.values()) / len(passes)
    estimate, _ = _rogan_gladen(rate, cases, sorting, _count_labelled_cases(majority, passes))
    return _rate(estimate, cases)


def _of(
    values: Mapping[ItemKey, bool],
    truth: Mapping[ItemKey, MajorityLabel],
    rates: SensitivitySpecificity,
    sizes: tuple[int, ...],
) -> CorrectedPassRate:
    passes = list(map(float, values.values()))
    cases = [key[0] for key in values]
    bounds, rate, count = (
        estimate_mean_interval(passes, clusters=cases, low=0.0, high=1.0),
        sum(passes) / len(passes),
        len(set(cases)),
    )
    first, refused = _rogan_gladen(rate, count, rates, sizes)
    second, doubted = _powered(values, truth, count)
    return CorrectedPassRate(
        len(values),
        count,
        ReportedEstimate.from_bounds(rate, bounds) or ReportedEstimate(rate),
        ReportedEstimate.from_estimate(first),
        ReportedEstimate.from_estimate(second),
        "PPI++" if second is not None else "Rogan-Gladen" if first is not None else "none",
        tuple(f"{name}: {why}" for name, why in (("Rogan-Gladen", refused), ("PPI++", doubted)) if why),
    )


def _rogan_gladen(
    rate: float, n: int, rates: SensitivitySpecificity, sizes: tuple[int, ...]
) -> tuple[Estimate | None, str]:
    passed, failed = sizes
    sensitivity = rates.sensitivity.value if rates.sensitivity is not None else 0.0
    specificity = rates.specificity.value if rates.specificity is not None else 0.0
    refused = explain_uncorrectable_rate(specificity, failed, sensitivity, passed)
    return correct_rate(rate, n, specificity, failed, sensitivity, passed), refused


def _powered(
    values: Mapping[ItemKey, bool], truth: Mapping[ItemKey, MajorityLabel], cases: int
) -> tuple[Estimate | None, str]:
    labelled_keys = [key for key in values if key in truth]
    people = [float(truth[key].passed) for key in labelled_keys]
    if cases < len(values):
        return None, "several items of a case are not independent"
    if problem := explain_unreliable_ppi(people):
        return None, problem
    others = [float(value) for key, value in values.items() if key not in truth]
    estimate = estimate_prediction_powered_mean(people, [float(values[key]) for key in labelled_keys], others)
    return estimate, "" if estimate is not None else "hardly anything was judged that is not labelled"


RATED_TWICE = 30
PEOPLE = "people"
PASS_FAIL: LabelScale = {PASS: 1.0, FAIL: 0.0}


class CalibrationQuestion(NamedTuple):
    """What is calibrated: a metric as people label it, the scorer, and what the calibration is bound to.

    `by` is `judge`, `rules` or the name of another tool, which never gates.
    """

    metric: str
    name: str
    by: str
    judge: str
    rubric_hash: str
    scale: LabelScale
    golden: str
    labels: str
    scorer_name: str = ""


class SliceFigures(Struct, frozen=True):
    """The agreement on one slice of the items that both people and the scorer judged."""

    n: int
    agreement: float
    sensitivity: ReportedEstimate | None
    specificity: ReportedEstimate | None
    leniency: float


class ScorerMeasurement(Struct, frozen=True):
    """Everything measured about one scorer and one metric by human labels."""

    calibration: Calibration
    by: str
    scorer_name: str
    labelled: int
    undecided: int
    unjudged: int
    raters: tuple[RaterAgreement, ...]
    alpha: ReportedEstimate | None
    by_label: RaterAgreement | None
    pass_fail: RaterAgreement
    bias: JudgeBias
    consistency: VoteConsistency | None
    slices: dict[str, SliceFigures]
    worst: tuple[Disagreement, ...]
    corrected: dict[str, CorrectedPassRate]
    notes: tuple[str, ...]
    label_costs: tuple[LabelCostRow, ...] = ()


class CalibrationResult(Struct, frozen=True):
    """The result of a whole calibration.

    It holds the labels and golden set that it is bound to, the measurements of every scorer and metric, comparisons of
    judges or rubrics by metric, and the items for human review, on which judge and rules differ widely. `uncombined`
    says by metric why judge and rules are not calibrated together.
    """

    golden: str
    labels: str
    labelled: int
    raters: tuple[str, ...]
    seed: int
    measured: tuple[ScorerMeasurement, ...]
    differences: tuple[tuple[str, ScorerDifference], ...]
    review: dict[str, tuple[Disagreement, ...]]
    notes: tuple[str, ...]
    uncombined: dict[str, str] = {}

    def __repr__(self) -> str:
        """Return a few lines: how many labels of whom, and of each scorer whether it may gate, and why not."""
        lines = [f"{format_count(self.labelled, 'label')} of {format_count(len(self.raters), 'rater')}"]
        for scorer in self.measured:
            record = scorer.calibration
            answer = "may gate" if record.may_gate else "may inform, not gate"
            lines.append(f"{record.metric} ({scorer.scorer_name or scorer.by}): {answer}, n={record.n}")
            lines += list_first_lines(record.reasons, "measured")
        return "\n".join([*lines, *list_first_lines(self.notes, "notes")])


def measure_scorer(
    question: CalibrationQuestion,
    labels: Sequence[Label],
    scorer_labels: Mapping[ItemKey, ScorerLabel],
    lengths: Mapping[tuple[str, str], int],
    slices: Mapping[str, Collection[str]],
    platt: dict[str, float] | None = None,
    seed: int = 0,
    cuts: ScorerCuts | None = None,
) -> ScorerMeasurement | None:
    """Measure a scorer by human labels; None if no item has a label of both.

    `cuts` decide what passes, where the values are probabilities. `lengths` are those of the answers by case and
    configuration, `slices` the case ids of each `key=value`.
    """
    scale = question.scale
    truth, undecided = majority_labels(labels, scale)
    values = get_scorer_values(scorer_labels, scale)
    keys = sorted(truth.keys() & values.keys())
    if not keys:
        return None
    passes = find_passes(values, cuts)
    rates, ratings = _sorting(keys, truth, passes), group_by_rater(labels)
    pass_fail = _pass_fail(question.by, keys, truth, passes, seed)
    corrected = correct_whole_rate(truth, passes, rates)
    bias = measure_bias([(key, truth[key].value, values[key]) for key in keys], lengths, seed)
    calibration = _calibration(question, rates, ratings, len(keys), platt, _has_signal(scorer_labels), cuts, corrected)
    if question.by == "judge":
        calibration = structs.replace(calibration, leniency=_find_leniency(bias))
    return ScorerMeasurement(
        calibration=calibration,
        by=question.by,
        scorer_name=question.scorer_name or question.by,
        labelled=len(truth),
        undecided=undecided,
        unjudged=len(truth.keys() - values.keys()),
        raters=compute_pairwise_agreement(ratings, scale, seed),
        alpha=compute_alpha(ratings, scale, seed),
        by_label=_by_label(question, truth, scorer_labels, seed),
        pass_fail=pass_fail,
        bias=bias,
        consistency=measure_consistency({key: scorer_label.votes for key, scorer_label in scorer_labels.items()}),
        slices=_slices(keys, truth, values, passes, slices),
        worst=find_worst_disagreements(keys, truth, values, scorer_labels),
        corrected=correct_pass_rates(truth, passes, rates),
        notes=tuple(_notes(ratings, pass_fail, undecided)),
    )


def _find_leniency(bias: JudgeBias) -> Leniency | None:
    """Return the leniency of a judge with its interval; None if too few items give one."""
    estimate = bias.leniency
    if estimate.low is None or estimate.high is None:
        return None
    return Leniency(estimate.value, estimate.low, estimate.high)


def _pass_fail(
    by: str, keys: Sequence[ItemKey], truth: Mapping[ItemKey, MajorityLabel], passes: Mapping[ItemKey, bool], seed: int
) -> RaterAgreement:
    people = {key: PASS if truth[key].passed else FAIL for key in keys}
    scorer = {key: PASS if passes[key] else FAIL for key in keys}
    agreement = compute_agreement((PEOPLE, by), people, scorer, PASS_FAIL, seed)
    assert agreement is not None  # there is at least one key
    return agreement


def _by_label(
    question: CalibrationQuestion,
    truth: Mapping[ItemKey, MajorityLabel],
    scorer_labels: Mapping[ItemKey, ScorerLabel],
    seed: int,
) -> RaterAgreement | None:
    """Return the agreement in labels; None if people or scorer gave only numbers."""
    people = {key: item_label.label for key, item_label in truth.items() if item_label.label is not None}
    scorer = {
        key: item_label.label
        for key, item_label in scorer_labels.items()
        if item_label.label is not None and item_label.label in question.scale
    }
    return compute_agreement((PEOPLE, question.by), people, scorer, question.scale, seed)


def _sorting(
    keys: Sequence[ItemKey], truth: Mapping[ItemKey, MajorityLabel], passes: Mapping[ItemKey, bool]
) -> SensitivitySpecificity:
    people = [float(truth[key].passed) for key in keys]
    return estimate_sensitivity_specificity(people, [float(passes[key]) for key in keys], [key[0] for key in keys])


def _calibration(
    question: CalibrationQuestion,
    sorted_by: SensitivitySpecificity,
    ratings: Mapping[str, Mapping[ItemKey, str]],
    n: int,
    platt: dict[str, float] | None,
    has_signal: bool,
    cuts: ScorerCuts | None,
    corrected: LabelledRate | None,
) -> Calibration:
    sensitivity = _rate(sorted_by.sensitivity, sorted_by.passed)
    specificity = _rate(sorted_by.specificity, sorted_by.failed)
    decided = cuts.decided if cuts is not None else None
    reasons = list_gating_obstacles(question.by, n, sensitivity, specificity, corrected, decided)
    if question.by in ("rules", "entailment") and has_signal and platt is None:
        reasons.append("no curve could be fitted to the labels")
    return Calibration(
        metric=question.name,
        judge=question.judge,
        rubric_hash=question.rubric_hash,
        golden=question.golden,
        labels=question.labels,
        n=n,
        raters=len(ratings),
        sensitivity=sensitivity,
        specificity=specificity,
        may_gate=not reasons,
        reasons=tuple(reasons),
        platt=platt,
        cuts=cuts.chosen if cuts is not None else None,
        supported_precision=cuts.quality.supported if cuts is not None else None,
        unsupported_precision=cuts.quality.unsupported if cuts is not None else None,
        corrected=corrected,
        decided=decided,
    )


def _rate(estimate: Estimate | None, n: int) -> LabelledRate | None:
    return LabelledRate(estimate.value, estimate.bounds.low, estimate.bounds.high, n) if estimate is not None else None


def _has_signal(scorer_labels: Mapping[ItemKey, ScorerLabel]) -> bool:
    """Return whether the scorer gave raw numbers, which a curve must turn into probabilities."""
    return any(scorer_label.signal is not None for scorer_label in scorer_labels.values())


def _slices(
    keys: Sequence[ItemKey],
    truth: Mapping[ItemKey, MajorityLabel],
    values: Mapping[ItemKey, float],
    passes: Mapping[ItemKey, bool],
    slices: Mapping[str, Collection[str]],
) -> dict[str, SliceFigures]:
    figures_by_slice = {}
    for name, cases in sorted(slices.items()):
        inside = [key for key in keys if key[0] in cases]
        if not inside:
            continue
        rates = _sorting(inside, truth, passes)
        equal = sum(truth[key].passed == passes[key] for key in inside)
        figures_by_slice[name] = SliceFigures(
            len(inside),
            equal / len(inside),
            ReportedEstimate.from_estimate(rates.sensitivity),
            ReportedEstimate.from_estimate(rates.specificity),
            fsum(values[key] - truth[key].value for key in inside) / len(inside),
        )
    return figures_by_slice


def _notes(ratings: Mapping[str, Mapping[ItemKey, str]], pass_fail: RaterAgreement, undecided: int) -> list[str]:
    notes = []
    raters = len(ratings)
    counts: dict[ItemKey, int] = {}
    for rater_labels in ratings.values():
        for key in rater_labels:
            counts[key] = counts.get(key, 0) + 1
    twice = sum(count > 1 for count in counts.values())
    if twice < RATED_TWICE:
        got = f"got {twice} by {format_count(raters, 'rater')}"
        notes.append(f"few items were labelled twice ({got}; {RATED_TWICE} show how far people agree with each other)")
    if max(pass_fail.prevalence.values()) >= 0.9:
        notes.append("almost all labels are the same: raw agreement says little, read kappa and AC1")
    if undecided:
        notes.append(
            f"raters split evenly on {format_count(undecided, 'item')}, which are left out: let a third person decide"
        )
    return notes
