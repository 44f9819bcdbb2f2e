"""The JSON reports: of a run, of a comparison, and of the legacy runner; strict, sorted, reproducible.

The shapes are in `report/schemas`: `report.schema.json`, which holds everything that the decision is based on, and
`comparison.schema.json`. No clock is read: a report has a time only if the caller passes one. The JSON of the legacy
runner follows it key for key, for scripts that read it; it has no keys for missing cases, statuses, intervals or the
decision.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from assay.attribution.cause_sentences import describe_cause
from assay.metrics.case_checks import list_runner_checks
from assay.metrics.template_columns import RUNNER_METRICS, find_first_present
from assay.records.findings import Attribution, CaseChange, Comparison, ComparisonSide, MetricChange, UnknownChange
from assay.records.golden_set import Case
from assay.records.observations import CONTEXT_STAGE, RETRIEVED_STAGE, Observation, find_stage
from assay.records.release_gates import Decision, Gate, RuleResult
from assay.records.scores import (
    ConfigResult,
    Interval,
    PassSample,
    ScoreTable,
    ScoringResult,
    SplitLooks,
    Summary,
    TargetFailure,
    TwinRate,
    TwinResult,
)
from assay.report.findings.attribution_tables import AttributionsByConfig, count_outcomes
from assay.report.findings.doubts import list_doubted_cases, list_doubts
from assay.report.findings.entity_tables import EntityRecall, EntityRecalls
from assay.report.wording.number_format import collect_summary_notes, format_percent, get_row_score
from assay.scoring.case_outcomes import count_cases, list_failed_cases, list_unknown_cases
from assay.text.escaping import escape_surrogates

Json = dict[str, Any]


def render_json_report(
    scoring: ScoringResult,
    now: str | None = None,
    attributions: AttributionsByConfig | None = None,
    entities: EntityRecalls | None = None,
    comparisons: Mapping[str, Comparison] | None = None,
) -> str:
    """Return the report as JSON text ending in a newline: keys sorted, two spaces, UTF-8 as it is.

    `now` becomes `generated_at`; `attributions` become the root causes of the cases, `entities` the recall of
    each entity of the questions. `comparisons` add what is significantly worse than the
    baseline to `doubts`. Raises ValueError for a number that is not finite.
    """
    report: Json = {
        "assay_version": scoring.assay_version,
        "configs": {
            config: _encode_config(result, scoring.stages.get(config))
            | {"target_errors": _encode_failures(scoring.failures.get(config, ()))}
            | _encode_repeated(scoring.repeated.get(config, ()))
            | _encode_attributions((attributions or {}).get(config))
            | _encode_twins(scoring.twins.get(config))
            | _encode_passes(scoring.passes.get(config))
            | _encode_entities((entities or {}).get(config))
            for config, result in scoring.configs.items()
        },
        "decision": _encode_outcome(scoring.decision),
        "doubts": [escape_surrogates(line) for line in list_doubts(scoring, comparisons)],
        "approver": scoring.gate.approver if scoring.gate is not None else "",
        "gate": scoring.gate.name if scoring.gate is not None else None,
        "golden": {
            "name": scoring.golden.name,
            "version": scoring.golden.version,
            "digest": scoring.golden.digest,
            "cases": scoring.golden.cases,
        }
        | _encode_looks(scoring.looks),
        "inputs": [
            {
                "path": escape_surrogates(source.path),
                "format": source.format,
                "rows": source.rows,
                "configs": list(source.configs),
            }
            for source in scoring.inputs
        ],
        "warnings": [escape_surrogates(warning) for warning in scoring.warnings],
    }
    if now is not None:
        report["generated_at"] = now
    return format_json(report)


def _encode_looks(looks: SplitLooks | None) -> Json:
    if looks is None:
        return {}
    reason = escape_surrogates(looks.reason)
    return {"looks": {"look": looks.look, "uncounted": looks.uncounted, "reason": reason}}


def _encode_config(result: ConfigResult, stage: str | None) -> Json:
    table = result.table
    failed = {checks.case_id: list(checks.failed) for checks in table.checks}
    return {
        "summary": _encode_summaries(result.summary),
        "slices": {key: _encode_summaries(metrics) for key, metrics in result.slices.items()},
        "missing": list(table.missing),
        "failed_cases": [
            {"case_id": case_id, "failed_checks": failed[case_id]} for case_id in list_failed_cases(result)
        ],
        "unknown_cases": list_unknown_cases(result),
        "doubted_cases": list_doubted_cases(result),
        "counts": structs.asdict(count_cases(result)),
        "decision": _encode_decision(result.decision) if result.decision is not None else None,
        "stage": stage,
        "repeats": table.repeats,
        "versions": {part: list(values) for part, values in table.versions.items()},
        "notes": list(table.notes),
    }


def _encode_failures(failures: Iterable[TargetFailure]) -> list[Json]:
    return [
        {
            "message": escape_surrogates(failure.message),
            "observations": failure.count,
            "case_ids": list(failure.case_ids),
        }
        for failure in failures
    ]


def _encode_repeated(repeated: Iterable[TargetFailure]) -> Json:
    """Return the calls that failed and were made again, by error code; an empty dictionary if there are none."""
    calls = [
        {"code": escape_surrogates(failure.message), "calls": failure.count, "case_ids": list(failure.case_ids)}
        for failure in repeated
    ]
    return {"repeated_calls": calls} if calls else {}


def _encode_attributions(attributions: Mapping[str, Attribution] | None) -> Json:
    """Return the attributions of one configuration, an empty dictionary if there are none."""
    if not attributions:
        return {}
    attribution_by_case = {
        case_id: {
            "verdict": attribution.verdict,
            "cause": attribution.cause,
            "happened": describe_cause(attribution),
            "stage": attribution.stage,
            "evidence": [escape_surrogates(fact) for fact in attribution.evidence],
            "confidence": attribution.confidence,
            "subcause": attribution.subcause,
            "also": list(attribution.also),
            "record": list(attribution.record),
        }
        for case_id, attribution in attributions.items()
    }
    return {"attributions": attribution_by_case, "outcomes": count_outcomes(attributions)}


def _encode_twins(twins: TwinResult | None) -> Json:
    """Return how variants are treated, an empty dictionary without variants."""
    if twins is None:
        return {}
    losses = []
    for loss in twins.losses:
        fields = msgspec.structs.asdict(loss)
        bounds = fields.pop("interval")
        losses.append(fields | _encode_bounds(bounds))
    return {
        "variants": {
            "clusters": twins.clusters,
            "alike": twins.alike,
            "differing": twins.differing,
            "unpaired": twins.unpaired,
            "consistency": _encode_rate(twins.consistency),
            "distinction": _encode_rate(twins.distinction),
            "difference": _encode_rate(twins.difference),
            "losses": losses,
            "pairs": [msgspec.structs.asdict(pair) for pair in twins.pairs],
        }
    }


def _encode_passes(sample: PassSample | None) -> Json:
    """Return what people found of a sample of the answers that rules passed; an empty dictionary without one."""
    if sample is None:
        return {}
    return {
        "passes": {
            "passed": sample.passed,
            "drawn": sample.drawn,
            "read": sample.read,
            "right": sample.right,
            "wrong": sample.wrong,
            "unclear": sample.unclear,
            "unread": sample.unread,
            "share_wrong": sample.share_wrong,
            **_encode_bounds(sample.interval),
        }
    }


def _encode_rate(rate: TwinRate) -> Json:
    encoded: Json = {"value": rate.value, "decided": rate.decided, "good": rate.good, **_encode_bounds(rate.interval)}
    if rate.unknown is not None:
        encoded["unknown"] = {"units": rate.unknown.count, "low": rate.unknown.low, "high": rate.unknown.high}
    return encoded


def _encode_bounds(bounds: Interval | None) -> Json:
    if bounds is None:
        return {"low": None, "high": None, "confidence": None, "interval_method": None}
    return {
        "low": bounds.low,
        "high": bounds.high,
        "confidence": bounds.confidence,
        "interval_method": bounds.method,
    }


def _encode_entities(recalls: Mapping[str, Sequence[EntityRecall]] | None) -> Json:
    """Return the recall of each entity by metric, an empty dictionary if there are none."""
    if not recalls:
        return {}
    by_metric: Json = {}
    for metric, rows in recalls.items():
        by_metric[metric] = {
            escape_surrogates(row.entity): {"cases": row.cases, "recall": row.recall, "missing": list(row.missing)}
            for row in rows
        }
    return {"entities": by_metric}


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
    if summary.unknown is not None:
        unknown = summary.unknown
        encoded["unknown"] = {"cases": unknown.count, "low": unknown.low, "high": unknown.high}
    if summary.unchecked:
        encoded["unchecked"] = summary.unchecked
    if summary.needs_review:
        encoded["needs_review"] = summary.needs_review
    if summary.settled:
        encoded["settled"] = summary.settled
    notes = list(collect_summary_notes(summary))
    if bounds is not None and bounds.confidence != 0.95:
        notes.append(f"{format_percent(bounds.confidence)} interval")
    if notes:
        encoded["note"] = "; ".join(notes)
    return encoded


def _encode_outcome(decision: Decision) -> Json:
    return {
        "outcome": decision.outcome,
        "reasons": list(decision.reasons),
        "events": list(decision.events),
        "incomplete": decision.incomplete or decision.outcome == "INCOMPLETE",
    }


def _encode_decision(decision: Decision) -> Json:
    return _encode_outcome(decision) | {
        "rules": [encode_rule_result(rule_result) for rule_result in decision.results],
    }


def encode_rule_result(rule_result: RuleResult) -> Json:
    """Return the result of one rule, as every JSON report shows it."""
    rule = rule_result.rule
    return {
        "metric": rule.metric,
        "slice": rule.slice,
        "at_least": rule.at_least,
        "at_most": rule.at_most,
        "max_regression": rule.max_regression,
        "severity": rule.severity,
        "basis": rule.basis or "point",
        "min_coverage": rule.min_coverage,
        "if_unmeasured": rule.if_unmeasured,
        "if_inconclusive": rule.if_inconclusive,
        "if_unknown": rule.if_unknown,
        "uncalibrated": rule.uncalibrated,
        "reason": rule.reason,
        "state": rule_result.state,
        "value": rule_result.value,
        "scored": rule_result.scored,
        "upper_bound": rule_result.upper_bound,
        "detectable": rule_result.detectable,
        "waived": rule_result.waived,
        "message": rule_result.message,
        "cases": list(rule_result.cases),
    } | ({"if_no_data": rule.if_no_data} if rule.if_no_data != "fail" else {})


def format_json(value: Any) -> str:
    """Return a value as JSON with sorted keys and two spaces. Raises ValueError for a number that is not finite.

    The standard library writes indented JSON in Python, ten times slower than compact JSON.

    >>> print(format_json({"b": [1.0, "é"], "a": {}}), end="")
    {
      "a": {},
      "b": [
        1.0,
        "é"
      ]
    }
    """
    compact = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)
    return msgspec.json.format(compact, indent=2) + "\n"


def render_comparison_json(
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
        "comparison": {metric: encode_metric_change(change) for metric, change in comparison.metrics.items()},
        "decision": _encode_decision(decision),
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
            key: {metric: encode_metric_change(change) for metric, change in metrics.items()}
            for key, metrics in comparison.slices.items()
        },
        "transitions": [{"before": old, "after": new, "cases": count} for old, new, count in comparison.transitions],
        "what_changed": list(comparison.changed),
        "why_moved": list(comparison.moved),
    }
    if now is not None:
        report["generated_at"] = now
    return format_json(report)


def render_candidates_json(reports: Sequence[str], decision: Decision) -> str:
    """Return the JSON reports of several candidates as one, with the decision on all of them.

    The shape is `report/schemas/comparisons.schema.json`.
    """
    combined: Json = {"comparisons": [json.loads(report) for report in reports], "decision": _encode_outcome(decision)}
    return json.dumps(combined, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True) + "\n"


def encode_metric_change(change: MetricChange) -> Json:
    """Return one metric's change, as every JSON report shows it; `unknown` only where answers are unknown."""
    unknown = {"unknown": _encode_unknown(change.unknown)} if change.unknown is not None else {}
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
        "verdict": change.verdict,
        "family": change.family,
        "counted": change.counted,
        "level": change.level,
        "confidence": change.confidence,
        "statistic": change.statistic,
        "improved": list(change.improved),
        "regressed": list(change.regressed),
        "unchanged": list(change.unchanged),
        "unpaired": list(change.unpaired),
        "smallest_detectable": change.smallest_detectable,
        "least_difference": change.least_difference,
        "needs_review": list(change.needs_review),
        "note": change.note,
        **unknown,
    }


def _encode_unknown(unknown: UnknownChange) -> Json:
    return {
        "answers": unknown.answers,
        "same": unknown.same,
        "cases": list(unknown.cases),
        "baseline": list(unknown.baseline),
        "candidate": list(unknown.candidate),
        "gain": list(unknown.gain),
        "direction": unknown.direction,
    }


def _encode_side(side: ComparisonSide) -> Json:
    return {
        "name": escape_surrogates(side.name),
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
        "fails_too": list(change.fails_too),
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


LegacyRow = dict[str, Any]


def build_legacy_rows(
    cases: Iterable[Case],
    table: ScoreTable,
    observations: Iterable[tuple[str, Observation]],
) -> list[LegacyRow]:
    """Return one row per case that has an observation, in golden order.

    `observations` are (case id, observation) pairs of one configuration; of repeats the first is shown, while scores
    combine all. A metric without a number, or that was not measured, is null.
    """
    observation_by_case: dict[str, Observation] = {}
    for case_id, observation in observations:
        if case_id not in observation_by_case or observation.repeat < observation_by_case[case_id].repeat:
            observation_by_case[case_id] = observation
    row_by_case = {case_id: row for row, case_id in enumerate(table.case_ids)}
    checks_by_case = {checks.case_id: checks for checks in table.checks}
    encoded_rows = []
    for case in cases:
        if case.id not in observation_by_case or case.id not in row_by_case:
            continue
        observation = observation_by_case[case.id]
        checks = checks_by_case.get(case.id)
        encoded_rows.append(
            {
                "query_id": case.id,
                "config_id": table.config_id,
                "difficulty": case.difficulty,
                "tags": list(case.tags),
                "expected_behavior": case.behaviour,
                "metrics": _read_runner_metrics(table, row_by_case[case.id]),
                "failed_checks": list_runner_checks(checks) if checks is not None else [],
                "retrieved_ids": _list_chunk_ids(observation, RETRIEVED_STAGE),
                "context_ids": _list_chunk_ids(observation, CONTEXT_STAGE),
                "citations": list(observation.citations or ()),
            }
        )
    return encoded_rows


def render_legacy_json(rows: Mapping[str, Sequence[LegacyRow]]) -> str:
    """Return the rows of each configuration as the legacy runner writes them: indent 2, UTF-8, keys in its order."""
    ordered = {config: list(rows[config]) for config in sorted(rows)}
    return json.dumps(ordered, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _list_chunk_ids(observation: Observation, stage: str) -> list[str]:
    ranked_stage = find_stage(observation, stage)
    return [chunk.chunk_id for chunk in ranked_stage.chunks] if ranked_stage is not None else []


def _read_runner_metrics(table: ScoreTable, row: int) -> dict[str, float | None]:
    measured = {key: find_first_present(names, table.columns) for key, names in RUNNER_METRICS.items()}
    return {key: get_row_score(table.columns[name], row) if name else None for key, name in measured.items()}
