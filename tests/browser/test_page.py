"""The page in a real browser: every view, keyboard, search and filters, both languages, print, narrow screens."""

from __future__ import annotations

import pkgutil
import re
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from msgspec import structs
from tests.browser.chromium import Browser, Page
from tests.browser.conftest import Open
from tests.report.html_world import world

from assay import attribution
from assay.attribution.cause_notes import (
    CAUSE_NOTES,
    CONTEXT_NOTE,
    OVER_REFUSAL_NOTE,
    SUBCAUSE_NOTES,
    UNSEEN_RANKING_NOTE,
    UNSEEN_SEARCH,
    UNSEEN_SEARCH_NOTES,
)
from assay.metrics.case_checks import CHECKS
from assay.metrics.judged.judge_requests import NO_VERDICT
from assay.records.findings import CaseChange
from assay.records.release_gates import Decision, Rule, RuleResult, RuleState
from assay.records.scores import ERROR, ScoreColumn

pytestmark = pytest.mark.slow

FRUIT = ("apple", "pear", "plum", "cherry", "nghỉ phép", "grape", "melon", "fig", "lime", "kiwi", "date", "mango")
AXE = Path(__file__).parents[2] / "ui/node_modules/axe-core/axe.min.js"
CLIPPED = """(() => {
    const scrolls = (node) => node.closest('.scroll, .stages, .list, svg, .sr-only, .skip') !== null;
    const parts = [...document.querySelectorAll('main *, header *')].filter((node) => !scrolls(node));
    return parts.filter((node) => node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0
        && getComputedStyle(node).overflowX !== 'visible').map((node) => node.outerHTML.slice(0, 120));
})()"""
"""The elements that cut off their text, other than regions that are there to be scrolled."""
ROWS = "document.querySelectorAll('.row').length"


def list_visible_ids(page: Page) -> list[str]:
    """Return the ids of the visible rows."""
    row_ids: list[str] = page.evaluate("[...document.querySelectorAll('.row-id')].map(item => item.innerText)")
    return row_ids


def wait_for_count(page: Page, count: int) -> None:
    """Wait until the list has `count` rows."""
    page.until(f"document.querySelector('.list')?.ariaRowCount === '{count}' || ({count} === 0 && {ROWS} === 0)")


def wait_for_first(page: Page, *case_ids: str) -> None:
    """Wait until the list begins with these ids: the scores that it is sorted by are unpacked after the first paint."""
    shown = "[...document.querySelectorAll('.row-id')].map(item => item.innerText)"
    page.until(f"{shown}.slice(0, {len(case_ids)}).join() === '{','.join(case_ids)}'")


def test_first_screen_shows_the_decision_its_reasons_and_its_basis(opened: Open) -> None:
    page = opened(world(FRUIT))
    shown = page.text()
    for text in ("Fail", "Do not release", "apple", "12 cases", "Release gate", "Slices", "Causes by tag"):
        assert text in shown
    title = page.evaluate("document.title")
    assert title.startswith("Fail · 2 configurations · ") and title.endswith(" · Evaluation report")


def test_a_run_without_a_gate_is_grey_and_no_advice_to_release(opened: Open) -> None:
    page_data = world(FRUIT)
    undecided = Decision("NOT_GATED", ("1 case leaked", "no gate was given"), events=("1 case leaked",))
    configs = {name: structs.replace(result, decision=undecided) for name, result in page_data.scoring.configs.items()}
    ungated = structs.replace(page_data.scoring, configs=configs, decision=undecided, gate=None)
    page = opened(replace(page_data, scoring=ungated))
    assert "this report does not say that it may be released" in page.text()
    assert "Release:" not in page.text()
    assert "Not gated" in page.text()
    assert "banner plain" == page.evaluate("document.querySelector('main > .banner').className")
    assert "1 case leaked" == page.evaluate("document.querySelector('.banner .events').textContent")


def test_the_first_screen_says_what_was_measured_with_what(opened: Open) -> None:
    page_data = world(FRUIT)
    assert page_data.comparison is not None
    side = structs.replace(page_data.comparison.baseline, name="/runs/week 7/kept", config_id="older")
    worse = structs.replace(page_data.comparison.metrics["rr@10"], verdict="regressed")
    metrics = {**page_data.comparison.metrics, "rr@10": worse}
    page = opened(replace(page_data, comparison=structs.replace(page_data.comparison, baseline=side, metrics=metrics)))
    basis = page.text(".banner .basis").split(" · ")
    assert f"{len(page_data.scoring.configs)} configurations" == basis[0]
    assert basis[1].endswith(": 12 cases") and basis[2].startswith("gate ")
    assert "compared with older (kept)" in basis
    assert "What changed since older (kept)" in page.text("#what-changed")
    assert "regressed since older (kept): MRR@10" in page.text(".doubts")


def test_reasons_name_metrics_by_their_titles_and_lead_to_the_cases(opened: Open) -> None:
    page_data = world(FRUIT)
    rules = [Rule("stale_chunks", at_most=0), Rule("citation_correctness(by=judge)", at_least=0.9)]
    reasons = (
        "stale_chunks on tag=odd is not above 0 on any of 6 cases; the rate is open",
        "inconclusive: citation_correctness(by=judge) 0.500 < 0.900 (apple0, pear)",
    )
    results = tuple(
        RuleResult(rule, "inconclusive", 0.5, 10, reason) for rule, reason in zip(rules, reasons, strict=True)
    )
    decision = Decision("PASS_WITH_RISK", reasons, results)
    configs = {name: structs.replace(result, decision=decision) for name, result in page_data.scoring.configs.items()}
    page = opened(replace(page_data, scoring=structs.replace(page_data.scoring, configs=configs, decision=decision)))
    page.until("document.querySelector('.banner a') !== null")
    shown = page.text(".banner")
    assert "Stale chunks on tag=odd: none in 6 cases; the rate is open" in shown
    assert "inconclusive: Citation correctness by judge 0.500 < 0.900" in shown
    assert "#/case/apple0" == page.evaluate("document.querySelector('.banner a').getAttribute('href')")
    assert 1 == page.evaluate("document.querySelectorAll('.banner a').length")


def test_rules_that_are_met_are_counted_and_unfold(opened: Open) -> None:
    page_data = world(FRUIT)
    states: tuple[RuleState, ...] = ("pass", "fail", "pass")
    results = tuple(
        RuleResult(Rule("recall@10", at_least=0.5, slice=f"tag={number}"), state, 0.5, 10, "")
        for number, state in enumerate(states)
    )
    decision = Decision("FAIL", ("recall@10 fell",), results)
    configs = {name: structs.replace(result, decision=decision) for name, result in page_data.scoring.configs.items()}
    page = opened(replace(page_data, scoring=structs.replace(page_data.scoring, configs=configs, decision=decision)))
    count = len(configs)
    rows = "[...document.querySelectorAll('#gate tbody tr')].filter((row) => row.checkVisibility()).length"
    assert count == page.evaluate(rows)
    assert f"The other rules are met ({2 * count})" in page.text("#gate")
    page.evaluate("document.querySelector('#gate .met').open = true")
    assert 3 * count == page.evaluate(rows)


def test_a_rule_says_what_was_found_beside_its_metric_and_slice_with_links_to_the_cases(opened: Open) -> None:
    page_data = world(FRUIT)
    messages = (
        ("stale_chunks on tag=odd is above 0 on 1 of 6 cases (pear1); every gate has this rule", ("pear1",)),
        ("stale_chunks on tag=odd is above 0 on 2 of 6 cases (pear1 … and 1 more)", ("pear1", "fig7")),
    )
    rule = Rule("stale_chunks", at_most=0, slice="tag=odd", reason="zero tolerance")
    results = tuple(RuleResult(rule, "fail", 1.0, 6, message, cases=cases) for message, cases in messages)
    decision = Decision("FAIL", ("it is stale",), results)
    (config, result), *_ = page_data.scoring.configs.items()
    configs = {config: structs.replace(result, decision=decision)}
    page = opened(replace(page_data, scoring=structs.replace(page_data.scoring, configs=configs, decision=decision)))
    page.until("document.querySelector('#gate td.wrap a') !== null")
    named, counted = page.evaluate("[...document.querySelectorAll('#gate td.wrap')].map((cell) => cell.innerText)")
    assert "is above 0 on 1 of 6 cases (pear1); every gate has this rule" == named
    assert (
        counted.startswith("is above 0 on 2 of 6 cases (pear1 … and 1 more)\nzero tolerance") and "Cases: 2" in counted
    )


def test_checks_are_named_in_words_in_both_languages(opened: Open) -> None:
    for language, name in (("en", "wrong answer"), ("vi", "trả lời sai")):
        page = opened(world(FRUIT), "#/case/apple0?config=apple", language=language)
        page.until("document.querySelector('#outcome') !== null")
        assert name in page.text("#outcome") and "wrong_answer" not in page.text("#outcome")
    strings = (Path(__file__).parents[2] / "ui/src/strings.ts").read_text(encoding="utf-8")
    named = re.findall(r'^  "check\.(\w+)": ', strings, re.MULTILINE)
    assert dict.fromkeys({check.name for check in CHECKS}, 2) == Counter(named)


def test_the_comparison_begins_with_the_decision_and_ends_with_the_sides(opened: Open) -> None:
    page = opened(world(FRUIT), "#/comparison")
    page.until("document.querySelector('#sides') !== null")
    order = page.evaluate(
        "['#compared-decision', '#changed', '#gains', '#sides'].map((name) => document.querySelector(name))"
        ".map((part, index, parts) => index === 0 || Boolean(parts[index - 1].compareDocumentPosition(part) & 4))"
    )
    assert [True] * 4 == order


def test_a_cause_of_several_configurations_is_one_and_a_leak_comes_first(opened: Open) -> None:
    page_data = world(FRUIT)
    (first, result), *_ = page_data.scoring.configs.items()
    names = ["early", "later"]
    several = structs.replace(page_data.scoring, configs=dict.fromkeys(names, result))
    page = opened(
        replace(
            page_data,
            scoring=several,
            attributions=dict.fromkeys(names, page_data.attributions[first]),
            comparison=None,
        )
    )
    items = page.evaluate("[...document.querySelectorAll('.todo-list > li')].map((item) => item.textContent)")
    headings = page.evaluate(
        "JSON.parse(document.getElementById('report').textContent).failures.map(({ causes }) => causes.length)"
    )
    assert headings == [len(items), len(items)]
    assert all("early" in item and "later" in item for item in items)


def test_what_lacks_a_verdict_is_the_first_thing_to_do_where_that_leaves_a_run_open(opened: Open) -> None:
    page_data = world(FRUIT)
    (config, result), *_ = page_data.scoring.configs.items()
    column = result.table.columns["rr@10"]
    status = np.full_like(column.status, ERROR)
    unjudged = ScoreColumn("faithfulness(by=judge)", column.values, status, np.zeros_like(column.reason), (NO_VERDICT,))
    table = structs.replace(result.table, columns={**result.table.columns, unjudged.metric: unjudged})
    decision = Decision("INCOMPLETE", ("not judged",))
    scoring = structs.replace(
        page_data.scoring, configs={config: structs.replace(result, table=table, decision=decision)}, decision=decision
    )
    page = opened(replace(page_data, scoring=scoring, comparison=None))
    assert page.text("#todo").startswith(
        "What to do first\n\n12 of 12 answers have no verdict of the judge. assay judge"
    )


def test_commands_in_sentences_are_code(opened: Open) -> None:
    page_data = world(FRUIT)
    asked = Decision("NOT_GATED", ("1 case is open (`assay judge` without --only asks), not `this`",))
    configs = {name: structs.replace(result, decision=asked) for name, result in page_data.scoring.configs.items()}
    page = opened(
        replace(page_data, scoring=structs.replace(page_data.scoring, configs=configs, decision=asked, gate=None))
    )
    assert "assay judge" == page.evaluate("document.querySelector('.banner code').textContent")
    assert "1 case is open (assay judge without --only asks), not `this`" in page.text()


def test_search_finds_words_without_marks_and_filters_narrow_the_list(opened: Open) -> None:
    page = opened(world(FRUIT), "#/cases")
    wait_for_count(page, 12)
    page.evaluate("document.querySelector('input[type=search]').focus()")
    page.type("nghi phep QUEST")
    wait_for_count(page, 1)
    assert ["nghỉ phép4"] == list_visible_ids(page)
    page.evaluate("document.querySelector('.filters a').click()")
    wait_for_count(page, 12)
    page.choose("status", "leaked")
    wait_for_count(page, 3)  # cases 2, 5, 8: every third case leaked, but the last is missing
    page.choose("tag", "odd")
    wait_for_count(page, 1)
    assert ["grape5"] == list_visible_ids(page)
    assert "status=leaked" in page.evaluate("location.hash")


def test_a_shown_metric_can_be_sorted_by_and_bounded(opened: Open) -> None:
    page = opened(world(FRUIT), "#/cases?metric=rr%4010&sort=high")
    wait_for_first(page, "kiwi9", "melon6", "cherry3", "apple0")  # not mango11: the highest value, and no score
    page.show("#/cases?metric=rr%4010&most=0.3", f"{ROWS} === 2")
    assert ["apple0", "cherry3"] == list_visible_ids(page)


def test_a_filter_without_matches_says_so(opened: Open) -> None:
    page = opened(world(FRUIT), "#/cases?q=pineapple")
    page.until("document.querySelector('main').innerText.includes('No case matches')")


def test_a_case_is_shown_in_full_under_its_own_address(opened: Open) -> None:
    page = opened(world(FRUIT), "#/case/apple0?config=apple")
    page.until("document.querySelector('#answer') !== null")
    shown = page.text()
    for text in ("ranking", "lost here", "supported", "contradicted", "text withheld", "Judge's votes", "grade 3"):
        assert text in shown
    assert "secret of apple" not in page.evaluate("document.body.textContent")
    page.evaluate("[...document.querySelectorAll('.tabs a')].at(-1).click()")
    page.until("document.querySelector('main').innerText.includes('Target error')")
    page.evaluate("[...document.querySelectorAll('.crumbs a')].at(-1).click()")
    page.until("document.querySelector('h1').innerText === 'pear1'")


def test_a_case_beyond_the_budget_names_the_command_that_explains_it(opened: Open) -> None:
    page = opened(world(["it's", "b"], detail_mb=0), "#/case/it's0")
    page.until("document.querySelector('#explain') !== null")
    assert """assay explain 'it'"'"'s0' --config 'it'"'"'s'""" in page.text("#explain")
    page.until("document.body.innerText.includes('only a summary of this case')")


def test_an_address_that_names_no_case_says_so(opened: Open) -> None:
    page = opened(world(FRUIT), "#/case/%E0%A4%A")
    page.until("document.querySelector('main').innerText.includes('no such case')")


def test_the_comparison_shows_gains_moves_and_lists_of_cases(opened: Open) -> None:
    page = opened(world(FRUIT), "#/comparison")
    page.until("document.querySelector('#regressed') !== null")
    shown = page.text()
    for text in (
        "apple compared with apple",
        "What changed",
        "Rank changes",
        "-0.100",
        "-0.200 to +0.050",
        "0.040",
        "gone",
    ):
        assert text in shown
    assert "Same outcome, lower scores" in shown
    page.evaluate("document.querySelector('#worse p a').click()")
    wait_for_count(page, 4)
    assert ["pear1", "nghỉ phép4", "fig7", "date10"] == list_visible_ids(page)


def test_the_first_screen_says_why_not_what_to_do_and_what_changed(opened: Open) -> None:
    page = opened(world(FRUIT))
    shown = page.text()
    for text in (
        "What to do first",
        "reranker",
        "Evidence and answers",
        "What changed since apple",
        "-0.100",
        "of 12 cases failed",
    ):
        assert text in shown
    failed = page.text(".failure")
    for text in ("leaked", "plum2", "plum question", "Expected", "Answer", "Try first"):
        assert text in failed
    titles = page.evaluate("[...document.querySelectorAll('main h2')].map(item => item.innerText)")
    changed = next(title for title in titles if title.startswith("What changed since apple"))
    assert titles.index("What to do first") < titles.index(changed) < titles.index("Metrics")
    assert shown.index("What changed since apple") < shown.index("of 12 cases failed")
    said = page.text(".what-changed")
    for text in ("Versions and settings: ", "Metrics: ", " → ", "No case fails on one side only."):
        assert text in said
    page.evaluate("document.querySelector('.todo-list a').click()")
    page.until("location.hash.includes('cause=reranker')")


def test_shown_changes_are_listed_in_both_directions(opened: Open) -> None:
    page_data = world(FRUIT)
    assert page_data.comparison is not None
    verdicts = {"rr@10": "improved", "behaviour": "improved", "latency_ms": "regressed"}
    metrics = {
        metric: structs.replace(change, verdict=verdicts.get(metric, "not_significant"))
        for metric, change in page_data.comparison.metrics.items()
    }
    page = opened(replace(page_data, comparison=structs.replace(page_data.comparison, metrics=metrics)))
    lines = page.text(".what-changed").splitlines()
    (regressed,) = (line for line in lines if "regressed" in line)
    (improved,) = (line for line in lines if "improved" in line)
    assert "Latency in ms" in regressed and "MRR" not in regressed
    assert "MRR@10" in improved and "Behaviour" in improved and "Recall" not in improved


@pytest.mark.parametrize("width", [1000, 1400])
def test_decision_outcomes_and_the_first_failed_case_need_no_scrolling(opened: Open, width: int) -> None:
    page = opened(world(FRUIT))
    page.look(width, 900)
    page.until(f"innerWidth === {width}")
    bottoms = page.evaluate(
        "['.banner', '.outcomes', '.failure'].map((name) => "
        "document.querySelector(name).getBoundingClientRect().bottom + scrollY)"
    )
    assert bottoms == sorted(bottoms)
    assert bottoms[-1] <= 900


def test_what_to_try_first_is_in_the_language_of_the_page(opened: Open) -> None:
    page_data = world(FRUIT)
    fix = CAUSE_NOTES["reranker"].fix
    attributions = {
        config: {case_id: structs.replace(attribution, fix=fix) for case_id, attribution in by_case.items()}
        for config, by_case in page_data.attributions.items()
    }
    page_data = replace(page_data, attributions=attributions)
    assert fix in opened(page_data).text(".todo-list")
    page = opened(page_data, language="vi")
    assert "huấn luyện nó bằng các cặp" in page.text(".todo-list")
    assert fix not in page.text()


def test_lists_say_of_a_case_what_happened_and_how_sure_that_is(opened: Open) -> None:
    """In the list, in the matrix and on paper: the sentence, one of two where the facts leave it open, and no id."""
    page_data = world(FRUIT)
    judge_sign, store_sign = (CAUSE_NOTES[cause].sign for cause in ("judge_noise", "stale_index"))
    attributions = {
        config: {
            case_id: structs.replace(
                attribution,
                cause="stale_index",
                sign=store_sign,
                confidence="high" if case_id.startswith("pear") else "low",
                also=() if case_id.startswith("pear") else ("judge_noise",),
            )
            for case_id, attribution in by_case.items()
        }
        for config, by_case in page_data.attributions.items()
    }
    page_data = replace(page_data, attributions=attributions)
    sure, open_one = f"T{store_sign[1:]}", f"One of: {store_sign}; {judge_sign}"
    page = opened(page_data, "#/cases")
    page.until(f"{ROWS} > 2")
    causes = page.evaluate("[...document.querySelectorAll('.row-cause')].map((item) => item.innerText)")
    assert {sure, open_one} == set(causes) and "stale index" not in page.text(".list")
    page.call("Emulation.setEmulatedMedia", media="print")
    assert sure in page.text(".print-only") and open_one in page.text(".print-only")
    page = opened(page_data, "#/matrix")
    page.until("document.querySelectorAll('.matrix tbody tr').length === 12")
    assert (
        sure in page.text(".matrix") and open_one in page.text(".matrix") and "stale index" not in page.text(".matrix")
    )
    page = opened(page_data, "#/cases", language="vi")
    page.until(f"{ROWS} > 2")
    assert store_sign not in page.text(".list")


def test_a_tab_says_the_decision_what_it_is_of_and_the_case_that_is_shown(opened: Open) -> None:
    page_data = world(FRUIT)
    page = opened(page_data, "#/case/apple0")
    page.until("document.title.startsWith('apple0 · Fail · 2 configurations · ')")
    page.show("#/", "document.title.startsWith('Fail · 2 configurations · ')")
    assert page.evaluate("document.title").endswith(" · Evaluation report")


def test_the_gate_of_one_configuration_of_two_decides_alone(opened: Open) -> None:
    """No "worst" of two: the other one was not gated."""
    page_data = world(FRUIT)
    first, second = page_data.scoring.configs
    results = dict(page_data.scoring.configs)
    results[second] = structs.replace(results[second], decision=None)
    page = opened(replace(page_data, scoring=structs.replace(page_data.scoring, configs=results)))
    shown = page.text(".banner")
    assert "Do not release" in shown and "not gated" in shown and "the worst" not in shown, first


def test_what_to_try_first_for_a_refined_cause_is_in_the_language_of_the_page(opened: Open) -> None:
    page_data = world(FRUIT)
    fix = SUBCAUSE_NOTES["context_builder", "ranked_below_cut_off"].fix
    attributions = {
        config: {
            case_id: structs.replace(attribution, cause="context_builder", fix=fix)
            if attribution.cause
            else attribution
            for case_id, attribution in by_case.items()
        }
        for config, by_case in page_data.attributions.items()
    }
    page = opened(replace(page_data, attributions=attributions), language="vi")
    assert "đưa thêm đoạn cho mô hình sinh" in page.text(".todo-list")
    assert fix not in page.text()


def test_what_is_likeliest_in_all_cases_of_a_cause_is_said_as_of_one_case(opened: Open) -> None:
    page_data = world(FRUIT)
    sign = CAUSE_NOTES["stale_index"].sign
    attributions = {
        config: {
            case_id: structs.replace(
                attribution, cause="stale_index", sign=sign, confidence="medium", also=("judge_noise",)
            )
            for case_id, attribution in by_case.items()
        }
        for config, by_case in page_data.attributions.items()
    }
    page = opened(replace(page_data, attributions=attributions))
    assert f"ost likely {sign}" in page.text(".todo-list") and f"erhaps {sign}" not in page.text(".todo-list")


def test_what_leaks_now_and_no_longer_is_said_in_the_language_of_the_page(opened: Open) -> None:
    page_data = world(FRUIT)
    assert page_data.comparison is not None
    some = next(iter(page_data.comparison.metrics.values()))
    cases = (
        CaseChange("apple0", None, None, scores={"visibility_leaks": (2.0, 0.0)}),
        CaseChange("apple1", None, None, scores={"visibility_leaks": (0.0, 1.0)}),
    )
    metrics = {
        **page_data.comparison.metrics,
        "visibility_leaks": structs.replace(some, metric="visibility_leaks", baseline=0.0),
    }
    page_data = replace(page_data, comparison=structs.replace(page_data.comparison, metrics=metrics, cases=cases))
    assert "leaks: now in 1 case (apple1), no longer in 1 case (apple0)" in opened(page_data).text("#what-changed")
    page = opened(page_data, language="vi")
    page.until("document.documentElement.lang === 'vi'")
    shown = page.text("#what-changed")
    assert "Rò rỉ: nay có ở 1 câu (apple1); nay đã hết ở 1 câu (apple0)" in shown
    assert "leaks" not in shown


def test_the_english_signs_and_remedies_of_the_page_are_those_of_the_rules() -> None:
    """The page translates a text only if it is the one that it knows."""
    strings = (Path(__file__).parents[2] / "ui/src/strings.ts").read_text(encoding="utf-8")
    fixes: dict[str, str] = {cause: note.fix for cause, note in CAUSE_NOTES.items()}
    fixes["generator.over_refusal"] = OVER_REFUSAL_NOTE.fix
    for (cause, subcause), note in SUBCAUSE_NOTES.items():
        if note.fix != fixes[cause]:
            fixes[f"{cause}.{subcause}"] = note.fix
    texts = re.sub(r'": *\n *"', '": "', strings)
    for module in pkgutil.walk_packages(attribution.__path__, "assay.attribution."):
        constants = vars(import_module(module.name))
        asked = [text for name, text in constants.items() if re.match("_?RECORD_", name)]
        for text in asked:
            (key,) = re.findall(rf'"(remedy[.]insufficient_trace[.]\w+)": "record {re.escape(text)}",', texts)
            assert 2 == texts.count(f'"{key}": ')
    signs: dict[str, str] = {cause: note.sign for cause, note in CAUSE_NOTES.items()}
    signs |= {f"{cause}.{subcause}": note.sign for (cause, subcause), note in SUBCAUSE_NOTES.items()}
    signs |= {"generator.over_refusal": OVER_REFUSAL_NOTE.sign, "reranker.unseen": UNSEEN_RANKING_NOTE.sign}
    signs |= {f"{cause}.unseen": note.sign for cause, note in UNSEEN_SEARCH_NOTES.items()}
    signs |= {"search.unseen": UNSEEN_SEARCH}
    signs |= {"context_builder.candidate": CONTEXT_NOTE.sign}
    for name, sign in signs.items():
        assert f'"sign.{name}": "{sign}"' in texts
        assert 2 == texts.count(f'"sign.{name}": ')
    for name, fix in fixes.items():
        assert f'"remedy.{name}": "{fix}"' in texts
        assert 2 == texts.count(f'"remedy.{name}": ')


def test_the_matrix_shows_the_answers_of_all_configurations_side_by_side(opened: Open) -> None:
    page = opened(world(FRUIT), "#/matrix")
    page.until("document.querySelectorAll('.matrix tbody tr').length === 12")
    assert ["CASE", "APPLE", "APPLE2"] == page.text(".matrix thead").strip().upper().split("\t")
    row = page.evaluate("document.querySelector('.matrix tbody tr').innerText")
    for text in ("apple0", "apple question", "Expected: apple", "passed", "First apple. Second apple!", "no evidence"):
        assert text in row
    page.choose("status", "leaked")
    page.until("document.querySelectorAll('.matrix tbody tr').length === 3")
    assert "#/matrix?config=apple&status=leaked" == page.evaluate("location.hash")
    page.choose("differing", "yes")  # both configurations have the same outcomes
    page.until("document.querySelector('main').innerText.includes('No case matches')")


def test_the_matrix_is_read_by_keys_and_in_pages(opened: Open) -> None:
    page = opened(world([f"fruit{number}-" for number in range(60)]), "#/matrix")
    page.until("document.querySelectorAll('.matrix tbody tr').length === 50")
    page.evaluate("document.querySelector('.scroll').focus()")
    page.press("ArrowDown")
    page.press("ArrowDown")
    assert "fruit1-1" == page.evaluate("document.activeElement.innerText")
    page.press("ArrowUp")
    assert "fruit0-0" == page.evaluate("document.activeElement.innerText")
    page.evaluate("document.querySelector('nav.links a').click()")
    page.until("document.querySelectorAll('.matrix tbody tr').length === 10")
    assert "Cases 51 to 60 of 60" == page.text(".count")


def test_a_case_shows_five_scores_and_folds_the_others(opened: Open) -> None:
    page = opened(world(FRUIT), "#/case/apple0")
    page.until("document.querySelector('.key-scores') !== null && document.querySelector('#scores') !== null")
    assert "MRR@10" in page.text(".key-scores")
    assert 0 == page.evaluate("document.querySelectorAll('#scores details[open]').length")
    assert "All scores" in page.text("#scores summary")
    page.evaluate("document.activeElement.blur()")
    page.evaluate("window.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))")
    page.until("document.querySelector('h1').innerText === 'pear1'")


def test_the_keyboard_reaches_everything(opened: Open) -> None:
    page = opened(world(FRUIT))
    page.press("Tab")
    assert "Skip to the content" == page.evaluate("document.activeElement.innerText")
    page.press("Enter")
    assert "content" == page.evaluate("document.activeElement.id")
    page.show("#/cases", f"{ROWS} > 0")
    page.evaluate("document.querySelector('.list').focus()")
    page.press("ArrowDown")
    page.until("document.activeElement.innerText === 'apple0'")
    page.press("ArrowDown")
    page.until("document.activeElement.innerText === 'pear1'")
    page.press("End")
    page.until("document.activeElement.innerText === 'mango11'")
    page.press("Home")
    page.until("document.activeElement.innerText === 'apple0'")
    page.press("Enter")
    page.until("location.hash.startsWith('#/case/apple0')")


def test_every_focus_can_be_seen(opened: Open) -> None:
    page = opened(world(FRUIT))
    for _ in range(8):
        page.press("Tab")
        style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style == "solid", page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


def test_the_page_is_in_the_language_of_the_browser(opened: Open) -> None:
    page = opened(world(FRUIT), language="vi-VN")
    assert "vi" == page.evaluate("document.documentElement.lang")
    assert "Không đạt" in page.text("h1")
    page.evaluate("document.querySelector('.languages button').click()")
    page.until("document.documentElement.lang === 'en'")
    assert "Fail" in page.text("h1")


def resize(page: Page, width: int) -> None:
    """Give the window another width: how a page looks depends on it alone, not on the width at which it was opened."""
    page.look(width)
    page.until(f"innerWidth === {width}")


@pytest.mark.parametrize("fragment", ["", "#/cases", "#/case/apple0", "#/comparison", "#/matrix"])
def test_the_page_never_scrolls_sideways(opened: Open, fragment: str) -> None:
    page = opened(world([*FRUIT, "w" * 300]), fragment, width=360)
    page.until("document.querySelector('.print-only, .row, #scores, #regressed, .matrix') !== null")
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    for width in (360, 700, 1000, 1600):
        resize(page, width)
        assert width == page.evaluate("document.documentElement.scrollWidth")
        assert [] == page.evaluate(CLIPPED), width


@pytest.mark.parametrize(
    "configs", [FRUIT[:5], ("a-very-long-configuration-name-of-a-search", "baseline", "empty", "none", "raises")]
)
def test_the_summary_of_five_configurations_fits_a_narrow_screen(opened: Open, configs: tuple[str, ...]) -> None:
    page = opened(world(configs), width=360)
    page.until("document.querySelector('.outcomes .many') !== null")
    assert 360 == page.evaluate("document.documentElement.scrollWidth")
    assert page.evaluate(
        "[...document.querySelectorAll('.outcomes table')].every((table) => table.getBoundingClientRect().right <= 360)"
    )


def test_a_filter_of_the_address_that_no_case_has_is_shown_as_chosen(opened: Open) -> None:
    page = opened(world(FRUIT), "#/cases?status=bogus&tag=nowhere")
    page.until("document.querySelector('select[name=status]') !== null")
    assert page.text(".count").startswith("0 of")
    for name, value in (("status", "bogus"), ("tag", "nowhere"), ("behaviour", "")):
        chosen = f"document.querySelector('select[name={name}]').selectedOptions[0]"
        assert (value, value or "any") == (page.evaluate(f"{chosen}.value"), page.evaluate(f"{chosen}.text"))


def test_what_a_row_of_the_list_cuts_is_its_title(opened: Open) -> None:
    page = opened(world(FRUIT), "#/cases")
    page.until("document.querySelector('.row-question') !== null")
    for place in (".row-question", ".row-marks .hint"):
        assert page.evaluate(
            f"[...document.querySelectorAll('{place}')].every((cell) => cell.title === cell.textContent)"
        ), place
    assert page.evaluate("document.querySelector('.row-question').title.length > 0")


def test_print_shows_the_summary_and_the_failed_cases(opened: Open, tmp_path: Path) -> None:
    page = opened(world(FRUIT))
    page.until("document.querySelector('.print-only') !== null")
    assert "Failed cases" not in page.text().splitlines()
    page.call("Emulation.setEmulatedMedia", media="print")
    shown = page.text()
    assert "Failed cases" in shown.splitlines() and "grape5" in shown and "Release gate" in shown
    assert "none" == page.evaluate("getComputedStyle(document.querySelector('.top')).display")
    page.print(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")


def test_print_cuts_no_card_of_a_failed_case(opened: Open) -> None:
    page = opened(world(FRUIT))
    page.call("Emulation.setEmulatedMedia", media="print")
    assert {"avoid"} == set(
        page.evaluate("[...document.querySelectorAll('.failure')].map((card) => getComputedStyle(card).breakInside)")
    )


@pytest.mark.parametrize("width", [1000, 1400])
def test_names_of_any_length_leave_every_column_on_the_screen(opened: Open, width: int) -> None:
    page = opened(world(["n" * 250, "another" * 9, "plum"]), width=width)
    cut_off = """[...document.querySelectorAll('#about .scroll, #inputs .scroll')]
        .filter((region) => region.scrollWidth > region.clientWidth + 1).length"""
    assert 0 == page.evaluate(cut_off)


def test_no_word_of_a_head_of_slices_is_broken(opened: Open) -> None:
    page_data = world(FRUIT)
    configs = {}
    for name, result in page_data.scoring.configs.items():
        answer = {"correct_answer": structs.replace(result.summary["rr@10"], metric="correct_answer")}
        slices = {key: {**summaries, **answer} for key, summaries in result.slices.items()}
        configs[name] = structs.replace(result, summary={**result.summary, **answer}, slices=slices)
    page = opened(replace(page_data, scoring=structs.replace(page_data.scoring, configs=configs)))
    broken = """[...document.querySelectorAll('#slices thead th')].flatMap((head) => {
            const text = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
            const pieces = [];
            for (let node = text.nextNode(); node; node = text.nextNode()) {
                for (const word of node.data.matchAll(/\\w+/g)) {
                    const range = document.createRange();
                    range.setStart(node, word.index);
                    range.setEnd(node, word.index + word[0].length);
                    pieces.push([word[0], range.getClientRects().length]);
                }
            }
            return pieces;
        })"""
    for width in (360, 700, 1000):
        resize(page, width)
        lines = page.evaluate(broken)
        assert "correctness" in [word for word, _ in lines]
        assert [] == [word for word, count in lines if count > 1], width


def test_a_table_that_goes_on_behind_the_edge_shows_it(opened: Open) -> None:
    """The shadow of an edge: the cover moves with the content, the shadow does not."""
    page = opened(world(FRUIT), width=360)
    attachments = "getComputedStyle(document.querySelector('#slices .scroll')).backgroundAttachment"
    assert "local, local, scroll, scroll" == page.evaluate(attachments)
    page.call("Emulation.setEmulatedMedia", media="print")
    assert "none" == page.evaluate("getComputedStyle(document.querySelector('#slices .scroll')).backgroundImage")


@pytest.mark.parametrize("media", ["screen", "print"])
def test_the_gains_of_a_comparison_are_drawn_large_enough_to_be_read(opened: Open, media: str) -> None:
    page = opened(world(FRUIT), "#/comparison", width=1000)
    page.until("document.querySelector('.gains .dot') !== null")
    page.call("Emulation.setEmulatedMedia", media=media)
    widths = page.evaluate(
        "[...document.querySelectorAll('#gains .dot')].map((dot) => dot.getBoundingClientRect().width)"
    )
    assert [] == [width for width in widths if 0 < width < 60]
    assert any(widths)


def test_lists_of_one_case_and_of_none_are_called_so(opened: Open) -> None:
    page = opened(world(FRUIT[:2]), "#/comparison")
    page.until("document.querySelector('#better a') !== null")
    assert "See the case" in page.text("#better") and "See the case" in page.text("#worse")
    assert "none" in page.text("#improved")
    assert not re.search(r"See the [01] cases", page.text())


def test_no_mark_of_a_chart_is_cut_off_in_a_narrow_column(opened: Open) -> None:
    page_data = world(FRUIT)
    (config, result), *_ = page_data.scoring.configs.items()
    best = {name: structs.replace(summary, value=1.0) for name, summary in result.summary.items()}
    configs = {f"{config}{number}": structs.replace(result, summary=best) for number in range(6)}
    scoring = structs.replace(page_data.scoring, configs=configs)
    page = opened(replace(page_data, scoring=scoring, attributions={}, details=[], comparison=None), width=360)
    page.until("document.querySelector('#metrics .dot circle') !== null")
    cut = """[...document.querySelectorAll('#metrics .dot circle')].filter((dot) => {
        const [mark, picture] = [dot, dot.closest('svg')].map((item) => item.getBoundingClientRect());
        return mark.width > 0 && (mark.right > picture.right || mark.left < picture.left);
    }).length"""
    for width in (360, 700, 1000):
        resize(page, width)
        assert 0 == page.evaluate(cut), width


@pytest.mark.parametrize("width", [1000, 1400])
def test_a_bound_is_on_one_line_and_names_of_metrics_break_at_their_joints(opened: Open, width: int) -> None:
    page_data = world(FRUIT)
    name = "citation_correctness(by=rules)"
    summaries = {
        config: structs.replace(
            result, summary=result.summary | {name: structs.replace(result.summary["rr@10"], metric=name)}
        )
        for config, result in page_data.scoring.configs.items()
    }
    page = opened(replace(page_data, scoring=structs.replace(page_data.scoring, configs=summaries)), width=width)
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    lines = """[...document.querySelectorAll('.rules td.number')].map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map((part) => part.top)).size;
    })"""
    assert {1} == set(page.evaluate(lines))
    pieces = page.evaluate(
        """[...document.querySelectorAll('#metrics tbody th .hint bdi')].map((name) => {
            const texts = [...name.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
            return texts.map((text) => {
                const range = document.createRange();
                range.selectNodeContents(text);
                return [text.data, range.getClientRects().length];
            });
        })"""
    )
    assert ["citation_", "correctness", "(by=", "rules)"] in [[text for text, _ in name] for name in pieces]
    assert {1} == {lines for name in pieces for _, lines in name}


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (in ui/: npm ci)")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_accessibility_violation(opened: Open, dark: bool) -> None:
    """In dark colours only what depends on colours can differ from the light page."""
    page = opened(world(FRUIT), dark=dark)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    rules = ", runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }" if dark else ""
    for fragment, ready in (
        ("#/", ".print-only"),
        ("#/cases", ".row"),
        ("#/case/apple0", "#answer"),
        ("#/comparison", "#regressed"),
        ("#/matrix", ".matrix"),
    ):
        page.show(fragment, f"document.querySelector({ready!r}) !== null")
        violations = page.evaluate(
            f"axe.run({{ resultTypes: ['violations']{rules} }})"
            ".then(result => result.violations.map(item => [item.id, item.nodes[0].html]))"
        )
        assert [] == violations, fragment


def test_the_checks_of_these_tests_notice_what_they_look_for(running: Browser, tmp_path: Path) -> None:
    """A page that does everything wrong: if nothing is recorded, the tests above are worthless."""
    path = tmp_path / "bad.html"
    path.write_text(
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; script-src 'unsafe-inline'\">"
        "<main><p>bad</p></main><script>console.error('bad'); fetch('https://attacker.example/'); eval('1')</script>"
        f"<img src={quote('https://attacker.example/x.png', safe=':/')}>"
    )
    page = running.open(path)
    page.until("document.readyState === 'complete'")
    page.evaluate("setTimeout(() => { throw new Error('thrown') }), null")
    page.until("performance.now() > 0")
    kinds = {event.split(" ")[0] for event in page.wrong}
    page.close()
    assert {"console", "exception", "policy"} <= kinds


def test_changes_on_slices_are_unpacked_when_they_are_looked_at(opened: Open) -> None:
    page = opened(world(FRUIT), "#/comparison")
    page.until("document.querySelector('#compared-slices') !== null")
    assert 0 == page.evaluate("document.querySelectorAll('#compared-slices table').length")
    page.evaluate("document.querySelector('#compared-slices summary').click()")
    page.until("document.querySelectorAll('#compared-slices tbody tr').length > 0")
    assert "-0.100" in page.text("#compared-slices")


def test_the_table_of_gains_is_whole_on_a_window_of_1000_pixels(opened: Open) -> None:
    """Eleven columns; before, p and what could be detected were behind a scroll bar, and heads broke inside words."""
    page = opened(world(FRUIT), "#/comparison", width=1000, height=900)
    page.until("document.querySelector('table.metrics') !== null")
    hidden = "(node => node.scrollWidth - node.clientWidth)(document.querySelector('table.metrics').closest('.scroll'))"
    assert 0 == page.evaluate(hidden)
    lines = "[...document.querySelectorAll('table.metrics thead th')].map(head => head.getClientRects()[0].height)"
    assert max(page.evaluate(lines)) < 80, "no head is broken into more lines than it has words"


def test_what_was_compared_is_whole_on_a_window_of_1000_pixels(opened: Open) -> None:
    """The digest of a judge is one word of 71 characters."""
    page_data = world(FRUIT)
    assert page_data.comparison is not None
    versions = {"generator": ("small-instruct-2",), "embedding": ("hashed-ngrams-1",)}
    side = structs.replace(page_data.comparison.baseline, judge=f"sha256:{'c10ada0c' * 8}", versions=versions)
    compared = structs.replace(page_data.comparison, baseline=side, candidate=side)
    page = opened(replace(page_data, comparison=compared), "#/comparison", width=1000, height=900)
    page.until("document.querySelector('#sides .scroll') !== null")
    assert 0 == page.evaluate("(node => node.scrollWidth - node.clientWidth)(document.querySelector('#sides .scroll'))")


def test_the_table_of_rules_is_whole_on_a_window_of_1000_pixels(opened: Open) -> None:
    """Nine columns; before, the last one, which says what was found, ended behind a scroll bar."""
    page_data = world(FRUIT)
    message = "recall@10 is 0.800 on both sides, the same on each of 10 cases; a loss of up to 0.285 is still possible"
    results = tuple(
        RuleResult(Rule(metric, max_regression=0.05, slice=part), "inconclusive", 0.8, 10, message, detectable=0.506)
        for metric in ("recall@10", "critical_hallucinations(by=judge)", "citation_correctness(by=rules)")
        for part in (None, "tag=permission_denied")
    )
    decision = Decision("PASS_WITH_RISK", (message,), results)
    configs = {name: structs.replace(result, decision=decision) for name, result in page_data.scoring.configs.items()}
    page = opened(replace(page_data, scoring=structs.replace(page_data.scoring, configs=configs, decision=decision)))
    page.look(1000, 900)
    page.until("window.innerWidth === 1000 && document.querySelector('#gate .scroll') !== null")
    hidden = page.evaluate("(node => node.scrollWidth - node.clientWidth)(document.querySelector('#gate .scroll'))")
    assert 0 == hidden


TAGS = "billing multi-hop policy compliance escalation permission_denied numeric sales support tax usage onboarding"
SIDEWAYS = "[...document.querySelectorAll('.scroll')].filter(node => node.scrollWidth > node.clientWidth).length"


def test_slices_and_causes_of_many_tags_are_whole_on_a_window_of_1000_pixels(opened: Open) -> None:
    """A column for each metric and for each tag; before, the last ones were behind a scroll bar."""
    page = opened(world(TAGS.split()))
    page.look(1000, 900)
    page.until("window.innerWidth === 1000 && document.querySelector('#causes .scroll') !== null")
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    assert 14 == page.evaluate("document.querySelectorAll('#causes thead th.number').length")
    assert 0 == page.evaluate(SIDEWAYS)


def test_a_matrix_of_five_configurations_is_whole_on_a_window_of_1000_pixels(opened: Open) -> None:
    page_data = world(FRUIT)
    first = next(iter(page_data.scoring.configs))
    names = [f"hybrid-search-{number}" for number in range(5)]
    details = [replace(item, views=dict.fromkeys(names, item.views[first])) for item in page_data.details]
    configs = dict.fromkeys(names, page_data.scoring.configs[first])
    several = replace(
        page_data,
        scoring=structs.replace(page_data.scoring, configs=configs, stages={}),
        details=details,
        attributions=dict.fromkeys(names, page_data.attributions[first]),
    )
    page = opened(several, "#/matrix", width=1000, height=900)
    page.until("document.querySelectorAll('.matrix thead th').length === 6")
    assert 0 == page.evaluate(SIDEWAYS)


def test_causes_that_are_not_listed_openly_are_counted(opened: Open) -> None:
    page = opened(world(FRUIT))
    page.evaluate("document.querySelector('.other-causes').open = true")
    counts = re.findall(r"× (\d+)", page.text("#todo"))
    failed = page.evaluate(
        "JSON.parse(document.getElementById('report').textContent).failures.reduce((n, {total}) => n + total, 0)"
    )
    assert failed == sum(map(int, counts))
    assert len(counts) > 3
