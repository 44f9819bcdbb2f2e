"""No regular expression that sees foreign text needs more than linear time.

The limit is half a second of processor time for 32 KiB: a linear expression needs a few milliseconds, a quadratic one
more than a second. It is no measurement, and a busy machine does not change processor time by that much.
"""

from __future__ import annotations

import re

import pytest
from tests.faults.patterns import BOUNDED, Expression, TooSlowError, find_expressions, time_expression

SIZE = 2**15


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_expressions_take_linear_time(part: int) -> None:
    faults = []
    for expression in find_expressions()[part::8]:
        try:
            time_expression(expression, SIZE, limit=0.5)
        except TooSlowError as error:
            faults.append(str(error))
    assert [] == faults


def test_expressions_of_modules_calls_and_lexicons_are_attacked() -> None:
    names = {expression.name for expression in find_expressions()}
    assert len(names) > 150
    assert "assay.text.segmentation._STOP" in names
    assert any(name.startswith("lexicon vi.") for name in names)
    assert set(BOUNDED) <= names


@pytest.mark.parametrize("pattern", [r"\s+x", r"[\w.]++@", r"(a|b)*c", r"<b>(.*?)</b>", r"^(\w+\s?)*$", r"\r+\n"])
def test_a_quadratic_expression_is_noticed(pattern: str) -> None:
    with pytest.raises(TooSlowError):
        time_expression(Expression("x", re.compile(pattern)), 2**18, limit=0.2)


@pytest.mark.parametrize("pattern", [r"(?<!\s)\s++x", r"[^\]]{1,40}]", r"(?:a|b)c"])
def test_a_linear_expression_passes(pattern: str) -> None:
    time_expression(Expression("x", re.compile(pattern)), 2**14, limit=1.0)
