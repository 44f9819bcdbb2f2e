"""Hostile text stays text wherever it is printed."""

from __future__ import annotations

import csv
import html
import io
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import escaping

HOSTILE = {
    "pipe": "a|b",
    "script": "<script>alert(1)</script>",
    "comment": "<!-- hide",
    "link": "[x](javascript:alert(1))",
    "image": "![x](http://evil.example/p.png)",
    "bare link": "http://evil.example www.evil.example",
    "code": "`rm`",
    "heading": "# PASS",
    "list": "- PASS",
    "numbered": "1. PASS",
    "rule": "---",
    "table end": "x |\n\n# PASS",
    "bidi": "abc\u202edcba",
    "zero width": "id\u200b_1",
    "ansi": "\x1b[31mred\x1b[0m",
    "osc": "\x1b]0;title\x07",
    "c1": "\x9b2J",
    "carriage return": "FAIL\rPASS",
    "line separator": "a\u2028b",
    "surrogate": "\udc80",
    "github": "::set-output name=ok::1",
    "github in text": "x\n  ::error::boo",
    "github in a word": "x::error file=a::boo",
    "azure": "see ##vso[task.complete result=Succeeded]",
    "entity": "&lt;b&gt;",
    "backslash": "a\\|b",
    "emphasis": "*PASS* _PASS_ ~~FAIL~~",
}

MARKDOWN = {
    "pipe": "a&#124;b",
    "script": "&lt;script&gt;alert(1)&lt;/script&gt;",
    "link": "&#91;x&#93;(javascript:alert(1))",
    "bare link": "http&#58;//evil.example www&#46;evil.example",
    "code": "&#96;rm&#96;",
    "heading": "&#35; PASS",
    "list": "&#45; PASS",
    "numbered": "1&#46; PASS",
    "rule": "&#45;--",
    "github": "&#58;:set-output name=ok::1",
    "bidi": "abc&#92;u202edcba",
    "entity": "&amp;lt;b&amp;gt;",
    "emphasis": "&#42;PASS&#42; &#95;PASS&#95; &#126;&#126;FAIL&#126;&#126;",
}

TERMINAL = {
    "ansi": "\\u001b[31mred\\u001b[0m",
    "osc": "\\u001b]0;title\\u0007",
    "c1": "\\u009b2J",
    "carriage return": "FAIL\\u000dPASS",
    "surrogate": "\\udc80",
    "github": "\\u003a:set-output name=ok::1",
    "github in text": "x\\u000a  \\u003a:error::boo",
    "github in a word": "x\\u003a:error file=a::boo",
    "azure": "see \\u0023#vso[task.complete result=Succeeded]",
    "script": "<script>alert(1)</script>",
}


@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown_escapes_what_would_have_an_effect(name: str) -> None:
    assert MARKDOWN[name] == escaping.escape_markdown(HOSTILE[name])


@pytest.mark.parametrize("name", HOSTILE)
def test_escaped_markdown_starts_no_construct(name: str) -> None:
    assert not re.search(r"[|`<>*~\[\]\\\n\r]|://|^\s*[-+#]( |$)", escaping.escape_markdown(HOSTILE[name]))


@given(st.text())
def test_markdown_shows_the_same_text_when_rendered(text: str) -> None:
    shown = html.unescape(escaping.escape_markdown(text)).replace("\u200b", "")  # has no width, and stops mentions
    assert escaping.escape_invisible(text) == shown


@pytest.mark.parametrize("text", ["leave_001", "recall@10", "ndcg(gain=linear)@10", "-0.5", "Nghỉ phép năm"])
def test_markdown_leaves_ordinary_text_readable(text: str) -> None:
    assert text == escaping.escape_markdown(text)


@pytest.mark.parametrize("name", TERMINAL)
def test_terminal_shows_control_characters_and_disarms_build_commands(name: str) -> None:
    assert TERMINAL[name] == escaping.escape_terminal(HOSTILE[name])


@given(st.text())
def test_terminal_text_has_no_control_character(text: str) -> None:
    assert not {"Cc", "Cf", "Cs", "Zl", "Zp"} & {unicodedata.category(sign) for sign in escaping.escape_terminal(text)}


@given(st.lists(st.sampled_from([":", "#", "[", "a", " ", "vso"])))
def test_terminal_text_holds_no_build_command_at_any_place(parts: list[str]) -> None:
    shown = escaping.escape_terminal("".join(parts))
    assert not re.search(r"(?:^|\s)::|##[a-z]*\[", shown)


def test_double_colon_inside_a_word_is_left_alone() -> None:
    assert "std::vector ## [x]" == escaping.escape_terminal("std::vector ## [x]")


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\0=1", "＝1", "＋1", "－1", "＠1", "  =1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_csv_cell_that_would_be_a_formula_is_quoted(text: str) -> None:
    assert "'" + text == escaping.escape_csv_cell(text)


@pytest.mark.parametrize("text", ["12 ngày", "a=b", "'=1", ""])
def test_csv_cell_that_is_text_stays(text: str) -> None:
    assert text == escaping.escape_csv_cell(text)


def test_csv_cells_survive_writing_and_reading() -> None:
    cells = [escaping.escape_csv_cell(text) for text in (*FORMULAS, 'say "hi", now', "two\nlines") if "\0" not in text]
    file = io.StringIO(newline="")
    csv.writer(file).writerow(cells)
    assert cells == next(csv.reader(io.StringIO(file.getvalue(), newline="")))


def test_secrets_are_withheld_whatever_their_case_and_the_longest_first() -> None:
    assert "[withheld] and [withheld]" == escaping.withhold_secrets(
        "Band 7 pays and BAND 7", ["band 7", "band 7 pays", ""]
    )


def test_long_text_is_cut_to_one_line() -> None:
    assert "ab cd" == escaping.shorten_to_line(" ab\n\tcd ")
    assert 20 == len(escaping.shorten_to_line("word " * 50, limit=20))
