"""Golden sets, outputs and targets as Python gives them: paths, records, lists of dictionaries, data frames, functions.

A value that is none of these is an error that says what was expected and, where it can be told, what was meant.
"""

from __future__ import annotations

import inspect
import math
import re
import tempfile
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
from msgspec import structs

from assay.calls.interfaces import Target
from assay.formats.chunk_shapes import ShapeError
from assay.formats.corpus import load_corpus, read_corpus_rows
from assay.formats.foreign_names import BEHAVIOUR_KEYS, EVIDENCE_ID_KEYS, ID_KEYS, QUESTION_KEYS
from assay.formats.foreign_rows import make_question_id, read_foreign_rows
from assay.formats.golden_files import load_golden
from assay.formats.golden_jsonl import NATIVE_MEMBERS
from assay.formats.outputs import expand_patterns, open_output_files, prepare_decodable, read_observations
from assay.formats.plain_values import make_plain
from assay.formats.problems import find_time_fault, join_repeated_problems
from assay.formats.reply_shapes import ANSWER_KEYS, recognise_reply
from assay.formats.run_folder import compute_file_sha256
from assay.formats.settings_file import Config
from assay.gates.gate_files import read_gate_fields
from assay.gates.release_decision import JUDGE_COMMAND
from assay.gates.rules import find_rule_problem
from assay.records.counts import format_count
from assay.records.digest import compute_digest
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case, Corpus, GoldenSet
from assay.records.observations import Observation
from assay.records.release_gates import Decision, Gate
from assay.records.requests import GateOptions, date_of_time
from assay.records.settings import LangchainTargetSettings, LlamaindexTargetSettings, Settings
from assay.targets.choose_target import TargetPermissions, choose_targets, make_target
from assay.targets.python import CallableTarget

PathLike = str | Path
GateLike = Gate | Mapping[str, Any] | str | Path
"""A gate, the fields of a gate file, the path of one, or the name of a shipped profile."""
GOLDEN_NAME, OUTPUTS_NAME, CORPUS_NAME = "golden", "outputs", "corpus"
_GOLDEN_FORMS = "a path, a GoldenSet, a list of dictionaries or Cases, or a data frame"
_OUTPUT_FORMS = "a path, or a list of paths, dictionaries or Observations, or a data frame"
_CORPUS_FORMS = "a path, a Corpus, a list of dictionaries or CorpusChunks with chunk_id and text, or a data frame"
_ENDPOINT_METHODS = ("query", "aquery", "retrieve", "aretrieve")


_paths_of_frozen_sets: dict[str, str] = {}


def load_golden_file(path: str | Path, format: str | None = None) -> GoldenSet:
    """Load a golden set, and remember where a frozen one lies: looks at it are counted next to the file."""
    golden = load_golden(path, format).golden
    if golden.frozen_digest:
        _paths_of_frozen_sets[golden.frozen_digest] = str(Path(path).absolute())
    return golden


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


def read_golden_value(golden: Any) -> GoldenSet:
    """Return the golden set that a value holds. Raises InputError with every problem, by row."""
    if isinstance(golden, GoldenSet):
        return golden
    if isinstance(golden, (str, Path)):
        return load_golden_file(_find_file(golden, GOLDEN_NAME))
    rows = list_rows(golden, GOLDEN_NAME, _GOLDEN_FORMS)
    if any(isinstance(row, Observation) for row in rows):
        message = f"observations (expected the golden set first, then what was observed: {_GOLDEN_FORMS})"
        raise _value_error(GOLDEN_NAME, message)
    if all(isinstance(row, Case) for row in rows):
        return _read_native_rows([msgspec.to_builtins(row) for row in rows])
    rows = _name_cases(_write_ids(rows))
    if any(isinstance(row, Mapping) and any(key in row for key in ID_KEYS) for row in rows):
        try:
            return _read_native_rows(rows)
        except InputError as error:
            is_other_format = any(problem.code == "E_FORMAT" for problem in error.problems)
            if not is_other_format or _has_native_members(rows):
                raise
    foreign = read_foreign_rows(enumerate(rows, 1), GOLDEN_NAME)
    if foreign.problems:
        raise InputError(join_repeated_problems(foreign.problems))
    return foreign.golden


def _has_native_members(rows: Sequence[Any]) -> bool:
    """Return whether rows have members of which rows of other tools know nothing, so that they would be lost."""
    names = [name for name in NATIVE_MEMBERS if name not in BEHAVIOUR_KEYS]
    return any(name in row for row in rows if isinstance(row, Mapping) for name in names)


def _name_cases(rows: Sequence[Any]) -> list[Any]:
    """Return rows with ids made of their questions where some have an id, or members that only cases of Assay have."""
    are_cases = any(key in row for row in rows if isinstance(row, Mapping) for key in ID_KEYS) or _has_native_members(
        rows
    )
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
            raise InputError(
                [Problem(GOLDEN_NAME, p.line, p.field, p.message, p.code) for p in error.problems], more=error.more
            ) from None


def read_outputs_value(
    outputs: Any, golden: GoldenSet, config: str | None = None, notes: dict[str, None] | None = None
) -> list[Observation]:
    """Return the observations that a value holds; `config` names the configuration of rows that name none.

    What is read under another name, and what is not read, is put into `notes`. A row is the answer to the case that its
    id names or, without one, to the case whose question it holds. Raises InputError with every problem, by row.
    """
    if isinstance(outputs, (str, Path)):
        return read_output_files([outputs], golden=golden)
    rows = list_rows(outputs, OUTPUTS_NAME, _OUTPUT_FORMS, kept=ANSWER_KEYS)
    if rows and all(isinstance(row, (str, Path)) for row in rows):
        return read_output_files(rows, golden=golden)
    if any(isinstance(row, (Case, GoldenSet)) for row in rows):
        raise _value_error(OUTPUTS_NAME, f"cases (expected the golden set first, then outputs: {_OUTPUT_FORMS})")
    ids_by_question: dict[str, list[str]] = {}
    for case in golden.cases:
        ids_by_question.setdefault(_normalise(case.question), []).append(case.id)
    observations: list[Observation] = []
    problems: list[Problem] = []
    notes = {} if notes is None else notes
    for number, row in enumerate(rows, 1):
        if isinstance(row, Observation):
            observations.append(row)
            continue
        try:
            observations.append(_read_output_row(row, ids_by_question, config, notes))
        except (ShapeError, msgspec.ValidationError) as error:
            problems.append(Problem(OUTPUTS_NAME, number, "", str(error), "E_OUTPUT"))
    if problems:
        raise InputError(join_repeated_problems(problems))
    return observations


def _read_output_row(
    row: Any, ids_by_question: Mapping[str, list[str]], config: str | None, notes: dict[str, None]
) -> Observation:
    value = make_plain(row)
    if not isinstance(value, Mapping):
        raise ShapeError(f"not a row (got {shorten_repr(value)}; expected a dictionary or an Observation)")
    shape = recognise_reply(value, lambda note: notes.setdefault(f"{OUTPUTS_NAME}: {note}"), is_recorded=True)
    members = shape.row
    case_id = members.pop("query_id", None) or members.get("case_id") or value.get("id")
    if case_id is None:
        question = next((value[key] for key in QUESTION_KEYS if isinstance(value.get(key), str)), None)
        case_ids = ids_by_question.get(_normalise(question), []) if question is not None else []
        if len(case_ids) != 1:
            matches = format_count(len(case_ids), "case") if question is not None else "no question"
            raise ShapeError(f"no case_id, and {matches} to match it by (expected case_id, or one question)")
        case_id = case_ids[0]
    if isinstance(case_id, float):
        raise ShapeError(_describe_float_id(case_id))
    members["case_id"] = str(case_id)
    if members.get("config_id") is None and config is not None:
        members["config_id"] = config
    present = {key: member for key, member in members.items() if member is not None or key == "answer"}
    observation = msgspec.convert(present, Observation)
    return structs.replace(observation, stages=tuple(shape.rankings) if shape.rankings or shape.has_stages else None)


def read_output_files(
    paths: Sequence[str | Path], format: str | None = None, golden: GoldenSet | None = None
) -> list[Observation]:
    """Return the observations of files or glob patterns; rows of other tools are matched with the cases of `golden`.

    Raises InputError listing all problems of the files.
    """
    cases = golden.cases if golden is not None else None
    with open_output_files([str(path) for path in paths], format) as files, prepare_decodable(files, cases) as ready:
        return [
            observation for file in ready for observation in read_observations(file.path, file.name, file.decoded_as)
        ]


def list_rows(value: Any, name: str, expected: str, *, kept: Container[str] = ()) -> list[Any]:
    """Return the rows of a list or a data frame (pandas, Polars, Arrow).

    A frame has a cell for every row: missing ones are left out but those of `kept` columns, which are None.
    """
    if hasattr(value, "to_pylist"):  # an Arrow table
        return _drop_missing(value.to_pylist(), kept)
    if hasattr(value, "to_dicts"):  # a Polars frame
        return _drop_missing(value.to_dicts(), kept)
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # a pandas frame
        return _drop_missing(value.to_dict("records"), kept)
    if isinstance(value, (Mapping, str, bytes)) or not isinstance(value, Iterable):
        raise _value_error(name, f"not rows (got {shorten_repr(value)}; expected {expected})")
    return [make_plain(row) for row in value]


def _drop_missing(rows: Iterable[Mapping[str, Any]], kept: Container[str]) -> list[dict[str, Any]]:
    present = []
    for row in rows:
        cells = {str(key): make_plain(_to_list(cell)) for key, cell in row.items()}
        cells = {key: None if _is_nan(cell) else cell for key, cell in cells.items()}
        present.append({key: cell for key, cell in cells.items() if cell is not None or key in kept})
    return present


def _to_list(cell: Any) -> Any:
    return cell.tolist() if hasattr(cell, "tolist") else cell


def _is_nan(cell: Any) -> bool:
    return isinstance(cell, float) and math.isnan(cell)


def read_gate_value(rules: GateLike | None, configs: Sequence[str] = ()) -> GateOptions:
    """Return the options for rules, for the fields or the path of a gate file, or for the name of a profile."""
    if rules is None or isinstance(rules, Gate):
        return GateOptions(rules, configs=configs)
    if isinstance(rules, Mapping):
        return GateOptions(read_gate_fields(rules, find_rule_problem), configs=configs)
    try:
        is_file = isinstance(rules, Path) or Path(rules).suffix in (".yaml", ".yml")
    except TypeError:
        expected = "an assay.Gate, a dictionary, the path of a gate file, or the name of a profile"
        raise _value_error("gate", f"no rules (got {shorten_repr(rules)}; expected {expected})") from None
    return GateOptions(str(rules), configs=configs) if is_file else GateOptions(profile=str(rules), configs=configs)


def read_day(now: str | None) -> str | None:
    """Return the day on which waivers are in force; None without a time. Raises InputError for what is no time."""
    if now is None:
        return None
    fault = find_time_fault(now if isinstance(now, str) else repr(now))
    if fault:
        raise _value_error("now", fault)
    return date_of_time(now)


_ARGUMENT_OPTION = re.compile(r"(?<![\w-])--(baseline|calibration|entailment-model)\b ?|--(now) or SOURCE_DATE_EPOCH")
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
    return _ARGUMENT_OPTION.sub(lambda option: (option[1] or option[2]).replace("-", "_") + "=", message)


_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])(?: (?:FILE|DIR|NAME|ID|RUN)\b)?")
_ARGUMENTS_OF_OPTIONS = {
    "profile": "gate",
    "outputs": "observations",
    "golden-format": "format",
    "outputs-format": "format",
}
"""The arguments that have another name than their option."""
F = TypeVar("F", bound=Callable[..., Any])


def says_arguments(function: F) -> F:
    """Make the errors of a function name its arguments where they would name options of the command line.

    Options that are no arguments of the function stay as they are.
    """
    parameters = inspect.signature(function).parameters

    def name_argument(option: re.Match[str]) -> str:
        name = _ARGUMENTS_OF_OPTIONS.get(option[1], option[1].replace("-", "_"))
        if name not in parameters:
            return option[0]
        if option.string[option.end() :].startswith(":"):  # the place of a problem
            return name
        return f"{name}=True" if parameters[name].default is False else f"{name}="

    def rename(error: InputError) -> None:
        error.problems = [
            structs.replace(
                problem,
                field=_OPTION.sub(name_argument, problem.field),
                message=_OPTION.sub(name_argument, problem.message),
            )
            for problem in error.problems
        ]
        error.args = (str(error),)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except InputError as error:
            rename(error)
            raise

    return cast("F", call)


def _find_file(path: str | Path, name: str) -> str:
    if str(path) != "-" and not Path(path).exists():
        raise _value_error(name, f"no such file (got {str(path)!r}; expected {_GOLDEN_FORMS})")
    return str(path)


def _normalise(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _value_error(name: str, message: str) -> InputError:
    return InputError([Problem("", None, name, message, "E_VALUE")])


# ── targets ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def make_target_of_value(target: Any, name: str | None, search: Callable[..., Any] | None) -> Target:
    """Return the target that a value is: a function, an object with `ask` and `search`, a LangChain runnable, a
    LlamaIndex engine, a Target, or a text as after `--target` (an address, `module:attr`, a file of outputs).

    Raises InputError for anything else.
    """
    if isinstance(target, type):
        raise _value_error("target", f"a class (got {target.__name__}; expected an instance of it, or a function)")
    if isinstance(target, Target):
        return target
    if isinstance(target, (str, Path)):
        config = Config(Settings(), {})
        spec = str(target) if name is None else f"{name}={target}"
        (chosen,) = choose_targets(config, [spec])
        return make_target(chosen, config, TargetPermissions())
    target_name = name or getattr(target, "__name__", "") or type(target).__name__
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
            raise _value_error("target", f"cannot be called (got {shorten_repr(function)}; expected {expected})")
    if ask is None and search is None:
        raise _value_error("target", "nothing to call (got None; expected a function that takes the question)")
    return CallableTarget(_clean_name(name), ask, search)


def _clean_name(name: str) -> str:
    return "target" if name in ("", "<lambda>") else name
