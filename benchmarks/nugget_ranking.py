"""Whether nuggets without labels rank systems as golden sets do, and what circularity does to them.

`python -m benchmarks.nugget_ranking [handbook] [depot]`. The handbook in its configurations and with each fault, and
the depot with each fault, answer the questions of their golden sets. Nuggets are drafted by rules from what all systems
retrieved and answered, and nobody reads them. The golden set (of the depot: what its builder knows, without Assay) says
which answers are right; a pair of systems is separated if McNemar's exact test over its cases has p < 0.05. Printed are
for each application

- how often nuggets order the separated pairs as the golden set does, pooled from all systems and from the two alone;
- what taking part is worth: the score of each system by all nuggets minus that by the nuggets of the others;
- of two alone, what is worth giving the nuggets oneself, and in how many pairs the order depends on who gives them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import mean
from typing import NamedTuple

from examples.handbook.app.pipeline import Handbook
from msgspec.structs import replace
from scipy.stats import kendalltau

from assay import api
from assay.formats.golden_files import load_golden
from assay.golden.pooling.compare_contributors import ScoresByConfig, score_nuggets
from assay.golden.pooling.nugget_rules import find_nuggets, pool_question
from assay.records.golden_set import Corpus, GoldenSet, Nugget
from assay.records.observations import Observation
from assay.stats.intervals import wilson_interval
from assay.stats.sign_flip_test import compute_mcnemar_p
from benchmarks.depot.documents import build_corpus
from benchmarks.depot.faults import FAULTS as DEPOT_FAULTS
from benchmarks.depot.pipeline import Depot, Parts
from benchmarks.depot.questions import build_golden
from benchmarks.depot.world import observe
from benchmarks.drafted_order import CORPUS, GOLDEN, list_systems

LEVEL = 0.05


class RecordedSystems(NamedTuple):
    """One application: its set, and of each system the observations and which answers are right."""

    name: str
    golden: GoldenSet
    corpus: Corpus
    rows: Mapping[str, Sequence[Observation]]
    right: Mapping[str, Mapping[str, bool]]


def record_handbook() -> RecordedSystems:
    """Return the handbook in its configurations and with each fault; its golden set says what is right."""
    golden, corpus = load_golden(GOLDEN).golden, api.load_corpus(CORPUS)
    rows, right = {}, {}
    asked = [case.id for case in golden.cases if case.behaviour == "answer"]
    for system in list_systems():
        result = api.run(Handbook(system.config, system.faults).ask, golden, corpus=corpus, name=system.name)
        rows[system.name] = [
            replace(case.observation, config_id=system.name) for case in result.cases if case.observation is not None
        ]
        failed = {case.case.id for case in result.failed}
        right[system.name] = {name: name not in failed for name in asked}
    return RecordedSystems("handbook", golden, corpus, rows, right)


def record_depot() -> RecordedSystems:
    """Return the depot sound and with each fault; what is right is told without Assay."""
    golden, rows, right = build_golden(), {}, {}
    asked = {case.id for case in golden.cases if case.behaviour == "answer"}
    for name, depot in (("sound", Depot()), *((n, Depot(f.damage(Parts()))) for n, f in DEPOT_FAULTS.items())):
        observations, good = observe(depot)
        rows[name] = [replace(row, config_id=name) for row in observations]
        right[name] = {case: is_good for case, is_good in good.items() if case in asked}
    return RecordedSystems("depot", golden, build_corpus(), rows, right)


def draft(world: RecordedSystems, systems: Sequence[str]) -> dict[str, tuple[Nugget, ...]]:
    """Return the nuggets of each question from what some systems retrieved and answered."""
    nuggets = {}
    for case in world.golden.cases:
        if case.behaviour == "answer":
            rows = [row for name in systems for row in world.rows[name] if row.case_id == case.id]
            pool = pool_question(case, rows, world.corpus, world.golden.as_of)
            nuggets[case.id] = find_nuggets(case, pool)
    return nuggets


def score(world: RecordedSystems, nuggets: Mapping[str, tuple[Nugget, ...]], systems: Sequence[str]) -> ScoresByConfig:
    """Return the share of nuggets that each answer states."""
    return score_nuggets(world.golden, nuggets, [row for name in systems for row in world.rows[name]])


def find_difference(scores: ScoresByConfig, first: str, second: str) -> float:
    """Return the mean difference of two systems over the cases that both have."""
    shared = sorted(scores.get(first, {}).keys() & scores.get(second, {}).keys())
    return math.fsum(scores[second][case] - scores[first][case] for case in shared) / len(shared) if shared else 0.0


def list_separated_pairs(world: RecordedSystems) -> list[tuple[str, str, float]]:
    """Return the pairs that right answers separate, with the difference of their shares."""
    pairs = []
    for first, second in combinations(world.rows, 2):
        one, other = world.right[first], world.right[second]
        lost = sum(one[case] and not other[case] for case in one)
        won = sum(other[case] and not one[case] for case in one)
        if compute_mcnemar_p(won, lost) < LEVEL:
            pairs.append((first, second, (won - lost) / len(one)))
    return pairs


def describe_order(title: str, differences: Sequence[tuple[float, float]]) -> str:
    """Return how many pairs have the same order, the other one, or none."""
    same = sum(true * drafted > 0 for true, drafted in differences)
    turned = sum(true * drafted < 0 for true, drafted in differences)
    bounds = wilson_interval(same, len(differences))
    share = f"{same}/{len(differences)} = {same / len(differences):.3f} [{bounds.low:.3f}, {bounds.high:.3f}]"
    return f"{title}: {share} as the golden set, {turned} the other way round, the others equal"


def measure(world: RecordedSystems) -> None:
    """Print what nuggets tell of one application."""
    systems = list(world.rows)
    nuggets = draft(world, systems)
    scores = score(world, nuggets, systems)
    means = {name: mean(scores[name].values()) for name in systems}
    shares = {name: mean(world.right[name].values()) for name in systems}
    drafted = sum(bool(found) for found in nuggets.values())
    print(f"## {world.name}: {len(systems)} systems, {len(nuggets)} questions, {drafted} of them with nuggets")
    tau = kendalltau([shares[name] for name in systems], [means[name] for name in systems]).statistic
    print(f"Kendall's tau-b of all systems, right answers and nuggets: {tau:.2f}")
    pairs = list_separated_pairs(world)
    pooled = [(true, find_difference(scores, first, second)) for first, second, true in pairs]
    print(describe_order(f"{len(pairs)} separated pairs, pooled from all systems", pooled))
    alone = []
    for first, second, true in pairs:
        of_two = score(world, draft(world, (first, second)), (first, second))
        alone.append((true, find_difference(of_two, first, second)))
    print(describe_order(f"{len(pairs)} separated pairs, pooled from the two alone", alone))
    biases, turned = [], 0
    for name in systems:
        without = score(world, draft(world, [other for other in systems if other != name]), systems)
        shared = sorted(scores[name].keys() & without[name].keys())
        biases.append(mean(scores[name][case] - without[name][case] for case in shared))
        for other in systems:
            if other != name:
                turned += find_difference(scores, other, name) * find_difference(without, other, name) < 0
    print(f"taking part among {len(systems)}: {mean(biases):+.4f} on average, at most {max(biases):+.4f}; ", end="")
    print(f"{turned} of {len(systems) * (len(systems) - 1)} orders turned")
    gains, harmed = [], 0
    for first, second, _ in pairs:
        both = score(world, draft(world, (first, second)), (first, second))
        own = [score(world, draft(world, (name,)), (first, second)) for name in (first, second)]
        differences = [find_difference(drafts, first, second) for drafts in (both, *own)]
        gains += [differences[0] - differences[1], differences[2] - differences[0]]
        harmed += differences[1] * differences[2] < 0
    print(f"two alone: who gives the nuggets gains {mean(gains):+.4f} on average, at most {max(gains):+.4f}; ", end="")
    print(f"in {harmed} of {len(pairs)} pairs the order depends on which of the two gives them")


def main() -> None:
    """Print what nuggets tell of both applications."""
    for name, record in (("handbook", record_handbook), ("depot", record_depot)):
        if not sys.argv[1:] or name in sys.argv[1:]:
            measure(record())


if __name__ == "__main__":
    main()
