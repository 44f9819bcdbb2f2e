"""The next version of a golden set: what becomes of each case of the one before, and the record of what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from assay.golden.relinking import RELINKED
from assay.records.golden_set import ALIKE_KINDS, Case, GoldenSet, LineageEntry, RetiredCase, UpdatedCase
from assay.scoring.case_content import digest_case_content, list_changed_fields

UPDATES = "updates"
"""Where the provenance of a case says what later versions changed of it, and who accepted that."""


def is_same_or_relinked(case: Case, candidate: Case) -> bool:
    """Return whether a candidate asks and expects what a case does, but for labels that `golden relink` recorded."""
    return digest_case_content(candidate) == digest_case_content(case) or _is_relinked(case, candidate)


def _is_relinked(case: Case, candidate: Case) -> bool:
    """Return whether a candidate is a case with other labels, which `golden relink` has recorded, and nothing else."""
    labels: dict[str, Any] = {"evidence": (), "forbidden": (), "must_cite": ()}
    contents = {digest_case_content(msgspec.structs.replace(each, **labels)) for each in (case, candidate)}
    provenances = [each.metadata.get("provenance", {}) for each in (case, candidate)]
    is_recorded = len(provenances[1].get(RELINKED, ())) > len(provenances[0].get(RELINKED, ()))
    return len(contents) == 1 and is_recorded


def follow_case(variant: Case, before: Case, after: Case) -> Case:
    """Return a variant that is to be answered like its case with what the case expects now.

    Fields that the variant had like its case change with it; what it says in words of its own stays.

    >>> twin = Case("a~typos", "Wo?", reference="Ann", variant_of="a", variant="typos")
    >>> follow_case(twin, Case("a", "Who?", reference="Ann"), Case("a", "Who?", reference="Bob")).reference
    'Bob'
    """
    if variant.variant not in ALIKE_KINDS:
        return variant
    followed: dict[str, Any] = {}
    for name in list_changed_fields(before, after):
        if name != "question" and getattr(variant, name) == getattr(before, name):
            followed[name] = getattr(after, name)
    return msgspec.structs.replace(variant, **followed) if followed else variant


def find_retired_variants(cases: Sequence[Case], retired: Mapping[str, str]) -> dict[str, str]:
    """Return the variants of cases that are retired, which go with them, each with the reason."""
    reasons = {}
    for case in cases:
        if case.variant_of is not None and case.variant_of in retired and case.id not in retired:
            reasons[case.id] = f"a variant of {case.variant_of}, which was retired: {retired[case.variant_of]}"
    return reasons


def find_own_variants(cases: Sequence[Case], updated: Sequence[UpdatedCase]) -> tuple[str, ...]:
    """Return the variants whose case was updated, and which were not: what they expect is to be looked at."""
    changed = {update.case for update in updated}
    return tuple(case.id for case in cases if case.variant_of in changed and case.id not in changed)


def describe_version(
    version: str, base: GoldenSet, digest: str, cases: Sequence[Case], retired: Mapping[str, str], as_of: str | None
) -> LineageEntry:
    """Return what a version with these cases changes of its base, of which the digest is given; order does not count.

    >>> base = GoldenSet((Case("a", "Who?", reference="Ann"), Case("b", "Why?")))
    >>> describe_version("2", base, "sha256:0", [Case("a", "Who?", reference="Bob")], {"b": "sold"}, None).describe()
    '0 added, 1 updated, 1 retired'
    """
    earlier = {case.id: case for case in base.cases}
    updated = []
    for case in cases:
        fields = list_changed_fields(earlier[case.id], case) if case.id in earlier else ()
        if fields:
            updated.append(UpdatedCase(case.id, fields))
    return LineageEntry(
        version,
        digest,
        tuple(case.id for case in cases if case.id not in earlier),
        tuple(updated),
        tuple(RetiredCase(name, reason) for name, reason in retired.items()),
        as_of if as_of != base.as_of else None,
    )


def name_next_version(version: str) -> str:
    """Return the version after one that is a number, else a word to replace.

    >>> name_next_version("2"), name_next_version(""), name_next_version("2026-03")
    ('3', '2', 'VERSION')
    """
    number = version or "1"
    return str(int(number) + 1) if number.isdecimal() else "VERSION"
