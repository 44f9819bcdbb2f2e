"""The bits of the scores depend on the lines alone: not on blocks, workers, packing or where a query's lines stand."""

from __future__ import annotations

import gzip
import os
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from tests.formats.trec_files import told

from assay.formats.trec import field_lines
from assay.formats.trec import qrels as trec_qrels
from assay.formats.trec.field_lines import ColumnLayout, LineBlock
from assay.formats.trec.qrels import Qrels, read_qrels
from assay.metrics.metric import parse_metric_name
from assay.records.errors import IncompleteError, InputError
from assay.runs import score_trec_run
from assay.runs.score_trec_run import TrecRunScores, score_trec_file

NAMES = [
    parse_metric_name(name)
    for name in ("ap", "rr", "ndcg@7", "ndcg(gain=linear)", "recall(rel=2)@5", "judged@9", "hit@1")
]


@pytest.fixture
def copied_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers be copies of this process: they start at once, and share what a test has replaced in it."""
    monkeypatch.setattr(score_trec_run, "_may_fork", lambda: True)


def forking(test: Any) -> Any:
    threads = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # those of numpy are idle
    return pytest.mark.usefixtures("copied_workers")(threads(test))


@dataclass(frozen=True)
class Collection:
    qrels: Qrels
    lines: list[str]
    path: Path


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """60 queries with rankings of 1 to 80 documents, some of them tied, some unsorted; queries come out of order,
    one is missing from the run and one from the qrels."""
    rng = random.Random(7)
    folder = tmp_path_factory.mktemp("collection")
    judgments, rankings = [], []
    for number in range(60):
        query = f"{'topic' * (number % 3)}{number}"
        pool = [f"{rng.choice(('đ', 'doc', 'a-much-longer-id-'))}{place}" for place in range(90)]
        judgments += [f"{query} 0 {document} {rng.randint(-1, 3)}\n" for document in rng.sample(pool, 25)]
        found = rng.sample(pool, rng.randint(1, 80))
        rankings.append([f"{query}\tQ0 {document} 1 {rng.uniform(0, 9):.{number % 4}f} run\n" for document in found])
    rankings[7] = []
    rankings.append([f"stranger Q0 doc{place} 1 {place} run\n" for place in range(9)])
    rng.shuffle(rankings)
    path = folder / "qrels.txt"
    path.write_text("".join(judgments), encoding="utf-8")
    lines = [line for ranking in rankings for line in ranking]
    run = folder / "run.txt"
    run.write_text("".join(lines), encoding="utf-8")
    return Collection(read_qrels(path), lines, run)


@pytest.fixture(scope="module")
def expected(collection: Collection) -> TrecRunScores:
    return score_trec_file(collection.qrels, collection.path, NAMES)


def assert_same(expected: TrecRunScores, found: TrecRunScores) -> None:
    assert (expected.lines, sorted(expected.unknown)) == (found.lines, sorted(found.unknown))
    assert (expected.table.config_id, expected.table.case_ids) == (found.table.config_id, found.table.case_ids)
    assert expected.table.missing == found.table.missing
    assert list(expected.table.columns) == list(found.table.columns)
    for name, column in expected.table.columns.items():
        assert column.values.tobytes() == found.table.columns[name].values.tobytes(), name
        assert column.status.tobytes() == found.table.columns[name].status.tobytes(), name


def written(folder: Path, lines: list[str]) -> Path:
    path = folder / "run.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 17, 1000, 30_000])
def test_any_block_size_gives_the_same_bits(collection: Collection, expected: TrecRunScores, size: int) -> None:
    assert_same(expected, score_trec_file(collection.qrels, collection.path, NAMES, block=size))


@pytest.mark.slow
def test_two_workers_give_the_same_bits(collection: Collection, expected: TrecRunScores) -> None:
    assert_same(expected, score_trec_file(collection.qrels, collection.path, NAMES, workers=2))


@pytest.mark.slow
@forking
@pytest.mark.parametrize("workers", [2, 3, 4, 200])
def test_any_number_of_parts_gives_the_same_bits(
    collection: Collection, expected: TrecRunScores, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    job = score_trec_run.RunJob(collection.qrels, tuple(NAMES), collection.path, "run", 1000)
    with collection.path.open("rb") as file:
        spans = score_trec_run._cut_at_queries(file, (0, collection.path.stat().st_size), workers)
    assert min(workers, 60) == len(spans)
    monkeypatch.setattr(score_trec_run, "score_run_file", lambda job: pytest.fail("the parts were not enough"))
    if workers <= 4:
        assert_same(expected, score_trec_file(collection.qrels, collection.path, NAMES, workers=workers))
    else:
        assert None not in [score_trec_run._score_span(job, span) for span in spans]


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "cells"), [(1, 1), (5, 100), (4096, 90)])
def test_any_batch_of_rankings_gives_the_same_bits(
    collection: Collection, expected: TrecRunScores, monkeypatch: pytest.MonkeyPatch, rows: int, cells: int
) -> None:
    monkeypatch.setattr(score_trec_run, "BATCH_RANKINGS", rows)
    monkeypatch.setattr(score_trec_run, "MAX_TABLE_CELLS", cells)
    assert_same(expected, score_trec_file(collection.qrels, collection.path, NAMES))


@pytest.mark.slow
@forking
@pytest.mark.parametrize("group", [1 << 27, 5000])
@pytest.mark.parametrize("workers", [1, 2])
def test_scattered_queries_are_brought_together(
    collection: Collection,
    expected: TrecRunScores,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    workers: int,
    group: int,
) -> None:
    monkeypatch.setattr(score_trec_run, "GROUP_BYTES", group)
    path = written(tmp_path, random.Random(3).sample(collection.lines, len(collection.lines)))
    assert_same(expected, score_trec_file(collection.qrels, path, NAMES, workers=workers, block=4000))


@pytest.mark.slow
@forking
@pytest.mark.parametrize(("place", "workers"), [(0, 1), (1, 1), (40, 1), (-1, 1), (0, 2), (40, 2)])
def test_one_line_that_strays_is_enough_to_bring_its_query_together(
    collection: Collection, expected: TrecRunScores, tmp_path: Path, place: int, workers: int
) -> None:
    lines = collection.lines.copy()
    lines.insert(len(lines) // 2, lines.pop(place))
    path = written(tmp_path, lines)
    assert_same(expected, score_trec_file(collection.qrels, path, NAMES, workers=workers, block=500))


@pytest.mark.slow
def test_a_packed_run_gives_the_same_bits(collection: Collection, expected: TrecRunScores, tmp_path: Path) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(collection.path.read_bytes()))
    assert_same(expected, score_trec_file(collection.qrels, path, NAMES, workers=2))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 40])
def test_any_block_size_reads_the_same_qrels(
    collection: Collection, expected: TrecRunScores, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(trec_qrels, "QRELS_BLOCK_BYTES", size)
    assert_same(expected, score_trec_file(read_qrels(Path(collection.qrels.path)), collection.path, NAMES))


def test_fields_found_by_their_blanks_give_the_same_bits(
    collection: Collection, expected: TrecRunScores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_lines, "_split_regular", lambda text, columns, first_line: None)
    assert_same(expected, score_trec_file(collection.qrels, collection.path, NAMES, block=999))


@pytest.mark.slow
@forking
def test_the_same_problems_are_told_for_any_block_size_and_number_of_workers(
    collection: Collection, tmp_path: Path
) -> None:
    lines = collection.lines.copy()
    for place in (3, 500, 501, 900, len(lines) - 1):
        lines[place] = lines[place].replace(" run\n", "\n") if place % 2 else lines[place].replace(" 1 ", " 1 x")
    lines.insert(120, lines[115])
    path = written(tmp_path, lines)
    told_before: set[tuple[str, ...]] = set()
    for size, workers in ((1 << 20, 1), (1, 1), (700, 1), (1 << 20, 2), (700, 4)):
        with pytest.raises(InputError) as raised:
            score_trec_file(collection.qrels, path, NAMES, block=size, workers=workers)
        told_before.add(tuple(told(raised.value)))
    (problems,) = told_before
    assert [4, 121, 502, 503, 902, len(lines)] == [int(problem.split(":")[1]) for problem in problems]


@forking
def test_two_runs_in_one_file_are_told_wherever_the_file_is_cut(collection: Collection, tmp_path: Path) -> None:
    half = len(collection.lines) // 2
    first = next(n for n in range(half, 0, -1) if collection.lines[n].split()[0] != collection.lines[n - 1].split()[0])
    other = [line.replace(" run\n", " other\n") for line in collection.lines[first:]]
    path = written(tmp_path, collection.lines[:first] + other)
    for workers in (1, 2):
        with pytest.raises(InputError, match=f"run.txt:{first + 1}: tag: E_TAG another run begins"):
            score_trec_file(collection.qrels, path, NAMES, workers=workers)


def test_duplicates_of_scattered_queries_name_their_lines(collection: Collection, tmp_path: Path) -> None:
    lines = [*collection.lines, collection.lines[2], collection.lines[0]]
    path = written(tmp_path, lines)
    with pytest.raises(InputError) as raised:
        score_trec_file(collection.qrels, path, NAMES)
    count = len(collection.lines)
    assert {(count + 1, "first on line 3"), (count + 2, "first on line 1")} == {
        (problem.line, problem.message.rpartition("; ")[2].rstrip(")")) for problem in raised.value.problems
    }


def only_in_others(act: Any) -> Any:
    here = os.getpid()

    def read(file: BinaryIO, layout: ColumnLayout, size: int, stop: int | None = None) -> Iterator[LineBlock]:
        if os.getpid() != here:
            act()
        return field_lines.iterate_query_blocks(file, layout, size, stop)

    return read


def fail() -> None:
    raise ZeroDivisionError("in a worker")


@forking
def test_an_exception_in_a_worker_comes_out_as_itself(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_trec_run, "iterate_query_blocks", only_in_others(fail))
    with pytest.raises(ZeroDivisionError, match="in a worker"):
        score_trec_file(collection.qrels, collection.path, NAMES, workers=2)


@forking
def test_a_worker_that_dies_leaves_the_measurement_incomplete(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_trec_run, "iterate_query_blocks", only_in_others(lambda: os._exit(9)))
    with pytest.raises(IncompleteError, match="a worker process died"):
        score_trec_file(collection.qrels, collection.path, NAMES, workers=2)


def test_a_process_with_a_second_thread_is_not_forked() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not score_trec_run._may_fork()
    finally:
        done.set()
        thread.join()
