"""Pooled judgments: TREC qrels and BEIR folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.golden_rows import jsonl, saved

from assay.formats.golden_files import detect_golden_format, load_golden, write_golden
from assay.formats.trec.qrels import compute_qrels_digest, read_qrels
from assay.records.errors import InputError
from assay.records.golden_set import Evidence

QUERIES = jsonl({"_id": "q1", "text": "first?"}, {"_id": "q2", "text": "second?"}, {"_id": "q3", "text": "third?"})
TEST = "query-id\tcorpus-id\tscore\nq2\td 1\t2\nq2\td2\t0\nq1\td3\t1\n"


def unit(chunk_id: str, grade: int) -> Evidence:
    return Evidence(({"chunk_id": chunk_id},), grade, grade > 0)


def test_trec_judgments_keep_zero_and_leave_out_negative_grades(tmp_path: Path) -> None:
    path = saved(tmp_path, "401 0 FT-1 2\r\n401 0 FT-2 0\n\n#2\tQ0\tFT-1 -1\n 401 0 FT-3 +1", "qrels.txt")
    loaded = load_golden(path)
    assert ("trec-qrels", "partial") == (loaded.format, loaded.golden.judgments)
    assert ["401", "#2"] == [case.id for case in loaded.golden.cases]
    assert (unit("FT-1", 2), unit("FT-2", 0), unit("FT-3", 1)) == loaded.golden.cases[0].evidence
    assert ((), "") == (loaded.golden.cases[1].evidence, loaded.golden.cases[1].question)
    assert ["E_UNJUDGED"] == [warning.code for warning in loaded.warnings]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q 0 d 1.9", "not a grade (got '1.9'; expected an integer up to 10)"),
        ("q 0 d yes", "not a grade (got 'yes'; expected an integer up to 10)"),
        ("q 0 d 11", "not a grade (got '11'; expected an integer up to 10)"),
        ("q 0 d ٣", "not a grade (got '٣'; expected an integer up to 10)"),
        ("q 0 ok 1", "chunk judged twice (got 'ok' again for 'q'; expected it once, it is on line 1)"),
        ("q 0 d", "wrong number of columns (got 'q 0 d'; expected query, iteration, chunk, grade)"),
    ],
)
def test_trec_lines_that_cannot_be_read_are_errors(tmp_path: Path, line: str, message: str) -> None:
    path = saved(tmp_path, f"q 0 ok 1\n{line}\n", "qrels.txt")
    with pytest.raises(InputError) as caught:
        load_golden(path)
    assert [(2, message)] == [(problem.line, problem.message) for problem in caught.value.problems]


def test_a_beir_folder_has_the_judged_queries_of_its_split(tmp_path: Path) -> None:
    saved(tmp_path, QUERIES, "set/queries.jsonl")
    saved(tmp_path, TEST, "set/qrels/test.tsv")
    loaded = load_golden(tmp_path / "set")
    golden = loaded.golden
    assert ("beir", "partial", "test") == (loaded.format, golden.judgments, golden.split)
    assert [("q1", "first?"), ("q2", "second?")] == [(case.id, case.question) for case in golden.cases]
    assert (unit("d 1", 2), unit("d2", 0)) == golden.cases[1].evidence
    assert ["queries without a judgment are left out (got 1 of 3; expected all judged)"] == [
        warning.message for warning in loaded.warnings
    ]


def test_a_beir_split_can_be_named_by_its_path(tmp_path: Path) -> None:
    saved(tmp_path, QUERIES, "set/queries.jsonl")
    saved(tmp_path, TEST, "set/qrels/test.tsv")
    dev = saved(tmp_path, "query-id\tcorpus-id\tscore\nq3\td9\t1\n", "set/qrels/dev.tsv")
    assert "beir" == detect_golden_format(dev)
    assert (["q3"], "dev") == ([case.id for case in load_golden(dev).golden.cases], load_golden(dev).golden.split)
    whole = load_golden(tmp_path / "set")
    assert ("test", "E_SPLIT") == (whole.golden.split, whole.warnings[0].code)
    (tmp_path / "set/qrels/test.tsv").rename(tmp_path / "set/qrels/train.tsv")
    with pytest.raises(InputError, match=r"E_SPLIT no split to read \(got dev.tsv, train.tsv in qrels"):
        load_golden(tmp_path / "set")


def test_beir_judgments_of_an_unknown_query_are_errors(tmp_path: Path) -> None:
    saved(tmp_path, QUERIES, "set/queries.jsonl")
    saved(tmp_path, TEST + "q9\td1\t1\nq1\td1\t0.5\n", "set/qrels/test.tsv")
    with pytest.raises(InputError) as caught:
        load_golden(tmp_path / "set")
    places = [(Path(problem.path).name, problem.line, problem.code) for problem in caught.value.problems]
    assert [("test.tsv", 6, "E_GRADE"), ("test.tsv", 5, "E_UNKNOWN_QUERY")] == places


def test_the_digest_of_qrels_is_what_it_always_was_and_the_same_from_arrays(tmp_path: Path) -> None:
    text = 'q2 0 a"b 1\n\nq10\t0  c\\d +3\nq2 0 e\u0301 0\r\nq3 Q0 f -1\nq2 0 g 10\n#4 0 h 02'
    path = saved(tmp_path, text, "qrels.txt")
    digest = "sha256:3e88cdffcda002e97a25615724c58cf828e28e7b09f05316b395d1749ed3030e"
    assert digest == load_golden(path).digest == compute_qrels_digest(read_qrels(path))


def test_the_digest_of_a_beir_folder_is_what_it_always_was(tmp_path: Path) -> None:
    queries = jsonl(
        {"_id": "q1", "text": "first?"},
        {"_id": "q2", "text": "second?", "metadata": {"year": 2020}},
        {"_id": "q3", "text": "third?"},
    )
    saved(tmp_path, queries, "set/queries.jsonl")
    table = "query-id\tcorpus-id\tscore\nq2\td 1\t2\r\nq2\tcafe\u0301\t0\n\nq1\td3\t+1\nq1\td4\t-1"
    saved(tmp_path, table, "set/qrels/test.tsv")
    digest = "sha256:db724f5f2ea3969d9a4907978b218d2ca863118bb2d829b88363ed77df1745fe"
    assert digest == load_golden(tmp_path / "set").digest


@pytest.mark.parametrize("name", ["trec-eval/qrels.test", "trec-eval/qrels.rel_level", "trec-rag24/qrels.txt"])
def test_both_digests_of_real_judgments_are_equal(test_data: Path, name: str) -> None:
    path = test_data / name
    assert load_golden(path).digest == compute_qrels_digest(read_qrels(path))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q2\t\t1", "corpus-id: E_ID empty (got ''; expected a name)"),
        ("q2\ta\x0bb\t1", "corpus-id: E_ID control character inside (got 'a\\x0bb'; expected printable characters)"),
        (f"q2\t{'x' * 300}\t1", "corpus-id: E_ID too long (got 300 bytes; expected 256 at most)"),
        ("q2\ta\x00b\t1", "E_CONTROL control character (got '\\x00' at byte 5 of the line; expected text)"),
        ("q2\td\t 1", "grade: E_GRADE not a grade (got ' 1'; expected an integer up to 10)"),
        ("q2\td", "E_CELLS wrong number of columns (got 'q2\\td'; expected query-id, corpus-id, score separated by tabs)"),
        ("q2\td\t1\t", "E_CELLS wrong number of columns (got 'q2\\td\\t1\\t'; expected query-id, corpus-id, score separated by tabs)"),
        (
            "q2\td2\t-1",
            "corpus-id: E_DUPLICATE_ID chunk judged twice (got 'd2' again for 'q2'; expected it once, it is on line 3)",
        ),
    ],
    ids=["empty", "vertical tab", "long", "control", "blank in grade", "two cells", "four cells", "twice"],
)
def test_lines_of_a_beir_table_that_cannot_be_read_are_errors(tmp_path: Path, line: str, problem: str) -> None:
    saved(tmp_path, QUERIES, "set/queries.jsonl")
    table = saved(tmp_path, f"{TEST}{line}\r\n", "set/qrels/test.tsv")
    with pytest.raises(InputError) as caught:
        load_golden(tmp_path / "set")
    assert [f"{table}:5: {problem}"] == [str(each) for each in caught.value.problems]


def test_blank_lines_of_a_beir_table_are_skipped_and_counted_as_lines(tmp_path: Path) -> None:
    saved(tmp_path, QUERIES, "set/queries.jsonl")
    table = saved(tmp_path, f"\n\t\n{TEST} \t \nq3\td\tx\n", "set/qrels/test.tsv")
    with pytest.raises(InputError) as caught:
        load_golden(tmp_path / "set")
    assert [(str(table), 8)] == [(problem.path, problem.line) for problem in caught.value.problems]


def test_judgments_without_questions_survive_being_written_in_the_native_format(tmp_path: Path) -> None:
    trec = saved(tmp_path, "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\n", "qrels.txt")
    rows = saved(tmp_path, jsonl({"query_id": "q", "relevant_chunks": [{"chunk_id": "c", "relevance": 1}]}))
    for path in (trec, rows):
        before = load_golden(path)
        write_golden(before.golden, tmp_path / "native.jsonl")
        after = load_golden(tmp_path / "native.jsonl")
        assert ("assay", before.golden, before.digest) == (after.format, after.golden, after.digest)
