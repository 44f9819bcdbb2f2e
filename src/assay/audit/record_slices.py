"""The slices of production answers: conditions `key=value` on who asked and what made the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.audit.batch_rows import list_labels
from assay.records.audit_records import AuditRecord
from assay.records.errors import InputError, shorten_repr

SLICE_KEYS = ("tenant", "role", "locale", "config", "model", "prompt", "behaviour", "feedback", "error")


def parse_slice(text: str) -> tuple[str, str]:
    """Return the key and value of a condition. Raises InputError for what is none.

    >>> parse_slice("tenant=acme")
    ('tenant', 'acme')
    """
    key, separator, value = text.partition("=")
    if not separator or not value or (key not in SLICE_KEYS and not key.startswith("version.")):
        keys = ", ".join(SLICE_KEYS)
        raise InputError(
            f"--slice: not a slice (got {shorten_repr(text)}; expected KEY=VALUE, where KEY is {keys} or version.NAME)"
        )
    return key, value


def is_in_slices(record: AuditRecord, conditions: Sequence[tuple[str, str]]) -> bool:
    """Return whether all conditions hold for an answer."""
    return not conditions or set(conditions) <= set(list_record_slices(record))


def list_record_slices(record: AuditRecord) -> Iterable[tuple[str, str]]:
    """Yield the slices of an answer as key and value."""
    user = record.user
    if user is not None:
        if user.tenant is not None:
            yield "tenant", user.tenant
        if user.locale is not None:
            yield "locale", user.locale
        for role in user.roles:
            yield "role", role
    for key, value in (("config", record.config_id), ("model", record.model), ("prompt", record.prompt_hash)):
        if value is not None:
            yield key, value
    for name, version in record.versions.items():
        yield f"version.{name}", version
    yield from list_labels(record)
