"""Measure whether a retrieval-augmented system can be trusted, which part failed, and whether a change may ship.

    import assay

    golden = assay.load_golden("golden.jsonl")
    run = assay.score(golden, assay.load_observations("outputs.jsonl"))
    print(run.decision.outcome, run.summary("hybrid")["recall@10"].value)

Everything is imported when first used, so that importing `assay` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.api import compare, explain, gate, load_corpus, load_golden, load_observations, score
    from assay.version import __version__

_HOME = {
    "__version__": "assay.version",
    "compare": "assay.api",
    "explain": "assay.api",
    "gate": "assay.api",
    "load_corpus": "assay.api",
    "load_golden": "assay.api",
    "load_observations": "assay.api",
    "score": "assay.api",
}

__all__ = ["__version__", "compare", "explain", "gate", "load_corpus", "load_golden", "load_observations", "score"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
