"""What an answer cites, as its reader sees it: declared names, markers in the text, numbers, footnotes and links.

A number means the entry of the answer's own list of sources ("[1] leave.md", "[^1]: leave.md"), else the declared
citation at that place, else the chunk that the model was shown at that place. The last is a convention of most systems,
not a fact of the record, and is marked so.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

from msgspec import structs

from assay.metrics.cases.case_index import MAX_DOCUMENT_CHUNKS
from assay.metrics.leaks.find_leaks import find_leaks, split_reachable
from assay.metrics.parsed_answer import ChunkTexts, Citation, ParsedAnswer
from assay.records.observations import CONTEXT_STAGE, Chunk, find_stage
from assay.text.citation_markers import is_source_entry, list_source_entries

CitedBy = Literal["name", "list", "position", "link"]
"""How a citation names its source: by a name, by a number of the answer's own list or of what was shown, by a link."""
ADDRESS_FIELDS = ("url", "uri", "source", "source_url", "link", "href", "path", "file", "file_path", "filename")
"""The metadata of a chunk that may hold its address."""
MAX_ENTRIES = 200
_NUMBER = re.compile(r"[0-9]{1,3}")
_LINK = re.compile(
    r"\[([^\[\]\n]{0,200})\]\(([^()\s]{1,500})\)|<(https?://[^<>\s]{1,500})>|(https?://[^\s<>()\[\]]{1,500})"
)
_SCHEME = re.compile(r"(?:https?://(?:www\.)?|file://|\./)")
_FILE = re.compile(r"[\w./%-]{1,400}\.[a-z]{2,5}")


class CitedSource(NamedTuple):
    """A citation with the chunks that it means. `is_checkable`: something is there that it could have named."""

    citation: Citation
    by: CitedBy
    is_checkable: bool


def list_cited_sources(reading: ParsedAnswer) -> list[CitedSource]:
    """Return what the answer cites: claim by claim, then for the answer as a whole; each source of a claim once."""
    entries = dict(chain(_list_linked_numbers(reading.answer), list_source_entries(reading.answer)))
    addresses = _Addresses(reading)
    sources: dict[tuple[str | None, CitedBy, str], CitedSource] = {}
    has_stages = reading.observation.stages is not None
    for citation in reading.citations:
        source = CitedSource(citation, "name", has_stages or reading.case.corpus is not None)
        if citation.place:
            citation = structs.replace(citation, name=str(citation.place), texts={}, place=0)
        if not citation.texts and _NUMBER.fullmatch(citation.name):
            source = _find_numbered(citation, entries, addresses, reading)
        sources[identify_source(source)] = source
    for citation in _list_links(reading, addresses):
        source = CitedSource(citation, "link", addresses.has_addresses)
        is_known = any(
            other.citation.texts.keys() == citation.texts.keys() and other.citation.claim == citation.claim
            for other in sources.values()
        )
        if not (is_known and citation.texts):
            sources.setdefault(identify_source(source), source)
    return list(sources.values())


def find_reachable(source: CitedSource, reading: ParsedAnswer) -> bool | None:
    """Return whether the user may see everything that a citation means; None where nobody can tell."""
    citation = source.citation
    if source.by == "name":
        unknown, forbidden = reading.access.unknown, reading.access.forbidden
        return None if citation.name in unknown else citation.name not in forbidden
    leaks = find_leaks(reading.case, reading.observation)
    forbidden_ids, unknown_ids = split_reachable(reading.case, reading.observation, citation.texts, leaks)
    return False if forbidden_ids else None if unknown_ids else True


def strip_links(text: str, *, with_words: bool = True) -> str:
    """Return a text with links as their words, or without them, and without bare addresses.

    >>> strip_links("Twelve days, by [the policy](https://kb.example/leave).")
    'Twelve days, by the policy.'
    """
    return " ".join(_LINK.sub(lambda match: (match[1] or "") if with_words else "", text).split())


def identify_source(source: CitedSource) -> tuple[str | None, CitedBy, str]:
    """Return what a citation is by whichever corpus it is read: its claim, how it names its source, and the name."""
    claim = source.citation.claim
    return (None if claim is None else claim.id), source.by, source.citation.name


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _list_linked_numbers(answer: str) -> Iterator[tuple[str, str]]:
    """Yield number and address of links such as `[1](https://…)`."""
    for match in islice(_LINK.finditer(answer), MAX_ENTRIES):
        if match[1] is not None and _NUMBER.fullmatch(match[1].strip("^ ")):
            yield match[1].strip("^ "), match[2]


def _find_numbered(
    citation: Citation, entries: Mapping[str, str], addresses: _Addresses, reading: ParsedAnswer
) -> CitedSource:
    """Return what a number means, by the answer's own list of sources or by what was shown at that place."""
    entry = entries.get(citation.name)
    if entry is not None:
        texts = addresses.find_entry(entry)
        if texts or _names_file(entry):
            return CitedSource(structs.replace(citation, texts=texts), "list", addresses.has_sources)
    context = find_stage(reading.observation, CONTEXT_STAGE)
    chunks = context.chunks if context is not None else ()
    place = int(citation.name)
    shown = read_texts(chunks[place - 1 : place] if place else (), reading)
    return CitedSource(structs.replace(citation, texts=shown), "position", context is not None)


def _names_file(entry: str) -> bool:
    return _LINK.search(entry) is not None or _FILE.fullmatch(entry.strip("`*_ ")) is not None


# ── links ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _list_links(reading: ParsedAnswer, addresses: _Addresses) -> Iterator[Citation]:
    """Yield the links of an answer with the claims that they are in or follow in the same line."""
    answer, claims = reading.answer, reading.claims
    starts = [claim.start for claim in claims]
    for match in islice(_LINK.finditer(answer), MAX_ENTRIES):
        address = match[2] or match[3] or (match[4] or "").rstrip(".,;:!?")
        line = answer[answer.rfind("\n", 0, match.start()) + 1 : match.end()]
        if not _is_source(address) or is_source_entry(line):
            continue
        position = bisect_right(starts, match.start()) - 1
        claim = claims[position] if position >= 0 else None
        if claim is not None and match.start() >= claim.end and "\n" in answer[claim.end : match.start()]:
            claim = None
        yield Citation("link", address, claim, addresses.find_address(address))


def _is_source(address: str) -> bool:
    return address.startswith(("http://", "https://")) or _FILE.fullmatch(address.partition("#")[0]) is not None


class _Addresses:
    """The chunks of a record and its corpus by address, id and document."""

    def __init__(self, reading: ParsedAnswer) -> None:
        self._reading = reading
        self._corpus = reading.case.corpus
        self.has_sources = self._corpus is not None or bool(reading.observation.stages)

    @cached_property
    def _shown(self) -> dict[str, list[Chunk]]:
        chunks: dict[str, list[Chunk]] = {}
        for stage in self._reading.observation.stages or ():
            for chunk in stage.chunks:
                for address in _list_addresses(chunk.chunk_id, None, chunk.metadata or {}):
                    chunks.setdefault(address, []).append(chunk)
        return chunks

    @cached_property
    def _in_corpus(self) -> dict[str, list[str]]:
        ids: dict[str, list[str]] = {}
        for chunk in self._corpus.chunks.values() if self._corpus is not None else ():
            for address in _list_addresses(chunk.chunk_id, chunk.document, {**chunk.metadata, "path": chunk.path}):
                ids.setdefault(address, []).append(chunk.chunk_id)
        return ids

    @property
    def has_addresses(self) -> bool:
        """Whether any chunk has an address of its own."""
        return any("/" in name or "." in name for name in chain(self._shown, self._in_corpus))

    def find_address(self, address: str) -> ChunkTexts:
        """Return the texts of the chunks at an address: of those that were shown, else of those of the corpus."""
        name = _normalise_address(address)
        if name in self._shown:
            return read_texts(self._shown[name], self._reading)
        ids = self._in_corpus.get(name, ())[:MAX_DOCUMENT_CHUNKS]
        return {chunk_id: self._corpus.chunks[chunk_id].text or "" for chunk_id in ids} if self._corpus else {}

    def find_entry(self, entry: str) -> ChunkTexts:
        """Return the texts of the chunks that an entry of a list names: by link, as a whole, or by a word."""
        links = [match[2] or match[3] or match[4] for match in _LINK.finditer(entry)]
        words = [word.strip("`*_\"'()[]<>,;:.") for word in strip_links(entry).split()]
        for name in (*links, entry.strip("`*_\"' ."), *words):
            texts = self.find_address(name) if name else {}
            if texts:
                return texts
        return {}


def read_texts(chunks: Iterable[Chunk], reading: ParsedAnswer) -> ChunkTexts:
    """Return the texts of chunks by their ids, "" for an unknown one."""
    texts: ChunkTexts = {}
    for chunk in chunks:
        texts |= reading.collect_texts([chunk]) or {chunk.chunk_id: ""}
    return texts


def _list_addresses(chunk_id: str, document: str | None, fields: Mapping[str, Any]) -> Iterable[str]:
    values = [chunk_id, document, *(fields.get(name) for name in ADDRESS_FIELDS)]
    return dict.fromkeys(_normalise_address(value) for value in values if isinstance(value, str) and value)


def _normalise_address(address: str) -> str:
    """Return an address without scheme, fragment and closing slash."""
    return _SCHEME.sub("", address.strip(), count=1).partition("#")[0].rstrip("/") or address.strip()
