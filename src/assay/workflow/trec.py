"""Scoring of TREC runs against qrels from arrays: millions of lines, ranking metrics only.

The results equal those of the general engine; single cases cannot be read again, because no records are made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from msgspec import structs

from assay.errors import InputError, MetricNameError, Problem, shown
from assay.graders.base import Bools
from assay.graders.catalog import DEFAULT_METRICS, is_measurable, parse
from assay.graders.checks import failed_column, run_checks
from assay.graders.names import MetricName
from assay.graders.stages import RETRIEVED
from assay.io import golden as goldens
from assay.io.observations import TREC_RUN
from assay.io.trec.batch import check_names
from assay.io.trec.identity import qrels_digest
from assay.io.trec.qrels import Qrels, read_qrels
from assay.io.trec.score import RunScores, first_lines, score_run
from assay.model import ERROR, Case, GoldenInfo, GoldenSet, InputFile, ScoreColumn, ScoreTable
from assay.workflow.conclude import conclude
from assay.workflow.outputs import OutputFile
from assay.workflow.score import Options, ScoreRun, the_plan

QRELS = "trec-qrels"
_FAILED = MetricName("failed")


def _is_ranking_metric(name: MetricName) -> bool:
    """Return whether a metric needs only one ranking per query, which is all that a TREC run holds."""
    try:
        check_names([name])
    except MetricNameError:
        return name == _FAILED or not is_measurable(name)
    return True


TREC_METRICS = tuple(text for text in DEFAULT_METRICS if _is_ranking_metric(parse(text)))
"""The default metrics of TREC runs: those that need only one ranking."""


def is_pair(
    golden: str, golden_format: str | None, corpus: str | None, files: Sequence[OutputFile], options: Options
) -> bool:
    """Return whether golden set and outputs can be scored from arrays: qrels, TREC runs, and ranking metrics only."""
    if corpus is not None or not Path(golden).is_file() or any(file.format != TREC_RUN for file in files):
        return False
    if options.baseline is not None or (options.gate is not None and options.gate.waivers):
        return False  # both need the cases
    if options.limit is not None or options.only or not all(map(_is_ranking_metric, the_plan(options).names)):
        return False
    return (golden_format or goldens.detect_format(golden)) == QRELS


def score_pair(golden: str, files: Sequence[OutputFile], options: Options) -> ScoreRun:
    """Score runs against qrels. Raises InputError listing their problems, IncompleteError if a worker dies."""
    qrels = read_qrels(Path(golden))
    plan = the_plan(options, partial=True)
    names = [name for name in plan.columns if is_measurable(name) and name != _FAILED and _is_ranking_metric(name)]
    runs = [_score_file(qrels, file, names, options) for file in files]
    notices = (*_qrels_notices(golden, qrels), *_check_runs(files, runs, ignore_unknown=options.ignore_unknown))
    cases = GoldenSet(tuple([Case(query_id, "") for query_id in qrels.query_ids]), judgments="partial")
    tables = {
        run.config_id: _build_table(run, options.missing_as_zero) for run in sorted(runs, key=lambda run: run.config_id)
    }
    scoring = conclude(
        cases,
        GoldenInfo(Path(golden).stem, "", qrels_digest(qrels), len(qrels), QRELS, "partial"),
        tables,
        plan.names,
        options.gate,
        options.gate_configs,
        by=options.by,
        inputs=tuple(
            InputFile(file.name, TREC_RUN, len(qrels) - len(run.missing), (run.config_id,))
            for file, run in zip(files, runs, strict=True)
        ),
        stages=dict.fromkeys(tables, RETRIEVED),
        warnings=(*options.notices, *notices),
        missing_scored=options.missing_as_zero,
    )
    return ScoreRun(scoring, cases, None, plan, files)


def _score_file(qrels: Qrels, file: OutputFile, names: Sequence[MetricName], options: Options) -> RunScores:
    missing: Literal["error", "zero"] = "zero" if options.missing_as_zero else "error"
    try:
        return score_run(qrels, Path(file.path), names, workers=options.workers, missing=missing)
    except InputError as error:  # name the user's file, not its spooled copy
        raise InputError([replace(problem, path=file.name) for problem in error.problems], more=error.more) from None


def _build_table(run: RunScores, as_zero: bool) -> ScoreTable:
    missing_ids = set(run.missing)
    missing = np.array([query_id in missing_ids for query_id in run.query_ids], dtype=np.bool_)
    ids = list(run.query_ids)
    seen_columns = {name: _mark_missing(column, missing) for name, column in run.columns.items()}
    checks, failed = run_checks(ids, seen_columns, missing, np.zeros(len(ids), dtype=np.bool_))
    columns = run.columns | {str(_FAILED): failed_column(failed, missing & (not as_zero))}
    return ScoreTable(run.config_id, ids, columns, run.missing, checks)


def _mark_missing(column: ScoreColumn, missing: Bools) -> ScoreColumn:
    """Return a column without scores for missing queries, so that they fail no check except for being missing."""
    return structs.replace(column, status=np.where(missing, ERROR, column.status))


def _qrels_notices(golden: str, qrels: Qrels) -> list[str]:
    doubts = []
    if qrels.negative:
        message = f"negative grades taken as not judged (got {qrels.negative}; expected grades from 0)"
        doubts.append(str(Problem(golden, None, "grade", message, "E_UNJUDGED")))
    if qrels.normalised:
        message = f"lines brought to Unicode NFC (got {qrels.normalised} in another form; expected NFC)"
        doubts.append(str(Problem(golden, None, "", message, "E_NFC")))
    return doubts


def _check_runs(files: Sequence[OutputFile], runs: Sequence[RunScores], *, ignore_unknown: bool) -> list[str]:
    """Return notices about the runs; raise InputError for unknown queries and for a tag used twice."""
    problems: list[Problem] = []
    file_by_tag: dict[str, str] = {}
    for file, run in zip(files, runs, strict=True):
        if run.config_id in file_by_tag:
            tag, earlier_file = shown(run.config_id), file_by_tag[run.config_id]
            message = f"two runs with the same tag (got {tag} again; it is that of {earlier_file})"
            problems.append(Problem(file.name, None, "tag", message, "E_DUPLICATE"))
        file_by_tag.setdefault(run.config_id, file.name)
        refused_queries = () if ignore_unknown else run.unknown
        lines = first_lines(Path(file.path), refused_queries) if refused_queries else {}
        for query in refused_queries:
            message = f"no such case (got {shown(query)}; expected an id of the golden set, or --ignore-unknown)"
            problems.append(Problem(file.name, lines[query], "query", message, "E_UNKNOWN_ID"))
    if problems:
        raise InputError(problems)
    notices = [f"{file.name}: {run.normalised} lines brought to Unicode NFC"
               for file, run in zip(files, runs, strict=True) if run.normalised]  # fmt: skip
    unknown = sum(len(run.unknown) for run in runs)
    if unknown:
        notices.append(f"{unknown} rows of cases that are not in the golden set were left out")
    return notices
