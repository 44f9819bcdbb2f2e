"""`golden pool`: collects unjudged chunks of runs, writes the page on which they are judged, and merges the grades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import msgspec

from assay.formats.corpus import load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import LoadedGolden, compute_golden_digest, load_golden, write_golden
from assay.formats.labels.offline_page import PAGE_LANGUAGES, build_offline_page
from assay.formats.run_files.overwriting import refuse_overwriting
from assay.formats.run_files.run_folder import complete_run_request, parse_run_name
from assay.golden.candidate_rows import describe_chunk
from assay.golden.freeze_set import check_unedited
from assay.golden.next_version import describe_version
from assay.golden.pooling.collect_rubric_grades import load_rubric_grades, write_questions
from assay.golden.pooling.grade_file import load_grades
from assay.golden.pooling.pooled_chunks import (
    BACKGROUND_GRADE,
    FACT_GRADE,
    ChunkGrade,
    Pool,
    PooledChunk,
    PoolReport,
    UnjudgedShare,
    assume_grade,
    compare_hypotheses,
    merge_grades,
)
from assay.metrics.catalog import parse_metrics
from assay.records.counts import format_count
from assay.records.digest import compute_digest
from assay.records.errors import InputError, Problem
from assay.records.golden_set import Corpus, GoldenSet
from assay.records.observations import Observation
from assay.records.requests import InputOptions, ScoreRequest, ScoringOptions
from assay.records.scores import SCORED, ScoreColumn
from assay.runs.rescore_run import open_run
from assay.runs.score_inputs import ScoreInputs
from assay.runs.score_run import score_observations
from assay.scoring.scored_run import ScoredRun

DEFAULT_POOL_DEPTH = 10
POOL_METRICS = ("hit@10", "recall@10", "precision@10", "rr@10", "ndcg@10")


@dataclass(frozen=True, slots=True)
class PoolRequest:
    """The runs to pool, how deep, and how many configurations must rank a chunk; `grades` are files to merge.

    `page` takes the page on which people judge, `merged` the golden set with the grades, of another `version` if it was
    frozen; `at` is the time to record in its changelog. `questions` is a new folder for what a judge is to be asked,
    and `judged` one whose verdicts are merged, of a calibrated `judge`.
    """

    runs: Sequence[str]
    depth: int = DEFAULT_POOL_DEPTH
    at_least: int = 1
    stage: str = "retrieved"
    metrics: Sequence[str] = POOL_METRICS
    page: str | None = None
    language: str = "en"
    grades: Sequence[str] = ()
    merged: str | None = None
    version: str = ""
    at: str = ""
    questions: str | None = None
    judged: str | None = None
    judge: str | None = None
    calibration: str | None = None
    allow_uncalibrated: bool = False


@dataclass(frozen=True, slots=True)
class PooledRuns:
    """The runs with their golden set, its file, the corpus, and the observations of each configuration."""

    path: str
    loaded: LoadedGolden
    corpus: Corpus | None
    observations: Mapping[str, Sequence[Observation]]


def pool_runs(request: PoolRequest) -> PoolReport:
    """Pool runs, write the files that are named, and say what the unjudged chunks can change.

    Raises InputError for runs of different golden sets, grades of another set, and conflicts between grades.
    """
    if request.language not in PAGE_LANGUAGES:
        raise InputError(
            f"--language: no such language (got {request.language!r}; expected one of {', '.join(PAGE_LANGUAGES)})"
        )
    if (request.grades or request.judged is not None) and request.merged is None:
        raise InputError("nowhere to merge the grades (expected --merged FILE for the golden set)")
    runs = load_pooled_runs(request.runs)
    refuse_overwriting([request.page, request.merged], [runs.path])
    pool = Pool(runs.loaded.golden, runs.corpus, request.depth, request.stage)
    counts = {config: pool.add_configuration(config, rows) for config, rows in runs.observations.items()}
    chunks = pool.list_chunks()
    ranges = _measure_ranges(runs, chunks, request.metrics)
    shares = tuple(UnjudgedShare(config, *counts[config], metrics=ranges[config]) for config in runs.observations)
    listed = tuple(chunk for chunk in chunks if len(chunk.ranks) >= request.at_least)
    merged = _merge_files(request, runs, chunks) if request.merged is not None else 0
    if request.page is not None:
        _write_page(request, runs, listed)
    if request.questions is not None:
        cases = {case.id: case for case in runs.loaded.golden.cases}
        texts = {name: text for name, (text, _) in _collect_texts(runs).items()}
        write_questions(request.questions, listed, cases, texts, runs.loaded.digest)
    return PoolReport(runs.loaded.digest, request.depth, request.stage, shares, listed, merged)


def load_pooled_runs(names: Sequence[str]) -> PooledRuns:
    """Return what run folders recorded, `DIR` or `DIR:CONFIG`; a name that two of them have gets its folder in front.

    Raises InputError for runs of different golden sets, and if there is none.
    """
    observations: dict[str, list[Observation]] = {}
    first: tuple[str, LoadedGolden, Corpus | None] | None = None
    with ExitStack() as stack:
        for name in names:
            inputs = complete_run_request(ScoreRequest(InputOptions(run=name))).inputs
            run = stack.enter_context(open_run(name, ("answered",)))
            loaded = load_golden(inputs.golden, inputs.golden_format)
            if first is None:
                corpus = load_corpus(inputs.corpus)[0] if inputs.corpus is not None else None
                first = inputs.golden, loaded, corpus
            elif first[1].digest != loaded.digest:
                message = (
                    f"of another golden set (got {loaded.digest}; {names[0]} has {first[1].digest}): score all runs "
                    f"with one"
                )
                raise InputError([Problem(name, None, "", message, "E_DIGEST")])
            chosen = parse_run_name(name).config
            for config in run.scoring.configs:
                if chosen in (None, "", config):
                    key = config if config not in observations else f"{name}:{config}"
                    observations[key] = list(_read_observations(run, config))
    if first is None or not observations:
        raise InputError("no runs to pool (expected one or more run folders)")
    return PooledRuns(*first, observations)


def _read_observations(run: ScoredRun, config: str) -> Iterator[Observation]:
    for case in run.cases:
        observation = run.read_observation(config, case)
        if observation is not None:
            yield observation


def _measure_ranges(
    runs: PooledRuns, chunks: Sequence[PooledChunk], metrics: Sequence[str]
) -> dict[str, tuple[Any, ...]]:
    """Return what each metric of each configuration is as labelled, and if unjudged chunks had a grade.

    A chunk that a configuration does not rank lowers its ndcg, and one that it ranks raises it, so that all chunks
    having one grade is not the extreme: those that it ranks and the others are also assumed alone.
    """
    golden = runs.loaded.golden
    names = [str(name) for name in parse_metrics(metrics)]
    of_all = [golden, *_assume_grades(golden, chunks, runs.corpus)]
    ranges = {}
    for config, rows in runs.observations.items():
        own = [chunk for chunk in chunks if config in chunk.ranks]
        others = [chunk for chunk in chunks if config not in chunk.ranks]
        of_some = [*_assume_grades(golden, own, runs.corpus), *_assume_grades(golden, others, runs.corpus)]
        scored = [score_graded_rows(hypothesis, runs.corpus, rows, names) for hypothesis in (*of_all, *of_some)]
        ranges[config] = tuple(compare_hypotheses(name, *(values[name] for values in scored)) for name in names)
    return ranges


def _assume_grades(golden: GoldenSet, chunks: Sequence[PooledChunk], corpus: Corpus | None) -> list[GoldenSet]:
    return [assume_grade(golden, chunks, grade, corpus) for grade in (FACT_GRADE, BACKGROUND_GRADE)]


def score_graded_rows(
    golden: GoldenSet, corpus: Corpus | None, rows: Sequence[Observation], metrics: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return the scores of observations on a golden set, by metric and case."""
    request = ScoreRequest(InputOptions(), scoring=ScoringOptions(metrics=list(metrics)))
    run = score_observations(ScoreInputs.from_golden(golden, request, corpus=corpus), rows)
    (result,) = run.scoring.configs.values()
    return {name: _read_values(result.table.case_ids, column) for name, column in result.table.columns.items()}


def _read_values(cases: Sequence[str], column: ScoreColumn) -> dict[str, float]:
    rows = zip(cases, column.values.tolist(), column.status.tolist(), strict=True)
    return {case: value for case, value, status in rows if status == SCORED}


def _grade_same_texts(grades: Sequence[ChunkGrade], chunks: Sequence[PooledChunk]) -> list[ChunkGrade]:
    """Return grades with those of the other ids under which configurations have the same text."""
    same = {(item.case, item.chunk): item.same for item in chunks}
    graded_pairs = {(grade.case, grade.chunk) for grade in grades}
    graded = list(grades)
    for grade in grades:
        others = [name for name in same.get((grade.case, grade.chunk), ()) if (grade.case, name) not in graded_pairs]
        graded += [msgspec.structs.replace(grade, chunk=name) for name in others]
    return graded


def _merge_files(request: PoolRequest, runs: PooledRuns, chunks: Sequence[PooledChunk]) -> int:
    """Write the golden set with the grades of all files; return how many there are."""
    golden, digest = runs.loaded.golden, runs.loaded.digest
    grades: list[ChunkGrade] = []
    problems: list[Problem] = []
    for path in request.grades:
        try:
            grades += load_grades(path, golden, digest, runs.path, runs.corpus)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    if request.judged is not None:
        grades += load_rubric_grades(
            request.judged,
            digest,
            request.judge,
            request.calibration,
            allow_uncalibrated=request.allow_uncalibrated,
        )
    check_unedited(runs.path, golden, digest)
    if golden.frozen_digest and request.version in ("", golden.version):
        message = f"frozen as this version (got {request.version!r}; expected --version with another one)"
        raise InputError([Problem(runs.path, 1, "version", message, "E_VERSION")])
    merged, conflicts = merge_grades(golden, _grade_same_texts(grades, chunks), runs.corpus, runs.path)
    if conflicts:
        raise InputError(conflicts)
    version = request.version or golden.version
    change = (
        f"{format_count(len(grades), 'grade')} of pooled chunks by {', '.join(sorted({grade.by for grade in grades}))}"
    )
    changelog = (*golden.changelog, f"{version} ({request.at}): {change}")
    merged = msgspec.structs.replace(merged, version=version, changelog=changelog, frozen_digest="")
    if golden.frozen_digest:
        entry = describe_version(version, golden, digest, merged.cases, {}, golden.as_of)
        merged = msgspec.structs.replace(merged, lineage=(*golden.lineage, entry))
        merged = msgspec.structs.replace(merged, frozen_digest=compute_golden_digest(merged))
    write_golden(merged, str(request.merged))
    return len(grades)


def _write_page(request: PoolRequest, runs: PooledRuns, chunks: Sequence[PooledChunk]) -> None:
    cases = {case.id: case for case in runs.loaded.golden.cases}
    texts = _collect_texts(runs)
    rows = []
    for item in chunks:
        case = cases[item.case]
        own = [unit.quote for unit in case.evidence if unit.quote and unit.grade]
        text, place = texts.get(item.chunk, ("", ""))
        rows.append(
            {
                "id": f"{item.case}\n{item.chunk}",
                "case": item.case,
                "chunk": item.chunk,
                "question": case.question,
                "reference": case.reference or "",
                "quotes": own,
                "text": text,
                "place": place,
            }
        )
    if not rows:
        raise InputError([Problem(runs.path, None, "", "nothing to judge (no page was written)", "E_EMPTY")])
    content = {"golden": runs.loaded.digest, "rows": rows}
    sheet = compute_digest([runs.loaded.digest, [row["id"] for row in rows]])
    write_atomically(str(request.page), [build_offline_page("pool", content, sheet, request.language)])


def _collect_texts(runs: PooledRuns) -> dict[str, tuple[str, str]]:
    """Return the text of each chunk, of the corpus or else as a target showed it, and where it stands."""
    texts: dict[str, tuple[str, str]] = {}
    for rows in runs.observations.values():
        for observation in rows:
            for stage in observation.stages or ():
                texts |= {chunk.chunk_id: (chunk.text, "") for chunk in stage.chunks if chunk.text}
    if runs.corpus is not None:
        for name, chunk in runs.corpus.chunks.items():
            if chunk.text:
                texts[name] = (chunk.text, describe_chunk(chunk))
    return texts


def pool(
    *runs: str,
    depth: int = DEFAULT_POOL_DEPTH,
    at_least: int = 1,
    stage: str = "retrieved",
    metrics: Sequence[str] = POOL_METRICS,
    page: str | None = None,
    language: str = "en",
    grades: Sequence[str] = (),
    merged: str | None = None,
    version: str = "",
    at: str = "",
    questions: str | None = None,
    judged: str | None = None,
    judge: str | None = None,
    calibration: str | None = None,
    allow_uncalibrated: bool = False,
) -> PoolReport:
    """Return the chunks of run folders that nobody judged, and how far each metric can change while nobody does.

    `page` is written for people to judge them; `grades` are files that it saved, merged into the golden set that is
    written to `merged` under a new `version`; `at` is the time to record, ISO 8601. `questions` is a new folder with
    what to ask a judge, and `judged` such a folder whose verdicts are merged, of the `judge` with this `calibration`.
    Raises InputError as `golden pool` does.
    """
    return pool_runs(
        PoolRequest(
            runs,
            depth,
            at_least,
            stage,
            metrics,
            page,
            language,
            grades,
            merged,
            version,
            at,
            questions,
            judged,
            judge,
            calibration,
            allow_uncalibrated,
        )
    )
