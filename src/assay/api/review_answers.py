"""What judges and people say of answers: verdicts, labels, reviews, and the calibration that compares them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.formats import corpus as corpora
from assay.formats import golden_files as goldens
from assay.formats.convert_files import encode_output_lines
from assay.formats.file_io import write_atomically
from assay.judging.rubric_files import write_rubric_records
from assay.records.errors import InputError
from assay.records.requests import InputOptions, VerdictOptions
from assay.records.verdicts import JudgeRubric, Label
from assay.report.cases import explain_case as explaining
from assay.report.collect_cases import CaseResult
from assay.runs.answer_labels import make_answer_label, open_label_files
from assay.runs.check_arguments import list_values, read_path
from assay.runs.python_values import PathLike, read_corpus_value, says_arguments
from assay.runs.score_result import ScoreResult, list_observations, require_result
from assay.runs.value_types import AnswerLabelName, CorpusLike, LabelsLike

if TYPE_CHECKING:
    from assay.calibration.review_verdicts import SettledVerdicts, VerdictsInReview
    from assay.calibration.scorer_quality import CalibrationResult
    from assay.judging.collect_questions import JudgingRequest
    from assay.judging.judge_run import JudgeRun


@says_arguments
def judge(
    answers: ScoreResult | PathLike,
    *,
    store: PathLike | None = None,
    judge: str | None = None,
    settings: PathLike | None = None,
    metrics: Sequence[str] | str = (),
    rubrics: PathLike | JudgeRubric | Sequence[PathLike | JudgeRubric] = (),
    corpus: CorpusLike = None,
    max_calls: int | None = None,
    max_cost: float | None = None,
) -> JudgeRun:
    """Ask a judge about the answers of a result or a run folder; its verdicts are kept in `store`.

    `judge` names one of the judges of the settings file. `rubrics` are folders of rubrics, or rubrics themselves: each
    is a metric under its name, and is asked with the default metrics unless `metrics` are named. Without a `corpus`, a
    result is judged with the one that it was scored with. Pass the same store as `verdicts` to `score`, with the same
    corpus, to use the verdicts. Raises InputError for bad settings, IncompleteError if a verdict cannot
    be saved.
    """
    from assay.formats.settings_file import load_config
    from assay.judging.collect_questions import JudgingRequest

    request = JudgingRequest(
        load_config(None if settings is None else str(settings)),
        judge=judge,
        metrics=list_values(metrics),
        store=None if store is None else str(store),
        max_calls=max_calls,
        max_cost=max_cost,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    with write_rubric_records(list_values(rubrics)) as rubric_folders:
        return _judge_answers(replace(request, rubrics=rubric_folders), answers, corpus)


def _judge_answers(request: JudgingRequest, answers: ScoreResult | PathLike, corpus: CorpusLike) -> JudgeRun:
    from assay.judging.judge_run import judge_run

    if corpus is None and isinstance(answers, ScoreResult):
        corpus = answers.run.corpus  # what scoring reads them with: another corpus makes other requests
    with tempfile.TemporaryDirectory() as folder:
        corpus_file = _write_corpus(corpus, Path(folder, "corpus.jsonl"))
        if not isinstance(answers, ScoreResult):
            return judge_run(replace(request, inputs=InputOptions(run=str(answers), corpus=corpus_file)))
        golden, outputs = Path(folder, "golden.jsonl"), Path(folder, "outputs.jsonl")
        goldens.write_golden(answers.run.golden, golden)
        write_atomically(outputs, encode_output_lines(list_observations(answers)))
        inputs = InputOptions(golden=str(golden), outputs=[str(outputs)], corpus=corpus_file)
        return judge_run(replace(request, inputs=inputs))


def _write_corpus(corpus: CorpusLike, path: Path) -> str | None:
    """Return the path of a corpus, which is written to `path` if it is a value."""
    if corpus is None or isinstance(corpus, (str, Path)):
        return read_path(corpus)
    chunks = read_corpus_value(corpus)
    assert chunks is not None  # only None has none
    return str(write_atomically(path, corpora.encode_corpus_lines(chunks)))


@says_arguments
def label_answer(
    result: ScoreResult,
    case: str | CaseResult,
    label: AnswerLabelName,
    *,
    rater: str,
    metric: Literal["correct_answer", "behaviour"] = "correct_answer",
    config: str | None = None,
    note: str = "",
    sample: int | None = None,
) -> Label:
    """Return what a person decides about the answer to a case, for `score(…, labels=[…])`.

    `label` is `right`, `wrong` or `unclear`, or with `metric="behaviour"` the behaviour that the answer shows. It
    counts for exactly this answer and for what its case expects now. `sample` is the size of the sample for which it
    was drawn, if it was (`result.draw_passes`). Raises InputError for another label, and for a case without an
    answer.

    >>> import assay
    >>> golden = [{"id": "fee", "question": "What is the fee?", "reference": "There is none for members."}]
    >>> outputs = [{"case_id": "fee", "answer": "Members pay nothing."}]
    >>> before = assay.score(golden, outputs)
    >>> decided = assay.label_answer(before, "fee", "right", rater="Ann")
    >>> after = assay.score(golden, outputs, labels=[decided])
    >>> before.metric("correct_answer").value, after.metric("correct_answer").value
    (None, 1.0)
    """
    require_result(result, "result")
    if isinstance(case, CaseResult):
        config, case = config or case.config, case.id
    case, cases = str(case), result.run.cases
    name = explaining.require_config(result.run, config)
    observation = result.run.read_observation(name, case) if case in cases else None
    if observation is None or not isinstance(observation.answer, str):
        raise InputError(f"no answer to label (got case {case!r} under {name}; expected a case that was answered)")
    return make_answer_label(cases[case], observation.answer, label, rater, metric=metric, note=note, sample=sample)


@says_arguments
def review(
    answers: ScoreResult | PathLike,
    *,
    verdicts: PathLike | None = None,
    judge: str | None = None,
    out: PathLike | None = None,
    language: str = "en",
) -> VerdictsInReview:
    """Return what a judge left to review in the answers of a result or a run folder.

    A result is reviewed with the verdicts that it was scored with, a run folder with its own unless `verdicts` are
    named. `out` is a new folder for the sheet on which people decide. Raises InputError as `assay judge review` does.
    """
    from assay.calibration.review_verdicts import export_reviews, list_reviews
    from assay.runs.rescore_run import open_answers

    with ExitStack() as stack:
        if isinstance(answers, ScoreResult):
            run = answers.run
        else:
            named = VerdictOptions(read_path(verdicts), judge)
            run = stack.enter_context(open_answers(InputOptions(run=str(answers)), named))
        return list_reviews(run) if out is None else export_reviews(run, Path(out), language)


@says_arguments
def settle(
    sheets: PathLike | Sequence[PathLike],
    *,
    key: PathLike,
    store: PathLike,
    reviewer: str | None = None,
    at: str | None = None,
    replace: bool = False,
) -> SettledVerdicts:
    """Store what people decided on filled review sheets next to the verdicts in `store`; scoring replays it.

    `reviewer` decided where a sheet does not say who did, at the time `at` (ISO 8601). Raises InputError as
    `assay judge settle` does.
    """
    from assay.calibration.review_verdicts import SettleRequest, settle_verdicts

    files = list(map(str, list_values(sheets)))
    return settle_verdicts(SettleRequest(files, str(key), str(store), reviewer, at, replace))


@says_arguments
def calibrate(
    labels: LabelsLike,
    result: ScoreResult | None = None,
    *,
    verdicts: PathLike | Sequence[PathLike] = (),
    metrics: Sequence[str] | str = (),
    out: PathLike | None = None,
) -> CalibrationResult:
    """Compare the scorers of a result with human labels; `out` is the calibration file to write.

    Labels are files, Labels or dictionaries.

    Raises InputError for bad labels, IncompleteError if no item has a label and a score.
    """
    from assay.calibration.calibrate_run import CalibrationRequest, calibrate_run, write_calibration

    stores = list(map(str, list_values(verdicts)))
    with open_label_files(labels) as files:
        request = CalibrationRequest(files, stores, metrics=list_values(metrics))
        calibration = calibrate_run(result.run if result is not None else None, request)
    if out is not None:
        write_calibration(str(out), calibration)
    return calibration
