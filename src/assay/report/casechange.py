"""One case against its baseline: whose fault before and after, which scores changed, where its evidence went."""

from __future__ import annotations

from assay.finding import Attribution, Comparison
from assay.graders.catalog import CATALOG
from assay.report.comparison import rank_text
from assay.report.figures import Graders, number
from assay.report.safe import terminal
from assay.report.tables import Table
from assay.report.terminal import Screen, safe_table


def case_change(found: Comparison, case_id: str, graders: Graders = CATALOG) -> Screen:
    """Return what a comparison says of one case as a screen, safe for a terminal."""
    change = next((each for each in found.cases if each.case_id == case_id), None)
    moves = [each for each in found.moves if each.case_id == case_id]
    title = f"Against {found.baseline.name}"
    if change is None and not moves:
        return Screen((terminal(f"{title}: nothing changed on this case"),), (), ())
    lines = [f"{title}:"]
    rows = []
    if change is not None:
        lines.append(f" - whose fault: {_fault(change.before)}, now {_fault(change.after)}")
        rows = [
            (metric, number(before, metric, graders), number(after, metric, graders), word)
            for word, metrics in (
                ("worse", change.regressed),
                ("better", change.improved),
                ("better, in review", change.needs_review),
            )
            for metric in metrics
            for before, after in (change.scores[metric],)
        ]
    drawn = (
        Table("Scores that changed", ("Metric", "Baseline", "Candidate", "Change"), tuple(rows)),
        Table(
            "Evidence that moved",
            ("Evidence", "Stage", "Baseline", "Candidate"),
            tuple((each.name, each.stage, rank_text(each.before), rank_text(each.after)) for each in moves),
        ),
    )
    return Screen(tuple(map(terminal, lines)), tuple(safe_table(each) for each in drawn if each.rows), ())


def _fault(found: Attribution | None) -> str:
    if found is None:
        return "not attributed"
    said = found.verdict if found.cause is None else f"{found.verdict}, {found.cause}"
    return said.replace("_", " ")
