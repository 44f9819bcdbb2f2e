"""The scores that a run folder keeps, read without scoring again: summaries, slices, and the scores of every case.

They are derived files: what they lack or no longer fit is said in a sentence, and is never an error of the user.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from assay.formats.run_files.run_folder import DERIVED_FOLDER
from assay.records.errors import InputError, Problem
from assay.scoring.saved_results import SavedCase, SavedReport

REPORT_FILE, CASES_FILE = "report.json", "cases.jsonl"
MAX_REPORT_BYTES = 2**30
_SCORE_AGAIN = "expected the scores of a run: score it again with --run-dir"


class SavedScores(NamedTuple):
    """The report of a run and the lines of its cases."""

    report: SavedReport
    cases: list[SavedCase]


def load_saved_report(folder: Path) -> SavedReport:
    """Return the report that a run folder keeps. Raises InputError if there is none, or none that can be read."""
    path = folder / DERIVED_FOLDER / REPORT_FILE
    try:
        if path.stat().st_size > MAX_REPORT_BYTES:
            raise _refuse(path, "larger than 1 GB")
        return msgspec.json.decode(path.read_bytes(), type=SavedReport)
    except OSError as error:
        raise _refuse(path, f"cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _refuse(path, str(error)) from None


def load_saved_scores(folder: Path) -> SavedScores:
    """Return the report and the cases that a run folder keeps. Raises InputError if one of them cannot be read."""
    return SavedScores(load_saved_report(folder), list(_iterate_cases(folder / DERIVED_FOLDER / CASES_FILE)))


def _iterate_cases(path: Path) -> Iterator[SavedCase]:
    decoder = msgspec.json.Decoder(SavedCase)
    try:
        with open(path, "rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    raise _refuse(path, str(error), number) from None
    except OSError as error:
        raise _refuse(path, f"cannot be read: {error.strerror}") from None


def _refuse(path: Path, fault: str, line: int | None = None) -> InputError:
    return InputError([Problem(str(path), line, "", f"{fault} ({_SCORE_AGAIN})", "E_RUN_FOLDER")])
