"""Citation markers, and text that only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.citation_markers import find_citation_markers


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a [1] b", ["1"]),
        ("a [1, 2][4]", ["1", "2", "4"]),
        ("a [2-4] [5–6]", ["2", "3", "4", "5", "6"]),
        ("a [^1] [^note]", ["1", "^note"]),
        ("a [hr_leave:v1:c3, it:v2:c1]", ["hr_leave:v1:c3", "it:v2:c1"]),
        ("a [doc_id] [D1] [S-2] [handbook#3]", ["doc_id", "D1", "S-2", "handbook#3"]),
        ("a [Source 1] [Doc 2, Doc 3] [Nguồn: hr:1]", ["1", "2", "3", "hr:1"]),
        ("a (Source: Employee Handbook) (Nguồn: Sổ tay)", ["Employee Handbook", "Sổ tay"]),
        ("a (hr_leave_policy:003)", ["hr_leave_policy:003"]),
        ("a 【4:0†source】【7】", ["4:0", "7"]),
        ("a.¹² b,³ c<sup>4</sup>", ["12", "3", "4"]),
        ("a [1](https://x.y/z)", ["1"]),
        ("twelve days.hr_leave:v1:c3 Next", ["hr_leave:v1:c3"]),
    ],
)
def test_markers_name_their_sources(text: str, names: list[str]) -> None:
    assert names == [name for marker in find_citation_markers(text) for name in marker.names]


@pytest.mark.parametrize(
    "text",
    [
        "[sic] [REDACTED] [a-z] [0-9] [ ] []",
        "[a link](https://x.y/1)",
        "(2019) (24/7) (e.g. x) (see section 3) (max_wait)",
        "m² and 10³",
        "www.x.com.au_1/ e.g.test_1",
        "Next. Word follows.",
        "(1) (doc)",
    ],
)
def test_other_brackets_are_text(text: str) -> None:
    assert [] == find_citation_markers(text)


def test_known_names_need_no_brackets() -> None:
    text = "a (hr leave) b (1). hr_leave Then c [hr leave]."
    found_markers = find_citation_markers(text, {"hr leave", "1", "hr_leave"})
    assert ["(hr leave)", "(1)", "hr_leave", "[hr leave]"] == [text[m.start : m.end] for m in found_markers]


@given(st.text(alphabet="[](){}【】.,:;-^†123ab_# \n¹²<sup>/", max_size=60))
def test_markers_are_ascending_and_disjoint(text: str) -> None:
    at = 0
    for marker in find_citation_markers(text, {"a b", "1"}):
        assert at <= marker.start < marker.end <= len(text)
        assert marker.names
        at = marker.end
