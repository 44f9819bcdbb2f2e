"""Files of rows: CSV, JSON and JSON Lines, as Ragas, DeepEval, SQuAD, LlamaIndex and pandas write them.

Reads a file completely or raises one error with everything that is wrong in it.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from assay.formats.file_io import Line, decode_line, open_source, read_lines
from assay.formats.foreign.frame_shapes import RECORDS_REMEDY, is_row_named, list_frame_rows
from assay.formats.foreign.member_names import normalise_member_name
from assay.formats.foreign.row_places import RowPlaces, find_item_lines, number_rows
from assay.formats.foreign.rows import READ_MEMBERS, ForeignRows, read_foreign_rows
from assay.formats.strict_json import decode_json, decode_json_object
from assay.records.counts import join_first
from assay.records.errors import InputError, Problem, shorten_repr

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


def load_row_file(path: Path, *, is_golden: bool = False) -> ForeignRows:
    """Return the rows of a file; `is_golden` is that of `read_foreign_rows`.

    Raises InputError with all problems: row, member, what was expected.
    """
    places = RowPlaces()
    foreign = read_foreign_rows(read_row_file(path, str(path), places), str(path), is_golden=is_golden)
    foreign.places = places
    foreign.refuse_problems(str(path))
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


_PRINTED_LIST = re.compile(r"""\[\s*(?:['"]|\]|\{\s*')""")


def _read_cell(text: str, column: str, name: str, number: int) -> Any:
    """Return the text of a cell, or the list that it holds: as JSON, or as Python prints texts and dictionaries."""
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


def read_printed_list(text: str) -> list[Any]:
    """Return the texts of a list, or its dictionaries, as Python prints it. Nothing is evaluated but literals.

    Raises ValueError for anything else, and for texts without a comma between them, which NumPy prints and which Python
    would read as one text.

    >>> read_printed_list("['12 days.', 'Paid.']")
    ['12 days.', 'Paid.']
    >>> read_printed_list("[{'id': 'leave:3', 'text': '12 days.', 'score': 0.5}]")
    [{'id': 'leave:3', 'text': '12 days.', 'score': 0.5}]
    """
    remedy = "expected a list of texts or of chunks as JSON or as Python prints it: save the rows as JSON Lines"
    got = shorten_repr(text)
    if len(text) > _MAX_CELL_CHARS:
        raise ValueError(f"a list of more than {_MAX_CELL_CHARS} characters (got {got}; {remedy})")
    try:
        kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)]
        value = ast.literal_eval(text)
        json.dumps(value)  # which has no bytes, sets or complex numbers
    except (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
        raise ValueError(f"a list that cannot be read (got {got}; {remedy})") from None
    kinds = [kind for kind in kinds if kind not in _SKIPPED_TOKENS]
    if (tokenize.STRING, tokenize.STRING) in pairwise(kinds):
        raise ValueError(f"texts without a comma between them, as NumPy prints a list (got {got}; {remedy})")
    is_read = isinstance(value, list) and any(all(isinstance(item, kind) for item in value) for kind in (str, dict))
    if not is_read or not all(isinstance(key, str) for item in value if isinstance(item, dict) for key in item):
        raise ValueError(f"a list of other things than texts or chunks (got {got}; {remedy})")
    return list(value)


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
    rows = list_frame_rows(document)
    if rows is None and isinstance(document, Mapping):
        rows = open_list_member(document)
    document = document if rows is None else rows
    if isinstance(document, list):
        return open_articles(document)
    rows = _open_question_pairs(document) or _open_columns(document) if isinstance(document, Mapping) else None
    if isinstance(rows, list):
        return rows
    is_result = isinstance(document, Mapping) and isinstance(document.get("results"), (Mapping, list))
    expected = f"a list of rows, or one under {', '.join(_LIST_MEMBERS)}; {RECORDS_REMEDY}"
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
    """Return the rows of a document of columns, each a list of the same length; else the document as one row."""
    columns = {key: value for key, value in document.items() if isinstance(value, list)}
    lengths = {len(value) for value in columns.values()}
    if len(columns) == len(document) and len(lengths) == 1 and is_row_named(columns):
        return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return [document] if is_row_named(document) else None
