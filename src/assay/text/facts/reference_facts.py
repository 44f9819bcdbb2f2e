"""What an answer must state according to a reference in sentences: the value or the decision asked for, or its words.

"A late return costs £2 a day." asks of an answer to "What does a late return cost?" the value "£2 a day" and no word
besides; an answer to "Who repairs the pump?" has to have what the reference says beyond the question. What is asked of
the answer is judged as a must-have fact is (`stated_facts`), and then with more caution, because nobody wrote it down
as one: words that are missing may be said in other words, so they leave it open and never make an answer wrong.

Questions in English and Vietnamese are read for what they ask; of those in other languages all words of the reference
are looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from assay.text.facts.fact_decision import asks_whether, read_decision
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.fact_scope import has_exception
from assay.text.facts.missing_quantities import names_other_value
from assay.text.facts.read_text import ReadText, Word, read_text
from assay.text.facts.stated_facts import judge_facts
from assay.text.facts.stated_quantities import is_misread_value
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import WEEKDAY_NUMBER, Quantity, split_range
from assay.text.quantities.quantity_agreement import is_same_quantity

ReferenceKind = Literal["value", "values", "decision", "words"]


class ReferenceFacts(NamedTuple):
    """What a reference asks of an answer.

    `kind`: one value, one of several values or all of them, a yes or no, or words. `facts`: what has to be stated.
    `besides`: what has to be stated too for the answer to be right, though nothing shows it wrong without. `reason`:
    what the reference says beside a yes or no, which an answer may say in its stead.
    """

    kind: ReferenceKind
    facts: tuple[str, ...]
    besides: tuple[str, ...] = ()
    reason: tuple[str, ...] = ()


def judge_reference_facts(answer: str, reference: str, question: str) -> list[FactJudgment]:
    """Return what an answer does with what a reference in sentences asks of it; empty for a reference without words.

    An answer is right if all of it is stated. It is denied or missing only where the answer gives another value than
    the only one of the reference, or decides otherwise; the rest is unknown.

    >>> reference = "A late return costs £2 a day, and the card is blocked."
    >>> question = "What does a late return cost?"
    >>> answers = ("Two pounds per day.", "It's £3 a day.", "That depends.")
    >>> [judge_reference_facts(answer, reference, question)[0].state for answer in answers]
    ['stated', 'missing', 'unknown']
    """
    derived = derive_reference_facts(reference, question)
    if derived.kind == "words" and _count_new_words(derived, question) > _MOST_COMPARED_WORDS:
        return [FactJudgment(fact, "unknown", TOO_LONG) for fact in derived.facts]
    judgments = judge_facts(answer, derived.facts, question, reference)
    judgments = [_check_ends(_soften(judgment, derived.kind), answer) for judgment in judgments]
    if derived.kind == "decision" and derived.besides:
        judgments[0] = _decide_by_first_word(judgments[0], read_text(answer), read_text(reference))
    is_implied = derived.kind == "decision" and _is_undecided(read_text(answer))
    needed = derived.besides or (derived.reason if is_implied else ())
    if not needed or not all(judgment.state == "stated" or is_implied for judgment in judgments):
        return judgments
    besides = [_soften(judgment, "words") for judgment in judge_facts(answer, needed, question, reference)]
    if is_implied and not any(judgment.state == "denied" for judgment in judgments):
        return besides
    return [*judgments, *besides]


def _decide_by_first_word(judgment: FactJudgment, answer: ReadText, reference: ReadText) -> FactJudgment:
    """Return a yes or no with which an answer begins as stated, whatever follows it: the rest is judged by itself."""
    stated, expected = read_decision(answer), read_decision(reference)
    is_same = stated is not None and expected is not None and stated.is_yes == expected.is_yes
    return judgment._replace(state="stated", reason="") if judgment.state == "unknown" and is_same else judgment


def _is_undecided(answer: ReadText) -> bool:
    """Whether an answer begins with neither yes nor no, and makes no exception, so that the rest of it can tell."""
    return read_decision(answer) is None and not has_exception(answer)


def _soften(judgment: FactJudgment, kind: ReferenceKind) -> FactJudgment:
    """Return a judgment as unknown where nothing shows that the answer is wrong."""
    is_shown_wrong = judgment.state == "denied" or (judgment.state == "missing" and names_other_value(judgment))
    if judgment.state in ("stated", "unknown") or (kind in _MAY_FAIL and is_shown_wrong):
        return judgment
    return judgment._replace(state="unknown")


def _check_ends(judgment: FactJudgment, answer: str) -> FactJudgment:
    """Return a bound that an answer keeps without naming it, and a range of which it names one end, as unknown.

    "For 30 days" keeps "up to 90 days", and may leave out a part of "from 30 to 90 days".
    """
    given = [_unbind(quantity) for quantity in read_text(answer).quantities]
    for wanted in read_text(judgment.fact).quantities:
        if judgment.state == "stated" and wanted.bound and not _is_among(_unbind(wanted), given):
            return judgment._replace(state="unknown", reason=f"it does not name {judgment.fact}")
        if judgment.state != "stated" and any(_is_among(end, given) for end in split_range(wanted)):
            return judgment._replace(state="unknown")
    return judgment


def _unbind(quantity: Quantity) -> Quantity:
    return quantity._replace(bound="")


def _is_among(wanted: Quantity, given: Sequence[Quantity]) -> bool:
    return any(is_same_quantity(wanted, own) for own in given)


_MAY_FAIL = ("value", "decision")

# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────────

_Asked = Literal["", "amount", "day", "moment", "measure"]
"""What a question asks for: an amount of money, a day, a moment in time, another measure or count, or no value."""
_ASKS_AMOUNT = LatePattern(
    r"\b(?:how much|what do(?:es)?(?: [\w'-]+){1,8} cost|what(?:'s| is| are| was| were) the(?: [\w'-]+){0,4}"
    r" (?:costs?|prices?|fees?|fares?|charges?|fine|rent|deposit|tuition)|(?:bao nhieu|may) tien)\b"
)
_ASKS_DAY = LatePattern(r"\b(?:(?:which|what) (?:week)?(?:days?|dates?)|(?:ngay|thu) (?:nao|may)|may thu nao)\b")
_ASKS_MOMENT = LatePattern(
    r"\b(?:when|when's|what time|what(?:'s| is) the(?: [\w'-]+){0,4} deadline"
    r"|khi nao|bao gio|may gio|luc nao|gio nao)\b"
)
_ASKS_MEASURE = LatePattern(
    r"\b(?:how (?:many|long|far|often|old|tall|high|big|large|heavy|late|early|soon|wide|deep|fast)"
    r"|what(?:'s| is| are| was| were) the(?: [\w'-]+){0,4} (?:minimum|maximum|limit|rate|percentage|share|age|number"
    r"|size|length|height|weight|width|depth|speed|temperature|capacity|distance|duration)"
    r"|what(?:'s| is| are| was| were) the (?:minimum|maximum|lowest|highest|least|most) \w+"
    r"|what (?:percentage|share|age|number|size|speed|temperature)"
    r"|bao nhieu|bao lau|bao xa|toi da|toi thieu|nhieu nhat|it nhat"
    r"|may (?:bai|buoi|cai|can|chiec|chuyen|con|cuon|gio|ky|lan|lop|mon|nam|ngay|nguoi|phan|phong|phut|quyen|suat|tang"
    r"|thang|tieng|tuan|tuoi|ve|vien))\b"
)
"""\"mấy\" is folded to the English \"may\", so that it counts before what is counted alone."""
_QUESTION_WORD = re.compile(
    r"\b(?:who|whom|whose|what|where|when|why|which|how|ai|dau|khi nao|bao gio|bao nhieu|bao lau|vi sao|tai sao)\b"
)
_DAYS = frozenset(("date", "ordinal", WEEKDAY_NUMBER))
_MOMENTS = frozenset(("time", "date", "duration", "calendar", WEEKDAY_NUMBER))
_NO_AMOUNTS = frozenset(("time", "ordinal", "code", "code abroad", WEEKDAY_NUMBER))
_RESTRICTION = LatePattern(
    r"\b(?:but|only|unless|except|if|when|provided|as long as|until|nhung|chi|tru|neu|khi|mien la|voi dieu kien)\b"
)


def _find_asked(question: ReadText) -> _Asked:
    """Return what kind of value a question asks for; none if it asks for two things, of which a value is only one."""
    if len(_QUESTION_WORD.findall(question.plain)) > 1:
        return ""
    if _ASKS_DAY.search(question.plain) is not None:
        return "day"
    if _ASKS_MOMENT.search(question.plain) is not None:
        return "moment"
    if _ASKS_AMOUNT.search(question.plain) is not None:
        return "amount"
    return "measure" if _ASKS_MEASURE.search(question.plain) is not None else ""


def _answers(quantity: Quantity, asked: _Asked) -> bool:
    """Whether a quantity is of the kind that is asked for."""
    dimensions = {"date"} if quantity.date else {reading.dimension for reading in quantity.readings}
    if asked == "day":
        return not dimensions.isdisjoint(_DAYS)
    if asked == "moment":
        return not dimensions.isdisjoint(_MOMENTS)
    if asked == "amount":
        return any(dimension.startswith("money") or dimension in ("", "share") for dimension in dimensions)
    return "date" not in dimensions and not dimensions <= _NO_AMOUNTS


# ── what a reference asks for ────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=4096)
def derive_reference_facts(reference: str, question: str) -> ReferenceFacts:
    """Return what a reference asks of an answer to a question.

    >>> derive_reference_facts("The pool closes at 9 pm.", "When does the pool close?")
    ReferenceFacts(kind='value', facts=('9 pm',), besides=(), reason=())
    >>> derive_reference_facts("No, dogs stay outside.", "May I bring my dog?").facts
    ('no',)
    >>> derive_reference_facts("The caretaker repairs the pump.", "Who repairs the pump?").besides
    ('caretaker',)
    """
    read, asking = read_text(reference), read_text(question)
    whole = reference.strip().rstrip(".")
    if is_misread_value(reference):
        return ReferenceFacts("words", (whole,))
    if asks_whether(asking):
        decision = read_decision(read)
        if decision is not None:
            return _derive_decision(read, asking, "yes" if decision.is_yes else "no", decision.end)
        return ReferenceFacts("words", (whole,))
    values = _list_new_values(read, asking)
    asked = _find_asked(asking)
    if asked and values and all(_is_readable_alone(read, value) for value in values):
        fitting = [value for value in values if _answers(value, asked)]
        if fitting:
            return _derive_values(read, asking, values, fitting)
    return ReferenceFacts("words", (whole,), tuple(_list_new_phrases(read, asking)))


def is_told_by_rules(reference: str, question: str) -> bool:
    """Return whether what a reference asks for is short enough that rules often find it in a right answer.

    Of up to 4 words and values that the question does not have, rules found all in 2 of 3 right answers of the
    benchmark (`benchmarks.facts`); of more, in 2 of 80, because nobody repeats so many words.

    >>> question = "What happens if I miss the exam?"
    >>> is_told_by_rules("You repeat the year.", question)
    True
    >>> is_told_by_rules("You sit it again in September with a new form, or you repeat the whole year.", question)
    False
    """
    return _count_new_words(derive_reference_facts(reference, question), question) <= _MOST_FOUND_WORDS


_MOST_FOUND_WORDS, _MOST_COMPARED_WORDS = 4, 12
TOO_LONG = "it is longer than rules compare"


@lru_cache(maxsize=4096)
def _count_new_words(derived: ReferenceFacts, question: str) -> int:
    """Return how many words and values that the question does not have are asked for."""
    asking = read_text(question)
    new = 0
    for fact in derived.facts:
        read = read_text(fact)
        new += sum(word.kind != "stop" and not asking.find_word(word, True) for word in read.words)
        new += len(_list_new_values(read, asking))
    return new


def _derive_decision(read: ReadText, asking: ReadText, decision: str, end: int) -> ReferenceFacts:
    """Return a yes or no with the only value that the reference adds to it, and the rest if that restricts it or has
    more values."""
    rest = read.text[end:].strip(" ,.;:-–")
    is_restricted = _RESTRICTION.search(read.plain[end:]) is not None
    added = [value for value in _list_new_values(read, asking) if value.start >= end]
    is_single = len(added) == 1 and _is_readable_alone(read, added[0])
    facts = (decision, _spell_value(read, added[0])) if is_single else (decision,)
    is_needed = is_restricted or (bool(added) and not is_single)
    reason = (rest,) if rest else ()
    return ReferenceFacts("decision", facts, reason if is_needed else (), reason)


def _derive_values(read: ReadText, asking: ReadText, values: list[Quantity], fitting: list[Quantity]) -> ReferenceFacts:
    """Return the values that are asked for: the only one, the one beside the words of the question, or all of them.

    A reference in a few words, none of which is in the question, has no word too many: "30 days from delivery".
    """
    spelled = tuple(dict.fromkeys(_spell_value(read, value) for value in fitting))
    is_bare = not any(asking.find_word(word, True) for word in read.words if word.kind != "stop")
    besides = (read.text.strip(),) if is_bare and any(word.kind != "stop" for word in read.words) else ()
    if len(values) == 1:
        return ReferenceFacts("value", spelled, besides)
    if len(spelled) > 1:
        nearest = _find_nearest_clauses(read, asking)
        beside = [value for value in fitting if any(start <= value.start < end for start, end in nearest)]
        chosen = tuple(dict.fromkeys(_spell_value(read, value) for value in beside))
        if len(chosen) == 1:
            spelled = chosen
        else:
            judged = judge_facts(read.text, spelled, asking.text)
            spelled = tuple(own.fact for own in judged if own.state == "stated") or spelled
    return ReferenceFacts("values", spelled, besides)


def _find_nearest_clauses(read: ReadText, asking: ReadText) -> list[tuple[int, int]]:
    """Return the spans of the clauses that have the most words of the question; none if no clause has one."""
    shared_by_span = {}
    for clause in read.clauses:
        span = clause.start, clause.end
        words = [word for word in read.words if clause.start <= word.start < clause.end and word.kind != "stop"]
        shared_by_span[span] = len({word.key for word in words if asking.find_word(word, True)})
    most = max(shared_by_span.values(), default=0)
    return [span for span, shared in shared_by_span.items() if most and shared == most]


def _list_new_values(read: ReadText, asking: ReadText) -> list[Quantity]:
    """Return the quantities of a reference that the question does not have."""
    new = []
    for quantity in read.quantities:
        is_repeated = any(is_same_quantity(quantity, own) for own in asking.quantities)
        if not quantity.is_spelled_one and not is_repeated:
            new.append(quantity)
    return new


def _spell_value(read: ReadText, value: Quantity) -> str:
    """Return a value as the reference writes it, with what it is counted per, and "thứ" before a day of the week."""
    start, end = value.start, value.end
    if value.rate_span != (0, 0):
        start, end = min(start, value.rate_span[0]), max(end, value.rate_span[1])
    if any(reading.dimension == WEEKDAY_NUMBER for reading in value.readings):
        start = read.plain.rfind("thu", 0, start) if read.plain[:start].rstrip().endswith("thu") else start
    return read.text[start:end].strip(" .,;")


def _is_readable_alone(read: ReadText, value: Quantity) -> bool:
    """Whether a value is the same when it stands alone."""
    alone = read_text(_spell_value(read, value)).quantities
    return len(alone) == 1 and is_same_quantity(alone[0], value)


def _list_new_phrases(read: ReadText, asking: ReadText) -> Iterator[str]:
    """Yield the runs of words of a reference that the question does not have, as they are written."""
    run: list[Word] = []
    for word in read.words:
        if word.kind == "stop":
            continue
        if not asking.find_word(word, True):
            run.append(word)
        elif run:
            yield read.text[run[0].start : run[-1].end]
            run = []
    if run:
        yield read.text[run[0].start : run[-1].end]
