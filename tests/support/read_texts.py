"""What tests of the rules of text ask of several functions at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from assay.text.facts.answer_matching import KeywordScore, score_judged_keywords
from assay.text.facts.stated_facts import judge_facts
from assay.text.normalisation import fold_text
from assay.text.numbers import Number, find_quantities


def find_numbers(text: str) -> list[Number]:
    """Return the numbers of a text with their units, in order, without its dates."""
    return [item for item in find_quantities(text) if isinstance(item, Number)]


def score_keywords(
    answer: str, correct: Sequence[str], incorrect: Sequence[str] = (), match: Literal["any", "all"] = "any"
) -> KeywordScore:
    """Return the score of an answer by keywords; empty ones are ignored."""
    wanted_keywords = [keyword for keyword in dict.fromkeys(correct) if fold_text(keyword)]
    return score_judged_keywords(answer, judge_facts(answer, wanted_keywords), incorrect, match)
