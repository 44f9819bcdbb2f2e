"""`golden nuggets`: drafts must-have facts of questions from what all configurations retrieved, without any label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from assay.formats.corpus import load_corpus
from assay.formats.golden_files import load_golden, write_golden
from assay.golden.drafting_prompts import make_nugget_request
from assay.golden.model_client import ModelClient, ModelOptions
from assay.golden.model_effort import ModelEffort
from assay.golden.nugget_rules import (
    GRADED_BY_RULES,
    POOL_DEPTH,
    NuggetDraft,
    NuggetReason,
    QuestionPool,
    QuestionWithoutNuggets,
    find_nuggets,
    pool_question,
)
from assay.judging.call_scheduler import ReportProgress
from assay.records.errors import InputError, Problem
from assay.records.golden_set import Case, Corpus, GoldenSet, Importance, Nugget
from assay.records.observations import Observation
from assay.records.verdicts import JudgeRequest, Verdict
from assay.runs.python_values import read_output_files
from assay.text.languages import guess_language


@dataclass(frozen=True, slots=True)
class NuggetRequest:
    """The questions, the outputs of all configurations, and the file to write; `corpus` has texts that outputs lack."""

    questions: str
    outputs: Sequence[str]
    corpus: str | None = None
    out: str | None = None
    depth: int = POOL_DEPTH
    model: ModelOptions | None = None


class _OpenQuestion(msgspec.Struct, frozen=True):
    case: Case
    pool: QuestionPool


def draft_nugget_file(
    request: NuggetRequest, progress: ReportProgress | None = None, on_interrupt: Callable[[], None] = lambda: None
) -> NuggetDraft:
    """Return the questions with their nuggets and write them; the same inputs and replies give the same bytes.

    Raises InputError for bad files, and if no output is about a question.
    """
    golden, pools, configs = _load_pools(request)
    left_out: list[QuestionWithoutNuggets] = []
    done: dict[str, Case] = {}
    to_grade: list[_OpenQuestion] = []
    for case in golden.cases:
        reason = _explain_skipping(case, pools.get(case.id))
        if reason == "has-nuggets":
            done[case.id] = case
        elif reason is not None:
            left_out.append(QuestionWithoutNuggets(case.id, reason))
        else:
            to_grade.append(_OpenQuestion(case, pools[case.id]))
    graded_by, effort = GRADED_BY_RULES, None
    if request.model is None:
        found = {entry.case.id: find_nuggets(entry.case, entry.pool) for entry in to_grade}
        missing: NuggetReason = "no-evidence"
    else:
        client = ModelClient(request.model, progress, on_interrupt)
        requests = {entry.case.id: _make_request(entry) for entry in to_grade}
        replies = client.ask_all(requests.values())
        found = {name: _read_nuggets(replies.get(asked.digest), client.name) for name, asked in requests.items()}
        graded_by, effort, missing = client.name, client.effort, "no-reply"
    for entry in to_grade:
        nuggets = found[entry.case.id]
        if nuggets:
            done[entry.case.id] = msgspec.structs.replace(entry.case, nuggets=nuggets)
        else:
            left_out.append(QuestionWithoutNuggets(entry.case.id, missing))
    cases = tuple(done[case.id] for case in golden.cases if case.id in done)
    draft = NuggetDraft(cases, tuple(left_out), configs, graded_by, effort)
    if request.out is not None and cases:
        write_golden(msgspec.structs.replace(golden, cases=cases, judgments="partial", frozen_digest=""), request.out)
    return draft


def estimate_nuggets(request: NuggetRequest) -> ModelEffort:
    """Return what `draft_nugget_file` would ask a model, without asking. Raises InputError for bad files."""
    assert request.model is not None
    golden, pools, _ = _load_pools(request)
    entries = [
        _OpenQuestion(case, pools[case.id])
        for case in golden.cases
        if _explain_skipping(case, pools.get(case.id)) is None
    ]
    return ModelClient(request.model).estimate_effort(map(_make_request, entries))


def _load_pools(request: NuggetRequest) -> tuple[GoldenSet, dict[str, QuestionPool], tuple[str, ...]]:
    golden = load_golden(request.questions).golden
    corpus: Corpus | None = load_corpus(request.corpus)[0] if request.corpus is not None else None
    case_by_id = {case.id: case for case in golden.cases}
    by_case: dict[str, list[Observation]] = {}
    for observation in read_output_files(request.outputs):
        if observation.case_id in case_by_id:
            by_case.setdefault(observation.case_id, []).append(observation)
    if not by_case:
        message = f"no output of any question (expected case ids of {request.questions})"
        raise InputError([Problem(", ".join(request.outputs), None, "case_id", message, "E_EMPTY")])
    pools = {}
    for case_id, rows in by_case.items():
        pools[case_id] = pool_question(case_by_id[case_id], rows, corpus, golden.as_of, request.depth)
    configs = sorted({observation.config_id for rows in by_case.values() for observation in rows})
    return golden, pools, tuple(configs)


def _explain_skipping(case: Case, pool: QuestionPool | None) -> NuggetReason | None:
    if case.nuggets:
        return "has-nuggets"
    if case.behaviour != "answer":
        return "no-answer-expected"
    return "no-pool" if pool is None or not pool.chunks else None


def _make_request(entry: _OpenQuestion) -> JudgeRequest:
    passages = [{"id": chunk.chunk_id, "text": chunk.text} for chunk in entry.pool.chunks[:POOL_DEPTH]]
    language = entry.case.language or guess_language(entry.case.question) or "en"
    return make_nugget_request(entry.case.question, passages, language)


def _read_nuggets(verdict: Verdict | None, graded_by: str) -> tuple[Nugget, ...]:
    return tuple(_iter_nuggets(verdict, graded_by)) if verdict is not None and verdict.unscored is None else ()


def _iter_nuggets(verdict: Verdict, graded_by: str) -> Iterator[Nugget]:
    for item in verdict.items:
        if item.label in ("vital", "okay") and item.reasoning:
            importance: Importance = "vital" if item.label == "vital" else "okay"
            yield Nugget(item.reasoning, importance, item.quote, item.source, graded_by=graded_by)


def nuggets(
    questions: str,
    outputs: Sequence[str],
    *,
    corpus: str | None = None,
    out: str | None = None,
    depth: int = POOL_DEPTH,
    model: ModelOptions | None = None,
) -> NuggetDraft:
    """Return must-have facts of questions from the pooled chunks of all outputs; all arguments are files.

    Without a `model` they are found by rules, which is a weak start and marked as such. `out` is written.
    Raises InputError for bad files, and if no output is about a question.
    """
    return draft_nugget_file(NuggetRequest(questions, outputs, corpus, out, depth, model))
