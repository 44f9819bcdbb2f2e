"""What a cited or demanded name stands for: a chunk, or less precisely the document that it belongs to.

`doc` stands for the chunk `doc:v1:003` (prefix up to one of `: # /`, or the corpus' document).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Set

from assay.model import Corpus

SEPARATORS = ":#/"
MOST_CHUNKS = 20
"""Chunks that a name of a whole document stands for, where the document was not shown."""
_SEPARATOR = re.compile(f"[{SEPARATORS}]")


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


def places_meant(names: Set[str], chunk_ids: Iterable[str], corpus: Corpus | None = None) -> dict[str, list[int]]:
    """Return where, in a list of chunk ids, those stand that each name means; names that mean none are left out.

    As `stands_for`, for many names in one pass.

    >>> places_meant({"hr", "it:v1", "x"}, ["hr:v1:1", "it:v1", "hr:v2:1"])
    {'hr': [0, 2], 'it:v1': [1]}
    """
    found: dict[str, list[int]] = {}
    for place, chunk_id in enumerate(chunk_ids):
        known = corpus.chunks.get(chunk_id) if corpus is not None else None
        own = {chunk_id, *(chunk_id[: cut.start()] for cut in _SEPARATOR.finditer(chunk_id))}
        if known is not None and known.document is not None:
            own.add(known.document)
        for name in own & names:
            found.setdefault(name, []).append(place)
    return found


def texts_of(names: Set[str], corpus: Corpus | None) -> dict[str, dict[str, str]]:
    """Return for each name the first chunks of the corpus that it means, by id, with their texts ("" without one)."""
    known = corpus.chunks if corpus is not None else {}
    others = names - known.keys()
    ids = list(known) if others else []
    places = places_meant(others, ids, corpus)
    meant = {name: [ids[place] for place in places.get(name, ())[:MOST_CHUNKS]] for name in others}
    meant |= {name: [name] for name in names & known.keys()}
    return {name: {each: known[each].text or "" for each in chunk_ids} for name, chunk_ids in meant.items()}


def among(name: str, chunk_ids: Collection[str], corpus: Corpus | None) -> bool:
    """Return whether a name means any of these chunks."""
    return name in chunk_ids or any(stands_for(name, chunk_id, corpus) for chunk_id in chunk_ids)
