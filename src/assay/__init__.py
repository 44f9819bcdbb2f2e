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
    from assay import audit
    from assay.api import (
        ScoreResult,
        calibrate,
        compare,
        compare_all,
        explain,
        gate,
        judge,
        label_answer,
        load_corpus,
        load_golden,
        load_observations,
        metric,
        observe,
        observe_async,
        plan,
        report,
        review,
        run,
        run_async,
        score,
        settle,
    )
    from assay.metrics.catalog import DEFAULT_METRICS
    from assay.records.errors import AssayError, InputError
    from assay.records.findings import Comparison
    from assay.records.golden_set import Case, Corpus, GoldenSet
    from assay.records.observations import Observation
    from assay.records.release_gates import Decision, Gate, Rule
    from assay.records.scores import Summary
    from assay.records.verdicts import JudgeRubric, Label, RubricLabel
    from assay.report.collect_cases import CaseResult
    from assay.trends.check_production import monitor
    from assay.trends.load_history import history
    from assay.version import __version__

__all__ = [
    "DEFAULT_METRICS",
    "AssayError",
    "Case",
    "CaseResult",
    "Comparison",
    "Corpus",
    "Decision",
    "Gate",
    "GoldenSet",
    "InputError",
    "JudgeRubric",
    "Label",
    "Observation",
    "RubricLabel",
    "Rule",
    "ScoreResult",
    "Summary",
    "__version__",
    "audit",
    "calibrate",
    "compare",
    "compare_all",
    "explain",
    "gate",
    "history",
    "judge",
    "label_answer",
    "load_corpus",
    "load_golden",
    "load_observations",
    "metric",
    "monitor",
    "observe",
    "observe_async",
    "plan",
    "report",
    "review",
    "run",
    "run_async",
    "score",
    "settle",
]

_HOME = dict.fromkeys(__all__, "assay.api") | {
    "DEFAULT_METRICS": "assay.metrics.catalog",
    "AssayError": "assay.records.errors",
    "Case": "assay.records.golden_set",
    "CaseResult": "assay.report.collect_cases",
    "Comparison": "assay.records.findings",
    "Corpus": "assay.records.golden_set",
    "Decision": "assay.records.release_gates",
    "Gate": "assay.records.release_gates",
    "GoldenSet": "assay.records.golden_set",
    "InputError": "assay.records.errors",
    "JudgeRubric": "assay.records.verdicts",
    "Label": "assay.records.verdicts",
    "Observation": "assay.records.observations",
    "RubricLabel": "assay.records.verdicts",
    "Rule": "assay.records.release_gates",
    "Summary": "assay.records.scores",
    "monitor": "assay.trends.check_production",
    "__version__": "assay.version",
    "history": "assay.trends.load_history",
}


def __getattr__(name: str) -> Any:
    if name == "audit":
        return import_module("assay.audit")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
