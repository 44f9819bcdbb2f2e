"""Which model reads an answer: that of its language, unless the user replaced the lexicon of that language."""

from __future__ import annotations

from functools import cache

from assay.text.refusals.lexicon_file import list_shipped_languages, load_shipped_lexicon
from assay.text.refusals.lexicons_in_use import load_rules, select_rules
from assay.text.refusals.refusal_model import RefusalModel
from assay.text.refusals.refusal_model_file import MODEL_LANGUAGES, load_model
from assay.text.refusals.refusal_rules import find_lexicon, is_spelt_like
from assay.text.segmentation import normalise_answer


def choose_model(answer: str, question: str) -> RefusalModel | None:
    """Return the model of the answer's language, unless the user replaced the lexicon of that language."""
    language = find_language(answer, normalise_answer(answer), normalise_answer(question))
    if language not in MODEL_LANGUAGES or language in replaced_languages():
        return None
    return load_model(language)


def find_language(answer: str, text: str, question: str) -> str:
    """Return the language of a lexicon that an answer is written in; "" if none covers its script.

    `text`, `question`: the answer and its question, prepared by `normalise_answer`.
    """
    if is_spelt_like("vi", answer):
        return "vi"
    lexicon = find_lexicon(select_rules(answer), f"{text} {question}")
    return "" if lexicon is None else lexicon.language


@cache
def replaced_languages() -> frozenset[str]:
    """Return the shipped languages whose lexicon the user replaced."""
    lexicons = load_rules("common").lexicons
    return frozenset(
        language
        for language in list_shipped_languages()
        if language in lexicons and lexicons[language] is not load_shipped_lexicon(language)
    )
