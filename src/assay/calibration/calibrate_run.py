"""Calibrating a run: comparing every scorer with human labels, and writing the file that scoring reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from msgspec import structs, to_builtins

from assay.calibration.collect_scorer_labels import (
    COMBINED,
    CONTRADICTION_METRIC,
    ENTAILMENT,
    JUDGE,
    RULES,
    ScorerLabels,
    check_label_metrics,
    collect_answer_priors,
    collect_entailment_labels,
    collect_judge_labels,
    collect_rule_labels,
    collect_tool_labels,
    hash_rubric,
    label_scales,
    load_label_rubrics,
    make_contradiction_scale,
    metric_for_labels,
    name_with_scorer,
)
from assay.calibration.combined_scorer import combine_scorers, explain_uncombined
from assay.calibration.human_labels import ScorerLabel, get_item_key, get_scorer_values, majority_labels
from assay.calibration.judge_bias import Disagreement, ScorerDifference, compare_scorers, find_distant_items
from assay.calibration.label_costs import tabulate_label_costs
from assay.calibration.probability_curve import apply_probability_curve
from assay.calibration.rater_agreement import ItemKey
from assay.calibration.scorer_quality import (
    CalibrationQuestion,
    CalibrationResult,
    ScorerMeasurement,
    choose_scorer_cuts,
    measure_scorer,
)
from assay.calibration.verdict_cuts import DEFAULT_PRECISION, ErrorCosts
from assay.formats.golden_files import compute_golden_digest
from assay.formats.labels.label_files import LabelScales, compute_labels_digest, load_labels
from assay.gates.calibration_file import write_calibrations
from assay.judging.entailment_model_file import load_entailment_model
from assay.judging.load_verdicts import open_verdicts
from assay.metrics.answers.correctness import CORRECTNESS
from assay.metrics.cases.settled_answers import ANSWER_SCALES
from assay.metrics.judged.judge_requests import RecordedVerdicts, name_combined_scorer
from assay.metrics.metric import parse_metric_name
from assay.records.counts import format_count
from assay.records.digest import compute_answer_hash
from assay.records.errors import IncompleteError, InputError, Problem
from assay.records.verdicts import Label
from assay.scoring.scored_run import ScoredRun
from assay.scoring.slices import find_slices

HUMAN_SOURCE = "person"
COMBINED_BASES = ("faithfulness", "citation_support", CORRECTNESS)
"""The metrics that judge and rules score together."""
OWN_SCORERS = (JUDGE, RULES, COMBINED, ENTAILMENT)
CURVED_SCORERS = (RULES, ENTAILMENT)
"""Scorers whose numbers a curve makes probabilities."""
CLAIMS_METRIC = "faithfulness"


@dataclass(frozen=True, slots=True)
class CalibrationRequest:
    """The options of a calibration: files of labels, verdict stores, judges by name, folders of rubrics, metrics.

    Several stores, judges or rubrics are compared on the same labels. Without `verdicts` or `rubrics`, those of the run
    are used. `precision` and `costs` choose where probabilities become verdicts (`verdict_cuts`).
    `entailment_model` is the folder of a local model that is calibrated too.
    """

    labels: Sequence[str]
    verdicts: Sequence[str] = ()
    judges: Sequence[str] = ()
    rubrics: Sequence[str] = ()
    metrics: Sequence[str] = ()
    seed: int = 0
    precision: float = DEFAULT_PRECISION
    costs: ErrorCosts | None = None
    entailment_model: str | None = None


def calibrate_run(run: ScoredRun | None, request: CalibrationRequest) -> CalibrationResult:
    """Compare every scorer with human labels.

    Without a run, only the external scores among the labels can be measured. Raises InputError for bad files and for
    labels of unknown cases, IncompleteError if no item has both a human label and a label of a scorer.
    """
    if request.verdicts and run is None:
        raise InputError("--verdicts: no answers named (expected --run DIR, or --golden and --outputs)")
    if request.judges and not request.verdicts:
        raise InputError("--judge: no verdicts given (expected --verdicts FILE as well)")
    scales = label_scales(load_label_rubrics(run, request.rubrics))
    labels = [
        structs.replace(label, metric=metric_for_labels(label.metric))
        for label in load_labels(request.labels, scales, left_out=ANSWER_SCALES)
    ]
    notes: list[str] = []
    if run is not None:
        labels, notes = _match_labels(labels, run)
    human_labels = [label for label in labels if label.source == HUMAN_SOURCE]
    metrics = check_label_metrics(request.metrics or sorted({label.metric for label in human_labels}), scales)
    scorers = collect_tool_labels([label for label in labels if label.source != HUMAN_SOURCE])
    if run is not None:
        scorers = [*_judge_scorers(run, request, metrics, notes), collect_rule_labels(run, metrics), *scorers]
        if request.entailment_model is not None:
            model = load_entailment_model(request.entailment_model)
            scorers.append(collect_entailment_labels(run, metrics, model))
    measurements: list[ScorerMeasurement] = []
    differences: list[tuple[str, ScorerDifference]] = []
    review: dict[str, tuple[Disagreement, ...]] = {}
    uncombined: dict[str, str] = {}
    for metric in metrics:
        labels_of_metric = [label for label in human_labels if label.metric == metric]
        labelled_metric = _LabelledMetric(metric, scales, labels_of_metric, run, request, notes, uncombined)
        for scorer in scorers:
            measurement = labelled_metric.measure(scorer)
            if measurement is not None:
                measurements.append(measurement)
        measurements += labelled_metric.measure_combined(scorers)
        differences += [(metric, pair) for pair in labelled_metric.compare_judges(scorers)]
        disagreements = _find_disagreements(metric, scorers, scales)
        if disagreements:
            review[metric] = disagreements
    if CLAIMS_METRIC in metrics:
        labels_of_claims = [label for label in human_labels if label.metric == CLAIMS_METRIC]
        measurements += _measure_contradictions(scorers, labels_of_claims, scales, run, request, notes)
    if not measurements:
        raise IncompleteError(_nothing_to_measure(human_labels, scorers, metrics))
    return CalibrationResult(
        compute_golden_digest(run.golden) if run is not None else "",
        compute_labels_digest(human_labels),
        len(human_labels),
        tuple(sorted({label.rater for label in human_labels})),
        request.seed,
        tuple(measurements),
        tuple(differences),
        review,
        tuple(notes),
        uncombined,
    )


def _measure_contradictions(
    scorers: Sequence[ScorerLabels],
    labels: Sequence[Label],
    scales: LabelScales,
    run: ScoredRun | None,
    request: CalibrationRequest,
    notes: list[str],
) -> Iterator[ScorerMeasurement]:
    """Yield how well scorers tell contradicted claims, a question of its own that the same labels answer."""
    scale = make_contradiction_scale(scales[CLAIMS_METRIC])
    named = [label for label in labels if label.label in scale]
    contradictions = _LabelledMetric(
        CONTRADICTION_METRIC, {CONTRADICTION_METRIC: scale}, named, run, request, notes, {}
    )
    for scorer in scorers:
        measurement = contradictions.measure(scorer) if scorer.kind == ENTAILMENT else None
        if measurement is not None:
            yield measurement


def write_calibration(path: str, calibration: CalibrationResult) -> Path:
    """Write a calibration to the file that scoring reads.

    Raises InputError if a metric was measured for several judges or rubrics.
    """
    records = [measurement.calibration for measurement in calibration.measured if measurement.by in OWN_SCORERS]
    counts = Counter(record.metric for record in records)
    ambiguous = sorted(name for name, count in counts.items() if count > 1)
    if ambiguous:
        message = f"{', '.join(ambiguous)} was measured for several judges or rubrics (expected one, to be written)"
        raise InputError([Problem(path, None, "out", message, "E_JUDGE")])
    return write_calibrations(path, records, to_builtins(calibration))


def _apply_vetoes(judge_values: Mapping[ItemKey, float], priors: Mapping[ItemKey, ScorerLabel]) -> dict[ItemKey, float]:
    """Return the grades of a judge, at most what the rules leave of each."""
    capped = {}
    for key, value in judge_values.items():
        cap = priors[key].value if key in priors else None
        capped[key] = value if cap is None else min(value, cap)
    return capped


@dataclass(frozen=True)
class _LabelledMetric:
    """One metric with its human labels."""

    metric: str
    scales: LabelScales
    labels: Sequence[Label]
    run: ScoredRun | None
    request: CalibrationRequest
    notes: list[str]
    uncombined: dict[str, str]

    @property
    def seed(self) -> int:
        return self.request.seed

    @property
    def scale(self) -> Mapping[str, float | None]:
        return self.scales[self.metric.partition("(")[0]]

    def _make_question(self, scorer: ScorerLabels) -> CalibrationQuestion:
        return CalibrationQuestion(
            self.metric,
            name_with_scorer(self.metric, scorer.kind),
            scorer.kind,
            scorer.digest,
            scorer.rubric_hash(self.metric),
            self.scale,
            compute_golden_digest(self.run.golden) if self.run is not None else "",
            compute_labels_digest(self.labels),
            scorer.name,
        )

    def measure(self, scorer: ScorerLabels) -> ScorerMeasurement | None:
        """Return how well a scorer agrees with the human labels; None if they have no item in common."""
        opinions = scorer.labels.get(self.metric, {})
        question = self._make_question(scorer)
        if scorer.kind not in CURVED_SCORERS:
            measurement = measure_scorer(
                question, self.labels, opinions, self._lengths(), self._slices(), seed=self.seed
            )
            if measurement is not None and scorer.kind == JUDGE:
                costs = tabulate_label_costs(self.labels, opinions, self.scale)
                measurement = structs.replace(measurement, label_costs=costs)
            if measurement is None:
                return None
            record = structs.replace(measurement.calibration, anchors=scorer.anchors, models=scorer.models)
            return structs.replace(measurement, calibration=record)
        # Scores of rules and models become probabilities by a curve (Platt scaling) that is fitted to the same labels.
        values, curve = apply_probability_curve(opinions, self._passed(), self.seed)
        if curve is not None and not curve.held_out:
            self.notes.append(f"{question.name}: too few labels to test its curve on labels that it was not fitted to")
        platt = {"slope": curve.slope, "intercept": curve.intercept} if curve is not None else None
        cuts = None
        if curve is not None:
            options = self.request.precision, self.request.costs
            cuts = choose_scorer_cuts(values, self._passed(), *options, self.seed)
        return measure_scorer(question, self.labels, values, self._lengths(), self._slices(), platt, self.seed, cuts)

    def measure_combined(self, scorers: Sequence[ScorerLabels]) -> Iterator[ScorerMeasurement]:
        """Yield how well each judge agrees with the human labels together with the rules, where they can be joined."""
        by_rules = next((scorer.labels.get(self.metric, {}) for scorer in scorers if scorer.kind == RULES), {})
        if parse_metric_name(self.metric).base not in COMBINED_BASES:
            return
        is_answer = parse_metric_name(self.metric).base == CORRECTNESS
        if is_answer:
            by_rules = collect_answer_priors(self.run) if self.run is not None else {}
        for judge in (scorer for scorer in scorers if scorer.kind == JUDGE):
            values = get_scorer_values(judge.labels.get(self.metric, {}), self.scale)
            if is_answer:
                values = _apply_vetoes(values, by_rules)
            combined = combine_scorers(by_rules, values, self._passed(), self.seed)
            if combined is None:
                name = name_with_scorer(self.metric, COMBINED)
                who = "" if judge.name == JUDGE else f" ({judge.name} and rules)"
                self.uncombined[f"{name}{who}"] = explain_uncombined(by_rules, values, self._passed())
                continue
            question = self._make_question(judge)._replace(
                name=name_with_scorer(self.metric, COMBINED),
                by=COMBINED,
                judge=name_combined_scorer(judge.digest),
                scorer_name=COMBINED if judge.name == JUDGE else f"{judge.name} and rules",
            )
            options = self.request.precision, self.request.costs
            cuts = choose_scorer_cuts(combined.labels, self._passed(), *options, self.seed)
            curve = dict(combined.curve)
            measurement = measure_scorer(
                question, self.labels, combined.labels, self._lengths(), self._slices(), curve, self.seed, cuts
            )
            if measurement is not None:
                record = structs.replace(measurement.calibration, anchors=judge.anchors, models=judge.models)
                yield structs.replace(measurement, calibration=record)

    def compare_judges(self, scorers: Sequence[ScorerLabels]) -> Iterator[ScorerDifference]:
        """Yield the difference of every two judges or rubrics on the same labels."""
        passed = self._passed()
        judges = [scorer for scorer in scorers if scorer.kind == JUDGE]
        for first, second in combinations(judges, 2):
            first_values = get_scorer_values(first.labels.get(self.metric, {}), self.scale)
            second_values = get_scorer_values(second.labels.get(self.metric, {}), self.scale)
            judge_difference = compare_scorers(
                (first.name, second.name), passed, first_values, second_values, self.seed
            )
            if judge_difference is not None:
                yield judge_difference

    def _passed(self) -> dict[ItemKey, bool]:
        labels_by_item, _ = majority_labels(self.labels, self.scale)
        return {key: label.passed for key, label in labels_by_item.items()}

    def _lengths(self) -> dict[tuple[str, str], int]:
        """Return the length of each labelled answer in characters, by case and configuration."""
        lengths: dict[tuple[str, str], int] = {}
        for label in self.labels:
            config_id = label.config_id or ""
            observation = self.run.read_observation(config_id, label.case_id) if self.run is not None else None
            if observation is not None and isinstance(observation.answer, str):
                lengths[label.case_id, config_id] = len(observation.answer)
        return lengths

    def _slices(self) -> dict[str, set[str]]:
        """Return the case ids of every slice of the golden set."""
        if self.run is None:
            return {}
        cases = self.run.golden.cases
        return {name: {cases[row].id for row in rows.tolist()} for name, rows in find_slices(cases).items()}


def _judge_scorers(
    run: ScoredRun, request: CalibrationRequest, metrics: Sequence[str], notes: list[str]
) -> list[ScorerLabels]:
    """Return every judge of every verdict store, with the rubrics of the run (else the built-in ones) and with those of
    the folders.

    The latter only for metrics whose rubric differs: with the same rubric it is the same scorer.
    """
    run_rubrics, folder_rubrics = load_label_rubrics(run), load_label_rubrics(run, request.rubrics)
    metrics_with_other_rubric = [
        metric for metric in metrics if hash_rubric(folder_rubrics, metric) != hash_rubric(run_rubrics, metric)
    ]
    folder_suffix = " ".join(f"with {Path(folder).name}" for folder in request.rubrics)
    variants = ((run_rubrics, "", metrics), (folder_rubrics, folder_suffix, metrics_with_other_rubric))
    scorers = []
    for judge_name, judging in _open_stores(run, request, notes):
        for rubrics, suffix, metrics_to_read in variants:
            scorer_name = " ".join(filter(None, (judge_name, suffix))) or JUDGE
            scorers.append(
                collect_judge_labels(run, scorer_name, structs.replace(judging, rubrics=rubrics), metrics_to_read)
            )
    return [scorer for scorer in scorers if any(scorer.labels.values())]


def _open_stores(
    run: ScoredRun, request: CalibrationRequest, notes: list[str]
) -> Iterator[tuple[str, RecordedVerdicts]]:
    """Yield the verdicts of each judge, with its name, from the named verdict stores, else from that of the run."""
    if not request.verdicts and run.judging is not None and run.judging.verdicts:
        yield "", run.judging
    for path in request.verdicts:
        for judge in request.judges or (None,):
            judging, warnings = open_verdicts(path, judge, load_label_rubrics(run))
            notes += [warning for warning in warnings if warning not in notes]
            store_suffix = f"in {Path(path).name}" if len(request.verdicts) > 1 else ""
            yield " ".join(filter(None, (judge, store_suffix))), judging


def _match_labels(labels: Sequence[Label], run: ScoredRun) -> tuple[list[Label], list[str]]:
    """Return the labels of answers of this run, and notes on the others.

    Raises InputError for labels of unknown cases, and for items that one rater labelled twice.
    """
    configs = sorted(run.scoring.configs)
    only_config = configs[0] if len(configs) == 1 else None
    unknown = sorted({label.case_id for label in labels} - run.cases.keys())
    if unknown:
        message = f"labels of unknown cases (got {', '.join(unknown[:5])}; expected those of the golden set)"
        raise InputError([Problem("", None, "case_id", message, "E_CASE")])
    matching: list[Label] = []
    left_out = Counter[str]()
    answer_hashes: dict[tuple[str, str], str | None] = {}
    label_keys: set[tuple[str, ...]] = set()
    duplicates: dict[str, None] = {}
    for label in labels:
        config = label.config_id or only_config
        if config not in configs:
            left_out[f"labels of {config or 'no configuration'}, which the run does not have"] += 1
            continue
        if (config, label.case_id) not in answer_hashes:
            answer_hashes[config, label.case_id] = _hash_answer(run, config, label.case_id)
        if label.answer_hash is not None and label.answer_hash != answer_hashes[config, label.case_id]:
            left_out["labels of answers that are not those of the run"] += 1
            continue
        matching.append(structs.replace(label, config_id=config))
        label_key = (label.source, label.rater, label.metric, *get_item_key(matching[-1]))
        if label_key in label_keys:
            duplicates[f"{label.case_id} by {label.rater}"] = None
        label_keys.add(label_key)
    if duplicates:
        listed = ", ".join(list(duplicates)[:5])
        message = f"one item labelled twice by one rater (got {listed}; expected one label of each)"
        raise InputError([Problem("", None, "case_id", message, "E_DUPLICATE_ID")])
    return matching, [f"left out: {count} {reason}" for reason, count in sorted(left_out.items())]


def _hash_answer(run: ScoredRun, config: str, case_id: str) -> str | None:
    observation = run.read_observation(config, case_id)
    if observation is None or not isinstance(observation.answer, str):
        return None
    return compute_answer_hash(observation.answer)


def _find_disagreements(metric: str, scorers: Sequence[ScorerLabels], scales: LabelScales) -> tuple[Disagreement, ...]:
    """Return the items on which the first judge and the rules differ widely, for human review."""
    scale = scales[metric.partition("(")[0]]
    by_rules = _opinions_of_first(scorers, RULES, metric)
    by_judge = _opinions_of_first(scorers, JUDGE, metric)
    return find_distant_items(
        by_rules, by_judge, get_scorer_values(by_rules, scale), get_scorer_values(by_judge, scale)
    )


def _opinions_of_first(scorers: Sequence[ScorerLabels], by: str, metric: str) -> Mapping[ItemKey, ScorerLabel]:
    """Return the labels of the first scorer of a kind that labelled the metric; empty if there is none."""
    return next((scorer.labels[metric] for scorer in scorers if scorer.kind == by and metric in scorer.labels), {})


def _nothing_to_measure(human_labels: Sequence[Label], scorers: Sequence[ScorerLabels], metrics: Sequence[str]) -> str:
    """Return the message for a calibration without a single item that has both kinds of labels."""
    if not human_labels:
        return (
            "nothing to measure: no human label of what a judge labels (whether an answer is right, as people decided, "
            "counts in scoring: labels= of assay.score, --labels of assay score)"
        )
    count = sum(len(opinions) for scorer in scorers for opinions in scorer.labels.values())
    return (
        f"nothing to measure: {format_count(len(human_labels), 'human label')} for {', '.join(metrics)} and "
        f"{format_count(count, 'label')} of scorers "
        "have no item in common"
    )
