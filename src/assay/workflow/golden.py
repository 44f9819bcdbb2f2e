"""The description of a golden set: its digest and counts."""

from __future__ import annotations

from collections import Counter

from assay.io.golden import Loaded, load_golden
from assay.report.safe import terminal
from assay.report.tables import Table


def describe(path: str, format: str | None = None) -> tuple[Loaded, Table]:
    """Return a golden set and a table of its counts: cases by behaviour, difficulty, tag and judgments."""
    loaded = load_golden(path, format)
    golden = loaded.golden
    rows = [
        ("format", loaded.format),
        ("digest", loaded.digest),
        ("cases", str(len(golden.cases))),
        ("judgments", golden.judgments),
    ]
    for attribute, counts in (
        ("behaviour", Counter(case.behaviour for case in golden.cases)),
        ("difficulty", Counter(case.difficulty for case in golden.cases)),
        ("tag", Counter(tag for case in golden.cases for tag in case.tags)),
    ):
        rows += [(f"{attribute} {terminal(name)}", str(count)) for name, count in sorted(counts.items())]
    return loaded, Table(terminal(golden.name or path), ("What", "How many"), tuple(rows))
