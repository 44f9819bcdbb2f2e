"""`golden freeze` and `golden diff`: accepted cases as a new version of a set, and what changed between versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.formats.file_io import hold_folder, is_file
from assay.formats.golden_builder import is_unlabelled
from assay.formats.golden_files import compute_golden_digest, load_golden, write_golden
from assay.golden.candidate import FrozenSet, ReviewDecision
from assay.golden.case_content import digest_case_content
from assay.golden.review_file import apply_edit, load_reviews
from assay.golden.set_difference import SetDifference, compare_sets
from assay.golden.settlement import settle_cases
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case, GoldenSet
from assay.scoring.column_values import format_case_ids

_VARIANT_ALONE = "a variant of a case that is neither accepted nor in --base (got {}; expected --base with its set)"
SPLITS = ("test", "validation", "train")
_VERIFIED_FIELDS = frozenset(("question", "evidence", "user", "history"))
"""What the ranks on a target depend on."""


@dataclass(frozen=True, slots=True)
class FreezeRequest:
    """What to freeze: candidates with the decisions on them, on top of an earlier version of the set, if there is one.

    Without decisions, every candidate must be accepted by `accept_all`: the person who says so is the `owner`.
    """

    candidates: str
    out: str
    version: str
    owner: str
    change: str
    at: str
    decisions: Sequence[str] = ()
    base: str | None = None
    split: str = "test"
    name: str = ""
    accept_all: bool = False


def suggest_set_to_freeze(path: Path, *, has_variants: bool = False) -> str:
    """Return the options of `golden freeze` for a first set, or for a version on top of the set at `path`.

    A version that is a number is counted on; after any other one the next is left to the person.

    >>> suggest_set_to_freeze(Path("no such set.jsonl"))
    '--out golden.jsonl --version 1 --owner NAME --change "first set"'
    """
    change = "with variants" if has_variants else "more cases"
    try:
        version = load_golden(str(path)).golden.version if path.is_file() else None
    except InputError:
        version = "of a set that cannot be read"
    if version is None:
        if has_variants:
            return f'--base GOLDEN.jsonl --out GOLDEN-2.jsonl --version 2 --owner NAME --change "{change}"'
        return '--out golden.jsonl --version 1 --owner NAME --change "first set"'
    following = str(int(version or "1") + 1) if (version or "1").isdecimal() else "VERSION"
    out = f"golden-{following}.jsonl"
    return f'--base {path} --out {out} --version {following} --owner NAME --change "{change}"'


def freeze_set(request: FreezeRequest) -> FrozenSet:
    """Write accepted candidates as a new version of a golden set, with owner, changelog, split and digest.

    Of two freezes into one folder at once, the second waits and then sees what the first has written.
    Raises InputError for decisions that are not about the candidates, a version that is not new, a set that was edited
    after it was frozen, and if nothing was accepted.
    """
    with hold_folder(request.out):
        return _freeze_alone(request)


def _freeze_alone(request: FreezeRequest) -> FrozenSet:
    loaded = load_golden(request.candidates)
    base = _load_base(request)
    reviews = load_reviews(request.decisions, loaded, request.candidates)
    decisions = [decision for review in reviews for decision in review.decisions]
    settled = settle_cases(loaded.golden.cases, decisions)
    accepted = [
        _sign(case, outcome.decisions, request)
        for case, outcome in zip(loaded.golden.cases, settled, strict=True)
        if outcome.state == "accepted" or (outcome.state == "undecided" and request.accept_all)
    ]
    earlier = base.cases if base is not None else ()
    taken = {case.id for case in earlier}
    problems = [
        Problem(request.candidates, None, case.id, f"in {request.base} already (expected another id)", "E_DUPLICATE_ID")
        for case in accepted
        if case.id in taken
    ]
    if problems:
        raise InputError(problems)
    refuse_unlabelled(request.candidates, accepted)
    refuse_variants_alone(request.candidates, accepted, (*earlier, *accepted))
    cases = (*earlier, *accepted)
    if not cases:
        raise InputError([Problem(request.candidates, None, "", "no candidate was accepted", "E_EMPTY")])
    changelog = base.changelog if base is not None else ()
    golden = GoldenSet(
        cases,
        name=request.name or (base.name if base is not None else ""),
        version=request.version,
        split=request.split,
        owner=request.owner,
        changelog=(*changelog, f"{request.version} ({request.at}): {request.change}"),
        corpus_version=loaded.golden.corpus_version,
        as_of=loaded.golden.as_of or (base.as_of if base is not None else None),
    )
    digest = compute_golden_digest(golden)
    _refuse_lost_cases(request, cases)
    write_golden(msgspec.structs.replace(golden, frozen_digest=digest), request.out)
    names: dict[str, list[str]] = {}
    for outcome in settled:
        names.setdefault(outcome.state, []).append(outcome.case)
    undecided = () if request.accept_all else tuple(names.get("undecided", ()))
    rejected = len(names.get("rejected", ()))
    return FrozenSet(request.version, digest, len(cases), rejected, undecided, tuple(names.get("disagreed", ())))


def _refuse_lost_cases(request: FreezeRequest, cases: Sequence[Case]) -> None:
    """Raise InputError if the file to write is a frozen set of this version, with cases that would be lost or changed.

    Cases may be added to it, as long as candidates of the version are open.
    """
    if not is_file(request.out):
        return
    try:
        existing = load_golden(request.out).golden
    except InputError:
        return
    content = {case.id: digest_case_content(case) for case in cases}
    lost = [case.id for case in existing.cases if content.get(case.id) != digest_case_content(case)]
    if existing.frozen_digest and existing.version == request.version and lost:
        message = (
            f"frozen as this version with other cases (got {request.version!r}; expected a new version, or another "
            f"file): {format_case_ids(lost)} would be lost or changed"
        )
        raise InputError([Problem(request.out, 1, "version", message, "E_VERSION")])


def refuse_unlabelled(path: str, accepted: Sequence[Case]) -> None:
    """Raise InputError for accepted candidates that still lack everything that an answer could be scored by."""
    message = "accepted without a reference or evidence (expected one of them: edit it in the review, or reject it)"
    problems = [Problem(path, None, case.id, message, "E_NO_GOLD") for case in accepted if is_unlabelled(case)]
    if problems:
        raise InputError(problems)


def refuse_variants_alone(path: str, accepted: Sequence[Case], cases: Sequence[Case]) -> None:
    """Raise InputError for accepted variants of cases that the new version would not have."""
    ids = {case.id for case in cases}
    problems = [
        Problem(path, None, case.id, _VARIANT_ALONE.format(shorten_repr(case.variant_of)), "E_VARIANT")
        for case in accepted
        if case.variant_of is not None and case.variant_of not in ids
    ]
    if problems:
        raise InputError(problems)


def _load_base(request: FreezeRequest) -> GoldenSet | None:
    """Return the earlier version of the set. Raises InputError if it was edited since, or has this version already."""
    if request.base is None:
        return None
    loaded = load_golden(request.base)
    if loaded.golden.version == request.version:
        message = f"has this version already (got {request.version!r}; expected a new one)"
        raise InputError([Problem(request.base, 1, "version", message, "E_VERSION")])
    check_unedited(request.base, loaded.golden, loaded.digest)
    return loaded.golden


def check_unedited(path: str, golden: GoldenSet, digest: str) -> None:
    """Raise InputError if a frozen set is not as it was frozen."""
    if golden.frozen_digest and golden.frozen_digest != digest:
        message = (
            f"edited after it was frozen (got {digest}; expected {golden.frozen_digest}): undo the edit, or freeze it "
            f"as a new version with --accept-all"
        )
        raise InputError([Problem(path, 1, "frozen_digest", message, "E_FROZEN")])


def _sign(case: Case, decisions: Sequence[ReviewDecision], request: FreezeRequest) -> Case:
    """Return an accepted case with the edit of its reviewers, what the edit replaced, and who accepted it.

    What was verified of other words is kept with the words that it was verified of.
    """
    edited = decisions[0].edited if decisions else {}
    people = list(dict.fromkeys(decision.reviewer for decision in decisions)) or [request.owner]
    provenance = {**case.metadata.get("provenance", {}), "accepted_by": people, "accepted_at": request.at}
    if edited:
        fields = msgspec.to_builtins(case)
        original = {field: fields.get(field) for field in sorted(edited)}
        if "verified_ranks" in provenance and _VERIFIED_FIELDS & edited.keys():
            original["verified_ranks"] = provenance.pop("verified_ranks")
        provenance |= {"edited": sorted(edited), "edited_by": people, "original": original, "worded_by": "person"}
        case = apply_edit(case, edited)
    return msgspec.structs.replace(case, metadata={**case.metadata, "provenance": provenance})


def diff_files(before: str, after: str) -> SetDifference:
    """Return what changed from one golden set to another, which are files. Raises InputError if one cannot be read."""
    return compare_sets(load_golden(before).golden, load_golden(after).golden)


def freeze(
    candidates: str,
    out: str,
    *,
    version: str,
    owner: str,
    change: str,
    at: str,
    decisions: Sequence[str] = (),
    base: str | None = None,
    split: str = "test",
    accept_all: bool = False,
) -> FrozenSet:
    """Write accepted candidates, which are a file, as a new version of a golden set; `base` is the version before it.

    `decisions` are files of reviewers, `change` the line of the changelog, `at` the time to record, ISO 8601.
    Raises InputError as `golden freeze` does.
    """
    return freeze_set(
        FreezeRequest(candidates, out, version, owner, change, at, decisions, base, split, "", accept_all)
    )
