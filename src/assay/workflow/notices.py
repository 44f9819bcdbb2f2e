"""Notices about rows of outputs that are not errors, counted by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from assay.graders.rows import Ranked, Rankings, Rows
from assay.graders.stages import CONTEXT
from assay.io.names import doubt_of
from assay.io.outputs.flaws import has_ties, rises
from assay.model import Observation, Usage

TOKENS_A_SECOND = 10_000
"""No model generates tokens faster: a higher rate means that latencies were given in seconds, not milliseconds."""

_is_doubtful_id = lru_cache(maxsize=65_536)(doubt_of)


def note_rows(rows: Rows, notices: Counter[str]) -> None:
    """Count everything suspicious about some rows, except for their rankings."""
    observations, stages = rows.observations, rows.stages
    unnamed_count = [row.config_id for row in observations].count("unknown")
    notices["rows without config_id, scored as configuration 'unknown'"] += unnamed_count
    foreign_count = len(_rows_not_retrieved(stages))
    notices["rows with a chunk in the context that no other stage returned (context_not_retrieved)"] += foreign_count
    cited = [row.citations for row in observations if row.citations]
    repeated_count = sum([len(set(citations)) < len(citations) for citations in cited])
    notices["rows that cite a chunk more than once (it counts once)"] += repeated_count
    misread_count = len({row for rankings in stages.values() for row in _rows_easily_misread(rankings)})
    notices["rows with ids easily misread: invisible characters, or mixed alphabets (E_ID_INVISIBLE)"] += misread_count
    for row in observations:
        if row.usage is not None and row.usage.end_to_end_ms is not None:
            _note_usage(row, row.usage, row.usage.end_to_end_ms, notices)


def note_rankings(observation: Observation, notices: Counter[str]) -> None:
    """Count the rankings that repeat a chunk, have equal scores, or scores that rise."""
    for stage in observation.stages or ():
        if len({chunk.chunk_id for chunk in stage.chunks}) < len(stage.chunks):
            notices[
                f"rankings of {stage.name} that repeat a chunk, which counts as relevant only once (duplicate_chunk)"
            ] += 1
        if has_ties(stage):
            notices[f"rankings of {stage.name} with equal scores: the order of the list counts"] += 1
        if rises(stage):
            notices[f"rankings of {stage.name} whose scores rise: taken as distances, the order counts"] += 1


def _rows_not_retrieved(stages: Mapping[str, Rankings]) -> list[int]:
    """Return the rows with a chunk in the context that none of their other stages returned."""
    context = stages[CONTEXT].ranked if CONTEXT in stages else {}
    others = [rankings.ranked for name, rankings in stages.items() if name != CONTEXT]
    rows = list(context)
    for ranked in reversed(others):  # mostly, the last ranking before the context has all of it
        rows = [row for row in rows if row not in ranked or not context[row].distinct <= ranked[row].distinct]
    return [
        row for row in rows if _has_unretrieved_chunk(context[row], [ranked[row] for ranked in others if row in ranked])
    ]


def _has_unretrieved_chunk(context: Ranked, others: Sequence[Ranked]) -> bool:
    return bool(others) and not context.distinct <= set[str]().union(*(ranked.distinct for ranked in others))


def _rows_easily_misread(rankings: Rankings) -> list[int]:
    if rankings.ascii:
        return []
    return [row for row, ranked in rankings.ranked.items() if any(map(_is_doubtful_id, ranked.ids))]


def _note_usage(observation: Observation, usage: Usage, end_to_end_ms: float, notices: Counter[str]) -> None:
    stage_times = [stage.latency_ms for stage in observation.stages or () if stage.latency_ms is not None]
    steps = usage.stage_ms
    total = sum(stage_times, sum(steps.values())) - steps.get("judge", 0.0)  # the judge's time is not the target's
    if total > end_to_end_ms + len(steps) + len(stage_times):  # each step may have been rounded up
        notices["rows whose end_to_end latency is less than the sum of its steps (do they overlap?)"] += 1
    if usage.completion_tokens and usage.completion_tokens * 1000 > TOKENS_A_SECOND * end_to_end_ms > 0:
        notices[f"rows with more than {TOKENS_A_SECOND} tokens a second (latency in seconds, not milliseconds?)"] += 1
