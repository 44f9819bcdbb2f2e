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
    from assay.golden.relink_evidence import relink
    from assay.golden.verify_evidence import verify

__all__ = ["coverage", "lint", "relink", "verify"]

_HOME = {
    "coverage": ("check_golden", "measure_file"),
    "lint": ("check_golden", "lint_file"),
    "relink": ("relink_evidence", "relink"),
    "verify": ("verify_evidence", "verify"),
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module, attribute = _HOME[name]
        return getattr(import_module(f"assay.golden.{module}"), attribute)
    raise AttributeError(f"module 'assay.golden' has no attribute {name!r}")
