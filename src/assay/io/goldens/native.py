"""Format `assay`: the records of the model as they are, one case on each line, or a whole `GoldenSet` as a document."""

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
        now: dict[str, Any] = {"metadata": {**case.metadata, **free}} if free else {}
        if case.evidence:
            now["evidence"] = named_evidence(case.evidence, builder, spot)
        if case.forbidden:
            now["forbidden"] = named_selectors(case.forbidden, builder, spot, "forbidden")
        builder.add(replace(case, **now) if now else case, spot)

    read_records(source, builder, Case, add)
