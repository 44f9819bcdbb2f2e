"""The recorded answers that people label and instruments are held against: of a run folder, or of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from msgspec import structs

from assay.errors import InputError
from assay.workflow.runs import config_of, opened, split_run
from assay.workflow.score import ScoreRun
from assay.workflow.session import Request, scored

_ANY_METRIC = ("answered",)


@dataclass(frozen=True, slots=True)
class Where:
    """Where answers are: a run folder (`DIR`, or `DIR:CONFIG` for one of its configurations), or files."""

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


@contextmanager
def answers(where: Where) -> Iterator[ScoreRun]:
    """Yield the run that holds the answers. Raises InputError unless it is a folder, or a golden set and outputs."""
    if where.run is not None:
        if where.golden or where.outputs or where.corpus:
            raise InputError("--run: holds golden set, outputs and corpus itself (expected it alone)")
        name = split_run(where.run)
        with opened(name.path, metrics=_ANY_METRIC) as run:
            if name.config is not None:
                config = config_of(run, name)
                run.scoring = structs.replace(run.scoring, configs={config: run.scoring.configs[config]})
            yield run
        return
    if not where.golden or not where.outputs:
        raise InputError("which answers? (expected --run DIR, or --golden and --outputs)")
    request = Request(
        where.golden,
        where.outputs,
        where.golden_format,
        where.outputs_format,
        where.corpus,
        _ANY_METRIC,
        ignore_unknown=True,
        look_again=True,
    )
    with scored(request) as run:
        yield run
