"""The short screen of a run: what was decided and why, headline metrics, failed cases with cause and fix.

It has at most 25 lines for a run of any size, and no line is longer than the terminal is wide; `assay score --verbose`
prints everything (`report/screen/terminal.py`).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from assay.metrics.answers.nuggets import NUGGET_METRICS_BY_JUDGE, NUGGET_METRICS_BY_RULES
from assay.metrics.case_checks import CORRECT_ANSWER, LEAK
from assay.metrics.catalog import CATALOG, parse_metrics
from assay.metrics.metric import parse_metric_name
from assay.metrics.template_columns import ANSWER, FAITHFULNESS, FIRST_METRICS, RELEVANCE, MetricNames
from assay.records.counts import format_count
from assay.records.findings import Attribution, Comparison, MetricChange
from assay.records.release_gates import Outcome
from assay.records.scores import SCORED, CaseChecks, ConfigResult, ScoringResult, Summary, TwinRate
from assay.report.findings.doubts import is_misread, list_doubts
from assay.report.findings.failure_tables import count_outcomes, format_cause_and_fix
from assay.report.findings.measured_headlines import find_measured_summary, name_rankings
from assay.report.findings.slice_tables import build_slices_table
from assay.report.findings.target_errors import FoldedFailures, fold_failures, order_reasons
from assay.report.screen.terminal import DecisionLines, Screen, build_decision_head, escape_table, list_remedies
from assay.report.wording.answer_metrics import list_answer_metrics
from assay.report.wording.change_values import format_sides, format_signed
from assay.report.wording.number_format import (
    NOT_AVAILABLE,
    MetricsByName,
    find_common_reason,
    find_source_column,
    format_number,
    format_open_counts,
    format_value,
)
from assay.report.wording.short_names import ELLIPSIS, shorten_names
from assay.scoring.case_outcomes import UNANSWERED_CHECKS, count_cases, format_case_counts, list_failed_cases
from assay.scoring.judged_answers import describe_judged_unknowns
from assay.scoring.passed_answers import PASSES_READ
from assay.scoring.unlabelled_scores import NO_LABELS, VALUE_OF_LABELS
from assay.text.escaping import escape_terminal, shorten_at_word

DEFAULT_WIDTH = 100
MAX_LINES = 23
"""Two of the 25 lines are left to the files that were written and the next command."""
MAX_DECISION_LINES, MAX_METRICS, MAX_FAILED_CASES, MAX_CONFIGS = 5, 6, 5, 5
MAX_ERROR_LINES = 8
"""Lines on the errors of targets, beyond those on the decisions: for one target, two for each of three errors and one
on the others; for two, four each."""
_LINES_ON_CASES, _FEWEST_METRIC_LINES = 7, 3
_LABEL_WIDTH = 22
_MAX_NOTES = 2
_MAX_DOUBTS = 4
_MAX_OWN_METRICS = 3
_ASKED_OF_A_JUDGE = (("Faithfulness", FAITHFULNESS), ("Answer relevance", RELEVANCE))
_SEVERITY: tuple[Outcome, ...] = ("FAIL", "INCOMPLETE", "PASS_WITH_RISK", "PARTIAL", "NOT_GATED", "PASS")


def render_run_summary(
    scoring: ScoringResult,
    attributions: Mapping[str, Mapping[str, Attribution]],
    comparisons: Mapping[str, Comparison],
    width: int = DEFAULT_WIDTH,
    metrics: Sequence[str] = (),
    by: Sequence[str] = (),
    metric_rows: MetricsByName = CATALOG,
) -> Screen:
    """Return the short screen, escaped for a terminal of `width` columns.

    `attributions` give the causes of failed cases, by configuration and case; `comparisons` the changes since the
    baseline, by configuration. Either may be empty. `metrics`, all of them, are shown in place of the headline and of
    the failed cases, and `by` names the keys whose slices are shown.
    """
    configs = _order_by_severity(scoring)
    failures = _fold_all_failures(scoring, configs, width)
    decisions = _allot_lines(scoring, configs, failures, width)
    shown_configs = configs[:MAX_CONFIGS]
    lines = list(decisions.lines)
    lines += _build_doubt_lines(scoring, comparisons, width, metric_rows)
    if scoring.looks is not None:
        lines.append(shorten_at_word(escape_terminal(scoring.looks.describe()), width))
    unlabelled = _build_unlabelled_lines(scoring, width)
    lines += unlabelled
    labelled = _name_themselves(metrics)
    if not labelled:
        results = [scoring.configs[config] for config in shown_configs]
        labelled = [*_name_answer_metric(results), *name_rankings(FIRST_METRICS[1:], results)]
        labelled = [("Nuggets, NO LABELS", _NUGGETS), *labelled] if unlabelled else labelled
        labelled = [*_name_own_metrics(results)[:_MAX_OWN_METRICS], *labelled]
    limit = len(labelled) if metrics else MAX_METRICS
    metric_lines = _build_metric_lines(scoring, shown_configs, comparisons, width, labelled, metric_rows)[: limit + 1]
    notes = _build_note_lines(scoring, width, [label for label, _ in labelled] if metrics else ())
    if not metrics:  # where much is to be said before them, the first ones stay
        metric_lines = metric_lines[: max(MAX_LINES - len(lines) - len(notes) - _LINES_ON_CASES, _FEWEST_METRIC_LINES)]
    if metric_lines:
        lines += ["", *metric_lines]
    if not metrics:
        variants = _build_variant_lines(scoring, shown_configs, width)
        outcome_lines = _build_outcome_lines(attributions, shown_configs, width)
        room = max(MAX_LINES - len(lines) - len(variants) - len(notes), 0)
        explained = {config: folded.case_ids for config, folded in failures.items()}
        failed_lines = _build_failed_lines(
            scoring, configs, attributions, explained, width, room - len(outcome_lines) - 1
        )
        if attributions or failed_lines:
            lines += ["", *outcome_lines, *failed_lines][:room]
        lines += variants
    lines += notes
    tables = [build_slices_table(scoring, metric_rows, only=by)] if by else []
    tables = [escape_table(table) for table in tables if table.rows]
    return Screen(tuple(lines), tuple(tables), (), decisions.alerts, decisions.muted)


def _build_doubt_lines(
    scoring: ScoringResult, comparisons: Mapping[str, Comparison], width: int, metric_rows: MetricsByName
) -> list[str]:
    """Return at most four things to doubt although nothing failed, each in a line; a remedy stays where one is cut.

    What people found of passes has two lines, because its figures are at the end.
    """
    doubts = list_doubts(scoring, comparisons, metric_rows)
    shown = doubts if len(doubts) <= _MAX_DOUBTS else doubts[: _MAX_DOUBTS - 1]
    lines: list[str] = []
    for line in map(escape_terminal, shown):
        if PASSES_READ in line:
            lines += textwrap.wrap(line, width, max_lines=2, placeholder=" …", break_on_hyphens=False)
        else:
            lines.append(_shorten_before_remedy(line, width))
    if len(shown) < len(doubts):
        lines.append(f"and {format_count(len(doubts) - len(shown), 'more doubt')}: --verbose")
    return lines


def _shorten_before_remedy(line: str, width: int) -> str:
    """Return a line cut before the remedy at its end, which stays unless it would take the place of the sentence: of a
    sentence that is followed by names only the names are cut."""
    remedy = _REMEDY.search(line)
    if len(line) <= width or remedy is None:
        return shorten_at_word(line, width)
    sentence, colon, names = line[: remedy.start()].rpartition(": ")
    room = width - len(remedy[0])
    if room < len(sentence if colon else names) and (colon or len(names) <= width - len(_CUT)):
        return shorten_at_word(line, width)
    return shorten_at_word(line[: remedy.start()], room) + remedy[0]


_CUT = ": …"


_NUGGETS = (NUGGET_METRICS_BY_JUDGE[0], NUGGET_METRICS_BY_RULES[0])
_MAX_LINES_ON_LABELS = 2


def _build_unlabelled_lines(scoring: ScoringResult, width: int) -> list[str]:
    """Return the mark of scores that rest on nobody's labels, in two lines, and what labels would allow."""
    marks = {note for result in scoring.configs.values() for note in result.table.notes if note.startswith(NO_LABELS)}
    if not marks:
        return []
    folded = textwrap.wrap(escape_terminal(min(marks)), width, break_on_hyphens=False)
    room = [*folded[:1], shorten_at_word(" ".join(folded[1:]), width)] if len(folded) > 1 else folded
    warnings = [line for line in scoring.warnings if VALUE_OF_LABELS in line]
    warnings.sort(key=lambda line: " and " not in line.partition(":")[0])  # pairs of configurations before single ones
    return [*room, *(shorten_at_word(escape_terminal(line), width) for line in warnings[:_MAX_LINES_ON_LABELS])]


def _name_themselves(metrics: Sequence[str]) -> list[tuple[str, MetricNames]]:
    """Return metrics as rows that carry their own names."""
    return [(str(name), (str(name),)) for name in parse_metrics(metrics)]


def _name_own_metrics(results: Sequence[ConfigResult]) -> list[tuple[str, MetricNames]]:
    """Return the metrics that somebody added and asked for: nobody asks for them by default."""
    names = dict.fromkeys(name for result in results for name in result.summary)
    own = [name for name in names if CATALOG.get_plugin(parse_metric_name(name).base) is not None]
    return [(name, (name,)) for name in own]


def _name_answer_metric(results: Sequence[ConfigResult]) -> list[tuple[str, MetricNames]]:
    """Return the metrics of right answers that were measured, under their own names."""
    return [(title, (name,)) for title, name in list_answer_metrics(results)]


def _order_by_severity(scoring: ScoringResult) -> list[str]:
    """Return the configurations, by name; if there are too many to show all, those with the worst outcome first."""
    names = sorted(scoring.configs)
    if len(names) <= MAX_CONFIGS:
        return names

    def rank(config: str) -> int:
        decision = scoring.configs[config].decision
        return _SEVERITY.index(decision.outcome) if decision is not None else len(_SEVERITY)

    return sorted(names, key=rank)


def _fold_all_failures(scoring: ScoringResult, configs: Sequence[str], width: int) -> dict[str, FoldedFailures]:
    """Return the errors of the target of each configuration that is titled, as lines that are shared among them."""
    failing = [config for config in _list_titled(configs) if scoring.failures.get(config)]
    folded: dict[str, FoldedFailures] = {}
    spare = MAX_ERROR_LINES
    for position, config in enumerate(failing):
        folded[config] = fold_failures(scoring.failures[config], width, spare // (len(failing) - position))
        spare -= len(folded[config].lines)
    return folded


def _list_titled(configs: Sequence[str]) -> Sequence[str]:
    return configs[: MAX_DECISION_LINES - 1] if len(configs) > MAX_DECISION_LINES else configs


def _allot_lines(
    scoring: ScoringResult, configs: Sequence[str], failures: Mapping[str, FoldedFailures], width: int
) -> DecisionLines:
    """Return the titles of all decisions, as far as there is room, with the errors of their targets, and share the
    other lines among their reasons."""
    titled = _list_titled(configs)
    spare = MAX_DECISION_LINES - len(titled) - (len(titled) < len(configs))
    lines: list[str] = []
    alerts: list[str] = []
    muted: list[str] = []
    for position, config in enumerate(titled):
        decided = build_decision_head(config, scoring)
        ordered = _order_by_subject(decided.lines[1:])
        shown = _shorten_reasons(ordered, spare // (len(titled) - position), width)
        folded = ["\n".join(reason_lines) for reason_lines in shown]
        spare -= sum(map(len, shown))
        errors = failures[config].lines if config in failures else []
        lines.append(_shorten_title(decided.lines[0], width))
        for told in order_reasons(errors, folded, scoring.configs[config].decision):
            lines += told.split("\n")
        for reason, reason_lines in zip(ordered, shown, strict=False):
            alerts += reason_lines if reason in decided.alerts else []
        muted += [_shorten_title(head, width) for head in decided.muted]
    if len(titled) < len(configs):
        lines.append(f"and {format_count(len(configs) - len(titled), 'more configuration')}")
    return DecisionLines(tuple(lines), tuple(alerts), tuple(muted))


def _shorten_reasons(reasons: Sequence[str], share: int, width: int) -> list[list[str]]:
    """Return the lines of each reason, at most so many for all; long ones are folded where lines are left, and the last
    line says how many more reasons there are."""
    if len(reasons) <= share:
        left, shown = share - len(reasons), []
        for reason in reasons:
            shown.append(_fold_reason(reason, width, 1 + min(left, _MOST_FOLDS)))
            left -= len(shown[-1]) - 1
        return shown
    if share == 1:  # the first reason says more than that there are some
        more = f" (and {len(reasons) - 1} more: --verbose)"
        return [[shorten_at_word(reasons[0], width - len(more)) + more]]
    shown = [[shorten_at_word(reason, width)] for reason in reasons[: max(share - 1, 0)]]
    left_out = format_count(len(reasons) - len(shown), "more reason")
    return [*shown, [f" - and {left_out}: --verbose"]] if share else shown


def _shorten_title(title: str, width: int) -> str:
    """Return the title of a decision; of one that is too long the name is cut, never the outcome.

    >>> _shorten_title("a-configuration-with-a-long-name: FAIL", 20)
    'a-configurati…: FAIL'
    """
    name, _, outcome = title.rpartition(": ")
    if len(title) <= width or not name:
        return shorten_at_word(title, width)
    return f"{name[: max(width - len(outcome) - 3, 1)]}…: {outcome}"


_MOST_FOLDS = 2
"""The most lines that are added to one reason."""


def _fold_reason(reason: str, width: int, most_lines: int) -> list[str]:
    """Return a reason in at most so many lines; one that is too long for them is cut to one, before its remedy."""
    lines = textwrap.wrap(reason, width, subsequent_indent="   ", break_on_hyphens=False)
    return lines if len(lines) <= most_lines else [_shorten_before_remedy(reason, width)]


def _order_by_subject(reasons: Sequence[str]) -> list[str]:
    """Return the reasons with the first of each metric before the further ones, which name a slice of the same."""
    first_reasons: dict[str, str] = {}
    further_reasons = []
    for reason in reasons:
        subject = reason.removeprefix(" - ").partition(" ")[0]
        if subject.isdecimal():  # a count of cases, which is no metric
            subject = reason
        if first_reasons.setdefault(subject, reason) is not reason:
            further_reasons.append(reason)
    return [*first_reasons.values(), *further_reasons]


def _build_metric_lines(
    scoring: ScoringResult,
    configs: Sequence[str],
    comparisons: Mapping[str, Comparison],
    width: int,
    labelled: Sequence[tuple[str, MetricNames]],
    metric_rows: MetricsByName,
) -> list[str]:
    label_width = max(_LABEL_WIDTH, *(len(label) + 2 for label, _ in labelled))
    widest = _WIDEST_RANGES if _has_unknown_changes(comparisons) else _WIDEST
    column_width = min((width - label_width) // max(len(configs), 1), widest)
    rows: list[tuple[str, list[str]]] = []
    for label, names in labelled:
        summaries = [find_measured_summary(names, scoring.configs[config].summary) for config in configs]
        if not any(summary is not None and summary.value is not None for summary in summaries):
            continue
        cells = []
        for config, summary in zip(configs, summaries, strict=True):
            cells.append(_format_cell(summary, comparisons.get(config), column_width, metric_rows))
        rows.append((label, cells))
    if not rows:
        return []
    short_names = shorten_names(configs, max(column_width - 1, _SHORTEST_TITLE))
    lines = [_align_row("", label_width, [short_names[config] for config in configs], column_width)]
    for label, cells in rows:
        lines.append(_align_row(label, label_width, cells, column_width))
    return lines


def _build_note_lines(scoring: ScoringResult, width: int, named: Sequence[str]) -> list[str]:
    """Return at most two lines: why metrics that were `named` have no score, who judged, what to do, other notes."""
    prefixed = len(scoring.configs) > 1
    notes = _explain_unscored(named, scoring)
    for config, result in sorted(scoring.configs.items()):
        others = [note for note in result.table.notes if not note.startswith(NO_LABELS)]
        notes += [f"{config}: {note}" if prefixed else note for note in others]
    unscored = [metric for metric in _list_metrics(scoring) if not _has_value((metric,), scoring)]
    remedies = list_remedies(unscored, scoring)
    unmeasured = [] if named or scoring.decision.unanswered else _list_unmeasured(scoring)
    if unmeasured and not remedies:
        remedies.append(f"not measured: {', '.join(unmeasured)} (run `assay judge`)")
    notes += [*remedies, *(warning for warning in scoring.warnings if not is_misread(warning))]
    # Access that nobody checked first, for no number tells of it; then a judge that failed its controls or never
    # answered, and scores in which leaks count, before the rest.
    notes.sort(key=lambda note: (_UNCHECKED_ACCESS not in note, _URGENT.search(note) is None))
    more = f" (and {len(notes) - _MAX_NOTES} more: --verbose)" if len(notes) > _MAX_NOTES else ""
    lines = []
    for number, note in enumerate(notes[:_MAX_NOTES], 1):
        suffix = more if number == _MAX_NOTES else ""
        most_lines = 1 if len(notes) > 1 and _TWO_LINES.search(note) is None else 2
        lines += fold_note(escape_terminal(_shorten_digests(note)), width, suffix, most_lines)
    return lines


def _shorten_digests(note: str) -> str:
    """Return a note with the first characters of its digests: whole ones leave no room for the rest.

    >>> _shorten_digests("judged by m (sha256:" + "0" * 64 + "), verdicts")
    'judged by m (sha256:00000000…), verdicts'
    """
    return _DIGEST.sub(r"\1…", note)


def fold_note(note: str, width: int, suffix: str, most_lines: int) -> list[str]:
    """Return a note in at most so many lines; if it is too long, its remedy comes first and the rest is cut."""
    lines = textwrap.wrap(f"note: {note}{suffix}", width, break_on_hyphens=False)
    if len(lines) <= most_lines:
        return lines
    remedy = _REMEDY.search(note)
    if remedy is not None and not remedy[1].startswith("got ") and _FOUND_NOTHING not in note:  # these explain
        note = f"{remedy[1]}; {note[: remedy.start()]}"
        lines = textwrap.wrap(f"note: {note}", width, break_on_hyphens=False)
    room = width - len(suffix)
    return [*lines[: most_lines - 1], shorten_at_word(" ".join(lines[most_lines - 1 :]), room) + suffix]


_UNCHECKED_ACCESS = "access is not checked on "
_FOUND_NOTHING = ": nothing at "
"""What stands before the parentheses that say what is there instead."""
_TWO_LINES = re.compile(f"{_UNCHECKED_ACCESS}|{_FOUND_NOTHING}")
_URGENT = re.compile(rf"\bE_[A-Z_]+\b| leaked gets? the worst score | gave no verdict on anything |{_FOUND_NOTHING}")
_DIGEST = re.compile(r"\b(sha256:[0-9a-f]{8})[0-9a-f]{56}\b")
_REMEDY = re.compile(r" \(([^()]*(?:\([^()]*\)[^()]*)*)\)$")
"""What a note says to do: the parentheses at its end."""


def _explain_unscored(metrics: Sequence[str], scoring: ScoringResult) -> list[str]:
    """Return why metrics have no score in any configuration, such as a stage that no output reports."""
    notes = []
    for metric in metrics:
        if _has_value((metric,), scoring):
            continue
        columns = (find_source_column(metric, result.table) for result in scoring.configs.values())
        reasons = dict.fromkeys(filter(None, map(find_common_reason, columns)))
        notes += [f"{metric} has no score: {reason}" for reason in reasons]
    return notes


def _list_metrics(scoring: ScoringResult) -> list[str]:
    return list(dict.fromkeys(metric for result in scoring.configs.values() for metric in result.summary))


def _has_value(names: MetricNames, scoring: ScoringResult) -> bool:
    summaries = (find_measured_summary(names, result.summary) for result in scoring.configs.values())
    return any(summary is not None and summary.value is not None for summary in summaries)


def _has_decided_answers(scoring: ScoringResult) -> bool:
    """Return whether any answer was found right or wrong."""
    summaries = (find_measured_summary(ANSWER, result.summary) for result in scoring.configs.values())
    return any(summary is not None and summary.scored for summary in summaries)


def _list_unmeasured(scoring: ScoringResult) -> list[str]:
    """Return the headline metrics that only a judge can measure and that no configuration has a value of."""
    return [label for label, names in _ASKED_OF_A_JUDGE if not _has_value(names, scoring)]


def _format_cell(
    summary: Summary | None,
    comparison: Comparison | None,
    column_width: int,
    metric_rows: MetricsByName,
) -> str:
    """Return value and count, with the change since the baseline or else the interval where the column has room."""
    if summary is None or summary.value is None:
        return NOT_AVAILABLE
    value = format_value(summary, metric_rows)
    parts = [f"n {summary.scored}{format_open_counts(summary)}"]
    fewer = f"n {summary.scored}{format_open_counts(replace(summary, unchecked=0))}"
    change = comparison.metrics.get(summary.metric) if comparison is not None else None
    longest: list[str] = []
    if change is not None and change.unknown is not None:
        # Next to a range, the change says more than how many cases are unchecked.
        for since in _list_bounded_changes(change, metric_rows):
            longest += [f"{value} ({counts}, {since})" for counts in dict.fromkeys((parts[0], fewer))]
    elif change is not None and change.baseline is not None and change.candidate is not None:
        difference = format_number(abs(change.candidate - change.baseline), summary.metric, metric_rows)
        difference = ("+" if change.candidate >= change.baseline else "−") + difference
        if change.n < summary.scored or change.unpaired:  # the values of all scored cases differ by something else
            pairs = format_count(change.n, "pair")
            longest = [f"{value} ({counts}, {difference} on {pairs})" for counts in dict.fromkeys((parts[0], fewer))]
        parts.append(difference)
    elif summary.unknown is None and summary.interval is not None and summary.interval.low != summary.interval.high:
        low = format_number(summary.interval.low, summary.metric, metric_rows)
        high = format_number(summary.interval.high, summary.metric, metric_rows)
        parts.append(f"{low}–{high}")
    for text in (*longest, f"{value} ({', '.join(parts)})", f"{value} ({parts[0]})"):
        if len(text) < column_width:
            return text
    return value


def _list_bounded_changes(change: MetricChange, metric_rows: MetricsByName) -> list[str]:
    """Return the change since the baseline where answers are unknown, longest first: the one with room is shown."""
    unknown = change.unknown
    assert unknown is not None
    since = f"from {format_sides(change, metric_rows)[0]}"
    if unknown.direction == "not known":
        return [f"{since}: direction not known", "direction not known", since]
    if unknown.is_gain_known:
        gain = f"gain {format_signed(unknown.gain[0], change.metric, metric_rows)}"
        return [f"{since}, {gain}", gain, since]
    low, high = (format_signed(gain, change.metric, metric_rows) for gain in unknown.gain)
    return [f"{since}, gain {low} to {high}", f"gain {low} to {high}", since]


_SHORTEST_TITLE = 6
_WIDEST, _WIDEST_RANGES = 52, 64
"""The widest column of numbers, and that with ranges of changes."""


def _has_unknown_changes(comparisons: Mapping[str, Comparison]) -> bool:
    return any(change.unknown for comparison in comparisons.values() for change in comparison.metrics.values())


def _align_row(label: str, label_width: int, cells: Sequence[str], column_width: int) -> str:
    columns = []
    for cell in cells:
        text = escape_terminal(cell)
        if len(text) >= column_width:
            text = text[: max(column_width - 2, 1)] + "…"
        columns.append(text.ljust(column_width))
    return (label.ljust(label_width) + "".join(columns)).rstrip()


def _build_outcome_lines(
    attributions: Mapping[str, Mapping[str, Attribution]], configs: Sequence[str], width: int
) -> list[str]:
    """Return one line with the 2×2 counts of each configuration: evidence reached the generator × answer good.

    One configuration gets a sentence, if there is room for it; several get columns of numbers.
    """
    outcomes = {config: count_outcomes(attributions[config]) for config in configs if config in attributions}
    if not outcomes:
        return []
    if len(outcomes) == 1:
        with_good, with_bad, without_good, without_bad, uncounted = next(iter(outcomes.values())).values()
        reached, not_reached = f"{with_good} good, {with_bad} bad", f"{without_good} good, {without_bad} bad"
        sentences = (
            f"Answers with the evidence: {reached}; without it: {not_reached}; not counted: {uncounted}",
            f"Evidence reached: {reached}; not reached: {not_reached}; not counted: {uncounted}",
        )
        for sentence in sentences:
            if len(sentence) <= width:
                return [sentence]
    columns = []
    for config, counts in outcomes.items():
        with_good, with_bad, without_good, without_bad, uncounted = counts.values()
        columns.append(f"{config} {with_good}/{with_bad} {without_good}/{without_bad} {uncounted}")
    label = "Good/bad with the evidence, without it, not counted: "
    folded = textwrap.wrap(escape_terminal(label + ", ".join(columns)), width, break_on_hyphens=False)
    return folded if len(folded) < 2 else [folded[0], shorten_at_word(" ".join(folded[1:]), width)]


def _build_variant_lines(scoring: ScoringResult, configs: Sequence[str], width: int) -> list[str]:
    """Return one line on variants: how many cases are treated alike and told apart."""
    parts = []
    for config in configs:
        twins = scoring.twins.get(config)
        if twins is None:
            continue
        rates = (("treated alike", twins.consistency), ("told apart", twins.distinction))
        counts = [_format_variant_rate(text, rate) for text, rate in rates if rate.decided or rate.unknown is not None]
        if counts:
            prefix = f"{config} " if len(configs) > 1 else ""
            parts.append(prefix + ", ".join(counts))
    return [shorten_at_word(escape_terminal(f"Cases with variants: {'; '.join(parts)}"), width)] if parts else []


def _format_variant_rate(text: str, rate: TwinRate) -> str:
    unknown = f" ({rate.unknown.count} unknown)" if rate.unknown is not None else ""
    return f"{rate.good} of {rate.decided} {text}{unknown}"


_WHY_UNKNOWN = (
    " - unknown: nothing tells whether the answer is right (ask `assay judge`, or read it: `assay labels export --only "
    "ambiguous`)"
)


def _build_failed_lines(
    scoring: ScoringResult,
    configs: Sequence[str],
    attributions: Mapping[str, Mapping[str, Attribution]],
    explained: Mapping[str, Collection[str]],
    width: int,
    room: int,
) -> list[str]:
    """Return how many cases failed, and the first of them with cause and fix: leaks first, then other faults of access,
    and errors of the target last.

    There are at most `room` lines; where they do not list all failed cases, the last says how many more there are.
    `explained` are the cases whose error is said above: they are counted, and not listed again.
    """
    counts: list[str] = []
    has_open_cases = has_unknown_cases = False
    failed_cases: list[tuple[int, str, str, Attribution | None]] = []
    for config in configs:
        result = scoring.configs[config]
        case_ids = list_failed_cases(result)
        case_counts = count_cases(result)
        has_open_cases |= bool(case_counts.failed or case_counts.unknown)
        has_unknown_cases |= bool(case_counts.unknown)
        counts.append(f"{config} {format_case_counts(case_counts)}")
        if result.decision is not None and result.decision.unanswered:
            continue  # what to do is said once, above: no case has a cause of its own
        in_error = {case_id for failure in scoring.failures.get(config, ()) for case_id in failure.case_ids}
        leaked = {checks.case_id for checks in result.table.checks if LEAK in checks.failed}
        for case_id in case_ids:
            if case_id in explained.get(config, ()):
                continue
            attribution = attributions.get(config, {}).get(case_id)
            rank = _rank_failed(case_id, leaked, in_error, attribution)
            failed_cases.append((rank, config, case_id, attribution))
    if not has_open_cases:
        return []
    failed_cases.sort(key=lambda failed: failed[0])
    short_names = shorten_names([case_id for _, _, case_id, _ in failed_cases], max(width // 4, _SHORTEST_NAME))
    short_names |= shorten_names(configs, _SHORTEST_NAME)
    if (
        len("; ".join(counts)) > _MAX_LINES_OF_COUNTS * width or max(map(len, counts)) > width
    ):  # a count says more than the end of a name
        counts = [count.replace(config, short_names[config], 1) for config, count in zip(configs, counts, strict=True)]
    counted = escape_terminal(f"Cases: {'; '.join(counts)}")
    lines = textwrap.wrap(
        counted, width, max_lines=_MAX_LINES_OF_COUNTS, placeholder=f" {ELLIPSIS}", break_on_hyphens=False
    )
    judged = _describe_judged(scoring, configs)
    if judged:
        folded = textwrap.wrap(judged, width, subsequent_indent="   ", break_on_hyphens=False, break_long_words=False)
        lines += folded[:_MAX_LINES_ON_JUDGE]
    elif has_unknown_cases and not _has_decided_answers(scoring):
        lines += textwrap.wrap(_WHY_UNKNOWN, width, subsequent_indent="   ", break_on_hyphens=False)
    described = []
    for _, config, case_id, attribution in failed_cases[:MAX_FAILED_CASES]:
        names = (case_id, config) if len(configs) > 1 else (case_id,)
        line = _describe_failed_case(_join_names(names), attribution, width)
        if ELLIPSIS in line:  # cut: a cause says more than the middle of an id
            line = _describe_failed_case(_join_names(short_names[name] for name in names), attribution, width)
        described.append(line)
    return [*lines, *_cut_failed_lines(described, len(failed_cases), room - len(lines))]


_MAX_LINES_OF_COUNTS = 3
_MAX_LINES_ON_JUDGE = 3


def _describe_judged(scoring: ScoringResult, configs: Sequence[str]) -> str:
    """Return what a judge that may not decide says of the unknown cases of the first configuration of which it says
    something; "" if it says nothing."""
    for config in configs:
        judged = describe_judged_unknowns(scoring.configs[config])
        if judged:
            prefix = f"{config} " if len(configs) > 1 else ""
            return escape_terminal(f" - {prefix}unknown: {judged}")
    return ""


def _rank_failed(
    case_id: str, leaked: Collection[str], in_error: Collection[str], attribution: Attribution | None
) -> int:
    """Return the rank of a failed case in the list: leaks first, then faults of access, errors of the target last."""
    if case_id in leaked:
        return 0
    if attribution is not None and attribution.verdict == "access_fault":
        return 1
    return 3 if case_id in in_error else 2


_SHORTEST_NAME = 14
_MOST_FOR_CAUSE = 0.8
"""The share of a line that the name of a case and its cause may take without being cut for the remedy."""


def _join_names(names: Iterable[str]) -> str:
    """Return a case, and its configuration in parentheses if it is named."""
    case_id, *configs = names
    return f"{case_id} ({configs[0]})" if configs else case_id


def _cut_failed_lines(described: Sequence[str], failed_count: int, room: int) -> list[str]:
    """Return the lines that there is room for; the last says how many failed cases are left out, if any are."""
    if failed_count <= min(len(described), room):
        return list(described)
    shown = list(described[: max(room - 1, 0)])
    return [*shown, f" - and {failed_count - len(shown)} more: --verbose, or the HTML report for all"]


def find_case_to_explain(scoring: ScoringResult) -> tuple[str, str] | None:
    """Return the configuration and the id of the failed case to look at first, which the screen lists first: one that
    leaked, else the first one.

    None if no case failed. Where the target answered nothing, no case explains why.
    """
    failed = [
        (config, checks)
        for config, result in ((config, scoring.configs[config]) for config in _order_by_severity(scoring))
        if result.decision is None or not result.decision.unanswered
        for checks in result.table.checks
        if checks.failed
    ]
    if not failed:
        return None
    config, checks = min(failed, key=lambda item: _rank_checks(item[1]))  # the first of the smallest
    return config, checks.case_id


def has_open_answers(scoring: ScoringResult) -> bool:
    """Return whether there are cases that failed nothing and of whose answer nobody can tell."""
    return any(count_cases(result).unknown for result in scoring.configs.values())


def has_passed_answers(scoring: ScoringResult) -> bool:
    """Return whether rules passed an answer."""
    columns = [result.table.columns.get(CORRECT_ANSWER) for result in scoring.configs.values()]
    return any(
        bool(((column.status == SCORED) & (column.values == 1)).any()) for column in columns if column is not None
    )


def _rank_checks(checks: CaseChecks) -> int:
    if LEAK in checks.failed:
        return 0
    return 2 if UNANSWERED_CHECKS.issuperset(checks.failed) else 1


def _name_cause(line: str, cause: str, attribution: Attribution, width: int, room: int) -> str:
    """Return a failed case with its cause: whole if it is a few words, even where the end of the remedy is cut for it;
    else as much of it as there is room for, at least the first of several causes."""
    named = [f"{line}: {escape_terminal(cause)}"]
    if len(named[0]) <= width * _MOST_FOR_CAUSE:
        return named[0]
    if attribution.also:
        named.append(f"{line}: {escape_terminal(f'{attribution.cause}, … ({attribution.confidence})')}")
        named.append(f"{line}: {escape_terminal(f'{attribution.cause} …')}")
    fitting = [text for text in named if len(text) <= room]
    return fitting[0] if fitting else named[min(1, len(named) - 1)]


def _describe_failed_case(name: str, attribution: Attribution | None, width: int) -> str:
    """Return a line with the cause of a failed case, and as many whole remedies as there is room for, at least one."""
    line = escape_terminal(f" - {name}")
    if attribution is None or attribution.cause is None:
        return shorten_at_word(line, width)
    cause, fix = format_cause_and_fix(attribution)
    first, *others = escape_terminal(fix).split("; ")
    remedy = f" → {first}" if fix else ""
    line = _name_cause(line, cause, attribution, width, width - len(remedy)) + remedy
    for other in others:
        if len(line) + len(other) + 2 > width:
            break
        line += f"; {other}"
    return shorten_at_word(line, width)
