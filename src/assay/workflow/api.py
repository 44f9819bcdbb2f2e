"""The Python interface: the same use cases as the command line, on values instead of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError
from assay.finding import Comparison
from assay.graders.catalog import DEFAULT_METRICS
from assay.io import corpus as corpora
from assay.io import golden as goldens
from assay.io.observations import read_observations
from assay.model import Corpus, Decision, Gate, GoldenSet, Observation, ScoreTable, Scoring, Summary
from assay.workflow import explain as explaining
from assay.workflow.conclude import decisions_of
from assay.workflow.outputs import decodable, output_files
from assay.workflow.replay import bound, judged_metrics, replayed
from assay.workflow.score import Job, Options, ScoreRun, score_observations
from assay.workflow.session import the_gate

PathLike = str | Path


@dataclass(frozen=True, slots=True)
class Result:
    """What scoring found: the decision, summaries by metric, slices, and the table of all scores per configuration."""

    run: ScoreRun

    @property
    def scoring(self) -> Scoring:
        """Everything that the reports are made of."""
        return self.run.scoring

    @property
    def decision(self) -> Decision:
        """The worst decision of the gated configurations."""
        return self.scoring.decision

    @property
    def configs(self) -> tuple[str, ...]:
        """The configurations that were scored."""
        return tuple(self.scoring.configs)

    def summary(self, config: str) -> Mapping[str, Summary]:
        """Return the summaries of one configuration by metric name."""
        return self.scoring.configs[config].summary

    def slices(self, config: str) -> Mapping[str, Mapping[str, Summary]]:
        """Return the summaries of one configuration by `key=value` and metric name."""
        return self.scoring.configs[config].slices

    def table(self, config: str) -> ScoreTable:
        """Return the scores of every case of one configuration."""
        return self.scoring.configs[config].table


def load_golden(path: PathLike, format: str | None = None) -> GoldenSet:
    """Load a golden set in any format that Assay reads. Raises InputError with everything that is wrong with it."""
    return goldens.load_golden(path, format).golden


def load_corpus(path: PathLike) -> Corpus:
    """Load a corpus: the truth for access, text and versions. Raises InputError with everything wrong with it."""
    return corpora.load_corpus(path)[0]


def load_observations(*paths: PathLike, format: str | None = None) -> list[Observation]:
    """Load recorded outputs from files or patterns. Raises InputError with everything that is wrong with them."""
    with output_files([str(path) for path in paths], format) as files, decodable(files) as ready:
        return [seen for file in ready for seen in read_observations(file.path, file.name, file.decoded_as)]


def score(
    golden: GoldenSet,
    observations: Iterable[Observation],
    *,
    corpus: Corpus | None = None,
    metrics: Sequence[str] | str = DEFAULT_METRICS,
    by: Sequence[str] | str | None = None,
    gate: Gate | PathLike | None = None,
    gate_configs: Sequence[str] = (),
    missing_as_zero: bool = False,
    ignore_unknown: bool = False,
    verdicts: PathLike | None = None,
    judge: str | None = None,
    calibration: PathLike | None = None,
    rubrics: Sequence[PathLike] = (),
) -> Result:
    """Score observations against a golden set.

    `metrics` are names as `assay graders` lists them and `by` the keys of slices, each a list or comma-separated text;
    `gate` is a Gate, a gate file or the name of a profile. `verdicts` is a verdict book or an export of one, `judge`
    names whose, `calibration` is a file of `assay calibrate`, `rubrics` are folders of those that the judge was asked
    with beside the shipped ones. Raises InputError with everything that is wrong with the observations, the names or
    the verdicts.
    """
    paths = [None if path is None else str(path) for path in (verdicts, calibration)]
    digest = goldens.golden_digest(golden)
    recorded, notices = replayed(paths[0], judge, paths[1], [str(folder) for folder in rubrics])
    judging, unbound = bound(recorded, digest)
    names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    options = Options(
        metrics=names + judged_metrics(judging) if names == DEFAULT_METRICS else names,
        by=tuple(by.split(",")) if isinstance(by, str) else None if by is None else tuple(by),
        gate=_gate(gate),
        gate_configs=tuple(gate_configs),
        missing_as_zero=missing_as_zero,
        ignore_unknown=ignore_unknown,
        notices=(*notices, *unbound),
        judging=judging,
    )
    job = Job.of(golden, options, corpus, digest=digest)
    return Result(score_observations(job, observations))


def gate(result: Result, rules: Gate | PathLike, configs: Sequence[str] = ()) -> Decision:
    """Return the decision of a gate over a result; metrics that were not scored are `unmeasured`."""
    wanted = _gate(rules)
    if wanted is None:
        raise InputError("no gate given")
    return decisions_of(wanted, _tables(result), result.run.golden, configs)[0]


def compare(
    baseline: Result,
    candidate: Result,
    *,
    baseline_config: str | None = None,
    candidate_config: str | None = None,
    gate: Gate | PathLike | None = None,
) -> Comparison:
    """Hold a configuration of one result against one of another, or of the same; they need no names where there is one.

    A `gate` decides about the candidate: `comparison.decision`. Raises InputError for sides that are not comparable.
    """
    from assay.workflow.compare import compared  # attribution is much to load for who only scores

    before, after = (
        _only(baseline, baseline_config, "baseline_config"),
        _only(candidate, candidate_config, "candidate_config"),
    )
    return compared(baseline.run, before, candidate.run, after, _gate(gate))


def _only(result: Result, config: str | None, name: str) -> str:
    """Return the configuration that is named, or the only one."""
    if config is None and len(result.configs) == 1:
        return result.configs[0]
    if config not in result.configs:
        got = "none named" if config is None else f"got {config!r}"
        raise InputError(f"{name}: {got} (expected one of {', '.join(result.configs)})")
    return config


def explain(result: Result, case: str, config: str | None = None, *, show_forbidden: bool = False) -> str:
    """Return one case whole as text: question, rankings with grades, context, answer, each score with its reason."""
    return explaining.explain_case(result.run, case, config, show_forbidden=show_forbidden)


def _tables(result: Result) -> dict[str, ScoreTable]:
    return {config: found.table for config, found in result.scoring.configs.items()}


def _gate(rules: Gate | PathLike | None) -> Gate | None:
    if rules is None or isinstance(rules, Gate):
        return rules
    is_file = isinstance(rules, Path) or Path(rules).suffix in (".yaml", ".yml")
    return the_gate(str(rules), None) if is_file else the_gate(None, str(rules))
