"""Round numbers in words ("a hundred") and units of data, decimal and binary, as values of facts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.support.read_texts import find_numbers

from assay.text.facts.stated_facts import judge_facts
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity_agreement import is_same_quantity


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a hundred", ["100"]),
        ("up to a thousand books", ["1000"]),
        ("A million.", ["1000000"]),
        ("a hundred and fifty", ["150"]),
        ("one in a hundred", ["100"]),
        ("half a million", []),
        ("a quarter of a million", []),
        ("many a thousand", []),
        ("hundreds of people", []),
        ("a few hundred", []),
        ("Panda thousand", []),
    ],
)
def test_a_hundred_is_a_number(text: str, values: list[str]) -> None:
    assert [str(number.readings[0]) for number in find_numbers(text)] == values


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("100", "Up to a hundred seats.", "stated"),
        ("100 seats", "There are a hundred seats.", "stated"),
        ("1,000", "You can keep a thousand.", "stated"),
        ("12", "A dozen.", "stated"),
        ("€100", "A hundred euros.", "stated"),
        ("100", "There are a thousand.", "missing"),
        ("100 seats", "Two hundred seats.", "missing"),
        ("1,000", "A hundred.", "missing"),
        ("12 eggs", "Two dozen eggs.", "missing"),
    ],
)
def test_a_round_number_in_words_is_a_value(fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, [fact], "How many can there be at most?")[0].state == state


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("16 TiB", "A volume may be up to 16 TiB.", "stated"),
        ("16 TiB", "16,384 GiB", "stated"),
        ("2 PiB", "2 pebibytes", "stated"),
        ("8 GB", "8000 MB", "stated"),
        ("64 kB", "64 KB", "stated"),
        ("16 TiB", "16 TB", "unknown"),
        ("2 PB", "2 PiB", "unknown"),
        ("8 GiB", "8 GB", "unknown"),
        ("16 TiB", "Up to 16 MiB.", "denied"),
        ("8 GiB", "Up to 8 TiB.", "denied"),
        ("16 TiB", "48 TiB", "missing"),
        ("2 PiB", "2 TiB", "denied"),
    ],
)
def test_a_unit_of_data_is_told_from_others(fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, [fact], "How big may a volume be?")[0].state == state


def test_each_binary_unit_is_1024_of_the_one_before_it() -> None:
    names = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
    for smaller, larger in pairwise(names):
        many, one = (find_measures(text)[0] for text in (f"1024 {smaller}", f"1 {larger}"))
        assert is_same_quantity(one, many)
