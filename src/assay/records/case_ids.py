"""Ids of some cases, listed when they are asked for: a comparison of many metrics lists every case in each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt


class CaseIds(Sequence[str]):
    """The ids of those of some rows that have a code; equal to any sequence of the same ids.

    `codes` holds one code for each of all `ids`; which rows have it is computed when it is asked for.

    >>> CaseIds(["a", "b", "c"], np.array([1, 0, 1], np.int8), 1, np.array([0, 1, 2]))
    ('a', 'c')
    """

    __slots__ = ("_code", "_codes", "_ids", "_rows")

    def __init__(
        self, ids: Sequence[str], codes: npt.NDArray[np.int8], code: int, rows: npt.NDArray[np.integer]
    ) -> None:
        self._ids, self._codes, self._code, self._rows = ids, codes, code, rows

    def _select(self) -> npt.NDArray[np.integer]:
        selected: npt.NDArray[np.integer] = self._rows[self._codes[self._rows] == self._code]
        return selected

    def __len__(self) -> int:
        return int(np.count_nonzero(self._codes[self._rows] == self._code))

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self._ids[row] for row in self._select()[index].tolist())
        return self._ids[int(self._select()[index])]

    def __iter__(self) -> Iterator[str]:
        return (self._ids[row] for row in self._select().tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))
