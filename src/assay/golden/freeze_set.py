"""`golden freeze` and `golden diff`: accepted cases as a new version of a set, and what changed between versions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from assay.formats.file_io import hold_folder, is_file
from assay.formats.golden_builder import is_unlabelled
from assay.formats.golden_files import (
    LoadedGolden,
    compute_golden_digest,
    encode_golden_lines,
    load_golden,
    write_golden,
)
from assay.formats.problems import find_time_fault
from assay.formats.run_files.test_split_file import copy_looks
from assay.golden.candidate import FrozenSet, LeftOpen, ReviewDecision
from assay.golden.check_golden import lint_golden_set
from assay.golden.next_version import (
    UPDATES,
    describe_version,
    find_own_variants,
    find_retired_variants,
    follow_case,
    is_same_or_relinked,
    name_next_version,
)
from assay.golden.retirement_file import load_retired_cases
from assay.golden.review_file import apply_edit, load_reviews
from assay.golden.set_difference import SetDifference, compare_sets
from assay.golden.settlement import SettledCase, list_left_open, settle_cases
from assay.records.counts import format_count, join_first
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case, GoldenSet, SilencedRule
from assay.scoring.case_content import list_changed_fields

_VARIANT_ALONE = "a variant of a case that is neither accepted nor in --base (got {}; expected --base with its set)"
SPLITS = ("test", "validation", "train")
_VERIFIED_FIELDS = frozenset(("question", "evidence", "user", "history"))
"""What the ranks on a target depend on."""


@dataclass(frozen=True, slots=True)
class FreezeRequest:
    """What to freeze: candidates with the decisions on them, on top of an earlier version of the set, if there is one.

    Without decisions, every candidate must be accepted by `accept_all`: the person who says so is the `owner`.
    With `update`, an accepted candidate replaces the case of `base` with its id, and a rejected one retires it; the
    cases in `retire` are taken out, each with its reason. `as_of` is the day of the set from this version on. `more`
    are further files of candidates.
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
    update: bool = False
    retire: Sequence[str] | Mapping[str, str] = ()
    as_of: str | None = None
    more: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The candidates of all files as one set, the digest of each file, and the file of each case."""

    loaded: LoadedGolden
    digests: frozenset[str]
    path_of_case: dict[str, str]


@dataclass(slots=True)
class _NextCases:
    """The cases of the version that is made, in order, and what became of the candidates and of earlier cases."""

    earlier: dict[str, Case]
    retired: dict[str, str]
    path_of_case: Mapping[str, str]
    updated: list[tuple[Case, Case]] = field(default_factory=list)
    """Each case that is replaced, as it was and as the candidate had it before its edit, with what it is now."""
    added: list[Case] = field(default_factory=list)
    rejected: int = 0
    undecided: list[str] = field(default_factory=list)
    left_open: list[LeftOpen] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def freeze_set(request: FreezeRequest) -> FrozenSet:
    """Write accepted candidates as a new version of a golden set, with owner, changelog, split and digest.

    Of two freezes into one folder at once, the second waits and then sees what the first has written.
    Raises InputError for decisions that are not about the candidates or not settled, a version that is not new, a set
    that was edited after it was frozen, and if nothing was accepted.
    """
    with hold_folder(request.out):
        return _freeze_alone(request)


def _freeze_alone(request: FreezeRequest) -> FrozenSet:
    _check_day(request.as_of)
    candidates = _load_candidates(request)
    loaded = candidates.loaded
    base = _load_base(request)
    reviews = load_reviews(
        request.decisions, loaded, ", ".join([request.candidates, *request.more]), candidates.digests
    )
    decisions = [decision for review in reviews for decision in review.decisions]
    following = _decide_cases(request, candidates, base.golden if base is not None else None, decisions)
    cases = (*following.earlier.values(), *following.added)
    _refuse_nothing_new(request, base.golden if base is not None else None, following)
    refuse_unlabelled(request.candidates, cases)
    refuse_variants_alone(request.candidates, following.added, cases)
    golden = _make_version(request, loaded.golden, base, cases, following.retired)
    digest = compute_golden_digest(golden)
    frozen = msgspec.structs.replace(golden, frozen_digest=digest)
    _refuse_overwriting_a_version(request, frozen)
    if request.base is not None:
        copy_looks(request.base, request.out)
    write_golden(frozen, request.out)
    change = golden.lineage[-1] if golden.lineage else None
    own = find_own_variants(cases, change.updated) if change is not None else ()
    return FrozenSet(
        request.version,
        digest,
        len(cases),
        following.rejected,
        tuple(following.undecided),
        tuple(following.left_open),
        change,
        own,
    )


def _load_candidates(request: FreezeRequest) -> _Candidates:
    """Return the candidates of all files. Raises InputError for one that is in two files, and for files of two days."""
    files = {path: load_golden(path) for path in (request.candidates, *request.more)}
    path_of_case: dict[str, str] = {}
    problems = []
    for path, loaded in files.items():
        for case in loaded.golden.cases:
            other = path_of_case.setdefault(case.id, path)
            if other != path:
                message = f"in {other} as well (expected each candidate in one file)"
                problems.append(Problem(path, loaded.lines.get(case.id), case.id, message, "E_DUPLICATE_ID"))
    first = files[request.candidates]
    days = dict.fromkeys(loaded.golden.as_of for loaded in files.values() if loaded.golden.as_of is not None)
    if len(days) > 1 and request.as_of is None:
        message = (
            f"candidates of different days (got {', '.join(days)}; expected --as-of with the day of the whole set)"
        )
        problems.append(Problem(request.candidates, 1, "as_of", message, "E_DATE"))
    if problems:
        raise InputError(problems)
    cases = tuple(case for loaded in files.values() for case in loaded.golden.cases)
    is_partial = any(loaded.golden.judgments == "partial" for loaded in files.values())
    golden = msgspec.structs.replace(
        first.golden,
        cases=cases,
        as_of=next(iter(days), None),
        judgments="partial" if is_partial else "complete",
    )
    digests = frozenset(loaded.digest for loaded in files.values())
    return _Candidates(msgspec.structs.replace(first, golden=golden), digests, path_of_case)


def _make_version(
    request: FreezeRequest,
    candidates: GoldenSet,
    base: LoadedGolden | None,
    cases: tuple[Case, ...],
    retired: Mapping[str, str],
) -> GoldenSet:
    """Return the set of some cases with what it takes over from the version before, and what it changes of it."""
    earlier = base.golden if base is not None else GoldenSet(())
    as_of = request.as_of or candidates.as_of or earlier.as_of
    if request.as_of is None and earlier.as_of not in (None, as_of):
        message = (
            f"of another day than {request.base} (got {as_of}; expected {earlier.as_of}): say --as-of with the day of "
            f"the whole set"
        )
        raise InputError([Problem(request.candidates, 1, "as_of", message, "E_DATE")])
    change = f"{request.version} ({request.at}): {request.change}"
    lineage = earlier.lineage
    if base is not None:
        lineage = (*lineage, describe_version(request.version, earlier, base.digest, cases, retired, as_of))
    return GoldenSet(
        cases,
        name=request.name or earlier.name,
        version=request.version,
        split=request.split,
        owner=request.owner,
        changelog=(*earlier.changelog, change),
        corpus_version=candidates.corpus_version,
        judgments="partial" if "partial" in (earlier.judgments, candidates.judgments) else "complete",
        as_of=as_of,
        lineage=lineage,
        silenced=_keep_silenced(earlier.silenced, {case.id for case in cases}),
    )


def _keep_silenced(silenced: Sequence[SilencedRule], ids: Container[str]) -> tuple[SilencedRule, ...]:
    """Return the silenced rules of a set for those of its cases that are left."""
    kept = []
    for rule in silenced:
        cases = tuple(case for case in rule.cases if case in ids)
        if cases or not rule.cases:
            kept.append(msgspec.structs.replace(rule, cases=cases))
    return tuple(kept)


def _decide_cases(
    request: FreezeRequest, read: _Candidates, base: GoldenSet | None, decisions: Sequence[ReviewDecision]
) -> _NextCases:
    """Return the cases of the next version. Raises InputError for what is not settled, or replaces without `update`."""
    earlier = {case.id: case for case in base.cases} if base is not None else {}
    candidates = read.loaded.golden.cases
    following = _NextCases(dict(earlier), {}, read.path_of_case)
    for case_id, reason in load_retired_cases(request.retire, earlier, request.base or "--base").items():
        following.retired[case_id] = reason
    settled = settle_cases(candidates, decisions)
    _refuse_unsettled(request, [outcome for outcome in settled if request.update or outcome.case not in earlier])
    if request.accept_all:
        _refuse_errors_unread(read, {outcome.case for outcome in settled if outcome.state == "undecided"} - {*earlier})
    for candidate, outcome in zip(candidates, settled, strict=True):
        if candidate.id in following.retired:
            continue
        if candidate.id in earlier:
            _decide_earlier(request, earlier[candidate.id], candidate, outcome, following)
        elif outcome.state == "accepted" or (outcome.state == "undecided" and request.accept_all):
            following.added.append(_sign(candidate, outcome.decisions, request))
        elif outcome.state == "rejected":
            following.rejected += 1
        else:
            following.undecided.append(candidate.id)
    if following.problems:
        raise InputError(following.problems)
    _follow_cases(following)
    is_accepted = {outcome.case for outcome in settled if outcome.state == "accepted"}.__contains__
    reviewers = sorted({decision.reviewer for decision in decisions if not decision.settles})
    following.left_open = [row for row in list_left_open(settled, reviewers) if is_accepted(row.case)]
    following.retired |= find_retired_variants(tuple(earlier.values()), following.retired)
    for case_id in following.retired:
        following.earlier.pop(case_id, None)
    return following


def _refuse_errors_unread(read: _Candidates, accepted_unread: Collection[str]) -> None:
    """Refuse candidates that nobody decided on and in which `golden lint` finds an error without a corpus."""
    report = lint_golden_set(read.loaded, None, {})
    problems = []
    for finding in report.findings:
        if finding.level == "error" and finding.case in accepted_unread:
            message = (
                f"{finding.rule}: {finding.message} (got --accept-all; expected a fix, or a person's decision: "
                "`assay golden review`, then --decisions)"
            )
            path = read.path_of_case[finding.case]
            problems.append(Problem(path, None, f"{finding.case}: {finding.field}", message, "E_LINT"))
    if problems:
        raise InputError(problems)


def _decide_earlier(
    request: FreezeRequest, case: Case, candidate: Case, outcome: SettledCase, following: _NextCases
) -> None:
    """Decide on a candidate with the id of a case of the version before: the same, relinked, replaced or retired."""
    state = outcome.state
    if state == "rejected" and not request.update:
        message = (
            f"rejected, and a case of {request.base} (got a rejection by {outcome.decisions[0].reviewer}; expected "
            f"--update, which retires it with this reason, or no such decision)"
        )
        following.problems.append(Problem(following.path_of_case[case.id], None, case.id, message, "E_DECISION"))
        return
    if state == "rejected":
        following.retired[case.id] = outcome.decisions[0].reason
        return
    edited = outcome.decisions[0].edited if state == "accepted" else {}
    wanted = apply_edit(candidate, edited) if edited else candidate
    if is_same_or_relinked(case, wanted):
        if list_changed_fields(case, wanted):
            following.earlier[case.id] = candidate
        return
    if state != "accepted" and not request.accept_all:
        following.undecided.append(case.id)
    elif request.update:
        updated = _sign_update(case, candidate, outcome.decisions, request)
        following.earlier[case.id] = updated
        following.updated += [(case, updated), (candidate, updated)]
    else:
        fields = ", ".join(list_changed_fields(case, wanted))
        message = (
            f"in {request.base} already, with another {fields} (expected --update if it replaces that case, else "
            f"another id)"
        )
        following.problems.append(Problem(following.path_of_case[case.id], None, case.id, message, "E_DUPLICATE_ID"))


def _follow_cases(following: _NextCases) -> None:
    """Give the variants that are answered like an updated case what it expects now, where they had what it had."""
    for before, after in following.updated:
        for variant in list(following.earlier.values()):
            if variant.variant_of == after.id:
                following.earlier[variant.id] = follow_case(variant, before, after)


def _sign_update(case: Case, candidate: Case, decisions: Sequence[ReviewDecision], request: FreezeRequest) -> Case:
    """Return a candidate that replaces a case, with the provenance of that case, what it said, and who accepted both.

    The ranks that were verified of other words go into the record of what the case said.
    """
    edited = decisions[0].edited if decisions else {}
    wanted = apply_edit(candidate, edited) if edited else candidate
    fields = list_changed_fields(case, wanted)
    people = list(dict.fromkeys(decision.reviewer for decision in decisions)) or [request.owner]
    provenance = {**case.metadata.get("provenance", {}), **candidate.metadata.get("provenance", {})}
    written = msgspec.to_builtins(case)
    before = {name: written.get(name) for name in fields}
    for name in ("accepted_by", "accepted_at"):
        if name in provenance:
            before[name] = provenance[name]
    if "verified_ranks" in provenance and not _VERIFIED_FIELDS.isdisjoint(fields):
        before["verified_ranks"] = provenance.pop("verified_ranks")
    record = {"version": request.version, "at": request.at, "by": people, "fields": list(fields), "before": before}
    reasons = list(dict.fromkeys(decision.reason for decision in decisions if decision.reason))
    record |= {"reason": "; ".join(reasons)} if reasons else {}
    provenance[UPDATES] = [*provenance.get(UPDATES, ()), record]
    provenance |= {"accepted_by": people, "accepted_at": request.at}
    return msgspec.structs.replace(wanted, metadata={**case.metadata, **candidate.metadata, "provenance": provenance})


def _refuse_unsettled(request: FreezeRequest, settled: Sequence[SettledCase]) -> None:
    """Raise InputError while reviewers disagree: a set that is frozen without these cases is no whole one."""
    names = [outcome.case for outcome in settled if outcome.state == "disagreed"]
    if not names:
        return
    options = " ".join(f"--decisions {shlex.quote(path)}" for path in request.decisions)
    message = (
        f"{format_count(len(names), 'candidate')} decided differently and not settled "
        f"({join_first(names, _MOST_NAMED)}): settle with assay golden review {shlex.quote(request.candidates)} "
        f"{options} --out settle.html, and name what it saves as a further --decisions"
    )
    raise InputError([Problem(request.candidates, None, "", message, "E_DECISION")])


_MOST_NAMED = 5


def _refuse_nothing_new(request: FreezeRequest, base: GoldenSet | None, following: _NextCases) -> None:
    """Raise InputError for a version without cases, and for one with the cases and the day of its base."""
    cases = (*following.earlier.values(), *following.added)
    if not cases:
        message = "no candidate was accepted" if not following.retired else "every case is retired (expected one more)"
        raise InputError([Problem(request.candidates, None, "", message, "E_EMPTY")])
    if base is not None and cases == base.cases and request.as_of in (None, base.as_of):
        message = (
            f"every accepted candidate is in {request.base} already: nothing is new (expected others, changed ones "
            f"with --update, --retire, or --as-of with another day)"
        )
        raise InputError([Problem(request.candidates, None, "", message, "E_DUPLICATE_ID")])


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
    following = name_next_version(version)
    out = Path(request.out)
    new = out.with_name(f"{re.sub(r'-[0-9]+$', '', out.stem)}-{following}{out.suffix}")
    options = [f"--decisions {shlex.quote(path)}" for path in request.decisions]
    options += ["--accept-all"] if request.accept_all else []
    by_id = {case.id: case for case in existing.golden.cases}
    replaces = any(case.id in by_id and not is_same_or_relinked(by_id[case.id], case) for case in frozen.cases)
    options += ["--update"] if replaces else []
    options += [f"--base {shlex.quote(request.out)}", f"--out {shlex.quote(str(new))}", f"--version {following}"]
    options += [f"--owner {shlex.quote(request.owner)}", f"--change {shlex.quote(request.change)}"]
    command = " ".join(["assay golden freeze", *map(shlex.quote, (request.candidates, *request.more)), *options])
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


def _check_day(as_of: str | None) -> None:
    """Raise InputError for a day that is none."""
    fault = find_time_fault(as_of) if as_of is not None else ""
    if fault:
        raise InputError(f"--as-of: {fault}")


def _load_base(request: FreezeRequest) -> LoadedGolden | None:
    """Return the earlier version of the set. Raises InputError if it was edited since, or has this version already."""
    if request.base is None:
        _refuse_options_of_a_base(request)
        return None
    loaded = load_golden(request.base)
    if loaded.golden.version == request.version:
        message = f"has this version already (got {request.version!r}; expected a new one)"
        raise InputError([Problem(request.base, 1, "version", message, "E_VERSION")])
    versions = (loaded.golden.version, request.version)
    if all(version.isdecimal() for version in versions) and int(versions[0]) > int(versions[1]):
        message = f"has a later version (got {request.version!r}; expected {name_next_version(versions[0])!r} or later)"
        raise InputError([Problem(request.base, 1, "version", message, "E_VERSION")])
    check_unedited(request.base, loaded.golden, loaded.digest)
    return loaded


def _refuse_options_of_a_base(request: FreezeRequest) -> None:
    """Raise InputError for what only makes sense on top of an earlier version."""
    if request.update or request.retire:
        option = "--update" if request.update else "--retire"
        raise InputError(f"{option}: of no earlier version (expected --base with the set that is to be followed)")


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
    candidates: str | Sequence[str] | None,
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
    update: bool = False,
    retire: Mapping[str, str] | Sequence[str] = (),
    as_of: str | None = None,
) -> FrozenSet:
    """Write accepted candidates, which are a file or several, as a new version of a golden set.

    `base` is the version before it.
    `decisions` are files of reviewers, `change` the line of the changelog, `at` the time to record, ISO 8601. With
    `update`, accepted candidates replace the cases of the base with their ids, and rejected ones retire them; `retire`
    are reasons by case, or files of them; `as_of` is the day of the set from now on. Without candidates (None), the
    cases are those of the base. Raises InputError as `golden freeze` does.
    """
    files = [candidates] if isinstance(candidates, str) else list(candidates or ())
    return freeze_set(
        FreezeRequest(
            choose_candidates(files, base),
            out,
            version,
            owner,
            change,
            at,
            decisions,
            base,
            split,
            "",
            accept_all,
            update,
            retire,
            as_of,
            files[1:],
        )
    )


def choose_candidates(candidates: Sequence[str], base: str | None) -> str:
    """Return the first file of candidates, the base if none is named. Raises InputError without either."""
    if not candidates and base is None:
        raise InputError("no candidates given (expected CANDIDATES, or --base with what changes of it)")
    return candidates[0] if candidates else base or ""
