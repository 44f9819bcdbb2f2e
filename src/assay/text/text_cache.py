"""Keeps what was computed from texts that are asked about again."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Result = TypeVar("Result")


def cache_by_text(
    maxsize: int, longest: int, long_texts: int = 0
) -> Callable[[Callable[[str], Result]], Callable[[str], Result]]:
    """Return a decorator that keeps the results of a function for the last `maxsize` texts of at most `longest`
    characters, and for the last `long_texts` of longer ones, which would fill the memory.

    Callers must not change the results.

    >>> @cache_by_text(maxsize=100, longest=20)
    ... def split_at_commas(text):
    ...     return tuple(text.split(","))
    >>> split_at_commas("a,b") is split_at_commas("a,b"), split_at_commas("a," * 20) is split_at_commas("a," * 20)
    (True, False)
    """

    def decorate(compute: Callable[[str], Result]) -> Callable[[str], Result]:
        compute_short = lru_cache(maxsize)(compute)
        compute_long = lru_cache(long_texts)(compute) if long_texts else compute

        @wraps(compute)
        def look_up(text: str) -> Result:
            return compute_short(text) if len(text) <= longest else compute_long(text)

        return look_up

    return decorate
