"""What people should know about a row of outputs without it being an error, each kind counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from assay.graders.row import Ranked, Row
from assay.graders.stages import CONTEXT
from assay.io.names import doubt_of
from assay.io.outputs.flaws import has_ties
from assay.model import Usage

TOKENS_A_SECOND = 10_000
"""No model writes faster: latencies that say so are seconds where milliseconds are meant."""

_doubtful = lru_cache(maxsize=65_536)(doubt_of)


def note_row(row: Row, notices: Counter[str], *, plain: bool) -> None:
    """Count everything odd about a row but its rankings; `plain` says that its ids are all ASCII."""
    observation, stages = row.observation, row.stages
    if observation.config_id == "unknown":
        notices["rows without config_id, scored as configuration 'unknown'"] += 1
    if CONTEXT in stages and len(stages) > 1 and not _is_retrieved(stages[CONTEXT].distinct, stages):
        notices["rows with a chunk in the context that no other stage returned (context_not_retrieved)"] += 1
    citations = observation.citations
    if citations and len(set(citations)) < len(citations):
        notices["rows that cite a chunk more than once (it counts once)"] += 1
    if observation.usage is not None:
        _note_usage(row, observation.usage, notices)
    if not plain and any(map(_is_doubtful, stages.values())):
        notices["rows with ids easily misread: invisible characters, or alphabets mixed (E_ID_INVISIBLE)"] += 1


def note_rankings(row: Row, notices: Counter[str]) -> None:
    """Count the rankings that repeat a chunk or have equal scores."""
    for name, ranked in row.stages.items():
        if len(ranked.distinct) < len(ranked.ids):
            notices[f"rankings of {name} that repeat a chunk, which is not relevant again (duplicate_chunk)"] += 1
        if has_ties(ranked.stage):
            notices[f"rankings of {name} with equal scores: the order of the list counts"] += 1


def _is_retrieved(context: set[str], stages: Mapping[str, Ranked]) -> bool:
    others = [ranked.distinct for name, ranked in stages.items() if name != CONTEXT]
    return context <= others[-1] or context <= set().union(*others)


def _is_doubtful(ranked: Ranked) -> bool:
    return not "".join(ranked.ids).isascii() and any(map(_doubtful, ranked.ids))


def _note_usage(row: Row, usage: Usage, notices: Counter[str]) -> None:
    whole = usage.end_to_end_ms
    if whole is None:
        return
    steps = list(usage.stage_ms.values())
    steps += [stage.latency_ms for stage in row.observation.stages or () if stage.latency_ms is not None]
    total = sum(steps) - usage.stage_ms.get("judge", 0.0)  # the judge's time is not the target's
    if total > whole + len(steps):  # each step may have been rounded up
        notices["rows whose end_to_end latency is less than the sum of its steps (do they overlap?)"] += 1
    if usage.completion_tokens and usage.completion_tokens * 1000 > TOKENS_A_SECOND * whole > 0:
        notices[f"rows with more than {TOKENS_A_SECOND} tokens a second (latency in seconds, not milliseconds?)"] += 1
