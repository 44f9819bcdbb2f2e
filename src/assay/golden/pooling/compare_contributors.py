"""How far configurations decide by which nuggets they are scored: each is scored by what the others alone would give.

Leaving one contributor out is how TREC tests whether a pool is fair to a system that did not contribute to it.
Source: J. Zobel (1998), "How reliable are the results of large-scale information retrieval experiments?", SIGIR.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from msgspec.structs import replace

from assay.golden.pooling.nugget_rules import Circularity, OwnInfluence
from assay.metrics.answers.nuggets import NUGGET_METRICS_BY_RULES
from assay.records.golden_set import GoldenSet, Nugget
from assay.records.observations import Observation
from assay.records.requests import ScoreRequest, ScoringOptions
from assay.records.scores import SCORED
from assay.runs.score_inputs import ScoreInputs
from assay.runs.score_run import score_observations

STRICT_OF_ALL = NUGGET_METRICS_BY_RULES[2]
NuggetsByCase = Mapping[str, tuple[Nugget, ...]]


class NuggetsOfOthers(NamedTuple):
    """What all configurations but one would have given, and how many nuggets come from chunks of that one alone."""

    nuggets: NuggetsByCase
    own: int


ScoresByConfig = dict[str, dict[str, float]]


def measure_circularity(
    golden: GoldenSet, nuggets: NuggetsByCase, by_others: Mapping[str, NuggetsOfOthers], rows: Sequence[Observation]
) -> Circularity:
    """Return the influence of each configuration on its own score, by rules.

    `by_others` holds for each configuration the nuggets that the others alone would have given.
    """
    if len(by_others) < 2:
        return Circularity()
    scores = score_nuggets(golden, nuggets, rows)
    scores_by_others = {config: score_nuggets(golden, kept.nuggets, rows) for config, kept in by_others.items()}
    influences = []
    for config, kept in sorted(by_others.items()):
        before, after = scores.get(config, {}), scores_by_others[config].get(config, {})
        shared = sorted(before.keys() & after.keys())
        means = (_mean(before, shared), _mean(after, shared))
        influences.append(OwnInfluence(config, len(shared), *means, kept.own))
    return Circularity(tuple(influences), tuple(_list_turned_pairs(scores, scores_by_others)))


def _list_turned_pairs(scores: ScoresByConfig, scores_by_others: Mapping[str, ScoresByConfig]) -> list[tuple[str, str]]:
    """Return the pairs whose order changes, each scored without its own nuggets, on the cases that can tell."""
    turned = []
    for first, second in combinations(sorted(scores_by_others), 2):
        columns = (
            scores.get(first, {}),
            scores.get(second, {}),
            scores_by_others[first].get(first, {}),
            scores_by_others[second].get(second, {}),
        )
        shared = sorted(set.intersection(*(set(column) for column in columns)))
        means = [_mean(column, shared) for column in columns]
        if None not in means:
            one, other, one_by_others, other_by_others = (value or 0.0 for value in means)
            if (one - other) * (one_by_others - other_by_others) < 0:
                turned.append((first, second))
    return turned


def score_nuggets(golden: GoldenSet, nuggets: NuggetsByCase, rows: Sequence[Observation]) -> ScoresByConfig:
    """Return the strict share of all nuggets, by configuration and case."""
    cases = tuple(replace(case, nuggets=nuggets[case.id]) for case in golden.cases if nuggets.get(case.id))
    if not cases:
        return {}
    names = {case.id for case in cases}
    request = ScoreRequest(scoring=ScoringOptions(metrics=[STRICT_OF_ALL], with_variants=True))
    inputs = ScoreInputs.from_golden(replace(golden, cases=cases), request)
    run = score_observations(inputs, [row for row in rows if row.case_id in names])
    scores: ScoresByConfig = {}
    for config, result in run.scoring.configs.items():
        column = result.table.columns[STRICT_OF_ALL]
        values = zip(result.table.case_ids, column.values.tolist(), column.status.tolist(), strict=True)
        scores[config] = {case: value for case, value, status in values if status == SCORED}
    return scores


def _mean(scores: Mapping[str, float], cases: Sequence[str]) -> float | None:
    return math.fsum(scores[case] for case in cases) / len(cases) if cases else None
