"""How one case changed in a comparison, on a screen: its cause, its scores, and the evidence that moved."""

from __future__ import annotations

import textwrap

from assay.attribution.cause_sentences import name_causes
from assay.records.findings import CITED_SHARES, Attribution, CaseChange, Comparison
from assay.report.findings.comparison_tables import format_rank
from assay.report.findings.table import Table
from assay.report.screen.terminal import Screen, escape_table
from assay.report.wording.change_order import HEADLINE_NAMES
from assay.report.wording.number_format import format_number
from assay.text.escaping import escape_terminal

DEFAULT_WIDTH = 100


def render_case_change(comparison: Comparison, case_id: str) -> Screen:
    """Return how one case changed in a comparison as a screen, escaped for a terminal."""
    change = next((record for record in comparison.cases if record.case_id == case_id), None)
    moves = [move for move in comparison.moves if move.case_id == case_id]
    title = f"Compared with {comparison.baseline.name}"
    if change is None and not moves:
        return Screen((escape_terminal(f"{title}: nothing changed on this case"),), (), ())
    lines = [f"{title}:"]
    rows: list[tuple[str, ...]] = []
    if change is not None:
        lines.append(
            f" - attribution: {_describe_attribution(change.before)}, now {_describe_attribution(change.after)}"
        )
        rows = _build_score_rows(change)
    tables = (
        Table("Scores that changed", ("Metric", "Baseline", "Candidate", "Change"), tuple(rows)),
        Table(
            "Evidence that moved",
            ("Evidence", "Stage", "Baseline", "Candidate"),
            tuple((move.name, move.stage, format_rank(move.before), format_rank(move.after)) for move in moves),
        ),
    )
    return Screen(tuple(map(escape_terminal, lines)), tuple(escape_table(table) for table in tables if table.rows), ())


def render_short_case_change(
    comparison: Comparison,
    case_id: str,
    width: int = DEFAULT_WIDTH,
    most_lines: int = 2,
) -> Screen:
    """Return how one case changed, escaped for a terminal of `width` columns: cause, scores, moved evidence.

    Each of these has `most_lines` lines at most, the cause two, and one where it fits.
    """
    whole = render_case_change(comparison, case_id)
    change = next((record for record in comparison.cases if record.case_id == case_id), None)
    lines = [line.removeprefix(" - ") for line in whole.lines]
    if len(lines) > 1:
        lines = [" ".join(lines)]
    rows = _build_score_rows(change) if change is not None else []
    # The rows begin with what decides: a leak that is gone comes before a share of citations that fell.
    for direction in dict.fromkeys(verdict for *_, verdict in rows):
        changed = [f"{metric} {before} → {after}" for metric, before, after, verdict in rows if verdict == direction]
        lines += _list_first(direction, changed)
    moves = [move for move in comparison.moves if move.case_id == case_id]
    lines += _list_first(
        "moved",
        [f"{move.name} in {move.stage} {format_rank(move.before)} → {format_rank(move.after)}" for move in moves],
    )
    folded = []
    for number, line in enumerate(map(escape_terminal, lines)):
        folded += textwrap.wrap(
            line,
            width,
            subsequent_indent="   ",
            max_lines=most_lines if number else max(most_lines, 2),  # the first says what the case is now
            placeholder=" …",
            break_on_hyphens=False,
            break_long_words=False,
        )
    return Screen(tuple(folded), (), ())


_MAX_CHANGES = 3


def _list_first(label: str, changes: list[str]) -> list[str]:
    """Return a line with the first changes, and how many there are beyond them; nothing if there are none."""
    more = f" (and {len(changes) - _MAX_CHANGES} more: --verbose)" if len(changes) > _MAX_CHANGES else ""
    return [f" - {label}: {'; '.join(changes[:_MAX_CHANGES])}{more}"] if changes else []


def _build_score_rows(change: CaseChange) -> list[tuple[str, ...]]:
    verdicts = {
        **dict.fromkeys(change.regressed, "worse"),
        **dict.fromkeys(change.improved, "better"),
        **dict.fromkeys(change.needs_review, "better, in review"),
    }
    rows: list[tuple[str, ...]] = []
    for metric in sorted(verdicts, key=_rank_metric):  # of equal rank, what got worse stays first
        before, after = change.scores[metric]
        formatted = (format_number(score, metric) for score in (before, after))
        rows.append((metric, *formatted, verdicts[metric]))
    return rows


_CASE_METRICS = ("visibility_leaks", "behaviour", "correct_answer", "correctness(by=judge)", "correctness(by=rules)")
"""What a change of one case is told by first: whether it leaked, did the right thing, and was right."""


def _rank_metric(metric: str) -> tuple[int, bool, bool]:
    place = _CASE_METRICS.index(metric) if metric in _CASE_METRICS else len(_CASE_METRICS)
    return place, metric not in HEADLINE_NAMES, metric in CITED_SHARES


def _describe_attribution(attribution: Attribution | None) -> str:
    if attribution is None:
        return "not attributed"
    verdict = attribution.verdict.replace("_", " ")
    return verdict if attribution.cause is None else f"{verdict} ({', '.join(name_causes(attribution))})"
