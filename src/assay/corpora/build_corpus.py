"""`corpus build`: reads a folder of documents, cuts them into chunks, and writes the corpus.

Markdown, text and HTML are read here. PDF and DOCX need the package `markitdown`
(`pip install 'rag-assay[documents]'`), which is imported only if such a file is in the folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from assay.corpora.html_text import META_FIELDS, META_PREFIX, convert_html
from assay.corpora.markdown_chunks import MAX_CHUNK_CHARS, Document, chunk_document, make_document_name
from assay.corpora.match_chunks import BuiltCorpus, ChunkMatch, TargetChunk, match_chunks
from assay.formats.file_io import open_file, write_atomically
from assay.formats.outputs import open_output_files, read_observations
from assay.formats.problems import ProblemList, find_time_fault
from assay.formats.run_files.run_folder import OBSERVATIONS_FILE
from assay.formats.strict_yaml import read_yaml
from assay.records.errors import InputError, MissingExtraError, Problem, SettingsError, shorten_repr
from assay.records.golden_set import CorpusChunk

MAX_DOCUMENT_BYTES = 50 * 2**20
MARKDOWN, TEXT, HTML, CONVERTED = (".md", ".markdown"), (".txt",), (".html", ".htm"), (".pdf", ".docx")
READ_SUFFIXES = (*MARKDOWN, *TEXT, *HTML, *CONVERTED)
_FRONT_MATTER = "---"


@dataclass(frozen=True, slots=True)
class CorpusRequest:
    """What to build: a folder, the file to write, the length of a chunk, and a run whose chunks are to be matched."""

    folder: str
    out: str
    max_chars: int = MAX_CHUNK_CHARS
    match: str | None = None


def build_corpus(request: CorpusRequest) -> BuiltCorpus:
    """Write the chunks of the documents in a folder, in the order of their paths; the same files give the same bytes.

    With `match`, a run folder, each chunk names in `metadata.target_chunks` the target's own chunks with its text.
    Raises InputError listing all problems of the documents, or if nothing in the folder can be read.
    """
    folder = Path(request.folder)
    if not folder.is_dir():
        raise InputError([Problem(request.folder, None, "", "no such folder (expected one with documents)", "E_FILE")])
    problems = ProblemList(request.folder)
    chunks: list[CorpusChunk] = []
    skipped: list[str] = []
    empty: list[str] = []
    documents: dict[tuple[str, str], str] = {}
    for path in _list_files(folder):
        relative = path.relative_to(folder).as_posix()
        if path.suffix.lower() not in READ_SUFFIXES:
            skipped.append(relative)
            continue
        problems.path = str(path)
        try:
            document = read_document(path, relative, problems)
        except InputError as error:
            problems.add_raised(error)
            continue
        if not document.text.strip():
            empty.append(relative)
            continue
        key = (str(document.fields.get("document", document.name)), str(document.fields.get("version", "")))
        first = documents.setdefault(key, relative)
        if first != relative:
            message = f"same document and version as {first} (got {key[0]!r}; expected another document or version)"
            problems.add_error(1, "document", message, "E_DUPLICATE_ID")
        chunks += chunk_document(document, request.max_chars)
    problems.raise_errors()
    if not chunks:
        expected = ", ".join(READ_SUFFIXES)
        raise InputError([Problem(request.folder, None, "", f"no document (expected {expected})", "E_EMPTY")])
    matches = None
    if request.match is not None:
        matches = tuple(match_chunks(load_target_chunks(request.match), chunks))
        chunks = _add_target_ids(chunks, matches)
    write_atomically(request.out, (msgspec.json.encode(chunk) + b"\n" for chunk in chunks))
    return BuiltCorpus(len(documents), len(chunks), tuple(skipped), matches, tuple(empty))


def _list_files(folder: Path) -> list[Path]:
    """Return the files of a folder and its subfolders by their paths; hidden ones and links out of it are left out."""
    root = folder.resolve()
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.resolve().is_relative_to(root)
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def read_document(path: Path, relative: str, problems: ProblemList) -> Document:
    """Return one document as Markdown; faults of its front matter are noted. Raises InputError if it cannot be read."""
    name, suffix = make_document_name(relative), path.suffix.lower()
    if suffix in CONVERTED:
        return Document(relative, name, _convert_file(path))
    with open_file(path) as file:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        raise InputError([Problem(str(path), None, "", f"larger than {MAX_DOCUMENT_BYTES} bytes", "E_TOO_LARGE")])
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 (got byte 0x{data[error.start]:02x} at byte offset {error.start}; expected UTF-8 text)"
        raise InputError([Problem(str(path), None, "", message, "E_ENCODING")]) from None
    if suffix in HTML:
        return _read_page(text, str(path), relative, name, problems)
    fields, body, line = _split_front_matter(text, str(path), problems)
    return Document(relative, name, body, fields, line)


def _read_page(text: str, path: str, relative: str, name: str, problems: ProblemList) -> Document:
    """Return an HTML page as a document; its fields are those of its front matter, its meta elements and its title."""
    front, page, _ = _split_front_matter(text, path, problems)
    markdown, page_fields = convert_html(page)
    fields: dict[str, Any] = {}
    for written, value in page_fields.items():
        field = written.removeprefix(META_PREFIX)
        meant = "" if field in META_FIELDS else _find_misspelt(field)
        if written.startswith(META_PREFIX) and field not in META_FIELDS and not meant:
            message = f"no such field (got {shorten_repr(written)}; expected one of {', '.join(META_FIELDS)})"
            problems.add_error(1, field, message, "E_FIELD")
        elif field in META_FIELDS or meant:
            fields[field] = _read_meta_value(field, value)
    for field in sorted(front.keys() & fields.keys() - {"title"}):
        if front[field] != fields[field]:
            message = (
                f"said twice (got {shorten_repr(fields[field])} in a meta element; front matter has another value)"
            )
            problems.add_error(1, field, message, "E_FIELD")
    return Document(relative, name, markdown, {**_check_fields(fields, 1, problems), **front})


def _read_meta_value(field: str, value: str) -> Any:
    """Return the value of a meta element as front matter would have it: roles are a list, a position is a number."""
    if field == "roles":
        return [role.strip() for role in value.strip("[] ").split(",") if role.strip()]
    if field == "position":
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _split_front_matter(text: str, path: str, problems: ProblemList) -> tuple[dict[str, Any], str, int]:
    lines = text.split("\n")
    if lines[0].rstrip() != _FRONT_MATTER:
        return {}, text, 1
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == _FRONT_MATTER), None)
    if end is None:
        problems.add_error(1, "", "front matter without an end (expected a second line ---)", "E_FRONT_MATTER")
        return {}, text, 1
    try:
        document = read_yaml("\n".join(["", *lines[1:end]]), path)
    except SettingsError as error:
        problems.add_raised(error)
        return {}, "", end + 2
    fields = document.data if isinstance(document.data, dict) else {}
    return _check_fields(fields, 1, problems), "\n".join(lines[end + 1 :]), end + 2


_PROTECTING = ("roles", "tenant", "valid_from", "valid_to", "position", "position_scope")
_LIKE_ROLES = frozenset(("acl", "access", "allowed_roles", "access_roles"))


def _find_misspelt(name: str) -> str:
    """Return the field that a name was probably meant to be, of those that restrict who sees a document and when."""
    written = name.lower().replace("-", "_").replace(" ", "_")
    if written in _LIKE_ROLES:
        return "roles"
    return next(iter(get_close_matches(written, _PROTECTING, 1, 0.8)), "") if name not in _KNOWN_FIELDS else ""


_KNOWN_FIELDS = frozenset((*_PROTECTING, "document", "version", "title"))


def _check_fields(fields: Mapping[str, Any], line: int, problems: ProblemList) -> dict[str, Any]:
    """Return the fields of a document; note those of a wrong type. Empty ones are left out."""
    checked = {name: value for name, value in fields.items() if value not in (None, "")}
    for name in map(str, checked):
        meant = _find_misspelt(name)
        if meant:  # read as metadata, it would make the document public
            problems.add_error(line, name, f"no field that restricts anything; did you mean {meant}?", "E_FIELD")
    for name in ("document", "version", "tenant", "position_scope"):
        if name in checked and isinstance(checked[name], (list, dict, bool)):
            problems.add_error(line, name, f"not a name (got {shorten_repr(checked[name])})", "E_TYPE")
        elif name in checked:
            checked[name] = str(checked[name])
    for name in ("valid_from", "valid_to"):
        fault = find_time_fault(str(checked[name])) if name in checked else ""
        if fault:
            problems.add_error(line, name, fault, "E_DATE")
    roles = checked.get("roles", [])
    if not isinstance(roles, list) or not all(isinstance(role, str) and role for role in roles):
        problems.add_error(line, "roles", f"not a list of names (got {shorten_repr(roles)})", "E_TYPE")
        checked.pop("roles")
    if "position" in checked and (
        isinstance(checked["position"], bool) or not isinstance(checked["position"], (int, float))
    ):
        problems.add_error(line, "position", f"not a number (got {shorten_repr(checked['position'])})", "E_TYPE")
    return checked


def _convert_file(path: Path) -> str:
    """Return a PDF or DOCX file as Markdown.

    Raises MissingExtraError without the converter, and InputError for a file that it cannot read.
    """
    import importlib

    try:
        converter = importlib.import_module("markitdown").MarkItDown(enable_plugins=False)
    except ImportError:
        raise MissingExtraError(f"{path}: a PDF or DOCX file", "documents") from None
    try:
        text = str(converter.convert_local(str(path)).text_content)
    except Exception as error:  # noqa: BLE001  # the converter and its parsers may raise anything on a broken file
        message = f"cannot be converted ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        raise InputError([Problem(str(path), None, "", message, "E_FORMAT")]) from None
    if not text.strip():
        message = "has no text (a scan? expected one with a text layer)"
        raise InputError([Problem(str(path), None, "", message, "E_EMPTY")])
    return promote_header_rows(text)


_EMPTY_HEADER = re.compile(r"^\|(?:[ \t]*\|)+[ \t]*\n(\|[ \t:|-]+\n)(\|.*\n?)", re.MULTILINE)


def promote_header_rows(markdown: str) -> str:
    """Return converted text in which the first row of a table without header cells is its header.

    Word marks no header cells: the converter writes an empty header above the row that readers take for it.

    >>> promote_header_rows("|  |  |\\n| --- | --- |\\n| Plan | Price |\\n| Basic | 9 |\\n")
    '| Plan | Price |\\n| --- | --- |\\n| Basic | 9 |\\n'
    """

    def swap_rows(match: re.Match[str]) -> str:
        header = match[2] if match[2].endswith("\n") else f"{match[2]}\n"
        return header + match[1]

    return _EMPTY_HEADER.sub(swap_rows, markdown)


# ── the chunks of a target ───────────────────────────────────────────────────────────────────────────────────────────


def load_target_chunks(run: str) -> list[TargetChunk]:
    """Return the chunks that the observations of a run folder name, each once, by id; the longest text of each.

    Raises InputError for a folder that is not a run, or whose observations cannot be read.
    """
    path = Path(run, OBSERVATIONS_FILE)
    texts: dict[str, str] = {}
    with open_output_files([str(path)], None) as files:
        observations = [row for file in files for row in read_observations(str(file.path), file.name, file.format)]
    for observation in observations:
        for stage in observation.stages or ():
            for chunk in stage.chunks:
                earlier_text = texts.get(chunk.chunk_id, "")
                texts[chunk.chunk_id] = max(earlier_text, chunk.text or "", key=len)
    if not texts:
        message = "no chunk in its observations (expected a run of a target that reports what it retrieved)"
        raise InputError([Problem(run, None, "", message, "E_EMPTY")])
    return [TargetChunk(chunk_id, text) for chunk_id, text in sorted(texts.items())]


def _add_target_ids(chunks: Sequence[CorpusChunk], matches: Sequence[ChunkMatch]) -> list[CorpusChunk]:
    ids: dict[str, list[str]] = {}
    for match in matches:
        for chunk_id in match.chunks:
            ids.setdefault(chunk_id, []).append(match.target_chunk)
    return [
        msgspec.structs.replace(chunk, metadata={**chunk.metadata, "target_chunks": ids[chunk.chunk_id]})
        if chunk.chunk_id in ids
        else chunk
        for chunk in chunks
    ]
