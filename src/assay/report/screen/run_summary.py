"""The short screen of a run: what was decided and why, headline metrics, failed cases with cause and fix.

It has at most 25 lines for a run of any size, and no line is longer than the terminal is wide; `assay score --verbose`
prints everything (`report/screen/terminal.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.metrics.answers.nuggets import NUGGET_METRICS_BY_JUDGE, NUGGET_METRICS_BY_RULES
from assay.metrics.catalog import CATALOG, parse_metrics
from assay.metrics.metric import parse_metric_name
from assay.metrics.template_columns import FIRST_METRICS, MetricNames
from assay.records.findings import Attribution, Comparison
from assay.records.scores import ConfigResult, ScoringResult
from assay.report.findings.measured_headlines import name_rankings
from assay.report.findings.slice_tables import build_slices_table
from assay.report.screen.decision_lines import MAX_CONFIGS, allot_lines, fold_all_failures, order_by_severity
from assay.report.screen.doubt_lines import build_doubt_lines, build_unlabelled_lines
from assay.report.screen.failed_lines import build_failed_lines
from assay.report.screen.metric_lines import build_metric_lines
from assay.report.screen.note_lines import build_note_lines
from assay.report.screen.outcome_lines import build_outcome_lines, build_variant_lines
from assay.report.screen.terminal import Screen, escape_table
from assay.report.wording.answer_metrics import list_answer_metrics
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
    labelled = [(str(name), (str(name),)) for name in parse_metrics(metrics)]
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
    if not metrics:  # where much is to be said before them, the first ones stay
        on_cases = _LINES_ON_CASES
        if len(configs) > 1:
            failed_lines = build_failed_lines(scoring, configs, attributions, explained, width, _FEWEST_FAILED_LINES)
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
            scoring, configs, attributions, explained, width, room - len(outcome_lines) - 1
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
