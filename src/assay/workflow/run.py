"""The use case of `assay run`: observe, score, report, decide."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from assay.config import Config
from assay.errors import IncompleteError
from assay.io.outputs import native
from assay.io.runfolder import GOLDEN, OBSERVATIONS, RunFolder
from assay.model import Observation
from assay.workflow.consistency import agreement_notices
from assay.workflow.keep import keep_scoring
from assay.workflow.observe import Measurement, Observed
from assay.workflow.probing import LEAKS
from assay.workflow.reports import Targets
from assay.workflow.score import Progress, ScoreRun
from assay.workflow.session import Request, day_of, scored


@dataclass(frozen=True, slots=True)
class Deciding:
    """The gate that replaces that of the settings, the gated configurations, the baseline, and other options."""

    gate: str | None = None
    profile: str | None = None
    configs: Sequence[str] = ()
    workers: int = 1
    baseline: str | None = None
    approver: str = ""


@contextmanager
def scored_run(
    measurement: Measurement, observed: Observed, deciding: Deciding, progress: Progress | None = None
) -> Iterator[ScoreRun]:
    """Yield the scoring of the observations. Raises IncompleteError if there are none."""
    config = measurement.config
    outputs = observed.folder / OBSERVATIONS
    if not outputs.exists() or not outputs.stat().st_size:
        reasons = "; ".join(observed.notices) or "every target was stopped"
        raise IncompleteError(f"{outputs}: nothing was observed, so nothing can be scored ({reasons})")
    settings = config.settings.scoring
    if measurement.probes_of is not None:
        request = Request(
            str(observed.folder / GOLDEN), [str(outputs)], "assay", "assay", _corpus_path(config), [LEAKS]
        )
        with scored(request, progress) as run:
            yield run
        return
    settings_gate = (
        config.path if config.settings.gate is not None and not (deciding.gate or deciding.profile) else None
    )
    request = Request(
        golden=str(observed.folder / GOLDEN),
        outputs=[str(outputs)],
        golden_format="assay",
        outputs_format="assay",
        corpus=_corpus_path(config),
        metrics=settings.metrics,
        by=settings.by,
        gate=deciding.gate or settings_gate,
        profile=deciding.profile,
        gate_configs=deciding.configs,
        limit=measurement.limit,
        only=measurement.only,
        workers=deciding.workers,
        baseline=deciding.baseline,
        approver=deciding.approver,
        today=day_of(measurement.started_at),
        good=settings.good,
        production_k=settings.production_k if "scoring.production_k" in config.origins else None,
        notices=[*observed.notices, *agreement_notices(_read_observations(observed), settings.production_k)],
    )
    with scored(request, progress) as run:
        with RunFolder(observed.folder) as folder:
            keep_scoring(run, folder)
        yield run


def report_targets(config: Config, folder: Path, said: Targets) -> Targets:
    """Return the report paths of the settings for a run folder; `said` holds the values given by flags."""
    report = config.settings.report

    def resolve(name: str, value: str | None) -> str | None:
        return config.at(f"report.{name}", value) if value is not None else None

    return replace(
        said,
        markdown=resolve("markdown", report.markdown),
        json=resolve("json", report.json),
        per_case=resolve("per_case", report.per_case),
        html=resolve("html", report.html),
        explain=shlex.join(["--run", str(folder)]),
    )


def _corpus_path(config: Config) -> str | None:
    corpus = config.settings.corpus
    return config.at("corpus", corpus) if corpus is not None else None


def _read_observations(observed: Observed) -> Iterator[Observation]:
    with open(observed.folder / OBSERVATIONS, "rb") as lines:
        for line in lines:
            yield native.decode(line)
