"""Rules of a gate: checking them, filling in what they leave open, waiving one, evaluating one.

A rule without measurements never passes. A waiver is a named owner's acceptance that one rule stays unmet until the end
of a day; reports show it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs
from msgspec.structs import replace

from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.leaks.find_leaks import ACCESS_UNKNOWN, NO_ACCESS_RULES
from assay.metrics.metric import Metric
from assay.records.counts import format_count
from assay.records.errors import MetricNameError
from assay.records.golden_set import Case
from assay.records.release_gates import Rule, RuleResult, RuleState, Waiver
from assay.records.scores import SCORED, ScoreColumn, ScoreTable, Summary
from assay.scoring.case_clusters import number_clusters, select_shared_clusters
from assay.scoring.case_outcomes import find_unanswered_cases
from assay.scoring.column_values import (
    MIN_JUDGED_SHARE,
    PERCENTILE_STATISTICS,
    ColumnValues,
    collect_values,
    find_column,
    find_statistic,
    find_unreported_rows,
    format_case_ids,
    format_compared,
    format_interval_suffix,
    get_range,
    get_worst_value,
)
from assay.scoring.paired_scores import align_table
from assay.scoring.slices import find_slice_name_problem, find_slice_rows, suggest_slice
from assay.scoring.summaries import HEADLINE, summarise_metric
from assay.stats.arrays import RowIndices
from assay.stats.intervals import compute_percentile, estimate_one_sided_bound, upper_bound_after_no_events
from assay.stats.paired_tests import estimate_detectable_difference

EVENT_METRICS = ("visibility_leaks", "injection_followed")
"""What must not happen once: every gate looks at them on all cases, and a regression of them that stays open fails."""
_CONDITIONS = ("at_least", "at_most", "max_regression")


def find_rule_problem(rule: Rule) -> str | None:
    """Return what is wrong with a rule, whatever is measured; None if it is usable.

    >>> find_rule_problem(Rule("latency_ms(stat=p95)", at_least=6000))
    'latency_ms(stat=p95) is better low (got at_least; expected at_most)'
    """
    try:
        name = parse_metric(rule.metric)
    except MetricNameError as error:
        return error.problems[0].message
    conditions = [field for field in _CONDITIONS if getattr(rule, field) is not None]
    if len(conditions) != 1:
        return f"expected exactly one of {', '.join(_CONDITIONS)} (got {' and '.join(conditions) or 'none'})"
    metric_row = find_metric(name)
    slice_problem = find_slice_name_problem(rule.slice) if rule.slice is not None else None
    if rule.max_regression is not None:
        return _find_regression_problem(rule, str(name), metric_row, rule.max_regression) or slice_problem
    return (
        _find_threshold_problem(rule, str(name), metric_row)
        or slice_problem
        or _find_basis_problem(rule, str(name), metric_row)
    )


def resolve_rule(rule: Rule) -> Rule:
    """Return the rule with the canonical name of its metric and the defaults of what it leaves open.

    A rule that allows at most 0 of a count or share (leaks, followed injections) is a zero-event rule by default. An
    inconclusive regression rule blocks on leaks and followed injections and is a risk on the others by default. A
    metric of a random sample is compared by its bound.
    """
    name = parse_metric(rule.metric)
    metric_row = find_metric(name)
    zero_event = rule.zero_event
    if zero_event is None:
        counts_events = metric_row.unit in ("count", "share") and metric_row.direction == "lower"
        zero_event = (
            rule.at_most == 0 and counts_events and find_statistic(metric_row, str(name)) not in PERCENTILE_STATISTICS
        )
    if_inconclusive = rule.if_inconclusive
    if if_inconclusive is None and rule.max_regression is not None:
        if_inconclusive = "fail" if metric_row.name in EVENT_METRICS else "risk"
    is_bounded = rule.max_regression is not None or metric_row.is_sampled
    basis = rule.basis or ("bound" if is_bounded else "point")
    return structs.replace(rule, metric=str(name), zero_event=zero_event, if_inconclusive=if_inconclusive, basis=basis)


def get_threshold(rule: Rule) -> float:
    """Return the threshold of a usable rule."""
    threshold = rule.at_most if rule.at_least is None else rule.at_least
    assert threshold is not None
    return threshold


_EXAMPLE_CASES = 50
"""Of how many cases an error message says what share a count is."""


def _find_threshold_problem(rule: Rule, metric: str, metric_row: Metric) -> str | None:
    condition, value = "at_most" if rule.at_least is None else "at_least", get_threshold(rule)
    expected = {"higher": "at_least", "lower": "at_most"}.get(metric_row.direction, condition)
    if condition != expected:
        side = "high" if expected == "at_least" else "low"
        return f"{metric} is better {side} (got {condition}; expected {expected})"
    high = math.inf if find_statistic(metric_row, metric) == "total" else metric_row.high
    if math.isfinite(value) and metric_row.low <= value <= high:
        return None
    hint = f"; did you mean {value / 100:g}?" if high == 1 < value <= 100 else ""
    if hint and condition == "at_most" and float(value).is_integer() and find_statistic(metric_row, metric) == "rate":
        cases = max(_EXAMPLE_CASES, 10 * int(value))
        share = f"{value:g} of {format_count(cases, 'case')} are {value / cases:g}"
        hint = f", a share of the cases: {value:g}% is {value / 100:g}, {share}"
    value_range = f"{metric_row.low:g} to {high:g}" if math.isfinite(high) else f"{metric_row.low:g} or more"
    return f"the threshold is outside the range of {metric} (got {value:g}; expected {value_range}{hint})"


def _find_regression_problem(rule: Rule, metric: str, metric_row: Metric, margin: float) -> str | None:
    statistic = find_statistic(metric_row, metric)
    if statistic not in ("mean", "rate"):
        return f"max_regression is for means and rates (got {metric}, a {statistic})"
    if metric_row.direction == "neutral":
        return f"neither direction of {metric} is a regression (got max_regression)"
    if rule.zero_event:
        return "a regression is not an event (got max_regression with zero_event)"
    if rule.basis == "point" and rule.if_inconclusive is not None:
        return (
            "a point is never inconclusive but for unknown answers, of which if_unknown says what follows "
            "(got max_regression with basis: point and if_inconclusive)"
        )
    if not 0 < margin < math.inf:
        return f"no number of cases can show that nothing at all was lost (got {margin:g}; expected a margin above 0)"
    if margin >= metric_row.high - metric_row.low:
        hint = f"; did you mean {margin / 100:g}?" if metric_row.high == 1 <= margin <= 100 else ""
        return f"the margin is as wide as {metric} can be (got {margin:g}{hint})"
    return None


def _find_basis_problem(rule: Rule, metric: str, metric_row: Metric) -> str | None:
    statistic = find_statistic(metric_row, metric)
    perfect = rule.at_most == metric_row.low if rule.at_least is None else rule.at_least == metric_row.high
    if rule.zero_event and not (perfect and statistic in ("mean", "rate", "total")):
        return "zero_event is for a mean, rate or total that must be perfect (expected a threshold such as at_most: 0)"
    if rule.basis == "bound" and statistic not in ("mean", "rate"):
        return f"basis: bound is for means and rates (got {metric}, a {statistic})"
    if rule.basis == "bound" and perfect:
        return "basis: bound can never show a perfect score (expected basis: point, or a threshold short of perfect)"
    return None


RETIRED_CASES = "retired_cases"
"""What a waiver names that accepts the retired cases which failed in the baseline (ADR 240); it is no metric."""
_ROUNDING = 1e-9
"""What 1 / (1 − 0.9) may be off by."""
_WAIVABLE_STATES = ("fail", "inconclusive", "unmeasured")


def find_waived_rule_problem(metric: str, slice_name: str | None, rules: Sequence[Rule]) -> str | None:
    """Return why no usable rule is waived by a waiver of a metric on a slice, None if one is.

    >>> find_waived_rule_problem("recall@5", None, [Rule("recall@10", at_least=0.9)])
    'no rule is for recall@5 on all cases (expected the metric and slice of a rule)'
    """
    if metric == RETIRED_CASES and slice_name is None:
        return None
    try:
        name = str(parse_metric(metric))
    except MetricNameError as error:
        return error.problems[0].message
    if (name, slice_name) not in {(str(parse_metric(rule.metric)), rule.slice) for rule in rules}:
        return f"no rule is for {name} on {slice_name or 'all cases'} (expected the metric and slice of a rule)"
    return None


EVENT_IS_NOT_WAIVED = "an observed event cannot be waived"


def apply_waivers(result: RuleResult, waivers: Sequence[Waiver], today: str | None) -> RuleResult:
    """Return the result of a rule, marked as waived if one of the waivers applies on `today` (YYYY-MM-DD).

    An observed event of a zero-event rule cannot be waived, nor can an incomplete measurement. Without `today` no
    waiver applies, because its expiry cannot be checked. The message says why a waiver does not apply.
    """
    slot = result.rule.metric, result.rule.slice
    of_rules = [waiver for waiver in waivers if waiver.metric != RETIRED_CASES]
    matching = [waiver for waiver in of_rules if (str(parse_metric(waiver.metric)), waiver.slice) == slot]
    if not matching or result.state == "pass":
        return result
    if result.state not in _WAIVABLE_STATES or (result.state == "fail" and result.rule.zero_event):
        reason = EVENT_IS_NOT_WAIVED if result.rule.zero_event else f"{result.state} cannot be waived"
        return replace(result, message=f"{result.message}; {reason}")
    waived, note = describe_waivers(matching, today)
    return replace(result, message=f"{result.message}; {note}", waived=waived)


def describe_waivers(waivers: Sequence[Waiver], today: str | None) -> tuple[str, str]:
    """Return who accepts until when and why by the last of some waivers, at least one, and the words for it.

    The first is "" where that waiver does not apply on `today` (YYYY-MM-DD); the words say why.

    >>> describe_waivers([Waiver("recall@10", "Lan", "2026-03-31", "new index")], "2026-04-01")
    ('', 'the waiver by Lan until 2026-03-31 has expired')
    """
    last = max(waivers, key=lambda waiver: waiver.expires)
    if today is None:
        reason = "is not applied, because no time was given (--now or SOURCE_DATE_EPOCH)"
    elif today > last.expires:
        reason = "has expired"
    else:
        acceptance = f"{last.owner} until {last.expires}: {last.reason}"
        return acceptance, f"waived by {acceptance}"
    return "", f"the waiver by {last.owner} until {last.expires} {reason}"


MIN_CASES_FOR_P95 = 20
NO_WORST_VALUE = "all needed, because nothing bounds how bad an error is"


OwnBaseline = Literal["no", "alone", "of others"]
"""Whether the baseline was made from the recording that is scored: then it tells nothing of this one, and may be the
baseline of other configurations."""


class GateScores:
    """The scores that rules are compared with.

    They are the table of one configuration, the golden cases of its rows and, if there is one, the table of a baseline,
    aligned with both. A baseline of another version of the golden set has the cases only that are compared.
    """

    def __init__(
        self,
        table: ScoreTable,
        cases: Sequence[Case],
        baseline: ScoreTable | None = None,
        own_baseline: OwnBaseline = "no",
    ) -> None:
        if [case.id for case in cases] != list(table.case_ids):
            raise ValueError("the table's rows are not the golden cases, in golden order")
        self.table, self.cases, self.own_baseline = table, cases, own_baseline
        self.baseline = align_table(baseline, table.case_ids) if baseline is not None else None
        compared = set(baseline.case_ids if baseline is not None else ())
        self._is_compared = np.array([name in compared for name in table.case_ids], dtype=np.bool_)
        self.clusters = number_clusters(cases)
        self._rows: dict[str, RowIndices] = {}

    def find_rows(self, slice_name: str | None) -> RowIndices:
        """Return the rows of a slice, all without one."""
        if slice_name is None:
            return np.arange(len(self.cases), dtype=np.intp)
        if slice_name not in self._rows:
            self._rows[slice_name] = find_slice_rows(self.cases, slice_name)
        return self._rows[slice_name]

    def find_compared_rows(self, slice_name: str | None) -> RowIndices:
        """Return the rows of a slice whose cases the baseline has too."""
        rows = self.find_rows(slice_name)
        return rows[self._is_compared[rows]]

    def get_case_ids(self, rows: RowIndices) -> tuple[str, ...]:
        """Return the ids of the cases in these rows."""
        return tuple(self.table.case_ids[row] for row in rows.tolist())


def explain_empty_slice(slice_name: str | None, cases: Sequence[Case]) -> str:
    """Return that no case is in a slice, with the name that was probably meant.

    >>> explain_empty_slice("tag=acces", [Case("a", "?", tags=("access",))])
    "has no case in this slice; did you mean 'tag=access'?"
    """
    near = suggest_slice(slice_name, cases) if slice_name is not None else ""
    return "has no case in this slice" + (f"; did you mean {near!r}?" if near else "")


def evaluate_rule(rule: Rule, scores: GateScores) -> RuleResult:
    """Return the result of a usable rule: its state (ADR 0024), the number that decided and a sentence about it."""
    rule = resolve_rule(rule)
    name = parse_metric(rule.metric)
    column = find_column(scores.table, name)
    if column is None or any(part not in scores.table.columns for part in find_metric(name).parts):
        return RuleResult(rule, "unmeasured", None, 0, f"{describe_subject(rule)} was not measured")
    result = require_reported_rows(_ThresholdRule(rule, scores, column).evaluate(), scores, column)
    return _require_known_access(result, scores, column)


def _require_known_access(result: RuleResult, scores: GateScores, column: ScoreColumn) -> RuleResult:
    """Turn a pass, or a lack of data, into what `if_unknown` says if access is unknown on some rows (ADR 0039).

    Such a row may hide a leak, so that the rule holds at best and is violated at worst.
    """
    if result.state not in ("pass", "no_data") or ACCESS_UNKNOWN not in column.reasons:
        return result
    rows = scores.find_rows(result.rule.slice)
    unknown = scores.get_case_ids(rows[column.reason[rows] == column.reasons.index(ACCESS_UNKNOWN)])
    if not unknown:
        return result
    message = (
        f"{describe_subject(result.rule)} cannot be told on {len(unknown)} of {format_count(len(rows), 'case')}, which "
        f"show chunks that the corpus does not have ({format_case_ids(unknown)})"
    )
    if result.rule.if_unknown == "incomplete":
        return structs.replace(result, state="incomplete", message=message, cases=unknown)
    rule = structs.replace(result.rule, if_inconclusive=result.rule.if_unknown)
    return structs.replace(result, rule=rule, state="inconclusive", message=message, cases=unknown)


def count_unknown_access(column: ScoreColumn, rows: RowIndices) -> int:
    """Return on how many of these rows nobody can say who may see what was shown."""
    if ACCESS_UNKNOWN not in column.reasons:
        return 0
    is_unknown = (column.status[rows] != SCORED) & (column.reason[rows] == column.reasons.index(ACCESS_UNKNOWN))
    return int(is_unknown.sum())


class CheckedCases(Struct, frozen=True):
    """The words for how many cases were checked for leaks or followed injections, and for those that were not.

    `noun`: "4 cases" if all of them were, else "2 checked cases". `remainder`: what is said of the others, if any.
    """

    noun: str
    remainder: str


def count_checked_cases(column: ScoreColumn, rows: RowIndices) -> CheckedCases:
    """Return the words for how many of these rows were checked; those with access unknown are counted apart."""
    checked = int(np.count_nonzero(column.status[rows] == SCORED))
    if checked == len(rows):
        return CheckedCases(format_count(checked, "case"), "")
    unknown = count_unknown_access(column, rows)
    unchecked = len(rows) - checked - unknown
    parts = [f"access unknown on {unknown}"] if unknown else []
    parts += [f"{unchecked} not checked"] if unchecked else []
    return CheckedCases(format_count(checked, "checked case"), ", ".join(parts))


_EVIDENCE_METRICS = ("recall@10", "context_recall")
"""The metrics of which one has a score wherever a check could look for required evidence."""


def require_reported_rows(result: RuleResult, scores: GateScores, column: ScoreColumn) -> RuleResult:
    """Turn a pass into inconclusive if some observed rows did not report what the metric is computed from.

    The rows that do report it may be the easy ones. A configuration that never reports it was not measured at all.
    """
    if result.state != "pass":
        return result
    rows = scores.find_rows(result.rule.slice)
    missing = set(scores.table.missing)
    is_unreported = find_unreported_rows(column, rows)
    if parse_metric(result.rule.metric).base == "failed":
        if _was_nothing_checked(scores, rows):
            message = f"{describe_subject(result.rule)} had nothing to check: no answer, and no evidence to look for"
            return structs.replace(result, state="no_data", value=None, message=message)
        is_unreported |= _find_unanswered_rows(scores, rows)
    unreported = [case_id for case_id in scores.get_case_ids(rows[is_unreported]) if case_id not in missing]
    if not unreported:
        return result
    count = format_count(len(rows), "case")
    message = f"{result.message}; not reported on {len(unreported)} of {count} ({format_case_ids(unreported)})"
    return structs.replace(result, state="inconclusive", message=message)


def _was_nothing_checked(scores: GateScores, rows: RowIndices) -> bool:
    """Return whether no case has an answer, nor a ranking in which required evidence could be looked for, or what its
    user must not see: each of them failed nothing, whatever the system did."""
    behaviour = scores.table.columns.get("behaviour")
    if behaviour is None or not len(rows) or not np.all(find_unreported_rows(behaviour, rows)):
        return False
    guarded = np.array([row for row in rows.tolist() if _forbids_something(scores.cases[row])], dtype=np.intp)
    looked_at = {**dict.fromkeys(_EVIDENCE_METRICS, rows), _LEAKS: guarded}
    columns = ((scores.table.columns.get(name), looked_rows) for name, looked_rows in looked_at.items())
    return not any(np.any(column.status[looked] == SCORED) for column, looked in columns if column is not None)


def _forbids_something(case: Case) -> bool:
    """Return whether a case names what its user must not see, so that showing it would be the failure."""
    return case.behaviour == "permission_denied" or bool(case.forbidden or case.forbidden_text)


def _find_unanswered_rows(scores: GateScores, rows: RowIndices) -> npt.NDArray[np.bool_]:
    """Return which rows have no answer although others do: no check could fail on what they would have said."""
    behaviour = scores.table.columns.get("behaviour")
    if behaviour is None or not np.any(behaviour.status == SCORED):
        return np.zeros(len(rows), dtype=np.bool_)
    return find_unreported_rows(behaviour, rows)


def describe_subject(rule: Rule) -> str:
    """Return the metric and slice of a rule, with which its sentences begin.

    >>> describe_subject(Rule("recall@10", at_least=0.9, slice="tag=hr"))
    'recall@10 on tag=hr'
    """
    return rule.metric if rule.slice is None else f"{rule.metric} on {rule.slice}"


_LEAKS = "visibility_leaks"
_ACCESS_REMEDY = "; say who asks and who may see which chunk"
_IGNORE_REMEDY = ", or, if everybody may see everything, write if_no_data: ignore"
_NOT_IGNORED = " (if_no_data: ignore counts only where nothing says who may see what)"
_ACCESS_TAGS = frozenset({"acl", "tenant", "permission_denied"})


def states_access(case: Case) -> bool:
    """Return whether a case says that not everybody may see everything.

    >>> states_access(Case("a", "?", forbidden_text=("salary",))), states_access(Case("b", "?", tags=("hr",)))
    (True, False)
    """
    user = case.user
    is_limited = user is not None and (user.tenant is not None or bool(user.roles) or user.position is not None)
    is_forbidden = bool(case.forbidden or case.forbidden_text) or case.behaviour == "permission_denied"
    return is_limited or is_forbidden or not _ACCESS_TAGS.isdisjoint(case.tags)


class _ThresholdRule:
    """One rule with a threshold, and the column that it is compared with."""

    def __init__(self, rule: Rule, scores: GateScores, column: ScoreColumn) -> None:
        name = parse_metric(rule.metric)
        self.rule, self.scores, self.column = rule, scores, column
        self.threshold = get_threshold(rule)
        self.metric_row: Metric = find_metric(name)
        self.statistic = find_statistic(self.metric_row, rule.metric)
        self.rows = scores.find_rows(rule.slice)
        self.values: ColumnValues = collect_values(column, self.rows)
        self.summary: Summary = summarise_metric(
            scores.table,
            name,
            self.rows,
            slice_name=rule.slice or HEADLINE,
            clusters=scores.clusters,
            coverage_floor=min(rule.min_coverage, MIN_JUDGED_SHARE),
        )

    def evaluate(self) -> RuleResult:
        values = self.values
        if not values.applicable:
            return self._report_no_data()
        unanswered = self._find_unanswered()
        if unanswered and len(unanswered) / values.applicable > 1 - self.rule.min_coverage:
            return self._evaluate_outage(unanswered)
        if self.rule.zero_event:
            return self._evaluate_zero_event()
        if values.scored / values.applicable < self.rule.min_coverage:
            return self._report_incomplete(f"{self.rule.min_coverage:.0%} needed")
        if not values.scored:
            return self._build_result("no_data", f"was scored on none of {format_count(values.errors, 'case')}")
        if self.statistic == "p95" and values.applicable < MIN_CASES_FOR_P95:
            message = f"is a p95 of {format_count(values.applicable, 'case')} and needs {MIN_CASES_FOR_P95}"
            return self._build_result("inconclusive", message, self.summary.value)
        return self._evaluate_bound() if self.rule.basis == "bound" else self._evaluate_point()

    def _find_unanswered(self) -> tuple[str, ...]:
        """Return the cases that a rule on `failed` counts and that only failed because the target gave an error."""
        if parse_metric(self.rule.metric).base != "failed":
            return ()
        in_error = set(find_unanswered_cases(self.scores.table))
        ids = self.scores.get_case_ids(self.values.rows)
        return tuple(case_id for case_id in ids if case_id in in_error)

    def _evaluate_outage(self, unanswered: tuple[str, ...]) -> RuleResult:
        """Return the result where the target gave errors: no answer can fail there, so the cases were not measured.

        A zero-event rule still fails on the cases that were answered and failed.
        """
        ids = self.scores.get_case_ids(self.values.rows)
        failing = self.values.values > self.threshold
        failed = tuple(
            case_id for case_id, fails in zip(ids, failing, strict=True) if fails and case_id not in unanswered
        )
        count = format_count(self.values.applicable, "case")
        outage = f"the target gave an error instead of an answer on {len(unanswered)} of {count}"
        named = f"{outage} ({format_case_ids(unanswered)})"
        if failed and self.rule.zero_event and self.rule.severity == "block":
            answered = format_count(len(ids) - len(unanswered), "answered case")
            message = f"is above {self.threshold:g} on {len(failed)} of {answered} ({format_case_ids(failed)}); {named}"
            return self._build_result("fail", message, self.summary.value, cases=failed)
        message = f"could not be measured: {named}; `--retry-errors` of `assay run` asks again"
        return self._build_result("incomplete", message, cases=unanswered)

    def _build_result(
        self,
        state: RuleState,
        message: str,
        value: float | None = None,
        upper: float | None = None,
        cases: tuple[str, ...] = (),
    ) -> RuleResult:
        sentence = f"{describe_subject(self.rule)} {message}"
        return RuleResult(self.rule, state, value, self.values.scored, sentence, upper, cases, self._find_detectable())

    def _find_detectable(self) -> float | None:
        """Return how far the true mean must be from the threshold for these cases to show it (power 80%)."""
        if self.statistic not in ("mean", "rate") or self.rule.zero_event:
            return None
        low, high = get_range(self.metric_row)
        span = None if low is None or high is None else high - low
        return estimate_detectable_difference(
            self.values.values, clusters=select_shared_clusters(self.values, self.scores.clusters), span=span
        )

    def _report_no_data(self) -> RuleResult:
        """Return the result where the metric applies to no case; that of a slice without cases is never ignored."""
        if not len(self.rows):
            message = explain_empty_slice(self.rule.slice, self.scores.cases)
            self.rule = structs.replace(self.rule, if_no_data="fail")
            return self._build_result("no_data", message)
        message = f"applies to none of {format_count(len(self.rows), 'case')}{self._list_reasons(self.rows)}"
        if parse_metric(self.rule.metric).base == _LEAKS:
            cases = [self.scores.cases[row] for row in self.rows.tolist()]
            reasons = {self.column.reasons[number] for number in self.column.reason[self.rows].tolist()}
            is_stated = reasons != {NO_ACCESS_RULES} or any(map(states_access, cases))
            if is_stated or self.rule.if_no_data == "fail":
                message += _ACCESS_REMEDY + (_NOT_IGNORED if is_stated else _IGNORE_REMEDY)
                self.rule = structs.replace(self.rule, if_no_data="fail")
        return self._build_result("no_data", message)

    def _report_incomplete(self, requirement: str) -> RuleResult:
        rows = self.values.error_rows
        coverage = f"was measured on {self.values.scored} of {format_count(self.values.applicable, 'case')}"
        message = f"{coverage}, {requirement}{self._list_reasons(rows)}"
        return self._build_result("incomplete", message, cases=self.scores.get_case_ids(rows))

    def _list_reasons(self, rows: RowIndices) -> str:
        """Return the most common reasons of these rows, in parentheses."""
        codes, counts = np.unique(self.column.reason[rows], return_counts=True)
        reasons = [(-count, self.column.reasons[code]) for code, count in zip(codes, counts.tolist(), strict=True)]
        lines = [f"{reason}: {-count}" for count, reason in sorted(reasons) if reason]
        return f" ({'; '.join(lines[:3])})" if lines else ""

    def _evaluate_zero_event(self) -> RuleResult:
        """Fail on any event, even if other cases were not measured; without one, all cases must be measured.

        A rule that only warns is incomplete if cases were not measured, even with an event: an event that does not
        block must not hide that a case is missing.
        """
        values, n = self.values.values, self.values.scored
        at_most = self.rule.at_most is not None
        is_event = values > self.threshold if at_most else values < self.threshold
        events = int(np.count_nonzero(is_event))
        if not events and self.values.errors:
            return self._report_incomplete("all needed, because an unmeasured case may hide an event")
        side = "above" if at_most else "below"
        if not events:
            upper = upper_bound_after_no_events(n)
            counted = "its only case" if n == 1 else f"any of {format_count(n, 'case')}"
            message = f"is not {side} {self.threshold:g} on {counted}"
            message += f"; the true rate may still be up to {upper:.1%} (one-sided 95%)"
            return self._build_result("pass", message, self.summary.value, upper)
        message = f"is {side} {self.threshold:g} on {events} of {format_count(n, 'case')}"
        cases = self.scores.get_case_ids(self.values.rows[is_event])
        if parse_metric(self.rule.metric).base in EVENT_METRICS:
            checked = count_checked_cases(self.column, self.rows)
            counted = ", ".join(filter(None, (checked.noun, checked.remainder)))
            message = f"is {side} {self.threshold:g} on {events} of {counted}"
        message = f"{message} ({format_case_ids(cases)})"
        if self.values.errors and self.rule.severity == "warn":
            unmeasured = self.scores.get_case_ids(self.values.error_rows)
            message = f"{message} and was not measured on {format_case_ids(unmeasured)}"
            return self._build_result("incomplete", message, cases=(*cases, *unmeasured))
        return self._build_result("fail", message, self.summary.value, cases=cases)

    def _evaluate_point(self) -> RuleResult:
        value = self._find_deciding_value()
        if value is None:
            return self._report_incomplete(NO_WORST_VALUE)
        if self.values.errors:
            detail = f"{format_count(self.values.errors, 'error')} counted as worst, n {self.values.applicable}"
        else:
            interval = self.summary.interval if self.summary.statistic == self.statistic else None
            detail = f"n {self.values.scored}{format_interval_suffix(interval, self.metric_row.unit)}"
        compared = self._compare_with_threshold(value, "", detail)
        remark = self._describe_single_case() if compared.state == "fail" and not self.values.errors else ""
        return structs.replace(compared, message=f"{compared.message}{remark}")

    def _describe_single_case(self) -> str:
        """Return that one case alone decides, and how many cases it takes before one may miss; "" if several do.

        Only a mean of nothing but 0 and 1 is told of, as it is a share of cases.
        """
        at_least = self.rule.at_least is not None
        allowed_share = 1 - self.threshold if at_least else self.threshold
        missed = self.values.values != (1.0 if at_least else 0.0)
        is_share = self.statistic in ("mean", "rate") and bool(np.isin(self.values.values, (0.0, 1.0)).all())
        if not is_share or np.count_nonzero(missed) != 1 or allowed_share <= 0:
            return ""
        (case_id,) = self.scores.get_case_ids(self.values.rows[missed])
        enough = math.ceil(1 / allowed_share - _ROUNDING)
        return f"; {case_id} alone decides: of fewer than {format_count(enough, 'case')} none may miss"

    def _find_deciding_value(self) -> float | None:
        """Return the number that decides: with errors, the pessimistic one; None if an error has no worst value."""
        if not self.values.errors:  # a rule on a mean keeps it where reports state the median of few amounts
            return self.summary.mean if self.statistic == "mean" else self.summary.value
        if self.statistic not in PERCENTILE_STATISTICS:
            return self.summary.mean_worst
        worst = {"lower": sys.float_info.max, "higher": -sys.float_info.max}.get(self.metric_row.direction)
        if worst is None:
            return None
        value = compute_percentile(self.values.with_errors_as(worst).values, PERCENTILE_STATISTICS[self.statistic])
        return None if value == worst else value

    def _evaluate_bound(self) -> RuleResult:
        """Compare the one-sided 95% bound with the threshold; without a bound the rule fails."""
        values, worst = self.values, get_worst_value(self.metric_row)
        if values.errors:
            if worst is None:
                return self._report_incomplete(NO_WORST_VALUE)
            values = values.with_errors_as(worst)
        side: Literal["lower", "upper"] = "upper" if self.rule.at_least is None else "lower"
        low, high = get_range(self.metric_row)
        clusters = select_shared_clusters(values, self.scores.clusters)
        bound = estimate_one_sided_bound(values.values, side, clusters=clusters, low=low, high=high)
        if bound is None:
            return self._build_result("fail", f"has no {side} bound to show (n {values.scored})", self.summary.value)
        return self._compare_with_threshold(bound.value, f"{side} 95% bound ", f"n {values.scored}, {bound.method}")

    def _compare_with_threshold(self, value: float, prefix: str, detail: str) -> RuleResult:
        """Compare the deciding value with the threshold; a value equal to its threshold meets it."""
        if self.rule.at_least is not None:
            is_met = value >= self.threshold
            sign = "≥" if is_met else "<"
        else:
            is_met = value <= self.threshold
            sign = "≤" if is_met else ">"
        left, right = format_compared(value, self.threshold, self.metric_row.unit)
        return self._build_result("pass" if is_met else "fail", f"{prefix}{left} {sign} {right} ({detail})", value)
