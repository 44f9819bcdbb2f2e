"""Whether an answer says in other words that there is none of a thing, as a fact does: "without an upper limit".

What concerns others alone ("the fee only applies to guests") is none where the question is about somebody else, and
what is zero is nothing to pay. The patterns are for folded text (`fold_in_place`).
"""

from __future__ import annotations

from msgspec import structs

from assay.text.facts.cues.absence_cues import LACKING, NONE_ALONE, NONE_OF_IT, OTHERS_ALONE
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ClauseSpan, ReadText
from assay.text.facts.reading.statement_marks import DOUBT
from assay.text.quantities.payment_cues import is_nothing_to_pay, is_positive_amount
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.units import MONEY

_LACKING = build_pattern(rf"\b{LACKING}(?: |(?<='))")
_NONE_ALONE = build_pattern(rf"\W*{NONE_ALONE}\W*")
_NONE_OF_IT = build_pattern(rf"\b{NONE_OF_IT}\b")
_OTHERS_ALONE = build_pattern(rf"\b{OTHERS_ALONE}\b")
_MOST_TO_NOUN = 3
"""Words from "without" to what is absent: "without any upper limit"."""
_LONGEST_ALONE = 20


def is_absence_alone(texts: FactTexts) -> bool:
    """Return whether an answer is "none" and nothing more, where the fact says that there is none of what is asked."""
    if len(texts.answer.plain) > _LONGEST_ALONE or _NONE_ALONE.fullmatch(texts.answer.plain) is None:
        return False
    if not texts.question.words or find_negations(texts.question):
        return False
    quantities = texts.read_fact.quantities
    if len(quantities) == 1 and is_no_money(quantities[0]):
        return all(texts.question.find_word(word, True) for word in texts.content)
    is_none = texts.is_negative or is_nothing_to_pay(texts.read_fact.plain)
    nouns = [
        word for word in texts.read_fact.words if may_be_subject(word) and _NONE_OF_IT.fullmatch(word.folded) is None
    ]
    return is_none and not quantities and bool(nouns) and all(texts.question.find_word(word, True) for word in nouns)


def open_zero(texts: FactTexts, judgment: FactJudgment) -> FactJudgment:
    """Return a fact that says that there is none of a thing as unknown where the answer only says that it is nothing to
    pay: "€0" may be no deductible, and no limit of one."""
    if judgment.state not in ("denied", "missing") or not texts.is_negative or texts.read_fact.quantities:
        return judgment
    if not _costs_zero(texts.answer):
        return judgment
    return structs.replace(judgment, state="unknown", reason="the answer says that it is nothing to pay", mistake="")


def is_no_money(quantity: Quantity) -> bool:
    """Return whether a quantity is an amount of nothing: "€0"."""
    return any(reading.dimension.startswith(MONEY) and reading.high == 0 for reading in quantity.readings)


def may_be_no_amount(answer: ReadText) -> bool:
    """Return whether an answer says that something is absent and names no amount.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> [may_be_no_amount(read_text(text)) for text in ("There's no deductible.", "No, it's £5.", "Ask us.")]
    [True, False, False]
    """
    has_amount = any(is_positive_amount(own) for own in answer.quantities)
    return not has_amount and _NONE_OF_IT.search(answer.plain) is not None


def judge_absence(texts: FactTexts, clause: ClauseSpan) -> FactJudgment | None:
    """Return the judgment of a fact that denies a thing by what a sentence says of it without a negation; None if the
    sentence says nothing of that kind."""
    answer, low, high = texts.answer, clause.sentence_start, clause.sentence_end
    if _lacks_thing(texts, low, high):
        return FactJudgment(texts.fact, "stated")
    if is_nothing_to_pay(texts.read_fact.plain) and _costs_zero(answer):
        return FactJudgment(texts.fact, "stated")
    cue = _OTHERS_ALONE.search(answer.plain, low, high)
    if cue is None:
        return None
    own = {word.key for word in texts.read_fact.words}
    topics = [word for word in texts.list_topics() if word.key not in own and may_be_subject(word)]
    named = {word.key for word in answer.list_words(low, high)}
    if topics and all(word.key in named for word in topics):
        return None
    return FactJudgment(texts.fact, "unknown", f'the answer says "{cue[0]}" of this, and perhaps of others alone')


def _lacks_thing(texts: FactTexts, low: int, high: int) -> bool:
    """Whether a sentence says "without" and the like of what a fact denies, and denies or doubts nothing besides."""
    answer = texts.answer
    nouns = {word.key for word in texts.read_fact.words if may_be_subject(word)}
    for cue in _LACKING.finditer(answer.plain, low, high):
        following = answer.list_following(cue.end(), _MOST_TO_NOUN)
        has_noun = any(word.key in nouns and word.start < high for word in following)
        others = [own for own in find_negations(answer, low, high) if not cue.start() <= own.start() < cue.end()]
        if has_noun and not others and DOUBT.search(answer.plain, low, high) is None:
            return True
    return False


def _costs_zero(answer: ReadText) -> bool:
    """Whether an answer names no other amount than nothing."""
    if find_negations(answer) or DOUBT.search(answer.plain) is not None:
        return False
    return any(map(is_no_money, answer.quantities)) and not any(map(is_positive_amount, answer.quantities))
