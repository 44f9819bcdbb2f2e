"""Finds flaws of well-typed observations: empty ids, ranks that contradict the order, lists that are too long."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from assay.errors import shown
from assay.graders.rows import Rankings
from assay.io.names import fault_of
from assay.model import Chunk, Observation, Stage

MAX_CHUNKS = 10_000
MAX_CITATIONS = 5_000
MAX_REPEAT = 1_000_000
_RANKS_FROM_ONE = list(range(1, MAX_CHUNKS + 1))


class Flaw(NamedTuple):
    """One flaw of an observation; `field` is a path in the record."""

    field: str
    message: str
    code: str


def suspects(observations: Sequence[Observation], stages: Collection[Rankings]) -> set[int]:
    """Return the rows that need a closer look: at least all with a flaw, a repeated chunk or tied scores.

    This is a fast check of whole columns. `stages` are the rankings of these observations. Names of configurations are
    not checked here but once each, by `config_flaw`.
    """
    suspicious = {
        row
        for row, observation in enumerate(observations)
        if not observation.case_id
        or observation.case_id.isspace()
        or observation.repeat > MAX_REPEAT
        or (observation.citations and ("" in observation.citations or len(observation.citations) > MAX_CITATIONS))
        or (observation.error is not None and not observation.error.code)
    }
    for rankings in stages:
        if _are_valid(rankings):
            continue
        for row, ranking in rankings.ranked.items():
            if not _are_valid(Rankings(rankings.name, [row], [ranking.stage])):
                suspicious.add(row)
        # A row that comes twice has the stage twice.
        suspicious.update(row for row, following in pairwise(rankings.rows) if row == following)
    return suspicious


def _are_valid(rankings: Rankings) -> bool:
    """Return whether each row has one ranking of distinct chunks with ids, rising ranks and falling scores."""
    ids, sizes = rankings.ids, rankings.sizes
    if not rankings.name or not all(ids) or max(sizes) > MAX_CHUNKS:
        return False
    if [len(ranking.distinct) for ranking in rankings.ranked.values()] != sizes:
        return False
    return not ids or (
        _have_consecutive_ranks([chunk.rank for chunk in rankings.chunks], sizes)
        and _have_falling_scores([chunk.score for chunk in rankings.chunks], rankings.ends)
    )


def _have_consecutive_ranks(ranks: list[int | None], sizes: list[int]) -> bool:
    """Return whether the ranks are 1, 2, 3 … in each ranking, or all missing."""
    if ranks[0] is None:
        return ranks.count(None) == len(ranks)
    return ranks == list(chain.from_iterable([_RANKS_FROM_ONE[:size] for size in sizes]))


def _have_falling_scores(scores: list[float | None], ends: list[int]) -> bool:
    """Return whether each score is less than the one before it in its ranking, or all are missing."""
    if scores[0] is None:
        return scores.count(None) == len(scores)
    numbers = np.array(scores, dtype=np.float64)  # NaN where one is missing
    falls = numbers[1:] < numbers[:-1]
    falls[[end - 1 for end in ends if 0 < end < len(scores)]] = True  # the next ranking begins with any score
    return bool(falls.all()) and not np.isnan(numbers).any()


def has_ties(stage: Stage) -> bool:
    """Return whether two chunks of a stage have the same score, so that only their order in the list ranks them."""
    scores = [chunk.score for chunk in stage.chunks if chunk.score is not None]
    return len(set(scores)) < len(scores)


def rises(stage: Stage) -> bool:
    """Return whether scores rise down the list: they are distances, or the list is in the wrong order."""
    scores = [chunk.score for chunk in stage.chunks if chunk.score is not None]
    return len(set(scores)) > 1 and scores == sorted(scores)


def config_flaw(config_id: str) -> Flaw | None:
    """Return the flaw of a configuration's name, None if it is valid."""
    fault = fault_of(config_id)
    return Flaw("config_id", fault, "E_ID") if fault else None


def flaws(observation: Observation) -> list[Flaw]:
    """Return all flaws of a decoded observation; empty if it is valid."""
    problems: list[Flaw] = []
    if not observation.case_id or observation.case_id.isspace():
        problems.append(Flaw("case_id", f"empty (got {observation.case_id!r}; expected a case's id)", "E_ID"))
    if observation.repeat > MAX_REPEAT:
        problems.append(
            Flaw("repeat", f"too large (got {observation.repeat}; expected {MAX_REPEAT} at most)", "E_RANGE")
        )
    if observation.error is not None and not observation.error.code:
        message = "empty (got ''; expected what failed, or null where nothing did)"
        problems.append(Flaw("error", message, "E_VALUE"))
    names = [stage.name for stage in observation.stages or ()]
    for number, stage in enumerate(observation.stages or ()):
        if not stage.name:
            problems.append(Flaw(f"stages[{number}].name", "empty (got ''; expected the stage's name)", "E_ID"))
        elif stage.name in names[:number]:
            message = f"stage given twice (got {shown(stage.name)} again; expected each stage once)"
            problems.append(Flaw(f"stages[{number}].name", message, "E_DUPLICATE_ID"))
        problems += _ranking_flaws(f"stages[{number}].chunks", stage.chunks)
    return problems + _citation_flaws(observation.citations or ())


def repeat_flaws(observation: Observation) -> list[Flaw]:
    """Return a flaw for every repeated chunk of a ranking; only strict reading refuses them."""
    problems = []
    for number, stage in enumerate(observation.stages or ()):
        first_index: dict[str, int] = {}
        for index, chunk in enumerate(stage.chunks):
            first = first_index.setdefault(chunk.chunk_id, index)
            if first != index:
                message = f"chunk given twice (got {shown(chunk.chunk_id)} again; expected it once, it is at {first})"
                problems.append(Flaw(f"stages[{number}].chunks[{index}]", message, "E_DUPLICATE_CHUNK"))
    return problems


def _citation_flaws(citations: Sequence[str]) -> list[Flaw]:
    problems = []
    if len(citations) > MAX_CITATIONS:
        message = f"too many citations (got {len(citations)}; expected {MAX_CITATIONS} at most)"
        problems.append(Flaw("citations", message, "E_TOO_MANY"))
    if "" in citations:
        index = citations.index("")
        problems.append(Flaw(f"citations[{index}]", "empty (got ''; expected a chunk's id)", "E_ID"))
    return problems


def _ranking_flaws(at: str, chunks: tuple[Chunk, ...]) -> list[Flaw]:
    if len(chunks) > MAX_CHUNKS:
        return [Flaw(at, f"too many chunks (got {len(chunks)}; expected {MAX_CHUNKS} at most)", "E_TOO_MANY")]
    problems = [
        Flaw(f"{at}[{index}].chunk_id", "empty (got ''; expected a chunk's id)", "E_ID")
        for index, chunk in enumerate(chunks)
        if not chunk.chunk_id
    ]
    is_merged = len({chunk.stage for chunk in chunks}) > 1
    problems += _rank_flaw(at, chunks, is_merged=is_merged)
    if not is_merged:  # scores of different rankings cannot be compared
        problems += _score_flaw(at, chunks)
    return problems


def _rank_flaw(at: str, chunks: tuple[Chunk, ...], *, is_merged: bool) -> Iterable[Flaw]:
    """Yield a flaw if ranks do not count 1, 2, 3 … down the list, or within each `stage` of a merged list."""
    if all(chunk.rank is None for chunk in chunks):
        return
    counts: dict[str | None, int] = {}  # chunks so far, by stage
    for index, chunk in enumerate(chunks):
        stage = chunk.stage if is_merged else None
        counts[stage] = counts.get(stage, 0) + 1
        if chunk.rank not in (counts[stage], index + 1):
            message = (
                f"rank contradicts the position in the list (got {chunk.rank}; expected {counts[stage]}: "
                "ranks start at 1, have no gaps and follow the list)"
            )
            yield Flaw(f"{at}[{index}].rank", message, "E_RANK_ORDER")
            return


def _score_flaw(at: str, chunks: tuple[Chunk, ...]) -> Iterable[Flaw]:
    """Yield a flaw if only some chunks have scores, or if scores next to ranks neither fall nor rise (distances)."""
    scores = [chunk.score for chunk in chunks if chunk.score is not None]
    if not scores:
        return
    if len(scores) < len(chunks):
        index = next(index for index, chunk in enumerate(chunks) if chunk.score is None)
        message = f"missing (got none; expected a number, as {len(scores)} other chunks of the list have)"
        yield Flaw(f"{at}[{index}].score", message, "E_SCORE")
    elif chunks[0].rank is not None and scores not in (sorted(scores), sorted(scores, reverse=True)):
        steps = [(before < after) - (before > after) for before, after in pairwise(scores)]
        index = steps.index(-1 if sum(steps) > 0 else 1) + 1  # the first step against the general direction
        message = (
            f"score contradicts the rank (got {scores[index]} after {scores[index - 1]}; expected scores that fall, or "
            "rise for distances, with the rank; leave out the scores of another stage)"
        )
        yield Flaw(f"{at}[{index}].score", message, "E_RANK_ORDER")
