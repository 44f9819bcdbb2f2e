"""The file of a calibration: what was measured, metric by metric, and the records that scoring unlocks a gate with."""

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

FORMAT = 1


def write_calibrations(path: str, calibrations: Iterable[Calibration], report: dict[str, Any]) -> Path:
    """Write the records and, under `report`, everything that was measured; the same bytes for the same report."""
    content = {"format": FORMAT, "calibrations": list(calibrations), "report": report}
    encoded = msgspec.json.encode(content, order="sorted")
    return write_whole(path, [msgspec.json.format(encoded, indent=2), b"\n"])


def load_calibrations(path: str) -> dict[str, Calibration]:
    """Return the records of a file by metric name.

    Raises InputError with everything wrong with it, also where a record says what its own figures do not bear out.
    """
    with opened(path) as source:
        content = decode_object("\n".join(text_of(line, source.name) for line in read_lines(source)), source.name)
    records = content.get("calibrations")
    if content.get("format") != FORMAT or not isinstance(records, list):
        message = f"not a calibration (got {shown(sorted(content))}; expected what assay calibrate --out writes)"
        raise InputError([Problem(path, None, "", message, "E_FORMAT")])
    found: dict[str, Calibration] = {}
    problems = []
    for place, record in enumerate(records):
        at = f"calibrations[{place}]"
        try:
            calibration = fit(record, Calibration, at)
        except MisfitError as error:
            problems += [Problem(path, None, *misfit) for misfit in error.misfits]
            continue
        problems += [
            Problem(path, None, f"{at}.{field}", f"{message}: run assay calibrate again", "E_CALIBRATION")
            for field, message in contradictions(calibration)
        ]
        if found.setdefault(calibration.metric, calibration) is not calibration:
            problems.append(Problem(path, None, at, f"a second one of {calibration.metric}", "E_DUPLICATE_ID"))
    if problems:
        raise InputError(problems)
    return found
