from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from assay.attribution.attribute_run import attribute_run
from assay.comparison.case_changes import CORPUS_PROPERTY
from assay.comparison.paired_comparison import compare_candidates, compare_snapshots
from assay.gates.release_decision import decide_release
from assay.gates.rules import OwnBaseline
from assay.gates.set_changes import collect_set_changes
from assay.records.counts import format_count
from assay.records.findings import Comparison, ComparisonSide
from assay.records.golden_set import Corpus
from assay.records.release_gates import Decision, Gate
from assay.scoring.paired_scores import (
    ScoreSnapshot,
    compute_definition_digest,
    find_other_judges,
    identify_judge,
    is_judge_metric,
    is_missing_scored,
)
from assay.scoring.same_recording import OWN_BASELINE
from assay.scoring.scored_run import ScoredRun
from assay.scoring.version_match import match_versions, select_shared_rows
from assay.version import __version__


def take_snapshot(
    run: ScoredRun,
    config: str,
    name: str = "",
    made_with: Mapping[str, str] | None = None,
    *,
    attributed: bool = True,
) -> ScoreSnapshot:
    """Return one configuration of a scored run as a side of a comparison; `name` is what reports call it.

    `attributed` adds the attribution of every case, for which every observation is read again.
    """
    scoring = run.scoring
    result = scoring.configs[config]
    cases = run.golden.cases
    judge, rubrics = identify_judge(run.judging)
    side = ComparisonSide(
        name or config,
        config,
        scoring.golden.digest,
        len(cases),
        result.table.versions,
        judge,
        rubrics,
        stage=scoring.stages.get(config, ""),
        assay_version=scoring.assay_version or __version__,
        inputs=tuple(input_file for input_file in scoring.inputs if config in input_file.configs),
        judge_models=run.judging.answering_models if run.judging is not None else (),
    )
    metrics = tuple(result.summary)
    return ScoreSnapshot(
        side,
        result.table,
        cases,
        metrics,
        {metric: compute_definition_digest(metric) for metric in metrics},
        attribute_run(run, config) if attributed else {},
        {**(made_with or {}), **_describe_corpus(run.corpus)},
        scoring.golden,
        looks=scoring.looks,
    )


def _describe_corpus(corpus: Corpus | None) -> dict[str, str]:
    """Return the corpus that scores were computed with, by its size and digest; nothing without a corpus."""
    if corpus is None or not corpus.digest:
        return {}
    digest = corpus.digest.removeprefix("sha256:")[:_DIGITS]
    return {CORPUS_PROPERTY: f"{format_count(len(corpus.chunks), 'chunk')} (sha256 {digest}…)"}


_DIGITS = 12
OTHER_JUDGE = "the judges differ, or their rubrics: both sides must be judged again with the same; not compared"


def decide_with_baseline(
    baseline: ScoreSnapshot,
    candidate: ScoreSnapshot,
    gate: Gate | None = None,
    *,
    today: str | None = None,
    own_baseline: bool = False,
) -> Comparison:
    """Compare two sides, with the gate's decision on the candidate; `own_baseline` says that both are one recording.

    Raises InputError for incomparable sides.
    """
    comparison = compare_snapshots(baseline, candidate, gate=gate)
    if own_baseline:
        comparison = note_own_baseline(comparison)
    if gate is None:
        return comparison
    decision = decide_side(candidate, gate, baseline, today, own_baseline="alone" if own_baseline else "no")
    return structs.replace(comparison, decision=decision)


def note_own_baseline(comparison: Comparison) -> Comparison:
    """Return a comparison of a recording with itself with a note that it is one."""
    return structs.replace(comparison, notes=(OWN_BASELINE, *comparison.notes))


def decide_side(
    candidate: ScoreSnapshot,
    gate: Gate | None,
    baseline: ScoreSnapshot | None = None,
    today: str | None = None,
    own_baseline: OwnBaseline = "no",
) -> Decision:
    """Return the decision of a gate on one side; without a gate, whether any observation is missing.

    Cases without an observation leave nothing open where they were given the worst score.
    """
    table = candidate.table
    if is_missing_scored(table):
        table = structs.replace(table, missing=())
    match = match_versions(baseline, candidate) if baseline is not None else None
    baseline_table = select_shared_rows(baseline.table, match) if baseline is not None else None
    return decide_release(
        gate,
        table,
        candidate.cases,
        baseline=baseline_table,
        own_baseline=own_baseline,
        today=today,
        changes=collect_set_changes(candidate.golden, match, has_baseline=baseline is not None),
    )


def compare_with_baseline(run: ScoredRun) -> Mapping[str, Comparison]:
    """Compare every configuration of a run with the baseline that it was scored with; empty without a baseline.

    The tests of all configurations form one family of each kind.
    If the judges differ, judged metrics are left out and the comparison says so; rules on them were refused before.
    """
    if run.baseline is None:
        return {}
    baseline = run.baseline
    sides = [take_snapshot(run, config, made_with=run.made_with.get(config)) for config in sorted(run.scoring.configs)]
    # All configurations of a run have the same verdicts and rubrics.
    same_judge = not any(True for side in sides for _ in find_other_judges(baseline.side, side.side))
    names = dict.fromkeys(name for side in sides for name in side.metrics)
    metrics = () if same_judge else [name for name in names if not is_judge_metric(name)]
    comparisons = compare_candidates(baseline, sides, gate=run.scoring.gate, metrics=metrics)
    by_config = {}
    for side, comparison in zip(sides, comparisons, strict=True):
        left_out = [
            name for name in side.metrics if not same_judge and is_judge_metric(name) and name in baseline.metrics
        ]
        changed = (*comparison.changed, f"{OTHER_JUDGE}: {', '.join(left_out)}") if left_out else comparison.changed
        config = side.side.config_id
        decision = run.scoring.configs[config].decision
        by_config[config] = structs.replace(comparison, decision=decision, changed=changed)
    return by_config
