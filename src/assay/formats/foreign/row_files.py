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
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from assay.formats.file_io import Line, decode_line, open_source, read_lines
from assay.formats.foreign.extra_columns import ExtraColumns
from assay.formats.foreign.member_names import QUESTION_KEYS, normalise_member_name
from assay.formats.foreign.promptfoo_providers import read_providers
from assay.formats.foreign.rows import ForeignRows, make_question_id, read_foreign_rows
from assay.formats.problems import join_repeated_problems
from assay.formats.strict_json import decode_json, decode_json_object
from assay.formats.strict_yaml import read_yaml_file
from assay.records.counts import join_first
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


def load_foreign_file(path: str | Path, *, is_golden: bool = False) -> ForeignRows:
    """Return the rows of a file; `is_golden` is that of `read_foreign_rows`.

    Raises InputError with all problems: row, member, what was expected.
    """
    name = str(path)
    suffix = Path(path).suffix.lower()
    if suffix in (".yaml", ".yml"):
        foreign = _read_promptfoo(Path(path))
    else:
        foreign = read_foreign_rows(read_row_file(Path(path), name), name, is_golden=is_golden)
    if foreign.problems:
        raise InputError(join_repeated_problems(foreign.problems))
    if not foreign.cases:
        raise InputError([Problem(name, None, "", "no row (expected rows with a question)", "E_EMPTY")])
    return foreign


def read_row_file(path: Path, name: str) -> Iterator[tuple[int, Any]]:
    """Return the numbered rows of a file of JSON, JSON Lines or, by the name for messages, CSV.

    A row of a table that cannot be read is an InputError in its place, so that the rows below it are looked at as well.
    Iterating raises InputError for a file that is none of these.
    """
    is_table = Path(name.lower().removesuffix(".gz")).suffix in (".csv", ".tsv")
    return _read_csv(str(path), name) if is_table else _read_json(str(path), name)


def _read_csv(path: str, name: str) -> Iterator[tuple[int, dict[str, Any] | InputError]]:
    """Yield the rows below the header by their number, from 1; cells that hold a JSON list are read as one."""
    text = _read_table_text(path, name)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_find_delimiter(text, name))
    _refuse_repeated_columns(reader.fieldnames or (), name)
    for number, row in enumerate(reader, 1):
        try:
            yield number, _read_table_row(row, name, number)
        except InputError as error:
            yield number, error


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


def _read_json(path: str, name: str) -> Iterator[tuple[int, Any]]:
    with open_source(path) as source:
        lines = [line for line in read_lines(source) if line.data.strip()]
        text = "\n".join(decode_line(line, name) for line in lines)
    if text.lstrip().startswith("[") or (name.lower().endswith(".json") and not _is_json_lines(lines, name)):
        yield from enumerate(open_document(decode_json(text, name, is_nan_missing=True), name), 1)
        return
    for number, line in enumerate(text.split("\n"), 1):
        yield number, decode_json_object(line, name, number, is_nan_missing=True)


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
    return next((document[key] for key in _LIST_MEMBERS if isinstance(document.get(key), list)), None)


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

_SAME_TEXT = ("equals", "factuality", "similar", "answer-relevance-reference")
_CONTAINED = ("contains", "icontains", "contains-all", "icontains-all")
_ANY_CONTAINED = ("contains-any", "icontains-any")
_NOT_CONTAINED = ("not-contains", "not-icontains")


def _read_promptfoo(path: Path) -> ForeignRows:
    """Read the tests of a configuration of promptfoo: the question of each, and the assertions that are texts."""
    name = str(path)
    document = read_yaml_file(path).data
    if isinstance(document, list):  # a file of tests alone
        document = {"tests": document}
    tests = document.get("tests") if isinstance(document, Mapping) else None
    if isinstance(tests, str) and tests.startswith(_FILE_PREFIX) and Path(tests).suffix in (".csv", ".json", ".jsonl"):
        file = path.parent / tests.removeprefix(_FILE_PREFIX)
        rows = [row for _, row in read_row_file(file, str(file))]
        refused = [problem for row in rows if isinstance(row, InputError) for problem in row.problems]
        if refused:
            raise InputError(refused)
        if not any(_is_table_test(row) for row in rows):
            foreign = load_foreign_file(file)
            _add_providers(foreign, document, QUESTION_KEYS)
            return foreign
        tests, name = [_read_table_test(row) for row in rows], str(file)
    if not isinstance(tests, list):
        message = f"no list of tests (got {shorten_repr(tests)}; expected tests in the file, or file://rows.csv)"
        raise InputError([Problem(name, None, "tests", message, "E_IMPORT")])
    foreign = ForeignRows()
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
        self._limits: list[float | None] = []

    def read_test(self, test: Any, number: int) -> None:
        """Add the case of a test, or the problem that makes it none."""
        variables = test.get("vars") if isinstance(test, Mapping) else None
        if not isinstance(variables, Mapping):
            message = f"no vars (got {shorten_repr(test)}; expected vars with the question)"
            self._foreign.add_problem(self._name, number, f"tests[{number - 1}].vars", message)
            return
        values = {**(self._shared.get("vars") or {}), **variables}
        texts = {key: value for key, value in values.items() if isinstance(value, str)}
        names = self._find_question_names(values, texts, number)
        if not names:
            return
        question = _fill_template(texts[names[0]], texts)
        if question.startswith(_FILE_PREFIX):
            message = f"a question in another file is not imported (got {question}; expected its text)"
            self._foreign.add_problem(self._name, number, f"tests[{number - 1}].vars.{names[0]}", message)
            return
        self._question_names |= dict.fromkeys(names)
        if names[0] not in QUESTION_KEYS:
            self._foreign.notes.setdefault(
                f"the question is the variable {names[0]}; the prompts around it are your system's part"
            )
        assertions = [*(self._shared.get("assert") or ()), *(test.get("assert") or ())]
        demands = _read_assertions(assertions, texts, self._foreign)
        case = demands.build_case(question)
        self._limits.append(demands.latency)
        self._foreign.cases.append((case, number))
        self._add_columns(case, {key: value for key, value in values.items() if key not in names}, test)

    def _find_question_names(self, values: Mapping[str, Any], texts: Mapping[str, str], number: int) -> list[str]:
        """Return the variables that hold the question; none, with a problem, where that is not clear."""
        lists = [key for key, value in values.items() if key in QUESTION_KEYS and isinstance(value, list)]
        if lists:
            message = f"{lists[0]} is a list (expected one text: a test for each of its values)"
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
        limits = set(self._limits)
        (limit,) = limits if len(limits) == 1 else (None,)
        if limit is not None:
            foreign.rules.append({"metric": _LATENCY, "at_most": limit, "reason": "assert latency of promptfoo"})
            foreign.notes.setdefault(
                f"assert latency is the rule {_LATENCY} at most {limit:g} of the gate: of 19 in 20 answers, where "
                "promptfoo asks it of each, and open below 20 cases"
            )
        else:
            foreign.ignored.update({"assert latency of some tests": sum(item is not None for item in self._limits)})
        _add_providers(foreign, document, self._question_names)


def _add_providers(foreign: ForeignRows, document: Mapping[str, Any], question_names: Iterable[str]) -> None:
    """Add the targets of the providers, and what of them was left out."""
    imported = read_providers(document, question_names)
    foreign.targets |= imported.targets
    foreign.notes |= dict.fromkeys(imported.notes)
    foreign.ignored += imported.ignored


_LATENCY = "latency_ms(stat=p95)"


_TEMPLATE = re.compile(r"\{\{ *(\w+) *\}\}")


def _fill_template(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the variables of its test in their places; others stay.

    >>> _fill_template("{{ price }} for {{whom}}", {"price": "9 EUR"})
    '9 EUR for {{whom}}'
    """
    return _TEMPLATE.sub(lambda place: variables.get(place[1], place[0]), text)


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
    latency: float | None = None

    def add_texts(self, kind: str, value: Any, variables: Mapping[str, str]) -> bool:
        """Take the texts of an assertion about texts; False for another kind, and for what has no place in a case.

        That are texts in other files or of unknown variables, a second reference, and a second list of alternatives.
        """
        if isinstance(value, str) and kind.endswith(("-any", "-all")):
            value = [part.strip() for part in value.split(",")]
        texts = [str(item) for item in (value if isinstance(value, list) else [value]) if isinstance(item, (str, int))]
        texts = [_fill_template(text, variables) for text in texts if text != ""]
        kept = {
            **dict.fromkeys(_SAME_TEXT, self.references),
            **dict.fromkeys(_CONTAINED, self.must_have),
            **dict.fromkeys(_ANY_CONTAINED, self.any_of),
            **dict.fromkeys(_NOT_CONTAINED, self.none_of),
        }.get(kind)
        is_elsewhere = any(text.startswith(_FILE_PREFIX) or _TEMPLATE.search(text) for text in texts)
        is_second = bool(kept) and kind in (*_SAME_TEXT, *_ANY_CONTAINED)
        if kept is None or not texts or is_elsewhere or is_second:
            return False
        kept += texts
        if kind == "equals":
            self.must_have += texts
        return True

    def add_form(self, kind: str, value: Any) -> bool:
        """Take an assertion about the form of the answer or about a refusal; False for another, or a second one."""
        if kind == "is-refusal":
            self.refuses = True
        elif kind == "not-is-refusal":
            return not self.refuses  # an answer is what is expected without it too
        elif kind == "regex" and self.pattern is None and isinstance(value, str) and _is_pattern(value):
            self.pattern = value
        elif kind == "is-json" and self.json_schema is None and (value is None or isinstance(value, dict)):
            self.json_schema = value or {}
        else:
            return False
        return True

    def add_latency(self, threshold: Any) -> bool:
        """Take the most milliseconds that an answer may last; False for anything else."""
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or threshold < 0:
            return False
        self.latency = threshold if self.latency is None else min(self.latency, threshold)
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


def _read_assertions(assertions: list[Any], variables: Mapping[str, str], foreign: ForeignRows) -> _Demands:
    """Return what the assertions demand; those without a counterpart in a golden case are counted as ignored."""
    demands = _Demands()
    for assertion in assertions:
        members = assertion if isinstance(assertion, Mapping) else {}
        kind, value = str(members.get("type", "?")), members.get("value")
        if kind == "latency" and demands.add_latency(members.get("threshold")):
            continue
        if not (demands.add_texts(kind, value, variables) or demands.add_form(kind, value)):
            foreign.ignored[f"assert {kind}"] += 1
            continue
        foreign.ignored.update(f"assert {kind}: {key}" for key in ("weight", "threshold") if key in members)
    return demands
