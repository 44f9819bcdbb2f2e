"""Scoring a request of the command line: loads the inputs, scores them, and keeps temporary files until it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from assay.errors import InputError
from assay.graders.catalog import DEFAULT_METRICS
from assay.io.corpus import load_corpus, stale_evidence
from assay.io.golden import load_golden
from assay.io.observations import TREC_RUN
from assay.model import Gate
from assay.scoring.gate import exit_code
from assay.scoring.goodness import AUTO, AttributionSettings
from assay.scoring.rules import rule_problem
from assay.scoring.snapshot import Snapshot
from assay.workflow.outputs import OutputFile, decodable, output_files
from assay.workflow.replay import bound, judged_metrics, replayed
from assay.workflow.score import Job, Options, Progress, ScoreRun, score_files


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a scoring as given on the command line.

    `look_again` keeps what is needed to read single cases afterwards. `configs` are the configurations to score, all of
    them if it is empty. `judged` adds the metrics with recorded verdicts to the named metrics. `good` and
    `production_k` are for attribution: the signal of a good answer, and the number of chunks that the system shows its
    model.
    """

    golden: str
    outputs: Sequence[str]
    golden_format: str | None = None
    outputs_format: str | None = None
    corpus: str | None = None
    metrics: Sequence[str] = ()
    by: Sequence[str] = ()
    gate: str | None = None
    profile: str | None = None
    gate_configs: Sequence[str] = ()
    missing_as_zero: bool = False
    ignore_unknown: bool = False
    allow_torn_tail: bool = False
    limit: int | None = None
    workers: int = 1
    strict_outputs: bool = False
    only: Sequence[str] = ()
    notices: Sequence[str] = ()
    look_again: bool = False
    baseline: str | None = None
    today: str | None = None
    approver: str = ""
    verdicts: str | None = None
    judge: str | None = None
    calibration: str | None = None
    rubrics: Sequence[str] = ()
    judged: bool = False
    good: str = AUTO
    golden_name: str = ""
    configs: Sequence[str] = ()
    production_k: int | None = None


@contextmanager
def scored(request: Request, progress: Progress | None = None) -> Iterator[ScoreRun]:
    """Yield the finished scoring; single observations can be read again within the block."""
    if [request.golden, request.corpus, *request.outputs].count("-") > 1:
        raise InputError("-: standard input can be read only once (got it for several of golden, outputs and corpus)")
    with output_files(request.outputs, request.outputs_format) as files:
        options = _options(request, files)
        if _are_trec(files) and not request.look_again:
            from assay.workflow.trec import is_pair, score_pair  # the array engine is needed only for TREC files

            if is_pair(request.golden, request.golden_format, request.corpus, files, options):
                yield score_pair(request.golden, files, options)
                return
        loaded = load_golden(request.golden, request.golden_format)
        corpus, doubts = load_corpus(request.corpus) if request.corpus is not None else (None, ())
        stale = stale_evidence(loaded.golden, corpus, request.golden) if corpus is not None else ()
        judging, unbound = bound(options.judging, loaded.digest)
        noticed = (*options.notices, *unbound, *map(str, loaded.warnings), *map(str, doubts), *map(str, stale))
        options = replace(options, notices=noticed, judging=judging)
        job = Job.of(loaded.golden, options, corpus, loaded.format, loaded.digest)
        job = replace(job, name=request.golden_name or _stem(request.golden))
        with decodable(files) as ready:
            yield score_files(job, ready, progress)


def _stem(golden: str) -> str:
    """Return the name for a golden set that does not state one."""
    return "" if golden == "-" else Path(golden).stem


def _are_trec(files: Sequence[OutputFile]) -> bool:
    return all(file.format == TREC_RUN for file in files)


def _default_metrics(files: Sequence[OutputFile]) -> tuple[str, ...]:
    if not _are_trec(files):
        return DEFAULT_METRICS
    from assay.workflow.trec import TREC_METRICS

    return TREC_METRICS


def _options(request: Request, files: Sequence[OutputFile]) -> Options:
    judging, doubts = replayed(request.verdicts, request.judge, request.calibration, request.rubrics)
    metrics = tuple(request.metrics) or _default_metrics(files)
    if request.judged or not request.metrics:
        metrics += judged_metrics(judging)
    gate = the_gate(request.gate, request.profile, request.approver)  # read only once, because the file may be a pipe
    return Options(
        metrics=metrics,
        by=tuple(request.by) or None,
        gate=gate,
        baseline=_baseline(request, gate),
        today=request.today,
        gate_configs=tuple(request.gate_configs),
        missing_as_zero=request.missing_as_zero,
        ignore_unknown=request.ignore_unknown,
        allow_torn_tail=request.allow_torn_tail,
        strict_outputs=request.strict_outputs,
        limit=request.limit,
        only=tuple(request.only),
        configs=tuple(request.configs),
        workers=request.workers,
        notices=(*request.notices, *doubts),
        judging=judging,
        attribution=AttributionSettings(request.good, request.production_k),
    )


def _baseline(request: Request, gate: Gate | None) -> Snapshot | None:
    """Return the side that `baseline` names, with the metrics of the request and its gate; None without a baseline."""
    if request.baseline is None:
        return None
    from assay.workflow.compare import baseline_for  # imports this module

    return baseline_for(request.baseline, request.metrics, gate)


def the_gate(path: str | None, profile: str | None, approver: str = "") -> Gate | None:
    """Return the gate of a file or a profile, None if neither is named; an `approver` replaces that of the file."""
    if path is not None and profile is not None:
        raise InputError(
            "--gate and --profile: both given (expected one of them; a gate file can name a profile as its base)"
        )
    if path is None and profile is None:
        if approver:
            raise InputError("--approver: nothing to approve without a gate (expected --gate FILE or --profile NAME)")
        return None
    from assay.io.gates import load_gate, load_profile  # YAML is needed only for gates

    gate = load_gate(path, rule_problem) if path is not None else load_profile(str(profile), rule_problem)
    return structs.replace(gate, approver=approver) if approver else gate


def day_of(now: str | None) -> str | None:
    """Return the day of an ISO time, by which waivers expire.

    >>> day_of("2026-03-01T08:00:00Z"), day_of(None)
    ('2026-03-01', None)
    """
    return now[:10] if now else None


def status_of(run: ScoreRun, *, strict: bool = False) -> int:
    """Return the exit code for the decision of a scoring."""
    return exit_code(run.scoring.decision, strict=strict)
