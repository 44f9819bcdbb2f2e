"""Sentence vectors from a BERT-like model in a directory: `model.safetensors`, `config.json` and `tokenizer.json`.

Mean pooling over the last layer, in numpy; only the tokenizer needs a package (`tokenizers`, extra `embed`). Nothing
is downloaded. A model that knows only English places Vietnamese questions badly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import erf

from examples.handbook.app.embedding import Matrix, unit

MAX_TOKENS = 256
Array = npt.NDArray[np.float32]


class SentenceModel:
    """A model read once from its directory; raises OSError or KeyError where the directory holds no such model."""

    def __init__(self, directory: Path) -> None:
        tokenizers = import_module("tokenizers")
        settings = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        self.name = directory.name
        self._heads = int(settings["num_attention_heads"])
        self._layers = int(settings["num_hidden_layers"])
        self._epsilon = float(settings.get("layer_norm_eps", 1e-12))
        self._weights = _tensors(directory / "model.safetensors")
        self._tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector for each text; each is run alone, so that a vector never depends on the others."""
        encoded = self._tokenizer.encode_batch(list(texts))
        rows = np.stack([self._forward(np.asarray(each.ids)) for each in encoded])
        return unit(rows.astype(np.float64))

    def _forward(self, ids: npt.NDArray[np.int64]) -> Array:
        weights = self._weights
        x = (
            weights["embeddings.word_embeddings.weight"][ids]
            + weights["embeddings.position_embeddings.weight"][: len(ids)]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._norm(x, "embeddings.LayerNorm")
        for number in range(self._layers):
            layer = f"encoder.layer.{number}."
            x = self._norm(x + self._attention(x, layer), layer + "attention.output.LayerNorm")
            inner = _gelu(self._dense(x, layer + "intermediate.dense"))
            x = self._norm(x + self._dense(inner, layer + "output.dense"), layer + "output.LayerNorm")
        mean: Array = x.mean(axis=0)
        return mean

    def _attention(self, x: Array, layer: str) -> Array:
        query, key, value = (self._split(x, f"{layer}attention.self.{name}") for name in ("query", "key", "value"))
        weights = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
        mixed = weights / weights.sum(axis=-1, keepdims=True) @ value
        return self._dense(mixed.transpose(1, 0, 2).reshape(x.shape), layer + "attention.output.dense")

    def _split(self, x: Array, name: str) -> Array:
        return self._dense(x, name).reshape(len(x), self._heads, -1).transpose(1, 0, 2)

    def _dense(self, x: Array, name: str) -> Array:
        result: Array = x @ self._weights[name + ".weight"].T + self._weights[name + ".bias"]
        return result

    def _norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._epsilon)
        result: Array = centred / spread * self._weights[name + ".weight"] + self._weights[name + ".bias"]
        return result


def _gelu(x: Array) -> Array:
    result: Array = x * np.float32(0.5) * (1 + erf(x / math.sqrt(2)))
    return result


def _tensors(path: Path) -> dict[str, Array]:
    """Return the 32-bit tensors of a safetensors file: the length of the header, the header in JSON, the bytes."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    found: dict[str, Array] = {}
    for name, tensor in header.items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            first, last = tensor["data_offsets"]
            flat = np.frombuffer(data[start + first : start + last], dtype="<f4")
            found[name.removeprefix("bert.")] = flat.reshape(tensor["shape"])
    return found
