"""10,000 generated rankings: the values of Assay compared with those of trec_eval, called through pytrec_eval."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import pytrec_eval

from assay.formats.trec.qrels import read_qrels
from assay.metrics.metric import MetricName, parse_metric_name
from assay.records.scores import NOT_APPLICABLE, SCORED
from assay.runs.score_trec_run import score_trec_file

pytestmark = pytest.mark.slow

FILES, QUERIES = 20, 500
DEPTHS = (1, 3, 5, 10, 100)
UNCUT_MEASURES = {"map": "ap", "recip_rank": "rr", "Rprec": "r_precision", "ndcg": "ndcg(gain=linear)"}
CUT_MEASURES = {
    "P": "precision",
    "recall": "recall",
    "map_cut": "ap",
    "success": "hit",
    "ndcg_cut": "ndcg(gain=linear)",
}
NAMES = UNCUT_MEASURES | {f"{theirs}_{k}": f"{ours}@{k}" for theirs, ours in CUT_MEASURES.items() for k in DEPTHS}
MEASURES = {*UNCUT_MEASURES, *(f"{theirs}.{','.join(map(str, DEPTHS))}" for theirs in CUT_MEASURES)}

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def generate_collection(seed: int) -> tuple[Qrels, Run]:
    """Return judgments and rankings: few score values, so that many are tied (pytrec_eval compares float32), ids of
    different lengths that begin alike, documents not judged, negative grades, queries without a relevant document."""
    rng = random.Random(seed)
    qrels: Qrels = {}
    run: Run = {}
    for query_number in range(QUERIES):
        query = f"q{query_number}"
        pool = [rng.choice(("d", "doc-", "document/collection-")) + str(suffix) for suffix in range(rng.randint(1, 60))]
        judged = rng.sample(pool, rng.randint(1, min(len(pool), 20)))
        retrieved = rng.sample(pool, rng.randint(1, len(pool)))
        levels = rng.choice(((0,), (0, 1), (-1, 0, 0, 1, 2, 3)))
        qrels[query] = {document: rng.choice(levels) for document in judged}
        values = rng.choice((1, 4, 1000))
        run[query] = {document: float(rng.randint(-values, values)) for document in retrieved}
    return qrels, run


def write_trec_files(folder: Path, qrels: Qrels, run: Run) -> tuple[Path, Path]:
    judgments, rankings = folder / "qrels.txt", folder / "run.txt"
    judgments.write_text("".join(f"{q} 0 {d} {grade}\n" for q, docs in qrels.items() for d, grade in docs.items()))
    rankings.write_text(
        "".join(f"{q} Q0 {d} 1 {score:g} run\n" for q, docs in run.items() for d, score in docs.items())
    )
    return judgments, rankings


def name_at_level(ours: str, level: int) -> MetricName:
    name = parse_metric_name(ours)
    if level == 1 or name.base == "ndcg":
        return name
    return MetricName(name.base, tuple(sorted([*name.keys, ("rel", str(level))])), name.k)


@pytest.mark.parametrize("seed", range(FILES))
def test_every_shared_measure_equals_trec_eval_to_nine_places(tmp_path: Path, seed: int) -> None:
    qrels, run = generate_collection(seed)
    level = 1 + seed % 2
    theirs = pytrec_eval.RelevanceEvaluator(qrels, MEASURES, relevance_level=level).evaluate(run)
    judgments, rankings = write_trec_files(tmp_path, qrels, run)
    names = {measure: name_at_level(ours, level) for measure, ours in NAMES.items()}
    scores = score_trec_file(read_qrels(judgments), rankings, list(names.values()), block=1 << 15)
    assert list(qrels) == list(scores.table.case_ids) == list(theirs)
    for measure, name in names.items():
        column = scores.table.columns[str(name)]
        lowest = 1 if name.base == "ndcg" else level
        for row, query in enumerate(qrels):
            if max(qrels[query].values()) < lowest:  # trec_eval says 0; without a relevant document there is no share
                assert (NOT_APPLICABLE, 0.0) == (column.status[row], theirs[query][measure])
            else:
                assert SCORED == column.status[row]
                assert abs(column.values[row] - theirs[query][measure]) < 1e-9, (query, measure)
