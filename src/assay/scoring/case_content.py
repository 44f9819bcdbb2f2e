"""What a case asks and expects: whether two versions of a golden set have the same case, and what differs."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from assay.records.golden_set import Case

_SET_ASIDE: dict[str, Any] = {
    "notes": "",
    "metadata": {},
    "tags": (),
    "attributes": {},
    "difficulty": "unknown",
    "cluster": None,
    "answer_labels": (),
}


def digest_case_content(case: Case) -> str:
    """Return a digest of what a case asks and expects; notes, tags, clusters and other slices do not count.

    >>> digest_case_content(Case("a", "Who?", notes="x")) == digest_case_content(Case("a", "Who?"))
    True
    """
    content = msgspec.json.encode(msgspec.structs.replace(case, **_SET_ASIDE), order="deterministic")
    return hashlib.sha256(content).hexdigest()


def list_changed_fields(before: Case, after: Case) -> tuple[str, ...]:
    """Return the fields of what a case asks and expects that are other ones, in the order of a case.

    >>> list_changed_fields(Case("a", "Who?", reference="Ann"), Case("a", "Who?", reference="Bob", notes="new"))
    ('reference',)
    """
    names = [name for name in Case.__struct_fields__ if name not in _SET_ASIDE]
    return tuple(name for name in names if getattr(before, name) != getattr(after, name))
