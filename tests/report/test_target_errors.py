"""The errors of a target are the first thing that every report of a failing run says."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from msgspec import UNSET
from msgspec.structs import astuple

import assay
from assay.api import ScoreResult
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation, TargetError
from assay.records.scores import TargetFailure
from assay.report.exports.github import render_job_summary
from assay.report.exports.json_report import render_json_report
from assay.report.exports.junit import render_junit
from assay.report.exports.markdown import ReportMeta, render_markdown_report
from assay.report.findings.target_errors import describe_failures, group_failures
from assay.report.page import summary
from assay.report.page.case_data import HtmlData
from assay.report.screen.run_summary import MAX_LINES, render_run_summary
from assay.report.screen.terminal import render_score_screen

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
    page_data = HtmlData(failing.scoring, CASES)
    assert LINES == summary.build_summary_data(page_data)["reasons"][:4]


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


# ── errors on a screen of 80 columns ─────────────────────────────────────────────────────────────────────────────────

LONG = "ValueError: the query of tenant north was embedded with another model than its index, which has 768 dimensions"
PLACE = ", at app/search/embed.py:207"
WIDE_CASES = tuple(
    Case(f"contracts-and-renewals-{number:02d}", f"Question {number}?", must_have=("yes",)) for number in range(20)
)


def score_failing(errors: dict[int, str], configs: tuple[str, ...] = ("one",)) -> ScoreResult:
    """Score cases of which some failed with these texts, and the last two have a wrong answer."""
    observations = [
        Observation(case.id, config, answer=UNSET, error=TargetError("exception", errors[number]))
        if number in errors
        else Observation(case.id, config, answer="no" if number >= 18 else "yes")
        for config in configs
        for number, case in enumerate(WIDE_CASES)
    ]
    return assay.score(GoldenSet(WIDE_CASES), observations)


def list_screen(result: ScoreResult, width: int = 80) -> list[str]:
    return list(render_run_summary(result.scoring, {}, {}, width).lines)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_three_errors_are_on_the_screen_whole_words_with_counts_places_and_cases(width: int) -> None:
    errors = {0: LONG + PLACE, 1: "KeyError: 'quota'", 2: "KeyError: 'quota'", 3: "OSError: disk full", 4: "last"}
    result = score_failing(errors)
    lines = list_screen(result, width)
    text = " ".join(line.strip() for line in lines)
    assert "- target error ×2: KeyError: 'quota' (case contracts-and-renewals-01, contracts-and-renewals-02)" in text
    assert "- target error ×1: ValueError: the query of tenant north" in text
    assert f"{PLACE} (case contracts-and-renewals-00)" in text
    assert "- target error ×1: OSError: disk full (case contracts-and-renewals-03)" in text
    assert "- target error ×1: 1 other text" in text
    assert len(lines) <= MAX_LINES
    assert max(map(len, lines)) <= width
    words = set(f"{LONG}{PLACE} KeyError: 'quota' OSError: disk full".replace(",", " ").split())
    begin = next(number for number, line in enumerate(lines) if "target error" in line)
    for word in " ".join(lines[begin : begin + 3]).replace("(", " ").replace(",", " ").split():
        assert (
            word in words or word[0] in "×-…" or word in ("target", "error", "case", "1:", "2:") or "contracts" in word
        )


def test_cases_whose_error_stands_above_are_counted_and_not_listed_again() -> None:
    lines = list_screen(score_failing(dict.fromkeys(range(9), "OSError: disk full")), 100)
    assert "Cases: one 11 of 20 failed (9 without an answer)" in lines
    assert [" - contracts-and-renewals-18", " - contracts-and-renewals-19"] == [
        line for line in lines if line.startswith(" - contracts")
    ]
    assert not any("more: --verbose, or the HTML report for all" in line for line in lines)


@pytest.mark.parametrize("configs", [1, 2, 3, 5, 9])
def test_every_failing_configuration_says_its_first_error_within_the_lines_of_the_screen(configs: int) -> None:
    errors = {0: LONG, 1: "KeyError: 'quota'", 2: "KeyError: 'quota'", 3: "OSError: disk full", 4: "last"}
    lines = list_screen(score_failing(errors, tuple(f"config-{number}" for number in range(configs))))
    titled = configs if configs <= 5 else 4
    assert titled == sum("target error ×2: KeyError: 'quota'" in line for line in lines)
    assert len(lines) <= MAX_LINES
    assert max(map(len, lines)) <= 80


def test_errors_that_differ_in_ids_numbers_or_addresses_are_one_and_others_are_not() -> None:
    texts = [
        "HTTP 503: shard 4 of 10.1.0.7:9200 is gone (request 7f3a-11)",
        "HTTP 503: shard 12 of 10.1.0.9:9200 is gone (request 90bb-12)",
        "HTTP 500: shard 4 of 10.1.0.7:9200 is gone (request 7f3a-11)",
        "exit code 3: no index",
        "exit code 4: no index",
        "KeyError: 'a', at app.py:12",
        "KeyError: 'a', at app.py:13",
        "KeyError: 'b', at app.py:12",
    ]
    groups = group_failures([TargetFailure(text, 2, (f"c{number}",)) for number, text in enumerate(texts)])
    assert [(texts[0], 4, ("c0", "c1"), 2)] == [astuple(group) for group in groups if group.texts > 1]
    assert 7 == len(groups)
    assert texts[2:] == [group.message for group in groups[1:]]


def test_python_shows_three_errors_each_on_a_line_of_whole_words() -> None:
    errors = {0: LONG + PLACE, 1: "KeyError: 'quota'", 2: "KeyError: 'quota'", 3: "OSError: disk full", 4: "last"}
    lines = str(score_failing(errors)).splitlines()
    assert ["×2: KeyError: 'quota'", "×1: ValueError: the query", "×1: OSError: disk full"] == [
        line.removeprefix(" - target error ")[: len(start)]
        for line, start in zip(
            lines[1:4], ["×2: KeyError: 'quota'", "×1: ValueError: the query", "×1: OSError: disk full"], strict=True
        )
    ]
    assert lines[2].endswith(f"…{PLACE} (case contracts-and-renewals-00)")
    assert "and 1 other error" in lines[4]
    assert len(lines) <= 8
