"""How far raters, or a scorer and people, agree on the same items: coefficients with bootstrap intervals.

The coefficients themselves are in `stats/agreement.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from assay.stats.agreement import (
    KappaWeights,
    compute_ac1s,
    compute_alpha_of_coincidences,
    compute_cohen_kappa,
    compute_gwet_ac1,
    compute_kappas,
    compute_raw_agreement,
    count_coincidences,
    make_credit_matrix,
)
from assay.stats.arrays import ConfusionTables
from assay.stats.bootstrap import bootstrap_interval, draw_cases, interval_of_draws
from assay.stats.classification import compute_balanced_accuracies, compute_balanced_accuracy, tabulate_confusion
from assay.stats.intervals import Bounds, Estimate, wilson_interval

ItemKey = tuple[str, str, str]
"""What was labelled: case, configuration, item ("" for the whole answer)."""
LabelScale = Mapping[str, float | None]
"""The labels of a metric, each with the number that code makes of it."""

PASS, FAIL = "pass", "fail"
PASS_ABOVE = 0.5
"""A value above the middle anchor passes."""


class ReportedEstimate(Struct, frozen=True, omit_defaults=True):
    """A number with its 95% interval; `low` and `high` are None if it has no interval."""

    value: float
    low: float | None = None
    high: float | None = None
    method: str = ""
    note: str = ""

    @classmethod
    def from_estimate(cls, estimate: Estimate | None) -> ReportedEstimate | None:
        """Return an estimate as a record; None for none."""
        return None if estimate is None else cls.from_bounds(estimate.value, estimate.bounds)

    @classmethod
    def from_bounds(cls, value: float | None, bounds: Bounds | None) -> ReportedEstimate | None:
        """Return the number with its bounds; None for no number."""
        if value is None or bounds is None:
            return None if value is None else cls(value)
        return cls(value, bounds.low, bounds.high, bounds.method, bounds.note)


class RaterAgreement(Struct, frozen=True):
    """Two raters on the same items: `confusion` has the first one's labels in its rows, in the order of `labels`.

    `raw` is the share of equal labels, never to be read without `kappa`, `ac1` and `prevalence` (the share of each of
    the first rater's labels): with 95% of one label, 95% agreement is no agreement. `weighted` gives credit for near
    misses between ordered labels; None where labels have no order. `balanced_accuracy` takes the first as the truth.
    """

    first: str
    second: str
    n: int
    cases: int
    raw: float
    kappa: ReportedEstimate | None
    ac1: ReportedEstimate | None
    weighted: ReportedEstimate | None
    balanced_accuracy: ReportedEstimate | None
    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    prevalence: dict[str, float]


def is_pass(value: float) -> bool:
    """Return whether a value is a pass: above one half."""
    return value > PASS_ABOVE


def in_order(labels: LabelScale) -> tuple[tuple[str, ...], bool]:
    """Return the labels from worst to best, and whether that is an order: no two of the same worth, none without.

    >>> in_order({"right": 1.0, "wrong": 0.0, "partly": 0.5})
    (('wrong', 'partly', 'right'), True)
    """
    worth = list(labels.values())
    ordered = None not in worth and len(set(worth)) == len(worth)
    ranked = sorted(labels, key=lambda label: (labels[label] is not None, labels[label] or 0.0))
    return tuple(ranked), ordered


def compute_agreement(
    names: tuple[str, str],
    first: Mapping[ItemKey, str],
    second: Mapping[ItemKey, str],
    scale: LabelScale,
    seed: int = 0,
) -> RaterAgreement | None:
    """Return the agreement on the items that both raters labelled; None if there is none.

    Intervals resample whole cases, so that claims of one answer do not count as independent. Items are taken in the
    order of their keys, so that the order of files changes nothing.
    """
    keys = sorted(first.keys() & second.keys())
    if not keys:
        return None
    labels, ordered = in_order(scale)
    index_by_label = {label: index for index, label in enumerate(labels)}
    rows = np.array([index_by_label[first[key]] for key in keys], dtype=np.intp)
    columns = np.array([index_by_label[second[key]] for key in keys], dtype=np.intp)
    cases = [key[0] for key in keys]
    size = len(labels)
    table = tabulate_confusion(rows.tolist(), columns.tolist(), range(size))

    again = draw_cases(cases, seed=seed)
    tables = np.array([_counted(rows[chosen], columns[chosen], size) for chosen in again or ()])

    def estimated(
        value: float | None, values: Callable[[ConfusionTables], Iterable[float | None]]
    ) -> ReportedEstimate | None:
        if value is None or not again:
            return ReportedEstimate.from_bounds(value, None)
        bounds = interval_of_draws(values(tables), seed=seed)
        if bounds is not None and bounds.low == bounds.high == 1:
            bounds = bounds._replace(low=_bound_equal_labels(table, rows, cases, values), note=_EQUAL_LABELS_NOTE)
        return ReportedEstimate.from_bounds(value, bounds)

    shares = table.sum(axis=1) / len(keys)
    return RaterAgreement(
        *names,
        n=len(keys),
        cases=len(set(cases)),
        raw=compute_raw_agreement(table) or 0.0,
        kappa=estimated(_kappa(table, "none"), partial(compute_kappas, credit=make_credit_matrix(size, "none"))),
        ac1=estimated(compute_gwet_ac1(table), compute_ac1s) if size > 1 else None,
        weighted=estimated(
            _kappa(table, "quadratic"), partial(compute_kappas, credit=make_credit_matrix(size, "quadratic"))
        )
        if ordered and size > 2
        else None,
        balanced_accuracy=estimated(compute_balanced_accuracy(table), compute_balanced_accuracies),
        labels=labels,
        confusion=tuple(tuple(row) for row in table.tolist()),
        prevalence=dict(zip(labels, shares.tolist(), strict=True)),
    )


_PARTS = 1_000_000
"""Into how many parts an item is cut, so that a table of parts of items has whole numbers."""
_EQUAL_LABELS_NOTE = "no two labels differ, so no draw has any: the lower bound is that of the Wilson score"


def _bound_equal_labels(
    table: ConfusionTables,
    rows: npt.NDArray[np.intp],
    cases: Sequence[str],
    compute_values: Callable[[ConfusionTables], Iterable[float | None]],
) -> float:
    """Return the lower bound of a statistic of raters who agree everywhere.

    Of each label of the first rater as many items get other labels, all alike, as the Wilson score of its cases allows.
    """
    size = len(table)
    changed = table.astype(np.float64)
    for label in np.flatnonzero(table.sum(axis=1)).tolist():
        count = len({case for case, row in zip(cases, rows.tolist(), strict=True) if row == label})
        moved = (1 - wilson_interval(count, count).low) * changed[label, label]
        changed[label] += moved / max(size - 1, 1)
        changed[label, label] = table[label, label] - moved
    (value,) = compute_values(np.rint(changed * _PARTS).astype(np.intp)[np.newaxis])
    return value if value is not None else 0.0


def compute_alpha(
    ratings: Mapping[str, Mapping[ItemKey, str]], scale: LabelScale, seed: int = 0
) -> ReportedEstimate | None:
    """Return Krippendorff's alpha of all raters, with gaps; over the labels' worth where they have an order.

    None for fewer than two raters, or where no item has two labels.
    """
    labels, ordered = in_order(scale)
    keys = sorted({key for rater_labels in ratings.values() for key in rater_labels})
    keys = [key for key in keys if sum(key in rater_labels for rater_labels in ratings.values()) > 1]
    worth = {label: (scale[label] or 0.0) if ordered else float(rank) for rank, label in enumerate(labels)}
    coincidences = count_coincidences(
        [
            [worth[rater_labels[key]] if key in rater_labels else None for key in keys]
            for rater_labels in ratings.values()
        ]
    )

    def drawn(chosen: npt.NDArray[np.intp]) -> float | None:
        times = np.bincount(chosen, minlength=len(keys)).astype(np.float64)
        return compute_alpha_of_coincidences(
            coincidences.values, np.tensordot(times, coincidences.by_unit, axes=1), "interval" if ordered else "nominal"
        )

    value = drawn(np.arange(len(keys)))
    return ReportedEstimate.from_bounds(value, bootstrap_interval(drawn, [key[0] for key in keys], seed=seed))


def compute_pairwise_agreement(
    ratings: Mapping[str, Mapping[ItemKey, str]], scale: LabelScale, seed: int = 0
) -> tuple[RaterAgreement, ...]:
    """Return the agreement of every two raters that labelled the same items, in alphabetical order."""
    names: Sequence[str] = sorted(ratings)
    agreements = [
        compute_agreement((first, second), ratings[first], ratings[second], scale, seed)
        for index, first in enumerate(names)
        for second in names[index + 1 :]
    ]
    return tuple(agreement for agreement in agreements if agreement is not None)


def _kappa(table: ConfusionTables, weights: KappaWeights) -> float | None:
    kappa = compute_cohen_kappa(table, weights)
    return None if kappa is None else kappa.value


def _counted(rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp], size: int) -> npt.NDArray[np.intp]:
    return np.bincount(rows * size + columns, minlength=size * size).reshape(size, size)
