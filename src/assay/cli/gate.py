"""`assay gate`: shows the built-in gates and checks a gate on a recorded run."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.options import (
    ApproverOption,
    BaselineOption,
    GateConfigOption,
    GateOption,
    MissingOption,
    ProfileOption,
    StrictOption,
    counts_as_zero,
    parse_name_list,
    resolve_timestamp,
)
from assay.records.errors import ExitCode

app = typer.Typer(help="Show the built-in gates, and check a gate on a recorded run.", no_args_is_help=True)


@app.command("show")
def show(
    profile: Annotated[
        str | None, typer.Argument(help="Name of a built-in gate; if omitted, all names are listed.")
    ] = None,
) -> ExitCode:
    """Print the file of a built-in gate, as a starting point for your own."""
    from assay.gates.gate_files import list_profile_names, read_profile_text

    if profile is None:
        for name in list_profile_names():
            typer.echo(name)
    else:
        typer.echo(read_profile_text(profile), nl=False)
    return ExitCode.PASS


@app.command("check")
def check(
    run: Annotated[str, typer.Argument(help="RUN, RUN:CONFIG or a file written by `assay baseline save`.")],
    gate: GateOption = None,
    profile: ProfileOption = None,
    gate_config: GateConfigOption = "",
    baseline: BaselineOption = None,
    approver: ApproverOption = "",
    strict: StrictOption = False,
    missing: MissingOption = None,
    now: Annotated[
        str | None, typer.Option(help="Timestamp for the expiry of waivers (default: SOURCE_DATE_EPOCH).")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print the rules as a table, with bounds and detectable differences.")
    ] = False,
) -> ExitCode:
    """Check a gate on a recorded run; the exit code is the decision and nothing is written."""
    from assay.cli.display import ignore_broken_pipe, print_screen
    from assay.gates.decision_weight import find_exit_code
    from assay.records.requests import GateOptions
    from assay.runs.compare_runs import ComparisonRequest, build_gate_screen, check_gate

    options = GateOptions(gate, profile, parse_name_list(gate_config), approver=approver)
    request = ComparisonRequest(options, now=resolve_timestamp(now), missing_as_zero=counts_as_zero(missing))
    decision, decisions, looks = check_gate(run, request, baseline)
    with ignore_broken_pipe():
        print_screen(build_gate_screen(decisions, request, looks, is_verbose=verbose))
    return find_exit_code(decision, strict=strict)


@app.callback()
def _group() -> None:
    pass
