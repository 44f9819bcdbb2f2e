"""Format `assay`: the native records, one `Case` per line or a `GoldenSet` as one JSON document."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from assay.io.goldens.base import Spot
from assay.io.goldens.builder import Builder
from assay.io.goldens.naming import named_evidence, named_selectors
from assay.io.goldens.rows import read_records
from assay.io.lines import Source
from assay.model import Case

DECISIVE = ("evidence", "behaviour", "forbidden", "symbols", "user")


def read(source: Source, builder: Builder) -> None:
    """Read native cases; `x_` members go to `metadata`."""

    def add(case: Case, free: dict[str, Any], spot: Spot) -> None:
        changes: dict[str, Any] = {}
        if free:
            changes["metadata"] = {**case.metadata, **free}
        if case.evidence:
            changes["evidence"] = named_evidence(case.evidence, builder, spot)
        if case.forbidden:
            changes["forbidden"] = named_selectors(case.forbidden, builder, spot, "forbidden")
        builder.add(replace(case, **changes) if changes else case, spot)

    read_records(source, builder, Case, add)
