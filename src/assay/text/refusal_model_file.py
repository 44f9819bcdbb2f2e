"""Reads the models of refusals in free wording that ship, and chooses the one of a text's language.

The word classes are written in YAML; `python scripts/lexicon_copies.py` copies them to JSON, which is read here.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from assay.text.refusal_model import FeatureReader, RefusalModel, parse_weights

MODEL_LANGUAGES = ("en", "vi")
MODEL_FOLDER = Path(__file__).with_name("refusal_models")
_LETTERS = bytes(code if chr(code).islower() and code < 128 else ord(" ") for code in range(256))
_LEAST_KNOWN = 0.5  # share of the words that a model must know, to be the one of the text's language
_MOSTLY_KNOWN = 0.8  # share that settles the language: the other model is not asked


@cache
def load_reader(language: str) -> FeatureReader:
    """Return the reader of a language's features, with the word classes that ship."""
    content = json.loads(_read_model_file(f"{language}.json"))
    class_by_word: dict[str, str] = {}
    for name, words in content["classes"].items():
        for word in words:
            class_by_word.setdefault(word, name)
    return FeatureReader(class_by_word, content["ignored"], content["questions"], content["ambiguous"])


@cache
def load_model(language: str) -> RefusalModel:
    """Return the model of a language as it ships."""
    return parse_weights(_read_model_file(f"{language}.tsv"), language, load_reader(language))


def _read_model_file(name: str) -> str:
    return MODEL_FOLDER.joinpath(name).read_text("utf-8")


def choose_model(text: str) -> RefusalModel | None:
    """Return the model that knows most words of a prepared text; None if none knows half of them.

    >>> choose_model("Das Dokument enthält dazu nichts".lower()) is None
    True
    """
    words = _split_letters(text)
    best, best_count = None, _LEAST_KNOWN * max(1, len(words))
    for language in MODEL_LANGUAGES:
        model = load_model(language)
        count = model.count_known(words)
        if count > best_count:
            best, best_count = model, count
        if best_count >= _MOSTLY_KNOWN * len(words):
            break
    return best


def knows_most_words(model: RefusalModel, text: str) -> bool:
    """Return whether a model knows so many words of a prepared text that the text is surely in its language.

    >>> knows_most_words(load_model("en"), "oh no! what's your order number?")
    True
    """
    words = _split_letters(text)
    return model.count_known(words) >= _MOSTLY_KNOWN * max(1, len(words))


def _split_letters(text: str) -> set[bytes]:
    return set(text.encode("ascii", "replace").translate(_LETTERS).split())
