"""Calibration files: a record is accepted only if its own figures support it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from assay.gates.calibration_file import load_calibrations, write_calibrations
from assay.records.errors import InputError
from assay.records.verdicts import Calibration, LabelledRate, Leniency
from assay.stats.intervals import wilson_interval


def rate(hits: int, n: int) -> LabelledRate:
    bounds = wilson_interval(hits, n)
    return LabelledRate(hits / n, bounds.low, bounds.high, n)


GOOD = Calibration(
    "faithfulness(by=judge)", "sha256:judge", "sha256:rubric", "sha256:g", "sha256:l", 120, 2,
    rate(58, 60), rate(56, 60), may_gate=True,
)  # fmt: skip
RULES = structs.replace(
    GOOD, metric="faithfulness(by=rules)", judge="1", rubric_hash="", platt={"slope": 1.0, "intercept": 0.0}
)


def problems(folder: Path, record: Calibration) -> list[str]:
    path = write_calibrations(str(folder / "calibration.json"), [record], {})
    try:
        load_calibrations(str(path))
    except InputError as error:
        assert {"E_CALIBRATION"} == {problem.code for problem in error.problems}
        assert all(problem.message.endswith(": run assay calibrate again") for problem in error.problems)
        return [f"{problem.field}: {problem.message}" for problem in error.problems]
    return []


@pytest.mark.parametrize("record", [GOOD, RULES, structs.replace(GOOD, may_gate=False, reasons=("we doubt it",))])
def test_what_agrees_with_itself_is_read_back(tmp_path: Path, record: Calibration) -> None:
    path = write_calibrations(str(tmp_path / "calibration.json"), [record], {})
    assert {record.metric: record} == load_calibrations(str(path))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"reasons": ("too few",)}, "calibrations[0].may_gate: against its own figures or reasons (got true"),
        ({"n": 99, "specificity": rate(39, 39)}, "too few labelled items (got 99; expected 100)"),
        ({"specificity": None, "n": 60}, "specificity is unknown: people failed none of the items"),
        ({"specificity": rate(40, 60)}, "the lower bound of specificity is too low (got 0.541"),
        ({"may_gate": False}, "without a reason (got false; expected true, or reasons)"),
        ({"n": 121}, "calibrations[0].n: not the items that people passed and failed (got 121; expected 120)"),
        ({"rubric_hash": ""}, "calibrations[0].judge: bound to nothing"),
        ({"leniency": Leniency(0.1, 0.2, 0.3)}, "calibrations[0].leniency: no difference of means with its interval"),
        ({"metric": "faithfulness(by=ragas)"}, "calibrations[0].metric: not a metric with a scorer"),
        ({"metric": "faithfulness"}, "calibrations[0].metric: not a metric with a scorer"),
        ({"metric": "Faithfulness!"}, "calibrations[0].metric: cannot read"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    assert any(expected in problem_text for problem_text in problems(tmp_path, structs.replace(GOOD, **changes)))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"low": 0.95}, ".low: narrower than 44 of 60 items allow (got 0.95; expected 0 to 0.609913"),
        ({"high": 0.8}, ".high: narrower than 44 of 60 items allow (got 0.8; expected 0.828674 to 1"),
        ({"low": -0.1}, ".low: narrower than"),
        ({"value": 0.734}, ".value: no share of 60 items (got 0.734)"),
        ({"value": 1.2}, ".value: no share of 60 items (got 1.2)"),
        ({"n": 0}, ".n: a share of nothing"),
    ],
)
def test_a_share_and_its_interval_must_be_those_of_so_many_items(
    tmp_path: Path, changes: dict[str, Any], expected: str
) -> None:
    """44 of 60 has the lower bound .610, which may not gate; nor may a file that claims .95."""
    record = structs.replace(GOOD, sensitivity=structs.replace(rate(44, 60), **changes))
    assert any(f"calibrations[0].sensitivity{expected}" in problem_text for problem_text in problems(tmp_path, record))


def test_an_interval_that_is_wider_because_items_share_a_case_is_believed(tmp_path: Path) -> None:
    record = structs.replace(GOOD, sensitivity=structs.replace(rate(58, 60), low=0.75, high=1.0))
    assert [] == problems(tmp_path, record)


@pytest.mark.parametrize(
    ("platt", "expected"),
    [
        (None, "no curve could be fitted to the labels"),
        ({"slope": 1.0}, "platt: not a curve"),
        ({"slope": 1.0, "intercept": 0.0, "extra": 0.0}, "platt: not a curve"),
    ],
)
def test_rules_gate_by_faithfulness_only_with_a_whole_curve(
    tmp_path: Path, platt: dict[str, float] | None, expected: str
) -> None:
    assert any(expected in problem_text for problem_text in problems(tmp_path, structs.replace(RULES, platt=platt)))


def test_a_number_that_is_not_finite_is_no_curve(tmp_path: Path) -> None:
    path = write_calibrations(str(tmp_path / "calibration.json"), [RULES], {})
    text = path.read_text(encoding="utf-8").replace('"slope": 1.0', '"slope": 1e999')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        load_calibrations(str(path))


def test_everything_wrong_is_told_at_once(tmp_path: Path) -> None:
    path = write_calibrations(str(tmp_path / "calibration.json"), [GOOD, RULES], {})
    content = json.loads(path.read_text(encoding="utf-8"))
    for record in content["calibrations"]:
        record["n"] = 50
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_calibrations(str(path))
    fields = [problem.field for problem in caught.value.problems]
    assert ["calibrations[0].n", "calibrations[0].may_gate", "calibrations[1].n"] == fields
