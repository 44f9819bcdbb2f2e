"""JUnit XML for build servers: each rule of the gate is a test, and so is each case."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

from assay.metrics.case_checks import METRIC_ERROR
from assay.records.findings import Attribution
from assay.records.release_gates import Decision, Rule, RuleResult, RuleState
from assay.records.scores import CaseChecks, ConfigResult, ScoringResult
from assay.report.findings.attribution_facts import format_cause_and_fix, list_attribution_facts
from assay.report.findings.attribution_tables import AttributionsByConfig
from assay.report.findings.case_counts import NOTHING_TELLS, describe_case_outcomes
from assay.report.findings.doubts import describe_empty_answers, describe_read_passes, describe_unsourced
from assay.report.findings.target_errors import describe_failures
from assay.report.wording.release_advice import SHORT_ADVICE, name_outcome
from assay.scoring.case_outcomes import classify_checks, list_unknown_cases
from assay.scoring.column_values import list_own_failures
from assay.scoring.judged_answers import describe_judged_answer
from assay.text.escaping import escape_invisible

_PASSING_OUTCOMES = ("PASS", "PASS_WITH_RISK")
_KIND_BY_STATE: Mapping[RuleState, str] = {
    "fail": "failure",
    "no_data": "failure",
    "incomplete": "error",
    "inconclusive": "failure",
    "unmeasured": "failure",
    "uncalibrated": "skipped",
}


def render_junit(
    scoring: ScoringResult,
    attributions: AttributionsByConfig | None = None,
    summaries: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """Return the scoring as JUnit XML: for each configuration a suite of its gate's rules and a suite of its cases.

    The text of a failed case is its entry in `summaries`, by configuration and case id: question, expected, answer,
    cause and fix. Without one it is the cause in `attributions`, other causes that fit, and what to record. Its message
    has the failed checks, the cause and what to try first. An unknown case has such a text too.

    The outcome is a property of the first suite. A pass with risk begins it with a test, `decision`, that is skipped
    and says that the owner has to accept the risks, and which. Without rules, that test is the only one: skipped,
    because nothing was decided, or an error where the exit code is 3.
    A rule that blocks the release is a failure; a risk (a warning, a waived or an inconclusive rule) is skipped; a rule
    that lacks a measurement is an error. A risk that is of no rule is a property of that suite.
    A case without an observation is an error, and so is one whose target failed,
    with the text of its error; the most frequent of these texts are properties of the second suite. A case that failed
    a check is a failure. Notes on the scores, the look at a frozen test split and warnings are properties of the second
    suite. If the gate passed, both are skipped: a build must not fail for what its gate accepts. A case
    of which nobody can tell whether it is right is skipped as unknown.
    """
    root = ElementTree.Element("testsuites", name="assay")
    for config, result in sorted(scoring.configs.items()):
        if result.decision is not None:
            _add_gate_suite(root, config, result.decision)
        texts = {
            case_id: _describe_cause(attribution)
            for case_id, attribution in (attributions or {}).get(config, {}).items()
        }
        texts |= {case_id: text for (named, case_id), text in (summaries or {}).items() if named == config}
        _add_case_suite(root, config, result, scoring, texts, (attributions or {}).get(config, {}))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_gate_suite(root: ElementTree.Element, config: str, decision: Decision) -> None:
    suite = _add_suite(root, f"{config}: gate")
    _add_property(suite, "outcome", decision.outcome)
    messages = [result.message for result in decision.results]
    for risk in dict.fromkeys(decision.risks):
        if decision.results and not any(message in risk for message in messages if message):
            _add_property(suite, "risk", risk)
    if not decision.results:
        message = f"{decision.outcome}: {'; '.join(decision.reasons)}"
        left_open = decision.incomplete or decision.outcome == "INCOMPLETE"
        _add_outcome(
            suite, _add_test(suite, f"{config}.gate", "decision"), "error" if left_open else "skipped", message
        )
    elif decision.outcome in SHORT_ADVICE:
        message = f"{name_outcome(decision.outcome)}: {'; '.join(dict.fromkeys(decision.risks))}"
        _add_outcome(suite, _add_test(suite, f"{config}.gate", "decision"), "skipped", message)
    for rule_result in decision.results:
        rule = rule_result.rule
        name = f"{rule.metric} {_format_bound(rule)}" + (f" on {rule.slice}" if rule.slice is not None else "")
        test = _add_test(suite, f"{config}.gate", name)
        kind = _KIND_BY_STATE.get(rule_result.state)
        if kind == "failure" and _is_accepted(rule_result):
            kind = "skipped"
        if kind is not None:
            _add_outcome(suite, test, kind, f"{rule_result.state}: {rule_result.message}")
    _set_counts(suite)


def _format_bound(rule: Rule) -> str:
    if rule.max_regression is not None:
        return f"gain ≥ {-rule.max_regression:g}"
    return f"≥ {rule.at_least:g}" if rule.at_least is not None else f"≤ {rule.at_most or 0.0:g}"


def _is_accepted(rule_result: RuleResult) -> bool:
    """Return whether a rule's result does not block: a warning, waived, a risk that is left open, or ignored."""
    rule = rule_result.rule
    left_open = rule_result.state == "inconclusive" and rule.if_inconclusive != "fail"
    unmeasured = rule_result.state == "unmeasured" and rule.if_unmeasured != "fail"
    ignored = rule_result.state == "no_data" and rule.if_no_data == "ignore"
    return rule.severity == "warn" or bool(rule_result.waived) or left_open or unmeasured or ignored


def _list_remarks(config: str, result: ConfigResult, scoring: ScoringResult) -> list[tuple[str, str]]:
    """Return what is to be known of the scores of a configuration, each with the name of its property."""
    open_cases = [("outcomes", describe_case_outcomes(result))] if list_unknown_cases(result) else []
    looks = [("test_split", scoring.looks.describe())] if scoring.looks is not None else []
    doubts = describe_empty_answers(result), describe_read_passes(config, scoring), describe_unsourced(result)
    return [
        *open_cases,
        *(("target_error", line) for line in describe_failures(config, scoring)),
        *(("doubt", line) for line in doubts if line),
        *(("note", note) for note in result.table.notes),
        *looks,
        *(("warning", warning) for warning in scoring.warnings),
    ]


def _add_case_suite(
    root: ElementTree.Element,
    config: str,
    result: ConfigResult,
    scoring: ScoringResult,
    texts: Mapping[str, str],
    attributions: Mapping[str, Attribution],
) -> None:
    suite = _add_suite(root, f"{config}: cases")
    for name, line in _list_remarks(config, result, scoring):
        _add_property(suite, name, line)
    error_by_case: dict[str, str] = {}
    for failure in scoring.failures.get(config, ()):
        for case_id in failure.case_ids:
            error_by_case.setdefault(case_id, failure.message)
    checks_by_case = {case_checks.case_id: case_checks for case_checks in result.table.checks}
    missing = set(result.table.missing)
    accepted = (
        result.decision is not None and bool(result.decision.results) and result.decision.outcome in _PASSING_OUTCOMES
    )
    for row, case_id in enumerate(result.table.case_ids):
        test = _add_test(suite, f"{config}.cases", case_id)
        case_checks = checks_by_case.get(case_id, CaseChecks(case_id, ()))
        kind, message = "", ""
        if case_id in missing:
            _add_outcome(suite, test, "error", "no observation")
            continue
        if case_checks.failed:
            kind = "failure"
            message = f"failed {', '.join(case_checks.failed)}{_describe_cause_and_fix(attributions.get(case_id))}"
        if METRIC_ERROR in case_checks.failed:
            failures = list_own_failures(result.table, row)
            kind, message = "error", "; ".join([message, *(f"{name}: {text}" for name, text in failures.items())])
        if case_id in error_by_case:
            kind, message = "error", f"target error: {error_by_case[case_id]}" + (f"; {message}" if message else "")
        if classify_checks(case_checks) == "unknown":
            kind, message = "skipped", f"unknown: {describe_judged_answer(result.table, case_id) or NOTHING_TELLS}"
        elif kind and accepted:
            kind, message = "skipped", f"{message}; the gate accepts it"
        if kind:
            _add_outcome(suite, test, kind, message, texts.get(case_id, ""))
    _set_counts(suite)


def _describe_cause_and_fix(attribution: Attribution | None) -> str:
    """Return cause and fix for the one line that a build server lists of a failure."""
    if attribution is None or attribution.cause is None:
        return ""
    cause, fix = format_cause_and_fix(attribution)
    return f": {cause}; try first: {fix}"


def _describe_cause(attribution: Attribution) -> str:
    """Return the facts of an attribution, one a line; empty without a cause."""
    if attribution.cause is None:
        return ""
    return "\n".join(f"{label}: {text}" for label, text in list_attribution_facts(attribution) if text)


def _add_suite(root: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(root, "testsuite", name=escape_invisible(name))


def _add_property(suite: ElementTree.Element, name: str, value: str) -> None:
    properties = suite.find("properties")
    if properties is None:
        properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", name=name, value=escape_invisible(value))


def _add_test(suite: ElementTree.Element, where: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=escape_invisible(where), name=escape_invisible(name))


def _add_outcome(
    suite: ElementTree.Element, test: ElementTree.Element, kind: str, message: str, text: str = ""
) -> None:
    outcome = ElementTree.SubElement(test, kind, message=escape_invisible(message))
    outcome.text = "\n".join(map(escape_invisible, text.splitlines())) or None
    suite.set(kind, str(int(suite.get(kind, "0")) + 1))


def _set_counts(suite: ElementTree.Element) -> None:
    """Replace the suite's counters with the attributes of the JUnit format, in its order."""
    counts = {kind: suite.attrib.pop(kind, "0") for kind in ("failure", "error", "skipped")}
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", counts["failure"])
    suite.set("errors", counts["error"])
    suite.set("skipped", counts["skipped"])
