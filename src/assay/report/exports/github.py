"""Output for GitHub Actions: workflow commands, which become annotations, and the job summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.records.counts import format_count
from assay.records.findings import Comparison
from assay.records.release_gates import Decision, Outcome
from assay.records.scores import ScoringResult
from assay.report.exports.markdown import build_changes_tables, build_headline_table, render_reason, render_table_lines
from assay.report.findings import failure_tables, target_errors
from assay.report.findings.attribution_tables import AttributionsByConfig
from assay.report.findings.case_counts import list_case_counts, list_unknown_lines
from assay.report.findings.doubts import list_doubts
from assay.report.findings.failure_tables import CasesById
from assay.report.findings.gate_tables import build_gate_table
from assay.report.findings.run_basis import describe_basis
from assay.report.findings.table import Table
from assay.report.wording.release_advice import name_outcome
from assay.scoring.unlabelled_scores import NO_LABELS
from assay.text.escaping import escape_invisible, escape_markdown

MAX_ANNOTATIONS = 10
"""GitHub shows at most this many annotations of one kind for a step, and drops the rest."""
MAX_SUMMARY_BYTES = 1024 * 1024
"""GitHub rejects a longer job summary of a step."""

_OUTCOME_MARKS: dict[Outcome, str] = {
    "PASS": "✅",
    "PASS_WITH_RISK": "⚠️",
    "FAIL": "❌",
    "INCOMPLETE": "❓",
    "NOT_GATED": "⚪",
    "PARTIAL": "⚪",
}


def render_workflow_commands(scoring: ScoringResult, *, strict: bool = False) -> list[str]:
    """Return workflow commands, at most ten: an error for each reason against a release, a warning for each risk.

    A risk next to a failure is a warning too, titled as a risk. A leak and a followed injection are errors whatever
    the outcome is. Other remarks on a run without a decision are notices. If there are more reasons, the last command
    says how many are left out. With `strict`, risks are errors.
    """
    decision = scoring.decision
    kind = "error" if _stops_release(decision, strict) else "warning"
    if decision.outcome in ("NOT_GATED", "PARTIAL") and kind == "warning":
        kind = "notice"
    title = f"assay: {decision.outcome}"
    risks = () if strict or decision.outcome == "PASS_WITH_RISK" else decision.risks
    commands = []
    for reason in decision.reasons:
        if reason in decision.limits:
            commands.append(_render_command("notice", title, reason))
        elif reason in risks:
            commands.append(_render_command("warning", "assay: risk", reason))
        else:
            commands.append(_render_command("error" if reason in decision.events else kind, title, reason))
    if decision.outcome == "PASS":
        met = [_render_command("notice", "assay: PASS", "all rules of the gate are met")] if scoring.gate else []
        return [*met, *(_render_command("notice", title, limit) for limit in decision.limits)][:MAX_ANNOTATIONS]
    if len(commands) > MAX_ANNOTATIONS:
        omitted = f"{len(commands) - MAX_ANNOTATIONS + 1} more reasons are in the summary of this job"
        commands = [*commands[: MAX_ANNOTATIONS - 1], _render_command(kind, f"assay: {decision.outcome}", omitted)]
    return commands


def _stops_release(decision: Decision, strict: bool) -> bool:
    if decision.outcome in ("FAIL", "INCOMPLETE") or decision.incomplete:
        return True
    return strict and decision.outcome == "PASS_WITH_RISK"


def _render_command(kind: str, title: str, message: str) -> str:
    """Return one workflow command, escaped as GitHub requires: no separator and no line break in its values."""
    safe_title = _escape_command_data(escape_invisible(title)).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={safe_title}::{_escape_command_data(escape_invisible(message))}"


def _escape_command_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def render_job_summary(
    scoring: ScoringResult,
    cases: CasesById,
    *,
    strict: bool = False,
    attributions: AttributionsByConfig | None = None,
    comparisons: Mapping[str, Comparison] | None = None,
) -> str:
    """Return the job summary as Markdown: decision and reasons, worst cases, changes, headline metrics, rules.

    `attributions` add cause and fix to the worst cases, `comparisons` the changes since the baseline.
    It is short enough for a comment on a pull request, and the rules are closed at first. It stays below GitHub's
    limit: if it would be too long, the last tables are replaced by a note. With `strict`, a pass with risk counts as a
    failure.
    """
    basis = describe_basis(scoring, comparisons)
    parts = [_render_header(scoring, strict, basis, list_doubts(scoring, comparisons))]
    open_tables = [
        failure_tables.build_worst_cases_table(scoring, cases, False, attributions),
        *build_changes_tables(scoring, comparisons or {}),
        build_headline_table(scoring),
    ]
    parts += [_render_section(table) for table in open_tables if table.rows]
    parts.append("\n".join(_iter_origin_lines(scoring)) + "\n")
    rules = build_gate_table(scoring)
    if rules.rows:
        parts.append("\n".join(["", "<details>", "<summary>Rules of the gate</summary>", _render_section(rules)]))
        parts[-1] += "\n</details>\n"
    text = ""
    for part in parts:
        if len((text + part).encode()) > MAX_SUMMARY_BYTES - 200:
            return text + "\nThe other tables are too long for a job summary; see the report.\n"
        text += part
    return text


def _render_section(table: Table) -> str:
    return "\n".join(["", f"### {escape_markdown(table.title)}", "", *render_table_lines(table), ""])


def _render_header(scoring: ScoringResult, strict: bool, basis: str, doubts: Sequence[str]) -> str:
    return "\n".join(_iter_header_lines(scoring, strict, basis, doubts)) + "\n"


def _iter_header_lines(scoring: ScoringResult, strict: bool, basis: str, doubts: Sequence[str]) -> Iterator[str]:
    decision = scoring.decision
    failed = strict and decision.outcome == "PASS_WITH_RISK"
    outcome = f"{decision.outcome}, a failure with --strict" if failed else name_outcome(decision.outcome)
    yield f"## {_OUTCOME_MARKS['FAIL' if failed else decision.outcome]} Assay: {outcome}"
    yield ""
    failures = [f"- {escape_markdown(line)}" for line in target_errors.describe_all_failures(scoring)]
    reasons = [f"- {render_reason(reason, decision)}" for reason in decision.reasons[:MAX_ANNOTATIONS]]
    yield from target_errors.order_reasons(failures, reasons, decision)
    if len(decision.reasons) > MAX_ANNOTATIONS:
        yield f"- and {format_count(len(decision.reasons) - MAX_ANNOTATIONS, 'more reason')}"
    yield from ("", *(f"- {escape_markdown(doubt)}" for doubt in doubts)) if doubts else ()
    yield ""
    yield f"Measured: {escape_markdown(basis)}"
    yield ""
    yield f"Cases: {escape_markdown('; '.join(list_case_counts(scoring)))}"
    for line in list_unknown_lines(scoring):
        yield ""
        yield escape_markdown(line)
    if scoring.gate is not None:
        yield ""
        yield f"Reviewer: {escape_markdown(scoring.gate.approver or 'not named')}"
    for line in _list_notes(scoring, unlabelled=True):  # all numbers are to be read with it
        yield ""
        yield f"**{escape_markdown(line)}**"


def _list_notes(scoring: ScoringResult, *, unlabelled: bool) -> list[str]:
    """Return the notes on the scores of each configuration: that no labels were given, or all others."""
    return [
        f"{config}: {note}"
        for config, result in sorted(scoring.configs.items())
        for note in result.table.notes
        if note.startswith(NO_LABELS) is unlabelled
    ]


def _iter_origin_lines(scoring: ScoringResult) -> Iterator[str]:
    """Yield what has to be known to read the numbers, and the golden set that they are of."""
    notes = _list_notes(scoring, unlabelled=False)
    if notes:
        yield ""
    yield from (f"- {escape_markdown(note)}" for note in notes)
    golden = scoring.golden
    named = " ".join(part for part in (golden.name, golden.version) if part)
    yield ""
    yield f"{escape_markdown(named)} {format_count(golden.cases, 'case')}, {escape_markdown(golden.digest)}".strip()
