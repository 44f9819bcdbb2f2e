"""Whether a candidate is its own baseline: both were scored from the same file of recorded answers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from assay.records.findings import ComparisonSide
from assay.records.scores import InputFile


def find_own_config(baseline: ComparisonSide, inputs: Iterable[InputFile]) -> str:
    """Return the configuration of some scored files that is the baseline itself, "" where none is.

    The files of a baseline are known where it is a run, and where it was scored from outputs.
    """
    files = _resolve_files(file.path for file in inputs if baseline.config_id in file.configs)
    is_own = not files.isdisjoint(_resolve_files(file.path for file in baseline.inputs))
    return baseline.config_id if is_own else ""


def is_own_baseline(baseline: ComparisonSide, candidate: ComparisonSide) -> bool:
    """Return whether two sides are one configuration of one recording, or one file of a saved baseline."""
    if baseline.config_id != candidate.config_id:
        return False
    saved = _resolve_files([baseline.name]), _resolve_files([candidate.name])
    return bool(find_own_config(baseline, candidate.inputs)) or not saved[0].isdisjoint(saved[1])


def _resolve_files(paths: Iterable[str]) -> set[Path]:
    return {Path(path).resolve() for path in paths if Path(path).is_file()}
