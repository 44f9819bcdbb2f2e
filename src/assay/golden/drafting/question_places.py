"""Names the section that a bare question is asked under: "What happens to opened cans?" needs the terms of returns."""

from __future__ import annotations

import re

from assay.golden.drafting.corpus_words import CorpusWords, is_numbered_name
from assay.golden.drafting.question_forms import DraftedQuestion
from assay.golden.drafting.question_templates import ask_under_heading
from assay.text.languages import KnownLanguage
from assay.text.normalisation import fold_text
from assay.text.tokens import is_stop_word

_BARE_CONDITION = {
    "en": re.compile(r"What (?:happens (?:to|if|when)|must be done with|should happen (?:if|when)|becomes of)\b"),
    "vi": re.compile(r"thì sao\?\Z"),
}
_ONE_NOUN = re.compile(r"(?:is|are|was|were|do|does|can|may|must) (?P<noun>[a-z]{1,40}) (?P<rest>[a-z ]{0,60})\?\Z")
_MOST_AFTER_NOUN = 1
_SHORTEST_STEM = 5


def name_place(
    asked: DraftedQuestion, heading: str, language: KnownLanguage, words: CorpusWords
) -> DraftedQuestion | None:
    """Return a question with its heading where it does not say by itself what it is about, None if no heading does.

    So are bare conditions, and questions about one common noun and a verb, unless they share a word with the heading
    or have a name or number.

    >>> asked = DraftedQuestion("What happens to opened fuel cans?", "They stay.")
    >>> name_place(asked, "Terms of returns", "en", CorpusWords([])).question
    'According to “Terms of returns”, what happens to opened fuel cans?'
    """
    question = asked.question
    if "“" in question or not _is_bare(question, language) or _names_something(question, words):
        return asked
    if _share_a_stem(question, heading, language):
        return asked
    if not heading or words.is_repeated_heading(heading) or heading.endswith("?"):
        return None
    return asked._replace(question=ask_under_heading(question, heading, language))


def _is_bare(question: str, language: KnownLanguage) -> bool:
    if _BARE_CONDITION[language].search(question) is not None:
        return True
    match = _ONE_NOUN.search(question) if language == "en" else None
    return match is not None and len(match["rest"].split()) <= _MOST_AFTER_NOUN


def _names_something(question: str, words: CorpusWords) -> bool:
    parts = question.rstrip("?").split()[1:]
    pairs = [" ".join(parts[number : number + 2]) for number in range(len(parts))]
    is_named = any(words.is_name(part) for part in parts) or any(map(is_numbered_name, pairs))
    return is_named or re.search(r"\d", question) is not None


def _share_a_stem(question: str, heading: str, language: KnownLanguage) -> bool:
    """Return whether a question and a heading have a word in common, in English by its first letters."""
    size = _SHORTEST_STEM if language == "en" else None
    own, other = (
        {word[:size] for word in re.findall(r"[^\W\d_]{4,}", fold_text(text)) if not is_stop_word(word)}
        for text in (question, heading)
    )
    return bool(own & other)
