"""Scoring rows that a Python program holds: the inputs as they are checked before anything is asked, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import structs

from assay.formats import golden_files as goldens
from assay.judging.load_verdicts import load_requested_verdicts, match_verdicts
from assay.metrics.catalog import DEFAULT_METRICS
from assay.records.golden_set import GoldenSet
from assay.records.observations import Observation
from assay.records.requests import ScoreRequest
from assay.records.scores import ScoringResult
from assay.runs.check_arguments import MetricsLike, read_metrics
from assay.runs.compare_runs import load_gate_with_baseline
from assay.runs.count_looks import count_look
from assay.runs.python_values import (
    digest_outputs_value,
    find_golden_file,
    name_arguments,
    name_arguments_in_text,
    read_corpus_value,
)
from assay.runs.score_inputs import ScoreInputs
from assay.runs.score_result import ScoreResult
from assay.runs.score_run import Progress, score_observations, use_lexicons
from assay.runs.value_types import CorpusLike
from assay.scoring.slices import find_slices


def name_metrics(metrics: MetricsLike) -> tuple[str, ...] | None:
    """Return the names of metrics, None for the usual ones."""
    names = read_metrics(metrics)
    return None if names == DEFAULT_METRICS else names


def load_value_inputs(
    golden: GoldenSet, request: ScoreRequest, corpus: CorpusLike, notes: Iterable[str]
) -> ScoreInputs:
    """Return the inputs of a scoring. Raises InputError for everything that can be told without the answers."""
    goldens.refuse_placeholders(golden, "golden")
    use_lexicons(request.scoring.lexicons)
    digest = goldens.compute_golden_digest(golden)
    recorded, doubts = load_requested_verdicts(request.verdicts)
    judging, unbound = match_verdicts(recorded, digest)
    inputs = ScoreInputs.from_golden(
        golden,
        request,
        corpus=read_corpus_value(corpus),
        loaded_gate=load_gate_with_baseline(request),
        judging=judging,
        notices=(*notes, *doubts, *unbound),
        digest=digest,
    )
    find_slices(inputs.golden.cases, request.scoring.by)
    return inputs


def score_rows(
    inputs: ScoreInputs,
    rows: Sequence[Observation],
    outputs: Any,
    *,
    now: str | None,
    is_counted: bool,
    progress: Progress | None = None,
) -> ScoreResult:
    """Return the result for rows; `outputs` are what they were read from, by which a look at a test split is known."""
    use_lexicons(inputs.request.scoring.lexicons)
    run = score_observations(inputs, rows, progress)
    at = now or datetime.now(UTC).isoformat(timespec="seconds")
    if inputs.golden.frozen_digest:
        digests = digest_outputs_value(outputs, rows)
        count_look(run, find_golden_file(inputs.golden), at, is_counted=is_counted, digests=digests)
    run.scoring = _name_arguments_of_result(run.scoring)
    return ScoreResult(run)


def _name_arguments_of_result(scoring: ScoringResult) -> ScoringResult:
    configs = {
        config: result if result.decision is None else structs.replace(result, decision=name_arguments(result.decision))
        for config, result in scoring.configs.items()
    }
    return structs.replace(
        scoring,
        decision=name_arguments(scoring.decision),
        configs=configs,
        warnings=tuple(map(name_arguments_in_text, scoring.warnings)),
    )
