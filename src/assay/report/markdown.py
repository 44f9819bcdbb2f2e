"""The Markdown report: the decision first, then every table of the report template, then what it cannot say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.finding import Comparison
from assay.graders.catalog import CATALOG
from assay.model import ConfigResult, Decision, Outcome, Scoring
from assay.report import comparison, failures, faults, tables
from assay.report.failures import Cases, Details
from assay.report.faults import Attributions
from assay.report.figures import NA, Graders, instrument, plural, with_interval
from assay.report.honesty import honesty
from assay.report.names import HEADLINES, Names, first_present
from assay.report.safe import markdown
from assay.report.tables import Table, checklist

_TOP_REASONS = 3
_NOT_STATED = "not stated"

_WHAT_TO_DO: dict[Outcome, str] = {
    "PASS": "Release: every rule that was set is met.",
    "PASS_WITH_RISK": "Release only if the owner accepts the risks named above, and note who did.",
    "FAIL": "Do not release. Mend what the reasons name and run again, or roll back to the last good release.",
    "INCOMPLETE": "No decision is possible yet: measure what is missing, then run again.",
}


@dataclass(frozen=True, slots=True)
class ReportMeta:
    """What the report says of itself; `graders` are the catalogue's rows by base name (units, directions, classes)."""

    date: str = ""
    owner: str = ""
    approver: str = ""
    graders: Graders = field(default_factory=lambda: CATALOG)
    show_forbidden: bool = False


def to_markdown(
    scoring: Scoring,
    details: Details,
    cases: Cases,
    meta: ReportMeta,
    comparisons: Mapping[str, Comparison] | None = None,
    attributions: Attributions | None = None,
    lists: failures.Lists | None = None,
) -> str:
    """Return the whole report as Markdown ending in a newline.

    `details` hold the observations of failed cases by (configuration, case id), where they are at hand; `cases` all
    golden cases by id; `comparisons` each configuration held against a baseline; `attributions` whose
    fault each outcome was; `lists` which expected files and symbols are missing.
    """
    held = comparisons or {}
    parts = [
        *_first_screen(scoring),
        *_section(_summary(scoring, meta, held)),
        *_section(headlines(scoring, meta.graders)),
        *_section(failures.tag_notes(scoring, cases, meta.graders)),
        *_section(tables.slices(scoring, meta.graders, without=("tag",)), optional=True),
        *_section(failures.top_failed(scoring, cases, meta.show_forbidden, attributions)),
        *_faults(scoring, cases, attributions),
        *_gate(scoring, meta.graders),
        *_decision(scoring, meta),
        *_regressions(held, meta.graders),
        *_metrics(scoring, meta.graders),
        *_section(tables.aggregate(scoring, meta.graders)),
        *_section(failures.by_tag(scoring, cases, meta.graders)),
        *_section(failures.failed_queries(scoring, details, cases, lists)),
        *_heading("What this report cannot say"),
        *_list(honesty(scoring, meta.graders)),
        *_inputs(scoring),
    ]
    return "\n".join(parts) + "\n"


def _faults(scoring: Scoring, cases: Cases, attributions: Attributions | None) -> Iterator[str]:
    """Yield whose fault the outcomes were, the causes by tag, and what the pattern of the summaries suggests."""
    if not attributions:
        return
    tags = {name: case.tags for name, case in cases.items()}
    yield from _section(faults.cells(attributions))
    yield from _section(faults.causes(attributions, tags), level=3)
    yield from _section(faults.by_tag(attributions, tags), level=3, optional=True)
    hints = faults.hints(scoring)
    if hints:
        yield from (*_heading("Symptoms", 3), *_list(hints))


def table_lines(table: Table) -> list[str]:
    """Return a table as Markdown lines, every cell escaped; a table without rows as the word None."""
    if not table.rows:
        lines = ["None."]
    else:
        rows = [table.columns, *table.rows]
        drawn = ["| " + " | ".join(markdown(cell) for cell in row) + " |" for row in rows]
        lines = [drawn[0], "|" + " --- |" * len(table.columns), *drawn[1:]]
    return [*lines, *(line for note in table.notes for line in ("", markdown(note)))]


def _heading(title: str, level: int = 2) -> list[str]:
    return ["", f"{'#' * level} {markdown(title)}", ""]


def _section(table: Table, level: int = 2, *, optional: bool = False) -> list[str]:
    return [] if optional and not table.rows else [*_heading(table.title, level), *table_lines(table)]


def _list(lines: Iterable[str]) -> list[str]:
    return [f"- {markdown(line)}" for line in lines]


def _first_screen(scoring: Scoring) -> Iterator[str]:
    decision = scoring.decision
    yield "# Evaluation report"
    yield ""
    yield f"**Decision: {decision.outcome}**"
    yield ""
    for config, result in sorted(scoring.configs.items()):
        for note in result.table.notes:
            yield from (f"**{markdown(f'{config}: {note}')}**", "")
    reasons = decision.reasons
    yield from _list(reasons[:_TOP_REASONS]) if reasons else ["No reason against it was found."]
    if len(reasons) > _TOP_REASONS:
        yield f"- and {plural(len(reasons) - _TOP_REASONS, 'more reason')} under Decision"


def comparison_markdown(found: Comparison, decision: Decision, meta: ReportMeta) -> str:
    """Return the report of one comparison as Markdown ending in a newline: decision, tables, what changed and why."""
    graders = meta.graders
    table = checklist({found.candidate.config_id: found.decision}, graders) if found.decision is not None else None
    parts = [
        "# Comparison report",
        "",
        f"**Decision: {decision.outcome}**",
        "",
        *(_list(decision.reasons) or ["No reason against it was found."]),
        *_section(comparison.sides_table(found)),
        *_section(comparison.metrics_table(found, graders)),
        *_regressions({found.candidate.config_id: found}, graders),
        *(_section(table) if table is not None else []),
        *_section(comparison.slices_table(found, graders)),
        *_section(comparison.moves_table(found)),
        *_section(comparison.transitions_table(found)),
        *_heading("Decision"),
        f"**{decision.outcome}.** {_WHAT_TO_DO[decision.outcome]}",
        "",
        f"Date: {markdown(meta.date or _NOT_STATED)}. Approved by: {markdown(meta.approver or 'nobody yet')}",
    ]
    if found.notes:
        parts += [*_heading("Notes"), *_list(found.notes)]
    return "\n".join(parts) + "\n"


def _regressions(held: Mapping[str, Comparison], graders: Graders) -> Iterator[str]:
    """What got worse against the baseline, what changed and why the metrics moved, for every configuration."""
    if not held:
        yield from (*_heading("Regression Summary"), "No baseline given: nothing was compared.")
    for config, found in sorted(held.items()):
        several = f": {config}" if len(held) > 1 else ""
        table = comparison.regressions_table(found, graders)
        yield from _section(replace(table, title=f"{table.title}{several}"))
        yield from (*_heading(f"What changed?{several}"), *_list(found.changed))
        moved = _list(found.moved) or ["No case got better or worse on any measure of quality."]
        yield from (*_heading(f"Why did metrics move?{several}"), *moved)


def _summary(scoring: Scoring, meta: ReportMeta, held: Mapping[str, Comparison]) -> Table:
    golden = scoring.golden
    named = " ".join(part for part in (golden.name, golden.version) if part) or _NOT_STATED
    rows = [
        ("Date", meta.date or _NOT_STATED),
        ("Owner", meta.owner or _NOT_STATED),
        ("Config", ", ".join(sorted(scoring.configs)) or "none"),
        ("Baseline", ", ".join(sorted({each.baseline.name for each in held.values()})) or "none"),
        ("Eval set", f"{named}, {plural(golden.cases, 'case')}, {golden.digest}"),
        ("Corpus / index", _versions(scoring, ("corpus", "chunking", "embedding", "index", "reranker"))),
        ("Prompt / model", _versions(scoring, ("prompt", "generator", "judge"))),
        ("Gate", scoring.gate.name or "unnamed" if scoring.gate is not None else "none"),
        ("Decision", scoring.decision.outcome),
        ("Assay", scoring.assay_version or _NOT_STATED),
    ]
    return Table("Summary", ("Field", "Value"), tuple(rows))


def _versions(scoring: Scoring, parts: tuple[str, ...]) -> str:
    """Return what each configuration says of its versions; several values of one part mean that it changed midway."""
    said = []
    for config, result in sorted(scoring.configs.items()):
        found = [
            f"{part} {' and '.join(result.table.versions[part])}" for part in parts if part in result.table.versions
        ]
        if found:
            said.append(f"{config}: {', '.join(found)}")
    return "; ".join(said) or _NOT_STATED


def headlines(scoring: Scoring, graders: Graders) -> Table:
    """The metrics that people look at first, one configuration beside the other."""
    results = sorted(scoring.configs.items())
    rows = [
        (
            title,
            _class(names, results, graders),
            *(with_interval(tables.measured(names, result.summary), graders) for _, result in results),
        )
        for title, names in HEADLINES
    ]
    notes = (
        "Each value stands with the number of cases it was measured on and its 95% interval. "
        "D: deterministic. J: from labels that a judge gave.",
        *_uncalibrated(results),
    )
    return Table("Headline metrics", ("Metric", "Class", *(config for config, _ in results)), tuple(rows), notes)


def _uncalibrated(results: Sequence[tuple[str, ConfigResult]]) -> Iterator[str]:
    """Say which headlines stand on an instrument that nobody held against people."""
    open_ones = [
        title
        for title, names in HEADLINES
        if any(first_present(names, result.summary) in result.table.uncalibrated for _, result in results)
    ]
    if open_ones:
        yield f"Uncalibrated, for ranking and trend only: {', '.join(open_ones)}."


def _class(names: Names, results: Sequence[tuple[str, ConfigResult]], graders: Graders) -> str:
    """Return the class of the metric that stands for a headline; nothing where none was measured."""
    found = [name for _, result in results if (name := first_present(names, result.summary)) is not None]
    return instrument(found[0], graders) if found else NA


def _gate(scoring: Scoring, graders: Graders) -> list[str]:
    table = tables.gate_rules(scoring, graders)
    if table.rows:
        return _section(table)
    return [*_heading(table.title), "No rule was set: nothing was demanded of these numbers."]


def _decision(scoring: Scoring, meta: ReportMeta) -> Iterator[str]:
    yield from _heading("Decision")
    yield f"**{scoring.decision.outcome}.** {_what_to_do(scoring)}"
    if scoring.decision.reasons:
        yield from ("", *_list(scoring.decision.reasons))
    for config, result in sorted(scoring.configs.items()):
        if result.decision is None:
            yield from ("", f"{markdown(config)}: not gated")
            continue
        yield from ("", f"{markdown(config)}: **{result.decision.outcome}**")
        if result.decision.reasons:
            yield from ("", *_list(result.decision.reasons))
    approver = scoring.gate.approver if scoring.gate is not None else ""
    yield from ("", f"Approved by: {markdown(meta.approver or approver or 'nobody yet')}")


def _what_to_do(scoring: Scoring) -> str:
    decisions = (result.decision for result in scoring.configs.values() if result.decision is not None)
    if scoring.decision.outcome == "PASS" and not any(decision.results for decision in decisions):
        return "Everything was measured, and no rule was held against it: nothing here says that it may be released."
    return _WHAT_TO_DO[scoring.decision.outcome]


def _metrics(scoring: Scoring, graders: Graders) -> Iterator[str]:
    yield from _heading("All metrics")
    yield "Class D is deterministic: computed from the files alone. Class J rests on a judge's recorded verdicts."
    for config, result in sorted(scoring.configs.items()):
        yield from _section(tables.all_metrics(config, result, graders), level=3)


def _inputs(scoring: Scoring) -> Iterator[str]:
    rows = tuple((each.path, each.format, str(each.rows), ", ".join(each.configs)) for each in scoring.inputs)
    yield from _section(Table("Inputs", ("File", "Format", "Rows", "Configs"), rows))
    notes: list[str] = []
    for config, result in sorted(scoring.configs.items()):
        notes += tables.config_notes(config, result, scoring)
    if notes:
        yield from ("", *_list(notes))
    if scoring.warnings:
        yield from (*_heading("Warnings"), *_list(scoring.warnings))
