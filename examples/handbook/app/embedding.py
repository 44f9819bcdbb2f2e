"""Vectors of texts: a light built-in embedding, and any server that speaks OpenAI's embeddings protocol.

The built-in one hashes character trigrams: it needs no download, no key and no training, is the same on every machine,
and knows spelling but no meaning. Name a model (see `from_spec`) where that is not enough.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from examples.handbook.app.endpoint import Endpoint, EndpointError
from examples.handbook.app.text import fold

Matrix = npt.NDArray[np.float64]
CELLS = 1024


class Embedder(Protocol):
    """Turns texts into vectors of length 1; `name` goes into the trace."""

    name: str

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one row for each text."""
        ...


def unit(rows: Matrix) -> Matrix:
    """Scale each row to length 1; a row of zeros stays as it is."""
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(rows / np.where(lengths == 0, 1, lengths))


class HashedTrigrams:
    """Character trigrams of the folded text, counted into a fixed number of cells."""

    name = "hashed-trigrams-1"

    def __init__(self, apart: bool = False) -> None:
        """Make the embedding; with `apart`, a word with diacritics and the same word without share nothing."""
        self._apart = apart

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return unit vectors of 1,024 cells; a text without letters gives zeros."""
        rows = np.zeros((len(texts), CELLS))
        for row, text in zip(rows, texts, strict=True):
            for cell, count in Counter(self._cells(text)).items():
                row[cell] = 1 + math.log(count)
        return unit(rows)

    def _cells(self, text: str) -> list[int]:
        spelt = [fold(word).upper() if self._apart and not word.isascii() else fold(word) for word in text.split()]
        padded = f" {' '.join(spelt)} "
        return [zlib.crc32(padded[start : start + 3].encode()) % CELLS for start in range(len(padded) - 2)]


class RemoteEmbeddings:
    """Vectors from an OpenAI-compatible `/embeddings` endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.model
        self._endpoint = endpoint

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Ask for all texts at once. Raises EndpointError where the server fails or sends something else."""
        reply = self._endpoint.post("/embeddings", {"input": list(texts)})
        try:
            ordered = sorted(reply["data"], key=lambda row: int(row["index"]))
            rows = np.asarray([row["embedding"] for row in ordered], dtype=np.float64)
        except (KeyError, TypeError, ValueError):
            raise EndpointError(f"{self.name}: the reply holds no vectors") from None
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise EndpointError(
                f"{self.name}: the reply does not hold one finite vector for each of {len(texts)} texts"
            )
        return unit(rows)


def from_spec(spec: str) -> Embedder:
    """Return the embedder that a setting names: `hashed`, `dir:PATH` or `openai:MODEL@URL[#KEY_VARIABLE]`.

    >>> from_spec("hashed").name
    'hashed-trigrams-1'
    """
    kind, _, rest = spec.partition(":")
    if spec == "hashed":
        return HashedTrigrams()
    if kind == "dir" and rest:
        from examples.handbook.app.model_directory import SentenceModel

        return SentenceModel(Path(rest))
    if kind == "openai" and rest:
        return RemoteEmbeddings(Endpoint.of(rest))
    raise ValueError(f"unknown embedding {spec!r} (expected hashed, dir:PATH or openai:MODEL@URL#KEY_VARIABLE)")
