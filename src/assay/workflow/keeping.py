"""Encoding of observations as lines of a run: without secrets, readable again, and valid for scoring."""

from __future__ import annotations

import msgspec
from msgspec import structs

from assay.io.lines import MAX_LINE_BYTES
from assay.io.outputs import native
from assay.io.outputs.faults import UNREADABLE
from assay.io.outputs.flaws import flaws
from assay.io.redaction import Redactor
from assay.io.runfolder import Journal, key_of
from assay.model import Observation, TargetError


def keepable(observation: Observation, redactor: Redactor) -> tuple[Observation, bytes]:
    """Return the observation as it is stored, and its line.

    An observation that could not be read again, or that would stop the scoring of all others (a contradictory ranking,
    a number that is not finite), is stored as an error with code `schema`; one beyond 16 MiB as `too_large`.
    """
    if observation.error is not None:
        message = redactor.message(observation.error.message)
        observation = structs.replace(observation, error=TargetError(observation.error.code, message))
    fault = ""
    code = "schema"
    line = b""
    try:
        line = _encode_redacted(observation, redactor)
        if len(line) > MAX_LINE_BYTES:
            fault, code = f"an observation of {len(line)} bytes (expected {MAX_LINE_BYTES} at most)", "too_large"
        else:
            decoded = native.decode(line)
            row_flaws = flaws(decoded)
            fault = "; ".join(f"{flaw.field}: {flaw.message}" for flaw in row_flaws)
            if not fault and msgspec.json.encode(decoded) != line:
                fault = "holds a number that is not finite (expected numbers that JSON can represent)"
    except (*UNREADABLE, TypeError) as error:
        fault = f"cannot be kept: {error}"
    if not fault:
        return decoded, line
    broken = Observation(
        observation.case_id,
        observation.config_id,
        observation.repeat,
        observation.question,
        error=TargetError(code, redactor.message(fault)[:500]),
    )
    return broken, msgspec.json.encode(broken)


class Keeper:
    """The sink of a runner: writes observations to the journal of a run."""

    def __init__(self, journal: Journal, redactor: Redactor) -> None:
        self.journal, self.redactor = journal, redactor

    def __call__(self, observation: Observation) -> Observation:
        """Write the observation and return it as written. Raises IncompleteError if the write fails."""
        stored, line = keepable(observation, self.redactor)
        self.journal.append(line, key_of(stored), failed=stored.error is not None)
        return stored


def _encode_redacted(observation: Observation, redactor: Redactor) -> bytes:
    line = msgspec.json.encode(observation)
    if not redactor.touches(line):
        return line
    clean = redactor.value(msgspec.to_builtins(observation))
    clean |= {"case_id": observation.case_id, "config_id": observation.config_id, "question": observation.question}
    return msgspec.json.encode(msgspec.convert(clean, Observation))
