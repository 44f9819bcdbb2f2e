"""Hostile texts in every field of a report: none of them may have an effect in the browser."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from tests.browser.conftest import Open
from tests.browser.payloads import PAYLOADS
from tests.report.html_world import world

pytestmark = pytest.mark.slow


def test_no_text_in_any_field_acts(opened: Open) -> None:
    """No dialog, request, violation or error in any view of any case; `opened` checks that at the end."""
    page = opened(world(PAYLOADS))
    page.until("document.querySelector('.print-only') !== null")
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    page.show("#/comparison", "document.querySelector('#regressed') !== null")
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    page.show("#/matrix", "document.querySelector('.matrix') !== null")
    page.show("#/cases", "document.querySelector('.row') !== null")
    for index, text in enumerate(PAYLOADS):
        fragment = f"#/case/{quote(f'{text}{index}', safe='')}"
        page.show(fragment, "document.querySelector('#asked') !== null")
        page.until(f"decodeURIComponent(location.hash) === decodeURIComponent({fragment!r})")
        page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
        page.until("document.querySelector('main :is(script, img, iframe, style, link, form[action])') === null")
        assert [] == page.wrong, text
    assert 61 == len(PAYLOADS)


def test_characters_that_hide_or_reverse_text_are_shown_as_escapes(opened: Open) -> None:
    page = opened(world(["\u202eevil\u2066", "zero\u200bwidth"]), "#/case/%E2%80%AEevil%E2%81%A60")
    page.until("document.querySelector('#asked') !== null")
    shown = page.text()
    assert "\\u202eevil\\u2066" in shown
    assert "\u202e" not in shown


def test_links_stay_inside_the_report(opened: Open) -> None:
    page = opened(
        world(["https://attacker.example/", "javascript:alert(1)"]), "#/case/https%3A%2F%2Fattacker.example%2F0"
    )
    page.until("document.querySelector('#scores') !== null")
    links = page.evaluate("[...document.querySelectorAll('a')].map(item => item.getAttribute('href')[0])")
    assert {"#"} == set(links)
