"""Reads and writes calibration files: one record for each metric, and the full report of the measurement.

A scorer whose record meets the requirements may gate.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from assay.formats.file_io import decode_line, open_source, read_lines, write_atomically
from assay.formats.strict_json import MisfitError, convert_strictly, decode_json_object
from assay.gates.scorer_requirements import find_contradictions
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.verdicts import Calibration

CALIBRATION_FORMAT = 1


def write_calibrations(path: str, calibrations: Iterable[Calibration], report: dict[str, Any]) -> Path:
    """Write the records and, under `report`, everything that was measured; equal reports give equal bytes."""
    content = {"format": CALIBRATION_FORMAT, "calibrations": list(calibrations), "report": report}
    encoded = msgspec.json.encode(content, order="sorted")
    return write_atomically(path, [msgspec.json.format(encoded, indent=2), b"\n"])


def load_calibrations(path: str) -> dict[str, Calibration]:
    """Read a calibration file and return its records by metric name.

    Raises InputError with everything that is wrong, including records whose conclusion their own figures do not
    support.
    """
    with open_source(path) as source:
        lines = [decode_line(line, source.name) for line in read_lines(source)]
        content = decode_json_object("\n".join(lines), source.name)
    records = content.get("calibrations")
    if content.get("format") != CALIBRATION_FORMAT or not isinstance(records, list):
        message = f"not a calibration (got {shorten_repr(sorted(content))}; expected what assay calibrate --out writes)"
        raise InputError([Problem(path, None, "", message, "E_FORMAT")])
    calibrations: dict[str, Calibration] = {}
    problems = []
    for index, record in enumerate(records):
        at = f"calibrations[{index}]"
        try:
            calibration = convert_strictly(record, Calibration, at)
        except MisfitError as error:
            problems += [Problem(path, None, *misfit) for misfit in error.misfits]
            continue
        problems += [
            Problem(path, None, f"{at}.{field}", f"{message}: run assay calibrate again", "E_CALIBRATION")
            for field, message in find_contradictions(calibration)
        ]
        if calibrations.setdefault(calibration.metric, calibration) is not calibration:
            message = f"a second calibration of {calibration.metric}"
            problems.append(Problem(path, None, at, message, "E_DUPLICATE_ID"))
    if problems:
        raise InputError(problems)
    return calibrations
