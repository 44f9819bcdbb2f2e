"""Recorded answers as a user names them: a run folder, or a golden set and files of outputs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError, Problem
from assay.workflow.runs import request_of, scored_again, split_run
from assay.workflow.score import Progress, ScoreRun
from assay.workflow.session import Request, scored

_ANY_METRIC = ("answered",)


@dataclass(frozen=True, slots=True)
class Where:
    """Where recorded answers are: a run folder (`DIR`, or `DIR:CONFIG` for one of its configurations), or files."""

    run: str | None = None
    golden: str | None = None
    outputs: Sequence[str] = ()
    golden_format: str | None = None
    outputs_format: str | None = None
    corpus: str | None = None

    @property
    def given(self) -> bool:
        """Whether anything was named."""
        return bool(self.run or self.golden or self.outputs)

    @property
    def configs(self) -> tuple[str, ...]:
        """The configuration that is named with a run, if any."""
        return split_run(self.run).configs if self.run is not None else ()

    @property
    def words(self) -> str:
        """The command-line arguments that name the same inputs."""
        if self.run is not None:
            return shlex.join(["--run", str(split_run(self.run).path)])
        corpus = ["--corpus", self.corpus] if self.corpus else []
        return shlex.join(["--golden", str(self.golden), *corpus, "--outputs", *self.outputs])

    def request(self, **changes: Any) -> Request:
        """Return the request that scores these answers; `changes` are fields of `Request`.

        Raises InputError unless either a run folder, or both a golden set and outputs are named.
        """
        if self.run is None:
            if not self.golden or not self.outputs:
                raise InputError("no answers named (expected a run folder, or --golden and --outputs)")
            formats = self.golden_format, self.outputs_format
            return Request(self.golden, self.outputs, *formats, self.corpus, **changes)
        if any((self.golden, self.outputs, self.golden_format, self.outputs_format, self.corpus)):
            raise InputError(
                f"{self.run}: a run folder already holds its golden set, outputs and corpus (expected it alone)"
            )
        name = split_run(self.run)
        return request_of(name.path, configs=name.configs, **changes)

    def scored(self, request: Request, progress: Progress | None = None) -> AbstractContextManager[ScoreRun]:
        """Yield the requested scoring. Raises InputError for a run whose golden set was edited."""
        if self.run is None:
            return scored(request, progress)
        return scored_again(split_run(self.run).path, request, progress)

    def refuse(self, folder: str | None) -> None:
        """Raise InputError if the run folder to write is the one that is read."""
        if self.run is not None and folder is not None and Path(folder).resolve() == split_run(self.run).path.resolve():
            message = "is the run that is being scored (expected another folder)"
            raise InputError([Problem(folder, None, "", message, "E_OVERWRITE")])


@contextmanager
def answers(where: Where) -> Iterator[ScoreRun]:
    """Yield the run that holds the answers. Raises InputError unless it is a folder, or a golden set and outputs."""
    request = where.request(metrics=_ANY_METRIC, ignore_unknown=where.run is None, look_again=True)
    with where.scored(request) as run:
        yield run
