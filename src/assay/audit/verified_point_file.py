"""Keeps how far a store was verified, so that the next verification reads only what came after.

The file says: everything up to this record was as the chain committed to it, at this time. Whoever can write to the
file could say so of anything; with the audit key it is signed, and then only who has the key can.
"""

from __future__ import annotations

import hmac
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from assay.audit.privacy import AuditKeys
from assay.formats.file_io import write_atomically
from assay.records.audit_records import DayRoot
from assay.records.digest import encode_canonical_json
from assay.records.errors import InputError


class VerifiedPoint(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How far a store was verified: up to record `sequence`, whose link ends the last of `roots`.

    `at` is when that was found, `full_at` when all of it was last read, and `erased` how many records were erased.
    """

    sequence: int
    answers: int
    erased: int
    roots: tuple[DayRoot, ...]
    at: str
    full_at: str
    signature: str | None = None


def load_verified_point(path: Path, keys: AuditKeys | None) -> VerifiedPoint | None:
    """Return the point in a file, None where there is no file.

    Raises InputError for a file that holds none, and with `keys` for one that was not signed with them.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    remedy = "remove it, or verify everything with --full"
    try:
        point = msgspec.json.decode(content, type=VerifiedPoint)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a checkpoint of a verification ({error}); {remedy}") from None
    if not point.roots or point.roots[-1].last != point.sequence:
        raise InputError(f"{path}: not a checkpoint of a verification (its days do not end at its record); {remedy}")
    if keys is not None and not _is_genuine(point, keys.signing):
        reason = "has no signature" if point.signature is None else "was not signed with this key"
        raise InputError(f"{path}: the checkpoint {reason}: nothing is skipped because of it; {remedy}")
    return point


def write_verified_point(path: Path, point: VerifiedPoint, keys: AuditKeys | None) -> None:
    """Replace the file, signed where there are keys. Raises IncompleteError if it cannot be written."""
    signed = point if keys is None else structs.replace(point, signature=_sign(point, keys.signing))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, [msgspec.json.encode(signed) + b"\n"])


def _is_genuine(point: VerifiedPoint, key: bytes) -> bool:
    return point.signature is not None and hmac.compare_digest(point.signature, _sign(point, key))


def _sign(point: VerifiedPoint, key: bytes) -> str:
    unsigned = structs.replace(point, signature=None)
    return "hmac-sha256:" + hmac.digest(key, b"verified|" + encode_canonical_json(unsigned), "sha256").hex()
