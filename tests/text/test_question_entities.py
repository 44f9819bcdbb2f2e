"""Which codes and names a question holds, and which of them some texts lack."""

from __future__ import annotations

import pytest

from assay.text.question_entities import MAX_ENTITIES, find_missing_entities, find_question_entities


@pytest.mark.parametrize(
    ("question", "entities"),
    [
        ("What caused INC-2024-001?", ["INC-2024-001"]),
        ("Is CVE-2024-3094 fixed in release v5.6.1?", ["CVE-2024-3094", "v5.6.1"]),
        ("What does SKU4711 cost?", ["SKU4711"]),
        ("Who reviewed ticket #48213?", ["#48213"]),
        ("Does the VPN work abroad?", ["VPN"]),
        ("When did Maria Lopez join Delft Medical?", ["Maria Lopez", "Delft Medical"]),
        ("What is Marta's budget?", ["Marta"]),
        ("Khi nào chị Nguyễn Thị Lan nghỉ phép?", ["Nguyễn Thị Lan"]),
        ("How many days of leave are there in 2025?", []),
        ("May I carry over 12 days until 31 March?", []),
        ("Can I pay 10km at 2.50 from 3pm on Monday?", []),
        ("What Is The Refund Policy?", []),
        ("Thanks. Where do I apply?", []),
        ("", []),
    ],
)
def test_codes_and_names_are_found_and_nothing_else(question: str, entities: list[str]) -> None:
    assert entities == list(find_question_entities(question))


def test_german_nouns_are_no_names() -> None:
    assert () == find_question_entities("Wie viel Urlaub gibt es in der Probezeit?", "de")
    assert ("INC-7",) == find_question_entities("Wer schloss den Vorfall INC-7?", "de")


def test_a_question_has_a_limited_number() -> None:
    assert MAX_ENTITIES == len(find_question_entities(" ".join(f"AB-{number}" for number in range(100))))


@pytest.mark.parametrize(
    ("entity", "text", "is_missing"),
    [
        ("INC-2024-001", "Incident inc 2024 001 was closed.", False),
        ("INC-2024-001", "INC\u20112024\u2011001", False),
        ("INC-2024-001", "INC-2024-0012 was closed.", True),
        ("INC-2024-001", "The year 2024, and 001.", True),
        ("Delft Medical", "DELFT MEDICAL's offices", False),
        ("Delft Medical", "Delft is a town; medical help is near.", True),
        ("VPN", "the vpn-gateway", False),
        ("VPN", "vpns", True),
    ],
)
def test_an_entity_is_compared_whole(entity: str, text: str, is_missing: bool) -> None:
    assert is_missing == bool(find_missing_entities([entity], [text]))


def test_particles_within_a_name_do_not_cut_it() -> None:
    assert ("Van der Meer", "SKU-77") == find_question_entities("Why did Kim say that Van der Meer lacks SKU-77?")[1:]
    assert ("Delft", "Ljubljana") == find_question_entities("Does the office in Delft de facto lead that of Ljubljana?")
