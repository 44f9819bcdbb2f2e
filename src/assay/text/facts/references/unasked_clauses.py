"""Clauses of a reference that tell of something else than what is asked: "grey; blue stands for drafts".

Asked which label archived files have, who says "grey" has answered. An answer that speaks of the other thing as well is
compared with all of the reference.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.question_cues import ASKS_FOR_ONE, ASKS_FOR_SEVERAL
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word, read_text
from assay.text.facts.reading.text_parts import LIST_CUT, Part, list_quantities, split_parts
from assay.text.facts.reading.word_senses import find_same_sense
from assay.text.quantities.quantity_agreement import is_same_quantity

_ASKS_FOR_ONE = build_pattern(rf"\W*(?:[a-z]{{1,5}} )?{ASKS_FOR_ONE}\b")
_ASKS_FOR_SEVERAL = build_pattern(rf"\b{ASKS_FOR_SEVERAL}\b")


def leave_out_unasked(reference: str, question: str, answer: str) -> str:
    """Return a reference without what is behind its first clause, if nothing of that is in the question or the answer.

    Only for a question that asks for one thing: of what is to be done, and why, all has to be said.

    >>> leave_out_unasked("Grey; blue is for drafts.", "Which label do archived files have?", "They have a grey one.")
    'Grey'
    """
    read = read_text(reference)
    end = _find_end_of_asked(read, read_text(question), read_text(answer))
    return reference if end is None else read.text[:end]


def _find_end_of_asked(reference: ReadText, question: ReadText, answer: ReadText) -> int | None:
    if _ASKS_FOR_ONE.match(question.plain) is None or _ASKS_FOR_SEVERAL.search(question.plain) is not None:
        return None
    parts = split_parts(reference, 0, len(reference.plain))
    begun = next((place for place, part in enumerate(parts) if place and part.separation > LIST_CUT), len(parts))
    first = _list_words(reference, parts[:begun])
    rest = _list_words(reference, parts[begun:])
    new = [word for word in rest if not any(own.key == word.key for own in first)]
    if not new or any(_has_word(text, word) for text in (question, answer) for word in new):
        return None
    if any(find_negations(reference, part.start, part.end) for part in parts[begun:]):
        return None
    values = [own for part in parts[begun:] for own in list_quantities(reference, part.start, part.end)]
    is_given = any(
        is_same_quantity(value, own) for value in values for own in (*answer.quantities, *question.quantities)
    )
    return None if is_given else parts[begun - 1].end


def _list_words(reference: ReadText, parts: Sequence[Part]) -> list[Word]:
    return [word for part in parts for word in reference.list_words(part.start, part.end) if word.kind != "stop"]


def _has_word(text: ReadText, word: Word) -> bool:
    return bool(text.find_word(word, True) or find_same_sense(text, word.folded))
