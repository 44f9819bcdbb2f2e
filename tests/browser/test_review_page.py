"""The review page in a real browser: decided, edited and saved by keys, settled, with hostile texts and many rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.chromium import Browser, Page
from tests.browser.payloads import PAYLOADS
from tests.browser.test_label_page import key
from tests.browser.test_page import AXE

from assay import golden
from assay.formats.corpus import load_corpus
from assay.formats.golden_files import load_golden
from assay.golden.check_golden import find_stale_cases
from assay.records.golden_set import GoldenSet

pytestmark = pytest.mark.slow

AT = "2026-11-23T08:00:00+00:00"
CHUNKS = [
    {"chunk_id": "leave:1", "document": "leave", "section": "Leave", "text": "😀 Staff have  12 days of leave a year."},
    {"chunk_id": "faq:1", "document": "faq", "text": "Hỏi: how many days of leave do staff have? Twelve."},
    {"chunk_id": "pay:1", "document": "pay", "text": "Pay day is the last Friday."},
]


def make_row(name: str, question: str = "How many days of leave do staff have?", **fields: Any) -> dict[str, Any]:
    unit = {"any_of": [{"chunk_id": "leave:1"}], "quote": "staff have 12 days of leave"}
    provenance = {"drafted_by": "templates-1", "verified_ranks": {"app": [2]}}
    row = {"id": name, "question": question, "reference": "12 days", "must_have": ["12 days"], "evidence": [unit]}
    return row | {"metadata": {"provenance": provenance}} | fields


def write_lines(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def write_page(folder: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    candidates = write_lines(folder / "candidates.jsonl", rows)
    corpus = write_lines(folder / "corpus.jsonl", CHUNKS)
    golden.review(candidates, corpus=corpus, out=str(folder / "page.html"), **options)
    return folder / "page.html"


def open_page(running: Browser, path: Path, **look: Any) -> Page:
    running.call(
        "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(path.parent / "saved"), eventsEnabled=False
    )
    page = running.open(path, **look)
    page.evaluate("localStorage.clear()")
    page.go(path.resolve().as_uri())
    return page


@pytest.fixture
def page(running: Browser, tmp_path: Path) -> Iterator[Page]:
    opened_page = open_page(running, write_page(tmp_path, [make_row(name) for name in ("a", "b", "c", "d")]))
    yield opened_page
    close(opened_page)


def close(page: Page) -> None:
    wrong = [event for event in page.wrong if not event.startswith("request blob:")]
    page.close()
    assert [] == wrong


def fill(page: Page, field: str, text: str) -> None:
    page.evaluate(f"(document.getElementById('{field}').focus(), document.getElementById('{field}').select())")
    page.type(text)


def reload(page: Page, path: Path, status: str) -> None:
    """Load the page again until it shows a status: a browser stores what a page keeps in its own time.

    Whoever leaves before the page shows it, or in the same moment, may have decided nothing.
    """
    page.until(f"at('status').textContent.includes('{status}')")
    page.evaluate("new Promise((done) => setTimeout(done, 100))")
    for _ in range(50):
        page.go(path.resolve().as_uri())
        if status in page.text("#status"):
            return
    raise AssertionError(f"{status!r} not in {page.text('#status')!r}")


def read_saved(page: Page, path: Path) -> Any:
    page.until("document.getElementById('status').textContent.startsWith('Saved')")
    for _ in range(200):
        if path.exists() and path.read_text(encoding="utf-8").endswith("}\n"):
            return json.loads(path.read_text(encoding="utf-8"))
        page.evaluate("new Promise((done) => setTimeout(done, 20))")
    raise AssertionError(f"{path.name} was not saved")


def test_candidates_are_decided_edited_and_saved_by_keys_and_freeze_takes_the_file(page: Page, tmp_path: Path) -> None:
    assert "Staff have  12 days of leave" == page.text("mark")
    assert "faq:1" in page.text(".nearby") and "verified_ranks: app: 2" in page.text(".provenance")
    key(page, "a")
    key(page, "e")
    fill(page, "question", "Nhân viên có bao nhiêu ngày phép?")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", modifiers=2)
    key(page, "4")
    key(page, "r")
    assert "reason" == page.evaluate("document.activeElement.id")
    page.type("not asked")
    key(page, "Escape")
    key(page, "r")
    assert "4 decided" in page.text("#status")
    fill(page, "person", "Nguyễn Lan")
    key(page, "Escape")
    key(page, "s")
    path = tmp_path / "saved" / "review-Nguyễn-Lan.json"
    saved = read_saved(page, path)
    rows = [(row["decision"], row["reason"]) for row in saved["decisions"]]
    assert [("accept", ""), ("accept", ""), ("reject", "The question is unclear"), ("reject", "not asked")] == rows
    assert [{}, {"question": "Nhân viên có bao nhiêu ngày phép?"}, {}, {}] == [
        row["edited"] for row in saved["decisions"]
    ]
    out = str(tmp_path / "golden.jsonl")
    candidates = str(tmp_path / "candidates.jsonl")
    golden.freeze(candidates, out, version="1", owner="Lan", change="first", at=AT, decisions=[str(path)])
    cases = load_golden(out).golden.cases
    assert ["a", "b"] == [case.id for case in cases]
    provenance = cases[1].metadata["provenance"]
    assert "person" == provenance["worded_by"] and ["Nguyễn Lan"] == provenance["edited_by"]
    original = {"question": "How many days of leave do staff have?", "verified_ranks": {"app": [2]}}
    assert original == provenance["original"] and "verified_ranks" not in provenance


def test_the_mark_of_a_closed_chunk_stands_on_the_line_of_its_name(page: Page) -> None:
    place = page.evaluate("getComputedStyle(document.querySelector('summary .place')).display")
    statement = page.evaluate("getComputedStyle(document.querySelector('summary .statement')).display")
    assert ("inline", "block") == (place, statement), "a block begins a line of its own, below the mark"


def test_accept_and_reject_are_in_view_whatever_the_length_of_a_candidate(running: Browser, tmp_path: Path) -> None:
    long = {"question": " ".join(["How many days of leave do staff have?"] * 60)}
    page = open_page(running, write_page(tmp_path, [make_row("a", **long), make_row("b")]), width=1280, height=900)
    bottom = "document.getElementById({!r}).getBoundingClientRect().bottom <= innerHeight"
    assert page.evaluate("document.documentElement.scrollHeight > innerHeight + 200")
    assert all(page.evaluate(bottom.format(name)) for name in ("accept", "edit", "reject"))
    close(page)


def test_ids_that_name_parts_of_the_language_are_ids(running: Browser, tmp_path: Path) -> None:
    names = ["__proto__", "constructor", "toString"]
    page = open_page(running, write_page(tmp_path, [make_row(name) for name in names]))
    for name in ("a", "a", "1"):
        key(page, name)
    reload(page, tmp_path / "page.html", "3 decided")
    fill(page, "person", "ann")
    page.evaluate("document.getElementById('save').click()")
    saved = read_saved(page, tmp_path / "saved" / "review-ann.json")
    assert names == [row["case"] for row in saved["decisions"]]
    close(page)


def test_decisions_survive_a_reload_and_another_tab(page: Page, running: Browser, tmp_path: Path) -> None:
    other = running.open(tmp_path / "page.html")
    key(page, "a")
    other.until("at('status').textContent.includes('1 decided')")
    key(other, "j")
    key(other, "2")
    page.until("at('status').textContent.includes('2 decided')")
    reload(page, tmp_path / "page.html", "2 decided")
    key(page, "u")
    assert "Candidate 3 of 4" in page.text("#status")
    other.close()


def test_another_chunk_is_added_as_an_alternative_of_the_evidence(page: Page, tmp_path: Path) -> None:
    page.evaluate("document.querySelector('.nearby button').click()")
    assert "true" == page.evaluate("document.querySelector('.nearby button').getAttribute('aria-pressed')")
    key(page, "a")
    fill(page, "person", "ann")
    page.evaluate("document.getElementById('save').click()")
    (row,) = read_saved(page, tmp_path / "saved" / "review-ann.json")["decisions"]
    assert [{"chunk_id": "leave:1"}, {"chunk_id": "faq:1"}] == row["edited"]["evidence"][0]["any_of"]


def test_a_candidate_without_evidence_gets_the_chunk_that_answers_it(running: Browser, tmp_path: Path) -> None:
    row = make_row("a", evidence=[])
    two = make_row("b", evidence=[{"any_of": [{"chunk_id": name}]} for name in ("leave:1", "pay:1")])
    page = open_page(running, write_page(tmp_path, [row, two]))
    page.evaluate("document.querySelector('.nearby button').click()")
    key(page, "a")
    assert 0 == page.evaluate("document.querySelectorAll('.nearby button').length"), "which unit it is nobody knows"
    fill(page, "person", "ann")
    page.evaluate("document.getElementById('save').click()")
    (saved,) = read_saved(page, tmp_path / "saved" / "review-ann.json")["decisions"]
    close(page)
    assert 1 == len(saved["edited"]["evidence"]) == len(saved["edited"]["evidence"][0]["any_of"])


def write_page_of_frozen_set(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Freeze rows as a golden set, and return the page on which people decide what no longer fits the documents."""
    base, page = folder / "golden.jsonl", folder / "page.html"
    candidates = write_lines(folder / "candidates.jsonl", rows)
    golden.freeze(candidates, str(base), version="1", owner="Lan", change="first", at=AT, accept_all=True)
    corpus = write_lines(folder / "corpus.jsonl", CHUNKS)
    golden.review(str(base), corpus=corpus, out=str(page), base=str(base))
    return page


def freeze_decisions(folder: Path, saved: Path) -> GoldenSet:
    """Return the next version of the set by saved decisions, in which every case fits the documents."""
    base, out = str(folder / "golden.jsonl"), str(folder / "golden-2.jsonl")
    golden.freeze(
        None, out, base=base, version="2", owner="Lan", change="x", at=AT, decisions=[str(saved)], update=True
    )
    following = load_golden(out).golden
    assert {} == find_stale_cases(following, load_corpus(folder / "corpus.jsonl")[0])
    return following


def test_the_evidence_of_a_changed_document_is_replaced_by_the_chunk_that_has_it_now(
    running: Browser, tmp_path: Path
) -> None:
    """Gone under its id, and changed under its id: quote and hash go, required citations of the old chunk follow."""
    gone = {"any_of": [{"chunk_id": "leave:0"}], "quote": "10 days of leave", "text_hash": "sha256:" + "0" * 64}
    moved = make_row("moved", reference="10 days", must_have=["10 days"], evidence=[gone], must_cite=["leave:0"])
    changed = make_row(
        "changed",
        "When is pay day?",
        reference="The first Monday",
        must_have=[],
        evidence=[{"any_of": [{"chunk_id": "pay:1"}], "quote": "Pay day is the first Monday"}],
        must_cite=["pay"],
    )
    rows = [moved, make_row("same"), changed]
    page = open_page(running, write_page_of_frozen_set(tmp_path, rows))
    assert "of 2" in page.text("#status")
    assert "evidence[0]: not in the corpus" in page.text(".stale")
    page.evaluate("document.querySelector('[aria-label=\"This chunk is the evidence now: leave:1\"]').click()")
    key(page, "e")
    fill(page, "reference", "12 days")
    fill(page, "facts", "12 days")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", modifiers=2)
    assert "is not in the text of pay:1" in page.text(".stale")
    page.evaluate("document.querySelector('[aria-label=\"This chunk is the evidence now: pay:1\"]').click()")
    key(page, "a")
    fill(page, "person", "Eve")
    key(page, "Escape")
    key(page, "s")
    saved = tmp_path / "saved" / "review-Eve.json"
    first, second = (row["edited"] for row in read_saved(page, saved)["decisions"])
    assert ("12 days", [{"any_of": [{"chunk_id": "leave:1"}]}], ["leave:1"]) == (
        first["reference"],
        first["evidence"],
        first["must_cite"],
    )
    assert ([{"any_of": [{"chunk_id": "pay:1"}]}], ["pay"]) == (second["evidence"], second.get("must_cite", ["pay"]))
    close(page)
    following = freeze_decisions(tmp_path, saved)
    assert ("moved", "changed") == tuple(row.case for row in following.lineage[0].updated)


def test_each_of_two_units_that_no_longer_fit_gets_the_chunk_that_is_its_evidence_now(
    running: Browser, tmp_path: Path
) -> None:
    """Two facts of documents that were cut into other chunks, and one of a document that stayed."""
    lost = [{"any_of": [{"chunk_id": name}], "quote": name} for name in ("pay:0", "leave:0")]
    kept = {"any_of": [{"chunk_id": "faq:1"}]}
    question = "How many days of leave do staff have, and when is pay day?"
    rows = [make_row("both", question, must_have=[], evidence=[lost[0], kept, lost[1]], must_cite=["leave:0", "faq:1"])]
    page = open_page(running, write_page_of_frozen_set(tmp_path, rows))
    assert "evidence[0] · pay:0 · no longer fits the documents" in page.text(".evidence")
    for unit, chunk in ((0, "leave:1"), (0, "pay:1"), (2, "leave:1"), (0, "leave:1")):  # taken back
        page.evaluate(f"document.querySelector('[aria-label=\"This chunk is evidence[{unit}] now: {chunk}\"]').click()")
    assert 0 == page.evaluate("document.querySelectorAll('[aria-label^=\"This chunk is evidence[1]\"]').length")
    key(page, "a")
    fill(page, "person", "Eve")
    page.evaluate("document.getElementById('save').click()")
    saved = tmp_path / "saved" / "review-Eve.json"
    (row,) = read_saved(page, saved)["decisions"]
    close(page)
    chosen = [[selector["chunk_id"] for selector in unit["any_of"]] for unit in row["edited"]["evidence"]]
    assert [["pay:1"], ["faq:1"], ["leave:1"]] == chosen
    assert ["leave:1", "faq:1"] == row["edited"]["must_cite"]
    freeze_decisions(tmp_path, saved)


def test_a_disagreement_is_settled_on_a_page_of_its_own(running: Browser, tmp_path: Path) -> None:
    rows = [make_row(name) for name in ("a", "b")]
    digest = load_golden(write_lines(tmp_path / "candidates.jsonl", rows)).digest
    paths = []
    for reviewer, decision in (("ann", "accept"), ("bob", "reject")):
        review = {"format": 1, "candidates": digest, "reviewer": reviewer}
        said = [{"case": "a", "decision": "accept"}, {"case": "b", "decision": decision, "reason": "unclear"}]
        paths.append(write_lines(tmp_path / f"{reviewer}.json", [review | {"decisions": said}]))
    page = open_page(running, write_page(tmp_path, rows, decisions=paths))
    assert "Settle disagreements" == page.text("h1") and "1 of 1" in page.text("#status")
    page.evaluate("document.querySelectorAll('.earlier button')[1].click()")
    fill(page, "person", "cem")
    page.evaluate("document.getElementById('save').click()")
    read_saved(page, tmp_path / "saved" / "settled-cem.json")
    close(page)
    report = golden.review(
        str(tmp_path / "candidates.jsonl"), decisions=[*paths, str(tmp_path / "saved" / "settled-cem.json")]
    )
    assert (1, 1, (), ()) == (report.accepted, report.rejected, report.undecided, report.disagreed)


def test_hostile_texts_are_shown_and_do_not_act(running: Browser, tmp_path: Path) -> None:
    rows = []
    for number, text in enumerate(PAYLOADS):
        name = "".join(filter(str.isprintable, text))[:60]
        fields = {"evidence": [{"any_of": [{"chunk_id": name}], "quote": text}], "tags": [name]}
        fields |= {"metadata": {"provenance": {text: text}}}
        rows.append(make_row(f"c{number}", text, reference=text, must_have=[text], **fields))
    page = open_page(running, write_page(tmp_path, rows))
    for text in PAYLOADS:
        shown = page.evaluate("JSON.stringify([...document.querySelectorAll('p.text')].map((p) => p.textContent))")
        assert [text, text, text, text] == json.loads(shown)
        key(page, "ArrowRight")
    close(page)


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (in ui/: npm ci)")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_violation_and_a_small_screen_is_enough(dark: bool, running: Browser, tmp_path: Path) -> None:
    row = make_row("a", user={"tenant": "x" * 200, "roles": ["hr"]})
    path = write_page(tmp_path, [row], language="vi")
    page = open_page(running, path, width=360, dark=dark)
    key(page, "o")
    key(page, "e")
    assert "Duyệt ca đề xuất" == page.text("h1") and "Sửa ca" in page.text("#form")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run().then(result => result.violations.map(item => [item.id, item.nodes[0].html]))")
    assert [] == violations
    close(page)


def test_only_one_of_many_candidates_is_built_at_a_time(running: Browser, tmp_path: Path) -> None:
    """The page of 500 candidates has no more elements than that of one, and keeps every decision."""
    path = write_page(tmp_path, [make_row(f"c{number}") for number in range(500)])
    page = open_page(running, path)
    elements = "document.querySelectorAll('*').length"
    before = page.evaluate(elements)
    page.evaluate("for (let count = 0; count < 500; count += 1) document.getElementById('accept').click()")
    assert "500 decided" in page.text("#status")
    assert before == page.evaluate(elements)
    assert 500 == page.evaluate("Object.keys(JSON.parse(localStorage.getItem(store)).said).length")
    close(page)
