"""Importing what people have: a golden set, recorded outputs and settings from a file of another tool."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from assay.formats.convert_files import encode_output_lines
from assay.formats.file_io import write_atomically
from assay.formats.foreign.extra_columns import SOURCE_NAMES
from assay.formats.foreign.foreign_files import load_foreign_file
from assay.formats.foreign.member_names import REFERENCE_KEYS, find_near_member
from assay.formats.foreign.rows import ForeignRows
from assay.formats.golden_files import LoadedGolden, load_golden, write_golden
from assay.formats.labels.external_scores import EXTERNAL_TOOLS, ExternalTool
from assay.formats.meant_names import split_name
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem
from assay.runs.score_inputs import UNJUDGEABLE_REMEDY, describe_unjudgeable_cases

GOLDEN_FILE, OUTPUTS_FILE = "golden.jsonl", "outputs.jsonl"


class ImportedFiles(NamedTuple):
    """The files that were written, by what they hold, and sentences about what was read and what was left out.

    `configs` are the configurations of the outputs, none where there are no outputs. `targets` and `rules` are settings
    that the file holds.
    """

    files: tuple[tuple[str, Path], ...]
    notes: tuple[str, ...]
    configs: tuple[str, ...]
    targets: Mapping[str, Mapping[str, Any]] = {}
    rules: Sequence[Mapping[str, Any]] = ()

    @property
    def has_outputs(self) -> bool:
        """Whether outputs were written."""
        return bool(self.configs)


def import_rows(path: str, folder: str = ".") -> ImportedFiles:
    """Write the golden set, and the outputs if there are any, of a file of another tool.

    Raises InputError listing all problems of the file by row, or if a file to write exists; then nothing is written.
    """
    foreign = load_foreign_file(path)
    golden_path, outputs_path = Path(folder, GOLDEN_FILE), Path(folder, OUTPUTS_FILE)
    targets = [golden_path, *([outputs_path] if foreign.observations else [])]
    existing = [target for target in targets if target.exists()]
    if existing:
        message = "already exists (expected a folder without it; nothing was imported)"
        raise InputError([Problem(str(target), None, "", message, "E_EXISTS") for target in existing])
    of_rows = [
        replace(warning, path=path, line=foreign.cases[warning.line - 2][1] if warning.line else None)
        for warning in check_cases(foreign, path).warnings
    ]
    warnings = map(str, foreign.places.point_problems(of_rows))
    write_golden(foreign.golden, golden_path)
    files = [("golden set", golden_path)]
    if foreign.observations:
        files.append(("outputs", write_atomically(outputs_path, encode_output_lines(foreign.observations))))
    configs = tuple(dict.fromkeys(observation.config_id for observation in foreign.observations))
    notes = (*_describe_import(foreign), *warnings)
    return ImportedFiles(tuple(files), notes, configs, foreign.targets, foreign.rules)


def check_cases(foreign: ForeignRows, path: str) -> LoadedGolden:
    """Return the golden set of rows as reading it back gives it. Raises InputError for what reading would refuse, by
    row of the file `path`."""
    row_by_line = {line: row for line, (_, row) in enumerate(foreign.cases, 2)}  # the header is the first line
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder, GOLDEN_FILE)
        write_golden(foreign.golden, trial)
        try:
            return load_golden(trial)
        except InputError as error:
            of_rows = [_point_to_row(problem, path, trial, row_by_line, foreign) for problem in error.problems]
            raise InputError(foreign.places.point_problems(of_rows)) from None


def _point_to_row(
    problem: Problem, path: str, trial: Path, row_by_line: Mapping[int, int], foreign: ForeignRows
) -> Problem:
    """Return a problem of the trial file as one of the imported file, by its rows, in its message too."""

    def name_row(place: re.Match[str]) -> str:
        line = int(place[1])
        return foreign.places.name_row(row_by_line.get(line, line))

    message = re.sub(rf"{re.escape(str(trial))}:(\d+)", name_row, problem.message)
    return replace(problem, path=path, line=row_by_line.get(problem.line or 0, problem.line), message=message)


def _name_ignored(name: str, *, has_evidence: bool) -> str:
    """Return a member that was not imported, with the name under which it would have been."""
    if not has_evidence and "_".join(split_name(name)) in SOURCE_NAMES:
        return f"{name} (a text that holds the answer is named reference_contexts, ids of chunks expected_chunk_ids)"
    near = find_near_member(name)
    return f"{name} (did you mean {near}?)" if near and near != name else name or "a column without a name"


def _find_scoring_tool(members: Iterable[str]) -> ExternalTool | None:
    """Return the first tool one of whose scores has the name of a member; None where no member is a score."""
    return next((tool for tool in EXTERNAL_TOOLS.values() if not tool.metrics.keys().isdisjoint(members)), None)


def _describe_import(foreign: ForeignRows) -> list[str]:
    evidence = sum(bool(case.evidence) for case, _ in foreign.cases)
    references = sum(case.reference is not None for case, _ in foreign.cases)
    lines = [
        f"{format_count(len(foreign.cases), 'case')}: {references} with a reference, {evidence} with evidence; "
        f"{format_count(len(foreign.observations), 'recorded output')}",
        *foreign.notes,
    ]
    tool = _find_scoring_tool(foreign.ignored)
    scores = {name: count for name, count in foreign.ignored.items() if tool is not None and name in tool.metrics}
    if tool is not None:
        counts = ", ".join(f"{name} ×{count}" for name, count in sorted(scores.items()))
        command = f"assay labels import FILE --format {tool.name}"
        lines.append(f"not imported, because another tool scored it: {counts} (`{command}` reads it, to compare)")
    others = sorted(foreign.ignored.keys() - scores.keys())
    if others:
        named = [f"{_name_ignored(name, has_evidence=evidence > 0)} ×{foreign.ignored[name]}" for name in others]
        lines.append(f"not imported, because it has no counterpart: {', '.join(named)}")
    if foreign.counterparts:
        counts = ", ".join(f"{name} ×{count}" for name, count in sorted(foreign.counterparts.items()))
        lines.append(f"not imported, to be set up by hand: {counts}")
    if foreign.golden.judgments == "partial":
        lines.append(
            "cases without reference and evidence: only what answers say of their own sources can be scored (the "
            f"expected answer is read from {', '.join(REFERENCE_KEYS[:5])} …)"
        )
    unjudgeable = describe_unjudgeable_cases(foreign.golden)
    if unjudgeable:
        lines.append(f"{unjudgeable}: {UNJUDGEABLE_REMEDY}")
    return lines
