"""Answers that only the wording calls a refusal, and that say something of the world: a value, or what is not to be
had. "From 06:00 to 22:00. Outside these hours requests are not handled." answers when, and "Parking is not
available." may be invented."""

from __future__ import annotations

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import is_plain
from assay.text.refusals.refusal_lexicon import RefusalLexicon

_SENTENCE_END = compile_pattern(r"(?<=[.!?;])\s+")
_FIGURE = compile_pattern(r"\d+")
_DENIES = LatePattern(
    r"\b(?:not|no|nor|none|never|neither|nothing|cannot|\w{1,10}n't|nicht|kein\w*|nichts|weder|pas|aucune?|rien|ni|nada"
    r"|nao|nem|nenhum\w*|khong|chua|chang|i|we|ich|wir|je|nous|yo|eu|toi|minh)\b"
)
"""A denial, or somebody who speaks of themselves: such a sentence says nothing of the world."""
_MOST_WORDS, _MOST_WORDS_OF_LACK = 6, 12
_WORDS_TO_FIGURE = 2  # "from 06:00", "14 days": in a whole sentence the subject comes first


def begins_with_value(answer: str, question: str, lexicon: RefusalLexicon | None) -> bool:
    """Return whether the first of several sentences is a few words that begin with a value which the question lacks.

    `lexicon` is that of the answer: where it speaks of documents or of the speaker, it may well decline ("14 pages.
    None of the documents has it.").

    >>> begins_with_value("14 days. Later returns cannot be accepted.", "How long may I return it?", None)
    True
    >>> begins_with_value("Not in the 3 files. Sorry.", "How long may I return it?", None)
    False
    """
    first, *others = _SENTENCE_END.split(answer.strip(), maxsplit=1)
    folded = fold_text(first)
    words = folded.split()
    new_figures = set(_FIGURE.findall(" ".join(words[:_WORDS_TO_FIGURE]))) - set(_FIGURE.findall(question))
    if not others or not first.endswith(".") or not new_figures or len(words) > _MOST_WORDS or _DENIES.search(folded):
        return False
    if all(is_plain(value) for value in find_measures(first)):  # "403 Forbidden." is no value
        return False
    if lexicon is None:
        return True
    whole = f"{folded} {fold_text(others[0])}"
    return not any(lexicon.patterns[name].search(whole) for name in ("subjects.documents", "subjects.speaker"))


def states_lack(answer: str, lexicon: RefusalLexicon) -> bool:
    """Return whether an answer is one short sentence by which a thing is not to be had: no documents, and no fact."""
    folded = fold_text(answer).strip()
    if len(folded.split()) > _MOST_WORDS_OF_LACK or len(_SENTENCE_END.split(folded)) > 1:
        return False
    lack = lexicon.patterns["lacks.states"].search(folded)
    if lack is None or _DENIES.search(folded[: lack.start()]):
        return False
    subject = folded[: lack.start()]
    about_facts = (lexicon.patterns[name].search(subject) for name in ("subjects.documents", "lacks.facts"))
    return not any(about_facts)
