"""The JSON report: everything the decision is based on, in one strict, sorted, reproducible document.

Its shape is `schemas/report.schema.json`. No clock is read: it has a time only if the caller passes one.
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

    `now` becomes `generated_at`; `attributions` become the root causes of the cases. Raises ValueError for a number
    that is not finite.
    """
    report: Json = {
        "assay_version": scoring.assay_version,
        "configs": {
            config: _encode_config(result, scoring.stages.get(config))
            | _encode_attributions((attributions or {}).get(config))
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
            {
                "path": encodable(source.path),
                "format": source.format,
                "rows": source.rows,
                "configs": list(source.configs),
            }
            for source in scoring.inputs
        ],
        "warnings": [encodable(warning) for warning in scoring.warnings],
    }
    if now is not None:
        report["generated_at"] = now
    return json.dumps(report, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True) + "\n"


def _encode_config(result: ConfigResult, stage: str | None) -> Json:
    table = result.table
    failed = {checks.case_id: list(checks.failed) for checks in table.checks}
    return {
        "summary": _encode_summaries(result.summary),
        "slices": {key: _encode_summaries(metrics) for key, metrics in result.slices.items()},
        "missing": list(table.missing),
        "failed_cases": [{"case_id": case_id, "failed_checks": failed[case_id]} for case_id in failed_ids(result)],
        "decision": _encode_decision(result.decision) if result.decision is not None else None,
        "stage": stage,
        "repeats": table.repeats,
        "versions": {part: list(values) for part, values in table.versions.items()},
        "notes": list(table.notes),
    }


def _encode_attributions(attributions: Mapping[str, Attribution] | None) -> Json:
    """Return the attributions of one configuration, an empty dictionary if there are none."""
    if not attributions:
        return {}
    attribution_by_case = {
        case_id: {
            "verdict": attribution.verdict,
            "cause": attribution.cause,
            "stage": attribution.stage,
            "evidence": [encodable(fact) for fact in attribution.evidence],
            "confidence": attribution.confidence,
        }
        for case_id, attribution in attributions.items()
    }
    return {"attributions": attribution_by_case}


def _encode_summaries(metrics: Mapping[str, Summary]) -> Json:
    return {metric: _encode_summary(summary) for metric, summary in metrics.items()}


def _encode_summary(summary: Summary) -> Json:
    bounds = summary.interval
    encoded: Json = {
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
        encoded["needs_review"] = summary.needs_review
    notes = list(notes_of(summary))
    if bounds is not None and bounds.confidence != 0.95:
        notes.append(f"{percent(bounds.confidence)} interval")
    if notes:
        encoded["note"] = "; ".join(notes)
    return encoded


def _encode_decision(decision: Decision) -> Json:
    return {
        "outcome": decision.outcome,
        "reasons": list(decision.reasons),
        "rules": [rule_json(rule_result) for rule_result in decision.results],
    }


def rule_json(rule_result: RuleResult) -> Json:
    """Return the result of one rule, as every JSON report shows it."""
    rule = rule_result.rule
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
        "state": rule_result.state,
        "value": rule_result.value,
        "scored": rule_result.scored,
        "upper_bound": rule_result.upper_bound,
        "detectable": rule_result.detectable,
        "waived": rule_result.waived,
        "message": rule_result.message,
        "cases": list(rule_result.cases),
    }
