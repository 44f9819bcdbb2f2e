"""Markdown, HTML and typographic characters come off before texts are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.read_texts import score_keywords

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case, Rubric
from assay.text.answer_similarity import compute_answer_similarity
from assay.text.facts.answer_matching import is_exact_match
from assay.text.markup import remove_markup
from assay.text.tokens import DocumentFrequencies


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("You get **12** days, __at *most*__.", "You get 12 days, at most."),
        ("Pass `--dry-run` to ``` run", "Pass --dry-run to  run"),
        ("snake_case and snake\\_case, 5*3, 2 * 3 * 4", "snake_case and snake_case, 5*3, 2 * 3 * 4"),
        ("[HR](https://example.org/a_b) [1][^2], list[0x]", "HR, list[0x]"),
        ("R&amp;D &lt;b&gt; 10&nbsp;kg &unknown;", "R&D <b> 10 kg &unknown;"),
        ("<p>You <b>get</b> 1<br/>2</p>", "\nYou get 1\n2\n"),
        ("a < b and b > c", "a < b and b > c"),
        ("~~12~~ 14 <del>3</del>", "14 "),
        ("１２％ ½ kg, 1½, m², ﬁne… “a” – b", '12% 0.5 kg, 1.5, m2, fine... "a" - b'),
        ("pass\u200bword en\u00adcryp\u00adtion 12\u2060 days", "password encryption 12 days"),
        ("Được **nghỉ**", "Được nghỉ"),
        ("plain text stays 3.5 (as is) #7", "plain text stays 3.5 (as is) #7"),
    ],
)
def test_a_text_is_compared_as_it_is_read(text: str, plain: str) -> None:
    assert plain == remove_markup(text)


@given(st.text(alphabet="*_`~[]()<>&;#|\\ab1 \n"))
def test_any_mix_of_marks_is_read_without_failing(text: str) -> None:
    assert len(remove_markup(text)) <= len(text)


def test_every_comparison_reads_a_marked_answer_like_a_plain_one() -> None:
    assert 1.0 == score_keywords("You get **12** days.", ["12 days"]).score
    assert is_exact_match("**Paris**&nbsp;", "Paris")
    frequencies = DocumentFrequencies.from_texts([])
    assert 1.0 == compute_answer_similarity("caf&eacute; **noir**", "café noir", "", frequencies)
    number = Case("c", "?", reference="$1.4M", rubric=Rubric(kind="number"))
    for case in (number, Case("c", "?", must_have=("$1.4M",))):
        quality = assess_answer_text(case, "It came to **$1.4**M.")
        assert quality is not None
        assert quality.good


def test_struck_out_text_is_not_said() -> None:
    assert 0.0 == score_keywords("~~12~~ **14** days", ["12 days"]).score


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<!-- b -->c", "a c"),
        ("<!-- a --> b <!-- c -->", "b"),
        ("a <!-- never closed", "a <!-- never closed"),
        ("a <!-- <!-- b --> c", "a c"),
        (f"a <!--{'x' * 2001}--> b", f"a <!--{'x' * 2001}--> b"),
    ],
)
def test_comments_are_no_text(text: str, expected: str) -> None:
    assert expected.split() == remove_markup(text).split()
