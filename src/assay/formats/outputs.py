"""Reads recorded outputs: the table of formats, the detection of a file's format, and the shards of large files.

A file is cut into shards at line boundaries. Lines are decoded one at a time into typed records; only a line that fails
is read again, more slowly, to report what is wrong with it.
"""

from __future__ import annotations

import glob
import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from assay.formats.file_io import (
    MAX_LINE_BYTES,
    Source,
    is_packed,
    open_source,
    open_unpacked,
    read_lines,
    unpack_source,
)
from assay.formats.foreign.frame_shapes import RECORDS_REMEDY, list_frame_rows
from assay.formats.foreign.member_names import normalise_member_name
from assay.formats.recorded_outputs import rag_trace, run_log, stage_lists, trec_rag
from assay.formats.recorded_outputs.line_checks import (
    DECODING_ERRORS,
    explain_bad_line,
    find_unknown_keys,
    list_row_members,
    refuse_empty_row,
    refuse_unread_answer,
)
from assay.formats.strict_json import LateDecoder, MisfitError, convert_strictly, join_field, write_plain_text
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case
from assay.records.observations import CONTEXT_STAGE, Observation
from assay.records.plugin_table import PluginTable
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

_DECODER = LateDecoder(Observation)


def decode_observation(line: bytes) -> Observation:
    """Decode one line. Raises msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError or RecursionError."""
    return _DECODER.decode(line)


def check_observation(observation: Observation) -> Observation:
    """Validate an observation made in Python as if it were read from a file, because constructors check nothing.

    Raises InputError with everything that reading its line would refuse, and for numbers that JSON cannot represent.
    """
    try:
        row = msgspec.to_builtins(observation, enc_hook=write_plain_text)
        problems = list(_find_non_finite(row, ""))
        record = convert_strictly(row, Observation)
    except TypeError as error:
        problems = [Problem("", None, "", f"not an observation ({error})", "E_TYPE")]
    except MisfitError as error:
        problems += [Problem("", None, *misfit) for misfit in error.misfits]
    if problems:
        raise InputError(problems)
    return record


def _find_non_finite(value: Any, at: str) -> Iterator[Problem]:
    if isinstance(value, float) and not math.isfinite(value):
        yield Problem(
            "", None, at, f"not a finite number (got {value}; expected one that JSON can represent)", "E_NUMBER"
        )
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _find_non_finite(member, join_field(at, str(key)))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _find_non_finite(item, join_field(at, index))


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
TREC_RUN_FORMAT = "trec-run"
ROWS_FORMAT = "rows"
"""Rows of other tools, which are rewritten as native lines once the golden set is known."""
_TREC_RUN_COLUMNS = 6
RETRIEVED_STAGE = "retrieved"
_KEY = compile_pattern(r'"(\w+)"\s*:')
_STAGE = LatePattern(r"stages\[(\d+)\]\.(?:chunks|name)")
_TREC_RUN_LINE = compile_pattern(
    r"\S+\s+(?:Q0\s+\S+|\S+\s+\S+\s+\d+\s+\S+|\S+\s+\S+\s+\S+\s+[+-]?[\d.]\S*\s+\S+)(?:\s.*)?"
)
"""Six columns, or so like them that the reader of runs can say what is wrong: "Q0", or a rank in the fourth place."""


class OutputFormat(Struct, frozen=True):
    """One row of the table of formats whose lines are observations.

    `record` is the type of a line as written, `id_key` the member with the id of the case. In formats that have a
    member for each stage, `lists` gives that member.
    """

    name: str
    summary: str
    decode: Callable[[bytes], Observation]
    record: type[msgspec.Struct]
    id_key: str
    lists: Mapping[str, str] = field(default_factory=dict)

    def translate_field(self, observation: Observation, path: str) -> str:
        """Translate the path of a field of `Observation` into the member names of this format."""
        if path == "case_id":
            return self.id_key
        match = _STAGE.match(path)
        if match is None or not self.lists or observation.stages is None:
            return path
        stage = observation.stages[int(match[1])].name
        return self.lists.get(stage, f"{self.lists[RETRIEVED_STAGE]}(stage={stage})") + path[match.end() :]


def _refuse_misread(
    decode: Callable[[bytes], Observation], record: type[msgspec.Struct]
) -> Callable[[bytes], Observation]:
    """Return a decoder that raises ValueError too for a line whose answer is under a name that is not read, and for
    one that reports nothing."""

    @wraps(decode)
    def decode_line(line: bytes) -> Observation:
        observation = decode(line)
        if observation.answer is msgspec.UNSET and observation.error is None and observation.behaviour is None:
            refuse_unread_answer(line, record.__struct_fields__)
            refuse_empty_row(observation, list_row_members(line))
        return observation

    return decode_line


STAGE_LISTS_FORMAT = "stage-lists"
_BUILT_IN_FORMATS = {
    row.name: row
    for row in (
        OutputFormat(
            "assay",
            "one Observation record a line",
            _refuse_misread(decode_observation, Observation),
            Observation,
            "case_id",
        ),
        OutputFormat(
            "rag-trace",
            "the RAG runner's contract rag-trace: query_id, retrieved_chunks, context_chunks, answer …",
            _refuse_misread(rag_trace.decode_rag_trace, rag_trace.RagTraceRow),
            rag_trace.RagTraceRow,
            "query_id",
            rag_trace.STAGE_MEMBERS,
        ),
        OutputFormat(
            "run-log",
            "the code benchmark's run log: question_id, answer, evidence_files",
            run_log.decode_run_log,
            run_log.RunLogRow,
            "question_id",
            {RETRIEVED_STAGE: "evidence_files"},
        ),
        OutputFormat(
            STAGE_LISTS_FORMAT,
            "like assay, with a list for each stage: case_id, retrieved, reranked, context, answer …",
            _refuse_misread(stage_lists.decode_stage_lists, stage_lists.StageListsRow),
            stage_lists.StageListsRow,
            "case_id",
            stage_lists.STAGE_MEMBERS,
        ),
        OutputFormat(
            "trec-rag",
            "answers of the TREC RAG track: run_id, topic_id, references, answer in sentences",
            trec_rag.decode_trec_rag,
            trec_rag.TrecRagRow,
            "topic_id",
        ),
    )
}
OUTPUT_FORMATS: PluginTable[OutputFormat] = PluginTable(
    "assay.formats", "output format", OutputFormat, _BUILT_IN_FORMATS, reserved=(TREC_RUN_FORMAT, ROWS_FORMAT)
)
"""All formats of outputs by name. Plugins are read when they are named; only built-in formats are detected."""
OUTPUT_FORMAT_NAMES = (*_BUILT_IN_FORMATS, TREC_RUN_FORMAT, ROWS_FORMAT)
_FORMATS_WITH_ROW_IDS = ("rag-trace", "run-log")
"""Formats whose member for the id of the case is one that rows of other tools have too."""
_BYTES_OF_FIRST_ITEM = 2**20
_ROW_NAME_KEYS = frozenset(("user_input", "input", "question", "query", "id", "qid", "inputs"))
_ROW_ANSWER_KEYS = frozenset(("response", "actual_output"))
"""Members of rows of other tools: what names the case, and the answer under a name that no format of Assay has."""
_ROW_RANKING_KEYS = frozenset((
    "documents", "sources", "source_documents", "source_nodes", "retrieved_documents", "chunks", "passages",
    "retrieved_contexts", "retrieval_context", "contexts", "docs", "nodes",
))  # fmt: skip
_ROW_OUTPUT_KEYS = _ROW_ANSWER_KEYS | _ROW_RANKING_KEYS | frozenset((
    "answer", "output", "output_text", "prediction", "predicted_answer", "generated_answer", "final_answer",
    "generated_text", "completion", "reply", "retrieved", "retrieved_chunks", "error", "outputs",
))  # fmt: skip


_NO_MATCH = (
    "no such file, and no file matches it as a pattern (expected a file, or a pattern such as 'outputs/*.jsonl')"
)


def detect_output_format(path: str, first_line: bytes) -> str:
    """Detect the format of outputs from the first line of a file, or the first characters of one JSON list.

    Raises InputError, saying what was looked for.
    """
    text = first_line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    if text.startswith("[") and _is_list_of_rows(path, text):
        return ROWS_FORMAT
    if _TREC_RUN_LINE.fullmatch(text) and not text.startswith("{"):
        return TREC_RUN_FORMAT
    try:
        row = json.loads(text)
        keys = list(row) if isinstance(row, dict) else []
    except (ValueError, RecursionError):  # broken JSON may still show its keys; the reader reports what is wrong
        row, keys = None, _KEY.findall(text) if text.startswith("{") else []
    is_table = not keys and _are_rows(_split_table_header(path, text))
    is_frame = path.lower().removesuffix(".gz").endswith(".json") and bool(list_frame_rows(row))
    format_name = ROWS_FORMAT if is_table or is_frame else guess_row_format(path, keys)
    if format_name:
        return format_name
    expected = "; ".join(
        f"{output_format.name}: {output_format.id_key} …" for output_format in _BUILT_IN_FORMATS.values()
    )
    remedy = f"; {RECORDS_REMEDY}" if _FRAME_START.match(text) else ""
    message = (
        f"cannot tell the format of the outputs (got {_describe_line(text, row)}; expected JSON Lines, {expected}; or "
        f"{TREC_RUN_FORMAT}: six columns; {ROWS_FORMAT}: id or question, with answer …{remedy}); "
        "name it with --outputs-format"
    )
    raise InputError([Problem(path, 1, "", message, "E_FORMAT")])


_FRAME_START = compile_pattern(r'\{\s*"(?:columns|schema)"\s*:|\[\s*\[|\{\s*"[^"]{0,200}"\s*:\s*\{')
"""How the JSON of a data frame begins that is not written as rows."""


def guess_row_format(path: str, keys: Sequence[str]) -> str:
    """Return the format of a row with these members, "" if none fits. Raises InputError if two do; `path` names it."""
    for name, output_format in _BUILT_IN_FORMATS.items():
        if output_format.id_key in keys:
            return _refine_format(path, name, keys)
    return ROWS_FORMAT if _are_rows(keys) else ""


def _are_rows(keys: Iterable[str]) -> bool:
    """Return whether members, in any spelling, name a case and hold an output."""
    names = {normalise_member_name(key) for key in keys}
    return not _ROW_NAME_KEYS.isdisjoint(names) and not _ROW_OUTPUT_KEYS.isdisjoint(names)


def _split_table_header(path: str, text: str) -> list[str]:
    """Return the columns of a first line of a file whose name is that of a table; none for another file."""
    suffix = Path(path.lower().removesuffix(".gz")).suffix
    if suffix not in (".csv", ".tsv"):
        return []
    separator = "\t" if suffix == ".tsv" else ";" if text.count(";") > text.count(",") else ","
    return [column.strip().strip('"') for column in text.split(separator)]


def _is_list_of_rows(path: str, text: str) -> bool:
    """Return whether the first item of a JSON list, of which `text` is the beginning, is a row of another tool."""
    start = text.find("{")
    try:
        row, _ = json.JSONDecoder().raw_decode(text, start) if start > 0 else (None, 0)
        return isinstance(row, dict) and detect_output_format(path, json.dumps(row).encode()) == ROWS_FORMAT
    except (ValueError, RecursionError, InputError):
        return False


def _refine_format(path: str, name: str, keys: Sequence[str]) -> str:
    """Return the format of a line with the id of a format: `rows` if its answer or its only ranking has the name of
    another tool.

    Raises InputError if it has an answer under both names.
    """
    foreign_answers = sorted(_ROW_ANSWER_KEYS.intersection(keys))
    if not foreign_answers:
        return _refine_by_rankings(name, keys)
    if "answer" not in keys:
        return ROWS_FORMAT
    other = foreign_answers[0]
    message = (
        f"two formats fit: {name} with the answer in answer, and {ROWS_FORMAT} with the answer in {other} "
        "(expected one of these members; or name the format with --outputs-format)"
    )
    raise InputError([Problem(path, 1, other, message, "E_FORMAT")])


def _refine_by_rankings(name: str, keys: Sequence[str]) -> str:
    """Return the format of a line of which the answer says nothing: `rows` if only such rows have its ranking."""
    has_row_ranking = not _ROW_RANKING_KEYS.isdisjoint(keys)
    if name != "assay":
        own_members = set(_BUILT_IN_FORMATS[name].lists.values())
        is_row = has_row_ranking and name in _FORMATS_WITH_ROW_IDS and own_members.isdisjoint(keys)
        return ROWS_FORMAT if is_row else name
    if "stages" in keys:
        return name
    stage_members = stage_lists.STAGE_MEMBERS.keys() & set(keys)
    if has_row_ranking and stage_members <= {CONTEXT_STAGE}:  # which is a member of rows as well
        return ROWS_FORMAT
    return STAGE_LISTS_FORMAT if stage_members else name


_GOLDEN_MEMBERS = frozenset(("must_have", "evidence", "expected_chunk_ids", "reference", "golden_set"))


def _describe_line(text: str, row: object) -> str:
    if isinstance(row, dict):
        kind = ", as a golden set has it" if not _GOLDEN_MEMBERS.isdisjoint(row) else ""
        return "a JSON object with " + (", ".join(sorted(map(str, row))[:8]) or "nothing in it") + kind
    if text.startswith("["):
        return "a JSON array, which is one value and not a line for each case"
    if text in ("{", "}"):
        return "JSON spread over several lines"
    if row is None and "," in text and '"query' not in text:
        return f"comma-separated values: {shorten_repr(text, 60)}"
    return f"a line that is not a JSON object: {shorten_repr(text, 60)}"


def read_observations(path: str, name: str, format_name: str) -> Iterator[Observation]:
    """Yield all observations of one plain file. Raises InputError at the end with everything wrong with its lines."""
    output_format = OUTPUT_FORMATS[format_name]
    problems: list[Problem] = []
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if line.isspace():
                continue
            try:
                yield output_format.decode(line)
            except DECODING_ERRORS as error:
                problems += explain_bad_line(name, number, line, output_format.record, error)
    if problems:
        raise InputError(problems)


LINES_CHECKED_FOR_KEYS = 20


def describe_unknown_keys(file: OutputFile) -> list[str]:
    """Return a sentence for each key of the first lines of a file that its format does not have."""
    if file.lines is not None:
        return []  # rewritten, and noted then
    record = OUTPUT_FORMATS[file.format].record
    counts: Counter[str] = Counter()
    with open(file.path, "rb") as lines:
        first_lines = list(islice(lines, LINES_CHECKED_FOR_KEYS))
    for line in first_lines:
        counts.update(f"{key}{hint}" for key, hint in find_unknown_keys(line, record).items())
    looked_at = f"of the first {format_count(len(first_lines), 'row')}"
    return [
        f"{file.name}: {format_count(count, f'{looked_at} has', f'{looked_at} have')} the unknown key {key}"
        for key, count in sorted(counts.items())
    ]


class OutputShard(Struct, frozen=True):
    """The bytes of one shard: `path` is read, `source` is the name in messages (a spooled file has another path).

    `allow_torn_tail` accepts a last line that a crash cut off; `strict` refuses duplicate and unknown keys, and
    rankings that repeat a chunk.
    """

    path: str
    source: str
    format: str
    start: int
    end: int
    file: int
    allow_torn_tail: bool = False
    strict: bool = False


BYTES_PER_SHARD = 16 * 1024 * 1024


class OutputFile(Struct, frozen=True):
    """One file to read: the path of its bytes, its name in messages, its format, and its size in bytes.

    A TREC run or a file of rows is rewritten as native lines before it is decoded: `lines` holds, for each of them, the
    line number in the original file; `notices` are about the rewriting.
    """

    path: str
    name: str
    format: str
    size: int
    lines: Sequence[int] | None = None
    notices: tuple[str, ...] = ()

    @property
    def decoded_as(self) -> str:
        """The format of the lines at `path`."""
        return "assay" if self.lines is not None else self.format

    def original_line(self, number: int) -> int:
        """Return the line number in the user's file."""
        return number if self.lines is None else self.lines[number - 1]


def expand_patterns(patterns: Sequence[str]) -> list[str]:
    """Return the files that names and glob patterns match, each once, in the order given (matches sorted)."""
    problems: list[Problem] = []
    names: dict[str, None] = {}
    for pattern in patterns:
        if pattern == "-" or os.path.lexists(pattern):
            names[pattern] = None
            continue
        matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  # the pattern may be absolute
        if not matches:
            problems.append(Problem(pattern, None, "", _NO_MATCH, "E_NO_FILE"))
        names.update(dict.fromkeys(matches))
    if not patterns:
        problems.append(Problem("", None, "outputs", "no file given (expected at least one)", "E_NO_FILE"))
    if problems:
        raise InputError(problems)
    name_by_path: dict[str, str] = {}
    for name in names:
        name_by_path.setdefault(os.path.realpath(name), name)
    return list(name_by_path.values())


@contextmanager
def open_output_files(patterns: Sequence[str], named_format: str | None) -> Iterator[list[OutputFile]]:
    """Yield the output files with their formats.

    They are read at byte offsets, by several processes and again for reports: standard input is copied to a temporary
    file, and a compressed file is unpacked to one once its first line was recognised.
    """
    rewritten = (TREC_RUN_FORMAT, ROWS_FORMAT)
    if named_format is not None and named_format not in rewritten and named_format not in OUTPUT_FORMATS:
        expected = ", ".join((*OUTPUT_FORMATS.list_names(), *rewritten))
        message = f"no such format (got {shorten_repr(named_format)}; expected one of {expected})"
        raise InputError([Problem("", None, "outputs-format", message, "E_FORMAT")])
    with ExitStack() as stack:
        files = []
        for name in expand_patterns(patterns):
            source = stack.enter_context(open_source(name))
            if source.path.is_dir():
                recorded = source.path / "observations.jsonl"
                hint = f", such as {Path(name) / recorded.name}" if recorded.is_file() else ""
                message = f"is a folder (expected a file or a pattern{hint})"
                raise InputError([Problem(name, None, "", message, "E_NO_FILE")])
            first = _first_line(source)
            if first.lstrip().startswith(b"["):
                first = _read_beginning(source)
            format = named_format or detect_output_format(source.name, first)
            refuse_packed_misfit(source, format)
            plain = stack.enter_context(unpack_source(source))
            files.append(OutputFile(str(plain), source.name, format, plain.stat().st_size))
        yield files


@contextmanager
def prepare_decodable(
    files: Sequence[OutputFile],
    cases: Sequence[Case] | None = None,
    *,
    keep_unknown: bool = False,
    config: str | None = None,
) -> Iterator[list[OutputFile]]:
    """Yield the files with every TREC run and every file of rows rewritten as native lines in a temporary folder.

    `cases`: the golden cases by which rows are matched; `keep_unknown` keeps rows of no case; `config` is the
    configuration of rows that name none, instead of the stem of the file. Raises InputError for what is wrong with the
    rows, and for rows without `cases`.
    """
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        decodable: list[OutputFile] = []
        for number, file in enumerate(files):
            target = Path(folder, str(number))
            if file.format == TREC_RUN_FORMAT:
                decodable.append(_rewrite_trec_run(file, target))
            elif file.format == ROWS_FORMAT:
                decodable.append(_rewrite_rows(file, target, cases, config, keep_unknown=keep_unknown))
            else:
                decodable.append(file)
        yield decodable


def _rewrite_rows(
    file: OutputFile, target: Path, cases: Sequence[Case] | None, config: str | None, *, keep_unknown: bool
) -> OutputFile:
    if cases is None:
        message = "rows of another tool, which are matched with a golden set (import them: assay init --from FILE)"
        raise InputError([Problem(file.name, None, "", message, "E_FORMAT")])
    from assay.formats.foreign.row_outputs import convert_rows

    written = convert_rows(Path(file.path), file.name, target, cases, config, keep_unknown=keep_unknown)
    return replace(file, path=str(target), size=target.stat().st_size, lines=written.lines, notices=written.notices)


def _rewrite_trec_run(file: OutputFile, target: Path) -> OutputFile:
    from assay.formats.trec.runs import convert_trec_run  # most runs read no TREC files

    written = convert_trec_run(Source(Path(file.path), file.name), target)
    notices = (
        (f"{file.name}: {format_count(written.normalised, 'line')} brought to Unicode NFC",)
        if written.normalised
        else ()
    )
    return replace(file, path=str(target), size=target.stat().st_size, lines=written.lines, notices=notices)


def refuse_packed_misfit(source: Source, format: str) -> None:
    """Raise InputError if a packed file is visibly not in a format of outputs, before all of it is unpacked.

    Only its first line is looked at; a plain file is left to its reader, which names every line.
    """
    if not is_packed(source.path):
        return
    first = _first_line(source)
    is_trec = format == TREC_RUN_FORMAT
    if len(first.split()) < _TREC_RUN_COLUMNS if is_trec else not first.lstrip().startswith(b"{"):
        expected = f"{_TREC_RUN_COLUMNS} columns" if is_trec else "a JSON object on each line"
        got = _describe_line(first.decode("utf-8", "replace"), None)
        raise InputError([Problem(source.name, 1, "", f"not {format} (got {got}; expected {expected})", "E_FORMAT")])


def _first_line(source: Source) -> bytes:
    """Return the first line that is not blank; raise InputError for a file without one, or one that is not UTF-8."""
    for line in read_lines(source):
        if not line.data.isspace() and line.data:
            return line.data
    raise InputError([Problem(source.name, None, "", "empty (got no line; expected one for each case)", "E_EMPTY")])


def _read_beginning(source: Source) -> bytes:
    """Return the first bytes of a JSON list, enough for its first item."""
    with open_unpacked(source) as file:
        return file.read(_BYTES_OF_FIRST_ITEM)


def cut_shards(files: Sequence[OutputFile], *, torn_tail: bool = False, strict: bool = False) -> list[OutputShard]:
    """Return the shards of the files: ranges of about `BYTES_PER_SHARD` bytes that end at the end of a line.

    Raises InputError for a line that is too long for any reader.
    """
    return [
        OutputShard(file.path, file.name, file.decoded_as, start, end, number, torn_tail and end == file.size, strict)
        for number, file in enumerate(files)
        for start, end in _byte_ranges(file, BYTES_PER_SHARD)
    ]


def _byte_ranges(file: OutputFile, size: int) -> Iterator[tuple[int, int]]:
    start = 0
    with open(file.path, "rb") as lines:
        while start < file.size:
            end = min(start + size, file.size)
            if end < file.size:
                lines.seek(end)
                partial_line = lines.readline(MAX_LINE_BYTES + 1)
                if len(partial_line) > MAX_LINE_BYTES and not partial_line.endswith(b"\n"):
                    raise _too_long(file, end)
                end += len(partial_line)
            yield start, end
            start = end


def _too_long(file: OutputFile, offset: int) -> InputError:
    with open(file.path, "rb") as lines:
        number = 1 + sum(
            lines.read(min(BYTES_PER_SHARD, offset - chunk_start)).count(b"\n")
            for chunk_start in range(0, offset, BYTES_PER_SHARD)
        )
    message = f"line too long (got more than {MAX_LINE_BYTES} bytes; expected {MAX_LINE_BYTES} at most)"
    return InputError([Problem(file.name, number, "", message, "E_LINE_TOO_LONG")])
