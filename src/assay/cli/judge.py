"""`assay judge`: asks a judge model about recorded answers, stores its verdicts, and tests the judge itself."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.judging_summary import describe_calls, describe_samples, describe_stop
from assay.cli.options import (
    AskedRubricsOption,
    ConcurrencyOption,
    EndpointOptions,
    JudgeNameOption,
    MaxCallsOption,
    MaxCostOption,
    MaxTokensOption,
    PageLanguageOption,
    PrintFormat,
    PrintFormatOption,
    RecordedOptions,
    RunOption,
    expand_options,
    parse_metric_list,
    resolve_timestamp,
)
from assay.cli.streams import print_stopping
from assay.records.counts import format_count
from assay.records.errors import ExitCode

if TYPE_CHECKING:
    from assay.judging.collect_questions import JudgingRequest
    from assay.judging.collect_votes import TokenUsage
    from assay.judging.judge_run import JudgeRun, JudgingEstimate
    from assay.records.verdicts import JudgeStatus


app = typer.Typer(
    help="Judge recorded answers with a language model and store the verdicts for scoring.", invoke_without_command=True
)

DRIFTED = "the judge has changed and may not gate: judge everything again with a new --store"


@app.callback()
@expand_options
def judge(
    *,
    context: typer.Context,
    run: Annotated[str | None, typer.Option(help="Run folder with the observations to judge.")] = None,
    recorded: RecordedOptions,
    endpoint: EndpointOptions,
    rubrics: Annotated[
        list[str] | None,
        typer.Option(help="Folder with rubrics, instead of those in the settings; may be repeated."),
    ] = None,
    metrics: Annotated[str, typer.Option(help="Judged metrics, comma-separated.")] = "",
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Judge only some cases: ambiguous (undecided by the rules), gate (those that the gate checks), "
            "tag:NAME or case:ID; takes several values."
        ),
    ] = None,
    gate: Annotated[str | None, typer.Option(help="Gate file; a case that can fail it alone gets more votes.")] = None,
    profile: Annotated[str | None, typer.Option(help="Built-in gate; `assay gate show` lists them.")] = None,
    votes: Annotated[
        int | None, typer.Option(min=1, max=99, help="Number of votes on every request (default: as many as needed).")
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="Verdict store (default: that of the run, else verdicts.sqlite).")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the number of requests and the estimated cost without calling the judge."
        ),
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="With --dry-run: also print one request as it would be sent.")
    ] = False,
    max_calls: MaxCallsOption = None,
    max_tokens: MaxTokensOption = None,
    max_cost: MaxCostOption = None,
    control_share: Annotated[
        float | None,
        typer.Option(min=0, max=0.99, help="Largest share of the calls for controls and anchors (default: 0.2)."),
    ] = None,
    concurrency: ConcurrencyOption = 16,
    deadline: Annotated[
        float, typer.Option(min=0.1, help="Time limit for one verdict in seconds, including retries.")
    ] = 120.0,
    attempts: Annotated[
        int, typer.Option(min=1, max=20, help="Maximum number of calls for one verdict when errors are temporary.")
    ] = 6,
    allow_self_judge: Annotated[
        bool, typer.Option("--allow-self-judge", help="Allow a model to judge its own answers.")
    ] = False,
    second: Annotated[
        str | None,
        typer.Option(help="Second judge, from the settings and of another model family, for requests in doubt."),
    ] = None,
    retry_errors: Annotated[
        bool,
        typer.Option(
            "--retry-errors", help="Ask again for verdicts that could not be used; they are paid for a second time."
        ),
    ] = False,
    recheck: Annotated[
        bool,
        typer.Option(
            "--recheck", help="Ask an INVALID judge more controls and anchors, and decide by all its answers."
        ),
    ] = False,
    now: Annotated[
        str | None,
        typer.Option(help="Timestamp to record with the verdicts (default: SOURCE_DATE_EPOCH, else the current time)."),
    ] = None,
) -> ExitCode:
    if context.invoked_subcommand is not None:
        return ExitCode.PASS
    from assay.cli.display import print_json
    from assay.formats.settings_file import load_config
    from assay.judging.call_scheduler import JudgingLimits
    from assay.judging.collect_questions import JudgingRequest
    from assay.judging.judge_run import judge_run as ask
    from assay.records.errors import InputError
    from assay.records.requests import GateOptions
    from assay.runs.progress_line import show_progress

    if show and not dry_run:
        raise InputError("--show: prints a request without sending it (expected --dry-run as well)")
    judgement = JudgingRequest(
        load_config(endpoint.settings),
        recorded.build_inputs(run),
        GateOptions(gate, profile),
        judge=endpoint.judge,
        flags=endpoint.judge_settings | {"control_share": control_share},
        rubrics=rubrics or (),
        metrics=parse_metric_list(metrics),
        only=only or (),
        votes=votes,
        store=store,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_cost=max_cost,
        limits=JudgingLimits(concurrency, deadline, attempts),
        allow_self_judge=allow_self_judge,
        second_judge=second,
        retry_errors=retry_errors,
        recheck=recheck,
        at=resolve_timestamp(now) or datetime.now(UTC).isoformat(timespec="seconds"),
        is_estimate=dry_run,
    )

    def confirm(preflight: JudgingEstimate, notices: Sequence[str]) -> bool:
        if max_calls is not None and max_calls < preflight.calls:
            stop = f"--max-calls {max_calls} ends before all requests have verdicts; the same command goes on with them"
            notices = (*notices, stop)
        _print_preflight(preflight, notices, to_stderr=not dry_run)
        if show and dry_run:
            print_json(preflight.example or "null")
        return not dry_run

    with show_progress("judging") as update_progress:
        judged = ask(judgement, confirm, update_progress, print_stopping)
    if not dry_run:
        _print_result(judged, judgement)
    return judged.exit_code


@app.command("selftest")
@expand_options
def selftest(
    *,
    endpoint: EndpointOptions,
    concurrency: ConcurrencyOption = 8,
    max_calls: MaxCallsOption = None,
) -> ExitCode:
    """Test the judge on items with known labels: what deserves the highest label must get it, and nothing else."""
    from assay.formats.settings_file import load_config
    from assay.judging.call_scheduler import JudgingLimits
    from assay.judging.check_judge import check_judge as test
    from assay.text.escaping import escape_terminal

    result = test(
        load_config(endpoint.settings),
        endpoint.judge,
        endpoint.judge_settings,
        JudgingLimits(concurrency),
        max_calls,
        print_stopping,
    )
    separation = result.separation
    typer.echo(escape_terminal(f"judge {result.judge}, reply format: {', '.join(result.modes)}"))
    typer.echo(f"{result.labelled} of {format_count(result.asked, 'anchor')} labelled")
    typer.echo(
        f"grounded claims score higher in {separation.area:.0%} of pairs (expected 90%); "
        f"the means differ by {separation.gap:.2f}"
    )
    typer.echo("the judge separates them" if separation.is_good else "the judge does NOT separate them")
    for reason in result.failed:
        typer.echo(escape_terminal(f"NOT as expected: {reason}"))
    typer.echo(describe_calls(result.tally, result.budget), err=True)
    return result.exit_code


@app.command("export")
def export(
    to: Annotated[str, typer.Option(help="File to write, as JSON lines.")],
    store: Annotated[str | None, typer.Option(help="Verdict store, to be exported as it is.")] = None,
    run: Annotated[
        str | None,
        typer.Option(help="Run folder: one line for each request about each case, with labels, reasoning and votes."),
    ] = None,
) -> ExitCode:
    """Export a verdict store, to import it elsewhere, or the verdicts of a run, for reading; both as JSON lines."""
    from assay.cli.display import print_notes, print_written_files
    from assay.judging.verdict_store import export_verdict_store
    from assay.records.errors import InputError

    if (store is None) == (run is None):
        raise InputError("--store or --run: expected one of them")
    if run is not None:
        _export_details(run, to)
        return ExitCode.PASS
    assert store is not None
    count, warnings = export_verdict_store(store, to)
    print_notes(warnings)
    print_written_files([(format_count(count, "verdict"), Path(to))])
    return ExitCode.PASS


@app.command("import")
def import_(
    store: Annotated[str, typer.Option(help="Verdict store; created if it does not exist.")],
    source: Annotated[str, typer.Option("--from", help="Verdict store, or its export as JSON lines.")],
) -> ExitCode:
    """Import verdicts into a verdict store; existing scored verdicts are not replaced."""
    from assay.cli.display import print_notes, print_written_files
    from assay.judging.verdict_store import import_verdict_store

    count, warnings = import_verdict_store(store, source)
    print_notes(warnings)
    print_written_files([(format_count(count, "verdict"), Path(store))])
    return ExitCode.PASS


@app.command("review")
@expand_options
def review(
    *,
    run: RunOption = None,
    recorded: RecordedOptions,
    verdicts: Annotated[
        str | None, typer.Option(help="Verdict store, or its export (default: that of the run).")
    ] = None,
    judge: JudgeNameOption = None,
    rubrics: AskedRubricsOption = None,
    out: Annotated[
        str | None, typer.Option(help="New folder for a sheet on which people decide (CSV, JSON lines and a page).")
    ] = None,
    language: PageLanguageOption = "en",
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """List what the judge left to review: tied, disputed and missing labels, and votes far apart."""
    from assay.calibration.review_verdicts import export_reviews, list_reviews
    from assay.cli.display import ignore_broken_pipe, print_json, print_notes, print_screen, print_written_files
    from assay.records.requests import VerdictOptions
    from assay.report.review_report import render_reviews_json, render_reviews_screen
    from assay.runs.rescore_run import open_answers

    inputs = recorded.build_inputs(run)
    with open_answers(inputs, VerdictOptions(verdicts, judge, rubrics=rubrics or ())) as scored:
        in_review = export_reviews(scored, Path(out), language) if out is not None else list_reviews(scored)
    with ignore_broken_pipe():
        if format is PrintFormat.json:
            print_json(render_reviews_json(in_review))
        else:
            print_screen(render_reviews_screen(in_review))
    print_notes(in_review.notes)
    if in_review.files:
        named = f"--run {run}" if run is not None and verdicts is None else f"--store {verdicts or 'STORE'}"
        settle_command = f"assay judge settle {out}/FILLED… --key {out}/key.json {named}"
        print_written_files(in_review.files, settle_command)
    return ExitCode.PASS


@app.command("settle")
def settle(
    files: Annotated[list[str], typer.Argument(help="Filled review sheets.")],
    key: Annotated[str, typer.Option(help="The key.json that was written with the sheet.")],
    run: Annotated[str | None, typer.Option(help="Run folder whose verdict store gets the decisions.")] = None,
    store: Annotated[str | None, typer.Option(help="Verdict store that gets the decisions.")] = None,
    reviewer: Annotated[str | None, typer.Option(help="Who decided, where a row does not say so.")] = None,
    now: Annotated[
        str | None,
        typer.Option(help="Time of the decisions to record (default: SOURCE_DATE_EPOCH, else none)."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace earlier decisions of the same person on the same items.")
    ] = False,
) -> ExitCode:
    """Store what people decided in the judge's place; scoring replays it for exactly the texts that they read."""
    from assay.calibration.review_verdicts import SettleRequest, settle_verdicts
    from assay.cli.display import print_notes
    from assay.formats.run_files.run_folder import find_verdict_store
    from assay.records.errors import InputError
    from assay.text.escaping import escape_terminal

    if (store is None) == (run is None):
        raise InputError("--run or --store: expected one of them")
    path = store if store is not None else find_verdict_store(str(run))
    settled = settle_verdicts(SettleRequest(files, key, path, reviewer, resolve_timestamp(now), replace))
    typer.echo(settled.headline)
    print_notes(settled.notes)
    typer.echo(escape_terminal(f"decisions stored in {settled.path}"), err=True)
    if run is not None:
        typer.echo(escape_terminal(f"next: assay score {shlex.quote(str(run))}"), err=True)
    return ExitCode.PASS


def _export_details(run: str, to: str) -> None:
    """Write the verdicts on the answers of a run for reading."""
    from assay.cli.display import print_written_files
    from assay.formats.run_files.run_folder import list_run_files
    from assay.judging.write_verdicts import export_verdict_details
    from assay.records.requests import InputOptions
    from assay.runs.rescore_run import open_answers

    with open_answers(InputOptions(run=run)) as scored:
        path, count = export_verdict_details(scored, to, list_run_files(run))
    print_written_files([(f"verdicts on {format_count(count, 'request')}", path)])


def _print_preflight(preflight: JudgingEstimate, notices: Sequence[str], *, to_stderr: bool) -> None:
    from assay.text.escaping import escape_terminal

    second = f"; second judge for requests in doubt: {preflight.second}" if preflight.second else ""
    for line in (
        f"judge: {preflight.judge}",
        f"{format_count(preflight.requests, 'request')} about "
        f"{format_count(preflight.observations, 'observation')}; {preflight.answered} of them have "
        "verdicts already",
        f"calls: {preflight.calls} at least, {preflight.max_calls} at most, not counting failed ones; votes: "
        f"{preflight.votes}{second}",
        f"controls and anchors: {preflight.control_calls} of the calls; "
        f"{format_count(preflight.earlier_controls, 'control')} of "
        "earlier runs count",
        *_describe_gaps(preflight.unasked, f"{preflight.control_share:.0%} of the calls of this run leave no room for"),
        *_describe_usage(preflight),
        *([] if preflight.invalid is None else [_describe_invalid(preflight.invalid)]),
        *(f"note: {notice}" for notice in notices),
    ):
        typer.echo(escape_terminal(line), err=to_stderr)


def _describe_invalid(judge_status: JudgeStatus) -> str:
    """Return why a judge is asked nothing more, and what to do."""
    reasons = "; ".join(judge_status.reasons) or "its controls have a mean above the limit"
    return (
        f"judge INVALID in this verdict store: {reasons}; nothing more is asked of it (0 calls, no cost), and none of "
        "its verdicts gives a number (expected another model, or --recheck, which asks it more and counts all its "
        "answers)"
    )


def _describe_gaps(gaps: str, reason: str) -> list[str]:
    """Return the line that says what a judge was not asked yet; none if nothing is missing."""
    if not gaps:
        return []
    return [
        f"controls incomplete: {reason} {gaps}; until they are asked, the verdicts give numbers with this notice, and "
        "an unsuitable judge may go unnoticed: runs with more answers, larger caps or a larger --control-share ask more"
    ]


def _describe_usage(preflight: JudgingEstimate) -> list[str]:
    """Return the likely tokens and cost with what they assume, and the limit apart; one line where nothing is asked."""
    likely, most = preflight.likely_usage, preflight.max_usage
    if not preflight.max_calls:
        return ["tokens and cost: none, there is nothing to ask"] if preflight.invalid is None else []
    cost = "unknown (no price in its settings)" if likely.cost is None else f"about ${likely.cost:.4f}"
    limit = "" if most.cost is None else f", ${most.cost:.4f}"
    return [
        f"tokens: about {_describe_tokens(likely)} ({preflight.assumption})",
        f"cost: {cost}",
        f"limit: {_describe_tokens(most)}{limit}, if every vote is needed, each is asked three times and every reply "
        "fills its max_tokens; --max-cost, --max-tokens and --max-calls stop earlier",
    ]


def _describe_tokens(usage: TokenUsage) -> str:
    return f"{usage.prompt} prompt and {usage.completion} completion"


def _print_result(judged: JudgeRun, judgement: JudgingRequest) -> None:
    """Print what was asked, what has no verdict, the cost, where the verdicts are, and the command to run next."""
    from assay.text.escaping import escape_terminal

    tally = judged.tally
    for line in describe_samples(tally, judged.preflight.earlier_controls):
        typer.echo(line, err=True)
    for reason, count in sorted(tally.unscored.items()):
        example = f", such as {tally.messages[reason]}" if tally.messages.get(reason) else ""
        typer.echo(escape_terminal(f"without labels: {format_count(count, 'sample')}: {reason}{example}"), err=True)
    if judged.in_doubt is not None:
        typer.echo(
            f"in doubt and sent to the second judge: {judged.in_doubt} of {format_count(judged.requests, 'request')}",
            err=True,
        )
    if judged.double_bills and judged.budget.calls:
        calls = format_count(judged.double_bills, "call")
        explanation = "of this judge may have been billed without a verdict, in all runs of this verdict store"
        typer.echo(f"note: {calls} {explanation}: their process ended before the reply", err=True)
    if judged.judge_status is not None:
        for line in _status_lines(judged.judge_status, tally.asked_controls):
            typer.echo(escape_terminal(line), err=True)
    typer.echo(describe_calls(tally, judged.budget), err=True)
    stop = describe_stop(tally) if tally.halted else ""
    for line in filter(
        None,
        (
            judged.several_models,
            *judged.one_label,
            f"verdicts written to {judged.store_path}",
            judged.replacement,
            stop,
        ),
    ):
        typer.echo(escape_terminal(line), err=True)
    if judged.unscored:
        typer.echo(_describe_unscored(judged), err=True)
    for case_id, bug in judged.bugs.items():
        typer.echo(escape_terminal(f"error: case {case_id} was not judged: {bug}"), err=True)
    if tally.asked and tally.unscored.total() == tally.asked and not tally.reused:
        typer.echo("the judge gave no verdict: the scores stay as they were", err=True)
    elif not tally.halted and not (judged.judge_status is not None and judged.judge_status.invalid):
        next_command = shlex.join(["assay", *judgement.scoring_arguments(judged.rubrics)])
        typer.echo(escape_terminal(f"next: {next_command}"), err=True)


def _describe_unscored(judged: JudgeRun) -> str:
    """Say how many requests have no verdict, for which reasons, and how to get one."""
    from assay.judging.judge_run import FINAL_REASONS

    unscored = judged.unscored
    total = unscored.total()
    final_count = sum(unscored[reason] for reason in FINAL_REASONS)
    counts = ", ".join(f"{reason} {count}" for reason, count in sorted(unscored.items()))
    followed = judged.requests - judged.preflight.requests
    more = f", {followed} of which follow from verdicts of this run," if followed > 0 else ""
    text = f"{total} of {format_count(judged.requests, 'request')}{more} have no verdict ({counts})"
    free_count = total - final_count - judged.paid_in_vain
    if free_count:
        text += f"; run the same command again to ask {free_count} of them"
    if judged.paid_in_vain:
        text += f"; {judged.paid_in_vain} were paid for in vain: --retry-errors asks, and pays, for them again"
    for reason, explanation in FINAL_REASONS.items():
        if unscored[reason]:
            text += f"; {reason}: {explanation}"
    return text


def _status_lines(judge_status: Any, asked: int = 0) -> list[str]:
    """Return what the controls and anchors say about the judge, line by line; `asked` of them were asked just now."""
    lines = [_describe_controls(judge_status, asked)]
    lines += [f"  {reason}" for reason in judge_status.reasons]
    if not judge_status.invalid:  # an invalid one is asked nothing more
        lines += _describe_gaps(judge_status.describe_gaps(), "not yet asked:")
    lines += [f"judge DRIFTED: {change}" for change in judge_status.drift]
    if judge_status.drift:
        lines.append(DRIFTED)
    return lines


def _describe_controls(judge_status: Any, asked: int = 0) -> str:
    """Return whether controls and anchors speak for the judge, which of them do not, and what to do then."""
    from assay.judging.control_questions import MAX_CONTROL_MEAN, is_doubtful
    from assay.records.verdicts import describe_uncontrolled

    controls = (
        f"{format_count(judge_status.controls, 'control')} with mean {judge_status.controls_mean:.2f} (expected "
        f"{MAX_CONTROL_MEAN} at most: they deserve nothing)"
        if judge_status.controls
        else ""
    )
    anchors = (
        f"{judge_status.anchors_right:.0%} of {format_count(judge_status.anchors, 'anchor')} as expected"
        if judge_status.anchors
        else ""
    )
    failed = _name_failed_checks(judge_status)
    if judge_status.invalid:
        state = (
            f"judge INVALID: it failed its {failed}, and its verdicts give no numbers (expected another model, or "
            "--recheck)"
        )
    elif not judge_status.controls and not judge_status.anchors and asked:
        state = f"controls NOT PASSED yet: of {format_count(asked, 'sample')} to check the judge, none has a label"
    elif not judge_status.controls and not judge_status.anchors:
        state = "no controls were asked" if judge_status.unasked else "no controls could be made"
    elif is_doubtful(judge_status):
        state = (
            f"{failed} NOT PASSED yet: they speak against the judge, with too few asked to decide "
            f"({_advise_doubtful(judge_status, failed)})"
        )
    elif judge_status.gaps:
        state = "controls not complete yet: those that were asked are passed"
    elif judge_status.uncontrolled:
        state = (
            "controlled in part: what was asked got the labels that it deserves; not controlled, because nothing asked "
            f"deserves it: {describe_uncontrolled(judge_status.uncontrolled)} (list `anchors` in the rubric)"
        )
    elif not judge_status.controls:
        state = "anchors passed; no controls could be made"
    else:
        state = "controls passed"
    details = "; ".join(filter(None, (controls, anchors)))
    return f"{state}: {details}" if details else state


def _advise_doubtful(judge_status: Any, failed: str) -> str:
    """Return what decides about a judge that what it was asked so far speaks against."""
    advice = ["judge more answers to ask more controls"] if "controls" in failed else []
    if "anchors" in failed and judge_status.anchors_unasked:
        advice.append(
            f"{format_count(judge_status.anchors_unasked, 'anchor')} not asked yet: judge more answers, or see `assay "
            "judge selftest`, which asks all and keeps nothing"
        )
    return "; ".join(advice) or "try another model"


def _name_failed_checks(judge_status: Any) -> str:
    """Return which checks of a judge speak against it: controls, anchors or both."""
    from assay.judging.control_questions import LEAST_RIGHT_ANCHORS, MAX_CONTROL_MEAN, NAME_OF_CONTROLS

    by_mean = judge_status.controls_mean is not None and judge_status.controls_mean > MAX_CONTROL_MEAN
    by_kind = [reason.startswith(NAME_OF_CONTROLS) for reason in judge_status.reasons]
    few_right = judge_status.anchors_right is not None and judge_status.anchors_right < LEAST_RIGHT_ANCHORS
    failed = ["controls"] if by_mean or any(by_kind) else []
    failed += ["anchors"] if (few_right and judge_status.anchors_unasked) or not all(by_kind) else []
    return " and ".join(failed) or "controls or anchors"
