"""Pooled chunks as questions to a judge, and its verdicts as grades.

A pool is written as a golden set of its own, one case for each chunk, whose recorded answer is the text of the chunk.
So `assay judge` asks the rubric as it asks any other, with votes, controls, budget and resumption, and `assay
calibrate` compares it with people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from assay.formats.convert_files import encode_output_lines
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import load_golden, write_golden
from assay.golden.pooling.pooled_chunks import FACT_GRADE, ChunkGrade, PooledChunk
from assay.records.errors import InputError, Problem
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.records.observations import Observation
from assay.records.requests import InputOptions, ScoreRequest, ScoringOptions, VerdictOptions
from assay.records.scores import SCORED
from assay.runs.score_run import open_scored_run

GRADE_METRIC = "passage_grade(by=judge)"
QUESTIONS_FILE, PASSAGES_FILE, VERDICTS_FILE, RUBRICS = "golden.jsonl", "outputs.jsonl", "verdicts.sqlite", "rubrics"
_RUBRIC_FILES = ("passage_grade.en.yaml", "passage_grade.vi.yaml")
_CONFIG = "pool"


def write_questions(
    folder: str, chunks: Sequence[PooledChunk], cases: Mapping[str, Case], texts: Mapping[str, str], digest: str
) -> int:
    """Write the questions about pooled chunks with a text, and the rubric; return how many there are.

    Raises InputError if the folder has questions already, because verdicts may answer them, or if no chunk has a text.
    """
    target = Path(folder)
    if (target / QUESTIONS_FILE).exists():
        message = "has questions already (expected a new folder; their verdicts are merged with --judged)"
        raise InputError([Problem(folder, None, "", message, "E_EXISTS")])
    asked: list[Case] = []
    passages: list[Observation] = []
    for item in chunks:
        case, text = cases[item.case], texts.get(item.chunk, "")
        if not text.strip():
            continue
        name = f"p{len(asked) + 1:05d}"
        pooled = {"golden": digest, "case": item.case, "chunk": item.chunk}
        asked.append(
            Case(
                name,
                case.question,
                evidence=(Evidence(({"chunk_id": item.chunk},)),),
                language=case.language,
                history=case.history,
                metadata={"pool": pooled},
            )
        )
        passages.append(Observation(name, _CONFIG, answer=text))
    if not asked:
        raise InputError([Problem(folder, None, "", "no pooled chunk has a text (expected a corpus)", "E_EMPTY")])
    for name in _RUBRIC_FILES:
        rubric = files("assay").joinpath("golden", "rubrics", name)
        write_atomically(target / RUBRICS / name, [rubric.read_bytes()])
    write_atomically(target / PASSAGES_FILE, encode_output_lines(passages))
    write_golden(GoldenSet(tuple(asked), name="pooled chunks"), target / QUESTIONS_FILE)
    return len(asked)


def load_rubric_grades(
    folder: str, digest: str, judge: str | None, calibration: str | None, *, allow_uncalibrated: bool
) -> list[ChunkGrade]:
    """Return the grades that a judge gave to the questions of a folder; a chunk without a verdict has none.

    Raises InputError for questions about another golden set, without any verdict, and for a judge that is not
    calibrated on this rubric, unless that is allowed.
    """
    questions = Path(folder, QUESTIONS_FILE)
    cases = load_golden(questions).golden.cases
    for case in cases:
        if case.metadata.get("pool", {}).get("golden") != digest:
            message = f"questions about another golden set (expected those of {digest}): write them again"
            raise InputError([Problem(str(questions), None, case.id, message, "E_DIGEST")])
    verdicts = VerdictOptions(str(Path(folder, VERDICTS_FILE)), judge, calibration, (str(Path(folder, RUBRICS)),))
    inputs = InputOptions(golden=str(questions), outputs=[str(Path(folder, PASSAGES_FILE))])
    request = ScoreRequest(inputs, verdicts, scoring=ScoringOptions(metrics=[GRADE_METRIC]))
    with open_scored_run(request) as run:
        table = run.scoring.configs[_CONFIG].table
        name = run.judging.judge if run.judging is not None else ""
        column = table.columns[GRADE_METRIC]
        rows = list(zip(cases, column.values.tolist(), column.status.tolist(), strict=True))
        is_calibrated = GRADE_METRIC not in table.uncalibrated
        refused = table.refused_calibrations.get(GRADE_METRIC, f"the judge is not calibrated on {GRADE_METRIC}")
    if not is_calibrated and not allow_uncalibrated:
        message = (
            f"{refused}: label a sample (assay labels export), pass --calibration, "
            f"or merge its grades as they are with --uncalibrated"
        )
        raise InputError([Problem(folder, None, "", message, "E_CALIBRATION")])
    by = f"{GRADE_METRIC}, judge {name}{'' if is_calibrated else ', uncalibrated'}"
    grades = list(_iterate_grades(rows, by))
    if not grades:
        raise InputError([Problem(folder, None, "", f"no verdict on {GRADE_METRIC} (run assay judge)", "E_EMPTY")])
    return grades


def _iterate_grades(rows: Sequence[tuple[Case, float, int]], by: str) -> Iterator[ChunkGrade]:
    for case, value, status in rows:
        if status == SCORED:
            pooled = case.metadata["pool"]
            yield ChunkGrade(str(pooled["case"]), str(pooled["chunk"]), round(value * FACT_GRADE), by, "rubric")
