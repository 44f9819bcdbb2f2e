"""What changed between two versions of a golden set, case by case and field by field."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from assay.records.golden_set import Case, GoldenSet

LABEL_FIELDS = frozenset(
    {
        *("behaviour", "also_accept", "reference", "must_have", "rubric", "evidence", "must_cite", "symbols"),
        *("forbidden", "forbidden_text", "user", "question", "history"),
    }
)
"""Fields that change what is asked or what is right; the others describe a case."""
_NOTES = frozenset({"cases", "lineage", "silenced", "verification", "frozen_digest"})


class FieldChange(Struct, frozen=True):
    """One field with its value before and after, as they are written."""

    field: str
    before: Any
    after: Any


class ChangedCase(Struct, frozen=True):
    """A case of both sets that is not the same; `is_relabelled`: what is asked or what is right has changed."""

    case: str
    changes: tuple[FieldChange, ...]
    is_relabelled: bool


class SetDifference(Struct, frozen=True):
    """Cases that were added, removed or changed, in the order of the newer set, and changes of the header."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[ChangedCase, ...]
    header: tuple[FieldChange, ...]

    @property
    def is_empty(self) -> bool:
        """Whether both sets are the same but for notes."""
        return not (self.added or self.removed or self.changed or self.header)


def compare_sets(before: GoldenSet, after: GoldenSet) -> SetDifference:
    """Return what changed from one set to another; cases are told by their ids, their order does not count.

    >>> difference = compare_sets(GoldenSet((Case("a", "?"), Case("b", "?"))), GoldenSet((Case("a", "Why?"),)))
    >>> difference.removed, difference.changed[0].is_relabelled
    (('b',), True)
    """
    earlier = {case.id: case for case in before.cases}
    later = {case.id: case for case in after.cases}
    changed = [_compare_cases(earlier[case_id], case) for case_id, case in later.items() if case_id in earlier]
    return SetDifference(
        tuple(case_id for case_id in later if case_id not in earlier),
        tuple(case_id for case_id in earlier if case_id not in later),
        tuple(row for row in changed if row is not None),
        _compare_fields(_list_header(before), _list_header(after)),
    )


def _compare_cases(before: Case, after: Case) -> ChangedCase | None:
    changes = _compare_fields(msgspec.to_builtins(before), msgspec.to_builtins(after))
    if not changes:
        return None
    return ChangedCase(after.id, changes, any(change.field in LABEL_FIELDS for change in changes))


def _list_header(golden: GoldenSet) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(golden).items() if name not in _NOTES}


def _compare_fields(before: dict[str, Any], after: dict[str, Any]) -> tuple[FieldChange, ...]:
    names = dict.fromkeys((*after, *before))
    return tuple(
        FieldChange(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )
