"""The HTML report as bytes: its policy, its islands, what it withholds and what it leaves out."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.html import data_of
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.json import encode
from tests.browser.payloads import PAYLOADS
from tests.report.html_islands import ASSET, details, document, islands
from tests.report.html_world import world
from tests.report.sample import BAD, CASE_BY_ID, CASES, GOOD, SECRET, observation, scoring

from assay.records.golden_set import User
from assay.records.scores import STATUS_NAMES, CaseChecks, ScoreColumn
from assay.records.verdicts import ItemVerdict, Verdict
from assay.report.cases.full_case import Explanation, RankedChunk, RankedStage
from assay.report.page.case_data import (
    CaseDetail,
    CaseView,
    ClaimView,
    HtmlData,
    _build_score_column,
    _list_user,
    build_case_detail,
)
from assay.report.page.html_page import CSP_MARK, ISLANDS_MARK, render_html_report
from assay.report.page.overview import shorten_case

UI = Path(__file__).parents[2] / "ui/src"
FRUIT = ("apple", "pear", "plum", "cherry")


def leaking(show_forbidden: bool) -> HtmlData:
    """Return the sample's report with the case whose answer, chunk, question and verdict hold the secret."""
    case = CASE_BY_ID["pay_001"]
    chunks = (RankedChunk(1, "pay:v1:001", marks=("forbidden",), text=f"Pay: {SECRET}!"),)
    explanation = Explanation(
        case,
        BAD,
        observation("pay_001"),
        (RankedStage("retrieved", chunks),),
        chunks,
        checks=CaseChecks("pay_001", ("leak",)),
        leaked=True,
    )
    vote = Verdict("q", "j", 0, "support", (ItemVerdict("c1", "supported", SECRET[:12], f"it says {SECRET}"),))
    claims = (ClaimView(f"In short: {SECRET}.", "supported", "judge", SECRET, SECRET),)
    details = (CaseDetail(2, {BAD: CaseView(explanation, claims, (vote,))}),)
    secret = structs.replace(case, question=f"Is it true that {SECRET.upper()}?")
    cases = [secret if original is case else original for original in CASES]
    return HtmlData(scoring(), cases, details, show_forbidden=show_forbidden)


def test_only_the_pages_own_script_and_style_may_run() -> None:
    text = document(world(FRUIT))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    (script,) = re.findall(r'<script type="module" async>(.*?)</script>', text, re.DOTALL)
    (style,) = re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL)
    for kind, content in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert text.index("Content-Security-Policy") < text.index("<style")


def test_nothing_in_the_document_is_fetched() -> None:
    text = document(world(FRUIT))
    assert ["data:,"] == re.findall(r'(?:src|href)="?([^" >]+)', re.sub(r"<script.*?</script>", "", text, flags=re.S))


def test_no_text_of_strangers_ends_its_island() -> None:
    text = document(world(PAYLOADS))
    plain = re.search(r'id="report">(.*?)</script>', text, re.DOTALL)
    assert plain is not None
    assert not set("<>&\u2028\u2029") & set(plain[1])
    contents = islands(text)
    assert list(PAYLOADS) == contents["report"]["reasons"]
    assert text.count("<script") == text.count("</script>") == len(contents) + 1


def test_the_same_data_gives_the_same_bytes() -> None:
    assert document(world(PAYLOADS)) == document(world(PAYLOADS))


@pytest.mark.parametrize("asset", ["", CSP_MARK, ISLANDS_MARK, ASSET + ISLANDS_MARK, CSP_MARK + ISLANDS_MARK])
def test_a_page_that_was_not_built_is_refused(asset: str) -> None:
    with pytest.raises(ValueError, match="the page must hold"):
        next(render_html_report(world(FRUIT), asset))


def test_the_first_screen_says_what_the_other_reports_say() -> None:
    report = islands(document(HtmlData(scoring(), CASES, owner="HR", date="2026-03-01", explain_arguments="--run r")))[
        "report"
    ]
    assert ("FAIL", "HR", "2026-03-01", "--run r") == tuple(report[k] for k in ("outcome", "owner", "date", "explain"))
    recall = next(metric for metric in report["metrics"] if metric["name"] == "recall@10")
    assert "Recall@10" == recall["title"]
    assert "recall@10" in report["headlines"]
    good, bad = recall["by"]  # hybrid-rerank before vector-only
    assert ("1.000", None, 2) == (good["text"], good["low"], good["n"])  # no variation: no interval is drawn
    assert ("0.250", 0.0, 0.9, ["few cases"]) == (bad["text"], bad["low"], bad["high"], bad["notes"])
    assert ["fail", "fail", "pass", "pass", "unmeasured"] == sorted(rule["state"] for rule in report["rules"])
    assert [2] == next(rule["cases"] for rule in report["rules"] if rule["cases"])
    assert {"passed": 1, "failed": 1, "leaked": 1, "missing": 1, "unknown": 0} == report["configs"][1]["states"]
    assert report["limits"] and report["warnings"]


def test_failed_checks_are_counted_if_there_are_no_attributions() -> None:
    causes = islands(document(HtmlData(scoring(), CASES)))["report"]["causes"]
    assert "check" == causes[BAD]["kind"]
    rows = {row["name"]: row["total"] for row in causes[BAD]["rows"]}
    assert {"bad_citation": 2, "leak": 1} == {name: rows[name] for name in ("bad_citation", "leak")}
    assert [] == causes[GOOD]["rows"]
    attributed = islands(document(world(FRUIT)))["report"]["causes"]["apple"]
    assert ("cause", [("reranker", 4)]) == (attributed["kind"], [(r["name"], r["total"]) for r in attributed["rows"]])


def test_every_case_has_a_row_and_every_score_its_reason() -> None:
    contents = islands(document(HtmlData(scoring(), CASES)))
    rows = contents["rows"]
    assert [case.id for case in CASES] == rows["ids"]
    assert ["failed", "passed", "leaked", "missing"] == [rows["states"][s] for s in rows["configs"][BAD]["states"]]
    recall = next(column for column in contents["scores-1"] if column["name"] == "recall@10")
    assert [0.0, 0.5, None, None] == recall["values"]
    assert [
        ["scored", ""],
        ["not_applicable", "evidence is forbidden to this user"],
        ["error", "no observation"],
    ] == recall["reasons"]
    assert [2, 0, 1, 1, 1, 2] == recall["why"]  # two scored, one not applicable, one error


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(-9, 9), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=40))
def test_runs_of_reasons_unfold_to_every_row(cells: list[tuple[float, int, int]]) -> None:
    values, status, reason = (np.array(part) for part in zip(*cells, strict=True))
    why = ("", "one", "two", "three")
    column = ScoreColumn("recall@10", values, status.astype(np.uint8), reason.astype(np.uint16), why)
    encoded = _build_score_column(column, world(FRUIT))
    runs = zip(encoded["why"][::2], encoded["why"][1::2], strict=True)
    unfolded = [encoded["reasons"][code] for code in itertools.chain.from_iterable([code] * n for n, code in runs)]
    assert [[STATUS_NAMES[s], why[r] if s else ""] for _, s, r in cells] == unfolded
    assert [None if s else pytest.approx(v, abs=5e-5) for v, s, _ in cells] == encoded["values"]


def test_full_cases_are_included_in_order_until_the_budget_is_spent() -> None:
    page_data = world(FRUIT)
    in_full = [build_case_detail(detail, page_data) for detail in page_data.details]
    sizes = [len(encode(case_data)) + len(encode(shorten_case(case_data))) for case_data in in_full]
    enough = sum(sizes[:2]) / 1e6
    for megabytes, expected in ((0.0, []), (enough, [0, 1]), (enough - 2e-6, [0]), (25.0, [0, 1, 2, 3])):
        contents = islands(document(replace(page_data, detail_mb=megabytes)))
        assert expected == sorted(details(contents))
        detail_cases = [index for index, island in enumerate(contents["rows"]["islands"]) if island >= 0]
        assert expected == detail_cases


def test_what_the_user_must_not_see_is_in_no_island() -> None:
    hidden = str(islands(document(leaking(False))))
    for text in (SECRET, SECRET[:12], SECRET.upper(), "Pay:"):
        assert text not in hidden
    assert "[withheld]" in hidden
    shown = islands(document(leaking(True)))
    (view,) = details(shown)[2]["views"].values()
    assert f"In short: {SECRET}." == view["answer"]
    assert f"Pay: {SECRET}!" == view["texts"]["pay:v1:001"]
    assert shown["report"]["show_forbidden"]


def test_a_comparison_counts_lists_and_orders_its_moves() -> None:
    contents = islands(document(world([f"text {n}" for n in range(12)])))
    comparison = contents["report"]["comparison"]
    change = comparison["metrics"][0]
    assert (4, 4, 4, 1, "-0.100", "-0.200 to +0.050") == tuple(
        change[key] for key in ("improved", "regressed", "unchanged", "unpaired", "gain_text", "interval")
    )
    assert [None, None, None] == [move["after"] for move in comparison["moves"][:3]]  # every fourth was lost
    changes = contents["rows"]["changes"]
    assert ["better", "worse", "unchanged"] == [changes["names"][code] for code in changes["codes"][:3]]
    assert [0, 3, 6, 9] == changes["metrics"]["recall@10"]["improved"]


def test_the_page_uses_no_unsafe_dom_sink() -> None:
    sinks = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|dangerously|document\.write|\beval\b|Function\(|srcdoc")
    network = re.compile(r"\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|https?://|window\.open|\bimport\(")
    sources = sorted(UI.rglob("*.ts*"))
    assert 10 < len(sources)
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert [] == sinks.findall(text) + network.findall(text), path.name


def test_a_chunk_that_is_forbidden_anywhere_is_withheld_everywhere() -> None:
    page_data = leaking(False)
    (detail,) = page_data.details
    explanation = detail.views[BAD].explanation
    unmarked = (RankedStage("dense", (RankedChunk(1, "pay:v1:001", text="Pay: much"),)), *(explanation.stages or ()))
    view = CaseView(replace(explanation, stages=unmarked, leaked=False))
    assert "much" not in str(build_case_detail(CaseDetail(2, {BAD: view}), page_data))


def test_one_huge_case_does_not_displace_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    page_data = world(["endless" * 400, *FRUIT[:2]])
    monkeypatch.setattr("assay.report.page.html_page.MAX_CASE_BYTES", 30_000)
    assert [1, 2] == sorted(details(islands(document(page_data))))


@pytest.mark.slow
def test_a_large_report_stays_small() -> None:
    """A tenth of 50,000 cases with a tenth of the budget: less than a tenth of what 20 MB leave for the data."""
    page_data = replace(data_of(5000, ["config-0", "config-1"]), detail_mb=2.5)
    text = document(page_data)
    assert 5000 == len(islands(text)["rows"]["ids"])
    assert 0 < len(details(islands(text))) < 5000
    fixed = len(ASSET) + len(encode(islands(text)["report"]))  # neither grows with the cases
    assert len(text) - fixed < (20_000_000 - fixed) / 10


def test_the_roles_of_a_user_are_names_and_no_json() -> None:
    user = User(tenant="north", roles=("clerk", "auditor"), position=3)
    assert [["position", "3"], ["roles", "clerk, auditor"], ["tenant", "north"]] == _list_user(user)
