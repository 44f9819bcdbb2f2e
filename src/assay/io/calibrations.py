"""Reads and writes calibration files: one record for each metric, and the full report of the measurement.

A scorer whose record meets the requirements may gate.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from assay.errors import InputError, Problem, shown
from assay.io.lines import opened, read_lines, text_of
from assay.io.shape import MisfitError, fit
from assay.io.strictjson import decode_object
from assay.io.writing import write_whole
from assay.scoring.standards import contradictions
from assay.verdict import Calibration

CALIBRATION_FORMAT = 1


def write_calibrations(path: str, calibrations: Iterable[Calibration], report: dict[str, Any]) -> Path:
    """Write the records and, under `report`, everything that was measured; equal reports give equal bytes."""
    content = {"format": CALIBRATION_FORMAT, "calibrations": list(calibrations), "report": report}
    encoded = msgspec.json.encode(content, order="sorted")
    return write_whole(path, [msgspec.json.format(encoded, indent=2), b"\n"])


def load_calibrations(path: str) -> dict[str, Calibration]:
    """Read a calibration file and return its records by metric name.

    Raises InputError with everything that is wrong, including records whose conclusion their own figures do not
    support.
    """
    with opened(path) as source:
        lines = [text_of(line, source.name) for line in read_lines(source)]
        content = decode_object("\n".join(lines), source.name)
    records = content.get("calibrations")
    if content.get("format") != CALIBRATION_FORMAT or not isinstance(records, list):
        message = f"not a calibration (got {shown(sorted(content))}; expected what assay calibrate --out writes)"
        raise InputError([Problem(path, None, "", message, "E_FORMAT")])
    calibrations: dict[str, Calibration] = {}
    problems = []
    for index, record in enumerate(records):
        at = f"calibrations[{index}]"
        try:
            calibration = fit(record, Calibration, at)
        except MisfitError as error:
            problems += [Problem(path, None, *misfit) for misfit in error.misfits]
            continue
        problems += [
            Problem(path, None, f"{at}.{field}", f"{message}: run assay calibrate again", "E_CALIBRATION")
            for field, message in contradictions(calibration)
        ]
        if calibrations.setdefault(calibration.metric, calibration) is not calibration:
            message = f"a second calibration of {calibration.metric}"
            problems.append(Problem(path, None, at, message, "E_DUPLICATE_ID"))
    if problems:
        raise InputError(problems)
    return calibrations
