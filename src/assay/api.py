"""The Python interface: the same use cases as the command line, on values instead of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.formats import corpus as corpora
from assay.formats import golden_files as goldens
from assay.formats.outputs import open_output_files, prepare_decodable, read_observations
from assay.gates.gate_files import load_gate_or_profile
from assay.gates.release_decision import decide_configs
from assay.judging.load_verdicts import load_verdicts, match_verdicts, metrics_with_verdicts
from assay.metrics.catalog import DEFAULT_METRICS
from assay.records.errors import InputError
from assay.records.findings import Comparison
from assay.records.golden_set import Corpus, GoldenSet
from assay.records.observations import Observation
from assay.records.release_gates import Decision, Gate
from assay.records.scores import ScoreTable, ScoringResult, Summary
from assay.report import explain_case as explaining
from assay.runs.score_inputs import ScoreJob, ScoreOptions
from assay.runs.score_run import score_observations
from assay.scoring.scored_run import ScoredRun

PathLike = str | Path


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """The result of scoring: the decision, summaries by metric, slices, and the score table of each configuration."""

    run: ScoredRun

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
    """Load a golden set in any format that Assay reads. Raises InputError listing all problems of the file."""
    return goldens.load_golden(path, format).golden


def load_corpus(path: PathLike) -> Corpus:
    """Load a corpus, the reference for access rules, texts and versions. Raises InputError listing all its problems."""
    return corpora.load_corpus(path)[0]


def load_observations(*paths: PathLike, format: str | None = None) -> list[Observation]:
    """Load recorded outputs from files or glob patterns. Raises InputError listing all problems of the files."""
    with open_output_files([str(path) for path in paths], format) as files, prepare_decodable(files) as ready:
        return [
            observation for file in ready for observation in read_observations(file.path, file.name, file.decoded_as)
        ]


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
) -> ScoreResult:
    """Score observations against a golden set.

    `metrics` are names as `assay metrics` lists them and `by` the keys of slices, each a list or comma-separated text;
    `gate` is a Gate, a gate file or the name of a profile. `verdicts` is a verdict store or an export of one, `judge`
    names the judge whose verdicts count, `calibration` is a file written by `assay calibrate`, and `rubrics` are
    folders of the rubrics that the judge used in addition to the built-in ones. Raises InputError listing all problems
    of the observations, the names and the verdicts.
    """
    paths = [None if path is None else str(path) for path in (verdicts, calibration)]
    digest = goldens.compute_golden_digest(golden)
    recorded, notices = load_verdicts(paths[0], judge, paths[1], [str(folder) for folder in rubrics])
    judging, unbound = match_verdicts(recorded, digest)
    names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    options = ScoreOptions(
        metrics=names + metrics_with_verdicts(judging) if names == DEFAULT_METRICS else names,
        by=tuple(by.split(",")) if isinstance(by, str) else None if by is None else tuple(by),
        gate=_resolve_gate(gate),
        gate_configs=tuple(gate_configs),
        missing_as_zero=missing_as_zero,
        ignore_unknown=ignore_unknown,
        notices=(*notices, *unbound),
        judging=judging,
    )
    job = ScoreJob.from_golden(golden, options, corpus, digest=digest)
    return ScoreResult(score_observations(job, observations))


def gate(result: ScoreResult, rules: Gate | PathLike, configs: Sequence[str] = ()) -> Decision:
    """Return the decision of a gate on a result; metrics that were not scored are `unmeasured`."""
    resolved = _resolve_gate(rules)
    if resolved is None:
        raise InputError("no gate given")
    return decide_configs(resolved, _score_tables(result), result.run.golden, configs)[0]


def compare(
    baseline: ScoreResult,
    candidate: ScoreResult,
    *,
    baseline_config: str | None = None,
    candidate_config: str | None = None,
    gate: Gate | PathLike | None = None,
) -> Comparison:
    """Compare a configuration of one result with one of another, or of the same result.

    A configuration must be named only if its result has several. With a `gate`, `comparison.decision` is its decision
    on the candidate. Raises InputError for sides that are not comparable.
    """
    from assay.comparison.compare_scores import (
        compare_run_configs,  # loads attribution, which scoring alone does not need
    )

    baseline_name, candidate_name = (
        _require_config(baseline, baseline_config, "baseline_config"),
        _require_config(candidate, candidate_config, "candidate_config"),
    )
    return compare_run_configs(baseline.run, baseline_name, candidate.run, candidate_name, _resolve_gate(gate))


def _require_config(result: ScoreResult, config: str | None, name: str) -> str:
    """Return the configuration that is named, or the only one."""
    if config is None and len(result.configs) == 1:
        return result.configs[0]
    if config not in result.configs:
        got = "none named" if config is None else f"got {config!r}"
        raise InputError(f"{name}: {got} (expected one of {', '.join(result.configs)})")
    return config


def explain(result: ScoreResult, case: str, config: str | None = None, *, show_forbidden: bool = False) -> str:
    """Return everything known of one case as text: question, graded rankings, context, answer, scores with reasons."""
    return explaining.explain_case(result.run, case, config, show_forbidden=show_forbidden)


def _score_tables(result: ScoreResult) -> dict[str, ScoreTable]:
    return {config: config_result.table for config, config_result in result.scoring.configs.items()}


def _resolve_gate(rules: Gate | PathLike | None) -> Gate | None:
    if rules is None or isinstance(rules, Gate):
        return rules
    is_file = isinstance(rules, Path) or Path(rules).suffix in (".yaml", ".yml")
    return load_gate_or_profile(str(rules), None) if is_file else load_gate_or_profile(None, str(rules))
