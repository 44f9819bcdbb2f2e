"""`assay history`: what the registered runs tell over time, and which run is the baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from assay.cli.options import (
    ByOption,
    MetricsOption,
    NowRecordedOption,
    OtlpFileOption,
    PrintFormat,
    PrintFormatOption,
    PrometheusFileOption,
    TrendPageOption,
    parse_metric_list,
    parse_name_list,
    resolve_clock,
    resolve_timestamp,
)
from assay.records.errors import ExitCode

app = typer.Typer(
    help="Show what changed across the registered runs: metrics, versions, cases, incidents; promote baselines.",
    invoke_without_command=True,
)


@app.callback()
def history(
    context: typer.Context,
    runs: Annotated[str, typer.Option(help="Folder with the runs; searched three levels deep.")] = ".",
    metrics: MetricsOption = None,
    by: ByOption = None,
    config: Annotated[
        str, typer.Option(help="Configurations to show, comma-separated (default: all that were run).")
    ] = "",
    last: Annotated[int, typer.Option(min=1, help="How many runs of each configuration to look at.")] = 50,
    store: Annotated[str | None, typer.Option(help="Audit store, whose findings are counted by cause.")] = None,
    incidents: Annotated[
        list[str] | None, typer.Option(help="Incident file in Markdown with its findings; may be repeated.")
    ] = None,
    export_json: Annotated[str | None, typer.Option(help="Write everything to this file, as JSON.")] = None,
    export_csv: Annotated[str | None, typer.Option(help="Write every point of every series to this file.")] = None,
    html: TrendPageOption = None,
    export_otlp: OtlpFileOption = None,
    export_prometheus: PrometheusFileOption = None,
    now: NowRecordedOption = None,
    format: PrintFormatOption = PrintFormat.table,
) -> None:
    """Show what changed across the registered runs: metrics, versions, cases, incidents; promote baselines."""
    if context.invoked_subcommand is not None:
        return
    from assay.cli.display import print_notes, print_written_files
    from assay.cli.golden_output import print_result
    from assay.formats.file_io import write_atomically
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.trends.load_history import (
        HistoryRequest,
        build_history_tables,
        encode_history,
        load_history,
        write_history_csv,
    )
    from assay.trends.write_trends import write_trend_files

    outputs = [export_json, export_csv, html, export_otlp, export_prometheus]
    refuse_overwriting(outputs, [*(incidents or ()), None if "://" in (store or "") else store])
    request = HistoryRequest(
        runs,
        resolve_clock(now),
        parse_metric_list(metrics) if metrics else (),
        parse_name_list(by),
        parse_name_list(config),
        last,
        store,
        incidents or (),
    )
    run_history = load_history(request)
    written = []
    if export_json is not None:
        written.append(("history", write_atomically(export_json, [encode_history(run_history)], is_shared=True)))
    if export_csv is not None:
        written.append(("series", write_history_csv(run_history, export_csv)))
    if html is not None or export_otlp is not None or export_prometheus is not None:
        page = msgspec.to_builtins(run_history)
        written += write_trend_files(page, html=html, otlp=export_otlp, prometheus=export_prometheus)
    print_result(run_history, build_history_tables(run_history), format)
    if format is not PrintFormat.json:
        print_notes(run_history.notes)
    print_written_files(written)


@app.command("add")
def add(
    runs: Annotated[list[str], typer.Argument(help="Run folders that are not in the history yet.")],
    now: NowRecordedOption = None,
) -> ExitCode:
    """Register runs that were made without the history, dated by their start, --now, or the time of their scores."""
    from assay.cli.display import print_written_files
    from assay.trends.load_history import add_runs

    registries = add_runs(runs, resolve_timestamp(now))
    print_written_files([("history", path) for path in dict.fromkeys(registries)])
    return ExitCode.PASS


@app.command("promote")
def promote(
    run: Annotated[str, typer.Argument(help="Run folder: RUN or RUN:CONFIG.")],
    out: Annotated[
        str | None, typer.Option(help="File to write (default: baseline.json next to the run folder).")
    ] = None,
    now: NowRecordedOption = None,
) -> ExitCode:
    """Make a run the baseline: save its scores as the file that comparisons and gates take, and note it."""
    from assay.cli.display import print_written_files
    from assay.trends.load_history import promote_run

    path = promote_run(run, resolve_clock(now), out)
    print_written_files([("baseline", Path(path))], f"assay compare {path} RUN:CONFIG")
    return ExitCode.PASS
