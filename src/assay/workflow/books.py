"""Verdict books in and out: as JSON lines, which can be read, compared and kept beside code."""

from __future__ import annotations

from contextlib import closing

from assay.io.writing import write_whole
from assay.judges.book import Book, read_contents
from assay.judges.rows import counted, to_lines
from assay.workflow.outputs import refuse_overwriting


def export_book(book: str, to: str) -> tuple[int, list[str]]:
    """Write a book's judges and verdicts as JSON lines; returns how many verdicts, and what was left out.

    Raises InputError for a file that is no book, IncompleteError for a damaged one or where it cannot be written.
    """
    refuse_overwriting([to], [book])
    contents = read_contents(book)
    write_whole(to, to_lines(contents))
    return counted(contents.verdicts), contents.warnings


def import_book(book: str, source: str) -> tuple[int, list[str]]:
    """Take the verdicts of a book or an export into a book; a scored one that is there stays.

    Returns how many were read, and what was left out. Raises as `export_book`.
    """
    refuse_overwriting([book], [source])
    contents = read_contents(source)
    with closing(Book(book)) as opened:
        for judge in contents.judges:
            opened.register(judge)
        for standing in contents.standings.values():
            opened.mark(standing)
        by_request = [samples for requests in contents.verdicts.values() for samples in requests.values()]
        opened.save([verdict for samples in by_request for verdict in samples])
    return counted(contents.verdicts), contents.warnings
