"""Bad inputs from file to exit code: the rows of their table that no test of a single part shows."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from tests.formats.golden_rows import HR_LEAVE_001, QA_CSV, jsonl, row, saved
from tests.runs.scoring import make_case, make_trace, score, score_to_cells, score_to_report

from assay.cli import main
from assay.formats.file_io import MAX_LINE_BYTES, open_source, read_lines
from assay.formats.golden_files import load_golden
from assay.records.errors import InputError

Printed = pytest.CaptureFixture[str]


def test_line_ends_of_json_lines_are_no_part_of_the_digest(tmp_path: Path) -> None:
    plain = jsonl(row(), row(id="b", question="Another?"))
    expected = load_golden(saved(tmp_path, plain)).digest
    windows = plain.replace(b"\n", b"\r\n")
    for content in (windows, plain.rstrip(b"\n"), windows.rstrip(b"\r\n"), b"\xef\xbb\xbf" + plain):
        assert expected == load_golden(saved(tmp_path, content)).digest


def test_a_line_without_an_end_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id": "')
        file.truncate(2**31)  # 2 GiB of NUL, which take no room on the disk
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="E_LINE_TOO_LONG"), open_source(path) as source:
            list(read_lines(source))
        assert tracemalloc.get_traced_memory()[1] < 5 * MAX_LINE_BYTES
    finally:
        tracemalloc.stop()


def test_formulas_and_line_breaks_in_cells_are_data(tmp_path: Path) -> None:
    head = QA_CSV.partition("\n")[0]
    record = 'q1,"=HYPERLINK(""http://x"")\nsecond line",@SUM(1),+c-1,false,-note'
    (case,) = load_golden(saved(tmp_path, f"{head}\n{record}\n", "qa.csv")).golden.cases
    assert '=HYPERLINK("http://x")\nsecond line' == case.question
    assert ("@SUM(1)", ("+c-1",)) == (case.reference, case.must_cite)


def test_ids_never_become_paths(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    hostile = ["../escape", "/tmp/escape", "a/../../escape", "CON", "-escape"]
    golden = [make_case(name, question=f"Question {number}?") for number, name in enumerate(hostile)]
    outputs = [make_trace(name, config_id="../escape", retrieved_chunks=["../escape"]) for name in hostile]
    reports = ["--run-dir", "run", "--per-case", "cases.jsonl", "--html", "page.html", "--report", "report.md"]
    options = [str(work / word) if number % 2 else word for number, word in enumerate(reports)]
    assert score(work, golden, outputs, *options) in (0, 3)
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert all(name.startswith("work") for name in names)
    assert not [name for name in names if "escape" in name or "CON" in name]


@pytest.mark.parametrize(("ranking", "reciprocal_rank"), [(["b", "a"], 0.5), (["a", "b"], 1.0)])
def test_of_equal_scores_the_order_of_the_list_counts(
    tmp_path: Path, ranking: list[str], reciprocal_rank: float
) -> None:
    chunks = [{"chunk_id": name, "score": 1.0} for name in ranking]
    trace = make_trace("q1", retrieved_chunks=chunks)
    cells = score_to_cells(tmp_path, [make_case("q1")], [trace], "--metrics", "rr@10")
    assert reciprocal_rank == cells["q1"]["scores"]["rr@10"]


def citation_precision(folder: Path, citations: list[str]) -> float:
    context = [{"chunk_id": "a", "text": "Leave is twelve days."}, {"chunk_id": "b", "text": "Parking is free."}]
    trace = make_trace("q1", answer="It is twelve days.", context_chunks=context, citations=citations)
    cells = score_to_cells(folder, [make_case("q1")], [trace], "--metrics", "citation_precision")
    return float(cells["q1"]["scores"]["citation_precision"])


def test_a_citation_given_twice_counts_once(tmp_path: Path) -> None:
    """Of a and z only a was shown: one half, however often each is cited."""
    assert citation_precision(tmp_path, ["a", "z"]) == citation_precision(tmp_path, ["a", "z", "z", "z", "a"]) == 0.5


@pytest.mark.parametrize("citation", ["[1]", "https://example.org/a", "nothing"])
def test_a_marker_or_an_address_as_a_citation_cites_nothing_that_was_shown(tmp_path: Path, citation: str) -> None:
    assert 0.0 == citation_precision(tmp_path, [citation])


def gate(folder: Path, rule: str) -> tuple[str, str]:
    path = folder / "gate.yaml"
    path.write_text(f"rules: [{rule}]\n", encoding="utf-8")
    return "--gate", str(path)


@pytest.mark.parametrize(("count", "state"), [(19, "inconclusive"), (20, "pass")])
def test_a_rule_on_the_95th_percentile_of_few_values_is_inconclusive(tmp_path: Path, count: int, state: str) -> None:
    names = [f"q{number}" for number in range(count)]
    golden = [make_case(name, question=f"Question {name}?") for name in names]
    outputs = [make_trace(name, latency_ms={"end_to_end": 10}) for name in names]
    rule = gate(tmp_path, '{metric: "latency_ms(stat=p95)", at_most: 100}')
    decision = score_to_report(tmp_path, golden, outputs, *rule)["configs"]["c"]["decision"]
    assert [state] == [rule["state"] for rule in decision["rules"]]


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("{metric: recal@10, at_least: 0.5}", 2),
        ("{metric: recall@10, at_least: 0.5, slice: tag=none}", 1),
        ("{metric: symbol_recall, at_least: 0.5}", 1),
    ],
    ids=["unknown metric", "empty slice", "applies to no case"],
)
def test_a_rule_on_nothing_never_passes(tmp_path: Path, rule: str, code: int) -> None:
    assert code == score(tmp_path, [make_case("q1")], [make_trace("q1")], *gate(tmp_path, rule))


def test_a_metric_without_a_number_is_shown_with_its_reason_and_no_interval(tmp_path: Path, capsys: Printed) -> None:
    """No answer, so that no behaviour was observed: "n/a" and never 0, NaN or an interval of width 0."""
    report = tmp_path / "report.md"
    trace = make_trace("q1")
    trace.pop("answer", None)
    assert 0 == score(tmp_path, [make_case("q1")], [trace], "--metrics", "behaviour,recall@10", "--report", str(report))
    screen = capsys.readouterr().out
    (line,) = [line for line in report.read_text(encoding="utf-8").splitlines() if line.startswith("| behaviour |")]
    assert "n/a" in line
    for text in (screen, line):
        assert "nan" not in text.casefold().replace("n/a", "")
        assert "±0.000" not in text
    summary = score_to_report(tmp_path, [make_case("q1")], [trace], "--metrics", "behaviour")["configs"]["c"]["summary"]
    assert (None, 1) == (summary["behaviour"]["mean"], summary["behaviour"]["not_applicable"])


def test_labels_of_cases_that_do_not_exist_are_refused_or_counted(tmp_path: Path, capsys: Printed) -> None:
    golden, outputs, labels = (tmp_path / name for name in ("golden.jsonl", "outputs.jsonl", "labels.csv"))
    golden.write_bytes(jsonl(HR_LEAVE_001))
    outputs.write_bytes(jsonl({"query_id": HR_LEAVE_001["id"], "answer": "12 ngày.", "context_chunks": []}))
    labels.write_text("case_id,metric,rater,label\nnobody,faithfulness,ann,supported\n", encoding="utf-8")
    run = str(tmp_path / "run")
    assert main(["score", "--golden", str(golden), "--outputs", str(outputs), "--run-dir", run]) in (0, 3)
    capsys.readouterr()
    arguments: list[Any] = ["calibrate", "--run", run, "--labels", str(labels), "--out", str(tmp_path / "new.json")]
    assert 2 == main(arguments)
    assert "nobody" in capsys.readouterr().err


@pytest.mark.parametrize("time", ["2026-03-29T02:30:00", "2026-03-29 02:30"])
def test_a_time_without_its_offset_is_refused(tmp_path: Path, time: str) -> None:
    """It names two instants on the night on which clocks go back, and none on that on which they go forward."""
    assert 2 == score(tmp_path, [make_case("q1")], [make_trace("q1")], "--now", time)


def test_a_working_directory_that_was_removed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    """A command that was started in a folder that somebody removes meanwhile."""
    golden, outputs = tmp_path / "golden.jsonl", tmp_path / "outputs.jsonl"
    golden.write_bytes(jsonl(HR_LEAVE_001))
    outputs.write_bytes(jsonl({"query_id": HR_LEAVE_001["id"], "answer": "12 ngày."}))
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert 3 == main(["observe", "--golden", str(golden), "--target", "system=http://127.0.0.1:9", "--run-dir", "run"])
    assert "the working directory does not exist any more" in capsys.readouterr().err
    monkeypatch.undo()
