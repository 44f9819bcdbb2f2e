"""Conversion of golden sets and recorded outputs between formats: unambiguous casts are made, losses are counted."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from assay.errors import InputError, Problem, shown
from assay.io import golden as goldens
from assay.io.casting import cast_lines
from assay.io.goldens import code, export, rag, rubric, stable_key
from assay.io.goldens.rows import is_document
from assay.io.lines import Source, opened
from assay.io.observations import FORMAT_NAMES, FORMATS, TREC_RUN, read_observations
from assay.io.outputs.export import native_lines, rag_trace_lines, trec_run_lines
from assay.model import Case, Observation
from assay.workflow.outputs import OutputFile, decodable

NATIVE = "assay"
GOLDEN_TARGETS = (NATIVE, "rag-golden", "trec-qrels")
OUTPUT_TARGETS = (NATIVE, "rag-trace", TREC_RUN)
GOLDEN_RECORDS: dict[str, type[msgspec.Struct]] = {
    NATIVE: Case,
    "rag-golden": rag.GoldenRow,
    "rag-qrels": rag.QrelsRow,
    "code-benchmark": code.CodeRow,
    "stable-key": stable_key.KeyRow,
    "rubric": rubric.RubricRow,
}


@dataclass(slots=True)
class Converted:
    """The counts of a conversion, complete once its lines are written: rows, casts, losses, and warnings."""

    rows: int = 0
    cast: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    doubts: list[str] = field(default_factory=list)

    def notes(self) -> Iterator[str]:
        """Yield notices for the user, one line each."""
        yield f"{self.rows} rows converted"
        yield from (f"cast: {count} {description}" for description, count in sorted(self.cast.items()))
        yield from (f"not carried: {count} {description}" for description, count in sorted((+self.lost).items()))
        yield from self.doubts


@contextmanager
def converted(path: str, old: str, new: str, config: str | None = None) -> Iterator[tuple[Iterator[bytes], Converted]]:
    """Yield the lines of a file in another format, and the counts, which are complete when the lines are exhausted.

    `config` chooses the configuration from which a TREC run is made. Raises InputError for formats that cannot be
    converted, and for problems of the file that no unambiguous cast can solve.
    """
    with opened(path) as source, tempfile.TemporaryDirectory(prefix="assay-") as folder:
        conversion = Converted()
        is_golden_set = _is_golden_set(source, old, new)
        record: type[msgspec.Struct] | None = None
        if is_golden_set:
            record = GOLDEN_RECORDS.get(old)
        elif old in FORMATS:
            record = FORMATS[old].record
        plain = _cast_source(source, record, Path(folder, "cast.jsonl"), conversion)
        try:
            if is_golden_set:
                yield _convert_golden_set(plain, old, new, conversion), conversion
            else:
                with decodable([OutputFile(str(plain), source.name, old, plain.stat().st_size)]) as (file,):
                    yield _convert_outputs(file, new, config, conversion), conversion
        except InputError as error:  # name the user's file, not the temporary file with its cast lines
            problems = [
                replace(problem, path=source.name) if problem.path in ("", str(plain)) else problem
                for problem in error.problems
            ]
            raise InputError(problems, more=error.more) from None


def _is_golden_set(source: Source, old: str, new: str) -> bool:
    """Return whether a golden set is meant; the name of the native format alone does not tell it from outputs."""
    if old in goldens.FORMATS and new in GOLDEN_TARGETS:
        if (old, new) != (NATIVE, NATIVE):
            return True
        try:
            return goldens.detect_format(source.path) == NATIVE
        except InputError:
            return False
    if old in FORMAT_NAMES and new in OUTPUT_TARGETS:
        return False
    message = (
        f"cannot be converted (got --from {shown(old)} --to {shown(new)}; expected a golden set: --from "
        f"{', '.join(goldens.FORMATS)} --to {', '.join(GOLDEN_TARGETS)}; or outputs: --from {', '.join(FORMAT_NAMES)} "
        f"--to {', '.join(OUTPUT_TARGETS)})"
    )
    raise InputError([Problem("", None, "", message, "E_FORMAT")])


def _cast_source(source: Source, record: type[msgspec.Struct] | None, target: Path, conversion: Converted) -> Path:
    """Return the path of the file with its lines cast to the record, or its own path if there is nothing to cast."""
    if record is None or source.path.is_dir() or is_document(source):
        return source.path
    conversion.cast = cast_lines(source, record, target)
    return target if conversion.cast else source.path


def _convert_golden_set(path: Path, old: str, new: str, conversion: Converted) -> Iterator[bytes]:
    loaded = goldens.load_golden(path, old)
    conversion.doubts = [str(warning) for warning in loaded.warnings]
    conversion.rows = len(loaded.golden.cases)
    if new == "trec-qrels":
        return export.qrels_lines(loaded.golden, conversion.lost)
    if new == NATIVE:
        return export.native_lines(loaded.golden)
    return export.rag_golden_lines(loaded.golden, conversion.lost)


def _convert_outputs(file: OutputFile, new: str, config: str | None, conversion: Converted) -> Iterator[bytes]:
    rows = _count_observations(read_observations(file.path, file.name, file.decoded_as), conversion)
    if new == TREC_RUN:
        return trec_run_lines(rows, config, conversion.lost)
    return native_lines(rows) if new == NATIVE else rag_trace_lines(rows, conversion.lost)


def _count_observations(observations: Iterator[Observation], conversion: Converted) -> Iterator[Observation]:
    for observation in observations:
        conversion.rows += 1
        yield observation
