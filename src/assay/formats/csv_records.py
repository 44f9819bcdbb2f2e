"""The records of a table in CSV, with the line on which each begins."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from assay.formats.file_io import MAX_LINE_BYTES
from assay.records.errors import InputError, Problem


def read_csv_records(lines: Iterable[str], name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of lines without their ends, but for blank lines; `name` is that of the file in messages.

    Line numbers count line breaks inside quotes. Raises InputError for what is no CSV.

    >>> list(read_csv_records(['id,note', '', '1,"two', 'lines"'], "a.csv", ","))
    [(1, ['id', 'note']), (3, ['1', 'two\\nlines'])]
    """
    csv.field_size_limit(MAX_LINE_BYTES)
    reader = csv.reader((line + "\n" for line in lines), delimiter=separator, strict=True)
    while True:
        begin = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            message = f"broken CSV (got: {error}; expected RFC 4180: quotes doubled inside quotes, and closed)"
            raise InputError([Problem(name, begin, "", message, "E_CSV")]) from None
        if cells:
            yield begin, cells
