"""What the corpus says around the quotes of a case: the whole sentences and rows, and the headings above them.

A quote is often a part of a sentence ("within 10 working days"). What the rest of the sentence says may be added by an
answer without being another answer, and shows where an answer says something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, Selector
from assay.text.normalisation import fold_in_place, normalise_nfc
from assay.text.pattern_cache import compile_pattern

_DOCUMENT, _CHUNK_ID, _QUOTE = "document", "chunk_id", "quote"
_MOST_CHUNKS = 200
"""Chunks of one document that are searched for a quote."""
_LONGEST_WHOLE = 1000
"""Characters of a chunk that is taken whole where the evidence has no quote."""
_LONGEST_SEARCHED = 50_000
_SENTENCE_END = compile_pattern(r"[.!?;…](?=\s)|[。！？；]|\n")
_HEADING = compile_pattern(r"^#{1,6}+ ++([^\n]+)$", re.MULTILINE)
_TABLE_RULE = compile_pattern(r"^(?=[ \t:|]*+---)[ \t:|-]++$", re.MULTILINE)


class EvidenceSentences:
    """The sentences of a corpus in which the evidence of cases stands."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    @cached_property
    def _chunks_by_document(self) -> dict[str, list[CorpusChunk]]:
        chunks: dict[str, list[CorpusChunk]] = {}
        for chunk in self._corpus.chunks.values():
            if chunk.document is not None and chunk.text:
                chunks.setdefault(chunk.document, []).append(chunk)
        return chunks

    def list_sentences(self, case: Case) -> tuple[str, ...]:
        """Return the sentences, rows and headings of a case's graded evidence, each once, in order."""
        sentences = [text for unit in case.evidence if unit.grade for text in self._list_of_unit(unit)]
        return tuple(dict.fromkeys(sentences))

    def _list_of_unit(self, unit: Evidence) -> Iterator[str]:
        for selector in unit.any_of:
            quote = str(selector.get(_QUOTE) or unit.quote or "")
            for chunk in self._find_chunks(selector):
                yield from list_sentences_around(chunk.text or "", quote)

    def _find_chunks(self, selector: Selector) -> list[CorpusChunk]:
        if _CHUNK_ID in selector:
            chunk = self._corpus.chunks.get(str(selector[_CHUNK_ID]))
            return [chunk] if chunk is not None else []
        return self._chunks_by_document.get(str(selector.get(_DOCUMENT, "")), [])[:_MOST_CHUNKS]


def list_sentences_around(text: str, quote: str) -> list[str]:
    """Return the sentences or rows of a text that hold a quote, and the heading above it; empty where it has none.

    Without a quote that is the text itself, if it is short.

    >>> list_sentences_around("# Refunds\\nThey are paid to the card within 10 days. Ask us.", "within 10 days")
    ['They are paid to the card within 10 days.', 'Refunds']
    """
    text = normalise_nfc(text)[:_LONGEST_SEARCHED]
    if not quote:
        return [text] if 0 < len(text) <= _LONGEST_WHOLE else []
    sought = fold_in_place(normalise_nfc(quote).strip())
    start = fold_in_place(text).find(sought) if sought else -1
    if start < 0:
        return []
    low = max((cut.end() for cut in _SENTENCE_END.finditer(text, 0, start)), default=0)
    after = _SENTENCE_END.search(text, max(start, start + len(sought) - 1))
    sentence = text[low : after.end() if after is not None else len(text)].strip()
    headings = [heading[1].strip() for heading in _HEADING.finditer(text, 0, start)][-1:]
    if sentence.startswith("|"):
        sentence = _head_row(text, low, sentence)
    return [sentence, *(heading for heading in headings if heading != sentence)]


def _head_row(text: str, start: int, row: str) -> str:
    """Return a row of a table below the header of the table, so that each cell has its name."""
    rules = [rule for rule in _TABLE_RULE.finditer(text, 0, start) if "|" in rule[0]]
    if not rules:
        return row
    header = text[: rules[-1].start()].rstrip("\n").rpartition("\n")[2]
    return f"{header}\n{rules[-1][0]}\n{row}"
