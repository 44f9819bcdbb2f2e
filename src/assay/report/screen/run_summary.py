"""The short screen of a run: what was decided and why, headline metrics, failed cases with cause and fix.

It has at most 25 lines for a run of any size, and no line is longer than the terminal is wide; `assay score --verbose`
prints everything (`report/screen/terminal.py`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from assay.metrics.answers.nuggets import NUGGET_METRICS_BY_JUDGE, NUGGET_METRICS_BY_RULES
from assay.metrics.catalog import CATALOG, parse_metrics
from assay.metrics.metric import parse_metric_name
from assay.metrics.template_columns import FIRST_METRICS, MetricNames
from assay.records.counts import format_count
from assay.records.findings import Attribution, Comparison
from assay.records.scores import ConfigResult, ScoringResult, TwinRate
from assay.report.findings.attribution_tables import count_outcomes
from assay.report.findings.doubts import SINCE_BASELINE, list_doubts
from assay.report.findings.flipped_cases import list_flipped_cases
from assay.report.findings.measured_headlines import name_rankings
from assay.report.findings.slice_tables import build_slices_table
from assay.report.screen.decision_lines import MAX_CONFIGS, allot_lines, fold_all_failures, order_by_severity
from assay.report.screen.failed_lines import build_failed_lines
from assay.report.screen.fold_lines import shorten_before_remedy
from assay.report.screen.metric_lines import build_metric_lines
from assay.report.screen.note_lines import build_note_lines
from assay.report.screen.terminal import Screen, escape_table
from assay.report.wording.answer_metrics import list_answer_metrics
from assay.scoring.passed_answers import PASSES_READ
from assay.scoring.unlabelled_scores import NO_LABELS, VALUE_OF_LABELS
from assay.scoring.ways_out import WAYS_OUT
from assay.text.escaping import escape_terminal, shorten_at_word

DEFAULT_WIDTH = 100
MAX_LINES = 23
"""Two of the 25 lines are left to the files that were written and the next command."""
MAX_METRICS = 6
_LINES_ON_CASES, _FEWEST_METRIC_LINES = 7, 3
_MOST_WITH_OUTCOMES, _FEWEST_FAILED_LINES = 2, 7
"""Of more configurations, answers with and without the evidence are left to `--verbose` where failed cases, with their
counts, would have fewer lines."""
_MAX_OWN_METRICS = 3


def render_run_summary(
    scoring: ScoringResult,
    attributions: Mapping[str, Mapping[str, Attribution]],
    comparisons: Mapping[str, Comparison],
    width: int = DEFAULT_WIDTH,
    metrics: Sequence[str] = (),
    by: Sequence[str] = (),
) -> Screen:
    """Return the short screen, escaped for a terminal of `width` columns.

    `attributions` give the causes of failed cases, by configuration and case; `comparisons` the changes since the
    baseline, by configuration. Either may be empty. `metrics`, all of them, are shown in place of the headline and of
    the failed cases, and `by` names the keys whose slices are shown.
    """
    configs = order_by_severity(scoring)
    failures = fold_all_failures(scoring, configs, width)
    decisions = allot_lines(scoring, configs, failures, width)
    shown_configs = configs[:MAX_CONFIGS]
    lines = list(decisions.lines)
    lines += build_doubt_lines(scoring, comparisons, width)
    if scoring.looks is not None:
        lines.append(shorten_at_word(escape_terminal(scoring.looks.describe()), width))
    unlabelled = build_unlabelled_lines(scoring, width)
    lines += unlabelled
    labelled: list[tuple[str, MetricNames]] = [(str(name), (str(name),)) for name in parse_metrics(metrics)]
    if not labelled:
        results = [scoring.configs[config] for config in shown_configs]
        labelled = [*_name_answer_metric(results), *name_rankings(FIRST_METRICS[1:], results)]
        labelled = [("Nuggets, NO LABELS", _NUGGETS), *labelled] if unlabelled else labelled
        labelled = [*_name_own_metrics(results)[:_MAX_OWN_METRICS], *labelled]
    limit = len(labelled) if metrics else MAX_METRICS
    metric_lines = build_metric_lines(scoring, shown_configs, comparisons, width, labelled)[: limit + 1]
    notes = build_note_lines(scoring, width, [label for label, _ in labelled] if metrics else ())
    outcome_lines = build_outcome_lines(attributions, shown_configs, width)
    explained = {config: folded.case_ids for config, folded in failures.items()}
    new_cases = {config: list_flipped_cases(compared).fail_now for config, compared in comparisons.items()}
    if not metrics:  # where much is to be said before them, the first ones stay
        on_cases = _LINES_ON_CASES
        if len(configs) > 1:
            failed_lines = build_failed_lines(
                scoring, configs, attributions, explained, width, _FEWEST_FAILED_LINES, new_cases
            )
            on_cases = max(on_cases, 1 + len(outcome_lines) + len(failed_lines))
        metric_lines = metric_lines[: max(MAX_LINES - len(lines) - len(notes) - on_cases, _FEWEST_METRIC_LINES)]
    if metric_lines:
        lines += ["", *metric_lines]
    if not metrics:
        variants = build_variant_lines(scoring, shown_configs, width)
        room = max(MAX_LINES - len(lines) - len(variants) - len(notes), 0)
        if len(configs) > _MOST_WITH_OUTCOMES and room - len(outcome_lines) - 1 < _FEWEST_FAILED_LINES:
            outcome_lines = []
        failed_lines = build_failed_lines(
            scoring, configs, attributions, explained, width, room - len(outcome_lines) - 1, new_cases
        )
        if attributions or failed_lines:
            lines += ["", *outcome_lines, *failed_lines][:room]
        lines += variants
    lines += notes
    tables = [build_slices_table(scoring, only=by)] if by else []
    tables = [escape_table(table) for table in tables if table.rows]
    return Screen(tuple(lines), tuple(tables), (), decisions.alerts, decisions.muted)


_NUGGETS = (NUGGET_METRICS_BY_JUDGE[0], NUGGET_METRICS_BY_RULES[0])


def _name_own_metrics(results: Sequence[ConfigResult]) -> list[tuple[str, MetricNames]]:
    """Return the metrics that somebody added and asked for: nobody asks for them by default."""
    names = dict.fromkeys(name for result in results for name in result.summary)
    own = [name for name in names if CATALOG.get_plugin(parse_metric_name(name).base) is not None]
    return [(name, (name,)) for name in own]


def _name_answer_metric(results: Sequence[ConfigResult]) -> list[tuple[str, MetricNames]]:
    """Return the metrics of right answers that were measured, under their own names."""
    return [(title, (name,)) for title, name in list_answer_metrics(results)]


_MAX_DOUBTS, _MAX_LINES_ON_WAYS = 4, 3


def build_doubt_lines(scoring: ScoringResult, comparisons: Mapping[str, Comparison], width: int) -> list[str]:
    """Return at most four things to doubt although nothing failed, each in a line; a remedy stays where one is cut.

    What people found of passes has two lines, because its figures are at the end, and so have changes for the better
    and for the worse; what settles unknown answers has three.
    """
    doubts = list_doubts(scoring, comparisons)
    shown = doubts if len(doubts) <= _MAX_DOUBTS else doubts[: _MAX_DOUBTS - 1]
    lines: list[str] = []
    for line in map(escape_terminal, shown):
        if PASSES_READ in line or SINCE_BASELINE in line or WAYS_OUT in line:
            most = _MAX_LINES_ON_WAYS if WAYS_OUT in line else 2
            lines += textwrap.wrap(line, width, max_lines=most, placeholder=" …", break_on_hyphens=False)
        else:
            lines.append(shorten_before_remedy(line, width))
    if len(shown) < len(doubts):
        lines.append(f"and {format_count(len(doubts) - len(shown), 'more doubt')}: --verbose")
    return lines


_MAX_LINES_ON_LABELS = 2


def build_unlabelled_lines(scoring: ScoringResult, width: int) -> list[str]:
    """Return the mark of scores that rest on nobody's labels, in two lines, and what labels would allow."""
    marks = {note for result in scoring.configs.values() for note in result.table.notes if note.startswith(NO_LABELS)}
    if not marks:
        return []
    folded = textwrap.wrap(escape_terminal(min(marks)), width, break_on_hyphens=False)
    room = [*folded[:1], shorten_at_word(" ".join(folded[1:]), width)] if len(folded) > 1 else folded
    warnings = [line for line in scoring.warnings if VALUE_OF_LABELS in line]
    warnings.sort(key=lambda line: " and " not in line.partition(":")[0])  # pairs of configurations before single ones
    return [*room, *(shorten_at_word(escape_terminal(line), width) for line in warnings[:_MAX_LINES_ON_LABELS])]


_MOST_SENTENCES = 2
"""The largest number of configurations whose counts are sentences."""


def build_outcome_lines(
    attributions: Mapping[str, Mapping[str, Attribution]], configs: Sequence[str], width: int
) -> list[str]:
    """Return the 2×2 counts of each configuration, in at most two lines: evidence reached the generator × answer good.

    One or two configurations get a sentence each, if there is room for it; more get columns of numbers. Where no case
    of any configuration is counted, there is nothing to say.
    """
    outcomes = {config: count_outcomes(attributions[config]) for config in configs if config in attributions}
    if not any(sum(counts.values()) > counts["no_cell"] for counts in outcomes.values()):
        return []
    if len(outcomes) <= _MOST_SENTENCES:
        names = [f", {escape_terminal(config)}" if len(outcomes) > 1 else "" for config in outcomes]
        for with_it, without_it in (("Answers with the evidence", "without it"), ("Evidence reached", "not reached")):
            sentences = []
            for name, counts in zip(names, outcomes.values(), strict=True):
                with_good, with_bad, without_good, without_bad, uncounted = counts.values()
                reached, not_reached = f"{with_good} good, {with_bad} bad", f"{without_good} good, {without_bad} bad"
                sentences.append(f"{with_it}{name}: {reached}; {without_it}: {not_reached}; not counted: {uncounted}")
            if all(len(sentence) <= width for sentence in sentences):
                return sentences
    columns = []
    for config, counts in outcomes.items():
        with_good, with_bad, without_good, without_bad, uncounted = counts.values()
        columns.append(f"{config} {with_good}/{with_bad} {without_good}/{without_bad} {uncounted}")
    label = "Good/bad with the evidence, without it, not counted: "
    folded = textwrap.wrap(escape_terminal(label + ", ".join(columns)), width, break_on_hyphens=False)
    return folded if len(folded) < 2 else [folded[0], shorten_at_word(" ".join(folded[1:]), width)]


def build_variant_lines(scoring: ScoringResult, configs: Sequence[str], width: int) -> list[str]:
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
