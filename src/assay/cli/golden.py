"""`assay golden`: checks golden sets, and keeps them true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from assay.cli.options import (
    AskingOptions,
    AsOfOption,
    CorpusOption,
    EndpointOptions,
    GoldenFormatOption,
    JudgeNameOption,
    ModelDryRunOption,
    NowRecordedOption,
    PageLanguageOption,
    PermissionOptions,
    PrintFormat,
    PrintFormatOption,
    SetOwnerOption,
    SettingsOption,
    expand_options,
    parse_metric_list,
    parse_name_list,
    resolve_clock,
)
from assay.cli.streams import print_stopping
from assay.records.counts import format_count
from assay.records.errors import ExitCode, InputError

if TYPE_CHECKING:
    from assay.golden.drafting.draft_cases import DraftRequest
    from assay.golden.model_effort import ModelEffort
    from assay.golden.pooling.draft_nuggets import NuggetRequest

R = TypeVar("R", "DraftRequest", "NuggetRequest")

GoldenFile = Annotated[str, typer.Argument(help="Golden set.")]
TargetsFile = Annotated[
    str | None,
    typer.Option(help="YAML file with the number of cases to have of each kind (default: for about 40 cases)."),
]

TargetOption = Annotated[
    str, typer.Option(help="Target: a name of the settings, an address, module:attr or a file of outputs.")
]

DepthOption = Annotated[int, typer.Option(min=1, help="How many chunks a search returns.")]

RunFoldersOption = Annotated[
    list[str] | None,
    typer.Option(help="Run folder, DIR or DIR:CONFIG; may be repeated, or given without the option."),
]

app = typer.Typer(help="Check golden sets, and keep them up to date.", no_args_is_help=True)


@app.command("check")
def check(
    file: Annotated[str, typer.Argument(help="Golden set: a file, a BEIR folder, or - for standard input.")],
    golden_format: GoldenFormatOption = None,
    corpus: CorpusOption = None,
) -> ExitCode:
    """Read a golden set as strictly as scoring does; print its contents, its digest and any doubtful entries.

    With --corpus, also evidence that the corpus lacks or keeps from its user; `assay golden lint` compares their texts.
    """
    from assay.cli.display import print_table
    from assay.golden.check_golden import list_reference_warnings
    from assay.runs.check_setup import describe_golden_set

    loaded, table = describe_golden_set(file, golden_format, corpus)
    warnings = [*loaded.warnings, *list_reference_warnings(file, loaded)]
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
    print_table(table)
    cases = format_count(len(loaded.golden.cases), "case")
    typer.echo(f"valid: {cases}, {format_count(len(warnings), 'warning')}")
    return ExitCode.PASS


@app.command("init")
def init(
    owner: SetOwnerOption,
    out: Annotated[
        str, typer.Option(help="Golden set to write; an existing file is never overwritten.")
    ] = "golden.jsonl",
    targets: Annotated[str, typer.Option(help="Coverage targets to write, for --targets.")] = "coverage.yaml",
    name: Annotated[str, typer.Option(help="Name of the set.")] = "",
    version: Annotated[str, typer.Option(help="Version of the set.")] = "1",
    corpus: Annotated[
        str | None, typer.Option(help="Corpus from which the examples are drafted (default: three to replace).")
    ] = None,
    as_of: AsOfOption = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Write a golden set to start from and coverage targets; `assay init` writes settings and the same three cases."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.golden.finding_tables import build_starter_table
    from assay.golden.write_starter import StarterRequest, write_starter

    starter = write_starter(StarterRequest(out, targets, owner, name, version, corpus, as_of))
    print_result(starter, [build_starter_table(starter)], format)
    written = [("golden set", Path(out)), ("coverage targets", Path(targets))]
    print_written_files(written, f"assay golden coverage {out} --targets {targets}")
    return ExitCode.PASS


@app.command("lint")
@expand_options
def lint(
    *,
    file: GoldenFile,
    corpus: CorpusOption = None,
    targets: TargetsFile = None,
    as_of: AsOfOption = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Give each suggested group of dependent cases a cluster, and write the file.")
    ] = False,
    endpoint: EndpointOptions,
    asking: AskingOptions,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Find labels that contradict each other or the corpus; exits with 1 if a finding is an error.

    With --judge or --model, a model is asked whether the evidence states each reference.
    """
    from assay.cli.golden_output import print_result
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.golden.check_golden import lint_file
    from assay.golden.finding_tables import build_lint_table
    from assay.runs.progress_line import show_progress

    model = asking.build_options(endpoint)
    if model is not None:
        refuse_overwriting([asking.store], [file, corpus, targets, endpoint.settings])
    with show_progress("judging") as update_progress:
        report = lint_file(
            file,
            corpus,
            targets,
            fix=fix,
            as_of=as_of,
            model=model,
            progress=update_progress,
            on_interrupt=print_stopping,
        )
    print_result(report, build_lint_table(report, file), format)
    if report.effort is not None and report.effort.halted:
        typer.echo(f"stopped: {report.effort.halted}; the same command continues with {asking.store}", err=True)
        return ExitCode.INTERRUPTED if report.effort.halted == "interrupted" else ExitCode.INCOMPLETE
    return ExitCode.FAILED if report.errors else ExitCode.PASS


@app.command("coverage")
def coverage(
    file: GoldenFile,
    corpus: CorpusOption = None,
    targets: TargetsFile = None,
    questions: Annotated[
        str | None,
        typer.Option(help="Production questions, one per line, or JSON lines with question and count."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if cases of a kind are missing.")] = False,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Show what the cases cover: kinds compared with targets, documents nobody asks about, real traffic."""
    from assay.cli.golden_output import print_result
    from assay.golden.check_golden import measure_file
    from assay.golden.finding_tables import build_coverage_tables

    measured = measure_file(file, corpus, targets, questions)
    print_result(measured, build_coverage_tables(measured, file), format)
    return ExitCode.FAILED if strict and measured.gaps else ExitCode.PASS


@app.command("verify")
@expand_options
def verify(
    *,
    file: GoldenFile,
    target: TargetOption,
    corpus: CorpusOption = None,
    settings: SettingsOption = None,
    depth: DepthOption = 50,
    write: Annotated[
        bool, typer.Option("--write", help="Record what was seen in the header of the set, to compare with next time.")
    ] = False,
    now: NowRecordedOption = None,
    permissions: PermissionOptions,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Look for the evidence of every case in a live index; exits with 1 if the set and the index do not fit."""
    from assay.cli.golden_output import print_result
    from assay.golden.finding_tables import build_verification_tables
    from assay.golden.verify_evidence import VerificationRequest, verify_file
    from assay.targets.choose_target import TargetPermissions

    trust = TargetPermissions(permissions.allow_exec, tuple(permissions.allow_host or ()))
    request = VerificationRequest(
        file, target, resolve_clock(now), corpus, settings, depth, write=write, permissions=trust
    )
    report = verify_file(request)
    print_result(report, build_verification_tables(report), format)
    if report.faults:
        return ExitCode.FAILED
    return ExitCode.INCOMPLETE if report.errors else ExitCode.PASS


@app.command("relink")
def relink(
    file: GoldenFile,
    corpus: Annotated[str, typer.Option(help="The new corpus, as it is chunked now.")],
    old_corpus: Annotated[
        str | None,
        typer.Option(help="The corpus that was labelled; without it, only quotes are found again."),
    ] = None,
    proposal: Annotated[str | None, typer.Option(help="File for the links with both texts, to review.")] = None,
    reviewed: Annotated[
        str | None, typer.Option(help="A proposal in which `accepted` was set to true or false, and `new` corrected.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Write the set with all links that are sure (0.95) or accepted.")
    ] = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Find labels again after re-chunking; exits with 1 while links are left to review."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.golden.finding_tables import build_relink_table
    from assay.golden.relink_evidence import RelinkRequest, relink_file
    from assay.golden.suggest_commands import suggest_relinked_freeze, suggest_relinked_review

    refuse_overwriting([proposal, out], [file, corpus, old_corpus, reviewed])
    links = relink_file(RelinkRequest(file, corpus, old_corpus, proposal, reviewed, out))
    print_result(links, [build_relink_table(links)], format)
    named = (("proposal", proposal), ("relinked set", out))
    following = None
    if out is not None and links.to_review:
        following = suggest_relinked_review(file, out, corpus)
    elif out is not None and links.applied:
        following = suggest_relinked_freeze(file, out)
    print_written_files([(name, Path(path)) for name, path in named if path is not None], following)
    return ExitCode.FAILED if links.to_review else ExitCode.PASS


@app.command("draft")
@expand_options
def draft(
    *,
    corpus: Annotated[str, typer.Option(help="Corpus to draft from; `assay corpus build` makes one.")],
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="Target on which candidates are tried; may be repeated. Without one, only the corpus decides."
        ),
    ] = None,
    out: Annotated[str, typer.Option(help="File for the candidates that remain.")] = "candidates.jsonl",
    rejected: Annotated[
        str | None, typer.Option(help="File for the candidates that were discarded, each with its reason.")
    ] = None,
    golden: Annotated[str | None, typer.Option(help="Golden set whose questions are not asked again.")] = None,
    as_of: AsOfOption = None,
    keep_unreachable: Annotated[
        bool,
        typer.Option(
            "--keep-unreachable",
            help="Keep candidates whose evidence is in the index but not found, as retrieval challenges.",
        ),
    ] = False,
    endpoint: EndpointOptions,
    per_kind: Annotated[int, typer.Option(min=1, help="How many candidates of each kind a model is asked for.")] = 6,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the choice of chunks from which a model drafts.")] = 0,
    asking: AskingOptions,
    dry_run: ModelDryRunOption = False,
    depth: DepthOption = 50,
    now: NowRecordedOption = None,
    permissions: PermissionOptions,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Draft candidates of every kind from templates and, if one is named, with a model; keep those that pass."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.golden.drafting.draft_cases import DraftRequest, draft_file, estimate_draft
    from assay.golden.finding_tables import build_draft_tables
    from assay.runs.progress_line import show_progress
    from assay.targets.choose_target import TargetPermissions

    refuse_overwriting([out, rejected, asking.store], [corpus, golden, endpoint.settings])
    trust = TargetPermissions(permissions.allow_exec, tuple(permissions.allow_host or ()))
    request = DraftRequest(
        corpus,
        resolve_clock(now),
        target or (),
        endpoint.settings,
        golden,
        out,
        rejected,
        as_of,
        depth,
        keep_unreachable,
        trust,
        asking.build_options(endpoint),
        per_kind,
        seed,
    )
    if dry_run:
        return _print_effort(request, estimate_draft, format)
    with show_progress("drafting") as update_progress:
        report = draft_file(request, update_progress, print_stopping)
    print_result(report, build_draft_tables(report), format)
    named = (("candidates", out), ("thrown away", rejected))
    following = f"assay golden review {out} --corpus {corpus} --out review.html" if out and report.kept else None
    print_written_files([(name, Path(path)) for name, path in named if path is not None], following)
    return _report_halt(report.effort, asking.store) or ExitCode.PASS


def _print_effort(request: R, estimate: Callable[[R], ModelEffort], format: PrintFormat) -> ExitCode:
    """Print what a model would be asked. Raises InputError if none is named."""
    from assay.cli.golden_output import print_result
    from assay.golden.finding_tables import build_effort_table

    if request.model is None:
        raise InputError("--dry-run: says what a model would be asked (expected --judge or --model as well)")
    effort = estimate(request)
    print_result(effort, [build_effort_table(effort)], format)
    return ExitCode.PASS


def _report_halt(effort: ModelEffort | None, store: str | None) -> ExitCode | None:
    """Print why a model was not asked to the end and return the exit code for it; None if it was, or was not asked."""
    if effort is None or not effort.halted:
        return None
    typer.echo(f"stopped: {effort.halted}; the same command continues with {store}", err=True)
    return ExitCode.INTERRUPTED if effort.halted == "interrupted" else ExitCode.INCOMPLETE


@app.command("review")
def review(
    candidates: Annotated[str, typer.Argument(help="Candidates, as `assay golden draft` writes them.")],
    corpus: CorpusOption = None,
    out: Annotated[
        str | None,
        typer.Option(help="HTML page to write: all candidates, or with --decisions those to settle."),
    ] = None,
    decisions: Annotated[
        list[str] | None, typer.Option(help="Decisions of a reviewer, as the page saves them; may be repeated.")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(help="Previous version of the set: its cases that are unchanged and fit --corpus are left out."),
    ] = None,
    as_of: AsOfOption = None,
    language: PageLanguageOption = "en",
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Write an offline page on which people decide on candidates, or compare reviewers (1 while not all is settled)."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.golden.finding_tables import build_review_tables
    from assay.golden.review_candidates import ReviewRequest, review_file
    from assay.golden.suggest_commands import suggest_next_version, suggest_set_to_freeze

    refuse_overwriting([out], [candidates, corpus, base, *(decisions or ())])
    report = review_file(ReviewRequest(candidates, corpus, decisions or (), out, language, base, as_of))
    print_result(report, build_review_tables(report), format)
    is_settled = bool(decisions) and not (report.disagreed or report.undecided)
    if out is not None or is_settled:
        files = " ".join(f"--decisions {path}" for path in decisions or ()) if is_settled else "--decisions REVIEW.json"
        if base is None:
            options = suggest_set_to_freeze(has_variants=bool(report.variants))
        else:
            options = suggest_next_version(base, as_of)
        page = [("page", Path(out))] if out is not None else []
        print_written_files(page, f"assay golden freeze {candidates} {files} {options}")
    return ExitCode.FAILED if decisions and (report.disagreed or report.undecided) else ExitCode.PASS


@app.command("twins")
@expand_options
def twins(
    *,
    file: GoldenFile,
    corpus: CorpusOption = None,
    out: Annotated[str, typer.Option(help="File for the variants.")] = "twins.jsonl",
    left_out: Annotated[
        str | None, typer.Option(help="File for the variants that were left out, each with its reason.")
    ] = None,
    kinds: Annotated[str, typer.Option(help="Kinds of variants, separated by commas (default: all).")] = "",
    seed: Annotated[
        int, typer.Option(help="Seed of typos and polite words; the same one gives the same variants.")
    ] = 0,
    endpoint: EndpointOptions,
    asking: AskingOptions,
    dry_run: ModelDryRunOption = False,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Draft variants of every case: some to be treated alike, some of which another answer is right."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.golden.finding_tables import build_effort_table, build_twin_tables
    from assay.golden.twin_cases.draft_twins import TwinRequest, draft_twin_file, estimate_twins
    from assay.runs.progress_line import show_progress

    refuse_overwriting([out, left_out, asking.store], [file, corpus, endpoint.settings])
    names, model = parse_name_list(kinds), asking.build_options(endpoint)
    request = TwinRequest(file, corpus, out, left_out, seed, names, model)
    if dry_run:
        if model is None:
            raise InputError("--dry-run: says what a model would be asked (expected --judge or --model as well)")
        effort = estimate_twins(request)
        print_result(effort, [build_effort_table(effort)], format)
        return ExitCode.PASS
    with show_progress("drafting") as update_progress:
        draft = draft_twin_file(request, update_progress, print_stopping)
    print_result(draft, build_twin_tables(draft), format)
    named = (("variants", out if draft.variants else None), ("left out", left_out))
    corpus_option = f" --corpus {corpus}" if corpus else ""
    following = f"assay golden review {out}{corpus_option} --out review.html" if out and draft.variants else None
    print_written_files([(name, Path(path)) for name, path in named if path is not None], following)
    halted = draft.effort.halted if draft.effort is not None else ""
    if halted:
        typer.echo(f"stopped: {halted}; the same command continues with {asking.store}", err=True)
    return (ExitCode.INTERRUPTED if halted == "interrupted" else ExitCode.INCOMPLETE) if halted else ExitCode.PASS


@app.command("nuggets")
@expand_options
def nuggets(
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE] [RUN]...",
            help="Questions: a golden set, which needs no labels (`judgments: partial`; default: that of the runs); "
            "and run folders, as with --run.",
        ),
    ] = None,
    run: RunFoldersOption = None,
    outputs: Annotated[
        list[str] | None, typer.Option(help="Recorded outputs of the configurations to compare; may be repeated.")
    ] = None,
    corpus: CorpusOption = None,
    out: Annotated[str, typer.Option(help="File for the questions with their nuggets.")] = "nuggets.jsonl",
    depth: Annotated[int, typer.Option(min=1, help="How many chunks of each configuration are pooled.")] = 10,
    endpoint: EndpointOptions,
    asking: AskingOptions,
    dry_run: ModelDryRunOption = False,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Draft the facts of a good answer from what all configurations found; exits with 1 if no question has any."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.file_io import is_file
    from assay.formats.outputs import expand_patterns
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.golden.finding_tables import build_nugget_tables
    from assay.golden.pooling.draft_nuggets import NuggetRequest, draft_nugget_file, estimate_nuggets
    from assay.runs.progress_line import show_progress

    file, run = split_run_folders(inputs or (), run or ())
    named = expand_patterns(outputs) if outputs else ()
    refuse_overwriting([out, asking.store], [file, corpus, endpoint.settings, *named])
    request = NuggetRequest(file, outputs or (), corpus, out, depth, asking.build_options(endpoint), run)
    if dry_run:
        return _print_effort(request, estimate_nuggets, format)
    with show_progress("drafting") as update_progress:
        draft = draft_nugget_file(request, update_progress, print_stopping)
    print_result(draft, build_nugget_tables(draft), format)
    if draft.cases:
        recorded = outputs or [f"{folder.partition(':')[0]}/observations.jsonl" for folder in run]
        is_recorded = all(outputs or is_file(path) for path in recorded)  # `assay score` leaves outputs where they are
        following = " ".join(f"--outputs {path}" for path in (recorded if is_recorded else ("OUTPUTS",)))
        command = f"assay score --golden {out} {following} --ignore-unknown --report first.md"
        print_written_files([("nuggets", Path(out))], command)
    return _report_halt(draft.effort, asking.store) or (ExitCode.PASS if draft.cases else ExitCode.FAILED)


@app.command("freeze")
def freeze(
    out: Annotated[str, typer.Option(help="Golden set to write.")],
    version: Annotated[str, typer.Option(help="New version of the set.")],
    owner: SetOwnerOption,
    change: Annotated[str, typer.Option(help="The line for the changelog: what changed and why.")],
    candidates: Annotated[
        list[str] | None,
        typer.Argument(
            help="Candidates, as `assay golden draft` or `relink` writes them (default: the set of --base)."
        ),
    ] = None,
    decisions: Annotated[
        list[str] | None, typer.Option(help="Decisions of a reviewer on the candidates; may be repeated.")
    ] = None,
    base: Annotated[str | None, typer.Option(help="Previous version of the set, whose cases are kept.")] = None,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Accepted candidates replace the cases of --base with their ids; rejected ones retire them.",
        ),
    ] = False,
    retire: Annotated[
        list[str] | None,
        typer.Option(help="Take a case of --base out: ID=REASON, or a file with case and reason; may be repeated."),
    ] = None,
    as_of: AsOfOption = None,
    split: Annotated[str, typer.Option(help="test (never used for tuning), validation or train.")] = "test",
    accept_all: Annotated[
        bool, typer.Option("--accept-all", help="Accept every candidate that nobody decided on, in the owner's name.")
    ] = False,
    now: NowRecordedOption = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Write accepted candidates as a new version of a golden set; exits with 1 while candidates are undecided."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.golden.finding_tables import build_freeze_table
    from assay.golden.freeze_set import SPLITS, FreezeRequest, choose_candidates, freeze_set

    if split not in SPLITS:
        raise InputError(f"--split: no such split (got {split!r}; expected one of {', '.join(SPLITS)})")
    refuse_overwriting(
        [out], [*(candidates or ()), *(decisions or ()), *(path for path in retire or () if Path(path).exists())]
    )
    request = FreezeRequest(
        choose_candidates(candidates or (), base),
        out,
        version,
        owner,
        change,
        resolve_clock(now),
        decisions or (),
        base,
        split,
        "",
        accept_all,
        update,
        retire or (),
        as_of,
        (candidates or ())[1:],
    )
    frozen = freeze_set(request)
    print_result(frozen, [build_freeze_table(frozen)], format)
    print_written_files([("golden set", Path(out))], f"assay run --golden {out} --target TARGET")
    return ExitCode.FAILED if frozen.undecided else ExitCode.PASS


@app.command("pool")
def pool(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Run folders, DIR or DIR:CONFIG, of one golden set, as with --run.")
    ] = None,
    run: RunFoldersOption = None,
    depth: Annotated[int, typer.Option(min=1, help="How many chunks of each ranking are pooled.")] = 10,
    at_least: Annotated[int, typer.Option(min=1, help="How many configurations must rank a chunk to list it.")] = 1,
    stage: Annotated[str, typer.Option(help="Stage whose ranking is pooled.")] = "retrieved",
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", "--metric", help="Ranking metrics whose range is shown, comma-separated."),
    ] = None,
    page: Annotated[str | None, typer.Option(help="HTML page to write, on which people judge the chunks.")] = None,
    grades: Annotated[
        list[str] | None,
        typer.Option(help="Grades to merge, as the page saves them or as CSV or JSON; may be repeated."),
    ] = None,
    questions: Annotated[
        str | None, typer.Option(help="New folder for what `assay judge` is to be asked about the chunks.")
    ] = None,
    judged: Annotated[str | None, typer.Option(help="Such a folder, whose verdicts are merged.")] = None,
    judge: JudgeNameOption = None,
    calibration: Annotated[str | None, typer.Option(help="Calibration of that judge on its rubric.")] = None,
    uncalibrated: Annotated[
        bool, typer.Option("--uncalibrated", help="Merge grades of a judge that is not calibrated; they say so.")
    ] = False,
    merged: Annotated[str | None, typer.Option(help="Golden set to write, with the grades.")] = None,
    version: Annotated[str, typer.Option(help="Version of that set; a frozen one needs a new version.")] = "",
    language: PageLanguageOption = "en",
    now: NowRecordedOption = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """List unjudged chunks that configurations rank high, what they can change, and merge the grades people give."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.golden.finding_tables import build_pool_tables
    from assay.golden.pooling.collect_pool import POOL_METRICS
    from assay.golden.pooling.collect_pool import pool as pool_runs

    folders = [*(runs or ()), *(run or ())]
    if not folders:
        raise InputError("no run folder given (expected RUN, or --run RUN)")
    refuse_overwriting([page, merged], [*(grades or ()), calibration])
    named = parse_metric_list(metrics) if metrics is not None else POOL_METRICS
    report = pool_runs(
        *folders,
        depth=depth,
        at_least=at_least,
        stage=stage,
        metrics=named,
        page=page,
        language=language,
        grades=grades or (),
        merged=merged,
        version=version,
        at=resolve_clock(now),
        questions=questions,
        judged=judged,
        judge=judge,
        calibration=calibration,
        allow_uncalibrated=uncalibrated,
    )
    print_result(report, build_pool_tables(report), format)
    written = (("page", page), ("questions", questions), ("golden set", merged))
    following = (
        f"assay judge --golden {questions}/golden.jsonl --outputs {questions}/outputs.jsonl "
        f"--rubrics {questions}/rubrics --metrics passage_grade --store {questions}/verdicts.sqlite"
    )
    print_written_files([(name, Path(path)) for name, path in written if path], following if questions else None)
    return ExitCode.PASS


@app.command("diff")
def diff(
    before: Annotated[str, typer.Argument(help="Golden set.")],
    after: Annotated[str, typer.Argument(help="Golden set to compare it with.")],
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Show what changed between two golden sets, case by case and field by field."""
    from assay.cli.golden_output import print_result
    from assay.golden.finding_tables import build_difference_tables
    from assay.golden.freeze_set import diff_files

    difference = diff_files(before, after)
    print_result(difference, build_difference_tables(difference), format)
    return ExitCode.PASS


def split_run_folders(inputs: Sequence[str], run: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the golden set among some arguments, if there is one, and all run folders, those of options last.

    Raises InputError for more than one golden set.
    """
    from assay.formats.run_files.run_folder import MANIFEST_FILE, parse_run_name

    folders = [path for path in inputs if (Path(parse_run_name(path).path) / MANIFEST_FILE).is_file()]
    files = [path for path in inputs if path not in folders]
    if len(files) > 1:
        raise InputError(f"{files[1]}: neither a run folder nor the only golden set (got {files[0]!r} as well)")
    return (files[0] if files else None), [*folders, *run]


@app.command("health")
def health(
    file: GoldenFile,
    runs: Annotated[
        list[str] | None, typer.Argument(help="Run folders, or folders that hold runs of the set, as with --run.")
    ] = None,
    run: RunFoldersOption = None,
    corpus: CorpusOption = None,
    prompts: Annotated[
        list[str] | None, typer.Option(help="Prompt file, or folder of them, to look for words of cases in.")
    ] = None,
    targets: TargetsFile = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is expected by chance.")] = 0,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 also if a person has to look.")] = False,
    now: NowRecordedOption = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Show what runs reveal about a set: saturated cases, suspect labels, leaks, power, age; exits with 1 on faults."""
    from assay.cli.golden_output import print_result
    from assay.golden.check_health import HealthRequest, build_health_tables, check_health

    request = HealthRequest(
        file, resolve_clock(now), [*(runs or ()), *(run or ())], corpus, prompts or (), targets, seed
    )
    measured = check_health(request)
    print_result(measured, build_health_tables(measured), format)
    return ExitCode.FAILED if measured.faults or (strict and measured.doubts) else ExitCode.PASS


@app.callback()
def _group() -> None:
    pass
