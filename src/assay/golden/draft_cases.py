"""`golden draft`: drafts candidates from a corpus, tries them on targets, and writes what is left for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from assay.calls.interfaces import Target
from assay.formats.corpus import load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import LoadedGolden, load_golden, write_golden
from assay.formats.settings_file import load_config
from assay.golden.candidate import Candidate, DraftReport
from assay.golden.draft_filters import collect_report, filter_by_corpus, filter_by_target
from assay.golden.drafting import draft_candidates
from assay.golden.lint_finding import LintedSet
from assay.golden.verification import VerifiedCase
from assay.golden.verify_evidence import DEFAULT_DEPTH, verify_golden
from assay.records.errors import InputError, Problem
from assay.records.golden_set import Corpus, GoldenSet
from assay.runs.observation_runner import ObservationLimits
from assay.targets.choose_target import TargetPermissions, choose_targets, make_target


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """What to draft from and on which targets to try it; `golden` is a set whose questions are not asked again.

    `out` takes the candidates that are left, `rejected` those thrown away with their reasons.
    """

    corpus: str
    at: str
    targets: Sequence[str] = ()
    settings: str | None = None
    golden: str | None = None
    out: str | None = None
    rejected: str | None = None
    as_of: str | None = None
    depth: int = DEFAULT_DEPTH
    keep_unreachable: bool = False
    permissions: TargetPermissions = field(default_factory=TargetPermissions)


def draft_file(request: DraftRequest) -> DraftReport:
    """Draft candidates and write the files that are named; the same corpus and replies give the same bytes.

    Raises InputError for bad files or if nothing can be drafted, IncompleteError if a target answers nothing.
    """
    corpus = load_corpus(request.corpus)[0]
    existing = load_golden(request.golden).golden if request.golden is not None else GoldenSet(())
    report = filter_candidates(draft_candidates(corpus, request.as_of), corpus, existing, request.as_of)
    if not report.kept and not report.rejected:
        message = "nothing to draft from (expected chunks with text: tables, definitions, quantities)"
        raise InputError([Problem(request.corpus, None, "", message, "E_EMPTY")])
    if request.targets and report.kept:
        connect = {name: _connector(request, name) for name in request.targets}
        report = try_candidates(report, corpus, connect, request)
    if request.out is not None:
        cases = tuple(candidate.case for candidate in report.kept)
        drafted = GoldenSet(cases, name="drafted candidates", as_of=request.as_of, split="candidates")
        write_golden(drafted, request.out)
    if request.rejected is not None:
        write_atomically(request.rejected, (msgspec.json.encode(row) + b"\n" for row in report.rejected))
    return report


def filter_candidates(
    candidates: Sequence[Candidate], corpus: Corpus, existing: GoldenSet, as_of: str | None = None
) -> DraftReport:
    """Return what the corpus and the cases that there are leave of some candidates."""
    return collect_report(list(filter_by_corpus(candidates, LintedSet(existing, corpus), as_of)))


def try_candidates(
    report: DraftReport, corpus: Corpus, connect: dict[str, Callable[[], Target]], request: DraftRequest
) -> DraftReport:
    """Return what the targets leave of the candidates of a report."""
    golden = GoldenSet(tuple(candidate.case for candidate in report.kept), as_of=request.as_of)
    shown: dict[str, dict[str, VerifiedCase]] = {}
    for name, make in connect.items():
        limits = ObservationLimits((), k=request.depth)
        verified = verify_golden(LoadedGolden(golden, "assay", (), ""), corpus, make, limits, request.at)
        shown[name] = {case.case: case for case in verified.cases}
    results = list(filter_by_target(report.kept, shown, keep_unreachable=request.keep_unreachable))
    return _drop_orphans(collect_report(results, report.rejected))


def _drop_orphans(report: DraftReport) -> DraftReport:
    """Return a report in which a variant whose first question was thrown away is the first of no cluster."""
    ids = {candidate.case.id for candidate in report.kept}
    kept = []
    for candidate in report.kept:
        case = candidate.case
        if case.cluster is not None and case.cluster not in ids:
            candidate = msgspec.structs.replace(candidate, case=msgspec.structs.replace(case, cluster=None))
        kept.append(candidate)
    return msgspec.structs.replace(report, kept=tuple(kept))


def _connector(request: DraftRequest, name: str) -> Callable[[], Target]:
    def connect() -> Target:
        config = load_config(request.settings)
        (chosen,) = choose_targets(config, [name])
        return make_target(chosen, config, request.permissions)

    return connect


def draft(
    corpus: str,
    *,
    at: str,
    targets: Sequence[str] = (),
    golden: str | None = None,
    out: str | None = None,
    rejected: str | None = None,
    as_of: str | None = None,
    keep_unreachable: bool = False,
) -> DraftReport:
    """Draft candidates from a corpus file and try them on targets: addresses, import paths or files of outputs.

    `at` is the time to record, ISO 8601, and `as_of` the day on which versions are in force; `out` and `rejected` are
    files to write.
    Raises InputError for bad files or if nothing can be drafted, IncompleteError if a target answers nothing.
    """
    return draft_file(
        DraftRequest(
            corpus,
            at,
            targets,
            golden=golden,
            out=out,
            rejected=rejected,
            as_of=as_of,
            keep_unreachable=keep_unreachable,
        )
    )
