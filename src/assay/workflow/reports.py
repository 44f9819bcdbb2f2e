"""Writing the reports of a finished scoring. Modules for reports that few runs write are imported when needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.finding import Attribution, Comparison
from assay.io.writing import write_whole
from assay.model import Observation
from assay.report.jsonreport import to_json
from assay.report.legacy import legacy_json, legacy_rows
from assay.report.markdown import ReportMeta, to_markdown
from assay.report.percase import case_lines
from assay.workflow.score import ScoreRun

FAILED_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Targets:
    """The paths of the reports to write; None for a report that is not wanted. `now` is the ISO time for the reports.

    For the HTML report, `detail_mb` is the size in megabytes up to which whole cases are included, `explain` holds the
    arguments after `assay explain CASE --config CONFIG` for the other cases, and `show_forbidden` includes text that
    the user of a case must not see.
    """

    markdown: str | None = None
    json: str | None = None
    per_case: str | None = None
    legacy_json: str | None = None
    run_dir: str | None = None
    owner: str = ""
    now: str | None = None
    junit: str | None = None
    csv: str | None = None
    raw_csv: bool = False
    verdicts: str | None = None
    calibration: str | None = None
    rubrics: Sequence[str] = ()
    html: str | None = None
    detail_mb: float = 25.0
    show_forbidden: bool = False
    explain: str = ""


def write_reports(run: ScoreRun, wanted: Targets) -> list[tuple[str, Path]]:
    """Write the wanted reports and return pairs of description and path, in the order written."""
    written: list[tuple[str, Path]] = []

    def write(kind: str, path: str | None, parts: Iterator[bytes]) -> None:
        if path is not None:
            written.append((kind, write_whole(path, parts)))

    if wanted.run_dir is not None:
        from assay.workflow.keep import keep_run  # imports this module

        written.append(("run folder", keep_run(run, wanted, Path(wanted.run_dir))))
    write("report", wanted.markdown, iter([markdown(run, wanted).encode()]) if wanted.markdown else iter(()))
    write("JSON report", wanted.json, iter([json_report(run, wanted.now).encode()]) if wanted.json else iter(()))
    write("scores of every case", wanted.per_case, per_case(run))
    if wanted.legacy_json is not None:
        write("JSON report in the runner's shape", wanted.legacy_json, iter([legacy(run).encode()]))
    if wanted.junit is not None:
        from assay.report.junit import to_junit

        write("JUnit XML", wanted.junit, iter([to_junit(run.scoring).encode()]))
    if wanted.csv is not None:
        from assay.report.csvreport import csv_lines

        tables = {config: result.table for config, result in run.scoring.configs.items()}
        write("scores as CSV", wanted.csv, csv_lines(tables, run.cases, raw=wanted.raw_csv))
    if wanted.html is not None:
        write("HTML report", wanted.html, html(run, wanted))
    return written


def markdown(run: ScoreRun, wanted: Targets) -> str:
    """Return the Markdown report, which shows the observations of failed cases."""
    from assay.workflow.explain import listed  # needed only for reports that show cases

    cases = {case.id: case for case in run.golden.cases}
    meta = ReportMeta(date=(wanted.now or "")[:10], owner=wanted.owner or run.golden.owner)
    shown = shown_observations(run)
    lists = {key: listed(run.joins.case(run.joins.position[key[1]]), observation) for key, observation in shown.items()}
    return to_markdown(run.scoring, shown, cases, meta, _compare_with_baseline(run), all_attributions(run), lists)


def json_report(run: ScoreRun, now: str | None = None) -> str:
    """Return the JSON report, with the attribution of every case."""
    return to_json(run.scoring, now, all_attributions(run))


def all_attributions(run: ScoreRun) -> dict[str, dict[str, Attribution]]:
    """Return the attributions of every configuration that has any; none if the run keeps no observations."""
    from assay.workflow.attribute import attributions  # needed only for reports that show cases

    by_config = {config: attributions(run, config) for config in sorted(run.scoring.configs)}
    return {config: by_case for config, by_case in by_config.items() if by_case}


def _compare_with_baseline(run: ScoreRun) -> Mapping[str, Comparison]:
    if run.baseline is None:
        return {}
    from assay.workflow.compare import comparisons  # attributes every case again, so only with a baseline

    return comparisons(run)


def _decisive_comparison(run: ScoreRun) -> Comparison | None:
    """Return the comparison of the first gated configuration, else of the first configuration."""
    by_config = _compare_with_baseline(run)
    gated = [config for config in by_config if run.scoring.configs[config].decision is not None]
    return by_config[gated[0] if gated else min(by_config)] if by_config else None


def html(run: ScoreRun, wanted: Targets) -> Iterator[bytes]:
    """Yield the HTML report in pieces; the run's files must exist until the last piece."""
    from assay.workflow.html import html_report  # needed only for reports that show cases

    return html_report(
        run,
        comparison=_decisive_comparison(run),
        attributions=all_attributions(run),
        explain=wanted.explain,
        date=(wanted.now or "")[:10],
        owner=wanted.owner,
        detail_mb=wanted.detail_mb,
        show_forbidden=wanted.show_forbidden,
    )


def shown_observations(run: ScoreRun) -> Mapping[tuple[str, str], Observation]:
    """Return the observations of the failed cases that a report shows, read again from their files."""
    observations = {}
    for config, result in run.scoring.configs.items():
        failed = [checks.case_id for checks in result.table.checks if checks.failed][:FAILED_SHOWN]
        for case_id in failed:
            observation = run.observation(config, case_id)
            if observation is not None:
                observations[config, case_id] = observation
    return observations


def github_annotations(run: ScoreRun, *, strict: bool = False) -> list[str]:
    """Return the workflow commands with which GitHub annotates what speaks against a release."""
    from assay.report.github import workflow_commands

    return workflow_commands(run.scoring, strict=strict)


def github_summary(run: ScoreRun, *, strict: bool = False) -> str:
    """Return the GitHub job summary as Markdown."""
    from assay.report.github import job_summary

    return job_summary(run.scoring, run.cases, strict=strict)


def per_case(run: ScoreRun) -> Iterator[bytes]:
    """Yield the scores of every (configuration, case) as JSON lines, configurations in alphabetical order."""
    for config in sorted(run.scoring.configs):
        yield from case_lines(run.scoring.configs[config].table)


def legacy(run: ScoreRun) -> str:
    """Return the report in the exact shape of the RAG runner's contract `rag-trace` (ADR 0038)."""
    rows = {}
    for config, result in run.scoring.configs.items():
        rows[config] = legacy_rows(run.golden.cases, result.table, _recorded_observations(run, config))
    return legacy_json(rows)


def _recorded_observations(run: ScoreRun, config: str) -> Iterator[tuple[str, Observation]]:
    for case_id in run.scoring.configs[config].table.case_ids:
        observation = run.observation(config, case_id)
        if observation is not None:
            yield case_id, observation
