"""Segmentation of answers into claims and assignment of citation markers."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.claims.claim_segments import segment_claims


def said(answer: str) -> list[str]:
    return [claim.text for claim in segment_claims(answer)]


def cited(answer: str, *citation_ids: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(claim.text, claim.cites) for claim in segment_claims(answer, citation_ids)]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "…",
        "# Annual leave",
        "Here is a summary:",
        "Here is a summary of the leave policy.",
        "Dưới đây là các điểm chính:",
        "Based on the provided context, the details are:",
        "Sure! I hope this helps. Let me know if you have any questions.",
        "Chắc chắn rồi! Hy vọng thông tin này hữu ích.",
        "Would you like to know more?",
        "هل تريد المزيد؟",
        "Yes.",
        "Không.",
        "I don't have enough information to answer this.",
        "Tôi không tìm thấy thông tin về chính sách này.",
        "You do not have permission to see this document.",
        "Please contact HR for details.",
        "```\nleave = 12\n```",
        "References:\n[1] Employee Handbook\n[2] https://x.y",
        "Nguồn: [1], [2]",
        "| a | b |\n|---|---|",
        "***",
        "[1]",
    ],
)
def test_these_claim_nothing(answer: str) -> None:
    assert [] == said(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "12 days",
        "Paris",
        "**Paris**",
        "Employees must contact Security when a laptop is lost.",
        "Yes, staff get 12 days.",
        "有十二天。",
        "Here is the limit: 600 requests.",
        "Không được hứa SLA riêng qua email.",
    ],
)
def test_these_are_claims(answer: str) -> None:
    assert 1 == len(said(answer))


def test_items_and_sentences_are_claims_without_their_lead_in() -> None:
    answer = (
        "Here is a summary:\n\n## Leave\n1. Staff get 12 days. They ask a manager.\n"
        "   - part-time staff: in proportion\n\nAnything else?"
    )
    assert ["Staff get 12 days.", "They ask a manager.", "part-time staff: in proportion"] == said(answer)


def test_a_table_row_is_a_claim_with_its_header() -> None:
    answer = "| Plan | P1 | |\n|:--|--:|--|\n| Pro | 30 min [sla:v1:c3] | x |\n| - | | |\n\n| Basic | 1 h |"
    assert [("Plan: Pro; P1: 30 min; x", ("sla:v1:c3",)), ("Basic; 1 h", ())] == cited(answer)


def test_markers_belong_to_the_claim_in_or_before_which_they_stand() -> None:
    assert [
        ("Staff get 12 days.", ("1", "2")),
        ("They ask, a manager approves.", ("3", "4")),
        ("Interns get 6.", ("5",)),
    ] == cited("Staff get 12 days.[1][2] They ask [3], a manager approves [4].\n[5] Interns get 6.")


def test_a_line_of_markers_belongs_to_the_claim_above_it() -> None:
    assert [("The limit is 600.", ("api:v3:2",)), ("Use keys.", ())] == cited(
        "The limit is 600.\n(Source: api:v3:2)\n\nUse keys.\n\n[9]"
    )


def test_known_names_are_markers_in_parentheses_and_behind_a_full_stop() -> None:
    answer = "Staff get 12 days (hr leave). hr_leave They ask (max_wait)."
    assert [("Staff get 12 days.", ("hr leave", "hr_leave")), ("They ask (max_wait).", ())] == cited(
        answer, "hr leave", "hr_leave"
    )


def test_refusals_are_left_out_and_other_statements_are_kept() -> None:
    assert ["The base limit is 600 requests."] == said(
        "Sorry, I cannot share salary data. The base limit is 600 requests."
    )


def test_references_end_with_the_next_paragraph() -> None:
    assert ["Staff get 12 days.", "Managers get 15 days."] == said(
        "Staff get 12 days.\n\nSources:\n- [1] Handbook, page 3\n\nManagers get 15 days."
    )


def test_spans_are_places_in_the_answer_as_given() -> None:
    answer = "Có. Nhân viên được 12 ngày. Quản lý duyệt."
    apart = unicodedata.normalize("NFD", answer)
    assert ["Nhân viên được 12 ngày.", "Quản lý duyệt."] == [answer[c.start : c.end] for c in segment_claims(answer)]
    assert said(answer) == [unicodedata.normalize("NFC", apart[c.start : c.end]) for c in segment_claims(apart)]


@given(st.text(max_size=120) | st.text(alphabet="ab. \n|-#*[]()12。ế\u0323?!:>ㄱ\u1100\u1161", max_size=80))
def test_claims_are_ascending_disjoint_and_stand_in_the_answer(answer: str) -> None:
    at = 0
    for number, claim in enumerate(segment_claims(answer), 1):
        assert f"c{number}" == claim.id
        assert at <= claim.start < claim.end <= len(answer)
        assert any(map(str.isalnum, claim.text))
        at = claim.end


@given(st.text(alphabet="ab. \n|-#*[]12。ế\u0323Điề?!:>\u1100\u1161", max_size=80))
def test_claims_do_not_depend_on_composition(answer: str) -> None:
    forms = [segment_claims(unicodedata.normalize(form, answer)) for form in ("NFC", "NFD")]
    assert [(c.text, c.cites) for c in forms[0]] == [(c.text, c.cites) for c in forms[1]]


@given(
    st.lists(
        st.sampled_from(["Staff get 12 days", "Quản lý duyệt", "[1]", "(a:1)", "\n- ", "\n\n", ". ", "? "]), max_size=12
    )
)
def test_the_words_of_a_claim_stand_in_its_span(parts: list[str]) -> None:
    answer = "".join(parts)
    for claim in segment_claims(answer):
        remaining = iter(answer[claim.start : claim.end])
        assert all(letter in remaining for letter in claim.text if not letter.isspace())


def test_endless_answers_are_read_up_to_a_limit() -> None:
    assert 200_000 >= segment_claims("Staff get 12 days. " * 20_000)[-1].end > 199_000


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("It costs $5 [1].\n\n[1] pricing.md\n[2] terms.md, section 3", [("It costs $5.", ("1",))]),
        ("It costs $5 [1].\n[1] pricing.md", [("It costs $5.", ("1",))]),
        ("It costs $5.\n\n[1] HR handbook, p. 4\n[2] Price list", [("It costs $5.", ())]),
        ("[1] Staff get 12 days.", [("Staff get 12 days.", ("1",))]),
        ("name,price,seats\nPro,49,5\nBasic,9,1", [("Pro,49,5", ()), ("Basic,9,1", ())]),
        ("Red, green, blue\nare the colours of 3 lamps.", [("Red, green, blue are the colours of 3 lamps.", ())]),
        ("II.\nStaff get 12 days.", [("Staff get 12 days.", ())]),
        ("The plan - support included - costs $5.", [("The plan - support included - costs $5.", ())]),
    ],
)
def test_lists_of_sources_headers_and_numbering_are_no_claims(
    answer: str, claims: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert claims == [(claim.text, claim.cites) for claim in segment_claims(answer)]
