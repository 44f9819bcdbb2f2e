"""The use case of calibration: labels and verdicts in; what each instrument is worth, and a file that says so, out."""

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
from assay.scoring.calibration import Calibrated, Measured, Question, measured
from assay.scoring.curve import valued
from assay.scoring.leanings import Difference, Disagreement, apart, difference
from assay.scoring.slices import slice_rows
from assay.scoring.truth import key_of, truths, values_of
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
    """What to calibrate: files of labels, books of verdicts, judges by name, folders of other rubrics, metrics.

    Several books, judges or rubrics are compared on the same labels. Without `verdicts` or `rubrics` those of the run
    count.
    """

    labels: Sequence[str]
    verdicts: Sequence[str] = ()
    judges: Sequence[str] = ()
    rubrics: Sequence[str] = ()
    metrics: Sequence[str] = ()
    seed: int = 0


def calibrate(run: ScoreRun | None, wanted: Calibrating) -> Calibrated:
    """Hold every instrument against the labels of people.

    Without a run only the second opinions among the labels can be measured. Raises InputError for bad files and labels
    of unknown cases, IncompleteError where no item has both a label and an opinion.
    """
    if wanted.verdicts and run is None:
        raise InputError("--verdicts: of which answers? (expected --run DIR, or --golden and --outputs)")
    if wanted.judges and not wanted.verdicts:
        raise InputError("--judge: whose verdicts? (expected --verdicts FILE as well)")
    scales = scales_of(rubrics_of(run, wanted.rubrics))
    read = [structs.replace(each, metric=label_metric(each.metric)) for each in load_labels(wanted.labels, scales)]
    labels, notes = _of_run(read, run) if run is not None else (list(read), [])
    people = [label for label in labels if label.source == PERSON]
    metrics = known_metrics(wanted.metrics or sorted({label.metric for label in people}), scales)
    instruments = of_tools([label for label in labels if label.source != PERSON])
    if run is not None:
        instruments = [*_judges(run, wanted, metrics, notes), of_rules(run, metrics), *instruments]
    found: list[Measured] = []
    differences: list[tuple[str, Difference]] = []
    for metric in metrics:
        given = [label for label in people if label.metric == metric]
        question = _Asked(metric, scales, given, run, wanted.seed, notes)
        found += [each for instrument in instruments if (each := question.measured(instrument)) is not None]
        differences += [(metric, each) for each in question.differences(instruments)]
    if not found:
        raise IncompleteError(_nothing(people, instruments, metrics))
    review = {metric: cases for metric in metrics if (cases := _to_review(metric, instruments, scales))}
    return Calibrated(
        golden_digest(run.golden) if run is not None else "",
        labels_digest(people),
        len(people),
        tuple(sorted({label.rater for label in people})),
        wanted.seed,
        tuple(found),
        tuple(differences),
        review,
        tuple(notes),
    )


def write_calibration(path: str, found: Calibrated) -> Path:
    """Write what was found as the file that scoring reads."""
    records = [each.calibration for each in found.measured if each.by in (JUDGE, RULES)]
    names = [record.metric for record in records]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        message = f"{', '.join(twice)} was measured for several judges or rubrics (expected one, to be written)"
        raise InputError([Problem(path, None, "out", message, "E_JUDGE")])
    return write_calibrations(path, records, to_builtins(found))


@dataclass(frozen=True)
class _Asked:
    """One metric with the labels that people gave for it."""

    metric: str
    scales: Scales
    labels: Sequence[Label]
    run: ScoreRun | None
    seed: int
    notes: list[str]

    @property
    def scale(self) -> Mapping[str, float | None]:
        return self.scales[self.metric.partition("(")[0]]

    def measured(self, instrument: Instrument) -> Measured | None:
        opinions = instrument.opinions.get(self.metric, {})
        question = Question(
            self.metric,
            instrument_name(self.metric, instrument.by),
            instrument.by,
            instrument.digest,
            instrument.rubric_hash(self.metric),
            self.scale,
            golden_digest(self.run.golden) if self.run is not None else "",
            labels_digest(self.labels),
            instrument.name,
        )
        if instrument.by != RULES:
            found = measured(question, self.labels, opinions, self._lengths(), self._slices(), seed=self.seed)
            if found is None or instrument.anchors is None:
                return found
            record = structs.replace(found.calibration, anchors=instrument.anchors)
            return structs.replace(found, calibration=record)
        truth, _ = truths(self.labels, self.scale)
        values, curve = valued(opinions, {key: each.passed for key, each in truth.items()}, self.seed)
        if curve is not None and not curve.held_out:
            self.notes.append(f"{question.name}: too few labels to try its curve on others than those it was fitted to")
        platt = {"slope": curve.slope, "intercept": curve.intercept} if curve is not None else None
        return measured(question, self.labels, values, self._lengths(), self._slices(), platt, self.seed)

    def differences(self, instruments: Sequence[Instrument]) -> Iterator[Difference]:
        """Yield each two judges or rubrics on the same labels."""
        truth, _ = truths(self.labels, self.scale)
        passed = {key: each.passed for key, each in truth.items()}
        judges = [each for each in instruments if each.by == JUDGE]
        for first, second in combinations(judges, 2):
            values = [values_of(each.opinions.get(self.metric, {}), self.scale) for each in (first, second)]
            found = difference((first.name, second.name), passed, values[0], values[1], self.seed)
            if found is not None:
                yield found

    def _lengths(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = {}
        for label in self.labels:
            place = label.case_id, label.config_id or ""
            seen = self.run.observation(place[1], place[0]) if self.run is not None else None
            if seen is not None and isinstance(seen.answer, str):
                found[place] = len(seen.answer)
        return found

    def _slices(self) -> dict[str, set[str]]:
        if self.run is None:
            return {}
        cases = self.run.golden.cases
        return {name: {cases[row].id for row in rows.tolist()} for name, rows in slice_rows(cases).items()}


def _judges(run: ScoreRun, wanted: Calibrating, metrics: Sequence[str], notes: list[str]) -> list[Instrument]:
    """Return every judge of every book, with the rubrics of the run (else the shipped ones) and those of the folders.

    Of the latter only for metrics whose rubric is another: the same one is the same instrument.
    """
    usual, own = rubrics_of(run), rubrics_of(run, wanted.rubrics)
    other = [metric for metric in metrics if _hash(own, metric) != _hash(usual, metric)]
    named = " ".join(f"with {Path(folder).name}" for folder in wanted.rubrics)
    found = []
    for name, judging in _books(run, wanted, notes):
        for rubrics, said, asked in ((usual, "", metrics), (own, named, other)):
            called = " ".join(filter(None, (name, said))) or JUDGE
            found.append(of_judge(run, called, replace(judging, rubrics=rubrics), asked))
    return [each for each in found if any(each.opinions.values())]


def _books(run: ScoreRun, wanted: Calibrating, notes: list[str]) -> Iterator[tuple[str, Judging]]:
    """Yield what each judge said with what to call it: in the books that are named, else in that of the run."""
    if not wanted.verdicts and run.judging is not None and run.judging.book:
        yield "", run.judging
    for path in wanted.verdicts:
        for judge in wanted.judges or (None,):
            judging, doubts = judging_of(path, judge, rubrics_of(run))
            notes += [doubt for doubt in doubts if doubt not in notes]
            where = f"in {Path(path).name}" if len(wanted.verdicts) > 1 else ""
            yield " ".join(filter(None, (judge, where))), judging


def _hash(rubrics: Rubrics, metric: str) -> str:
    return rubrics_hash(rubrics.values(), RUBRIC_OF[read_name(metric).base])


def _of_run(labels: Sequence[Label], run: ScoreRun) -> tuple[list[Label], list[str]]:
    """Return the labels of answers of this run, and what to say of the others. Raises InputError for unknown cases."""
    configs = sorted(run.scoring.configs)
    alone = configs[0] if len(configs) == 1 else None
    unknown = sorted({label.case_id for label in labels} - run.cases.keys())
    if unknown:
        message = f"labels of unknown cases (got {', '.join(unknown[:5])}; expected those of the golden set)"
        raise InputError([Problem("", None, "case_id", message, "E_CASE")])
    kept, left = [], Counter[str]()
    hashes: dict[tuple[str, str], str | None] = {}
    said: set[tuple[str, ...]] = set()
    twice: dict[str, None] = {}
    for label in labels:
        config = label.config_id or alone
        if config not in configs:
            left[f"labels of {config or 'no configuration'}, which the run does not have"] += 1
            continue
        place = config, label.case_id
        if place not in hashes:
            seen = run.observation(*place)
            hashes[place] = answer_hash(seen.answer) if seen is not None and isinstance(seen.answer, str) else None
        if label.answer_hash is not None and label.answer_hash != hashes[place]:
            left["labels of answers that are not those of the run"] += 1
            continue
        kept.append(structs.replace(label, config_id=config))
        once = (label.source, label.rater, label.metric, *key_of(kept[-1]))
        if once in said:
            twice[f"{label.case_id} by {label.rater}"] = None
        said.add(once)
    if twice:
        message = f"one item labelled twice by one rater (got {', '.join(list(twice)[:5])}; expected one label of each)"
        raise InputError([Problem("", None, "case_id", message, "E_DUPLICATE_ID")])
    return kept, [f"left out: {count} {what}" for what, count in sorted(left.items())]


def _to_review(metric: str, instruments: Sequence[Instrument], scales: Scales) -> tuple[Disagreement, ...]:
    """Return the items on which the first judge and the rules are far apart: for people to look at."""
    scale = scales[metric.partition("(")[0]]
    said = {
        by: next((e.opinions[metric] for e in instruments if e.by == by and metric in e.opinions), {})
        for by in (JUDGE, RULES)
    }
    return apart(said[RULES], said[JUDGE], values_of(said[RULES], scale), values_of(said[JUDGE], scale))


def _nothing(people: Sequence[Label], instruments: Sequence[Instrument], metrics: Sequence[str]) -> str:
    if not people:
        return "nothing to measure: no label of a person"
    said = sum(len(opinions) for each in instruments for opinions in each.opinions.values())
    return (
        f"nothing to measure: {len(people)} labels for {', '.join(metrics)} and {said} opinions of instruments have "
        "no item in common"
    )
