"""The hash chain: each record is committed to, and each commitment is linked to the one before.

A commitment is an HMAC of the record under a key that is made of the user's salt and a nonce of the record. Without
them it says nothing about the record, so erasing a record, its nonce and the salt leaves a chain that can be verified
and tells nobody what was erased.
"""

from __future__ import annotations

import hashlib
import hmac

import msgspec

from assay.records.audit_records import DayRoot, SignedRoot
from assay.records.digest import encode_canonical_json

SALT_BYTES = 32
NONCE_BYTES = 16
CHECKPOINT_RECORDS = 1000
_BLOCK_BYTES = 64  # of SHA-256
GENESIS = hashlib.sha256(b"assay audit chain 1").digest()
"""What the first record of a store is linked to."""


class HmacSha256:
    """HMAC-SHA-256 (RFC 2104) under one key, whose blocks are hashed once: a third of the time of `hmac.digest`.

    >>> HmacSha256(b"key").digest(b"text") == hmac.digest(b"key", b"text", "sha256")
    True
    """

    def __init__(self, key: bytes) -> None:
        """Raises ValueError for a key that is longer than a block, which would have to be hashed first."""
        if len(key) > _BLOCK_BYTES:
            raise ValueError(f"key of {len(key)} bytes (expected {_BLOCK_BYTES} at most)")
        block = key.ljust(_BLOCK_BYTES, b"\0")
        self._inner = hashlib.sha256(bytes([byte ^ 0x36 for byte in block]))
        self._outer = hashlib.sha256(bytes([byte ^ 0x5C for byte in block]))

    def digest(self, message: bytes) -> bytes:
        """Return the digest of a message."""
        inner = self._inner.copy()
        inner.update(message)
        outer = self._outer.copy()
        outer.update(inner.digest())
        return outer.digest()


def compute_commitment(body: bytes, salt: bytes, nonce: bytes) -> bytes:
    """Return the commitment to the stored bytes of a record: HMAC-SHA-256 under salt and nonce."""
    return hmac.digest(salt + nonce, body, "sha256")


def compute_link(previous: bytes, sequence: int, day: str, kind: str, commitment: bytes) -> bytes:
    """Return the link of a record: SHA-256 over the link before, its number, day, kind and commitment.

    >>> compute_link(GENESIS, 1, "2026-03-02", "answer", bytes(32)).hex()[:8]
    '3afc162a'
    """
    names = f"{day}|{kind}".encode("utf-8", "surrogateescape")  # a changed store may hold what is no UTF-8
    return hashlib.sha256(b"%b|%d|%b|%b" % (previous, sequence, names, commitment)).digest()


def compute_text_key(text: bytes, salt: bytes) -> bytes:
    """Return the key of a text: HMAC-SHA-256 under the user's salt, so that equal texts link no two users."""
    return hmac.digest(salt, b"text|" + text, "sha256")


def sign_root(root: DayRoot, signed_by: str, at: str, key: bytes | None) -> SignedRoot:
    """Return the root with the name of the person who signs it off, and an HMAC under `key` where there is one."""
    unsigned = SignedRoot(root, signed_by, at)
    if key is None:
        return unsigned
    return msgspec.structs.replace(unsigned, signature=_sign(unsigned, key))


def is_genuine(signed: SignedRoot, key: bytes) -> bool:
    """Return whether the signature of a root is that of this key; False where there is none."""
    unsigned = msgspec.structs.replace(signed, signature=None)
    return signed.signature is not None and hmac.compare_digest(signed.signature, _sign(unsigned, key))


def _sign(unsigned: SignedRoot, key: bytes) -> str:
    return "hmac-sha256:" + hmac.digest(key, b"root|" + encode_canonical_json(unsigned), "sha256").hex()
