"""Golden sets, outputs and targets as Python gives them: paths, records, lists of dictionaries, data frames, functions.

A value that is none of these is an error that says what was expected and, where it can be told, what was meant.
"""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
from msgspec import structs

from assay.calls.interfaces import Target
from assay.formats.corpus import load_corpus, read_corpus_rows
from assay.formats.foreign.extra_columns import lift_attributes
from assay.formats.foreign.foreign_files import load_foreign_file
from assay.formats.foreign.member_names import (
    BEHAVIOUR_KEYS,
    EVIDENCE_ID_KEYS,
    ID_KEYS,
    QUESTION_KEYS,
    RowError,
    describe_unread,
    normalise_member_name,
)
from assay.formats.foreign.python_rows import list_rows
from assay.formats.foreign.reply_shapes import ANSWER_KEYS, recognise_reply
from assay.formats.foreign.row_files import open_articles
from assay.formats.foreign.row_outputs import RowReader
from assay.formats.foreign.rows import READ_MEMBERS, ForeignRows, add_shown_context, make_question_id, read_foreign_rows
from assay.formats.golden_files import load_golden
from assay.formats.golden_sets.json_cases import NATIVE_MEMBERS, fits_record
from assay.formats.outputs import (
    ROWS_FORMAT,
    describe_unknown_keys,
    expand_patterns,
    guess_row_format,
    open_output_files,
    prepare_decodable,
    read_observations,
)
from assay.formats.problems import find_time_fault, join_repeated_problems, make_value_error
from assay.formats.recorded_outputs.line_checks import refuse_empty_row
from assay.formats.run_files.run_folder import compute_file_sha256
from assay.formats.settings_file import Config
from assay.formats.strict_json import write_plain_text
from assay.gates.gate_files import read_gate_fields
from assay.gates.rules import find_rule_problem
from assay.gates.ungated_decision import JUDGE_COMMAND
from assay.records.digest import compute_digest
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import GOLDEN_KEYS_TAKEN, GOLDEN_KEYS_UNREAD, Case, Corpus, GoldenSet
from assay.records.observations import UNNAMED_CONFIG, Observation
from assay.records.release_gates import Decision, Gate, Rule
from assay.records.requests import GateOptions, date_of_time
from assay.records.settings import LangchainTargetSettings, LlamaindexTargetSettings, Settings
from assay.runs.import_rows import check_cases
from assay.targets.choose_target import TargetPermissions, choose_targets, make_target
from assay.targets.python import CallableTarget, describe_unfit_parameters

PathLike = str | Path
GateLike = Gate | Mapping[str, Any] | Sequence[Mapping[str, Any] | Rule] | str | Path
"""A gate, the fields of a gate file, its rules alone, the path of one, or the name of a shipped profile."""
GOLDEN_NAME, OUTPUTS_NAME, CORPUS_NAME = "golden", "outputs", "corpus"
_GOLDEN_FORMS = "a path, a GoldenSet, a list of dictionaries or Cases, or a data frame"
_OUTPUT_FORMS = "a path, or a list of paths, dictionaries or Observations, or a data frame"
_CORPUS_FORMS = "a path, a Corpus, a list of dictionaries or CorpusChunks with chunk_id and text, or a data frame"
_ENDPOINT_METHODS = ("query", "aquery", "retrieve", "aretrieve")


_UNNAMED_CONFIG = "outputs"
"""The configuration of rows that name none, as the stem of its name is that of a file."""

_paths_of_frozen_sets: dict[str, str] = {}


def load_golden_file(path: str | Path, format: str | None = None) -> GoldenSet:
    """Load a golden set, and remember where a frozen one lies: looks at it are counted next to the file."""
    golden = load_golden(path, format).golden
    if golden.frozen_digest:
        _paths_of_frozen_sets[golden.frozen_digest] = str(Path(path).absolute())
    return golden


def require_path(value: Any, name: str) -> str | Path:
    """Return a path. Raises InputError for a value that is none, such as rows, which other functions take."""
    if isinstance(value, (str, Path)):
        return value
    expected = "the path of a file; assay.score and assay.run take rows and records as they are"
    raise make_value_error(name, f"no path (got {shorten_repr(value)}; expected {expected})")


def find_golden_file(golden: GoldenSet) -> str:
    """Return the file that a frozen golden set was last loaded from; "" if it was made in Python."""
    return _paths_of_frozen_sets.get(golden.frozen_digest, "")


def digest_outputs_value(outputs: Any, observations: Sequence[Observation]) -> list[str]:
    """Return what identifies outputs as looks at a test split: the digests of files, else that of the observations."""
    paths = [outputs] if isinstance(outputs, (str, Path)) else outputs
    if isinstance(paths, (list, tuple)) and paths and all(isinstance(path, (str, Path)) for path in paths):
        return [compute_file_sha256(Path(path)) for path in expand_patterns([str(path) for path in paths])]
    encoded = sorted(msgspec.json.encode(row, order="deterministic") for row in observations)
    return [compute_digest([row.decode() for row in encoded])]


def _write_case(case: Case) -> Any:
    """Return a case as the row from which it is read."""
    return msgspec.to_builtins(case, enc_hook=write_plain_text)


def read_golden_value(golden: Any, notes: dict[str, None] | None = None) -> GoldenSet:
    """Return the golden set that a value holds; what was read how, and what was not, is put into `notes`.

    Raises InputError with every problem, by row.
    """
    if isinstance(golden, GoldenSet):
        return golden
    if isinstance(golden, (str, Path)):
        return _load_any_golden(_find_file(golden, GOLDEN_NAME), {} if notes is None else notes)
    if inspect.isroutine(golden) or hasattr(golden, "scoring"):  # a target, or a result
        kind = "a function" if inspect.isroutine(golden) else "a result"
        order = "assay.run(target, golden), assay.score(golden, outputs)"
        raise make_value_error(
            GOLDEN_NAME, f"{kind} in the place of the golden set (expected {order}: {_GOLDEN_FORMS})"
        )
    rows = open_articles(list_rows(golden, GOLDEN_NAME, _GOLDEN_FORMS))
    if any(isinstance(row, Observation) for row in rows):
        message = f"observations (expected the golden set first, then what was observed: {_GOLDEN_FORMS})"
        raise make_value_error(GOLDEN_NAME, message)
    texts = [row for row in rows if isinstance(row, str)]
    if texts:
        message = f'a text is no row (got {shorten_repr(texts[0])}; expected {{"question": …, "reference": …}})'
        raise make_value_error(GOLDEN_NAME, message)
    rows = _name_cases(_write_ids([_write_case(row) if isinstance(row, Case) else row for row in rows]))
    notes = {} if notes is None else notes
    try:
        return _read_golden_rows(rows, notes)
    except InputError as error:
        kinds = {tuple(row) for row in rows if isinstance(row, Mapping)}
        if len(kinds) == 1 or len(rows) > _MOST_ROWS_APART:
            raise
        return _read_golden_rows_apart(rows, notes, error)


_MOST_ROWS_APART = 1_000


def _read_golden_rows(rows: Sequence[Any], notes: dict[str, None]) -> GoldenSet:
    """Return the golden set of rows that are all of Assay, or all of another tool."""
    if any(isinstance(row, Mapping) and any(key in row for key in ID_KEYS) for row in rows):
        try:
            return _read_native_rows(rows)
        except InputError as error:
            if _has_native_members(rows):
                return _read_with_attributes(rows, error, notes)
            if not _are_of_another_tool(error):
                raise
    foreign = read_foreign_rows(enumerate(rows, 1), GOLDEN_NAME, is_golden=True)
    if foreign.problems:
        raise InputError(join_repeated_problems(foreign.problems))
    _note_reading(foreign, GOLDEN_NAME, notes)
    return check_cases(foreign, GOLDEN_NAME).golden


def _read_with_attributes(rows: Sequence[Any], error: InputError, notes: dict[str, None]) -> GoldenSet:
    """Return the golden set of rows in Assay's words whose only fault is columns that can be attributes.

    Raises `error`, what is wrong with the rows as they are, for any other.
    """
    unknown = [problem.field for problem in error.problems]
    is_only_unknown = all(problem.code == "E_UNKNOWN_FIELD" for problem in error.problems)
    lifted = lift_attributes(rows, unknown) if is_only_unknown else None
    if lifted is None:
        raise error
    described, taken = lifted
    golden = _read_native_rows(described)
    notes.setdefault(taken)
    return golden


def _read_golden_rows_apart(rows: Sequence[Any], notes: dict[str, None], error: InputError) -> GoldenSet:
    """Return the golden set of rows of several formats, each read on its own, so that none changes another.

    Raises `error`, what is wrong with them together, unless fewer problems are left this way.
    """
    apart = ForeignRows()
    problems: list[Problem] = []
    for number, row in enumerate(rows, 1):
        try:
            apart.cases += [(case, number) for case in _read_golden_rows([row], apart.notes).cases]
        except InputError as refused:
            problems += [structs.replace(problem, line=number) for problem in refused.problems]
            if len(problems) >= len(error.problems):
                raise error from None
    if problems:
        raise InputError(problems)
    notes.update(apart.notes)
    return check_cases(apart, GOLDEN_NAME).golden


def _note_reading(foreign: ForeignRows, name: str, notes: dict[str, None]) -> None:
    # Those whose meaning is known come first: what is printed of a long list is its beginning.
    names = sorted(map(describe_unread, foreign.ignored), key=lambda text: (not text.endswith("?)"), text))
    prefix = "" if name == GOLDEN_NAME else f"{name}: "
    for note in foreign.notes:
        notes.setdefault(f"{prefix if note.startswith(GOLDEN_KEYS_TAKEN) else f'{name}: '}{note}")
    if names:
        notes.setdefault(f"{prefix}{GOLDEN_KEYS_UNREAD}{', '.join(names)}")


def _load_any_golden(path: str, notes: dict[str, None]) -> GoldenSet:
    """Return the golden set of a file, which may hold rows of another tool as a list of dictionaries may."""
    try:
        return load_golden_file(path)
    except InputError as error:
        is_table = Path(path.removesuffix(".gz")).suffix in _ROW_SUFFIXES
        if not is_table or any(problem.code not in _CODES_OF_OTHER_TABLES for problem in error.problems):
            raise
        try:
            foreign = load_foreign_file(path, is_golden=True)
        except InputError as refused:
            if all(problem.field == "question" or problem.code == "E_EMPTY" for problem in refused.problems):
                raise error from None  # rows without a question are something else: the first error says what
            raise
    _note_reading(foreign, path, notes)
    return check_cases(foreign, path).golden


_CODES_OF_OTHER_TABLES = ("E_FORMAT", "E_HEADER")
"""What is wrong with a file whose rows, or the columns of whose table, are of no format of Assay."""
_ROW_SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")


def _are_of_another_tool(error: InputError) -> bool:
    """Return whether what no format of Assay reads of rows is what rows of other tools have."""
    unknown = [problem.field for problem in error.problems if problem.code == "E_UNKNOWN_FIELD"]
    are_foreign = bool(unknown) and all(normalise_member_name(name) in READ_MEMBERS for name in unknown)
    return are_foreign or any(problem.code == "E_FORMAT" for problem in error.problems)


_NATIVE_EXPECTATIONS = frozenset((
    *NATIVE_MEMBERS, "rubric", "nuggets", "answer_format", "also_accept", "variant_of", "relevance",
    "forbidden_chunk_ids", "user_context",
)).difference(BEHAVIOUR_KEYS)  # fmt: skip


def _has_native_members(rows: Sequence[Any]) -> bool:
    """Return whether rows have members of which rows of other tools know nothing, so that they would be lost."""
    return not _NATIVE_EXPECTATIONS.isdisjoint(_collect_names(rows))


def _collect_names(rows: Sequence[Any]) -> set[str]:
    return {key for row in rows if isinstance(row, Mapping) for key in row}


def _name_cases(rows: Sequence[Any]) -> list[Any]:
    """Return rows with ids made of their questions where some have an id, or members that only cases of Assay have."""
    names = _collect_names(rows)
    are_cases = not names.isdisjoint(ID_KEYS) or _has_native_members(rows)
    are_cases = are_cases or (not names <= READ_MEMBERS and fits_record(names, Case))
    return [_name_case(row) if are_cases and isinstance(row, Mapping) else row for row in rows]


def _name_case(row: Mapping[str, Any]) -> Mapping[str, Any]:
    question = next((row[key] for key in QUESTION_KEYS if isinstance(row.get(key), str)), None)
    if question is None or any(key in row for key in ID_KEYS):
        return row
    return {"id": make_question_id(question), **row}


def read_corpus_value(corpus: Any) -> Corpus | None:
    """Return the corpus that a value holds, None for None. Raises InputError with every problem, by row."""
    if corpus is None or isinstance(corpus, Corpus):
        return corpus
    if isinstance(corpus, (str, Path)):
        return load_corpus(corpus)[0]
    rows = list_rows(corpus, CORPUS_NAME, _CORPUS_FORMS)
    written = _write_ids(rows, CORPUS_NAME, _CHUNK_ID_COLUMNS)
    present = [
        {key: cell for key, cell in row.items() if cell is not None} if isinstance(row, dict) else row
        for row in written
    ]
    return read_corpus_rows(enumerate(present, 1), CORPUS_NAME)[0]


_CHUNK_ID_COLUMNS = ("chunk_id", "id", "_id")
_ID_COLUMNS = (*ID_KEYS, "variant_of", "cluster")
_ID_LIST_COLUMNS = (*EVIDENCE_ID_KEYS, "must_cite")


def _write_ids(rows: Sequence[Any], name: str = GOLDEN_NAME, columns: Sequence[str] = _ID_COLUMNS) -> list[Any]:
    """Return rows whose ids are texts: in a frame, and in most databases, they are integers.

    Raises InputError for ids that are floats: 1.0 may stand for "1" or "1.0".
    """
    problems = []
    written: list[Any] = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            written.append(row)
            continue
        members = dict(row)
        for column in columns:
            value = members.get(column)
            if isinstance(value, float):
                problems.append(Problem(name, number, column, _describe_float_id(value), "E_TYPE"))
            elif _is_integer(value):
                members[column] = str(value)
        for column in _ID_LIST_COLUMNS:
            values = members.get(column)
            if isinstance(values, list):
                members[column] = [str(value) if _is_integer(value) else value for value in values]
        written.append(members)
    if problems:
        raise InputError(problems)
    return written


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _describe_float_id(value: float) -> str:
    expected = 'a text or an integer: a column with empty cells is one of floats until astype("Int64")'
    return f"an id that is a float (got {value!r}; expected {expected})"


def _read_native_rows(rows: Sequence[Any]) -> GoldenSet:
    """Return the golden set of rows in any format that Assay reads; problems are named by the number of the row."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "golden.jsonl")
        path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        try:
            return load_golden(path).golden
        except InputError as error:
            problems = [
                structs.replace(problem, path=GOLDEN_NAME, message=problem.message.replace(str(path), GOLDEN_NAME))
                for problem in error.problems
            ]
            raise InputError(problems, more=error.more) from None


def read_outputs_value(
    outputs: Any,
    golden: GoldenSet,
    config: str | None = None,
    notes: dict[str, None] | None = None,
    *,
    is_unknown_kept: bool = False,
) -> list[Observation]:
    """Return the observations that a value holds; `config` names the configuration of rows that name none.

    What is read under another name, and what is not read, is put into `notes`. A row is the answer to the case that its
    id names or, without one, to the case whose question it holds; rows of no case are kept with `is_unknown_kept`.
    Raises InputError with every problem, by row.
    """
    is_path = isinstance(outputs, (str, Path))
    rows = [outputs] if is_path else list_rows(outputs, OUTPUTS_NAME, _OUTPUT_FORMS, kept=ANSWER_KEYS)
    if rows and all(isinstance(row, (str, Path)) for row in rows):
        if not is_path:
            _refuse_answers_as_paths(rows)
        return read_output_files(rows, None, golden, config, notes, is_unknown_kept=is_unknown_kept)
    if any(isinstance(row, (Case, GoldenSet)) for row in rows):
        raise make_value_error(OUTPUTS_NAME, f"cases (expected the golden set first, then outputs: {_OUTPUT_FORMS})")
    names: dict[str, None] = {}
    reader = _OutputRowReader(golden, config, names, is_unknown_kept=is_unknown_kept)
    observations: list[Observation] = []
    problems: list[Problem] = []
    for number, row in enumerate(rows, 1):
        try:
            observations.append(row if isinstance(row, Observation) else reader.read_row(row))
        except RowError as error:
            problems.append(Problem(OUTPUTS_NAME, number, error.member, error.message, "E_OUTPUT"))
    if problems:
        raise InputError(join_repeated_problems(problems))
    if notes is not None:
        notes.update(dict.fromkeys(f"{OUTPUTS_NAME}: {note}" for note in names))
    return observations


def _refuse_answers_as_paths(paths: Sequence[str | Path]) -> None:
    """Raise InputError for texts that name no file and do not look like the path or pattern of one."""
    first = str(paths[0])
    is_path = Path(first).suffix[1:].isalnum() or any(sign in first for sign in "/\\*?[-") or Path(first).exists()
    if not is_path:
        message = f"a text is the path of a file here (got {shorten_repr(first)}; expected {_OUTPUT_FORMS}"
        example = f'such as {{"question": …, "answer": {shorten_repr(first)}}}'
        raise make_value_error(OUTPUTS_NAME, f"{message}, {example})")


class _OutputRowReader:
    """Reads rows of outputs: those that a file would hold as rows of another tool as there, others by their members."""

    def __init__(self, golden: GoldenSet, config: str | None, notes: dict[str, None], *, is_unknown_kept: bool) -> None:
        self.rows = RowReader(golden.cases, config or _UNNAMED_CONFIG, notes, keep_unknown=is_unknown_kept)

    def read_row(self, row: Any) -> Observation:
        """Return the observation of a row. Raises RowError for one that cannot be read."""
        if not isinstance(row, Mapping):
            raise RowError("", f"not a row (got {shorten_repr(row)}; expected a dictionary or an Observation)")
        members = dict(row)
        for key in ID_KEYS:
            if isinstance(members.get(key), float):
                raise RowError(key, _describe_float_id(members[key]))
        if _guess_row_format(tuple(members)) == ROWS_FORMAT:
            return self.rows.read_row(members)
        try:
            return self._read_members(members)
        except RowError:
            raise
        except ValueError as error:  # of a shape, of a value or of a row that reports nothing
            raise RowError("", str(error)) from None

    def _read_members(self, members: Mapping[str, Any]) -> Observation:
        shape = recognise_reply(members, lambda note: self.rows.notes.setdefault(note), is_recorded=True)
        row = shape.row
        named = {key: members[key] for key in ID_KEYS if members.get(key) is not None}
        row["case_id"] = str(next(iter(named.values()))) if named else self.rows.matcher.find_case(members)
        row.pop("query_id", None)
        if row.get("config_id") is None:
            row["config_id"] = str(members.get("config") or self.rows.config)
        present = {key: member for key, member in row.items() if member is not None or key == "answer"}
        observation = msgspec.convert(present, Observation)
        has_stages = shape.rankings or shape.has_stages
        observation = structs.replace(observation, stages=tuple(shape.rankings) if has_stages else None)
        refuse_empty_row(observation, members)
        return add_shown_context(observation, members, self.rows.notes)


@lru_cache(maxsize=256)  # most rows have the same
def _guess_row_format(keys: tuple[str, ...]) -> str:
    """Return the format that a row would have in a file, "" where none fits or two do."""
    try:
        return guess_row_format(OUTPUTS_NAME, keys)
    except InputError:
        return ""


def read_output_files(
    paths: Sequence[str | Path],
    format: str | None = None,
    golden: GoldenSet | None = None,
    config: str | None = None,
    notes: dict[str, None] | None = None,
    *,
    is_unknown_kept: bool = False,
) -> list[Observation]:
    """Return the observations of files or glob patterns; rows of other tools are matched with the cases of `golden`.

    `config`, `notes` and `is_unknown_kept` are those of `read_outputs_value`. Raises InputError listing all problems of
    the files.
    """
    cases = golden.cases if golden is not None else None
    observations: list[Observation] = []
    with (
        open_output_files([str(path) for path in paths], format) as files,
        prepare_decodable(files, cases, keep_unknown=is_unknown_kept, config=config) as ready,
    ):
        for file in ready:
            observations += read_observations(file.path, file.name, file.decoded_as)
            if notes is not None:
                notes.update(dict.fromkeys((*file.notices, *describe_unknown_keys(file))))
    if config is None:
        return observations
    return [structs.replace(row, config_id=config) if row.config_id == UNNAMED_CONFIG else row for row in observations]


def read_gate_value(rules: GateLike | None, configs: Sequence[str] = ()) -> GateOptions:
    """Return the options for rules, for the fields or the path of a gate file, or for the name of a profile."""
    if rules is None or isinstance(rules, Gate):
        return GateOptions(rules, configs=configs)
    if isinstance(rules, Sequence) and not isinstance(rules, (str, bytes)):
        rules = {"rules": list(rules)}
    if isinstance(rules, Mapping):
        return GateOptions(read_gate_fields(rules, find_rule_problem), configs=configs)
    try:
        is_file = isinstance(rules, Path) or Path(rules).suffix in (".yaml", ".yml")
    except TypeError:
        expected = "an assay.Gate, a dictionary, a list of rules, the path of a gate file, or the name of a profile"
        raise make_value_error("gate", f"no rules (got {shorten_repr(rules)}; expected {expected})") from None
    return GateOptions(str(rules), configs=configs) if is_file else GateOptions(profile=str(rules), configs=configs)


def read_day(now: str | None) -> str | None:
    """Return the day on which waivers are in force; None without a time. Raises InputError for what is no time."""
    if now is None:
        return None
    fault = find_time_fault(now if isinstance(now, str) else repr(now))
    if fault:
        raise make_value_error("now", fault)
    return date_of_time(now)


_ARGUMENT_OPTION = re.compile(
    r"(?<![\w-])--(baseline|calibration|entailment-model|max-calls|max-cost)\b ?|--(now) or SOURCE_DATE_EPOCH"
)
"""The options that reasons of gates name and that are arguments in Python."""


def name_arguments(decision: Decision) -> Decision:
    """Return a decision whose reasons name the arguments of Python in the place of options of the command line."""
    results = [structs.replace(result, message=name_arguments_in_text(result.message)) for result in decision.results]
    return structs.replace(
        decision,
        reasons=tuple(map(name_arguments_in_text, decision.reasons)),
        risks=tuple(map(name_arguments_in_text, decision.risks)),
        results=tuple(results),
    )


def name_arguments_in_text(message: str) -> str:
    """Return a sentence on a result with the arguments of Python in the place of options of the command line."""
    message = message.replace(f"(repeat {JUDGE_COMMAND}", "(repeat assay.judge")
    message = message.replace("`--retry-errors` of `assay run` asks again", "assay.run asks again")
    return _ARGUMENT_OPTION.sub(lambda option: (option[1] or option[2]).replace("-", "_") + "=", message)


_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])(?: (?:FILE|DIR|NAME|ID|RUN)\b)?")
_ARGUMENTS_OF_OPTIONS = {
    "profile": "gate",
    "outputs": "observations",
    "golden-format": "format",
    "outputs-format": "format",
}
"""The arguments that have another name than their option."""
_ARGUMENTS_ELSEWHERE = {
    "ignore-unknown": "assay.score(…, ignore_unknown=True)",
    "outputs-format": "assay.load_observations(…, format=…)",
    "golden-format": "assay.load_golden(…, format=…)",
    "calibration": "assay.score(…, calibration=…)",
    "verdicts": "assay.score(…, verdicts=…)",
    "baseline": "assay.score(…, baseline=…)",
    "model": "its model in the settings file",
}
"""Where an option is an argument of another function, which is named then."""
F = TypeVar("F", bound=Callable[..., Any])


LIKE_ENOUGH = 0.7
"""How alike a misspelt argument and the one that was meant are: outputs is not corpus (0.62)."""


def says_arguments(function: F) -> F:
    """Make the errors of a function, plain or async, name its arguments where they would name options of the command
    line, or the function that has the argument. Other options stay as they are.
    """
    parameters = inspect.signature(function).parameters

    def refuse_misspelt(names: Iterable[str]) -> None:
        for name in names:
            if name not in parameters:
                near = get_close_matches(name, parameters, 1, LIKE_ENOUGH)
                expected = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(parameters)}"
                raise TypeError(f"assay.{function.__name__} has no argument {name} ({expected})")

    def name_argument(option: re.Match[str]) -> str:
        name = _ARGUMENTS_OF_OPTIONS.get(option[1], option[1].replace("-", "_"))
        if name not in parameters:
            return _ARGUMENTS_ELSEWHERE.get(option[1], option[0])
        if option.string[option.end() :].startswith(":"):  # the place of a problem
            return name
        return f"{name}=True" if parameters[name].default is False else f"{name}="

    @contextmanager
    def name_arguments() -> Iterator[None]:
        try:
            yield
        except InputError as error:
            error.problems = [
                structs.replace(
                    problem,
                    field=_OPTION.sub(name_argument, problem.field),
                    message=_OPTION.sub(name_argument, problem.message),
                )
                for problem in error.problems
            ]
            error.args = (str(error),)
            raise

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        refuse_misspelt(kwargs)
        with name_arguments():
            return function(*args, **kwargs)

    @wraps(function)
    async def call_async(*args: Any, **kwargs: Any) -> Any:
        refuse_misspelt(kwargs)
        with name_arguments():
            return await function(*args, **kwargs)

    return cast("F", call_async if inspect.iscoroutinefunction(function) else call)


def _find_file(path: str | Path, name: str) -> str:
    if str(path) != "-" and not Path(path).exists():
        raise make_value_error(name, f"no such file (got {str(path)!r}; expected {_GOLDEN_FORMS})")
    return str(path)


# ── targets ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def make_target_of_value(target: Any, name: str | None, search: Callable[..., Any] | None) -> Target:
    """Return the target that a value is: a function, an object with `ask` and `search`, a LangChain runnable, a
    LlamaIndex engine, a Target, or a text as after `--target` (an address, `module:attr`, a file of outputs).

    Raises InputError for anything else.
    """
    if isinstance(target, type):
        raise make_value_error("target", f"a class (got {target.__name__}; expected an instance of it, or a function)")
    if isinstance(target, Target):
        return target
    if isinstance(target, (str, Path)):
        config = Config(Settings(), {})
        spec = str(target) if name is None else f"{name}={target}"
        (chosen,) = choose_targets(config, [spec])
        return make_target(chosen, config, TargetPermissions())
    named = search if target is None else target
    target_name = name or getattr(named, "__name__", "") or type(named).__name__
    if inspect.isroutine(target) or isinstance(target, type(None)):
        return _make_function_target(target_name, target, search)
    if hasattr(target, "ask") or hasattr(target, "search"):
        return _make_function_target(
            target_name, getattr(target, "ask", None), search or getattr(target, "search", None)
        )
    if hasattr(target, "ainvoke"):
        from assay.targets.langchain import make_runnable_target  # needs LangChain

        return make_runnable_target(target_name, target, LangchainTargetSettings(call=target_name))
    if any(hasattr(target, method) for method in _ENDPOINT_METHODS):
        from assay.targets.llamaindex import make_engine_target

        return make_engine_target(target_name, target, search, LlamaindexTargetSettings(call=target_name))
    return _make_function_target(target_name, target, search)


def _make_function_target(name: str, ask: Any, search: Any) -> Target:
    for function in (ask, search):
        if function is not None and not callable(function):
            expected = "a function that takes the question and returns the answer, or a target of another kind"
            hint = _suggest_target(function)
            raise make_value_error(
                "target", f"cannot be called (got {shorten_repr(function)}; expected {expected}{hint})"
            )
        fault = describe_unfit_parameters(function)
        if fault:
            raise make_value_error("target", f"{getattr(function, '__name__', 'the function')} {fault}")
    if ask is None and search is None:
        raise make_value_error("target", "nothing to call (got None; expected a function that takes the question)")
    return CallableTarget(_clean_name(name), ask, search)


_ASKING_METHODS = ("invoke", "run", "answer", "chat", "predict", "generate", "complete", "call")


def _suggest_target(value: Any) -> str:
    """Return what is probably meant by a value that cannot be called; "" where nothing is like a target."""
    if isinstance(value, (Mapping, list, tuple)) or hasattr(value, "columns"):
        return "; recorded answers are scored by assay.score(golden, outputs)"
    method = next((name for name in _ASKING_METHODS if callable(getattr(value, name, None))), None)
    return f"; of this object perhaps its method .{method}" if method else ""


def _clean_name(name: str) -> str:
    return "target" if name in ("", "<lambda>") else name
