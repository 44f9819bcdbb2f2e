"""Pages that the commands write of hostile traffic and hostile runs, in a browser on a small screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.browser.chromium import Browser, Page
from tests.browser.payloads import PAYLOADS
from tests.browser.test_page import CLIPPED
from tests.trends.production import list_traffic, write_traffic
from tests.trends.run_series import make_case, score_run

from assay.cli import main
from assay.formats.problems import find_name_fault

pytestmark = pytest.mark.slow

LONG_WORD = "Donaudampfschiff" * 300
REVERSED = "abc\u202egnp.exe\u2066x\u2069"
HOSTILE = [*PAYLOADS, LONG_WORD, REVERSED, "=cmd|'/c calc'!A1", "`code` **bold** [x](javascript:alert(1))"]
OPEN_ALL = "document.querySelectorAll('details').forEach(item => { item.open = true })"
CUT_OFF_TABLES = (
    "[...document.querySelectorAll('main .scroll')].filter(item => item.scrollWidth > item.clientWidth + 1)"
    ".map(item => [item.getAttribute('aria-label'), item.scrollWidth - item.clientWidth])"
)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_AUDIT_KEY", "k" * 32)


def run(*words: str) -> None:
    assert main(list(words)) in (0, 1), words


def check_page(running: Browser, path: Path, width: int = 360) -> Page:
    """Open a page, and check that nothing in it acts, leaves the screen or is cut off."""
    page = running.open(path, width=width)
    page.until("document.querySelector('main h1') !== null")
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.querySelector('main :is(script, img, iframe, style, link, a, form)') === null")
    assert width == page.evaluate("document.documentElement.scrollWidth")
    assert [] == page.evaluate(CLIPPED)
    assert "\u202e" not in page.text()  # what reverses text is shown as an escape
    assert [] == page.wrong
    return page


def make_hostile_traffic() -> list[dict[str, Any]]:
    """Return seven weeks of traffic with a hostile text in each field that takes one."""
    lines = []
    for number, line in enumerate(list_traffic(49, 12)):
        text = HOSTILE[number % len(HOSTILE)]
        user = {"tenant": text, "roles": [text], "locale": text}
        versions = {"index": text, text: text} if number % 5 == 0 else {"index": "v1"}
        texts = {"question": f"{text} {line['question']}", "model": text, "prompt_hash": text, "config_id": text}
        changes: dict[str, Any] = {"user_uid": text, "user": user, "versions": versions, "feedback": text}
        lines.append(line | texts | changes | {"id": f"req-{number}", "answer": f"{line['answer']} {text}"})
    return lines


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hostile")
    path = str(folder / "audit.sqlite")
    source = write_traffic(folder / "traffic.jsonl", iter(make_hostile_traffic()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_AUDIT_KEY", "k" * 32)
        assert main(["audit", "ingest", str(source), "--store", path, "--dead-letters", str(folder / "dead")]) == 0
    return path


def test_a_monitor_of_hostile_traffic_fits_a_small_screen(running: Browser, store: str, tmp_path: Path) -> None:
    page_path = tmp_path / "monitor.html"
    words = ["--slice", "tenant", "--slice", "version.index", "--html", str(page_path), "--budget", "40"]
    metrics = "refusal_rate,latency_ms,faithfulness(by=rules)"
    run("monitor", store, *words, "--metrics", metrics, "--alert-log", str(tmp_path / "log"))
    page = check_page(running, page_path)
    assert "uncalibrated ranking, no rate" in page.text(".series-list")
    page.close()


@pytest.mark.parametrize("number", [0, 50, 51])
def test_an_incident_of_hostile_traffic_fits_a_small_screen(
    number: int, running: Browser, store: str, tmp_path: Path
) -> None:
    page_path = tmp_path / "incident.html"
    text = HOSTILE[number % len(HOSTILE)]
    finding = ["--cause", text, "--owner", text, "--decision", text]
    run("audit", "show", f"req-{number}", "--store", store, "--out", str(page_path), *finding)
    check_page(running, page_path).close()


def test_a_history_of_hostile_runs_fits_a_small_screen(running: Browser, tmp_path: Path) -> None:
    names = [text for text in [*HOSTILE, "w" * 250, "-2+3+cmd"] if not find_name_fault(text)]  # others are no names
    assert len(names) > len(PAYLOADS) / 2
    cases = [make_case(number, tags=[text]) for number, text in enumerate(names)]
    for day in range(1, 5):
        right = [(number + day) % 3 > 0 for number in range(len(cases))]
        score_run(tmp_path, f"run-{day}", right, day=day, index=HOSTILE[-day], cases=cases)
    page_path, table = tmp_path / "history.html", tmp_path / "history.csv"
    words = ["--by", "tag", "--html", str(page_path), "--export-csv", str(table)]
    run("history", "--runs", str(tmp_path / "runs"), *words)
    check_page(running, page_path).close()
    cells = [cell for line in table.read_text(encoding="utf-8").splitlines() for cell in line.split(",")]
    assert not [cell for cell in cells if cell.strip('"').startswith(("=", "+", "@"))]


@pytest.mark.parametrize("width", [360, 900, 1000, 1280, 1400])
def test_no_table_of_an_incident_is_cut_off(width: int, running: Browser, tmp_path: Path) -> None:
    (line,) = list_traffic(1, 1)
    store, page_path, corpus = str(tmp_path / "s.sqlite"), tmp_path / "incident.html", tmp_path / "corpus.jsonl"
    chunks = [chunk for stage in line["stages"] for chunk in stage["chunks"]]
    corpus.write_text(
        "".join(json.dumps({"chunk_id": row["chunk_id"], "text": row["text"]}) + "\n" for row in chunks[:3])
    )
    run("audit", "ingest", str(write_traffic(tmp_path / "t.jsonl", iter([line]))), "--store", store)
    run("audit", "show", line["id"], "--store", store, "--corpus", str(corpus), "--out", str(page_path))
    page = check_page(running, page_path, width=width)
    assert "Then" in page.text("#citations") and "Now" in page.text("#citations")
    assert [] == page.evaluate(CUT_OFF_TABLES)
    page.close()


def test_a_record_of_two_megabytes_is_shown(running: Browser, tmp_path: Path) -> None:
    # Long sentences: the table of claims has a line for each, and 35,000 short ones would take the time of this test.
    sentence = "Employees receive twelve days of annual leave each year, " * 40 + "as agreed. "
    (line,) = list_traffic(1, 1)
    line["answer"] = sentence * (2_000_000 // len(sentence))
    store, page_path = str(tmp_path / "s.sqlite"), tmp_path / "incident.html"
    run("audit", "ingest", str(write_traffic(tmp_path / "t.jsonl", iter([line]))), "--store", store)
    run("audit", "show", line["id"], "--store", store, "--out", str(page_path))
    page = check_page(running, page_path)
    assert "The first 20000 of 19" in page.text("#answered")
    page.evaluate("document.querySelector('#answered button').click()")
    page.until("document.querySelector('#answered').textContent.length > 1_900_000")
    assert 360 == page.evaluate("document.documentElement.scrollWidth")
    page.close()


def test_line_breaks_of_a_chunk_are_line_breaks_and_an_expired_source_is_marked(
    running: Browser, tmp_path: Path
) -> None:
    text = "Prices\n\nThe day pass costs 18 euros.\nChildren pay half."
    place = {"document": "prices", "section": "passes"}
    rows = [
        {"chunk_id": "p-1", "text": text, "version": "1", "valid_from": "2024-01-01", **place},
        {
            "chunk_id": "p-2",
            "text": "The day pass costs 21 euros.",
            "version": "2",
            "valid_from": "2025-01-01",
            **place,
        },
    ]
    corpus, store, page_path = tmp_path / "corpus.jsonl", str(tmp_path / "s.sqlite"), tmp_path / "incident.html"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (line,) = list_traffic(1, 1)
    line |= {"answer": "The day pass costs 18 euros [p-1].", "citations": ["p-1"]}
    line["stages"] = [{"name": "context", "chunks": [{"chunk_id": "p-1", "text": text}]}]
    run("audit", "ingest", str(write_traffic(tmp_path / "t.jsonl", iter([line]))), "--store", store)
    run("audit", "show", line["id"], "--store", store, "--corpus", str(corpus), "--out", str(page_path))
    page = check_page(running, page_path)
    assert "\\u000a" not in page.text()
    assert "euros.\nChildren" in page.evaluate("document.querySelector('main').innerText")
    assert "expired since 2025-01-01" in page.text("#citations") and "p-2" in page.text("#citations")
    assert [] == page.evaluate(CUT_OFF_TABLES)
    page.close()


def test_the_page_of_a_monitor_says_what_was_watched_and_where_no_leak_was_looked_for(
    running: Browser, tmp_path: Path
) -> None:
    store, page_path = str(tmp_path / "s.sqlite"), tmp_path / "monitor.html"
    run("audit", "ingest", str(write_traffic(tmp_path / "t.jsonl", list_traffic(7, 5))), "--store", store)
    metrics = ["--metrics", "refusal_rate,faithfulness(by=rules)", "--alert-log", str(tmp_path / "log")]
    assert main(["monitor", store, *metrics, "--html", str(page_path), "--bound", "refusal_rate<=0.9"]) == 0
    page = check_page(running, page_path)
    alerts = page.text("#alerts")
    assert "nothing was watched for changes" in alerts and "needs 28" in alerts and "kept so far" in alerts
    assert "not looked for in any answer" in page.text("#leaks")
    assert "Scored by rules" in page.text("#sampling") and "Cost" not in page.text("#sampling")
    page.close()
