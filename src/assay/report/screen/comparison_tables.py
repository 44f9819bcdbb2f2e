"""Tables and the terminal screen of a comparison: the gain of each metric, what became of each case, the decision.

A change is called improved or regressed only where its test and its interval agree (ADR 49).
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence

from assay.metrics.catalog import CATALOG
from assay.metrics.template_columns import HEADLINES, MetricNames
from assay.records.counts import format_count
from assay.records.findings import (
    Attribution,
    CaseChange,
    ChangeVerdict,
    Comparison,
    ComparisonSide,
    MetricChange,
    RankMove,
    describe_leaks,
    describe_unknown_now,
    format_p,
    list_leaking_cases,
)
from assay.records.release_gates import Decision, RuleResult
from assay.report.findings.flipped_cases import list_flipped_cases
from assay.report.findings.gate_tables import build_checklist_table
from assay.report.findings.table import Table
from assay.report.screen.terminal import Screen, build_decision_lines, escape_table
from assay.report.wording.change_order import (
    FORM_METRICS,
    HEADLINE_NAMES,
    describe_checkable,
    measure_strength,
    rank_importance,
)
from assay.report.wording.change_values import format_gain, format_sides, format_signed
from assay.report.wording.number_format import (
    NOT_AVAILABLE,
    MetricsByName,
    find_metric_row,
    format_number,
    get_metric_class,
)
from assay.text.escaping import escape_terminal

_NOTHING_SHOWN = "No change of a metric is shown, so there is nothing to explain."
DEFAULT_WIDTH = 100
MAX_CASES_SHOWN, MAX_MOVES_SHOWN, MAX_SLICES_SHOWN = 30, 50, 40
_HEADLINES = tuple(name for _, names in HEADLINES for name in names)


def build_metric_changes_table(comparison: Comparison, metric_rows: MetricsByName = CATALOG) -> Table:
    """Return the metrics that differ on at least one case; the others are listed in a note."""
    rows, unchanged_metrics = [], []
    for name, change in sorted(comparison.metrics.items(), key=lambda item: _get_row_order(item[1])):
        differs = change.improved or change.regressed or change.unpaired or change.needs_review
        is_open = change.unknown is not None and change.unknown.is_one_sided
        if change.baseline == change.candidate and not differs and not is_open:
            unchanged_metrics.append(name)
            continue
        rows.append(
            (
                name,
                get_metric_class(name, metric_rows),
                *_format_change_cells(change, metric_rows),
                "; ".join(filter(None, (change.note, describe_checkable(name)))),
            )
        )
    columns = ("Metric", "Class", *_CHANGE_COLUMNS, "Note")
    notes = [_TESTING_NOTE] if rows else []
    notes += [f"no difference on any case: {', '.join(unchanged_metrics)}"] if unchanged_metrics else []
    return Table("Metrics: candidate and baseline", columns, tuple(rows), tuple(notes))


def build_headline_changes_table(
    comparison: Comparison, headlines: Sequence[tuple[str, MetricNames]], metric_rows: MetricsByName = CATALOG
) -> Table:
    """Return how the headline metrics changed since the baseline, and which cases fail now and which no longer do."""
    rows = []
    for title, names in headlines:
        change = next((comparison.metrics[name] for name in names if name in comparison.metrics), None)
        if change is None or (change.unknown is None and (change.baseline is None or change.candidate is None)):
            continue
        cells = _format_change_cells(change, metric_rows)
        rows.append((title, *cells[:2], str(change.n), *cells[2:4], change.verdict))
    failed = comparison.metrics.get(_FAILED_METRIC)
    notes = []
    for label, case_ids in (("Fail now", failed.regressed), ("Fail no longer", failed.improved)) if failed else ():
        listed = ", ".join(case_ids[:_MAX_NAMED]) + (", …" if len(case_ids) > _MAX_NAMED else "")
        of_them = describe_unknown_now(comparison, case_ids) if label == "Fail no longer" else ""
        notes.append(f"{label}: {format_count(len(case_ids), 'case')}{f' ({listed})' if case_ids else ''}{of_them}.")
    columns = ("Metric", "Baseline", "Candidate", "Pairs", "Gain", "Interval", "Verdict")
    if any(change.unknown is not None for change in comparison.metrics.values()):
        notes.append(_BOUNDED_NOTE)
    elif rows:
        notes.append("Values are those of the cases that both sides scored (pairs); an unknown answer is in no pair.")
    return Table("Changes since the baseline", columns, tuple(rows), (" ".join(notes),) if notes else ())


_BOUNDED_NOTE = (
    "Values are those of the cases that both sides scored (pairs); unknown answers count at worst and at best, and the "
    "interval holds whatever they are."
)
_FAILED_METRIC = "failed"
_MAX_NAMED = 10


_SHOWN_FIRST: Mapping[ChangeVerdict, int] = {"regressed": 0, "improved": 1, "not shown": 2, "n/a": 2}


def _get_row_order(change: MetricChange) -> tuple[int, int, float]:
    """Return the place of a row: shown changes in order of importance and strength, and what could be checked after
    them; what is not shown stays in the order of the catalogue, because its size means nothing."""
    if change.verdict not in ("regressed", "improved"):
        return 2, 0, 0.0
    return _SHOWN_FIRST[change.verdict], rank_importance(change), -measure_strength(change)


_TESTING_NOTE = (
    "A positive gain is an improvement. p and interval take account of everything that was tested: a change is shown "
    "where p is at most its limit and the interval excludes 0. The percentage after an interval is its confidence: it "
    "is higher, and the interval wider, the more tests there are and the fewer of them show a change; gated metrics, "
    "headlines and all others are counted apart. Detects: the smallest true difference that so many cases show at this "
    "confidence with a power of 80%."
)


_CHANGE_COLUMNS = (
    "Baseline",
    "Candidate",
    "Gain",
    "Interval",
    "p (limit)",
    "Verdict",
    "Better / worse / same / unpaired",
    "Detects",
)


def _format_change_cells(change: MetricChange, metric_rows: MetricsByName) -> tuple[str, ...]:
    counts = (change.improved, change.regressed, change.unchanged, change.unpaired)
    bounds = NOT_AVAILABLE
    if change.low is not None and change.high is not None:
        bounds = (
            f"{format_signed(change.low, change.metric, metric_rows)} to "
            f"{format_signed(change.high, change.metric, metric_rows)}{format_confidence(change)}"
        )
    return (
        *format_sides(change, metric_rows),
        format_gain(change, metric_rows),
        bounds,
        _format_p(change.p_adjusted) + (f" ({change.level:g})" if change.level is not None else ""),
        change.verdict,
        " / ".join(str(len(cases)) for cases in counts)
        + (f", {len(change.unknown.cases)} unknown" if change.unknown is not None else ""),
        format_number(change.smallest_detectable, change.metric, metric_rows),
    )


def format_confidence(change: MetricChange) -> str:
    """Return the confidence of the interval of a gain, in parentheses; empty without an interval."""
    if change.confidence is None:
        return ""
    percent = 100 * change.confidence
    decimals = 0
    while abs(round(percent, decimals) - percent) > 0.1 * (100 - percent):
        decimals += 1
    return f" ({percent:.{decimals}f}%)"


def _format_p(p: float | None) -> str:
    return NOT_AVAILABLE if p is None else format_p(p)


def build_regressions_table(
    comparison: Comparison, metric_rows: MetricsByName = CATALOG, *, failing_only: bool = False
) -> Table:
    """Return the cases that got worse, those that block a release first: main metric, root cause, what the gate says.

    The columns are those of the regression summary in the report template. Cases also get worse where nothing changed
    but chance: the note says on which metrics a regression is shown. With `failing_only`, cases that still pass and
    block nothing are counted and have no row.
    """
    rules = comparison.decision.results if comparison.decision is not None else ()
    gated = [result.rule.metric for result in rules]
    shown = [name for name, metric_change in comparison.metrics.items() if metric_change.verdict == "regressed"]
    regressed_cases, only_form = _list_regressed_cases(comparison, {*gated, *shown}, gated)
    regressed_cases.sort(key=lambda case_change: not _describe_ruling(case_change, rules).startswith("blocks: "))
    still_pass = []
    if failing_only:
        still_pass = [change for change in regressed_cases if _passes_unruled(change, rules)]
        regressed_cases = [change for change in regressed_cases if change not in still_pass]
    rows = []
    for change in regressed_cases[:MAX_CASES_SHOWN]:
        metric = _pick_main_metric(change.regressed, [*gated, *shown])
        baseline_score, candidate_score = change.scores.get(metric, (None, None))
        more = f" and {len(change.regressed) - 1} more" if len(change.regressed) > 1 else ""
        rows.append(
            (
                change.case_id,
                f"{metric}{more}",
                format_number(baseline_score, metric, metric_rows),
                format_number(candidate_score, metric, metric_rows),
                _describe_root_cause(change),
                _describe_ruling(change, rules) if comparison.decision is not None else "not gated",
            )
        )
    hidden = len(regressed_cases) - MAX_CASES_SHOWN
    notes = [f"{format_count(hidden, 'more case')} got worse."] if hidden > 0 else []
    if still_pass:
        more = "more " if rows else ""
        count = format_count(len(still_pass), f"{more}case")
        notes.append(f"{count} got worse on some metric and still {'passes' if len(still_pass) == 1 else 'pass'}.")
    if only_form:
        metrics = dict.fromkeys(metric for case_change in only_form for metric in case_change.regressed)
        notes.append(
            f"Worse only in where citations stand: {format_count(len(only_form), 'case')} ({', '.join(metrics)})."
        )
    if rows or still_pass:
        listed = ", ".join(shown)
        notes.append(f"Shown as regressed over all cases: {listed}." if shown else _NO_REGRESSION_NOTE)
    columns = ("Query", "Metric", "Baseline", "Candidate", "Root cause", "Decision")
    return Table("Regression Summary", columns, tuple(rows), tuple(notes))


def _list_regressed_cases(
    comparison: Comparison, counted: Collection[str], gated: Collection[str]
) -> tuple[list[CaseChange], list[CaseChange]]:
    """Return the cases that got worse, and those that only got worse in the form of the answer.

    A case whose verdict got better is no regression by a metric that no rule names: it fails no longer, or it leaks no
    longer and no headline metric of it fell. `counted` metrics are never mere form: a rule names them, or a regression
    over all cases is shown.
    """
    fail_no_longer = frozenset(list_flipped_cases(comparison).fail_no_longer)
    leak_no_longer = frozenset(list_leaking_cases(comparison).before_alone)
    regressed_cases: list[CaseChange] = []
    only_form: list[CaseChange] = []
    for change in comparison.cases:
        regressed = frozenset(change.regressed)
        named = regressed.intersection(gated)
        is_better = change.case_id in fail_no_longer or (
            change.case_id in leak_no_longer and regressed.isdisjoint(HEADLINE_NAMES)
        )
        if not regressed or (is_better and not named):
            continue
        is_form = regressed <= FORM_METRICS and regressed.isdisjoint(counted)
        (only_form if is_form else regressed_cases).append(change)
    return regressed_cases, only_form


def _passes_unruled(change: CaseChange, rules: Iterable[RuleResult]) -> bool:
    passes = change.after is not None and change.after.verdict == "pass"
    return passes and _describe_ruling(change, rules) == _BLOCKS_NOTHING


_BLOCKS_NOTHING = "blocks nothing"
_NO_REGRESSION_NOTE = "No metric is shown to have regressed over all cases: single cases also get worse by chance."


def _describe_root_cause(change: CaseChange) -> str:
    after = change.after
    if after is None:
        return "not attributed"
    return "none: it still passes" if after.verdict == "pass" else (after.cause or after.verdict).replace("_", " ")


def _pick_main_metric(metrics: Iterable[str], gated: list[str]) -> str:
    """Return the metric to show for a case: a gated one if there is any, else the first headline metric, form last."""
    order = [*gated, *_HEADLINES]

    def get_place(name: str) -> tuple[int, bool]:
        return order.index(name) if name in order else len(order), name in FORM_METRICS

    return min(metrics, key=get_place)


def _describe_ruling(change: CaseChange, rules: Iterable[RuleResult]) -> str:
    """Return what the gate says about a regressed case and by which rules.

    A rule on a metric that did not regress is not counted, unless a single case violates it. A bound on all cases
    names none of them: every case that is worse by its metric counts.
    """
    broken_rules = [
        result
        for result in rules
        if result.state != "pass"
        and (change.case_id in result.cases or (not result.cases and result.rule.slice is None))
        and ((result.rule.zero_event and result.cases) or result.rule.metric in change.regressed)
    ]
    blocking = [
        result
        for result in broken_rules
        if result.state == "fail" and result.rule.severity == "block" and not result.waived
    ]
    if blocking:
        return f"blocks: {_name_rules(blocking)}"
    waived = [result for result in broken_rules if result.waived]
    if waived:
        return f"waived: {_name_rules(waived)}"
    return f"a risk: {_name_rules(broken_rules)}" if broken_rules else _BLOCKS_NOTHING


def _name_rules(results: Iterable[RuleResult]) -> str:
    names = (
        result.rule.metric + (f" on {result.rule.slice}" if result.rule.slice is not None else "") for result in results
    )
    return ", ".join(dict.fromkeys(names))


def build_rank_moves_table(comparison: Comparison) -> Table:
    """Return the evidence that changed rank: lost evidence first, then the largest changes."""
    moves = sorted(comparison.moves, key=_get_move_sort_key)
    rows = [
        (move.case_id, move.name, move.stage, format_rank(move.before), format_rank(move.after))
        for move in moves[:MAX_MOVES_SHOWN]
    ]
    hidden = len(moves) - MAX_MOVES_SHOWN
    notes = (f"{format_count(hidden, 'more move')}.",) if hidden > 0 else ()
    return Table("Rank movement", ("Query", "Evidence", "Stage", "Baseline", "Candidate"), tuple(rows), notes)


def _get_move_sort_key(move: RankMove) -> tuple[bool, int]:
    if move.after is None:
        return False, move.before or 0
    return True, -abs(move.after - (move.before or 100))


def format_rank(rank: int | None) -> str:
    """Return a rank as text, `absent` for None."""
    return "absent" if rank is None else str(rank)


def build_transitions_table(comparison: Comparison) -> Table:
    """Return how many cases went from one attribution to another."""
    rows = [
        (before.replace("_", " "), after.replace("_", " "), str(count))
        for before, after, count in comparison.transitions
    ]
    return Table("Attribution, before and after", ("Baseline", "Candidate", "Cases"), tuple(rows))


def build_slice_changes_table(comparison: Comparison, metric_rows: MetricsByName = CATALOG) -> Table:
    """Return the slices with an improvement or a regression, and those that a rule of the gate names."""
    results = comparison.decision.results if comparison.decision is not None else ()
    gated = {(result.rule.slice, result.rule.metric) for result in results}
    rows = []
    for name, metrics in sorted(comparison.slices.items()):
        for metric, change in metrics.items():
            if change.verdict in ("improved", "regressed") or (name, metric) in gated:
                metric_row = find_metric_row(metric, metric_rows)
                if metric_row is None or metric_row.family != "operations":
                    rows.append((name, metric, *_format_change_cells(change, metric_rows)))
    hidden = len(rows) - MAX_SLICES_SHOWN
    left_out = [f"In the JSON report: {format_count(hidden, 'more row')}."] if hidden > 0 else []
    notes = ("Slices of fewer than 10 pairs are described but not tested.", *left_out) if rows else ()
    return Table(
        "Slices on which a change is shown",
        ("Slice", "Metric", *_CHANGE_COLUMNS),
        tuple(rows[:MAX_SLICES_SHOWN]),
        notes,
    )


def build_sides_table(comparison: Comparison) -> Table:
    """Return the two sides of the comparison: names, configurations, cases, golden sets, versions and judges."""
    rows = [
        (title, *(get_cell(side) for side in (comparison.baseline, comparison.candidate)))
        for title, get_cell in (
            ("Name", lambda side: side.name),
            ("Config", lambda side: side.config_id),
            ("Cases", lambda side: str(side.cases)),
            ("Golden set", lambda side: side.golden_digest[:19] + "…"),
            ("Versions", _format_versions),
            ("Judge", lambda side: side.judge or "none"),
        )
    ]
    return Table("Compared", ("", "Baseline", "Candidate"), tuple(rows))


def _format_versions(side: ComparisonSide) -> str:
    return ", ".join(f"{part} {' and '.join(values)}" for part, values in sorted(side.versions.items())) or "not stated"


def describe_unexplained(comparison: Comparison) -> str:
    """Return what to say where no sentence explains why the metrics moved: none did, or no case shows why."""
    shown = [name for name, change in comparison.metrics.items() if change.verdict in ("improved", "regressed")]
    if not shown:
        return _NOTHING_SHOWN
    return f"The traces of the cases do not show why these moved: {', '.join(shown)}."


def render_comparison_screen(
    comparison: Comparison, decision: Decision, metric_rows: MetricsByName = CATALOG
) -> Screen:
    """Return what `assay compare` prints: the decision, what changed, the tables; escaped for a terminal."""
    title = f"{comparison.candidate.name} compared with {comparison.baseline.name}"
    decided = build_decision_lines(title, decision)
    leaks = describe_leaks(comparison)
    head, *reasons = decided.lines
    lines = [leaks] if leaks and not list_leaking_cases(comparison).is_worse else []
    lines += ["What changed:", *(f" - {sentence}" for sentence in comparison.changed)]
    new_leaks = [escape_terminal(leaks)] if leaks and list_leaking_cases(comparison).is_worse else []
    if comparison.moved:
        lines += ["Why the metrics moved:", *(f" - {sentence}" for sentence in comparison.moved)]
    else:
        lines.append(describe_unexplained(comparison))
    tables = [build_metric_changes_table(comparison, metric_rows), build_regressions_table(comparison, metric_rows)]
    if comparison.decision is not None:
        tables.append(build_checklist_table({comparison.candidate.config_id: comparison.decision}, metric_rows))
    return Screen(
        (head, *new_leaks, *reasons, *(escape_terminal(line) for line in lines)),
        tuple(escape_table(table) for table in tables if table.rows),
        tuple(escape_terminal(note) for note in comparison.notes),
        (*decided.alerts, *new_leaks),
        decided.muted,
    )


def render_case_change(comparison: Comparison, case_id: str, metric_rows: MetricsByName = CATALOG) -> Screen:
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
        rows = _build_score_rows(change, metric_rows)
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
    metric_rows: MetricsByName = CATALOG,
    width: int = DEFAULT_WIDTH,
    most_lines: int = 2,
) -> Screen:
    """Return how one case changed, escaped for a terminal of `width` columns: cause, scores, moved evidence.

    Each of these has `most_lines` lines at most, the cause two, and one where it fits.
    """
    whole = render_case_change(comparison, case_id, metric_rows)
    change = next((record for record in comparison.cases if record.case_id == case_id), None)
    lines = [line.removeprefix(" - ") for line in whole.lines]
    if len(lines) > 1:
        lines = [" ".join(lines)]
    rows = _build_score_rows(change, metric_rows) if change is not None else []
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


def _build_score_rows(change: CaseChange, metric_rows: MetricsByName) -> list[tuple[str, ...]]:
    verdicts = {
        **dict.fromkeys(change.regressed, "worse"),
        **dict.fromkeys(change.improved, "better"),
        **dict.fromkeys(change.needs_review, "better, in review"),
    }
    rows: list[tuple[str, ...]] = []
    for metric in sorted(verdicts, key=_rank_metric):  # of equal rank, what got worse stays first
        before, after = change.scores[metric]
        formatted = (format_number(score, metric, metric_rows) for score in (before, after))
        rows.append((metric, *formatted, verdicts[metric]))
    return rows


_CASE_METRICS = ("visibility_leaks", "behaviour", "correct_answer", "correctness(by=judge)", "correctness(by=rules)")
"""What a change of one case is told by first: whether it leaked, did the right thing, and was right."""


def _rank_metric(metric: str) -> tuple[int, bool, bool]:
    place = _CASE_METRICS.index(metric) if metric in _CASE_METRICS else len(_CASE_METRICS)
    return place, metric not in HEADLINE_NAMES, metric in FORM_METRICS


def _describe_attribution(attribution: Attribution | None) -> str:
    if attribution is None:
        return "not attributed"
    text = attribution.verdict if attribution.cause is None else f"{attribution.verdict}, {attribution.cause}"
    return text.replace("_", " ")
