"""Pooled chunks graded by a rubric: `assay judge` asks a server on loopback, a calibrated judge's grades are merged."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.judging import NAMED
from tests.golden.test_pool import make_run, write_grades
from tests.support.judge_server import JudgeCall, answer_with_labels, judge_server

from assay import golden
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.gates.calibration_file import write_calibrations
from assay.golden.pooling.collect_rubric_grades import GRADE_METRIC
from assay.judging.rubric_files import load_rubrics
from assay.judging.verdict_store import read_store
from assay.records.errors import InputError
from assay.records.verdicts import Calibration, LabelledRate, compute_rubrics_hash
from assay.stats.intervals import wilson_interval


def grade_by_name(asked: JudgeCall, item: str) -> str:
    """Label the passage by the letter that it ends with; an empty one and all others are unrelated."""
    return {"u": "contains_fact", "v": "strong", "w": "background"}.get(
        str(asked.data["answer"]).strip()[-1:], "unrelated"
    )


def ask(folder: Path) -> int:
    inputs = ["--golden", f"{folder}/golden.jsonl", "--outputs", f"{folder}/outputs.jsonl"]
    options = ["--rubrics", f"{folder}/rubrics", "--metrics", "passage_grade", "--store", f"{folder}/verdicts.sqlite"]
    return main(["judge", *inputs, *options, *NAMED, "--votes", "1"])


def calibrate(folder: Path) -> str:
    """Write a calibration by which the judge may gate: of 50 passages of either kind it got 48 right."""
    identity = read_store(str(folder / "verdicts.sqlite")).judges[0]
    rubrics = compute_rubrics_hash(load_rubrics([str(folder / "rubrics")]).values(), "passage_grade")
    bounds, digest = wilson_interval(48, 50), load_golden(folder / "golden.jsonl").digest
    rate = LabelledRate(48 / 50, bounds.low, bounds.high, 50)
    record = Calibration(GRADE_METRIC, identity.digest, rubrics, digest, "", 100, 2, rate, rate, may_gate=True)
    return str(write_calibrations(str(folder / "calibration.json"), [record], {}))


def test_a_judge_grades_the_pool_and_its_grades_are_merged_as_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, folder, merged = make_run(tmp_path), tmp_path / "questions", str(tmp_path / "merged.jsonl")
    assert 0 == main(["golden", "pool", run, "--questions", str(folder)])
    asked = load_golden(folder / "golden.jsonl").golden
    assert 4 == len(asked.cases)
    with pytest.raises(InputError, match="has questions already"):
        golden.pool(run, questions=str(folder))
    with judge_server(answer=answer_with_labels(grade_by_name)) as server:
        monkeypatch.setenv("THE_JUDGE", f"{server.url}/v1")
        monkeypatch.setenv("THE_KEY", "k")
        assert 0 == ask(folder)
        calls = server.calls
        assert 0 == ask(folder)
        assert calls == server.calls
    with pytest.raises(InputError, match="not calibrated"):
        golden.pool(run, judged=str(folder), merged=merged)
    golden.pool(run, judged=str(folder), merged=merged, allow_uncalibrated=True)
    one, two, _ = load_golden(merged).golden.cases
    assert {"chunk_id": "u"} in one.evidence[0].any_of
    assert {"v": 2, "w": 1} == {str(unit.any_of[0]["chunk_id"]): unit.grade for unit in one.evidence[1:]}
    (row,) = two.metadata["provenance"]["grades"]
    assert "rubric" == row["source"] and row["by"].startswith("passage_grade(by=judge), judge ")
    assert row["by"].endswith(", uncalibrated")
    golden.pool(run, judged=str(folder), merged=merged, calibration=calibrate(folder))
    assert "uncalibrated" not in load_golden(merged).golden.cases[0].evidence[1].reason
    ann = write_grades(tmp_path, "ann", ("one", "u", 1))
    with pytest.raises(InputError, match=r"u: passage_grade.* gave grade 3, ann gave grade 1"):
        golden.pool(run, grades=[ann], judged=str(folder), merged=merged, allow_uncalibrated=True)


def test_questions_about_another_set_and_a_folder_without_verdicts_are_refused(tmp_path: Path) -> None:
    run, folder, merged = make_run(tmp_path), str(tmp_path / "questions"), str(tmp_path / "merged.jsonl")
    golden.pool(run, questions=folder)
    with pytest.raises(InputError, match=r"verdicts\.sqlite"):
        golden.pool(run, judged=folder, merged=merged)
    (tmp_path / "other").mkdir()
    other = make_run(tmp_path / "other", owner="p")
    with pytest.raises(InputError, match="questions about another golden set"):
        golden.pool(other, judged=folder, merged=merged)
    assert not Path(merged).exists()


def test_the_rubric_has_four_grades_in_both_languages() -> None:
    rubrics = load_rubrics(["src/assay/golden/rubrics"])
    for language in ("en", "vi"):
        rubric = rubrics["passage_grade", language]
        assert [3, 2, 1, 0] == [round((label.value or 0) * 3) for label in rubric.labels]
