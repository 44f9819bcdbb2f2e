"""Proofs that a level of trace cannot tell who is at fault: another world with the same trace and another fault.

Of a case that has such a twin at a level, no rule that reads traces of that level can name the right half in both
worlds. The other cases of the run may behave as in the first world, so that the rest of the run does not tell either.
A twin is built and its trace is compared, never assumed; a level that records what differs refutes it by itself:

- *open documents*: a sound system over documents that everybody may see. Where no roles are recorded, what is a leak in
  one world is a good answer in the other.
- *other texts*: the context has the same ids in the same order, and in one world its texts say what the answer says, so
  that the index is wrong and the generator is not, and in the other they are those of the documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from assay.records.golden_set import Corpus, GoldenSet
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation, Stage, find_stage
from benchmarks.attribution_levels import WITH_CORPUS, Level, reduce_trace

CONTENT_CAUSES = frozenset(("parser", "chunking", "generator", "golden_label_issue"))
"""Causes of an answer whose content is wrong although its evidence reached the generator."""


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
    required = {case.id: [unit.any_of for unit in case.evidence if unit.required] for case in golden.cases}
    twins = set()
    for observation in observations:
        context = find_stage(observation, CONTEXT_STAGE)
        units = required[observation.case_id]
        ids = {chunk.chunk_id for chunk in context.chunks} if context is not None else set()
        if not units or not all(any(str(item.get("chunk_id")) in ids for item in unit) for unit in units):
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
