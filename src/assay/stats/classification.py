"""Confusion tables, and how well the observed labels agree with the expected ones.

A confusion table is a square integer array: rows are the expected labels (or the first rater), columns the observed
labels (or the second rater). Undefined values are None, never 0 or 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from assay.stats.arrays import ConfusionTables


def tabulate_confusion(
    expected: Sequence[Hashable], observed: Sequence[Hashable], labels: Sequence[Hashable]
) -> ConfusionTables:
    """Return the confusion table of two aligned label sequences, shape (len(labels), len(labels)).

    Raises ValueError if the sequences differ in length or contain a label that is not in `labels`.

    >>> tabulate_confusion(["a", "a", "b"], ["a", "b", "b"], ["a", "b"]).tolist()
    [[1, 1], [0, 1]]
    """
    index_of = {label: index for index, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for row, column in zip(expected, observed, strict=True):
        if row not in index_of or column not in index_of:
            raise ValueError(f"label not listed (got {row!r}, {column!r}; expected one of {list(labels)!r})")
        table[index_of[row], index_of[column]] += 1
    return table


def compute_balanced_accuracy(table: ConfusionTables) -> float | None:
    """Return the mean recall over the expected classes that occur, in [0, 1]; None if none occurs.

    >>> round(compute_balanced_accuracy(np.array([[9, 1], [5, 15]])), 3)
    0.825
    """
    return compute_balanced_accuracies(table[np.newaxis])[0] if table.any() else None


def compute_balanced_accuracies(tables: ConfusionTables) -> list[float | None]:
    """Return the balanced accuracy of many confusion tables, each with at least one item.

    >>> compute_balanced_accuracies(np.array([[[9, 1], [5, 15]], [[3, 1], [0, 0]]]))
    [0.825, 0.75]
    """
    rows = tables.sum(axis=2)
    recalls = np.diagonal(tables, axis1=1, axis2=2) / np.maximum(rows, 1)
    return list((recalls.sum(axis=1) / (rows > 0).sum(axis=1)).tolist())
