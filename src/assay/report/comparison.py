"""A comparison for people: what each metric gained, which cases got worse and why, and the decision first.

Nothing is called improved or regressed unless its interval excludes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.finding import CaseChange, Comparison, MetricChange, RankMove, Side
from assay.graders.catalog import CATALOG
from assay.model import Decision, RuleResult
from assay.report.figures import NA, Graders, grader_of, instrument, number
from assay.report.names import HEADLINES
from assay.report.safe import terminal
from assay.report.tables import Table, checklist
from assay.report.terminal import Screen, safe_table

NO_CHANGE = "not shown"
CASES_SHOWN, MOVES_SHOWN, SLICES_SHOWN = 30, 50, 40
_HEADLINES = tuple(name for _, names in HEADLINES for name in names)


def verdict(change: MetricChange) -> str:
    """Return what may be said of a change: `improved` or `regressed` only where the interval excludes 0."""
    if change.low is not None and change.low > 0:
        return "improved"
    if change.high is not None and change.high < 0:
        return "regressed"
    return NO_CHANGE if change.low is not None else NA


def metrics_table(found: Comparison, graders: Graders = CATALOG) -> Table:
    """Every metric that differs on some case; those that differ on none are named below."""
    rows, same = [], []
    for name, change in found.metrics.items():
        if change.baseline == change.candidate and not (
            change.improved or change.regressed or change.unpaired or change.needs_review
        ):
            same.append(name)
            continue
        rows.append((name, instrument(name, graders), *_cells(change, graders), change.note))
    columns = ("Metric", "Class", *_COLUMNS, "Note")
    notes = ["Gain is positive when better. p is adjusted for how many metrics are looked at."] if rows else []
    notes += [f"no difference on any case: {', '.join(same)}"] if same else []
    return Table("Metrics: candidate against baseline", columns, tuple(rows), tuple(notes))


_COLUMNS = (
    "Baseline",
    "Candidate",
    "Gain",
    "95% interval",
    "p",
    "Verdict",
    "Better / worse / same / unpaired",
    "Detects",
)


def _cells(change: MetricChange, graders: Graders) -> tuple[str, ...]:
    counts = (change.improved, change.regressed, change.unchanged, change.unpaired)
    bounds = NA
    if change.low is not None and change.high is not None:
        bounds = f"{signed(change.low, change.metric, graders)} to {signed(change.high, change.metric, graders)}"
    p = change.p_adjusted if change.p_adjusted is not None else change.p
    return (
        number(change.baseline, change.metric, graders),
        number(change.candidate, change.metric, graders),
        signed(change.gain, change.metric, graders),
        bounds,
        NA if p is None else "<0.001" if p < 0.0005 else f"{p:.3f}",
        verdict(change),
        " / ".join(str(len(cases)) for cases in counts),
        number(change.smallest_detectable, change.metric, graders),
    )


def signed(value: float | None, metric: str, graders: Graders = CATALOG) -> str:
    """Return a number with its sign.

    >>> signed(0.25, "recall@5"), signed(None, "recall@5")
    ('+0.250', 'n/a')
    """
    if value is None:
        return NA
    text = number(value, metric, graders)
    return text if text.startswith("-") else f"+{text}"


def regressions_table(found: Comparison, graders: Graders = CATALOG) -> Table:
    """[001]'s regression summary: each case that got worse, on its weightiest metric, with cause and ruling."""
    rules = found.decision.results if found.decision is not None else ()
    gated = [result.rule.metric for result in rules]
    worse = sorted((each for each in found.cases if each.regressed), key=lambda each: _weight(each, rules))
    rows = []
    for change in worse[:CASES_SHOWN]:
        metric = _main(change.regressed, gated)
        before, after = change.scores.get(metric, (None, None))
        more = f" and {len(change.regressed) - 1} more" if len(change.regressed) > 1 else ""
        rows.append(
            (
                change.case_id,
                f"{metric}{more}",
                number(before, metric, graders),
                number(after, metric, graders),
                _cause(change),
                _ruling(change, rules) if found.decision is not None else "not gated",
            )
        )
    notes = (f"{len(worse) - CASES_SHOWN} more cases got worse.",) if len(worse) > CASES_SHOWN else ()
    columns = ("Query", "Metric", "Baseline", "Candidate", "Root cause", "Decision")
    return Table("Regression Summary", columns, tuple(rows), notes)


def _cause(change: CaseChange) -> str:
    after = change.after
    if after is None:
        return "not attributed"
    return "none: it still passes" if after.verdict == "pass" else (after.cause or after.verdict).replace("_", " ")


def _main(metrics: Iterable[str], gated: list[str]) -> str:
    """The metric that a reader looks at first: a gated one, then one of the headlines."""
    order = [*gated, *_HEADLINES]
    return min(metrics, key=lambda name: order.index(name) if name in order else len(order))


def _ruling(change: CaseChange, rules: Iterable[RuleResult]) -> str:
    """What the gate says of what got worse on this case: a rule on something else says nothing about it."""
    named = [
        result
        for result in rules
        if change.case_id in result.cases
        and result.state != "pass"
        and (result.rule.zero_event or result.rule.metric in change.regressed)
    ]
    if any(result.state == "fail" and result.rule.severity == "block" and not result.waived for result in named):
        return "blocks"
    if any(result.waived for result in named):
        return "waived"
    return "a risk" if named else "blocks nothing"


def _weight(change: CaseChange, rules: Iterable[RuleResult]) -> tuple[bool, int]:
    return _ruling(change, rules) != "blocks", -len(change.regressed)


def moves_table(found: Comparison) -> Table:
    """Evidence that changed its rank: lost first, then the longest ways."""
    moves = sorted(found.moves, key=_distance)
    rows = [
        (each.case_id, each.name, each.stage, rank_text(each.before), rank_text(each.after))
        for each in moves[:MOVES_SHOWN]
    ]
    notes = (f"{len(moves) - MOVES_SHOWN} more moves.",) if len(moves) > MOVES_SHOWN else ()
    return Table("Rank movement", ("Query", "Evidence", "Stage", "Baseline", "Candidate"), tuple(rows), notes)


def _distance(move: RankMove) -> tuple[bool, int]:
    if move.after is None:
        return False, move.before or 0
    return True, -abs(move.after - (move.before or 100))


def rank_text(rank: int | None) -> str:
    """Return a rank as it is read."""
    return "absent" if rank is None else str(rank)


def transitions_table(found: Comparison) -> Table:
    """How attributions went over."""
    rows = [(old.replace("_", " "), new.replace("_", " "), str(count)) for old, new, count in found.transitions]
    return Table("Attribution, before and after", ("Baseline", "Candidate", "Cases"), tuple(rows))


def slices_table(found: Comparison, graders: Graders = CATALOG) -> Table:
    """The slices on which a change is shown, or that the gate looks at."""
    results = found.decision.results if found.decision is not None else ()
    gated = {(result.rule.slice, result.rule.metric) for result in results}
    rows = []
    for name, metrics in sorted(found.slices.items()):
        for metric, change in metrics.items():
            if verdict(change) in ("improved", "regressed") or (name, metric) in gated:
                grader = grader_of(metric, graders)
                if grader is None or grader.family != "operations":
                    rows.append((name, metric, *_cells(change, graders)))
    left = [f"{len(rows) - SLICES_SHOWN} more rows are in the JSON report."] if len(rows) > SLICES_SHOWN else []
    notes = ("Slices of fewer than 10 pairs are described, never tested.", *left) if rows else ()
    return Table("Slices on which a change is shown", ("Slice", "Metric", *_COLUMNS), tuple(rows[:SLICES_SHOWN]), notes)


def sides_table(found: Comparison) -> Table:
    """What was compared with what."""
    rows = [
        (title, *(read(side) for side in (found.baseline, found.candidate)))
        for title, read in (
            ("Name", lambda side: side.name),
            ("Config", lambda side: side.config_id),
            ("Cases", lambda side: str(side.cases)),
            ("Golden set", lambda side: side.golden_digest[:19] + "…"),
            ("Versions", _versions),
            ("Judge", lambda side: side.judge or "none"),
        )
    ]
    return Table("Compared", ("", "Baseline", "Candidate"), tuple(rows))


def _versions(side: Side) -> str:
    return ", ".join(f"{part} {' and '.join(said)}" for part, said in sorted(side.versions.items())) or "not stated"


def comparison_screen(found: Comparison, decision: Decision, graders: Graders = CATALOG) -> Screen:
    """Return what `assay compare` prints: the decision, what moved, the tables; safe for a terminal."""
    lines = [f"{found.candidate.name} against {found.baseline.name}: {decision.outcome}"]
    lines += [f" - {reason}" for reason in decision.reasons]
    lines += ["What changed:", *(f" - {each}" for each in found.changed)]
    lines += ["Why the metrics moved:", *(f" - {each}" for each in found.moved)] if found.moved else []
    tables = [metrics_table(found, graders), regressions_table(found, graders)]
    if found.decision is not None:
        tables.append(checklist({found.candidate.config_id: found.decision}, graders))
    return Screen(
        tuple(terminal(line) for line in lines),
        tuple(safe_table(table) for table in tables if table.rows),
        tuple(terminal(note) for note in found.notes),
    )
