"""A comparison of candidate and baseline as data for the HTML report; its lists of cases are in the `rows` island."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from assay.finding import Comparison, MetricChange, RankMove, Side
from assay.report.figures import Graders, grader_of, instrument, number
from assay.report.html_rules import rules_of

Json = dict[str, Any]
MOVES, SLICE_ROWS = 300, 3000


def comparison_of(comparison: Comparison, index_by_case: Mapping[str, int], graders: Graders) -> Json:
    """Return a comparison for the page; `index_by_case` maps case ids to indices in the golden set."""
    slices = [(name, change) for name, metrics in sorted(comparison.slices.items()) for change in metrics.values()]
    ordered_moves = sorted((move for move in comparison.moves if move.before != move.after), key=_get_move_weight)
    decisions = {comparison.candidate.config_id: comparison.decision} if comparison.decision is not None else {}
    lanes = Counter((move.stage, move.before, move.after) for move in comparison.moves)
    return {
        "baseline": _build_side(comparison.baseline),
        "candidate": _build_side(comparison.candidate),
        "metrics": [_build_change(change, graders) for change in comparison.metrics.values()],
        "slices": [{"slice": name, **_build_change(change, graders)} for name, change in slices[:SLICE_ROWS]],
        "slices_left_out": max(0, len(slices) - SLICE_ROWS),
        "lanes": [
            {"stage": stage, "before": before, "after": after, "count": count}
            for (stage, before, after), count in sorted(lanes.items(), key=lambda item: (item[0][0], str(item[0])))
        ],
        "moves": [
            {
                "case": index_by_case.get(move.case_id, -1),
                "id": move.case_id,
                "name": move.name,
                "stage": move.stage,
                "before": move.before,
                "after": move.after,
            }
            for move in ordered_moves[:MOVES]
        ],
        "moves_left_out": max(0, len(ordered_moves) - MOVES),
        "transitions": comparison.transitions,
        "changed": comparison.changed,
        "moved": comparison.moved,
        "notes": comparison.notes,
        "decision": comparison.decision
        and {"outcome": comparison.decision.outcome, "reasons": comparison.decision.reasons},
        "rules": list(rules_of(decisions, index_by_case, graders)),
    }


def _get_move_weight(move: RankMove) -> tuple[bool, int, str, str, int]:
    """Return the sort key of a rank change: lost evidence first, then the largest changes."""
    if move.after is None:
        return False, move.before or 0, move.case_id, move.stage, move.unit
    return True, -abs((move.before or 100) - move.after), move.case_id, move.stage, move.unit


def _build_side(side: Side) -> Json:
    return {
        "name": side.name,
        "config": side.config_id,
        "golden": side.golden_digest,
        "cases": side.cases,
        "versions": side.versions,
        "judge": side.judge,
    }


def _build_change(change: MetricChange, graders: Graders) -> Json:
    grader = grader_of(change.metric, graders)
    return {
        "name": change.metric,
        "class": instrument(change.metric, graders),
        "unit": grader.unit if grader is not None else "",
        "baseline": _format_optional(change.baseline, change.metric, graders),
        "candidate": _format_optional(change.candidate, change.metric, graders),
        "gain": change.gain,
        "gain_text": _format_signed_optional(change.gain, change.metric, graders),
        "low": change.low,
        "high": change.high,
        "interval": _format_gain_interval(change, graders),
        "p": change.p,
        "p_adjusted": change.p_adjusted,
        "method": change.method,
        "n": change.n,
        "improved": len(change.improved),
        "regressed": len(change.regressed),
        "unchanged": len(change.unchanged),
        "unpaired": len(change.unpaired),
        "detectable": _format_optional(change.smallest_detectable, change.metric, graders),
        "note": change.note,
    }


def _format_gain_interval(change: MetricChange, graders: Graders) -> str | None:
    if change.low is None or change.high is None:
        return None
    low = _format_signed_optional(change.low, change.metric, graders)
    return f"{low} to {_format_signed_optional(change.high, change.metric, graders)}"


def _format_optional(value: float | None, metric: str, graders: Graders) -> str | None:
    return number(value, metric, graders) if value is not None else None


def _format_signed_optional(value: float | None, metric: str, graders: Graders) -> str | None:
    if value is None:
        return None
    text = number(value, metric, graders)
    return f"+{text}" if float(text) > 0 else text
