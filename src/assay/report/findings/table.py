"""A table as every report shows it: unescaped text in rows; the writers escape it."""

from __future__ import annotations

from msgspec import Struct


class Table(Struct, frozen=True):
    """Rows of unescaped text under a title; every row has as many cells as there are columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.title}: a row does not have {len(self.columns)} cells")
