"""What a reference forbids or denies, and an answer affirms."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import FORBIDS_VERB
from assay.text.facts.reading.exceptions import has_exception
from assay.text.facts.reading.read_text import ReadText, Word, narrow_clause, read_text
from assay.text.facts.reading.statement_marks import NEGATION

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


def _is_in_negated_clause(word: Word, text: ReadText) -> bool:
    clause = narrow_clause(text.clause_at(word.start), word.start)
    sentence = text.plain[clause.sentence_start : clause.sentence_end]
    return NEGATION.search(sentence) is not None or sentence.rstrip().endswith("?") or has_exception(text)
