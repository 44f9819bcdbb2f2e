"""What a pull request shows: annotations that a workflow's log turns into marks, and the summary of a job."""

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
"""GitHub shows this many annotations of one kind for a step, and drops the others."""
SUMMARY_BYTES = 1024 * 1024
"""GitHub refuses a longer summary of a step."""

_MARK: dict[Outcome, str] = {"PASS": "✅", "PASS_WITH_RISK": "⚠️", "FAIL": "❌", "INCOMPLETE": "❓"}


def workflow_commands(scoring: Scoring, *, strict: bool = False) -> list[str]:
    """Return workflow commands, at most ten of a kind: an error for each reason against a release, else a warning.

    Where there are more, the last one says how many are left out. `strict`: a pass with risk is none.
    """
    decision = scoring.decision
    kind = "error" if _stops(decision.outcome, strict) else "warning"
    told = [_command(kind, f"assay: {decision.outcome}", reason) for reason in decision.reasons]
    if decision.outcome == "PASS":
        return [_command("notice", "assay: PASS", "every rule that was set is met")] if scoring.gate else []
    if len(told) > SHOWN:
        rest = f"{len(told) - SHOWN + 1} more reasons are in the summary of this job"
        told = [*told[: SHOWN - 1], _command(kind, f"assay: {decision.outcome}", rest)]
    return told


def _stops(outcome: Outcome, strict: bool) -> bool:
    return outcome in ("FAIL", "INCOMPLETE") or (strict and outcome == "PASS_WITH_RISK")


def _command(kind: str, title: str, message: str) -> str:
    """Return one workflow command, escaped as GitHub demands: its values hold no separator and no line end."""
    safe_title = _data(visible(title)).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={safe_title}::{_data(visible(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def job_summary(
    scoring: Scoring,
    cases: Cases,
    *,
    show_forbidden: bool = False,
    graders: Graders = CATALOG,
    strict: bool = False,
) -> str:
    """Return the summary of a job as Markdown: the decision, its reasons, headline metrics, rules, the worst cases.

    Within what GitHub accepts: the last tables are left out, and said to be, where it would be too long. `strict`: a
    pass with risk is none.
    """
    drawn = (
        headlines(scoring, graders),
        tables.gate_rules(scoring, graders),
        failures.top_failed(scoring, cases, show_forbidden),
    )
    parts = [_first(scoring, strict), *(_section(table) for table in drawn if table.rows)]
    text = ""
    for part in parts:
        if len((text + part).encode()) > SUMMARY_BYTES - 200:
            return text + "\nThe rest is too long for a job summary: it is in the report.\n"
        text += part
    return text


def _section(table: tables.Table) -> str:
    return "\n".join(["", f"### {markdown(table.title)}", "", *table_lines(table), ""])


def _first(scoring: Scoring, strict: bool) -> str:
    return "\n".join(_first_lines(scoring, strict)) + "\n"


def _first_lines(scoring: Scoring, strict: bool) -> Iterator[str]:
    decision = scoring.decision
    failed = strict and decision.outcome == "PASS_WITH_RISK"
    said = f"{decision.outcome}, which --strict lets fail" if failed else decision.outcome
    yield f"## {_MARK['FAIL' if failed else decision.outcome]} Assay: {said}"
    yield ""
    for reason in decision.reasons[:SHOWN]:
        yield f"- {markdown(reason)}"
    if len(decision.reasons) > SHOWN:
        yield f"- and {plural(len(decision.reasons) - SHOWN, 'more reason')}"
    if scoring.gate is not None:
        yield ""
        yield f"Approver: {markdown(scoring.gate.approver or 'nobody named')}"
    for config, result in sorted(scoring.configs.items()):
        for note in result.table.notes:
            yield ""
            yield f"**{markdown(f'{config}: {note}')}**"
    golden = scoring.golden
    named = " ".join(part for part in (golden.name, golden.version) if part)
    yield ""
    yield f"{markdown(named)} {plural(golden.cases, 'case')}, {markdown(golden.digest)}".strip()
