"""Scoring a run: how rankings are ordered, who is missing or unknown, and everything that is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.trec_files import QRELS, RUN, qrels_from, run_file, scored, told

from assay.formats.trec import qrels as trec_qrels
from assay.formats.trec.field_lines import HALF_WORD_BITS, IndexedText, KeyArray
from assay.metrics.metric import parse_metric_name
from assay.records.errors import InputError, MetricNameError
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED
from assay.runs.score_trec_run import score_trec_file
from assay.stats.arrays import IndexArray


def test_a_run_worked_by_hand(tmp_path: Path) -> None:
    # q1: d1 (grade 1) first, d2 judged 0, d4 unjudged, d3 not found; q2: d1 second; q3 has no relevant document.
    scores = scored(tmp_path, "ap", "rr", "recall@1", "judged@10", "recall(rel=2)@5")
    assert "run" == scores.table.config_id
    assert ["q1", "q2", "q3"] == scores.table.case_ids
    assert [1 / 2, 1 / 2, 0.0] == scores.table.columns["ap"].values.tolist()
    assert [1.0, 1 / 2, 0.0] == scores.table.columns["rr"].values.tolist()
    assert [1 / 2, 0.0, 0.0] == scores.table.columns["recall@1"].values.tolist()
    assert [2 / 3, 1 / 2, 1.0] == scores.table.columns["judged@10"].values.tolist()
    assert [SCORED, SCORED, NOT_APPLICABLE] == scores.table.columns["ap"].status.tolist()
    assert [SCORED, NOT_APPLICABLE, NOT_APPLICABLE] == scores.table.columns["recall(rel=2)@5"].status.tolist()
    assert 6 == scores.lines


def rr_of(folder: Path, *lines: str) -> float:
    """Return 1 / rank of document `good` among the lines of one query, given as `document score`."""
    run = "".join(f"q Q0 {document} 1 {score} run\n" for document, score in (line.split() for line in lines))
    return float(scored(folder, "rr", qrels="q 0 good 1\n", run=run).table.columns["rr"].values[0])


@pytest.mark.parametrize(
    ("lines", "rank"),
    [
        (["a 1", "b 3", "good 2"], 2),  # by score, not by place
        (["a 2", "b 2", "good 2"], 1),  # equal scores: ids fall, as bytes
        (["z 2", "good 2", "goodness 2"], 3),
        (["Z 2", "good 2"], 1),
        (["é 2", "good 2"], 2),
        (["a -0.0", "good 0"], 1),
        (["a 1e-3", "good 0.0011"], 1),
        (["a 1E2", "good 99.9"], 2),
        (["a +3", "good 2"], 2),
        (["a .5", "good 0.6"], 1),
        (["a 5.", "good 5.1"], 1),
        (["a -2.5", "good -2.25"], 1),
        (["a 0.12345678901234566", "good 0.12345678901234568"], 1),  # neighbouring float64
        (["z 0.12345678901234567890", "good 0.12345678901234567"], 2),  # the same float64
        (["z 12345678901234567", "good 12345678901234568"], 2),  # 2^53 < both: the same float64 again
        (["a 9007199254740993", "good 9007199254740994"], 1),  # the first of them rounds down
        (["z 1.000000001", "good 1.0000000010"], 2),
        (["a 1.0000000001", "good 1"], 2),  # equal as float32, as trec_eval 9 compares; not here
        (["a " + "0" * 40 + "1", "good 2"], 1),
    ],
)
def test_scores_order_the_ranking_as_float64_and_ids_decide_ties(tmp_path: Path, lines: list[str], rank: int) -> None:
    assert 1 / rank == rr_of(tmp_path, *lines)
    assert 1 / rank == rr_of(tmp_path, *reversed(lines))


DECIMAL = st.tuples(st.integers(-(10**18), 10**18), st.integers(0, 19)).map(
    lambda parts: f"{parts[0] / 10 ** parts[1]:.{parts[1]}f}"
)


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr) | DECIMAL, min_size=2, max_size=8))
def test_any_spelling_of_finite_numbers_orders_like_python_floats(
    tmp_path_factory: pytest.TempPathFactory, spelled: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    ids = [f"d{place}" for place in range(len(spelled))]
    ids[0] = "good"
    order = sorted(zip(map(float, spelled), ids, strict=True), reverse=True)
    rank = 1 + [document for _, document in order].index("good")
    assert 1 / rank == rr_of(folder, *(f"{document} {text}" for document, text in zip(ids, spelled, strict=True)))


def test_the_rank_field_and_text_after_the_tag_are_ignored(tmp_path: Path) -> None:
    plain = scored(tmp_path, "ap")
    other = scored(tmp_path, "ap", run=RUN.replace(" 1 ", " 900 ").replace(" run\n", " run and more\n"))
    assert plain.table.columns["ap"].values.tobytes() == other.table.columns["ap"].values.tobytes()


def test_a_query_that_the_run_does_not_hold_is_an_error_or_zero_on_demand(tmp_path: Path) -> None:
    qrels, run = qrels_from(tmp_path), run_file(tmp_path, "q1 Q0 d1 1 3 run\n")
    names = [parse_metric_name("rr"), parse_metric_name("judged@5")]
    strict, zero = score_trec_file(qrels, run, names), score_trec_file(qrels, run, names, missing="zero")
    assert ("q2", "q3") == strict.table.missing == zero.table.missing
    assert [SCORED, ERROR, NOT_APPLICABLE] == strict.table.columns["rr"].status.tolist()  # q3: nothing to find
    assert [SCORED, SCORED, NOT_APPLICABLE] == zero.table.columns["rr"].status.tolist()
    assert [1.0, 0.0, 0.0] == zero.table.columns["rr"].values.tolist()
    assert [SCORED, NOT_APPLICABLE, NOT_APPLICABLE] == zero.table.columns["judged@5"].status.tolist()


def test_queries_that_the_qrels_do_not_hold_are_named_once_and_change_nothing(tmp_path: Path) -> None:
    mixed = "new Q0 d1 1 9 run\n" + RUN + "#2 Q0 d1 1 9 run\nnew Q0 d1 1 9 run\n"
    scores = scored(tmp_path, "ap", run=mixed)
    assert ("new", "#2") == scores.unknown
    assert scored(tmp_path, "ap").table.columns["ap"].values.tobytes() == scores.table.columns["ap"].values.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q4 Q0 d 1 2", "wrong number of columns (got 'q4 Q0 d 1 2'; expected query, Q0, document, rank, score, tag)"),
        ("q4 Q0 d 1 nan run", "score: E_SCORE not a score (got 'nan'; expected a finite decimal number)"),
        ("q4 Q0 d 1 -inf run", "score: E_SCORE not a score (got '-inf'; expected a finite decimal number)"),
        ("q4 Q0 d 1 1e999 run", "score: E_SCORE not a score (got '1e999'; expected a finite decimal number)"),
        ("q4 Q0 d 1 abc run", "score: E_SCORE not a score (got 'abc'; expected a finite decimal number)"),
        ("q4 Q0 d 1 1_0 run", "score: E_SCORE not a score (got '1_0'; expected a finite decimal number)"),
        ("q4 Q0 d 1 0x1p3 run", "score: E_SCORE not a score (got '0x1p3'; expected a finite decimal number)"),
        ("q4 Q0 d 1 1.2.3 run", "score: E_SCORE not a score (got '1.2.3'; expected a finite decimal number)"),
        ("q4 Q0 d 1 . run", "score: E_SCORE not a score (got '.'; expected a finite decimal number)"),
        ("q4 Q0 d 1 - run", "score: E_SCORE not a score (got '-'; expected a finite decimal number)"),
        ("q4 Q0 d 1 1-1 run", "score: E_SCORE not a score (got '1-1'; expected a finite decimal number)"),
        ("q4 Q0 d 1 1 other", "tag: E_TAG another run begins (got 'other'; expected 'run' as on the first line)"),
        ("q3 Q0 d9 2 0 run", "listed twice for one query (got 'd9' again for 'q3'; first on line 6)"),
        ("q1 Q0 d1 2 0 run", "listed twice for one query (got 'd1' again for 'q1'; first on line 1)"),
        ("q4 Q0 d\x1b 1 1 run", "control character (got '\\x1b' at byte 8 of the line; expected text)"),
        (b"q4 Q0 \xc3( 1 1 run", "not UTF-8 (got byte 0xc3 at byte 7 of the line; expected UTF-8 text)"),
        ("x" * (17 << 20), "line too long (got more than 16777216 bytes; expected 16777216 at most)"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_bad_line_is_named_with_its_number_and_field(tmp_path: Path, line: str | bytes, problem: str) -> None:
    raw = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(InputError) as raised:
        scored(tmp_path, "ap", run=RUN.encode() + raw)
    (only,) = told(raised.value)
    assert only.startswith("run.txt:7: ")
    assert only.endswith(problem)


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff\r\n"])
def test_a_file_without_a_ranking_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="E_EMPTY no rankings"):
        scored(tmp_path, "ap", run=text)


@pytest.mark.parametrize("name", ["context_recall", "overlap@5", "faithfulness", "recall(stage=reranked)@5"])
def test_a_metric_that_needs_more_than_a_ranking_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(MetricNameError, match="a TREC run holds one ranking per query"):
        scored(tmp_path, name)


def test_ids_that_share_a_key_are_told_apart_by_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = scored(tmp_path, "ap", "ndcg", "judged@10")

    def alike(text: IndexedText, start: IndexArray, length: IndexArray, group: IndexArray) -> KeyArray:
        return group.astype(np.uint64) << HALF_WORD_BITS

    monkeypatch.setattr(trec_qrels, "hash_tokens", alike)
    found = scored(tmp_path, "ap", "ndcg", "judged@10")
    for name, column in expected.table.columns.items():
        assert column.values.tobytes() == found.table.columns[name].values.tobytes()
    with pytest.raises(InputError, match="'d1' again for 'q1'; first on line 1"):
        scored(tmp_path, "ap", run=RUN + "q1 Q0 d1 9 1 run\n")
    with pytest.raises(InputError, match="'d2' again for 'q1'; expected it once, it is on line 2"):
        scored(tmp_path, "ap", qrels=QRELS + "q1 0 d2 1\n")


def test_long_ids_that_differ_in_one_byte_are_different(tmp_path: Path) -> None:
    stem = "collection/" + "x" * 50
    qrels = f"q 0 {stem}a 1\nq 0 {stem}b{stem} 0\n"
    run = f"q Q0 {stem}b 1 3 run\nq Q0 {stem}b{stem} 2 2 run\nq Q0 {stem}a 3 1 run\n"
    scores = scored(tmp_path, "rr", "judged@3", qrels=qrels, run=run)
    assert [1 / 3] == scores.table.columns["rr"].values.tolist()
    assert [2 / 3] == scores.table.columns["judged@3"].values.tolist()
