"""`assay`: one `Observation` record a line, as the runner journals it."""

from __future__ import annotations

import msgspec

from assay.model import Observation

_DECODER = msgspec.json.Decoder(Observation)


def decode(line: bytes) -> Observation:
    """Decode one line. Raises msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError or RecursionError."""
    return _DECODER.decode(line)
