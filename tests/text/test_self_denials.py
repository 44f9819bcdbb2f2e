"""An answer that states a fact and denies it leaves it open; a sentence with words of its own denies something else."""

from __future__ import annotations

import pytest

from assay.text.facts.denials.self_denials import find_contrary_sentence
from assay.text.facts.reading.read_text import read_text
from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("How heavy may a parcel be?", "20 kg", "A parcel may weigh 20 kg. A parcel may not weigh 20 kg."),
        ("Is the sauna mixed?", "the sauna is mixed", "The sauna isn't mixed. However, the sauna is mixed."),
        ("What does the tour cost?", "8 euros", "The tour costs 8 euros; it doesn't cost 8 euros."),
        ("How long is the tour?", "2 hours", "It takes 2 hours. The tour does not take 2 hours."),
        ("Wann fährt der Bus?", "7 Uhr", "Der Bus fährt um 7 Uhr. Der Bus fährt nicht um 7 Uhr."),
        ("Quel est le prix ?", "6 euros", "Le prix est de 6 euros. Mais le prix n'est pas de 6 euros."),
        ("Vé giá bao nhiêu?", "50.000 đồng", "Vé có giá 50.000 đồng. Nhưng vé không có giá 50.000 đồng."),
    ],
)
def test_a_fact_that_is_stated_and_denied_is_open(question: str, fact: str, answer: str) -> None:
    (judgment,) = judge_facts(answer, [fact], question)
    assert ("unknown", True) == (judgment.state, "the contrary too" in judgment.reason)


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        ("20 kg", "A parcel may weigh 20 kg. A parcel may not weigh 25 kg."),
        ("20 kg", "A parcel may weigh 20 kg. On Sundays a parcel may not weigh 20 kg."),
        ("bring a lamp", "You may bring a lamp. You need not bring a lamp."),
        ("Hall B", "Hall B is heated. Hall A is not heated."),
        ("dinner", "Included:\nDinner\nNot included:\nLunch"),
        ("dogs are not allowed", "Some say that dogs are allowed. Dogs are not allowed."),
        ("7 Uhr", "Der Bus fährt um 7 Uhr. Sonntags fährt der Bus nicht um 7 Uhr."),
        ("the sauna is mixed", "Is the sauna not mixed? The sauna is mixed."),
        ("refunds are not given", "## Refunds\n\nRefunds are not given."),
        ("không được hút thuốc", "Hút thuốc\nKhông được hút thuốc."),
        ("lamps are not lent on Sundays", "Lamps are lent. Lamps are not lent on Sundays."),
    ],
)
def test_what_is_denied_of_something_else_denies_nothing(fact: str, answer: str) -> None:
    assert "" == find_contrary_sentence(read_text(answer), read_text(fact), read_text(""))
