"""Converts golden sets and recorded outputs between formats: unambiguous casts are made, losses are counted.

A cast turns a value that strict reading refuses, but that can only mean one thing (a number written as text), into that
thing. Only `assay convert` casts; no reader ever guesses. Every cast and every loss is counted under a readable name.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, inspect, structs
from msgspec.structs import replace

from assay.formats import golden_files
from assay.formats import golden_files as goldens
from assay.formats.file_io import Source, open_source, read_lines, unpack_source
from assay.formats.golden_sets import code_benchmark, rag_golden, rubric, stable_key
from assay.formats.golden_sets.json_cases import is_document
from assay.formats.outputs import (
    OUTPUT_FORMAT_NAMES,
    OUTPUT_FORMATS,
    TREC_RUN_FORMAT,
    OutputFile,
    prepare_decodable,
    read_observations,
    refuse_packed_misfit,
)
from assay.formats.recorded_outputs.rag_trace import STAGE_MEMBERS
from assay.formats.strict_json import describe_record_type
from assay.records.counts import CountedNoun, format_count
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case
from assay.records.observations import RETRIEVED_STAGE, Chunk, Observation, Stage, find_stage

INTEGERS_TO_TEXT = CountedNoun("integer made text", "integers made text")
TEXTS_TO_NUMBERS = CountedNoun("text made a number", "texts made numbers")
NULLS_TO_LISTS = CountedNoun("null made an empty list", "nulls made empty lists")
_SENTENCES = CountedNoun("sentence with its citations", "sentences with their citations")
_ROW_FIELDS = CountedNoun(
    "row's answer, citations, usage and other stages", "rows' answers, citations, usage and other stages"
)
_UNRANKED_ROWS = CountedNoun(
    "row without a ranking, with an empty one, or repeated", "rows without a ranking, with an empty one, or repeated"
)
_REPEATED_CHUNKS = CountedNoun("chunk that a ranking repeats", "chunks that a ranking repeats")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}(\.0+)?")
_NUMBER = re.compile(r"[+-]?([0-9]++\.?[0-9]*+|\.[0-9]++)([eE][+-]?[0-9]{1,3})?")
_LISTS = (inspect.VarTupleType, inspect.ListType)
_NUMBERS = (inspect.IntType, inspect.FloatType)


def cast_lines(source: Source, record: type[msgspec.Struct], target: Path) -> Counter[CountedNoun]:
    """Write a JSON Lines file to `target` with its members cast to `record`; return the number of casts of each kind.

    Line numbers do not change. A line that is not a JSON object is copied as it is, so that the reader reports it.
    """
    counts: Counter[CountedNoun] = Counter()
    with open(target, "wb") as out:
        for line in read_lines(source):
            before, data = counts.total(), line.data
            try:
                row = _cast_value(json.loads(data), describe_record_type(record), counts)
                if counts.total() > before:
                    data = json.dumps(row, ensure_ascii=False, allow_nan=False).encode()
            except (ValueError, RecursionError):
                data = line.data
            out.write(data + b"\n")
    return counts


def _cast_value(value: Any, kind: inspect.Type, counts: Counter[CountedNoun]) -> Any:
    """Return `value` with everything in it cast that has one obvious meaning as `kind`, and count each cast."""
    if isinstance(kind, inspect.UnionType):
        return _cast_value(value, _choose_option(value, kind), counts)
    if isinstance(kind, inspect.StructType) and isinstance(value, dict):
        member_types = {member.encode_name: member.type for member in kind.fields}
        return {
            name: _cast_value(member, member_types.get(name, inspect.AnyType()), counts)
            for name, member in value.items()
        }
    if isinstance(kind, inspect.DictType) and isinstance(value, dict):
        return {name: _cast_value(member, kind.value_type, counts) for name, member in value.items()}
    if isinstance(kind, _LISTS) and isinstance(value, list):
        return [_cast_value(item, kind.item_type, counts) for item in value]
    cast = _find_cast(value, kind)
    if cast is None:
        return value
    new_value, cast_name = cast
    counts[cast_name] += 1
    return new_value


def _find_cast(value: Any, kind: inspect.Type) -> tuple[Any, CountedNoun] | None:
    """Return the value that is meant and the name of the cast; None if no cast is needed or possible."""
    if isinstance(kind, inspect.StrType) and type(value) is int:
        return str(value), INTEGERS_TO_TEXT
    if isinstance(kind, _LISTS) and value is None:
        return [], NULLS_TO_LISTS
    if isinstance(kind, inspect.IntType) and isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0]), TEXTS_TO_NUMBERS
    if isinstance(kind, inspect.IntType) and isinstance(value, float) and value.is_integer():
        return int(value), TEXTS_TO_NUMBERS
    if isinstance(kind, inspect.FloatType) and isinstance(value, str) and _is_finite(value.strip()):
        return float(value), TEXTS_TO_NUMBERS
    return None


def _is_finite(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def _choose_option(value: Any, kind: inspect.UnionType) -> inspect.Type:
    """Return the first option of a union that the value already is, else the first that it can be cast to.

    `AnyType`, which casts nothing, if there is no such option.
    """
    options = [option for option in kind.types if not isinstance(option, inspect.NoneType)]
    option_types: dict[type, tuple[type[inspect.Type], ...]] = {
        dict: (inspect.StructType, inspect.DictType),
        list: _LISTS,
        str: (inspect.StrType, inspect.LiteralType),
        int: _NUMBERS,
        float: _NUMBERS,
    }
    matching = [option for option in options if isinstance(option, option_types.get(type(value), ()))]
    castable = [option for option in options if value is not None and _find_cast(value, option) is not None]
    return next(iter([*matching, *castable]), inspect.AnyType())


UNCHANGED_MEMBERS = ("repeat", "question", "query_rewrite", "answer", "citations", "tool_calls", "versions", "error")


def encode_output_lines(observations: Iterable[Observation]) -> Iterator[bytes]:
    """Yield observations as native lines."""
    for observation in observations:
        yield msgspec.json.encode(observation) + b"\n"


def encode_rag_trace_lines(observations: Iterable[Observation], lost: Counter[CountedNoun]) -> Iterator[bytes]:
    """Yield observations as `rag-trace` lines; count in `lost` what the format cannot represent."""
    for observation in observations:
        yield msgspec.json.encode(_rag_trace_row(observation, lost)) + b"\n"


def _rag_trace_row(observation: Observation, lost: Counter[CountedNoun]) -> dict[str, Any]:
    fields = msgspec.to_builtins(observation)  # without fields that have their default value
    row: dict[str, Any] = {"query_id": observation.case_id, "config_id": observation.config_id}
    row |= {name: fields[name] for name in UNCHANGED_MEMBERS if name in fields}
    if observation.answer is None:
        row["answer"] = None
    latency: dict[str, float] = {}
    stages = observation.stages or ()
    has_retrieved = any(stage.name == RETRIEVED_STAGE for stage in stages)
    separate_chunks: list[Any] = []
    for stage in stages:
        if stage.name in STAGE_MEMBERS:
            row[STAGE_MEMBERS[stage.name]] = [_encode_chunk(chunk) for chunk in _number_merged_chunks(stage)]
        elif not has_retrieved and stage.chunks and {chunk.stage for chunk in stage.chunks} == {stage.name}:
            separate_chunks += [_encode_chunk(chunk) for chunk in _number_chunks(stage)]
        elif not _is_merged_into_retrieved(stage, observation):
            lost[CountedNoun(f"stage named {stage.name}", f"stages named {stage.name}")] += 1
        if stage.latency_ms is not None:
            latency[stage.name] = stage.latency_ms
    if separate_chunks:
        row["retrieved_chunks"] = separate_chunks
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
    lost[_SENTENCES] += len(observation.sentences or ())
    return row


def _number_merged_chunks(stage: Stage) -> list[Chunk]:
    """Return the chunks of a stage; those of one ranking that name several stages get the ranks that say so."""
    is_merged = len({chunk.stage for chunk in stage.chunks}) > 1
    return _number_chunks(stage) if is_merged else list(stage.chunks)


def _number_chunks(stage: Stage) -> list[Chunk]:
    return [structs.replace(chunk, rank=rank) for rank, chunk in enumerate(stage.chunks, 1)]


def _encode_chunk(chunk: Chunk) -> Any:
    """Return a chunk as an object, or as its id if it has nothing else."""
    fields = msgspec.to_builtins(chunk)
    return chunk.chunk_id if fields.keys() == {"chunk_id"} else fields


def _is_merged_into_retrieved(stage: Stage, observation: Observation) -> bool:
    """Return whether the `retrieved` list contains this stage, so that reading restores it from the chunks' `stage`."""
    retrieved = next((other for other in observation.stages or () if other.name == "retrieved"), None)
    return retrieved is not None and stage.name in {chunk.stage for chunk in retrieved.chunks}


def encode_trec_run_lines(
    observations: Iterable[Observation], config: str | None, lost: Counter[CountedNoun]
) -> Iterator[bytes]:
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
        lost[_ROW_FIELDS] += observation.answer is not UNSET
        if stage is None or not stage.chunks or observation.repeat:
            lost[_UNRANKED_ROWS] += 1
            continue
        ids = list(dict.fromkeys(chunk.chunk_id for chunk in stage.chunks))
        lost[_REPEATED_CHUNKS] += len(stage.chunks) - len(ids)
        for name in (observation.case_id, observation.config_id, *ids):
            if name.split() != [name]:
                message = f"blank inside an id (got {shorten_repr(name)}; expected none, because columns end at blanks)"
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


NATIVE_FORMAT = "assay"
GOLDEN_TARGETS = (NATIVE_FORMAT, "rag-golden", "trec-qrels")
OUTPUT_TARGETS = (NATIVE_FORMAT, "rag-trace", TREC_RUN_FORMAT)
GOLDEN_RECORDS: dict[str, type[msgspec.Struct]] = {
    NATIVE_FORMAT: Case,
    "rag-golden": rag_golden.RagGoldenRow,
    "rag-qrels": rag_golden.RagQrelsRow,
    "code-benchmark": code_benchmark.CodeRow,
    "stable-key": stable_key.KeyRow,
    "rubric": rubric.RubricRow,
}


@dataclass(slots=True)
class ConversionReport:
    """The counts of a conversion, complete once its lines are written: rows, casts, losses, and warnings."""

    rows: int = 0
    casts: Counter[CountedNoun] = field(default_factory=Counter)
    losses: Counter[CountedNoun] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)

    def iterate_notes(self) -> Iterator[str]:
        """Yield notices for the user, one line each."""
        yield f"{format_count(self.rows, 'row')} converted"
        yield from (f"cast: {format_count(count, *noun)}" for noun, count in sorted(self.casts.items()))
        losses = sorted((+self.losses).items())
        yield from (f"not carried: {format_count(count, *noun)}" for noun, count in losses)
        yield from self.warnings


@contextmanager
def convert_file(
    path: str, source_format: str, target_format: str, config: str | None = None
) -> Iterator[tuple[Iterator[bytes], ConversionReport]]:
    """Yield the lines of a file in another format, and the counts, which are complete when the lines are exhausted.

    `config` chooses the configuration from which a TREC run is made. Raises InputError for formats that cannot be
    converted, and for problems of the file that no unambiguous cast can solve.
    """
    with ExitStack() as stack:
        source = stack.enter_context(open_source(path))
        conversion = ConversionReport()
        is_golden_set = _is_golden_set(source, source_format, target_format)
        if not is_golden_set:  # golden sets are unpacked while they are read
            refuse_packed_misfit(source, source_format)
            source = replace(source, path=stack.enter_context(unpack_source(source)))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-"))
        record: type[msgspec.Struct] | None = None
        if is_golden_set:
            record = GOLDEN_RECORDS.get(source_format)
        elif source_format in OUTPUT_FORMATS:
            record = OUTPUT_FORMATS[source_format].record
        plain = _cast_source(source, record, Path(folder, "cast.jsonl"), conversion)
        try:
            if is_golden_set:
                yield _convert_golden_set(plain, source_format, target_format, conversion), conversion
            else:
                with prepare_decodable([OutputFile(str(plain), source.name, source_format, plain.stat().st_size)]) as (
                    file,
                ):
                    yield _convert_outputs(file, target_format, config, conversion), conversion
        except InputError as error:  # name the user's file, not the temporary file with its cast lines
            problems = [
                replace(problem, path=source.name) if problem.path in ("", str(plain)) else problem
                for problem in error.problems
            ]
            raise InputError(problems, more=error.more) from None


def _is_golden_set(source: Source, old: str, new: str) -> bool:
    """Return whether a golden set is meant; the name of the native format alone does not tell it from outputs."""
    if old in goldens.GOLDEN_FORMATS and new in GOLDEN_TARGETS:
        if (old, new) != (NATIVE_FORMAT, NATIVE_FORMAT):
            return True
        try:
            return goldens.detect_golden_format(source.path) == NATIVE_FORMAT
        except InputError:
            return False
    if old in OUTPUT_FORMAT_NAMES and new in OUTPUT_TARGETS:
        return False
    message = (
        f"cannot be converted (got --from {shorten_repr(old)} --to {shorten_repr(new)}; expected a golden set: --from "
        f"{', '.join(goldens.GOLDEN_FORMATS)} --to {', '.join(GOLDEN_TARGETS)}; or outputs: "
        f"--from {', '.join(OUTPUT_FORMAT_NAMES)} "
        f"--to {', '.join(OUTPUT_TARGETS)})"
    )
    raise InputError([Problem("", None, "", message, "E_FORMAT")])


def _cast_source(
    source: Source, record: type[msgspec.Struct] | None, target: Path, conversion: ConversionReport
) -> Path:
    """Return the path of the file with its lines cast to the record, or its own path if there is nothing to cast."""
    if record is None or source.path.is_dir() or is_document(source):
        return source.path
    conversion.casts = cast_lines(source, record, target)
    return target if conversion.casts else source.path


def _convert_golden_set(path: Path, old: str, new: str, conversion: ConversionReport) -> Iterator[bytes]:
    loaded = goldens.load_golden(path, old)
    conversion.warnings = [str(warning) for warning in loaded.warnings]
    conversion.rows = len(loaded.golden.cases)
    if new == "trec-qrels":
        return golden_files.encode_qrels_lines(loaded.golden, conversion.losses)
    if new == NATIVE_FORMAT:
        return golden_files.encode_golden_lines(loaded.golden)
    return golden_files.encode_rag_golden_lines(loaded.golden, conversion.losses)


def _convert_outputs(file: OutputFile, new: str, config: str | None, conversion: ConversionReport) -> Iterator[bytes]:
    rows = _count_observations(read_observations(file.path, file.name, file.decoded_as), conversion)
    if new == TREC_RUN_FORMAT:
        return encode_trec_run_lines(rows, config, conversion.losses)
    return encode_output_lines(rows) if new == NATIVE_FORMAT else encode_rag_trace_lines(rows, conversion.losses)


def _count_observations(observations: Iterator[Observation], conversion: ConversionReport) -> Iterator[Observation]:
    for observation in observations:
        conversion.rows += 1
        yield observation
