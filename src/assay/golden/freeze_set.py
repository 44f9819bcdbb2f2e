"""`golden freeze` and `golden diff`: accepted cases as a new version of a set, and what changed between versions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.formats.file_io import hold_folder, is_file
from assay.formats.golden_builder import is_unlabelled
from assay.formats.golden_files import compute_golden_digest, encode_golden_lines, load_golden, write_golden
from assay.golden.candidate import FrozenSet, ReviewDecision
from assay.golden.case_content import digest_case_content
from assay.golden.relinking import RELINKED
from assay.golden.review_file import apply_edit, load_reviews
from assay.golden.set_difference import SetDifference, compare_sets
from assay.golden.settlement import SettledCase, list_left_open, settle_cases
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case, GoldenSet

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
    newest = _find_newest_version(path)
    if newest is None:
        if has_variants:
            return f'--base GOLDEN.jsonl --out GOLDEN-2.jsonl --version 2 --owner NAME --change "{change}"'
        return '--out golden.jsonl --version 1 --owner NAME --change "first set"'
    base, following = newest[0], _count_on(newest[1])
    out = path.with_name(f"{path.stem}-{following}{path.suffix}")
    return f'--base {base} --out {out} --version {following} --owner NAME --change "{change}"'


def suggest_relinked_freeze(golden: str, relinked: str) -> str:
    """Return the command that makes the next version of a golden set of its relinked cases; both are files."""
    path = Path(golden)
    first = path.with_name(re.sub(r"-[0-9]+\Z", "", path.stem) + path.suffix)
    loaded = load_golden(golden).golden
    newest = _find_newest_version(first) or (path, loaded.version)
    following = _count_on(newest[1])
    out = first.with_name(f"{first.stem}-{following}{first.suffix}")
    owner = shlex.quote(loaded.owner) if loaded.owner else "NAME"
    options = f"--base {shlex.quote(golden)} --out {shlex.quote(str(out))} --version {following} --owner {owner}"
    return f"assay golden freeze {shlex.quote(relinked)} {options} --change relinked"


def _find_newest_version(path: Path) -> tuple[Path, str] | None:
    """Return the newest of a set and its numbered versions (golden.jsonl, golden-2.jsonl, …) with its version."""
    numbered = re.compile(rf"{re.escape(path.stem)}-\d+{re.escape(path.suffix)}")
    siblings = [file for file in path.parent.glob(f"{path.stem}-*{path.suffix}") if numbered.fullmatch(file.name)]
    found: list[tuple[int, Path, str]] = []
    for file in (path, *sorted(siblings)):
        if not file.is_file():
            continue
        try:
            version = load_golden(str(file)).golden.version or "1"
        except InputError:
            version = "of a set that cannot be read"
        found.append((int(version) if version.isdecimal() else 0, file, version))
    newest = max(found, key=lambda item: item[0], default=None)
    return newest[1:] if newest is not None else None


def _count_on(version: str) -> str:
    """Return the version after one that is a number, else a word to replace."""
    return str(int(version or "1") + 1) if (version or "1").isdecimal() else "VERSION"


def freeze_set(request: FreezeRequest) -> FrozenSet:
    """Write accepted candidates as a new version of a golden set, with owner, changelog, split and digest.

    Of two freezes into one folder at once, the second waits and then sees what the first has written.
    Raises InputError for decisions that are not about the candidates or not settled, a version that is not new, a set
    that was edited after it was frozen, and if nothing was accepted.
    """
    with hold_folder(request.out):
        return _freeze_alone(request)


def _freeze_alone(request: FreezeRequest) -> FrozenSet:
    loaded = load_golden(request.candidates)
    base = _load_base(request)
    reviews = load_reviews(request.decisions, loaded, request.candidates)
    decisions = [decision for review in reviews for decision in review.decisions]
    earlier, kept = take_relinked(base.cases if base is not None else (), loaded.golden.cases)
    kept |= take_relinked(earlier, _apply_edits(loaded.golden.cases, decisions))[1]
    candidates = [case for case in loaded.golden.cases if case.id not in kept]
    settled = settle_cases(candidates, [decision for decision in decisions if decision.case not in kept])
    _refuse_unsettled(request, settled)
    accepted = [
        _sign(case, outcome.decisions, request)
        for case, outcome in zip(candidates, settled, strict=True)
        if outcome.state == "accepted" or (outcome.state == "undecided" and request.accept_all)
    ]
    _refuse_taken(request, base, earlier, accepted)
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
    frozen = msgspec.structs.replace(golden, frozen_digest=digest)
    _refuse_overwriting_a_version(request, frozen)
    write_golden(frozen, request.out)
    names: dict[str, list[str]] = {}
    for outcome in settled:
        names.setdefault(outcome.state, []).append(outcome.case)
    undecided = () if request.accept_all else tuple(names.get("undecided", ()))
    left_open = list_left_open(settled, sorted({given.reviewer for given in decisions if not given.settles}))
    is_accepted = set(names.get("accepted", ())).__contains__
    left_open = tuple(row for row in left_open if is_accepted(row.case))
    return FrozenSet(request.version, digest, len(cases), len(names.get("rejected", ())), undecided, left_open)


def _apply_edits(candidates: Sequence[Case], decisions: Sequence[ReviewDecision]) -> list[Case]:
    """Return the candidates as their reviewers word them: those of an earlier version were frozen like that."""
    cases = []
    for case, outcome in zip(candidates, settle_cases(candidates, decisions), strict=True):
        is_edited = outcome.state == "accepted" and bool(outcome.decisions[0].edited)
        cases.append(apply_edit(case, outcome.decisions[0].edited) if is_edited else case)
    return cases


def _refuse_unsettled(request: FreezeRequest, settled: Sequence[SettledCase]) -> None:
    """Raise InputError while reviewers disagree: a set that is frozen without these cases is no whole one."""
    names = [outcome.case for outcome in settled if outcome.state == "disagreed"]
    if not names:
        return
    options = " ".join(f"--decisions {shlex.quote(path)}" for path in request.decisions)
    shown = ", ".join(names[:_MOST_NAMED]) + (
        f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    )
    message = (
        f"{format_count(len(names), 'candidate')} decided differently and not settled ({shown}): settle with assay "
        f"golden review {shlex.quote(request.candidates)} {options} --out settle.html, and name what it saves as a "
        f"further --decisions"
    )
    raise InputError([Problem(request.candidates, None, "", message, "E_DECISION")])


_MOST_NAMED = 5


def take_relinked(earlier: Sequence[Case], candidates: Sequence[Case]) -> tuple[tuple[Case, ...], frozenset[str]]:
    """Return the cases of an earlier version with the labels that were relinked since, and the ids that need no more.

    A candidate that asks and expects what the earlier version does is that case, and so is one that `golden relink` has
    given new labels and nothing else: who accepted it stays as it was. Others with the id of a case are not.
    """
    by_id = {case.id: case for case in candidates}
    cases = []
    known: set[str] = set()
    for case in earlier:
        candidate = by_id.get(case.id)
        if candidate is not None and digest_case_content(candidate) == digest_case_content(case):
            known.add(case.id)
        elif candidate is not None and _is_relinked(case, candidate):
            known.add(case.id)
            case = candidate
        cases.append(case)
    return tuple(cases), frozenset(known)


def _is_relinked(case: Case, candidate: Case) -> bool:
    """Return whether a candidate is a case with other labels, which `golden relink` has recorded, and nothing else."""
    labels: dict[str, Any] = {"evidence": (), "forbidden": (), "must_cite": ()}
    contents = {digest_case_content(msgspec.structs.replace(each, **labels)) for each in (case, candidate)}
    provenances = [each.metadata.get("provenance", {}) for each in (case, candidate)]
    is_recorded = len(provenances[1].get(RELINKED, ())) > len(provenances[0].get(RELINKED, ()))
    return len(contents) == 1 and is_recorded


def _refuse_taken(
    request: FreezeRequest, base: GoldenSet | None, earlier: Sequence[Case], accepted: Sequence[Case]
) -> None:
    """Raise InputError for accepted candidates with the id of another case, and if nothing is new."""
    taken = {case.id for case in earlier}
    problems = [
        Problem(
            request.candidates,
            None,
            case.id,
            f"in {request.base} already, with another question, answer or label (expected another id)",
            "E_DUPLICATE_ID",
        )
        for case in accepted
        if case.id in taken
    ]
    if not problems and base is not None and not accepted and tuple(earlier) == base.cases:
        message = f"every accepted candidate is in {request.base} already: nothing is new"
        problems = [Problem(request.candidates, None, "", message, "E_DUPLICATE_ID")]
    if problems:
        raise InputError(problems)


def _refuse_overwriting_a_version(request: FreezeRequest, frozen: GoldenSet) -> None:
    """Raise InputError if the file to write is a frozen set, unless this is a later version of it or the same bytes."""
    if not is_file(request.out):
        return
    try:
        existing = load_golden(request.out)
    except InputError:
        return
    if not existing.golden.frozen_digest or Path(request.out).read_bytes() == b"".join(encode_golden_lines(frozen)):
        return
    if request.base is not None and load_golden(request.base).digest == existing.digest:
        return  # a later version of it, which keeps all its cases
    version = existing.golden.version
    following = _count_on(version)
    out = Path(request.out)
    new = out.with_name(f"{re.sub(r'-[0-9]+$', '', out.stem)}-{following}{out.suffix}")
    options = [f"--decisions {shlex.quote(path)}" for path in request.decisions]
    options += ["--accept-all"] if request.accept_all else []
    options += [f"--base {shlex.quote(request.out)}", f"--out {shlex.quote(str(new))}", f"--version {following}"]
    options += [f"--owner {shlex.quote(request.owner)}", f"--change {shlex.quote(request.change)}"]
    command = " ".join(["assay golden freeze", shlex.quote(request.candidates), *options])
    message = (
        f"frozen already as version {shorten_repr(version)} with {format_count(len(existing.golden.cases), 'case')} "
        f"(got version {request.version!r} for the same file): add to it with {command}"
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
    versions = (loaded.golden.version, request.version)
    if all(version.isdecimal() for version in versions) and int(versions[0]) > int(versions[1]):
        message = f"has a later version (got {request.version!r}; expected {_count_on(versions[0])!r} or later)"
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
