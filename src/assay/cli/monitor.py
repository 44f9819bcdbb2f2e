"""`assay monitor`: what production answers were like, period by period, and whether something has changed."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import (
    AUDIT_STORE_HELP,
    DEFAULT_AUDIT_STORE,
    CorporaOption,
    EntailmentModelOption,
    JudgeNameOption,
    NowOption,
    OtlpFileOption,
    PrintFormat,
    PrintFormatOption,
    PrometheusFileOption,
    SettingsOption,
    TrendPageOption,
    resolve_timestamp,
)
from assay.formats.problems import parse_time
from assay.records.errors import ExitCode, InputError

if TYPE_CHECKING:
    from assay.trends.monitor_results import MonitorReport

DEFAULT_LOG = "assay-alerts.jsonl"


class Period(StrEnum):
    """Periods of a trend."""

    day = "day"
    week = "week"
    month = "month"


def monitor(
    store: Annotated[str | None, typer.Argument(help=AUDIT_STORE_HELP)] = None,
    store_option: Annotated[
        str | None,
        typer.Option("--store", help=f"The audit store, as `assay audit` takes it (default: {DEFAULT_AUDIT_STORE})."),
    ] = None,
    by: Annotated[Period | None, typer.Option(help="Length of a period (default: week).")] = None,
    first: Annotated[
        str | None, typer.Option("--from", help="First day, such as 2026-03-02 (default: twelve periods ago).")
    ] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last day (default: that of the newest answer).")] = None,
    slices: Annotated[
        list[str] | None,
        typer.Option(
            "--slice",
            help="Slice to watch, KEY=VALUE or KEY: tenant, role, locale, config, model, prompt, "
            "version.NAME. Repeat for more.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="Metrics to compute, comma-separated (default: all that production answers allow)."),
    ] = None,
    corpus: CorporaOption = None,
    golden: Annotated[
        str | None, typer.Option(help="Golden set: labels for the same questions, and questions without a near case.")
    ] = None,
    verdicts: Annotated[
        str | None, typer.Option(help="Verdict store: the sample is scored by the judge in it, not by rules.")
    ] = None,
    judge: JudgeNameOption = None,
    calibration: Annotated[
        str | None, typer.Option(help="Calibration of the scorers, which corrects the estimates.")
    ] = None,
    entailment_model: EntailmentModelOption = None,
    budget: Annotated[
        int | None,
        typer.Option(min=0, help="Number of answers per week that are read for scores; 0 for all (default: 400)."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the sample (default: 0).")] = None,
    false_alarms: Annotated[
        float | None,
        typer.Option(help="Expected false alerts per quarter for each metric and slice, at most (default: 0.25)."),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            "--bound",
            help="Bound to watch from the first day on, such as 'hallucination_risk<=0.05' or "
            "'latency_ms(stat=p95)<=2000'. Repeat for more.",
        ),
    ] = None,
    write_sample: Annotated[
        str | None, typer.Option(help="Folder for the sample as golden.jsonl and outputs.jsonl, for `assay judge`.")
    ] = None,
    alert_log: Annotated[str, typer.Option(help="File that remembers what was acknowledged and sent.")] = DEFAULT_LOG,
    acknowledge: Annotated[
        str | None, typer.Option(help="Id of an alert that a person acknowledges; needs --person.")
    ] = None,
    person: Annotated[str, typer.Option(help="Who acknowledges the alert.")] = "",
    note: Annotated[str, typer.Option(help="What is known about the alert.")] = "",
    webhook: Annotated[
        str | None, typer.Option(help="Address to which new alerts and leaks are posted; needs --webhook-secret-env.")
    ] = None,
    webhook_secret_env: Annotated[
        str | None, typer.Option(help="Environment variable with the secret that signs what is posted.")
    ] = None,
    settings: SettingsOption = None,
    now: NowOption = None,
    html: TrendPageOption = None,
    export_otlp: OtlpFileOption = None,
    export_prometheus: PrometheusFileOption = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Show how production answers did, with alerts, leaks and drift; exits with 1 for an open alert or a leak.

    Metrics that need reading are scored on a weighted sample of each week, everything else on every answer. Alerts are
    tests on daily rates, with at most 0.25 false ones a quarter for each metric and slice while nothing changes. A
    bound that cannot be checked, because its metric has no value, is exit code 3.
    """
    from assay.audit.corpus_files import split_corpus_paths
    from assay.cli.display import print_written_files
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.formats.settings_file import load_config
    from assay.trends.check_production import AlertNotice
    from assay.trends.check_production import monitor as monitor_answers
    from assay.trends.monitor_tables import describe_monitor
    from assay.trends.write_trends import write_trend_files

    store = _choose_store(store, store_option)
    corpus_files = [path for _, path in split_corpus_paths(corpus)]
    inputs = [*corpus_files, golden, verdicts, calibration, None if "://" in store else store]
    refuse_overwriting([html, export_otlp, export_prometheus], inputs)
    config = load_config(settings)
    report = monitor_answers(
        store,
        by=None if by is None else by.value,
        first=first,
        last=last,
        slices=slices,
        metrics=metrics,
        corpus=corpus,
        golden=golden,
        verdicts=verdicts,
        judge=judge,
        calibration=calibration,
        entailment_model=entailment_model if entailment_model is not None else config.entailment_model_path,
        budget=budget,
        seed=seed,
        false_alarms=false_alarms,
        bounds=bounds,
        settings=config.settings.monitor,
        notice=AlertNotice(alert_log, acknowledge, person, note, webhook, webhook_secret_env),
        sample_folder=write_sample,
        now=_parse_moment(now),
    )
    _print_report(report, format)
    page = describe_monitor(report)
    print_written_files(write_trend_files(page, html=html, otlp=export_otlp, prometheus=export_prometheus))
    if report.needs_attention:
        return ExitCode.FAILED
    return ExitCode.INCOMPLETE if report.has_unmeasured_bound else ExitCode.PASS


def _choose_store(argument: str | None, option: str | None) -> str:
    """Return the store that was named, as an argument or by `--store`.

    Raises:
        InputError: Both name one, and not the same.
    """
    if argument is not None and option is not None and argument != option:
        raise InputError(f"two audit stores (got {argument!r} and --store {option!r}; expected one)")
    return argument or option or DEFAULT_AUDIT_STORE


def _parse_moment(now: str | None) -> datetime | None:
    text = resolve_timestamp(now)
    if text is None:
        return None
    moment = parse_time(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _print_report(report: MonitorReport, format: PrintFormat) -> None:
    from assay.cli.display import ignore_broken_pipe, print_json, print_notes, print_table
    from assay.report.exports.json_report import format_json
    from assay.text.escaping import escape_terminal
    from assay.trends.monitor_tables import (
        build_monitor_tables,
        describe_monitor,
        list_closing_notes,
        render_chat_lines,
    )
    from assay.trends.watch import list_unmeasured_lines

    with ignore_broken_pipe():
        if format is PrintFormat.json:
            print_json(format_json(describe_monitor(report)))
        elif format is PrintFormat.markdown:
            typer.echo("\n".join(render_chat_lines(report)))
        else:
            for line in list_unmeasured_lines(report):
                typer.echo(f"INCOMPLETE: {escape_terminal(line)}")
            for table in build_monitor_tables(report):
                print_table(table)
            print_notes(f"note: {note}" for note in list_closing_notes(report))
