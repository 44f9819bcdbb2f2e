"""What the first screen says of open answers before and after a judge was asked, as far as its labels count."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.browser.chromium import Browser
from tests.cli.judging import INPUTS, NAMED, RELEVANT
from tests.cli.test_judged_answers import WEAK, _server, calibrated, judge_all
from tests.support.judge_server import JudgeServer

from assay.cli import main

pytestmark = pytest.mark.slow
__all__ = ["_server"]


def read_open_cases(running: Browser, *options: str, language: str = "en") -> str:
    """Return what the page of the run says of its open answers."""
    main(["score", *INPUTS, *options, "--html", "page.html"])
    page = running.open(Path("page.html"))
    try:
        page.evaluate(f"document.querySelector('.languages [lang={language}]').click()")
        page.until(f"document.documentElement.lang === '{language}'")
        return page.text(".open-cases")
    finally:
        page.evaluate("localStorage.clear()")
        assert [] == page.wrong
        page.close()


JUDGED = ("--verdicts", "verdicts.sqlite")


def test_a_judge_is_recommended_only_before_it_was_asked(running: Browser, server: JudgeServer) -> None:
    open_cases = read_open_cases(running)
    assert (
        "nothing that was measured tells whether the answer is right: 3 of 4. A judge can tell (assay judge)"
        in open_cases
    )
    judge_all()
    open_cases = read_open_cases(running, *JUDGED)
    assert (
        "nothing that counts tells whether the answer is right: 3 of 4. The judge calls 2 right, 1 wrong." in open_cases
    )
    assert "It is uncalibrated and does not count: label a sample and run assay calibrate." in open_cases
    assert "A person who reads these answers can settle them (assay labels export --only ambiguous)." in open_cases
    assert "judge can tell" not in open_cases
    assert "Mô hình chấm cho là: 2 đúng, 1 sai." in read_open_cases(running, *JUDGED, language="vi")


def test_a_judge_whose_calibration_is_too_weak_is_said_to_be_so(running: Browser, server: JudgeServer) -> None:
    judge_all()
    open_cases = read_open_cases(running, *JUDGED, *calibrated(**WEAK))
    assert "The judge calls 2 right, 1 wrong. Its calibration does not let it count" in open_cases
    assert "uncalibrated" not in open_cases
    assert "" == read_open_cases(running, *JUDGED, *calibrated())


def test_a_judge_that_was_asked_something_else_is_asked_whether_answers_are_right(
    running: Browser, server: JudgeServer
) -> None:
    assert 0 == main(["judge", *INPUTS, *NAMED, "--metrics", RELEVANT])
    open_cases = read_open_cases(running, *JUDGED, "--metrics", f"{RELEVANT},correct_answer")
    assert "The judge was not asked whether they are right (assay judge --metrics correctness)" in open_cases
    assert "judge can tell" not in open_cases
