"""Calibrates a scorer against human labels, metric by metric: its accuracy, its bias and whether it may gate.

The labels of several raters are combined first: the majority decides, and items on which raters split evenly are left
out and counted. ADR 0031 says when a scorer may gate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from assay.metrics.correction import Sorting, sorting
from assay.metrics.rates import Estimate
from assay.scoring.agreement import (
    FAIL,
    PASS,
    Agreement,
    Estimated,
    Key,
    Scale,
    agreement,
    alpha,
    between_raters,
    passes,
)
from assay.scoring.corrected import Corrected, corrected
from assay.scoring.leanings import Consistency, Difference, Disagreement, Leaning, consistency, leaning, worst
from assay.scoring.standards import reasons_against
from assay.scoring.truth import Opinion, Truth, ratings, truths, values_of
from assay.verdict import Calibration, Label, Rate

RATED_TWICE = 30
PEOPLE = "people"
PASS_FAIL: Scale = {PASS: 1.0, FAIL: 0.0}


class Question(NamedTuple):
    """What is calibrated: a metric as people label it, the scorer, and what the calibration is bound to.

    `by` is `judge`, `rules` or the name of another tool, which never gates.
    """

    metric: str
    name: str
    by: str
    judge: str
    rubric_hash: str
    scale: Scale
    golden: str
    labels: str
    instrument: str = ""


class SliceFigures(Struct, frozen=True):
    """The agreement on one slice of the items that both people and the scorer judged."""

    n: int
    agreement: float
    sensitivity: Estimated | None
    specificity: Estimated | None
    leniency: float


class Measured(Struct, frozen=True):
    """Everything measured about one scorer and one metric by human labels."""

    calibration: Calibration
    by: str
    instrument: str
    labelled: int
    undecided: int
    unjudged: int
    raters: tuple[Agreement, ...]
    alpha: Estimated | None
    by_label: Agreement | None
    pass_fail: Agreement
    leaning: Leaning
    consistency: Consistency | None
    slices: dict[str, SliceFigures]
    worst: tuple[Disagreement, ...]
    corrected: dict[str, Corrected]
    notes: tuple[str, ...]


class Calibrated(Struct, frozen=True):
    """The result of a whole calibration.

    It holds the labels and golden set that it is bound to, the measurements of every scorer and metric, comparisons of
    judges or rubrics by metric, and the items for human review, on which judge and rules differ widely.
    """

    golden: str
    labels: str
    labelled: int
    raters: tuple[str, ...]
    seed: int
    measured: tuple[Measured, ...]
    differences: tuple[tuple[str, Difference], ...]
    review: dict[str, tuple[Disagreement, ...]]
    notes: tuple[str, ...]


def measured(
    question: Question,
    labels: Sequence[Label],
    opinions: Mapping[Key, Opinion],
    lengths: Mapping[tuple[str, str], int],
    slices: Mapping[str, Collection[str]],
    platt: dict[str, float] | None = None,
    seed: int = 0,
) -> Measured | None:
    """Measure a scorer by human labels; None if no item has a label of both.

    `lengths` are those of the answers by case and configuration, `slices` the case ids of each `key=value`.
    """
    scale = question.scale
    truth, undecided = truths(labels, scale)
    values = values_of(opinions, scale)
    keys = sorted(truth.keys() & values.keys())
    if not keys:
        return None
    rates, given = _sorting(keys, truth, values), ratings(labels)
    pass_fail = _pass_fail(question.by, keys, truth, values, seed)
    return Measured(
        calibration=_calibration(question, rates, given, len(keys), platt, _has_signal(opinions)),
        by=question.by,
        instrument=question.instrument or question.by,
        labelled=len(truth),
        undecided=undecided,
        unjudged=len(truth.keys() - values.keys()),
        raters=between_raters(given, scale, seed),
        alpha=alpha(given, scale, seed),
        by_label=_by_label(question, truth, opinions, seed),
        pass_fail=pass_fail,
        leaning=leaning([(key, truth[key].value, values[key]) for key in keys], lengths, seed),
        consistency=consistency({key: said.votes for key, said in opinions.items()}),
        slices=_slices(keys, truth, values, slices),
        worst=worst(keys, truth, values, opinions),
        corrected=corrected(truth, values, rates),
        notes=tuple(_notes(given, pass_fail, undecided)),
    )


def _pass_fail(
    by: str, keys: Sequence[Key], truth: Mapping[Key, Truth], values: Mapping[Key, float], seed: int
) -> Agreement:
    people = {key: PASS if truth[key].passed else FAIL for key in keys}
    instrument = {key: PASS if passes(values[key]) else FAIL for key in keys}
    found = agreement((PEOPLE, by), people, instrument, PASS_FAIL, seed)
    assert found is not None  # there is at least one key
    return found


def _by_label(
    question: Question, truth: Mapping[Key, Truth], opinions: Mapping[Key, Opinion], seed: int
) -> Agreement | None:
    """Return the agreement in labels; None if people or scorer gave only numbers."""
    people = {key: each.label for key, each in truth.items() if each.label is not None}
    said = {
        key: each.label for key, each in opinions.items() if each.label is not None and each.label in question.scale
    }
    return agreement((PEOPLE, question.by), people, said, question.scale, seed)


def _sorting(keys: Sequence[Key], truth: Mapping[Key, Truth], values: Mapping[Key, float]) -> Sorting:
    people = [float(truth[key].passed) for key in keys]
    return sorting(people, [float(passes(values[key])) for key in keys], [key[0] for key in keys])


def _calibration(
    question: Question,
    sorted_by: Sorting,
    ratings: Mapping[str, Mapping[Key, str]],
    n: int,
    platt: dict[str, float] | None,
    has_signal: bool,
) -> Calibration:
    sensitivity = _rate(sorted_by.sensitivity, sorted_by.passed)
    specificity = _rate(sorted_by.specificity, sorted_by.failed)
    reasons = reasons_against(question.by, n, sensitivity, specificity)
    if question.by == "rules" and has_signal and platt is None:
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
    )


def _rate(found: Estimate | None, n: int) -> Rate | None:
    return Rate(found.value, found.bounds.low, found.bounds.high, n) if found is not None else None


def _has_signal(opinions: Mapping[Key, Opinion]) -> bool:
    """Return whether the scorer gave raw numbers, which a curve must turn into probabilities."""
    return any(scorer_label.signal is not None for scorer_label in opinions.values())


def _slices(
    keys: Sequence[Key],
    truth: Mapping[Key, Truth],
    values: Mapping[Key, float],
    slices: Mapping[str, Collection[str]],
) -> dict[str, SliceFigures]:
    found = {}
    for name, cases in sorted(slices.items()):
        inside = [key for key in keys if key[0] in cases]
        if not inside:
            continue
        rates = _sorting(inside, truth, values)
        equal = sum(truth[key].passed == passes(values[key]) for key in inside)
        found[name] = SliceFigures(
            len(inside),
            equal / len(inside),
            Estimated.made(rates.sensitivity),
            Estimated.made(rates.specificity),
            sum(values[key] - truth[key].value for key in inside) / len(inside),
        )
    return found


def _notes(ratings: Mapping[str, Mapping[Key, str]], pass_fail: Agreement, undecided: int) -> list[str]:
    notes = []
    raters = len(ratings)
    counts: dict[Key, int] = {}
    for said in ratings.values():
        for key in said:
            counts[key] = counts.get(key, 0) + 1
    twice = sum(count > 1 for count in counts.values())
    if twice < RATED_TWICE:
        got = f"got {twice} by {raters} rater{'s' if raters != 1 else ''}"
        notes.append(f"few items were labelled twice ({got}; {RATED_TWICE} show how far people agree with each other)")
    if max(pass_fail.prevalence.values()) >= 0.9:
        notes.append("almost all labels are the same: raw agreement says little, read kappa and AC1")
    if undecided:
        notes.append(f"raters split evenly on {undecided} items, which are left out: let a third person decide")
    return notes
