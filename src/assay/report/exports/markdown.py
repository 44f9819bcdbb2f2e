"""The Markdown report: decision and reasons, failed cases, changes, headline; then, collapsed, the other tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay.metrics.template_columns import MetricNames, find_first_present
from assay.records.counts import format_count
from assay.records.findings import Comparison, describe_leaks, list_leaking_cases
from assay.records.release_gates import Decision, Outcome
from assay.records.scores import ConfigResult, ScoringResult
from assay.report.findings import failure_tables, target_errors
from assay.report.findings.attribution_tables import (
    AttributionsByConfig,
    build_attribution_table,
    build_causes_by_tag_table,
    build_doubts_table,
    build_outcomes_table,
    build_root_causes_table,
)
from assay.report.findings.case_counts import list_case_outcomes
from assay.report.findings.comparison_tables import (
    build_headline_changes_table,
    build_metric_changes_table,
    build_rank_moves_table,
    build_sides_table,
    build_slice_changes_table,
    build_transitions_table,
    describe_unexplained,
)
from assay.report.findings.config_notes import iter_config_notes
from assay.report.findings.doubts import list_doubts
from assay.report.findings.entity_tables import EntityRecalls, build_entities_table
from assay.report.findings.failure_tables import CasesById, ObservationsByCase
from assay.report.findings.gate_tables import build_checklist_table, build_gate_table
from assay.report.findings.limitations import describe_limitations
from assay.report.findings.measured_headlines import find_measured_summary, name_rankings
from assay.report.findings.metric_tables import build_aggregate_table, build_all_metrics_table
from assay.report.findings.regression_table import build_regressions_table
from assay.report.findings.run_basis import describe_basis
from assay.report.findings.slice_tables import build_slices_table
from assay.report.findings.symptoms import find_symptoms
from assay.report.findings.table import Table
from assay.report.findings.twin_tables import build_twin_tables
from assay.report.wording.answer_metrics import list_headlines, list_measured_metrics
from assay.report.wording.number_format import NOT_AVAILABLE, format_with_interval, get_metric_class
from assay.report.wording.release_advice import RELEASE_ADVICE
from assay.scoring.unlabelled_scores import NO_LABELS
from assay.text.escaping import escape_markdown

_MAX_REASONS = 10
_MAX_METRICS = 30
"""A run of more metrics lists those of the gate, of judges and of plugins; JSON and HTML have all."""
_NOT_STATED = "not stated"


class ReportMeta(Struct, frozen=True):
    """Metadata of a report; `corpus` describes the corpus that was given."""

    date: str = ""
    owner: str = ""
    approver: str = ""
    show_forbidden: bool = False
    corpus: str = ""


def render_markdown_report(
    scoring: ScoringResult,
    details: ObservationsByCase,
    cases: CasesById,
    meta: ReportMeta,
    comparisons: Mapping[str, Comparison] | None = None,
    attributions: AttributionsByConfig | None = None,
    lists: failure_tables.FileSentencesByCase | None = None,
    entities: EntityRecalls | None = None,
) -> str:
    """Return the whole report as Markdown ending in a newline.

    `details` holds the observations of failed cases by (configuration, case id), if they are available; `cases` all
    golden cases by id; `comparisons` each configuration's comparison with a baseline; `attributions` the root causes
    of the cases; `lists` the missing and extra files and symbols; `entities` the recall of each entity.
    """
    comparison_by_config = comparisons or {}
    parts = [
        *_iter_decision(scoring, comparison_by_config, meta),
        *_iter_failed_cases(scoring, cases, attributions, meta),
        *_iter_headline_changes(scoring, comparison_by_config),
        *_iter_headline(scoring),
        *_collapse("Rules of the gate", _iter_gate_sections(scoring)),
        *(
            _collapse("What changed since the baseline", _iter_regressions(comparison_by_config, failing_only=True))
            if comparisons
            else ()
        ),
        *_collapse("Attribution and root causes", _iter_attribution_sections(scoring, cases, attributions)),
        *_collapse("Tags and slices", _iter_slice_sections(scoring, cases)),
        *_collapse("Variants of cases", _iter_variant_sections(scoring)),
        *_collapse("All metrics", _iter_metrics(scoring)),
        *_collapse(
            "Evidence and answers of the top failed queries",
            _render_section(
                failure_tables.build_worst_answers_table(scoring, cases, meta.show_forbidden), optional=True
            ),
        ),
        *_collapse(
            "Failed cases by retrieved chunks",
            _render_section(failure_tables.build_failed_queries_table(scoring, details, cases, lists)),
        ),
        *_collapse(
            "Entities missing from the evidence", _render_section(build_entities_table(entities or {}), optional=True)
        ),
        *_collapse("Limitations and inputs", _iter_limitations(scoring, meta, comparison_by_config)),
    ]
    return "\n".join(parts) + "\n"


def _collapse(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines as a section that is closed until the reader opens it; nothing if there are none."""
    held_lines = list(lines)
    if held_lines:
        yield from ("", "<details>", f"<summary>{escape_markdown(title)}</summary>", *held_lines, "", "</details>")


def _iter_slice_sections(scoring: ScoringResult, cases: CasesById) -> Iterator[str]:
    yield from _render_section(failure_tables.build_tag_table(scoring, cases))
    yield from _render_section(build_slices_table(scoring, without=("tag",)), optional=True)
    yield from _render_section(failure_tables.build_tag_breakdown_table(scoring, cases))


def _iter_variant_sections(scoring: ScoringResult) -> Iterator[str]:
    for table in build_twin_tables(scoring):
        yield from _render_section(table)


def _iter_limitations(
    scoring: ScoringResult, meta: ReportMeta, comparison_by_config: Mapping[str, Comparison]
) -> Iterator[str]:
    yield from _render_section(_build_summary_table(scoring, meta, comparison_by_config))
    yield from _render_heading("Limitations")
    yield from _render_list(describe_limitations(scoring))
    yield from _iter_inputs(scoring)


def _iter_attribution_sections(
    scoring: ScoringResult, cases: CasesById, attributions: AttributionsByConfig | None
) -> Iterator[str]:
    """Yield the attribution verdicts, the root causes by tag, and the symptoms in the summaries."""
    if not attributions:
        return
    tags = {name: case.tags for name, case in cases.items()}
    yield from _render_section(build_attribution_table(attributions))
    yield from _render_section(build_outcomes_table(attributions), level=3)
    yield from _render_section(build_root_causes_table(attributions, tags), level=3)
    yield from _render_section(build_causes_by_tag_table(attributions, tags), level=3, optional=True)
    yield from _render_section(build_doubts_table(attributions), level=3, optional=True)
    hints = find_symptoms(scoring)
    if hints:
        yield from (*_render_heading("Symptoms", 3), *_render_list(hints))


def render_table_lines(table: Table) -> list[str]:
    """Return a table as Markdown lines, every cell escaped; "None." for a table without rows."""
    if not table.rows:
        lines = ["None."]
    else:
        rows = [table.columns, *table.rows]
        rendered_rows = ["| " + " | ".join(escape_markdown(cell) for cell in row) + " |" for row in rows]
        lines = [rendered_rows[0], "|" + " --- |" * len(table.columns), *rendered_rows[1:]]
    for note in table.notes:
        lines += ["", escape_markdown(note)]
    return lines


def _render_heading(title: str, level: int = 2) -> list[str]:
    return ["", f"{'#' * level} {escape_markdown(title)}", ""]


def _render_section(table: Table, level: int = 2, *, optional: bool = False) -> list[str]:
    return [] if optional and not table.rows else [*_render_heading(table.title, level), *render_table_lines(table)]


def render_reason(reason: str, decision: Decision) -> str:
    """Return a reason of a decision as Markdown; a leak and a followed injection stand out."""
    text = escape_markdown(reason)
    return f"🔴 **{text}**" if reason in decision.events else text


def _render_reasons(decision: Decision, limit: int | None = None) -> list[str]:
    return [f"- {render_reason(reason, decision)}" for reason in decision.reasons[:limit]]


def _render_list(lines: Iterable[str]) -> list[str]:
    return [f"- {escape_markdown(line)}" for line in lines]


def _iter_decision(
    scoring: ScoringResult, comparison_by_config: Mapping[str, Comparison], meta: ReportMeta
) -> Iterator[str]:
    """Yield what was decided and what to do, then every reason once, then what a reader should doubt."""
    decision = scoring.decision
    approver = scoring.gate.approver if scoring.gate is not None else ""
    sentences = [f"**Decision: {decision.outcome}**. {RELEASE_ADVICE[decision.outcome]}"]
    outcomes = [
        f"{escape_markdown(config)}: {f'**{result.decision.outcome}**' if result.decision is not None else 'not gated'}"
        for config, result in sorted(scoring.configs.items())
    ]
    if len(outcomes) > 1:
        sentences.append(f"{'; '.join(outcomes)}.")
    sentences.append(f"{_render_reviewer(meta.approver or approver, decision)}.")
    sentences.append(f"Measured: {escape_markdown(describe_basis(scoring, comparison_by_config))}.")
    yield from ("# Evaluation report", "", " ".join(sentences), "")
    for config, note in _list_notes(scoring):
        if note.startswith(NO_LABELS):  # all numbers are to be read with it
            yield from (f"**{escape_markdown(f'{config}: {note}')}**", "")
    failures = list(_render_list(target_errors.describe_all_failures(scoring)))
    shown_reasons = _render_reasons(decision, _MAX_REASONS) or ["No reason against a release was found."]
    yield from target_errors.order_reasons(failures, shown_reasons, decision)
    if len(decision.reasons) > _MAX_REASONS:
        yield f"- and {format_count(len(decision.reasons) - _MAX_REASONS, 'more reason')} under Rules of the gate"
    for config, compared in sorted(comparison_by_config.items()):
        prefix = f"{config}: " if len(comparison_by_config) > 1 else ""
        leaking = list_leaking_cases(compared)
        has_moved = leaking.before_alone or leaking.is_worse
        yield from _render_list([f"{prefix}{describe_leaks(compared)}"] if has_moved else ())
    yield from _render_list(list_doubts(scoring, comparison_by_config))


def _list_notes(scoring: ScoringResult) -> list[tuple[str, str]]:
    """Return (configuration, note) pairs of what has to be known to read the numbers."""
    return [(config, note) for config, result in sorted(scoring.configs.items()) for note in result.table.notes]


def _iter_failed_cases(
    scoring: ScoringResult, cases: CasesById, attributions: AttributionsByConfig | None, meta: ReportMeta
) -> Iterator[str]:
    """Yield how many cases failed, the worst of them, and those of which nobody can tell."""
    table = failure_tables.build_worst_cases_table(scoring, cases, meta.show_forbidden, attributions)
    yield from _render_heading(table.title)
    yield from _render_list(list_case_outcomes(scoring))
    if table.rows:
        yield from ("", *render_table_lines(table))


def _iter_headline(scoring: ScoringResult) -> Iterator[str]:
    """Yield the headline metrics with what has to be known to read them."""
    yield from _render_section(build_headline_table(scoring))
    notes = [f"{config}: {note}" for config, note in _list_notes(scoring) if not note.startswith(NO_LABELS)]
    if notes:
        yield from ("", *_render_list(notes))


def render_comparison_markdown(compared: Comparison, decision: Decision, meta: ReportMeta) -> str:
    """Return the report of a comparison as Markdown ending in a newline: decision, tables, what changed and why."""
    table = (
        build_checklist_table({compared.candidate.config_id: compared.decision})
        if compared.decision is not None
        else None
    )
    leaks = describe_leaks(compared)
    parts = [
        "# Comparison report",
        "",
        f"**Decision: {decision.outcome}**",
        "",
        *([escape_markdown(leaks), ""] if leaks else []),
        *(_render_reasons(decision) or ["No reason against a release was found."]),
        *_render_section(build_sides_table(compared)),
        *_render_section(build_metric_changes_table(compared)),
        *_iter_regressions({compared.candidate.config_id: compared}),
        *(_render_section(table) if table is not None else []),
        *_render_section(build_slice_changes_table(compared)),
        *_render_section(build_rank_moves_table(compared)),
        *_render_section(build_transitions_table(compared)),
        *_render_heading("Decision"),
        f"**{decision.outcome}.** {RELEASE_ADVICE[decision.outcome]}",
        "",
        f"Date: {escape_markdown(meta.date or _NOT_STATED)}. {_render_reviewer(meta.approver, decision)}",
    ]
    if compared.notes:
        parts += [*_render_heading("Notes"), *_render_list(compared.notes)]
    return "\n".join(parts) + "\n"


def render_candidates_markdown(
    decisions: Sequence[tuple[str, Outcome]], reports: Sequence[str], decision: Decision
) -> str:
    """Return the reports of several candidates as one: the worst decision and that on each first."""
    note = "Each candidate is compared with the same baseline. The tests of all of them form one family (ADR 49)."
    table = Table("Candidates", ("Candidate", "Decision"), tuple(decisions), (note,))
    parts = ["# Comparison of candidates", "", f"**Decision: {decision.outcome}**", *_render_section(table), ""]
    return "\n".join([*parts, *reports])


def _iter_regressions(comparison_by_config: Mapping[str, Comparison], *, failing_only: bool = False) -> Iterator[str]:
    """Yield what got worse than in the baseline, what changed, and why the metrics moved, for every configuration."""
    for config, compared in sorted(comparison_by_config.items()):
        config_suffix = f": {config}" if len(comparison_by_config) > 1 else ""
        table = build_regressions_table(compared, failing_only=failing_only)
        yield from _render_section(replace(table, title=f"{table.title}{config_suffix}"))
        yield from (*_render_heading(f"What changed?{config_suffix}"), *_render_list(compared.changed))
        moved = _render_list(compared.moved) or [describe_unexplained(compared)]
        yield from (*_render_heading(f"Why did metrics move?{config_suffix}"), *moved)


def _build_summary_table(
    scoring: ScoringResult, meta: ReportMeta, comparison_by_config: Mapping[str, Comparison]
) -> Table:
    golden = scoring.golden
    golden_name = " ".join(part for part in (golden.name, golden.version) if part) or _NOT_STATED
    rows = [
        ("Date", meta.date or _NOT_STATED),
        ("Owner", meta.owner or _NOT_STATED),
        ("Config", ", ".join(sorted(scoring.configs)) or "none"),
        (
            "Baseline",
            ", ".join(sorted({compared.baseline.name for compared in comparison_by_config.values()})) or "none",
        ),
        ("Eval set", f"{golden_name}, {format_count(golden.cases, 'case')}, {golden.digest}"),
        *([("Test split", scoring.looks.describe())] if scoring.looks is not None else ()),
        ("Corpus / index", _format_corpus(scoring, meta)),
        ("Prompt / model", _format_config_versions(scoring, ("prompt", "generator", "judge"))),
        ("Gate", scoring.gate.name or "unnamed" if scoring.gate is not None else "none"),
        ("Decision", scoring.decision.outcome),
        ("Assay", scoring.assay_version or _NOT_STATED),
    ]
    return Table("Summary", ("Field", "Value"), tuple(rows))


def _format_corpus(scoring: ScoringResult, meta: ReportMeta) -> str:
    """Return the corpus that was given, and the versions of what was searched."""
    versions = _format_config_versions(scoring, ("corpus", "chunking", "embedding", "index", "reranker"))
    if not meta.corpus:
        return versions
    return f"{meta.corpus}; {versions}"


def _format_config_versions(scoring: ScoringResult, parts: tuple[str, ...]) -> str:
    """Return each configuration's versions of `parts`; several values of one part mean that it changed midway."""
    config_versions = []
    for config, result in sorted(scoring.configs.items()):
        part_versions = [
            f"{part} {' and '.join(result.table.versions[part])}" for part in parts if part in result.table.versions
        ]
        if part_versions:
            config_versions.append(f"{config}: {', '.join(part_versions)}")
    return "; ".join(config_versions) or "versions not stated"


def build_headline_table(scoring: ScoringResult) -> Table:
    """Return the headline metrics of the report template, configurations side by side."""
    results = sorted(scoring.configs.items())
    configs = scoring.configs.values()
    headlines = name_rankings(list_headlines(list_measured_metrics(configs)), configs)
    rows = [
        (
            title,
            _get_headline_class(names, results),
            *(format_with_interval(find_measured_summary(names, result.summary)) for _, result in results),
        )
        for title, names in headlines
    ]
    notes = (
        "Each value is followed by the number of cases scored and its 95% interval. "
        "D: deterministic. J: computed from a judge's labels.",
        *_iter_uncalibrated(results),
    )
    return Table("Headline metrics", ("Metric", "Class", *(config for config, _ in results)), tuple(rows), notes)


def _iter_uncalibrated(results: Sequence[tuple[str, ConfigResult]]) -> Iterator[str]:
    """Yield a note on the headlines whose scorer is not calibrated against human labels, if there are any.

    Another for each reason why a calibration that was given lets them not gate.
    """
    uncalibrated_titles: list[str] = []
    titles_by_reason: dict[str, list[str]] = {}
    for title, names in list_headlines(list_measured_metrics(result for _, result in results)):
        for _, result in results:
            name = find_first_present(names, result.summary)
            if name is None or name not in result.table.uncalibrated:
                continue
            reason = result.table.refused_calibrations.get(name)
            titles = titles_by_reason.setdefault(reason, []) if reason else uncalibrated_titles
            titles += [title] if title not in titles else []
    if uncalibrated_titles:
        yield f"Not calibrated, for ranking and trends only: {', '.join(uncalibrated_titles)}."
    for reason, titles in titles_by_reason.items():
        yield f"For ranking and trends only: {', '.join(titles)}: {reason}."


def _get_headline_class(names: MetricNames, results: Sequence[tuple[str, ConfigResult]]) -> str:
    """Return the class of the metric behind a headline, `n/a` if none was measured."""
    for _, result in results:
        name = find_first_present(names, result.summary)
        if name is not None:
            return get_metric_class(name)
    return NOT_AVAILABLE


def _render_gate(scoring: ScoringResult) -> list[str]:
    table = build_gate_table(scoring)
    if table.rows:
        return _render_section(table)
    return [*_render_heading(table.title), "No gate was given, so no rule was checked."]


def _iter_gate_sections(scoring: ScoringResult) -> Iterator[str]:
    """Yield the rules with their results, then the reasons that are not at the top of the report."""
    yield from _render_gate(scoring)
    printed = set(scoring.decision.reasons)
    left = list(scoring.decision.reasons[_MAX_REASONS:])
    for config, result in sorted(scoring.configs.items()):
        reasons = result.decision.reasons if result.decision is not None else ()
        left += [f"{config}: {reason}" for reason in reasons if printed.isdisjoint((reason, f"{config}: {reason}"))]
    if left:
        more = [f"- {render_reason(reason, scoring.decision)}" for reason in dict.fromkeys(left)]
        yield from (*_render_heading("More reasons", 3), *more)


def _render_reviewer(name: str, decision: Decision) -> str:
    """Return who is named as reviewer; only of what passed do they approve."""
    role = "Approved by" if decision.outcome in ("PASS", "PASS_WITH_RISK") else "Reviewer"
    return f"{role}: {escape_markdown(name or 'nobody yet')}"


def _iter_headline_changes(scoring: ScoringResult, comparison_by_config: Mapping[str, Comparison]) -> Iterator[str]:
    """Yield the changes of the headline metrics, for every configuration that is not the baseline itself."""
    if not comparison_by_config:
        yield from (*_render_heading("Regression Summary"), "No baseline was given, so nothing was compared.")
        return
    for table in build_changes_tables(scoring, comparison_by_config):
        if table.rows:
            yield from _render_section(table)
        else:
            yield from (*_render_heading(table.title), "No score of any case differs from the baseline.")


def build_changes_tables(scoring: ScoringResult, comparison_by_config: Mapping[str, Comparison]) -> list[Table]:
    """Return the changes of the headline metrics for each configuration; without rows where no case differs."""
    configs = scoring.configs.values()
    headlines = name_rankings(list_headlines(list_measured_metrics(configs)), configs)
    changes_tables = []
    for config, compared in sorted(comparison_by_config.items()):
        table = build_headline_changes_table(compared, headlines)
        differs = any(
            change.improved or change.regressed or (change.unknown is not None and change.unknown.is_one_sided)
            for change in compared.metrics.values()
        )
        title = f"{table.title}: {config}"
        changes_tables.append(replace(table, title=title) if differs else Table(title, table.columns, ()))
    return changes_tables


def _iter_metrics(scoring: ScoringResult) -> Iterator[str]:
    yield from _render_heading("All metrics")
    yield (
        "Class D: deterministic, computed from the files alone. Class J: computed from a judge's recorded verdicts. "
        "What was requested and not measured is under Limitations."
    )
    for config, result in sorted(scoring.configs.items()):
        yield from _render_section(build_all_metrics_table(config, result, most_rows=_MAX_METRICS), level=3)
    yield from _render_section(build_aggregate_table(scoring))


def _iter_inputs(scoring: ScoringResult) -> Iterator[str]:
    rows = tuple((source.path, source.format, str(source.rows), ", ".join(source.configs)) for source in scoring.inputs)
    yield from _render_section(Table("Inputs", ("File", "Format", "Rows", "Configs"), rows))
    notes: list[str] = []
    printed_notes = {f"{config}: {note}" for config, note in _list_notes(scoring)}  # next to the headline metrics
    for config, result in sorted(scoring.configs.items()):
        notes += [line for line in iter_config_notes(config, result, scoring) if line not in printed_notes]
    if notes:
        yield from ("", *_render_list(notes))
    if scoring.warnings:
        yield from (*_render_heading("Warnings"), *_render_list(scoring.warnings))
