"""Asking a target in this process every question of a golden set, and scoring what it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from assay.calls.retry import RETRY_AFTER_CAP_SECONDS
from assay.formats import golden_files as goldens
from assay.metrics.catalog import DEFAULT_METRICS
from assay.records.errors import InputError
from assay.records.golden_set import GoldenSet
from assay.records.observations import Observation
from assay.records.requests import ScoreRequest, ScoringOptions
from assay.runs.answer_labels import attach_answer_labels, read_answer_labels
from assay.runs.check_arguments import MetricsLike, choose_name, read_count, read_keys, read_limits
from assay.runs.observation_runner import ObservationLimits
from assay.runs.observe_target import ObservedValues, keep_answers, observe_target, run_blocking
from assay.runs.progress_line import show_progress
from assay.runs.python_values import GateLike, make_target_of_value, read_gate_value, read_golden_value, says_arguments
from assay.runs.score_result import ScoreResult
from assay.runs.score_values import load_value_inputs, name_metrics, score_rows
from assay.runs.value_types import CorpusLike, GoldenLike, LabelsLike, TargetLike


@says_arguments
def observe(
    target: TargetLike,
    golden: GoldenLike,
    *,
    search: Callable[..., Any] | None = None,
    config: str | None = None,
    name: str | None = None,
    context: str | None = None,
    repeat: int = 1,
    concurrency: int = 8,
    deadline: float = 120.0,
    attempts: int = 4,
    breaker: int = 10,
    retry_after_cap: float = RETRY_AFTER_CAP_SECONDS,
    max_calls: int | None = None,
    max_cost: float | None = None,
    progress: bool = True,
    retrieval_only: bool = False,
) -> list[Observation]:
    """Ask a target every question of a golden set and return what it did, in golden order.

    `search` is a second function that returns the chunks of a question, and `config` the name of the configuration in
    reports, as in `score` (`name` is another word for it).
    `context` names the stage that the model was shown, where the target does not report it. At most `concurrency` cases
    are asked at a time, each with up to `attempts` calls and for `deadline` seconds at most, waits included. A case on
    which the target fails is an observation with an error, and after `breaker` of them in a row, `max_calls` calls or
    `max_cost` dollars, as the target reports them, no further case is asked; one that asks to wait for longer than
    `retry_after_cap` seconds ends the run too. What takes longer than two seconds shows its `progress` in a terminal or
    a notebook. Works in a notebook too, where an event loop runs already. Raises InputError for what is no target or
    golden set, IncompleteError if nothing could be observed.
    """
    return run_blocking(observe_async(**locals()))  # which are the arguments


@says_arguments
async def observe_async(
    target: TargetLike,
    golden: GoldenLike,
    *,
    search: Callable[..., Any] | None = None,
    config: str | None = None,
    name: str | None = None,
    context: str | None = None,
    repeat: int = 1,
    concurrency: int = 8,
    deadline: float = 120.0,
    attempts: int = 4,
    breaker: int = 10,
    retry_after_cap: float = RETRY_AFTER_CAP_SECONDS,
    max_calls: int | None = None,
    max_cost: float | None = None,
    progress: bool = True,
    retrieval_only: bool = False,
) -> list[Observation]:
    """As `observe`, to be awaited."""
    limits = read_limits(concurrency, deadline, context, attempts, breaker, retry_after_cap, max_calls, max_cost)
    cases = read_golden_value(golden)
    observed = await _observe(
        target, cases, search, choose_name(config, name), limits, repeat, retrieval_only, progress
    )
    return list(observed.observations)


async def _observe(
    target: Any,
    golden: GoldenSet,
    search: Callable[..., Any] | None,
    name: str | None,
    limits: ObservationLimits,
    repeat: int,
    retrieval_only: bool,
    is_progress_shown: bool,
) -> ObservedValues:
    goldens.refuse_placeholders(golden, "golden")
    made = make_target_of_value(target, name, search)
    if retrieval_only and "search" not in made.operations:
        raise InputError("retrieval_only: the target cannot search (expected search=…, or a target with a search)")
    operations = ("search",) if retrieval_only else made.operations
    limits = replace(limits, operations=operations)
    with show_progress(made.name, is_shown=is_progress_shown) as update:
        return await observe_target(made, golden, limits, read_count(repeat, "repeat"), update)


@says_arguments
def run(
    target: TargetLike,
    golden: GoldenLike,
    *,
    search: Callable[..., Any] | None = None,
    config: str | None = None,
    name: str | None = None,
    context: str | None = None,
    repeat: int = 1,
    concurrency: int = 8,
    deadline: float = 120.0,
    attempts: int = 4,
    breaker: int = 10,
    retry_after_cap: float = RETRY_AFTER_CAP_SECONDS,
    max_calls: int | None = None,
    max_cost: float | None = None,
    progress: bool = True,
    corpus: CorpusLike = None,
    metrics: MetricsLike = DEFAULT_METRICS,
    by: Sequence[str] | str | None = None,
    gate: GateLike | None = None,
    labels: LabelsLike = (),
) -> ScoreResult:
    """Ask a target every question of a golden set, and score what it did: `observe`, then `score`.

    The limits are those of `observe`. Works in a notebook too, where an event loop runs already.
    """
    return run_blocking(run_async(**locals()))  # which are the arguments


@says_arguments
async def run_async(
    target: TargetLike,
    golden: GoldenLike,
    *,
    search: Callable[..., Any] | None = None,
    config: str | None = None,
    name: str | None = None,
    context: str | None = None,
    repeat: int = 1,
    concurrency: int = 8,
    deadline: float = 120.0,
    attempts: int = 4,
    breaker: int = 10,
    retry_after_cap: float = RETRY_AFTER_CAP_SECONDS,
    max_calls: int | None = None,
    max_cost: float | None = None,
    progress: bool = True,
    corpus: CorpusLike = None,
    metrics: MetricsLike = DEFAULT_METRICS,
    by: Sequence[str] | str | None = None,
    gate: GateLike | None = None,
    labels: LabelsLike = (),
) -> ScoreResult:
    """As `run`, to be awaited."""
    notes: dict[str, None] = {}
    cases, label_notes = attach_answer_labels(read_golden_value(golden, notes), read_answer_labels(labels))
    notes.update(dict.fromkeys(label_notes))
    limits = read_limits(concurrency, deadline, context, attempts, breaker, retry_after_cap, max_calls, max_cost)
    scoring = ScoringOptions(metrics=name_metrics(metrics), by=read_keys(by))
    inputs = load_value_inputs(cases, ScoreRequest(gate=read_gate_value(gate), scoring=scoring), corpus, notes)
    observed = await _observe(target, cases, search, choose_name(config, name), limits, repeat, False, progress)
    rows = observed.observations
    with keep_answers(rows), show_progress("scoring", is_shown=progress) as update:
        inputs = structs.replace(inputs, notices=(*inputs.notices, *observed.notices))
        return score_rows(inputs, rows, rows, now=None, is_counted=True, progress=update)
