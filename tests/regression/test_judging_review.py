"""Defects that a review of judging and calibration found, each held by the smallest case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.cli.judging import METRICS, NAMED, judging
from tests.support.judge_server import JudgeServer
from tests.support.verdicts import JUDGE

from assay.cli import main
from assay.judges.book import Book, read_contents
from assay.judges.rows import Contents, read_lines, to_lines
from assay.verdict import Standing

INVALID = Standing(JUDGE.digest, 8, 1.0, 20, 0.5, invalid=True, reasons=("controls colon_answer: mean 1.00",))
VALID = Standing(JUDGE.digest, 0, None, 20, 0.9)


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        yield server


def judge(*more: str) -> int:
    return main(["judge", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", *NAMED, *METRICS, *more])


def test_a_judge_that_failed_its_controls_is_not_made_valid_by_judging_less(server: JudgeServer) -> None:
    """One case alone gives no controls; the server passes everything, so with more cases it fails them."""
    server.answer = JudgeServer().answer
    assert 0 == judge("--votes", "1")
    (before,) = read_contents("verdicts.sqlite").standings.values()
    assert 0 == judge("--votes", "1", "--only", "case:c1")
    (after,) = read_contents("verdicts.sqlite").standings.values()
    assert before.invalid
    assert before == replace(after, at=before.at)


def test_what_shows_a_judge_to_be_invalid_outlives_a_later_standing(tmp_path: Path) -> None:
    with Book(tmp_path / "book.sqlite") as book:
        book.register(JUDGE)
        assert INVALID == book.mark(INVALID)
        assert replace(INVALID, anchors_right=0.9) == book.mark(VALID)
        assert replace(INVALID, anchors_right=0.9) == book.contents().standings[JUDGE.digest]


def test_a_valid_standing_added_to_an_export_does_not_hide_an_invalid_one(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    lines = [line for each in (INVALID, VALID) for line in to_lines(Contents([JUDGE], standings={JUDGE.digest: each}))]
    path.write_bytes(b"".join(lines))
    assert read_lines(path).standings[JUDGE.digest].invalid
