"""Encodes observations in the native format and in formats that hold less; what is lost is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from assay.errors import InputError, Problem, shown
from assay.graders.stages import find_stage
from assay.io.outputs.ragtrace import LISTS
from assay.model import Chunk, Observation, Stage

UNCHANGED_MEMBERS = ("repeat", "question", "query_rewrite", "answer", "citations", "tool_calls", "versions", "error")


def native_lines(observations: Iterable[Observation]) -> Iterator[bytes]:
    """Yield observations as native lines."""
    for observation in observations:
        yield msgspec.json.encode(observation) + b"\n"


def rag_trace_lines(observations: Iterable[Observation], lost: Counter[str]) -> Iterator[bytes]:
    """Yield observations as `rag-trace` lines; count in `lost` what the format cannot represent."""
    for observation in observations:
        yield msgspec.json.encode(_rag_trace_row(observation, lost)) + b"\n"


def _rag_trace_row(observation: Observation, lost: Counter[str]) -> dict[str, Any]:
    fields = msgspec.to_builtins(observation)  # without fields that have their default value
    row: dict[str, Any] = {"query_id": observation.case_id, "config_id": observation.config_id}
    row |= {name: fields[name] for name in UNCHANGED_MEMBERS if name in fields}
    if observation.answer is None:
        row["answer"] = None
    latency: dict[str, float] = {}
    for stage in observation.stages or ():
        if stage.name in LISTS:
            row[LISTS[stage.name]] = [_encode_chunk(chunk) for chunk in stage.chunks]
        elif not _is_merged_into_retrieved(stage, observation):
            lost[f"stages named {stage.name}"] += 1
        if stage.latency_ms is not None:
            latency[stage.name] = stage.latency_ms
    usage = observation.usage
    if usage is not None:
        latency |= usage.stage_ms | ({} if usage.end_to_end_ms is None else {"end_to_end": usage.end_to_end_ms})
        tokens = {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens, "context": usage.context_tokens}
        row |= {"tokens": {name: count for name, count in tokens.items() if count is not None}}
        row |= {} if usage.cost_usd is None else {"cost_usd": usage.cost_usd}
    if latency:
        row["latency_ms"] = latency
    if observation.behaviour is not None:
        row["expected_behavior_observed"] = observation.behaviour
    lost["sentences with their citations"] += len(observation.sentences or ())
    return row


def _encode_chunk(chunk: Chunk) -> Any:
    """Return a chunk as an object, or as its id if it has nothing else."""
    fields = msgspec.to_builtins(chunk)
    return chunk.chunk_id if fields.keys() == {"chunk_id"} else fields


def _is_merged_into_retrieved(stage: Stage, observation: Observation) -> bool:
    """Return whether the `retrieved` list contains this stage, so that reading restores it from the chunks' `stage`."""
    retrieved = next((other for other in observation.stages or () if other.name == "retrieved"), None)
    return retrieved is not None and stage.name in {chunk.stage for chunk in retrieved.chunks}


def trec_run_lines(observations: Iterable[Observation], config: str | None, lost: Counter[str]) -> Iterator[bytes]:
    """Yield the rankings of the `retrieved` stage of one configuration as a run; scores decrease by one per rank.

    Raises InputError for ids with blanks, and if there are several configurations and `config` names none.
    """
    problems: list[Problem] = []
    configs: dict[str, None] = {}
    for observation in observations:
        configs[observation.config_id] = None
        if config not in (None, observation.config_id):
            continue
        stage = find_stage(observation, "retrieved")
        lost["answers, citations, usage and other stages of a row"] += observation.answer is not UNSET
        if stage is None or not stage.chunks or observation.repeat:
            lost["rows without a ranking, with an empty one, or repeated"] += 1
            continue
        ids = list(dict.fromkeys(chunk.chunk_id for chunk in stage.chunks))
        lost["chunks that a ranking repeats"] += len(stage.chunks) - len(ids)
        for name in (observation.case_id, observation.config_id, *ids):
            if name.split() != [name]:
                message = f"blank inside an id (got {shown(name)}; expected none, because columns end at blanks)"
                problems.append(Problem("", None, "id", message, "E_ID"))
        case_id, tag = observation.case_id, observation.config_id
        yield "".join(
            f"{case_id} Q0 {chunk_id} {rank} {len(ids) - rank + 1} {tag}\n" for rank, chunk_id in enumerate(ids, 1)
        ).encode()
    if (config is None and len(configs) > 1) or (config is not None and config not in configs):
        message = f"a run holds one configuration (got {', '.join(configs)}; expected --config with one of them)"
        problems.append(Problem("", None, "config_id", message, "E_CONFIG"))
    if problems:
        raise InputError(problems)
