"""Reading qrels: what is kept, and everything that is refused."""

from __future__ import annotations

import gzip
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from tests.formats.trec_files import QRELS, qrels_from, told

from assay.formats.trec.qrels import Qrels, read_qrels
from assay.records.errors import InputError


def grades(qrels: Qrels) -> dict[tuple[str, str], int]:
    pairs = qrels.index.pairs
    queries = [qrels.query_ids[query] for query in pairs.query.tolist()]
    documents = [document.decode() for document in pairs.documents(np.arange(len(pairs)))]
    return dict(zip(zip(queries, documents, strict=True), qrels.grade.tolist(), strict=True))


GRADES = {("q1", "d1"): 1, ("q1", "d2"): 0, ("q1", "d3"): 2, ("q2", "d1"): 1, ("q3", "d9"): 0}


def test_queries_keep_the_order_in_which_they_first_appear(tmp_path: Path) -> None:
    qrels = qrels_from(tmp_path, "z 0 a 1\nb 0 a 1\nz 0 b 0\na 0 a 3\n")
    assert ("z", "b", "a") == qrels.query_ids
    assert {("z", "a"): 1, ("z", "b"): 0, ("b", "a"): 1, ("a", "a"): 3} == grades(qrels)
    assert [1, 1, 1] == qrels.count_relevant(1).tolist()
    assert [0, 0, 1] == qrels.count_relevant(2).tolist()


def test_ideal_grades_fall_and_are_padded_with_0(tmp_path: Path) -> None:
    qrels = qrels_from(tmp_path)
    queries = np.array([2, 0, 1])
    assert [[0, 0], [2, 1], [1, 0]] == qrels.ideal_grades(queries, qrels.count_relevant(1)[queries]).tolist()


@pytest.mark.parametrize(
    "written",
    [
        QRELS.removesuffix("\n"),
        QRELS.replace("\n", "\r\n"),
        QRELS.replace(" ", "\t"),
        QRELS.replace(" ", "  \t ").replace("\n", "  \n"),
        QRELS.replace("\n", "\n \n"),
        "\n\n  " + QRELS,
        "\ufeff" + QRELS,
    ],
    ids=["no last newline", "CRLF", "tabs", "many blanks", "blank lines", "blanks at the beginning", "BOM"],
)
def test_the_way_blanks_are_written_does_not_matter(tmp_path: Path, written: str) -> None:
    assert GRADES == grades(qrels_from(tmp_path, written))


def test_a_packed_file_is_read_like_a_plain_one(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt.gz"
    path.write_bytes(gzip.compress(QRELS.encode()))
    assert GRADES == grades(read_qrels(path))


def test_a_negative_grade_is_kept_as_not_judged_and_counted(tmp_path: Path) -> None:
    qrels = qrels_from(tmp_path, "q 0 a -1\nq 0 b -7\nq 0 c 1\n")
    assert {("q", "a"): -1, ("q", "b"): -1, ("q", "c"): 1} == grades(qrels)
    assert 2 == qrels.negative


def test_ids_are_compared_in_nfc_and_lines_that_were_not_are_counted(tmp_path: Path) -> None:
    composed = "điều-khoản 0 tài-liệu 1\n"
    qrels = qrels_from(tmp_path, unicodedata.normalize("NFD", composed) + "q 0 d 1\n")
    assert {("điều-khoản", "tài-liệu"): 1, ("q", "d"): 1} == grades(qrels)
    assert 1 == qrels.normalised


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q 0 d", "wrong number of columns (got 'q 0 d'; expected query, iteration, chunk, grade)"),
        ("q 0 d 1 x", "wrong number of columns (got 'q 0 d 1 x'; expected query, iteration, chunk, grade)"),
        ("q 0 d yes", "grade: E_GRADE not a grade (got 'yes'; expected an integer up to 10)"),
        ("q 0 d 1.0", "grade: E_GRADE not a grade (got '1.0'; expected an integer up to 10)"),
        ("q 0 d 11", "grade: E_GRADE not a grade (got '11'; expected an integer up to 10)"),
        ("q 0 d " + "9" * 30, f"grade: E_GRADE not a grade (got '{'9' * 30}'; expected an integer up to 10)"),
        ("q 0 d -", "grade: E_GRADE not a grade (got '-'; expected an integer up to 10)"),
        ("q 0 d\x00d 1", "control character (got '\\x00' at byte 6 of the line; expected text)"),
        (b"q 0 d\xff 1", "not UTF-8 (got byte 0xff at byte 6 of the line; expected UTF-8 text)"),
        (
            "q1 0 d2 1",
            "chunk: E_DUPLICATE_ID chunk judged twice (got 'd2' again for 'q1'; expected it once, it is on line 2)",
        ),
    ],
)
def test_a_bad_line_is_named_with_its_number_and_field(tmp_path: Path, line: str | bytes, problem: str) -> None:
    raw = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(InputError) as raised:
        qrels_from(tmp_path, QRELS.encode() + raw + b"\n")
    (only,) = told(raised.value)
    assert only.startswith("qrels.txt:6: ")
    assert only.endswith(problem)


def test_a_grade_may_have_a_sign_and_leading_zeros(tmp_path: Path) -> None:
    assert {("q", "a"): 1, ("q", "b"): 2, ("q", "c"): 0} == grades(
        qrels_from(tmp_path, "q 0 a +1\nq 0 b 02\nq 0 c -0\n")
    )


def test_utf_16_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"qrels\.txt:1: E_ENCODING .* which looks like UTF-16"):
        qrels_from(tmp_path, QRELS.encode("utf-16"))


def test_everything_wrong_is_told_at_once_by_line(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        qrels_from(tmp_path, "q 0 d 1\n" + "q 0 d 99\nq 0\n" * 40)
    lines = [line for first in range(2, 82, 2) for line in (first, first, first + 1)]
    assert lines == [problem.line for problem in raised.value.problems]
    assert 3 == len(str(raised.value).splitlines())  # each first line is a bad grade and a repeated document


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_a_file_without_a_judgment_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="E_EMPTY no judgments"):
        qrels_from(tmp_path, text)


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.txt"):
        read_qrels(tmp_path / "nowhere.txt")
