"""Files of other tools: rows, and configurations of promptfoo."""

from __future__ import annotations

from pathlib import Path

from assay.formats.foreign.promptfoo_tests import read_promptfoo_file
from assay.formats.foreign.row_files import load_row_file
from assay.formats.foreign.rows import ForeignRows


def load_foreign_file(path: str | Path, *, is_golden: bool = False) -> ForeignRows:
    """Return the rows of a file; `is_golden` is that of `read_foreign_rows`.

    Raises InputError with all problems: row, member, what was expected.
    """
    if Path(path).suffix.lower() not in (".yaml", ".yml"):
        return load_row_file(Path(path), is_golden=is_golden)
    foreign = read_promptfoo_file(Path(path))
    foreign.refuse_problems(str(path))
    return foreign
