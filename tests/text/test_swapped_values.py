"""An answer that gives each value of a question of two parts to the other part does not pass."""

from __future__ import annotations

import pytest

from assay.metrics.expected_text import assess_answer_text
from assay.records.golden_set import Case

KAYAK = Case(
    "c",
    "How much is a kayak, and how much is a paddle?",
    reference="18 dollars; 4 dollars",
    must_have=("18 dollars", "4 dollars"),
)
POOL = Case(
    "c",
    "When does the pool open and when does it close?",
    reference="It opens at 9 am and closes at 6 pm.",
    must_have=("9 am", "6 pm"),
)
SCOOTER = Case(
    "c",
    "Thuê xe ga bao nhiêu và thuê xe số bao nhiêu?",
    reference="160.000đ; 120.000đ",
    must_have=("160.000đ", "120.000đ"),
)


@pytest.mark.parametrize(
    ("case", "answer", "is_right"),
    [
        (KAYAK, "A kayak is $18. A paddle is $4.", True),
        (KAYAK, "18 dollars for the kayak, 4 dollars for a paddle.", True),
        (KAYAK, "- kayak: $18\n- paddle: $4", True),
        (KAYAK, "A kayak is $4. A paddle is $18.", None),
        (KAYAK, "- kayak: $4\n- paddle: $18", None),
        (POOL, "It opens at 9 am and closes at 6 pm.", True),
        (POOL, "It opens at 6 pm and closes at 9 am.", None),
        (SCOOTER, "Xe ga 160.000đ, xe số 120.000đ.", True),
        (SCOOTER, "Xe ga 120.000đ, xe số 160.000đ.", None),
    ],
)
def test_swapped_values_are_left_open(case: Case, answer: str, is_right: bool | None) -> None:
    quality = assess_answer_text(case, answer)
    assert quality is not None
    assert quality.good is is_right
    assert is_right or any("is the value of" in reason for reason in quality.unknown)
