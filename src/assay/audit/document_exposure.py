"""Who was shown a document: in which answers it was retrieved, shown, cited or quoted, and whether their users may see
it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from assay.audit.batch_rows import list_index_citations
from assay.audit.cited_sources import ADDRESS_FIELDS
from assay.audit.versioned_corpora import VersionedCorpora
from assay.metrics.cases.access_rules import may_see_chunk
from assay.records.audit_records import AuditRecord
from assay.records.golden_set import Corpus
from assay.records.observations import Chunk
from assay.text.tokens import tokenise_text

DOCUMENT_FIELDS = ("document", "document_id", "doc_id", "title", *ADDRESS_FIELDS)
"""Metadata of a chunk by which its document may be named."""
QUOTED_WORDS = 8
"""How many words in a row an answer has in common with a text that it quotes; all of a shorter text."""
CITED, QUOTED = "cited", "quoted"


class ExposedAnswer(Struct, frozen=True):
    """An answer that a document reached: the stages that had it by name, and whether it is `cited` and `quoted`.

    `chunks` are the ids under which it was there. `may_see` is None where nothing tells what the user may see.
    """

    sequence: int
    id: str
    at: str
    user: str | None
    tenant: str | None
    roles: tuple[str, ...]
    places: tuple[str, ...]
    chunks: tuple[str, ...]
    may_see: bool | None


class Exposure(Struct, frozen=True):
    """The answers that a document reached, oldest first, and of how many nothing tells it.

    `searched` answers were looked at; of `untold` ones the record states neither stages nor citations, and the content
    of `erased` ones is gone. `is_known` says whether a corpus has the document, None without a corpus.
    """

    name: str
    answers: tuple[ExposedAnswer, ...]
    searched: int
    untold: int
    erased: int
    is_known: bool | None

    @property
    def forbidden(self) -> list[ExposedAnswer]:
        """The answers whose users may not see the document."""
        return [answer for answer in self.answers if answer.may_see is False]


class DocumentSearch:
    """Finds a document in records: a chunk of this id, or chunks of a document of this name.

    A corpus finds its text as well: in answers, and in chunks whose ids it does not have.
    """

    def __init__(self, name: str, corpora: VersionedCorpora) -> None:
        self.name, self._corpora = name, corpora
        self._ids: dict[str | None, frozenset[str]] = {None: _list_ids(name, corpora.present)}
        self._runs: dict[str | None, set[tuple[str, ...]]] = {None: _list_own_runs(self._ids[None], corpora.present)}
        for version, corpus in corpora.by_version.items():
            self._ids[version] = _list_ids(name, corpus)
            self._runs[version] = _list_own_runs(self._ids[version], corpus)
        self.is_known = None if corpora.is_empty else any(self._ids.values())

    def needs_texts(self, record: AuditRecord) -> bool:
        """Return whether only texts tell what some chunks of a record are: the corpus does not have their ids."""
        corpus = self._corpora.find_corpus(record)
        if corpus is None or not self._runs[self._corpora.find_version(record)]:
            return False
        return any(chunk.chunk_id not in corpus.chunks for stage in record.stages or () for chunk in stage.chunks)

    def find_places(self, record: AuditRecord) -> tuple[dict[str, None], set[str]]:
        """Return where a record has the document, and the ids under which it has it; none for a quote."""
        version = self._corpora.find_version(record)
        ids, corpus = self._ids[version], self._corpora.find_corpus(record)
        places: dict[str, None] = {}
        shown: set[str] = set()
        for stage in record.stages or ():
            names = [
                chunk.chunk_id
                for chunk in stage.chunks
                if self._is_meant(chunk, ids)
                or (corpus is not None and chunk.chunk_id not in corpus.chunks and self._has_text(chunk.text, version))
            ]
            if names:
                places[stage.name] = None
                shown.update(names)
        if record.stages is None:
            retrieved = [name for name in record.retrieved_uids or () if name == self.name or name in ids]
            places |= dict.fromkeys(["retrieved"] if retrieved else [])
            shown.update(retrieved)
        cited = [name for name in list_index_citations(record) if name == self.name or name in ids or name in shown]
        quoted = [QUOTED] if self._has_text(record.answer, version) else []
        return places | dict.fromkeys([*([CITED] if cited else []), *quoted]), shown.union(cited)

    def _has_text(self, text: str | None, version: str | None) -> bool:
        """Return whether a text has words in a row that only the document has in its corpus."""
        runs = self._runs[version]
        return bool(text and runs) and not runs.isdisjoint(_list_runs(tokenise_text(text or ""), QUOTED_WORDS))

    def _is_meant(self, chunk: Chunk, ids: frozenset[str]) -> bool:
        if chunk.chunk_id == self.name or chunk.chunk_id in ids:
            return True
        return chunk.metadata is not None and any(chunk.metadata.get(field) == self.name for field in DOCUMENT_FIELDS)

    def describe_answer(
        self, sequence: int, record: AuditRecord, places: Sequence[str], chunks: set[str]
    ) -> ExposedAnswer:
        """Return an answer in which the document was found; the record has its texts."""
        corpus = self._corpora.find_corpus(record)
        texts = [*_iterate_texts(record, chunks)]
        if corpus is not None:
            texts += [text for text in (corpus.chunks[name].text for name in chunks if name in corpus.chunks) if text]
        quoted = [QUOTED] if record.answer and any(_quotes(record.answer, text) for text in texts) else []
        user = record.user
        return ExposedAnswer(
            sequence,
            record.id,
            record.at,
            record.user_uid,
            None if user is None else user.tenant,
            () if user is None else user.roles,
            tuple(dict.fromkeys((*places, *quoted))),
            tuple(sorted(chunks)),
            _find_access(record, chunks, corpus, self._ids[self._corpora.find_version(record)]),
        )


def _list_ids(name: str, corpus: Corpus | None) -> frozenset[str]:
    """Return the ids of the chunks of a document, or of the chunk of this id."""
    chunks = corpus.chunks.items() if corpus is not None else ()
    return frozenset(chunk_id for chunk_id, chunk in chunks if name in (chunk_id, chunk.document))


def _iterate_texts(record: AuditRecord, chunks: set[str]) -> Iterator[str]:
    for stage in record.stages or ():
        yield from (chunk.text for chunk in stage.chunks if chunk.chunk_id in chunks and chunk.text)


def _quotes(answer: str, text: str) -> bool:
    """Return whether an answer repeats some words of a text in a row.

    >>> text = "The alarm of the vault is switched off."
    >>> _quotes("As written: the alarm of the vault is switched off.", text), _quotes("The vault has an alarm.", text)
    (True, False)
    """
    answer_words, words = tokenise_text(answer), tokenise_text(text)
    size = min(QUOTED_WORDS, len(words))
    return bool(size) and not _list_runs(answer_words, size).isdisjoint(_list_runs(words, size))


def _list_runs(words: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return set(zip(*(islice(words, start, None) for start in range(size)), strict=False))


def _list_own_runs(ids: frozenset[str], corpus: Corpus | None) -> set[tuple[str, ...]]:
    """Return the words in a row of the chunks with these ids that no other chunk of the corpus has."""
    if corpus is None or not ids:
        return set()
    own_runs: set[tuple[str, ...]] = set()
    for chunk_id in ids:
        own_runs |= _list_runs(tokenise_text(corpus.chunks[chunk_id].text or ""), QUOTED_WORDS)
    for chunk_id, chunk in corpus.chunks.items():
        if own_runs and chunk_id not in ids:
            own_runs -= _list_runs(tokenise_text(chunk.text or ""), QUOTED_WORDS)
    return own_runs


def _find_access(record: AuditRecord, chunks: set[str], corpus: Corpus | None, ids: frozenset[str]) -> bool | None:
    """Return whether the user of a record may see all of some chunks, None where nothing tells.

    Where the corpus has none of these, as for the name of a document or a mere quote, all of its chunks have to agree.
    """
    if record.user is None or corpus is None:
        return None
    verdicts = {may_see_chunk(record.user, corpus.chunks[name]) for name in chunks if name in corpus.chunks}
    if verdicts:
        return all(verdicts)
    verdicts = {may_see_chunk(record.user, corpus.chunks[name]) for name in ids}
    return verdicts.pop() if len(verdicts) == 1 else None
