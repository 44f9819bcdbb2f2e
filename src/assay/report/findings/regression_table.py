"""The cases that got worse, in a table: by which metric, why, and what the gate says about each."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from assay.attribution.cause_sentences import describe_cause, name_causes
from assay.metrics.template_columns import HEADLINES
from assay.records.counts import format_count
from assay.records.findings import CITED_SHARES, CaseChange, Comparison, list_leaking_cases
from assay.records.release_gates import RuleResult
from assay.report.findings.flipped_cases import list_flipped_cases
from assay.report.findings.table import Table
from assay.report.wording.change_order import HEADLINE_NAMES
from assay.report.wording.number_format import format_number

MAX_CASES_SHOWN = 30
_HEADLINES = tuple(name for _, names in HEADLINES for name in names)


def build_regressions_table(comparison: Comparison, *, failing_only: bool = False) -> Table:
    """Return the cases that got worse, those that block a release first: main metric, root cause, what the gate says.

    The columns are those of the regression summary in the report template. Cases also get worse where nothing changed
    but chance: the note says on which metrics a regression is significant. With `failing_only`, cases that still pass
    and block nothing are counted and have no row.
    """
    rules = comparison.decision.results if comparison.decision is not None else ()
    gated = [result.rule.metric for result in rules]
    regressed_metrics = [
        name for name, metric_change in comparison.metrics.items() if metric_change.verdict == "regressed"
    ]
    regressed_cases, only_form = _list_regressed_cases(comparison, {*gated, *regressed_metrics}, gated)
    regressed_cases.sort(key=lambda case_change: not _describe_ruling(case_change, rules).startswith("blocks: "))
    still_pass = []
    if failing_only:
        still_pass = [change for change in regressed_cases if _passes_unruled(change, rules)]
        regressed_cases = [change for change in regressed_cases if change not in still_pass]
    rows = []
    for change in regressed_cases[:MAX_CASES_SHOWN]:
        metric = _pick_main_metric(change.regressed, [*gated, *regressed_metrics])
        baseline_score, candidate_score = change.scores.get(metric, (None, None))
        more = f" and {len(change.regressed) - 1} more" if len(change.regressed) > 1 else ""
        rows.append(
            (
                change.case_id,
                f"{metric}{more}",
                format_number(baseline_score, metric),
                format_number(candidate_score, metric),
                _describe_root_cause(change),
                _describe_ruling(change, rules) if comparison.decision is not None else "not gated",
            )
        )
    hidden = len(regressed_cases) - MAX_CASES_SHOWN
    notes = [f"{format_count(hidden, 'more case')} got worse."] if hidden > 0 else []
    if still_pass:
        more = "more " if rows else ""
        count = format_count(len(still_pass), f"{more}case")
        notes.append(f"{count} got worse on some metric and still {'passes' if len(still_pass) == 1 else 'pass'}.")
    if only_form:
        metrics = dict.fromkeys(metric for case_change in only_form for metric in case_change.regressed)
        notes.append(
            f"Worse only in where citations stand: {format_count(len(only_form), 'case')} ({', '.join(metrics)})."
        )
    if rows or still_pass:
        listed = ", ".join(regressed_metrics)
        notes.append(f"Regressed significantly over all cases: {listed}." if regressed_metrics else _NO_REGRESSION_NOTE)
    columns = ("Query", "Metric", "Baseline", "Candidate", "Root cause", "Decision")
    return Table("Regression Summary", columns, tuple(rows), tuple(notes))


def _list_regressed_cases(
    comparison: Comparison, counted: Collection[str], gated: Collection[str]
) -> tuple[list[CaseChange], list[CaseChange]]:
    """Return the cases that got worse, and those that only got worse in the form of the answer.

    A case whose verdict got better is no regression by a metric that no rule names: it fails no longer, or it leaks no
    longer and no headline metric of it fell. `counted` metrics are never mere form: a rule names them, or a regression
    over all cases is significant.
    """
    fail_no_longer = frozenset(list_flipped_cases(comparison).fail_no_longer)
    leak_no_longer = frozenset(list_leaking_cases(comparison).before_alone)
    regressed_cases: list[CaseChange] = []
    only_form: list[CaseChange] = []
    for change in comparison.cases:
        regressed = frozenset(change.regressed)
        named = regressed.intersection(gated)
        is_better = change.case_id in fail_no_longer or (
            change.case_id in leak_no_longer and regressed.isdisjoint(HEADLINE_NAMES)
        )
        if not regressed or (is_better and not named):
            continue
        is_form = regressed <= CITED_SHARES and regressed.isdisjoint(counted)
        (only_form if is_form else regressed_cases).append(change)
    return regressed_cases, only_form


def _passes_unruled(change: CaseChange, rules: Iterable[RuleResult]) -> bool:
    passes = change.after is not None and change.after.verdict == "pass"
    return passes and _describe_ruling(change, rules) == _BLOCKS_NOTHING


_BLOCKS_NOTHING = "blocks nothing"
_NO_REGRESSION_NOTE = "No metric regressed significantly over all cases: single cases also get worse by chance."


def _describe_root_cause(change: CaseChange) -> str:
    after = change.after
    if after is None:
        return "not attributed"
    if after.verdict == "pass":
        return "none: it still passes"
    if after.cause is None:
        return after.verdict.replace("_", " ")
    return f"{describe_cause(after)} ({', '.join(name_causes(after))})"


def _pick_main_metric(metrics: Iterable[str], gated: list[str]) -> str:
    """Return the metric to show for a case: a gated one if there is any, else the first headline metric, form last."""
    order = [*gated, *_HEADLINES]

    def get_place(name: str) -> tuple[int, bool]:
        return order.index(name) if name in order else len(order), name in CITED_SHARES

    return min(metrics, key=get_place)


def _describe_ruling(change: CaseChange, rules: Iterable[RuleResult]) -> str:
    """Return what the gate says about a regressed case and by which rules.

    A rule on a metric that did not regress is not counted, unless a single case violates it. A bound on all cases
    names none of them: every case that is worse by its metric counts.
    """
    broken_rules = [
        result
        for result in rules
        if result.state != "pass"
        and (change.case_id in result.cases or (not result.cases and result.rule.slice is None))
        and ((result.rule.zero_event and result.cases) or result.rule.metric in change.regressed)
    ]
    blocking = [
        result
        for result in broken_rules
        if result.state == "fail" and result.rule.severity == "block" and not result.waived
    ]
    if blocking:
        return f"blocks: {_name_rules(blocking)}"
    waived = [result for result in broken_rules if result.waived]
    if waived:
        return f"waived: {_name_rules(waived)}"
    return f"a risk: {_name_rules(broken_rules)}" if broken_rules else _BLOCKS_NOTHING


def _name_rules(results: Iterable[RuleResult]) -> str:
    names = (
        result.rule.metric + (f" on {result.rule.slice}" if result.rule.slice is not None else "") for result in results
    )
    return ", ".join(dict.fromkeys(names))
