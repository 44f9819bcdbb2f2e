"""Loads golden sets in any supported format, computes their digest, and writes them in the native format."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.digest import digest
from assay.errors import InputError, Problem, shown
from assay.io.findings import Findings
from assay.io.goldens.builder import Builder
from assay.io.goldens.catalog import FORMS
from assay.io.goldens.detect import detect
from assay.io.goldens.export import native_lines
from assay.io.lines import Source, opened
from assay.model import GoldenSet

FORMATS: tuple[str, ...] = tuple(FORMS)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A golden set with the format it was read from, its warnings and its digest."""

    golden: GoldenSet
    format: str
    warnings: tuple[Problem, ...]
    digest: str


def load_golden(path: str | Path, format: str | None = None) -> Loaded:
    """Load a golden set from a file, a folder or `-` (standard input); `.gz` is unpacked.

    `format` is one of `FORMATS`, or None to detect it from the content. Raises InputError with everything that is
    wrong: nothing is skipped, coerced or guessed. For the rules see ADR 0027 (partial judgments), ADR 0028 (behaviour)
    and ADR 0030 (what a good answer is); the module of each format says how it maps its members.
    """
    with opened(path) as source:
        form = FORMS[_check_format(format) if format is not None else detect(source)]
        findings = Findings(source.name)
        builder = Builder(form, findings)
        _read_cases(source, builder)
    golden = builder.golden()
    return Loaded(golden, form.name, findings.warnings(), golden_digest(golden))


def detect_format(path: str | Path) -> str:
    """Return which of `FORMATS` a file or folder has. Raises InputError, saying what was looked for."""
    with opened(path) as source:
        return detect(source)


def golden_digest(golden: GoldenSet) -> str:
    """Return the digest of a golden set, which does not depend on the order of its cases."""
    cases = tuple(sorted(golden.cases, key=lambda case: case.id))
    return digest(msgspec.structs.replace(golden, cases=cases))


def write_golden(golden: GoldenSet, path: str | Path) -> None:
    """Write a golden set as native JSON Lines, header first; no reader ever sees half a file.

    Reading it back gives an equal golden set, provided that the golden set follows the rules that reading checks.
    """
    draft = Path(f"{path}.part")
    with open(draft, "wb") as file:
        file.writelines(native_lines(golden))
    draft.replace(path)


def _check_format(name: str) -> str:
    if name not in FORMS:
        raise InputError(f"unknown golden-set format (got {shown(name)}; expected one of {', '.join(FORMATS)})")
    return name


def _read_cases(source: Source, builder: Builder) -> None:
    """Read everything, then raise all errors at once, including those before an error that stops the reading."""
    findings = builder.findings
    gc_was_enabled = gc.isenabled()
    gc.disable()  # reading creates no reference cycles, and looking for them takes a third of the time
    try:
        builder.form.read(source, builder)
    except InputError as error:
        findings.absorb(error)
    finally:
        if gc_was_enabled:
            gc.enable()
    findings.raise_errors()
    if not builder.cases:
        raise InputError([Problem(source.name, None, "", "empty (got no case; expected at least one)", "E_EMPTY")])
    builder.names.report()
    unasked = sum(not case.question for case in builder.cases)
    if unasked and builder.judgments == "complete":
        message = f"cases without a question (got {unasked}; expected the words asked): only retrieval can be scored"
        findings.warn(None, "question", message, "E_QUESTION")
