"""A browser for the tests that need one; without it they are skipped with the command that installs it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.chromium import Browser, Page, browser, find_chromium

from assay.report.page.case_data import HtmlData
from assay.report.page.html_page import render_html_report
from assay.report.page.write_html import read_html_asset

INSTALL = "no Chromium on the PATH (on Debian and Ubuntu: apt-get install chromium)"

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of a process; ASSAY_REQUIRE with `chromium` makes its absence a failure."""
    executable = find_chromium()
    if executable is None:
        if "chromium" in os.environ.get("ASSAY_REQUIRE", "").split(","):
            pytest.fail(INSTALL)
        pytest.skip(INSTALL)
    folder = tmp_path_factory.mktemp("chromium")
    with browser(executable, folder) as chromium:
        # One page stays open and uses the storage: what the only page of a browser stores right before it is loaded
        # again was lost in an eighth of the first such pages.
        first = folder / "first.html"
        first.write_text("<!doctype html><title>First</title><main><h1>First</h1></main>", encoding="utf-8")
        chromium.open(first).evaluate("localStorage.setItem('first', 'page')")
        yield chromium


@pytest.fixture
def opened(running: Browser, tmp_path: Path) -> Iterator[Open]:
    """Write a report, open it and return the page; at the end, fail if it did anything that a report must not do."""
    pages: list[Page] = []

    def open_page(data: HtmlData, fragment: str = "", **look: Any) -> Page:
        path = tmp_path / f"report-{len(pages)}.html"
        with path.open("wb") as file:
            file.writelines(render_html_report(data, read_html_asset()))
        page = running.open(path, fragment, **look)
        pages.append(page)
        return page

    yield open_page
    wrong = [event for page in pages for event in page.wrong]
    for page in pages:
        page.close()
    assert [] == wrong
