"""Traces at four levels of detail, and the attribution of each, for `benchmarks.attribution`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from msgspec.structs import replace

from assay.attribution.attribute_run import attribute_run
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.records.findings import Attribution, RootCause
from assay.records.golden_set import Corpus, GoldenSet
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation, Stage
from assay.records.requests import ScoreRequest, ScoringOptions
from assay.runs.score_inputs import ScoreInputs
from assay.runs.score_run import score_observations
from assay.scoring.attribution_settings import JUDGE_METRIC
from benchmarks.depot.faults import LEVELS as LEVELS
from benchmarks.depot.faults import Level as Level

Part = Literal[
    "known",
    "untouched",
    "later",
    "second later",
    "third later",
    "fourth later",
    "fourth later, aside",
    "fifth later",
    "sixth later",
]
PARTS: tuple[Part, ...] = get_args(Part)
"""Faults that rules were developed on, those that were kept aside, those that were written after the first rules and
looked at since, those that were written next, those of a third application, written after these and scored once, two
halves of more faults of that application, of which one was kept aside, the last ones of it, and those of the depot that
were written when the rules of ADR 0149 were frozen."""
READ_PARTS: tuple[Part, ...] = (
    "known",
    "later",
    "second later",
    "third later",
    "fourth later",
    "fourth later, aside",
)
"""The parts whose faults may be looked at one by one while rules are developed."""
WITH_CORPUS: tuple[Level, ...] = ("everything", "stages+corpus")
METRICS = ("recall@10", "answer_similarity", "completeness(by=rules)")


@dataclass(frozen=True)
class FaultyRun:
    """One fault of one application at one level of trace.

    `affected` are the attributions of the cases that it spoiled, `spared` those of cases that are still good. `causes`
    are right. `untellable` are cases of which a world in which another half is at fault has the same trace at this
    level (`benchmarks.attribution_twins`), and `ambiguous` those of which a world with another cause has: of these
    "insufficient trace" is right as well.
    """

    application: str
    fault: str
    level: Level
    causes: frozenset[RootCause]
    part: Part
    affected: tuple[Attribution, ...]
    spared: tuple[Attribution, ...]
    untellable: frozenset[str] = frozenset()
    ambiguous: frozenset[str] = frozenset()

    @property
    def tellable(self) -> tuple[Attribution, ...]:
        """The attributions of the spoiled cases that have no twin at this level."""
        return tuple(item for item in self.affected if item.case_id not in self.untellable)

    def may_be_insufficient(self, case_id: str) -> bool:
        """Return whether it is proven of a case that its trace does not tell the cause, or no cause is right."""
        return not self.causes or case_id in self.untellable or case_id in self.ambiguous


def attribute_trace(
    golden: GoldenSet,
    corpus: Corpus,
    observations: Sequence[Observation],
    level: Level,
    judging: RecordedVerdicts | None = None,
) -> dict[str, Attribution]:
    """Return the attributions of observations of which only what a level has is recorded."""
    metrics = (*METRICS, *((JUDGE_METRIC,) if judging is not None else ()))
    request = ScoreRequest(scoring=ScoringOptions(metrics=metrics))
    shown = corpus if level in WITH_CORPUS else None
    reduced = [reduce_trace(observation, level) for observation in observations]
    inputs = ScoreInputs.from_golden(golden, request, corpus=shown, judging=judging)
    return attribute_run(score_observations(inputs, reduced), observations[0].config_id)


def reduce_trace(observation: Observation, level: Level) -> Observation:
    """Return an observation with what a level records.

    Without texts, stages are lists of ids. The minimal level has the last ranking as `retrieved`, and the context, both
    with texts, and nothing else that happened before the answer.
    """
    if level == "everything":
        return observation
    stages = observation.stages or ()
    if level == "minimal":
        rankings = [stage for stage in stages if stage.name != CONTEXT_STAGE]
        contexts = [stage for stage in stages if stage.name == CONTEXT_STAGE]
        named = [replace(stage, name="retrieved") for stage in rankings[-1:]] + contexts
        return replace(observation, query_rewrite=None, stages=tuple(_reduce(stage, texts=True) for stage in named))
    return replace(observation, query_rewrite=None, stages=tuple(_reduce(stage, texts=False) for stage in stages))


def _reduce(stage: Stage, *, texts: bool) -> Stage:
    chunks = tuple(Chunk(chunk.chunk_id, text=chunk.text if texts else None) for chunk in stage.chunks)
    return Stage(stage.name, chunks)
