"""What the review page shows of a candidate: its evidence marked in the text, chunks that nearly answer, provenance."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from assay.golden.candidate import ReviewDecision
from assay.golden.evidence_chunks import find_unit_chunks
from assay.golden.lint_evidence import find_text_change, list_content_words
from assay.metrics.cases.access_rules import has_expired, may_see_chunk
from assay.metrics.cases.case_index import CHUNK_ID
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, User
from assay.text.normalisation import fold_in_place
from assay.text.statements import list_statements
from assay.text.tokens import DocumentFrequencies, collect_word_keys

MAX_NEARBY = 3
"""The largest number of other chunks shown with a candidate."""
MAX_NEARBY_OF_STALE = 6
"""The same where evidence no longer fits the corpus, and another chunk may be the evidence now."""
NEARBY_SHARE = 0.4
"""The share of the words of a question, weighted by rarity, from which another chunk is shown."""


class ShownEvidence(Struct, frozen=True, omit_defaults=True):
    """A unit of evidence: its chunks, its quote, and where that is in the text of the first, in UTF-16 units.

    A stale one is not in the corpus, or its quote or the hash of its text is another one there.
    """

    chunks: tuple[str, ...]
    marks: tuple[tuple[int, int], ...] = ()
    quote: str = ""
    grade: int = 3
    is_stale: bool = False


class NearbyChunk(Struct, frozen=True, omit_defaults=True):
    """Another chunk with words of the question: their share, the closest statement, and why it may not count."""

    chunk: str
    share: float
    statement: str = ""
    is_hidden: bool = False
    is_expired: bool = False


class ShownCandidate(Struct, frozen=True, omit_defaults=True):
    """One row of the review page; `case` has the fields that may be edited, `earlier` what others decided.

    `findings` say what of the case no longer fits the corpus.
    """

    case: dict[str, Any]
    evidence: tuple[ShownEvidence, ...] = ()
    nearby: tuple[NearbyChunk, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
    earlier: tuple[ReviewDecision, ...] = ()
    findings: tuple[str, ...] = ()


class PageChunk(Struct, frozen=True, omit_defaults=True):
    """The text of a chunk and where it stands; each chunk is on the page once."""

    text: str
    place: str = ""


class ReviewContent(Struct, frozen=True):
    """Everything on a review page."""

    candidates: str
    settles: bool
    rows: tuple[ShownCandidate, ...]
    chunks: dict[str, PageChunk]


_FRAME = re.compile(r"\b(?:stand for|full form of|nghĩa là|được hiểu|viết tắt của|viết đầy đủ)\b", re.IGNORECASE)
"""Words that ask for a meaning: a chunk in which something stands answers no question for what letters stand for."""


class ChunkSearch:
    """Finds the chunks of a corpus that share words with a question."""

    def __init__(self, corpus: Corpus | None) -> None:
        self.chunks = {name: chunk for name, chunk in corpus.chunks.items() if chunk.text} if corpus is not None else {}

    @cached_property
    def _frequencies(self) -> DocumentFrequencies:
        return DocumentFrequencies.from_texts(chunk.text or "" for chunk in self.chunks.values())

    @cached_property
    def _chunks_by_word(self) -> dict[str, list[str]]:
        chunks_by_word: dict[str, list[str]] = {}
        for name, chunk in self.chunks.items():
            for word in sorted(collect_word_keys(f"{chunk.section or ''}\n{chunk.text}")):
                chunks_by_word.setdefault(word, []).append(name)
        return chunks_by_word

    def find_nearby(self, question: str, excluded: set[str], most: int = MAX_NEARBY) -> list[tuple[str, float]]:
        """Return other chunks with at least `NEARBY_SHARE` of a question's words, the largest share first."""
        words = sorted(list_content_words(_FRAME.sub(" ", question)))
        weights = dict(zip(words, self._frequencies.idf_weights(words), strict=True))
        total = sum(weights.values())
        shares: dict[str, float] = {}
        for word in words:
            for name in self._chunks_by_word.get(word, ()):
                shares[name] = shares.get(name, 0.0) + weights[word] / total
        nearby = [(name, share) for name, share in shares.items() if share >= NEARBY_SHARE and name not in excluded]
        return sorted(nearby, key=lambda item: (-round(item[1], 9), item[0]))[:most]


def build_review_content(
    cases: Sequence[Case],
    corpus: Corpus | None,
    digest: str,
    as_of: str | None = None,
    earlier: dict[str, tuple[ReviewDecision, ...]] | None = None,
    findings: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> ReviewContent:
    """Return the rows of a review page; with `earlier` decisions, the page settles them.

    `findings` say of each case of an earlier version what no longer fits the corpus.
    """
    search = ChunkSearch(corpus)
    rows, shown = [], set()
    for case in cases:
        row = _show_case(case, search, corpus, as_of, (earlier or {}).get(case.id, ()))
        row = msgspec.structs.replace(row, findings=findings.get(case.id, ()))
        shown |= {name for unit in row.evidence for name in unit.chunks} | {item.chunk for item in row.nearby}
        rows.append(row)
    chunks = {
        name: PageChunk(search.chunks[name].text or "", describe_chunk(search.chunks[name]))
        for name in sorted(shown & search.chunks.keys())
    }
    return ReviewContent(digest, earlier is not None, tuple(rows), chunks)


def _show_case(
    case: Case, search: ChunkSearch, corpus: Corpus | None, as_of: str | None, earlier: tuple[ReviewDecision, ...]
) -> ShownCandidate:
    evidence = []
    day = case.user.as_of if case.user is not None and case.user.as_of is not None else as_of
    for unit in case.evidence:
        names = tuple(find_unit_chunks(unit.any_of, corpus)) or _name_selectors(unit.any_of)
        text = search.chunks[names[0]].text or "" if names and names[0] in search.chunks else ""
        marks, is_stale = mark_quote(text, unit.quote or ""), corpus is not None and is_stale_unit(unit, corpus, day)
        evidence.append(ShownEvidence(names, marks, unit.quote or "", unit.grade, is_stale))
    stale = [unit for unit in evidence if unit.is_stale]
    own = {name for unit in evidence if not unit.is_stale for name in unit.chunks}
    similar = search.find_nearby(case.question, own, MAX_NEARBY_OF_STALE if stale else MAX_NEARBY)
    if stale and not similar:
        similar = search.find_nearby(case.reference or "", own, MAX_NEARBY_OF_STALE)
    shown = {name for name, _ in similar}
    changed = [name for unit in stale for name in unit.chunks if name in search.chunks and name not in shown]
    nearby = [
        _show_nearby(search.chunks[name], share, case.question, case.user, as_of)
        for name, share in [*((name, 0.0) for name in changed), *similar]
    ]
    fields = msgspec.to_builtins(case)
    provenance = fields.pop("metadata", {}).get("provenance", {})
    lines = tuple((str(key), _describe_value(value)) for key, value in provenance.items())
    return ShownCandidate(fields, tuple(evidence), tuple(nearby), lines, earlier)


def is_stale_unit(unit: Evidence, corpus: Corpus, as_of: str | None) -> bool:
    """Return whether a unit of evidence no longer fits a corpus: it is gone, expired, or its text is another one."""
    names = find_unit_chunks(unit.any_of, corpus)
    chunks = [corpus.chunks[name] for name in names]
    named = [str(selector[CHUNK_ID]) for selector in unit.any_of if selector.keys() == {CHUNK_ID}]
    is_gone = bool(named) and not any(name in corpus.chunks for name in named)
    is_expired = bool(chunks) and all(has_expired(chunk.valid_to, as_of) for chunk in chunks)
    return is_gone or is_expired or not chunks or bool(find_text_change(unit.quote, unit.text_hash, chunks))


def _name_selectors(selectors: Sequence[dict[str, str | int]]) -> tuple[str, ...]:
    return tuple(str(selector["chunk_id"]) for selector in selectors if "chunk_id" in selector)[:1]


def _describe_value(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ", ".join(_describe_value(item) for item in value)
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_describe_value(item)}" for key, item in value.items())
    return msgspec.json.encode(value).decode()


def _show_nearby(chunk: CorpusChunk, share: float, question: str, user: User | None, as_of: str | None) -> NearbyChunk:
    words = list_content_words(question)
    statements = [statement.text for statement in list_statements(chunk.text or "")]
    closest = max(statements, key=lambda text: len(words & collect_word_keys(text)), default="")
    return NearbyChunk(
        chunk.chunk_id,
        round(share, 3),
        closest,
        is_hidden=not may_see_chunk(user, chunk),
        is_expired=has_expired(chunk.valid_to, as_of),
    )


def describe_chunk(chunk: CorpusChunk) -> str:
    """Return where a chunk stands: document, version, section, and who may see it."""
    access = [chunk.tenant or "", ", ".join(sorted(chunk.roles))]
    validity = f"{chunk.valid_from or '…'} – {chunk.valid_to or '…'}" if chunk.valid_from or chunk.valid_to else ""
    return " · ".join(filter(None, (chunk.document, chunk.version, chunk.section, *access, validity)))


def mark_quote(text: str, quote: str) -> tuple[tuple[int, int], ...]:
    """Return the span of a quote in a text, in UTF-16 code units as a browser counts them; nothing if it is not there.

    Case, diacritics, kinds of quotation marks and the width of spaces are not compared.

    >>> mark_quote("😀 Staff  get 12 days.", "staff get"), mark_quote("Staff", "none")
    (((3, 13),), ())
    """
    words = fold_in_place(quote).split()
    if not words:
        return ()
    folded = fold_in_place(text)
    start = folded.find(words[0])
    while start >= 0:
        end = _match_words(folded, words, start)
        if end:
            return ((_count_units(text[:start]), _count_units(text[:end])),)
        start = folded.find(words[0], start + 1)
    return ()


def _match_words(folded: str, words: Sequence[str], start: int) -> int:
    """Return the end of some words, with any spaces between them, at a position; 0 if they are not there."""
    position = start
    for number, word in enumerate(words):
        while number and position < len(folded) and folded[position].isspace():
            position += 1
        if not folded.startswith(word, position):
            return 0
        position += len(word)
    return position


def _count_units(text: str) -> int:
    return len(text) + sum(ord(letter) > 0xFFFF for letter in text)
