"""`assay judge`: what outputs ask of a judge, asked once and kept; and a test of the judge itself."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.score import said_time

if TYPE_CHECKING:
    from assay.runners.budget import Budget
    from assay.workflow.judge import Judged, Preflight
    from assay.workflow.judgement import Judgement
    from assay.workflow.second import Took

app = typer.Typer(help="Ask a judge about recorded answers; scoring replays what it said.", invoke_without_command=True)

Settings = Annotated[str | None, typer.Option(help="The settings; assay.yaml where there is one.")]
Judge = Annotated[str | None, typer.Option(help="A judge of the settings, or a name for the one that flags describe.")]
Protocol = Annotated[str | None, typer.Option(help="What the endpoint speaks: openai or anthropic.")]
Model = Annotated[str | None, typer.Option(help="The judge's model.")]
BaseUrlEnv = Annotated[str | None, typer.Option(help="The environment variable that holds its address.")]
ApiKeyEnv = Annotated[str | None, typer.Option(help="The environment variable that holds its key.")]
Concurrency = Annotated[int, typer.Option(min=1, max=1024, help="Calls under way at once.")]
MaxCalls = Annotated[int | None, typer.Option(min=1, help="Never more calls than this, retries included.")]

REASONS = {
    "interrupted": "interrupted",
    "breaker": "stopped: one sample after another gave no verdict",
    "max_calls": "stopped at --max-calls",
    "max_tokens": "stopped at --max-tokens",
    "max_cost": "stopped at --max-cost",
}

TOKENS = ("max_tokens", "max_cost")
TOO_LITTLE = "one call alone may take more than that (expected a higher cap, or fewer max_tokens for the judge)"
DRIFTED = "it is not what it was and may not gate: judge everything again, with a new --book"
FINAL = {
    "tie": "votes for and against are equally many, ask for another number of --votes or let a person label the case",
    "too_long": "longer than a judge reads",
}
"""Reasons that asking again changes nothing about, and what to say of them."""


@app.callback()
def judge(
    context: typer.Context,
    run: Annotated[str | None, typer.Option(help="The run folder whose observations are judged.")] = None,
    golden: Annotated[str | None, typer.Option(help="The golden set, without a run folder.")] = None,
    outputs: Annotated[list[str] | None, typer.Option(help="Recorded outputs; several may follow.")] = None,
    golden_format: Annotated[str | None, typer.Option(help="The golden set's format.")] = None,
    outputs_format: Annotated[str | None, typer.Option(help="The outputs' format.")] = None,
    corpus: Annotated[str | None, typer.Option(help="The chunks as they should be: truth for text.")] = None,
    settings: Settings = None,
    judge: Judge = None,
    protocol: Protocol = None,
    model: Model = None,
    base_url_env: BaseUrlEnv = None,
    api_key_env: ApiKeyEnv = None,
    rubrics: Annotated[
        list[str] | None,
        typer.Option(help="A folder of rubrics, instead of those of the settings; several may follow."),
    ] = None,
    metrics: Annotated[str, typer.Option(help="Judged metrics, comma-separated.")] = "",
    only: Annotated[
        list[str] | None, typer.Option(help="ambiguous (by the rules), gate (what it reads), tag:NAME or case:ID.")
    ] = None,
    gate: Annotated[str | None, typer.Option(help="The gate that says which cases matter most.")] = None,
    profile: Annotated[str | None, typer.Option(help="A built-in gate.")] = None,
    votes: Annotated[int | None, typer.Option(min=1, max=99, help="Votes on everything, instead of as needed.")] = None,
    book: Annotated[str | None, typer.Option(help="The verdict book; that of the run, else verdicts.sqlite.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and ask nothing.")] = False,
    max_calls: MaxCalls = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Never more tokens than this.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Never more dollars than this.")] = None,
    concurrency: Concurrency = 16,
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds for one verdict, retries included.")] = 120.0,
    attempts: Annotated[int, typer.Option(min=1, max=20, help="Calls for one verdict while errors may pass.")] = 6,
    allow_self_judge: Annotated[
        bool, typer.Option("--allow-self-judge", help="Let a model judge its own answers.")
    ] = False,
    second: Annotated[
        str | None, typer.Option(help="A judge of the settings, of another family: asked about what is in doubt.")
    ] = None,
    now: Annotated[str | None, typer.Option(help="The time to record (or SOURCE_DATE_EPOCH).")] = None,
) -> int:
    if context.invoked_subcommand is not None:
        return 0
    from assay.cli.score import parts
    from assay.cli.screen import progress
    from assay.config import load_config
    from assay.runners.judging import Limits
    from assay.workflow.judge import judge as ask
    from assay.workflow.judgement import Judgement

    judgement = Judgement(
        load_config(settings),
        run=run,
        golden=golden,
        outputs=outputs or (),
        golden_format=golden_format,
        outputs_format=outputs_format,
        corpus=corpus,
        judge=judge,
        flags=_flags(protocol, model, base_url_env, api_key_env),
        rubrics=rubrics or (),
        metrics=parts(metrics),
        only=only or (),
        gate=gate,
        profile=profile,
        votes=votes,
        book=book,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_cost=max_cost,
        limits=Limits(concurrency, deadline, attempts),
        allow_self_judge=allow_self_judge,
        second=second,
        at=said_time(now) or datetime.now(UTC).isoformat(timespec="seconds"),
    )

    def tell(preflight: Preflight, notices: Sequence[str]) -> bool:
        _tell_preflight(preflight, notices, on_error=not dry_run)
        return not dry_run

    with progress("judging") as moved:
        judged = ask(judgement, tell, moved, _stopping)
    if not dry_run:
        _tell(judged, judgement)
    return judged.status


@app.command("selftest")
def selftest(
    settings: Settings = None,
    judge: Judge = None,
    protocol: Protocol = None,
    model: Model = None,
    base_url_env: BaseUrlEnv = None,
    api_key_env: ApiKeyEnv = None,
    concurrency: Concurrency = 8,
    max_calls: MaxCalls = None,
) -> int:
    """Ask the judge claims whose label is known: grounded ones must come out above the others."""
    from assay.config import load_config
    from assay.report.safe import terminal
    from assay.runners.judging import Limits
    from assay.workflow.selftest import selftest as test

    flags = _flags(protocol, model, base_url_env, api_key_env)
    found = test(load_config(settings), judge, flags, Limits(concurrency), max_calls, _stopping)
    separation = found.separation
    typer.echo(terminal(f"judge {found.judge}, replies as {', '.join(found.modes)}"))
    typer.echo(f"{separation.scored} of {found.asked} anchors labelled")
    typer.echo(
        f"grounded above others in {separation.area:.0%} of pairs (expected 90%); means {separation.gap:.2f} apart"
    )
    typer.echo("the judge tells them apart" if separation.is_good else "the judge does NOT tell them apart")
    typer.echo(_spent(found.budget), err=True)
    return found.status


@app.command("export")
def export(
    book: Annotated[str, typer.Option(help="The verdict book.")],
    to: Annotated[str, typer.Option(help="The file of JSON lines to write.")],
) -> int:
    """Write a book as JSON lines, the same bytes for the same verdicts."""
    from assay.cli.screen import said, wrote
    from assay.workflow.books import export_book

    count, warnings = export_book(book, to)
    said(warnings)
    wrote([(f"{count} verdicts", Path(to))])
    return 0


@app.command("import")
def import_(
    book: Annotated[str, typer.Option(help="The verdict book; made where there is none.")],
    source: Annotated[str, typer.Option("--from", help="A book, or JSON lines of one.")],
) -> int:
    """Take verdicts into a book; a scored one that is there stays."""
    from assay.cli.screen import said, wrote
    from assay.workflow.books import import_book

    count, warnings = import_book(book, source)
    said(warnings)
    wrote([(f"{count} verdicts", Path(book))])
    return 0


def _flags(
    protocol: str | None, model: str | None, base_url_env: str | None, api_key_env: str | None
) -> dict[str, Any]:
    return {"protocol": protocol, "model": model, "base_url_env": base_url_env, "api_key_env": api_key_env}


def _stopping() -> None:
    typer.echo("stopping: what is under way is finished and kept; Ctrl-C again ends at once", err=True)


def _tell_preflight(preflight: Preflight, notices: Sequence[str], *, on_error: bool) -> None:
    from assay.report.safe import terminal

    second = f"; second judge, for what is in doubt: {preflight.second}" if preflight.second else ""
    for line in (
        f"judge: {preflight.judge}",
        f"{preflight.requests} requests about {preflight.observations} observations, and {preflight.beside} controls "
        f"and anchors; {preflight.known} of them have their verdicts",
        f"calls: {preflight.calls} at least, {preflight.most_calls} at most but for those that fail; votes: "
        f"{preflight.votes}{second}",
        f"tokens: about {_tokens(preflight.likely)}; at most {_tokens(preflight.most)}",
        f"cost: {_cost(preflight.likely, preflight.most)}",
        *(f"note: {notice}" for notice in notices),
    ):
        typer.echo(terminal(line), err=on_error)


def _tokens(took: Took) -> str:
    return f"{took.prompt} prompt and {took.completion} completion"


def _cost(likely: Took, most: Took) -> str:
    if likely.cost is None or most.cost is None:
        return "unknown (no price in its settings)"
    return f"about ${likely.cost:.4f}; at most ${most.cost:.4f}"


def _tell(judged: Judged, judgement: Judgement) -> None:
    """Say what was asked, what has no verdict, what it cost, where it is, and what to run next."""
    from assay.report.safe import terminal

    tally = judged.tally
    typer.echo(f"{tally.asked} samples asked for, {tally.known} known before, {tally.retries} retries", err=True)
    for reason, count in sorted(tally.unscored.items()):
        why = f", such as {tally.messages[reason]}" if tally.messages.get(reason) else ""
        typer.echo(terminal(f"unscored: {count} samples: {reason}{why}"), err=True)
    if judged.in_doubt is not None:
        typer.echo(
            f"in doubt, and asked of the second judge: {judged.in_doubt} of {judged.requests} requests", err=True
        )
    if judged.double_bills:
        said = "calls may have been billed without a verdict: their process ended while they were under way"
        typer.echo(f"note: {judged.double_bills} {said}", err=True)
    standing = judged.standing
    if standing is not None:
        drift = [f"judge DRIFTED: {each}" for each in standing.drift]
        told = [_stands(standing), *(f"  {reason}" for reason in standing.reasons), *drift]
        for line in [*told, DRIFTED] if drift else told:
            typer.echo(terminal(line), err=True)
    typer.echo(_spent(judged.budget), err=True)
    typer.echo(f"verdicts written to {terminal(str(judged.book))}", err=True)
    if tally.halted:
        stopped = REASONS.get(tally.halted, f"stopped: {tally.halted}")
        fits = tally.asked or tally.halted not in TOKENS
        typer.echo(f"{stopped}; {'the same command goes on' if fits else TOO_LITTLE}", err=True)
    if judged.unscored:
        typer.echo(_without_verdict(judged), err=True)
    if not tally.halted:
        following = shlex.join(["assay", *judgement.read_by(judged.rubrics)])
        typer.echo(terminal(f"next: {following}"), err=True)


def _without_verdict(judged: Judged) -> str:
    """Say how many requests have no verdict, why, and what would give them one."""
    left, final = judged.unscored, sum(judged.unscored[why] for why in FINAL)
    reasons = ", ".join(f"{why} {count}" for why, count in sorted(left.items()))
    told = f"{left.total()} of {judged.requests} requests have no verdict ({reasons})"
    again = "; the same command asks again" + (f" for {left.total() - final} of them" if final else "")
    told += again if final < left.total() else ""
    return told + "".join(f"; {why}: {said}" for why, said in FINAL.items() if left[why])


def _stands(standing: Any) -> str:
    controls = f"{standing.controls} controls with mean {standing.controls_mean:.2f}" if standing.controls else ""
    anchors = f"{standing.anchors_right:.0%} of {standing.anchors} anchors as expected" if standing.anchors else ""
    state = (
        "judge INVALID: it rewards what deserves nothing and may not gate" if standing.invalid else "controls passed"
    )
    if not standing.controls:
        state = "no controls could be made"
    return ": ".join((state, "; ".join(filter(None, (controls, anchors)))))


def _spent(budget: Budget) -> str:
    cost = f"${budget.cost:.4f}" if budget.cost_known else "unknown"
    return f"calls: {budget.calls}; tokens: {budget.tokens}; cost: {cost}"
