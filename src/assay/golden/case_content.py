"""What a case asks and expects, as a digest: whether two versions of a golden set have the same case."""

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
