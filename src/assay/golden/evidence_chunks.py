"""Which chunks of a corpus a unit of evidence names, by id or by any other selector."""

from __future__ import annotations

from collections.abc import Sequence

from assay.metrics.cases.case_index import CHUNK_ID, QUOTE, chunk_fields, has_field_value
from assay.records.golden_set import Corpus, CorpusChunk, Selector
from assay.records.observations import Chunk
from assay.text.normalisation import fold_text


def find_unit_chunks(selectors: Sequence[Selector], corpus: Corpus | None) -> list[str]:
    """Return the ids of the chunks that any of the selectors matches, in the order of the corpus.

    >>> corpus = Corpus({"a:1": CorpusChunk("a:1", document="a"), "b:1": CorpusChunk("b:1", document="b")})
    >>> find_unit_chunks([{"document": "b"}], corpus), find_unit_chunks([{"chunk_id": "c"}], corpus)
    (['b:1'], [])
    """
    if corpus is None:
        return []
    ids = {str(selector[CHUNK_ID]) for selector in selectors if selector.keys() == {CHUNK_ID}}
    others = [selector for selector in selectors if selector.keys() != {CHUNK_ID}]
    if not others:
        return [chunk_id for chunk_id in sorted(ids) if chunk_id in corpus.chunks]
    return [
        chunk_id
        for chunk_id, chunk in corpus.chunks.items()
        if chunk_id in ids or any(_matches(selector, chunk) for selector in others)
    ]


def _matches(selector: Selector, chunk: CorpusChunk) -> bool:
    fields = chunk_fields(Chunk(chunk.chunk_id), chunk)
    for name, wanted in selector.items():
        if name == QUOTE:
            if fold_text(str(wanted)) not in fold_text(chunk.text or ""):
                return False
        elif not has_field_value(fields, name, wanted):
            return False
    return True
