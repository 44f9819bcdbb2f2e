"""`assay audit`: keeps every production answer on the record, verifies the record, and erases what has to go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import PrintFormat, PrintFormatOption
from assay.records.errors import ExitCode

if TYPE_CHECKING:
    from assay.report.tables import Table

DEFAULT_STORE = "audit.sqlite"
StoreOption = Annotated[
    str, typer.Option(help="Audit store: a SQLite file, or postgresql://USER@HOST/DATABASE (password in PGPASSWORD).")
]
KeyOption = Annotated[
    str, typer.Option(help="Environment variable that holds the audit key: at least 16 random bytes.")
]
DEFAULT_KEY_ENV = "ASSAY_AUDIT_KEY"

app = typer.Typer(help="Keep production answers on the record: ingest, verify, erase.", no_args_is_help=True)


@app.command("ingest")
def ingest(
    sources: Annotated[
        list[str], typer.Argument(help="Files of production answers (.jsonl, .jsonl.gz), or - for standard input.")
    ],
    store: StoreOption = DEFAULT_STORE,
    traffic_format: Annotated[
        str | None,
        typer.Option("--traffic-format", help="Format of the files: audit, assay or rag-trace (default: detected)."),
    ] = None,
    dead_letters: Annotated[
        str, typer.Option(help="File to which refused lines are added, with their reasons.")
    ] = "audit-dead-letters.jsonl",
    key_env: KeyOption = DEFAULT_KEY_ENV,
    redact: Annotated[
        str | None,
        typer.Option(help="YAML file of redaction rules in place of the shipped ones, or none."),
    ] = None,
    checkpoint: Annotated[
        bool, typer.Option("--checkpoint", help="Read each file on from where the last call left it.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for more lines until Ctrl-C; implies --checkpoint. One file.")
    ] = False,
    batch: Annotated[int, typer.Option(min=1, help="Records in one transaction.")] = 1000,
    acknowledge: Annotated[
        bool,
        typer.Option("--acknowledge", help="Print a line of JSON each time that a batch is on disk."),
    ] = False,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Append production answers to the store; refused lines go to the dead-letter file and end in exit code 2."""
    from assay.audit.audit_tables import build_ingest_table, describe_ingest
    from assay.audit.commands import ingest as ingest_sources
    from assay.cli.following import FollowedSource
    from assay.formats.overwriting import refuse_overwriting
    from assay.records.errors import InputError

    refuse_overwriting([dead_letters], [*sources, *([] if "://" in store else [store]), redact])
    if follow and len(sources) != 1:
        raise InputError(f"--follow takes one file (got {len(sources)})")
    with FollowedSource(follow) as followed:
        result = ingest_sources(
            store,
            *sources,
            format=traffic_format,
            dead_letters=dead_letters,
            key_env=key_env,
            redact=redact,
            checkpoint=checkpoint or follow,
            batch=batch,
            keep_waiting=followed.keep_waiting if follow else None,
            on_commit=_print_acknowledgement if acknowledge else None,
        )
    _print(build_ingest_table(result), describe_ingest(result), format)
    return ExitCode.BAD_INPUT if result.rejected or result.conflicts else ExitCode.PASS


def _print_acknowledgement(source: str, line: int) -> None:
    typer.echo(json.dumps({"acknowledged": {"source": source, "line": line}}))


@app.command("verify")
def verify(
    store: StoreOption = DEFAULT_STORE,
    roots: Annotated[
        str | None,
        typer.Option(help="File of signed-off roots; keep it where those who can write to the store cannot."),
    ] = None,
    sign_off: Annotated[
        str | None, typer.Option(help="Name of the person who signs off the days that are not in --roots.")
    ] = None,
    key_env: KeyOption = DEFAULT_KEY_ENV,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Find every record that was changed, removed, inserted or moved; exit code 1 if there is one."""
    from assay.audit.audit_tables import build_verify_table, describe_verification
    from assay.audit.commands import verify as verify_records

    result = verify_records(store, roots=roots, sign_off=sign_off, key_env=key_env)
    _print(build_verify_table(result), describe_verification(result), format)
    return ExitCode.PASS if result.is_intact else ExitCode.FAILED


@app.command("erase")
def erase(
    store: StoreOption = DEFAULT_STORE,
    user: Annotated[
        str | None, typer.Option(help="User to erase: the id that the producer writes, or the pseudonym (user:…).")
    ] = None,
    older_than: Annotated[
        int | None, typer.Option(help="Erase all answers that were asked more than this number of days ago.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be erased.")] = False,
    key_env: KeyOption = DEFAULT_KEY_ENV,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Erase the answers of a user, or old ones; the chain stays verifiable."""
    from assay.audit.audit_tables import build_erasure_table, describe_erasure
    from assay.audit.commands import erase as erase_answers

    result = erase_answers(store, user=user, older_than=older_than, dry_run=dry_run, key_env=key_env)
    _print(build_erasure_table(result), describe_erasure(result), format)
    return ExitCode.PASS


def _print(table: Table, values: dict[str, Any], format: PrintFormat) -> None:
    from assay.cli.display import ignore_broken_pipe, print_table
    from assay.report.markdown import render_table_lines

    with ignore_broken_pipe():
        if format is PrintFormat.json:
            typer.echo(json.dumps(values, ensure_ascii=False, indent=2, sort_keys=True))
        elif format is PrintFormat.markdown:
            typer.echo("\n".join([f"## {table.title}", "", *render_table_lines(table), "", *table.notes]))
        else:
            print_table(table)


@app.callback()
def _group() -> None:
    pass
