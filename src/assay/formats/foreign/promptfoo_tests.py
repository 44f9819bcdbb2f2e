"""Configurations of promptfoo: the tests as golden cases, the providers as targets, and limits that all tests share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

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
    write_scalar,
)
from assay.formats.foreign.promptfoo_providers import read_providers
from assay.formats.foreign.row_files import load_row_file, read_row_file
from assay.formats.foreign.row_places import RowPlaces
from assay.formats.foreign.rows import ForeignRows
from assay.formats.strict_yaml import read_yaml_file
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case


def read_promptfoo_file(path: Path) -> ForeignRows:
    """Read the tests of a configuration of promptfoo: the question of each, and the assertions that are texts."""
    name = str(path)
    written = read_yaml_file(path, yes_is_text=True)  # promptfoo reads with js-yaml
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
            foreign = load_row_file(file)
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
        shown = {key: write_scalar(value) for key, value in values.items() if isinstance(value, (str, int, float))}
        question = fill_template(texts[names[0]], shown)
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
        demands = read_assertions(assertions, shown, self._foreign)
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
