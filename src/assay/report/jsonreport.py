"""The JSON report: everything the decision stands on, in one strict, sorted, reproducible document.

Its shape is `schemas/report.schema.json`. No clock is read: the time stands in it only where the caller gives one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from assay.finding import Attribution
from assay.model import ConfigResult, Decision, RuleResult, Scoring, Summary
from assay.report.faults import Attributions
from assay.report.figures import notes_of, percent
from assay.report.safe import encodable
from assay.report.tables import failed_ids

Json = dict[str, Any]


def to_json(scoring: Scoring, now: str | None = None, attributions: Attributions | None = None) -> str:
    """Return the report as JSON text ending in a newline: keys sorted, two spaces, UTF-8 as it is.

    `now` becomes `generated_at`; `attributions` say whose fault each case's outcome was. Raises ValueError for a number
    that is not finite, which is a defect of its maker.
    """
    report: Json = {
        "assay_version": scoring.assay_version,
        "configs": {
            config: _config(result, scoring.stages.get(config)) | _attributed((attributions or {}).get(config))
            for config, result in scoring.configs.items()
        },
        "decision": {"outcome": scoring.decision.outcome, "reasons": list(scoring.decision.reasons)},
        "approver": scoring.gate.approver if scoring.gate is not None else "",
        "gate": scoring.gate.name if scoring.gate is not None else None,
        "golden": {
            "name": scoring.golden.name,
            "version": scoring.golden.version,
            "digest": scoring.golden.digest,
            "cases": scoring.golden.cases,
        },
        "inputs": [
            {"path": encodable(each.path), "format": each.format, "rows": each.rows, "configs": list(each.configs)}
            for each in scoring.inputs
        ],
        "warnings": [encodable(warning) for warning in scoring.warnings],
    }
    if now is not None:
        report["generated_at"] = now
    return json.dumps(report, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True) + "\n"


def _config(result: ConfigResult, stage: str | None) -> Json:
    table = result.table
    failed = {checks.case_id: list(checks.failed) for checks in table.checks}
    return {
        "summary": _summaries(result.summary),
        "slices": {key: _summaries(metrics) for key, metrics in result.slices.items()},
        "missing": list(table.missing),
        "failed_cases": [{"case_id": case_id, "failed_checks": failed[case_id]} for case_id in failed_ids(result)],
        "decision": _decision(result.decision) if result.decision is not None else None,
        "stage": stage,
        "repeats": table.repeats,
        "versions": {part: list(found) for part, found in table.versions.items()},
        "notes": list(table.notes),
    }


def _attributed(found: Mapping[str, Attribution] | None) -> Json:
    """Return the attributions of one configuration, nothing where none were made."""
    if not found:
        return {}
    shapes = {
        case_id: {
            "verdict": each.verdict,
            "cause": each.cause,
            "stage": each.stage,
            "evidence": [encodable(fact) for fact in each.evidence],
            "confidence": each.confidence,
        }
        for case_id, each in found.items()
    }
    return {"attributions": shapes}


def _summaries(metrics: Mapping[str, Summary]) -> Json:
    return {metric: _summary(summary) for metric, summary in metrics.items()}


def _summary(summary: Summary) -> Json:
    bounds = summary.interval
    shape: Json = {
        "statistic": summary.statistic,
        "value": summary.value,
        "mean": summary.mean,
        "mean_worst": summary.mean_worst,
        "low": bounds.low if bounds is not None else None,
        "high": bounds.high if bounds is not None else None,
        "method": bounds.method if bounds is not None else None,
        "scored": summary.scored,
        "not_applicable": summary.not_applicable,
        "errors": summary.errors,
    }
    if summary.needs_review:
        shape["needs_review"] = summary.needs_review
    notes = list(notes_of(summary))
    if bounds is not None and bounds.confidence != 0.95:
        notes.append(f"{percent(bounds.confidence)} interval")
    if notes:
        shape["note"] = "; ".join(notes)
    return shape


def _decision(decision: Decision) -> Json:
    return {
        "outcome": decision.outcome,
        "reasons": list(decision.reasons),
        "rules": [rule_json(found) for found in decision.results],
    }


def rule_json(found: RuleResult) -> Json:
    """Return what one rule found, as every JSON report shows it."""
    rule = found.rule
    return {
        "metric": rule.metric,
        "slice": rule.slice,
        "at_least": rule.at_least,
        "at_most": rule.at_most,
        "max_regression": rule.max_regression,
        "severity": rule.severity,
        "basis": rule.basis,
        "min_coverage": rule.min_coverage,
        "if_unmeasured": rule.if_unmeasured,
        "if_inconclusive": rule.if_inconclusive,
        "reason": rule.reason,
        "state": found.state,
        "value": found.value,
        "scored": found.scored,
        "upper_bound": found.upper_bound,
        "detectable": found.detectable,
        "waived": found.waived,
        "message": found.message,
        "cases": list(found.cases),
    }
