"""The errors of a target are the first thing that every report of a failing run says."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from msgspec import UNSET

import assay
from assay.api import ScoreResult
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation, TargetError
from assay.report import html_summary
from assay.report.github import render_job_summary
from assay.report.html_cases import HtmlData
from assay.report.json_report import render_json_report
from assay.report.junit import render_junit
from assay.report.markdown import ReportMeta, render_markdown_report
from assay.report.tables import describe_failures
from assay.report.terminal import render_score_screen

CASES = tuple(Case(f"c{number}", f"Question {number}?") for number in range(8))
CASES_BY_ID = {case.id: case for case in CASES}
GOLDEN = GoldenSet(CASES)
KEY_ERROR = TargetError("exception", "KeyError: 'OPENAI_API_KEY'")
ERRORS = {
    "c0": TargetError("http_500", "HTTP 500: out of\nmemory"),
    "c1": KEY_ERROR,
    "c2": KEY_ERROR,
    "c3": KEY_ERROR,
    "c4": TargetError("schema", "chunk 0: no id (got the keys body, id, score)"),
    "c5": TargetError("timeout", "no reply within 30 s"),
    "c6": TargetError("quota"),
}
LINES = [
    "target error ×3: KeyError: 'OPENAI_API_KEY' (case c1, c2, c3)",
    "target error ×1: HTTP 500: out of memory (case c0)",
    "target error ×1: chunk 0: no id (got the keys body, id, score) (case c4)",
    "target error ×2: 2 other texts",
]


@pytest.fixture
def failing() -> ScoreResult:
    """A run of which seven of eight cases failed, with five different errors."""
    observations = [
        Observation(case.id, "one", answer="yes" if case.id not in ERRORS else UNSET, error=ERRORS.get(case.id))
        for case in CASES
    ]
    return assay.score(GOLDEN, observations)


def test_the_most_frequent_errors_come_first_with_counts_and_cases(failing: ScoreResult) -> None:
    assert LINES == describe_failures("one", failing.scoring)


def test_repeats_count_as_observations_and_name_their_case_once() -> None:
    observations = [Observation("c0", "one", repeat, error=KEY_ERROR) for repeat in range(3)]
    (line,) = describe_failures("one", assay.score(GOLDEN, observations).scoring)
    assert "target error ×3: KeyError: 'OPENAI_API_KEY' (case c0)" == line


def test_a_run_without_errors_says_nothing_of_them() -> None:
    assert [] == describe_failures("one", assay.score(GOLDEN, [Observation("c0", "one", answer="yes")]).scoring)


def test_screen_markdown_and_job_summary_begin_with_the_errors(failing: ScoreResult) -> None:
    assert tuple(f" - {line}" for line in LINES) == render_score_screen(failing.scoring).lines[1:5]
    markdown = render_markdown_report(failing.scoring, {}, CASES_BY_ID, ReportMeta()).splitlines()
    assert [4, 5, 6, 7] == [number for number, line in enumerate(markdown) if "target error" in line and number < 10]
    assert "KeyError" in markdown[4]
    assert "KeyError" in render_job_summary(failing.scoring, CASES_BY_ID).splitlines()[2]


def test_the_page_begins_with_the_errors(failing: ScoreResult) -> None:
    data = HtmlData(failing.scoring, CASES)
    assert LINES == html_summary.build_summary_data(data)["reasons"][:4]


def test_json_has_every_error_with_all_its_cases(failing: ScoreResult) -> None:
    errors = json.loads(render_json_report(failing.scoring))["configs"]["one"]["target_errors"]
    assert 5 == len(errors)
    assert {"message": "KeyError: 'OPENAI_API_KEY'", "observations": 3, "case_ids": ["c1", "c2", "c3"]} == errors[0]


def test_junit_gives_each_failed_case_its_error(failing: ScoreResult) -> None:
    suite = ElementTree.fromstring(render_junit(failing.scoring))[1]
    assert LINES == [item.get("value") for item in suite.iter("property") if item.get("name") == "target_error"]
    messages = {
        test.get("name"): (test[0].tag, str(test[0].get("message"))) for test in suite.iter("testcase") if len(test)
    }
    assert "error" == messages["c4"][0]
    assert messages["c4"][1].startswith("target error: chunk 0: no id (got the keys body, id, score)")
    assert messages["c6"][1].startswith("target error: quota")
    assert "7" == suite.get("errors")


def test_errors_do_not_depend_on_how_the_outputs_are_cut(failing: ScoreResult) -> None:
    observations = [Observation(case.id, "one", error=ERRORS.get(case.id), answer=None) for case in CASES]
    backwards = assay.score(GOLDEN, reversed(observations))
    assert describe_failures("one", failing.scoring)[:3] == describe_failures("one", backwards.scoring)[:3]
