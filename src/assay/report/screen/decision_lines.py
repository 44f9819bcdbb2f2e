"""The decisions on a run in a few lines: the title of each, errors of its target, and as many reasons as fit."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from assay.records.counts import format_count
from assay.records.release_gates import Outcome
from assay.records.scores import ScoringResult
from assay.report.findings.target_errors import FoldedFailures, fold_failures, order_reasons
from assay.report.screen.fold_lines import shorten_before_remedy
from assay.report.screen.terminal import DecisionLines, build_decision_head
from assay.text.escaping import shorten_at_word

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

    def rank(config: str) -> int:
        decision = scoring.configs[config].decision
        return _SEVERITY.index(decision.outcome) if decision is not None else len(_SEVERITY)

    return sorted(names, key=rank)


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
    titled = _list_titled(configs)
    spare = MAX_DECISION_LINES - len(titled) - (len(titled) < len(configs))
    lines: list[str] = []
    alerts: list[str] = []
    muted: list[str] = []
    for position, config in enumerate(titled):
        decided = build_decision_head(config, scoring)
        ordered = _order_by_subject(decided.lines[1:])
        shown = _shorten_reasons(ordered, spare // (len(titled) - position), width)
        folded = ["\n".join(reason_lines) for reason_lines in shown]
        spare -= sum(map(len, shown))
        errors = failures[config].lines if config in failures else []
        lines.append(_shorten_title(decided.lines[0], width))
        for told in order_reasons(errors, folded, scoring.configs[config].decision):
            lines += told.split("\n")
        for reason, reason_lines in zip(ordered, shown, strict=False):
            alerts += reason_lines if reason in decided.alerts else []
        muted += [_shorten_title(head, width) for head in decided.muted]
    if len(titled) < len(configs):
        lines.append(f"and {format_count(len(configs) - len(titled), 'more configuration')}")
    return DecisionLines(tuple(lines), tuple(alerts), tuple(muted))


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
    return [*shown, [f" - and {left_out}: --verbose"]] if share else shown


def _shorten_title(title: str, width: int) -> str:
    """Return the title of a decision; of one that is too long the name is cut, never the outcome.

    >>> _shorten_title("a-configuration-with-a-long-name: FAIL", 20)
    'a-configurati…: FAIL'
    """
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
