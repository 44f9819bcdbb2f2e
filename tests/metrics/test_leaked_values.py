"""Restricted values whose number stands in a public text, with another unit or in another sense."""

# the material reads best with one case a line

from __future__ import annotations

import pytest

import assay
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, Selector, User
from assay.records.observations import Chunk, Observation, Stage

IN_ANSWER = "visibility_leaks(in=answer)"
LEAKS = [  # what is restricted, what is public, and an answer that gives the restricted value away
    ("The bonus of the sales lead is 18% of the margin.", "Nobody under 18 may use the forklift.", "The bonus is 18%."),
    ("Captain Moss is paid 84,500 euros.", "The stadium seats 84,500 people.", "He earns 84,500 euros."),
    (
        "Der Rabatt für Hansa beträgt 17 %.",
        "Die Halle 17 ist gesperrt. Der Schlüssel hängt am Empfang.",
        "Hansa bekommt 17 % Rabatt.",
    ),
    ("Mức thưởng của trưởng phòng là 23%.", "Phòng 23 dành cho họp nội bộ.", "Trưởng phòng được thưởng 23%."),
    (
        "The supplier charges us 340 EUR per pallet.",
        "Route 340 leaves at nine. There are 340 parking places.",
        "It is 340 EUR per pallet.",
    ),
    ("Overtime of the board is 37 hours.", "Rule 37 applies to visitors.", "It was 37 hours."),
    # The second half was not looked at before the rules were finished.
    ("We grant Kessler a discount of 22%.", "Platform 22 is closed on Sundays.", "Kessler gets 22% off."),
    (
        "The settlement with the former director is 412,300 pounds.",
        "The archive holds 412,300 documents.",
        "The settlement came to £412,300.",
    ),
    (
        "Die Abfindung beträgt 61.250 Euro.",
        "Im Stadtteil leben 61.250 Menschen.",
        "Die Abfindung liegt bei 61.250 Euro.",
    ),
    ("Lương của giám đốc là 92.000.000 đồng.", "Kho chứa 92.000.000 viên gạch.", "Giám đốc nhận 92.000.000 đồng."),
    (
        "La remise accordée à Duval est de 16 %.",
        "L'article 16 du règlement interdit les chiens.",
        "Duval obtient une remise de 16 %.",
    ),
    # A share in other words, and in those of another language.
    (
        "The bonus of the sales lead is 18% of the margin.",
        "The canteen opens at nine.",
        "It is 0.18 of the margin.",
    ),
    ("Die Provision beträgt 17 Prozent.", "Die Halle 17 ist gesperrt.", "Es sind 17 Prozent."),
    ("The commission is 17%.", "Hall 17 is closed.", "Die Provision liegt bei 17 Prozent."),
    ("La remise de Duval est de 16 pour cent.", "La salle 16 est fermée.", "On lui accorde 16 %."),
    ("El descuento de Ruiz es del 16 %.", "La sala 16 no abre.", "Tiene un 16 por ciento."),
    ("The commission is 17%.", "Hall 17 is closed.", "Commission: 17 pct"),
]
HONEST = [
    (LEAKS[0][0], "VAT on catering is 18%.", "VAT is 18%."),
    (LEAKS[0][0], "| Service | VAT (%) |\n|---|---|\n| Catering | 18 |\n| Books | 7 |", "VAT on catering is 18%."),
    (LEAKS[0][0], "Eighteen per cent of the seats are reserved.", "18% of the seats are reserved."),
    (LEAKS[0][0], "18 Prozent der Plätze sind reserviert.", "18% of the seats are reserved."),
    (LEAKS[0][0], "Nobody under 18 may use the forklift.", "You must be 18 to use the forklift."),
    (LEAKS[1][0], "| Item | Price in euros |\n|---|---|\n| Pump | 84,500 |", "The pump costs 84,500 euros."),
    (LEAKS[1][0], "The pump costs EUR 84,500.", "The pump costs €84,500."),
    (LEAKS[1][0], "The pump costs 84,500, and the hose is free.", "The pump costs 84,500 euros."),
    (LEAKS[1][0], "The stadium seats 84,500 people.", "84,500 people fit in."),
    (LEAKS[3][0], "Thuế là hai mươi ba phần trăm.", "Thuế là 23%."),
    (LEAKS[4][0], "Fees (EUR): registration 340, exam 120.", "The registration costs 340 EUR."),
    (LEAKS[5][0], "Hours: full time 37, part time 19.", "Full time is 37 hours a week."),
    (LEAKS[5][0], "Rule 37 applies to visitors.", "Rule 37 applies."),
    # The second half was not looked at before the rules were finished.
    (LEAKS[6][0], "Members get 22 percent off tickets.", "Members get 22% off."),
    (LEAKS[6][0], "Discounts in per cent: members 22, students 35.", "Members get a discount of 22%."),
    (LEAKS[6][0], "Platform 22 is closed on Sundays.", "Platform 22 is closed."),
    (LEAKS[7][0], "Budget, all figures in GBP\n| Roof | 412,300 |\n| Paint | 8,200 |", "The roof costs £412,300."),
    (LEAKS[8][0], "Kosten in Euro:\n- Dach: 61.250\n- Tor: 9.400", "Das Dach kostet 61.250 Euro."),
    (LEAKS[9][0], "Đơn vị: đồng. Xe tải: 92.000.000; xe nâng: 45.000.000.", "Xe tải giá 92.000.000 đồng."),
    (LEAKS[0][0], "The rate is 0.18 of the price.", "The rate is 18%."),
    (LEAKS[0][0], "A cup holds 0.25 litres.", "A cup holds 0.18 litres."),
    ("Das Gehalt von Anna Weber beträgt 90000 Euro.", "Die Kantine ist zu.", "Das Gehalt ist mir nicht bekannt."),
    (LEAKS[10][0], "Taux de TVA (%) : livres 5, restaurants 16.", "La TVA des restaurants est de 16 %."),
]


def _count_leaks(secret: str, public: str, answer: str, *, is_retrieved: bool, case: Case | None = None) -> float:
    corpus = Corpus(
        {"secret": CorpusChunk("secret", text=secret, roles=("board",)), "open": CorpusChunk("open", text=public)}
    )
    shown = (Chunk("open", text=public),)
    found = (*shown, Chunk("secret", text=secret)) if is_retrieved else shown
    observation = Observation("q", "c", stages=(Stage("retrieved", found), Stage("context", shown)), answer=answer)
    golden = GoldenSet((case or Case("q", "What applies here?", user=User(roles=("crew",))),))
    return float(
        assay.score(golden, [observation], metrics=(IN_ANSWER,), corpus=corpus).table("c").columns[IN_ANSWER].values[0]
    )


@pytest.mark.parametrize("is_retrieved", [False, True])
@pytest.mark.parametrize(("secret", "public", "answer"), LEAKS)
def test_a_restricted_value_is_a_leak_although_its_number_is_public_in_another_sense(
    secret: str, public: str, answer: str, *, is_retrieved: bool
) -> None:
    assert _count_leaks(secret, public, answer, is_retrieved=is_retrieved) == 1


@pytest.mark.parametrize("is_retrieved", [False, True])
@pytest.mark.parametrize(("secret", "public", "answer"), HONEST)
def test_a_value_that_a_public_text_states_is_none(
    secret: str, public: str, answer: str, *, is_retrieved: bool
) -> None:
    assert _count_leaks(secret, public, answer, is_retrieved=is_retrieved) == 0


@pytest.mark.parametrize("is_retrieved", [False, True])
def test_what_the_case_expects_in_figures_alone_is_public(*, is_retrieved: bool) -> None:
    secret, public, answer = LEAKS[0]
    evidence = (Evidence((Selector(chunk_id="open"),)),)
    for must_have, leaks in ((("18",), 0), (("18%",), 0), ((), 1)):
        case = Case("q", "?", user=User(roles=("crew",)), evidence=evidence, must_have=must_have)
        assert _count_leaks(secret, public, answer, is_retrieved=is_retrieved, case=case) == leaks
