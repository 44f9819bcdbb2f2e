"""`assay golden`: checks golden sets, and keeps them true."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import (
    CorpusOption,
    GoldenFormatOption,
    NowRecordedOption,
    PermissionOptions,
    PrintFormat,
    PrintFormatOption,
    SettingsOption,
    expand_options,
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


@app.command("health")
def health(
    file: GoldenFile,
    run: Annotated[
        list[str] | None, typer.Option(help="Run folder, or folder that holds runs of the set; may be repeated.")
    ] = None,
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
    """Show what runs tell about a set: saturated cases, suspect labels, leaks, power, age; exits with 1 on faults."""
    from assay.cli.golden_output import print_result
    from assay.golden.check_health import HealthRequest, build_health_tables, check_health

    request = HealthRequest(file, resolve_clock(now), run or (), corpus, prompts or (), targets, seed)
    measured = check_health(request)
    print_result(measured, build_health_tables(measured), format)
    return ExitCode.FAILED if measured.faults or (strict and measured.doubts) else ExitCode.PASS


@app.callback()
def _group() -> None:
    pass
