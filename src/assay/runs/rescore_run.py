"""Scoring a run folder again: RUN, or RUN:CONFIG for one of its configurations (ADR 0032).

Recorded answers as a user names them: a run folder, or a golden set and files of outputs.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.formats.run_folder import RunName, build_run_request, parse_run_name, refuse_other_golden
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.requests import ScoreRequest
from assay.runs.score_inputs import LoadedGate
from assay.runs.score_run import Progress, open_scored_run
from assay.scoring.scored_run import ScoredRun


@contextmanager
def open_run(run: str | Path, progress: Progress | None = None, **changes: Any) -> Iterator[ScoredRun]:
    """Yield the scoring of a run folder; `changes` are fields of `ScoreRequest`, without a baseline.

    Raises InputError as `build_run_request` does, and if the golden set is not the one that the run was made with.
    """
    folder = Path(run)
    with rescore_run(folder, build_run_request(folder, **changes), progress) as scoring:
        yield scoring


@contextmanager
def rescore_run(
    folder: Path, request: ScoreRequest, progress: Progress | None = None, loaded_gate: LoadedGate | None = None
) -> Iterator[ScoredRun]:
    """Yield the scoring of a run folder for a request of `build_run_request`. Raises InputError for an edited golden
    set.
    """
    with open_scored_run(request, progress, loaded_gate) as scoring:
        refuse_other_golden(folder, scoring.scoring.golden.digest)
        yield scoring


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


_ANY_METRIC = ("answered",)


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """Where recorded answers are: a run folder (`DIR`, or `DIR:CONFIG` for one of its configurations), or files."""

    run: str | None = None
    golden: str | None = None
    outputs: Sequence[str] = ()
    golden_format: str | None = None
    outputs_format: str | None = None
    corpus: str | None = None

    @property
    def is_given(self) -> bool:
        """Whether anything was named."""
        return bool(self.run or self.golden or self.outputs)

    @property
    def configs(self) -> tuple[str, ...]:
        """The configuration that is named with a run, if any."""
        return parse_run_name(self.run).configs if self.run is not None else ()

    @property
    def command_arguments(self) -> str:
        """The command-line arguments that name the same inputs."""
        if self.run is not None:
            return shlex.join(["--run", str(parse_run_name(self.run).path)])
        corpus = ["--corpus", self.corpus] if self.corpus else []
        return shlex.join(["--golden", str(self.golden), *corpus, "--outputs", *self.outputs])

    def build_request(self, **changes: Any) -> ScoreRequest:
        """Return the request that scores these answers; `changes` are fields of `ScoreRequest`.

        Raises InputError unless either a run folder, or both a golden set and outputs are named.
        """
        if self.run is None:
            if not self.golden or not self.outputs:
                raise InputError("no answers named (expected a run folder, or --golden and --outputs)")
            formats = self.golden_format, self.outputs_format
            return ScoreRequest(self.golden, self.outputs, *formats, self.corpus, **changes)
        if any((self.golden, self.outputs, self.golden_format, self.outputs_format, self.corpus)):
            raise InputError(
                f"{self.run}: a run folder already holds its golden set, outputs and corpus (expected it alone)"
            )
        name = parse_run_name(self.run)
        return build_run_request(name.path, configs=name.configs, **changes)

    def open_scored(
        self, request: ScoreRequest, progress: Progress | None = None, loaded_gate: LoadedGate | None = None
    ) -> AbstractContextManager[ScoredRun]:
        """Yield the requested scoring. Raises InputError for a run whose golden set was edited."""
        if self.run is None:
            return open_scored_run(request, progress, loaded_gate)
        return rescore_run(parse_run_name(self.run).path, request, progress, loaded_gate)

    def refuse_overwriting(self, folder: str | None) -> None:
        """Raise InputError if the run folder to write is the one that is read."""
        if (
            self.run is not None
            and folder is not None
            and Path(folder).resolve() == parse_run_name(self.run).path.resolve()
        ):
            message = "is the run that is being scored (expected another folder)"
            raise InputError([Problem(folder, None, "", message, "E_OVERWRITE")])


@contextmanager
def open_answers(where: AnswerSource) -> Iterator[ScoredRun]:
    """Yield the run that holds the answers. Raises InputError unless it is a folder, or a golden set and outputs."""
    request = where.build_request(metrics=_ANY_METRIC, ignore_unknown=where.run is None, look_again=True)
    with where.open_scored(request) as run:
        yield run
