"""Chunks in the forms in which frameworks and services return them, and ids for chunks that have none.

Read are texts, ids, and objects with an id (`chunk_id`, `id`, `_id`, `doc_id`, …), a text (`text`, `content`,
`page_content`, …) and a score, also where they are nested: LangChain documents, LlamaIndex nodes with scores, points of
vector databases, hits of search engines, and (document, score) pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from assay.formats.strict_json import MisfitError, convert_strictly
from assay.records.digest import compute_text_digest
from assay.records.errors import shorten_repr
from assay.records.observations import TEXT_ID_PREFIX, Chunk
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import collapse_spaces
from assay.text.pattern_cache import compile_pattern

ID_KEYS = ("chunk_id", "id", "_id", "id_", "node_id", "doc_id", "document_id")
TEXT_KEYS = ("text", "content", "page_content", "passage", "body")
SCORE_KEYS = ("score", "similarity", "_score", "relevance_score")
_SAME_ID_KEYS = frozenset(("id", "_id", "id_", "node_id"))
_NESTED_KEYS = ("metadata", "payload", "_source", "fields")
_RECORD_KEYS = frozenset(Chunk.__struct_fields__)
_EMPTY: tuple[Any, ...] = (None, "", {})
_FRAMEWORK_KEYS = frozenset(("type", "class_name", "lc"))

LONGEST_ID_CHARS = 200
FEWEST_TEXT_WORDS = 5

NoteReading = Callable[[str], None]
"""Takes one sentence about how a reply was understood; the same sentence may be said for every chunk."""


class ShapeError(ValueError):
    """Raised for a value that has no known shape, or more than one; the message says which."""


class _Member(Struct, frozen=True):
    key: str
    value: Any


def make_text_id(text: str) -> str:
    """Return the id of a chunk that has none: the digest of its text, in Unicode NFC and with single spaces.

    >>> make_text_id("12 days  of leave.") == make_text_id("12 days of leave.")
    True
    >>> make_text_id("12 days of leave.")
    'text:sha256:3e7d8e60fe23c7b1'
    """
    return TEXT_ID_PREFIX + compute_text_digest(collapse_spaces(text)).removeprefix("sha256:")[:16]


def read_chunks(items: Any, note: NoteReading, *, strings: str = "ids") -> tuple[Chunk, ...]:
    """Return the chunks of a list in rank order.

    `strings` says what texts in the list are: `ids`, `texts`, or `either`, which is decided by what they look like.
    Raises ShapeError.
    """
    if not isinstance(items, (list, tuple)):
        raise ShapeError(f"a ranking that is not a list (got {shorten_repr(items)})")
    texts = [item for item in items if isinstance(item, str)]
    if texts and strings != "texts":
        strings = _classify_strings(texts, strings)
    return tuple(read_chunk(item, index, note, strings) for index, item in enumerate(items))


def _classify_strings(texts: Sequence[str], default: str) -> str:
    """Return whether strings are `ids` or `texts`. Raises ShapeError if they could be both and nothing says which."""
    if all(_is_certainly_text(text) for text in texts):
        return "texts"
    if default == "ids" or not any(len(text.split()) > 1 or len(text) > LONGEST_ID_CHARS for text in texts):
        return "ids"
    doubtful = next(text for text in texts if len(text.split()) > 1 or len(text) > LONGEST_ID_CHARS)
    raise ShapeError(
        f"strings that could be ids or texts (got {shorten_repr(doubtful)}; expected contexts: [texts], objects "
        "with id or text, or ids without spaces)"
    )


def _is_certainly_text(text: str) -> bool:
    return len(text.split()) >= FEWEST_TEXT_WORDS or len(text) > LONGEST_ID_CHARS or "\n" in text


_FILE_NAME = compile_pattern(r".*\w\.[A-Za-z0-9]{1,5}")
_SENTENCE_END = LatePattern(r"""[.!?。！？…:;][)"'»”]?\Z""")
_MOST_TITLE_WORDS = 2


def are_plainly_texts(strings: Sequence[str], expected_ids: Collection[str] = ()) -> bool:
    """Return whether strings that a system gives with its answer are texts of chunks and cannot well be ids.

    Ids have no spaces, but for names of files and short titles; `expected_ids` are those that the case names, which may
    have some. One sentence is enough: a list is all of one kind.

    >>> are_plainly_texts(["Refunds take 5 days", "Fees"]), are_plainly_texts(["leave:1", "leave:2"])
    (True, False)
    >>> are_plainly_texts(["Leave policy", "Fees"]), are_plainly_texts(["Leave policy of 2026.pdf"])
    (False, False)
    """
    if any(_FILE_NAME.fullmatch(text) and not _SENTENCE_END.search(text) for text in strings):
        return False
    if any(" " in expected for expected in expected_ids) and any(text in expected_ids for text in strings):
        return False
    return any(_is_sentence(text) for text in strings)


def _is_sentence(text: str) -> bool:
    words = len(text.split())
    return words > _MOST_TITLE_WORDS or (words > 1 and _SENTENCE_END.search(text.strip()) is not None)


def read_chunk(item: Any, index: int, note: NoteReading, strings: str = "ids") -> Chunk:
    """Return one chunk; `index` is its position, for messages. Raises ShapeError."""
    if isinstance(item, Chunk):
        return item
    if isinstance(item, str):
        return Chunk(item) if strings == "ids" else _build_chunk({"text": item}, index, note)
    if isinstance(item, (list, tuple)) and len(item) == 2 and _is_number(item[1]):
        scored = read_chunk(item[0], index, note, strings)
        return msgspec.structs.replace(scored, score=float(item[1]))
    if not isinstance(item, Mapping):
        raise ShapeError(f"chunk {index}: neither an object nor an id (got {shorten_repr(item)})")
    return _build_chunk(_unwrap(item), index, note)


def _unwrap(item: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the members of a chunk without what frameworks wrap around them."""
    members = {str(key): value for key, value in item.items()}
    if members.get("lc") and isinstance(members.get("kwargs"), Mapping):  # as LangChain serialises objects
        members = dict(members["kwargs"])
    for wrapper in ("node", "document"):  # a LlamaIndex node with its score; a document with its score
        inner = members.get(wrapper)
        if isinstance(inner, Mapping):
            members = {**{key: value for key, value in members.items() if key != wrapper}, **_unwrap(inner)}
            score = item.get("score")
            if score is not None:
                members["score"] = score
    return members


def _build_chunk(members: dict[str, Any], index: int, note: NoteReading) -> Chunk:
    nested = {key: members[key] for key in _NESTED_KEYS if isinstance(members.get(key), Mapping)}
    text = _choose_text(members, nested, index)
    score = next((_Member(key, members[key]) for key in SCORE_KEYS if _is_number(members.get(key))), None)
    chunk_id = _choose_id(members, nested, index)
    if chunk_id is None:
        if text is None or not str(text.value).strip():
            keys = ", ".join(sorted(members)) or "none"
            raise ShapeError(
                f"chunk {index}: no id and no text (got the keys {keys}; expected an id in one of "
                f"{', '.join(ID_KEYS)}, or a text in one of {', '.join(TEXT_KEYS)})"
            )
        note("chunks without an id have one made from their text")
        chunk_id = _Member("", make_text_id(text.value))
    used = {member.key for member in (text, score, chunk_id) if member is not None}
    row = {key: value for key, value in members.items() if key in _RECORD_KEYS and key != "metadata"}
    row["chunk_id"] = chunk_id.value
    row |= {"text": text.value} if text is not None else {}
    row |= {"score": score.value} if score is not None else {}
    row["metadata"] = _collect_metadata(members, nested, used) or None
    for name, member in (("ids", chunk_id), ("texts", text), ("scores", score)):
        if member is not None and member.key not in ("", "chunk_id", "text", "score"):
            note(f"{name} of chunks are read from {member.key}")
    return _convert_chunk(row, index)


def _choose_text(members: Mapping[str, Any], nested: Mapping[str, Mapping[str, Any]], index: int) -> _Member | None:
    texts = [_Member(key, members[key]) for key in TEXT_KEYS if isinstance(members.get(key), str)]
    if isinstance(members.get("document"), str) and not texts and "document" not in nested:
        texts = [_Member("document", members["document"])] if _is_certainly_text(members["document"]) else []
    if len({member.value for member in texts}) > 1:
        keys = " and ".join(member.key for member in texts)
        raise ShapeError(f"chunk {index}: two texts, {keys} (expected one, or response.chunk.text in the settings)")
    if texts:
        return texts[0]
    for wrapper, inner in nested.items():
        for key in TEXT_KEYS:
            if isinstance(inner.get(key), str):
                return _Member(f"{wrapper}.{key}", inner[key])
    return None


def _choose_id(members: Mapping[str, Any], nested: Mapping[str, Mapping[str, Any]], index: int) -> _Member | None:
    ids = [_Member(key, members[key]) for key in ID_KEYS if members.get(key) not in _EMPTY]
    for wrapper, inner in nested.items():
        ids += [_Member(f"{wrapper}.{key}", inner[key]) for key in ID_KEYS if inner.get(key) not in _EMPTY]
    own_ids = [member for member in ids if member.key in _SAME_ID_KEYS]
    first = next((member for member in ids if member.key.endswith("chunk_id")), ids[0] if ids else None)
    if first is None:
        return None
    if first.key in _SAME_ID_KEYS and len({str(member.value) for member in own_ids}) > 1:
        keys = " and ".join(member.key for member in own_ids)
        raise ShapeError(f"chunk {index}: two ids, {keys} (expected one, or response.chunk.id in the settings)")
    if isinstance(first.value, int) and not isinstance(first.value, bool):
        return _Member(first.key, str(first.value))
    return first


def _collect_metadata(
    members: Mapping[str, Any], nested: Mapping[str, Mapping[str, Any]], used: set[str]
) -> dict[str, Any]:
    """Return everything of an object that is not another member of the chunk."""
    metadata = {
        key: value
        for key, value in members.items()
        if key not in used
        and key not in nested
        and key not in _RECORD_KEYS
        and key not in _FRAMEWORK_KEYS
        and value not in (None, "")
    }
    for wrapper, inner in nested.items():
        metadata |= {str(key): value for key, value in inner.items() if f"{wrapper}.{key}" not in used}
    return metadata


def _convert_chunk(row: dict[str, Any], index: int) -> Chunk:
    try:
        return convert_strictly(row, Chunk)
    except MisfitError as error:
        raise ShapeError(f"chunk {index}: {error}") from None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
