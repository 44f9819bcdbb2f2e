"""Golden sets from draft to frozen: the Python functions of `assay golden …`, imported when first used.

from assay import golden

report = golden.lint("golden.jsonl", corpus="corpus.jsonl")
for finding in report.findings:
    print(finding.rule, finding.case, finding.message)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.golden.check_golden import lint_file as lint
    from assay.golden.check_golden import measure_file as coverage
    from assay.golden.check_health import health
    from assay.golden.collect_traffic import sample
    from assay.golden.drafting.draft_cases import draft
    from assay.golden.freeze_set import diff_files as diff
    from assay.golden.freeze_set import freeze
    from assay.golden.pooling.collect_pool import pool
    from assay.golden.pooling.draft_nuggets import nuggets
    from assay.golden.relink_evidence import relink
    from assay.golden.review_candidates import review
    from assay.golden.twin_cases.draft_twins import twins
    from assay.golden.verify_evidence import verify
    from assay.golden.write_starter import init

__all__ = [
    "coverage",
    "diff",
    "draft",
    "freeze",
    "health",
    "init",
    "lint",
    "nuggets",
    "pool",
    "relink",
    "review",
    "sample",
    "twins",
    "verify",
]

_HOME = {
    "coverage": ("check_golden", "measure_file"),
    "diff": ("freeze_set", "diff_files"),
    "draft": ("drafting.draft_cases", "draft"),
    "freeze": ("freeze_set", "freeze"),
    "init": ("write_starter", "init"),
    "lint": ("check_golden", "lint_file"),
    "sample": ("collect_traffic", "sample"),
    "health": ("check_health", "health"),
    "pool": ("pooling.collect_pool", "pool"),
    "nuggets": ("pooling.draft_nuggets", "nuggets"),
    "relink": ("relink_evidence", "relink"),
    "review": ("review_candidates", "review"),
    "twins": ("twin_cases.draft_twins", "twins"),
    "verify": ("verify_evidence", "verify"),
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module, attribute = _HOME[name]
        return getattr(import_module(f"assay.golden.{module}"), attribute)
    raise AttributeError(f"module 'assay.golden' has no attribute {name!r}")
