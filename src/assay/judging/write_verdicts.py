"""Verdicts for reading: one JSON object a line for each request about each answer, with labels, reasoning and votes.

The export of a verdict store is for machines: it knows requests by their digests, and not which case they are about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from pathlib import Path

import msgspec
from msgspec import Struct

from assay.formats.file_io import write_atomically
from assay.formats.run_files.overwriting import refuse_overwriting
from assay.judging.collect_questions import RequestRecorder
from assay.judging.load_verdicts import metrics_with_verdicts
from assay.metrics.answers.rubric_metrics import name_rubric_metric
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import parse_metrics
from assay.metrics.judged.judge_requests import RecordedVerdicts, find_rubric
from assay.metrics.judged.vote_folding import apply_reviews, fold_votes
from assay.metrics.metric import MetricName
from assay.metrics.parsed_answer import ParsedAnswer
from assay.metrics.scorers import compute_outcome, is_answer_metric
from assay.records.errors import InputError
from assay.records.observations import Observation
from assay.records.verdicts import JudgeRequest, Verdict, VerdictReview
from assay.scoring.scored_run import ScoredRun


class VoteDetails(Struct, frozen=True):
    """One vote: its label and reasoning by item, or why it has none, and what it took."""

    sample: int
    judge: str
    label: dict[str, str]
    reasoning: dict[str, str]
    unscored: str | None
    flags: tuple[str, ...]
    latency_ms: float
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    at: str | None


class VerdictDetails(Struct, frozen=True):
    """Everything that was said to one request about one answer.

    `component` is the metric that the labels are made into and `item_id` the case. `label`, `value`, `reasoning`,
    `quote` and `text` are by dimension: the id of a claim, citation or fact, or `answer`. Latency, tokens and cost are
    those of all votes together; a request about several answers is a line for each, with the same `request_id`.
    `reviews` are what people decided in the judge's place, which `label`, `value` and `reasoning` then are.
    """

    component: str
    item_id: str
    config: str
    rubric: str
    version: str
    language: str
    model: str
    request_id: str
    label: dict[str, str]
    value: dict[str, float | None]
    reasoning: dict[str, str]
    quote: dict[str, str]
    text: dict[str, str]
    unscored: str | None
    latency_ms: float
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    votes: tuple[VoteDetails, ...]
    reviews: tuple[VerdictReview, ...] = ()


def export_verdict_details(run: ScoredRun, path: str, files: Sequence[str] = ()) -> tuple[Path, int]:
    """Write the verdicts on the answers of a run as JSON lines; return the path and the number of lines.

    `files` must not be overwritten. Raises InputError if nothing is judged.
    """
    refuse_overwriting([path], files, into_runs=True)
    lines = [msgspec.json.encode(details) + b"\n" for details in iterate_verdict_details(run)]
    if not lines:
        raise InputError("no verdicts about the answers of this run (expected a run that was judged)")
    return write_atomically(path, lines), len(lines)


def iterate_verdict_details(run: ScoredRun) -> Iterator[VerdictDetails]:
    """Yield the verdicts on the answers of a run, by configuration and case, in the order in which metrics ask."""
    if run.judging is None:
        return
    members = {name: getattr(run.judging, name) for name in RecordedVerdicts.__struct_fields__}
    recorder = RequestRecorder(**members)
    joins = GoldenIndex(run.golden, run.corpus, recorder, run.whole_golden)
    names = [name for name in parse_metrics(metrics_with_verdicts(run.judging)) if is_answer_metric(name)]
    for config, position, observation in run.iterate_observations(answered=True):
        for request in _collect_asked(joins, position, observation, names, recorder):
            details = _describe_request(request, run.golden.cases[position].id, config, run.judging)
            if details is not None:
                yield details


def _collect_asked(
    joins: GoldenIndex,
    position: int,
    observation: Observation,
    names: Sequence[MetricName],
    recorder: RequestRecorder,
) -> list[JudgeRequest]:
    recorder.asked.clear()
    reading = ParsedAnswer(joins.case_index(position), observation)
    for name in names:
        compute_outcome(name, reading)
    return list(recorder.asked.values())


def _describe_request(
    request: JudgeRequest, case_id: str, config: str, judging: RecordedVerdicts
) -> VerdictDetails | None:
    samples = judging.verdicts.get(request.digest, ())
    if not samples:
        return None
    rubric, reviews = (
        find_rubric(judging.rubrics, request.rubric, request.language),
        judging.reviews.get(request.digest),
    )
    ruling = apply_reviews(request, fold_votes(samples, rubric), reviews or (), rubric)
    labelled = {item.id: item for item in ruling.items if item.label is not None}
    first_votes = {item_id: item.first_vote for item_id, item in labelled.items() if item.first_vote is not None}
    texts = {}
    for value in request.inputs.values():
        for entry in value if isinstance(value, (list, tuple)) else ():
            if entry.get("id") in request.items:
                texts[entry["id"]] = entry["text"]
    votes = (*samples, *judging.second_verdicts.get(request.digest, ()))
    costs = [vote.usage.cost_usd for vote in votes if vote.usage.attempts]
    unscored_items = [item.unscored for item in ruling.items if item.unscored]
    return VerdictDetails(
        name_rubric_metric(request.rubric),
        case_id,
        config,
        request.rubric,
        request.version,
        request.language,
        next((vote.model for vote in samples if vote.model), judging.model),
        request.digest,
        {item_id: item.label or "" for item_id, item in labelled.items()},
        {item_id: item.value for item_id, item in labelled.items()},
        {item_id: vote.reasoning for item_id, vote in first_votes.items()},
        {item_id: vote.quote for item_id, vote in first_votes.items() if vote.quote},
        texts,
        ruling.unscored or next(iter(unscored_items), None),
        sum(vote.usage.latency_ms for vote in votes),
        sum(vote.usage.prompt_tokens for vote in votes),
        sum(vote.usage.completion_tokens for vote in votes),
        None if None in costs else fsum(cost for cost in costs if cost is not None),
        tuple(map(_describe_vote, votes)),
        tuple(reviews or ()),
    )


def _describe_vote(vote: Verdict) -> VoteDetails:
    usage = vote.usage
    return VoteDetails(
        vote.sample,
        vote.judge,
        {item.id: item.label for item in vote.items},
        {item.id: item.reasoning for item in vote.items},
        vote.unscored,
        vote.flags,
        usage.latency_ms,
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.cost_usd,
        vote.at,
    )
