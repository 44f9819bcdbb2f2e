"""The row of a table that a claim names is compared with it, and no other row."""

from __future__ import annotations

import pytest

from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedPassage, IndexedSources
from assay.text.claims.source_support import SourceSupport
from assay.text.claims.table_rows import list_table_rows
from assay.text.tokens import DocumentFrequencies

NO_IDF = DocumentFrequencies.from_texts([])

ROOMS = """Our rooms.

| Room | Seats | Rent per hour | Deposit |
| --- | --- | --- | --- |
| Elm | 12 | €15 | €50 |
| Oak | 30 | €42 | €120 |
| Oak Terrace | 80 | €95 | €300 |
"""
LOCKS = "lock,weight,price,warranty\nU-lock,1.4 kg,€49,24 months\n"
LOCKS += "Chain,2.1 kg,€65,12 months\nFolding,1.1 kg,€88,36 months\n"
FERRY = """| Tuyến | Giá vé | Thời gian |
|---|---|---|
| Cát Bà | 120.000 đồng | 45 phút |
| Phú Quốc | 340.000 đồng | 150 phút |
"""


def support(claim: str, *texts: str) -> SourceSupport:
    sources = IndexedSources([(f"s{number}", text) for number, text in enumerate(texts)], NO_IDF)
    return score_support(claim, sources)


@pytest.mark.parametrize(
    ("claim", "table"),
    [
        ("Oak: 30 seats, the rent per hour is €42 and the deposit €120.", ROOMS),
        ("Room: Oak; Seats: 30; Rent per hour: €42; Deposit: €120.", ROOMS),
        ("The Oak Terrace room has a rent per hour of €95 and a deposit of €300.", ROOMS),
        ("The folding lock has a weight of 1.1 kg and a price of €88.", LOCKS),
        ("Chain: the price is €65 and the warranty 12 months.", LOCKS),
        ("Tuyến Phú Quốc có giá vé 340.000 đồng và thời gian 150 phút.", FERRY),
    ],
)
def test_the_values_of_a_row_are_not_contradicted_by_another_row(claim: str, table: str) -> None:
    result = support(claim, table)
    assert () == result.contradictions
    assert result.verdict in ("supported", "unknown")
    assert () == result.missing_facts


@pytest.mark.parametrize(
    ("claim", "table", "contradiction"),
    [
        ("Oak: the rent per hour is €47.", ROOMS, '"€47" where the source has "€42"'),
        ("Oak: 30 seats, the rent per hour is €42 and the deposit €125.", ROOMS, '"€125" where the source has "€120"'),
        ("The Oak Terrace room has a deposit of €310.", ROOMS, '"€310" where the source has "€300"'),
        ("The chain lock has a weight of 2.6 kg.", LOCKS, '"2.6 kg" where the source has "2.1 kg"'),
        ("Tuyến Cát Bà có giá vé 125.000 đồng.", FERRY, '"125.000 đồng" where the source has "120.000 đồng"'),
    ],
)
def test_another_value_than_that_of_the_named_row_and_column_is_a_contradiction(
    claim: str, table: str, contradiction: str
) -> None:
    assert contradiction in support(claim, table).contradictions


@pytest.mark.parametrize("claim", ["The rent per hour is €47.", "Elm and Oak: the rent per hour is €47."])
def test_a_claim_that_names_no_row_or_several_is_not_contradicted_by_one(claim: str) -> None:
    assert () == support(claim, ROOMS).contradictions


def test_the_value_of_another_row_is_told_with_the_row_that_is_named() -> None:
    assert ('"€42" where the source has "€15"',) == support("Elm: the rent per hour is €42.", ROOMS).contradictions


def test_the_rows_of_a_table_have_their_own_terms() -> None:
    passage = IndexedPassage(ROOMS)
    texts = [passage.text[passage.terms[own.first].start : passage.terms[own.last - 1].end] for own in passage.rows]
    assert "Room | Seats | Rent per hour | Deposit" == texts[0]
    assert texts[1].startswith("Elm | 12")
    assert [True, False, False, False] == [own.row.is_header for own in passage.rows]


@pytest.mark.parametrize(
    "text",
    [
        "Bring a coat, a hat and gloves.\nBring a map, a torch and water.\nBring a pen, a pad and time.",
        "Elm, oak\nBirch, ash",
        "1,5\n2,5\n3,5",
        "a|b,c\nd|e,f\ng|h,i",
        "",
    ],
)
def test_lines_with_commas_are_no_table(text: str) -> None:
    assert [] == list_table_rows(text)


def test_a_quoted_cell_of_csv_may_hold_a_separator() -> None:
    text = 'part,price,stock\n"Nut, small","€1,200",4\n"Bolt, ""long""",€2,9'
    rows = list_table_rows(text)
    assert ['"Nut, small"', '"€1,200"', "4"] == [text[start:end] for start, end in rows[1].cells]
    assert 3 == len(rows)
