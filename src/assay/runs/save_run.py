"""A finished scoring saved in a run folder: its inputs and its scores (ADR 0032)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import structs

from assay.formats.file_io import write_atomically
from assay.formats.run_files.overwriting import refuse_overwriting
from assay.formats.run_files.run_folder import (
    CALIBRATION_FILE,
    CORPUS_FILE,
    LABELS_FILE,
    OBSERVATIONS_FILE,
    VERDICTS_FILE,
    RunFolder,
    parse_run_name,
    read_manifest,
)
from assay.records.errors import InputError, Problem
from assay.records.release_gates import Decision, Gate
from assay.records.requests import ReportFiles, ScoreRequest
from assay.report.exports.export_scores import iterate_case_lines, render_json
from assay.runs.answer_labels import encode_answer_labels
from assay.runs.load_plugins import list_metric_paths
from assay.scoring.paired_scores import is_missing_scored
from assay.scoring.scored_run import ScoredRun
from assay.version import __version__

NO_REQUEST = ScoreRequest()
NO_REPORTS = ReportFiles()


def save_run(
    run: ScoredRun,
    path: Path,
    request: ScoreRequest = NO_REQUEST,
    reports: ReportFiles = NO_REPORTS,
) -> Path:
    """Write a run folder: manifest, golden set, copies of the observations, and derived reports (ADR 0032).

    `request` is the one that the run was scored by: its verdict store, calibration and rubrics are copied too, and the
    folder is read again with the same selection, with variants or without, and with the same unusual outputs accepted
    (those of unknown cases, and a cut last line). `reports` are written elsewhere, and must not replace a file of the
    folder.

    Raises InputError if a report would, or if the folder holds anything other than a run of recorded outputs.
    """
    report_paths = [reports.markdown, reports.json, reports.per_case, reports.legacy_json, reports.html]
    refuse_overwriting(report_paths, [], run=str(path))
    inputs, verdicts = request.inputs, request.verdicts
    with RunFolder(path) as folder:
        if "targets" in folder.manifest:
            message = (
                "holds the observations of live targets (expected another folder for the scores of recorded outputs)"
            )
            raise InputError([Problem(str(path), None, "", message, "E_RUN_FOLDER")])
        names = name_observation_files(run)
        _refuse_overwritten_outputs(run, [path / name for name in names])
        folder.write_golden(run.given_golden or run.golden)
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
        earlier = (
            read_manifest(parse_run_name(inputs.run).path).get("earlier_answers") if inputs.run is not None else None
        )
        if earlier is not None:
            manifest["earlier_answers"] = earlier
        if verdicts.store is not None and run.judging is not None:
            from assay.judging.verdict_store import export_verdict_store  # only for a judged run

            export_verdict_store(verdicts.store, str(path / VERDICTS_FILE))
            manifest["judge"] = {
                "digest": run.judging.judge,
                "store": VERDICTS_FILE,
                "rubrics": folder.copy_rubrics(verdicts.rubrics),
            }
        if inputs.ignore_unknown or inputs.allow_torn_tail:
            accepted = {"unknown_cases": inputs.ignore_unknown, "torn_tail": inputs.allow_torn_tail}
            manifest["accepted"] = {name: True for name, is_accepted in accepted.items() if is_accepted}
        if verdicts.calibration is not None:
            write_atomically(path / CALIBRATION_FILE, [Path(verdicts.calibration).read_bytes()])
            manifest["calibration"] = CALIBRATION_FILE
        folder.write_manifest(manifest)
        save_scores(run, folder, request)
    return path


def name_observation_files(run: ScoredRun) -> list[str]:
    """Return the names of the copied output files in a run folder."""
    count = len(run.files)
    return [OBSERVATIONS_FILE] if count == 1 else [f"observations-{number}.jsonl" for number in range(1, count + 1)]


def _refuse_overwritten_outputs(run: ScoredRun, copies: Sequence[Path]) -> None:
    """Raise InputError if the copy of one output file would replace another output file."""
    name_by_path = {Path(file.path).resolve(): file.name for file in run.files}
    problems = []
    for copy, file in zip(copies, run.files, strict=True):
        overwritten = name_by_path.get(copy.resolve(), file.name)
        if overwritten != file.name:
            message = (
                f"would be replaced by a copy of {file.name} (expected another folder, or the files in their order)"
            )
            problems.append(Problem(overwritten, None, "", message, "E_OVERWRITE"))
    if problems:
        raise InputError(problems)


def save_scores(run: ScoredRun, folder: RunFolder, request: ScoreRequest = NO_REQUEST) -> None:
    """Save in a run folder what is needed to score it again, and its scores, which can be read without scoring.

    `request` says which cases were selected: those alone are scored again, so that every output speaks of the same
    cases.
    """
    manifest = {key: value for key, value in folder.manifest.items() if key not in ("corpus", "labels", "selection")}
    inputs, with_variants = request.inputs, request.scoring.with_variants
    selection = {"limit": inputs.limit, "only": list(inputs.only), "with_variants": with_variants}
    if any((inputs.limit is not None, inputs.only, with_variants)):
        manifest["selection"] = selection
    labels = encode_answer_labels(run.golden)
    if labels:
        write_atomically(folder.path / LABELS_FILE, [labels])
        manifest["labels"] = LABELS_FILE
    if run.corpus is not None:
        manifest["corpus"] = {
            "digest": run.corpus.digest,
            "path": CORPUS_FILE,
            "sha256": folder.write_corpus(run.corpus),
        }
    configs = sorted(run.scoring.configs.items())
    metric_paths = list_metric_paths(name.base for name in run.plan.requested)
    folder.write_manifest(
        manifest
        | ({"metric_paths": metric_paths} if metric_paths else {})
        | ({"missing": "zero"} if any(is_missing_scored(result.table) for _, result in configs) else {})
        | ({"looks": msgspec.to_builtins(run.scoring.looks)} if run.scoring.looks is not None else {})
        | {
            "metrics": [str(name) for name in run.plan.requested],
            "attribution": {
                "good": run.attribution.good,
                "production_k": run.attribution.production_k,
                "internal_stages": list(run.attribution.internal_stages),
            },
            "versions": {config: result.table.versions for config, result in configs},
        }
    )
    folder.record_gate(_select_gate(run))
    folder.record_baseline(request.gate.baseline)
    folder.write_derived("report.json", [render_json(run).encode()])
    folder.write_derived("cases.jsonl", iterate_case_lines(run))


def _select_gate(run: ScoredRun) -> Gate | None:
    """Return the gate of a run with the configurations that it decided about."""
    gate = run.scoring.gate
    if gate is None:
        return None
    decided = [config for config, result in run.scoring.configs.items() if _is_gated(result.decision)]
    return gate if len(decided) == len(run.scoring.configs) else structs.replace(gate, configs=tuple(sorted(decided)))


def _is_gated(decision: Decision | None) -> bool:
    return decision is not None and decision.outcome not in ("NOT_GATED", "PARTIAL")
