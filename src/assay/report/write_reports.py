"""Writing the reports of a finished scoring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.formats.file_io import write_atomically
from assay.metrics.leaks.withheld_text import WithheldTexts
from assay.records.counts import format_count
from assay.records.findings import Comparison
from assay.records.observations import Observation
from assay.records.requests import ReportFiles
from assay.report.cases.explain_case import list_missing_files, summarise_failed_case
from assay.report.exports.case_scores import iter_csv_lines
from assay.report.exports.export_scores import iterate_case_lines, render_json
from assay.report.exports.github import render_job_summary, render_workflow_commands
from assay.report.exports.json_report import build_legacy_rows, render_legacy_json
from assay.report.exports.junit import render_junit
from assay.report.exports.markdown import ReportMeta, render_markdown_report
from assay.report.findings.collect_entities import tabulate_entities
from assay.report.findings.collect_findings import attribute_all_configs, compare_run
from assay.report.page.write_html import build_html_report
from assay.scoring.case_outcomes import classify_checks
from assay.scoring.scored_run import ScoredRun

MAX_FAILED_SHOWN = 30
MAX_FAILED_SUMMARISED = 200
"""Failed cases of a configuration that the JUnit file shows with question, answer, cause and fix."""


def write_reports(run: ScoredRun, files: ReportFiles) -> list[tuple[str, Path]]:
    """Write the wanted reports and return pairs of description and path, in the order written."""
    written: list[tuple[str, Path]] = []

    def write(kind: str, path: str | None, parts: Iterator[bytes]) -> None:
        if path is not None:
            written.append((kind, write_atomically(path, parts)))

    write("report", files.markdown, iter([render_markdown(run, files).encode()]) if files.markdown else iter(()))
    write("JSON report", files.json, iter([render_json(run, files.now).encode()]) if files.json else iter(()))
    write("scores of every case", files.per_case, iterate_case_lines(run))
    if files.legacy_json is not None:
        write("JSON report in the runner's shape", files.legacy_json, iter([format_legacy_report(run).encode()]))
    if files.junit is not None:
        junit = render_junit(run.scoring, attribute_all_configs(run), _summarise_open_cases(run))
        write("JUnit XML", files.junit, iter([junit.encode()]))
    if files.csv is not None:
        tables = {config: result.table for config, result in run.scoring.configs.items()}
        write("scores as CSV", files.csv, iter_csv_lines(tables, run.cases, raw=files.raw_csv))
    if files.html is not None:
        write("HTML report", files.html, iterate_html(run, files))
    return written


def render_markdown(run: ScoredRun, files: ReportFiles) -> str:
    """Return the Markdown report, which shows the observations of failed cases."""
    cases = {case.id: case for case in run.golden.cases}
    parts = (format_count(len(run.corpus.chunks), "chunk"), run.corpus.digest) if run.corpus is not None else ()
    corpus = ", ".join(filter(None, parts))
    meta = ReportMeta(date=(files.now or "")[:10], owner=files.owner or run.golden.owner, corpus=corpus)
    shown, lists = {}, {}
    for key, observation in read_failed_observations(run).items():
        case = run.joins.case_index(run.joins.position[key[1]])
        withheld = WithheldTexts(case, observation)
        shown[key] = withheld.withhold_names()
        lists[key] = withheld.withhold(list_missing_files(case, observation))
    return render_markdown_report(
        run.scoring, shown, cases, meta, compare_run(run), attribute_all_configs(run), lists, tabulate_entities(run)
    )


def _decisive_comparison(run: ScoredRun) -> Comparison | None:
    """Return the comparison that the page shows: of the first gated configuration, else of the first one.

    A configuration of the baseline's name is only chosen where there is no other: it is most often the baseline itself.
    """
    by_config = compare_run(run)
    gated = [config for config in by_config if run.scoring.configs[config].decision is not None]
    candidates = gated or sorted(by_config)
    others = [config for config in candidates if config != by_config[config].baseline.config_id]
    return by_config[(others or candidates)[0]] if candidates else None


def iterate_html(run: ScoredRun, files: ReportFiles) -> Iterator[bytes]:
    """Yield the HTML report in pieces; the run's files must exist until the last piece."""
    return build_html_report(
        run,
        comparison=_decisive_comparison(run),
        attributions=attribute_all_configs(run),
        explain=files.explain,
        date=(files.now or "")[:10],
        owner=files.owner,
        detail_mb=files.detail_mb,
        show_forbidden=files.show_forbidden,
    )


def read_failed_observations(run: ScoredRun) -> Mapping[tuple[str, str], Observation]:
    """Return the observations of the failed cases that a report shows, read again from their files."""
    observations = {}
    for config, result in run.scoring.configs.items():
        failed = [checks.case_id for checks in result.table.checks if checks.failed][:MAX_FAILED_SHOWN]
        for case_id in failed:
            observation = run.read_observation(config, case_id)
            if observation is not None:
                observations[config, case_id] = observation
    return observations


def _summarise_open_cases(run: ScoredRun) -> dict[tuple[str, str], str]:
    """Return the first failed cases of each configuration in words, and the first unknown ones; none if the run keeps
    no observations."""
    summaries = {}
    for config in attribute_all_configs(run):
        warned = run.scoring.configs[config].table.checks
        failed = [checks for checks in warned if checks.failed]
        unknown = [checks for checks in warned if classify_checks(checks) == "unknown"]
        for checks in (*failed[:MAX_FAILED_SUMMARISED], *unknown[:MAX_FAILED_SUMMARISED]):
            summaries[config, checks.case_id] = summarise_failed_case(run, config, checks)
    return summaries


def render_github_annotations(run: ScoredRun, *, strict: bool = False) -> list[str]:
    """Return the workflow commands with which GitHub annotates what speaks against a release."""
    return render_workflow_commands(run.scoring, strict=strict)


def render_github_summary(run: ScoredRun, *, strict: bool = False) -> str:
    """Return the GitHub job summary as Markdown."""
    return render_job_summary(
        run.scoring, run.cases, strict=strict, attributions=attribute_all_configs(run), comparisons=compare_run(run)
    )


def format_legacy_report(run: ScoredRun) -> str:
    """Return the report in the exact shape of the RAG runner's contract `rag-trace` (ADR 0038)."""
    rows = {}
    for config, result in run.scoring.configs.items():
        rows[config] = build_legacy_rows(run.golden.cases, result.table, _recorded_observations(run, config))
    return render_legacy_json(rows)


def _recorded_observations(run: ScoredRun, config: str) -> Iterator[tuple[str, Observation]]:
    for case_id in run.scoring.configs[config].table.case_ids:
        observation = run.read_observation(config, case_id)
        if observation is not None:
            case = run.joins.case_index(run.joins.position[case_id])
            yield case_id, WithheldTexts(case, observation).withhold_names()
