"""The rules of a gate on the screen, a line each: those that did not pass first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.records.release_gates import Decision, RuleResult
from assay.text.escaping import escape_terminal

_INDENT = 2


def list_rule_lines(decisions: Mapping[str, Decision]) -> list[str]:
    """Return the rules of the decisions by configuration, each with its state and what was found, escaped.

    >>> from assay.records.release_gates import Rule
    >>> passed = RuleResult(Rule("recall@5", at_least=0.8), "pass", 0.9, 40, "recall@5 0.900 ≥ 0.800 (n 40)")
    >>> failed = RuleResult(Rule("rr@5", at_least=0.8), "fail", 0.6, 40, "rr@5 0.600 < 0.800 (n 40)")
    >>> print("\\n".join(list_rule_lines({"bm25": Decision("FAIL", (), (passed, failed))})))
    rules: 1 of 2 passed
      fail  rr@5 0.600 < 0.800 (n 40)
      pass  recall@5 0.900 ≥ 0.800 (n 40)
    """
    lines = []
    for config, decision in sorted(decisions.items()):
        if decision.results:
            title = "rules" if len(decisions) == 1 else f"rules for {config}"
            passed = sum(result.state == "pass" for result in decision.results)
            lines.append(escape_terminal(f"{title}: {passed} of {len(decision.results)} passed"))
            lines += map(escape_terminal, _iter_lines(decision.results))
    return lines


def _iter_lines(results: Sequence[RuleResult]) -> Iterator[str]:
    states = {id(result): f"{result.state}, waived" if result.waived else result.state for result in results}
    width = max(map(len, states.values())) + _INDENT
    for result in sorted(results, key=_has_passed):
        yield f"{' ' * _INDENT}{states[id(result)]:<{width}}{result.message}"


def _has_passed(result: RuleResult) -> bool:
    return result.state == "pass"
