"""Loads the corpus: the chunks that the index should hold, which decide who may see a chunk and what its text is.

JSON Lines, one chunk on each line, with the member names of `CorpusChunk` or of the RAG runner's contract `rag-trace`
(`document_id`, `document_version`, `section_path`, `page_start` and `page_end`, `acl_roles`, `tenant_id`), see ADR 0026
and ADR 0038; `id`, `_id`, `content` and `page_content` are read as the id and the text. msgspec decodes each line; only
a line that it refuses is read again strictly, to report why. A duplicate key in a line that msgspec accepts is
therefore not reported, and its last value counts.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from assay.formats.file_io import Line, decode_line, open_source, read_lines
from assay.formats.problems import NameChecker, ProblemList, UniqueIds, find_time_fault, parse_time
from assay.formats.strict_json import MAX_JSON_DEPTH, Misfit, MisfitError, convert_open, decode_json_object, join_field
from assay.records.digest import compute_text_digest, encode_canonical_json
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Corpus, CorpusChunk, GoldenSet
from assay.text.near_names import find_near_id
from assay.text.pattern_cache import compile_pattern

MAX_PAGES = 10_000
PageNumber = Annotated[int, Meta(ge=1)]

_HASH = compile_pattern(r"sha256:[0-9a-f]{64}")


class CorpusRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One line of the file, with either set of member names."""

    chunk_id: str
    text: str | None = None
    text_hash: str | None = None
    document: str | None = None
    document_id: str | None = None
    version: str | None = None
    document_version: str | None = None
    section: str | None = None
    section_path: str | tuple[str, ...] | None = None
    pages: tuple[int, ...] = ()
    page_start: PageNumber | None = None
    page_end: PageNumber | None = None
    path: str | None = None
    title: str | None = None
    tenant: str | None = None
    tenant_id: str | None = None
    roles: tuple[str, ...] = ()
    acl_roles: tuple[str, ...] = ()
    position: float | None = None
    position_scope: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    kind: str | None = None
    chunking_strategy: str | None = None
    index_version: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def load_corpus(path: str | Path) -> tuple[Corpus, tuple[Problem, ...]]:
    """Load a corpus and return it with its warnings; `-` is standard input, `.gz` is unpacked.

    Raises InputError with everything that is wrong: unknown or mistyped members, duplicate chunk ids, a text_hash that
    does not match the text, and invalid or reversed dates. Free-form members (`x_…`) go to `metadata`.
    """
    with open_source(path) as source:
        findings = ProblemList(source.name)
        reader = _CorpusReader(findings)
        try:
            for line in read_lines(source):
                if line.data and not line.data.isspace():
                    reader.add_line(line)
        except InputError as error:
            findings.add_raised(error)
    return _finish_corpus(reader, findings)


def read_corpus_rows(rows: Iterable[tuple[int, Any]], name: str) -> tuple[Corpus, tuple[Problem, ...]]:
    """Return the corpus of numbered rows, and its warnings; `name` is what they are called in messages.

    A row is a `CorpusChunk` or an object with the members that a line of a file has. Raises InputError as `load_corpus`
    does.
    """
    findings = ProblemList(name)
    reader = _CorpusReader(findings)
    for number, row in rows:
        reader.add_row(row, number)
    return _finish_corpus(reader, findings)


def _finish_corpus(reader: _CorpusReader, findings: ProblemList) -> tuple[Corpus, tuple[Problem, ...]]:
    findings.raise_errors()
    if not reader.chunks:
        raise InputError([Problem(findings.path, None, "", "empty (got no chunk; expected at least one)", "E_EMPTY")])
    reader.names.warn_normalised()
    return Corpus(reader.chunks, _compute_digest(reader.chunks)), findings.warnings()


def encode_corpus_lines(corpus: Corpus) -> Iterator[bytes]:
    """Return the lines of the file of a corpus, which `load_corpus` reads again."""
    encoder = msgspec.json.Encoder()
    return (encoder.encode(chunk) + b"\n" for chunk in corpus.chunks.values())


_MOST_HINTS = 10


def find_stale_evidence(golden: GoldenSet, corpus: Corpus, path: str) -> tuple[Problem, ...]:
    """Return a problem for each unit of the golden set (at `path`) whose chunk ids are all missing from the corpus.

    Such a label is out of date, which is an error of the golden set and not of the retrieval. Units that are selected
    by other fields than `chunk_id` are not checked.
    """
    problems: list[Problem] = []
    for case in golden.cases:
        units = [(unit.any_of, "evidence") for unit in case.evidence]
        units += [((selector,), "forbidden") for selector in case.forbidden]
        for selectors, name in units:
            ids = [str(selector["chunk_id"]) for selector in selectors if "chunk_id" in selector]
            if len(ids) == len(selectors) and not any(chunk_id in corpus.chunks for chunk_id in ids):
                compared = ids if len(problems) < _MOST_HINTS else []  # a corpus may be large, and all its labels old
                near = next(filter(None, (find_near_id(chunk_id, corpus.chunks) for chunk_id in compared)), "")
                hint = f"did you mean {near!r}? " if near else ""
                message = (
                    f"golden_label_issue: not in the corpus (got {shorten_repr(ids)}; {hint}expected a "
                    f"chunk_id of the corpus)"
                )
                problems.append(Problem(path, None, f"{case.id}: {name}", message, "E_STALE_GOLD"))
    return tuple(problems)


_OTHER_NAMES = {"chunk_id": ("id", "_id"), "text": ("content", "page_content")}
"""What stores and frameworks call the id and the text of a chunk, where a row has nothing else by that name."""


def _use_own_names(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its id and text under their own names. Raises MisfitError for two values of one.

    >>> _use_own_names({"id": "leave:1", "page_content": "12 days."})
    {'chunk_id': 'leave:1', 'text': '12 days.'}
    """
    members = dict(row)
    misfits = []
    for own_name, others in _OTHER_NAMES.items():
        named = {key: row[key] for key in (own_name, *others) if row.get(key) is not None}
        values = list(named.values())
        if any(value != values[0] for value in values):
            got = " and ".join(f"{key} {shorten_repr(value)}" for key, value in named.items())
            misfits.append(Misfit(own_name, f"given in two spellings (got {got}; expected one value)", "E_KEY_TWICE"))
        for key in others:
            members.pop(key, None)
        if named:
            members[own_name] = values[0]
    if misfits:
        raise MisfitError(misfits)
    # The order of the members is that of the messages about them.
    return {key: members[key] for key in (*_OTHER_NAMES, *members) if key in members}


class _CorpusReader:
    """Collects the chunks by their id."""

    def __init__(self, findings: ProblemList) -> None:
        self.chunks: dict[str, CorpusChunk] = {}
        self.names = NameChecker(findings)
        self._findings = findings
        self._unique = UniqueIds(findings)
        self._decoder = msgspec.json.Decoder(CorpusRow)

    def add_line(self, line: Line) -> None:
        """Add the chunk of one line, or note what is wrong with the line."""
        try:
            row, extra_members = self._decode_line(line)
        except MisfitError as error:
            self._note_misfits(error, line.number)
        except InputError as error:
            self._findings.add_raised(error)
        else:
            self._add_chunk(row, extra_members, line.number)

    def add_row(self, row: Any, number: int) -> None:
        """Add the chunk of one row, or note what is wrong with the row."""
        if isinstance(row, CorpusChunk):
            row = msgspec.to_builtins(row)
        if not isinstance(row, Mapping):
            message = f"not a chunk (got {shorten_repr(row)}; expected an object with chunk_id and text)"
            self._findings.add_error(number, "", message, "E_TYPE")
            return
        try:
            members, extra_members = convert_open(_use_own_names(dict(row)), CorpusRow)
        except MisfitError as error:
            self._note_misfits(error, number)
        else:
            self._add_chunk(members, extra_members, number)

    def _note_misfits(self, error: MisfitError, number: int) -> None:
        for field_name, message, code in error.misfits:
            self._findings.add_error(number, field_name, message, code)

    def _add_chunk(self, row: CorpusRow, extra_members: dict[str, Any], number: int) -> None:
        chunk = self._build_chunk(row, extra_members, number)
        if self._unique.add_id(row.chunk_id, chunk.chunk_id, number, "chunk_id"):
            self.chunks[chunk.chunk_id] = chunk

    def _decode_line(self, line: Line) -> tuple[CorpusRow, dict[str, Any]]:
        """Return the row of a line and its free-form members."""
        # A line with many brackets goes to the strict reader, because only that one checks the depth of nesting.
        if line.data.count(b"{") + line.data.count(b"[") <= MAX_JSON_DEPTH:
            try:
                return self._decoder.decode(line.data), {}
            except (msgspec.DecodeError, UnicodeDecodeError):
                pass
        path = self._findings.path
        row = decode_json_object(decode_line(line, path), path, line.number)
        return convert_open(_use_own_names(row), CorpusRow)

    def _build_chunk(self, row: CorpusRow, extra_members: dict[str, Any], line: int) -> CorpusChunk:
        section = row.section_path
        if not isinstance(section, str):
            section = " > ".join(section or ()) or None
        chunk = CorpusChunk(
            chunk_id=self.names.normalise(row.chunk_id, line, "chunk_id"),
            text=row.text,
            text_hash=row.text_hash,
            document=_normalise(self._merge_aliases(row.document, row.document_id, "document", line)),
            version=_normalise(self._merge_aliases(row.version, row.document_version, "version", line)),
            section=_normalise(self._merge_aliases(row.section, section, "section", line)),
            pages=self._merge_pages(row, line),
            path=_normalise(row.path),
            tenant=self._clean_name(self._merge_aliases(row.tenant, row.tenant_id, "tenant", line), "tenant", line),
            roles=self._merge_roles(row, line),
            position=row.position,
            position_scope=self._clean_name(row.position_scope, "position_scope", line),
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            kind=_normalise(row.kind),
            chunking_strategy=row.chunking_strategy,
            index_version=row.index_version,
            metadata=self._merge_metadata(row, extra_members, line),
        )
        self._check_dates(chunk, line)
        if chunk.text_hash is not None:
            self._check_hash(chunk.text, chunk.text_hash, line)
        return chunk

    def _merge_metadata(self, row: CorpusRow, extra_members: dict[str, Any], line: int) -> dict[str, Any]:
        """Return the metadata of a chunk with its free-form members and its title, which decides nothing."""
        metadata = {**row.metadata, **extra_members} if extra_members else row.metadata
        if row.title is None:
            return metadata
        other = metadata.get("title")
        self._merge_aliases(row.title, other if isinstance(other, str) else None, "title", line)
        return {**metadata, "title": row.title}

    def _merge_aliases(self, value: str | None, alias: str | None, name: str, line: int) -> str | None:
        if value is not None and alias is not None and value != alias:
            message = (
                f"given in two spellings (got {shorten_repr(value)} and {shorten_repr(alias)}; expected one value)"
            )
            self._findings.add_error(line, name, message, "E_KEY_TWICE")
        return alias if value is None else value

    def _clean_name(self, name: str | None, field_name: str, line: int) -> str | None:
        return None if name is None else self.names.normalise(name, line, field_name)

    def _merge_roles(self, row: CorpusRow, line: int) -> tuple[str, ...]:
        if row.roles and row.acl_roles and row.roles != row.acl_roles:
            self._merge_aliases(str(row.roles), str(row.acl_roles), "roles", line)
        roles = row.roles or row.acl_roles
        return tuple([self.names.normalise(role, line, join_field("roles", index)) for index, role in enumerate(roles)])

    def _merge_pages(self, row: CorpusRow, line: int) -> tuple[int, ...]:
        start, end = row.page_start, row.page_end
        if start is None and end is None:
            return row.pages
        if start is None or end is None or row.pages or not 0 <= end - start < MAX_PAGES:
            got = f"pages {list(row.pages)}, page_start {start}, page_end {end}"
            expected = f"pages, or page_start and a page_end from it on, {MAX_PAGES} pages at most"
            self._findings.add_error(line, "page_start", f"unclear pages (got {got}; expected {expected})", "E_PAGES")
            return row.pages
        return tuple(range(start, end + 1))

    def _check_dates(self, chunk: CorpusChunk, line: int) -> None:
        begin, end = chunk.valid_from, chunk.valid_to
        faults: dict[str, str] = {}
        for name, text in (("valid_from", begin), ("valid_to", end)):
            fault = find_time_fault(text) if text is not None else ""
            if fault:
                faults[name] = fault
        if not faults and begin is not None and end is not None and parse_time(begin) >= parse_time(end):
            faults["valid_to"] = f"ends before it begins (got {end}; expected a time after valid_from {begin})"
        for name, fault in faults.items():
            self._findings.add_error(line, name, fault, "E_DATE")

    def _check_hash(self, text: str | None, text_hash: str, line: int) -> None:
        if not _HASH.fullmatch(text_hash):
            message = f"not a hash (got {shorten_repr(text_hash)}; expected sha256: and 64 hexadecimal digits)"
            self._findings.add_error(line, "text_hash", message, "E_HASH")
            return
        if text is None:
            return
        actual = compute_text_digest(text)
        if actual != text_hash:
            message = f"not the hash of the text (got {text_hash}; expected {actual})"
            self._findings.add_error(line, "text_hash", message, "E_HASH")


def _normalise(text: str | None) -> str | None:
    return text if text is None or text.isascii() else unicodedata.normalize("NFC", text)


def _compute_digest(chunks: dict[str, CorpusChunk]) -> str:
    """Return the digest of a corpus, which does not depend on the order of its chunks."""
    total = hashlib.sha256()  # updated chunk by chunk, because a corpus may be large
    for chunk_id in sorted(chunks):
        total.update(encode_canonical_json(chunks[chunk_id]) + b"\n")
    return "sha256:" + total.hexdigest()
