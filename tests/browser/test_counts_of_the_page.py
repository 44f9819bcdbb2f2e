"""What the page shows in a browser is what the JSON report of the run says, in the language of the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.chromium import Browser, Page
from tests.browser.conftest import Open
from tests.report.counted_runs import RECIPES, Outputs, is_share, make_outputs, read_counts, show_cell
from tests.report.html_world import world

from assay.cli import main

pytestmark = pytest.mark.slow
ENGLISH = frozenset(
    "of the is are was were has have and not with to every by on from that than if which nothing".split()
)
"""Words that no Vietnamese sentence has, and every English one."""
_WORD = re.compile(r"(?<![\w(,=])[a-z]+(?![\w=])")
"""A word that is neither a part of another one nor of the name of a metric, such as `support(by=rules)`."""
UNQUOTED = """(() => {
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    const texts = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const parent = node.parentElement;
        if (parent.closest('[lang=en], code, bdi, style, script') === null) texts.push(node.data);
    }
    return texts;
})()"""
"""The texts of the page that are neither data of the run, nor code, nor marked as English."""
MEASURES = """[...document.querySelectorAll('#metrics tbody tr')].map((row) =>
    [...row.querySelectorAll('td')].map((cell) =>
        [cell.querySelector('.value')?.innerText ?? null, cell.querySelector('.n')?.innerText ?? null]))"""
NAMES = "[...document.querySelectorAll('#metrics tbody th')].map((head) => head.innerText)"


@pytest.fixture(scope="module", params=["unknown and failed", "one checked", "two configurations", "leaks", "a part"])
def outputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """The outputs of one run of each kind."""
    return make_outputs(tmp_path_factory.mktemp("shown"), RECIPES[request.param])


@pytest.fixture
def page(running: Browser, outputs: Outputs) -> Iterator[Page]:
    """The page of the run in English."""
    shown = running.open(outputs.html_file)
    yield shown
    assert [] == shown.wrong
    shown.close()


def test_the_page_shows_the_numbers_of_the_json(page: Page, outputs: Outputs) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    text = page.text()
    for config in outputs.configs:
        counts = outputs.report["configs"][config]["counts"]
        sentences = re.findall(r"^.*\d+ of \d+ cases failed.*$", text, re.MULTILINE)
        named = [line for line in sentences if len(outputs.configs) == 1 or line.startswith(f"{config}: ")]
        shown = read_counts(named[0])
        assert {name: counts[name] for name in ("cases", "failed", "unknown")} == {
            name: shown[name] for name in ("cases", "failed", "unknown")
        }
    heads, rows = page.evaluate(NAMES), page.evaluate(MEASURES)
    compared = 0
    for head, cells in zip(heads, rows, strict=True):
        name = head.splitlines()[-1].removeprefix("D ").removeprefix("J ")
        for config, (value, count) in zip(outputs.configs, cells, strict=True):
            summary = outputs.report["configs"][config]["summary"].get(name)
            if summary is None or not is_share(name):
                continue
            expected = show_cell(summary, says_errors=False)
            if expected is None:
                assert value is None
                continue
            numbers = dict.fromkeys(("unknown", "unchecked"), 0)
            numbers |= {word: int(number) for number, word in re.findall(r"(\d+) (unknown|unchecked)", count)}
            assert (expected.value, f"n {expected.scored}") == (value, count.partition(",")[0]), name
            assert (expected.unknown, expected.unchecked) == (numbers["unknown"], numbers["unchecked"]), name
            compared += 1
    assert compared > 30


def test_the_page_counts_missing_and_leaked_cases_among_the_failed_ones(page: Page, outputs: Outputs) -> None:
    shown = page.text("#identity")
    for config in outputs.configs:
        counts = outputs.report["configs"][config]["counts"]
        for name in ("passed", "failed", "unknown"):
            if counts[name]:
                assert f"{counts[name]} {name}" in shown


def list_english(page: Page) -> list[str]:
    """Return the texts of the page outside data that have English words."""
    return [text for text in page.evaluate(UNQUOTED) if ENGLISH.intersection(_WORD.findall(text.lower()))]


def test_no_sentence_of_the_vietnamese_page_is_english_but_those_of_the_run(running: Browser, outputs: Outputs) -> None:
    page = running.open(outputs.html_file, language="vi")
    try:
        page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
        assert [] == list_english(page)
        assert "được ghi bằng tiếng Anh" in page.text(".banner")
        assert page.evaluate("document.querySelectorAll('main [lang=en]').length") > 0
        case_id = outputs.report["configs"][outputs.configs[0]]["failed_cases"] or [{"case_id": "leave-0"}]
        page.show(f"#/case/{case_id[0]['case_id']}", "document.querySelector('#asked') !== null")
        page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
        inputs = [outputs.html_file.with_name(f"{name}.jsonl").read_text("utf-8") for name in ("golden", "outputs")]
        assert [] == [text for text in list_english(page) if not any(text in rows for rows in inputs)]
    finally:
        page.close()


def test_no_sentence_of_the_vietnamese_comparison_is_english_but_those_of_the_run(opened: Open) -> None:
    page = opened(world(["quả", "lê", "mận"]), language="vi")
    page.show("#/comparison", "document.querySelector('#regressed') !== null")
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    assert [] == list_english(page)


def test_what_to_try_where_nothing_was_answered_is_in_the_language_of_the_page(
    running: Browser, tmp_path: Path
) -> None:
    page = running.open(make_outputs(tmp_path, RECIPES["target errors"]).html_file, language="vi")
    assert "sửa hệ thống rồi hỏi lại" in page.text()
    assert "repair the target" not in page.text()
    page.close()


@pytest.mark.parametrize(
    ("answers", "title"),
    [
        ({"c0": "It takes 10 days."}, "2 of 3 cases without an answer"),
        ({"c0": "It takes 10 days.", "c1": "It takes 7 days."}, "2 of 3 cases failed (1 without an answer)"),
    ],
)
def test_cases_that_were_not_asked_are_no_failures(
    running: Browser, tmp_path: Path, answers: dict[str, str], title: str
) -> None:
    golden: list[dict[str, object]] = [
        {"id": f"c{number}", "question": f"How long does step {number} take?", "must_have": [f"1{number} days"]}
        for number in range(3)
    ]
    outputs: list[dict[str, object]] = [
        {"case_id": case_id, "config_id": "t", "answer": answer} for case_id, answer in answers.items()
    ]
    for name, rows in {"golden.jsonl": golden, "outputs.jsonl": outputs}.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = [f"--golden={tmp_path}/golden.jsonl", f"--outputs={tmp_path}/outputs.jsonl", f"--html={tmp_path}/page.html"]
    assert 3 == main(["score", *files])
    shown = running.open(tmp_path / "page.html")
    assert title in shown.text().splitlines()
    shown.close()
