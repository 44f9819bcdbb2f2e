"""Per mille is a tenth of per cent, in whatever language it is written."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "fact", "same", "other"),
    [
        ("How salty may the tank be?", "3.5 per mille", ("3.5‰.", "It is 0.35%."), ("3.5%.", "35‰.")),
        ("Wie hoch ist die Courtage?", "2 Promille", ("2 ‰.", "0,2 %."), ("2 Prozent.", "2 %.")),
        ("Quel est le taux ?", "8 pour mille", ("8 ‰.", "0,8 pour cent."), ("8 pour cent.",)),
        ("Tỷ lệ là bao nhiêu?", "5 phần nghìn", ("5‰.", "0,5%."), ("5%.",)),
        ("What is the rate?", "5%", ("50 per mille.",), ("5 per mille.",)),
    ],
)
def test_per_mille_is_a_tenth_of_per_cent(
    question: str, fact: str, same: tuple[str, ...], other: tuple[str, ...]
) -> None:
    for answer in same:
        assert judge_facts(answer, [fact], question)[0].state == "stated", answer
    for answer in other:
        assert judge_facts(answer, [fact], question)[0].state in ("denied", "missing"), answer
