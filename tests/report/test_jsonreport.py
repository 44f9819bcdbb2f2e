"""The JSON report is strict, sorted, complete and as its published schema says."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.report.golden_files import assert_golden
from tests.report.sample import BAD, GOOD, result, scoring
from tests.report.schema_check import load_schema, violations

from assay.records.release_gates import Decision
from assay.records.scores import GoldenInfo, InputFile, Interval, ScoringResult, Summary
from assay.report.exports.json_report import format_json, render_json_report


def _report(scored: ScoringResult, now: str | None = None) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(render_json_report(scored, now))
    return report


def _sorted(value: Any) -> bool:
    if isinstance(value, dict):
        return list(value) == sorted(value) and all(_sorted(member) for member in value.values())
    return all(_sorted(member) for member in value) if isinstance(value, list) else True


def test_report_is_as_reviewed() -> None:
    assert_golden("report.json", render_json_report(scoring()))


def test_report_follows_its_schema() -> None:
    schema = load_schema("report")
    assert [] == violations(_report(scoring(), "2026-03-01T00:00:00Z"), schema, schema)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("golden", "cases"), -1),
        (("decision", "outcome"), "MAYBE"),
        (("configs", BAD, "summary", "recall@10", "scored"), 1.5),
        (("configs", BAD, "summary", "recall@10", "surprise"), 1),
        (("configs", BAD, "decision", "rules"), None),
    ],
)
def test_schema_refuses_what_is_wrong(path: tuple[str, ...], value: object) -> None:
    schema, report = load_schema("report"), _report(scoring())
    holder: Any = report
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = value
    assert 1 == len(violations(report, schema, schema))


def test_every_key_is_sorted_and_there_is_no_clock() -> None:
    report = _report(scoring())
    assert _sorted(report)
    assert "generated_at" not in report
    assert "2026" == _report(scoring(), "2026")["generated_at"]


def test_order_of_configurations_changes_no_byte() -> None:
    scored = scoring()
    turned = replace(scored, configs=dict(reversed(scored.configs.items())))
    assert render_json_report(scored) == render_json_report(turned)


def test_summary_without_interval_has_null_bounds() -> None:
    expected = {
        "statistic": "mean",
        "value": 0.2,
        "mean": 0.2,
        "mean_worst": 0.2,
        "low": None,
        "high": None,
        "method": None,
        "scored": 2,
        "not_applicable": 1,
        "errors": 1,
    }
    found = _report(scoring())["configs"][BAD]["summary"]["ndcg@10"]
    # Two scores, 0 and 0.4, and one error: 0.4 / 2 scored, 0.4 / 3 with the error as 0.
    assert expected | {"mean_worst": pytest.approx(0.4 / 3)} == found


def test_notes_of_summary_and_interval_are_one_note() -> None:
    summary = _report(scoring())["configs"][BAD]["summary"]
    assert "few cases" == summary["recall@10"]["note"]
    assert "90% interval" == summary["rr@10"]["note"]


def test_configuration_that_is_not_gated_has_no_decision() -> None:
    scored_cases = replace(scoring(), configs={GOOD: result(GOOD, None)}, gate=None)
    report = _report(scored_cases)
    assert (None, None) == (report["configs"][GOOD]["decision"], report["gate"])
    schema = load_schema("report")
    assert [] == violations(report, schema, schema)


def test_failed_cases_leave_out_those_only_warned_of() -> None:
    failed = _report(scoring())["configs"][BAD]["failed_cases"]
    assert ["leave_001", "pay_001", "none_001"] == [case_checks["case_id"] for case_checks in failed]
    assert ["leak", "bad_citation", "wrong_behavior"] == failed[1]["failed_checks"]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_number_that_is_not_finite_is_stopped(number: float) -> None:
    scored = scoring()
    broken = replace(scored.configs[GOOD].summary["recall@10"], value=number)
    configs = {GOOD: replace(scored.configs[GOOD], summary={"recall@10": broken})}
    with pytest.raises(ValueError, match="not JSON compliant"):
        render_json_report(replace(scored, configs=configs))


def test_file_name_that_is_not_utf8_is_spelled_out() -> None:
    scored_cases = replace(scoring(), inputs=(InputFile("r\udce9.jsonl", "native", 1, ()),), warnings=("\udce9",))
    report = msgspec.json.decode(render_json_report(scored_cases).encode())
    assert ("r\\udce9.jsonl", ["\\udce9"]) == (report["inputs"][0]["path"], report["warnings"])


_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_NUMBER = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.slow
@given(_TEXT, _TEXT, _NUMBER, _NUMBER)
def test_any_text_and_number_survive_a_strict_reader(name: str, reason: str, value: float, low: float) -> None:
    summary = Summary("m", "", "mean", value, value, value, Interval(low, value, reason), 1, 0, 0)
    scored_cases = replace(
        scoring(),
        golden=GoldenInfo(name, "", "", 1),
        configs={name: replace(result(GOOD, None), summary={"recall@10": summary})},
        decision=Decision("PASS", (reason,)),
    )
    report = msgspec.json.decode(render_json_report(scored_cases).encode())
    assert (name, [reason]) == (report["golden"]["name"], report["decision"]["reasons"])
    loaded = report["configs"][name]["summary"]["recall@10"]
    assert (value, low, reason) == (loaded["value"], loaded["low"], loaded["method"])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda members: st.lists(members, max_size=3) | st.dictionaries(st.text(max_size=5), members, max_size=3),
)


@given(json_values)
def test_reports_are_formatted_as_the_standard_library_does(value: Any) -> None:
    expected = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True) + "\n"
    assert expected == format_json(value)
