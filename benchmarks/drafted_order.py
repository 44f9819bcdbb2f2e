"""Whether a drafted set orders configurations as the hand-made cases do: `python -m benchmarks.drafted_order`.

The handbook in its three configurations, and with each fault of its retrieval, context, answers and access (or with
those named on the command line), is asked the 41 hand-made cases and the candidates that `golden draft` makes of its
corpus without a model, tried on one target.
A pair is separated by the hand-made cases if the paired difference of a metric has a p-value below 0.05; the drafted
set agrees if its difference has the same sign, and confirms if its own p-value is below 0.05 too. Candidates are as
drafted: no person has read them.

Hand-made labels name chunks by id alone, drafted ones have their quotes too: of a system with other chunks
(`chunking:merge-sections`) they say different things.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from examples.handbook.app.faults import FAULTS
from examples.handbook.app.pipeline import CONFIGS, HYBRID_RERANK, Handbook

from assay import api
from assay.formats.golden_files import load_golden
from assay.golden.drafting.draft_cases import DraftRequest, draft_file
from assay.records.golden_set import GoldenSet
from assay.stats.intervals import wilson_interval

GOLDEN = "examples/handbook/golden/handbook.jsonl"
CORPUS = "examples/handbook/corpus/chunks.jsonl"
TRIED_ON = "examples.handbook:hybrid_rerank"
AT, AS_OF = "2026-11-23T08:00:00+00:00", "2026-03-15"
METRICS = ("recall@5", "rr@10", "context_recall", "behaviour", "denial_accuracy")
LEVEL = 0.05


class System(NamedTuple):
    """One configuration of the handbook with the faults that are switched on."""

    config: str
    faults: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The configuration, or its fault."""
        return self.faults[0] if self.faults else self.config


class OrderedPair(NamedTuple):
    """A pair that the hand-made cases separate on a metric: both differences, and the p-value of the drafted set."""

    metric: str
    first: str
    second: str
    by_hand: float
    drafted: float
    drafted_p: float

    @property
    def agrees(self) -> bool:
        """Whether both differences have the same sign."""
        return self.by_hand * self.drafted > 0


def list_systems(faults: Sequence[str] | None = None) -> list[System]:
    """Return the clean configurations, and one of them with each fault."""
    names = sorted(FAULTS) if faults is None else faults
    return [System(config) for config in CONFIGS] + [System(HYBRID_RERANK, (fault,)) for fault in names]


def draft_set() -> tuple[GoldenSet, float]:
    """Return the candidates that templates and one target leave, and the seconds that it took."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "candidates.jsonl")
        draft_file(DraftRequest(CORPUS, AT, (TRIED_ON,), out=out, as_of=AS_OF))
        return load_golden(out).golden, time.perf_counter() - begin


def score_systems(systems: Sequence[System], golden: GoldenSet) -> dict[str, api.ScoreResult]:
    """Return the scores of each system on a golden set by its name."""
    corpus = api.load_corpus(CORPUS)
    results = {}
    for system in systems:
        target = Handbook(system.config, system.faults)
        results[system.name] = api.run(target.ask, golden, corpus=corpus, metrics=METRICS, name="system")
    return results


def compare_pairs(
    by_hand: dict[str, api.ScoreResult], drafted: dict[str, api.ScoreResult]
) -> tuple[list[OrderedPair], int]:
    """Return the pairs that the hand-made cases separate, and how many comparisons there were."""
    pairs, compared = [], 0
    for first, second in combinations(by_hand, 2):
        own = api.compare(by_hand[first], by_hand[second]).metrics
        other = api.compare(drafted[first], drafted[second]).metrics
        for metric in METRICS:
            compared += 1
            change, drafted_change = own.get(metric), other.get(metric)
            if change is None or change.gain is None or change.p is None or change.p >= LEVEL:
                continue
            difference = drafted_change.gain if drafted_change is not None else None
            p_value = drafted_change.p if drafted_change is not None else None
            pair = OrderedPair(
                metric, first, second, change.gain, difference or 0.0, 1.0 if p_value is None else p_value
            )
            pairs.append(pair)
    return pairs, compared


def describe(count: int, total: int) -> str:
    """Return a share with its interval."""
    bounds = wilson_interval(count, total)
    return f"{count}/{total} = {count / total:.3f} [{bounds.low:.3f}, {bounds.high:.3f}]"


def main(faults: Sequence[str] | None = None) -> None:
    """Print every pair that the hand-made cases separate, and how many the drafted set orders as they do."""
    golden, seconds = draft_set()
    print(f"{len(golden.cases)} candidates drafted and tried on {TRIED_ON} in {seconds:.1f} s")
    systems = list_systems(faults)
    by_hand = score_systems(systems, load_golden(GOLDEN).golden)
    pairs, compared = compare_pairs(by_hand, score_systems(systems, golden))
    for pair in pairs:
        verdict = "agrees" if pair.agrees else "no difference" if not pair.drafted else "DISAGREES"
        numbers = f"by hand {pair.by_hand:+.3f}, drafted {pair.drafted:+.3f} (p {pair.drafted_p:.3f})"
        print(f"{pair.metric}: {pair.first} → {pair.second}: {numbers}: {verdict}")
    agreeing = [pair for pair in pairs if pair.agrees]
    confirmed = sum(pair.drafted_p < LEVEL for pair in agreeing)
    opposed = sum(pair.by_hand * pair.drafted < 0 for pair in pairs)
    against = sum(pair.by_hand * pair.drafted < 0 and pair.drafted_p < LEVEL for pair in pairs)
    print(f"{len(pairs)} of {compared} comparisons of {len(systems)} systems are separated by the hand-made cases")
    for metric in METRICS:
        own = [pair for pair in pairs if pair.metric == metric]
        if own:
            print(f"{metric}: ordered as by hand {describe(sum(pair.agrees for pair in own), len(own))}")
    print(f"ordered as by hand: {describe(len(agreeing), len(pairs))}; {confirmed} of them with p < {LEVEL}")
    print(f"the other way round: {opposed}, of them with p < {LEVEL}: {against}")
    clean = [pair for pair in pairs if {pair.first, pair.second} <= set(CONFIGS)]
    print(f"of the clean configurations: {sum(pair.agrees for pair in clean)} of {len(clean)}")


if __name__ == "__main__":
    main(sys.argv[1:] or None)
