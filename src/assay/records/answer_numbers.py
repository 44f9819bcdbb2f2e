"""Numbers for answers, by which those that are the same on both sides of a comparison are known (ADR 162)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

AnswerNumbers = npt.NDArray[np.uint64]
NO_NUMBER = np.uint64(0)
"""The number of a row whose answer nothing is known of."""
_NUMBER_BYTES = 8


def number_answer(text: str, declared: str | None) -> int:
    """Return the number of an answer: the same for the same text and the same declared behaviour, never 0.

    >>> first, again, other = (number_answer(text, None) for text in ("Yes.", "Yes.", "No."))
    >>> first == again, first == other
    (True, False)
    """
    return number_parts([text.encode("utf-8", "surrogatepass"), (declared or "").encode()])


def number_parts(parts: Iterable[bytes]) -> int:
    """Return a number for some parts in order: the same for the same parts, never 0."""
    digest = hashlib.blake2b(digest_size=_NUMBER_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(_NUMBER_BYTES, "little"))
        digest.update(part)
    return int.from_bytes(digest.digest(), "little") or 1
