"""How the bodies of records are stored: large ones compressed, small ones as they are.

Most records are small: compressing one takes as long as all its hashes together, and saves a few hundred bytes.
"""

from __future__ import annotations

import zlib

import msgspec

MIN_PACKED_BYTES = 2048
"""The size from which a body is compressed."""
_FIRST_BYTE = b"{"  # of every body, which is a JSON object; compressed data begins with another one

UNPACKING_ERRORS = (zlib.error, msgspec.DecodeError, UnicodeDecodeError)
"""What unpacking and decoding a damaged body raises."""


def pack_body(body: bytes) -> bytes:
    """Return the bytes to store for a body, which is a JSON object.

    >>> pack_body(b"{}"), unpack_body(pack_body(b"{%b}" % bytes(5000))) == b"{%b}" % bytes(5000)
    (b'{}', True)
    """
    return body if len(body) < MIN_PACKED_BYTES else zlib.compress(body, 1)


def unpack_body(stored: object) -> bytes:
    """Return the body that the chain committed to. Raises zlib.error for bytes that are none, and for other values."""
    if not isinstance(stored, bytes):  # SQLite keeps a value of any type in any column
        raise zlib.error(f"holds {type(stored).__name__} (expected bytes)")
    return stored if stored[:1] == _FIRST_BYTE else zlib.decompress(stored)
