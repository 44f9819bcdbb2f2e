"""A source that says a value of somebody else supports no claim that says it of the claim's subject."""

from __future__ import annotations

import pytest

from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.claims.source_support import SourceSupport
from assay.text.tokens import DocumentFrequencies

_OTHERS = ["The choir meets on Monday.", "The hall is closed in May.", "Tickets cost 9 euros.", "Bring a towel."] * 4


def support(claim: str, *sources: str) -> SourceSupport:
    frequencies = DocumentFrequencies.from_texts([*_OTHERS, *sources])
    return score_support(claim, IndexedSources([(str(n), text) for n, text in enumerate(sources)], frequencies))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Members pay 15 euros for the course.", "Guests pay 15 euros for the course. Members bring a mat."),
        ("Members pay 15 euros for the course.", "Guests pay 15 euros for the course; members may borrow a mat."),
        ("Children borrow 6 books at a time.", "Teachers borrow 6 books at a time. Children need a card."),
        ("Hội viên trả 15 nghìn một buổi.", "Khách trả 15 nghìn một buổi. Hội viên được mượn thảm."),
    ],
)
def test_what_a_source_says_of_somebody_else_is_no_support(claim: str, source: str) -> None:
    found = support(claim, source)
    assert found.verdict != "supported" and found.score < 0.2


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Guests pay 15 euros for the course.", "Guests pay 15 euros for the course; members may borrow a mat."),
        ("Members pay 15 euros for the course.", "Members get a key. They pay 15 euros for the course."),
        ("Members pay 15 euros for the course.", "For the course, members pay 15 euros, and guests bring a mat."),
        ("Visitors pay 15 euros for the course.", "Guests pay 15 euros for the course."),  # perhaps the same
        ("Hội viên trả 15 nghìn một buổi.", "Một buổi hội viên trả 15 nghìn. Khách mang thảm riêng."),
    ],
)
def test_what_it_says_of_the_subject_or_of_what_may_be_it_is(claim: str, source: str) -> None:
    assert support(claim, source).score > 0.5
