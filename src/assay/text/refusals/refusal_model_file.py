"""Reads the models that tell what an answer does, and says which languages have one.

`refusal_models/LANGUAGE.npy` holds the weights of runs of words, `refusal_models/LANGUAGE.json` all else. Both are
written by `python -m benchmarks.train_refusal_model`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from assay.text.refusals.refusal_model import ModelParameters, RefusalModel

MODEL_LANGUAGES = ("de", "en", "es", "fr", "ja", "pt", "vi", "zh")
MODEL_FOLDER = Path(__file__).with_name("refusal_models")


@cache
def load_model(language: str) -> RefusalModel:
    """Return the model of a language as it ships.

    >>> load_model("en").score_text("that page has been torn out of my copy.", "who built the mill?").act
    'refuse'
    """
    return RefusalModel(
        language, np.load(MODEL_FOLDER / f"{language}.npy", allow_pickle=False), load_parameters(language)
    )


@cache
def load_parameters(language: str) -> ModelParameters:
    """Return what the model of a language has beside its weights."""
    content = json.loads(MODEL_FOLDER.joinpath(f"{language}.json").read_text("utf-8"))
    word_sets = (frozenset(content.get(name, ())) for name in ("denials", "masked"))
    return ModelParameters(tuple(content["scales"]), content["measures"], *word_sets)
