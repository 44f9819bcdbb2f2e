"""What scoring returns to Python: the scores of a run with its decision, and how to read, compare and export them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from assay.comparison.compare_scores import decide_with_baseline, take_snapshot
from assay.gates.gate_files import load_requested_gate
from assay.gates.release_decision import list_gate_metrics
from assay.records.errors import InputError, MissingLibraryError, Problem, shorten_repr
from assay.records.findings import Comparison
from assay.records.observations import Observation
from assay.records.release_gates import Decision, Gate
from assay.records.scores import PassSample, ScoreTable, ScoringResult, Summary
from assay.report.collect_cases import CaseResult, build_columns, find_metric_name, list_case_results
from assay.report.exports.arrow_stream import ArrowTable
from assay.report.screen.result_text import render_result_html, render_result_lines
from assay.runs.compare_runs import list_labels, load_side
from assay.runs.find_own_baseline import is_own_baseline
from assay.runs.python_values import GateLike, PathLike, name_arguments, read_day, read_gate_value
from assay.scoring.collect_passes import DrawnPass, draw_passes
from assay.scoring.paired_scores import ScoreSnapshot
from assay.scoring.scored_run import ScoredRun

if TYPE_CHECKING:
    import pandas
    import polars


@dataclass(frozen=True, repr=False)
class ScoreResult:
    """The result of scoring: the decision, metrics, cases, slices, and the score table of each configuration.

    It prints as eight lines, and as a table in a notebook.
    """

    run: ScoredRun

    def __repr__(self) -> str:
        return "\n".join(render_result_lines(self.scoring))

    def _repr_html_(self) -> str:
        return render_result_html(self.scoring)

    @property
    def scoring(self) -> ScoringResult:
        """All data from which the reports are made."""
        return self.run.scoring

    @property
    def decision(self) -> Decision:
        """The worst decision of the gated configurations."""
        return self.scoring.decision

    @property
    def configs(self) -> tuple[str, ...]:
        """The configurations that were scored."""
        return tuple(self.scoring.configs)

    def summary(self, config: str | None = None) -> Mapping[str, Summary]:
        """Return the summaries of one configuration, which may be left out if there is only one, by metric name.

        Where answers are unknown, `value`, `mean` and `interval`, which are about the others alone, are None. Raises
        InputError for an unknown configuration.
        """
        summaries = self.scoring.configs[require_config(self, config, "config")].summary
        return {name: _leave_open(summary) for name, summary in summaries.items()}

    def metric(self, name: str, config: str | None = None) -> Summary:
        """Return one metric, such as `recall@10`, with its interval and counts.

        Where answers are unknown, `value` is None and `unknown` has the two ends between which it is, as on the screen.
        Raises InputError for a metric that was not measured, and for several configurations if none is named.
        """
        config_id = require_config(self, config, "config")
        return self.summary(config_id)[find_metric_name(self.run, name)]

    @cached_property
    def cases(self) -> tuple[CaseResult, ...]:
        """Every case of every configuration, in golden order: question, answer, scores, failed checks."""
        return list_case_results(self.run)

    def __len__(self) -> int:
        """Return the number of cases, of every configuration."""
        return len(self.cases)

    def __iter__(self) -> Iterator[CaseResult]:
        """Iterate over `cases`."""
        return iter(self.cases)

    def __bool__(self) -> bool:
        """Return True: a result is one, even of no case."""
        return True

    @property
    def failed(self) -> tuple[CaseResult, ...]:
        """The cases that failed a check, or have no output or an error; the metric `failed` counts those without output
        as errors, because nothing of them was measured."""
        return tuple(case for case in self.cases if case.has_failed)

    @property
    def unknown(self) -> tuple[CaseResult, ...]:
        """The cases that failed nothing, and of which nothing tells whether the answer is right."""
        return tuple(case for case in self.cases if case.outcome == "unknown" and not case.has_failed)

    def pass_sample(self, config: str | None = None) -> PassSample | None:
        """Return how many of the answers that rules passed people read in a random sample, and how many are wrong.

        None if the labels hold no such sample. The configuration may be left out if there is only one.
        """
        return self.scoring.passes.get(require_config(self, config, "config"))

    def draw_passes(self, size: int, config: str | None = None) -> tuple[DrawnPass, ...]:
        """Return the answers that rules passed and that people should read, `size` in random order, or all of them.

        The order follows from the answers alone, so that a label keeps its place in every later run. Each is labelled
        with `label_answer(…, metric=drawn.metric, sample=size)`. Raises InputError for a size below 1.
        """
        if size < 1:
            raise InputError(f"size: too small (got {size}; expected how many answers to draw, 1 or more)")
        return tuple(draw_passes(self.run, require_config(self, config, "config"), size))

    def compare(
        self, baseline: ScoreResult | PathLike, *, gate: GateLike | None = None, now: str | None = None
    ) -> Comparison:
        """Return the comparison of this result, as the candidate, with another one as the baseline.

        The baseline may also be the path of a run folder or of a saved baseline.
        `after.compare(before)` is `assay.compare(before, after)`: a gain is what this result is better by. `now`, a
        date or time in ISO 8601, is when waivers of the gate are in force; without it none is.
        """
        return compare_results(baseline, self, gate=gate, now=now)

    def to_columns(self, *, causes: bool = True) -> dict[str, list[Any]]:
        """Return one row for each configuration and case: texts, outcome and cause, attributes of the case, then each
        metric that any case has a score of, None where this one has none.

        Finding the causes of failed cases reads the answers of the whole run once more, a tenth or so of the time of
        scoring; `causes=False` leaves out the columns `cause` and `fix`.
        """
        return {name: list(values) for name, values in build_columns(self.run, causes=causes).items()}

    def to_arrow(self, *, causes: bool = True) -> ArrowTable:
        """Return the rows of `to_columns` for every library that reads the Arrow C stream interface."""
        return ArrowTable(build_columns(self.run, causes=causes))

    def to_pandas(self, *, causes: bool = True) -> pandas.DataFrame:
        """Return the rows of `to_columns` as a pandas frame. Raises MissingLibraryError where pandas is missing."""
        try:
            import pandas  # optional, and slow to import
        except ImportError as error:
            raise MissingLibraryError("pandas") from error
        return pandas.DataFrame(self.to_columns(causes=causes))

    def to_polars(self, *, causes: bool = True) -> polars.DataFrame:
        """Return the rows of `to_columns` as a Polars frame. Raises MissingLibraryError where Polars is missing."""
        try:
            import polars  # optional, and slow to import
        except ImportError as error:
            raise MissingLibraryError("polars") from error
        return polars.DataFrame(self.to_arrow(causes=causes))

    def slices(self, config: str | None = None) -> Mapping[str, Mapping[str, Summary]]:
        """Return the summaries of one configuration, as in `summary`, by `key=value` and metric name."""
        slices = self.scoring.configs[require_config(self, config, "config")].slices
        return {
            name: {key: _leave_open(summary) for key, summary in by_metric.items()}
            for name, by_metric in slices.items()
        }

    def table(self, config: str | None = None) -> ScoreTable:
        """Return the scores of every case of one configuration, as in `summary`."""
        return self.scoring.configs[require_config(self, config, "config")].table


def _leave_open(summary: Summary) -> Summary:
    return summary if summary.unknown is None else replace(summary, value=None, mean=None, interval=None)


def require_config(result: ScoreResult, config: str | None, name: str) -> str:
    """Return the configuration that is named, or the only one; `name` is that of the argument, for the message."""
    if config is None and len(result.configs) == 1:
        return result.configs[0]
    if config not in result.configs:
        got = "none named" if config is None else f"got {config!r}"
        raise InputError(f"{name}: {got} (expected one of {', '.join(result.configs)})")
    return config


def require_result(value: Any, name: str) -> ScoreResult:
    """Return a value if it is a result; `name` is that of the argument. Raises InputError for anything else."""
    if isinstance(value, ScoreResult):
        return value
    expected = "what assay.score or assay.run returned"
    if isinstance(value, (str, Path)):
        expected += "; run folders are read by the commands `assay report`, `assay explain` and `assay gate check`"
    if isinstance(value, Comparison):
        expected += "; a comparison can be printed, and `assay compare BASELINE CANDIDATE --report FILE` writes one"
    raise InputError([Problem("", None, name, f"not a result (got {shorten_repr(value)}; expected {expected})")])


def list_observations(result: ScoreResult) -> list[Observation]:
    """Return the observations that were scored, in golden order, with all repeats of each case."""
    run = result.run
    return [observation for case in result.cases for observation in run.read_samples(case.config, case.id)]


def compare_results(
    baseline: ScoreResult | PathLike,
    candidate: ScoreResult | PathLike,
    *,
    baseline_config: str | None = None,
    candidate_config: str | None = None,
    gate: GateLike | None = None,
    now: str | None = None,
) -> Comparison:
    """Compare a configuration of one side with one of another; each is named only if its side has several.

    A side is a result, or the path of a run folder or of a saved baseline.
    """
    resolved = load_requested_gate(read_gate_value(gate))
    names = ("baseline", "candidate")
    labels = list_labels([str(side) for side in (baseline, candidate) if isinstance(side, (str, Path))])
    before, after = (
        _take_side(side, config, name, resolved, labels)
        for side, config, name in zip((baseline, candidate), (baseline_config, candidate_config), names, strict=True)
    )
    is_own = before.table is after.table or is_own_baseline(before.side, after.side)
    if before.side.name == after.side.name:
        before, after = (
            replace(snapshot, side=replace(snapshot.side, name=name))
            for snapshot, name in zip((before, after), names, strict=True)
        )
    comparison = decide_with_baseline(before, after, resolved, today=read_day(now), own_baseline=is_own)
    if comparison.decision is None:
        return comparison
    return replace(comparison, decision=name_arguments(comparison.decision))


def _take_side(
    side: ScoreResult | PathLike, config: str | None, name: str, gate: Gate | None, labels: Sequence[str]
) -> ScoreSnapshot:
    if isinstance(side, (str, Path)):
        named = str(side) if config is None else f"{side}:{config}"
        return load_side(named, extra_metrics=list_gate_metrics(gate) if gate is not None else (), labels=labels)
    result = require_result(side, name)
    return take_snapshot(result.run, require_config(result, config, f"{name}_config"))
