"""`assay audit`: keeps every production answer on the record, verifies the record, and erases what has to go."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import (
    DEFAULT_AUDIT_STORE,
    AuditStoreOption,
    CorporaOption,
    JudgeNameOption,
    PermissionOptions,
    PrintFormat,
    PrintFormatOption,
    SettingsOption,
    UserOption,
    expand_options,
    parse_name_list,
)
from assay.records.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.audit.incident import Incident
    from assay.calls.interfaces import Target
    from assay.report.findings.table import Table


KeyOption = Annotated[
    str, typer.Option(help="Environment variable that holds the audit key: at least 16 random bytes.")
]
RedactOption = Annotated[
    str | None, typer.Option(help="YAML file of redaction rules in addition to the shipped ones, or none.")
]
FirstDayOption = Annotated[str | None, typer.Option("--from", help="First day, such as 2026-03-02, in UTC.")]
LastDayOption = Annotated[str | None, typer.Option("--to", help="Last day.")]
DEFAULT_KEY_ENV = "ASSAY_AUDIT_KEY"

app = typer.Typer(
    help="Store production answers: ingest, show, exposure, verify, export, erase, sample.", no_args_is_help=True
)


@app.command("ingest")
def ingest(
    sources: Annotated[
        list[str],
        typer.Argument(help="Files of production answers (.jsonl, .binpb, .gz), or - for standard input."),
    ],
    store: AuditStoreOption = DEFAULT_AUDIT_STORE,
    traffic_format: Annotated[
        str | None,
        typer.Option(
            "--traffic-format",
            help="Format: audit, assay, rag-trace, otlp-json or otlp-protobuf (default: detected).",
        ),
    ] = None,
    dead_letters: Annotated[
        str, typer.Option(help="File to which refused lines are added, with their reasons.")
    ] = "audit-dead-letters.jsonl",
    key_env: KeyOption = DEFAULT_KEY_ENV,
    redact: RedactOption = None,
    checkpoint: Annotated[
        bool, typer.Option("--checkpoint", help="Continue each file where the last call stopped.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for more lines until Ctrl-C; implies --checkpoint. One file.")
    ] = False,
    batch: Annotated[int, typer.Option(min=1, help="Records in one transaction.")] = 5000,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse lines with unknown keys (default: leave them out and name them).")
    ] = False,
    fields: Annotated[
        str | None,
        typer.Option(
            help="Own names of members: question=prompt,answer=completion,contexts=docs; dots reach into objects."
        ),
    ] = None,
    acknowledge: Annotated[
        bool,
        typer.Option("--acknowledge", help="Print a line of JSON each time that a batch is on disk."),
    ] = False,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Append production answers to the store; refused lines go to the dead-letter file and end in exit code 2."""
    from assay.audit.audit_tables import build_ingest_table, describe_ingest
    from assay.audit.commands import ingest as ingest_sources
    from assay.formats.run_files.overwriting import refuse_overwriting
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
            strict=strict,
            fields=fields,
            keep_waiting=followed.keep_waiting if follow else None,
            on_commit=_print_acknowledgement if acknowledge else None,
        )
    _print(build_ingest_table(result), describe_ingest(result), format)
    return ExitCode.BAD_INPUT if result.rejected or result.conflicts else ExitCode.PASS


def _print_acknowledgement(source: str, line: int) -> None:
    typer.echo(json.dumps({"acknowledged": {"source": source, "line": line}}))


@app.command("show")
@expand_options
def show(
    *,
    record_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="Id of the answer.")] = None,
    store: AuditStoreOption = DEFAULT_AUDIT_STORE,
    question: Annotated[str | None, typer.Option(help="Words of the question; all of them must be in it.")] = None,
    user: UserOption = None,
    at: Annotated[str | None, typer.Option(help="Day (2026-03-02) or time (2026-03-02T08:00:00Z, ±1 minute).")] = None,
    citation: Annotated[str | None, typer.Option(help="Name that the answer cites.")] = None,
    verdict: Annotated[
        str | None,
        typer.Option(help="Label of the answer: feedback=down, behaviour=abstain, error=CODE, finding=CAUSE."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Number of answers to list, if several match.")] = 20,
    corpus: CorporaOption = None,
    corpus_then: Annotated[
        str | None,
        typer.Option(
            help="Corpus file from the time of the answer (default: that of its version, or the current one)."
        ),
    ] = None,
    golden: Annotated[str | None, typer.Option(help="Golden set, to find cases that ask nearly the same.")] = None,
    verdicts: Annotated[
        str | None, typer.Option(help="Verdict store: what a judge said of the claims and citations is shown too.")
    ] = None,
    judge: JudgeNameOption = None,
    show_forbidden: Annotated[
        bool, typer.Option("--show-forbidden", help="Include text that the user of the answer may not see.")
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(help="Target to ask the question again: a name of the settings, an address or module:attr."),
    ] = None,
    settings: SettingsOption = None,
    cause: Annotated[str | None, typer.Option(help="Add a finding: its cause. Needs --owner and --decision.")] = None,
    owner: Annotated[str | None, typer.Option(help="Who acts on the finding.")] = None,
    decision: Annotated[str | None, typer.Option(help="What was decided.")] = None,
    out: Annotated[str | None, typer.Option(help="Write an incident file: .html or .md.")] = None,
    key_env: KeyOption = DEFAULT_KEY_ENV,
    permissions: PermissionOptions,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Reconstruct an answer that somebody complained about, and check its claims and citations again.

    The exit code is 1 if what its user may not see was found in it, or its record was changed.
    """
    from assay.audit.audit_tables import build_matches_table, describe_show
    from assay.audit.commands import show as show_answer
    from assay.audit.incident_file import build_incident_tables, render_incident_markdown
    from assay.cli.display import print_json, print_written_files
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.records.errors import InputError
    from assay.report.exports.json_report import format_json

    corpus_files = _list_corpus_files(corpus)
    refuse_overwriting([out], [*corpus_files, corpus_then, golden, verdicts, None if "://" in store else store])
    if out is not None and not out.lower().endswith((".html", ".htm", ".md")):
        raise InputError(f"--out: not an incident file (got {out!r}; expected a name in .html or .md)")
    finding_parts = [value for value in (cause, owner, decision) if value is not None]
    if len(finding_parts) not in (0, 3):
        raise InputError("a finding has three parts (expected --cause, --owner and --decision)")
    result = show_answer(
        store,
        record_id,
        question=question,
        user=user,
        at=at,
        citation=citation,
        verdict=verdict,
        limit=limit,
        corpus=corpus,
        corpus_then=corpus_then,
        golden=golden,
        verdicts=verdicts,
        judge=judge,
        show_restricted=show_forbidden,
        finding=(finding_parts[0], finding_parts[1], finding_parts[2]) if finding_parts else None,
        file=out,
        target=None if target is None else _make_target(target, settings, permissions),
        key_env=key_env,
    )
    incident = result.incident
    if incident is None:
        _print(build_matches_table(result), describe_show(result), format)
        return ExitCode.PASS
    if format is PrintFormat.json:
        print_json(format_json(describe_show(result)))
    elif format is PrintFormat.markdown:
        typer.echo(render_incident_markdown(incident), nl=False)
    else:
        _print_incident(incident, build_incident_tables(incident))
    if out is not None:
        print_written_files([("incident", Path(out))])
    return ExitCode.FAILED if incident.leaks or incident.chain_faults else ExitCode.PASS


def _make_target(spec: str, settings: str | None, permissions: PermissionOptions) -> Target:
    from assay.formats.settings_file import load_config
    from assay.targets.choose_target import TargetPermissions, choose_targets, make_target

    config = load_config(settings)
    (chosen,) = choose_targets(config, [spec])
    return make_target(chosen, config, TargetPermissions(permissions.allow_exec, tuple(permissions.allow_host or ())))


def _print_incident(incident: Incident, tables: Sequence[Table]) -> None:
    from assay.audit.answer_now import describe_target, summarise_changes
    from assay.audit.incident_file import shorten_tables
    from assay.cli.display import ignore_broken_pipe, print_notes, print_table
    from assay.text.escaping import escape_terminal

    with ignore_broken_pipe():
        for leak in incident.leaks:
            typer.echo(f"what this user may not see was found in {escape_terminal(leak)}")
        for sentence in incident.summary:
            typer.echo(f" - {escape_terminal(sentence)}")
        if incident.stale:
            stale = escape_terminal(", ".join(incident.stale))
            typer.echo(f"what was not in force any more was shown to the model: {stale}")
        for title, text in (("Asked", incident.record.question), ("Answered", incident.record.answer)):
            _print_text(title, text or "not recorded")
        present_answer = incident.answer_now
        if present_answer is not None:
            text = present_answer.answer or present_answer.error or "no answer"
            _print_text(f"Now ({describe_target(incident, present_answer)})", text)
            typer.echo(escape_terminal(summarise_changes(present_answer)))
        for table in shorten_tables(tables):
            print_table(table)
        for finding in incident.findings:
            line = f"{finding.at[:10]} {finding.cause}: {finding.decision} ({finding.owner})"
            typer.echo(f"finding: {escape_terminal(line)}")
        print_notes(f"note: {note}" for note in incident.notes)


def _print_text(title: str, text: str) -> None:
    """Print a text after its title, each line of it on a line of its own, as far as a screen has room for it."""
    from assay.audit.incident_file import list_first_lines_of_text
    from assay.text.escaping import escape_terminal

    first, *others = list_first_lines_of_text(text)
    typer.echo("\n  ".join(escape_terminal(line) for line in (f"{title}: {first}", *others)))


@app.command("verify")
def verify(
    store: AuditStoreOption = DEFAULT_AUDIT_STORE,
    roots: Annotated[
        str | None,
        typer.Option(help="File of signed-off roots; keep it where those who can write to the store cannot."),
    ] = None,
    sign_off: Annotated[
        str | None, typer.Option(help="Name of the person who signs off the days that are not in --roots.")
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(help="File that records up to where the store was found intact; only what came later is read."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Read everything, whatever --checkpoint says.")] = False,
    key_env: KeyOption = DEFAULT_KEY_ENV,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Find every record that was changed, removed, inserted or moved; exit code 1 if there is one."""
    from assay.audit.audit_tables import build_verify_table, describe_verification
    from assay.audit.commands import verify as verify_records
    from assay.formats.run_files.overwriting import refuse_overwriting

    refuse_overwriting([checkpoint], [None if "://" in store else store, roots])

    result = verify_records(store, roots=roots, sign_off=sign_off, checkpoint=checkpoint, full=full, key_env=key_env)
    _print(build_verify_table(result), describe_verification(result), format)
    return ExitCode.PASS if result.is_intact else ExitCode.FAILED


@app.command("erase")
def erase(
    store: AuditStoreOption = DEFAULT_AUDIT_STORE,
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


@app.command("export")
def export(
    out: Annotated[str, typer.Option(help="File to write: .jsonl, or .parquet (an extra).")],
    store: AuditStoreOption = DEFAULT_AUDIT_STORE,
    first: FirstDayOption = None,
    last: LastDayOption = None,
    user: UserOption = None,
    slices: Annotated[
        list[str] | None,
        typer.Option(
            "--slice",
            help="KEY=VALUE; KEY is tenant, role, locale, config, model, prompt, version.NAME, behaviour, feedback "
            "or error; may be repeated: all must hold.",
        ),
    ] = None,
    corpus: CorporaOption = None,
    show_forbidden: Annotated[
        bool, typer.Option("--show-forbidden", help="Include text that the user of an answer may not see.")
    ] = False,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Read a damaged store as far as possible, and report what is lost.")
    ] = False,
    key_env: KeyOption = DEFAULT_KEY_ENV,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Write answers to a file, with what their users may not see masked; exit code 3 if a damaged store lost some."""
    from assay.audit.audit_tables import build_export_table, describe_export
    from assay.audit.commands import export as export_answers
    from assay.cli.display import print_written_files
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.records.errors import InputError

    corpus_files = _list_corpus_files(corpus)
    refuse_overwriting([out], [*corpus_files, None if "://" in store else store])
    if not out.lower().endswith((".jsonl", ".parquet")):
        raise InputError(f"--out: not a file of answers (got {out!r}; expected a name in .jsonl or .parquet)")
    result = export_answers(
        store,
        out,
        first=first,
        last=last,
        user=user,
        slices=slices or (),
        corpus=corpus,
        show_restricted=show_forbidden,
        salvage=salvage,
        key_env=key_env,
    )
    _print(build_export_table(result), describe_export(result), format)
    print_written_files([("answers", Path(out))])
    return ExitCode.PASS if result.is_complete else ExitCode.INCOMPLETE


@app.command("exposure")
def exposure(
    name: Annotated[str, typer.Argument(help="Id of a chunk, or name of a document.")],
    store: AuditStoreOption = DEFAULT_AUDIT_STORE,
    first: FirstDayOption = None,
    last: LastDayOption = None,
    corpus: CorporaOption = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """List the answers that a document reached and who asked; exit code 1 if one of them may not see it."""
    from assay.audit.audit_tables import build_exposure_table, describe_exposure
    from assay.audit.commands import exposure as find_exposure

    reached_answers = find_exposure(store, name, first=first, last=last, corpus=corpus)
    _print(build_exposure_table(reached_answers), describe_exposure(reached_answers), format)
    return ExitCode.FAILED if reached_answers.forbidden else ExitCode.PASS


@app.command("sample")
def sample(
    out: Annotated[str, typer.Option(help="File for the candidates, which `assay golden review` takes.")],
    count: Annotated[int, typer.Option(min=1, help="How many questions to choose.")] = 40,
    store: AuditStoreOption = DEFAULT_AUDIT_STORE,
    golden: Annotated[
        str | None, typer.Option(help="Golden set; questions that it already asks are not chosen.")
    ] = None,
    corpus: CorporaOption = None,
    since: Annotated[str | None, typer.Option(help="Only answers from this day or time on.")] = None,
    until: Annotated[str | None, typer.Option(help="Only answers before this day or time.")] = None,
    by: Annotated[
        str, typer.Option(help="Strata, comma-separated: tenant, language, behaviour, config, model, feedback.")
    ] = "tenant,language,behaviour",
    doubtful: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share that is chosen by doubts, such as negative feedback.")
    ] = 0.5,
    seed: Annotated[int, typer.Option(help="Seed of the random choice.")] = 0,
    redact: RedactOption = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Choose production questions that the golden set lacks, as candidates for people to review."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.golden.collect_traffic import TrafficSampleRequest, build_sample_tables, collect_traffic

    corpus_files = _list_corpus_files(corpus)
    refuse_overwriting([out], [*([] if "://" in store else [store]), golden, *corpus_files, redact])
    keys = parse_name_list(by)
    request = TrafficSampleRequest(store, count, out, golden, corpus, since, until, keys, doubtful, seed, redact)
    sampled = collect_traffic(request)
    print_result(sampled, build_sample_tables(sampled), format)
    print_written_files([("candidates", Path(out))])
    return ExitCode.PASS


def _list_corpus_files(corpora: list[str] | None) -> list[str]:
    """Return the files of `--corpus`, which no output may overwrite."""
    from assay.audit.corpus_files import split_corpus_paths

    return [path for _, path in split_corpus_paths(corpora)]


def _print(table: Table, values: dict[str, Any], format: PrintFormat) -> None:
    from assay.cli.display import ignore_broken_pipe, print_json, print_table
    from assay.report.exports.json_report import format_json
    from assay.report.exports.markdown import render_table_lines

    with ignore_broken_pipe():
        if format is PrintFormat.json:
            print_json(format_json(values))
        elif format is PrintFormat.markdown:
            typer.echo("\n".join([f"## {table.title}", "", *render_table_lines(table), "", *table.notes]))
        else:
            print_table(table)


@app.callback()
def _group() -> None:
    pass


POLL_SECONDS = 0.2


class FollowedSource:
    """While open and `enabled`, the first signal makes `keep_waiting` return False; a second one interrupts."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled and threading.current_thread() is threading.main_thread()
        self._stopped = threading.Event()
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> FollowedSource:
        if self._enabled:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _stop(self, number: int, _: FrameType | None) -> None:
        if self._stopped.is_set():
            raise KeyboardInterrupt
        self._stopped.set()

    def keep_waiting(self) -> bool:
        """Wait a moment at the end of the file; return whether to look for more."""
        return not self._stopped.wait(POLL_SECONDS)
