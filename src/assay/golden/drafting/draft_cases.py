"""`golden draft`: drafts candidates from a corpus, tries them on targets, and writes what is left for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from assay.calls.interfaces import Target
from assay.formats.corpus import load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import LoadedGolden, load_golden, write_golden
from assay.formats.problems import find_time_fault
from assay.formats.settings_file import load_config
from assay.golden.candidate import Candidate, DraftReport, RejectedCandidate
from assay.golden.check_golden import load_coverage_targets
from assay.golden.coverage_matrix import count_kinds
from assay.golden.drafting.document_languages import count_other_languages, describe_other_languages
from assay.golden.drafting.draft_filters import collect_report, filter_by_corpus, filter_by_target, list_leaks
from assay.golden.drafting.draft_gaps import explain_documents, explain_gaps, read_drafted
from assay.golden.drafting.model_drafts import COVERAGE_KIND, MODEL_KINDS, build_candidates, plan_drafts
from assay.golden.drafting.template_drafts import draft_candidates
from assay.golden.lint_finding import LintedSet
from assay.golden.model_checks import NEAREST_CHUNKS, filter_by_model, plan_checks
from assay.golden.model_client import ModelClient, ModelOptions
from assay.golden.model_effort import ModelEffort
from assay.golden.verification import VerifiedCase
from assay.golden.verify_evidence import DEFAULT_DEPTH, verify_golden
from assay.judging.call_scheduler import ReportProgress
from assay.records.errors import InputError, Problem
from assay.records.golden_set import Corpus, GoldenSet
from assay.runs.observation_runner import ObservationLimits
from assay.targets.choose_target import TargetPermissions, choose_targets, make_target

MOST_OFF_DOMAIN = 3
"""One in so many questions without an answer may be off the domain."""
DEFAULT_PER_KIND = 6
"""How many candidates of each kind a model is asked for."""


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """What to draft from and on which targets to try it; `golden` is a set whose questions are not asked again.

    `out` takes the candidates that are left, `rejected` those thrown away with their reasons. With a `model`, at most
    `per_kind` candidates of each kind are drafted by it too, chosen by `seed`, and it tries all candidates.
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
    model: ModelOptions | None = None
    per_kind: int = DEFAULT_PER_KIND
    seed: int = 0


def draft_file(
    request: DraftRequest, progress: ReportProgress | None = None, on_interrupt: Callable[[], None] = lambda: None
) -> DraftReport:
    """Draft candidates and write the files that are named; the same corpus and replies give the same bytes.

    `progress` and `on_interrupt` are told about the calls of a model. Once these are halted, by a limit or by Ctrl-C,
    the candidates so far are written and `effort.halted` of the report says why.
    Raises InputError for bad files or if nothing can be drafted, SettingsError for a model that cannot be asked,
    IncompleteError if a target answers nothing.
    """
    corpus, existing = _load_inputs(request)
    client = ModelClient(request.model, progress, on_interrupt) if request.model is not None else None
    drafted = list(draft_candidates(corpus, request.as_of))
    lost: list[RejectedCandidate] = []
    if client is not None:
        planned = plan_drafts(corpus, request.per_kind, request.seed, request.as_of, _choose_kinds(existing))
        replies = client.ask_all(plan.request for plan in planned)
        built = list(build_candidates(planned, replies, client.name, corpus))
        lost = [item for item in built if isinstance(item, RejectedCandidate)]
        drafted = [item for item in built if isinstance(item, Candidate)] + drafted
    report = filter_candidates(drafted, corpus, existing, request.as_of)
    report = msgspec.structs.replace(report, rejected=(*lost, *report.rejected))
    if not report.kept and not report.rejected:
        raise InputError([Problem(request.corpus, None, "", describe_nothing(corpus), "E_EMPTY")])
    if client is not None:
        report = check_candidates(report, LintedSet(existing, corpus), client, request.as_of)
    if request.targets and report.kept:
        connect = {name: _connector(request, name) for name in request.targets}
        report = try_candidates(report, corpus, connect, request)
    if client is not None:
        report = msgspec.structs.replace(report, effort=client.effort)
    report = msgspec.structs.replace(
        report,
        reading=read_drafted(report, corpus, request.as_of),
        gaps=explain_gaps(report, corpus, load_coverage_targets(), existing.cases, request.as_of),
        documents=explain_documents(report, corpus, request.as_of),
    )
    if request.out is not None:
        cases = tuple(candidate.case for candidate in report.kept)
        drafted_set = GoldenSet(cases, name="drafted candidates", as_of=request.as_of, split="candidates")
        write_golden(drafted_set, request.out)
    if request.rejected is not None:
        write_atomically(request.rejected, (msgspec.json.encode(row) + b"\n" for row in report.rejected))
    return report


def describe_nothing(corpus: Corpus, model: str = "--model NAME") -> str:
    """Return that a corpus gives no question, and what would help: of documents in other languages a `model`."""
    counts = count_other_languages(corpus)
    documents = {chunk.document or chunk.chunk_id for chunk in corpus.chunks.values() if chunk.text}
    expected = [] if counts and sum(counts.values()) == len(documents) else [_EXPECTED_TEXTS]
    reasons = [describe_other_languages(counts.items())] if counts else []
    expected += [f"{model}, which drafts questions in the language of the documents"] if counts else []
    return f"{': '.join(['nothing to draft from', *reasons])} (expected {', or '.join(expected)})"


_EXPECTED_TEXTS = "chunks with text: tables, definitions, quantities"


def estimate_draft(request: DraftRequest) -> ModelEffort:
    """Return what `draft_file` would ask a model, without asking; candidates of templates are counted with it.

    Raises InputError for bad files, SettingsError for a model that cannot be asked.
    """
    assert request.model is not None
    corpus, existing = _load_inputs(request)
    client = ModelClient(request.model)
    planned = plan_drafts(corpus, request.per_kind, request.seed, request.as_of, _choose_kinds(existing))
    report = filter_candidates(draft_candidates(corpus, request.as_of), corpus, existing, request.as_of)
    linted = LintedSet(existing, corpus)
    checks = [plan_checks(candidate, linted, client.rubrics, request.as_of) for candidate in report.kept]
    requests = [plan.request for plan in planned] + [each for check in checks for each in check.requests]
    effort = client.estimate_effort(requests)
    return msgspec.structs.replace(effort, later_requests=len(planned) * (2 + NEAREST_CHUNKS))


def check_candidates(report: DraftReport, linted: LintedSet, client: ModelClient, as_of: str | None) -> DraftReport:
    """Return what a model leaves of the candidates of a report."""
    checks = [plan_checks(candidate, linted, client.rubrics, as_of) for candidate in report.kept]
    replies = client.ask_all(request for check in checks for request in check.requests)
    results = list(filter_by_model(report.kept, checks, replies, client.name))
    return limit_off_domain(_drop_orphans(collect_report(results, report)))


def _load_inputs(request: DraftRequest) -> tuple[Corpus, GoldenSet]:
    fault = find_time_fault(request.as_of) if request.as_of is not None else ""
    if fault:
        raise InputError(f"--as-of: {fault}")
    corpus = load_corpus(request.corpus)[0]
    return corpus, load_golden(request.golden).golden if request.golden is not None else GoldenSet(())


def _choose_kinds(existing: GoldenSet) -> set[str]:
    """Return the kinds to ask a model for: those of which an existing set has too few, else all of them."""
    cells = {cell.kind: cell for cell in count_kinds(existing.cases, load_coverage_targets())}
    return {kind for kind in MODEL_KINDS if (cell := cells.get(COVERAGE_KIND.get(kind, kind))) is None or cell.missing}


def filter_candidates(
    candidates: Sequence[Candidate], corpus: Corpus, existing: GoldenSet, as_of: str | None = None
) -> DraftReport:
    """Return what the corpus and the cases that there are leave of some candidates."""
    return limit_off_domain(collect_report(list(filter_by_corpus(candidates, LintedSet(existing, corpus), as_of))))


def limit_off_domain(report: DraftReport) -> DraftReport:
    """Return a report in which at most a third of the questions without an answer are about something else altogether.

    Those tell little: any system that searches at all has nothing for them. They are left out of both languages alike.
    """
    absent = [candidate for candidate in report.kept if candidate.kind == "no-answer"]
    off = [candidate for candidate in absent if "off-domain" in candidate.case.tags]
    most = (len(absent) - len(off)) // (MOST_OFF_DOMAIN - 1)
    languages = sorted({candidate.case.language or "" for candidate in off})
    by_language = [[row for row in off if (row.case.language or "") == language] for language in languages]
    turns = [rows[turn] for turn in range(len(off)) for rows in by_language if turn < len(rows)]
    dropped = {candidate.case.id for candidate in turns[most:]}
    if not dropped:
        return report
    kept = tuple(candidate for candidate in report.kept if candidate.case.id not in dropped)
    rows = [RejectedCandidate(row, "off-domain") for row in report.kept if row.case.id in dropped]
    return msgspec.structs.replace(report, kept=kept, rejected=(*report.rejected, *rows))


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
    tried = collect_report(results, msgspec.structs.replace(report, leaks=list_leaks(report.kept, shown)))
    return limit_off_domain(_drop_orphans(tried))


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
    model: ModelOptions | None = None,
    per_kind: int = DEFAULT_PER_KIND,
    seed: int = 0,
) -> DraftReport:
    """Draft candidates from a corpus file and try them on targets: addresses, import paths or files of outputs.

    `at` is the time to record, ISO 8601, and `as_of` the day on which versions are in force; `out` and `rejected` are
    files to write. A `model` drafts at most `per_kind` candidates of each kind too, chosen by `seed`, and tries all.
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
            model=model,
            per_kind=per_kind,
            seed=seed,
        )
    )
