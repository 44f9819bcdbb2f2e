"""The use case of `assay run`: observe, score, report, decide.

Where a target has both a search and an answer, the first k chunks of both are compared case by case: do answers use the
chunks that a search returns?
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from assay.calls.interfaces import SEARCH_STAGE
from assay.formats import outputs
from assay.formats.run_files.manifest import read_made_with
from assay.formats.run_files.overwriting import refuse_overwriting
from assay.formats.run_files.run_folder import (
    GOLDEN_FILE,
    OBSERVATIONS_FILE,
    RunFolder,
    list_run_files,
    read_manifest,
    read_sent_users,
)
from assay.formats.settings_file import Config
from assay.gates.release_decision import select_gated_configs
from assay.records.counts import format_count
from assay.records.errors import IncompleteError
from assay.records.observations import CONTEXT_STAGE, Observation, Stage
from assay.records.requests import (
    GateOptions,
    InputOptions,
    ReportFiles,
    ScoreRequest,
    ScoringOptions,
    VerdictOptions,
    date_of_time,
)
from assay.runs.access_probes import LEAK_METRIC
from assay.runs.answer_labels import load_answer_labels
from assay.runs.compare_runs import load_gate_with_baseline
from assay.runs.count_looks import count_look
from assay.runs.load_plugins import load_metric_paths
from assay.runs.observe_run import ObservationRequest, ObservedRun
from assay.runs.save_run import save_scores
from assay.runs.score_inputs import LoadedGate, plan_metrics
from assay.runs.score_run import Progress, open_scored_run
from assay.scoring.scored_run import ScoredRun
from assay.targets.choose_target import choose_targets

MAX_CASES_SHOWN = 5
_RANKING_METRICS = ("hit", "recall", "precision", "rr", "ndcg")
"""The metrics that are scored at every cut-off of `scoring.k`, in addition to the usual ones."""


@dataclass(slots=True)
class SearchAgreement:
    """The number of compared observations of a configuration, and the cases that differ."""

    compared: int = 0
    differing: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RunGate:
    """What decides about a run: the options that name a gate and a baseline, and both as they were read."""

    options: GateOptions = field(default_factory=GateOptions)
    loaded: LoadedGate = field(default_factory=LoadedGate)


def compare_search_and_answer(observations: Iterable[Observation], k: int) -> dict[str, SearchAgreement]:
    """Return the agreement of each configuration at `k`: whether search and answer have the same chunks, in any order.

    Like is compared with like: what search returns with any ranking before the context, as retrieved or as reranked. A
    context alone agrees if search has all its chunks. Only observations with a stage `search` and another are compared.
    """
    by_config: dict[str, SearchAgreement] = {}
    for observation in observations:
        stages = observation.stages or ()
        answer_stages = [stage for stage in stages if stage.name != SEARCH_STAGE]
        search_stage = next((stage for stage in stages if stage.name == SEARCH_STAGE), None)
        if search_stage is None or not answer_stages:
            continue
        agreement = by_config.setdefault(observation.config_id, SearchAgreement())
        agreement.compared += 1
        if not _agrees(search_stage, answer_stages, k):
            agreement.differing.append(observation.case_id)
    return by_config


def _agrees(search_stage: Stage, answer_stages: Sequence[Stage], k: int) -> bool:
    search_chunks = _first_chunks(search_stage, k)
    rankings = [stage for stage in answer_stages if stage.name != CONTEXT_STAGE]
    if rankings:
        return any(_first_chunks(stage, k) == search_chunks for stage in rankings)
    whole = _first_chunks(search_stage, len(search_stage.chunks))
    return all(_first_chunks(stage, k) <= whole for stage in answer_stages)


def describe_search_agreement(observations: Iterable[Observation], k: int) -> list[str]:
    """Return one sentence for each configuration that was compared."""
    notices = []
    for config, agreement in sorted(compare_search_and_answer(observations, k).items()):
        differing = list(dict.fromkeys(agreement.differing))
        if not differing:
            notices.append(
                f"{config}: search and ask agree on the first {format_count(k, 'chunk')} of all "
                f"{format_count(agreement.compared, 'observation')}"
            )
            continue
        names = ", ".join(differing[:MAX_CASES_SHOWN]) + (" …" if len(differing) > MAX_CASES_SHOWN else "")
        notices.append(
            f"{config}: search and ask differ in the first {format_count(k, 'chunk')} of {len(agreement.differing)} of "
            f"{format_count(agreement.compared, 'observation')} ({names}): retrieval metrics describe only one of them"
        )
    return notices


def _first_chunks(stage: Stage, k: int) -> set[str]:
    return {chunk.chunk_id for chunk in stage.chunks[:k]}


def load_gate_of_run(observation_request: ObservationRequest, gate: GateOptions) -> RunGate:
    """Return what decides about a run, read before a call of a target is paid for; a gate that is given replaces that
    of the settings.

    Raises InputError for a metric of the settings, labels, a gate or a baseline that cannot be used.
    """
    config = observation_request.config
    settings_gate = None if gate.gate or gate.profile else config.gate_path
    options = replace(gate, gate=gate.gate or settings_gate, today=date_of_time(observation_request.started_at))
    request = ScoreRequest(gate=options, scoring=_scoring_options(config))
    load_answer_labels(request.scoring.labels)
    loaded = load_gate_with_baseline(request)
    plan_metrics(request, loaded.gate, None)
    targets = [target.name for target in choose_targets(config, observation_request.targets)]
    # A folder that is continued may hold other configurations than those that are asked now.
    select_gated_configs(loaded.gate, list(dict.fromkeys((*targets, *config.settings.targets))), options.configs)
    return RunGate(options, loaded)


@contextmanager
def score_observed_run(
    observation_request: ObservationRequest,
    observed: ObservedRun,
    gate: RunGate | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Iterator[ScoredRun]:
    """Yield the scoring of the observations, decided by the gate that `load_gate_of_run` returned.

    Raises IncompleteError if there are none.
    """
    config, gate = observation_request.config, gate or RunGate()
    outputs = observed.folder / OBSERVATIONS_FILE
    if not outputs.exists() or not outputs.stat().st_size:
        reasons = "; ".join(observed.notices) or "every target was stopped"
        raise IncompleteError(f"{outputs}: nothing was observed, so nothing can be scored ({reasons})")
    inputs = InputOptions(
        golden=str(observed.folder / GOLDEN_FILE),
        outputs=[str(outputs)],
        golden_format="assay",
        outputs_format="assay",
        corpus=_corpus_path(config),
    )
    if observation_request.probes_of is not None:
        with open_scored_run(ScoreRequest(inputs, scoring=ScoringOptions([LEAK_METRIC])), progress) as run:
            yield run
        return
    agreement = describe_search_agreement(_read_observations(observed), config.settings.scoring.production_k)
    request = ScoreRequest(
        replace(inputs, limit=observation_request.limit, only=observation_request.only),
        verdicts=VerdictOptions(entailment_model=config.entailment_model_path),
        gate=gate.options,
        scoring=replace(
            _scoring_options(config),
            workers=workers,
            notices=[*observed.notices, *agreement],
            sent_users=read_sent_users(read_manifest(observed.folder)),
            unverified=observed.unverified,
        ),
    )
    with open_scored_run(request, progress, gate.loaded) as run:
        manifest = read_manifest(observed.folder)
        run.made_with = {name: read_made_with(manifest, name) for name in run.scoring.configs}
        golden = config.golden_settings
        with RunFolder(observed.folder) as folder:
            if golden is not None:
                path = config.resolve_path("golden", golden.path)
                started = str(folder.manifest.get("started_at") or observation_request.started_at)
                count_look(run, path, started, is_counted=config.settings.ledger, run_of=observed.folder.name)
            save_scores(run, folder, request)
        yield run


def _scoring_options(config: Config) -> ScoringOptions:
    settings = config.settings.scoring
    metrics = load_metric_paths(settings.metrics)
    stated_cuts: list[str] = []
    if not metrics and "scoring.k" in config.origins:
        stated_cuts = [f"{base}@{k}" for base in _RANKING_METRICS for k in settings.k]
    return ScoringOptions(
        metrics=metrics or None,
        by=settings.by or None,
        good=settings.good,
        production_k=settings.production_k if "scoring.production_k" in config.origins else None,
        lexicons=settings.lexicons,
        labels=[config.resolve_path("scoring.labels", path) for path in settings.labels],
        internal_stages=settings.internal_stages or None,
        also=stated_cuts,
    )


def refuse_overwritten_inputs(
    config: Config, gate: GateOptions, flags: ReportFiles, folder: Path | None = None
) -> None:
    """Raise InputError if a report of a run would replace a file that the run reads or writes.

    `folder` is its run folder (default: that of the settings), which need not exist before targets are called.
    """
    run_dir = config.settings.run_dir
    if folder is not None:
        run_dir = str(folder)
    elif run_dir is not None:
        run_dir = config.resolve_path("run_dir", run_dir)
    golden = config.golden_settings
    reports = resolve_report_files(config, Path(), flags)
    refuse_overwriting(
        [reports.markdown, reports.json, reports.per_case, reports.html],
        [
            None if golden is None else config.resolve_path("golden", golden.path),
            *(
                _corpus_path(config),
                config.path,
                config.gate_path,
                gate.gate if isinstance(gate.gate, str) else None,
                *config.settings.scoring.lexicons,
                *(config.resolve_path("scoring.labels", path) for path in config.settings.scoring.labels),
            ),
            *list_run_files(gate.baseline),
        ],
        run=run_dir,
    )


def resolve_report_files(config: Config, folder: Path, flags: ReportFiles) -> ReportFiles:
    """Return the report paths of the settings for a run folder; `flags` holds the values given by flags."""
    report = config.settings.report

    def resolve(name: str, value: str | None) -> str | None:
        return config.resolve_path(f"report.{name}", value) if value is not None else None

    return replace(
        flags,
        markdown=resolve("markdown", report.markdown),
        json=resolve("json", report.json),
        per_case=resolve("per_case", report.per_case),
        html=resolve("html", report.html),
        explain=shlex.join(["--run", str(folder)]),
    )


def _corpus_path(config: Config) -> str | None:
    corpus = config.settings.corpus
    return config.resolve_path("corpus", corpus) if corpus is not None else None


def _read_observations(observed: ObservedRun) -> Iterator[Observation]:
    with open(observed.folder / OBSERVATIONS_FILE, "rb") as lines:
        for line in lines:
            yield outputs.decode_observation(line)
