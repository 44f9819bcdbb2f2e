"""The expected outputs of the tests of trec_eval 10, for every measure that Assay also has, query by query."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from assay.formats.trec.qrels import read_qrels
from assay.metrics.metric import MetricName, parse_metric_name
from assay.records.scores import SCORED
from assay.runs.score_trec_run import TrecRunScores, score_trec_file

# trec_eval measures and their names in Assay; `{k}` is a depth. Runs have at most 500 documents: 1000 cuts nothing off.
SHARED = {
    "map": "ap",
    "map_cut_{k}": "ap@{k}",
    "recip_rank": "rr",
    "Rprec": "r_precision",
    "ndcg": "ndcg(gain=linear)",
    "ndcg_cut_{k}": "ndcg(gain=linear)@{k}",
    "P_{k}": "precision@{k}",
    "recall_{k}": "recall@{k}",
    "relative_P_{k}": "recall(cap=true)@{k}",
    "success_{k}": "hit@{k}",
    "set_P": "precision(of=returned)@1000",
    "set_recall": "recall",
    "unj_{k}": "judged@{k}",
}
GRADED = ("ndcg", "judged")  # the relevance level does not concern these

EXPECTED = [
    ("out.test.aq", "qrels.test", "results.test", False, None),
    ("out.test.aqc", "qrels.test", "results.trunc", True, None),
    ("out.test.aql", "qrels.rel_level", "results.test", False, 2),
    ("out.test.meas_params", "qrels.test", "results.test", False, None),
]


def find_assay_name(measure: str, level: int | None) -> MetricName | None:
    """Return the name in Assay of a trec_eval measure, or None if Assay does not have it."""
    base, depth = re.fullmatch(r"(.*?)(?:_([0-9]+))?", measure).groups()  # type: ignore[union-attr]  # matches all
    template = SHARED.get(base + "_{k}") if depth else SHARED.get(measure)
    if template is None:
        return None
    name = parse_metric_name(template.format(k=depth))
    if level is None or name.base in GRADED:
        return name
    return MetricName(name.base, tuple(sorted([*name.keys, ("rel", str(level))])), name.k)


def read_expected_values(path: Path, level: int | None) -> list[tuple[MetricName, str, str, str]]:
    """Return (Assay name, trec_eval name, query or `all`, printed value) for each line of a shared measure."""
    rows = [line.split() for line in path.read_text().splitlines()]
    named = [(find_assay_name(measure, level), measure, query, value) for measure, query, value in rows]
    return [(name, measure, query, value) for name, measure, query, value in named if name is not None]


def score_of_query(scores: TrecRunScores, name: MetricName, query: str) -> float:
    column = scores.table.columns[str(name)]
    if query != "all":
        row = scores.table.case_ids.index(query)
        assert SCORED == column.status[row]
        return float(column.values[row])
    scored = column.values[column.status == SCORED]
    return math.fsum(scored) / len(scored)


@pytest.mark.parametrize(("expected", "qrels", "run", "complete", "level"), EXPECTED)
def test_every_shared_measure_prints_the_value_that_trec_eval_expects(
    test_data: Path, expected: str, qrels: str, run: str, complete: bool, level: int | None
) -> None:
    folder = test_data / "trec-eval"
    expected_rows = read_expected_values(folder / expected, level)
    if complete:  # the share of an empty ranking that was judged is not 0 here, it is not applicable
        expected_rows = [row for row in expected_rows if row[0].base != "judged"]
    names = list(dict.fromkeys(name for name, *_ in expected_rows))
    scores = score_trec_file(read_qrels(folder / qrels), folder / run, names, missing="zero" if complete else "error")
    assert len(expected_rows) >= 40
    different = {}
    for name, measure, query, printed in expected_rows:
        value = score_of_query(scores, name, query)
        if measure.startswith("unj"):
            value = 1 - value
        if f"{value:.4f}" != printed:
            different[measure, query] = (f"{value:.4f}", printed)
    assert {} == different
