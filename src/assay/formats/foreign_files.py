"""Files of other tools: CSV, JSON and JSON Lines of Ragas and DeepEval, and configurations of promptfoo.

Reads a file completely or raises one error with everything that is wrong in it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.formats.file_io import decode_line, open_source, read_lines
from assay.formats.foreign_rows import QUESTION_KEYS, ForeignRows, make_question_id, read_foreign_rows
from assay.formats.strict_json import decode_json, decode_json_object
from assay.formats.strict_yaml import read_yaml_file
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import AnswerFormat, Case, Rubric
from assay.text.linear_patterns import PatternError, compile_linear

_LIST_MEMBERS = (
    "goldens",
    "test_cases",
    "testCases",
    "testCasesData",
    "samples",
    "dataset",
    "data",
    "examples",
    "rows",
)
_FILE_PREFIX = "file://"


def load_foreign_file(path: str | Path) -> ForeignRows:
    """Return the rows of a file. Raises InputError with all problems: row, member, what was expected."""
    name = str(path)
    suffix = Path(path).suffix.lower()
    if suffix in (".yaml", ".yml"):
        foreign = _read_promptfoo(Path(path))
    else:
        foreign = read_foreign_rows(read_row_file(Path(path), name), name)
    if foreign.problems:
        raise InputError(foreign.problems)
    if not foreign.cases:
        raise InputError([Problem(name, None, "", "no row (expected rows with a question)", "E_EMPTY")])
    return foreign


def read_row_file(path: Path, name: str) -> Iterator[tuple[int, Any]]:
    """Return the numbered rows of a file of JSON, JSON Lines or, by the name for messages, CSV.

    Iterating raises InputError for a file that is none of these.
    """
    is_table = Path(name.lower().removesuffix(".gz")).suffix in (".csv", ".tsv")
    return _read_csv(str(path), name) if is_table else _read_json(str(path), name)


def _read_csv(path: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows below the header by their number, from 1; cells that hold a JSON list are read as one."""
    with open_source(path) as source:
        text = "\n".join(decode_line(line, name) for line in read_lines(source))
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if name.endswith(".tsv") else ",")
    for number, row in enumerate(reader, 1):
        if None in row or None in row.values():
            expected = len(reader.fieldnames or ())
            raise InputError([Problem(name, number, "", f"another number of cells (expected {expected})", "E_CELLS")])
        yield number, {key.strip(): _read_cell(value, name, number) for key, value in row.items()}


def _read_cell(text: str, name: str, number: int) -> Any:
    stripped = text.strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return stripped
    if stripped.startswith("['"):
        message = "a list as Python prints it (expected JSON: save the rows as JSON, or with double quotes)"
        raise InputError([Problem(name, number, "", message, "E_CELL")])
    return decode_json(stripped, name, number)


def _read_json(path: str, name: str) -> Iterator[tuple[int, Any]]:
    with open_source(path) as source:
        lines = [line for line in read_lines(source) if line.data.strip()]
        text = "\n".join(decode_line(line, name) for line in lines)
    if text.lstrip().startswith("[") or name.lower().endswith(".json"):
        document = decode_json(text, name)
        if isinstance(document, Mapping):
            document = next((document[key] for key in _LIST_MEMBERS if isinstance(document.get(key), list)), document)
        rows = _open_columns(document) if isinstance(document, Mapping) else document
        if not isinstance(rows, list):
            expected = f"a list of rows, or one under {', '.join(_LIST_MEMBERS)}"
            raise InputError([Problem(name, None, "", f"no rows (got {shorten_repr(document)}; expected {expected})")])
        yield from enumerate(rows, 1)
        return
    for number, line in enumerate(text.split("\n"), 1):
        yield number, decode_json_object(line, name, number)


def _open_columns(document: Mapping[str, Any]) -> Any:
    """Return the rows of a document of columns, each a list of the same length; else the document as one row."""
    columns = {key: value for key, value in document.items() if isinstance(value, list)}
    lengths = {len(value) for value in columns.values()}
    if len(columns) == len(document) and len(lengths) == 1 and any(key in columns for key in QUESTION_KEYS):
        return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return [document] if any(key in document for key in QUESTION_KEYS) else None


# ── promptfoo ────────────────────────────────────────────────────────────────────────────────────────────────────────

_SAME_TEXT = ("equals", "factuality", "similar", "answer-relevance-reference")
_CONTAINED = ("contains", "icontains", "contains-all", "icontains-all")
_ANY_CONTAINED = ("contains-any", "icontains-any")
_NOT_CONTAINED = ("not-contains", "not-icontains")


def _read_promptfoo(path: Path) -> ForeignRows:
    """Read the tests of a configuration of promptfoo: the question of each, and the assertions that are texts."""
    name = str(path)
    document = read_yaml_file(path).data
    tests = document.get("tests") if isinstance(document, Mapping) else None
    if isinstance(tests, str) and tests.startswith(_FILE_PREFIX) and Path(tests).suffix in (".csv", ".json", ".jsonl"):
        return load_foreign_file(path.parent / tests.removeprefix(_FILE_PREFIX))
    if not isinstance(tests, list):
        message = f"no list of tests (got {shorten_repr(tests)}; expected tests in the file, or file://rows.csv)"
        raise InputError([Problem(name, None, "tests", message, "E_IMPORT")])
    foreign = ForeignRows()
    shared = document.get("defaultTest")
    shared_vars = shared.get("vars") if isinstance(shared, Mapping) else None
    for number, test in enumerate(tests, 1):
        case = _read_test(test, shared_vars or {}, number, foreign, name)
        if case is not None:
            foreign.cases.append((case, number))
    return foreign


def _read_test(test: Any, shared: Mapping[str, Any], number: int, foreign: ForeignRows, name: str) -> Case | None:
    variables = test.get("vars") if isinstance(test, Mapping) else None
    if not isinstance(variables, Mapping):
        message = f"no vars (got {shorten_repr(test)}; expected vars with the question)"
        foreign.add_problem(name, number, f"tests[{number - 1}].vars", message)
        return None
    values = {**shared, **variables}
    texts = {key: value for key, value in values.items() if isinstance(value, str)}
    named = [key for key in QUESTION_KEYS if key in texts] or (list(texts) if len(texts) == 1 else [])
    if not named or any(texts[key] != texts[named[0]] for key in named):
        expected = f"one of {', '.join(QUESTION_KEYS)}, or a single variable"
        message = f"no variable that is the question (got {', '.join(values) or 'none'}; expected {expected})"
        foreign.add_problem(name, number, f"tests[{number - 1}].vars", message)
        return None
    question = texts[named[0]]
    if question.startswith(_FILE_PREFIX):
        message = f"a question in another file is not imported (got {question}; expected its text)"
        foreign.add_problem(name, number, f"tests[{number - 1}].vars.{named[0]}", message)
        return None
    foreign.ignored.update(f"vars.{key}" for key in values if key not in named)
    if named[0] not in QUESTION_KEYS:
        foreign.notes.setdefault(
            f"the question is the variable {named[0]}; the prompts around it are your system's part"
        )
    return _read_assertions(test.get("assert") or (), foreign).build_case(question)


@dataclass
class _Demands:
    """What the assertions of one test demand: texts by what must be with them, a form, and whether to refuse."""

    references: list[str] = field(default_factory=list)
    must_have: list[str] = field(default_factory=list)
    any_of: list[str] = field(default_factory=list)
    none_of: list[str] = field(default_factory=list)
    pattern: str | None = None
    json_schema: dict[str, Any] | None = None
    refuses: bool = False

    def add_texts(self, kind: str, value: Any) -> bool:
        """Take the texts of an assertion about texts; False for another kind, and for texts in other files."""
        texts = [str(item) for item in (value if isinstance(value, list) else [value]) if isinstance(item, (str, int))]
        kept = {
            **dict.fromkeys(_SAME_TEXT, self.references),
            **dict.fromkeys(_CONTAINED, self.must_have),
            **dict.fromkeys(_ANY_CONTAINED, self.any_of),
            **dict.fromkeys(_NOT_CONTAINED, self.none_of),
        }.get(kind)
        if kept is None or not texts or any(text.startswith(_FILE_PREFIX) for text in texts):
            return False
        kept += texts
        return True

    def add_form(self, kind: str, value: Any) -> bool:
        """Take an assertion about the form of the answer or about a refusal; False for another, or a second one."""
        if kind == "is-refusal":
            self.refuses = True
        elif kind == "regex" and self.pattern is None and isinstance(value, str) and _is_pattern(value):
            self.pattern = value
        elif kind == "is-json" and self.json_schema is None and (value is None or isinstance(value, dict)):
            self.json_schema = value or {}
        else:
            return False
        return True

    def build_case(self, question: str) -> Case:
        """Return the case of a question with what is demanded of its answer."""
        rubric = Rubric(tuple(self.any_of), tuple(self.none_of)) if self.any_of or self.none_of else None
        has_form = self.pattern is not None or self.json_schema is not None
        return Case(
            make_question_id(question),
            question,
            behaviour="abstain" if self.refuses else "answer",
            reference=self.references[0] if self.references else None,
            must_have=tuple(dict.fromkeys(self.must_have)),
            rubric=rubric,
            answer_format=AnswerFormat(self.pattern, self.json_schema) if has_form else None,
        )


def _is_pattern(text: str) -> bool:
    """Return whether a pattern of JavaScript is one that runs in linear time here; others are counted, not imported."""
    try:
        compile_linear(text)
    except PatternError:
        return False
    return True


def _read_assertions(assertions: Any, foreign: ForeignRows) -> _Demands:
    """Return what the assertions demand; those without a counterpart in a golden case are counted as ignored."""
    demands = _Demands()
    for assertion in assertions if isinstance(assertions, list) else ():
        kind = str(assertion.get("type")) if isinstance(assertion, Mapping) else "?"
        value = assertion.get("value") if isinstance(assertion, Mapping) else None
        if not (demands.add_texts(kind, value) or demands.add_form(kind, value)):
            foreign.ignored[f"assert {kind}"] += 1
    return demands
