"""Proofs that a level of trace cannot tell who is at fault: another world with the same trace and another fault.

Of a case that has such a twin at a level, no rule that reads traces of that level can name the right half (or, of a
twin of causes, the right cause) in both worlds. The other cases of the run may behave as in the first world, so that
the rest of the run does not tell either. A twin is built and its trace is compared, never assumed; a level that records
what differs refutes it by itself:

- *open documents*: a sound system over documents that everybody may see. Where no roles are recorded, what is a leak in
  one world is a good answer in the other.
- *other texts*: the context has the same ids in the same order, and in one world its texts say what the answer says, so
  that the index is wrong and the generator is not, and in the other they are those of the documents.
- *pairs*: two faults of the benchmark whose causes differ leave the same trace of a case. Both are run.

These exempt a case from the bars. Two more show that a level does not tell the cause, so that "insufficient trace" is
right, and exempt nothing:

- *other rankings*: in one world every list before the last ranking has the evidence first, so that the last step loses
  it, and in the other none has it, so that the searches miss it.
- *other documents*: the documents say what the index says, so that the labels are wrong, or they do not, so that the
  index is. Only a corpus records which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from assay.records.findings import RootCause
from assay.records.golden_set import Corpus, Evidence, GoldenSet
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation, Stage, find_stage
from benchmarks.attribution_levels import WITH_CORPUS, Level, reduce_trace

CONTENT_CAUSES = frozenset(("parser", "chunking", "stale_index", "context_builder", "generator", "golden_label_issue"))
"""Causes of an answer whose content may be wrong although its evidence reached the generator."""
_RANKING_CAUSES = frozenset(("embedding", "bm25_analyzer", "hybrid_merge", "reranker", "stale_index"))
_DOCUMENT_CAUSES = frozenset(("parser", "chunking", "stale_index", "golden_label_issue"))
HALVES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("parser", "chunking", "embedding", "bm25_analyzer", "hybrid_merge", "reranker"), "retrieval"),
        **dict.fromkeys(("context_builder", "stale_index"), "retrieval"),
        **dict.fromkeys(("generator", "citation"), "generation"),
        "acl": "access",
        **dict.fromkeys(("golden_label_issue", "judge_noise"), "measurement"),
    }
)
"""The half of the system that a cause is in, access and measurement apart."""


class SpoiledRun(NamedTuple):
    """The observations of a run with one fault, the cases that it spoiled, and its causes at a level."""

    observations: Sequence[Observation]
    spoiled: frozenset[str]
    causes: frozenset[RootCause]


def find_open_twins(
    observations: Sequence[Observation], open_runs: Iterable[Sequence[Observation]], level: Level
) -> frozenset[str]:
    """Return the cases whose trace is that of a sound system over documents that everybody may see.

    A level with a corpus records the roles of the documents, which differ between these worlds.
    """
    if level in WITH_CORPUS:
        return frozenset()
    twins = [{observation.case_id: reduce_trace(observation, level) for observation in run} for run in open_runs]
    return frozenset(
        observation.case_id
        for observation in observations
        if any(twin.get(observation.case_id) == reduce_trace(observation, level) for twin in twins)
    )


def find_text_twins(
    golden: GoldenSet, corpus: Corpus, observations: Sequence[Observation], level: Level
) -> frozenset[str]:
    """Return the cases whose evidence reached the generator, and whose trace two worlds with other texts have."""
    required = _list_required_units(golden)
    twins = set()
    for observation in observations:
        ids = _list_stage_ids(observation, CONTEXT_STAGE)
        units = required[observation.case_id]
        if not units or not all(_is_covered(unit, ids) for unit in units):
            continue
        index_twin = replace_texts(observation, dict.fromkeys(ids, str(observation.answer)))
        known_texts = {name: corpus.chunks[name].text or "" for name in ids if name in corpus.chunks}
        generator_twin = replace_texts(observation, known_texts)
        trace = reduce_trace(observation, level)
        if trace == reduce_trace(index_twin, level) == reduce_trace(generator_twin, level):
            twins.add(observation.case_id)
    return frozenset(twins)


def replace_texts(observation: Observation, texts: Mapping[str, str]) -> Observation:
    """Return an observation of an index that has other texts under the same ids, which the searches rank alike."""
    stages = tuple(
        Stage(
            stage.name,
            tuple(
                Chunk(chunk.chunk_id, chunk.score, text=texts.get(chunk.chunk_id, chunk.text)) for chunk in stage.chunks
            ),
        )
        for stage in observation.stages or ()
    )
    return replace(observation, stages=stages)


def find_pair_twins(runs: Mapping[str, SpoiledRun], level: Level) -> dict[str, frozenset[str]]:
    """Return for each fault the cases of which a fault in another half leaves the same trace."""
    by_trace: dict[bytes, list[tuple[str, frozenset[str]]]] = {}
    traces: dict[tuple[str, str], bytes] = {}
    for fault, run in runs.items():
        halves = frozenset(HALVES[cause] for cause in run.causes)
        for observation in run.observations:
            if observation.case_id in run.spoiled:
                trace = msgspec.json.encode(reduce_trace(observation, level))
                traces[fault, observation.case_id] = trace
                by_trace.setdefault(trace, []).append((fault, halves))
    twins: dict[str, set[str]] = {fault: set() for fault in runs}
    for (fault, case_id), trace in traces.items():
        own_halves = next(halves for name, halves in by_trace[trace] if name == fault)
        others = [halves for name, halves in by_trace[trace] if name != fault]
        # A fault of which no cause is right is in no half, so that it proves nothing of another's.
        if own_halves and any(halves and own_halves.isdisjoint(halves) for halves in others):
            twins[fault].add(case_id)
    return {fault: frozenset(cases) for fault, cases in twins.items()}


def find_cause_twins(
    golden: GoldenSet, observations: Sequence[Observation], level: Level, causes: frozenset[RootCause]
) -> frozenset[str]:
    """Return the cases of which a world with another cause has the same trace, by other rankings or documents."""
    twins = find_ranking_twins(golden, observations, level) if causes & _RANKING_CAUSES else frozenset[str]()
    if causes & _DOCUMENT_CAUSES and level not in WITH_CORPUS:
        twins |= {observation.case_id for observation in observations}
    return twins


def find_ranking_twins(golden: GoldenSet, observations: Sequence[Observation], level: Level) -> frozenset[str]:
    """Return the cases whose evidence is not in the last ranking, and whose trace two worlds with other lists before
    it have."""
    required = _list_required_units(golden)
    twins = set()
    for observation in observations:
        rankings = [stage.name for stage in observation.stages or () if stage.name != CONTEXT_STAGE]
        ids = _list_stage_ids(observation, rankings[-1]) if rankings else set()
        lost = [unit for unit in required[observation.case_id] if not _is_covered(unit, ids)]
        if not lost:
            continue
        evidence = [Chunk(str(unit.any_of[0].get("chunk_id"))) for unit in lost]
        dropped_twin = _replace_earlier_lists(observation, rankings[:-1], evidence, lost)
        missed_twin = _replace_earlier_lists(observation, rankings[:-1], (), lost)
        trace = reduce_trace(observation, level)
        if (
            trace == reduce_trace(dropped_twin, level) == reduce_trace(missed_twin, level)
            and dropped_twin != missed_twin
        ):
            twins.add(observation.case_id)
    return frozenset(twins)


def _replace_earlier_lists(
    observation: Observation, names: Sequence[str], first: Sequence[Chunk], lost: Sequence[Evidence]
) -> Observation:
    """Return an observation in whose earlier lists these chunks come first, and the lost units are nowhere else."""
    stages = []
    for stage in observation.stages or ():
        if stage.name in names:
            others = [chunk for chunk in stage.chunks if not any(_is_covered(unit, {chunk.chunk_id}) for unit in lost)]
            stages.append(replace(stage, chunks=(*first, *others)))
        else:
            stages.append(stage)
    return replace(observation, stages=tuple(stages))


def _list_required_units(golden: GoldenSet) -> dict[str, list[Evidence]]:
    return {case.id: [unit for unit in case.evidence if unit.required] for case in golden.cases}


def _list_stage_ids(observation: Observation, name: str) -> set[str]:
    stage = find_stage(observation, name)
    return {chunk.chunk_id for chunk in stage.chunks} if stage is not None else set()


def _is_covered(unit: Evidence, ids: set[str]) -> bool:
    return any(str(item.get("chunk_id")) in ids for item in unit.any_of)
