"""What a cited or demanded name stands for: a chunk, or less precisely the document that it belongs to.

`doc` stands for the chunk `doc:v1:003` (prefix up to one of `: # /`, or the corpus' document).
"""

from __future__ import annotations

from collections.abc import Collection

from assay.model import Corpus

SEPARATORS = ":#/"


def stands_for(name: str, chunk_id: str, corpus: Corpus | None = None) -> bool:
    """Return whether a cited or demanded name means this chunk: itself, or the document that it belongs to.

    >>> stands_for("hr_leave", "hr_leave:v1:003"), stands_for("hr", "hr_leave:v1:003")
    (True, False)
    """
    if name == chunk_id:
        return True
    if chunk_id.startswith(name) and chunk_id[len(name)] in SEPARATORS:
        return True
    known = corpus.chunks.get(chunk_id) if corpus is not None else None
    return known is not None and known.document == name


def among(name: str, chunk_ids: Collection[str], corpus: Corpus | None) -> bool:
    """Return whether a name means any of these chunks."""
    return name in chunk_ids or any(stands_for(name, chunk_id, corpus) for chunk_id in chunk_ids)
