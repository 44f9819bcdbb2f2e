"""What a scoring tells of its progress, and how many answers it holds at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.formats.file_io import count_lines
from assay.metrics.metric import Batch, JoinedRows
from assay.records.requests import InputOptions, ScoreRequest
from assay.runs.score_run import open_scored_run


@pytest.mark.parametrize(("text", "count"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\nlast line", 3)])
def test_lines_are_counted_as_they_are_read(text: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text(f"before\n{text}", encoding="utf-8")
    assert count_lines(str(path), 7, 7 + len(text)) == count


def _write_files(folder: Path, answers: list[str]) -> ScoreRequest:
    cases = [
        {"id": f"q{number}", "question": "How many rooms?", "must_have": ["nine"]} for number in range(len(answers))
    ]
    rows = [{"case_id": f"q{number}", "config_id": "inn", "answer": answer} for number, answer in enumerate(answers)]
    for name, lines in (("golden.jsonl", cases), ("outputs.jsonl", rows)):
        (folder / name).write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return ScoreRequest(InputOptions(golden=str(folder / "golden.jsonl"), outputs=(str(folder / "outputs.jsonl"),)))


def test_each_line_of_a_small_file_is_told(tmp_path: Path) -> None:
    """A file of a few long answers takes as long as one of thousands, and is one part of the work."""
    lines_read: list[tuple[int, int]] = []
    with open_scored_run(_write_files(tmp_path, ["Nine."] * 5), lambda done, total: lines_read.append((done, total))):
        assert lines_read == [(number, 5) for number in range(1, 6)]


def test_long_answers_are_held_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read of an answer is forgotten with those that it was joined with: many of a megabyte took gigabytes."""
    joined: list[int] = []
    add_rows = Batch.add_rows

    def count_rows(batch: Batch, rows: JoinedRows) -> None:
        joined.append(len(rows.observations))
        add_rows(batch, rows)

    monkeypatch.setattr(Batch, "add_rows", count_rows)
    short, long = "Nine rooms.", "The inn has nine rooms and a garden. " * 1500
    for answers, expected in (([short] * 9, [9]), ([long] * 5, [2, 2, 1]), ([short, long, long, short], [3, 1])):
        joined.clear()
        with open_scored_run(_write_files(tmp_path, answers)):
            assert joined == expected
