"""Calibrating a run: comparing every scorer with human labels, and writing the file that scoring reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from msgspec import structs, to_builtins

from assay.errors import IncompleteError, InputError, Problem
from assay.graders.judging import Judging, Rubrics
from assay.graders.names import read_name
from assay.io.calibrations import write_calibrations
from assay.io.golden import golden_digest
from assay.io.labels import Scales, answer_hash, labels_digest, load_labels
from assay.scoring.agreement import Key
from assay.scoring.calibration import Calibrated, Measured, Question, measured
from assay.scoring.curve import valued
from assay.scoring.leanings import Difference, Disagreement, apart, difference
from assay.scoring.slices import slice_rows
from assay.scoring.truth import Opinion, key_of, truths, values_of
from assay.verdict import Label, rubrics_hash
from assay.workflow.labelling import (
    RUBRIC_OF,
    instrument_name,
    known_metrics,
    label_metric,
    rubrics_of,
    scales_of,
)
from assay.workflow.opinions import JUDGE, RULES, Instrument, of_judge, of_rules, of_tools
from assay.workflow.replay import judging_of
from assay.workflow.score import ScoreRun

__all__ = ["Calibrated", "Calibrating", "calibrate", "write_calibration"]

PERSON = "person"


@dataclass(frozen=True, slots=True)
class Calibrating:
    """The options of a calibration: files of labels, verdict stores, judges by name, folders of rubrics, metrics.

    Several stores, judges or rubrics are compared on the same labels. Without `verdicts` or `rubrics`, those of the run
    are used.
    """

    labels: Sequence[str]
    verdicts: Sequence[str] = ()
    judges: Sequence[str] = ()
    rubrics: Sequence[str] = ()
    metrics: Sequence[str] = ()
    seed: int = 0


def calibrate(run: ScoreRun | None, wanted: Calibrating) -> Calibrated:
    """Compare every scorer with human labels.

    Without a run, only the external scores among the labels can be measured. Raises InputError for bad files and for
    labels of unknown cases, IncompleteError if no item has both a human label and a label of a scorer.
    """
    if wanted.verdicts and run is None:
        raise InputError("--verdicts: no answers named (expected --run DIR, or --golden and --outputs)")
    if wanted.judges and not wanted.verdicts:
        raise InputError("--judge: no verdicts given (expected --verdicts FILE as well)")
    scales = scales_of(rubrics_of(run, wanted.rubrics))
    labels = [structs.replace(label, metric=label_metric(label.metric)) for label in load_labels(wanted.labels, scales)]
    notes: list[str] = []
    if run is not None:
        labels, notes = _match_labels(labels, run)
    human_labels = [label for label in labels if label.source == PERSON]
    metrics = known_metrics(wanted.metrics or sorted({label.metric for label in human_labels}), scales)
    scorers = of_tools([label for label in labels if label.source != PERSON])
    if run is not None:
        scorers = [*_judge_scorers(run, wanted, metrics, notes), of_rules(run, metrics), *scorers]
    measurements: list[Measured] = []
    differences: list[tuple[str, Difference]] = []
    review: dict[str, tuple[Disagreement, ...]] = {}
    for metric in metrics:
        labels_of_metric = [label for label in human_labels if label.metric == metric]
        labelled_metric = _LabelledMetric(metric, scales, labels_of_metric, run, wanted.seed, notes)
        for scorer in scorers:
            measurement = labelled_metric.measure(scorer)
            if measurement is not None:
                measurements.append(measurement)
        differences += [(metric, pair) for pair in labelled_metric.compare_judges(scorers)]
        disagreements = _find_disagreements(metric, scorers, scales)
        if disagreements:
            review[metric] = disagreements
    if not measurements:
        raise IncompleteError(_nothing_to_measure(human_labels, scorers, metrics))
    return Calibrated(
        golden_digest(run.golden) if run is not None else "",
        labels_digest(human_labels),
        len(human_labels),
        tuple(sorted({label.rater for label in human_labels})),
        wanted.seed,
        tuple(measurements),
        tuple(differences),
        review,
        tuple(notes),
    )


def write_calibration(path: str, found: Calibrated) -> Path:
    """Write a calibration to the file that scoring reads.

    Raises InputError if a metric was measured for several judges or rubrics.
    """
    records = [measurement.calibration for measurement in found.measured if measurement.by in (JUDGE, RULES)]
    counts = Counter(record.metric for record in records)
    ambiguous = sorted(name for name, count in counts.items() if count > 1)
    if ambiguous:
        message = f"{', '.join(ambiguous)} was measured for several judges or rubrics (expected one, to be written)"
        raise InputError([Problem(path, None, "out", message, "E_JUDGE")])
    return write_calibrations(path, records, to_builtins(found))


@dataclass(frozen=True)
class _LabelledMetric:
    """One metric with its human labels."""

    metric: str
    scales: Scales
    labels: Sequence[Label]
    run: ScoreRun | None
    seed: int
    notes: list[str]

    @property
    def scale(self) -> Mapping[str, float | None]:
        return self.scales[self.metric.partition("(")[0]]

    def measure(self, scorer: Instrument) -> Measured | None:
        """Return how well a scorer agrees with the human labels; None if they have no item in common."""
        opinions = scorer.opinions.get(self.metric, {})
        question = Question(
            self.metric,
            instrument_name(self.metric, scorer.by),
            scorer.by,
            scorer.digest,
            scorer.rubric_hash(self.metric),
            self.scale,
            golden_digest(self.run.golden) if self.run is not None else "",
            labels_digest(self.labels),
            scorer.name,
        )
        if scorer.by != RULES:
            measurement = measured(question, self.labels, opinions, self._lengths(), self._slices(), seed=self.seed)
            if measurement is None or scorer.anchors is None:
                return measurement
            record = structs.replace(measurement.calibration, anchors=scorer.anchors)
            return structs.replace(measurement, calibration=record)
        # Scores of the rules become probabilities by a curve (Platt scaling) that is fitted to the same labels.
        values, curve = valued(opinions, self._passed(), self.seed)
        if curve is not None and not curve.held_out:
            self.notes.append(f"{question.name}: too few labels to test its curve on labels that it was not fitted to")
        platt = {"slope": curve.slope, "intercept": curve.intercept} if curve is not None else None
        return measured(question, self.labels, values, self._lengths(), self._slices(), platt, self.seed)

    def compare_judges(self, scorers: Sequence[Instrument]) -> Iterator[Difference]:
        """Yield the difference of every two judges or rubrics on the same labels."""
        passed = self._passed()
        judges = [scorer for scorer in scorers if scorer.by == JUDGE]
        for first, second in combinations(judges, 2):
            first_values = values_of(first.opinions.get(self.metric, {}), self.scale)
            second_values = values_of(second.opinions.get(self.metric, {}), self.scale)
            judge_difference = difference((first.name, second.name), passed, first_values, second_values, self.seed)
            if judge_difference is not None:
                yield judge_difference

    def _passed(self) -> dict[Key, bool]:
        majority_labels, _ = truths(self.labels, self.scale)
        return {key: label.passed for key, label in majority_labels.items()}

    def _lengths(self) -> dict[tuple[str, str], int]:
        """Return the length of each labelled answer in characters, by case and configuration."""
        lengths: dict[tuple[str, str], int] = {}
        for label in self.labels:
            config_id = label.config_id or ""
            observation = self.run.observation(config_id, label.case_id) if self.run is not None else None
            if observation is not None and isinstance(observation.answer, str):
                lengths[label.case_id, config_id] = len(observation.answer)
        return lengths

    def _slices(self) -> dict[str, set[str]]:
        """Return the case ids of every slice of the golden set."""
        if self.run is None:
            return {}
        cases = self.run.golden.cases
        return {name: {cases[row].id for row in rows.tolist()} for name, rows in slice_rows(cases).items()}


def _judge_scorers(run: ScoreRun, wanted: Calibrating, metrics: Sequence[str], notes: list[str]) -> list[Instrument]:
    """Return every judge of every verdict store, with the rubrics of the run (else the built-in ones) and with those of
    the folders.

    The latter only for metrics whose rubric differs: with the same rubric it is the same scorer.
    """
    run_rubrics, folder_rubrics = rubrics_of(run), rubrics_of(run, wanted.rubrics)
    metrics_with_other_rubric = [
        metric for metric in metrics if _rubric_hash(folder_rubrics, metric) != _rubric_hash(run_rubrics, metric)
    ]
    folder_suffix = " ".join(f"with {Path(folder).name}" for folder in wanted.rubrics)
    variants = ((run_rubrics, "", metrics), (folder_rubrics, folder_suffix, metrics_with_other_rubric))
    scorers = []
    for judge_name, judging in _open_stores(run, wanted, notes):
        for rubrics, suffix, metrics_to_read in variants:
            scorer_name = " ".join(filter(None, (judge_name, suffix))) or JUDGE
            scorers.append(of_judge(run, scorer_name, replace(judging, rubrics=rubrics), metrics_to_read))
    return [scorer for scorer in scorers if any(scorer.opinions.values())]


def _open_stores(run: ScoreRun, wanted: Calibrating, notes: list[str]) -> Iterator[tuple[str, Judging]]:
    """Yield the verdicts of each judge, with its name, from the named verdict stores, else from that of the run."""
    if not wanted.verdicts and run.judging is not None and run.judging.book:
        yield "", run.judging
    for path in wanted.verdicts:
        for judge in wanted.judges or (None,):
            judging, warnings = judging_of(path, judge, rubrics_of(run))
            notes += [warning for warning in warnings if warning not in notes]
            store_suffix = f"in {Path(path).name}" if len(wanted.verdicts) > 1 else ""
            yield " ".join(filter(None, (judge, store_suffix))), judging


def _rubric_hash(rubrics: Rubrics, metric: str) -> str:
    return rubrics_hash(rubrics.values(), RUBRIC_OF[read_name(metric).base])


def _match_labels(labels: Sequence[Label], run: ScoreRun) -> tuple[list[Label], list[str]]:
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
        label_key = (label.source, label.rater, label.metric, *key_of(matching[-1]))
        if label_key in label_keys:
            duplicates[f"{label.case_id} by {label.rater}"] = None
        label_keys.add(label_key)
    if duplicates:
        listed = ", ".join(list(duplicates)[:5])
        message = f"one item labelled twice by one rater (got {listed}; expected one label of each)"
        raise InputError([Problem("", None, "case_id", message, "E_DUPLICATE_ID")])
    return matching, [f"left out: {count} {reason}" for reason, count in sorted(left_out.items())]


def _hash_answer(run: ScoreRun, config: str, case_id: str) -> str | None:
    observation = run.observation(config, case_id)
    if observation is None or not isinstance(observation.answer, str):
        return None
    return answer_hash(observation.answer)


def _find_disagreements(metric: str, scorers: Sequence[Instrument], scales: Scales) -> tuple[Disagreement, ...]:
    """Return the items on which the first judge and the rules differ widely, for human review."""
    scale = scales[metric.partition("(")[0]]
    by_rules = _opinions_of_first(scorers, RULES, metric)
    by_judge = _opinions_of_first(scorers, JUDGE, metric)
    return apart(by_rules, by_judge, values_of(by_rules, scale), values_of(by_judge, scale))


def _opinions_of_first(scorers: Sequence[Instrument], by: str, metric: str) -> Mapping[Key, Opinion]:
    """Return the labels of the first scorer of a kind that labelled the metric; empty if there is none."""
    return next((scorer.opinions[metric] for scorer in scorers if scorer.by == by and metric in scorer.opinions), {})


def _nothing_to_measure(human_labels: Sequence[Label], scorers: Sequence[Instrument], metrics: Sequence[str]) -> str:
    """Return the message for a calibration without a single item that has both kinds of labels."""
    if not human_labels:
        return "nothing to measure: no human label"
    count = sum(len(opinions) for scorer in scorers for opinions in scorer.opinions.values())
    return (
        f"nothing to measure: {len(human_labels)} human labels for {', '.join(metrics)} and {count} labels of scorers "
        "have no item in common"
    )
