"""The JSON report of a comparison: strict, sorted, reproducible. Its shape is `schemas/comparison.schema.json`."""

from __future__ import annotations

import json
from typing import Any

from assay.finding import Attribution, CaseChange, Comparison, MetricChange, Side
from assay.model import Decision, Gate
from assay.report.comparison import verdict
from assay.report.jsonreport import rule_json
from assay.report.safe import encodable

Json = dict[str, Any]


def comparison_json(
    comparison: Comparison, decision: Decision, now: str | None = None, gate: Gate | None = None
) -> str:
    """Return the comparison as JSON text ending in a newline; `now` becomes `generated_at`, `gate` is what decided.

    Raises ValueError for a number that is not finite.
    """
    report: Json = {
        "approver": gate.approver if gate is not None else "",
        "baseline": _encode_side(comparison.baseline),
        "candidate": _encode_side(comparison.candidate),
        "cases": [_encode_case_change(record) for record in comparison.cases],
        "comparison": {metric: change_json(change) for metric, change in comparison.metrics.items()},
        "decision": {
            "outcome": decision.outcome,
            "reasons": list(decision.reasons),
            "rules": [rule_json(record) for record in decision.results],
        },
        "moves": [
            {
                "case_id": record.case_id,
                "evidence": record.name,
                "stage": record.stage,
                "before": record.before,
                "after": record.after,
            }
            for record in comparison.moves
        ],
        "notes": list(comparison.notes),
        "slices": {
            key: {metric: change_json(change) for metric, change in metrics.items()}
            for key, metrics in comparison.slices.items()
        },
        "transitions": [{"before": old, "after": new, "cases": count} for old, new, count in comparison.transitions],
        "what_changed": list(comparison.changed),
        "why_moved": list(comparison.moved),
    }
    if now is not None:
        report["generated_at"] = now
    return json.dumps(report, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True) + "\n"


def change_json(change: MetricChange) -> Json:
    """Return one metric's change, as every JSON report shows it."""
    return {
        "baseline": change.baseline,
        "candidate": change.candidate,
        "gain": change.gain,
        "low": change.low,
        "high": change.high,
        "p": change.p,
        "p_adjusted": change.p_adjusted,
        "method": change.method,
        "n": change.n,
        "verdict": verdict(change),
        "improved": list(change.improved),
        "regressed": list(change.regressed),
        "unchanged": list(change.unchanged),
        "unpaired": list(change.unpaired),
        "smallest_detectable": change.smallest_detectable,
        "needs_review": list(change.needs_review),
        "note": change.note,
    }


def _encode_side(side: Side) -> Json:
    return {
        "name": encodable(side.name),
        "config_id": side.config_id,
        "golden_digest": side.golden_digest,
        "cases": side.cases,
        "versions": {part: list(values) for part, values in side.versions.items()},
        "judge": side.judge,
        "stage": side.stage,
        "assay_version": side.assay_version,
    }


def _encode_case_change(change: CaseChange) -> Json:
    return {
        "case_id": change.case_id,
        "before": _encode_attribution(change.before),
        "after": _encode_attribution(change.after),
        "improved": list(change.improved),
        "regressed": list(change.regressed),
        "needs_review": list(change.needs_review),
        "scores": {metric: list(pair) for metric, pair in change.scores.items()},
    }


def _encode_attribution(attribution: Attribution | None) -> Json | None:
    if attribution is None:
        return None
    return {
        "verdict": attribution.verdict,
        "cause": attribution.cause,
        "stage": attribution.stage,
        "evidence": list(attribution.evidence),
        "confidence": attribution.confidence,
    }
