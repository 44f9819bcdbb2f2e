"""Files of other tools: CSV, JSON and JSON Lines of Ragas and DeepEval, and configurations of promptfoo.

Reads a file completely or raises one error with everything that is wrong in it.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from assay.formats.file_io import Line, decode_line, open_source, read_lines
from assay.formats.foreign.extra_columns import ExtraColumns
from assay.formats.foreign.member_names import QUESTION_KEYS, normalise_member_name
from assay.formats.foreign.promptfoo_assertions import (
    FILE_PREFIX,
    LIMITED_METRICS,
    TEMPLATE,
    Demands,
    fill_template,
    leave_out_assertion,
    read_assertions,
)
from assay.formats.foreign.promptfoo_providers import read_providers
from assay.formats.foreign.row_places import RowPlaces, find_item_lines, number_rows
from assay.formats.foreign.rows import READ_MEMBERS, ForeignRows, read_foreign_rows
from assay.formats.problems import join_repeated_problems
from assay.formats.strict_json import decode_json, decode_json_object
from assay.formats.strict_yaml import read_yaml_file
from assay.records.counts import join_first
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case

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


def load_foreign_file(path: str | Path, *, is_golden: bool = False) -> ForeignRows:
    """Return the rows of a file; `is_golden` is that of `read_foreign_rows`.

    Raises InputError with all problems: row, member, what was expected.
    """
    name = str(path)
    suffix = Path(path).suffix.lower()
    if suffix in (".yaml", ".yml"):
        foreign = _read_promptfoo(Path(path))
    else:
        places = RowPlaces()
        foreign = read_foreign_rows(read_row_file(Path(path), name, places), name, is_golden=is_golden)
        foreign.places = places
    if foreign.problems:
        raise InputError(foreign.places.point_problems(join_repeated_problems(foreign.problems)))
    if not foreign.cases:
        raise InputError(
            [Problem(name, None, "", "no row (got an empty file or list; expected rows with a question)", "E_EMPTY")]
        )
    return foreign


def read_row_file(path: Path, name: str, places: RowPlaces) -> Iterator[tuple[int, Any]]:
    """Return the numbered rows of a file of JSON, JSON Lines or, by the name for messages, CSV; note their `places`.

    A row of a table that cannot be read is an InputError in its place, so that the rows below it are looked at as well.
    Iterating raises InputError for a file that is none of these.
    """
    is_table = Path(name.lower().removesuffix(".gz")).suffix in (".csv", ".tsv")
    return _read_csv(str(path), name, places) if is_table else _read_json(str(path), name, places)


def _read_csv(path: str, name: str, places: RowPlaces) -> Iterator[tuple[int, dict[str, Any] | InputError]]:
    """Yield the rows below the header by their number, from 1; cells that hold a JSON list are read as one."""
    text = _read_table_text(path, name)
    if not text.strip():
        return
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_find_delimiter(text, name))
    _refuse_missing_header(reader.fieldnames or (), name)
    _refuse_repeated_columns(reader.fieldnames or (), name)
    for number, row in enumerate(reader, 1):
        breaks = "".join([cell if isinstance(cell, str) else "".join(cell or ()) for cell in row.values()]).count("\n")
        places.lines[number] = reader.line_num - breaks
        try:
            yield number, _read_table_row(row, name, number)
        except InputError as error:
            yield number, error


_MOST_NAME_WORDS = 4


def _refuse_missing_header(columns: Sequence[str], name: str) -> None:
    """Raise InputError for a first line that has no name that is read, and something that names nothing."""
    is_known = any(normalise_member_name(column) in READ_MEMBERS or column.startswith("__") for column in columns)
    is_value = any(
        column.strip().endswith(("?", ".", "!")) or len(column.split()) > _MOST_NAME_WORDS for column in columns
    )
    if is_value and not is_known:
        expected = "the names of the columns in the first line, such as question and reference"
        message = f"no header (got {shorten_repr(list(columns))}; expected {expected})"
        raise InputError([Problem(name, 1, "", message, "E_HEADER")])


def _refuse_repeated_columns(columns: Sequence[str], name: str) -> None:
    """Raise InputError for two columns of one name: only the second one would be read."""
    repeated = sorted(column for column, count in Counter(map(str.strip, columns)).items() if count > 1 and column)
    if repeated:
        message = f"a column twice (got {', '.join(repeated)}; expected a name of its own for each column)"
        raise InputError([Problem(name, None, repeated[0], message, "E_CELLS")])


def _read_table_text(path: str, name: str) -> str:
    """Return the text of a table. Raises InputError, with what a spreadsheet calls UTF-8, for another encoding."""
    try:
        with open_source(path) as source:
            return "\n".join(decode_line(line, name) for line in read_lines(source))
    except InputError as error:
        remedy = "expected UTF-8 text: in a spreadsheet, save as “CSV UTF-8”"
        problems = [
            replace(problem, message=problem.message.replace("expected UTF-8 text", remedy))
            for problem in error.problems
        ]
        raise InputError(problems) from None


def _read_table_row(row: Mapping[str | None, Any], name: str, number: int) -> dict[str, Any]:
    """Return the cells of a row by their column. Raises InputError for one too many, too few or unreadable."""
    surplus = len(row[None]) if None in row else 0
    got = sum(value is not None for key, value in row.items() if key is not None) + surplus
    expected = sum(key is not None for key in row)
    if got != expected:
        hint = "; a cell that holds the separator needs quotes" if got > expected else ""
        message = f"another number of cells (got {got}; expected {expected}, as in the header{hint})"
        raise InputError([Problem(name, number, "", message, "E_CELLS")])
    return {str(key).strip(): _read_cell(value, str(key).strip(), name, number) for key, value in row.items()}


def _find_delimiter(text: str, name: str) -> str:
    """Return what separates the cells: spreadsheets write semicolons where the decimal sign is a comma."""
    if name.endswith(".tsv"):
        return "\t"
    header = text.partition("\n")[0]
    return ";" if header.count(";") > header.count(",") else ","


_PRINTED_LIST = re.compile(r"""\[\s*(?:['"]|\])""")


def _read_cell(text: str, column: str, name: str, number: int) -> Any:
    """Return the text of a cell, or the list that it holds: as JSON, or of texts as Python prints them."""
    stripped = text.strip()
    if "\0" in stripped:
        message = f"a NUL character (got {shorten_repr(stripped)}; expected text)"
        raise InputError([Problem(name, number, column, message, "E_TEXT")])
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return stripped
    try:
        return decode_json(stripped, name, number, is_nan_missing=True)
    except InputError:
        if not _PRINTED_LIST.match(stripped):
            raise
    try:
        return read_printed_list(stripped)
    except ValueError as error:
        raise InputError([Problem(name, number, column, f"{error}", "E_CELL")]) from None


_MAX_CELL_CHARS = 1_000_000
_SKIPPED_TOKENS = frozenset((tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT))


def read_printed_list(text: str) -> list[str]:
    """Return the texts of a list as Python prints it. Nothing is evaluated but literals.

    Raises ValueError for anything else, and for texts without a comma between them, which NumPy prints and which Python
    would read as one text.

    >>> read_printed_list("['12 days.', 'Paid.']")
    ['12 days.', 'Paid.']
    """
    remedy = "expected a list of texts as JSON or as Python prints it: save the rows as JSON Lines"
    got = shorten_repr(text)
    if len(text) > _MAX_CELL_CHARS:
        raise ValueError(f"a list of more than {_MAX_CELL_CHARS} characters (got {got}; {remedy})")
    try:
        kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)]
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
        raise ValueError(f"a list that cannot be read (got {got}; {remedy})") from None
    kinds = [kind for kind in kinds if kind not in _SKIPPED_TOKENS]
    if (tokenize.STRING, tokenize.STRING) in pairwise(kinds):
        raise ValueError(f"texts without a comma between them, as NumPy prints a list (got {got}; {remedy})")
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"a list of other things than texts (got {got}; {remedy})")
    return value


def _read_json(path: str, name: str, places: RowPlaces) -> Iterator[tuple[int, Any]]:
    with open_source(path) as source:
        lines = list(read_lines(source))
        text = "\n".join(decode_line(line, name) for line in lines)
    filled = [line for line in lines if line.data.strip()]
    if not filled:
        return
    if text.lstrip().startswith("[") or (name.lower().endswith(".json") and not _is_json_lines(filled, name)):
        document = decode_json(text, name, is_nan_missing=True)
        rows = open_document(document, name)
        member = _find_list_member(document) if isinstance(document, Mapping) else None
        yield from number_rows(rows, find_item_lines(text, member), places)
        return
    for line in filled:
        places.lines[line.number] = line.number
        yield line.number, decode_json_object(decode_line(line, name), name, line.number, is_nan_missing=True)


def _is_json_lines(lines: Sequence[Line], name: str) -> bool:
    """Return whether each of the first lines is an object of its own, as some tools write under the name `.json`."""
    if len(lines) < 2:
        return False
    try:
        for line in lines[:2]:
            decode_json_object(decode_line(line, name), name, line.number, is_nan_missing=True)
    except InputError:
        return False
    return True


def open_document(document: Any, name: str) -> list[Any]:
    """Return the rows of a document: a list, one of its members, articles, or columns.

    Raises InputError for another.
    """
    rows_of_member = open_list_member(document) if isinstance(document, Mapping) else None
    document = document if rows_of_member is None else rows_of_member
    if isinstance(document, list):
        return open_articles(document)
    rows = _open_question_pairs(document) or _open_columns(document) if isinstance(document, Mapping) else None
    if isinstance(rows, list):
        return rows
    is_result = isinstance(document, Mapping) and isinstance(document.get("results"), (Mapping, list))
    expected = f"a list of rows, or one under {', '.join(_LIST_MEMBERS)}"
    if is_result:
        expected += "; of promptfoo the configuration with the tests is imported, not the results"
    got = shorten_repr(document)
    if isinstance(document, Mapping) and document:
        got = f"an object with {join_first(list(document), _MOST_MEMBERS)}"
    raise InputError([Problem(name, None, "", f"no rows (got {got}; expected {expected})")])


_MOST_MEMBERS = 5


def open_list_member(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the list of a document that has one under a usual name, or the document if it is an article of SQuAD."""
    if isinstance(document.get("paragraphs"), list):
        return [document]
    member = _find_list_member(document)
    return None if member is None else list(document[member])


def _find_list_member(document: Mapping[str, Any]) -> str | None:
    """Return the member of a document that holds its rows, None where none has a usual name."""
    return next((key for key in _LIST_MEMBERS if isinstance(document.get(key), list)), None)


def open_articles(items: Sequence[Any]) -> list[Any]:
    """Return rows with the questions of articles of SQuAD, each with its paragraph, in the place of the articles."""
    return [row for item in items for row in _open_article(item)]


def _open_article(item: Any) -> list[Any]:
    """Return the questions of an article of SQuAD as rows, each with its paragraph; any other item as it is."""
    paragraphs = item.get("paragraphs") if isinstance(item, Mapping) else None
    if not isinstance(paragraphs, list):
        return [item]
    rows: list[Any] = []
    for paragraph in paragraphs:
        if not isinstance(paragraph, Mapping) or not isinstance(paragraph.get("qas"), list):
            return [item]
        for question in paragraph["qas"]:
            if not isinstance(question, Mapping):
                return [item]
            rows.append({"context": paragraph.get("context"), **question})
    return rows


def _open_question_pairs(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the questions of a data set of LlamaIndex, with the ids of the nodes that answer them."""
    queries, relevant = document.get("queries"), document.get("relevant_docs")
    if not isinstance(queries, Mapping) or not isinstance(relevant, Mapping):
        return None
    return [
        {"id": query_id, "question": question, "expected_chunk_ids": relevant.get(query_id)}
        for query_id, question in queries.items()
    ]


def _open_columns(document: Mapping[str, Any]) -> Any:
    """Return the rows of a document of columns, each a list of the same length or an object by row, as pandas writes
    them; else the document as one row."""
    numbered = [set(value) for value in document.values() if isinstance(value, Mapping)]
    if len(numbered) == len(document) and _is_question_named(document) and numbered[0]:
        labels = document[next(iter(document))].keys()
        if all(keys == numbered[0] for keys in numbered) and all(label.isdecimal() for label in labels):
            return [{name: column[label] for name, column in document.items()} for label in labels]
    columns = {key: value for key, value in document.items() if isinstance(value, list)}
    lengths = {len(value) for value in columns.values()}
    if len(columns) == len(document) and len(lengths) == 1 and _is_question_named(columns):
        return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return [document] if _is_question_named(document) else None


def _is_question_named(members: Mapping[str, Any]) -> bool:
    return any(normalise_member_name(key) in QUESTION_KEYS for key in members)


# ── promptfoo ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_promptfoo(path: Path) -> ForeignRows:
    """Read the tests of a configuration of promptfoo: the question of each, and the assertions that are texts."""
    name = str(path)
    written = read_yaml_file(path)
    document, member = written.data, "tests"
    if isinstance(document, list):  # a file of tests alone
        document, member = {"tests": document}, ""
    tests = document.get("tests") if isinstance(document, Mapping) else None
    if isinstance(tests, str) and tests.startswith(FILE_PREFIX) and Path(tests).suffix in (".csv", ".json", ".jsonl"):
        file = path.parent / tests.removeprefix(FILE_PREFIX)
        places = RowPlaces()
        rows = [row for _, row in read_row_file(file, str(file), places)]
        refused = [problem for row in rows if isinstance(row, InputError) for problem in row.problems]
        if refused:
            raise InputError(places.point_problems(refused))
        if not any(_is_table_test(row) for row in rows):
            foreign = load_foreign_file(file)
            _add_providers(foreign, document, QUESTION_KEYS)
            return foreign
        tests, name = [_read_table_test(row) for row in rows], str(file)
    if not isinstance(tests, list):
        message = f"no list of tests (got {shorten_repr(tests)}; expected tests in the file, or file://rows.csv)"
        raise InputError([Problem(name, None, "tests", message, "E_IMPORT")])
    if name == str(path):
        places = RowPlaces(name="tests[{index}]")
        for number in range(1, len(tests) + 1):
            places.lines[number] = written.positions[f"{member}[{number - 1}]"].line
    foreign = ForeignRows(places=places)
    shared = document.get("defaultTest")
    shared = shared if isinstance(shared, Mapping) else {}
    for key in ("scenarios", "nunjucksFilters"):
        foreign.ignored.update([key] if document.get(key) else ())
    reader = _TestReader(foreign, shared, name)
    for number, test in enumerate(tests, 1):
        reader.read_test(test, number)
    reader.finish(document)
    return foreign


class _TestReader:
    """Makes cases of tests, with what they have besides the question as attributes, and a rule of what all limit."""

    def __init__(self, foreign: ForeignRows, shared: Mapping[str, Any], name: str) -> None:
        self._foreign, self._shared, self._name = foreign, shared, name
        self._columns = ExtraColumns()
        self._origins: dict[str, str] = {}
        self._question_names: dict[str, None] = {}
        self._demands: list[Demands] = []

    def read_test(self, test: Any, number: int) -> None:
        """Add the case of a test, or the problem that makes it none."""
        variables = test.get("vars") if isinstance(test, Mapping) else None
        if not isinstance(variables, Mapping):
            message = f"no vars (got {shorten_repr(test)}; expected vars with the question)"
            self._foreign.add_problem(self._name, number, f"tests[{number - 1}].vars", message)
            return
        values = {**(self._shared.get("vars") or {}), **variables}
        options = {**(self._shared.get("options") or {}), **(test.get("options") or {})}
        if options.get("disableVarExpansion") is True:
            self._read_question(values, test, number)
            return
        lists = [key for key, value in values.items() if isinstance(value, list) and key in QUESTION_KEYS]
        if any(values[key] == [] for key in lists):
            message = "an empty list (got []; expected at least one question)"
            self._foreign.add_problem(self._name, number, f"tests[{number - 1}].vars.{lists[0]}", message)
        elif lists:
            self._foreign.notes.setdefault("a list of questions is a case for each of them")
        for chosen in _expand_questions(values):
            self._read_question(chosen, test, number)

    def _read_question(self, values: Mapping[str, Any], test: Mapping[str, Any], number: int) -> None:
        """Add the case of one question of a test, or the problem that makes it none."""
        texts = {key: value for key, value in values.items() if isinstance(value, str)}
        names = self._find_question_names(values, texts, number)
        if not names:
            return
        question = fill_template(texts[names[0]], texts)
        if question.startswith(FILE_PREFIX):
            message = f"a question in another file is not imported (got {question}; expected its text)"
            self._foreign.add_problem(self._name, number, f"tests[{number - 1}].vars.{names[0]}", message)
            return
        self._question_names |= dict.fromkeys(names)
        if names[0] not in QUESTION_KEYS:
            self._foreign.notes.setdefault(
                f"the question is the variable {names[0]}; the prompts around it are your system's part"
            )
        assertions = [*(self._shared.get("assert") or ()), *(test.get("assert") or ())]
        demands = read_assertions(assertions, texts, self._foreign)
        case = demands.build_case(question)
        self._demands.append(demands)
        self._foreign.cases.append((case, number))
        self._add_columns(case, {key: value for key, value in values.items() if key not in names}, test)

    def _find_question_names(self, values: Mapping[str, Any], texts: Mapping[str, str], number: int) -> list[str]:
        """Return the variables that hold the question; none, with a problem, where that is not clear."""
        lists = [key for key, value in values.items() if key in QUESTION_KEYS and isinstance(value, list)]
        if lists:
            remedy = "one text or a list of them, without disableVarExpansion"
            message = f"not a text (got {shorten_repr(values[lists[0]])}; expected {remedy})"
            self._foreign.add_problem(self._name, number, f"tests[{number - 1}].vars.{lists[0]}", message)
            return []
        named = [key for key in QUESTION_KEYS if key in texts] or (list(texts) if len(texts) == 1 else [])
        if named and all(texts[key] == texts[named[0]] for key in named):
            return named
        expected = f"one of {', '.join(QUESTION_KEYS)}, or a single variable"
        message = f"no variable that is the question (got {', '.join(values) or 'none'}; expected {expected})"
        self._foreign.add_problem(self._name, number, f"tests[{number - 1}].vars", message)
        return []

    def _add_columns(self, case: Case, variables: Mapping[str, Any], test: Mapping[str, Any]) -> None:
        """Note the other variables and the metadata of a test, of which those that describe cases are attributes."""
        metadata = {**(self._shared.get("metadata") or {}), **(test.get("metadata") or {})}
        self._origins |= {f"{key}": f"vars.{key}" for key in variables}
        self._origins |= {f"{key}": f"metadata.{key}" for key in metadata}
        cells = {str(key): value for key, value in {**variables, **metadata}.items()}
        self._columns.add_row(case.id, cells, is_answered=False)

    def finish(self, document: Mapping[str, Any]) -> None:
        """Give the cases their attributes, and read what the file says of the systems and of their times."""
        foreign = self._foreign
        foreign.cases = self._columns.add_attributes(foreign.cases)
        left = self._columns.count_left()
        foreign.ignored.update({self._origins[name]: count for name, count in left.items()})
        taken = self._columns.describe_taken()
        if taken:
            foreign.notes.setdefault(taken)
        for kind, metric in LIMITED_METRICS.items():
            self._add_limit(kind, metric)
        _add_providers(foreign, document, self._question_names)

    def _add_limit(self, kind: str, metric: str) -> None:
        """Make a rule of a limit that all tests share; one of some tests, or another in each, is left out."""
        foreign = self._foreign
        limits = [demands.limits.get(kind) for demands in self._demands]
        stated = [limit for limit in limits if limit is not None]
        if len(stated) == len(limits) and len(set(stated)) == 1:
            foreign.rules.append({"metric": metric, "at_most": stated[0], "reason": f"assert {kind} of promptfoo"})
            foreign.notes.setdefault(
                f"assert {kind} is the rule {metric} at most {stated[0]:g} of the gate: of 19 in 20 answers, where "
                "promptfoo asks it of each, and open below 20 cases"
            )
        elif stated:
            leave_out_assertion(kind, foreign, len(stated))


def _expand_questions(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the variables of a test with each question of a list, and each value of a list that a question names.

    >>> list(_expand_questions({"question": ["When?", "Where?"], "areas": ["north", "south"]}))[1]
    {'question': 'Where?', 'areas': ['north', 'south']}
    >>> [chosen["city"] for chosen in _expand_questions({"query": "Open in {{city}}?", "city": ["Ulm", "Bonn"]})]
    ['Ulm', 'Bonn']
    """
    asked = [key for key in values if key in QUESTION_KEYS] or (list(values) if len(values) == 1 else [])
    for question in _choose_each(values, asked):
        texts = [question[key] for key in asked if isinstance(question[key], str)]
        yield from _choose_each(question, TEMPLATE.findall(" ".join(texts)))


def _choose_each(values: Mapping[str, Any], names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the variables with one value of each named list, in every combination."""
    lists = {key: values[key] for key in names if isinstance(values.get(key), list)}
    for chosen in product(*lists.values()):
        yield {**values, **dict(zip(lists, chosen, strict=True))}


def _add_providers(foreign: ForeignRows, document: Mapping[str, Any], question_names: Iterable[str]) -> None:
    """Add the targets of the providers, and what of them was left out."""
    imported = read_providers(document, question_names)
    foreign.targets |= imported.targets
    foreign.notes |= dict.fromkeys(imported.notes)
    foreign.ignored += imported.ignored


_EXPECTED_COLUMN = re.compile(r"__expected\d*\Z")
_EXPECTED = re.compile(r"(?P<type>[a-z]+(?:-[a-z]+)*)(?:\([\d.]+\))?(?::\s*(?P<value>.*))?\Z", re.DOTALL)
_WITHOUT_VALUE = ("is-refusal", "is-json", "not-is-refusal")


def _is_table_test(row: Any) -> bool:
    return isinstance(row, Mapping) and any(_EXPECTED_COLUMN.match(key) for key in row)


def _read_table_test(row: Any) -> dict[str, Any]:
    """Return a row of a table of tests as a test: `__expected` holds an assertion such as "contains: 49"."""
    cells = row if isinstance(row, Mapping) else {}
    assertions = []
    for key, cell in cells.items():
        if not _EXPECTED_COLUMN.match(key) or cell == "":
            continue
        match = _EXPECTED.match(str(cell))
        is_assertion = match is not None and (match["value"] is not None or match["type"] in _WITHOUT_VALUE)
        if match is not None and is_assertion:
            assertions.append({"type": match["type"], "value": match["value"]})
        else:
            assertions.append({"type": "equals", "value": cell})
    variables = {normalise_member_name(key): cell for key, cell in cells.items() if not key.startswith("__")}
    metadata = {
        key.removeprefix(_METADATA_COLUMN).removesuffix("[]"): cell
        for key, cell in cells.items()
        if key.startswith(_METADATA_COLUMN) and cell != ""
    }
    return {"vars": variables, "assert": assertions, "metadata": metadata}


_METADATA_COLUMN = "__metadata:"
