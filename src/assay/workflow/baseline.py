"""One side of a comparison, taken from a run or from a saved baseline, as named on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.errors import InputError, Problem, shown
from assay.finding import Side
from assay.graders.catalog import DEFAULT_METRICS, parse
from assay.io.baselines import write_baseline
from assay.io.runfolder import read_manifest
from assay.report.figures import with_interval
from assay.report.safe import terminal
from assay.report.tables import Table
from assay.report.terminal import Screen, safe_table
from assay.scoring.measured import cluster_ids
from assay.scoring.snapshot import Snapshot, definition_of, judged_by
from assay.scoring.summary import summaries
from assay.version import __version__
from assay.workflow.attribute import attributions
from assay.workflow.runs import RunName, config_of, is_run, opened, split_run
from assay.workflow.saved import file_of, loaded
from assay.workflow.score import ScoreRun

_MADE_WITH = ("targets", "operations", "seed")


def snapshot(
    run: ScoreRun,
    config: str,
    name: str = "",
    made_with: Mapping[str, str] | None = None,
    *,
    attributed: bool = True,
) -> Snapshot:
    """Return one configuration of a scored run as a side of a comparison; `name` is what reports call it.

    `attributed` adds the attribution of every case, for which every observation is read again.
    """
    scoring = run.scoring
    result = scoring.configs[config]
    cases = run.golden.cases
    judge, rubrics = judged_by(run.judging)
    side = Side(
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
    )
    metrics = tuple(result.summary)
    return Snapshot(
        side,
        result.table,
        cases,
        metrics,
        {metric: definition_of(metric) for metric in metrics},
        attributions(run, config) if attributed else {},
        made_with or {},
        scoring.golden,
    )


def side_of(text: str, metrics: Sequence[str] = (), also: Sequence[str] = (), *, attributed: bool = True) -> Snapshot:
    """Return the side that `RUN`, `RUN:CONFIG` or a file written by `assay baseline save` names.

    A run is scored again for `metrics` (by default those of its manifest) and for `also`. Raises InputError if the text
    names none of these, or names a run of several configurations without choosing one.
    """
    if Path(text).is_file():
        return loaded(text)
    name = _require_run(text)
    manifest = read_manifest(name.path)
    with opened(name.path, metrics=_metrics_to_score(manifest, metrics, also)) as run:
        config = config_of(run, name)
        side = snapshot(run, config, text, _read_made_with(manifest, config), attributed=attributed)
    return replace(side, at=manifest.get("started_at"))


def sides_of(text: str, also: Sequence[str] = ()) -> list[Snapshot]:
    """Return the named side, or one side per configuration of a run named without one; cases are not attributed."""
    if Path(text).is_file():
        return [loaded(text)]
    name = _require_run(text)
    manifest = read_manifest(name.path)
    with opened(name.path, metrics=_metrics_to_score(manifest, (), also)) as run:
        configs = [config_of(run, name)] if name.config is not None else sorted(run.scoring.configs)
        sides = [snapshot(run, config, attributed=False) for config in configs]
    return [replace(side, at=manifest.get("started_at")) for side in sides]


def _require_run(text: str) -> RunName:
    if not is_run(text):
        message = "neither a run folder nor a baseline (expected RUN, RUN:CONFIG or a file of `assay baseline save`)"
        raise InputError([Problem(text, None, "", message, "E_SIDE")])
    return split_run(text)


def _metrics_to_score(manifest: Mapping[str, Any], metrics: Sequence[str], also: Sequence[str]) -> tuple[str, ...]:
    return (*(metrics or manifest.get("metrics") or DEFAULT_METRICS), *also)


def save(text: str, path: str) -> Path:
    """Write the configuration that `RUN` or `RUN:CONFIG` names as a baseline to commit."""
    return write_baseline(file_of(side_of(text)), path)


def described(path: str) -> Screen:
    """Return the description of a saved baseline, and its metrics with their counts, as a screen."""
    side = loaded(path)
    golden = side.golden
    metric_names = [parse(name) for name in side.metrics]
    metric_summaries, _ = summaries(side.table, metric_names, {}, cluster_ids(side.cases))
    golden_name = f"{golden.name} {golden.version}".strip() if golden is not None else ""
    lines = [
        f"{side.side.config_id}: {len(side.cases)} cases of {golden_name or 'an unnamed golden set'}",
        f"golden set: {side.side.golden_digest}",
        f"judge: {side.side.judge or 'none'}; attributed cases: {len(side.attributions)}",
        *(f"{part}: {' and '.join(versions)}" for part, versions in sorted(side.side.versions.items())),
        *(f"{name}: {value}" for name, value in side.made_with.items()),
    ]
    rows = [(name, with_interval(summary)) for name, summary in metric_summaries.items() if summary.scored]
    table = Table("Metrics", ("Metric", "Value"), tuple(rows))
    return Screen(tuple(terminal(line) for line in lines), (safe_table(table),), ())


def _read_made_with(manifest: Mapping[str, Any], config: str) -> dict[str, str]:
    """Return how one configuration was observed, from the manifest of its run, as dotted names with their values."""
    facts = {name: manifest[name] for name in _MADE_WITH if name in manifest}
    if isinstance(facts.get("targets"), Mapping):
        facts["target"] = facts.pop("targets").get(config, {})
    return dict(sorted(_flatten("", facts)))


def _flatten(at: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flatten(f"{at}.{name}" if at else str(name), part)
    else:
        yield at, value if isinstance(value, str) else shown(value)
