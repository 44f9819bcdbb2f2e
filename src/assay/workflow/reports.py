"""What a finished scoring leaves behind: reports for people, JSON for programs, a run folder to score again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError, Problem
from assay.finding import Attribution, Comparison
from assay.io.runfolder import CALIBRATION, CORPUS, GOLDEN, MANIFEST, OBSERVATIONS, VERDICTS_TEXT, RunFolder
from assay.io.writing import write_whole
from assay.model import Observation
from assay.report.csvreport import csv_lines
from assay.report.github import job_summary, workflow_commands
from assay.report.html_data import DETAIL_MB
from assay.report.jsonreport import to_json
from assay.report.junit import to_junit
from assay.report.legacy import legacy_json, legacy_rows
from assay.report.markdown import ReportMeta, to_markdown
from assay.report.percase import case_lines
from assay.version import __version__
from assay.workflow.outputs import refuse_overwriting
from assay.workflow.score import ScoreRun

FAILED_SHOWN = 30
OWN = (MANIFEST, GOLDEN, CORPUS, CALIBRATION, VERDICTS_TEXT)
"""Files of a run folder over which no report is written."""


@dataclass(frozen=True, slots=True)
class Targets:
    """Where to write what; None for what is not wanted. `now` is an ISO time for the reports, never read here.

    Of the HTML report: `detail_mb` megabytes of whole cases, `explain` the words after `assay explain CASE --config
    CONFIG` for the others; `show_forbidden` text that the askers must not see.
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
    detail_mb: float = DETAIL_MB
    show_forbidden: bool = False
    explain: str = ""


def write_reports(run: ScoreRun, wanted: Targets) -> list[tuple[str, Path]]:
    """Write everything wanted and return (what it is, where it is) pairs in the order written."""
    written: list[tuple[str, Path]] = []

    def write(what: str, path: str | None, parts: Iterator[bytes]) -> None:
        if path is not None:
            written.append((what, write_whole(path, parts)))

    if wanted.run_dir is not None:
        reports = [wanted.markdown, wanted.json, wanted.per_case, wanted.legacy_json, wanted.html]
        refuse_overwriting(reports, [str(Path(wanted.run_dir, name)) for name in (*OWN, *observation_files(run))])
        folder = write_run(run, Path(wanted.run_dir), wanted.verdicts, wanted.calibration, wanted.rubrics)
        written.append(("run folder", folder))
    write("report", wanted.markdown, iter([markdown(run, wanted).encode()]) if wanted.markdown else iter(()))
    write("JSON report", wanted.json, iter([json_report(run, wanted.now).encode()]) if wanted.json else iter(()))
    write("scores of every case", wanted.per_case, per_case(run))
    if wanted.legacy_json is not None:
        write("JSON report in the runner's shape", wanted.legacy_json, iter([legacy(run).encode()]))
    if wanted.junit is not None:
        write("JUnit XML", wanted.junit, iter([to_junit(run.scoring).encode()]))
    if wanted.csv is not None:
        tables = {config: result.table for config, result in run.scoring.configs.items()}
        write("scores as CSV", wanted.csv, csv_lines(tables, run.cases, raw=wanted.raw_csv))
    if wanted.html is not None:
        write("HTML report", wanted.html, html(run, wanted))
    return written


def markdown(run: ScoreRun, wanted: Targets) -> str:
    """Return the Markdown report, with the observations of the failed cases that it shows."""
    from assay.workflow.explain import listed  # loaded for reports of cases only

    cases = {case.id: case for case in run.golden.cases}
    meta = ReportMeta(date=(wanted.now or "")[:10], owner=wanted.owner or run.golden.owner)
    shown = shown_observations(run)
    lists = {key: listed(run.joins.case(run.joins.position[key[1]]), seen) for key, seen in shown.items()}
    return to_markdown(run.scoring, shown, cases, meta, _comparisons(run), all_attributions(run), lists)


def json_report(run: ScoreRun, now: str | None = None) -> str:
    """Return the report for programs, with whose fault each case's outcome was."""
    return to_json(run.scoring, now, all_attributions(run))


def all_attributions(run: ScoreRun) -> dict[str, dict[str, Attribution]]:
    """Return the attributions of every configuration; none where the run keeps no observations."""
    from assay.workflow.attribute import attributions  # loaded for reports of cases only

    return {config: found for config in sorted(run.scoring.configs) if (found := attributions(run, config))}


def _comparisons(run: ScoreRun) -> Mapping[str, Comparison]:
    if run.baseline is None:
        return {}
    from assay.workflow.compare import comparisons  # attributes every case again: only where a baseline was given

    return comparisons(run)


def _decisive(run: ScoreRun) -> Comparison | None:
    """Return the comparison of the first configuration that is gated, else of the first."""
    found = _comparisons(run)
    gated = [config for config in found if run.scoring.configs[config].decision is not None]
    return found[gated[0] if gated else min(found)] if found else None


def html(run: ScoreRun, wanted: Targets) -> Iterator[bytes]:
    """Yield the HTML report in pieces; the run's files must be there until the last of them."""
    from assay.workflow.html import html_report  # loaded for reports of cases only

    return html_report(
        run,
        comparison=_decisive(run),
        attributions=all_attributions(run),
        explain=wanted.explain,
        date=(wanted.now or "")[:10],
        owner=wanted.owner,
        detail_mb=wanted.detail_mb,
        show_forbidden=wanted.show_forbidden,
    )


def shown_observations(run: ScoreRun) -> Mapping[tuple[str, str], Observation]:
    """Return the observations of the failed cases that a report shows, read again from their files."""
    found = {}
    for config, result in run.scoring.configs.items():
        failed = [checks.case_id for checks in result.table.checks if checks.failed][:FAILED_SHOWN]
        for case_id in failed:
            observation = run.observation(config, case_id)
            if observation is not None:
                found[config, case_id] = observation
    return found


def github_annotations(run: ScoreRun) -> list[str]:
    """Return the commands that make GitHub mark what stands against a release."""
    return workflow_commands(run.scoring)


def github_summary(run: ScoreRun) -> str:
    """Return the summary of a job, as Markdown."""
    return job_summary(run.scoring, run.cases)


def per_case(run: ScoreRun) -> Iterator[bytes]:
    """Yield the scores of every (configuration, case) as JSON lines, configurations in alphabetical order."""
    for config in sorted(run.scoring.configs):
        yield from case_lines(run.scoring.configs[config].table)


def legacy(run: ScoreRun) -> str:
    """Return the report in the exact shape of the brief's own runner."""
    rows = {}
    for config, result in run.scoring.configs.items():
        seen = (
            (case_id, found)
            for case_id in result.table.case_ids
            if (found := run.observation(config, case_id)) is not None
        )
        rows[config] = legacy_rows(run.golden.cases, result.table, seen)
    return legacy_json(rows)


def write_run(
    run: ScoreRun,
    path: Path,
    verdicts: str | None = None,
    calibration: str | None = None,
    rubrics: Sequence[str] = (),
) -> Path:
    """Write a run folder: manifest, golden set, observations (copied) and derived reports (DECISIONS 20).

    `verdicts`, `calibration` and the folders of `rubrics` are what the run was scored with; they are copied too.

    Raises InputError where the folder holds something that is not such a run.
    """
    with RunFolder(path) as folder:
        if "targets" in folder.manifest:
            message = (
                "holds what was observed of living targets (expected another folder for scores of recorded outputs)"
            )
            raise InputError([Problem(str(path), None, "", message, "E_RUN_FOLDER")])
        names = observation_files(run)
        _refuse_lost(run, [path / name for name in names])
        folder.write_golden(run.golden)
        copies = []
        for name, file in zip(names, run.files, strict=True):
            digest = folder.copy_observations(file.path, name)
            copies.append({"path": name, "format": file.decoded_as, "sha256": digest, "from": file.name})
        manifest = {
            "assay_version": __version__,
            "complete": True,
            "configs": sorted(run.scoring.configs),
            "golden": {"name": run.scoring.golden.name, "version": run.scoring.golden.version},
            "golden_digest": run.scoring.golden.digest,
            "observations": copies,
        }
        if verdicts is not None and run.judging is not None:
            from assay.workflow.books import export_book  # most runs have no verdicts, and need no database

            export_book(verdicts, str(path / VERDICTS_TEXT))
            judge = {"digest": run.judging.judge, "book": VERDICTS_TEXT, "rubrics": folder.copy_rubrics(rubrics)}
            manifest["judge"] = judge
        if calibration is not None:
            write_whole(path / CALIBRATION, [Path(calibration).read_bytes()])
            manifest["calibration"] = CALIBRATION
        folder.write_manifest(manifest)
        keep_scoring(run, folder)
    return path


def observation_files(run: ScoreRun) -> list[str]:
    """Return the names that the files of outputs have in a run folder."""
    count = len(run.files)
    return [OBSERVATIONS] if count == 1 else [f"observations-{number}.jsonl" for number in range(1, count + 1)]


def _refuse_lost(run: ScoreRun, copies: Sequence[Path]) -> None:
    """Raise InputError where a file of outputs is what the copy of another one would replace."""
    read = {Path(file.path).resolve(): file.name for file in run.files}
    problems = []
    for copy, file in zip(copies, run.files, strict=True):
        lost = read.get(copy.resolve(), file.name)
        if lost != file.name:
            message = (
                f"would be replaced by a copy of {file.name} (expected another folder, or the files in their order)"
            )
            problems.append(Problem(lost, None, "", message, "E_OVERWRITE"))
    if problems:
        raise InputError(problems)


def keep_scoring(run: ScoreRun, folder: RunFolder) -> None:
    """Keep in a run folder what is needed to score it again, and its scores, to be read without that."""
    known = {key: value for key, value in folder.manifest.items() if key != "corpus"}
    if run.corpus is not None:
        known["corpus"] = {"digest": run.corpus.digest, "path": CORPUS, "sha256": folder.write_corpus(run.corpus)}
    configs = sorted(run.scoring.configs.items())
    folder.write_manifest(
        known
        | {
            "metrics": [str(name) for name in run.plan.names],
            "attribution": {"good": run.attribution.good, "production_k": run.attribution.production_k},
            "versions": {config: result.table.versions for config, result in configs},
        }
    )
    folder.write_derived("report.json", [json_report(run).encode()])
    folder.write_derived("cases.jsonl", per_case(run))
