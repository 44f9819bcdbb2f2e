"""Facts and answers that decide a question by yes or no.

A mere yes or no stands for what the question says, or for its negation: "No." to "Does it run on Sundays?" says that it
does not. It states a fact that says nothing else, and leaves a fact open that says it in other words. The patterns are
for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from msgspec import Struct

from assay.text.antonyms import find_antonym
from assay.text.facts.cues.condition_cues import ONLY_WORDS, OR, RESTRICTS_DECISION
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import BANS, FORBIDS, LEAVES_OUTSIDE
from assay.text.facts.cues.link_cues import ADDRESSED, GREETING
from assay.text.facts.cues.question_cues import (
    ASKS_WHETHER_LAST,
    ASKS_WHETHER_OF_OTHERS,
    AUXILIARY_FIRST,
    QUESTION_WORD,
)
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word, read_text
from assay.text.facts.reading.spelled_words import is_other_word
from assay.text.facts.reading.statement_marks import DOUBT
from assay.text.quantities.quantity_agreement import is_same_quantity

_LEAD_IN = (
    r"(?:(?:according to|for|in|on|at|with|under|from|after|before|during) (?!what|which|whom?|whose|how|where)"
    r"[^?]{2,100}?, )?"
)
"""What may come before the question itself: "According to the tariff, is …"."""
_ASKS_WHETHER = build_pattern(rf"^{_LEAD_IN}(?:and |so )?(?:{AUXILIARY_FIRST})\b|\b{ASKS_WHETHER_LAST}\?$")
"""A question whose answer is yes or no."""
_ASKS_WHETHER_OF_OTHERS = build_pattern(rf"{ASKS_WHETHER_OF_OTHERS}")
_QUESTION_WORD = build_pattern(rf"\b{QUESTION_WORD}\b")
_ALTERNATIVE = build_pattern(rf"\b{OR}\b(?! (?:not|không|chưa)\b)")
_LAST_WORD = 8  # characters that may hold the "không?" of a question, which denies nothing
_PERSON = rf"(?: {ADDRESSED})*"
_YES_OR_NO = build_pattern(
    rf"\W*(?:{GREETING},? )*"
    r"(?:(?P<yes>yes|yeah|yep|sure|of course|certainly|absolutely|có|vâng|được|oui|ja|sim|sì|sí"
    r"|(?:it|they|you|we|there) (?:does|do|is|are|can|will|has|have|may))"
    r"|(?:(?:malheureusement|hélas|en principe|leider|lamentablemente|purtroppo|infelizmente),? )?"
    r"(?P<no>no|non|nein|não|nope|unfortunately not|(?:(?:i'm|i am|we're|we are) )?afraid not|not at all|không|chưa"
    r"|(?:it|they|you|we|there) (?:doesn't|don't|isn't|aren't|can't|won't|hasn't|haven't|cannot"
    r"|(?:is|are|do|does|can|will|may|has|have) not)))"
    rf"{_PERSON}(?=[,.!:;]| [–—:;!-] |$)"
)
"""A text that begins with the answer to it."""
_RESTRICTED = build_pattern(rf"\b{RESTRICTS_DECISION}\b")
"""Says that a yes or no does not hold as it stands."""
_AFFIRMING = frozenset(("yes", "co"))
_DECISIONS = {"yes": "no", "no": "yes", "co": "khong", "khong": "co"}
_DECIDED_FIRST = build_pattern(
    r"\W*(?:(?:hi|hello|well|sorry|unfortunately|dạ|vâng|thưa \w+|rất tiếc|xin lỗi|tiếc là)\W+){0,3}"
    r"(?P<word>yes|no|có|không)\b(?! (?:problem|worries|doubt|matter|idea|sao|vấn đề)\b)"
)
_DECIDED_ALONE = build_pattern(r"(?:^|[,.;!?:] )(?P<word>yes|no|có|không)(?: (?:ạ|nhé|nha))?(?=[,.;!?:]|$)")


class YesOrNo(Struct, frozen=True):
    """A yes or no at the beginning of a text, in its words, and where it ends."""

    is_yes: bool
    spelled: str
    end: int


def read_decision(read: ReadText) -> YesOrNo | None:
    """Return the yes or no with which a text begins, None if it begins with neither.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> read_decision(read_text("No, it doesn't.")), read_decision(read_text("no dogs, please"))
    (YesOrNo(is_yes=False, spelled='No', end=2), None)
    """
    match = _YES_OR_NO.match(read.plain)
    if match is None:
        return None
    span = match.span("yes" if match["yes"] is not None else "no")
    folded, spelled = read.plain[slice(*span)], read.text[slice(*span)]
    return None if is_other_word(folded, spelled) else YesOrNo(match["yes"] is not None, spelled, match.end())


def is_mere_decision(fact: str) -> bool:
    """Return whether a fact says yes or no and nothing else.

    >>> is_mere_decision("No."), is_mere_decision("no dogs")
    (True, False)
    """
    return read_text(fact).plain.strip(" .!") in _DECISIONS


def asks_whether(question: ReadText) -> bool:
    """Return whether a question, or the last sentence of one that tells something first, asks for yes or no.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> [asks_whether(read_text(text)) for text in ("I own a flat. Can I park?", "I own a flat. Where do I park?")]
    [True, False]
    >>> asks_whether(read_text("According to “Pets”, are dogs allowed in the café?"))
    True
    """
    last = _find_last_sentence(question)
    if _ASKS_WHETHER.search(last.plain) is not None:
        return True
    return _ASKS_WHETHER_OF_OTHERS.match(last.plain) is not None and _QUESTION_WORD.search(last.plain) is None


def _find_last_sentence(question: ReadText) -> ReadText:
    """Return the last sentence of a question, if those before it ask nothing."""
    start = question.clauses[-1].sentence_start if question.clauses else 0
    if not start:
        return question
    return question if "?" in question.plain[:start] else read_text(question.text[start:].strip())


def _is_decidable(question: ReadText) -> bool:
    """Whether yes affirms what a question says: it denies nothing and offers no choice."""
    if not asks_whether(question) or _ALTERNATIVE.search(question.plain) is not None:
        return False
    return not find_negations(question, 0, len(question.plain) - _LAST_WORD)


def judge_decision(texts: FactTexts) -> FactJudgment | None:
    """Return the judgment of a fact by the yes or no of an answer; None where that does not settle it."""
    wanted = texts.read_fact.plain.strip(" .!")
    if not texts.question.words:
        return None
    return _judge_mere_decision(texts, wanted) if wanted in _DECISIONS else _judge_restated_question(texts)


def _judge_mere_decision(texts: FactTexts, wanted: str) -> FactJudgment | None:
    """Return the judgment of a fact that is a mere yes or no, if the answer does not begin with it or has it alone.

    "No charge", "không có" and the "no" of "no doubt" decide nothing.
    """
    first = _DECIDED_FIRST.match(texts.answer.plain)
    decisions = [*([first] if first is not None else []), *_DECIDED_ALONE.finditer(texts.answer.plain)]
    decisions = [decision for decision in decisions if decision["word"] in (wanted, _DECISIONS[wanted])]
    words = [decision["word"] for decision in decisions]
    if words and words[0] == wanted:
        return None
    if words and wanted not in words:
        opposite = texts.answer.text[slice(*decisions[0].span("word"))]
        return FactJudgment(texts.fact, "denied", f'the answer says "{opposite}"')
    begun = read_decision(texts.answer)
    if begun is None or words or _is_restricted(begun, texts.answer):
        return FactJudgment(texts.fact, "unknown", f'the answer does not plainly say "{texts.fact.strip()}"')
    if begun.is_yes == (wanted in _AFFIRMING):
        return FactJudgment(texts.fact, "stated")
    return FactJudgment(texts.fact, "denied", f'the answer says "{begun.spelled}"')


def _is_restricted(decision: YesOrNo, answer: ReadText) -> bool:
    """Whether the rest of an answer limits its yes or no: "only small dogs" gives the reason of a no."""
    restrictions = _RESTRICTED.finditer(answer.plain, decision.end)
    return any(decision.is_yes or restriction[0] not in ONLY_WORDS for restriction in restrictions)


_ASKING_BEGIN = build_pattern(rf"^(?:and |so )?(?:{AUXILIARY_FIRST})\b(?: (?:i|we|you|there)\b)?")
_ASKING_MIDDLE = build_pattern(r"\bcó(?: được| phải)?\b")
_ASKING_END = build_pattern(rf"\b{ASKS_WHETHER_LAST}$")


def restate_question(fact: str, question: ReadText) -> str:
    """Return what a question asks for as a statement, if a fact is a mere yes or no to it; else "".

    >>> from assay.text.facts.reading.read_text import read_text
    >>> restate_question("no", read_text("Is re-entry allowed after the interval?"))
    're-entry allowed after the interval'
    >>> restate_question("no", read_text("Why is re-entry not allowed?"))
    ''
    """
    if not is_mere_decision(fact) or not _is_decidable(question):
        return ""
    plain = question.plain.rstrip("? ")
    asking = [_ASKING_BEGIN.search(plain), _ASKING_END.search(plain)]
    if asking[1] is not None:
        asking.insert(1, _ASKING_MIDDLE.search(plain))
    kept, end = "", 0
    for match in asking:
        if match is not None and match.start() >= end:
            kept, end = kept + question.text[end : match.start()], match.end()
    return " ".join((kept + question.text[end : len(plain)]).split())


_FORBIDS = build_pattern(rf"\b(?:{FORBIDS}|{BANS})\b")


_LEAVES_OUTSIDE = build_pattern(rf"\b{LEAVES_OUTSIDE}")


def leaves_outside_what_is_asked(texts: FactTexts) -> bool:
    """Return whether an answer says that something is outside what is covered, and the question does not."""
    return (
        _LEAVES_OUTSIDE.search(texts.answer.plain) is not None and _LEAVES_OUTSIDE.search(texts.question.plain) is None
    )


def forbids_what_is_asked(texts: FactTexts) -> bool:
    """Return whether an answer forbids something, and the question does not speak of what is forbidden."""
    return _FORBIDS.search(texts.answer.plain) is not None and _FORBIDS.search(texts.question.plain) is None


def describe_opposite_decision(answer: ReadText, reference: ReadText, question: ReadText) -> str:
    """Return that an answer begins with "yes" where the reference begins with "no", or the other way round; else "".

    Restrictions of either do not matter here: what follows may make both say the same.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> texts = ("Yes, 12 kg is below 8 kg plus a margin.", "No, only up to 8 kg.", "May I bring a dog of 12 kg?")
    >>> describe_opposite_decision(*map(read_text, texts))
    'it begins with "Yes", and the reference with "No"'
    """
    stated, expected = _read_any_decision(answer, question), read_decision(reference)
    last = read_text(question.text[question.clauses[-1].sentence_start :].strip()) if question.clauses else question
    if stated is None or expected is None or stated.is_yes == expected.is_yes or not _is_decidable(last):
        return ""
    return f'it begins with "{stated.spelled}", and the reference with "{expected.spelled}"'


_TAKES_UP = build_pattern(
    r"\W*(?:it|they|that|this|you|he|she|we|these|those)(?:'ll|'s|'re| [a-z']+){1,3}?"
    r" (?P<verb>[a-z]{2,})(?= ?[,.:;!–—-]| \(| (?:if|when|unless|only|once|as long as)\b)"
)
"""A first clause that says of what is asked whether it is so: "it will fit: the limit is 9 m"."""


def _read_any_decision(answer: ReadText, question: ReadText) -> YesOrNo | None:
    """Return the yes or no with which an answer begins, in a word or by saying what is asked with a pronoun."""
    decision = read_decision(answer)
    taken_up = _TAKES_UP.match(answer.plain) if decision is None and asks_whether(question) else None
    if taken_up is None:
        return decision
    verb, end = answer.word_at(taken_up.start("verb")), taken_up.end()
    taken_words = [word for word in answer.words if word.start < end and word.kind != "stop"]
    if verb is None or not all(question.find_word(word, True) for word in (verb, *taken_words)):
        return decision  # "It is closed on Sundays." says something else of what is asked
    return YesOrNo(not find_negations(answer, 0, end), answer.text[: verb.end].strip(), end)


def is_contrary_decision(answer: ReadText, reference: ReadText, question: ReadText) -> bool:
    """Return whether an answer begins with "yes" where the reference begins with "no", or the other way round.

    It is no contrary one if either restricts its decision, or the question denies something or offers a choice.
    """
    stated, expected = _read_any_decision(answer, question), read_decision(reference)
    if stated is None or expected is None or not describe_opposite_decision(answer, reference, question):
        return False
    rests = (answer.plain[stated.end :], reference.plain[expected.end :])
    return not any(_RESTRICTED.search(rest) or DOUBT.search(rest) for rest in rests)


def decide_by_statement(fact: str, restated: FactJudgment) -> FactJudgment:
    """Return the judgment of a mere yes or no by what an answer does with the statement of its question."""
    is_wanted = read_text(fact).plain.strip(" .!") in _AFFIRMING
    if restated.state == ("stated" if is_wanted else "denied"):
        return FactJudgment(fact, "stated")
    if restated.state == ("denied" if is_wanted else "stated"):
        return FactJudgment(fact, "denied", f"the answer {'denies' if is_wanted else 'affirms'} what is asked")
    return FactJudgment(fact, "unknown", f'the answer does not plainly say "{fact.strip()}"')


def _judge_restated_question(texts: FactTexts) -> FactJudgment | None:
    """Return the judgment of a fact that says no more than the question or its negation, if the answer has no other
    word of it than yes or no."""
    decision = read_decision(texts.answer)
    if decision is None or not _is_decidable(texts.question) or count_asked_words(texts) < len(texts.content):
        return None
    asked = texts.question.quantities
    if not all(any(is_same_quantity(own, other) for other in asked) for own in texts.read_fact.quantities):
        return None
    expected = _find_expected_decision(texts)
    if expected is None or all(texts.answer.find_word(word, True) for word in texts.content):
        return None
    rest = texts.answer.plain[decision.end :]
    if DOUBT.search(rest) is not None or _RESTRICTED.search(rest) is not None:
        return FactJudgment(texts.fact, "unknown", f'the answer says "{decision.spelled}" with a restriction')
    if decision.is_yes == expected:
        return FactJudgment(texts.fact, "stated")
    return FactJudgment(texts.fact, "denied", f'the answer says "{decision.spelled}"')


def _find_expected_decision(texts: FactTexts) -> bool | None:
    """Return whether a right answer says yes, by fact or reference, or else by whether the fact denies what is asked.

    A single word that denies nothing may be any part of the answer.
    """
    for text in (texts.read_fact, texts.reference):
        stated = read_decision(text)
        if stated is not None:
            return stated.is_yes
    opposites = sum(_is_opposite(texts, word) for word in texts.content)
    if not (texts.is_negative or opposites) and len(texts.content) + len(texts.read_fact.quantities) < _FEWEST_PARTS:
        return None
    return (opposites % 2 == 1) == texts.is_negative


_FEWEST_PARTS = 2


def _is_opposite(texts: FactTexts, word: Word) -> bool:
    """Whether the question has the opposite of a word of the fact: "closed" answers "Is it open?" with no."""
    return find_antonym(word.folded, [own.folded for own in texts.question.words]) is not None


def count_asked_words(texts: FactTexts) -> int:
    """Return how many words of a fact the question has too, or their opposite."""
    return sum(bool(texts.question.find_word(word, True)) or _is_opposite(texts, word) for word in texts.content)


def may_be_decided(texts: FactTexts) -> bool:
    """Return whether an answer begins with a yes or no that may stand for a fact, half of whose words are asked."""
    if not asks_whether(texts.question) or read_decision(texts.answer) is None:
        return False
    return 0 < len(texts.content) <= 2 * count_asked_words(texts)


def find_contrary_answer(texts: FactTexts) -> str:
    """Return how an answer begins with "no" where fact or reference begin with "yes", or the other way; else ""."""
    question = texts.question
    if not asks_whether(question) or find_negations(question, 0, len(question.plain) - _LAST_WORD):
        return ""
    stated = read_decision(texts.answer)
    expected = read_decision(texts.read_fact) or read_decision(texts.reference)
    if stated is None or expected is None or stated.is_yes == expected.is_yes:
        return ""
    return f'the answer begins with "{stated.spelled}"'


def list_offered_words(question: ReadText) -> list[Word]:
    """Return the words on either side of the "or" of a question: "east" and "west" of "the east or the west lift"."""
    alternative = _ALTERNATIVE.search(question.plain)
    if alternative is None:
        return []
    named = [word for word in question.words if may_be_subject(word) or word.is_capitalised]
    before = [word for word in named if word.end <= alternative.start()][-1:]
    keys_before = {word.key for word in named if word.end <= alternative.start()}  # "lift A or lift B" offers A and B
    after = [word for word in named if word.start >= alternative.end() and word.key not in keys_before][:1]
    return [*before, *after]


def list_chosen_words(texts: FactTexts) -> list[Word]:
    """Return the word of a fact that is one of the alternatives of a question, so that the others need no repetition.

    Empty if the question offers no choice, or the answer names more than one of its alternatives.
    """
    offered = list_offered_words(texts.question)
    keys = [word.key for word in offered]
    chosen = [word for word in texts.content if word.key in keys]
    others = [word for word in offered if all(word.key != own.key for own in chosen)]
    if len(chosen) != 1 or len(others) != 1 or texts.answer.find_word(others[0], True):
        return []
    return chosen
