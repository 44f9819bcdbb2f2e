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


def comparison_json(found: Comparison, decision: Decision, now: str | None = None, gate: Gate | None = None) -> str:
    """Return the comparison as JSON text ending in a newline; `now` becomes `generated_at`, `gate` is what decided.

    Raises ValueError for a number that is not finite, which is a defect of its maker.
    """
    report: Json = {
        "approver": gate.approver if gate is not None else "",
        "baseline": _side(found.baseline),
        "candidate": _side(found.candidate),
        "cases": [_case(each) for each in found.cases],
        "comparison": {metric: change_json(change) for metric, change in found.metrics.items()},
        "decision": {
            "outcome": decision.outcome,
            "reasons": list(decision.reasons),
            "rules": [rule_json(each) for each in decision.results],
        },
        "moves": [
            {
                "case_id": each.case_id,
                "evidence": each.name,
                "stage": each.stage,
                "before": each.before,
                "after": each.after,
            }
            for each in found.moves
        ],
        "notes": list(found.notes),
        "slices": {
            key: {metric: change_json(change) for metric, change in metrics.items()}
            for key, metrics in found.slices.items()
        },
        "transitions": [{"before": old, "after": new, "cases": count} for old, new, count in found.transitions],
        "what_changed": list(found.changed),
        "why_moved": list(found.moved),
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


def _side(side: Side) -> Json:
    return {
        "name": encodable(side.name),
        "config_id": side.config_id,
        "golden_digest": side.golden_digest,
        "cases": side.cases,
        "versions": {part: list(found) for part, found in side.versions.items()},
        "judge": side.judge,
        "stage": side.stage,
        "assay_version": side.assay_version,
    }


def _case(change: CaseChange) -> Json:
    return {
        "case_id": change.case_id,
        "before": _attribution(change.before),
        "after": _attribution(change.after),
        "improved": list(change.improved),
        "regressed": list(change.regressed),
        "needs_review": list(change.needs_review),
        "scores": {metric: list(pair) for metric, pair in change.scores.items()},
    }


def _attribution(found: Attribution | None) -> Json | None:
    if found is None:
        return None
    return {
        "verdict": found.verdict,
        "cause": found.cause,
        "stage": found.stage,
        "evidence": list(found.evidence),
        "confidence": found.confidence,
    }
