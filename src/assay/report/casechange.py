"""One case compared with its baseline: attribution before and after, changed scores, evidence that changed rank."""

from __future__ import annotations

from assay.finding import Attribution, CaseChange, Comparison
from assay.graders.catalog import CATALOG
from assay.report.comparison import rank_text
from assay.report.figures import Graders, number
from assay.report.safe import terminal
from assay.report.tables import Table
from assay.report.terminal import Screen, safe_table


def case_change(comparison: Comparison, case_id: str, graders: Graders = CATALOG) -> Screen:
    """Return how one case changed in a comparison as a screen, escaped for a terminal."""
    change = next((record for record in comparison.cases if record.case_id == case_id), None)
    moves = [move for move in comparison.moves if move.case_id == case_id]
    title = f"Compared with {comparison.baseline.name}"
    if change is None and not moves:
        return Screen((terminal(f"{title}: nothing changed on this case"),), (), ())
    lines = [f"{title}:"]
    rows: list[tuple[str, ...]] = []
    if change is not None:
        lines.append(
            f" - attribution: {_describe_attribution(change.before)}, now {_describe_attribution(change.after)}"
        )
        rows = _build_score_rows(change, graders)
    tables = (
        Table("Scores that changed", ("Metric", "Baseline", "Candidate", "Change"), tuple(rows)),
        Table(
            "Evidence that moved",
            ("Evidence", "Stage", "Baseline", "Candidate"),
            tuple((move.name, move.stage, rank_text(move.before), rank_text(move.after)) for move in moves),
        ),
    )
    return Screen(tuple(map(terminal, lines)), tuple(safe_table(table) for table in tables if table.rows), ())


def _build_score_rows(change: CaseChange, graders: Graders) -> list[tuple[str, ...]]:
    directions = (
        ("worse", change.regressed),
        ("better", change.improved),
        ("better, in review", change.needs_review),
    )
    rows: list[tuple[str, ...]] = []
    for direction, metrics in directions:
        for metric in metrics:
            before, after = change.scores[metric]
            rows.append((metric, number(before, metric, graders), number(after, metric, graders), direction))
    return rows


def _describe_attribution(attribution: Attribution | None) -> str:
    if attribution is None:
        return "not attributed"
    text = attribution.verdict if attribution.cause is None else f"{attribution.verdict}, {attribution.cause}"
    return text.replace("_", " ")
