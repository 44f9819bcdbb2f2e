"""Marks scores that rest on nuggets which nobody accepted, and says what human labels on 30 cases would allow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec.structs import replace

from assay.metrics.answers.nuggets import NUGGET_METRICS_BY_JUDGE, NUGGET_METRICS_BY_RULES
from assay.metrics.catalog import parse_metric
from assay.metrics.template_columns import find_first_present
from assay.records.counts import format_count
from assay.records.golden_set import PEOPLE, Case
from assay.records.scores import ScoreTable
from assay.scoring.column_values import find_column
from assay.scoring.paired_scores import find_scored_rows
from assay.stats.arrays import BoolArray, FloatArray
from assay.stats.distributions import compute_t_quantile
from assay.stats.paired_tests import compute_detectable_difference

LABELLED_CASES = 30
"""The number of cases of which labels by people are considered."""
FEWEST_CASES = 10
"""The fewest scored cases from which the spread of a score is estimated."""
NO_LABELS = "NO LABELS"
VALUE_OF_LABELS = f"human labels on {LABELLED_CASES} cases"
"""What every line of `describe_value_of_labels` has."""
CIRCULAR = "circular, because the compared systems decide by what they retrieve and answer what counts"
_PREFERRED = (NUGGET_METRICS_BY_JUDGE[0], NUGGET_METRICS_BY_RULES[0])


def describe_unaccepted_nuggets(cases: Sequence[Case]) -> str:
    """Return the mark of a report whose nuggets were drafted and accepted by nobody; "" if there are none.

    >>> describe_unaccepted_nuggets([Case("a", "?")])
    ''
    """
    graders: set[str] = set()
    drafted = 0
    for case in cases:
        accepted = case.metadata.get("provenance", {})
        if isinstance(accepted, Mapping) and accepted.get("accepted_by"):
            continue
        of_case = {nugget.graded_by for nugget in case.nuggets} - {PEOPLE}
        drafted += bool(of_case)
        graders |= of_case
    if not drafted:
        return ""
    return (
        f"{NO_LABELS}: a first comparison, not a measurement: nobody accepted the nuggets of {drafted} of "
        f"{format_count(len(cases), 'case')}, which {', '.join(sorted(graders))} drafted from what the compared "
        f"systems retrieved; {CIRCULAR}"
    )


def mark_unaccepted_nuggets(tables: Mapping[str, ScoreTable], cases: Sequence[Case]) -> dict[str, ScoreTable]:
    """Return the tables with the mark among their notes, which every report and comparison shows."""
    mark = describe_unaccepted_nuggets(cases)
    if not mark:
        return dict(tables)
    return {config: replace(table, notes=(mark, *table.notes)) for config, table in tables.items()}


def describe_value_of_labels(tables: Mapping[str, ScoreTable], cases: Sequence[Case]) -> list[str]:
    """Return what human labels on 30 cases would allow, as lines: the width of intervals, and of differences.

    The spread of the drafted scores stands for that of the labels, which nobody knows yet. Nothing without a mark.
    """
    if not describe_unaccepted_nuggets(cases):
        return []
    lines = []
    scores = {config: _read_scores(table) for config, table in sorted(tables.items())}
    for config, (values, scored) in scores.items():
        if np.count_nonzero(scored) >= FEWEST_CASES:
            half = compute_t_quantile(0.975, LABELLED_CASES - 1) * _compute_spread(values[scored])
            half /= math.sqrt(LABELLED_CASES)
            lines.append(f"{config}: {VALUE_OF_LABELS} would state nuggets to about ±{half:.2f}")
    for first, second in combinations(scores, 2):
        lines += _describe_pair(first, second, scores[first], scores[second])
    return lines


def _describe_pair(
    first: str, second: str, before: tuple[FloatArray, BoolArray], after: tuple[FloatArray, BoolArray]
) -> list[str]:
    paired = before[1] & after[1]
    if np.count_nonzero(paired) < FEWEST_CASES:
        return []
    differences = after[0][paired] - before[0][paired]
    least = compute_detectable_difference(_compute_spread(differences), LABELLED_CASES)
    if least is None:
        return []
    drafted = abs(math.fsum(differences) / len(differences))
    claim = "one as large as the drafted" if drafted >= least else "none as small as the drafted"
    return [
        f"{first} and {second}: with {VALUE_OF_LABELS} a difference of {least:.2f} or more "
        f"would be significant in 4 of 5 tries, {claim} {drafted:.2f}"
    ]


def _read_scores(table: ScoreTable) -> tuple[FloatArray, BoolArray]:
    name = find_first_present(_PREFERRED, table.columns)
    column = find_column(table, parse_metric(name)) if name is not None else None
    if column is None:
        return np.zeros(len(table.case_ids)), np.zeros(len(table.case_ids), dtype=np.bool_)
    return column.values, find_scored_rows(column)[0]


def _compute_spread(values: FloatArray) -> float:
    """Return the standard deviation of values; without any spread, that of one value in n at the other end."""
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values.tolist())
    if not squares:
        share = 1 / (len(values) + 1)
        return math.sqrt(share * (1 - share))
    return math.sqrt(squares / (len(values) - 1))
