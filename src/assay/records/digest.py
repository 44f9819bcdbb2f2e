"""Canonical JSON and SHA-256 digests, which identify records."""

from __future__ import annotations

import hashlib
import unicodedata

import msgspec

_ENCODER = msgspec.json.Encoder(order="sorted")


def encode_canonical_json(record: object) -> bytes:
    """Return the canonical JSON encoding of `record`: sorted keys, UTF-8, no spaces.

    >>> encode_canonical_json({"b": 1, "a": "đ"}).decode()
    '{"a":"đ","b":1}'
    """
    return _ENCODER.encode(record)


def compute_digest(record: object) -> str:
    """Return `sha256:` and the hexadecimal SHA-256 of the record's canonical JSON.

    >>> compute_digest({"a": 1})[:14]
    'sha256:015abd7'
    """
    return "sha256:" + hashlib.sha256(encode_canonical_json(record)).hexdigest()


def compute_text_digest(text: str) -> str:
    """Return `sha256:` and the hexadecimal SHA-256 of the text's UTF-8 bytes, as `text_hash` holds it.

    >>> compute_text_digest("abc")[:14]
    'sha256:ba7816b'
    """
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def compute_answer_hash(answer: str) -> str:
    """Return the digest of an answer in Unicode NFC, which tells whether a label belongs to this answer.

    >>> compute_answer_hash("a")[:14]
    'sha256:ac8d834'
    """
    return compute_digest(unicodedata.normalize("NFC", answer))
