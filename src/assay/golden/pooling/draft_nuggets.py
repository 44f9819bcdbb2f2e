"""`golden nuggets`: drafts must-have facts of questions from what all configurations retrieved, without any label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from assay.formats.corpus import load_corpus
from assay.formats.golden_files import load_golden, write_golden
from assay.golden.drafting_prompts import make_nugget_request
from assay.golden.model_client import ModelClient, ModelOptions
from assay.golden.model_effort import ModelEffort
from assay.golden.pooling.collect_pool import load_pooled_runs
from assay.golden.pooling.compare_contributors import NuggetsOfOthers, measure_circularity
from assay.golden.pooling.nugget_rules import (
    GRADED_BY_RULES,
    POOL_DEPTH,
    Circularity,
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
    """The questions, what all configurations recorded (`outputs` or folders of `runs`), and the file to write.

    Without `questions`, those of the runs are taken. `corpus` has texts that outputs lack; that of the runs if none is
    named.
    """

    questions: str | None = None
    outputs: Sequence[str] = ()
    corpus: str | None = None
    out: str | None = None
    depth: int = POOL_DEPTH
    model: ModelOptions | None = None
    runs: Sequence[str] = ()


class _Recordings(NamedTuple):
    """The questions, what was observed of each, and the corpus."""

    path: str
    golden: GoldenSet
    corpus: Corpus | None
    by_case: dict[str, list[Observation]]

    @property
    def configs(self) -> list[str]:
        """The names of the configurations."""
        return sorted({row.config_id for rows in self.by_case.values() for row in rows})


class _OpenQuestion(msgspec.Struct, frozen=True):
    case: Case
    pool: QuestionPool


def draft_nugget_file(
    request: NuggetRequest, progress: ReportProgress | None = None, on_interrupt: Callable[[], None] = lambda: None
) -> NuggetDraft:
    """Return the questions with their nuggets and write them; the same inputs and replies give the same bytes.

    Raises InputError for bad files, and if no output is about a question.
    """
    recorded = _load_recordings(request)
    golden, pools = recorded.golden, _pool_questions(recorded, request.depth)
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
        nuggets_by_case = {entry.case.id: find_nuggets(entry.case, entry.pool) for entry in to_grade}
        missing: NuggetReason = "no-evidence"
    else:
        client = ModelClient(request.model, progress, on_interrupt)
        requests = {entry.case.id: _make_request(entry) for entry in to_grade}
        replies = client.ask_all(requests.values())
        nuggets_by_case = {
            name: _read_nuggets(replies.get(asked.digest), client.name) for name, asked in requests.items()
        }
        graded_by, effort, missing = client.name, client.effort, "no-reply"
    for entry in to_grade:
        nuggets = nuggets_by_case[entry.case.id]
        if nuggets:
            done[entry.case.id] = msgspec.structs.replace(entry.case, nuggets=nuggets)
        else:
            left_out.append(QuestionWithoutNuggets(entry.case.id, missing))
    cases = tuple(done[case.id] for case in golden.cases if case.id in done)
    circularity = _measure_circularity(recorded, request, to_grade, cases)
    draft = NuggetDraft(cases, tuple(left_out), tuple(recorded.configs), graded_by, effort, circularity)
    if request.out is not None and cases:
        write_golden(msgspec.structs.replace(golden, cases=cases, judgments="partial", frozen_digest=""), request.out)
    return draft


def estimate_nuggets(request: NuggetRequest) -> ModelEffort:
    """Return what `draft_nugget_file` would ask a model, without asking. Raises InputError for bad files."""
    assert request.model is not None
    recorded = _load_recordings(request)
    golden, pools = recorded.golden, _pool_questions(recorded, request.depth)
    entries = [
        _OpenQuestion(case, pools[case.id])
        for case in golden.cases
        if _explain_skipping(case, pools.get(case.id)) is None
    ]
    return ModelClient(request.model).estimate_effort(map(_make_request, entries))


def _load_recordings(request: NuggetRequest) -> _Recordings:
    if request.runs and request.outputs:
        raise InputError("outputs and run folders (expected one of them: a run folder has its outputs)")
    if request.runs:
        runs = load_pooled_runs(request.runs)
        path = request.questions or runs.path
        golden = runs.loaded.golden if request.questions is None else load_golden(path).golden
        corpus = runs.corpus if request.corpus is None else load_corpus(request.corpus)[0]
        observations = [
            msgspec.structs.replace(row, config_id=config) for config, rows in runs.observations.items() for row in rows
        ]
    elif request.questions is None:
        raise InputError("no questions (expected a golden set with outputs, or --run with a folder that has both)")
    else:
        path, golden = request.questions, load_golden(request.questions).golden
        corpus = load_corpus(request.corpus)[0] if request.corpus is not None else None
        observations = list(read_output_files(request.outputs))
    case_ids = {case.id for case in golden.cases}
    by_case: dict[str, list[Observation]] = {}
    for observation in observations:
        if observation.case_id in case_ids:
            by_case.setdefault(observation.case_id, []).append(observation)
    if not by_case:
        message = f"no output of any question (expected case ids of {path})"
        raise InputError([Problem(", ".join((*request.runs, *request.outputs)), None, "case_id", message, "E_EMPTY")])
    return _Recordings(path, golden, corpus, by_case)


def _pool_questions(recorded: _Recordings, depth: int, left_out: str | None = None) -> dict[str, QuestionPool]:
    """Return the pool of each question, of all configurations but the one that is left out."""
    cases = {case.id: case for case in recorded.golden.cases}
    pools = {}
    for case_id, rows in recorded.by_case.items():
        kept = [row for row in rows if row.config_id != left_out]
        if kept:
            pools[case_id] = pool_question(cases[case_id], kept, recorded.corpus, recorded.golden.as_of, depth)
    return pools


def _measure_circularity(
    recorded: _Recordings, request: NuggetRequest, entries: Sequence[_OpenQuestion], cases: Sequence[Case]
) -> Circularity:
    """Return the influence of each configuration on the drafted nuggets.

    By rules, those that the others alone would have given are found again. A model is not asked again: its nuggets from
    chunks that no other configuration has are left out.
    """
    drafted = {case.id: case.nuggets for case in cases}
    others: dict[str, NuggetsOfOthers] = {}
    for config in recorded.configs if cases else ():
        pools = _pool_questions(recorded, request.depth, left_out=config)
        kept, own = dict[str, tuple[Nugget, ...]](), 0
        for entry in entries:
            name, pool = entry.case.id, pools.get(entry.case.id)
            chunks = {chunk.chunk_id for chunk in pool.chunks} if pool is not None else set()
            shared = tuple(nugget for nugget in drafted.get(name, ()) if nugget.source in chunks)
            own += len(drafted.get(name, ())) - len(shared)
            kept[name] = find_nuggets(entry.case, pool) if pool is not None and request.model is None else shared
        others[config] = NuggetsOfOthers(kept, own)
    rows = [row for observed in recorded.by_case.values() for row in observed]
    return measure_circularity(recorded.golden, drafted, others, rows)


def _explain_skipping(case: Case, pool: QuestionPool | None) -> NuggetReason | None:
    if case.variant_of is not None:
        return "variant"
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
    questions: str | None = None,
    outputs: Sequence[str] = (),
    *,
    runs: Sequence[str] = (),
    corpus: str | None = None,
    out: str | None = None,
    depth: int = POOL_DEPTH,
    model: ModelOptions | None = None,
) -> NuggetDraft:
    """Return must-have facts of questions from the pooled chunks of all outputs, and a first comparison by them.

    `questions` and `outputs` are files; `runs` are run folders, which have both. Without a `model` the facts are found
    by rules, which is a weak start and marked as such. `out` is written.
    Raises InputError for bad files, and if no output is about a question.
    """
    return draft_nugget_file(NuggetRequest(questions, outputs, corpus, out, depth, model, runs))
