"""Small TREC files for the tests of their reader."""

from __future__ import annotations

from pathlib import Path

from assay.formats.trec.qrels import Qrels, read_qrels
from assay.metrics.metric import parse_metric_name
from assay.records.errors import InputError
from assay.runs.score_trec_run import TrecRunScores, score_trec_file

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 1\nq3 0 d9 0\n"
RUN = (
    "q1 Q0 d1 1 3.5 run\nq1 Q0 d2 2 2.5 run\nq1 Q0 d4 3 1.5 run\nq2 Q0 d5 1 9 run\nq2 Q0 d1 2 8 run\nq3 Q0 d9 1 1 run\n"
)


def qrels_from(folder: Path, text: str | bytes = QRELS) -> Qrels:
    path = folder / "qrels.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_qrels(path)


def run_file(folder: Path, text: str | bytes = RUN) -> Path:
    path = folder / "run.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def scored(folder: Path, *names: str, qrels: str | bytes = QRELS, run: str | bytes = RUN) -> TrecRunScores:
    return score_trec_file(
        qrels_from(folder, qrels), run_file(folder, run), [parse_metric_name(name) for name in names]
    )


def told(error: InputError) -> list[str]:
    """Return the problems without the folder."""
    return [str(problem).rpartition("/")[2] for problem in error.problems]
