"""An answer that denies in one sentence what another sentence of it states: "It costs £9. It does not cost £9."

Only sentences of which neither has a word of its own deny each other: "It does not cost £9 on Sundays" says when it is
not so, and "Refunds" above "Refunds are not given" is a heading. Which of the two holds nothing tells, so a fact that
either states is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import CONTRACTED_VERBS, DENIES_IN_OTHER_LANGUAGES
from assay.text.facts.cues.word_classes import SAYS_NO_MORE
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import CLAUSE_REACH, ReadText, Word, cache_of_texts
from assay.text.facts.reading.text_parts import list_quantities
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_same_quantity

_DENIES = build_pattern(rf"\b{DENIES_IN_OTHER_LANGUAGES}\b")
_CONTRACTED = "n't"
_NO_STATEMENT = ("?", ":")
"""Ends a question or the heading of a list."""
_MOST_SENTENCES = 100
"""Sentences that are compared, none of them longer than `CLAUSE_REACH`."""


class _Sentence(Struct, frozen=True):
    """A sentence of an answer: its text, whether it denies something, its other words and its quantities."""

    text: str
    is_negated: bool
    words: Sequence[Word]
    quantities: Sequence[Quantity]


def find_contrary_sentence(answer: ReadText, fact: ReadText, question: ReadText) -> str:
    """Return a sentence of an answer that is the contrary of one that states a fact, "" without one.

    What is asked about may be named in one of them alone, where they have a value.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> texts = ("It is 3 km long. The path is not 3 km long.", "It is 3 km long. It is not 3 km wide.")
    >>> fact, question = read_text("3 km"), read_text("How long is the path?")
    >>> [find_contrary_sentence(read_text(text), fact, question) for text in texts]
    ['The path is not 3 km long.', '']
    """
    sentences = _read_sentences(answer)
    if len({sentence.is_negated for sentence in sentences}) == 1:
        return ""
    is_negative = bool(find_negations(fact))
    contrary = [sentence for sentence in sentences if sentence.is_negated != is_negative]
    for stating in sentences:
        if stating.is_negated == is_negative and _is_about(stating, fact):
            for sentence in contrary:
                if _says_no_more(sentence, stating, question) and _says_no_more(stating, sentence, question):
                    return sentence.text
    return ""


@cache_of_texts(maxsize=16)
def _read_sentences(answer: ReadText) -> Sequence[_Sentence]:
    """Return the statements of an answer."""
    spans = dict.fromkeys((clause.sentence_start, clause.sentence_end) for clause in answer.clauses)
    sentences = []
    for start, end in islice(spans, _MOST_SENTENCES):
        written = answer.text[start:end].strip()
        if written.endswith(_NO_STATEMENT) or len(written) > CLAUSE_REACH:
            continue
        denials = [*find_negations(answer, start, end), *_DENIES.finditer(answer.plain, start, end)]
        words = [
            word
            for word in answer.list_words(start, end)
            if not any(denial.start() <= word.start and word.end <= denial.end() for denial in denials)
        ]
        sentences.append(_Sentence(written, bool(denials), words, list_quantities(answer, start, end)))
    return sentences


def _is_about(sentence: _Sentence, fact: ReadText) -> bool:
    """Whether a sentence has a value or a word of meaning of a fact."""
    if any(is_same_quantity(wanted, own) for wanted in fact.quantities for own in sentence.quantities):
        return True
    keys = {word.key for word in fact.words if word.kind != "stop"}
    return any(word.key in keys for word in sentence.words)


def _says_no_more(sentence: _Sentence, stating: _Sentence, question: ReadText) -> bool:
    """Whether all that a sentence says, but for words of grammar, another one says too, and that is something.

    Of a sentence with a value the question may say it too.
    """
    keys = {word.key for word in stating.words}
    restated = keys.union(word.key for word in question.words) if sentence.quantities else keys
    meant = [key for key in map(_find_meaning, sentence.words) if key]
    if not all(key in restated for key in meant):
        return False
    for own in sentence.quantities:
        if not any(is_same_quantity(other, own) for other in stating.quantities):
            return False
    return bool(sentence.quantities) or any(word.kind != "stop" and word.key in keys for word in sentence.words)


def _find_meaning(word: Word) -> str:
    """Return the key of a word, that of its verb for "can't", and "" for one that says no more than others do.

    A capital may be a name: "Hall A".
    """
    if word.folded.endswith(_CONTRACTED):
        verb = word.folded.removesuffix(_CONTRACTED)
        return "" if verb in SAYS_NO_MORE else CONTRACTED_VERBS.get(verb, verb)
    is_letter = word.is_capitalised and len(word.folded) == 1
    says_no_more = all(piece in SAYS_NO_MORE for piece in word.folded.replace("’", "'").split("'"))
    return "" if says_no_more and not is_letter else word.key
