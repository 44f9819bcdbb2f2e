"""JUnit XML: what build servers show as tests. The gate's rules are tests, and so is every case."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree  # XML is written here, never read

from assay.model import CaseChecks, ConfigResult, Rule, RuleResult, RuleState, Scoring
from assay.report.safe import visible

_PASSES = ("PASS", "PASS_WITH_RISK")
_STATES: Mapping[RuleState, str] = {
    "fail": "failure",
    "no_data": "failure",
    "incomplete": "error",
    "inconclusive": "failure",
    "unmeasured": "failure",
}


def to_junit(scoring: Scoring) -> str:
    """Return the scoring as JUnit XML: for each configuration a suite of its gate's rules and a suite of its cases.

    A rule that blocks the release is a failure, one that is a risk (a warning, waived, left open) is skipped, one that
    lacks a measurement is an error.
    A case without an observation is an error. A case that failed a check is a failure, or skipped with its checks named
    where the gate passed all the same: a build must not be red for what its gate accepts.
    """
    root = ElementTree.Element("testsuites", name="assay")
    for config, result in sorted(scoring.configs.items()):
        if result.decision is not None and result.decision.results:
            _gate(root, config, result)
        _cases(root, config, result)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _gate(root: ElementTree.Element, config: str, result: ConfigResult) -> None:
    suite = _suite(root, f"{config}: gate")
    assert result.decision is not None
    for found in result.decision.results:
        rule = found.rule
        name = f"{rule.metric} {_bound(rule)}" + (f" on {rule.slice}" if rule.slice is not None else "")
        test = _test(suite, f"{config}.gate", name)
        kind = _STATES.get(found.state)
        if kind == "failure" and _accepted(found):
            kind = "skipped"
        if kind is not None:
            _outcome(suite, test, kind, f"{found.state}: {found.message}")
    _count(suite)


def _bound(rule: Rule) -> str:
    if rule.max_regression is not None:
        return f"gain ≥ {-rule.max_regression:g}"
    return f"≥ {rule.at_least:g}" if rule.at_least is not None else f"≤ {rule.at_most or 0.0:g}"


def _accepted(found: RuleResult) -> bool:
    """Return whether what a rule found does not block: a warning, somebody's waiver, or open where that is a risk."""
    rule = found.rule
    left_open = found.state == "inconclusive" and rule.if_inconclusive != "fail"
    unmeasured = found.state == "unmeasured" and rule.if_unmeasured != "fail"
    return rule.severity == "warn" or bool(found.waived) or left_open or unmeasured


def _cases(root: ElementTree.Element, config: str, result: ConfigResult) -> None:
    suite = _suite(root, f"{config}: cases")
    checks = {each.case_id: each for each in result.table.checks}
    missing = set(result.table.missing)
    accepted = result.decision is not None and bool(result.decision.results) and result.decision.outcome in _PASSES
    for case_id in result.table.case_ids:
        test = _test(suite, f"{config}.cases", case_id)
        found = checks.get(case_id, CaseChecks(case_id, ()))
        if case_id in missing:
            _outcome(suite, test, "error", "no observation")
        elif found.failed:
            told = f"failed {', '.join(found.failed)}"
            _outcome(suite, test, "skipped", f"{told}; the gate accepts it") if accepted else _outcome(
                suite, test, "failure", told
            )
    _count(suite)


def _suite(root: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(root, "testsuite", name=visible(name))


def _test(suite: ElementTree.Element, where: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=visible(where), name=visible(name))


def _outcome(suite: ElementTree.Element, test: ElementTree.Element, kind: str, message: str) -> None:
    ElementTree.SubElement(test, kind, message=visible(message))
    suite.set(kind, str(int(suite.get(kind, "0")) + 1))


def _count(suite: ElementTree.Element) -> None:
    """Name the counts as the format does, in its order."""
    counts = {kind: suite.attrib.pop(kind, "0") for kind in ("failure", "error", "skipped")}
    suite.set("tests", str(len(suite)))
    suite.set("failures", counts["failure"])
    suite.set("errors", counts["error"])
    suite.set("skipped", counts["skipped"])
