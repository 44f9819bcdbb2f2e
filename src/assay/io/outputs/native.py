"""Format `assay`: one `Observation` record per line, as a run writes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from assay.errors import InputError, Problem
from assay.io.shape import MisfitError, fit
from assay.io.strictjson import pointer
from assay.model import Observation

_DECODER = msgspec.json.Decoder(Observation)


def decode(line: bytes) -> Observation:
    """Decode one line. Raises msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError or RecursionError."""
    return _DECODER.decode(line)


def checked(observation: Observation) -> Observation:
    """Validate an observation made in Python as if it were read from a file, because constructors check nothing.

    Raises InputError with everything that reading its line would refuse, and for numbers that JSON cannot represent.
    """
    try:
        row = msgspec.to_builtins(observation)
        problems = list(_find_non_finite(row, ""))
        record = fit(row, Observation)
    except TypeError as error:
        problems = [Problem("", None, "", f"not an observation ({error})", "E_TYPE")]
    except MisfitError as error:
        problems += [Problem("", None, *misfit) for misfit in error.misfits]
    if problems:
        raise InputError(problems)
    return record


def _find_non_finite(value: Any, at: str) -> Iterator[Problem]:
    if isinstance(value, float) and not math.isfinite(value):
        yield Problem(
            "", None, at, f"not a finite number (got {value}; expected one that JSON can represent)", "E_NUMBER"
        )
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _find_non_finite(member, pointer(at, str(key)))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _find_non_finite(item, pointer(at, index))
