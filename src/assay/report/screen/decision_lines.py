"""The decisions on a run in a few lines: the title of each, errors of its target, and as many reasons as fit."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence

from assay.gates.ungated_decision import NOT_GATED_REASON
from assay.records.counts import format_count
from assay.records.release_gates import Decision, Outcome, RuleResult
from assay.records.scores import ScoringResult
from assay.report.findings.target_errors import FoldedFailures, fold_failures, order_reasons
from assay.report.screen.fold_lines import shorten_before_remedy
from assay.report.screen.terminal import DecisionLines, build_decision_head
from assay.scoring.case_outcomes import count_cases
from assay.text.escaping import escape_terminal, shorten_at_word

MAX_DECISION_LINES, MAX_CONFIGS = 5, 5
MAX_ERROR_LINES = 8
"""Lines on the errors of targets, beyond those on the decisions: for one target, two for each of three errors and one
on the others; for two, four each."""
_SEVERITY: tuple[Outcome, ...] = ("FAIL", "INCOMPLETE", "PASS_WITH_RISK", "PARTIAL", "NOT_GATED", "PASS")


def order_by_severity(scoring: ScoringResult) -> list[str]:
    """Return the configurations, by name; if there are too many to show all, those with the worst outcome first."""
    names = sorted(scoring.configs)
    if len(names) <= MAX_CONFIGS:
        return names

    return sorted(names, key=lambda config: _rank_outcome(scoring.configs[config].decision))


def fold_all_failures(scoring: ScoringResult, configs: Sequence[str], width: int) -> dict[str, FoldedFailures]:
    """Return the errors of the target of each configuration that is titled, as lines that are shared among them."""
    failing = [config for config in _list_titled(configs) if scoring.failures.get(config)]
    folded: dict[str, FoldedFailures] = {}
    spare = MAX_ERROR_LINES
    for position, config in enumerate(failing):
        folded[config] = fold_failures(scoring.failures[config], width, spare // (len(failing) - position))
        spare -= len(folded[config].lines)
    return folded


def _list_titled(configs: Sequence[str]) -> Sequence[str]:
    return configs[: MAX_DECISION_LINES - 1] if len(configs) > MAX_DECISION_LINES else configs


def allot_lines(
    scoring: ScoringResult, configs: Sequence[str], failures: Mapping[str, FoldedFailures], width: int
) -> DecisionLines:
    """Return the titles of all decisions, as far as there is room, with the errors of their targets, and share the
    other lines among their reasons."""
    if len(configs) > 1 and all(_is_only_ungated(scoring.configs[config].decision) for config in configs):
        title = f"{format_count(len(configs), 'configuration')}: NOT_GATED"
        return DecisionLines((title, f" - {NOT_GATED_REASON}"), (), (title,))
    titled = _list_titled(configs)
    spare = MAX_DECISION_LINES - len(titled) - (len(titled) < len(configs))
    lines: list[str] = []
    alerts: list[str] = []
    muted: list[str] = []
    untold: list[tuple[int, str]] = []
    worst = order_worst_first(scoring)[0]
    is_below_bare_title = False
    for position, config in enumerate(titled):
        decided = build_decision_head(config, scoring)
        ordered = _order_by_subject(decided.lines[1:])
        # Below a title without a reason, a reason could be that of both: it says whose it is.
        named = [_name_config(config, reason) for reason in ordered] if is_below_bare_title else ordered
        share = spare // (len(titled) - position)
        if config == worst and not decided.alerts:  # what leaked has lines of its own, below
            share = max(share, 1)
        shown = _shorten_reasons(named, share, width)
        is_below_bare_title = not shown
        folded = ["\n".join(reason_lines) for reason_lines in shown]
        spare = max(spare - sum(map(len, shown)), 0)
        errors = failures[config].lines if config in failures else []
        lines.append(_shorten_title(decided.lines[0], width))
        for reason_block in order_reasons(errors, folded, scoring.configs[config].decision):
            lines += reason_block.split("\n")
        shown_reasons = [
            (reason, reason_lines)
            for reason, reason_lines in zip(ordered, shown, strict=False)
            if not reason_lines[0].startswith(_MORE_REASONS)
        ]
        for reason, reason_lines in shown_reasons:
            alerts += reason_lines if reason in decided.alerts else []
        untold += enumerate(_list_untold_events(config, decided.alerts, [reason for reason, _ in shown_reasons]))
        muted += [_shorten_title(head, width) for head in decided.muted]
    if len(titled) < len(configs):
        lines.append(f"and {format_count(len(configs) - len(titled), 'more configuration')}")
        for config in configs[len(titled) :]:
            untold += enumerate(_list_untold_events(config, build_decision_head(config, scoring).alerts, ()))
    if len(configs) > 1:
        # The first event of each configuration before the second one of any.
        events = _shorten_events([event for _, event in sorted(untold, key=lambda item: item[0])], width)
        lines += events
        alerts += events
    return DecisionLines(tuple(lines), tuple(alerts), tuple(muted))


def _is_only_ungated(decision: Decision | None) -> bool:
    """Return whether nothing can be said of a configuration but that no gate was given."""
    return decision is not None and decision.reasons == (NOT_GATED_REASON,) and not decision.incomplete


def order_worst_first(scoring: ScoringResult) -> list[str]:
    """Return the configurations with the worst decision first, and of those with the same one that with the most failed
    cases; configurations on which no gate decides come last."""

    def weigh(config: str) -> tuple[int, int, str]:
        result = scoring.configs[config]
        return _rank_outcome(result.decision), -count_cases(result).failed, config

    return sorted(scoring.configs, key=weigh)


def _rank_outcome(decision: Decision | None) -> int:
    return _SEVERITY.index(decision.outcome) if decision is not None else len(_SEVERITY)


_MORE_REASONS = " - and "
"""How the line begins that counts the reasons for which there is no room."""
_MOST_EVENTS = 2


def _list_untold_events(config: str, events: Sequence[str], told: Collection[str]) -> list[str]:
    """Return the leaks and followed instructions of a configuration for which its reasons left no room."""
    return [_name_config(config, event) for event in events if event not in told]


def _name_config(config: str, line: str) -> str:
    """Return a line on a configuration with its name, for a place where it does not stand below its title."""
    return f" - {escape_terminal(config)}: {line.removeprefix(' - ')}"


def _shorten_events(events: Sequence[str], width: int) -> list[str]:
    """Return the first events as a line each, and how many more there are: no number of configurations hides a leak."""
    lines = [shorten_at_word(event, width) for event in events[:_MOST_EVENTS]]
    more = len(events) - len(lines)
    if more > 0:
        lines.append(f"{_MORE_REASONS}{format_count(more, 'more event')} of this kind: --verbose")
    return lines


def _shorten_reasons(reasons: Sequence[str], share: int, width: int) -> list[list[str]]:
    """Return the lines of each reason, at most so many for all; long ones are folded where lines are left, and the last
    line says how many more reasons there are."""
    if len(reasons) <= share:
        left, shown = share - len(reasons), []
        for reason in reasons:
            shown.append(_fold_reason(reason, width, 1 + min(left, _MOST_FOLDS)))
            left -= len(shown[-1]) - 1
        return shown
    if share == 1:  # the first reason says more than that there are some
        more = f" (and {len(reasons) - 1} more: --verbose)"
        return [[shorten_at_word(reasons[0], width - len(more)) + more]]
    shown = [[shorten_at_word(reason, width)] for reason in reasons[: max(share - 1, 0)]]
    left_out = format_count(len(reasons) - len(shown), "more reason")
    return [*shown, [f"{_MORE_REASONS}{left_out}: --verbose"]] if share else shown


def _shorten_title(title: str, width: int) -> str:
    """Return the title of a decision; of one that is too long what follows from the outcome is left out, then the name
    is cut, never the outcome.

    >>> _shorten_title("a-configuration-with-a-long-name: FAIL", 20)
    'a-configurati…: FAIL'
    >>> _shorten_title("hybrid: PASS_WITH_RISK (release only if its owner accepts the risks)", 40)
    'hybrid: PASS_WITH_RISK'
    """
    if len(title) > width and title.endswith(")"):
        title = title.rpartition(" (")[0]
    name, _, outcome = title.rpartition(": ")
    if len(title) <= width or not name:
        return shorten_at_word(title, width)
    return f"{name[: max(width - len(outcome) - 3, 1)]}…: {outcome}"


_MOST_FOLDS = 2
"""The most lines that are added to one reason."""


def _fold_reason(reason: str, width: int, most_lines: int) -> list[str]:
    """Return a reason in at most so many lines; one that is too long for them is cut to one, before its remedy."""
    lines = textwrap.wrap(reason, width, subsequent_indent="   ", break_on_hyphens=False)
    return lines if len(lines) <= most_lines else [shorten_before_remedy(reason, width)]


def _order_by_subject(reasons: Sequence[str]) -> list[str]:
    """Return the reasons with the first of each metric before the further ones, which name a slice of the same."""
    first_reasons: dict[str, str] = {}
    further_reasons = []
    for reason in reasons:
        subject = reason.removeprefix(" - ").partition(" ")[0]
        if subject.isdecimal():  # a count of cases, which is no metric
            subject = reason
        if first_reasons.setdefault(subject, reason) is not reason:
            further_reasons.append(reason)
    return [*first_reasons.values(), *further_reasons]


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
