"""What an answer must state according to a reference in sentences: the value or the decision asked for, or its words.

"A late return costs £2 a day." asks of an answer to "What does a late return cost?" the value "£2 a day" and no word
besides; an answer to "Who repairs the pump?" has to have what the reference says beyond the question. What is asked of
the answer is judged in `reference_judgments`.

Questions in English, Vietnamese, French, German, Spanish, Italian and Portuguese are read for what they ask; of those
in other languages all words of the reference are looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from assay.text.facts.cues.condition_cues import RESTRICTS_REFERENCE
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.role_cues import ADDRESSED_AS_YOU
from assay.text.facts.cues.word_classes import PREPOSITIONS, SAID_WITHOUT
from assay.text.facts.expected.fact_texts import find_grammar
from assay.text.facts.expected.yes_or_no import asks_whether, read_decision
from assay.text.facts.reading.read_text import ReadText, Word, read_text
from assay.text.facts.reading.text_parts import list_quantities, split_parts
from assay.text.facts.reading.word_senses import find_same_sense
from assay.text.facts.references.asked_values import find_asked_value, is_value_asked
from assay.text.facts.stated_facts import judge_facts
from assay.text.facts.stated_quantities import is_misread_value
from assay.text.quantities.quantity import WEEKDAY_NUMBER, Quantity
from assay.text.quantities.quantity_agreement import is_same_quantity

ReferenceKind = Literal["value", "values", "decision", "words"]


class ReferenceFacts(Struct, frozen=True):
    """What a reference asks of an answer.

    `kind`: one value, one of several values or all of them, a yes or no, or words. `facts`: what has to be stated.
    `besides`: what has to be stated too for the answer to be right, though nothing shows it wrong without. `reason`:
    what the reference says beside a yes or no, which an answer may say in its stead.
    """

    kind: ReferenceKind
    facts: tuple[str, ...]
    besides: tuple[str, ...] = ()
    reason: tuple[str, ...] = ()


_RESTRICTION = build_pattern(rf"\b{RESTRICTS_REFERENCE}\b")
_ONLY = ("only", "chi")


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
    asked = find_asked_value(asking)
    if asked and values and all(_is_readable_alone(read, value) for value in values):
        fitting = [value for value in values if is_value_asked(value, asked)]
        if fitting:
            return _derive_values(read, asking, values, fitting)
    return ReferenceFacts("words", (whole,), tuple(_list_telling_phrases(read, asking)))


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
    return count_new_words(derive_reference_facts(reference, question), question) <= _MOST_FOUND_WORDS


_MOST_FOUND_WORDS = 4


@lru_cache(maxsize=4096)
def count_new_words(derived: ReferenceFacts, question: str) -> int:
    """Return how many words and values are asked for that the question does not have.

    >>> count_new_words(ReferenceFacts("words", ("The caretaker repairs it for £5",)), "Who repairs the pump?")
    2
    """
    asking = read_text(question)
    new = 0
    for fact in derived.facts:
        read = read_text(fact)
        grammar = find_grammar(asking, read)
        telling = [word for word in read.words if word.kind != "stop" and word.folded not in grammar]
        new += sum(not asking.find_word(word, True) for word in telling)
        new += len(_list_new_values(read, asking))
    return new


def _derive_decision(read: ReadText, asking: ReadText, decision: str, end: int) -> ReferenceFacts:
    """Return a yes or no with the only value that the reference adds to it, and the rest if that restricts it or has
    more values."""
    rest = read.text[end:].strip(" ,.;:-–")
    restriction = _RESTRICTION.search(read.plain[end:])
    # "No, only members may" gives the reason of a no, and "yes, only at weekends" limits a yes.
    is_restricted = restriction is not None and (decision == "yes" or restriction[0] not in _ONLY)
    added = [value for value in _list_new_values(read, asking) if value.start >= end]
    is_single = len(added) == 1 and _is_readable_alone(read, added[0])
    facts = (decision, _spell_value(read, added[0])) if is_single else (decision,)
    is_needed = is_restricted or (bool(added) and not is_single)
    reason = (rest,) if rest else ()
    return ReferenceFacts("decision", facts, reason if is_needed else (), reason)


def limits_decision(derived: ReferenceFacts) -> bool:
    """Return whether what a reference says beside a yes or no has a word that may limit it, such as "only"."""
    return any(_RESTRICTION.search(read_text(reason).plain) is not None for reason in derived.reason)


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
        nearest = _find_nearest(read, asking, fitting)
        beside = [value for value in fitting if any(start <= value.start < end for start, end in nearest)]
        chosen = tuple(dict.fromkeys(_spell_value(read, value) for value in beside))
        if len(chosen) == 1:
            spelled = chosen
        else:
            judged = judge_facts(read.text, spelled, asking.text)
            spelled = tuple(own.fact for own in judged if own.state == "stated") or spelled
    return ReferenceFacts("values", spelled, besides)


def _find_nearest(read: ReadText, asking: ReadText, fitting: Sequence[Quantity]) -> list[tuple[int, int]]:
    """Return the span of the part with a value that has all words of the question that another such part has, and
    more; else those of the clauses that have the most of them; none if no clause has one."""
    shared_by_span = {}
    for part in split_parts(read, 0, len(read.plain)):
        if any(part.start <= value.start < part.end for value in fitting):
            shared_by_span[part.start, part.end] = _list_shared(read, asking, part.start, part.end)
    for span, shared in shared_by_span.items():
        others = [other for other in shared_by_span if other != span]
        if all(
            shared_by_span[other] < shared and not _is_same_in_other_respect(read, asking, *other) for other in others
        ):
            return [span]
    counts = {}
    for clause in read.clauses:
        counts[clause.start, clause.end] = len(_list_shared(read, asking, clause.start, clause.end))
    most = max(counts.values(), default=0)
    return [span for span, count in counts.items() if most and count == most]


def _is_same_in_other_respect(read: ReadText, asking: ReadText, start: int, end: int) -> bool:
    """Whether a part of a reference goes on with what the part before it is about: "5p a page, and 20p in colour"."""
    words = read.list_words(start, end)
    named = [index for index, word in enumerate(words) if word.kind != "stop" and not asking.find_word(word, True)]
    return bool(named) and all(
        any(before.folded in PREPOSITIONS for before in words[max(0, index - _GOVERNED) : index]) for index in named
    )


_GOVERNED = 2
"""Words from a preposition to the noun that it governs: "in the morning"."""


def _list_shared(read: ReadText, asking: ReadText, start: int, end: int) -> set[str]:
    """Return the words and the values of a question that a stretch of a reference has."""
    shared: set[str] = set()
    for word in read.list_words(start, end):
        if word.kind != "stop":
            places = asking.find_word(word, True) or find_same_sense(asking, word.folded)
            shared.update(asking.words[place].key for place in places[:1])
    own = list_quantities(read, start, end)
    for number, asked in enumerate(asking.quantities):
        if any(is_same_quantity(asked, value) for value in own):
            shared.add(f"{number}.")
    return shared


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


def _list_telling_phrases(read: ReadText, asking: ReadText) -> list[str]:
    """Return the new phrases of a reference that tell something alone: no everyday verb, nobody whom an answer calls
    "you" unless it tells nothing else, and none with several values, which only the whole tells apart."""
    phrases = []
    for phrase in _list_new_phrases(read, asking):
        text = read_text(phrase)
        is_verb = all(word.kind == "stop" or word.folded in SAID_WITHOUT for word in text.words)
        if not (is_verb and not text.quantities) and len(text.quantities) < _SEVERAL:
            phrases.append(phrase)
    telling = [phrase for phrase in phrases if _ADDRESSED.fullmatch(read_text(phrase).plain) is None]
    return telling or phrases


_SEVERAL = 2
_ADDRESSED = build_pattern(str(ADDRESSED_AS_YOU))


def _list_new_phrases(read: ReadText, asking: ReadText) -> Iterator[str]:
    """Yield the runs of words of a reference that the question does not have, as they are written."""
    run: list[Word] = []
    grammar = find_grammar(asking, read)
    for word in read.words:
        if word.kind == "stop" or word.folded in grammar:
            continue
        if not asking.find_word(word, True):
            run.append(word)
        elif run:
            yield read.text[run[0].start : run[-1].end]
            run = []
    if run:
        yield read.text[run[0].start : run[-1].end]
