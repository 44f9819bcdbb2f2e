"""Defects that a review of grading recorded answers found, each held by the smallest case that shows it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.workflow.scoring import case, score, trace

Printed = pytest.CaptureFixture[str]


@pytest.mark.parametrize("option", ["--metrics", "--by", "--gate-config"])
def test_a_list_that_names_nothing_is_refused_and_not_taken_for_none(
    tmp_path: Path, capsys: Printed, option: str
) -> None:
    assert 2 == score(tmp_path, [case("q")], [trace("q")], option, " , ")
    assert "names nothing (got ' , '" in capsys.readouterr().err


@pytest.mark.parametrize("k", ["9" * 10, "9" * 400, "9" * 5000])
@pytest.mark.parametrize("metric", ["recall", "precision", "judged"])
def test_a_cut_off_beyond_all_rankings_is_refused(tmp_path: Path, capsys: Printed, metric: str, k: str) -> None:
    assert 2 == score(tmp_path, [case("q")], [trace("q")], "--metrics", f"{metric}@{k}")
    assert "k must be at most 999999999" in capsys.readouterr().err


@pytest.mark.parametrize("metric", ["recall", "precision", "judged", "ndcg", "overlap"])
def test_the_largest_cut_off_is_scored(tmp_path: Path, metric: str) -> None:
    assert 0 == score(tmp_path, [case("q")], [trace("q")], "--metrics", f"{metric}@999999999")


@pytest.mark.parametrize("option", ["--report", "--json-report", "--per-case", "--legacy-json-report", "--html"])
@pytest.mark.parametrize(
    ("name", "why"),
    [("-", "no name of a file"), ("", "no name of a file"), ("{}", "is a folder"), ("{}/new/", "is a folder")],
)
def test_a_report_whose_name_is_none_of_a_file_is_refused_before_scoring(
    tmp_path: Path, capsys: Printed, option: str, name: str, why: str
) -> None:
    assert 2 == score(tmp_path, [case("q")], [trace("q")], option, name.format(tmp_path))
    printed = capsys.readouterr()
    assert why in printed.err
    assert "" == printed.out


def test_a_device_is_written_to_and_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert 0 == score(tmp_path, [case("q")], [trace("q")], "--metrics", "recall@5", "--per-case", str(pipe))
        assert b'"recall@5":1.0' in os.read(reader, 65536)
    finally:
        os.close(reader)
    assert pipe.is_fifo()
