"""What is wrong with an observation whose types are right: empty ids, ranks that contradict the list, long lists."""

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
_COUNTING = list(range(1, MAX_CHUNKS + 1))


class Flaw(NamedTuple):
    """One thing wrong with an observation; `field` is in the words of the record."""

    field: str
    message: str
    code: str


def suspects(observations: Sequence[Observation], stages: Collection[Rankings]) -> set[int]:
    """Return the rows that need a closer look: fast, and with every one that has a flaw, a repeated chunk or a tie.

    `stages` are the rankings of these observations. Configurations are named by many rows and are looked at once each,
    by `config_flaw`.
    """
    found = {
        row
        for row, seen in enumerate(observations)
        if not seen.case_id
        or seen.case_id.isspace()
        or seen.repeat > MAX_REPEAT
        or (seen.citations and ("" in seen.citations or len(seen.citations) > MAX_CITATIONS))
        or (seen.error is not None and not seen.error.code)
    }
    for rankings in stages:
        if not _are_sound(rankings):
            each = {row: Rankings(rankings.name, [row], [one.stage]) for row, one in rankings.ranked.items()}
            found.update(row for row, alone in each.items() if not _are_sound(alone))
            found.update(row for row, same in pairwise(rankings.rows) if row == same)
    return found


def _are_sound(rankings: Rankings) -> bool:
    """Whether each row has one ranking, of named and distinct chunks that count upwards while their scores fall."""
    ids, sizes, ranked = rankings.ids, rankings.sizes, rankings.ranked.values()
    if not rankings.name or not all(ids) or max(sizes) > MAX_CHUNKS or [len(one.distinct) for one in ranked] != sizes:
        return False
    return not ids or (
        _count_up([chunk.rank for chunk in rankings.chunks], sizes)
        and _fall([chunk.score for chunk in rankings.chunks], rankings.ends)
    )


def _count_up(ranks: list[int | None], sizes: list[int]) -> bool:
    """Whether the ranks are 1, 2, 3 … in each ranking, or all missing."""
    if ranks[0] is None:
        return ranks.count(None) == len(ranks)
    return ranks == list(chain.from_iterable([_COUNTING[:size] for size in sizes]))


def _fall(scores: list[float | None], ends: list[int]) -> bool:
    """Whether each score is less than the one before in its ranking, or all are missing."""
    if scores[0] is None:
        return scores.count(None) == len(scores)
    numbers = np.array(scores, dtype=np.float64)  # NaN where one is missing
    falls = numbers[1:] < numbers[:-1]
    falls[[end - 1 for end in ends if 0 < end < len(scores)]] = True
    return bool(falls.all()) and not np.isnan(numbers).any()


def has_ties(stage: Stage) -> bool:
    """Return whether two chunks of a stage have the same score, so that only the list says which one comes first."""
    scores = [chunk.score for chunk in stage.chunks if chunk.score is not None]
    return len(set(scores)) < len(scores)


def rises(stage: Stage) -> bool:
    """Return whether the scores of a stage rise with the rank, as distances do, and as a list the wrong way round."""
    scores = [chunk.score for chunk in stage.chunks if chunk.score is not None]
    return len(set(scores)) > 1 and scores == sorted(scores)


def config_flaw(config_id: str) -> Flaw | None:
    """Return what forbids the name of a configuration, None where nothing does."""
    fault = fault_of(config_id)
    return Flaw("config_id", fault, "E_ID") if fault else None


def flaws(observation: Observation) -> list[Flaw]:
    """Return everything wrong with a decoded observation; empty for a good one."""
    found: list[Flaw] = []
    if not observation.case_id or observation.case_id.isspace():
        found.append(Flaw("case_id", f"empty (got {observation.case_id!r}; expected a case's id)", "E_ID"))
    if observation.repeat > MAX_REPEAT:
        found.append(Flaw("repeat", f"too large (got {observation.repeat}; expected {MAX_REPEAT} at most)", "E_RANGE"))
    if observation.error is not None and not observation.error.code:
        message = "empty (got ''; expected what failed, or null where nothing did)"
        found.append(Flaw("error", message, "E_VALUE"))
    names = [stage.name for stage in observation.stages or ()]
    for number, stage in enumerate(observation.stages or ()):
        if not stage.name:
            found.append(Flaw(f"stages[{number}].name", "empty (got ''; expected the stage's name)", "E_ID"))
        elif stage.name in names[:number]:
            message = f"stage given twice (got {shown(stage.name)} again; expected each stage once)"
            found.append(Flaw(f"stages[{number}].name", message, "E_DUPLICATE_ID"))
        found += _ranking_flaws(f"stages[{number}].chunks", stage.chunks)
    return found + _citation_flaws(observation.citations or ())


def repeat_flaws(observation: Observation) -> list[Flaw]:
    """Return a flaw for every ranking that repeats a chunk; only strict reading minds."""
    found = []
    for number, stage in enumerate(observation.stages or ()):
        seen: dict[str, int] = {}
        for place, chunk in enumerate(stage.chunks):
            first = seen.setdefault(chunk.chunk_id, place)
            if first != place:
                message = f"chunk given twice (got {shown(chunk.chunk_id)} again; expected it once, it is at {first})"
                found.append(Flaw(f"stages[{number}].chunks[{place}]", message, "E_DUPLICATE_CHUNK"))
    return found


def _citation_flaws(citations: Sequence[str]) -> list[Flaw]:
    found = []
    if len(citations) > MAX_CITATIONS:
        message = f"too many citations (got {len(citations)}; expected {MAX_CITATIONS} at most)"
        found.append(Flaw("citations", message, "E_TOO_MANY"))
    if "" in citations:
        place = citations.index("")
        found.append(Flaw(f"citations[{place}]", "empty (got ''; expected a chunk's id)", "E_ID"))
    return found


def _ranking_flaws(at: str, chunks: tuple[Chunk, ...]) -> list[Flaw]:
    if len(chunks) > MAX_CHUNKS:
        return [Flaw(at, f"too many chunks (got {len(chunks)}; expected {MAX_CHUNKS} at most)", "E_TOO_MANY")]
    found = [
        Flaw(f"{at}[{place}].chunk_id", "empty (got ''; expected a chunk's id)", "E_ID")
        for place, chunk in enumerate(chunks)
        if not chunk.chunk_id
    ]
    several = len({chunk.stage for chunk in chunks}) > 1
    found += _rank_flaw(at, chunks, several=several)
    if not several:  # a list that merges several rankings holds scores that cannot be compared
        found += _score_flaw(at, chunks)
    return found


def _rank_flaw(at: str, chunks: tuple[Chunk, ...], *, several: bool) -> Iterable[Flaw]:
    """Ranks must count 1, 2, 3 … down the list, or within each `stage` value where a list holds several."""
    if all(chunk.rank is None for chunk in chunks):
        return
    seen: dict[str | None, int] = {}
    for place, chunk in enumerate(chunks):
        lane = chunk.stage if several else None
        seen[lane] = seen.get(lane, 0) + 1
        if chunk.rank not in (seen[lane], place + 1):
            message = (
                f"rank contradicts the place in the list (got {chunk.rank}; expected {seen[lane]}: ranks start at 1, "
                "have no gaps and follow the list)"
            )
            yield Flaw(f"{at}[{place}].rank", message, "E_RANK_ORDER")
            return


def _score_flaw(at: str, chunks: tuple[Chunk, ...]) -> Iterable[Flaw]:
    """All chunks of a ranking have a score or none; beside ranks they fall, or rise where they are distances."""
    scores = [chunk.score for chunk in chunks if chunk.score is not None]
    if not scores:
        return
    if len(scores) < len(chunks):
        place = next(place for place, chunk in enumerate(chunks) if chunk.score is None)
        message = f"missing (got none; expected a number, as {len(scores)} other chunks of the list have)"
        yield Flaw(f"{at}[{place}].score", message, "E_SCORE")
    elif chunks[0].rank is not None and scores not in (sorted(scores), sorted(scores, reverse=True)):
        steps = [(before < after) - (before > after) for before, after in pairwise(scores)]
        place = steps.index(-1 if sum(steps) > 0 else 1) + 1
        message = (
            f"score contradicts the rank (got {scores[place]} after {scores[place - 1]}; expected scores that fall, or "
            "rise for distances, with the rank; leave out the scores of another stage)"
        )
        yield Flaw(f"{at}[{place}].score", message, "E_RANK_ORDER")
