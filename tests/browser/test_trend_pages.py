"""The pages on trends and monitors in a browser: charts, gaps, keyboard, languages, small screens, hostile texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.browser.chromium import Browser, Page
from tests.browser.payloads import PAYLOADS
from tests.browser.test_page import AXE, CLIPPED
from tests.report.page_samples import RISK, make_monitor_page, make_series, make_trend_page

from assay.report.page.trend_records import ChangeRow, MonitorPage, SteadyRow, TrendPage
from assay.report.write_pages import write_monitor_page, write_trend_page

pytestmark = pytest.mark.slow

OpenPage = Callable[..., Page]
OPEN_ALL = "document.querySelectorAll('details').forEach(item => { item.open = true })"
READING = ".chart + .reading"


@pytest.fixture
def shown(running: Browser, tmp_path: Path) -> Iterator[OpenPage]:
    """Write a page, open it and return it; at the end, fail if it did anything that a page must not do."""
    pages: list[Page] = []

    def open_page(data: TrendPage | MonitorPage, **look: Any) -> Page:
        path = tmp_path / f"page-{len(pages)}.html"
        write: Any = write_trend_page if isinstance(data, TrendPage) else write_monitor_page
        page = running.open(write(data, path), **look)
        pages.append(page)
        page.until("document.querySelector('main h1') !== null")
        return page

    yield open_page
    wrong = [event for page in pages for event in page.wrong]
    for page in pages:
        page.close()
    assert [] == wrong


def test_a_history_shows_its_metrics_versions_flapping_cases_and_incidents(shown: OpenPage) -> None:
    page = shown(make_trend_page())
    text = page.text()
    for part in ("handbook", "Hallucination risk", "0.034", "Cases that flap", "PPFPFFPX", "v12", "stale index"):
        assert part in text
    assert "handbook · History of runs" == page.evaluate("document.title")


def test_a_history_begins_with_what_changed_and_explains_its_letters(shown: OpenPage) -> None:
    page = shown(make_trend_page())
    titles = page.evaluate("[...document.querySelectorAll('main h2')].map(item => item.innerText)")
    assert ["Changes", "Metrics over time"] == titles[:2]
    for section in ("#flapping", "#failing"):
        assert "P passed, F failed, U unknown, - not in this run" in page.text(section)


def test_a_steady_change_is_a_sentence_and_a_step_a_row(shown: OpenPage) -> None:
    """A steady change names no run as that of the change; amounts are in the unit of their metric, names as people
    know them, in each language."""
    steady = ChangeRow(
        *("latency_ms(stat=p50)", None, "hybrid", "2026-03-09", "run-9", 1210.0, 1930.5, 0.002),
        run_before="run-1",
        runs=9,
        cases=40,
        steady=SteadyRow(90.25, 61.0, 121.0),
    )
    step = ChangeRow("context_rr", None, "hybrid", "2026-03-04", "run-4", 0.93, 0.84, 0.0012, may_be_steady=True)
    latency = structs.replace(make_series(RISK), key="latency_ms(stat=p50)", unit="ms")
    page = shown(structs.replace(make_trend_page(), changes=(steady, step), series=(latency,)))
    text = page.text("#changes")
    for part in (
        "Latency in ms(stat=p50) · hybrid: rises steadily, by about 90.25 a run (95% interval 61–121)",
        "from run-1 to run-9: 1210 to 1931 on the line through 9 runs (40 shared cases, adjusted p 0.002)",
        "a steady change fits as well as this step",
    ):
        assert part in text
    assert 1 == page.evaluate("document.querySelectorAll('#changes tbody tr').length")
    assert "Context MRR" in text and "context_rr" not in text
    page.evaluate("document.querySelector('.languages [lang=vi]').click()")
    page.until("document.documentElement.lang === 'vi'")
    text = page.text("#changes")
    page.evaluate("localStorage.clear()")
    assert "tăng đều, khoảng 90.25 mỗi lần chạy" in text


def test_an_alert_is_headed_by_the_name_of_its_metric(shown: OpenPage) -> None:
    monitor = make_monitor_page()
    alert = structs.replace(monitor.alerts[0], metric="stale_chunks", name="")
    text = shown(structs.replace(monitor, alerts=(alert,))).text("#alerts")
    assert "Stale chunks" in text and "stale_chunks" not in text


def test_units_and_periods_are_in_the_language_of_the_page(shown: OpenPage) -> None:
    page = shown(make_monitor_page())
    assert "From 2026-03-02 to 2026-03-09, by day" in page.text()
    page.evaluate("document.querySelector('.languages [lang=vi]').click()")
    page.until("document.documentElement.lang === 'vi'")
    text = page.text()
    page.evaluate("localStorage.clear()")
    assert "Từ 2026-03-02 đến 2026-03-09, theo ngày" in text
    assert "tỷ lệ · càng thấp càng tốt" in text
    assert not re.search(r"\b(day|share)\b", text.replace("no answer of this day was judged", ""))


@pytest.mark.parametrize("paper", [700, 400])
def test_a_printed_chart_keeps_its_last_point(shown: OpenPage, paper: int) -> None:
    """The picture is as wide as the window; on narrower paper it shrinks."""
    page = shown(make_trend_page(), width=1000)
    page.until("document.querySelector('.chart svg').getBoundingClientRect().width > 800")
    page.call("Emulation.setEmulatedMedia", media="print")
    width, end, last_dot = page.evaluate(
        f"""(() => {{
            document.querySelector('main').style.width = '{paper}px';
            const figure = document.querySelector('.series');
            const dots = [...figure.querySelectorAll('.chart svg circle:not(.cursor)')];
            const frame = figure.getBoundingClientRect();
            return [frame.width, frame.right, dots.at(-1).getBoundingClientRect().right];
        }})()"""
    )
    assert width <= paper
    assert last_dot < end


def test_a_monitor_begins_with_leaks_and_alerts(shown: OpenPage) -> None:
    page = shown(make_monitor_page())
    titles = page.evaluate("[...document.querySelectorAll('main h2')].map(item => item.innerText)")
    assert titles[0].startswith("⚑") and ["Alerts", "Metrics over time"] == titles[1:3]
    text = page.text()
    for part in (
        "since index v12",
        "acknowledged",
        "quiet hours",
        "0.000",
        "look for questions",
        "412 of 5230",
        "0.0004",
    ):
        assert part in text
    assert "unknown" in page.text(".alert:nth-of-type(2)")  # a value that is not known is no 0


def test_an_unknown_value_is_a_gap_with_its_reason(shown: OpenPage) -> None:
    page = shown(make_trend_page())
    line = page.evaluate("document.querySelector('.chart .line').getAttribute('d')")
    assert 3 == line.count("M")  # two gaps make three pieces
    assert 2 == page.evaluate("document.querySelector('.chart .gap').getAttribute('d').split('M').length - 1")
    assert "2 without a value: no answer of this day was judged" in page.text(".series")


def test_points_are_read_with_the_keyboard(shown: OpenPage) -> None:
    page = shown(make_trend_page())
    page.evaluate("document.querySelector('.chart').focus()")
    value = "document.querySelector('.chart').getAttribute('aria-valuetext')"
    assert "2026-03-09: 0.034, 95% interval 0.027–0.043, n 407" == page.evaluate(value)
    page.press("ArrowLeft")
    page.until(f"{value}.includes('no value: no answer of this day was judged')")
    page.press("Home")
    page.until(f"{value}.startsWith('2026-03-02: 0.031')")
    assert "2026-03-02: 0.031" in page.text(READING)
    assert "solid" == page.evaluate("getComputedStyle(document.activeElement).outlineStyle")


def test_tables_hold_every_point_and_event(shown: OpenPage) -> None:
    page = shown(make_trend_page())
    page.evaluate(OPEN_ALL)
    page.until("document.querySelector('.series').querySelectorAll('tbody tr').length === 10")
    text = page.text(".series")
    assert "risk rose from 0.031 to 0.074" in text and "run-7" in text and "change point" not in text


def test_series_are_narrowed_by_metric_and_slice(shown: OpenPage) -> None:
    page = shown(make_trend_page())
    assert 3 == page.evaluate("document.querySelectorAll('.series').length")
    page.choose("metric", "Answer correctness reranker")
    page.until("document.querySelectorAll('.series').length === 1")


def test_ten_thousand_points_are_drawn_with_their_extremes(shown: OpenPage) -> None:
    values = [0.03 + (number % 7) / 1000 for number in range(10_000)]
    values[5_000] = 0.6
    page = shown(structs.replace(make_trend_page(), series=(make_series(values),)))
    path = page.evaluate("document.querySelector('.chart .line').getAttribute('d')")
    assert path.count("L") < 4_000
    highest = min(float(step.split(" ")[1]) for step in path[1:].split("L"))
    assert highest < 60  # the one high value of all is still there: 0.6 lies in the upper part of the chart
    page.evaluate(OPEN_ALL)
    page.until("document.querySelectorAll('.series details:last-of-type tbody tr').length === 100")


def test_empty_and_lonely_points_are_drawn(shown: OpenPage) -> None:
    nothing = structs.replace(make_series([]), marks=())
    page = shown(
        structs.replace(
            make_trend_page(), series=(nothing, make_series([0.2]), make_series([None, None]), make_series([0, 0]))
        )
    )
    assert "No points." in page.text(".series")
    assert 0 == page.evaluate("document.querySelector('main').innerHTML.split('NaN').length - 1")


def test_a_page_without_anything_says_so(shown: OpenPage) -> None:
    empty = structs.replace(make_monitor_page(), series=(), alerts=(), leaks=(), drift=(), notes=(), sampling=None)
    text = shown(structs.replace(empty, refusal_band=None)).text()
    for part in ("No alert in this period.", "No metric was measured.", "No drift was tested."):
        assert part in text


@pytest.mark.parametrize("width", [360, 700, 1600])
def test_the_pages_never_scroll_sideways(shown: OpenPage, width: int) -> None:
    for page_data in (make_trend_page(text="w" * 300), make_monitor_page(text="w" * 300)):
        page = shown(page_data, width=width)
        page.evaluate(OPEN_ALL)
        page.until("document.querySelectorAll('.series details[open] table').length > 0")
        assert width == page.evaluate("document.documentElement.scrollWidth")
        assert [] == page.evaluate(CLIPPED)


def test_the_pages_are_in_two_languages(shown: OpenPage) -> None:
    page = shown(make_monitor_page())
    page.evaluate("document.querySelector('.languages button[lang=vi]').click()")
    page.until("document.documentElement.lang === 'vi'")
    assert "Cảnh báo" in page.text() and "Alerts" not in page.text()
    page.evaluate("document.querySelector('.languages button[lang=en]').click()")
    page.until("document.documentElement.lang === 'en'")
    assert "Alerts" in page.text()
    page.evaluate("localStorage.clear()")  # pages of other tests are in the language of the browser


def test_no_text_in_any_field_of_these_pages_acts(shown: OpenPage) -> None:
    joined = " ".join(PAYLOADS)
    pages = [make_trend_page(joined, joined), make_monitor_page(joined, joined)]
    hostile = [make_series(RISK, text, text, text) for text in PAYLOADS]
    for data in (*pages, structs.replace(pages[0], series=tuple(hostile))):
        page = shown(data)
        page.evaluate("document.querySelectorAll('.button').forEach(item => item.click())")
        page.evaluate(OPEN_ALL)
        page.until("document.querySelector('main :is(script, img, iframe, style, link, a, form)') === null")
        assert [] == page.wrong
        assert "\u202e" not in page.text()


def test_a_page_is_printed_without_its_controls(shown: OpenPage, tmp_path: Path) -> None:
    page = shown(make_monitor_page())
    page.call("Emulation.setEmulatedMedia", media="print")
    assert "none" == page.evaluate("getComputedStyle(document.querySelector('.top')).display")
    assert "since index v12" in page.text()
    page.print(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (in ui/: npm ci)")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_violation_on_these_pages(shown: OpenPage, dark: bool) -> None:
    for page_data in (make_trend_page(), make_monitor_page()):
        page = shown(page_data, dark=dark)
        page.evaluate(OPEN_ALL)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        listed = "result.violations.map(item => [item.id, item.nodes[0].html])"
        assert [] == page.evaluate(f"axe.run().then(result => {listed})")


def test_a_range_in_the_place_of_a_value_is_drawn_and_said(shown: OpenPage) -> None:
    series = make_series([0.5, None, None])
    reason = "between 0.250 and 0.900: 2 answers unknown"
    points = tuple(
        structs.replace(point, reason=reason, open_range=(0.25, 0.9)) if point.value is None else point
        for point in series.points
    )
    for kept in (points, points[1:]):
        page = shown(structs.replace(make_trend_page(), series=(structs.replace(series, points=kept),)))
        assert 2 == page.evaluate("document.querySelectorAll('.chart .open-range').length")
        heights = page.evaluate(
            "[...document.querySelectorAll('.open-range')].map(line => line.getBoundingClientRect().height)"
        )
        assert all(height > 20 for height in heights)
        assert reason in page.text(READING)
