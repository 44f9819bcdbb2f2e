"""`assay golden`: checks golden sets, and keeps them true."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import (
    CorpusOption,
    GoldenFormatOption,
    PermissionOptions,
    PrintFormat,
    PrintFormatOption,
    SettingsOption,
    expand_options,
    resolve_clock,
)
from assay.records.errors import ExitCode

GoldenFile = Annotated[str, typer.Argument(help="Golden set.")]
TargetsFile = Annotated[
    str | None,
    typer.Option(help="YAML file: how many cases of each kind to have (default: for about 40 cases)."),
]

TargetOption = Annotated[
    str, typer.Option(help="Target: a name of the settings, an address, module:attr or a file of outputs.")
]

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
    depth: Annotated[int, typer.Option(min=1, help="How many chunks a search returns.")] = 50,
    write: Annotated[
        bool, typer.Option("--write", help="Record what was seen in the header of the set, to compare with next time.")
    ] = False,
    now: Annotated[
        str | None, typer.Option(help="Time to record, ISO 8601 (default: SOURCE_DATE_EPOCH, else now).")
    ] = None,
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


@app.callback()
def _group() -> None:
    pass
