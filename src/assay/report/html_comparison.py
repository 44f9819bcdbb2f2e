"""Candidate against baseline as data for the HTML report; lists of cases are in the rows, cut to what people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from assay.finding import Comparison, MetricChange, RankMove, Side
from assay.report.figures import Graders, grader_of, instrument, number
from assay.report.html_rules import rules_of

Json = dict[str, Any]
MOVES, SLICE_ROWS = 300, 3000


def comparison_of(found: Comparison, place: Mapping[str, int], graders: Graders) -> Json:
    """Return a comparison for the page; `place` is each case's number in the golden set."""
    slices = [(name, change) for name, metrics in sorted(found.slices.items()) for change in metrics.values()]
    moved = sorted((each for each in found.moves if each.before != each.after), key=_weight)
    decisions = {found.candidate.config_id: found.decision} if found.decision is not None else {}
    lanes = Counter((each.stage, each.before, each.after) for each in found.moves)
    return {
        "baseline": _side(found.baseline),
        "candidate": _side(found.candidate),
        "metrics": [_change(change, graders) for change in found.metrics.values()],
        "slices": [{"slice": name, **_change(change, graders)} for name, change in slices[:SLICE_ROWS]],
        "slices_left_out": max(0, len(slices) - SLICE_ROWS),
        "lanes": [
            {"stage": stage, "before": before, "after": after, "count": count}
            for (stage, before, after), count in sorted(lanes.items(), key=lambda item: (item[0][0], str(item[0])))
        ],
        "moves": [
            {
                "case": place.get(each.case_id, -1),
                "id": each.case_id,
                "name": each.name,
                "stage": each.stage,
                "before": each.before,
                "after": each.after,
            }
            for each in moved[:MOVES]
        ],
        "moves_left_out": max(0, len(moved) - MOVES),
        "transitions": found.transitions,
        "changed": found.changed,
        "moved": found.moved,
        "notes": found.notes,
        "decision": found.decision and {"outcome": found.decision.outcome, "reasons": found.decision.reasons},
        "rules": list(rules_of(decisions, place, graders)),
    }


def _weight(move: RankMove) -> tuple[bool, int, str, str, int]:
    """Lost evidence first, then the longest way down, then the longest way up."""
    if move.after is None:
        return False, move.before or 0, move.case_id, move.stage, move.unit
    return True, -abs((move.before or 100) - move.after), move.case_id, move.stage, move.unit


def _side(side: Side) -> Json:
    return {
        "name": side.name,
        "config": side.config_id,
        "golden": side.golden_digest,
        "cases": side.cases,
        "versions": side.versions,
        "judge": side.judge,
    }


def _change(change: MetricChange, graders: Graders) -> Json:
    grader = grader_of(change.metric, graders)
    return {
        "name": change.metric,
        "class": instrument(change.metric, graders),
        "unit": grader.unit if grader is not None else "",
        "baseline": _text(change.baseline, change.metric, graders),
        "candidate": _text(change.candidate, change.metric, graders),
        "gain": change.gain,
        "gain_text": _signed(change.gain, change.metric, graders),
        "low": change.low,
        "high": change.high,
        "interval": None
        if change.low is None or change.high is None
        else f"{_signed(change.low, change.metric, graders)} to {_signed(change.high, change.metric, graders)}",
        "p": change.p,
        "p_adjusted": change.p_adjusted,
        "method": change.method,
        "n": change.n,
        "improved": len(change.improved),
        "regressed": len(change.regressed),
        "unchanged": len(change.unchanged),
        "unpaired": len(change.unpaired),
        "detectable": _text(change.smallest_detectable, change.metric, graders),
        "note": change.note,
    }


def _text(value: float | None, metric: str, graders: Graders) -> str | None:
    return number(value, metric, graders) if value is not None else None


def _signed(value: float | None, metric: str, graders: Graders) -> str | None:
    if value is None:
        return None
    text = number(value, metric, graders)
    return f"+{text}" if float(text) > 0 else text
