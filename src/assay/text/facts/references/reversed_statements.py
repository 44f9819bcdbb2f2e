"""What a reference forbids or denies, and an answer affirms."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import FORBIDS_VERB
from assay.text.facts.reading.exceptions import has_exception
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word, narrow_clause, read_text
from assay.text.facts.reading.statement_marks import NEGATION
from assay.text.facts.reading.text_parts import split_parts

_FORBIDDEN = build_pattern(rf"\b{FORBIDS_VERB} (?:be )?(?P<verb>[a-z]{{4,}})")


def find_reversed_statement(answer: str, reference: str) -> str:
    """Return what the reference forbids or denies and the answer affirms, in words; "" if there is nothing such.

    >>> find_reversed_statement("Keep it for 14 days and renew it twice.", "14 days; it cannot be renewed.")
    'cannot be renewed (the answer says "renew" without denying it)'
    """
    read_answer, read_reference = read_text(answer), read_text(reference)
    for match in _FORBIDDEN.finditer(read_reference.plain):
        verb = read_reference.word_at(match.start("verb"))
        if verb is None:
            continue
        places = [read_answer.words[place] for place in read_answer.find_word(verb, not read_answer.has_marks)]
        if not places or any(_is_in_negated_clause(word, read_answer) for word in places):
            continue
        denied = read_reference.text[match.start() : match.end()]
        affirmed = read_answer.text[places[0].start : places[0].end]
        return f'{denied} (the answer says "{affirmed}" without denying it)'
    return ""


def find_swapped_denial(reference: ReadText, answer: ReadText) -> str:
    """Return the words that an answer denies and a reference affirms, if the answer affirms what the reference denies;
    "" if it does not.

    >>> texts = [read_text(text) for text in ("In hall B, not in hall C.", "In hall C, not in hall B.")]
    >>> find_swapped_denial(*texts)
    'the answer denies "B", and the reference denies another'
    """
    (affirmed, denied), (affirmed_in_answer, denied_in_answer) = _split_by_denial(reference), _split_by_denial(answer)
    swapped = [key for key in denied_in_answer if key in affirmed and key not in affirmed_in_answer]
    if not swapped or not any(key in affirmed_in_answer and key not in affirmed for key in denied):
        return ""
    return f'the answer denies "{denied_in_answer[swapped[0]]}", and the reference denies another'


def _split_by_denial(text: ReadText) -> tuple[dict[str, str], dict[str, str]]:
    """Return the words that a text says and those that it names after a negation in the same part, by their keys."""
    affirmed: dict[str, str] = {}
    denied: dict[str, str] = {}
    negations = find_negations(text)
    for part in split_parts(text, 0, len(text.plain)) if negations else ():
        first = next((negation.end() for negation in negations if part.start <= negation.start() < part.end), part.end)
        for word in text.list_words(part.start, part.end):
            if word.kind != "stop" or (word.is_capitalised and len(word.folded) == 1):
                (denied if word.start >= first else affirmed).setdefault(word.key, text.text[word.start : word.end])
    return affirmed, denied


def _is_in_negated_clause(word: Word, text: ReadText) -> bool:
    clause = narrow_clause(text.clause_at(word.start), word.start)
    sentence = text.plain[clause.sentence_start : clause.sentence_end]
    return NEGATION.search(sentence) is not None or sentence.rstrip().endswith("?") or has_exception(text)
