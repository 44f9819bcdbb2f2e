"""Canonical JSON and SHA-256 digests, which identify records."""

from __future__ import annotations

import hashlib

import msgspec

_ENCODER = msgspec.json.Encoder(order="sorted")


def canonical_json(record: object) -> bytes:
    """Return the canonical JSON encoding of `record`: sorted keys, UTF-8, no spaces.

    >>> canonical_json({"b": 1, "a": "đ"}).decode()
    '{"a":"đ","b":1}'
    """
    return _ENCODER.encode(record)


def digest(record: object) -> str:
    """Return `sha256:` and the hexadecimal SHA-256 of the record's canonical JSON.

    >>> digest({"a": 1})[:14]
    'sha256:015abd7'
    """
    return "sha256:" + hashlib.sha256(canonical_json(record)).hexdigest()


def text_digest(text: str) -> str:
    """Return `sha256:` and the hexadecimal SHA-256 of the text's UTF-8 bytes, as `text_hash` holds it.

    >>> text_digest("abc")[:14]
    'sha256:ba7816b'
    """
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
