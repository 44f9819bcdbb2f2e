"""`assay golden`: checks golden sets, and keeps them true."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import (
    CorpusOption,
    GoldenFormatOption,
    JudgeNameOption,
    PermissionOptions,
    PrintFormat,
    PrintFormatOption,
    SettingsOption,
    expand_options,
    parse_metric_list,
    resolve_clock,
)
from assay.records.errors import ExitCode, InputError

GoldenFile = Annotated[str, typer.Argument(help="Golden set.")]
TargetsFile = Annotated[
    str | None,
    typer.Option(help="YAML file: how many cases of each kind to have (default: for about 40 cases)."),
]

TargetOption = Annotated[
    str, typer.Option(help="Target: a name of the settings, an address, module:attr or a file of outputs.")
]

NowRecordedOption = Annotated[
    str | None, typer.Option("--now", help="Time to record, ISO 8601 (default: SOURCE_DATE_EPOCH, else now).")
]

DepthOption = Annotated[int, typer.Option(min=1, help="How many chunks a search returns.")]

app = typer.Typer(help="Check golden sets, and keep them true.", no_args_is_help=True)


@app.command("check")
def check(
    file: Annotated[str, typer.Argument(help="Golden set: a file, a BEIR folder, or - for standard input.")],
    golden_format: GoldenFormatOption = None,
) -> ExitCode:
    """Read a golden set as strictly as scoring does; print its contents, its digest and any doubtful entries."""
    from assay.cli.display import print_table
    from assay.runs.check_setup import describe_golden_set

    loaded, table = describe_golden_set(file, golden_format)
    for warning in loaded.warnings:
        typer.echo(f"warning: {warning}", err=True)
    print_table(table)
    return ExitCode.PASS


@app.command("init")
def init(
    owner: Annotated[str, typer.Option(help="Who answers for the set.")],
    out: Annotated[
        str, typer.Option(help="Golden set to write; an existing file is never overwritten.")
    ] = "golden.jsonl",
    targets: Annotated[str, typer.Option(help="Coverage targets to write, for --targets.")] = "coverage.yaml",
    name: Annotated[str, typer.Option(help="Name of the set.")] = "",
    version: Annotated[str, typer.Option(help="Version of the set.")] = "1",
    corpus: Annotated[
        str | None, typer.Option(help="Corpus from which the examples are drafted (default: three to replace).")
    ] = None,
    as_of: Annotated[str | None, typer.Option(help="Day on which versions are in force.")] = None,
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
def lint(
    file: GoldenFile,
    corpus: CorpusOption = None,
    targets: TargetsFile = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Give each suggested group of dependent cases a cluster, and write the file.")
    ] = False,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Find labels that contradict each other or the corpus; exits with 1 if a finding is an error."""
    from assay.cli.golden_output import print_result
    from assay.golden.check_golden import lint_file
    from assay.golden.finding_tables import build_lint_table

    report = lint_file(file, corpus, targets, fix=fix)
    print_result(report, build_lint_table(report, file), format)
    return ExitCode.FAILED if report.errors else ExitCode.PASS


@app.command("coverage")
def coverage(
    file: GoldenFile,
    corpus: CorpusOption = None,
    targets: TargetsFile = None,
    questions: Annotated[
        str | None,
        typer.Option(help="Questions of production, one on each line, or JSON lines with question and count."),
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
    from assay.formats.overwriting import refuse_overwriting
    from assay.golden.finding_tables import build_relink_table
    from assay.golden.relink_evidence import RelinkRequest, relink_file

    refuse_overwriting([proposal, out], [file, corpus, old_corpus, reviewed])
    links = relink_file(RelinkRequest(file, corpus, old_corpus, proposal, reviewed, out))
    print_result(links, [build_relink_table(links)], format)
    named = (("proposal", proposal), ("relinked set", out))
    print_written_files([(name, Path(path)) for name, path in named if path is not None])
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
    out: Annotated[str, typer.Option(help="File for the candidates that are left.")] = "candidates.jsonl",
    rejected: Annotated[
        str | None, typer.Option(help="File for the candidates that were thrown away, each with its reason.")
    ] = None,
    golden: Annotated[str | None, typer.Option(help="Golden set whose questions are not asked again.")] = None,
    as_of: Annotated[str | None, typer.Option(help="Day on which versions are in force.")] = None,
    keep_unreachable: Annotated[
        bool,
        typer.Option("--keep-unreachable", help="Keep what is in the index and not found, as retrieval challenges."),
    ] = False,
    settings: SettingsOption = None,
    depth: DepthOption = 50,
    now: NowRecordedOption = None,
    permissions: PermissionOptions,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Draft candidates of every kind by templates, try them, and keep what survives for people to review."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.overwriting import refuse_overwriting
    from assay.golden.draft_cases import DraftRequest, draft_file
    from assay.golden.finding_tables import build_draft_tables
    from assay.targets.choose_target import TargetPermissions

    refuse_overwriting([out, rejected], [corpus, golden, settings])
    trust = TargetPermissions(permissions.allow_exec, tuple(permissions.allow_host or ()))
    report = draft_file(
        DraftRequest(
            corpus,
            resolve_clock(now),
            target or (),
            settings,
            golden,
            out,
            rejected,
            as_of,
            depth,
            keep_unreachable,
            trust,
        )
    )
    print_result(report, build_draft_tables(report), format)
    named = (("candidates", out), ("thrown away", rejected))
    print_written_files([(name, Path(path)) for name, path in named if path is not None])
    return ExitCode.PASS


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
    language: Annotated[str, typer.Option(help="Language of the page: en or vi.")] = "en",
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Write an offline page on which people decide on candidates, or compare reviewers (1 while not all is settled)."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.overwriting import refuse_overwriting
    from assay.golden.finding_tables import build_review_tables
    from assay.golden.review_candidates import ReviewRequest, review_file

    refuse_overwriting([out], [candidates, corpus, *(decisions or ())])
    report = review_file(ReviewRequest(candidates, corpus, decisions or (), out, language))
    print_result(report, build_review_tables(report), format)
    if out is not None:
        following = f"assay golden freeze {candidates} --decisions REVIEW.json --out golden.jsonl"
        print_written_files([("page", Path(out))], following)
    return ExitCode.FAILED if decisions and (report.disagreed or report.undecided) else ExitCode.PASS


@app.command("freeze")
def freeze(
    candidates: Annotated[str, typer.Argument(help="Candidates, as `assay golden draft` writes them.")],
    out: Annotated[str, typer.Option(help="Golden set to write.")],
    version: Annotated[str, typer.Option(help="Version of the set, a new one.")],
    owner: Annotated[str, typer.Option(help="Who answers for the set.")],
    change: Annotated[str, typer.Option(help="The line for the changelog: what changed and why.")],
    decisions: Annotated[
        list[str] | None, typer.Option(help="Decisions of a reviewer on the candidates; may be repeated.")
    ] = None,
    base: Annotated[str | None, typer.Option(help="The version of the set before, whose cases are kept.")] = None,
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
    from assay.formats.overwriting import refuse_overwriting
    from assay.golden.finding_tables import build_freeze_table
    from assay.golden.freeze_set import SPLITS, FreezeRequest, freeze_set

    if split not in SPLITS:
        raise InputError(f"--split: no such split (got {split!r}; expected one of {', '.join(SPLITS)})")
    refuse_overwriting([out], [candidates, base, *(decisions or ())])
    at = resolve_clock(now)
    request = FreezeRequest(candidates, out, version, owner, change, at, decisions or (), base, split, "", accept_all)
    frozen = freeze_set(request)
    print_result(frozen, [build_freeze_table(frozen)], format)
    print_written_files([("golden set", Path(out))], f"assay run --golden {out} --target TARGET")
    return ExitCode.FAILED if frozen.undecided or frozen.disagreed else ExitCode.PASS


@app.command("pool")
def pool(
    runs: Annotated[list[str], typer.Argument(help="Run folders, DIR or DIR:CONFIG, of one golden set.")],
    depth: Annotated[int, typer.Option(min=1, help="How many chunks of each ranking are pooled.")] = 10,
    at_least: Annotated[int, typer.Option(min=1, help="How many configurations must rank a chunk to list it.")] = 1,
    stage: Annotated[str, typer.Option(help="Stage whose ranking is pooled.")] = "retrieved",
    metric: Annotated[str | None, typer.Option(help="Ranking metrics whose range is shown, comma-separated.")] = None,
    page: Annotated[str | None, typer.Option(help="HTML page to write, on which people judge the chunks.")] = None,
    grades: Annotated[
        list[str] | None, typer.Option(help="Grades to merge, as the page saves them; may be repeated.")
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
    language: Annotated[str, typer.Option(help="Language of the page: en or vi.")] = "en",
    now: NowRecordedOption = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """List unjudged chunks that configurations rank high, what they can change, and merge the grades people give."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.overwriting import refuse_overwriting
    from assay.golden.collect_pool import POOL_METRICS, PoolRequest, pool_runs
    from assay.golden.finding_tables import build_pool_tables

    refuse_overwriting([page, merged], [*(grades or ()), calibration])
    metrics = parse_metric_list(metric) if metric is not None else POOL_METRICS
    at = resolve_clock(now)
    report = pool_runs(
        PoolRequest(
            runs,
            depth,
            at_least,
            stage,
            metrics,
            page,
            language,
            grades or (),
            merged,
            version,
            at,
            questions,
            judged,
            judge,
            calibration,
            uncalibrated,
        )
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
    after: Annotated[str, typer.Argument(help="Golden set that is compared with it.")],
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Show what changed between two golden sets, case by case and field by field."""
    from assay.cli.golden_output import print_result
    from assay.golden.finding_tables import build_difference_tables
    from assay.golden.freeze_set import diff_files

    difference = diff_files(before, after)
    print_result(difference, build_difference_tables(difference), format)
    return ExitCode.PASS


@app.callback()
def _group() -> None:
    pass
