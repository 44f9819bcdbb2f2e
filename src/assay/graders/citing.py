"""Resolve a cited or required name: it means a chunk, or less precisely the document that the chunk belongs to.

`doc` stands for the chunk `doc:v1:003` (prefix up to one of `: # /`, or the corpus' document).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Set

from assay.model import Corpus

SEPARATORS = ":#/"
MOST_CHUNKS = 20
"""The most chunks that the name of a document stands for if the document was not shown."""
_SEPARATOR = re.compile(f"[{SEPARATORS}]")


def stands_for(name: str, chunk_id: str, corpus: Corpus | None = None) -> bool:
    """Return whether a cited or required name means this chunk: itself, or the document that it belongs to.

    >>> stands_for("hr_leave", "hr_leave:v1:003"), stands_for("hr", "hr_leave:v1:003")
    (True, False)
    """
    if name == chunk_id:
        return True
    if chunk_id.startswith(name) and chunk_id[len(name)] in SEPARATORS:
        return True
    corpus_chunk = corpus.chunks.get(chunk_id) if corpus is not None else None
    return corpus_chunk is not None and corpus_chunk.document == name


def places_meant(names: Set[str], chunk_ids: Iterable[str], corpus: Corpus | None = None) -> dict[str, list[int]]:
    """Return for each name the positions of the chunk ids that it means; names that mean none are left out.

    As `stands_for`, for many names in one pass.

    >>> places_meant({"hr", "it:v1", "x"}, ["hr:v1:1", "it:v1", "hr:v2:1"])
    {'hr': [0, 2], 'it:v1': [1]}
    """
    positions: dict[str, list[int]] = {}
    for position, chunk_id in enumerate(chunk_ids):
        corpus_chunk = corpus.chunks.get(chunk_id) if corpus is not None else None
        names_of_chunk = {chunk_id, *(chunk_id[: cut.start()] for cut in _SEPARATOR.finditer(chunk_id))}
        if corpus_chunk is not None and corpus_chunk.document is not None:
            names_of_chunk.add(corpus_chunk.document)
        for name in names_of_chunk & names:
            positions.setdefault(name, []).append(position)
    return positions


def texts_of(names: Set[str], corpus: Corpus | None) -> dict[str, dict[str, str]]:
    """Return for each name the first chunks of the corpus that it means, by id, with their texts ("" without one)."""
    corpus_chunks = corpus.chunks if corpus is not None else {}
    document_names = names - corpus_chunks.keys()
    ids = list(corpus_chunks) if document_names else []
    positions = places_meant(document_names, ids, corpus)
    texts: dict[str, dict[str, str]] = {}
    for name in names:
        if name in corpus_chunks:
            chunk_ids = [name]
        else:
            chunk_ids = [ids[position] for position in positions.get(name, ())[:MOST_CHUNKS]]
        texts[name] = {chunk_id: corpus_chunks[chunk_id].text or "" for chunk_id in chunk_ids}
    return texts


def among(name: str, chunk_ids: Collection[str], corpus: Corpus | None) -> bool:
    """Return whether a name means any of these chunks."""
    return name in chunk_ids or any(stands_for(name, chunk_id, corpus) for chunk_id in chunk_ids)
