"""Scoring recorded answers as a user names them: a run folder (ADR 0032), or a golden set and files of outputs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from msgspec.structs import replace

from assay.formats.run_files.run_folder import RunName, complete_run_request, parse_run_name
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.requests import InputOptions, ScoreRequest, ScoringOptions, VerdictOptions
from assay.runs.score_run import open_scored_run
from assay.scoring.scored_run import ScoredRun

_ANY_METRIC = ("answered",)


def complete_request(request: ScoreRequest) -> ScoreRequest:
    """Return the request with everything that its run folder holds; without a run folder, the request itself.

    Raises InputError unless either a run folder, or both a golden set and outputs are named.
    """
    inputs = request.inputs
    if inputs.run is None:
        if not inputs.golden or not inputs.outputs:
            raise InputError("no answers named (expected a run folder, or --golden and --outputs)")
        return request
    if any((inputs.golden, inputs.outputs, inputs.golden_format, inputs.outputs_format, inputs.corpus)):
        raise InputError(
            f"{inputs.run}: a run folder already holds its golden set, outputs and corpus (expected it alone)"
        )
    return complete_run_request(request)


def open_run(
    run: str | Path,
    metrics: Sequence[str] | None = None,
    *,
    missing_as_zero: bool | None = None,
    labels: Sequence[str] = (),
) -> AbstractContextManager[ScoredRun]:
    """Yield the scoring of a run folder, for its own metrics or for those that are named.

    `missing_as_zero` gives cases without an observation the worst score; None does as the run did. `labels` are files
    of what people decided about answers, by default that of the run. Raises InputError if it is not a run, or if one of
    its files was edited since.
    """
    scoring = ScoringOptions(metrics=metrics, missing_as_zero=missing_as_zero, labels=labels)
    request = ScoreRequest(InputOptions(run=str(run)), scoring=scoring)
    return open_scored_run(complete_run_request(request))


@contextmanager
def open_unscored_answers(inputs: InputOptions, labels: Sequence[str] = ()) -> Iterator[ScoredRun]:
    """Yield a run that holds the answers, as `open_answers` does, of which nothing was measured that takes long.

    Which of several repeats is the worst follows from the checks, so that a run with repeats is scored for them.
    """
    with open_answers(inputs, labels=labels, checks=False) as run:
        if not run.has_repeats():
            yield run
            return
    with open_answers(inputs, labels=labels) as run:
        yield run


@contextmanager
def open_answers(
    inputs: InputOptions,
    verdicts: VerdictOptions | None = None,
    labels: Sequence[str] = (),
    *,
    checks: bool = True,
) -> Iterator[ScoredRun]:
    """Yield a run that holds the answers, scored for one metric and, unless `checks` is false, for those of the checks,
    with the verdicts that are named or its own.

    `labels` are files of what people decided about answers, by default that of the run.

    Raises InputError as `complete_request` does.
    """
    scoring = ScoringOptions(metrics=_ANY_METRIC, look_again=True, labels=labels, checks=checks)
    inputs = replace(inputs, ignore_unknown=inputs.run is None)
    request = ScoreRequest(inputs, verdicts or VerdictOptions(), scoring=scoring)
    with open_scored_run(complete_request(request)) as run:
        yield run


def names_answers(inputs: InputOptions) -> bool:
    """Return whether answers are named at all."""
    return bool(inputs.run or inputs.golden or inputs.outputs)


def list_named_configs(inputs: InputOptions) -> tuple[str, ...]:
    """Return the configuration that is named with the run folder, if any."""
    return parse_run_name(inputs.run).configs if inputs.run is not None else ()


def format_input_arguments(inputs: InputOptions) -> str:
    """Return the command-line arguments that name the same answers."""
    if inputs.run is not None:
        return shlex.join(["--run", str(parse_run_name(inputs.run).path)])
    arguments = ["--golden", inputs.golden]
    named = (
        ("golden-format", inputs.golden_format),
        ("corpus", inputs.corpus),
        ("outputs-format", inputs.outputs_format),
    )
    for option, value in named:
        arguments += [f"--{option}", value] if value else []
    return shlex.join([*arguments, "--outputs", *inputs.outputs])


def refuse_own_folder(inputs: InputOptions, folder: str | None) -> None:
    """Raise InputError if the run folder to write is the one that is read."""
    if inputs.run is None or folder is None:
        return
    if Path(folder).resolve() == parse_run_name(inputs.run).path.resolve():
        message = "is the run that is being scored (expected another folder)"
        raise InputError([Problem(folder, None, "", message, "E_OVERWRITE")])


def choose_config(run: ScoredRun, name: RunName) -> str:
    """Return the configuration that a name means. Raises InputError if the run lacks it, or if one must be named."""
    configs = sorted(run.scoring.configs)
    if name.config is None and len(configs) == 1:
        return configs[0]
    if name.config in configs:
        return name.config
    got = "no configuration named" if name.config is None else f"got {shorten_repr(name.config)}"
    message = f"{got} (expected {name.path}:CONFIG with one of {', '.join(configs)})"
    raise InputError([Problem(str(name.path), None, "config", message, "E_CONFIG")])
