"""`golden freeze` and `golden diff`: accepted cases as a new version of a set, and what changed between versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.formats.file_io import open_file
from assay.formats.golden_builder import is_unlabelled
from assay.formats.golden_files import compute_golden_digest, load_golden, write_golden
from assay.golden.candidate import FrozenSet, ReviewDecision
from assay.golden.set_difference import SetDifference, compare_sets
from assay.records.errors import InputError, Problem
from assay.records.golden_set import Case, GoldenSet

SPLITS = ("test", "validation", "train")
MAX_DECISIONS_BYTES = 64 * 2**20


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


def freeze_set(request: FreezeRequest) -> FrozenSet:
    """Write accepted candidates as a new version of a golden set, with owner, changelog, split and digest.

    Raises InputError for decisions that are not about the candidates, a version that is not new, a set that was edited
    after it was frozen, and if nothing was accepted.
    """
    loaded = load_golden(request.candidates)
    base = _load_base(request)
    decisions = [decision for path in request.decisions for decision in _load_decisions(path)]
    accepted, rejected, undecided, disagreed = _decide(request, loaded.golden.cases, decisions)
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
    write_golden(msgspec.structs.replace(golden, frozen_digest=digest), request.out)
    return FrozenSet(request.version, digest, len(cases), rejected, undecided, disagreed)


def refuse_unlabelled(path: str, accepted: Sequence[Case]) -> None:
    """Raise InputError for accepted candidates that still lack everything that an answer could be scored by."""
    message = "accepted without a reference or evidence (expected one of them: edit it in the review, or reject it)"
    problems = [Problem(path, None, case.id, message, "E_NO_GOLD") for case in accepted if is_unlabelled(case)]
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


def _load_decisions(path: str) -> list[ReviewDecision]:
    with open_file(Path(path)) as file:
        data = file.read(MAX_DECISIONS_BYTES)
    try:
        decisions = msgspec.json.decode(data, type=list[ReviewDecision])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"no list of decisions ({error}; expected case, decision, reviewer, reason, edited)"
        raise InputError([Problem(path, None, "", message, "E_FORMAT")]) from None
    problems = [
        Problem(path, None, row.case, f"decision {row.decision!r} (expected accept or reject)", "E_DECISION")
        for row in decisions
        if row.decision not in ("accept", "reject")
    ]
    problems += [
        Problem(path, None, row.case, "rejected without a reason (expected one)", "E_REASON")
        for row in decisions
        if row.decision == "reject" and not row.reason.strip()
    ]
    if problems:
        raise InputError(problems)
    return decisions


def _decide(
    request: FreezeRequest, cases: Sequence[Case], decisions: Sequence[ReviewDecision]
) -> tuple[list[Case], int, tuple[str, ...], tuple[str, ...]]:
    """Return the accepted cases, and of the others how many were rejected, which are open, and where people disagree.

    A case is accepted if everybody who decided on it accepts it.
    """
    by_case: dict[str, list[ReviewDecision]] = {}
    for decision in decisions:
        by_case.setdefault(decision.case, []).append(decision)
    unknown = sorted(by_case.keys() - {case.id for case in cases})
    if unknown:
        message = f"no such candidate (got {', '.join(unknown[:5])}; expected ids of {request.candidates})"
        raise InputError([Problem(", ".join(request.decisions), None, "case", message, "E_ID")])
    accepted: list[Case] = []
    rejected, undecided, disagreed = 0, [], []
    for case in cases:
        said = by_case.get(case.id, [])
        if len({decision.decision for decision in said}) > 1:
            disagreed.append(case.id)
        elif said and said[0].decision == "reject":
            rejected += 1
        elif said or request.accept_all:
            accepted.append(_sign(case, said, request))
        else:
            undecided.append(case.id)
    return accepted, rejected, tuple(undecided), tuple(disagreed)


def _sign(case: Case, said: Sequence[ReviewDecision], request: FreezeRequest) -> Case:
    """Return an accepted case with the last edit of its reviewers and with who accepted it."""
    edited: Mapping[str, Any] = next((decision.edited for decision in reversed(said) if decision.edited), {})
    if edited:
        row = {**msgspec.to_builtins(case), **edited, "id": case.id}
        try:
            case = msgspec.convert(row, Case)
        except msgspec.ValidationError as error:
            raise InputError(
                [Problem(", ".join(request.decisions), None, case.id, f"edited: {error}", "E_EDIT")]
            ) from None
    people = list(dict.fromkeys(decision.reviewer for decision in said)) or [request.owner]
    provenance = {**case.metadata.get("provenance", {}), "accepted_by": people, "accepted_at": request.at}
    if edited:
        provenance["edited"] = sorted(edited)
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
