"""Tables on a narrow screen: ids that fit are not broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.display import _share_room, print_table
from assay.report.findings.table import Table


def test_ids_that_fit_stay_whole_at_60_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = "shown what its user may not see: the staffing rules of February and the first steps after an accident"
    rows = (("alert-80d23a6076", "open", "2026-04-13", text), ("alert-19c23a6071", "quiet", "2026-04-14", text))
    print_table(Table("Alerts", ("id", "state", "day", "what changed"), rows))
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 60 for line in lines)
    for word in ("alert-80d23a6076", "alert-19c23a6071", "2026-04-13", "2026-04-14", "accident", "staffing"):
        assert any(word in line for line in lines), word


def test_a_table_that_fits_is_as_wide_as_its_cells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    print_table(Table("T", ("id", "what"), (("a", "b"),)))
    assert max(len(line.rstrip()) for line in capsys.readouterr().out.splitlines()) < 20


def test_columns_whose_words_would_be_cut_become_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    weeks = tuple(f"2026-W0{number}" for number in range(1, 10))
    rows = (("citation_in_context", *["1 [0.945, 1]"] * 8, ""), ("negative_feedback", *["0.517 [0.461, 0.574]"] * 9))
    table = Table("Production answers by week", ("metric", *weeks), rows, ("4 earlier weeks are not shown",))
    monkeypatch.setenv("COLUMNS", "60")
    print_table(table)
    text = capsys.readouterr().out
    assert all(len(line) <= 60 for line in text.splitlines())
    assert "citation_in_context\n  2026-W01: 1 [0.945, 1]\n" in text
    assert "  2026-W09: 0.517 [0.461, 0.574]\n" in text and text.count("2026-W09") == 1
    assert text.endswith("note: 4 earlier weeks are not shown\n")
    monkeypatch.setenv("COLUMNS", "1")
    print_table(table)
    monkeypatch.setenv("COLUMNS", "250")
    print_table(table)
    assert "2026-W01               2026-W02" in capsys.readouterr().out


@pytest.mark.parametrize("width", [80, 100])
def test_rows_of_prose_become_lines_where_a_table_would_cut_words_and_rows_of_numbers_do_not(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    finding = "the reference of the case names a warehouse that no document of the collection has heard of"
    prose = (
        "store/golden/warehouse_questions.jsonl:8",
        "warning",
        "reference-without-evidence",
        finding,
        finding,
        finding,
    )
    print_table(Table("Findings", ("Where", "Level", "Rule", "What", "Finding", "Remedy"), (prose, prose)))
    text = capsys.readouterr().out
    assert "store/golden/warehouse_questions.jsonl:8\n  Level: warning\n  Rule: reference-without-evidence\n" in text
    assert all(len(line) <= width for line in text.splitlines())
    numbers = ("hybrid-search-with-reranking", "citation_correctness(by=rules)", "all", "3", "0.803", "0.912", "0.657")
    print_table(Table("History", ("Configuration", "Metric", "Cases", "Runs", "A", "B", "C"), (numbers,) * 5))
    assert "Metric: " not in capsys.readouterr().out


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 500)), min_size=1, max_size=12), st.integers(0, 200))
def test_the_room_is_shared_without_rest(columns: list[tuple[int, int]], spare: int) -> None:
    words, wanted = [word for word, _ in columns], [word + more for word, more in columns]
    room = len(columns) + spare
    widths = _share_room(words, wanted, room)
    assert sum(widths) == room
    assert min(widths) >= 1
    if sum(max(1, word) for word in words) <= room:
        assert all(width >= word for width, word in zip(widths, words, strict=True))
