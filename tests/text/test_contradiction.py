"""Contradictions: claims written by hand in both languages, and sentences reversed by a single change."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from benchmarks.contradictions import BY_HAND, Made, make_claims
from benchmarks.groundedness import SETS

from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.claims.source_support import SourceSupport
from assay.text.tokens import DocumentFrequencies

NO_IDF = DocumentFrequencies.from_texts([])


def of(claim: str, *texts: str) -> SourceSupport:
    return score_support(claim, IndexedSources([(f"s{i}", text) for i, text in enumerate(texts)], NO_IDF))


@pytest.mark.parametrize("example", BY_HAND, ids=lambda example: example.claim)
def test_only_what_was_changed_is_contradicted(example: Made) -> None:
    result = of(example.claim, example.source)
    assert bool(example.change) == (result.verdict == "contradicted") == bool(result.contradictions)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_one_changed_word_is_mostly_seen_and_a_cut_sentence_hardly_ever(name: str, test_data: Path) -> None:
    """The sources of the data sets, whose sentences nobody chose for this: 30 of each, 20 claims of each source."""
    contradicted = dict.fromkeys(("number", "negation", "opposite", ""), 0)
    of_all = dict(contradicted)
    for text, _ in islice(SETS[name](test_data), 30):
        sources = IndexedSources([("source", text[:4000])], NO_IDF)
        for example in islice(make_claims(text[:4000]), 20):
            of_all[example.change] += 1
            contradicted[example.change] += score_support(example.claim, sources).verdict == "contradicted"
    shares = {change: contradicted[change] / count for change, count in of_all.items()}
    assert shares["number"] >= 0.75
    assert shares["negation"] >= 0.7
    assert shares["opposite"] >= 0.6
    assert shares[""] <= 0.005


def test_a_second_sentence_that_says_the_same_overrules_the_first() -> None:
    refused, allowed = "Interns may not enter the lab.", "Interns may enter the lab on Mondays."
    assert "contradicted" == of("Interns may enter the lab", refused).verdict
    assert "contradicted" != of("Interns may enter the lab", refused, allowed).verdict


def test_a_number_of_which_another_sentence_speaks_is_no_contradiction() -> None:
    text = "Standard orders ship within 5 days. Custom orders ship within 9 days."
    assert "contradicted" != of("Orders ship within 9 days", text).verdict


def test_half_a_decimal_of_a_tokenised_text_contradicts_nothing() -> None:
    assert () == of("The top prize is $2.9 million", "The top prize is $ 1. 8 million for the winner").contradictions


@pytest.mark.parametrize("claim", ["", "not", "không", "12", "may not", "ERR-1 ERR-2"])
def test_hardly_any_words_contradict_nothing(claim: str) -> None:
    assert () == of(claim, "Staff may not wait 14 days after ERR-9.", "không").contradictions


@pytest.mark.parametrize(
    ("claim", "source", "is_contradicted"),
    [
        ("The ferry leaves before the tram.", "The tram leaves after the ferry.", False),
        ("The ferry leaves after the tram.", "The ferry leaves before the tram.", True),
        ("The loft is larger than the cellar.", "The cellar is smaller than the loft.", False),
        ("The loft is smaller than the cellar.", "The loft is larger than the cellar.", True),
        ("Trà nằm trên cà phê.", "Trà nằm dưới cà phê.", True),
    ],
)
def test_the_converse_of_a_claim_does_not_contradict_it(claim: str, source: str, is_contradicted: bool) -> None:
    assert is_contradicted is (of(claim, source).verdict == "contradicted")
