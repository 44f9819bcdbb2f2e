"""Names that people give the fields of a golden case who do not know Assay's: `must_not_have`, `should_refuse`.

A name is read by its words, because its letters say nothing: `must_not_have` is nearest to `must_have`, its contrary.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from msgspec import Struct

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

_SEPARATORS = compile_pattern(r"[^\w.]+")
_NEW_WORD = LatePattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_OBLIGATION = frozenset(("must", "should", "shall", "may", "can", "expect", "expected", "do", "does", "is", "to"))
_STATING = frozenset((
    "have", "contain", "contains", "include", "includes", "mention", "mentions", "say", "state", "appear", "output",
))  # fmt: skip
_FORBIDDING = frozenset(("forbidden", "prohibited", "disallowed", "banned", "taboo", "unwanted"))
_REFUSING = frozenset((
    "refuse", "refuses", "refused", "refusal", "abstain", "abstention", "decline", "declined", "reject",
))  # fmt: skip
_WANTED = frozenset((
    "expected", "relevant", "gold", "golden", "reference", "required", "supporting", "correct", "target", "truth",
))  # fmt: skip
_CHUNKS = frozenset(("chunk", "chunks", "doc", "docs", "document", "documents", "source", "sources", "node", "nodes"))
_TEXTS = frozenset(("passage", "passages", "context", "contexts", "evidence", "excerpt", "excerpts"))
_ALLOWED = frozenset(("acceptable", "accepted", "allowed", "valid", "alternative", "alternate", "alternatives"))
_ANSWERS = frozenset(("answer", "answers", "reference", "references", "response", "responses", "reply", "replies"))
_USER_NAMES = frozenset((
    "user", "users", "role", "roles", "tenant", "tenants", "persona", "permissions", "clearance", "position", "acl",
))  # fmt: skip
_USER_WORDS = _USER_NAMES | {"ctx", "context", "group", "groups", "id"}
_OTHER_NAMES = {
    "tag": "tags", "label": "tags", "labels": "tags",
    "keyword": "must_have", "keywords": "must_have", "key_facts": "must_have", "facts": "must_have",
    "regex": "answer_format", "pattern": "answer_format", "json_schema": "answer_format", "max_words": "answer_format",
    "min_words": "answer_format", "max_chars": "answer_format", "min_chars": "answer_format",
    "max_length": "answer_format", "citation": "must_cite", "expected_citations": "must_cite",
    "source": "expected_chunk_ids", "sources": "expected_chunk_ids",
    "note": "notes", "comment": "notes", "comments": "notes", "lang": "language", "level": "difficulty",
}  # fmt: skip


class MeantName(Struct, frozen=True):
    """The field that a name means, "" for none, and whether the name can mean nothing but what is expected."""

    field: str = ""
    is_expectation: bool = False


def split_name(name: str) -> list[str]:
    """Return the words of a name or title in lower case.

    >>> split_name("mustNotHave"), split_name("Expected Chunk-ID")
    (['must', 'not', 'have'], ['expected', 'chunk', 'id'])
    """
    return [word for word in join_words(name.strip()).split("_") if word]


def join_words(name: str) -> str:
    """Return the words of a title or of a name in camelCase joined by underscores."""
    return _SEPARATORS.sub("_", _NEW_WORD.sub("_", name)).lower()


@lru_cache(maxsize=1024)  # every row of a table has the same
def find_meant_name(name: str) -> MeantName:
    """Return the field of a golden case that a name of somebody else means.

    >>> find_meant_name("must_not_mention"), find_meant_name("shouldRefuse")
    (MeantName(field='forbidden_text', is_expectation=True), MeantName(field='expected_behavior', is_expectation=True))
    >>> find_meant_name("expected_chunk_id").field, find_meant_name("user_roles"), find_meant_name("latency").field
    ('expected_chunk_ids', MeantName(field='user', is_expectation=False), '')
    """
    words = split_name(name)
    expectation = _find_expectation(frozenset(words))
    if expectation:
        return MeantName(expectation, is_expectation=True)
    if words and not _USER_NAMES.isdisjoint(words) and _USER_WORDS.issuperset(words):
        return MeantName("user")
    return MeantName(_OTHER_NAMES.get("_".join(words), ""))


def _find_expectation(words: frozenset[str]) -> str:
    """Return the field that these words demand together; "" if they need not be about what is expected."""
    is_of_chunks = bool(words & _CHUNKS)
    if words & _FORBIDDING:
        return "forbidden" if is_of_chunks else "forbidden_text"
    if "not" in words and words & _OBLIGATION and words & _STATING:
        return "forbidden_text"
    if words & _REFUSING and words & _OBLIGATION:
        return "expected_behavior"
    if words & _ALLOWED and words & _ANSWERS:
        return "reference"
    if words & _WANTED and (is_of_chunks or words & _TEXTS):
        return (
            "reference_contexts"
            if not is_of_chunks and "id" not in words and "ids" not in words
            else ("expected_chunk_ids")
        )
    return "must_have" if "must" in words and words & _STATING and "not" not in words else ""


_VALUES = {
    "expected_behavior": ', as "abstain"',
    "user": ': {"roles": […], "tenant": …}',
    "answer_format": ': {"pattern": …, "max_words": …}',
    "reference": ", which is one text",
}
"""What is written under a field whose values are unlike those of its other names."""


def describe_field(field: str) -> str:
    """Return a field as a remedy names it, with what is written there where that is not plain.

    >>> describe_field("expected_behavior"), describe_field("forbidden_text")
    ('expected_behavior, as "abstain"', 'forbidden_text')
    """
    return field + _VALUES.get(field, "")


SAME_FIELDS = {
    "expected_behavior": ("behaviour", "expected_behaviour"),
    "expected_chunk_ids": ("evidence", "relevance"),
    "reference_contexts": ("evidence",),
    "reference": ("expected_answer", "gold_answer"),
    "user": ("user_context",),
    "forbidden": ("forbidden_chunk_ids",),
}
"""The names of fields in the formats that call them otherwise."""


def choose_field(name: str, fields: Collection[str]) -> str:
    """Return the one of `fields` that a name of somebody else means; "" if none of them is it.

    >>> choose_field("should_refuse", ["id", "behaviour"]), choose_field("mood", ["id", "behaviour"])
    ('behaviour', '')
    """
    meant = find_meant_name(name).field
    return next((field for field in (meant, *SAME_FIELDS.get(meant, ())) if field in fields), "")
