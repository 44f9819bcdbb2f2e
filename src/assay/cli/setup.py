"""`assay init` and `assay doctor`: write a first settings file, and check that everything is ready for a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import CorpusOption, PermissionOptions, SettingsOption, expand_options
from assay.records.errors import ExitCode

if TYPE_CHECKING:
    from assay.runs.check_setup import SetupFinding


class TemplateKind(StrEnum):
    """Kinds of target that a settings file can be written for."""

    python = "python"
    http = "http"
    mcp = "mcp"
    command = "command"
    recorded = "recorded"
    langchain = "langchain"
    llamaindex = "llamaindex"


def init(
    *,
    kind: Annotated[
        TemplateKind | None, typer.Option(help="Kind of target (default: inferred from --target, else python).")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Your system: a URL, mcp:URL, module:attr or a file of outputs; it is asked once."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FILE", help="Rows to import: CSV, Ragas or DeepEval JSON, promptfooconfig.yaml."
        ),
    ] = None,
    file: Annotated[str, typer.Option(help="File to write; an existing file is never overwritten.")] = "assay.yaml",
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the settings instead.")] = False,
) -> ExitCode:
    """Write settings and a first golden set, or import one, and ask the target once."""
    if schema:
        from assay.formats.settings_file import build_settings_schema

        typer.echo(build_settings_schema().decode(), nl=False)
        return ExitCode.PASS
    from assay.cli.display import print_notes, print_written_files
    from assay.runs.check_setup import GOLDEN_STUB, refuse_existing, write_golden_stub, write_settings_template
    from assay.runs.import_rows import OUTPUTS_FILE, import_rows
    from assay.targets.choose_target import infer_target_kind

    refuse_existing(file)
    config = None
    targets: Mapping[str, Mapping[str, Any]] = {}
    rules: Sequence[Mapping[str, Any]] = ()
    if source is not None:
        imported = import_rows(source)
        print_written_files(imported.files)
        print_notes(imported.notes)
        config = imported.configs[0] if len(imported.configs) > 1 else None
        if target is None and imported.has_outputs:
            target = OUTPUTS_FILE
        targets, rules = (imported.targets if target is None else {}), imported.rules
    chosen_kind = kind.value if kind is not None else infer_target_kind(target)
    address = target.removeprefix("mcp:") if target is not None else None
    written = write_settings_template(chosen_kind, file, address, config, targets=targets, rules=rules)
    print_written_files([("settings", written)])
    stub = write_golden_stub(GOLDEN_STUB)
    print_written_files([("golden set of three cases to replace", stub)] if stub is not None else [])
    if target is None:
        cases = f", replace the three cases in {GOLDEN_STUB} with questions of your own" if stub is not None else ""
        first = f"name your target in {file}{cases}, then: " if not targets else ""
        typer.echo(f"next: {first}assay doctor", err=True)
        return ExitCode.PASS
    return _ask_once(file, GOLDEN_STUB if stub is not None else None)


def _ask_once(file: str, stub: str | None) -> ExitCode:
    """Ask the target of the settings that were written, and print how its reply was understood."""
    from assay.runs.check_setup import check_targets
    from assay.targets.choose_target import TargetPermissions

    exit_code = _print_findings(check_targets(file, TargetPermissions()))
    if exit_code != ExitCode.PASS:
        typer.echo("next: fix what failed, then: assay doctor", err=True)
        return exit_code
    first = f"replace the three cases in {stub} with questions of your own, then: " if stub is not None else ""
    typer.echo(f"next: {first}assay run", err=True)
    return ExitCode.PASS


@expand_options
def doctor(
    *,
    settings: SettingsOption = None,
    golden: Annotated[str | None, typer.Option(help="Golden set, in place of that of the settings.")] = None,
    corpus: CorpusOption = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="Target to ask: a name from the settings, or [NAME=] followed by a URL, mcp:URL, module:attr or a "
            "file; takes several values (default: all of the settings)."
        ),
    ] = None,
    permissions: PermissionOptions,
) -> ExitCode:
    """Check settings, golden set, corpus and gate; ask each target the first case, and show how its reply was read."""
    from assay.runs.check_setup import check_setup
    from assay.targets.choose_target import TargetPermissions

    trust = TargetPermissions(permissions.allow_exec, tuple(permissions.allow_host or ()))
    named_files = {"golden": golden, "corpus": corpus}
    overrides = {name: (f"--{name}", value) for name, value in named_files.items() if value is not None}
    return _print_findings(check_setup(settings, trust, tuple(target or ()), overrides))


def _print_findings(findings: Iterable[SetupFinding]) -> ExitCode:
    """Print what was found, and return the exit code: INCOMPLETE where all that failed are missing extras."""
    codes = set()
    for finding in findings:
        _print_finding(finding)
        if finding.state == "fail":
            codes.add(finding.exit_code)
    return min(codes, default=ExitCode.PASS)


def _print_finding(finding: SetupFinding) -> None:
    from assay.text.escaping import escape_terminal

    head, *details = finding.message.splitlines() or [""]
    typer.echo(escape_terminal(f"{finding.state:4}  {finding.subject}: {head}"))
    for line in (*details, *filter(None, [finding.remedy])):
        typer.echo(escape_terminal(f"      {line}"))
