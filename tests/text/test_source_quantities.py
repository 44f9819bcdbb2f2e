"""The quantities of a claim are compared with those of its sources as values, whatever their digits are."""

from __future__ import annotations

import pytest

from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.claims.short_answers import score_short_answer
from assay.text.claims.source_support import SourceSupport
from assay.text.quantities.placed_quantities import place_quantities
from assay.text.tokens import DocumentFrequencies, parse_terms

FREQUENCIES = DocumentFrequencies.from_texts([])


def support(claim: str, source: str) -> SourceSupport:
    """Score a claim by one source."""
    return score_support(claim, IndexedSources([("source", source)], FREQUENCIES))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The school in Vinh has more than 300 pupils.", "The Vinh school has 341 pupils."),
        ("The bridge cost less than $3 million.", "The bridge cost $2,418,050."),
        ("The bus departs at 4:40 pm.", "The bus departs at 16:40."),
        ("The lease runs for 36 months.", "The lease runs for 3 years."),
        ("The farm used 4,200 kWh in June.", "The farm used 4.2 MWh in June."),
        ("Hợp đồng kéo dài 36 tháng.", "Hợp đồng kéo dài 3 năm."),
        ("Tàu chạy lúc 4 giờ 40 chiều.", "Tàu chạy lúc 16:40."),
    ],
)
def test_a_value_in_another_form_is_no_missing_fact(claim: str, source: str) -> None:
    claim_support = support(claim, source)
    assert claim_support.score > 0.8
    assert not claim_support.missing_facts
    assert not claim_support.contradictions


@pytest.mark.parametrize(
    ("claim", "source", "words"),
    [
        ("The test takes 20 minutes.", "The test takes 20–45 minutes.", '"20 minutes" where the source has'),
        (
            "The farm used 4.2 GWh in June.",
            "The farm used 4.2 MWh in June.",
            '"4.2 GWh" where the source has "4.2 MWh"',
        ),
        ("The bus departs at 5:40 pm.", "The bus departs at 16:40.", '"5:40 pm" where the source has "16:40"'),
        ("The lease runs for 4 years.", "The lease runs for 36 months.", '"4 years" where the source has "36 months"'),
    ],
)
def test_another_value_is_a_contradiction_although_its_digits_are_there(claim: str, source: str, words: str) -> None:
    claim_support = support(claim, source)
    assert claim_support.verdict == "contradicted"
    assert claim_support.contradictions[0].startswith(words)
    assert claim_support.score < 0.1


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The school in Vinh has more than 400 pupils.", "The Vinh school has 341 pupils."),
        ("The school in Vinh has more than 300 pupils.", "The Vinh school opened in 1987."),
    ],
)
def test_a_bound_that_no_value_keeps_is_not_supported(claim: str, source: str) -> None:
    assert support(claim, source).score < 0.2


def test_the_opposite_bound_is_less_supported() -> None:
    source = "A ticket for the tower costs at most 9 euros."
    assert support("A ticket for the tower costs at least 9 euros.", source).fact == 1
    assert support("A ticket for the tower costs at most 9 euros.", source).fact == 0


def test_a_value_of_which_the_source_has_a_bound_only_is_less_supported_than_the_bound() -> None:
    source = "A refund takes up to 10 days after the return."
    assert support("A refund takes 10 days after return.", source).score < 0.8
    assert support("A refund takes up to 10 days after return.", source).score > 0.9


def test_both_ends_of_a_range_are_no_other_value() -> None:
    source = "The desk by the gate is open 9 a.m. to 2 p.m. on all days."
    assert not support("The desk by the gate: 9 a.m., 2 p.m. on days.", source).contradictions
    assert support("The desk by the gate is open at 2 p.m. on all days.", source).contradictions


def test_halves_of_split_decimals_contradict_nothing() -> None:
    claim_support = support(
        "The dog was right in 96.4 per cent of cases.", "The dog was right in 96. 4 per cent of the cases."
    )
    assert not claim_support.missing_facts


def test_terms_of_respelled_quantities_are_placed_in_the_text_as_written() -> None:
    read = parse_terms("Mở cửa từ 7h30 và dùng 12kg gạo.")
    placed = place_quantities(read.text, read.items)
    words = [[read.text[read.items[place].start : read.items[place].end] for place in terms] for _, terms in placed]
    assert words == [["7h30"], ["12kg"]]


@pytest.mark.parametrize(
    ("claim", "is_lowered"),
    [
        ("You can borrow up to 20 of them for 4 weeks.", False),
        ("Members may keep it for 4 weeks at home.", True),
        ("Members may keep it for 7 days at home.", False),
    ],
)
def test_the_value_of_something_else_is_no_support_for_what_is_asked(claim: str, is_lowered: bool) -> None:
    sources = IndexedSources(
        [("s", "Members may keep books for 4 weeks. Films are due back after 7 days.")], FREQUENCIES
    )
    asked = score_short_answer(claim, "How long may I keep films?", sources)
    assert (asked.z < score_support(claim, sources).z) == is_lowered


HELMET, LOCK = "A helmet costs 3 euros. Ask at the desk.", "A lock costs 6 euros. It is of steel."


@pytest.mark.parametrize(
    ("claim", "texts", "is_supported"),
    [
        ("A helmet costs 3 euros.", (HELMET, LOCK), True),
        ("A lock costs 6 euros.", (HELMET, LOCK), True),
        ("A helmet costs 6 euros.", (HELMET, LOCK), False),
        ("A lock costs 3 euros.", (HELMET, LOCK), False),
        (
            "The large tent sleeps 4 and weighs 9 kg.",
            ("The large tent weighs 9 kg.", "The small tent weighs 4 kg."),
            True,
        ),
        ("The small tent weighs 9 kg.", ("The large tent weighs 9 kg.", "The small tent weighs 4 kg."), False),
        (
            "Parking costs 2 euros an hour.",
            ("Parking is in the yard. It costs 2 euros an hour.", "Day parking costs 9 euros."),
            True,
        ),
    ],
)
def test_a_value_that_the_sources_have_of_something_else_supports_nothing(
    claim: str, texts: tuple[str, ...], is_supported: bool
) -> None:
    sources = IndexedSources(
        [(str(number), text) for number, text in enumerate(texts)], DocumentFrequencies.from_texts(texts)
    )
    claim_support = score_support(claim, sources)
    assert (claim_support.score > 0.5) == is_supported, claim_support
    assert is_supported or "supported" != claim_support.verdict
    assert not is_supported or not claim_support.contradictions
    assert not claim_support.missing_facts  # a source has each of these values
