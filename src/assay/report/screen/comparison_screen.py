"""What `assay compare` prints unless it is asked for everything: at most 25 lines, the decision first.

A change is called improved or regressed only where its test and its interval agree (ADR 49) and it matters (ADR 90).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from assay.metrics.template_columns import find_first_present
from assay.records.counts import format_count
from assay.records.findings import (
    LABEL_FAILURES,
    METRIC_ERRORS,
    CaseChange,
    Comparison,
    MetricChange,
    describe_failed_evidence,
    describe_leaks,
    describe_unknown_now,
    list_leaking_cases,
)
from assay.records.release_gates import Decision
from assay.records.scores import TEST_SPLIT
from assay.report.findings.attribution_facts import format_cause_and_fix
from assay.report.findings.comparison_tables import build_metric_changes_table, describe_unexplained, format_confidence
from assay.report.findings.flipped_cases import FlippedCases, list_flipped_cases
from assay.report.findings.gate_tables import build_checklist_table
from assay.report.findings.regression_table import build_regressions_table
from assay.report.screen.fold_lines import fold_note
from assay.report.screen.run_summary import DEFAULT_WIDTH
from assay.report.screen.terminal import DecisionLines, Screen, build_decision_lines, escape_table
from assay.report.wording.answer_metrics import list_headlines
from assay.report.wording.change_order import (
    describe_checkable,
    describe_claim_limit,
    measure_strength,
    rank_importance,
)
from assay.report.wording.change_values import describe_unknown, format_sides, format_signed
from assay.report.wording.metric_titles import format_metric_title
from assay.report.wording.short_names import shorten_names
from assay.scoring.change_tests import ONE_RUN_EACH
from assay.scoring.unlabelled_scores import NO_LABELS
from assay.scoring.version_match import VERSIONS
from assay.text.escaping import escape_terminal, shorten_at_word

MAX_LINES = 25
_FEWEST_LINES = 11
_FAILED = "failed"
_NAMED = 3
_MAX_NOTES = 2
_HEADLINES_KEPT = 2
_TITLE_WORDS = 35  # " compared with ", ": " and the longest outcome
_SIGNIFICANT = ("regressed", "improved")
_LATENCY = "latency_ms"


class _LineBudget(NamedTuple):
    """How many lines each part of a screen may take."""

    reasons: int
    differences: int
    changes: int
    explanations: int
    cases: int


def list_significant_changes(comparison: Comparison) -> list[MetricChange]:
    """Return the significant changes, the most important first: headline metrics, the rest, time and money, and
    what could be checked; in each the strongest first, by the interval's distance from 0.

    Distances of different units are compared as shares of the interval's width, regressions before improvements of the
    same strength, metrics over all cases before slices.
    """
    changes = [*comparison.metrics.values()]
    changes += [change for metrics in comparison.slices.values() for change in metrics.values()]
    significant = [change for change in changes if change.verdict in _SIGNIFICANT]
    significant.sort(key=_get_order)
    return significant


def _get_order(change: MetricChange) -> tuple[bool, bool, int, float, bool]:
    importance = rank_importance(change)
    is_checkable, is_slice = bool(describe_checkable(change.metric)), change.slice is not None
    return is_checkable, is_slice, importance, -measure_strength(change), change.verdict == "improved"


def render_short_comparison(
    comparison: Comparison,
    decision: Decision,
    width: int = DEFAULT_WIDTH,
    max_lines: int = MAX_LINES,
) -> Screen:
    """Return the comparison in at most `max_lines` lines (11 at least) of `width` columns, cut between words.

    Decision with its reasons, what became of leaks (new ones first), what differs between the sides, significant
    changes, strongest first, and why they moved, the cases whose outcome flipped. Everything is escaped for a terminal.
    """
    notes = _build_note_lines(comparison, width)
    leak_sentence = escape_terminal(describe_leaks(comparison))
    leaks = [leak_sentence] if leak_sentence else []
    budget = _share_lines(max(max_lines - max(len(notes) - _MAX_NOTES, 0), _FEWEST_LINES))
    decided = build_decision_lines(_build_title(comparison, width), decision)
    head, *reasons = decided.lines
    new_leaks = leaks if list_leaking_cases(comparison).is_worse else []
    lines = [head, *new_leaks, *_fold_reasons(reasons, budget.reasons, width)]
    lines += [] if new_leaks else leaks
    lines += _build_list("What differs", comparison.changed, budget.differences, width)
    lines += _build_change_lines(comparison, max(1, budget.changes - len(leaks)), width)
    if comparison.moved:
        lines += _build_list("Why", comparison.moved, budget.explanations, width)
    lines += _build_case_lines(comparison, budget.cases, width)
    lines += notes
    cut = [shorten_at_word(line, width) for line in lines]
    cut = cut[:max_lines]
    alerts, muted = _cut_marks(decided, width)
    return Screen(tuple(cut), (), (), (*alerts, *(shorten_at_word(line, width) for line in new_leaks)), muted)


def _cut_marks(decided: DecisionLines, width: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    alerts = tuple(shorten_at_word(line, width) for line in decided.alerts)
    return alerts, tuple(shorten_at_word(line, width) for line in decided.muted)


def _share_lines(most: int) -> _LineBudget:
    """Return the share of each part; heads and two notes take seven lines of their own."""
    spare = most - 7
    shares = (5, 2, 5, 2, 4)
    return _LineBudget(*(max(1, spare * share // sum(shares)) for share in shares))


def _fold_reasons(reasons: Sequence[str], most: int, width: int) -> list[str]:
    """Return the reasons, each in two lines where there is room for that: what to do stands at their end."""
    if 2 * len(reasons) > most:
        return _cut_list(reasons, most)
    lines: list[str] = []
    for reason in reasons:
        lines += textwrap.wrap(
            reason.strip(),
            width,
            initial_indent=" ",
            subsequent_indent="   ",
            max_lines=2,
            placeholder=" …",
            break_on_hyphens=False,
            break_long_words=False,
        )
    return lines


def _cut_list(lines: Sequence[str], most: int) -> list[str]:
    """Return at most so many lines; the last says how many are left out, a single one how many there are."""
    if len(lines) <= most:
        return list(lines)
    if most == 1:  # nothing but a count of what is left out tells nothing
        return [lines[0].replace(" - ", f" - first of {len(lines)}: ", 1)]
    left_out = len(lines) - most + 1
    return [*lines[: most - 1], f" - and {left_out} more: --verbose"]


def _build_list(title: str, sentences: Sequence[str], most: int, width: int) -> list[str]:
    """Return a title with a single sentence on its line, or with several below it."""
    escaped = [escape_terminal(sentence) for sentence in sentences]
    if len(escaped) == 1:
        return textwrap.wrap(f"{title}: {escaped[0]}", width, max_lines=2, placeholder=" …", break_on_hyphens=False)
    return [f"{title}:", *_cut_list([f" - {sentence}" for sentence in escaped], most)]


def _build_change_lines(comparison: Comparison, most: int, width: int) -> list[str]:
    scope = _describe_tests(comparison)
    if _count_unpaired(comparison):
        scope += f", on {format_count(comparison.metrics[_FAILED].n, 'case')} that both sides answered"
    significant = list_significant_changes(comparison)
    if significant:
        head = f"{_lead_with_worse_cases(comparison)} changes, most important first ({scope}):"
        heading = textwrap.wrap(head, width, break_on_hyphens=False)
        most = max(1, most - len(heading) + 1)
        lines = _list_change_lines(comparison, _put_regressed_first(significant, most - 1), most)
        cut = _cut_list(lines, most)
        left_out = [change.verdict for change in significant].count("regressed") - sum(
            " regressed" in line for line in cut
        )
        if len(cut) < len(lines) and left_out > 0:
            cut[-1] = cut[-1].replace(" more:", f" more ({left_out} regressed):")
        return [*heading, *cut]
    lines = [f" - {_describe_movement(*item)}" for item in _list_headline_movements(comparison)]
    if not lines:
        whole = f"No significant change ({scope}){_name_worse_cases(comparison)}."
        return textwrap.wrap(whole, width, break_on_hyphens=False)
    head = f"No significant change ({scope}), and what moved may be due to chance{_name_worse_cases(comparison)}:"
    return [*textwrap.wrap(head, width, break_on_hyphens=False), *_cut_list(lines, most)]


def _list_change_lines(comparison: Comparison, significant: Sequence[MetricChange], most: int) -> list[str]:
    """Return the significant changes with the headline metrics that moved otherwise, before slices and within `most`
    lines: a secondary metric that is significant does not hide that answers may have got worse."""
    others = _list_headline_movements(comparison)
    others = [(title, change) for title, change in others if change.verdict not in _SIGNIFICANT]
    others = [(title, change) for title, change in others if rank_importance(change) == 0]
    others.sort(key=lambda item: _measure_balance(item[1]))
    lines = [f" - {_describe_movement(title, change, 'not significant')}" for title, change in others]
    leading = [change for change in significant if change.slice is None and _leads(change)]
    leading = leading[: max(1, most - 1 - min(len(others), _HEADLINES_KEPT))] if others else leading
    rest = [change for change in significant if change not in leading]
    first, last = ([f" - {describe_change(change)}" for change in changes] for changes in (leading, rest))
    return [*first, *lines[:_HEADLINES_KEPT], *last, *lines[_HEADLINES_KEPT:]]


def _leads(change: MetricChange) -> bool:
    """Return whether a significant change comes before headlines that moved otherwise: a headline or a regression."""
    return rank_importance(change) == 0 or is_regressed(change)


def _measure_balance(change: MetricChange) -> float:
    """Return on which share of its cases a metric got better, minus that on which it got worse."""
    return (len(change.improved) - len(change.regressed)) / max(1, change.n)


def _lead_with_worse_cases(comparison: Comparison) -> str:
    """Return the word that begins a list of significant changes: after the cases that fail now, where these are more
    than those that fail no longer and the list does not say so. Better retrieval must not hide worse answers."""
    flipped = list_flipped_cases(comparison)
    failed = comparison.metrics.get(_FAILED)
    is_listed = failed is not None and failed.verdict == "regressed"
    if is_listed or len(flipped.fail_now) <= len(flipped.fail_no_longer):
        return "Significant"
    worse = format_count(len(flipped.fail_now), "case fails", "cases fail")
    return f"{worse} now and did not before, {len(flipped.fail_no_longer)} no longer (see Cases). Significant"


def _describe_tests(comparison: Comparison) -> str:
    """Return how many tests the intervals are widened for: those those in which enough cases differ."""
    tested = [change for change in comparison.metrics.values() if change.p is not None]
    slice_changes = [change for metrics in comparison.slices.values() for change in metrics.values()]
    in_slices = [change for change in slice_changes if change.p is not None]
    if len(tested) + len(in_slices) <= 1:
        return f"{format_count(len(tested), 'metric')} tested"
    if not any(change.counted for change in (*tested, *in_slices)):
        return f"too few cases differ for any of {format_count(len(tested), 'metric')}"
    scope = f"intervals widened for {_count_counted(tested, 'metric')}"
    return f"{scope}, {_count_counted(in_slices, 'test')} on slices" if in_slices else scope


def _count_counted(tested: Sequence[MetricChange], noun: str) -> str:
    """Return how many of some tests are counted, such as `3 of 61 metrics`, or `61 metrics` for all of them."""
    counted = sum(change.counted for change in tested)
    of_all = format_count(len(tested), noun)
    return of_all if counted == len(tested) else f"{counted} of {of_all}"


def _name_worse_cases(comparison: Comparison) -> str:
    """Return that cases fail which did not before, in words that follow "no significant change"; "" if none does.

    No metric moved by more than chance may, and still each of these cases has a cause that is worth a look.
    """
    worse = len(list_flipped_cases(comparison).fail_now)
    if not worse:
        return ""
    return f"; but {format_count(worse, 'case fails', 'cases fail')} now and did not before (see Cases)"


def _put_regressed_first(significant: Sequence[MetricChange], room: int) -> list[MetricChange]:
    """Return the changes with a regressed one among the first `room`, if there is one: where all that is read got
    better, what got worse is not left out."""
    first, rest = list(significant[:room]), list(significant[room:])
    regressed = next((change for change in rest if is_regressed(change)), None)
    if room < 2 or regressed is None or any(map(is_regressed, first)):
        return [*first, *rest]
    rest.remove(regressed)
    return [*first[:-1], regressed, first[-1], *rest]


def is_regressed(change: MetricChange) -> bool:
    """Return whether a change is a significant regression of more than what could be checked."""
    return change.verdict == "regressed" and not describe_checkable(change.metric)


def describe_change(change: MetricChange) -> str:
    """Return a significant change in a line: its sides, its gain with the interval, how many cases moved."""
    where = f" on {change.slice}" if change.slice is not None else ""
    before, after = format_sides(change)
    low, high = (format_signed(bound, change.metric) for bound in (change.low, change.high))
    interval = f"interval {low} to {high}{format_confidence(change)}"
    if change.unknown is not None:
        interval = f"{describe_unknown(change)}, {interval}"
    counts = f"{len(change.improved)} better, {len(change.regressed)} worse"
    note = describe_claim_limit(change)
    remark = f" ({note})" if note else ""
    title = format_metric_title(change.metric)
    return escape_terminal(f"{title}{where} {change.claim}{remark}: {before} → {after}, {interval}; {counts}")


def _list_headline_movements(comparison: Comparison) -> list[tuple[str, MetricChange]]:
    """Return the headline metrics that moved on some case with their titles, largest share of moved cases first."""
    moved = []
    for title, names in list_headlines(comparison.metrics):
        name = find_first_present(names, comparison.metrics)
        change = comparison.metrics[name] if name is not None else None
        if change is None or not _has_moved(change):
            continue
        moved.append((title, change))
    moved.sort(key=lambda item: -_count_moved(item[1]))  # stable: headlines in their order
    return moved


def _describe_movement(title: str, change: MetricChange, remark: str = "") -> str:
    """Return how a headline moved in a line, with a `remark` unless the line says it of itself."""
    before, after = format_sides(change)
    open_gain = _describe_open_gain(change) if change.unknown is not None else ""
    title = f"{title} ({remark})" if remark and remark not in open_gain else title
    counts = f"{len(change.improved)} better, {len(change.regressed)} worse of {change.n}"
    if change.unknown is not None:
        return escape_terminal(f"{title}: {before} → {after}{open_gain}")
    low, high = (format_signed(bound, change.metric) for bound in (change.low, change.high))
    interval = f"interval {low} to {high}{format_confidence(change)}"
    return escape_terminal(f"{title}: {before} → {after}; {counts}; {interval}")


def _describe_open_gain(change: MetricChange) -> str:
    """Return the gain with the unknown answers at worst and at best; first, that they leave the direction open."""
    unknown = change.unknown
    assert unknown is not None
    low, high = (format_signed(gain, change.metric) for gain in unknown.gain)
    if unknown.direction == "not known":
        return f": direction not known ({unknown.answers} unknown), {low} to {high}"
    if unknown.is_gain_known:
        return f" ({describe_unknown(change)}); gain {low}"
    claim = (
        f"{unknown.direction} whatever these are" if change.verdict in ("improved", "regressed") else "not significant"
    )
    return f" ({unknown.answers} unknown); gain {low} to {high}, {claim}"


def _count_moved(change: MetricChange) -> int:
    unknown = len(change.unknown.cases) if change.unknown is not None else 0
    return len(change.improved) + len(change.regressed) + unknown


def _has_moved(change: MetricChange) -> bool:
    if change.unknown is not None:
        return bool(change.improved or change.regressed or change.unknown.is_one_sided)
    return change.baseline is not None and change.baseline != change.candidate and change.low is not None


def _count_unpaired(comparison: Comparison) -> int:
    failed = comparison.metrics.get(_FAILED)
    return len(failed.unpaired) if failed is not None else 0


def _has_failed_case(comparison: Comparison) -> bool:
    """Whether a case failed on both sides, or nothing tells."""
    failed = comparison.metrics.get(_FAILED)
    return failed is None or failed.baseline is None or failed.baseline > 0


def _build_case_lines(comparison: Comparison, most: int, width: int) -> list[str]:
    flipped = list_flipped_cases(comparison)
    if not flipped.fail_now and not flipped.fail_no_longer:
        changed = sum(bool(case.improved or case.regressed) for case in comparison.cases)
        others = f"; scores differ on {format_count(changed, 'case')}" if changed else ""
        unpaired = _count_unpaired(comparison)
        if unpaired:
            others += f"; {format_count(unpaired, 'is', 'are')} answered on one side only"
        paired = " that both sides answered" if unpaired else ""
        same = "the same ones fail on both sides" if _has_failed_case(comparison) else "none fails on either side"
        return [f"Cases{paired}: {same}{_name_further_failures(comparison, flipped, 'of them', 'of them')}{others}."]
    by_id = {case.case_id: case for case in comparison.cases}
    short = shorten_names((*flipped.fail_now, *flipped.fail_no_longer), width // 4)
    lines = []
    for case_id in flipped.fail_now:
        line, remedy = _describe_flip(case_id, by_id.get(case_id))
        if len(line) > width:
            line, remedy = _describe_flip(case_id, by_id.get(case_id), short[case_id])
        lines.append(line + remedy if len(line + remedy) <= width else line)
    more = ", …" if len(flipped.fail_no_longer) > _NAMED else ""
    no_longer = flipped.fail_no_longer[:_NAMED]
    unpaired = _count_unpaired(comparison)
    evidence = describe_failed_evidence(comparison)
    titles = []
    for names in (no_longer, [short[case_id] for case_id in no_longer]):
        named = ", ".join(names) + more + describe_unknown_now(comparison, flipped.fail_no_longer)
        counts = f"{len(flipped.fail_now)} fail now, {len(flipped.fail_no_longer)} no longer"
        counts += f" ({named})" if named else ""
        counts += _name_further_failures(comparison, flipped, "fails", "fail")
        counts += f", {unpaired} answered on one side only" if unpaired else ""
        counts += f"; {evidence}" if evidence else ""
        titles.append(escape_terminal(f"Cases: {counts}") + (":" if lines else ""))
    title = titles[0] if len(titles[0]) <= width else titles[1]
    folded = textwrap.wrap(title, width, max_lines=2, placeholder=" …", break_on_hyphens=False)
    return [*folded, *_cut_list(lines, max(1, most + 1 - len(folded)) if lines else most)]


def _name_further_failures(comparison: Comparison, flipped: FlippedCases, one: str, several: str) -> str:
    """Return how many cases that failed before fail in another way, the first of them with the check that it fails
    now; "" if none does. `one` and `several` are the words after their number."""
    if not flipped.fail_too:
        return ""
    checks = next(case.fails_too for case in comparison.cases if case.case_id == flipped.fail_too[0])
    first = f"{flipped.fail_too[0]}: {', '.join(checks)}" + (", …" if len(flipped.fail_too) > 1 else "")
    return f", {format_count(len(flipped.fail_too), one, several)} in another way ({first})"


def _describe_flip(case_id: str, change: CaseChange | None, name: str = "") -> tuple[str, str]:
    """Return what happened to a case that fails now, by its id or another `name`, and what to try first."""
    case_id = name or case_id
    if change is None or change.after is None or change.after.cause is None:
        return escape_terminal(f" - {case_id}"), ""
    cause, fix = format_cause_and_fix(change.after)
    first = fix.split("; ")[0]
    return escape_terminal(f" - {case_id}: {cause}"), escape_terminal(f" → {first}") if first else ""


_MARKS = (METRIC_ERRORS, LABEL_FAILURES, VERSIONS, NO_LABELS, TEST_SPLIT)


def _build_time_lines(comparison: Comparison, width: int) -> list[str]:
    """Return how much slower or faster a run was than its baseline, where that is more than chance between cases."""
    change = comparison.metrics.get(_LATENCY)
    remark = next((part for part in change.note.split("; ") if ONE_RUN_EACH in part), "") if change is not None else ""
    if change is None or not remark:
        return []
    before, after = format_sides(change)
    return fold_note(escape_terminal(f"{_LATENCY} {before} → {after}, {remark}"), width, "", 2)


def _build_note_lines(comparison: Comparison, width: int) -> list[str]:
    """Return what versions share, that nobody labelled, the looks at a test split, and the first other note."""
    marks = [next((note for note in comparison.notes if mark in note), "") for mark in _MARKS]
    shown = [note for note in dict.fromkeys(marks) if note]
    others = [note for note in comparison.notes if note not in shown]
    shown += others[: max(1, _MAX_NOTES - len(shown))]
    hidden = len(comparison.notes) - len(shown)
    more = f" (and {hidden} more: --verbose)" if hidden else ""
    lines = _build_time_lines(comparison, width)
    for number, note in enumerate(shown, 1):
        suffix = more if number == len(shown) else ""
        is_marked = any(mark in note for mark in _MARKS)
        lines += fold_note(escape_terminal(note), width, suffix, 3 if is_marked else 1)
    return lines


def _build_title(comparison: Comparison, width: int) -> str:
    """Return which sides are compared; of paths that would not fit beside the outcome, the last part."""
    names = comparison.candidate.name, comparison.baseline.name
    if sum(map(len, names)) + _TITLE_WORDS > width:
        candidate, baseline = (name.rstrip("/").rpartition("/")[2] for name in names)
        names = (candidate, baseline)
    return f"{names[0]} compared with {names[1]}"


def render_comparison_screen(comparison: Comparison, decision: Decision) -> Screen:
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
    tables = [build_metric_changes_table(comparison), build_regressions_table(comparison)]
    if comparison.decision is not None:
        tables.append(build_checklist_table({comparison.candidate.config_id: comparison.decision}))
    return Screen(
        (head, *new_leaks, *reasons, *(escape_terminal(line) for line in lines)),
        tuple(escape_table(table) for table in tables if table.rows),
        tuple(escape_terminal(note) for note in comparison.notes),
        (*decided.alerts, *new_leaks),
        decided.muted,
    )
