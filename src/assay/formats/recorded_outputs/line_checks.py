"""Checks recorded outputs: why a line cannot be decoded, unknown keys, and flaws of well-typed observations.

Lines are decoded by a fast decoder; only lines that fail, and a sample of the others, are examined for their keys.
Names are normalised to Unicode NFC, the form that golden sets and corpora use.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.formats import strict_json
from assay.formats.foreign.reply_shapes import SURROUNDING_KEYS, name_unread_answers
from assay.formats.problems import find_name_fault
from assay.formats.strict_json import MisfitError, convert_strictly, join_field
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.observations import Chunk, Observation, Stage, StageRankings, reports_nothing
from assay.text.late_pattern import LatePattern

DECODING_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)
CHUNK_LISTS = ("chunks", "retrieved_chunks", "reranked_chunks", "context_chunks")
_DECODER_MESSAGE = LatePattern(r"^(?P<text>.*?)(?: - at `\$?\.?(?P<field>[^`]*)`)?$", re.DOTALL)


def explain_bad_line(
    path: str, number: int, line: bytes, record: type[msgspec.Struct], error: Exception
) -> list[Problem]:
    """Return all reasons why a line cannot be decoded as `record`, each with its field and the value there.

    `error` is the exception of the fast decoder; it is reported if no reason of our own is found.
    """
    if isinstance(error, RecursionError):
        message = f"nested too deeply (got too many levels; expected {strict_json.MAX_JSON_DEPTH} levels at most)"
        return [Problem(path, number, "", message, "E_DEPTH")]
    try:
        row = strict_json.decode_json(line.decode(), path, number)
    except InputError as faults:
        return list(faults.problems)
    except UnicodeDecodeError as bad:
        got = f"got byte 0x{line[bad.start]:02x} at byte {bad.start + 1} of the line"
        return [Problem(path, number, "", f"not UTF-8 ({got}; expected UTF-8 text)", "E_ENCODING")]
    problems = [Problem(path, number, field, message, code) for field, message, code in _find_misfits(row, record)]
    return problems or [_decoder_problem(path, number, error)]


def _decoder_problem(path: str, number: int, error: Exception) -> Problem:
    """Return the message of the decoder as a problem, with the field that it names."""
    match = _DECODER_MESSAGE.match(str(error))
    assert match is not None  # every part of the pattern may be empty
    text = match["text"]
    return Problem(path, number, match["field"] or "", text[:1].lower() + text[1:], "E_VALUE")


def _find_misfits(row: Any, record: type[msgspec.Struct]) -> Iterator[tuple[str, str, str]]:
    """Yield the fields that do not fit the record, chunks one by one; unknown keys are allowed."""
    explained: list[str] = []  # paths of chunks: they may also be strings, so the record explains them badly
    for at, item in _chunk_items(row):
        if isinstance(item, dict):
            explained.append(at)
            yield from _fit_errors(item, Chunk, at)
    for field, message, code in _fit_errors(row, record, ""):
        if not any(field == at or field.startswith(f"{at}.") for at in explained):
            yield field, message, code


def _fit_errors(row: Any, record: type[msgspec.Struct], at: str) -> Iterator[tuple[str, str, str]]:
    try:
        convert_strictly(row, record, at)
    except MisfitError as error:
        for field, message, code in error.misfits:
            owner, name = _find_owner(row, field.removeprefix(at).removeprefix("."))
            if code == "E_MISSING" and isinstance(owner, dict):
                message += _suggest_key(name, owner)
            if code == "E_UNKNOWN_FIELD" and field.startswith(_OF_USER):
                yield field, message.replace(", or an x_ name", ""), code  # which only whole rows may have
            elif code != "E_UNKNOWN_FIELD":
                yield field, message, code


_OF_USER = "user."
"""Unknown members are allowed, but not of the user: they may decide what the user may see."""


def _find_owner(row: Any, path: str) -> tuple[Any, str]:
    """Return the object that a member is missing in, None where the path leads nowhere, and the name of the member.

    >>> _find_owner({"error": {"kind": "timeout"}}, "error.code")
    ({'kind': 'timeout'}, 'code')
    >>> _find_owner({"stages": [{"chunks": []}]}, "stages[0].name")
    ({'chunks': []}, 'name')
    """
    *owners, name = re.findall(r"[^.\[\]]+", path) or [""]
    value = row
    for step in owners:
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None, name
    return value, name


def _suggest_key(missing: str, row: dict[str, Any]) -> str:
    near = get_close_matches(missing, list(row), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; its keys are {', '.join(map(repr, row)) or 'none'}"


def _chunk_items(row: Any) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of every item of every list of chunks in a row."""
    if not isinstance(row, dict):
        return
    for name in CHUNK_LISTS:
        if isinstance(row.get(name), list):
            yield from ((f"{name}[{index}]", item) for index, item in enumerate(row[name]))
    stages = row.get("stages")
    for number, stage in enumerate(stages if isinstance(stages, list) else ()):
        yield from ((f"stages[{number}].{at}", item) for at, item in _chunk_items(stage))


# ── unknown keys ───────────────────────────────────────────────────────────────────────────────────────


ACCESS_KEYS = frozenset({"tenant", "tenant_id", "roles", "acl_roles", "position", "valid_from", "valid_to"})


def find_unknown_keys(line: bytes, record: type[msgspec.Struct]) -> dict[str, str]:
    """Return the keys of a decodable line that its record does not have, each with a hint (empty if there is none)."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # unknown members may contain what this stricter parser refuses
        return {}
    hints = dict(_unknown_members(row, record, ""))
    if "stages" in record.__struct_fields__:
        for stage in row.get("stages") or ():
            hints.update(_unknown_members(stage, Stage, "stages[]."))
    for at, item in _chunk_items(row):
        if isinstance(item, dict):
            hints.update(_unknown_members(item, Chunk, re.sub(r"\[\d+\]", "[]", f"{at}.")))
    return hints


def _unknown_members(row: dict[str, Any], record: type[msgspec.Struct], prefix: str) -> Iterator[tuple[str, str]]:
    fields = record.__struct_fields__
    for key in row:
        if key not in fields and not key.startswith("x_"):
            near = get_close_matches(key, fields, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            if record is Chunk and key in ACCESS_KEYS:
                hint = " (access rights of a chunk are read from its metadata)"
            yield prefix + join_field("", key), hint


_ROW = msgspec.json.Decoder(dict[str, msgspec.Raw])


def list_row_members(line: bytes) -> dict[str, msgspec.Raw]:
    """Return the members of a decodable line, still encoded."""
    return _ROW.decode(line)


def refuse_unread_answer(line: bytes, fields: Collection[str]) -> None:
    """Raise ValueError for a row without an answer that has one under a name which is not read.

    `fields` are the members that are read. Its case would count as one that was asked for a ranking alone.
    """
    raw = list_row_members(line)
    members = {key: item for key, item in raw.items() if key not in fields and key not in SURROUNDING_KEYS}
    unread = {key: msgspec.json.decode(item) for key, item in members.items() if not key.startswith("x_")}
    named = name_unread_answers(unread)
    if named:
        expected = 'expected it under the name answer; "answer": null says that there is none'
        raise ValueError(f"no answer, but {named} ({expected})")


def refuse_empty_row(observation: Observation, members: Iterable[str]) -> None:
    """Raise ValueError for a row that reports nothing that the system did. `members` are the names of what it has.

    No check looks at the case of such a row, so that it would count as one that did not fail.
    """
    if observation.usage is None and reports_nothing(observation):
        expected = 'answer, retrieved or context, or an error; "answer": null says that there is none'
        raise ValueError(f"neither an answer nor a ranking (got {', '.join(members)}; expected {expected})")


MAX_CHUNKS = 10_000
MAX_CITATIONS = 5_000
MAX_REPEAT = 1_000_000


class ObservationFlaw(Struct, frozen=True):
    """One flaw of an observation; `field` is a path in the record."""

    field: str
    message: str
    code: str


def find_suspicious_rows(observations: Sequence[Observation], stages: Collection[StageRankings]) -> set[int]:
    """Return the rows that need a closer look: at least all with a flaw, a repeated chunk or tied scores.

    This is a fast check of whole columns. `stages` are the rankings of these observations. Names of configurations are
    not checked here but once each, by `find_config_flaw`.
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
            if not _are_valid(StageRankings(rankings.name, [row], [ranking.stage])):
                suspicious.add(row)
        # A row that comes twice has the stage twice.
        suspicious.update(row for row, following in pairwise(rankings.rows) if row == following)
    return suspicious


def _are_valid(rankings: StageRankings) -> bool:
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


@lru_cache(maxsize=64)  # rankings of a file have few lengths
def _list_ranks(size: int) -> list[int]:
    return list(range(1, size + 1))


def _have_consecutive_ranks(ranks: list[int | None], sizes: list[int]) -> bool:
    """Return whether the ranks are 1, 2, 3 … in each ranking, or all missing."""
    if ranks[0] is None:
        return ranks.count(None) == len(ranks)
    return ranks == list(chain.from_iterable(map(_list_ranks, sizes)))


def _have_falling_scores(scores: list[float | None], ends: list[int]) -> bool:
    """Return whether each score is less than the one before it in its ranking, or all are missing."""
    if scores[0] is None:
        return scores.count(None) == len(scores)
    numbers = np.array(scores, dtype=np.float64)  # NaN where one is missing
    falls = numbers[1:] < numbers[:-1]
    falls[[end - 1 for end in ends if 0 < end < len(scores)]] = True  # the next ranking begins with any score
    return bool(falls.all()) and not np.isnan(numbers).any()


def has_tied_scores(stage: Stage) -> bool:
    """Return whether two chunks of a stage have the same score, so that only their order in the list ranks them."""
    scores = [chunk.score for chunk in stage.chunks if chunk.score is not None]
    return len(set(scores)) < len(scores)


def has_rising_scores(stage: Stage) -> bool:
    """Return whether scores rise down the list: they are distances, or the list is in the wrong order."""
    scores = [chunk.score for chunk in stage.chunks if chunk.score is not None]
    return len(set(scores)) > 1 and scores == sorted(scores)


def find_config_flaw(config_id: str) -> ObservationFlaw | None:
    """Return the flaw of a configuration's name, None if it is valid."""
    fault = find_name_fault(config_id)
    return ObservationFlaw("config_id", fault, "E_ID") if fault else None


def find_flaws(observation: Observation) -> list[ObservationFlaw]:
    """Return all flaws of a decoded observation; empty if it is valid."""
    problems: list[ObservationFlaw] = []
    if not observation.case_id or observation.case_id.isspace():
        problems.append(
            ObservationFlaw("case_id", f"empty (got {observation.case_id!r}; expected a case's id)", "E_ID")
        )
    if observation.repeat > MAX_REPEAT:
        problems.append(
            ObservationFlaw("repeat", f"too large (got {observation.repeat}; expected {MAX_REPEAT} at most)", "E_RANGE")
        )
    if observation.error is not None and not observation.error.code:
        message = "empty (got ''; expected what failed, or null where nothing did)"
        problems.append(ObservationFlaw("error", message, "E_VALUE"))
    names = [stage.name for stage in observation.stages or ()]
    for number, stage in enumerate(observation.stages or ()):
        if not stage.name:
            problems.append(
                ObservationFlaw(f"stages[{number}].name", "empty (got ''; expected the stage's name)", "E_ID")
            )
        elif stage.name in names[:number]:
            message = f"stage given twice (got {shorten_repr(stage.name)} again; expected each stage once)"
            problems.append(ObservationFlaw(f"stages[{number}].name", message, "E_DUPLICATE_ID"))
        problems += _ranking_flaws(f"stages[{number}].chunks", stage.chunks)
    return problems + _citation_flaws(observation.citations or ())


def find_repeated_chunks(observation: Observation) -> list[ObservationFlaw]:
    """Return a flaw for every repeated chunk of a ranking; only strict reading refuses them."""
    problems = []
    for number, stage in enumerate(observation.stages or ()):
        first_index: dict[str, int] = {}
        for index, chunk in enumerate(stage.chunks):
            first = first_index.setdefault(chunk.chunk_id, index)
            if first != index:
                message = (
                    f"chunk given twice (got {shorten_repr(chunk.chunk_id)} again; expected it once, it is at {first})"
                )
                problems.append(ObservationFlaw(f"stages[{number}].chunks[{index}]", message, "E_DUPLICATE_CHUNK"))
    return problems


def _citation_flaws(citations: Sequence[str]) -> list[ObservationFlaw]:
    problems = []
    if len(citations) > MAX_CITATIONS:
        message = f"too many citations (got {len(citations)}; expected {MAX_CITATIONS} at most)"
        problems.append(ObservationFlaw("citations", message, "E_TOO_MANY"))
    if "" in citations:
        index = citations.index("")
        problems.append(ObservationFlaw(f"citations[{index}]", "empty (got ''; expected a chunk's id)", "E_ID"))
    return problems


def _ranking_flaws(at: str, chunks: tuple[Chunk, ...]) -> list[ObservationFlaw]:
    if len(chunks) > MAX_CHUNKS:
        return [
            ObservationFlaw(at, f"too many chunks (got {len(chunks)}; expected {MAX_CHUNKS} at most)", "E_TOO_MANY")
        ]
    problems = [
        ObservationFlaw(f"{at}[{index}].chunk_id", "empty (got ''; expected a chunk's id)", "E_ID")
        for index, chunk in enumerate(chunks)
        if not chunk.chunk_id
    ]
    is_merged = len({chunk.stage for chunk in chunks}) > 1
    problems += _rank_flaw(at, chunks, is_merged=is_merged)
    if not is_merged:  # scores of different rankings cannot be compared
        problems += _score_flaw(at, chunks)
    return problems


def _rank_flaw(at: str, chunks: tuple[Chunk, ...], *, is_merged: bool) -> Iterable[ObservationFlaw]:
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
            yield ObservationFlaw(f"{at}[{index}].rank", message, "E_RANK_ORDER")
            return


def _score_flaw(at: str, chunks: tuple[Chunk, ...]) -> Iterable[ObservationFlaw]:
    """Yield a flaw if only some chunks have scores, or if scores next to ranks neither fall nor rise (distances)."""
    scores = [chunk.score for chunk in chunks if chunk.score is not None]
    if not scores:
        return
    if len(scores) < len(chunks):
        index = next(index for index, chunk in enumerate(chunks) if chunk.score is None)
        message = f"missing (got none; expected a number, as {len(scores)} other chunks of the list have)"
        yield ObservationFlaw(f"{at}[{index}].score", message, "E_SCORE")
    elif chunks[0].rank is not None and scores not in (sorted(scores), sorted(scores, reverse=True)):
        steps = [(before < after) - (before > after) for before, after in pairwise(scores)]
        index = steps.index(-1 if sum(steps) > 0 else 1) + 1  # the first step against the general direction
        message = (
            f"score contradicts the rank (got {scores[index]} after {scores[index - 1]}; expected scores that fall, or "
            "rise for distances, with the rank; leave out the scores of another stage)"
        )
        yield ObservationFlaw(f"{at}[{index}].score", message, "E_RANK_ORDER")


def normalise_names(observation: Observation) -> tuple[Observation, bool]:
    """Return the observation with its names in NFC, and whether that changed anything.

    Names are the ids of case, configuration, chunks and citations, and the chunks' metadata; other texts do not change.
    """
    text = "\n".join(_names(observation))  # one check for all names is faster than one each
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return observation, False
    stages = observation.stages and tuple([_normalise_stage(stage) for stage in observation.stages])
    sentences = observation.sentences and tuple(
        [replace(sentence, citations=tuple(map(_nfc, sentence.citations))) for sentence in observation.sentences]
    )
    changed = replace(
        observation,
        case_id=_nfc(observation.case_id),
        config_id=_nfc(observation.config_id),
        stages=stages,
        citations=observation.citations and tuple(map(_nfc, observation.citations)),
        sentences=sentences,
    )
    return changed, True


def _names(observation: Observation) -> list[str]:
    chunks = [chunk for stage in observation.stages or () for chunk in stage.chunks]
    names = [chunk.chunk_id for chunk in chunks]
    names += [text for chunk in chunks if chunk.metadata for text in _metadata_texts(chunk.metadata)]
    names += [citation for sentence in observation.sentences or () for citation in sentence.citations]
    names += observation.citations or ()
    names += (observation.case_id, observation.config_id)
    return names


def _metadata_texts(metadata: dict[str, Any]) -> Iterator[str]:
    for name, value in metadata.items():
        yield name
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                yield item


def _normalise_stage(stage: Stage) -> Stage:
    return replace(stage, chunks=tuple([_normalise_chunk(chunk) for chunk in stage.chunks]))


def _normalise_chunk(chunk: Chunk) -> Chunk:
    metadata = chunk.metadata and {_nfc(name): _normalise_value(value) for name, value in chunk.metadata.items()}
    return replace(chunk, chunk_id=_nfc(chunk.chunk_id), metadata=metadata)


def _normalise_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_normalise_value(item) for item in value]
    return _nfc(value) if isinstance(value, str) else value


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
