"""The screen of several candidates: one table, and what is most important of each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.cli import main

DOCUMENTS = 10


@pytest.fixture(name="runs")
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs over forty queries, each with one relevant document at another rank, and a much better and a worse one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("qrels.txt").write_text("".join(f"q{query} 0 d0 1\n" for query in range(40)))
    names = []
    for name, rank in (("base", 4), ("good", 1), ("same", 4), ("bad", 9)):
        lines = []
        for query in range(40):
            for place in range(1, DOCUMENTS + 1):
                document = "d0" if place == rank else f"n{place}"
                lines.append(f"q{query} Q0 {document} {place} {DOCUMENTS - place} {name}\n")
        Path(f"{name}.txt").write_text("".join(lines))
        assert 0 == main(["score", "--golden", "qrels.txt", "--outputs", f"{name}.txt", "--run-dir", name])
        names.append(name)
    return names


def test_candidates_stand_in_one_table(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert 0 == main(["compare", *runs])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3 candidates compared with base, tested as one family"
    rows = {line.split()[0]: line for line in lines[2:6]}
    assert [*rows] == runs
    assert "improved" in rows["good"] and "regressed" in rows["bad"] and "ed" not in rows["same"]
    assert " - same: no significant change" in lines
    assert any(re.match(r" - bad: \S+ regressed: ", line) for line in lines)
    assert max(map(len, lines)) <= 120 and not any(line.endswith(":") for line in lines)


def test_a_narrow_table_leaves_out_metrics_and_nothing_else(
    runs: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    capsys.readouterr()
    main(["compare", *runs])
    lines = capsys.readouterr().out.splitlines()
    assert "Fail now/no longer" in lines[1]
    assert max(map(len, lines)) <= 60


def test_a_slice_of_all_cases_is_no_test(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    main(["compare", *runs[:2], "--by", "behaviour"])
    assert "on slices" not in capsys.readouterr().out
