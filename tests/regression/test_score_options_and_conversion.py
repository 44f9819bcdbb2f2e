"""Options and reports of `assay score`, conversion of golden sets, and denials: one small case for each past defect."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.runs.scoring import make_case, make_trace, score, write

from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.text.refusals.behaviour import detect_behaviour

Printed = pytest.CaptureFixture[str]


@pytest.mark.parametrize("option", ["--metrics", "--by", "--gate-config"])
def test_empty_list_option_is_refused(tmp_path: Path, capsys: Printed, option: str) -> None:
    assert 2 == score(tmp_path, [make_case("q")], [make_trace("q")], option, " , ")
    assert "the list contains no name (got ' , '" in capsys.readouterr().err


@pytest.mark.parametrize("k", ["9" * 10, "9" * 400, "9" * 5000])
@pytest.mark.parametrize("metric", ["recall", "precision", "judged"])
def test_a_cut_off_beyond_all_rankings_is_refused(tmp_path: Path, capsys: Printed, metric: str, k: str) -> None:
    assert 2 == score(tmp_path, [make_case("q")], [make_trace("q")], "--metrics", f"{metric}@{k}")
    assert "k must be at most 999999999" in capsys.readouterr().err


@pytest.mark.parametrize("metric", ["recall", "precision", "judged", "ndcg", "overlap"])
def test_the_largest_cut_off_is_scored(tmp_path: Path, metric: str) -> None:
    assert 0 == score(tmp_path, [make_case("q")], [make_trace("q")], "--metrics", f"{metric}@999999999")


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--report", "--json-report", "--per-case", "--legacy-json-report", "--html"])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("-", "not the name of a file"),
        ("", "not the name of a file"),
        ("{}", "is a folder"),
        ("{}/new/", "is a folder"),
    ],
)
def test_invalid_report_name_is_refused_before_scoring(
    tmp_path: Path, capsys: Printed, option: str, name: str, why: str
) -> None:
    assert 2 == score(tmp_path, [make_case("q")], [make_trace("q")], option, name.format(tmp_path))
    printed = capsys.readouterr()
    assert why in printed.err
    assert "" == printed.out


def test_report_to_a_device_does_not_replace_the_device(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert 0 == score(
            tmp_path, [make_case("q")], [make_trace("q")], "--metrics", "recall@5", "--per-case", str(pipe)
        )
        assert b'"recall@5":1.0' in os.read(reader, 65536)
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def _both(folder: Path, *options: str) -> int:
    """Score two configurations, each in a file of its own, and keep them in `folder`/run."""
    golden = write(folder / "golden.jsonl", [make_case("q")])
    for name in "bc":
        write(folder / f"{name}.jsonl", [make_trace("q", name)])
    files = [str(folder / "b.jsonl"), str(folder / "c.jsonl")]
    return main(
        ["score", "--golden", golden, "--outputs", *files, "--run-dir", str(folder / "run"), *options, "--limit", "1"]
    )


@pytest.mark.slow
def test_copies_in_a_run_folder_never_replace_outputs_that_are_still_to_be_copied(
    tmp_path: Path, capsys: Printed
) -> None:
    assert 0 == _both(tmp_path)
    kept = [tmp_path / "run" / f"observations-{number}.jsonl" for number in (1, 2)]
    before = [file.read_bytes() for file in kept]
    again = ["score", "--golden", str(tmp_path / "golden.jsonl"), "--run-dir", str(tmp_path / "run"), "--outputs"]
    assert 2 == main([*again, str(kept[1]), str(kept[0])])
    assert "would be replaced by a copy of" in capsys.readouterr().err
    assert before == [file.read_bytes() for file in kept]
    assert 0 == main([*again, str(kept[0]), str(kept[1])])
    assert before == [file.read_bytes() for file in kept]


@pytest.mark.slow
def test_a_report_may_be_written_into_the_run_folder_but_not_over_what_it_keeps(
    tmp_path: Path, capsys: Printed
) -> None:
    report = tmp_path / "run" / "report.md"
    for _ in range(2):
        assert 0 == _both(tmp_path, "--report", str(report))
        assert report.is_file()
    for name in ("golden.jsonl", "manifest.json", "observations-2.jsonl"):
        before = (tmp_path / "run" / name).read_bytes()
        assert 2 == _both(tmp_path, "--report", str(tmp_path / "run" / name))
        assert "E_OVERWRITE" in capsys.readouterr().err
        assert before == (tmp_path / "run" / name).read_bytes()


@pytest.mark.parametrize("options", [(), ("--profile", "general", "--limit", "1")])
def test_a_report_without_rules_does_not_advise_to_release(
    tmp_path: Path, capsys: Printed, options: tuple[str, ...]
) -> None:
    exit_code = score(tmp_path, [make_case("q")], [make_trace("q")], "--format", "markdown", *options)
    assert (3 if options else 0) == exit_code  # a gate over a part of the cases decides nothing
    printed = capsys.readouterr().out
    assert "Release: every rule" not in printed
    assert ("**Decision: PARTIAL**" if options else "**Decision: NOT_GATED**") in printed
    assert "every rule that was set is met" not in printed


def test_slices_show_the_metrics_that_were_asked_for(tmp_path: Path, capsys: Printed) -> None:
    asked = ("--metrics", "recall@5,rr@10,ap", "--by", "difficulty")
    assert 0 == score(tmp_path, [make_case("q")], [make_trace("q")], *asked, "--format", "markdown")
    assert "| Config | Slice | Cases | MRR@10 | recall@5 | ap |" in capsys.readouterr().out
    assert 0 == score(tmp_path, [make_case("q")], [make_trace("q")], *asked)
    assert "Recall@10" not in capsys.readouterr().out


def test_a_metric_that_applies_nowhere_is_named_though_no_other_was_asked_for(tmp_path: Path, capsys: Printed) -> None:
    assert 0 == score(tmp_path, [make_case("q")], [make_trace("q")], "--metrics", "recall(stage=nosuch)@5")
    assert "1 metric not applicable to any case: recall(stage=nosuch)@5" in capsys.readouterr().out


def _convert(old: str, new: str, source: str, target: Path) -> int:
    return main(["convert", "--from", old, "--to", new, source, str(target)])


def test_native_outputs_are_not_taken_for_a_golden_set(tmp_path: Path, capsys: Printed) -> None:
    rows = [{"case_id": "q", "config_id": "c", "answer": "Yes.", "behaviour": "answer", "citations": []}]
    source, target = write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    assert 0 == _convert("assay", "assay", source, target)
    assert rows == [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert 2 == main(["score", "--golden", source, "--outputs", source])
    assert "looks like recorded outputs" in capsys.readouterr().err


DENIED = {"behaviour": "permission_denied", "user": {"tenant": "t"}}
NO_ID = [{"any_of": [{"document": "d"}]}]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"question": "Why?", "evidence": NO_ID}, "case with nothing left to score"),
        ({"question": "Why?", "evidence": NO_ID} | DENIED, "case whose forbidden chunks are not named by an id"),
    ],
)
def test_a_case_that_could_not_be_read_again_is_left_out_and_counted(
    tmp_path: Path, capsys: Printed, row: dict[str, Any], why: str
) -> None:
    kept = {"id": "kept", "question": "Who?", "reference": "Lan", "evidence": NO_ID}
    source, target = write(tmp_path / "in.jsonl", [{"id": "q"} | row, kept]), tmp_path / "out.jsonl"
    assert 0 == _convert("assay", "rag-golden", source, target)
    assert f"not carried: 1 {why}" in capsys.readouterr().err
    assert ["kept"] == [each.id for each in load_golden(target).golden.cases]


@pytest.mark.parametrize("new", ["rag-golden", "trec-qrels"])
def test_a_golden_set_of_which_nothing_can_be_carried_is_not_written(tmp_path: Path, capsys: Printed, new: str) -> None:
    source, target = (
        write(tmp_path / "in.jsonl", [{"id": "q", "question": "Why?", "evidence": NO_ID}]),
        tmp_path / "out",
    )
    assert 2 == _convert("assay", new, source, target)
    assert "no case can be converted" in capsys.readouterr().err
    assert not target.exists()


def test_qrels_without_questions_do_not_become_rows_that_need_one(tmp_path: Path, capsys: Printed) -> None:
    source = tmp_path / "qrels.txt"
    source.write_text("101 0 d7 2\n", encoding="utf-8")
    assert 2 == _convert("trec-qrels", "rag-golden", str(source), tmp_path / "out.jsonl")
    assert "1 case without a question, which this format needs" in capsys.readouterr().err


@pytest.mark.parametrize(
    "answer",
    [
        "You have no permission to view this document.",
        "You have no access to this document.",
        "Bạn không được xem thông tin này.",
        "Ban khong duoc truy cap tai lieu nay.",
    ],
)
def test_a_plain_denial_is_seen_as_one(answer: str) -> None:
    detected = detect_behaviour(answer)
    assert ("permission_denied", True) == (detected.behaviour, detected.is_decided_by_text)


@pytest.mark.parametrize(
    "answer",
    [
        "Employees have no access to payroll data.",
        "If you have no access, ask your manager.",
        "You may not carry over more than five days.",
        "Bạn không được xem điện thoại khi lái xe.",
        "Nhân viên không được xem bảng lương này.",
    ],
)
def test_a_rule_about_access_is_an_answer(answer: str) -> None:
    assert "answer" == detect_behaviour(answer).behaviour
