"""Whether texts contain a fact, as words or as quantities, and how facts and texts are quoted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from assay.text.facts.answer_matching import find_occurrences, parse_elements
from assay.text.facts.presence.mentioned_values import mentions_fact
from assay.text.normalisation import fold_text
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import is_telephone_number, split_range
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.tokens import tokenise_text

_QUOTED_WORDS = 8


def contains_fact(texts: Iterable[str], fact: str) -> bool:
    """Return whether any of the texts contains a fact: its words as they are, its quantities in any form.

    >>> contains_fact(["Nghỉ mười hai ngày."], "12 ngày"), contains_fact(["Friday | 11:00 am | 4:00 pm"], "4 pm")
    (True, True)
    """
    fact_elements = _elements(fact)
    if any(map(is_telephone_number, find_measures(fact))):  # a part of its digits is another number
        return any(fold_text(fact) in fold_text(text) or mentions_fact(text, fact) for text in texts)
    if not fact_elements.items:
        return any(fold_text(fact) in fold_text(text) for text in texts)
    return any(find_occurrences(fact_elements, _elements(text)) or mentions_fact(text, fact) for text in texts)


_elements = lru_cache(maxsize=1024)(parse_elements)


def is_expected(value: str, facts: Sequence[str]) -> bool:
    """Return whether a value is a fact or a part of one; of a range both ends must be: a wrong end is another value."""
    ends = [end for measure in find_measures(value) for end in split_range(measure)]
    if not ends:
        return any(_is_part(value, fact) for fact in facts)
    wanted = [measure for fact in facts for measure in find_measures(fact)]
    wanted += [end for measure in wanted for end in split_range(measure)]
    return all(any(is_same_quantity(measure, end) for measure in wanted) for end in ends)


def _is_part(value: str, fact: str) -> bool:
    """Whether a value is a fact, or a name or a quantity of it."""
    if contains_fact([value], fact):
        return True
    if not any(map(str.isdigit, value)):
        return contains_fact([fact], value)
    own, stated = find_measures(fact), find_measures(value)
    return bool(stated) and all(any(is_same_quantity(measure, item) for measure in own) for item in stated)


def compute_word_overlap(answer: str, texts: Iterable[str]) -> float:
    """Return the share (0 to 1) of the answer's distinct words that the texts contain; 0 without words.

    >>> compute_word_overlap("Twelve days of leave", ["leave: twelve working days"])
    0.75
    """
    answer_words = set(tokenise_text(answer))
    text_words = {word for text in texts for word in tokenise_text(text)}
    return len(answer_words & text_words) / len(answer_words) if answer_words else 0.0


def quote_beginning(text: str) -> str:
    """Return the first words of a text in quotation marks.

    >>> quote_beginning("A deposit of 40 euros is due when a place is booked.")
    '“A deposit of 40 euros is due when …”'
    """
    words = text.split()
    return f"“{' '.join(words[:_QUOTED_WORDS])}{' …' if len(words) > _QUOTED_WORDS else ''}”"


def quote_facts(facts: Iterable[str]) -> str:
    """Return facts in quotation marks, with commas between them."""
    return ", ".join(f"“{fact}”" for fact in facts)
