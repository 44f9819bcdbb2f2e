"""The rows of one batch of records: each linked to the one before, its texts taken out, and what it is found by."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import structs

from assay.audit.chain import compute_commitment, compute_link, compute_text_key
from assay.audit.packed_body import UNPACKING_ERRORS, pack_body, unpack_body
from assay.records.audit_records import AuditRecord, RecordKind, StoredAnswer
from assay.records.observations import Stage
from assay.text.citation_markers import find_citation_markers
from assay.text.normalisation import fold_text

MAX_INDEXED_CITATION = 500
MAX_INDEXED_LABEL = 100
MAX_INDEXED_WORDS = 200
MAX_LEXEME = 500
"""Characters of a word in PostgreSQL's index, which takes no longer ones; of longer words that much is compared."""
MAX_PACKED_TEXTS = 20_000
MAX_SEARCHED_ANSWER = 100_000
"""Characters of an answer that are searched for markers."""
_LONGEST_KEPT_TOKEN = 40
_WORD = re.compile(r"[^\W_]+")
_MARKER_SIGN = re.compile(r"[\[【(（.!?。！？](?:(?<=[\[【(（])|[^\W\d_])")
"""Where a marker that names its source begins: at a bracket, or between a full stop and a letter. The signs come first
in the pattern, because the search for a set of signs is quick."""


class Owner(NamedTuple):
    """A user of the store by number, with the salt of what belongs to them."""

    number: int
    salt: bytes


class ChainHead(NamedTuple):
    """The end of the chain, to which the next record is linked."""

    sequence: int
    day: str
    link: bytes


class BatchRows:
    """The rows of one batch, linked to the head of the chain one after the other, each in the order of its columns."""

    def __init__(
        self, head: ChainHead, day: str, packed_texts: dict[str, bytes], make_nonce: Callable[[], bytes]
    ) -> None:
        self._sequence, self._link, self._day = head.sequence, head.link, day
        self._packed_texts, self._make_nonce = packed_texts, make_nonce
        self.records: list[tuple[Any, ...]] = []
        self.citations: list[tuple[str, int, int]] = []
        self.labels: list[tuple[str, str, int]] = []
        self.questions: list[tuple[int, str]] = []
        self.texts: dict[bytes, dict[str, Any]] = {}

    def add_answer(self, record: AuditRecord, id_key: bytes, owner: Owner) -> None:
        """Add the record of an answer with its index rows."""
        at = count_microseconds(record.at)
        stored = self._store_texts(record, owner, at)
        self.add_record("answer", msgspec.json.encode(stored), id_key, at, owner)
        sequence = self._sequence
        for citation in set(list_index_citations(record)):
            self.citations.append((citation, at, sequence))
        for name, value in list_labels(record):
            self.labels.append((name, value, sequence))
        words = index_words(record.question)
        if words:
            self.questions.append((sequence, words))

    def add_record(self, kind: RecordKind, body: bytes, id_key: bytes | None, at: int | None, owner: Owner) -> None:
        """Add one link of the chain."""
        nonce = self._make_nonce()
        commitment = compute_commitment(body, owner.salt, nonce)
        self._sequence += 1
        self._link = link = compute_link(self._link, self._sequence, self._day, kind, commitment)
        packed, erased_at = pack_body(body), None
        row = (self._sequence, self._day, kind, id_key, at, owner.number, packed, nonce, commitment, link, erased_at)
        self.records.append(row)

    def _store_texts(self, record: AuditRecord, owner: Owner, at: int) -> StoredAnswer:
        """Return the record without the texts of its chunks, which become rows of their own."""
        if not record.stages:
            return StoredAnswer(record)
        keys: list[str | None] = []
        stages = []
        for stage in record.stages:
            chunks = []
            for chunk in stage.chunks:
                if chunk.text is None:
                    keys.append(None)
                    chunks.append(chunk)
                    continue
                keys.append(self._add_text(chunk.text, owner, at))
                chunks.append(structs.replace(chunk, text=None))
            stages.append(Stage(stage.name, tuple(chunks), stage.latency_ms))
        return StoredAnswer(structs.replace(record, stages=tuple(stages)), tuple(keys))

    def _add_text(self, text: str, owner: Owner, at: int) -> str:
        raw = text.encode()
        key = compute_text_key(raw, owner.salt)
        row = self.texts.get(key)
        if row is not None:
            row["last_at"] = max(row["last_at"], at)
            return key.hex()
        packed = self._packed_texts.get(text)
        if packed is None:
            if len(self._packed_texts) > MAX_PACKED_TEXTS:
                self._packed_texts.clear()
            packed = self._packed_texts[text] = zlib.compress(raw, 1)
        self.texts[key] = {"key": key, "owner": owner.number, "last_at": at, "body": packed}
        return key.hex()


# ── what is indexed ──────────────────────────────────────────────────────────────────────────────────────────────────


def list_index_citations(record: AuditRecord) -> list[str]:
    """Return the citations under which an answer can be looked up: declared ones, and names of markers in its text.

    Numbers are left out: what they mean is not in the record.
    """
    names = [*(record.citations or ()), *_list_marked_names(record)]
    return [index_citation(name) for name in names if name]


def index_citation(name: str) -> str:
    """Return a citation as the index has it: cut where it is long, and without NUL, which PostgreSQL refuses."""
    return name.replace("\0", "�")[:MAX_INDEXED_CITATION]


def index_label(value: str) -> str:
    """Return the value of a verdict as the index has it: cut where it is long, and without NUL."""
    return value.replace("\0", "�")[:MAX_INDEXED_LABEL]


def list_missing_citations(body: bytes, stored: Collection[str]) -> list[str]:
    """Return the citations of a stored answer that are not among those in the index; none of one that is damaged."""
    try:
        record = msgspec.json.decode(unpack_body(body), type=StoredAnswer).record
    except UNPACKING_ERRORS:
        return []
    return sorted(set(list_index_citations(record)).difference(stored))


def _list_marked_names(record: AuditRecord) -> Iterator[str]:
    if not record.answer or _MARKER_SIGN.search(record.answer) is None:
        return
    shown = {chunk.chunk_id for stage in record.stages or () for chunk in stage.chunks}
    names = shown.union(record.retrieved_uids or (), record.citations or ())
    for marker in find_citation_markers(record.answer[:MAX_SEARCHED_ANSWER], names):
        yield from (name for name in marker.names if not name.isdecimal() or name in names)


def list_labels(record: AuditRecord) -> list[tuple[str, str]]:
    """Return the verdicts that the record brings along: feedback, declared behaviour, and an error."""
    labels: list[tuple[str, str]] = []
    feedback = record.feedback
    if isinstance(feedback, bool):
        labels.append(("feedback", "up" if feedback else "down"))
    elif isinstance(feedback, (int, float)):
        labels.append(("feedback", f"{feedback:g}"))
    elif isinstance(feedback, str):
        labels.append(("feedback", index_label(feedback)))
    if record.behaviour is not None:
        labels.append(("behaviour", record.behaviour))
    if record.error is not None:
        labels.append(("error", index_label(record.error.code)))
    return labels


def index_words(question: str | None) -> str:
    """Return the words under which a question can be looked up, folded, each once.

    >>> index_words("Nghỉ phép, nghỉ ốm?")
    'nghi phep om'
    """
    words: dict[str, None] = {}
    for token in question.split() if question else ():
        for word in _fold_token(token) if len(token) <= _LONGEST_KEPT_TOKEN else _list_words(token):
            words[word] = None
    return " ".join(words if len(words) <= MAX_INDEXED_WORDS else list(words)[:MAX_INDEXED_WORDS])


def _list_words(text: str) -> tuple[str, ...]:
    if text.isascii() and text.isalnum():
        return (text.lower(),)
    return tuple(_WORD.findall(fold_text(text)))


# Questions share most of their words: each is folded once.
_fold_token = lru_cache(maxsize=16_384)(_list_words)


def count_microseconds(at: str) -> int:
    """Return a time of `format_time` as microseconds since 1970."""
    moment = datetime.fromisoformat(at)
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond
