"""Export and import of verdict stores as JSON lines, which can be read, compared and committed with the code."""

from __future__ import annotations

from contextlib import closing

from assay.io.writing import write_whole
from assay.judges.book import Book, read_contents
from assay.judges.rows import counted, to_lines
from assay.workflow.outputs import refuse_overwriting


def export_book(book: str, to: str) -> tuple[int, list[str]]:
    """Write the judges and verdicts of a store as JSON lines; return the number of verdicts, and what was left out.

    Raises InputError for a file that is not a verdict store, IncompleteError for a damaged one and for a failed write.
    """
    refuse_overwriting([to], [book])
    contents = read_contents(book)
    write_whole(to, to_lines(contents))
    return counted(contents.verdicts), contents.warnings


def import_book(book: str, source: str) -> tuple[int, list[str]]:
    """Add the verdicts of a store or an export to a store; scored verdicts that it already has are kept.

    Returns the number of verdicts read, and what was left out. Raises the same errors as `export_book`.
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
