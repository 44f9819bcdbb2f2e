"""On what condition something holds by a reference, and whether an answer turns the condition round or drops it.

"No, unless the guard agrees", "only if the guard agrees" and "yes, if the guard agrees" say that it holds with the
guard's consent; "yes, unless the guard agrees" says the contrary, and "no, not even if the guard agrees" that consent
does not matter. The patterns are for folded text (`fold_in_place`).
"""

from __future__ import annotations

from msgspec import Struct

from assay.text.facts.cues.condition_cues import HOLDS_EXCEPT, HOLDS_IF, ONLY_STARTS, UNCONDITIONAL
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.expected.yes_or_no import read_decision
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, cache_of_texts

_CONDITION = build_pattern(rf"\b(?:(?P<always>{UNCONDITIONAL})|(?P<unless>{HOLDS_EXCEPT})|(?P<if>{HOLDS_IF}))\b")
_END = build_pattern(r"[,;.!?)]|\Z")


class _Condition(Struct, frozen=True):
    """What a word of a condition does: whether something holds with it, and whether it matters at all."""

    holds: bool
    matters: bool


def find_turned_condition(question: ReadText, reference: ReadText, answer: ReadText) -> str:
    """Return how an answer turns or drops a condition of a reference, in words; "" if it does not.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> question, reference = read_text("May I fish here?"), read_text("No, unless the guard agrees.")
    >>> answers = ("Only if the guard agrees.", "Yes, unless the guard agrees.", "No, not even if the guard agrees.")
    >>> [bool(find_turned_condition(question, reference, read_text(answer))) for answer in answers]
    [False, True, True]
    """
    expected = _list_conditions(reference, question)
    if not any(condition.matters for condition in expected.values()):
        return ""
    stated = _list_conditions(answer, question)
    shared = [key for key in stated if key in expected and expected[key].matters]
    turned = [key for key in shared if not stated[key].matters or stated[key].holds != expected[key].holds]
    if not turned or len(turned) < len(shared):
        return ""
    word = next(word for word in answer.words if word.key == turned[0])
    return f'the answer turns or drops the condition with "{answer.text[word.start : word.end]}"'


@cache_of_texts(maxsize=1024)
def _list_conditions(text: ReadText, question: ReadText) -> dict[str, _Condition]:
    """Return what each word of the conditions of a text does, by its key; words of the question are left out."""
    conditions: dict[str, _Condition] = {}
    end = 0
    for cue in _CONDITION.finditer(text.plain):
        closing = _END.search(text.plain, cue.end())
        if cue.start() < end or closing is None:
            continue
        end = closing.start()
        is_denied = len(find_negations(text, cue.end(), end)) % 2 == 1
        affirms = cue[0].startswith(ONLY_STARTS) or _affirms(text, cue.start(), end)  # "no, only on paper"
        holds = affirms ^ (cue["unless"] is not None) ^ is_denied
        for word in text.list_words(cue.end(), end):
            if word.kind != "stop" and not question.find_word(word, True):
                conditions.setdefault(word.key, _Condition(holds, cue["always"] is None))
    return conditions


def _affirms(text: ReadText, low: int, high: int) -> bool:
    """Whether the sentence of a condition between two positions affirms something, by its yes or no or its negations.

    A text that begins with yes or no affirms or denies with it whatever its sentences say.
    """
    decision = read_decision(text)
    if decision is not None:
        return decision.is_yes
    clause = text.clause_at(low)
    negations = [*find_negations(text, clause.sentence_start, low), *find_negations(text, high, clause.sentence_end)]
    # "by card, not in cash" says of the card that it is accepted
    counted = [negation for negation in negations if not text.plain[: negation.start()].endswith(", ")]
    return len(counted) % 2 == 0
