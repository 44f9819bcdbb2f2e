"""Output for GitHub Actions: workflow commands, which become annotations, and the job summary."""

from __future__ import annotations

from collections.abc import Iterator

from assay.graders.catalog import CATALOG
from assay.model import Outcome, Scoring
from assay.report import failures, tables
from assay.report.failures import Cases
from assay.report.figures import Graders, plural
from assay.report.markdown import headlines, table_lines
from assay.report.safe import markdown, visible

SHOWN = 10
"""GitHub shows at most this many annotations of one kind for a step, and drops the rest."""
SUMMARY_BYTES = 1024 * 1024
"""GitHub rejects a longer job summary of a step."""

_OUTCOME_MARKS: dict[Outcome, str] = {"PASS": "✅", "PASS_WITH_RISK": "⚠️", "FAIL": "❌", "INCOMPLETE": "❓"}


def workflow_commands(scoring: Scoring, *, strict: bool = False) -> list[str]:
    """Return workflow commands, at most ten: an error for each reason against a release, a warning for each risk.

    If there are more reasons, the last command says how many are left out. With `strict`, a pass with risk is an error.
    """
    decision = scoring.decision
    kind = "error" if _stops_release(decision.outcome, strict) else "warning"
    commands = [_render_command(kind, f"assay: {decision.outcome}", reason) for reason in decision.reasons]
    if decision.outcome == "PASS":
        return [_render_command("notice", "assay: PASS", "all rules of the gate are met")] if scoring.gate else []
    if len(commands) > SHOWN:
        omitted = f"{len(commands) - SHOWN + 1} more reasons are in the summary of this job"
        commands = [*commands[: SHOWN - 1], _render_command(kind, f"assay: {decision.outcome}", omitted)]
    return commands


def _stops_release(outcome: Outcome, strict: bool) -> bool:
    return outcome in ("FAIL", "INCOMPLETE") or (strict and outcome == "PASS_WITH_RISK")


def _render_command(kind: str, title: str, message: str) -> str:
    """Return one workflow command, escaped as GitHub requires: no separator and no line break in its values."""
    safe_title = _escape_command_data(visible(title)).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={safe_title}::{_escape_command_data(visible(message))}"


def _escape_command_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def job_summary(
    scoring: Scoring,
    cases: Cases,
    *,
    show_forbidden: bool = False,
    graders: Graders = CATALOG,
    strict: bool = False,
) -> str:
    """Return the job summary as Markdown: the decision, its reasons, headline metrics, rules, the worst cases.

    It stays below GitHub's limit: if it would be too long, the last tables are replaced by a note. With `strict`, a
    pass with risk counts as a failure.
    """
    summary_tables = (
        headlines(scoring, graders),
        tables.gate_rules(scoring, graders),
        failures.top_failed(scoring, cases, show_forbidden),
    )
    parts = [_render_header(scoring, strict), *(_render_section(table) for table in summary_tables if table.rows)]
    text = ""
    for part in parts:
        if len((text + part).encode()) > SUMMARY_BYTES - 200:
            return text + "\nThe other tables are too long for a job summary; see the report.\n"
        text += part
    return text


def _render_section(table: tables.Table) -> str:
    return "\n".join(["", f"### {markdown(table.title)}", "", *table_lines(table), ""])


def _render_header(scoring: Scoring, strict: bool) -> str:
    return "\n".join(_iter_header_lines(scoring, strict)) + "\n"


def _iter_header_lines(scoring: Scoring, strict: bool) -> Iterator[str]:
    decision = scoring.decision
    failed = strict and decision.outcome == "PASS_WITH_RISK"
    outcome = f"{decision.outcome}, a failure with --strict" if failed else decision.outcome
    yield f"## {_OUTCOME_MARKS['FAIL' if failed else decision.outcome]} Assay: {outcome}"
    yield ""
    for reason in decision.reasons[:SHOWN]:
        yield f"- {markdown(reason)}"
    if len(decision.reasons) > SHOWN:
        yield f"- and {plural(len(decision.reasons) - SHOWN, 'more reason')}"
    if scoring.gate is not None:
        yield ""
        yield f"Approver: {markdown(scoring.gate.approver or 'not named')}"
    for config, result in sorted(scoring.configs.items()):
        for note in result.table.notes:
            yield ""
            yield f"**{markdown(f'{config}: {note}')}**"
    golden = scoring.golden
    named = " ".join(part for part in (golden.name, golden.version) if part)
    yield ""
    yield f"{markdown(named)} {plural(golden.cases, 'case')}, {markdown(golden.digest)}".strip()
