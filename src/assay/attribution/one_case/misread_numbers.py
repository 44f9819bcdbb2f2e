"""Numbers as a reader of pages misreads them: with letters that look like digits, or without the mark inside."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.attribution.one_case.unsupported_numbers import find_unsupported_numbers
from assay.text.pattern_cache import compile_pattern

_LOOKALIKES = str.maketrans("OlISB", "01158")
"""Letters that text recognition confuses with digits, and the digits."""
_WRITTEN_NUMBER = compile_pattern(r"(?<!\w)[\dOlISB]+(?:[.,'’][\dOlISB]+)*(?!\w)")
_NUMBER = compile_pattern(r"\d+(?:[.,]\d+)*")


def find_misread_number(answer: str, facts: Iterable[str]) -> str | None:
    """Return what shows that the answer has a number of a fact as a reader of pages misreads it, None if nothing does:
    with letters that look like its digits, or without the mark inside it.

    >>> find_misread_number("It moves 4O litres.", ["40 l/min"])
    'the answer has “4O” for “40”, which a reader of pages mistakes for each other'
    >>> find_misread_number("It weighs 121 kilograms.", ["12.1 kg"])
    'the answer has “121” for “12.1”, which a reader of pages mistakes for each other'
    >>> find_misread_number("It weighs 13 kilograms.", ["12.1 kg"])
    """
    answered = {written: _fold_number(written) for written in _WRITTEN_NUMBER.findall(answer)}
    for fact in facts:
        for number in _NUMBER.findall(fact):
            for written, folded in answered.items():
                is_alike = written != number and folded == _fold_number(number)
                if is_alike and find_unsupported_numbers(number, [written]):
                    return f"the answer has “{written}” for “{number}”, which a reader of pages mistakes for each other"
    return None


def _fold_number(written: str) -> str:
    return re.sub(r"\D", "", written.translate(_LOOKALIKES))
